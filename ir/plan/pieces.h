/* The grouping of placed nodes into parts (parts.h makes the parts themselves). */
#ifndef PCC_IR_PLAN_PIECES_H
#define PCC_IR_PLAN_PIECES_H

#include "ir/dag/scene.h"

/* Writes piece[node] for every placed node, numbered in an order that is legal to run, and the
 * device of each piece to *piece_dev (in a); returns the number of pieces. */
uint32_t pieces_build(const struct scene *s, const int32_t *dev, uint32_t *piece,
                      int32_t **piece_dev, struct arena *a);

#endif
