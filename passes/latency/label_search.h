/* Finds the best contiguous plan whose latency is below a limit, by an exact search. */
#ifndef PCC_PASSES_LATENCY_LABEL_SEARCH_H
#define PCC_PASSES_LATENCY_LABEL_SEARCH_H

#include "passes/latency/latency_tail.h"

/* A search ends without a result when it reaches one of these limits. */
struct label_limits {
    uint64_t max_labels; /* labels (partial plans) kept at the same time */
    uint64_t max_steps;  /* limit of the search steps */
    size_t max_bytes;    /* limit of the memory that the search takes */
    struct clock *clock; /* may be NULL */
};

/* The result of a search. */
struct label_found {
    /* no limit was reached: *best is the best plan (value LOAD_INF: there is none) */
    bool complete;
    const char *why; /* the limit that was reached, if not complete */
    /* numbers of labels kept in the end, of ideals met, and of search steps */
    uint64_t labels, ideals, steps;
};

/* Finds the contiguous plan of p with the least latency below `limit` ps.  The search looks only at plans with all
 * nodes of a block on the hosts or none, and counts the CPUs and the memory of hosts as unlimited.  t: the result of
 * latency_tail_make() for p.  Fills *best only if the search is complete.  Temporary memory comes from scratch and is
 * released. */
struct label_found label_search(const struct latency_graph *p, const struct latency_tail *t,
                                int64_t limit, const struct label_limits *l,
                                struct latency_plan *best, struct arena *scratch);

#endif
