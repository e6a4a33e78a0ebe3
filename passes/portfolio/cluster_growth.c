/* Finds a set of nodes that a plan could move together (cluster_growth.h).
 *
 * To move a single node seldom helps: its neighbours stay on their device, and each transfer to them takes time.  So
 * the set grows by the neighbour with the longest transfers to and from the set.  After each step, the time that a
 * move of the set would add to all transfers (a value counts once for each reader) is known; the set with the least
 * such time is chosen. */
#include "passes/portfolio/cluster_growth.h"

#include "ir/base/heap.h"

#include <assert.h>

struct growth growth_new(const struct placement *r, const struct edges *e, uint32_t cls,
                         struct arena *a)
{
    struct growth g = {.placement = r, .edge = e, .cls = cls};
    g.set = arena_array(a, (size_t)r->ngroup + 1, sizeof *g.set);
    g.mark = arena_array(a, (size_t)r->ngroup + 1, sizeof *g.mark);
    g.near = arena_array(a, (size_t)r->ngroup + 1, sizeof *g.near);
    g.pull = arena_array(a, (size_t)r->ngroup + 1, sizeof *g.pull);
    return g;
}

/* Returns the first vertex of a group. */
static uint32_t first_member(const struct growth *g, uint32_t group)
{
    return g->placement->member.to[g->placement->member.at[group]];
}

int32_t growth_home(const struct growth *g, const int32_t *dev, uint32_t group)
{
    return dev[g->placement->base->node[first_member(g, group)]];
}

bool growth_can(const struct growth *g, uint32_t group, uint32_t to)
{
    const struct wdag *base = g->placement->base;
    bool can = g->placement->classes[group] >> g->edge->cls[to] & 1;
    for (uint32_t i = g->placement->member.at[group]; can && i < g->placement->member.at[group + 1];
         i++) {
        int32_t pin = base->pin[g->placement->member.to[i]];
        can = pin < 0 || (uint32_t)pin == to;
    }
    return can;
}

/* Takes note of an edge between the group that has just joined the set and vertex v.  If v's group may join the set,
 * too, puts it into `front`, the heap of such groups, or raises it there.  Returns the change, by this edge, of the
 * set's cost: of the ps that moving the set would add to all transfers together.  dev[node]: the plan; move[0]: the
 * set's device; move[1]: the device to move to; time: ps of the edge's transfer. */
static int64_t note_edge(struct growth *g, const int32_t *dev, const int32_t *move, uint32_t v,
                         int64_t time, struct heap *front)
{
    uint32_t k = g->placement->group[v];
    int32_t home = dev[g->placement->base->node[v]];
    if (g->mark[k] == g->turn)
        return -time;
    if (home != move[0])
        return home == move[1] ? -time : 0;
    if (g->near[k] != g->turn)
        g->pull[k] = 0;
    g->near[k] = g->turn;
    g->pull[k] += time + 1; /* + 1, so that transfers of 0 ps count, too */
    heap_push(front, -g->pull[k], 0, k);
    return time;
}

/* Adds a group to the set, and puts the neighbouring groups that may follow it into `front`.  Returns the change of
 * the set's cost: of the ps that moving the set would add to all transfers together.  dev, move, front: as for
 * note_edge(). */
static int64_t add_group(struct growth *g, const int32_t *dev, const int32_t *move, uint32_t group,
                         struct heap *front)
{
    const struct csr *member = &g->placement->member;
    const struct wdag *base = g->placement->base;
    const int64_t *link = g->edge->link[g->cls];
    int64_t more = 0;
    g->set[g->n++] = group;
    for_row (v, *member, group) {
        for (uint32_t i = base->pred.at[v]; i < base->pred.at[v + 1]; i++)
            if (g->placement->group[base->pred.to[i]] != group)
                more += note_edge(g, dev, move, base->pred.to[i], link[i], front);
        for (uint32_t i = base->succ.at[v]; i < base->succ.at[v + 1]; i++)
            if (g->placement->group[base->succ.to[i]] != group)
                more += note_edge(g, dev, move, base->succ.to[i], link[g->edge->entry[i]], front);
    }
    g->mark[group] = g->turn;
    return more;
}

void growth_grow(struct growth *g, const int32_t *dev, uint32_t seed, uint32_t to, uint32_t most,
                 struct arena *a)
{
    assert(most > 0);
    struct arena *own = arena_new(a);
    struct heap front = {.a = own};
    const int32_t move[2] = {growth_home(g, dev, seed), (int32_t)to};
    uint32_t best = 1;
    g->turn++;
    g->n = 0;
    /* ps that a move of the set adds to all transfers; the least so far */
    int64_t cost = add_group(g, dev, move, seed, &front), least = cost;
    while (g->n < most && front.n) {
        uint32_t k = heap_pop(&front).item;
        if (g->mark[k] == g->turn || !growth_can(g, k, to))
            continue;
        cost += add_group(g, dev, move, k, &front);
        /* a set of up to most / 2 groups always takes the place of the one before; a larger set only if its move
         * costs less */
        if (g->n <= most / 2 || cost < least) {
            least = cost;
            best = g->n;
        }
    }
    g->n = best;
    arena_free(own);
}

void growth_move(const struct growth *g, int32_t *dev, uint32_t to)
{
    const struct csr *member = &g->placement->member;
    for (uint32_t i = 0; i < g->n; i++)
        for_row (x, *member, g->set[i])
            dev[g->placement->base->node[x]] = (int32_t)to;
}
