/* Finds a longest path of a graph, and tells for each vertex of the graph between which path vertices it lies. */
#ifndef PCC_PASSES_BOUNDS_LONG_PATH_H
#define PCC_PASSES_BOUNDS_LONG_PATH_H

#include "passes/problem/problem.h"

/* Vertices of a path, numbered 1 .. len: all vertices of the path, or some at equal distances.  An ideal (problem.h)
 * holds the first k path vertices for some k; then it also holds every vertex of the graph with hi <= k, and no vertex
 * with lo > k. */
struct long_path {
    uint32_t len;
    uint32_t *vertex; /* [number in the path, 1 .. len] vertex of the graph */
    /* [vertex v of the graph] number of the last path vertex that is v or leads to v; 0: none */
    uint32_t *lo;
    /* [vertex v of the graph] number of the first path vertex that is v or that v leads to; len + 1: none */
    uint32_t *hi;
};

/* Returns about `most` vertices, at equal distances, of a path with the largest sum of weights (of potential 0); all
 * vertices if the path has fewer.  If seed is not 0, each weight is first multiplied by a random factor of 1 to 3, so
 * that other seeds give other paths.  Lives in a.  O(V + E). */
struct long_path long_path_of(const struct problem *c, uint64_t seed, uint32_t most,
                              struct arena *a);

#endif
