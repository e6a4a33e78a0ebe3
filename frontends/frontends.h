/* Frontends: readers of input files, which make modules (module.h) of them. */
#ifndef PCC_FRONTENDS_FRONTENDS_H
#define PCC_FRONTENDS_FRONTENDS_H

#include "ir/ir.h"

/* How onnx_read() reads a model. */
struct onnx_options {
    bool allow_links; /* external data may be reached through symbolic links and hard links */
    /* the model itself, size bytes, which are copied; NULL: read the file at `path` */
    const void *bytes;
    size_t size;
};

/* Reads an ONNX model.  Returns a module made by module_new(of, d); or NULL and an error.  Weights are not read: the
 * module refers to the file.  If the model is in memory (o->bytes), no file at `path` is opened; the path is used in
 * messages, and its folder is where external data is looked for. */
struct module *onnx_read(const char *path, const struct onnx_options *o, struct arena *of,
                         struct diag *d);

/* Reads the textual IR t into *out, which lives in the memory of its module, made by module_new(of, d).  Checks the
 * module (module_verify) and opens the files that have its weights: they are looked for in the folder of t->name, and
 * must be in that folder unless allow_links.  Also decodes ONNX-only fields (onnx_carried).  Returns 0; or -1 and an
 * error, and then frees the module. */
int text_read(struct text_module *out, const struct named_text *t, bool allow_links,
              struct arena *of, struct diag *d);
/* For a module that was read from text: decodes its ONNX-only fields (about.rest) into ONNX messages and sets the
 * module's src pointers to them; these messages are patterns then (module.patterns).  Returns 0, or -1 and an error if
 * the bytes of the fields are no such messages.  O(bytes + module). */
int onnx_carried(struct module *m, struct diag *d);

/* Checks the device configurations of a model that was read from ONNX.  Reports an error or a warning for each
 * finding, and at the end a note with their numbers.  Returns 0, or -1 if there are errors. */
int check_annotations(const struct module *m, struct diag *d);

/* How the edges of a workload are read. */
struct workload_edges {
    double scale; /* > 0: factor for the transfer costs of edges */
    /* if the edges that leave a node have unequal costs, each edge is a value of its own, as in the placement paper's
     * Appendix E.1; false: edges of equal cost are one value, which a device pays for once */
    bool apart;
};

/* Reads a workload of the placement paper, a JSON file.  Sets s->m to a module of profiled nodes with costs, made by
 * module_new(of, d); s->cluster to the file's cluster, with the classes "acc" and "cpu"; and s->model to the
 * execution model of the paper.  Returns 0; or -1 and an error, and then *s is empty. */
int workload_read(struct scene *s, const char *path, const struct workload_edges *how,
                  struct arena *of, struct diag *d);
/* As workload_read(), for a workload in memory. */
int workload_parse(struct scene *s, const struct named_text *t, const struct workload_edges *how,
                   struct arena *of, struct diag *d);

/* Reads a profile of layers, text[n] as PipeDream's profiler writes it; name: of the input, for messages.  Returns a
 * module made by module_new(of, d): a training graph with a forward and a backward node, of one colour, for each layer.
 * Their times are for any accelerator (costs.measured).  Returns NULL and an error if the text has a defect. */
struct module *layer_profile_parse(const char *name, const char *text, size_t n, struct arena *of,
                                   struct diag *d);

enum input_kind { INPUT_ONNX, INPUT_WORKLOAD, INPUT_TEXT, INPUT_PROFILE };
/* Returns the kind of an input file: by its name's end (.onnx, .json, .pir), else by its first bytes. */
enum input_kind input_kind_of(const char *path);
/* As input_kind_of(), for an input with this name and the content bytes[n]. */
enum input_kind input_kind_in(const char *name, const void *bytes, size_t n);
/* Recognises model files of other programs, which pcc cannot read.  Returns what the file is, words for an error ("a
 * pickle, as ..."); NULL: not recognised.  bytes[n]: content of the file; NULL: the file at `name` is read. */
const char *input_foreign(const char *name, const void *bytes, size_t n);

#endif
