/* Baechi's placers, for planners that try several: each empties the placement, puts all nodes on devices and leaves
 * the plan in *best if the plan is better.  Vertices without room on any device go to the device with the least bytes,
 * and are counted.  When the placement's clock is out, placement_fill places the rest. */
#ifndef PCC_PASSES_LIST_BAECHI_H
#define PCC_PASSES_LIST_BAECHI_H

#include "passes/list/list.h"

/* Breadth first, one device after the other, each with about an equal share of the bytes.  O(V + E + D). */
void m_topo_try(struct ctx *x, struct placement *r, struct list_schedule *best);
/* Earliest task first (earliest.h, also for the cost). */
void m_etf_try(struct ctx *x, struct placement *r, struct list_schedule *best);
/* The same with favourite children by linear clustering (favourites.h), for which devices wait. */
void m_sct_try(struct ctx *x, struct placement *r, struct list_schedule *best);

#endif
