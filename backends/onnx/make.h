/* ONNX messages out of the module: declarations that the files of this folder share. */
#ifndef PCC_BACKENDS_ONNX_MAKE_H
#define PCC_BACKENDS_ONNX_MAKE_H

#include "ir/base/map.h"
#include "ir/model/module.h"

#include "onnx.pb-c.h"

/* Messages of a module, or of the body of one of its functions.  They live in a. */
struct maker {
    struct module *m;
    const struct module *model; /* has the files */
    struct arena *a;
    struct diag *d;
    /* messages are made from the module alone, without the messages that src points to (carry.c) */
    bool without_source;
    bool told; /* no file says which values have descriptions: all values of known type get one */
    bool failed;
    struct map taken; /* names of values, once a lost one needs another name */
};

/* The interned string itself, which lives as long as the module: the messages' pointers are not const. */
char *make_text(const struct module *m, sid s);
/* The type as a message in a; NULL if nothing is known of it. */
Onnx__TypeProto *make_type(const struct module *m, uint32_t type, struct arena *a);
/* The message of a dense tensor: the message from the file if it agrees with the module, else a new one. A slice is
 * marked external without a location, which the writer adds. inside: the tensor is below a node, so its bytes are part
 * of the message. */
Onnx__TensorProto *make_tensor(struct maker *k, tid t, bool inside);
Onnx__SparseTensorProto *make_sparse(struct maker *k, tid t, bool inside);
/* The message of an attribute; bodies in it are those of m->graph[].src. */
Onnx__AttributeProto *make_attribute(struct maker *k, const struct attr *x, const char *node);
/* Documentation and metadata of an entry of module.about; `own`: the message has none of its own to keep. */
void make_about(const struct maker *k, uint32_t about, bool own, char **doc,
                Onnx__StringStringEntryProto ***meta, size_t *nmeta);
Onnx__StringStringEntryProto *make_entry(struct arena *a, const char *key, const char *value);

/* Gives values of bodies other names where ONNX, which finds values by name, would take them for others (hidden.c). */
void make_names_plain(struct module *m);

/* The name by which messages of the file speak of a value. */
static inline sid make_told(const struct value *x)
{
    return x->was != 0 ? x->was : x->name;
}
/* told.c.  Annotations of the values of a graph that are there (by told name), under their names now. */
void make_annotations(struct maker *k, struct map here, Onnx__GraphProto *p);
/* Device configurations of node p, which comes from `had`, for its operands and results now. */
void make_sharding(struct maker *k, const Onnx__NodeProto *had, Onnx__NodeProto *p);
/* Errors: training_info reads a value that passes have removed; a string is not UTF-8. */
void check_training(struct maker *k, const Onnx__ModelProto *p);
void check_characters(struct maker *k, const ProtobufCMessage *root);

/* make.c: the messages of node, graph, function and model, for carry.c: nothing below them but names. */
Onnx__NodeProto *make_node(struct maker *k, nid n);
Onnx__ValueInfoProto *make_info(struct maker *k, vid v);
Onnx__OperatorSetIdProto *make_opset(struct maker *k, uint32_t i);

#endif
