/* Memory of devices as Baechi-PyTorch's paper counts it (paper_memory.h).  The order of the nodes does not matter; the
 * bytes that a device needs are the sum of
 *
 *     the bytes that stay of all its nodes (first column)
 *     copies of the values that they read from other devices or from the host
 *     the most bytes that one of its nodes takes while it runs (second column)
 *
 *                     stay                                         while the node runs
 *     inference       weights                                      its results, and what it needs beside them
 *     training        weights, their gradients (of the step        what it needs beside its results, and the gradients
 *                     before), results of forward nodes            of its results; of a backward node its results
 *
 * A node that overwrites its operand, as overwrites_operand() says, has no results of its own.  O(nodes + pins). */
#include "ir/exec/replicas/paper_memory.h"

#include "ir/base/units.h"

/* State of paper_memory(). */
struct memory_count {
    const struct scene *s;
    const int32_t *dev;
    /* [dev] bytes of the device's nodes that stay, and of copies of values that other devices make */
    int64_t *stays;
    int64_t *runs; /* [dev] the most bytes that a node of the device takes only while it runs */
    uint32_t *net; /* [value] 1 + its net; 0: none */
};

/* Whether node n overwrites its first operand: its operator can do that, a placed node of the same device makes the
 * operand, and neither another node nor the host uses it. */
static bool overwrites_operand(const struct memory_count *c, nid n)
{
    static const char *const op[] = {"Relu",      "Flatten", "Squeeze",
                                     "Unsqueeze", "Reshape", "Identity"};
    const struct module *m = c->s->m;
    const struct csr *pin = &c->s->place->net_pin;
    vid v = node_in(m, n, 0);
    uint32_t e = v ? c->net[v] : 0;
    bool able = false;
    for (size_t i = 0; i < sizeof op / sizeof *op; i++)
        able = able || node_is(m, n, op[i]);
    /* two pins: the maker and n */
    if (!able || !e || c->s->place->net_host[e - 1] || pin->at[e] - pin->at[e - 1] != 2)
        return false;
    nid def = m->value[v].def;
    return def && c->s->place->kind[def] == PLACE_NODE && !(m->value[v].flags & VALUE_OUTPUT) &&
           c->dev[def] == c->dev[n];
}

/* Returns the bytes of all results of node n. */
static int64_t result_bytes(const struct memory_count *c, nid n)
{
    const struct module *m = c->s->m;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < m->node[n].out.n; i++)
        if (node_out(m, n, i))
            bytes = sat_add(bytes, m->cost->bytes[node_out(m, n, i)]);
    return bytes;
}

/* Adds the bytes that stay of node n to c->stays of its device, and raises c->runs to the bytes that n takes while it
 * runs. */
static void count_node(struct memory_count *c, nid n)
{
    const struct module *m = c->s->m;
    int64_t made = result_bytes(c, n), own = m->ir_version ? m->cost->own[n] : made;
    int64_t beside = own > made ? own - made : 0;
    int64_t *stays = &c->stays[c->dev[n]], *runs = &c->runs[c->dev[n]];
    bool forward = m->backward && !m->backward[n];
    if (overwrites_operand(c, n))
        made = 0;
    if (forward)
        *stays = sat_add(*stays, made);
    /* the results; for a forward node in training, their gradients, which have the same size */
    beside = sat_add(beside, made);
    *runs = larger(beside, *runs);
}

/* Adds the bytes of net e's value to each device that reads it but does not make it, once.  seen[dev]: 1 + the net
 * that was counted there last. */
static void count_copies(struct memory_count *c, uint32_t e, uint32_t *seen)
{
    const struct place *p = c->s->place;
    nid def = c->s->m->value[p->net_value[e]].def;
    bool made = def && p->kind[def] == PLACE_NODE;
    if (!made && !p->net_host[e])
        return; /* state of the model: counted among the weights */
    if (made)
        seen[c->dev[def]] = e + 1;
    for_row (pin, p->net_pin, e) {
        int32_t d = c->dev[pin];
        if (seen[d] != e + 1)
            c->stays[d] = sat_add(c->stays[d], c->s->m->cost->bytes[p->net_value[e]]);
        seen[d] = e + 1;
    }
}

int64_t *paper_memory(const struct scene *s, const struct plan *p, const int64_t *lasting,
                      struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    uint32_t nd = s->cluster->ndev;
    struct arena *own = arena_new(a);
    struct memory_count c = {.s = s, .dev = p->dev};
    c.stays = arena_array(a, (size_t)nd + 1, sizeof *c.stays);
    c.runs = arena_array(own, (size_t)nd + 1, sizeof *c.runs);
    c.net = arena_array(own, s->m->nval, sizeof *c.net);
    uint32_t *seen = arena_array(own, (size_t)nd + 1, sizeof *seen);
    for (uint32_t e = 0; e < s->place->nnet; e++)
        c.net[s->place->net_value[e]] = e + 1;
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE)
            count_node(&c, n);
    for (uint32_t e = 0; e < s->place->nnet; e++)
        count_copies(&c, e, seen);
    for (uint32_t d = 0; d < nd; d++)
        c.stays[d] = sat_add(c.stays[d], sat_add(lasting[d], c.runs[d]));
    arena_free(own);
    return c.stays;
}
