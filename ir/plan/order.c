/* Finds the order of a plan's nodes (order.h): by sorting ranks; plan_walk() sorts the nodes topologically, with an
 * extra edge from each node to the next one on its device. */
#include "ir/plan/order.h"

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
    struct pairs next = pairs_new(a, (size_t)n + (pl->nnet ? pl->net_pin.at[pl->nnet] : 0));
    /* [device] latest node of order[] so far */
    nid *last = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *last);
    for (uint32_t i = 0; i < n; i++) {
        nid *before = &last[dev[order[i]]];
        if (*before)
            pairs_add(&next, *before, order[i]);
        *before = order[i];
    }
    for (uint32_t e = 0; e < pl->nnet; e++) {
        nid def = s->m->value[pl->net_value[e]].def;
        if (!def || pl->kind[def] != PLACE_NODE)
            continue;
        for_row (reader, pl->net_pin, e)
            if (reader != def)
                pairs_add(&next, def, reader);
    }
    return pairs_rows(&next, s->m->nnode);
}

const nid *plan_walk(const struct scene *s, const struct plan *p, struct arena *a, uint32_t *n)
{
    struct arena *own = arena_new(a);
    const nid *order = plan_order(p, s->m, own, n);
    struct csr next = plan_followers(s, p->dev, order, *n, own);
    const uint32_t *rank = p->rank ? p->rank : arena_array(own, s->m->nnode, sizeof *rank);
    nid *walk = arena_array(a, s->m->nnode, sizeof *walk);
    uint32_t done = 0, sorted = csr_topo(&next, s->m->nnode, rank, walk, own);
    for (uint32_t i = 0; i < sorted; i++)
        if (p->dev[walk[i]] >= 0)
            walk[done++] = walk[i];
    arena_free(own);
    return done == *n ? walk : NULL;
}
