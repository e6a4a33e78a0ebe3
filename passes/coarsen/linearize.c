/* linearize: puts the vertices in a row, so that devices can only take stretches of it.
 *
 * Source: the placement paper, 5.1.2.  Pushes a level with the vertices of the top level, numbered by a topological
 * order, and with the edges of the path v_0 -> v_1 -> ... added, so that its ideals are the prefixes of the order;
 * dp-place on this level is the paper's DPL. The added edges have no transfers and cost nothing.  O(E + V log V +
 * pins). */
#include "passes/passes.h"

#include "ir/dag/topo_order.h"

#include <assert.h>
#include <stdlib.h>

/* Options: an enum topo_kind (topo_order.h), and the seed for ties (0: ties by vertex number). */
struct linearize_options {
    int64_t order, seed;
};

static const struct opt linearize_opts[] = {
    {OPT_CHOICE, "order", offsetof(struct linearize_options, order), "lifo",
     .names = topo_names + 1, .help = "kind of topological order"},
    {OPT_INT, "seed", offsetof(struct linearize_options, seed), "0", .lo = "0", .hi = "1000000000",
     .help = "seed of the ties; 0: by number"},
    {0}};

/* Returns `rows` rows, in a: row i is row from[i] of c (from NULL: row i), with each entry e renamed to entry[e] and
 * the row sorted (entry NULL: a plain copy). */
static struct csr rename_rows(const struct csr *c, uint32_t rows, const uint32_t *from,
                              const uint32_t *entry, struct arena *a)
{
    struct csr r = {arena_array(a, (size_t)rows + 1, sizeof(uint32_t)),
                    arena_array(a, (size_t)c->at[rows] + 1, sizeof(uint32_t))};
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = from ? from[i] : i, start = n;
        for_row (x, *c, row)
            r.to[n++] = entry ? entry[x] : x;
        if (entry)
            qsort(r.to + start, n - start, sizeof *r.to, by_u32);
        r.at[i + 1] = n;
    }
    return r;
}

/* Returns succ (dir = 1) or pred (dir = -1) of the new level: the edges of c, succ or pred of the old level, and the
 * edges of the path.  order: position -> vertex of the old level; pos: its inverse. */
static struct csr path_edges(const struct csr *c, uint32_t n, const uint32_t *order,
                             const uint32_t *pos, int dir, struct arena *a)
{
    struct csr r = {arena_array(a, (size_t)n + 1, sizeof(uint32_t)),
                    arena_array(a, (size_t)c->at[n] + n + 1, sizeof(uint32_t))};
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = order[i], start = m, next = dir > 0 ? i + 1 : i - 1;
        /* whether the edge of the path at v need not be added: v has this edge already, or the path ends at v */
        bool there = dir > 0 ? next >= n : i == 0;
        for_row (x, *c, v) {
            r.to[m++] = pos[x];
            there = there || pos[x] == next;
        }
        if (!there)
            r.to[m++] = next;
        qsort(r.to + start, m - start, sizeof *r.to, by_u32);
        r.at[i + 1] = m;
    }
    return r;
}

/* Returns x, [vertex of the old level], by position: x[order[0]], x[order[1]], ..., in a; NULL if x is NULL. */
static int64_t *by_position(const int64_t *x, const uint32_t *order, uint32_t n, struct arena *a)
{
    int64_t *r = x != NULL ? arena_array(a, (size_t)n + 1, sizeof *r) : NULL;
    for (uint32_t i = 0; r != NULL && i < n; i++)
        r[i] = x[order[i]];
    return r;
}

/* Returns by_position() of each x[class], in a; NULL if x is NULL. */
static int64_t **classes_by_position(int64_t *const *x, uint32_t ncls, const uint32_t *order,
                                     uint32_t n, struct arena *a)
{
    int64_t **r = x != NULL ? arena_array(a, ncls, sizeof *r) : NULL;
    for (uint32_t k = 0; r != NULL && k < ncls; k++)
        r[k] = by_position(x[k], order, n, a);
    return r;
}

/* Returns the new level, in a; order: position -> vertex of `fine`. */
static struct wdag *make_path_level(struct wdag *fine, const uint32_t *order, struct arena *a)
{
    struct wdag *g = arena_alloc(a, sizeof *g);
    uint32_t n = fine->n, *pos = arena_array(a, (size_t)n + 1, sizeof *pos);
    for (uint32_t i = 0; i < n; i++) {
        assert(order[i] < n);
        pos[order[i]] = i;
    }
    *g = *fine; /* costs of nets and shared items stay; all that goes by vertices is made anew */
    g->mem = a;
    g->node = NULL;
    g->vertex = NULL;
    g->finer = fine;
    g->map = pos;
    g->maker = "linearize";
    g->size = by_position(fine->size, order, n, a);
    g->param = by_position(fine->param, order, n, a);
    g->runs = by_position(fine->runs, order, n, a);
    g->time = classes_by_position(fine->time, g->ncls, order, n, a);
    g->back = classes_by_position(fine->back, g->ncls, order, n, a);
    g->pin = arena_array(a, (size_t)n + 1, sizeof *g->pin);
    g->pass = fine->pass != NULL ? arena_alloc(a, (size_t)n + 1) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        g->pin[i] = fine->pin[order[i]];
        if (g->pass != NULL)
            g->pass[i] = fine->pass[order[i]];
    }
    g->net_src = arena_array(a, (size_t)g->nnet + 1, sizeof *g->net_src);
    for (uint32_t e = 0; e < g->nnet; e++)
        g->net_src[e] = fine->net_src[e] == UINT32_MAX ? UINT32_MAX : pos[fine->net_src[e]];
    g->succ = path_edges(&fine->succ, n, order, pos, /*dir=*/1, a);
    g->pred = path_edges(&fine->pred, n, order, pos, /*dir=*/-1, a);
    g->net_pin = rename_rows(&fine->net_pin, g->nnet, NULL, pos, a);
    g->net_of = rename_rows(&fine->net_of, n, order, NULL, a);
    g->shared_by = rename_rows(&fine->shared_by, g->nshared, NULL, pos, a);
    g->shared_of = rename_rows(&fine->shared_of, n, order, NULL, a);
    if (fine->apart.at)
        g->apart = rename_rows(&fine->apart, n, order, pos, a);
    return g;
}

/* pass.run: pushes a level with the edges of a path added, so that its only ideals are the prefixes of the order. */
static int linearize_run(struct ctx *x, const void *options)
{
    const struct linearize_options *o = options;
    if (ctx_base(x))
        return -1;
    const uint32_t *order =
        topo_order(x->levels.top, (enum topo_kind)o->order, (uint64_t)o->seed, x->use.scratch);
    ctx_push(x, make_path_level(x->levels.top, order, x->use.mem));
    return 0;
}

const struct pass pass_linearize = {
    .name = "linearize",
    .help = "order the vertices in a path, so that dp-place is the paper's DPL",
    .opts = linearize_opts,
    .optsize = sizeof(struct linearize_options),

    .needs = NEED_COST | NEED_CONTRACT,
    .run = linearize_run};
