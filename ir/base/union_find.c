/* Colocation classes (union_find.h): union-find.  When two classes are joined, the smaller root becomes the root of
 * both; searches halve the paths to the roots.  O(log n) amortized for each call of find and join. */
#include "ir/base/union_find.h"

#include "ir/base/numbers.h"

#include <assert.h>

struct classes classes_new(struct arena *a, uint32_t n)
{
    struct classes c = {n, arena_array(a, (size_t)n + 1, sizeof *c.parent),
                        arena_array(a, (size_t)n + 1, sizeof *c.why)};
    for (uint32_t v = 0; v < n; v++)
        c.parent[v] = v;
    return c;
}

uint32_t classes_find(struct classes *c, uint32_t v)
{
    assert(v < c->n);
    return union_root(c->parent, v);
}

bool classes_join(struct classes *c, uint32_t u, uint32_t v, int why)
{
    assert(u < c->n && v < c->n);
    assert(why >= 0 && why <= UINT16_MAX);
    uint32_t a = union_root(c->parent, u), b = union_root(c->parent, v);
    uint32_t root = smaller_u32(a, b), other = larger_u32(a, b);
    if (a == b)
        return false;
    c->parent[other] = root;
    c->why[root] = (uint16_t)(c->why[root] | c->why[other] | why);
    return true;
}

void classes_join_groups(struct classes *c, const uint32_t *group, int why, struct arena *scratch)
{
    uint32_t max = 0;
    for (uint32_t v = 0; v < c->n; v++)
        max = larger_u32(group[v], max);
    /* [group] 1 + the first vertex of the group; 0: none yet */
    uint32_t *first = arena_array(scratch, (size_t)max + 1, sizeof *first);
    for (uint32_t v = 0; v < c->n; v++)
        if (group[v] && first[group[v]])
            classes_join(c, first[group[v]] - 1, v, why);
        else if (group[v])
            first[group[v]] = v + 1;
}

uint32_t classes_number(struct classes *c, uint32_t *group)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < c->n; v++) {
        uint32_t root = union_root(c->parent, v);
        assert(root <= v);
        group[v] = root == v ? count++ : group[root];
    }
    return count;
}
