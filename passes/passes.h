/* Passes, the steps that the option -p lists.  A pass reads and extends the context (struct ctx); its options are a
 * table of struct opt.
 *
 * Rewriters change the module (fold-constants), annotators fill arrays with an element for each node or value (cost),
 * coarseners add a level to the stack of weighted DAGs (contract, fuse, linearize), planners make a plan.
 * Adding a pass or a planner: one file with its `const struct pass` or `struct planner`, one line in passes/table.c. */
#ifndef PCC_PASSES_PASSES_H
#define PCC_PASSES_PASSES_H

#include "ir/base/options.h"
#include "ir/base/clock.h"
#include "ir/ir.h"
#include "ir/plan/sharding.h"

/* The size of a symbolic dimension of the model. */
struct dim_binding {
    const char *name; /* name of the dimension */
    int64_t value;    /* its size */
    /* path of the table of times that says the size; NULL: --dim says it, or it is guessed */
    const char *from;
};

/* A dimension of an input of the model that has neither size nor name, and the size that is guessed for it. */
struct open_dim {
    /* input: index in the list of inputs of the graph; axis: the dimension's number */
    uint32_t input, axis;
    int64_t value; /* the size */
};

/* A file with measured times and memory of nodes, and the batch size they were measured at: --profile-at=B=FILE. */
struct measurement {
    int64_t batch;
    const char *file; /* FILE or FILE:CLASS,... */
};
enum { MEASUREMENTS_MOST = 32 };      /* the most entries of settings.measured */
#define BATCH_MOST (INT64_C(1) << 24) /* measurement.batch is in 1..BATCH_MOST */

/* Nodes that the user wants on one device: --pin. */
struct pin {
    const char *pattern; /* extended regular expression, matched anywhere in a name or path */
    const char *device;  /* name of the device: "acc0" */
};

/* A rule of the user about edges, by the paths of their nodes: --cut-at and --no-cut. */
struct cut_rule {
    const char *pattern; /* extended regular expression, as in struct pin */
    /* --cut-at: edges from a node that matches to a node that does not match are cut; false: --no-cut: edges between
     * two nodes that match are not cut */
    bool cut;
};

/* Requests of the user, beside module and cluster; constant while passes run.  All fields zero: no requests.  A count
 * such as ndims is the number of elements of the array before it. */
struct settings {
    const struct dim_binding *dims; /* --dim, and sizes at which tables of times were measured */
    uint32_t ndims;
    const struct pin *pins; /* --pin */
    uint32_t npins;
    const struct cut_rule *cuts; /* --cut-at, --no-cut */
    uint32_t ncuts;
    const struct state_pair *pairs; /* --state */
    uint32_t npairs;
    const char *const *cost_files; /* --costs: FILE or FILE:CLASS,... */
    uint32_t ncost_files;
    const char *const *support; /* --support: FILE:CLASS,... */
    uint32_t nsupport;
    /* --profile-at; empty, or with at least two different batch sizes */
    const struct measurement *measured;
    uint32_t nmeasured;
    const struct measurement *checks; /* --profile-check */
    uint32_t nchecks;
    int64_t time_limit; /* --time-limit: ps that one planner may take; 0: no limit */
    int64_t max_states; /* --max-states: ideals a planner may visit; 0: the pass's own option */
    /* --keep-blocks: contract merges each copy of a repeating layer into a vertex */
    bool keep_blocks;
    int64_t cut;         /* --cut: enum parts_cut */
    const char *cost_of; /* engine of --for whose cost of a part is planned with; NULL: none */
    /* which settings of scene.model the user, not a file, has given: one bit, exec_bit(), for each */
    uint64_t said;
    bool judged; /* --judge was given: plans are shown by the objective `judge`, not the scene's */
    /* the objective, as an index of exec_model.kinds; without --judge the time per sample */
    uint32_t judge;
};

/* The weighted graphs that passes read and make, from fine to coarse; NULL: not made yet. */
struct levels {
    struct wdag *base; /* one vertex per placed node: ctx_base() */
    /* Results of contract.  contiguous: each colocation class is a vertex, and classes on a common cycle are one
     * vertex, since contiguous plans cannot cut the cycle.  any_shape: each class is a vertex, for plans of any shape
     * (equal to `contiguous` if no classes lie on a cycle; else without edges).  mandatory: each mandatory class is a
     * vertex; groups that only the user or an option of contract asked for are not merged (equal to `any_shape` if
     * there are no such groups). */
    struct wdag *contiguous, *any_shape, *mandatory;
    struct wdag *top; /* the level that the next pass reads */
    /* The user named contract in -p without its options pins and coplace, so that list schedulers order the vertices
     * that contract makes; false: they order single nodes and keep the nodes of a group on one device. */
    bool contract_requested;
    struct wdag *scheduled; /* graph of the list schedulers (list_level()); NULL: not made yet */
};

/* Memory, messages and functions that the caller of a run provides. */
struct services {
    struct arena *mem;         /* lives as long as the module */
    struct arena *scratch;     /* emptied after each pass */
    struct diag *diag;         /* receives the messages; not NULL */
    struct listener *listener; /* hears the progress and may end the work; NULL: none */
    /* Reads the ONNX model in the file `path`, for its annotations.  Returns NULL and reports an error if that fails.
     * The pointer itself is NULL if the caller cannot read models. */
    struct module *(*read_model)(const char *path, struct arena *of, struct diag *d);
};

/* The choice that the pass shard with ways=auto leaves if bounds do not say whether it is better than a plan of whole
 * nodes.  pipeline_run() compares it with the plan of whole nodes that the last planner finds, and takes the choice if
 * it saves the share `gain` of that plan's time. */
struct shard_offer {
    uint32_t ways; /* number of devices that share nodes; 0: there is no offer */
    uint32_t cls;  /* 1 + number of the class of these devices */
    /* ps: the search that found the choice sought only choices that take less than this */
    int64_t below;
    int64_t value; /* ps that the choice takes */
    int64_t gain;  /* share that the choice must save, in millionths of the time of whole nodes */
    bool taken;    /* the pass is to rewrite the module by the choice, without a comparison */
};
/* Whether the time `value` saves the share `gain` (millionths) of the time `of`, all >= 0 (shard.c). */
bool shard_saves(int64_t value, int64_t of, int64_t gain);

/* Results of passes, beside levels.  All fields zero: no pass has run. */
struct results {
    struct plan *plan;         /* the plan that the last planner made; NULL: none yet */
    struct open_calls *opened; /* function calls replaced by their nodes (opened.h); NULL: none */
    bool looked_inside; /* a pass tried to open the calls: a call that is left cannot be opened */
    bool priced;        /* m->cost was made by the pass cost, not read from the input */
    bool inferred; /* infer-shapes has run: shapes_unknown, guessed, nameless and guess are set */
    /* text of the last warning about guessed sizes, so that it is not repeated; NULL: none */
    const char *told;
    int64_t shapes_unknown; /* number of the main graph's nodes with a result of unknown shape */
    struct dim_binding *guessed; /* [nguessed] dimensions whose sizes are guessed */
    uint32_t nguessed, capguessed;
    struct open_dim *nameless; /* [nnameless] dimensions of inputs whose sizes are guessed */
    uint32_t nnameless, capnameless;
    /* size guessed for dimensions that are not batches; 0: the usual size (bind_dims.h), since no smaller one was
     * needed */
    int64_t guess;
    /* split.name: the batch that split-batch divided; split.value: number of its blocks; name NULL: split-batch did not
     * run */
    struct dim_binding split;
    const struct sharding *sharding; /* made by the pass shard; NULL: the model is not sharded */
    struct shard_offer offer;        /* made by the pass shard */
    const struct level_table *table; /* made by the pass levels; NULL: it has not run */
    /* what files of costs and support said of the nodes (cost/known_costs.h); NULL: the pass cost has read none */
    const struct known_costs *known;
    /* an error was reported because options of the user contradict each other */
    bool misused;
    uint64_t ideals; /* number of ideals (dp-place{count-ideals=true}); 0: not counted */
};

/* All data of one run of passes; there are no global variables.  All fields zero: nothing is known yet. */
struct ctx {
    struct scene scene;              /* ctx_base() makes scene.place together with the base level */
    const struct settings *settings; /* NULL: no requests; passes call ctx_settings() */
    struct levels levels;
    struct services use;
    struct results results;
};

/* Values of pass.needs, as bits: the results of other passes that a pass needs.  OPEN: the pass has an option `from`
 * that names a plan file, and open-functions must first open the function calls that were open in that plan.  MIRROR:
 * contract before the pass keeps backward nodes with their forward nodes, unless its option mirror says otherwise. */
enum { NEED_SHAPES = 1, NEED_COST = 2, NEED_CONTRACT = 4, NEED_OPEN = 8, NEED_MIRROR = 16 };

struct pass {
    const char *name, *help; /* name in -p; its help text */
    const struct opt *opts;  /* the options, ends with a zero row; NULL: none */
    size_t optsize;          /* bytes of the struct that the options are stored in */
    /* the pass changes the nodes (ir/model/edit.h), so the results of earlier passes are forgotten */
    bool rewrites;
    /* planner, with its options, that a pipeline gets at its end if it names no planner behind the pass; NULL: none */
    const char *then;
    int needs; /* NEED_* bits: the pipeline inserts these passes if they have not run before */
    /* Runs the pass; opts: the struct with the values of its options.  Returns 0; -1 after reporting an error; or
     * PASS_INFEASIBLE: no plan was found. */
    int (*run)(struct ctx *x, const void *opts);
};

enum { PASS_INFEASIBLE = -3 };

/* Properties of a request, as bits, that not every planner supports. */
enum feature {
    FEATURE_PINS = 1,      /* nodes fixed to a device: --pin */
    FEATURE_PART_COST = 2, /* each part costs its device some time beside computing: --part-cost */
    FEATURE_GROUPS = 4,    /* groups of devices with faster links inside: --group */
    FEATURE_OVERLAP = 8,   /* a device computes and moves values at the same time: --overlap */
    /* a training graph whose forward samples all run before its backward samples: --schedule=gpipe */
    FEATURE_GPIPE = 16,
    FEATURE_COPIES = 32,  /* a stage on several devices that take samples in turn: --replicate */
    FEATURE_ROUTES = 64,  /* links between two devices: "links" of a cluster file */
    FEATURE_LEVELS = 128, /* more than two levels of links: --levels */
    FEATURE_CUTS = 256,   /* edges that must, or must not, be cut: --cut-at, --no-cut */
    FEATURES_ALL = 511
};

enum { PLANNER_OBJECTIVES = 2 };
/* A pass that makes a plan, with the objectives and features that the planner supports.  Other requests are refused
 * with a message that names the planners for them (planner_check). */
struct planner {
    struct pass pass;
    const char *objectives[PLANNER_OBJECTIVES]; /* names of struct exec_kind, then NULL */
    bool every_objective;                       /* the planner supports every objective */
    uint32_t features; /* FEATURE_* bits: features that the planner supports */
    bool given; /* reads the user's plan: messages do not propose it in place of other planners */
    /* Tells whether these options of the planner ask for the objective `implied` if the user names none; NULL: they
     * never do. */
    bool (*implies)(const void *opts);
    const char *implied; /* name of that struct exec_kind */
    /* if the planner does not support the objective, exec_plans.instead runs in its place */
    bool leaves;
    /* what run_and_fit.h tries if the plan needs more memory at one time than devices have.  FIT_NOTHING: nothing.
     * FIT_CONTIGUOUS: contiguous plans.  FIT_AS_PROVEN: contiguous plans if the plan's bound is about these, else plans
     * of any shape.  FIT_ANY_SHAPE: as FIT_AS_PROVEN, and then plans of any shape. */
    enum { FIT_NOTHING, FIT_CONTIGUOUS, FIT_AS_PROVEN, FIT_ANY_SHAPE } fit;
};

/* What an execution model (struct exec_kind) needs from passes. */
struct exec_plans {
    const char *pipeline; /* pipeline that runs if the command line has no -p */
    /* the same pipeline for clusters with groups of devices; NULL: `pipeline` */
    const char *grouped;
    /* name of the planner that runs in place of a planner whose `leaves` (struct planner) is set; NULL: none */
    const char *instead;
    uint32_t useless; /* FEATURE_* bits: no plan for this objective can use them, so refuse them */
    /* planners beside those in the table of passes/table.c, ends with NULL; NULL: none */
    const struct planner *const *own;
};

/* Returns the user's settings; never NULL. */
const struct settings *ctx_settings(const struct ctx *x);
/* Whether the user gave the setting of the execution model with this name (exec_setting). */
bool ctx_said(const struct ctx *x, const char *name);
/* Returns the scene with the objective by which plans are shown: that of --judge, else the scene's own. */
struct scene ctx_judged(const struct ctx *x);
/* ctx_ndims() returns the number of dimensions with a size.  ctx_dim() returns the i-th of them, i < ctx_ndims(x):
 * first the dimensions that the user gave, then the guessed ones. */
uint32_t ctx_ndims(const struct ctx *x);
const struct dim_binding *ctx_dim(const struct ctx *x, uint32_t i);
/* Checks that every --pin names a device, and that every --pin, --cut-at and --no-cut has a valid pattern.  Returns
 * 0, or -1 and reports an error. */
int ctx_check_pins(const struct ctx *x);
/* Checks that costs read from the input have as many classes as the cluster.  Returns 0, or -1 and reports an error.
 * Times in a profile that are for any accelerator become the times of each class of accelerators. */
int ctx_check_costs(const struct ctx *x);
/* Makes x->scene.place and the base level (base and top of x->levels) unless they exist.  Returns 0, or -1 and reports
 * an error, such as when all times and transfers of a class, or all bytes, add up to CTX_SUM_MAX or more; later passes
 * need not check their sums for overflow. */
#define CTX_SUM_MAX (INT64_C(1) << 59)
int ctx_base(struct ctx *x);
/* Returns a clock that starts now, with the user's time limit for a planner and the listener. */
struct clock ctx_clock(const struct ctx *x);
/* Returns a clock with the listener only, for work that remains to be done when the time limit is over. */
struct clock ctx_late_clock(const struct ctx *x);
/* Forgets the results about a module whose nodes have changed.  Keeps the types of its values, and the few results that
 * still hold (context.c). */
void ctx_forget(struct ctx *x);
/* Forgets the levels, so that contract can run again. */
void ctx_forget_levels(struct ctx *x);
/* Makes `level` the level that the next pass reads. */
void ctx_push(struct ctx *x, struct wdag *level);

/* Returns planner number i = 0, 1, ...: first those of passes/table.c, then those of the execution models in kinds
 * (NULL: no models); NULL after the last one. */
const struct planner *planner_at(const struct exec_kind *const *kinds, uint32_t i);
/* Returns pass number i = 0, 1, ... that -p can name; NULL after the last one.  Passes come before planners, in the
 * order in which a pipeline usually has them. */
const struct pass *pass_at(const struct exec_kind *const *kinds, uint32_t i);
/* Returns the pass or planner's pass with this name; NULL: there is none. */
const struct pass *pass_find(const struct exec_kind *const *kinds, const char *name);
/* Returns the planner whose pass is p; NULL: p is not a planner. */
const struct planner *planner_of(const struct exec_kind *const *kinds, const struct pass *p);

#endif
