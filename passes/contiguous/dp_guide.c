/* Prunes the exact search by the results of a finished search of a smaller graph from the other end, its guide
 * (ideal_state.h).
 *
 * The guide searched the graph without some vertices (problem_relax() in smaller_graph_bound.h), with all edges
 * reversed, to its end.  Each label of the guide tells for an ideal which devices a partial plan uses and the sum of
 * the excesses of their loads (load less weight).  Let a partial plan of this search end at the ideal I.  The
 * vertices outside I, except the vertices that the guide's graph lacks, are an ideal of the guide; and every way to
 * complete the plan is, without the lost vertices, a partial plan of the guide whose loads are not larger.  So
 *   weight of V - I  +  least excess  <=  what the devices left can hold,
 * or the partial plan cannot become a plan within the limit.  It cannot become one either if the guide has not met
 * that ideal.  This is the bound by a relaxed state space (Christofides, Mingozzi and Toth, Networks 11, 1981)
 * inside the search.
 *
 * Cost: O(V of the guide) for each new ideal, O(labels of the guide's ideal) for each partial plan. */
#include "passes/contiguous/ideal_state.h"

#include <string.h>

void guide_link(struct search *s, uint32_t id)
{
    const struct search *guide = s->ask.guide;
    uint64_t key = 0;
    uint32_t card = 0;
    if (!guide)
        return;
    s->steps += guide->n / SEARCH_SCAN; /* the look at all vertices counts as steps */
    memset(s->rest, 0, ((size_t)guide->nword + 1) * sizeof *s->rest);
    for (uint32_t u = 0; u < guide->n; u++)
        if (!has(s, s->ask.vertex[u])) {
            bits_add(s->rest, u);
            key ^= guide->zobrist[u];
            card++;
        }
    s->ideals.v[id].guide = search_find(guide, key, card, s->rest);
}

int64_t guide_excess(const struct search *s, uint32_t id, uint64_t used)
{
    const struct search *guide = s->ask.guide;
    int64_t least = LOAD_INF;
    if (!guide)
        return 0;
    uint32_t own = s->ideals.v[id].guide;
    if (!own)
        return LOAD_INF; /* the guide has not met the ideal */
    for (uint32_t l = guide->ideals.v[own].head; l; l = guide->labels.v[l].next)
        if (guide->labels.v[l].value < least &&
            problem_no_more(s->c, guide->labels.v[l].used, s->counts - used))
            least = guide->labels.v[l].value;
    return least;
}
