/* Rounds of planning and measuring: pcc-profile MODEL --rounds=N -o split/ -- ARGUMENTS OF PCC. */
#ifndef PCC_TOOLS_RUN_ROUNDS_H
#define PCC_TOOLS_RUN_ROUNDS_H

#include "tools/run/profile_folder.h"

/* The exit code of rounds that Ctrl-C ended before a part of a split was measured. */
enum { ROUNDS_INTERRUPTED = 130 };

/* The input of rounds_run(). */
struct rounds {
    const struct profiling *p;
    const char *model, *output;     /* path of the model; folder that the best split goes to */
    const char *pieces;             /* folder with the model's pieces */
    const struct names *parameters; /* the parameters that are inputs of the pieces */
    const char *cores; /* processors that may be used, as --cores lists them; NULL: any */
    uint32_t most;     /* number of rounds at most, at least 1 */
};

/* Measures the pieces, then plans with `args`, the arguments of pcc, writes the split, measures its parts, plans again,
 * and so on; leaves the split that was measured best.  Prints a table of the rounds.  Returns an exit code: 0; 1 after
 * an error in a round, with the best split so far left; 3: no plan fits; ROUNDS_INTERRUPTED. */
int rounds_run(const struct rounds *r, char **args);

#endif
