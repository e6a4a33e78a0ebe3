/* celeritas-place, order-place, dfs-place: put the nodes in an order, cut the order into clusters, and put the clusters
 * on devices.
 *
 * Source: Celeritas (arXiv 2208.00184).  The nodes are put in an order along critical paths (CPD-TOPO) and cut into
 * clusters with few transfers between them (optimal operation fusion, ../coarsen/fuse.c).  Order-Place puts the
 * clusters in order on one device until its memory is full, then on the next one.  Adjusting Placement (Eq 7-9) places
 * the clusters again by estimated times: a cluster is put on the device of the cluster before it, unless it could start
 * on another device so much earlier that there is even time to send its results back.  A cluster may also run in an
 * idle time between placed clusters.  The paper claims that the adjusted plan never takes longer.  That is false (a
 * graph of four nodes shows it), so celeritas-place runs both plans and keeps the better one.  Adjusting is done twice:
 * with transfers that do not disturb each other, and with ports that move one value at a time.  dfs-place orders nodes
 * depth first and fills devices with single nodes, like the planners that the paper compares itself with.
 *
 * A device is full when the bytes that it would hold at once (live.h) exceed its memory; with memory models other than
 * LIVE, when the sum of all bytes does.  Nodes that must share a device are placed together with the first of them
 * (list.h).  O(V log V + V * range + pins); Adjusting Placement takes O(edges between clusters * devices) more. */
#include "passes/list/estimate.h"
#include "passes/list/live.h"
#include "passes/list/placements.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/coarsen/fuse.h"

#include <string.h>

/* The values of the options of all three planners; dfs-place and order-place have only some of them. */
struct celeritas_options {
    struct cluster_choice clusters;
    bool best_effort;
};

static const char *const cut_names[] = {"tensor", "edge", NULL};
const char *const port_names[] = {"auto", "none", "port", NULL};

#define CLUSTER_OPTIONS                                                                            \
    {.kind = OPT_INT,                                                                              \
     .name = "range",                                                                              \
     .off = offsetof(struct celeritas_options, clusters.range),                                    \
     .def = "200",                                                                                 \
     .lo = "1",                                                                                    \
     .hi = "1000000",                                                                              \
     .help = "nodes that a cluster may span in the order"},                                        \
        {.kind = OPT_BYTES,                                                                        \
         .name = "mem",                                                                            \
         .off = offsetof(struct celeritas_options, clusters.mem),                                  \
         .def = "0",                                                                               \
         .help = "memory cap of a cluster; 0: an eighth of the smallest device"},                  \
        {.kind = OPT_CHOICE,                                                                       \
         .name = "order",                                                                          \
         .off = offsetof(struct celeritas_options, clusters.order),                                \
         .def = "cpd",                                                                             \
         .names = fuse_order_names,                                                                \
         .help = "of the nodes: along critical paths, depth first, or breadth first"},             \
        {.kind = OPT_CHOICE,                                                                       \
         .name = "cut",                                                                            \
         .off = offsetof(struct celeritas_options, clusters.cut),                                  \
         .def = "tensor",                                                                          \
         .names = cut_names,                                                                       \
         .help = "count a tensor that leaves a cluster once, or (the paper) once per consumer"}

static const struct opt celeritas_opts[] = {
    CLUSTER_OPTIONS,
    {OPT_CHOICE, "contention", offsetof(struct celeritas_options, clusters.contention), "auto",
     .names = port_names,
     .help = "transfers that adjusting reckons with: free ones, such as take ports, or both tried"},
    LIST_BEST_EFFORT(struct celeritas_options, best_effort),
    {0}};
static const struct opt order_opts[] = {
    CLUSTER_OPTIONS, LIST_BEST_EFFORT(struct celeritas_options, best_effort), {0}};
static const struct opt dfs_opts[] = {LIST_BEST_EFFORT(struct celeritas_options, best_effort), {0}};

/* Clusters of nodes, and the devices that they are on. */
struct clusters {
    struct ctx *x;
    struct wdag *g;    /* a vertex is a cluster; list_level() itself if each node is a cluster */
    struct csr member; /* cluster -> its vertices of list_level(), in order */
    const uint32_t *sequence; /* [position] cluster: the order in which clusters are placed */
    /* [ndev] the devices in the order in which they are tried, accelerators first */
    uint32_t *device;
    struct placement placement;
    /* held: counts what devices hold at once; NULL: the memory model does not count that.  live: the same as held; NULL
     * while devices are filled by the sum of all bytes */
    struct live *held, *live;
    /* [cluster] the cluster's start in ps, or its position in Order-Place: clusters run in this order */
    int64_t *start;
};

/* Returns the most bytes that a cluster of nodes may have if the user gives no limit: an eighth of the memory of the
 * smallest device of c; 0, which means no limit, if no device's memory is limited. */
static int64_t default_cap(const struct cluster *c)
{
    int64_t least = cluster_least_memory(c);
    return least < 0 ? 0 : least / 8 + 1; /* + 1: 0 would mean no limit */
}

/* Returns the level whose vertices are the clusters of the nodes in the given order; NULL after an error. */
static struct wdag *fuse_nodes(struct ctx *x, const char *planner, const struct cluster_choice *o,
                               const uint32_t *order)
{
    struct arena *a = x->use.scratch, *own = arena_new(a);
    struct wdag *base = list_level(x);
    int64_t cut, cap = o->mem ? o->mem : default_cap(x->scene.cluster);
    struct fuse_limits limits = {.cls = cluster_main_class(x->scene.cluster),
                                 .range = o->range,
                                 .mem = cap,
                                 .per_edge = o->cut == CUT_EDGE,
                                 .form = FUSE_USUAL};
    uint32_t *group = arena_array(own, (size_t)base->n + 1, sizeof *group);
    struct arena_mark mark = arena_mark(own);
    uint32_t count = fuse_partition(base, order, &limits, own, group, &cut);
    arena_release(own, mark);
    struct wdag *level = wdag_merge(base, group, count, planner, a, x->use.diag);
    arena_free(own);
    return level;
}

/* Returns the vertices of g in an order of kind enum fuse_order; cls: class whose times make the critical paths. */
static const uint32_t *order_nodes(const struct wdag *g, int64_t kind, uint32_t cls,
                                   struct arena *a)
{
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order);
    struct arena *own = arena_new(a);
    memcpy(order, fuse_order(g, (enum fuse_order)kind, cls, own), g->n * sizeof *order);
    arena_free(own);
    return order;
}

/* Fills *c with an empty placement and the clusters that the options want; if `fused` is false or the clock is out,
 * each node is a cluster.  Returns 0; or -1 or PASS_INFEASIBLE and reports an error. */
static int make_clusters(struct clusters *c, struct ctx *x, const char *planner,
                         const struct cluster_choice *o, bool fused, struct clock *clock)
{
    struct arena *a = x->use.scratch;
    struct wdag *base = list_level(x);
    uint32_t cls = cluster_main_class(x->scene.cluster), accelerators;
    *c = (struct clusters){.x = x, .g = base};
    int rc = placement_build(&c->placement, x, planner, a);
    if (rc)
        return rc;
    uint32_t n = base->n;
    c->placement.clock = clock;
    if (live_counts(&c->placement)) {
        c->held = arena_alloc(a, sizeof *c->held);
        *c->held = live_new(x, &c->placement, a);
    }
    c->device = list_devices(x->scene.cluster, &accelerators, a);
    const uint32_t *order = order_nodes(base, o->order, cls, a);
    fused = fused && !clock_out(clock);
    if (fused)
        c->g = fuse_nodes(x, planner, o, order);
    if (!c->g)
        return -1;
    struct arena *own = arena_new(a);
    uint32_t *row = arena_array(own, (size_t)n + 1, sizeof *row);
    for (uint32_t i = 0; i < n; i++)
        row[i] = fused ? c->g->map[order[i]] : order[i];
    c->member = csr_build(a, c->g->n, n, row, order);
    arena_free(own);
    c->sequence = fused ? fuse_order(c->g, FUSE_CPD, cls, a) : order;
    c->start = arena_array(a, (size_t)c->g->n + 1, sizeof *c->start);
    return 0;
}

/* Returns the vertices of cluster i, and their number in *n. */
static const uint32_t *members(const struct clusters *c, uint32_t i, uint32_t *n)
{
    *n = c->member.at[i + 1] - c->member.at[i];
    return c->member.to + c->member.at[i];
}

/* Takes all clusters off the devices. */
static void clear(struct clusters *c)
{
    placement_empty(&c->placement);
    if (c->live)
        live_empty(c->live);
}

/* Returns whether device d can run the vertices v[0..n), about which placement_ask() has begun a question, and has
 * memory for them. */
static bool takes(struct clusters *c, const uint32_t *v, uint32_t n, uint32_t d)
{
    return c->live ? live_takes(c->live, v, n, d) : placement_takes(&c->placement, d);
}

/* Puts v[0..n) on device d, where they run behind all that is placed. */
static void put(struct clusters *c, const uint32_t *v, uint32_t n, uint32_t d)
{
    placement_put(&c->placement, v, n, d);
    if (c->live)
        live_run(c->live, v, n);
}

/* ---- Order-Place ---------------------------------------------------------------------------------- */

/* Puts clusters in sequence on one device until it lacks memory, then on the next one, never going back; a cluster
 * for which no device has memory is put on the device that placement_least() returns. */
static void place_in_order(struct clusters *c)
{
    uint32_t at = 0, nd = c->x->scene.cluster->ndev;
    clear(c);
    for (uint32_t i = 0; i < c->g->n; i++) {
        uint32_t n, k = c->sequence[i], to = UINT32_MAX;
        const uint32_t *v = members(c, k, &n);
        placement_ask(&c->placement, v, n);
        for (uint32_t j = at; j < nd && to == UINT32_MAX; j++) {
            uint32_t d = c->device[j];
            if (takes(c, v, n, d))
                to = d;
            else if (j == at && placement_adds(&c->placement, d) < INT64_MAX)
                at++; /* the device is full: later clusters begin with the next one */
        }
        put(c, v, n, to == UINT32_MAX ? placement_least(&c->placement, v, n) : to);
        c->start[k] = i;
    }
}

/* ---- Adjusting ------------------------------------------------------------------------------------ */

/* Clusters, and estimates of the times at which placed clusters end. */
struct adjustment {
    struct clusters *c;
    struct estimate e;
};

/* Returns the ps of the longest transfer along an edge out of cluster k, from one device to another. */
static int64_t longest_transfer(const struct adjustment *s, uint32_t k, uint32_t from, uint32_t to)
{
    const struct csr *succ = &s->c->g->succ;
    int64_t most = 0;
    for (uint32_t i = succ->at[k]; i < succ->at[k + 1]; i++) {
        int64_t t = edge_time(&s->e.edge, s->e.edge.entry[i], from, to);
        most = larger(t, most);
    }
    return most;
}

/* Returns the ps that cluster k takes on device d. */
static int64_t time_on(const struct adjustment *s, uint32_t k, uint32_t d)
{
    int64_t t = s->c->g->time[s->e.edge.cls[d]][k];
    /* 0 if d cannot run all of the cluster, since placement_put() then puts it elsewhere */
    return t == COST_NEVER ? 0 : t;
}

/* A device, and the ps at which a cluster could start there; INT64_MAX: the cluster cannot be there. */
struct choice {
    uint32_t dev;
    int64_t start;
};

/* Returns the device for cluster k by equations 7 to 9, and the start there: `before`, the device of the cluster before
 * k, unless k could start on the best other device so much earlier that its results can be sent back in that time.  If
 * no device has memory for k, it is the device that placement_least() returns. */
static struct choice choose(struct adjustment *s, uint32_t k, uint32_t before)
{
    uint32_t n, nd = s->c->x->scene.cluster->ndev;
    const uint32_t *v = members(s->c, k, &n);
    struct choice stay = {before, INT64_MAX}, best = {before, INT64_MAX};
    placement_ask(&s->c->placement, v, n);
    for (uint32_t j = 0; j < nd; j++) {
        uint32_t d = s->c->device[j];
        if (!takes(s->c, v, n, d))
            continue;
        int64_t start = estimate_start(&s->e, d, time_on(s, k, d));
        if (d == before)
            stay.start = start;
        else if (start < best.start)
            best = (struct choice){d, start};
    }
    if (stay.start == INT64_MAX && best.start == INT64_MAX) {
        uint32_t d = placement_least(&s->c->placement, v, n);
        return (struct choice){d, estimate_start(&s->e, d, time_on(s, k, d))};
    }
    int64_t back = longest_transfer(s, k, best.dev, before);
    return best.start < INT64_MAX && sat_add(best.start, back) < stay.start ? best : stay;
}

/* Places all clusters by Adjusting Placement; ports: whether estimates of transfers count ports.  Returns false if the
 * clock ran out before all clusters were placed. */
static bool place_adjusted(struct clusters *c, bool ports)
{
    struct arena *own = arena_new(c->x->use.scratch);
    struct adjustment s = {.c = c, .e = estimate_new(&c->x->scene, c->g, ports, own)};
    uint32_t before = c->device[0], i = 0;
    clear(c);
    for (; i < c->g->n && !(i % LIST_LOOK_EACH == 0 && clock_out(c->placement.clock)); i++) {
        uint32_t k = c->sequence[i], count;
        estimate_turn(&s.e, k);
        struct choice to = choose(&s, k, before);
        const uint32_t *v = members(c, k, &count);
        estimate_take(&s.e, k, to.dev, to.start, time_on(&s, k, to.dev));
        put(c, v, count, to.dev);
        c->start[k] = to.start;
        before = to.dev;
    }
    arena_free(own);
    return i == c->g->n;
}

/* ---- plans ---------------------------------------------------------------------------------------- */

/* Makes the plan that runs clusters in order of c->start, and the nodes of a cluster in order; keeps it in *best if it
 * is better.  A cluster starts after the ends of all clusters that it reads from, so the order is topological. */
static void try_plan(struct clusters *c, struct list_schedule *best, const char *what)
{
    struct arena *own = arena_new(c->x->use.scratch);
    struct keyed *p = arena_array(own, (size_t)c->g->n + 1, sizeof *p);
    uint32_t *order = arena_array(own, (size_t)c->placement.base->n + 1, sizeof *order), n = 0;
    for (uint32_t i = 0; i < c->g->n; i++)
        p[i] = (struct keyed){c->start[c->sequence[i]], i};
    keyed_sort(p, c->g->n);
    for (uint32_t i = 0; i < c->g->n; i++) {
        uint32_t count;
        const uint32_t *v = members(c, c->sequence[p[i].item], &count);
        memcpy(order + n, v, count * sizeof *v);
        n += count;
    }
    list_offer(c->x, best, &c->placement, order, what);
    arena_free(own);
}

/* Returns words for the claim: "Order-Place of 12 clusters". */
static const char *name_plan(struct ctx *x, const char *what, const struct clusters *c)
{
    return list_said(x, &c->placement, arena_fmt(x->use.mem, "%s of %u clusters", what, c->g->n));
}

/* Sets how the memory of devices is counted: way 0, as the memory model says; way 1, by the sum of all bytes, which
 * is never less.  Returns whether this way is to be tried.  Way 1 is tried only if *best, made in way 0, lacks
 * memory when it is run: way 0 supposes that devices run one after the other. */
static bool count_memory(struct clusters *c, uint32_t way, const struct list_schedule *best)
{
    c->live = way == 0 ? c->held : NULL;
    return way == 0 || (c->held && best->lacks > 0);
}

/* Puts clusters in order on devices and keeps the plan in *best if it is better.  what: words for the claim. */
static void try_in_order(struct clusters *c, struct list_schedule *best, const char *what)
{
    for (uint32_t way = 0; way < 2 && count_memory(c, way, best); way++) {
        place_in_order(c);
        try_plan(c, best, name_plan(c->x, what, c));
    }
}

/* Places clusters by Adjusting Placement and keeps the plan in *best if it is better. */
static void try_adjusted(struct clusters *c, struct list_schedule *best, bool ports)
{
    const char *what = ports ? "Adjusting with ports" : "Adjusting";
    for (uint32_t way = 0; way < 2 && count_memory(c, way, best); way++)
        if (place_adjusted(c, ports))
            try_plan(c, best, name_plan(c->x, what, c));
}

int celeritas_try(struct ctx *x, const char *planner, const struct cluster_choice *o,
                  struct clock *clock, struct list_schedule *best)
{
    struct arena_mark mark = arena_mark(x->use.scratch);
    struct clusters c;
    int rc = make_clusters(&c, x, planner, o, /*fused=*/true, clock);
    if (!rc)
        try_in_order(&c, best, "Order-Place");
    for (int ports = 0; ports < 2 && !rc; ports++) {
        if (o->contention != PORTS_AUTO && (o->contention == PORTS_TAKEN) != ports)
            continue;
        try_adjusted(&c, best, ports);
    }
    arena_release(x->use.scratch, mark); /* plans are in x->use.mem */
    return rc;
}

/* pass.run of order-place: leaves the plan that fills devices in order.  Returns 0, or -1 or PASS_INFEASIBLE after
 * an error. */
static int order_run(struct ctx *x, const void *options)
{
    const struct celeritas_options *o = options;
    struct clusters c;
    struct list_schedule best = {0};
    struct clock clock = ctx_clock(x);
    int rc = make_clusters(&c, x, "order-place", &o->clusters, /*fused=*/true, &clock);
    if (rc)
        return rc;
    try_in_order(&c, &best, "Order-Place");
    list_tell_end(x, &best, &clock);
    return list_leave(x, "order-place", &best, o->best_effort);
}

/* pass.run of dfs-place: leaves the plan that fills devices with single nodes.  Returns 0, or -1 or PASS_INFEASIBLE
 * after an error. */
static int dfs_run(struct ctx *x, const void *options)
{
    struct celeritas_options o = *(const struct celeritas_options *)options;
    struct clusters c;
    struct list_schedule best = {0};
    o.clusters.order = FUSE_DFS;
    int rc = make_clusters(&c, x, "dfs-place", &o.clusters, /*fused=*/false, NULL);
    if (rc)
        return rc;
    try_in_order(&c, &best, "depth first");
    return list_leave(x, "dfs-place", &best, o.best_effort);
}

/* pass.run of celeritas-place: leaves the better plan of Order-Place and Adjusting Placement.  Returns 0, or -1 or
 * PASS_INFEASIBLE after an error. */
static int celeritas_run(struct ctx *x, const void *options)
{
    const struct celeritas_options *o = options;
    struct list_schedule best = {0};
    struct clock clock = ctx_clock(x);
    int rc = celeritas_try(x, "celeritas-place", &o->clusters, &clock, &best);
    list_tell_end(x, &best, &clock);
    return rc ? rc : list_leave(x, "celeritas-place", &best, o->best_effort);
}

const struct planner planner_celeritas_place = {
    .pass = {"celeritas-place",
             "list scheduling of clusters (Celeritas): the better of two placements",
             celeritas_opts, sizeof(struct celeritas_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = celeritas_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};

const struct planner planner_order_place = {
    .pass = {"order-place", "clusters in order on as few devices as hold them (Celeritas)",
             order_opts, sizeof(struct celeritas_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = order_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};

const struct planner planner_dfs_place = {
    .pass = {"dfs-place", "nodes depth first on as few devices as hold them", dfs_opts,
             sizeof(struct celeritas_options), .needs = NEED_COST | NEED_CONTRACT, .run = dfs_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};
