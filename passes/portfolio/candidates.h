/* Plans for one sample by all methods of pcc, and the best result of each kind of method. */
#ifndef PCC_PASSES_PORTFOLIO_CANDIDATES_H
#define PCC_PASSES_PORTFOLIO_CANDIDATES_H

#include "passes/portfolio/light.h"

/* Kinds of plans, in the order in which they are shown. */
enum candidate_kind {
    CANDIDATE_ONE,
    CANDIDATE_CLUSTERS,
    CANDIDATE_HEFT,
    CANDIDATE_TOPO,
    CANDIDATE_ETF,
    CANDIDATE_SCT,
    CANDIDATE_DP,
    CANDIDATE_GREEDY,
    CANDIDATE_METIS,
    CANDIDATE_SCOTCH,
    CANDIDATES
};

enum { CANDIDATES_KEPT = 3 };

/* The best plan of a kind of candidate. */
struct candidate_record {
    uint32_t plans; /* 0: none was made */
    int64_t value, lacks;
};

struct candidates {
    struct ctx *x;
    const char *planner;         /* name of the calling planner, for errors */
    struct placement *placement; /* scratch placement; the groups of vertices are the point */
    struct clock *clock;
    int64_t work; /* nodes that all runs together may still have */
    struct light light;
    bool has_light, in_light; /* plans are tried by light, too; now */
    struct candidate_record reached[CANDIDATES];
    /* the best plans, all different, the first the best; no more than n */
    struct list_schedule kept[CANDIDATES_KEPT];
    uint32_t n;
};

/* Tries all kinds until work or time is over, at least one plan.  0, -1, or PASS_INFEASIBLE and an error. */
int candidates_make(struct candidates *c);
/* Lines: each kind with its best value, the final one behind it; lives in a. */
const char *candidates_table(const struct candidates *c, const struct list_schedule *last,
                             struct arena *a);

#endif
