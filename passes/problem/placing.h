/* How planners begin and end: from the levels of the context to problems, and from a plan of a level to the
 * context's. Written for dpl-place and dp-place, used by most others. */
#ifndef PCC_PASSES_PROBLEM_PLACING_H
#define PCC_PASSES_PROBLEM_PLACING_H

#include "passes/problem/claim.h"

/* Which topological orders interval DP (contiguous/interval_dp.h) tries. */
struct interval_how {
    uint32_t starts; /* orders to try */
    uint64_t seed;   /* 0: the first order of all has its ties by number */
    uint32_t order;  /* INTERVAL_MIXED: several kinds in turn; else 1 + an enum topo_kind */
    uint64_t budget; /* steps of the inner loop in all; 0: INTERVAL_BUDGET */
    struct clock *clock;
    const char *phase; /* name of the work for the listener; NULL: the listener is not told */
};
enum { INTERVAL_BUDGET = 150000000, INTERVAL_MIXED = 0 };

/* The first PLACE_OPTS_EXACT rows of place_opts are those of the exact search: dp-place has them all,
 * dpl-place the rest. */
struct place_options {
    int64_t max_states, starts, seed, order;
    bool count_ideals, whole;
};
enum { PLACE_OPTS_EXACT = 3 };
extern const struct opt place_opts[];

/* The levels, problems, clock and orders that these planners start with. */
struct planner_input {
    struct wdag *whole, *level; /* the level after the mandatory steps, and the top */
    /* the problems of whole and of level; the same one if these are one level */
    struct problem *problem, *top;
    struct clock clock;         /* starts now */
    struct interval_how orders; /* points to this clock, so the struct must not move */
    /* bound for all plans, once dp-place has looked for one; value 0: it has not */
    struct bound all;
};

/* Makes the base level if need be, and the problems, which live in the scratch arena.  The cluster must have no groups
 * of devices.  0, or -1 and an error. */
int placing_start(struct ctx *x, const struct place_options *o, struct planner_input *p);

/* An empty plan for g. */
struct problem_plan no_plan(struct ctx *x, const struct wdag *g);

/* The name of the first node in vertex v of level g, for messages.  O(V). */
const char *first_node(const struct ctx *x, const struct wdag *g, uint32_t v);

/* Leaves best, a plan for the vertices of level g, in x->results.plan. */
void leave_plan(struct ctx *x, const char *planner, const struct wdag *g,
                const struct problem_plan *best);

#endif
