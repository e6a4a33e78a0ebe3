/* Memory of devices while samples follow each other (sample_memory.h).
 *
 * The judge makes the plan's parts and their schedule as backends/split does for a folder, so a plan promises the very
 * figure that schedule.json has.  In the steady state a device works on one sample, holds what the next one brings, and
 * what the last one sends; a value that a device reads some rounds after it was made is there once for each round. */
#include "ir/exec/sample/sample_memory.h"

#include "ir/base/units.h"
#include "ir/exec/sample/rounds_rhythm.h"
#include "ir/plan/schedule_check.h"

/* Whether the plan can be cut into parts. */
static bool has_parts(const struct verdict *v)
{
    return v->runnable && v->colocated;
}

/* Whether devices take turns with a stage. */
static bool takes_turns(const struct scene *s, const uint32_t *copies)
{
    for (uint32_t d = 0; copies && d < s->cluster->ndev; d++)
        if (copies[d] > 1)
            return true;
    return false;
}

/* Adds to used[device] what its parts need without a schedule: their lasting bytes, what one sample has at once, and
 * once more all that they read and all that leaves them. */
static void add_parts(const struct sample_work *w, int64_t *used)
{
    for (uint32_t x = 0; x < w->npart; x++) {
        int64_t *to = &used[w->part[x].dev];
        *to = sat_add(*to, sat_add(w->part[x].lasting, w->part[x].running));
        *to = sat_add(*to, sat_mul(2, work_bytes_in(w, x)));
        for_row (t, w->out, x)
            if (w->place.at[t + 1] - w->place.at[t] > 1)
                *to = sat_add(*to, w->tensor[t].bytes);
    }
}

/* Sets load[].used of v to the bytes that devices need at one time. */
static void count_live(const struct scene *s, const struct plan *p, struct verdict *v,
                       struct arena *a)
{
    uint32_t ndev = s->cluster->ndev;
    struct parts *parts = parts_build(s, p->dev, a);
    if (!parts)
        return;
    struct sample_work *w = work_of_parts(s, parts, /*slices=*/NULL, a);
    const struct rhythm_ask ask = {.scene = s, .plan = p, .verdict = v, .parts = parts, .work = w};
    struct rhythm y = rhythm_of_rounds(&ask, a);
    struct schedule *e = schedule_make(w, &y, a);
    int64_t *used = e->peak;
    e->in_flight = schedule_usual_samples(e);
    if (takes_turns(s, p->copies) || schedule_prove(w, e, a)) {
        used = arena_array(a, (size_t)ndev + 1, sizeof *used);
        add_parts(w, used);
    }
    for (uint32_t d = 0; d < ndev; d++) {
        v->load[d].sum = v->load[d].used;
        v->load[d].used = used[d];
        for (uint32_t i = 1; p->copies && i < p->copies[d] && d + i < ndev; i++)
            used[d + i] = used[d];
    }
}

struct verdict sample_verdict(const struct scene *s, const struct plan *p, struct arena *a)
{
    struct verdict v = load_verdict(s, p->dev, p->copies, a);
    if (!exec_live_rounds(&s->model))
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
    /* rounds from a sample's first part to its last, with transfers apart, and one before and after */
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
