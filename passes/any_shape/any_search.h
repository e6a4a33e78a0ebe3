/* Plans of any shape: first plans, annealing and bounds in turn. */
#ifndef PCC_PASSES_ANY_SHAPE_ANY_SEARCH_H
#define PCC_PASSES_ANY_SHAPE_ANY_SEARCH_H

#include "passes/any_shape/anneal_rounds.h"
#include "passes/bounds/claim.h"
#include "passes/contiguous/placing.h"

/* A search under way.  Lives in the scratch arena of x. */
struct any_search {
    struct ctx *x;
    struct placing *p;
    struct problem *any; /* the problem: the level of plans of any shape */
    int64_t start;       /* what parts cost at least, which no value here counts (claim.h) */
    /* for it, its value with what else its parts cost; LOAD_INF: none is known */
    struct problem_plan best;
    struct bound bound; /* no plan of it takes less */
    /* a plan that takes more is of no use, ps; LOAD_INF: every better one is */
    int64_t need;
    uint64_t moves;      /* of annealing, so far */
    uint64_t spent;      /* work of bounds, so far */
    int64_t upper;       /* value for which they were looked for last */
    const char *stopped; /* why annealing ended before it was done; NULL: it did not */
};

/* Nothing known but the chain's own bound.  0, or -1 and an error. */
int any_begin(struct any_search *s, struct ctx *x, struct placing *p);

/* Takes over a plan for the vertices of level g of the same nodes, if it is better; its value is that of g. */
void any_take(struct any_search *s, const struct wdag *g, const struct problem_plan *plan);

/* What a plan of c, dev[vertex], takes beyond the least that parts cost, where `value` is that of its loads: what
 * struct anneal asks for, user being the search. */
int64_t any_price(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                  const uint32_t *copies);

/* Raises s->bound with at most `work` (bounds_best), if a plan is known. */
void any_bound(struct any_search *s, uint64_t work);
/* Whether there is nothing to look for: the best plan is proven, or the bound says that no plan is of use. */
bool any_settled(const struct any_search *s);

/* Looks for better plans with the settings of `like` (planner, seed, moves, chains, threads, clock): first from
 * some orders of contiguous plans, on a coarse level of p before the whole graph; bounds are looked at before and
 * meanwhile, and end it.  0, or -1 and an error if the graph is too large (device_loads.h). */
int any_improve(struct any_search *s, const struct anneal *like);

/* Devices of the vertices of level g under a plan of the nodes that keeps each vertex together. */
void any_lift(const struct ctx *x, const struct wdag *g, const int32_t *node_dev, int32_t *dev);
/* Lets annealing of `any` start from orders of `whole`, the contiguous problem of the same nodes. */
void any_starts(const struct ctx *x, const struct problem *any, const struct problem *whole,
                struct anneal *s);

#endif
