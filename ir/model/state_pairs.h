/* State: inputs and outputs of a model that hold what is kept from one run to the next, such as past and present
 * keys. */
#ifndef PCC_IR_MODEL_STATE_PAIRS_H
#define PCC_IR_MODEL_STATE_PAIRS_H

#include "ir/model/module.h"

/* A pair of graph input and output that holds state between runs (past and present keys), by names. */
struct state_pair {
    const char *in, *out;
};

struct state_pairs {
    uint32_t n;
    vid *in, *out;
};

/* Finds pairs of past and present: the given pairs, then pairs recognised by name and type (past_key_values.N.key ->
 * present.N.key).  *p lives in a; m grows by strings only.  An unknown name, or a name in two pairs: -1 and an
 * error.  O(inputs + outputs + strings + pairs * inputs). */
int state_pairs_find(struct module *m, const struct state_pair *pair, uint32_t npair,
                     struct arena *a, struct state_pairs *p, struct diag *d);

#endif
