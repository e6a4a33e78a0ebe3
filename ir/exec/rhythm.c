/* Rounds and steps for lists (rhythm.h). */
#include "ir/exec/rhythm.h"

#include "ir/base/units.h"
#include "ir/exec/single_step.h"

static bool is_part_back(const struct module *m, const struct part *p)
{
    for (uint32_t i = 0; m->backward && i < p->nnode; i++)
        if (m->backward[p->node[i]])
            return true;
    return false;
}

struct rhythm rhythm_of_rounds(const struct scene *s, const struct parts *parts,
                               const struct work *w, struct arena *a)
{
    uint32_t *level = arena_array(a, (size_t)w->npart + 1, sizeof *level);
    uint8_t *phase = arena_alloc(a, (size_t)w->npart + 1);
    uint32_t hop = s->model.overlap == OVERLAP_SUM ? 1 : 2;
    for (uint32_t x = 0; x < w->npart; x++) {
        if (s->model.schedule == MICRO_GPIPE)
            phase[x] = is_part_back(s->m, &parts->part[x]);
        for (uint32_t i = w->in.at[x]; i < w->in.at[x + 1]; i++) {
            uint32_t from = w->tensor[w->in.to[i]].from;
            if (from >= w->npart || phase[from] < phase[x])
                continue;
            uint32_t after = level[from] + (w->part[from].dev != w->part[x].dev ? hop : 0);
            level[x] = phase[from] > phase[x] || after > level[x] ? after : level[x];
            phase[x] = phase[from];
        }
    }
    return (struct rhythm){.level = level, .phase = phase, .repeats = true};
}

/* value -> its tensor, + 1; 0: none. */
static const uint32_t *tensors_by_value(const struct module *m, const struct work *w,
                                        struct arena *a)
{
    uint32_t *tensor = arena_array(a, m->nval, sizeof *tensor);
    for (uint32_t t = 0; t < w->ntensor; t++)
        tensor[w->tensor[t].value] = t + 1;
    return tensor;
}

struct rhythm rhythm_of_step(const struct scene *s, const struct plan *p, const struct parts *parts,
                             const struct work *w, struct arena *a)
{
    int64_t *start = arena_array(a, (size_t)w->npart + 1, sizeof *start);
    int64_t *end = arena_array(a, (size_t)w->npart + 1, sizeof *end);
    int64_t *sent = arena_array(a, (size_t)w->ntensor + 1, sizeof *sent);
    struct arena *own = arena_new(a);
    const uint32_t *tensor = tensors_by_value(s->m, w, own);
    struct task_graph g = single_step(s, p, parts, own);
    struct timeline t = events_run(&g, NULL, own);
    for (uint32_t i = 0; i < g.ntask; i++) {
        const struct task *x = &g.task[i];
        int64_t at = t.start[g.first[i]], over = sat_add(at, x->time);
        if (x->kind == STEP_COMPUTE) {
            start[x->number] = at;
            end[x->number] = over;
            continue;
        }
        uint32_t v = tensor[s->place->net_value[x->number]];
        if (v && x->kind != STEP_IN && over > sent[v - 1])
            sent[v - 1] = over;
    }
    arena_free(own);
    return (struct rhythm){.level = arena_array(a, (size_t)w->npart + 1, sizeof(uint32_t)),
                           .phase = arena_alloc(a, (size_t)w->npart + 1),
                           .start = start,
                           .end = end,
                           .sent = sent};
}
