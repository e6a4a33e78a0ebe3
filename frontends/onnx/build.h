/* From ModelProto to module: declarations shared by the files of the ONNX reader. */
#ifndef PCC_FRONTENDS_ONNX_BUILD_H
#define PCC_FRONTENDS_ONNX_BUILD_H

#include "ir/base/map.h"
#include "ir/model/module.h"

#include "onnx.pb-c.h"

/* A graph of the file; its index is its gid. */
struct onnx_body {
    const Onnx__GraphProto *proto;
    gid parent;            /* 0: main */
    uint32_t owner;        /* slot of the node that it is an attribute of; 0: main */
    uint32_t first, count; /* slots of the graph's nodes */
};

/* A node, numbered graph by graph in the order of the file. */
struct onnx_slot {
    const Onnx__NodeProto *proto;
    gid home;
    gid bodies;           /* first body of the node; the bodies of a node are consecutive */
    sid name;             /* unique in the module */
    uint32_t flags;       /* of the node to be */
    nid id;               /* of the node to be, known after sorting */
    struct slice in, out; /* of onnx_build.arg */
};

struct onnx_build {
    struct module *m;     /* the module being filled: the model's, a function's, or model->aside */
    struct module *model; /* has the files */
    struct diag *d;
    struct arena *tmp;
    const char *path;   /* of the model (and the function), for messages */
    const char *folder; /* folder of the model's file */
    int dir;            /* the same, open (tmp closes it); -1: not yet */
    bool allow_links;
    const Onnx__GraphProto *graph; /* main graph */
    Onnx__OperatorSetIdProto *const *opset;
    size_t nopset;

    struct onnx_body *body;
    uint32_t nbody, capbody;
    struct onnx_slot *slot;
    uint32_t nslot, capslot; /* slot 0: none */
    vid *arg;
    uint32_t narg, caparg;
    struct map value;    /* graph << 32 | name -> value */
    struct map file;     /* location -> file */
    struct map function; /* key of its names -> function */
    struct csr capture;  /* slot -> outer values that the node's bodies read */
    struct attr *attr;
    uint32_t capattr; /* scratch */
};

/* Fills the empty module b->m from b->graph and b->opset.  0 or -1. */
int onnx_build(struct onnx_build *b);

/* Fills b->m, its functions and its tensors outside graphs (module.aside).  0 or -1. */
int onnx_build_model(struct onnx_build *b, const Onnx__ModelProto *p);

/* The messages of a model in memory, with payloads that point into bytes[n], which must stay; in a.  NULL and an
 * error. */
Onnx__ModelProto *onnx_unpack(const void *bytes, size_t n, const char *path, struct arena *a,
                              struct diag *d);

/* What b->function has for a function of these names.  O(their length). */
sid onnx_function_key(struct onnx_build *b, const char *domain, const char *name,
                      const char *overload);
/* The function that a node calls, 0: none of the model's. */
uint32_t onnx_callee(struct onnx_build *b, const Onnx__NodeProto *n);

/* Gives every slot of every graph its node id: file order as far as operands are defined before
 * they are read, which every operand of b->arg and b->capture tells.  0 or -1 (a cycle). */
int onnx_sort(struct onnx_build *b);

/* What a tensor belongs to, for messages: attribute `attr` of node `node`, or, if node is NULL, the
 * initializer of its own name. */
struct onnx_who {
    const char *node, *attr;
};
/* "initializer 'w'" in b->tmp. */
const char *onnx_who_text(const struct onnx_build *b, const struct onnx_who *who,
                          const Onnx__TensorProto *t);

/* Each appends to the module; 0 after an error. */
tid onnx_tensor(struct onnx_build *b, const Onnx__TensorProto *t, struct onnx_who who);
tid onnx_sparse(struct onnx_build *b, const Onnx__SparseTensorProto *t, struct onnx_who who);
/* The type of a tensor's values. */
uint32_t onnx_tensor_type(struct onnx_build *b, tid t);
/* 0 for a type that is not stated. */
uint32_t onnx_type(struct onnx_build *b, const Onnx__TypeProto *t);
/* Kind of an attribute; of one without a type (IR 1) by the field that is set. */
enum attr_kind onnx_attr_kind(const Onnx__AttributeProto *a);
/* An attribute of the node so called; *body: the graph that its next body is.  0 or -1. */
int onnx_attr(struct onnx_build *b, const Onnx__AttributeProto *p, const char *node, gid *body,
              struct attr *a);
/* Appends the attributes of a node.  0 or -1. */
int onnx_attrs(struct onnx_build *b, const struct onnx_slot *s, struct slice *out);
/* The documentation and metadata of a message as an entry of module.about; 0: none. */
uint32_t onnx_about(struct module *m, const char *doc, Onnx__StringStringEntryProto *const *meta,
                    size_t nmeta);
/* The string of a domain; ai.onnx is 0. */
sid onnx_domain(struct module *m, const char *domain);

/* Checks the external-data entries of t, whose elements take `bytes` bytes, opens the file, and
 * sets file, off and len of *out.  A file that is not there is no error.  0 or -1. */
int onnx_external(struct onnx_build *b, const Onnx__TensorProto *t, const struct onnx_who *who,
                  uint64_t bytes, struct tensor *out);

#endif
