/* The command line of pcc: makes the table of options, parses arguments by it, and prints --help from it (cli.h). */
#include "cli.h"

#include "ir/base/nearest.h"
#include "ir/base/page.h"
#include "tools/lib/exec/kinds.h"
#include "tools/lib/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* [enum cli_id] the options that only the program has. */
static const struct opt own[CLI_OWN] = {
    [CLI_PASSES] =
        {OPT_TEXT, "passes", .arg = "LIST|@FILE", .letter = 'p', .topic = IN_PLANNING,
         .help =
             "passes with options: 'fuse{range=200},dp-place' (default for outputs that show a plan, and "
             "with -d or --objective: open-functions,fuse,auto-place or the objective's own)"},
    [CLI_OUTPUT] = {OPT_TEXT, "output", .arg = "PATH", .letter = 'o', .topic = IN_OUTPUT},
    [CLI_EMIT] = {OPT_TEXT, "emit", .arg = "KIND", .topic = IN_OUTPUT},
    [CLI_REPLAY] =
        {OPT_TEXT, "replay", .arg = "N", .topic = IN_OUTPUT,
         .help =
             "run N samples through the plan: the time per sample that it reaches; of a plan for iteration-time an "
             "iteration of N micro-batches; for gantt and trace"},
    [CLI_COMPARE] = {OPT_TEXT, "compare", .arg = "FILE", .topic = IN_OUTPUT,
                     .help = "judge another plan beside this one: the forms of plan{from=FILE}"},
    [CLI_BASELINES] =
        {OPT_BOOL, "baselines", .topic = IN_OUTPUT,
         .help = "after the plan, a table of the plans of simple planners for the same model"},
    [CLI_EXPLAIN_BOUND] =
        {OPT_BOOL, "explain-bound", .topic = IN_OUTPUT,
         .help = "show why no plan takes less than the bound, with the numbers to check it by"},
    [CLI_QUIET] = {OPT_BOOL, "quiet", .letter = 'q', .topic = IN_OUTPUT,
                   .help = "no notes, no progress, no table"},
    [CLI_VERBOSE] = {OPT_BOOL, "verbose", .letter = 'v', .topic = IN_OUTPUT,
                     .help = "more notes: the changes that each pass made"},
    [CLI_COLOR] =
        {OPT_CHOICE, "color", .names = WORDS("auto", "always", "never"), .topic = IN_OUTPUT,
         .help =
             "colours in messages and tables (default: auto, on a terminal unless NO_COLOR is set)"},
    [CLI_DIAG] = {OPT_CHOICE, "diag", .names = WORDS("text", "json"), .topic = IN_OUTPUT,
                  .help = "form of messages on stderr; json: an object per line"},
    [CLI_LIST_DEVICES] =
        {OPT_TEXT, "list-devices", .arg = "CLUSTER", .topic = IN_DEVICES,
         .help =
             "name the devices, clusters and links that are known; or print this cluster as a JSON file for "
             "-d: 'detect', '2xa100'"},
    [CLI_CHECK_ANNOTATIONS] =
        {OPT_BOOL, "check-annotations", .topic = IN_LOOKING,
         .help = "check the device configurations of an ONNX model, nothing else"},
    [CLI_CHECK_SCHEDULE] =
        {OPT_BOOL, "check-schedule", .topic = IN_LOOKING,
         .help =
             "check the execution plan of a split folder, given in place of a model (--in-flight: with N "
             "samples on their way), nothing else"},
    [CLI_PRINT_PIPELINE] = {OPT_BOOL, "print-pipeline", .topic = IN_LOOKING,
                            .help = "show the passes that run, with the inserted ones"},
    [CLI_PRINT_BEFORE] = {OPT_TEXT, "print-ir-before", .arg = "PASS", .topic = IN_LOOKING,
                          .help = "show the textual IR before a pass, on stderr"},
    [CLI_PRINT_AFTER] = {OPT_TEXT, "print-ir-after", .arg = "PASS", .topic = IN_LOOKING,
                         .help = "show the textual IR after a pass, on stderr"},
    [CLI_PRINT_AFTER_ALL] = {OPT_BOOL, "print-ir-after-all", .topic = IN_LOOKING,
                             .help = "show it after each pass"},
    [CLI_STOP_AFTER] = {OPT_TEXT, "stop-after", .arg = "PASS", .topic = IN_LOOKING,
                        .help = "end the passes after the first of that name"},
    [CLI_VERIFY_EACH] = {OPT_BOOL, "verify-each", .topic = IN_LOOKING,
                         .help = "check the module after each pass"},
    [CLI_TIME_PASSES] = {OPT_BOOL, "time-passes", .topic = IN_LOOKING,
                         .help = "show the time of each pass, on stderr"},
    [CLI_LIST_PASSES] = {OPT_BOOL, "list-passes", .topic = IN_LOOKING, .help = "name the passes"},
    [CLI_LIST_OPS] = {OPT_BOOL, "list-ops", .topic = IN_LOOKING,
                      .help = "name the operators whose shapes can be inferred"},
    [CLI_HELP_PASS] = {OPT_TEXT, "help-pass", .arg = "PASS", .topic = IN_LOOKING,
                       .help = "options of a pass: the same as --help=PASS"},
    [CLI_HELP_MAN] = {OPT_BOOL, "help-man", .topic = IN_LOOKING,
                      .help = "the manual page, for man"},
    [CLI_HELP_COMPLETION] = {OPT_CHOICE, "help-completion", .names = WORDS("bash", "zsh", "fish"),
                             .topic = IN_LOOKING, .help = "completions for a shell"},
    [CLI_HELP] = {OPT_TEXT, "help", .arg = "all|training|PASS", .letter = 'h', .topic = IN_LOOKING,
                  .help = "this text; all options; those of training; those of a pass"},
    [CLI_VERSION] = {OPT_BOOL, "version", .topic = IN_LOOKING, .help = "version and libraries"},
    [CLI_ORDER_REPORT] =
        {OPT_CHOICE, "order-report", .names = WORDS("host"), .topic = IN_COMPARING,
         .help =
             "how many nodes one host thread that takes them in the file's order would have to put off"},
};

/* Returns the word for an option's value in help: o->arg; for a CHOICE, or an INT with a lower limit and words, those
 * names[k] for which bit k of `shown` is set ("auto|always", "auto|N"); else a word for the kind.  NULL: the option
 * takes no value. */
static const char *arg_of(const struct opt *o, unsigned shown, struct arena *a)
{
    /* [enum opt_kind] the word for a value of the kind; NULL: a bool has no value, a choice has words of its own */
    static const char *const word[] = {"N",  NULL,        "BYTES", "TIME", "TEXT",
                                       NULL, "LIST|none", "RATE",  "SHARE"};
    const char *text = NULL;
    bool has_words = o->kind == OPT_CHOICE || (o->kind == OPT_INT && o->lo && o->names);
    if (o->arg)
        return o->arg;
    if (!has_words)
        return word[o->kind];
    for (uint32_t k = 0; o->names && o->names[k]; k++)
        if (*o->names[k] && shown >> k & 1)
            text = arena_fmt(a, "%s%s%s", text ? text : "", text ? "|" : "", o->names[k]);
    return o->kind == OPT_INT ? arena_fmt(a, "%s|N", text) : text;
}

/* Returns the names of the execution models, "time-per-sample|makespan|..."; leaves out models of training iterations
 * unless `training` is set. */
static const char *objective_words(bool training, struct arena *a)
{
    const char *text = NULL;
    for (uint32_t i = 0; exec_kinds[i]; i++)
        if (training || exec_kinds[i]->feed != FEED_MICRO_BATCHES)
            text = arena_fmt(a, "%s%s%s", text ? text : "", text ? "|" : "", exec_kinds[i]->name);
    return text;
}

/* Returns the entry of the table for the option with this number and row: also the word for its value, its help and its
 * topic, as the program shows them. */
static struct cli_option complete_row(int id, const struct opt *row, struct arena *a)
{
    struct cli_option o = {.id = id, .row = row, .help = row->help, .topic = row->topic};
    bool objective = !strcmp(row->name, "objective");
    /* --judge takes no objective of training.  ~row->rare: all words of the value but the rare ones, which make_table()
     * adds as an entry of their own */
    o.arg = objective || !strcmp(row->name, "judge") ? objective_words(objective, a)
                                                     : arg_of(row, ~row->rare, a);
    o.optional = id == CLI_HELP || id == CLI_LIST_DEVICES;
    if (id == CLI_OUTPUT)
        o.help = arena_fmt(
            a,
            "folder: the split;%s: that file; '-' and such an ending, as in -.svg: stdout; .onnx for a split "
            "in place of the model: its parts put together",
            writer_suffixes(a));
    if (id == CLI_EMIT)
        o.help = arena_fmt(a, "to stdout: %s (repeats)", writer_emits(", ", ", ", a));
    return o;
}

/* Makes c->option, c->noption and c->nshown: the program's options, settings, writers' options of names that no row
 * before has, and then the rare values of options. */
static void make_table(struct cli *c, struct arena *a)
{
    struct cli_option *t = arena_array(a, 2 * (size_t)CLI_COUNT, sizeof *t);
    const struct opt *row;
    for (int id = 0; id < CLI_OWN; id++)
        t[c->noption++] = complete_row(id, &own[id], a);
    c->option = t;
    for (uint32_t i = 0; (row = setting_at(i)); i++, c->noption++)
        t[c->noption] = complete_row((int)c->noption, row, a);
    for (const struct writer *const *w = writer_table; *w; w++)
        for (const struct writer_opt *const *o = (*w)->opts; o && *o; o++) {
            if (cli_named(c, (*o)->opt.name))
                continue;
            t[c->noption] = complete_row((int)c->noption, &(*o)->opt, a);
            t[c->noption].topic = IN_OUTPUT;
            t[c->noption++].writer = *o;
        }
    assert(c->noption <= CLI_COUNT);
    c->nshown = c->noption;
    for (uint32_t i = 0; i < c->noption; i++)
        if (t[i].row->rare) {
            t[c->nshown] = t[i];
            t[c->nshown].arg = arg_of(t[i].row, t[i].row->rare, a);
            t[c->nshown].help = t[i].row->rare_help;
            t[c->nshown++].topic = IN_COMPARING;
        }
}

const char *const cli_topic_name[OPT_TOPICS] = {
    "Input",    "Devices", "Costs",          "Planning",
    "Training", "Output",  "Looking inside", "Comparing with published figures"};

static const char usage[] =
    "usage: pcc MODEL [options]\n\n"
    "  pcc model.onnx                  what is in the model\n"
    "  pcc model.onnx -o split/        plan for two a100, write one model per part\n"
    "  pcc workload.json -p dp-place -o plan.json   plan a profiled graph\n\n";

void cli_usage(FILE *f)
{
    fputs(usage, f);
}

enum { LEFT = 27 }; /* width of the left column of help, which has the names */

/* Prints a row of help: the text `left`, then the help text in the right column, on the next line if `left` is too
 * wide. */
static void put_row(FILE *f, const char *left, const char *help)
{
    unsigned at = page_width(left);
    fputs(left, f);
    if (at + 2 > LEFT)
        fputc('\n', f);
    fprintf(f, "%*s", at + 2 > LEFT ? LEFT : LEFT - (int)at, "");
    page_words(f, help, LEFT, LEFT);
}

/* Prints the row of an option: "  -o, --output=PATH   ...". */
static void put_option(FILE *f, const struct cli_option *o)
{
    char left[PAGE_COLUMNS], letter = o->row->letter;
    snprintf(left, sizeof left, "  %s%c%s--%s%s%s%s%s", letter ? "-" : "  ", letter ? letter : ' ',
             letter ? ", " : " ", o->row->name, o->optional ? "[" : "", o->arg ? "=" : "",
             o->arg ? o->arg : "", o->optional ? "]" : "");
    put_row(f, left, o->help);
}

/* Prints a section of help with its options. */
static void put_topic(FILE *f, const struct cli *c, enum opt_topic topic)
{
    fprintf(f, "\n%s:\n", cli_topic_name[topic]);
    for (uint32_t i = 0; i < c->nshown; i++)
        if (c->option[i].topic == topic)
            put_option(f, &c->option[i]);
}

void cli_help_all(FILE *f, const struct cli *c)
{
    fputs(usage, f);
    fputs("MODEL is an ONNX file, a workload (JSON) or textual IR (.pir); - is standard\n"
          "input, with external data in the current folder.\n",
          f);
    for (int topic = 0; topic < OPT_TOPICS; topic++)
        put_topic(f, c, (enum opt_topic)topic);
    fputs("\nWarnings (-Wno-NAME hides one, -Werror=NAME or, for all, -Werror fails the run,\n"
          "-Wno-error=NAME does not):\n",
          f);
    for (int w = WARN_NONE + 1; w < WARN_COUNT; w++) {
        char left[PAGE_COLUMNS];
        snprintf(left, sizeof left, "  %s", warning_text((enum warning)w).name);
        put_row(f, left, warning_text((enum warning)w).help);
    }
    fputs("\nexit codes: 0 ok, 1 bad input, 2 usage, 3 no plan fits, 4 verification failed,\n"
          "70 internal error\n",
          f);
}

void cli_help_training(FILE *f, const struct cli *c)
{
    fputs("With --objective=iteration-time a plan is for an iteration of training: stages\n"
          "behind each other work on micro-batches, in the order of --schedule.\n",
          f);
    put_topic(f, c, IN_TRAINING);
}

void cli_help(FILE *f, const struct cli *c)
{
    static const char *const often[] = {"output", "devices",   "link",       "dim",   "costs",
                                        "passes", "objective", "time-limit", "quiet", "help"};
    fputs(usage, f);
    for (size_t k = 0; k < sizeof often / sizeof *often; k++)
        put_option(f, cli_named(c, often[k]));
    fputs("\npcc --help=all shows all options, pcc --help=training those of training.\n", f);
}

bool cli_colored(const char *choice, FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice && !strcmp(choice, "always"))
        return true;
    if ((choice && !strcmp(choice, "never")) || (no && *no) || (term && !strcmp(term, "dumb")))
        return false;
    return isatty(fileno(f));
}

/* Returns the option with the long name name[0 .. n) or, if name is NULL, with this letter; NULL: there is none. */
static const struct cli_option *find_option(const struct cli *c, const char *name, size_t n,
                                            char letter)
{
    for (uint32_t i = 0; i < c->noption; i++) {
        const struct cli_option *o = &c->option[i];
        if (name ? strlen(o->row->name) == n && !memcmp(o->row->name, name, n)
                 : o->row->letter && o->row->letter == letter)
            return o;
    }
    return NULL;
}

const struct cli_option *cli_named(const struct cli *c, const char *name)
{
    return find_option(c, name, strlen(name), 0);
}

const char *cli_value(const struct cli *c, const char *name)
{
    const struct cli_option *o = cli_named(c, name);
    assert(o);
    return c->value[o->id];
}

/* Whether word[0 .. n) is a name that other programs use for --devices. */
static bool means_devices(const char *word, size_t n)
{
    static const char *const words[] = {"gpu", "gpus", "num-gpus", "num_gpus", "ngpus"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], word, n))
            return true;
    return false;
}

/* Reports that option s is unknown, with a hint if possible.  Returns -1. */
static int refuse_unknown(const struct cli *c, const char *s, struct diag *d)
{
    const char *word = s + strspn(s, "-");
    if (means_devices(word, strcspn(word, "=")))
        return diag_error(d,
                          "unknown option '%s': devices are named by -d, such as -d 2xa100 "
                          "(see --list-devices)",
                          s);
    struct nearest t = nearest_to(word, strcspn(word, "="));
    for (uint32_t i = 0; i < c->noption; i++)
        nearest_try(&t, c->option[i].row->name);
    if (!t.best)
        return diag_error(d, "unknown option '%s' (see --help)", s);
    return diag_error(d, "unknown option '%s'; did you mean '--%s'? (see --help)", s, t.best);
}

/* Adds a value to option `id`.  most: number of values that an option can get. */
static void store_value(struct cli *c, int id, const char *value, uint32_t most, struct arena *a)
{
    if (!c->list[id])
        c->list[id] = arena_array(a, most, sizeof *c->list[id]);
    c->list[id][c->n[id]++] = value;
    c->value[id] = value;
}

/* Reports that there are two arguments without an option; if only one of them is a file, suggests that the other one
 * is the rest of a value with a blank in it.  Returns -1. */
static int refuse_second(const char *first, const char *second, struct diag *d)
{
    bool one = access(first, F_OK) == 0, two = access(second, F_OK) == 0;
    if (one != two)
        return diag_error(d,
                          "'%s' belongs to no option and is no file: values have no spaces, as in "
                          "--dim batch=8",
                          one ? second : first);
    return diag_error(d, "one model at a time: '%s' and '%s'", first, second);
}

int cli_parse(struct cli *c, int argc, char **argv, struct arena *a, struct diag *d)
{
    bool only_names = false; /* "--" was seen: all further arguments are names of files */
    make_table(c, a);
    for (int i = 1; i < argc; i++) {
        const char *s = argv[i], *value = NULL;
        const struct cli_option *o;
        if (only_names || s[0] != '-' || !s[1]) {
            if (c->input)
                return refuse_second(c->input, s, d);
            c->input = s;
            continue;
        }
        if (s[1] == '-' && !s[2]) {
            only_names = true;
            continue;
        }
        if (s[1] == '-') { /* --NAME or --NAME=VALUE; else -x or -xVALUE */
            size_t n = strcspn(s + 2, "=");
            o = find_option(c, s + 2, n, 0);
            value = s[2 + n] ? s + 3 + n : NULL;
        } else {
            o = find_option(c, NULL, 0, s[1]);
            value = s[2] ? s + 2 : NULL;
        }
        if (!o)
            return refuse_unknown(c, s, d);
        if (!o->arg && value)
            return diag_error(d, "--%s takes no value", o->row->name);
        if (o->arg && !value && !o->optional) {
            if (i + 1 >= argc)
                return diag_error(d, "--%s wants %s", o->row->name,
                                  o->row->rare ? arg_of(o->row, ~0U, a) : o->arg);
            value = argv[++i];
        }
        /* pcc_set() and write_options() check the values of settings and writers' options */
        if (o->id < CLI_OWN && o->row->kind == OPT_CHOICE && !opt_fits(o->row, value))
            return diag_error(d, "--%s '%s': expected %s", o->row->name, value,
                              opt_expected(o->row, a));
        store_value(c, o->id, value ? value : "", (uint32_t)argc, a);
    }
    if (c->value[CLI_QUIET] && c->value[CLI_VERBOSE])
        return diag_error(d, "-v and -q: leave one out");
    if (c->input && !strcmp(c->input, "help") && access("help", F_OK))
        return diag_error(d, "there is no file 'help' (see --help)");
    return 0;
}
