/* The exact search: whether a contiguous plan takes less than a limit, and the best such plan. */
#ifndef PCC_PASSES_LATENCY_LABEL_SEARCH_H
#define PCC_PASSES_LATENCY_LABEL_SEARCH_H

#include "passes/latency/latency_tail.h"

struct label_limits {
    uint64_t max_labels; /* partial plans kept */
    uint64_t max_steps;  /* looks at partial plans */
    size_t max_bytes;    /* of memory */
    struct clock *clock;
};

struct label_found {
    bool complete;   /* *best is the best plan below the limit, or (value LOAD_INF) there is none */
    const char *why; /* if not complete */
    uint64_t labels, ideals, steps;
};

/* Looks for the contiguous plan of p that takes least, below `limit` ps.  Blocks go to the host whole; CPUs are
 * unlimited, and so is the memory of hosts.  best: filled only if the search is complete.  Uses scratch, whose state is
 * restored. */
struct label_found label_search(const struct latency_graph *p, const struct latency_tail *t,
                                int64_t limit, const struct label_limits *l,
                                struct latency_plan *best, struct arena *scratch);

#endif
