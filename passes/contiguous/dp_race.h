/* The best contiguous plan of one graph: searches, bounds and orders share the work. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_RACE_H
#define PCC_PASSES_CONTIGUOUS_DP_RACE_H

#include "passes/contiguous/interval_dp.h"

struct dp_race {
    struct problem *c;        /* its lower bound is raised, with the reason */
    struct interval_run *run; /* orders to try */
    /* ideals kept by each search; the steps are bounded by 4 times this */
    uint64_t max_states;
    struct clock *clock;
    const struct module *m; /* for arguments; NULL: vertices have numbers */
    struct arena *mem;      /* for them */
    struct arena *scratch;  /* another one */
    struct diag *diag;
    bool progress; /* a line on stderr after 2 s */
    /* out */
    bool complete; /* nothing better than *best exists: all ideals were searched */
    uint64_t states, steps;
    const char *why; /* if the bound does not say that nothing is better either */
};

/* Improves *best (value LOAD_INF: none yet; only strictly better plans are taken).  True if it improved. */
bool dp_race(struct dp_race *r, struct problem_plan *best);

#endif
