/* Atoms: placed nodes that must be in one part (atoms.h).
 *
 * A value whose type is not known cannot be an input of a part: no runtime would load it.  So its producer and its
 * readers are one atom: they share not only a device but a part.  What lies on a cycle through atoms can be in
 * no other part either, since neither part could run first; what lies on a cycle is joined (strongly
 * connected components).
 * O(nodes + pins). */
#include "ir/dag/atoms.h"

#include "ir/base/components.h"

#include <assert.h>

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

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

/* Adds a pair SAME_TYPE, with the atom's first node, for each node that a cycle added to an atom. */
static void pair_up(struct place *p, const uint32_t *before, const uint32_t *first, uint32_t n,
                    struct arena *a)
{
    uint32_t cap = 0;
    struct same_pair *all = vec_grow(a, NULL, &cap, p->nsame + 1, sizeof *all);
    for (uint32_t i = 0; i < p->nsame; i++)
        all[i] = p->same[i];
    for (nid v = 1; v < n; v++) {
        assert(first[v] <= v);
        if (p->atom[v] != before[v] && first[v] != v) {
            all = vec_grow(a, all, &cap, p->nsame + 1, sizeof *all);
            all[p->nsame++] = (struct same_pair){first[v], v, SAME_TYPE};
        }
    }
    p->same = all;
}

void atoms_find(const struct module *m, struct place *p, struct arena *a)
{
    assert(p->atom == NULL);
    bool any = false;
    uint32_t *group = arena_array(a, m->nnode, sizeof *group);
    uint32_t *parent = arena_array(a, m->nnode, sizeof *parent);
    uint32_t *first = arena_array(a, m->nnode, sizeof *first);
    uint32_t *head = arena_array(a, m->nnode, sizeof *head);
    for (nid v = 0; v < m->nnode; v++)
        parent[v] = v;
    for (uint32_t i = 0; i < p->nsame; i++)
        if (p->same[i].why == SAME_TYPE) {
            uint32_t u = find_root(parent, p->same[i].a), w = find_root(parent, p->same[i].b);
            parent[u < w ? w : u] = smaller_u32(u, w);
            any = true;
        }
    if (!any)
        return;
    for (nid v = 0; v < m->nnode; v++)
        group[v] = parent[v] = find_root(parent, v);
    struct csr edge = group_edges(m, p, group, a);
    uint32_t *comp = arena_array(a, m->nnode, sizeof *comp);
    csr_components(&edge, m->nnode, comp, a);
    for (nid v = m->nnode; v-- > 0;) {
        group[v] = comp[group[v]];
        head[group[v]] = v;
    }
    p->atom = group;
    for (nid v = 0; v < m->nnode; v++)
        group[v] = first[v] = head[group[v]];
    pair_up(p, parent, first, m->nnode, a);
}
