/* The exact search for clusters with groups of devices: a dynamic program over pairs of ideals (hier_dp.c). */
#ifndef PCC_PASSES_CONTIGUOUS_HIER_DP_H
#define PCC_PASSES_CONTIGUOUS_HIER_DP_H

#include "passes/problem/problem.h"

enum { HIER_IDEALS = 1000 /* graphs of more ideals are never searched */ };

/* How far a search may go. */
struct hier_limits {
    uint32_t max_ideals; /* graphs of more ideals are not searched; at most HIER_IDEALS */
    uint64_t max_steps;  /* limit of the steps of the innermost loop */
    struct clock *clock;
};

/* The result of a search. */
struct hier_found {
    /* 1: *best was improved; 0: it was not; -1 and an error: the devices are of too many kinds */
    int rc;
    /* number of ideals of the graph; 0: there are too many, nothing was searched */
    uint32_t ideals;
    uint64_t steps;  /* steps done */
    bool complete;   /* proven: no plan is better than *best */
    const char *why; /* if not complete: the reason */
};

/* Searches for the best plan for g on the cluster of s, among the plans in which the quotient graph by devices and the
 * quotient graph by groups are both acyclic.  Writes it to *best (value LOAD_INF: no plan is known yet) if it is
 * strictly better.  With --replicate the devices that take turns with a stage are in one group, or they are alone in
 * several groups; best->copies must be there. */
struct hier_found hier_search(const struct wdag *g, const struct scene *s,
                              const struct hier_limits *l, struct problem_plan *best,
                              struct arena *scratch, struct diag *d);

#endif
