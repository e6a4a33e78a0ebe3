/* Placements that planners and the portfolio try: each makes plans and keeps the best (list_try). */
#ifndef PCC_PASSES_LIST_PLACEMENTS_H
#define PCC_PASSES_LIST_PLACEMENTS_H

#include "passes/list/list.h"

enum { PORTS_AUTO, PORTS_NONE, PORTS_TAKEN };
extern const char *const port_names[]; /* "auto", "none", "port", NULL */
enum { CUT_TENSOR, CUT_EDGE };

/* How clusters are made, and which transfers adjusting reckons with. */
struct cluster_choice {
    int64_t range, mem; /* nodes, bytes; mem 0: an eighth of the smallest device */
    int64_t order;      /* enum fuse_order */
    int64_t cut, contention;
};

/* Order-Place and Adjusting Placement of clusters (celeritas_place.c).  When the clock is out, nodes are not fused any
 * more and nothing is adjusted.  0, -1, or PASS_INFEASIBLE and an error. */
int celeritas_try(struct ctx *x, const char *planner, const struct cluster_choice *how,
                  struct clock *clock, struct list_schedule *best);
/* HEFT, with free transfers and with ports (heft_place.c).  When the clock is out, the rest of the nodes go by
 * placement_fill, and no second plan is tried.  0 or PASS_INFEASIBLE and an error. */
int heft_try(struct ctx *x, const char *planner, int64_t ports, struct clock *clock,
             struct list_schedule *best);

#endif
