/* One step, node by node (single_step.h): makes the tasks for the event core.
 *
 * Source: the simulators of Baechi (2.8 of its paper) and of Celeritas; but transfers are served in the order in which
 * they become ready, and not booked ahead.  A transfer is requested when the node that makes the value ends, once for
 * each other device that reads the value, even if several nodes there read it.
 *
 * Tasks of nodes (or parts) are added first, then net by net the hops (hops.h) that bring its value to its readers.  As
 * task_builder.h wants it, the graph is described in three turns. */
#include "ir/exec/makespan/single_step.h"

#include "ir/base/units.h"
#include "ir/exec/makespan/hops.h"
#include "ir/exec/replicas/booked.h"
#include "ir/exec/task_builder.h"
#include "ir/exec/task_order.h"

#include <assert.h>

/* The value of a net at one end of hops: a device or the host. */
struct copy {
    /* the task that makes the value here or brings it here; NO_ITEM: the value is here from the beginning */
    uint32_t task;
    /* buffer of the value, freed after its last use; NO_ITEM: no memory that is freed */
    uint32_t buffer;
    /* 1 + the net for which `task` and `buffer` are set; for any other net they mean nothing */
    uint32_t net;
};

/* State of single_step(). */
struct step_build {
    const struct scene *of;
    const int32_t *dev;        /* [node] of the plan */
    const uint32_t *rank;      /* [node] of the plan */
    const struct parts *parts; /* NULL: nodes are tasks */
    struct task_builder b;
    struct hops hops;
    uint32_t *task_of; /* [node] the task that runs it */
    uint8_t *is_net;   /* [value] 1: it is the value of a net */
    struct copy *at;   /* [end: ndev + 1] copies of the net that is being added */
};

/* The net that is being added. */
struct source {
    uint32_t net;
    /* where the value is made: a device, or hops.host; inputs of the model: hops.host */
    uint32_t end;
    bool inner; /* hops over the host take the link within a group: all pins are in one group */
};

/* Makes the task wait for the task that makes or brings the copy, and use the copy's buffer. */
static void add_reader(struct step_build *t, uint32_t task, struct copy c)
{
    if (c.task != NO_ITEM)
        build_wait(&t->b, task, c.task);
    if (c.buffer != NO_ITEM)
        build_use(&t->b, c.buffer, task);
}

/* Returns the bytes of a net's value. */
static int64_t bytes_of(const struct step_build *t, uint32_t net)
{
    return t->of->m->cost->bytes[t->of->place->net_value[net]];
}

/* Returns the device that is charged for a value that a hop brings to the host's memory: the host device of the net's
 * first reader there; NO_ITEM: no host device reads the net. */
static uint32_t host_reader(const struct step_build *t, uint32_t net)
{
    const struct csr *pin = &t->of->place->net_pin;
    for_row (x, *pin, net)
        if (t->hops.end[t->dev[x]].at == t->hops.host)
            return (uint32_t)t->dev[x];
    return NO_ITEM;
}

/* Returns the copy of the value at the end `to`.  If there is none yet, adds the hops that bring it there. */
static struct copy copy_at(struct step_build *t, const struct source *s, uint32_t to)
{
    struct copy *c = &t->at[to];
    struct task x = {0};
    if (c->net == s->net + 1)
        return *c;
    uint32_t from = hop_before(&t->hops, s->end, to);
    struct copy before = copy_at(t, s, from);
    if (t->b.turn == BUILD_ENTRIES)
        x = hop_make(&t->hops, s->net, from, to, s->inner);
    *c = (struct copy){build_task(&t->b, &x), NO_ITEM, s->net + 1};
    add_reader(t, c->task, before);
    uint32_t dev = to < t->hops.host ? to : host_reader(t, s->net);
    if (dev != NO_ITEM)
        c->buffer = build_buffer(&t->b, (struct buffer){dev, c->task, bytes_of(t, s->net)});
    return *c;
}

/* Returns the copy of the net's value on the device of the node that makes it.  An output of the model that stays
 * there gets a buffer without uses, which is never freed. */
static struct copy make_value(struct step_build *t, uint32_t net, nid maker)
{
    const struct value *v = &t->of->m->value[t->of->place->net_value[net]];
    uint32_t dev = (uint32_t)t->dev[maker];
    bool leaves = t->of->place->net_host[net] && t->hops.end[dev].at != t->hops.host;
    struct copy c = {t->task_of[maker], NO_ITEM, net + 1};
    c.buffer = build_buffer(&t->b, (struct buffer){dev, c.task, bytes_of(t, net)});
    if ((v->flags & VALUE_OUTPUT) && !leaves)
        c.buffer = NO_ITEM;
    return c;
}

/* Adds a net: the hops of its value from the maker to each device with a reader, and to the host if the value is an
 * output of the model; makes the readers wait for them. */
static void add_net(struct step_build *t, uint32_t net)
{
    const struct place *p = t->of->place;
    nid maker = t->of->m->value[p->net_value[net]].def;
    bool made = maker && p->kind[maker] == PLACE_NODE;
    if (!made && !p->net_host[net])
        return; /* a state of the model that no node makes lies on its device already */
    struct source s = {.net = net, .end = made ? t->hops.end[t->dev[maker]].at : t->hops.host};
    s.inner = t->of->model.step.network == NETWORK_HOST && t->b.turn == BUILD_ENTRIES &&
              hops_stay_inside(&t->hops, t->dev, net);
    t->at[s.end] = made ? make_value(t, net, maker) : (struct copy){NO_ITEM, NO_ITEM, net + 1};
    for_row (n, p->net_pin, net)
        if (!made || t->task_of[n] != t->task_of[maker])
            add_reader(t, t->task_of[n], copy_at(t, &s, t->hops.end[t->dev[n]].at));
    if (p->net_host[net])
        copy_at(t, &s, t->hops.host);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Returns the bytes that a node needs only while it runs: all but its results that are values of nets; 0 or less:
 * none.  In a profile (ir_version 0) there are none: all bytes of nodes stay all the time. */
static int64_t temporary_bytes(const struct step_build *t, nid n)
{
    const struct module *m = t->of->m;
    int64_t rest = m->ir_version ? m->cost->own[n] : 0;
    for (uint32_t i = 0; rest > 0 && i < m->node[n].out.n; i++) {
        vid v = node_out(m, n, i);
        rest -= t->is_net[v] ? m->cost->bytes[v] : 0;
    }
    return rest;
}

/* Adds a task for each placed node, and a buffer for the bytes that it needs only while it runs. */
static void add_nodes(struct step_build *t)
{
    const struct module *m = t->of->m;
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (t->of->place->kind[n] != PLACE_NODE)
            continue;
        uint32_t d = (uint32_t)t->dev[n];
        struct task x = {.kind = STEP_COMPUTE, .number = n, .lane = {d, NO_LANE}, .count = 1};
        assert(d < t->hops.host);
        task_between(&x, d, d);
        x.rank = t->of->model.step.dispatch == DISPATCH_PLAN && t->rank ? t->rank[n] : 0;
        x.time = m->cost->time[t->hops.end[d].cls][n];
        t->task_of[n] = build_task(&t->b, &x);
        int64_t more = temporary_bytes(t, n);
        if (more > 0)
            build_use(&t->b, build_buffer(&t->b, (struct buffer){d, t->task_of[n], more}),
                      t->task_of[n]);
    }
}

/* Returns in how many of the two training passes, forward and backward, the part has nodes. */
static uint32_t count_passes(const struct module *m, const struct part *part)
{
    bool has[2] = {false, false};
    for (uint32_t i = 0; i < part->nnode; i++)
        has[m->backward && m->backward[part->node[i]]] = true;
    return (uint32_t)has[0] + has[1];
}

/* Adds a task for each part: it takes the time of its nodes, and for each training pass of them the cost of a part. */
static void add_parts(struct step_build *t)
{
    const struct module *m = t->of->m;
    for (uint32_t i = 0; i < t->parts->nparts; i++) {
        const struct part *part = &t->parts->part[i];
        uint32_t d = part->dev;
        struct task x = {.kind = STEP_COMPUTE, .number = i, .lane = {d, NO_LANE}, .count = 1};
        task_between(&x, d, d);
        x.rank = t->of->model.step.dispatch == DISPATCH_PLAN ? i : 0;
        x.time = sat_mul(t->of->model.part_cost, count_passes(m, part));
        for (uint32_t k = 0; k < part->nnode; k++) {
            t->task_of[part->node[k]] = t->b.g.ntask; /* the number that build_task() will give */
            x.time = sat_add(x.time, m->cost->time[t->hops.end[d].cls][part->node[k]]);
        }
        build_task(&t->b, &x);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Fills the fields of t that stay the same in all turns of the builder. */
static void set_up(struct step_build *t, struct arena *a)
{
    const struct place *p = t->of->place;
    t->hops = hops_of(t->of, a);
    t->b.g.ndev = t->hops.host;
    t->task_of = arena_array(a, (size_t)t->of->m->nnode + 1, sizeof *t->task_of);
    t->is_net = arena_alloc(a, (size_t)t->of->m->nval + 1);
    t->at = arena_array(a, (size_t)t->hops.host + 1, sizeof *t->at);
    for (uint32_t e = 0; e < p->nnet; e++)
        t->is_net[p->net_value[e]] = 1;
}

/* Describes the whole graph to the builder, once in each turn. */
static void describe(struct step_build *t)
{
    for (uint32_t d = 0; d <= t->hops.host; d++)
        t->at[d].net = 0;
    if (t->parts)
        add_parts(t);
    else
        add_nodes(t);
    for (uint32_t e = 0; e < t->of->place->nnet; e++)
        add_net(t, e);
}

/* Makes all lanes, for computing and for hops, with their disciplines. */
static void make_lanes(struct step_build *t, struct arena *a)
{
    static const uint8_t discipline[DISPATCHES] = {LANE_LIST, LANE_FIFO, LANE_RANK};
    const struct step_model *s = &t->of->model.step;
    struct task_graph *g = &t->b.g;
    g->nlane = t->hops.nlane;
    g->lane = arena_array(a, (size_t)g->nlane + 1, sizeof *g->lane);
    for (uint32_t l = 0; l < g->nlane; l++)
        g->lane[l].discipline = s->contention == CONTENTION_BAECHI ? LANE_LIST
                                : l < g->ndev                      ? discipline[s->dispatch]
                                                                   : LANE_FIFO;
}

struct task_graph single_step(const struct scene *of, const struct plan *p,
                              const struct parts *parts, struct arena *a)
{
    const struct step_model *s = &of->model.step;
    struct step_build t = {.of = of, .dev = p->dev, .rank = p->rank, .parts = parts};
    assert(of->m->cost && of->place && of->cluster);
    assert(s->network == NETWORK_DIRECT || s->contention < CONTENTION_BLOCKING);
    set_up(&t, a);
    while (task_builder_turn(&t.b, a))
        describe(&t);
    make_lanes(&t, a);
    struct task_graph *g = &t.b.g;
    uint32_t nodes = 0;
    while (nodes < g->ntask && g->task[nodes].kind == STEP_COMPUTE)
        nodes++;
    if (s->dispatch == DISPATCH_LEVEL)
        rank_by_level(g, nodes, a);
    if (s->contention == CONTENTION_BAECHI)
        book_ahead(g, nodes, a);
    else if (s->dispatch == DISPATCH_PLAN)
        list_by_rank(g, nodes, a);
    bool numbered = task_graph_number(g, a);
    assert(numbered);
    (void)numbered;
    return *g;
}
