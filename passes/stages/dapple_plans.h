/* Runs the plans that DAPPLE's search and other planners propose, and finds the best. */
#ifndef PCC_PASSES_STAGES_DAPPLE_PLANS_H
#define PCC_PASSES_STAGES_DAPPLE_PLANS_H

#include "passes/stages/dapple_search.h"
#include "passes/stages/train.h"

enum { DAPPLE_WORK = 8000000 /* the most tasks of all runs together: a few seconds */ };

/* Returns the rules for dapple_search that follow from t's scene; the other fields are zero. */
struct dapple_rules dapple_rules_of(const struct train *t);

/* Returns the best plan for the settings of the scene, among found->plan and some other plans, in t's scratch arena;
 * its value is INT64_MAX if no plan fits the memory.  After about `work` tasks no more plans are run.  Adds the number
 * of plans that were run to *tried.  O(work), and a search by PipeDream's rules. */
struct stage_layout dapple_best(struct train *t, const struct dapple_found *found, int64_t work,
                                uint32_t *tried);
/* Runs n plans, whose stages have devices of their own, under the settings of the scene, and returns the best one.  If
 * that takes less than `enough` ps, it is first changed a little, as long as it gets faster.  work, tried: as for
 * dapple_best(). */
struct stage_layout dapple_improve(struct train *t, const struct stage_layout *plan, uint32_t n,
                                   int64_t work, int64_t enough, uint32_t *tried);

#endif
