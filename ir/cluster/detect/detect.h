/* Finds the devices of the machine that pcc runs on: -d detect. */
#ifndef PCC_IR_CLUSTER_DETECT_DETECT_H
#define PCC_IR_CLUSTER_DETECT_DETECT_H

#include "ir/base/diag.h"
#include "ir/cluster/cluster.h"

/* Makes *c the GPUs of this machine and its processor, which it measures; each class has a note on where its figures
 * come from.  Adds notes on what was found and on what cannot be read to d, and with d->verbose the cluster as a file
 * on one line.  Takes 0.2 s, and at most 2 s more for each run of a maker's program that hangs. */
void cluster_detect(struct cluster *c, struct arena *a, struct diag *d);

#endif
