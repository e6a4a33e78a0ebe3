/* Backends: write a module and its plan to files.  Every file is written under a temporary name in its folder and
 * renamed when it is complete.
 *
 * A writer is one C file that defines a `const struct writer`, and one row of the table in writers.c.  From these come
 * the names of --emit, the suffixes of -o, the options with their help and completions, and the warnings of options
 * without effect. */
#ifndef PCC_BACKENDS_BACKENDS_H
#define PCC_BACKENDS_BACKENDS_H

#include "ir/base/json_out.h"
#include "ir/base/options.h"
#include "ir/ir.h"
#include "ir/plan/parts.h"
#include "ir/plan/sharding.h"

/* What each box of a picture stands for: a device (or a part on it), a block of nodes, a node, or a node of the model
 * before the pass shard. */
enum view { VIEW_DEVICES, VIEW_BLOCKS, VIEW_NODES, VIEW_SHARDS };
/* Formats of pictures, as bits: bit k is format picture_formats[k] ("svg", ...; NULL ends the list).  HTML: the report
 * of the plan as a page (html/html.h). */
enum { PICTURE_SVG = 1, PICTURE_PDF = 2, PICTURE_PNG = 4, PICTURE_DOT = 8, PICTURE_HTML = 16 };
extern const char *const picture_formats[];
/* Numbers of boxes.  MOST: the most for a readable picture.  GOOD: the most in a first attempt to draw blocks. */
enum { MOST_BOXES = 150, GOOD_BOXES = 32 };
/* Where the weights of a split lie.  SHARED: in one file that all parts use.  PARTS: in a file for each part.  INLINE:
 * inside the parts.  ORIGINAL: in the source's files, which stay there if the split is in the source's folder, else are
 * copied.  LINK: in hard links to the source's files. */
enum weights_mode {
    WEIGHTS_SHARED,
    WEIGHTS_PARTS,
    WEIGHTS_INLINE,
    WEIGHTS_ORIGINAL,
    WEIGHTS_LINK,
    WEIGHTS_MODES,
    WEIGHTS_AUTO = WEIGHTS_MODES /* PARTS if an engine of --for wants it, else SHARED */
};

/* Reads the ONNX model in the file at `path`, into the arena `of`.  Returns NULL and reports an error if that fails. */
typedef struct module *read_model_fn(const char *path, struct arena *of, struct diag *d);

/* What every writer receives: the model, its plan, and the judge's figures. */
struct result {
    struct scene scene;
    const struct plan *plan; /* NULL: there is no plan */
    /* NULL: there is no plan, or the plan is invalid or cannot be judged */
    const struct verdict *verdict;
    const struct parts *parts; /* the plan cut into parts (ir/plan/parts.h); NULL: none */
    /* result of the pass levels (ir/dag/level_table.h); NULL: that pass has not run */
    const struct level_table *table;
    const struct sharding *sharding; /* NULL: the model is not sharded */
    /* [part] slot (plan.slot) of the subgraph that the part is; 0: the part runs on a host.  NULL: the objective is not
     * the latency */
    uint32_t *part_slot;
    /* ps: time of one sample alone through the parts; for objectives without FEED_ALONE the plan's value */
    int64_t parts_value;
    bool parts_fine; /* for objectives with FEED_ALONE: the parts are cut at transfers */
    /* what the planner saw of each call of a function: "opened": the nodes inside; "whole": one node; NULL: the model
     * has no calls */
    const char *calls;
    /* if --judge shows the plan by another objective than its own: scene, plan and verdict by the plan's own
     * objective, for files that keep these; NULL: this result is by the plan's own objective */
    const struct result *made;
    /* the same plan with its calls open, as in planning, if calls were closed for writing; NULL: no call was
     * closed, so this result has the calls as in planning */
    const struct result *open;
    const char *const *dim_name; /* [ndims] symbolic dimensions that got a size for planning */
    const int64_t *dim_value;    /* [ndims] their sizes */
    uint32_t ndims;
    uint32_t nguessed; /* the sizes of the last nguessed dimensions were guessed */
    /* sizes of the dimensions of model inputs: those of input i are size[size_at[i] .. size_at[i + 1]), -1: not known;
     * size_open[i]: the number of its dimensions is not known.  size_at NULL: sizes were not worked out */
    const int64_t *size;
    const uint32_t *size_at;
    const uint8_t *size_open;
    /* what the plan assumes about devices and sizes because no option gave it; NULL: nothing */
    const char *assumed;
    bool annotated; /* -o writes a whole model with the plan in it */
    bool colored;   /* tables are for a terminal that shows colours */
    /* width of the lines of tables; 0: PAGE_COLUMNS (page.h) */
    unsigned columns;
    FILE *out; /* stream that the path "-" stands for; NULL: stdout */
    struct diag *diag;
    /* reads an ONNX model that was written; NULL: the caller has no reader */
    read_model_fn *read_model;
};

/* What an execution model (struct exec_kind) shows of a result r.  Functions take memory from a; the returned data
 * may also point into r. */
struct chart;
struct exec_shows {
    /* Sets parts, parts_value, parts_fine and part_slot of r; how: the value of --cut.  NULL: callers make as few parts
     * as possible, and parts_value is the plan's value. */
    void (*cut)(struct result *r, enum parts_cut how, struct arena *a);
    /* The table of a plan.  gain: prints its first lines, how much better the plan is than one device.  report: prints
     * the tables of devices and all that follows.  shape: returns the words behind "shape: "; NULL: no such line. */
    void (*gain)(FILE *f, const struct result *r, struct arena *a);
    void (*report)(FILE *f, const struct result *r, struct arena *a);
    const char *(*shape)(const struct result *r, struct arena *a);
    /* Runs `samples` samples through the plan (--replay; 0: a few), prints a line.  Returns 0, or -1 and an error. */
    int (*replay)(FILE *f, const struct result *r, int64_t samples, struct arena *a);
    /* Does the work of chart_make() (timeline/chart.h): fills *c with at most `most` bars.  samples: chart_options. */
    int (*chart)(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                 struct arena *a);
    /* Adds the model's own members to manifest.json; NULL: there are none. */
    void (*json)(struct json_out *o, const struct result *r, struct arena *a);
};
/* Writes text and a line end to f, in lines of r->columns.  at, indent: as for page_words() (page.h). */
void plan_print_words(FILE *f, const struct result *r, const char *text, unsigned at,
                      unsigned indent);
/* Functions for exec_shows.gain, report and shape that suit most execution models. */
void plan_print_gain(FILE *f, const struct result *r, struct arena *a);
void plan_print_tables(FILE *f, const struct result *r, struct arena *a);
const char *plan_shape(const struct result *r, struct arena *a);

/* An option of writers: --NAME=VALUE on the command line.  Several writers may share one option, or each have an
 * option of its own with the same name, kind and values. */
struct writer_opt {
    struct opt opt; /* OPT_BOOL: the command line has --NAME without a value */
    /* why "--NAME has no effect" if no writer in use has the option; NULL: writer_opt_unused() makes the reason */
    const char *unused;
    bool needs_plan; /* the option has an effect only if there is a plan */
    bool strict;     /* an option without effect is an error, not a warning */
};

/* What a writer needs before it can write: costs, the pass levels, or a plan, which pcc then makes even without -p. */
enum writer_needs {
    WRITER_NEEDS_NOTHING,
    WRITER_NEEDS_COST,
    WRITER_NEEDS_LEVELS,
    WRITER_TAKES_PLAN, /* a plan, except that --emit without a plan writes the summary of the model instead */
    WRITER_NEEDS_PLAN
};

/* A form of output. */
struct writer {
    const char *name;   /* word for --emit and in messages: "gantt" */
    const char *suffix; /* ending of -o: ".gantt.svg"; NULL: writes a folder, for any other name */
    bool to_stdout;     /* --emit may name it: the path "-" then means result.out */
    /* the writer gets result.open, the plan with its calls open as in planning */
    bool as_planned;
    bool has_model; /* the writer's file holds the whole model, and the plan if there is one */
    enum writer_needs needs;
    /* the writer's options, a list that NULL ends; the pointer NULL: there are none */
    const struct writer_opt *const *opts;
    size_t optsize; /* bytes of the struct that holds the options' values */
    /* Checks before planning whether `path` can be written.  Returns 0, or -1 and an error.  NULL: outfile_check() */
    int (*check)(const struct module *m, const void *opts, const char *path, struct diag *d);
    /* Writes r to `path`.  Returns 0, or -1 and an error.  r->verdict is set if `needs` asks for a plan. */
    int (*write)(const struct result *r, const void *opts, const char *path);
};

extern const struct writer *const writer_table[]; /* all writers; NULL ends the list */
/* Returns the writer with the name name[0 .. n); NULL: there is none. */
const struct writer *writer_named(const char *name, size_t n);
/* Returns the writer with the longest suffix that the path ends in; if there is none, the writer of folders. */
const struct writer *writer_of(const char *path);
/* Refuses paths that look like a file of a format that pcc does not write, such as "x.jpg" or "x.SVG".  Returns 0, or
 * -1 and an error. */
int writer_check_name(const char *path, struct arena *a, struct diag *d);
/* Returns all suffixes, in a, each with a blank before it. */
const char *writer_suffixes(struct arena *a);
/* Returns the names that --emit takes, in a: "ir, csv or dot" with sep ", " and last " or ". */
const char *writer_emits(const char *sep, const char *last, struct arena *a);
/* Returns the writer's option with this name; NULL: there is none. */
const struct writer_opt *writer_opt(const struct writer *w, const char *name);
/* Returns the struct of the writer's options, in a, with their default values. */
void *writer_opts_new(const struct writer *w, struct arena *a);
/* Returns the reason, in a, why the option has no effect when no writer in use has it: "no .dot or .svg is written". */
const char *writer_opt_unused(const struct writer_opt *o, struct arena *a);
/* Writes r to the path with writer w.  Returns 0, or -1 and an error, also if w needs a plan and r has no verdict. */
int writer_run(const struct writer *w, const struct result *r, const void *opts, const char *path);

/* Gives the module ONNX messages (module.src, ...) that agree with the module, if it has no messages or passes have
 * changed it; to be called before any writer.  Returns 0, or -1 and an error that names what cannot be written.
 * O(the module). */
int onnx_make(struct module *m, struct diag *d);
/* Notes in about.rest what only the ONNX messages have, before the module is printed as text.  Returns 0, or -1 and an
 * error that names what text cannot carry.  O(the messages without payloads). */
int onnx_carry(struct module *m, struct diag *d);
/* Writes the model to one ONNX file; a model that no pass has changed is written as it was read; external data
 * stays where it is. Returns 0, or -1 and an error. */
int onnx_write(const struct module *m, const char *path, struct diag *d);

/* Engines (engines/engines.h) for which a split folder gets files. */
struct export_options {
    int64_t engines; /* bit k: for engine_names[k] */
    /* --triton-batch: samples of a request at most; 0: requests are as the model takes them */
    int64_t triton_batch;
    const char *hosts;      /* --hosts: names of hosts with commas between them; "": not given */
    const char *genai_base; /* --genai-base: path of the user's genai_config.json; "": not given */
};
/* Options of a split folder and of an annotated model, a whole model with the plan in it. */
struct split_options {
    int64_t weights;               /* enum weights_mode, or WEIGHTS_AUTO */
    int64_t annotate;              /* ANNOTATE_*: form of the plan in the whole model */
    int64_t pictures;              /* PICTURE_* bits */
    struct export_options exports; /* engines for which the folder gets files */
};
/* Where an annotated model has the plan.  METADATA: in the metadata of nodes.  IR11: in device configurations, too. */
enum { ANNOTATE_METADATA, ANNOTATE_IR11 };
extern const struct writer_opt annotate_option; /* --annotate, for split_options.annotate */
/* Writes the split folder.  Returns 0, or -1 and an error.  Replaces only an empty folder or another split; with
 * WEIGHTS_ORIGINAL also writes into the folder of the source, whose other files stay. */
int split_write(const struct result *r, const struct split_options *o, const char *folder);
/* Adds files for the engines of o to a split folder that exists; its plan stays.  reads: reads models of the folder.
 * Sets *files to the number of files that were made.  Returns 0, or -1 and an error; then the folder is as it was. */
int split_export(const char *folder, const struct export_options *o, read_model_fn *reads,
                 uint32_t *files, struct arena *a, struct diag *d);
/* What dot_write() draws. */
struct scenery {
    enum view view;
    uint32_t boxes;       /* VIEW_BLOCKS: the most boxes */
    const uint8_t *shown; /* VIEW_NODES: [node] not 0: the node is shown; NULL: all are */
    /* VIEW_DEVICES, VIEW_BLOCKS: for a picture that dot lays out in two steps (picture/layout.h); NULL: dot lays out
     * all at once.  Step 1, layout->name NULL: writes the graph without arrows between frames.  Step 2, with the layout
     * that dot made in step 1: gives every box a fixed place, frames side by side, and sets layout->screens (-1:
     * something has no place) */
    struct layout *layout;
};
/* Writes a picture as DOT to `path` ("-": r->out).  Returns 0, or -1 and an error.  A frame (border around boxes)
 * stands for a part; for a device if there are more than 48 parts, or more than s->boxes if that is 2 .. 31.
 * VIEW_BLOCKS has at most max(s->boxes, frames) boxes.  O(nodes + pins). */
int dot_write(const struct result *r, const struct scenery *s, const char *path);
/* Writes stem.svg, ... in the formats (PICTURE_* bits), and stem.dot with PICTURE_DOT.  If dot cannot lay out a format,
 * warns and leaves stem.dot instead.  Returns 0; -1 and an error if the DOT cannot be written. */
int pictures_write(const struct result *r, enum view view, unsigned formats, const char *stem);
/* Returns ONNX Runtime's session.layer_assignment_settings for an annotated model, in a: "gpu:0(=acc0); cpu(=cpu0)".
 * K of gpu:K counts the accelerators whose class is not npu.  Returns NULL, and the reason in *why, if the plan uses
 * two devices that one session cannot tell apart. */
const char *layer_assignment(const struct result *r, struct arena *a, const char **why);
/* Returns ONNX Runtime's session.name_based_layer_assignment for the model as it was given, in a: "gpu:0(/h.0/);
 * cpu(/wte/,/h.1/)".  The setting lists substrings for each device; the name of each node of the plan, also in
 * bodies, contains a substring of the node's device, and none of another device.  Returns NULL, and the reason in
 * *why, if there are no such substrings, or if layer_assignment() has a reason. */
const char *name_assignment(const struct result *r, struct arena *a, const char **why);
/* Prints the first rows of r->table, the table of the pass levels; the writer "levels" writes all rows.  O(V). */
void levels_print(FILE *f, const struct result *r);
/* Prints a summary of the model for the terminal; m->cost must be set. */
void summary_print(FILE *f, const struct module *m);
/* Writes the summary of r's model as JSON to `path` ("-": r->out).  Returns 0, or -1 and an error. */
int summary_json(const struct result *r, const char *path);
/* Prints the tables of the plan for the terminal.  split_folder: folder of the plan's split: the command that runs the
 * split is printed, too; NULL: no split is written. */
void plan_print(FILE *f, const struct result *r, const char *split_folder);

#endif
