/* Training graphs: contract and dp-place against brute force over all assignments of devices.
 *
 * Random graphs of forward and backward nodes in colour classes, with backward nodes without a forward
 * sibling (orphans) among them.  The stages of a plan are legal if the devices have an order that all
 * forward edges follow, and against which all backward edges go; in workloads only those that have an
 * orphan at an end (the placement paper's dp: artificial images of orphans).  Some nodes have two
 * results of different cost; every other graph is subdivided first.  Loads are the judge's. */
#include "passes/contiguous/ideal_search.h"
#include "passes/problem/reversed.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "tests/support/graphs.h"
#include "tests/support/said.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OPS = 8, DEVICES = 3, GRAPHS = SANITIZED ? 200 : 600 };

struct world {
    struct said said;
    uint32_t nop, forward;         /* ops below `forward` are of the forward pass */
    uint32_t color[OPS];           /* 0: none */
    uint32_t results[OPS], uneven; /* ops of two results */
    bool edge[OPS][OPS];
    bool paper; /* the graph of a workload: backward edges count only next to orphans */
};

/* What a device's load is: transfers added, beside computing, both ways at once; passes apart; stages on
 * several devices. */
enum mode { SUM, MAX, DUPLEX, GPIPE, COPIES };

static void say_cluster(struct world *w, enum mode mode, bool io_free, uint64_t *rng)
{
    static const char *const overlap[] = {"sum", "max", "duplex"};
    uint32_t which = mode < GPIPE ? mode : test_below(rng, 3);
    bool gpipe = mode == GPIPE || (mode == COPIES && test_below(rng, 2));
    say(&w->said, "cluster%s%s overlap=%s schedule=%s", io_free ? " io_free" : "",
        mode == COPIES ? " replicate sync=4TB/s" : "", overlap[which],
        gpipe ? "gpipe" : "pipedream");
}

static void make(struct world *w, enum mode mode, uint64_t *rng)
{
    memset(w, 0, sizeof *w);
    w->nop = 3 + test_below(rng, (mode == COPIES ? 6 : OPS) - 2);
    w->forward = test_below(rng, 5) ? 1 + test_below(rng, w->nop - 1) : w->nop;
    uint32_t dense = 15 + test_below(rng, 45), colors = 1 + test_below(rng, OPS);
    bool cpu = test_below(rng, 3) == 0, tight = test_below(rng, 4) == 0;
    w->paper = test_below(rng, 2);
    bool io = test_below(rng, 2);
    say(&w->said, "ir_version %u\n", w->paper ? 0 : 10);
    say_cluster(w, mode, !io, rng);
    say(&w->said, "\nclass acc x%u%s\n", cpu ? 2 : 2 + test_below(rng, 2),
        tight ? " memory=35B" : "");
    if (cpu)
        say(&w->said, "class cpu x1 host\n");
    say(&w->said, "graph {\n");
    if (io)
        say(&w->said, "  in %%in : ? !bytes=1B !xfer=%ups\n", test_below(rng, 20));
    for (uint32_t i = 0; i < w->nop; i++) {
        bool back = i >= w->forward;
        uint32_t slow = 1 + test_below(rng, 3), time = test_below(rng, 4) ? test_below(rng, 50) : 0;
        w->color[i] = test_below(rng, 4) ? 1 + test_below(rng, colors) : 0;
        uint32_t results = 1 + (test_below(rng, 3) == 0);
        w->uneven += results > 1;
        say(&w->said, results > 1 ? "  %%v%u, %%w%u = profile:op(" : "  %%v%u = profile:op(", i, i);
        const char *comma = "";
        for (uint32_t j = 0; j < i; j++)
            if (test_below(rng, 100) < dense) {
                w->edge[j][i] = true;
                say(&w->said, "%s%%%c%u", comma,
                    w->results[j] > 1 && test_below(rng, 2) ? 'w' : 'v', j);
                comma = ", ";
            }
        if (io && test_below(rng, 3) == 0)
            say(&w->said, "%s%%in", comma);
        w->results[i] = results;
        say(&w->said, ") : ? !bytes=1B !xfer=%ups", test_below(rng, 20));
        if (results > 1)
            say(&w->said, ", ? !bytes=1B !xfer=%ups", test_below(rng, 20));
        say(&w->said, " !time=[%ups%s", time, cpu ? "," : "");
        if (cpu)
            say(&w->said, "%ups", time * slow);
        say(&w->said, "] !own=%uB%s", test_below(rng, 20), back ? " !backward" : "");
        if (w->color[i])
            say(&w->said, " !color=%u", w->color[i]);
        say(&w->said, "\n");
    }
    say(&w->said, "}\n");
}

static bool is_orphan(const struct world *w, uint32_t i)
{
    bool found = i < w->forward;
    for (uint32_t j = 0; j < w->forward; j++)
        found = found || (w->color[i] && w->color[i] == w->color[j]);
    return !found;
}

/* Whether the devices can stand in an order that the stages follow. */
static bool legal(const struct world *w, const int32_t *dev)
{
    bool after[DEVICES][DEVICES] = {{0}};
    for (uint32_t i = 0; i < w->nop; i++)
        for (uint32_t j = 0; j < w->nop; j++) {
            if (!w->edge[i][j] || dev[i] == dev[j] || (i < w->forward) != (j < w->forward))
                continue;
            if (j < w->forward)
                after[dev[i]][dev[j]] = true;
            else if (!w->paper || is_orphan(w, i) || is_orphan(w, j))
                after[dev[j]][dev[i]] = true;
        }
    for (uint32_t k = 0; k < DEVICES; k++)
        for (uint32_t i = 0; i < DEVICES; i++)
            for (uint32_t j = 0; j < DEVICES; j++)
                after[i][j] = after[i][j] || (after[i][k] && after[k][j]);
    return !after[0][0] && !after[1][1] && !after[2][2];
}

/* The best value of the judge for node[] with as many copies as idle devices allow, from device d on. */
static void try_copies(struct ctx *x, const int32_t *node, uint32_t *copies, const bool *used,
                       uint32_t d, int64_t *best)
{
    if (d < x->scene.cluster->ndev && (!used[d] || !x->scene.model.replicate)) {
        try_copies(x, node, copies, used, d + 1, best);
        return;
    }
    if (d < x->scene.cluster->ndev) {
        uint32_t most = 1, cls = cluster_class(x->scene.cluster, d);
        while (d + most < x->scene.cluster->ndev && !used[d + most] &&
               cluster_class(x->scene.cluster, d + most) == cls)
            most++;
        for (copies[d] = 1; copies[d] <= most; copies[d]++)
            try_copies(x, node, copies, used, d + 1, best);
        return;
    }
    struct arena_mark mark = arena_mark(x->use.mem);
    struct verdict v = load_verdict(&x->scene, node, copies, x->use.mem);
    if (v.fits && v.colocated && v.runnable && v.value < *best)
        *best = v.value;
    arena_release(x->use.mem, mark);
}

/* The best value over all legal plans, INT64_MAX: none. */
static int64_t brute_force(const struct world *w, struct ctx *x)
{
    const struct graph *g = &x->scene.m->graph[1];
    int32_t dev[OPS] = {0}, *node = arena_array(x->use.mem, x->scene.m->nnode, sizeof *node);
    int64_t best = INT64_MAX;
    uint32_t plans = 1;
    for (uint32_t i = 0; i < w->nop; i++)
        plans *= x->scene.cluster->ndev;
    for (uint32_t p = 0; p < plans; p++) {
        uint32_t rest = p;
        for (uint32_t i = 0; i < w->nop; i++, rest /= x->scene.cluster->ndev)
            node[g->first + i] = dev[i] = (int32_t)(rest % x->scene.cluster->ndev);
        if (!legal(w, dev))
            continue;
        uint32_t copies[DEVICES] = {0};
        bool used[DEVICES] = {0};
        for (uint32_t i = 0; i < w->nop; i++)
            used[dev[i]] = true;
        try_copies(x, node, copies, used, 0, &best);
    }
    return best;
}

static void quiet(void *to, enum diag_level level, enum warning w, const char *text)
{
    (void)to;
    (void)level;
    (void)w;
    (void)text;
}

static int run(struct ctx *x, const char *pipeline)
{
    struct pipeline p = {0};
    struct run_options o = {0};
    assert_int_equal(pipeline_parse(&p, pipeline, x->use.mem, x->use.diag), 0);
    pipeline_complete(&p, x->use.mem);
    return pipeline_run(&p, x, &o);
}

/* The search from the other end finds a plan of the same value (INT64_MAX: none). */
static void check_mirror(struct ctx *x, int64_t best)
{
    const struct wdag *g = x->levels.top;
    struct problem *c = problem_build(g, &x->scene, -1, x->use.mem, x->use.diag);
    const struct dp_limits most = {.max_states = 100000};
    struct problem_plan plan = {LOAD_INF,
                                arena_array(x->use.mem, (size_t)g->n + 1, sizeof(int32_t)),
                                arena_array(x->use.mem, DEVICES, sizeof(uint32_t))};
    struct dp_found s = dp_search(problem_mirror(c, x->use.mem), &most, &plan, x->use.mem);
    assert_true(s.complete);
    assert_int_equal(plan.value, best == INT64_MAX ? LOAD_INF : best);
}

static void check(enum mode mode, uint64_t rng)
{
    uint32_t found = 0, orphans = 0, uneven = 0, shared = 0;
    for (uint32_t round = 0; round < GRAPHS; round++) {
        struct world w;
        struct text_module t;
        struct diag d = {.emit = quiet};
        make(&w, mode, &rng);
        if (module_parse(&t, &(struct named_text){"random", w.said.text, w.said.len, NULL}, NULL,
                         &d))
            fail_msg("round %u does not parse:\n%s", round, w.said.text);
        struct ctx x = {.use.mem = arena_new(NULL),
                        .use.scratch = arena_new(NULL),
                        .use.diag = &d,
                        .scene = t.scene};
        int rc = run(&x, round % 2 ? "dp-place{starts=1}" : "subdivide,dp-place{starts=1}");
        uneven += w.uneven;
        int64_t best = brute_force(&w, &x);
        if (best == INT64_MAX) {
            assert_int_equal(rc, PASS_INFEASIBLE);
        } else {
            if (rc)
                fail_msg("round %u: no plan, best %lld\n%s", round, (long long)best, w.said.text);
            struct verdict v =
                load_verdict(&x.scene, x.results.plan->dev, x.results.plan->copies, x.use.mem);
            if (v.value != best || x.results.plan->claim.status != PLAN_OPTIMAL)
                fail_msg("round %u: %lld, best %lld\n%s", round, (long long)v.value,
                         (long long)best, w.said.text);
            assert_true(v.fits && v.colocated && v.runnable);
            for (uint32_t i = 0; x.results.plan->copies && i < x.scene.cluster->ndev; i++)
                shared += x.results.plan->copies[i] > 1;
            found++;
        }
        check_mirror(&x, best);
        for (uint32_t i = 0; i < w.nop; i++)
            orphans += is_orphan(&w, i);
        arena_free(x.use.mem);
        arena_free(x.use.scratch);
        arena_free(t.scene.m->mem);
    }
    assert_true(found > GRAPHS / 2 && found < GRAPHS && orphans > GRAPHS / 4 &&
                uneven > GRAPHS / 2);
    assert_true(mode != COPIES || shared > GRAPHS / 10);
}

static void test_sum(void **state)
{
    (void)state;
    check(SUM, 1);
}

static void test_max(void **state)
{
    (void)state;
    check(MAX, 2);
}

static void test_duplex(void **state)
{
    (void)state;
    check(DUPLEX, 3);
}

static void test_gpipe(void **state)
{
    (void)state;
    check(GPIPE, 4);
}

static void test_copies(void **state)
{
    (void)state;
    check(COPIES, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),   cmocka_unit_test(test_max),    cmocka_unit_test(test_duplex),
        cmocka_unit_test(test_gpipe), cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
