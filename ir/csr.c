/* Compressed rows by counting sort: count each row, sum the counts, drop the entries in order. */
#include "ir/module.h"

/* Counts in at[row + 1] -> starts; afterwards at[row + 1] is the fill position of row. */
static void starts_of(uint32_t *at, uint32_t rows)
{
    uint32_t sum = 0;

    for (uint32_t r = 0; r < rows; r++) {
        uint32_t n = at[r + 1];
        at[r + 1] = sum;
        sum += n;
    }
}

struct csr csr_build(struct arena *a, uint32_t rows, uint32_t n, const uint32_t *row,
                     const uint32_t *entry)
{
    struct csr c = {arena_array(a, (size_t)rows + 1, sizeof *c.at),
                    arena_array(a, n, sizeof *c.to)};

    for (uint32_t i = 0; i < n; i++) {
        c.at[row[i] + 1]++;
    }
    starts_of(c.at, rows);
    for (uint32_t i = 0; i < n; i++) {
        c.to[c.at[row[i] + 1]++] = entry[i];
    }
    return c;
}

struct csr module_users(const struct module *m, struct arena *a)
{
    struct csr c = {arena_array(a, (size_t)m->nval + 1, sizeof *c.at), NULL};
    /* last[v]: the last node seen to read v, plus nnode in the second round */
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
    starts_of(c.at, m->nval);
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
    return c;
}
