/* Binds names of symbolic dimensions to numbers, for planning.
 *
 * Values from --dim (settings.dims) come first; other names are guessed, as are dimensions of inputs without a name.  A
 * batch size is guessed as 1; a name is one of a batch if it is like "batch", or if it names first dimensions of model
 * inputs and no others.  All other sizes are guessed as 128, or less if the model's times or bytes would add up to
 * CTX_SUM_MAX (passes.h) or more.  Where nodes demand other sizes (demands.h), the guesses are changed to meet the
 * demands.  There is no other rule for sizes that the user does not give; all tools take the guesses from here
 * (--emit=sizes, "dims" and "sizes" of a manifest).  Guesses are appended to results.guessed and results.nameless.
 * Names that exporters made up for values inside the model are guessed only if the value's size does not follow from
 * the inputs. */
#ifndef PCC_PASSES_SHAPES_BIND_DIMS_H
#define PCC_PASSES_SHAPES_BIND_DIMS_H

#include "passes/passes.h"

struct demands;
struct sizes;
/* Whether a dimension of a model input has no size yet.  Sets *nameless to whether such a dimension has no name
 * either. */
bool bind_wants(const struct ctx *x, bool *nameless);
/* Guesses sizes for all dimensions of model inputs that have none.  demands: what nodes demand of sizes; NULL: nothing.
 * Returns the sizes of all names that were met, for bind_open_dims(). */
struct sizes *bind_input_dims(struct ctx *x, const struct demands *demands);
/* Looks at the dimensions of values inside the model whose size is still unknown, and guesses a size for each name
 * there that has none.  k: from bind_input_dims(); type: [value] its type under the bindings so far (planning_types()).
 * Returns whether there was such a name. */
bool bind_open_dims(struct ctx *x, struct sizes *k, const uint32_t *type);
/* The sizes of the dimensions of model inputs, in the form in which struct result gives them to backends. */
struct input_sizes {
    /* [at[number of inputs]] the sizes of the first input's dimensions, then of the second one's, ...; -1: not known */
    int64_t *size;
    uint32_t *at;  /* [inputs + 1] index in `size` of the first dimension of each input */
    uint8_t *open; /* [inputs] 1: the number of dimensions is not known */
};
/* Returns the sizes under the bindings that x has now, in x->use.mem; for a sequence or an optional value, the sizes
 * of its elements. */
struct input_sizes bind_input_sizes(const struct ctx *x);
/* Writes to *batch the batch size that --dim gives: the size of a name like "batch", else of a name that alone is the
 * first dimension of model inputs.  Returns 0, or -1 after an error: there is no such name, or several with different
 * sizes, or the size is above `most`. */
int bind_batch(struct ctx *x, int64_t most, int64_t *batch);
/* Warns of each name in --dim that no dimension of the model has. */
void bind_warn_unused(struct ctx *x);
/* Forgets all guesses, so that the next smaller size (of 128, 32, 8, 1) is guessed instead.  Returns false, and changes
 * nothing, if there is no smaller one, or a smaller one would change nothing. */
bool bind_smaller(struct ctx *x);
/* Gives one warning that lists all guesses, if there are any. */
void bind_warn_guesses(struct ctx *x);
/* Returns the sizes of all names, such as "batch=1 sequence=128", in x->use.scratch; "" if there are none. */
const char *bind_text(const struct ctx *x);
/* Returns a text for the end of an error about sizes, in x->use.scratch: "; guessed were batch=1 ..."; "" if nothing
 * was guessed. */
const char *bind_excuse(const struct ctx *x);

/* Returns the size that --dim, or a table of times, gives to this name; -1: none. */
int64_t bind_said(const struct ctx *x, const char *name);
/* Returns the size of dimensions without a name, from --dim '?=N'; -1: it is not said. */
int64_t bind_nameless(const struct ctx *x);
/* Returns the batch size for which the model is planned; 0: not known.  If some input's first dimension has the name of
 * the batch (batch_name()), that is the size of this name, given by --dim or guessed.  If no first dimension has a
 * name, it is the number that the first dimensions of all inputs with two or more dimensions have in common. */
int64_t bind_planned_batch(const struct ctx *x);

/* Numbers of dimensions under the bindings of their names; each expression is computed once. */
struct dim_values;
/* Returns a table, in a, from which dim_value() takes the numbers of dimensions under the bindings that x has now
 * (ctx_dim()). */
struct dim_values *dim_values_new(const struct ctx *x, struct arena *a);
/* Returns the number of dimension d; -1: it is unknown, or one of its names is not bound. */
int64_t dim_value(struct dim_values *k, struct dim d);

#endif
