/* Pictures as DOT, through cgraph.
 *
 * Three views.  Devices: a box per part in its device's colour, the host, and an arrow per pair with the
 * number of tensors and their bytes.  Blocks: the parts as frames with their nodes folded into boxes
 * (blocks.c).  Nodes: every placed node a box.
 * Arrows that cross devices are heavy, in the colour of the sender, and labelled; those inside a part
 * are thin.  Where many boxes of two frames exchange tensors, their arrows meet in one small box that
 * carries the label: n + m arrows instead of n * m, and one at the border of the frame where n or m
 * is large.  Of very many only the heaviest are drawn, which the title says.  What the host sends and gets
 * has a port beside each frame.  Once dot has placed boxes, frames get places beside each other.  Width
 * grows with the logarithm of the bytes; every box and arrow has a stable id and a tooltip.  Further devices
 * than the palette has colours differ in the style of their lines.
 * O(nodes + pins). */
#include "backends/picture/blocks.h"
#include "backends/picture/title.h"
#include "ir/plan/parts.h"
#include "backends/picture/arrows.h"
#include "backends/picture/columns.h"
#include "backends/picture/arrange.h"
#include "backends/picture/layout.h"
#include "backends/picture/op_kind.h"
#include "backends/label.h"
#include "backends/palette.h"
#include "ir/base/outfile.h"
#include "ir/base/map.h"
#include "ir/base/random.h"

#include <graphviz/cgraph.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 48, MEET = 4, BORDER = 2, TITLE = 80, ROUTES_LEAST = 4, MANY_FRAMES = 24 };

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
    Agraph_t **column;
    struct sign *sign; /* what arrows between frames go through */
    uint32_t signs, capsigns;
    uint64_t random; /* a state of random_bits */
};

/* A label on the way from one frame to another (frame + 1, 0: the host), and the box there that it belongs to. */
struct sign {
    Agnode_t *node;
    uint32_t from, to, box;
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

/* Nodes that compute shapes, indices or masks only. */
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

/* The transfers from one frame to another (0: the host). */
struct route {
    uint32_t arrows, tensors;
    int64_t bytes;
    Agnode_t *meet; /* where its arrows meet, NULL: each goes its own way */
    bool left_out;
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

/* A small box that lists the values on an arrow. */
static void shape_label(Agnode_t *n)
{
    set_attribute(n, "fillcolor", "#ffffff");
    set_attribute(n, "fontsize", "11");
    set_attribute(n, "margin", "0.08,0.04");
    set_attribute(n, "height", "0.25");
    set_attribute(n, "width", "0.5");
}

static void add_sign(struct picture *p, Agnode_t *n, const struct arrow *f)
{
    p->sign = vec_grow(p->a, p->sign, &p->capsigns, p->signs + 1, sizeof *p->sign);
    p->sign[p->signs++] =
        (struct sign){n, p->frame_of[f->from], p->frame_of[f->to], f->to ? f->to : f->from};
}

/* The small box in which the arrows of a route meet: of the host, one beside each frame. */
static Agnode_t *add_meeting(struct picture *p, const struct arrow *f, const struct route *r)
{
    uint32_t from = p->frame_of[f->from], to = p->frame_of[f->to];
    const char *id = arena_fmt(p->a, "route_%u_%u", from, to),
               *what = write_amount(p, r->tensors, r->bytes);
    if (!from)
        what = arena_fmt(p->a, "inputs\n%s", what);
    else if (!to)
        what = arena_fmt(p->a, "outputs\n%s", what);
    Agnode_t *n = add_box(p, p->g, id, what, what, UINT32_MAX);
    shape_label(n);
    if (!from || !to) {
        set_attribute(n, "style", "filled");
        set_attribute(n, "fillcolor", "#edf2f7");
    }
    set_attribute(n, "color", from ? palette_line(p->frames.dev[from - 1]) : "#4a5568");
    add_sign(p, n, f);
    return n;
}

/* One side of a meeting point of arrows: values that a box sends to it, or receives from it. */
struct half {
    Agnode_t *box, *meet;
    uint32_t side; /* that it belongs to */
    uint32_t tensors;
    int64_t bytes;
};

/* All values that a frame sends to a meeting point, or receives from it. */
struct side {
    uint32_t frame, sender, halves, largest; /* largest: of its halves */
    uint32_t tensors;
    int64_t bytes;
    bool sends, ends; /* ends: its arrows have heads */
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
                                      .ends = !sends || !to};
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

/* The head of such an arrow may stand above or beside its tail. */
static void set_free(Agedge_t *e)
{
    set_attribute(e, "constraint", "false");
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
    add_sign(p, n, f);
    if (f->pale) {
        pale_box(n);
        set_attribute(in, "color", PALE_LINE);
        set_attribute(out, "color", PALE_LINE);
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct route *x = *(const struct route *const *)a, *y = *(const struct route *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : 1;
}

static void add_to_title(struct picture *p, const char *text)
{
    set_attribute(
        p->g, "label",
        arena_fmt(p->a, "%s%s", agget(p->g, (char *)(uintptr_t)"label"), title_break(text, p->a)));
}

/* Only the heaviest routes can be followed by the eye, up to twice as many as frames; where frames are many, so many of
 * those that do not lead to the next one, the host's among them.  Returns how many arrows of one route do not meet. */
static uint32_t choose_routes(struct picture *p, struct route *route)
{
    uint32_t frames = p->frames.n, side = frames + 1, n = 0, arrows = 0;
    uint32_t most = frames <= MANY_FRAMES ? 2 * frames + ROUTES_LEAST : MANY_FRAMES;
    struct route **by = arena_array(p->a, (size_t)side * side, sizeof *by);
    struct route rest = {0};
    int64_t all = 0;
    char b[UNIT_TEXT];
    for (uint32_t i = 0; i < side * side; i++)
        if (route[i].arrows &&
            (frames <= MANY_FRAMES ? i >= side && i % side : i < side || i % side != i / side + 1))
            by[n++] = &route[i];
    qsort(by, n, sizeof(struct route *), by_bytes);
    for (uint32_t i = 0; i < n; i++) {
        all = sat_add(all, by[i]->bytes);
        arrows += i < most ? by[i]->arrows : 0;
        by[i]->left_out = i >= most;
        rest.tensors += i < most ? 0 : by[i]->tensors;
        rest.bytes = sat_add(rest.bytes, i < most ? 0 : by[i]->bytes);
    }
    if (n > most)
        add_to_title(
            p, arena_fmt(p->a,
                         "the heaviest %u arrows between devices; %u are left out: %u tensors, "
                         "%s, %.1f" NO_BREAK "%% of the bytes",
                         most, n - most, rest.tensors, bytes_short(b, rest.bytes),
                         all > 0 ? 100.0 * (double)rest.bytes / (double)all : 0));
    return arrows > most ? 1 : MEET;
}

static void draw_arrows(struct picture *p, const struct arrows *t)
{
    uint32_t side = p->frames.n + 1, meet = MEET;
    struct route *route = arena_array(p->a, (size_t)side * side, sizeof *route);
    struct halves halves = {0};
    for (uint32_t i = 0; i < t->n; i++) {
        const struct arrow *f = &t->f[i];
        struct route *r = &route[p->frame_of[f->from] * side + p->frame_of[f->to]];
        if (!f->away)
            continue;
        r->arrows++;
        r->tensors += f->tensors;
        r->bytes = sat_add(r->bytes, f->bytes);
    }
    if (p->columns.of)
        meet = choose_routes(p, route);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct arrow *f = &t->f[i];
        uint32_t from = p->frame_of[f->from], to = p->frame_of[f->to], at = from * side + to;
        struct route *r = &route[at];
        if (!f->away) {
            char *id = arena_fmt(p->a, "edge_%u_%u", f->from, f->to);
            Agedge_t *e = add_arrow(p, p->box[f->from], p->box[f->to], id, f->tip);
            set_attribute(e, "color", f->pale ? PALE_LINE : "#7b8794");
            if (columns_part(&p->columns, f))
                set_free(e);
        } else if (r->left_out) {
            continue;
        } else if (r->arrows > meet || !from || !to) {
            if (!r->meet)
                r->meet = add_meeting(p, f, r);
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

static const char *frame_file(struct picture *p, uint32_t i)
{
    const struct frames *f = &p->frames;
    return f->parts[i] > 1 ? arena_fmt(p->a, "%u parts", f->parts[i])
                           : part_file(p->r->parts, f->first[i], p->a);
}

/* "acc0 (a100)" */
static const char *frame_device(struct picture *p, uint32_t i)
{
    uint32_t dev = p->frames.dev[i];
    const struct device_class *c =
        &p->r->scene.cluster->cls[cluster_class(p->r->scene.cluster, dev)];
    return arena_fmt(p->a, "%s (%s)", device_text(p, dev), escape_text(p, c->name));
}

static const char *frame_time(struct picture *p, uint32_t i, char *buf)
{
    const struct frames *f = &p->frames;
    uint32_t cls = cluster_class(p->r->scene.cluster, f->dev[i]);
    int64_t time = 0;
    for_row (n, f->node, i)
        time = sat_add(time, p->r->scene.m->cost->time[cls][n]);
    return time_short(buf, time);
}

/* h: operands of the nodes, for the tooltip; NULL: a short text. */
static const char *frame_label(struct picture *p, uint32_t i, const struct holdings *h)
{
    char t[UNIT_TEXT], m[UNIT_TEXT];
    const struct frames *f = &p->frames;
    const char *dev = frame_device(p, i), *file = frame_file(p, i);
    uint32_t nodes = f->node.at[i + 1] - f->node.at[i];
    frame_time(p, i, t);
    if (!h)
        return arena_fmt(p->a, "%s, %s\\l%s\\l", dev, t, file);
    const char *memory = p->shared ? ""
                                   : arena_fmt(p->a, "\\nmemory %s",
                                               bytes_short(m, p->r->verdict->load[f->dev[i]].used));
    return arena_fmt(p->a, "%s\n%s, %u node%s\ncompute %s%s%s", dev, file, nodes,
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

/* Allocates boxes 1 .. `boxes`; returns an array [node] for the box of each node. */
static uint32_t *make_room(struct picture *p, uint32_t boxes)
{
    p->box = arena_array(p->a, (size_t)boxes + 1, sizeof(Agnode_t *));
    p->frame_of = arena_array(p->a, (size_t)boxes + 1, sizeof *p->frame_of);
    return arena_array(p->a, p->r->scene.m->nnode, sizeof(uint32_t));
}

/* One box for each frame. b: the frame's contents as one block each; NULL: sizes only. */
static const uint32_t *draw_devices(struct picture *p, const struct blocks *b)
{
    uint32_t *box_of = make_room(p, p->frames.n);
    memcpy(box_of, p->frames.of, p->r->scene.m->nnode * sizeof *box_of);
    p->boxes = p->frames.n;
    draw_sheet(p, title_write(p->r, &p->frames,
                              "box: the nodes of a device; arrow: tensors that cross, each once",
                              p->a));
    struct holdings *h = holdings_of(p->r, p->frames.of, p->frames.n, p->a);
    for (uint32_t i = 0; i < p->frames.n; i++) {
        const char *label = b ? arena_fmt(p->a, "%s, %s\\n%s", frame_device(p, i), frame_file(p, i),
                                          b->block[i].label)
                              : frame_label(p, i, &h[i]);
        p->frame_of[i + 1] = i + 1;
        p->box[i + 1] =
            add_box(p, p->g, arena_fmt(p->a, "part%u", i), label, label, p->frames.dev[i]);
    }
    return box_of;
}

/* Draws at most max(most, frames) boxes, each for a block of nodes of one frame; with `most` 1 as draw_devices().
 * Returns [node] the number of its box; 0: it has none. */
static const uint32_t *draw_blocks(struct picture *p, uint32_t most)
{
    struct blocks b = blocks_build(p->r, &p->frames, most, p->a);
    if (most == 1)
        return draw_devices(p, &b);
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

/* The colour of an operator's kind, as in the legend of draw_nodes. */
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
    Agraph_t **column = p->column = arena_array(p->a, (size_t)c->n + 1, sizeof *column);
    if (c->n)
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

/* The name of a frame above all boxes there. */
static void place_names(struct picture *p, const struct arrows *t)
{
    uint8_t *below = arena_alloc(p->a, (size_t)p->boxes + 1);
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->f[i].away && !columns_part(&p->columns, &t->f[i]))
            below[t->f[i].to] = 1;
    for (uint32_t x = 1; x <= p->boxes && p->name; x++)
        if (!below[x])
            set_attribute(add_order(p, p->name[p->frame_of[x] - 1], p->box[x]), "weight", "1");
}

/* ---- frames side by side ---------------------------------------------------------------------- */

/* Without what goes from frame to frame: dot places each frame as if it were alone. */
static void part_frames(struct picture *p)
{
    for (uint32_t i = 0; i < p->signs; i++)
        for (Agedge_t *e; (e = agfstedge(p->g, p->sign[i].node)) != NULL;)
            agdeledge(p->g, e);
}

/* What dot has placed of a frame: its border, or its only box. */
static const struct spot *frame_spot(struct picture *p, const struct layout *l, uint32_t frame)
{
    if (!p->cluster)
        return layout_find(l, agnameof(p->box[frame + 1]));
    return p->cluster[frame] ? layout_find(l, agnameof(p->cluster[frame])) : NULL;
}

/* At most 1/5 of a point beside it: Graphviz 2.43 ends in an assertion where sides of boxes are exactly in line. */
static void set_place(struct picture *p, Agnode_t *n, double x, double y)
{
    enum { STEPS = 1000000, FIFTH = 5 };
    double dx = (double)random_below(&p->random, STEPS) / STEPS / FIFTH;
    double dy = (double)random_below(&p->random, STEPS) / STEPS / FIFTH;
    set_attribute(n, "pos", arena_fmt(p->a, "%.6f,%.6f", x + dx, y + dy));
}

/* Moves the object of that name, if dot has placed one. */
static void move_box(struct picture *p, const struct layout *l, Agnode_t *n, const double by[2])
{
    const struct spot *s = layout_find(l, agnameof(n));
    if (s)
        set_place(p, n, s->x + by[0], s->y + by[1]);
}

/* The arrows that leave a box within its frame; those that only keep an order are not needed any more. */
static void move_arrows(struct picture *p, const struct layout *l, Agnode_t *n, const double by[2])
{
    for (Agedge_t *e = agfstout(p->g, n), *next; e; e = next) {
        const char *id = agget(e, (char *)(uintptr_t)"id");
        const struct spot *s = id && *id ? layout_find(l, id) : NULL;
        next = agnxtout(p->g, e);
        if (s && s->curve)
            set_attribute(e, "pos", layout_move_curve(s->curve, by[0], by[1], p->a));
        else if (!id || !*id)
            agdeledge(p->g, e);
    }
}

static void move_frame(struct picture *p, const struct layout *l, Agraph_t *g, const double by[2])
{
    const struct spot *s = g ? layout_find(l, agnameof(g)) : NULL;
    if (s)
        set_attribute(g, "bb",
                      arena_fmt(p->a, "%.2f,%.2f,%.2f,%.2f", s->x - s->wide / 2 + by[0],
                                s->y - s->high / 2 + by[1], s->x + s->wide / 2 + by[0],
                                s->y + s->high / 2 + by[1]));
}

/* Where frames and labels are to stand; by: [frame] how far what dot has placed must move.  -1: something has no
 * place. */
static int arrange_frames(struct picture *p, struct layout *l, double (*by)[2])
{
    struct arrangement t = {.frames = p->frames.n, .signs = p->signs};
    t.frame = arena_array(p->a, (size_t)t.frames + 1, sizeof *t.frame);
    t.sign = arena_array(p->a, (size_t)t.signs + 1, sizeof *t.sign);
    for (uint32_t i = 0; i < t.frames; i++) {
        const struct spot *s = frame_spot(p, l, i);
        if (!s)
            return -1;
        t.frame[i].wide = s->wide;
        t.frame[i].high = s->high;
    }
    for (uint32_t i = 0; i < t.signs; i++) {
        const struct sign *g = &p->sign[i];
        const struct spot *s = layout_find(l, agnameof(g->node)),
                          *box = layout_find(l, agnameof(p->box[g->box])),
                          *f = frame_spot(p, l, p->frame_of[g->box] - 1);
        if (!s || !box || !f)
            return -1;
        t.sign[i] = (struct arrange_sign){
            g->from, g->to, s->wide, s->high, f->y + f->high / 2 - box->y, 0, 0};
    }
    picture_arrange(&t, p->a);
    l->screens = arrange_screens(&t);
    for (uint32_t i = 0; i < t.frames; i++) {
        const struct spot *s = frame_spot(p, l, i);
        by[i][0] = t.frame[i].x + t.frame[i].wide / 2 - s->x;
        by[i][1] = -t.frame[i].y - t.frame[i].high / 2 - s->y;
    }
    for (uint32_t i = 0; i < t.signs; i++)
        set_place(p, p->sign[i].node, t.sign[i].x, -t.sign[i].y);
    return 0;
}

/* A place for everything: that of dot within frames, and frames beside each other.  Arrows from frame to frame are left
 * to be drawn. */
static int place_frames(struct picture *p, struct layout *l)
{
    double (*by)[2] = arena_array(p->a, (size_t)p->frames.n + 1, sizeof *by);
    if (arrange_frames(p, l, by))
        return -1;
    for (uint32_t i = 0; i < p->frames.n && p->cluster; i++) {
        move_frame(p, l, p->cluster[i], by[i]);
        move_box(p, l, p->name[i], by[i]);
        move_arrows(p, l, p->name[i], by[i]);
    }
    for (uint32_t i = 0; i < p->columns.n; i++)
        move_frame(p, l, p->column[i], by[p->columns.frame[i]]);
    for (uint32_t x = 1; x <= p->boxes; x++) {
        move_box(p, l, p->box[x], by[p->frame_of[x] - 1]);
        move_arrows(p, l, p->box[x], by[p->frame_of[x] - 1]);
    }
    return 0;
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
    p.frames = frames_build(r, most > 1 && most < GOOD_BOXES ? most : MOST_FRAMES, p.a);
    p.shared = frames_share_devices(r, &p.frames);
    pthread_mutex_lock(&one_at_a_time);
    arena_defer(p.a, let_others, &one_at_a_time);
    p.g = agopen((char *)(uintptr_t)"pcc", Agdirected, &ids.disc);
    arena_defer(p.a, close_graph, p.g);
    const uint32_t *box_of = view == VIEW_DEVICES  ? draw_devices(&p, NULL)
                             : view == VIEW_BLOCKS ? draw_blocks(&p, most)
                                                   : draw_nodes(&p, s->shown);
    struct arrows t = arrows_build(r, box_of, p.frame_of, p.frames.n, p.a);
    if (view != VIEW_NODES)
        draw_columns(&p, &t);
    draw_arrows(&p, &t);
    place_names(&p, &t);
    if (t.hidden)
        add_to_title(
            &p,
            arena_fmt(p.a,
                      "%u thin arrow%s left out: shapes, and further readers of incoming tensors",
                      t.hidden, t.hidden == 1 ? " is" : "s are"));
    if (s->layout && s->layout->name && place_frames(&p, s->layout))
        s->layout->screens = -1;
    else if (s->layout && !s->layout->name)
        part_frames(&p);
    int rc = agwrite(p.g, o.f);
    arena_free(p.a);
    return outfile_close(&o, rc == 0);
}
