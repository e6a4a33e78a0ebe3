/* Strongly connected components (components.h): Tarjan's algorithm (SIAM J. on Computing 1 (1972)) with an
 * explicit stack.  O(vertices + edges). */
#include "ir/base/components.h"

#include "ir/base/numbers.h"

#include <assert.h>

/* State of the depth-first search. */
struct tarjan {
    const struct csr *edge; /* row v: the ends of the edges from v */
    /* [vertex] place of the vertex in the order of visits, from 1; 0: not visited yet */
    uint32_t *index;
    /* [vertex] the smallest index of a vertex on the stack to which an edge from this vertex's subtree leads */
    uint32_t *low;
    uint32_t *stack; /* [nstack] visited vertices whose component is not complete yet */
    uint32_t *frame; /* [nframe] the path from the search's root to the current vertex */
    uint32_t *next;  /* [vertex] position in edge->to of the edge to follow next */
    uint32_t *comp;  /* [vertex] 1 + number of the vertex's component; 0: not known yet */
    uint32_t nindex, nstack, nframe, ncomp;
};

/* Visits v: numbers it, and puts it on the stack and on the path. */
static void tarjan_enter(struct tarjan *t, uint32_t v)
{
    t->index[v] = t->low[v] = ++t->nindex;
    t->stack[t->nstack++] = v;
    t->next[v] = t->edge->at[v];
    t->frame[t->nframe++] = v;
}

/* Takes v off the path, after all its edges were followed.  If v is the first visited vertex of its component, the
 * component is complete: v and all vertices above v on the stack get its number and leave the stack. */
static void tarjan_leave(struct tarjan *t, uint32_t v)
{
    if (t->low[v] == t->index[v]) {
        uint32_t w;
        t->ncomp++;
        do {
            assert(t->nstack > 0);
            w = t->stack[--t->nstack];
            t->comp[w] = t->ncomp;
        } while (w != v);
    }
    if (--t->nframe) {
        uint32_t parent = t->frame[t->nframe - 1];
        t->low[parent] = smaller_u32(t->low[parent], t->low[v]);
    }
}

/* Visits all unvisited vertices that can be reached from root. */
static void tarjan_from(struct tarjan *t, uint32_t root)
{
    tarjan_enter(t, root);
    while (t->nframe) {
        uint32_t v = t->frame[t->nframe - 1];
        if (t->next[v] == t->edge->at[v + 1]) {
            tarjan_leave(t, v);
            continue;
        }
        uint32_t w = t->edge->to[t->next[v]++];
        if (!t->index[w])
            tarjan_enter(t, w);
        else if (!t->comp[w] && t->index[w] < t->low[v])
            t->low[v] = t->index[w];
    }
}

uint32_t csr_components(const struct csr *edge, uint32_t vertices, uint32_t *comp, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    size_t n = vertices;
    uint32_t *all = arena_array(a, n * 5 + 1, sizeof *all);
    struct tarjan t = {.edge = edge,
                       .index = all,
                       .low = all + n,
                       .stack = all + 2 * n,
                       .frame = all + 3 * n,
                       .next = all + 4 * n,
                       .comp = comp};
    for (uint32_t v = 0; v < vertices; v++)
        comp[v] = 0;
    for (uint32_t v = 0; v < vertices; v++)
        if (!t.index[v])
            tarjan_from(&t, v);
    assert(t.nstack == 0 && t.ncomp <= vertices);
    for (uint32_t v = 0; v < vertices; v++) {
        assert(comp[v] > 0);
        comp[v]--;
    }
    arena_release(a, mark);
    return t.ncomp;
}
