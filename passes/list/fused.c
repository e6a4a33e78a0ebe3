/* Fuses neighbouring nodes of a group to one vertex before they are scheduled (fused.h).
 *
 * Source: Baechi (SoCC 2020).  Why this makes no cycle: take all edges that are the only edge out of their first
 * vertex.  They form trees, in each of which all paths lead to one vertex, and only this vertex has edges out of the
 * tree.  A path from it back into the tree would lead to it again, so that there would have been a cycle before.  The
 * same holds, with directions reversed, for edges that are the only ones into their second vertex.  So each round
 * contracts all edges of the first kind within groups, and then, in the graph that results, all edges of the second
 * kind. */
#include "passes/list/fused.h"

#include "ir/base/union_find.h"

/* Values of only[vertex] in place of a neighbour: the vertex has no neighbour on that side, or has several. */
#define NONE UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

enum { ROUNDS = 64 }; /* number of rounds of contractions, at most */

/* Writes to only[], for each fused vertex, the only fused vertex to which its outgoing edges lead (if `in`: from which
 * its incoming edges come); SEVERAL: there is more than one.  only[] must be NONE everywhere at first, and stays NONE
 * for a vertex without such edges.  group: [vertex] its fused vertex so far. */
static void find_only(const struct wdag *g, const uint32_t *group, bool in, uint32_t *only)
{
    for (uint32_t u = 0; u < g->n; u++)
        for_row (w, g->succ, u) {
            uint32_t from = group[u], to = group[w];
            uint32_t *here = &only[in ? to : from], other = in ? from : to;
            if (from != to)
                *here = *here == NONE || *here == other ? other : SEVERAL;
        }
}

/* Contracts, within the groups of of[], all edges that are the only edge out of their first vertex (if `in`: the only
 * edge into their second vertex).  Joins vertices in *c, rewrites group[] by that, and returns the number of fused
 * vertices. */
static uint32_t contract(const struct wdag *g, struct classes *c, const uint32_t *of,
                         uint32_t *group, bool in, struct arena *a)
{
    struct arena *own = arena_new(a);
    /* [fused vertex] only: see find_only(); member: the first vertex in it */
    uint32_t *only = arena_array(own, (size_t)g->n + 1, sizeof *only);
    uint32_t *member = arena_array(own, (size_t)g->n + 1, sizeof *member);
    for (uint32_t v = g->n; v-- > 0;) {
        only[v] = NONE;
        member[group[v]] = v;
    }
    find_only(g, group, in, only);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t to = only[group[v]];
        if (member[group[v]] == v && to != NONE && to != SEVERAL && of[member[to]] == of[v])
            classes_join(c, v, member[to], 0);
    }
    arena_free(own);
    return classes_number(c, group);
}

uint32_t fused_find(const struct wdag *g, const uint32_t *of, uint32_t *group, struct arena *a)
{
    struct arena *own = arena_new(a);
    struct classes c = classes_new(own, g->n);
    uint32_t n = classes_number(&c, group), before = UINT32_MAX;
    for (uint32_t round = 0; round < ROUNDS && n < before; round++) {
        before = n;
        for (int in = 0; in < 2; in++)
            n = contract(g, &c, of, group, in, own);
    }
    arena_free(own);
    return n;
}

int placement_start(struct placement *r, struct ctx *x, const char *planner, bool fused)
{
    struct arena *a = x->use.scratch;
    int rc = placement_build(r, x, planner, a);
    /* if r's level is above the base level, contract has made one vertex of each group already */
    if (rc || !fused || r->base != x->levels.base)
        return rc;
    uint32_t *group = arena_array(a, (size_t)r->base->n + 1, sizeof *group);
    uint32_t n = fused_find(r->base, r->group, group, a);
    struct wdag *level = wdag_merge(x->levels.base, group, n, planner, a, x->use.diag);
    if (!level)
        return -1;
    diag_detail(x->use.diag, "%s: %u nodes fused to %u", planner, r->base->n, n);
    return placement_build_on(r, x, planner, level, a);
}
