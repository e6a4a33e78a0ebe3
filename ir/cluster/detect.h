/* Finds the devices of the machine that pcc runs on. */
#ifndef PCC_IR_CLUSTER_DETECT_H
#define PCC_IR_CLUSTER_DETECT_H

#include "ir/base/diag.h"

/* Returns a text for cluster_parse() that describes the GPUs that the program nvidia-smi lists, "2xa100:81920MiB",
 * or, if there are none, the processor, "1xcpu:65536MiB"; in a.  Adds a note with this text to d.  Returns NULL and
 * an error if no preset has the name of a GPU. */
const char *cluster_detect(struct arena *a, struct diag *d);

#endif
