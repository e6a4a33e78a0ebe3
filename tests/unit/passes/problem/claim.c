/* What planners claim, against all assignments of devices of small random modules (passes/problem/claim.c,
 * device_loads.c, anneal_rounds.c, fit_memory.c, fit_search.c, auto_place.c, anneal_place.c, ip_place.c, contract.c).
 *
 * An assignment counts if it keeps colours together and fits; it is contiguous if the quotient by devices is
 * acyclic.  Colours close cycles, there is memory, a host, nodes that some classes do not run, values with several
 * readers, weights that are shared, every overlap, GPipe's passes, and stages whose devices take turns.  A claim is
 * true or the test fails: no value below the least; a bound not above the least in its scope; "optimal" only
 * for the least in its scope; no plan only if there is none. */
#include "ir/text/text.h"
#include "passes/pipeline.h"
#include "tests/support/graphs.h"
#include "tests/support/said.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OPS = 7, DEVICES = 4, CLASSES = 2, MODULES = 1000, RUNS = 250 };

struct world {
    struct said said;
    uint32_t ncls, ndev, nop, cls[DEVICES];
    bool host[CLASSES], io_free, training;
    int64_t memory[CLASSES];
    enum overlap overlap;
    bool gpipe, replicate;
    bool idle;      /* half of the nodes take no time */
    uint32_t parts; /* what one costs, ps */
    struct ctx *x;  /* with a place, where parts cost something */
    /* value 0 is the input, then the ops' */
    int64_t bytes[OPS + 1], weight, own[OPS], time[OPS][CLASSES];
    bool reads[OPS][OPS + 1], needs[OPS], output[OPS], back[OPS];
    uint32_t color[OPS];
    struct text_module t;
};

/* ---- random modules --------------------------------------------------------------------------- */

static void make_class(struct world *w, uint32_t k, uint64_t *rng)
{
    uint32_t count = k ? 1 : 2 + test_below(rng, DEVICES - 2);
    w->host[k] = k && test_below(rng, 3);
    w->memory[k] = test_below(rng, 2) ? -1 : 20 + (int64_t)test_below(rng, 70);
    say(&w->said, "class c%u x%u%s link=1TB/s,0ps", k, count, w->host[k] ? " host" : "");
    if (w->memory[k] >= 0)
        say(&w->said, " memory=%lldB", (long long)w->memory[k]);
    say(&w->said, "\n");
    while (count--)
        w->cls[w->ndev++] = k;
}

static void make_op(struct world *w, uint32_t i, uint32_t colors, uint64_t *rng)
{
    uint32_t n = 1 + test_below(rng, 2);
    say(&w->said, "  %%v%u = Tanh(", i + 1);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t back = test_below(rng, 4) ? 2 : i + 1,
                 from = i - test_below(rng, back <= i ? back : i + 1);
        w->reads[i][from] = true;
        say(&w->said, "%s%%v%u", k ? ", " : "", from);
    }
    bool idle = w->idle && test_below(rng, 2);
    w->needs[i] = test_below(rng, 4) == 0;
    say(&w->said, "%s) : f32[4] name=\"n%u\" !bytes=%lldB !elems=65 !own=%lldB",
        w->needs[i] ? ", %w" : "", i, (long long)w->bytes[i + 1],
        (long long)(w->own[i] = test_below(rng, 25)));
    for (uint32_t k = 0; k < w->ncls; k++) {
        bool never = test_below(rng, 20) == 0 && !idle;
        w->time[i][k] = never ? COST_NEVER : (int64_t)test_below(rng, 60) * (w->host[k] ? 4 : 1);
        w->time[i][k] = idle ? 0 : w->time[i][k];
        if (never)
            say(&w->said, "%snever", k ? "," : " !time=[");
        else
            say(&w->said, "%s%lldps", k ? "," : " !time=[", (long long)w->time[i][k]);
    }
    w->color[i] = colors && test_below(rng, 2) ? 1 + test_below(rng, colors) : 0;
    w->back[i] = w->training && i >= w->nop / 2;
    say(&w->said, "]");
    if (w->color[i])
        say(&w->said, " !color=%u", w->color[i]);
    say(&w->said, "%s\n", w->back[i] ? " !backward" : "");
}

/* kind: 0 sums, 1 max, 2 duplex, 3 gpipe, 4 copies; 5 to 7: 0, 1 and 3 where parts cost something,
 * the last with every overlap; 8: copies, half of the nodes take no time. */
static void make(struct world *w, uint64_t seed, uint32_t kind, struct diag *d)
{
    static const char *const overlap[] = {"sum", "max", "duplex"};
    static const uint32_t as[] = {0, 1, 3, 4};
    uint64_t rng = seed * 77 + kind;
    memset(w, 0, sizeof *w);
    w->idle = kind == 8;
    w->parts = kind > 4 && kind < 8 ? 1 + test_below(&rng, 30) : 0;
    kind = kind > 4 ? as[kind - 5] : kind;
    /* 0 sum, 1 max, 2 duplex */
    uint32_t hides = kind == 3 && w->parts ? (uint32_t)(seed % 3) : kind < 3 ? kind : 0;
    w->overlap = hides == 1 ? OVERLAP_MAX : hides == 2 ? OVERLAP_DUPLEX : OVERLAP_SUM;
    w->gpipe = kind == 3;
    w->replicate = kind == 4;
    w->training = kind >= 3 || (kind == 0 && test_below(&rng, 6) == 0);
    w->nop = 3 + test_below(&rng, w->parts ? 3 : OPS - 2 - (kind != 0));
    w->ncls = 1 + test_below(&rng, CLASSES);
    w->io_free = test_below(&rng, 2);
    say(&w->said, "cluster%s overlap=%s%s%s part_cost=%ups\n", w->io_free ? " io_free" : "",
        overlap[hides], w->gpipe ? " schedule=gpipe" : "", w->replicate ? " replicate" : "",
        w->parts);
    for (uint32_t k = 0; k < w->ncls; k++)
        make_class(w, k, &rng);
    uint32_t dear = 1 + test_below(&rng, 40),
             colors = test_below(&rng, 4) ? 1 + test_below(&rng, 3) : 0;
    say(&w->said, "graph {\n  init %%w : f32[1] = [0.0] !bytes=%lldB !elems=1\n",
        (long long)(w->weight = 5 + test_below(&rng, 20)));
    for (uint32_t v = 0; v <= w->nop; v++)
        w->bytes[v] = test_below(&rng, dear);
    say(&w->said, "  in %%v0 : f32[4] !bytes=%lldB !elems=65\n", (long long)w->bytes[0]);
    for (uint32_t i = 0; i < w->nop; i++)
        make_op(w, i, colors, &rng);
    say(&w->said, "  out");
    for (uint32_t i = 0, n = 0; i < w->nop; i++) {
        bool read = false;
        for (uint32_t j = 0; j < w->nop; j++)
            read = read || w->reads[j][i + 1];
        w->output[i] = !read || test_below(&rng, 8) == 0;
        if (w->output[i])
            say(&w->said, "%s %%v%u", n++ ? "," : "", i + 1);
    }
    say(&w->said, "\n}\n");
    if (module_parse(&w->t, &(struct named_text){"random", w->said.text, w->said.len, NULL}, NULL,
                     d))
        fail_msg("seed %llu does not parse:\n%s", (unsigned long long)seed, w->said.text);
}

/* ---- the rules, again ------------------------------------------------------------------------- */

struct cost {
    int64_t compute, in, out;
};

/* What device d takes for pass p (0, 1). */
static struct cost cost_of(const struct world *w, const int32_t *dev, int32_t d, bool p)
{
    struct cost c = {0};
    uint32_t k = w->cls[d];
    for (uint32_t i = 0; i < w->nop; i++)
        if (dev[i] == d && w->back[i] == p)
            c.compute = sat_add(c.compute, w->time[i][k]);
    for (uint32_t v = w->io_free; v <= w->nop && !w->host[k]; v++) {
        bool here = v && dev[v - 1] == d, other = v && dev[v - 1] != d, made = here;
        bool host = !w->io_free && (v == 0 || w->output[v - 1]);
        for (uint32_t i = 0; i < w->nop; i++)
            if (w->reads[i][v]) {
                here = here || dev[i] == d;
                other = other || dev[i] != d;
            }
        if (!here || !(other || host) || (v && w->back[v - 1]) != p)
            continue;
        *(made ? &c.out : &c.in) += w->bytes[v];
    }
    return c;
}

static int64_t bytes_of(const struct world *w, const int32_t *dev, int32_t d, bool *weight)
{
    int64_t sum = 0;
    *weight = false;
    for (uint32_t i = 0; i < w->nop; i++)
        if (dev[i] == d) {
            sum += w->own[i];
            *weight = *weight || w->needs[i];
        }
    return sum + (*weight ? w->weight : 0);
}

/* The judge's word, which counts parts; its other figures have a test of their own. */
static int64_t value_of_parts(const struct world *w, const int32_t *dev)
{
    const struct ctx *x = w->x;
    struct arena_mark mark = arena_mark(x->use.scratch);
    int32_t node_dev[OPS + 2];
    for (uint32_t i = 0; i < x->scene.m->nnode; i++)
        node_dev[i] = -1;
    for (uint32_t i = 0; i < w->nop; i++)
        node_dev[x->scene.m->graph[1].first + i] = dev[i];
    struct verdict v = load_verdict(&x->scene, node_dev, NULL, x->use.scratch);
    int64_t value = v.runnable && v.fits ? v.value : COST_NEVER;
    arena_release(x->use.scratch, mark);
    return value;
}

/* The value of an assignment; COST_NEVER: it does not fit, or cannot run. */
static int64_t value_of(const struct world *w, const int32_t *dev, const uint32_t *copies)
{
    const struct cluster *c = w->t.scene.cluster;
    const struct exec_model *e = &w->t.scene.model;
    int64_t most[2] = {0, 0};
    if (w->parts)
        return value_of_parts(w, dev);
    for (uint32_t d = 0; d < w->ndev; d++) {
        bool weight;
        int64_t used = bytes_of(w, dev, (int32_t)d, &weight), memory = w->memory[w->cls[d]];
        struct cost f = cost_of(w, dev, (int32_t)d, false), b = cost_of(w, dev, (int32_t)d, true);
        if ((memory >= 0 && used > memory) || f.compute == COST_NEVER || b.compute == COST_NEVER)
            return COST_NEVER;
        uint32_t n = copies[d] ? copies[d] : 1;
        int64_t sync =
            w->training ? exec_sync(e, &c->cls[w->cls[d]], false, weight ? w->weight : 0, n) : 0;
        int64_t load[2] = {exec_load(e, f.compute, f.in, f.out),
                           exec_load(e, b.compute, b.in, b.out)};
        if (!w->gpipe) {
            load[0] = exec_load(e, f.compute + b.compute, f.in + b.in, f.out + b.out);
            load[1] = 0;
        }
        for (int p = 0; p < 2; p++) {
            load[p] = exec_shared_load(e, load[p], p == (w->gpipe && w->training) ? sync : 0, n);
            most[p] = load[p] > most[p] ? load[p] : most[p];
        }
    }
    return most[0] + most[1];
}

/* The quotient by devices is acyclic; in a training graph with the edges of the backward pass turned round: it goes
 * over the stages in the other direction. */
static bool is_contiguous(const struct world *w, const int32_t *dev)
{
    bool after[DEVICES][DEVICES] = {{false}};
    for (uint32_t i = 0; i < w->nop; i++)
        for (uint32_t j = 0; j < w->nop; j++)
            if (w->reads[j][i + 1] && dev[i] != dev[j] && w->back[i] == w->back[j])
                after[dev[w->back[i] ? j : i]][dev[w->back[i] ? i : j]] = true;
    for (uint32_t k = 0; k < DEVICES; k++)
        for (uint32_t i = 0; i < DEVICES; i++)
            for (uint32_t j = 0; j < DEVICES; j++)
                after[i][j] = after[i][j] || (after[i][k] && after[k][j]);
    for (uint32_t i = 0; i < DEVICES; i++)
        if (after[i][i])
            return false;
    return true;
}

/* Tries all assignments for devices of which copies[] take turns. */
static void try_all(const struct world *w, const uint32_t *copies, int64_t *any,
                    int64_t *contiguous)
{
    uint32_t total = 1;
    for (uint32_t i = 0; i < w->nop; i++)
        total *= w->ndev;
    for (uint32_t code = 0; code < total; code++) {
        int32_t dev[OPS];
        uint32_t rest = code;
        bool ok = true;
        for (uint32_t i = 0; i < w->nop; i++, rest /= w->ndev) {
            dev[i] = (int32_t)(rest % w->ndev);
            ok = ok && copies[dev[i]];
            for (uint32_t j = 0; j < i && w->color[i]; j++)
                ok = ok && (w->color[j] != w->color[i] || dev[j] == dev[i]);
        }
        int64_t value = ok ? value_of(w, dev, copies) : COST_NEVER;
        *any = value < *any ? value : *any;
        if (value < *contiguous && is_contiguous(w, dev))
            *contiguous = value;
    }
}

/* The least values of plans of any shape and of contiguous ones; COST_NEVER: there is none. */
static void find_least(struct world *w, int64_t *any, int64_t *contiguous)
{
    uint32_t n = 0, copies[DEVICES] = {1, 1, 1, 1};
    struct diag d = diag_silent();
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = w->t.scene};
    *any = *contiguous = COST_NEVER;
    w->x = &x;
    assert_int_equal(ctx_base(&x), 0);
    while (n < w->ndev && w->cls[n] == 0)
        n++;
    /* every way to cut the first n devices into groups: a bit for each border */
    for (uint32_t cuts = w->replicate ? 0 : (1U << (n - 1)) - 1; cuts < 1U << (n - 1); cuts++) {
        uint32_t lead = 0;
        for (uint32_t i = 0; i < n; i++) {
            bool fresh = i == 0 || (cuts >> (i - 1) & 1);
            lead = fresh ? i : lead;
            copies[i] = fresh;
            copies[lead] += !fresh;
        }
        try_all(w, copies, any, contiguous);
    }
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
}

/* ---- tests ------------------------------------------------------------------------------------ */

static int place(struct ctx *x, const char *passes)
{
    struct pipeline p = {0};
    struct run_options o = {0};
    uint32_t n = 0;
    assert_int_equal(pipeline_parse(&p, passes, x->use.mem, x->use.diag), 0);
    pipeline_complete(&p, x->use.mem);
    for (uint32_t i = 0; i < p.n; i++) /* the costs are written in the text */
        if (strcmp(p.step[i].pass->name, "cost") && strcmp(p.step[i].pass->name, "infer-shapes"))
            p.step[n++] = p.step[i];
    p.n = n;
    return pipeline_run(&p, x, &o);
}

struct counts {
    uint32_t runs, none, optimal, all, best;
};

/* A module, and what plans of any shape and contiguous ones take at least. */
struct known {
    uint64_t seed;
    uint32_t kind;
    int64_t any, contiguous;
};

/* thrift: a plan that is not contiguous must save a twentieth. */
static void check(const struct known *known, const char *passes, bool thrift, struct counts *c)
{
    const uint64_t seed = known->seed;
    const uint32_t kind = known->kind;
    const int64_t any = known->any, contiguous = known->contiguous;
    struct world *w = malloc(sizeof *w);
    struct diag d = diag_silent();
    make(w, seed, kind, &d);
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = w->t.scene};
    int rc = place(&x, passes);
    const struct plan *p = x.results.plan;
    c->runs++;
    c->none += rc == PASS_INFEASIBLE;
    if ((rc != 0 && rc != PASS_INFEASIBLE) || (rc == PASS_INFEASIBLE) != (any == COST_NEVER))
        fail_msg("seed %llu, kind %u: %s gives %d, the least is %lld:\n%s",
                 (unsigned long long)seed, kind, passes, rc, (long long)any, w->said.text);
    if (!rc) {
        bool all = p->claim.scope == SCOPE_ALL, optimal = p->claim.status == PLAN_OPTIMAL;
        int64_t least = all ? any : contiguous;
        bool spared =
            thrift && p->claim.value == contiguous && any > contiguous - (contiguous + 19) / 20;
        c->best += p->claim.value == any || spared;
        c->optimal += optimal;
        c->all += optimal && all;
        if (p->claim.value < any || p->claim.bound > least || p->claim.bound_all > any ||
            (optimal && p->claim.value != least) || (all && p->claim.bound_all != p->claim.bound) ||
            (!all && p->claim.scope != SCOPE_CONTIGUOUS))
            fail_msg(
                "seed %llu, kind %u: %s: %lld, bound %lld, of all %lld, %s%s; the least is %lld, "
                "contiguous %lld:\n%s",
                (unsigned long long)seed, kind, passes, (long long)p->claim.value,
                (long long)p->claim.bound, (long long)p->claim.bound_all,
                plan_status_name(p->claim.status), plan_among(p->claim.scope), (long long)any,
                (long long)contiguous, w->said.text);
    }
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    arena_free(w->t.scene.m->mem);
    free(w);
}

static void run_kind(uint32_t kind, uint32_t modules, const char *const *passes, uint32_t n)
{
    struct counts c[4] = {{0}};
    uint32_t closer = 0, none = 0;
    modules = SANITIZED ? modules / 10 : modules;
    for (uint64_t seed = 1; seed <= modules; seed++) {
        struct world *w = malloc(sizeof *w);
        struct diag d = diag_silent();
        struct known known = {.seed = seed, .kind = kind};
        make(w, seed, kind, &d);
        find_least(w, &known.any, &known.contiguous);
        arena_free(w->t.scene.m->mem);
        free(w);
        closer += known.any < known.contiguous;
        none += known.any == COST_NEVER;
        for (uint32_t i = 0; i < n; i++) {
            bool thrift = !strncmp(passes[i], "auto-place", 10) && !strstr(passes[i], "gain=0");
            check(&known, passes[i], thrift, &c[i]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        printf("kind %u: %s: %u runs, %u without a plan, %u least, %u optimal, %u of all plans\n",
               kind, passes[i], c[i].runs, c[i].none, c[i].best, c[i].optimal, c[i].all);
        assert_true(c[i].best + c[i].none >= c[i].runs - c[i].runs / (kind < 5 ? 50 : 10));
        if (kind < 5 && !strncmp(passes[i], "ip-place", 8)) /* its solver ends */
            assert_int_equal(c[i].optimal + c[i].none, c[i].runs);
    }
    assert_in_range(closer, kind < 8 ? modules / 100 : 0, modules); /* shapes matter */
    assert_in_range(none, 1, modules / 2);
}

static void test_sums(void **state)
{
    static const char *const passes[] = {"auto-place", "auto-place{gain=0:moves=4000}",
                                         "anneal-place{moves=4000}",
                                         "ip-place{contiguous=none:moves=4000}"};
    (void)state;
    run_kind(0, MODULES, passes, 4);
}

static void test_objectives(void **state)
{
    static const char *const passes[] = {"auto-place{moves=4000}", "auto-place{gain=0:moves=4000}",
                                         "anneal-place{moves=4000}", "ip-place{moves=400}"};
    (void)state;
    for (uint32_t kind = 1; kind <= 8; kind++) /* copies: not ip-place */
        run_kind(kind, kind < 8 ? RUNS : RUNS / 4, passes, kind == 4 ? 3 : kind == 8 ? 2 : 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_objectives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
