/* Scenes of tests under an execution model of the table. */
#ifndef PCC_TESTS_SUPPORT_AIM_H
#define PCC_TESTS_SUPPORT_AIM_H

#include "tools/lib/exec/kinds.h"

#include <assert.h>

/* Gives the model the objective of that name. */
static inline void aim_at(struct exec_model *m, const char *objective)
{
    m->kinds = exec_kinds;
    int number = exec_objective(m, objective);
    assert(number >= 0);
    m->objective = (uint32_t)number;
}

#endif
