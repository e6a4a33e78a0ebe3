/* The order of a plan: in which each device runs its nodes. */
#ifndef PCC_IR_PLAN_ORDER_H
#define PCC_IR_PLAN_ORDER_H

#include "ir/plan/plan.h"

/* The nodes with a device, in the order of the plan: by rank, ties by number; by number in a plan without ranks.  Their
 * number in *n; lives in a.  O(nodes log nodes). */
const nid *plan_order(const struct plan *p, const struct module *m, struct arena *a, uint32_t *n);
/* node -> nodes that must run after it: readers of its nets, and the next node of its device in order[0..n).  Lives in
 * a.  O(nodes + pins). */
struct csr plan_followers(const struct scene *s, const int32_t *dev, const nid *order, uint32_t n,
                          struct arena *a);
/* The placed nodes in an order in which all can be run one after the other, that of the plan on each device, and
 * whatever a node reads made before it.  NULL: there is none, since devices wait for each other.  Their number in *n;
 * lives in a.  O((nodes + pins) log nodes). */
const nid *plan_walk(const struct scene *s, const struct plan *p, struct arena *a, uint32_t *n);

#endif
