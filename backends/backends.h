/* Backends: a module and a plan in, files out.  Every file is written beside its final name and
 * renamed when complete.
 *
 * A writer is one file with its `const struct writer` and one row in writers.c: the names of --emit, the suffixes of
 * -o, the options, their help and completions, and complaints about options without effect come from there. */
#ifndef PCC_BACKENDS_BACKENDS_H
#define PCC_BACKENDS_BACKENDS_H

#include "ir/base/json_out.h"
#include "ir/base/options.h"
#include "ir/ir.h"

/* What a picture shows: a box per device (part), per block of nodes, or per node. */
enum view { VIEW_DEVICES, VIEW_BLOCKS, VIEW_NODES };
/* How it is drawn; bits, as picture_formats names them ("svg", ..., NULL). */
enum { PICTURE_SVG = 1, PICTURE_PDF = 2, PICTURE_PNG = 4, PICTURE_DOT = 8 };
extern const char *const picture_formats[];
/* Boxes of a picture that is still readable; boxes of a picture of blocks that the eye takes in at once. */
enum { MOST_BOXES = 150, GOOD_BOXES = 32 };
/* Where the weights of a split lie: in one file that the parts share, inside the parts, or in the files
 * of the source: where these are, else in copies of them, or in hard links to them. */
enum weights_mode { WEIGHTS_SHARED, WEIGHTS_INLINE, WEIGHTS_ORIGINAL, WEIGHTS_LINK, WEIGHTS_MODES };

/* The model, the plan and its figures, as every writer receives them. */
struct result {
    struct scene scene;
    const struct plan *plan;
    const struct verdict *verdict;
    const struct parts *parts; /* the parts: ir/plan/parts.h */
    const struct level_table
        *table;          /* of the pass levels (ir/dag/level_table.h); NULL: it has not run */
    uint32_t *part_slot; /* [part] of a latency: the slot of its subgraph; 0: of a host */
    int64_t parts_value; /* ps: time of one sample alone through the parts (FEED_ALONE) */
    /* of functions, while the plan was made: "opened", "whole"; NULL: there are none */
    const char *calls;
    /* scene, plan and verdict by the objective that the plan was made for, where this is about another one (--judge):
     * what files keep of it; NULL: this one */
    const struct result *made;
    const struct result *open;   /* the same plan with these calls still open; NULL: this one */
    const char *const *dim_name; /* bindings that the plan was made for */
    const int64_t *dim_value;
    uint32_t ndims;
    const char *
        assumed; /* assumptions of the plan about devices and sizes that no option gave; NULL: none */
    bool annotated; /* a model with the plan in it is written */
    bool colored;   /* tables are for a terminal that shows colours */
    FILE *out;      /* where the path "-" leads; NULL: stdout */
    struct diag *diag;
};

/* What an execution model (struct exec_kind) shows of a result.  Memory comes from a, or lives as long as r. */
struct chart;
struct exec_shows {
    /* Makes r->parts, and of one sample alone parts_value; fine: cut where transfers begin and end.  NULL: as few parts
     * as can be, whose value is the plan's */
    void (*cut)(struct result *r, bool fine, struct arena *a);
    /* The table of a plan, from its first lines on: what is gained; what the devices do, and all that follows; what
     * stands behind "shape: " (NULL: the line is left out) */
    void (*gain)(FILE *f, const struct result *r, struct arena *a);
    void (*report)(FILE *f, const struct result *r, struct arena *a);
    const char *(*shape)(const struct result *r, struct arena *a);
    /* --replay of so many samples, 0: a few: a line.  0, or -1 and an error */
    int (*replay)(FILE *f, const struct result *r, int64_t samples, struct arena *a);
    /* For chart_make (timeline/chart.h): samples as asked for, `most` bars */
    int (*chart)(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                 struct arena *a);
    /* Members of its own in manifest.json; NULL: none */
    void (*json)(struct json_out *o, const struct result *r, struct arena *a);
};
/* What most of them show. */
void plan_print_gain(FILE *f, const struct result *r, struct arena *a);
void plan_print_tables(FILE *f, const struct result *r, struct arena *a);
const char *plan_shape(const struct result *r, struct arena *a);

/* An option of writers: --NAME=VALUE of the command line.  Several writers may point at the same one, or have one of
 * an equal name, kind and values each. */
struct writer_opt {
    struct opt opt; /* of BOOL the command line has --NAME alone */
    /* "--NAME has no effect: ..." where nothing that is written has it; NULL: the suffixes of its writers are named */
    const char *unused;
    bool needs_plan; /* it has an effect only where there is a plan */
    bool strict;     /* no effect is an error, not a warning */
};

enum writer_needs {
    WRITER_NEEDS_NOTHING,
    WRITER_NEEDS_COST,
    WRITER_NEEDS_LEVELS,
    WRITER_TAKES_PLAN, /* a plan, too; where nothing is planned --emit gives the summary of the model in its place */
    WRITER_NEEDS_PLAN
};

/* A form of output. */
struct writer {
    const char *name;   /* of --emit, and in messages */
    const char *suffix; /* of -o, ".gantt.svg"; NULL: a folder, which any other name is */
    bool
        to_stdout; /* --emit takes it; with the path "-" all but folders write to the stream of the result */
    bool as_planned; /* it is given the plan with calls open as they were when it was made */
    bool has_model;  /* the file holds the whole model, and the plan if there is one */
    enum writer_needs needs;
    const struct writer_opt *const *opts; /* ends with NULL; NULL: none */
    size_t optsize;                       /* of the struct that holds them */
    /* Whether nothing stands in the way of path, before anything is planned; NULL: outfile_check.  0 or -1. */
    int (*check)(const struct module *m, const void *opts, const char *path, struct diag *d);
    /* 0, or -1 and an error.  r->verdict is there if it needs a plan. */
    int (*write)(const struct result *r, const void *opts, const char *path);
};

extern const struct writer *const writer_table[]; /* ends with NULL */
/* The writer of a name, n bytes of it; NULL: none. */
const struct writer *writer_named(const char *name, size_t n);
/* The writer of a path: of all suffixes that it ends in the longest one's, else that of folders. */
const struct writer *writer_of(const char *path);
/* Whether a path promises what there is not, as "x.jpg" or "x.SVG" do: -1 and an error, else 0. */
int writer_check_name(const char *path, struct arena *a, struct diag *d);
/* All suffixes, each with a blank before it; "expected" names of --emit: "ir, csv or dot" with such words between. */
const char *writer_suffixes(struct arena *a);
const char *writer_emits(const char *sep, const char *last, struct arena *a);
/* The option of a name that the writer has; NULL: none. */
const struct writer_opt *writer_opt(const struct writer *w, const char *name);
/* Its options, all with their defaults; lives in a. */
void *writer_opts_new(const struct writer *w, struct arena *a);
/* Why an option has no effect, where nothing that is written has it. */
const char *writer_opt_unused(const struct writer_opt *o, struct arena *a);
/* Writes r; if it needs a plan and there is none, an error.  0 or -1. */
int writer_run(const struct writer *w, const struct result *r, const void *opts, const char *path);

/* Gives the module ONNX messages that say what it is, where it has none or passes have changed it: to be called before
 * any of the writers.  0, or -1 and an error that names what cannot be written.  O(the module). */
int onnx_make(struct module *m, struct diag *d);
/* Notes in the module what ONNX alone knows of it (struct about, rest), before it is printed as text.  0, or -1 and an
 * error that names what text cannot carry.  O(the messages without payloads). */
int onnx_carry(struct module *m, struct diag *d);
/* The model (as it was read, if no pass rewrote it) in one ONNX file; external data stays where it is. */
int onnx_write(const struct module *m, const char *path, struct diag *d);

/* Options of a split and of an annotated model. */
struct split_options {
    int64_t weights;   /* enum weights_mode */
    int64_t annotate;  /* ANNOTATE_*: form of the plan in the whole model */
    int64_t pictures;  /* PICTURE_* */
    int64_t in_flight; /* samples that schedule.json is worked out for; 0: as many as ever meet */
};
enum { ANNOTATE_METADATA, ANNOTATE_IR11 };
/* --annotate, a field of struct split_options. */
extern const struct writer_opt annotate_option;
/* The split folder.  Replaces only an empty folder or another split; with WEIGHTS_ORIGINAL the folder of
 * the source is taken, too, and keeps its other files. */
int split_write(const struct result *r, const struct split_options *o, const char *folder);
/* The view and the nodes of a picture. */
struct scenery {
    enum view view;
    uint32_t boxes; /* at most, of blocks */
    /* of nodes: one byte for each, which are shown; NULL: all */
    const uint8_t *shown;
    /* of devices and blocks, NULL: as it is; empty: without what goes from frame to frame; else where dot has then put
     * things: frames stand beside each other, and everything has its place (picture/layout.h) */
    struct layout *layout;
};
/* A picture as DOT, to path ("-", here and in the writers of tables and text below: stdout); the view of
 * blocks has at most max(boxes, parts) boxes, and where the parts are more than that (or 48), devices stand for them.
 * O(nodes + pins). */
int dot_write(const struct result *r, const struct scenery *s, const char *path);
/* stem.svg ... in the formats (bits; 0: none); stem.dot with PICTURE_DOT, and where a format could not be laid out,
 * which is a warning; -1 if the DOT cannot be written. */
int pictures_write(const struct result *r, enum view view, unsigned formats, const char *stem);
/* ONNX Runtime's session.layer_assignment_settings for an annotated model, "gpu:0(=acc0); cpu(=cpu0)", in
 * a.  gpu:K counts the accelerators that are not of class npu.  NULL, and *why, where the plan uses two
 * devices of a kind, which one session cannot tell apart. */
const char *layer_assignment(const struct result *r, struct arena *a, const char **why);
/* The table of the pass levels, r->table, its first rows; writer_levels has them all.  O(V). */
void levels_print(FILE *f, const struct result *r);
void summary_print(FILE *f, const struct module *m);
/* The same as JSON, to path ("-": out, NULL: stdout).  0 or -1. */
int summary_json(const struct result *r, const char *path);
void plan_print(FILE *f, const struct result *r, const char *split_folder);

#endif
