/* Computes the memory that devices need while samples follow each other (sample_memory.h), from the schedule of the
 * plan's parts (live_memory.h). */
#include "ir/exec/sample/sample_memory.h"

#include "ir/base/units.h"
#include "ir/exec/live_memory.h"
#include "ir/exec/sample/rounds_rhythm.h"
#include "ir/plan/work.h"

/* Whether the plan can be cut into parts. */
static bool has_parts(const struct verdict *v)
{
    return v->runnable && v->colocated;
}

/* Sets the memory in v->load to the bytes that devices need at one time. */
static void count_live(const struct scene *s, const struct plan *p, struct verdict *v,
                       struct arena *a)
{
    struct parts *parts = parts_build(s, p->dev, a);
    if (!parts)
        return;
    struct sample_work *w = work_of_parts(s, parts, /*slices=*/NULL, a);
    const struct rhythm_ask ask = {.scene = s, .plan = p, .verdict = v, .parts = parts, .work = w};
    struct rhythm y = rhythm_of_rounds(&ask, a);
    live_memory_count(&ask, &y, v, a);
}

struct verdict sample_verdict(const struct scene *s, const struct plan *p, struct arena *a)
{
    struct verdict v = load_verdict(s, p->dev, p->copies, a);
    if (!exec_live_parts(&s->model))
        return v;
    if (has_parts(&v)) {
        struct arena *own = arena_new(a);
        count_live(s, p, &v, own);
        arena_free(own);
    }
    plan_check_memory(s, &v, a);
    return v;
}

int64_t sample_memory_most(const struct scene *s)
{
    const struct module *m = s->m;
    const struct graph *g = &m->graph[1];
    int64_t weights = 0, values = 0, own = 0;
    /* the most rounds in which one value is needed: two on each device, since transfers may have rounds of their own,
     * and one before and one after */
    int64_t rounds = 2 * (int64_t)s->cluster->ndev + 2;
    for (uint32_t i = 0; i < s->place->nweight; i++)
        weights = sat_add(weights, s->place->weight_bytes[i]);
    for (nid n = g->first; n < g->first + g->count; n++) {
        own = larger(m->cost->own[n], own);
        for (uint32_t i = 0; i < m->node[n].out.n; i++)
            values = sat_add(values, m->cost->bytes[m->arg[m->node[n].out.at + i]]);
    }
    for (uint32_t i = 0; i < g->in.n; i++)
        values = sat_add(values, m->cost->bytes[m->arg[g->in.at + i]]);
    return sat_add(sat_add(weights, own), sat_mul(rounds, values));
}
