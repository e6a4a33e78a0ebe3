/* Finds, by minimum cuts, what a device of a contiguous plan can hold that has a given interval of a path. */
#ifndef PCC_PASSES_BOUNDS_INTERVAL_CUT_H
#define PCC_PASSES_BOUNDS_INTERVAL_CUT_H

#include "passes/bounds/long_path.h"

/* The path vertices i + 1 .. j (long_path.h); none if i == j.  A device with this interval holds every vertex of the
 * graph that must lie within it (lo > i and hi <= j), and none that must lie before or behind it. */
struct interval {
    uint32_t i, j;
};

/* Whether a device with an interval cannot hold a vertex, must hold it, or may do either. */
enum side { OUTSIDE, INSIDE, EITHER };

enum { LINE_ONE = 1024 }; /* multipliers m are in units of 1 / LINE_ONE */

/* The result of a cut for an interval: m / LINE_ONE * w(S) - p(S) <= gain for all sets S that a device with the
 * interval can hold; `weight` is w(S) of a set S for which both sides are equal. */
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
    int64_t scale; /* p(S) counts the cost of each net that leaves S times this, in 2^-SCALE_BITS */
    /* [vertex] OUTSIDE or INSIDE: so is the vertex where the interval alone leaves it EITHER; NULL: all are EITHER */
    const uint8_t *forced;
    uint32_t paid;   /* a net that counts as leaving every set; UINT32_MAX: none */
    uint32_t *id;    /* [vertex] scratch: the vertex's node in the network */
    uint64_t *work;  /* arcs that may still be looked at; each cut lowers it */
    struct arena *a; /* holds the network during a cut; released after it */
};

/* Returns what the interval d alone says of vertex v. */
static inline enum side interval_side(const struct long_path *p, uint32_t v, struct interval d)
{
    if (p->hi[v] <= d.i || p->lo[v] > d.j)
        return OUTSIDE;
    return p->lo[v] > d.i && p->hi[v] <= d.j ? INSIDE : EITHER;
}

/* Returns the line of multiplier m for devices with interval d.  If the work runs out, `gain` may be larger than
 * necessary; the line's inequality holds all the same. */
struct line interval_cut(const struct interval_cut *q, struct interval d, int32_t m);

#endif
