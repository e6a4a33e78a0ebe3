/* Draws the devices of a plan as SVG, for machines without the dot program (row.h).
 *
 * The boxes stand in the order in which they run: the model's inputs, a box for each part (of very many parts, for each
 * device), the model's outputs.  Tensors that go from a box to the next one are an arrow between the two.  Every
 * other arrow goes up from its first box, along a lane above the row, and down to its second box.  Arrows that
 * would meet have different lanes, and short arrows the lower ones: intervals are given to lanes in order of their
 * length, each to the lowest lane that is free there.  Of very many such arrows only the heaviest are drawn, and
 * the title says so. Titles, labels and tooltips are those of the picture by dot.  O(pins + arrows log arrows +
 * MOST_LONG^2). */
#include "backends/picture/row.h"

#include "backends/palette.h"
#include "backends/picture/arrows.h"
#include "backends/picture/frame_label.h"
#include "backends/picture/title.h"
#include "ir/base/outfile.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_FRAMES = 48, /* with more parts, boxes stand for devices */
    MOST_LONG = 64,   /* arrows in lanes that are drawn, at most */
    /* lengths in px */
    LETTER = 7,     /* width of a letter, about */
    LINE = 15,      /* height of a line of text */
    PAD = 10,       /* around the text of a box */
    EDGE = 14,      /* around the picture */
    LANE = 20,      /* height of a lane */
    SLOT = 7,       /* between arrows at the same side of a box, if there is room */
    LEAST_GAP = 48, /* between boxes, at least */
    HEAD = 7,       /* length of an arrow's head */
};

/* A box of the row: the model's inputs, a frame, or the model's outputs. */
struct row_box {
    const char *id, *label; /* text for DOT */
    uint32_t dev;           /* device of the box, for its colour; UINT32_MAX: none */
    double x, wide;         /* px: left side and width of the box; width 0: not drawn */
    uint32_t in, out;       /* numbers of arrows in lanes that end and begin at the box */
    /* numbers of those ends of arrows, counted in `in` and `out`, that have a place so far */
    uint32_t nin, nout;
};

/* An arrow between boxes. */
struct row_arrow {
    const struct arrow *f;
    uint32_t from, to; /* indices of boxes */
    uint32_t lane;     /* from 0, the lowest */
    /* px: where the arrow leaves its first box and meets its second one; set only if it has a lane */
    double x0, x1;
};

/* The picture while it is made. */
struct row {
    const struct result *r;
    struct arena *a;
    FILE *f;
    const char *title; /* text for DOT */
    struct row_box *box;
    uint32_t n;                     /* number of boxes */
    struct row_arrow *next, *lanes; /* arrows to the next box; arrows with a lane */
    uint32_t nnext, nlong;
    uint32_t nlane;   /* number of lanes */
    double gap;       /* px between boxes */
    double top, high; /* px: y of the upper side of boxes, their height */
};

/* ---- text ------------------------------------------------------------------------------------- */

/* Returns the length of the first line of text for DOT, and sets *next to the line behind it; NULL: there is none. */
static size_t line_of(const char *s, const char **next)
{
    size_t n = 0;
    *next = NULL;
    while (s[n] && s[n] != '\n') {
        if (s[n] == '\\' && (s[n + 1] == 'n' || s[n + 1] == 'l')) {
            *next = s[n + 2] ? s + n + 2 : NULL;
            return n;
        }
        n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    }
    if (s[n])
        *next = s + n + 1;
    return n;
}

/* Writes a line of text for DOT, s[0 .. n), as XML: undoes DOT's escapes and escapes '<' and '>'.  Each '&' of such
 * text begins an entity already. */
static void put_line(FILE *f, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 1 < n)
            i++;
        if (s[i] == '<' || s[i] == '>')
            fputs(s[i] == '<' ? "&lt;" : "&gt;", f);
        else
            putc(s[i], f);
    }
}

/* Writes all lines of text for DOT with `between` between them. */
static void put_lines(FILE *f, const char *s, const char *between)
{
    for (const char *next; s; s = next) {
        put_line(f, s, line_of(s, &next));
        fputs(next ? between : "", f);
    }
}

/* Writes each line of text for DOT as a text of the SVG, the first one at x, y. */
static void put_texts(const struct row *w, const char *s, double x, double y, const char *class)
{
    for (const char *next; s; s = next, y += LINE) {
        fprintf(w->f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
        put_line(w->f, s, line_of(s, &next));
        fputs("</text>\n", w->f);
    }
}

/* Returns the number of lines of text for DOT.  Raises *wide to the px of the longest line. */
static uint32_t measure_text(const char *s, double *wide)
{
    uint32_t n = 0;
    for (const char *next; s; s = next, n++) {
        double x = LETTER * (double)line_of(s, &next);
        *wide = x > *wide ? x : *wide;
    }
    return n;
}

/* ---- what is drawn ---------------------------------------------------------------------------- */

/* Compares arrows by bytes, the heaviest first, for qsort. */
static int by_bytes(const void *x, const void *y)
{
    const struct row_arrow *a = x, *b = y;
    if (a->f->bytes != b->f->bytes)
        return a->f->bytes < b->f->bytes ? 1 : -1;
    return (a->f > b->f) - (a->f < b->f);
}

/* Returns the number of boxes that an arrow goes along. */
static uint32_t span_of(const struct row_arrow *a)
{
    return a->from < a->to ? a->to - a->from : a->from - a->to;
}

/* Compares arrows by the boxes that they go along, the shortest first, for qsort. */
static int by_span(const void *x, const void *y)
{
    const struct row_arrow *a = x, *b = y;
    uint32_t m = span_of(a), n = span_of(b);
    if (m != n)
        return m < n ? -1 : 1;
    return (a->f > b->f) - (a->f < b->f);
}

/* Leaves out all but the MOST_LONG heaviest arrows in lanes, and says so in the title; sorts the others, the shortest
 * first. */
static void choose_arrows(struct row *w)
{
    int64_t bytes = 0;
    uint32_t tensors = 0;
    char b[UNIT_TEXT];
    qsort(w->lanes, w->nlong, sizeof *w->lanes, by_bytes);
    for (uint32_t i = MOST_LONG; i < w->nlong; i++) {
        bytes = sat_add(bytes, w->lanes[i].f->bytes);
        tensors += w->lanes[i].f->tensors;
    }
    if (w->nlong > MOST_LONG) {
        const char *said = arena_fmt(w->a, "%u thin arrows are left out: %u tensors, %s",
                                     w->nlong - MOST_LONG, tensors, bytes_short(b, bytes));
        w->title = arena_fmt(w->a, "%s%s", w->title, title_break(said, w->a));
        w->nlong = MOST_LONG;
    }
    qsort(w->lanes, w->nlong, sizeof *w->lanes, by_span);
}

/* Makes the title, the boxes and the arrows, without their places.  Arrows from the host begin at the first box, arrows
 * to the host end at the last box. */
static void collect(struct row *w)
{
    const struct result *r = w->r;
    struct frames frames = frames_build(r, MOST_FRAMES, w->a);
    struct holdings *h = holdings_of(r, frames.of, frames.n, w->a);
    uint32_t *frame_of = arena_array(w->a, (size_t)frames.n + 1, sizeof *frame_of);
    w->n = frames.n + 2; /* a box for the inputs, one for each frame, and one for the outputs */
    w->box = arena_array(w->a, w->n, sizeof *w->box);
    w->box[0] = (struct row_box){.id = "inputs", .label = "inputs", .dev = UINT32_MAX};
    w->box[w->n - 1] = (struct row_box){.id = "outputs", .label = "outputs", .dev = UINT32_MAX};
    for (uint32_t i = 0; i < frames.n; i++) {
        frame_of[i + 1] = i + 1;
        w->box[i + 1].id = arena_fmt(w->a, "part%u", i);
        w->box[i + 1].label = frame_label(r, &frames, i, &h[i], w->a);
        w->box[i + 1].dev = frames.dev[i];
    }
    w->title = title_write(
        r, &frames, "box: the nodes of a device; arrow: tensors that cross, each once", w->a);
    struct arrows t = arrows_build(r, frames.of, frame_of, frames.n, w->a);
    w->next = arena_array(w->a, (size_t)t.n + 1, sizeof *w->next);
    w->lanes = arena_array(w->a, (size_t)t.n + 1, sizeof *w->lanes);
    for (uint32_t i = 0; i < t.n; i++) {
        struct row_arrow x = {.f = &t.f[i], .from = t.f[i].from, .to = t.f[i].to};
        x.to = x.to ? x.to : w->n - 1; /* 0: to the host */
        if (x.to == x.from + 1)
            w->next[w->nnext++] = x;
        else
            w->lanes[w->nlong++] = x;
    }
    choose_arrows(w);
}

/* ---- where it is drawn ------------------------------------------------------------------------ */

/* Sets the sizes of boxes and gaps, and the places of boxes.  The boxes of the host that no arrow meets stay without a
 * width.  A gap has room for the longest label of an arrow to a next box. */
static void place_boxes(struct row *w)
{
    double x = EDGE;
    uint32_t lines = 1;
    /* [0] an arrow comes from the host; [1] an arrow leads to the host */
    bool used[2] = {false, false};
    w->gap = LEAST_GAP;
    for (uint32_t i = 0; i < w->nnext + w->nlong; i++) {
        const struct row_arrow *a = i < w->nnext ? &w->next[i] : &w->lanes[i - w->nnext];
        used[0] |= a->from == 0;
        used[1] |= a->to == w->n - 1;
        if (i < w->nnext)
            measure_text(arrow_amount(w->a, a->f->tensors, a->f->bytes), &w->gap);
    }
    w->gap += 2 * HEAD;
    for (uint32_t i = 0; i < w->n; i++) {
        struct row_box *b = &w->box[i];
        if ((i == 0 && !used[0]) || (i == w->n - 1 && !used[1]))
            continue;
        uint32_t n = measure_text(b->label, &b->wide);
        lines = n > lines ? n : lines;
        /* arrows in lanes end at the left half of a box and begin at its right half */
        double least = 2.0 * SLOT * (b->in + b->out);
        b->wide = (b->wide > least ? b->wide : least) + 2 * PAD;
        b->x = x;
        x += b->wide + w->gap;
    }
    w->high = lines * LINE + 2 * PAD;
}

/* Sets the lane of each arrow in lanes, the lowest lane where the arrow meets none of the arrows before it, and the
 * places where the arrow leaves its first box (in the right half) and meets its second box (in the left half). */
static void place_arrows(struct row *w)
{
    for (uint32_t i = 0; i < w->nlong; i++) {
        struct row_arrow *a = &w->lanes[i];
        struct row_box *from = &w->box[a->from], *to = &w->box[a->to];
        a->x0 = from->x + from->wide - PAD - SLOT * (double)from->nout++;
        a->x1 = to->x + PAD + SLOT * (double)to->nin++;
        uint64_t taken = 0; /* bit k: lane k has an arrow there; MOST_LONG lanes are enough */
        for (uint32_t k = 0; k < i; k++) {
            const struct row_arrow *b = &w->lanes[k];
            double left = b->x0 < b->x1 ? b->x0 : b->x1, right = b->x0 < b->x1 ? b->x1 : b->x0;
            bool meets =
                left <= (a->x0 > a->x1 ? a->x0 : a->x1) && right >= (a->x0 < a->x1 ? a->x0 : a->x1);
            if (meets)
                taken |= (uint64_t)1 << b->lane;
        }
        while (taken >> a->lane & 1)
            a->lane++;
        w->nlane = a->lane + 1 > w->nlane ? a->lane + 1 : w->nlane;
    }
}

/* ---- drawing ---------------------------------------------------------------------------------- */

/* Returns the y of a lane. */
static double lane_y(const struct row *w, uint32_t lane)
{
    return w->top - LANE * (lane + 1.0);
}

/* Returns the x of the middle of the label of an arrow in a lane: the middle of the widest stretch of the lane through
 * which no other arrow goes up. */
static double label_x(const struct row *w, const struct row_arrow *a)
{
    double left = a->x0 < a->x1 ? a->x0 : a->x1, right = a->x0 < a->x1 ? a->x1 : a->x0;
    /* x[n]: where arrows of higher lanes go up, and the end; best: width of the widest stretch so far */
    double x[2 * MOST_LONG + 1], best = 0, at = left, middle = left;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->nlong; i++)
        if (w->lanes[i].lane > a->lane) {
            x[n++] = w->lanes[i].x0;
            x[n++] = w->lanes[i].x1;
        }
    x[n++] = right;
    while (at < right) { /* to the next x, from left to right */
        double end = right;
        for (uint32_t i = 0; i < n; i++)
            end = x[i] > at && x[i] < end ? x[i] : end;
        if (end - at > best) {
            best = end - at;
            middle = (at + end) / 2;
        }
        at = end;
    }
    return middle;
}

/* Writes the beginning of an arrow: its group, its tooltip, and its line up to the quote before its path.  The caller
 * writes the path and ends the group. */
static void begin_arrow(const struct row *w, const struct row_arrow *a)
{
    uint32_t dev = w->box[a->from].dev;
    const char *line = dev == UINT32_MAX ? "#4a5568" : palette_line(dev);
    fprintf(w->f, "<g id=\"edge_%u_%u\" stroke=\"%s\" fill=\"%s\"><title>", a->f->from, a->f->to,
            line, line);
    put_lines(w->f, a->f->tip, ", ");
    fprintf(w->f, "</title><path class=\"l\" stroke-width=\"%s\"%s d=\"",
            arrow_width(w->a, a->f->bytes),
            dev != UINT32_MAX && dev / PALETTE % 2 ? " stroke-dasharray=\"5 3\"" : "");
}

/* Draws an arrow to the next box, with its label above it. */
static void put_next(const struct row *w, const struct row_arrow *a)
{
    const struct row_box *from = &w->box[a->from], *to = &w->box[a->to];
    double x0 = from->x + from->wide, y = w->top + w->high / 2;
    const char *label = arrow_amount(w->a, a->f->tensors, a->f->bytes);
    double unused = 0;
    uint32_t lines = measure_text(label, &unused);
    begin_arrow(w, a);
    fprintf(w->f, "M%.1f %.1f H%.1f\"/>\n<path d=\"M%.1f %.1f l-7 -4 v8 z\"/></g>\n", x0, y,
            to->x - HEAD, to->x, y);
    put_texts(w, label, (x0 + to->x) / 2, y - 8 - LINE * (lines - 1.0), "a");
}

/* Draws an arrow in a lane: up from its box, along the lane, down to the other box.  put_label() writes its label. */
static void put_long(const struct row *w, const struct row_arrow *a)
{
    double y = lane_y(w, a->lane);
    begin_arrow(w, a);
    fprintf(w->f, "M%.1f %.1f V%.1f H%.1f V%.1f\"/>\n<path d=\"M%.1f %.1f l-4 -7 h8 z\"/></g>\n",
            a->x0, w->top, y, a->x1, w->top - HEAD, a->x1, w->top);
}

/* Writes the label of an arrow in a lane, above the lane, on a white ground: arrows of higher lanes may go up there. */
static void put_label(const struct row *w, const struct row_arrow *a)
{
    const char *label = arrow_amount(w->a, a->f->tensors, a->f->bytes);
    double x = label_x(w, a), y = lane_y(w, a->lane) - 6;
    double wide = LETTER * (double)strlen(label);
    fprintf(w->f,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"11\" fill=\"#ffffff\"/>\n"
            "<text x=\"%.1f\" y=\"%.1f\" class=\"a\">",
            x - wide / 2, y - 9, wide, x, y);
    put_lines(w->f, label, ", ");
    fputs("</text>\n", w->f);
}

/* Draws box b: a rectangle in the colour of its device with its label in the middle. */
static void put_box(const struct row *w, const struct row_box *b)
{
    bool host = b->dev == UINT32_MAX;
    double unused = 0, y = w->top + (w->high - LINE * measure_text(b->label, &unused)) / 2;
    fprintf(w->f, "<g id=\"%s\"><title>", b->id);
    put_lines(w->f, b->label, "\n");
    fprintf(w->f,
            "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
            "fill=\"%s\" stroke=\"%s\"%s/>\n",
            b->x, w->top, b->wide, w->high, host ? 0 : 6, host ? "#edf2f7" : palette_fill(b->dev),
            host ? "#4a5568" : palette_line(b->dev),
            !host && b->dev / PALETTE % 2 ? " stroke-dasharray=\"5 3\"" : "");
    put_texts(w, b->label, b->x + b->wide / 2, y + LINE - 4, "b");
    fputs("</g>\n", w->f);
}

/* Works out the size of the picture and writes the whole SVG.  Arrows come first, then labels, then boxes, as later
 * ones cover earlier ones. */
static void put_row(struct row *w)
{
    double wide = 0;
    uint32_t lines = measure_text(w->title, &wide);
    /* the last box that is drawn: that of the outputs, if it has a width */
    const struct row_box *last = &w->box[w->box[w->n - 1].wide > 0 ? w->n - 1 : w->n - 2];
    w->top = EDGE + LINE * (lines + 1.0) + LANE * (w->nlane + 0.5);
    wide = (wide > last->x + last->wide ? wide : last->x + last->wide) + EDGE;
    double high = w->top + w->high + EDGE;
    fprintf(
        w->f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#1f2933\">\n"
        "<style>.a{fill:#1f2933;stroke:none;text-anchor:middle} .b{text-anchor:middle}\n"
        ".l{fill:none}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
        wide, high, wide, high);
    put_texts(w, w->title, EDGE, EDGE + LINE, "s");
    for (uint32_t i = 0; i < w->nlong; i++)
        put_long(w, &w->lanes[i]);
    for (uint32_t i = 0; i < w->nnext; i++)
        put_next(w, &w->next[i]);
    for (uint32_t i = 0; i < w->nlong; i++)
        put_label(w, &w->lanes[i]);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->box[i].wide > 0)
            put_box(w, &w->box[i]);
    fputs("</svg>\n", w->f);
}

int row_write(const struct result *r, const char *path)
{
    struct outfile o;
    struct row w = {.r = r, .a = arena_new(r->scene.m->mem)};
    int rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag);
    if (!rc) {
        w.f = o.f;
        collect(&w);
        for (uint32_t i = 0; i < w.nlong; i++) {
            w.box[w.lanes[i].from].out++;
            w.box[w.lanes[i].to].in++;
        }
        place_boxes(&w);
        place_arrows(&w);
        put_row(&w);
        rc = outfile_close(&o, /*ok=*/true);
    }
    arena_free(w.a);
    return rc;
}
