/* Random instances of up to 10 vertices and 4 devices for tests of planners: several classes, memory limits,
 * shared bytes, pins, vertices that cannot run everywhere, nets of several consumers, pins on the host. */
#ifndef PCC_TESTS_INSTANCES_H
#define PCC_TESTS_INSTANCES_H

#include "tests/support/sanitized.h"
#include "ir/ir.h"
#include "ir/dag/topo_order.h"

#include <string.h>

enum { MAX_N = 10, MAX_DEV = 4 };

struct instance {
    struct arena *a;
    struct cluster c;
    struct wdag g;
    int64_t load[CLUSTER_CLASSES][1 << MAX_N]; /* COST_NEVER: cannot run, or too large */
};

static inline struct csr transpose(struct arena *a, const struct csr *c, uint32_t rows,
                                   uint32_t entries)
{
    uint32_t n = c->at[rows], k = 0;
    uint32_t *row = arena_array(a, (size_t)n + 1, sizeof *row);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = c->at[r]; i < c->at[r + 1]; i++)
            row[k++] = r;
    return csr_build(a, entries, n, c->to, row);
}

/* A random set of `among` vertices [from, n) as a row. */
static inline void random_row(struct csr *c, uint32_t row, uint32_t from, uint32_t n,
                              uint32_t percent, uint64_t *rng)
{
    uint32_t end = c->at[row];
    for (uint32_t v = from; v < n; v++)
        if (topo_below(rng, 100) < percent)
            c->to[end++] = v;
    c->at[row + 1] = end;
}

static inline void make_cluster(struct instance *t, uint64_t *rng)
{
    struct cluster *c = &t->c;
    c->ncls = 1 + topo_below(rng, 2) + (topo_below(rng, 5) == 0);
    for (uint32_t k = 0; k < c->ncls; k++) {
        struct device_class *d = &c->cls[k];
        d->name = "class";
        d->host = k > 0 && topo_below(rng, 2);
        /* one device at least is left for each of the classes that follow */
        d->count = 1 + topo_below(rng, MAX_DEV - c->ndev - (c->ncls - k - 1));
        d->memory = topo_below(rng, 2) ? -1 : 10 + (int64_t)topo_below(rng, 60);
        c->ndev += d->count;
    }
}

static inline void make_nets(struct instance *t, uint64_t *rng)
{
    struct wdag *g = &t->g;
    uint32_t max = g->n + 3, density = 10 + topo_below(rng, 50);
    g->net_pin.at = arena_array(t->a, max + 1, sizeof(uint32_t));
    g->net_pin.to = arena_array(t->a, (size_t)max * MAX_N + 1, sizeof(uint32_t));
    g->net_host = arena_alloc(t->a, max);
    g->net_src = arena_array(t->a, max, sizeof(uint32_t));
    uint32_t *from = arena_array(t->a, (size_t)max * MAX_N + 1, sizeof *from), nedge = 0;
    uint32_t *to = arena_array(t->a, (size_t)max * MAX_N + 1, sizeof *to);
    for (uint32_t e = 0; e < max; e++) {
        uint32_t at = g->net_pin.at[g->nnet];
        bool input = e >= g->n;
        if (!input)
            g->net_pin.to[at] = e;
        g->net_pin.at[g->nnet] += !input;
        random_row(&g->net_pin, g->nnet, input ? 0 : e + 1, g->n, density, rng);
        g->net_pin.at[g->nnet] = at;
        if (g->net_pin.at[g->nnet + 1] == at)
            continue;
        g->net_src[g->nnet] = input ? UINT32_MAX : e;
        g->net_host[g->nnet] = input || topo_below(rng, 6) == 0;
        for (uint32_t i = at + 1; !input && i < g->net_pin.at[g->nnet + 1]; i++) {
            from[nedge] = e;
            to[nedge++] = g->net_pin.to[i];
        }
        g->nnet++;
    }
    g->net_of = transpose(t->a, &g->net_pin, g->nnet, g->n);
    g->succ = csr_build(t->a, g->n, nedge, from, to);
    g->pred = transpose(t->a, &g->succ, g->n, g->n);
}

static inline void make_costs(struct instance *t, uint64_t *rng)
{
    struct wdag *g = &t->g;
    uint32_t dear = topo_below(rng, 30), never = topo_below(rng, 3) ? 0 : 8;
    uint32_t pinned = topo_below(rng, 3) ? 0 : 15;
    g->ncls = t->c.ncls;
    g->time = arena_array(t->a, g->ncls, sizeof *g->time);
    g->net_cost = arena_array(t->a, g->ncls, sizeof *g->net_cost);
    for (uint32_t k = 0; k < g->ncls; k++) {
        uint32_t slow = 1 + topo_below(rng, 4);
        g->time[k] = arena_array(t->a, MAX_N + 1, sizeof(int64_t));
        g->net_cost[k] = arena_array(t->a, (size_t)g->nnet + 1, sizeof(int64_t));
        for (uint32_t v = 0; v < g->n; v++)
            g->time[k][v] =
                topo_below(rng, 100) < never ? COST_NEVER : (int64_t)(topo_below(rng, 25) * slow);
        for (uint32_t e = 0; e < g->nnet; e++)
            g->net_cost[k][e] = t->c.cls[k].host ? 0 : topo_below(rng, dear + 1);
    }
    g->size = arena_array(t->a, MAX_N + 1, sizeof(int64_t));
    g->pin = arena_array(t->a, MAX_N + 1, sizeof(int32_t));
    for (uint32_t v = 0; v < g->n; v++) {
        g->size[v] = topo_below(rng, 12);
        g->pin[v] = topo_below(rng, 100) < pinned ? (int32_t)topo_below(rng, t->c.ndev) : -1;
    }
    g->nshared = topo_below(rng, 4);
    g->shared_size = arena_array(t->a, g->nshared + 1, sizeof(int64_t));
    g->shared_by.at = arena_array(t->a, g->nshared + 1, sizeof(uint32_t));
    g->shared_by.to = arena_array(t->a, (size_t)g->nshared * MAX_N + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < g->nshared; i++) {
        g->shared_size[i] = topo_below(rng, 20);
        random_row(&g->shared_by, i, 0, g->n, 40, rng);
    }
    g->shared_of = transpose(t->a, &g->shared_by, g->nshared, g->n);
}

/* Loads of all sets; bounded memories are raised to at least `memory`. */
static inline void make_loads(struct instance *t, int64_t memory)
{
    for (uint32_t k = 0; k < t->c.ncls; k++) {
        int64_t room = t->c.cls[k].memory;
        if (room >= 0 && room < memory)
            room = memory;
        for (uint32_t set = 0; set < 1U << t->g.n; set++) {
            uint8_t member[MAX_N];
            int64_t compute, transfer, size;
            for (uint32_t v = 0; v < t->g.n; v++)
                member[v] = set >> v & 1;
            wdag_load(&t->g, member, k, &compute, &transfer, &size);
            bool fits = room < 0 || size <= room;
            t->load[k][set] = compute == COST_NEVER || !fits ? COST_NEVER : compute + transfer;
        }
    }
}

static inline void make_instance(struct instance *t, uint64_t seed)
{
    uint64_t rng = seed;
    memset(t, 0, sizeof *t);
    t->a = arena_new(NULL);
    t->g.mem = t->a;
    t->g.n = 1 + topo_below(&rng, MAX_N);
    make_cluster(t, &rng);
    make_nets(t, &rng);
    make_costs(t, &rng);
    make_loads(t, -1);
}

static inline bool pins_allow(const struct wdag *g, uint32_t set, uint32_t dev)
{
    for (uint32_t v = 0; v < g->n; v++)
        if ((set >> v & 1) && g->pin[v] >= 0 && (uint32_t)g->pin[v] != dev)
            return false;
    return true;
}

#endif
