/* Combines several good plans into a better one. */
#ifndef PCC_PASSES_LATENCY_LATENCY_MERGE_H
#define PCC_PASSES_LATENCY_LATENCY_MERGE_H

#include "passes/latency/label_search.h"

/* The plans to merge, and limits of the search. */
struct latency_merge_input {
    struct wdag *level;              /* p->g */
    const struct latency_plan *plan; /* [n] plans; those with value LOAD_INF are left out */
    uint32_t n;
    const struct label_limits *limits; /* limits of the search of the merged graph */
};

/* Merges blocks that are in one subgraph in every plan of m->plan, and runs the exact search on the merged graph.  If
 * the plan found fits the memory and is better than *best, writes it to *best.  Returns the search steps used; *ended:
 * whether the search was complete.  Temporary memory comes from scratch and is released. */
uint64_t latency_merge(const struct latency_graph *p, const struct latency_merge_input *m,
                       struct latency_plan *best, bool *ended, struct arena *scratch);

#endif
