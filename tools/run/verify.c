/* The program pcc-verify: does a split compute what the model computes?
 *
 *   pcc-verify MODEL SPLIT [SAMPLE...]
 * runs the model in one session and the parts in the manifest's order, optimisations off, and demands equal bits of
 * each output.  Exit codes are those of tools/verify_split.py: 0 equal, 1 different or bad input, 2 wrong usage, 3
 * nothing can be compared, 77 no ONNX Runtime; and 130 ended by Ctrl-C. */
#include "ir/base/json_in.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "ir/cluster/detect/processor.h"
#include "tools/run/inputs.h"
#include "tools/run/program.h"
#include "tools/run/resize.h"
#include "tools/run/verify_bisect.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/* exit codes */
enum { DIFFERENT = 1, INPUT = 1, USAGE = 2, NOTHING = 3, NO_RUNTIME = 77, INTERRUPTED = 130 };

static const struct opt rows[] = {
    {OPT_INT, "samples", .arg = "N", .def = "1", .lo = "0", .hi = "1000000",
     .help = "random samples beside those that are given (default: 1, or none if some are given)"},
    {OPT_INT, "seed", .arg = "N", .def = "0", .lo = "0",
     .help = "seed of the first random sample; each further one has the next (default: 0)"},
    {OPT_TEXT, "inputs", .arg = "FILE.npz",
     .help = "inputs by name that all random samples have, as numpy.savez writes them"},
    {OPT_TEXT, "dim", .arg = "NAME=N",
     .help = "size of a dimension in random samples (repeats; default: as planned)"},
    {OPT_BYTES, "memory", .arg = "SIZE", .lo = "1", .like = "2GiB",
     .help =
         "bytes for values of both sides while the first one that differs is looked for, such as 2GiB (default: half "
         "of what is free)"},
    {OPT_TEXT, "tolerance", .arg = "T",
     .help =
         "share of an output's largest value by which its floats may differ (default: what the manifest allows where "
         "devices add up floats, else 0)"},
    {OPT_BOOL, "as-run",
     .help =
         "then compare both with the optimisations that runs have, too, and say how far each output is off"},
    PROGRAM_ROWS,
    {0}};

static const struct program program = {
    .name = "pcc-verify",
    .does = "compare the parts of a split with the whole model",
    .usage = "pcc-verify MODEL SPLIT [SAMPLE.npz|FOLDER...]\n",
    .description =
        "Runs a model, and the parts of its split in their order, in ONNX Runtime, optimisations off, and demands that "
        "each output is equal bit by bit; if one is not, names the first value of the model that differs. Where floats "
        "of 16 bits cross, outputs that are computed from them may be off by rounding. Samples are files of "
        "numpy.savez, or folders of input_0.pb, input_1.pb, ...",
    .operand = "model, folder of the split, samples",
    .end =
        "exit codes: 0 equal, 1 different, or bad input, 2 usage, 3 nothing can be compared (the model does not run, "
        "or is random), 77 no ONNX Runtime, 130 ended by Ctrl-C\n",
    .row = rows};

static signal_flag stop; /* set by Ctrl-C, and by other signals that end a program */

/* The run. */
struct run {
    struct program_args args;
    struct arena *a;
    struct diag diag;
    int argc;
    char **argv;
    struct split split;
    struct verifying v;
    const char *const *dim; /* [ndim] values of --dim */
    uint32_t ndim;
    uint32_t nsample;
    const char **sample_name; /* [nsample] words for the sample, for messages */
    /* [nsample][value] reference: inputs and the outputs of the model; found: the same inputs and the outputs of
     * another side */
    struct engine_value ***reference, ***found;
    double tolerance; /* the value of --tolerance; 0 without it */
    int exit;         /* exit code */
};

/* Prints a line of the result, with characters of names that a terminal would obey written as \xNN (utf8.h). */
static void __attribute__((format(printf, 2, 3))) say(const struct run *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    utf8_put(stdout, arena_vfmt(r->a, fmt, ap));
    va_end(ap);
    putchar('\n');
}

/* Reports an error in usage.  Returns its exit code. */
static int misused(struct run *r, const char *what)
{
    diag_error(&r->diag, "%s (see --help)", what);
    return USAGE;
}

/* Takes the values of --dim into r->dim, and checks their form.  Returns 0, or -1 and an error. */
static int take_dims(struct run *r)
{
    const struct program_args *g = &r->args;
    const char **dim = arena_array(r->a, (size_t)g->ngiven + 1, sizeof *dim), *text;
    for (r->dim = dim; (text = program_nth(g, "dim", r->ndim)); r->ndim++) {
        const char *eq = strrchr(text, '=');
        int64_t n;
        if (!eq || eq == text || !count_parse(eq + 1, &n))
            return diag_error(&r->diag, "--dim '%s': expected NAME=N with N >= 0 (see --help)",
                              text);
        dim[r->ndim] = text;
    }
    return 0;
}

/* Takes the value of --tolerance.  Returns 0, or -1 and an error. */
static int take_tolerance(struct run *r)
{
    const char *text = program_value(&r->args, "tolerance");
    char *end = NULL;
    r->tolerance = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(r->tolerance >= 0 && r->tolerance <= 1)))
        return diag_error(&r->diag, "--tolerance '%s': expected a number from 0 to 1 (see --help)",
                          text);
    return 0;
}

/* Checks that the operands and options of the command line fit together, and takes --dim, --tolerance and the number of
 * samples.  Returns an exit code. */
static int check_usage(struct run *r)
{
    static const char *const of_random[] = {"inputs", "seed"};
    const struct program_args *g = &r->args;
    if (g->noperand < 2)
        return misused(r, "expected a model and the folder of its split");
    if (g->rest)
        return misused(r, "expected nothing behind --");
    if (take_dims(r))
        return USAGE;
    if (program_value(g, "onnxruntime") && !*program_value(g, "onnxruntime"))
        return misused(r, "--onnxruntime: expected the path of a shared library");
    if (take_tolerance(r))
        return USAGE;
    r->nsample = g->noperand - 2;
    if (r->nsample == 0 || program_value(g, "samples"))
        r->nsample += (uint32_t)program_number(g, "samples");
    for (size_t k = 0; k < sizeof of_random / sizeof *of_random; k++)
        if (r->nsample > 0 && r->nsample == g->noperand - 2 && program_value(g, of_random[k]))
            return misused(
                r, arena_fmt(r->a, "--%s has no effect: no sample is random, without --samples=N",
                             of_random[k]));
    return r->nsample > 0 ? 0 : misused(r, "--samples=0: expected samples, given or random");
}

/* ---- inputs ----------------------------------------------------------------------------------- */

/* Makes the inputs of sample k; integers of random inputs get the values that `integers` names.  Returns 0, or -1 and
 * an error. */
static int make_sample(struct run *r, uint32_t k, enum random_integers integers)
{
    const struct program_args *g = &r->args;
    uint32_t given = g->noperand - 2;
    struct inputs_of of = {.file = program_value(g, "inputs"), .integers = integers};
    if (k < given)
        of = (struct inputs_of){.file = g->operand[2 + k], .all = true, .any_sizes = true};
    else
        of.seed = (uint64_t)program_number(g, "seed") + (k - given);
    r->sample_name[k] =
        k < given ? of.file : arena_fmt(r->a, "random sample %llu", (unsigned long long)of.seed);
    of.whole = true;
    return inputs_make(r->v.e, &r->split, &of, r->reference[k], r->a, &r->diag);
}

/* Returns input number i: first come the inputs of the parts, then the inputs of the model; most are both. */
static uint32_t input_at(const struct split *s, uint32_t i)
{
    return i < s->ninput ? s->input[i] : s->given[i - s->ninput];
}

/* Frees the inputs of the first n samples. */
static void free_samples(struct run *r, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < r->split.ninput + r->split.ngiven; i++) {
            uint32_t at = input_at(&r->split, i);
            r->v.e->face->value_free(r->v.e, r->reference[k][at]);
            r->reference[k][at] = r->found[k][at] = NULL;
        }
}

/* Makes the inputs of all samples in r->reference, and shares them with r->found.  Returns an exit code: INPUT, if a
 * file that was given is bad; NOTHING, if random inputs cannot be made. */
static int make_samples(struct run *r, enum random_integers integers)
{
    for (uint32_t k = 0; k < r->nsample; k++) {
        if (make_sample(r, k, integers)) {
            free_samples(r, k);
            return k < r->args.noperand - 2 || program_value(&r->args, "inputs") ? INPUT : NOTHING;
        }
        for (uint32_t i = 0; i < r->split.ninput + r->split.ngiven; i++) {
            uint32_t at = input_at(&r->split, i);
            r->found[k][at] = r->reference[k][at];
        }
    }
    return 0;
}

/* Whether an output is compared: it is no input that the model returns, and depends on no random operator. */
static bool is_compared(const struct verify_output *o)
{
    return o->from != FROM_INPUT && !o->random;
}

/* Warns if no output of the model that is compared differs between two samples: a split that ignores its inputs would
 * be equal, too. */
static void check_sensitive(struct run *r)
{
    bool changes = r->nsample < 2 || r->split.ninput == 0; /* there is nothing to see then */
    for (uint32_t i = 0; i < r->v.noutput; i++)
        for (uint32_t k = 1; k < r->nsample && is_compared(&r->v.output[i]) && !changes; k++) {
            struct difference how;
            uint32_t value = r->v.output[i].value;
            same_compare(r->v.e, r->reference[0][value], r->reference[k][value], &how);
            changes = !how.bits;
        }
    if (!changes)
        diag_warning(
            &r->diag, WARN_NONE,
            "no output of the model changes with the samples: that they are equal says little");
}

/* Makes the samples, and runs the model on them.  If the model loads but fails on random integers (indices out of
 * range, masks that leave nothing), makes the samples again with all integers 1, then 0.  Returns an exit code. */
static int run_reference(struct run *r)
{
    struct verify_failure first, f;
    bool random = r->nsample > r->args.noperand - 2;
    for (enum random_integers i = INTEGERS_RANDOM; i <= INTEGERS_ZERO; i++) {
        int rc = make_samples(r, i);
        if (rc)
            return rc;
        if (!verify_run(&r->v, &r->v.whole, /*optimise=*/false, r->reference, r->nsample, &f)) {
            if (i != INTEGERS_RANDOM)
                diag_note(&r->diag,
                          "random integers are all %d: the model does not run with others",
                          i == INTEGERS_ONE);
            check_sensitive(r);
            return 0;
        }
        free_samples(r, r->nsample);
        if (f.stopped)
            return INTERRUPTED;
        if (i == INTEGERS_RANDOM)
            first = f;
        if (!random || !f.loaded)
            break;
    }
    diag_error(&r->diag, "cannot run the model: %s: %s", first.file, first.line.line);
    return NOTHING;
}

/* ---- comparing -------------------------------------------------------------------------------- */

/* The result of comparing a side with the model. */
struct findings {
    uint32_t outputs;   /* number of outputs that were compared, or are weights that no part has */
    uint32_t near;      /* number of outputs that are equal only within rounding in a sample */
    uint32_t different; /* number of outputs that differ in a sample */
    /* numbers of the first output that differs, and of the sample in which it does */
    uint32_t output, sample;
    struct difference how; /* how this output differs */
};

/* Whether a file of the side makes an output: false for inputs that the model returns, and, if the side is the parts,
 * for weights that no part has. */
static bool is_made(const struct run *r, const struct verify_side *side,
                    const struct verify_output *o)
{
    return o->from == FROM_PART || (o->from == FROM_WEIGHTS && side != &r->v.parts);
}

/* Compares the outputs of a side, r->found, with those of the model, r->reference, on all samples; writes the counts
 * and the first difference to *to. */
static void compare(struct run *r, const struct verify_side *side, struct findings *to)
{
    *to = (struct findings){0};
    for (uint32_t i = 0; i < r->v.noutput; i++) {
        const struct verify_output *o = &r->v.output[i];
        bool near = false, differs = false;
        if (!is_compared(o))
            continue;
        for (uint32_t k = 0; k < r->nsample && is_made(r, side, o); k++) {
            struct difference how;
            same_compare(r->v.e, r->reference[k][o->value], r->found[k][o->value], &how);
            if (how.bits)
                continue;
            if ((side == &r->v.parts && o->rounded && how.near) || verify_tolerates(&r->v, &how)) {
                near = true;
                continue;
            }
            if (to->different == 0 && !differs) { /* the first difference of all */
                to->output = i;
                to->sample = k;
                to->how = how;
            }
            differs = true;
        }
        to->outputs++;
        to->near += near;
        to->different += differs;
    }
}

/* Returns the bytes that values of both sides may take: the value of --memory, else half of the machine's free memory;
 * 1 GiB if that is not known. */
static int64_t room(const struct run *r)
{
    int64_t bytes, free = processor_find("", r->a).memory;
    const char *said = program_value(&r->args, "memory");
    if (said && bytes_parse(said, &bytes))
        return bytes;
    return free > 0 ? free / 2 : INT64_C(1) << 30;
}

/* Looks for the first value, in the order of the model, that differs in a sample, and prints it, or that there is none.
 * Frees all outputs of the model first, to make room.  Returns an exit code: DIFFERENT, or INTERRUPTED. */
static int tell_first(struct run *r, const struct verify_side *side, uint32_t sample)
{
    struct verify_first f;
    for (uint32_t k = 0; k < r->nsample; k++) /* frees all outputs, to make room */
        verify_free_outputs(&r->v, r->reference[k]);
    if (verify_bisect(&r->v, side, r->reference[sample], room(r), &f))
        return stop ? INTERRUPTED : DIFFERENT;
    const char *skipped =
        f.skipped ? arena_fmt(r->a, ", %u cannot be outputs (%s)", f.skipped, f.why.line) : "";
    const char *where =
        f.value && *f.device ? arena_fmt(r->a, "%s on %s", f.file, f.device) : f.file;
    const char *lost =
        f.value && f.lost ? arena_fmt(r->a, "; it lacks the operand '%s' there", f.lost) : "";
    if (f.value)
        say(r, "first value that differs: '%s', of node '%s' (%s) in %s: %s%s", f.value, f.node,
            f.op, where, f.how.text, lost);
    else
        say(r, "no value that both make differs when all are outputs");
    diag_note(
        &r->diag,
        "values that are equal before it: %u%s; runs of both sides with values as outputs: %u",
        f.equal, skipped, f.runs);
    return DIFFERENT;
}

/* Prints how the outputs of a side differ from the model's.  Returns the exit code. */
static int tell_difference(struct run *r, const struct verify_side *side, const struct findings *f)
{
    const char *more =
        f->different > 1 ? arena_fmt(r->a, ", and %u more outputs", f->different - 1) : "";
    say(r, "DIFFERENT: output '%s' of %s, %s: %s%s",
        r->split.value[r->v.output[f->output].value].name, side->who, r->sample_name[f->sample],
        f->how.text, more);
    if (r->v.other)
        verify_tell_other(&r->v);
    return tell_first(r, side, f->sample);
}

/* Runs a side on all samples, and compares its outputs with those of the model; writes the result to *f, and prints
 * the first difference.  Returns an exit code. */
static int check_side(struct run *r, const struct verify_side *side, struct findings *f)
{
    struct verify_failure why;
    if (verify_run(&r->v, side, /*optimise=*/false, r->found, r->nsample, &why)) {
        if (why.stopped)
            return INTERRUPTED;
        diag_error(&r->diag, "%s/%s does not run: %s", r->split.folder, why.file, why.line.line);
        return INPUT;
    }
    compare(r, side, f);
    for (uint32_t k = 0; k < r->nsample; k++)
        verify_free_outputs(&r->v, r->found[k]);
    return f->different ? tell_difference(r, side, f) : 0;
}

/* Prints which outputs are equal, bit by bit or within the tolerance. */
static void tell_equal(const struct run *r, const struct findings *f)
{
    char how[80] = "bit-equal", on[40] = "";
    if (f->near && r->v.tolerance > 0)
        snprintf(how, sizeof how, "%u bit-equal, %u within %g of the largest value",
                 f->outputs - f->near, f->near, r->v.tolerance);
    else if (f->near)
        snprintf(how, sizeof how, "%u bit-equal, %u within rounding", f->outputs - f->near,
                 f->near);
    if (r->nsample > 1)
        snprintf(on, sizeof on, ", on %u samples", r->nsample);
    say(r, "equal: %u outputs of the parts and of the whole model in the folder, %s%s", f->outputs,
        how, on);
}

/* Returns how an output of the optimised parts differs from that of the optimised model, in the sample where it differs
 * most; `bits` is true if it differs in none, or no part makes it. */
static struct difference largest(const struct run *r, const struct verify_output *o)
{
    struct difference most = {.bits = true}, how;
    for (uint32_t k = 0; k < r->nsample && is_made(r, &r->v.parts, o); k++) {
        same_compare(r->v.e, r->reference[k][o->value], r->found[k][o->value], &how);
        if (!how.bits && (most.bits || how.worst > most.worst))
            most = how;
    }
    return most;
}

/* Compares the optimised parts with the optimised model, and prints how far each output is off.  Returns an exit code,
 * which is 0 also if outputs differ, or if model or parts do not run. */
static int tell_as_run(struct run *r)
{
    struct verify_failure f;
    for (uint32_t k = 0; k < r->nsample; k++)
        verify_free_outputs(&r->v, r->reference[k]);
    if (verify_run(&r->v, &r->v.whole, /*optimise=*/true, r->reference, r->nsample, &f) ||
        verify_run(&r->v, &r->v.parts, /*optimise=*/true, r->found, r->nsample, &f)) {
        if (!f.stopped)
            diag_warning(&r->diag, WARN_NONE, "as run: %s does not run: %s", f.file, f.line.line);
        return f.stopped ? INTERRUPTED : 0;
    }
    for (uint32_t i = 0; i < r->v.noutput; i++) {
        struct difference most = largest(r, &r->v.output[i]);
        if (is_compared(&r->v.output[i]))
            say(r, "as run: output '%s': %s", r->split.value[r->v.output[i].value].name,
                most.bits ? "equal bits" : most.text);
    }
    for (uint32_t k = 0; k < r->nsample; k++)
        verify_free_outputs(&r->v, r->found[k]);
    return 0;
}

/* Notes which outputs are compared, with which tolerance, and which cannot be compared.  Returns an exit code: NOTHING
 * and an error, if all outputs depend on random operators or are inputs, and at least one on random operators. */
static int tell_plan(struct run *r)
{
    uint32_t rounded = 0, random = 0, inputs = 0;
    for (uint32_t i = 0; i < r->v.noutput; i++) {
        inputs += r->v.output[i].from == FROM_INPUT;
        rounded += r->v.output[i].rounded;
        random += r->v.output[i].random;
    }
    if (random > 0 && random + inputs == r->v.noutput) {
        diag_error(&r->diag,
                   "nothing to compare: all outputs depend on random operators, such as '%s'%s",
                   r->v.random, inputs ? ", or are inputs" : "");
        return NOTHING;
    }
    if (random > 0)
        diag_note(&r->diag,
                  "%u outputs of %u depend on random operators, such as '%s': not compared", random,
                  r->v.noutput, r->v.random);
    if (inputs > 0)
        diag_note(&r->diag, "%u outputs of %u are inputs: not compared", inputs, r->v.noutput);
    if (r->v.tolerance > 0)
        diag_note(&r->diag, "tolerance: %g of the largest value of an output%s", r->v.tolerance,
                  program_value(&r->args, "tolerance")
                      ? ""
                      : ", the manifest's, since devices add up floats");
    if (r->v.ncrossing > 0)
        diag_note(
            &r->diag,
            "floats of 16 bits cross, or casts of them (%u values): %u outputs of %u may be off by "
            "rounding, at most %g of the largest",
            r->v.ncrossing, rounded, r->v.noutput, SAME_TOLERANCE);
    return 0;
}

/* If devices add up floats, takes the tolerance that the manifest allows for that.  Returns 0, or -1 and an error. */
static int take_manifest_tolerance(struct run *r)
{
    const json_t *said =
        json_object_get(json_object_get(r->split.manifest, "sharding"), "tolerance");
    r->v.tolerance = json_number_value(said);
    if (!said || (json_is_number(said) && r->v.tolerance >= 0 && r->v.tolerance <= 1))
        return 0;
    return diag_error(&r->diag,
                      "%s/manifest.json: sharding: tolerance: expected a number from 0 to 1",
                      r->split.folder);
}

/* Reads the files, and makes tables for the samples.  Returns an exit code. */
static int read_files(struct run *r)
{
    const struct program_args *g = &r->args;
    struct stat st;
    if (stat(g->operand[0], &st) || !S_ISREG(st.st_mode)) {
        diag_error(&r->diag, "%s: expected a model, a file", g->operand[0]);
        return INPUT;
    }
    if (split_read(&r->split, g->operand[1], r->a, &r->diag) ||
        (r->ndim && split_resize(&r->split, r->dim, r->ndim, r->a, &r->diag)))
        return INPUT;
    r->v = (struct verifying){
        .s = &r->split, .a = r->a, .d = &r->diag, .stop = &stop, .tolerance = r->tolerance};
    if (program_value(g, "tolerance") == NULL && take_manifest_tolerance(r))
        return INPUT;
    int rc = verify_read(&r->v, g->operand[0], r->dim, r->ndim);
    if (rc)
        return rc > 0 ? NOTHING : INPUT;
    r->sample_name = arena_array(r->a, r->nsample, sizeof *r->sample_name);
    r->reference = arena_array(r->a, r->nsample, sizeof *r->reference);
    r->found = arena_array(r->a, r->nsample, sizeof *r->found);
    for (uint32_t k = 0; k < r->nsample; k++) {
        r->reference[k] = arena_array(r->a, (size_t)r->split.nvalue + 1, sizeof **r->reference);
        r->found[k] = arena_array(r->a, (size_t)r->split.nvalue + 1, sizeof **r->found);
    }
    return 0;
}

/* Runs the model and compares the parts, and then the model in the folder, with it.  Returns an exit code. */
static int verify(struct run *r)
{
    const struct engine_choice choice = {program_value(&r->args, "engine"),
                                         program_value(&r->args, "onnxruntime")};
    struct findings parts, annotated;
    int rc = read_files(r);
    if (!rc)
        rc = tell_plan(r);
    if (rc)
        return rc;
    r->v.e = engine_open(&choice, r->a, &r->diag);
    if (!r->v.e)
        return NO_RUNTIME;
    rc = run_reference(r);
    if (rc)
        return rc;
    rc = check_side(r, &r->v.parts, &parts);
    if (!rc)
        rc = check_side(r, &r->v.annotated, &annotated);
    if (!rc)
        tell_equal(r, &parts);
    if (!rc && program_value(&r->args, "as-run"))
        rc = tell_as_run(r);
    for (uint32_t k = 0; k < r->nsample; k++)
        verify_free_outputs(&r->v, r->reference[k]);
    free_samples(r, r->nsample);
    return rc;
}

/* Runs the program under arena_guard(); arg: the struct run, whose exit code is set. */
static void run(void *arg)
{
    struct run *r = arg;
    if (!program_begin(&r->args, r->argc, r->argv, r->a, &r->diag, &r->exit))
        return;
    r->exit = check_usage(r);
    if (!r->exit)
        r->exit = verify(r);
    if (r->exit == INTERRUPTED)
        diag_error(&r->diag, "ended by Ctrl-C: nothing is verified");
}

int main(int argc, char **argv)
{
    struct run r = {.a = arena_new(NULL), .argc = argc, .argv = argv};
    r.diag = (struct diag){.emit = program_show, .user = &r.args};
    r.args.program = &program;
    program_catch(&stop);
    return program_guarded(&program, r.a, run, &r, &r.exit);
}
