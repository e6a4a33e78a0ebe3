/* What one device can hold: the heaviest set of vertices, by given weights, whose load is within a limit. */
#ifndef PCC_PASSES_BOUNDS_DEVICE_KNAPSACK_H
#define PCC_PASSES_BOUNDS_DEVICE_KNAPSACK_H

#include "passes/bounds/reduction.h"

enum { KNAPSACK_BITS = 36 }; /* weights add up to 2^KNAPSACK_BITS at most */

/* The state of searches for a heavy set of vertices on one device.  Times and transfers are counted in units, to which
 * they are rounded down: all of them together are about 2^KNAPSACK_BITS units. */
struct device_knapsack {
    const struct problem *c; /* the reduced problem */
    uint32_t k;              /* the kind of the device */
    const int64_t *weight;   /* [vertex] >= 0; owned by the caller */
    uint64_t *work;          /* arcs that may still be looked at */
    int64_t *time;           /* [vertex] units */
    /* net[]: the nnet nets that cost something, by their numbers in the graph */
    uint32_t nnet, *net;
    int64_t *cost;     /* [index in `net`] units */
    int64_t all;       /* ps: sum of all times and transfers */
    uint32_t down, up; /* units are ps >> down << up */
    int64_t limit;     /* units: the largest load allowed */
    struct flow f;
    uint8_t *fix; /* [vertex] whether a set may (FREE), must (IN) or must not (OUT) hold it */
    /* results of the last cut */
    uint8_t *set;      /* [vertex] 1: in the set of the cut */
    int64_t sum, load; /* weight and load (units) of that set */
    int64_t value; /* 2^MU_BITS times an upper bound on the weight of the sets that `fix` allows */
    /* [vertex] for the present `fix`: the last set found with a load above the limit, and the last one within the
     * limit */
    uint8_t *over, *within;
    bool has_over, has_within; /* whether `over` and `within` hold a set */
    /* the branch of the search: path[] has the vertices fixed so far, in that order; with each, the multiplier to
     * begin with */
    uint32_t *path, npath;
    int64_t *start;
    /* results of the last search */
    uint64_t sets; /* number of partial sets looked at */
    uint8_t *best; /* [vertex] 1: in the heaviest set within the limit that was found */
    int64_t best_sum, best_load; /* weight and load (units) of `best`; -1: no set was found */
};

/* Returns a knapsack for kind k of the reduction r, in a; the kind must pay for transfers.  The weights may change
 * between searches.  Each search lowers *work by the arcs that it looks at.  O(V + pins). */
struct device_knapsack *device_knapsack_new(const struct reduction *r, uint32_t k,
                                            const int64_t *weight, uint64_t *work, struct arena *a);

enum device_knapsack_answer {
    KNAPSACK_NONE,   /* no set answers the question */
    KNAPSACK_FOUND,  /* h->best is such a set, but for the rounding of its load to units */
    KNAPSACK_TIRED,  /* stopped after `sets` partial sets, undecided */
    KNAPSACK_UNKNOWN /* stopped since the work or the time ran out, undecided */
};
/* Searches for a set with a weight above `target` and a load of at most `most` ps.  Looks at no more than `sets`
 * partial sets, with some minimum cuts for each. */
enum device_knapsack_answer device_knapsack_search(struct device_knapsack *h, int64_t most,
                                                   int64_t target, uint64_t sets,
                                                   struct clock *clock);

/* Returns an upper bound, by a few minimum cuts, on the weight of every set with a load of at most `most` ps; INT64_MAX
 * if the work ran out before the first cut. */
int64_t device_knapsack_most(struct device_knapsack *h, int64_t most);

#endif
