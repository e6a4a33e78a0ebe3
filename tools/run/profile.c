/* The program pcc-profile: measures the nodes of a model, or of the parts of a split, so that sums of them are times of
 * parts, and writes a file for pcc's --costs.
 *
 *   pcc-profile MODEL [--dim NAME=N] -o costs.json        the model's pieces, and shares of nodes within them
 *   pcc-profile SPLIT [--costs=costs.json] -o next.json   the parts of a split; rows that are known are scaled
 *   pcc-profile MODEL --rounds=N -o split/ -- ARGS        plans by what was measured, measures the plan, and so on
 *   pcc-profile MODEL --fit --costs=costs.json -o class.json  a class of devices from times that are known
 *   pcc-profile --links [-o cluster.json]                 the time to hand values to another thread or process
 *   mpirun -n 2 pcc-profile --links [-o cluster.json]     the same between two machines
 * Exit codes: 0 done, 1 bad input, or a part that fails, 2 wrong usage, 3 no plan fits, 130 ended by Ctrl-C: what is
 * complete is written. */
#include "backends/split/folder.h"
#include "ir/base/infile.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "tools/run/cores.h"
#include "tools/run/costs_out.h"
#include "tools/run/fit_file.h"
#include "tools/run/folder_files.h"
#include "tools/run/links.h"
#include "tools/run/part_memory.h"
#include "tools/run/pieces.h"
#include "tools/run/plan_args.h"
#include "tools/run/profile_folder.h"
#include "tools/run/program.h"
#include "tools/run/ranks.h"
#include "tools/run/rounds.h"
#include "tools/run/scratch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT = 1, USAGE = 2, INTERRUPTED = 130 }; /* exit codes */
/* what --discard and --steps are if they are not given: DISCARD runs of a part do not count, then RUNS runs count;
 * NODE_DISCARD and NODE_RUNS are the same for the runs that measure nodes */
enum { DISCARD = 3, RUNS = 8, NODE_DISCARD = 5, NODE_RUNS = 25 };
/* With more pieces, times are scaled to the time of the whole model: each piece adds the cost of a session. */
enum { SEGMENTS_UNSCALED = 8 };

static const struct opt rows[] = {
    {OPT_TEXT, "output", .letter = 'o', .arg = "FILE",
     .help = "what was measured, for --costs: JSON, or a table if it ends in .csv"},
    {OPT_TEXT, "dim", .arg = "NAME=N", .help = "size of a dimension of the model (repeats)"},
    {OPT_INT, "segments", .arg = "N", .def = "4", .lo = "0", .hi = "64",
     .help =
         "pieces of a model that are measured as parts will be run: about twice as many as devices; 0: nodes alone "
         "(default: 4)"},
    {OPT_TEXT, "costs", .arg = "FILE",
     .help =
         "of a split: an earlier file, whose rows are scaled to the times of the parts; nodes are not measured again; "
         "with --fit: the times that a class is fitted to"},
    {OPT_INT, "rounds", .arg = "N", .def = "3", .lo = "1", .hi = "100",
     .help =
         "plan, write, measure the parts, plan again, at most N times; -o is then the folder for the best split, and "
         "arguments of pcc follow behind --"},
    {OPT_BOOL, "side-by-side",
     .help =
         "also run copies of the slowest part at once, as many as the split has devices, 2 of a model's: how much of "
         "its speed alone does each reach?"},
    {OPT_BOOL, "links",
     .help =
         "without a model: what it takes to hand a value to another thread, and to another process, as --link of pcc "
         "has it, or, by mpirun -n 2, to another machine; -o is then a cluster file (--devices)"},
    {OPT_BOOL, "fit",
     .help =
         "run nothing: fit overhead, peak and bandwidth of a class to the times of --costs, say how far each operator "
         "type is off, and write the class to -o, a cluster file (--devices of pcc)"},
    {OPT_TEXT, "inputs", .arg = "FILE.npz",
     .help = "inputs of the model by name, as numpy.savez writes them (default: random ones)"},
    {OPT_INT, "seed", .arg = "N", .def = "0", .lo = "0",
     .help = "seed of random inputs (default: 0)"},
    {OPT_INT, "threads", .arg = "N", .def = "1", .lo = "1", .hi = "1024",
     .help = "threads of an operator (default: as many as --cores has, else 1)"},
    {OPT_TEXT, "cores", .arg = "LIST", .help = "processors that may be used: 0-3, or 0,2"},
    {OPT_INT, "discard", .arg = "N", .lo = "0", .hi = "1000000",
     .help = "runs that do not count (default: 3 of a part, 5 for nodes)"},
    {OPT_INT, "steps", .arg = "N", .lo = "1", .hi = "1000000",
     .help = "runs that count (default: 8 of a part in each of its turns, 25 for nodes)"},
    PROGRAM_ROWS,
    {0}};

static const struct program program = {
    .name = "pcc-profile",
    .does = "measure what the nodes of a model take, for pcc --costs",
    .usage = "pcc-profile MODEL [--dim NAME=N] -o costs.json\n"
             "       pcc-profile SPLIT [--costs=costs.json] -o next.json\n"
             "       pcc-profile MODEL --rounds=3 -o split/ -- ARGUMENTS OF PCC\n"
             "       pcc-profile MODEL --fit --costs=costs.json -o class.json\n"
             "       [mpirun -n 2] pcc-profile --links [-o cluster.json]\n",
    .description =
        "Runs a model in pieces, or the parts of a split folder, in ONNX Runtime, and writes a time for each node such "
        "that those of a part sum to what the part takes. pcc plans with the file by --costs.",
    .operand = "model or folder",
    .end =
        "exit codes: 0 done, 1 bad input or a part that fails, 2 usage, 3 no plan fits, 130 ended by Ctrl-C\n",
    .row = rows};

static signal_flag stop; /* set by Ctrl-C, and by other signals that end a program */

/* The run. */
struct run {
    struct program_args args;
    struct arena *a;
    struct diag diag;
    int argc;
    char **argv;
    int exit; /* exit code */
    /* if a model is measured: the parameters that steps of training update; they are inputs of the model's pieces */
    struct names parameters;
};

/* Reports an error in usage, and sets the exit code.  Returns -1. */
static int misused(struct run *r, const char *what)
{
    r->exit = USAGE;
    return diag_error(&r->diag, "%s (see --help)", what);
}

/* Checks that -o names no file that the program reads.  Returns 0, or -1 and an error. */
static int check_output(struct run *r)
{
    const struct program_args *g = &r->args;
    const char *output = program_value(g, "output"), *inputs = program_value(g, "inputs");
    const char *input = g->operand[0], *same = NULL;
    if (infile_same(output, input))
        same = input;
    else if (inputs && infile_same(output, inputs))
        same = inputs;
    else if (infile_is_folder(input))
        same = folder_same_file(input, output, r->a);
    return same ? misused(r, arena_fmt(r->a, "-o %s: it is %s, which is read: give another name",
                                       output, same))
                : outfile_check(output, r->a, &r->diag);
}

/* Checks --rounds and the arguments behind "--".  Returns 0, or -1 and an error. */
static int check_rounds(struct run *r)
{
    const struct program_args *g = &r->args;
    bool rounds = program_value(g, "rounds");
    if (rounds != (g->rest != NULL))
        return misused(r, rounds
                              ? "--rounds: expected arguments of pcc behind --, such as -- -d 2xcpu"
                              : "expected nothing behind -- without --rounds");
    if (rounds && (infile_is_folder(g->operand[0]) || program_value(g, "costs")))
        return misused(r, "--rounds: expected a model, and no --costs");
    if (rounds && program_number(g, "segments") == 0)
        return misused(r, "--rounds: expected --segments=N with N > 0");
    if (!rounds || plan_args_check(g->rest, r->a, &r->diag) == 0)
        return 0;
    r->exit = USAGE;
    return -1;
}

/* Checks that beside --`mode` only options stand that are in `list`, " a b c ".  Returns 0, or -1 and an error. */
static int check_beside(struct run *r, const char *mode, const char *list)
{
    const struct program_args *g = &r->args;
    for (uint32_t i = 0; i < g->ngiven; i++)
        if (!strstr(list, arena_fmt(r->a, " %s ", g->given[i].row->name)))
            return misused(
                r, arena_fmt(r->a, "--%s has no effect with --%s", g->given[i].row->name, mode));
    return 0;
}

/* Checks a command line with --links.  Returns 0, or -1 and an error. */
static int check_links(struct run *r)
{
    const char *output = program_value(&r->args, "output");
    if (check_beside(r, "links", " links output quiet verbose "))
        return -1;
    if (r->args.noperand > 0 || r->args.rest)
        return misused(r, "--links: expected no model");
    return output ? outfile_check(output, r->a, &r->diag) : 0;
}

/* Checks a command line with --fit.  Returns 0, or -1 and an error. */
static int check_fit(struct run *r)
{
    const struct program_args *g = &r->args;
    const char *costs = program_value(g, "costs"), *output = program_value(g, "output");
    if (check_beside(r, "fit", " fit costs dim output quiet verbose "))
        return -1;
    if (infile_is_folder(g->operand[0]) || g->rest)
        return misused(r, "--fit: expected a model, as it was measured");
    if (!costs)
        return misused(r, "--fit: expected --costs=FILE, which pcc-profile MODEL -o FILE makes");
    return infile_same(output, costs)
               ? misused(r, "--fit: -o is the file of --costs: give another name")
               : check_output(r);
}

/* Checks that the operands and options of the command line fit together; pins the program to the processors of --cores.
 * Returns 0, or -1 and an error. */
static int check_usage(struct run *r)
{
    const struct program_args *g = &r->args;
    if (program_value(g, "links"))
        return check_links(r);
    if (g->noperand != 1)
        return misused(r, g->noperand ? "expected one model or folder"
                                      : "expected a model or the folder of a split");
    if (!program_value(g, "output"))
        return misused(r, program_value(g, "rounds") ? "expected -o FOLDER" : "expected -o FILE");
    if (!strcmp(g->operand[0], "-") || !strcmp(program_value(g, "output"), "-"))
        return misused(r, "'-': expected the name of a file or folder");
    if (check_rounds(r))
        return -1;
    for (uint32_t i = 0; program_nth(g, "dim", i); i++) {
        const char *text = program_nth(g, "dim", i), *eq = strrchr(text, '=');
        int64_t n;
        if (!eq || eq == text || !count_parse(eq + 1, &n))
            return misused(r, arena_fmt(r->a, "--dim '%s': expected NAME=N with N >= 0", text));
    }
    if (program_value(g, "fit"))
        return check_fit(r);
    if (program_value(g, "costs") && !infile_is_folder(g->operand[0]))
        return misused(r, "--costs: expected the folder of a split, whose parts are measured");
    if (program_value(g, "costs") && program_value(g, "segments") &&
        program_number(g, "segments") == 0)
        return misused(r, "--costs has no effect with --segments=0: no part is measured");
    if (program_value(g, "segments") && program_number(g, "segments") > 0 &&
        infile_is_folder(g->operand[0]))
        return misused(r,
                       "--segments: expected a model, or 0: the parts of a split stay as they are");
    if (program_value(g, "side-by-side") && program_number(g, "segments") == 0)
        return misused(r, "--side-by-side has no effect with --segments=0: no part is measured");
    if (program_value(g, "onnxruntime") && !*program_value(g, "onnxruntime"))
        return misused(r, "--onnxruntime: expected the path of a shared library");
    if (program_value(g, "cores") && cores_use(program_value(g, "cores"), &r->diag)) {
        r->exit = USAGE;
        return -1;
    }
    return program_value(g, "rounds") ? 0 : check_output(r);
}

/* Returns all values of --dim, also those behind --, in r->a, and their number in *n. */
static const char *const *all_dims(struct run *r, uint32_t *n)
{
    const struct program_args *g = &r->args;
    uint32_t own = 0, more = 0;
    while (program_nth(g, "dim", own))
        own++;
    while (g->rest && plan_args_dim(g->rest, more, r->a))
        more++;
    const char **dim = arena_array(r->a, (size_t)own + more + 1, sizeof *dim);
    for (uint32_t i = 0; i < own + more; i++)
        dim[i] = i < own ? program_nth(g, "dim", i) : plan_args_dim(g->rest, i - own, r->a);
    *n = own + more;
    return dim;
}

/* Cuts the model into `count` pieces, in a folder called `name` below `folder`, and lists the parameters that training
 * updates in r->parameters.  Returns the folder of the split; NULL after an error, or after Ctrl-C, without a
 * message. */
static const char *cut_model(struct run *r, const char *folder, const char *name, uint32_t count)
{
    const struct program_args *g = &r->args;
    struct pieces_of of = {.model = g->operand[0],
                           .count = count,
                           .folder = arena_fmt(r->a, "%s/%s", folder, name),
                           .stop = &stop};
    of.dim = all_dims(r, &of.ndim);
    return pieces_write(&of, &r->parameters, r->a, &r->diag) ? NULL : of.folder;
}

/* Returns words for the memory of part k, in r->a; "" if it is not known. */
static const char *memory_text(struct run *r, const struct measuring *m, uint32_t k,
                               const struct part_bytes *b)
{
    char text[4][UNIT_TEXT];
    if (b->start < 0 || b->loaded < 0 || b->sample < 0)
        return "";
    bytes_short(text[0], b->loaded - b->start);
    bytes_short(text[1], b->sample - b->start);
    const char *planned =
        m->s->part[k].live_bytes < 0 ? "unknown" : bytes_short(text[2], m->s->part[k].live_bytes);
    const char *arena = b->arena < 0 ? "unknown" : bytes_short(text[3], b->arena);
    return arena_fmt(r->a, "; memory: planned %s, loaded %s, first sample %s, arena %s", planned,
                     text[0], text[1], arena);
}

/* Notes time and memory of each part that was measured, and the parts that were not.  Returns the number of parts that
 * were measured. */
static uint32_t tell(struct run *r, const struct measuring *m, const struct part_figures *f)
{
    uint32_t whole = 0;
    char text[UNIT_TEXT];
    for (uint32_t k = 0; k < m->s->npart; k++) {
        const struct split_part *p = &m->s->part[k];
        bool good = measured_whole(m, &f[k]);
        whole += good;
        if (!good)
            diag_note(&r->diag, "%s, first node '%s': not measured: ended by Ctrl-C", p->file,
                      p->nnode ? p->node[0] : "");
        else if (m->parts)
            diag_note(&r->diag, "%s: %s, %u nodes%s", p->file, time_short(text, f[k].ps), p->nnode,
                      memory_text(r, m, k, &f[k].bytes));
    }
    return whole;
}

/* Says how fast copies run side by side, if that was measured. */
static void tell_side(struct run *r, const struct side_by_side *s)
{
    char alone[UNIT_TEXT], together[UNIT_TEXT];
    if (s->copies > 0)
        diag_note(
            &r->diag,
            "%s: %s alone, %s beside %u more by the clock: side by side parts reach %.3f of their speed",
            s->file, time_short(alone, s->alone), time_short(together, s->together), s->copies - 1,
            (double)side_by_side_factor(s) / 1000);
}

/* Sets in *m what the options say: threads, numbers of runs, and whether parts are measured. */
static void configure(struct run *r, struct measuring *m)
{
    const struct program_args *g = &r->args;
    bool discard = program_value(g, "discard"), steps = program_value(g, "steps");
    int64_t threads = program_number(g, "threads"), cores = cores_count(program_value(g, "cores"));
    m->threads = (int)(program_value(g, "threads") || cores == 0 ? threads : cores);
    m->discard = discard ? (uint32_t)program_number(g, "discard") : DISCARD;
    m->node_discard = discard ? m->discard : NODE_DISCARD;
    m->runs = steps ? (uint32_t)program_number(g, "steps") : RUNS;
    m->node_runs = steps ? m->runs : NODE_RUNS;
    /* not with --segments=0; without the option, the default is above 0 */
    m->parts = program_number(g, "segments") > 0;
}

/* Notes what was measured, and writes it to the file of -o; sets the exit code if Ctrl-C ended the measurement.
 * Returns 0, or -1 after an error. */
static int write_costs(struct run *r, const struct profiled *p)
{
    const struct measuring *m = &p->m;
    const struct part_figures *f = p->f;
    struct costs_out out = {.m = m,
                            .part = f,
                            .source = r->args.operand[0],
                            .cores = program_value(&r->args, "cores"),
                            .side = &p->side};
    const char *path = program_value(&r->args, "output");
    uint32_t whole = tell(r, m, f);
    tell_side(r, &p->side);
    out.row = costs_rows(m, f, &out.nrow, r->a);
    if (stop)
        r->exit = INTERRUPTED;
    if (whole == 0)
        return diag_error(&r->diag, "nothing is complete: nothing is written");
    if (costs_write(&out, path, r->a, &r->diag))
        return -1;
    diag_note(&r->diag, "%s: %u nodes of %u of %u parts", path, out.nrow, whole, m->s->npart);
    return 0;
}

/* Sets *p by the options, and opens the engine and a folder for temporary files.  Returns 0, or -1 after an error. */
static int prepare(struct run *r, struct profiling *p)
{
    const struct program_args *g = &r->args;
    struct engine_choice choice = {program_value(g, "engine"), program_value(g, "onnxruntime")};
    *p = (struct profiling){
        .m = {.stop = &stop, .a = r->a, .d = &r->diag},
        .inputs = {.file = program_value(g, "inputs"), .seed = (uint64_t)program_number(g, "seed")},
        .cores = program_value(g, "cores")};
    if (program_value(g, "side-by-side")) /* pieces of a model are for no devices yet */
        p->side_by_side =
            infile_is_folder(g->operand[0]) || program_value(g, "rounds") ? UINT32_MAX : 2;
    configure(r, &p->m);
    p->m.choice = choice;
    if (infile_is_folder(g->operand[0]))
        p->dim = all_dims(r, &p->ndim);
    p->m.memory = p->m.parts && (infile_is_folder(g->operand[0]) || program_value(g, "rounds"));
    p->m.e = engine_open(&choice, r->a, &r->diag);
    if (!p->m.e)
        return -1;
    p->m.folder = scratch_folder(r->a, &r->diag);
    if (!p->m.folder)
        return -1;
    const struct engine_load how = {.threads = p->m.threads, .optimise = p->m.parts};
    engine_tell(p->m.e, &how, r->a, &r->diag);
    return 0;
}

/* Checks before the work that a split can be written to -o: nothing is there, or a split, or an empty folder.  Returns
 * 0, or -1 and an error. */
static int check_folder(struct run *r)
{
    struct folder f;
    if (folder_begin(&f, program_value(&r->args, "output"), /*into=*/false, r->args.operand[0],
                     r->a, &r->diag))
        return -1;
    folder_abort(&f);
    return 0;
}

/* --rounds: plans and measures in rounds (rounds.h), which begin with the model's pieces in the folder `pieces`.
 * Returns 0; -1 after an error or Ctrl-C, with the exit code in r->exit. */
static int measure_rounds(struct run *r, const struct profiling *p, const char *pieces)
{
    const struct program_args *g = &r->args;
    const struct rounds of = {.p = p,
                              .model = g->operand[0],
                              .output = program_value(g, "output"),
                              .pieces = pieces,
                              .parameters = &r->parameters,
                              .cores = program_value(g, "cores"),
                              .most = (uint32_t)program_number(g, "rounds")};
    if (check_folder(r))
        return -1;
    r->exit = rounds_run(&of, g->rest);
    if (stop && r->exit == 0)
        r->exit = INTERRUPTED;
    return r->exit ? -1 : 0;
}

/* Measures the whole model, and scales the times of its pieces so that they sum up to the time of the whole: each piece
 * adds the cost of a session.  After Ctrl-C the times stay as they are.  Returns 0, or -1 after an error. */
static int scale_pieces(struct run *r, const struct profiling *p, struct profiled *pieces)
{
    struct profiling alone = *p;
    struct profiled whole;
    alone.m.node_runs = 0;
    alone.side_by_side = 0;
    const char *folder = stop ? NULL : cut_model(r, p->m.folder, "whole", 1);
    if (!folder && stop)
        return 0;
    if (!folder || profile_folder(&alone, folder, NULL, &whole))
        return -1;
    int64_t all = 0;
    for (uint32_t k = 0; k < pieces->s.npart; k++)
        all = sat_add(all, pieces->f[k].ps > 0 ? pieces->f[k].ps : 0);
    if (whole.s.npart != 1 || whole.f[0].ps < 0 || all == 0)
        return 0; /* ended by Ctrl-C */
    diag_note(&r->diag, "pieces together take %.3f of the whole: scaled",
              (double)all / (double)whole.f[0].ps);
    for (uint32_t k = 0; k < pieces->s.npart; k++)
        if (pieces->f[k].ps > 0)
            pieces->f[k].ps = mul_div_ceil(pieces->f[k].ps, whole.f[0].ps, all);
    return 0;
}

/* Prints a row with what was measured of a link; first: below the heads of the columns. */
static void tell_link(struct run *r, const struct link_fit *l, bool first)
{
    char rate[UNIT_TEXT], latency[UNIT_TEXT], size[UNIT_TEXT];
    if (first)
        printf("between    --link                        measured up to   off at 20 other sizes\n");
    const char *text =
        arena_fmt(r->a, "%s,%s", rate_print(rate, l->bps), time_print(latency, l->latency_ps));
    printf("%-10s %-29s %-16s %.1f %%\n", link_way_name(l->way), text,
           bytes_short(size, l->largest), (double)l->off / 10);
}

/* Measures the link between threads and the link between processes of this machine; under mpirun, the link between two
 * ranks instead.  Prints what was measured, and writes the first link to the file of -o.  Of several ranks only rank 0
 * prints and writes.  Returns 0, or -1 after an error. */
static int measure_links(struct run *r)
{
    const char *output = program_value(&r->args, "output");
    struct link_fit link[LINK_WAYS];
    bool ranks = messages_rank() >= 0;
    for (int w = 0; w < (ranks ? 1 : LINK_WAYS); w++) {
        int rc = ranks ? link_measure_ranks(&stop, link, r->a, &r->diag)
                       : link_measure((enum link_way)w, &stop, &link[w], &r->diag);
        if (rc > 0) {
            r->exit = INTERRUPTED;
            return diag_error(&r->diag, "ended by Ctrl-C: nothing is complete");
        }
        if (rc < 0)
            return -1;
        if (messages_rank() > 0)
            return 0; /* rank 0 alone has the result */
        tell_link(r, &link[w], w == 0);
    }
    /* the link between threads or, under mpirun, between ranks */
    const struct link_fit *first = &link[0];
    return output ? link_write(first, output, r->a, &r->diag) : 0;
}

/* Fits a class to the times of --costs, and writes it to the file of -o.  Returns 0, or -1 after an error. */
static int fit(struct run *r)
{
    const struct program_args *g = &r->args;
    struct pieces_of of = {
        .model = g->operand[0], .costs = program_value(g, "costs"), .count = 1, .stop = &stop};
    of.dim = all_dims(r, &of.ndim);
    if (fit_write(&of, program_value(g, "output"), r->a, &r->diag) == 0)
        return 0;
    r->exit = stop ? INTERRUPTED : 0;
    return -1;
}

/* Measures a model, in pieces, or a split folder, and writes the file of -o; with --rounds, leaves that to
 * measure_rounds().  Returns 0, or -1 after an error. */
static int measure(struct run *r)
{
    const char *input = r->args.operand[0], *known = program_value(&r->args, "costs");
    struct profiling p;
    struct profiled out;
    struct costs_in rows_in;
    if (prepare(r, &p) || (known && costs_read(&rows_in, known, r->a, &r->diag)))
        return -1;
    int64_t segments = program_number(&r->args, "segments");
    const char *folder = infile_is_folder(input) ? input
                                                 : cut_model(r, p.m.folder, "pieces",
                                                             segments > 0 ? (uint32_t)segments : 1);
    if (!folder && stop) {
        r->exit = INTERRUPTED;
        return diag_error(&r->diag, "ended by Ctrl-C: nothing is complete");
    }
    if (folder && program_value(&r->args, "rounds"))
        return measure_rounds(r, &p, folder);
    p.parameters = infile_is_folder(input) ? NULL : &r->parameters;
    if (!folder || profile_folder(&p, folder, known ? &rows_in : NULL, &out))
        return -1;
    if (!infile_is_folder(input) && segments > SEGMENTS_UNSCALED && scale_pieces(r, &p, &out))
        return -1;
    return write_costs(r, &out);
}

/* Does what the command line asks for.  Returns 0, or -1 after an error. */
static int do_work(struct run *r)
{
    if (check_usage(r))
        return -1;
    if (program_value(&r->args, "links"))
        return measure_links(r);
    if (program_value(&r->args, "fit"))
        return fit(r);
    return measure(r);
}

/* Runs the program under arena_guard(); arg: the struct run, whose exit code is set. */
static void run(void *arg)
{
    struct run *r = arg;
    if (!program_begin(&r->args, r->argc, r->argv, r->a, &r->diag, &r->exit))
        return;
    if (do_work(r) && !r->exit)
        r->exit = INPUT;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], PART_MEMORY_CALL))
        return part_memory_answer(argv[2]);
    struct run r = {.a = arena_new(NULL), .argc = argc, .argv = argv};
    r.diag = (struct diag){.emit = program_show, .user = &r.args};
    r.args.program = &program;
    program_catch(&stop);
    return program_guarded(&program, r.a, run, &r, &r.exit);
}
