/* critical-path MODEL.onnx [PASSES]: a program of one's own around libpcc, with a pass of its own.
 *
 * The pass longest-path prints the chain of nodes that takes the longest on the first class of
 * devices: the least time from a sample's inputs to its outputs, however the nodes are spread over
 * devices of that class.  Vertices are numbered topologically, so one sweep finds for each vertex the
 * longest chain that ends there, O(V + E). */
#include <frontends/frontends.h>
#include <passes/pipeline.h>

#include <stdio.h>

struct longest_options {
    int64_t show;
};

static const struct opt longest_opts[] = {{OPT_INT, "show", offsetof(struct longest_options, show),
                                           "10", .lo = "0", .hi = "1000000",
                                           .help = "nodes to name, from the end of the path"},
                                          {0}};

static int longest_run(struct ctx *x, const void *options)
{
    const struct longest_options *o = options;
    int64_t shown = 0;
    char text[UNIT_TEXT];
    if (ctx_base(x))
        return -1;
    const struct wdag *g = x->levels.base;
    int64_t *end = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *end);
    uint32_t *from = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *from);
    uint32_t last = 0, length = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        from[v] = UINT32_MAX;
        for (uint32_t k = g->pred.at[v]; k < g->pred.at[v + 1]; k++)
            if (from[v] == UINT32_MAX || end[g->pred.to[k]] > end[from[v]])
                from[v] = g->pred.to[k];
        if (g->time[0][v] == COST_NEVER)
            return diag_error(x->use.diag, "longest-path: node '%s' cannot run on class '%s'",
                              node_name(x->scene.m, g->node[v]), x->scene.cluster->cls[0].name);
        end[v] = (from[v] == UINT32_MAX ? 0 : end[from[v]]) + g->time[0][v];
        last = end[v] > end[last] ? v : last;
    }
    for (uint32_t v = last; g->n && v != UINT32_MAX; v = from[v])
        length++;
    printf("longest path: %u of %u nodes, %s\n", length, g->n,
           time_print(text, g->n ? end[last] : 0));
    for (uint32_t v = last; g->n && v != UINT32_MAX && shown++ < o->show; v = from[v])
        printf("  %s\n", node_name(x->scene.m, g->node[v]));
    return 0;
}

static const struct pass pass_longest = {"longest-path",     "print the longest chain of nodes",
                                         longest_opts,       sizeof(struct longest_options),
                                         .needs = NEED_COST, .run = longest_run};

static const struct pass *const own[] = {&pass_longest, NULL};

static int run(struct ctx *x, const char *path, const char *passes)
{
    struct pipeline p = {.extra = own};
    struct run_options none = {0};
    struct cluster cluster;
    if (cluster_parse(&cluster, x->use.mem, "2xa100", x->use.diag) ||
        pipeline_parse(&p, passes, x->use.mem, x->use.diag))
        return -1;
    pipeline_complete(
        &p, x->use.mem); /* longest-path needs costs: infer-shapes and cost come before it */
    x->scene.cluster = &cluster;
    x->scene.m = onnx_read(path, &(struct onnx_options){0}, x->use.mem, x->use.diag);
    if (!x->scene.m)
        return -1;
    int rc = pipeline_run(&p, x, &none);
    if (rc == 0 && x->results.plan) {
        char text[UNIT_TEXT];
        printf("plan: %s per sample\n", time_print(text, x->results.plan->claim.value));
    }
    return rc;
}

struct call {
    struct ctx x;
    const char *path, *passes;
    int rc;
};

static void work(void *arg)
{
    struct call *k = arg;
    k->x.use.scratch = arena_new(k->x.use.mem);
    k->rc = run(&k->x, k->path, k->passes);
}

int main(int argc, char **argv)
{
    struct diag d = {0};
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: critical-path MODEL.onnx [PASSES]\n");
        return 2;
    }
    struct call k = {{.use.mem = arena_new(NULL), .use.diag = &d},
                     argv[1],
                     argc > 2 ? argv[2] : "longest-path",
                     1};
    if (!k.x.use.mem || !arena_guard(k.x.use.mem, work, &k, NULL))
        fprintf(stderr, "out of memory\n");
    arena_free(k.x.use.mem);
    return k.rc ? 1 : 0;
}
