/* Why there is no contiguous plan. */
#ifndef PCC_PASSES_CONTIGUOUS_INFEASIBLE_H
#define PCC_PASSES_CONTIGUOUS_INFEASIBLE_H

#include "passes/contiguous/interval_dp.h"

/* Reports why there is no contiguous plan for level g: memory (with what needs too much, and the smallest memory per
 * device that would do) or something else; and whether that is proven.  exact: the exact search is used, too.
 * Searches end with the clock of dpl.  Returns PASS_INFEASIBLE. */
int report_infeasible(struct ctx *x, const struct wdag *g, bool exact,
                      const struct interval_how *dpl);

/* The least memory of each device such that all together hold `bytes`, larger devices staying as they are; 0: some
 * device has no limit. */
int64_t average_memory(const struct cluster *c, int64_t bytes);

/* Reports that no plan of a shape ("contiguous plan") fits, with the memory that devices would need: `need` bytes
 * each, which is either proven to be the least, or the least that was found (0: none was); then `least` is a lower
 * bound (0: none is known).  Returns PASS_INFEASIBLE. */
int report_memory(struct ctx *x, const char *shape, int64_t need, bool proven, int64_t least);

#endif
