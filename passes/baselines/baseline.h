/* The common code of the baselines one-place, greedy-place, local-place, scotch-place and metis-place: simple
 * planners of the placement paper, for comparisons with other plans. */
#ifndef PCC_PASSES_BASELINES_BASELINE_H
#define PCC_PASSES_BASELINES_BASELINE_H

#include "passes/problem/device_loads.h"
#include "passes/problem/placing.h"

/* A baseline at work.  The plan is in l while it is made. */
struct baseline {
    struct ctx *x;
    const char *planner; /* name of the planner, for messages */
    /* whether the planner leaves a plan that needs more memory than a device has */
    bool best_effort;
    /* p.level: the level whose vertices are placed; p.top: the problem of that level */
    struct planner_input p;
    /* the plan: the device of each vertex of p.level, and the loads of devices (device_loads.h) */
    struct loads l;
};

/* The row of the option best-effort, whose value goes to `field` of the struct `type`. */
#define BASELINE_BEST_EFFORT(type, field)                                                          \
    {OPT_BOOL, "best-effort", offsetof(type, field), "false",                                      \
     .help = "leave a plan even if a device needs more memory than it has"}

/* Fills *b; no vertex has a device yet.  Its data are in the scratch arena of x.  Fields of *b point to each other,
 * so *b must not be copied.  Returns 0; PASS_INFEASIBLE and an error if a vertex can run on no device; -1 after
 * another error. */
int baseline_start(struct baseline *b, struct ctx *x, const char *planner, bool best_effort);

/* Takes the plan in b->l, in which every vertex must have a device, as the plan of the context, and gives it a bound
 * that holds for all plans.  argument: how the plan was made, for claim.argument.  Returns 0, or PASS_INFEASIBLE and an
 * error that names a device which needs more memory than it has. */
int baseline_leave(struct baseline *b, const char *argument);

/* Moves vertex v to device d if d may hold v (loads_allows).  If d may not, moves v to a host that may hold it; if
 * no host may, to an accelerator that may hold it.  Of several hosts, or several accelerators, takes the one whose
 * load is least after the move.  O(devices * nets of v). */
void baseline_put(struct baseline *b, uint32_t v, uint32_t d);

/* Returns, in a, the numbers of the cluster's accelerators; if it has none, of all its devices.  Writes the number
 * of devices returned to *n. */
uint32_t *baseline_accelerators(const struct cluster *c, uint32_t *n, struct arena *a);

/* Planners whose plans portfolio-place uses, too. */
extern const struct planner planner_greedy_place, planner_scotch_place, planner_metis_place;

#endif
