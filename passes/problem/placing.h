/* How planners begin and end: makes problems of the levels of the context, and x->results.plan of a planner's plan for
 * a level.  Written for dpl-place and dp-place, used by most other planners. */
#ifndef PCC_PASSES_PROBLEM_PLACING_H
#define PCC_PASSES_PROBLEM_PLACING_H

#include "passes/problem/claim.h"

/* Which topological orders interval DP (contiguous/interval_dp.h) tries. */
struct interval_how {
    uint32_t starts; /* number of orders to try */
    /* seed of the random orders; 0: the first order breaks ties by the numbers of vertices */
    uint64_t seed;
    uint32_t order; /* kind of the orders: 1 + an enum topo_kind; INTERVAL_MIXED: several in turn */
    /* limit of the steps of the inner loop, all orders together; 0: INTERVAL_BUDGET */
    uint64_t budget;
    struct clock *clock;
    const char *phase; /* name of the work for the listener; NULL: the listener is not told */
};
enum { INTERVAL_BUDGET = 150000000 }; /* the usual interval_how.budget */
enum { INTERVAL_MIXED = 0 };          /* a value of interval_how.order */

/* The values of the options in place_opts, whose help texts say what each means.  dp-place has all options; dpl-place
 * lacks the first PLACE_OPTS_EXACT ones, which concern the exact search. */
struct place_options {
    int64_t max_states, starts, seed, order;
    bool count_ideals, whole;
};
enum { PLACE_OPTS_EXACT = 3 };
extern const struct opt place_opts[];

/* The levels, problems, clock and orders that a planner starts with. */
struct planner_input {
    struct wdag *whole, *level; /* contiguous_level(); the top level */
    /* problem of `whole`; problem of `level`: the same one if both are one level */
    struct problem *problem, *top;
    struct clock clock;         /* runs from placing_start() on */
    struct interval_how orders; /* refers to `clock`, so the struct must not be moved */
    /* a bound of all plans, set by dp-place once it has looked for one; value 0: not set */
    struct bound all;
};

/* Fills *p; makes the base level if it is missing.  The problems live in the scratch arena.  The cluster must have no
 * groups of devices.  Returns 0, or -1 and reports an error. */
int placing_start(struct ctx *x, const struct place_options *o, struct planner_input *p);

/* If a plan that fits by c may still not fit by the judge's count, takes 1 / 4 of the time left off a time limit of
 * *clock, for making the plan fit (run_and_fit.c). */
void placing_leave_time(const struct problem *c, struct clock *clock);

/* Returns a plan for g that is still to be made.  The arrays dev and, if stages may have copies, `copies` have room and
 * are all 0; the value is LOAD_INF, or 0 if g has no vertices. */
struct problem_plan no_plan(struct ctx *x, const struct wdag *g);

/* Returns the name of the first node in vertex v of level g, for messages.  O(V). */
const char *first_node(const struct ctx *x, const struct wdag *g, uint32_t v);

/* Returns the end of a message that plan p does not fit: "; with --in-flight=2 it does" if p fits with fewer samples on
 * their way at once than the scene allows; else "". */
const char *placing_fewer_samples(struct ctx *x, const struct plan *p);

/* Makes x->results.plan from *best, a plan for the vertices of level g; its claim has a value, but no bound yet. */
void leave_plan(struct ctx *x, const char *planner, const struct wdag *g,
                const struct problem_plan *best);
/* Makes x->results.plan from dev[vertex of g], with the judge's value and no bound yet. */
void leave_judged(struct ctx *x, const char *planner, const struct wdag *g, int32_t *dev);

#endif
