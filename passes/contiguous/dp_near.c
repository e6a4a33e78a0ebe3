/* Searches for better plans near a given one (dp_near.h).
 *
 * The neighbourhood of a plan: take a topological order that keeps the vertices of each device together.  The `width`
 * vertices on each side of each border between two devices stay single vertices; all others of a device are merged to
 * one vertex (an interval of a topological order can be merged without making a cycle).  The merged graph has few
 * ideals, so the exact search (ideal_both_ends.h) finds its best plan, over all ways to divide the vertices near the
 * borders, not only over cuts of one order.
 *
 * After a success the next search asks for a gain as large again, later ones for a quarter of it each time, and at
 * last for any gain, so that the plan does not improve in many small steps.  Each search has another order; the width
 * doubles when a search for any gain ended without a better plan, and halves when a search was stopped before its
 * end.  This is large-neighbourhood search, with the dynamic program as the search inside it.
 *
 * Cost: O(pins log pins) for a neighbourhood, and the steps allowed. */
#include "passes/contiguous/dp_near.h"

#include "ir/base/random.h"
#include "passes/contiguous/ideal_both_ends.h"
#include "passes/contiguous/interval_dp.h"
#include "ir/dag/topo_order.h"

enum {
    WIDTH_FIRST = 4,  /* the first width */
    STATES = 1 << 20, /* ideals that the exact search may keep at each end */
    BYTES = 1 << 23,  /* bytes of memory that it may take at each end */
    PER_STEP = 16,    /* vertices that are put into a neighbourhood in the time of a step */
    /* the gain that a search asks for becomes "any gain" when it is below 1 / LITTLE of the plan's value */
    LITTLE = 20000
};

/* Merges vertices as the head of this file says: writes to group[v] which vertex of the merged graph vertex v becomes
 * part of, and returns the number of vertices of the merged graph.  order: all n vertices in a topological order in
 * which those of one device stand together; dev[v]: the device of v in the plan; width: as in the head of this file. */
static uint32_t group_vertices(const uint32_t *order, const int32_t *dev, uint32_t n,
                               uint32_t width, uint32_t *group)
{
    uint32_t count = 0;
    for (uint32_t start = 0, end; start < n; start = end) {
        end = start;
        while (end < n && dev[order[end]] == dev[order[start]])
            end++;
        /* positions lo .. hi - 1 are merged; there is no border before the first device, nor behind the last one */
        uint32_t lo = start ? start + width : 0, hi = end < n ? end : end + width;
        hi = hi < width ? 0 : hi - width;
        for (uint32_t i = start; i < end; i++) {
            bool inside = i > lo && i < hi; /* merged with the vertex at i - 1 */
            count += !inside;
            group[order[i]] = count - 1;
        }
    }
    return count;
}

/* Returns the kind of the topological order that search number i uses. */
static enum topo_kind order_kind(uint32_t i)
{
    static const enum topo_kind kinds[] = {TOPO_FIFO, TOPO_THIN, TOPO_LIFO, TOPO_LATE, TOPO_RANDOM};
    return kinds[i % (sizeof kinds / sizeof *kinds)];
}

/* Searches c, the problem of the merged graph, for about `steps` steps, which are added to r->spent.  *best is a plan
 * for the vertices of the finer level: a better plan is written to it.  Sets r->width and r->min_gain for the next
 * search.  Returns whether the plan improved. */
static bool search_merged(const struct problem *c, struct near_run *r, uint64_t steps,
                          struct problem_plan *best, struct arena *a)
{
    const struct wdag *level = c->g;
    int64_t limit = best->value - 1 - r->min_gain, before = best->value;
    /* the floor is the limit, too: the first plan with the gain asked for is good enough */
    struct both *b = both_new(c, limit, limit, STATES, BYTES);
    struct problem_plan found = *best; /* shares best->copies, to which both_take() writes */
    enum search_end end = both_go(b, steps);
    found.dev = arena_array(a, (size_t)level->n + 1, sizeof *found.dev);
    bool better = both_take(b, &found);
    for (uint32_t v = 0; better && v < level->finer->n; v++)
        best->dev[v] = found.dev[level->map[v]];
    best->value = found.value;
    r->spent += both_steps(b);
    if (end != SEARCH_DONE)
        r->width = r->width > 1 ? r->width / 2 : 1;
    else if (!better && r->min_gain == 0)
        r->width *= 2;
    if (better)
        r->min_gain = before - best->value;
    else
        r->min_gain = r->min_gain / 4 < before / LITTLE ? 0 : r->min_gain / 4;
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
    /* | 1: the seed of topo_order() must not be 0, by which ties would go by number */
    const uint32_t *order =
        interval_gather(c, topo_order(c->g, order_kind(r->tried), random_bits(&seed) | 1, scratch),
                        best->dev, scratch);
    /* one device has all vertices, so there is no border whose neighbourhood could be searched */
    if (n == 0 || best->dev[order[0]] == best->dev[order[n - 1]]) {
        r->spent += steps;
        arena_release(scratch, mark);
        return false;
    }
    uint32_t *group = arena_array(scratch, (size_t)n + 1, sizeof *group);
    uint32_t count = group_vertices(order, best->dev, n, r->width, group);
    /* wdag_merge() keeps a pointer to the level that it merges, and c's is const: it gets a copy of the struct */
    struct wdag fine = *c->g;
    struct wdag *level = wdag_merge(&fine, group, count, "near", scratch, d);
    struct problem *small = level ? problem_build_like(level, c, scratch, d) : NULL;
    bool better = small && search_merged(small, r, steps, best, scratch);
    r->tried++;
    r->spent += n / PER_STEP; /* making the neighbourhood counts as steps */
    arena_release(scratch, mark);
    return better;
}
