/* Making a module of the messages of an ONNX model: declarations shared by the files of the ONNX reader. */
#ifndef PCC_FRONTENDS_ONNX_BUILD_H
#define PCC_FRONTENDS_ONNX_BUILD_H

#include "ir/base/map.h"
#include "ir/model/module.h"

#include "onnx.pb-c.h"

/* A graph of the file; its index in onnx_build.body is its gid. */
struct onnx_body {
    const Onnx__GraphProto *proto;
    gid parent;            /* graph around this graph; 0: this is the main graph */
    uint32_t owner;        /* slot of the node that has the graph as an attribute; 0: main graph */
    uint32_t first, count; /* its nodes have the slots first .. first + count - 1 */
};

/* A node of the file while the module is made.  Its *slot* is its index in onnx_build.slot; nodes have slots graph by
 * graph, in the order of the file.  Its nid, the number in the module, is known only after sorting. */
struct onnx_slot {
    const Onnx__NodeProto *proto;
    gid home;             /* graph whose list has the node */
    gid bodies;           /* first body of the node; the bodies of a node are consecutive */
    sid name;             /* unique in the module */
    uint32_t flags;       /* of the module's node: NODE_UNNAMED, ... */
    nid id;               /* the module's node; 0: not known yet */
    struct slice in, out; /* formal operands and results, in onnx_build.arg */
};

/* A module while it is made. */
struct onnx_build {
    struct module *m;     /* the module being filled: the model's, a function's, or model->aside */
    struct module *model; /* the model's module, which has the files */
    struct diag *d;
    struct arena *tmp;  /* memory that is freed when the module is complete */
    const char *path;   /* path of the model and name of the function, for messages */
    const char *folder; /* path of the model's folder: ".", or with a slash at its end */
    int dir;            /* descriptor of the folder, closed with tmp; -1: not opened yet */
    bool allow_links;   /* onnx_options.allow_links */
    const Onnx__GraphProto *graph; /* main graph */
    Onnx__OperatorSetIdProto *const *opset;
    size_t nopset;
    /* the model's device configurations; NULL: the graph is a function's body, where configurations are not used */
    Onnx__DeviceConfigurationProto *const *configuration;
    size_t nconfiguration;

    struct onnx_body *body;
    uint32_t nbody, capbody;
    struct onnx_slot *slot;
    uint32_t nslot, capslot; /* nslot counts slot 0, too, which is none */
    vid *arg;                /* operands and results of the slots */
    uint32_t narg, caparg;
    struct map value;    /* graph << 32 | name -> value */
    struct map file;     /* location (external data) -> index in model->file */
    struct map function; /* onnx_function_key() -> index in model->function */
    struct csr capture;  /* slot -> values of outer graphs that the bodies of the node read */
    struct attr *attr;   /* scratch memory of onnx_attrs() */
    uint32_t capattr;
};

/* Fills the empty module b->m with the graph b->graph, its bodies, and the opsets b->opset.  Returns 0, or -1 and an
 * error. */
int onnx_build(struct onnx_build *b);

/* Fills b->m with the model p: its main graph, its functions, and the tensors of its training_info (module.aside).
 * Returns 0, or -1 and an error. */
int onnx_build_model(struct onnx_build *b, const Onnx__ModelProto *p);

/* Checks and unpacks the serialized model bytes[n].  Returns its messages, in a; NULL: after an error.  The payloads of
 * tensors point into bytes[], which must stay.  path: for errors. */
Onnx__ModelProto *onnx_unpack(const void *bytes, size_t n, const char *path, struct arena *a,
                              struct diag *d);

/* Returns the key of a function in b->function.  O(length of the names). */
sid onnx_function_key(struct onnx_build *b, const char *domain, const char *name,
                      const char *overload);
/* Returns the function of the model that a node calls, an index in module.function; 0: none. */
uint32_t onnx_callee(struct onnx_build *b, const Onnx__NodeProto *n);

/* Sorts each graph topologically by the operands in b->arg and b->capture, and sets onnx_slot.id of every slot.  Keeps
 * the order of the file as far as possible.  In this phase value.def is a slot, not a nid.  Returns 0; or -1 and an
 * error if nodes are on a cycle. */
int onnx_sort(struct onnx_build *b);

/* The owner of a tensor, for messages: attribute `attr` of node `node`; node NULL: the tensor is an initializer. */
struct onnx_owner {
    const char *node, *attr;
};
/* Returns what messages call tensor t, such as "initializer 'w'", in b->tmp. */
const char *onnx_owner_text(const struct onnx_build *b, const struct onnx_owner *owner,
                            const Onnx__TensorProto *t);

/* Both append a tensor to the module, with `owner` for messages.  Return it, or 0 after an error. */
tid onnx_tensor(struct onnx_build *b, const Onnx__TensorProto *t, struct onnx_owner owner);
tid onnx_sparse(struct onnx_build *b, const Onnx__SparseTensorProto *t, struct onnx_owner owner);
/* Appends to module.type the type of values with the content of tensor t, and returns the type's index. */
uint32_t onnx_tensor_type(struct onnx_build *b, tid t);
/* Appends a type to module.type and returns its index; 0: t does not say what the type is. */
uint32_t onnx_type(struct onnx_build *b, const Onnx__TypeProto *t);
/* Returns the kind of an attribute.  If the message does not give the kind (IR version 1), the field that is set
 * decides. */
enum attr_kind onnx_attr_kind(const Onnx__AttributeProto *a);
/* Makes attribute *a of message p.  node: name of its node, for messages.  *body: the next body (graph) of the node,
 * which the attribute refers to; increased by the number of the attribute's bodies.  Returns 0, or -1 and an error. */
int onnx_attr(struct onnx_build *b, const Onnx__AttributeProto *p, const char *node, gid *body,
              struct attr *a);
/* Appends the attributes of a node to module.attr and writes their slice to *out.  Returns 0, or -1 and an error. */
int onnx_attrs(struct onnx_build *b, const struct onnx_slot *s, struct slice *out);
/* Appends documentation and metadata of a message to module.about and returns the index; 0: there are none. */
uint32_t onnx_about(struct module *m, const char *doc, Onnx__StringStringEntryProto *const *meta,
                    size_t nmeta);
/* Sets module.shard_ann of node id by the sharding specs of its message p, if p has any. */
void onnx_keep_shard_ann(const struct onnx_build *b, const Onnx__NodeProto *p, nid id);
/* Forgets module.shard_ann if no node has a cut tensor: specs then only say devices. */
void onnx_drop_shard_ann(struct module *m);
/* Returns the interned name of a domain; 0: ai.onnx. */
sid onnx_domain(struct module *m, const char *domain);

/* For a tensor with external data, whose elements take `bytes` bytes: checks the entries of external_data, opens the
 * file unless it is open, and sets file, off and len of *out.  A missing file is no error.  Returns 0, or -1 and an
 * error. */
int onnx_external(struct onnx_build *b, const Onnx__TensorProto *t, const struct onnx_owner *owner,
                  uint64_t bytes, struct tensor *out);

#endif
