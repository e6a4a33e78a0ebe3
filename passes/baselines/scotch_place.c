/* scotch-place: parts by Scotch (Pellegrini), a graph partitioner; see partition.c.
 *
 * Scotch wants functions for its messages: those of libscotcherr would print and exit, these keep quiet, and
 * its return values say that something is wrong. */
#include "passes/baselines/partition.h"

#include <stdlib.h>

#if PCC_HAVE_SCOTCH
#include <stdio.h>

#include <scotch.h>

_Static_assert(sizeof(SCOTCH_Num) == sizeof(int32_t), "Scotch of 32-bit numbers");

#define SHOWN __attribute__((visibility("default"))) /* so that libscotch finds these functions */

SHOWN void SCOTCH_errorProg(const char *const name)
{
    (void)name;
}

SHOWN void SCOTCH_errorPrint(const char *const text, ...)
{
    (void)text;
}

SHOWN void SCOTCH_errorPrintW(const char *const text, ...)
{
    (void)text;
}

static int work(struct part_graph *g)
{
    SCOTCH_Graph graph;
    SCOTCH_Strat strategy;
    /* one thread: one thread: the same answer on every machine */
    setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
    SCOTCH_randomSeed(g->seed);
    SCOTCH_randomReset();
    if (SCOTCH_graphInit(&graph) || SCOTCH_stratInit(&strategy))
        return 1;
    return SCOTCH_graphBuild(&graph, 0, g->n, g->at, g->at + 1, g->weight, NULL, g->narc, g->to,
                             g->arc) ||
           SCOTCH_graphPart(&graph, g->nparts, &strategy, g->part);
}

static int scotch_run(struct ctx *x, const void *options)
{
    return partition_run(x, "scotch-place", options, work);
}
#else
static int scotch_run(struct ctx *x, const void *options)
{
    (void)options;
    return diag_error(x->use.diag, "scotch-place: this pcc was built without Scotch: install its "
                                   "library (Debian: libscotch-dev) and build again");
}
#endif

const struct pass pass_scotch_place = {.name = "scotch-place",
                                       .help = "baseline: parts of equal weight by Scotch",
                                       .opts = partition_opts,
                                       .optsize = sizeof(struct partition_options),
                                       .needs = NEED_COST | NEED_CONTRACT,
                                       .run = scotch_run};
