/* Where an order of the vertices may be cut. */
#ifndef PCC_IR_DAG_ORDER_CUTS_H
#define PCC_IR_DAG_ORDER_CUTS_H

#include "ir/dag/wdag.h"

/* Marks in cut[1 .. n - 1] the cheapest position of each of about `count` pieces of the order; a cut at p is
 * before order[p].  What crosses a position costs what it costs the dearest class.  Half of a piece's share is
 * work, half number of positions: work[p] is that of the first p vertices (ps).  Other entries of cut
 * are left as they are.  Scratch in a.  O(pins * classes). */
void cuts_sample(const struct wdag *g, const uint32_t *order, const int64_t *work, uint32_t count,
                 uint8_t *cut, struct arena *a);

#endif
