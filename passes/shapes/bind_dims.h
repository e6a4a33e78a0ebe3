/* Binds names of symbolic dimensions to numbers, for planning.
 *
 * Values from --dim (settings.dims) come first; other names are guessed.  A batch size is guessed as 1: a name like
 * "batch", or a name that alone is the first dimension of a model input.  All other names are guessed as 128, or less
 * if the model's times or bytes would add up to CTX_SUM_MAX (passes.h) or more.  Guesses are appended to
 * results.guessed.  Names that exporters made up for values inside the model are guessed only if the value's size
 * does not follow from the inputs. */
#ifndef PCC_PASSES_SHAPES_BIND_DIMS_H
#define PCC_PASSES_SHAPES_BIND_DIMS_H

#include "passes/passes.h"

/* Guesses values for all names in the dimensions of model inputs that have none. */
void bind_input_dims(struct ctx *x);
/* Guesses values for all names without one in the dimensions of other values whose size is still unknown.  type:
 * [value] its type under the bindings so far (planning_types()).  Returns whether there was such a name. */
bool bind_open_dims(struct ctx *x, const uint32_t *type);
/* Writes to *batch the batch size that --dim gives: for a name like "batch", else for a name that alone is the first
 * dimension of a model input.  Returns 0, or -1 after an error: no such name, several names with different sizes, or a
 * size above `most`. */
int bind_batch(struct ctx *x, int64_t most, int64_t *batch);
/* Warns of each name in --dim that no dimension of the model has. */
void bind_warn_unused(struct ctx *x);
/* Forgets all guesses, so that the next smaller size (of 128, 32, 8, 1) is guessed instead.  Returns false, and changes
 * nothing, if there is no smaller one, or a smaller one would change nothing. */
bool bind_smaller(struct ctx *x);
/* Gives one warning that lists all guesses, if there are any. */
void bind_warn_guesses(struct ctx *x);
/* Returns a text for the end of an error about sizes, in x->use.scratch: "; guessed were batch=1 ..."; "" if nothing
 * was guessed. */
const char *bind_excuse(const struct ctx *x);

/* Numbers of dimensions under the bindings of their names; each expression is computed once. */
struct dim_values;
/* Returns the numbers under the bindings that x has now (ctx_dim()), in a. */
struct dim_values *dim_values_new(const struct ctx *x, struct arena *a);
/* Returns the guess for a dimension of a model input that has neither value nor name.  first: it is the first one. */
int64_t dim_guess(const struct dim_values *k, bool first);
/* Returns the number of dimension d; -1: it is unknown, or one of its names is not bound. */
int64_t dim_value(struct dim_values *k, struct dim d);

#endif
