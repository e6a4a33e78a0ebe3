/* Measures planners for one sample alone: their CPU time and memory, and the makespans of their plans.
 *
 *     pcc-gen gpt --layers 1135 --no-weights -o small.onnx && pcc-gen gpt --layers 31250 --no-weights -o large.onnx
 *     cmake --build --preset release --target bench-lists && build/release/bench-lists small.onnx large.onnx
 *
 * With `--only PLANNER` before the models, only that planner is measured.
 *
 * There are eight devices, whose memory together is 1.3 times the model's bytes, with a direct network and ports.
 * Only the planner is measured, not reading the model, computing costs and `contract` before it, nor the judge after
 * it.  Each planner runs several times, each time in a child process; the least time counts.  Its memory is the
 * growth of the process.  METIS and Scotch partition the same graphs; their time is that of the library alone, their
 * makespan that of the dispatch that suits the plan best.
 *
 * Exit code 1: a planner needs more bytes per node than BYTES, or more time than the table claims[] says, in
 * milliseconds or in runs of the event core.  The latter is a measure that does not depend on the machine. */
#include "frontends/frontends.h"
#include "ir/base/child.h"
#include "ir/exec/evaluate.h"
#include "ir/exec/events.h"
#include "ir/exec/makespan/single_step.h"
#include "passes/pipeline.h"
#include "tests/support/aim.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    DEVICES = 8,
    BYTES = 300,     /* bytes per node that a planner may need, at most */
    SMALL = 36332,   /* number of nodes of the smaller model above */
    LARGE = 1000012, /* number of nodes of the larger one */
    TEXT = 100       /* bytes of bench_result.text */
};

/* The most time that a planner may take. */
struct claims {
    const char *planner;
    double small, large; /* ms for SMALL and for LARGE nodes; 0: no claim */
    double runs;         /* as a multiple of the time of one run of the event core; 0: no claim */
    /* a partitioner: its own child process is measured, and any dispatch may be used */
    bool library;
};

static const struct claims claims[] = {
    {"dfs-place", 0, 0, 0, false},           {"order-place", 0, 0, 0, false},
    {"celeritas-place", 30, 1500, 6, false}, {"heft-place", 60, 3000, 9, false},
    {"m-topo-place", 0, 0, 0, false},        {"m-etf-place", 30, 2000, 6, false},
    {"m-sct-place", 0, 0, 0, false},         {"metis-place", 0, 0, 0, true},
    {"scotch-place", 0, 0, 0, true},         {0}};

/* The result of a child process. */
struct bench_result {
    double ms, bytes; /* CPU time in ms; bytes of memory per node */
    int64_t makespan; /* ps, of the plan; -1: no plan */
    char text[TEXT];  /* claim.argument of the plan, up to the first ';' */
};

/* diag.emit: prints errors only. */
static void print_error(void *user, enum diag_level level, enum warning w, const char *text)
{
    (void)user;
    (void)w;
    if (level == DIAG_ERROR)
        fprintf(stderr, "%s\n", text);
}

/* Returns the CPU time in ms of this process, or of its children that have ended. */
static double cpu_ms(bool children)
{
    struct rusage u;
    getrusage(children ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
    return 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Returns the most memory that this process has had so far, in bytes. */
static double peak_bytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1024.0 * (double)u.ru_maxrss;
}

/* Reads a model, computes its costs, runs `contract`, and gives the devices memory for 1.3 times the model.  Returns
 * 0; or prints an error and returns -1. */
static int prepare(struct ctx *x, const char *path)
{
    static const struct onnx_options o = {0};
    struct run_options run = {0};
    struct pipeline p = {0};
    x->scene.m = onnx_read(path, &o, NULL, x->use.diag);
    if (!x->scene.m)
        return -1;
    x->use.mem = x->scene.m->mem;
    x->use.scratch = arena_new(NULL);
    aim_at(&x->scene.model, "makespan");
    x->scene.model.step.network = NETWORK_DIRECT;
    if (cluster_parse(x->scene.cluster, x->use.mem, "8xa100", x->use.diag) ||
        pipeline_parse(&p, "infer-shapes,cost,contract", x->use.mem, x->use.diag) ||
        pipeline_run(&p, x, &run))
        return -1;
    x->scene.cluster->cls[0].memory = wdag_bytes(x->levels.base) / DEVICES / 10 * 13;
    return 0;
}

/* Returns the makespan of the plan in ps, by the first dispatch, or by the best one if any_dispatch (for plans
 * without an order of their own).  Sets the objective to the makespan, whatever the plan was made for. */
static int64_t makespan_of(struct ctx *x, bool any_dispatch)
{
    struct step_model *how = &x->scene.model.step;
    int64_t best = INT64_MAX;
    aim_at(&x->scene.model, "makespan");
    for (how->dispatch = 0; how->dispatch < (any_dispatch ? DISPATCHES : 1); how->dispatch++) {
        int64_t t = plan_evaluate(&x->scene, x->results.plan, x->use.scratch).value;
        best = smaller(t, best);
    }
    return best;
}

/* Argument of the functions that run in a child process. */
struct job {
    struct ctx *x;
    const struct claims *c; /* the planner; not used by run_core() */
};

/* Runs the planner of a job, a library for the time per sample, and writes its struct bench_result to out (also if the
 * planner leaves no plan).  Returns 0; 1: the planner is not known, or writing failed. */
static int run_planner(void *arg, FILE *out)
{
    const struct job *job = arg;
    struct ctx *x = job->x;
    struct bench_result f = {.makespan = -1};
    struct pipeline p = {0};
    const char *text = arena_fmt(x->use.mem, "%s{best-effort=true}", job->c->planner);
    if (pipeline_parse(&p, text, x->use.mem, x->use.diag))
        return 1;
    if (job->c->library)
        x->scene.model.objective = TIME_PER_SAMPLE;
    double before = cpu_ms(/*children=*/false), held = peak_bytes();
    if (!pipeline_step_run(&p.step[0], x)) {
        f.ms = job->c->library ? cpu_ms(/*children=*/true) : cpu_ms(/*children=*/false) - before;
        f.bytes = (peak_bytes() - held) / x->levels.base->n;
        f.makespan = makespan_of(x, job->c->library);
        snprintf(f.text, sizeof f.text, "%s", x->results.plan->claim.argument);
        f.text[strcspn(f.text, ";")] = 0;
    }
    return fwrite(&f, sizeof f, 1, out) != 1;
}

/* Runs the event core once, with the nodes in eight stretches on the devices, and writes the struct bench_result to
 * out.  Returns 0; 1: writing failed. */
static int run_core(void *arg, FILE *out)
{
    struct ctx *x = ((const struct job *)arg)->x;
    const struct wdag *g = x->levels.base;
    int32_t *dev = arena_array(x->use.mem, x->scene.m->nnode, sizeof *dev);
    const struct plan plan = {.dev = dev};
    struct bench_result f = {.text = "the nodes in eight stretches, run once"};
    for (nid n = 0; n < x->scene.m->nnode; n++)
        dev[n] = -1;
    for (uint32_t v = 0; v < g->n; v++)
        dev[g->node[v]] = (int32_t)((uint64_t)v * DEVICES / g->n);
    double before = cpu_ms(/*children=*/false), held = peak_bytes();
    struct task_graph tasks = single_step(&x->scene, &plan, NULL, x->use.scratch);
    f.makespan = events_run(&tasks, NULL, x->use.scratch).end;
    f.ms = cpu_ms(/*children=*/false) - before;
    f.bytes = (peak_bytes() - held) / g->n;
    return fwrite(&f, sizeof f, 1, out) != 1;
}

/* Runs work(job) `times` times, each in a child process.  Returns the measurement with the least time; its makespan
 * is -1 if no run succeeded. */
static struct bench_result best_of(int (*work)(void *, FILE *), struct job *job, int times)
{
    struct bench_result best = {.makespan = -1};
    for (int i = 0; i < times; i++) {
        struct clock clock = {0};
        struct arena *a = arena_new(NULL);
        struct child_answer said = child_run(work, job, &clock, sizeof best, a);
        struct bench_result f;
        if (said.end == CHILD_DONE && said.n == sizeof f) {
            memcpy(&f, said.bytes, sizeof f);
            best = best.makespan < 0 || f.ms < best.ms ? f : best;
        }
        arena_free(a);
    }
    return best;
}

/* Whether measurement f, of a graph with n nodes, keeps the claims c; a library does always.  run: ms of one run of
 * the event core.  Between SMALL and LARGE nodes the claimed time is interpolated, outside it is proportional to n. */
static bool keeps_claims(const struct claims *c, const struct bench_result *f, double n, double run)
{
    double share = n <= SMALL ? 0 : n >= LARGE ? 1 : (n - SMALL) / (LARGE - SMALL);
    double most = c->small + share * (c->large - c->small);
    most *= n < SMALL ? n / SMALL : n > LARGE ? n / LARGE : 1;
    return c->library || (f->makespan >= 0 && f->bytes <= BYTES && (most <= 0 || f->ms <= most) &&
                          (c->runs <= 0 || f->ms <= c->runs * run));
}

/* Prints a measurement.  name: of the planner; run: ms of one run of the event core; said: text at the end of the
 * line. */
static void show(const char *name, const struct bench_result *f, double run, const char *said)
{
    if (f->makespan < 0)
        printf("  %-16s no plan%s\n", name, said);
    else
        printf("  %-16s %9.1f ms  %5.2f runs  %5.0f B/node  %12.3f ms  %s%s\n", name, f->ms,
               f->ms / run, f->bytes, (double)f->makespan / 1e9, f->text, said);
}

/* Measures all planners, or only the planner `only` (NULL: all), on the model at `path`, and prints the results.
 * Returns whether all claims hold. */
static bool measure(const char *path, const char *only)
{
    struct diag d = {.emit = print_error};
    struct cluster cluster = {0};
    struct ctx x = {.scene.cluster = &cluster, .use.diag = &d};
    bool ok = true;
    if (prepare(&x, path))
        return false;
    malloc_trim(0); /* without this, a planner that reuses free memory would seem to need none */
    double n = x.levels.base->n;
    int times = n > 4 * SMALL ? 3 : 9;
    struct job job = {.x = &x};
    struct bench_result core = best_of(run_core, &job, times);
    printf("%s: %.0f nodes; CPU time, memory, makespan\n", path, n);
    show("one run", &core, core.ms, "");
    for (job.c = claims; job.c->planner; job.c++) {
        if (only && strcmp(only, job.c->planner))
            continue;
        struct bench_result f = best_of(run_planner, &job, job.c->library ? 1 : times);
        bool good = keeps_claims(job.c, &f, n, core.ms);
        show(job.c->planner, &f, core.ms, good ? "" : "  MORE THAN CLAIMED");
        fflush(stdout);
        ok = ok && good;
    }
    arena_free(x.use.scratch);
    arena_free(x.scene.m->mem);
    return ok;
}

int main(int argc, char **argv)
{
    int first = argc > 2 && !strcmp(argv[1], "--only") ? 3 : 1;
    bool ok = argc > first;
    for (int i = first; i < argc; i++)
        ok = measure(argv[i], first > 1 ? argv[2] : NULL) && ok;
    printf("%s\n", ok ? "all claims hold" : "claims do not hold");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
