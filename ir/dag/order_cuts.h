/* Cheap positions to cut an order of the vertices at. */
#ifndef PCC_IR_DAG_ORDER_CUTS_H
#define PCC_IR_DAG_ORDER_CUTS_H

#include "ir/dag/wdag.h"

/* Divides the order into about `count` pieces and sets cut[p] = 1 at the cheapest position p of each (a cut at p is
 * before order[p]): where the nets that cross cost least, on the class where they cost most.  Pieces are equal in
 * the mean of work and number of vertices; work[p]: ps of the first p vertices.  Other entries of cut are left as
 * they are.  Scratch in a.  O(pins * classes). */
void cuts_sample(const struct wdag *g, const uint32_t *order, const int64_t *work, uint32_t count,
                 uint8_t *cut, struct arena *a);

#endif
