/* Plans of any shape that fit the memory of the devices, and the memory that would do. */
#ifndef PCC_PASSES_ANY_SHAPE_FIT_MEMORY_H
#define PCC_PASSES_ANY_SHAPE_FIT_MEMORY_H

#include "passes/any_shape/anneal_rounds.h"

/* Looks for a plan of c that fits, whatever it takes, with the settings of `like` but for its moves; best gets it
 * with its value, or keeps LOAD_INF.  0, or -1 and an error. */
int any_fit(struct ctx *x, const struct problem *c, const struct anneal *like,
            struct problem_plan *best);

/* Whether it is plain that no plan of c fits: some node can run nowhere or is too large, or all of them are.
 * O(V + pins). */
bool any_hopeless(const struct ctx *x, const struct problem *c);

/* Says why there is no plan of any shape: a node that no device runs, or memory, with the smallest memory per
 * device that would do: proven to be, or the smallest found and a bound.  PASS_INFEASIBLE, or -1.  Works until
 * the clock of `like` is out. */
int any_infeasible(struct ctx *x, const struct problem *c, const struct anneal *like);

#endif
