/* How long it takes at least from the start of a unit or subgraph to the end of all. */
#ifndef PCC_PASSES_LATENCY_LATENCY_TAIL_H
#define PCC_PASSES_LATENCY_LATENCY_TAIL_H

#include "passes/latency/latency_graph.h"

struct latency_tail {
    /* [kind][block] ps from the moment at which an accelerator of the kind begins to compute the block, all else of
     * its subgraph apart, to the end of all; LOAD_INF: it cannot run there.  `plain` by the longest path, where a
     * subgraph may go on for ever; `forced` also by what a subgraph between two blocks of the path must hold. */
    int64_t *plain[PROBLEM_KINDS], *forced[PROBLEM_KINDS];
    int64_t *host;  /* [unit] the same from its start on the host, by `forced`; LOAD_INF */
    int64_t *least; /* [unit] the least of these: from the start of whatever it is in */
    uint32_t *next; /* [block] the next block of the longest path; UINT32_MAX: none */
    int64_t all;    /* ps: no plan takes less */
    int64_t fast;   /* ps: the longest path of the fastest times alone */
};

/* Those of p.  Lives in a.  O(kinds * (E + pins)), and for `forced` at most TAIL_WORK looks at edges more. */
struct latency_tail *latency_tail_make(const struct latency_graph *p, struct arena *a);
#define TAIL_WORK UINT64_C(50000000)

#endif
