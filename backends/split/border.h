/* Inputs and outputs as the manifest lists them: a tensor that devices keep in pieces is one row, as in the model. */
#ifndef PCC_BACKENDS_SPLIT_BORDER_H
#define PCC_BACKENDS_SPLIT_BORDER_H

#include "backends/split/split.h"

/* A row of "inputs" or "outputs". */
struct border_row {
    const char *name;
    uint32_t type; /* index in module.type */
    uint32_t at;   /* place of the value, or of its first piece, in the list of the main graph */
    uint32_t axis; /* ways > 1: the axis that is cut */
    uint32_t ways; /* number of pieces; 1: the value is whole */
    int64_t bytes; /* bytes of the whole tensor, for the sizes of the plan */
};

/* Returns the rows of the model's inputs (without weights that are listed as inputs) or of its outputs, in the order of
 * the model, in a; writes their number to *n. */
struct border_row *border_rows(const struct split *s, bool inputs, uint32_t *n, struct arena *a);

#endif
