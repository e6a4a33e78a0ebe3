/* Types for planning: the functions of infer-shapes for later passes. */
#ifndef PCC_PASSES_SHAPES_INFER_SHAPES_H
#define PCC_PASSES_SHAPES_INFER_SHAPES_H

#include "passes/functions/inliner.h"

#include <stdio.h>

extern const struct pass pass_infer_shapes, pass_cost;

/* [value] index into m->type: the type with every name replaced by its value under the dimensions of x, and all
 * that follows from that.  Lives in x->use.scratch.  Runs inference again if the model has names. */
uint32_t *planning_types(struct ctx *x);
/* The same for x->m with its calls replaced: [value of e->m] indices into e->m.type. */
uint32_t *planning_types_inside(struct ctx *x, struct inlined_module *e);

/* Takes smaller guesses for the dimensions without a given value; false: there are no smaller ones (bind_smaller). */
bool guess_smaller(struct ctx *x);

/* A line "domain operator" for each operator that has a rule. */
void list_shape_rules(FILE *out);

#endif
