/* Parses the command lines of the programs that run splits (program.h).  "--name value" and "--name=value" are the
 * same, "--" ends the options.  O(arguments * rows). */
#include "tools/run/program.h"

#include "ir/base/nearest.h"
#include "ir/base/page.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

enum { LEFT = 27 }; /* width of the left column of help */

/* ---- parsing ---------------------------------------------------------------------------------- */

/* Whether an option is followed by a value. */
static bool takes_value(const struct opt *o)
{
    return o->kind != OPT_BOOL || o->arg;
}

/* Returns the row with the long name name[0 .. n) or, if name is NULL, with this letter; NULL: there is none. */
static const struct opt *find_row(const struct program *p, const char *name, size_t n, char letter)
{
    for (const struct opt *o = p->row; o->name; o++)
        if (name ? strlen(o->name) == n && !memcmp(o->name, name, n) : o->letter == letter)
            return o;
    return NULL;
}

/* Reports that an option is unknown.  Returns -1. */
static int refuse_unknown(const struct program *p, const char *s, struct arena *a, struct diag *d)
{
    const char *word = s + strspn(s, "-");
    struct nearest t = nearest_to(word, strcspn(word, "="));
    for (const struct opt *o = p->row; o->name; o++)
        nearest_try(&t, o->name);
    const char *hint = t.best ? arena_fmt(a, "; did you mean '--%s'?", t.best) : "";
    return diag_error(d, "unknown option '%s'%s (see --help)", s, hint);
}

/* Takes the option at argv[*i], and its value, which may be the next argument.  Returns 0, or -1 after an error. */
static int take_option(struct program_args *to, char **argv, int *i, struct arena *a,
                       struct diag *d)
{
    const char *s = argv[*i], *value = NULL;
    const struct opt *o;
    if (s[1] == '-') {
        size_t n = strcspn(s + 2, "=");
        o = find_row(to->program, s + 2, n, 0);
        value = s[2 + n] ? s + 3 + n : NULL;
    } else {
        o = find_row(to->program, NULL, 0, s[1]);
        value = s[2] ? s + 2 : NULL;
    }
    if (!o)
        return refuse_unknown(to->program, s, a, d);
    if (!takes_value(o) && value)
        return diag_error(d, "--%s takes no value", o->name);
    if (takes_value(o) && !value && !(value = argv[++*i]))
        return diag_error(d, "--%s wants %s", o->name, o->arg ? o->arg : "a value");
    if (value && o->kind != OPT_TEXT && o->kind != OPT_BOOL && !opt_fits(o, value))
        return diag_error(d, "--%s '%s': expected %s", o->name, value, opt_expected(o, a));
    to->given[to->ngiven++] = (struct program_option){o, value ? value : ""};
    return 0;
}

/* Parses the arguments of out->program.  Returns 0, or -1 and an error in usage. */
static int parse(struct program_args *out, int argc, char **argv, struct arena *a, struct diag *d)
{
    *out = (struct program_args){.program = out->program};
    out->given = arena_array(a, (size_t)argc + 1, sizeof *out->given);
    out->operand = arena_array(a, (size_t)argc + 1, sizeof *out->operand);
    for (int i = 1; i < argc; i++) {
        const char *s = argv[i];
        if (s[0] != '-' || !s[1]) {
            out->operand[out->noperand++] = s;
        } else if (!strcmp(s, "--")) {
            out->rest = argv + i + 1;
            break;
        } else if (take_option(out, argv, &i, a, d)) {
            return -1;
        }
    }
    return 0;
}

const char *program_nth(const struct program_args *args, const char *name, uint32_t i)
{
    for (uint32_t k = 0; k < args->ngiven; k++)
        if (!strcmp(args->given[k].row->name, name) && i-- == 0)
            return args->given[k].value;
    return NULL;
}

const char *program_value(const struct program_args *args, const char *name)
{
    const char *last = NULL;
    for (uint32_t k = 0; k < args->ngiven; k++)
        if (!strcmp(args->given[k].row->name, name))
            last = args->given[k].value;
    return last;
}

int64_t program_number(const struct program_args *args, const char *name)
{
    int64_t v = 0;
    const char *said = program_value(args, name);
    const struct opt *row = find_row(args->program, name, strlen(name), 0);
    assert(row && (said || row->def) && !row->bytes);
    struct opt o = *row;
    o.off = 0;
    opt_set(&o, &v, said ? said : row->def);
    return v;
}

/* ---- help ------------------------------------------------------------------------------------- */

/* Writes the text of --help: usage, description, and the options in two columns. */
static void print_help(FILE *f, const struct program *p)
{
    fprintf(f, "usage: %s\n", p->usage);
    page_words(f, p->description, 0, 0);
    fputs("\noptions:\n", f);
    for (const struct opt *o = p->row; o->name; o++) {
        char left[PAGE_COLUMNS];
        snprintf(left, sizeof left, "  %s%c%s--%s%s%s", o->letter ? "-" : "  ",
                 o->letter ? o->letter : ' ', o->letter ? ", " : " ", o->name,
                 takes_value(o) ? "=" : "", takes_value(o) ? (o->arg ? o->arg : "N") : "");
        unsigned at = page_width(left);
        fputs(left, f);
        if (at + 2 > LEFT)
            fputc('\n', f);
        fprintf(f, "%*s", at + 2 > LEFT ? LEFT : LEFT - (int)at, "");
        page_words(f, o->help, LEFT, LEFT);
    }
    fprintf(f, "\n%s", p->end);
}

/* Writes s as text of roff. */
static void put_roff(FILE *f, const char *s)
{
    for (bool start = true; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            fputs("\\&", f);
        if (*s == '-' || *s == '\\')
            fputs(*s == '-' ? "\\-" : "\\e", f);
        else
            fputc(*s, f);
        start = *s == '\n';
    }
}

/* Writes the manual page, in roff. */
static void print_man(FILE *f, const struct program *p)
{
    fputs(".TH ", f);
    for (const char *s = p->name; *s; s++) /* a page's title is in capitals */
        fputc(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s, f);
    fprintf(f, " 1 \"\" \"pcc %s\" \"User Commands\"\n.SH NAME\n", PCC_VERSION);
    put_roff(f, p->name);
    fputs(" \\- ", f);
    put_roff(f, p->does);
    fputs("\n.SH SYNOPSIS\n.nf\n", f);
    put_roff(f, p->usage);
    fputs(".fi\n.SH DESCRIPTION\n", f);
    put_roff(f, p->description);
    fputs("\n.SH OPTIONS\n", f);
    for (const struct opt *o = p->row; o->name; o++) {
        fputs(".TP\n\\fB", f);
        if (o->letter)
            fprintf(f, "\\-%c\\fR, \\fB", o->letter);
        fputs("\\-\\-", f);
        put_roff(f, o->name);
        fputs("\\fR", f);
        if (takes_value(o)) {
            fputs("=\\fI", f);
            put_roff(f, o->arg ? o->arg : "N");
            fputs("\\fR", f);
        }
        fputc('\n', f);
        put_roff(f, o->help);
        fputc('\n', f);
    }
    fputs(".SH EXIT STATUS\n", f);
    put_roff(f, p->end);
    fputs(
        ".SH SEE ALSO\n\\fBpcc\\fR(1); docs/profile.md among the pages in share/doc/pcc\\-onnx.\n",
        f);
}

/* Writes s to stand between a shell's single quotes, which the caller writes; letters of `escape` get a backslash
 * before them. */
static void put_quoted(FILE *f, const char *s, const char *escape)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\'", f);
        else if (strchr(escape, *s))
            fputc('\\', f);
        fputc(*s, f);
    }
}

/* If the option takes one of the words o->names, writes these words to f, with blanks between them, and returns true;
 * else returns false. */
static bool put_words(FILE *f, const struct opt *o)
{
    if (!o->names)
        return false;
    for (size_t k = 0; o->names[k]; k++)
        fprintf(f, "%s%s", k ? " " : "", o->names[k]);
    return true;
}

/* Write the completions for bash, for zsh and for fish. */
static void complete_bash(FILE *f, const struct program *p)
{
    fprintf(
        f,
        "# bash completion of %s; made by %s --help-completion=bash\n_%s()\n{\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    case $prev in\n",
        p->name, p->name, p->name);
    for (const struct opt *o = p->row; o->name; o++)
        if (o->names) {
            fprintf(f, "    --%s) COMPREPLY=($(compgen -W '", o->name);
            put_words(f, o);
            fputs("' -- \"$cur\")); return ;;\n", f);
        }
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W '", f);
    for (const struct opt *o = p->row; o->name; o++) {
        fprintf(f, "%s--%s", o == p->row ? "" : " ", o->name);
        if (o->letter)
            fprintf(f, " -%c", o->letter);
    }
    fprintf(f,
            "' -- \"$cur\"))\n    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
            "complete -o filenames -o bashdefault -F _%s %s\n",
            p->name, p->name);
}

static void complete_zsh(FILE *f, const struct program *p)
{
    fprintf(f, "#compdef %s\n# made by %s --help-completion=zsh\n_arguments \\\n", p->name,
            p->name);
    for (const struct opt *o = p->row; o->name; o++)
        /* an option with a letter twice: by its letter, then by its name */
        for (int by_name = o->letter ? 0 : 1; by_name < 2; by_name++) {
            if (by_name)
                fprintf(f, "    '*--%s%s[", o->name, takes_value(o) ? "=" : "");
            else
                fprintf(f, "    '*-%c%s[", o->letter, takes_value(o) ? "+" : "");
            put_quoted(f, o->help, "[]:\\");
            fputc(']', f);
            if (takes_value(o)) {
                fprintf(f, ":%s:", o->arg ? o->arg : "N");
                fputs(o->names ? "(" : "_files", f);
                fputs(put_words(f, o) ? ")" : "", f);
            }
            fputs("' \\\n", f);
        }
    fprintf(f, "    '*:%s:_files'\n", p->operand);
}

static void complete_fish(FILE *f, const struct program *p)
{
    fprintf(f, "# fish completion of %s; made by %s --help-completion=fish\n", p->name, p->name);
    for (const struct opt *o = p->row; o->name; o++) {
        fprintf(f, "complete -c %s -l %s", p->name, o->name);
        if (o->letter)
            fprintf(f, " -s %c", o->letter);
        if (o->names) {
            fputs(" -x -a '", f);
            put_words(f, o);
            fputs("'", f);
        } else if (takes_value(o)) {
            fputs(" -r", f);
        }
        fputs(" -d '", f);
        for (const char *s = o->help; *s; s++) {
            if (*s == '\'' || *s == '\\')
                fputc('\\', f);
            fputc(*s, f);
        }
        fputs("'\n", f);
    }
}

/* Prints help, the manual page, completions or the version, if one is asked for.  Returns whether one was. */
static bool answers(const struct program_args *args, FILE *f)
{
    static void (*const complete[])(FILE *, const struct program *) = {complete_bash, complete_zsh,
                                                                       complete_fish};
    const struct program *p = args->program;
    if (program_value(args, "help"))
        print_help(f, p);
    else if (program_value(args, "help-man"))
        print_man(f, p);
    else if (program_value(args, "help-completion"))
        complete[program_number(args, "help-completion")](f, p);
    else if (program_value(args, "version"))
        fprintf(f, "%s %s\n", p->name, PCC_VERSION);
    else
        return false;
    return true;
}

/* ---- running ---------------------------------------------------------------------------------- */

bool program_begin(struct program_args *args, int argc, char **argv, struct arena *a,
                   struct diag *d, int *exit)
{
    *exit = 2; /* exit code of errors in usage, if parse() fails */
    if (parse(args, argc, argv, a, d))
        return false;
    *exit = 0;
    if (answers(args, stdout))
        return false;
    d->verbose = program_value(args, "verbose");
    return true;
}

void program_show(void *args, enum diag_level level, enum warning w, const char *line)
{
    static const char *const word[] = {"note", "warning", "error"};
    const struct program_args *g = args;
    (void)w;
    if (level != DIAG_NOTE || !program_value(g, "quiet"))
        fprintf(stderr, "%s: %s: %s\n", g->program->name, word[level], line);
}

const char *program_folder(struct arena *a)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    while (n > 0 && self[n - 1] != '/')
        n--;
    return n > 0 ? arena_strdup(a, self, (size_t)n) : "";
}

/* the flag of program_catch(), global because a signal handler gets no argument of its own */
static signal_flag *caught;

/* Handles a signal: sets the flag of program_catch(). */
static void on_signal(int signal)
{
    (void)signal;
    *caught = 1;
}

void program_catch(signal_flag *stop)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction end = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;
    caught = stop;
    /* writing beyond the limit on file sizes then fails with an error, as on a full disk */
    signal(SIGXFSZ, SIG_IGN);
    /* a SIGHUP that is ignored stays ignored, so that nohup(1) has an effect */
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (ending[i] != SIGHUP ||
            (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
            sigaction(ending[i], &end, NULL);
}

void program_catch_also(int signal)
{
    struct sigaction end = {.sa_handler = on_signal};
    sigaction(signal, &end, NULL);
}

int program_guarded(const struct program *p, struct arena *a, void (*work)(void *arg), void *arg,
                    int *exit)
{
    if (!a || !arena_guard(a, work, arg, NULL)) {
        fprintf(stderr, "%s: error: out of memory\n", p->name);
        *exit = 1;
    }
    arena_free(a);
    return *exit;
}
