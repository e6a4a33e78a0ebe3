/* Finds rounds and phases of parts (rounds_rhythm.h) in the order of the parts' numbers, since a part reads only from
 * parts with smaller numbers. */
#include "ir/exec/sample/rounds_rhythm.h"

struct rhythm rhythm_of_rounds(const struct rhythm_ask *of, struct arena *a)
{
    const struct scene *s = of->scene;
    struct sample_work *w = of->work;
    uint32_t *level = arena_array(a, (size_t)w->npart + 1, sizeof *level);
    uint8_t *phase = arena_alloc(a, (size_t)w->npart + 1);
    /* a reader on another device runs one round after the maker; if transfers have lanes of their own, two rounds,
     * since the transfer has the round in between */
    uint32_t hop = s->model.overlap == OVERLAP_SUM ? 1 : 2;
    for (uint32_t x = 0; x < w->npart; x++) {
        if (exec_apart(&s->model))
            phase[x] = part_is_back(s->m, &of->parts->part[x]);
        for_row (t, w->in, x) {
            uint32_t from = w->tensor[t].from;
            if (from >= w->npart || phase[from] < phase[x])
                continue; /* the tensor comes from outside, or from an earlier phase, which has ended before */
            uint32_t after = level[from] + (w->part[from].dev != w->part[x].dev ? hop : 0);
            /* a part that reads from a later phase belongs to that phase, and its rounds count anew */
            if (phase[from] > phase[x])
                level[x] = after;
            else
                level[x] = larger_u32(after, level[x]);
            phase[x] = phase[from];
        }
    }
    return (struct rhythm){.work = w, .level = level, .phase = phase, .repeats = true};
}
