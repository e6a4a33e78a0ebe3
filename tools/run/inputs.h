/* Inputs of a model, for runs: random, or from a file. */
#ifndef PCC_TOOLS_RUN_INPUTS_H
#define PCC_TOOLS_RUN_INPUTS_H

#include "tools/run/engine.h"
#include "tools/run/split_in.h"

#include <stdbool.h>

/* What random integers are. */
enum random_integers { INTEGERS_RANDOM, INTEGERS_ONE, INTEGERS_ZERO }; /* 0 or 1; all 1; all 0 */

/* Where inputs come from. */
struct inputs_of {
    const char *file; /* a .npz whose arrays go before random ones; NULL: none */
    uint64_t seed;    /* of random ones */
    enum random_integers integers;
    bool
        all; /* an input that the file lacks is an error, and --dim sets no sizes; the file may be a folder of
               * input_0.pb, input_1.pb, ..., or the .pb of a single input */
    bool any_sizes; /* inputs of the file have sizes of their own */
    bool whole;     /* inputs that parts have in pieces are made whole, too */
    const bool *
        kept; /* [value] inputs that may lack, then none is made, and may have any sizes; NULL: none */
};

/* Makes the inputs of a split's model, table[value], which the caller frees: those of the file, the others random:
 * floats of a normal distribution, integers as of->integers says, in the sizes that the plan was made for.  What parts
 * have in pieces becomes its pieces.  Returns 0,
 * or -1 after an error; then no input is left. */
int inputs_make(struct engine *e, const struct split *s, const struct inputs_of *of,
                struct engine_value **table, struct arena *a, struct diag *d);

#endif
