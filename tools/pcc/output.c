/* What a run leaves: files, stdout, the table (output.h). */
#include "output.h"

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

static const char *const kinds[] = {"ir",    "csv",   "json", "dot",
                                    "gantt", "trace", NULL}; /* --emit */

/* What each suffix of -o means, the first that fits; any other name is the folder of a split. */
static const char *const suffixes[][2] = {
    {".gantt.svg", "gantt"}, {".trace.json", "trace"}, {".pir", "ir"},  {".csv", "csv"},
    {".json", "json"},       {".dot", "dot"},          {".svg", "svg"}, {".pdf", "pdf"},
    {".png", "png"},         {".onnx", "onnx"}};

/* Files that are something else than a folder, as far as names tell. */
static const char *const strangers[] = {"jpg",  "jpeg",   "gif",         "bmp", "webp", "tif",
                                        "tiff", "eps",    "ps",          "txt", "md",   "htm",
                                        "html", "yml",    "yaml",        "xml", "pb",   "pt",
                                        "pth",  "tflite", "safetensors", "zip", "gz"};

/* Names that promise what there is not: "x.jpg", "x.SVG". */
static int check_suffix(const char *out, struct diag *d)
{
    const char *dot = strrchr(path_base(out), '.');
    char list[256] = "";
    bool strange = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), " %s", suffixes[i][0]);
        strange =
            strange || (dot && strcmp(dot, suffixes[i][0]) && !strcasecmp(dot, suffixes[i][0]));
    }
    for (size_t i = 0; dot && i < sizeof strangers / sizeof *strangers; i++)
        strange = strange || !strcasecmp(dot + 1, strangers[i]);
    return strange
               ? diag_error(d,
                            "-o %s: pcc writes no %s; expected a folder for a split, or one of%s",
                            out, dot, list)
               : 0;
}

/* Files that would take the place of the model they come from, and names that promise what there is not. */
static int check_output(const struct cli *c, struct diag *d)
{
    const char *out = c->value[CLI_OUTPUT];
    struct stat in, there;
    if (out && (!*out || !strcmp(out, "-")))
        return diag_error(d, "-o '%s': expected a file or folder (--emit writes to stdout)", out);
    if (c->n[CLI_OUTPUT] > 1)
        return diag_error(d, "-o is given %u times: expected one output", c->n[CLI_OUTPUT]);
    if (out && (str_ends(out, ".gantt.pdf") || str_ends(out, ".gantt.png")))
        return diag_error(d, "-o %s: charts are written as .gantt.svg", out);
    if (out && stat(out, &there) == 0 && S_ISREG(there.st_mode) && stat(c->input, &in) == 0 &&
        in.st_dev == there.st_dev && in.st_ino == there.st_ino)
        return diag_error(d, "-o %s: that is the model itself; expected another file", out);
    return out ? check_suffix(out, d) : 0;
}

/* The kind of a file by its suffix; NULL: a folder. */
static const char *kind_of(const char *path)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(path, suffixes[i][0]))
            return suffixes[i][1];
    return NULL;
}

bool output_is_folder(const char *path)
{
    return kind_of(path) == NULL;
}

/* The plan with calls open, whose tensors are those that its figures speak of. */
static const struct result *as_planned(const struct result *r)
{
    return r->open ? r->open : r;
}

static int emit(const struct result *r, const char *kind, const char *path)
{
    if (!strcmp(kind, "csv"))
        return csv_write(r->scene.m, r->scene.cluster, path, r->diag);
    if (!strcmp(kind, "ir"))
        return ir_write(r, path);
    if (!strcmp(kind, "onnx"))
        return r->verdict ? annotated_write(r, path)
               : r->ir11 ? diag_error(r->diag, "--annotate=ir11: -o %s needs a planner in -p", path)
                         : onnx_write(r->scene.m, path, r->diag);
    if (!r->verdict)
        return diag_error(r->diag, "'%s' shows a plan: give a planner, such as -p auto-place",
                          kind);
    if (picture_format(kind, strlen(kind)))
        return picture_write(r, picture_format(kind, strlen(kind)), path);
    if (!strcmp(kind, "dot"))
        return dot_write(r, r->view, MOST_BOXES, path);
    if (!strcmp(kind, "gantt"))
        return gantt_write(as_planned(r), path);
    if (!strcmp(kind, "trace"))
        return trace_write(as_planned(r), path);
    return r->scene.m->ir_version ? plan_json_write(r, path) : paper_split_write(r, path);
}

static int write_output(const struct result *r, const char *path)
{
    const char *kind = kind_of(path);
    if (kind)
        return emit(r, kind, path);
    if (!r->verdict)
        return diag_error(r->diag, "-o %s: a split folder needs a planner in -p", path);
    return split_write(r, path);
}

static enum weights_mode weights_of(const struct cli *c)
{
    const char *s = c->value[CLI_WEIGHTS];
    return s ? weights_mode_named(s) : WEIGHTS_SHARED;
}

int output_probe(const struct cli *c, const struct module *m, struct diag *d)
{
    const char *out = c->value[CLI_OUTPUT], *kind = out ? kind_of(out) : NULL;
    if (!out)
        return 0;
    if (!kind)
        return split_check(m, weights_of(c), out, d);
    if (!strcmp(kind, "onnx") && !m->src)
        return diag_error(d, "%s: cannot write ONNX: the input was not an ONNX model", out);
    return outfile_check(out, d);
}

static const char *const views[] = {"blocks", "devices", "nodes", NULL}; /* as enum view */

/* --view and --pictures, into r if it is there. */
static int read_pictures(const struct cli *c, struct result *r, struct diag *d)
{
    const char *view = c->value[CLI_VIEW], *list = c->value[CLI_PICTURES];
    unsigned formats = list ? 0 : PICTURE_SVG;
    int v = 0;
    while (view && views[v] && strcmp(views[v], view))
        v++;
    if (!views[v])
        return diag_error(d, "--view '%s': expected devices, blocks or nodes", view);
    for (const char *s = list; s && strcmp(list, "none");) {
        size_t n = strcspn(s, ",");
        unsigned f = picture_format(s, n);
        if (!f)
            return diag_error(d, "--pictures '%s': expected some of svg,pdf,png, or none", list);
        formats |= f;
        s = s[n] ? s + n + 1 : NULL;
    }
    if (r) {
        r->view = (enum view)v;
        r->pictures = formats;
    }
    return 0;
}

/* The kind that a list "gantt,trace" begins with; *list moves on.  NULL: none of that name. */
static const char *next_kind(const char **list)
{
    size_t n = strcspn(*list, ",");
    for (int k = 0; kinds[k]; k++)
        if (strlen(kinds[k]) == n && !strncmp(kinds[k], *list, n)) {
            *list += n + ((*list)[n] == ',' && (*list)[n + 1]);
            return kinds[k];
        }
    return NULL;
}

/* --emit to stdout; with r NULL, only the names are checked. */
static int emit_all(const struct cli *c, const struct result *r, struct diag *d)
{
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++) {
        const char *s = c->list[CLI_EMIT][i];
        do {
            const char *kind = next_kind(&s);
            if (!kind)
                return diag_error(d, "--emit '%s': expected ir, csv, json, dot, gantt or trace", s);
            if (r && emit(r, kind, "-"))
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

/* On stdout, or stderr if that is taken. */
static int replay(const struct cli *c, const struct result *r)
{
    if (!r->verdict)
        return diag_error(r->diag,
                          "--replay: there is no plan: give a planner, such as -p auto-place");
    return replay_print(c->n[CLI_EMIT] ? stderr : stdout, as_planned(r));
}

/* What a plan that came with the input claims holds only for the costs and devices that it was made for. */
static void check_claims(const struct cli *c, struct ctx *x, int64_t value)
{
    struct plan *p = x->plan;
    char said[UNIT_TEXT], is[UNIT_TEXT];
    bool optimal = p->status == PLAN_OPTIMAL && p->bound != value;
    if ((p->bound < 0 && !optimal) || (p->value == value && p->bound <= value && !optimal))
        return;
    diag_warning(x->diag, WARN_INVALID_PLAN,
                 "%s: its plan takes %s here, not %s: what it says about bounds is left out",
                 c->input, time_print(is, value), time_print(said, p->value));
    p->value = value;
    p->bound = p->bound_all = -1;
    p->proof = p->offer = NULL;
    p->status = p->status == PLAN_OVER_MEMORY ? p->status : PLAN_HEURISTIC;
}

/* The judge's figures of the plan, NULL if there is none.  A plan may have come with the input: then
 * nobody has checked it yet, and one that does not hold is good for nothing but textual IR. */
static int judge_plan(const struct cli *c, struct ctx *x, struct result *r, struct verdict *v)
{
    if (!x->plan || !x->scene.m->cost || !x->scene.cluster)
        return 0;
    if (ctx_base(x))
        return -1;
    *v = judge(&x->scene, x->plan->dev, x->plan->copies, x->mem);
    bool fits = v->fits || x->plan->status == PLAN_OVER_MEMORY;
    if (!v->runnable || !v->colocated || !fits) {
        diag_warning(x->diag, WARN_INVALID_PLAN, "%s: its plan does not hold: %s", c->input,
                     v->why_not);
        return 0;
    }
    check_claims(c, x, v->value);
    r->verdict = v;
    r->parts = parts_build(&x->scene, x->plan->dev, x->mem);
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
    r->calls = x->opened ? "opened" : has_calls(x->scene.m) ? "whole" : NULL;
    *planned = *r;
    if (!r->verdict || !x->opened || !close_plan(x, r->parts, r->verdict, p))
        return;
    diag_note(x->diag, "calls of functions: %u are written as such, %s", p->closed,
              p->open == 0 ? "none is open"
                           : arena_fmt(x->mem, "%u are open, the first of these '%s'", p->open,
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
        return diag_error(x->diag,
                          "--compare=%s: there is no plan to compare it with: give a planner, "
                          "such as -p auto-place",
                          from);
    return compare_print(c->n[CLI_EMIT] ? stderr : stdout, x, r, from);
}

/* --baselines: on stdout, or stderr if that is taken. */
static int baselines(const struct cli *c, struct ctx *x, const struct result *r)
{
    if (!r->verdict)
        return diag_error(x->diag, "--baselines: there is no plan to hold them against: give a "
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

static bool emits(const struct cli *c, const char *kind)
{
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++)
        for (const char *s = c->list[CLI_EMIT][i]; *s;)
            if (!strcmp(next_kind(&s), kind))
                return true;
    return false;
}

/* Options that were given and change nothing. */
static void warn_unused(const struct cli *c, const struct ctx *x, const struct result *r)
{
    const char *out = c->value[CLI_OUTPUT], *kind = out ? kind_of(out) : NULL;
    const char *no_plan = x->plan ? NULL : "nothing is planned";
    const char *reserved = c->value[CLI_RESERVE];
    bool reserve = limited_memory(x->scene.cluster) ||
                   (reserved && strspn(reserved, "0%") == strlen(reserved));
    bool training = is_training(x->scene.m),
         copies = x->scene.cluster && x->scene.cluster->replicate;
    bool drawn = emits(c, "dot") || (kind && (!strcmp(kind, "dot") || picture_format(kind, 3)));
    const struct {
        enum cli_id id;
        const char *why; /* NULL: it is of use */
    } t[] = {
        {CLI_OVERLAP, no_plan},
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
                                : "no accelerator has a memory of stated size"},
        {CLI_PICTURES, out && !kind ? NULL : "these pictures go into the folder of a split (-o)"},
        {CLI_VIEW, drawn ? NULL : "no .dot, .svg, .pdf or .png is written"},
        {CLI_ANNOTATE,
         r->annotated && r->verdict ? NULL : "no ONNX model is written with the plan"}};
    int n;
    const struct cli_option *o = cli_options(&n);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int k = 0; k < n && c->n[t[i].id] && t[i].why; k++)
            if (o[k].id == t[i].id)
                diag_warning(x->diag, WARN_UNUSED_OPTION, "--%s has no effect: %s", o[k].name,
                             t[i].why);
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
    struct verdict v;
    struct closed_plan closed = {0};
    struct result planned, r = {.scene = x->scene, .plan = x->plan, .diag = x->diag};
    const char *out = c->value[CLI_OUTPUT];
    const char **names = arena_array(x->mem, x->ndims + 1, sizeof *names);
    int64_t *values = arena_array(x->mem, x->ndims + 1, sizeof *values);
    for (uint32_t i = 0; i < x->ndims; i++) {
        names[i] = x->dims[i].name;
        values[i] = x->dims[i].value;
    }
    r.annotated = out && (output_is_folder(out) || str_ends(out, ".onnx"));
    r.ir11 = c->value[CLI_ANNOTATE] && !strcmp(c->value[CLI_ANNOTATE], "ir11");
    r.weights = weights_of(c);
    r.dim_name = names;
    r.dim_value = values;
    r.ndims = x->ndims;
    r.samples = replay_samples(c, x->diag);
    if (read_pictures(c, &r, x->diag) || judge_plan(c, x, &r, &v))
        return -1;
    close_calls(x, &r, &planned, &closed);
    onnx_remake(r.scene.m);
    warn_unused(c, x, &r);
    if (output_warned(x->diag))
        return -1;
    if (r.verdict && c->value[CLI_REPLAY] && replay_check(&r))
        return -1;
    bool quiet = c->value[CLI_QUIET] || c->n[CLI_EMIT];
    const char *table = NULL;
    if (r.verdict && !c->value[CLI_QUIET])
        r.assumed = assumed_text(c, x, brought);
    if (r.assumed && quiet)
        diag_note(x->diag, "assuming %s", r.assumed);
    if (r.verdict && !quiet && !(table = table_text(&r, out, x->mem)))
        return -1;
    if (emit_all(c, &r, x->diag))
        return -1;
    if (out && write_output(&r, out))
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
    return quiet ? 0 : output_warned(x->diag);
}

static int check_annotate(const struct cli *c, struct diag *d)
{
    const char *s = c->value[CLI_ANNOTATE];
    if (s && strcmp(s, "metadata") && strcmp(s, "ir11"))
        return diag_error(d, "--annotate '%s': expected metadata or ir11", s);
    return 0;
}

/* --weights: where the weights of a split go. */
static int check_weights(const struct cli *c, struct diag *d)
{
    const char *s = c->value[CLI_WEIGHTS], *out = c->value[CLI_OUTPUT];
    if (s && weights_mode_named(s) == WEIGHTS_MODES)
        return diag_error(d, "--weights '%s': expected shared, inline, original or link", s);
    if (s && (!out || !output_is_folder(out)))
        return diag_error(d, "--weights=%s: is for a split: give its folder with -o", s);
    return 0;
}

int output_check(const struct cli *c, struct diag *d)
{
    return check_output(c, d) || check_annotate(c, d) || check_weights(c, d) ||
                   emit_all(c, NULL, d) || replay_samples(c, d) < 0 || read_pictures(c, NULL, d)
               ? -1
               : 0;
}
