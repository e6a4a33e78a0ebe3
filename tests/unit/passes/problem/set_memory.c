/* What devices need at one time (set_memory.h, sample_memory.h): sets of nodes against a recount by definition, the
 * judge against the schedule's own peak and against sets, the bound of a node against all orders, and planners against
 * enumeration of all contiguous plans. */
#include "ir/exec/evaluate.h"
#include "ir/exec/sample/sample_memory.h"
#include "passes/problem/problem.h"
#include "tests/support/graphs.h"
#include "tests/support/sanitized.h"
#include "tools/lib/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    GRAPHS = SANITIZED ? 60 : 300,
    MAX_OPS = 16,
    SETS = 20,
    PLANS = SANITIZED ? 25 : 120,
    CHAINS = SANITIZED ? 8 : 24
};

/* Draws a model of `nop` operators with sizes of values, weights, inputs and outputs, for `devices` devices of `memory`
 * bytes; transfers take little. */
static char *draw(uint64_t *rng, uint32_t nop, uint32_t devices, int64_t memory, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    uint32_t nin = 1 + test_below(rng, 2), dense = 5 + test_below(rng, 30),
             nweight = test_below(rng, 4);
    fprintf(
        f, "pcc 1\ncluster memory_model=live\nclass acc x%u memory=%lldB link=1TB/s,1ps\ngraph {\n",
        devices, (long long)memory);
    for (uint32_t i = 0; i < nin; i++)
        fprintf(f, "  in %%x%u : i8[%u] !bytes=%uB\n", i, 1, 1 + test_below(rng, 20));
    for (uint32_t i = 0; i < nweight; i++)
        fprintf(f, "  init %%w%u : i8[3] = [1, 2, 3] !bytes=%uB !elems=3\n", i,
                3 + test_below(rng, 30));
    for (uint32_t i = 0; i < nop; i++) {
        bool any = false;
        fprintf(f, "  %%v%u = profile:op(", i);
        for (uint32_t j = 0; j < i + nin; j++)
            if (test_below(rng, 100) < dense || (!any && j + 1 == i + nin)) {
                fprintf(f, "%s%%%c%u", any ? ", " : "", j < i ? 'v' : 'x', j < i ? j : j - i);
                any = true;
            }
        if (nweight && test_below(rng, 2))
            fprintf(f, ", %%w%u", test_below(rng, nweight));
        fprintf(f, ") : ? !bytes=%uB !time=%ups", test_below(rng, 30), 1 + test_below(rng, 100));
        fprintf(f, test_below(rng, 3) ? "\n" : " !own=%uB\n", test_below(rng, 60));
    }
    for (uint32_t i = 0; i < nop; i++)
        if (i + 1 == nop || test_below(rng, 4) == 0)
            fprintf(f, "  out %%v%u\n", i);
    fprintf(f, "}\n");
    fclose(f);
    return text;
}

/* A drawn model with its base level and the values for it. */
struct drawn {
    struct pcc *p;
    struct scene *s;
    struct wdag *g;
    struct set_values *v;
    struct arena *a;
};

/* Draws a model and opens it.  alone: for the latency, else for the time per sample. */
static struct drawn open_drawn(uint64_t *rng, uint32_t nop, uint32_t devices, int64_t memory,
                               bool alone)
{
    size_t size;
    char *text = draw(rng, nop, devices, memory, &size);
    struct drawn k = {.p = pcc_new()};
    if (alone)
        assert_int_equal(pcc_set(k.p, "objective", "latency"), PCC_OK);
    if (pcc_open_memory(k.p, "drawn.pir", text, size) != PCC_OK)
        fail_msg("%s\n%s", pcc_error(k.p), text);
    free(text);
    k.s = &k.p->x.scene;
    if (alone) /* planning sets it, too */
        k.s->model.objective = (uint32_t)exec_objective(&k.s->model, "latency");
    k.a = k.p->x.use.mem;
    assert_int_equal(ctx_base(&k.p->x), 0);
    assert_true(exec_live_parts(&k.s->model));
    k.g = k.p->x.levels.base;
    k.v = set_values_build(k.g, k.s, k.a);
    assert_non_null(k.v);
    return k;
}

/* Returns the bytes that a set needs at one time beside those that last, by definition; in[vertex]: 1 in the set;
 * order[0 .. n): all vertices in the order in which they run. */
static int64_t recount(const struct drawn *k, const uint8_t *in, const uint32_t *order)
{
    const struct module *m = k->s->m;
    const struct place *p = k->s->place;
    uint32_t n = k->g->n, at[MAX_OPS];
    int64_t most = 0, reads = 0, sent = 0;
    for (uint32_t i = 0; i < n; i++)
        at[order[i]] = i;
    for (uint32_t step = 0; step < n; step++) {
        int64_t now = 0, made = 0;
        if (!in[order[step]])
            continue;
        reads = sent = 0;
        for (vid x = 1; x < m->nval; x++) {
            nid def = m->value[x].def;
            uint32_t from = def ? k->g->vertex[def] : UINT32_MAX, last = 0;
            bool here = false, elsewhere = def && m->value[x].flags & VALUE_OUTPUT;
            bool counts = elsewhere; /* own has the bytes of results without a reader */
            if ((m->value[x].flags & VALUE_INIT) || (def && from == UINT32_MAX))
                continue;
            for (uint32_t e = 0; e < p->nnet; e++)
                for (uint32_t i = p->net_pin.at[e];
                     p->net_value[e] == x && i < p->net_pin.at[e + 1]; i++) {
                    uint32_t u = k->g->vertex[p->net_pin.to[i]];
                    counts = true;
                    here = here || in[u];
                    elsewhere = elsewhere || (u != from && !in[u]);
                    last = in[u] && at[u] > last ? at[u] : last;
                }
            if (!counts)
                continue;
            if (from != UINT32_MAX && in[from]) {
                sent += elsewhere ? m->cost->bytes[x] : 0;
                last = at[from] > last ? at[from] : last;
                if (at[from] <= step && (elsewhere || step <= last))
                    now += m->cost->bytes[x];
                made += at[from] == step ? m->cost->bytes[x] : 0;
            } else if (here) {
                reads += m->cost->bytes[x];
            }
        }
        int64_t own = m->cost->own[k->g->node[order[step]]];
        now += own > made ? own - made : 0;
        most = now > most ? now : most;
    }
    return most + 2 * reads + sent;
}

/* Checks the set of all vertices v with in[v], which set_memory holds, too. */
static void check_set(const struct drawn *k, const struct set_memory *set, const uint8_t *in)
{
    uint32_t order[MAX_OPS];
    for (uint32_t v = 0; v < k->g->n; v++)
        order[v] = v;
    assert_int_equal(set_memory_peak(set), recount(k, in, order));
}

static void test_sets(void **state)
{
    uint64_t rng = 20261127;
    (void)state;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct drawn k = open_drawn(&rng, 1 + test_below(&rng, MAX_OPS), 1, 1000, /*alone=*/false);
        struct set_memory *set = set_memory_new(k.v, k.a);
        for (uint32_t from = 0; from < k.g->n; from++) {
            uint8_t in[MAX_OPS] = {0};
            uint32_t to = from;
            for (; to < k.g->n; to++) {
                set_memory_add(set, to);
                in[to] = 1;
                check_set(&k, set, in);
            }
            while (to-- > from)
                set_memory_drop(set, to);
            assert_int_equal(set_memory_peak(set), 0);
        }
        uint8_t in[MAX_OPS] = {0};
        for (uint32_t j = 0; j < SETS; j++) { /* vertices come and go in any order */
            uint32_t v = test_below(&rng, k.g->n);
            if (in[v])
                set_memory_drop(set, v);
            else
                set_memory_add(set, v);
            in[v] = !in[v];
            check_set(&k, set, in);
        }
        pcc_free(k.p);
    }
}

/* Returns the bytes of the weights that the vertices with in[v] need. */
static int64_t lasting(const struct drawn *k, const uint8_t *in)
{
    int64_t sum = 0;
    for (uint32_t s = 0; s < k->g->nshared; s++) {
        bool here = false;
        for_row (v, k->g->shared_by, s)
            here = here || in[v];
        sum += here ? k->g->shared_size[s] : 0;
    }
    return sum;
}

/* Returns the ps that the set of vertices with in[v] pays for transfers. */
static int64_t pays(const struct drawn *k, const uint8_t *in)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < k->g->nnet; e++) {
        bool here = false, elsewhere = k->g->net_host[e];
        for_row (v, k->g->net_pin, e) {
            here = here || in[v];
            elsewhere = elsewhere || !in[v];
        }
        sum += here && elsewhere ? k->g->net_cost[0][e] : 0;
    }
    return sum;
}

/* No set surely fits a byte less than it needs; many surely fit more; none does where a transfer was measured. */
static void test_sure(void **state)
{
    uint64_t rng = 20261128;
    uint32_t sure = 0;
    (void)state;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct diag quiet = diag_silent();
        struct drawn k = open_drawn(&rng, 2 + test_below(&rng, MAX_OPS - 1), 2, 60, false);
        bool measured = test_below(&rng, 8) == 0 && k.s->place->nnet;
        if (measured)
            k.s->m->cost->xfer[k.s->place->net_value[0]] = 1;
        struct problem *c = problem_build(k.g, k.s, MEMORY_UNCHANGED, k.a, &quiet);
        struct set_memory *set = set_memory_new(k.v, k.a);
        uint8_t in[MAX_OPS] = {0};
        for (uint32_t j = 0; j < SETS && c->values; j++) {
            uint32_t v = test_below(&rng, k.g->n);
            in[v] = !in[v];
            (in[v] ? set_memory_add : set_memory_drop)(set, v);
            int64_t bytes = lasting(&k, in), cut = pays(&k, in);
            c->kind[0].room = bytes + set_memory_peak(set) - 1;
            assert_false(problem_surely_fits(c, 0, bytes, cut));
            c->kind[0].room = bytes + 400;
            bool said = problem_surely_fits(c, 0, bytes, cut);
            assert_false(said && measured);
            sure += said;
        }
        pcc_free(k.p);
    }
    print_message("%u of %u sets surely fit\n", sure, GRAPHS * SETS);
    assert_true(sure > GRAPHS * SETS / 20);
}

/* The judge's figure is the set's on devices next to each other, for samples that follow each other and for one alone.
 */
static void test_judge(void **state)
{
    uint64_t rng = 7;
    (void)state;
    for (uint32_t i = 0; i < 2 * GRAPHS; i++) {
        struct drawn k = open_drawn(&rng, 2 + test_below(&rng, MAX_OPS - 1), 2, 1000, i % 2);
        k.s->model.in_flight = i / 2 % 5; /* any number, one, two, three, four */
        k.v = set_values_build(k.g, k.s, k.a);
        uint32_t cut = 1 + test_below(&rng, k.g->n - 1);
        int32_t *dev = arena_array(k.a, k.s->m->nnode, sizeof *dev);
        uint8_t in[2][MAX_OPS] = {{0}};
        memset(dev, 0xff, k.s->m->nnode * sizeof *dev);
        for (uint32_t v = 0; v < k.g->n; v++) {
            dev[k.g->node[v]] = v >= cut;
            in[v >= cut][v] = 1;
        }
        const struct plan plan = {.dev = dev};
        struct verdict v = plan_evaluate(k.s, &plan, k.a).v;
        for (uint32_t d = 0; d < 2; d++) {
            struct set_memory *set = set_memory_new(k.v, k.a);
            for (uint32_t u = 0; u < k.g->n; u++)
                if (in[d][u])
                    set_memory_add(set, u);
            assert_int_equal(v.load[d].used, lasting(&k, in[d]) + set_memory_peak(set));
        }
        pcc_free(k.p);
    }
}

/* Calls check() for all orders in which the vertices can run, that go on from order[0 .. n). */
static void each_order(const struct drawn *k, uint32_t *order, uint32_t n, uint32_t done,
                       const uint8_t *in, int64_t *least)
{
    if (n == k->g->n) {
        int64_t peak = recount(k, in, order);
        *least = peak < *least ? peak : *least;
        return;
    }
    for (uint32_t v = 0; v < k->g->n; v++) {
        bool ready = !(done >> v & 1);
        for_row (u, k->g->pred, v)
            ready = ready && (done >> u & 1);
        if (!ready)
            continue;
        order[n] = v;
        each_order(k, order, n + 1, done | 1U << v, in, least);
    }
}

static void test_bound(void **state)
{
    uint64_t rng = 11;
    (void)state;
    for (uint32_t i = 0; i < PLANS; i++) {
        struct drawn k = open_drawn(&rng, 1 + test_below(&rng, 6), 1, 1000, /*alone=*/false);
        uint8_t in[MAX_OPS] = {0};
        uint32_t order[MAX_OPS];
        int64_t least = INT64_MAX, need = 0;
        for (uint32_t v = 0; v < k.g->n; v++)
            in[v] = (uint8_t)test_below(&rng, 2);
        each_order(&k, order, 0, 0, in, &least);
        for (uint32_t v = 0; v < k.g->n; v++)
            need = in[v] && k.g->runs[v] > need ? k.g->runs[v] : need;
        assert_true(need <= least);
        pcc_free(k.p);
    }
}

/* The least value of all contiguous plans that fit, by enumeration; -1: none fits. */
static int64_t enumerate(const struct drawn *k)
{
    uint32_t n = k->g->n, nd = k->s->cluster->ndev, all = 1;
    int32_t *dev = arena_array(k->a, k->s->m->nnode, sizeof *dev);
    uint32_t *slot = arena_array(k->a, k->s->m->nnode, sizeof *slot); /* one on each device */
    int64_t best = -1;
    for (uint32_t v = 0; v < n; v++)
        slot[k->g->node[v]] = 1;
    memset(dev, 0xff, k->s->m->nnode * sizeof *dev);
    for (uint32_t v = 0; v < n; v++)
        all *= nd;
    for (uint32_t code = 0; code < all; code++) {
        struct arena_mark mark = arena_mark(k->a);
        for (uint32_t v = 0, c = code; v < n; v++, c /= nd)
            dev[k->g->node[v]] = (int32_t)(c % nd);
        const struct plan plan = {.dev = dev, .slot = slot};
        struct evaluation e = plan_evaluate(k->s, &plan, k->a);
        if (e.v.contiguous && evaluation_holds(&e, false) && (best < 0 || e.value < best))
            best = e.value;
        arena_release(k->a, mark);
    }
    return best;
}

/* Plans PLANS drawn models: the planner finds a plan where one exists, and proves that it is the best; "(proven)"
 * is never said where one exists. */
static void plan_all(const char *planner, bool alone)
{
    uint64_t rng = 13;
    uint32_t tight = 0, found = 0, missed = 0, worse = 0, proven = 0;
    for (uint32_t i = 0; i < PLANS; i++) {
        uint32_t devices = 2 + test_below(&rng, 2);
        int64_t memory = 30 + (int64_t)test_below(&rng, 150);
        struct drawn k = open_drawn(&rng, 2 + test_below(&rng, 5), devices, memory, alone);
        int64_t best = enumerate(&k);
        enum pcc_status rc = pcc_plan(k.p, planner);
        tight += best < 0;
        found += best >= 0 && rc == PCC_OK;
        missed += best >= 0 && rc != PCC_OK;
        if (rc != PCC_OK) {
            assert_int_equal(rc, PCC_NO_PLAN);
            if (best >= 0 && strstr(pcc_error(k.p), "(proven)"))
                fail_msg("%s, and a plan of %lld ps exists", pcc_error(k.p), (long long)best);
        } else {
            const struct claim *c = &k.p->x.results.plan->claim;
            if (best < 0 || c->value < best || c->bound > best)
                fail_msg("%u: %s: %lld ps, bound %lld; best %lld", i, planner, (long long)c->value,
                         (long long)c->bound, (long long)best);
            worse += c->value > best;
            proven += c->bound == best;
        }
        pcc_free(k.p);
    }
    print_message("%s: %u fit, %u of them missed, %u not the best, %u proven; %u do not fit\n",
                  planner, found + missed, missed, worse, proven, tight);
    assert_true(tight > PLANS / 10 && found > PLANS / 4 && missed == 0 && proven == found);
}

static void test_planner(void **state)
{
    (void)state;
    plan_all("dp-place", /*alone=*/false);
}

static void test_latency(void **state)
{
    (void)state;
    plan_all("latency-place", /*alone=*/true);
}

/* Draws a chain of n nodes, with up to three values that are also read by a later node, for three devices of `memory`
 * bytes.  The same rng state gives the same chain for any memory. */
static char *draw_chain(uint64_t *rng, int64_t memory, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    uint32_t n = 20 + test_below(rng, 21), skips = 1 + test_below(rng, 3), from[3], to[3];
    for (uint32_t k = 0; k < skips; k++) {
        from[k] = test_below(rng, n - 2);
        to[k] = from[k] + 2 + test_below(rng, n - from[k] - 2);
    }
    fprintf(f,
            "pcc 1\ncluster memory_model=live\nclass acc x3 memory=%lldB link=1TB/s,1ps\ngraph {\n"
            "  in %%x : i8[1] !bytes=%uB\n",
            (long long)memory, 1 + test_below(rng, 20));
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "  init %%w%u : i8[3] = [1, 2, 3] !bytes=%uB !elems=3\n", i,
                3 + test_below(rng, 12));
    for (uint32_t i = 0; i < n; i++) {
        fprintf(f, i ? "  %%v%u = profile:op(%%v%u, %%w%u" : "  %%v%u = profile:op(%%x, %%w0", i,
                i ? i - 1 : 0, i);
        for (uint32_t k = 0; k < skips; k++)
            if (to[k] == i)
                fprintf(f, ", %%v%u", from[k]);
        fprintf(f, ") : ? !bytes=%uB !time=%ups\n", 1 + test_below(rng, 20),
                1 + test_below(rng, 100));
    }
    fprintf(f, "  out %%v%u\n}\n", n - 1);
    fclose(f);
    return text;
}

/* Opens a drawn chain. */
static struct drawn open_chain(uint64_t *rng, int64_t memory)
{
    size_t size;
    char *text = draw_chain(rng, memory, &size);
    struct drawn k = {.p = pcc_new()};
    if (pcc_open_memory(k.p, "chain.pir", text, size) != PCC_OK)
        fail_msg("%s\n%s", pcc_error(k.p), text);
    free(text);
    k.s = &k.p->x.scene;
    k.a = k.p->x.use.mem;
    assert_int_equal(ctx_base(&k.p->x), 0);
    k.g = k.p->x.levels.base;
    return k;
}

/* Returns the least memory of a device, bytes, with which some plan of three intervals of the chain fits. */
static int64_t least_memory(const struct drawn *k)
{
    int32_t *dev = arena_array(k->a, k->s->m->nnode, sizeof *dev);
    int64_t least = INT64_MAX;
    memset(dev, 0xff, k->s->m->nnode * sizeof *dev);
    for (uint32_t i = 1; i < k->g->n; i++)
        for (uint32_t j = i + 1; j < k->g->n; j++) {
            struct arena_mark mark = arena_mark(k->a);
            for (uint32_t v = 0; v < k->g->n; v++)
                dev[k->g->node[v]] = (v >= i) + (v >= j);
            const struct plan plan = {.dev = dev};
            struct verdict v = plan_evaluate(k->s, &plan, k->a).v;
            int64_t most = 0;
            for (uint32_t d = 0; d < 3; d++)
                most = v.load[d].used > most ? v.load[d].used : most;
            least = most < least ? most : least;
            arena_release(k->a, mark);
        }
    return least;
}

/* Chains in which a value waits some rounds for its reader, in memory just above the least that will do: sets count it
 * once, the judge as often as there are rounds. */
static void test_chains(void **state)
{
    uint64_t rng = 1;
    uint32_t found = 0, cases = CHAINS;
    (void)state;
    for (uint32_t i = 0; i < cases; i++) {
        uint64_t again = rng;
        struct drawn k = open_chain(&rng, 1 << 20);
        int64_t least = least_memory(&k);
        pcc_free(k.p);
        struct drawn tight = open_chain(&again, least + least * (i % 4) / 50);
        enum pcc_status rc = pcc_plan(tight.p, "dp-place");
        found += rc == PCC_OK;
        if (rc != PCC_OK && strstr(pcc_error(tight.p), "(proven)"))
            fail_msg("%s, and %lld B would do", pcc_error(tight.p), (long long)least);
        pcc_free(tight.p);
    }
    print_message("%u of %u chains planned\n", found, cases);
    assert_int_equal(found, cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),    cmocka_unit_test(test_sure),
        cmocka_unit_test(test_judge),   cmocka_unit_test(test_bound),
        cmocka_unit_test(test_planner), cmocka_unit_test(test_latency),
        cmocka_unit_test(test_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
