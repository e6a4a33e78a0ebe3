/* Fewer transfers at the same time per sample (tidy.h).
 *
 * What the largest load is made of is all that planners look at; the other devices may hold scattered
 * vertices that nobody had a reason to gather.  Sweeps over the vertices in both directions gather them: each
 * goes to the device, among those that its nets touch, where the sum of the two loads falls most. */
#include "passes/tidy.h"

/* Moves v if that pays. */
static bool gather(struct loads *l, uint32_t v, int64_t most)
{
    uint32_t from = (uint32_t)l->dev[v], best = from;
    int64_t gain = 0;
    for (uint32_t d = 0; d < l->ndev; d++) {
        bool near = false;
        for (uint32_t i = l->net_of.at[v]; i < l->net_of.at[v + 1] && !near; i++)
            near = l->held[(size_t)l->net_of.to[i] * l->ndev + d] > 0;
        if (!near || d == from || !loads_allows(l, v, d))
            continue;
        struct loads_change x = loads_peek(l, v, d);
        if (x.load[0] + x.load[1] >= gain || l->load[d] + x.load[1] > most ||
            l->load[from] + x.load[0] > most ||
            (l->users && l->bytes[d] + x.bytes[1] > l->c->kind[l->kind[d]].memory))
            continue;
        best = d;
        gain = x.load[0] + x.load[1];
    }
    loads_move(l, v, (int32_t)best);
    return best != from;
}

void tidy(struct loads *l)
{
    int64_t most = loads_value(l);
    uint32_t n = l->c->g->n;
    bool moved = true;
    for (uint32_t sweep = 0; sweep < TIDY_SWEEPS && moved; sweep++) {
        moved = false;
        for (uint32_t i = 0; i < n; i++)
            moved = gather(l, sweep % 2 ? n - 1 - i : i, most) || moved;
    }
}
