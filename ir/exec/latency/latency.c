/* Makes the tasks of one sample by subgraphs (latency.h): one task for each subgraph of an accelerator and each node of
 * a host, which struct subgraphs lists as a subgraph, too.  Waits and transfers are added net by net: from the maker of
 * the value to each subgraph that reads it, once. */
#include "ir/exec/latency/latency.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "ir/exec/task_builder.h"
#include "ir/exec/task_order.h"

#include <assert.h>

/* State of latency_tasks(). */
struct latency {
    const struct scene *s;
    const struct subgraphs *k;
    struct subgraph_time *time; /* [subgraph] times of the subgraph */
    struct task_builder b;
    /* [subgraph] 1 + the last net that add_net() counted as an input of the subgraph; 0: none yet */
    uint32_t *seen;
};

/* ---- times and waits of subgraphs --------------------------------------------------------------- */

/* Returns the class of a subgraph's device. */
static uint32_t class_of(const struct latency *l, uint32_t sub)
{
    assert(sub < l->k->n);
    return cluster_class(l->s->cluster, l->k->sub[sub].dev);
}

/* Returns the time, ps, of a transfer of the net's value between the host and the device of a subgraph. */
static int64_t transfer_time(const struct latency *l, uint32_t sub, uint32_t net)
{
    return cluster_transfer(l->s->cluster, class_of(l, sub), /*inner=*/false,
                            place_moved(l->s->place, l->s->m->cost, net));
}

/* Sets time[] of all subgraphs to their computing alone, with part_cost for subgraphs of accelerators. */
static void set_computing(const struct latency *l)
{
    const struct graph *g = &l->s->m->graph[1];
    for (uint32_t i = 0; i < l->k->n; i++)
        l->time[i] =
            (struct subgraph_time){.compute = l->k->sub[i].host ? 0 : l->s->model.part_cost};
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint32_t i = l->k->of[n];
        if (i != NO_SUBGRAPH)
            l->time[i].compute =
                sat_add(l->time[i].compute, l->s->m->cost->time[class_of(l, i)][n]);
    }
}

/* Returns the subgraph that makes the net's value; NO_SUBGRAPH: the value is there from the beginning. */
static uint32_t maker_of(const struct latency *l, uint32_t net)
{
    assert(net < l->s->place->nnet);
    nid def = l->s->m->value[l->s->place->net_value[net]].def;
    return def && l->s->place->kind[def] == PLACE_NODE ? l->k->of[def] : NO_SUBGRAPH;
}

/* Makes the subgraphs that read a net wait for its maker.  In the last turn (BUILD_ENTRIES) also adds the transfers of
 * the value to the times of maker and readers; in that turn alone, so that they count once. */
static void add_net(struct latency *l, uint32_t net)
{
    const struct csr *pin = &l->s->place->net_pin;
    uint32_t maker = maker_of(l, net);
    bool last_turn = l->b.turn == BUILD_ENTRIES, host = l->s->place->net_host[net];
    bool leaves = host; /* the maker transfers the value */
    if (maker == NO_SUBGRAPH && !host)
        return; /* a state input of the model, which is on its device already */
    for_row (x, *pin, net) {
        uint32_t to = l->k->of[x];
        assert(to != NO_SUBGRAPH); /* pins are placed nodes */
        if (to == maker || l->seen[to] == net + 1)
            continue;
        l->seen[to] = net + 1;
        leaves = true;
        if (maker != NO_SUBGRAPH)
            build_wait(&l->b, to, maker);
        if (last_turn && !l->k->sub[to].host)
            l->time[to].in = sat_add(l->time[to].in, transfer_time(l, to, net));
    }
    if (last_turn && leaves && maker != NO_SUBGRAPH && !l->k->sub[maker].host)
        l->time[maker].out = sat_add(l->time[maker].out, transfer_time(l, maker, net));
}

/* Describes tasks and waits to the task builder, once in each turn. */
static void describe(struct latency *l)
{
    for (uint32_t i = 0; i < l->k->n; i++) {
        l->seen[i] = 0;
        build_task(&l->b, &(struct task){0});
    }
    for (uint32_t e = 0; e < l->s->place->nnet; e++)
        add_net(l, e);
}

/* ---- lanes and lists ---------------------------------------------------------------------------- */

/* Returns the lane of a subgraph; NO_LANE: it starts as soon as its operands are there. */
static uint32_t lane_of(const struct latency *l, uint32_t sub)
{
    const struct latency_model *how = &l->s->model.latency;
    if (l->k->sub[sub].host && how->cpus == CPUS_UNBOUNDED)
        return NO_LANE;
    if (l->k->sub[sub].host && !l->k->place)
        return l->s->cluster->ndev + class_of(l, sub);
    if (l->k->sub[sub].host)
        return l->k->sub[sub].dev;
    return l->k->slotted || how->pieces == PIECES_EXCLUSIVE ? l->k->sub[sub].dev : NO_LANE;
}

/* Makes the task of each subgraph, with its time and lane, but without a rank. */
static void set_tasks(const struct latency *l)
{
    for (uint32_t i = 0; i < l->k->n; i++) {
        const struct subgraph_time *t = &l->time[i];
        struct task *x = &l->b.g.task[i];
        assert(t->in >= 0 && t->compute >= 0 && t->out >= 0);
        *x = (struct task){.lane = {lane_of(l, i), NO_LANE}, .count = 1, .number = i};
        x->kind = l->k->sub[i].host ? LATENCY_HOST : LATENCY_SUBGRAPH;
        x->time = sat_add(t->in, sat_add(t->compute, t->out));
        task_between(x, l->k->sub[i].dev, l->k->sub[i].dev);
    }
}

/* Makes a lane for each device, and one for each class, as wide as the number of its devices, for nodes of hosts that
 * may run on any CPU of the class. */
static void make_lanes(struct latency *l, struct arena *a)
{
    const struct cluster *c = l->s->cluster;
    struct task_graph *g = &l->b.g;
    g->ndev = c->ndev;
    g->nlane = c->ndev + c->ncls;
    g->lane = arena_array(a, (size_t)g->nlane + 1, sizeof *g->lane);
    for (uint32_t d = 0; d < c->ndev; d++)
        g->lane[d].discipline = l->k->slotted || l->k->place ? LANE_LIST : LANE_FIFO;
    for (uint32_t k = 0; k < c->ncls; k++)
        g->lane[c->ndev + k] = (struct lane){c->cls[k].count, LANE_RANK};
}

/* Returns the key by which the list of a device is sorted: subgraphs.place if it is given, else forward subgraphs by
 * slot, then backward ones from the last slot to the first. */
static int64_t list_key(const struct latency *l, uint32_t sub)
{
    const struct subgraph *s = &l->k->sub[sub];
    return l->k->place ? l->k->place[sub] : s->back ? 2 * (int64_t)UINT32_MAX - s->slot : s->slot;
}

/* Fills g->list, in a: for each device its subgraphs in the order that the plan sets (list_key()).  If the plan sets
 * none, all lists are empty. */
static void fill_lists(struct latency *l, struct arena *a)
{
    struct task_graph *g = &l->b.g;
    struct keyed *x = arena_array(a, (size_t)l->k->n + 1, sizeof *x);
    uint32_t n = 0;
    g->list.at = arena_array(a, (size_t)g->nlane + 1, sizeof *g->list.at);
    for (uint32_t i = 0; (l->k->slotted || l->k->place) && i < l->k->n; i++)
        if (g->task[i].lane[0] < g->ndev)
            x[n++] = (struct keyed){list_key(l, i), i};
    keyed_sort(x, n);
    g->list.to = arena_array(a, (size_t)n + 1, sizeof *g->list.to);
    for (uint32_t i = 0; i < n; i++)
        g->list.at[l->k->sub[x[i].item].dev + 1]++;
    csr_starts(g->list.at, g->nlane);
    for (uint32_t i = 0; i < n; i++)
        g->list.to[g->list.at[l->k->sub[x[i].item].dev + 1]++] = x[i].item;
}

/* Returns the tasks of a latency, in a, with numbered items: task i is subgraph i of k (kind: enum latency_kind;
 * number: i; from and to: its device).  Writes to time[i] the times that it is made of.  Lane d < ndev is device d,
 * lane ndev + c all CPUs of class c together.  O(nodes + pins + tasks log tasks). */
static struct task_graph latency_tasks(const struct scene *s, const struct subgraphs *k,
                                       struct subgraph_time *time, struct arena *a)
{
    struct latency l = {.s = s, .k = k, .time = time};
    assert(s->m->cost && s->place && s->cluster);
    l.seen = arena_array(a, (size_t)k->n + 1, sizeof *l.seen);
    set_computing(&l);
    while (task_builder_turn(&l.b, a))
        describe(&l);
    set_tasks(&l);
    make_lanes(&l, a);
    fill_lists(&l, a);
    rank_by_level(&l.b.g, k->n, a);
    bool numbered = task_graph_number(&l.b.g, a);
    assert(numbered);
    (void)numbered;
    return l.b.g;
}

/* ---- the run ------------------------------------------------------------------------------------ */

struct latency_run latency_run_subgraphs(const struct scene *s, const struct subgraphs *k,
                                         struct arena *a)
{
    struct latency_run r = {.k = *k, .time = arena_array(a, (size_t)k->n + 1, sizeof *r.time)};
    r.g = latency_tasks(s, k, r.time, a);
    r.t = events_run(&r.g, NULL, a);
    return r;
}

int64_t latency_value(const struct scene *s, const int32_t *dev, const uint32_t *slot,
                      struct arena *a)
{
    assert(dev);
    struct arena_mark mark = arena_mark(a);
    struct subgraphs k = subgraphs_of(s, dev, slot, a);
    struct latency_run r = latency_run_subgraphs(s, &k, a);
    int64_t value = r.t.status == RUN_DONE ? r.t.end : INT64_MAX;
    arena_release(a, mark);
    return value;
}
