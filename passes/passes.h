/* Passes: what -p names.  A pass reads and extends the context; its options are a table.
 *
 * Rewriters change the module (infer-shapes), annotators fill parallel arrays (cost), coarseners push
 * a level on the stack of weighted DAGs (contract, fuse, linearize), planners leave a plan.
 * Adding a pass: one file with its `const struct pass`, one line in passes/table.c. */
#ifndef PCC_PASSES_PASSES_H
#define PCC_PASSES_PASSES_H

#include "ir/base/options.h"
#include "ir/ir.h"

#include <signal.h>

struct dim_binding {
    const char *name;
    int64_t value;
    bool guessed;
};

struct pin {
    const char *pattern; /* extended regular expression, matched anywhere in a node's name */
    const char *device;
};

/* What a run works on.  One per run; no globals. */
struct ctx {
    struct arena *mem;     /* lives as long as the module */
    struct arena *scratch; /* emptied after each pass */
    struct diag *diag;
    struct module *m;
    struct opened *opened; /* calls that stand open in m (opened.h); NULL: none */
    bool looked_inside;    /* calls that are still whole in m cannot be opened */
    struct cluster *cluster;
    struct dim_binding *dims; /* from --dim; then what infer-shapes guessed is appended */
    uint32_t ndims, capdims;
    /* for dimensions that nobody gives, but for batches; 0: not made smaller yet */
    int64_t guess;
    const struct pin *pins;
    uint32_t npins;
    const struct state_pair *pairs; /* from --state */
    uint32_t npairs;
    const char *const *cost_files; /* from --costs: FILE or FILE:CLASS,... */
    uint32_t ncost_files;
    int64_t time_limit; /* ps for one planner; 0: none */
    bool keep_blocks;   /* --keep-blocks: contract keeps layers that repeat whole */
    /* --max-states: ideals that planners may visit; 0: the pass's own option */
    int64_t max_states;
    const volatile sig_atomic_t *stop; /* not 0: finish with the best so far */
    bool progress;                     /* stderr is a terminal */
    /* Reads an ONNX model, for its annotations; NULL and an error.  NULL: nobody can. */
    struct module *(*read_model)(const char *path, struct arena *of, struct diag *d);

    /* results */
    struct place *place; /* after the cost pass's consumers asked for it: ctx_base() */
    struct wdag *base;   /* the level of placed nodes */
    /* What contract leaves: the classes of nodes that share a device, and the cycles that these close joined,
       which contiguous plans cannot cut; the classes alone, for plans of any shape (without edges where there
       are such cycles, else whole itself); and of these the mandatory ones, without the groups that the user or
       an option of contract asked for (else any itself). */
    struct wdag *whole, *any, *must;
    struct wdag *top;       /* the level that the next pass reads */
    struct plan *plan;      /* the last planner's */
    uint64_t ideals;        /* counted on request (dp-place{count-ideals=true}) */
    bool inferred;          /* infer-shapes has run */
    int64_t shapes_unknown; /* after that: nodes of the main graph with a result of unknown shape */
};

/* NEED_OPEN: the pass has an option `from`, a plan: calls are to stand open as in it. */
enum { NEED_SHAPES = 1, NEED_COST = 2, NEED_CONTRACT = 4, NEED_OPEN = 8 };

struct pass {
    const char *name, *help;
    const struct opt *opts; /* ends with a zero row; NULL: none */
    size_t optsize;
    int needs; /* NEED_*: passes that the pipeline inserts if they have not run */
    /* 0 or -1 (with a diagnostic); infeasible: PASS_INFEASIBLE */
    int (*run)(struct ctx *x, const void *opts);
};

enum { PASS_INFEASIBLE = -3 };

/* Costs that came with the input have as many classes as the cluster: 0, or -1 and an error. */
int ctx_check_costs(const struct ctx *x);
/* Builds place and the base level if they are not there yet: x->place, x->base, x->top.  An error if
 * all times and transfers of a class, or all bytes, add up to CTX_SUM_MAX or more, so that no pass
 * has to fear for its sums. */
#define CTX_SUM_MAX (INT64_C(1) << 59)
int ctx_base(struct ctx *x);
/* Pushes a level. */
void ctx_push(struct ctx *x, struct wdag *level);

extern const struct pass *const pass_table[]; /* ends with NULL */
const struct pass *pass_find(const char *name);

#endif
