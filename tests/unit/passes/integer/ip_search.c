/* Integer programs for placement against brute force and the exact search, on random graphs of up to 10 vertices:
 * several classes, memory limits, shared bytes, pins, nets of several consumers, pins on the host. The brute
 * force puts sets on one device after another, loads by wdag_load; it knows no columns and rows. */
#include "passes/contiguous/ideal_both_ends.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/integer/ip_refute.h"
#include "passes/integer/ip_search.h"
#include "ir/dag/topo_order.h"
#include "tests/support/instances.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = SANITIZED ? 40 : 120, CBC_EVERY = 4, ONE = 1 }; /* ONE: a gap of a millionth */

/* ---- brute force ----------------------------------------------------------------------------- */

/* Whether no path leaves the set and comes back. */
static bool is_convex(const struct wdag *g, uint32_t set)
{
    uint32_t left = 0; /* vertices outside that the set leads to */
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t i = g->pred.at[v]; i < g->pred.at[v + 1]; i++) {
            uint32_t u = g->pred.to[i];
            bool after = (set >> u & 1) || (left >> u & 1);
            if (!(set >> v & 1) && after)
                left |= 1U << v;
            if ((set >> v & 1) && (left >> u & 1))
                return false;
        }
    return true;
}

/* The least largest load over all ways to share the vertices out, each device with a (convex) set. */
static int64_t brute_force(const struct instance *t, bool convex)
{
    static int64_t best[1 << MAX_N], next[1 << MAX_N];
    static bool good[1 << MAX_N];
    uint32_t sets = 1U << t->g.n;
    for (uint32_t set = 0; set < sets; set++) {
        best[set] = set ? COST_NEVER : 0;
        good[set] = !convex || is_convex(&t->g, set);
    }
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        const int64_t *load = t->load[cluster_class(&t->c, d)];
        memcpy(next, best, sets * sizeof *next);
        for (uint32_t set = 0; set < sets; set++)
            for (uint32_t s = set; s; s = (s - 1) & set) {
                int64_t before = best[set & ~s];
                if (!good[s] || before == COST_NEVER || load[s] == COST_NEVER ||
                    !pins_allow(&t->g, s, d))
                    continue;
                int64_t value = load[s] > before ? load[s] : before;
                next[set] = value < next[set] ? value : next[set];
            }
        memcpy(best, next, sets * sizeof *next);
    }
    return best[sets - 1];
}

/* The largest load of a plan by wdag_load. */
static int64_t value_of(const struct instance *t, const int32_t *dev)
{
    int64_t value = 0;
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        uint32_t set = 0;
        for (uint32_t v = 0; v < t->g.n; v++)
            set |= (uint32_t)(dev[v] == (int32_t)d) << v;
        int64_t load = t->load[cluster_class(&t->c, d)][set];
        assert_true(pins_allow(&t->g, set, d));
        value = load > value ? load : value;
    }
    return value;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static struct ip_how make_how(enum ip_shape shape, const struct mip_solver *s, struct clock *clock)
{
    return (struct ip_how){.planner = "test",
                           .shape = shape,
                           .solver = s,
                           .clock = clock,
                           .gap = ONE,
                           .limit = LOAD_INF};
}

static int64_t exact_chain(const struct problem *c)
{
    int32_t dev[MAX_N + 1];
    struct problem_plan plan = {LOAD_INF, dev, NULL};
    struct dp_found s = dp_both(c, &(struct dp_limits){.max_states = 100000}, &plan);
    assert_true(s.complete);
    return plan.value == LOAD_INF ? COST_NEVER : plan.value;
}

/* How to search: by which solver, from a heuristic's plan or from nothing. */
struct how {
    const struct mip_solver *solver;
    uint64_t seed;
    bool warm;
};

static void check_search(const struct instance *t, const struct problem *c, enum ip_shape shape,
                         const struct how *how, int64_t want)
{
    const struct mip_solver *solver = how->solver;
    const uint64_t seed = how->seed;
    struct clock clock = {0};
    const struct ip_how ask = make_how(shape, solver, &clock);
    const struct interval_how dpl = {.starts = 1, .seed = seed};
    struct diag d = {0};
    struct loads l;
    int32_t dev[MAX_N + 1];
    struct problem_plan best = {LOAD_INF, dev, NULL};
    assert_int_equal(loads_new(&l, c, "test", t->a, &d), 0);
    if (how->warm)
        interval_search(c, &dpl, &best, t->a);
    const struct ip_found r = ip_search(c, &l, &ask, &best, t->a, &d);
    assert_int_equal(r.rc, 0);
    if (!r.complete || r.refused || best.value != (want == COST_NEVER ? LOAD_INF : want) ||
        r.bound != best.value)
        fail_msg("seed %llu, shape %d, %s: found %lld, bound %lld (%s), %u refused, want %lld",
                 (unsigned long long)seed, shape, solver->name, (long long)best.value,
                 (long long)r.bound, r.complete ? "complete" : r.why, r.refused, (long long)want);
    if (want != COST_NEVER)
        assert_int_equal(value_of(t, dev), want);
}

static void test_optimum(void **state)
{
    const struct mip_solver *const solver[] = {&mip_lpsolve, &mip_cbc};
    struct instance *t = malloc(sizeof *t);
    uint32_t infeasible = 0, apart = 0, cyclic = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t any = brute_force(t, false), convex = brute_force(t, true),
                problem = exact_chain(c);
        assert_true(any <= convex && convex <= problem);
        infeasible += any == COST_NEVER;
        apart += any < convex;
        cyclic += convex < problem;
        for (int k = 0; k < (seed % CBC_EVERY ? 1 : 2) && solver[k]->attempts; k++) {
            const struct how how = {solver[k], seed, (seed / CBC_EVERY + (uint64_t)k) % 2};
            check_search(t, c, IP_ANY, &how, any);
            check_search(t, c, IP_CONVEX, &how, convex);
            check_search(t, c, IP_CHAIN, &how, problem);
        }
        arena_free(t->a);
    }
    /* the instances must be worth something */
    assert_in_range(infeasible, GRAPHS / 50, GRAPHS / 2);
    assert_true(apart > GRAPHS / 20 && cyclic > 0);
    free(t);
}

/* With a gap, from some plan: the bound holds, and a plan is called the best only if it is. */
static void test_gap(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t below = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 4 * GRAPHS; seed++) {
        struct clock clock = {0};
        struct ip_how ask = make_how(IP_ANY, &mip_lpsolve, &clock);
        const struct interval_how dpl = {.starts = 1, .seed = seed};
        struct diag d = {0};
        struct loads l;
        int32_t dev[MAX_N + 1];
        struct problem_plan best = {LOAD_INF, dev, NULL};
        make_instance(t, seed);
        if (t->g.n > 6) { /* make it short */
            arena_free(t->a);
            continue;
        }
        for (uint32_t k = 0; k < t->g.ncls; k++) { /* loads are multiples of 10 */
            for (uint32_t v = 0; v < t->g.n; v++)
                t->g.time[k][v] = sat_mul(t->g.time[k][v], 10);
            for (uint32_t e = 0; e < t->g.nnet; e++)
                t->g.net_cost[k][e] *= 10;
        }
        make_loads(t, -1);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = brute_force(t, false);
        ask.gap = seed % 2 ? 100000 : 500000;
        assert_int_equal(loads_new(&l, c, "test", t->a, &d), 0);
        if (seed % 3)
            interval_search(c, &dpl, &best, t->a);
        const struct ip_found r = ip_search(c, &l, &ask, &best, t->a, &d);
        assert_int_equal(r.rc, 0);
        if (want != COST_NEVER && r.bound > want)
            fail_msg("seed %llu: bound %lld, want %lld", (unsigned long long)seed,
                     (long long)r.bound, (long long)want);
        below += want != COST_NEVER && r.bound < best.value;
        arena_free(t->a);
    }
    assert_true(below > GRAPHS / 10);
    free(t);
}

/* Two vertices on three devices: the first takes 17, 39 or 13, the second cannot be on the first device and
 * takes 7.  lp_solve says 17 if the bounds of T are given as bounds. */
static void test_solvers(void **state)
{
    const struct mip_solver *const solver[] = {&mip_lpsolve, &mip_cbc};
    static const double time[2][3] = {{17, 39, 13}, {0, 7, 7}};
    struct arena *a = arena_new(NULL);
    struct mip *m = mip_new(a);
    uint32_t top = mip_col(m, "T", 13, MIP_INF, 1, false), x[2][3];
    (void)state;
    for (int v = 0; v < 2; v++) {
        mip_row(m, "one", 1, 1);
        for (int d = v; d < 3; d++) {
            x[v][d] = mip_col(m, "x", 0, 1, 0, true);
            mip_term(m, x[v][d], 1);
        }
    }
    for (int d = 0; d < 3; d++) {
        mip_row(m, "load", -MIP_INF, 0);
        for (int v = 0; v < 2 && v <= d; v++)
            mip_term(m, x[v][d], time[v][d]);
        mip_term(m, top, -1);
    }
    mip_row(m, "memory", -MIP_INF, 7.5);
    mip_term(m, x[0][0], 5);
    mip_finish(m);
    for (int k = 0; k < 2 && solver[k]->attempts; k++) {
        struct clock clock = {0};
        struct mip_answer answer;
        mip_solve(solver[k], m, 1e-6, &clock, a, &answer);
        assert_int_equal(answer.status, MIP_OPTIMAL);
        assert_int_equal((int64_t)(answer.value + 0.5), 13);
    }
    arena_free(a);
}

static int contradict_itself(const struct mip *m, const struct mip_limits *l,
                             const struct mip_report *r)
{
    const double x = 1;
    (void)m;
    (void)l;
    mip_report_solution(r, 1, &x);
    mip_report_end(r, MIP_INFEASIBLE, -MIP_INF, 1);
    return 0;
}

/* A solution and "infeasible": neither counts. */
static void test_contradiction(void **state)
{
    const struct mip_solver liar = {.name = "liar", .attempts = 1, .solve = contradict_itself};
    struct arena *a = arena_new(NULL);
    struct mip *m = mip_new(a);
    struct clock clock = {0};
    struct mip_answer answer;
    (void)state;
    mip_col(m, "T", 0, MIP_INF, 1, false);
    mip_solve(&liar, m, 1e-6, &clock, a, &answer);
    assert_int_equal(answer.status, MIP_FEASIBLE);
    arena_free(a);
}

/* The least memory by bisection over brute force. */
static int64_t least_memory(struct instance *t, bool convex)
{
    int64_t lo = 0, hi = 400;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        make_loads(t, mid);
        if (brute_force(t, convex) == COST_NEVER)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void test_least_memory(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t seen = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 6 * GRAPHS && seen < GRAPHS / 3; seed++) {
        struct clock clock = {0};
        struct diag d = {0};
        struct loads l;
        make_instance(t, seed);
        for (uint32_t k = 0; k < t->c.ncls; k++) /* make it short */
            t->c.cls[k].memory = t->c.cls[k].memory < 0 ? -1 : t->c.cls[k].memory / 3;
        make_loads(t, -1);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        for (int convex = 0; convex < 2; convex++) {
            const struct ip_how ask = make_how(convex ? IP_CONVEX : IP_ANY, &mip_lpsolve, &clock);
            bool proven;
            make_loads(t, -1);
            if (brute_force(t, convex) != COST_NEVER || !c->limited)
                continue;
            int64_t want = least_memory(t, convex);
            if (want == 400) /* not for want of memory */
                continue;
            assert_int_equal(loads_new(&l, c, "test", t->a, &d), 0);
            int64_t got = ip_least_memory(c, &l, &ask, &proven, t->a, &d);
            if (got != want || !proven)
                fail_msg("seed %llu: least memory %lld, want %lld", (unsigned long long)seed,
                         (long long)got, (long long)want);
            seen++;
        }
        arena_free(t->a);
    }
    assert_true(seen >= GRAPHS / 4);
    free(t);
}

/* Nothing below the optimum, and no refutation of the optimum itself. */
static void test_refute(void **state)
{
    struct instance *t = malloc(sizeof *t);
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS / 4; seed++) {
        struct clock clock = {0};
        struct diag d = {0};
        struct ip_refutation why;
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = brute_force(t, false);
        if (want != COST_NEVER && want > 0) {
            assert_int_equal(ip_refute(c, want - 1, &clock, t->a, &why), 1);
            assert_int_equal(ip_refute(c, want, &clock, t->a, &why), 0);
        }
        arena_free(t->a);
    }
    free(t);
}

/* Shapes by themselves: what the check of answers knows. */
static void test_shapes(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t good = 0, bad = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        uint64_t rng = seed;
        struct diag d = {0};
        int32_t dev[MAX_N + 1];
        uint32_t set[MAX_DEV] = {0};
        bool convex = true;
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        for (uint32_t v = 0; v < t->g.n; v++) {
            dev[v] = (int32_t)random_below(&rng, t->c.ndev);
            set[dev[v]] |= 1U << v;
        }
        for (uint32_t i = 0; i < t->c.ndev; i++)
            convex = convex && is_convex(&t->g, set[i]);
        assert_int_equal(ip_has_shape(c, &(struct ip_ask){.shape = IP_CONVEX}, NULL, dev), convex);
        good += convex;
        bad += !convex;
        arena_free(t->a);
    }
    assert_true(good > 10 && bad > 10);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),      cmocka_unit_test(test_gap),
        cmocka_unit_test(test_solvers),      cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_least_memory), cmocka_unit_test(test_refute),
        cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
