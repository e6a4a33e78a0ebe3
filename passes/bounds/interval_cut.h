/* Finds, by minimum cuts, what a device of a contiguous plan can hold if it is given which vertices of a path (an
 * interval) it has. */
#ifndef PCC_PASSES_BOUNDS_INTERVAL_CUT_H
#define PCC_PASSES_BOUNDS_INTERVAL_CUT_H

#include "passes/bounds/long_path.h"

/* The interval of the path vertices i + 1 .. j (long_path.h); it is empty if i == j.  A device with this interval holds
 * every vertex of the graph that must lie within it (lo > i and hi <= j), and none that must lie before or behind
 * it. */
struct interval {
    uint32_t i, j;
};

/* Whether a device with a given interval cannot hold a vertex, must hold it, or is free to do so or not. */
enum side { OUTSIDE, INSIDE, EITHER };

enum { LINE_ONE = 1024 }; /* multipliers (line.m) are in units of 1 / LINE_ONE */

/* The result of a cut for an interval.  Let w(S) be the weight of a set S of vertices, and p(S) the cost of the nets
 * that leave S: m / LINE_ONE * w(S) - p(S) <= gain for all sets S that a device with the interval can hold; `weight` is
 * w(S) of a set S for which both sides are equal, but for rounding. */
struct line {
    int32_t m;
    int64_t gain, weight;
};

/* What all cuts of a search have in common: the graph, the path, weights and costs. */
struct interval_cut {
    const struct problem *c;
    const struct long_path *path;
    const int64_t *w;    /* [vertex] weights */
    const int64_t *cost; /* [net] ps */
    /* p(S) counts the cost of each net that leaves S times `scale`, in units of 2^-SCALE_BITS */
    int64_t scale;
    /* [vertex] the side of the vertex (enum side) if the interval alone leaves it EITHER; NULL: EITHER for all of
     * these */
    const uint8_t *forced;
    uint32_t paid;   /* a net that counts as leaving every set; UINT32_MAX: none */
    uint32_t *id;    /* [vertex] scratch: the number of the vertex's node in the network */
    uint64_t *work;  /* arcs that may still be looked at; each cut lowers it */
    struct arena *a; /* holds the network during a cut; released after it */
};

/* Returns on which side vertex v is by the interval d alone, without q->forced. */
static inline enum side interval_side(const struct long_path *p, uint32_t v, struct interval d)
{
    if (p->hi[v] <= d.i || p->lo[v] > d.j)
        return OUTSIDE;
    return p->lo[v] > d.i && p->hi[v] <= d.j ? INSIDE : EITHER;
}

/* Returns the result for the multiplier m and devices with interval d.  If the work runs out, `gain` may be larger than
 * necessary; the inequality (struct line) holds all the same. */
struct line interval_cut(const struct interval_cut *q, struct interval d, int32_t m);

#endif
