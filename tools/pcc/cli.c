/* The command line: a table of options, the parser, and --help made from the table. */
#include "cli.h"

#include "ir/base/nearest.h"
#include "ir/base/page.h"
#include "tools/lib/exec/kinds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CLI_WRITER: the place of a writer's option of that name; those that are not named here come at the end. */
static const struct {
    enum cli_id id;
    enum cli_group group;
    char letter;
    const char *name, *arg, *help;
} table[] = {
    {CLI_PASSES, IN_PLANNING, 'p', "passes", "LIST|@FILE",
     "passes with options: 'fuse{range=200},dp-place' (default for what shows a plan, and "
     "with -d or --objective: open-functions,fuse,auto-place or what suits that)"},
    {CLI_OUTPUT, IN_OUTPUT, 'o', "output", "PATH", NULL}, /* the writers' suffixes */
    {CLI_DEVICES, IN_DEVICES, 'd', "devices", "CLUSTER",
     "'2xa100', '4xa100:40GiB,1xcpu', a cluster's name such as 'dapple-a', 'detect', or a JSON file (default: 2xa100)"},
    {CLI_LINK, IN_DEVICES, 0, "link", "RATE,LATENCY",
     "each accelerator's link to the host: '25GB/s,10us', 'pcie4x16'"},
    {CLI_GROUP, IN_DEVICES, 0, "group", "N:LINK|N:SHARE",
     "accelerators stand in groups of N, joined by such a link or at a share of the cost: "
     "'4:300GB/s,2us', '8:nvlink4'"},
    {CLI_LEVELS, IN_DEVICES, 0, "levels", "N:LINK[,RATE]/...",
     "levels of links, innermost first, each with its size and, for training, the rate of an AllReduce: "
     "'8:25GB/s,0us/2:3GB/s,0us'"},
    {CLI_TRANSFER_SCALE, IN_INPUT, 0, "transfer-scale", "X",
     "multiply a workload's transfers: 1000 where a file has them in seconds, not ms"},
    {CLI_IO, IN_COSTS, 0, "io", "paid|free",
     "whether model inputs and outputs cost transfers (default: paid)"},
    {CLI_OVERLAP, IN_COSTS, 0, "overlap", "sum|max|duplex",
     "transfers of a device after its computing, beside it, or in and out apart (default: sum)"},
    {CLI_SCHEDULE, IN_PLANNING, 0, "schedule", "pipedream|gpipe",
     "training: forward and backward in turn, or one after the other (default: pipedream); of an iteration "
     "dapple, gpipe, zb-h1, interleaved or pipedream (default: dapple)"},
    {CLI_MICRO_BATCHES, IN_PLANNING, 0, "micro-batches", "N",
     "iteration: into how many micro-batches the batch is divided (default: 1)"},
    {CLI_MICRO_BATCH_SIZE, IN_PLANNING, 0, "micro-batch-size", "N",
     "iteration: samples of a micro-batch"},
    {CLI_GLOBAL_BATCH, IN_PLANNING, 0, "global-batch", "N",
     "iteration: samples of all micro-batches"},
    {CLI_PROFILED_BATCH, IN_COSTS, 0, "profiled-batch", "N",
     "iteration: samples that costs are about (default: as in a name like bert-pbs-2.txt)"},
    {CLI_SLICES, IN_PLANNING, 0, "slices", "whole|any",
     "iteration: whether a device's share of a micro-batch is whole samples (default: whole)"},
    {CLI_WARMUP, IN_PLANNING, 0, "warmup", "best|pa|pb|N",
     "iteration: forward passes before a stage's first backward one, by DAPPLE's policies (default: best)"},
    {CLI_RECOMPUTE, IN_PLANNING, 0, "recompute", "auto|none|all",
     "iteration: run forward once more before backward, to keep less (default: auto, where it must be)"},
    {CLI_DUPLEX, IN_DEVICES, 0, "duplex", "full|half",
     "iteration: whether a link moves values and gradients at a time (default: full)"},
    {CLI_ALLREDUCE, IN_DEVICES, 0, "allreduce", "RATE",
     "iteration: bytes per second of an AllReduce over several groups (default: the link's)"},
    {CLI_ALLREDUCE_LANE, IN_COSTS, 0, "allreduce-lane", "shared|own",
     "iteration: whether an AllReduce takes the link to the stage before (default: shared)"},
    {CLI_ALLREDUCE_OVERLAP, IN_COSTS, 0, "allreduce-overlap", "after|beside|across",
     "iteration: gradients are exchanged after a stage's last backward pass, beside it, or also beside the "
     "next forward pass (default: after)"},
    {CLI_WORKSPACE, IN_COSTS, 0, "workspace", "BYTES",
     "iteration: memory of a device beside weights and activations (default: 0)"},
    {CLI_WEIGHT_SHARE, IN_COSTS, 0, "weight-gradient-share", "SHARE",
     "iteration, zb-h1: share of backward that makes gradients of weights (default: 0.5)"},
    {CLI_PER_DEVICE, IN_PLANNING, 0, "stages-per-device", "N",
     "iteration, interleaved: how many stages a device has (default: more as long as that helps)"},
    {CLI_REPLICATE, IN_DEVICES, 0, "replicate", NULL,
     "a stage may run on several devices, which take turns (auto-, anneal-, dp- and dpl-place)"},
    {CLI_SYNC, IN_DEVICES, 0, "sync", "RATE",
     "bytes per second between copies of a training stage (default: the link's)"},
    {CLI_EFFICIENCY, IN_COSTS, 0, "efficiency", "SHARE",
     "share of the peak rates that is reached (default: 1.0)"},
    {CLI_RESERVE, IN_DEVICES, 0, "reserve", "SHARE|BYTES",
     "of each accelerator's memory, left to the runtime: '10%', '2GiB' (default: 0)"},
    {CLI_PART_COST, IN_COSTS, 0, "part-cost", "TIME",
     "what a part costs its device beside computing, a sample or pass: '10us' (default: 0)"},
    {CLI_OBJECTIVE, IN_PLANNING, 0, "objective", "",
     "what the plan is to make small: the time of each of many samples, that of one alone (latency: by subgraphs), "
     "or of a training iteration "
     "(default: time-per-sample)"},
    {CLI_JUDGE, IN_PLANNING, 0, "judge", "", "what plans are shown by (default: the objective)"},
    {CLI_NETWORK, IN_DEVICES, 0, "network", "host|direct",
     "one sample: between two accelerators over the host, two hops, or in one (default: host)"},
    {CLI_CONTENTION, IN_COSTS, 0, "contention", "port|none|link|half|rx|blocking|baechi",
     "one sample: what a transfer holds while it lasts (default: port; docs/goals.md)"},
    {CLI_DISPATCH, IN_COSTS, 0, "dispatch", "plan|fifo|level",
     "one sample: who is next on a device: by the plan, by becoming ready, by the longest way to "
     "the end (default: plan)"},
    {CLI_MEMORY_MODEL, IN_COSTS, 0, "memory-model", "sum|live|paper",
     "one sample: a device has room for all that its nodes make, for what is there at once, or by "
     "Baechi's table (default: live)"},
    {CLI_OPTIMIZER, IN_COSTS, 0, "optimizer", "COPIES",
     "one sample: copies of the weights that an optimizer keeps beside them, in training: 1 for momentum, 2 for "
     "Adam (default: 0, or those that the model has)"},
    {CLI_CUT, IN_PLANNING, 0, "cut", "few|transfers",
     "as few parts as can be, or an end wherever a value comes or goes, so that parts take one "
     "sample as long as nodes do (default: few)"},
    {CLI_CPUS, IN_DEVICES, 0, "cpus", "list|unbounded",
     "latency: hosts' nodes run on the CPUs there are, or on as many as need be (default: list)"},
    {CLI_PIECES, IN_COSTS, 0, "pieces", "exclusive|apart",
     "latency: subgraphs of an accelerator that have no slots keep out of each other's way, or may run at once "
     "(default: exclusive)"},
    {CLI_DIM, IN_INPUT, 0, "dim", "NAME=N", "plan for this size of a symbolic dimension (repeats)"},
    {CLI_COSTS, IN_COSTS, 0, "costs", "FILE[:CLASS]",
     "times and memory from a CSV or JSON table or ONNX Runtime's profile (repeats; "
     "passes/cost/costs.md)"},
    {CLI_PROFILE_AT, IN_COSTS, 0, "profile-at", "B=FILE[:CLASS]",
     "the same, measured at batch size B: what two sizes or more predict for that of --dim is "
     "planned with (repeats)"},
    {CLI_PROFILE_CHECK, IN_COSTS, 0, "profile-check", "B=FILE[:CLASS]",
     "compare what --profile-at predicts for batch size B with a measurement (repeats)"},
    {CLI_PIN, IN_PLANNING, 0, "pin", "REGEX=DEVICE|@FILE",
     "fix the nodes whose name matches (repeats)"},
    {CLI_STATE, IN_INPUT, 0, "state", "IN=OUT",
     "an input and output that hold state on one device (repeats)"},
    {CLI_KEEP_BLOCKS, IN_PLANNING, 0, "keep-blocks", NULL,
     "never cut inside a layer that repeats: all its copies stay whole"},
    {CLI_TIME_LIMIT, IN_PLANNING, 0, "time-limit", "TIME",
     "for one planner: '30s'; then the best plan so far"},
    {CLI_MAX_STATES, IN_PLANNING, 0, "max-states", "N",
     "sets of nodes that a planner may visit in its search"},
    {CLI_EMIT, IN_OUTPUT, 0, "emit", "KIND", NULL},
    {CLI_REPLAY, IN_OUTPUT, 0, "replay", "N",
     "run N samples through the plan: the time per sample that it reaches; of a plan for iteration-time an "
     "iteration of N micro-batches; for gantt and trace"},
    {CLI_ORDER_REPORT, IN_OUTPUT, 0, "order-report", "host",
     "how many nodes one host thread that takes them in the file's order would have to put off"},
    {CLI_WRITER, IN_OUTPUT, 0, "curves", NULL, NULL},
    {CLI_WRITER, IN_OUTPUT, 0, "view", NULL, NULL},
    {CLI_WRITER, IN_OUTPUT, 0, "part", NULL, NULL},
    {CLI_WRITER, IN_OUTPUT, 0, "around", NULL, NULL},
    {CLI_WRITER, IN_OUTPUT, 0, "pictures", NULL, NULL},
    {CLI_WRITER, IN_OUTPUT, 0, "in-flight", NULL, NULL},
    {CLI_COMPARE, IN_OUTPUT, 0, "compare", "FILE",
     "judge another plan beside this one: the forms of plan{from=FILE}"},
    {CLI_BASELINES, IN_OUTPUT, 0, "baselines", NULL,
     "after the plan, a table of what simple planners make of the same model"},
    {CLI_EXPLAIN_BOUND, IN_OUTPUT, 0, "explain-bound", NULL,
     "show why no plan takes less than the bound, with the numbers to check it by"},
    {CLI_WRITER, IN_OUTPUT, 0, "weights", NULL, NULL},
    {CLI_ALLOW_LINKS, IN_INPUT, 0, "allow-links", NULL,
     "external data may be reached through links"},
    {CLI_WRITER, IN_OUTPUT, 0, "annotate", NULL, NULL},
    {CLI_CHECK_ANNOTATIONS, IN_LOOKING, 0, "check-annotations", NULL,
     "check the device configurations of an ONNX model, nothing else"},
    {CLI_CHECK_SCHEDULE, IN_LOOKING, 0, "check-schedule", NULL,
     "check the execution plan of a split folder, given in place of a model (--in-flight: for so many "
     "samples), nothing else"},
    {CLI_PRINT_PIPELINE, IN_LOOKING, 0, "print-pipeline", NULL,
     "show the passes that run, with the inserted ones"},
    {CLI_PRINT_BEFORE, IN_LOOKING, 0, "print-ir-before", "PASS",
     "show the textual IR before a pass, on stderr"},
    {CLI_PRINT_AFTER, IN_LOOKING, 0, "print-ir-after", "PASS",
     "show the textual IR after a pass, on stderr"},
    {CLI_PRINT_AFTER_ALL, IN_LOOKING, 0, "print-ir-after-all", NULL, "show it after each pass"},
    {CLI_STOP_AFTER, IN_LOOKING, 0, "stop-after", "PASS",
     "end the passes after the first of that name"},
    {CLI_VERIFY_EACH, IN_LOOKING, 0, "verify-each", NULL, "check the module after each pass"},
    {CLI_TIME_PASSES, IN_LOOKING, 0, "time-passes", NULL, "show the time of each pass, on stderr"},
    {CLI_QUIET, IN_OUTPUT, 'q', "quiet", NULL, "no notes, no progress, no table"},
    {CLI_VERBOSE, IN_OUTPUT, 'v', "verbose", NULL, "more notes: what each pass did"},
    {CLI_COLOR, IN_OUTPUT, 0, "color", "auto|always|never",
     "colours in messages and tables (default: auto, on a terminal unless NO_COLOR is set)"},
    {CLI_DIAG, IN_OUTPUT, 0, "diag", "text|json",
     "form of messages on stderr; json: an object per line"},
    {CLI_WARNINGS, IN_OUTPUT, 'W', "warnings", "[no-]NAME",
     "hide a warning (-Wno-NAME) or let it fail the run (-Werror, -Werror=NAME); see below"},
    {CLI_LIST_DEVICES, IN_DEVICES, 0, "list-devices", NULL,
     "name the devices, clusters and links that are known"},
    {CLI_LIST_PASSES, IN_LOOKING, 0, "list-passes", NULL, "name the passes"},
    {CLI_LIST_OPS, IN_LOOKING, 0, "list-ops", NULL,
     "name the operators whose shapes can be inferred"},
    {CLI_HELP_PASS, IN_LOOKING, 0, "help-pass", "PASS", "options of a pass"},
    {CLI_HELP_MAN, IN_LOOKING, 0, "help-man", NULL, "the manual page, for man"},
    {CLI_HELP_COMPLETION, IN_LOOKING, 0, "help-completion", "bash|zsh|fish",
     "completions for a shell"},
    {CLI_HELP, IN_LOOKING, 'h', "help", NULL, "this text; -h: the options that most use"},
    {CLI_VERSION, IN_LOOKING, 0, "version", NULL, "version and libraries"}};

enum { ROWS = sizeof table / sizeof *table };

/* The word for an option's value: its names, or what kind it is. */
static const char *arg_of(const struct opt *o, struct arena *a)
{
    static const char *const word[] = {"N", NULL, "BYTES", "TIME", "TEXT", NULL, "LIST|none"};
    return o->kind == OPT_CHOICE ? opt_names(o, "|", "|", a) : word[o->kind];
}

/* A table while it is made. */
struct options {
    struct cli_option *row;
    uint32_t n, writers;
    struct arena *a;
};

static bool has_row(const struct options *t, const char *name)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!strcmp(t->row[i].name, name))
            return true;
    return false;
}

/* The options of writers that are called so (NULL: all) and that the table does not have yet. */
static void add_writers(struct options *t, const char *name)
{
    for (const struct writer *const *w = writer_table; *w; w++)
        for (const struct writer_opt *const *o = (*w)->opts; o && *o; o++) {
            const struct opt *opt = &(*o)->opt;
            if ((name && strcmp(opt->name, name)) || has_row(t, opt->name))
                continue;
            assert(CLI_WRITER + t->writers < CLI_COUNT);
            t->row[t->n++] = (struct cli_option){.id = CLI_WRITER + (int)t->writers++,
                                                 .group = IN_OUTPUT,
                                                 .name = opt->name,
                                                 .arg = arg_of(opt, t->a),
                                                 .help = opt->help,
                                                 .writer = *o};
        }
}

/* The execution models by name; training: also those of training, which plans for the others are not about. */
static const char *objectives(bool training, struct arena *a)
{
    const char *text = NULL;
    for (uint32_t i = 0; exec_kinds[i]; i++)
        if (training || exec_kinds[i]->feed != FEED_MICRO_BATCHES)
            text = arena_fmt(a, "%s%s%s", text ? text : "", text ? "|" : "", exec_kinds[i]->name);
    return text;
}

static void make_table(struct cli *c, struct arena *a)
{
    struct options t = {.row = arena_array(a, ROWS + CLI_COUNT, sizeof *t.row), .a = a};
    for (uint32_t i = 0; i < ROWS; i++) {
        const char *help = table[i].help, *arg = table[i].arg;
        if (table[i].id == CLI_WRITER) {
            add_writers(&t, table[i].name);
            continue;
        }
        if (table[i].id == CLI_OUTPUT)
            help = arena_fmt(
                a, "folder: the split;%s: that file; '-' and such an ending, as in -.svg: stdout",
                writer_suffixes(a));
        if (table[i].id == CLI_EMIT)
            help = arena_fmt(a, "to stdout: %s (repeats)", writer_emits(", ", ", ", a));
        if (table[i].id == CLI_OBJECTIVE || table[i].id == CLI_JUDGE)
            arg = objectives(table[i].id == CLI_OBJECTIVE, a);
        t.row[t.n++] = (struct cli_option){.id = (int)table[i].id,
                                           .group = table[i].group,
                                           .letter = table[i].letter,
                                           .name = table[i].name,
                                           .arg = arg,
                                           .help = help};
    }
    add_writers(&t, NULL);
    c->option = t.row;
    c->noption = t.n;
}

const char *const cli_group_name[CLI_GROUPS] = {"Input",    "Devices", "Costs",
                                                "Planning", "Output",  "Looking inside"};

static const char usage[] =
    "usage: pcc MODEL [options]\n\n"
    "  pcc model.onnx                  what is in the model\n"
    "  pcc model.onnx -o split/        plan for two a100, write one model per part\n"
    "  pcc workload.json -p dp-place -o plan.json   plan a profiled graph\n\n";

enum { LEFT = 27 }; /* columns of names */

static void put_row(FILE *f, const char *left, const char *help)
{
    unsigned at = page_width(left);
    fputs(left, f);
    if (at + 2 > LEFT)
        fputc('\n', f);
    fprintf(f, "%*s", at + 2 > LEFT ? LEFT : LEFT - (int)at, "");
    page_words(f, help, LEFT, LEFT);
}

static void put_option(FILE *f, const struct cli_option *o)
{
    char left[PAGE_COLUMNS];
    snprintf(left, sizeof left, "  %s%c%s--%s%s%s", o->letter ? "-" : "  ",
             o->letter ? o->letter : ' ', o->letter ? ", " : " ", o->name, o->arg ? "=" : "",
             o->arg ? o->arg : "");
    put_row(f, left, o->help);
}

void cli_help(FILE *f, const struct cli *c)
{
    fputs(usage, f);
    fputs("MODEL is an ONNX file, a workload (JSON) or textual IR (.pir); - is standard\n"
          "input, with external data in the current folder.\n",
          f);
    for (int k = 0; k < CLI_GROUPS; k++) {
        fprintf(f, "\n%s:\n", cli_group_name[k]);
        for (uint32_t i = 0; i < c->noption; i++)
            if (c->option[i].group == (enum cli_group)k)
                put_option(f, &c->option[i]);
    }
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

void cli_help_short(FILE *f, const struct cli *c)
{
    static const enum cli_id often[] = {CLI_OUTPUT, CLI_DEVICES, CLI_LINK,      CLI_DIM,
                                        CLI_COSTS,  CLI_PASSES,  CLI_OBJECTIVE, CLI_TIME_LIMIT,
                                        CLI_QUIET,  CLI_HELP};
    fputs(usage, f);
    for (size_t k = 0; k < sizeof often / sizeof *often; k++)
        for (uint32_t i = 0; i < c->noption; i++)
            if (c->option[i].id == (int)often[k])
                put_option(f, &c->option[i]);
    fputs("\npcc --help shows all options.\n", f);
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

static const struct cli_option *find(const struct cli *c, const char *name, size_t n, char letter)
{
    for (uint32_t i = 0; i < c->noption; i++) {
        const struct cli_option *o = &c->option[i];
        if (name ? strlen(o->name) == n && !memcmp(o->name, name, n)
                 : o->letter && o->letter == letter)
            return o;
    }
    return NULL;
}

const struct cli_option *cli_named(const struct cli *c, const char *name)
{
    return find(c, name, strlen(name), 0);
}

/* Words of other programs for what -d says. */
static bool means_devices(const char *word, size_t n)
{
    static const char *const words[] = {"gpu", "gpus", "num-gpus", "num_gpus", "ngpus"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], word, n))
            return true;
    return false;
}

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
        nearest_try(&t, c->option[i].name);
    if (!t.best)
        return diag_error(d, "unknown option '%s' (see --help)", s);
    return diag_error(d, "unknown option '%s'; did you mean '--%s'? (see --help)", s, t.best);
}

static void store(struct cli *c, int id, const char *value, uint32_t room, struct arena *a)
{
    if (!c->list[id])
        c->list[id] = arena_array(a, room, sizeof *c->list[id]);
    c->list[id][c->n[id]++] = value;
    c->value[id] = value;
}

/* Refuses a second word that belongs to no option: one of the two may be the end of a value. */
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
    bool only_names = false;
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
        if (s[1] == '-') {
            size_t n = strcspn(s + 2, "=");
            o = find(c, s + 2, n, 0);
            value = s[2 + n] ? s + 3 + n : NULL;
        } else {
            o = find(c, NULL, 0, s[1]);
            value = s[2] ? s + 2 : NULL;
        }
        if (!o)
            return refuse_unknown(c, s, d);
        if (!o->arg && value)
            return diag_error(d, "--%s takes no value", o->name);
        if (o->arg && !value) {
            if (i + 1 >= argc)
                return diag_error(d, "--%s wants %s", o->name, o->arg);
            value = argv[++i];
        }
        if (o->id == CLI_HELP && s[1] == 'h')
            value = CLI_SHORT;
        store(c, o->id, value ? value : "", (uint32_t)argc, a);
    }
    if (c->value[CLI_QUIET] && c->value[CLI_VERBOSE])
        return diag_error(d, "-v and -q: leave one out");
    if (c->input && !strcmp(c->input, "help") && access("help", F_OK))
        return diag_error(d, "there is no file 'help' (see --help)");
    return 0;
}
