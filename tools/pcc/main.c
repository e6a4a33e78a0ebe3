/* pcc: reads a model, runs a pipeline of passes, writes what was asked for. */
#include "backends/backends.h"
#include "backends/cut.h"
#include "baselines.h"
#include "cli.h"
#include "compare.h"
#include "docs.h"
#include "frontends/frontends.h"
#include "ir/infile.h"
#include "ir/nearest.h"
#include "ir/strings.h"
#include "passes/infer_shapes.h"
#include "passes/libraries.h"
#include "passes/pipeline.h"
#include "repro.h"

#include <errno.h>
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_INFEASIBLE = 3, EXIT_UNVERIFIED = 4 };

/* The one thing that must be global: a signal handler has no argument. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
    (void)sig;
    if (interrupted)
        _exit(130);
    interrupted = 1;
}

struct sink {
    bool quiet, json;
    const struct diag *d; /* whose it is: which warnings fail the run */
};

/* {"level": ..., "message": ...} on a line of its own, and the "name" of a warning.  Names from files may
 * be no UTF-8: bytes above 127 are then shown as \xNN, as control characters are. */
static void emit_json(const char *level, const char *name, const char *line)
{
    char *plain = malloc(4 * strlen(line) + 1), *to = plain;
    json_t *o = json_pack("{s:s, s:s}", "level", level, "message", line);
    if (!o && plain) {
        for (const char *s = line; *s; s++)
            if ((unsigned char)*s < 0x80)
                *to++ = *s;
            else
                to += snprintf(to, 5, "\\x%02x", (unsigned char)*s);
        *to = 0;
        o = json_pack("{s:s, s:s}", "level", level, "message", plain);
    }
    if (o && name)
        json_object_set_new(o, "name", json_string(name));
    if (o && json_dumpf(o, stderr, JSON_COMPACT) == 0)
        fputc('\n', stderr);
    else
        fprintf(stderr, "pcc: %s: %s\n", level, line); /* no memory: better so than not at all */
    json_decref(o);
    free(plain);
}

/* Diagnostics to stderr, warnings with their names; notes are left out when quiet. */
static void emit_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    static const char *const word[] = {"note", "warning", "error"};
    const struct sink *sink = user;
    if (level == DIAG_NOTE && sink->quiet)
        return;
    if (sink->json)
        emit_json(word[level], warning_text(w).name, line);
    else if (w)
        fprintf(stderr, "pcc: %s: %s [-W%s%s]\n", word[level], line,
                sink->d->fatal[w] ? "error=" : "", warning_text(w).name);
    else
        fprintf(stderr, "pcc: %s: %s\n", word[level], line);
}

/* ---- the run's settings ----------------------------------------------------------------------- */

/* "NAME=N" or several, comma-separated. */
static int read_dims(const struct cli *c, struct ctx *x)
{
    for (uint32_t i = 0; i < c->n[CLI_DIM]; i++)
        for (const char *s = c->list[CLI_DIM][i]; *s;) {
            size_t n = strcspn(s, ",");
            char *name = arena_strdup(x->mem, s, n), *eq = strrchr(name, '=');
            int64_t value;
            if (!eq || eq == name || !count_parse(eq + 1, &value) || value < 1)
                return diag_error(x->diag, "--dim '%s': expected NAME=N with N >= 1", name);
            *eq = 0;
            x->dims = vec_grow(x->mem, x->dims, &x->capdims, x->ndims + 1, sizeof *x->dims);
            x->dims[x->ndims++] = (struct dim_binding){name, value, false};
            s += n + (s[n] == ',');
        }
    return 0;
}

static int add_pin(struct ctx *x, struct pin *pins, const char *text)
{
    char *pattern = arena_strdup(x->mem, text, strlen(text)), *eq = strrchr(pattern, '=');
    if (!eq || eq == pattern || !eq[1])
        return diag_error(x->diag, "--pin '%s': expected REGEX=DEVICE", text);
    *eq = 0;
    pins[x->npins++] = (struct pin){pattern, eq + 1};
    return 0;
}

/* 'regex=device', or @FILE with one of them per line.  0, or the exit code. */
static int read_pins(const struct cli *c, struct ctx *x)
{
    struct pin *pins = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < c->n[CLI_PIN]; i++) {
        const char *s = c->list[CLI_PIN][i];
        size_t len = strlen(s);
        char *text = arena_strdup(x->mem, s, len), *save = NULL;
        if (*s == '@' && !(text = infile_read(s + 1, x->mem, &len, x->diag)))
            return EXIT_INPUT;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            if (*s == '@' && (*line == '#' || !line[strspn(line, " \t\r")]))
                continue;
            line[strcspn(line, "\r")] = 0;
            pins = vec_grow(x->mem, pins, &cap, x->npins + 1, sizeof *pins);
            if (add_pin(x, pins, line))
                return *s == '@' ? EXIT_INPUT : EXIT_USAGE;
        }
    }
    x->pins = pins;
    return 0;
}

static int read_pairs(const struct cli *c, struct ctx *x)
{
    struct state_pair *pairs = arena_array(x->mem, c->n[CLI_STATE] + 1, sizeof *pairs);
    for (uint32_t i = 0; i < c->n[CLI_STATE]; i++) {
        const char *s = c->list[CLI_STATE][i], *eq = strchr(s, '=');
        if (!eq || eq == s || !eq[1])
            return diag_error(x->diag, "--state '%s': expected INPUT=OUTPUT", s);
        pairs[x->npairs++] = (struct state_pair){arena_strdup(x->mem, s, (size_t)(eq - s)), eq + 1};
    }
    x->pairs = pairs;
    return 0;
}

static int read_limits(const struct cli *c, struct ctx *x)
{
    const char *t = c->value[CLI_TIME_LIMIT], *s = c->value[CLI_MAX_STATES];
    if (t && !time_parse(t, &x->time_limit))
        return diag_error(x->diag, "--time-limit '%s': expected a time such as 30s", t);
    if (s && (!count_parse(s, &x->max_states) || x->max_states < 1))
        return diag_error(x->diag, "--max-states '%s': expected a number >= 1", s);
    return 0;
}

/* The place of an option's value among names; the option's default if it is not given; -1, an error. */
static int read_choice(const struct cli *c, enum cli_id id, const char *option,
                       const char *const *names, int def, struct diag *d)
{
    const char *text = c->value[id];
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(text, names[i]))
            return i;
    if (!text)
        return def;
    return diag_error(d, "%s '%s': expected %s, %s%s%s", option, text, names[0], names[1],
                      names[2] ? ", " : "", names[2] ? names[2] : "");
}

/* The cluster of -d; `own` came with the input (a workload), if not NULL.  0, or the exit code. */
static int read_devices(const struct cli *c, struct ctx *x, struct cluster *own)
{
    const char *text = c->value[CLI_DEVICES];
    if (own && (text || c->value[CLI_LINK])) {
        diag_error(x->diag, "%s brings its own devices: -d and --link do not apply", c->input);
        return EXIT_USAGE;
    }
    x->cluster = own ? own : arena_alloc(x->mem, sizeof *x->cluster);
    if (text && cluster_parse(x->cluster, x->mem, text, x->diag))
        return str_ends(text, ".json") ? EXIT_INPUT : EXIT_USAGE;
    if (!own && !text) {
        cluster_default(x->cluster);
        diag_note(x->diag, "no -d: planning for 2xa100");
    }
    return 0;
}

/* What other options say of it. */
static int read_cluster(const struct cli *c, struct ctx *x)
{
    const char *io = c->value[CLI_IO], *eff = c->value[CLI_EFFICIENCY];
    if (c->value[CLI_LINK] && cluster_set_link(x->cluster, c->value[CLI_LINK], x->diag))
        return -1;
    if (c->value[CLI_GROUP] && cluster_set_groups(x->cluster, c->value[CLI_GROUP], x->diag))
        return -1;
    if (io && strcmp(io, "free") && strcmp(io, "paid"))
        return diag_error(x->diag, "--io '%s': expected paid or free", io);
    x->cluster->io_free = io && !strcmp(io, "free");
    int overlap =
        read_choice(c, CLI_OVERLAP, "--overlap", overlap_name, (int)x->cluster->overlap, x->diag);
    int schedule = read_choice(c, CLI_SCHEDULE, "--schedule", schedule_name,
                               (int)x->cluster->schedule, x->diag);
    if (overlap < 0 || schedule < 0)
        return -1;
    x->cluster->overlap = (enum overlap)overlap;
    x->cluster->schedule = (enum schedule)schedule;
    x->cluster->replicate = x->cluster->replicate || c->value[CLI_REPLICATE];
    const char *sync = c->value[CLI_SYNC];
    if (sync && (!rate_parse(sync, &x->cluster->sync_bandwidth) || x->cluster->sync_bandwidth < 1))
        return diag_error(x->diag, "--sync '%s': expected a rate such as 25GB/s", sync);
    if (eff && !share_parse(eff, &x->cluster->efficiency))
        return diag_error(x->diag, "--efficiency '%s': expected a share in 0.000001..1", eff);
    return 0;
}

/* ---- input ------------------------------------------------------------------------------------ */

/* --transfer-scale: what the transfers of a workload are multiplied by; 0 and an error. */
static double transfer_scale(const struct cli *c, struct diag *d)
{
    const char *text = c->value[CLI_TRANSFER_SCALE];
    char *end;
    double x = text ? strtod(text, &end) : 1;
    if (text && (end == text || *end || !(x >= 1e-6 && x <= 1e6))) {
        diag_error(d, "--transfer-scale '%s': expected a number from 0.000001 to 1000000", text);
        return 0;
    }
    if (text && input_kind_of(c->input) != INPUT_WORKLOAD) {
        diag_error(d, "%s: --transfer-scale is for workloads; for a model give --link", c->input);
        return 0;
    }
    return x;
}

static struct module *read_input(const struct cli *c, struct cluster **own, struct plan **plan,
                                 struct diag *d)
{
    struct onnx_options o = {.allow_links = c->value[CLI_ALLOW_LINKS] != NULL};
    struct text_module t = {0};
    struct arena *a;
    char *text;
    size_t n;
    double scale = transfer_scale(c, d);
    if (scale <= 0)
        return NULL;
    switch (input_kind_of(c->input)) {
    case INPUT_WORKLOAD:
        return workload_read(c->input, scale, own, d);
    case INPUT_ONNX:
        return onnx_read(c->input, &o, d);
    case INPUT_TEXT:
        a = arena_new();
        text = infile_read(c->input, a, &n, d);
        if (text && module_parse(&t, text, n, c->input, d) == 0 && module_verify(t.m, d)) {
            arena_free(t.m->mem);
            t = (struct text_module){0};
        }
        *own = t.cluster;
        *plan = t.plan;
        arena_free(a);
        return t.m;
    }
    return NULL;
}

/* For annotations only: the weights do not matter. */
static struct module *read_model(const char *path, struct diag *d)
{
    struct onnx_options o = {0};
    return onnx_read(path, &o, d);
}

/* ---- output ----------------------------------------------------------------------------------- */

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

static bool is_folder(const char *path)
{
    return kind_of(path) == NULL;
}

static int emit(const struct result *r, const char *kind, const char *path)
{
    if (!strcmp(kind, "csv"))
        return csv_write(r->m, r->cluster, path, r->diag);
    if (!strcmp(kind, "ir"))
        return ir_write(r, path);
    if (!strcmp(kind, "onnx"))
        return r->verdict ? annotated_write(r, path)
               : r->ir11 ? diag_error(r->diag, "--annotate=ir11: -o %s needs a planner in -p", path)
                         : onnx_write(r->m, path, r->diag);
    if (!r->verdict)
        return diag_error(r->diag, "'%s' shows a plan: give a planner, such as -p dp-place", kind);
    if (picture_format(kind, strlen(kind)))
        return picture_write(r, picture_format(kind, strlen(kind)), path);
    if (!strcmp(kind, "dot"))
        return dot_write(r, r->view, MOST_BOXES, path);
    if (!strcmp(kind, "gantt"))
        return gantt_write(r, path);
    if (!strcmp(kind, "trace"))
        return trace_write(r, path);
    return r->m->ir_version ? plan_json_write(r, path) : paper_split_write(r, path);
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
                          "--replay: there is no plan: give a planner, such as -p dp-place");
    return replay_print(c->n[CLI_EMIT] ? stderr : stdout, r);
}

/* The judge's figures of the plan, NULL if there is none.  A plan may have come with the input: then
 * nobody has checked it yet, and one that does not hold is good for nothing but textual IR. */
static int judge_plan(const struct cli *c, struct ctx *x, struct result *r, struct verdict *v)
{
    if (!x->plan || !x->m->cost || !x->cluster)
        return 0;
    if (ctx_base(x))
        return -1;
    *v = judge_copies(x->m, x->place, x->cluster, x->plan->dev, x->plan->copies, x->mem);
    bool fits = v->fits || x->plan->status == PLAN_OVER_MEMORY;
    if (!v->runnable || !v->colocated || !fits) {
        diag_warning(x->diag, WARN_INVALID_PLAN, "%s: its plan does not hold: %s", c->input,
                     v->why_not);
        return 0;
    }
    r->verdict = v;
    r->place = x->place;
    r->cut = cut_build(x->m, x->place, x->cluster, x->plan->dev, x->mem);
    return 0;
}

/* -Werror: were there warnings that fail the run? */
static int warned(struct diag *d)
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
                          "such as -p dp-place",
                          from);
    return compare_print(c->n[CLI_EMIT] ? stderr : stdout, x, r, from);
}

/* --baselines: on stdout, or stderr if that is taken. */
static int baselines(const struct cli *c, struct ctx *x, const struct result *r)
{
    if (!r->verdict)
        return diag_error(x->diag, "--baselines: there is no plan to hold them against: give a "
                                   "planner, such as -p dp-place");
    return baselines_print(c->n[CLI_EMIT] ? stderr : stdout, x, r);
}

/* --explain-bound: on stdout, or stderr if that is taken. */
static int explain(const struct cli *c, const struct result *r)
{
    FILE *f = c->n[CLI_EMIT] ? stderr : stdout;
    char text[UNIT_TEXT];
    if (!r->verdict)
        return diag_error(r->diag, "--explain-bound: there is no plan: give a planner, such as "
                                   "-p dp-place");
    if (r->plan->bound < 0 || !r->plan->proof)
        fputs("no bound is known\n", f);
    else
        fprintf(f, "why no plan takes less than %s:\n%s", time_short(text, r->plan->bound),
                r->plan->proof);
    return 0;
}

static bool is_training(const struct module *m)
{
    for (nid n = 1; m->backward && n < m->nnode; n++)
        if (m->backward[n])
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
    bool training = is_training(x->m), copies = x->cluster && x->cluster->replicate;
    bool drawn = emits(c, "dot") || (kind && (!strcmp(kind, "dot") || picture_format(kind, 3)));
    const struct {
        enum cli_id id;
        const char *why; /* NULL: it is of use */
    } t[] = {
        {CLI_OVERLAP, no_plan},
        {CLI_REPLICATE, no_plan},
        {CLI_TIME_LIMIT, no_plan},
        {CLI_MAX_STATES, no_plan},
        {CLI_SCHEDULE, no_plan    ? no_plan
                       : training ? NULL
                                  : "the model has no backward pass"},
        {CLI_SYNC, no_plan    ? no_plan
                   : !copies  ? "it is the rate between copies: give --replicate, too"
                   : training ? NULL
                              : "the model has no backward pass, its copies exchange nothing"},
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

static int write_all(const struct cli *c, struct ctx *x)
{
    struct verdict v;
    struct result r = {.m = x->m, .cluster = x->cluster, .plan = x->plan, .diag = x->diag};
    const char *out = c->value[CLI_OUTPUT];
    const char **names = arena_array(x->mem, x->ndims + 1, sizeof *names);
    int64_t *values = arena_array(x->mem, x->ndims + 1, sizeof *values);
    for (uint32_t i = 0; i < x->ndims; i++) {
        names[i] = x->dims[i].name;
        values[i] = x->dims[i].value;
    }
    r.annotated = out && (is_folder(out) || str_ends(out, ".onnx"));
    r.ir11 = c->value[CLI_ANNOTATE] && !strcmp(c->value[CLI_ANNOTATE], "ir11");
    if (c->value[CLI_WEIGHTS])
        r.weights = weights_mode_named(c->value[CLI_WEIGHTS]);
    r.dim_name = names;
    r.dim_value = values;
    r.ndims = x->ndims;
    r.samples = replay_samples(c, x->diag);
    if (read_pictures(c, &r, x->diag) || judge_plan(c, x, &r, &v))
        return -1;
    warn_unused(c, x, &r);
    if (warned(x->diag))
        return -1;
    if (r.verdict && c->value[CLI_REPLAY] && replay_check(&r))
        return -1;
    if (emit_all(c, &r, x->diag))
        return -1;
    if (out && write_output(&r, out))
        return -1;
    if (c->value[CLI_COMPARE] && compare(c, x, &r))
        return -1;
    bool quiet = c->value[CLI_QUIET] || c->n[CLI_EMIT];
    if (!quiet && r.verdict)
        plan_print(stdout, &r, out && is_folder(out) ? out : NULL);
    else if (!quiet && !out && x->m->cost)
        summary_print(stdout, x->m);
    if (c->value[CLI_BASELINES] && baselines(c, x, &r))
        return -1;
    if (c->value[CLI_EXPLAIN_BOUND] && explain(c, &r))
        return -1;
    if (c->value[CLI_REPLAY] && replay(c, &r))
        return -1;
    return quiet ? 0 : warned(x->diag);
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Cuts the pipeline after the first pass of that name. */
static int stop_after(const char *name, struct pipeline *p, struct diag *d)
{
    for (uint32_t i = 0; name && i < p->n; i++)
        if (!strcmp(p->step[i].pass->name, name)) {
            p->n = i + 1;
            return 0;
        }
    return name ? diag_error(d, "--stop-after=%s: the pass does not run (see --print-pipeline)",
                             name)
                : 0;
}

static const char *pass_hint(const char *name, struct arena *a)
{
    struct nearest t = nearest_to(name, strlen(name));
    for (const struct pass *const *p = pass_table; *p; p++)
        nearest_try(&t, (*p)->name);
    return nearest_hint(&t, a);
}

static bool has_pass(const struct pipeline *p, const char *name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (!strcmp(p->step[i].pass->name, name))
            return true;
    return false;
}

/* 0, or the exit code. */
static int make_pipeline(const struct cli *c, struct ctx *x, struct pipeline *p)
{
    const char *text = c->value[CLI_PASSES], *out = c->value[CLI_OUTPUT];
    bool in_file = text && *text == '@';
    size_t n;
    if (in_file && !(text = infile_read(text + 1, x->mem, &n, x->diag)))
        return EXIT_INPUT;
    if (!text && out && is_folder(out))
        text = c->value[CLI_GROUP] ? "fuse,hier-place" : "fuse,auto-place";
    else if (!text && (!out || str_ends(out, ".csv") || c->n[CLI_EMIT]))
        text = "cost";
    if (text && pipeline_parse(p, text, x->mem, x->diag))
        return in_file ? EXIT_INPUT : EXIT_USAGE;
    pipeline_complete(p, x->mem);
    bool costs = out || c->n[CLI_EMIT] || has_pass(p, "cost"); /* the summary shows costs */
    if (!costs && pipeline_parse(p, "cost", x->mem, x->diag))
        return EXIT_USAGE;
    pipeline_complete(p, x->mem);
    if (c->value[CLI_KEEP_BLOCKS] && !has_pass(p, "contract")) {
        diag_error(x->diag,
                   "--keep-blocks: nothing is placed: give a planner, such as -p dp-place");
        return EXIT_USAGE;
    }
    return stop_after(c->value[CLI_STOP_AFTER], p, x->diag) ? EXIT_USAGE : 0;
}

/* Passes that options name; their values and that of --diag. */
static int check_names(const struct cli *c, struct arena *a, struct diag *d)
{
    static const enum cli_id ids[] = {CLI_PRINT_BEFORE, CLI_PRINT_AFTER, CLI_STOP_AFTER};
    static const char *const names[] = {"print-ir-before", "print-ir-after", "stop-after"};
    for (int i = 0; i < 3; i++) {
        const char *s = c->value[ids[i]];
        if (s && !pass_find(s))
            return diag_error(d, "--%s=%s: there is no such pass%s (see --list-passes)", names[i],
                              s, pass_hint(s, a));
    }
    if (c->value[CLI_DIAG] && strcmp(c->value[CLI_DIAG], "json") &&
        strcmp(c->value[CLI_DIAG], "text"))
        return diag_error(d, "--diag '%s': expected text or json", c->value[CLI_DIAG]);
    return 0;
}

/* After an internal failure at a step: the input is read again and led up to that step, silently. */
static void reproduce(const struct cli *c, const struct ctx *x, const struct pipeline *p,
                      uint32_t at)
{
    struct ctx y = *x;
    struct diag silent = {.emit = repro_silence};
    struct cluster *own = NULL;
    y.diag = &silent;
    y.place = NULL;
    y.base = y.whole = y.top = NULL;
    y.plan = NULL;
    y.grouped = false;
    for (y.ndims = 0; y.ndims < x->ndims && !x->dims[y.ndims].guessed;)
        y.ndims++;
    y.capdims = y.ndims; /* what is guessed again goes elsewhere */
    y.m = read_input(c, &own, &y.plan, &silent);
    if (!y.m)
        return;
    if (repro_write(&y, p, at, c->value[CLI_VERIFY_EACH] != NULL, x->diag) == 0)
        diag_warning(x->diag, WARN_REPRODUCER,
                     "this is a fault of pcc: " REPRO_FILE " shows it again (pcc " REPRO_FILE ")");
    arena_free(y.m->mem);
}

/* Hands on errors only. */
static void emit_errors(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    if (level == DIAG_ERROR)
        diag_error(user, "%s", line);
}

/* --check-annotations: shapes are inferred as far as they can be, then every finding is shown. */
static int check_only(const struct cli *c, struct ctx *x)
{
    struct cluster *own = NULL;
    struct pipeline p = {0};
    struct run_options o = {0};
    struct diag *d = x->diag, soft = {.emit = emit_errors, .user = d};
    if (c->value[CLI_OUTPUT] || c->value[CLI_PASSES] || c->n[CLI_EMIT]) {
        diag_error(x->diag, "--check-annotations writes nothing: -p, -o and --emit do not apply");
        return EXIT_USAGE;
    }
    if (read_dims(c, x) || pipeline_parse(&p, "infer-shapes", x->mem, x->diag))
        return EXIT_USAGE;
    if (!(x->m = read_input(c, &own, &x->plan, x->diag)))
        return EXIT_INPUT;
    x->diag = &soft; /* what sizes to plan for does not matter here */
    int rc = pipeline_run(&p, x, &o);
    x->diag = d;
    d->limit = UINT32_MAX;
    return check_annotations(x->m, d) || rc || warned(d) ? EXIT_INPUT : 0;
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
        return diag_error(d, "--weights '%s': expected shared, inline or original", s);
    if (s && (!out || !is_folder(out)))
        return diag_error(d, "--weights=%s: is for a split: give its folder with -o", s);
    return 0;
}

static int run(const struct cli *c, struct ctx *x)
{
    struct cluster *own = NULL;
    struct pipeline p = {0};
    uint32_t at = 0;
    struct run_options o = {.print_before = c->value[CLI_PRINT_BEFORE],
                            .at = &at,
                            .print_after =
                                c->value[CLI_PRINT_AFTER_ALL] ? "*" : c->value[CLI_PRINT_AFTER],
                            .verify_each = c->value[CLI_VERIFY_EACH] != NULL,
                            .time_passes = c->value[CLI_TIME_PASSES] != NULL};
    for (uint32_t i = 0; i < c->n[CLI_WARNINGS]; i++)
        if (warning_switch(x->diag, c->list[CLI_WARNINGS][i], x->mem))
            return EXIT_USAGE;
    if (c->value[CLI_CHECK_ANNOTATIONS])
        return check_only(c, x);
    if (check_output(c, x->diag) || check_annotate(c, x->diag) || check_weights(c, x->diag) ||
        check_names(c, x->mem, x->diag) || read_dims(c, x) || read_pairs(c, x) ||
        read_limits(c, x) || emit_all(c, NULL, x->diag) || replay_samples(c, x->diag) < 0 ||
        read_pictures(c, NULL, x->diag))
        return EXIT_USAGE;
    int rc = read_pins(c, x);
    if (rc || (rc = make_pipeline(c, x, &p)))
        return rc;
    x->cost_files = c->list[CLI_COSTS];
    x->ncost_files = c->n[CLI_COSTS];
    x->keep_blocks = c->value[CLI_KEEP_BLOCKS] != NULL;
    if (c->value[CLI_PRINT_PIPELINE])
        fprintf(stderr, "%s\n", pipeline_text(&p, x->mem));
    if (!(x->m = read_input(c, &own, &x->plan, x->diag)))
        return EXIT_INPUT;
    if (p.n || c->value[CLI_DEVICES]) {
        if ((rc = read_devices(c, x, own)))
            return rc;
        if (read_cluster(c, x))
            return EXIT_USAGE;
    } else {
        x->cluster = own;
    }
    rc = pipeline_run(&p, x, &o);
    if (rc == PASS_INFEASIBLE)
        return EXIT_INFEASIBLE;
    if (rc == PASS_UNVERIFIED) {
        if (!c->replay)
            reproduce(c, x, &p, at);
        return EXIT_UNVERIFIED;
    }
    if (rc)
        return EXIT_INPUT;
    onnx_remake(x->m);
    return write_all(c, x) ? EXIT_INPUT : 0;
}

static void print_version(struct arena *a)
{
    puts("pcc " PCC_VERSION);
    printf("protobuf-c %s, jansson %s, cgraph %s\n", protobuf_c_version(), jansson_version_str(),
           PCC_CGRAPH_VERSION);
    puts(planner_libraries(a));
    puts("the dot program (graphviz) draws pictures when it is on the path");
}

static int inform(const struct cli *c, struct arena *a, struct diag *d)
{
    if (c->value[CLI_HELP])
        cli_help(stdout);
    else if (c->value[CLI_VERSION])
        print_version(a);
    else if (c->value[CLI_LIST_PASSES]) {
        for (const struct pass *const *p = pass_table; *p; p++)
            printf("%-14s %s\n", (*p)->name, (*p)->help);
    } else if (c->value[CLI_LIST_OPS]) {
        list_shape_rules(stdout);
    } else if (c->value[CLI_HELP_PASS]) {
        const struct pass *p = pass_find(c->value[CLI_HELP_PASS]);
        if (!p) {
            diag_error(d, "there is no pass '%s'%s (see --list-passes)", c->value[CLI_HELP_PASS],
                       pass_hint(c->value[CLI_HELP_PASS], a));
            return EXIT_USAGE;
        }
        pass_help(stdout, p);
    } else if (c->value[CLI_HELP_MAN]) {
        docs_man(stdout, PCC_VERSION);
    } else if (c->value[CLI_HELP_COMPLETION]) {
        return docs_completion(stdout, c->value[CLI_HELP_COMPLETION], d) ? EXIT_USAGE : 0;
    } else if (!c->input) {
        diag_error(d, "no model given (see --help)");
        return EXIT_USAGE;
    } else {
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct sink sink = {0};
    struct diag d = {.emit = emit_line, .user = &sink};
    sink.d = &d;
    struct arena *mem = arena_new(), *scratch = arena_new();
    struct cli c = {0};
    struct sigaction sa = {.sa_handler = on_interrupt};
    for (int i = 1; i < argc; i++) /* mistakes on the command line shall have the form, too */
        sink.json = sink.json || !strcmp(argv[i], "--diag=json") ||
                    (!strcmp(argv[i], "json") && !strcmp(argv[i - 1], "--diag"));
    int rc = cli_parse(&c, argc, argv, mem, &d) ? EXIT_USAGE : inform(&c, mem, &d);
    if (rc == -1 && repro_options(&c, mem, &d))
        rc = EXIT_USAGE;
    if (rc == -1) {
        struct ctx x = {.mem = mem,
                        .scratch = scratch,
                        .diag = &d,
                        .stop = &interrupted,
                        .shapes_unknown = -1,
                        .read_model = read_model};
        sink.quiet = c.value[CLI_QUIET] != NULL;
        x.progress = !sink.quiet && isatty(STDERR_FILENO);
        sigaction(SIGINT, &sa, NULL);
        rc = run(&c, &x);
        if (x.m)
            arena_free(x.m->mem);
    }
    if (fflush(stdout) || ferror(stdout)) {
        diag_error(&d, "stdout: %s", strerror(errno));
        rc = rc ? rc : EXIT_INPUT;
    }
    arena_free(scratch);
    arena_free(mem);
    return rc;
}
