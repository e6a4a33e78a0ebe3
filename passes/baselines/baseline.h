/* What the simple planners have in common (one-place, greedy-place, local-place, pipedream-place,
 * scotch-place, metis-place): the baselines of the placement paper, which any plan can be held against. */
#ifndef PCC_PASSES_BASELINES_BASELINE_H
#define PCC_PASSES_BASELINES_BASELINE_H

#include "passes/problem/device_loads.h"
#include "passes/problem/placing.h"

struct baseline {
    struct ctx *x;
    const char *planner;
    bool best_effort;       /* a plan that needs more memory than there is will do */
    struct planner_input p; /* p.level: the level that is placed; p.top: its problem */
    struct loads l;         /* of p.top: the plan */
};

/* The option that all of them have, at the field of a struct. */
#define BASELINE_BEST_EFFORT(type, field)                                                          \
    {OPT_BOOL, "best-effort", offsetof(type, field), "false",                                      \
     .help = "leave a plan even if a device needs more memory than it has"}

/* Makes levels, problems and empty loads in the scratch arena; b must stay where it is.  0, or an error:
 * PASS_INFEASIBLE if some vertex can run on no device. */
int baseline_start(struct baseline *b, struct ctx *x, const char *planner, bool best_effort);

/* Leaves the plan of b->l, in which every vertex has a device, in the context, with the bound of the whole
 * graph.  argument: what was done.  0, or PASS_INFEASIBLE and an error that names the device that needs more
 * memory than it has. */
int baseline_leave(struct baseline *b, const char *argument);

/* Vertex v moves to device d, or, if it cannot run there, to the device that it is pinned to, a host, or any
 * other: the one with the least load then.  O(devices * nets of v). */
void baseline_put(struct baseline *b, uint32_t v, uint32_t d);

/* The accelerators of the cluster, all devices if it has none, in a; their number in *n. */
uint32_t *baseline_accelerators(const struct cluster *c, uint32_t *n, struct arena *a);

/* They give plans to portfolio-place, too. */
extern const struct planner planner_greedy_place, planner_scotch_place, planner_metis_place;

#endif
