/* ip-place for the objective `latency`: solves the integer program of subgraph_model.h and has the judge value its
 * plans. */
#ifndef PCC_PASSES_INTEGER_IP_LATENCY_H
#define PCC_PASSES_INTEGER_IP_LATENCY_H

#include "passes/integer/mip.h"

struct ip_latency {
    uint32_t slots; /* number of subgraphs that an accelerator may have */
    const struct mip_solver *solver;
    int64_t gap;         /* millionths, as in ip_how (ip_search.h) */
    int64_t limit;       /* ps: look only for plans that take this or less; LOAD_INF: for all */
    int64_t moves, seed; /* moves and seed of the annealing that finds the first plan */
    const char *write;   /* a file for the model; NULL: none */
    bool write_only;     /* do not solve the model */
};

/* Leaves a plan in x->results.plan.  Returns 0; -1 and reports an error; or PASS_INFEASIBLE and reports that no plan
 * fits. */
int ip_latency_run(struct ctx *x, const struct ip_latency *how);

#endif
