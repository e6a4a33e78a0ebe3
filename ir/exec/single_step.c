/* One step, node by node (single_step.h): a generator of tasks for the event core.
 *
 * Source: the simulator of Baechi (2.8 of its paper) and that of Celeritas, with transfers that are served in the
 * order of time rather than booked ahead.  A transfer is requested when the node that makes the value ends, once for
 * each other device that reads it, however many of its nodes do. */
#include "ir/exec/single_step.h"

#include "ir/base/heap.h"
#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const network_name[] = {"direct", "host", NULL};
const char *const contention_name[] = {"none", "link", "port", "half", "rx", "blocking", NULL};
const char *const dispatch_name[] = {"plan", "fifo", "level", NULL};

struct step {
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const int32_t *dev;
    const struct step_model *s;
    struct arena *a;
    struct task_graph g;
    uint32_t captask, caplane, capbuffer;
    uint32_t *task_of; /* [node] */
    uint32_t host;     /* ndev: what stands for the host among devices */
    uint32_t *link;    /* [from * (ndev + 1) + to] lane + 1 */
    uint32_t nwait, capwait, capon, *wait, *on;
    uint32_t nuse, capuse, capuser, *use, *user;
};

static uint32_t add_task(struct step *t, struct task x)
{
    t->g.task = vec_grow(t->a, t->g.task, &t->captask, t->g.ntask + 1, sizeof *t->g.task);
    x.count = 1;
    t->g.task[t->g.ntask] = x;
    return t->g.ntask++;
}

static void add_wait(struct step *t, uint32_t task, uint32_t on)
{
    t->wait = vec_grow(t->a, t->wait, &t->capwait, t->nwait + 1, sizeof *t->wait);
    t->on = vec_grow(t->a, t->on, &t->capon, t->nwait + 1, sizeof *t->on);
    t->wait[t->nwait] = task;
    t->on[t->nwait++] = on;
}

static uint32_t add_buffer(struct step *t, uint32_t dev, uint32_t task, int64_t bytes)
{
    t->g.buffer = vec_grow(t->a, t->g.buffer, &t->capbuffer, t->g.nbuffer + 1, sizeof *t->g.buffer);
    t->g.buffer[t->g.nbuffer] = (struct buffer){dev, task, bytes};
    return t->g.nbuffer++;
}

static void add_use(struct step *t, uint32_t buffer, uint32_t user)
{
    t->use = vec_grow(t->a, t->use, &t->capuse, t->nuse + 1, sizeof *t->use);
    t->user = vec_grow(t->a, t->user, &t->capuser, t->nuse + 1, sizeof *t->user);
    t->use[t->nuse] = buffer;
    t->user[t->nuse++] = user;
}

/* A device as an end of hops: those of host classes are the host. */
static uint32_t end_of(const struct step *t, uint32_t dev)
{
    return t->c->cls[cluster_class(t->c, dev)].host ? t->host : dev;
}

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
    uint32_t n = t->host, l[2] = {NO_LANE, NO_LANE};
    assert(from != to);
    switch (t->s->contention) {
    case CONTENTION_LINK:
        l[0] = link_lane(t, from, to);
        break;
    case CONTENTION_PORT:
        l[0] = from < n ? n + from : NO_LANE;
        l[1] = to < n ? 2 * n + to : NO_LANE;
        break;
    case CONTENTION_HALF:
        l[0] = from < n ? n + from : NO_LANE;
        l[1] = to < n ? n + to : NO_LANE;
        break;
    case CONTENTION_RX:
        l[0] = to < n ? n + to : NO_LANE;
        break;
    case CONTENTION_BLOCKING:
        l[0] = from < n ? from : NO_LANE;
        l[1] = to < n ? to : NO_LANE;
        break;
    case CONTENTION_NONE:
    case CONTENTIONS:
        break;
    }
    x->lane[0] = l[0] != NO_LANE ? l[0] : l[1];
    x->lane[1] = l[0] != NO_LANE ? l[1] : NO_LANE;
    x->request = t->s->contention == CONTENTION_BLOCKING;
}

/* The value of the net at hand: where it comes from on each device that has it. */
struct copy {
    uint32_t task, buffer; /* what brings it, its memory there; NO_ITEM: nothing does, none */
    uint32_t net;          /* the net + 1 that this was about */
};

/* A hop of net e from a copy, over the link of the device that is no host. */
static struct copy add_hop(struct step *t, uint32_t e, uint32_t from, uint32_t to,
                           struct copy source, bool inner)
{
    uint32_t cls = cluster_class(t->c, from < t->host ? from : to);
    vid v = t->p->net_value[e];
    struct task x = {.kind = from == t->host ? STEP_IN
                             : to == t->host ? STEP_OUT
                                             : STEP_MOVE,
                     .number = e,
                     .rank = e,
                     .time = (inner ? cluster_value_inner : cluster_value_transfer)(
                         t->c, cls, t->m->cost, v, t->p->net_light[e])};
    set_lanes(t, &x, from, to);
    uint32_t hop = add_task(t, x);
    if (source.task != NO_ITEM)
        add_wait(t, hop, source.task);
    if (source.buffer != NO_ITEM)
        add_use(t, source.buffer, hop);
    return (struct copy){hop, to < t->host ? add_buffer(t, to, hop, t->m->cost->bytes[v]) : NO_ITEM,
                         e + 1};
}

static bool in_one_group(const struct step *t, uint32_t e)
{
    const struct csr *pin = &t->p->net_pin;
    bool one = !t->p->net_host[e];
    for (uint32_t i = pin->at[e]; one && i < pin->at[e + 1]; i++)
        one = cluster_group(t->c, (uint32_t)t->dev[pin->to[i]]) ==
              cluster_group(t->c, (uint32_t)t->dev[pin->to[pin->at[e]]]);
    return one;
}

/* Net e: its value from where it is made to each device that reads it, and to the host if that has a pin. */
static void add_net(struct step *t, uint32_t e, struct copy *at)
{
    nid def = t->m->value[t->p->net_value[e]].def;
    bool made = def && t->p->kind[def] == PLACE_NODE, inner = in_one_group(t, e);
    if (!made && !t->p->net_host[e])
        return; /* state that nobody makes: it is there */
    uint32_t from = made ? end_of(t, (uint32_t)t->dev[def]) : t->host;
    struct copy source = {made ? t->task_of[def] : NO_ITEM, NO_ITEM, e + 1};
    if (made && from < t->host)
        source.buffer = add_buffer(t, from, source.task, t->m->cost->bytes[t->p->net_value[e]]);
    struct copy *there = &at[t->host];
    *there = from == t->host ? source : (struct copy){0};
    for (uint32_t i = t->p->net_pin.at[e]; i < t->p->net_pin.at[e + 1]; i++) {
        nid n = t->p->net_pin.to[i];
        uint32_t to = end_of(t, (uint32_t)t->dev[n]);
        if (n == def)
            continue;
        bool over_host = to != from && (t->s->network == NETWORK_HOST || to == t->host);
        if (over_host && there->net != e + 1)
            *there = add_hop(t, e, from, t->host, source, inner);
        if (to == from)
            at[to] = source;
        else if (at[to].net != e + 1)
            at[to] =
                add_hop(t, e, over_host ? t->host : from, to, over_host ? *there : source, inner);
        if (at[to].task != NO_ITEM)
            add_wait(t, t->task_of[n], at[to].task);
        if (at[to].buffer != NO_ITEM)
            add_use(t, at[to].buffer, t->task_of[n]);
    }
    if (t->p->net_host[e] && there->net != e + 1)
        add_hop(t, e, from, t->host, source, false);
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static void add_nodes(struct step *t)
{
    const struct graph *x = &t->m->graph[1];
    for (nid n = x->first; n < x->first + x->count; n++) {
        if (t->p->kind[n] != PLACE_NODE)
            continue;
        uint32_t d = (uint32_t)t->dev[n];
        t->task_of[n] =
            add_task(t, (struct task){.kind = STEP_COMPUTE,
                                      .number = n,
                                      .rank = n,
                                      .lane = {d, NO_LANE},
                                      .time = t->m->cost->time[cluster_class(t->c, d)][n]});
    }
}

/* What a node takes beside the values that are nets, for its own time.  In a profile all of it lasts. */
static void add_temporaries(struct step *t)
{
    int64_t *rest = arena_array(t->a, (size_t)t->m->nnode + 1, sizeof *rest);
    memcpy(rest, t->m->cost->own, t->m->nnode * sizeof *rest);
    for (uint32_t e = 0; e < t->p->nnet; e++)
        rest[t->m->value[t->p->net_value[e]].def] -= t->m->cost->bytes[t->p->net_value[e]];
    for (uint32_t k = 0; k < t->g.ntask && t->m->ir_version; k++) {
        const struct task *x = &t->g.task[k];
        if (x->kind == STEP_COMPUTE && rest[x->number] > 0)
            add_use(t, add_buffer(t, x->lane[0], k, rest[x->number]), k);
    }
}

/* Ranks the nodes by the longest way from their start to the end, hops included: the longest first. */
static void rank_by_level(struct step *t)
{
    uint32_t n = t->g.ntask;
    int64_t *level = arena_array(t->a, (size_t)n + 1, sizeof *level);
    struct heap order = {.a = t->a};
    uint32_t *ready = arena_array(t->a, (size_t)n + 1, sizeof *ready), end = 0;
    uint32_t *left = arena_array(t->a, (size_t)n + 1, sizeof *left);
    for (uint32_t i = 0; i < t->nwait; i++)
        left[t->on[i]]++;
    for (uint32_t k = 0; k < n; k++)
        if (!left[k])
            ready[end++] = k;
    for (uint32_t i = 0; i < end; i++) {
        uint32_t k = ready[i];
        level[k] = sat_add(level[k], t->g.task[k].time);
        for (uint32_t j = t->g.waits.at[k]; j < t->g.waits.at[k + 1]; j++) {
            uint32_t u = t->g.waits.to[j];
            level[u] = level[k] > level[u] ? level[k] : level[u];
            if (--left[u] == 0)
                ready[end++] = u;
        }
    }
    assert(end == n);
    for (uint32_t k = 0; k < n; k++)
        if (t->g.task[k].kind == STEP_COMPUTE)
            heap_push(&order, -level[k], 0, k);
    for (uint32_t r = 0; order.n; r++)
        t->g.task[heap_pop(&order).item].rank = r;
}

struct place_in_list {
    uint32_t rank, task;
};

static int by_rank(const void *a, const void *b)
{
    const struct place_in_list *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* The plan's order, device by device. */
static void make_lists(struct step *t, const uint32_t *rank)
{
    uint32_t n = 0;
    struct place_in_list *x = arena_array(t->a, (size_t)t->g.ntask + 1, sizeof *x);
    for (uint32_t k = 0; k < t->g.ntask; k++)
        if (t->g.task[k].kind == STEP_COMPUTE)
            x[n++] = (struct place_in_list){rank ? rank[t->g.task[k].number] : k, k};
    if (rank)
        qsort(x, n, sizeof *x, by_rank);
    uint32_t *lane = arena_array(t->a, (size_t)n + 1, sizeof *lane);
    uint32_t *item = arena_array(t->a, (size_t)n + 1, sizeof *item);
    for (uint32_t i = 0; i < n; i++) {
        item[i] = x[i].task;
        lane[i] = t->g.task[item[i]].lane[0];
    }
    t->g.list = csr_build(t->a, t->g.nlane, n, lane, item);
}

static void make_lanes(struct step *t)
{
    t->g.lane = arena_array(t->a, (size_t)t->g.nlane + 1, sizeof *t->g.lane);
    for (uint32_t l = 0; l < t->g.nlane; l++) {
        bool computes = l < t->host;
        t->g.lane[l].discipline = !computes || t->s->dispatch == DISPATCH_FIFO ? LANE_FIFO
                                  : t->s->dispatch == DISPATCH_PLAN            ? LANE_LIST
                                                                               : LANE_RANK;
    }
}

struct task_graph single_step(const struct module *m, const struct place *p,
                              const struct cluster *c, const int32_t *dev, const uint32_t *rank,
                              const struct step_model *s, struct arena *a)
{
    assert(m->cost && (s->network == NETWORK_DIRECT || s->contention != CONTENTION_BLOCKING));
    struct step t = {.m = m, .p = p, .c = c, .dev = dev, .s = s, .a = a, .host = c->ndev};
    t.g.ndev = c->ndev;
    t.g.nlane = s->contention == CONTENTION_LINK ? c->ndev : 3 * c->ndev;
    t.task_of = arena_array(a, (size_t)m->nnode + 1, sizeof *t.task_of);
    t.link = arena_array(a, (size_t)(c->ndev + 1) * (c->ndev + 1), sizeof *t.link);
    struct copy *at = arena_array(a, (size_t)c->ndev + 1, sizeof *at);
    add_nodes(&t);
    for (uint32_t e = 0; e < p->nnet; e++)
        add_net(&t, e, at);
    add_temporaries(&t);
    t.g.waits = csr_build(a, t.g.ntask, t.nwait, t.wait, t.on);
    t.g.use = csr_build(a, t.g.nbuffer, t.nuse, t.use, t.user);
    make_lanes(&t);
    if (s->dispatch == DISPATCH_LEVEL)
        rank_by_level(&t);
    if (s->dispatch == DISPATCH_PLAN)
        make_lists(&t, rank);
    bool numbered = task_graph_number(&t.g, a);
    assert(numbered);
    (void)numbered;
    return t.g;
}
