/* Finds a good contiguous plan for the latency, and proves how far it is at most from the best one. */
#ifndef PCC_PASSES_LATENCY_LATENCY_SOLVE_H
#define PCC_PASSES_LATENCY_LATENCY_SOLVE_H

#include "passes/latency/latency_anneal.h"
#include "passes/latency/latency_tail.h"

/* Limits and settings of latency_solve(). */
struct latency_how {
    uint64_t seed;       /* for the random numbers of annealing */
    uint64_t moves;      /* number of moves of annealing if no search ends; 0: the usual number */
    uint64_t max_steps;  /* steps of all searches together */
    uint64_t max_labels; /* partial plans that a search may keep; 0: no search */
    int64_t least;       /* ps: a lower bound on all plans from another source (latency_bound()) */
    struct clock *clock;
    struct arena *mem;  /* for texts of the result */
    struct wdag *level; /* p->g, the level of the blocks */
};

/* What latency_solve() has proved, and how. */
struct latency_result {
    /* ps: no contiguous plan that puts whole blocks on the hosts has a smaller latency, even with unlimited CPUs
     * (unless how.least is the higher bound and counts them) */
    int64_t lower;
    bool searched; /* `lower` was proved by a search; else it is how.least or the longest path */
    bool complete; /* `lower` is the latency of the best of these plans */
    uint64_t labels, ideals; /* numbers of the last complete search: labels kept, ideals met */
    uint64_t moves;          /* moves of annealing that were tried */
    const char *proof; /* a line for each complete search, each ends in a newline; in how.mem */
    const char *why;   /* if not complete: why the searches ended; may be NULL */
};

/* Improves the plan *best, whose value may be LOAD_INF (latency_no_plan), and proves a lower bound.  best->value is the
 * value by latency_judged().  t: result of latency_tail_make() for p; for a training graph, all 0.  Temporary memory
 * comes from scratch and is released. */
struct latency_result latency_solve(const struct latency_graph *p, const struct latency_tail *t,
                                    const struct latency_how *how, struct latency_plan *best,
                                    struct arena *scratch);

#endif
