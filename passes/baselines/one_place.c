/* one-place: everything on one device.
 *
 * Source: the "single accelerator" of the placement paper, table 2: the gain over it tells what a split is worth.
 * Of the devices that can run everything, it takes the fastest one with enough memory.  If no device has enough, it
 * takes the fastest one with best-effort, and without best-effort leaves no plan.  O(devices * (V + pins)). */
#include "passes/baselines/baseline.h"

/* The values of the options in one_opts. */
struct one_options {
    bool best_effort;
};

static const struct opt one_opts[] = {BASELINE_BEST_EFFORT(struct one_options, best_effort), {0}};

/* Moves every vertex to device d, and returns true; if d may not hold some vertex, moves none and returns false. */
static bool move_all(struct loads *l, uint32_t d)
{
    for (uint32_t v = 0; v < l->c->g->n; v++)
        if (!loads_allows(l, v, d))
            return false;
    for (uint32_t v = 0; v < l->c->g->n; v++)
        loads_move(l, v, (int32_t)d);
    return true;
}

/* pass.run: leaves the plan with all vertices on one device.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int one_run(struct ctx *x, const void *options)
{
    const struct one_options *o = options;
    struct baseline b;
    int rc = baseline_start(&b, x, "one-place", o->best_effort);
    if (rc)
        return rc;
    uint32_t best = UINT32_MAX;
    int64_t value = 0;
    bool fits = false;
    for (uint32_t d = 0; d < b.l.ndev; d++) {
        if (!move_all(&b.l, d))
            continue;
        /* a device that has the memory is better than a device that lacks memory, however fast that is */
        bool ok = o->best_effort || loads_excess(&b.l, d) == 0;
        if (best == UINT32_MAX || ok > fits || (ok == fits && b.l.load[d] < value)) {
            best = d;
            value = b.l.load[d];
            fits = ok;
        }
    }
    if (best == UINT32_MAX) {
        diag_error(x->use.diag,
                   "one-place: no device can run everything: nodes are pinned to several "
                   "devices, or no class supports all operators");
        return PASS_INFEASIBLE;
    }
    move_all(&b.l, best);
    return baseline_leave(&b, arena_fmt(x->use.mem, "everything on %s",
                                        cluster_device_name(x->scene.cluster, x->use.mem, best)));
}

const struct planner planner_one_place = {
    .pass = {"one-place", "baseline: everything on the best single device", one_opts,
             sizeof(struct one_options), .needs = NEED_COST | NEED_CONTRACT, .run = one_run},
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST};
