/* Small weighted DAGs for tests: from lists of edges, or at random. */
#ifndef PCC_TESTS_GRAPHS_H
#define PCC_TESTS_GRAPHS_H

#include "ir/ir.h"
#include "ir/base/random.h"

#include <string.h>

struct test_edge {
    uint32_t from, to;
    int64_t cost;
};

/* One class; one net per edge; from < to. */
static inline struct wdag *graph_of_edges(struct arena *a, uint32_t n, const int64_t *time,
                                          const int64_t *size, uint32_t nedge,
                                          const struct test_edge *edge)
{
    struct wdag *g = arena_alloc(a, sizeof *g);
    uint32_t *from = arena_array(a, 2 * nedge + 1, sizeof *from);
    uint32_t *to = arena_array(a, 2 * nedge + 1, sizeof *to);
    uint32_t *group = arena_array(a, n + 1, sizeof *group);
    struct diag d = {0};
    g->mem = a;
    g->n = n;
    g->ncls = 1;
    g->nnet = nedge;
    g->time = arena_array(a, 1, sizeof *g->time);
    g->net_cost = arena_array(a, 1, sizeof *g->net_cost);
    g->time[0] = arena_array(a, n + 1, sizeof **g->time);
    g->net_cost[0] = arena_array(a, nedge + 1, sizeof **g->net_cost);
    g->size = arena_array(a, n + 1, sizeof *g->size);
    g->pin = arena_array(a, n + 1, sizeof *g->pin);
    g->net_host = arena_alloc(a, nedge + 1);
    g->net_src = arena_array(a, nedge + 1, sizeof *g->net_src);
    g->shared_by.at = arena_array(a, 1, sizeof(uint32_t));
    g->shared_by.to = arena_array(a, 1, sizeof(uint32_t));
    memcpy(g->time[0], time, n * sizeof *time);
    memcpy(g->size, size, n * sizeof *size);
    memset(g->pin, 0xff, (n + 1) * sizeof *g->pin);
    for (uint32_t i = 0; i < nedge; i++) {
        g->net_cost[0][i] = edge[i].cost;
        g->net_src[i] = edge[i].from;
        from[i] = edge[i].from;
        to[i] = edge[i].to;
    }
    g->succ = csr_build(a, n, nedge, from, to);
    for (uint32_t i = 0; i < nedge; i++) {
        from[2 * i] = from[2 * i + 1] = i;
        to[2 * i] = edge[i].from;
        to[2 * i + 1] = edge[i].to;
    }
    g->net_pin = csr_build(a, nedge, 2 * nedge, from, to);
    for (uint32_t v = 0; v < n; v++)
        group[v] = v;
    /* merging nothing normalises everything else, and keeps the numbers where they are in order */
    struct wdag *same = wdag_merge(g, group, n, "test", a, &d);
    same->finer = NULL;
    return same;
}

static inline uint32_t test_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(random_bits(state) % n);
}

/* n vertices, edges u -> v (u < v) with probability percent. */
static inline struct wdag *random_graph(struct arena *a, uint64_t *state, uint32_t n,
                                        uint32_t percent)
{
    int64_t time[64], size[64];
    struct test_edge edge[64 * 64];
    uint32_t nedge = 0;
    for (uint32_t v = 0; v < n; v++) {
        time[v] = test_below(state, 9) + 1;
        size[v] = test_below(state, 4) + 1;
        for (uint32_t u = 0; u < v; u++)
            if (test_below(state, 100) < percent)
                edge[nedge++] = (struct test_edge){u, v, test_below(state, 6) + 1};
    }
    return graph_of_edges(a, n, time, size, nedge, edge);
}

#endif
