/* Better plans near a given one (dp_near.h).
 *
 * A plan's neighbourhood: take a topological order that keeps the vertices of each device together.  `width`
 * vertices on each side of each border between devices stay as they are; all others of a device are merged to one
 * vertex (an interval of a topological order can be merged without making a cycle).  The merged graph has few
 * ideals, so the exact search (ideal_both_ends.h) finds its best plan, over all ways to divide the vertices near the
 * borders, not only cuts of one order.
 *
 * After a success the next search asks for a gain as large again, later ones for a quarter of it each time, at last
 * for any gain, so that a plan does not creep down in small steps.  Each search has another order; the width doubles
 * when a search ended without a better plan, and halves when it did not end.  Large-neighbourhood search, with the
 * dynamic program as the search inside it.
 *
 * Cost: O(pins log pins) for a neighbourhood, and the steps allowed. */
#include "passes/contiguous/dp_near.h"

#include "ir/base/random.h"
#include "passes/contiguous/ideal_both_ends.h"
#include "passes/contiguous/interval_dp.h"
#include "ir/dag/topo_order.h"

enum { WIDTH_FIRST = 4, STATES = 1 << 20, BYTES = 1 << 23, LITTLE = 20000 };

/* Writes group[vertex], its vertex in the merged graph; returns how many there are. */
static uint32_t group_vertices(const uint32_t *order, const int32_t *dev, uint32_t n,
                               uint32_t width, uint32_t *group)
{
    uint32_t count = 0;
    for (uint32_t start = 0, end; start < n; start = end) {
        for (end = start; end < n && dev[order[end]] == dev[order[start]];)
            end++;
        /* the first device has no border before it, the last none behind it */
        uint32_t lo = start ? start + width : 0, hi = end < n ? end : end + width;
        hi = hi < width ? 0 : hi - width;
        for (uint32_t i = start; i < end; i++) {
            bool inside = i > lo && i < hi; /* merged with the vertex before */
            count += !inside;
            group[order[i]] = count - 1;
        }
    }
    return count;
}

static enum topo_kind kind_of(uint32_t i)
{
    static const enum topo_kind kinds[] = {TOPO_FIFO, TOPO_THIN, TOPO_LIFO, TOPO_LATE, TOPO_RANDOM};
    return kinds[i % (sizeof kinds / sizeof *kinds)];
}

/* Searches c, the problem of the merged graph, for something better than *best, a plan for the vertices of the level
 * below it. */
static bool search_level(const struct problem *c, struct near_run *r, uint64_t steps,
                         struct problem_plan *best, struct arena *a)
{
    const struct wdag *level = c->g;
    int64_t limit = best->value - 1 - r->better, before = best->value;
    struct both *b = both_new(c, limit, limit, STATES, BYTES);
    struct problem_plan found = *best;
    enum search_end end = both_go(b, steps);
    found.dev = arena_array(a, (size_t)level->n + 1, sizeof *found.dev);
    bool better = both_take(b, &found);
    for (uint32_t v = 0; better && v < level->finer->n; v++)
        best->dev[v] = found.dev[level->map[v]];
    best->value = found.value;
    r->spent += both_steps(b);
    if (end != SEARCH_DONE)
        r->width = r->width > 1 ? r->width / 2 : 1;
    else if (!better && r->better == 0)
        r->width *= 2;
    r->better = better ? before - best->value : r->better / 4 < before / LITTLE ? 0 : r->better / 4;
    both_free(b);
    return better;
}

bool near_next(const struct problem *c, struct near_run *r, uint64_t steps,
               struct problem_plan *best, struct arena *scratch, struct diag *d)
{
    struct arena_mark mark = arena_mark(scratch);
    uint32_t n = c->g->n;
    r->width = r->width ? r->width : WIDTH_FIRST;
    uint64_t seed = r->seed + r->tried;
    const uint32_t *order =
        interval_gather(c, topo_order(c->g, kind_of(r->tried), random_bits(&seed) | 1, scratch),
                        best->dev, scratch);
    /* one device has all vertices: no border exists */
    if (n == 0 || best->dev[order[0]] == best->dev[order[n - 1]]) {
        r->spent += steps;
        arena_release(scratch, mark);
        return false;
    }
    uint32_t *group = arena_array(scratch, (size_t)n + 1, sizeof *group);
    uint32_t count = group_vertices(order, best->dev, n, r->width, group);
    /* a copy of the level: the merged level must not depend on the levels below */
    struct wdag fine = *c->g;
    struct wdag *level = wdag_merge(&fine, group, count, "near", scratch, d);
    struct problem *small = level ? problem_build_like(level, c, scratch, d) : NULL;
    bool better = small && search_level(small, r, steps, best, scratch);
    r->tried++;
    r->spent += c->g->n / 16;
    arena_release(scratch, mark);
    return better;
}
