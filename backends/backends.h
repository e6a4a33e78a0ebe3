/* Backends: a module and a plan in, files out.  Every file is written beside its final name and
 * renamed when complete. */
#ifndef PCC_BACKENDS_BACKENDS_H
#define PCC_BACKENDS_BACKENDS_H

#include "ir/ir.h"

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
    bool annotated; /* a model with the plan in it is written */
    bool ir11;      /* with IR-11 device configurations in it */
    struct diag *diag;
};

/* If passes have rewritten the nodes of a module that came from ONNX: gives it messages that say what it
 * is now.  To be called once, after the passes and before any of the writers below. */
void onnx_remake(struct module *m);
/* The model (as it was read, if no pass rewrote it) in one ONNX file; external data stays where it is. */
int onnx_write(const struct module *m, const char *path, struct diag *d);
/* The split folder.  Replaces only an empty folder or another split. */
int split_write(const struct result *r, const char *folder);
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
