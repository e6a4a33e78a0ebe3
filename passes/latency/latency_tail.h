/* Tails of blocks and units (latency_graph.h).  The tail of a block or unit is a lower bound, in ps, on the time from
 * its start to the end of the plan: what it takes itself, and what must still run after it along a longest path. */
#ifndef PCC_PASSES_LATENCY_LATENCY_TAIL_H
#define PCC_PASSES_LATENCY_LATENCY_TAIL_H

#include "passes/latency/latency_graph.h"

/* A block's tail depends on the bytes that an accelerator has left for the block and for the later blocks of its
 * subgraph.  A step of this function: with `bytes` bytes or more left, but fewer than in the next step, the tail is
 * `ps`. */
struct tail_step {
    int64_t bytes, ps;
};

/* The tails of all blocks and units of a latency_graph. */
struct latency_tail {
    /* [kind][block] ps: tail of the block on an accelerator of this kind, from the start of its computing, as if it
     * were the first block of its subgraph; LOAD_INF: it cannot run there */
    int64_t *on[PROBLEM_KINDS];
    /* [unit] ps: tail of the unit on a host, from the start of its computing; LOAD_INF: no host can run it */
    int64_t *host;
    int64_t *least; /* [unit] ps: the smallest of host[unit] and on[][block of the unit] */
    /* [block] the successor with the largest tail, with which a path goes on; of several kinds of accelerators the last
     * one that can run the block decides.  UINT32_MAX: the path ends here */
    uint32_t *next;
    int64_t all;      /* ps: the largest least[]: no plan has a smaller latency */
    uint32_t longest; /* a unit with the largest least[]; UINT32_MAX: there are no units */
    /* [kind][block] the steps of the block's tail are step[row .. end), ascending by bytes; row == end: on[] is the
     * tail whatever memory is left */
    uint32_t *row[PROBLEM_KINDS], *end[PROBLEM_KINDS];
    struct tail_step *step; /* the nstep steps of all tails */
    uint32_t nstep, capstep;
};

#define TAIL_WORK UINT64_C(50000000) /* the most edges that are looked at for the steps of tails */
/* Returns the tails of p, in a.  p must not be a training graph.  O(kinds * (E + pins)), and at most TAIL_WORK edges
 * looked at for the steps, none once the clock is out. */
struct latency_tail *latency_tail_make(const struct latency_graph *p, struct clock *clock,
                                       struct arena *a);

/* Returns the tail, ps, of block b on an accelerator of kind k with `room` bytes of memory for b and the later blocks
 * of its subgraph.  O(log steps). */
int64_t latency_tail_on(const struct latency_tail *t, uint32_t k, uint32_t b, int64_t room);

#endif
