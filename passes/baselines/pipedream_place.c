/* pipedream-place: PipeDream's optimizer, which wants a linear graph.
 *
 * Source: the baseline of the placement paper, section 6: all branchings are contracted to single vertices,
 * and the path that is left is cut into stages by dynamic programming, hosts and memory included.  A
 * branching is a biconnected component of the undirected graph: the tails of its edges become one vertex
 * (its last vertex, which the paths meet in, may begin the next branching).
 *
 * An input that many layers read, such as a mask, would tie them all together, and so would a value that
 * skips ahead to all of them.  So edges out of a vertex that takes no time are no part of any branching if
 * it is a source, or has more than two successors, each at a depth of its own: layer after layer, not the
 * heads of parallel branches.  The contracted graph keeps these edges, and may have a few others that do not
 * follow the path; several depth-first orders of it are cut, and the best plan stays.
 *
 * Components by Tarjan's algorithm with an explicit stack.  O(V + E), and an interval DP (interval_dp.c). */
#include "passes/baselines/baseline.h"
#include "passes/bounds/bounds.h"
#include "passes/contiguous/infeasible.h"

#include "ir/base/union_find.h"
#include "ir/dag/topo_order.h"

struct pipedream_options {
    int64_t starts, seed;
};

static const struct opt pipedream_opts[] = {
    {OPT_INT, "starts", offsetof(struct pipedream_options, starts), "10", .lo = "1",
     .hi = "1000000", .help = "depth-first orders of the contracted graph to cut"},
    {OPT_INT, "seed", offsetof(struct pipedream_options, seed), "0", .lo = "0", .hi = "1000000000",
     .help = "seed of the orders; 0: the first by number"},
    {0}};

/* The graph with its edges taken as undirected. */
struct graph_undirected {
    uint32_t n, nedge;
    uint32_t *tail, *head; /* [edge] */
    struct csr of;         /* vertex -> edges at the vertex */
};

static bool takes_no_time(const struct wdag *g, uint32_t v)
{
    for (uint32_t c = 0; c < g->ncls; c++)
        if (g->time[c][v])
            return false;
    return true;
}

/* [vertex] number of edges on the longest path that ends at it. */
static uint32_t *find_depths(const struct wdag *g, struct arena *a)
{
    uint32_t *depth = arena_array(a, (size_t)g->n + 1, sizeof *depth);
    for (uint32_t v = 0; v < g->n; v++)
        for_row (u, g->pred, v)
            if (depth[u] >= depth[v])
                depth[v] = depth[u] + 1;
    return depth;
}

/* Whether v's out-edges belong to no branching: it takes no time, and is a source or has more than two successors,
 * each at a depth of its own.  seen[depth] == v + 1: a successor of v has that depth. */
static bool skips_ahead(const struct wdag *g, uint32_t v, const uint32_t *depth, uint32_t *seen)
{
    if (!takes_no_time(g, v))
        return false;
    if (g->pred.at[v] == g->pred.at[v + 1])
        return true;
    for_row (w, g->succ, v) {
        uint32_t *at = &seen[depth[w]];
        if (*at == v + 1)
            return false;
        *at = v + 1;
    }
    return g->succ.at[v + 1] - g->succ.at[v] > 2;
}

static struct graph_undirected make_undirected(const struct wdag *g, struct arena *a)
{
    uint32_t most = g->succ.at[g->n];
    struct graph_undirected u = {.n = g->n,
                                 .tail = arena_array(a, (size_t)most + 1, sizeof *u.tail),
                                 .head = arena_array(a, (size_t)most + 1, sizeof *u.head)};
    struct pairs at = {.a = a}; /* (vertex, edge) */
    const uint32_t *depth = find_depths(g, a);
    uint32_t *seen = arena_array(a, (size_t)g->n + 1, sizeof *seen);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t end = skips_ahead(g, v, depth, seen) ? g->succ.at[v] : g->succ.at[v + 1];
        for (uint32_t i = g->succ.at[v]; i < end; i++) {
            u.tail[u.nedge] = v;
            u.head[u.nedge++] = g->succ.to[i];
        }
    }
    for (uint32_t e = 0; e < u.nedge; e++) {
        pairs_add(&at, u.tail[e], e);
        pairs_add(&at, u.head[e], e);
    }
    u.of = pairs_rows(&at, g->n);
    return u;
}

/* Depth-first search: a vertex on the way down. */
struct frame {
    uint32_t v, edge; /* the edge that led to v, nedge: none */
    uint32_t next;    /* index into u->of of the next edge to follow */
};

struct search {
    const struct graph_undirected *u;
    struct classes *c;
    uint32_t *number,
        /* [vertex] number of discovery from 1; the least such number reached from its subtree */
        *low;
    uint32_t *open, nopen; /* stack of edges that belong to no component yet */
    struct frame *stack;
    uint32_t depth, count;
};

/* Closes a component, the edges from `edge` on on the stack: unites their tails. */
static void close_component(struct search *s, uint32_t edge)
{
    uint32_t e, first = s->u->tail[edge];
    do {
        e = s->open[--s->nopen];
        classes_join(s->c, first, s->u->tail[e], 0);
    } while (e != edge);
}

static void enter_vertex(struct search *s, uint32_t v, uint32_t edge)
{
    s->stack[s->depth++] = (struct frame){v, edge, s->u->of.at[v]};
    s->number[v] = s->low[v] = ++s->count;
}

static void step_search(struct search *s)
{
    struct frame *f = &s->stack[s->depth - 1];
    uint32_t v = f->v;
    if (f->next == s->u->of.at[v + 1]) {
        s->depth--;
        if (!s->depth)
            return;
        uint32_t up = f[-1].v;
        if (s->low[v] >= s->number[up])
            close_component(s, f->edge);
        else
            s->low[up] = smaller_u32(s->low[up], s->low[v]);
        return;
    }
    uint32_t e = s->u->of.to[f->next++];
    uint32_t w = s->u->tail[e] == v ? s->u->head[e] : s->u->tail[e];
    if (e == f->edge)
        return;
    if (!s->number[w]) {
        s->open[s->nopen++] = e;
        enter_vertex(s, w, e);
    } else if (s->number[w] < s->number[v]) {
        s->open[s->nopen++] = e;
        s->low[v] = smaller_u32(s->number[w], s->low[v]);
    }
}

/* Makes the level in which each branching of g is one vertex; NULL and an error where that joins vertices pinned to
 * two devices. */
static struct wdag *contract_branchings(struct wdag *g, struct arena *mem, struct arena *scratch,
                                        struct diag *d)
{
    struct graph_undirected u = make_undirected(g, scratch);
    struct classes c = classes_new(scratch, g->n);
    struct search s = {.u = &u, .c = &c};
    s.number = arena_array(scratch, (size_t)g->n + 1, sizeof *s.number);
    s.low = arena_array(scratch, (size_t)g->n + 1, sizeof *s.low);
    s.open = arena_array(scratch, (size_t)u.nedge + 1, sizeof *s.open);
    s.stack = arena_array(scratch, (size_t)g->n + 1, sizeof *s.stack);
    for (uint32_t v = 0; v < g->n; v++) {
        if (!s.number[v])
            enter_vertex(&s, v, u.nedge);
        while (s.depth)
            step_search(&s);
    }
    uint32_t *group = arena_array(scratch, (size_t)g->n + 1, sizeof *group);
    uint32_t n = classes_number(&c, group);
    n = wdag_join_cycles(g, NULL, group, n);
    return wdag_merge(g, group, n, "pipedream-place", mem, d);
}

static int pipedream_run(struct ctx *x, const void *options)
{
    const struct pipedream_options *o = options;
    struct planner_input p;
    const struct place_options run = {.starts = o->starts, .seed = o->seed, .order = 1 + TOPO_LIFO};
    if (placing_start(x, &run, &p))
        return -1;
    struct wdag *path = contract_branchings(p.level, x->use.mem, x->use.scratch, x->use.diag);
    const struct problem *c =
        path ? problem_build(path, &x->scene, -1, x->use.scratch, x->use.diag) : NULL;
    if (!c)
        return -1;
    struct problem_plan best = no_plan(x, path);
    interval_search(c, &p.orders, &best, x->use.scratch);
    if (best.value == LOAD_INF)
        return report_infeasible(x, path, false, &p.orders);
    leave_plan(x, "pipedream-place", path, &best);
    struct bound all = bounds_all(x, best.value, true, 0, &p.clock);
    x->results.plan->claim.argument =
        arena_fmt(x->use.mem, "a path of %u vertices, made of %u; bound: %s", path->n, p.level->n,
                  claim_make(x, SCOPE_ALL, all, all));
    return 0;
}

const struct planner planner_pipedream_place = {
    .pass = {"pipedream-place", "baseline: contract branchings, then cut the path that is left",
             pipedream_opts, sizeof(struct pipedream_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = pipedream_run},
    .objectives = {"time-per-sample"},
    .features =
        FEATURE_PINS | FEATURE_PART_COST | FEATURE_OVERLAP | FEATURE_GPIPE | FEATURE_COPIES};
