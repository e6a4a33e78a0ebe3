/* What a node takes on devices whose kernels are known (enum kernel_fact, ir/cluster/cluster.h). */
#ifndef PCC_PASSES_COST_KERNELS_H
#define PCC_PASSES_COST_KERNELS_H

#include "ir/cluster/cluster.h"
#include "passes/cost/flops.h"

/* The work of a node, as kernels see it. */
struct kernel_work {
    bool is_product; /* `product` says which */
    struct products product;
    int64_t flops, traffic; /* operations; bytes read and written, each once */
    int64_t f32;            /* bytes of `traffic` that are f32 */
    int64_t row;            /* elements that the node normalises together; 0: no norm or softmax */
    int passes;             /* times that rows are read which do not stay in a cache */
    int64_t again;          /* bytes of the operand that the node normalises */
};

/* Returns the work of node n, which takes these operations and moves these bytes; .f32 is 0. */
struct kernel_work kernel_work_of(struct flops *x, nid n, int64_t flops, int64_t traffic,
                                  int64_t operand);
/* Returns the ps that a device of class d computes for this work of a node that the model has in type e, and moves
 * bytes for it; f32 is computed in the precision of the class.  Of peak and bandwidth, and what kernels reach of them,
 * `efficiency` millionths count. */
int64_t kernel_compute(const struct device_class *d, enum elem e, const struct kernel_work *w,
                       int64_t efficiency);
int64_t kernel_memory(const struct device_class *d, enum elem e, const struct kernel_work *w,
                      int64_t efficiency);

#endif
