/* Memory of devices as Baechi-PyTorch's paper counts it. */
#ifndef PCC_IR_EXEC_REPLICAS_PAPER_MEMORY_H
#define PCC_IR_EXEC_REPLICAS_PAPER_MEMORY_H

#include "ir/plan/plan.h"

/* Bytes that each device needs at most, [dev], for a plan whose nodes are where they can run; lasting[dev]: of the
 * weights, in a profile of its nodes.  Lives in a.  O(nodes + pins). */
int64_t *paper_memory(const struct scene *s, const struct plan *p, const int64_t *lasting,
                      struct arena *a);

#endif
