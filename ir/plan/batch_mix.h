/* Finds nodes that take samples of a batch together, so that micro-batches do not add up to the whole batch. */
#ifndef PCC_IR_PLAN_BATCH_MIX_H
#define PCC_IR_PLAN_BATCH_MIX_H

#include "ir/model/module.h"

/* What is known of a training graph. */
struct batch_view {
    const struct module *m;
    const int32_t *axis;   /* [value] the value's axis of the batch; -1: none */
    const uint8_t *varies; /* [value] 1: the value depends on samples */
    /* [value] 1: a gradient follows from the value by sums over samples alone */
    const uint8_t *to_sum;
    const uint8_t *squares; /* [value] 1: more than one axis of the value grows with the batch */
    const uint8_t *counts;  /* [value] 1: the value is, or follows from, the number of samples */
};

/* Returns NULL, or, in a, why node n of the main graph takes samples together or draws random
 * numbers: a clause that names the node and its operator.  O(operands and results of n). */
const char *batch_mix_why(const struct batch_view *v, nid n, struct arena *a);
/* Does the same for node n of a body, but looks only at the operator of n. */
const char *batch_mix_body_why(const struct batch_view *v, nid n, struct arena *a);
/* Returns the node of the main graph that graph g is a body of, at any depth; 0: g is no body of such a node. */
nid batch_body_root(const struct module *m, gid g);

#endif
