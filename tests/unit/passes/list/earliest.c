/* Earliest task first against its rules, written once more without heaps: on random graphs of up to 10 nodes and 4
 * devices, with classes, groups of devices and of nodes, little memory, and favourite children at random
 * (earliest.c). */
#include "passes/list/earliest.h"

#include "ir/dag/topo_order.h"
#include "tests/support/aim.h"
#include "tests/support/sanitized.h"
#include "tests/support/step_draw.h"

enum { CASES = SANITIZED ? 2000 : 20000 };

/* What is known at a moment. */
struct naive {
    struct placement *r;
    const struct earliest *how;
    const struct wdag *g;
    uint32_t nd, n, order[MOST_OPS];
    int64_t now, end[MOST_OPS], free[MOST_DEVS];
    bool placed[MOST_OPS], ready[MOST_OPS], passed[MOST_OPS][MOST_DEVS];
    uint32_t last[MOST_DEVS];
};

static int32_t home(const struct naive *s, uint32_t v)
{
    return s->r->home[s->r->group[v]];
}

static bool can_run(const struct naive *s, uint32_t v, uint32_t d)
{
    return s->r->classes[s->r->group[v]] >> s->how->edge->cls[d] & 1;
}

static int64_t arrives(const struct naive *s, uint32_t v, uint32_t d)
{
    int64_t latest = 0;
    for (uint32_t i = s->g->pred.at[v]; i < s->g->pred.at[v + 1]; i++) {
        uint32_t u = s->g->pred.to[i];
        int64_t t = s->end[u] + edge_time(s->how->edge, i, (uint32_t)home(s, u), d);
        latest = t > latest ? t : latest;
    }
    return latest;
}

static bool waiting(const struct naive *s, uint32_t v)
{
    return s->ready[v] && !s->placed[v];
}

/* Whether v, with a home or without, could start on d now, as far as its values go. */
static bool can_start(const struct naive *s, uint32_t v, uint32_t d, bool homeless)
{
    bool here = homeless ? home(s, v) < 0 && can_run(s, v, d) && !s->passed[v][d]
                         : home(s, v) == (int32_t)d;
    return waiting(s, v) && here && arrives(s, v, d) <= s->now;
}

/* Of those of rank `from` and above the first that could start on d; -1: none. */
static int first(const struct naive *s, uint32_t d, bool homeless, uint32_t from)
{
    int best = -1;
    for (uint32_t v = 0; v < s->g->n; v++)
        if (s->how->rank[v] >= from && can_start(s, v, d, homeless) &&
            (best < 0 || s->how->rank[v] < s->how->rank[best]))
            best = (int)v;
    return best;
}

static bool before(const struct naive *s, int u, int v)
{
    return u >= 0 && (v < 0 || s->how->rank[u] < s->how->rank[v]);
}

static void give_up(struct naive *s, uint32_t v)
{
    placement_put(s->r, &v, 1, placement_least(s->r, &v, 1));
}

static int plain(struct naive *s, uint32_t d, bool *anew)
{
    for (int own = first(s, d, false, 0);;) {
        int any = first(s, d, true, 0);
        uint32_t v = (uint32_t)any;
        if (any < 0 || before(s, own, any) || placement_fits(s->r, &v, 1, d))
            return before(s, own, any) ? own : any;
        bool left = false;
        s->passed[v][d] = true;
        for (uint32_t e = 0; e < s->nd; e++)
            left = left || (can_run(s, v, e) && !s->passed[v][e]);
        if (!left) {
            give_up(s, v);
            *anew = true;
            return -1;
        }
    }
}

static int64_t earliest_start(const struct naive *s, uint32_t v, uint32_t d)
{
    int64_t t = arrives(s, v, d), from = s->free[d] > s->now ? s->free[d] : s->now;
    return t > from ? t : from;
}

static bool urgent(struct naive *s, uint32_t v, uint32_t d)
{
    bool is = placement_fits(s->r, &v, 1, d);
    for (uint32_t e = 0; e < s->nd; e++)
        is = is && (earliest_start(s, v, e) <= s->now || !placement_fits(s->r, &v, 1, e));
    return is;
}

/* The favourite that d is awake for; -1: none. */
static int favourite(struct naive *s, uint32_t d)
{
    uint32_t f = s->last[d] == UINT32_MAX || !s->how->favourite ? NO_FAVOURITE
                                                                : s->how->favourite[s->last[d]];
    if (f == NO_FAVOURITE || !waiting(s, f) || home(s, f) >= 0 || !placement_fits(s->r, &f, 1, d))
        return -1;
    for (uint32_t e = 0; e < s->nd; e++)
        if (earliest_start(s, f, e) < earliest_start(s, f, d) && placement_fits(s->r, &f, 1, e))
            return -1;
    return (int)f;
}

static int proposal(struct naive *s, uint32_t d, bool *anew)
{
    int f = favourite(s, d), own = first(s, d, false, 0), v = -1;
    if (f < 0)
        return plain(s, d, anew);
    for (uint32_t from = 0; (v = first(s, d, true, from)) >= 0 && !before(s, own, v);) {
        if (urgent(s, (uint32_t)v, d))
            return v;
        from = s->how->rank[v] + 1;
    }
    return own >= 0 ? own : arrives(s, (uint32_t)f, d) <= s->now ? f : -1;
}

/* One that starts now; false: there is none. */
static bool start_one(struct naive *s)
{
    int best = -1;
    uint32_t where = 0;
    bool anew = false;
    for (uint32_t d = 0; d < s->nd && !anew; d++) {
        int v = s->free[d] <= s->now ? proposal(s, d, &anew) : -1;
        where = before(s, v, best) ? d : where;
        best = before(s, v, best) ? v : best;
    }
    if (anew || best < 0)
        return anew;
    uint32_t v = (uint32_t)best;
    int64_t time = s->g->time[s->how->edge->cls[where]][v];
    placement_put(s->r, &v, 1, where);
    s->placed[v] = true;
    s->order[s->n++] = v;
    s->end[v] = s->free[where] = s->now + (time == COST_NEVER ? 0 : time);
    s->last[where] = v;
    return true;
}

/* Whether something has become ready. */
static bool settle_now(struct naive *s)
{
    bool some = false;
    for (uint32_t v = 0; v < s->g->n; v++) {
        bool now = !s->ready[v];
        for (uint32_t i = s->g->pred.at[v]; i < s->g->pred.at[v + 1]; i++)
            now = now && s->placed[s->g->pred.to[i]] && s->end[s->g->pred.to[i]] <= s->now;
        s->ready[v] = s->ready[v] || now;
        some = some || now;
    }
    return some;
}

static int64_t next_time(const struct naive *s)
{
    int64_t next = INT64_MAX;
    for (uint32_t d = 0; d < s->nd; d++) {
        next = s->free[d] > s->now && s->free[d] < next ? s->free[d] : next;
        for (uint32_t v = 0; v < s->g->n && s->free[d] <= s->now; v++) {
            bool here = home(s, v) < 0 ? can_run(s, v, d) : home(s, v) == (int32_t)d;
            if (waiting(s, v) && here && arrives(s, v, d) > s->now && arrives(s, v, d) < next)
                next = arrives(s, v, d);
        }
    }
    return next;
}

static void run_naive(struct naive *s)
{
    memset(s->last, 0xff, sizeof s->last);
    for (settle_now(s);;) {
        while (start_one(s))
            ;
        if (settle_now(s)) /* what takes no time */
            continue;
        if (s->n == s->g->n)
            return;
        s->now = next_time(s);
        assert_true(s->now < INT64_MAX);
        settle_now(s);
    }
}

/* The devices' memory: all of it, or little. */
static void draw_memory(struct made *s, const struct wdag *g, uint64_t *rng)
{
    struct cluster *c = (struct cluster *)s->of.cluster;
    int64_t all = wdag_bytes(g);
    for (uint32_t k = 0; k < c->ncls; k++)
        c->cls[k].memory =
            test_below(rng, 3) ? all * (1 + test_below(rng, 12)) / (4 * c->ndev) : -1;
}

static uint32_t *draw_favourites(const struct wdag *g, uint64_t *rng, struct arena *a)
{
    uint32_t *f = arena_array(a, (size_t)g->n + 1, sizeof *f);
    bool child[MOST_OPS] = {false};
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t k = g->succ.at[v], n = g->succ.at[v + 1] - k;
        uint32_t to = n ? g->succ.to[k + test_below(rng, n)] : NO_FAVOURITE;
        f[v] = n && !child[to] && test_below(rng, 4) ? to : NO_FAVOURITE;
        if (f[v] != NO_FAVOURITE)
            child[to] = true;
    }
    return f;
}

/* Some vertices share a device. */
static struct wdag *draw_groups(struct wdag *base, uint64_t *rng, struct ctx *x)
{
    uint32_t group[MOST_OPS], n = base->n;
    for (uint32_t v = 0; v < n; v++)
        group[v] = v && test_below(rng, 4) == 0 ? group[test_below(rng, v)] : v;
    n = wdag_join_cycles(base, NULL, group, n);
    return wdag_merge(base, group, n, "test", x->use.mem, x->use.diag);
}

static bool against_rules(struct made *s, uint64_t *rng, bool favourites)
{
    struct diag quiet = diag_silent();
    struct ctx x = {.scene = s->of, .use.diag = &quiet};
    struct placement r;
    bool run;
    x.scene.place = NULL;
    x.use.mem = arena_new(NULL);
    x.use.scratch = arena_new(x.use.mem);
    assert_int_equal(ctx_base(&x), 0);
    const struct wdag *g = x.levels.base;
    draw_memory(s, g, rng);
    if (test_below(rng, 2))
        x.levels.any_shape = draw_groups(x.levels.base, rng, &x);
    if ((run = g->n && !placement_build(&r, &x, "test", x.use.scratch))) {
        struct edges edge = edges_build(&x.scene, g, x.use.scratch);
        uint32_t *at = topo_order(g, TOPO_FIFO, 0, x.use.scratch), rank[MOST_OPS], order[MOST_OPS];
        int32_t homes[MOST_OPS];
        int64_t start[MOST_OPS];
        for (uint32_t i = 0; i < g->n; i++)
            rank[at[i]] = i;
        struct earliest how = {&edge, rank, favourites ? draw_favourites(g, rng, x.use.mem) : NULL,
                               start};
        placement_empty(&r);
        earliest_place(&r, &how, order, x.use.scratch);
        uint32_t lacking = r.lacking;
        for (uint32_t v = 0; v < g->n; v++)
            homes[v] = r.home[r.group[v]];
        struct naive want = {.r = &r, .how = &how, .g = g, .nd = x.scene.cluster->ndev};
        placement_empty(&r);
        run_naive(&want);
        assert_int_equal(lacking, r.lacking);
        assert_memory_equal(order, want.order, g->n * sizeof *order);
        for (uint32_t v = 0; v < g->n; v++) {
            int64_t time = g->time[edge.cls[homes[v]]][v];
            assert_int_equal(homes[v], home(&want, v));
            assert_int_equal(start[v], want.end[v] - (time == COST_NEVER ? 0 : time));
        }
    }
    arena_free(x.use.mem);
    return run;
}

static void random_graphs(void **state)
{
    (void)state;
    uint64_t rng = 62;
    uint32_t ran = 0;
    static struct made s;
    for (uint32_t i = 0; i < CASES; i++) {
        draw(&s, &rng, i % 8 < 5, true);
        aim_at(&s.of.model, "makespan");
        s.of.model.step.network = i / 2 % 2 ? NETWORK_DIRECT : NETWORK_HOST;
        s.of.model.memory = MEMORY_SUM;
        ran += against_rules(&s, &rng, i % 4 > 0);
        unload(&s);
    }
    assert_true(ran > CASES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
