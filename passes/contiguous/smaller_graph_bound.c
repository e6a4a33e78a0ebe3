/* Finds lower bounds by searches of smaller graphs (smaller_graph_bound.h).
 *
 * Idea: what makes the ideals of a graph many are vertices that can run at almost any time: branches that depend on
 * inputs only, gradients of weights.  Take them out: join their predecessors to their successors, forget their bytes,
 * and keep of their nets what the remaining vertices must pay (wdag_bridge.h).  Every plan of the whole graph,
 * restricted to the remaining vertices, is a plan of the smaller graph whose loads are no larger.  The time of the
 * lost vertices must fit into what these loads leave of the devices, in sum; so a search that finds no such plan with
 * loads of at most L (dp_refute) proves that every plan of the whole graph has a load above L.  This is a relaxation
 * of the state space as in Christofides, Mingozzi and Toth (Networks 11, 1981): the lost part of the state survives as
 * one number.
 *
 * Which vertices are lost: those whose mobility, the length of the longest path less that of the longest path through
 * the vertex, is above a share of the longest path.  The share grows from 0 (only the longest path is left, whose
 * ideals are few) until nothing is lost; each graph gives a bound by bisection over L, and the next graph only has to
 * raise it.  A vertex that is a large part of a load by itself is never lost.
 *
 * The climb (dp_climb) asks all these graphs the same question: does any plan take less than the best one known? The
 * search of a graph knows, for each of its ideals, what the rest of a plan takes at least, and that prunes the search
 * of the next graph, which goes from the other end (dp_guide.c).
 *
 * Cost: O(V + E + pins) for each of about ten graphs, and the steps that are allowed. */
#include "passes/contiguous/smaller_graph_bound.h"

#include "ir/base/random.h"
#include "ir/dag/wdag_bridge.h"
#include "passes/problem/reversed.h"

#include <assert.h>

enum {
    BRIDGE_MOST = 64, /* predecessors that a vertex gets at most in the smaller graph */
    SHARES = 11,      /* number of limits of mobility: 0, 1/512, ... 1/2, 1 of the longest path */
    HEAVY = 50,       /* a vertex that weighs 1 / HEAVY of the plan's value or more is never lost */
    PRECISION = 1000, /* bisection ends at 1 / PRECISION of `upper` */
    STATES = 200000,  /* ideals that a search of dp_bound() may keep */
    /* bytes: the most memory of a finished search that is kept as a guide for the next search */
    MEMORY_MAX = 1 << 25
};

struct smaller_problem problem_relax(const struct problem *c, const uint8_t *out, struct arena *a,
                                     struct diag *d)
{
    const struct wdag *g = c->g;
    struct arena *work = arena_new(a);
    const struct wdag *bridged = wdag_bridge_nets(g, out, work);
    struct smaller_problem r = {
        .c = problem_build_like(wdag_without(bridged, out, BRIDGE_MOST, a), c, a, d)};
    arena_free(work);
    /* the scales may differ from those of c */
    const struct problem_pot *p = r.c ? r.c->pot : c->pot;
    for (uint32_t v = 0; v < g->n; v++)
        if (out[v]) {
            r.lost++;
            r.floating += problem_weight(c, p, v);
        }
    for (uint32_t e = 0; e < g->nnet; e++) {
        /* a net with a weight is lost with the last of its vertices */
        bool lost = problem_weighs(c, e);
        for (uint32_t i = g->net_pin.at[e]; lost && i < g->net_pin.at[e + 1]; i++)
            lost = out[g->net_pin.to[i]];
        r.floating += lost ? problem_net_weight(c, p, e) : 0;
    }
    assert(r.floating >= 0 && r.lost <= g->n);
    return r;
}

/* ---- which vertices -------------------------------------------------------------------------- */

/* Writes mobility[vertex] and returns the length of the longest path of the graph.  The mobility of a vertex is that
 * length less the length of the longest path through it (large: it can run at almost any time).  In a path each vertex
 * counts its weight and a little more, part of which is random: so paths of vertices without time have a length, too,
 * and hardly any two paths are equally long.  O(V + E). */
static int64_t find_mobilities(const struct problem *c, int64_t *mobility, struct arena *a)
{
    const struct wdag *g = c->g;
    const int64_t *w = c->pot[0].w;
    /* what a vertex counts beside its weight, on average: little, but enough for several random values */
    int64_t hop = c->pot[0].total / 100000 + 8;
    int64_t longest = 0;
    uint64_t state = 1;
    /* [vertex] length of the vertex in a path */
    int64_t *own = arena_array(a, (size_t)g->n + 1, sizeof *own);
    for (uint32_t v = 0; v < g->n; v++)
        own[v] = w[v] + hop / 2 + (int64_t)(random_bits(&state) % (uint64_t)hop);
    /* [vertex] longest path that ends just before the vertex */
    int64_t *before = arena_array(a, (size_t)g->n + 1, sizeof *before);
    /* [vertex] longest path that begins with the vertex, the vertex included */
    int64_t *after = arena_array(a, (size_t)g->n + 1, sizeof *after);
    for (uint32_t v = 0; v < g->n; v++)
        for_row (u, g->pred, v) {
            int64_t t = before[u] + own[u];
            before[v] = larger(t, before[v]);
        }
    for (uint32_t v = g->n; v-- > 0;) {
        for_row (next, g->succ, v) {
            int64_t t = after[next];
            after[v] = larger(t, after[v]);
        }
        after[v] += own[v];
        longest = larger(before[v] + after[v], longest);
    }
    for (uint32_t v = 0; v < g->n; v++) {
        assert(before[v] + after[v] <= longest);
        mobility[v] = longest - before[v] - after[v];
    }
    return longest;
}

/* A series of smaller graphs of c, each with more of its vertices than the one before. */
struct smaller {
    const struct problem *c;
    int64_t heavy;     /* vertices of this weight or more stay in all graphs */
    int64_t longest;   /* length of the longest path of c's graph */
    int64_t *mobility; /* [vertex] as find_mobilities() writes it */
    uint8_t *out;      /* [vertex] 1: the vertex is lost in the present graph */
    uint32_t share;    /* number of the next limit of mobility, below SHARES */
    uint32_t left;     /* number of vertices that the present graph keeps */
};

/* Marks in s->out the vertices whose mobility is above `above`, except heavy and pinned ones; returns how many
 * vertices stay. */
static uint32_t choose_lost(struct smaller *s, int64_t above)
{
    const struct problem *c = s->c;
    uint32_t left = 0;
    for (uint32_t v = 0; v < c->g->n; v++) {
        s->out[v] = s->mobility[v] > above && c->pot[0].w[v] < s->heavy && c->g->pin[v] < 0;
        left += !s->out[v];
    }
    return left;
}

/* Returns the series for c.  upper: value of a plan, ps, from which follows which vertices are heavy. */
static struct smaller smaller_begin(const struct problem *c, int64_t upper, struct arena *a)
{
    struct smaller s = {.c = c, .heavy = upper / HEAVY};
    s.mobility = arena_array(a, (size_t)c->g->n + 1, sizeof *s.mobility);
    s.out = arena_alloc(a, (size_t)c->g->n + 1);
    s.longest = find_mobilities(c, s.mobility, a);
    return s;
}

/* Makes the next graph of the series, the first one that keeps more vertices than the present one, and writes its
 * problem to *r; the problem lives in a.  Returns false if there is none or on an error. */
static bool smaller_next(struct smaller *s, struct smaller_problem *r, struct arena *a,
                         struct diag *d)
{
    for (uint32_t i = s->share; i < SHARES; i++) {
        /* `above` takes the values 0, 1/512, 1/256, ... 1 of the longest path */
        int64_t above = i ? s->longest >> (SHARES - 1 - i) : 0;
        uint32_t left = choose_lost(s, above);
        if (left > s->left) {
            s->share = i + 1;
            s->left = left;
            *r = problem_relax(s->c, s->out, a, d);
            return r->c != NULL;
        }
    }
    return false;
}

/* ---- bisection ------------------------------------------------------------------------------- */

/* A bisection for the best bound that the smaller graphs prove. */
struct bisection {
    int64_t upper;  /* ps: value of a plan */
    uint64_t steps; /* number of steps left */
    struct clock *clock;
    struct arena *a;
    int64_t value; /* ps: the best bound so far */
    bool raised;   /* a search has raised `value` */
    /* if raised: number of vertices left out of the graph that proved `value` */
    uint32_t lost;
};

/* Returns whether a search of r proves that no plan of the whole graph takes less than `value` ps. */
static bool none_below(struct bisection *b, const struct smaller_problem *r, int64_t value)
{
    const struct dp_limits most = {.max_states = STATES, .max_steps = b->steps, .clock = b->clock};
    struct dp_found s = dp_refute(r->c, value - 1, r->floating, &most, b->a);
    b->steps -= smaller_u64(s.steps, b->steps);
    return s.none;
}

/* Raises b->value as far as searches of r prove it: first by about 1 / PRECISION of b->upper and, if that is proven,
 * by bisection up to b->upper. */
static void raise_by(struct bisection *b, const struct smaller_problem *r)
{
    int64_t least = b->upper / PRECISION + 1, hi = b->upper + 1;
    int64_t lo = smaller(b->value + least, b->upper);
    if (b->value >= b->upper || !none_below(b, r, lo))
        return;
    while (hi - lo > least && b->steps && !clock_out(b->clock)) {
        int64_t mid = lo + (hi - lo) / 2;
        if (none_below(b, r, mid))
            lo = mid;
        else
            hi = mid;
    }
    assert(lo > b->value && lo <= b->upper);
    b->value = lo;
    b->lost = r->lost;
    b->raised = true;
}

struct bound search_bound(const struct problem *c, int64_t value, uint32_t lost)
{
    struct bound b = {
        .value = value, .why = "a search finds none", .by = {.by = LOWER_SEARCH, .at = lost}};
    if (lost)
        b.why =
            arena_fmt(c->mem, "a search finds none, even without %u of %u nodes", lost, c->g->n);
    return b;
}

struct bound dp_bound(const struct problem *c, int64_t upper, uint64_t steps, struct clock *clock,
                      struct arena *scratch, struct diag *d)
{
    struct arena_mark mark = arena_mark(scratch);
    struct bisection b = {
        .upper = upper, .steps = steps, .clock = clock, .a = scratch, .value = c->lower.value};
    struct smaller s = smaller_begin(c, upper, scratch);
    struct smaller_problem r;
    struct arena_mark start = arena_mark(scratch);
    while (b.steps && !clock_out(clock) && smaller_next(&s, &r, scratch, d)) {
        raise_by(&b, &r);
        arena_release(scratch, start);
    }
    arena_release(scratch, mark);
    return b.raised ? search_bound(c, b.value, b.lost) : c->lower;
}

/* ---- the climb ------------------------------------------------------------------------------- */

/* A step of the climb: the search of a smaller graph. */
struct rung {
    struct arena *a;
    struct smaller_problem r;
    struct search *s;
    bool turned; /* the search works on the reversed graph */
};

/* Returns an array: [vertex of the search `from`] the same vertex in the search `to`, which keeps all vertices of
 * `from`.  n: number of vertices of the whole graph. */
static uint32_t *vertices_in(const struct rung *to, const struct rung *from, uint32_t n)
{
    const struct wdag *f = from->r.c->g, *t = to->r.c->g;
    uint32_t *vertex = arena_array(to->a, (size_t)f->n + 1, sizeof *vertex);
    for (uint32_t v = 0; v < n; v++)
        if (f->map[v] != UINT32_MAX) {
            assert(t->map[v] != UINT32_MAX);
            vertex[from->turned ? f->n - 1 - f->map[v] : f->map[v]] =
                to->turned ? t->n - 1 - t->map[v] : t->map[v];
        }
    return vertex;
}

struct bound dp_climb(const struct problem *c, int64_t upper, const struct dp_limits *most,
                      struct arena *scratch, struct diag *d)
{
    struct arena *own = arena_new(scratch);
    struct smaller all = smaller_begin(c, upper, own);
    struct bound b = c->lower;
    struct dp_limits left = *most;
    /* before: the search of the last graph, which guides the search of the next one; none at first */
    struct rung before = {.a = own};
    while (b.value < upper && left.max_steps) {
        struct rung now = {.a = arena_new(own), .turned = !before.turned};
        if (!smaller_next(&all, &now.r, now.a, d))
            break;
        struct search_ask ask = {.goal = SEARCH_GUIDE,
                                 .limit = upper - 1,
                                 .floating = now.r.floating,
                                 .guide = before.s,
                                 .vertex = before.s ? vertices_in(&now, &before, c->g->n) : NULL,
                                 .max_states = most->max_states,
                                 .max_bytes = MEMORY_MAX};
        now.s = search_new(now.turned ? problem_mirror(now.r.c, now.a) : now.r.c, &ask, now.a);
        struct dp_found ran = search_run(now.s, &left);
        left.max_steps -= smaller_u64(ran.steps, left.max_steps);
        if (!ran.complete)
            break;
        if (!search_found(now.s)) /* proven: no plan takes less than `upper` */
            b = search_bound(c, upper, now.r.lost);
        if (before.s)
            arena_free(before.a); /* `now` is the guide from here on */
        before = now;
    }
    arena_free(own);
    return b;
}
