/* The module: an ONNX model (or a profiled graph) in memory, as a small program in SSA form (each value is made
 * once).
 *
 * Everything is stored in arrays.  Things refer to each other by their index; index 0 means none, and a zeroed struct
 * is valid.  All graphs share one array of nodes and one array of values, so a table of facts about nodes or values
 * is a plain array of nnode or nval entries.  Graph 1 is the main graph; the others are bodies of If, Loop and Scan
 * nodes, and attributes of these nodes refer to them.
 *
 * Invariants (module_verify() checks them):
 *  - the nodes of a graph are node[first .. first + count), in topological order;
 *  - each value has one definition: it is the result of a node, a graph input, or an initializer;
 *  - an omitted optional operand or result is value 0;
 *  - values of outer graphs that a body reads (captures) are extra operands, after the formal operands, of the node
 *    that owns the body, so every dependency of a node is one of its operands.
 * A pointer named src points to the protobuf message from which the entry was read.  Only the ONNX reader and writer
 * use these pointers; they are NULL when the module was not read from ONNX. */
#ifndef PCC_IR_MODEL_MODULE_H
#define PCC_IR_MODEL_MODULE_H

#include "ir/base/csr.h"
#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/numbers.h"

#include <stdbool.h>

typedef uint32_t nid; /* node */
typedef uint32_t vid; /* value */
typedef uint32_t gid; /* graph */
typedef uint32_t sid; /* interned string */
typedef uint32_t tid; /* tensor: the payload of an initializer or an attribute */

/* Entries [at, at + n) of an array of the module; such an array of list entries (module.arg, ints, ...) is a pool. */
struct slice {
    uint32_t at, n;
};

/* Element types, numbered as in ONNX (TensorProto.DataType). */
enum elem {
    ELEM_NONE,
    ELEM_F32,
    ELEM_U8,
    ELEM_I8,
    ELEM_U16,
    ELEM_I16,
    ELEM_I32,
    ELEM_I64,
    ELEM_STR,
    ELEM_BOOL,
    ELEM_F16,
    ELEM_F64,
    ELEM_U32,
    ELEM_U64,
    ELEM_C64,
    ELEM_C128,
    ELEM_BF16,
    ELEM_F8E4M3FN,
    ELEM_F8E4M3FNUZ,
    ELEM_F8E5M2,
    ELEM_F8E5M2FNUZ,
    ELEM_U4,
    ELEM_I4,
    ELEM_F4E2M1,
    ELEM_F8E8M0,
    ELEM_U2,
    ELEM_I2,
    ELEM_COUNT
};

/* A dimension of a type: a number {n, 0}, a symbol or an expression of symbols {-1, sym} ("batch", "past + seq"), or
 * unknown {-1, 0}.  dim.h has the arithmetic. */
struct dim {
    int64_t value; /* >= 0: the number; -1: not a number */
    sid sym;       /* text of the symbol or expression; 0: a number, or unknown */
};

/* TYPE_OPAQUE: a type of ONNX with a domain and a name, of which the module keeps neither; only the file's message has
 * them */
enum type_kind { TYPE_NONE, TYPE_TENSOR, TYPE_SEQ, TYPE_OPT, TYPE_MAP, TYPE_SPARSE, TYPE_OPAQUE };

/* The type of a value, as in ONNX (TypeProto). */
struct type {
    uint8_t kind;   /* enum type_kind */
    uint8_t elem;   /* enum elem: of a tensor, its elements; of a map, its keys */
    int16_t rank;   /* number of dimensions of a tensor; -1: unknown */
    uint32_t dim;   /* index in module.dim of the first of `rank` dimensions */
    uint32_t inner; /* index in module.type: elements of a sequence or optional, values of a map */
};

/* Documentation and other data that a model file attaches to a node, value, graph and so on, and that do not change
 * what the model computes.  Entry 0 of module.about is empty. */
struct about {
    sid doc; /* documentation; of tensors and attributes it is part of `rest` */
    /* metadata in module.sids: key, value, key, value, ...; of tensors and attributes in `rest` */
    struct slice meta;
    /* serialized fields of the ONNX message that the module does not model; filled only in a module that was read from
     * text, and while a module is printed as text (backends/onnx/carry.c) */
    sid rest;
};

/* Bits of value.flags. */
enum {
    VALUE_INPUT = 1, /* the value is an input of its graph */
    /* the value is an output of its graph (and may be an input or initializer, too) */
    VALUE_OUTPUT = 2,
    /* the value has an initializer (with VALUE_INPUT: a default that callers may override) */
    VALUE_INIT = 4,
    /* the value has no name and no readers: the file defines the same name again later, or a pass dropped the value */
    VALUE_LOST = 8,
    /* an input, output or initializer whose type the file gives a second time, in the graph's value_info */
    VALUE_TYPED = 16,
    VALUE_RETYPED = 32 /* a pass gave the value another type than the file */
};

/* A value: the result of a node, an input of a graph, or an initializer. */
struct value {
    sid name;       /* 0: the value is lost (VALUE_LOST) */
    sid was;        /* name in the file, if a pass has renamed the value; else 0 */
    nid def;        /* node that makes the value; 0: an input or initializer */
    uint32_t outno; /* index of the value among the results of def */
    gid graph;      /* graph in which the value is defined */
    uint32_t type;  /* index in module.type; 0: unknown */
    tid tensor;     /* tensor of the initializer, or 0 */
    uint32_t flags; /* VALUE_INPUT, ... */
};

/* Where the payload (the elements) of a tensor is. */
enum tensor_where {
    TENSOR_INLINE,  /* in memory: len bytes at data, little endian, packed as ONNX raw_data */
    TENSOR_FILE,    /* in file[file]: len bytes from byte off on, in the same form */
    TENSOR_STRINGS, /* len strings in module.sids, from entry off on */
    /* part of tensor of[0]: ranges of positions along one axis, one range after the other; len bytes in all, in the
     * form of TENSOR_INLINE */
    TENSOR_SLICE,
    /* tensor of[0] has the values, of[1] their indices (0: not in the file); all other elements are 0 */
    TENSOR_SPARSE,
    TENSOR_OPAQUE /* in a form that pcc cannot read; only the message src has it */
};
/* At most this many slices may be nested (a slice of a slice ...): edit_slice() makes one slice for each axis. */
enum { TENSOR_DEPTH = 8 };

/* A constant tensor. */
struct tensor {
    sid name;      /* may be 0 in attributes */
    uint8_t elem;  /* enum elem */
    uint8_t where; /* enum tensor_where */
    /* the message has the elements in the field for their type (float_data, ...), not in raw_data */
    bool typed;
    uint32_t rank;     /* number of dimensions */
    uint32_t dim;      /* index in module.ints of the first of `rank` dimensions */
    uint32_t file;     /* TENSOR_FILE: index in module.file */
    uint64_t off, len; /* place and length of the payload: see enum tensor_where */
    const void *data;  /* TENSOR_INLINE: the bytes */
    /* of[0]: the base of a slice, or the values of a sparse tensor; of[1]: the indices of a sparse tensor; each has a
     * smaller number than this tensor */
    tid of[2];
    uint32_t axis;      /* of a slice: the axis along which the ranges lie */
    struct slice range; /* of a slice, in module.ints: from, to, from, to, ...; `to` is excluded */
    uint32_t about;     /* index in module.about */
    const void *src;    /* TensorProto; of a sparse tensor SparseTensorProto */
};

/* Kinds of attributes, numbered as in ONNX (AttributeProto.AttributeType). */
enum attr_kind {
    ATTR_NONE,
    ATTR_FLOAT,
    ATTR_INT,
    ATTR_STRING,
    ATTR_TENSOR,
    ATTR_GRAPH,
    ATTR_FLOATS,
    ATTR_INTS,
    ATTR_STRINGS,
    ATTR_TENSORS,
    ATTR_GRAPHS,
    ATTR_SPARSE,
    ATTR_SPARSES,
    ATTR_TYPE,
    ATTR_TYPES
};

/* An attribute of a node, or a default of a function's attribute. */
struct attr {
    sid name;
    /* in a function's body: the attribute of the call that gives the value; 0: u has the value */
    sid ref;
    uint8_t kind; /* enum attr_kind */
    /* the message does not give the kind (ONNX IR version 1): it follows from the field that is set */
    bool untyped;
    bool unset; /* the message has no field for the value: the value is 0, "" or an unknown type */
    uint32_t about; /* index in module.about */
    union {
        float f;
        int64_t i;
        sid s;
        tid t;
        gid g;
        uint32_t type; /* index in module.type */
        /* lists: of floats, ints and strings in module.floats, ints and sids; of tensors, graphs and types in
         * module.refs, as indices */
        struct slice list;
    } u;
    const void *src; /* AttributeProto that has the value; NULL: only u has it */
};

/* Bits of node.flags. */
enum {
    NODE_UNNAMED = 1, /* the node has no name in the file: the reader made one up */
    /* all results of the node are lost (VALUE_LOST): later definitions of their names replace them */
    NODE_LOST = 2,
    NODE_CALL = 4, /* the node calls a function of the model */
    /* the node was made or changed by a pass: src, if not NULL, is only a pattern for the node's message
     * (backends/onnx/make.c) */
    NODE_MADE = 8
};

/* An operation of the model. */
struct node {
    sid name;                 /* unique in the module, never 0 */
    sid op, domain, overload; /* operator; domain 0: ai.onnx */
    struct slice in;          /* operands in module.arg: nformal formal operands, then captures */
    uint32_t nformal;
    struct slice out;  /* results in module.arg */
    struct slice attr; /* in module.attr */
    gid graph;         /* graph that has the node */
    uint32_t flags;    /* NODE_UNNAMED, ... */
    /* index in module.function of the called function; 0: no call, or no such function */
    uint32_t callee;
    uint32_t about;  /* index in module.about */
    sid made_from;   /* name of the file's node from which a pass made this one; 0: from none */
    const void *src; /* NodeProto */
};

/* The main graph, or a body of a node. */
struct graph {
    sid name;
    nid owner; /* node that has the graph as a body; 0: the main graph of a model or function */
    nid first; /* the graph's nodes are module.node[first .. first + count) */
    uint32_t count;
    struct slice in, out; /* inputs and outputs in module.arg */
    struct slice init;    /* initializers in module.arg */
    uint32_t about;       /* index in module.about */
    const void *src;      /* GraphProto */
};

/* A file that holds weights.  In a module that was read from an ONNX file, file[1] is that file itself. */
struct file {
    sid path;     /* path to open */
    sid location; /* external location, as the model gives it; 0: the model file itself */
    /* -1: the file is missing or was not opened, which is an error only when its bytes are needed */
    int fd;
    uint64_t size; /* bytes */
    /* addresses that stand for the file's bytes (infile_addresses) where messages point to payloads; or NULL */
    const uint8_t *map;
    /* the model was given in memory, not as a file: path is only a name for messages */
    bool nowhere;
    /* why the file was not opened, a clause for messages; NULL: it was opened, or is missing */
    const char *barred;
};

/* An operator set that the model imports. */
struct opset {
    sid domain; /* 0: ai.onnx */
    int64_t version;
    uint32_t about;  /* index in module.about */
    const void *src; /* OperatorSetIdProto */
};

/* A function of the model.  Its body is a module with its own names and opsets, whose graph 1 is the body's main
 * graph; it shares strings, files and memory with the model.  In the body, too, node.callee is an index into the
 * model's functions. */
struct function {
    sid domain, name, overload;
    struct module *body;
    struct slice need; /* in body->sids: names of the attributes that calls must give */
    struct slice give; /* in body->attr: attributes with a default value */
    uint32_t about;    /* index in body->about */
    const void *src;   /* FunctionProto */
};

/* What running the nodes costs; filled by the cost pass, or by a reader of profiles. */
struct costs {
    uint32_t nclass; /* number of device classes in the cluster for which the costs were made */
    /* thousandths: share of the time of all nodes that was computed from estimated sizes, since the model does not say
     * these sizes */
    uint32_t estimated;
    /* unsized: number of inputs of the model whose size is not known, so that their bytes count as 0; first_unsized:
     * the first of these inputs, 0: none */
    uint32_t unsized;
    vid first_unsized;
    int64_t **time; /* [class][node] ps; COST_NEVER: the node cannot run there */
    /* [class][node] the part of `time`, ps, that stays the same however few samples the node computes; NULL: 0
     * everywhere */
    int64_t **overhead;
    /* [node] ps on an accelerator, in profiles that measured one kind of device: `time` is computed from it once the
     * cluster is known; else NULL */
    int64_t *measured;
    int64_t *flops; /* [node] operations; of a node with bodies: the sum over the bodies' nodes */
    /* [node] bytes that the node reads and writes, as the roofline model counts them */
    int64_t *traffic;
    /* [node] used in profiles only: bytes of the node's parameters, a share of own[]; NULL in a profile: all bytes of
     * own[] count as parameters */
    int64_t *params;
    /* [node] bytes that the node needs on its device.  In a profile, which has no initializers: all bytes, those of
     * its parameters included.  In an ONNX model, initializers excluded: its results; for a call the results of all
     * nodes inside the function and the large constants in it */
    int64_t *own;
    int64_t *bytes; /* [value] bytes, with symbolic dimensions replaced by their given numbers */
    int64_t *elems; /* [value] number of elements; -1: not known */
    /* [value] ps to move the value between a device and the host; -1: work it out from the link */
    int64_t *xfer;
};
#define COST_NEVER INT64_MAX /* a time: devices of the class cannot run the node */

/* Returns the part of node n's time on class cls, ps, that stays the same however few samples the node computes. */
static inline int64_t costs_overhead(const struct costs *k, uint32_t cls, nid n)
{
    return k->overhead ? k->overhead[cls][n] : 0;
}

/* Returns the bytes of parameters of node n, a node of a profile. */
static inline int64_t costs_params(const struct costs *k, nid n)
{
    return (k->params ? k->params : k->own)[n];
}

struct module {
    struct arena *mem;  /* memory of everything in the module */
    struct diag *diag;  /* where errors are reported */
    sid path;           /* file from which the module was read, for messages */
    int64_t ir_version; /* version of the ONNX format; 0: not an ONNX model */
    const void *src;    /* ModelProto */
    uint32_t own_about; /* index in `about`: documentation and metadata of the model itself */

    struct strings *str;
    /* Arrays.  n...: number of entries with entry 0, which means none; cap...: entries for which there is memory. */
    struct node *node;
    uint32_t nnode, capnode;
    struct value *value;
    uint32_t nval, capval;
    struct graph *graph;
    uint32_t ngraph, capgraph;
    struct tensor *tensor;
    uint32_t ntensor, captensor;
    struct file *file;
    uint32_t nfile, capfile;
    struct opset *opset;
    uint32_t nopset, capopset;
    struct function *function;
    uint32_t nfunction, capfunction; /* NULL and 0: no functions */
    /* module with the tensors of the file that are outside all graphs (training_info); NULL: none */
    struct module *aside;
    uint32_t edits; /* number of edits that the module has had (edit.h) */
    bool rewritten; /* a pass has changed the nodes, so src is the model as it was before */
    /* read from text (frontends/text): messages at src have only the fields that the module does not model */
    bool patterns;
    struct type *type;
    uint32_t ntype, captype;
    struct dim *dim;
    uint32_t ndim, capdim;
    struct attr *attr;
    uint32_t nattr, capattr;
    vid *arg;
    uint32_t narg, caparg;
    int64_t *ints;
    uint32_t nints, capints;
    float *floats;
    uint32_t nfloats, capfloats;
    sid *sids;
    uint32_t nsids, capsids;
    uint32_t *refs;
    uint32_t nrefs, caprefs;
    struct about *about;
    uint32_t nabout, capabout;

    struct costs *cost; /* NULL before the cost pass, unless a profile gives costs */
    /* [node] facts from profiles; NULL: the file gives none */
    uint32_t *color;   /* nodes of one colour must share a device; 0: no colour */
    uint32_t *layer;   /* number of the node's layer; 0: none */
    uint8_t *backward; /* 1: a node of the backward pass */
    /* [node] facts from metadata of the file; NULL: the file gives none */
    sid *device_ann; /* name of the node's device; 0: not given */
    /* how devices share the node, in the words of frontends/onnx/shard_words.c; 0: not given */
    sid *shard_ann;
    /* scope of the node's path, such as "/encoder/layer.5"; 0: not given (path.h) */
    sid *scope;
    /* slot 1, 2, ... of the node's subgraph on its device (plan.slot); 0: not given */
    uint32_t *slot_ann;
};

/* Returns an empty module (entry 0 of each array made).  It has its own arena, which is freed with the arena `of`
 * (NULL: not before arena_free(m->mem)). */
struct module *module_new(struct arena *of, struct diag *diag);

/* Strings are interned: equal strings have equal ids; the id of "" is 0.  str_id, str_id_n: return the id of a string
 * (NULL: 0), which is added if it is new.  module_str: returns the text of an id, ended by a NUL. */
sid str_id(struct module *m, const char *s);
sid str_id_n(struct module *m, const char *s, size_t n);
const char *module_str(const struct module *m, sid s);
/* Returns the length of a string in bytes, without the NUL at its end; strings of attributes may contain NULs. */
size_t str_size(const struct module *m, sid s);

/* Functions that append an entry to an array and return its index, or entries to a pool and return their slice.
 * Pointers into the array become invalid.  The first five append a zeroed entry (a file with fd -1); the entries of a
 * pool are copied from v[n] (NULL: zeroed). */
nid module_add_node(struct module *m);
vid module_add_value(struct module *m);
gid module_add_graph(struct module *m);
tid module_add_tensor(struct module *m);
uint32_t module_add_file(struct module *m);
uint32_t module_add_type(struct module *m, struct type t);
/* Appends a tensor type with a copy of the dimensions d[rank]; rank -1: the shape is unknown. */
uint32_t module_add_tensor_type(struct module *m, enum elem e, int rank, const struct dim *d);
struct slice module_add_args(struct module *m, const vid *v, uint32_t n);
struct slice module_add_attrs(struct module *m, const struct attr *a, uint32_t n);
struct slice module_add_dims(struct module *m, const struct dim *d, uint32_t n);
struct slice module_add_ints(struct module *m, const int64_t *v, uint32_t n);
struct slice module_add_floats(struct module *m, const float *v, uint32_t n);
struct slice module_add_sids(struct module *m, const sid *v, uint32_t n);
struct slice module_add_refs(struct module *m, const uint32_t *v, uint32_t n);
void module_add_opset(struct module *m, sid domain, int64_t version);
uint32_t module_add_about(struct module *m, struct about a);
/* Returns an empty module in the memory of m that shares m's strings, and the files that m has now. */
struct module *module_add_inner(struct module *m);
/* Returns a copy of m that may be edited (edit.h) while m stays as it is.  Its own memory is mem; it shares the
 * strings and everything that does not change with m.  O(nodes + values). */
struct module module_fork(const struct module *m, struct arena *mem);
/* Appends a function with an empty body and returns its index. */
uint32_t module_add_function(struct module *m);
/* Gives the files of m to its functions and to m->aside; to be called after files were added to m. */
void module_share_files(struct module *m);
/* Returns costs for the nodes and values of m and nclass device classes, all zero, in a; without costs.measured,
 * costs.params and costs.overhead. */
struct costs *costs_new(const struct module *m, struct arena *a, uint32_t nclass);
/* Gives c, the costs of m, an overhead of 0 for each class and node, in a. */
void costs_add_overhead(struct costs *c, const struct module *m, struct arena *a);

/* Functions that look something up.  Names are returned as C strings, never NULL. */
const char *node_name(const struct module *m, nid n);
const char *node_op(const struct module *m, nid n);
const char *value_name(const struct module *m, vid v);
/* Returns the value of the node's metadata entry `key`; NULL: there is none. */
const char *node_meta(const struct module *m, nid n, const char *key);
/* The metadata key of nodes that run a forward node again before the backward pass; its value is the name of the
 * forward node. */
#define META_RECOMPUTES "pcc.recomputes"
/* Whether n is a node of operator op of domain ai.onnx. */
bool node_is(const struct module *m, nid n, const char *op);
/* Whether the node is a Shape or Size, which read only the sizes of their operand. */
bool node_tells_sizes(const struct module *m, nid n);
/* Whether a graph is among the node's attributes, as in If, Loop and Scan. */
bool node_has_body(const struct module *m, nid n);
/* Whether a node of the main graph calls a function of the model.  O(nodes). */
bool module_has_calls(const struct module *m);
/* Whether a node of any graph calls a function of the model.  O(nodes). */
bool module_calls_anywhere(const struct module *m);
/* Returns text, in a, on what the memory of plans of m leaves out, "memory without 2 values of unknown size, the first
 * 'x'"; NULL: nothing. */
const char *module_left_out(const struct module *m, struct arena *a);
/* Whether the module was read from a profile: then its nodes have the domain "profile". O(1). */
bool module_is_profiled(const struct module *m);
/* Returns the largest colour (module.color) of the main graph's nodes, 0 if there are no colours.  O(nodes). */
uint32_t module_most_color(const struct module *m);
/* Return operand i (captures included) or result i of node n; 0: it is omitted, or i is past the end. */
vid node_in(const struct module *m, nid n, uint32_t i);
vid node_out(const struct module *m, nid n, uint32_t i);
/* Return the attribute `name` of node n: as it is, or its value as an int or string.  NULL or `absent` is returned if
 * there is no such attribute, or if it is of another kind. */
const struct attr *node_attr(const struct module *m, nid n, const char *name);
int64_t node_attr_int(const struct module *m, nid n, const char *name, int64_t absent);
const char *node_attr_str(const struct module *m, nid n, const char *name, const char *absent);
/* Returns the version of the opset of a domain (0: ai.onnx); -1: the model does not import the domain. */
int64_t module_opset(const struct module *m, sid domain);

const char *elem_name(enum elem e);              /* "f32", ... */
enum elem elem_of_name(const char *s, size_t n); /* ELEM_NONE: no such type */
uint32_t elem_bits(enum elem e);                 /* bits of one element; 0: strings, ELEM_NONE */
bool elem_is_integer(enum elem e);               /* whether e is bool or an integer type */
bool elem_is_float(enum elem e);                 /* whether e is a float or complex type */

/* Whether an ONNX model could declare a value of that type as its input: element types are known, also inside
 * containers; shapes need not be known.  A value of another type must not cross between parts. */
bool type_is_declarable(const struct module *m, uint32_t type);
/* Returns the number of elements of a tensor type; -1: a dimension is not a number, or the product overflows. */
int64_t type_elems(const struct module *m, uint32_t type);
/* Whether two types are equal; symbolic dimensions are equal if their texts are. */
bool types_same(const struct module *m, uint32_t a, uint32_t b);
/* Returns the number of elements of tensor t; -1: there is no such tensor, or the product of its sizes overflows. */
int64_t tensor_elems(const struct module *m, tid t);
/* Returns the product of the sizes dim[rank]; -1: a size is negative (not known), or the product overflows. */
int64_t shape_elems(const int64_t *dim, uint32_t rank);
/* Returns shape_elems() of the sizes module.ints[dim .. dim + rank). */
int64_t dims_elems(const struct module *m, uint32_t dim, uint32_t rank);
/* Returns the bytes of n packed elements (4-bit types: two in a byte), at most INT64_MAX. */
int64_t elem_bytes(enum elem e, int64_t n);
/* Whether the payload of t consists of bytes that tensor_read() can read: in memory, in a file, or in a slice. */
static inline bool tensor_has_bytes(const struct tensor *t)
{
    return t->where == TENSOR_INLINE || t->where == TENSOR_FILE || t->where == TENSOR_SLICE;
}
/* Copies n bytes of the tensor's payload, from byte off on, into buf.  Returns 0, or -1 with an error reported. */
int tensor_read(const struct module *m, tid t, uint64_t off, void *buf, size_t n);
/* Writes the elements of a tensor of bools or integers of any size to out[max] and returns how many there are; -1:
 * the tensor has another type or more than max elements, an element exceeds INT64_MAX, or the bytes cannot be read. */
int tensor_ints(const struct module *m, tid t, int64_t *out, uint32_t max);

/* Returns the graphs 1 .. ngraph - 1 ordered by nesting depth, outer graphs first, graphs of equal depth by number.
 * The array has ngraph - 1 entries and is allocated in a.  O(graphs). */
gid *graphs_outer_first(const struct module *m, struct arena *a);
/* Returns rows, allocated in a: row v holds the nodes that read value v (captures included), each once, ascending.
 * O(nodes + operands). */
struct csr module_users(const struct module *m, struct arena *a);

/* Reports to d every index out of range and every violation of the invariants above.  Returns 0, or -1 if there are
 * any. */
int module_verify(const struct module *m, struct diag *d);

#endif
