/* A step of a plan the slow way, for the test of ir/exec/makespan/single_step.h: modules written as text, and a
 * simulator that works from their operands, walks through every moment, and knows of no nets, task graphs or lanes. */
#ifndef PCC_TESTS_SLOW_STEP_H
#define PCC_TESTS_SLOW_STEP_H

#include "ir/exec/makespan/single_step.h"
#include "tools/lib/exec/kinds.h"
#include "ir/text/text.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_DEVS = 6, MOST_NODES = 24, MOST_JOBS = 160 };

/* ---- modules as text ---------------------------------------------------------------------------- */

struct made {
    struct sink sink;
    struct diag diag;
    struct arena *a;
    struct scene of;
    bool io_free;
    nid first; /* node of the main graph */
    uint32_t n;
    int32_t dev[MOST_NODES];   /* [node] */
    uint32_t rank[MOST_NODES]; /* [node] */
    uint32_t *order;           /* rank, or NULL: by number */
};

static inline void load(struct made *s, const char *text, size_t size, bool io_free)
{
    struct text_module t;
    memset(s, 0, sizeof *s);
    s->diag = diag_of(&s->sink);
    if (module_parse(&t, &(struct named_text){"text", text, size, exec_kinds}, NULL, &s->diag))
        fail_msg("%s\n%s", s->sink.last[0], text);
    s->a = arena_new(NULL);
    s->of = t.scene;
    s->of.place = place_build(s->of.m, NULL, 0, s->a, &s->diag);
    s->io_free = io_free;
    assert_non_null(s->of.place);
    if (io_free)
        place_free_io(s->of.m, s->of.place, s->a);
    s->first = s->of.m->graph[1].first;
    s->n = s->of.m->graph[1].count;
    assert_true(s->first + s->n <= MOST_NODES && s->of.cluster->ndev <= MOST_DEVS);
    memset(s->dev, 0xff, sizeof s->dev);
}

static inline void unload(struct made *s)
{
    arena_free(s->a);
    arena_free(s->of.m->mem);
}

/* "010": devices of the nodes in order. */
static inline void load_on(struct made *s, const char *text, bool io_free, const char *devs)
{
    load(s, text, strlen(text), io_free);
    for (uint32_t i = 0; i < s->n; i++)
        s->dev[s->first + i] = devs[i] - '0';
}

/* "1302": nodes in the order of the plan, from 0. */
static inline void in_order(struct made *s, const char *order)
{
    assert_int_equal(strlen(order), s->n);
    for (uint32_t i = 0; i < s->n; i++)
        s->rank[s->first + (uint32_t)(order[i] - '0')] = i;
    s->order = s->rank;
}

/* ---- the slow simulator --------------------------------------------------------------------------- */

enum { NOTHING = -1, THE_HOST = -2 };

/* A node, or a hop of a value from device to device (or to and from THE_HOST). */
struct job {
    enum step_kind kind;
    nid node;
    vid value;
    int from, to; /* a node: to is its device */
    int64_t time;
    int hold[2];
    uint32_t nwait, wait[MOST_JOBS];
    int64_t ready, start, level; /* -1: not yet */
    bool ended;
};

struct slow {
    const struct made *s;
    struct step_model how;
    uint32_t n;
    struct job job[MOST_JOBS];
    bool stuck;
};

static inline bool is_host(const struct slow *o, int dev)
{
    const struct cluster *c = o->s->of.cluster;
    return dev == THE_HOST || c->cls[cluster_class(c, (uint32_t)dev)].host;
}

static inline bool is_placed(const struct slow *o, nid n)
{
    return n && o->s->of.place->kind[n] == PLACE_NODE;
}

/* Whether node n reads v, itself or through what is copied to it. */
static inline bool reads(const struct slow *o, nid n, vid v)
{
    const struct module *m = o->s->of.m;
    for (uint32_t i = 0; i < m->node[n].nformal; i++) {
        vid x = node_in(m, n, i);
        if (x == v)
            return true;
        nid def = x ? m->value[x].def : 0;
        if (def && o->s->of.place->kind[def] == PLACE_COPY && reads(o, def, v))
            return true;
    }
    return false;
}

static inline bool on_device_reads(const struct slow *o, int dev, vid v)
{
    for (nid n = o->s->first; n < o->s->first + o->s->n; n++)
        if (is_placed(o, n) && o->s->dev[n] == dev && reads(o, n, v))
            return true;
    return false;
}

/* Whether v is in the host's memory before the step. */
static inline bool comes_in(const struct slow *o, vid v)
{
    const struct module *m = o->s->of.m;
    return m->value[v].graph == 1 && (m->value[v].flags & VALUE_INPUT);
}

static inline bool goes_out(const struct slow *o, vid v)
{
    return (o->s->of.m->value[v].flags & VALUE_OUTPUT) && !o->s->io_free;
}

/* Whether v is used in one group of devices only, and not by the host. */
static inline bool stays_in_group(const struct slow *o, vid v, int home)
{
    const struct cluster *c = o->s->of.cluster;
    if (comes_in(o, v) || goes_out(o, v))
        return false;
    for (int d = 0; d < (int)c->ndev; d++)
        if (on_device_reads(o, d, v) &&
            cluster_group(c, (uint32_t)d) != cluster_group(c, (uint32_t)home))
            return false;
    return true;
}

/* x * num / den, rounded up. */
static inline int64_t share_of(int64_t x, int64_t num, int64_t den)
{
    unsigned __int128 all = (unsigned __int128)x * (unsigned __int128)num;
    return (int64_t)((all + (unsigned __int128)den - 1) / (unsigned __int128)den);
}

/* A value over a link, by its bytes; none is at the host. */
static inline int64_t over_link(const struct slow *o, vid v, int64_t latency, int64_t rate)
{
    const struct costs *k = o->s->of.m->cost;
    return latency + share_of(k->bytes[v], INT64_C(1000000000000), rate);
}

/* One hop over the link of device `dev`. */
static inline int64_t hop_time(const struct slow *o, vid v, int dev, bool inner)
{
    const struct cluster *c = o->s->of.cluster;
    const struct device_class *k = &c->cls[cluster_class(c, (uint32_t)dev)];
    int64_t measured = o->s->of.m->cost->xfer[v], outer = measured, within;
    if (k->host)
        return 0;
    if (measured < 0)
        outer = over_link(o, v, k->link_latency, k->link_bandwidth);
    if (!inner || k->group < 2)
        return outer;
    if (measured < 0 && k->inner_bandwidth)
        within = over_link(o, v, k->inner_latency, k->inner_bandwidth);
    else if (k->inner_share)
        within = share_of(outer, k->inner_share, 1000000);
    else if (k->inner_bandwidth)
        within = share_of(outer, k->link_bandwidth, k->inner_bandwidth);
    else
        within = outer;
    return within < outer ? within : outer;
}

static inline struct job *add(struct slow *o, struct job j)
{
    assert_true(o->n < MOST_JOBS);
    j.ready = j.start = j.level = -1;
    o->job[o->n] = j;
    return &o->job[o->n++];
}

static inline uint32_t the_job(const struct slow *o, enum step_kind kind, nid n, vid v, int to)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (o->job[i].kind == kind && o->job[i].node == n && o->job[i].value == v &&
            (kind == STEP_OUT || o->job[i].to == to))
            return i;
    fail_msg("no such job: kind %d node %u value %u to %d", kind, n, v, to);
    return 0;
}

/* What the hop holds: numbers of things that one hop at a time can have. */
static inline void hold(const struct slow *o, struct job *j)
{
    int n = (int)o->s->of.cluster->ndev;
    int from = j->kind == STEP_IN ? NOTHING : j->from, to = j->kind == STEP_OUT ? NOTHING : j->to;
    j->hold[0] = j->hold[1] = NOTHING;
    switch (o->how.contention) {
    case CONTENTION_LINK:
        j->hold[0] = 1000 + (from < 0 ? n : from) * (n + 1) + (to < 0 ? n : to);
        break;
    case CONTENTION_PORT:
        j->hold[0] = from < 0 ? NOTHING : 2000 + from;
        j->hold[1] = to < 0 ? NOTHING : 3000 + to;
        break;
    case CONTENTION_HALF:
        j->hold[0] = from < 0 ? NOTHING : 4000 + from;
        j->hold[1] = to < 0 ? NOTHING : 4000 + to;
        break;
    case CONTENTION_RX:
        j->hold[0] = to < 0 ? NOTHING : 5000 + to;
        break;
    case CONTENTION_BLOCKING:
        j->hold[0] = from;
        j->hold[1] = to;
        break;
    default:
        break;
    }
}

/* The link that goes from one device to another; NULL: they have none of their own. */
static inline const struct device_link *own_link(const struct slow *o, int from, int to)
{
    const struct cluster *c = o->s->of.cluster;
    for (uint32_t i = 0; i < c->nlink; i++) {
        const struct device_link *l = &c->link[i];
        if (((int)l->from == from && (int)l->to == to) ||
            ((int)l->from == to && (int)l->to == from && !l->oneway))
            return l;
    }
    return NULL;
}

/* One hop straight from device to device: over the link that the two have, else over that of the first. */
static inline int64_t move_time(const struct slow *o, vid v, int from, int to)
{
    const struct cluster *c = o->s->of.cluster;
    const struct device_link *l = own_link(o, from, to);
    int64_t measured = o->s->of.m->cost->xfer[v];
    if (!l)
        return hop_time(o, v, from,
                        cluster_group(c, (uint32_t)from) == cluster_group(c, (uint32_t)to));
    if (measured < 0)
        return over_link(o, v, l->latency, l->bandwidth);
    return share_of(measured, c->cls[cluster_class(c, (uint32_t)from)].link_bandwidth,
                    l->bandwidth);
}

static inline void add_hop(struct slow *o, enum step_kind kind, vid v, int from, int to, bool inner)
{
    struct job j = {.kind = kind, .value = v, .from = from, .to = to};
    j.time = kind == STEP_MOVE ? move_time(o, v, from, to)
                               : hop_time(o, v, kind == STEP_IN ? to : from, inner);
    hold(o, &j);
    struct job *added = add(o, j);
    uint32_t *wait = &added->nwait;
    nid def = o->s->of.m->value[v].def;
    if (kind == STEP_IN && def && !is_host(o, o->s->dev[def]))
        added->wait[(*wait)++] = the_job(o, STEP_OUT, 0, v, THE_HOST);
    else if (def)
        added->wait[(*wait)++] = the_job(o, STEP_COMPUTE, def, 0, o->s->dev[def]);
}

static inline bool has_hop(const struct slow *o, enum step_kind kind, vid v, int to)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (o->job[i].kind == kind && o->job[i].value == v && o->job[i].to == to)
            return true;
    return false;
}

/* The hops that bring v to where node n is, unless they are there. */
static inline void add_hops_to(struct slow *o, vid v, int home, nid n, bool inner)
{
    bool by_host = o->how.network == NETWORK_HOST;
    int d = o->s->dev[n];
    if (d == home || (is_host(o, d) && is_host(o, home)))
        return;
    if (!is_host(o, home) && (by_host || is_host(o, d)) && !has_hop(o, STEP_OUT, v, THE_HOST))
        add_hop(o, STEP_OUT, v, home, THE_HOST, inner && by_host);
    if (is_host(o, d))
        return;
    if (by_host || is_host(o, home)) {
        if (!has_hop(o, STEP_IN, v, d))
            add_hop(o, STEP_IN, v, THE_HOST, d, inner);
    } else if (!has_hop(o, STEP_MOVE, v, d)) {
        add_hop(o, STEP_MOVE, v, home, d, false);
    }
}

/* All hops of v, in the order of the nodes that want them. */
static inline void add_hops(struct slow *o, vid v)
{
    const struct made *s = o->s;
    nid def = s->of.m->value[v].def;
    if (s->of.m->value[v].graph != 1 || (def && !is_placed(o, def)) || (!def && !comes_in(o, v)) ||
        (!def && s->io_free))
        return;
    int home = def ? s->dev[def] : THE_HOST;
    bool inner = def && stays_in_group(o, v, home);
    for (nid n = s->first; n < s->first + s->n; n++)
        if (is_placed(o, n) && reads(o, n, v))
            add_hops_to(o, v, home, n, inner);
    if (def && goes_out(o, v) && !is_host(o, home) && !has_hop(o, STEP_OUT, v, THE_HOST))
        add_hop(o, STEP_OUT, v, home, THE_HOST, false);
}

/* What node j must see end before value v is there. */
static inline void wait_for_value(struct slow *o, struct job *j, vid v)
{
    const struct module *m = o->s->of.m;
    nid def = m->value[v].def;
    int home = def ? o->s->dev[def] : THE_HOST;
    if ((!def && (!comes_in(o, v) || o->s->io_free)) || (!def && is_host(o, j->to)))
        return;
    if (home == j->to || (is_host(o, home) && is_host(o, j->to)))
        j->wait[j->nwait++] = the_job(o, STEP_COMPUTE, def, 0, home);
    else if (is_host(o, j->to))
        j->wait[j->nwait++] = the_job(o, STEP_OUT, 0, v, THE_HOST);
    else if (is_host(o, home) || o->how.network == NETWORK_HOST)
        j->wait[j->nwait++] = the_job(o, STEP_IN, 0, v, j->to);
    else
        j->wait[j->nwait++] = the_job(o, STEP_MOVE, 0, v, j->to);
}

static inline void find_levels(struct slow *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        o->job[i].level = o->job[i].time;
    for (uint32_t again = 0; again < o->n; again++)
        for (uint32_t i = 0; i < o->n; i++)
            for (uint32_t k = 0; k < o->job[i].nwait; k++) {
                struct job *before = &o->job[o->job[i].wait[k]];
                if (before->level < before->time + o->job[i].level)
                    before->level = before->time + o->job[i].level;
            }
}

static inline void slow_make(struct slow *o, const struct made *s, struct step_model how)
{
    const struct module *m = s->of.m;
    memset(o, 0, sizeof *o);
    o->s = s;
    o->how = how;
    for (nid n = s->first; n < s->first + s->n; n++)
        if (is_placed(o, n))
            add(o, (struct job){
                       .kind = STEP_COMPUTE,
                       .node = n,
                       .to = s->dev[n],
                       .time = m->cost->time[cluster_class(s->of.cluster, (uint32_t)s->dev[n])][n],
                       .hold = {s->dev[n], NOTHING}});
    for (vid v = 1; v < m->nval; v++)
        add_hops(o, v);
    for (uint32_t i = 0; i < o->n && o->job[i].kind == STEP_COMPUTE; i++)
        for (vid v = 1; v < m->nval; v++)
            if (reads(o, o->job[i].node, v) && (!m->value[v].def || is_placed(o, m->value[v].def)))
                wait_for_value(o, &o->job[i], v);
    find_levels(o);
}

static inline bool is_held(const struct slow *o, int what)
{
    for (uint32_t i = 0; what != NOTHING && i < o->n; i++)
        if (o->job[i].start >= 0 && !o->job[i].ended &&
            (o->job[i].hold[0] == what || o->job[i].hold[1] == what))
            return true;
    return false;
}

static inline uint32_t rank_of(const struct slow *o, const struct job *j)
{
    return o->how.dispatch == DISPATCH_PLAN && o->s->order ? o->s->order[j->node] : 0;
}

/* Whether a comes before b, of hops or of nodes. */
static inline bool comes_first(const struct slow *o, const struct job *a, const struct job *b)
{
    if (a->kind != STEP_COMPUTE) {
        if (a->ready != b->ready)
            return a->ready < b->ready;
        return a < b;
    }
    if (o->how.dispatch == DISPATCH_FIFO && a->ready != b->ready)
        return a->ready < b->ready;
    if (o->how.dispatch == DISPATCH_LEVEL && a->level != b->level)
        return a->level > b->level;
    return rank_of(o, a) != rank_of(o, b) ? rank_of(o, a) < rank_of(o, b) : a->node < b->node;
}

/* The next node of a device, or the next of all hops; NULL: none can start. */
static inline struct job *next(struct slow *o, int dev)
{
    struct job *best = NULL;
    bool by_plan = dev >= 0 && o->how.dispatch == DISPATCH_PLAN;
    for (uint32_t i = 0; i < o->n; i++) {
        struct job *j = &o->job[i];
        if (j->start >= 0 ||
            (dev >= 0 ? j->kind != STEP_COMPUTE || j->to != dev : j->kind == STEP_COMPUTE))
            continue;
        if (!by_plan && (j->ready < 0 || is_held(o, j->hold[0]) || is_held(o, j->hold[1])))
            continue;
        if (!best || comes_first(o, j, best))
            best = j;
    }
    return best && (best->ready < 0 || is_held(o, best->hold[0]) || is_held(o, best->hold[1]))
               ? NULL
               : best;
}

/* Everything of one moment; the moment of the next end, -1: nothing runs. */
static inline int64_t slow_moment(struct slow *o, int64_t now)
{
    int64_t then = -1;
    struct job *j;
    for (uint32_t i = 0; i < o->n; i++)
        if (o->job[i].start >= 0 && o->job[i].start + o->job[i].time == now)
            o->job[i].ended = true;
    for (uint32_t i = 0; i < o->n; i++) {
        bool ready = true;
        for (uint32_t k = 0; k < o->job[i].nwait; k++)
            ready = ready && o->job[o->job[i].wait[k]].ended;
        if (ready && o->job[i].ready < 0)
            o->job[i].ready = now;
    }
    while ((j = next(o, NOTHING)))
        j->start = now;
    for (int d = 0; d < (int)o->s->of.cluster->ndev; d++)
        if ((j = next(o, d)))
            j->start = now;
    for (uint32_t i = 0; i < o->n; i++)
        if (o->job[i].start >= 0 && !o->job[i].ended &&
            (then < 0 || o->job[i].start + o->job[i].time < then))
            then = o->job[i].start + o->job[i].time;
    return then;
}

/* ---- Baechi's own simulator ---- */

/* When all that it waits for has ended; -1: something has not been started. */
static inline int64_t known_ready(const struct slow *o, const struct job *j)
{
    int64_t ready = 0;
    for (uint32_t k = 0; k < j->nwait; k++) {
        const struct job *on = &o->job[j->wait[k]];
        if (on->start < 0)
            return -1;
        ready = on->start + on->time > ready ? on->start + on->time : ready;
    }
    return ready;
}

static inline void take(struct job *j, int64_t at)
{
    j->start = at;
    j->ended = true;
}

static inline void book_hops(struct slow *o, int64_t *channel)
{
    for (uint32_t i = 0; i < o->n; i++) {
        struct job *j = &o->job[i];
        int64_t at = known_ready(o, j);
        if (j->kind == STEP_COMPUTE || j->start >= 0 || at < 0)
            continue;
        j->ready = at;
        if (j->from >= 0) {
            at = channel[j->from] > at ? channel[j->from] : at;
            channel[j->from] = at + j->time;
        }
        if (j->to >= 0) {
            at = channel[j->to] > at ? channel[j->to] : at;
            channel[j->to] = at + j->time;
        }
        take(j, at);
    }
}

/* Whether node a, which is ready at that time, is taken before b. */
static inline bool taken_first(const struct slow *o, const struct job *a, const struct job *b)
{
    if (a->ready != b->ready)
        return a->ready < b->ready;
    if (o->how.dispatch == DISPATCH_LEVEL && a->level != b->level)
        return a->level > b->level;
    return rank_of(o, a) != rank_of(o, b) ? rank_of(o, a) < rank_of(o, b) : a->node < b->node;
}

static inline void slow_book(struct slow *o)
{
    int64_t channel[MOST_DEVS] = {0}, free[MOST_DEVS] = {0};
    for (struct job *best = NULL;; best = NULL) {
        book_hops(o, channel);
        for (uint32_t i = 0; i < o->n; i++) {
            struct job *j = &o->job[i];
            if (j->start >= 0 || (j->ready = known_ready(o, j)) < 0)
                continue;
            best = !best || taken_first(o, j, best) ? j : best;
        }
        if (!best)
            return;
        take(best, free[best->to] > best->ready ? free[best->to] : best->ready);
        free[best->to] = best->start + best->time;
    }
}

static inline void slow_run(struct slow *o)
{
    if (o->how.contention == CONTENTION_BAECHI)
        return slow_book(o);
    for (int64_t now = 0; now >= 0;)
        now = slow_moment(o, now);
    for (uint32_t i = 0; i < o->n; i++)
        o->stuck = o->stuck || !o->job[i].ended;
}

#endif
