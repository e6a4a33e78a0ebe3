/* Backends: a module and a plan in, files out.  Every file is written beside its final name and
 * renamed when complete. */
#ifndef PCC_BACKENDS_BACKENDS_H
#define PCC_BACKENDS_BACKENDS_H

#include "ir/ir.h"

/* What a picture shows: a box per device (part), per block of nodes, or per node. */
enum view { VIEW_BLOCKS, VIEW_DEVICES, VIEW_NODES };
/* How it is drawn; bits. */
enum { PICTURE_SVG = 1, PICTURE_PDF = 2, PICTURE_PNG = 4 };
enum { MOST_BOXES = 150 }; /* of a picture that one can look at */
/* Where the weights of a split lie: in one file that the parts share, inside the parts, or in the files
 * of the source: where these are, else in copies of them, or in hard links to them. */
enum weights_mode { WEIGHTS_SHARED, WEIGHTS_INLINE, WEIGHTS_ORIGINAL, WEIGHTS_LINK, WEIGHTS_MODES };

/* What the files are about. */
struct result {
    struct scene scene;
    const struct plan *plan;
    const struct verdict *verdict;
    const struct parts *parts; /* the parts: ir/plan/parts.h */
    /* of functions, while the plan was made: "opened", "whole"; NULL: there are none */
    const char *calls;
    const struct result *open;   /* the same plan with these calls still open; NULL: this one */
    const char *const *dim_name; /* bindings that the plan was made for */
    const int64_t *dim_value;
    uint32_t ndims;
    enum weights_mode weights; /* of a split */
    const char *assumed;       /* what the plan rests on that nobody said; NULL: nothing */
    int64_t samples;           /* of a replay, 0: a few */
    bool annotated;            /* a model with the plan in it is written */
    bool ir11;                 /* with IR-11 device configurations in it */
    enum view view;            /* of a picture that is a file of its own */
    unsigned pictures;         /* formats of those in a split folder; 0: DOT alone */
    struct diag *diag;
};

/* If passes have rewritten the nodes of a module that came from ONNX: gives it messages that say what it
 * is now.  To be called once, after the passes and before any of the writers below. */
void onnx_remake(struct module *m);
/* The model (as it was read, if no pass rewrote it) in one ONNX file; external data stays where it is. */
int onnx_write(const struct module *m, const char *path, struct diag *d);
/* The split folder.  Replaces only an empty folder or another split; with WEIGHTS_ORIGINAL the folder of
 * the source is taken, too, and keeps its other files. */
int split_write(const struct result *r, const char *folder);
/* Whether nothing stands in the way of a split of the model in `folder`, before it is planned: the folder
 * can be made or replaced, weights that are wanted are there, links can be made.  0 or -1. */
int split_check(const struct module *m, enum weights_mode weights, const char *folder,
                struct diag *d);
/* "shared", "inline", "original", "link"; the mode of such a name, WEIGHTS_MODES if there is none. */
const char *weights_mode_name(enum weights_mode w);
enum weights_mode weights_mode_named(const char *name);
/* A picture as DOT, to path ("-", here and in the writers of tables and text below: stdout); the view of
 * blocks has at most max(most, parts) boxes, and where the parts are more than `most` (or 64), devices
 * stand for them.  O(nodes + pins). */
int dot_write(const struct result *r, enum view view, uint32_t most, const char *path);
/* The view r->view in one format by the dot program, to path, whose suffix is the format's.  Within
 * about ten seconds for devices and blocks.  -1 with diagnostics if it cannot be drawn; the DOT is then
 * left beside it, unless a file has that name. */
int picture_write(const struct result *r, unsigned format, const char *path);
/* stem.dot, and from it stem.svg ... in the formats r->pictures.  What cannot be laid out is a warning;
 * -1 if the DOT cannot be written. */
int pictures_write(const struct result *r, enum view view, const char *stem);
/* "svg" -> PICTURE_SVG; 0: no such format. */
unsigned picture_format(const char *name, size_t n);
/* The whole model as onnx_write writes it, with the plan in the metadata of its nodes. */
int annotated_write(const struct result *r, const char *path);
/* ONNX Runtime's session.layer_assignment_settings for such a model, "gpu:0(=acc0); cpu(=cpu0)", in
 * a.  gpu:K counts the accelerators that are not of class npu.  NULL, and *why, where the plan uses two
 * devices of a kind, which one session cannot tell apart. */
const char *layer_assignment(const struct result *r, struct arena *a, const char **why);
/* The replay of the plan (rounds.h): a chart in SVG, a row per lane; a trace for Perfetto; a line. */
int gantt_write(const struct result *r, const char *path);
int trace_write(const struct result *r, const char *path);
int replay_print(FILE *f, const struct result *r);
/* Whether a plan can be replayed: -1 and an error if its stages have copies. */
int replay_check(const struct result *r);
int ir_write(const struct result *r, const char *path);
int plan_json_write(const struct result *r, const char *path);
/* the placement paper's split JSON */
int paper_split_write(const struct result *r, const char *path);
int csv_write(const struct module *m, const struct cluster *c, const char *path, struct diag *d);
void summary_print(FILE *f, const struct module *m);
void plan_print(FILE *f, const struct result *r, const char *split_folder);

#endif
