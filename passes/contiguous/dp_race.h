/* The best contiguous plan of one graph: exact searches, bounds and interval DP share the work. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_RACE_H
#define PCC_PASSES_CONTIGUOUS_DP_RACE_H

#include "passes/contiguous/interval_dp.h"

struct dp_race {
    struct problem *c;        /* its lower bound is raised, with the reason */
    struct interval_run *run; /* orders to try */
    /* ideals that each search may keep; steps in all are at most some times this (dp_race.c) */
    uint64_t max_states;
    struct clock *clock;
    const struct module *m; /* for arguments; NULL: vertices have numbers */
    struct arena *mem;      /* for the arguments */
    struct arena *scratch;  /* another one */
    struct diag *diag;
    /* out */
    bool complete; /* nothing better than *best exists: a search of the whole graph ended */
    uint64_t states, steps;
    const char *why; /* why it stopped, where *best is not proven to be the best */
};

/* Improves *best (value LOAD_INF: none yet; only strictly better plans are taken).  True if it improved. */
bool dp_race(struct dp_race *r, struct problem_plan *best);

#endif
