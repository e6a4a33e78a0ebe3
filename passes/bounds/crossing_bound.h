/* Finds lower bounds for contiguous plans: a minimum cut tells how much must be sent from one device and all devices
 * before it to later devices. */
#ifndef PCC_PASSES_BOUNDS_CROSSING_BOUND_H
#define PCC_PASSES_BOUNDS_CROSSING_BOUND_H

#include "passes/problem/problem.h"

/* Returns the best bound, in ps, that cut_bound_at() gives for vertices along a longest path; the bound may be below
 * c->lower.  Looks at no more than `work` arcs.  Temporary data is in scratch. */
struct bound cut_bound(const struct problem *c, uint64_t work, struct clock *clock,
                       struct arena *scratch);

/* The multipliers m of the next two functions are in units of 1 / CUT_UNIT, and at most CUT_MOST. */
enum { CUT_UNIT = 64, CUT_MOST = 128 };
/* Returns a minimum cut, ps: the least, over all ideals I with vertex v, of the cost of the nets that cross I plus m /
 * CUT_UNIT of the weight of v's descendants in I (head of crossing_bound.c).  up: the same for the graph with all edges
 * reversed, where v's ancestors take the place of its descendants.  Lowers *work by the arcs looked at; if *work runs
 * out, the result may be less than the minimum, but the bound from it holds.  Temporary data is in scratch. */
int64_t cut_flow(const struct problem *c, uint32_t v, bool up, uint32_t m, uint64_t *work,
                 struct arena *scratch);
/* Returns a lower bound, in ps, on the value of contiguous plans: (W + F) / (D + m / CUT_UNIT), rounded up; 0 if D is
 * 0.  F is the result of cut_flow() for the same parameters; W the weight of the whole graph in potential 0
 * (problem.h); D the number of devices, each multiplied by the scale of its kind in potential 0, and m by the largest
 * of these scales. */
int64_t cut_bound_at(const struct problem *c, uint32_t v, bool up, uint32_t m, uint64_t *work,
                     struct arena *scratch);

#endif
