/* What no plan beats that takes one sample alone through the scene's nodes, however it does. */
#ifndef PCC_IR_EXEC_STEP_BOUND_H
#define PCC_IR_EXEC_STEP_BOUND_H

#include "ir/exec/exec_runs.h"

/* No plan ends earlier, ps. */
struct step_bound {
    int64_t
        path; /* the longest way through the nodes, each on the fastest device, without transfers */
    int64_t work; /* all of that, shared by all devices */
};
/* O(nodes + operands). */
struct step_bound step_bound(const struct scene *s, struct arena *a);
/* The larger one, with the reason; shared false: the path alone, since devices may do several things at once.  Texts
 * live in a. */
struct exec_bound step_bound_of(const struct scene *s, bool shared, struct arena *a);

#endif
