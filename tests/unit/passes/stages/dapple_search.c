/* dapple-place on random chains against every plan: all contiguous stages on all sets of devices of two servers, each
 * run with the orders that the planner may choose.  And its formula beside a plan's own stages. */
#include "frontends/frontends.h"
#include "ir/base/random.h"
#include "passes/pipeline.h"
#include "passes/stages/dapple_search.h"
#include "passes/stages/stage_formula.h"
#include "passes/stages/train.h"
#include "tests/support/aim.h"
#include "tests/support/kept.h"
#include "tests/support/overheads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 6, STAGES = 4, CHAINS = 300 };

struct run {
    struct ctx x;
    struct diag d;
    struct cluster c;
    char error[KEPT];
};

/* A random chain on two servers of two devices. */
static void begin(struct run *r, uint64_t *seed)
{
    char *text = NULL, devices[64], link[64];
    size_t size;
    uint32_t n = 1 + random_below(seed, LAYERS);
    FILE *f = open_memstream(&text, &size);
    for (uint32_t v = 0; v < n; v++)
        fprintf(f,
                "n%u -- a -- forward_compute_time=%u, backward_compute_time=%u, "
                "activation_size=%u, parameter_size=%u\n",
                v, 1 + random_below(seed, 20), 1 + random_below(seed, 40),
                1000 * random_below(seed, 4000), 1000 * random_below(seed, 30000));
    for (uint32_t v = 1; v < n; v++)
        fprintf(f, "\tn%u -- n%u\n", v - 1, v);
    fclose(f);
    memset(r, 0, sizeof *r);
    r->d = (struct diag){.emit = keep_error, .user = r->error};
    r->x.use.mem = arena_new(NULL);
    r->x.use.scratch = arena_new(NULL);
    r->x.use.diag = &r->d;
    r->x.scene.m = layer_profile_parse("chain", text, size, NULL, &r->d);
    free(text);
    snprintf(devices, sizeof devices, "4xv100:%uMB", 40 + random_below(seed, 400));
    snprintf(link, sizeof link, "%uGB/s,0us", 1 + random_below(seed, 3));
    assert_int_equal(cluster_parse(&r->c, r->x.use.mem, devices, &r->d), 0);
    assert_int_equal(cluster_set_link(&r->c, link, &r->d), 0);
    assert_int_equal(cluster_set_groups(&r->c, "2:25GB/s,0us", &r->d), 0);
    r->c.reduce_bandwidth = random_below(seed, 2) * INT64_C(3000000000);
    r->x.scene.cluster = &r->c;
    aim_at(&r->x.scene.model, "iteration-time");
    r->x.scene.model.step.network = NETWORK_DIRECT;
    struct training *t = &r->x.scene.model.training;
    t->micro_batches = 1 + random_below(seed, 5);
    t->half_duplex = random_below(seed, 4) == 0;
    t->any_slices = random_below(seed, 3) > 0;
    t->micro_size = t->profiled = 1 + random_below(seed, 4);
    if (random_below(seed, 2))
        random_overheads(r->x.scene.m, seed);
}

static void end(struct run *r)
{
    arena_free(r->x.use.mem);
    arena_free(r->x.use.scratch);
    arena_free(r->x.scene.m->mem);
}

static int run_passes(struct run *r, const char *passes)
{
    struct pipeline p = {0};
    struct run_options o = {0};
    assert_int_equal(pipeline_parse(&p, passes, r->x.use.mem, &r->d), 0);
    pipeline_complete(&p, r->x.use.mem);
    return pipeline_run(&p, &r->x, &o);
}

/* ---- every plan --------------------------------------------------------------------------------- */

struct every {
    struct train t;
    uint32_t end[STAGES];
    struct device_set set[STAGES], used;
    int64_t best;
    uint32_t plans;
};

static void try_all(struct every *e, uint32_t n, uint32_t from)
{
    if (n && from == e->t.layers.n) {
        struct stage_layout p = train_cut(&e->t, n, e->end, e->set);
        train_try(&e->t, &p);
        e->best = p.value < e->best ? p.value : e->best;
        e->plans++;
        return;
    }
    for (uint32_t i = 0; i < 9 && n < STAGES; i++) {
        struct device_set take = {{(uint16_t)(i / 3), (uint16_t)(i % 3)}};
        if (i == 0 || e->used.of[0] + take.of[0] > 2 || e->used.of[1] + take.of[1] > 2)
            continue;
        e->set[n] = take;
        e->used.of[0] = (uint16_t)(e->used.of[0] + take.of[0]);
        e->used.of[1] = (uint16_t)(e->used.of[1] + take.of[1]);
        for (e->end[n] = from + 1; e->end[n] <= e->t.layers.n; e->end[n]++)
            try_all(e, n + 1, e->end[n]);
        e->used.of[0] = (uint16_t)(e->used.of[0] - take.of[0]);
        e->used.of[1] = (uint16_t)(e->used.of[1] - take.of[1]);
    }
}

static void test_brute_force(void **state)
{
    uint64_t seed = 7;
    double over = 0;
    uint32_t plans = 0, found = 0;
    (void)state;
    for (uint32_t i = 0; i < CHAINS; i++) {
        static struct run r;
        begin(&r, &seed);
        int rc = run_passes(&r, "dapple-place");
        struct every e = {.best = INT64_MAX};
        assert_int_equal(train_begin(&e.t, &r.x, "every"), 0);
        try_all(&e, 0, 0);
        if (rc == 0) {
            int64_t value = r.x.results.plan->claim.value;
            if (value < e.best)
                fail_msg("chain %u: %lld ps, all plans take %lld and more", i, (long long)value,
                         (long long)e.best);
            over += (double)value / (double)e.best - 1;
            found++;
        } else if (rc != PASS_INFEASIBLE || e.best != INT64_MAX) {
            fail_msg("chain %u: '%s', but a plan takes %lld ps", i, r.error, (long long)e.best);
        }
        plans += e.plans;
        end(&r);
    }
    print_message("%u chains, %u of them with a plan, %u plans, %.2f %% above the best\n", CHAINS,
                  found, plans, 100 * over / found);
    assert_true(found > CHAINS / 2 && over / found < 0.02);
}

/* The formula of a plan, layer by layer. */
static int64_t latency_of(const struct layer_chain *c, const struct dapple_rules *r,
                          const struct stage_plan *p)
{
    struct formula_stage f[2 * STAGES] = {{0}};
    for (uint32_t s = 0, v = 0; s < p->n; s++) {
        int64_t forward = 0, backward = 0, weights = 0, whole[2] = {0},
                n = p->devices[s].of[0] + p->devices[s].of[1];
        if (s) {
            int64_t t = servers_move(r->servers, &p->devices[s - 1], &p->devices[s], c->cut[v]);
            f[2 * s - 1] = (struct formula_stage){t, t, 0};
        }
        for (; v < p->end[s]; v++) {
            forward += c->forward[v + 1] - c->forward[v];
            backward += c->backward[v + 1] - c->backward[v];
            weights += c->parameter[v + 1] - c->parameter[v];
            whole[0] += c->forward_overhead[v + 1] - c->forward_overhead[v];
            whole[1] += c->backward_overhead[v + 1] - c->backward_overhead[v];
        }
        f[2 * s] = (struct formula_stage){whole[0] + (forward - whole[0] + n - 1) / n,
                                          whole[1] + (backward - whole[1] + n - 1) / n,
                                          servers_reduce(r->servers, &p->devices[s], weights)};
    }
    return stage_formula(f, 2 * p->n - 1, r->micro_batches, r->literal).latency;
}

/* A plan of the search has the latency of its stages, and stages of all layers on all devices. */
static void test_latency(void **state)
{
    uint64_t seed = 9;
    (void)state;
    for (uint32_t i = 0; i < 50; i++) {
        static struct run r;
        begin(&r, &seed);
        r.x.scene.model.training.any_slices = true;
        run_passes(&r, "contract");
        struct train t;
        assert_int_equal(train_begin(&t, &r.x, "search"), 0);
        struct layer_chain c = train_chain(&t);
        for (uint32_t literal = 0; literal < 2; literal++) {
            struct dapple_rules rules = {
                .servers = &t.servers, .micro_batches = 3, .literal = literal};
            struct dapple_found f = dapple_search(&c, &rules, NULL, r.x.use.scratch);
            assert_true(f.complete && f.nplan >= 1);
            for (uint32_t k = 0; k < f.nplan; k++) {
                const struct stage_plan *p = &f.plan[k];
                uint32_t devices = 0;
                for (uint32_t s = 0; s < p->n; s++) {
                    assert_true(p->end[s] > (s ? p->end[s - 1] : 0));
                    devices += p->devices[s].of[0] + p->devices[s].of[1];
                }
                assert_int_equal(p->end[p->n - 1], c.n);
                assert_int_equal(devices, 4);
                assert_int_equal(p->latency, stage_plan_latency(&c, &rules, p, r.x.use.scratch));
                assert_int_equal(p->latency, latency_of(&c, &rules, p));
                assert_true(k == 0 || p->latency >= p[-1].latency);
            }
        }
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
