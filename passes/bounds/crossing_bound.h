/* Lower bounds for contiguous plans from minimum cuts: what must cross the end of some device. */
#ifndef PCC_PASSES_BOUNDS_CROSSING_BOUND_H
#define PCC_PASSES_BOUNDS_CROSSING_BOUND_H

#include "passes/problem/problem.h"

/* The bound by what must cross the end of a device; it may be below c->lower.  Tries vertices along a longest path;
 * looks at no more than `work` arcs. */
struct bound cut_bound(const struct problem *c, uint64_t work, struct clock *clock,
                       struct arena *scratch);

/* For vertex v with the multiplier m / CUT_UNIT, by its descendants or (up) its ancestors: cut_flow gives the
 * minimum cut, ps, which is what must cross or weigh beside the total; cut_bound_at the bound that follows from it,
 * ps. */
int64_t cut_flow(const struct problem *c, uint32_t v, bool up, uint32_t m, uint64_t *work,
                 struct arena *scratch);
enum { CUT_UNIT = 64, CUT_MOST = 128 };
int64_t cut_bound_at(const struct problem *c, uint32_t v, bool up, uint32_t m, uint64_t *work,
                     struct arena *scratch);

#endif
