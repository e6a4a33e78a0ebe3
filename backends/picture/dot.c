/* Pictures as DOT, through cgraph.
 *
 * Three views.  Devices: a box per part in its device's colour, the host, and an arrow per pair with the
 * number of tensors and their bytes.  Blocks: the parts as frames with their nodes folded into boxes
 * (blocks.c).  Nodes: every placed node a box.
 * Arrows that cross devices are heavy, in the colour of the sender, and labelled; those inside a part
 * are thin.  Where many boxes of two frames exchange tensors, their arrows meet in one small box that
 * carries the label: n + m arrows instead of n * m, and one at the border of the frame where n or m
 * is large.  What the host sends and gets has a port beside
 * each frame.  Width grows with the logarithm of the bytes; every box and arrow has a stable id and a
 * tooltip.  Further devices than the palette has colours differ in the style of their lines.
 * O(nodes + pins). */
#include "backends/picture/blocks.h"
#include "backends/picture/title.h"
#include "ir/plan/parts.h"
#include "backends/picture/arrows.h"
#include "backends/picture/columns.h"
#include "backends/picture/op_kind.h"
#include "backends/label.h"
#include "backends/palette.h"
#include "ir/base/outfile.h"
#include "ir/base/map.h"

#include <graphviz/cgraph.h>
#include <pthread.h>
#include <string.h>

enum { MOST_FRAMES = 48, MEET = 4, BORDER = 2, TITLE = 80 };

static const char *const style[] = {"filled,rounded", "filled,rounded,dashed", "filled",
                                    "filled,dashed"};
enum { COLOURS = PALETTE, STYLES = sizeof style / sizeof *style };

/* Ids of graph objects in the order of their making.  The default ones are addresses of names, which
 * would make the order of clusters in the file differ from run to run.  Every name is used once. */
struct ids {
    Agdisc_t disc; /* first: cgraph hands it back */
    Agraph_t *g;
    struct arena *a;
    char **name;
    uint32_t n, cap;
};

static void *ids_open(Agraph_t *g, Agdisc_t *disc)
{
    ((struct ids *)disc)->g = g;
    return disc;
}

static long ids_map(void *state, int type, char *name, IDTYPE *id, int create)
{
    struct ids *t = state;
    (void)type;
    if (!create)
        return 0;
    t->name = vec_grow(t->a, t->name, &t->cap, t->n + 1, sizeof *t->name);
    t->name[t->n] =
        name ? agstrdup(t->g, name) : NULL; /* agwrite looks at a mark before the text */
    *id = t->n++;
    return 1;
}

static long ids_alloc(void *state, int type, IDTYPE id)
{
    (void)state, (void)type, (void)id;
    return 0;
}

static void ids_free(void *state, int type, IDTYPE id)
{
    (void)state, (void)type, (void)id;
}

static char *ids_print(void *state, int type, IDTYPE id)
{
    (void)type;
    return ((struct ids *)state)->name[id];
}

static void ids_close(void *state)
{
    (void)state;
}

static void ids_register(void *state, int type, void *obj)
{
    (void)state, (void)type, (void)obj;
}

struct picture {
    const struct result *r;
    struct arena *a;
    Agraph_t *g;
    struct frames frames;
    Agraph_t **cluster; /* [frame] NULL in the view of devices */
    Agnode_t **name;    /* [frame] its name, a box at its top; NULL in the view of devices */
    bool shared;        /* a device has several frames */
    uint32_t boxes;
    Agnode_t **box;     /* [box], from 1 */
    uint32_t *frame_of; /* [box] frame + 1 */
    struct columns columns;
};

static void set_attribute(void *obj, const char *name, const char *value)
{
    agsafeset(obj, (char *)(uintptr_t)name, (char *)(uintptr_t)value, (char *)(uintptr_t)"");
}

static const char *escape_text(struct picture *p, const char *s)
{
    return label_text(p->a, s, strlen(s), TITLE);
}

static Agnode_t *add_box(struct picture *p, Agraph_t *g, const char *id, const char *label,
                         const char *tip, uint32_t dev)
{
    Agnode_t *n = agnode(g, (char *)(uintptr_t)id, 1);
    set_attribute(n, "id", id);
    set_attribute(n, "label", label);
    set_attribute(n, "tooltip", tip);
    if (dev < p->r->scene.cluster->ndev) {
        set_attribute(n, "fillcolor", palette_fill(dev));
        set_attribute(n, "color", palette_line(dev));
        if (dev >= COLOURS)
            set_attribute(n, "style", style[dev / COLOURS % STYLES]);
    }
    return n;
}

#define PALE_LINE "#c3ccd6"

/* What is of shapes, indices and masks only. */
static void pale_box(Agnode_t *n)
{
    set_attribute(n, "fillcolor", "#f7f9fb");
    set_attribute(n, "color", PALE_LINE);
    set_attribute(n, "fontcolor", "#52606d");
}

static Agedge_t *add_arrow(struct picture *p, Agnode_t *from, Agnode_t *to, const char *id,
                           const char *tip)
{
    Agedge_t *e = agedge(p->g, from, to, (char *)(uintptr_t)id, 1);
    set_attribute(e, "id", id);
    set_attribute(e, "tooltip", tip);
    set_attribute(e, "labeltooltip", tip);
    return e;
}

/* That b stands below a; beside it, if they are of one rank and the weight is not 0. */
static Agedge_t *add_order(struct picture *p, Agnode_t *a, Agnode_t *b)
{
    Agedge_t *e = agedge(p->g, a, b, NULL, 1);
    set_attribute(e, "style", "invis");
    set_attribute(e, "weight", "0");
    return e;
}

/* ---- arrows ----------------------------------------------------------------------------------- */

/* All that goes between two frames (0: the host). */
struct route {
    uint32_t arrows, tensors;
    int64_t bytes;
    Agnode_t *meet; /* where its arrows meet, NULL: each goes its own way */
};

static void paint(struct picture *p, Agedge_t *e, uint32_t frame, int64_t bytes)
{
    int w = 1;
    for (; bytes >= 1024; bytes /= 4)
        w++;
    uint32_t dev = frame ? p->frames.dev[frame - 1] : UINT32_MAX;
    set_attribute(e, "color", frame ? palette_line(dev) : "#4a5568");
    if (frame && dev >= COLOURS && dev / COLOURS % 2)
        set_attribute(e, "style", "dashed");
    set_attribute(e, "penwidth", arena_fmt(p->a, "%d.%d", 1 + w / 2, w % 2 * 5));
}

static const char *write_amount(struct picture *p, uint32_t tensors, int64_t bytes)
{
    char buf[UNIT_TEXT];
    bytes_short(buf, bytes);
    return tensors == 1 ? arena_fmt(p->a, "%s", buf)
                        : arena_fmt(p->a, "%u tensors\\n%s", tensors, buf);
}

/* A small box with what an arrow carries. */
static void shape_label(Agnode_t *n)
{
    set_attribute(n, "fillcolor", "#ffffff");
    set_attribute(n, "fontsize", "11");
    set_attribute(n, "margin", "0.08,0.04");
    set_attribute(n, "height", "0.25");
    set_attribute(n, "width", "0.5");
}

/* The small box in which the arrows of a route meet: of the host, one beside each frame. */
static Agnode_t *add_meeting(struct picture *p, uint32_t from, uint32_t to, const struct route *r)
{
    const char *id = arena_fmt(p->a, "route_%u_%u", from, to),
               *what = write_amount(p, r->tensors, r->bytes);
    if (!from)
        what = arena_fmt(p->a, "inputs\n%s", what);
    else if (!to)
        what = arena_fmt(p->a, "outputs\n%s", what);
    Agnode_t *n = add_box(p, p->g, id, what, what, UINT32_MAX);
    shape_label(n);
    if (!from || !to) {
        set_attribute(n, "shape", "ellipse");
        set_attribute(n, "fillcolor", "#edf2f7");
    }
    set_attribute(n, "color", from ? palette_line(p->frames.dev[from - 1]) : "#4a5568");
    return n;
}

/* One side of a meeting: what a box sends there, or gets from there. */
struct half {
    Agnode_t *box, *meet;
    uint32_t side; /* that it belongs to */
    uint32_t tensors;
    int64_t bytes;
};

/* All that a frame sends to a meeting, or gets from it. */
struct side {
    uint32_t frame, sender, halves, largest; /* largest: of its halves */
    uint32_t tensors;
    int64_t bytes;
    bool sends, ends; /* ends: its arrows have heads */
    bool parted;      /* its frames do not stand below each other */
};

struct halves {
    struct half *h;
    struct side *side;
    uint32_t n, cap, nside, capside;
    struct map known_half, known_side;
};

static uint32_t side_of(struct picture *p, struct halves *t, uint32_t route, const struct arrow *f,
                        bool sends)
{
    uint32_t i = map_get(&t->known_side, 2 * route + sends + 1);
    if (i)
        return i - 1;
    uint32_t from = p->frame_of[f->from], to = p->frame_of[f->to];
    t->side = vec_grow(p->a, t->side, &t->capside, t->nside + 1, sizeof *t->side);
    t->side[t->nside] = (struct side){.frame = sends ? from : to,
                                      .sender = from,
                                      .largest = t->n,
                                      .sends = sends,
                                      .ends = !sends || !to,
                                      .parted = columns_part(&p->columns, f, p->frame_of)};
    map_set(&t->known_side, p->a, 2 * route + sends + 1, ++t->nside);
    return t->nside - 1;
}

static void add_half(struct picture *p, struct halves *t, const struct route *r, uint32_t route,
                     const struct arrow *f, bool sends)
{
    uint32_t x = sends ? f->from : f->to, s, i;
    if (!x)
        return;
    s = side_of(p, t, route, f, sends);
    i = map_get(&t->known_half, map_key(s + 1, x));
    if (!i) {
        t->h = vec_grow(p->a, t->h, &t->cap, t->n + 1, sizeof *t->h);
        t->h[t->n] = (struct half){.box = p->box[x], .meet = r->meet, .side = s};
        map_set(&t->known_half, p->a, map_key(s + 1, x), i = ++t->n);
        t->side[s].halves++;
    }
    struct half *h = &t->h[i - 1];
    struct side *side = &t->side[s];
    h->tensors += f->tensors;
    h->bytes = sat_add(h->bytes, f->bytes);
    side->tensors += f->tensors;
    side->bytes = sat_add(side->bytes, f->bytes);
    if (h->bytes > t->h[side->largest].bytes)
        side->largest = i - 1;
}

/* Its head need not stand below its tail. */
static void set_free(Agedge_t *e)
{
    set_attribute(e, "constraint", "false");
}

/* Its tail stands at the left of its head: what carries an arrow from stack to stack stands before its reader. */
static void set_beside(Agedge_t *e)
{
    set_attribute(e, "minlen", "0");
}

/* Many arrows of one frame become one that begins or ends at its border. */
static void draw_halves(struct picture *p, const struct halves *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct half *h = &t->h[i];
        const struct side *s = &t->side[h->side];
        bool border = s->halves > BORDER && p->cluster;
        if (border && s->largest != i)
            continue;
        const char *what =
            border ? write_amount(p, s->tensors, s->bytes) : write_amount(p, h->tensors, h->bytes);
        Agedge_t *e = add_arrow(p, s->sends ? h->box : h->meet, s->sends ? h->meet : h->box,
                                arena_fmt(p->a, "half_%u", i), what);
        if (!s->ends)
            set_attribute(e, "arrowhead", "none");
        if (s->parted && s->sends)
            set_free(e);
        else if (s->parted)
            set_beside(e);
        if (border)
            set_attribute(e, s->sends ? "ltail" : "lhead", agnameof(p->cluster[s->frame - 1]));
        paint(p, e, s->sender, border ? s->bytes : h->bytes);
    }
}

/* An arrow that crosses: its label is a box on its way, which no other arrow goes through. */
static void draw_crossing(struct picture *p, const struct arrow *f)
{
    uint32_t from = p->frame_of[f->from];
    Agnode_t *n = add_box(p, p->g, arena_fmt(p->a, "label_%u_%u", f->from, f->to),
                          write_amount(p, f->tensors, f->bytes), f->tip, UINT32_MAX);
    Agedge_t *in =
        add_arrow(p, p->box[f->from], n, arena_fmt(p->a, "tail_%u_%u", f->from, f->to), f->tip);
    Agedge_t *out =
        add_arrow(p, n, p->box[f->to], arena_fmt(p->a, "edge_%u_%u", f->from, f->to), f->tip);
    shape_label(n);
    set_attribute(n, "color", palette_line(p->frames.dev[from - 1]));
    set_attribute(n, "penwidth", "0.7");
    set_attribute(in, "arrowhead", "none");
    paint(p, in, from, f->bytes);
    paint(p, out, from, f->bytes);
    if (columns_part(&p->columns, f, p->frame_of)) {
        set_free(in);
        set_beside(out);
    }
    if (f->pale) {
        pale_box(n);
        set_attribute(in, "color", PALE_LINE);
        set_attribute(out, "color", PALE_LINE);
    }
}

static void draw_arrows(struct picture *p, const struct arrows *t)
{
    uint32_t side = p->frames.n + 1;
    struct route *route = arena_array(p->a, (size_t)side * side, sizeof *route);
    struct halves halves = {0};
    for (uint32_t i = 0; i < t->n; i++) {
        const struct arrow *f = &t->f[i];
        struct route *r = &route[p->frame_of[f->from] * side + p->frame_of[f->to]];
        r->arrows++;
        r->tensors += f->tensors;
        r->bytes = sat_add(r->bytes, f->bytes);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const struct arrow *f = &t->f[i];
        uint32_t from = p->frame_of[f->from], to = p->frame_of[f->to], at = from * side + to;
        struct route *r = &route[at];
        if (!f->away) {
            char *id = arena_fmt(p->a, "edge_%u_%u", f->from, f->to);
            Agedge_t *e = add_arrow(p, p->box[f->from], p->box[f->to], id, f->tip);
            set_attribute(e, "color", f->pale ? PALE_LINE : "#7b8794");
            if (columns_part(&p->columns, f, p->frame_of))
                set_free(e);
        } else if (r->arrows > MEET || !from || !to) {
            if (!r->meet)
                r->meet = add_meeting(p, from, to, r);
            add_half(p, &halves, r, at, f, true);
            add_half(p, &halves, r, at, f, false);
        } else {
            draw_crossing(p, f);
        }
    }
    draw_halves(p, &halves);
}

/* ---- views ------------------------------------------------------------------------------------ */

/* "acc0", or "acc0 to acc2 in turn" where a stage has copies. */
static const char *device_text(struct picture *p, uint32_t dev)
{
    const struct result *r = p->r;
    uint32_t n = r->plan->copies ? r->plan->copies[dev] : 1;
    const char *first = cluster_device_name(r->scene.cluster, p->a, dev);
    return n < 2 ? first
                 : arena_fmt(p->a, "%s to %s in turn", first,
                             cluster_device_name(r->scene.cluster, p->a, dev + n - 1));
}

/* "weights 3.2 MiB, state 1.5 MiB" with a break before it; "" if there are none. */
static const char *write_holdings(struct picture *p, const struct holdings *h)
{
    char b[UNIT_TEXT];
    const char *s = "";
    if (h->weights)
        s = arena_fmt(p->a, "\\nweights %s", bytes_short(b, h->weights));
    if (h->state)
        s = arena_fmt(p->a, "%s%sstate %s", s, *s ? ", " : "\\n", bytes_short(b, h->state));
    return s;
}

/* h: what its nodes read; NULL: in brief. */
static const char *frame_label(struct picture *p, uint32_t i, const struct holdings *h)
{
    char t[UNIT_TEXT], m[UNIT_TEXT];
    const struct frames *f = &p->frames;
    uint32_t cls = cluster_class(p->r->scene.cluster, f->dev[i]);
    uint32_t nodes = f->node.at[i + 1] - f->node.at[i];
    int64_t time = 0;
    for (uint32_t k = f->node.at[i]; k < f->node.at[i + 1]; k++)
        time = sat_add(time, p->r->scene.m->cost->time[cls][f->node.to[k]]);
    const char *dev = device_text(p, f->dev[i]);
    const char *class = escape_text(p, p->r->scene.cluster->cls[cls].name);
    const char *file = f->parts[i] > 1 ? arena_fmt(p->a, "%u parts", f->parts[i])
                                       : part_file(p->r->parts, f->first[i], p->a);
    time_short(t, time);
    if (!h)
        return arena_fmt(p->a, "%s (%s)\\l%s\\l%s\\l", dev, class, file, t);
    const char *memory = p->shared ? ""
                                   : arena_fmt(p->a, "\\nmemory %s",
                                               bytes_short(m, p->r->verdict->load[f->dev[i]].used));
    return arena_fmt(p->a, "%s (%s)\\n%s, %u node%s\\ncompute %s%s%s", dev, class, file, nodes,
                     nodes == 1 ? "" : "s", t, write_holdings(p, h), memory);
}

static void draw_sheet(struct picture *p, const char *label)
{
    set_attribute(p->g, "label", label);
    set_attribute(p->g, "labelloc", "t");
    set_attribute(p->g, "labeljust", "l");
    set_attribute(p->g, "fontname", "Helvetica");
    set_attribute(p->g, "compound", "true");
    set_attribute(p->g, "fontsize", "13");
    set_attribute(p->g, "nodesep", "0.25");
    set_attribute(p->g, "ranksep", "0.3");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"shape", (char *)(uintptr_t)"box");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"style", (char *)(uintptr_t)"filled,rounded");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"fontname", (char *)(uintptr_t)"Helvetica");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"fontsize", (char *)(uintptr_t)"12");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"margin", (char *)(uintptr_t)"0.08,0.04");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"penwidth", (char *)(uintptr_t)"1.5");
    agattr(p->g, AGNODE, (char *)(uintptr_t)"fillcolor", (char *)(uintptr_t)"#edf2f7");
    agattr(p->g, AGEDGE, (char *)(uintptr_t)"fontname", (char *)(uintptr_t)"Helvetica");
    agattr(p->g, AGEDGE, (char *)(uintptr_t)"fontsize", (char *)(uintptr_t)"11");
    agattr(p->g, AGEDGE, (char *)(uintptr_t)"arrowsize", (char *)(uintptr_t)"0.7");
}

/* shown: [node] which are, NULL: all; of frames without any there is nothing. */
static void draw_clusters(struct picture *p, const uint8_t *shown)
{
    uint8_t *some = arena_alloc(p->a, (size_t)p->frames.n + 1);
    for (uint32_t x = 1; x < p->r->scene.m->nnode; x++)
        if (p->frames.of[x] && (!shown || shown[x]))
            some[p->frames.of[x] - 1] = 1;
    p->cluster = arena_array(p->a, (size_t)p->frames.n + 1, sizeof(Agraph_t *));
    p->name = arena_array(p->a, (size_t)p->frames.n + 1, sizeof(Agnode_t *));
    for (uint32_t i = 0; i < p->frames.n; i++) {
        char *name = arena_fmt(p->a, "cluster_part%u", i);
        uint32_t dev = p->frames.dev[i];
        if (!some[i])
            continue;
        p->cluster[i] = agsubg(p->g, name, 1);
        set_attribute(p->cluster[i], "id", name);
        set_attribute(p->cluster[i], "label", "");
        set_attribute(p->cluster[i], "tooltip", frame_label(p, i, NULL));
        set_attribute(p->cluster[i], "style", dev / COLOURS % 2 ? "rounded,dashed" : "rounded");
        set_attribute(p->cluster[i], "color", palette_line(dev));
        set_attribute(p->cluster[i], "penwidth", "2");
        set_attribute(p->cluster[i], "margin", "10");
        p->name[i] = add_box(p, p->cluster[i], arena_fmt(p->a, "name%u", i),
                             frame_label(p, i, NULL), frame_label(p, i, NULL), UINT32_MAX);
        set_attribute(p->name[i], "shape", "plaintext");
        set_attribute(p->name[i], "style", "");
        set_attribute(p->name[i], "fontsize", "13");
    }
}

/* Room for so many boxes, from 1; returns room for the box of each node. */
static uint32_t *make_room(struct picture *p, uint32_t boxes)
{
    p->box = arena_array(p->a, (size_t)boxes + 1, sizeof(Agnode_t *));
    p->frame_of = arena_array(p->a, (size_t)boxes + 1, sizeof *p->frame_of);
    return arena_array(p->a, p->r->scene.m->nnode, sizeof(uint32_t));
}

/* Parts of a device stand in the order in which it runs them, its own below each other. */
static const uint32_t *draw_devices(struct picture *p)
{
    uint32_t *last = arena_array(p->a, p->r->scene.cluster->ndev, sizeof *last);
    uint32_t *box_of = make_room(p, p->frames.n);
    memcpy(box_of, p->frames.of, p->r->scene.m->nnode * sizeof *box_of);
    draw_sheet(p,
               title_write(p->r, &p->frames,
                           "box: what a device runs; arrow: what crosses, each tensor once", p->a));
    struct holdings *h = holdings_of(p->r, p->frames.of, p->frames.n, p->a);
    for (uint32_t i = 0; i < p->frames.n; i++) {
        const char *label = frame_label(p, i, &h[i]);
        uint32_t dev = p->frames.dev[i], before = last[dev];
        p->frame_of[i + 1] = i + 1;
        p->box[i + 1] = add_box(p, p->g, arena_fmt(p->a, "part%u", i), label, label, dev);
        if (p->shared)
            set_attribute(p->box[i + 1], "group", arena_fmt(p->a, "device%u", dev));
        if (before)
            add_order(p, p->box[before], p->box[i + 1]);
        last[dev] = i + 1;
    }
    return box_of;
}

static const uint32_t *draw_blocks(struct picture *p, uint32_t most)
{
    struct blocks b = blocks_build(p->r, &p->frames, most, p->a);
    make_room(p, b.n);
    p->boxes = b.n;
    draw_sheet(
        p,
        title_write(
            p->r, &p->frames,
            "box: time (share of its device's compute), weights and state; double: repeated; heavy arrow: "
            "tensors that cross, each once; thin: within a device",
            p->a));
    draw_clusters(p, NULL);
    for (uint32_t i = 0; i < b.n; i++) {
        const struct block *k = &b.block[i];
        p->frame_of[i + 1] = k->frame + 1;
        p->box[i + 1] = add_box(p, p->cluster[k->frame], arena_fmt(p->a, "block%u", i), k->label,
                                k->tip, p->frames.dev[k->frame]);
        if (k->pale)
            pale_box(p->box[i + 1]);
        if (k->repeats > 1) { /* a second outline: more than one */
            set_attribute(p->box[i + 1], "peripheries", "2");
            set_attribute(p->box[i + 1], "style", "filled");
        }
    }
    return b.of;
}

/* By what an operator does; the legend of draw_nodes says which. */
static const char *kind_fill(const struct module *m, nid x)
{
    if (block_node_is_pale(m, x))
        return "#f7f9fb";
    switch (op_kind(m, x)) {
    case KIND_PRODUCT:
        return "#bfe3c3";
    case KIND_REDUCTION:
        return "#fbe3a0";
    case KIND_MOVEMENT:
        return "#e2e5ea";
    case KIND_OTHER:
        break;
    }
    return "#d5e5f7";
}

static const uint32_t *draw_nodes(struct picture *p, const uint8_t *shown)
{
    const struct module *m = p->r->scene.m;
    uint32_t *box_of = make_room(p, m->nnode), n = 0;
    char t[UNIT_TEXT];
    draw_sheet(
        p,
        title_write(p->r, &p->frames,
                    "box: an operator and its time; green: products and convolutions; yellow: "
                    "reductions, norms, pools; grey: moves data; pale: shapes and masks; blue: the "
                    "rest; border: its device; heavy arrow: a tensor that crosses",
                    p->a));
    draw_clusters(p, shown);
    for (nid x = 1; x < m->nnode; x++) {
        uint32_t frame = p->frames.of[x];
        if (!frame || (shown && !shown[x]))
            continue;
        uint32_t cls = cluster_class(p->r->scene.cluster, p->frames.dev[frame - 1]);
        const char *name = escape_text(p, node_name(m, x)), *op = escape_text(p, node_op(m, x));
        box_of[x] = ++n;
        p->frame_of[n] = frame;
        p->boxes = n;
        p->box[n] =
            add_box(p, p->cluster[frame - 1], arena_fmt(p->a, "node%u", x),
                    arena_fmt(p->a, "%s\\n%s\\n%s", name, op, time_short(t, m->cost->time[cls][x])),
                    name, p->frames.dev[frame - 1]);
        set_attribute(p->box[n], "fillcolor", kind_fill(m, x));
    }
    return box_of;
}

/* Columns of a frame are frames of their own that are not seen. */
static void draw_columns(struct picture *p, const struct arrows *t)
{
    struct columns *c = &p->columns;
    *c = columns_build(t, p->frame_of, p->boxes, p->frames.n, p->a);
    Agraph_t **column = arena_array(p->a, (size_t)c->n + 1, sizeof *column), *heads = NULL;
    Agnode_t *last = NULL;
    for (uint32_t i = 1; i < p->frames.n; i++) { /* stacks beside each other, from the left */
        if (c->stack[i] == c->stack[i - 1]) {    /* below it, straight */
            set_attribute(add_order(p, p->name[i - 1], p->name[i]), "weight", "20");
            continue;
        }
        if (!heads) {
            heads = agsubg(p->g, (char *)(uintptr_t)"heads", 1);
            set_attribute(heads, "rank", "same");
            agsubnode(heads, last = p->name[0], 1);
        }
        agsubnode(heads, p->name[i], 1);
        set_attribute(add_order(p, last, p->name[i]), "weight", "1");
        last = p->name[i];
    }
    if (p->frames.n > 1 || c->n)
        set_attribute(p->g, "newrank", "true");
    for (uint32_t i = 0; i < c->n; i++) {
        column[i] = agsubg(p->cluster[c->frame[i]], arena_fmt(p->a, "cluster_column%u", i), 1);
        set_attribute(column[i], "style", "invis");
        set_attribute(column[i], "tooltip", "");
        set_attribute(column[i], "margin", "4");
    }
    for (uint32_t x = 1; x <= p->boxes; x++) {
        if (c->of[x])
            agsubnode(column[c->of[x] - 1], p->box[x], 1);
        if (c->above[x])
            add_order(p, p->box[c->above[x]], p->box[x]);
    }
}

/* The name of a frame above all boxes there, and below those of the frame that it is stacked upon. */
static void place_names(struct picture *p, const struct arrows *t)
{
    const struct columns *c = &p->columns;
    uint8_t *below = arena_alloc(p->a, (size_t)p->boxes + 1);
    uint8_t *above = arena_alloc(p->a, (size_t)p->boxes + 1);
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->f[i].away && !columns_part(c, &t->f[i], p->frame_of))
            below[t->f[i].to] = above[t->f[i].from] = 1;
    for (uint32_t x = 1; x <= p->boxes && p->name; x++) {
        uint32_t f = p->frame_of[x]; /* the next one */
        if (!below[x])
            add_order(p, p->name[f - 1], p->box[x]);
        if (!above[x] && c->of && f < p->frames.n && c->stack[f] == c->stack[f - 1])
            add_order(p, p->box[x], p->name[f]);
    }
}

static void close_graph(void *g)
{
    agclose(g);
}

/* cgraph keeps variables for all graphs: one thread at a time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void let_others(void *lock)
{
    pthread_mutex_unlock(lock);
}

int dot_write(const struct result *r, const struct scenery *s, const char *path)
{
    enum view view = s->view;
    uint32_t most = s->boxes;
    struct outfile o;
    struct picture p = {.r = r, .a = arena_new(r->scene.m->mem)};
    if (outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag)) {
        arena_free(p.a);
        return -1;
    }
    Agiddisc_t by_order = {ids_open,  ids_map,   ids_alloc,   ids_free,
                           ids_print, ids_close, ids_register};
    struct ids ids = {.disc = {.id = &by_order}, .a = p.a};
    ids.name = vec_grow(p.a, ids.name, &ids.cap, 1,
                        sizeof *ids.name); /* agopen cannot be left in the middle */
    p.frames = frames_build(r, most < GOOD_BOXES ? most : MOST_FRAMES, p.a);
    p.shared = frames_share_devices(r, &p.frames);
    pthread_mutex_lock(&one_at_a_time);
    arena_defer(p.a, let_others, &one_at_a_time);
    p.g = agopen((char *)(uintptr_t)"pcc", Agdirected, &ids.disc);
    arena_defer(p.a, close_graph, p.g);
    const uint32_t *box_of = view == VIEW_DEVICES  ? draw_devices(&p)
                             : view == VIEW_BLOCKS ? draw_blocks(&p, most)
                                                   : draw_nodes(&p, s->shown);
    struct arrows t = arrows_build(r, box_of, p.frame_of, p.frames.n, p.a);
    if (view == VIEW_BLOCKS)
        draw_columns(&p, &t);
    draw_arrows(&p, &t);
    place_names(&p, &t);
    if (t.hidden)
        set_attribute(
            p.g, "label",
            arena_fmt(
                p.a,
                "%s%u thin arrow%s left out: shapes, and to further readers of what comes in\\l",
                agget(p.g, (char *)(uintptr_t)"label"), t.hidden, t.hidden == 1 ? " is" : "s are"));
    int rc = agwrite(p.g, o.f);
    arena_free(p.a);
    return outfile_close(&o, rc == 0);
}
