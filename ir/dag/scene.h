/* What a plan is about: the model, what of it is placed, the devices, and how they run it.
 *
 * These travel together through planning, judging, building parts and writing.  Who takes a
 * const struct scene changes nothing of what it points to. */
#ifndef PCC_IR_DAG_SCENE_H
#define PCC_IR_DAG_SCENE_H

#include "ir/cluster/exec_model.h"
#include "ir/dag/placeable.h"

struct scene {
    struct module *m;
    struct place *place;     /* of m; NULL: not made yet */
    struct cluster *cluster; /* NULL: not known */
    struct exec_model model; /* zero: the defaults */
};

#endif
