/* A plan cut into subgraphs (subgraphs.h).
 *
 * Without slots: the level of a node is how often a way to it has come into the accelerator's set of nodes, and the
 * nodes of the set that have one level are a subgraph (placement paper's evaluator).  A set that no way leaves and
 * comes back to is one; the slots of one accelerator's are their levels.  Nodes that must be in one part (atoms.h) are
 * in the subgraph of the first of them, hosts' nodes as well. */
#include "ir/plan/subgraphs.h"

#include "ir/base/map.h"
#include "ir/plan/order.h"

#include <string.h>

struct slot_build {
    const struct scene *s;
    const int32_t *dev;
    uint32_t *slot; /* [node] */
    struct arena *a;
};

static bool is_placed(const struct slot_build *c, nid n)
{
    return c->s->place->kind[n] == PLACE_NODE;
}

static bool on_host(const struct slot_build *c, nid n)
{
    return c->s->cluster->cls[cluster_class(c->s->cluster, (uint32_t)c->dev[n])].host;
}

/* Levels of accelerator d's nodes into slot[].  level: scratch. */
static void cut_levels(const struct slot_build *c, uint32_t d, const struct csr *readers,
                       uint32_t *level)
{
    const struct graph *g = &c->s->m->graph[1];
    memset(level, 0, c->s->m->nnode * sizeof *level);
    for (nid n = g->first; n < g->first + g->count; n++) { /* a topological order */
        if (!is_placed(c, n))
            continue;
        bool inside = c->dev[n] == (int32_t)d;
        if (inside && !level[n])
            level[n] = 1;
        if (inside)
            c->slot[n] = level[n];
        for_row (to, *readers, n) {
            uint32_t here = level[n] + (!inside && c->dev[to] == (int32_t)d);
            level[to] = larger_u32(here, level[to]);
        }
    }
}

/* Slots of a plan that has none. */
static void make_levels(const struct slot_build *c)
{
    const struct cluster *k = c->s->cluster;
    const struct graph *g = &c->s->m->graph[1];
    struct arena *own = arena_new(c->a);
    struct csr readers = plan_followers(c->s, c->dev, NULL, 0, own);
    uint32_t *level = arena_array(own, c->s->m->nnode, sizeof *level);
    uint8_t *used = arena_alloc(own, (size_t)k->ndev + 1);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (is_placed(c, n))
            used[c->dev[n]] = 1;
    for (uint32_t d = 0; d < k->ndev; d++)
        if (used[d] && !k->cls[cluster_class(k, d)].host)
            cut_levels(c, d, &readers, level);
    arena_free(own);
}

static nid atom_of(const struct slot_build *c, nid n)
{
    return c->s->place->atom && c->s->place->atom[n] ? c->s->place->atom[n] : n;
}

/* What tells the subgraphs apart: accelerator, slot and pass; of a host the node (or its atom). */
static uint64_t key_of(const struct slot_build *c, nid n, bool slotted)
{
    nid atom = atom_of(c, n);
    if (on_host(c, n))
        return (uint64_t)atom << 1 | 1;
    bool back = slotted && c->s->m->backward && c->s->m->backward[n];
    uint64_t slot = slotted ? c->slot[n] : c->slot[atom];
    return ((uint64_t)(uint32_t)c->dev[n] << 34 | slot << 2 | (uint64_t)back << 1) + (1ULL << 62);
}

struct subgraphs subgraphs_of(const struct scene *s, const int32_t *dev, const uint32_t *slot,
                              struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    struct subgraphs k = {.slotted = slot != NULL};
    struct slot_build c = {s, dev, arena_array(a, s->m->nnode, sizeof *c.slot), a};
    struct map seen = {0};
    k.of = arena_array(a, s->m->nnode, sizeof *k.of);
    memset(k.of, 0xff, s->m->nnode * sizeof *k.of);
    k.sub = arena_array(a, (size_t)g->count + 1, sizeof *k.sub);
    if (slot)
        memcpy(c.slot, slot, s->m->nnode * sizeof *c.slot);
    else
        make_levels(&c);
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (!is_placed(&c, n))
            continue;
        uint64_t key = key_of(&c, n, k.slotted);
        uint32_t at = map_get(&seen, key);
        if (!at) {
            bool host = on_host(&c, n), back = k.slotted && s->m->backward && s->m->backward[n];
            k.sub[k.n++] =
                (struct subgraph){(uint32_t)dev[n], host ? 0 : c.slot[n], host, back, n, 0};
            map_set(&seen, a, key, at = k.n);
        }
        k.of[n] = at - 1;
        k.sub[at - 1].nnode++;
    }
    return k;
}
