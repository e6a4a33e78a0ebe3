/* Pictures: DOT through cgraph, laid out by the dot program.
 *
 * Two views.  Devices: a box per part in its device's colour, the host, and an arrow per pair with the
 * number of tensors and their bytes.  Blocks: the same parts as frames with their blocks inside; arrows
 * that cross devices are heavy, coloured and labelled, those inside a part thin.  Width grows with the
 * logarithm of the bytes; every box and arrow has a stable id and a tooltip with its costs.  The dot
 * program runs as a child with a time limit. */
#include "backends/backends.h"
#include "backends/blocks.h"
#include "backends/cut.h"
#include "backends/outfile.h"

#include <errno.h>
#include <graphviz/cgraph.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS_PER_PART = 12, TOOLTIP_LINES = 12, NAME_SHOWN = 44 };

extern char **environ;

static const char *const fill[] = {"#cfe3f7", "#fde2c4", "#d5efcf", "#f6d0d6",
                                   "#e3d8f3", "#f5efb8", "#cdeeee", "#e4dcd2"};
static const char *const line[] = {"#2b6cb0", "#c05621", "#2f855a", "#b83246",
                                   "#6b46c1", "#8a7a08", "#1d7f86", "#6b5b49"};
enum { COLOURS = sizeof fill / sizeof *fill };

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
    Agnode_t *inputs, *results; /* the host's two ends */
};

static void set(void *obj, const char *name, const char *value)
{
    agsafeset(obj, (char *)(uintptr_t)name, (char *)(uintptr_t)value, (char *)(uintptr_t) "");
}

/* Text for a label: backslashes doubled, control characters left out, long names cut in the middle. */
static const char *label_text(struct arena *a, const char *s)
{
    size_t n = strlen(s), k = 0;
    char *out = arena_alloc(a, 2 * n + 8);
    for (size_t i = 0; i < n; i++) {
        if (n > NAME_SHOWN && i == NAME_SHOWN / 2) {
            memcpy(out + k, "...", 3);
            k += 3;
            i = n - NAME_SHOWN / 2;
        }
        if ((unsigned char)s[i] < ' ')
            continue;
        if (s[i] == '\\')
            out[k++] = '\\';
        out[k++] = s[i];
    }
    return out;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static Agnode_t *box(struct picture *p, Agraph_t *g, const char *id, const char *label,
                     const char *tip, uint32_t dev)
{
    Agnode_t *n = agnode(g, (char *)(uintptr_t)id, 1);
    set(n, "id", id);
    set(n, "label", label);
    set(n, "tooltip", tip);
    if (dev < p->r->cluster->ndev) {
        set(n, "fillcolor", fill[dev % COLOURS]);
        set(n, "color", line[dev % COLOURS]);
    }
    return n;
}

static const char *pen_width(struct arena *a, int64_t bytes)
{
    int w = 0;
    for (; bytes >= 1024; bytes /= 4)
        w++;
    return arena_fmt(a, "%d.%d", 1 + w / 2, w % 2 * 5);
}

/* ---- traffic between boxes -------------------------------------------------------------------- */

/* Tensors that go from one box to another; box 0 is the host. */
struct flow {
    uint32_t from, to, tensors;
    int64_t bytes;
    char *tip;
};

struct flows {
    struct flow *f;
    uint32_t n, cap, mask, nslot;
    uint32_t *slot;
};

static void flows_rehash(struct flows *t, struct arena *a)
{
    t->nslot = t->nslot ? 2 * t->nslot : 256;
    t->mask = t->nslot - 1;
    t->slot = arena_array(a, t->nslot, sizeof *t->slot);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t h = (t->f[i].from * 2654435761u + t->f[i].to * 40503u) & t->mask;
        while (t->slot[h])
            h = (h + 1) & t->mask;
        t->slot[h] = i + 1;
    }
}

static void flow_add(struct flows *t, struct picture *p, uint32_t from, uint32_t to, vid v)
{
    char buf[UNIT_TEXT];
    int64_t bytes = p->r->m->cost->bytes[v];
    if (2 * t->n >= t->nslot)
        flows_rehash(t, p->a);
    uint32_t h = (from * 2654435761u + to * 40503u) & t->mask;
    while (t->slot[h] && (t->f[t->slot[h] - 1].from != from || t->f[t->slot[h] - 1].to != to))
        h = (h + 1) & t->mask;
    if (!t->slot[h]) {
        t->f = vec_grow(p->a, t->f, &t->cap, t->n + 1, sizeof *t->f);
        t->f[t->n] = (struct flow){from, to, 0, 0, arena_fmt(p->a, "%s", "")};
        t->slot[h] = ++t->n;
    }
    struct flow *f = &t->f[t->slot[h] - 1];
    f->bytes = sat_add(f->bytes, bytes);
    if (f->tensors++ < TOOLTIP_LINES)
        f->tip = arena_fmt(p->a, "%s%s%s (%s)", f->tip, *f->tip ? "\\n" : "",
                           label_text(p->a, value_name(p->r->m, v)), bytes_short(buf, bytes));
}

/* Every net between the boxes of its pins (box_of[node]; 0: none).  As on the wire, a tensor goes once
 * to each other part: to the first box there that reads it.  Small shape values are drawn only where they
 * cross. */
static struct flows collect(struct picture *p, const uint32_t *box_of, const uint32_t *part_of_box)
{
    struct flows t = {0};
    const struct place *pl = p->r->place;
    uint32_t *seen_box = arena_array(p->a, p->r->m->nnode, sizeof *seen_box);
    uint32_t *seen_part = arena_array(p->a, (size_t)p->r->cut->nparts + 1, sizeof *seen_part);
    for (uint32_t e = 0; e < pl->nnet; e++) {
        vid v = pl->net_value[e];
        nid def = p->r->m->value[v].def;
        uint32_t from = def && pl->kind[def] == PLACE_NODE ? box_of[def] : 0;
        if (from && pl->net_host[e])
            flow_add(&t, p, from, 0, v);
        for (uint32_t i = pl->net_pin.at[e]; i < pl->net_pin.at[e + 1]; i++) {
            uint32_t to = box_of[pl->net_pin.to[i]], part = part_of_box[to];
            bool away = !from || part_of_box[from] != part;
            if (to == from || seen_box[to] == e + 1 || (!from && !pl->net_host[e]) ||
                (away ? seen_part[part] == e + 1 : pl->net_light[e]))
                continue;
            seen_box[to] = e + 1;
            if (away)
                seen_part[part] = e + 1;
            flow_add(&t, p, from, to, v);
        }
    }
    return t;
}

static void draw_flow(struct picture *p, const struct flow *f, Agnode_t **boxes, bool crosses,
                      uint32_t dev)
{
    char buf[UNIT_TEXT];
    Agnode_t *from = f->from ? boxes[f->from] : p->inputs, *to = f->to ? boxes[f->to] : p->results;
    char *id = arena_fmt(p->a, "edge_%u_%u", f->from, f->to);
    Agedge_t *e = agedge(p->g, from, to, id, 1);
    set(e, "id", id);
    set(e, "tooltip", f->tip);
    set(e, "labeltooltip", f->tip);
    if (!crosses) {
        set(e, "color", "#9aa5b1");
        return;
    }
    set(e, "color", dev < p->r->cluster->ndev ? line[dev % COLOURS] : "#4a5568");
    set(e, "penwidth", pen_width(p->a, f->bytes));
    set(e, "label",
        f->tensors == 1
            ? arena_fmt(p->a, " %s", bytes_short(buf, f->bytes))
            : arena_fmt(p->a, " %u tensors\\n %s", f->tensors, bytes_short(buf, f->bytes)));
}

/* ---- views ------------------------------------------------------------------------------------ */

static const char *part_label(struct picture *p, uint32_t i, bool brief)
{
    char t[UNIT_TEXT], m[UNIT_TEXT];
    const struct part *part = &p->r->cut->part[i];
    uint32_t cls = cluster_class(p->r->cluster, part->dev);
    int64_t time = 0;
    for (uint32_t k = 0; k < part->nnode; k++)
        time = sat_add(time, p->r->m->cost->time[cls][part->node[k]]);
    const struct device_load *l = &p->r->verdict->load[part->dev];
    const char *dev = cluster_device_name(p->r->cluster, p->a, part->dev);
    const char *file = cut_part_file(p->r->cut, i, p->a);
    if (brief)
        return arena_fmt(p->a, "%s  -  %s  -  %s", dev, file, time_short(t, time));
    return arena_fmt(p->a, "%s (%s)\\n%s, %u nodes\\ncompute %s\\nmemory %s", dev,
                     p->r->cluster->cls[cls].name, file, part->nnode, time_short(t, time),
                     bytes_short(m, l->used));
}

static void draw_frame(struct picture *p, const char *title)
{
    set(p->g, "label", title);
    set(p->g, "labelloc", "t");
    set(p->g, "fontname", "Helvetica");
    set(p->g, "compound", "true");
    set(p->g, "nodesep", "0.3");
    set(p->g, "ranksep", "0.45");
    agattr(p->g, AGNODE, (char *)(uintptr_t) "shape", (char *)(uintptr_t) "box");
    agattr(p->g, AGNODE, (char *)(uintptr_t) "style", (char *)(uintptr_t) "filled,rounded");
    agattr(p->g, AGNODE, (char *)(uintptr_t) "fontname", (char *)(uintptr_t) "Helvetica");
    agattr(p->g, AGNODE, (char *)(uintptr_t) "fillcolor", (char *)(uintptr_t) "#edf2f7");
    agattr(p->g, AGEDGE, (char *)(uintptr_t) "fontname", (char *)(uintptr_t) "Helvetica");
    agattr(p->g, AGEDGE, (char *)(uintptr_t) "fontsize", (char *)(uintptr_t) "11");
}

static void draw_host(struct picture *p)
{
    p->inputs = box(p, p->g, "host", "inputs (host)", "model inputs", UINT32_MAX);
    p->results = box(p, p->g, "results", "outputs (host)", "model outputs", UINT32_MAX);
    set(p->inputs, "shape", "ellipse");
    set(p->results, "shape", "ellipse");
}

static void draw_devices(struct picture *p)
{
    const struct cut *cut = p->r->cut;
    Agnode_t **boxes = arena_array(p->a, (size_t)cut->nparts + 1, sizeof *boxes);
    uint32_t *box_of = arena_array(p->a, p->r->m->nnode, sizeof *box_of);
    uint32_t *part_of_box = arena_array(p->a, (size_t)cut->nparts + 1, sizeof *part_of_box);
    draw_host(p);
    for (uint32_t i = 0; i < cut->nparts; i++) {
        part_of_box[i + 1] = i;
        const char *label = part_label(p, i, false);
        boxes[i + 1] = box(p, p->g, arena_fmt(p->a, "part%u", i), label, label, cut->part[i].dev);
        for (uint32_t k = 0; k < cut->part[i].nnode; k++)
            box_of[cut->part[i].node[k]] = i + 1;
    }
    struct flows t = collect(p, box_of, part_of_box);
    for (uint32_t i = 0; i < t.n; i++)
        draw_flow(p, &t.f[i], boxes, true,
                  t.f[i].from ? cut->part[t.f[i].from - 1].dev : UINT32_MAX);
}

static void draw_blocks(struct picture *p)
{
    const struct cut *cut = p->r->cut;
    struct blocks b = blocks_build(p->r, BLOCKS_PER_PART, p->a);
    Agnode_t **boxes = arena_array(p->a, (size_t)b.n + 1, sizeof *boxes);
    Agraph_t **frame = arena_array(p->a, (size_t)cut->nparts + 1, sizeof *frame);
    uint32_t *part_of_box = arena_array(p->a, (size_t)b.n + 1, sizeof *part_of_box);
    char t[UNIT_TEXT];
    draw_host(p);
    for (uint32_t i = 0; i < cut->nparts; i++) {
        char *name = arena_fmt(p->a, "cluster_part%u", i);
        frame[i] = agsubg(p->g, name, 1);
        set(frame[i], "id", name);
        set(frame[i], "label", part_label(p, i, true));
        set(frame[i], "style", "rounded");
        set(frame[i], "color", line[cut->part[i].dev % COLOURS]);
        set(frame[i], "penwidth", "2");
    }
    for (uint32_t i = 0; i < b.n; i++) {
        const struct block *k = &b.block[i];
        part_of_box[i + 1] = k->part;
        char *id = arena_fmt(p->a, "block%u", i);
        char *label = arena_fmt(p->a, "%s\\n%s\\n%s", label_text(p->a, k->label),
                                label_text(p->a, k->kinds), time_short(t, k->time));
        char *tip = arena_fmt(p->a, "%u nodes, %s", k->nodes, time_short(t, k->time));
        boxes[i + 1] = box(p, frame[k->part], id, label, tip, cut->part[k->part].dev);
    }
    struct flows f = collect(p, b.of, part_of_box);
    for (uint32_t i = 0; i < f.n; i++) {
        uint32_t from = f.f[i].from, to = f.f[i].to;
        uint32_t dev = from ? cut->part[b.block[from - 1].part].dev : UINT32_MAX;
        bool crosses = !from || !to || b.block[from - 1].part != b.block[to - 1].part;
        draw_flow(p, &f.f[i], boxes, crosses, dev);
    }
}

uint32_t dot_boxes(const struct result *r, bool blocks)
{
    struct arena *a = arena_new();
    uint32_t n = blocks ? blocks_build(r, BLOCKS_PER_PART, a).n : r->cut->nparts;
    arena_free(a);
    return n;
}

int dot_write(const struct result *r, bool blocks, const char *path)
{
    struct outfile o;
    char v[UNIT_TEXT];
    struct picture p = {.r = r, .a = arena_new()};
    if (outfile_open(&o, path, r->diag)) {
        arena_free(p.a);
        return -1;
    }
    Agiddisc_t by_order = {ids_open,  ids_map,   ids_alloc,   ids_free,
                           ids_print, ids_close, ids_register};
    struct ids ids = {.disc = {.id = &by_order}, .a = p.a};
    p.g = agopen((char *)(uintptr_t) "pcc", Agdirected, &ids.disc);
    draw_frame(&p, arena_fmt(p.a, "%s: %s per sample on %u devices (%s)",
                             label_text(p.a, base_name(str(r->m, r->m->path))),
                             time_short(v, r->verdict->value), r->cluster->ndev,
                             plan_status_name(r->plan->status)));
    if (blocks)
        draw_blocks(&p);
    else
        draw_devices(&p);
    int rc = agwrite(p.g, o.f);
    agclose(p.g);
    arena_free(p.a);
    return outfile_close(&o, rc == 0);
}

/* ---- layout ----------------------------------------------------------------------------------- */

/* Waits for pid, at most `seconds`; true: it ended by itself with status 0. */
static bool wait_for(pid_t pid, unsigned seconds)
{
    struct timespec nap = {0, 5000000};
    int status = 0;
    for (unsigned long i = 0; i < seconds * 200ul; i++) {
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (done < 0 && errno != EINTR)
            return false;
        nanosleep(&nap, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return false;
}

int dot_layout(const char *dot, const char *svg, unsigned seconds, struct diag *d)
{
    struct arena *a = arena_new();
    char *argv[] = {arena_fmt(a, "dot"),       arena_fmt(a, "-Tsvg"),   arena_fmt(a, "-Gnslimit=2"),
                    arena_fmt(a, "-o%s", svg), arena_fmt(a, "%s", dot), NULL};
    pid_t pid;
    int rc = posix_spawnp(&pid, "dot", NULL, NULL, argv, environ);
    bool ok = rc == 0 && wait_for(pid, seconds);
    if (rc)
        diag_warning(d, WARN_PICTURE,
                     "no picture: the dot program (package graphviz) cannot be started: %s",
                     strerror(rc));
    else if (!ok) {
        unlink(svg);
        diag_warning(d, WARN_PICTURE, "no %s: dot failed or took over %u s", base_name(svg),
                     seconds);
    }
    arena_free(a);
    return ok ? 0 : -1;
}

/* The folder in which a picture is made. */
struct workshop {
    char *folder, *dot, *svg;
};

static void workshop_remove(void *p)
{
    const struct workshop *w = p;
    unlink(w->svg);
    unlink(w->dot);
    rmdir(w->folder);
}

int svg_write(const struct result *r, const char *path)
{
    struct arena *a = arena_new();
    char *folder = arena_fmt(a, "%s.XXXXXX", path);
    char *dot = arena_fmt(a, "%s/blocks.dot", folder), *svg = arena_fmt(a, "%s/blocks.svg", folder);
    struct workshop w = {folder, dot, svg};
    struct unfinished unfinished;
    if (!mkdtemp(folder)) {
        arena_free(a);
        return diag_error(r->diag, "%s: cannot be written: %s", path, strerror(errno));
    }
    memcpy(dot, folder, strlen(folder)); /* mkdtemp has filled in its last characters */
    memcpy(svg, folder, strlen(folder));
    unfinished_add(&unfinished, workshop_remove, &w);
    int rc = dot_write(r, true, dot);
    if (!rc && (rc = dot_layout(dot, svg, 60, r->diag)))
        diag_error(r->diag, "%s: not written", path);
    if (!rc && rename(svg, path))
        rc = diag_error(r->diag, "%s: cannot be written: %s", path, strerror(errno));
    unfinished_remove(&unfinished);
    workshop_remove(&w);
    arena_free(a);
    return rc;
}
