/* What a training iteration keeps of forward results (kept_bytes.h).
 *
 * A value that only forward nodes read is freed behind its last reader, as in schedule.json, so a device holds it for
 * one micro-batch at a time, however many are under way. */
#include "ir/exec/iteration/kept_bytes.h"

#include "ir/base/units.h"

bool keeps_values(const struct scene *s)
{
    return s->m->ir_version && s->m->backward;
}

const int64_t *kept_bytes(const struct scene *s, struct arena *a)
{
    const struct module *m = s->m;
    const struct place *place = s->place;
    const struct graph *g = &m->graph[1];
    int64_t *kept = arena_array(a, (size_t)m->nnode + 1, sizeof *kept);
    bool by_value = keeps_values(s);
    for (nid n = g->first; n < g->first + g->count && !by_value; n++)
        if (place->kind[n] == PLACE_NODE && !(m->backward && m->backward[n]))
            kept[n] = m->cost->own[n] - (m->ir_version ? 0 : costs_params(m->cost, n));
    for (uint32_t e = 0; e < place->nnet && by_value; e++) {
        vid v = place->net_value[e];
        nid maker = m->value[v].def;
        bool read = false;
        if (!maker || place->kind[maker] != PLACE_NODE || m->backward[maker])
            continue;
        for_row (reader, place->net_pin, e)
            read = read || m->backward[reader];
        if (read)
            kept[maker] = sat_add(kept[maker], m->cost->bytes[v]);
    }
    return kept;
}
