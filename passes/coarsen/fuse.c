/* fuse: fewer, larger vertices, so that exact planning stays possible on wide graphs.
 *
 * Source: Celeritas (arXiv 2208.00184), optimal operation fusion: order the vertices by CPD-TOPO (a depth-first
 * topological order that follows critical paths), then cut the order into intervals of at most `range`
 * vertices and `mem` bytes so that the transfers between intervals are least (dynamic program,
 * Eq 4-6).  An interval partition of a topological order always has an acyclic quotient (Theorem B).
 * O(V log V + V * range + E), for ranges above 200 O((V + E) log range).
 *
 * range=auto fuses as little as exact planning needs.  If the graph has at most max-states ideals, it fuses
 * nothing.  Else it first merges cheap branches (at most 0.1 %, then up to 1 % of the time) into
 * their only neighbour, which hardly changes the best plan; then it takes the smallest range whose result has at most
 * max-states ideals and at least 8 vertices per device; if there is none, it fuses nothing. */
#include "passes/passes.h"

#include "ir/base/units.h"
#include "ir/dag/critical_order.h"
#include "ir/dag/topo_order.h"
#include "passes/coarsen/cut_tree.h"
#include "passes/coarsen/fuse.h"

#include <assert.h>

/* Options; fuse_opts says what each means.  range 0: auto. */
struct fuse_options {
    int64_t range, mem, max_states, cut, order;
};

const char *const fuse_order_names[] = {"cpd", "dfs", "fifo", NULL};

static const char *const auto_names[] = {"auto", NULL};
static const char *const cut_names[] = {"tensor", "edge", NULL};
enum { CUT_TENSOR, CUT_EDGE };
enum {
    SCAN_MOST = 200,    /* up to this range FUSE_SCAN is faster than FUSE_TREE */
    DEVICE_VERTICES = 8 /* range=auto leaves at least so many vertices for each device */
};

static const struct opt fuse_opts[] = {
    {OPT_INT, "range", offsetof(struct fuse_options, range), "auto", .lo = "1", .hi = "1000000",
     .names = auto_names,
     .help = "vertices that a cluster may span in the order; auto: as few as exact planning needs"},
    {OPT_BYTES, "mem", offsetof(struct fuse_options, mem), "0",
     .help = "memory cap of a cluster; 0: an eighth of the smallest device, shared by the devices"},
    {OPT_INT, "max-states", offsetof(struct fuse_options, max_states), "100000", .lo = "1",
     .hi = "100000000", .help = "ideals that range=auto aims below"},
    {OPT_CHOICE, "cut", offsetof(struct fuse_options, cut), "tensor", .names = cut_names,
     .help = "count a tensor that leaves a cluster once, or (the paper) once per consumer"},
    {OPT_CHOICE, "order", offsetof(struct fuse_options, order), "cpd", .names = fuse_order_names,
     .help = "that is cut: along critical paths (the paper), depth first, or breadth first"},
    {0}};

/* ---- the interval partition ------------------------------------------------------------------- */

/* The figures of a vertex, or of a cluster of vertices, by which the partition decides whether another vertex may join
 * it. */
struct member {
    int64_t bytes;    /* shared items count once for each vertex that needs the item */
    int32_t pin;      /* the device it must be on, or -1 */
    uint32_t classes; /* mask of the device classes that can run the vertex or the cluster */
};

/* The dynamic program.  Vertices are appended in their order; costs are in ps. */
struct fusion {
    const struct wdag *g;
    const struct member *member; /* [vertex] its figures */
    const uint32_t *order;       /* position -> vertex */
    uint32_t *pos;               /* vertex -> position */
    uint32_t cls;                /* the device class whose transfer costs count */
    int64_t range, mem;          /* range, mem and per_edge as in struct fuse_limits */
    bool per_edge;
    /* the paper's P: [position] cost of those nets made there whose consumers have all been appended; with per_edge,
     * cost of the edges from there to consumers that have been appended */
    int64_t *seen;
    int64_t *out; /* the paper's O: [position] cost of the outputs of all vertices before it */
    /* the paper's T: [position] least cost of the transfers out of clusters of the vertices before it */
    int64_t *best;
    int64_t *base; /* [position] best less out */
    /* the paper's Pre: [position] first position of the last cluster in that best division */
    uint32_t *from;
    uint32_t *left; /* [net] number of consumers not yet appended; unused with per_edge */
    /* first position of the longest cluster that may end with the last vertex appended */
    uint32_t first;
    struct cut_tree tree; /* base and saving (`seen`) of the positions; width 0: no tree is used */
};

/* Returns an array, in a: [vertex] its figures. */
static struct member *vertex_members(const struct wdag *g, struct arena *a)
{
    struct member *m = arena_array(a, (size_t)g->n + 1, sizeof *m);
    for (uint32_t v = 0; v < g->n; v++) {
        m[v] = (struct member){vertex_bytes(g, v), g->pin[v], 0};
        for (uint32_t k = 0; k < g->ncls; k++)
            m[v].classes |= g->time[k][v] != COST_NEVER ? 1u << k : 0;
    }
    return m;
}

/* The vertices between two positions, as a possible cluster. */
struct window {
    uint32_t from;  /* the first position; the last position is that of the vertex added last */
    __int128 bytes; /* sum over the vertices */
    uint32_t lacking[CLUSTER_CLASSES]; /* [class] number of vertices that the class cannot run */
    uint32_t pinned[CLUSTER_DEVICES];  /* [device] number of vertices pinned to the device */
    uint32_t homes;                    /* number of devices with vertices pinned to them */
};

/* Adds vertex v to the window's figures (by = 1), or takes it off them (by = -1). */
static void window_count(struct window *w, const struct wdag *g, const struct member *v, int by)
{
    w->bytes += (__int128)by * v->bytes;
    for (uint32_t k = 0; k < g->ncls; k++)
        w->lacking[k] += v->classes >> k & 1 ? 0 : (uint32_t)by;
    if (v->pin < 0)
        return;
    w->homes += by > 0 && w->pinned[v->pin] == 0;
    w->pinned[v->pin] += (uint32_t)by;
    w->homes -= by < 0 && w->pinned[v->pin] == 0;
}

/* Whether some device could run all vertices of the window, with at most mem bytes (0: no limit). */
static bool window_fits(const struct window *w, const struct wdag *g, int64_t mem)
{
    bool some = false;
    for (uint32_t k = 0; k < g->ncls; k++)
        some = some || w->lacking[k] == 0;
    return some && w->homes < 2 && (!mem || w->bytes <= mem);
}

/* Appends the vertex at position x: adds the cost of its outputs to out[x + 1].  For each net of which the vertex is
 * the last consumer, adds the net's cost to seen[] of the net's producer, and updates the producer's position in the
 * tree if there is a tree.  per_edge: does so for each net that the vertex consumes, whether or not other consumers
 * follow. */
static void fusion_append(struct fusion *f, uint32_t x)
{
    const struct wdag *g = f->g;
    uint32_t v = f->order[x];
    f->out[x + 1] = f->out[x];
    f->seen[x] = 0;
    for_row (e, g->net_of, v) {
        uint32_t src = g->net_src[e];
        uint32_t readers = g->net_pin.at[e + 1] - g->net_pin.at[e] - 1;
        int64_t c = g->net_cost[f->cls][e];
        if (src == UINT32_MAX || readers == 0)
            continue;
        if (src == v) {
            f->out[x + 1] = sat_add(f->out[x + 1], f->per_edge ? sat_mul(c, readers) : c);
            f->left[e] = readers;
        } else if (f->per_edge || --f->left[e] == 0) {
            uint32_t y = f->pos[src];
            f->seen[y] = sat_add(f->seen[y], c);
            if (f->tree.width && y >= f->first)
                cut_tree_set(&f->tree, f->first, y, f->base[y], f->seen[y]);
        }
    }
}

/* Adds position x to the window, and takes off first positions until the window is within the limits. */
static void fusion_window(struct fusion *f, struct window *w, uint32_t x)
{
    window_count(w, f->g, &f->member[f->order[x]], /*by=*/1);
    while (w->from < x && ((int64_t)(x - w->from) >= f->range || !window_fits(w, f->g, f->mem)))
        window_count(w, f->g, &f->member[f->order[w->from++]], /*by=*/-1);
}

/* Finds the best last cluster that ends at position x, by trying all beginnings y from f->first on: the least
 * base[y] less the transfers inside the cluster.  Returns that minimum in `least` and y in `from`; among equal
 * clusters the shortest one. */
static struct stretch scan_cuts(const struct fusion *f, uint32_t x)
{
    struct stretch best = {.least = INT64_MAX};
    for (uint32_t y = x + 1; y-- > f->first;) {
        best.sum += f->seen[y];
        int64_t t = f->base[y] - best.sum;
        if (t < best.least) {
            best.least = t;
            best.from = y;
        }
    }
    return best;
}

/* Works out best, base and from at position x + 1; puts position x into the tree first, if there is one. */
static void fusion_step(struct fusion *f, uint32_t x)
{
    struct stretch last;
    if (f->tree.width) {
        cut_tree_set(&f->tree, f->first, x, f->base[x], f->seen[x]);
        last = cut_tree_best(&f->tree, f->first, x);
    } else {
        last = scan_cuts(f, x);
    }
    f->from[x + 1] = last.from;
    f->best[x + 1] = last.least + f->out[x + 1];
    f->base[x + 1] = last.least; /* best[x + 1] less out[x + 1] */
    assert(f->best[x + 1] >= 0);
}

uint32_t *fuse_order(const struct wdag *g, enum fuse_order order, uint32_t cls, struct arena *a)
{
    return order == FUSE_CPD ? cpd_topo(g, cls, a)
                             : topo_order(g, order == FUSE_DFS ? TOPO_DFS : TOPO_FIFO, 0, a);
}

uint32_t fuse_partition(const struct wdag *g, const uint32_t *order,
                        const struct fuse_limits *limits, struct arena *a, uint32_t *group,
                        int64_t *cut)
{
    assert(limits->range >= 1 && limits->cls < g->ncls);
    struct fusion f = {.g = g,
                       .order = order,
                       .cls = limits->cls,
                       .range = limits->range,
                       .mem = limits->mem,
                       .per_edge = limits->per_edge};
    uint32_t n = g->n, count = 0;
    f.pos = arena_array(a, (size_t)n + 1, sizeof *f.pos);
    f.seen = arena_array(a, (size_t)n + 1, sizeof *f.seen);
    f.out = arena_array(a, (size_t)n + 1, sizeof *f.out);
    f.best = arena_array(a, (size_t)n + 1, sizeof *f.best);
    f.base = arena_array(a, (size_t)n + 1, sizeof *f.base);
    f.from = arena_array(a, (size_t)n + 1, sizeof *f.from);
    f.left = arena_array(a, (size_t)g->nnet + 1, sizeof *f.left);
    f.member = vertex_members(g, a);
    if (limits->form == FUSE_USUAL ? limits->range > SCAN_MOST : limits->form == FUSE_TREE)
        f.tree = cut_tree_new(n, a);
    for (uint32_t x = 0; x < n; x++)
        f.pos[order[x]] = x;
    struct window w = {0};
    for (uint32_t x = 0; x < n; x++) {
        fusion_append(&f, x);
        fusion_window(&f, &w, x);
        f.first = w.from;
        fusion_step(&f, x);
    }
    /* from[x]: where the last cluster of the best division of the first x vertices begins; so the clusters are
     * found from the last one to the first */
    for (uint32_t x = n; x; x = f.from[x], count++)
        for (uint32_t y = f.from[x]; y < x; y++)
            group[order[y]] = count;
    assert(count <= n);
    *cut = f.best[n];
    return count;
}

/* ---- cheap branches --------------------------------------------------------------------------- */

/* Returns the least time of v over all classes, ps. */
static int64_t best_time(const struct wdag *g, uint32_t v)
{
    int64_t t = COST_NEVER;
    for (uint32_t k = 0; k < g->ncls; k++)
        t = smaller(g->time[k][v], t);
    return t;
}

/* Whether u may join w: w can still run on the same devices with u, and both together need at most mem bytes (0: no
 * limit). */
static bool may_join(const struct member *u, const struct member *w, int64_t mem)
{
    return (w->classes & ~u->classes) == 0 && (u->pin < 0 || u->pin == w->pin) &&
           (!mem || sat_add(u->bytes, w->bytes) <= mem);
}

/* Numbers the groups: writes the number of each vertex's group to group[vertex], and returns the number of groups.
 * into: [vertex] the vertex that it has joined, an only consumer (a later vertex) or an only producer (an earlier one);
 * itself: none. */
static uint32_t number_groups(const uint32_t *into, uint32_t n, uint32_t *group)
{
    uint32_t count = 0;
    /* from the last vertex on, so that the group of a consumer is known before its producers */
    for (uint32_t v = n; v-- > 0;)
        if (into[v] == v)
            group[v] = count++;
        else if (into[v] > v)
            group[v] = group[into[v]];
    /* vertices that have joined a producer, which comes before them */
    for (uint32_t v = 0; v < n; v++)
        if (into[v] < v)
            group[v] = group[into[v]];
    return count;
}

/* Merges cheap branches.  A vertex joins its only consumer if the vertex and all that have joined it take at most
 * `permille` of the time; then each vertex without consumers joins its only producer, if it takes no more than
 * that, no other vertex has joined it, and the producer itself has joined no other vertex.  This closes no cycle,
 * since the edge between the two is the only one that leaves its source, or the only one that enters its end.
 * Writes the number of each vertex's group to group[vertex], and returns the number of groups.  mem: as for
 * may_join. */
static uint32_t cheap_groups(const struct wdag *g, struct arena *a, int64_t permille, int64_t mem,
                             uint32_t *group)
{
    int64_t *time = arena_array(a, (size_t)g->n + 1, sizeof *time), total = 0;
    struct member *member = vertex_members(g, a);
    uint32_t *into = arena_array(a, (size_t)g->n + 1, sizeof *into);
    /* [vertex] 1: another vertex has joined it */
    uint8_t *joined = arena_alloc(a, (size_t)g->n + 1);
    for (uint32_t v = 0; v < g->n; v++) {
        time[v] = best_time(g, v);
        into[v] = v;
        total = sat_add(total, time[v]);
    }
    int64_t cheap = (int64_t)((__int128)total * permille / 1000);
    for (uint32_t v = 0; v < g->n; v++) {
        /* w: the consumer of v, if v has exactly one */
        uint32_t w = g->succ.to[g->succ.at[v]];
        if (g->succ.at[v + 1] - g->succ.at[v] != 1 || time[v] > cheap ||
            !may_join(&member[v], &member[w], mem))
            continue;
        into[v] = w;
        joined[w] = 1;
        time[w] = sat_add(time[w], time[v]);
        member[w].bytes = sat_add(member[w].bytes, member[v].bytes);
    }
    for (uint32_t v = g->n; v-- > 0;) {
        bool end = into[v] == v && !joined[v] && g->succ.at[v] == g->succ.at[v + 1];
        if (!end || g->pred.at[v + 1] - g->pred.at[v] != 1 || time[v] > cheap)
            continue;
        uint32_t p = g->pred.to[g->pred.at[v]];
        if (into[p] == p && may_join(&member[v], &member[p], mem)) {
            into[v] = p;
            joined[p] = 1;
            member[p].bytes = sat_add(member[p].bytes, member[v].bytes);
        }
    }
    return number_groups(into, g->n, group);
}

/* ---- the pass --------------------------------------------------------------------------------- */

/* Returns the most bytes that a cluster of vertices may have if the user gives no limit: an eighth of the smallest
 * device's memory, divided by the number of devices; 0 if no device has a limit. */
static int64_t default_cap(const struct cluster *c)
{
    int64_t least = cluster_least_memory(c);
    return least < 0 ? 0 : least / (8 * (int64_t)c->ndev) + 1; /* + 1: 0 would mean no limit */
}

/* Returns the level that results from fusing g with this range and memory limit; NULL after an error. */
static struct wdag *fuse_level(struct ctx *x, struct wdag *g, const struct fuse_options *o,
                               int64_t range, int64_t mem)
{
    struct fuse_limits limits = {.cls = cluster_main_class(x->scene.cluster),
                                 .range = range,
                                 .mem = mem,
                                 .per_edge = o->cut == CUT_EDGE,
                                 .form = FUSE_USUAL};
    struct arena_mark mark = arena_mark(x->use.scratch);
    uint32_t *group = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *group);
    int64_t cut;
    const uint32_t *order = fuse_order(g, (enum fuse_order)o->order, limits.cls, x->use.scratch);
    uint32_t n = fuse_partition(g, order, &limits, x->use.scratch, group, &cut);
    n = wdag_keep_apart(g, group, n, x->use.scratch);
    struct wdag *level = wdag_merge(g, group, n, "fuse", x->use.mem, x->use.diag);
    arena_release(x->use.scratch, mark);
    return level;
}

/* range=auto (head of this file): returns the level, which is the top level itself if nothing is fused, and writes the
 * range to *range (1: no intervals were made).  NULL after an error. */
static struct wdag *fuse_auto(struct ctx *x, const struct fuse_options *o, int64_t mem,
                              int64_t *range)
{
    static const int64_t ranges[] = {2, 5, 10, 20, 50, 100, 200};
    static const int64_t cheap[] = {1, 2, 5, 10}; /* per mille of the time */
    struct wdag *g = x->levels.top;
    uint64_t limit =
        (uint64_t)(ctx_settings(x)->max_states ? ctx_settings(x)->max_states : o->max_states);
    *range = 1;
    if (wdag_ideals(g, limit) <= limit)
        return g;
    uint32_t *group = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *group);
    struct wdag *base = g;
    struct arena_mark mark = arena_mark(x->use.mem); /* levels with too many ideals are freed */
    for (uint32_t i = 0; i < sizeof cheap / sizeof *cheap; i++) {
        uint32_t n = cheap_groups(g, x->use.scratch, cheap[i], mem, group);
        n = wdag_keep_apart(g, group, n, x->use.scratch);
        if (n < DEVICE_VERTICES * x->scene.cluster->ndev)
            break;
        arena_release(x->use.mem, mark);
        base = wdag_merge(g, group, n, "fuse", x->use.mem, x->use.diag);
        if (!base || wdag_ideals(base, limit) <= limit)
            return base;
    }
    mark = arena_mark(x->use.mem);
    for (uint32_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct wdag *level = fuse_level(x, base, o, ranges[i], mem);
        if (!level)
            return NULL;
        if (level->n < DEVICE_VERTICES * x->scene.cluster->ndev)
            break;
        if (wdag_ideals(level, limit) <= limit) {
            *range = ranges[i];
            return level;
        }
        arena_release(x->use.mem, mark);
    }
    return g;
}

/* Returns the share of all transfer costs that lies within clusters of the coarse level, in percent. */
static int internal_share(const struct wdag *fine, const struct wdag *coarse, uint32_t cls)
{
    int64_t before = 0, after = 0;
    for (uint32_t e = 0; e < fine->nnet; e++)
        before = sat_add(before, fine->net_cost[cls][e]);
    for (uint32_t e = 0; e < coarse->nnet; e++)
        after = sat_add(after, coarse->net_cost[cls][e]);
    return before ? (int)((__int128)(before - after) * 100 / before) : 0;
}

/* pass.run: pushes a level whose vertices are clusters of vertices of the top level, or the top level itself if nothing
 * is fused. */
static int fuse_run(struct ctx *x, const void *options)
{
    const struct fuse_options *o = options;
    if (ctx_base(x))
        return -1;
    struct wdag *fine = x->levels.top, *level;
    int64_t range = o->range, mem = o->mem ? o->mem : default_cap(x->scene.cluster);
    if (range == 0)
        level = fuse_auto(x, o, mem, &range);
    else
        level = range == 1 ? fine : fuse_level(x, fine, o, range, mem);
    if (!level)
        return -1;
    if (level == fine)
        diag_detail(x->use.diag, "fuse: nothing fused, %u vertices", fine->n);
    else
        diag_detail(x->use.diag,
                    "fuse: %u vertices in %u clusters, range %lld, %d %% of transfers inside",
                    fine->n, level->n, (long long)range,
                    internal_share(fine, level, cluster_main_class(x->scene.cluster)));
    ctx_push(x, level);
    return 0;
}

const struct pass pass_fuse = {"fuse",
                               "CPD-TOPO optimal operation fusion: fewer, larger vertices",
                               fuse_opts,
                               sizeof(struct fuse_options),
                               .needs = NEED_COST | NEED_CONTRACT,
                               .run = fuse_run};
