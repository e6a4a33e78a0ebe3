/* scotch-place: parts by Scotch (Pellegrini), a graph partitioner; see partition.c.
 *
 * Error messages of Scotch (libscotcherr) are not shown, like all output of the child process that it runs in; return
 * values tell that something is wrong.  Cost: that of the library. */
#include "passes/baselines/partition.h"

#if PCC_HAVE_SCOTCH

#include <scotch.h>

_Static_assert(sizeof(SCOTCH_Num) == sizeof(int32_t), "Scotch of 32-bit numbers");

extern char **environ;

/* Partitions g by Scotch: fills g->part and returns 0; returns 1 if Scotch fails.  What Scotch has taken is freed when
 * the child process ends. */
static int partition_graph(struct part_graph *g)
{
    char threads[] = "SCOTCH_PTHREAD_NUMBER=1";
    char *only[] = {threads, NULL};
    SCOTCH_Graph graph;
    SCOTCH_Strat strategy;
    /* one thread, for the same answer on every machine; not by setenv, whose lock another thread may have held when
     * this process was forked */
    environ = only;
    SCOTCH_randomSeed(g->seed);
    SCOTCH_randomReset();
    if (SCOTCH_graphInit(&graph) || SCOTCH_stratInit(&strategy))
        return 1;
    return SCOTCH_graphBuild(&graph, 0, g->n, g->at, g->at + 1, g->weight, NULL, g->narc, g->to,
                             g->arc) ||
           SCOTCH_graphPart(&graph, g->nparts, &strategy, g->part);
}

/* pass.run: leaves the plan whose parts Scotch chose.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int scotch_run(struct ctx *x, const void *options)
{
    return partition_run(x, "scotch-place", options, partition_graph);
}
#else
/* Reports that pcc was built without Scotch; returns -1. */
static int scotch_run(struct ctx *x, const void *options)
{
    (void)options;
    return diag_error(x->use.diag, "scotch-place: this pcc was built without Scotch: install its "
                                   "library (Debian: libscotch-dev) and build again");
}
#endif

const struct planner planner_scotch_place = {
    .pass = {"scotch-place", "baseline: parts of equal weight by Scotch", partition_opts,
             sizeof(struct partition_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = scotch_run},
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST};
