/* Topological orders by critical path (Celeritas, arXiv 2208.00184). */
#ifndef PCC_IR_DAG_CRITICAL_ORDER_H
#define PCC_IR_DAG_CRITICAL_ORDER_H

#include "ir/dag/wdag.h"

/* [vertex] ps: length of the longest path through it, by vertex times and edge costs of class cls (the paper's
 * tlevel + blevel).  O(V + pins). */
int64_t *cpd_levels(const struct wdag *g, uint32_t cls, struct arena *a);
/* CPD-TOPO: position -> vertex.  Depth first; of the vertices that become ready together the one on the
 * longest path goes first, ties to the smaller index.  O(E + V log V). */
uint32_t *cpd_topo(const struct wdag *g, uint32_t cls, struct arena *a);

#endif
