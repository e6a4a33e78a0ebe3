/* Turns the stages of PipeDream's planner (hier_stages.h) into a plan with devices. */
#ifndef PCC_PASSES_STAGES_HIER_PLAN_H
#define PCC_PASSES_STAGES_HIER_PLAN_H

#include "passes/stages/hier_stages.h"
#include "passes/stages/train.h"

/* The most states (stage_states.h) that PipeDream's planner uses: HIER_STATES of all states; if there are more,
 * HIER_NARROW of the kind STATES_NARROW. */
enum { HIER_STATES = 3000, HIER_NARROW = 400 };

/* Writes the levels of t's cluster that have more than one machine to r: nlevel, machines, bandwidth. */
void hier_levels(const struct train *t, struct hier_rules *r);
/* Returns the plan with the stages of *r: their layers, by the states s, and their devices.  Lives in the scratch
 * arena. */
struct stage_layout hier_plan(const struct train *t, const struct stage_states *s,
                              const struct hier_result *r);

#endif
