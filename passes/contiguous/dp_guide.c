/* Prunes the exact search by what a finished search of a smaller graph, from the other end, knows (ideal_state.h).
 *
 * The guide searched the graph without some vertices (smaller_graph_bound.h: relax), reversed, to its end.  For each
 * of its ideals it kept, by devices used, the least sum of excesses (loads less weights).  The vertices that a
 * partial plan ending at the ideal I leaves, those lost by the guide aside, are an ideal of the guide; and every way
 * to complete the plan is, without the lost vertices, a partial plan of the guide whose loads are no larger.  So
 *   weight of V - I  +  least excess  <=  what the devices left can hold,
 * or no plan within the limit comes of the partial plan; nor does one if the guide never met that ideal.  This is
 * the bound by a relaxed state space (Christofides, Mingozzi and Toth, Networks 11, 1981) inside the search.
 * Cost: O(V of the guide) for each new ideal, O(its labels) for each partial plan. */
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
            bits_add(s->rest, u);
            key ^= g->zobrist[u];
            card++;
        }
    s->ideals.v[id].guide = search_find(g, key, card, s->rest);
}

int64_t guide_excess(const struct search *s, uint32_t id, uint64_t used)
{
    const struct search *g = s->ask.guide;
    int64_t least = LOAD_INF;
    if (!g)
        return 0;
    for (uint32_t l = s->ideals.v[id].guide ? g->ideals.v[s->ideals.v[id].guide].head : 0; l;
         l = g->labels.v[l].next)
        if (g->labels.v[l].value < least &&
            problem_no_more(s->c, g->labels.v[l].used, s->counts - used))
            least = g->labels.v[l].value;
    return least;
}
