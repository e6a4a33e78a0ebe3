/* Nodes that a single host thread defers (host_order.h).
 *
 * Source: Baechi-PyTorch's assigner, its two criteria for starting a thread for a layer (1.3.2).
 * Being free to go is for ever, so each node has one moment, in nodes met, at which it begins to be: the latest of
 * those of what it waits for, no earlier than these are met themselves.  Moments follow along data and the order of
 * devices. */
#include "ir/plan/host_order.h"

#include "ir/base/keyed.h"
#include "ir/plan/order.h"

struct host_order_state {
    const struct scene *s;
    const struct plan *p;
    struct arena *a;
    nid *order; /* placed nodes as the plan has them */
    uint32_t n;
};

static void order_nodes(struct host_order_state *c, const struct parts *parts)
{
    const struct graph *g = &c->s->m->graph[1];
    struct keyed *k = arena_array(c->a, (size_t)g->count + 1, sizeof *k);
    c->order = arena_array(c->a, (size_t)g->count + 1, sizeof *c->order);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (c->s->place->kind[n] == PLACE_NODE)
            k[c->n++] = (struct keyed){c->p->rank ? c->p->rank[n] : (uint32_t)parts->part_of[n], n};
    keyed_sort(k, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        c->order[i] = k[i].item;
}

static uint32_t count_by_all(const struct host_order_state *c)
{
    uint32_t deferred = 0;
    nid last = 0; /* of the nodes so far the one that is met last */
    for (uint32_t i = 0; i < c->n; i++) {
        deferred += last > c->order[i];
        last = larger_u32(c->order[i], last);
    }
    return deferred;
}

/* Nodes that wait in a circle never go: they count. */
static uint32_t count_by_device(const struct host_order_state *c)
{
    uint32_t nnode = c->s->m->nnode, deferred = nnode;
    struct csr next = plan_followers(c->s, c->p->dev, c->order, c->n, c->a);
    nid *sorted = arena_array(c->a, nnode, sizeof *sorted);
    /* [node] the node of the file at which the thread can hand this node over */
    nid *free_at = arena_array(c->a, nnode, sizeof *free_at);
    for (uint32_t i = 0, n = csr_topo(&next, nnode, NULL, sorted, c->a); i < n; i++) {
        nid x = sorted[i], met = larger_u32(free_at[x], x);
        deferred -= free_at[x] <= x; /* so does a node that is not placed: it waits for none */
        for_row (y, next, x)
            free_at[y] = larger_u32(met, free_at[y]);
    }
    return deferred;
}

struct host_order host_order_count(const struct scene *s, const struct plan *p,
                                   const struct parts *parts, struct arena *a)
{
    struct host_order_state c = {.s = s, .p = p, .a = arena_new(a)};
    order_nodes(&c, parts);
    struct host_order o = {c.n, count_by_all(&c), count_by_device(&c)};
    arena_free(c.a);
    return o;
}
