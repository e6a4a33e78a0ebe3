/* Whether vertices fit the memory of devices at all, whatever a plan takes. */
#ifndef PCC_PASSES_ANY_SHAPE_FIT_SEARCH_H
#define PCC_PASSES_ANY_SHAPE_FIT_SEARCH_H

#include "passes/problem/device_loads.h"

enum fit { FIT_UNKNOWN, FIT_FOUND, FIT_NONE };

/* Looks for a plan of c, of any shape, that fits; dev[vertex] gets it.  FIT_NONE is a proof that there is none,
 * FIT_UNKNOWN says that the search took more than `work` steps (placings of a vertex), that the clock was out, or
 * that c is too large (device_loads.h).  Times and transfers of c are of no account; problem_forget_times makes it
 * fast. */
enum fit fit_search(const struct problem *c, uint64_t work, struct clock *clock, int32_t *dev,
                    struct arena *scratch);

#endif
