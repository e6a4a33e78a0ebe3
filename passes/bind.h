/* Binding the names of dimensions to numbers, for planning.
 *
 * Values come from --dim (ctx->dims) first.  What is left is guessed: names like "batch", and the
 * name that stands alone in the first dimension of a model input, are 1, all others 128
 * (semantics 1.8).  Guesses are appended to ctx->dims, with one warning each. */
#ifndef PCC_PASSES_BIND_H
#define PCC_PASSES_BIND_H

#include "passes/passes.h"

/* Binds every name that occurs in the type of a value. */
void bind_dims(struct ctx *x);

/* Values of dimensions under bindings, remembered by expression. */
struct dim_values;
struct dim_values *dim_values_new(const struct ctx *x, struct arena *a);
/* The number; -1 if the dimension is unknown or one of its names unbound. */
int64_t dim_value(struct dim_values *k, struct dim d);

#endif
