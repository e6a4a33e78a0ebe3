/* Finds lower bounds by weights of vertices: the weights are chosen such that devices with loads below a threshold
 * cannot hold all of the weight.  Texts for users call these weights "points", since users know weights as initializers
 * of a model. */
#ifndef PCC_PASSES_BOUNDS_WEIGHT_BOUND_H
#define PCC_PASSES_BOUNDS_WEIGHT_BOUND_H

#include "passes/bounds/reduction.h"

/* Weights of the vertices of a reduction's small->g, such that a device of kind k with a load below `below` holds a
 * weight of most[k] at most, and all devices together hold less than `total`, the weight of all vertices: so no plan
 * takes less than `below`. */
struct packing {
    /* ps: the threshold, or 0 if no weights were found; without a unit: the sum of all weights */
    int64_t below, total;
    int64_t *weight; /* [vertex of small->g] weight of the vertex */
    int64_t most[PROBLEM_KINDS];
    /* [kind] number of partial sets that the search examined to prove most[kind]; 0: hosts, which need no search */
    uint64_t sets[PROBLEM_KINDS];
};

/* Returns weights, in a, for the largest threshold in (lower, r->below] for which weights were found; `below` of the
 * result is 0 if none were found, or if the graph has more than PACKING_VERTICES. Looks at no more than *work arcs,
 * and lowers *work by the number looked at; for a graph of few vertices it looks at fewer: the limit then grows with
 * their number. */
struct packing packing_bound(const struct reduction *r, int64_t lower, uint64_t *work,
                             struct clock *clock, struct arena *a);
enum { PACKING_VERTICES = 2000 };

#endif
