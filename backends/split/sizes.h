/* The sizes that a plan is for, as members of JSON: in a manifest, and alone (--emit=sizes). */
#ifndef PCC_BACKENDS_SPLIT_SIZES_H
#define PCC_BACKENDS_SPLIT_SIZES_H

#include "backends/backends.h"
#include "ir/base/json_out.h"

/* Writes "dims": the size of each name in the dimensions of inputs, and the size of each expression of names there. */
void dims_put(struct json_out *j, const struct result *r, struct arena *a);
/* Writes the member "sizes" about model input number `input`: the size of each dimension, null where it is not known;
 * null instead of the list if the number of dimensions is not known.  Writes nothing if r has no sizes.  The size of
 * dimension `axis` is multiplied by `times`: the input is one of that many pieces of the tensor whose sizes are
 * written; 1: the input is the tensor itself. */
void sizes_put(struct json_out *j, const struct result *r, uint32_t input, uint32_t axis,
               uint32_t times);

#endif
