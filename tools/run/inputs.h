/* Inputs of a model, for runs: random, or from a file. */
#ifndef PCC_TOOLS_RUN_INPUTS_H
#define PCC_TOOLS_RUN_INPUTS_H

#include "tools/run/engine.h"
#include "tools/run/split_in.h"

#include <stdbool.h>

/* Where inputs come from. */
struct inputs_of {
    const char *file; /* a .npz whose arrays go before random ones; NULL: none */
    uint64_t seed;    /* of random ones */
    bool all; /* an input that the file lacks is an error, and sizes cannot be set by --dim */
    const bool *
        kept; /* [value] inputs that may lack, then none is made, and may have any sizes; NULL: none */
};

/* Makes the inputs of a split's model, table[value], which the caller frees: those of the file, the others random:
 * floats of a normal distribution, integers 0 or 1, in the sizes that the plan was made for.  Returns 0, or -1 after
 * an error; then no input is left. */
int inputs_make(struct engine *e, const struct split *s, const struct inputs_of *of,
                struct engine_value **table, struct arena *a, struct diag *d);

#endif
