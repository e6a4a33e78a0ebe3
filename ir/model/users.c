/* Which nodes read each value (module_users() of module.h).  A first round over all operands counts the entries of
 * each row, a second one fills the rows.  O(nodes + operands). */
#include "ir/model/module.h"

#include <assert.h>

struct csr module_users(const struct module *m, struct arena *a)
{
    struct csr c = {arena_array(a, (size_t)m->nval + 1, sizeof *c.at), NULL};
    /* [value] the last node that was found to read the value, to note each node once; in the second round nnode is
     * added, so that the array need not be cleared */
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
