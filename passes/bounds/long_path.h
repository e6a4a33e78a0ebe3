/* Long paths of a graph, and where its vertices are along them. */
#ifndef PCC_PASSES_BOUNDS_LONG_PATH_H
#define PCC_PASSES_BOUNDS_LONG_PATH_H

#include "passes/problem/problem.h"

/* A path, of whose vertices those numbered 1 .. len are used (all, or some evenly chosen).  An ideal holds the first
 * k of them for some k: then it holds every vertex with hi <= k and none with lo > k. */
struct long_path {
    uint32_t len;
    uint32_t *vertex; /* [1 .. len] */
    /* [vertex of the graph] the last path vertex that is v or leads to v; 0: none */
    uint32_t *lo;
    uint32_t *hi; /* the first path vertex that is v or that v leads to; len + 1: none */
};

/* A longest path by weights of potential 0, which get random factors of 1 to 3 if seed is not 0; at most about
 * `most` of its vertices, evenly chosen.  Lives in a.  O(V + E). */
struct long_path long_path_of(const struct problem *c, uint64_t seed, uint32_t most,
                              struct arena *a);

#endif
