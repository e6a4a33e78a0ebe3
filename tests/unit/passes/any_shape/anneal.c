/* loads and anneal_search against brute force on random graphs of up to 10 vertices: several classes,
 * memory limits, shared bytes, pins, nets of several consumers, pins on the host.  The brute force
 * tries all subsets for each device, loads by wdag_load. */
#include "passes/any_shape/anneal_rounds.h"
#include "ir/base/log2_int.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/problem/device_loads.h"
#include "ir/dag/topo_order.h"
#include "tests/support/instances.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = 2000, MOVES = 200 };

/* ---- brute force ----------------------------------------------------------------------------- */

static int64_t load_of(const struct instance *t, uint32_t d, uint32_t set)
{
    return pins_allow(&t->g, set, d) ? t->load[cluster_class(&t->c, d)][set] : COST_NEVER;
}

/* best[set]: of plans of the set on the devices so far */
static int64_t brute_force(const struct instance *t)
{
    int64_t best[1 << MAX_N], next[1 << MAX_N];
    uint32_t sets = 1U << t->g.n;
    for (uint32_t set = 0; set < sets; set++)
        best[set] = set ? COST_NEVER : 0;
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        for (uint32_t set = 0; set < sets; set++) {
            next[set] = best[set];
            for (uint32_t on = set; on; on = (on - 1) & set) {
                int64_t load = load_of(t, d, on), rest = best[set & ~on];
                int64_t value = load > rest ? load : rest;
                next[set] = value < next[set] ? value : next[set];
            }
        }
        memcpy(best, next, sets * sizeof *best);
    }
    return best[sets - 1];
}

static void sets_of(const struct instance *t, const int32_t *dev, uint32_t set[MAX_DEV])
{
    memset(set, 0, MAX_DEV * sizeof *set);
    for (uint32_t v = 0; v < t->g.n; v++) {
        assert_in_range(dev[v], 0, t->c.ndev - 1);
        set[dev[v]] |= 1U << v;
    }
}

static int64_t value_of(const struct instance *t, const int32_t *dev)
{
    uint32_t set[MAX_DEV];
    int64_t value = 0;
    sets_of(t, dev, set);
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        int64_t load = load_of(t, d, set[d]);
        value = load > value ? load : value;
    }
    return value;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static void check_loads(const struct instance *t, const struct loads *l)
{
    uint32_t set[MAX_DEV];
    int64_t value = 0, over = 0;
    sets_of(t, l->dev, set);
    for (uint32_t d = 0; d < t->c.ndev; d++) {
        uint8_t member[MAX_N];
        int64_t compute, transfer, size;
        uint32_t cls = cluster_class(&t->c, d);
        for (uint32_t v = 0; v < t->g.n; v++)
            member[v] = set[d] >> v & 1;
        wdag_load(&t->g, member, cls, &compute, &transfer, &size);
        assert_int_equal(l->load[d], compute + transfer);
        value = l->load[d] > value ? l->load[d] : value;
        if (!l->users)
            continue;
        assert_int_equal(l->bytes[d], size);
        int64_t room = t->c.cls[cls].memory, more = room >= 0 && size > room ? size - room : 0;
        assert_int_equal(loads_excess(l, d), more);
        over += more;
    }
    assert_int_equal(loads_value(l), value);
    assert_int_equal(loads_over(l), over);
}

/* Changes foreseen are those that come. */
static void check_change(const struct instance *t, struct loads *l, struct loads_change x,
                         uint32_t v, uint32_t w, bool swaps)
{
    int32_t a = l->dev[v], b = swaps ? l->dev[w] : (int32_t)w;
    int64_t load[2] = {l->load[a], l->load[b]}, bytes[2] = {l->bytes[a], l->bytes[b]};
    loads_move(l, v, b);
    if (swaps)
        loads_move(l, w, a);
    check_loads(t, l);
    assert_int_equal(l->load[a], load[0] + x.load[0]);
    assert_int_equal(l->load[b], load[1] + x.load[1]);
    assert_int_equal(l->bytes[a], bytes[0] + x.bytes[0]);
    assert_int_equal(l->bytes[b], bytes[1] + x.bytes[1]);
}

/* A device that v may run on, or NOWHERE. */
static int32_t some_device(const struct loads *l, uint32_t v, uint64_t *rng)
{
    for (int i = 0; i < 50; i++) {
        uint32_t d = random_below(rng, l->ndev);
        if (loads_allows(l, v, d))
            return (int32_t)d;
    }
    return NOWHERE;
}

static void test_loads(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t limited = 0, swaps = 0, moves = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        struct loads first, l;
        uint64_t rng = seed;
        bool all = true;
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        assert_int_equal(loads_new(&first, c, "test", t->a, &d), 0);
        loads_twin(&l, &first, t->a);
        for (uint32_t v = 0; v < t->g.n; v++) {
            loads_move(&l, v, some_device(&l, v, &rng));
            all = all && l.dev[v] != NOWHERE;
        }
        limited += l.users != NULL;
        for (int i = 0; all && i < MOVES; i++) {
            uint32_t v = random_below(&rng, t->g.n), w = random_below(&rng, t->g.n);
            uint32_t a = (uint32_t)l.dev[v], b = (uint32_t)l.dev[w];
            int32_t to = some_device(&l, v, &rng);
            if (i % 2 && to != l.dev[v]) {
                check_change(t, &l, loads_peek(&l, v, (uint32_t)to), v, (uint32_t)to, false);
                moves++;
            } else if (a != b && loads_allows(&l, v, b) && loads_allows(&l, w, a)) {
                check_change(t, &l, loads_peek_swap(&l, v, w), v, w, true);
                swaps++;
            }
        }
        if (all) {
            loads_set(&first, l.dev);
            check_loads(t, &first);
            assert_memory_equal(first.load, l.load, l.ndev * sizeof *l.load);
        }
        arena_free(t->a);
    }
    assert_true(limited > GRAPHS / 5 && swaps > GRAPHS * 10 && moves > GRAPHS * 10);
    free(t);
}

/* ---- search ---------------------------------------------------------------------------------- */

static struct anneal search(uint64_t seed, uint32_t threads)
{
    static struct clock clock;
    clock = (struct clock){0};
    return (struct anneal){
        .planner = "test", .seed = seed, .chains = 4, .threads = threads, .clock = &clock};
}

static void test_brute_force(void **state)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t infeasible = 0, missed = 0, worse = 0, dpl_best = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS / 4; seed++) {
        struct diag d = {0};
        make_instance(t, seed);
        int64_t want = brute_force(t);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int32_t dev[MAX_N + 1], dev2[MAX_N + 1];
        struct problem_plan plan = {LOAD_INF, dev, NULL}, dpl = {LOAD_INF, dev2, NULL};
        struct anneal o = search(seed, 1);
        const struct interval_how orders = {.starts = 10, .seed = seed};
        o.moves = 20000;
        interval_search(c, &orders, &dpl, t->a);
        dpl_best += dpl.value == want;
        assert_true(anneal_search(c, &o, &plan, t->a, &d).rc >= 0);
        infeasible += want == COST_NEVER;
        if (want == COST_NEVER) {
            assert_int_equal(plan.value, LOAD_INF);
        } else if (plan.value == LOAD_INF) {
            missed++;
        } else {
            assert_int_equal(value_of(t, dev), plan.value);
            assert_true(plan.value >= want && c->lower.value <= want);
            worse += plan.value > want;
        }
        arena_free(t->a);
    }
    uint32_t feasible = GRAPHS / 4 - infeasible;
    printf("%u graphs, %u feasible: %u not found, %u not optimal; contiguous plans: %u optimal\n",
           GRAPHS / 4, feasible, missed, worse, dpl_best);
    assert_in_range(infeasible, GRAPHS / 100, GRAPHS / 8);
    assert_true(missed <= feasible / 100 && worse <= feasible / 30);
    assert_true(dpl_best < feasible * 9 / 10);
    free(t);
}

/* The answer depends on the seed, not on threads, and a known plan is only ever improved. */
static void test_same_answer(void **state)
{
    struct instance *t = malloc(sizeof *t);
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct diag d = {0};
        int32_t dev[4][MAX_N + 1] = {{0}};
        uint64_t done[4];
        static const uint32_t threads[4] = {1, 2, 4, 1};
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        int64_t value[4];
        for (int i = 0; i < 4; i++) {
            struct problem_plan plan = {LOAD_INF, dev[i], NULL};
            struct anneal o = search(seed, threads[i]);
            o.moves = 3000;
            done[i] = anneal_search(c, &o, &plan, t->a, &d).done;
            value[i] = plan.value;
        }
        for (int i = 1; i < 4; i++) {
            assert_int_equal(value[i], value[0]);
            assert_int_equal(done[i], done[0]);
            assert_memory_equal(dev[i], dev[0], sizeof dev[0]);
        }
        if (value[0] < LOAD_INF) {
            struct problem_plan plan = {value[0], dev[0], NULL};
            struct anneal o = search(seed + 1, 2);
            o.moves = 3000;
            int better = anneal_search(c, &o, &plan, t->a, &d).rc;
            assert_int_equal(better, plan.value < value[0]);
            assert_true(plan.value <= value[0]);
            assert_int_equal(value_of(t, dev[0]), plan.value);
        }
        arena_free(t->a);
    }
    free(t);
}

/* ---- logarithms ------------------------------------------------------------------------------ */

static void test_fixed(void **state)
{
    const int64_t one = INT64_C(1) << FIXED_BITS;
    uint64_t rng = 1;
    (void)state;
    for (uint32_t i = 0; i < 63; i++) {
        assert_int_equal(fixed_log2(UINT64_C(1) << i), i * one);
        assert_int_equal(fixed_exp2(i * one), UINT64_C(1) << i);
    }
    assert_in_range(fixed_log2(3), 26591257, 26591258);                /* 1.5849625 */
    assert_in_range(fixed_exp2_q32(-one / 2), 3037000498, 3037000500); /* sqrt(1/2) */
    assert_int_equal(fixed_exp2_q32(-33 * one), 0);
    assert_int_equal(fixed_exp2(70 * one), UINT64_MAX);
    for (int i = 0; i < 10000; i++) {
        uint64_t x = (random_bits(&rng) >> 2 >> random_below(&rng, 40)) | 1 << 20;
        uint64_t back = fixed_exp2(fixed_log2(x)), off = back > x ? back - x : x - back;
        assert_true(off <= x >> 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_same_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
