/* The program pcc: reads a model, runs a pipeline of passes on it, and writes the outputs that options name. */
#include "backends/backends.h"
#include "check_schedule.h"
#include "cli.h"
#include "docs.h"
#include "frontends/frontends.h"
#include "ir/base/warning_switch.h"
#include "ir/base/infile.h"
#include "ir/base/page.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "ir/base/nearest.h"
#include "ir/base/signal_flag.h"
#include "ir/cluster/detect/detect.h"
#include "ir/cluster/presets.h"
#include "passes/shapes/infer_shapes.h"
#include "passes/libraries.h"
#include "passes/pipeline.h"
#include "output.h"
#include "progress_bar.h"
#include "repro.h"
#include "stderr_lines.h"
#include "tools/lib/exec/kinds.h"
#include "tools/lib/recompose/recompose.h"
#include "tools/lib/settings.h"
#include "tools/lib/write.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <protobuf-c/protobuf-c.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Global because the signal handler, which has no argument of its own, reads and sets them.  at_work: the handle of
 * the run.  interrupted: Ctrl-C was pressed.  printing: planning is over and no file is being written. */
static struct pcc *at_work;
static signal_flag interrupted, printing;

enum { EXIT_INTERRUPTED = 130 }; /* exit code after Ctrl-C, as shells give it */

/* Handles Ctrl-C: ends the running work in order; the second time, or while text is printed, ends the program at
 * once. */
static void on_interrupt(int sig)
{
    (void)sig;
    if (interrupted || printing)
        _exit(EXIT_INTERRUPTED);
    interrupted = 1;
    pcc_stop(at_work);
}

/* How messages are shown on stderr; the user of the listener. */
struct sink {
    bool quiet, json, colored; /* quiet: no notes; json: one JSON object for each message */
    unsigned columns; /* width of the terminal, where messages are broken; 0: not a terminal */
    struct progress_bar *bar;
    const struct diag *d; /* tells which warnings fail the run */
};

/* Whether the warning with this name fails the run (-Werror). */
static bool fails_run(const struct diag *d, const char *warning)
{
    for (int w = WARN_NONE + 1; w < WARN_COUNT; w++)
        if (!strcmp(warning_text((enum warning)w).name, warning))
            return d->fatal[w];
    return false;
}

/* Writes a message, broken at the width of the terminal.  name: of a warning, written behind it as [-WNAME]; NULL for
 * other messages.  at: columns that the line has already. */
static void emit_words(const struct sink *sink, const char *line, const char *name, unsigned at)
{
    const char *fatal = name && fails_run(sink->d, name) ? "error=" : "";
    size_t room = strlen(line) + (name ? strlen(name) : 0) + 32;
    char *text = malloc(room); /* NULL: the line is written without the name */
    if (text && name)
        snprintf(text, room, "%s [-W%s%s]", line, fatal, name);
    page_words_in(stderr, text && name ? text : line, at, /*indent=*/2,
                  sink->columns ? sink->columns : UINT_MAX);
    free(text);
}

/* pcc_listener.message: writes a message to stderr in the form that the sink says. */
static void emit_line(void *user, enum pcc_level level, const char *name, const char *line)
{
    static const char *const word[] = {"note", "warning", "error"};
    static const char *const color[] = {PAGE_PLAIN, PAGE_YELLOW, PAGE_RED};
    const struct sink *sink = user;
    if (level == PCC_NOTE && sink->quiet)
        return;
    progress_erase(sink->bar);
    if (sink->json)
        stderr_json(word[level], name, line);
    else {
        fprintf(stderr, "pcc: %s%s%s: ", sink->colored ? color[level] : "", word[level],
                sink->colored ? PAGE_PLAIN : "");
        /* 7: the columns of "pcc: " and ": " */
        emit_words(sink, line, name, (unsigned)strlen(word[level]) + 7);
    }
}

/* pcc_listener.progress: shows the progress; returns 0, since only signals end the work. */
static int draw_progress(void *user, const struct pcc_progress *at)
{
    const struct sink *sink = user;
    progress_draw(sink->bar, at);
    return 0;
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* --stop-after: cuts the pipeline after the first pass of that name (NULL: not at all).  Returns 0; or, if it has no
 * such pass, reports an error and returns -1. */
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

/* Returns a hint for an unknown pass, in a: "; did you mean 'fuse'?", or "". */
static const char *pass_hint(const char *name, struct arena *a)
{
    struct nearest t = nearest_to(name, strlen(name));
    const struct pass *p;
    for (uint32_t i = 0; (p = pass_at(exec_kinds, i)); i++)
        nearest_try(&t, p->name);
    return nearest_hint(&t, a);
}

/* Whether the pipeline has the pass. */
static bool has_pass(const struct pipeline *p, const char *name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (!strcmp(p->step[i].pass->name, name))
            return true;
    return false;
}

/* Whether to plan although -p is missing.  brought: the input contains a plan.  Always if -o names a folder; else never
 * if the input brings a plan and --objective is missing.  Else, without -o and --emit, if --objective or -d is given;
 * with one of them, if an output needs a plan, or if one takes a plan and -o, --objective or -d is given. */
static bool wants_plan(const struct cli *c, bool brought)
{
    const char *out = c->value[CLI_OUTPUT], *goal = cli_value(c, "objective");
    bool named = goal || cli_value(c, "devices");
    if (out && write_is_folder(out))
        return true;
    if (brought && !goal)
        return false;
    if (!out && !c->n[CLI_EMIT])
        return named;
    return output_needs(c, WRITER_NEEDS_PLAN) ||
           ((named || out) && output_needs(c, WRITER_TAKES_PLAN));
}

/* Makes the pipeline *p of the run: from -p; else the default pipeline if a plan is wanted; else the pass cost, unless
 * the output of -o needs nothing and --emit is missing.  Adds the passes levels and cost where an output or the summary
 * of the model needs them, and passes that these need; ends it as --stop-after says.  Returns 0; or reports an error
 * and returns the exit code. */
static int make_pipeline(const struct cli *c, struct pcc *h, struct pipeline *p)
{
    struct ctx *x = &h->x;
    const char *text = c->value[CLI_PASSES], *out = c->value[CLI_OUTPUT];
    bool in_file = text && *text == '@';
    size_t n;
    *p = (struct pipeline){.kinds = exec_kinds};
    if (in_file)
        text = infile_read_list(text + 1, x->use.mem, &n, x->use.diag);
    if (in_file && !text)
        return EXIT_INPUT;
    if (!text && wants_plan(c, h->x.results.plan != NULL))
        text = default_pipeline(h);
    else if (!text && (!out || writer_of(out)->needs != WRITER_NEEDS_NOTHING || c->n[CLI_EMIT]))
        text = "cost";
    if (text && pipeline_parse(p, text, x->use.mem, x->use.diag))
        return in_file ? EXIT_INPUT : EXIT_USAGE;
    if (output_needs(c, WRITER_NEEDS_LEVELS) && !has_pass(p, "levels") &&
        pipeline_parse(p, "levels", x->use.mem, x->use.diag))
        return EXIT_USAGE;
    pipeline_complete(p, x->use.mem);
    /* without outputs the summary of the model may be shown, which needs costs */
    bool costs = out || c->n[CLI_EMIT] || has_pass(p, "cost");
    if (!costs && pipeline_parse(p, "cost", x->use.mem, x->use.diag))
        return EXIT_USAGE;
    pipeline_complete(p, x->use.mem);
    if (cli_value(c, "keep-blocks") && !has_pass(p, "contract")) {
        diag_error(x->use.diag,
                   "--keep-blocks: nothing is placed: give a planner, such as -p auto-place");
        return EXIT_USAGE;
    }
    return stop_after(c->value[CLI_STOP_AFTER], p, x->use.diag) ? EXIT_USAGE : 0;
}

/* Checks the names of passes in options such as --print-ir-after.  Returns 0; or reports an error and returns -1. */
static int check_names(const struct cli *c, struct arena *a, struct diag *d)
{
    static const enum cli_id ids[] = {CLI_PRINT_BEFORE, CLI_PRINT_AFTER, CLI_STOP_AFTER};
    static const char *const names[] = {"print-ir-before", "print-ir-after", "stop-after"};
    for (int i = 0; i < 3; i++) {
        const char *s = c->value[ids[i]];
        if (s && !pass_find(exec_kinds, s))
            return diag_error(d, "--%s=%s: there is no such pass%s (see --list-passes)", names[i],
                              s, pass_hint(s, a));
    }
    return 0;
}

/* Sets *in to the input that the command line names: a file, or for "-" the bytes of standard input, which are kept
 * in h for a second reading.  Returns 0; or reports an error and returns -1. */
static int take_input(const struct cli *c, struct pcc *h, struct input *in)
{
    /* a name without a folder: external data is looked for in the current folder */
    static const char name[] = "stdin";
    *in = (struct input){.name = c->input};
    if (strcmp(c->input, "-"))
        return 0;
    struct input *kept = &h->standard_input;
    kept->name = name;
    if (!kept->bytes)
        kept->bytes = infile_read_stdin(INFILE_STREAM, h->mem, &kept->n, &h->diag);
    *in = *kept;
    return in->bytes ? 0 : -1;
}

/* After step number `at` of p has failed inside pcc: reads the input again, without messages, and writes a reproducer
 * (repro.h). */
static void write_reproducer(const struct cli *c, struct pcc *h, const struct pipeline *p,
                             uint32_t at)
{
    const struct ctx *x = &h->x;
    struct input in;
    struct ctx y = *x;
    struct diag silent = diag_silent();
    struct scene again;
    y.use.diag = &silent;
    y.scene.place = NULL;
    y.levels = (struct levels){0};
    /* With `inferred` set, open-functions fails when it runs again.  So the reproducer begins before that pass, as it
     * has to: textual IR cannot hold open calls. */
    y.results = (struct results){.inferred = x->results.inferred};
    if (take_input(c, h, &in) || read_input(h, &in, &again, &y.results.plan, x->use.mem, &silent))
        return;
    y.scene.m = again.m;
    if (repro_write(&y, p, at, c->value[CLI_VERIFY_EACH] != NULL, x->use.diag) == 0)
        diag_warning(x->use.diag, WARN_REPRODUCER,
                     "this is a fault of pcc: " REPRO_FILE " shows it again (pcc " REPRO_FILE ")");
    arena_free(y.scene.m->mem);
}

/* diag.emit: passes errors on to the struct diag `user`, and drops other messages. */
static void emit_errors(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    if (level == DIAG_ERROR)
        diag_error(user, "%s", line);
}

/* Warns of options that have no effect in a use of the program that plans nothing.  used: the options that have an
 * effect, beside the options of messages; NULL ends the list.  why: the reason, the end of a message. */
static void warn_idle(const struct cli *c, const char *const *used, const char *why, struct diag *d)
{
    static const char *const always[] = {"quiet", "verbose", "color", "diag", "warnings", NULL};
    for (const struct cli_option *o = c->option; o < c->option + c->noption; o++) {
        bool has_effect = !c->value[o->id];
        for (const char *const *k = used; *k && !has_effect; k++)
            has_effect = !strcmp(o->row->name, *k);
        for (const char *const *k = always; *k && !has_effect; k++)
            has_effect = !strcmp(o->row->name, *k);
        if (!has_effect)
            diag_warning(d, WARN_UNUSED_OPTION, "--%s has no effect: %s", o->row->name, why);
    }
}

/* --check-annotations: infers shapes as far as possible, then reports every mistake in the annotations.  Returns the
 * exit code. */
static int check_only(const struct cli *c, struct pcc *h)
{
    static const char *const used[] = {"check-annotations", "dim", "allow-links", NULL};
    struct input in;
    struct ctx *x = &h->x;
    struct pipeline p = {0};
    struct run_options o = {0};
    struct diag *d = x->use.diag, soft = {.emit = emit_errors, .user = d};
    if (c->value[CLI_OUTPUT] || c->value[CLI_PASSES] || c->n[CLI_EMIT]) {
        diag_error(x->use.diag,
                   "--check-annotations writes nothing: -p, -o and --emit do not apply");
        return EXIT_USAGE;
    }
    warn_idle(c, used, "--check-annotations looks at the model alone, nothing is planned", d);
    if (settings_dims(h) || pipeline_parse(&p, "infer-shapes", x->use.mem, x->use.diag))
        return EXIT_USAGE;
    if (take_input(c, h, &in) || open_input(h, &in))
        return EXIT_INPUT;
    x->use.diag = &soft; /* keeps warnings about unknown sizes away, which do not matter here */
    int rc = pipeline_run(&p, x, &o);
    x->use.diag = d;
    d->limit = UINT32_MAX;
    return check_annotations(x->scene.m, d) || rc || check_warned(h) ? EXIT_INPUT : 0;
}

/* --check-schedule: checks the schedule in the split folder that is the input.  Returns the exit code. */
static int check_folder(const struct cli *c, struct pcc *h)
{
    static const char *const used[] = {"check-schedule", "in-flight", NULL};
    struct ctx *x = &h->x;
    if (c->value[CLI_OUTPUT] || c->value[CLI_PASSES] || c->n[CLI_EMIT] || cli_value(c, "for")) {
        diag_error(x->use.diag,
                   "--check-schedule writes nothing: -p, -o, --emit and --for do not apply");
        return EXIT_USAGE;
    }
    const char *text = cli_value(c, "in-flight");
    int64_t n = 0;
    if (text && strcmp(text, "auto") && (!count_parse(text, &n) || n < 1 || n > UINT32_MAX)) {
        diag_error(x->use.diag, "--in-flight '%s': expected a number of samples", text);
        return EXIT_USAGE;
    }
    warn_idle(c, used, "--check-schedule looks at the folder alone, nothing is planned",
              x->use.diag);
    return check_schedule(c->input, (uint32_t)n, stdout, x->use.mem, x->use.diag) || check_warned(h)
               ? EXIT_INPUT
               : 0;
}

/* Whether the input is a split folder that is to get files for engines: --for without -o. */
static bool is_export(const struct cli *c)
{
    return cli_value(c, "for") && !c->value[CLI_OUTPUT] && infile_is_folder(c->input);
}

/* Whether the input is a split folder whose parts are to be put together: -o with the name of an ONNX model. */
static bool is_recomposing(const struct cli *c)
{
    const char *out = c->value[CLI_OUTPUT];
    return out && writer_of(out) == writer_named("onnx", 4) && infile_is_folder(c->input);
}

/* -o whole.onnx with a split folder as the input: puts its parts together.  Returns the exit code. */
static int recompose_folder(const struct cli *c, struct pcc *h)
{
    static const char *const used[] = {"output", "allow-links", NULL};
    const char *out = c->value[CLI_OUTPUT];
    struct recomposed made;
    char text[UNIT_TEXT];
    if (c->value[CLI_PASSES] || c->n[CLI_EMIT] || cli_value(c, "for")) {
        diag_error(&h->diag,
                   "-o %s puts the parts of a split together: -p, --emit and --for do not "
                   "apply",
                   out);
        return EXIT_USAGE;
    }
    if (write_is_stdout(out)) {
        diag_error(&h->diag,
                   "-o %s: the weights go into a file beside the model: expected the name of "
                   "a file",
                   out);
        return EXIT_USAGE;
    }
    warn_idle(c, used, "the parts of a split are put together, nothing is planned", &h->diag);
    if (check_warned(h) ||
        recompose(c->input, out, cli_value(c, "allow-links"), &made, h->x.use.mem, &h->diag))
        return interrupted ? EXIT_INTERRUPTED : EXIT_INPUT;
    if (check_warned(h))
        return EXIT_INPUT;
    if (!c->value[CLI_QUIET]) {
        printf("wrote %s: %u node%s of %u part%s", utf8_text(h->x.use.mem, out), made.nodes,
               made.nodes == 1 ? "" : "s", made.parts, made.parts == 1 ? "" : "s");
        if (made.data)
            printf(", %s of weights in %s", bytes_short(text, (int64_t)made.bytes),
                   utf8_text(h->x.use.mem, made.data));
        putchar('\n');
    }
    return 0;
}

/* --for: adds files for engines to the split folder that is the input.  Returns the exit code. */
static int export_folder(const struct cli *c, struct pcc *h)
{
    static const char *const used[] = {"for", "hosts", "triton-batch", "genai-base", NULL};
    uint32_t files = 0;
    struct arena *a = h->x.use.mem;
    if (c->value[CLI_PASSES] || c->n[CLI_EMIT]) {
        diag_error(&h->diag,
                   "--for plans nothing for a folder that is there: -p and --emit do not apply");
        return EXIT_USAGE;
    }
    const struct split_options *o = write_options(h, writer_named("split", 5), a, &h->diag);
    if (!o)
        return EXIT_USAGE;
    if (!o->exports.engines) {
        diag_error(&h->diag, "--for=none: there is nothing to add to %s: expected an engine",
                   utf8_text(a, c->input));
        return EXIT_USAGE;
    }
    warn_idle(c, used, "--for adds files to a folder that is there, nothing is planned", &h->diag);
    if (check_warned(h) ||
        split_export(c->input, &o->exports, h->x.use.read_model, &files, a, &h->diag) ||
        check_warned(h))
        return EXIT_INPUT;
    if (!c->value[CLI_QUIET])
        printf("added to %s: %u file%s for %s\n", utf8_text(a, c->input), files,
               files == 1 ? "" : "s", cli_value(c, "for"));
    return 0;
}

/* Raises the number of files that may be open to the hard limit: some exporters write a file for each tensor. */
static void open_many_files(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

/* Raises the stack limit to 1 MiB if it is lower: parsing nested JSON and child programs such as dot use recursion.
 * Returns 0; or, if the hard limit is lower, reports an error and returns -1. */
static int ensure_stack(struct diag *d)
{
    enum { LEAST = 1 << 20 };
    struct rlimit r;
    if (getrlimit(RLIMIT_STACK, &r) || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= LEAST)
        return 0;
    r.rlim_cur = smaller_u64(r.rlim_max, LEAST);
    if (r.rlim_cur == LEAST && setrlimit(RLIMIT_STACK, &r) == 0)
        return 0;
    return diag_error(d, "the stack is limited to %llu KiB, expected 1024 at least (ulimit -s)",
                      (unsigned long long)r.rlim_cur >> 10);
}

/* Passes the options of the command line that are settings to the library.  Returns 0 or the exit code. */
static int set_all(const struct cli *c, struct pcc *h)
{
    for (uint32_t i = 0; i < c->noption; i++) {
        const struct cli_option *o = &c->option[i];
        for (uint32_t k = 0; k < c->n[o->id] && setting_named(o->row->name); k++) {
            enum pcc_status s = pcc_set(h, o->row->name, c->list[o->id][k]);
            if (s)
                return s == PCC_NO_MEMORY ? EXIT_INPUT : EXIT_USAGE;
        }
    }
    return 0;
}

/* run_options.show: writes the text of an option that shows the work of a pass, such as --print-ir-after, to stderr. */
static void show_text(const void *user, const char *option, const char *text)
{
    stderr_report(user, option, text);
}

/* Reads the settings, the input and the devices, and makes the pipeline *p.  The pipeline is made first, so that wrong
 * options are reported before a large model is read.  It is made again if the input or the devices change the default
 * pipeline: an input with a plan may need none, and clusters with groups have another.  Returns the exit code. */
static int prepare_run(const struct cli *c, struct pcc *h, struct pipeline *p)
{
    struct input in;
    struct ctx *x = &h->x;
    int rc = (int)settings_read(h);
    if (!rc)
        rc = make_pipeline(c, h, p);
    if (rc)
        return rc;
    if (take_input(c, h, &in))
        return EXIT_INPUT;
    rc = (int)open_input(h, &in);
    if (!rc && x->results.plan)
        rc = make_pipeline(c, h, p);
    if (!rc && (p->n || cli_value(c, "devices") || h->own))
        rc = (int)settings_devices(h);
    if (!rc && x->scene.cluster && cluster_grouped(x->scene.cluster))
        rc = make_pipeline(c, h, p);
    return rc;
}

/* Does the whole work of a command line with a model: reads, plans, writes.  Returns the exit code. */
static int run_command(const struct cli *c, struct pcc *h)
{
    struct ctx *x = &h->x;
    struct pipeline p;
    uint32_t at = 0; /* number of the running step */
    struct run_options o = {.print_before = c->value[CLI_PRINT_BEFORE],
                            .at = &at,
                            .print_after =
                                c->value[CLI_PRINT_AFTER_ALL] ? "*" : c->value[CLI_PRINT_AFTER],
                            .verify_each = c->value[CLI_VERIFY_EACH] != NULL,
                            .time_passes = c->value[CLI_TIME_PASSES] != NULL,
                            .show = show_text,
                            .user = c};
    int rc = set_all(c, h);
    if (rc)
        return rc;
    if (c->value[CLI_CHECK_ANNOTATIONS])
        return check_only(c, h);
    if (c->value[CLI_CHECK_SCHEDULE])
        return check_folder(c, h);
    if (is_export(c))
        return export_folder(c, h);
    if (is_recomposing(c))
        return recompose_folder(c, h);
    if (output_check(c, h) || check_names(c, x->use.mem, x->use.diag))
        return EXIT_USAGE;
    rc = prepare_run(c, h, &p);
    if (rc)
        return rc;
    if (c->value[CLI_PRINT_PIPELINE])
        stderr_report(c, "print-pipeline",
                      arena_fmt(x->use.mem, "%s\n", pipeline_text(&p, x->use.mem)));
    if (c->value[CLI_OUTPUT] && write_probe(h, c->value[CLI_OUTPUT]))
        return EXIT_INPUT;
    rc = (int)run_passes(h, &p, &o);
    if (rc == PCC_UNVERIFIED && !c->replay)
        write_reproducer(c, h, &p, at);
    if (rc)
        return rc;
    /* After Ctrl-C the best plan so far is written, and another Ctrl-C ends the writing. */
    const char *out = c->value[CLI_OUTPUT];
    interrupted = h->stop = 0;
    printing = !out || write_is_stdout(out);
    if (output_write(c, h))
        return interrupted ? EXIT_INTERRUPTED : EXIT_INPUT;
    return 0;
}

/* Prints the versions of pcc and of its libraries. */
static void print_version(struct arena *a)
{
    puts("pcc " PCC_VERSION);
    printf("protobuf-c %s, jansson %s, cgraph %s\n", protobuf_c_version(), jansson_version_str(),
           PCC_CGRAPH_VERSION);
    puts(planner_libraries(a));
    puts("the dot program (graphviz) draws pictures when it is on the path");
}

/* --list-devices: prints the known devices, clusters and links. */
static void list_devices(struct arena *a)
{
    static const enum elem peaks[] = {ELEM_F32, ELEM_F16, ELEM_I8};
    struct device_class k;
    const struct link_preset *l;
    struct page_table t;
    char text[UNIT_TEXT], time[UNIT_TEXT];
    page_table_begin(&t, /*ncol=*/6, /*left=*/1, a);
    page_table_row(&t, (const char *[]){"device", "memory", "bandwidth", "f32", "f16", "i8"});
    for (uint32_t i = 0; preset_at(i, &k); i++) {
        const char *cell[6] = {
            k.name, k.memory < 0 ? "any" : arena_fmt(a, "%s", bytes_short(text, k.memory)),
            arena_fmt(a, "%sB/s", count_short(text, k.bandwidth))};
        for (int e = 0; e < 3; e++)
            cell[3 + e] = arena_fmt(a, "%s", count_short(text, cluster_peak(&k, peaks[e])));
        page_table_row(&t, cell);
    }
    for (uint32_t i = 0; i < t.nrow; i++) { /* row 0: the headings; row i: device i - 1 */
        /* [enum kernel_source] words for what the times of a class are based on */
        static const char *const from[] = {"peaks", "estimated", "measured"};
        const char *also = i ? preset_also(i - 1) : "";
        page_table_put(stdout, &t, i);
        printf("%s%s%s%s\n", i ? "/s  " : "operations  times by",
               i ? from[preset_kernels(i - 1)] : "", *also ? ", or " : "", also);
    }
    puts(
        "\ntimes by: kernels measured on the class (f32), those of classes like it (estimated), or peaks alone\n"
        "(an estimate, too, which few kernels reach)");
    puts("xeon and epyc: a socket; xeon32, epyc96, ...: so many cores");
    for (uint32_t i = 0; cluster_preset_name(i); i++)
        printf("%s%s", i ? ", " : "\nclusters: ", cluster_preset_name(i));
    puts("\n\nlink           each way, latency (estimated)");
    for (uint32_t i = 0; (l = link_preset_at(i)); i++)
        printf("%-14s %s,%s  %s\n", l->name, rate_print(text, l->bandwidth),
               time_print(time, l->latency), l->measured ? "measured" : "estimated");
}

/* --list-devices=CLUSTER: prints the cluster as a file for -d.  Returns the exit code. */
static int print_cluster(const char *text, struct arena *a, struct diag *d)
{
    struct cluster c;
    if (!strcmp(text, "detect"))
        cluster_detect(&c, a, d);
    else if (cluster_parse(&c, a, text, d))
        return str_ends(text, ".json") ? EXIT_INPUT : EXIT_USAGE;
    puts(cluster_file_text(&c, false, a));
    return 0;
}

/* Answers options such as --help, --version or --list-passes, which need no model.  Returns the exit code, also after
 * the error that neither such an option nor a model is given; -1: the run goes on. */
static int answer_help(const struct cli *c, struct arena *a, struct diag *d)
{
    const char *help = c->value[CLI_HELP];
    const char *pass = help ? help : c->value[CLI_HELP_PASS];
    if (help && !*help)
        cli_help(stdout, c);
    else if (help && !strcmp(help, "all"))
        cli_help_all(stdout, c);
    else if (help && !strcmp(help, "training"))
        cli_help_training(stdout, c);
    else if (c->value[CLI_VERSION])
        print_version(a);
    else if (c->value[CLI_LIST_DEVICES] && *c->value[CLI_LIST_DEVICES])
        return print_cluster(c->value[CLI_LIST_DEVICES], a, d);
    else if (c->value[CLI_LIST_DEVICES])
        list_devices(a);
    else if (c->value[CLI_LIST_PASSES]) {
        const struct pass *p;
        for (uint32_t i = 0; (p = pass_at(exec_kinds, i)); i++) {
            int at = printf("%-14s ", p->name);
            page_words(stdout, p->help, (unsigned)at, /*indent=*/15);
        }
    } else if (c->value[CLI_LIST_OPS]) {
        list_shape_rules(stdout);
    } else if (pass) {
        const struct pass *p = pass_find(exec_kinds, pass);
        if (!p) {
            diag_error(d, "there is no pass '%s'%s (see --list-passes)", pass, pass_hint(pass, a));
            return EXIT_USAGE;
        }
        pass_help(stdout, p, a);
    } else if (c->value[CLI_HELP_MAN]) {
        docs_man(stdout, c, PCC_VERSION, a);
    } else if (c->value[CLI_HELP_COMPLETION]) {
        docs_completion(stdout, c, c->value[CLI_HELP_COMPLETION], a);
    } else if (!c->input) {
        diag_error(d, "no model given (see pcc --help)");
        return EXIT_USAGE;
    } else {
        return -1;
    }
    return 0;
}

/* Argument of answer_command_line(). */
struct main_run {
    int argc;
    char **argv;
    struct pcc *p;
    struct pcc_listener *listener; /* its user is a struct sink */
    int rc;                        /* gets the exit code */
};

/* Does what the command line says, from parsing on; called by arena_guard(), since memory may run out. */
static void answer_command_line(void *arg)
{
    struct main_run *t = arg;
    struct pcc *p = t->p;
    struct sink *sink = t->listener->user;
    struct cli c = {0};
    struct sigaction sa = {.sa_handler = on_interrupt};
    int rc = cli_parse(&c, t->argc, t->argv, p->mem, &p->diag) ? EXIT_USAGE : 0;
    sink->quiet = c.value[CLI_QUIET] != NULL;
    if (!rc)
        rc = answer_help(&c, p->mem, &p->diag);
    if (t->argc == 1)
        cli_usage(stderr);
    if (rc == -1 && repro_options(&c, p->mem, &p->diag))
        rc = EXIT_USAGE;
    if (rc == -1) {
        p->diag.verbose = c.value[CLI_VERBOSE] != NULL;
        sink->bar->log = !isatty(STDERR_FILENO);
        if (!sink->quiet && !sink->json)
            t->listener->progress = draw_progress;
        pcc_listen(p, t->listener);
        at_work = p;
        sigaction(SIGINT, &sa, NULL);
        open_many_files();
        rc = run_command(&c, p);
    }
    t->rc = rc;
}

/* Returns the exit code of the program: rc, but never 0 after an error message, which would be a fault of pcc. */
static int exit_code(struct diag *d, int rc)
{
    assert(rc || !d->errors);
    if (rc || !d->errors)
        return rc;
    diag_error(d, "the run went on after an error: this is a fault of pcc");
    return EXIT_INTERNAL;
}

/* Returns the last value of the option ("--diag") in the unparsed arguments; NULL: none.  So messages about mistakes
 * in the arguments have the right form, too. */
static const char *last_given(int argc, char **argv, const char *option)
{
    const char *value = NULL;
    size_t n = strlen(option);
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], option, n) && argv[i][n] == '=')
            value = argv[i] + n + 1;
        else if (!strcmp(argv[i], option) && i + 1 < argc)
            value = argv[i + 1];
    return value;
}

int main(int argc, char **argv)
{
    struct pcc *p = pcc_new();
    struct progress_bar bar = {.began = clock_now()};
    struct sink sink = {.bar = &bar};
    struct pcc_listener listener = {.user = &sink, .message = emit_line};
    struct main_run t = {argc, argv, p, &listener, EXIT_INPUT};
    size_t wanted;
    const char *form = last_given(argc, argv, "--diag");
    sink.json = form && !strcmp(form, "json");
    if (!p) {
        emit_line(&sink, PCC_ERROR, NULL, "out of memory");
        return EXIT_INPUT;
    }
    sink.d = &p->diag;
    sink.columns = isatty(STDERR_FILENO) ? (unsigned)progress_columns() : 0;
    sink.colored = cli_colored(last_given(argc, argv, "--color"), stderr);
    pcc_listen(p, &listener);
    /* writing beyond the limit on file sizes then fails with an error, as on a full disk */
    signal(SIGXFSZ, SIG_IGN);
    if (ensure_stack(&p->diag) == 0 && !arena_guard(p->mem, answer_command_line, &t, &wanted) &&
        !p->diag.errors)
        diag_error(&p->diag, "out of memory: %zu bytes wanted", wanted);
    if (fflush(stdout) || ferror(stdout)) {
        diag_error(&p->diag, "stdout: %s", strerror(errno));
        if (!t.rc)
            t.rc = EXIT_INPUT;
    }
    t.rc = exit_code(&p->diag, t.rc);
    pcc_free(p);
    return t.rc;
}
