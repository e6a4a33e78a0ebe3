/* What a run leaves: files, stdout, the table (output.h). */
#include "output.h"

#include "ir/exec/evaluate.h"
#include "ir/base/outfile.h"
#include "assumed.h"
#include "ir/plan/parts.h"
#include "baselines.h"
#include "compare.h"
#include "ir/base/strings.h"
#include "passes/functions/close_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Files that would take the place of the model they come from, and names that promise what there is not. */
static int check_output(const struct cli *c, struct arena *a, struct diag *d)
{
    const char *out = c->value[CLI_OUTPUT];
    struct stat in, there;
    if (out && (!*out || !strcmp(out, "-")))
        return diag_error(d, "-o '%s': expected a file or folder (--emit writes to stdout)", out);
    if (c->n[CLI_OUTPUT] > 1)
        return diag_error(d, "-o is given %u times: expected one output", c->n[CLI_OUTPUT]);
    if (out && stat(out, &there) == 0 && S_ISREG(there.st_mode) && stat(c->input, &in) == 0 &&
        in.st_dev == there.st_dev && in.st_ino == there.st_ino)
        return diag_error(d, "-o %s: that is the model itself; expected another file", out);
    return out ? writer_check_name(out, a, d) : 0;
}

bool output_is_folder(const char *path)
{
    return !writer_of(path)->suffix;
}

/* ---- options of writers ----------------------------------------------------------------------- */

static const char *expected(const struct opt *o, struct arena *a)
{
    if (o->kind == OPT_CHOICE)
        return opt_names(o, ", ", " or ", a);
    if (o->kind == OPT_SET)
        return arena_fmt(a, "some of %s, or none", opt_names(o, ",", ",", a));
    return opt_wants(o, a);
}

/* A writer's options as they were given; NULL and an error. */
static void *read_options(const struct cli *c, const struct writer *w, struct arena *a,
                          struct diag *d)
{
    void *opts = writer_opts_new(w, a);
    for (const struct writer_opt *const *o = w->opts; o && *o; o++) {
        const char *name = (*o)->opt.name, *text = c->value[cli_named(c, name)->id];
        if (text && !opt_set(&(*o)->opt, opts, text)) {
            diag_error(d, "--%s '%s': expected %s", name, text, expected(&(*o)->opt, a));
            return NULL;
        }
    }
    return opts;
}

/* The writer that a list "gantt,trace" of --emit begins with; *list moves on.  NULL: none of that name. */
static const struct writer *next_emitted(const char **list)
{
    size_t n = strcspn(*list, ",");
    const struct writer *w = writer_named(*list, n);
    if (!w || !w->to_stdout)
        return NULL;
    *list += n + ((*list)[n] == ',' && (*list)[n + 1]);
    return w;
}

/* Whether a writer that runs has the option. */
static bool is_used(const struct cli *c, const char *name)
{
    const char *out = c->value[CLI_OUTPUT];
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++)
        for (const char *s = c->list[CLI_EMIT][i]; *s;)
            if (writer_opt(next_emitted(&s), name))
                return true;
    return out && writer_opt(writer_of(out), name);
}

static int check_options(const struct cli *c, struct arena *a, struct diag *d)
{
    for (const struct writer *const *w = writer_table; *w; w++)
        if (!read_options(c, *w, a, d))
            return -1;
    for (uint32_t i = 0; i < c->noption; i++) {
        const struct cli_option *o = &c->option[i];
        if (o->writer && o->writer->strict && c->value[o->id] && !is_used(c, o->name))
            return diag_error(d, "--%s=%s: %s", o->name, c->value[o->id],
                              writer_opt_unused(o->writer, a));
    }
    return 0;
}

static int write_one(const struct cli *c, const struct writer *w, const struct result *r,
                     const char *path)
{
    struct arena *a = arena_new(r->scene.m->mem);
    const void *opts = read_options(c, w, a, r->diag);
    int rc = opts ? writer_run(w, r, opts, path) : -1;
    arena_free(a);
    return rc;
}

int output_probe(const struct cli *c, const struct module *m, struct diag *d)
{
    const char *out = c->value[CLI_OUTPUT];
    if (!out)
        return 0;
    struct arena *a = arena_new(m->mem);
    const struct writer *w = writer_of(out);
    const void *opts = read_options(c, w, a, d);
    int rc = !opts ? -1 : w->check ? w->check(m, opts, out, d) : outfile_check(out, a, d);
    arena_free(a);
    return rc;
}

/* --emit to stdout; with r NULL, only the names are checked. */
static int emit_all(const struct cli *c, const struct result *r, struct arena *a, struct diag *d)
{
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++) {
        const char *s = c->list[CLI_EMIT][i];
        do {
            const struct writer *w = next_emitted(&s);
            if (!w)
                return diag_error(d, "--emit '%s': expected %s", s, writer_emits(", ", " or ", a));
            if (r && write_one(c, w, r, "-"))
                return -1;
        } while (*s);
    }
    return 0;
}

/* --replay: how many samples; 0 if it is not given; -1, an error. */
static int64_t replay_samples(const struct cli *c, struct diag *d)
{
    const char *s = c->value[CLI_REPLAY];
    int64_t n = 0;
    if (s && (!count_parse(s, &n) || n < 1))
        return diag_error(d, "--replay '%s': expected a number of samples >= 1", s);
    return n;
}

/* --replay, with calls open: its figures speak of their tensors.  On stdout, or stderr if that is taken. */
static int replay(const struct cli *c, const struct result *r)
{
    if (!r->verdict)
        return diag_error(r->diag,
                          "--replay: there is no plan: give a planner, such as -p auto-place");
    return replay_print(c->n[CLI_EMIT] ? stderr : stdout, r->open ? r->open : r,
                        replay_samples(c, r->diag));
}

/* What a plan that came with the input claims holds only for the costs and devices that it was made for. */
static void check_claims(const struct cli *c, struct ctx *x, const struct evaluation *e)
{
    struct plan *p = x->results.plan;
    char said[UNIT_TEXT], is[UNIT_TEXT];
    bool silent = p->bound < 0 && p->status != PLAN_OPTIMAL;
    if (silent || evaluation_confirms(e, p) == FOUND_AS_CLAIMED)
        return;
    diag_warning(x->use.diag, WARN_INVALID_PLAN,
                 "%s: its plan takes %s here, not %s: what it says about bounds is left out",
                 c->input, time_print(is, e->value), time_print(said, p->value));
    p->value = e->value;
    p->bound = p->bound_all = -1;
    p->proof = p->offer = NULL;
    p->status = p->status == PLAN_OVER_MEMORY ? p->status : PLAN_HEURISTIC;
}

/* The figures of the plan, none if there is no plan.  It may have come with the input: then nobody has checked it
 * yet, and one that does not hold is good for nothing but textual IR. */
static int judge_plan(const struct cli *c, struct ctx *x, struct result *r, struct evaluation *e)
{
    if (!x->results.plan || !x->scene.m->cost || !x->scene.cluster)
        return 0;
    if (ctx_base(x))
        return -1;
    *e = evaluate(&x->scene, x->results.plan, x->use.mem);
    if (!evaluation_holds(e, x->results.plan->status == PLAN_OVER_MEMORY)) {
        diag_warning(x->use.diag, WARN_INVALID_PLAN, "%s: its plan does not hold: %s", c->input,
                     e->why_not);
        return 0;
    }
    check_claims(c, x, e);
    r->verdict = &e->v;
    r->parts = parts_build(&x->scene, x->results.plan->dev, x->use.mem);
    return 0;
}

static bool has_calls(const struct module *m)
{
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        if (m->node[n].callee != 0)
            return true;
    return false;
}

/* What is written of a plan has calls that no cut divides as calls: r speaks of that from here on, and
 * `planned` of what it was. */
static void close_calls(struct ctx *x, struct result *r, struct result *planned,
                        struct closed_plan *p)
{
    r->calls = x->results.opened ? "opened" : has_calls(x->scene.m) ? "whole" : NULL;
    *planned = *r;
    if (!r->verdict || !x->results.opened || !close_plan(x, r->parts, r->verdict, p))
        return;
    diag_note(x->use.diag, "calls of functions: %u are written as such, %s", p->closed,
              p->open == 0 ? "none is open"
                           : arena_fmt(x->use.mem, "%u are open, the first of these '%s'", p->open,
                                       p->first_open));
    r->open = planned;
    r->scene = p->scene;
    r->plan = &p->plan;
    r->verdict = &p->verdict;
    r->parts = p->parts;
}

int output_warned(struct diag *d)
{
    if (!d->failures)
        return 0;
    return diag_error(d, "-Werror: %u warning%s", d->failures, d->failures > 1 ? "s" : "");
}

/* --compare: on stdout, or stderr if that is taken. */
static int compare(const struct cli *c, struct ctx *x, const struct result *r)
{
    const char *from = c->value[CLI_COMPARE];
    if (!r->verdict)
        return diag_error(x->use.diag,
                          "--compare=%s: there is no plan to compare it with: give a planner, "
                          "such as -p auto-place",
                          from);
    return compare_print(c->n[CLI_EMIT] ? stderr : stdout, x, r, from);
}

/* --baselines: on stdout, or stderr if that is taken. */
static int baselines(const struct cli *c, struct ctx *x, const struct result *r)
{
    if (!r->verdict)
        return diag_error(x->use.diag, "--baselines: there is no plan to hold them against: give a "
                                       "planner, such as -p auto-place");
    return baselines_print(c->n[CLI_EMIT] ? stderr : stdout, x, r);
}

/* --explain-bound: on stdout, or stderr if that is taken. */
static int explain(const struct cli *c, const struct result *r)
{
    FILE *f = c->n[CLI_EMIT] ? stderr : stdout;
    char text[UNIT_TEXT];
    if (!r->verdict)
        return diag_error(r->diag, "--explain-bound: there is no plan: give a planner, such as "
                                   "-p auto-place");
    if (r->plan->bound < 0 || !r->plan->proof)
        fputs("no bound is known\n", f);
    else
        fprintf(f, "why no plan%s takes less than %s:\n%s", plan_among(r->plan->scope),
                time_short(text, r->plan->bound), r->plan->proof);
    return 0;
}

static bool is_training(const struct module *m)
{
    for (nid n = 1; m->backward && n < m->nnode; n++)
        if (m->backward[n])
            return true;
    return false;
}

/* Whether an accelerator's memory has a stated size. */
static bool limited_memory(const struct cluster *c)
{
    for (uint32_t k = 0; c && k < c->ncls; k++)
        if (!c->cls[k].host && c->cls[k].memory >= 0)
            return true;
    return false;
}

/* Options that were given and change nothing. */
static void warn_unused(const struct cli *c, const struct ctx *x, const struct result *r)
{
    const char *no_plan = x->results.plan ? NULL : "nothing is planned";
    const char *reserved = c->value[CLI_RESERVE];
    bool reserve = limited_memory(x->scene.cluster) ||
                   (reserved && strspn(reserved, "0%") == strlen(reserved));
    bool training = is_training(x->scene.m),
         copies = x->scene.cluster && x->scene.cluster->replicate;
    const struct {
        enum cli_id id;
        const char *why; /* NULL: it is of use */
    } t[] = {{CLI_OVERLAP, no_plan},
             {CLI_REPLICATE, no_plan},
             {CLI_PART_COST, no_plan},
             {CLI_TIME_LIMIT, no_plan},
             {CLI_MAX_STATES, no_plan},
             {CLI_SCHEDULE, no_plan    ? no_plan
                            : training ? NULL
                                       : "the model has no backward pass"},
             {CLI_SYNC, no_plan    ? no_plan
                        : !copies  ? "it is the rate between copies: give --replicate, too"
                        : training ? NULL
                                   : "the model has no backward pass, its copies exchange nothing"},
             {CLI_RESERVE, no_plan   ? no_plan
                           : reserve ? NULL
                                     : "no accelerator has a memory of stated size"}};
    for (uint32_t k = 0; k < c->noption; k++) {
        const struct cli_option *o = &c->option[k];
        const char *why = NULL;
        for (size_t i = 0; i < sizeof t / sizeof *t; i++)
            if (o->id == (int)t[i].id)
                why = t[i].why;
        if (o->writer && (!is_used(c, o->name) || (o->writer->needs_plan && !r->verdict)))
            why = writer_opt_unused(o->writer, x->use.mem);
        if (why && c->value[o->id])
            diag_warning(x->use.diag, WARN_UNUSED_OPTION, "--%s has no effect: %s", o->name, why);
    }
}

/* What plan_print shows, made before files are in their place: memory may run out.  NULL and an error. */
static const char *table_text(const struct result *r, const char *out, struct arena *a)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (f)
        plan_print(f, r, out && output_is_folder(out) ? out : NULL);
    bool whole = f && fflush(f) == 0 && !ferror(f);
    whole = f && fclose(f) == 0 && whole && text; /* glibc may close it well without a text */
    const char *kept = whole ? arena_strdup(a, text, n) : NULL;
    if (!whole)
        diag_error(r->diag, "the table of the plan: %s", strerror(errno));
    free(text);
    return kept;
}

int output_write(const struct cli *c, struct ctx *x, bool brought)
{
    struct evaluation e;
    struct closed_plan closed = {0};
    struct result planned, r = {.scene = x->scene, .plan = x->results.plan, .diag = x->use.diag};
    const char *out = c->value[CLI_OUTPUT];
    uint32_t ndims = ctx_ndims(x);
    const char **names = arena_array(x->use.mem, ndims + 1, sizeof *names);
    int64_t *values = arena_array(x->use.mem, ndims + 1, sizeof *values);
    for (uint32_t i = 0; i < ndims; i++) {
        names[i] = ctx_dim(x, i)->name;
        values[i] = ctx_dim(x, i)->value;
    }
    r.annotated = out && writer_of(out)->has_model;
    r.dim_name = names;
    r.dim_value = values;
    r.ndims = ndims;
    if (judge_plan(c, x, &r, &e))
        return -1;
    close_calls(x, &r, &planned, &closed);
    onnx_remake(r.scene.m);
    warn_unused(c, x, &r);
    if (output_warned(x->use.diag))
        return -1;
    if (r.verdict && c->value[CLI_REPLAY] && replay_check(&r))
        return -1;
    bool quiet = c->value[CLI_QUIET] || c->n[CLI_EMIT];
    const char *table = NULL;
    if (r.verdict && !c->value[CLI_QUIET])
        r.assumed = assumed_text(c, x, brought);
    if (r.assumed && quiet)
        diag_note(x->use.diag, "assuming %s", r.assumed);
    if (r.verdict && !quiet && !(table = table_text(&r, out, x->use.mem)))
        return -1;
    if (emit_all(c, &r, x->use.mem, x->use.diag))
        return -1;
    if (out && write_one(c, writer_of(out), &r, out))
        return -1;
    if (table)
        fputs(table, stdout);
    else if (!quiet && !out && x->scene.m->cost)
        summary_print(stdout, x->scene.m);
    if (c->value[CLI_COMPARE] && compare(c, x, &planned))
        return -1;
    if (c->value[CLI_BASELINES] && baselines(c, x, &planned))
        return -1;
    if (c->value[CLI_EXPLAIN_BOUND] && explain(c, &r))
        return -1;
    if (c->value[CLI_REPLAY] && replay(c, &r))
        return -1;
    return quiet ? 0 : output_warned(x->use.diag);
}

int output_check(const struct cli *c, struct arena *a, struct diag *d)
{
    return check_output(c, a, d) || emit_all(c, NULL, a, d) || replay_samples(c, d) < 0 ||
                   check_options(c, a, d)
               ? -1
               : 0;
}
