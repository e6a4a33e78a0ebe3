/* Plans again from what a run measured: pcc-run SPLIT --replan=ROUNDS -- ARGUMENTS OF PCC. */
#ifndef PCC_TOOLS_RUN_RUN_REPLAN_H
#define PCC_TOOLS_RUN_RUN_REPLAN_H

#include "tools/run/runner.h"

/* The input of replan_run(). */
struct replan {
    /* settings with a number of samples, and an engine; each stretch runs a copy of this runner */
    struct runner *runner;
    /* prepares and runs a copy, and prints its report; returns an exit code */
    int (*run)(struct runner *r);
    uint32_t rounds; /* the most plans that are made, at least 1 */
    char **args;     /* arguments of pcc, checked by plan_args_check() */
    /* file with times of nodes, by which the measured time of a part is shared among its nodes; NULL: their times by
     * the roofline share it */
    const char *costs;
};

/* Runs all samples, switching to better plans between stretches of them, and leaves the split that was measured best
 * beside the first one, if it is another.  Returns an exit code. */
int replan_run(const struct replan *of);

#endif
