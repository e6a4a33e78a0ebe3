/* Finds plans of any shape that fit the memory of the devices, and the least memory that would suffice. */
#ifndef PCC_PASSES_ANY_SHAPE_FIT_MEMORY_H
#define PCC_PASSES_ANY_SHAPE_FIT_MEMORY_H

#include "passes/any_shape/anneal_rounds.h"

/* Looks for a plan of c that fits the memory, whatever time it takes per sample, with the settings of `like` except
 * the number of moves.  Writes it to *best, whose value stays LOAD_INF if none is found.  Returns 0, or -1 and an
 * error. */
int any_fit(struct ctx *x, const struct problem *c, const struct anneal *like,
            struct problem_plan *best);

/* Returns whether no plan of c fits for a reason that needs no search: a vertex can run nowhere or is larger than
 * every device that may hold it, or all vertices together are larger than all devices.  O(V + pins). */
bool any_hopeless(const struct ctx *x, const struct problem *c);

/* Reports why there is no plan of any shape: a node that no device runs, or memory.  The message gives the least
 * memory per device that suffices, if it is proven, else the least found and a lower bound.  Searches until the clock
 * of `like` is out.  Returns PASS_INFEASIBLE, or -1 and an error. */
int any_infeasible(struct ctx *x, const struct problem *c, const struct anneal *like);

#endif
