/* Fewer transfers at the same time per sample (tidy.h).
 *
 * What the largest load is made of is all that planners look at; the other devices may hold scattered
 * vertices that nobody had a reason to gather.  Sweeps over the vertices in both directions gather them: each
 * goes to the device, among those that its nets touch, where the sum of the two loads falls most. */
#include "passes/tidy.h"

/* Moves v if that pays. */
static bool gather(struct loads *l, uint32_t v, int64_t most, int64_t most_back)
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
        int64_t sum = x.load[0] + x.load[1] + x.back[0] + x.back[1];
        if (sum >= gain || l->load[d] + x.load[1] > most || l->load[from] + x.load[0] > most ||
            l->back[d] + x.back[1] > most_back || l->back[from] + x.back[0] > most_back ||
            (l->users && l->bytes[d] + x.bytes[1] > l->c->kind[l->kind[d]].memory))
            continue;
        best = d;
        gain = sum;
    }
    loads_move(l, v, (int32_t)best);
    return best != from;
}

void tidy(struct loads *l)
{
    int64_t most = 0, back = 0;
    uint32_t n = l->c->g->n;
    for (uint32_t d = 0; d < l->ndev; d++) {
        most = l->load[d] > most ? l->load[d] : most;
        back = l->back[d] > back ? l->back[d] : back;
    }
    bool moved = true;
    for (uint32_t sweep = 0; sweep < TIDY_SWEEPS && moved; sweep++) {
        moved = false;
        for (uint32_t i = 0; i < n; i++)
            moved = gather(l, sweep % 2 ? n - 1 - i : i, most, back) || moved;
    }
}
