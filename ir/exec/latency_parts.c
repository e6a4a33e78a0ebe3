/* From a latency's subgraphs to parts (latency_parts.h).
 *
 * A part of a host starts when all that it reads is there and gives its results at its end, as a subgraph does: so only
 * chains of hosts' nodes become one part, in which nothing is read late and nothing comes late, and which ran without a
 * pause, so that no CPU is kept from a node that was more urgent.  The parts are run once more to see. */
#include "ir/exec/latency_parts.h"

#include "ir/base/heap.h"

#include <assert.h>
#include <string.h>

/* Whether host v waits for u only, starts when that ends, u is a host of its class, and nobody else waits for u. */
static bool chains(const struct scene *s, const struct latency_run *r, uint32_t v, uint32_t *u,
                   const uint32_t *readers)
{
    const struct csr *w = &r->g.waits;
    if (!r->k.sub[v].host || w->at[v] == w->at[v + 1])
        return false;
    *u = w->to[w->at[v]];
    for (uint32_t i = w->at[v]; i < w->at[v + 1]; i++)
        if (w->to[i] != *u)
            return false;
    return r->k.sub[*u].host && readers[*u] == 1 &&
           r->t.start[v] == r->t.start[*u] + r->g.task[*u].time &&
           cluster_class(s->cluster, r->k.sub[*u].dev) ==
               cluster_class(s->cluster, r->k.sub[v].dev);
}

/* [subgraph] how many different ones wait for it. */
static uint32_t *count_readers(const struct latency_run *r, struct arena *a)
{
    const struct csr *w = &r->g.waits;
    uint32_t *n = arena_array(a, (size_t)r->k.n + 1, sizeof *n);
    uint32_t *last = arena_array(a, (size_t)r->k.n + 1, sizeof *last); /* 1 + who read it last */
    for (uint32_t v = 0; v < r->k.n; v++)
        for (uint32_t i = w->at[v]; i < w->at[v + 1]; i++)
            if (last[w->to[i]] != v + 1) {
                last[w->to[i]] = v + 1;
                n[w->to[i]]++;
            }
    return n;
}

/* The first of the chain that v is in.  to[v]: the one before it, or itself.  O(chain), once for each. */
static uint32_t chain_head(uint32_t *to, uint32_t v)
{
    uint32_t head = v;
    while (to[head] != head)
        head = to[head];
    while (to[v] != head) {
        uint32_t next = to[v];
        to[v] = head;
        v = next;
    }
    return head;
}

/* The subgraphs with chains of hosts' nodes as one; k.n is the same if there are none. */
static struct subgraphs join_chains(const struct scene *s, const struct latency_run *r,
                                    struct arena *a)
{
    struct subgraphs k = {.slotted = r->k.slotted};
    const uint32_t *readers = count_readers(r, a);
    uint32_t *to = arena_array(a, (size_t)r->k.n + 1, sizeof *to);
    uint32_t *now = arena_array(a, (size_t)r->k.n + 1, sizeof *now), u = 0;
    k.sub = arena_array(a, (size_t)r->k.n + 1, sizeof *k.sub);
    k.of = arena_array(a, s->m->nnode, sizeof *k.of);
    for (uint32_t v = 0; v < r->k.n; v++)
        to[v] = chains(s, r, v, &u, readers) ? u : v;
    for (uint32_t v = 0; v < r->k.n; v++)
        if (chain_head(to, v) == v) {
            now[v] = k.n;
            k.sub[k.n++] = r->k.sub[v];
        }
    for (uint32_t v = 0; v < r->k.n; v++)
        if (to[v] != v)
            k.sub[now[to[v]]].nnode += r->k.sub[v].nnode;
    for (nid n = 0; n < s->m->nnode; n++)
        k.of[n] = r->k.of[n] == NO_SUBGRAPH ? NO_SUBGRAPH : now[to[r->k.of[n]]];
    return k;
}

/* [subgraph] its place by start, after all that it waits for. */
static uint32_t *places_by_start(const struct latency_run *r, struct arena *a)
{
    const struct task_graph *g = &r->g;
    uint32_t *place = arena_array(a, (size_t)r->k.n + 1, sizeof *place), n = 0;
    uint32_t *left = arena_array(a, (size_t)r->k.n + 1, sizeof *left);
    struct csr after = csr_transpose(a, &g->waits, r->k.n, r->k.n);
    struct heap ready = {.a = a};
    for (uint32_t v = 0; v < r->k.n; v++) {
        left[v] = g->waits.at[v + 1] - g->waits.at[v];
        if (!left[v])
            heap_push(&ready, r->t.start[v], r->k.sub[v].slot, v);
    }
    while (ready.n) {
        uint32_t v = heap_pop(&ready).item;
        place[v] = n++;
        for (uint32_t i = after.at[v]; i < after.at[v + 1]; i++)
            if (--left[after.to[i]] == 0)
                heap_push(&ready, r->t.start[after.to[i]], r->k.sub[after.to[i]].slot, after.to[i]);
    }
    assert(n == r->k.n);
    return place;
}

struct parts *latency_parts(const struct scene *s, const struct latency_run *r, int64_t *value,
                            uint32_t **slot, struct arena *a)
{
    struct arena *own = arena_new(a);
    struct subgraphs joined = join_chains(s, r, own);
    struct latency_run chained;
    *value = r->t.end;
    if (joined.n < r->k.n) {
        chained = latency_run_subgraphs(s, &joined, own);
        r = chained.t.status == RUN_DONE && chained.t.end == r->t.end ? &chained : r;
    }
    const uint32_t *place = places_by_start(r, own), *on = latency_devices(s, r, own);
    struct pieces k = {.n = r->k.n, .piece = arena_array(a, s->m->nnode, sizeof *k.piece)};
    k.dev = arena_array(a, (size_t)k.n + 1, sizeof *k.dev);
    *slot = arena_array(a, (size_t)k.n + 1, sizeof **slot);
    for (nid n = 0; n < s->m->nnode; n++)
        if (r->k.of[n] != NO_SUBGRAPH)
            k.piece[n] = place[r->k.of[n]];
    for (uint32_t v = 0; v < r->k.n; v++) {
        k.dev[place[v]] = (int32_t)on[v];
        (*slot)[place[v]] = r->k.sub[v].slot;
    }
    arena_free(own);
    return parts_of_pieces(s, &k, a);
}
