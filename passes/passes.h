/* Passes: what -p names.  A pass reads and extends the context; its options are a table.
 *
 * Rewriters change the module (infer-shapes), annotators fill parallel arrays (cost), coarseners push
 * a level on the stack of weighted DAGs (contract, fuse, linearize), planners leave a plan.
 * Adding a pass or a planner: one file with its `const struct pass` or `struct planner`, one line in passes/table.c. */
#ifndef PCC_PASSES_PASSES_H
#define PCC_PASSES_PASSES_H

#include "ir/base/options.h"
#include "ir/base/clock.h"
#include "ir/ir.h"

struct dim_binding {
    const char *name;
    int64_t value;
};

/* A measurement of one batch size: --profile-at=B=FILE. */
struct measurement {
    int64_t batch;
    const char *file; /* FILE or FILE:CLASS,... */
};
enum { MEASUREMENTS_MOST = 32 };      /* of settings.measured */
#define BATCH_MOST (INT64_C(1) << 24) /* their batch sizes are in 1..this */

struct pin {
    const char *pattern; /* extended regular expression, matched anywhere in a node's name */
    const char *device;
};

/* Requests of the user, beside module and cluster; constant while passes run. Zero: no requests. */
struct settings {
    const struct dim_binding *dims; /* --dim */
    uint32_t ndims;
    const struct pin *pins; /* --pin */
    uint32_t npins;
    const struct state_pair *pairs; /* --state */
    uint32_t npairs;
    const char *const *cost_files; /* --costs: FILE or FILE:CLASS,... */
    uint32_t ncost_files;
    const struct measurement *measured; /* --profile-at; there are none, or two different sizes */
    uint32_t nmeasured;
    const struct measurement *checks; /* --profile-check */
    uint32_t nchecks;
    int64_t time_limit; /* ps for one planner; 0: none */
    int64_t max_states; /* --max-states: ideals that planners may visit; 0: the pass's own option */
    bool keep_blocks;   /* --keep-blocks: contract keeps layers that repeat whole */
    int64_t cut;        /* --cut: 1: parts end wherever a value comes or goes */
    uint64_t said;      /* settings that the user, not a file, says of scene.model, as exec_bit() */
    bool judged; /* --judge: plans are shown by the objective `judge`, not by that of the scene */
    uint32_t judge;
};

/* The graphs that passes read and leave, from fine to coarse; NULL: not made yet. */
struct levels {
    struct wdag *base; /* one vertex per placed node: ctx_base() */
    /* Results of contract.  contiguous: each colocation class is a vertex, and classes on a cycle are one vertex,
     * since contiguous plans cannot cut the cycle.  any_shape: the classes alone, for plans of any shape (the level
     * `contiguous` itself if no classes lie on a cycle; else without edges).  mandatory: the mandatory classes alone,
     * without the groups that the user or an option of contract asked for (`any_shape` itself without such groups). */
    struct wdag *contiguous, *any_shape, *mandatory;
    struct wdag *top; /* the level that the next pass reads */
    /* the pipeline names contract: list schedules are of contract's vertices, not of nodes with groups as pins */
    bool contract_requested;
    struct wdag *scheduled; /* the vertices of list schedules: list_level(); NULL: not made yet */
};

/* Services that the caller of a run provides. */
struct services {
    struct arena *mem;         /* lives as long as the module */
    struct arena *scratch;     /* emptied after each pass */
    struct diag *diag;         /* not NULL */
    struct listener *listener; /* is told of progress, may end the work; NULL: nobody */
    /* Reads an ONNX model, for its annotations; NULL and an error.  NULL: nobody can. */
    struct module *(*read_model)(const char *path, struct arena *of, struct diag *d);
};

/* Results of passes, beside levels. Zero: none yet. */
struct results {
    struct plan *plan;           /* the last planner's */
    struct open_calls *opened;   /* calls that stand open in the module (opened.h); NULL: none */
    bool looked_inside;          /* calls that are still whole cannot be opened */
    bool priced;                 /* m->cost is what the pass cost made */
    bool inferred;               /* infer-shapes has run, and the next four are known */
    int64_t shapes_unknown;      /* nodes of the main graph with a result of unknown shape */
    struct dim_binding *guessed; /* dimensions without a given value, with guesses */
    uint32_t nguessed, capguessed;
    /* the guessed value, batch dimensions excepted; 0: guesses were not made smaller yet */
    int64_t guess;
    struct dim_binding
        split; /* the batch that split-batch has split, and in how many; name NULL: none */
    const struct level_table *table; /* of `levels`; NULL: it has not run */
    uint64_t ideals;                 /* counted on request (dp-place{count-ideals=true}) */
};

/* What a run works on.  One per run; no globals.  Zero-initialised it has nothing yet. */
struct ctx {
    struct scene scene;              /* its place comes with the base level: ctx_base() */
    const struct settings *settings; /* NULL: none; passes ask ctx_settings() */
    struct levels levels;
    struct services use;
    struct results results;
};

/* NEED_OPEN: the pass has an option `from`, a plan: calls are to stand open as in it. */
enum { NEED_SHAPES = 1, NEED_COST = 2, NEED_CONTRACT = 4, NEED_OPEN = 8 };

struct pass {
    const char *name, *help;
    const struct opt *opts; /* ends with a zero row; NULL: none */
    size_t optsize;
    bool
        rewrites; /* changes the nodes (ir/model/edit.h): what passes found out before is forgotten */
    int needs;    /* NEED_*: passes that the pipeline inserts if they have not run */
    /* 0 or -1 (with a diagnostic); infeasible: PASS_INFEASIBLE */
    int (*run)(struct ctx *x, const void *opts);
};

enum { PASS_INFEASIBLE = -3 };

/* What a planner may have to know beside devices, memory, computing and transfers, as bits. */
enum feature {
    FEATURE_PINS = 1,      /* nodes that a device is given for: --pin */
    FEATURE_PART_COST = 2, /* each part takes its device for some time more: --part-cost */
    FEATURE_GROUPS = 4,    /* devices in groups with faster links inside: --group */
    FEATURE_OVERLAP = 8,   /* transfers beside computing: --overlap */
    FEATURE_GPIPE =
        16, /* a training graph whose passes come one after the other: --schedule=gpipe */
    FEATURE_COPIES = 32,  /* a stage on several devices that take turns: --replicate */
    FEATURE_ROUTES = 64,  /* links of two devices: "links" of a cluster file */
    FEATURE_LEVELS = 128, /* more than two levels of links: --levels */
    FEATURES_ALL = 255
};

enum { PLANNER_OBJECTIVES = 2 };
/* A pass that leaves a plan, with the objectives and features that the planner supports. The runner refuses
 * requests for any other, and names planners that support the request (planner_check). */
struct planner {
    struct pass pass;
    const char *objectives[PLANNER_OBJECTIVES]; /* names of execution models; NULL: no more */
    bool every_objective;                       /* the planner supports every objective */
    uint32_t features;                          /* FEATURE_* */
    bool
        given; /* the plan is the user's, so it is no way out where another planner knows too little */
    /* whether naming the planner with these options, without an objective, means the objective `implied`; NULL:
     * never */
    bool (*implies)(const void *opts);
    const char *implied;
    bool
        leaves; /* for an objective that it does not know, exec_plans.instead is run in its place, if there is one */
};

/* What an execution model (struct exec_kind) says to passes. */
struct exec_plans {
    const char *pipeline; /* pipeline of a command line without passes */
    const char *grouped;  /* the same where devices stand in groups; NULL: no other one */
    const char *
        /* the planner that runs in place of a planner which leaves this objective to another; NULL: none */
        instead;
    uint32_t useless; /* FEATURE_* that plans cannot make use of, whoever makes them */
    const struct planner *const
        *own; /* planners beside those of the table, ends with NULL; NULL: none */
};

/* The user's settings; never NULL. */
const struct settings *ctx_settings(const struct ctx *x);
/* Whether the user says the setting of that name of the execution model (exec_setting). */
bool ctx_said(const struct ctx *x, const char *name);
/* The scene under the objective that plans are shown by. */
struct scene ctx_judged(const struct ctx *x);
/* Dimensions with a value: first the given ones, then the guessed ones; i < ctx_ndims(x). */
uint32_t ctx_ndims(const struct ctx *x);
const struct dim_binding *ctx_dim(const struct ctx *x, uint32_t i);
/* Every --pin names a device, and its pattern can be read: 0, or -1 and an error. */
int ctx_check_pins(const struct ctx *x);
/* Costs that came with the input have as many classes as the cluster: 0, or -1 and an error. */
int ctx_check_costs(const struct ctx *x);
/* Builds place and the base level if they are not there yet: x->scene.place, base and top of x->levels.  An error if
 * all times and transfers of a class, or all bytes, add up to CTX_SUM_MAX or more, so that no pass
 * has to fear for its sums. */
#define CTX_SUM_MAX (INT64_C(1) << 59)
int ctx_base(struct ctx *x);
/* A clock that starts now, with the time limit of a planner and the listener. */
struct clock ctx_clock(const struct ctx *x);
/* The same without a time limit, for what has to be done after it. */
struct clock ctx_late_clock(const struct ctx *x);
/* Forgets all results about a module whose nodes have changed; known types stay. */
void ctx_forget(struct ctx *x);
/* Pushes a level. */
void ctx_push(struct ctx *x, struct wdag *level);

/* The planners: first the table's, then the execution models' own (kinds NULL: none); i = 0, 1, ...; NULL after the
 * last. */
const struct planner *planner_at(const struct exec_kind *const *kinds, uint32_t i);
/* All that -p can name: passes, then planners, in the order in which a pipeline usually has them. */
const struct pass *pass_at(const struct exec_kind *const *kinds, uint32_t i);
/* The one of a name; NULL: none. */
const struct pass *pass_find(const struct exec_kind *const *kinds, const char *name);
/* The planner with the pass p; NULL: p is not a planner. */
const struct planner *planner_of(const struct exec_kind *const *kinds, const struct pass *p);

#endif
