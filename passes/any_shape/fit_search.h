/* Whether vertices fit the memory of devices at all, whatever a plan takes. */
#ifndef PCC_PASSES_ANY_SHAPE_FIT_SEARCH_H
#define PCC_PASSES_ANY_SHAPE_FIT_SEARCH_H

#include "passes/problem/device_loads.h"

enum fit { FIT_UNKNOWN, FIT_FOUND, FIT_NONE };

/* Looks for a plan of c, of any shape, that fits; dev[vertex] gets it.  FIT_NONE is a proof that there is none;
 * FIT_UNKNOWN: the search took more than `work` steps (a step puts a vertex on a device), the time was up, or c is
 * too large (device_loads.h).  Times and transfers do not matter; call problem_forget_times first, to make it fast. */
enum fit fit_search(const struct problem *c, uint64_t work, struct clock *clock, int32_t *dev,
                    struct arena *scratch);

#endif
