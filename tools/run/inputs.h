/* Inputs of a model, for runs: random, or from a file. */
#ifndef PCC_TOOLS_RUN_INPUTS_H
#define PCC_TOOLS_RUN_INPUTS_H

#include "tools/run/engine.h"
#include "tools/run/split_in.h"

#include <stdbool.h>

/* Values of integers that are made: 0 or 1 at random; all 1; all 0. */
enum random_integers { INTEGERS_RANDOM, INTEGERS_ONE, INTEGERS_ZERO };

/* Where inputs come from. */
struct inputs_of {
    const char *file; /* a .npz with inputs; the others are random; NULL: all are random */
    uint64_t seed;    /* seed of the random inputs */
    enum random_integers integers;
    /* An input that the file lacks is an error.  Errors do not advise --dim, as the caller has no such option.  The
     * file may be a folder of input_0.pb, input_1.pb, ..., or the .pb of a single input. */
    bool all;
    bool any_sizes; /* inputs of the file may have other sizes than the plan has */
    /* an input that parts have in pieces stays in the table as a whole tensor, too */
    bool whole;
    /* [value] true: an input that the file lacks is not made, and one that the file has may have any sizes; NULL: false
     * for all inputs */
    const bool *kept;
};

/* Makes the inputs of a split's model, table[value], which the caller frees.  Inputs of the file are read; the others
 * are random (floats of a normal distribution, integers as of->integers says), in the sizes of the plan.  An input that
 * parts have in pieces is cut into them.  Returns 0; or -1 after an error, and then the table has no input. */
int inputs_make(struct engine *e, const struct split *s, const struct inputs_of *of,
                struct engine_value **table, struct arena *a, struct diag *d);

/* Returns sizes as text, "[1,16]", in a. */
const char *sizes_text(const int64_t *size, uint32_t rank, struct arena *a);

#endif
