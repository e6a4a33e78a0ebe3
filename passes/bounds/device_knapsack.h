/* What one device can hold: the heaviest set of vertices, by given weights, whose load is within a limit. */
#ifndef PCC_PASSES_BOUNDS_DEVICE_KNAPSACK_H
#define PCC_PASSES_BOUNDS_DEVICE_KNAPSACK_H

#include "passes/bounds/reduction.h"

enum { KNAPSACK_BITS = 36 }; /* weights add up to 2^KNAPSACK_BITS at most */

struct device_knapsack {
    const struct problem *c;
    uint32_t k;            /* the kind of the device */
    const int64_t *weight; /* [vertex], >= 0 */
    uint64_t *work;
    /* times and transfers, rounded down to units such that all of them together are about 2^KNAPSACK_BITS */
    int64_t *time, *cost; /* [vertex], [net in `net`] */
    uint32_t nnet, *net;
    int64_t all;       /* times and transfers, ps */
    uint32_t down, up; /* shifts from ps to units */
    int64_t limit;
    struct flow f;
    uint8_t *fix; /* [vertex] */
    /* of the last cut: */
    uint8_t *set;      /* [vertex] 1: in the set of the last cut */
    int64_t sum, load; /* the set's weight, its load (units) */
    int64_t value;
    /* [vertex] sets of the last cuts whose loads were above and within the limit */
    uint8_t *over, *within;
    bool has_over, has_within;
    /* vertices branched on, from the root of the search down, and the multiplier that each began with */
    uint32_t *path, npath;
    int64_t *start;
    /* of the last search: */
    uint64_t sets;               /* partial sets looked at */
    uint8_t *best;               /* [vertex] the heaviest set within the limit that was met */
    int64_t best_sum, best_load; /* weight and load (units) of `best`; -1: no set was found */
};

/* For kind k of the reduction r, one that pays for transfers, and weights that may change between searches.
 * Lives in a; counts arcs it looks at off *work.  O(V + pins). */
struct device_knapsack *device_knapsack_new(const struct reduction *r, uint32_t k,
                                            const int64_t *weight, uint64_t *work, struct arena *a);

enum device_knapsack_answer {
    KNAPSACK_NONE,   /* no set reaches the target */
    KNAPSACK_FOUND,  /* h->best is one, or nearly: units are rounded */
    KNAPSACK_TIRED,  /* more partial sets than allowed */
    KNAPSACK_UNKNOWN /* work has run out, or the time */
};
/* Is there a set of weight above `target`, with a load of at most `most` ps?  Looks at so many partial sets,
 * minimum cuts for each. */
enum device_knapsack_answer device_knapsack_search(struct device_knapsack *h, int64_t most,
                                                   int64_t target, uint64_t sets,
                                                   struct clock *clock);

/* An upper bound on the weight of every set with a load of at most `most` ps, by a few cuts; INT64_MAX: nothing is
 * known. */
int64_t device_knapsack_most(struct device_knapsack *h, int64_t most);

#endif
