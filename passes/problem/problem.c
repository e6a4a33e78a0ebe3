/* Makes the placement problem from a level and a cluster of devices, and keeps lists of partial plans (problem.h).
 *
 * Source: the placement paper, 5.1 (loads).  Potentials (problem.h): a device of kind k that holds the set S has w(S)
 * <= scale[k] * load <= cap[k](L).  There are up to four.  In three of them a vertex weighs the least of its scaled
 * times over the kinds: with scales by which every kind takes equally long for the whole graph; with plain times; and
 * with plain times where host devices count as unlimited (for plans that have used up all hosts).  In the fourth one,
 * made where memory is short, weights are bytes.  A net that crosses an ideal is paid once more by the devices of the
 * vertices left, so its cost may be added to the weight of these vertices.  Cost: O(kinds * (V + pins)); a label is
 * compared with all labels of its ideal. */
#include "passes/problem/problem.h"

#include "ir/base/units.h"
#include "ir/exec/sample/sample_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Appends to c->kind a kind of `count` devices of class cls, and sets the guard bit of its field in c->guard; dev: the
 * one device of the kind, or -1.  Returns 0, or -1 and reports an error. */
static int add_kind(struct problem *c, struct diag *d, uint32_t cls, int32_t dev, uint32_t count)
{
    assert(cls < c->cluster->ncls && count > 0);
    if (c->nkind == PROBLEM_KINDS)
        return diag_error(d,
                          "nodes are pinned to too many different devices: at most %d kinds of "
                          "devices can be told apart",
                          PROBLEM_KINDS);
    struct problem_kind *k = &c->kind[c->nkind];
    uint32_t bits = 1; /* the least number of bits that can hold `count` */
    while (count >> bits)
        bits++;
    k->cls = cls;
    k->dev = dev;
    k->count = count;
    k->copies = 1;
    k->shift = c->nkind ? k[-1].shift + k[-1].width : 0;
    k->width = bits + 1; /* one more for the guard bit on top */
    if (k->shift + k->width > 64)
        return diag_error(d, "the cluster has too many devices of too many kinds for one search");
    c->guard |= UINT64_C(1) << (k->shift + bits);
    c->nkind++;
    return 0;
}

/* Fills c->kind, class by class: one kind for all devices that no vertex is pinned to, and one for each other device.
 * With --replicate, all free devices of a class may share a stage.  Returns 0, or -1 and reports an error: there are
 * too many kinds or, with --replicate, a class of several devices has pinned ones. */
static int make_kinds(struct problem *c, struct diag *d)
{
    const struct cluster *cl = c->cluster;
    uint8_t pinned[CLUSTER_DEVICES] = {0};
    uint32_t dev = 0;
    for (uint32_t v = 0; v < c->g->n; v++)
        if (c->g->pin[v] >= 0 && c->g->pin[v] < CLUSTER_DEVICES)
            pinned[c->g->pin[v]] = 1;
    for (uint32_t k = 0; k < cl->ncls; k++) {
        uint32_t free = 0;
        for (uint32_t i = 0; i < cl->cls[k].count; i++)
            free += !pinned[dev + i];
        if (free && add_kind(c, d, k, /*dev=*/-1, free))
            return -1;
        if (c->scene->model.replicate && free < cl->cls[k].count && cl->cls[k].count > 1)
            return diag_error(d,
                              "--replicate: nodes are pinned to devices of class '%s': copies need "
                              "a class that no node is pinned to",
                              cl->cls[k].name);
        if (c->scene->model.replicate && free)
            c->kind[c->nkind - 1].copies = free;
        for (uint32_t i = 0; i < cl->cls[k].count; i++, dev++)
            if (pinned[dev] && add_kind(c, d, k, (int32_t)dev, 1))
                return -1;
    }
    return 0;
}

/* Sets c->kind[k].time and .back.  A vertex that is pinned to a device outside the kind takes COST_NEVER.  If c is not
 * detailed, a net with one vertex and the host is added to the time of that vertex: its transfer is always paid. */
static void make_times(struct problem *c, uint32_t k)
{
    const struct wdag *g = c->g;
    uint32_t cls = c->kind[k].cls;
    int64_t *t = arena_array(c->mem, (size_t)g->n + 1, sizeof *t);
    for (uint32_t v = 0; v < g->n; v++) {
        t[v] = g->time[cls][v];
        if (g->pin[v] >= 0 && g->pin[v] != c->kind[k].dev)
            t[v] = COST_NEVER;
    }
    for (uint32_t e = 0; e < g->nnet; e++)
        if (!c->detailed && g->net_host[e] && g->net_pin.at[e + 1] - g->net_pin.at[e] == 1) {
            uint32_t v = g->net_pin.to[g->net_pin.at[e]];
            t[v] = sat_add(t[v], g->net_cost[cls][e]);
        }
    c->kind[k].time = t;
    c->kind[k].back = g->back ? g->back[cls] : NULL;
}

/* Whether devices of some class pay for the transfer of net e. */
static bool is_paid(const struct wdag *g, uint32_t e)
{
    for (uint32_t k = 0; k < g->ncls; k++)
        if (g->net_cost[k][e] > 0)
            return true;
    return false;
}

/* Fills c->net_of and the costs of nets on each class. */
static void make_nets(struct problem *c)
{
    const struct wdag *g = c->g;
    uint32_t n = 0;
    c->net_of.at = arena_array(c->mem, (size_t)g->n + 1, sizeof(uint32_t));
    c->net_of.to = arena_array(c->mem, (size_t)g->net_of.at[g->n] + 1, sizeof(uint32_t));
    for (uint32_t v = 0; v < g->n; v++) {
        for_row (e, g->net_of, v)
            if (is_paid(g, e) && (c->detailed || g->net_pin.at[e + 1] - g->net_pin.at[e] > 1))
                c->net_of.to[n++] = e;
        c->net_of.at[v + 1] = n;
    }
    for (uint32_t k = 0; k < c->cluster->ncls; k++)
        c->cls[k].cost = g->net_cost[k];
}

/* Returns the bytes of vertex v and of the shared items that only v needs. */
static int64_t own_bytes(const struct wdag *g, uint32_t v)
{
    int64_t sum = g->size[v];
    for_row (s, g->shared_of, v)
        if (g->shared_by.at[s + 1] - g->shared_by.at[s] == 1)
            sum += g->shared_size[s];
    return sum;
}

/* Returns the time, in ps, of all vertices together on kind k.  A vertex that cannot run on kind k counts with its
 * time on the first kind that can run it. */
static int64_t total_time(const struct problem *c, uint32_t k)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < c->g->n; v++) {
        int64_t t = c->kind[k].time[v];
        for (uint32_t j = 0; t == COST_NEVER && j < c->nkind; j++)
            t = c->kind[j].time[v];
        sum = sat_add(sum, t == COST_NEVER ? 0 : t);
    }
    return smaller(sum, LOAD_INF);
}

int64_t problem_scaled(int64_t x, int64_t scale)
{
    __int128 y = ((__int128)x * scale) >> SCALE_BITS;
    return y > LOAD_INF ? LOAD_INF : (int64_t)y;
}

int64_t problem_net_weight(const struct problem *c, const struct problem_pot *p, uint32_t e)
{
    assert(!p->memory && e < c->g->nnet);
    if (c->overlap) /* transfers may run during computing, so they need not make a load longer */
        return 0;
    int64_t least = LOAD_INF;
    for (uint32_t k = 0; k < c->nkind; k++) {
        if (p->scale[k] < 0)
            continue;
        int64_t t = problem_scaled(c->g->net_cost[c->kind[k].cls][e], p->scale[k]);
        least = smaller(t, least);
    }
    return least == LOAD_INF ? 0 : least;
}

int64_t problem_weight(const struct problem *c, const struct problem_pot *p, uint32_t v)
{
    assert(!p->memory && v < c->g->n);
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < c->nkind; k++) {
        if (p->scale[k] < 0 || c->kind[k].time[v] == COST_NEVER)
            continue;
        int64_t t = problem_scaled(c->kind[k].time[v], p->scale[k]);
        least = smaller(t, least);
    }
    return least == COST_NEVER ? 0 : least;
}

/* Fills the weights and the total of p, a potential of times; p->scale must be set. */
static void weigh_graph(struct problem *c, struct problem_pot *p)
{
    p->w = arena_array(c->mem, (size_t)c->g->n + 1, sizeof *p->w);
    p->net = arena_array(c->mem, (size_t)c->g->nnet + 1, sizeof *p->net);
    for (uint32_t v = 0; v < c->g->n; v++) {
        p->w[v] = problem_weight(c, p, v);
        p->total += p->w[v];
    }
    for (uint32_t e = 0; e < c->g->nnet; e++) {
        p->net[e] = problem_net_weight(c, p, e);
        p->total += problem_weighs(c, e) ? p->net[e] : 0;
    }
}

/* Adds the potential of bytes to c->pot: nets weigh nothing, and the scale of a kind is the memory of its devices. */
static void make_byte_pot(struct problem *c)
{
    assert(c->npot < PROBLEM_POTS);
    const struct wdag *g = c->g;
    struct problem_pot *bytes = &c->pot[c->npot++];
    bytes->memory = true;
    bytes->w = arena_array(c->mem, (size_t)g->n + 1, sizeof *bytes->w);
    bytes->net = arena_array(c->mem, (size_t)g->nnet + 1, sizeof *bytes->net);
    for (uint32_t v = 0; v < g->n; v++) {
        bytes->w[v] = own_bytes(g, v);
        bytes->total += bytes->w[v];
    }
    for (uint32_t k = 0; k < c->nkind; k++)
        bytes->scale[k] = c->kind[k].memory < LOAD_INF ? c->kind[k].memory : -1;
}

/* Adds to c->pot the potentials of times that the head of this file names; the one without hosts becomes
 * c->cross_pot. */
static void make_pots(struct problem *c)
{
    const int64_t one = INT64_C(1) << SCALE_BITS;
    int64_t least = LOAD_INF, t[PROBLEM_KINDS];
    bool host = false, acc = false;
    for (uint32_t k = 0; k < c->nkind; k++) {
        t[k] = total_time(c, k);
        least = smaller(t[k], least);
        if (c->cluster->cls[c->kind[k].cls].host)
            host = true;
        else
            acc = true;
    }
    struct problem_pot *even = &c->pot[c->npot++];
    /* whether the graph takes equally long on every kind, so that scaled and plain times are the same */
    bool alike = true;
    /* scaled by least / t[k], the whole graph takes `least` ps on each kind */
    for (uint32_t k = 0; k < c->nkind; k++) {
        even->scale[k] = t[k] ? (int64_t)(((__int128)least << SCALE_BITS) / t[k]) : one;
        alike = alike && even->scale[k] == one;
    }
    weigh_graph(c, even);
    if (!alike) {
        struct problem_pot *plain = &c->pot[c->npot++];
        for (uint32_t k = 0; k < c->nkind; k++)
            plain->scale[k] = one;
        weigh_graph(c, plain);
    }
    if (host && acc) {
        struct problem_pot *rest = &c->pot[c->npot++];
        c->cross_pot = c->npot - 1;
        for (uint32_t k = 0; k < c->nkind; k++)
            rest->scale[k] = c->cluster->cls[c->kind[k].cls].host ? -1 : one;
        weigh_graph(c, rest);
    }
}

/* Adds to c->pot a potential of times, with the same scales, for each potential of times of `like`. */
static void copy_pots(struct problem *c, const struct problem *like)
{
    for (uint32_t i = 0; i < like->npot; i++) {
        struct problem_pot *p = &c->pot[c->npot];
        if (like->pot[i].memory)
            continue;
        assert(c->npot < PROBLEM_POTS);
        memcpy(p->scale, like->pot[i].scale, sizeof p->scale);
        weigh_graph(c, p);
        c->npot++;
    }
    c->cross_pot = like->cross_pot;
}

bool problem_raise(struct problem *c, struct bound b)
{
    bool higher = b.value > c->lower.value;
    if (higher)
        c->lower = b;
    return higher;
}

/* Whether all devices together can hold the whole graph with loads of at most `limit` ps, by the weights of p. */
static bool has_room(const struct problem *c, const struct problem_pot *p, int64_t limit)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < c->nkind; k++)
        sum = sat_add(sum, sat_mul(c->kind[k].count, problem_scaled(limit, p->scale[k])));
    return sum >= p->total;
}

/* Returns the least time, in ps, of vertex v over all kinds of devices; 0 if no kind can run v. */
static int64_t least_time(const struct problem *c, uint32_t v)
{
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < c->nkind; k++)
        least = smaller(c->kind[k].time[v], least);
    return least == COST_NEVER ? 0 : least;
}

/* Compares two times for qsort: the longer one first. */
static int longer_first(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Raises c->lower by the pigeonhole principle: of the m * D + 1 longest vertices one of D devices gets m + 1 or more.
 * That device's load is at least the sum of the m + 1 shortest of these vertices. */
static void raise_by_pigeonhole(struct problem *c)
{
    uint32_t n = c->g->n, ndev = 0;
    int64_t *t = arena_array(c->mem, (size_t)n + 1, sizeof *t), *sum;
    for (uint32_t v = 0; v < n; v++)
        t[v] = least_time(c, v);
    qsort(t, n, sizeof *t, longer_first);
    sum = arena_array(c->mem, (size_t)n + 1, sizeof *sum); /* [v] time of the v longest */
    for (uint32_t v = 0; v < n; v++)
        sum[v + 1] = sum[v] + t[v];
    for (uint32_t k = 0; k < c->nkind; k++)
        ndev += c->kind[k].count;
    assert(ndev > 0);
    for (uint32_t m = 0; (uint64_t)m * ndev < n; m++) {
        uint32_t last = m * ndev + 1;
        int64_t least = sum[last] - sum[last - m - 1];
        if (least > c->lower.value)
            c->lower = (struct bound){
                .value = least,
                .why = m ? arena_fmt(c->mem, "%u longest nodes on %u devices", last, ndev)
                         : "longest node",
                .by = {.by = LOWER_HOLES, .at = m}};
    }
}

/* Sets c->lower to the largest of these bounds: for each potential of times of all kinds, the average load, that is,
 * the least load at which all devices together have room for the whole graph; and, without copies, the bounds by the
 * pigeonhole principle. */
static void make_lower(struct problem *c)
{
    c->lower.why = "average load";
    for (uint32_t i = 0; i < c->npot; i++) {
        const struct problem_pot *p = &c->pot[i];
        bool every_kind = !p->memory;
        for (uint32_t k = 0; k < c->nkind; k++)
            every_kind = every_kind && p->scale[k] >= 0;
        int64_t lo = 0, hi = LOAD_INF;
        while (every_kind && lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (has_room(c, p, mid))
                hi = mid;
            else
                lo = mid + 1;
        }
        if (every_kind)
            problem_raise(c, (struct bound){.value = lo,
                                            .why = "average load",
                                            .by = {.by = LOWER_AVERAGE, .at = i}});
    }
    bool alone = true;
    for (uint32_t k = 0; k < c->nkind; k++)
        alone = alone && c->kind[k].copies == 1;
    if (alone)
        raise_by_pigeonhole(c);
}

/* Whether the time of each transfer follows from its bytes: none was measured or given. */
static bool timed_by_bytes(const struct scene *s)
{
    for (uint32_t e = 0; e < s->place->nnet; e++)
        if (place_moved(s->place, s->m->cost, e).measured >= 0)
            return false;
    return true;
}

/* Sets c->values, c->most_at_once and c->by_bytes.  For c->most_at_once it is enough to look at the whole model: of the
 * values that it makes and does not send, no set has more bytes at one time than the whole model has of its values. */
static void make_values(struct problem *c)
{
    struct set_values *v = c->values = set_values_build(c->g, c->scene, c->mem);
    struct arena *own = arena_new(c->mem);
    struct set_memory *all = v ? set_memory_new(v, own) : NULL;
    for (uint32_t x = 0; v && x < c->g->n; x++)
        set_memory_add(all, x);
    /* the values that the whole model reads and sends are its inputs and outputs; they are added, since there may be no
     * transfers of these that problem_surely_fits() could count */
    c->most_at_once = v ? sat_add(set_memory_peak(all), all->sent) : 0;
    c->by_bytes = v && timed_by_bytes(c->scene);
    arena_free(own);
}

bool problem_surely_fits(const struct problem *c, uint32_t k, int64_t bytes, int64_t cut)
{
    const struct device_class *cls = &c->cluster->cls[c->kind[k].cls];
    if (cls->host || cls->link_bandwidth <= 0 || c->timeless || cluster_grouped(c->cluster) ||
        !c->by_bytes)
        return false; /* the times of transfers do not tell how many bytes are moved */
    __int128 moved = (__int128)cut * cls->link_bandwidth / PS_PER_S + 1;
    /* what the set reads and sends counts twice at most (set_memory.h) */
    return (__int128)bytes + c->most_at_once + 2 * moved <= c->kind[k].room;
}

/* What build_problem() is to make: in this the three public functions that build problems differ. */
struct problem_form {
    int64_t memory; /* bytes to which smaller memories are raised; -1: none are */
    /* the problem whose memories and scales are taken over; NULL: memories are the cluster's, and scales are
     * computed */
    const struct problem *like;
    bool by_pass; /* loads count what the parts of each pass cost (problem_build_by_pass) */
};

/* Sets the memory and the room of each kind, and c->limited, as `how` says.  Returns whether some kind's room may be
 * too small for a set of vertices. */
static bool set_memories(struct problem *c, const struct problem_form *how)
{
    /* bytes: lasting bytes of the whole graph; at_once: a number of bytes beside these that suffices for every set */
    int64_t bytes = wdag_bytes(c->g);
    int64_t at_once = exec_live_parts(&c->scene->model) ? sample_memory_most(c->scene) : 0;
    bool tight = false;
    for (uint32_t k = 0; k < c->nkind; k++) {
        struct problem_kind *kind = &c->kind[k];
        int64_t m = how->like ? how->like->kind[k].memory : c->cluster->cls[kind->cls].memory;
        if (m >= 0 && m < how->memory)
            m = how->memory;
        kind->memory = m < 0 || m >= bytes ? LOAD_INF : m;
        kind->room = m < 0 || m >= at_once ? LOAD_INF : m;
        tight = tight || kind->room < LOAD_INF;
        c->limited = c->limited || kind->memory < LOAD_INF;
    }
    return tight;
}

/* Makes the problem that `how` asks for; the other parameters and the result are those of problem_build(). */
static struct problem *build_problem(const struct wdag *g, const struct scene *s,
                                     const struct problem_form *how, struct arena *a,
                                     struct diag *d)
{
    const struct problem *like = how->like;
    struct problem *c = arena_alloc(a, sizeof *c);
    const struct exec_model *model = &s->model;
    c->g = g;
    c->scene = s;
    c->cluster = s->cluster;
    c->mem = a;
    c->overlap = model->overlap != OVERLAP_SUM;
    c->pass_loads = exec_apart(model) && g->back;
    c->by_pass = how->by_pass;
    c->detailed = c->overlap || c->pass_loads || model->replicate || c->by_pass;
    /* in other problems plans are valued as if parts cost nothing (problem.start) */
    if (c->by_pass)
        c->start = model->part_cost;
    else if (c->detailed && !c->pass_loads)
        c->start = sat_mul(model->part_cost, wdag_passes(g));
    if (make_kinds(c, d))
        return NULL;
    assert(!like || c->nkind == like->nkind);
    for (uint32_t k = 0; k < c->nkind; k++)
        make_times(c, k);
    if (set_memories(c, how))
        make_values(c);
    if (like)
        copy_pots(c, like);
    else
        make_pots(c);
    if (c->limited)
        make_byte_pot(c);
    make_nets(c);
    make_lower(c);
    assert(c->npot > 0 && c->npot <= PROBLEM_POTS && c->lower.value >= 0);
    return c;
}

struct problem *problem_build(const struct wdag *g, const struct scene *s, int64_t memory,
                              struct arena *a, struct diag *d)
{
    const struct problem_form how = {.memory = memory};
    return build_problem(g, s, &how, a, d);
}

struct problem *problem_build_by_pass(const struct wdag *g, const struct scene *s, struct arena *a,
                                      struct diag *d)
{
    if (!s->model.part_cost || !wdag_passes_differ(g))
        return NULL;
    const struct problem_form how = {.memory = -1, .by_pass = true};
    return build_problem(g, s, &how, a, d);
}

struct problem *problem_build_like(const struct wdag *g, const struct problem *like,
                                   struct arena *a, struct diag *d)
{
    const struct problem_form how = {
        .memory = -1, .like = like, .by_pass = like->by_pass && g->pass};
    return build_problem(g, like->scene, &how, a, d);
}

void problem_count_vertex(const struct problem *c, struct problem_parts *p, uint32_t v, int by)
{
    assert(v < c->g->n);
    p->vertices += (uint32_t)by;
    if (!c->by_pass)
        return;
    /* pass[v]: bit 0 is set if v has forward nodes, bit 1 if v has backward nodes */
    p->of_pass[0] += c->g->pass[v] & 1 ? (uint32_t)by : 0;
    p->of_pass[1] += c->g->pass[v] & 2 ? (uint32_t)by : 0;
}

void problem_loads(const struct problem *c, uint32_t k, const struct problem_parts *p,
                   uint32_t copies, int64_t load[2])
{
    assert(k < c->nkind && copies > 0);
    const struct exec_model *model = &c->scene->model;
    const int64_t *f = p->t[0], *b = p->t[1];
    /* ps: what the device's parts cost, by pass */
    int64_t start[2] = {p->vertices ? c->start : 0, 0};
    if (c->by_pass) {
        start[0] = p->of_pass[0] ? c->start : 0;
        start[1] = p->of_pass[1] ? c->start : 0;
    }
    /* only callers that search for a bound have groups (hier_place.c); for them copies are in one group if the group
     * has enough devices */
    const struct device_class *cls = &c->cluster->cls[c->kind[k].cls];
    int64_t sync = c->g->back ? exec_sync(model, cls, copies <= cls->group, p->params, copies) : 0;
    /* the load of the forward pass or, unless passes have loads of their own, of both passes together */
    int64_t first = c->pass_loads
                        ? exec_load(model, f[PART_COMPUTE] + start[0], f[PART_IN], f[PART_OUT])
                        : exec_load(model, f[PART_COMPUTE] + b[PART_COMPUTE] + start[0] + start[1],
                                    f[PART_IN] + b[PART_IN], f[PART_OUT] + b[PART_OUT]);
    load[0] = exec_shared_load(model, first, c->pass_loads ? 0 : sync, copies);
    load[1] = 0;
    if (c->pass_loads)
        load[1] = exec_shared_load(
            model, exec_load(model, b[PART_COMPUTE] + start[1], b[PART_IN], b[PART_OUT]), sync,
            copies);
    for (int i = 0; i < 2; i++) /* their sum must not overflow */
        load[i] = smaller(load[i], LOAD_INF);
}

void problem_forget_times(struct problem *c)
{
    c->timeless = true;
    c->detailed = c->pass_loads = c->overlap = c->by_pass = false;
    for (uint32_t k = 0; k < c->nkind; k++)
        c->kind[k].copies = 1;
    const struct wdag *g = c->g;
    int64_t *free_net = arena_array(c->mem, (size_t)g->nnet + 1, sizeof *free_net);
    for (uint32_t k = 0; k < c->nkind; k++) {
        int64_t *t = arena_array(c->mem, (size_t)g->n + 1, sizeof *t);
        for (uint32_t v = 0; v < g->n; v++)
            t[v] = c->kind[k].time[v] == COST_NEVER ? COST_NEVER : 0;
        c->kind[k].time = t;
        c->cls[c->kind[k].cls].cost = free_net;
    }
    for (uint32_t p = 0; p < c->npot; p++) {
        if (c->pot[p].memory)
            continue;
        memset(c->pot[p].w, 0, ((size_t)g->n + 1) * sizeof(int64_t));
        c->pot[p].net = free_net;
        c->pot[p].total = 0;
    }
    c->lower.value = 0;
}

void problem_set_limit(const struct problem *c, struct problem_caps *caps, int64_t limit)
{
    assert(caps && c->npot <= PROBLEM_POTS);
    caps->limit = caps->keep = limit;
    for (uint32_t p = 0; p < c->npot; p++)
        for (uint32_t k = 0; k < c->nkind; k++) {
            int64_t s = c->pot[p].scale[k];
            caps->cap[p][k] = s < 0 ? LOAD_INF : c->pot[p].memory ? s : problem_scaled(limit, s);
        }
}

/* ---- labels ---------------------------------------------------------------------------------- */

uint64_t problem_ways(const struct problem *c, uint64_t most)
{
    uint64_t ways = 1;
    for (uint32_t k = 0; k < c->nkind && ways <= most; k++)
        ways *= c->kind[k].count + 1;
    return ways;
}

bool labels_many(const struct problem *c)
{
    return c->nkind > 1 && problem_ways(c, LABELS_MOST) > LABELS_MOST;
}

uint32_t labels_relax(struct labels *l, const struct problem *c, uint32_t *head, struct label nw)
{
    assert(!(nw.used & c->guard) && nw.kind < c->nkind);
    uint32_t worse = 0;  /* the first label of the list that nw is as good as; 0: none yet */
    uint32_t before = 0; /* the label before label i in the list; 0: i is the first */
    uint32_t walked = 0;
    for (uint32_t i = *head, next; i; i = next) {
        const struct label *o = &l->v[i];
        next = o->next;
        l->walked += ++walked > LABELS_FEW;
        if (o->value <= nw.value && o->back <= nw.back && problem_no_more(c, o->used, nw.used))
            return 0;
        bool not_better =
            nw.value <= o->value && nw.back <= o->back && problem_no_more(c, nw.used, o->used);
        /* nw will take the place of label `worse`; any further label that nw is as good as leaves the list */
        if (not_better && worse) {
            l->v[before].next = next;
            continue;
        }
        worse = not_better ? i : worse;
        before = i;
    }
    l->longest = larger_u32(l->longest, walked + 1);
    if (worse) {
        nw.next = l->v[worse].next;
        l->v[worse] = nw;
        return worse;
    }
    /* index 0 stays unused: it means no label */
    if (l->n == 0)
        l->n = 1;
    l->v = vec_grow(l->mem, l->v, &l->cap, l->n + 1, sizeof *l->v);
    nw.next = *head;
    l->v[l->n] = nw;
    *head = l->n;
    return l->n++;
}

uint32_t problem_kind_of(const struct problem *c, uint32_t dev)
{
    uint32_t cls = cluster_class(c->cluster, dev), found = 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        if (c->kind[k].dev == (int32_t)dev)
            return k;
        if (c->kind[k].dev < 0 && c->kind[k].cls == cls)
            found = k;
    }
    return found;
}

/* Returns how many devices of kind k are not used by a plan that uses `used` (as label.used). */
static uint32_t problem_devices_left(const struct problem *c, uint64_t used, uint32_t k)
{
    const struct problem_kind *kd = &c->kind[k];
    uint64_t field = (used >> kd->shift) & ((UINT64_C(1) << kd->width) - 1);
    assert(field <= kd->count);
    return kd->count - (uint32_t)field;
}

int64_t problem_room(const struct problem *c, const struct problem_caps *caps, uint64_t used,
                     uint32_t p)
{
    int64_t room = 0;
    for (uint32_t k = 0; k < c->nkind; k++)
        room = sat_add(room, sat_mul(problem_devices_left(c, used, k), caps->cap[p][k]));
    return room;
}

void problem_live(const struct problem *c, const struct labels *l, uint32_t head, uint32_t k,
                  const struct problem_caps *caps, struct live_list *out)
{
    assert(k < c->nkind);
    out->n = 0;
    for (uint32_t p = 0; p < c->npot; p++)
        out->low[p] = LOAD_INF;
    for (uint32_t i = head; i; i = l->v[i].next) {
        const struct label *x = &l->v[i];
        if (x->value + x->back > caps->keep || !problem_devices_left(c, x->used, k))
            continue;
        out->v = vec_grow(l->mem, out->v, &out->cap, out->n + 1, sizeof *out->v);
        struct live *o = &out->v[out->n++];
        o->label = i;
        o->value = x->value;
        o->back = x->back;
        o->left = c->kind[k].copies > 1 ? problem_devices_left(c, x->used, k) : 1;
        o->used = x->used + (UINT64_C(1) << c->kind[k].shift); /* one more device of kind k */
        for (uint32_t p = 0; p < c->npot; p++) {
            int64_t room = problem_room(c, caps, o->used, p);
            o->low[p] = c->pot[p].total - smaller(room, LOAD_INF);
            out->low[p] = smaller(o->low[p], out->low[p]);
        }
    }
}

void problem_assign(const struct problem *c, const uint32_t *step, const struct problem_step *steps,
                    uint32_t nstep, struct problem_plan *best)
{
    uint32_t next[CLUSTER_CLASSES], base = 0; /* next: [class] the next device to give out */
    uint8_t pinned[CLUSTER_DEVICES] = {0};
    int32_t *of_step = arena_array(c->mem, (size_t)nstep + 1, sizeof *of_step);
    if (best->copies)
        memset(best->copies, 0, c->cluster->ndev * sizeof *best->copies);
    for (uint32_t k = 0; k < c->cluster->ncls; k++) {
        next[k] = base;
        base += c->cluster->cls[k].count;
    }
    for (uint32_t k = 0; k < c->nkind; k++)
        if (c->kind[k].dev >= 0)
            pinned[c->kind[k].dev] = 1;
    for (uint32_t i = 0; i < nstep; i++) {
        /* the steps of a turned problem begin at the other end (problem_mirror) */
        uint32_t s = c->turned ? nstep - 1 - i : i;
        assert(steps[s].kind < c->nkind && (steps[s].copies <= 1 || best->copies));
        const struct problem_kind *k = &c->kind[steps[s].kind];
        if (k->dev >= 0) {
            of_step[s] = k->dev;
            continue;
        }
        while (pinned[next[k->cls]])
            next[k->cls]++;
        assert(next[k->cls] < c->cluster->ndev);
        of_step[s] = (int32_t)next[k->cls];
        if (best->copies)
            best->copies[of_step[s]] = steps[s].copies;
        next[k->cls] += steps[s].copies > 1 ? steps[s].copies : 1;
    }
    for (uint32_t v = 0; v < c->g->n; v++) {
        assert(step[v] < nstep);
        best->dev[v] = of_step[step[v]];
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

void problem_tell(const struct problem *c, const struct clock *clock, const char *phase,
                  uint32_t done, int64_t value)
{
    if (clock)
        listener_tell(clock->listener, (struct progress){.phase = phase,
                                                         .done = done,
                                                         .value = value < LOAD_INF ? value : 0,
                                                         .bound = c->lower.value});
}
