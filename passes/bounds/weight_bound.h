/* Lower bounds from weights of vertices such that devices below a threshold cannot hold all of them.  In what pcc
 * prints such weights are "points", since weights are a model's there. */
#ifndef PCC_PASSES_BOUNDS_WEIGHT_BOUND_H
#define PCC_PASSES_BOUNDS_WEIGHT_BOUND_H

#include "passes/bounds/reduction.h"

/* Weights of the vertices of r->small such that a device of kind k with a load below `below` holds `most[k]`
 * at most, and all devices together hold less than `total`, the weight of all vertices: so no plan takes
 * less than `below`. */
struct packing {
    int64_t below, total;
    int64_t *weight; /* [vertex of r->small] */
    int64_t most[PROBLEM_KINDS];
    /* [kind] partial sets that the search for a heavier one looked at; 0: hosts, which need no search */
    uint64_t sets[PROBLEM_KINDS];
};

/* Looks for the largest threshold in (lower, r->below] that such weights refute; below is 0 if there is none,
 * and for graphs of more than PACKING_VERTICES.  Looks at no more than *work arcs (lowered), and fewer for a small
 * graph.  Lives in a. */
struct packing packing_bound(const struct reduction *r, int64_t lower, uint64_t *work,
                             struct clock *clock, struct arena *a);
enum { PACKING_VERTICES = 2000 };

#endif
