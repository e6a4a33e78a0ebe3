/* The best contiguous plan of one graph: exact searches, bounds and interval DP share the work. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_RACE_H
#define PCC_PASSES_CONTIGUOUS_DP_RACE_H

#include "passes/contiguous/ideal_search.h"
#include "passes/contiguous/interval_dp.h"

struct dp_race {
    struct problem *c; /* its lower bound is raised, with the reason */
    const struct interval_how *orders;
    /* ideals that each search may keep; steps in all are at most some times this (dp_race.c) */
    uint64_t max_states;
    struct clock *clock;
    const struct module *m; /* for arguments; NULL: vertices have numbers */
    struct arena *mem;      /* for the arguments */
    struct arena *scratch;  /* not the arena `mem`; left as it was */
    struct diag *diag;
};

/* Improves *best (value LOAD_INF: none yet; only strictly better plans are taken).  complete: a search of the whole
 * graph ended; why: it stopped, where *best is not proven to be the best. */
struct dp_found dp_race(const struct dp_race *r, struct problem_plan *best);

#endif
