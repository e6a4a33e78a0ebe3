/* The program pcc-run: runs a split as it was planned, on this machine.
 *
 *   pcc-run SPLIT [SAMPLE.npz ...] [--samples=N] [--output=DIR] [-o run.trace.json]
 *   pcc-run SPLIT --samples=N --replan=ROUNDS -- ARGS      plans again by what it measures
 * Exit codes: 0 done, 1 bad input, or a part that fails, 2 wrong usage, 130 ended by Ctrl-C: the samples that had begun
 * are finished. */
#include "tools/run/folder_files.h"
#include "tools/run/part_memory.h"
#include "tools/run/plan_args.h"
#include "tools/run/program.h"
#include "tools/run/ranks.h"
#include "tools/run/run_replan.h"
#include "tools/run/runner.h"
#include "tools/run/step_ranks.h"

#include "ir/base/infile.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { INPUT = 1, USAGE = 2, INTERRUPTED = 130 }; /* exit codes */
enum { TRACED = 1 << 16 };                        /* number of bars of a trace, at most */

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
    {OPT_INT, "replan", .arg = "N", .lo = "1", .hi = "100",
     .help =
         "plan again by what the run measures, at most N times, switch to a plan that promises 2 % less time, leave "
         "the split that was measured best beside SPLIT; arguments of pcc follow behind --"},
    {OPT_TEXT, "costs", .arg = "FILE",
     .help =
         "for --replan: times of nodes, as --costs of pcc takes them, of which each keeps its share of its part"},
    {OPT_TEXT, "provider", .arg = "DEVICE=cuda[:N]",
     .help =
         "a device, or all of a class (a100=cuda), runs its parts on a GPU by CUDA, whose number is N (default: its "
         "number in the plan) (repeats; default: the CPU)"},
    {OPT_BOOL, "processes",
     .help = "a process for each device instead of a thread: mpirun on this machine"},
    {OPT_TEXT, "map", .arg = "DEVICE=RANK",
     .help =
         "ranks of devices, acc0=0,cpu0=1 (repeats; default: the devices that have parts, in order)"},
    {OPT_BYTES, "most-bytes", .arg = "SIZE", .def = "64MiB", .lo = "1",
     .help =
         "largest tensor between ranks whose size is not known before it is made (default: 64MiB)"},
    {OPT_INT, "steps", .arg = "N", .lo = "1", .hi = "1000000000",
     .help =
         "of a split for training: N steps, whose inputs are those of all micro-batches together"},
    {OPT_TEXT, "load", .arg = "FILE", .help = "for --steps: begin with the parameters of FILE.npz"},
    {OPT_TEXT, "save", .arg = "FILE",
     .help = "for --steps: write the parameters after the last one"},
    {OPT_CHOICE, "loss", .arg = "mean|sum", .names = (const char *const[]){"mean", "sum", NULL},
     .help = "for --steps: how the loss joins samples, where the split does not say it"},
    {OPT_CHOICE, "sum", .arg = "ordered|as-made", .def = "ordered",
     .names = (const char *const[]){"ordered", "as-made", NULL},
     .help =
         "for --steps: add gradients up in the order of micro-batches (default), or as they are made, which "
         "keeps none and need not give the same bits for all schedules"},
    {OPT_BOOL, "no-check", .help = "run lists that the checker refuses, too"},
    PROGRAM_ROWS,
    {0}};

static const struct program program = {
    .name = "pcc-run",
    .does = "run a split as it was planned",
    .usage = "pcc-run SPLIT [SAMPLE.npz ...] [--samples=N] [--output=DIR]\n"
             "       pcc-run SPLIT --samples=N --replan=ROUNDS -- ARGUMENTS OF PCC\n",
    .description =
        "Runs the parts of a split folder in ONNX Runtime, a thread for each device, in the order of "
        "schedule.json, which is proven first, and prints what each part and sample takes beside what was "
        "planned. Without files inputs are random.",
    .operand = "folder or file",
    .end = "exit codes: 0 done, 1 bad input or a part that fails, 2 usage, 130 ended by Ctrl-C\n",
    .row = rows};

/* The state of the program. */
struct run {
    struct diag diag;
    struct arena *a;
    struct program_args args;
    struct runner runner;
    int argc, exit;
    char **argv;
    char kept[RANK_LINE]; /* at a rank other than 0: its first error, which rank 0 reports */
};

static signal_flag stop; /* Ctrl-C was pressed */

/* Reports an error in usage, and sets the exit code.  Returns -1. */
static int misused(struct run *r, const char *what)
{
    r->exit = USAGE;
    return diag_error(&r->diag, "%s (see --help)", what);
}

/* Checks --replan, the options that need it or have no effect with it, and the arguments behind "--".  Returns 0, or -1
 * after an error. */
static int check_replan(struct run *r)
{
    const struct program_args *g = &r->args;
    int64_t rounds = program_value(g, "replan") ? program_number(g, "replan") : 0;
    int64_t samples =
        program_value(g, "samples") ? program_number(g, "samples") : (int64_t)g->noperand - 1;
    if (!rounds && program_value(g, "costs"))
        return misused(r, "--costs has no effect without --replan");
    if (!rounds != !g->rest)
        return misused(r, rounds
                              ? "--replan: expected arguments of pcc behind --, such as -- -d 2xcpu"
                              : "expected nothing behind -- without --replan");
    if (!rounds)
        return 0;
    if (program_value(g, "trace"))
        return misused(r, "--trace has no effect with --replan: several splits run");
    if (samples < 2 * (rounds + 1))
        return misused(r, arena_fmt(r->a,
                                    "--replan=%" PRId64 ": expected at least %" PRId64
                                    " samples, 2 for each run",
                                    rounds, 2 * (rounds + 1)));
    if (!plan_args_has(g->rest, "devices", r->a))
        return misused(r, "--replan: expected --devices among the arguments of pcc: -- -d 2xcpu");
    if (plan_args_dim(g->rest, 0, r->a))
        return misused(r, "--dim behind --: the sizes are those of the split");
    if (plan_args_check(g->rest, r->a, &r->diag) == 0)
        return 0;
    r->exit = USAGE;
    return -1;
}

/* Checks that neither the trace nor an output, sampleK.npz, would replace a file that is read, of the folder or of a
 * sample.  Returns 0, or -1 and an error. */
static int check_outputs(struct run *r, const struct run_settings *set)
{
    const char *same = set->trace ? folder_same_file(set->folder, set->trace, r->a) : NULL;
    for (uint32_t k = 0; k < set->nfile && !same; k++) {
        const char *file = set->file[k],
                   *kept =
                       set->output ? arena_fmt(r->a, "%s/%s", set->output, path_base(file)) : NULL;
        if (set->trace && infile_same(set->trace, file))
            same = file;
        else if (kept && !strncmp(path_base(file), "sample", 6) && infile_same(kept, file))
            same = file;
    }
    return same ? misused(r, arena_fmt(r->a, "%s is read and would be written: give another name",
                                       same))
                : 0;
}

/* Returns all values of an option that repeats, and their number in *n. */
static const char *const *values_of(struct run *r, const char *name, uint32_t *n)
{
    const char **value = arena_array(r->a, (size_t)r->args.ngiven + 1, sizeof(const char *));
    *n = 0;
    while ((value[*n] = program_nth(&r->args, name, *n)))
        ++*n;
    return value;
}

/* Checks that options for several ranks have an effect.  Returns 0, or -1 and an error. */
static int check_ranks(struct run *r)
{
    static const char *const of_ranks[] = {"map", "most-bytes", NULL};
    bool several = r->runner.ranks || program_value(&r->args, "processes");
    for (const char *const *name = of_ranks; *name && !several; name++)
        if (program_value(&r->args, *name))
            return misused(r, arena_fmt(r->a,
                                        "--%s has no effect with one process: expected mpirun, or "
                                        "--processes",
                                        *name));
    return 0;
}

/* Sets *to by the command line, and checks that its options fit together.  Returns 0, or -1 after an error. */
static int configure(struct run *r, struct run_settings *to)
{
    const struct program_args *g = &r->args;
    if (g->noperand == 0)
        return misused(r, "expected the folder of a split");
    if (check_replan(r))
        return -1;
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
        .most_bytes = program_number(g, "most-bytes")};
    to->cores = values_of(r, "cores", &to->ncores);
    to->map = values_of(r, "map", &to->nmap);
    to->gpus.item = values_of(r, "provider", &to->gpus.n);
    if (to->gpus.n && to->memory)
        return misused(r, "--memory has no effect with --provider: it measures on the CPU");
    if (check_ranks(r))
        return -1;
    if ((r->runner.ranks || program_value(g, "processes")) &&
        (to->by_model || to->memory || program_value(g, "replan")))
        return misused(r, arena_fmt(r->a, "%s has no effect with several ranks",
                                    to->by_model ? "--order=model"
                                    : to->memory ? "--memory"
                                                 : "--replan"));
    if (to->by_model && to->in_flight > 1)
        return misused(r, "--in-flight has no effect with --order=model: one sample is on its way");
    if (to->output && !*to->output)
        return misused(r, "--output: expected a folder");
    if (!infile_is_folder(to->folder))
        return diag_error(
            &r->diag, "%s: it is no folder: expected the folder of a split, as pcc -o writes it",
            to->folder);
    return check_outputs(r, to);
}

/* Prepares x for run_all(): reads the split, checks that the trace can be written, gives devices processors and GPUs,
 * and opens an engine if x has none.  Returns an exit code. */
static int prepare_one(struct runner *x)
{
    bool traces = x->set.trace && ranks_host(x);
    int rc = run_prepare(x);
    if (rc || (traces && outfile_check(x->set.trace, x->a, x->d)))
        return rc ? rc : INPUT;
    x->figures.bars = bars_new(x->set.trace ? TRACED : 0, x->a);
    if (run_cores(x))
        return USAGE;
    const struct engine_gpu *const *gpu = gpus_chosen(&x->set.gpus, x->s.manifest, x->a, x->d);
    if (!gpu)
        return USAGE;
    for (uint32_t d = 0; d < x->ndev; d++)
        x->dev[d].gpu = gpu[d];
    if (x->e)
        return 0;
    x->e = engine_open(&x->choice, x->a, x->d);
    if (!x->e)
        return INPUT;
    const struct engine_load how = {.threads = x->set.threads ? x->set.threads : 1,
                                    .optimise = x->set.optimise};
    engine_tell(x->e, &how, x->a, x->d);
    return 0;
}

/* replan.run: prepares and runs x, and prints the report.  Returns an exit code. */
static int run_one(struct runner *x)
{
    int rc = prepare_one(x);
    if (x->ranks)
        rc = ranks_agree(x, rc, NULL);
    if (x->ranks && !rc)
        rc = ranks_compare(x);
    if (rc)
        return rc;
    rc = run_all(x);
    if (!ranks_host(x))
        return rc;
    run_report(x, stdout);
    if (fflush(stdout) || ferror(stdout)) {
        diag_error(x->d, "stdout: %s", strerror(errno));
        rc = INPUT;
    }
    if (x->set.trace && run_trace(x))
        rc = INPUT;
    if (*x->stop)
        diag_note(x->d, "ended by Ctrl-C after %" PRId64 " samples", x->set.first + x->given);
    return rc;
}

/* --processes: runs mpirun, whose exit code goes to r->exit.  steps: --steps is given.  Returns 0, or -1 after an
 * error. */
static int start_processes(struct run *r, bool steps)
{
    const struct program_args *g = &r->args;
    if (steps && g->noperand == 0)
        return misused(r, "expected the folder of a split");
    r->runner.set.folder = steps ? g->operand[0] : NULL;
    if ((!steps && configure(r, &r->runner.set)) || !messages_find(r->a, &r->diag))
        return -1;
    r->exit = ranks_start(&r->runner, r->argv);
    return 0;
}

/* Runs one of several ranks, and sets r->exit.  rc: the result of configure(), which all ranks must hear of before they
 * begin.  Returns 0. */
static int run_ranks(struct run *r, int rc)
{
    struct runner *x = &r->runner;
    int code = rc ? (r->exit ? r->exit : INPUT) : 0;
    code = ranks_agree(x, code, NULL);
    r->exit = ranks_close(x, code ? code : run_one(x));
    return 0;
}

/* Checks that the file of --save would replace neither a file of the split nor a batch.  It may be the file of --load,
 * which is read before.  Returns 0, or -1 and an error. */
static int check_save(struct run *r, const struct step_settings *set)
{
    const char *same = set->save ? folder_same_file(set->folder, set->save, r->a) : NULL;
    for (uint32_t k = 0; k < set->nfile && set->save && !same; k++)
        same = infile_same(set->save, set->file[k]) ? set->file[k] : NULL;
    return same ? misused(r, arena_fmt(r->a, "%s is read and would be written: give another name",
                                       same))
                : 0;
}

/* Reads the split of steps, and opens the engine.  Returns an exit code. */
static int prepare_steps(struct run *r, struct stepper *s)
{
    struct runner *x = &r->runner;
    bool bad = check_ranks(r);
    if (!s->set.folder)
        bad = misused(r, "expected the folder of a split");
    else if (ranks_host(x))
        bad = check_save(r, &s->set) || bad;
    if (bad)
        return USAGE;
    if (step_read(s))
        return INPUT;
    s->gpu = gpus_chosen(&s->set.gpus, s->split.manifest, r->a, &r->diag);
    if (!s->gpu)
        return USAGE;
    int rc = x->ranks ? step_ranks_open(s, x) : 0;
    if (rc || (s->set.save && ranks_host(x) && outfile_check(s->set.save, r->a, &r->diag)))
        return rc ? rc : INPUT;
    x->e = s->e = engine_open(&x->choice, r->a, &r->diag);
    if (!s->e)
        return INPUT;
    const struct engine_load how = {.threads = s->set.threads, .optimise = s->set.optimise};
    engine_tell(s->e, &how, r->a, &r->diag);
    return 0;
}

/* --steps: runs steps of training, in this process or as one of several ranks, and sets r->exit.  Returns 0. */
static int run_steps(struct run *r)
{
    const struct program_args *g = &r->args;
    struct runner *x = &r->runner;
    struct stepper s = {.a = r->a, .d = &r->diag, .stop = &stop};
    s.set = (struct step_settings){.folder = g->noperand ? g->operand[0] : NULL,
                                   .steps = program_number(g, "steps"),
                                   .file = g->operand + 1,
                                   .nfile = g->noperand ? g->noperand - 1 : 0,
                                   .load = program_value(g, "load"),
                                   .save = program_value(g, "save"),
                                   .loss = program_value(g, "loss"),
                                   .as_made = program_number(g, "sum") == 1,
                                   .seed = (uint64_t)program_number(g, "seed"),
                                   .threads = (int)program_number(g, "threads"),
                                   .optimise = program_number(g, "optimise") == 0};
    s.set.gpus.item = values_of(r, "provider", &s.set.gpus.n);
    x->set.folder = s.set.folder;
    x->set.map = values_of(r, "map", &x->set.nmap);
    int rc = prepare_steps(r, &s);
    if (x->ranks)
        rc = ranks_agree(x, rc, NULL);
    if (x->ranks && !rc)
        rc = ranks_compare(x);
    if (!rc)
        rc = step_run(&s);
    r->exit = x->ranks ? ranks_close(x, rc) : rc;
    return 0;
}

/* Checks that no option is given that has no effect with --steps, or, if that is missing, without it.  Returns 0, or -1
 * after an error. */
static int check_steps(struct run *r)
{
    static const char *const of_steps[] = {"load", "save", "loss", "sum", NULL};
    static const char *const idle[] = {"samples",  "output",     "trace",  "state",  "in-flight",
                                       "order",    "cores",      "memory", "replan", "costs",
                                       "no-check", "most-bytes", NULL};
    bool steps = program_value(&r->args, "steps");
    bool several = messages_rank() >= 0 || program_value(&r->args, "processes");
    if (steps && !several && program_value(&r->args, "stall"))
        return misused(r, "--stall has no effect with --steps in one process: its lists, which are "
                          "proven, cannot stand still");
    for (const char *const *name = steps ? idle : of_steps; *name; name++)
        if (program_value(&r->args, *name))
            return misused(
                r, arena_fmt(r->a, "--%s has no effect with%s --steps", *name, steps ? "" : "out"));
    return 0;
}

/* Does what the command line asks for: starts processes, meets the other ranks if there are any, and runs steps, the
 * samples, or the samples with --replan.  Sets r->exit.  Returns 0, or -1 after an error. */
static int run_split(struct run *r)
{
    struct runner *x = &r->runner;
    bool steps = program_value(&r->args, "steps");
    if (check_steps(r))
        return -1;
    *x = (struct runner){.a = r->a, .d = &r->diag, .stop = &stop, .virtual = -1};
    x->choice = (struct engine_choice){program_value(&r->args, "engine"),
                                       program_value(&r->args, "onnxruntime")};
    if (program_value(&r->args, "processes") && messages_rank() < 0)
        return start_processes(r, steps);
    x->set.stall = program_number(&r->args, "stall") / 1000;
    if (ranks_open(x, r->kept)) {
        if (!x->ranks && messages_rank() > 0) /* rank 0 cannot report it: the ranks have not met */
            fprintf(stderr, "pcc-run: error: rank %d: %s\n", messages_rank(), r->kept);
        return -1;
    }
    if (steps)
        return run_steps(r);
    int rc = configure(r, &x->set);
    if (x->ranks)
        return run_ranks(r, rc);
    if (rc)
        return -1;
    if (!program_value(&r->args, "replan")) {
        r->exit = run_one(x);
        return 0;
    }
    const struct replan of = {.runner = x,
                              .run = run_one,
                              .rounds = (uint32_t)program_number(&r->args, "replan"),
                              .args = r->args.rest,
                              .costs = program_value(&r->args, "costs")};
    x->set.samples = x->set.samples ? x->set.samples : x->set.nfile;
    r->exit = replan_run(&of);
    if (stop && r->exit == 0)
        r->exit = INTERRUPTED;
    return 0;
}

/* Runs the program under arena_guard(); arg: the struct run, whose exit code is set. */
static void run(void *arg)
{
    struct run *r = arg;
    if (!program_begin(&r->args, r->argc, r->argv, r->a, &r->diag, &r->exit))
        return;
    if (run_split(r) && !r->exit)
        r->exit = INPUT;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], PART_MEMORY_CALL))
        return part_memory_answer(argv[2]);
    struct run r = {.a = arena_new(NULL), .argc = argc, .argv = argv};
    r.diag = (struct diag){.emit = program_show, .user = &r.args};
    if (messages_rank() > 0)
        r.diag = (struct diag){.emit = ranks_keep, .user = r.kept};
    r.args.program = &program;
    program_catch(&stop);
    return program_guarded(&program, r.a, run, &r, &r.exit);
}
