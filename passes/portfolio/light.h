/* Planning by what lasts on devices: for plans that are to fit while they run, not by the sum of all bytes. */
#ifndef PCC_PASSES_PORTFOLIO_LIGHT_H
#define PCC_PASSES_PORTFOLIO_LIGHT_H

#include "passes/list/list.h"

/* Levels whose vertices take no bytes beside the shared ones, and devices with less memory. */
struct light {
    struct ctx x;
    struct cluster cluster;
    struct placement placement;
};

/* Devices keep `running` bytes, at most half of what they have, for what comes and goes.  0, or PASS_INFEASIBLE and an
 * error.  Lives in a.  O(V + E). */
int light_make(struct light *l, const struct ctx *x, const char *planner, int64_t running,
               struct arena *a);

#endif
