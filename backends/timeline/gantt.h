/* A chart while it is drawn as SVG: declarations that gantt.c, gantt_chain.c and gantt_memory.c share. */
#ifndef PCC_BACKENDS_TIMELINE_GANTT_H
#define PCC_BACKENDS_TIMELINE_GANTT_H

#include "backends/timeline/chart.h"

enum { GANTT_WIDE = 1040 }; /* px: width of the time axis */

/* A chart while it is drawn.  All lengths are in px; y grows downwards. */
struct gantt {
    const struct chart *c;
    struct arena *a;
    FILE *f;
    size_t joined;   /* number of bars that are not drawn alone, but as a part of a joined bar */
    size_t thin;     /* number of bars that are drawn as hairlines */
    int left, right; /* width of the lanes' names, left of the axis; of the texts at its right */
    int bottom;      /* y of the axis */
    /* [lane] number of its first row, counted over all lanes; [nlane] number of all rows */
    uint32_t *row;
    /* top: [lane] y of its upper edge; [nlane] y below the last lane; high: [lane] its height */
    int *top, *high;
    uint32_t ncurve; /* number of curves that are shown */
    int *curve_top;  /* [curve] y of its upper edge */
    int curve_high;  /* height of each curve */
    int64_t peak;    /* bytes: the largest peak of all curves */
    int64_t full;    /* bytes that the height of a curve stands for */
    double narrow;   /* bars with a smaller width may be joined */
    double legend_x; /* where the next word of the legend goes */
    double legend_y; /* y of the legend's current line, counted from its first line */
};

/* A rectangle: x, y is its upper left corner.  All in px. */
struct gantt_box {
    double x, y, width, high;
};

/* Draws a chart as SVG.  curves: with its curves of memory.  inside: for an HTML page, whose style sheet has the
 * classes (put_styles() in gantt.c).  Takes memory from a. */
void gantt_put(FILE *f, const struct chart *c, bool curves, bool inside, struct arena *a);

/* Returns the x of a time, px. */
double gantt_x(const struct gantt *g, int64_t ps);
/* Returns the rectangle of a bar from `at` to `end` (ps) that stands in the same row as the bar `row`. */
struct gantt_box gantt_place(const struct gantt *g, const struct chart_bar *row, int64_t at,
                             int64_t end);
/* Writes text s at x, y.  class: a class of the style in gantt.c. */
void gantt_put_label(struct gantt *g, double x, double y, const char *class, const char *s);
/* Draws the background of a lane or curve, over the whole width; its colour alternates from device to device. */
void gantt_put_stripe(struct gantt *g, int y, int high, uint32_t dev);

/* Draws the critical chain as red lines under its bars; lines less than a pixel apart become one.  O(bars + rows). */
void gantt_put_chain(struct gantt *g);
/* Draws vertical lines where the critical chain goes from row to row; in each pixel of time, one line from the highest
 * to the lowest row that the chain visits.  O(bars). */
void gantt_put_turns(struct gantt *g);

/* Draws the memory of curve k over time; each pixel shows the largest value in its time.  O(points). */
void gantt_put_curve(struct gantt *g, uint32_t k);
/* Whether curve k also shows the memory of its device, as a dashed line: not if that is more than 8 times the largest
 * peak of all curves. */
bool gantt_shows_limit(const struct gantt *g, uint32_t k);
/* Sets g->peak and g->full, the scale that all curves have in common.  O(curves). */
void gantt_set_scale(struct gantt *g);

#endif
