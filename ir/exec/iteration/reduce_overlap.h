/* AllReduces that begin as soon as a gradient is computed. */
#ifndef PCC_IR_EXEC_REDUCE_OVERLAP_H
#define PCC_IR_EXEC_REDUCE_OVERLAP_H

#include "ir/cluster/servers.h"
#include "ir/dag/scene.h"

/* The gradients of some weights, and when they are ready: ps of work from the start of a stage's backward pass. */
struct reduce_part {
    int64_t ready, bytes;
};

struct reduce_parts {
    struct reduce_part *part; /* ascending by `ready` */
    uint32_t n;
};

/* ps from the end of a backward pass of `backward` ps to the end of the AllReduces of its parts among the devices of
 * the set, one after the other: of all parts that are ready when one ends; never more than of all at the end.  ready
 * counts in `whole` ps for all of backward.
 * O(parts). */
int64_t reduce_exposed(const struct servers *s, const struct device_set *set,
                       const struct reduce_parts *parts, int64_t backward, int64_t whole);

/* The parts of each stage of a model: stage_of[node], dev[node].  Gradients of a profile's layer are ready after its
 * backward node, the gradient of a weight after the last backward node that reads the weight.  Lives in a.  O(nodes +
 * weights log weights). */
struct reduce_parts *reduce_parts_of(const struct scene *s, const int32_t *dev,
                                     const int32_t *stage_of, uint32_t nstage, struct arena *a);

#endif
