/* How long it takes at least from the start of a unit or subgraph to the end of all. */
#ifndef PCC_PASSES_LATENCY_LATENCY_TAIL_H
#define PCC_PASSES_LATENCY_LATENCY_TAIL_H

#include "passes/latency/latency_graph.h"

/* A subgraph that goes on along the path of a block for at most so many bytes, and what is left then. */
struct tail_step {
    int64_t bytes, ps;
};

struct latency_tail {
    /* [kind][block] ps from the moment at which an accelerator of the kind begins to compute the block, all else of
     * its subgraph apart, to the end of all; LOAD_INF: it cannot run there */
    int64_t *on[PROBLEM_KINDS];
    int64_t *host;    /* [unit] ps from its start on the host; LOAD_INF */
    int64_t *least;   /* [unit] ps: the smallest of host[unit] and of on[] of its block */
    uint32_t *next;   /* [block] the next block of its path; UINT32_MAX: none */
    int64_t all;      /* ps: no plan takes less */
    uint32_t longest; /* a unit with the largest `least`; UINT32_MAX: there are no units */
    /* [kind] rows of blocks in `step`, ascending by bytes: with less than the first an accelerator cannot run it; the
     * least is for all that have room for these bytes and less than the next */
    uint32_t *row[PROBLEM_KINDS], *end[PROBLEM_KINDS];
    struct tail_step *step;
    uint32_t nstep, capstep;
};

/* Those of p.  Lives in a.  O(kinds * (E + pins)), and at most TAIL_WORK looks at edges more. */
struct latency_tail *latency_tail_make(const struct latency_graph *p, struct arena *a);
#define TAIL_WORK UINT64_C(50000000)

/* on[k][b] if block b and its successors in the same subgraph have `room` bytes. O(log steps). */
int64_t latency_tail_on(const struct latency_tail *t, uint32_t k, uint32_t b, int64_t room);

#endif
