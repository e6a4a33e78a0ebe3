/* heft-place: puts each node on the device on which it ends first, nodes with the longest path to the end first.
 *
 * Source: HEFT (Topcuoglu, Hariri and Wu, 2002): the rank of a node is the longest path from it to the end, by mean
 * times and mean transfers; a node may also run in an idle time between placed nodes.  HEFT ignores memory.  Here a
 * device must have enough memory for a node and the nodes that must share its device; if none has, the device with the
 * fewest bytes in use gets the node.  O(V log V + devices * (edges + V)). */
#include "passes/list/estimate.h"
#include "passes/list/placements.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"

/* The values of the options in heft_opts. */
struct heft_options {
    int64_t contention; /* one of PORTS_* (placements.h) */
    bool best_effort;
};

static const struct opt heft_opts[] = {
    {OPT_CHOICE, "contention", offsetof(struct heft_options, contention), "auto",
     .names = port_names,
     .help = "transfers that it reckons with: free ones, such as take ports, or both tried"},
    LIST_BEST_EFFORT(struct heft_options, best_effort),
    {0}};

/* Returns the ps that v takes, as the mean over all devices that can run v; 0: none can. */
static int64_t mean_time(const struct wdag *g, const struct cluster *c, uint32_t v)
{
    int64_t sum = 0, devices = 0;
    for (uint32_t k = 0; k < g->ncls; k++)
        if (g->time[k][v] != COST_NEVER) {
            sum = sat_add(sum, sat_mul(g->time[k][v], c->cls[k].count));
            devices += c->cls[k].count;
        }
    return devices ? sum / devices : 0;
}

/* Returns the ps to move the values of an edge (list.h) between accelerators, the mean over the accelerators.  Over
 * the host that takes two transfers. */
static int64_t mean_transfer(const struct edges *e, uint32_t edge)
{
    const struct cluster *c = e->scene->cluster;
    int64_t sum = 0, devices = 0;
    for (uint32_t k = 0; k < c->ncls; k++)
        if (!c->cls[k].host) {
            sum = sat_add(sum, sat_mul(e->link[k][edge], c->cls[k].count));
            devices += c->cls[k].count;
        }
    int64_t one = devices ? sum / devices : 0;
    return e->scene->model.step.network == NETWORK_HOST ? sat_add(one, one) : one;
}

/* Returns the vertices (keyed.item) sorted by the longest path from each to the end, the longest first.  That is a
 * topological order, since vertices with equal paths stay in the order of their numbers. */
static struct keyed *rank_upward(const struct edges *e, struct arena *a)
{
    const struct wdag *g = e->g;
    struct keyed *r = arena_array(a, (size_t)g->n + 1, sizeof *r);
    for (uint32_t v = g->n; v-- > 0;) {
        r[v].item = v;
        r[v].key = sat_add(r[v].key, mean_time(g, e->scene->cluster, v));
        for (uint32_t k = g->pred.at[v]; k < g->pred.at[v + 1]; k++) {
            int64_t way = sat_add(r[v].key, mean_transfer(e, k));
            int64_t *before = &r[g->pred.to[k]].key;
            *before = larger(way, *before);
        }
    }
    for (uint32_t v = 0; v < g->n; v++)
        r[v].key = -r[v].key; /* so that the longest path comes first */
    keyed_sort(r, g->n);
    return r;
}

/* Returns the device for v, and writes to *start the ps of v's start there.  It is the device of v's group; if the
 * group has none yet, the device with enough memory on which v ends first; if no device has enough memory, the device
 * that placement_least() returns. */
static uint32_t earliest_end(struct estimate *e, struct placement *r, uint32_t v, int64_t *start)
{
    const struct cluster *c = r->scene->cluster;
    int64_t best = INT64_MAX;
    uint32_t to = UINT32_MAX;
    int32_t home = r->home[r->group[v]];
    placement_ask(r, &v, 1);
    for (uint32_t d = 0; d < c->ndev; d++) {
        int64_t time = e->g->time[e->edge.cls[d]][v];
        if (time == COST_NEVER || (home >= 0 ? (uint32_t)home != d : !placement_takes(r, d)))
            continue;
        int64_t at = estimate_start(e, d, time), end = sat_add(at, time);
        if (to == UINT32_MAX || end < best) {
            best = end;
            *start = at;
            to = d;
        }
    }
    if (to == UINT32_MAX) {
        to = placement_least(r, &v, 1);
        *start = estimate_start(e, to, e->g->time[e->edge.cls[to]][v]);
    }
    return to;
}

/* Places all vertices by HEFT and keeps the plan in *best if it is better.  ports: whether estimates of transfers count
 * ports. */
static void place_all(struct ctx *x, struct placement *r, bool ports, struct list_schedule *best)
{
    struct arena *own = arena_new(x->use.scratch);
    struct wdag *g = list_level(x);
    struct estimate e = estimate_new(&x->scene, g, ports, own);
    struct keyed *rank = rank_upward(&e.edge, own);
    struct keyed *p = arena_array(own, (size_t)g->n + 1, sizeof *p);
    uint32_t *order = arena_array(own, (size_t)g->n + 1, sizeof *order), n = 0;
    placement_empty(r);
    for (uint32_t i = 0; i < g->n && !(i % LIST_LOOK_EACH == 0 && clock_out(r->clock)); i++, n++) {
        uint32_t v = rank[i].item;
        int64_t start = 0;
        estimate_turn(&e, v);
        uint32_t d = earliest_end(&e, r, v, &start);
        estimate_take(&e, v, d, start, g->time[e.edge.cls[d]][v]);
        placement_put(r, &v, 1, d);
        p[i] = (struct keyed){start, i};
    }
    /* the n vertices that were placed before the clock was out, by their starts; then the others, by rank */
    keyed_sort(p, n);
    for (uint32_t i = 0; i < g->n; i++)
        order[i] = rank[i < n ? p[i].item : i].item;
    placement_fill(r, order + n, g->n - n, own);
    list_offer(x, best, r, order, list_said(x, r, ports ? "HEFT with ports" : "HEFT"));
    arena_free(own);
}

int heft_try(struct ctx *x, const char *planner, int64_t ports, struct clock *clock,
             struct list_schedule *best)
{
    struct arena_mark mark = arena_mark(x->use.scratch);
    struct placement r;
    int rc = placement_build(&r, x, planner, x->use.scratch);
    r.clock = clock;
    for (int taken = 0; taken < 2 && !rc; taken++)
        if ((ports == PORTS_AUTO || (ports == PORTS_TAKEN) == taken) &&
            !(best->dev && clock_out(clock)))
            place_all(x, &r, taken, best);
    arena_release(x->use.scratch, mark);
    return rc;
}

/* pass.run: leaves the better plan of HEFT with and without ports.  Returns 0, or -1 or PASS_INFEASIBLE after an
 * error. */
static int heft_run(struct ctx *x, const void *options)
{
    const struct heft_options *o = options;
    struct list_schedule best = {0};
    struct clock clock = ctx_clock(x);
    int rc = heft_try(x, "heft-place", o->contention, &clock, &best);
    list_tell_end(x, &best, &clock);
    return rc ? rc : list_leave(x, "heft-place", &best, o->best_effort);
}

const struct planner planner_heft_place = {
    .pass = {"heft-place", "each node on the device that ends it first (HEFT), with memory",
             heft_opts, sizeof(struct heft_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = heft_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};
