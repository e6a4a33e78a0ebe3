/* A tree over positions of an order, by which fuse (fuse.h) finds quickly where a cluster had best begin. */
#ifndef PCC_PASSES_COARSEN_CUT_TREE_H
#define PCC_PASSES_COARSEN_CUT_TREE_H

#include "ir/base/arena.h"

#include <stdint.h>

/* A stretch of positions y.  base of y: cost of a division whose last cluster begins at y, if that cluster saved
 * nothing; saving of y: what a last cluster saves if it begins at y or before y. */
struct stretch {
    int64_t sum; /* sum of the savings of all positions */
    /* minimum over the positions y of the stretch: base of y less the savings of the stretch's positions from y on */
    int64_t least;
    uint32_t from; /* the last position y with that minimum */
};

struct cut_tree {
    /* a binary tree: at[1] covers all positions; at[i] covers the positions of at[2 * i] and of at[2 * i + 1];
     * at[width + y] covers y alone */
    struct stretch *at;
    uint32_t width; /* number of positions, a power of two */
};

/* Returns a tree for n positions, all of them empty, in a.  O(n). */
struct cut_tree cut_tree_new(uint32_t n, struct arena *a);
/* Sets base and saving of position y.  |base|, and the sum of all savings, must be at most 2^60.  first: no later
 * call of cut_tree_set() or cut_tree_best() asks for a position before it.  O(log (positions from first to y)). */
void cut_tree_set(struct cut_tree *t, uint32_t first, uint32_t y, int64_t base, int64_t saves);
/* Returns the stretch first .. last; `last` must be the last position that has been set.  Its `from` is where a cluster
 * up to `last` had best begin.  O(log (last - first)). */
struct stretch cut_tree_best(const struct cut_tree *t, uint32_t first, uint32_t last);

#endif
