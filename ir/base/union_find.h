/* Colocation classes, vertices that must share a device: a union-find that remembers why. */
#ifndef PCC_IR_BASE_UNION_FIND_H
#define PCC_IR_BASE_UNION_FIND_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Reasons, bits: a class has those of all unions that made it. */
enum {
    WHY_COLOR = 1 << 0,    /* colour of a profile */
    WHY_SHAPE = 1 << 1,    /* Shape with its operand */
    WHY_STATE = 1 << 2,    /* state pair */
    WHY_TYPE = 1 << 3,     /* value of unknown type */
    WHY_QDQ = 1 << 4,      /* contract{qdq} */
    WHY_NORM = 1 << 5,     /* contract{norm} */
    WHY_LAYER = 1 << 6,    /* contract{by} */
    WHY_BLOCK = 1 << 7,    /* contract{blocks} */
    WHY_REPEAT = 1 << 8,   /* --keep-blocks */
    WHY_CYCLE = 1 << 9,    /* it lies on a cycle through classes */
    WHY_CALL = 1 << 10,    /* contract{calls} */
    WHY_COPLACE = 1 << 11, /* contract{coplace} */
    WHY_ASKED = WHY_NORM | WHY_LAYER | WHY_BLOCK | WHY_REPEAT | WHY_CALL |
        WHY_COPLACE /* the user wants it so */
};

struct classes {
    uint32_t n; /* vertices */
    /* [vertex] another member of its class; a root's own number: it is the class's first member */
    uint32_t *parent;
    uint16_t *why; /* [root] WHY_* of the class; stale for vertices that are no roots */
};

/* Every vertex alone.  Lives in a. */
struct classes classes_new(struct arena *a, uint32_t n);
/* The root of v's class. */
uint32_t classes_find(struct classes *c, uint32_t v);
/* Joins the classes of two vertices; true if they were two. */
bool classes_join(struct classes *c, uint32_t u, uint32_t v, int why);
/* Joins the vertices of equal group[] (0: in no group). */
void classes_join_groups(struct classes *c, const uint32_t *group, int why, struct arena *scratch);
/* Writes group[vertex], the number of its class, in order of the classes' first members; returns how many there are. */
uint32_t classes_number(struct classes *c, uint32_t *group);
/* "qdq, cycles that this makes": the reasons in words.  Lives in a. */
const char *classes_why(int why, struct arena *a);

#endif
