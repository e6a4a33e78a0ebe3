/* Compressed rows: row i is to[at[i] .. at[i + 1]). */
#ifndef PCC_IR_BASE_CSR_H
#define PCC_IR_BASE_CSR_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct csr {
    uint32_t *at, *to;
};

/* A loop over the entries of a row, in their order: `for_row (w, g->succ, v)`, with w the entry, uint32_t.  The row's
 * end is read once, at the beginning. */
#define for_row(entry, c, row)                                                                     \
    for (uint32_t entry, *entry##_at = (c).to + (c).at[row],                                       \
                         *entry##_end = (c).to + (c).at[(row) + 1];                                \
         entry##_at < entry##_end && (entry = *entry##_at, true); entry##_at++)

/* Rows from n pairs (row[i], entry[i]); the entries of a row keep their order, duplicates stay.  O(rows + n). */
struct csr csr_build(struct arena *a, uint32_t rows, uint32_t n, const uint32_t *row,
                     const uint32_t *entry);
/* For those who fill rows by hand: at[row + 1] holds the row's number of entries before, and the position where the
 * row begins after.  Put each entry of the row at at[row + 1]++; when all rows are full, at[] is that of struct csr. */
void csr_starts(uint32_t *at, uint32_t rows);
/* The other way round: entry -> the rows that it is in, ascending.  Lives in a.  O(rows + entries + n). */
struct csr csr_transpose(struct arena *a, const struct csr *c, uint32_t rows, uint32_t entries);
/* Whether row i, whose entries ascend, has x.  O(log entries). */
bool csr_has(const struct csr *c, uint32_t i, uint32_t x);

#endif
