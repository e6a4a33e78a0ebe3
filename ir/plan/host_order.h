/* How far a plan's order is from that of the file: what a single host thread would have to put off.
 *
 * A thread that meets the nodes in the order of the file gives each to its device at once, unless that would block the
 * thread: then it has to defer the node, or start another thread for it.  By the order of all, a node can be given
 * away once all nodes before it in the plan have been met; by that of each device, once all before it on its device
 * have been met, and neither the one just before it there nor one that it reads of is still waiting. */
#ifndef PCC_IR_PLAN_HOST_ORDER_H
#define PCC_IR_PLAN_HOST_ORDER_H

#include "ir/plan/parts.h"
#include "ir/plan/plan.h"

struct host_order {
    uint32_t nodes;             /* number of placed nodes */
    uint32_t by_all, by_device; /* numbers of deferred nodes, by both rules */
};

/* Counts deferred nodes.  Without an order in the plan, parts run by number, and so do the nodes of a part.  The order
 * of the file is that of the nodes' numbers: that of its lines, as far as it can be run.  O(nodes log nodes + pins). */
struct host_order host_order_count(const struct scene *s, const struct plan *p,
                                   const struct parts *parts, struct arena *a);

#endif
