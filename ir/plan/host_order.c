/* Nodes that a single host thread defers (host_order.h).
 *
 * Source: Baechi-PyTorch's assigner, its two criteria for starting a thread for a layer (1.3.2).
 * Being free to go is for ever, so each node has one moment, in nodes met, at which it begins to be: the latest of
 * those of what it waits for, no earlier than these are met themselves.  Moments follow along data and the order of
 * devices. */
#include "ir/plan/host_order.h"

#include <assert.h>
#include <stdlib.h>

struct ranked {
    uint32_t rank;
    nid node;
};

struct counting {
    const struct scene *s;
    const struct plan *p;
    struct arena *a;
    struct ranked *order; /* placed nodes as the plan has them */
    uint32_t n;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void order_nodes(struct counting *c, const struct parts *parts)
{
    const struct graph *g = &c->s->m->graph[1];
    c->order = arena_array(c->a, (size_t)g->count + 1, sizeof *c->order);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (c->s->place->kind[n] == PLACE_NODE)
            c->order[c->n++] =
                (struct ranked){c->p->rank ? c->p->rank[n] : (uint32_t)parts->part_of[n], n};
    qsort(c->order, c->n, sizeof *c->order, by_rank);
}

static uint32_t count_by_all(const struct counting *c)
{
    uint32_t deferred = 0;
    nid last = 0; /* of the nodes so far the one that is met last */
    for (uint32_t i = 0; i < c->n; i++) {
        deferred += last > c->order[i].node;
        last = c->order[i].node > last ? c->order[i].node : last;
    }
    return deferred;
}

/* Node -> those that wait for it: readers, and the next one of its device. */
static struct csr find_waiting(const struct counting *c)
{
    const struct place *p = c->s->place;
    uint32_t ndev = c->s->cluster->ndev, n = 0;
    size_t most = (size_t)p->net_pin.at[p->nnet] + c->n;
    uint32_t *from = arena_array(c->a, most + 1, sizeof *from);
    uint32_t *to = arena_array(c->a, most + 1, sizeof *to);
    nid *last = arena_array(c->a, (size_t)ndev + 1, sizeof *last);
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = c->s->m->value[p->net_value[e]].def;
        for (uint32_t i = p->net_pin.at[e]; i < p->net_pin.at[e + 1]; i++)
            if (def && p->kind[def] == PLACE_NODE && p->net_pin.to[i] != def) {
                from[n] = def;
                to[n++] = p->net_pin.to[i];
            }
    }
    for (uint32_t i = 0; i < c->n; i++) {
        nid x = c->order[i].node;
        assert(c->p->dev[x] >= 0 && (uint32_t)c->p->dev[x] < ndev);
        if (last[c->p->dev[x]]) {
            from[n] = last[c->p->dev[x]];
            to[n++] = x;
        }
        last[c->p->dev[x]] = x;
    }
    return csr_build(c->a, c->s->m->nnode, n, from, to);
}

/* Nodes that wait in a circle never go: they count. */
static uint32_t count_by_device(const struct counting *c)
{
    uint32_t nnode = c->s->m->nnode, end = 0, deferred = c->n;
    struct csr next = find_waiting(c);
    uint32_t *left = arena_array(c->a, nnode, sizeof *left);
    nid *queue = arena_array(c->a, (size_t)c->n + 1, sizeof *queue);
    nid *free_at =
        arena_array(c->a, nnode, sizeof *free_at); /* the node at which it is free to go */
    for (uint32_t i = 0; i < next.at[nnode]; i++)
        left[next.to[i]]++;
    for (uint32_t i = 0; i < c->n; i++)
        if (!left[c->order[i].node])
            queue[end++] = c->order[i].node;
    for (uint32_t i = 0; i < end; i++) {
        nid x = queue[i], met = free_at[x] > x ? free_at[x] : x;
        deferred -= free_at[x] <= x;
        for (uint32_t k = next.at[x]; k < next.at[x + 1]; k++) {
            nid y = next.to[k];
            free_at[y] = met > free_at[y] ? met : free_at[y];
            if (--left[y] == 0)
                queue[end++] = y;
        }
    }
    return deferred;
}

struct host_order host_order_count(const struct scene *s, const struct plan *p,
                                   const struct parts *parts, struct arena *a)
{
    struct counting c = {.s = s, .p = p, .a = arena_new(a)};
    order_nodes(&c, parts);
    struct host_order o = {c.n, count_by_all(&c), count_by_device(&c)};
    arena_free(c.a);
    return o;
}
