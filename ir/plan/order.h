/* Finds the order in which the devices run the nodes of a plan. */
#ifndef PCC_IR_PLAN_ORDER_H
#define PCC_IR_PLAN_ORDER_H

#include "ir/plan/plan.h"

/* Returns the nodes that have a device, in the plan's order: by p->rank, ties by number; without ranks, by number.
 * Writes the number of these nodes to *n.  The array lives in a.  O(nodes log nodes). */
const nid *plan_order(const struct plan *p, const struct module *m, struct arena *a, uint32_t *n);
/* Returns node -> nodes that must run after that node: the placed readers of its outputs, and the next node on the same
 * device in order[0 .. n).  dev: [node] its device.  Lives in a.  O(nodes + pins). */
struct csr plan_followers(const struct scene *s, const int32_t *dev, const nid *order, uint32_t n,
                          struct arena *a);
/* Returns all placed nodes in an order in which they can run: each node after the producers of its inputs, and the
 * nodes of each device in the plan's order.  Writes the number of nodes to *n.  NULL: there is no such order, because
 * devices wait for each other.  Lives in a.  O((nodes + pins) log nodes). */
const nid *plan_walk(const struct scene *s, const struct plan *p, struct arena *a, uint32_t *n);

#endif
