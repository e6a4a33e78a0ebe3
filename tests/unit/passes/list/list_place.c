/* List planners on small random graphs: what they claim is what the plan takes, and no plan of theirs is below the best
 * of all placements and orders; the portfolio's is not above any other's (celeritas_place.c, heft_place.c,
 * portfolio_place.c; with them list.c and estimate.c). */
#include "ir/exec/evaluate.h"
#include "passes/pipeline.h"
#include "tests/support/aim.h"
#include "tests/support/step_draw.h"

enum { SMALL = 120, STOPPED = 60 };

static const char *const planners[] = {"portfolio-place", "dfs-place", "order-place{range=2}",
                                       "celeritas-place{range=2}", "heft-place"};
enum { PLANNERS = sizeof planners / sizeof *planners };

/* The best of all orders where the nodes are now. */
static int64_t best_order(struct made *s, uint32_t *perm, uint32_t at, int64_t best)
{
    if (at == s->n) {
        struct plan p = {.dev = s->dev, .rank = s->rank};
        struct arena *own = arena_new(s->a);
        struct evaluation e = plan_evaluate(&s->of, &p, own);
        arena_free(own);
        return evaluation_holds(&e, false) && e.value < best ? e.value : best;
    }
    for (uint32_t i = at; i < s->n; i++) {
        uint32_t t = perm[at];
        perm[at] = perm[i];
        perm[i] = t;
        s->rank[s->first + perm[at]] = at;
        best = best_order(s, perm, at + 1, best);
        perm[i] = perm[at];
        perm[at] = t;
    }
    return best;
}

static int64_t best_plan(struct made *s)
{
    int64_t best = INT64_MAX;
    for (uint32_t where = 0; where < 1U << s->n; where++) {
        uint32_t perm[MOST_NODES];
        for (uint32_t i = 0; i < s->n; i++) {
            perm[i] = i;
            s->dev[s->first + i] =
                s->of.place->kind[s->first + i] == PLACE_NODE ? (int32_t)(where >> i & 1) : -1;
        }
        best = best_order(s, perm, 0, best);
    }
    return best;
}

/* The value of what passes leave; l: NULL, or who ends them, of which the plan must say `said`. */
static int64_t run_with(struct made *s, const char *passes, struct listener *l, const char *said)
{
    struct ctx x = {.scene = s->of, .use = {.diag = &s->diag, .listener = l}};
    struct pipeline p = {0};
    struct run_options o = {0};
    uint32_t n = 0;
    x.scene.place = NULL;
    x.use.mem = arena_new(NULL);
    x.use.scratch = arena_new(NULL);
    assert_int_equal(pipeline_parse(&p, passes, x.use.mem, x.use.diag), 0);
    pipeline_complete(&p, x.use.mem);
    for (uint32_t i = 0; i < p.n; i++) /* the costs are written in the text */
        if (strcmp(p.step[i].pass->name, "cost") && strcmp(p.step[i].pass->name, "infer-shapes"))
            p.step[n++] = p.step[i];
    p.n = n;
    if (pipeline_run(&p, &x, &o)) /* with the judge */
        fail_msg("%s: %s", passes, s->sink.last[0]);
    int64_t value = x.results.plan->claim.value;
    assert_true(x.results.plan->claim.bound <= value);
    if (said && !strstr(x.results.plan->claim.argument, said))
        fail_msg("%s: %s", passes, x.results.plan->claim.argument);
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    return value;
}

static int64_t run(struct made *s, const char *passes)
{
    return run_with(s, passes, NULL, NULL);
}

/* Ctrl-C before the first node: there is a plan all the same, and it says so. */
static void when_stopped(void **state)
{
    static const struct {
        const char *planner, *said;
    } stopped[] = {{"order-place", "interrupted"}, {"celeritas-place", "interrupted"},
                   {"heft-place", "in order"},     {"m-etf-place", "in order"},
                   {"m-sct-place", "in order"},    {"dfs-place", "depth first"},
                   {"m-topo-place", "m-TOPO"},     {"portfolio-place", ""}};
    (void)state;
    uint64_t rng = 47;
    signal_flag stop = 1;
    static struct made s;
    for (uint32_t done = 0; done < STOPPED; done++) {
        draw(&s, &rng, done % 2, true);
        aim_at(&s.of.model, "makespan");
        s.of.model.step.network = done % 3 ? NETWORK_DIRECT : NETWORK_HOST;
        for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++) {
            struct listener l = {.stop = &stop};
            run_with(&s, arena_fmt(s.a, "%s{best-effort=true}", stopped[i].planner), &l,
                     stopped[i].said);
        }
        unload(&s);
    }
}

static void against_all_plans(void **state)
{
    (void)state;
    uint64_t rng = 43;
    uint32_t optimal[PLANNERS] = {0};
    double ratio[PLANNERS] = {0};
    static struct made s;
    for (uint32_t done = 0; done < SMALL;) {
        draw(&s, &rng, done % 2, true);
        bool small = s.n >= 2 && s.n <= (done % 8 ? 4 : 5) && s.of.cluster->ndev == 2 && !s.io_free;
        aim_at(&s.of.model, "makespan");
        s.of.model.step.network = done % 3 ? NETWORK_DIRECT : NETWORK_HOST;
        if (small) {
            int64_t value[PLANNERS], best = best_plan(&s);
            for (uint32_t i = 0; i < PLANNERS; i++) {
                value[i] = run(&s, planners[i]);
                assert_true(value[i] >= best);
                assert_true(value[i] >= value[0]);
                optimal[i] += value[i] == best;
                ratio[i] += best ? (double)value[i] / (double)best : 1;
            }
            done++;
        }
        unload(&s);
    }
    for (uint32_t i = 0; i < PLANNERS; i++)
        print_message("%-26s optimal %3u of %u, mean ratio %.3f\n", planners[i], optimal[i], SMALL,
                      ratio[i] / SMALL);
    assert_true(optimal[0] >= SMALL * 95 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_all_plans),
                                       cmocka_unit_test(when_stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
