/* Plans of any shape that fit the memory of the devices, and the memory that would do. */
#ifndef PCC_PASSES_ANY_SHAPE_FIT_MEMORY_H
#define PCC_PASSES_ANY_SHAPE_FIT_MEMORY_H

#include "passes/any_shape/anneal_rounds.h"

/* Looks for a plan of c that fits the memory, however long it takes, with the settings of `like` (but not its
 * moves); writes it to *best, whose value stays LOAD_INF if none is found.  0, or -1 and an error. */
int any_fit(struct ctx *x, const struct problem *c, const struct anneal *like,
            struct problem_plan *best);

/* Whether no plan of c fits for a plain reason: a node can run nowhere or is larger than every device, or all nodes
 * together are larger than all devices.  O(V + pins). */
bool any_hopeless(const struct ctx *x, const struct problem *c);

/* Reports why there is no plan of any shape: a node that no device runs, or memory, with the smallest memory per
 * device that would do, proven, or the smallest found with a lower bound.  Searches until the clock of `like` is
 * out. PASS_INFEASIBLE, or -1. */
int any_infeasible(struct ctx *x, const struct problem *c, const struct anneal *like);

#endif
