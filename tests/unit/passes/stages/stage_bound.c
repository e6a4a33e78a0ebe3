/* Lower bounds for pipelines against every plan: random models of few layers, in a row or with branches, on four
 * devices in one, two or four servers; all stages that layers may be cut into, on all sets of devices, under all models
 * that the bound is asked for, each run with the orders that a planner may choose. */
#include "frontends/frontends.h"
#include "ir/base/random.h"
#include "passes/pipeline.h"
#include "passes/stages/stage_bound.h"
#include "passes/stages/train.h"
#include "tests/support/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 12, USUAL = 5, STAGES = 4, CASES = 1200, MODELS = 3, WINDOWS = 8 };

struct run {
    struct ctx x;
    struct diag d;
    struct cluster c;
    struct train t;
    struct training model[MODELS + 1];
    uint32_t nmodel;
    char error[KEPT];
};

/* ---- random problems ---------------------------------------------------------------------------- */

static struct module *random_layers(struct run *r, uint64_t *seed)
{
    char *text = NULL;
    size_t size;
    uint32_t n = 1 + random_below(seed, USUAL), branches = random_below(seed, 4) == 0;
    bool large = random_below(seed, 3) == 0, wide = random_below(seed, 3) == 0;
    FILE *f = open_memstream(&text, &size);
    for (uint32_t v = 0; v < n; v++)
        fprintf(f,
                "n%u -- a -- forward_compute_time=%u, backward_compute_time=%u, "
                "activation_size=%u, parameter_size=%u\n",
                v, 1 + random_below(seed, 20), 1 + random_below(seed, 40),
                1000 * random_below(seed, wide ? 90000 : 8000),
                1000 * random_below(seed, large ? 90000 : 20000));
    for (uint32_t v = 1; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (branches ? random_below(seed, 2) : u + 1 == v || random_below(seed, 5) == 0)
                fprintf(f, "\tn%u -- n%u\n", u, v);
    fclose(f);
    struct module *m = layer_profile_parse("layers", text, size, NULL, &r->d);
    free(text);
    return m;
}

static void random_cluster(struct run *r, uint64_t *seed)
{
    char text[64];
    uint32_t servers = 1U << random_below(seed, 5) / 2; /* four of them make the most plans */
    snprintf(text, sizeof text, "4xv100:%uMB", 60 + random_below(seed, 700));
    assert_int_equal(cluster_parse(&r->c, r->x.use.mem, text, &r->d), 0);
    snprintf(text, sizeof text, "%uGB/s,%uus", 1 + random_below(seed, 6), random_below(seed, 9));
    assert_int_equal(cluster_set_link(&r->c, text, &r->d), 0);
    if (servers < 4) {
        uint32_t rate = random_below(seed, 3) ? 25 : 1; /* also less than between servers */
        snprintf(text, sizeof text, "%u:%uGB/s,0us", 4 / servers, rate);
        assert_int_equal(cluster_set_groups(&r->c, text, &r->d), 0);
    } else if (random_below(seed, 2)) {
        snprintf(text, sizeof text, "1:9GB/s,1us/2:%uGB/s,2us/2:1GB/s,3us,%uGB/s",
                 1 + random_below(seed, 4), 1 + random_below(seed, 4));
        assert_int_equal(cluster_set_levels(&r->c, r->x.use.mem, text, &r->d), 0);
    }
    r->c.reduce_bandwidth = random_below(seed, 3) * INT64_C(3000000000);
}

/* Models of the same batch. */
static void random_models(struct run *r, uint64_t *seed)
{
    static const int64_t size[MODELS] = {1, 2, 4};
    static const enum training_schedule schedule[] = {TRAINING_DAPPLE, TRAINING_GPIPE,
                                                      TRAINING_ZB_H1};
    struct training all = {.half_duplex = random_below(seed, 4) == 0,
                           .any_slices = random_below(seed, 3) > 0,
                           .own_reduce_lane = random_below(seed, 2),
                           .recompute = random_below(seed, RECOMPUTES),
                           .reduce_when = random_below(seed, 2) ? REDUCE_AFTER
                                                                : random_below(seed, REDUCE_WHENS),
                           .weight_share = 250000 * random_below(seed, 4),
                           .workspace = 1000000 * random_below(seed, 20),
                           .profiled = 1 + random_below(seed, 4)};
    int64_t batch = 4 * (1 + random_below(seed, 4));
    r->nmodel = 1 + random_below(seed, 2) * random_below(seed, MODELS);
    for (uint32_t i = 0; i < r->nmodel; i++) {
        struct training *t = &r->model[i];
        *t = all;
        t->schedule = schedule[random_below(seed, 3)];
        t->micro_size = size[random_below(seed, MODELS)];
        t->micro_batches = (uint32_t)(batch / t->micro_size);
    }
}

static void run_passes(struct run *r, const char *passes)
{
    struct pipeline p = {0};
    struct run_options o = {0};
    assert_int_equal(pipeline_parse(&p, passes, r->x.use.mem, &r->d), 0);
    pipeline_complete(&p, r->x.use.mem);
    assert_int_equal(pipeline_run(&p, &r->x, &o), 0);
}

static void start(struct run *r)
{
    memset(r, 0, sizeof *r);
    r->d = (struct diag){.emit = keep_error, .user = r->error};
    r->x.use.mem = arena_new(NULL);
    r->x.use.scratch = arena_new(NULL);
    r->x.use.diag = &r->d;
    r->x.scene.cluster = &r->c;
    r->x.scene.model.objective = OBJECTIVE_ITERATION;
    r->x.scene.model.step.network = NETWORK_DIRECT;
}

static void begin(struct run *r, uint64_t *seed)
{
    start(r);
    r->x.scene.m = random_layers(r, seed);
    random_cluster(r, seed);
    r->x.scene.model.optimizer = random_below(seed, 3);
    r->x.scene.model.part_cost = random_below(seed, 3) * INT64_C(2000000000);
    random_models(r, seed);
    r->x.scene.model.training = r->model[0];
    run_passes(r, "cost,contract");
    assert_int_equal(train_begin(&r->t, &r->x, "every"), 0);
}

static void end(struct run *r)
{
    arena_free(r->x.use.mem);
    arena_free(r->x.use.scratch);
    arena_free(r->x.scene.m->mem);
}

/* ---- every plan --------------------------------------------------------------------------------- */

struct every {
    struct run *r;
    uint32_t stage_of[LAYERS];
    struct device_set set[STAGES], used;
    uint32_t places; /* that the stages are on in turn; 0: each on its own */
    int64_t best;
    uint32_t plans;
};

static void try_one(struct every *e, uint32_t n)
{
    for (uint32_t k = e->places; e->places && k < n; k++)
        e->set[k] = e->set[k - e->places];
    for (uint32_t i = 0; i < e->r->nmodel; i++) {
        struct trained p = {.n = n, .stage_of = e->stage_of, .set = e->set, .places = e->places};
        e->r->x.scene.model.training = e->r->model[i];
        train_try(&e->r->t, &p);
        e->best = p.value < e->best ? p.value : e->best;
        e->plans++;
    }
}

/* Every way to give the stages from s on devices. */
static void try_sets(struct every *e, uint32_t n, uint32_t s)
{
    const struct servers *v = &e->r->t.servers;
    uint32_t ways = 1;
    if (s == (e->places ? e->places : n)) {
        try_one(e, n);
        return;
    }
    for (uint32_t i = 0; i < v->n; i++)
        ways *= v->size[i] + 1U;
    for (uint32_t way = 1; way < ways; way++) {
        struct device_set take = {{0}}, before = e->used;
        bool free = true;
        for (uint32_t i = 0, rest = way; i < v->n; rest /= v->size[i] + 1U, i++) {
            take.of[i] = (uint16_t)(rest % (v->size[i] + 1U));
            e->used.of[i] = (uint16_t)(e->used.of[i] + take.of[i]);
            free = free && e->used.of[i] <= v->size[i];
        }
        e->set[s] = take;
        if (free)
            try_sets(e, n, s + 1);
        e->used = before;
    }
}

/* Every way to give the layers from v on stages, with all layers that one reads no later than it. */
static void try_layers(struct every *e, uint32_t v)
{
    const struct layers_of *l = &e->r->t.layers;
    uint32_t n = 0, least = 0, has = 0;
    for (uint32_t u = 0; u < v; u++) {
        n = e->stage_of[u] >= n ? e->stage_of[u] + 1 : n;
        has |= 1U << e->stage_of[u];
    }
    if (v == l->n) {
        if (has != (1U << n) - 1)
            return;
        if (e->r->model[0].schedule != TRAINING_INTERLEAVED)
            try_sets(e, n, 0);
        for (e->places = 1; e->r->model[0].schedule == TRAINING_INTERLEAVED && e->places <= n;
             e->places++)
            if (n % e->places == 0)
                try_sets(e, n, 0);
        e->places = 0;
        return;
    }
    for (uint32_t i = l->pred.at[v]; i < l->pred.at[v + 1]; i++)
        least = e->stage_of[l->pred.to[i]] > least ? e->stage_of[l->pred.to[i]] : least;
    for (e->stage_of[v] = least; e->stage_of[v] < STAGES; e->stage_of[v]++)
        try_layers(e, v + 1);
}

/* ---- tests -------------------------------------------------------------------------------------- */

static void test_every_plan(void **state)
{
    uint64_t seed = 11;
    double share = 0, work = 0;
    uint32_t plans = 0, found = 0, exact = 0;
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        static struct run r;
        begin(&r, &seed);
        struct every e = {.r = &r, .best = INT64_MAX};
        try_layers(&e, 0);
        plans += e.plans;
        r.x.scene.model.training = r.model[0];
        struct bounded of = {.model = r.model, .n = r.nmodel, .upper = INT64_MAX};
        struct stage_bound b = stage_bound(&r.t, &of);
        of.states = r.t.layers.n; /* as many as a path has */
        struct stage_bound path = stage_bound(&r.t, &of);
        of = (struct bounded){.model = r.model, .n = r.nmodel, .upper = e.best};
        struct stage_bound near = stage_bound(&r.t, &of);
        if (b.value > e.best || near.value > e.best || path.value > e.best)
            fail_msg("case %u: bounds %lld (%s), %lld and %lld, but a plan takes %lld ps", i,
                     (long long)b.value, b.why, (long long)path.value, (long long)near.value,
                     (long long)e.best);
        if (e.best < INT64_MAX) {
            assert_true(near.value >= b.value - b.value / 10000);
            share += (double)near.value / (double)e.best;
            work += (double)iteration_bound(&r.x.scene) / (double)e.best;
            exact += near.value == e.best;
            found++;
        }
        end(&r);
    }
    print_message(
        "%u cases, %u of them with a plan, %u plans: bounds are %.1f %% of the best plans' times, "
        "%u of them all of it; work is %.1f %%\n",
        CASES, found, plans, 100 * share / found, exact, 100 * work / found);
    assert_true(found > CASES / 2 && share / found > 0.85 && exact > found / 10);
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
        begin(&r, &seed);
        struct every e = {.r = &r, .best = INT64_MAX};
        for (uint32_t k = 0; k < r.nmodel; k++)
            r.model[k].schedule = TRAINING_INTERLEAVED;
        try_layers(&e, 0);
        plans += e.plans;
        r.x.scene.model.training = r.model[0];
        r.model[r.nmodel] = r.model[0];
        r.model[r.nmodel].schedule = TRAINING_DAPPLE;
        for (uint32_t more = 0; more < 2; more++) {
            const struct bounded of = {.model = r.model, .n = r.nmodel + more, .upper = INT64_MAX};
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
    assert_true(found > CASES / 8 && share / found > 0.6);
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
        cmocka_unit_test(test_every_plan),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
