/* Planning again from what a run measured: pcc-run SPLIT --replan=ROUNDS -- ARGUMENTS OF PCC. */
#ifndef PCC_TOOLS_RUN_RUN_REPLAN_H
#define PCC_TOOLS_RUN_RUN_REPLAN_H

#include "tools/run/runner.h"

struct replan {
    struct runner
        *runner; /* settings with a number of samples, and an engine; each stretch runs a copy */
    int (*run)(struct runner
                   *r); /* prepares and runs a copy, and prints its report; returns an exit code */
    uint32_t rounds;    /* plans at most, at least 1 */
    char **args;        /* of pcc, checked by plan_args_check() */
    const char *costs;  /* file with times of nodes, which say their shares; NULL: the roofline's */
};

/* Runs all samples, switching to better plans between stretches of them, and leaves the split that was measured best
 * beside the first one, if it is another.  Returns an exit code. */
int replan_run(const struct replan *of);

#endif
