/* The replay of a plan as a Gantt chart: SVG on its own, written without a library.
 *
 * A row per lane, a bar per task and sample with the sample's number, pale where it is a transfer; the
 * time axis below, and over the rows a bracket: one period of the busiest lane in the steady state,
 * which is the plan's value.  In training the hue is the pass (blue and orange: also for the colour-blind
 * apart) and its shade the sample; else the colour is the sample.
 *
 * A device whose plan is not contiguous runs several parts of a pass for a sample: as in the paper's Figure 3b each
 * has a row of its own within the device's, a virtual device, of which one at a time works.
 *
 * The file stays small: neighbours in a row that are all narrower than a limit are drawn as one grey bar,
 * the darker the busier; the limit grows with the number of rows.  O(n log n) for n = tasks * samples, of which more
 * than a million are refused; at most some ten thousands of bars. */
#include "backends/label.h"
#include "ir/base/outfile.h"
#include "backends/timeline/replay_result.h"
#include "ir/base/strings.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    MOST = 1 << 20,  /* tasks * samples */
    SLOTS = 1 << 13, /* narrow bars, all rows together */
    WIDEST = 4,      /* of a joined bar, in limits of a narrow one */
    WIDE = 1040,     /* px of the time axis */
    RIGHT = 176,     /* px beside it: loads */
    TOP = 112,       /* px above the lanes */
    LETTER = 7,      /* px, about */
    SMALL = 5,       /* px of a small letter */
    NAME_SHOWN = 28, /* bytes of a name */
    ROW = 38,        /* px of a lane, where these are few */
    FEW_LANES = 10,
    SUB = 22, /* px of a part's row within a lane */
    SUBS = 6, /* of these in a lane, else there is one */
    HUES = 6
};

/* Light enough for dark letters. */
static const char *const of_sample[HUES] = {"#7fb3e6", "#f5b96b", "#6cc3a4",
                                            "#f2a3b8", "#c9b8ea", "#e5dc72"};
static const char *const of_pass[2][2] = {{"#7fb3e6", "#b5d3f0"}, {"#f0a04b", "#f8cd98"}};
static const char grey[] = "#7c8794";

struct chart {
    const struct result *r;
    struct arena *a;
    FILE *f;
    struct replay y;
    const struct event *event;
    size_t nevent, joined;
    int left, bottom; /* px: of the lanes' names, the axis */
    uint32_t *row;    /* [lane + 1] its first row */
    uint32_t *row_of; /* [task] */
    int *top, *high;  /* [lane] px */
    double narrow;    /* px */
    int64_t *load[2]; /* [pass][lane] ps for each sample */
};

static void put_text(struct chart *c, const char *s)
{
    for (s = label_plain(c->a, s); *s; s++)
        switch (*s) {
        case '<':
            fputs("&lt;", c->f);
            break;
        case '>':
            fputs("&gt;", c->f);
            break;
        case '&':
            fputs("&amp;", c->f);
            break;
        case '"':
            fputs("&quot;", c->f);
            break;
        default:
            putc(*s, c->f);
        }
}

/* Text at a place; class: one of those in the style. */
static void put_label(struct chart *c, double x, double y, const char *class, const char *s)
{
    fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    put_text(c, s);
    fputs("</text>\n", c->f);
}

/* A name of bounded length. */
static const char *shorten_name(struct chart *c, const char *s)
{
    size_t n = strlen(s);
    if (n <= NAME_SHOWN)
        return s;
    n = NAME_SHOWN - 3;
    while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
        n--;
    return arena_fmt(c->a, "%.*s...", (int)n, s);
}

static double x_of(const struct chart *c, int64_t ps)
{
    return c->left + (c->y.end ? WIDE * ((double)ps / (double)c->y.end) : 0);
}

/* Rows of a lane. */
static uint32_t rows_of(const struct chart *c, uint32_t lane)
{
    assert(lane < c->y.nlane);
    return c->row[lane + 1] - c->row[lane];
}

static const char *lane_text(struct chart *c, uint32_t lane)
{
    return replay_lane_name(&c->y, &c->r->scene, lane, c->a);
}

/* ---- frame ------------------------------------------------------------------------------------ */

/* Rows and places of the lanes: as many rows as there are parts in one pass, where there is room.  A row holds a
 * part of the forward pass, and of the backward pass the one that is as far from its end. */
static void make_rows(struct chart *c)
{
    const struct replay *y = &c->y;
    int plain = y->nlane <= FEW_LANES ? ROW : y->nlane <= 32 ? 26 : 18;
    uint32_t *n[2], *seen[2];
    for (int p = 0; p < 2; p++) {
        n[p] = arena_array(c->a, (size_t)y->nlane + 1, sizeof *n[p]);
        seen[p] = arena_array(c->a, (size_t)y->nlane + 1, sizeof *seen[p]);
    }
    c->row = arena_array(c->a, (size_t)y->nlane + 1, sizeof *c->row);
    c->top = arena_array(c->a, (size_t)y->nlane + 1, sizeof *c->top);
    c->high = arena_array(c->a, (size_t)y->nlane + 1, sizeof *c->high);
    c->row_of = arena_array(c->a, (size_t)y->ntask + 1, sizeof *c->row_of);
    for (uint32_t t = 0; t < y->ntask; t++)
        n[y->task[t].back][y->task[t].lane] += y->task[t].time > 0;
    c->top[0] = TOP;
    for (uint32_t l = 0; l < y->nlane; l++) {
        uint32_t rows = n[0][l] > n[1][l] ? n[0][l] : n[1][l];
        if (rows > SUBS || rows < 1 || y->nlane > FEW_LANES || c->r->verdict->contiguous)
            rows = 1;
        c->row[l + 1] = c->row[l] + rows;
        c->high[l] = rows > 1 ? 8 + SUB * (int)rows : plain;
        c->top[l + 1] = c->top[l] + c->high[l];
    }
    for (uint32_t t = 0; t < y->ntask; t++) {
        int p = y->task[t].back;
        uint32_t l = y->task[t].lane, k = seen[p][l];
        c->row_of[t] = c->row[l];
        if (rows_of(c, l) > 1 && y->task[t].time > 0)
            c->row_of[t] += p ? n[p][l] - 1 - k : k;
        seen[p][l] += y->task[t].time > 0;
        assert(c->row_of[t] >= c->row[l] && c->row_of[t] < c->row[l + 1]);
    }
}

static void measure(struct chart *c)
{
    const struct replay *y = &c->y;
    size_t longest = 0;
    for (uint32_t l = 0; l < y->nlane; l++) {
        size_t n = strlen(lane_text(c, l));
        longest = n > longest ? n : longest;
    }
    make_rows(c);
    c->left = 28 + LETTER * (int)longest + (c->row[y->nlane] > y->nlane ? 2 * LETTER : 0);
    c->bottom = c->top[y->nlane] + 6;
    c->narrow = (double)WIDE * c->row[y->nlane] / SLOTS;
    c->narrow = c->narrow < 1.5 ? 1.5 : c->narrow;
    for (int p = 0; p < 2; p++)
        c->load[p] = arena_array(c->a, (size_t)y->nlane + 1, sizeof *c->load[p]);
    for (uint32_t t = 0; t < y->ntask; t++) {
        int64_t *load = &c->load[y->task[t].back][y->task[t].lane];
        *load = sat_add(*load, y->task[t].time);
    }
}

static void put_title(struct chart *c)
{
    assert(c->y.samples > 0);
    char each[UNIT_TEXT], value[UNIT_TEXT];
    const struct replay *y = &c->y;
    const struct result *r = c->r;
    const char *name =
        shorten_name(c, label_plain(c->a, path_base(str(r->scene.m, r->scene.m->path))));
    int64_t v = r->verdict->value;
    double over = (double)(y->end - v * y->samples) / ((double)(v ? v : 1) * y->samples);
    const char *how = !c->y.training ? ""
                      : r->scene.model.schedule == MICRO_GPIPE
                          ? ", forward then backward (GPipe)"
                          : ", forward and backward in turn (1F1B)";
    put_label(c, 14, 28, "t",
              arena_fmt(c->a, "%s: %u sample%s on %u device%s%s", name, y->samples,
                        y->samples == 1 ? "" : "s", r->scene.cluster->ndev,
                        r->scene.cluster->ndev == 1 ? "" : "s", how));
    put_label(
        c, 14, 48, "s",
        arena_fmt(c->a,
                  "time per sample %s in this replay, %.2f %% above the plan's value of %s (the "
                  "more samples, the closer)",
                  time_short(each, y->end / y->samples), 100 * over, time_short(value, v)));
}

static double put_key(struct chart *c, double x, const char *colour, const char *text)
{
    fprintf(c->f,
            "<rect x=\"%.1f\" y=\"58\" width=\"14\" height=\"12\" fill=\"%s\" class=\"b\"/>\n", x,
            colour);
    put_label(c, x + 19, 68, "s", text);
    return x + 19 + LETTER * (double)strlen(text) + 14;
}

static void put_legend(struct chart *c)
{
    double x = 14;
    if (c->y.training) {
        x = put_key(c, x, of_pass[0][0], "forward");
        x = put_key(c, x, of_pass[1][0], "backward");
    } else {
        x = put_key(c, x, of_sample[0], "a sample with its number");
    }
    x = put_key(c, x, "#eef3f8", "pale: transfers");
    if (c->row[c->y.nlane] > c->y.nlane) {
        static const char text[] = "a, b ...: parts of one device, at work one at a time";
        put_label(c, x, 68, "s", text);
        x += (LETTER - 1) * (double)(sizeof text - 1) + 14;
    }
    if (c->joined)
        put_key(
            c, x, grey,
            arena_fmt(c->a, "%zu bars too narrow to be drawn apart (darker: busier)", c->joined));
}

/* Names, loads and stripes of the lanes. */
static void put_lanes(struct chart *c)
{
    char t[UNIT_TEXT];
    int64_t value = c->r->verdict->value;
    put_label(c, c->left + WIDE + 12, TOP - 8, "s", "busy per sample");
    for (uint32_t l = 0; l < c->y.nlane; l++) {
        int y = c->top[l];
        double mid = y + c->high[l] / 2.0;
        int64_t load = sat_add(c->load[0][l], c->load[1][l]);
        const struct device_class *k =
            &c->r->scene.cluster->cls[cluster_class(c->r->scene.cluster, c->y.lane[l].dev)];
        fprintf(c->f, "<g><title>");
        put_text(c, k->name);
        fprintf(c->f, "</title><rect x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
                y, c->left + WIDE + RIGHT, c->high[l],
                c->y.lane[l].dev % 2 ? "#ffffff" : "#f4f6f8");
        put_label(c, 14, mid + 5, "n", lane_text(c, l));
        for (uint32_t i = 0; i < rows_of(c, l) && rows_of(c, l) > 1; i++)
            put_label(c, c->left - LETTER - 1, y + SUB * (int)i + SUB / 2 + 8, "a",
                      arena_fmt(c->a, "%c", 'a' + (int)i));
        put_label(c, c->left + WIDE + 12, mid + 5, load && load == value ? "n" : "s",
                  load ? arena_fmt(c->a, "%s, %.0f %%", time_short(t, load),
                                   100 * (double)load / (double)value)
                       : "idle");
        fputs("</g>\n", c->f);
    }
}

/* The axis: steps of 1, 2 or 5 times a power of ten, about eight of them, in one unit. */
static void put_axis(struct chart *c)
{
    static const char *const name[] = {"ps", "ns", "us", "ms", "s"};
    int64_t step = 1, unit = 1;
    int u = 0;
    for (int i = 0; c->y.end / step > 10; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    while (u < 4 && c->y.end / 1000 >= unit) {
        unit *= 1000;
        u++;
    }
    for (int64_t at = 0; at <= c->y.end; at += step) {
        double x = x_of(c, at);
        int tenths = (int)(at % unit / ((unit + 9) / 10));
        fprintf(c->f, "<path d=\"M%.1f %d V%d\" class=\"g\"/>\n", x, TOP, c->bottom + 5);
        put_label(c, x, c->bottom + 20, "a",
                  !at      ? "0"
                  : tenths ? arena_fmt(c->a, "%" PRId64 ".%d %s", at / unit, tenths, name[u])
                           : arena_fmt(c->a, "%" PRId64 " %s", at / unit, name[u]));
        if (c->y.end - at < step)
            break;
    }
    fprintf(c->f, "<path d=\"M%d %d H%d\" class=\"x\"/>\n", c->left, c->bottom, c->left + WIDE);
}

/* ---- bars ------------------------------------------------------------------------------------- */

/* What is to be drawn in a row next: an event, or several narrow ones. */
struct bar {
    int64_t at, end, busy;
    const struct event *first;
    size_t n; /* 0: nothing */
};

static const char *choose_colour(const struct chart *c, const struct event *e)
{
    return c->y.training ? of_pass[c->y.task[e->task].back][e->sample % 2]
                         : of_sample[e->sample % HUES];
}

static void put_pale(struct chart *c, double x, double y, double width, double high)
{
    if (width >= 0.3)
        fprintf(c->f, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"p\"/>\n",
                x, y, width, high);
}

static void put_bar(struct chart *c, const struct bar *b)
{
    assert(b->n > 0 && b->end > b->at && b->busy <= b->end - b->at);
    char from[UNIT_TEXT], to[UNIT_TEXT], time[UNIT_TEXT];
    static const char *const kind[] = {"", ", transfers in", "", ", transfers out"};
    const struct round_task *t = &c->y.task[b->first->task];
    bool alone = rows_of(c, t->lane) == 1;
    double x = x_of(c, b->at), width = x_of(c, b->end) - x, y = c->top[t->lane] + 4.0;
    double high = alone ? c->high[t->lane] - 8.0 : SUB - 2.0;
    double scale = t->time ? width / (double)t->time : 0;
    y += alone ? 0 : 1 + SUB * (double)(c->row_of[b->first->task] - c->row[t->lane]);
    const char *when = arena_fmt(c->a, "%s: %s to %s", time_short(time, b->end - b->at),
                                 time_short(from, b->at), time_short(to, b->end));
    width = width < 0.4 ? 0.4 : width;
    fputs("<g><title>", c->f);
    if (b->n > 1)
        fprintf(c->f, "%zu bars, busy %.0f %%", b->n,
                100 * (double)b->busy / (double)(b->end - b->at));
    else
        fprintf(c->f, "sample %u, part %u%s%s", b->first->sample + 1, t->part,
                !c->y.training ? ""
                : t->back      ? ", backward"
                               : ", forward",
                kind[t->kind]);
    fprintf(c->f, ", %s</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ", when,
            x, y, width, high);
    if (b->n > 1)
        fprintf(c->f, "fill=\"%s\" fill-opacity=\"%.2f\"/>\n", grey,
                (double)b->busy / (double)(b->end - b->at));
    else
        fprintf(c->f, "fill=\"%s\"%s/>\n", choose_colour(c, b->first),
                width > 2 ? " class=\"b\"" : "");
    if (b->n == 1) {
        char number[UNIT_TEXT];
        int n = snprintf(number, sizeof number, "%u", b->first->sample + 1);
        put_pale(c, x, y, scale * (double)t->in, high);
        put_pale(c, x + scale * (double)(t->time - t->out), y, scale * (double)t->out, high);
        if (width >= 4 + LETTER * n)
            put_label(c, x + width / 2, y + high / 2 + 4, "l", number);
        else if (width >= 2 + SMALL * n)
            put_label(c, x + width / 2, y + high / 2 + 3, "m", number);
    }
    fputs("</g>\n", c->f);
}

/* Row by row in order of time; `draw` false: counts what is joined. */
static void put_bars(struct chart *c, bool draw)
{
    uint32_t rows = c->row[c->y.nlane];
    struct bar *next = arena_array(c->a, (size_t)rows + 1, sizeof *next);
    int64_t narrow = (int64_t)(c->narrow / WIDE * (double)c->y.end);
    c->joined = 0;
    for (size_t i = 0; i < c->nevent; i++) {
        const struct event *e = &c->event[i];
        struct bar *b = &next[c->row_of[e->task]];
        bool joins = b->n && e->end - e->at < narrow && e->at - b->end < narrow &&
                     (b->n > 1 ? b->end - b->at < WIDEST * narrow : b->end - b->at < narrow);
        if (e->end == e->at)
            continue; /* takes no time: nothing to see */
        if (joins) {
            b->end = e->end;
            b->busy += e->end - e->at;
            c->joined += b->n++ == 1 ? 2 : 1;
            continue;
        }
        if (draw && b->n)
            put_bar(c, b);
        *b = (struct bar){e->at, e->end, e->end - e->at, e, 1};
    }
    for (uint32_t k = 0; k < rows && draw; k++)
        if (next[k].n)
            put_bar(c, &next[k]);
}

/* ---- period ----------------------------------------------------------------------------------- */

/* Two samples that the busiest lane begins one period after each other, in the middle of the replay;
 * pass 2: both passes together. */
static void put_period(struct chart *c, int pass, const char *what)
{
    char t[UNIT_TEXT];
    const struct replay *y = &c->y;
    int64_t most = 0;
    uint32_t lane = 0, task = UINT32_MAX, at = UINT32_MAX;
    for (uint32_t l = 0; l < y->nlane; l++) {
        int64_t load = pass < 2 ? c->load[pass][l] : sat_add(c->load[0][l], c->load[1][l]);
        lane = load > most ? l : lane;
        most = load > most ? load : most;
    }
    for (uint32_t i = 0; i < y->ntask && most; i++)
        if (y->task[i].lane == lane && (pass == 2 || y->task[i].back == pass) &&
            (task == UINT32_MAX || y->task[i].time > y->task[task].time))
            task = i;
    for (uint32_t s = 0; s + 1 < y->samples && task != UINT32_MAX; s++) {
        const int64_t *start = &y->start[(size_t)task * y->samples];
        if (start[s + 1] - start[s] == most && (at == UINT32_MAX || 2 * s <= y->samples))
            at = s;
    }
    if (at == UINT32_MAX)
        return; /* the replay is too short for a steady state */
    double x0 = x_of(c, y->start[(size_t)task * y->samples + at]);
    double x1 = x_of(c, y->start[(size_t)task * y->samples + at + 1]), mid = (x0 + x1) / 2;
    const char *text =
        arena_fmt(c->a, "%s of %s: %s", what, lane_text(c, lane), time_short(t, most));
    double half = LETTER * (double)strlen(text) / 2;
    mid = mid - half < c->left ? c->left + half : mid;
    mid = mid + half > c->left + WIDE ? c->left + WIDE - half : mid;
    put_label(c, mid, TOP - 16, "v", text);
    fprintf(c->f, "<path d=\"M%.1f %d V%d H%.1f V%d\" class=\"v\"/>\n", x0, TOP - 4, TOP - 10, x1,
            TOP - 4);
    fprintf(c->f, "<path d=\"M%.1f %d V%d M%.1f %d V%d\" class=\"d\"/>\n", x0, TOP - 4, c->bottom,
            x1, TOP - 4, c->bottom);
}

/* ---- all -------------------------------------------------------------------------------------- */

static void put_chart(struct chart *c)
{
    int width = c->left + WIDE + RIGHT, high = c->bottom + 34;
    fprintf(
        c->f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#1f2933\">\n",
        width, high, width, high);
    fputs("<style>.t{font-size:18px;font-weight:bold} .s{fill:#52606d} .n{font-weight:bold}\n"
          ".a{fill:#52606d;text-anchor:middle} .l{text-anchor:middle}\n"
          ".m{font-size:9px;text-anchor:middle}\n"
          "text.v{fill:#b3261e;font-weight:bold;text-anchor:middle}\n"
          ".b{stroke:#ffffff;stroke-width:.6} .p{fill:#ffffff;fill-opacity:.55}\n"
          "path{fill:none} .g{stroke:#d9dee4} .x{stroke:#52606d}\n"
          "path.v{stroke:#b3261e;stroke-width:1.6} .d{stroke:#b3261e;stroke-dasharray:4 3}\n"
          "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
          c->f);
    put_bars(c, false);
    put_title(c);
    put_legend(c);
    put_lanes(c);
    put_axis(c);
    put_bars(c, true);
    if (c->y.training && c->r->scene.model.schedule == MICRO_GPIPE) {
        put_period(c, 0, "forward period");
        put_period(c, 1, "backward period");
    } else {
        put_period(c, 2, "one period");
    }
    fputs("</svg>\n", c->f);
}

static int write_gantt(const struct result *r, const void *opts, const char *path)
{
    const struct replay_options *want = opts;
    struct outfile o;
    struct chart c = {
        .r = r,
        .a = arena_new(r->scene.m->mem),
    };
    int rc = replay_result(&c.y, r, want->samples, MOST, c.a);
    if (!rc && !(rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag))) {
        c.f = o.f;
        c.event = replay_events(&c.y, c.a);
        c.nevent = (size_t)c.y.ntask * c.y.samples;
        measure(&c);
        put_chart(&c);
        rc = outfile_close(&o, true);
    }
    arena_free(c.a);
    return rc;
}

const struct writer writer_gantt = {.name = "gantt",
                                    .suffix = ".gantt.svg",
                                    .to_stdout = true,
                                    .as_planned = true,
                                    .needs = WRITER_NEEDS_PLAN,
                                    .opts = replay_options,
                                    .optsize = sizeof(struct replay_options),
                                    .write = write_gantt};
