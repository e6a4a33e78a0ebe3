/* Divides an order of vertices into intervals, for the pass `fuse` (Celeritas, Eq 4-6). */
#ifndef PCC_PASSES_COARSEN_FUSE_H
#define PCC_PASSES_COARSEN_FUSE_H

#include "ir/dag/wdag.h"

/* Kinds of topological orders to cut: along critical paths, depth first, breadth first. */
enum fuse_order { FUSE_CPD, FUSE_DFS, FUSE_FIFO };
extern const char *const fuse_order_names[]; /* "cpd", ..., NULL */

/* Returns the vertices in the given order, in a: position -> vertex.  cls: the device class for whose times and
 * transfers critical paths are found.  O(E + V log V). */
uint32_t *fuse_order(const struct wdag *g, enum fuse_order order, uint32_t cls, struct arena *a);

/* How the best cuts are found; the result is the same.  SCAN: try all beginnings of the last cluster; TREE: with a tree
 * over the beginnings (cut_tree.h); USUAL: TREE for ranges above 200, else SCAN. */
enum fuse_form { FUSE_USUAL, FUSE_SCAN, FUSE_TREE };

struct fuse_limits {
    uint32_t cls;  /* device class whose transfer costs count */
    int64_t range; /* number of vertices in a cluster at most, >= 1 */
    int64_t mem;   /* bytes at most in a cluster of two vertices or more; 0: no limit */
    /* a tensor that leaves a cluster counts once for each consumer outside, not once in all */
    bool per_edge;
    enum fuse_form form;
};

/* Cuts a topological order into clusters so that the transfers between clusters cost least; of divisions that cost
 * the same the one with the shorter last cluster wins.  Writes the number of each vertex's cluster to group[vertex]
 * and the cost, ps, to *cut; returns the number of clusters.  O(V * range + pins), with the tree O((V + pins) log
 * range). */
uint32_t fuse_partition(const struct wdag *g, const uint32_t *order,
                        const struct fuse_limits *limits, struct arena *a, uint32_t *group,
                        int64_t *cut);

#endif
