/* Improving plans (improve.c, cluster_growth.c), runs that no order holds up (step_verdict_ready), and who is too large
 * for every device (too_large.c), on small random graphs. */
#include "passes/portfolio/improve.h"
#include "ir/exec/makespan/step_verdict.h"
#include "passes/list/too_large.h"
#include "passes/portfolio/cluster_growth.h"
#include "tests/support/aim.h"
#include "tests/support/step_draw.h"

enum { GRAPHS = 150, WORK = 3000 };

/* What planners have of a graph without contract. */
struct bench {
    struct ctx x;
    struct placement placement;
    struct clock clock;
};

static void set_up(struct bench *b, struct made *s, uint64_t *rng)
{
    *b = (struct bench){.x = {.scene = s->of, .use = {.mem = s->a, .diag = &s->diag}}};
    b->x.use.scratch = arena_new(s->a);
    aim_at(&b->x.scene.model, "makespan");
    b->x.scene.model.step.network = test_below(rng, 2) ? NETWORK_DIRECT : NETWORK_HOST;
    b->x.scene.model.step.contention = test_below(rng, CONTENTION_BLOCKING);
    b->x.levels.base = b->x.levels.top = wdag_base(&b->x.scene, s->a);
    assert_int_equal(placement_build(&b->placement, &b->x, "test", s->a), 0);
}

static void limit_memory(struct made *s, uint64_t *rng)
{
    for (uint32_t k = 0; k < s->of.cluster->ncls; k++)
        s->of.cluster->cls[k].memory = test_below(rng, 3) ? (int64_t)test_below(rng, 60) + 1 : -1;
}

static struct list_schedule listed_of(const struct made *s)
{
    struct list_schedule p = {.what = "drawn"};
    p.dev = arena_array(s->a, s->of.m->nnode, sizeof *p.dev);
    p.rank = arena_array(s->a, s->of.m->nnode, sizeof *p.rank);
    memcpy(p.dev, s->dev, s->of.m->nnode * sizeof *p.dev);
    for (nid n = s->first; n < s->first + s->n; n++)
        p.rank[n] = s->order ? s->order[n] : n;
    return p;
}

/* Never above what it starts from, as it claims, the same again; mostly below. */
static void improving(void **state)
{
    (void)state;
    uint64_t rng = 71;
    uint32_t better = 0, lacking = 0;
    static struct made s;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct bench b;
        draw(&s, &rng, i % 2, true);
        if (i % 3)
            limit_memory(&s, &rng);
        set_up(&b, &s, &rng);
        struct list_schedule start = listed_of(&s), first = {0}, p[2];
        list_try(&b.x, &first, &start);
        for (int again = 0; again < 2; again++) {
            struct improver *how = improver_new(&b.x, &b.placement, &b.clock, s.a);
            p[again] = listed_of(&s);
            p[again].value = first.value;
            p[again].lacks = first.lacks;
            assert_true(improve_plan(how, &p[again], WORK, 10000) > 0 || b.placement.base->n == 0);
            struct plan plan = {.dev = p[again].dev, .rank = p[again].rank};
            struct evaluation e = plan_evaluate(&b.x.scene, &plan, s.a);
            assert_true(evaluation_holds(&e, true));
            assert_int_equal(e.value, p[again].value);
            assert_int_equal(list_lacking(&b.x.scene, &e.v), p[again].lacks);
            assert_true(p[again].lacks < first.lacks ||
                        (p[again].lacks == first.lacks && p[again].value <= first.value));
        }
        assert_memory_equal(p[0].dev, p[1].dev, s.of.m->nnode * sizeof *p[0].dev);
        assert_memory_equal(p[0].rank, p[1].rank, s.of.m->nnode * sizeof *p[0].rank);
        better += p[0].value < first.value || p[0].lacks < first.lacks;
        lacking += first.lacks > 0;
        unload(&s);
    }
    print_message("%u of %u better, %u lacked memory\n", better, GRAPHS, lacking);
    assert_true(better > GRAPHS / 2 && lacking > GRAPHS / 10);
}

/* Of the nodes that wait for nothing each device takes the first in the order first. */
static void check_first(const struct made *s, const struct step_run *run)
{
    for (uint32_t i = 0; i < run->g.ntask; i++)
        for (uint32_t k = 0; k < run->g.ntask; k++) {
            const struct task *x = &run->g.task[i], *y = &run->g.task[k];
            bool both = x->kind == STEP_COMPUTE && y->kind == STEP_COMPUTE && x->from == y->from &&
                        s->rank[x->number] < s->rank[y->number] &&
                        run->g.waits.at[i] == run->g.waits.at[i + 1];
            if (both)
                assert_true(run->t.start[i] < run->t.start[k]);
        }
}

/* An order that holds no device up is one that can be kept: nodes then start at the same moments. */
static void ready_orders(void **state)
{
    (void)state;
    uint64_t rng = 72;
    uint32_t stuck = 0;
    static struct made s;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct bench b;
        draw(&s, &rng, true, false);
        set_up(&b, &s, &rng);
        struct plan p = {.dev = s.dev, .rank = s.rank};
        struct verdict v = step_verdict_ready(&b.x.scene, &p, s.a);
        const struct step_run *ready = v.run;
        assert_true(v.runnable);
        check_first(&s, ready);
        stuck += !step_verdict(&b.x.scene, &p, s.a).runnable;
        uint32_t before[MOST_NODES];
        for (uint32_t k = 0; k < b.placement.base->n; k++) {
            uint32_t place = 0;
            for (uint32_t j = 0; j < b.placement.base->n; j++)
                place += ready->t.start[j] < ready->t.start[k] ||
                         (ready->t.start[j] == ready->t.start[k] && j < k);
            before[ready->g.task[k].number] = place;
        }
        p.rank = before;
        struct verdict w = step_verdict(&b.x.scene, &p, s.a);
        const struct step_run *exact = w.run;
        assert_true(w.runnable);
        assert_int_equal(w.value, v.value);
        for (uint32_t k = 0; k < b.placement.base->n; k++)
            assert_int_equal(exact->t.start[k], ready->t.start[k]);
        unload(&s);
    }
    assert_true(stuck > GRAPHS / 4);
}

/* What all transfers of edges would take more if the first n of the set moved to device `to`. */
static int64_t cost_of(const struct growth *g, const int32_t *dev, uint32_t n, uint32_t to)
{
    const struct wdag *base = g->placement->base;
    bool in[MOST_NODES] = {false};
    int64_t cost = 0;
    for (uint32_t i = 0; i < n; i++)
        in[g->set[i]] = true;
    for (uint32_t v = 0; v < base->n; v++)
        for (uint32_t i = base->pred.at[v]; i < base->pred.at[v + 1]; i++) {
            uint32_t u = base->pred.to[i];
            int32_t du = dev[base->node[u]], dv = dev[base->node[v]];
            int32_t nu = in[u] ? (int32_t)to : du, nv = in[v] ? (int32_t)to : dv;
            cost += ((nu != nv) - (du != dv)) * g->edge->link[g->cls][i];
        }
    return cost;
}

static void growing(void **state)
{
    (void)state;
    uint64_t rng = 73;
    uint32_t large = 0;
    static struct made s;
    for (uint32_t i = 0; i < 4 * GRAPHS; i++) {
        struct bench b;
        draw(&s, &rng, i % 2, true);
        set_up(&b, &s, &rng);
        const struct wdag *base = b.placement.base;
        struct edges e = edges_build(&b.x.scene, base, s.a);
        struct growth g = growth_new(&b.placement, &e, cluster_main_class(s.of.cluster), s.a);
        for (uint32_t seed = 0; seed < base->n; seed++) {
            uint32_t to = test_below(&rng, s.of.cluster->ndev), most = 1 + test_below(&rng, 6);
            int32_t home = s.dev[base->node[seed]];
            if (home == (int32_t)to || !growth_can(&g, seed, to))
                continue;
            growth_grow(&g, s.dev, seed, to, most, s.a);
            assert_in_range(g.n, 1, most);
            assert_int_equal(g.set[0], seed);
            int64_t cost = cost_of(&g, s.dev, g.n, to);
            for (uint32_t k = 0; k < g.n; k++) {
                assert_int_equal(s.dev[base->node[g.set[k]]], home);
                assert_true(growth_can(&g, g.set[k], to));
                if (k + 1 > most / 2 && k + 1 < g.n)
                    assert_true(cost_of(&g, s.dev, k + 1, to) >= cost);
            }
            large += g.n > 2;
            int32_t dev[MOST_NODES];
            memcpy(dev, s.dev, sizeof dev);
            growth_move(&g, dev, to);
            for (uint32_t k = 0; k < g.n; k++)
                assert_int_equal(dev[base->node[g.set[k]]], to);
        }
        unload(&s);
    }
    assert_true(large > GRAPHS);
}

/* Whoever is said to be too large leaves no plan that fits. */
static void too_large(void **state)
{
    (void)state;
    uint64_t rng = 74;
    uint32_t told = 0, fitting = 0;
    static struct made s;
    for (uint32_t i = 0; i < 4 * GRAPHS; i++) {
        struct bench b;
        draw(&s, &rng, false, true);
        if (i % 2)
            s.of.m->ir_version = 8; /* no profile: bytes come and go */
        limit_memory(&s, &rng);
        set_up(&b, &s, &rng);
        b.x.scene.model.memory = i % 3 ? MEMORY_LIVE : MEMORY_SUM;
        const struct plan p = {.dev = s.dev, .rank = s.order};
        struct evaluation e = plan_evaluate(&b.x.scene, &p, s.a);
        const char *text = list_too_large(&b.x, s.a);
        if (text && e.v.fits)
            fail_msg("%s, but a plan fits", text);
        told += text != NULL;
        fitting += e.v.fits;
        unload(&s);
    }
    print_message("%u too large, %u plans fit\n", told, fitting);
    assert_true(told > GRAPHS / 2 && fitting > GRAPHS / 2);
}

/* Just as large as the device. */
static void as_large(void **state)
{
    static const char text[] = "ir_version 0\nclass acc x2 memory=%dB\ngraph {\n"
                               "  %%a = profile:op() : ? !xfer=4ps !time=1ps !own=7B\n"
                               "  %%b = profile:op(%%a) : ? !time=2ps !own=100B\n}\n";
    (void)state;
    for (int room = 99; room <= 100; room++) {
        char buf[sizeof text + 8];
        static struct made s;
        struct bench b;
        uint64_t rng = 75;
        snprintf(buf, sizeof buf, text, room);
        load_on(&s, buf, false, "01");
        set_up(&b, &s, &rng);
        const char *said = list_too_large(&b.x, s.a);
        if (room == 100)
            assert_null(said);
        else
            assert_string_equal(
                said, "'b' needs 100 B, and no device that can run it has more than 99 B");
        unload(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(improving), cmocka_unit_test(ready_orders),
                                       cmocka_unit_test(growing), cmocka_unit_test(too_large),
                                       cmocka_unit_test(as_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
