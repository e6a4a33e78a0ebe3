/* Finds out whether the vertices of a problem fit the memory of its devices at all. */
#ifndef PCC_PASSES_ANY_SHAPE_FIT_SEARCH_H
#define PCC_PASSES_ANY_SHAPE_FIT_SEARCH_H

#include "passes/problem/device_loads.h"

enum fit {
    FIT_UNKNOWN, /* the search did not come to its end */
    FIT_FOUND,   /* a plan that fits was found */
    FIT_NONE     /* proven: no plan fits */
};

/* Searches for a plan of c, of any shape, that fits the memory; writes it to dev[vertex].  Returns FIT_UNKNOWN if the
 * search took more than `work` steps (a step tries devices for one vertex), the time was up, or c is too large
 * (device_loads.h).  Times and transfers of c do not matter; call problem_forget_times() first, to make the search
 * fast. */
enum fit fit_search(const struct problem *c, uint64_t work, struct clock *clock, int32_t *dev,
                    struct arena *scratch);

#endif
