/* A chart while it is drawn as SVG: what gantt.c and those who draw over it share. */
#ifndef PCC_BACKENDS_TIMELINE_GANTT_H
#define PCC_BACKENDS_TIMELINE_GANTT_H

#include "backends/timeline/chart.h"

enum { GANTT_WIDE = 1040 }; /* px of the time axis */

struct gantt {
    const struct chart *c;
    struct arena *a;
    FILE *f;
    size_t joined;             /* bars that are not drawn apart */
    size_t thin;               /* bars that are drawn as hairlines */
    int left, bottom;          /* px: of the lanes' names, the axis */
    int right;                 /* px beside the axis */
    uint32_t *row;             /* [lane + 1] its first row */
    int *top, *high;           /* [lane] px */
    uint32_t ncurve;           /* that are shown */
    int *curve_top;            /* [curve] px */
    int curve_high;            /* px */
    double narrow;             /* px */
    double legend_x, legend_y; /* px: where its next word goes, how far below its first line */
};

struct gantt_box {
    double x, y, width, high; /* px */
};

/* The place of a time, px. */
double gantt_x(const struct gantt *g, int64_t ps);
/* That of a time in the row of a bar. */
struct gantt_box gantt_place(const struct gantt *g, const struct chart_bar *row, int64_t at,
                             int64_t end);
/* Text at a place; class: one of those in the style. */
void gantt_put_label(struct gantt *g, double x, double y, const char *class, const char *s);
/* A row's ground, in one of two colours by its device. */
void gantt_put_stripe(struct gantt *g, int y, int high, uint32_t dev);

/* The critical chain: a red line under its bars; what is less than a pixel apart is one.  O(bars + rows). */
void gantt_put_chain(struct gantt *g);
/* And where it goes from row to row: in each pixel of time one line over all that it goes through.  O(bars). */
void gantt_put_turns(struct gantt *g);

/* The memory of curve k over time: in each pixel its largest value.  O(points). */
void gantt_put_curve(struct gantt *g, uint32_t k);
/* Whether a line shows what the device has: not where that is many times its peak. */
bool gantt_shows_limit(const struct chart_curve *c);

#endif
