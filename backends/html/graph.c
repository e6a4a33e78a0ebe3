/* Draws the graph of the parts as SVG within the page: a box for each part, in the colour of its device, and an arrow
 * for the tensors that go from one part to another, or from and to the host.  The graph is complete without
 * JavaScript; the program of the page finds boxes by data-box.  If there are very many parts (html_write()), boxes
 * stand for devices, as in blocks.svg.  Of very many arrows the heaviest are drawn, and a line says so.  O(pins +
 * arrows log arrows). */
#include "backends/html/html.h"

#include "backends/html/grid.h"
#include "backends/html/text.h"
#include "backends/palette.h"
#include "backends/picture/frame_label.h"
#include "ir/base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_BOXES_DRAWN = 4000, /* a plan with more boxes gets no graph */
    MOST_ARROWS = 3000,      /* arrows that are drawn, at most */
    MOST_LABELS = 200,       /* with more arrows than this, only their tooltips tell bytes */
    /* lengths in px */
    CELL_WIDE = 250,
    CELL_HIGH = 96,
    BOX_WIDE = 164,
    BOX_HIGH = 60,
    EDGE = 12,         /* around the graph */
    ABOVE = 28,        /* room above the first row, for arrows that go above boxes */
    LANE_NAME = 64,    /* width of the names of lanes */
    LEAST_WIDE = 1360, /* width of the graph at least: a small one is not scaled up */
    LETTERS = 22,      /* bytes of a line in a box, at most */
    TIP = 7            /* from the end of a curve to the tip of its arrow */
};

/* The graph while it is drawn.  Box 0 stands for the model's inputs, box 1 + i for frame i of html.box (a part or a
 * device), box n - 1 for the model's outputs. */
struct graph_picture {
    struct html *h;
    FILE *f;
    struct arena *a;
    struct arrows arrows;
    const struct arrow **drawn; /* [ndrawn] the arrows that are drawn */
    uint32_t ndrawn, n;         /* n: number of boxes, with those of the host */
    struct grid grid;           /* places of the boxes that are drawn; box `first` is its cell 0 */
    uint32_t first;             /* the first box that is drawn: 0 or 1 */
    uint32_t *lane;             /* [box] lane of its device */
    uint32_t *lane_device;      /* [lane] its device */
    /* [0] the box of the model's inputs has an arrow; [1] the box of its outputs has one */
    bool host[2];
    int left, wide; /* px: where the first column begins; width of the graph */
};

/* Whether box i is drawn: a box of the host (the first and the last box) only if an arrow meets it. */
static bool is_drawn(const struct graph_picture *p, uint32_t i)
{
    return i == 0 ? p->host[0] : i < p->n - 1 || p->host[1];
}

/* Returns the boxes at the ends of an arrow.  Box 0 is the host: an arrow to it leads to the last box, the model's
 * outputs. */
static struct grid_arrow ends_of(const struct graph_picture *p, const struct arrow *t)
{
    return (struct grid_arrow){t->from, t->to ? t->to : p->n - 1};
}

/* For qsort(), of pointers to arrows: the arrow with more bytes first; arrows with equal bytes stay in their order. */
static int by_bytes(const void *a, const void *b)
{
    const struct arrow *x = *(const struct arrow *const *)a, *y = *(const struct arrow *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* Finds all arrows (p->arrows), chooses the arrows that are drawn (p->drawn), the heaviest if there are too many, and
 * notes which boxes of the host they meet (p->host). */
static void choose_arrows(struct graph_picture *p)
{
    const struct frames *box = &p->h->box;
    /* arrows_build() wants [box] its frame + 1: each box is a frame of its own */
    uint32_t *self = arena_array(p->a, (size_t)box->n + 1, sizeof *self);
    for (uint32_t i = 0; i <= box->n; i++)
        self[i] = i;
    p->arrows = arrows_build(p->h->r, box->of, self, box->n, p->a);
    p->drawn = arena_array(p->a, (size_t)p->arrows.n + 1, sizeof *p->drawn);
    for (uint32_t i = 0; i < p->arrows.n; i++)
        p->drawn[i] = &p->arrows.f[i];
    if (p->arrows.n > MOST_ARROWS)
        qsort(p->drawn, p->arrows.n, sizeof *p->drawn, by_bytes);
    p->ndrawn = p->arrows.n < MOST_ARROWS ? p->arrows.n : MOST_ARROWS;
    for (uint32_t i = 0; i < p->ndrawn; i++) {
        p->host[0] |= p->drawn[i]->from == 0;
        p->host[1] |= p->drawn[i]->to == 0;
    }
}

/* Gives each device that has a box a lane, in the order of the devices, and each box the lane of its device: sets
 * p->lane, p->lane_device and p->grid.lanes.  The box of the model's inputs gets the lane of the first part, the box of
 * its outputs the lane of the last part. */
static void choose_lanes(struct graph_picture *p)
{
    const struct frames *box = &p->h->box;
    uint32_t ndev = p->h->r->scene.cluster->ndev;
    uint8_t *has_box = arena_alloc(p->a, (size_t)ndev + 1);         /* [device] 1: it has a box */
    uint32_t *of = arena_array(p->a, (size_t)ndev + 1, sizeof *of); /* [device] its lane */
    p->lane = arena_array(p->a, p->n, sizeof *p->lane);
    p->lane_device = arena_array(p->a, (size_t)ndev + 1, sizeof *p->lane_device);
    for (uint32_t i = 0; i < box->n; i++)
        has_box[box->dev[i]] = 1;
    p->grid.lanes = 0;
    for (uint32_t d = 0; d < ndev; d++)
        if (has_box[d]) {
            p->lane_device[p->grid.lanes] = d;
            of[d] = p->grid.lanes++;
        }
    for (uint32_t i = 0; i < box->n; i++)
        p->lane[i + 1] = of[box->dev[i]];
    p->lane[0] = box->n ? p->lane[1] : 0;
    p->lane[p->n - 1] = p->lane[p->n - 2];
}

/* Gives the boxes that are drawn their places: sets p->first, p->grid, p->left and p->wide. */
static void place_boxes(struct graph_picture *p)
{
    /* the drawn arrows, with boxes numbered as in the grid: from the first box that is drawn on */
    struct grid_arrow *t = arena_array(p->a, (size_t)p->ndrawn + 1, sizeof *t);
    p->first = is_drawn(p, 0) ? 0 : 1;
    for (uint32_t i = 0; i < p->ndrawn; i++) {
        t[i] = ends_of(p, p->drawn[i]);
        t[i].from -= p->first;
        t[i].to -= p->first;
    }
    uint32_t lanes = p->grid.lanes ? p->grid.lanes : 1;
    uint32_t n = p->n - p->first - !is_drawn(p, p->n - 1); /* boxes that are drawn */
    p->grid = grid_of(t, p->ndrawn, p->lane + p->first, n, lanes, p->a);
    p->left = EDGE + (p->grid.by_lane ? LANE_NAME : 0);
    p->wide = p->left + CELL_WIDE * (int)p->grid.columns - (CELL_WIDE - BOX_WIDE) + EDGE;
    p->wide = p->wide > LEAST_WIDE ? p->wide : LEAST_WIDE;
}

/* Returns the place of box i, which is drawn. */
static const struct grid_cell *cell_of(const struct graph_picture *p, uint32_t i)
{
    return &p->grid.cell[i - p->first];
}

/* Return the left side and the upper side of box i, px. */
static int box_x(const struct graph_picture *p, uint32_t i)
{
    return p->left + CELL_WIDE * (int)cell_of(p, i)->column;
}

static int box_y(const struct graph_picture *p, uint32_t i)
{
    return ABOVE + CELL_HIGH * (int)cell_of(p, i)->row + (CELL_HIGH - BOX_HIGH) / 2;
}

/* Returns the classes of the style sheet that give an element the colour of a device: "d3"; where the colours repeat,
 * "d3 again" for every second time, such as for device 11. */
static const char *colour_of(const struct graph_picture *p, uint32_t dev)
{
    return arena_fmt(p->a, "d%u%s", dev % PALETTE, dev / PALETTE % 2 ? " again" : "");
}

/* If each lane has a row of its own, draws a stripe for each lane of each band, with the name of the device. */
static void put_lanes(const struct graph_picture *p)
{
    const struct grid *g = &p->grid;
    for (uint32_t row = 0; g->by_lane && row < g->bands * g->lanes; row++) {
        int y = ABOVE + CELL_HIGH * (int)row;
        uint32_t dev = p->lane_device[row % g->lanes];
        fprintf(p->f,
                "<rect class=\"lane %s\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                "<text class=\"lane\" x=\"%d\" y=\"%d\">",
                row % g->lanes % 2 ? "odd" : "even", y, p->wide, CELL_HIGH, EDGE,
                y + CELL_HIGH / 2 + 4);
        html_put(p->f, p->a, cluster_device_name(p->h->r->scene.cluster, p->a, dev));
        fputs("</text>\n", p->f);
    }
}

/* A cubic Bezier curve by its four points, px. */
struct curve {
    int x[4], y[4];
};

/* Returns the coordinate in the middle of a curve with these four coordinates. */
static int middle(const int c[4])
{
    return (c[0] + 3 * c[1] + 3 * c[2] + c[3]) / 8;
}

/* Returns the curve of an arrow, from the right side of box e.from to the left side of box e.to.  The curve stays
 * in the row of e.from up to the column before e.to; if both boxes are in that row, the curve goes above the boxes
 * between them. */
static struct curve curve_of(const struct graph_picture *p, struct grid_arrow e)
{
    const struct grid_cell *from = cell_of(p, e.from), *to = cell_of(p, e.to);
    int x0 = box_x(p, e.from) + BOX_WIDE, y0 = box_y(p, e.from) + BOX_HIGH / 2;
    int x1 = box_x(p, e.to), y1 = box_y(p, e.to) + BOX_HIGH / 2;
    /* the arrow goes above the boxes that stand between the two */
    bool over = from->row == to->row && to->column != from->column + 1;
    /* the two inner points of the curve: `far` behind the first box, `near` before the other one, `rise` above both */
    int near = (CELL_WIDE - BOX_WIDE) / 2, rise = over ? CELL_HIGH * 3 / 4 : 0;
    int far = !over && x1 - x0 > 2 * near ? x1 - x0 - near : near;
    return (struct curve){{x0, x0 + far, x1 - near, x1 - TIP}, {y0, y0 - rise, y1 - rise, y1}};
}

/* Draws an arrow, with a tooltip of its tensors and, unless there are too many, its bytes. */
static void put_arrow(const struct graph_picture *p, const struct arrow *t)
{
    struct grid_arrow e = ends_of(p, t);
    struct curve c = curve_of(p, e);
    const char *colour = t->from ? colour_of(p, p->h->box.dev[t->from - 1]) : "host";
    fprintf(p->f, "<g class=\"arrow %s%s\" data-from=\"%u\" data-to=\"%u\"><title>", colour,
            t->pale ? " pale" : "", e.from, e.to);
    html_put_dot(p->f, p->a, t->tip, "\n");
    fprintf(p->f,
            "</title><path stroke-width=\"%s\" d=\"M%d %dC%d %d %d %d %d %d\"/>"
            "<path class=\"head\" d=\"M%d %dl-9 -4v8z\"/>",
            arrow_width(p->a, t->bytes), c.x[0], c.y[0], c.x[1], c.y[1], c.x[2], c.y[2], c.x[3],
            c.y[3], c.x[3] + TIP, c.y[3]);
    if (p->ndrawn <= MOST_LABELS) {
        char b[UNIT_TEXT];
        fprintf(p->f, "<text x=\"%d\" y=\"%d\">%s</text>", middle(c.x), middle(c.y) - 6,
                bytes_short(b, t->bytes));
    }
    fputs("</g>\n", p->f);
}

/* Writes a line of text at x, y, of at most LETTERS bytes, so that it fits a box; a longer text ends in "...". */
static void put_line(const struct graph_picture *p, int x, int y, const char *class,
                     const char *text)
{
    text = utf8_text(p->a, text);
    size_t n = strlen(text), keep = utf8_good(text, n < LETTERS ? n : LETTERS);
    fprintf(p->f, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    html_put(p->f, p->a, arena_fmt(p->a, "%.*s%s", (int)keep, text, keep < n ? "..." : ""));
    fputs("</text>", p->f);
}

/* Returns the time that all nodes of a frame take on its device, ps. */
static int64_t box_time(const struct html *h, uint32_t frame)
{
    const int64_t *time =
        h->r->scene.m->cost->time[cluster_class(h->r->scene.cluster, h->box.dev[frame])];
    int64_t sum = 0;
    for_row (x, h->box.node, frame)
        sum = sat_add(sum, time[x]);
    return sum;
}

/* Draws the box of frame i (box 1 + i): three lines, the file, the device and its class, the nodes and their time. */
static void put_box(const struct graph_picture *p, uint32_t i)
{
    const struct html *h = p->h;
    const struct cluster *c = h->r->scene.cluster;
    uint32_t dev = h->box.dev[i], nodes = h->box.node.at[i + 1] - h->box.node.at[i];
    int x = box_x(p, i + 1), y = box_y(p, i + 1);
    char t[UNIT_TEXT];
    fprintf(p->f, "<g class=\"box %s\" data-box=\"%u\" tabindex=\"0\" role=\"button\"><title>",
            colour_of(p, dev), i);
    html_put_dot(p->f, p->a, frame_label(h->r, &h->box, i, NULL, p->a), "\n");
    fprintf(p->f, "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>", x, y,
            BOX_WIDE, BOX_HIGH);
    put_line(p, x + 10, y + 18, "name", frame_file(h->r, &h->box, i, p->a));
    put_line(p, x + 10, y + 34, "detail",
             arena_fmt(p->a, "%s \302\267 %s", cluster_device_name(c, p->a, dev),
                       c->cls[cluster_class(c, dev)].name));
    put_line(p, x + 10, y + 50, "detail",
             arena_fmt(p->a, "%u node%s, %s", nodes, nodes == 1 ? "" : "s",
                       time_short(t, box_time(h, i))));
    fputs("</g>\n", p->f);
}

/* Draws box i, the box of the model's inputs (i is 0) or outputs. */
static void put_host(const struct graph_picture *p, uint32_t i)
{
    int x = box_x(p, i), y = box_y(p, i);
    fprintf(p->f,
            "<g class=\"box host\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>",
            x, y + BOX_HIGH / 4, BOX_WIDE, BOX_HIGH / 2);
    put_line(p, x + 10, y + BOX_HIGH / 2 + 4, "name", i ? "outputs" : "inputs");
    fputs("</g>\n", p->f);
}

/* Writes the line below the graph: what it shows, and what it leaves out. */
static void put_legend(const struct graph_picture *p)
{
    const struct html *h = p->h;
    fprintf(p->f,
            "<p class=\"note\">A box: the nodes of %s; an arrow: tensors that cross, each "
            "once for each reader.",
            h->box.n < h->r->parts->nparts ? "a device, as there are too many parts" : "a part");
    if (p->arrows.n > p->ndrawn)
        fprintf(p->f, " Of %u arrows the %u heaviest are drawn.", p->arrows.n, p->ndrawn);
    fputs("<span class=\"script\" hidden> Click a box for its nodes; drag to move, Ctrl and the "
          "wheel to zoom.</span></p>\n",
          p->f);
}

void html_put_graph(struct html *h)
{
    struct graph_picture p = {.h = h, .f = h->f, .a = arena_new(h->a), .n = h->box.n + 2};
    html_open(h, "graph", "Parts and what crosses between them");
    if (!h->box.n || h->box.n > MOST_BOXES_DRAWN) {
        fputs(h->box.n ? "<p>There are too many devices for a picture; the tables have all.</p>\n"
                       : "<p>There is no part: no node needs to run.</p>\n",
              p.f);
        html_close(h);
        arena_free(p.a);
        return;
    }
    choose_arrows(&p);
    choose_lanes(&p);
    place_boxes(&p);
    fprintf(p.f,
            "<div class=\"graph\">\n<svg id=\"parts-graph\" viewBox=\"0 0 %d %d\" role=\"group\" "
            "aria-label=\"graph of the parts\">\n",
            p.wide, ABOVE + CELL_HIGH * (int)p.grid.rows + EDGE);
    put_lanes(&p);
    /* pale arrows first, so that the other arrows are drawn over them */
    for (int strong = 0; strong < 2; strong++)
        for (uint32_t i = 0; i < p.ndrawn; i++)
            if (p.drawn[i]->pale != strong)
                put_arrow(&p, p.drawn[i]);
    for (uint32_t i = 0; i < p.n; i++)
        if (is_drawn(&p, i)) {
            /* the texts of a box are dropped when it is written */
            struct arena_mark mark = arena_mark(p.a);
            if (i == 0 || i == p.n - 1)
                put_host(&p, i);
            else
                put_box(&p, i - 1);
            arena_release(p.a, mark);
        }
    fputs("</svg>\n<aside id=\"panel\" class=\"script\" hidden></aside>\n</div>\n", p.f);
    put_legend(&p);
    html_close(h);
    arena_free(p.a);
}
