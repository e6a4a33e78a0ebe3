/* Placement by integer programs: models solved, answers checked. */
#ifndef PCC_PASSES_INTEGER_IP_SEARCH_H
#define PCC_PASSES_INTEGER_IP_SEARCH_H

#include "passes/integer/ip_model.h"
#include "passes/bounds/reduction.h"
#include "passes/problem/device_loads.h"

enum { IP_MOST_ORDERS = 1000 };

struct ip_run {
    const char *planner; /* for errors */
    enum ip_shape shape;
    const struct mip_solver *solver;
    struct clock *clock;
    int64_t gap; /* millionths: a plan may miss the best by this share, at least by 1 */
    /* ps: only plans of at most this value are of interest; LOAD_INF: all */
    int64_t limit;
    const char *const *name; /* [vertex] as in ip_ask */
    /* the models go to this file, too (x.lp: x.1.lp, ... if there are several); or NULL: those with
       all plans of at most `limit` */
    const char *write;
    bool write_only;
    /* out */
    /* ps: no plan of this shape is better, to the solver's tolerance; c->lower at least */
    int64_t bound;
    bool complete;               /* every model was solved or refuted */
    uint32_t models, ncol, nrow; /* their number, and the sizes of the largest */
    uint32_t refused;            /* answers that did not hold */
    uint64_t nodes;
    int64_t grain;   /* ps: every load is a multiple of it */
    const char *why; /* if not complete */
};

/* Improves *best (value LOAD_INF: none yet) to the optimum; only plans better than it by the gap are looked for,
 * and only those whose loads l (of c) and shape have been checked are taken.  In a chain every order of the
 * kinds of devices is a model of its own.  -1 and an error: the model is too large, there are more than
 * IP_MOST_ORDERS orders, or a file cannot be written. */
int ip_search(const struct problem *c, struct loads *l, struct ip_run *r, struct problem_plan *best,
              struct arena *scratch, struct diag *d);

/* The smallest memory (bytes) such that a plan of the shape fits if no bounded device has less, with what
 * r says of solver and clock; -1: none was found.  r->complete: nothing below will do. */
int64_t ip_least_memory(const struct problem *c, struct loads *l, struct ip_run *r,
                        struct arena *scratch, struct diag *d);

/* For plans of any shape with a limit: the reduction of c below it, and *ask about that; else NULL.
 * reduction->none: there is no plan.  Lives in a. */
struct reduction *ip_reduction(const struct problem *c, struct ip_ask *ask, struct clock *clock,
                               struct arena *a);

/* Whether dev has the shape; slots: [device] its place in a chain. */
bool ip_has_shape(const struct problem *c, enum ip_shape shape, const uint32_t *place,
                  const int32_t *dev);

#endif
