/* The devices of this machine. */
#ifndef PCC_IR_CLUSTER_DETECT_H
#define PCC_IR_CLUSTER_DETECT_H

#include "ir/base/diag.h"

/* What -d would say of the GPUs that nvidia-smi lists, "2xa100:81920MiB", or, where there is none, of the processor,
 * "1xcpu:64GiB"; with a note that tells it.  NULL and an error: a GPU of no preset.  Lives in a. */
const char *cluster_detect(struct arena *a, struct diag *d);

#endif
