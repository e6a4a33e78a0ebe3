/* Frontends: bytes in, a module out. */
#ifndef PCC_FRONTENDS_FRONTENDS_H
#define PCC_FRONTENDS_FRONTENDS_H

#include "ir/ir.h"

struct onnx_options {
    bool allow_links; /* external data may be reached through symbolic links and hard links */
    /* content of the model, which is copied; NULL: read the file at `path` */
    const void *bytes;
    size_t size;
};

/* Reads an ONNX model into a module as module_new(of) makes it.  Weights stay in the file.  Of a model in memory, path
 * is only the name: external data is looked for beside it.  NULL and a diagnostic on any defect. */
struct module *onnx_read(const char *path, const struct onnx_options *o, struct arena *of,
                         struct diag *d);

/* Reads textual IR, text[n] of that name (- or a path): the module as module_new(of) makes it, verified, with the
 * files of its weights open, beside it (--allow-links: anywhere), and with messages for what ONNX alone knows of
 * it.  *out lives in the module. 0, or -1, nothing is left, and a diagnostic on any defect. */
int text_read(struct text_module *out, const struct named_text *t, bool allow_links,
              struct arena *of, struct diag *d);
/* Decodes the ONNX-only fields (struct about, rest) of a module that was read from text into messages: its src
 * pointers, which from then on are patterns (module.patterns).  0, or -1 and a diagnostic if the bytes are no
 * messages.  O(bytes + module). */
int onnx_carried(struct module *m, struct diag *d);

/* Checks the device configurations of a model that was read from ONNX, one diagnostic per finding,
 * and ends with a note that counts them.  0, or -1 if there are errors. */
int check_annotations(const struct module *m, struct diag *d);

/* Reads a workload of the placement paper (JSON): a module of profiled nodes with costs for the two
 * classes of a cluster ("acc", "cpu"), which it makes, and a model, which are s->m (as module_new(of)
 * makes it), s->cluster and s->model.  The costs of its edges are multiplied by transfer_scale (1: as they are; > 0).
 * 0, or -1, *s empty, and a diagnostic on any defect. */
int workload_read(struct scene *s, const char *path, double transfer_scale, struct arena *of,
                  struct diag *d);
/* The same of text[n]; name is for messages. */
int workload_parse(struct scene *s, const struct named_text *t, double transfer_scale,
                   struct arena *of, struct diag *d);

/* Reads a profile of layers, the text that PipeDream's profiler writes, text[n]; name is for messages.  A training
 * graph: a forward and a backward node for each layer, of one colour, for any accelerator (costs.measured).  NULL and a
 * diagnostic on any defect. */
struct module *layer_profile_parse(const char *name, const char *text, size_t n, struct arena *of,
                                   struct diag *d);

enum input_kind { INPUT_ONNX, INPUT_WORKLOAD, INPUT_TEXT, INPUT_PROFILE };
/* By name (.onnx, .json, .pir), else by content. */
enum input_kind input_kind_of(const char *path);
/* The same of bytes[n] that have this name. */
enum input_kind input_kind_in(const char *name, const void *bytes, size_t n);
/* Recognises model files of other programs that pcc cannot read: "a pickle, as ..."; NULL: not recognised. bytes[n]:
 * its content; NULL: the file of that name. */
const char *input_foreign(const char *name, const void *bytes, size_t n);

#endif
