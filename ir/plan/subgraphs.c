/* Divides a plan into subgraphs (subgraphs.h).
 *
 * Without slots: for an accelerator, the level of a node is the largest number of times that a path to the node enters
 * the accelerator's set of nodes. The nodes of the set with one level are a subgraph, and the level is its slot (as in
 * the placement paper's evaluator). So a set that no path leaves and enters again is one subgraph. Nodes of an atom
 * (atoms.h) must be in one part: they are in the subgraph of the first of them, on hosts, too. */
#include "ir/plan/subgraphs.h"

#include "ir/base/map.h"
#include "ir/plan/order.h"

#include <assert.h>
#include <string.h>

/* State of finding the slots of nodes. */
struct slot_build {
    const struct scene *s;
    const int32_t *dev; /* [node] device */
    uint32_t *slot;     /* [node] slot: the plan's own, or the level */
    struct arena *a;
};

/* Whether node n needs a device (PLACE_NODE). */
static bool is_placed(const struct slot_build *c, nid n)
{
    return c->s->place->kind[n] == PLACE_NODE;
}

/* Whether node n is on a device of the host. */
static bool is_on_host(const struct slot_build *c, nid n)
{
    return c->s->cluster->cls[cluster_class(c->s->cluster, (uint32_t)c->dev[n])].host;
}

/* A set of nodes: all nodes on accelerator `dev`, or its nodes of one training pass. */
struct node_set {
    uint32_t dev;
    enum { BOTH_PASSES, FORWARD_PASS, BACKWARD_PASS } pass;
};

/* Whether node n is in the set. */
static bool is_inside(const struct slot_build *c, struct node_set set, nid n)
{
    const uint8_t *back = c->s->m->backward;
    return c->dev[n] == (int32_t)set.dev &&
           (set.pass == BOTH_PASSES || (back && back[n]) == (set.pass == BACKWARD_PASS));
}

/* Writes the levels of the set's nodes to slot[], and returns the highest.  readers: node -> placed readers of its
 * results.  level: [node] scratch. */
static uint32_t find_levels(const struct slot_build *c, struct node_set set,
                            const struct csr *readers, uint32_t *level)
{
    const struct graph *g = &c->s->m->graph[1];
    uint32_t most = 0;
    memset(level, 0, c->s->m->nnode * sizeof *level);
    for (nid n = g->first; n < g->first + g->count; n++) { /* nodes are in topological order */
        if (!is_placed(c, n))
            continue;
        bool inside = is_inside(c, set, n);
        if (inside) {
            level[n] = larger_u32(level[n], 1); /* a path that begins at n enters the set, too */
            c->slot[n] = level[n];
            most = larger_u32(most, level[n]);
        }
        for_row (to, *readers, n) {
            uint32_t here = level[n] + (!inside && is_inside(c, set, to));
            level[to] = larger_u32(here, level[to]);
        }
    }
    return most;
}

/* Writes the levels of all accelerators' nodes to slot[], for a plan without slots. */
static void find_all_levels(const struct slot_build *c)
{
    const struct cluster *k = c->s->cluster;
    const struct graph *g = &c->s->m->graph[1];
    struct arena *own = arena_new(c->a);
    struct csr readers = plan_followers(c->s, c->dev, /*order=*/NULL, /*n=*/0, own);
    uint32_t *level = arena_array(own, c->s->m->nnode, sizeof *level);
    uint8_t *used = arena_alloc(own, (size_t)k->ndev + 1);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (is_placed(c, n))
            used[c->dev[n]] = 1;
    for (uint32_t d = 0; d < k->ndev; d++)
        if (used[d] && !k->cls[cluster_class(k, d)].host)
            find_levels(c, (struct node_set){d, BOTH_PASSES}, &readers, level);
    arena_free(own);
}

/* Returns the first node of n's atom; n itself if it is in no atom. */
static nid atom_of(const struct slot_build *c, nid n)
{
    return c->s->place->atom && c->s->place->atom[n] ? c->s->place->atom[n] : n;
}

/* Returns a number that is equal for two nodes if and only if they are in one subgraph.  On an accelerator it is made
 * of device, slot and, if the plan has slots (slotted), pass; on a host, of the node's atom. */
static uint64_t key_of(const struct slot_build *c, nid n, bool slotted)
{
    nid atom = atom_of(c, n);
    if (is_on_host(c, n))
        return (uint64_t)atom << 1 | 1;
    bool back = slotted && c->s->m->backward && c->s->m->backward[n];
    uint64_t slot = slotted ? c->slot[n] : c->slot[atom];
    /* bit 0 is clear, unlike in keys of hosts; bit 62 keeps the key from being 0, which maps cannot hold */
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
    memset(k.of, 0xff, s->m->nnode * sizeof *k.of); /* NO_SUBGRAPH */
    k.sub = arena_array(a, (size_t)g->count + 1, sizeof *k.sub);
    if (slot)
        memcpy(c.slot, slot, s->m->nnode * sizeof *c.slot);
    else
        find_all_levels(&c);
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (!is_placed(&c, n))
            continue;
        uint64_t key = key_of(&c, n, k.slotted);
        uint32_t at = map_get(&seen, key);
        if (!at) {
            bool host = is_on_host(&c, n), back = k.slotted && s->m->backward && s->m->backward[n];
            k.sub[k.n++] =
                (struct subgraph){(uint32_t)dev[n], host ? 0 : c.slot[n], host, back, n, 0};
            at = k.n;
            map_set(&seen, a, key, at);
        }
        k.of[n] = at - 1;
        k.sub[at - 1].nnode++;
    }
    return k;
}

bool subgraphs_by_pass(const struct scene *s, const int32_t *dev, uint32_t d, struct arena *a)
{
    assert(d < s->cluster->ndev);
    struct arena *own = arena_new(a);
    uint32_t *slot = arena_array(own, s->m->nnode, sizeof *slot);
    uint32_t *level = arena_array(own, s->m->nnode, sizeof *level);
    const struct slot_build c = {s, dev, slot, own};
    struct csr readers = plan_followers(s, dev, /*order=*/NULL, /*n=*/0, own);
    bool whole = find_levels(&c, (struct node_set){d, FORWARD_PASS}, &readers, level) <= 1 &&
                 find_levels(&c, (struct node_set){d, BACKWARD_PASS}, &readers, level) <= 1;
    arena_free(own);
    return whole;
}
