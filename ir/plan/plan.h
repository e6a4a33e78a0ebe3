/* Plans and their judge.
 *
 * A plan says for every placed node which device runs it, and what its planner claims of it.  The judge
 * recomputes everything from the module itself (not from any weighted DAG), whoever made the plan. */
#ifndef PCC_IR_PLAN_PLAN_H
#define PCC_IR_PLAN_PLAN_H

#include "ir/dag/scene.h"
#include "ir/dag/wdag.h"
#include "ir/plan/schedule.h"
#include "ir/plan/stages.h"

/* PLAN_OVER_MEMORY: taken by the user's wish although some device needs more memory than it has. */
enum plan_status {
    PLAN_NONE,
    PLAN_OPTIMAL,
    PLAN_FEASIBLE,
    PLAN_HEURISTIC,
    PLAN_OVER_MEMORY,
    PLAN_INFEASIBLE
};

/* The plans that a claim compares with.  CONTIGUOUS: the devices, in some order, take the differences of a chain of
 * ideals; in a training graph of ideals of the forward pass, which the backward pass goes through the other way;
 * where devices stand in groups, the groups do so, too.  LAYERS: plans that keep the groups together that contract
 * was asked to keep.  FUSED: plans of a fused graph. */
enum plan_scope {
    SCOPE_ALL,
    SCOPE_CONTIGUOUS,
    SCOPE_LAYERS,
    SCOPE_CONTIGUOUS_LAYERS,
    SCOPE_FUSED,
    SCOPE_CONTIGUOUS_FUSED,
    SCOPES
};

/* What a planner says about its plan.  Zero: nothing, but for the bounds, which are -1 then. */
struct claim {
    uint32_t objective; /* what value and bounds are: ps of this row of the execution models */
    int64_t value;      /* of the plan */
    /* the value without what parts cost at least: what the planner's own problem says */
    int64_t value_less_parts;
    enum plan_scope scope; /* what bound and status are about */
    int64_t bound;         /* no plan in scope has less, ps; -1: nothing is known */
    int64_t bound_all;     /* no plan at all has less, ps, <= bound; -1: nothing is known */
    enum plan_status status;
    const char *argument; /* why the status: "all 1428 ideals searched" */
    /* why the bound holds, lines that end in a newline, with the numbers to check it by; NULL:
       nothing to show */
    const char *proof;
    /* lines on what other plans take, or would save; NULL: nothing to say */
    const char *offer;
};

enum {
    SLOTS_MOST = 65536,   /* of an accelerator */
    SLOTS_EMPTY = 1 << 20 /* without nodes, of a plan whose slots a file lists */
};

/* A plan: devices, their order in time, and what is claimed of it. */
struct plan {
    const char *planner; /* "dp-place" */
    int32_t *dev;        /* [node] device, or -1 for a node that is not placed */
    /* [device] devices that share its samples, itself and those that follow it in its class (they
       have no nodes of their own); NULL: one each */
    uint32_t *copies;
    /* [node] the order in which each device runs its nodes, the smallest first; NULL: by number, which is a
       topological order */
    uint32_t *rank;
    /* [node] of an accelerator: the slot of its subgraph, 1, 2, ... in the order in which the device runs them;
       0: of a host; NULL: it has no slots.  Only a latency knows them (subgraphs.h) */
    uint32_t *slot;
    /* how it trains; NULL: it has no stages.  dev[] is then the first device of a node's stage */
    struct stages *stages;
    int32_t
        *stage_of; /* [node] its stage, -1: none; NULL: no two stages share a device, dev[] tells */
    struct claim claim;
    uint64_t states; /* ideals that the planner visited */
};

struct device_load {
    int64_t load; /* ps: what exec_load makes of the rest; gpipe: of both passes */
    /* ps; what parts cost counts as computing.  load is made of these, shared among copies, and of sync */
    int64_t compute, transfer;
    int64_t sync; /* ps: what keeping the weights of the copies equal takes a sample */
    struct {
        int64_t compute, in, out; /* ps */
    } pass[2];                    /* forward, backward; a value moves in the pass of its producer */
    int64_t used, weights;        /* bytes: all that it needs; the weights among them */
    int64_t params;               /* bytes: what copies have to keep equal */
    int64_t live_peak; /* bytes alive at once in the part's own order, weights included */
    uint32_t nodes;
};

struct verdict {
    int64_t value;            /* ps of the objective */
    struct device_load *load; /* [device] */
    uint32_t bottleneck;      /* device */
    bool fits, contiguous, colocated, runnable;
    const char *why_not; /* names the first thing that is violated, or NULL */
    /* what ran, as the execution model has it (struct latency_run), if it ran to its end; NULL: nothing runs */
    const void *run;
    const struct stages
        *stages; /* of training: the plan's, or one for each of its devices; NULL: of none */
};

enum { CHECK_PEAKS = 1, CHECK_MEMORY = 2 };
/* What holds of the plan dev[], copies[] (as of the judge) whatever it is to make small: a verdict without times and
 * value, in which devices that only take turns with another have no figures, and used is all that a device's nodes
 * make.  what: bits CHECK_*: whether live_peak is told, and whether that fits.  Lives in a.  O(nodes + pins + D). */
struct verdict plan_check(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                          unsigned what, struct arena *a);
/* Whether each device has room for what it uses, by v->load[].used: fits and why_not of *v. */
void plan_check_memory(const struct scene *s, struct verdict *v, struct arena *a);
/* Recomputes the time per sample of the plan dev[], copies[] of struct plan (copies NULL: one each): the largest load
 * of a device, gpipe: the largest of the forward pass and that of the backward pass.  Lives in a.
 * O(nodes + pins + D). */
struct verdict judge(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                     struct arena *a);

const char *plan_status_name(enum plan_status s); /* "optimal" */
/* plan_scope_name: one word for the manifest: "all", "contiguous", "layers" or "fused".  plan_scope_word: exact, for
 * the textual IR: also "contiguous-layers" and the like. */
const char *plan_scope_name(enum plan_scope s);
const char *plan_scope_word(enum plan_scope s);
/* For people: " among contiguous plans"; "" for all. */
const char *plan_among(enum plan_scope s);

/* A plan and its stages, as of its verdict. */
struct planned {
    const struct scene *scene;
    const struct plan *plan;
    const struct stages *stages; /* NULL: the plan is not about training */
};
/* [node] the stage of each placed node; -1: it is on a device that is the first one of no stage.  Lives in a, if it is
 * not the plan's own.  O(nodes + stages). */
const int32_t *plan_stage_of(const struct planned *p, struct arena *a);

/* [device] the highest slot of its nodes, 0: it has none.  Lives in a.  O(nodes + D). */
uint32_t *plan_slots(const struct scene *s, const struct plan *p, struct arena *a);

/* Devices of the vertices of `top` as devices of the nodes (-1: not placed), down all levels. */
int32_t *plan_project(const struct wdag *top, const int32_t *vertex_dev, uint32_t nnode,
                      struct arena *a);

#endif
