/* Tails: lower bounds on the time from the start of a unit or subgraph to the end of the plan. */
#ifndef PCC_PASSES_LATENCY_LATENCY_TAIL_H
#define PCC_PASSES_LATENCY_LATENCY_TAIL_H

#include "passes/latency/latency_graph.h"

/* A step of a block's tail as a function of the bytes that an accelerator has left for the block and the later blocks
 * of its subgraph: with `bytes` of them or more, but fewer than the next step's, the tail is at least `ps`. */
struct tail_step {
    int64_t bytes, ps;
};

struct latency_tail {
    /* [kind][block] ps: tail of the block on an accelerator of this kind, from the moment at which its computing
     * begins, as if no other block of its subgraph ran before; LOAD_INF: it cannot run there */
    int64_t *on[PROBLEM_KINDS];
    /* [unit] ps: tail of the unit from its start on a host; LOAD_INF: no host runs it */
    int64_t *host;
    int64_t *least; /* [unit] ps: the smallest of host[unit] and on[][block of the unit] */
    /* [block] the next block on the path that the block's tail follows; UINT32_MAX: none */
    uint32_t *next;
    int64_t all;      /* ps: the largest least[]: no plan has a smaller latency */
    uint32_t longest; /* a unit with the largest least[]; UINT32_MAX: there are no units */
    /* [kind][block] the steps of the block are step[row .. end), ascending by bytes; none: on[] has its only tail */
    uint32_t *row[PROBLEM_KINDS], *end[PROBLEM_KINDS];
    struct tail_step *step;
    uint32_t nstep, capstep;
};

#define TAIL_WORK UINT64_C(50000000) /* number of looks at edges, at most */
/* Returns the tails of p, in a.  p must not be a training graph.  O(kinds * (E + pins)), and at most TAIL_WORK looks at
 * edges for the steps. */
struct latency_tail *latency_tail_make(const struct latency_graph *p, struct arena *a);

/* Returns the tail, ps, of block b on an accelerator of kind k with `room` bytes of memory for b and the later blocks
 * of its subgraph.  O(log steps). */
int64_t latency_tail_on(const struct latency_tail *t, uint32_t k, uint32_t b, int64_t room);

#endif
