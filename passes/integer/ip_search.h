/* Searches for plans by integer programs: makes models, has a solver solve them, and checks the answers. */
#ifndef PCC_PASSES_INTEGER_IP_SEARCH_H
#define PCC_PASSES_INTEGER_IP_SEARCH_H

#include "passes/integer/ip_model.h"
#include "passes/bounds/reduction.h"
#include "passes/problem/device_loads.h"

/* the most orders of the kinds of devices along a chain that are tried */
enum { IP_MOST_ORDERS = 1000 };

struct ip_how {
    const char *planner; /* name of the planner, for messages of errors */
    enum ip_shape shape;
    struct ip_paths paths; /* the graph of paths for IP_CONVEX, as in ip_ask */
    const struct mip_solver *solver;
    struct clock *clock;
    int64_t gap; /* millionths >= 1: a plan may be worse than the best by this share */
    /* ps: only plans of at most this value are of interest; LOAD_INF: all */
    int64_t limit;
    const char *const *name; /* [vertex] as in ip_ask */
    /* a file to which the models, with all plans of at most `limit`, are written, too; if there are several models,
     * x.lp becomes x.1.lp, x.2.lp, ...  NULL: none */
    const char *write;
    bool write_only; /* do not solve the models */
};

struct ip_found {
    /* 0; or -1 after an error, which is reported: the model is too large, there are more than IP_MOST_ORDERS orders, or
     * a file cannot be written */
    int rc;
    /* ps: no plan of this shape takes less, up to the solver's tolerance; at least c->lower */
    int64_t bound;
    bool complete;       /* every model was solved or refuted */
    uint32_t models;     /* number of models */
    uint32_t ncol, nrow; /* largest numbers of columns and of rows among the models */
    /* answers of the solver that did not hold when they were checked */
    uint32_t refused;
    uint64_t nodes;  /* number of nodes of all search trees */
    int64_t grain;   /* ps: every load is a multiple of it */
    const char *why; /* if not complete: the reason */
};

/* Improves *best (value LOAD_INF: no plan yet) to the optimum, if the solver finds it.  Has the solver look for plans
 * that are better by the gap; checks shape, loads and memory of each plan found, by the tables l of c, and takes no
 * plan that fails a check.  With IP_CHAIN each order of the kinds of devices is a model of its own. */
struct ip_found ip_search(const struct problem *c, struct loads *l, const struct ip_how *how,
                          struct problem_plan *best, struct arena *scratch, struct diag *d);

/* Returns the smallest memory, bytes, for which the solver of `how` finds a plan of the shape that fits devices raised
 * to it; 0: the plan found fits as it is; -1: no plan was found.  *proven: whether the solver proved that no smaller
 * memory suffices; if -1 is returned: that no memory suffices. */
int64_t ip_least_memory(const struct problem *c, struct loads *l, const struct ip_how *how,
                        bool *proven, struct arena *scratch, struct diag *d);

/* If *ask is about plans of any shape with a limit, and c is not detailed: returns the reduction of c for that limit
 * (bounds/reduction.h) and replaces the names and `may` in *ask by those of the reduction's vertices; else NULL.
 * Lives in a. */
struct reduction *ip_reduction(const struct problem *c, struct ip_ask *ask, struct clock *clock,
                               struct arena *a);

/* Whether the plan dev[vertex] has the shape of `ask`.  place[device]: the device's place in the chain, for IP_CHAIN
 * only. */
bool ip_has_shape(const struct problem *c, const struct ip_ask *ask, const uint32_t *place,
                  const int32_t *dev);

#endif
