/* Overheads for modules of tests whose times are given. */
#ifndef PCC_TESTS_SUPPORT_OVERHEADS_H
#define PCC_TESTS_SUPPORT_OVERHEADS_H

#include "ir/base/random.h"
#include "ir/model/module.h"

/* Gives each node of m a random overhead: nothing, a part, or all of the time of the node.  The costs of m are of a
 * single class. */
static inline void random_overheads(struct module *m, uint64_t *seed)
{
    struct costs *k = m->cost;
    k->overhead = arena_array(m->mem, 1, sizeof *k->overhead);
    k->overhead[0] = arena_array(m->mem, m->nnode, sizeof **k->overhead);
    for (nid n = 1; n < m->nnode; n++)
        k->overhead[0][n] = k->time[0][n] / 4 * random_below(seed, 5);
}

#endif
