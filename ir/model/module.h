/* The module: an ONNX model (or a profiled graph) as a small SSA program.
 *
 * Everything is an array; things refer to each other by dense index; index 0 means none.  A zeroed
 * struct is valid.  All graphs share one space of nodes and one of values, so side tables are plain
 * arrays of nnode or nval entries.  Graph 1 is the main graph; the others are bodies of If, Loop and
 * Scan, reached through attributes.
 *
 * Invariants (verify.c):
 *  - the nodes of a graph are node[first .. first + count), in topological order;
 *  - each value has one definition: a node's output, or it is a graph input, or an initializer;
 *  - an omitted optional operand or result is value 0;
 *  - values of outer graphs that a body reads (captures) are recorded as extra operands, after the
 *    formal ones, of the node that owns the body: every dependency is an operand.
 * The pointers named src point to the protobuf message that something came from; only the ONNX reader and writer use
 * them (NULL when the module came from somewhere else). */
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

/* Entries [at, at + n) of an array of the module (a pool). */
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

/* A dimension: a number; or a symbol or expression of symbols in sym ("batch", "past + seq"); or
 * unknown, {-1, 0}.  Arithmetic on them: dim.h. */
struct dim {
    int64_t value; /* >= 0 known, else -1 */
    sid sym;       /* 0 when known or unknown */
};

enum type_kind { TYPE_NONE, TYPE_TENSOR, TYPE_SEQ, TYPE_OPT, TYPE_MAP, TYPE_SPARSE, TYPE_OPAQUE };

struct type {
    uint8_t kind;   /* enum type_kind */
    uint8_t elem;   /* enum elem: of a tensor; the key of a map */
    int16_t rank;   /* -1: unknown */
    uint32_t dim;   /* first of rank entries of module.dim */
    uint32_t inner; /* element of seq, opt; value of map */
};

/* What is said about something beside what it does.  Entry 0 of module.about says nothing. */
struct about {
    sid doc;           /* documentation (of tensors and attributes: in rest) */
    struct slice meta; /* of module.sids: key, value, key, value, ...; likewise */
    /* bytes of fields of its ONNX message that the module has no place for: of a module that was read from text, and
     * while one is printed (backends/onnx/carry.c) */
    sid rest;
};

enum {
    VALUE_INPUT = 1,  /* an input of its graph */
    VALUE_OUTPUT = 2, /* an output of its graph (it may be an input or initializer, too) */
    /* has an initializer (with VALUE_INPUT: a default that callers may override) */
    VALUE_INIT = 4,
    VALUE_LOST =
        8, /* nothing reads it: a later definition of the same name counts, or a pass dropped it */
    VALUE_TYPED =
        16, /* an input, output or initializer that the file lists with its type once more */
    VALUE_RETYPED = 32 /* a pass gave it another type than the file's */
};

struct value {
    sid name;       /* 0: lost */
    sid was;        /* name in the file, if a pass has renamed the value; else 0 */
    nid def;        /* 0: input or initializer */
    uint32_t outno; /* index among the results of def */
    gid graph;      /* graph of the definition */
    uint32_t type;  /* index into module.type; 0: unknown */
    tid tensor;     /* tensor of the initializer, or 0 */
    uint32_t flags;
};

enum tensor_where {
    TENSOR_INLINE,  /* len bytes at data: little endian, packed as ONNX raw_data */
    TENSOR_FILE,    /* len bytes at off of file[file], the same form */
    TENSOR_STRINGS, /* len strings in module.sids at off */
    /* ranges of tensor of[0] along one axis, one after the other: len bytes in all, the same form */
    TENSOR_SLICE,
    TENSOR_SPARSE, /* values of[0] at indices of[1] (0: none said), zeros elsewhere */
    TENSOR_OPAQUE  /* a form that pcc does not look into: src alone has it */
};
enum { TENSOR_DEPTH = 8 }; /* slices of slices of ...: one for each axis will do (edit_slice) */

struct tensor {
    sid name; /* may be 0 in attributes */
    uint8_t elem;
    uint8_t where; /* enum tensor_where */
    bool typed;    /* ONNX has it in the field of its type (float_data, ...), not in raw_data */
    uint32_t rank;
    uint32_t dim; /* first of rank entries of module.ints */
    uint32_t file;
    uint64_t off, len;
    const void *data;
    tid of[2];          /* of lower numbers than its own */
    uint32_t axis;      /* of a slice */
    struct slice range; /* of a slice, in module.ints: from, to, from, to, ... */
    uint32_t about;
    const void *src; /* TensorProto (SparseTensorProto of a sparse one) */
};

enum attr_kind { /* numbered as in ONNX (AttributeProto.AttributeType) */
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

struct attr {
    sid name;
    sid ref;      /* name of the function's attribute that it stands for, or 0 */
    uint8_t kind; /* enum attr_kind */
    bool untyped; /* its message does not say the kind: the field that is set does (IR 1) */
    bool unset;   /* the attribute's message has no field for the value: 0, "" or an unknown type */
    uint32_t about;
    union {
        float f;
        int64_t i;
        sid s;
        tid t;
        gid g;
        uint32_t type; /* of module.type */
        /* of module.floats, ints, sids; tids, gids and types: of module.refs */
        struct slice list;
    } u;
    const void *src; /* AttributeProto that has the value; NULL: u alone has it */
};

enum {
    NODE_UNNAMED = 1, /* no name in the file: the reader made one up */
    NODE_LOST = 2,    /* every result lost to a later definition of the same name */
    NODE_CALL = 4,    /* calls a function of the model */
    /* a pass made it: src, if not NULL, is only a pattern for its message (backends/onnx/make.c) */
    NODE_MADE = 8
};

struct node {
    sid name;                 /* unique in the module, never 0 */
    sid op, domain, overload; /* domain 0: ai.onnx */
    struct slice in;          /* of module.arg: nformal operands, then captures */
    uint32_t nformal;
    struct slice out;  /* of module.arg */
    struct slice attr; /* of module.attr */
    gid graph;
    uint32_t flags;
    uint32_t callee; /* the called function, if resolved; else 0 */
    uint32_t about;
    sid made_from;   /* name of the node that a pass made it from; 0: it was in the file */
    const void *src; /* NodeProto */
};

struct graph {
    sid name;
    nid owner; /* node that has the graph as a body; 0: the main graph, or a function's */
    nid first;
    uint32_t count;
    struct slice in, out; /* of module.arg */
    struct slice init;    /* of module.arg */
    uint32_t about;
    const void *src; /* GraphProto */
};

/* A file that holds weights.  Of a model that was read from ONNX file[1] is the model itself. */
struct file {
    sid path;     /* path to open */
    sid location; /* name in the model; 0: the model itself */
    int fd;       /* -1: not there (needed only when bytes are) */
    uint64_t size;
    /* addresses that stand for its bytes (infile_addresses), where messages of the model hold these; or NULL */
    const uint8_t *map;
    bool nowhere;       /* it came in memory: path is only a name */
    const char *barred; /* why it was not opened; NULL: it was, or is not there */
};

struct opset {
    sid domain;
    int64_t version;
    uint32_t about;
    const void *src; /* OperatorSetIdProto */
};

/* A function of the model: a module with its own names and opsets, whose graph 1 is the body.  Strings, files and
 * memory are shared with the model.  Calls inside a function (node.callee) are numbers of the model's functions,
 * too. */
struct function {
    sid domain, name, overload;
    struct module *body;
    struct slice need; /* names of the attributes that calls must give, in body->sids */
    struct slice give; /* attributes with a default, in body->attr */
    uint32_t about;    /* index into body->about */
    const void *src;   /* FunctionProto */
};

/* What running the nodes costs: filled by the cost pass, or by a reader of profiles. */
struct costs {
    uint32_t nclass; /* device classes of the cluster it was made for */
    int64_t **time;  /* [class][node] ps; COST_NEVER: cannot run there */
    /* [node] ps on any accelerator, in profiles that know one kind: time is made of it for a cluster; NULL: no such */
    int64_t *measured;
    int64_t *flops;   /* [node]; bodies: the sum of their nodes */
    int64_t *traffic; /* [node] bytes read and written, the roofline's */
    int64_t *params;  /* [node] bytes of parameters among own, in profiles; NULL: all of own */
    /* [node] bytes that it needs on its device besides initializers: its results; for a call the results of all
     * nodes inside and the large constants in it */
    int64_t *own;
    int64_t *bytes; /* [value] for the bound dimensions */
    int64_t *elems; /* [value] elements; -1: not known */
    int64_t *xfer;  /* [value] ps to move it to or from the host; -1: from bytes and the link */
};
#define COST_NEVER INT64_MAX

/* Bytes of parameters among what a profile's node has of its own. */
static inline int64_t costs_params(const struct costs *k, nid n)
{
    return (k->params ? k->params : k->own)[n];
}

struct module {
    struct arena *mem;
    struct diag *diag;
    sid path; /* where it was read from, for messages */
    int64_t ir_version;
    const void *src;    /* ModelProto */
    uint32_t own_about; /* what is said about the model */

    struct strings *str;
    struct node *node;
    uint32_t nnode, capnode; /* counts include entry 0 */
    struct value *value;
    uint32_t nval, capval;
    struct graph *graph;
    uint32_t ngraph, capgraph;
    struct tensor *tensor;
    uint32_t ntensor, captensor;
    struct file *file;
    uint32_t nfile, capfile;
    struct opset *opset;
    uint32_t nopset, capopset; /* from entry 1, like the others */
    struct function *function;
    uint32_t nfunction, capfunction; /* from 1; NULL and 0: none */
    /* a module for tensors outside all graphs (training_info); NULL: none */
    struct module *aside;
    uint32_t edits; /* how often nodes have been changed (edit.h) */
    bool rewritten; /* a pass changed the nodes: src is the model as it was before */
    /* src pointers hold only what the module has no place for: it was read from text (frontends/text) */
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

    struct costs *cost; /* NULL before the cost pass */
    /* Facts that profiles give, [node]; NULL when the file has none. */
    uint32_t *color;   /* nodes of one color share a device; 0: none */
    uint32_t *layer;   /* layer number; 0: none */
    uint8_t *backward; /* 1: a node of the backward pass */
    /* [node] the device that the file says it runs on; NULL when it says so of no node. */
    sid *device_ann;
    /* [node] the slot of its subgraph there, 1, 2, ...; 0: not said; NULL when it says so of no node. */
    uint32_t *slot_ann;
};

/* An empty module (entry 0 of each array made) in an arena of its own, which belongs to `of` (NULL: to none); free with
 * arena_free(m->mem). */
struct module *module_new(struct arena *of, struct diag *diag);

/* Strings: interned, so equal strings have equal ids; id 0 is "". */
sid str_id(struct module *m, const char *s);
sid str_id_n(struct module *m, const char *s, size_t n);
const char *module_str(const struct module *m, sid s);
/* Bytes of a string, without the NUL at its end; strings of attributes may hold others. */
size_t str_size(const struct module *m, sid s);

/* Appending; each returns the new index.  Pointers into the arrays move. */
nid module_add_node(struct module *m);
vid module_add_value(struct module *m);
gid module_add_graph(struct module *m);
tid module_add_tensor(struct module *m);
uint32_t module_add_file(struct module *m);
uint32_t module_add_type(struct module *m, struct type t);
/* A tensor type with the given dimensions copied; rank -1: unknown. */
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
/* An empty module in the memory of m, which shares its strings and the files that it has so far. */
struct module *module_add_inner(struct module *m);
/* A module like m that may be edited (edit.h) while m stays as it is; it shares strings and all that does not change,
 * and lives in mem.  O(nodes + values). */
struct module module_fork(const struct module *m, struct arena *mem);
/* A function with an empty body; the index. */
uint32_t module_add_function(struct module *m);
/* To be called after files were added to m: functions and m->aside get them, too. */
void module_share_files(struct module *m);

/* Looking.  Names come back as C strings; never NULL. */
const char *node_name(const struct module *m, nid n);
const char *node_op(const struct module *m, nid n);
const char *value_name(const struct module *m, vid v);
bool node_is(const struct module *m, nid n, const char *op); /* of domain ai.onnx */
/* as If, Loop, Scan: a graph among its attributes */
bool node_has_body(const struct module *m, nid n);
/* Whether a node of the main graph calls a function of the model.  O(nodes). */
bool module_has_calls(const struct module *m);
/* Whether the graph was measured: its nodes are layers of a profile, of domain "profile".  O(1). */
bool module_is_profiled(const struct module *m);
/* The largest colour of the main graph's nodes, 0 if none has one: arrays by colour have one slot more.  O(nodes). */
uint32_t module_most_color(const struct module *m);
/* Operand or result i, 0 if omitted or past the end. */
vid node_in(const struct module *m, nid n, uint32_t i);
vid node_out(const struct module *m, nid n, uint32_t i);
/* An attribute by name, NULL if absent. */
const struct attr *node_attr(const struct module *m, nid n, const char *name);
int64_t node_attr_int(const struct module *m, nid n, const char *name, int64_t absent);
const char *node_attr_str(const struct module *m, nid n, const char *name, const char *absent);
/* Version of the opset of a domain (0: ai.onnx); -1 if the model does not import it. */
int64_t module_opset(const struct module *m, sid domain);

const char *elem_name(enum elem e);              /* "f32", ... */
enum elem elem_of_name(const char *s, size_t n); /* ELEM_NONE: no such type */
uint32_t elem_bits(enum elem e);                 /* 0 for strings */
bool elem_is_integer(enum elem e);               /* integers and bool */
bool elem_is_float(enum elem e);                 /* floats of any width, complex ones, too */

/* Whether a part could declare a value of that type as its input: what must be known of it is known, down
 * to the elements of containers; shapes need not be.  Values of other types must not cross between parts. */
bool type_is_declarable(const struct module *m, uint32_t type);
/* Number of elements for known dimensions; -1: unknown or overflow. */
int64_t type_elems(const struct module *m, uint32_t type);
/* Whether two types say the same. */
bool types_same(const struct module *m, uint32_t a, uint32_t b);
int64_t tensor_elems(const struct module *m, tid t);
/* The product of sizes; -1: one is not known, or it overflows. */
int64_t shape_elems(const int64_t *dim, uint32_t rank);
/* The same for the shape in rank entries of module.ints from dim on. */
int64_t dims_elems(const struct module *m, uint32_t dim, uint32_t rank);
/* Bytes of n elements, packed (4-bit types: two in a byte), saturating. */
int64_t elem_bytes(enum elem e, int64_t n);
/* Whether the payload is bytes: in memory, in a file, or in a slice. */
static inline bool tensor_has_bytes(const struct tensor *t)
{
    return t->where == TENSOR_INLINE || t->where == TENSOR_FILE || t->where == TENSOR_SLICE;
}
/* Copies n bytes from offset off of the tensor's payload into buf, from memory or file. */
int tensor_read(const struct module *m, tid t, uint64_t off, void *buf, size_t n);
/* The elements of a small integer or bool tensor (any integer type), or -1 if it is not one or has
 * more than max; on success the number of elements. */
int tensor_ints(const struct module *m, tid t, int64_t *out, uint32_t max);

/* The graphs 1, ..., each behind the one that the node that owns it is in; otherwise ascending.  Lives in a.
 * O(graphs). */
gid *graphs_outer_first(const struct module *m, struct arena *a);
/* value -> nodes that read it (captures included), each node once, ascending.  O(nodes + operands). */
struct csr module_users(const struct module *m, struct arena *a);

/* Reports every violation of the invariants above (and of indices in range); 0 or -1. */
int module_verify(const struct module *m, struct diag *d);

#endif
