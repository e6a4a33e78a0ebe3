/* Computes what an update with parts of its own costs (update_cost.h).
 *
 * Once a micro-batch a gradient is added to its sum: two tensors are read, one is written.  If micro-batches are joined
 * by a mean, the sum of several is multiplied once by a factor: one tensor is read, one is written.  The bytes are
 * taken to move as fast as the nodes of the update move theirs, since these do the same kind of work on tensors of the
 * same types.  So the rate is that of the class where the cost model gave the nodes' times, and a measured one where
 * times were measured.  Each of these operators takes its overhead once.  Source: DAPPLE (arXiv 2007.01045), V, whose
 * runtime accumulates gradients and applies them at the end of the iteration. */
#include "ir/exec/iteration/update_cost.h"

#include "ir/base/units.h"
#include "ir/plan/update_pass.h"

/* How fast the nodes of an update move bytes: `bytes` in `time` ps. */
struct pace {
    int64_t time, bytes;
};

/* Returns the pace of the nodes n with own[n] on devices of class cls, without their overheads. */
static struct pace find_pace(const struct scene *s, const uint8_t *own, uint32_t cls)
{
    const struct costs *k = s->m->cost;
    const struct graph *g = &s->m->graph[1];
    struct pace p = {0};
    for (nid n = g->first; n < g->first + g->count; n++) {
        int64_t time = k->time[cls][n], overhead = costs_overhead(k, cls, n);
        if (!own[n] || time == COST_NEVER || time <= overhead)
            continue;
        p.time = sat_add(p.time, time - overhead);
        p.bytes = sat_add(p.bytes, k->traffic ? k->traffic[n] : 0);
    }
    return p;
}

/* Returns the ps of an operator that takes `overhead` ps and moves `bytes` bytes at the pace. */
static int64_t time_of(const struct pace *p, int64_t bytes, int64_t overhead)
{
    return sat_add(overhead, p->bytes > 0 ? mul_div_ceil(bytes, p->time, p->bytes) : 0);
}

struct update_cost update_cost_find(const struct scene *s, const struct stages *stages,
                                    const int32_t *stage_of, struct arena *a)
{
    const struct module *m = s->m;
    const struct graph *g = &m->graph[1];
    if (!update_pass_wanted(s))
        return (struct update_cost){0};
    const struct staged_plan p = {.scene = s, .stages = stages};
    const struct update_pass u = update_pass_find(&p, stage_of, a);
    if (u.why)
        return (struct update_cost){.why = u.why, .joint = u.joint};
    uint32_t cls = cluster_main_class(s->cluster);
    int64_t *each = arena_array(a, (size_t)m->nnode + 1, sizeof *each);
    int64_t *once = arena_array(a, (size_t)m->nnode + 1, sizeof *once);
    nid *maker = arena_array(a, m->nval, sizeof *maker);
    uint8_t *seen = arena_alloc(a, m->nval); /* [value] 1: a gradient that is counted */
    int64_t overhead = m->cost->overhead ? s->cluster->cls[cls].overhead : 0;
    const struct pace pace = find_pace(s, u.own, cls);
    for (nid n = g->first; n < g->first + g->count; n++)
        once[n] = u.own[n] && m->cost->time[cls][n] != COST_NEVER ? m->cost->time[cls][n] : 0;
    for (uint32_t i = 0; i < u.n; i++) {
        vid v = u.of[i].gradient;
        nid n = m->value[v].def;
        int64_t bytes = m->cost->bytes[v];
        maker[u.of[i].parameter] = n;
        if (seen[v])
            continue; /* a parameter and states of its optimizer share a gradient, which is added once */
        seen[v] = 1;
        /* adding a gradient up reads two tensors and writes one; dividing the sum, unless the loss is
         * known to be a sum, reads one and writes one */
        each[n] = sat_add(each[n], time_of(&pace, sat_mul(3, bytes), overhead));
        if (u.join != LOSS_SUM && training_count(&s->model.training) > 1)
            once[n] = sat_add(once[n], time_of(&pace, sat_mul(2, bytes), overhead));
    }
    return (struct update_cost){.own = u.own,
                                .each = each,
                                .once = once,
                                .joint = u.joint,
                                .maker = maker,
                                .counts = u.counts};
}
