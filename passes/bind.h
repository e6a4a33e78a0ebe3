/* Binding the names of dimensions to numbers, for planning.
 *
 * Values come from --dim (ctx->dims) first.  What is left is guessed: names like "batch", and the
 * name that stands alone in the first dimension of a model input, are 1, all others 128.
 * Guesses are appended to ctx->dims, with one warning each.  Names that exporters
 * made up for inner values are guessed only if the value's size does not follow from the inputs. */
#ifndef PCC_PASSES_BIND_H
#define PCC_PASSES_BIND_H

#include "passes/passes.h"

/* Binds the names of the dimensions of the model's inputs. */
void bind_input_dims(struct ctx *x);
/* Binds names of inner values whose size is still open: type is [value], made for planning with what is
 * bound so far.  True if there were any. */
bool bind_open_dims(struct ctx *x, const uint32_t *type);

/* Values of dimensions under bindings, remembered by expression. */
struct dim_values;
struct dim_values *dim_values_new(const struct ctx *x, struct arena *a);
/* For a dimension of an input that has neither value nor name. */
int64_t dim_guess(bool first);
/* The number; -1 if the dimension is unknown or one of its names unbound. */
int64_t dim_value(struct dim_values *k, struct dim d);

#endif
