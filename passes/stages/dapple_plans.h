/* The best of the plans that DAPPLE's search and others propose, by running them. */
#ifndef PCC_PASSES_STAGES_DAPPLE_PLANS_H
#define PCC_PASSES_STAGES_DAPPLE_PLANS_H

#include "passes/stages/dapple_search.h"
#include "passes/stages/train.h"

enum { DAPPLE_WORK = 8000000 /* tasks of all runs: a few seconds */ };

/* What the search has to know of t's scene; the rest is zero. */
struct dapple_rules dapple_rules_of(const struct train *t);

/* The best plan for the scene's model among those found for it and some others, in t's scratch arena; its value is
 * INT64_MAX if none has room.  After `work` tasks no more plans are run.  Adds to *tried how many were.  O(work), and
 * a search by PipeDream's rules. */
struct stage_layout dapple_best(struct train *t, const struct dapple_found *found, int64_t work,
                                uint32_t *tried);

#endif
