/* Partitioners of undirected graphs as planners: scotch-place and metis-place. */
#ifndef PCC_PASSES_BASELINES_PARTITION_H
#define PCC_PASSES_BASELINES_PARTITION_H

#include "passes/baselines/baseline.h"

struct partition_options {
    int64_t seed;
    bool best_effort;
};
extern const struct opt partition_opts[];

/* A level as these libraries want it: symmetric, no loops, no double edges.  Weights are ns, scaled down
 * where all of them would add up to more than PARTITION_SUM. */
struct part_graph {
    int32_t n, narc, nparts, seed;
    int32_t *at, *to; /* vertex -> arcs at[v] .. at[v + 1) -> neighbours */
    /* [arc] transfer cost of the values made at one end and used at the other; >= 1 */
    int32_t *arc;
    int32_t *weight; /* [vertex] time on an accelerator; >= 0, not all 0 */
    int32_t *part;   /* [vertex] for the answer: 0 .. nparts - 1 */
};
enum { PARTITION_SUM = 1 << 30 };

/* Runs a planner: `work` partitions the graph in a child process (child.h), fills part and returns 0. */
int partition_run(struct ctx *x, const char *planner, const struct partition_options *o,
                  int (*work)(struct part_graph *g));

#endif
