/* The interval partition behind `fuse` (Celeritas, Eq 4-6). */
#ifndef PCC_PASSES_COARSEN_FUSE_H
#define PCC_PASSES_COARSEN_FUSE_H

#include "ir/dag/wdag.h"

/* Orders of the vertices that can be cut: along critical paths, depth first, breadth first. */
enum fuse_order { FUSE_CPD, FUSE_DFS, FUSE_FIFO };
extern const char *const fuse_order_names[]; /* "cpd", ..., NULL */

/* position -> vertex; cls: whose times count for critical paths.  O(E + V log V). */
uint32_t *fuse_order(const struct wdag *g, enum fuse_order order, uint32_t cls, struct arena *a);

/* How the best cuts are found, which changes nothing of them: by trying all beginnings of the last cluster, or with a
 * tree over them.  USUAL: the tree for ranges above 200. */
enum fuse_form { FUSE_USUAL, FUSE_SCAN, FUSE_TREE };

struct fuse_limits {
    uint32_t cls;  /* device class whose transfer costs count */
    int64_t range; /* vertices in a cluster, >= 1 */
    int64_t mem;   /* bytes in a cluster of two or more; 0: no limit */
    bool per_edge; /* a tensor counts once per consumer outside, not once */
    enum fuse_form form;
};

/* Cuts the topological order into clusters so that the transfers between them (*cut, ps) are least;
 * ties go to the shorter last cluster.  group[vertex] becomes its cluster; returns how many there are.
 * O(V * range + pins), with the tree O((V + pins) log range). */
uint32_t fuse_partition(const struct wdag *g, const uint32_t *order,
                        const struct fuse_limits *limits, struct arena *a, uint32_t *group,
                        int64_t *cut);

#endif
