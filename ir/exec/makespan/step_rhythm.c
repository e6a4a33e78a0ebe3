/* Times of parts in one step (step_rhythm.h), taken from a run on the event core. */
#include "ir/exec/makespan/step_rhythm.h"

#include "ir/base/units.h"
#include "ir/exec/makespan/single_step.h"

/* Returns an array, in a: [value] 1 + the value's tensor in w; 0: it has none. */
static const uint32_t *tensors_by_value(const struct module *m, const struct sample_work *w,
                                        struct arena *a)
{
    uint32_t *tensor = arena_array(a, m->nval, sizeof *tensor);
    for (uint32_t t = 0; t < w->ntensor; t++)
        tensor[w->tensor[t].value] = t + 1;
    return tensor;
}

struct rhythm rhythm_of_step(const struct rhythm_ask *of, struct arena *a)
{
    const struct scene *s = of->scene;
    struct sample_work *w = of->work;
    int64_t *start = arena_array(a, (size_t)w->npart + 1, sizeof *start);
    int64_t *end = arena_array(a, (size_t)w->npart + 1, sizeof *end);
    int64_t *sent = arena_array(a, (size_t)w->ntensor + 1, sizeof *sent);
    struct arena *own = arena_new(a);
    const uint32_t *tensor = tensors_by_value(s->m, w, own);
    struct task_graph g = single_step(s, of->plan, of->parts, own);
    struct timeline t = events_run(&g, NULL, own);
    for (uint32_t i = 0; i < g.ntask; i++) {
        const struct task *x = &g.task[i];
        int64_t from = t.start[g.first[i]], until = sat_add(from, x->time);
        if (x->kind == STEP_COMPUTE) {
            start[x->number] = from;
            end[x->number] = until;
            continue;
        }
        uint32_t v = tensor[s->place->net_value[x->number]];
        if (v && x->kind != STEP_IN && until > sent[v - 1])
            sent[v - 1] = until;
    }
    arena_free(own);
    return (struct rhythm){.work = w,
                           .level = arena_array(a, (size_t)w->npart + 1, sizeof(uint32_t)),
                           .phase = arena_alloc(a, (size_t)w->npart + 1),
                           .start = start,
                           .end = end,
                           .sent = sent};
}
