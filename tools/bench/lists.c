/* What planners for one sample alone take: CPU time and memory from the graph to the plan, and the plan's makespan.
 *
 *     pcc-gen gpt --layers 1135 --no-weights -o small.onnx && pcc-gen gpt --layers 31250 --no-weights -o large.onnx
 *     cmake --build --preset release --target bench-lists && build/release/bench-lists small.onnx large.onnx
 *
 * (`--only PLANNER` before them: that one.)
 *
 * Over eight devices that hold 1.3 times the model together, with links of their own and ports.  Reading the model,
 * its costs and `contract` come before and do not count; nor does the judge, who runs the plan once more.  Each planner
 * works in a child process, several times (the least counts); memory is what the process grows by.  METIS and Scotch
 * partition the same graphs; their time is that of the library alone, their makespan that of the best dispatch.
 *
 * Exit code 1: a planner takes longer or more bytes per node than CLAIMS says, in milliseconds or beside one run of the
 * event core, which the same process times (`runs`): that tells on slower machines, too. */
#include "frontends/frontends.h"
#include "ir/base/child.h"
#include "ir/exec/evaluate.h"
#include "passes/pipeline.h"
#include "tests/support/aim.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { DEVICES = 8, BYTES = 300, SMALL = 36332, LARGE = 1000012, TEXT = 100 };

struct claims {
    const char *planner;
    double small, large; /* ms for so many nodes; 0: nothing is claimed */
    double runs;         /* times one run of the event core; 0: nothing is claimed */
    bool library;        /* a partitioner: time of its child process, the best dispatch */
};

static const struct claims claims[] = {
    {"dfs-place", 0, 0, 0, false},           {"order-place", 0, 0, 0, false},
    {"celeritas-place", 30, 1500, 6, false}, {"heft-place", 60, 3000, 9, false},
    {"m-topo-place", 0, 0, 0, false},        {"m-etf-place", 30, 2000, 6, false},
    {"m-sct-place", 0, 0, 0, false},         {"metis-place", 0, 0, 0, true},
    {"scotch-place", 0, 0, 0, true},         {0}};

/* What a child finds out. */
struct measurement {
    double ms, bytes; /* CPU, per node */
    int64_t makespan; /* ps; -1: no plan */
    char text[TEXT];
};

static void say(void *user, enum diag_level level, enum warning w, const char *text)
{
    (void)user;
    (void)w;
    if (level == DIAG_ERROR)
        fprintf(stderr, "%s\n", text);
}

/* CPU of this process, or of its children. */
static double cpu_ms(bool children)
{
    struct rusage u;
    getrusage(children ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
    return 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double peak_bytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1024.0 * (double)u.ru_maxrss;
}

/* The model with costs and groups, memory for 1.3 times all of it. */
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

/* ps of the plan, by the dispatch that suits it best if it has no order of its own. */
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

struct job {
    struct ctx *x;
    const struct claims *c;
};

static int run_planner(void *arg, FILE *out)
{
    const struct job *job = arg;
    struct ctx *x = job->x;
    struct measurement f = {.makespan = -1};
    struct pipeline p = {0};
    const char *text = arena_fmt(x->use.mem, "%s{best-effort=true}", job->c->planner);
    if (pipeline_parse(&p, text, x->use.mem, x->use.diag))
        return 1;
    if (job->c->library)
        x->scene.model.objective = TIME_PER_SAMPLE;
    double before = cpu_ms(false), held = peak_bytes();
    if (!pipeline_step_run(&p.step[0], x)) {
        f.ms = job->c->library ? cpu_ms(true) : cpu_ms(false) - before;
        f.bytes = (peak_bytes() - held) / x->levels.base->n;
        f.makespan = makespan_of(x, job->c->library);
        snprintf(f.text, sizeof f.text, "%s", x->results.plan->claim.argument);
        f.text[strcspn(f.text, ";")] = 0;
    }
    return fwrite(&f, sizeof f, 1, out) != 1;
}

/* One run of the event core: all nodes in order on eight devices. */
static int run_core(void *arg, FILE *out)
{
    struct ctx *x = ((const struct job *)arg)->x;
    const struct wdag *g = x->levels.base;
    int32_t *dev = arena_array(x->use.mem, x->scene.m->nnode, sizeof *dev);
    const struct plan plan = {.dev = dev};
    struct measurement f = {.text = "the nodes in eight stretches, run once"};
    for (nid n = 0; n < x->scene.m->nnode; n++)
        dev[n] = -1;
    for (uint32_t v = 0; v < g->n; v++)
        dev[g->node[v]] = (int32_t)((uint64_t)v * DEVICES / g->n);
    double before = cpu_ms(false), held = peak_bytes();
    struct task_graph tasks = single_step(&x->scene, &plan, NULL, x->use.scratch);
    f.makespan = events_run(&tasks, NULL, x->use.scratch).end;
    f.ms = cpu_ms(false) - before;
    f.bytes = (peak_bytes() - held) / g->n;
    return fwrite(&f, sizeof f, 1, out) != 1;
}

/* The least time of several runs; makespan -1: none. */
static struct measurement best_of(int (*work)(void *, FILE *), struct job *job, int times)
{
    struct measurement best = {.makespan = -1};
    for (int i = 0; i < times; i++) {
        struct clock clock = {0};
        struct arena *a = arena_new(NULL);
        struct child_answer said = child_run(work, job, &clock, sizeof best, a);
        struct measurement f;
        if (said.end == CHILD_DONE && said.n == sizeof f) {
            memcpy(&f, said.bytes, sizeof f);
            best = best.makespan < 0 || f.ms < best.ms ? f : best;
        }
        arena_free(a);
    }
    return best;
}

/* Whether measurement f of a graph with n nodes keeps the claims; `run`: ms of a run of the reference.  The time
 * that is claimed for SMALL and for LARGE nodes is interpolated in between. */
static bool keeps_claims(const struct claims *c, const struct measurement *f, double n, double run)
{
    double share = n <= SMALL ? 0 : n >= LARGE ? 1 : (n - SMALL) / (LARGE - SMALL);
    double most = c->small + share * (c->large - c->small);
    most *= n < SMALL ? n / SMALL : n > LARGE ? n / LARGE : 1;
    return c->library || (f->makespan >= 0 && f->bytes <= BYTES && (!most || f->ms <= most) &&
                          (!c->runs || f->ms <= c->runs * run));
}

static void show(const char *name, const struct measurement *f, double run, const char *said)
{
    if (f->makespan < 0)
        printf("  %-16s no plan%s\n", name, said);
    else
        printf("  %-16s %9.1f ms  %5.2f runs  %5.0f B/node  %12.3f ms  %s%s\n", name, f->ms,
               f->ms / run, f->bytes, (double)f->makespan / 1e9, f->text, said);
}

/* only: a planner's name; NULL: all. */
static bool measure(const char *path, const char *only)
{
    struct diag d = {.emit = say};
    struct cluster cluster = {0};
    struct ctx x = {.scene.cluster = &cluster, .use.diag = &d};
    bool ok = true;
    if (prepare(&x, path))
        return false;
    malloc_trim(0); /* what is free would not count where it is taken again */
    double n = x.levels.base->n;
    int times = n > 4 * SMALL ? 3 : 9;
    struct job job = {.x = &x};
    struct measurement core = best_of(run_core, &job, times);
    printf("%s: %.0f nodes; CPU time, memory, makespan\n", path, n);
    show("one run", &core, core.ms, "");
    for (job.c = claims; job.c->planner; job.c++) {
        if (only && strcmp(only, job.c->planner))
            continue;
        struct measurement f = best_of(run_planner, &job, job.c->library ? 1 : times);
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
