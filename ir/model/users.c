/* value -> nodes that read it (module.h): counts, then fills rows, in two rounds over all operands.  O(nodes +
 * operands). */
#include "ir/model/module.h"

#include <assert.h>

struct csr module_users(const struct module *m, struct arena *a)
{
    struct csr c = {arena_array(a, (size_t)m->nval + 1, sizeof *c.at), NULL};
    /* last[v]: the last node that was seen to read v; plus nnode in the second round, so that it need not be cleared */
    uint64_t *last = arena_array(a, m->nval, sizeof *last);
    uint32_t n = 0;

    for (nid x = 1; x < m->nnode; x++) {
        for (uint32_t i = 0; i < m->node[x].in.n; i++) {
            vid v = m->arg[m->node[x].in.at + i];
            if (v != 0 && last[v] != x) {
                last[v] = x;
                c.at[v + 1]++;
                n++;
            }
        }
    }
    csr_starts(c.at, m->nval);
    c.to = arena_array(a, n, sizeof *c.to);
    for (nid x = 1; x < m->nnode; x++) {
        for (uint32_t i = 0; i < m->node[x].in.n; i++) {
            vid v = m->arg[m->node[x].in.at + i];
            if (v != 0 && last[v] != (uint64_t)m->nnode + x) {
                last[v] = (uint64_t)m->nnode + x;
                c.to[c.at[v + 1]++] = x;
            }
        }
    }
    assert(c.at[m->nval] == n);
    return c;
}
