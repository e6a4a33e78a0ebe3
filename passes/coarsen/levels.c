/* levels: what list schedulers go by, of the level that stands at the top: when each vertex can start at the earliest
 * if every edge is a transfer (tlevel), what is left from there (blevel), a critical path, and how much transfers weigh
 * beside computing (CCR), there and in the levels below, so before and after fusing.
 *
 * It changes nothing.  The table goes to the program, which prints it, and to the writer `levels`; a later run of the
 * pass replaces it.  Source: Celeritas (arXiv 2208.00184), Eq 1 to 3.  O(V + pins) of each level. */
#include "passes/passes.h"

#include "ir/dag/level_table.h"

static int levels_run(struct ctx *x, const void *options)
{
    (void)options;
    if (ctx_base(x))
        return -1;
    x->results.table = level_table_make(x->levels.top, x->scene.m,
                                        cluster_main_class(x->scene.cluster), x->use.mem);
    return 0;
}

const struct pass pass_levels = {
    "levels", "print tlevel, blevel and their sum for each vertex, a critical path, and CCR",
    .needs = NEED_COST, .run = levels_run};
