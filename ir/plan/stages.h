/* Stages: how a plan trains.  A stage is what several devices hold of the model, all of them the same; micro-batches go
 * forward through the stages in their order, and backward the other way. */
#ifndef PCC_IR_PLAN_STAGES_H
#define PCC_IR_PLAN_STAGES_H

#include "ir/base/csr.h"

struct stages {
    uint32_t n;
    struct csr device;  /* stage -> its devices, ascending; none is in two */
    uint32_t *ahead;    /* [stage] forward passes before its first backward one, >= 1 */
    uint8_t *recompute; /* [stage] 1: forward is run once more before backward */
};

#endif
