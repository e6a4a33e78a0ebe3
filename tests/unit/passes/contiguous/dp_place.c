/* dp_search, interval_search and lower bounds against brute force on random graphs of up to 10
 * vertices: several classes, memory limits, shared bytes, pins, nets of several consumers, pins
 * on the host. The brute force tries every chain of ideals and every device for every step,
 * loads by wdag_load. */
#include "passes/problem/problem.h"
#include "passes/bounds/crossing_bound.h"
#include "passes/contiguous/cut_order.h"
#include "passes/contiguous/ideal_both_ends.h"
#include "passes/contiguous/smaller_graph_bound.h"
#include "ir/base/max_flow.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/bounds/long_path.h"
#include "passes/problem/memory_need.h"
#include "passes/problem/reversed.h"
#include "passes/bounds/path_bound.h"
#include "passes/bounds/extent_bound.h"
#include "ir/dag/topo_order.h"
#include "tests/support/instances.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = SANITIZED ? 500 : 3000 };

/* ---- brute force ----------------------------------------------------------------------------- */

static uint32_t list_ideals(const struct wdag *g, uint32_t *ideal)
{
    uint32_t n = 0;
    for (uint32_t set = 0; set < 1U << g->n; set++) {
        bool down = true;
        for (uint32_t v = 0; v < g->n; v++)
            for (uint32_t i = g->pred.at[v]; (set >> v & 1) && i < g->pred.at[v + 1]; i++)
                down = down && (set >> g->pred.to[i] & 1);
        if (down)
            ideal[n++] = set;
    }
    return n;
}

/* The best chain of some ideals, n of them from the empty one to all, in an order that respects inclusion;
 * best[devices used][ideal] */
static int64_t best_chain(const struct instance *t, const uint32_t *ideal, uint32_t n)
{
    static int64_t best[1 << MAX_DEV][1 << MAX_N];
    const struct wdag *g = &t->g;
    uint32_t masks = 1U << t->c.ndev;
    int64_t least = COST_NEVER;
    for (uint32_t m = 0; m < masks; m++)
        for (uint32_t i = 0; i < n; i++)
            best[m][i] = COST_NEVER;
    best[0][0] = 0;
    for (uint32_t m = 1; m < masks; m++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t d = 0; d < t->c.ndev; d++)
                for (uint32_t i = 0; (m >> d & 1) && i < j; i++) {
                    int64_t before = best[m & ~(1U << d)][i];
                    uint32_t set = ideal[j] & ~ideal[i];
                    if (before == COST_NEVER || (ideal[i] & ~ideal[j]) || !pins_allow(g, set, d))
                        continue;
                    int64_t load = t->load[cluster_class(&t->c, d)][set];
                    int64_t value = load > before ? load : before;
                    best[m][j] = value < best[m][j] ? value : best[m][j];
                }
    for (uint32_t m = 0; m < masks; m++)
        least = best[m][n - 1] < least ? best[m][n - 1] : least;
    return least;
}

static int64_t brute_force(const struct instance *t)
{
    static uint32_t ideal[1 << MAX_N];
    return best_chain(t, ideal, list_ideals(&t->g, ideal));
}

/* The largest load of a plan; fails on what no plan may do. */
static int64_t value_of(const struct instance *t, const int32_t *dev)
{
    uint32_t set[MAX_DEV] = {0}, gone = 0, left = t->g.n;
    int64_t value = 0;
    for (uint32_t v = 0; v < t->g.n; v++) {
        assert_in_range(dev[v], 0, t->c.ndev - 1);
        set[dev[v]] |= 1U << v;
    }
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        int64_t load = t->load[cluster_class(&t->c, d)][set[d]];
        assert_true(pins_allow(&t->g, set[d], d));
        value = load > value ? load : value;
    }
    /* devices whose predecessors are all gone go, until none is left */
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t d = 0; d < t->c.ndev; d++) {
            bool free = set[d] && !(set[d] & gone);
            for (uint32_t v = 0; v < t->g.n; v++)
                for (uint32_t i = t->g.pred.at[v]; (set[d] >> v & 1) && i < t->g.pred.at[v + 1];
                     i++)
                    free = free && ((gone | set[d]) >> t->g.pred.to[i] & 1);
            if (free) {
                gone |= set[d];
                left -= (uint32_t)__builtin_popcount(set[d]);
                moved = true;
            }
        }
    }
    assert_int_equal(left, 0);
    return value;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* The problem turned round has the same optimum, and its plans are plans; turned twice it is itself. */
static void check_mirror(const struct instance *t, const struct problem *c, int64_t want)
{
    const struct problem *m = problem_mirror(c, t->a), *twice = problem_mirror(m, t->a);
    const struct wdag *g = twice->g;
    int32_t dev[MAX_N + 1], turned[MAX_N + 1];
    struct problem_plan plan = {LOAD_INF, turned, NULL};
    const struct dp_limits most = {.max_states = 100000};
    struct dp_found s = dp_search(m, &most, &plan, t->a);
    assert_true(s.complete);
    assert_int_equal(plan.value, want == COST_NEVER ? LOAD_INF : want);
    for (uint32_t v = 0; v < t->g.n; v++)
        dev[v] = turned[t->g.n - 1 - v];
    if (want != COST_NEVER)
        assert_int_equal(value_of(t, dev), want);
    assert_memory_equal(g->pin, t->g.pin, t->g.n * sizeof *g->pin);
    assert_memory_equal(g->net_pin.to, t->g.net_pin.to,
                        t->g.net_pin.at[t->g.nnet] * sizeof(uint32_t));
    assert_memory_equal(g->succ.to, t->g.succ.to, t->g.succ.at[t->g.n] * sizeof(uint32_t));
    assert_memory_equal(twice->kind[0].time, c->kind[0].time, t->g.n * sizeof(int64_t));
}

/* Searches for any plan within a limit, which leave out what others are as good as, find one if and only if
 * there is one, from each end. */
static void check_any(const struct instance *t, const struct problem *c, int64_t want,
                      uint64_t seed)
{
    const struct problem *m = problem_mirror(c, t->a);
    for (int64_t limit = want == COST_NEVER ? 100000 : want - 1; limit <= want && limit <= 100000;
         limit++)
        for (int i = 0; i < 2; i++) {
            int32_t dev[MAX_N + 1], turned[MAX_N + 1];
            struct problem_plan plan = {LOAD_INF, turned, NULL};
            struct search_ask ask = {.goal = SEARCH_BEST,
                                     .limit = limit,
                                     .floor = limit,
                                     .max_states = 100000,
                                     .max_bytes = 1 << 24};
            struct search *s = search_new(i ? m : c, &ask, t->a);
            while (search_go(s, 1 + seed % 7) == SEARCH_GOING) /* stopped and taken up again */
                ;
            if (search_found(s) != (want != COST_NEVER && limit >= want))
                fail_msg("seed %llu: %s plan with loads of at most %lld, brute force %lld",
                         (unsigned long long)seed, search_found(s) ? "a" : "no", (long long)limit,
                         (long long)want);
            if (!search_found(s))
                continue;
            search_plan(s, &plan);
            for (uint32_t v = 0; v < t->g.n; v++)
                dev[v] = turned[i ? t->g.n - 1 - v : v];
            assert_int_equal(plan.value, want);
            assert_int_equal(value_of(t, dev), want);
        }
}

static void test_brute_force(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t infeasible = 0, dpl_best = 0, searched = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        make_instance(t, seed);
        int64_t want = brute_force(t);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        assert_non_null(c);
        int32_t dev[MAX_N + 1];
        struct problem_plan plan = {LOAD_INF, dev, NULL};
        const struct interval_how orders = {.starts = (uint32_t)(seed % 4), .seed = seed};
        const struct dp_limits most = {.max_states = 100000};
        interval_search(c, &orders, &plan, t->a);
        if (plan.value < LOAD_INF)
            assert_int_equal(value_of(t, dev), plan.value);
        dpl_best += plan.value == want;
        struct dp_found s = dp_search(c, &most, &plan, t->a);
        searched += s.steps > 0;
        assert_true(s.complete);
        if (plan.value != (want == COST_NEVER ? LOAD_INF : want))
            fail_msg("seed %llu: found %lld, brute force %lld", (unsigned long long)seed,
                     (long long)plan.value, (long long)want);
        infeasible += want == COST_NEVER;
        if (want != COST_NEVER) {
            assert_int_equal(value_of(t, dev), want);
            assert_true(c->lower.value <= want);
        }
        check_mirror(t, c, want);
        check_any(t, c, want, seed);
        arena_free(t->a);
    }
    /* the instances must be worth something */
    assert_in_range(infeasible, GRAPHS / 20, GRAPHS / 2);
    assert_true(searched > GRAPHS / 3);
    assert_true(dpl_best < GRAPHS - infeasible);
    free(t);
}

/* How many cuts give more than the cheap bounds; fails where one gives more than the optimum. */
static uint32_t check_cuts(const struct instance *t, const struct problem *c, uint64_t seed,
                           int64_t want)
{
    uint64_t work = UINT64_MAX;
    uint32_t raised = 0;
    for (uint32_t v = 0; v < t->g.n; v++)
        for (uint32_t m = 1; m <= CUT_MOST; m *= 2)
            for (int up = 0; up < 2; up++) {
                int64_t bound = cut_bound_at(c, v, up, m, &work, t->a);
                if (bound > want)
                    fail_msg("seed %llu: a cut gives %lld, brute force %lld",
                             (unsigned long long)seed, (long long)bound, (long long)want);
                raised += bound > c->lower.value;
            }
    return raised;
}

/* A maximum flow is a minimum cut, tried over all sets of nodes. */
static void test_flow(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        uint64_t rng = seed, work = UINT64_MAX;
        uint32_t n = 4 + random_below(&rng, 6), narc = 10 + random_below(&rng, 20), from[30],
                 to[30];
        int64_t cap[30], least = INT64_MAX;
        struct flow f = flow_new(n, narc, a);
        for (uint32_t i = 0; i < narc; i++) {
            from[i] = random_below(&rng, n);
            to[i] = (from[i] + 1 + random_below(&rng, 3)) % n; /* short arcs: long paths */
            cap[i] = random_below(&rng, 4);
            flow_arc(&f, from[i], to[i], cap[i]);
        }
        for (uint32_t set = 1; set < 1U << n; set += 2) { /* node 0 in, node n - 1 out */
            int64_t sum = 0;
            for (uint32_t i = 0; i < narc; i++)
                sum += (set >> from[i] & 1) && !(set >> to[i] & 1) ? cap[i] : 0;
            least = set >> (n - 1) & 1 || sum >= least ? least : sum;
        }
        assert_int_equal(flow_max(&f, 0, n - 1, &work), least);
    }
    arena_free(a);
}

/* What leaves an ideal, at the price of class cls. */
static int64_t leaves(const struct wdag *g, uint32_t cls, uint32_t ideal)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t src = g->net_src[e], out = 0;
        for (uint32_t i = g->net_pin.at[e]; i < g->net_pin.at[e + 1]; i++)
            out += !(ideal >> g->net_pin.to[i] & 1);
        sum += src != UINT32_MAX && (ideal >> src & 1) && out ? g->net_cost[cls][e] : 0;
    }
    return sum;
}

/* For each k, some prefix of the order has the first k vertices of the path, and no ideal that has them and no others
 * is left by less. */
static uint32_t check_prefixes(const struct instance *t, const struct long_path *p,
                               const uint32_t *order)
{
    static uint32_t ideal[1 << MAX_N];
    uint32_t n = list_ideals(&t->g, ideal), several = 0;
    for (uint32_t k = 1; k < p->len; k++) {
        uint32_t has = 0, set = 0;
        int64_t least = INT64_MAX, most = -1, found = INT64_MAX;
        for (uint32_t i = 0; i < n; i++)
            if ((ideal[i] >> p->vertex[k] & 1) && !(ideal[i] >> p->vertex[k + 1] & 1)) {
                int64_t x = leaves(&t->g, 0, ideal[i]);
                least = x < least ? x : least;
                most = x > most ? x : most;
            }
        for (uint32_t i = 0; i < t->g.n; i++) {
            set |= 1U << order[i];
            has += order[i] == p->vertex[has + 1];
            if (has == k && leaves(&t->g, 0, set) < found)
                found = leaves(&t->g, 0, set);
        }
        assert_int_equal(found, least);
        several += most > least;
    }
    return several;
}

/* Orders through minimum cuts are orders, and the first goes through them. */
static void test_cut_orders(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t several = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        struct cut_orders o = {.seed = seed};
        make_instance(t, seed);
        t->c.ncls = t->g.ncls = 1; /* whose transfers count */
        t->c.ndev = t->c.cls[0].count;
        for (uint32_t v = 0; v < t->g.n; v++)
            t->g.pin[v] = -1;
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        assert_non_null(c);
        struct long_path p = long_path_of(c, 0, MAX_N, t->a);
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t *order = cut_order_next(c, &o, t->a);
            uint32_t seen = 0;
            for (uint32_t j = 0; j < t->g.n; j++) {
                for (uint32_t k = t->g.pred.at[order[j]]; k < t->g.pred.at[order[j] + 1]; k++)
                    assert_true(seen >> t->g.pred.to[k] & 1);
                assert_false(seen >> order[j] & 1);
                seen |= 1U << order[j];
            }
            if (i == 0)
                several += check_prefixes(t, &p, order);
        }
        arena_free(t->a);
    }
    printf("%u cuts are less than others\n", several);
    assert_true(several > GRAPHS);
    free(t);
}

/* Everything takes 64 times as long, so that nets can be taken in parts (wdag_bridge.h). */
static void lengthen(struct instance *t)
{
    for (uint32_t k = 0; k < t->g.ncls; k++) {
        for (uint32_t v = 0; v < t->g.n; v++)
            t->g.time[k][v] *= t->g.time[k][v] == COST_NEVER ? 1 : 64;
        for (uint32_t e = 0; e < t->g.nnet; e++)
            t->g.net_cost[k][e] *= 64;
        for (uint32_t set = 0; set < 1U << t->g.n; set++)
            t->load[k][set] *= t->load[k][set] == COST_NEVER ? 1 : 64;
    }
}

/* Bounds along a path: by what devices hold; by how far they get; by what devices hold, hubs counted apart. */
enum along { ALONG_HELD, ALONG_FAR, ALONG_APART, ALONG_KINDS };

/* Raises the bound of c in three turns along a path: never above `want`, the optimum.  Returns false if c has no hub to
 * be counted apart. */
static bool raise_along(struct problem *c, enum along how, int64_t upper, int64_t want,
                        uint64_t *rng)
{
    static const char *const what[ALONG_KINDS] = {"weight", "extent", "weight beside hubs"};
    struct arena *a = c->mem;
    struct holder *h = how == ALONG_HELD    ? holder_new(c, upper, a)
                       : how == ALONG_APART ? holder_new_apart(c, upper, a)
                                            : NULL;
    struct extents *r = how == ALONG_FAR ? extents_new(c, upper, a) : NULL;
    if (how == ALONG_APART && !h)
        return false;
    assert_true(h || r);
    for (uint32_t i = 0; i < 3 && c->lower.value < upper; i++) {
        int64_t before = c->lower.value;
        uint64_t spent;
        struct bound_means with = {.work = i == 2 ? 10000000 : random_below(rng, 5000), .mem = a};
        bool higher = problem_raise(c, h ? holder_bound(h, upper, &with, &spent)
                                         : extents_bound(r, upper, &with, &spent));
        assert_true(higher == (c->lower.value > before) && spent <= with.work);
        if (c->lower.value > want)
            fail_msg("%s along a path gives %lld, brute force %lld", what[how],
                     (long long)c->lower.value, (long long)want);
        assert_true(c->lower.value >= before && (c->lower.value == before || c->lower.proof));
    }
    return true;
}

/* Bounds along a path never give more than the optimum, whatever is supposed and however much work is done, in one turn
 * or several; and they say something. */
static void test_paths(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t feasible = 0, with_hubs = 0, raised[ALONG_KINDS] = {0}, exact[ALONG_KINDS] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= 2 * GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t rng = seed;
        make_instance(t, seed);
        if (seed % 2)
            lengthen(t);
        int64_t want = brute_force(t);
        if (want == COST_NEVER || want == 0) {
            arena_free(t->a);
            continue;
        }
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t upper = want + random_below(&rng, 40);
        const struct bound average = c->lower;
        feasible++;
        for (enum along how = ALONG_HELD; how < ALONG_KINDS; how++) {
            if ((how == ALONG_FAR && seed % 4) || (how == ALONG_APART && seed % 3))
                continue;
            c->lower = average;
            c->lower.value = random_below(&rng, 2) ? 0 : average.value;
            with_hubs += raise_along(c, how, upper, want, &rng) && how == ALONG_APART;
            raised[how] += c->lower.value > average.value;
            exact[how] += c->lower.value == want;
        }
        arena_free(t->a);
    }
    printf("%u feasible: %u raised by paths, %u exact; by extents %u, %u exact; %u with hubs: %u "
           "raised, %u exact\n",
           feasible, raised[ALONG_HELD], exact[ALONG_HELD], raised[ALONG_FAR], exact[ALONG_FAR],
           with_hubs, raised[ALONG_APART], exact[ALONG_APART]);
    assert_true(raised[ALONG_HELD] > feasible / 4 && exact[ALONG_HELD] > feasible / 10);
    assert_true(raised[ALONG_FAR] > feasible / 16 && exact[ALONG_FAR] > feasible / 40);
    assert_true(with_hubs > feasible / 16 && exact[ALONG_APART] > with_hubs / 3);
    free(t);
}

/* Lower bounds never exceed the brute force's optimum, and say something: those of problem_build,
 * those of the graph without random vertices, and, with nothing left out, the optimum itself. */
static void test_bounds(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t cheap = 0, exact = 0, cut = 0, better = 0, feasible = 0, climbed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t rng = seed;
        uint8_t out[MAX_N] = {0}, none[MAX_N] = {0};
        const struct dp_limits most = {.max_states = 100000, .max_steps = UINT64_MAX};
        make_instance(t, seed);
        if (seed % 2)
            lengthen(t);
        int64_t want = brute_force(t);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        for (uint32_t v = 0; v < t->g.n; v++)
            out[v] = t->g.pin[v] < 0 && random_below(&rng, 3) == 0;
        struct smaller_problem r = problem_relax(c, out, t->a, &d),
                               all = problem_relax(c, none, t->a, &d);
        if (want == COST_NEVER) {
            assert_true(dp_refute(all.c, 100000, all.floating, &most, t->a).none);
            arena_free(t->a);
            continue;
        }
        feasible++;
        assert_true(c->lower.value <= want);
        cheap += c->lower.value == want;
        for (int64_t limit = want; limit < want + 20; limit++) {
            if (dp_refute(r.c, limit, r.floating, &most, t->a).none)
                fail_msg("seed %llu: loads of %lld refuted, brute force %lld",
                         (unsigned long long)seed, (long long)limit, (long long)want);
            assert_false(dp_refute(all.c, limit, all.floating, &most, t->a).none);
        }
        assert_true(dp_refute(all.c, want - 1, 0, &most, t->a).none);
        exact += dp_refute(r.c, want - 1, r.floating, &most, t->a).none;
        cut += check_cuts(t, c, seed, want);
        int64_t before = c->lower.value;
        struct bound climb = dp_climb(c, want, &most, t->a, &d);
        assert_true(climb.value == before || climb.value == want);
        climbed += climb.value > before;
        assert_int_equal(dp_climb(c, want + 1, &most, t->a, &d).value, before);
        problem_raise(c, dp_bound(c, want, 1000000, NULL, t->a, &d));
        better += c->lower.value > before;
        assert_in_range(c->lower.value, before, want);
        arena_free(t->a);
    }
    printf("%u of %u feasible: %u closed by cheap bounds, %u without some vertices, %u raised, "
           "%u by the climb, %u cuts raise the cheap bounds\n",
           feasible, GRAPHS, cheap, exact, better, climbed, cut);
    assert_true(cheap > feasible / 10 && exact > feasible / 3 && better > feasible / 3);
    assert_true(climbed > feasible / 3);
    assert_true(cut > feasible);
    free(t);
}

/* With a path through the vertices, the ideals are prefixes: the search is the interval DP. */
static void test_path(void **state)
{
    struct instance *t = malloc(sizeof *t);
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct diag d = {0};
        uint32_t from[MAX_N], to[MAX_N], order[MAX_N];
        int32_t dev[MAX_N + 1], dev2[MAX_N + 1];
        struct problem_plan dpl = {LOAD_INF, dev, NULL}, dp = {LOAD_INF, dev2, NULL};
        const struct dp_limits most = {.max_states = 100000};
        make_instance(t, seed);
        for (uint32_t v = 0; v < t->g.n; v++) {
            order[v] = from[v] = v;
            to[v] = v + 1;
        }
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        interval_order(c, order, NULL, NULL, &dpl, t->a);
        t->g.succ = csr_build(t->a, t->g.n, t->g.n - 1, from, to);
        t->g.pred = csr_transpose(t->a, &t->g.succ, t->g.n, t->g.n);
        struct dp_found s = dp_search(c, &most, &dp, t->a);
        assert_true(s.complete);
        assert_int_equal(dpl.value, dp.value);
        arena_free(t->a);
    }
    free(t);
}

/* An order cut at some positions only, in units of several vertices: the best of all chains of these prefixes. */
static void test_units(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t units = 0, none = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t rng = seed;
        uint8_t cut[MAX_N + 1] = {0};
        uint32_t prefix[MAX_N + 2] = {0}, n = 1, set = 0;
        int32_t dev[MAX_N + 1];
        struct problem_plan plan = {LOAD_INF, dev, NULL};
        make_instance(t, seed);
        const uint32_t *order = topo_order(&t->g, TOPO_RANDOM, seed, t->a);
        for (uint32_t p = 0; p < t->g.n; p++) {
            cut[p] = random_below(&rng, 2) == 0;
            if (p && cut[p])
                prefix[n++] = set;
            set |= 1U << order[p];
        }
        prefix[n++] = set;
        int64_t want = best_chain(t, prefix, n);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        interval_order(c, order, cut, NULL, &plan, t->a);
        if (plan.value != (want == COST_NEVER ? LOAD_INF : want))
            fail_msg("seed %llu: %lld with %u units, brute force %lld", (unsigned long long)seed,
                     (long long)plan.value, n - 1, (long long)want);
        if (want != COST_NEVER)
            assert_int_equal(value_of(t, dev), want);
        none += want == COST_NEVER;
        units += n - 1;
        arena_free(t->a);
    }
    assert_in_range(units, 2 * GRAPHS, 6 * GRAPHS);
    assert_in_range(none, GRAPHS / 20, GRAPHS * 3 / 4);
    free(t);
}

/* Whether any plan fits a given memory per device. */
static void test_memory(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t yes = 0, no = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        make_instance(t, seed);
        for (int64_t memory = 5; memory < 90; memory += 17) {
            struct diag d = {0};
            int32_t dev[MAX_N + 1];
            struct problem_plan plan = {LOAD_INF, dev, NULL};
            const struct dp_limits most = {.max_states = 100000};
            struct problem *c =
                problem_build(&t->g, &(struct scene){.cluster = &t->c}, memory, t->a, &d);
            problem_forget_times(c);
            struct dp_found s = dp_search(c, &most, &plan, t->a);
            make_loads(t, memory);
            assert_true(s.complete);
            assert_int_equal(plan.value < LOAD_INF, brute_force(t) != COST_NEVER);
            if (plan.value < LOAD_INF)
                yes++;
            else
                no++;
        }
        arena_free(t->a);
    }
    assert_true(yes > 100 && no > 100);
    free(t);
}

/* With less than memory_need says no plan of any shape fits; a plan that fits needs what memory_of_plan says. */
static void test_memory_need(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t short_of = 0, tight = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct diag d = {0};
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        struct memory_need need = memory_need(c);
        if (need.least) {
            make_loads(t, need.least - 1);
            assert_true(brute_force(t) == COST_NEVER);
            make_loads(t, need.least);
            tight += brute_force(t) != COST_NEVER;
            short_of++;
        }
        c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, INT64_MAX, t->a, &d);
        int32_t dev[MAX_N + 1];
        struct problem_plan plan = {LOAD_INF, dev, NULL};
        const struct interval_how orders = {.starts = 3, .seed = seed};
        if (interval_search(c, &orders, &plan, t->a).better) {
            int64_t memory = memory_of_plan(c, dev, t->a);
            make_loads(t, memory);
            assert_int_equal(value_of(t, dev), plan.value);
            make_loads(t, memory - 1);
            if (memory)
                assert_int_equal(value_of(t, dev), COST_NEVER);
        }
        arena_free(t->a);
    }
    printf("%u of 1000 are short of memory, %u would do with what is said\n", short_of, tight);
    assert_true(short_of > 50 && tight > short_of / 3);
    free(t);
}

/* Every kind of order is topological. */
static void test_orders(void **state)
{
    struct instance *t = malloc(sizeof *t);
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make_instance(t, seed);
        for (int kind = TOPO_LIFO; kind <= TOPO_THIN; kind++) {
            uint32_t *order = topo_order(&t->g, (enum topo_kind)kind, seed % 3, t->a), seen = 0;
            for (uint32_t i = 0; i < t->g.n; i++) {
                for (uint32_t k = t->g.pred.at[order[i]]; k < t->g.pred.at[order[i] + 1]; k++)
                    assert_true(seen >> t->g.pred.to[k] & 1);
                assert_false(seen >> order[i] & 1);
                seen |= 1U << order[i];
            }
            assert_int_equal(seen, (1U << t->g.n) - 1);
        }
        arena_free(t->a);
    }
    free(t);
}

/* Chains side by side, so that there are many ideals, and a heavy chain before or behind them. */
static void make_problems(struct instance *t, uint64_t seed)
{
    enum { CHAINS = 4, LENGTH = 5, TAIL = 5, N = CHAINS * LENGTH + TAIL };
    uint64_t rng = seed;
    uint32_t from[N + CHAINS], to[N + CHAINS], net[2 * (N + CHAINS)], pin[2 * (N + CHAINS)];
    struct wdag *g = &t->g;
    memset(t, 0, sizeof *t);
    t->a = g->mem = arena_new(NULL);
    t->c = (struct cluster){.ncls = 1, .ndev = MAX_DEV};
    t->c.cls[0] = (struct device_class){.name = "class", .count = MAX_DEV, .memory = -1};
    g->n = N;
    g->ncls = 1;
    g->time = arena_array(t->a, 1, sizeof *g->time);
    g->net_cost = arena_array(t->a, 1, sizeof *g->net_cost);
    g->time[0] = arena_array(t->a, N, sizeof(int64_t));
    g->net_cost[0] = arena_array(t->a, N + CHAINS, sizeof(int64_t));
    g->size = arena_array(t->a, N, sizeof(int64_t));
    g->pin = arena_array(t->a, N, sizeof(int32_t));
    g->net_host = arena_alloc(t->a, N + CHAINS);
    g->net_src = arena_array(t->a, N + CHAINS, sizeof(uint32_t));
    bool behind = seed % 2;
    for (uint32_t v = 0; v < N; v++) {
        uint32_t i = behind ? v : N - 1 - v, next = i < CHAINS * LENGTH ? i + CHAINS : i + 1;
        bool tail = i >= CHAINS * LENGTH;
        g->time[0][v] = random_below(&rng, 20) + (tail ? 60 : 5);
        g->pin[v] = -1;
        if (next >= N)
            continue;
        next = next < CHAINS * LENGTH || tail ? next : CHAINS * LENGTH;
        uint32_t e = g->nnet++, w = behind ? next : N - 1 - next;
        from[e] = g->net_src[e] = behind ? v : w;
        to[e] = behind ? w : v;
        net[2 * e] = net[2 * e + 1] = e;
        pin[2 * e] = from[e];
        pin[2 * e + 1] = to[e];
        g->net_cost[0][e] = 1 + random_below(&rng, 5);
    }
    g->net_pin = csr_build(t->a, g->nnet, 2 * g->nnet, net, pin);
    g->net_of = csr_transpose(t->a, &g->net_pin, g->nnet, g->n);
    g->succ = csr_build(t->a, g->n, g->nnet, from, to);
    g->pred = csr_transpose(t->a, &g->succ, g->n, g->n);
    g->shared_by = csr_build(t->a, 0, 0, NULL, NULL);
    g->shared_of = csr_build(t->a, g->n, 0, NULL, NULL);
}

static int64_t largest_load(const struct wdag *g, const int32_t *dev, uint32_t ndev)
{
    int64_t most = 0;
    for (uint32_t d = 0; d < ndev; d++) {
        uint8_t *member = arena_alloc(g->mem, g->n);
        int64_t compute, transfer, size;
        for (uint32_t v = 0; v < g->n; v++)
            member[v] = dev[v] == (int32_t)d;
        wdag_load(g, member, 0, &compute, &transfer, &size);
        most = compute + transfer > most ? compute + transfer : most;
    }
    return most;
}

/* The search from the better end finds what the search from the first does, in fewer steps where that is
 * long. */
static void test_both(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t shorter = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct diag d = {0};
        make_problems(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int32_t *dev = arena_array(t->a, t->g.n, sizeof *dev),
                *dev2 = arena_array(t->a, t->g.n, sizeof *dev2);
        struct problem_plan one = {LOAD_INF, dev, NULL}, both = {LOAD_INF, dev2, NULL};
        const struct dp_limits most = {.max_states = 10000000};
        struct dp_found s = dp_search(c, &most, &one, t->a), s2 = dp_both(c, &most, &both);
        assert_true(s.complete && s2.complete);
        assert_int_equal(one.value, both.value);
        assert_int_equal(largest_load(&t->g, dev, MAX_DEV), one.value);
        assert_int_equal(largest_load(&t->g, dev2, MAX_DEV), one.value);
        shorter += s2.steps < s.steps;
        assert_true(s2.steps < s.steps + 50000); /* the probes */
        arena_free(t->a);
    }
    assert_true(shorter > 5);
    free(t);
}

/* A limit of states ends the search with the best plan so far and a reason. */
static void test_limits(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t stopped = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct diag d = {0};
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int32_t dev[MAX_N + 1];
        struct problem_plan plan = {LOAD_INF, dev, NULL};
        signal_flag stop = 1;
        struct listener listener = {.stop = &stop};
        struct clock clock = {.listener = &listener};
        const struct interval_how orders = {.starts = 3, .seed = 1, .clock = &clock};
        interval_search(c, &orders, &plan, t->a);
        if (plan.value < LOAD_INF)
            assert_int_equal(value_of(t, dev), plan.value);
        stopped += clock.why != NULL;
        arena_free(t->a);
    }
    assert_true(stopped > 0);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_flow),        cmocka_unit_test(test_cut_orders),
        cmocka_unit_test(test_paths),       cmocka_unit_test(test_path),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_memory_need),
        cmocka_unit_test(test_orders),      cmocka_unit_test(test_units),
        cmocka_unit_test(test_both),        cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
