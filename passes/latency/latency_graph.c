/* Builds the latency problem of a level, and computes the latency of plans (latency_graph.h).
 *
 * The latency of a plan is computed on its quotient graph, in which the units of each subgraph are one vertex and each
 * host unit is a vertex.  Vertices are taken in a topological order; each starts at the latest end of the vertices that
 * it reads from. */
#include "passes/latency/latency_graph.h"

#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the problem ----------------------------------------------------------------------------- */

/* Returns an array, in p->mem: [net of g] ps of its transfer between the host and accelerators of a class.  paid: the
 * costs of nets for the class.  A net without a producer and without a pin on the host is state, which is kept where it
 * is read; its cost is 0. */
static const int64_t *transfers(const struct latency_graph *p, const struct wdag *g,
                                const int64_t *paid)
{
    int64_t *cost = arena_array(p->mem, (size_t)g->nnet + 1, sizeof *cost);
    for (uint32_t e = 0; e < g->nnet; e++)
        cost[e] = g->net_src[e] == UINT32_MAX && !g->net_host[e] ? 0 : paid[e];
    return cost;
}

/* Adds kind k of p->c, a kind of accelerators, and its devices to p: the one device of the kind, or all devices of its
 * class that nothing is pinned to. */
static void add_kind(struct latency_graph *p, uint32_t k)
{
    const struct problem_kind *from = &p->c->kind[k];
    const struct cluster *cl = p->c->cluster;
    struct accelerators *to = &p->kind[p->nkind];
    *to = (struct accelerators){.of = k,
                                .cls = from->cls,
                                .count = from->count,
                                .at = p->ndev,
                                .memory = from->memory,
                                .time = from->time,
                                .cost = transfers(p, p->c->g, p->c->cls[from->cls].cost)};
    bool pinned[CLUSTER_DEVICES] = {0};
    for (uint32_t j = 0; j < p->c->nkind; j++)
        if (p->c->kind[j].dev >= 0)
            pinned[p->c->kind[j].dev] = true;
    for (uint32_t d = 0; d < cl->ndev; d++) {
        bool mine = cluster_class(cl, d) == from->cls && !pinned[d];
        if (from->dev >= 0) /* the kind is a single device, which vertices are pinned to */
            mine = (uint32_t)from->dev == d;
        if (!mine)
            continue;
        p->kind_of[d] = (uint8_t)p->nkind;
        p->dev[p->ndev++] = d;
    }
    assert(p->ndev - to->at == to->count);
    p->nkind++;
}

/* Fills p->kind, p->dev and p->kind_of. */
static void make_kinds(struct latency_graph *p)
{
    const struct cluster *cl = p->c->cluster;
    p->dev = arena_array(p->mem, (size_t)cl->ndev + 1, sizeof *p->dev);
    p->kind_of = arena_alloc(p->mem, (size_t)cl->ndev + 1);
    memset(p->kind_of, UINT8_MAX, (size_t)cl->ndev + 1);
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        if (!cl->cls[p->c->kind[k].cls].host)
            add_kind(p, k);
    }
}

/* Returns the ps of base vertex u, a vertex of block b, on the fastest class of hosts that may run b; COST_NEVER: no
 * class may. */
static int64_t host_time(const struct latency_graph *p, const struct wdag *base, uint32_t b,
                         uint32_t u)
{
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        const struct problem_kind *kind = &p->c->kind[k];
        if (!p->c->cluster->cls[kind->cls].host || kind->time[b] == COST_NEVER)
            continue;
        int64_t t = base->time[kind->cls][u];
        least = smaller(t, least);
    }
    return least;
}

/* Returns the bytes of memory that the hosts of a class share; LOAD_INF: no limit. */
static int64_t hosts_memory(const struct device_class *cls)
{
    return cls->memory < 0 ? LOAD_INF : sat_mul(cls->memory, cls->count);
}

/* Sets p->holder[v] to the first host of the class of p->host_dev[v], as the hosts of a class share their memory.  If
 * no host can run v, sets it to 0, which no plan uses. */
static void set_holder(struct latency_graph *p, uint32_t v)
{
    const struct cluster *cl = p->c->cluster;
    uint32_t d = p->hosted[v] ? (uint32_t)p->host_dev[v] : 0;
    while (d > 0 && cluster_class(cl, d - 1) == cluster_class(cl, d))
        d--;
    p->holder[v] = d;
}

/* Returns a host of this kind: its only device, or the first device of its class. */
static int32_t host_of_kind(const struct cluster *cl, const struct problem_kind *kind)
{
    if (kind->dev >= 0)
        return kind->dev;
    for (uint32_t d = 0; d < cl->ndev; d++)
        if (cluster_class(cl, d) == kind->cls)
            return (int32_t)d;
    return -1;
}

/* Sets hosted, host_dev and holder of all blocks: the fastest kind of hosts whose memory can hold the block alone. */
static void choose_hosts(struct latency_graph *p)
{
    const struct cluster *cl = p->c->cluster;
    uint32_t n = p->g->n;
    p->hosted = arena_alloc(p->mem, (size_t)n + 1);
    p->holder = arena_array(p->mem, (size_t)n + 1, sizeof *p->holder);
    p->host_dev = arena_array(p->mem, (size_t)n + 1, sizeof *p->host_dev);
    for (uint32_t v = 0; v < n; v++) {
        int64_t least = COST_NEVER;
        p->host_dev[v] = -1;
        for (uint32_t k = 0; k < p->c->nkind; k++) {
            const struct problem_kind *kind = &p->c->kind[k];
            if (!cl->cls[kind->cls].host || kind->time[v] >= least ||
                vertex_bytes(p->g, v) > hosts_memory(&cl->cls[kind->cls]))
                continue;
            least = kind->time[v];
            p->host_dev[v] = host_of_kind(cl, kind);
        }
        p->hosted[v] = p->host_dev[v] >= 0;
        set_holder(p, v);
    }
}

/* Moves block v to the fastest kind of hosts with enough memory left, if there is one, and subtracts the block's bytes
 * from that memory.  left: [class of the cluster] bytes left on its hosts.  Returns whether the block's class
 * changed. */
static bool spread_block(struct latency_graph *p, uint32_t v, int64_t *left)
{
    assert(p->hosted[v]);
    const struct cluster *cl = p->c->cluster;
    const struct problem_kind *best = NULL;
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        const struct problem_kind *kind = &p->c->kind[k];
        if (cl->cls[kind->cls].host && kind->time[v] != COST_NEVER &&
            vertex_bytes(p->g, v) <= left[kind->cls] && (!best || kind->time[v] < best->time[v]))
            best = kind;
    }
    if (!best)
        return false;
    if (left[best->cls] < LOAD_INF)
        left[best->cls] -= vertex_bytes(p->g, v);
    bool moved = best->cls != cluster_class(cl, (uint32_t)p->host_dev[v]);
    if (moved) {
        p->host_dev[v] = host_of_kind(cl, best);
        set_holder(p, v);
    }
    return moved;
}

bool latency_spread_hosts(struct latency_graph *p)
{
    const struct cluster *cl = p->c->cluster;
    int64_t left[CLUSTER_CLASSES] = {0};
    bool moved = false;
    for (uint32_t k = 0; k < cl->ncls; k++)
        left[k] = hosts_memory(&cl->cls[k]);
    for (uint32_t turn = 0; turn < 2; turn++) /* first the blocks that no accelerator can run */
        for (uint32_t v = 0; v < p->g->n; v++) {
            bool only = true;
            for (uint32_t k = 0; k < p->nkind; k++)
                only = only && p->kind[k].time[v] == COST_NEVER;
            if (p->hosted[v] && only == (turn == 0))
                moved = spread_block(p, v, left) || moved;
        }
    p->judge.mixed = p->judge.mixed || moved;
    return moved;
}

/* Makes the units: sets nunit, first, block, last, host, together and judge.mixed.  Returns an array, in p->mem: [base
 * vertex] its unit. */
static uint32_t *make_units(struct latency_graph *p, const struct wdag *base)
{
    const struct wdag *g = p->g;
    const uint32_t *at = wdag_flatten(g, p->mem);
    uint32_t *unit_of = arena_array(p->mem, (size_t)base->n + 1, sizeof *unit_of);
    p->last = arena_array(p->mem, (size_t)g->n + 1, sizeof *p->last);
    p->first = arena_array(p->mem, (size_t)g->n + 2, sizeof *p->first);
    p->host = arena_array(p->mem, (size_t)base->n + g->n + 1, sizeof *p->host);
    p->block = arena_array(p->mem, (size_t)base->n + g->n + 1, sizeof *p->block);
    /* first[v + 1] is first the number of base vertices of block v, then the first unit of block v + 1 */
    for (uint32_t u = 0; u < base->n; u++)
        p->first[at[u] + 1]++;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t n = p->first[v + 1];
        p->together = p->together || (n > 1 && (p->hosted[v] || p->slots > 1));
        p->first[v + 1] = p->first[v] + (p->hosted[v] ? n : 1);
    }
    p->nunit = p->training ? base->n : p->first[g->n];
    uint32_t *fill = arena_array(p->mem, (size_t)g->n + 1, sizeof *fill); /* [block] units so far */
    for (uint32_t u = 0; u < base->n; u++) {
        uint32_t b = at[u], x = u;
        if (!p->training)
            x = p->first[b] + (p->hosted[b] ? fill[b]++ : 0);
        unit_of[u] = x;
        p->last[b] = u;
        p->block[x] = b;
        p->host[x] = host_time(p, base, b, u);
        if (!p->hosted[b])
            continue;
        uint32_t cls = cluster_class(p->c->cluster, (uint32_t)p->host_dev[b]);
        p->judge.mixed = p->judge.mixed || base->time[cls][u] > p->host[x];
    }
    return unit_of;
}

/* Makes succ and pred of the units from the edges of base.  unit_of: result of make_units(). */
static void make_edges(struct latency_graph *p, const struct wdag *base, const uint32_t *unit_of)
{
    struct pairs e = pairs_new(p->mem, base->succ.at[base->n]);
    for (uint32_t u = 0; u < base->n; u++)
        for_row (w, base->succ, u)
            if (unit_of[u] != unit_of[w])
                pairs_add(&e, unit_of[u], unit_of[w]);
    struct wdag units = {.mem = p->mem, .n = p->nunit};
    wdag_set_edges(&units, &e);
    p->succ = units.succ;
    p->pred = units.pred;
}

/* Sets time, nets, unit_at, back and kind[].moved.  unit_of: result of make_units(). */
static void make_unit_costs(struct latency_graph *p, const struct wdag *base,
                            const uint32_t *unit_of)
{
    for (uint32_t k = 0; k < p->nkind; k++) {
        p->time[k] = arena_array(p->mem, (size_t)p->nunit + 1, sizeof *p->time[k]);
        for (uint32_t v = 0; v < p->g->n && !p->training; v++)
            p->time[k][p->first[v]] = p->kind[k].time[v];
        for (uint32_t u = 0; u < base->n && p->training; u++)
            p->time[k][unit_of[u]] = base->time[p->kind[k].cls][u];
    }
    p->nets = p->training ? base : p->g;
    p->unit_at = p->training ? unit_of : p->first;
    for (uint32_t k = 0; k < p->nkind; k++)
        p->kind[k].moved =
            p->training ? transfers(p, base, base->net_cost[p->kind[k].cls]) : p->kind[k].cost;
    if (!p->training)
        return;
    p->back = arena_alloc(p->mem, (size_t)p->nunit + 1);
    for (uint32_t u = 0; u < base->n; u++)
        p->back[unit_of[u]] = base->pass[u] == 2;
}

/* Makes net_of: for each block its nets of two blocks or more that cost some kind of accelerator something. */
static void make_nets(struct latency_graph *p)
{
    const struct wdag *g = p->g;
    uint32_t n = 0;
    p->net_of.at = arena_array(p->mem, (size_t)g->n + 1, sizeof(uint32_t));
    p->net_of.to = arena_array(p->mem, (size_t)g->net_of.at[g->n] + 1, sizeof(uint32_t));
    for (uint32_t v = 0; v < g->n; v++) {
        for_row (e, g->net_of, v) {
            bool paid = false;
            for (uint32_t k = 0; k < p->nkind; k++)
                paid = paid || p->kind[k].cost[e] > 0;
            if (paid && g->net_pin.at[e + 1] - g->net_pin.at[e] > 1)
                p->net_of.to[n++] = e;
        }
        p->net_of.at[v + 1] = n;
    }
}

struct latency_graph *latency_graph_build(const struct problem *c, const struct wdag *base,
                                          uint32_t slots, struct arena *a)
{
    assert(slots >= 1 && c->g->n <= base->n);
    struct latency_graph *p = arena_alloc(a, sizeof *p);
    p->c = c;
    p->g = c->g;
    p->mem = a;
    p->slots = slots;
    for (uint32_t k = 0; k < c->cluster->ncls; k++) {
        const struct device_class *cls = &c->cluster->cls[k];
        if (!cls->host)
            continue;
        if (!p->cpus || cls->count < p->cpus)
            p->cpus = cls->count;
        p->all_cpus += cls->count;
    }
    p->part = c->scene->model.part_cost;
    for (uint32_t u = 0; base->pass && u < base->n; u++)
        p->training = p->training || base->pass[u] == 2;
    make_kinds(p);
    choose_hosts(p);
    const uint32_t *unit_of = make_units(p, base);
    make_edges(p, base, unit_of);
    make_unit_costs(p, base, unit_of);
    make_nets(p);
    return p;
}

struct latency_plan latency_no_plan(const struct latency_graph *p, struct arena *a)
{
    struct latency_plan plan = {LOAD_INF, arena_array(a, (size_t)p->g->n + 1, sizeof *plan.sub)};
    return plan;
}

/* ---- the latency of a plan ------------------------------------------------------------------- */

/* A net whose transfer costs some kind of accelerator something.  Unless latency_graph.training is set, it has two
 * blocks or more. */
struct paid_net {
    uint32_t net; /* number in latency_graph.nets */
    uint32_t src; /* the unit that makes the net's value; UINT32_MAX: none */
};

/* The quotient graph of a plan, and figures of the plan.  Vertices: subgraphs 0 .. nsub - 1, then nsub + x for each
 * unit x, which is used if x is on a host. */
struct latency_quotient {
    uint32_t nsub; /* number of subgraphs: all that the devices may have, also empty ones */
    /* number of subgraphs of a device; these have consecutive numbers, in the order in which they run */
    uint32_t lane;
    uint8_t *kind;         /* [subgraph] kind of its device; UINT8_MAX: a host */
    uint32_t *device;      /* [number of a subgraph, as in latency_plan.sub] its device */
    uint32_t *at;          /* [unit] the vertex that has the unit */
    int64_t *start, *time; /* [vertex] ps: earliest start; duration */
    uint32_t *wait;        /* [vertex] number of incoming edges whose source has not ended */
    uint32_t *queue;       /* vertices in the order in which all their predecessors are done */
    uint32_t npaid;
    struct paid_net *paid;  /* the npaid nets whose transfer costs something */
    struct csr pin;         /* paid net -> units that make or read it */
    struct csr member;      /* subgraph -> units */
    uint32_t *fill, *stamp; /* [vertex] scratch */
    /* [device] bytes: bytes held; have: bytes of memory, -1: no limit */
    int64_t *bytes, *have;
    bool roomy; /* every device could hold all blocks: each plan fits */
    /* [kind] ps of all transfers together, which no subgraph can exceed */
    int64_t most_cut[PROBLEM_KINDS];
    uint64_t judged;             /* number of plans that latency_judge.value() has valued */
    struct set_memory *at_once;  /* bytes of a subgraph at one time; NULL: every subgraph fits */
    uint32_t *block_at, *blocks; /* subgraph s has blocks[block_at[s] .. block_at[s + 1]) */
    int64_t work, hosted;        /* work: ps of all vertices added up; hosted: of host units only */
    int64_t *from, *to; /* starts and ends of host units, sorted; scratch of is_crowded() */
};

/* Returns whether net e of p->nets costs some kind of accelerator something. */
static bool is_paid(const struct latency_graph *p, uint32_t e)
{
    for (uint32_t k = 0; k < p->nkind; k++)
        if (p->kind[k].moved[e] > 0)
            return true;
    return false;
}

/* Fills r->paid, the nets whose transfer costs something, and r->pin, their units. */
static void list_paid(const struct latency_graph *p, struct latency_quotient *r, struct arena *a)
{
    const struct wdag *g = p->nets;
    r->paid = arena_array(a, (size_t)g->nnet + 1, sizeof *r->paid);
    r->pin.at = arena_array(a, (size_t)g->nnet + 1, sizeof(uint32_t));
    r->pin.to = arena_array(a, (size_t)g->net_pin.at[g->nnet] + 1, sizeof(uint32_t));
    for (uint32_t e = 0, n = 0; e < g->nnet; e++) {
        uint32_t from = g->net_pin.at[e], to = g->net_pin.at[e + 1], src = g->net_src[e];
        if (!is_paid(p, e) || (!p->training && to - from < 2))
            continue;
        for (uint32_t i = from; i < to; i++)
            r->pin.to[n++] = p->unit_at[g->net_pin.to[i]];
        r->paid[r->npaid++] =
            (struct paid_net){e, src == UINT32_MAX ? UINT32_MAX : p->unit_at[src]};
        r->pin.at[r->npaid] = n;
    }
}

/* Fills r->kind, r->device, r->have and r->roomy, and allocates r->bytes.  r->at_once must be set. */
static void list_devices(const struct latency_graph *p, struct latency_quotient *r, struct arena *a)
{
    const struct cluster *c = p->c->cluster;
    r->kind = arena_alloc(a, (size_t)r->nsub + 1);
    for (uint32_t v = 0; v < r->nsub; v++)
        r->kind[v] = p->kind_of[v / r->lane];
    r->device = arena_array(a, (size_t)c->ndev * p->slots + 1, sizeof *r->device);
    for (uint32_t s = 0; s < c->ndev * p->slots; s++)
        r->device[s] = s / p->slots;
    r->bytes = arena_array(a, (size_t)c->ndev + 1, sizeof *r->bytes);
    r->have = arena_array(a, (size_t)c->ndev + 1, sizeof *r->have);
    for (uint32_t d = 0; d < c->ndev; d++) {
        const struct device_class *cls = &c->cls[cluster_class(c, d)];
        r->have[d] = cls->host && cls->memory >= 0 ? hosts_memory(cls) : cls->memory;
    }
    const int64_t all = wdag_bytes(p->g);
    r->roomy = !r->at_once;
    for (uint32_t d = 0; d < c->ndev; d++)
        r->roomy = r->roomy && (r->have[d] < 0 || all <= r->have[d]);
}

struct latency_quotient *latency_quotient_new(const struct latency_graph *p, struct arena *a)
{
    struct latency_quotient *r = arena_alloc(a, sizeof *r);
    r->lane = p->slots * (p->training ? 2 : 1);
    r->nsub = p->c->cluster->ndev * r->lane;
    size_t n = (size_t)r->nsub + p->nunit + 2;
    r->at = arena_array(a, (size_t)p->nunit + 1, sizeof *r->at);
    r->start = arena_array(a, n, sizeof *r->start);
    r->time = arena_array(a, n, sizeof *r->time);
    r->wait = arena_array(a, n, sizeof *r->wait);
    r->queue = arena_array(a, n, sizeof *r->queue);
    r->fill = arena_array(a, n, sizeof *r->fill);
    r->stamp = arena_array(a, n, sizeof *r->stamp);
    r->member.at = arena_array(a, n, sizeof(uint32_t));
    r->member.to = arena_array(a, n, sizeof(uint32_t));
    r->from = arena_array(a, (size_t)p->nunit + 1, sizeof *r->from);
    r->to = arena_array(a, (size_t)p->nunit + 1, sizeof *r->to);
    if (p->c->values) {
        r->at_once = set_memory_new(p->c->values, a);
        r->block_at = arena_array(a, (size_t)r->nsub + 2, sizeof *r->block_at);
        r->blocks = arena_array(a, (size_t)p->g->n + 1, sizeof *r->blocks);
        for (uint32_t k = 0; k < p->nkind; k++)
            for (uint32_t e = 0; e < p->g->nnet; e++)
                r->most_cut[k] = sat_add(r->most_cut[k], p->c->cls[p->kind[k].cls].cost[e]);
    }
    list_devices(p, r, a);
    list_paid(p, r, a);
    return r;
}

/* Sets r->at: for each unit the vertex of the quotient that has it under the plan sub[].  In training an accelerator
 * runs its slots forward, then their backward passes from the last slot to the first. */
static void find_vertices(const struct latency_graph *p, const uint32_t *sub,
                          struct latency_quotient *r)
{
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint32_t s = sub[p->block[x]];
        assert(s == ON_HOST || s < p->c->cluster->ndev * p->slots);
        r->at[x] = s == ON_HOST ? r->nsub + x : s;
        if (!p->training || s == ON_HOST)
            continue;
        uint32_t slot = s % p->slots;
        r->at[x] = s / p->slots * r->lane + (p->back[x] ? r->lane - 1 - slot : slot);
    }
}

/* Adds the transfers of paid net i to the times of subgraphs: a transfer in for each subgraph that reads the value from
 * outside, and a transfer out for the subgraph that makes it, if it is read elsewhere. */
static void add_net(const struct latency_graph *p, struct latency_quotient *r, uint32_t i)
{
    uint32_t e = r->paid[i].net, src = UINT32_MAX;
    if (r->paid[i].src != UINT32_MAX)
        src = r->at[r->paid[i].src];
    bool out = p->nets->net_host[e];
    for_row (x, r->pin, i) {
        uint32_t v = r->at[x];
        out = out || v != src;
        if (v >= r->nsub || v == src || r->stamp[v] == e + 1)
            continue;
        r->stamp[v] = e + 1; /* the subgraph has paid for net e */
        r->time[v] += p->kind[r->kind[v]].moved[e];
    }
    if (out && src < r->nsub)
        r->time[src] += p->kind[r->kind[src]].moved[e];
}

/* Sets r->at, and r->time of subgraphs: computing of their units, transfers in and out, and the cost of a part.
 * Returns false if a block is on a device that cannot run the block. */
static bool set_times(const struct latency_graph *p, const uint32_t *sub,
                      struct latency_quotient *r)
{
    memset(r->time, 0, r->nsub * sizeof *r->time);
    memset(r->stamp, 0, r->nsub * sizeof *r->stamp);
    for (uint32_t b = 0; b < p->g->n; b++) {
        uint32_t k = sub[b] == ON_HOST ? 0 : p->kind_of[r->device[sub[b]]];
        if (sub[b] == ON_HOST ? !p->hosted[b] : p->kind[k].time[b] == COST_NEVER)
            return false;
    }
    find_vertices(p, sub, r);
    /* stamp: 1: the subgraph has a unit already, and so its part cost */
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint32_t v = r->at[x];
        if (v >= r->nsub)
            continue;
        r->time[v] += p->time[r->kind[v]][x] + (r->stamp[v] ? 0 : p->part);
        r->stamp[v] = 1;
    }
    memset(r->stamp, 0, r->nsub * sizeof *r->stamp);
    for (uint32_t i = 0; i < r->npaid; i++)
        add_net(p, r, i);
    return true;
}

/* Fills r->member, the units of each subgraph, and r->wait, and sets r->start to 0. */
static void set_waits(const struct latency_graph *p, struct latency_quotient *r)
{
    size_t n = (size_t)r->nsub + p->nunit;
    memset(r->member.at, 0, (r->nsub + 1) * sizeof *r->member.at);
    memset(r->wait, 0, n * sizeof *r->wait);
    memset(r->start, 0, n * sizeof *r->start);
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint32_t v = r->at[x];
        if (v < r->nsub)
            r->member.at[v + 1]++;
        for_row (u, p->pred, x)
            r->wait[v] += r->at[u] != v;
    }
    for (uint32_t s = 0; s < r->nsub; s++) {
        r->fill[s] = r->member.at[s];
        r->member.at[s + 1] += r->member.at[s];
        /* a subgraph waits for the previous subgraph of the same accelerator */
        r->wait[s] += s % r->lane != 0;
    }
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint32_t v = r->at[x];
        if (v < r->nsub)
            r->member.to[r->fill[v]++] = x;
    }
}

/* Ends vertex v: raises the starts of the vertices that wait for v to the end of v, and appends those of them that wait
 * for no other vertex to the queue, which has `tail` entries.  Returns the new number of entries. */
static uint32_t end_vertex(const struct latency_graph *p, struct latency_quotient *r, uint32_t v,
                           uint32_t tail)
{
    uint32_t one = v >= r->nsub ? v - r->nsub : 0; /* the unit, if v is a host unit */
    const uint32_t *unit = v >= r->nsub ? &one : r->member.to + r->member.at[v];
    uint32_t n = v >= r->nsub ? 1 : r->member.at[v + 1] - r->member.at[v];
    int64_t end = r->start[v] + r->time[v];
    for (uint32_t m = 0; m < n; m++)
        for_row (next, p->succ, unit[m]) {
            uint32_t w = r->at[next];
            if (w == v)
                continue;
            r->start[w] = larger(end, r->start[w]);
            assert(r->wait[w] > 0); /* once for each edge */
            if (--r->wait[w] == 0)
                r->queue[tail++] = w;
        }
    if (v < r->nsub && (v + 1) % r->lane != 0) { /* the next subgraph of the same accelerator */
        r->start[v + 1] = larger(end, r->start[v + 1]);
        if (--r->wait[v + 1] == 0)
            r->queue[tail++] = v + 1;
    }
    return tail;
}

int64_t latency_of(const struct latency_graph *p, const uint32_t *sub, struct latency_quotient *r)
{
    return latency_within(p, sub, r, LOAD_INF);
}

int64_t latency_within(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *r, int64_t most)
{
    assert(most >= 0);
    r->work = r->hosted = 0;
    if (!set_times(p, sub, r))
        return LOAD_INF;
    if (p->judge.alone)
        return p->judge.value(p->judge.of, sub);
    /* the quotient graph is not needed if one subgraph alone takes too long */
    for (uint32_t s = 0; s < r->nsub; s++)
        if (r->time[s] > most)
            return LOAD_INF;
    set_waits(p, r);
    uint32_t tail = 0, all = r->nsub; /* entries of the queue; number of vertices */
    int64_t latest = 0;
    for (uint32_t s = 0; s < r->nsub; s++)
        if (!r->wait[s])
            r->queue[tail++] = s;
    for (uint32_t x = 0; x < p->nunit; x++)
        if (sub[p->block[x]] == ON_HOST) {
            all++;
            r->time[r->nsub + x] = p->host[x];
            r->hosted += p->host[x];
            if (!r->wait[r->nsub + x])
                r->queue[tail++] = r->nsub + x;
        }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t v = r->queue[head];
        int64_t end = r->start[v] + r->time[v];
        if (end > most)
            return LOAD_INF;
        latest = larger(end, latest);
        r->work += r->time[v];
        tail = end_vertex(p, r, v, tail);
    }
    return tail == all ? latest : LOAD_INF;
}

/* Returns how many of the n ascending numbers t[] are at most x. */
static uint32_t count_to(const int64_t *t, uint32_t n, int64_t x)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (t[mid] <= x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Returns whether some host unit would have to wait until a CPU is free, if p->cpus CPUs run all host units.  A unit
 * that takes no time makes no other unit wait, but waits itself if all CPUs are busy.  latency_of() must have set the
 * times and starts in *r for the plan sub[]. */
static bool is_crowded(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *r)
{
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint32_t v = r->nsub + x;
        if (sub[p->block[x]] != ON_HOST || !r->time[v])
            continue;
        r->from[n] = r->start[v];
        r->to[n++] = r->start[v] + r->time[v];
    }
    if (n < p->cpus)
        return false;
    qsort(r->from, n, sizeof *r->from, by_i64);
    qsort(r->to, n, sizeof *r->to, by_i64);
    /* when the i-th unit starts, all but p->cpus - 1 of the i units before it must have ended */
    for (uint32_t i = p->cpus; i < n; i++)
        if (r->to[i - p->cpus] > r->from[i])
            return true;
    /* units that take no time: the units that run when one of them starts must leave a CPU free */
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint32_t v = r->nsub + x;
        if (sub[p->block[x]] == ON_HOST && !r->time[v] &&
            count_to(r->from, n, r->start[v]) - count_to(r->to, n, r->start[v]) >= p->cpus)
            return true;
    }
    return false;
}

int64_t latency_judged(const struct latency_graph *p, const uint32_t *sub,
                       struct latency_quotient *r, int64_t value)
{
    assert(value >= 0);
    if (value == LOAD_INF || !p->judge.value || p->judge.alone ||
        (!p->judge.mixed && !is_crowded(p, sub, r)))
        return value;
    r->judged++;
    return p->judge.value(p->judge.of, sub);
}

uint64_t latency_times_judged(const struct latency_quotient *r)
{
    return r->judged;
}

int64_t latency_shared(const struct latency_graph *p, const struct latency_quotient *r)
{
    return p->judge.value && !p->judge.alone && p->all_cpus ? r->hosted / p->all_cpus : 0;
}

int64_t latency_work(const struct latency_quotient *r)
{
    return r->work;
}

/* Returns the device whose memory holds block b under the plan sub[]. */
static uint32_t holder_of(const struct latency_graph *p, const struct latency_quotient *r,
                          const uint32_t *sub, uint32_t b)
{
    assert(b < p->g->n && (sub[b] == ON_HOST || sub[b] / p->slots < p->c->cluster->ndev));
    return sub[b] == ON_HOST ? p->holder[b] : r->device[sub[b]];
}

/* Lists the blocks of each subgraph, ascending: sets r->block_at and r->blocks. */
static void list_blocks(const struct latency_graph *p, const uint32_t *sub,
                        struct latency_quotient *r)
{
    /* the number of blocks of subgraph s is counted in at[s + 2], so that at[s + 1] can say where the next block of s
     * goes, and in the end where the blocks of s end */
    uint32_t *at = r->block_at;
    memset(at, 0, ((size_t)r->nsub + 2) * sizeof *at);
    for (uint32_t b = 0; b < p->g->n; b++)
        if (sub[b] != ON_HOST)
            at[sub[b] + 2]++;
    for (uint32_t s = 0; s < r->nsub; s++)
        at[s + 2] += at[s + 1];
    for (uint32_t b = 0; b < p->g->n; b++)
        if (sub[b] != ON_HOST)
            r->blocks[at[sub[b] + 1]++] = b;
}

/* Returns whether each accelerator has room for the lasting bytes of its subgraphs, r->bytes, together with what any
 * one of its subgraphs has at one time. */
static bool fits_at_once(const struct latency_graph *p, const uint32_t *sub,
                         struct latency_quotient *r)
{
    bool fits = true;
    list_blocks(p, sub, r);
    for (uint32_t s = 0; s < p->c->cluster->ndev * p->slots && fits; s++) {
        uint32_t from = r->block_at[s], to = r->block_at[s + 1], d = s / p->slots;
        if (from == to || r->have[d] < 0)
            continue;
        uint32_t k = p->kind_of[d];
        if (problem_surely_fits(p->c, p->kind[k].of, r->bytes[d], r->most_cut[k]))
            continue;
        for (uint32_t i = from; i < to; i++)
            set_memory_add(r->at_once, r->blocks[i]);
        fits = r->bytes[d] + set_memory_peak(r->at_once) <= r->have[d];
        while (to-- > from)
            set_memory_drop(r->at_once, r->blocks[to]);
    }
    return fits;
}

bool latency_fits(const struct latency_graph *p, const uint32_t *sub, struct latency_quotient *r)
{
    const struct wdag *g = p->g;
    uint32_t ndev = p->c->cluster->ndev;
    if (r->roomy)
        return true;
    memset(r->bytes, 0, ndev * sizeof *r->bytes);
    memset(r->stamp, 0, ndev * sizeof *r->stamp);
    for (uint32_t b = 0; b < g->n; b++)
        r->bytes[holder_of(p, r, sub, b)] += g->size[b];
    for (uint32_t s = 0; s < g->nshared; s++)
        for_row (v, g->shared_by, s) {
            uint32_t d = holder_of(p, r, sub, v);
            if (r->stamp[d] == s + 1)
                continue;
            r->stamp[d] = s + 1;
            r->bytes[d] += g->shared_size[s];
        }
    for (uint32_t d = 0; d < ndev; d++)
        if (r->have[d] >= 0 && r->bytes[d] > r->have[d])
            return false;
    return !r->at_once || fits_at_once(p, sub, r);
}
