/* Colocation classes, vertices that must share a device: a union-find that remembers why. */
#ifndef PCC_IR_BASE_UNION_FIND_H
#define PCC_IR_BASE_UNION_FIND_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct classes {
    uint32_t n; /* vertices */
    /* [vertex] another member of its class; a root's own number: it is the class's first member */
    uint32_t *parent;
    /* [root] reasons of all unions that made the class, as bits; valid for roots only */
    uint16_t *why;
};

/* Every vertex alone.  Lives in a. */
struct classes classes_new(struct arena *a, uint32_t n);
/* The root of v's class. */
uint32_t classes_find(struct classes *c, uint32_t v);
/* Joins the classes of two vertices; true if they were two. */
bool classes_join(struct classes *c, uint32_t u, uint32_t v, int why);
/* Joins the vertices of equal group[] (0: in no group). */
void classes_join_groups(struct classes *c, const uint32_t *group, int why, struct arena *scratch);
/* Writes group[vertex], the number of the vertex's class; classes are numbered by their first members.  Returns the
 * number of classes. */
uint32_t classes_number(struct classes *c, uint32_t *group);

#endif
