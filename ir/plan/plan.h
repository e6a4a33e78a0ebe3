/* Plans, their claims and their verdicts.
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

/* A planner's statement about its plan.  Empty: all zero, but bounds -1. */
struct claim {
    uint32_t objective; /* value and bounds are ps of this row of the execution models */
    int64_t value;      /* of the plan */
    /* the value in the planner's own problem, which leaves out the least cost of parts */
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

/* A plan: device and order of each node, and the planner's claim. */
struct plan {
    const char *planner; /* "dp-place" */
    int32_t *dev;        /* [node] device, or -1 for a node that is not placed */
    /* [device] number of devices that share its samples: the device itself and the next ones of its class, which have
     * no nodes of their own; NULL: 1 everywhere */
    uint32_t *copies;
    /* [node] the order in which each device runs its nodes, the smallest first; NULL: by number, which is a
       topological order */
    uint32_t *rank;
    /* [node] of an accelerator: the slot of its subgraph, 1, 2, ... in the order in which the device runs them;
       0: of a host; NULL: it has no slots.  Only a latency knows them (subgraphs.h) */
    uint32_t *slot;
    /* how it trains; NULL: it has no stages.  dev[] is then the first device of a node's stage */
    struct stages *stages;
    /* [node] its stage, -1: none; NULL: no two stages share a device, dev[] tells */
    int32_t *stage_of;
    struct claim claim;
    uint64_t states; /* ideals that the planner visited */
};

struct device_load {
    int64_t load; /* ps: exec_load() of the other times; gpipe: summed over both passes */
    /* ps; what parts cost counts as computing.  load is made of these, shared among copies, and of sync */
    int64_t compute, transfer;
    int64_t sync; /* ps for each sample of keeping the weights of the copies equal */
    struct {
        int64_t compute, in, out; /* ps */
    } pass[2];                    /* forward, backward; a value moves in the pass of its producer */
    int64_t used, weights;        /* bytes that the device needs; bytes of the weights among them */
    int64_t params;               /* bytes that copies of the device must keep equal */
    int64_t live_peak; /* bytes alive at once in the part's own order, weights included */
    uint32_t nodes;
};

struct verdict {
    int64_t value;            /* ps of the objective */
    struct device_load *load; /* [device] */
    uint32_t bottleneck;      /* device */
    bool fits, contiguous, colocated, runnable;
    const char *why_not; /* the first violated rule in words, or NULL */
    /* the run, of the execution model's own type (struct latency_run), if it ended; NULL: the plan is not run */
    const void *run;
    /* the stages of a training plan: the plan's own, or one stage for each device that it uses; NULL: the objective is
     * not training, or the stages were refused (why_not) */
    const struct stages *stages;
};

enum { CHECK_PEAKS = 1, CHECK_MEMORY = 2 };
/* Checks the rules for plans of every objective on dev[], copies[] (as of load_verdict()).  The verdict has no times
 * and no value; devices that only take turns with another device have no figures; `used` is the bytes of all results
 * of a device's nodes.  what: bits CHECK_*: whether to fill in live_peak, and whether memory is checked.  Lives in
 * a.  O(nodes + pins + D). */
struct verdict plan_check(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                          unsigned what, struct arena *a);
/* Whether each device has room for what it uses, by v->load[].used: fits and why_not of *v. */
void plan_check_memory(const struct scene *s, struct verdict *v, struct arena *a);
/* Recomputes the time per sample of the plan dev[], copies[] of struct plan (copies NULL: one each): the largest load
 * of a device, gpipe: the largest of the forward pass and that of the backward pass.  Lives in a.
 * O(nodes + pins + D). */
struct verdict load_verdict(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a);

const char *plan_status_name(enum plan_status s); /* "optimal" */
/* plan_scope_name: one word for the manifest: "all", "contiguous", "layers" or "fused".  plan_scope_word: exact, for
 * the textual IR: also "contiguous-layers" and the like. */
const char *plan_scope_name(enum plan_scope s);
const char *plan_scope_word(enum plan_scope s);
/* For people: " among contiguous plans"; "" for all. */
const char *plan_among(enum plan_scope s);

/* A plan with the stages of its verdict. */
struct staged_plan {
    const struct scene *scene;
    const struct plan *plan;
    const struct stages *stages; /* NULL: the plan is not about training */
};
/* [node] the stage of each placed node; -1: it is on a device that is the first one of no stage.  Lives in a, if it is
 * not the plan's own.  O(nodes + stages). */
const int32_t *plan_stage_of(const struct staged_plan *p, struct arena *a);

/* [device] the highest slot of its nodes, 0: it has none.  Lives in a.  O(nodes + D). */
uint32_t *plan_slots(const struct scene *s, const struct plan *p, struct arena *a);

/* Devices of the vertices of `top` as devices of the nodes (-1: not placed), down all levels. */
int32_t *plan_project(const struct wdag *top, const int32_t *vertex_dev, uint32_t nnode,
                      struct arena *a);

#endif
