/* Compressed rows: lists of numbers, one after the other in one array.  Mostly the edges of a graph, a row for each
 * vertex. */
#ifndef PCC_IR_BASE_CSR_H
#define PCC_IR_BASE_CSR_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The entries of row i are to[at[i] .. at[i + 1]). */
struct csr {
    uint32_t *at, *to;
};

/* Loops over the entries of a row, in their order: `for_row (w, g->succ, v)` declares the entry w (uint32_t) and runs
 * through row v.  The arguments must not have side effects: they are evaluated twice. */
#define for_row(entry, c, row)                                                                     \
    for (uint32_t entry, *entry##_at = (c).to + (c).at[row],                                       \
                         *entry##_end = (c).to + (c).at[(row) + 1];                                \
         entry##_at < entry##_end && (entry = *entry##_at, true); entry##_at++)

/* A growing list of n pairs (from[i], to[i]), such as edges.  If all fields but the arena are zero, the list is
 * empty. */
struct pairs {
    struct arena *a;
    uint32_t *from, *to, n, cap;
};

/* Returns an empty list with memory for `room` pairs; it grows when there are more. */
struct pairs pairs_new(struct arena *a, size_t room);
void pairs_add(struct pairs *p, uint32_t from, uint32_t to);
/* Both return rows made of the pairs, in the list's arena.  pairs_rows: row x holds `to` of each pair with `from` == x;
 * pairs_rows_back: row x holds `from` of each pair with `to` == x.  Entries of a row keep the order of the list,
 * duplicates stay.  O(rows + pairs). */
struct csr pairs_rows(const struct pairs *p, uint32_t rows);
struct csr pairs_rows_back(const struct pairs *p, uint32_t rows);
/* Returns rows made of n pairs, in a: row row[i] holds entry[i] (entry == NULL: i) for each i < n.  Entries of a row
 * keep the order of the pairs, duplicates stay.  O(rows + n). */
struct csr csr_build(struct arena *a, uint32_t rows, uint32_t n, const uint32_t *row,
                     const uint32_t *entry);
/* For callers that fill rows themselves.  Turns at[row + 1] from the row's number of entries into the position of the
 * row's first entry.  The caller then puts each entry of the row at position at[row + 1]++; when all entries are in
 * place, at[] is the array that struct csr needs. */
void csr_starts(uint32_t *at, uint32_t rows);
/* Returns the transposed rows, in a: row x, for x < entries, holds the rows of c that have x as an entry, ascending.
 * O(rows + entries + c's number of entries). */
struct csr csr_transpose(struct arena *a, const struct csr *c, uint32_t rows, uint32_t entries);
/* Returns an array, in a: [row] number of entries of the row, for the first `rows` rows. */
uint32_t *csr_sizes(const struct csr *c, uint32_t rows, struct arena *a);
/* Sorts the rows 0 .. n - 1 topologically: entries are rows, too, and each row comes before its entries.  Among rows
 * that may come next, takes the one with the smallest key[row], of equal keys the smaller row; key == NULL: the one
 * that became ready first.  Writes the rows to order[n] and returns how many it wrote: the others are on a cycle or can
 * be reached from one.  Scratch memory is taken from a and released.
 * O(n + entries), with keys O(n log n + entries). */
uint32_t csr_topo(const struct csr *c, uint32_t n, const uint32_t *key, uint32_t *order,
                  struct arena *a);
/* Whether row i has the entry x; the entries of the row must be ascending.  O(log entries). */
bool csr_has(const struct csr *c, uint32_t i, uint32_t x);

#endif
