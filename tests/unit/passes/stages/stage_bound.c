/* Lower bounds for pipelines against every plan: random models of few layers, in a row or with branches, on four
 * devices in one, two or four servers; all stages that layers may be cut into, on all sets of devices, under all models
 * that the bound is asked for, each run with the orders that a planner may choose. */
#include "passes/stages/best_places.h"
#include "passes/stages/rounds_bound.h"
#include "passes/stages/stage_bound.h"
#include "tests/support/sanitized.h"
#include "tests/support/stage_problems.h"

enum { CASES = SANITIZED ? 150 : 1200, WINDOWS = 8, ROUNDS = SANITIZED ? 100 : 300 };

/* ---- tests -------------------------------------------------------------------------------------- */

static void test_every_plan(void **state)
{
    uint64_t seed = 11;
    double share = 0, work = 0, share_path = 0, share_part = 0;
    uint32_t plans = 0, found = 0, exact = 0;
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        static struct run r;
        begin(&r, 0, &seed);
        struct every e = {.r = &r, .best = INT64_MAX};
        try_layers(&e, 0);
        plans += e.plans;
        r.x.scene.model.training = r.model[0];
        struct stage_bound_question of = {.model = r.model, .n = r.nmodel, .upper = INT64_MAX};
        struct stage_bound b = stage_bound(&r.t, &of);
        of.states = r.t.layers.n; /* as many as a path has */
        struct stage_bound path = stage_bound(&r.t, &of);
        of.states = 3; /* the three longest layers of it */
        struct stage_bound part = stage_bound(&r.t, &of);
        of = (struct stage_bound_question){.model = r.model, .n = r.nmodel, .upper = e.best};
        struct stage_bound near = stage_bound(&r.t, &of);
        if (b.value > e.best || near.value > e.best || path.value > e.best || part.value > e.best)
            fail_msg("case %u: bounds %lld (%s), %lld, %lld and %lld, but a plan takes %lld ps", i,
                     (long long)b.value, b.why, (long long)path.value, (long long)part.value,
                     (long long)near.value, (long long)e.best);
        if (e.best < INT64_MAX) {
            assert_true(near.value >= b.value - b.value / 10000);
            share += (double)near.value / (double)e.best;
            share_path += (double)path.value / (double)e.best;
            share_part += (double)part.value / (double)e.best;
            work += (double)iteration_bound(&r.x.scene, r.x.use.scratch).value / (double)e.best;
            exact += near.value == e.best;
            found++;
        }
        end(&r);
    }
    print_message(
        "%u cases, %u of them with a plan, %u plans: bounds are %.1f %% of the best plans' times, "
        "%u of them all of it; by the heaviest path %.1f %%, by its longest layers %.1f %%; work is %.1f %%\n",
        CASES, found, plans, 100 * share / found, exact, 100 * share_path / found,
        100 * share_part / found, 100 * work / found);
    assert_true(found > CASES / 2 && share / found > (SANITIZED ? 0.94 : 0.95) &&
                exact > found / 10);
    /* 72.5 % if layers beside the path did not count */
    assert_true(SANITIZED || share_path / found > 0.73);
}

/* Several stages on a device: what is known of them holds, too, and of what offers them beside others. */
static void test_interleaved(void **state)
{
    uint64_t seed = 12;
    double share = 0;
    uint32_t plans = 0, found = 0;
    (void)state;
    for (uint32_t i = 0; i < CASES / 4; i++) {
        static struct run r;
        begin(&r, 0, &seed);
        struct every e = {.r = &r, .best = INT64_MAX};
        for (uint32_t k = 0; k < r.nmodel; k++)
            r.model[k].schedule = TRAINING_INTERLEAVED;
        try_layers(&e, 0);
        plans += e.plans;
        r.x.scene.model.training = r.model[0];
        r.model[r.nmodel] = r.model[0];
        r.model[r.nmodel].schedule = TRAINING_DAPPLE;
        for (uint32_t more = 0; more < 4; more++) {
            const struct stage_bound_question of = {.model = r.model,
                                                    .n = r.nmodel + more % 2,
                                                    .states = more < 2 ? 0 : r.t.layers.n,
                                                    .upper = INT64_MAX};
            struct stage_bound b = stage_bound(&r.t, &of);
            if (b.value > e.best)
                fail_msg("case %u: bound %lld (%s), but a plan takes %lld ps", i,
                         (long long)b.value, b.why, (long long)e.best);
            if (e.best < INT64_MAX && !more) {
                share += (double)b.value / (double)e.best;
                found++;
            }
        }
        end(&r);
    }
    print_message("%u cases with a plan, %u plans: bounds are %.1f %%\n", found, plans,
                  100 * share / found);
    assert_true(found > CASES / 8 && share / found > (SANITIZED ? 0.9 : 0.92));
}

/* Whether x is no worse a place than the devices `to`: in AllReduces, and in transfers from the devices `from`. */
static bool is_no_worse(const struct servers *s, const struct device_set *x,
                        const struct device_set *from, const struct device_set *to)
{
    for (int64_t bytes = 1; bytes < 1000000000; bytes *= 31)
        if (servers_reduce(s, x, bytes) > servers_reduce(s, to, bytes) ||
            least_move(s, x, bytes) > servers_move(s, from, to, bytes))
            return false;
    return true;
}

/* Of the places that a stage may have some are no worse than any devices, whichever the stage before has. */
static void test_places(void **state)
{
    uint64_t seed = 14;
    (void)state;
    for (uint32_t i = 0; i < CASES / 10; i++) {
        static struct run r;
        begin(&r, 0, &seed);
        const struct servers *s = &r.t.servers;
        for (uint32_t way = 0; way < 625;
             way++) { /* of[v]: a digit of base 5 of each of 4 servers */
            struct device_set to = {{0}};
            bool free = true;
            for (uint32_t v = 0, rest = way; v < 4; v++, rest /= 5) {
                to.of[v] = (uint16_t)(rest % 5);
                free = free && to.of[v] <= s->size[v];
            }
            for (uint32_t other = 1; other < 625 && free && way; other++) {
                const struct spread x = spread_of(s, servers_devices(s, &to));
                struct device_set from = {{0}};
                bool found = false;
                for (uint32_t v = 0, rest = other; v < 4; v++, rest /= 5) {
                    from.of[v] = (uint16_t)(rest % 5);
                    found = found || from.of[v] + to.of[v] > s->size[v]; /* not both at once */
                }
                for (uint32_t k = 0; k < x.n; k++)
                    found = found || is_no_worse(s, &x.set[k], &from, &to);
                assert_true(found);
            }
        }
        end(&r);
    }
}

/* What is asked about several stages on each device, under the first model. */
static struct rounds *rounds_of_run(const struct run *r)
{
    const struct train *t = &r->t;
    struct arena *a = r->x.use.scratch;
    const struct stage_ways_of of = {t, &r->model[0], 1, 0};
    const struct device_set single = {{1}};
    struct stage_ways *ways = stage_ways_find(&of, a);
    assert_non_null(ways);
    const struct stage_states *s = stage_ways_states(ways);
    int64_t *move = arena_array(a, s->n + 1, sizeof *move);
    int64_t *move_one = arena_array(a, s->n + 1, sizeof *move_one);
    for (uint32_t i = 1; i < s->n; i++) {
        int64_t bytes = training_share(&r->model[0], s->cut[i], 1);
        move[i] = least_move_any(&t->servers, bytes);
        move_one[i] = least_move(&t->servers, &single, bytes);
    }
    return rounds_set_up(&(struct rounds_of){t, &r->model[0], s, move, move_one, ways, 0}, a);
}

/* The largest share of a time, in percent, that is refuted of several stages on each device; 101: all of it. */
static uint32_t refuted_share(const struct run *r, int64_t time)
{
    struct rounds *rounds = rounds_of_run(r);
    uint32_t share = 0;
    while (share < 100 && rounds_refutes(rounds, time / 100 * (share + 1)))
        share++;
    return rounds_refutes(rounds, time) ? 101 : share;
}

/* Layers in a row of 1 GB each, ms of work and MB to the next, on two devices that each have room for three; what is
 * refuted by hand. */
static void test_rounds_by_hand(void **state)
{
    static const struct {
        uint32_t layers, count, work[5], moves[5], ms;
    } row[] = {
        /* a micro-batch there and back: all work 12 ms, and 3 links */
        {4, 2, {3, 3, 3, 3}, {10, 10, 10, 10}, 72},
        /* layers 2 and 3 are apart only if 20 micro-batches have time for the 50 ms between; else they take 1.2 s */
        {5, 20, {3, 3, 30, 30, 3}, {1, 1, 50, 1, 1}, 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct run r;
        char text[1024];
        int n = 0;
        start(&r);
        for (uint32_t v = 0; v < row[i].layers; v++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "n%u -- a -- forward_compute_time=1, backward_compute_time=%u, "
                          "activation_size=%u, parameter_size=1000000000\n",
                          v, row[i].work[v] - 1, 1000000 * row[i].moves[v]);
        for (uint32_t v = 1; v < row[i].layers; v++)
            n += snprintf(text + n, sizeof text - (size_t)n, "\tn%u -- n%u\n", v - 1, v);
        r.x.scene.m = layer_profile_parse("layers", text, (size_t)n, NULL, &r.d);
        assert_int_equal(cluster_parse(&r.c, r.x.use.mem, "2xv100:6GB", &r.d), 0);
        assert_int_equal(cluster_set_link(&r.c, "1GB/s,0us", &r.d), 0);
        r.model[0] =
            (struct training){.micro_batches = row[i].count, .schedule = TRAINING_INTERLEAVED};
        r.x.scene.model.training = r.model[0];
        run_passes(&r, "cost,contract");
        assert_int_equal(train_begin(&r.t, &r.x, "hand"), 0);
        struct rounds *rounds = rounds_of_run(&r);
        assert_true(rounds_refutes(rounds, row[i].ms * INT64_C(1000000000) - 1000000));
        assert_false(rounds_refutes(rounds, row[i].ms * INT64_C(1000000000) + 1000000));
        end(&r);
    }
}

/* Several stages on each device: as many rounds and places as four devices and eight layers can have. */
static void test_rounds(void **state)
{
    uint64_t seed = 13;
    double share = 0, work = 0;
    uint32_t plans = 0, found = 0, near = 0;
    (void)state;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        static struct run r;
        begin(&r, 4 + i % 5, &seed);
        struct every e = {.r = &r, .best = INT64_MAX, .best_rounds = INT64_MAX, .most = STAGES};
        r.nmodel = 1;
        r.model[0].schedule = TRAINING_INTERLEAVED;
        try_layers(&e, 0);
        plans += e.plans;
        r.x.scene.model.training = r.model[0];
        const struct stage_bound_question of = {.model = r.model, .n = 1, .upper = e.best};
        struct stage_bound b = stage_bound(&r.t, &of);
        if (b.value > e.best)
            fail_msg("case %u: bound %lld (%s), but a plan takes %lld ps", i, (long long)b.value,
                     b.why, (long long)e.best);
        if (e.best_rounds < INT64_MAX) {
            uint32_t percent = refuted_share(&r, e.best_rounds);
            if (percent > 100)
                fail_msg("case %u: %lld ps are refuted, but a plan takes that", i,
                         (long long)e.best_rounds);
            share += percent / 100.0;
            near += percent > 90;
            work +=
                (double)iteration_bound(&r.x.scene, r.x.use.scratch).value / (double)e.best_rounds;
            found++;
        }
        end(&r);
    }
    print_message("%u cases with a plan, %u plans: %.1f %% of the best with several stages on each "
                  "device are refuted, of %u more than 90 %%; work is %.1f %%\n",
                  found, plans, 100 * share / found, near, 100 * work / found);
    assert_true(found > ROUNDS / 2 && share / found > (SANITIZED ? 0.78 : 0.81) &&
                near > found / 10);
}

/* 12 of the layers that tools/bench/pipelines_large.py has 10,000 of, from layer `first` on. */
static struct module *long_chain(struct run *r, uint32_t first)
{
    char *text = NULL;
    size_t size;
    uint32_t draw = 1;
    FILE *f = open_memstream(&text, &size);
    for (uint32_t v = 0; v < first + LAYERS; v++) {
        uint32_t figure[4];
        for (int i = 0; i < 4; i++) {
            draw = (1103515245U * draw + 12345U) % (1U << 31);
            figure[i] = draw >> 16;
        }
        if (v >= first)
            fprintf(f,
                    "n%u -- a -- forward_compute_time=%u, backward_compute_time=%u, "
                    "activation_size=%u, parameter_size=%u\n",
                    v, 1 + figure[0] % 3, 2 + figure[1] % 5, 1000000 * (1 + figure[2] % 4),
                    1000000 * (figure[3] % 21));
    }
    for (uint32_t v = first + 1; v < first + LAYERS; v++)
        fprintf(f, "\tn%u -- n%u\n", v - 1, v);
    fclose(f);
    struct module *m = layer_profile_parse("chain", text, size, NULL, &r->d);
    free(text);
    return m;
}

/* What dapple-place says of its plan holds: of all plans the best is between bound and value. */
static void test_gap(void **state)
{
    double said = 0, is = 0;
    uint32_t plans = 0;
    (void)state;
    for (uint32_t i = 0; i < WINDOWS; i++) {
        static struct run r;
        struct every e = {.r = &r, .best = INT64_MAX};
        start(&r);
        r.x.scene.m = long_chain(&r, i * 1249);
        assert_int_equal(cluster_parse(&r.c, r.x.use.mem, "4xv100", &r.d), 0);
        assert_int_equal(cluster_set_link(&r.c, "1GB/s,0us", &r.d), 0);
        assert_int_equal(cluster_set_groups(&r.c, "2:25GB/s,0us", &r.d), 0);
        r.nmodel = 1;
        r.model[0] = (struct training){.micro_batches = 4U << i % 3, .any_slices = true};
        r.x.scene.model.training = r.model[0];
        run_passes(&r, "dapple-place");
        const struct claim *c = &r.x.results.plan->claim;
        assert_int_equal(train_begin(&r.t, &r.x, "every"), 0);
        try_layers(&e, 0);
        plans += e.plans;
        if (c->bound > e.best || c->value < e.best)
            fail_msg("layers from %u on: %lld to %lld ps, but the best plan takes %lld", i * 1249,
                     (long long)c->bound, (long long)c->value, (long long)e.best);
        said += 1 - (double)c->bound / (double)c->value;
        is += 1 - (double)e.best / (double)c->value;
        end(&r);
    }
    print_message("%u plans: gaps of %.2f %%, of which %.2f %% are there\n", plans,
                  100 * said / WINDOWS, 100 * is / WINDOWS);
    assert_true(said / WINDOWS < 0.1 && is / WINDOWS < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_plan), cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_places),     cmocka_unit_test(test_rounds_by_hand),
        cmocka_unit_test(test_rounds),     cmocka_unit_test(test_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
