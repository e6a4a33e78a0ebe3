/* pipeline-place against every plan of small random models, with every size of micro-batches, schedule and set of
 * stages that recompute; and against all other planners of its room, under their options. */
#include "tests/support/sanitized.h"
#include "tests/support/stage_problems.h"

enum { CASES = SANITIZED ? 4 : 10, DUELS = SANITIZED ? 3 : 9, STEPS = 4 };

static const enum training_schedule offered[] = {TRAINING_DAPPLE, TRAINING_GPIPE, TRAINING_ZB_H1,
                                                 TRAINING_INTERLEAVED};

/* ---- every plan --------------------------------------------------------------------------------- */

/* Sets `ahead` of a stage as policy A or B wants it and its memory allows; false: it has no room. */
static bool set_ahead(struct iteration_run *q, const struct scene *s, uint32_t k, bool policy_b)
{
    struct stage_work *w = &q->stage[k];
    uint32_t n = q->x.nstage, most = q->x.micro_batches,
             room = iteration_room(q, s, k, w->recompute);
    bool late =
        q->x.order == ITERATION_ZB_H1; /* gradients of weights come k backward passes later */
    w->ahead = policy_b ? iteration_ahead_b(n, k, most) : iteration_ahead_a(n, k, most);
    if (q->x.order == ITERATION_GPIPE)
        w->ahead = most;
    if (room >= most || q->x.order == ITERATION_GPIPE)
        return room >= most;
    while (w->ahead > 1 && w->ahead + (late ? k : 0) > room)
        w->ahead--;
    return w->ahead + (late ? k : 0) <= room;
}

/* Runs a plan with both policies and every set of stages that recompute. */
static int64_t run_every_set(struct run *r, struct stage_layout *p)
{
    const struct scene *s = &r->x.scene;
    const struct training *m = &s->model.training;
    int64_t best = p->value;
    if (p->uneven || p->odd || m->recompute != RECOMPUTE_AUTO)
        return best;
    struct arena *own = arena_new(r->x.use.scratch);
    struct stages_on on = {.n = p->n,
                           .nplace = p->places ? p->places : p->n,
                           .sum = train_sums(&r->t, p, own),
                           .set = p->set};
    for (uint32_t way = 0; way < 2U << p->n; way++) {
        struct iteration_run q = iteration_set_up(s, &r->t.servers, &on, own);
        bool fits = true, shared = m->schedule == TRAINING_INTERLEAVED;
        for (uint32_t k = 0; k < p->n && fits; k++) {
            q.stage[k].recompute = way >> (k + 1) & 1;
            fits = shared || set_ahead(&q, s, k, way & 1);
        }
        if (!fits)
            continue;
        if (!shared)
            iteration_settle_ahead(q.stage, p->n);
        iteration_run(&q, s, own);
        if (q.t.status == RUN_DONE && q.t.over == 0 && q.value < best)
            best = q.value;
    }
    arena_free(own);
    return best;
}

/* The least time of all plans under all sizes and schedules; INT64_MAX: none fits. */
static int64_t least_of_all(struct run *r)
{
    struct every e = {.r = r, .best = INT64_MAX, .run_plan = run_every_set};
    struct training given = r->model[0];
    int64_t batch = given.micro_size * given.micro_batches;
    r->nmodel = 1;
    for (int64_t size = 1; size <= batch; size++)
        for (size_t k = 0; k < sizeof offered / sizeof *offered && batch % size == 0; k++) {
            r->model[0] = given;
            r->model[0].micro_size = size;
            r->model[0].micro_batches = (uint32_t)(batch / size);
            r->model[0].schedule = offered[k];
            try_layers(&e, 0);
        }
    return e.best;
}

/* No plan of all is better than what pipeline-place finds. */
static void test_least(void **state)
{
    uint64_t seed = 31;
    uint32_t found = 0;
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        static struct run r;
        begin(&r, 0, &seed);
        struct training given = r.model[0];
        int64_t least = least_of_all(&r), value = INT64_MAX;
        r.x.scene.model.training = given;
        if (planner_pipeline_place.pass.run(&r.x, NULL) == 0)
            value = r.x.results.plan->claim.value;
        found += least < INT64_MAX;
        if (value > least)
            fail_msg("case %u: %lld ps, but a plan takes %lld: %s", i, (long long)value,
                     (long long)least, r.error);
        end(&r);
    }
    assert_true(found > CASES / 2);
}

/* ---- other planners ----------------------------------------------------------------------------- */

/* A random problem, and what is changed in it. */
struct problem {
    uint64_t seed;
    uint32_t row;     /* as for draw() */
    int64_t memory;   /* bytes of a device; 0: as drawn */
    uint32_t devices; /* in one server; 0: the cluster as drawn */
};

/* The value of a planner's plan for a problem; INT64_MAX: it finds none. */
static int64_t value_of(const char *planner, const struct problem *of)
{
    static struct run r;
    struct pipeline p = {0};
    struct run_options o = {0};
    uint64_t seed = of->seed;
    draw(&r, of->row, &seed);
    if (of->devices) {
        char text[32];
        snprintf(text, sizeof text, "%uxv100:%uMB", of->devices, 60 + random_below(&seed, 700));
        r.c = (struct cluster){0};
        assert_int_equal(cluster_parse(&r.c, r.x.use.mem, text, &r.d), 0);
        assert_int_equal(cluster_set_link(&r.c, "3GB/s,1us", &r.d), 0);
    }
    if (of->memory)
        r.c.cls[0].memory = of->memory;
    assert_int_equal(pipeline_parse(&p, planner, r.x.use.mem, &r.d), 0);
    pipeline_complete(&p, r.x.use.mem);
    int failed = pipeline_run(&p, &r.x, &o);
    assert_true(!failed || failed == PASS_INFEASIBLE);
    int64_t value = failed ? INT64_MAX : r.x.results.plan->claim.value;
    end(&r);
    return value;
}

/* Under no option is any planner's plan better than that of pipeline-place. */
static void test_duels(void **state)
{
    static const char *const other[] = {"dapple-place",
                                        "dapple-place{micro=free}",
                                        "dapple-place{literal=true,beam=1,plans=2}",
                                        "dapple-place{beam=64,plans=500}",
                                        "data-parallel-place",
                                        "pipedream-hier-place",
                                        "pipedream-hier-place{straight=true}",
                                        "pipedream-hier-place{fewer=true}",
                                        "pipedream-hier-place{compression=0}",
                                        "pipedream-hier-place{states=narrow,compression=1000}"};
    uint64_t seed = 41;
    uint32_t found = 0, free_size = 0;
    (void)state;
    for (uint32_t i = 0; i < DUELS; i++) {
        const struct problem of = {seed, i % 3 ? 0 : 6 + i / 3 % 3, 0, 0};
        int64_t value = value_of("pipeline-place", &of), given = 0;
        found += value < INT64_MAX;
        for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
            int64_t its = value_of(other[k], &of);
            if (its < value)
                fail_msg("case %u: %s finds %lld ps, pipeline-place %lld", i, other[k],
                         (long long)its, (long long)value);
            given = k ? given : its;
            assert_true(k != 1 || its <= given);
            free_size += k == 1 && its < given;
        }
        random_below(&seed, 2);
    }
    assert_true(found > DUELS / 2 && free_size > 0);
}

/* Neither more memory nor more devices make a worse plan. */
static void test_more(void **state)
{
    uint64_t seed = 51;
    (void)state;
    for (uint32_t i = 0; i < 2 * DUELS; i++) {
        struct problem of = {.seed = seed, .memory = 50000000};
        int64_t before = INT64_MAX;
        for (uint32_t k = 1; k <= STEPS; k++) {
            of.devices = i % 2 ? k : 0;
            of.memory = i % 2 ? 0 : of.memory + of.memory / 2;
            int64_t value = value_of("pipeline-place", &of);
            if (value > before)
                fail_msg("case %u: %lld ps with %lld bytes or %u devices, %lld with less", i,
                         (long long)value, (long long)of.memory, of.devices, (long long)before);
            before = value;
        }
        random_below(&seed, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_duels),
        cmocka_unit_test(test_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
