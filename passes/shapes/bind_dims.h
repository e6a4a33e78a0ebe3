/* Binding the names of dimensions to numbers, for planning.
 *
 * Values come from --dim (settings.dims) first.  What is left is guessed: names like "batch", and the
 * name that stands alone in the first dimension of a model input, are 1, all others 128; or less, where
 * sizes would be more than can be counted.  Guesses are appended to results.guessed.  Names that exporters
 * made up for inner values are guessed only if the value's size does not follow from the inputs. */
#ifndef PCC_PASSES_SHAPES_BIND_DIMS_H
#define PCC_PASSES_SHAPES_BIND_DIMS_H

#include "passes/passes.h"

/* Binds the names of the dimensions of the model's inputs. */
void bind_input_dims(struct ctx *x);
/* Binds names of inner values whose size is still open; type: [value] types for planning, made with what is bound so
 * far.  True if there were any. */
bool bind_open_dims(struct ctx *x, const uint32_t *type);
/* The batch size that --dim gives, by a name like "batch", else by one that stands alone in the first dimension of a
 * model input: 0, or -1 and an error (none, several of different sizes, or one above `most`). */
int bind_batch(struct ctx *x, int64_t most, int64_t *batch);
/* Warns of names in --dim that the model does not have. */
void bind_warn_unused(struct ctx *x);
/* Forgets all guesses, so that the next smaller size (of 128, 32, 8, 1) is guessed instead; false: there is no
 * smaller one. */
bool bind_smaller(struct ctx *x);
/* Gives one warning that names all guesses; none without guesses. */
void bind_warn_guesses(struct ctx *x);
/* For the end of an error about sizes: "; guessed were batch=1 ...", empty without guesses.  In
 * x->use.scratch. */
const char *bind_excuse(const struct ctx *x);

/* Values of dimensions under bindings, remembered by expression. */
struct dim_values;
struct dim_values *dim_values_new(const struct ctx *x, struct arena *a);
/* The guess for a dimension of an input that has neither value nor name; first: it is the first dimension. */
int64_t dim_guess(const struct dim_values *k, bool first);
/* The number; -1 if the dimension is unknown or one of its names unbound. */
int64_t dim_value(struct dim_values *k, struct dim d);

#endif
