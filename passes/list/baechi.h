/* Baechi's list schedulers as functions, for their planners and for the portfolio: each function empties the placement,
 * puts all vertices on devices, and writes the plan to *best if it is better than *best.  A vertex for which no device
 * has enough memory is put on the device with the fewest bytes in use, and counted in r->lacking.  When the placement's
 * clock is out, placement_fill places the remaining vertices. */
#ifndef PCC_PASSES_LIST_BAECHI_H
#define PCC_PASSES_LIST_BAECHI_H

#include "passes/list/list.h"

/* m-TOPO: puts vertices, breadth first, on one device after the other; each device gets about an equal share of the
 * bytes.  O(V + E + devices). */
void m_topo_try(struct ctx *x, struct placement *r, struct list_schedule *best);
/* m-ETF: always places the vertex that can start first.  Cost: see earliest.h. */
void m_etf_try(struct ctx *x, struct placement *r, struct list_schedule *best);
/* m-SCT: like m-ETF, but devices wait for favourite children, found by linear clustering (favourites.h). */
void m_sct_try(struct ctx *x, struct placement *r, struct list_schedule *best);

#endif
