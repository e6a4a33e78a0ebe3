/* Draws the critical chain in a chart (gantt.h). */
#include "backends/timeline/gantt.h"

/* more lines from row to row than this are paler, else they would hide the bars */
enum { MANY_TURNS = 200 };

static const char red[] = "#b3261e";

/* Returns the y of a bar's lower edge, px. */
static double find_bottom(const struct gantt *g, const struct chart_bar *b)
{
    struct gantt_box x = gantt_place(g, b, b->at, b->end);
    return x.y + x.high;
}

/* Bars of the chain in one row that are underlined by one line. */
struct stretch {
    int64_t at, end;               /* ps */
    const struct chart_bar *first; /* first bar of the stretch; NULL: it has no bars */
};

/* Draws the line of a stretch, if it has bars. */
static void put_stretch(struct gantt *g, const struct stretch *s)
{
    if (s->first)
        fprintf(g->f, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"3\" class=\"c\"/>\n",
                gantt_x(g, s->at), find_bottom(g, s->first),
                gantt_x(g, s->end) - gantt_x(g, s->at) + 0.4);
}

void gantt_put_chain(struct gantt *g)
{
    const struct chart *c = g->c;
    uint32_t rows = g->row[c->nlane];
    struct stretch *row = arena_array(g->a, (size_t)rows + 1, sizeof *row);
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *b = &c->bar[i];
        struct stretch *s = &row[g->row[b->lane] + b->row];
        if (!b->critical)
            continue;
        /* if less than a pixel is between the two bars */
        if (s->first && gantt_x(g, b->at) - gantt_x(g, s->end) < 1) {
            s->end = b->end;
            continue;
        }
        put_stretch(g, s);
        *s = (struct stretch){b->at, b->end, b};
    }
    for (uint32_t k = 0; k < rows; k++)
        put_stretch(g, &row[k]);
}

/* The vertical line of the chain in one pixel of time. */
struct turn {
    double low, high; /* px: smallest and largest y of the line; equal: no line is drawn */
};

/* Returns an array, in a: [pixel of time, 0 .. GANTT_WIDE] its line.  Writes the number of lines to *n. */
static struct turn *find_turns(struct gantt *g, uint32_t *n)
{
    const struct chart *c = g->c;
    struct turn *turn = arena_array(g->a, GANTT_WIDE + 1, sizeof *turn);
    double last = -1; /* y of the chain's bar before; -1: none */
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *b = &c->bar[i];
        if (!b->critical)
            continue;
        struct turn *t = &turn[(int)(gantt_x(g, b->at) - g->left)];
        double y = find_bottom(g, b), from = last < 0 ? y : last;
        /* the first bar of the chain in this pixel: the line begins at the bar before */
        if (t->high == 0)
            *t = (struct turn){from, from};
        t->low = y < t->low ? y : t->low;
        t->high = y > t->high ? y : t->high;
        last = y;
    }
    *n = 0;
    for (int k = 0; k <= GANTT_WIDE; k++)
        *n += turn[k].high > turn[k].low;
    return turn;
}

void gantt_put_turns(struct gantt *g)
{
    uint32_t n;
    const struct turn *turn = find_turns(g, &n);
    if (n)
        fprintf(g->f, "<g stroke=\"%s\" stroke-opacity=\"%s\">\n", red,
                n > MANY_TURNS ? ".2" : ".6");
    for (int k = 0; k <= GANTT_WIDE && n; k++)
        if (turn[k].high > turn[k].low)
            fprintf(g->f, "<path d=\"M%d.5 %.1f V%.1f\"/>\n", g->left + k, turn[k].low,
                    turn[k].high + 3);
    if (n)
        fputs("</g>\n", g->f);
}
