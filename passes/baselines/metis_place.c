/* metis-place: parts by METIS (Karypis and Kumar), a graph partitioner, whose k-way partitioning looks for the
 * smallest cut; see partition.c.
 *
 * METIS handles SIGABRT and SIGTERM itself, which is one reason why it runs in a child process.  Cost: that of the
 * library. */
#include "passes/baselines/partition.h"

#if PCC_HAVE_METIS
#include <metis.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS of 32-bit numbers");

/* Partitions g by METIS: fills g->part and returns 0; returns 1 if METIS fails. */
static int partition_graph(struct part_graph *g)
{
    idx_t option[METIS_NOPTIONS], one = 1, cut; /* one: each vertex has one weight */
    METIS_SetDefaultOptions(option);
    option[METIS_OPTION_SEED] = g->seed;
    return METIS_PartGraphKway(&g->n, &one, g->at, g->to, g->weight, NULL, g->arc, &g->nparts, NULL,
                               NULL, option, &cut, g->part) != METIS_OK;
}

/* pass.run: leaves the plan whose parts METIS chose.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int metis_run(struct ctx *x, const void *options)
{
    return partition_run(x, "metis-place", options, partition_graph);
}
#else
/* Reports that pcc was built without METIS; returns -1. */
static int metis_run(struct ctx *x, const void *options)
{
    (void)options;
    return diag_error(x->use.diag, "metis-place: this pcc was built without METIS: install its "
                                   "library (Debian: libmetis-dev) and build again");
}
#endif

const struct planner planner_metis_place = {
    .pass = {"metis-place", "baseline: parts of equal weight by METIS", partition_opts,
             sizeof(struct partition_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = metis_run},
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST};
