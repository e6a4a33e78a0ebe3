/* A changed problem for planners that add up all bytes of a device: only lasting bytes (weights) count, and devices
 * have less memory. */
#ifndef PCC_PASSES_PORTFOLIO_LIGHT_H
#define PCC_PASSES_PORTFOLIO_LIGHT_H

#include "passes/list/list.h"

/* The changed problem. */
struct light {
    struct ctx x;           /* its levels have vertices of 0 bytes; shared items keep their bytes */
    struct cluster cluster; /* the cluster of the x above: devices have less memory */
    struct placement placement; /* placement of the base level of the x above */
};

/* Makes *l from x.  running: bytes by which the memory of each device is reduced, but at most by half, for values that
 * come and go during the step.  Returns 0; or PASS_INFEASIBLE and reports an error.  Lives in a.  O(V + E). */
int light_make(struct light *l, const struct ctx *x, const char *planner, int64_t running,
               struct arena *a);

#endif
