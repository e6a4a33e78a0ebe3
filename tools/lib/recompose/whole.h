/* Declarations that the files of this folder share. */
#ifndef PCC_TOOLS_LIB_RECOMPOSE_WHOLE_H
#define PCC_TOOLS_LIB_RECOMPOSE_WHOLE_H

#include "backends/engines/engines.h"
#include "backends/split/split.h"
#include "ir/model/module.h"

/* A model of the folder that was read: a part, or model.onnx. */
struct source {
    const char *file; /* its name in the folder */
    const char *path; /* its path, for messages */
    /* the source's object in the manifest's "parts"; NULL: the source is model.onnx */
    const json_t *row;
    struct module *m; /* the module that the reader has made of the file */
    /* the source's messages; they may be changed, since no other code reads them */
    Onnx__ModelProto *model;
};

/* A growing list of messages. */
struct message_list {
    void **v; /* [n] the messages */
    uint32_t n, cap;
};

/* The model that is put together. */
struct whole {
    struct export_folder x; /* the folder and its manifest, which was checked */
    const char *manifest;   /* path of the manifest, for messages */
    struct source *part;    /* [npart] in the order of the manifest */
    uint32_t npart;
    struct source original; /* model.onnx, if an output is a weight that no part has; else zero */
    bool links;             /* weights may be reached through links */
    struct arena *a;
    struct diag *diag;

    /* the parts of the joined model, filled by whole_join() and whole_border() */
    struct message_list node, dense, sparse, in, out, info, note, function;
    struct names made; /* result of a node -> 1 + index of the node in `node` */
    /* "node\x1ffile" -> 1 for each copy of a node in a part that the manifest lists */
    struct names copy;
    struct names weight;        /* name of an initializer -> 1 + index in `held` */
    struct module_tensor *held; /* [nheld] the initializers */
    uint32_t nheld, capheld;
    Onnx__ModelProto model;
    Onnx__GraphProto graph;

    /* the fields below are filled and used by whole_data.c */
    struct module_tensor *tensor; /* all tensors of the sources, entry 0 is none */
    uint32_t ntensor;
    struct origin *origin; /* their messages; origin.id: index in `tensor` */
    uint32_t norigin;
    uint64_t *at; /* [index in tensor] offset in the data file; NO_PLACE: the tensor is not in it */
    uint64_t size; /* bytes of the data file */
};

#define NO_PLACE UINT64_MAX

/* Appends a message to a list. */
void whole_append(struct whole *w, struct message_list *l, void *message);
/* Returns the tensor with this message; its number is 0 if there is none. */
struct module_tensor whole_tensor(const struct whole *w, const void *message);
/* Fills w->tensor and w->origin from the sources that were read. */
void whole_list_tensors(struct whole *w);

/* Returns 1 if two initializers are the same (type, shape and elements), 0 if not, -1 after an error. */
int whole_same_weight(struct module_tensor a, struct module_tensor b);
/* Returns 1 if two messages of one type are the same, 0 if not, -1 after an error.  Tensors in the messages are
 * compared by name, type, sizes and bytes, wherever the bytes lie. */
int whole_same_message(const struct whole *w, const void *one, const void *two);

/* Joins the parts: nodes, weights, functions and annotations of values, each once.  Returns 0, or -1 and an error. */
int whole_join(struct whole *w);
/* Appends the weight with this message, of the source s, to the weights of w.  If another source had a weight of the
 * same name, only checks that the two are equal.  Returns 0, or -1 and an error. */
int whole_take_weight(struct whole *w, const struct source *s, void *message);
/* Gives the model its inputs and outputs, as the manifest orders them; after whole_join().  Returns 0, or -1 and an
 * error. */
int whole_border(struct whole *w);
/* Returns the type that the manifest gives the value `name`, as a message; NULL: it gives none. */
Onnx__TypeProto *whole_type(struct whole *w, const char *name);

/* Gives weights and external data places in the file `data`, and has their messages refer to it.  Returns 0; or -1 and
 * an error if the bytes of a tensor are missing. */
int whole_place(struct whole *w, const char *data);
/* Writes all tensors that have a place to descriptor fd.  data: name of the file, for messages.  Returns 0, or -1 and
 * an error. */
int whole_write_data(const struct whole *w, int fd, const char *data);

#endif
