/* The best contiguous plan of one sample that can be found, and how far it is from the least. */
#ifndef PCC_PASSES_LATENCY_LATENCY_SOLVE_H
#define PCC_PASSES_LATENCY_LATENCY_SOLVE_H

#include "passes/latency/latency_anneal.h"
#include "passes/latency/latency_tail.h"

struct latency_how {
    uint64_t seed;
    uint64_t moves;      /* of annealing, if no search ends; 0: what is usual */
    uint64_t max_steps;  /* of all searches */
    uint64_t max_labels; /* partial plans that a search may keep; 0: no search */
    int64_t least;       /* ps: no plan takes less, for other reasons than the longest path */
    struct clock *clock;
    struct arena *mem;  /* for text */
    struct wdag *level; /* the blocks */
};

struct latency_result {
    int64_t
        lower; /* ps: no contiguous plan takes less; CPUs unlimited (but for how.least), blocks on hosts together */
    bool searched;           /* lower comes from a search, not from the longest path */
    bool complete;           /* a search was finished: `lower` is the time of the best plan */
    uint64_t labels, ideals; /* of the search that came furthest */
    uint64_t moves;
    const char *proof; /* the searches, a line each; lives in how.mem */
    const char *why;   /* if not complete: the reason why the search ended */
};

/* Improves *best, which may be empty (latency_no_plan). best->value is the value by p's judge, if p has one. Uses
 * scratch and restores its state. */
struct latency_result latency_solve(const struct latency_graph *p, const struct latency_tail *t,
                                    const struct latency_how *how, struct latency_plan *best,
                                    struct arena *scratch);

#endif
