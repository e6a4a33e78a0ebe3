/* The order of a plan (order.h): sorting by rank; and a topological order of the nodes with an edge from each node to
 * the next one on its device. */
#include "ir/plan/order.h"

#include "ir/base/heap.h"
#include "ir/base/keyed.h"

const nid *plan_order(const struct plan *p, const struct module *m, struct arena *a, uint32_t *n)
{
    struct arena *own = arena_new(a);
    struct keyed *k = arena_array(own, m->nnode, sizeof *k);
    *n = 0;
    for (nid v = 1; v < m->nnode; v++)
        if (p->dev[v] >= 0)
            k[(*n)++] = (struct keyed){p->rank ? p->rank[v] : 0, v};
    keyed_sort(k, *n);
    nid *order = arena_array(a, (size_t)*n + 1, sizeof *order);
    for (uint32_t i = 0; i < *n; i++)
        order[i] = k[i].item;
    arena_free(own);
    return order;
}

/* ---- walking ------------------------------------------------------------------------------------ */

struct csr plan_followers(const struct scene *s, const int32_t *dev, const nid *order, uint32_t n,
                          struct arena *a)
{
    const struct place *pl = s->place;
    uint32_t most = (pl->nnet ? pl->net_pin.at[pl->nnet] : 0) + n, k = 0;
    nid *from = arena_array(a, (size_t)most + 1, sizeof *from);
    nid *to = arena_array(a, (size_t)most + 1, sizeof *to);
    nid *last = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *last);
    for (uint32_t i = 0; i < n; i++) {
        nid *before = &last[dev[order[i]]];
        if (*before) {
            from[k] = *before;
            to[k++] = order[i];
        }
        *before = order[i];
    }
    for (uint32_t e = 0; e < pl->nnet; e++) {
        nid def = s->m->value[pl->net_value[e]].def;
        for (uint32_t i = pl->net_pin.at[e]; def && i < pl->net_pin.at[e + 1]; i++) {
            from[k] = def;
            to[k] = pl->net_pin.to[i];
            k += pl->kind[def] == PLACE_NODE && def != pl->net_pin.to[i];
        }
    }
    return csr_build(a, s->m->nnode, k, from, to);
}

const nid *plan_walk(const struct scene *s, const struct plan *p, struct arena *a, uint32_t *n)
{
    struct arena *own = arena_new(a);
    const nid *order = plan_order(p, s->m, own, n);
    struct csr next = plan_followers(s, p->dev, order, *n, own);
    uint32_t *left = arena_array(own, s->m->nnode, sizeof *left), done = 0;
    nid *walk = arena_array(a, (size_t)*n + 1, sizeof *walk);
    struct heap ready = {.a = own};
    for (uint32_t i = 0; i < next.at[s->m->nnode]; i++)
        left[next.to[i]]++;
    for (uint32_t i = 0; i < *n; i++)
        if (!left[order[i]])
            heap_push(&ready, p->rank ? p->rank[order[i]] : 0, 0, order[i]);
    while (ready.n) {
        nid v = heap_pop(&ready).item;
        walk[done++] = v;
        for_row (y, next, v)
            if (--left[y] == 0)
                heap_push(&ready, p->rank ? p->rank[y] : 0, 0, y);
    }
    arena_free(own);
    return done == *n ? walk : NULL;
}
