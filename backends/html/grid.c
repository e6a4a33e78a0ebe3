/* Places boxes in a grid (grid.h).  The column of a box follows from the longest path that leads to it, as in the
 * first step of layered drawing (Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system
 * structures", 1981).  Its row follows from its device, so that a pipeline looks like a staircase, and the iteration
 * of a training pipeline like a staircase down and up.  Boxes are numbered in an order in which they can run, so
 * one pass over the arrows finds all columns; an arrow that leads back (there are some if boxes stand for devices)
 * does not count. */
#include "backends/html/grid.h"

#include "ir/base/csr.h"

#include <assert.h>

enum {
    MOST_LANES = 16, /* with more lanes, rows are not by lane */
    WIDE = 12        /* a graph of at most this many columns is not broken */
};

/* Sets the columns and the rows of the n cells and the size of the grid, as if there were one band.  next: box -> the
 * boxes that its arrows lead to; lane: as for grid_of(). */
static void place_cells(struct grid *g, const struct csr *next, const uint32_t *lane, uint32_t n,
                        struct arena *a)
{
    /* by_lane: [lane] the first column behind the lane's boxes; else [column] the first row below the column's boxes */
    uint32_t *end = arena_array(a, (size_t)n + g->lanes + 1, sizeof *end);
    for (uint32_t i = 0; i < n; i++) {
        struct grid_cell *c = &g->cell[i];
        if (g->by_lane) {
            c->row = lane[i];
            c->column = c->column > end[c->row] ? c->column : end[c->row];
            end[c->row] = c->column + 1;
        } else {
            c->row = end[c->column]++;
        }
        g->columns = c->column + 1 > g->columns ? c->column + 1 : g->columns;
        g->rows = c->row + 1 > g->rows ? c->row + 1 : g->rows;
        /* boxes behind i must stand to the right of it; to < i: an arrow back */
        for_row (to, *next, i)
            if (to > i && g->cell[to].column <= c->column)
                g->cell[to].column = c->column + 1;
    }
}

/* Breaks a wide grid of n cells into bands below each other, so that it has about as many columns as rows, and sets
 * g->bands. */
static void break_columns(struct grid *g, uint32_t n)
{
    uint64_t wide = WIDE; /* columns of a band */
    /* bands of `wide` columns have rows * columns / wide rows in all, which should be no more than `wide` */
    while (wide < g->columns && wide * wide < (uint64_t)g->columns * g->rows)
        wide++;
    g->bands = g->columns ? (uint32_t)((g->columns + wide - 1) / wide) : 1;
    if (g->bands < 2)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct grid_cell *c = &g->cell[i];
        c->row += (uint32_t)(c->column / wide) * g->rows;
        c->column = (uint32_t)(c->column % wide);
    }
    g->columns = (uint32_t)wide;
    g->rows *= g->bands;
}

struct grid grid_of(const struct grid_arrow *arrow, uint32_t narrow, const uint32_t *lane,
                    uint32_t n, uint32_t lanes, struct arena *a)
{
    struct grid g = {.cell = arena_array(a, (size_t)n + 1, sizeof *g.cell),
                     .by_lane = lanes <= MOST_LANES,
                     .lanes = lanes};
    struct pairs next = pairs_new(a, narrow);
    for (uint32_t i = 0; i < narrow; i++) {
        assert(arrow[i].from < n && arrow[i].to < n);
        pairs_add(&next, arrow[i].from, arrow[i].to);
    }
    struct csr rows = pairs_rows(&next, n);
    place_cells(&g, &rows, lane, n, a);
    if (g.by_lane)
        g.rows = lanes;
    break_columns(&g, n);
    return g;
}
