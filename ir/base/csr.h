/* Compressed rows: row i is to[at[i] .. at[i + 1]). */
#ifndef PCC_IR_BASE_CSR_H
#define PCC_IR_BASE_CSR_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct csr {
    uint32_t *at, *to;
};

/* A loop over the entries of a row, in their order: `for_row (w, g->succ, v)`, with w the entry, uint32_t.  The
 * row is named twice: no side effects. */
#define for_row(entry, c, row)                                                                     \
    for (uint32_t entry, *entry##_at = (c).to + (c).at[row],                                       \
                         *entry##_end = (c).to + (c).at[(row) + 1];                                \
         entry##_at < entry##_end && (entry = *entry##_at, true); entry##_at++)

/* A growing list of pairs of numbers.  All zero but for the arena: an empty list. */
struct pairs {
    struct arena *a;
    uint32_t *from, *to, n, cap;
};

/* An empty list with memory for `room` pairs; the list grows when there are more. */
struct pairs pairs_new(struct arena *a, size_t room);
void pairs_add(struct pairs *p, uint32_t from, uint32_t to);
/* Rows of the pairs, in the list's arena: row `from` holds each `to`, or the other way round, in the order of the
 * list; duplicates stay.  O(rows + pairs). */
struct csr pairs_rows(const struct pairs *p, uint32_t rows);
struct csr pairs_rows_back(const struct pairs *p, uint32_t rows);
/* Rows from n pairs (row[i], entry[i]), entry NULL: (row[i], i); the entries of a row keep their order, duplicates
 * stay.  O(rows + n). */
struct csr csr_build(struct arena *a, uint32_t rows, uint32_t n, const uint32_t *row,
                     const uint32_t *entry);
/* To fill rows by hand.  Before the call at[row + 1] is the row's number of entries, after it the position of the row's
 * first entry.  Put each entry of the row at at[row + 1]++; when all rows are full, at[] is that of struct csr. */
void csr_starts(uint32_t *at, uint32_t rows);
/* The other way round: entry -> the rows that it is in, ascending.  Lives in a.  O(rows + entries + n). */
struct csr csr_transpose(struct arena *a, const struct csr *c, uint32_t rows, uint32_t entries);
/* How many entries each row has, in a. */
uint32_t *csr_sizes(const struct csr *c, uint32_t rows, struct arena *a);
/* A topological order of rows 0 .. n - 1: each is ahead of its entries.  Of the rows that are ready the one with the
 * smallest key is next, of equal keys the smaller row; without keys (NULL) the one that became ready first.  Writes
 * order, which has room for n, and returns how many rows it holds: all others are on a circle or behind one.  Scratch
 * in a, released at the end.  O(n + entries), with keys O(n log n + entries). */
uint32_t csr_topo(const struct csr *c, uint32_t n, const uint32_t *key, uint32_t *order,
                  struct arena *a);
/* Whether row i, whose entries ascend, has x.  O(log entries). */
bool csr_has(const struct csr *c, uint32_t i, uint32_t x);

#endif
