/* Baechi's placers, for planners that try several: each empties the room, puts all nodes on devices and leaves the plan
 * in *best where that is the better one.  What has no room anywhere goes where least is, and is counted.  When
 * the room's clock is out, the rest goes by placement_fill. */
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
