/* Backends: a module and a plan in, files out.  Every file is written beside its final name and
 * renamed when complete. */
#ifndef PCC_BACKENDS_BACKENDS_H
#define PCC_BACKENDS_BACKENDS_H

#include "ir/ir.h"

/* Where the weights of a split lie: in one file that the parts share, inside the parts, or in the files
 * of the source. */
enum weights_mode { WEIGHTS_SHARED, WEIGHTS_INLINE, WEIGHTS_ORIGINAL, WEIGHTS_MODES };

/* What the files are about. */
struct result {
    const struct module *m;
    const struct cluster *cluster;
    const struct place *place;
    const struct plan *plan;
    const struct verdict *verdict;
    const struct cut *cut;         /* the parts: cut.h */
    const char *const *dim_name;   /* bindings that the plan was made for */
    const int64_t *dim_value;
    uint32_t ndims;
    enum weights_mode weights; /* of a split */
    bool annotated; /* a model with the plan in it is written */
    bool ir11;      /* with IR-11 device configurations in it */
    struct diag *diag;
};

/* The model as it was read, in one ONNX file; external data stays where it is. */
int onnx_write(const struct module *m, const char *path, struct diag *d);
/* The split folder.  Replaces only an empty folder or another split; with WEIGHTS_ORIGINAL the folder of
 * the source is taken, too, and keeps its other files. */
int split_write(const struct result *r, const char *folder);
/* "shared", "inline", "original"; the mode of such a name, WEIGHTS_MODES if there is none. */
const char *weights_mode_name(enum weights_mode w);
enum weights_mode weights_mode_named(const char *name);
/* The picture: devices, or with `blocks` runs of their nodes inside them; to `path`. */
int dot_write(const struct result *r, bool blocks, const char *path);
/* How many boxes such a picture has, besides the host's. */
uint32_t dot_boxes(const struct result *r, bool blocks);
/* path.dot -> path.svg by the dot program, as a child with a time limit (s). */
int dot_layout(const char *dot, const char *svg, unsigned seconds, struct diag *d);
/* path "-" means stdout in dot_write and the writers below. */
int svg_write(const struct result *r, const char *path); /* the blocks picture */
/* The whole model as onnx_write writes it, with the plan in the metadata of its nodes. */
int annotated_write(const struct result *r, const char *path);
/* ONNX Runtime's session.layer_assignment_settings for such a model, "gpu:0(=acc0); cpu(=cpu0)", in
 * a.  gpu:K counts the accelerators that are not of class npu. */
const char *layer_assignment(const struct result *r, struct arena *a);
/* Checks the device configurations of a model that was read from ONNX, one diagnostic per finding,
 * and ends with a note that counts them.  0, or -1 if there are errors. */
int check_annotations(const struct module *m, struct diag *d);
int ir_write(const struct result *r, const char *path);
int plan_json_write(const struct result *r, const char *path);
int paper_split_write(const struct result *r, const char *path); /* the placement paper's split JSON */
int csv_write(const struct module *m, const struct cluster *c, const char *path, struct diag *d);
void summary_print(FILE *f, const struct module *m);
void plan_print(FILE *f, const struct result *r, const char *split_folder);

#endif
