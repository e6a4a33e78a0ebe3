/* Turns a problem round (reversed.h).  Vertices are numbered from the other end; nets and costs are shared with the
 * original.  O(kinds * V + E + pins). */
#include "passes/problem/reversed.h"

#include <assert.h>

/* Returns a copy of c for vertices numbered from the other end.  by_vertex: each row belongs to a vertex, so row i
 * becomes row `rows - 1 - i`.  n > 0: entries are vertices, n in all; entry v becomes n - 1 - v, and the row is turned
 * round so that its entries ascend again.  n = 0: entries are no vertices, and stay as they are. */
static struct csr turn_rows(const struct csr *c, uint32_t rows, bool by_vertex, uint32_t n,
                            struct arena *a)
{
    struct csr r = {arena_array(a, (size_t)rows + 1, sizeof(uint32_t)),
                    arena_array(a, (size_t)c->at[rows] + 1, sizeof(uint32_t))};
    uint32_t m = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = by_vertex ? rows - 1 - i : i, start = c->at[row], end = c->at[row + 1];
        for (uint32_t k = 0; k < end - start; k++)
            r.to[m++] = n ? n - 1 - c->to[end - 1 - k] : c->to[start + k];
        r.at[i + 1] = m;
    }
    assert(m == c->at[rows]);
    return r;
}

/* Returns x[0] .. x[n - 1] in reverse order; NULL if x is NULL. */
static int64_t *turn_array(const int64_t *x, uint32_t n, struct arena *a)
{
    int64_t *r = x ? arena_array(a, (size_t)n + 1, sizeof *r) : NULL;
    for (uint32_t i = 0; r && i < n; i++)
        r[i] = x[n - 1 - i];
    return r;
}

/* Returns g with its edges reversed and its vertices numbered from the other end. */
static struct wdag *turn_graph(const struct wdag *g, struct arena *a)
{
    struct wdag *m = arena_alloc(a, sizeof *m);
    uint32_t n = g->n;
    *m = *g;
    m->mem = a;
    m->node = NULL;
    m->vertex = m->map = NULL;
    m->finer = NULL;
    m->maker = "mirror";
    m->size = turn_array(g->size, n, a);
    m->param = turn_array(g->param, n, a);
    m->runs = turn_array(g->runs, n, a);
    m->pin = arena_array(a, (size_t)n + 1, sizeof *m->pin);
    for (uint32_t i = 0; i < n; i++)
        m->pin[i] = g->pin[n - 1 - i];
    m->pass = g->pass ? arena_alloc(a, (size_t)n + 1) : NULL;
    for (uint32_t i = 0; m->pass && i < n; i++)
        m->pass[i] = g->pass[n - 1 - i];
    m->time = arena_array(a, g->ncls, sizeof *m->time);
    for (uint32_t c = 0; c < g->ncls; c++)
        m->time[c] = turn_array(g->time[c], n, a);
    if (g->back) {
        m->back = arena_array(a, g->ncls, sizeof *m->back);
        for (uint32_t c = 0; c < g->ncls; c++)
            m->back[c] = turn_array(g->back[c], n, a);
    }
    m->net_src = arena_array(a, (size_t)g->nnet + 1, sizeof *m->net_src);
    for (uint32_t e = 0; e < g->nnet; e++)
        m->net_src[e] = g->net_src[e] == UINT32_MAX ? UINT32_MAX : n - 1 - g->net_src[e];
    m->succ = turn_rows(&g->pred, n, /*by_vertex=*/true, n, a);
    m->pred = turn_rows(&g->succ, n, /*by_vertex=*/true, n, a);
    m->net_pin = turn_rows(&g->net_pin, g->nnet, /*by_vertex=*/false, n, a);
    m->net_of = turn_rows(&g->net_of, n, /*by_vertex=*/true, 0, a);
    m->shared_by = turn_rows(&g->shared_by, g->nshared, /*by_vertex=*/false, n, a);
    m->shared_of = turn_rows(&g->shared_of, n, /*by_vertex=*/true, 0, a);
    if (g->apart.at)
        m->apart = turn_rows(&g->apart, n, /*by_vertex=*/true, n, a);
    return m;
}

struct problem *problem_mirror(const struct problem *c, struct arena *a)
{
    struct problem *m = arena_alloc(a, sizeof *m);
    uint32_t n = c->g->n;
    *m = *c;
    m->g = turn_graph(c->g, a);
    m->mem = a;
    m->turned = !c->turned;
    for (uint32_t k = 0; k < c->nkind; k++) {
        m->kind[k].time = turn_array(c->kind[k].time, n, a);
        m->kind[k].back = turn_array(c->kind[k].back, n, a);
    }
    m->net_of = turn_rows(&c->net_of, n, /*by_vertex=*/true, 0, a);
    for (uint32_t p = 0; p < c->npot; p++)
        m->pot[p].w = turn_array(c->pot[p].w, n, a);
    return m;
}
