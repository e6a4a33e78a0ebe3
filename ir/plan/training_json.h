/* How a plan trains, as JSON: what plans and manifests have under "training". */
#ifndef PCC_IR_PLAN_TRAINING_JSON_H
#define PCC_IR_PLAN_TRAINING_JSON_H

#include "ir/plan/assign.h"
#include "ir/plan/plan.h"

#include <jansson.h>

/* Stages, and what their plan was made for; NULL: no stages, or no memory.  "runnable": slices are whole samples. */
/* p: with the nodes of each stage where p tells them; NULL: without. */
json_t *training_json(const struct scene *scene, const struct stages *s, const struct plan *p,
                      struct arena *a);
/* The same from a file, into r->stages and r->said.model.training; NULL: it gives none.  0, or -1 and an error. */
int training_json_read(struct assignment *r, const json_t *o);

#endif
