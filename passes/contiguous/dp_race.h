/* The best contiguous plan of one graph: exact searches, bounds and interval DP share the work. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_RACE_H
#define PCC_PASSES_CONTIGUOUS_DP_RACE_H

#include "passes/contiguous/ideal_search.h"
#include "passes/contiguous/interval_dp.h"

/* The settings of a race. */
struct dp_race {
    struct problem *c;                 /* the race raises its lower bound, with the reason */
    const struct interval_how *orders; /* the orders that interval DP tries */
    /* number of ideals that each search may keep, which also limits the steps (dp_race.c); 0: no exact search */
    uint64_t max_states;
    struct clock *clock;    /* NULL: no time limit */
    const struct module *m; /* names the nodes in proofs; NULL: vertices have numbers */
    struct arena *mem;      /* for the text of proofs */
    struct arena *scratch;  /* for temporary data, which is released; must not be `mem` */
    struct diag *diag;
};

/* Improves *best, a plan of r->c (value LOAD_INF: none is known yet); takes only strictly better plans.  In the
 * result, complete: the end of an exact search proved that *best is the best plan; why: reason for the end of the
 * race if nothing proves that. */
struct dp_found dp_race(const struct dp_race *r, struct problem_plan *best);

#endif
