/* Random problems for planners of training stages: models of few layers, in a row or with branches, on four devices in
 * one, two or four servers, and the enumeration of all plans: all stages that layers may be cut into, on all sets of
 * devices. */
#ifndef PCC_TESTS_STAGE_PROBLEMS_H
#define PCC_TESTS_STAGE_PROBLEMS_H

#include "frontends/frontends.h"
#include "ir/base/random.h"
#include "passes/pipeline.h"
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

enum {
    LAYERS = 12, /* the most layers of a model, as `row` */
    USUAL = 5,   /* the most layers of a model otherwise */
    STAGES = 8,  /* the most stages of a plan */
    FEW = 4,     /* the most stages unless every.most says more */
    MODELS = 3
};

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

static inline struct module *random_layers(struct run *r, uint32_t row, uint64_t *seed)
{
    char *text = NULL;
    size_t size;
    uint32_t n = row ? row : 1 + random_below(seed, USUAL);
    bool branches = !row && random_below(seed, 4) == 0;
    bool large = random_below(seed, 3) == 0, wide = random_below(seed, 3) == 0;
    FILE *f = open_memstream(&text, &size);
    bool even = row && random_below(seed, 2), heavy = even && random_below(seed, 2);
    uint32_t figure[4] = {0};
    for (uint32_t v = 0; v < n; v++) {
        if (v == 0 || !even) {
            figure[0] = 1 + random_below(seed, 20);
            figure[1] = 1 + random_below(seed, 40);
            figure[2] = 1000 * random_below(seed, wide ? 90000 : 8000);
            figure[3] = 1000 * random_below(seed, large ? 90000 : 20000);
            figure[3] += heavy ? 20000000 + 1000 * random_below(seed, 40000) : 0;
        }
        fprintf(f,
                "n%u -- a -- forward_compute_time=%u, backward_compute_time=%u, "
                "activation_size=%u, parameter_size=%u\n",
                v, figure[0], figure[1], figure[2], figure[3]);
    }
    for (uint32_t v = 1; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (branches ? random_below(seed, 2)
                         : u + 1 == v || (!row && random_below(seed, 5) == 0))
                fprintf(f, "\tn%u -- n%u\n", u, v);
    fclose(f);
    struct module *m = layer_profile_parse("layers", text, size, NULL, &r->d);
    free(text);
    return m;
}

static inline void random_cluster(struct run *r, uint64_t *seed)
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
static inline void random_models(struct run *r, uint64_t *seed)
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

static inline void run_passes(struct run *r, const char *passes)
{
    struct pipeline p = {0};
    struct run_options o = {0};
    assert_int_equal(pipeline_parse(&p, passes, r->x.use.mem, &r->d), 0);
    pipeline_complete(&p, r->x.use.mem);
    assert_int_equal(pipeline_run(&p, &r->x, &o), 0);
}

static inline void start(struct run *r)
{
    memset(r, 0, sizeof *r);
    r->d = (struct diag){.emit = keep_error, .user = r->error};
    r->x.use.mem = arena_new(NULL);
    r->x.use.scratch = arena_new(NULL);
    r->x.use.diag = &r->d;
    r->x.scene.cluster = &r->c;
    aim_at(&r->x.scene.model, "iteration-time");
    r->x.scene.model.step.network = NETWORK_DIRECT;
}

/* A problem without any pass run.  row: so many layers in a row; 0: any few. */
static inline void draw(struct run *r, uint32_t row, uint64_t *seed)
{
    start(r);
    r->x.scene.m = random_layers(r, row, seed);
    random_cluster(r, seed);
    r->x.scene.model.optimizer = random_below(seed, 3);
    r->x.scene.model.part_cost = random_below(seed, 3) * INT64_C(2000000000);
    random_models(r, seed);
    r->x.scene.model.training = r->model[0];
}

/* A problem, ready for planners.  row: as for draw(). */
static inline void begin(struct run *r, uint32_t row, uint64_t *seed)
{
    draw(r, row, seed);
    if (random_below(seed, 3) == 0)
        random_overheads(r->x.scene.m, seed);
    run_passes(r, "cost,contract");
    assert_int_equal(train_begin(&r->t, &r->x, "every"), 0);
}

static inline void end(struct run *r)
{
    arena_free(r->x.use.mem);
    arena_free(r->x.use.scratch);
    arena_free(r->x.scene.m->mem);
}

/* ---- every plan --------------------------------------------------------------------------------- */

struct every {
    struct run *r;
    /* what is done with each plan under each model; returns ps, the least it can take.  NULL: train_try() */
    int64_t (*run_plan)(struct run *r, struct stage_layout *p);
    uint32_t stage_of[LAYERS];
    struct device_set set[STAGES], used;
    uint32_t places;           /* that the stages are on in turn; 0: each on its own */
    uint32_t most;             /* stages; 0: FEW */
    int64_t best, best_rounds; /* of all; with several stages on each device */
    uint32_t plans;
};

static inline void try_one(struct every *e, uint32_t n)
{
    for (uint32_t k = e->places; e->places && k < n; k++)
        e->set[k] = e->set[k - e->places];
    for (uint32_t i = 0; i < e->r->nmodel; i++) {
        struct stage_layout p = {
            .n = n, .stage_of = e->stage_of, .set = e->set, .places = e->places};
        e->r->x.scene.model.training = e->r->model[i];
        train_try(&e->r->t, &p);
        p.value = e->run_plan ? e->run_plan(e->r, &p) : p.value;
        e->best = p.value < e->best ? p.value : e->best;
        if (e->places && e->places < n && p.value < e->best_rounds)
            e->best_rounds = p.value;
        e->plans++;
    }
}

/* Every way to give the stages from s on devices. */
static inline void try_sets(struct every *e, uint32_t n, uint32_t s)
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
static inline void try_layers(struct every *e, uint32_t v)
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
    for (e->stage_of[v] = least; e->stage_of[v] < (e->most ? e->most : FEW); e->stage_of[v]++)
        try_layers(e, v + 1);
}

#endif
