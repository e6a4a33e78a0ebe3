/* Finds closures by minimum cuts (least_load.h).
 *
 * Idea: Picard, Management Science 22 (1976), with the arcs of Hu and Moerder for nets.  Take a network with an arc v
 * -> t of capacity time(v) for every vertex, and for every net an arc in -> out of capacity cost, with unbounded arcs v
 * -> in and out -> v for each pin v.  The vertices on the source's side of a cut are S, and the cut costs the load of
 * S.  A net of two pins is two arcs between them; a net with a pin on the host, which every device that has a pin of it
 * pays, has the sink t as `out`.
 *
 * A single arc from the source, to the node `gate`, has a capacity of limit + 1, so that the search for a flow ends
 * once the flow is above the limit.  Unbounded arcs lead from the gate to the vertices that the device must hold.  A
 * vertex is kept out of S by an unbounded arc to t, which can only increase the flow: so closure_without() continues
 * from the flow of closure_of().  Cost: a flow for each question. */
#include "passes/bounds/least_load.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* Returns the node `gate`, to which the only arc from the source leads.  (That arc has number 2 * n, since arc v ->
 * t has number 2 * v.) */
static uint32_t gate(const struct closure *q)
{
    return q->f.nnode - 3;
}

/* Returns the node from which all flow comes. */
static uint32_t source(const struct closure *q)
{
    return q->f.nnode - 2;
}

/* Returns the node t to which all flow goes. */
static uint32_t sink(const struct closure *q)
{
    return q->f.nnode - 1;
}

/* Adds the arcs for net e, and its cost to q->alone of its pins.  *hub: number of the next free node; raised by the
 * nodes used. */
static void add_net(struct closure *q, uint32_t e, uint32_t *hub)
{
    const struct wdag *g = q->c->g;
    const uint32_t *pin = g->net_pin.to + g->net_pin.at[e];
    uint32_t n = g->net_pin.at[e + 1] - g->net_pin.at[e];
    int64_t cost = q->c->cls[q->c->kind[q->k].cls].cost[e];
    if (n < 2 || cost == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        q->alone[pin[i]] = sat_add(q->alone[pin[i]], cost);
    if (n == 2 && !g->net_host[e]) {
        flow_arc(&q->f, pin[0], pin[1], cost);
        flow_arc(&q->f, pin[1], pin[0], cost);
        return;
    }
    uint32_t in = (*hub)++, out = g->net_host[e] ? sink(q) : (*hub)++;
    flow_arc(&q->f, in, out, cost);
    for (uint32_t i = 0; i < n; i++) {
        flow_arc(&q->f, pin[i], in, FLOW_INF);
        if (out != sink(q))
            flow_arc(&q->f, out, pin[i], FLOW_INF);
    }
}

struct closure *closure_new(const struct problem *c, uint32_t k, const uint32_t *may,
                            struct arena *a)
{
    assert(!c->detailed && k < c->nkind);
    const struct wdag *g = c->g;
    struct closure *q = arena_alloc(a, sizeof *q);
    uint32_t hub = g->n;
    q->c = c;
    q->k = k;
    q->time = arena_array(a, (size_t)g->n + 1, sizeof *q->time);
    q->alone = arena_array(a, (size_t)g->n + 1, sizeof *q->alone);
    q->side = arena_alloc(a, (size_t)g->n + 1);
    /* nodes: the vertices, two for each net, gate, source and sink; arcs: one for each vertex, one or two for each net,
     * two for each pin, one to the gate, and up to n for the vertices in[] of a question */
    q->f = flow_new(g->n + 2 * g->nnet + 3, 2 * g->n + 1 + 2 * g->nnet + 2 * g->net_pin.at[g->nnet],
                    a);
    for (uint32_t v = 0; v < g->n; v++) {
        bool here = c->kind[k].time[v] != COST_NEVER && (!may || (may[v] >> k & 1));
        q->time[v] = here ? c->kind[k].time[v] : COST_NEVER;
        flow_arc(&q->f, v, sink(q), here ? q->time[v] : FLOW_INF);
    }
    memcpy(q->alone, q->time, g->n * sizeof *q->alone);
    flow_arc(&q->f, source(q), gate(q), 0);
    for (uint32_t e = 0; e < g->nnet; e++)
        add_net(q, e, &hub);
    assert(hub <= gate(q));
    q->base = q->f.narc;
    q->room = arena_array(a, (size_t)q->base + 1, sizeof *q->room);
    q->saved = arena_array(a, (size_t)q->base + 2 * (size_t)g->n + 1, sizeof *q->saved);
    memcpy(q->room, q->f.room, q->base * sizeof *q->room);
    return q;
}

void closure_deny(struct closure *q, uint32_t v)
{
    assert(v < q->c->g->n);
    q->time[v] = COST_NEVER;
    q->room[2 * v] = FLOW_INF;
}

/* Increases the flow, which is `value` so far, to the maximum (or less, if the work runs out), and returns the new
 * value.  Sets q->exact, and q->side if the result is exact. */
static int64_t add_flow(struct closure *q, int64_t value, uint64_t *work)
{
    struct arena_mark mark = arena_mark(q->f.mem);
    uint64_t fixed = q->f.narc / 8 + 1; /* work of copying the capacities */
    *work -= smaller_u64(fixed, *work);
    if (*work)
        value += flow_max(&q->f, source(q), sink(q), work);
    q->exact = *work && value <= q->limit;
    if (q->exact) /* the set S: what the source still reaches after the flow */
        memcpy(q->side, flow_side(&q->f, source(q)), q->c->g->n);
    arena_release(q->f.mem, mark);
    return value;
}

/* Removes the arcs of the last question, and restores all capacities. */
static void restore_network(struct closure *q)
{
    assert(q->f.narc >= q->base);
    struct flow *f = &q->f;
    /* the last arc, a, is the first one in the list of the node that it leaves, which the opposite arc a ^ 1 enters */
    while (f->narc > q->base) {
        uint32_t a = --f->narc;
        f->head[f->to[a ^ 1]] = f->next[a];
    }
    memcpy(f->room, q->room, q->base * sizeof *f->room);
}

int64_t closure_of(struct closure *q, const uint32_t *in, uint32_t n, int64_t limit, uint64_t *work)
{
    assert(limit >= -1);
    restore_network(q);
    q->limit = limit;
    q->value = limit + 1;
    q->exact = false;
    for (uint32_t i = 0; i < n; i++) {
        if (q->time[in[i]] == COST_NEVER)
            return limit + 1;
        flow_arc(&q->f, gate(q), in[i], FLOW_INF);
    }
    q->f.room[2 * q->c->g->n] = limit + 1; /* the arc from the source to the gate */
    q->value = add_flow(q, 0, work);
    memcpy(q->saved, q->f.room, q->f.narc * sizeof *q->saved);
    return q->value;
}

int64_t closure_without(struct closure *q, uint32_t v, uint64_t *work)
{
    assert(v < q->c->g->n);
    if (q->value > q->limit)
        return q->limit + 1;
    memcpy(q->f.room, q->saved, q->f.narc * sizeof *q->saved);
    q->f.room[2 * v] = FLOW_INF;
    return add_flow(q, q->value, work);
}

int64_t closure_alone(const struct closure *q, uint32_t v)
{
    assert(v < q->c->g->n);
    return q->time[v] == COST_NEVER ? COST_NEVER : q->alone[v];
}
