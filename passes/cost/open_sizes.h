/* Estimates the sizes of values that have dimensions of unknown size, for costs. */
#ifndef PCC_PASSES_COST_OPEN_SIZES_H
#define PCC_PASSES_COST_OPEN_SIZES_H

#include "passes/shapes/infer.h"

/* The sizes of values.  They are found node by node: when a node is looked at, the sizes of its operands are there. */
struct open_sizes {
    struct infer *f; /* the module, with types for planning */
    int64_t *elems;  /* [value] number of elements, estimated where it is unknown */
    /* [value] estimated product of the value's dimensions of unknown size; 1: all sizes are known, or the rank is
     * unknown */
    int64_t *open;
    int64_t each; /* size of a dimension that has no name, from --dim '?=N'; -1: it is estimated */
};

/* Returns the estimated number of elements of v, a result of node n whose size is unknown, and sets s->open of v.
 * O(operands * rank). */
int64_t open_elems(struct open_sizes *s, nid n, vid v);

#endif
