/* Finds places for the boxes of a graph of parts. */
#ifndef PCC_BACKENDS_HTML_GRID_H
#define PCC_BACKENDS_HTML_GRID_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* An arrow from one box to another. */
struct grid_arrow {
    uint32_t from, to; /* boxes, from 0 */
};

/* The place of a box in a grid, all of whose cells have one size. */
struct grid_cell {
    uint32_t column, row; /* from 0, from the left and from the top */
};

struct grid {
    struct grid_cell *cell; /* [box] its place */
    uint32_t columns, rows; /* size of the grid */
    /* in each band of the grid, row k is for the boxes of lane k; false: there are too many lanes, and a box stands in
     * the first free row of its column */
    bool by_lane;
    uint32_t lanes, bands; /* number of lanes (with by_lane, rows of a band); number of bands */
};

/* Returns, in a, the places of n boxes, which must be numbered in an order in which they can run.  arrow[narrow]:
 * the arrows; lane: [box] the lane, 0 .. lanes - 1, of its device.  A box stands in a column to the right of all
 * earlier boxes with arrows to it; with few lanes, each lane has a row of its own.  A graph of many columns is
 * broken into bands below each other, so that it has about as many columns as rows.  No two boxes have the same
 * cell.  O(boxes + arrows + lanes). */
struct grid grid_of(const struct grid_arrow *arrow, uint32_t narrow, const uint32_t *lane,
                    uint32_t n, uint32_t lanes, struct arena *a);

#endif
