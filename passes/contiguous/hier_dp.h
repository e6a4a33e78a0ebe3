/* Groups of devices: the exact search over pairs of ideals (hier_dp.c). */
#ifndef PCC_PASSES_CONTIGUOUS_HIER_DP_H
#define PCC_PASSES_CONTIGUOUS_HIER_DP_H

#include "passes/problem/problem.h"

enum { HIER_IDEALS = 1000 };

struct hier_limits {
    uint32_t max_ideals; /* of the graph, at most HIER_IDEALS */
    uint64_t max_steps;  /* steps of the innermost loop */
    struct clock *clock;
};

struct hier_found {
    int rc; /* 1: *best was improved; 0: not; -1 and an error: the devices are of too many kinds */
    uint32_t ideals; /* 0: more than max_ideals */
    uint64_t steps;
    bool complete;   /* nothing better than *best exists */
    const char *why; /* if not complete */
};

/* Improves *best (value LOAD_INF: none yet) to the best plan of g on c among those in which the quotient by devices
 * and the quotient by groups are both acyclic; only strictly better plans are taken. */
struct hier_found hier_search(const struct wdag *g, const struct scene *s,
                              const struct hier_limits *l, struct problem_plan *best,
                              struct arena *scratch, struct diag *d);

#endif
