/* The time that a node takes on devices of which facts about their kernels are known (enum kernel_fact,
 * ir/cluster/cluster.h). */
#ifndef PCC_PASSES_COST_KERNELS_H
#define PCC_PASSES_COST_KERNELS_H

#include "ir/cluster/cluster.h"
#include "passes/cost/flops.h"

/* The work of a node, as far as the times of kernels depend on it. */
struct kernel_work {
    bool is_product; /* the work is a matrix product: `product` */
    struct products product;
    int64_t flops, traffic; /* operations; bytes read and written, each once */
    int64_t f32;            /* bytes of `traffic` that are f32 */
    /* number of elements that the node normalises together; 0: the node is no normalisation or softmax */
    int64_t row;
    int passes;    /* number of times that rows are read if they do not stay in a cache */
    int64_t again; /* bytes of the operand that the node normalises */
};

/* Returns the work of node n, which takes these operations and moves these bytes (traffic); operand: bytes of its first
 * operand.  .f32 is 0. */
struct kernel_work kernel_work_of(struct flops *x, nid n, int64_t flops, int64_t traffic,
                                  int64_t operand);
/* kernel_compute() returns the ps that a device of class d computes for the work *w, kernel_memory() the ps that it
 * moves bytes for that work.  e: element type of the node in the model; f32 is computed in the precision of the class.
 * efficiency: the share, in millionths, of peak and bandwidth that counts, in addition to the share that kernels of
 * the class reach. */
int64_t kernel_compute(const struct device_class *d, enum elem e, const struct kernel_work *w,
                       int64_t efficiency);
int64_t kernel_memory(const struct device_class *d, enum elem e, const struct kernel_work *w,
                      int64_t efficiency);

#endif
