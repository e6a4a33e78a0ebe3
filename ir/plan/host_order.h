/* Measures how far a plan's order of nodes is from the order of the model file: counts the nodes that a single host
 * thread would have to defer.
 *
 * The thread goes through the nodes in the order of the file and hands each to its device at once, unless the node's
 * turn in the plan has not come: then it defers the node.  Two rules say when a node's turn comes.  By all: once the
 * thread has met all earlier nodes of the plan.  By device: once the thread has met all earlier nodes of the plan on
 * the same device, and neither the last of these nor a producer of the node's inputs is still deferred. */
#ifndef PCC_IR_PLAN_HOST_ORDER_H
#define PCC_IR_PLAN_HOST_ORDER_H

#include "ir/plan/parts.h"
#include "ir/plan/plan.h"

/* The counts of deferred nodes. */
struct host_order {
    uint32_t nodes;             /* number of placed nodes */
    uint32_t by_all, by_device; /* number of deferred nodes by each rule */
};

/* Counts the deferred nodes of a plan.  If the plan has no order (p->rank), parts run in the order of their numbers,
 * and so do the nodes of a part.  The numbers of nodes follow the order of the file, sorted topologically if need be.
 * O(nodes log nodes + pins). */
struct host_order host_order_count(const struct scene *s, const struct plan *p,
                                   const struct parts *parts, struct arena *a);

#endif
