/* Progress that passes tell listeners, and passes ended by listeners: ir/base/listener.c, pipeline_step_run of
 * passes/pipeline.c, and the searches that report progress.
 *
 * A graph of parallel chains, wide enough that no planner is done at once.  Each planner tells of itself under the
 * name that -p has, values that never fall below the bound beside them or below the plan's own, and a listener that
 * has had enough gets a plan and hears nothing more (a planner that goes on all the same takes for ever). */
#include "passes/pipeline.h"
#include "tests/support/said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Devices, and a workload of `chains` chains, each of `length` nodes. */
struct case_of {
    const char *devices;
    uint32_t chains, length;
};

struct ear {
    const char *pass;                 /* that is to be heard */
    uint32_t began, worked, ended;    /* passes */
    uint32_t told;                    /* with a phase of its own */
    uint32_t enough;                  /* told so often, it ends the work; 0: never */
    uint32_t after;                   /* told after that */
    int64_t value, least, bound_most; /* last value; least value, largest bound of all */
};

static bool hear(void *user, const struct progress *p)
{
    struct ear *e = user;
    e->after += e->enough > 0 && e->told >= e->enough;
    if (!p->phase) {
        assert_non_null(p->pass);
        *(e->began == e->ended ? &e->began : &e->ended) += 1;
        return false;
    }
    if (!strcmp(p->phase, "at work")) {
        e->worked++;
        return false;
    }
    e->told++;
    assert_string_equal(p->pass, e->pass);
    assert_true(p->done <= 1000 && p->value >= 0 && p->bound >= 0);
    assert_true(p->value == 0 || p->value >= p->bound);
    if (p->value > 0 && (e->least == 0 || p->value < e->least))
        e->least = p->value;
    e->value = p->value;
    e->bound_most = p->bound > e->bound_most ? p->bound : e->bound_most;
    return e->enough > 0 && e->told >= e->enough;
}

static void write_graph(struct said *s, const struct case_of *on)
{
    say(s, "%s\ngraph {\n", on->devices);
    for (uint32_t c = 0; c < on->chains; c++)
        for (uint32_t i = 0; i < on->length; i++) {
            char from[32] = "";
            if (i > 0)
                snprintf(from, sizeof from, "%%c%u_%u", c, i - 1);
            say(s, "%%c%u_%u = profile:op(%s) : !xfer=%uus !time=%uus\n", c, i, from,
                3 + (c * 7 + i * 5) % 11, 20 + (c * 13 + i * 29) % 37);
        }
    say(s, "}\n");
}

/* The plan that passes find while e listens. */
static struct plan *place(struct ctx *x, struct ear *e, const struct case_of *on,
                          const char *passes)
{
    struct said s = {.len = 0};
    struct text_module t;
    struct pipeline p = {0};
    struct run_options o = {0};
    write_graph(&s, on);
    if (module_parse(&t, &(struct named_text){"chains", s.text, s.len, NULL}, NULL, x->use.diag))
        fail_msg("%s", s.text);
    x->scene = t.scene;
    x->use.listener->user = e;
    assert_int_equal(pipeline_parse(&p, passes, x->use.mem, x->use.diag), 0);
    e->pass = p.step[p.n - 1].pass->name;
    pipeline_complete(&p, x->use.mem);
    assert_int_equal(pipeline_run(&p, x, &o), 0);
    return x->results.plan;
}

static void check(const struct case_of *on, const char *passes, uint32_t enough)
{
    struct diag d = diag_silent();
    struct listener l = {.tell = hear};
    struct ear e = {.enough = enough};
    struct settings few = {.max_states =
                               enough ? 0 : 20000}; /* of planners without an option for it */
    struct ctx x = {.settings = &few,
                    .use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .use.listener = &l};
    struct plan *p = place(&x, &e, on, passes);
    if (!p || !e.told || e.after || e.least < (e.least ? p->claim.value_less_parts : 0) ||
        e.bound_most > p->claim.value_less_parts)
        fail_msg(
            "%s: told %u times, %u after enough, values from %lld, bounds up to %lld, plan %lld",
            passes, e.told, e.after, (long long)e.least, (long long)e.bound_most,
            (long long)(p ? p->claim.value_less_parts : -1));
    if (enough && (!l.ended || e.told != enough))
        fail_msg("%s: not ended: %s", passes, p->claim.argument);
    if (!enough)
        assert_true(e.began >= 4 && e.worked == e.began &&
                    e.began == e.ended); /* infer-shapes, cost, contract, the planner */
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    arena_free(x.scene.m->mem);
}

static const struct case_of plain = {"class acc x4 link=1GB/s,1us", 12, 12};
static const struct case_of groups = {"class acc x4 link=1GB/s,1us group=2 inner=10GB/s,1us", 6, 6};

static void test_told(void **state)
{
    (void)state;
    check(&plain, "dp-place{max-states=50000}", 0);
    check(&plain, "auto-place{gain=0:moves=400000}", 0);
    check(&plain, "anneal-place{moves=400000}", 0);
    check(&plain, "dpl-place{starts=20}", 0);
    check(&plain, "local-place", 0);
    check(&plain, "pipedream-place", 0);
    check(&groups, "hier-place{starts=5}", 0);
}

static void test_enough(void **state)
{
    (void)state;
    check(&plain, "dp-place{max-states=1000000000}", 2);
    check(&plain, "anneal-place{moves=1000000000000}", 2);
    check(&plain, "auto-place{gain=0:moves=1000000000000}", 4);
    check(&plain, "dpl-place{starts=1000000}", 2);
    check(&groups, "hier-place{starts=1000000}", 2);
}

static void test_nobody(void **state)
{
    struct listener deaf = {0};
    (void)state;
    listener_tell(NULL, (struct progress){.phase = "searching"});
    listener_tell(&deaf, (struct progress){.phase = "searching"});
    listener_tell_again(&deaf);
    listener_tell_again(NULL);
    assert_false(listener_ended(NULL) || listener_ended(&deaf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_told), cmocka_unit_test(test_enough),
                                       cmocka_unit_test(test_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
