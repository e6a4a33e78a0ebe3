/* Makes plans for the makespan of one sample by all methods of pcc, and keeps the best ones. */
#ifndef PCC_PASSES_PORTFOLIO_CANDIDATES_H
#define PCC_PASSES_PORTFOLIO_CANDIDATES_H

#include "passes/portfolio/light.h"

/* Methods that make plans, in the order in which they are shown.  ONE: everything on one device.  CLUSTERS:
 * celeritas-place.  The others: the planner of that name. */
enum candidate_kind {
    CANDIDATE_ONE,
    CANDIDATE_CLUSTERS,
    CANDIDATE_HEFT,
    CANDIDATE_TOPO,
    CANDIDATE_ETF,
    CANDIDATE_SCT,
    CANDIDATE_DP,
    CANDIDATE_GREEDY,
    CANDIDATE_METIS,
    CANDIDATE_SCOTCH,
    CANDIDATES
};

enum { CANDIDATES_KEPT = 3 };

/* The best plan of one kind. */
struct candidate_record {
    uint32_t plans; /* number of plans that were run; 0: the other fields are not set */
    int64_t value;  /* ps: makespan */
    /* bytes that the device with the largest lack of memory lacks; 0: the plan fits */
    int64_t lacks;
};

/* Callers set x, planner, placement, clock and work; the other fields must be zero. */
struct candidates {
    struct ctx *x;
    const char *planner; /* name of the calling planner, for errors */
    /* a placement of the base level; each method empties and fills it */
    struct placement *placement;
    struct clock *clock;
    int64_t work;       /* number of nodes that all further runs of plans may have together */
    struct light light; /* the problem by lasting bytes (light.h); set if has_light */
    bool has_light;     /* true: methods are also tried on `light` */
    bool in_light;      /* true: the present method is tried on `light` */
    struct candidate_record reached[CANDIDATES]; /* [kind] the best plan of the kind so far */
    /* the n best plans, all different, the best first */
    struct list_schedule kept[CANDIDATES_KEPT];
    /* [nalone] plans with everything on one device: one for each class that can run the model */
    struct list_schedule alone[CLUSTER_CLASSES];
    uint32_t nalone;
    uint32_t n; /* number of plans in kept[] */
};

/* Copies a plan to x->use.mem; *to may have arrays there already. */
void candidate_copy(const struct ctx *x, struct list_schedule *to,
                    const struct list_schedule *from);
/* Tries all kinds until work or time is over, but at least one.  Returns 0; or -1 or PASS_INFEASIBLE and reports an
 * error. */
int candidates_make(struct candidates *c);
/* Returns a table as text, in a: the best value of each kind, then the value of `last`, the plan with which
 * improving ended. */
const char *candidates_table(const struct candidates *c, const struct list_schedule *last,
                             struct arena *a);

#endif
