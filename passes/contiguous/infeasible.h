/* Why there is no contiguous plan. */
#ifndef PCC_PASSES_CONTIGUOUS_INFEASIBLE_H
#define PCC_PASSES_CONTIGUOUS_INFEASIBLE_H

#include "passes/contiguous/interval_dp.h"

/* Says why there is no contiguous plan for level g: memory (with what needs too much, and the smallest memory per
 * device that would do), or something else, and whether that is proven; exact: by the exact search, too.  Works
 * until the clock of dpl is out, but for what needs no search.  PASS_INFEASIBLE. */
int report_infeasible(struct ctx *x, const struct wdag *g, bool exact,
                      const struct interval_run *dpl);

/* The smallest memory that bounded devices need to hold `bytes` in all; 0: some device has no
 * bound. */
int64_t average_memory(const struct cluster *c, int64_t bytes);

/* Says that no plan of a shape ("contiguous plan") fits: the devices need `need` bytes each, which is
 * proven, or only the smallest found: then nothing below `least` does (0: nothing is known).  need 0: none was
 * found.  PASS_INFEASIBLE. */
int report_memory(struct ctx *x, const char *shape, int64_t need, bool proven, int64_t least);

#endif
