/* The common code of the baselines (baseline.h).
 *
 * A baseline places the top level of the context, which has all placed nodes, as vertices of their own unless the
 * graph was fused.  It keeps the rules of all planners.  It respects pins, and operators that a class of devices
 * cannot run.  It leaves no plan that needs too much memory unless the user wants one.  Its bound holds for the whole
 * graph.  O(V + pins + nets * devices). */
#include "passes/baselines/baseline.h"

#include "passes/bounds/bounds.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"

#include <assert.h>

int baseline_start(struct baseline *b, struct ctx *x, const char *planner, bool best_effort)
{
    const struct place_options one = {.starts = 1};
    *b = (struct baseline){.x = x, .planner = planner, .best_effort = best_effort};
    if (placing_start(x, &one, &b->p))
        return -1;
    if (loads_new(&b->l, b->p.top, planner, x->use.scratch, x->use.diag))
        return -1;
    for (uint32_t v = 0; v < b->p.level->n; v++) {
        uint32_t d = 0;
        while (d < b->l.ndev && !loads_allows(&b->l, v, d))
            d++;
        if (d < b->l.ndev)
            continue;
        diag_error(x->use.diag,
                   "%s: node '%s' and those that stay with it can run on no device: some "
                   "class does not support them, or pins contradict each other",
                   planner, first_node(x, b->p.level, v));
        return PASS_INFEASIBLE;
    }
    return 0;
}

/* If the judge counts what devices need at one time instead of sums of bytes, sets b->l.bytes to these needs. */
static void count_at_once(struct baseline *b)
{
    struct ctx *x = b->x;
    if (!exec_live_parts(&x->scene.model))
        return;
    const struct plan plan = {
        .dev = plan_project(b->p.level, b->l.dev, x->scene.m->nnode, x->use.scratch)};
    struct evaluation e = plan_evaluate(&x->scene, &plan, x->use.scratch);
    for (uint32_t d = 0; d < b->l.ndev; d++)
        b->l.bytes[d] = e.v.load[d].used;
}

/* Returns the bytes of memory of device d; LOAD_INF: no limit. */
static int64_t memory_of(const struct baseline *b, uint32_t d)
{
    const struct cluster *c = b->x->scene.cluster;
    int64_t memory = c->cls[cluster_class(c, d)].memory;
    return memory < 0 ? LOAD_INF : memory;
}

/* Returns the device that lacks most memory; b->l.ndev if each device has enough. */
static uint32_t most_lacking(const struct baseline *b)
{
    uint32_t worst = b->l.ndev;
    int64_t most = 0;
    for (uint32_t d = 0; d < b->l.ndev; d++)
        if (b->l.bytes[d] - memory_of(b, d) > most) {
            most = b->l.bytes[d] - memory_of(b, d);
            worst = d;
        }
    return worst;
}

int baseline_leave(struct baseline *b, const char *argument)
{
    assert(b->p.orders.clock == &b->p.clock && b->l.c == b->p.top);
    struct ctx *x = b->x;
    count_at_once(b);
    uint32_t full = most_lacking(b);
    char needs[UNIT_TEXT], has[UNIT_TEXT];
    const char *lacks = NULL;
    if (full < b->l.ndev) {
        lacks =
            arena_fmt(x->use.mem, "%s: %s would need %s of memory and has %s", b->planner,
                      cluster_device_name(x->scene.cluster, x->use.mem, full),
                      bytes_short(needs, b->l.bytes[full]), bytes_short(has, memory_of(b, full)));
        if (!b->best_effort) {
            diag_error(x->use.diag, "%s (best-effort=true leaves the plan all the same)", lacks);
            return PASS_INFEASIBLE;
        }
        diag_warning(x->use.diag, WARN_OVER_MEMORY, "%s", lacks);
    }
    struct problem_plan plan = {.value = loads_value(&b->l), .dev = b->l.dev};
    leave_plan(x, b->planner, b->p.level, &plan);
    struct bound all = bounds_all(x, plan.value, !lacks, 0, &b->p.clock);
    const char *why = claim_make(x, SCOPE_ALL, all, all);
    x->results.plan->claim.argument = arena_fmt(x->use.mem, "%s; bound: %s", argument, why);
    if (lacks)
        x->results.plan->claim.status = PLAN_OVER_MEMORY;
    return 0;
}

void baseline_put(struct baseline *b, uint32_t v, uint32_t d)
{
    assert(v < b->l.c->g->n && d < b->l.ndev);
    const struct cluster *c = b->x->scene.cluster;
    uint32_t best = UINT32_MAX;
    int64_t least = 0;
    if (loads_allows(&b->l, v, d)) {
        loads_move(&b->l, v, (int32_t)d);
        return;
    }
    /* first the hosts; if none may hold v, the accelerators */
    for (int hosts = 1; hosts >= 0 && best == UINT32_MAX; hosts--)
        for (uint32_t other = 0; other < b->l.ndev; other++) {
            if (c->cls[cluster_class(c, other)].host != hosts || !loads_allows(&b->l, v, other))
                continue;
            loads_move(&b->l, v, (int32_t)other);
            if (best == UINT32_MAX || b->l.load[other] < least) {
                best = other;
                least = b->l.load[other];
            }
        }
    assert(best < b->l.ndev); /* some device may hold v: baseline_start() has checked that */
    loads_move(&b->l, v, (int32_t)best);
}

uint32_t *baseline_accelerators(const struct cluster *c, uint32_t *n, struct arena *a)
{
    uint32_t *dev = arena_array(a, (size_t)c->ndev + 1, sizeof *dev);
    *n = 0;
    for (uint32_t d = 0; d < c->ndev; d++)
        if (!c->cls[cluster_class(c, d)].host)
            dev[(*n)++] = d;
    if (*n > 0)
        return dev;
    for (uint32_t d = 0; d < c->ndev; d++)
        dev[d] = d;
    *n = c->ndev;
    return dev;
}
