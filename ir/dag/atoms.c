/* Atoms: placed nodes that must be in one part (atoms.h).
 *
 * A value whose type is not known cannot be an input of a part: no runtime would load the part.  So the value's
 * producer and readers are one atom: they share not only a device but a part.  Nodes on a cycle through atoms join
 * them, since of two parts that need each other's results neither could run first (strongly connected
 * components).  O(nodes + pins). */
#include "ir/dag/atoms.h"

#include "ir/base/components.h"
#include "ir/base/union_find.h"

#include <assert.h>

struct csr group_edges(const struct module *m, const struct place *p, const uint32_t *group,
                       struct arena *a)
{
    struct pairs edge = pairs_new(a, p->nnet ? p->net_pin.at[p->nnet] : 0);
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = m->value[p->net_value[e]].def;
        if (!def || p->kind[def] != PLACE_NODE)
            continue;
        for_row (n, p->net_pin, e)
            if (group[def] != group[n])
                pairs_add(&edge, group[def], group[n]);
    }
    return pairs_rows(&edge, m->nnode);
}

/* For each node that joined an atom because of a cycle, adds to p->same a pair SAME_TYPE of the
 * first node of the atom and this node. before[node]: the first node of the node's atom as it was
 * before nodes joined because of cycles; p->atom[node]: the first node of its atom now.  n: number
 * of nodes. */
static void add_cycle_pairs(struct place *p, const uint32_t *before, uint32_t n, struct arena *a)
{
    uint32_t cap = 0;
    struct same_pair *same = vec_grow(a, NULL, &cap, p->nsame + 1, sizeof *same);
    for (uint32_t i = 0; i < p->nsame; i++)
        same[i] = p->same[i];
    for (nid v = 1; v < n; v++) {
        nid first = p->atom[v];
        assert(first <= v);
        if (first != before[v] && first != v) {
            same = vec_grow(a, same, &cap, p->nsame + 1, sizeof *same);
            same[p->nsame++] = (struct same_pair){first, v, SAME_TYPE};
        }
    }
    p->same = same;
}

void atoms_find(const struct module *m, struct place *p, struct arena *a)
{
    assert(p->atom == NULL);
    bool found = false;
    /* [node] at first a smaller node of its group, or itself; then the first node of its group */
    uint32_t *parent = arena_array(a, m->nnode, sizeof *parent);
    /* nodes that pass values of unknown type to each other become one group (union-find) */
    for (nid v = 0; v < m->nnode; v++)
        parent[v] = v;
    for (uint32_t i = 0; i < p->nsame; i++)
        if (p->same[i].why == SAME_TYPE) {
            uint32_t u = union_root(parent, p->same[i].a), w = union_root(parent, p->same[i].b);
            parent[larger_u32(u, w)] = smaller_u32(u, w); /* the smaller root is the root of both */
            found = true;
        }
    if (!found)
        return;
    for (nid v = 0; v < m->nnode; v++)
        parent[v] = union_root(parent, v);
    /* groups on a cycle, which are one component, become one atom, named by its first node */
    struct csr edge = group_edges(m, p, parent, a);
    /* comp: [first node of a group] the group's component; first: [component] its first node, which the walk backward
     * writes last */
    uint32_t *comp = arena_array(a, m->nnode, sizeof *comp);
    nid *first = arena_array(a, m->nnode, sizeof *first);
    csr_components(&edge, m->nnode, comp, a);
    for (nid v = m->nnode; v-- > 0;)
        first[comp[parent[v]]] = v;
    p->atom = arena_array(a, m->nnode, sizeof *p->atom);
    for (nid v = 0; v < m->nnode; v++)
        p->atom[v] = first[comp[parent[v]]];
    add_cycle_pairs(p, parent, m->nnode, a);
}
