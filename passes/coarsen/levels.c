/* levels: makes a table of the figures that list schedulers use.  For each vertex of the top level: the earliest start
 * if every edge is a transfer (tlevel), and the longest path that begins there (blevel); a critical path; and for the
 * top level and all levels below it (so before and after fusing) the transfers over the computing (CCR).
 *
 * The pass changes no level.  The program prints the table, and the writer `levels` writes it; a later run of the
 * pass replaces it.  Source: Celeritas (arXiv 2208.00184), Eq 1 to 3.  O(V + pins) of each level. */
#include "passes/passes.h"

#include "ir/dag/level_table.h"

/* pass.run: makes results.table, the figures of the top level. */
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
