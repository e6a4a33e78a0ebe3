/* AllReduces that overlap the backward pass: they begin as soon as a gradient is computed. */
#ifndef PCC_IR_EXEC_REDUCE_OVERLAP_H
#define PCC_IR_EXEC_REDUCE_OVERLAP_H

#include "ir/cluster/servers.h"
#include "ir/exec/iteration/update_cost.h"
#include "ir/dag/scene.h"

/* Gradients of some weights of a stage. */
struct reduce_part {
    /* ps of work from the start of the stage's backward pass until these gradients are computed */
    int64_t ready;
    int64_t bytes;
};

/* The gradients of a stage, in the order in which they become ready. */
struct reduce_parts {
    struct reduce_part *part; /* [n] ascending by `ready` */
    uint32_t n;
};

/* Returns the time, ps, from the end of a stage's backward pass to the end of the last AllReduce of
 * its gradients among the devices of the set.  AllReduces run one after the other; each exchanges
 * all parts that are ready when it begins.  If one AllReduce of all gradients after the backward
 * pass takes less, returns the time of that.  backward: ps of the backward pass of one slice of a
 * micro-batch; whole: ps of the pass that reduce_part.ready is about, of the whole stage for the
 * profiled batch: `ready` is scaled by backward / whole.  O(parts). */
int64_t reduce_exposed(const struct servers *s, const struct device_set *set,
                       const struct reduce_parts *parts, int64_t backward, int64_t whole);

/* Returns an array: [stage] its gradients, for a plan with dev[node] and stage_of[node].  In a profile the gradients of
 * a layer are ready after its backward node; in a graph the gradient of a weight is ready after the last backward node
 * that reads the weight.  If updates are apart (update->own is not NULL), a gradient is not ready before the node that
 * makes it has run, either, and nodes of updates do not count as backward nodes.  Lives in a.  O(nodes + weights log
 * weights). */
struct reduce_parts *reduce_parts_of(const struct scene *s, const int32_t *dev,
                                     const int32_t *stage_of, uint32_t nstage,
                                     const struct update_cost *update, struct arena *a);

#endif
