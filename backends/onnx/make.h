/* Making ONNX messages from the module: declarations that the files of this folder share. */
#ifndef PCC_BACKENDS_ONNX_MAKE_H
#define PCC_BACKENDS_ONNX_MAKE_H

#include "ir/base/map.h"
#include "ir/model/module.h"

#include "onnx.pb-c.h"

/* Makes the messages of a module, or of the body of one of its functions. */
struct maker {
    struct module *m;
    /* the main module: m itself, or the module that function body m belongs to; bytes of tensors are read from its
     * files */
    const struct module *model;
    struct arena *a; /* memory of the new messages */
    struct diag *d;
    /* messages are made from the module alone, without the messages that src points to, and src stays (carry.c) */
    bool without_source;
    /* every inner value of known type gets a description (value_info); false: only values that have one in the
     * file, or whose type a pass has set */
    bool describe_all;
    bool failed;      /* an error was reported */
    struct map taken; /* names of all values; filled when a lost value needs a new name */
};

/* Returns string s itself, not a copy.  The string must not be changed: the pointer is not const only because
 * fields of messages are not. */
char *make_text(const struct module *m, sid s);
/* Whether a text in a message is the string of the module; NULL counts as "". */
bool text_agrees(const struct module *m, const char *have, sid want);
/* Sets a field of a message to the string; a field that has this text already stays as it is (for the empty text,
 * both NULL and ""). */
void set_text(const struct module *m, char **field, sid want);
/* Returns the type as a message, in a; NULL: nothing is known of the type. */
Onnx__TypeProto *make_type(const struct module *m, uint32_t type, struct arena *a);
/* Return the message of a dense or a sparse tensor: the file's own if it agrees with the module, else a new one.
 * inside: the tensor belongs to a node, so that its bytes must be part of the message.  A slice that is not inside is
 * marked as external data without a location, which the writer adds. */
Onnx__TensorProto *make_tensor(struct maker *k, tid t, bool inside);
Onnx__SparseTensorProto *make_sparse(struct maker *k, tid t, bool inside);
/* Returns the message of an attribute; if the attribute has bodies, their messages m->graph[].src must have been
 * made before. node: name of the attribute's node, for errors. */
Onnx__AttributeProto *make_attribute(struct maker *k, const struct attr *x, const char *node);
/* Sets documentation and metadata of a message (*doc, *meta, *nmeta) from module.about[about], if they differ.  If the
 * module has no documentation or no metadata, the message's own are removed (own) or stay (own false). */
void make_about(const struct maker *k, uint32_t about, bool own, char **doc,
                Onnx__StringStringEntryProto ***meta, size_t *nmeta);
/* Returns a new entry of metadata or external data; key and value are not copied. */
Onnx__StringStringEntryProto *make_entry(struct arena *a, const char *key, const char *value);

/* Renames values of bodies that have the name of a value of an outer graph, if ONNX, which finds values by name, would
 * confuse the two (hidden.c). */
void rename_hiding_values(struct module *m);

/* Returns the name that a value has in the messages of the file, before passes renamed it. */
static inline sid message_name(const struct value *x)
{
    return x->was != 0 ? x->was : x->name;
}
/* Drops the quantization annotations of p whose value no longer exists, and gives the others the values' present names
 * (told.c).  here: map_key(1, message_name()) -> value, for all values of the graph. */
void make_annotations(struct maker *k, struct map here, Onnx__GraphProto *p);
/* Gives the device configurations of node p the present names of its operands and results.  had: the node's message
 * before passes changed it. */
void make_sharding(struct maker *k, const Onnx__NodeProto *had, Onnx__NodeProto *p);
/* Report an error and set k->failed.  check_training: if training_info of p, the model before passes, reads a value
 * that passes have dropped or renamed.  check_characters: if a string in a message below root is not UTF-8. */
void check_training(struct maker *k, const Onnx__ModelProto *p);
void check_characters(struct maker *k, const ProtobufCMessage *root);

/* Return the message of a node, the description (value_info) of a value, the message of opset i (make.c).  With
 * k->without_source a node's message has no attributes. */
Onnx__NodeProto *make_node(struct maker *k, nid n);
Onnx__ValueInfoProto *make_info(struct maker *k, vid v);
Onnx__OperatorSetIdProto *make_opset(struct maker *k, uint32_t i);

#endif
