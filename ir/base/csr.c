/* Compressed rows (csr.h) by counting sort: count the entries of each row, add up the counts to get where each row
 * begins, put the entries there in order.  O(rows + entries). */
#include "ir/base/csr.h"

#include "ir/base/heap.h"
#include "ir/base/numbers.h"

#include <assert.h>

void csr_starts(uint32_t *at, uint32_t rows)
{
    uint32_t sum = 0;

    for (uint32_t r = 0; r < rows; r++) {
        uint32_t size = at[r + 1];
        at[r + 1] = sum;
        sum += size;
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
    /* at[r + 1] runs from the beginning of row r to its end */
    for (uint32_t i = 0; i < n; i++)
        c.to[c.at[row[i] + 1]++] = entry ? entry[i] : i;
    assert(c.at[0] == 0 && c.at[rows] == n);
    return c;
}

struct pairs pairs_new(struct arena *a, size_t room)
{
    assert(room < UINT32_MAX);
    return (struct pairs){a, arena_array(a, room + 1, sizeof(uint32_t)),
                          arena_array(a, room + 1, sizeof(uint32_t)), 0, (uint32_t)room + 1};
}

void pairs_add(struct pairs *p, uint32_t from, uint32_t to)
{
    if (p->n == p->cap) {
        uint32_t cap = p->cap; /* vec_grow() updates it; p->cap must stay for the second array */
        assert(p->n < UINT32_MAX);
        p->from = vec_grow(p->a, p->from, &cap, p->n + 1, sizeof *p->from);
        p->to = vec_grow(p->a, p->to, &p->cap, p->n + 1, sizeof *p->to);
    }
    p->from[p->n] = from;
    p->to[p->n++] = to;
}

struct csr pairs_rows(const struct pairs *p, uint32_t rows)
{
    return csr_build(p->a, rows, p->n, p->from, p->to);
}

struct csr pairs_rows_back(const struct pairs *p, uint32_t rows)
{
    return csr_build(p->a, rows, p->n, p->to, p->from);
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

uint32_t *csr_sizes(const struct csr *c, uint32_t rows, struct arena *a)
{
    uint32_t *size = arena_array(a, (size_t)rows + 1, sizeof *size);
    for (uint32_t r = 0; r < rows; r++)
        size[r] = c->at[r + 1] - c->at[r];
    return size;
}

/* Kahn's algorithm. waits[r] counts the rows that have r as an entry and are not in the order yet; row r is ready when
 * waits[r] is 0. With keys the ready rows wait in a heap; without keys they are order[done .. end). */
uint32_t csr_topo(const struct csr *c, uint32_t n, const uint32_t *key, uint32_t *order,
                  struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    uint32_t *waits = arena_array(a, (size_t)n + 1, sizeof *waits), done = 0, end = 0;
    struct heap ready = {.a = a};
    for (uint32_t i = 0; i < c->at[n]; i++)
        waits[c->to[i]]++;
    for (uint32_t r = 0; r < n; r++) {
        if (!waits[r] && key)
            heap_push(&ready, key[r], 0, r);
        else if (!waits[r])
            order[end++] = r;
    }
    while (key ? ready.n > 0 : done < end) {
        if (key)
            order[done] = heap_pop(&ready).item;
        uint32_t next = order[done++];
        for_row (r, *c, next) {
            if (--waits[r])
                continue;
            if (key)
                heap_push(&ready, key[r], 0, r);
            else
                order[end++] = r;
        }
    }
    arena_release(a, mark);
    return done;
}

bool csr_has(const struct csr *c, uint32_t i, uint32_t x)
{
    uint32_t n = c->at[i + 1] - c->at[i], k = count_below(c->to + c->at[i], n, x);
    return k < n && c->to[c->at[i] + k] == x;
}
