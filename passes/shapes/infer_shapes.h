/* The pass infer-shapes, and its functions for later passes: types for planning. */
#ifndef PCC_PASSES_SHAPES_INFER_SHAPES_H
#define PCC_PASSES_SHAPES_INFER_SHAPES_H

#include "passes/functions/inliner.h"

#include <stdio.h>

extern const struct pass pass_infer_shapes, pass_cost;

/* Returns an array, in x->use.scratch: [value] the type (an index in x->scene.m->type) that follows when every name
 * of a dimension is replaced by its value (ctx_dim()).  Runs inference again if the model has names. */
uint32_t *planning_types(struct ctx *x);
/* Returns the types for planning of e->m, the model with its calls replaced: [value of e->m] an index in e->m.type. */
uint32_t *planning_types_inside(struct ctx *x, struct inlined_module *e);

/* Guesses smaller sizes for the dimensions without a given value.  Returns false, and changes nothing, if there are no
 * smaller guesses (bind_smaller()). */
bool guess_smaller(struct ctx *x);

/* Prints a line "domain operator" for each operator that has a rule. */
void list_shape_rules(FILE *out);

#endif
