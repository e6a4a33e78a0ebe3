/* Plans of any shape: first plans, annealing and bounds in turn. */
#ifndef PCC_PASSES_ANY_SHAPE_ANY_SEARCH_H
#define PCC_PASSES_ANY_SHAPE_ANY_SEARCH_H

#include "passes/any_shape/anneal_rounds.h"
#include "passes/bounds/bounds.h"
#include "passes/problem/placing.h"

/* A search under way.  Lives in the scratch arena of x. */
struct any_search {
    struct ctx *x;
    struct planner_input *p;
    struct problem *any; /* the problem: the level of plans of any shape */
    /* ps: what parts cost at least; the values here leave it out (claim_start) */
    int64_t start;
    /* the best plan of it; value: with what its parts cost beyond `start`; LOAD_INF: none is known */
    struct problem_plan best;
    struct bound bound; /* a lower bound of its plans */
    /* ps: only plans that take no more than this are of use; LOAD_INF: every plan is */
    int64_t need;
    uint64_t moves;      /* moves of annealing so far */
    uint64_t spent;      /* work of bounds, so far */
    int64_t upper;       /* the value of the best plan when bounds were last looked for */
    const char *stopped; /* why annealing ended before it was done; NULL: it did not */
};

/* Begins a search: no plan known, the bound is the problem's own.  0, or -1 and an error. */
int any_begin(struct any_search *s, struct ctx *x, struct planner_input *p);

/* Takes over `plan`, for the vertices of level g, if it is better than s->best; plan->value: by loads alone. */
void any_take(struct any_search *s, const struct wdag *g, const struct problem_plan *plan);

/* anneal.price (user: the search): what the plan dev[vertex] of c takes, the least that parts cost left out; value:
 * by its loads alone. */
int64_t any_price(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                  const uint32_t *copies);

/* Raises s->bound by bounds_best with at most `work`; does nothing if no plan is known. */
void any_bound(struct any_search *s, uint64_t work);
/* Whether the search is over: the best plan is proven to be the best, or the bound says that no plan can be of use. */
bool any_settled(const struct any_search *s);

/* Looks for better plans with the settings of `like` (planner, seed, moves, chains, threads, clock): first plans
 * come from some orders cut by interval DP; then annealing, of a coarse level of p first if there is one, then of
 * the whole graph.  Bounds are looked for before it and between its rounds, and may end it.  0, or -1 and an error
 * if the graph is too large (device_loads.h). */
int any_improve(struct any_search *s, const struct anneal *like);

/* Writes dev[vertex of g] from node_dev[node], a plan that puts all nodes of a vertex on one device. */
void any_lift(const struct ctx *x, const struct wdag *g, const int32_t *node_dev, int32_t *dev);
/* Sets s->cut and s->up, so that annealing of `any` starts from orders of `whole`, the contiguous problem of the
 * same nodes. */
void any_starts(const struct ctx *x, const struct problem *any, const struct problem *whole,
                struct anneal *s);

#endif
