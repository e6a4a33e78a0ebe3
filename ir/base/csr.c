/* Compressed rows by counting sort: count each row, sum the counts, drop the entries in order.  O(rows + entries). */
#include "ir/base/csr.h"

#include <assert.h>

void csr_starts(uint32_t *at, uint32_t rows)
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
    assert(rows > 0 || n == 0);
    struct csr c = {arena_array(a, (size_t)rows + 1, sizeof *c.at),
                    arena_array(a, n, sizeof *c.to)};

    for (uint32_t i = 0; i < n; i++) {
        assert(row[i] < rows);
        c.at[row[i] + 1]++;
    }
    csr_starts(c.at, rows);
    for (uint32_t i = 0; i < n; i++) {
        c.to[c.at[row[i] + 1]++] = entry[i];
    }
    assert(c.at[0] == 0 && c.at[rows] == n);
    return c;
}

struct csr csr_transpose(struct arena *a, const struct csr *c, uint32_t rows, uint32_t entries)
{
    uint32_t n = rows ? c->at[rows] : 0;
    struct csr t = {arena_array(a, (size_t)entries + 1, sizeof *t.at),
                    arena_array(a, (size_t)n + 1, sizeof *t.to)};

    for (uint32_t i = 0; i < n; i++) {
        assert(c->to[i] < entries);
        t.at[c->to[i] + 1]++;
    }
    csr_starts(t.at, entries);
    for (uint32_t r = 0; r < rows; r++)
        for_row (x, *c, r)
            t.to[t.at[x + 1]++] = r;
    return t;
}

bool csr_has(const struct csr *c, uint32_t i, uint32_t x)
{
    uint32_t lo = c->at[i], hi = c->at[i + 1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->to[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->at[i + 1] && c->to[lo] == x;
}
