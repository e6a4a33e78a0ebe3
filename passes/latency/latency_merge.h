/* The best plan that several good plans make together. */
#ifndef PCC_PASSES_LATENCY_LATENCY_MERGE_H
#define PCC_PASSES_LATENCY_LATENCY_MERGE_H

#include "passes/latency/label_search.h"

struct latency_merge_input {
    struct wdag *level; /* p->g */
    const struct latency_plan *plan;
    uint32_t n; /* plans; those without a value are left out */
    const struct label_limits *limits;
};

/* Blocks that are in one subgraph in each of the plans stay together; of the plans that keep them so, those n among
 * them, the best one below best->value is searched for, and written to *best if it fits.  Returns the steps that it
 * took; *ended: whether that was enough.  Uses scratch, whose state is restored. */
uint64_t latency_merge(const struct latency_graph *p, const struct latency_merge_input *m,
                       struct latency_plan *best, bool *ended, struct arena *scratch);

#endif
