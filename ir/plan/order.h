/* The order of a plan: in which each device runs its nodes. */
#ifndef PCC_IR_PLAN_ORDER_H
#define PCC_IR_PLAN_ORDER_H

#include "ir/plan/plan.h"

/* The nodes with a device, in the order of the plan: by rank, ties by number; by number in a plan without ranks.  Their
 * number in *n; lives in a.  O(nodes log nodes). */
const nid *plan_order(const struct plan *p, const struct module *m, struct arena *a, uint32_t *n);
/* Returns a row of nodes for each node, which must run after it: the consumers of its outputs, and the next node in
 * order[0..n) on the same device.  Lives in a.  O(nodes + pins). */
struct csr plan_followers(const struct scene *s, const int32_t *dev, const nid *order, uint32_t n,
                          struct arena *a);
/* Returns the placed nodes in an order that has each node behind the producers of its inputs, and the nodes of each
 * device in the plan's order; their number goes to *n.  NULL: there is no such order, since devices wait for each
 * other.  Lives in a.  O((nodes + pins) log nodes). */
const nid *plan_walk(const struct scene *s, const struct plan *p, struct arena *a, uint32_t *n);

#endif
