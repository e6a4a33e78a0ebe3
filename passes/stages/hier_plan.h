/* PipeDream's stages on the devices of a plan. */
#ifndef PCC_PASSES_STAGES_HIER_PLAN_H
#define PCC_PASSES_STAGES_HIER_PLAN_H

#include "passes/stages/hier_stages.h"
#include "passes/stages/train.h"

/* The levels of t's devices that have more than one machine, into r. */
void hier_levels(const struct train *t, struct hier_rules *r);
/* Stages of states as stages of layers, with their devices.  Lives in the scratch arena. */
struct stage_layout hier_plan(const struct train *t, const struct stage_states *s,
                              const struct hier_result *r);

#endif
