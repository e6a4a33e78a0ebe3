/* Placement by integer programs: models solved, answers checked. */
#ifndef PCC_PASSES_INTEGER_IP_SEARCH_H
#define PCC_PASSES_INTEGER_IP_SEARCH_H

#include "passes/integer/ip_model.h"
#include "passes/bounds/reduction.h"
#include "passes/problem/device_loads.h"

enum { IP_MOST_ORDERS = 1000 };

struct ip_how {
    const char *planner; /* for errors */
    enum ip_shape shape;
    const struct mip_solver *solver;
    struct clock *clock;
    int64_t gap; /* millionths: a plan may miss the best by this share, at least by 1 */
    /* ps: only plans of at most this value are of interest; LOAD_INF: all */
    int64_t limit;
    const char *const *name; /* [vertex] as in ip_ask */
    /* a file that the models are also written to, with all plans of at most `limit` (several models: x.lp becomes
     * x.1.lp, x.2.lp, ...); NULL: none */
    const char *write;
    bool write_only;
};

struct ip_found {
    int rc; /* -1 and an error: the model is too large, there are more than IP_MOST_ORDERS orders, or a file cannot be
               written; else 0 */
    /* ps: no plan of this shape is better, to the solver's tolerance; c->lower at least */
    int64_t bound;
    bool complete;               /* every model was solved or refuted */
    uint32_t models, ncol, nrow; /* their number, and the sizes of the largest */
    /* answers of the solver that did not hold when they were checked */
    uint32_t refused;
    uint64_t nodes;
    int64_t grain;   /* ps: every load is a multiple of it */
    const char *why; /* if not complete */
};

/* Improves *best (value LOAD_INF: none yet) to the optimum: looks for plans that are better by the gap, checks the
 * shape and (with l, which is of c) the loads of those that the solver finds, and takes none that fails.  With
 * IP_CHAIN each order of the kinds of devices is a model of its own. */
struct ip_found ip_search(const struct problem *c, struct loads *l, const struct ip_how *how,
                          struct problem_plan *best, struct arena *scratch, struct diag *d);

/* The smallest memory (bytes) such that a plan of the shape fits devices raised to it, by the solver and clock of how;
 * -1: none was found.  *proven: no less will do. */
int64_t ip_least_memory(const struct problem *c, struct loads *l, const struct ip_how *how,
                        bool *proven, struct arena *scratch, struct diag *d);

/* If *ask is about plans of any shape with a limit: returns the reduction of c for that limit, and changes *ask to
 * be about it; else NULL.  reduction->none: there is no plan.  Lives in a. */
struct reduction *ip_reduction(const struct problem *c, struct ip_ask *ask, struct clock *clock,
                               struct arena *a);

/* Whether the plan dev[vertex] has the shape; place: [device] its place in the chain. */
bool ip_has_shape(const struct problem *c, enum ip_shape shape, const uint32_t *place,
                  const int32_t *dev);

#endif
