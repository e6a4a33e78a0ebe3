/* Finds a long path of a graph, and where all vertices of the graph are along it. */
#ifndef PCC_PASSES_BOUNDS_LONG_PATH_H
#define PCC_PASSES_BOUNDS_LONG_PATH_H

#include "passes/problem/problem.h"

/* Vertices of a path, numbered 1 .. len: all of the path, or some at equal distances.  Each ideal holds the first k of
 * them for some k; then it also holds every vertex of the graph with hi <= k, and none with lo > k. */
struct long_path {
    uint32_t len;
    uint32_t *vertex; /* [1 .. len] */
    /* [vertex v of the graph] number of the last path vertex that is v or leads to v; 0: none */
    uint32_t *lo;
    /* [v] number of the first path vertex that is v or that v leads to; len + 1: none */
    uint32_t *hi;
};

/* Returns about `most` vertices, at equal distances, of a longest path by the weights of potential 0; all vertices of a
 * shorter path.  If seed is not 0, each weight is first multiplied by a random factor of 1 to 3.  Lives in a.
 * O(V + E). */
struct long_path long_path_of(const struct problem *c, uint64_t seed, uint32_t most,
                              struct arena *a);

#endif
