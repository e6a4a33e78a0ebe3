/* Computes the bytes that vertices need on a device (needs.h), by Baechi's rules for fused nodes (SoCC 2020), and the
 * table of Baechi-PyTorch's paper. */
#include "passes/list/needs.h"

#include "ir/base/units.h"

/* What is counted for each vertex of `level`, in bytes. */
struct need_counts {
    const struct scene *s;
    const struct wdag *level, *base;
    uint32_t *members; /* [vertex] number of its nodes */
    /* [vertex] bytes of its results that other vertices or the host read; for a vertex of one node, bytes of all its
     * results */
    int64_t *left;
    int64_t *kept; /* [vertex] the share of `left` that forward nodes of a training graph make */
    /* [vertex] the most bytes that one of its nodes needs, beside the node's results, while it runs */
    int64_t *beside;
    int64_t *own; /* [vertex] sum of costs.own of its nodes */
};

/* Returns the vertex of `level` that vertex u of the base level is in. */
static uint32_t vertex_of(const struct need_counts *c, uint32_t u)
{
    return c->level == c->base ? u : c->level->map[u];
}

/* Returns an array: [value] 1 if it is an output of the model, or is read by a vertex other than the one that makes
 * it. */
static uint8_t *find_leaving(const struct need_counts *c, struct arena *a)
{
    const struct wdag *g = c->base;
    const struct module *m = c->s->m;
    uint8_t *leaves = arena_alloc(a, m->nval);
    for (vid v = 1; v < m->nval; v++)
        leaves[v] = (m->value[v].flags & VALUE_OUTPUT) != 0;
    for (uint32_t e = 0; e < g->nnet; e++)
        for_row (pin, g->net_pin, e)
            if (g->net_src[e] != UINT32_MAX && vertex_of(c, pin) != vertex_of(c, g->net_src[e]))
                leaves[c->s->place->net_value[e]] = 1;
    return leaves;
}

/* Adds the node of vertex u of the base level to the counts of its vertex.  leaves: from find_leaving. */
static void count_node(struct need_counts *c, uint32_t u, const uint8_t *leaves)
{
    const struct module *m = c->s->m;
    nid n = c->base->node[u];
    uint32_t v = vertex_of(c, u);
    /* made: bytes of all results; left: bytes of the results that stay when the vertex has run */
    int64_t made = 0, left = 0;
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid out = node_out(m, n, i);
        int64_t bytes = out ? m->cost->bytes[out] : 0;
        made = sat_add(made, bytes);
        left = sat_add(left, c->members[v] == 1 || leaves[out] ? bytes : 0);
    }
    int64_t own = m->cost->own[n], beside = m->ir_version && own > made ? own - made : 0;
    c->own[v] = sat_add(c->own[v], own);
    c->left[v] = sat_add(c->left[v], left);
    c->beside[v] = larger(beside, c->beside[v]);
    if (m->backward && !m->backward[n])
        c->kept[v] = sat_add(c->kept[v], left);
}

struct needs needs_of(const struct scene *s, const struct wdag *level, struct arena *a)
{
    struct need_counts c = {.s = s, .level = level, .base = level->finer ? level->finer : level};
    enum memory_model memory = exec_memory(&s->model);
    bool profile = s->m->ir_version == 0;
    size_t n = (size_t)level->n + 1;
    if (memory != MEMORY_PAPER && (memory == MEMORY_SUM || c.base == level || profile))
        return (struct needs){level->size, NULL};
    struct arena *own = arena_new(a);
    c.members = arena_array(own, n, sizeof *c.members);
    for (uint32_t u = 0; u < c.base->n; u++)
        c.members[vertex_of(&c, u)]++;
    c.left = arena_array(own, n, sizeof *c.left);
    c.kept = arena_array(own, n, sizeof *c.kept);
    c.beside = arena_array(own, n, sizeof *c.beside);
    c.own = arena_array(own, n, sizeof *c.own);
    const uint8_t *leaves = find_leaving(&c, own);
    for (uint32_t u = 0; u < c.base->n; u++)
        count_node(&c, u, leaves);
    int64_t *stays = arena_array(a, n, sizeof *stays);
    int64_t *runs = memory == MEMORY_PAPER ? arena_array(a, n, sizeof *runs) : NULL;
    /* PAPER (runs is not NULL): what forward nodes make stays, and in a profile all bytes stay; the other bytes are
     * needed while v runs.  LIVE: all bytes count as staying; for a vertex of one node they are the bytes that the
     * level has */
    for (uint32_t v = 0; v < level->n; v++) {
        int64_t both = sat_add(c.left[v], c.beside[v]);
        stays[v] = runs ? sat_add(c.kept[v], profile ? c.own[v] : 0) : both;
        if (runs)
            runs[v] = both;
        else if (c.members[v] == 1)
            stays[v] = level->size[v];
    }
    arena_free(own);
    return (struct needs){stays, runs};
}
