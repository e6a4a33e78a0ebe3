/* Groups of devices: the exact search over pairs of ideals (hier_dp.c). */
#ifndef PCC_PASSES_CONTIGUOUS_HIER_DP_H
#define PCC_PASSES_CONTIGUOUS_HIER_DP_H

#include "passes/problem/problem.h"

enum { HIER_IDEALS = 1000 };

struct hier_run {
    uint32_t max_ideals; /* of the graph, at most HIER_IDEALS */
    uint64_t max_steps;  /* steps of the innermost loop */
    struct clock *clock;
    /* out */
    uint32_t ideals; /* 0: more than max_ideals */
    uint64_t steps;
    bool complete;   /* nothing better than *best exists */
    const char *why; /* if not complete */
};

/* Improves *best (value LOAD_INF: none yet) to the best plan of g on c among those in which the quotient by devices
 * and the quotient by groups are both acyclic; only strictly better plans are taken.  1 if it improved, 0 if not, -1
 * and an error if the devices are of too many kinds. */
int hier_search(const struct wdag *g, const struct scene *s, struct hier_run *r,
                struct problem_plan *best, struct arena *scratch, struct diag *d);

#endif
