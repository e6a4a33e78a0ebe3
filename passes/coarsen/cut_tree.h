/* The best place to begin the last cluster, among many (fuse.h): a tree over positions. */
#ifndef PCC_PASSES_COARSEN_CUT_TREE_H
#define PCC_PASSES_COARSEN_CUT_TREE_H

#include "ir/base/arena.h"

#include <stdint.h>

/* A stretch of positions. */
struct stretch {
    int64_t sum; /* sum of the savings of the positions */
    int64_t
        /* minimum over the positions y: base(y) less the savings of y and of all later positions of the stretch */
        least;
    uint32_t from; /* the last position y with that minimum */
};

struct cut_tree {
    struct stretch *
        at; /* at[1] is all; at[i] has the halves at[2i] and at[2i + 1]; then positions by number */
    uint32_t width; /* positions, a power of two */
};

/* No position is there yet.  Lives in a.  O(n). */
struct cut_tree cut_tree_new(uint32_t n, struct arena *a);
/* Position y has this base and saves so much; |base|, and what all save together, at most 2^60.  first: as in
 * cut_tree_best; no later call may have a smaller one.  O(log (positions from first to y)). */
void cut_tree_set(struct cut_tree *t, uint32_t first, uint32_t y, int64_t base, int64_t saves);
/* The least base(y) less what y .. last save, over y in [first, last], last being the last position that is there.
 * O(log (last - first)). */
struct stretch cut_tree_best(const struct cut_tree *t, uint32_t first, uint32_t last);

#endif
