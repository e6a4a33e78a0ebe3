/* Writes and reads reproducers (repro.h).
 *
 * A pass reads the module, which textual IR holds exactly, and levels (weighted graphs), which textual IR cannot hold.
 * So repro_write() runs the passes before the failed one again, up to the first one that makes levels; it writes the
 * module as it was before that pass, and a command that runs the remaining passes.  Runs without a failure pay nothing
 * for that.  Reproducers rely on passes that do the same in each run, as all passes do.
 *
 * repro_options() accepts only those options in the first line that repro_write() writes: a file from a stranger can
 * choose passes, and tables of costs that are read, but no file that is written. */
#include "repro.h"

#include "ir/base/infile.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "# RUN: pcc " REPRO_FILE " " /* begins the first line of a reproducer */

enum { LINE_MAX_BYTES = 1 << 20 }; /* most bytes of the first line behind HEAD */

/* ---- writing ---------------------------------------------------------------------------------- */

/* Writes the option " --name='text'", quoted for a shell.  Leaves out options whose text has a newline, since the
 * command is one line. */
static void put_option(FILE *f, const char *name, const char *text)
{
    if (strchr(text, '\n'))
        return;
    fprintf(f, " --%s='", name);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", f);
        else
            fputc(*text, f);
    fputc('\'', f);
}

/* Writes the options of the pass cost: files with measured costs and with what devices support. */
static void put_cost_options(FILE *f, const struct settings *s, struct arena *a)
{
    for (uint32_t i = 0; i < s->ncost_files; i++)
        put_option(f, "costs", s->cost_files[i]);
    for (uint32_t i = 0; i < s->nsupport; i++)
        put_option(f, "support", s->support[i]);
    for (uint32_t i = 0; i < s->nmeasured; i++)
        put_option(f, "profile-at",
                   arena_fmt(a, "%lld=%s", (long long)s->measured[i].batch, s->measured[i].file));
}

/* Writes the first line of a reproducer: the command that runs the passes in `rest` with the settings of y. */
static void put_command(FILE *f, const struct ctx *y, const struct pipeline *rest, bool verify_each)
{
    const struct settings *s = ctx_settings(y);
    struct arena *a = y->use.mem;
    fprintf(f, "# RUN: pcc " REPRO_FILE);
    put_option(f, "passes", pipeline_text(rest, a));
    for (uint32_t i = 0; i < s->ndims; i++)
        put_option(f, "dim", arena_fmt(a, "%s=%lld", s->dims[i].name, (long long)s->dims[i].value));
    for (uint32_t i = 0; i < s->npins; i++)
        put_option(f, "pin", arena_fmt(a, "%s=%s", s->pins[i].pattern, s->pins[i].device));
    for (uint32_t i = 0; i < s->npairs; i++)
        put_option(f, "state", arena_fmt(a, "%s=%s", s->pairs[i].in, s->pairs[i].out));
    if (y->scene.model.io_free)
        put_option(f, "io", "free");
    if (s->max_states)
        put_option(f, "max-states", arena_fmt(a, "%lld", (long long)s->max_states));
    if (s->time_limit)
        put_option(f, "time-limit", arena_fmt(a, "%lldps", (long long)s->time_limit));
    /* if the pass cost is still to run, the module has no costs yet */
    for (uint32_t i = 0; i < rest->n; i++)
        if (!strcmp(rest->step[i].pass->name, "cost"))
            put_cost_options(f, s, a);
    for (uint32_t i = 0; i < s->ncuts; i++)
        put_option(f, s->cuts[i].cut ? "cut-at" : "no-cut", s->cuts[i].pattern);
    for (uint32_t i = 0; i < rest->n; i++) /* pcc refuses --keep-blocks if no pass contract runs */
        if (s->keep_blocks && !strcmp(rest->step[i].pass->name, "contract"))
            fputs(" --keep-blocks", f);
    fputs(verify_each ? " --verify-each\n" : "\n", f);
}

int repro_write(struct ctx *y, const struct pipeline *p, uint32_t at, bool verify_each,
                struct diag *d)
{
    struct run_options none = {0};
    struct plan *plan = y->results.plan; /* the plan before step `from` */
    struct outfile o;
    uint32_t from = 0; /* the first step that the reproducer's command runs */
    /* runs the steps before the failed one again, up to the first one that fails or makes levels */
    for (; from < at; from++) {
        struct pipeline one = {.step = p->step + from, .n = 1};
        if (pipeline_run(&one, y, &none) || y->levels.base)
            break;
        plan = y->results.plan;
    }
    struct pipeline rest = {.step = p->step + from, .n = at - from + 1};
    if (outfile_open(&o, REPRO_FILE, y->use.scratch, d))
        return -1;
    put_command(o.f, y, &rest, verify_each);
    module_print(o.f, &y->scene, plan);
    return outfile_close(&o, /*ok=*/true);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Returns the first line of a reproducer behind HEAD, in a, without its newline; NULL: the file at `path` is no
 * reproducer, or the line is longer than LINE_MAX_BYTES. */
static char *first_line(const char *path, struct arena *a)
{
    struct diag quiet = diag_silent();
    uint64_t size;
    int fd = str_ends(path, ".pir") ? infile_open(path, INFILE_GRAPH, &size, &quiet) : -1;
    size_t skip = sizeof HEAD - 1;
    char head[sizeof HEAD] = "";
    bool ours = fd >= 0 && pread(fd, head, skip, 0) == (ssize_t)skip && !strcmp(head, HEAD);
    char *line = ours ? arena_alloc(a, LINE_MAX_BYTES + 1) : NULL;
    char *end =
        ours && pread(fd, line, LINE_MAX_BYTES, (off_t)skip) > 0 ? strchr(line, '\n') : NULL;
    if (fd >= 0)
        close(fd);
    if (!end)
        return NULL;
    line[strcspn(line, "\r\n")] = 0;
    return line;
}

/* Splits s into words, in place, as a shell does it with blanks, single quotes and backslashes.  Returns the number
 * of words; -1: more than max, or a quote is not closed. */
static int split_words(char *s, char **word, int max)
{
    int n = 0;
    for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
        char *to = s;
        bool quoted = false;
        if (n == max)
            return -1;
        word[n++] = to;
        while (*s && (quoted || *s != ' ')) {
            if (*s == '\'') {
                quoted = !quoted;
                s++;
                continue;
            }
            if (*s == '\\' && !quoted && s[1])
                s++; /* the byte behind the backslash is taken as it is */
            *to++ = *s++;
        }
        bool end = !*s;
        *to = 0; /* may overwrite the blank behind the word, at s */
        if (quoted)
            return -1;
        if (!end)
            s++;
    }
    return n;
}

int repro_options(struct cli *c, struct arena *a, struct diag *d)
{
    /* the options that the first line may have */
    static const char *const taken[] = {
        "passes",      "dim",   "pin",        "state",       "io",     "max-states", "time-limit",
        "verify-each", "costs", "profile-at", "keep-blocks", "cut-at", "no-cut",     "support"};
    enum { WORDS = 1 << 16 };
    struct cli own = {0}; /* the options in the file */
    if (c->value[CLI_PASSES] || c->value[CLI_OUTPUT] || c->n[CLI_EMIT] || cli_value(c, "devices"))
        return 0;
    char *line = strcmp(c->input, "-") ? first_line(c->input, a) : NULL;
    if (!line)
        return 0;
    const char *said = arena_strdup(a, line, strlen(line));
    /* word[0]: stands for the name of the program, which cli_parse() does not read */
    char **word = arena_array(a, WORDS + 2, sizeof *word);
    int n = split_words(line, word + 1, WORDS);
    struct diag silent = diag_silent();
    if (n < 0 || cli_parse(&own, n + 1, word, a, &silent) || own.input)
        return diag_error(d, "%s: its first line is no command of a reproducer", c->input);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        int id = cli_named(c, taken[i])->id;
        for (uint32_t k = 0; k < own.n[id]; k++)
            if (own.list[id][k][0] == '@') /* --passes=@FILE */
                return diag_error(d, "%s: its first line names the file '%s'; expected none",
                                  c->input, own.list[id][k]);
        if (!c->value[id]) {
            c->value[id] = own.value[id];
            c->list[id] = own.list[id];
            c->n[id] = own.n[id];
        }
        own.value[id] = NULL;
    }
    for (int id = 0; id < CLI_COUNT; id++)
        if (own.value[id])
            return diag_error(d, "%s: its first line has an option that reproducers do not have",
                              c->input);
    c->replay = true;
    if (!c->value[CLI_QUIET])
        diag_note(d, "%s: a reproducer; its options are %s", c->input, said);
    return 0;
}
