/* Computes the memory that a plan needs on each device, as Baechi-PyTorch's paper counts it. */
#ifndef PCC_IR_EXEC_REPLICAS_PAPER_MEMORY_H
#define PCC_IR_EXEC_REPLICAS_PAPER_MEMORY_H

#include "ir/plan/plan.h"

/* Returns an array: [dev] the bytes that the device needs, for a plan whose nodes are on devices
 * that can run them. lasting[dev]: bytes that stay all the time, such as weights; in a profile also
 * the bytes of the device's nodes (costs.own).  The result lives in a.  O(nodes + pins). */
int64_t *paper_memory(const struct scene *s, const struct plan *p, const int64_t *lasting,
                      struct arena *a);

#endif
