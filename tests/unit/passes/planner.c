/* Every planner of the table with every feature, alone and in pairs (passes/planner.c, table.c, pipeline_step_run of
 * pipeline.c): either the runner refuses in one sentence, because the planner does not offer a feature, or the plan
 * is what the planner claims.  A planner that comes into the table is tested here by itself.
 *
 * That is: the judge confirms the plan under that feature, nodes stand where they are pinned, and no bound of a
 * planner is above the value of another's plan that it is about.  Planted: planners that offer a feature and do not
 * look at it; each must be caught. */
#include "passes/planner.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "passes/pipeline.h"
#include "tests/support/aim.h"
#include "tests/support/graphs.h"
#include "tests/support/kept.h"
#include "tests/support/said.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { OPS = 8, FORWARD = 5, GRAPHS = 3, PLANNERS = 64, FEATURES = 9 };

/* What is known of one graph with one set of features. */
struct field {
    const char *objective;
    struct said said;
    uint32_t features;
    int64_t value[PLANNERS], bound[PLANNERS], bound_all[PLANNERS];
    bool contiguous[PLANNERS], bounds_contiguous[PLANNERS];
    const char *name[PLANNERS];
    uint32_t n, wrong; /* plans; those that are not as claimed */
};

static void write_graph(struct field *f, uint64_t seed)
{
    uint64_t rng = seed;
    uint32_t has = f->features, values = 1;
    bool read[OPS + 1] = {false};
    const char *levels = !(has & FEATURE_LEVELS) ? ""
                         : has & FEATURE_GROUPS ? " levels=\"2:4TB/s,0ps/2:1TB/s,0ps/1:1TB/s,0ps\""
                                                : " levels=\"1:1TB/s,0ps/2:1TB/s,0ps/2:2TB/s,0ps\"";
    bool gpipe = has & FEATURE_GPIPE && strcmp(f->objective, "iteration-time") != 0;
    say(&f->said, "cluster overlap=%s%s%s part_cost=%ups%s\n",
        has & FEATURE_OVERLAP ? (seed % 2 ? "max" : "duplex") : "sum",
        gpipe ? " schedule=gpipe" : "", has & FEATURE_COPIES ? " replicate" : "",
        has & FEATURE_PART_COST ? 11 : 0, levels);
    say(&f->said, "class acc x4 link=1TB/s,0ps%s\nclass cpu x1 host\n",
        has & FEATURE_GROUPS ? " group=2 inner=4TB/s,0ps" : "");
    if (has & FEATURE_ROUTES)
        say(&f->said, "between acc0 acc3=9TB/s,0ps\n");
    say(&f->said, "graph {\n  in %%v0 : f32[4] !bytes=%uB !elems=65\n", 5 + test_below(&rng, 9));
    for (uint32_t i = 0; i < OPS; i++, values++) {
        uint32_t a = i, b = test_below(&rng, values), bytes = 4 + test_below(&rng, 20);
        uint32_t own = test_below(&rng, 9), fast = 15 + test_below(&rng, 30);
        read[a] = read[b] = true;
        say(&f->said, "  %%v%u = Add(%%v%u, %%v%u) : f32[4] name=\"n%u\" !bytes=%uB !elems=65",
            values, a, b, i, bytes);
        say(&f->said, " !own=%uB !time=[%ups,%ups]%s\n", own, fast, 60 + test_below(&rng, 90),
            (has & FEATURE_GPIPE || !strcmp(f->objective, "iteration-time")) && i >= FORWARD
                ? " !backward"
                : "");
    }
    say(&f->said, "  out");
    for (uint32_t i = 0, n = 0; i < OPS; i++)
        if (!read[i + 1])
            say(&f->said, "%s %%v%u", n++ ? "," : "", i + 1);
    say(&f->said, "\n}\n");
}

/* A run of its own: nothing is shared with another but the text of the graph. */
struct run {
    struct ctx x;
    struct diag d;
    struct settings settings;
    struct pin pin;
    struct cut_rule cut[2];
    char error[KEPT]; /* the last one */
};

static void begin(struct run *r, const struct field *f)
{
    struct text_module t;
    memset(r, 0, sizeof *r);
    r->d = (struct diag){.emit = keep_error, .user = r->error};
    if (module_parse(&t, &(struct named_text){"random", f->said.text, f->said.len, NULL}, NULL,
                     &r->d))
        fail_msg("%s\n%s", r->error, f->said.text);
    r->pin = (struct pin){"^n1$", "cpu0"};
    r->cut[0] = (struct cut_rule){"^n1$", .cut = true};
    r->cut[1] = (struct cut_rule){"^n[67]$", .cut = false};
    r->settings = (struct settings){.pins = &r->pin,
                                    .npins = f->features & FEATURE_PINS ? 1 : 0,
                                    .cuts = r->cut,
                                    .ncuts = f->features & FEATURE_CUTS ? 2 : 0,
                                    .said = exec_bit(exec_setting("objective"))};
    r->x = (struct ctx){.scene = t.scene,
                        .settings = &r->settings,
                        .use.mem = arena_new(NULL),
                        .use.scratch = arena_new(NULL),
                        .use.diag = &r->d};
    aim_at(&r->x.scene.model, f->objective);
    if (r->x.scene.model.objective !=
        TIME_PER_SAMPLE) /* over the host links of devices are of no use */
        r->x.scene.model.step.network = NETWORK_DIRECT;
}

static void end(struct run *r)
{
    arena_free(r->x.use.mem);
    arena_free(r->x.use.scratch);
    arena_free(r->x.scene.m->mem);
}

static int run_passes(struct ctx *x, const char *passes, const struct pass *const *extra)
{
    struct pipeline p = {.extra = extra, .kinds = exec_kinds};
    struct run_options o = {0};
    uint32_t n = 0;
    if (pipeline_parse(&p, passes, x->use.mem, x->use.diag))
        return -1;
    pipeline_complete(&p, x->use.mem);
    for (uint32_t i = 0; i < p.n; i++) /* the costs are written in the text */
        if (strcmp(p.step[i].pass->name, "cost") && strcmp(p.step[i].pass->name, "infer-shapes"))
            p.step[n++] = p.step[i];
    p.n = n;
    return pipeline_run(&p, x, &o);
}

/* ---- what a plan is held to ------------------------------------------------------------------- */

/* The plan of x among those that are known of the same problem. */
static void add_plan(struct field *f, const char *name, const struct ctx *x)
{
    const struct plan *p = x->results.plan;
    struct evaluation e = plan_evaluate(&x->scene, p, x->use.mem);
    uint32_t i = f->n++;
    assert_true(i < PLANNERS);
    f->wrong += evaluation_confirms(&e, &p->claim) != FOUND_AS_CLAIMED;
    for (uint32_t v = 0; v < x->levels.base->n; v++) {
        int32_t pin = x->levels.base->pin[v];
        f->wrong += pin >= 0 && p->dev[x->levels.base->node[v]] != pin;
    }
    f->name[i] = name;
    f->value[i] = e.value;
    f->bound[i] = p->claim.bound;
    f->bound_all[i] = p->claim.bound_all;
    f->contiguous[i] = e.v.contiguous;
    f->bounds_contiguous[i] = p->claim.scope == SCOPE_CONTIGUOUS;
}

/* Plans whose value is below another's bound that is about them. */
static uint32_t lies(const struct field *f)
{
    uint32_t n = f->wrong;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 0; k < f->n; k++) {
            bool about = !f->bounds_contiguous[i] || f->contiguous[k];
            n += f->bound_all[i] > f->value[k] || (about && f->bound[i] > f->value[k]);
        }
    return n;
}

/* ---- every planner with every feature --------------------------------------------------------- */

/* What p offers and the objective can make use of. */
static uint32_t known_to(const struct planner *p, const struct exec_kind *goal)
{
    static const struct {
        const char *objective;
        uint32_t useless;
    } t[] = {{"time-per-sample", FEATURE_ROUTES | FEATURE_LEVELS},
             {"makespan", FEATURE_LEVELS},
             {"iteration-time", 0},
             {"latency",
              FEATURE_GROUPS | FEATURE_OVERLAP | FEATURE_GPIPE | FEATURE_ROUTES | FEATURE_LEVELS}};
    uint32_t useless = goal->plans->useless;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (!strcmp(t[i].objective, goal->name))
            assert_int_equal(useless, t[i].useless);
    return p->features & ~useless;
}

static bool knows_all(const struct planner *p, const struct exec_kind *goal, uint32_t wanted)
{
    return planner_aims_at(p, goal) && !(wanted & ~known_to(p, goal));
}

/* Whether a name, which another one may end in, is among the words of a sentence. */
static bool is_named(const char *sentence, const char *name)
{
    for (const char *at = sentence; (at = strstr(at, name)); at++)
        if (at > sentence && at[-1] == ' ')
            return true;
    return false;
}

/* That the sentence refuses p, and names planners that know all that is wanted; where none does, those that know it but
 * for groups of devices, if these are wanted. */
static void check_refusal(const struct planner *p, const char *error, const struct exec_kind *goal,
                          uint32_t wanted)
{
    char begins[KEPT];
    uint32_t named = 0, able = 0;
    snprintf(begins, sizeof begins, "%s knows no ", p->pass.name);
    assert_memory_equal(error, begins, strlen(begins));
    const char *way = strstr(error, "; ");
    assert_non_null(way);
    bool apart = strstr(way, "for devices without groups (-d ") != NULL;
    uint32_t told = apart ? wanted & ~(uint32_t)FEATURE_GROUPS : wanted;
    assert_true(!apart || wanted & FEATURE_GROUPS);
    const struct planner *k;
    for (uint32_t i = 0; (k = planner_at(exec_kinds, i)); i++) {
        bool is = is_named(way, k->pass.name) && !k->given;
        able += !k->given && knows_all(k, goal, wanted);
        named += is;
        if (is != (!k->given && knows_all(k, goal, told)) && apart)
            fail_msg("%s: %s is named: %d", error, k->pass.name, is);
        if (is && !knows_all(k, goal, told))
            fail_msg("%s: %s does not know all that", error, k->pass.name);
    }
    if (able ? !named : !strstr(way, "no planner knows"))
        fail_msg("%s: %u planners know all that", error, able);
}

/* Options for graphs of so few nodes: searches that count their moves make fewer than by default. */
static const char *few_moves(const struct pass *p)
{
    for (const struct opt *o = p->opts; o && o->name; o++)
        if (!strcmp(o->name, "moves"))
            return "{moves=20000}";
    return "";
}

static void check_planner(struct field *f, const struct planner *p, const char *options)
{
    struct run r;
    char text[KEPT];
    begin(&r, f);
    /* solvers may take their whole minute for a program of latency; what is claimed must hold whenever they end */
    if (!strcmp(f->objective, "latency") && !strcmp(p->pass.name, "ip-place"))
        r.settings.time_limit = PS_PER_S / 2;
    snprintf(text, sizeof text, "%s%s", p->pass.name, options);
    int rc = run_passes(&r.x, text, NULL);
    uint32_t wanted = features_wanted(&r.x);
    bool batches = exec_kind(&r.x.scene.model)->feed == FEED_MICRO_BATCHES;
    assert_int_equal(wanted, f->features & ~(batches ? (uint32_t)FEATURE_GPIPE : 0));
    p = planner_for(p, &r.x.scene.model);
    const struct exec_kind *goal = exec_kind(&r.x.scene.model);
    if (!knows_all(p, goal, wanted)) {
        assert_int_equal(rc, -1);
        check_refusal(p, r.error, goal, wanted);
        assert_int_equal(r.d.errors, 1);
    } else if (rc && strstr(r.error, "was built without")) {
        print_message("left out: %s\n", r.error);
    } else if (rc) {
        fail_msg("features %x: %s gives %d: %s\n%s", wanted, text, rc, r.error, f->said.text);
    } else {
        add_plan(f, p->pass.name, &r.x);
        if (f->wrong)
            fail_msg("features %x: %s is not what it claims\n%s", wanted, text, f->said.text);
    }
    end(&r);
}

/* A plan by hand, for the planner that takes one. */
static const char *write_plan(char *path)
{
    FILE *f = fdopen(mkstemp(path), "w");
    static char option[KEPT];
    assert_non_null(f);
    fputs("^n1$=cpu0\n^n[02-9]$=acc1\n", f);
    assert_int_equal(fclose(f), 0);
    snprintf(option, sizeof option, "{from=%s}", path);
    return option;
}

static void check_all(struct field *f, uint64_t seed)
{
    char path[] = "/tmp/pcc-planner-XXXXXX";
    const char *from = write_plan(path);
    write_graph(f, seed);
    const struct planner *p;
    bool trains = !strcmp(f->objective, "iteration-time"); /* CPUs, which that plan uses, do not */
    for (uint32_t i = 0; (p = planner_at(exec_kinds, i)); i++)
        if (!p->given || !trains)
            check_planner(f, p, p->given ? from : few_moves(&p->pass));
    unlink(path);
    if (lies(f))
        for (uint32_t i = 0; i < f->n; i++)
            print_message("%s: %lld, bound %lld, of all %lld\n", f->name[i], (long long)f->value[i],
                          (long long)f->bound[i], (long long)f->bound_all[i]);
    if (lies(f))
        fail_msg("features %x: a bound is above the value of another plan:\n%s", f->features,
                 f->said.text);
}

/* All graphs; with sanitizers the first, or where PCC_SEED says so, that one. */
static void test_every(void **state)
{
    (void)state;
    const char *only = getenv("PCC_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    for (uint64_t seed = first; seed <= (only ? first : SANITIZED ? 1 : GRAPHS); seed++)
        for (uint32_t i = 0; i <= FEATURES; i++)
            for (uint32_t k = i; k <= FEATURES; k++) {
                for (uint32_t goal = 0; exec_kinds[goal]; goal++) {
                    struct field f = {.features = (1U << i | 1U << k) & FEATURES_ALL,
                                      .objective = exec_kinds[goal]->name};
                    check_all(&f, seed);
                }
            }
}

/* ---- planted ---------------------------------------------------------------------------------- */

struct blind_options {
    int64_t to; /* FEATURE_* */
};

static const struct opt blind_opts[] = {{OPT_INT, "to", offsetof(struct blind_options, to), "0",
                                         .help = "the feature that it does not look at"},
                                        {0}};

static const struct planner *seeing(uint32_t features)
{
    return planner_of(NULL, pass_find(NULL, features & FEATURE_GROUPS ? "hier-place" : "dp-place"));
}

/* A planner that sees all, on the problem without that feature. */
static int blind_run(struct ctx *x, const void *options)
{
    const struct blind_options *o = options;
    struct ctx y = {.scene = x->scene, .settings = x->settings, .use = x->use};
    struct cluster c = *x->scene.cluster;
    struct exec_model *m = &y.scene.model;
    y.scene.place = NULL;
    y.scene.cluster = &c;
    if (o->to == FEATURE_PINS || o->to == FEATURE_CUTS)
        y.settings = NULL;
    if (o->to == FEATURE_PART_COST)
        m->part_cost = 0;
    if (o->to == FEATURE_GROUPS)
        c.cls[0].group = 0;
    if (o->to == FEATURE_OVERLAP)
        m->overlap = OVERLAP_SUM;
    if (o->to == FEATURE_GPIPE)
        m->training.schedule = TRAINING_DAPPLE;
    if (o->to == FEATURE_COPIES)
        m->replicate = false;
    int rc = run_passes(&y, cluster_grouped(&c) ? "hier-place" : "dp-place", NULL);
    x->results.plan = y.results.plan;
    return rc;
}

static const struct planner blind = {.pass = {"blind", "does not look at what it offers",
                                              blind_opts, sizeof(struct blind_options),
                                              .needs = NEED_COST | NEED_CONTRACT, .run = blind_run},
                                     .features = FEATURES_ALL};

/* Whether a planner that is blind to the one feature of f is caught: by the runner's judge, or as a liar. */
static bool caught(struct field *f, uint32_t to)
{
    static const struct pass *const extra[] = {&blind.pass, NULL};
    struct run r;
    char text[KEPT];
    begin(&r, f);
    snprintf(text, sizeof text, "blind{to=%u}", to);
    int rc = run_passes(&r.x, text, extra);
    assert_true(rc == 0 || rc == PASS_UNVERIFIED);
    if (rc == 0)
        add_plan(f, "blind", &r.x);
    end(&r);
    return rc == PASS_UNVERIFIED || lies(f) > 0;
}

static void test_planted(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FEATURES; i++) {
        uint32_t found = 0;
        if (1U << i == FEATURE_ROUTES || 1U << i == FEATURE_LEVELS) /* refused, whoever offers it */
            continue;
        for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
            struct field f = {.features = 1U << i, .objective = "time-per-sample"};
            write_graph(&f, seed);
            check_planner(&f, seeing(1U << i), "");
            found += caught(&f, 1U << i);
        }
        if (!found)
            fail_msg("a planner that is blind to feature %x is not caught", 1U << i);
    }
    struct field f = {.objective = "time-per-sample"}; /* and one that sees all is not */
    write_graph(&f, 1);
    check_planner(&f, seeing(0), "");
    assert_false(caught(&f, 0));
}

/* ---- the table -------------------------------------------------------------------------------- */

static void test_table(void **state)
{
    uint32_t n = 0, planners = 0;
    const struct pass *p;
    (void)state;
    for (; (p = pass_at(exec_kinds, n)); n++) {
        assert_ptr_equal(pass_find(exec_kinds, p->name), p);
        planners += planner_of(exec_kinds, p) != NULL;
    }
    assert_null(pass_find(exec_kinds, "no-such-pass"));
    assert_true(planners > 0 && planners < n);
    const struct planner *k;
    for (uint32_t i = 0; (k = planner_at(exec_kinds, i)); i++, planners--) {
        struct exec_model m = {.kinds = exec_kinds};
        uint32_t known = 0;
        assert_ptr_equal(planner_of(exec_kinds, &k->pass), k);
        assert_ptr_equal(pass_find(exec_kinds, k->pass.name), &k->pass);
        assert_true(k->features <= FEATURES_ALL);
        assert_true(!k->implied || exec_objective(&m, k->implied) >= 0);
        for (uint32_t o = 0; o < PLANNER_OBJECTIVES && k->objectives[o]; o++, known++)
            assert_true(exec_objective(&m, k->objectives[o]) >= 0);
        assert_true(known || k->every_objective);
        for (; exec_kinds[m.objective]; m.objective++) {
            const struct planner *other = planner_for(k, &m);
            assert_non_null(other);
            assert_true(other == k || (planner_aims_at(other, exec_kind(&m)) &&
                                       other->pass.needs == k->pass.needs));
        }
    }
    assert_int_equal(planners, 0);
}

/* The sentences, with planners of the test's own. */
static void test_sentences(void **state)
{
    static const struct planner plain = {.pass.name = "plain",
                                         .objectives = {"time-per-sample"},
                                         .features = FEATURE_PINS},
                                none = {.pass.name = "none"},
                                one = {.pass.name = "one",
                                       .objectives = {"time-per-sample"},
                                       .features = FEATURE_PINS | FEATURE_GROUPS},
                                two = {.pass.name = "two",
                                       .objectives = {"time-per-sample"},
                                       .features = FEATURE_GROUPS | FEATURE_COPIES},
                                own = {.pass.name = "own",
                                       .objectives = {"time-per-sample"},
                                       .features = FEATURES_ALL,
                                       .given = true};
    static const struct planner *const table[] = {&none, &plain, &one, &two, &own, NULL};
    static const struct {
        uint32_t wanted;
        const char *error; /* NULL: none */
    } t[] = {
        {0, NULL},
        {FEATURE_PINS, NULL},
        {FEATURE_GROUPS, "plain knows no groups of devices; one and two do"},
        {FEATURE_COPIES, "plain knows no copies of stages; two does"},
        {FEATURE_GROUPS | FEATURE_COPIES,
         "plain knows no groups of devices and no copies of stages; two does"},
        {FEATURE_PINS | FEATURE_OVERLAP,
         "plain knows no transfers beside computing; no planner knows "
         "all that is wanted: pins and transfers beside computing; a plan that is made by hand "
         "can be given (own)"},
        {FEATURE_ROUTES, "plain knows no links between devices; no planner knows all that is "
                         "wanted: links between devices"}};
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct field f = {.features = t[i].wanted, .objective = "time-per-sample"};
        struct run r;
        write_graph(&f, 1);
        begin(&r, &f);
        assert_int_equal(ctx_base(&r.x), 0);
        assert_int_equal(planner_check(&plain, &r.x, table), t[i].error ? -1 : 0);
        assert_string_equal(r.error, t[i].error ? t[i].error : "");
        end(&r);
    }
    struct run r;
    struct field links = {.features = FEATURE_ROUTES, .objective = "time-per-sample"};
    write_graph(&links, 1);
    begin(&r, &links);
    assert_int_equal(ctx_base(&r.x), 0);
    assert_int_equal(planner_check(&own, &r.x, table), -1);
    assert_string_equal(r.error, "own knows no links between devices; no planner knows all that is "
                                 "wanted: links between devices");
    aim_at(&r.x.scene.model, "makespan"); /* by way of the host, nothing goes over them */
    assert_int_equal(features_wanted(&r.x), 0);
    r.x.scene.model.step.network = NETWORK_DIRECT;
    assert_int_equal(features_wanted(&r.x), FEATURE_ROUTES);
    assert_int_equal(planner_check(&own, &r.x, table), -1);
    assert_string_equal(r.error,
                        "own knows no makespan; no planner knows all that is wanted: makespan "
                        "and links between devices");
    struct planner steps = own;
    steps.objectives[0] = "makespan";
    assert_int_equal(planner_check(&steps, &r.x, table), 0);
    end(&r);
    struct field f = {.features = FEATURE_PINS, .objective = "time-per-sample"};
    write_graph(&f, 1);
    begin(&r, &f);
    assert_int_equal(ctx_base(&r.x), 0);
    assert_int_equal(planner_check(&none, &r.x, table), -1);
    assert_string_equal(r.error, "none knows no time-per-sample and no pins; plain and one do");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_every), cmocka_unit_test(test_planted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
