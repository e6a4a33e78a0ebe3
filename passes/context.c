/* Functions by which passes ask the context (passes.h).  O(1) each, but ctx_check_costs() takes O(nodes * classes) if
 * the input is a profile. */
#include "passes/passes.h"

#include <assert.h>

const struct settings *ctx_settings(const struct ctx *x)
{
    static const struct settings none;
    return x->settings ? x->settings : &none;
}

bool ctx_said(const struct ctx *x, const char *name)
{
    return ctx_settings(x)->said & exec_bit(exec_setting(name));
}

struct scene ctx_judged(const struct ctx *x)
{
    struct scene s = x->scene;
    const struct settings *set = ctx_settings(x);
    s.model.objective = set->judged ? set->judge : s.model.objective;
    return s;
}

uint32_t ctx_ndims(const struct ctx *x)
{
    return ctx_settings(x)->ndims + x->results.nguessed;
}

const struct dim_binding *ctx_dim(const struct ctx *x, uint32_t i)
{
    const struct settings *s = ctx_settings(x);
    assert(i < ctx_ndims(x));
    return i < s->ndims ? &s->dims[i] : &x->results.guessed[i - s->ndims];
}

struct clock ctx_late_clock(const struct ctx *x)
{
    return (struct clock){.listener = x->use.listener};
}

struct clock ctx_clock(const struct ctx *x)
{
    struct clock c = ctx_late_clock(x);
    int64_t limit = ctx_settings(x)->time_limit;
    if (limit > 0)
        clock_limit(&c, limit / 1000); /* ps to ns */
    return c;
}

/* Sets k->time, the times of the nodes on each class of c, from a profile, which has one time of each node for any
 * accelerator (k->measured): classes of accelerators get these times, classes of hosts COST_NEVER. */
static void spread_times(struct costs *k, const struct module *m, const struct cluster *c)
{
    k->nclass = c->ncls;
    k->time = arena_array(m->mem, c->ncls, sizeof *k->time);
    for (uint32_t i = 0; i < c->ncls; i++) {
        k->time[i] =
            c->cls[i].host ? arena_array(m->mem, m->nnode, sizeof *k->time[i]) : k->measured;
        for (nid n = 0; n < m->nnode && c->cls[i].host; n++)
            k->time[i][n] = COST_NEVER;
    }
}

int ctx_check_costs(const struct ctx *x)
{
    assert(x->scene.m->cost && x->scene.cluster->ncls > 0);
    if (x->scene.m->cost->measured)
        spread_times(x->scene.m->cost, x->scene.m, x->scene.cluster);
    if (x->scene.m->cost->nclass == x->scene.cluster->ncls)
        return 0;
    return diag_error(
        x->use.diag,
        "%s: it has costs for %u device classes, the cluster has %u: expected one each",
        module_str(x->scene.m, x->scene.m->path), x->scene.m->cost->nclass, x->scene.cluster->ncls);
}

void ctx_forget_levels(struct ctx *x)
{
    x->levels = (struct levels){.contract_requested = x->levels.contract_requested};
}

void ctx_forget(struct ctx *x)
{
    if (x->results.priced)
        x->scene.m->cost = NULL;
    x->scene.place = NULL;
    ctx_forget_levels(x);
    x->results = (struct results){.looked_inside = x->results.looked_inside,
                                  .split = x->results.split,
                                  .told = x->results.told,
                                  .known = x->results.known,
                                  .offer = x->results.offer,
                                  .sharding = x->results.sharding};
}

void ctx_push(struct ctx *x, struct wdag *level)
{
    assert(level && x->levels.base && level->ncls == x->levels.base->ncls);
    x->levels.top = level;
}
