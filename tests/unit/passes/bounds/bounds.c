/* Closures, reductions and lower bounds for plans of any shape against brute force over all sets, all
 * assignments and all plans of random instances, loads by wdag_load. */
#include "passes/bounds/bounds.h"
#include "passes/bounds/device_knapsack.h"
#include "passes/bounds/hub_bound.h"
#include "passes/bounds/tree_bound.h"
#include "passes/bounds/weight_bound.h"
#include "tests/support/graphs.h"
#include "tests/support/instances.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = SANITIZED ? 250 : 1500, TRY_ALL = 70000 };

/* In half of the instances transfers are dear, so that much must stay together. */
static void make_dear_instance(struct instance *t, uint64_t seed)
{
    make_instance(t, seed);
    for (uint32_t k = 0; k < t->g.ncls && seed % 2; k++)
        for (uint32_t e = 0; e < t->g.nnet; e++)
            t->g.net_cost[k][e] *= 2 + (int64_t)(seed % 7);
    make_loads(t, -1);
}

/* ---- brute force ----------------------------------------------------------------------------- */

/* Least largest load over all plans of any shape; COST_NEVER: there is none. */
static int64_t least_value(const struct instance *t)
{
    static int64_t best[MAX_DEV + 1][1 << MAX_N];
    uint32_t full = (1U << t->g.n) - 1;
    for (uint32_t set = 0; set <= full; set++)
        best[0][set] = set ? COST_NEVER : 0;
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        const int64_t *load = t->load[cluster_class(&t->c, d)];
        memcpy(best[d + 1], best[d], sizeof best[d]);
        for (uint32_t set = 1; set <= full; set++)
            for (uint32_t s = set; s; s = (s - 1) & set) {
                int64_t rest = best[d][set & ~s];
                int64_t value = load[s] > rest ? load[s] : rest;
                if (value < best[d + 1][set] && pins_allow(&t->g, s, d))
                    best[d + 1][set] = value;
            }
    }
    return best[t->c.ndev][full];
}

/* Least load of a device of kind k with `in` and without `out`; memory does not count. */
static int64_t least_load(const struct instance *t, const struct problem *c, uint32_t k,
                          uint32_t in, uint32_t out)
{
    int64_t least = COST_NEVER;
    for (uint32_t set = 1; set < 1U << t->g.n; set++) {
        uint8_t member[MAX_N];
        int64_t compute, transfer, size;
        bool here = (set & in) == in && !(set & out);
        for (uint32_t v = 0; v < t->g.n; v++) {
            member[v] = set >> v & 1;
            here = here && !(member[v] && c->kind[k].time[v] == COST_NEVER);
        }
        if (!here)
            continue;
        wdag_load(&t->g, member, c->kind[k].cls, &compute, &transfer, &size);
        least = compute + transfer < least ? compute + transfer : least;
    }
    return least;
}

static uint32_t kind_of(const struct problem *c, uint32_t d)
{
    for (uint32_t k = 0; k < c->nkind; k++)
        if (c->kind[k].dev == (int32_t)d)
            return k;
    for (uint32_t k = 0; k < c->nkind; k++)
        if (c->kind[k].dev < 0 && c->kind[k].cls == cluster_class(c->cluster, d))
            return k;
    fail_msg("device %u is of no kind", d);
    return 0;
}

/* The loads of a plan as a value; COST_NEVER: not allowed. */
static int64_t value_of(const struct instance *t, const int32_t *dev)
{
    int64_t value = 0;
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        uint32_t set = 0;
        for (uint32_t v = 0; v < t->g.n; v++)
            set |= (uint32_t)(dev[v] == (int32_t)d) << v;
        int64_t load =
            pins_allow(&t->g, set, d) ? t->load[cluster_class(&t->c, d)][set] : COST_NEVER;
        value = load > value ? load : value;
    }
    return value;
}

/* The plan after dev in a fixed order of all; false: it was the last. */
static bool next_plan(const struct instance *t, int32_t *dev)
{
    for (uint32_t v = 0; v < t->g.n; v++) {
        if (++dev[v] < (int32_t)t->c.ndev)
            return true;
        dev[v] = 0;
    }
    return false;
}

static uint32_t plans(const struct instance *t)
{
    uint32_t n = 1;
    for (uint32_t v = 0; v < t->g.n && n <= TRY_ALL; v++)
        n *= t->c.ndev;
    return n;
}

/* ---- closures -------------------------------------------------------------------------------- */

static void check_closure(const struct instance *t, const struct problem *c, uint32_t k,
                          uint64_t *rng, uint32_t *large)
{
    struct closure *q = closure_new(c, k, NULL, t->a);
    for (uint32_t v = 0; v < t->g.n; v++) {
        uint32_t u = random_below(rng, t->g.n), b = random_below(rng, t->g.n), in[2] = {v, u};
        uint32_t n = u == v ? 1 : 2, set = 1U << v | 1U << u;
        int64_t limit = random_below(rng, 3) ? random_below(rng, 60) : 100000;
        uint64_t work = UINT64_MAX;
        int64_t want = least_load(t, c, k, set, 0);
        want = want > limit ? limit + 1 : want;
        assert_int_equal(closure_of(q, in, n, limit, &work), want);
        if (c->kind[k].time[v] != COST_NEVER) {
            int64_t alone = least_load(t, c, k, 1U << v, ~(1U << v));
            assert_int_equal(closure_alone(q, v), alone);
        }
        if (q->exact) {
            uint32_t side = 0;
            for (uint32_t x = 0; x < t->g.n; x++)
                side |= (uint32_t)q->side[x] << x;
            assert_int_equal(set & ~side, 0);
            assert_int_equal(least_load(t, c, k, side, ~side), want);
        }
        if (set >> b & 1)
            continue;
        int64_t without = least_load(t, c, k, set, 1U << b);
        *large += without > want && want <= limit;
        without = without > limit ? limit + 1 : without;
        assert_int_equal(closure_without(q, b, &work), without);
    }
    uint64_t none = 0; /* what has not been looked at is not known */
    closure_of(q, &(uint32_t){0}, 1, 0, &none);
    assert_false(q->exact);
}

static void test_closures(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t large = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS / 4; seed++) {
        struct diag d = {0};
        uint64_t rng = seed;
        make_dear_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        for (uint32_t k = 0; k < c->nkind; k++)
            check_closure(t, c, k, &rng, &large);
        arena_free(t->a);
    }
    printf("%u closures grow by what is kept out\n", large);
    assert_true(large > GRAPHS / 50);
    free(t);
}

/* ---- reductions --------------------------------------------------------------------------------- */

/* Every plan with a value below the threshold is one of the reduction; returns how many there are. */
static uint32_t check_plans(const struct instance *t, const struct problem *c,
                            const struct reduction *r, uint64_t seed)
{
    int32_t dev[MAX_N] = {0};
    uint32_t kept = 0;
    do {
        if (value_of(t, dev) >= r->below)
            continue;
        kept++;
        if (r->none)
            fail_msg("seed %llu: a plan below %lld is lost", (unsigned long long)seed,
                     (long long)r->below);
        for (uint32_t v = 0; v < t->g.n; v++) {
            assert_true(r->may[r->map[v]] >> kind_of(c, (uint32_t)dev[v]) & 1);
            for (uint32_t u = 0; u < v; u++)
                if (r->map[u] == r->map[v] && dev[u] != dev[v])
                    fail_msg("seed %llu: %u and %u are apart below %lld", (unsigned long long)seed,
                             u, v, (long long)r->below);
        }
    } while (next_plan(t, dev));
    return kept;
}

/* The level for planners has the same optimum. */
static void check_level(struct instance *t, const struct problem *c, int64_t below, int64_t want)
{
    uint64_t work = UINT64_MAX;
    struct instance *small = calloc(1, sizeof *small);
    struct wdag *g = reduction_contract(&t->g, c, below, &work, NULL, t->a);
    if (g) {
        small->a = t->a;
        small->c = t->c;
        small->g = *g;
        make_loads(small, -1);
        int64_t least = least_value(small);
        assert_true(least >= want);
        if (want < below)
            assert_int_equal(least, want);
    } else {
        assert_true(want >= below);
    }
    free(small);
}

static void test_reductions(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t none = 0, closed = 0, smaller = 0, denied = 0, kept = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t rng = seed;
        make_dear_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = least_value(t);
        for (uint32_t i = 0; i < 4; i++) {
            int64_t below = want == COST_NEVER ? random_below(&rng, 200) + 1
                                               : want + (i == 2   ? 1
                                                         : i == 3 ? random_below(&rng, 20)
                                                                  : 0);
            uint64_t work = i == 1 ? random_below(&rng, 2000) : UINT64_MAX;
            struct reduction *r = reduction_make(c, below, false, &work, NULL, t->a);
            none += r->none;
            closed += r->none && below == want;
            smaller += !r->none && r->small->g->n < t->g.n;
            for (uint32_t s = 0; s < r->nstep; s++)
                denied += r->step[s].what == REDUCTION_DENY;
            if (r->none)
                assert_true(want >= below);
            if (plans(t) <= TRY_ALL && seed % 4 == 0)
                kept += check_plans(t, c, r, seed);
            check_level(t, c, below, want);
        }
        arena_free(t->a);
    }
    printf(
        "%u reductions are empty, %u of them at the optimum, %u smaller; %u kinds denied, %u plans kept\n",
        none, closed, smaller, denied, kept);
    assert_true(closed > GRAPHS / 10 && smaller > GRAPHS / 4 && denied > GRAPHS && kept > GRAPHS);
    free(t);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The heaviest set of the reduction that a device of kind k can hold with a load of at most `most`. */
static int64_t heaviest(const struct reduction *r, uint32_t k, const int64_t *weight, int64_t most)
{
    const struct wdag *g = r->small->g;
    int64_t best = 0;
    for (uint32_t set = 1; set < 1U << g->n; set++) {
        uint8_t member[MAX_N];
        int64_t compute, transfer, size, sum = 0;
        bool here = true;
        for (uint32_t v = 0; v < g->n; v++) {
            member[v] = set >> v & 1;
            here = here && !(member[v] && !(r->may[v] >> k & 1));
            sum += member[v] ? weight[v] : 0;
        }
        if (!here || sum <= best)
            continue;
        wdag_load(g, member, r->small->kind[k].cls, &compute, &transfer, &size);
        best = compute + transfer <= most ? sum : best;
    }
    return best;
}

/* A search for one device finds a set that is too heavy if there is one. */
static void check_holding(struct instance *t, const struct reduction *r, uint32_t k, uint64_t *rng,
                          uint32_t *found)
{
    const struct wdag *g = r->small->g;
    uint64_t work = UINT64_MAX;
    int64_t weight[MAX_N], most = random_below(rng, 120);
    for (uint32_t v = 0; v < g->n; v++)
        weight[v] = random_below(rng, 3) ? (int64_t)random_below(rng, 1 << 20) << 10 : 0;
    struct device_knapsack *h = device_knapsack_new(r, k, weight, &work, t->a);
    int64_t want = heaviest(r, k, weight, most);
    int64_t target = want - (want > 0 && random_below(rng, 2));
    assert_true(device_knapsack_most(h, most) >= want);
    enum device_knapsack_answer answer = device_knapsack_search(h, most, target, UINT64_MAX, NULL);
    assert_int_equal(answer, want > target ? KNAPSACK_FOUND : KNAPSACK_NONE);
    if (answer == KNAPSACK_FOUND) {
        int64_t sum = 0;
        for (uint32_t v = 0; v < g->n; v++)
            sum += h->best[v] ? weight[v] : 0;
        assert_true(sum > target && sum <= want);
        ++*found;
    }
    uint64_t none = 0;
    h->work = &none;
    assert_int_equal(device_knapsack_search(h, most, target, UINT64_MAX, NULL), KNAPSACK_UNKNOWN);
}

/* Weights say what they should. */
static void check_packing(const struct reduction *r, const struct packing *p)
{
    const struct problem *c = r->small;
    int64_t total = 0, held = 0;
    for (uint32_t v = 0; v < c->g->n; v++)
        total += p->weight[v];
    assert_int_equal(total, p->total);
    for (uint32_t k = 0; k < c->nkind; k++) {
        assert_true(heaviest(r, k, p->weight, p->below - 1) <= p->most[k]);
        held += p->most[k] * c->kind[k].count;
    }
    assert_true(held < total);
}

static void test_weights(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t made = 0, tight = 0, several = 0, heavy = 0, better = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 2 * GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t work = UINT64_MAX, some = 20000000, rng = seed;
        make_dear_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = least_value(t);
        uint32_t paying = 0;
        struct reduction *r = want == COST_NEVER ? NULL
                                                 : reduction_make(c, want + random_below(&rng, 9),
                                                                  false, &work, NULL, t->a);
        for (uint32_t k = 0; r && !r->none && k < c->nkind; k++) {
            if (c->cluster->cls[c->kind[k].cls].host)
                continue;
            check_holding(t, r, k, &rng, &heavy);
            paying++;
        }
        if (r && !r->none && r->below > c->lower.value) {
            struct packing p = packing_bound(r, c->lower.value, &some, NULL, t->a);
            if (p.below > want)
                fail_msg("seed %llu: weights say %lld, brute force %lld", (unsigned long long)seed,
                         (long long)p.below, (long long)want);
            if (p.below) {
                check_packing(r, &p);
                made++;
                several += paying > 1;
                tight += p.below == want;
                better += p.below > c->lower.value;
            }
        }
        arena_free(t->a);
    }
    printf("%u bounds by weights, %u of them tight, %u better than averages, %u for several kinds "
           "that pay; %u sets found\n",
           made, tight, better, several, heavy);
    assert_true(tight > GRAPHS / 6 && several > GRAPHS / 10 && heavy > GRAPHS / 3);
    free(t);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void test_bounds(void **state)
{
    struct instance *t = malloc(sizeof *t);
    struct arena *scratch = arena_new(NULL);
    uint32_t feasible = 0, cheap = 0, equal = 0, raised = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 2 * GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t rng = seed;
        make_dear_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = least_value(t);
        for (uint32_t i = 0; i < 3 && want != COST_NEVER; i++) {
            int64_t upper = i == 0 ? want : want + random_below(&rng, 40);
            struct bound_means with = {.work = i == 2 ? random_below(&rng, 20000) : BOUNDS_WORK,
                                       .mem = t->a,
                                       .scratch = scratch};
            struct bound b = bounds_best(c, upper, &with, NULL);
            if (b.value > want)
                fail_msg("seed %llu: bound %lld (%s), brute force %lld", (unsigned long long)seed,
                         (long long)b.value, b.why, (long long)want);
            assert_true(b.value >= c->lower.value);
            if (i == 0) {
                feasible++;
                cheap += c->lower.value == want;
                equal += b.value == want;
                raised += b.value > c->lower.value;
            }
        }
        arena_free(t->a);
    }
    printf("%u feasible: %u closed by the cheap bounds, %u by all; %u raised\n", feasible, cheap,
           equal, raised);
    arena_free(scratch);
    assert_true(equal > feasible / 3 && raised > feasible / 3);
    free(t);
}

/* Checks a bound of the instance `seed`, made with the means `with`, against brute force. */
static void check_bound(const struct bound *b, int64_t want, uint64_t seed, uint64_t spent,
                        const struct bound_means *with)
{
    if (b->value > want)
        fail_msg("seed %llu: bound %lld, brute force %lld\n%s", (unsigned long long)seed,
                 (long long)b->value, (long long)want, b->proof);
    assert_true(spent <= with->work);
}

/* Bounds around hubs against brute force, with work for all flows and for some of them. */
static void test_hubs(void **state)
{
    struct instance *t = malloc(sizeof *t);
    struct arena *scratch = arena_new(NULL);
    uint32_t feasible = 0, raised = 0, exact = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS / 2; seed++) {
        struct diag d = {0};
        uint64_t rng = seed, spent;
        make_dear_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = least_value(t);
        for (uint32_t i = 0; i < 2 && want != COST_NEVER; i++) {
            struct bound_means with = {.work = i ? random_below(&rng, 3000) : BOUNDS_WORK,
                                       .mem = t->a,
                                       .scratch = scratch};
            struct bound b = hub_bound(c, &with, &spent);
            check_bound(&b, want, seed, spent, &with);
            feasible += i == 0;
            raised += i == 0 && b.value > c->lower.value;
            exact += i == 0 && b.value == want;
        }
        arena_free(t->a);
    }
    printf("%u feasible: hubs raised %u, closed %u\n", feasible, raised, exact);
    arena_free(scratch);
    assert_true(raised > feasible / 12 && exact > feasible / 25);
    free(t);
}

/* Bounds by trees of transfers against brute force, with work for all trees and for some of them. */
static void test_trees(void **state)
{
    struct instance *t = malloc(sizeof *t);
    struct arena *scratch = arena_new(NULL);
    uint32_t feasible = 0, raised = 0, exact = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 6 * GRAPHS; seed++) {
        struct diag d = {0};
        uint64_t rng = seed, spent;
        make_dear_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t want = least_value(t);
        for (uint32_t i = 0; i < 2 && want != COST_NEVER; i++) {
            struct bound_means with = {
                .work = i ? random_below(&rng, 3000) : 100000, .mem = t->a, .scratch = scratch};
            int64_t upper = want + random_below(&rng, 40);
            struct bound b = tree_bound(c, i ? c->lower.value : 0, upper, &with, &spent);
            check_bound(&b, want, seed, spent, &with);
            assert_true(b.value <= c->lower.value || b.proof);
            feasible += i == 0;
            raised += i == 0 && b.value > c->lower.value;
            exact += i == 0 && b.value == want;
        }
        arena_free(t->a);
    }
    printf("%u feasible: trees raised %u, closed %u\n", feasible, raised, exact);
    arena_free(scratch);
    assert_true(raised > feasible / 10 && exact > 0);
    free(t);
}

/* Four vertices of 10 ps, each two with a value of 2 ps, on four devices: one on each takes 16 ps, and so it does if
 * all values have to be with the host, and beside a CPU with vertices that run nowhere else. */
static void test_complete(void **state)
{
    enum { VERTICES = 4, ALL = 6, VALUES = 7 };
    int64_t time[ALL] = {10, 10, 10, 10}, size[ALL] = {0};
    const struct test_edge edge[VALUES] = {{0, 1, 2}, {0, 2, 2}, {0, 3, 2},  {1, 2, 2},
                                           {1, 3, 2}, {2, 3, 2}, {4, 5, 100}};
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct arena *a = arena_new(NULL);
        struct diag d = {0};
        uint64_t spent;
        bool host = way & 1, cpu = way & 2;
        struct cluster cl = {.ncls = 1 + cpu, .ndev = VERTICES + cpu};
        cl.cls[0] = (struct device_class){.name = "acc", .count = VERTICES, .memory = -1};
        cl.cls[1] = (struct device_class){.name = "cpu", .count = 1, .memory = -1, .host = true};
        struct wdag *g =
            graph_of_edges(a, cpu ? ALL : VERTICES, time, size, cpu ? VALUES : VALUES - 1, edge);
        memset(g->net_host, host, g->nnet);
        int64_t on_cpu[ALL] = {COST_NEVER, COST_NEVER, COST_NEVER, COST_NEVER, 1, 1};
        int64_t *times[2] = {g->time[0], on_cpu}, no_cost[VALUES] = {0};
        int64_t *costs[2] = {g->net_cost[0], no_cost};
        g->time = times;
        g->net_cost = costs;
        g->ncls = cl.ncls;
        for (uint32_t v = VERTICES; v < g->n; v++)
            g->time[0][v] = COST_NEVER;
        struct problem *c = problem_build(g, &(struct scene){.cluster = &cl}, -1, a, &d);
        struct bound_means with = {.work = BOUNDS_WORK, .mem = a, .scratch = a};
        assert_int_equal(tree_bound(c, 0, 40, &with, &spent).value, 16);
        arena_free(a);
    }
}

/* Returns the bound around hubs for 12 vertices of 12 ps and one of none on ndev devices.  Vertex 12 reads a value of
 * `cost` ps of each of the others; or, if `one`, all others read one value of vertex 0. */
static int64_t star_bound(bool one, int64_t cost, uint32_t ndev)
{
    enum { LEAVES = 12 };
    struct arena *a = arena_new(NULL);
    struct cluster cl = {.ncls = 1, .ndev = ndev};
    struct test_edge edge[LEAVES];
    int64_t time[LEAVES + 1], size[LEAVES + 1] = {0};
    struct diag d = {0};
    uint64_t spent;
    cl.cls[0] = (struct device_class){.name = "acc", .count = ndev, .memory = -1};
    for (uint32_t i = 0; i < LEAVES; i++)
        edge[i] = one ? (struct test_edge){0, i + 1, cost} : (struct test_edge){i, LEAVES, cost};
    for (uint32_t v = 0; v <= LEAVES; v++)
        time[v] = v == (one ? 0 : LEAVES) ? 0 : 12;
    struct wdag *g = graph_of_edges(a, LEAVES + 1, time, size, LEAVES, edge);
    if (one) {
        g->nnet = 1;
        g->net_pin.at[1] = LEAVES + 1;
        for (uint32_t v = 0; v <= LEAVES; v++)
            g->net_pin.to[v] = v;
        g->net_of = csr_transpose(a, &g->net_pin, 1, g->n);
    }
    struct problem *c = problem_build(g, &(struct scene){.cluster = &cl}, -1, a, &d);
    struct bound_means with = {.work = BOUNDS_WORK, .mem = a, .scratch = a};
    int64_t value = hub_bound(c, &with, &spent).value;
    arena_free(a);
    return value;
}

/* Twelve branches of 12 ps that one vertex reads, 4 ps each, on two devices: six on each take 96 ps.  One value of
 * 30 ps that twelve vertices read, on three devices: four on each take 78 ps, 68 if it were paid twice only. */
static void test_stars(void **state)
{
    (void)state;
    assert_int_equal(star_bound(/*one=*/false, 4, 2), 96);
    assert_int_equal(star_bound(/*one=*/true, 30, 3), 78);
}

/* 600 vertices of 1000001 to 1000600 ps, in a random order, on 400 devices and a host that is too slow for any: two of
 * the 401 longest are on one device, which no other argument sees; it is the optimum. */
static void test_many_holes(void **state)
{
    enum { MANY = 600, DEVICES = 400, LONG = 1000000 };
    struct arena *a = arena_new(NULL), *scratch = arena_new(NULL);
    struct cluster cluster = {.ncls = 2, .ndev = DEVICES + 1};
    struct scene scene = {.cluster = &cluster};
    struct diag d = {0};
    int64_t time[MANY], size[MANY] = {0}, want = 2 * LONG + MANY - DEVICES + 1 + MANY - DEVICES;
    (void)state;
    cluster.cls[0] = (struct device_class){.name = "acc", .count = DEVICES, .memory = -1};
    cluster.cls[1] = (struct device_class){.name = "cpu", .count = 1, .memory = -1, .host = true};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t rng = seed;
        for (uint32_t v = 0; v < MANY; v++) {
            uint32_t at = random_below(&rng, v + 1);
            time[v] = time[at];
            time[at] = LONG + 1 + v;
        }
        struct wdag *g = graph_of_edges(a, MANY, time, size, 0, NULL);
        int64_t *both[2] = {g->time[0], arena_array(a, MANY, sizeof *both[1])};
        int64_t *nets[2] = {g->net_cost[0], g->net_cost[0]};
        for (uint32_t v = 0; v < MANY; v++)
            both[1][v] = 3 * both[0][v];
        g->ncls = 2;
        g->time = both;
        g->net_cost = nets;
        struct problem *c = problem_build(g, &scene, -1, a, &d);
        struct bound_means with = {.work = BOUNDS_WORK, .mem = a, .scratch = scratch};
        assert_true(c->lower.value < want);
        assert_int_equal(bounds_best(c, want, &with, NULL).value, want);
    }
    arena_free(a);
    arena_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closures),  cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_weights),   cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_hubs),      cmocka_unit_test(test_stars),
        cmocka_unit_test(test_trees),     cmocka_unit_test(test_complete),
        cmocka_unit_test(test_many_holes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
