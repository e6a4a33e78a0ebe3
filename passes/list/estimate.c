/* Estimates when vertices could start (estimate.h).  A vertex can start when all values that it reads have been
 * computed and moved to its device, and the device is free: also in an idle time between placed vertices (slots.h).
 * Ports are reserved for transfers in the order in which vertices are placed; for one vertex, in the order in which
 * its predecessors end. */
#include "passes/list/estimate.h"

#include "ir/base/units.h"

struct estimate estimate_new(const struct scene *s, const struct wdag *g, bool ports,
                             struct arena *a)
{
    uint32_t nd = s->cluster->ndev;
    struct estimate e = {.g = g, .ports = ports, .edge = edges_build(s, g, a)};
    e.slots = slots_new(nd, a);
    e.end = arena_array(a, (size_t)g->n + 1, sizeof *e.end);
    e.dev = arena_array(a, (size_t)g->n + 1, sizeof *e.dev);
    e.out = arena_array(a, (size_t)nd + 1, sizeof *e.out);
    e.in = arena_array(a, (size_t)nd + 1, sizeof *e.in);
    e.kept = arena_array(a, (size_t)nd + 1, sizeof *e.kept);
    e.pred = arena_array(a, (size_t)g->n + 1, sizeof *e.pred);
    return e;
}

void estimate_turn(struct estimate *e, uint32_t v)
{
    const struct csr *p = &e->g->pred;
    e->npred = 0;
    for (uint32_t i = p->at[v]; i < p->at[v + 1]; i++)
        e->pred[e->npred++] = (struct keyed){e->end[p->to[i]], i};
    if (e->ports)
        keyed_sort(e->pred, e->npred);
}

/* Returns the ps at which all values that the present vertex reads are on device d; if transfers take ports (e->ports),
 * reserves these for the transfers. */
static int64_t reserve_transfers(struct estimate *e, uint32_t d)
{
    int64_t ready = 0;
    for (uint32_t i = 0; i < e->npred; i++) {
        uint32_t k = e->pred[i].item, from = (uint32_t)e->dev[e->g->pred.to[k]];
        int64_t start = e->pred[i].key, end = sat_add(start, edge_time(&e->edge, k, from, d));
        if (e->ports && from != d) {
            int64_t time = end - start;
            start = larger(e->out[from], start);
            start = larger(e->in[d], start);
            e->out[from] = e->in[d] = end = sat_add(start, time);
        }
        ready = larger(end, ready);
    }
    return ready;
}

int64_t estimate_start(struct estimate *e, uint32_t d, int64_t time)
{
    int64_t in = e->in[d]; /* e->in and e->out are restored after the trial */
    for (uint32_t i = 0; e->ports && i < e->npred; i++) {
        int32_t from = e->dev[e->g->pred.to[e->pred[i].item]];
        e->kept[from] = e->out[from];
    }
    int64_t ready = reserve_transfers(e, d);
    for (uint32_t i = 0; e->ports && i < e->npred; i++) {
        int32_t from = e->dev[e->g->pred.to[e->pred[i].item]];
        e->out[from] = e->kept[from];
    }
    e->in[d] = in;
    return slots_find(&e->slots[d], ready, time);
}

void estimate_take(struct estimate *e, uint32_t v, uint32_t d, int64_t start, int64_t time)
{
    reserve_transfers(e, d);
    slots_take(&e->slots[d], start, time);
    e->end[v] = sat_add(start, time);
    e->dev[v] = (int32_t)d;
}
