/* Pipelines (pipeline.h): parses -p, inserts the passes that others need, runs all, and has every plan judged.
 * O(length of the text + steps^2) beside the passes themselves. */
#include "passes/pipeline.h"

#include "passes/planner.h"
#include "passes/run_and_fit.h"

#include "ir/base/memory.h"
#include "ir/base/nearest.h"
#include "ir/base/page.h"
#include "ir/base/units.h"
#include "ir/exec/evaluate.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

void pass_help(FILE *f, const struct pass *p, struct arena *scratch)
{
    /* layout of help texts: column where the meanings of options begin; width of the text, less than 80, since the
     * manual page indents it */
    enum { AT = 17, COLUMNS = 72 };
    page_words_in(f, arena_fmt(scratch, "%s: %s", p->name, p->help), /*at=*/0, /*indent=*/2,
                  COLUMNS);
    for (const struct opt *o = p->opts; o && o->name; o++) {
        int at = fprintf(f, "  %-14s ", o->name);
        page_words_in(f, o->help, (unsigned)at, AT, COLUMNS);
        fprintf(f, "%*s", AT, "");
        page_words_in(f,
                      arena_fmt(scratch, "%s%s%s", opt_wants(o, scratch),
                                *o->def ? "; default " : "", o->def),
                      AT, AT, COLUMNS);
    }
    if (p->needs & NEED_OPEN)
        fprintf(f, "  needs open-functions (inserted if neither it nor\n"
                   "  inline-functions is in the list)\n");
    if (p->needs & NEED_CONTRACT)
        fprintf(f,
                "  needs infer-shapes, cost, contract\n  (inserted if they are not in the list)\n");
    else if (p->needs & NEED_COST)
        fprintf(f, "  needs infer-shapes, cost (inserted if they are not in the list)\n");
    else if (p->needs & NEED_SHAPES)
        fprintf(f, "  needs infer-shapes (inserted if it is not in the list)\n");
}

/* ---- parsing ---------------------------------------------------------------------------------- */

/* Inserts `pass`, with its default options, as step number `at` of p, and returns the step. */
static struct pipeline_step *add_step(struct pipeline *p, uint32_t at, const struct pass *pass,
                                      struct arena *a)
{
    p->step = vec_grow(a, p->step, &p->cap, p->n + 1, sizeof *p->step);
    memmove(p->step + at + 1, p->step + at, (p->n - at) * sizeof *p->step);
    p->n++;
    struct pipeline_step *s = &p->step[at];
    *s = (struct pipeline_step){pass, arena_alloc(a, (size_t)pass->optsize + 1), false};
    opts_reset(pass->opts, s->opts);
    return s;
}

/* Returns the pass with this name: from the table, the planners of p->kinds, or p->extra; NULL: there is none. */
static const struct pass *find_pass(const struct pipeline *p, const char *name)
{
    const struct pass *found = pass_find(p->kinds, name);
    for (const struct pass *const *e = p->extra; e && *e && !found; e++)
        if (!strcmp((*e)->name, name))
            found = *e;
    return found;
}

/* Reports that no pass is called `name`, with the most similar name, and returns -1. */
static int unknown_pass(const struct pipeline *p, const char *name, struct arena *a, struct diag *d)
{
    struct nearest t = nearest_to(name, strlen(name));
    const struct pass *known;
    for (uint32_t i = 0; (known = pass_at(p->kinds, i)); i++)
        nearest_try(&t, known->name);
    for (const struct pass *const *q = p->extra; q && *q; q++)
        nearest_try(&t, (*q)->name);
    return diag_error(d, "-p: unknown pass '%s'%s (see --list-passes)", name, nearest_hint(&t, a));
}

/* Stores one option in s->opts: text is "name=value", or "name" for "name=true"; text is overwritten.  Returns 0, or -1
 * and reports an error. */
static int parse_option(struct pipeline_step *s, char *text, struct arena *a, struct diag *d)
{
    char *eq = strchr(text, '=');
    if (eq)
        *eq = 0;
    struct nearest t = nearest_to(text, strlen(text));
    for (const struct opt *o = s->pass->opts; o && o->name; o++) {
        nearest_try(&t, o->name);
        if (strcmp(o->name, text))
            continue;
        if (!opt_set(o, s->opts, eq ? eq + 1 : o->kind == OPT_BOOL ? "true" : ""))
            return diag_error(d, "-p: %s: option '%s' wants %s, got '%s'", s->pass->name, o->name,
                              opt_wants(o, a), eq ? eq + 1 : "");
        return 0;
    }
    return diag_error(d, "-p: %s has no option '%s'%s (see --help-pass=%s)", s->pass->name, text,
                      nearest_hint(&t, a), s->pass->name);
}

/* Parses "{...}" at *at and moves *at behind the closing brace.  Returns 0, or -1 and reports an error. */
static int parse_options(struct pipeline_step *s, const char **at, struct arena *a, struct diag *d)
{
    const char *p = *at + 1, *end = strchr(p, '}');
    if (!end)
        return diag_error(d, "-p: %s: missing '}'", s->pass->name);
    while (p < end) {
        size_t n = strcspn(p, ",:}");
        char *text = arena_strdup(a, p, n);
        if (n && parse_option(s, text, a, d))
            return -1;
        p += n + (p[n] != '}');
    }
    *at = end + 1;
    return 0;
}

int pipeline_parse(struct pipeline *p, const char *text, struct arena *a, struct diag *d)
{
    for (const char *at = text; *at;) {
        if (*at == '#') {
            at += strcspn(at, "\n");
            continue;
        }
        if (isspace((unsigned char)*at) || *at == ',') {
            at++;
            continue;
        }
        size_t n = strcspn(at, ",{# \t\r\n");
        char *name = arena_strdup(a, at, n);
        const struct pass *pass = find_pass(p, name);
        if (!pass && strchr(name, '='))
            return diag_error(
                d,
                "-p: unknown pass '%s': did the shell expand the braces? quote -p, or "
                "separate options with ':'",
                name);
        if (!pass)
            return unknown_pass(p, name, a, d);
        struct pipeline_step *s = add_step(p, p->n, pass, a);
        at += n;
        if (*at == '{' && parse_options(s, &at, a, d))
            return -1;
    }
    return 0;
}

/* Returns the option of p with this name, which must exist. */
static const struct opt *opt_named(const struct pass *p, const char *name)
{
    const struct opt *o = p->opts;
    while (strcmp(o->name, name))
        o++;
    return o;
}

/* For a pass that reads a plan file (NEED_OPEN): inserts open-functions at the start and gives it the name of the file,
 * so that it opens the function calls that were open in that plan.  Does nothing if the pipeline opens or inlines calls
 * before that pass.  If a pass before it rewrites the module for that plan (pass.then), inserts inline-functions
 * instead, which inlines all calls, since that pass works on single nodes. */
static void open_for_plan(struct pipeline *p, struct arena *a)
{
    const struct pass *open = pass_find(NULL, "open-functions");
    const struct pass *in = pass_find(NULL, "inline-functions");
    bool rewritten = false;
    uint32_t at = 0;
    for (; at < p->n && !(p->step[at].pass->needs & NEED_OPEN); at++) {
        if (p->step[at].pass == open || p->step[at].pass == in)
            return;
        rewritten = rewritten || (p->step[at].pass->rewrites && p->step[at].pass->then != NULL);
    }
    if (at == p->n)
        return;
    if (rewritten) {
        add_step(p, 0, in, a)->inserted = true;
        return;
    }
    const char *from = opt_get(opt_named(p->step[at].pass, "from"), p->step[at].opts, a);
    struct pipeline_step *s = add_step(p, 0, open, a);
    s->inserted = true;
    opt_set(opt_named(open, "plan"), s->opts, from);
}

/* For each pass that needs it (NEED_MIRROR): sets the option mirror of contract in front of the pass to true, unless
 * the user has set it. */
static void mirror_for_planners(struct pipeline *p, struct arena *a)
{
    const struct pass *contract = pass_find(NULL, "contract");
    const struct opt *mirror = opt_named(contract, "mirror");
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t j = i;
        if (!(p->step[i].pass->needs & NEED_MIRROR))
            continue;
        while (j > 0 && p->step[j].pass != contract)
            j--;
        if (p->step[j].pass == contract && !strcmp(opt_get(mirror, p->step[j].opts, a), "auto"))
            opt_set(mirror, p->step[j].opts, "true");
    }
}

/* Adds the planner that a pass wants behind it (pass.then), unless a planner follows. */
static void add_planner(struct pipeline *p, struct arena *a)
{
    struct diag quiet = diag_silent();
    const char *then = NULL; /* the planner that the last pass with pass.then still lacks */
    for (uint32_t i = 0; i < p->n; i++) {
        const struct pass *pass = p->step[i].pass;
        if (planner_of(p->kinds, pass))
            then = NULL;
        else if (pass->then != NULL)
            then = pass->then;
    }
    if (then == NULL || pipeline_parse(p, then, a, &quiet))
        return;
    p->step[p->n - 1].inserted = true;
}

void pipeline_complete(struct pipeline *p, struct arena *a)
{
    /* a pass with one of the bits `need` in pass.needs needs the pass `name` before it */
    static const struct {
        int need;
        const char *name;
    } rule[] = {{NEED_SHAPES | NEED_COST | NEED_CONTRACT, "infer-shapes"},
                {NEED_COST | NEED_CONTRACT, "cost"},
                {NEED_CONTRACT, "contract"}};
    add_planner(p, a);
    open_for_plan(p, a);
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < sizeof rule / sizeof *rule; k++) {
            const struct pass *need = pass_find(NULL, rule[k].name);
            bool have = !(p->step[i].pass->needs & rule[k].need) || p->step[i].pass == need;
            /* what stands before a rewriter does not count, since its results are forgotten */
            for (uint32_t j = i; j-- > 0 && !have && !p->step[j].pass->rewrites;)
                have = p->step[j].pass == need;
            if (!have) /* step i moves back by one: i follows it */
                add_step(p, i++, need, a)->inserted = true;
        }
    mirror_for_planners(p, a);
}

char *pipeline_text(const struct pipeline *p, struct arena *a)
{
    char *s = arena_fmt(a, "%s", "");
    for (uint32_t i = 0; i < p->n; i++) {
        const struct pipeline_step *st = &p->step[i];
        char *args = arena_fmt(a, "%s", "");
        void *usual = arena_alloc(a, (size_t)st->pass->optsize + 1);
        /* options with their usual values are left out */
        opts_reset(st->pass->opts, usual);
        for (const struct opt *o = st->pass->opts; o && o->name; o++) {
            const char *v = opt_get(o, st->opts, a);
            if (strcmp(v, opt_get(o, usual, a)))
                args = arena_fmt(a, "%s%s%s=%s", args, *args ? ":" : "", o->name, v);
        }
        s = arena_fmt(a, "%s%s%s%s%s%s", s, i ? "," : "", st->pass->name, *args ? "{" : "", args,
                      *args ? "}" : "");
    }
    return s;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Returns the time in ms, from some moment in the past. */
static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Compares what planner p claims of its plan, the plan of x, with the judge's evaluation of this plan.  Returns 0; or
 * PASS_UNVERIFIED and reports an error if they differ. */
static int judge_plan(const struct pass *p, struct ctx *x)
{
    char said[UNIT_TEXT], is[UNIT_TEXT];
    struct evaluation e = plan_evaluate(&x->scene, x->results.plan, x->use.scratch);
    switch (evaluation_confirms(&e, &x->results.plan->claim)) {
    case FOUND_AS_CLAIMED:
        return 0;
    case FOUND_BROKEN:
        diag_error(x->use.diag, "%s: %s%s", p->name,
                   e.misplaced ? "" : "the judge refuses the plan: ", e.why_not);
        break;
    case FOUND_OTHER_VALUE:
        diag_error(x->use.diag, "%s claims %s %s, the judge finds %s", p->name,
                   time_print(said, x->results.plan->claim.value),
                   exec_kind_of(&x->scene.model, x->results.plan->claim.objective)->unit,
                   time_print(is, e.value));
        break;
    case FOUND_OTHER_BOUND:
        diag_error(x->use.diag, "%s claims the bound %s for a value of %s", p->name,
                   time_print(said, x->results.plan->claim.bound), time_print(is, e.value));
        break;
    }
    return PASS_UNVERIFIED;
}

/* Whether `given`, the argument of --print-ir-before or --print-ir-after (NULL: none), names pass p or all. */
static bool is_wanted(const char *given, const struct pass *p)
{
    return given && (!strcmp(given, "*") || !strcmp(given, p->name));
}

/* Shows module, plan and top level.  when: "before" or "after" pass p. */
static void print_context(const char *when, const struct pass *p, const struct ctx *x,
                          const struct run_options *o)
{
    struct arena *a = arena_new(x->use.scratch);
    struct memory m;
    memory_begin(&m, a);
    if (m.f) {
        fprintf(m.f, "# %s %s\n", when, p->name);
        module_print(m.f, &x->scene, x->results.plan);
        wdag_print(m.f, x->levels.top, x->scene.m);
    }
    const char *text = memory_close(&m, a);
    if (!text)
        arena_exhausted(a, 1);
    o->show(o->user, arena_fmt(a, "print-ir-%s", when), text);
    arena_free(a);
}

/* Whether an option of the step differs from its default. */
static bool has_options(const struct pipeline_step *s, struct arena *a)
{
    void *usual = arena_alloc(a, (size_t)s->pass->optsize + 1);
    bool has = false;
    opts_reset(s->pass->opts, usual);
    for (const struct opt *o = s->pass->opts; o && o->name; o++)
        has = has || strcmp(opt_get(o, s->opts, a), opt_get(o, usual, a)) != 0;
    return has;
}

/* Returns the last planner of the usual pipeline for the objective. */
static const struct planner *usual_planner(const struct exec_model *m)
{
    const char *text = exec_kind(m)->plans->pipeline, *last = strrchr(text, ',');
    const struct pass *p = pass_find(m->kinds, last != NULL ? last + 1 : text);
    return planner_of(m->kinds, p);
}

/* Errors of a planner that are kept until it has ended; its other messages are passed on at once. */
struct kept_errors {
    struct diag *loud; /* gets the messages */
    struct arena *a;   /* has the lines */
    const char **line; /* [n] texts of the errors, in their order */
    uint32_t n, cap;
};

/* Keeps an error in the struct kept_errors `user`, and passes on notes and warnings (diag.emit). */
static void keep_error(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct kept_errors *k = user;
    if (level == DIAG_NOTE) {
        diag_note(k->loud, "%s", line);
    } else if (level == DIAG_WARNING) {
        diag_warning(k->loud, w, "%s", line);
    } else {
        k->line = vec_grow(k->a, k->line, &k->cap, k->n + 1, sizeof *k->line);
        k->line[k->n++] = arena_strdup(k->a, line, strlen(line));
    }
}

/* Runs planner p as run_and_fit() does.  If the pass shard has left an offer and p finds no plan, p's errors are given
 * as notes, since the offer is taken then. */
static int run_beside_offer(const struct planner *p, const void *opts, struct ctx *x)
{
    struct diag *loud = x->use.diag, own = *loud;
    if (x->results.offer.ways == 0)
        return run_and_fit(p, opts, x);
    struct kept_errors kept = {.loud = loud, .a = arena_new(x->use.mem)};
    own.emit = keep_error;
    own.user = &kept;
    x->use.diag = &own;
    int rc = run_and_fit(p, opts, x);
    x->use.diag = loud;
    for (uint32_t i = 0; i < kept.n; i++)
        if (rc == PASS_INFEASIBLE)
            diag_note(loud, "%s", kept.line[i]);
        else
            diag_error(loud, "%s", kept.line[i]);
    arena_free(kept.a);
    return rc;
}

/* Decides whether the offer of the pass shard is taken: if a plan was made, by the times of both, which a note gives;
 * if the last planner found no plan (rc PASS_INFEASIBLE), or a plan that does not fit, the offer is taken.  An offer
 * that is refused is removed, so that it is looked at once.  Returns whether there is an offer and it is taken. */
static bool takes_offer(struct ctx *x, int rc)
{
    struct shard_offer *o = &x->results.offer;
    const struct plan *p = x->results.plan;
    char text[2][UNIT_TEXT];
    if (o->ways == 0 || o->taken || (rc == 0 && p == NULL))
        return false;
    if (rc != 0 || p->claim.status == PLAN_OVER_MEMORY) {
        o->taken = rc == 0 || rc == PASS_INFEASIBLE;
        if (o->taken)
            diag_note(x->use.diag,
                      "shard: %u ways take %s, no plan of whole nodes was found that fits", o->ways,
                      time_short(text[0], o->value));
        return o->taken;
    }
    o->taken = shard_saves(o->value, p->claim.value, o->gain);
    diag_note(x->use.diag, "shard: %u ways take %s, the plan of whole nodes %s%s", o->ways,
              time_short(text[0], o->value), time_short(text[1], p->claim.value),
              o->taken ? "" : ": nodes stay whole");
    if (!o->taken)
        o->ways = 0;
    return o->taken;
}

/* Runs planner `asked` of step s, or the planner that runs in its place: the usual one, if the pipeline inserted
 * `asked` to read a plan of the pass shard, which has made none; or that of planner_for(), if `asked` leaves the
 * objective to another planner.  Sets the objective that `asked` implies, unless the user gave one.  Returns what
 * run_and_fit() returns; or -1 and reports an error, also if the planner does not support all requests. */
static int run_planner(const struct pipeline_step *s, const struct planner *asked, struct ctx *x)
{
    struct exec_model *m = &x->scene.model;
    /* the pipeline inserted the planner to read the plan of the pass shard (pass.then), but shard has made none */
    bool usual = s->inserted && asked->given && x->results.sharding == NULL;
    if (usual)
        asked = usual_planner(m);
    if (!ctx_said(x, "objective") && asked->implies && asked->implies(s->opts)) {
        int implied = exec_objective(m, asked->implied);
        m->objective = implied >= 0 ? (uint32_t)implied : m->objective;
    }
    const struct planner *p = planner_for(asked, m);
    const void *opts = s->opts;
    if (ctx_base(x) || planner_check(p, x, NULL))
        return -1;
    /* the options of step s are those of another planner: p runs with its defaults */
    if (p != asked || usual) {
        struct pipeline own = {0};
        opts = add_step(&own, 0, &p->pass, x->use.scratch)->opts;
        if (p != asked)
            diag_note(x->use.diag, "%s leaves %s to %s%s", asked->pass.name, exec_kind(m)->name,
                      p->pass.name,
                      has_options(s, x->use.scratch) ? "; its own options have no effect" : "");
    }
    return run_beside_offer(p, opts, x);
}

/* Returns the number of errors reported so far to x->use.diag and to the module's own diag. */
static uint32_t count_errors(const struct ctx *x)
{
    const struct diag *own = x->scene.m->diag;
    return x->use.diag->errors + (own && own != x->use.diag ? own->errors : 0);
}

int pipeline_step_run(const struct pipeline_step *s, struct ctx *x)
{
    struct listener *l = x->use.listener;
    if (l)
        l->pass = s->pass->name;
    listener_tell(l, (struct progress){0});
    /* shown until the pass itself reports progress */
    listener_tell(l, (struct progress){.phase = "at work"});
    uint32_t said = count_errors(x);
    const struct planner *p = planner_of(x->scene.model.kinds, s->pass);
    int rc = p ? run_planner(s, p, x) : s->pass->run(x, s->opts);
    if (!rc && count_errors(x) > said)
        rc = -1; /* the pass went on after an error, such as a file that could not be read */
    listener_tell(l, (struct progress){0});
    if (l)
        l->pass = NULL;
    return rc;
}

/* Runs a pass that changes nodes.  If it made an edit, verifies the module and forgets all results about the old nodes;
 * otherwise forgets the levels alone, since the pipeline runs contract again for the passes behind.  Returns 0, or the
 * pass's error code, or -1 and reports an error. */
static int run_rewriter(const struct pipeline_step *s, struct ctx *x)
{
    struct module *m = x->scene.m;
    uint32_t edits = m->edits;
    /* the pipeline inserted inline-functions, but there are no calls */
    if (s->inserted && !module_calls_anywhere(m))
        return 0;
    if (x->results.opened)
        return diag_error(
            x->use.diag,
            "%s comes before passes that look into calls of functions (open-functions)",
            s->pass->name);
    int rc = pipeline_step_run(s, x);
    if (rc)
        return rc;
    if (m->edits == edits) {
        ctx_forget_levels(x);
        return 0;
    }
    if (module_verify(m, x->use.diag))
        return diag_error(x->use.diag, "%s: the module is broken after it", s->pass->name);
    ctx_forget(x);
    return 0;
}

/* Runs one step: prints the context before and after if wanted, verifies the module if o->verify_each, and has a new
 * plan judged; a pass that changes nodes makes no plan.  Returns as pipeline_run(). */
static int run_and_judge(const struct pipeline_step *s, struct ctx *x, const struct run_options *o)
{
    const struct plan *before = x->results.plan;
    if (is_wanted(o->print_before, s->pass))
        print_context("before", s->pass, x, o);
    int rc = s->pass->rewrites ? run_rewriter(s, x) : pipeline_step_run(s, x);
    if (rc)
        return rc;
    if (s->pass->rewrites)
        /* the rewriter may have forgotten the old plan, which is no new one */
        before = x->results.plan;
    if (o->verify_each && module_verify(x->scene.m, x->use.diag)) {
        diag_error(x->use.diag, "the module is broken after %s", s->pass->name);
        return PASS_UNVERIFIED;
    }
    if (x->results.plan != before && (rc = judge_plan(s->pass, x)))
        return rc;
    if (is_wanted(o->print_after, s->pass))
        print_context("after", s->pass, x, o);
    return 0;
}

/* Warns if a pass that makes a level for planners, such as fuse, stands after the last planner, since it has no effect
 * there; but not of passes before the pass levels, which reads the level that they make. */
static void warn_late(const struct pipeline *p, struct diag *d)
{
    const struct pass *late = NULL, *levels = pass_find(NULL, "levels");
    for (uint32_t i = p->n; i-- > 0 && p->step[i].pass != levels;) {
        const struct pass *pass = p->step[i].pass;
        if (planner_of(p->kinds, pass)) {
            if (late)
                diag_warning(d, WARN_UNUSED_OPTION,
                             "-p: %s has no effect after %s, the last planner", late->name,
                             pass->name);
            return;
        }
        late = pass->needs & NEED_CONTRACT ? pass : late;
    }
}

/* Whether step `at` of p is the last planner, or a planner that has failed (rc not 0). */
static bool ends_planning(const struct pipeline *p, uint32_t at, int rc)
{
    bool last = planner_of(p->kinds, p->step[at].pass) != NULL;
    for (uint32_t i = at + 1; i < p->n && rc == 0 && last; i++)
        last = planner_of(p->kinds, p->step[i].pass) == NULL;
    return last;
}

/* Returns the number of the first step of p that runs the pass `name`, which must be there. */
static uint32_t number_of(const struct pipeline *p, const char *name)
{
    uint32_t i = 0;
    while (strcmp(p->step[i].pass->name, name) != 0)
        i++;
    return i;
}

int pipeline_run(const struct pipeline *p, struct ctx *x, const struct run_options *o)
{
    warn_late(p, x->use.diag);
    x->results.offer = (struct shard_offer){0}; /* an earlier run that failed may have left one */
    for (uint32_t i = 0; i < p->n; i++) {
        struct arena_mark mark = arena_mark(x->use.scratch);
        double start = now_ms();
        if (o->at)
            *o->at = i;
        if (!p->step[i].inserted && !strcmp(p->step[i].pass->name, "contract"))
            x->levels.contract_requested = true;
        int rc = run_and_judge(&p->step[i], x, o);
        arena_release(x->use.scratch, mark);
        if (o->time_passes)
            o->show(o->user, "time-passes",
                    arena_fmt(x->use.scratch, "%10.2f ms  %s\n", now_ms() - start,
                              p->step[i].pass->name));
        if (ends_planning(p, i, rc) && takes_offer(x, rc))
            i = number_of(p, "shard") - 1; /* goes on with the pass that has made the offer */
        else if (rc)
            return rc;
    }
    return 0;
}
