/* Finds the first value that the parts of a split compute with another result than the model. */
#ifndef PCC_TOOLS_RUN_VERIFY_BISECT_H
#define PCC_TOOLS_RUN_VERIFY_BISECT_H

#include "tools/run/same.h"
#include "tools/run/verify.h"

/* What the search has found. */
struct verify_first {
    /* name of the first value that differs; NULL: no value that both sides make differs */
    const char *value;
    /* what makes `value`: the node of the model and its operator; the file of the side and its device; "": none */
    const char *node, *op, *file, *device;
    /* name of an operand of the node that the file lacks; NULL: it has all operands */
    const char *lost;
    struct difference how;
    uint32_t equal;   /* number of values before `value` that were equal */
    uint32_t skipped; /* number of values with which, as outputs, the files did not run */
    uint32_t runs;    /* number of runs of both sides */
    /* the engine's reason why the first failed run failed; "": none failed */
    struct engine_error why;
};

/* Finds the first value, in the order of the model's nodes, that differs between the model and a side: runs both on the
 * inputs in table[value], with inner values as outputs.  memory: bytes that the values of a run may take together.
 * Writes *out.  Returns 0; or -1 after an error, or after Ctrl-C, without a message. */
int verify_bisect(const struct verifying *v, const struct verify_side *side,
                  struct engine_value *const *table, int64_t memory, struct verify_first *out);

#endif
