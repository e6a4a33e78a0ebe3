/* What no pipeline of stages can beat: lower bounds for the time of a training iteration. */
#ifndef PCC_PASSES_STAGES_STAGE_BOUND_H
#define PCC_PASSES_STAGES_STAGE_BOUND_H

#include "passes/stages/train.h"

struct stage_bound {
    int64_t value;     /* ps: no plan that fits takes less; 0: nothing is known */
    const char *why;   /* "..., shared by all devices" */
    const char *proof; /* lines that end in a newline */
};

/* Input of the bound. */
struct stage_bound_question {
    const struct training
        *model; /* any of n, which differ in schedule, size and number of micro-batches only */
    uint32_t n;
    int64_t upper;   /* ps: what a plan takes; INT64_MAX: none is known */
    uint32_t states; /* of the model, at most; 0: as many as are worth the time */
};

/* For all plans of t's layers in stages, on any numbers of its devices.  More than the longest layer takes is known
 * where each stage has an iteration's micro-batches come and go (not so by PipeDream's schedule), of few layers and
 * devices only; of the heaviest path through the model if that has too many states.  Text lives in t->x->use.mem.
 * O(states^2 * devices^2) for each model, some twenty times; O(layers * devices) where that is too much. */
struct stage_bound stage_bound(const struct train *t, const struct stage_bound_question *of);

#endif
