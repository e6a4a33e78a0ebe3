/* Outputs of a run: files, text on stdout, and the table of the plan (output.h). */
#include "output.h"

#include "ir/base/outfile.h"
#include "ir/base/page.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "ir/plan/host_order.h"
#include "ir/plan/parts.h"
#include "baselines.h"
#include "compare.h"
#include "stderr_lines.h"
#include "tools/lib/assumed.h"
#include "tools/lib/exec/kinds.h"
#include "tools/lib/exec/replay.h"
#include "tools/lib/write.h"
#include "ir/base/strings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks the value of -o.  Returns 0; or reports an error and returns -1. */
static int check_output(const struct cli *c, struct arena *a, struct diag *d)
{
    if (!c->value[CLI_OUTPUT])
        return 0;
    if (c->n[CLI_OUTPUT] > 1)
        return diag_error(d, "-o is given %u times: expected one output", c->n[CLI_OUTPUT]);
    return write_check_path(strcmp(c->input, "-") ? c->input : NULL, c->value[CLI_OUTPUT], a, d);
}

/* ---- options of writers ----------------------------------------------------------------------- */

/* Returns the writer that a value of --emit, "gantt,trace", begins with, and moves *list to the next name, or to the
 * end; NULL: no writer of that name writes to stdout. */
static const struct writer *next_emitted(const char **list)
{
    size_t n = strcspn(*list, ",");
    const struct writer *w = writer_named(*list, n);
    if (!w || !w->to_stdout)
        return NULL;
    *list += n + ((*list)[n] == ',' && (*list)[n + 1]);
    return w;
}

/* Whether a writer that -o or --emit names has the option `name`. */
static bool is_used(const struct cli *c, const char *name)
{
    const char *out = c->value[CLI_OUTPUT];
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++)
        for (const char *s = c->list[CLI_EMIT][i]; *s;)
            if (writer_opt(next_emitted(&s), name))
                return true;
    return out && writer_opt(writer_of(out), name);
}

bool output_needs(const struct cli *c, enum writer_needs what)
{
    const char *out = c->value[CLI_OUTPUT];
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++)
        for (const char *s = c->list[CLI_EMIT][i]; *s;)
            if (next_emitted(&s)->needs == what)
                return true;
    return out && writer_of(out)->needs == what;
}

/* Checks the options of all writers: their values, and that strict ones (writer_opt.strict) have an effect.  Returns
 * 0; or reports an error and returns -1. */
static int check_options(const struct cli *c, struct pcc *p)
{
    struct arena *a = p->mem;
    for (const struct writer *const *w = writer_table; *w; w++)
        if (!write_options(p, *w, a, &p->diag))
            return -1;
    for (uint32_t i = 0; i < c->noption; i++) {
        const struct cli_option *o = &c->option[i];
        if (o->writer && o->writer->strict && c->value[o->id] && !is_used(c, o->row->name))
            return diag_error(&p->diag, "--%s=%s: %s", o->row->name, c->value[o->id],
                              writer_opt_unused(o->writer, a));
    }
    return 0;
}

/* Whether --emit with writer w shows a summary of the model, since nothing was planned. */
static bool is_summary(const struct cli *c, const struct pcc *p, const struct writer *w)
{
    return w->needs == WRITER_TAKES_PLAN && !p->judged.r.plan && !c->value[CLI_PASSES];
}

/* Writes all outputs of --emit to stdout; check: only checks their names.  Returns 0; or reports an error and returns
 * -1. */
static int emit_all(const struct cli *c, struct pcc *p, bool check)
{
    for (uint32_t i = 0; i < c->n[CLI_EMIT]; i++) {
        const char *s = c->list[CLI_EMIT][i];
        do {
            const struct writer *w = next_emitted(&s);
            if (!w)
                return diag_error(&p->diag, "--emit '%s': expected %s", s,
                                  writer_emits(", ", " or ", p->mem));
            if (!check &&
                (is_summary(c, p, w) ? summary_json(&p->judged.r, "-") : write_one(p, w, "-")))
                return -1;
        } while (*s);
    }
    return 0;
}

/* Returns the number of samples of --replay; 0: not given; -1 after reporting an error. */
static int64_t replay_samples(const struct cli *c, struct diag *d)
{
    const char *s = c->value[CLI_REPLAY];
    int64_t n = 0;
    if (s && (!count_parse(s, &n) || n < 1))
        return diag_error(d, "--replay '%s': expected a number of samples >= 1", s);
    return n;
}

/* Whether an output goes to stdout. */
static bool takes_stdout(const struct cli *c)
{
    return c->n[CLI_EMIT] || (c->value[CLI_OUTPUT] && write_is_stdout(c->value[CLI_OUTPUT]));
}

/* --replay: writes to f a replay of the plan as it was planned, with the function calls that were open then.  Returns
 * 0; or reports an error and returns -1. */
static int show_replay(const struct cli *c, const struct result *r, FILE *f)
{
    if (!r->verdict)
        return diag_error(r->diag,
                          "--replay: there is no plan: give a planner, such as -p auto-place");
    const struct result *of = r->open ? r->open : r;
    const struct exec_shows *shows = exec_kind(&of->scene.model)->shows;
    struct arena *a = arena_new(of->scene.m->mem);
    int rc = shows->replay(f, of, replay_samples(c, r->diag), a);
    arena_free(a);
    return rc;
}

/* --order-report=host: writes to f how many nodes would not be ready when a host thread comes to them in the order of
 * the file.  Returns 0; or reports an error and returns -1. */
static int show_order(struct ctx *x, const struct result *r, FILE *f)
{
    if (!r->verdict)
        return diag_error(r->diag, "--order-report: there is no plan: give a planner, such as "
                                   "-p auto-place");
    struct host_order o = host_order_count(&r->scene, r->plan, r->parts, x->use.mem);
    fprintf(f,
            "one host thread that takes the nodes in the file's order would have to put off\n"
            "%u of %u by the plan's order of all nodes,\n%u by the order of each device\n",
            o.by_all, o.nodes, o.by_device);
    return 0;
}

/* --compare: writes to f the plan beside another one.  Returns 0; or reports an error and returns -1. */
static int show_comparison(const struct cli *c, struct ctx *x, const struct result *r, FILE *f)
{
    const char *from = c->value[CLI_COMPARE];
    if (!r->verdict)
        return diag_error(x->use.diag,
                          "--compare=%s: there is no plan to compare it with: give a planner, "
                          "such as -p auto-place",
                          from);
    return compare_print(f, x, r, from);
}

/* --baselines: writes to f the plan beside those of simple planners.  Returns 0; or reports an error and returns -1. */
static int show_baselines(struct ctx *x, const struct result *r, FILE *f)
{
    if (!r->verdict)
        return diag_error(x->use.diag, "--baselines: there is no plan to hold them against: give a "
                                       "planner, such as -p auto-place");
    return baselines_print(f, x, r);
}

/* --explain-bound: writes to f why the bound of the plan holds.  Returns 0; or reports an error and returns -1. */
static int explain_bound(const struct result *r, FILE *f)
{
    char text[UNIT_TEXT];
    if (!r->verdict)
        return diag_error(r->diag, "--explain-bound: there is no plan: give a planner, such as "
                                   "-p auto-place");
    if (r->plan->claim.bound < 0 || !r->plan->claim.proof)
        fputs("no bound is known\n", f);
    else
        fprintf(f, "why no plan%s takes less than %s:\n%s", plan_among(r->plan->claim.scope),
                time_short(text, r->plan->claim.bound), r->plan->claim.proof);
    return 0;
}

/* Whether the model has nodes of a backward pass. */
static bool is_training(const struct module *m)
{
    for (nid n = 1; m->backward && n < m->nnode; n++)
        if (m->backward[n])
            return true;
    return false;
}

/* Whether at least one accelerator has a memory of stated size. */
static bool limited_memory(const struct cluster *c)
{
    for (uint32_t k = 0; c && k < c->ncls; k++)
        if (!c->cls[k].host && c->cls[k].memory >= 0)
            return true;
    return false;
}

/* Returns the objectives for which a setting has an effect, in a: "it is about --objective=makespan"; NULL: none. */
static const char *objectives_text(const struct opt *row, struct arena *a)
{
    const char *text = NULL;
    for (const struct exec_kind *const *k = exec_kinds; *k; k++)
        if ((*k)->about & row->about)
            text = arena_fmt(a, "%s%s--objective=%s", text ? text : "it is about ",
                             text ? " or " : "", (*k)->name);
    return text;
}

/* Returns the reason why the option `row` has no effect in this run; NULL: it has one. */
static const char *why_unused(const struct cli *c, const struct ctx *x, const struct result *r,
                              const struct opt *row)
{
    const char *out = c->value[CLI_OUTPUT];
    bool planned = x->results.plan != NULL;
    bool copied = out && !c->value[CLI_PASSES] && writer_of(out) == writer_named("onnx", 4);
    bool shown = planned || (out && !copied) || c->n[CLI_EMIT] || r->table;
    /* the output, a copy of the input, has no devices */
    bool of_devices = row->topic == IN_DEVICES && copied;
    if (((row->with & WITH_SHOWN || of_devices) && !shown) ||
        ((row->with & WITH_PLAN || row->about) && !planned))
        return "nothing is planned";
    if (row->about && !(r->verdict && exec_counts(&r->scene.model, row)))
        return objectives_text(row, x->use.mem);
    if (row->with & WITH_COPIES && !(x->scene.cluster && x->scene.model.replicate))
        return "it is the rate between copies: give --replicate, too";
    if (row->with & WITH_BACKWARD && !is_training(x->scene.m))
        return "the model has no backward pass";
    if (row->with & WITH_MEMORY && !limited_memory(x->scene.cluster))
        return "no accelerator has a memory of stated size";
    return NULL;
}

/* Warns of options that were given and have no effect. */
static void check_effects(const struct cli *c, const struct ctx *x, const struct result *r)
{
    for (const struct cli_option *o = c->option; o < c->option + c->noption; o++) {
        const char *why = c->value[o->id] ? why_unused(c, x, r, o->row) : NULL;
        if (o->writer && (!is_used(c, o->row->name) || (o->writer->needs_plan && !r->verdict)))
            why = writer_opt_unused(o->writer, x->use.mem);
        if (why && c->value[o->id])
            diag_warning(x->use.diag, WARN_UNUSED_OPTION, "--%s has no effect: %s", o->row->name,
                         why);
    }
}

/* Returns the bytes of the files in a folder without folders, or of a file; -1: they cannot be told. */
static int64_t bytes_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return -1;
    if (!S_ISDIR(st.st_mode))
        return st.st_size;
    DIR *dir = opendir(path);
    int64_t sum = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            sum = sat_add(sum, st.st_size);
    if (dir)
        closedir(dir);
    return dir ? sum : -1;
}

/* Returns the name of the picture that shows most in a folder, with a comma before it; "": there is none. */
static const char *picture_text(const char *path)
{
    static const char *const names[] = {", report.html", ", plan.svg", ", plan.dot", ""};
    struct stat st;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), i = 0;
    while (*names[i] && (dir < 0 || fstatat(dir, names[i] + 2, &st, 0) != 0))
        i++;
    if (dir >= 0)
        close(dir);
    return names[i];
}

/* Prints what was written to the path of -o: "wrote split/: 3 parts, 42.30 MiB, plan.svg".  shown: the path as text.
 * Takes no memory, since the output is in its place already. */
static void print_written(const char *path, const char *shown, const struct result *r)
{
    char bytes[UNIT_TEXT];
    int64_t size = bytes_of(path);
    uint32_t n = write_is_folder(path) ? r->parts->nparts : 0;
    if (size < 0)
        return;
    printf("wrote %s: ", shown);
    if (n)
        printf("%u part%s, ", n, n == 1 ? "" : "s");
    printf("%s%s\n", bytes_short(bytes, size), n ? picture_text(path) : "");
}

/* Writes the reports that the command line asks for to f.  Returns 0; or reports an error and returns -1. */
static int write_reports(const struct cli *c, struct pcc *p, FILE *f)
{
    struct ctx *x = &p->x;
    struct result *r = &p->judged.r;
    if (r->table)
        levels_print(f, r);
    if (c->value[CLI_COMPARE] && show_comparison(c, x, &p->judged.planned, f))
        return -1;
    if (c->value[CLI_BASELINES] && show_baselines(x, &p->judged.planned, f))
        return -1;
    if (c->value[CLI_EXPLAIN_BOUND] && explain_bound(r, f))
        return -1;
    if (c->value[CLI_REPLAY] && show_replay(c, r, f))
        return -1;
    return c->value[CLI_ORDER_REPORT] ? show_order(x, r, f) : 0;
}

/* Returns the text of the reports, in p->mem; NULL after reporting an error. */
static const char *reports_text(const struct cli *c, struct pcc *p)
{
    struct memory m;
    memory_begin(&m, p->mem);
    int rc = m.f ? write_reports(c, p, m.f) : 0;
    return memory_end(&m, rc == 0, "the reports", p->mem, &p->diag);
}

int output_write(const struct cli *c, struct pcc *p)
{
    struct ctx *x = &p->x;
    struct result *r = &p->judged.r;
    const char *out = c->value[CLI_OUTPUT];
    if (judge_result(p) != PCC_OK)
        return -1;
    r->colored = cli_colored(c->value[CLI_COLOR], stdout);
    r->columns = page_columns(stdout);
    r->annotated = out && writer_of(out)->has_model;
    check_effects(c, x, r);
    if (check_warned(p))
        return -1;
    if (r->verdict && c->value[CLI_REPLAY] && replay_check(r))
        return -1;
    bool quiet = c->value[CLI_QUIET] || takes_stdout(c);
    const char *table = NULL, *assumed = NULL;
    if (r->verdict && quiet && !c->value[CLI_QUIET])
        assumed = assumed_text(p, /*sizes=*/false); /* a warning tells the guessed sizes */
    if (assumed)
        diag_note(x->use.diag, "assuming %s", assumed);
    if (r->verdict && !quiet) {
        table = table_text(p, out);
        if (!table)
            return -1;
    }
    /* made first, so that nothing is written if a report fails */
    const char *reports = reports_text(c, p);
    if (!reports || emit_all(c, p, /*check=*/false))
        return -1;
    const char *shown = out ? utf8_text(x->use.mem, out) : NULL;
    if (out && write_one(p, writer_of(out), write_is_stdout(out) ? "-" : out))
        return -1;
    if (table)
        fputs(table, stdout);
    else if (!quiet && !out && x->scene.m->cost && !r->table)
        summary_print(stdout, x->scene.m);
    if (out && !quiet)
        print_written(out, shown, r);
    if (!takes_stdout(c))
        fputs(reports, stdout);
    else if (*reports)
        stderr_report(c, "reports", reports);
    return !quiet && check_warned(p) ? -1 : 0;
}

int output_check(const struct cli *c, struct pcc *p)
{
    return check_output(c, p->mem, &p->diag) || emit_all(c, p, /*check=*/true) ||
                   replay_samples(c, &p->diag) < 0 || check_options(c, p)
               ? -1
               : 0;
}
