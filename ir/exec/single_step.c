/* One step, node by node (single_step.h): a generator of tasks for the event core.
 *
 * Source: the simulator of Baechi (2.8 of its paper) and that of Celeritas, with transfers that are served in the
 * order of time rather than booked ahead.  A transfer is requested when the node that makes the value ends, once for
 * each other device that reads it, however many of its nodes do.
 *
 * The nets are walked three times in the same way: how many tasks and buffers there are; how many waits and uses
 * each has; what they are.  So every array is as long as it has to be. */
#include "ir/exec/single_step.h"

#include "ir/base/units.h"
#include "ir/exec/booked.h"
#include "ir/exec/task_order.h"

#include <assert.h>

/* Where the value of a net is: what brings it there, its memory; NO_ITEM: nothing does, none that it ends. */
struct copy {
    uint32_t task, buffer;
    uint32_t net; /* the net + 1 that this was about */
};

/* A device as an end of hops: those of host classes are the host, number ndev. */
struct end {
    uint32_t at, cls, group;
};

struct step {
    const struct scene *of;
    const int32_t *dev;
    const uint32_t *rank;
    const struct parts *parts; /* NULL: nodes are tasks */
    const struct step_model *s;
    struct task_graph g;
    enum step_walk { SIZES, ROWS, ENTRIES } walk;
    uint32_t host;     /* ndev: what stands for the host among devices */
    struct end *end;   /* [dev] */
    uint32_t *link;    /* [from * (ndev + 1) + to] lane + 1 */
    uint32_t *task_of; /* [node] */
    uint8_t *is_net;   /* [value] */
    struct copy *at;   /* [ndev + 1] of the net at hand */
};

/* The net at hand. */
struct source {
    uint32_t net, end; /* where its value is made, or the host, which has the model's inputs */
    bool inner;        /* no pin is outside one group */
};

/* ---- adding ------------------------------------------------------------------------------------- */

static uint32_t add_task(struct step *t, const struct task *x)
{
    if (t->walk == ENTRIES)
        t->g.task[t->g.ntask] = *x;
    return t->g.ntask++;
}

static void add_entry(const struct step *t, struct csr *c, uint32_t row, uint32_t entry)
{
    if (t->walk == ROWS)
        c->at[row + 1]++;
    else if (t->walk == ENTRIES)
        c->to[c->at[row + 1]++] = entry;
}

/* The task waits for what brings the copy, and uses its memory. */
static void add_reader(struct step *t, uint32_t task, struct copy c)
{
    if (c.task != NO_ITEM)
        add_entry(t, &t->g.waits, task, c.task);
    if (c.buffer != NO_ITEM)
        add_entry(t, &t->g.use, c.buffer, task);
}

static uint32_t add_buffer(struct step *t, uint32_t dev, uint32_t task, int64_t bytes)
{
    if (t->walk == ENTRIES)
        t->g.buffer[t->g.nbuffer] = (struct buffer){dev, task, bytes};
    return t->g.nbuffer++;
}

/* ---- hops --------------------------------------------------------------------------------------- */

static uint32_t link_lane(struct step *t, uint32_t from, uint32_t to)
{
    uint32_t *l = &t->link[(size_t)from * (t->host + 1) + to];
    if (!*l)
        *l = ++t->g.nlane;
    return *l - 1;
}

/* The lanes that a hop holds; one end at most is the host. */
static void set_lanes(struct step *t, struct task *x, uint32_t from, uint32_t to)
{
    static const struct {
        uint8_t from, to; /* lanes by device: the which, from 1; 0: none */
    } port[CONTENTIONS] = {[CONTENTION_PORT] = {2, 3},
                           [CONTENTION_HALF] = {2, 2},
                           [CONTENTION_RX] = {0, 2},
                           [CONTENTION_BLOCKING] = {1, 1}};
    uint32_t n = t->host, out = port[t->s->contention].from, in = port[t->s->contention].to;
    assert(from != to);
    x->lane[0] = out && from < n ? (out - 1) * n + from : NO_LANE;
    x->lane[1] = in && to < n ? (in - 1) * n + to : NO_LANE;
    if (t->s->contention == CONTENTION_LINK)
        x->lane[0] = link_lane(t, from, to);
    if (x->lane[0] == NO_LANE) {
        x->lane[0] = x->lane[1];
        x->lane[1] = NO_LANE;
    }
    if (t->s->contention == CONTENTION_BAECHI)
        x->lane[0] = n + (to < n ? to : from);
    x->request = out && in; /* beside those of two lanes */
}

static struct task make_hop(struct step *t, const struct source *s, uint32_t from, uint32_t to)
{
    struct task x = {.count = 1, .number = s->net};
    const struct cluster *c = t->of->cluster;
    struct moved v = place_moved(t->of->place, t->of->m->cost, s->net);
    x.kind = from == t->host ? STEP_IN : to == t->host ? STEP_OUT : STEP_MOVE;
    x.dev[0] = (uint8_t)(from == t->host ? to : from);
    x.dev[1] = (uint8_t)(to == t->host ? from : to);
    x.time = x.kind == STEP_MOVE
                 ? cluster_route(c, from, to, v)
                 : cluster_transfer(c, t->end[from < t->host ? from : to].cls, s->inner, v);
    set_lanes(t, &x, from, to);
    return x;
}

/* The device that is charged for what comes into the host's memory: the first of its classes that reads it. */
static uint32_t host_reader(const struct step *t, uint32_t net)
{
    const struct csr *pin = &t->of->place->net_pin;
    for (uint32_t i = pin->at[net]; i < pin->at[net + 1]; i++)
        if (t->end[t->dev[pin->to[i]]].at == t->host)
            return (uint32_t)t->dev[pin->to[i]];
    return NO_ITEM;
}

/* The copy of the value at that end, brought there if it is not yet. */
static struct copy copy_at(struct step *t, const struct source *s, uint32_t to)
{
    struct copy *c = &t->at[to];
    struct task x = {0};
    if (c->net == s->net + 1)
        return *c;
    bool by_host = t->s->network == NETWORK_HOST && s->end != t->host && to != t->host;
    uint32_t from = by_host ? t->host : s->end;
    struct copy before = copy_at(t, s, from);
    if (t->walk == ENTRIES)
        x = make_hop(t, s, from, to);
    *c = (struct copy){add_task(t, &x), NO_ITEM, s->net + 1};
    add_reader(t, c->task, before);
    uint32_t dev = to < t->host ? to : host_reader(t, s->net);
    if (dev != NO_ITEM)
        c->buffer =
            add_buffer(t, dev, c->task, t->of->m->cost->bytes[t->of->place->net_value[s->net]]);
    return *c;
}

/* ---- nets --------------------------------------------------------------------------------------- */

static bool in_one_group(const struct step *t, uint32_t net)
{
    const struct csr *pin = &t->of->place->net_pin;
    bool one = !t->of->place->net_host[net];
    for (uint32_t i = pin->at[net]; one && i < pin->at[net + 1]; i++)
        one = t->end[t->dev[pin->to[i]]].group == t->end[t->dev[pin->to[pin->at[net]]]].group;
    return one;
}

/* The value where it is made.  One that stays has a buffer without uses. */
static struct copy make_value(struct step *t, uint32_t net, nid maker)
{
    const struct value *v = &t->of->m->value[t->of->place->net_value[net]];
    uint32_t dev = (uint32_t)t->dev[maker];
    bool leaves = t->of->place->net_host[net] && t->end[dev].at != t->host;
    struct copy c = {t->task_of[maker], NO_ITEM, net + 1};
    c.buffer = add_buffer(t, dev, c.task, t->of->m->cost->bytes[t->of->place->net_value[net]]);
    if ((v->flags & VALUE_OUTPUT) && !leaves)
        c.buffer = NO_ITEM;
    return c;
}

/* A net: its value from where it is made to each device that reads it, and to the host if that has a pin. */
static void add_net(struct step *t, uint32_t net)
{
    const struct place *p = t->of->place;
    nid maker = t->of->m->value[p->net_value[net]].def;
    bool made = maker && p->kind[maker] == PLACE_NODE;
    if (!made && !p->net_host[net])
        return; /* state that nobody makes: it is there */
    struct source s = {.net = net, .end = made ? t->end[t->dev[maker]].at : t->host};
    s.inner = t->s->network == NETWORK_HOST && t->walk == ENTRIES && in_one_group(t, net);
    t->at[s.end] = made ? make_value(t, net, maker) : (struct copy){NO_ITEM, NO_ITEM, net + 1};
    for (uint32_t i = p->net_pin.at[net]; i < p->net_pin.at[net + 1]; i++) {
        nid n = p->net_pin.to[i];
        if (!made || t->task_of[n] != t->task_of[maker])
            add_reader(t, t->task_of[n], copy_at(t, &s, t->end[t->dev[n]].at));
    }
    if (p->net_host[net])
        copy_at(t, &s, t->host);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Bytes that a node takes beside its results that are nets, while it runs.  In a profile all of it lasts. */
static int64_t temporary(const struct step *t, nid n)
{
    const struct module *m = t->of->m;
    int64_t rest = m->ir_version ? m->cost->own[n] : 0;
    for (uint32_t i = 0; rest > 0 && i < m->node[n].out.n; i++) {
        vid v = node_out(m, n, i);
        rest -= t->is_net[v] ? m->cost->bytes[v] : 0;
    }
    return rest;
}

static void add_nodes(struct step *t)
{
    const struct module *m = t->of->m;
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (t->of->place->kind[n] != PLACE_NODE)
            continue;
        uint32_t d = (uint32_t)t->dev[n];
        struct task x = {.kind = STEP_COMPUTE, .number = n, .lane = {d, NO_LANE}, .count = 1};
        assert(d < t->host);
        x.dev[0] = x.dev[1] = (uint8_t)d;
        x.rank = t->s->dispatch == DISPATCH_PLAN && t->rank ? t->rank[n] : 0;
        x.time = m->cost->time[t->end[d].cls][n];
        t->task_of[n] = add_task(t, &x);
        int64_t more = temporary(t, n);
        if (more > 0)
            add_entry(t, &t->g.use, add_buffer(t, d, t->task_of[n], more), t->task_of[n]);
    }
}

/* Parts in place of nodes. */
static void add_parts(struct step *t)
{
    const struct module *m = t->of->m;
    for (uint32_t i = 0; i < t->parts->nparts; i++) {
        const struct part *part = &t->parts->part[i];
        uint32_t d = part->dev;
        struct task x = {.kind = STEP_COMPUTE, .number = i, .lane = {d, NO_LANE}, .count = 1};
        x.dev[0] = x.dev[1] = (uint8_t)d;
        x.rank = t->s->dispatch == DISPATCH_PLAN ? i : 0;
        x.time = t->of->model.part_cost;
        for (uint32_t k = 0; k < part->nnode; k++) {
            t->task_of[part->node[k]] = t->g.ntask;
            x.time = sat_add(x.time, m->cost->time[t->end[d].cls][part->node[k]]);
        }
        add_task(t, &x);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void set_up(struct step *t, struct arena *a)
{
    const struct place *p = t->of->place;
    uint32_t n = t->host = t->g.ndev = t->of->cluster->ndev;
    t->g.nlane = t->s->contention == CONTENTION_LINK ? n : 3 * n;
    t->task_of = arena_array(a, (size_t)t->of->m->nnode + 1, sizeof *t->task_of);
    t->is_net = arena_alloc(a, (size_t)t->of->m->nval + 1);
    t->at = arena_array(a, (size_t)n + 1, sizeof *t->at);
    t->end = arena_array(a, (size_t)n + 1, sizeof *t->end);
    if (t->s->contention == CONTENTION_LINK)
        t->link = arena_array(a, (size_t)(n + 1) * (n + 1), sizeof *t->link);
    for (uint32_t d = 0; d < n; d++) {
        uint32_t cls = cluster_class(t->of->cluster, d);
        bool host = t->of->cluster->cls[cls].host;
        t->end[d] = (struct end){host ? n : d, cls, cluster_group(t->of->cluster, d)};
    }
    for (uint32_t e = 0; e < p->nnet; e++)
        t->is_net[p->net_value[e]] = 1;
}

static void walk(struct step *t, enum step_walk which)
{
    t->walk = which;
    t->g.ntask = t->g.nbuffer = 0;
    for (uint32_t d = 0; d <= t->host; d++)
        t->at[d].net = 0;
    if (t->parts)
        add_parts(t);
    else
        add_nodes(t);
    for (uint32_t e = 0; e < t->of->place->nnet; e++)
        add_net(t, e);
}

/* Room for the entries of rows that were counted. */
static void make_room(struct csr *c, uint32_t rows, struct arena *a)
{
    size_t n = 0;
    for (uint32_t r = 0; r < rows; r++)
        n += c->at[r + 1];
    c->to = arena_array(a, n + 1, sizeof *c->to);
    csr_starts(c->at, rows);
}

static void make_lanes(struct step *t, struct arena *a)
{
    static const uint8_t discipline[DISPATCHES] = {LANE_LIST, LANE_FIFO, LANE_RANK};
    t->g.lane = arena_array(a, (size_t)t->g.nlane + 1, sizeof *t->g.lane);
    for (uint32_t l = 0; l < t->g.nlane; l++)
        t->g.lane[l].discipline = l < t->host ? discipline[t->s->dispatch] : LANE_FIFO;
    for (uint32_t l = 0; t->s->contention == CONTENTION_BAECHI && l < t->g.nlane; l++)
        t->g.lane[l].discipline = LANE_LIST;
}

struct task_graph single_step(const struct scene *of, const struct plan *p,
                              const struct parts *parts, struct arena *a)
{
    const struct step_model *s = &of->model.step;
    struct step t = {.of = of, .dev = p->dev, .rank = p->rank, .parts = parts, .s = s};
    assert(of->m->cost && of->place && of->cluster);
    assert(s->network == NETWORK_DIRECT || s->contention < CONTENTION_BLOCKING);
    set_up(&t, a);
    walk(&t, SIZES);
    t.g.task = arena_array(a, (size_t)t.g.ntask + 1, sizeof *t.g.task);
    t.g.buffer = arena_array(a, (size_t)t.g.nbuffer + 1, sizeof *t.g.buffer);
    t.g.waits.at = arena_array(a, (size_t)t.g.ntask + 1, sizeof *t.g.waits.at);
    t.g.use.at = arena_array(a, (size_t)t.g.nbuffer + 1, sizeof *t.g.use.at);
    walk(&t, ROWS);
    make_room(&t.g.waits, t.g.ntask, a);
    make_room(&t.g.use, t.g.nbuffer, a);
    walk(&t, ENTRIES);
    make_lanes(&t, a);
    uint32_t nodes = 0;
    while (nodes < t.g.ntask && t.g.task[nodes].kind == STEP_COMPUTE)
        nodes++;
    if (s->dispatch == DISPATCH_LEVEL)
        rank_by_level(&t.g, nodes, a);
    if (s->contention == CONTENTION_BAECHI)
        book_ahead(&t.g, nodes, a);
    else if (s->dispatch == DISPATCH_PLAN)
        list_by_rank(&t.g, nodes, a);
    bool numbered = task_graph_number(&t.g, a);
    assert(numbered);
    (void)numbered;
    return t.g;
}
