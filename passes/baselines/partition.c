/* Partitioners of undirected graphs as planners (partition.h).
 *
 * Source: the Scotch baseline of the placement paper, section 6.  The weight of a vertex is its time on an
 * accelerator.  The weight of an edge is what the transfers of all values take that go from one of its ends to the
 * other, in both directions.  The library makes parts of equal weight, with as little weight on the edges between
 * parts as it can.  Part i goes to accelerator i.  Hosts and memory do not count, and every accelerator is supposed
 * to take as long for a vertex as the class of the first one.  A vertex that cannot run on its part's accelerator
 * (pins, operators) goes to another device (baseline_put).
 *
 * The libraries run in a child process: they take over signals, use threads and static state, and cannot be stopped.
 * O(V + pins log pins), and the library. */
#include "passes/baselines/partition.h"

#include "ir/base/child.h"

const struct opt partition_opts[] = {{OPT_INT, "seed", offsetof(struct partition_options, seed),
                                      "1", .lo = "0", .hi = "1000000000",
                                      .help = "seed of the library's random numbers"},
                                     BASELINE_BEST_EFFORT(struct partition_options, best_effort),
                                     {0}};

/* Arcs between vertices: arc i goes from from[i] to to[i]. */
struct arcs {
    uint32_t n, *from, *to;
    int64_t *cost; /* [arc] ps to transfer the value between its ends */
};

/* Returns the weight for a time, ps: ns, scaled down if all times together, `sum` ps, are more than PARTITION_SUM ns.
 */
static int32_t scale_weight(int64_t ps, int64_t sum)
{
    int64_t ns = ps / 1000;
    sum /= 1000;
    return (int32_t)(sum <= PARTITION_SUM ? ns : (int64_t)((__int128)ns * PARTITION_SUM / sum));
}

/* Fills p->weight from time[vertex], ps or COST_NEVER (weight 0); if all weights are 0, they become 1. */
static void weigh_vertices(struct part_graph *p, const int64_t *time)
{
    int64_t sum = 0, all = 0;
    for (int32_t v = 0; v < p->n; v++)
        sum = sat_add(sum, time[v] == COST_NEVER ? 0 : time[v]);
    for (int32_t v = 0; v < p->n; v++) {
        p->weight[v] = time[v] == COST_NEVER ? 0 : scale_weight(time[v], sum);
        all += p->weight[v];
    }
    for (int32_t v = 0; all == 0 && v < p->n; v++)
        p->weight[v] = 1;
}

/* Returns arcs, in a: for each net one arc from the producer to each other pin, and one arc back; none for nets of
 * model inputs.  cls: the class of devices whose costs count. */
static struct arcs list_arcs(const struct wdag *g, uint32_t cls, struct arena *a)
{
    size_t most = (size_t)g->net_pin.at[g->nnet] * 2 + 1;
    struct arcs arcs = {.from = arena_array(a, most, sizeof *arcs.from),
                        .to = arena_array(a, most, sizeof *arcs.to),
                        .cost = arena_array(a, most, sizeof *arcs.cost)};
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t src = g->net_src[e];
        if (src == UINT32_MAX)
            continue;
        for_row (pin, g->net_pin, e) {
            if (pin == src)
                continue;
            for (int back = 0; back < 2; back++) {
                arcs.from[arcs.n] = back ? pin : src;
                arcs.to[arcs.n] = back ? src : pin;
                arcs.cost[arcs.n++] = g->net_cost[cls][e];
            }
        }
    }
    return arcs;
}

/* Fills p->at, p->to and p->arc from the arcs; arcs with the same ends become one, with their costs added. */
static void join_arcs(struct part_graph *p, const struct arcs *arcs, struct arena *a)
{
    uint32_t n = (uint32_t)p->n;
    /* [neighbour] 1 + the index of the last arc to it; an index before at[v] is of an earlier row */
    uint32_t *seen = arena_array(a, (size_t)n + 1, sizeof *seen);
    int64_t sum = 0, *cost = arena_array(a, (size_t)arcs->n + 1, sizeof *cost);
    struct csr row = csr_build(a, n, arcs->n, arcs->from, NULL);
    for (uint32_t v = 0; v < n; v++) {
        p->at[v] = p->narc;
        for_row (x, row, v) {
            uint32_t w = arcs->to[x];
            if (seen[w] <= (uint32_t)p->at[v]) { /* the first arc to w in this row */
                p->to[p->narc] = (int32_t)w;
                seen[w] = (uint32_t)++p->narc;
            }
            cost[seen[w] - 1] = sat_add(cost[seen[w] - 1], arcs->cost[x]);
        }
    }
    p->at[n] = p->narc;
    for (int32_t i = 0; i < p->narc; i++)
        sum = sat_add(sum, cost[i]);
    for (int32_t i = 0; i < p->narc; i++) {
        p->arc[i] = scale_weight(cost[i], sum);
        if (p->arc[i] == 0)
            p->arc[i] = 1;
    }
}

/* Fills *p from the level that b places.  cls: the class of devices whose times and costs count.  Returns 0; or -1 and
 * an error if the graph has too many vertices or pins for the library's 32-bit numbers. */
static int make_graph(struct part_graph *p, const struct baseline *b, uint32_t cls)
{
    const struct wdag *g = b->p.level;
    struct arena *a = b->x->use.scratch;
    if (g->n > PARTITION_SUM / 4 || g->net_pin.at[g->nnet] > PARTITION_SUM / 4)
        return diag_error(b->x->use.diag, "%s: the graph is too large: fuse it first (-p fuse,%s)",
                          b->planner, b->planner);
    struct arcs arcs = list_arcs(g, cls, a);
    p->n = (int32_t)g->n;
    p->at = arena_array(a, (size_t)g->n + 1, sizeof *p->at);
    p->weight = arena_array(a, (size_t)g->n + 1, sizeof *p->weight);
    p->part = arena_array(a, (size_t)g->n + 1, sizeof *p->part);
    p->to = arena_array(a, (size_t)arcs.n + 1, sizeof *p->to);
    p->arc = arena_array(a, (size_t)arcs.n + 1, sizeof *p->arc);
    weigh_vertices(p, g->time[cls]);
    join_arcs(p, &arcs, a);
    return 0;
}

/* What the child process runs: work(g). */
struct job {
    struct part_graph *g;
    int (*work)(struct part_graph *g);
};

/* Runs the job `arg`, in the child process, and writes the part of each vertex to `out`.  Returns 0, or 1 if that
 * failed. */
static int write_parts(void *arg, FILE *out)
{
    const struct job *job = arg;
    size_t n = (size_t)job->g->n;
    if (job->work(job->g))
        return 1;
    return fwrite(job->g->part, sizeof *job->g->part, n, out) == n ? 0 : 1;
}

/* Runs the library in a child process, and copies the parts that it finds to job->g->part.  Returns 0, or after an
 * error PASS_INFEASIBLE if time ran out, and -1 if the library failed. */
static int run_library(struct baseline *b, struct job *job)
{
    struct ctx *x = b->x;
    size_t wanted = (size_t)job->g->n * sizeof *job->g->part;
    struct child_answer said = child_run(write_parts, job, &b->p.clock, wanted, x->use.scratch);
    const char *why = said.why;
    if (said.end == CHILD_STOPPED) {
        diag_error(x->use.diag, "%s: no plan was found: %s", b->planner, b->p.clock.why);
        return PASS_INFEASIBLE;
    }
    if (said.end == CHILD_DONE && said.n != wanted)
        why = "an answer of another length";
    for (int32_t v = 0; !why && v < job->g->n; v++) {
        job->g->part[v] = ((const int32_t *)(const void *)said.bytes)[v];
        if (job->g->part[v] < 0 || job->g->part[v] >= job->g->nparts)
            why = "a part that there is not";
    }
    return why ? diag_error(x->use.diag, "%s: the library failed: %s", b->planner, why) : 0;
}

int partition_run(struct ctx *x, const char *planner, const struct partition_options *o,
                  int (*work)(struct part_graph *g))
{
    struct baseline b;
    struct part_graph g = {.seed = (int32_t)o->seed};
    struct job job = {&g, work};
    uint32_t k;
    int rc = baseline_start(&b, x, planner, o->best_effort);
    if (rc)
        return rc;
    const uint32_t *dev = baseline_accelerators(x->scene.cluster, &k, x->use.scratch);
    if (make_graph(&g, &b, cluster_class(x->scene.cluster, dev[0])))
        return -1;
    g.nparts = (int32_t)(smaller_u32(k, b.p.level->n));
    if (g.nparts > 1)
        rc = run_library(&b, &job);
    if (rc)
        return rc;
    for (uint32_t v = 0; v < b.p.level->n; v++)
        baseline_put(&b, v, dev[g.part[v]]);
    return baseline_leave(&b, arena_fmt(x->use.mem, "%d parts of equal weight", g.nparts));
}
