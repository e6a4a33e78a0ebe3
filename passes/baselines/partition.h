/* Runs partitioners of undirected graphs as planners: the common code of scotch-place and metis-place. */
#ifndef PCC_PASSES_BASELINES_PARTITION_H
#define PCC_PASSES_BASELINES_PARTITION_H

#include "passes/baselines/baseline.h"

/* The values of the options in partition_opts. */
struct partition_options {
    int64_t seed;
    bool best_effort;
};
extern const struct opt partition_opts[];

/* A level as METIS and Scotch want it: an undirected graph without loops and double edges, each edge as two arcs.
 * Weights are ns; they are scaled down if they would add up to more than PARTITION_SUM. */
struct part_graph {
    int32_t n, narc; /* numbers of vertices and arcs */
    int32_t nparts;  /* number of parts that are wanted */
    int32_t seed;    /* seed of the library's random numbers */
    /* the neighbours of vertex v are to[at[v]], ..., to[at[v + 1] - 1]; arc i leads to vertex to[i] */
    int32_t *at, *to;
    /* [arc] transfer cost of the values made at one end and used at the other; >= 1 */
    int32_t *arc;
    int32_t *weight; /* [vertex] time on an accelerator; >= 0, not all 0 */
    int32_t *part;   /* [vertex] the answer: its part, 0 .. nparts - 1 */
};
enum { PARTITION_SUM = 1 << 30 /* the largest sum of the weights of vertices, and of arcs, ns */ };

/* Runs the planner with the name `planner`: makes the graph, has work() partition it, and leaves the plan.  work() runs
 * in a child process (child.h); it fills g->part and returns 0, or returns 1 if it failed.  Returns 0, or -1 or
 * PASS_INFEASIBLE after an error. */
int partition_run(struct ctx *x, const char *planner, const struct partition_options *o,
                  int (*work)(struct part_graph *g));

#endif
