/* Finds what one device can hold: the heaviest set of vertices, by given weights, whose load (times and transfers) is
 * within a limit. */
#ifndef PCC_PASSES_BOUNDS_DEVICE_KNAPSACK_H
#define PCC_PASSES_BOUNDS_DEVICE_KNAPSACK_H

#include "passes/bounds/reduction.h"

enum { KNAPSACK_BITS = 36 }; /* all weights together are 2^KNAPSACK_BITS at most */

/* The state of searches for a heavy set of vertices on one device.  Times and transfers are counted in units, to which
 * they are rounded down: all of them together are about 2^KNAPSACK_BITS units. */
struct device_knapsack {
    const struct problem *c; /* the reduced problem */
    uint32_t k;              /* the kind of the device */
    const int64_t *weight;   /* [vertex] >= 0; owned by the caller */
    uint64_t *work;          /* arcs that may still be looked at */
    int64_t *time;           /* [vertex of c->g] time on a device of kind k, in units */
    /* net[0 .. nnet - 1]: the numbers, in c->g, of the nets that cost something */
    uint32_t nnet, *net;
    int64_t *cost;     /* [index in `net`] what the net costs a device that it leaves, in units */
    int64_t all;       /* ps: sum of all times and transfers */
    uint32_t down, up; /* a time in units is (ps >> down) << up */
    int64_t limit;     /* units: the largest load allowed */
    struct flow f;
    /* [vertex] whether a set may (FREE), must (IN) or must not (OUT) hold the vertex */
    uint8_t *fix;
    /* results of the last cut */
    uint8_t *set;      /* [vertex] 1: it is on the source's side of the cut */
    int64_t sum, load; /* weight and load (in units) of the set */
    /* 2^MU_BITS times an upper bound on the weight of all sets that `fix` allows and whose loads are within the
     * limit */
    int64_t value;
    /* [vertex] for the present `fix`: the last set found with a load above the limit, and the last one within the
     * limit */
    uint8_t *over, *within;
    bool has_over, has_within; /* whether `over` and `within` hold a set */
    /* the branch of the search: path[] has the vertices fixed so far, in the order in which they were fixed; start[i]:
     * the multiplier with which the search goes on when path[i] is forbidden */
    uint32_t *path, npath;
    int64_t *start;
    /* results of the last search */
    uint64_t sets; /* number of partial sets (choices of `fix`) looked at */
    uint8_t *best; /* [vertex] 1: in the heaviest set within the limit that was found */
    int64_t best_sum, best_load; /* weight and load (in units) of `best`; -1: no set was found */
};

/* Returns the state of searches, in a, for devices of kind k in the smaller graph of r; the kind must pay for
 * transfers.  The caller may change weight[] between searches.  Each search lowers *work by the arcs that it looks at.
 * O(V + pins). */
struct device_knapsack *device_knapsack_new(const struct reduction *r, uint32_t k,
                                            const int64_t *weight, uint64_t *work, struct arena *a);

enum device_knapsack_answer {
    KNAPSACK_NONE, /* no set answers the question */
    /* h->best is such a set; as times are rounded to units, its load may be a little above the limit */
    KNAPSACK_FOUND,
    KNAPSACK_TIRED,  /* undecided: stopped after `sets` partial sets */
    KNAPSACK_UNKNOWN /* undecided: stopped since the work or the time ran out */
};
/* Searches for a set with a weight above `target` and a load of at most `most` ps; h->best and h->sets tell what the
 * search has found and done.  Looks at no more than `sets` partial sets, with some minimum cuts for each. */
enum device_knapsack_answer device_knapsack_search(struct device_knapsack *h, int64_t most,
                                                   int64_t target, uint64_t sets,
                                                   struct clock *clock);

/* Returns an upper bound, by a few minimum cuts, on the weight of every set with a load of at most `most` ps; INT64_MAX
 * if the work ran out before the first cut. */
int64_t device_knapsack_most(struct device_knapsack *h, int64_t most);

#endif
