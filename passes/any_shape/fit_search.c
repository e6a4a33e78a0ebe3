/* Finds out whether the vertices of a problem fit the memory of its devices at all (fit_search.h).
 *
 * Bin packing with bins of several sizes and items that share bytes, by depth-first search.  Vertices that may go to
 * the fewest devices are placed first, and among equals the vertices with most bytes.  Each vertex is tried on the
 * device where it adds the fewest bytes, then on the other devices.  Empty devices of one kind are alike, so only
 * the first empty one is tried.  A branch ends where the bytes of the vertices still to be placed, shared items
 * left out, are more than all devices have left.  The first descent is "best fit decreasing", which finds a plan
 * nearly always where there is one; small instances are searched whole.
 *
 * Cost: O(devices * shared items of a vertex) for each step; memory O(V + shared items * devices). */
#include "passes/any_shape/fit_search.h"

#include <assert.h>
#include <stdlib.h>

enum { LOOK = 1024 }; /* steps between two looks at the clock */

/* A vertex to be placed. */
struct item {
    uint32_t v;
    uint32_t choices; /* number of devices that the vertex may be on */
    int64_t bytes;    /* bytes of the vertex with all of its shared items */
};

/* A search; depth d of the search places the vertex item[d].v. */
struct fit_search {
    const struct problem *c;
    struct loads l;
    struct item *item; /* [depth] the vertices, hardest first */
    uint32_t *first;   /* [depth] the device that was tried first */
    /* [depth] number of devices tried: devices are tried in a circle, from first[depth] on */
    uint32_t *tried;
    uint32_t *count; /* [device] number of vertices on the device */
    int64_t left;    /* bytes of the vertices still to be placed, without shared items */
    int64_t total; /* bytes of memory of all devices; LOAD_INF or more: some device has no limit */
};

/* Compares two items for qsort(): fewest choices first, then most bytes, then by number. */
static int hardest_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->choices != y->choices)
        return x->choices < y->choices ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

/* Makes the tables of the search: the vertices, hardest first, and the sums of bytes. */
static void search_begin(struct fit_search *f, struct arena *a)
{
    const struct wdag *g = f->c->g;
    f->item = arena_array(a, (size_t)g->n + 1, sizeof *f->item);
    f->first = arena_array(a, (size_t)g->n + 1, sizeof *f->first);
    f->tried = arena_array(a, (size_t)g->n + 1, sizeof *f->tried);
    f->count = arena_array(a, (size_t)f->l.ndev + 1, sizeof *f->count);
    for (uint32_t v = 0; v < g->n; v++) {
        struct item *i = &f->item[v];
        *i = (struct item){.v = v, .bytes = vertex_bytes(g, v)};
        f->left = sat_add(f->left, g->size[v]);
        for (uint32_t d = 0; d < f->l.ndev; d++)
            i->choices += loads_allows(&f->l, v, d);
    }
    for (uint32_t d = 0; d < f->l.ndev; d++)
        f->total = sat_add(f->total, f->c->kind[f->l.kind[d]].memory);
    qsort(f->item, g->n, sizeof *f->item, hardest_first);
}

/* Puts v, which has no device, on device d. */
static void put_vertex(struct fit_search *f, uint32_t v, uint32_t d)
{
    assert(f->l.dev[v] == NOWHERE);
    loads_move(&f->l, v, (int32_t)d);
    f->count[d]++;
    f->left -= f->c->g->size[v];
}

/* Takes vertex v off the device that it is on. */
static void remove_vertex(struct fit_search *f, uint32_t v)
{
    assert(f->l.dev[v] != NOWHERE && f->count[f->l.dev[v]] > 0);
    f->count[f->l.dev[v]]--;
    loads_move(&f->l, v, NOWHERE);
    f->left += f->c->g->size[v];
}

/* Returns whether the vertices still to be placed take no more bytes than all devices have left. */
static bool rest_may_fit(const struct fit_search *f)
{
    int64_t used = 0;
    for (uint32_t d = 0; d < f->l.ndev; d++)
        used += f->l.bytes[d];
    return f->total >= LOAD_INF || f->left <= f->total - used;
}

/* Puts v on device d.  Returns false, and changes nothing, if v may not be there, does not fit, leaves too little
 * memory for the other vertices, or an earlier empty device of the same kind would be the same choice. */
static bool try_device(struct fit_search *f, uint32_t v, uint32_t d)
{
    if (!loads_allows(&f->l, v, d))
        return false;
    for (uint32_t e = 0; !f->count[d] && e < d; e++)
        if (!f->count[e] && f->l.kind[e] == f->l.kind[d])
            return false;
    put_vertex(f, v, d);
    if (!loads_excess(&f->l, d) && rest_may_fit(f))
        return true;
    remove_vertex(f, v);
    return false;
}

/* Returns the device on which v adds the least bytes, among the devices that allow v; devices where v does not fit
 * come last. */
static uint32_t best_device(struct fit_search *f, uint32_t v)
{
    uint32_t best = 0;
    int64_t least = INT64_MAX;
    for (uint32_t d = 0; d < f->l.ndev; d++) {
        if (!loads_allows(&f->l, v, d))
            continue;
        int64_t before = f->l.bytes[d];
        loads_move(&f->l, v, (int32_t)d);
        int64_t more = f->l.bytes[d] - before, over = loads_excess(&f->l, d);
        loads_move(&f->l, v, NOWHERE);
        more = over ? INT64_MAX - 1 : more;
        if (more < least) {
            least = more;
            best = d;
        }
    }
    return best;
}

/* Runs the search: places one vertex after the other, and goes back where a vertex fits no device that is left to try.
 * Returns FIT_FOUND; FIT_NONE: there is no plan; FIT_UNKNOWN: work or time ran out. */
static enum fit descend(struct fit_search *f, uint64_t work, struct clock *clock)
{
    uint32_t n = f->c->g->n, depth = 0, ndev = f->l.ndev;
    bool fresh = true; /* the vertex at `depth` has tried no device yet */
    for (uint64_t steps = 0; depth < n; steps++) {
        uint32_t v = f->item[depth].v;
        if (steps > work || (steps % LOOK == LOOK - 1 && clock_out(clock)))
            return FIT_UNKNOWN;
        if (fresh) {
            f->first[depth] = best_device(f, v);
            f->tried[depth] = 0;
        }
        bool done = false;
        while (!done && f->tried[depth] < ndev)
            done = try_device(f, v, (f->first[depth] + f->tried[depth]++) % ndev);
        fresh = done;
        if (done)
            depth++;
        else if (depth == 0)
            return FIT_NONE;
        else
            remove_vertex(f, f->item[--depth].v);
    }
    return FIT_FOUND;
}

enum fit fit_search(const struct problem *c, uint64_t work, struct clock *clock, int32_t *dev,
                    struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct fit_search f = {.c = c};
    struct diag quiet = diag_silent();
    enum fit answer = FIT_UNKNOWN;
    if (!loads_new(&f.l, c, /*planner=*/"", scratch, &quiet)) {
        search_begin(&f, scratch);
        answer = descend(&f, work, clock);
    }
    for (uint32_t v = 0; answer == FIT_FOUND && v < c->g->n; v++)
        dev[v] = f.l.dev[v];
    arena_release(scratch, mark);
    return answer;
}
