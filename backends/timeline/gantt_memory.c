/* Draws memory over time in a chart (gantt.h): a row for each curve, with a filled area.  The height of a row stands
 * for the same number of bytes in all rows, so that devices can be compared: the largest peak of all curves, or, if it
 * is more, the largest memory of a device whose memory is not far larger than that peak. */
#include "backends/timeline/gantt.h"

enum { NEAR = 8 }; /* a device's memory is drawn if it is at most 8 times the largest peak */

bool gantt_shows_limit(const struct gantt *g, uint32_t k)
{
    int64_t limit = g->c->curve[k].limit;
    return limit >= 0 && limit / NEAR <= g->peak;
}

void gantt_set_scale(struct gantt *g)
{
    for (uint32_t k = 0; k < g->ncurve; k++)
        g->peak = larger(g->c->curve[k].most, g->peak);
    g->full = g->peak;
    for (uint32_t k = 0; k < g->ncurve; k++)
        if (gantt_shows_limit(g, k))
            g->full = larger(g->c->curve[k].limit, g->full);
}

/* Returns an array: [pixel of time, 0 .. GANTT_WIDE - 1] the most bytes of the curve in that time. */
static int64_t *sample_curve(const struct gantt *g, const struct memory_curve *m)
{
    int64_t *most = arena_array(g->a, GANTT_WIDE, sizeof *most);
    for (uint32_t i = 0; i < m->n; i++) {
        int64_t end = i + 1 < m->n ? m->point[i + 1].at : g->c->end;
        int from = (int)(gantt_x(g, m->point[i].at) - g->left),
            to = (int)(gantt_x(g, end) - g->left);
        for (int k = from; k <= to && k < GANTT_WIDE; k++)
            most[k] = larger(m->point[i].bytes, most[k]);
    }
    return most;
}

void gantt_put_curve(struct gantt *g, uint32_t k)
{
    const struct chart_curve *c = &g->c->curve[k];
    enum { ABOVE = 8, BELOW = 4 }; /* px: room above and below the area */
    int y = g->curve_top[k], floor = y + g->curve_high - BELOW;
    double scale = g->full > 0 ? (g->curve_high - ABOVE - BELOW) / (double)g->full : 0;
    struct arena_mark mark = arena_mark(g->a);
    const int64_t *most = sample_curve(g, &c->of);
    gantt_put_stripe(g, y, g->curve_high, c->dev);
    gantt_put_label(g, 14, y + g->curve_high / 2 + 5, "s", c->name);
    fprintf(g->f, "<path d=\"M%d %d", g->left, floor);
    /* a step wherever the memory changes from one pixel to the next */
    for (int i = 0; i < GANTT_WIDE; i++)
        if (!i || most[i] != most[i - 1])
            fprintf(g->f, "H%dV%.1f", g->left + i, floor - scale * (double)most[i]);
    fprintf(g->f, "H%dV%dZ\" class=\"m\"/>\n", g->left + GANTT_WIDE, floor);
    if (gantt_shows_limit(g, k))
        fprintf(g->f, "<path d=\"M%d %.1f H%d\" class=\"d\"/>\n", g->left,
                floor - scale * (double)c->limit, g->left + GANTT_WIDE);
    gantt_put_label(g, g->left + GANTT_WIDE + 12, y + g->curve_high / 2 + 5,
                    c->limit >= 0 && c->most > c->limit ? "n" : "s", c->note);
    arena_release(g->a, mark);
}
