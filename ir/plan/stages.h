/* Stages of a training plan.  A stage is a set of nodes; it is on one or several devices, each of which has all nodes
 * of the stage.  Micro-batches go forward through the stages in ascending order, and backward in descending order. */
#ifndef PCC_IR_PLAN_STAGES_H
#define PCC_IR_PLAN_STAGES_H

#include "ir/base/csr.h"

/* The stages of a plan and their devices. */
struct stages {
    uint32_t n; /* number of stages */
    /* stage -> devices of the stage, ascending; two stages have the same devices, or none in common */
    struct csr device;
    /* [stage] number of micro-batches that go forward before the first one goes backward, >= 1 */
    uint32_t *ahead;
    /* [stage] 1: the forward pass is run again before the backward pass, to save memory */
    uint8_t *recompute;
};

/* Returns the number of places (sets of devices): stage k is on the devices of stage k % places.  Equal to the number
 * of stages if each stage has its own devices.  O(1) for each place. */
uint32_t stages_places(const struct stages *s);
/* Whether any stage recomputes.  s may be NULL: no stages. */
bool stages_recompute(const struct stages *s);
/* Checks that stages share devices as stages_places() says; devices must be below ndev.  Returns NULL, or the error as
 * text, in a: "device 3 is in stages 0 and 2, which do not share all devices".  O(devices of stages). */
const char *stages_refuse(const struct stages *s, uint32_t ndev, struct arena *a);

#endif
