/* Making a plan's makespan smaller by changes along its critical chain. */
#ifndef PCC_PASSES_PORTFOLIO_IMPROVE_H
#define PCC_PASSES_PORTFOLIO_IMPROVE_H

#include "ir/base/clock.h"
#include "passes/list/list.h"

struct improving {
    struct ctx *x;
    const struct room *room; /* its groups */
    struct clock *clock;
    int64_t work;   /* nodes that all runs together may have; what is left afterwards */
    uint32_t tried; /* plans that were run */
};

/* *best becomes a better plan, or stays.  Plans of the same lack of memory, or less, are looked for.  Devices and
 * orders live in x->use.mem. */
void improve_plan(struct improving *how, struct listed *best);

#endif
