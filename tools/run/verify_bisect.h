/* The first value at which the parts of a split leave the model. */
#ifndef PCC_TOOLS_RUN_VERIFY_BISECT_H
#define PCC_TOOLS_RUN_VERIFY_BISECT_H

#include "tools/run/same.h"
#include "tools/run/verify.h"

/* What the search has found. */
struct verify_first {
    const char *value; /* NULL: no value differs that both sides make */
    const char *node, *op, *file,
        *device; /* makers of `value`: node of the model, its operator; file of the side, its device; "": none */
    const char *lost; /* operand of the node that the file does not have; NULL: none */
    struct difference how;
    uint32_t equal;          /* number of values before `value` that were equal */
    uint32_t skipped;        /* values that cannot be outputs of a model, or not on this machine */
    uint32_t runs;           /* of both sides */
    struct engine_error why; /* of the first run that failed */
};

/* Runs the model and a side on the inputs in table[value] with values in between as outputs, until the first one, in
 * the order of the model's nodes, differs.  memory: bytes that those of a run may take together.  Writes *out.  Returns
 * 0; or -1 after an error, or after Ctrl-C, without a message. */
int verify_bisect(const struct verifying *v, const struct verify_side *side,
                  struct engine_value *const *table, int64_t memory, struct verify_first *out);

#endif
