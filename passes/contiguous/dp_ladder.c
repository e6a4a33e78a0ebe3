/* The exact search, prepared by searches of smaller graphs (dp_ladder.h).
 *
 * Idea: coarse to fine.  A graph that has lost vertices (smaller_graph_bound.h: relax) has fewer ideals; its search for
 * plans below a limit ends soon.  If there is none, the whole graph has none.  Else the search knows, for each of
 * its ideals, what the rest of a plan takes at least; that prunes the search of the next graph, which has lost fewer
 * vertices and is searched from the other end (dp_guide.c), and so on up to the whole.  Which vertices a rung keeps:
 * those whose mobility (smaller_graph_bound.h) is at most a share of the longest path.
 *
 * Where the smaller graphs say little about the whole (many branches of some weight beside the longest path), this
 * does not help; so the plain search (ideal_both_ends.h) runs beside it (dp_decide.c).
 *
 * Cost: O((V + E) * 64 + pins) for each rung, and the steps allowed. */
#include "passes/contiguous/dp_ladder.h"

#include "passes/contiguous/smaller_graph_bound.h"
#include "passes/problem/reversed.h"

#include <assert.h>

enum { SHARES = 11 }; /* of the longest path: 0, 1/512, ... 1/2, 1 */

struct rung {
    const struct problem *c; /* NULL: not made yet */
    const uint32_t *here;    /* [vertex of the whole] its vertex in c, UINT32_MAX: lost */
    int64_t floating;
    int64_t above; /* vertices of a larger mobility are lost */
    uint32_t lost;
};

struct rungs {
    const struct problem *c;
    struct arena *a;
    struct diag *d;
    struct rung rung[SHARES + 1];
    uint32_t n;
    int64_t *mobility, heavy;
    uint8_t *out;
};

struct rungs *rungs_new(const struct problem *c, int64_t upper, struct arena *a, struct diag *d)
{
    assert(!c->detailed && c->g->n > 0);
    struct rungs *r = arena_alloc(a, sizeof *r);
    uint32_t n = c->g->n, before = UINT32_MAX, *here;
    r->c = c;
    r->a = a;
    r->d = d;
    r->mobility = arena_array(a, (size_t)n + 1, sizeof *r->mobility);
    r->out = arena_alloc(a, (size_t)n + 1);
    r->heavy = bound_heavy(upper);
    int64_t longest = bound_mobilities(c, r->mobility, a);
    for (uint32_t i = 0; i < SHARES; i++) {
        int64_t above = i ? longest >> (SHARES - 1 - i) : 0;
        uint32_t left = bound_choose(c, r->mobility, above, r->heavy, r->out);
        if (left != before && left > 0 && left < n)
            r->rung[r->n++] = (struct rung){.above = above, .lost = n - left};
        before = left;
    }
    here = arena_array(a, (size_t)n + 1, sizeof *here);
    for (uint32_t v = 0; v < n; v++)
        here[v] = v;
    r->rung[r->n++] = (struct rung){.c = c, .here = here};
    assert(r->n <= SHARES + 1);
    return r;
}

uint32_t rungs_count(const struct rungs *r)
{
    return r->n;
}

uint32_t rungs_lost(const struct rungs *r, uint32_t i)
{
    assert(i < r->n);
    return r->rung[i].lost;
}

static const struct rung *rung_at(struct rungs *r, uint32_t i)
{
    assert(i < r->n);
    struct rung *g = &r->rung[i];
    if (!g->c) {
        bound_choose(r->c, r->mobility, g->above, r->heavy, r->out);
        struct relaxed x = relax(r->c, r->out, r->a, r->d);
        g->c = x.c;
        g->here = x.c ? x.c->g->map : NULL;
        g->floating = x.floating;
    }
    return g;
}

const struct problem *rungs_graph(struct rungs *r, uint32_t i, int64_t *floating)
{
    const struct rung *g = rung_at(r, i);
    *floating = g->floating;
    return g->c;
}

/* ---- the climb ------------------------------------------------------------------------------- */

/* The search of a rung. */
struct side {
    struct arena *a;
    struct search *s;
    bool turned;
};

struct ladder {
    struct arena *a;
    struct rungs *r;
    int64_t limit, floor;
    bool backward;
    uint64_t max_states, steps; /* steps: those of finished rungs */
    size_t max_bytes;
    uint32_t at;
    struct side now, guide;
    enum search_end end;
};

/* [vertex of the guide's graph] that vertex in the search of rung `to`; turned: the search is of the reversed graph. */
static uint32_t *guide_vertices(const struct ladder *l, const struct rung *from, bool from_turned,
                                const struct rung *to, bool turned, struct arena *a)
{
    uint32_t *vertex = arena_array(a, (size_t)from->c->g->n + 1, sizeof *vertex);
    for (uint32_t v = 0; v < l->r->c->g->n; v++) {
        uint32_t u = from->here[v], w = to->here[v];
        if (u == UINT32_MAX)
            continue;
        assert(w != UINT32_MAX); /* a rung keeps what those before it kept */
        u = from_turned ? from->c->g->n - 1 - u : u;
        vertex[u] = turned ? to->c->g->n - 1 - w : w;
    }
    return vertex;
}

/* Begins the search of rung l->at, with that of the rung before as its guide. */
static void climb(struct ladder *l)
{
    assert(l->at < l->r->n);
    const struct rung *r = rung_at(l->r, l->at);
    /* the directions alternate, so that the whole gets the one that was asked for */
    uint32_t left = l->r->n - 1 - l->at;
    struct side d = {.a = arena_new(l->a), .turned = l->backward != (left % 2 == 1)};
    struct search_ask ask = {.goal = left ? SEARCH_GUIDE : SEARCH_BEST,
                             .limit = l->limit,
                             .floor = l->floor,
                             .floating = r->floating,
                             .max_states = l->max_states,
                             .max_bytes = l->max_bytes};
    if (l->guide.a) {
        const struct rung *from = rung_at(l->r, l->at - 1);
        ask.guide = l->guide.s;
        ask.vertex = guide_vertices(l, from, l->guide.turned, r, d.turned, d.a);
    }
    if (r->c)
        d.s = search_new(d.turned ? mirror(r->c, d.a) : r->c, &ask, d.a);
    else
        l->end = SEARCH_FULL;
    l->now = d;
}

struct ladder *ladder_new(struct rungs *r, int64_t limit, int64_t floor, bool backward,
                          uint64_t max_states, size_t max_bytes)
{
    struct arena *a = arena_new(r->c->g->mem);
    struct ladder *l = arena_alloc(a, sizeof *l);
    *l = (struct ladder){.a = a,
                         .r = r,
                         .limit = limit,
                         .floor = floor,
                         .backward = backward,
                         .max_states = max_states,
                         .max_bytes = max_bytes};
    climb(l);
    return l;
}

void ladder_free(struct ladder *l)
{
    arena_free(l->now.a);
    arena_free(l->guide.a);
    arena_free(l->a);
}

enum search_end ladder_go(struct ladder *l, uint64_t steps)
{
    uint64_t stop = ladder_steps(l) + steps;
    while (l->end == SEARCH_GOING && ladder_steps(l) < stop) {
        bool whole = l->at == l->r->n - 1;
        enum search_end end = search_go(l->now.s, stop - ladder_steps(l));
        if (end == SEARCH_FULL || whole || (end == SEARCH_DONE && !search_found(l->now.s))) {
            l->end = end;
        } else if (end == SEARCH_DONE) {
            l->steps += search_steps(l->now.s);
            arena_free(l->guide.a);
            l->guide = l->now;
            l->at++;
            climb(l);
        }
    }
    return l->end;
}

void ladder_tighten(struct ladder *l, int64_t limit)
{
    l->limit = limit < l->limit ? limit : l->limit;
    if (l->now.s)
        search_tighten(l->now.s, limit);
}

int64_t ladder_limit(const struct ladder *l)
{
    int64_t now = l->now.s ? search_limit(l->now.s) : l->limit;
    return now < l->limit ? now : l->limit;
}

bool ladder_take(const struct ladder *l, struct problem_plan *best)
{
    uint32_t n = l->r->c->g->n;
    struct problem_plan found = *best;
    if (!l->now.s || l->at < l->r->n - 1 || !search_found(l->now.s))
        return false;
    found.dev = arena_array(l->a, (size_t)n + 1, sizeof *found.dev);
    search_plan(l->now.s, &found);
    if (found.value >= best->value)
        return false;
    for (uint32_t v = 0; v < n; v++)
        best->dev[v] = found.dev[l->now.turned ? n - 1 - v : v];
    best->value = found.value;
    return true;
}

uint64_t ladder_steps(const struct ladder *l)
{
    return l->steps + (l->now.s ? search_steps(l->now.s) : 0);
}

uint32_t ladder_rung(const struct ladder *l)
{
    return l->at;
}

uint32_t ladder_passed(const struct ladder *l)
{
    uint64_t n = l->r->rung[l->at].c ? l->r->rung[l->at].c->g->n : 0;
    return n ? (uint32_t)((uint64_t)search_passed(l->now.s) * 1000 / n) : 0;
}

uint64_t ladder_states(const struct ladder *l)
{
    return l->now.s ? search_states(l->now.s) : 0;
}
