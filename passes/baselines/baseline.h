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
    struct planner_input p; /* p.level: the level that is placed; p.top: its problem */
    /* the plan: the device of each vertex of p.level, and the loads of devices (device_loads.h) */
    struct loads l;
};

/* The row of the option best-effort, whose value goes to `field` of the struct `type`. */
#define BASELINE_BEST_EFFORT(type, field)                                                          \
    {OPT_BOOL, "best-effort", offsetof(type, field), "false",                                      \
     .help = "leave a plan even if a device needs more memory than it has"}

/* Fills *b, with no vertex on a device yet; data are made in the scratch arena of x.  Parts of *b point to each
 * other, so the struct must not be moved.  Returns 0; PASS_INFEASIBLE and an error if a vertex can run on no device;
 * -1 after another error. */
int baseline_start(struct baseline *b, struct ctx *x, const char *planner, bool best_effort);

/* Takes the plan in b->l, in which every vertex must have a device, as the plan of the context, and gives it a bound
 * that holds for all plans.  argument: how the plan was made, for claim.argument.  Returns 0, or PASS_INFEASIBLE and an
 * error that names a device which needs more memory than it has. */
int baseline_leave(struct baseline *b, const char *argument);

/* Moves vertex v to device d if d may hold v (loads_allows).  Otherwise moves v to one of the hosts that may hold v;
 * if no host may hold v, to one of the accelerators that may.  Of several such devices, v gets the one whose load is
 * least after the move.  O(devices * nets of v). */
void baseline_put(struct baseline *b, uint32_t v, uint32_t d);

/* Returns the numbers of the accelerators of the cluster, of all devices if it has no accelerator, in a; how many
 * there are goes to *n. */
uint32_t *baseline_accelerators(const struct cluster *c, uint32_t *n, struct arena *a);

/* Planners whose plans portfolio-place takes, too. */
extern const struct planner planner_greedy_place, planner_scotch_place, planner_metis_place;

#endif
