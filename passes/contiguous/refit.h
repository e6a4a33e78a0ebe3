/* Finds plans that fit what devices need at one time, near the plan of a planner that does not fit. */
#ifndef PCC_PASSES_CONTIGUOUS_REFIT_H
#define PCC_PASSES_CONTIGUOUS_REFIT_H

#include "passes/passes.h"

/* A planner that can run again. */
struct planner_again {
    int (*run)(struct ctx *x, const void *options); /* pass.run */
    const void *options;
};

/* Adds to lacks[class] the largest number of bytes that a device of the class lacks under the plan of x.  Returns
 * whether some device lacks memory; *why: a text that says which, in x->use.mem. */
bool find_lacks(struct ctx *x, int64_t *lacks, const char **why);

/* Runs the planner once more, with the memory of each class lowered by lacks[class], without messages, and with the
 * time that *clock leaves if x has a time limit.  Returns what the planner returns. */
int run_with_less(struct ctx *x, const int64_t *lacks, const struct planner_again *p,
                  const struct clock *clock);

/* Gives the plan of x, which fits, a claim with its own value and with bounds from `first`, the claim of a plan that
 * was made with all memory and does not fit.  If `first` is about plans of another kind than the plan of x, takes only
 * its bound of all plans.  Status and argument follow from value and bounds. */
void keep_bounds(struct ctx *x, const struct claim *first);

/* Judges all plans of a small level, or (chain) only contiguous ones, until the time is over.  If a plan fits, makes
 * the quickest one that fits the plan of x and returns true.  Returns false, too, if there are more than MOST_LOOKS
 * plans. */
bool look_at_all(struct ctx *x, bool chain, struct clock *clock);

/* Replaces the plan of x, which is for the time per sample and does not fit, by a contiguous plan that fits and takes
 * little time.  Looks among all contiguous plans of a small model (look_at_all); else moves the cuts of the plan
 * (shift_cuts.h) and of other plans that are made with ever less memory: if `again` is NULL, plans that cut orders of
 * the vertices (interval_dp.h), else plans of that planner.  Returns whether it found such a plan; its bounds are those
 * of the first plan (keep_bounds()).  Else the plan of x stays.  Without `again`, the cluster must have no groups of
 * devices. */
bool fit_contiguous(struct ctx *x, const struct planner_again *again, struct clock *clock);

#endif
