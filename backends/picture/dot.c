/* Writes pictures as DOT, through cgraph.
 *
 * There are three views.  Devices: a box for each part, in its device's colour.  Blocks: a frame for each part, with
 * its nodes folded into boxes (blocks.c).  Nodes: a frame for each part, with a box for each node.
 *
 * Arrows within a frame are thin.  Arrows between frames are heavy, in the sender's colour; their width grows with
 * the logarithm of the bytes.  The label of such an arrow (number of tensors, bytes) is a small box on its way.  If
 * many boxes of two frames exchange tensors, or the host is at one end, the arrows meet in one label: n + m arrows
 * instead of n * m; if n or m is large, only one arrow, drawn to the border of the frame.  Of very many arrows only
 * the heaviest are drawn, and the title says so.
 *
 * When dot has placed the boxes of each frame, place_frames() puts the frames side by side.  Every box and arrow has
 * a stable id and a tooltip.  When the palette has no more colours, devices differ in the style of their lines.
 * O(nodes + pins). */
#include "backends/picture/blocks.h"
#include "backends/picture/frame_label.h"
#include "backends/picture/title.h"
#include "ir/plan/parts.h"
#include "backends/picture/arrows.h"
#include "backends/picture/columns.h"
#include "backends/picture/arrange.h"
#include "backends/picture/layout.h"
#include "backends/picture/op_kind.h"
#include "backends/picture/shards.h"
#include "backends/label.h"
#include "backends/palette.h"
#include "ir/base/listener.h"
#include "ir/base/outfile.h"
#include "ir/base/map.h"
#include "ir/base/random.h"

#include <graphviz/cgraph.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FRAMES = 48, /* with more parts, frames are devices */
    /* if the arrows between two frames are at most this many, each is drawn for itself; else all meet in one label */
    MEET = 4,
    /* if the arrows between a frame and a label are at most this many, each is drawn; else one arrow at the frame's
     * border stands for all */
    BORDER = 2,
    TITLE = 80, /* the most characters of a name in a title */
    /* decide how many routes are drawn: choose_routes() */
    ROUTES_LEAST = 4,
    MANY_FRAMES = 24
};

/* Styles of boxes: device d has style d / COLOURS. */
static const char *const style[] = {"filled,rounded", "filled,rounded,dashed", "filled",
                                    "filled,dashed"};
enum {
    COLOURS = PALETTE, /* number of colours for devices */
    STYLES = sizeof style / sizeof *style
};

/* A discipline of cgraph (a set of functions that it calls) by which the graph's objects get the ids 0, 1, ... as
 * they are made. By default ids are addresses, and the order of clusters in the file would differ from run to run.
 * Every name is used once. */
struct ids {
    /* must be the first field: functions of the discipline get its address and cast it to struct ids */
    Agdisc_t disc;
    Agraph_t *g;
    struct arena *a;
    char **name; /* [id] name of the object, or NULL */
    uint32_t n, cap;
};

/* The functions of cgraph's discipline for ids; cgraph.h says what each gets and returns.  `state` is the struct ids.
 * ids_open() begins the numbering for graph g and returns the state. */
static void *ids_open(Agraph_t *g, Agdisc_t *disc)
{
    ((struct ids *)disc)->g = g;
    return disc;
}

/* Gives a new object (create != 0) the next id and notes its name.  Returns 1; 0, for not found, if create is 0. */
static long ids_map(void *state, int type, char *name, IDTYPE *id, int create)
{
    struct ids *t = state;
    (void)type;
    if (!create)
        return 0;
    t->name = vec_grow(t->a, t->name, &t->cap, t->n + 1, sizeof *t->name);
    /* agstrdup: agwrite reads a mark that cgraph keeps in front of the text */
    t->name[t->n] = name ? agstrdup(t->g, name) : NULL;
    *id = t->n++;
    return 1;
}

/* Refuses to reserve an id that the caller has chosen: returns 0. */
static long ids_alloc(void *state, int type, IDTYPE id)
{
    (void)state, (void)type, (void)id;
    return 0;
}

/* Does nothing when an object is deleted: its id is not used again. */
static void ids_free(void *state, int type, IDTYPE id)
{
    (void)state, (void)type, (void)id;
}

/* Returns the name of the object with an id; NULL: it has none. */
static char *ids_print(void *state, int type, IDTYPE id)
{
    (void)type;
    return ((struct ids *)state)->name[id];
}

/* Called when the graph is closed.  Does nothing: all memory is in the arena. */
static void ids_close(void *state)
{
    (void)state;
}

/* Called when an object has been made.  Does nothing: ids_map() has noted the name. */
static void ids_register(void *state, int type, void *obj)
{
    (void)state, (void)type, (void)obj;
}

/* A picture that is being drawn. */
struct picture {
    const struct result *r;
    struct arena *a;
    Agraph_t *g;
    struct frames frames;
    /* [frame] the cluster of cgraph that draws its border; NULL: no node of the frame is shown.  The array is NULL in
     * the view of devices */
    Agraph_t **cluster;
    /* [frame] the box at the frame's top that shows its name; NULL: no node of the frame is shown.  The array is
     * NULL in the view of devices */
    Agnode_t **name;
    uint32_t boxes;     /* number of boxes */
    Agnode_t **box;     /* [box], from 1 */
    uint32_t *frame_of; /* [box] frame + 1; box 0, the host: 0 */
    struct columns columns;
    Agraph_t **column; /* [column - 1] an invisible cluster within the frame */
    struct sign *sign; /* [signs] labels of arrows between frames */
    uint32_t signs, capsigns;
    uint64_t random; /* state of random_bits() */
};

/* Where cgraph writes a picture, until the user ends the work (Ctrl-C). */
struct dot_stream {
    FILE *f;
    const struct listener *listener; /* tells whether the user has ended the work */
};

/* For cgraph: writes a text to the stream, a struct dot_stream.  Returns 0; EOF, at which agwrite() ends, if the user
 * has ended the work or the text cannot be written. */
static int put_text(void *stream, const char *text)
{
    const struct dot_stream *s = stream;
    return listener_stopped(s->listener) || fputs(text, s->f) == EOF ? EOF : 0;
}

/* For cgraph: does nothing, as outfile_close() flushes the stream.  Returns 0. */
static int flush_text(void *stream)
{
    (void)stream;
    return 0;
}

/* Whether the user has ended the work: then loops over nodes and arrows end early, and nothing is written. */
static bool is_stopped(const struct picture *p)
{
    return listener_stopped(p->r->diag->listener);
}

/* The label of arrows from one frame to another: a small box on their way. */
struct sign {
    Agnode_t *node;    /* the small box */
    uint32_t from, to; /* the frames, each + 1; 0: the host */
    /* number of a box at an end of the arrows: a box that reads, in frame `to`; if `to` is the host, a box that sends,
     * in frame `from` */
    uint32_t box;
};

/* Sets an attribute of a graph, node or edge of cgraph, which takes char * but only reads the texts. */
static void set_attribute(void *obj, const char *name, const char *value)
{
    agsafeset(obj, (char *)(uintptr_t)name, (char *)(uintptr_t)value, (char *)(uintptr_t)"");
}

/* Returns s, a name from the model, as text for a label or tooltip of DOT: escaped, and at most TITLE characters, the
 * middle left out (label_text).  Lives in p->a. */
static const char *escape_text(struct picture *p, const char *s)
{
    return label_text(p->a, s, strlen(s), TITLE);
}

/* Adds a box to the graph or cluster g and returns it.  id: its name and id in the file; tip: its tooltip; dev: its
 * device, which decides its colours; UINT32_MAX: it has none. */
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

#define PALE_LINE "#c3ccd6" /* colour of the border of a pale box */

/* Makes box n grey and pale, since its nodes compute only shapes, indices or masks, or since it is the label of
 * such tensors. */
static void pale_box(Agnode_t *n)
{
    set_attribute(n, "fillcolor", "#f7f9fb");
    set_attribute(n, "color", PALE_LINE);
    set_attribute(n, "fontcolor", "#52606d");
}

/* Adds an arrow between two boxes and returns it.  id: its key and id in the file; tip: its
 * tooltip. */
static Agedge_t *add_arrow(struct picture *p, Agnode_t *from, Agnode_t *to, const char *id,
                           const char *tip)
{
    Agedge_t *e = agedge(p->g, from, to, (char *)(uintptr_t)id, 1);
    set_attribute(e, "id", id);
    set_attribute(e, "tooltip", tip);
    set_attribute(e, "labeltooltip", tip);
    return e;
}

/* Adds an invisible arrow, so that dot puts box b below box a; returns the arrow. */
static Agedge_t *add_order(struct picture *p, Agnode_t *a, Agnode_t *b)
{
    Agedge_t *e = agedge(p->g, a, b, NULL, 1);
    set_attribute(e, "style", "invis");
    set_attribute(e, "weight", "0");
    return e;
}

/* ---- arrows ----------------------------------------------------------------------------------- */

/* All transfers from one frame to another, or from or to the host. */
struct route {
    uint32_t arrows, tensors; /* number of arrows; number of tensors on them */
    int64_t bytes;
    /* the label in which the arrows of the route meet; NULL: each arrow has a label of its own */
    Agnode_t *meet;
    bool left_out; /* the route's arrows are not drawn */
};

/* Sets the colour and style of an arrow by the sender, `frame` (number of the frame + 1, 0: the host), and the
 * arrow's width by the bytes. */
static void paint(struct picture *p, Agedge_t *e, uint32_t frame, int64_t bytes)
{
    uint32_t dev = frame ? p->frames.dev[frame - 1] : UINT32_MAX;
    set_attribute(e, "color", frame ? palette_line(dev) : "#4a5568");
    if (frame && dev / COLOURS % 2)
        set_attribute(e, "style", "dashed");
    set_attribute(e, "penwidth", arrow_width(p->a, bytes));
}

/* Makes a box look like the label of an arrow: small and white. */
static void shape_label(Agnode_t *n)
{
    set_attribute(n, "fillcolor", "#ffffff");
    set_attribute(n, "fontsize", "11");
    set_attribute(n, "margin", "0.08,0.04");
    set_attribute(n, "height", "0.25");
    set_attribute(n, "width", "0.5");
}

/* Notes that box n is the label of arrow f, or of several arrows, the first of which is f. */
static void add_sign(struct picture *p, Agnode_t *n, const struct arrow *f)
{
    p->sign = vec_grow(p->a, p->sign, &p->capsigns, p->signs + 1, sizeof *p->sign);
    p->sign[p->signs++] =
        (struct sign){n, p->frame_of[f->from], p->frame_of[f->to], f->to ? f->to : f->from};
}

/* Adds the label in which the arrows of route r meet (number of tensors, bytes), and returns its box.  f: the first
 * arrow of r. */
static Agnode_t *add_meeting(struct picture *p, const struct arrow *f, const struct route *r)
{
    uint32_t from = p->frame_of[f->from], to = p->frame_of[f->to];
    const char *id = arena_fmt(p->a, "route_%u_%u", from, to),
               *what = arrow_amount(p->a, r->tensors, r->bytes);
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

/* An arrow between a box and the label in which the arrows of a route meet: all values that the box sends or gets. */
struct half {
    Agnode_t *box, *meet; /* the box; the label */
    uint32_t side;        /* index in halves.side: all halves of this frame and label */
    uint32_t tensors;
    int64_t bytes;
};

/* All halves between the boxes of one frame and a label. */
struct side {
    /* the frame with the boxes; the frame that sends (frame + 1, 0: the host) */
    uint32_t frame, sender;
    uint32_t halves, largest; /* number of halves; the half with the most bytes */
    uint32_t tensors;
    int64_t bytes;
    bool sends; /* arrows lead from the boxes to the label; false: from the label to the boxes */
    bool ends;  /* arrows are drawn with heads */
};

struct halves {
    struct half *h;    /* [n] */
    struct side *side; /* [nside] */
    uint32_t n, cap, nside, capside;
    struct map known_half; /* (side + 1, box) -> half + 1 */
    struct map known_side; /* 2 * route + (1: sends, 0: receives) + 1 -> side + 1 */
};

/* Returns the index in t->side of the sending side of a route or (sends false) of its receiving side; adds the side
 * if t->side lacks it.  route: index of the route; f: an arrow of the route. */
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

/* Adds the tensors of arrow f to the half of route r between the route's label and the box that sends or (sends
 * false) the box that receives.  Does nothing if that end of the arrow is the host, which has no box.  route: index
 * of r. */
static void add_half(struct picture *p, struct halves *t, const struct route *r, uint32_t route,
                     const struct arrow *f, bool sends)
{
    uint32_t x = sends ? f->from : f->to;
    if (!x)
        return;
    uint32_t s = side_of(p, t, route, f, sends), i = map_get(&t->known_half, map_key(s + 1, x));
    if (!i) { /* the box has no half yet */
        t->h = vec_grow(p->a, t->h, &t->cap, t->n + 1, sizeof *t->h);
        t->h[t->n] = (struct half){.box = p->box[x], .meet = r->meet, .side = s};
        i = ++t->n;
        map_set(&t->known_half, p->a, map_key(s + 1, x), i);
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

/* Lets dot also place the box at the head of an arrow above or beside the box at its tail. */
static void relax_arrow(Agedge_t *e)
{
    set_attribute(e, "constraint", "false");
}

/* Draws the halves as arrows.  If a side has more than BORDER halves, only the half with the most bytes is drawn: it
 * stands for all halves of the side, and begins or ends at the frame's border. */
static void draw_halves(struct picture *p, const struct halves *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct half *h = &t->h[i];
        const struct side *s = &t->side[h->side];
        bool border = s->halves > BORDER && p->cluster;
        if (border && s->largest != i)
            continue;
        const char *what = border ? arrow_amount(p->a, s->tensors, s->bytes)
                                  : arrow_amount(p->a, h->tensors, h->bytes);
        Agedge_t *e = add_arrow(p, s->sends ? h->box : h->meet, s->sends ? h->meet : h->box,
                                arena_fmt(p->a, "half_%u", i), what);
        if (!s->ends)
            set_attribute(e, "arrowhead", "none");
        if (border)
            set_attribute(e, s->sends ? "ltail" : "lhead", agnameof(p->cluster[s->frame - 1]));
        paint(p, e, s->sender, border ? s->bytes : h->bytes);
    }
}

/* Draws an arrow between frames that has a label of its own: the label, an arrow from the sender to the label, and an
 * arrow from the label to the receiver. */
static void draw_crossing(struct picture *p, const struct arrow *f)
{
    uint32_t from = p->frame_of[f->from];
    Agnode_t *n = add_box(p, p->g, arena_fmt(p->a, "label_%u_%u", f->from, f->to),
                          arrow_amount(p->a, f->tensors, f->bytes), f->tip, UINT32_MAX);
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

/* Compares pointers to routes, for qsort(): the route with the most bytes first, equal ones in the array's order. */
static int by_bytes(const void *a, const void *b)
{
    const struct route *x = *(const struct route *const *)a, *y = *(const struct route *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : 1;
}

/* Appends a paragraph to the title of the picture. */
static void add_to_title(struct picture *p, const char *text)
{
    set_attribute(
        p->g, "label",
        arena_fmt(p->a, "%s%s", agget(p->g, (char *)(uintptr_t)"label"), title_break(text, p->a)));
}

/* Leaves out all but the heaviest routes, and says so in the title.  With up to MANY_FRAMES frames,
 * 2 * frames + ROUTES_LEAST routes between frames stay, and all routes of the host; with more
 * frames, all routes to the next frame, and MANY_FRAMES others.  Returns up to how many arrows of a
 * route have a label each; if a route has more, all its arrows meet in one label.  That number is
 * MEET; but it is 1, so that the picture has few labels, if the routes that were chosen by weight
 * have more arrows in all than there may be such routes. */
static uint32_t choose_routes(struct picture *p, struct route *route)
{
    uint32_t frames = p->frames.n, side = frames + 1, n = 0, arrows = 0;
    uint32_t most = frames <= MANY_FRAMES ? 2 * frames + ROUTES_LEAST : MANY_FRAMES;
    struct route **by = arena_array(p->a, (size_t)side * side, sizeof *by);
    struct route rest = {0};
    int64_t all = 0;
    char b[UNIT_TEXT];
    /* by[n]: routes that may be left out; route i goes from i / side to i % side, each a frame + 1 or 0, the host */
    for (uint32_t i = 0; i < side * side; i++) {
        uint32_t from = i / side, to = i % side;
        bool may_go = frames <= MANY_FRAMES ? from && to : !from || to != from + 1;
        if (route[i].arrows && may_go)
            by[n++] = &route[i];
    }
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

/* Draws all arrows: arrows within frames as they are, arrows between frames through labels. */
static void draw_arrows(struct picture *p, const struct arrows *t)
{
    uint32_t side = p->frames.n + 1, meet = MEET;
    /* [from * side + to], each a frame + 1, or 0: the host */
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
    if (p->columns.of) /* the views of devices and blocks; the view of nodes shows all arrows */
        meet = choose_routes(p, route);
    for (uint32_t i = 0; i < t->n && !is_stopped(p); i++) {
        const struct arrow *f = &t->f[i];
        uint32_t from = p->frame_of[f->from], to = p->frame_of[f->to], at = from * side + to;
        struct route *r = &route[at];
        if (!f->away) {
            char *id = arena_fmt(p->a, "edge_%u_%u", f->from, f->to);
            Agedge_t *e = add_arrow(p, p->box[f->from], p->box[f->to], id, f->tip);
            set_attribute(e, "color", f->pale ? PALE_LINE : "#7b8794");
            if (columns_part(&p->columns, f))
                relax_arrow(e);
        } else if (r->left_out) {
            continue;
        } else if (r->arrows > meet || !from || !to) {
            if (!r->meet)
                r->meet = add_meeting(p, f, r);
            add_half(p, &halves, r, at, f, /*sends=*/true);
            add_half(p, &halves, r, at, f, /*sends=*/false);
        } else {
            draw_crossing(p, f);
        }
    }
    draw_halves(p, &halves);
}

/* ---- views ------------------------------------------------------------------------------------ */

/* Sets an attribute that all nodes (kind AGNODE) or all edges (AGEDGE) of the graph have by default. */
static void set_default(Agraph_t *g, int kind, const char *key, const char *value)
{
    /* agattr() changes neither text */
    agattr(g, kind, (char *)(uintptr_t)key, (char *)(uintptr_t)value);
}

/* Sets the title of the picture, and the defaults for its boxes and arrows. */
static void set_defaults(struct picture *p, const char *label)
{
    set_attribute(p->g, "label", label);
    set_attribute(p->g, "labelloc", "t");
    set_attribute(p->g, "labeljust", "l");
    set_attribute(p->g, "fontname", "Helvetica");
    set_attribute(p->g, "compound", "true");
    set_attribute(p->g, "fontsize", "13");
    set_attribute(p->g, "nodesep", "0.25");
    set_attribute(p->g, "ranksep", "0.3");
    set_default(p->g, AGNODE, "shape", "box");
    set_default(p->g, AGNODE, "style", "filled,rounded");
    set_default(p->g, AGNODE, "fontname", "Helvetica");
    set_default(p->g, AGNODE, "fontsize", "12");
    set_default(p->g, AGNODE, "margin", "0.08,0.04");
    set_default(p->g, AGNODE, "penwidth", "1.5");
    set_default(p->g, AGNODE, "fillcolor", "#edf2f7");
    set_default(p->g, AGEDGE, "fontname", "Helvetica");
    set_default(p->g, AGEDGE, "fontsize", "11");
    set_default(p->g, AGEDGE, "arrowsize", "0.7");
}

/* Draws the border and the name of each frame that has a shown node (p->cluster, p->name).  shown: [node] not 0: the
 * node is shown; NULL: all are. */
static void draw_clusters(struct picture *p, const uint8_t *shown)
{
    uint8_t *some = arena_alloc(p->a, (size_t)p->frames.n + 1); /* [frame] 1: it has a shown node */
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
        const char *label = frame_label(p->r, &p->frames, i, /*h=*/NULL, p->a);
        p->cluster[i] = agsubg(p->g, name, 1);
        set_attribute(p->cluster[i], "id", name);
        set_attribute(p->cluster[i], "label", "");
        set_attribute(p->cluster[i], "tooltip", label);
        set_attribute(p->cluster[i], "style", dev / COLOURS % 2 ? "rounded,dashed" : "rounded");
        set_attribute(p->cluster[i], "color", palette_line(dev));
        set_attribute(p->cluster[i], "penwidth", "2");
        set_attribute(p->cluster[i], "margin", "10");
        p->name[i] =
            add_box(p, p->cluster[i], arena_fmt(p->a, "name%u", i), label, label, UINT32_MAX);
        set_attribute(p->name[i], "shape", "plaintext");
        set_attribute(p->name[i], "style", "");
        set_attribute(p->name[i], "fontsize", "13");
    }
}

/* Allocates p->box and p->frame_of for boxes 1 .. `boxes`.  Returns an array of 0, for the caller to fill: [node] its
 * box. */
static uint32_t *alloc_boxes(struct picture *p, uint32_t boxes)
{
    p->box = arena_array(p->a, (size_t)boxes + 1, sizeof(Agnode_t *));
    p->frame_of = arena_array(p->a, (size_t)boxes + 1, sizeof *p->frame_of);
    return arena_array(p->a, p->r->scene.m->nnode, sizeof(uint32_t));
}

/* Draws one box for each frame.  b: each frame as one block, whose label goes into the box; NULL: the box shows only
 * sizes.  Returns an array: [node] its box; 0: none. */
static const uint32_t *draw_devices(struct picture *p, const struct blocks *b)
{
    uint32_t *box_of = alloc_boxes(p, p->frames.n);
    memcpy(box_of, p->frames.of, p->r->scene.m->nnode * sizeof *box_of);
    p->boxes = p->frames.n;
    set_defaults(p, title_write(p->r, &p->frames,
                                "box: the nodes of a device; arrow: tensors that cross, each once",
                                p->a));
    struct holdings *h = holdings_of(p->r, p->frames.of, p->frames.n, p->a);
    for (uint32_t i = 0; i < p->frames.n; i++) {
        const char *label =
            b ? arena_fmt(p->a, "%s, %s\\n%s", frame_device(p->r, &p->frames, i, p->a),
                          frame_file(p->r, &p->frames, i, p->a), b->block[i].label)
              : frame_label(p->r, &p->frames, i, &h[i], p->a);
        p->frame_of[i + 1] = i + 1;
        p->box[i + 1] =
            add_box(p, p->g, arena_fmt(p->a, "part%u", i), label, label, p->frames.dev[i]);
    }
    return box_of;
}

/* Draws at most max(most, frames) boxes, each for a block of nodes of one frame; most == 1: does as draw_devices().
 * Returns an array: [node] its box; 0: none. */
static const uint32_t *draw_blocks(struct picture *p, uint32_t most)
{
    struct blocks b = blocks_build(p->r, &p->frames, most, p->a);
    if (most == 1)
        return draw_devices(p, &b);
    alloc_boxes(p, b.n);
    p->boxes = b.n;
    set_defaults(
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
        if (k->repeats > 1) { /* a second outline */
            set_attribute(p->box[i + 1], "peripheries", "2");
            set_attribute(p->box[i + 1], "style", "filled");
        }
    }
    return b.of;
}

/* Returns the colour that fills the box of node x, by the kind of its operator, as the legend in draw_nodes() says. */
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

/* Draws a box for each placed node that is shown.  shown: as in struct scenery.  Returns an array: [node] its box; 0:
 * none. */
static const uint32_t *draw_nodes(struct picture *p, const uint8_t *shown)
{
    const struct module *m = p->r->scene.m;
    uint32_t *box_of = alloc_boxes(p, m->nnode), n = 0;
    char t[UNIT_TEXT];
    set_defaults(
        p,
        title_write(p->r, &p->frames,
                    "box: an operator and its time; green: products and convolutions; yellow: "
                    "reductions, norms, pools; grey: moves data; pale: shapes and masks; blue: the "
                    "rest; border: its device; heavy arrow: a tensor that crosses",
                    p->a));
    draw_clusters(p, shown);
    for (nid x = 1; x < m->nnode && !is_stopped(p); x++) {
        uint32_t frame = p->frames.of[x];
        if (!frame || (shown && !shown[x]))
            continue;
        uint32_t cls = cluster_class(p->r->scene.cluster, p->frames.dev[frame - 1]);
        const char *path = escape_text(p, node_path(m, x, p->a)),
                   *op = escape_text(p, node_op(m, x));
        box_of[x] = ++n;
        p->frame_of[n] = frame;
        p->boxes = n;
        p->box[n] =
            add_box(p, p->cluster[frame - 1], arena_fmt(p->a, "node%u", x),
                    arena_fmt(p->a, "%s\\n%s\\n%s", path, op, time_short(t, m->cost->time[cls][x])),
                    path, p->frames.dev[frame - 1]);
        set_attribute(p->box[n], "fillcolor", kind_fill(m, x));
    }
    return box_of;
}

/* Puts the boxes of tall frames into columns (columns.h), each an invisible cluster within the frame, and rows of
 * leaves below each other by invisible arrows.  Sets p->columns and p->column. */
static void draw_columns(struct picture *p, const struct arrows *t)
{
    struct columns *c = &p->columns;
    *c = columns_build(t, p->frame_of, p->boxes, p->frames.n, p->a);
    Agraph_t **column = arena_array(p->a, (size_t)c->n + 1, sizeof *column);
    p->column = column;
    if (c->n) /* ranks without regard to clusters, so that columns stand side by side */
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

/* Makes dot put the name of each frame above all boxes of the frame: by invisible arrows to the boxes that no arrow
 * puts below another box. */
static void place_names(struct picture *p, const struct arrows *t)
{
    /* [box] 1: it stands below another box */
    uint8_t *below = arena_alloc(p->a, (size_t)p->boxes + 1);
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->f[i].away && !columns_part(&p->columns, &t->f[i]))
            below[t->f[i].to] = 1;
    for (uint32_t x = 1; x <= p->boxes && p->name; x++)
        if (!below[x])
            set_attribute(add_order(p, p->name[p->frame_of[x] - 1], p->box[x]), "weight", "1");
}

/* ---- frames side by side ---------------------------------------------------------------------- */

/* Deletes all arrows between frames, so that dot places the boxes of each frame without regard to other frames. */
static void delete_frame_arrows(struct picture *p)
{
    for (uint32_t i = 0; i < p->signs; i++)
        for (Agedge_t *e; (e = agfstedge(p->g, p->sign[i].node)) != NULL;)
            agdeledge(p->g, e);
}

/* Returns the place of a frame in dot's layout: the place of its border or, in the view of devices, of its only box;
 * NULL: the frame has no place. */
static const struct spot *frame_spot(struct picture *p, const struct layout *l, uint32_t frame)
{
    if (!p->cluster)
        return layout_find(l, agnameof(p->box[frame + 1]));
    return p->cluster[frame] ? layout_find(l, agnameof(p->cluster[frame])) : NULL;
}

/* Sets the middle of box n to x, y, moved by up to 1/5 of a point in a random direction: Graphviz 2.43 fails an
 * assertion if sides of boxes are exactly in line. */
static void set_place(struct picture *p, Agnode_t *n, double x, double y)
{
    enum { STEPS = 1000000, FIFTH = 5 };
    double dx = (double)random_below(&p->random, STEPS) / STEPS / FIFTH;
    double dy = (double)random_below(&p->random, STEPS) / STEPS / FIFTH;
    set_attribute(n, "pos", arena_fmt(p->a, "%.6f,%.6f", x + dx, y + dy));
}

/* Sets the place of box n: dot's place for it, moved by by[0] points to the right and by[1] upwards.  Sets none if dot
 * has not placed the box. */
static void move_box(struct picture *p, const struct layout *l, Agnode_t *n, const double by[2])
{
    const struct spot *s = layout_find(l, agnameof(n));
    if (s)
        set_place(p, n, s->x + by[0], s->y + by[1]);
}

/* Moves the arrows that leave box n within its frame, by by[0] points to the right and by[1] upwards.  Deletes the
 * invisible arrows (add_order), which have no id. */
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

/* Moves the border g of a frame or column by by[0] points to the right and by[1] upwards.  Does nothing if g is NULL,
 * or has no place in dot's layout. */
static void move_frame(struct picture *p, const struct layout *l, Agraph_t *g, const double by[2])
{
    const struct spot *s = g ? layout_find(l, agnameof(g)) : NULL;
    if (s)
        set_attribute(g, "bb",
                      arena_fmt(p->a, "%.2f,%.2f,%.2f,%.2f", s->x - s->wide / 2 + by[0],
                                s->y - s->high / 2 + by[1], s->x + s->wide / 2 + by[0],
                                s->y + s->high / 2 + by[1]));
}

/* Arranges frames and labels by picture_arrange(), sets the places of the labels, and sets l->screens.  Writes to by:
 * [frame] how far, in points, the frame's contents must move to the right and upwards.  Returns 0; -1: a frame, label
 * or box has no place in dot's layout. */
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
        /* dot's y grows upwards, ours downwards */
        by[i][1] = -t.frame[i].y - t.frame[i].high / 2 - s->y;
    }
    for (uint32_t i = 0; i < t.signs; i++)
        set_place(p, p->sign[i].node, t.sign[i].x, -t.sign[i].y);
    return 0;
}

/* Places the frames side by side, with dot's layout inside them; arrows between frames get no place.  Returns 0; -1: a
 * frame, label or box has no place in dot's layout. */
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

/* Closes a graph of cgraph; for arena_defer(). */
static void close_graph(void *g)
{
    agclose(g);
}

/* Locked while cgraph is in use: it has global variables. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Unlocks a mutex; for arena_defer(). */
static void unlock(void *lock)
{
    pthread_mutex_unlock(lock);
}

int dot_write(const struct result *r, const struct scenery *s, const char *path)
{
    enum view view = s->view;
    uint32_t most = s->boxes;
    struct outfile o;
    if (view == VIEW_SHARDS)
        return shards_write(r, path);
    struct picture p = {.r = r, .a = arena_new(r->scene.m->mem)};
    if (outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag)) {
        arena_free(p.a);
        return -1;
    }
    Agiodisc_t by_stream = {NULL, put_text, flush_text};
    struct dot_stream stream = {o.f, r->diag->listener};
    Agiddisc_t by_order = {ids_open,  ids_map,   ids_alloc,   ids_free,
                           ids_print, ids_close, ids_register};
    struct ids ids = {.disc = {.id = &by_order, .io = &by_stream}, .a = p.a};
    /* room for the first name, since running out of memory must not break off agopen(), which asks for an id */
    ids.name = vec_grow(p.a, ids.name, &ids.cap, 1, sizeof *ids.name);
    /* each frame has a box: a limit of few boxes limits the frames, too (1: draw_devices()) */
    p.frames = frames_build(r, most > 1 && most < GOOD_BOXES ? most : MOST_FRAMES, p.a);
    pthread_mutex_lock(&one_at_a_time);
    arena_defer(p.a, unlock, &one_at_a_time);
    p.g = agopen((char *)(uintptr_t)"pcc", Agdirected, &ids.disc);
    arena_defer(p.a, close_graph, p.g);
    const uint32_t *box_of = view == VIEW_DEVICES  ? draw_devices(&p, NULL)
                             : view == VIEW_BLOCKS ? draw_blocks(&p, most)
                                                   : draw_nodes(&p, s->shown);
    struct arrows t = {0};
    if (!is_stopped(&p)) /* after a stop, some nodes have no box */
        t = arrows_build(r, box_of, p.frame_of, p.frames.n, p.a);
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
    if (s->layout && s->layout->name && (is_stopped(&p) || place_frames(&p, s->layout)))
        s->layout->screens = -1;
    else if (s->layout && !s->layout->name)
        delete_frame_arrows(&p);
    int rc = is_stopped(&p) ? EOF : agwrite(p.g, &stream);
    if (rc != 0 && is_stopped(&p))
        diag_broken_off(r->diag);
    arena_free(p.a);
    return outfile_close(&o, rc == 0);
}
