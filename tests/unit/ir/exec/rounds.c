/* The replay against the judge: random graphs with and without a backward pass, random plans of any
 * form, all ways of overlap and both schedules.  What the lanes of a device do for a sample is the
 * judge's load; N samples take at least N times the judge's value, and at most N + levels times it. */
#include "backends/label.h"
#include "tools/lib/exec/replay.h"
#include "passes/passes.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = 300, SAMPLES = 40, MAX_OPS = 24 };

static void quiet(void *to, enum diag_level level, enum warning w, const char *text)
{
    (void)to;
    (void)level;
    (void)w;
    (void)text;
}

static struct text_module make(uint64_t *rng, struct diag *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    uint32_t nop = 1 + test_below(rng, MAX_OPS), forward = nop;
    uint32_t dense = 5 + test_below(rng, 30);
    if (test_below(rng, 2))
        forward = test_below(rng, nop + 1);
    uint32_t count = 1 + test_below(rng, 4);
    fprintf(f, "cluster io_free\nclass acc x%u group=%u inner_share=%u\n", count,
            count % 2 ? count : 2, 1 + test_below(rng, 1000000));
    fprintf(f, "class cpu x1 host\ngraph {\n");
    for (uint32_t i = 0; i < nop; i++) {
        const char *comma = "";
        fprintf(f, "  %%v%u = profile:op(", i);
        for (uint32_t j = 0; j < i; j++)
            if (test_below(rng, 100) < dense) {
                fprintf(f, "%s%%v%u", comma, j);
                comma = ", ";
            }
        fprintf(f, ") : ? !bytes=1B !xfer=%ups !time=[%ups,%ups]%s\n", test_below(rng, 30),
                test_below(rng, 40), test_below(rng, 90), i >= forward ? " !backward" : "");
    }
    fprintf(f, "}\n");
    fclose(f);
    struct text_module t;
    if (module_parse(&t, &(struct named_text){"random", text, size, NULL}, NULL, d))
        fail_msg("does not parse:\n%s", text);
    free(text);
    return t;
}

/* Lane by lane, what a sample takes. */
static void check_lanes(const struct replay *r, const struct verdict *v)
{
    for (uint32_t l = 0; l < r->nlane; l++) {
        int64_t sum[2] = {0, 0}, moved[2] = {0, 0};
        const struct device_load *d = &v->load[r->lane[l].dev];
        for (uint32_t t = 0; t < r->ntask; t++)
            if (r->task[t].lane == l) {
                sum[r->task[t].back] += r->task[t].time;
                moved[r->task[t].back] += r->task[t].in + r->task[t].out;
            }
        for (int p = 0; p < 2; p++) {
            int64_t in = d->pass[p].in, out = d->pass[p].out, want = d->pass[p].compute;
            bool duplex = r->nlane == 3 * (r->lane[r->nlane - 1].dev + 1);
            if (r->lane[l].kind == TASK_WHOLE)
                want += in + out;
            else if (r->lane[l].kind == TASK_IN)
                want = duplex ? in : in + out;
            else if (r->lane[l].kind == TASK_OUT)
                want = out;
            assert_int_equal(sum[p], want);
            if (r->lane[l].kind != TASK_COMPUTE)
                assert_int_equal(moved[p], want - (r->lane[l].kind ? 0 : d->pass[p].compute));
            else
                assert_int_equal(moved[p], 0);
        }
    }
}

/* No lane does two things at once, and nothing starts before what it waits for. */
static void check_times(const struct replay *r, struct arena *a)
{
    int64_t *busy = arena_array(a, r->nlane + 1, sizeof *busy);
    for (uint32_t t = 0; t < r->ntask; t++)
        for (uint32_t s = 0; s < r->samples; s++) {
            int64_t at = r->start[(size_t)t * r->samples + s];
            for (uint32_t k = r->after.at[t]; k < r->after.at[t + 1]; k++) {
                uint32_t u = r->after.to[k];
                assert_true(r->start[(size_t)u * r->samples + s] + r->task[u].time <= at);
            }
            busy[r->task[t].lane] += r->task[t].time;
            for (uint32_t u = 0; u < t; u++)
                for (uint32_t z = 0; z < r->samples; z++) {
                    int64_t other = r->start[(size_t)u * r->samples + z];
                    if (r->task[u].lane == r->task[t].lane)
                        assert_true(other + r->task[u].time <= at || at + r->task[t].time <= other);
                }
        }
    for (uint32_t l = 0; l < r->nlane; l++)
        assert_true(busy[l] <= r->end);
}

/* The task that computes node n. */
static uint32_t task_of(const struct replay *r, const struct module *m, const struct parts *c,
                        nid n)
{
    uint32_t t = 0;
    bool back = m->backward && m->backward[n];
    while (r->task[t].part != (uint32_t)c->part_of[n] || r->task[t].back != back ||
           (r->task[t].kind != TASK_WHOLE && r->task[t].kind != TASK_COMPUTE))
        t++;
    return t;
}

/* Every sample's node runs behind those whose results it reads. */
static void check_data(const struct replay *r, const struct module *m, const struct parts *c)
{
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        for (uint32_t i = 0; i < m->node[n].nformal; i++) {
            uint32_t u = task_of(r, m, c, m->value[node_in(m, n, i)].def), t = task_of(r, m, c, n);
            for (uint32_t s = 0; s < r->samples && u != t; s++)
                assert_true(r->start[(size_t)u * r->samples + s] + r->task[u].time <=
                            r->start[(size_t)t * r->samples + s]);
        }
}

static void test_replay(void **state)
{
    uint64_t rng = 5;
    uint32_t cyclic = 0, trained = 0;
    (void)state;
    for (uint32_t round = 0; round < GRAPHS; round++) {
        struct diag d = {.emit = quiet};
        struct text_module t = make(&rng, &d);
        struct ctx x = {.use.mem = arena_new(NULL),
                        .use.scratch = arena_new(NULL),
                        .use.diag = &d,
                        .scene = t.scene};
        assert_int_equal(ctx_base(&x), 0);
        int32_t *dev = arena_array(x.use.mem, x.scene.m->nnode, sizeof *dev);
        for (nid n = 0; n < x.scene.m->nnode; n++)
            dev[n] = (int32_t)test_below(&rng, x.scene.cluster->ndev);
        struct parts *parts = parts_build(&x.scene, dev, x.use.mem);
        for (int i = 0; i < 2 * OVERLAPS; i++) {
            x.scene.model.overlap = (enum overlap)(i / 2);
            x.scene.model.training.schedule = i % 2 ? TRAINING_GPIPE : TRAINING_DAPPLE;
            struct verdict v = load_verdict(&x.scene, dev, NULL, x.use.mem);
            struct replay r = replay_run(&x.scene, dev, parts, SAMPLES, x.use.mem);
            int64_t levels = 1;
            for (uint32_t k = 0; k < r.ntask; k++)
                levels = r.task[k].level + 1 > levels ? r.task[k].level + 1 : levels;
            assert_int_equal(r.levels, levels);
            check_lanes(&r, &v);
            check_data(&r, x.scene.m, parts);
            if (round % 10 == 0)
                check_times(&r, x.use.mem);
            assert_true(r.end >= SAMPLES * v.value);
            assert_true(r.end <= (SAMPLES + levels) * v.value);
            cyclic += !v.contiguous;
            trained += i % 2 && x.scene.m->backward && v.load[0].pass[1].compute > 0;
        }
        arena_free(x.use.mem);
        arena_free(x.use.scratch);
        arena_free(t.scene.m->mem);
    }
    assert_true(cyclic > GRAPHS && trained > GRAPHS / 4);
}

/* What cannot be replayed, and how many samples a picture gets. */
static void test_limits(void **state)
{
    static const char text[] = "cluster io_free\nclass acc x3\ngraph {\n"
                               "  %a = profile:op() : ? !bytes=1B !xfer=0ps !time=[5ps]\n"
                               "  %b = profile:op(%a) : ? !bytes=1B !xfer=0ps !time=[7ps]\n}\n";
    struct text_module t;
    struct diag d = {.emit = quiet};
    (void)state;
    assert_int_equal(
        module_parse(&t, &(struct named_text){"limits", text, strlen(text), NULL}, NULL, &d), 0);
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = t.scene};
    assert_int_equal(ctx_base(&x), 0);
    int32_t *dev = arena_array(x.use.mem, x.scene.m->nnode, sizeof *dev);
    dev[x.scene.m->nnode - 1] = 1;
    struct verdict v = load_verdict(&x.scene, dev, NULL, x.use.mem);
    uint32_t copies[] = {1, 1, 1};
    struct plan plan = {.dev = dev};
    struct result r = {.scene = x.scene,
                       .plan = &plan,
                       .verdict = &v,
                       .parts = parts_build(&x.scene, dev, x.use.mem),
                       .diag = &d};
    struct replay y;
    assert_int_equal(replay_result(&y, &r, 0, 1000, x.use.mem), 0);
    assert_true(y.ntask == 2 && y.levels == 2 && y.samples == 8);
    assert_true(y.end == 5 + 8 * 7 && !y.training);
    plan.copies = copies;
    assert_int_equal(replay_result(&y, &r, 500, 1000, x.use.mem), 0);
    assert_int_equal(y.end, 5 + 500 * 7);
    assert_int_equal(replay_result(&y, &r, 500, 999, x.use.mem), -1);
    assert_int_equal(replay_result(&y, &r, 500, 1, x.use.mem), -1);
    v.value = INT64_MAX / 500;
    assert_int_equal(replay_result(&y, &r, 500, 1000, x.use.mem), -1);
    v.value = 7;
    copies[1] = 2;
    assert_int_equal(replay_result(&y, &r, 500, 1000, x.use.mem), -1);
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    arena_free(t.scene.m->mem);
}

/* What of the backward pass needs forward values alone runs when it is read, or once the forward pass is through. */
static void test_early_gradients(void **state)
{
    static const char text[] =
        "cluster io_free\nclass acc x4\ngraph {\n"
        "  %a = profile:op() : ? !bytes=1B !xfer=0ps !time=[5ps]\n"
        "  %b = profile:op(%a) : ? !bytes=1B !xfer=0ps !time=[7ps]\n"
        "  %early = profile:op(%a) : ? !bytes=1B !xfer=0ps !time=[1ps] !backward\n"
        "  %unread = profile:op(%a) : ? !bytes=1B !xfer=0ps !time=[1ps] !backward\n"
        "  %gb = profile:op(%b) : ? !bytes=1B !xfer=0ps !time=[8ps] !backward\n"
        "  %ga = profile:op(%gb, %early) : ? !bytes=1B !xfer=0ps !time=[6ps] !backward\n}\n";
    struct text_module t;
    struct diag d = {.emit = quiet};
    (void)state;
    assert_int_equal(
        module_parse(&t, &(struct named_text){"early", text, strlen(text), NULL}, NULL, &d), 0);
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = t.scene};
    assert_int_equal(ctx_base(&x), 0);
    nid a = x.scene.m->graph[1].first;
    int32_t *dev = arena_array(x.use.mem, x.scene.m->nnode, sizeof *dev);
    dev[a + 1] = dev[a + 4] = 1;
    struct parts *parts = parts_build(&x.scene, dev, x.use.mem);
    struct replay r = replay_run(&x.scene, dev, parts, 9, x.use.mem);
    check_data(&r, x.scene.m, parts);
    assert_int_equal(r.levels, 3);
    assert_int_equal(r.task[task_of(&r, x.scene.m, parts, a + 2)].level, 2);
    assert_int_equal(r.end, 5 + 7 + 8 + 6 + 8 * (7 + 8));
    dev[a + 3] = 1; /* beside b, alone in its pass there; b's transfer ends the forward pass */
    dev[a + 4] = 0;
    parts = parts_build(&x.scene, dev, x.use.mem);
    r = replay_run(&x.scene, dev, parts, 9, x.use.mem);
    assert_int_equal(r.task[task_of(&r, x.scene.m, parts, a + 3)].level, 2);
    for (uint32_t k = 0; k < r.ntask; k++)
        if (r.task[k].back)
            assert_true(r.start[k * r.samples] >= 5);
    /* alone, and nobody reads it: with the end of the forward pass, not with that of the backward pass */
    dev[a + 3] = 3;
    dev[a + 5] = 2;
    parts = parts_build(&x.scene, dev, x.use.mem);
    r = replay_run(&x.scene, dev, parts, 9, x.use.mem);
    uint32_t unread = r.task[task_of(&r, x.scene.m, parts, a + 3)].level;
    assert_int_equal(unread, 2);
    assert_true(unread < r.task[task_of(&r, x.scene.m, parts, a + 5)].level);
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    arena_free(t.scene.m->mem);
}

/* Names for SVG and JSON. */
static void test_plain(void **state)
{
    static const char *const text[][2] = {
        {"", ""},
        {"a<\\&\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "a<\\&\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"1\n\t\x7f\x1b\xc2\x85"
         "2",
         "12"},               /* control characters */
        {"\x80\xbfz", "??z"}, /* continues nothing */
        {"\xe2\x82", "??"},   /* cut off */
        {"\xe2\x82z", "??z"},
        {"\xc0\xaf\xe0\x9f\xbf", "?????"}, /* longer than need be */
        {"1\xed\xa0\x80\xef\xbf\xbe"
         "2",
         "1???2"},                                   /* half a character; XML has no U+FFFE */
        {"\xf4\x90\x80\x80\xf8\x88\xff", "???????"}, /* beyond Unicode */
    };
    struct arena *a = arena_new(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        assert_string_equal(label_plain(a, text[i][0]), text[i][1]);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_early_gradients),
                                       cmocka_unit_test(test_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
