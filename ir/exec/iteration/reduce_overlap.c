/* AllReduces that overlap the backward pass (reduce_overlap.h).
 *
 * Source: the data-parallel baseline of DAPPLE's paper, in which gradients are exchanged while earlier layers still
 * compute theirs, one AllReduce at a time, in the order in which gradients become ready.  Gradients that wait are
 * exchanged together, so that many small weights do not each pay the latencies of a ring. */
#include "ir/exec/iteration/reduce_overlap.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"

int64_t reduce_exposed(const struct servers *s, const struct device_set *set,
                       const struct reduce_parts *parts, int64_t backward, int64_t whole)
{
    /* end: ps at which the last AllReduce so far ends; waiting: bytes of gradients that wait for the next AllReduce;
     * since: ps at which the first of these gradients was ready; all: bytes of all gradients */
    int64_t end = 0, since = 0, waiting = 0, all = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct reduce_part *p = &parts->part[i];
        int64_t ready = whole > 0 ? mul_div_ceil(p->ready, backward, whole) : 0;
        int64_t start = larger(end, since);
        if (waiting && start < ready) {
            end = sat_add(start, servers_reduce(s, set, waiting));
            waiting = 0;
        }
        if (!waiting)
            since = ready;
        waiting = sat_add(waiting, p->bytes);
        all = sat_add(all, p->bytes);
    }
    end = sat_add(larger(end, since), servers_reduce(s, set, waiting));
    int64_t after = servers_reduce(s, set, all), exposed = end > backward ? end - backward : 0;
    return smaller(exposed, after);
}

/* The gradients of all stages: n entries, each for some weights of a stage. */
struct gradient_list {
    const struct scene *s;
    const int32_t *dev, *stage_of; /* [node] device of the node; stage of the node */
    const struct update_cost *update;
    /* [node] ps of backward work that its stage has done when the node ends; 0: a forward node, or a node of an
     * update */
    int64_t *done;
    uint32_t n;
    uint32_t *stage; /* [entry] stage whose gradients the entry has */
    /* [entry] key: ps when the gradients are ready; item: the number of the entry.  reduce_parts_of() sorts by key */
    struct keyed *key;
    int64_t *bytes; /* [entry] bytes of the gradients */
};

/* Adds gradients of `bytes` bytes of a stage, ready after `ready` ps of its backward pass. */
static void add_part(struct gradient_list *g, uint32_t stage, int64_t ready, int64_t bytes)
{
    g->stage[g->n] = stage;
    g->bytes[g->n] = bytes;
    g->key[g->n] = (struct keyed){ready, g->n};
    g->n++;
}

/* Returns the stage of node n. */
static uint32_t stage_at(const struct gradient_list *g, nid n)
{
    return (uint32_t)g->stage_of[n];
}

/* Fills g->done: each stage runs its backward nodes one after the other. */
static void run_backward(struct gradient_list *g, uint32_t nstage, struct arena *a)
{
    const struct module *m = g->s->m;
    const struct graph *all = &m->graph[1];
    int64_t *now = arena_array(a, (size_t)nstage + 1, sizeof *now);
    for (nid n = all->first; n < all->first + all->count; n++) {
        if (g->s->place->kind[n] != PLACE_NODE || !m->backward[n] ||
            (g->update->own && g->update->own[n]))
            continue;
        int64_t time = m->cost->time[cluster_class(g->s->cluster, (uint32_t)g->dev[n])][n];
        int64_t *t = &now[stage_at(g, n)];
        *t = sat_add(*t, sat_add(time, g->update->own ? g->update->each[n] : 0));
        g->done[n] = *t;
    }
}

/* Adds the gradients of each node of a profile that has parameters: they are ready when the backward node of its layer
 * is done.  The forward and the backward node of a layer have the same colour; of a node without a colour no backward
 * node is known, and its gradients count as ready from the start. */
static void add_layers(struct gradient_list *g, struct arena *a)
{
    const struct module *m = g->s->m;
    const struct graph *all = &m->graph[1];
    int64_t *ready = arena_array(a, (size_t)module_most_color(m) + 1, sizeof *ready);
    for (nid n = all->first; n < all->first + all->count; n++) {
        uint32_t color = m->color ? m->color[n] : 0;
        if (color)
            ready[color] = larger(ready[color], g->done[n]);
    }
    for (nid n = all->first; n < all->first + all->count; n++) {
        int64_t bytes = costs_params(m->cost, n);
        if (g->s->place->kind[n] == PLACE_NODE && bytes > 0)
            add_part(g, stage_at(g, n), m->color ? ready[m->color[n]] : 0, bytes);
    }
}

/* Adds the gradient of each weight of a graph that training changes, in the stage of the first node that reads the
 * weight: ready when all backward nodes that read the weight are done and, if updates are apart, the node that makes
 * the gradient. */
static void add_weights(struct gradient_list *g)
{
    const struct place *p = g->s->place;
    for (uint32_t w = 0; w < p->nweight; w++) {
        int64_t ready = 0;
        for_row (user, p->weight_user, w)
            ready = larger(ready, g->done[user]);
        if (g->update->own)
            ready = larger(ready, g->done[g->update->maker[p->weight[w]]]);
        if (p->weight_user.at[w] < p->weight_user.at[w + 1] && p->weight_bytes[w] > 0 &&
            place_is_parameter(g->s->m, p, w))
            add_part(g, stage_at(g, p->weight_user.to[p->weight_user.at[w]]), ready,
                     p->weight_bytes[w]);
    }
}

struct reduce_parts *reduce_parts_of(const struct scene *s, const int32_t *dev,
                                     const int32_t *stage_of, uint32_t nstage,
                                     const struct update_cost *update, struct arena *a)
{
    struct gradient_list g = {.s = s, .dev = dev, .stage_of = stage_of, .update = update};
    size_t most = (size_t)s->m->nnode + s->place->nweight + 1;
    struct reduce_parts *of = arena_array(a, (size_t)nstage + 1, sizeof *of);
    g.done = arena_array(a, s->m->nnode, sizeof *g.done);
    g.stage = arena_array(a, most, sizeof *g.stage);
    g.bytes = arena_array(a, most, sizeof *g.bytes);
    g.key = arena_array(a, most, sizeof *g.key);
    run_backward(&g, nstage, a);
    if (s->m->ir_version)
        add_weights(&g);
    else
        add_layers(&g, a);
    keyed_sort(g.key, g.n);
    for (uint32_t i = 0; i < g.n; i++)
        of[g.stage[i]].n++;
    for (uint32_t k = 0; k < nstage; k++) {
        of[k].part = arena_array(a, (size_t)of[k].n + 1, sizeof *of[k].part);
        of[k].n = 0;
    }
    for (uint32_t i = 0; i < g.n; i++) {
        struct reduce_parts *to = &of[g.stage[g.key[i].item]];
        to->part[to->n++] = (struct reduce_part){g.key[i].key, g.bytes[g.key[i].item]};
    }
    return of;
}
