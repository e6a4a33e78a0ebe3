/* What a search knows from one of a smaller graph that came from the other end (ideal_state.h).
 *
 * The guide has searched a part of the graph (smaller_graph_bound.h: relax) to its end, and has kept, for each of its
 * ideals and devices used, the least sum by which loads exceed weights.  What a partial plan that ends at
 * the ideal I leaves, restricted to the guide's vertices, is an ideal of the guide; every way to end the
 * plan is one of the guide's, restricted, whose loads are no larger: so
 *   weight of V - I  +  least excess  <=  what the devices left can hold,
 * or the partial plan leads nowhere.  An ideal that the guide has not cannot be on any plan.  This is the
 * bound of the relaxed state space (Christofides, Mingozzi and Toth, Networks 11, 1981) inside the search.
 */
#include "passes/contiguous/ideal_state.h"

#include <string.h>

enum { SCAN_PER_STEP = 32 };

void guide_link(struct search *s, uint32_t id)
{
    const struct search *g = s->ask.guide;
    uint64_t key = 0;
    uint32_t card = 0;
    if (!g)
        return;
    s->steps += g->n / SCAN_PER_STEP;
    memset(s->rest, 0, ((size_t)g->nword + 1) * sizeof *s->rest);
    for (uint32_t u = 0; u < g->n; u++)
        if (!has(s, s->ask.vertex[u])) {
            s->rest[u >> 6] |= UINT64_C(1) << (u & 63);
            key ^= g->zobrist[u];
            card++;
        }
    s->ideal[id].guide = search_find(g, key, card, s->rest);
}

int64_t guide_excess(const struct search *s, uint32_t id, uint64_t used)
{
    const struct search *g = s->ask.guide;
    int64_t least = LOAD_INF;
    if (!g)
        return 0;
    for (uint32_t l = s->ideal[id].guide ? g->ideal[s->ideal[id].guide].head : 0; l;
         l = g->labels.v[l].next)
        if (g->labels.v[l].value < least &&
            problem_no_more(s->c, g->labels.v[l].used, s->counts - used))
            least = g->labels.v[l].value;
    return least;
}
