/* Stages: how a plan trains.  A stage is what several devices hold of the model, all of them the same; micro-batches go
 * forward through the stages in their order, and backward the other way. */
#ifndef PCC_IR_PLAN_STAGES_H
#define PCC_IR_PLAN_STAGES_H

#include "ir/base/csr.h"

struct stages {
    uint32_t n;
    struct csr device; /* stage -> its devices, ascending; stages share all of them, or none */
    /* [stage] number of forward passes before the first backward pass, >= 1 */
    uint32_t *ahead;
    uint8_t *recompute; /* [stage] 1: forward is run once more before backward */
};

/* The number of places: stage k is on the devices of stage k % places.  Equal to the number of stages if each stage has
 * its own devices.  O(1) for each place. */
uint32_t stages_places(const struct stages *s);
/* What is wrong with the devices of the stages ("device 3 is in two stages"), of which each is below ndev; lives in a.
 * NULL: they are as struct stages has them.  O(devices of stages). */
const char *stages_refuse(const struct stages *s, uint32_t ndev, struct arena *a);

#endif
