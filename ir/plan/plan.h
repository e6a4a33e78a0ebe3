/* Plans, their claims and their verdicts.
 *
 * A plan has the device of each placed node, and the claim of its planner about the plan's quality.  The judge
 * recomputes every figure from the module itself (not from a weighted graph), whichever planner made the plan. */
#ifndef PCC_IR_PLAN_PLAN_H
#define PCC_IR_PLAN_PLAN_H

#include "ir/dag/scene.h"
#include "ir/dag/wdag.h"
#include "ir/plan/schedule.h"
#include "ir/plan/stages.h"

/* What a planner has shown about its plan.  OPTIMAL: its value equals the bound.  FEASIBLE: it has a bound below its
 * value.  HEURISTIC: no bound is shown.  OVER_MEMORY: some device needs more memory than it has, and the user allowed
 * that.  NONE: nothing.  INFEASIBLE: only files may have this word, no planner claims it. */
enum plan_status {
    PLAN_NONE,
    PLAN_OPTIMAL,
    PLAN_FEASIBLE,
    PLAN_HEURISTIC,
    PLAN_OVER_MEMORY,
    PLAN_INFEASIBLE
};

/* The set of plans that a claim compares its plan with.  CONTIGUOUS: plans whose devices, in some
 * order, take the differences of a chain of ideals (sets of nodes that hold all predecessors of
 * their members); in a training graph, of ideals of the forward pass, and the backward pass goes
 * through the devices in reverse; if devices form groups, the groups also take the differences of a
 * chain.  LAYERS: plans that keep the node groups of the pass `contract` together.  FUSED: plans of
 * a fused graph. */
enum plan_scope {
    SCOPE_ALL,
    SCOPE_CONTIGUOUS,
    SCOPE_LAYERS,
    SCOPE_CONTIGUOUS_LAYERS,
    SCOPE_FUSED,
    SCOPE_CONTIGUOUS_FUSED,
    SCOPES
};

/* A planner's statement about its plan.  An empty claim is all zero, except that the bounds are -1. */
struct claim {
    uint32_t objective; /* row of exec_model.kinds: the objective of value and bounds */
    int64_t value;      /* ps: value of the plan */
    /* ps: the value less the cost of parts (exec_model.part_cost) that even the plan with the fewest parts pays */
    int64_t value_less_parts;
    enum plan_scope scope; /* the set of plans that bound and status are about */
    int64_t bound;         /* ps: no plan in scope has a smaller value; -1: no bound is known */
    int64_t bound_all; /* ps, <= bound: no plan at all has a smaller value; -1: no bound is known */
    enum plan_status status;
    const char *argument; /* the reason for the status: "all 1428 ideals searched" */
    /* why the bound holds: lines that end in a newline, with the numbers needed to check the bound; NULL: no proof to
     * show */
    const char *proof;
    /* lines for the user about other plans that would save time or memory, with their values; NULL: none */
    const char *offer;
};

/* Limits of the slots (plan.slot) in plan files. */
enum {
    SLOTS_MOST = 65536, /* highest slot of an accelerator */
    /* a file may list at most this many slots more than the model has nodes, that is, more than slots with nodes */
    SLOTS_EMPTY = 1 << 20
};

/* A plan: device and order of each node, and the planner's claim. */
struct plan {
    const char *planner; /* name of the pass that made the plan: "dp-place" */
    int32_t *dev;        /* [node] device; -1: the node is not placed */
    /* [device] number of devices that take samples in turn with the same nodes: the device itself and the next devices
     * of its class, which have no nodes in dev[]; 0 counts as 1; NULL: 1 for each device */
    uint32_t *copies;
    /* [node] each device runs its nodes in ascending order of rank; NULL: in the order of the nodes' numbers, which is
     * topological */
    uint32_t *rank;
    /* [node] on an accelerator: slot of its subgraph (subgraphs.h), 1, 2, ...: the device runs its subgraphs in this
     * order; on a host: 0.  NULL: the plan has no slots.  Used by the objective latency only */
    uint32_t *slot;
    /* the stages of a training plan; dev[] is then the first device of a node's stage; NULL: the plan has no stages */
    struct stages *stages;
    /* [node] stage of the node, -1: none; NULL: no two stages share a device, so that the stage follows from dev[] */
    int32_t *stage_of;
    struct claim claim;
    uint64_t states; /* number of ideals that the planner visited */
};

/* The judge's figures of one device. */
struct device_load {
    /* ps for each sample: compute and transfer together (exec_load()), divided among copies, with sync added
     * (exec_shared_load()); with GPipe the sum of the loads of both passes */
    int64_t load;
    int64_t compute, transfer; /* ps for one sample; compute includes the cost of parts */
    int64_t sync; /* ps for each sample: exchange that keeps the weights of the copies equal */
    struct {
        int64_t compute, in, out; /* ps; in, out: transfers to and from the device */
    } pass[2]; /* 0: forward pass, 1: backward; a value moves in the pass of its producer */
    /* used: bytes of memory that the device needs; weights: the share of these bytes that is weights */
    int64_t used, weights;
    /* Bytes; set where `used` is the peak of a schedule (else sum is 0).  sum: weights and all tensors that its nodes
     * make, as if none were freed; lasting: weights and state that stay on the device; one_sample: the most that one
     * of its parts reads and has at one time for one sample */
    int64_t sum, lasting, one_sample;
    int64_t params; /* bytes that copies of the device must keep equal */
    /* the most bytes alive at one time as the device runs its nodes in order; includes weights */
    int64_t live_peak;
    uint32_t nodes; /* number of placed nodes */
};

/* The judge's findings on a plan. */
struct verdict {
    int64_t value;            /* ps: value of the plan for the scene's objective */
    struct device_load *load; /* [device] the device's figures */
    uint32_t bottleneck;      /* device with the largest load */
    bool fits;                /* no device needs more memory than it has */
    /* [class] bytes that the devices of a host class, which share one memory, need together; NULL: each device has a
     * memory of its own */
    int64_t *hosts;
    bool contiguous;     /* the devices can stand in a row that samples pass once (check.c) */
    bool colocated;      /* nodes that must share a device do */
    bool runnable;       /* each placed node is on a device that can run it, and all copies exist */
    const char *why_not; /* the first violated rule in words; NULL: none is violated */
    /* the finished run, in the execution model's own type (such as struct latency_run); NULL: the plan was not run, or
     * its run did not end */
    const void *run;
    /* the stages of a training plan: the plan's own, or one stage for each device that it uses; NULL: the objective is
     * not training, or the stages were refused (why_not) */
    const struct stages *stages;
};

/* Bits of plan_check()'s argument `what`: what plan_check() does beside checking the rules. */
enum {
    CHECK_PEAKS = 1, /* fills in load[].live_peak */
    CHECK_MEMORY = 2 /* checks that devices have enough memory */
};
/* Checks the rules that hold for every objective.  dev, copies: as in struct plan.  what: bits CHECK_PEAKS and
 * CHECK_MEMORY, or 0.  The verdict has no times and no value; load[].used is the bytes of all results of a device's
 * nodes and of its weights; a device that holds only a copy has no figures.  Lives in a.  O(nodes + pins + D). */
struct verdict plan_check(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                          unsigned what, struct arena *a);
/* Compares v->load[].used with the memory of each device.  Sets v->fits, and v->why_not if that is the first violated
 * rule. */
void plan_check_memory(const struct scene *s, struct verdict *v, struct arena *a);
/* Checks a plan and computes its time per sample: the largest load of a device; with GPipe the largest load of the
 * forward pass plus the largest load of the backward pass.  dev, copies: as in struct plan.  Lives in a.
 * O(nodes + pins + D). */
struct verdict load_verdict(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a);

/* Returns the word of a status in files: "optimal". */
const char *plan_status_name(enum plan_status s);
/* Returns the word for a scope in plan JSON and the textual IR: "all", "contiguous", "contiguous-layers". */
const char *plan_scope_name(enum plan_scope s);
/* Returns words that messages put behind "optimal": " among contiguous plans"; "" for SCOPE_ALL. */
const char *plan_among(enum plan_scope s);

/* A plan with the stages of its verdict. */
struct staged_plan {
    const struct scene *scene;
    const struct plan *plan;
    const struct stages *stages; /* NULL: the plan is not about training */
};
/* Returns an array: [node] the node's stage; -1: the node is not placed, or its device is not the first device of a
 * stage.  The array is the plan's own stage_of, or lives in a.  p->stages must be set.  O(nodes + stages). */
const int32_t *plan_stage_of(const struct staged_plan *p, struct arena *a);

/* Returns an array, in a: [device] the highest slot of its nodes; 0: none has a slot.  O(nodes + D). */
uint32_t *plan_slots(const struct scene *s, const struct plan *p, struct arena *a);

/* Turns devices of vertices into devices of nodes.  vertex_dev: [vertex of the level `top`] device.  Returns an array,
 * in a: [node] device; -1: the node is not placed.  O(vertices of all levels below + nodes). */
int32_t *plan_project(const struct wdag *top, const int32_t *vertex_dev, uint32_t nnode,
                      struct arena *a);

#endif
