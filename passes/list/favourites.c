/* Finds favourite children by linear clustering (favourites.h).
 *
 * Source: Kim and Browne (1988).  The transfer from a vertex to its favourite takes no time.  So the task is to choose
 * edges, at most one into each vertex and at most one out of it, such that the longest path becomes short.  Baechi
 * rounds a linear program.  Here, again and again, each vertex on the longest path of computing and transfers becomes
 * the favourite of the vertex before it, and the path is taken out of the graph.  Finding a path visits all remaining
 * vertices and edges.  When the number of steps is used up, the remaining edges are tried in order of falling cost; an
 * edge is chosen if its first vertex has no favourite yet and its reader is no vertex's favourite. */
#include "passes/list/favourites.h"

#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The favourites found so far, and the remaining graph. */
struct favourite_chains {
    const struct wdag *g;
    const int64_t *time, *cost; /* the parameters of favourites_find() */
    uint32_t *favourite;        /* [vertex] its favourite so far, or NO_FAVOURITE */
    uint8_t *out;               /* [vertex] 1: taken out of the graph */
    uint8_t *child;             /* [vertex] 1: it is some vertex's favourite */
    uint32_t *left, n;          /* the n remaining vertices, ascending */
    /* [vertex] ps: the longest path that ends with the vertex, its time included */
    int64_t *longest;
    uint32_t *from; /* [vertex] previous vertex of the path in `longest`, or NO_FAVOURITE */
    int64_t steps;  /* number of vertices and edges visited */
};

/* Makes v the favourite of u. */
static void make_favourite(struct favourite_chains *c, uint32_t u, uint32_t v)
{
    assert(c->favourite[u] == NO_FAVOURITE && !c->child[v]);
    c->favourite[u] = v;
    c->child[v] = 1;
}

/* Sets longest and from of all remaining vertices.  Returns the last vertex of the longest path; NO_FAVOURITE if no
 * edges remain. */
static uint32_t find_longest(struct favourite_chains *c)
{
    const struct csr *p = &c->g->pred;
    uint32_t last = NO_FAVOURITE, edges = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t v = c->left[i], from = NO_FAVOURITE;
        int64_t most = 0;
        for (uint32_t k = p->at[v]; k < p->at[v + 1]; k++) {
            int64_t t = sat_add(c->longest[p->to[k]], c->cost[k]);
            if (c->out[p->to[k]])
                continue;
            edges++;
            if (t > most) {
                most = t;
                from = p->to[k];
            }
        }
        c->from[v] = from;
        c->longest[v] = sat_add(most, c->time[v]);
        if (last == NO_FAVOURITE || c->longest[v] > c->longest[last])
            last = v;
        c->steps += 1 + p->at[v + 1] - p->at[v];
    }
    return edges ? last : NO_FAVOURITE;
}

/* Makes each vertex of the longest path, which ends with `last`, the favourite of the vertex before it, and takes the
 * path out of the graph. */
static void take_longest_path(struct favourite_chains *c, uint32_t last)
{
    uint32_t n = 0;
    for (uint32_t v = last; v != NO_FAVOURITE; v = c->from[v]) {
        c->out[v] = 1;
        if (c->from[v] != NO_FAVOURITE)
            make_favourite(c, c->from[v], v);
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (!c->out[c->left[i]])
            c->left[n++] = c->left[i];
    c->n = n;
}

/* An edge between vertices that remain. */
struct pair {
    int64_t cost;      /* ps of its transfer */
    uint32_t from, to; /* the edge leads from vertex `from` to vertex `to` */
};

/* Compares edges by cost, the highest first, then by their vertices; for qsort. */
static int by_cost(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Chooses favourites among the remaining edges, those with the longest transfers first. */
static void join_rest(struct favourite_chains *c, struct arena *a)
{
    const struct csr *p = &c->g->pred;
    struct pair *pair = arena_array(a, (size_t)p->at[c->g->n] + 1, sizeof *pair);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t v = c->left[i], k = p->at[v]; k < p->at[v + 1]; k++)
            if (!c->out[p->to[k]])
                pair[n++] = (struct pair){c->cost[k], p->to[k], v};
    qsort(pair, n, sizeof *pair, by_cost);
    for (uint32_t i = 0; i < n; i++)
        if (c->favourite[pair[i].from] == NO_FAVOURITE && !c->child[pair[i].to])
            make_favourite(c, pair[i].from, pair[i].to);
}

uint32_t *favourites_find(const struct wdag *g, const int64_t *time, const int64_t *cost,
                          int64_t steps, struct arena *a)
{
    struct arena *own = arena_new(a);
    size_t n = (size_t)g->n + 1;
    struct favourite_chains c = {.g = g, .time = time, .cost = cost, .n = g->n};
    c.favourite = arena_array(a, n, sizeof *c.favourite);
    memset(c.favourite, 0xff, n * sizeof *c.favourite);
    c.out = arena_alloc(own, n);
    c.child = arena_alloc(own, n);
    c.left = arena_array(own, n, sizeof *c.left);
    c.longest = arena_array(own, n, sizeof *c.longest);
    c.from = arena_array(own, n, sizeof *c.from);
    for (uint32_t v = 0; v < g->n; v++)
        c.left[v] = v;
    while (c.steps < steps) {
        uint32_t last = find_longest(&c);
        if (last == NO_FAVOURITE)
            break;
        take_longest_path(&c, last);
    }
    join_rest(&c, own);
    arena_free(own);
    return c.favourite;
}
