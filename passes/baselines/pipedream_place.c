/* pipedream-place: PipeDream's optimizer, which needs a linear graph.
 *
 * Source: the baseline of the placement paper, section 6.  Each branching is contracted to a single vertex, and the
 * path that is left is cut into stages by dynamic programming, with hosts and memory taken into account.  A branching
 * is a biconnected component of the undirected graph: the tails of its edges become one vertex.  (The vertex in
 * which its paths end is no tail, and may begin the next branching.)
 *
 * An input that many layers read, such as a mask, would join all these layers.  So would a value of one layer that
 * all later layers read.  Therefore edges out of a vertex belong to no branching if the vertex takes no time and is
 * a source, or takes no time and has more than two successors, no two of them at the same depth: such successors
 * are consecutive layers, not the heads of parallel branches.  The contracted graph keeps these edges, and may have
 * a few others beside the path; several depth-first orders of it are cut, and the best plan is taken.
 *
 * Components are found by Tarjan's algorithm with an explicit stack.  O(V + E), and an interval DP (interval_dp.h). */
#include "passes/baselines/baseline.h"
#include "passes/bounds/bounds.h"
#include "passes/contiguous/infeasible.h"

#include "ir/base/union_find.h"
#include "ir/dag/topo_order.h"

/* The values of the options in pipedream_opts. */
struct pipedream_options {
    int64_t starts, seed;
};

static const struct opt pipedream_opts[] = {
    {OPT_INT, "starts", offsetof(struct pipedream_options, starts), "10", .lo = "1",
     .hi = "1000000", .help = "depth-first orders of the contracted graph to cut"},
    {OPT_INT, "seed", offsetof(struct pipedream_options, seed), "0", .lo = "0", .hi = "1000000000",
     .help = "seed of the orders; 0: the first by number"},
    {0}};

/* The graph with the directions of its edges ignored. */
struct graph_undirected {
    uint32_t n, nedge;
    uint32_t *tail, *head; /* [edge] the vertex it begins at, the vertex it leads to */
    struct csr of;         /* vertex -> edges that the vertex is an end of */
};

/* Returns whether v takes no time on any class of devices. */
static bool takes_no_time(const struct wdag *g, uint32_t v)
{
    for (uint32_t c = 0; c < g->ncls; c++)
        if (g->time[c][v])
            return false;
    return true;
}

/* Returns an array, in a: [vertex] the number of edges on the longest path that ends at the vertex. */
static uint32_t *find_depths(const struct wdag *g, struct arena *a)
{
    uint32_t *depth = arena_array(a, (size_t)g->n + 1, sizeof *depth);
    for (uint32_t v = 0; v < g->n; v++)
        for_row (u, g->pred, v)
            if (depth[u] >= depth[v])
                depth[v] = depth[u] + 1;
    return depth;
}

/* Returns whether v's out-edges belong to no branching: v takes no time, and is a source or has more than two
 * successors, no two of them at the same depth.  seen[depth] is v + 1 if a successor of v has that depth (scratch,
 * zero at first). */
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

/* Returns g as an undirected graph, without edges that belong to no branching, in a. */
static struct graph_undirected make_undirected(const struct wdag *g, struct arena *a)
{
    uint32_t most = g->succ.at[g->n];
    struct graph_undirected u = {.n = g->n,
                                 .tail = arena_array(a, (size_t)most + 1, sizeof *u.tail),
                                 .head = arena_array(a, (size_t)most + 1, sizeof *u.head)};
    struct pairs at = {.a = a}; /* pairs of a vertex and an edge at it */
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

/* A vertex on the path from the root of the depth-first search to the present vertex. */
struct frame {
    uint32_t v;
    uint32_t edge; /* the edge that led to v; nedge: v is the root */
    uint32_t next; /* index into u->of.to of the next edge to follow */
};

/* Tarjan's depth-first search for biconnected components. */
struct search {
    const struct graph_undirected *u;
    struct classes *c; /* the result: vertices of one class become one vertex */
    uint32_t *number;  /* [vertex] its number in the order of discovery, from 1; 0: not found yet */
    /* [vertex] the least number of a vertex in its subtree or at the other end of an edge of the subtree */
    uint32_t *low;
    uint32_t *open, nopen; /* stack of edges that belong to no component yet */
    struct frame *stack;
    uint32_t depth; /* frames on the stack */
    uint32_t count; /* number of vertices found so far */
};

/* Completes a component, whose edges are on s->open from `edge` to the top: takes them off, and joins their tails. */
static void close_component(struct search *s, uint32_t edge)
{
    uint32_t e, first = s->u->tail[edge];
    do {
        e = s->open[--s->nopen];
        classes_join(s->c, first, s->u->tail[e], 0);
    } while (e != edge);
}

/* Puts v, which was reached over `edge`, on the stack and numbers it. */
static void enter_vertex(struct search *s, uint32_t v, uint32_t edge)
{
    s->stack[s->depth++] = (struct frame){v, edge, s->u->of.at[v]};
    s->number[v] = s->low[v] = ++s->count;
}

/* Does one step of Tarjan's algorithm.  Follows the next edge of v, the vertex on top of the stack.  If v has no more
 * edges, takes v off the stack; and if v's parent, the vertex from which v was reached, separates the edges below v
 * from the rest, completes their component. */
static void step_search(struct search *s)
{
    struct frame *f = &s->stack[s->depth - 1];
    uint32_t v = f->v;
    if (f->next == s->u->of.at[v + 1]) { /* no more edges */
        s->depth--;
        if (!s->depth)
            return;
        uint32_t up = f[-1].v; /* the vertex from which v was reached */
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
        /* e leads back to w, a vertex on the stack; when w looks at e, it is ignored, since number[v] is larger */
        s->open[s->nopen++] = e;
        s->low[v] = smaller_u32(s->number[w], s->low[v]);
    }
}

/* Returns the level in which each branching of g is one vertex, in mem; NULL and an error if that joins vertices
 * pinned to different devices. */
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
    n = wdag_join_cycles(g, NULL, group, n); /* groups on a cycle become one */
    return wdag_merge(g, group, n, "pipedream-place", mem, d);
}

/* pass.run: contracts branchings of the graph, and leaves the best contiguous plan of the result.  Returns 0, or -1 or
 * PASS_INFEASIBLE after an error. */
static int pipedream_run(struct ctx *x, const void *options)
{
    const struct pipedream_options *o = options;
    struct planner_input p;
    const struct place_options run = {.starts = o->starts, .seed = o->seed, .order = 1 + TOPO_LIFO};
    if (placing_start(x, &run, &p))
        return -1;
    struct wdag *path = contract_branchings(p.level, x->use.mem, x->use.scratch, x->use.diag);
    const struct problem *c =
        path ? problem_build(path, &x->scene, MEMORY_UNCHANGED, x->use.scratch, x->use.diag) : NULL;
    if (!c)
        return -1;
    struct problem_plan best = no_plan(x, path);
    interval_search(c, &p.orders, &best, x->use.scratch);
    if (best.value == LOAD_INF)
        return report_infeasible(x, path, /*exact=*/false, &p.orders);
    leave_plan(x, "pipedream-place", path, &best);
    struct bound all = bounds_all(x, best.value, /*must_fit=*/true, 0, &p.clock);
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
