/* greedy-place: fills one accelerator after the other, to the limit of its memory.
 *
 * Source: the greedy baseline of the placement paper, appendix F.  Vertices are taken in a depth-first (LIFO)
 * topological order, in which the last successor to become ready comes next.  The current accelerator takes them while
 * it has memory, then the next accelerator does.  A vertex that not even an empty accelerator can hold, and all
 * vertices that are left when the accelerators are full, go to the hosts.  Times and transfers do not count, so the
 * plan uses few devices where memory is ample: it is made for the latency of single samples.
 *
 * Successors are scanned in the order of the last node in them.  O(E log E + devices * (V + pins)). */
#include "passes/baselines/baseline.h"

#include "ir/base/keyed.h"

#include <assert.h>

/* The values of the options in greedy_opts. */
struct greedy_options {
    bool best_effort;
};

static const struct opt greedy_opts[] = {BASELINE_BEST_EFFORT(struct greedy_options, best_effort),
                                         {0}};

/* Returns the vertices of g in the depth-first topological order, in a: next comes the vertex that became ready last;
 * of several vertices that became ready at once, the one whose last base vertex is the latest. */
static uint32_t *greedy_order(const struct wdag *g, const struct wdag *base, struct arena *a)
{
    const uint32_t *at = wdag_flatten(g, a);
    /* [vertex] its last base vertex */
    uint32_t *last = arena_array(a, (size_t)g->n + 1, sizeof *last);
    uint32_t *wait = csr_sizes(&g->pred, g->n, a); /* [vertex] predecessors not taken yet */
    uint32_t *stack = arena_array(a, (size_t)g->n + 1, sizeof *stack), top = 0;
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order), done = 0;
    struct keyed *next = arena_array(a, (size_t)g->n + 1, sizeof *next);
    for (uint32_t u = 0; u < base->n; u++)
        last[at[u]] = u;
    for (uint32_t v = g->n; v-- > 0;)
        if (!wait[v])
            stack[top++] = v;
    while (top) {
        uint32_t v = stack[--top], n = 0;
        order[done++] = v;
        for_row (w, g->succ, v)
            if (--wait[w] == 0)
                next[n++] = (struct keyed){last[w], w};
        keyed_sort(next, n);
        for (uint32_t i = 0; i < n; i++)
            stack[top++] = next[i].item;
    }
    assert(done == g->n);
    return order;
}

/* Puts v on the first device of dev[*current .. n) that may hold it and has memory for it, and sets *current to the
 * device's index.  If there is no such device, returns false and leaves v without a device.  *current becomes n when
 * the last device is too full for a vertex that it could hold if it were empty. */
static bool put_in_turn(struct baseline *b, uint32_t v, const uint32_t *dev, uint32_t n,
                        uint32_t *current)
{
    int64_t alone = vertex_bytes(b->p.level, v);
    for (uint32_t i = *current; i < n; i++) {
        if (!loads_allows(&b->l, v, dev[i]) || alone > b->l.c->kind[b->l.kind[dev[i]]].memory)
            continue;
        loads_move(&b->l, v, (int32_t)dev[i]);
        if (loads_excess(&b->l, dev[i]) == 0) {
            *current = i;
            return true;
        }
        loads_move(&b->l, v, NOWHERE);
        if (i + 1 == n)
            *current = n; /* all devices count as full, also for the vertices that follow */
    }
    return false;
}

/* pass.run: leaves the plan that fills one device after the other.  Returns 0, or -1 or PASS_INFEASIBLE after an
 * error. */
static int greedy_run(struct ctx *x, const void *options)
{
    const struct greedy_options *o = options;
    struct baseline b;
    int rc = baseline_start(&b, x, "greedy-place", o->best_effort);
    if (rc)
        return rc;
    const struct wdag *g = b.p.level;
    uint32_t n, nhost = 0, left = 0; /* left: number of vertices that no accelerator took */
    /* index in dev[] of the accelerator, and in hosts[] of the host, that is being filled */
    uint32_t current = 0, host = 0;
    uint32_t *dev = baseline_accelerators(x->scene.cluster, &n, x->use.scratch);
    uint32_t *hosts = arena_array(x->use.scratch, (size_t)b.l.ndev + 1, sizeof *hosts);
    for (uint32_t d = 0; d < b.l.ndev; d++)
        if (x->scene.cluster->cls[cluster_class(x->scene.cluster, d)].host)
            hosts[nhost++] = d;
    const uint32_t *order = greedy_order(g, x->levels.base, x->use.scratch);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t v = order[i];
        if (g->pin[v] >= 0) {
            loads_move(&b.l, v, g->pin[v]);
        } else if (!put_in_turn(&b, v, dev, n, &current)) {
            left++;
            /* no host has memory for v: v goes to some device all the same */
            if (!put_in_turn(&b, v, hosts, nhost, &host))
                baseline_put(&b, v, nhost ? hosts[nhost - 1] : dev[n - 1]);
        }
    }
    return baseline_leave(&b, arena_fmt(x->use.mem,
                                        "accelerators filled in a depth-first order, %u of %u "
                                        "vertices left for the hosts",
                                        left, g->n));
}

const struct planner planner_greedy_place = {
    .pass = {"greedy-place", "baseline: fill one accelerator after the other", greedy_opts,
             sizeof(struct greedy_options), .needs = NEED_COST | NEED_CONTRACT, .run = greedy_run},
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST};
