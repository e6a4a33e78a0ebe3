/* Searches for plans of any shape: makes first plans, anneals and looks for bounds in turn. */
#ifndef PCC_PASSES_ANY_SHAPE_ANY_SEARCH_H
#define PCC_PASSES_ANY_SHAPE_ANY_SEARCH_H

#include "passes/any_shape/anneal_rounds.h"
#include "passes/bounds/bounds.h"
#include "passes/problem/placing.h"

/* A search under way.  Lives in the scratch arena of x. */
struct any_search {
    struct ctx *x;
    struct planner_input *p;
    struct problem *any; /* the problem of the level of plans of any shape */
    /* ps: what running parts costs every plan at least (claim_start); the values below leave it out */
    int64_t start;
    /* the best plan, for the vertices of `any`; the value includes what the plan's parts cost beyond `start`;
     * LOAD_INF: no plan is known */
    struct problem_plan best;
    struct bound bound; /* a lower bound of all plans of `any` */
    /* ps: only plans that take no more than this are of use; LOAD_INF: every plan is of use */
    int64_t need;
    uint64_t moves;      /* number of moves of annealing so far */
    uint64_t spent;      /* work of bounds so far, in arcs */
    int64_t upper;       /* ps: value of the best plan when bounds were last looked for */
    const char *stopped; /* why the clock ended annealing; NULL: it did not */
};

/* Begins a search: no plan is known, and the bound is the problem's own.  Returns 0, or -1 after an error. */
int any_begin(struct any_search *s, struct ctx *x, struct planner_input *p);

/* Returns the time per sample of the plan dev[vertex] of c, ps, with the cost of its parts beyond any_search.start.
 * value: the largest load of the plan; user: the search, a struct any_search.  For anneal.price. */
int64_t any_price(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                  const uint32_t *copies);

/* Raises s->bound by bounds_best() with at most `work` arcs; does nothing if no plan is known. */
void any_bound(struct any_search *s, uint64_t work);

/* Looks for better plans with the settings of `like` (planner, seed, moves, chains, threads, clock).  First plans
 * come from some orders cut by interval DP; then follows annealing: first of the top level of p, if that level is a
 * coarse one, then of the whole graph.  Bounds are looked for before annealing and between its rounds, and may end
 * the search.  Returns 0, or -1 and an error if the graph is too large (device_loads.h). */
int any_improve(struct any_search *s, const struct anneal *like);

/* Writes dev[vertex of g] from node_dev[node]; this plan must put all nodes of a vertex on one device. */
void any_lift(const struct ctx *x, const struct wdag *g, const int32_t *node_dev, int32_t *dev);
/* Sets s->cut and s->up, so that annealing of `any` starts from orders of `whole`, the contiguous problem of the same
 * nodes; does nothing if the two have the same level. */
void any_starts(const struct ctx *x, const struct problem *any, const struct problem *whole,
                struct anneal *s);

#endif
