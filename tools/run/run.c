/* The program pcc-run: runs a split as it was planned, on this machine.
 *
 *   pcc-run SPLIT [SAMPLE.npz ...] [--samples=N] [--output=DIR] [-o run.trace.json]
 * Exit codes: 0 done, 1 bad input, or a part that fails, 2 wrong usage, 130 ended by Ctrl-C: the samples that had begun
 * are finished. */
#include "tools/run/part_memory.h"
#include "tools/run/program.h"
#include "tools/run/runner.h"

#include "ir/base/outfile.h"
#include "ir/base/units.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUT = 1, USAGE = 2, TRACED = 1 << 16 };

static const struct opt rows[] = {
    {OPT_INT, "samples", .arg = "N", .lo = "1", .hi = "1000000000",
     .help = "how many samples (default: as many as files, or 1)"},
    {OPT_TEXT, "output", .arg = "DIR", .help = "keep the outputs of sample K as DIR/sampleK.npz"},
    {OPT_TEXT, "trace", .letter = 'o', .arg = "FILE",
     .help = "what ran when, beside what was planned, for Perfetto: run.trace.json"},
    {OPT_INT, "seed", .arg = "N", .def = "0", .lo = "0",
     .help = "seed of random inputs; that of sample K is N + K (default: 0)"},
    {OPT_BOOL, "state", .help = "feed states back from sample to sample"},
    {OPT_INT, "in-flight", .arg = "N", .lo = "1", .hi = "1000000000",
     .help =
         "samples on their way at once (default: as schedule.json has it; without one, two for each device)"},
    {OPT_CHOICE, "order", .arg = "lists|model", .def = "lists",
     .names = (const char *const[]){"lists", "model", NULL},
     .help =
         "lists: as schedule.json says; model: parts in the manifest's order, one sample at a time"},
    {OPT_CHOICE, "optimise", .arg = "all|none", .def = "all",
     .names = (const char *const[]){"all", "none", NULL},
     .help =
         "optimisations of sessions (default: all); with none the bits are those of the whole model run alike"},
    {OPT_TEXT, "cores", .arg = "DEVICE=LIST",
     .help =
         "processors of devices, acc0=0-1,cpu0=2 (repeats; default: an equal share for each device); any: devices "
         "keep to none, which is better where other programs run"},
    {OPT_INT, "threads", .arg = "N", .def = "1", .lo = "1", .hi = "1024",
     .help = "threads of an operator (default: as many as --cores gives the device, else 1)"},
    {OPT_BOOL, "memory",
     .help =
         "measure first what each part holds, in a process of its own, and compare with the plan"},
    {OPT_TIME, "stall", .arg = "TIME", .def = "30s", .lo = "0s",
     .help =
         "end a run in which nothing moves for so long, and say where each list stands; parts that run longer are "
         "named; 0: off (default: 30s)"},
    {OPT_BOOL, "no-check", .help = "run lists that the checker refuses, too"},
    PROGRAM_ROWS,
    {0}};

static const struct program program = {
    .name = "pcc-run",
    .does = "run a split as it was planned",
    .usage = "pcc-run SPLIT [SAMPLE.npz ...] [--samples=N] [--output=DIR]\n",
    .description =
        "Runs the parts of a split folder in ONNX Runtime, a thread for each device, in the order of "
        "schedule.json, which is proven first, and prints what each part and sample takes beside what was "
        "planned. Without files inputs are random.",
    .operand = "folder or file",
    .end = "exit codes: 0 done, 1 bad input or a part that fails, 2 usage, 130 ended by Ctrl-C\n",
    .row = rows};

/* State of the program. */
struct run {
    struct diag diag;
    struct arena *a;
    struct program_args args;
    struct runner runner;
    int argc, exit;
    char **argv;
};

static volatile sig_atomic_t stop; /* Ctrl-C was pressed */

static void on_interrupt(int signal)
{
    (void)signal;
    stop = 1;
}

static void show(void *user, enum diag_level level, enum warning w, const char *line)
{
    static const char *const word[] = {"note", "warning", "error"};
    const struct run *r = user;
    (void)w;
    if (level != DIAG_NOTE || !program_value(&r->args, "quiet"))
        fprintf(stderr, "pcc-run: %s: %s\n", word[level], line);
}

/* Reports an error in usage.  Returns -1. */
static int misused(struct run *r, const char *what)
{
    r->exit = USAGE;
    return diag_error(&r->diag, "%s (see --help)", what);
}

/* Fills *to by the options.  Returns 0, or -1 after an error. */
static int configure(struct run *r, struct run_settings *to)
{
    const struct program_args *g = &r->args;
    const char **cores = arena_array(r->a, (size_t)g->ngiven + 1, sizeof(const char *));
    struct stat st;
    if (g->noperand == 0)
        return misused(r, "expected the folder of a split");
    if (g->rest)
        return misused(r, "expected nothing behind --");
    *to = (struct run_settings){
        .folder = g->operand[0],
        .samples = program_value(g, "samples") ? program_number(g, "samples") : 0,
        .in_flight = program_value(g, "in-flight") ? program_number(g, "in-flight") : 0,
        .stall = program_number(g, "stall") / 1000,
        .seed = (uint64_t)program_number(g, "seed"),
        .threads = program_value(g, "threads") ? (int)program_number(g, "threads") : 0,
        .optimise = program_number(g, "optimise") == 0,
        .by_model = program_number(g, "order") == 1,
        .state = program_value(g, "state"),
        .check = !program_value(g, "no-check"),
        .memory = program_value(g, "memory"),
        .file = g->operand + 1,
        .nfile = g->noperand - 1,
        .output = program_value(g, "output"),
        .trace = program_value(g, "trace"),
        .cores = cores};
    while ((cores[to->ncores] = program_nth(g, "cores", to->ncores)))
        to->ncores++;
    if (to->by_model && to->in_flight > 1)
        return misused(r, "--in-flight has no effect with --order=model: one sample is on its way");
    if (to->output && !*to->output)
        return misused(r, "--output: expected a folder");
    if (stat(to->folder, &st) || !S_ISDIR(st.st_mode))
        return diag_error(
            &r->diag, "%s: it is no folder: expected the folder of a split, as pcc -o writes it",
            to->folder);
    return 0;
}

/* Says which library runs and what sessions are set to. */
static void tell_engine(struct run *r)
{
    const struct runner *x = &r->runner;
    const struct engine_load how = {.threads = x->set.threads ? x->set.threads : 1,
                                    .optimise = x->set.optimise};
    const char *text = arena_fmt(r->a, "%s %s%s%s", x->e->face->name, x->e->version,
                                 *x->e->library ? ", " : "", x->e->library),
               *one;
    for (size_t i = 0; *(one = engine_setting(&how, i, r->a)); i++)
        text = arena_fmt(r->a, "%s, %s", text, one);
    diag_detail(&r->diag, "%s", text);
}

/* Runs the split.  Returns 0, or -1 after an error. */
static int run_split(struct run *r)
{
    struct runner *x = &r->runner;
    *x = (struct runner){.a = r->a, .d = &r->diag, .stop = &stop, .virtual = -1};
    x->choice = (struct engine_choice){program_value(&r->args, "engine"),
                                       program_value(&r->args, "onnxruntime")};
    if (configure(r, &x->set) || run_prepare(x) ||
        (x->set.trace && outfile_check(x->set.trace, r->a, &r->diag)))
        return -1;
    x->bars = bars_new(x->set.trace ? TRACED : 0, r->a);
    if (run_cores(x)) {
        r->exit = USAGE;
        return -1;
    }
    if (!(x->e = engine_open(&x->choice, r->a, &r->diag)))
        return -1;
    tell_engine(r);
    r->exit = run_all(x);
    run_report(x, stdout);
    if (x->set.trace && run_trace(x))
        r->exit = INPUT;
    if (stop)
        diag_note(&r->diag, "ended by Ctrl-C after %" PRId64 " samples", x->given);
    return 0;
}

/* Runs the program under arena_guard(). */
static void run(void *arg)
{
    struct run *r = arg;
    r->exit = USAGE;
    if (program_parse(&r->args, &program, r->argc, r->argv, r->a, &r->diag))
        return;
    r->exit = 0;
    if (program_answers(&r->args, stdout))
        return;
    r->diag.verbose = program_value(&r->args, "verbose");
    if (run_split(r))
        r->exit = r->exit ? r->exit : INPUT;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], PART_MEMORY_CALL))
        return part_memory_answer(argv[2]);
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    struct run r = {.a = arena_new(NULL), .argc = argc, .argv = argv};
    struct sigaction end = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND}, before;
    r.diag = (struct diag){.emit = show, .user = &r};
    r.args.program = &program;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (ending[i] != SIGHUP || (sigaction(SIGHUP, NULL, &before) == 0 &&
                                    before.sa_handler != SIG_IGN)) /* nohup(1) stays in force */
            sigaction(ending[i], &end, NULL);
    if (!r.a || !arena_guard(r.a, run, &r, NULL)) {
        fputs("pcc-run: error: out of memory\n", stderr);
        r.exit = INPUT;
    }
    arena_free(r.a);
    return r.exit;
}
