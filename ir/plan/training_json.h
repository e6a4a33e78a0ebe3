/* Reads and writes the member "training" of plans and manifests in JSON: stages and settings of training. */
#ifndef PCC_IR_PLAN_TRAINING_JSON_H
#define PCC_IR_PLAN_TRAINING_JSON_H

#include "ir/plan/assign.h"
#include "ir/plan/plan.h"

#include <jansson.h>

/* Returns the value of "training": the stages s and the scene's settings of training.  p: the plan, to add the nodes
 * of each stage (added only if p->stage_of is set), or NULL.  Returns NULL if s is NULL or memory is short.  a:
 * scratch memory. */
json_t *training_json(const struct scene *scene, const struct stages *s, const struct plan *p,
                      struct arena *a);
/* Whether a setting is a member of "training": a setting that plans have and that is about training only. */
bool training_has(const struct opt *row);
/* Reads the value o of "training" into r->stages and r->said.model.training; does nothing if o is NULL.  Returns 0, or
 * -1 and an error. */
int training_json_read(struct assignment *r, const json_t *o);

#endif
