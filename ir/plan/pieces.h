/* Groups placed nodes into pieces; parts.h makes a part of each piece. */
#ifndef PCC_IR_PLAN_PIECES_H
#define PCC_IR_PLAN_PIECES_H

#include "ir/dag/scene.h"

/* Writes the piece of each placed node to piece[node]. dev: [node] device of the node; all nodes of a piece have the
 * same device. Pieces are numbered in an order in which they can run. Writes to *piece_dev an array, [piece] device of
 * the piece, which lives in a, and returns the number of pieces. Methods and cost: see pieces.c. */
uint32_t pieces_build(const struct scene *s, const int32_t *dev, uint32_t *piece,
                      int32_t **piece_dev, struct arena *a);

#endif
