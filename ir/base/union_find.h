/* Colocation classes: sets of vertices that must share a device, joined by union-find, with the reasons. */
#ifndef PCC_IR_BASE_UNION_FIND_H
#define PCC_IR_BASE_UNION_FIND_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the root of v's set in a union-find forest (parent[root] == root), and halves the path to it. */
static inline uint32_t union_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Vertices in classes: sets that have no vertex in common. */
struct classes {
    uint32_t n; /* vertices */
    /* [vertex] a smaller member of its class; the smallest member, the root of the class, has itself */
    uint32_t *parent;
    uint16_t *why; /* [root] reasons of all joins that made the class, as bits; only for roots */
};

/* Returns classes of one vertex each, in a. */
struct classes classes_new(struct arena *a, uint32_t n);
/* Returns the root of v's class: its smallest member. */
uint32_t classes_find(struct classes *c, uint32_t v);
/* Joins the classes of u and v for the reasons `why` (bits).  Returns false, and drops the reasons, if u and v were in
 * one class already. */
bool classes_join(struct classes *c, uint32_t u, uint32_t v, int why);
/* Joins all vertices with the same group[vertex] (0: in no group) for the reasons `why`.  Takes memory from scratch. */
void classes_join_groups(struct classes *c, const uint32_t *group, int why, struct arena *scratch);
/* Numbers the classes 0, 1, ... in the order of their smallest members, writes the number of each vertex's class to
 * group[vertex], and returns the number of classes. */
uint32_t classes_number(struct classes *c, uint32_t *group);

#endif
