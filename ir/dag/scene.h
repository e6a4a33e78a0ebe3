/* What a plan is about: the model, its nodes that need a device, the cluster, and the execution model.
 *
 * Planners, the judge and writers take these four as one struct.  A function with a parameter const struct scene *
 * changes nothing that the scene points to. */
#ifndef PCC_IR_DAG_SCENE_H
#define PCC_IR_DAG_SCENE_H

#include "ir/cluster/exec_model.h"
#include "ir/dag/placeable.h"

struct scene {
    struct module *m;
    struct place *place;     /* result of place_build() for m; NULL: not made yet */
    struct cluster *cluster; /* NULL: not known */
    struct exec_model model; /* all fields 0: the defaults */
};

#endif
