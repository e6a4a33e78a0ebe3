/* Counts the nodes that a single host thread defers (host_order.h).
 *
 * Source: Baechi-PyTorch's assigner, its two criteria for starting a thread for a layer (1.3.2). Rule by device: a node
 * that may be handed over may be handed over at any later time, too. So each node has one moment from which on the
 * thread may hand it over; the moment is written as the number of the node that the thread meets then. It is the
 * earliest moment at which all predecessors of the node (the producers of its inputs, and the node before it on its
 * device) have been met and may be handed over. A walk in topological order finds the moments. */
#include "ir/plan/host_order.h"

#include "ir/base/keyed.h"
#include "ir/plan/order.h"

/* State of host_order_count(). */
struct host_order_state {
    const struct scene *s;
    const struct plan *p;
    struct arena *a;
    nid *order; /* the placed nodes in the order of the plan */
    uint32_t n; /* number of placed nodes */
};

/* Fills c->order and c->n with the placed nodes, ordered by rank; without ranks, by part, then by number. */
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

/* Returns the number of nodes deferred by the rule "by all": when the thread meets the node, it has not met all nodes
 * that the plan has before it. */
static uint32_t count_by_all(const struct host_order_state *c)
{
    uint32_t deferred = 0;
    nid last = 0; /* largest number of a node so far */
    for (uint32_t i = 0; i < c->n; i++) {
        deferred += last > c->order[i];
        last = larger_u32(c->order[i], last);
    }
    return deferred;
}

/* Returns the number of nodes deferred by the rule "by device": nodes whose moment (the last node that the thread must
 * have met before it may hand the node to its device) comes after the node itself. Nodes that wait for each other in a
 * circle count, too. */
static uint32_t count_by_device(const struct host_order_state *c)
{
    uint32_t nnode = c->s->m->nnode, deferred = nnode;
    struct csr next = plan_followers(c->s, c->p->dev, c->order, c->n, c->a);
    nid *sorted = arena_array(c->a, nnode, sizeof *sorted);
    /* [node] the moment at which the thread may hand the node over: behind the node with this number; 0: at once */
    nid *free_at = arena_array(c->a, nnode, sizeof *free_at);
    for (uint32_t i = 0, n = csr_topo(&next, nnode, NULL, sorted, c->a); i < n; i++) {
        nid x = sorted[i], met = larger_u32(free_at[x], x);
        /* subtracts all nodes that are not deferred; these include the nodes that are not placed, which wait for no
         * other node */
        deferred -= free_at[x] <= x;
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
