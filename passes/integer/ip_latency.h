/* ip-place for the objective `latency`: subgraph_model.h solved, its plans judged. */
#ifndef PCC_PASSES_INTEGER_IP_LATENCY_H
#define PCC_PASSES_INTEGER_IP_LATENCY_H

#include "passes/integer/mip.h"

struct ip_latency {
    uint32_t slots; /* subgraphs that an accelerator may have */
    const struct mip_solver *solver;
    int64_t gap;         /* millionths, as in ip_how */
    int64_t limit;       /* ps: look only for plans of at most that; LOAD_INF: for all */
    int64_t moves, seed; /* of the annealing that finds a plan first */
    const char *write;   /* a file for the model; NULL: none */
    bool write_only;
};

/* Leaves a plan as planners do: 0, -1, or PASS_INFEASIBLE. */
int ip_latency_run(struct ctx *x, const struct ip_latency *how);

#endif
