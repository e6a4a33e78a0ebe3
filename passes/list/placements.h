/* List schedulers as functions, for their planners and for the portfolio (passes/portfolio): each makes one or more
 * plans and keeps the best one (list_try in list.h). */
#ifndef PCC_PASSES_LIST_PLACEMENTS_H
#define PCC_PASSES_LIST_PLACEMENTS_H

#include "passes/list/list.h"

/* How estimates treat several transfers at the same time.  NONE: transfers do not disturb each other.  TAKEN: a
 * device's port moves one value at a time.  AUTO: plans are made in both ways. */
enum { PORTS_AUTO, PORTS_NONE, PORTS_TAKEN };
extern const char *const port_names[]; /* "auto", "none", "port", NULL */
/* How often a value that leaves a cluster of nodes counts when an order of nodes is cut into clusters.  TENSOR: once.
 * EDGE: once per reader. */
enum { CUT_TENSOR, CUT_EDGE };

/* Options for making clusters of nodes and placing them. */
struct cluster_choice {
    /* range: the most nodes of a cluster; mem: the most bytes of a cluster, 0: an eighth of the smallest device's
     * memory */
    int64_t range, mem;
    int64_t order;      /* order of the nodes that is cut into clusters: enum fuse_order */
    int64_t cut;        /* one of CUT_* */
    int64_t contention; /* one of PORTS_*: how Adjusting Placement estimates transfers */
};

/* Makes clusters and plans by Order-Place and Adjusting Placement (celeritas_place.c).  planner: name for messages.
 * When the clock is out, each node is a cluster and Adjusting Placement is left out.  Returns 0; or -1 or
 * PASS_INFEASIBLE and reports an error. */
int celeritas_try(struct ctx *x, const char *planner, const struct cluster_choice *o,
                  struct clock *clock, struct list_schedule *best);
/* Makes plans by HEFT (heft_place.c).  ports: PORTS_*.  When the clock is out, placement_fill places the remaining
 * nodes and no second plan is made.  Returns 0; or -1 or PASS_INFEASIBLE and reports an error. */
int heft_try(struct ctx *x, const char *planner, int64_t ports, struct clock *clock,
             struct list_schedule *best);

#endif
