/* What dpl-place and dp-place have in common: from levels of the context to its plan. */
#ifndef PCC_PASSES_CONTIGUOUS_PLACING_H
#define PCC_PASSES_CONTIGUOUS_PLACING_H

#include "passes/problem/problem.h"
#include "passes/bounds/claim.h"
#include "passes/contiguous/interval_dp.h"

/* The first PLACE_OPTS_EXACT rows of place_opts are those of the exact search: dp-place has them all,
 * dpl-place the rest. */
struct place_options {
    int64_t max_states, starts, seed, order;
    bool count_ideals, whole;
};
enum { PLACE_OPTS_EXACT = 3 };
extern const struct opt place_opts[];

/* What both start with. */
struct placing {
    struct wdag *whole, *level;    /* the level after the mandatory steps, and the top */
    struct problem *problem, *top; /* of whole and of level; one chain if these are one level */
    struct clock clock;            /* starts now */
    struct interval_run run;       /* with this clock: p must stay where it is */
    /* of all plans, as far as dp-place has looked; value 0: nothing is known */
    struct bound all;
};

/* Makes the base level if need be, and the chains, which live in the scratch arena.  0, or -1: also for
 * a cluster with groups, which these planners do not know.  planner: its name, for errors. */
int placing_start(struct ctx *x, const char *planner, const struct place_options *o,
                  struct placing *p);

/* An empty plan for g. */
struct problem_plan no_plan(struct ctx *x, const struct wdag *g);

/* The name of the first node in vertex v of level g, for messages.  O(V). */
const char *first_node(const struct ctx *x, const struct wdag *g, uint32_t v);

/* Leaves best, a plan for the vertices of level g, in x->results.plan. */
void leave_plan(struct ctx *x, const char *planner, const struct wdag *g,
                const struct problem_plan *best);

#endif
