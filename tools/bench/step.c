/* Measures how long it takes to simulate one sample alone (ir/exec/makespan/step.md), and many samples in rounds
 * (ir/exec/sample/rounds.h).  Build and run with
 *
 *     pcc-gen gpt --layers 1135 --no-weights -o gpt.onnx && cmake --build --preset release --target bench-step
 *     build/release/bench-step gpt.onnx
 *
 * The plans give nodes to eight devices: in eight stretches of equal length, and mixed by a hash.  Prints the CPU
 * time in milliseconds for making the tasks, for running them, and for both, and the memory in bytes per node. */
#include "frontends/frontends.h"
#include "ir/exec/sample/rounds.h"
#include "ir/exec/makespan/single_step.h"
#include "passes/pipeline.h"

#include <stdlib.h>
#include <time.h>

enum {
    DEVICES = 8,
    SAMPLES = 1000, /* number of samples of the replay in rounds */
    PARTS = 64      /* number of parts of the plan for the replay */
};

/* Returns the CPU time of this process in milliseconds. */
static double cpu_ms(void)
{
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

/* diag.emit: prints errors only. */
static void print_error(void *user, enum diag_level level, enum warning w, const char *text)
{
    (void)user;
    (void)w;
    if (level == DIAG_ERROR)
        fprintf(stderr, "%s\n", text);
}

/* Reads a model, computes its costs for eight devices, and makes the base level.  Returns 0; or prints an error and
 * returns -1. */
static int prepare(struct ctx *x, struct pipeline *p, const char *path)
{
    static const struct onnx_options o = {0};
    struct run_options run = {0};
    x->scene.m = onnx_read(path, &o, NULL, x->use.diag);
    if (!x->scene.m)
        return -1;
    x->use.mem = x->scene.m->mem;
    x->use.scratch = arena_new(NULL);
    return cluster_parse(x->scene.cluster, x->use.mem, "8xa100", x->use.diag) ||
           pipeline_parse(p, "infer-shapes,cost", x->use.mem, x->use.diag) ||
           pipeline_run(p, x, &run) || ctx_base(x);
}

/* Makes a plan: writes dev[] of all placed nodes.  If mixed, a hash of the node chooses its device.  Otherwise the
 * nodes in their order are divided into `stretches` stretches, and the devices take the stretches in turn. */
static void make_plan(const struct ctx *x, int32_t *dev, bool mixed, uint32_t stretches)
{
    uint32_t n = x->levels.base->n;
    for (uint32_t v = 0; v < n; v++)
        dev[x->levels.base->node[v]] =
            (int32_t)((mixed ? v * 2654435761U >> 16 : (uint64_t)v * stretches / n) % DEVICES);
}

/* Measures how long one sample takes to simulate with the plan dev[], for each network and dispatch, and prints a line
 * for each.  `dealt`: name of the plan in these lines. */
static void time_step(struct ctx *x, int32_t *dev, const char *dealt)
{
    const struct plan p = {.dev = dev};
    struct step_model *how = &x->scene.model.step;
    for (how->network = 0; how->network < NETWORKS; how->network++)
        for (how->dispatch = 0; how->dispatch < DISPATCHES; how->dispatch++) {
            struct arena *a = arena_new(NULL);
            double before = cpu_ms();
            struct task_graph g = single_step(&x->scene, &p, NULL, a);
            double made = cpu_ms();
            struct timeline t = events_run(&g, NULL, a);
            double end = cpu_ms();
            printf("%-10s %-6s port  %-5s %9u tasks  %8.1f + %8.1f = %8.1f ms  %5.0f B/node%s\n",
                   dealt, network_name[how->network], dispatch_name[how->dispatch], g.ntask,
                   made - before, end - made, end - before,
                   (double)arena_used(a) / (double)x->levels.base->n,
                   t.status == RUN_DONE ? "" : "  deadlock");
            arena_free(a);
        }
}

/* Measures how long SAMPLES samples take to simulate in rounds, with a plan of PARTS stretches, and prints a line.
 * Overwrites dev[] with this plan. */
static void time_rounds(struct ctx *x, int32_t *dev)
{
    struct arena *a = arena_new(NULL);
    make_plan(x, dev, /*mixed=*/false, PARTS);
    struct parts *parts = parts_build(&x->scene, dev, a);
    double before = cpu_ms();
    struct replay r = replay_run(&x->scene, dev, parts, SAMPLES, a);
    printf("rounds     %d samples, %u parts, %u tasks: %.1f ms\n", SAMPLES, parts->nparts, r.ntask,
           cpu_ms() - before);
    arena_free(a);
}

int main(int argc, char **argv)
{
    struct diag d = {.emit = print_error};
    struct cluster c = {0};
    struct pipeline p = {0};
    struct ctx x = {.scene.cluster = &c, .use.diag = &d};
    if (argc != 2 || prepare(&x, &p, argv[1]))
        return EXIT_FAILURE;
    int32_t *dev = arena_array(x.use.mem, x.scene.m->nnode, sizeof *dev);
    for (nid n = 0; n < x.scene.m->nnode; n++)
        dev[n] = -1;
    for (int mixed = 0; mixed < 2; mixed++) {
        make_plan(&x, dev, mixed, DEVICES);
        time_step(&x, dev, mixed ? "mixed" : "stretches");
    }
    time_rounds(&x, dev);
    arena_free(x.use.scratch);
    arena_free(x.scene.m->mem);
    return EXIT_SUCCESS;
}
