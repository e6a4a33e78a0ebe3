/* Finds lower bounds for the time of a training iteration by a pipeline of stages. */
#ifndef PCC_PASSES_STAGES_STAGE_BOUND_H
#define PCC_PASSES_STAGES_STAGE_BOUND_H

#include "passes/stages/train.h"

/* Result: a lower bound. */
struct stage_bound {
    int64_t value; /* ps: no plan that fits the memory takes less; 0: no bound is known */
    /* why the bound holds, such as "the longest layer, on the best number of devices" */
    const char *why;
    const char *proof; /* the reasons for users: lines that end in a newline; "": none */
};

/* Input of the bound. */
struct stage_bound_question {
    /* [n] settings that plans may have; they differ in schedule, size and number of micro-batches only */
    const struct training *model;
    uint32_t n;
    int64_t upper;   /* ps: the time of a known plan; INT64_MAX: none is known */
    uint32_t states; /* the most states of the model (stage_states.h) that are used; 0: 400 */
};

/* Returns a bound for all plans that put t's layers in stages, on any numbers of its devices, under any of the
 * settings.  It is the largest of three (README.md): all work shared by all devices, the longest layer, and a search of
 * all cuts into stages.  The search is left out for PipeDream's schedule, and if there are too many states and devices;
 * with too many states it is done for the heaviest path through the model instead.  Texts live in t->x->use.mem.
 * O(states^2 * devices^2) for each of the settings, some twenty times; O(layers * devices) without the search. */
struct stage_bound stage_bound(const struct train *t, const struct stage_bound_question *of);
/* Returns t's scene with those settings of the question under which all work is least: fewer micro-batches pay the
 * overhead of operators less often.  O(settings * nodes). */
struct scene stage_bound_least_work(const struct train *t, const struct stage_bound_question *of);

#endif
