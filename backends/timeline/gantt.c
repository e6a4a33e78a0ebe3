/* Draws a chart (chart.h) as SVG, without a library.
 *
 * Each lane has one row or several; each item is a bar, whose transfers are pale.  The time axis is below the lanes;
 * the spans are brackets above the lanes.  The critical chain is a red line under its bars and from row to row.  With
 * --curves, a row below the lanes of each device shows its memory over time, and a dashed line there the memory that
 * the device has.
 *
 * The file stays small: neighbouring bars in a row that are narrower than a limit are drawn as one bar; the darker
 * it is, the busier is the row there; the limit grows with the number of rows.  The chain and the curves have one
 * value for each pixel of time.  O(n) for n bars and points; at most some ten thousands are drawn. */
#include "backends/label.h"
#include "backends/palette.h"
#include "backends/timeline/gantt.h"
#include "ir/base/outfile.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    MOST = 1 << 20,  /* bars of a chart; a replay with more is refused */
    SLOTS = 1 << 13, /* narrow bars in all rows together that are drawn apart */
    WIDEST = 4,      /* a joined bar is at most as wide as 4 bars at the limit of narrow ones */
    /* lengths in px */
    RIGHT = 176,       /* width of the texts at the right of the lanes */
    RIGHT_BYTES = 220, /* width of these texts if they tell bytes, too */
    TOP = 112,         /* height above the lanes */
    LETTER = 7,        /* width of a letter, about */
    SMALL = 5,         /* width of a small letter */
    ROW = 38,          /* height of a lane, if there are up to FEW_LANES */
    FEW_LANES = 10,
    LOWEST = 15, /* the least height of a lane */
    SUB = 22,    /* height of one of several rows in a lane */
    CURVE = 44,  /* height of a memory curve, if there are up to FEW_CURVES */
    FEW_CURVES = 4,
    EDGE = 14,    /* x at which the lines of the legend begin */
    HAIRLINE = 1, /* a bar that is less wide is a hairline */
};

static const int64_t never_narrow = INT64_MAX / 8; /* ps: a bar as long as that is not narrow */

static const char grey[] = "#7c8794"; /* colour of joined bars */

/* Writes a text, with characters that have a meaning in XML escaped. */
static void put_text(struct gantt *g, const char *s)
{
    for (s = label_plain(g->a, s); *s; s++)
        switch (*s) {
        case '<':
            fputs("&lt;", g->f);
            break;
        case '>':
            fputs("&gt;", g->f);
            break;
        case '&':
            fputs("&amp;", g->f);
            break;
        case '"':
            fputs("&quot;", g->f);
            break;
        default:
            putc(*s, g->f);
        }
}

void gantt_put_label(struct gantt *g, double x, double y, const char *class, const char *s)
{
    fprintf(g->f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    put_text(g, s);
    fputs("</text>\n", g->f);
}

double gantt_x(const struct gantt *g, int64_t ps)
{
    return g->left + (g->c->end ? GANTT_WIDE * ((double)ps / (double)g->c->end) : 0);
}

/* ---- frame ------------------------------------------------------------------------------------ */

/* Computes the places of lanes and curves, the sizes of the chart, and the width below which bars are joined. */
static void measure(struct gantt *g)
{
    const struct chart *c = g->c;
    /* px: heights of a lane, less if there are many, and of a lane with transfers only */
    int plain = c->nlane <= FEW_LANES ? ROW : c->nlane <= 32 ? 26 : 18;
    int minor = 2 * plain / 3 > LOWEST ? 2 * plain / 3 : LOWEST;
    size_t longest = 0; /* bytes of the longest name */
    uint32_t k = 0;     /* the next curve; the curves of a device stand below its last lane */
    gantt_set_scale(g);
    g->curve_high = g->ncurve > FEW_CURVES ? CURVE * 3 / 4 : CURVE;
    g->curve_top = arena_array(g->a, (size_t)g->ncurve + 1, sizeof *g->curve_top);
    g->row = arena_array(g->a, (size_t)c->nlane + 1, sizeof *g->row);
    g->top = arena_array(g->a, (size_t)c->nlane + 1, sizeof *g->top);
    g->high = arena_array(g->a, (size_t)c->nlane + 1, sizeof *g->high);
    g->top[0] = TOP;
    for (uint32_t l = 0; l < c->nlane; l++) {
        size_t n = strlen(c->lane[l].name);
        longest = larger_u64(n, longest);
        g->row[l + 1] = g->row[l] + c->lane[l].rows;
        g->high[l] = c->lane[l].rows > 1 ? 8 + SUB * (int)c->lane[l].rows
                     : c->lane[l].minor  ? minor
                                         : plain;
        g->top[l + 1] = g->top[l] + g->high[l];
        bool last = l + 1 == c->nlane || c->lane[l + 1].dev != c->lane[l].dev;
        for (; last && k < g->ncurve && c->curve[k].dev == c->lane[l].dev; k++) {
            n = strlen(c->curve[k].name);
            longest = larger_u64(n, longest);
            g->curve_top[k] = g->top[l + 1];
            g->top[l + 1] += g->curve_high;
        }
    }
    assert(k == g->ncurve);
    g->left = 28 + LETTER * (int)longest + (c->letters ? 2 * LETTER : 0);
    g->right = c->dense ? RIGHT_BYTES : RIGHT;
    g->bottom = g->top[c->nlane] + 6;
    /* px: narrower bars are joined, so that about SLOTS bars are drawn at most, and none is too thin to see */
    g->narrow = (double)GANTT_WIDE * g->row[c->nlane] / SLOTS;
    g->narrow = g->narrow < 1.5 ? 1.5 : g->narrow > GANTT_WIDE ? GANTT_WIDE : g->narrow;
}

/* Writes a text of the legend, which is `wide` px wide, at x on the current line, and moves g->legend_x behind it. */
static void put_word(struct gantt *g, double x, const char *text, double wide)
{
    gantt_put_label(g, x, g->legend_y + 68, "s", text);
    g->legend_x = x + wide + 14;
}

/* Returns the x of the next entry of the legend, which is `wide` px wide; begins a new line if the entry does not
 * fit. */
static double place_entry(struct gantt *g, double wide)
{
    enum { NEXT = 15 }; /* px from line to line */
    if (g->legend_x > EDGE && g->legend_x + wide > g->left + GANTT_WIDE + g->right) {
        g->legend_x = EDGE;
        g->legend_y += NEXT;
    }
    return g->legend_x;
}

/* px from the left of a box or dash of the legend, 14 px wide, to its text */
enum { KEY_WIDE = 19 };

/* Writes an entry of the legend: a box of a colour, and a text. */
static void put_key(struct gantt *g, const char *colour, const char *text)
{
    double wide = LETTER * (double)strlen(text), x = place_entry(g, wide + KEY_WIDE);
    fprintf(g->f,
            "<rect x=\"%.1f\" y=\"%.0f\" width=\"14\" height=\"12\" fill=\"%s\" class=\"b\"/>\n", x,
            g->legend_y + 58, colour);
    put_word(g, x + KEY_WIDE, text, wide);
}

/* Writes an entry of the legend that is only a text. */
static void put_note(struct gantt *g, const char *text)
{
    double wide = (LETTER - 1) * (double)strlen(text), x = place_entry(g, wide);
    put_word(g, x, text, wide);
}

/* Writes the entry of the legend for the dashed lines of the curves. */
static void put_limit_key(struct gantt *g)
{
    static const char text[] = "memory that there is";
    double wide = LETTER * (double)strlen(text), x = place_entry(g, wide + KEY_WIDE);
    fprintf(g->f, "<path d=\"M%.1f %.0f h14\" class=\"d\"/>\n", x, g->legend_y + 64);
    put_word(g, x + KEY_WIDE, text, wide);
}

/* Draws the legend: an entry for each colour, and, where the chart shows such things, entries for memory limits,
 * letters of rows, joined bars and hairlines.  put_bars() must have counted bars. */
static void put_legend(struct gantt *g)
{
    g->legend_x = EDGE;
    for (uint32_t k = 0; k < g->c->nkey; k++)
        put_key(g, g->c->key[k].colour, g->c->key[k].text);
    bool limited = false;
    for (uint32_t k = 0; k < g->ncurve; k++)
        limited = limited || gantt_shows_limit(g, k);
    if (limited)
        put_limit_key(g);
    if (g->c->letters)
        put_note(g, g->c->letters);
    const char *many =
        arena_fmt(g->a, "%zu bars too narrow to be drawn apart (darker: busier)", g->joined);
    if (g->joined && g->c->dense)
        put_note(g, many);
    else if (g->joined)
        put_key(g, grey, many);
    if (g->thin)
        put_note(g, "hairline: a very short bar");
}

void gantt_put_stripe(struct gantt *g, int y, int high, uint32_t dev)
{
    fprintf(g->f, "<rect x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", y,
            g->left + GANTT_WIDE + g->right, high, dev % 2 ? "#ffffff" : "#f4f6f8");
}

/* Draws the background of the lanes, their names, and the texts at their right. */
static void put_lanes(struct gantt *g)
{
    gantt_put_label(g, g->left + GANTT_WIDE + 12, TOP - 8, "s", g->c->busy);
    for (uint32_t l = 0; l < g->c->nlane; l++) {
        const struct chart_lane *lane = &g->c->lane[l];
        int y = g->top[l];
        double mid = y + g->high[l] / 2.0;
        fprintf(g->f, "<g><title>");
        put_text(g, lane->letters ? arena_fmt(g->a, "%s: %s", lane->class, lane->letters)
                                  : lane->class);
        fputs("</title>", g->f);
        gantt_put_stripe(g, y, g->high[l], lane->dev);
        fprintf(g->f, "<rect x=\"3\" y=\"%d\" width=\"5\" height=\"%d\" fill=\"%s\"/>\n", y + 3,
                g->high[l] - 6, palette_line(lane->dev));
        gantt_put_label(g, 14, mid + 5, lane->minor ? "s" : "n", lane->name);
        for (uint32_t i = 0; i < lane->rows && lane->lettered; i++)
            gantt_put_label(g, g->left - LETTER - 1, y + SUB * (int)i + SUB / 2 + 8, "a",
                            arena_fmt(g->a, "%c", 'a' + (int)i));
        gantt_put_label(g, g->left + GANTT_WIDE + 12, mid + 5, lane->busiest ? "n" : "s",
                        lane->busy);
        fputs("</g>\n", g->f);
    }
}

/* Draws the time axis, with at most about ten steps, each 1, 2 or 5 times a power of ten ps, in a unit in which the end
 * of the chart is a number of few digits. */
static void put_axis(struct gantt *g)
{
    static const char *const name[] = {"ps", "ns", "us", "ms", "s"};
    int64_t step = 1, unit = 1; /* ps */
    int u = 0;
    for (int i = 0; g->c->end / step > 10; i++) /* 1, 2, 5, 10, 20, 50, ... */
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    while (u < 4 && g->c->end / 1000 >= unit) {
        unit *= 1000;
        u++;
    }
    for (int64_t at = 0; at <= g->c->end; at += step) {
        double x = gantt_x(g, at);
        int tenths = (int)(at % unit / ((unit + 9) / 10)); /* + 9: a unit of 1 ps has no tenth */
        fprintf(g->f, "<path d=\"M%.1f %d V%d\" class=\"g\"/>\n", x, TOP, g->bottom + 5);
        gantt_put_label(g, x, g->bottom + 20, "a",
                        !at      ? "0"
                        : tenths ? arena_fmt(g->a, "%" PRId64 ".%d %s", at / unit, tenths, name[u])
                                 : arena_fmt(g->a, "%" PRId64 " %s", at / unit, name[u]));
        if (g->c->end - at < step) /* before `at` could overflow */
            break;
    }
    fprintf(g->f, "<path d=\"M%d %d H%d\" class=\"x\"/>\n", g->left, g->bottom,
            g->left + GANTT_WIDE);
}

/* ---- bars ------------------------------------------------------------------------------------- */

/* What is drawn as one bar: a single bar, or several narrow neighbours in a row. */
struct narrow_bars {
    int64_t at, end; /* ps: from the start of the first bar to the last end */
    int64_t busy;    /* ps: sum of the times in which at least one of the bars runs */
    const struct chart_bar *first, *longest;
    size_t n; /* number of bars; 0: none yet */
};

struct gantt_box gantt_place(const struct gantt *g, const struct chart_bar *row, int64_t at,
                             int64_t end)
{
    uint32_t l = row->lane;
    struct gantt_box x = {gantt_x(g, at), g->top[l] + 4.0, gantt_x(g, end) - gantt_x(g, at), 0};
    bool alone = g->c->lane[l].rows == 1;
    /* in a dense chart the line of the critical chain has room below the bar */
    x.high = alone ? g->high[l] - (g->c->dense ? 6.0 : 8.0) : SUB - 2.0;
    x.y += !alone ? 1 + SUB * (double)row->row : g->c->dense ? -2 : 0;
    return x;
}

/* Draws a pale stripe, from x on and `width` px wide, over the part of a bar that is a transfer.  in: the rectangle
 * of the bar. */
static void put_pale(struct gantt *g, double x, double width, const struct gantt_box *in)
{
    if (width >= 0.3)
        fprintf(g->f, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"p\"/>\n",
                x, in->y, width, in->high);
}

/* Begins the element of a rectangle; the caller writes its last attributes. */
static void put_rect(struct gantt *g, const struct gantt_box *x)
{
    fprintf(g->f, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ", x->x, x->y,
            x->width < 0.4 ? 0.4 : x->width, x->high);
}

/* Whether the text fits into a rectangle if its letters are `letter` px wide; false if text is NULL. */
static bool has_room(const struct gantt_box *x, const char *text, int letter)
{
    return text && x->high > 2 * letter - 1 &&
           x->width >= 2 * (letter == LETTER) + 2 + letter * (double)strlen(text);
}

/* Writes the name of an item on its bar, if there is room: the brief text or, if that does not fit, the least text;
 * if neither fits in usual letters, in small ones. */
static void put_name(struct gantt *g, const struct chart_detail *d, const struct gantt_box *x)
{
    const char *const text[] = {d->brief, d->least};
    for (int small = 0; small < 2; small++)
        for (int i = 0; i < 2; i++)
            if (has_room(x, text[i], small ? SMALL : LETTER)) {
                gantt_put_label(g, x->x + x->width / 2, x->y + x->high / 2 + (small ? 3 : 4),
                                small ? "m" : "l", text[i]);
                return;
            }
}

/* Draws a single bar in the rectangle x: the rest of its tooltip (the caller has begun the <title>), its transfers
 * and its name. when: the bar's times, for the tooltip. */
static void put_bar(struct gantt *g, const struct chart_bar *b, const char *when,
                    const struct gantt_box *x)
{
    struct chart_detail d = g->c->describe(g->c, b->item, g->a);
    double scale = b->end > b->at ? x->width / (double)(b->end - b->at) : 0;
    put_text(g, d.full);
    fprintf(g->f, ", %s</title>", when);
    put_rect(g, x);
    fprintf(g->f, "fill=\"%s\"%s/>\n", g->c->colour[b->hue], x->width > 2 ? " class=\"b\"" : "");
    put_pale(g, x->x, scale * (double)d.in, x);
    put_pale(g, x->x + scale * (double)(b->end - b->at - d.out), scale * (double)d.out, x);
    put_name(g, &d, x);
}

/* Draws the bars of b as one bar with a tooltip.  For several bars the tooltip tells their number, how busy the row is,
 * and from when to when they run. */
static void put_narrow_bars(struct gantt *g, const struct narrow_bars *b)
{
    assert(b->n > 0 && b->end > b->at && b->busy <= b->end - b->at);
    char from[UNIT_TEXT], to[UNIT_TEXT], time[UNIT_TEXT];
    struct gantt_box x = gantt_place(g, b->first, b->at, b->end);
    struct arena_mark mark = arena_mark(g->a);
    double share = (double)b->busy / (double)(b->end - b->at);
    const char *when = arena_fmt(g->a, "%s: %s to %s", time_short(time, b->end - b->at),
                                 time_short(from, b->at), time_short(to, b->end));
    fputs("<g><title>", g->f);
    if (b->n == 1) {
        put_bar(g, b->first, when, &x);
    } else {
        fprintf(g->f, "%zu bars, busy %.0f %%, %s</title>", b->n, 100 * share, when);
        put_rect(g, &x);
        fprintf(g->f, "fill=\"%s\" fill-opacity=\"%.2f\"/>\n",
                g->c->dense ? g->c->colour[b->longest->hue] : grey, share);
    }
    fputs("</g>\n", g->f);
    arena_release(g->a, mark);
}

/* Draws the bars of b as one bar; or, if draw is false, only counts a single bar that will be a hairline, in
 * g->thin. */
static void put_or_count(struct gantt *g, const struct narrow_bars *b, bool draw)
{
    if (b->n && draw)
        put_narrow_bars(g, b);
    else if (b->n == 1)
        g->thin += gantt_x(g, b->end) - gantt_x(g, b->at) < HAIRLINE;
}

/* Goes through the bars in order of time, joins narrow neighbours of a row, and draws the bars.  draw false: only
 * counts the joined bars (g->joined) and the hairlines (g->thin), for the legend. */
static void put_bars(struct gantt *g, bool draw)
{
    const struct chart *c = g->c;
    uint32_t rows = g->row[c->nlane];
    /* [row] the bars that are drawn next; narrow: ps, a shorter bar may be joined */
    struct narrow_bars *next = arena_array(g->a, (size_t)rows + 1, sizeof *next);
    double limit = g->narrow / GANTT_WIDE * (double)c->end;
    int64_t narrow = limit < (double)never_narrow ? (int64_t)limit : never_narrow;
    g->joined = 0;
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *e = &c->bar[i];
        struct narrow_bars *b = &next[g->row[e->lane] + e->row];
        /* bars b and e are narrow and near each other; a bar b of several joined bars may be wider */
        bool joins = b->n && e->end - e->at < narrow && e->at - b->end < narrow &&
                     (b->n > 1 ? b->end - b->at < WIDEST * narrow : b->end - b->at < narrow);
        assert(e->lane < c->nlane && e->row < c->lane[e->lane].rows);
        if (e->end == e->at)
            continue; /* takes no time: nothing to see */
        if (joins) {
            if (e->end > b->end)
                b->busy += e->end - larger(e->at, b->end);
            b->end = larger(e->end, b->end);
            if (e->end - e->at > b->longest->end - b->longest->at)
                b->longest = e;
            g->joined += b->n == 1 ? 2 : 1; /* the first join counts both bars */
            b->n++;
            continue;
        }
        put_or_count(g, b, draw);
        *b = (struct narrow_bars){e->at, e->end, e->end - e->at, e, e, 1};
    }
    for (uint32_t k = 0; k < rows; k++)
        put_or_count(g, &next[k], draw);
}

/* ---- all -------------------------------------------------------------------------------------- */

/* Draws a span: a bracket with its text above the lanes, and two dashed lines through them. */
static void put_span(struct gantt *g, const struct chart_span *s)
{
    double x0 = gantt_x(g, s->at), x1 = gantt_x(g, s->end), mid = (x0 + x1) / 2;
    double half = LETTER * (double)strlen(s->text) / 2;
    mid = mid - half < g->left ? g->left + half : mid;
    mid = mid + half > g->left + GANTT_WIDE ? g->left + GANTT_WIDE - half : mid;
    gantt_put_label(g, mid, TOP - 16, "v", s->text);
    fprintf(g->f, "<path d=\"M%.1f %d V%d H%.1f V%d\" class=\"v\"/>\n", x0, TOP - 4, TOP - 10, x1,
            TOP - 4);
    fprintf(g->f, "<path d=\"M%.1f %d V%d M%.1f %d V%d\" class=\"d\"/>\n", x0, TOP - 4, g->bottom,
            x1, TOP - 4, g->bottom);
}

/* Writes a style sheet for the classes of the chart's elements.  A page with the chart inside has its own style
 * sheet instead. */
static void put_styles(struct gantt *g)
{
    fputs("<style>.t{font-size:18px;font-weight:bold} .s{fill:#52606d} .n{font-weight:bold}\n"
          ".a{fill:#52606d;text-anchor:middle} .l{text-anchor:middle}\n"
          ".m{font-size:9px;text-anchor:middle}\n"
          "text.v{fill:#b3261e;font-weight:bold;text-anchor:middle}\n"
          ".b{stroke:#ffffff;stroke-width:.6} .p{fill:#ffffff;fill-opacity:.55}\n"
          "path{fill:none} .g{stroke:#d9dee4} .x{stroke:#52606d}\n"
          "path.v{stroke:#b3261e;stroke-width:1.6} .d{stroke:#b3261e;stroke-dasharray:4 3}\n"
          "</style>\n",
          g->f);
    if (g->c->dense)
        fputs("<style>.c{fill:#b3261e}\n"
              "path.m{fill:#b9c6d3;stroke:#7c8794;stroke-width:.8}</style>\n",
              g->f);
}

/* Writes the whole SVG; measure() must have been called.  inside: the SVG is for a page with a style sheet and
 * background, so it gets none of its own. */
static void put_chart(struct gantt *g, bool inside)
{
    int width = g->left + GANTT_WIDE + g->right, high = g->bottom + 34;
    fprintf(
        g->f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#1f2933\">\n",
        width, high, width, high);
    if (!inside) {
        put_styles(g);
        fputs("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", g->f);
    }
    put_bars(g, /*draw=*/false); /* counts for the legend */
    gantt_put_label(g, 14, 28, "t", g->c->title);
    gantt_put_label(g, 14, 48, "s", g->c->subtitle);
    put_legend(g);
    put_lanes(g);
    for (uint32_t k = 0; k < g->ncurve; k++)
        gantt_put_curve(g, k);
    put_axis(g);
    if (g->c->dense)
        gantt_put_turns(g);
    put_bars(g, /*draw=*/true);
    if (g->c->dense)
        gantt_put_chain(g);
    for (uint32_t i = 0; i < g->c->nspan; i++)
        put_span(g, &g->c->span[i]);
    fputs("</svg>\n", g->f);
}

void gantt_put(FILE *f, const struct chart *c, bool curves, bool inside, struct arena *a)
{
    struct gantt g = {.c = c, .a = a, .f = f, .ncurve = curves ? c->ncurve : 0};
    measure(&g);
    put_chart(&g, inside);
}

/* For writer.write: draws the chart of the plan as SVG.  Returns 0, or -1 and an error. */
static int write_gantt(const struct result *r, const void *opts, const char *path)
{
    struct outfile o;
    struct chart c;
    const struct chart_options *want = opts;
    struct arena *a = arena_new(r->scene.m->mem);
    int rc = chart_make(&c, r, want, MOST, a);
    if (!rc)
        rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag);
    if (!rc) {
        if (want->curves && !c.ncurve)
            diag_warning(r->diag, WARN_UNUSED_OPTION,
                         "--curves has no effect: memory over time is that of one sample or of an "
                         "iteration (--objective=makespan, iteration-time)");
        gantt_put(o.f, &c, want->curves, /*inside=*/false, a);
        rc = outfile_close(&o, /*ok=*/true);
    }
    arena_free(a);
    return rc;
}

static const struct writer_opt *const options[] = {&chart_samples, &chart_curves, NULL};

const struct writer writer_gantt = {.name = "gantt",
                                    .suffix = ".gantt.svg",
                                    .to_stdout = true,
                                    .as_planned = true,
                                    .needs = WRITER_NEEDS_PLAN,
                                    .opts = options,
                                    .optsize = sizeof(struct chart_options),
                                    .write = write_gantt};
