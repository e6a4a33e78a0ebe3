/* Finds a longest path and the places of all vertices along it (long_path.h).  Vertices are numbered in a topological
 * order: a pass over the vertices from the last to the first finds a longest path from each vertex, two more passes
 * find lo and hi of all vertices.  O(V + E). */
#include "passes/bounds/long_path.h"

#include "ir/base/random.h"

#include <assert.h>

/* 1 / HOPS of the sum of all weights is added to each vertex's weight, so that of paths with about the same weight the
 * path with the most vertices is the longest */
enum { HOPS = 100000 };

/* Writes the vertex after v on a longest path that starts at v to next[v]; UINT32_MAX: the path ends at v.  Returns the
 * first vertex of the longest of all paths, UINT32_MAX if the graph is empty.  seed: as for long_path_of. */
static uint32_t find_longest(const struct problem *c, uint64_t seed, uint32_t *next,
                             struct arena *a)
{
    const struct wdag *g = c->g;
    const struct problem_pot *p = &c->pot[0];
    int64_t *after = arena_array(a, (size_t)g->n + 1, sizeof *after);
    uint32_t first = g->n ? 0 : UINT32_MAX;
    for (uint32_t v = g->n; v-- > 0;) {
        int64_t w = p->w[v] + p->total / HOPS + 1;
        /* a seed was given: times a random factor from 1 to 3, in steps of 1/8 */
        w = seed ? w + w / 8 * random_below(&seed, 17) : w;
        next[v] = UINT32_MAX;
        for_row (s, g->succ, v)
            if (next[v] == UINT32_MAX || after[s] > after[next[v]])
                next[v] = s;
        after[v] = sat_add(w, next[v] == UINT32_MAX ? 0 : after[next[v]]);
        first = after[v] >= after[first] ? v : first;
    }
    return first;
}

/* Fills lo and hi of all vertices.  Before, lo and hi of the path vertices must be set, and be 0 for all other
 * vertices. */
static void place_others(const struct wdag *g, struct long_path *p)
{
    for (uint32_t v = 0; v < g->n; v++)
        for_row (u, g->pred, v)
            p->lo[v] = larger_u32(p->lo[v], p->lo[u]);
    for (uint32_t v = g->n; v-- > 0;) {
        p->hi[v] = p->hi[v] ? p->hi[v] : p->len + 1;
        for_row (w, g->succ, v)
            p->hi[v] = smaller_u32(p->hi[v], p->hi[w]);
        assert(p->lo[v] <= p->hi[v] && p->hi[v] <= p->len + 1);
    }
}

struct long_path long_path_of(const struct problem *c, uint64_t seed, uint32_t most,
                              struct arena *a)
{
    uint32_t n = c->g->n, *next = arena_array(a, (size_t)n + 1, sizeof *next), all = 0, at = 0;
    struct long_path p = {.vertex = arena_array(a, (size_t)n + 2, sizeof *p.vertex),
                          .lo = arena_array(a, (size_t)n + 1, sizeof *p.lo),
                          .hi = arena_array(a, (size_t)n + 1, sizeof *p.hi)};
    uint32_t first = find_longest(c, seed, next, a);
    for (uint32_t v = first; v != UINT32_MAX; v = next[v])
        all++;
    uint32_t step = all / (most + 1) + 1;
    for (uint32_t v = first; v != UINT32_MAX; v = next[v], at++)
        if (at % step == step / 2) {
            p.lo[v] = p.hi[v] = ++p.len;
            p.vertex[p.len] = v;
        }
    assert(p.len <= n);
    place_others(c->g, &p);
    return p;
}
