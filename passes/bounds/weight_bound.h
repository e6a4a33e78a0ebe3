/* Lower bounds from weights of vertices such that devices with loads below a threshold cannot hold all of the weight.
 * Texts for users call these weights "points", since weights are initializers of a model there. */
#ifndef PCC_PASSES_BOUNDS_WEIGHT_BOUND_H
#define PCC_PASSES_BOUNDS_WEIGHT_BOUND_H

#include "passes/bounds/reduction.h"

/* Weights of the vertices of r->small such that a device of kind k with a load below `below` holds `most[k]`
 * at most, and all devices together hold less than `total`, the weight of all vertices: so no plan takes
 * less than `below`. */
struct packing {
    int64_t below, total; /* ps: the threshold, 0: no weights were found; sum of all weights */
    int64_t *weight;      /* [vertex of r->small] */
    int64_t most[PROBLEM_KINDS];
    /* [kind] number of partial sets examined to prove `most`; 0: a host, for which no search is needed */
    uint64_t sets[PROBLEM_KINDS];
};

/* Returns weights, in a, for the largest threshold in (lower, r->below] for which weights were found; `below` of the
 * result is 0 if none were found, or if the graph has more than PACKING_VERTICES.  Looks at no more than *work arcs, by
 * which it lowers *work; for a small graph a smaller limit holds. */
struct packing packing_bound(const struct reduction *r, int64_t lower, uint64_t *work,
                             struct clock *clock, struct arena *a);
enum { PACKING_VERTICES = 2000 };

#endif
