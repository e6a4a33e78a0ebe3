/* Chooses positions where an order of the vertices can be cut with few and cheap transfers. */
#ifndef PCC_IR_DAG_ORDER_CUTS_H
#define PCC_IR_DAG_ORDER_CUTS_H

#include "ir/dag/wdag.h"

/* Divides the order into about `count` pieces and sets cut[p] = 1 at the cheapest position p of each piece; other
 * entries of cut do not change.  A cut at p is before order[p]; its cost is the summed cost of the nets with pins on
 * both sides, each on the class where it costs most.  work[p], for p <= n: ps of the first p vertices.  All pieces have
 * about the same mean of their share of the work and their share of the vertices.  count > 0.  Scratch memory is taken
 * from a.  O(pins * classes). */
void cuts_sample(const struct wdag *g, const uint32_t *order, const int64_t *work, uint32_t count,
                 uint8_t *cut, struct arena *a);

#endif
