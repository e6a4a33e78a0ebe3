/* Pairs of a model's input and output that hold state: a value that is kept from one run to the next, such as past
 * and present keys. */
#ifndef PCC_IR_MODEL_STATE_PAIRS_H
#define PCC_IR_MODEL_STATE_PAIRS_H

#include "ir/model/module.h"

/* A state pair that the user gives: the names of a graph input and of the output that is the input of the next run. */
struct state_pair {
    const char *in, *out;
};

/* State pairs of a module. */
struct state_pairs {
    uint32_t n;
    vid *in, *out; /* [n] input and output of each pair */
};

/* Writes the state pairs of m to *p, allocated in a: the npair given pairs, then pairs that are
 * recognised by name and type (past_key_values.N.key -> present.N.key).  Adds nothing to m but
 * strings.  Returns 0; or -1, with an error reported to d, if a given pair has an unknown name, an
 * output that no node makes, or a name that is in an earlier pair.  O(inputs + outputs + strings +
 * pairs * inputs). */
int state_pairs_find(struct module *m, const struct state_pair *pair, uint32_t npair,
                     struct arena *a, struct state_pairs *p, struct diag *d);

#endif
