/* subdivide: makes a vertex for every result of a node whose results have different transfer costs.
 *
 * Source: the placement paper, Appendix E.1.  In the paper a vertex has one transfer cost for all its out-edges, so
 * an edge of another cost is divided by a new vertex: the new vertex has no time and no size, and is on the device
 * of the edge's producer.  In pcc costs belong to nets, so loads are the same before and after
 * (tests/unit/passes/coarsen/backward.c); the pass makes the paper's graph, so that other programs, and their
 * counts of ideals, can be compared with pcc.  A node whose results cost the same stays one vertex.  A divided node
 * has two or more vertices in the level; contract joins them again.  O(V + pins). */
#include "passes/passes.h"

#include <assert.h>
#include <string.h>

/* Whether two nets of vertex v cost differently on some class. */
static bool is_uneven(const struct wdag *g, uint32_t v)
{
    uint32_t first = UINT32_MAX;
    for_row (e, g->net_of, v) {
        if (g->net_src[e] != v)
            continue;
        if (first == UINT32_MAX)
            first = e;
        for (uint32_t k = 0; k < g->ncls; k++)
            if (g->net_cost[k][e] != g->net_cost[k][first])
                return true;
    }
    return false;
}

/* The old level, and the new level that is being made. */
struct split {
    const struct wdag *from;
    struct wdag *to;
    /* [net] vertex of `to` that has the net's value as result; UINT32_MAX: a model input */
    uint32_t *maker;
    struct pairs edge; /* edges of `to` */
};

/* Numbers the new vertices: one for each old vertex and, behind the one of an uneven vertex, one for each of
 * its results.
 * Fills map and node of the new level, and s->maker. */
static void number_vertices(struct split *s, const uint8_t *uneven)
{
    const struct wdag *g = s->from;
    struct wdag *to = s->to;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t main = to->map[v] = to->n;
        to->node[to->n++] = g->node[v];
        for_row (e, g->net_of, v) {
            if (g->net_src[e] != v)
                continue;
            s->maker[e] = main;
            if (uneven[v]) {
                s->maker[e] = to->n;
                pairs_add(&s->edge, main, to->n);
                to->node[to->n++] = g->node[v];
            }
        }
    }
}

/* Fills the figures of the new level's vertices: times, also of the backward pass, sizes, bytes of parameters,
 * bytes needed while the vertex runs, pins and passes.  A vertex of a result has the pin and the passes of its
 * node, but no time and no bytes. */
static void copy_vertices(struct split *s)
{
    const struct wdag *g = s->from;
    struct wdag *to = s->to;
    to->size = arena_array(to->mem, (size_t)to->n + 1, sizeof *to->size);
    to->pin = arena_array(to->mem, (size_t)to->n + 1, sizeof *to->pin);
    to->time = arena_array(to->mem, to->ncls, sizeof *to->time);
    for (uint32_t k = 0; k < to->ncls; k++)
        to->time[k] = arena_array(to->mem, (size_t)to->n + 1, sizeof **to->time);
    to->param = g->param ? arena_array(to->mem, (size_t)to->n + 1, sizeof *to->param) : NULL;
    to->runs = g->runs ? arena_array(to->mem, (size_t)to->n + 1, sizeof *to->runs) : NULL;
    to->back = g->back ? arena_array(to->mem, to->ncls, sizeof *to->back) : NULL;
    for (uint32_t k = 0; to->back && k < to->ncls; k++)
        to->back[k] = arena_array(to->mem, (size_t)to->n + 1, sizeof **to->back);
    to->pass = g->pass ? arena_alloc(to->mem, (size_t)to->n + 1) : NULL;
    for (uint32_t v = 0; v < g->n; v++) {
        if (to->param)
            to->param[to->map[v]] = g->param[v];
        if (to->runs)
            to->runs[to->map[v]] = g->runs[v];
        for (uint32_t k = 0; to->back && k < to->ncls; k++)
            to->back[k][to->map[v]] = g->back[k][v];
        /* v became the vertices map[v] .. end - 1: first v itself, then v's results */
        uint32_t end = v + 1 < g->n ? to->map[v + 1] : to->n;
        assert(to->map[v] < end && end <= to->n);
        to->size[to->map[v]] = g->size[v];
        for (uint32_t k = 0; k < to->ncls; k++)
            to->time[k][to->map[v]] = g->time[k][v];
        for (uint32_t u = to->map[v]; u < end; u++) {
            to->pin[u] = g->pin[v];
            if (to->pass)
                to->pass[u] = g->pass[v];
        }
    }
}

/* Makes to->apart for the vertices of nodes.  Vertices of results need no entries, since contract joins them with
 * their nodes. */
static void copy_apart(struct split *s)
{
    const struct wdag *g = s->from;
    s->to->apart = (struct csr){0};
    if (!g->apart.at)
        return;
    struct pairs p = pairs_new(s->to->mem, g->apart.at[g->n]);
    for (uint32_t v = 0; v < g->n; v++)
        for_row (w, g->apart, v)
            pairs_add(&p, s->to->map[v], s->to->map[w]);
    wdag_set_apart(s->to, &p);
}

/* Copies the nets, and adds their edges to s->edge; in the net of a result with a vertex of its own, this vertex is the
 * source. */
static void copy_nets(struct split *s)
{
    const struct wdag *g = s->from;
    struct wdag *to = s->to;
    /* pairs of a net and a vertex that is a pin of it */
    struct pairs pin = pairs_new(to->mem, g->net_pin.at[g->nnet]);
    to->net_src = s->maker;
    for (uint32_t e = 0; e < g->nnet; e++)
        for_row (v, g->net_pin, e) {
            pairs_add(&pin, e, v == g->net_src[e] ? s->maker[e] : to->map[v]);
            if (g->net_src[e] != UINT32_MAX && v != g->net_src[e])
                pairs_add(&s->edge, s->maker[e], to->map[v]);
        }
    to->net_pin = pairs_rows(&pin, to->nnet);
    to->net_of = pairs_rows_back(&pin, to->n);
}

/* Returns the new level, in a; uneven[vertex]: 1 if its results get vertices of their own. */
static struct wdag *split_results(struct wdag *g, const uint8_t *uneven, struct arena *a)
{
    struct wdag *to = arena_alloc(a, sizeof *to);
    size_t most = (size_t)g->n + g->nnet + 1, edges = most + g->net_pin.at[g->nnet];
    struct split s = {
        .from = g, .to = to, .maker = arena_array(a, (size_t)g->nnet + 1, sizeof(uint32_t))};
    s.edge = pairs_new(a, edges);
    *to = *g;
    to->mem = a;
    to->maker = "subdivide";
    to->finer = g;
    to->n = 0;
    to->vertex = NULL;
    to->node = arena_array(a, most, sizeof *to->node);
    to->map = arena_array(a, (size_t)g->n + 1, sizeof *to->map);
    memset(s.maker, 0xff, g->nnet * sizeof *s.maker);
    number_vertices(&s, uneven);
    copy_vertices(&s);
    copy_apart(&s);
    copy_nets(&s);
    wdag_set_edges(to, &s.edge);
    /* pairs of a shared item and a vertex that needs it */
    struct pairs user = pairs_new(a, g->shared_by.at[g->nshared]);
    for (uint32_t i = 0; i < g->nshared; i++)
        for_row (v, g->shared_by, i)
            pairs_add(&user, i, to->map[v]);
    to->shared_by = pairs_rows(&user, g->nshared);
    to->shared_of = pairs_rows_back(&user, to->n);
    return to;
}

/* pass.run: pushes a level in which each node whose results cost differently to move has a vertex for each result.
 * Pushes no level if there is no such node. */
static int subdivide_run(struct ctx *x, const void *options)
{
    uint32_t n = 0;
    (void)options;
    if (ctx_base(x))
        return -1;
    if (x->levels.top != x->levels.base)
        return diag_error(x->use.diag,
                          "subdivide: it must come before contract, fuse and linearize");
    uint8_t *uneven = arena_alloc(x->use.scratch, (size_t)x->levels.base->n + 1);
    for (uint32_t v = 0; v < x->levels.base->n; v++) {
        uneven[v] = is_uneven(x->levels.base, v);
        n += uneven[v];
    }
    if (!n) {
        diag_detail(x->use.diag, "subdivide: every node has one transfer cost: nothing to do");
        return 0;
    }
    ctx_push(x, split_results(x->levels.base, uneven, x->use.mem));
    diag_detail(x->use.diag, "subdivide: %u vertices for the results of %u nodes",
                x->levels.top->n - x->levels.base->n, n);
    return 0;
}

const struct pass pass_subdivide = {
    "subdivide", "a vertex for each result of a node whose results cost differently to move",
    .needs = NEED_COST, .run = subdivide_run};
