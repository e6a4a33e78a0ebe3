/* Computes lower bounds on the time that one sample alone takes, valid for all plans of a scene. */
#ifndef PCC_IR_EXEC_STEP_BOUND_H
#define PCC_IR_EXEC_STEP_BOUND_H

#include "ir/exec/exec_runs.h"

/* Two lower bounds, ps.  No plan takes less than `path`; if each device does one thing at a time, none takes less than
 * `work`. */
struct step_bound {
    /* the longest path through the nodes, each on its fastest device, without transfers */
    int64_t path;
    /* the sum of the times of all nodes, each on its fastest device, divided by the number of devices */
    int64_t work;
};
/* Returns both bounds; memory is taken from a and freed.  O(nodes + operands). */
struct step_bound step_bound(const struct scene *s, struct arena *a);
/* Returns the larger of the two bounds, with the reason; texts live in a.  shared: whether each device does one
 * thing at a time; if false, only the path is a bound. */
struct exec_bound step_bound_of(const struct scene *s, bool shared, struct arena *a);

#endif
