/* Compressed rows: row i is to[at[i] .. at[i + 1]). */
#ifndef PCC_IR_BASE_CSR_H
#define PCC_IR_BASE_CSR_H

#include "ir/base/arena.h"

#include <stdint.h>

struct csr {
    uint32_t *at, *to;
};

/* From n (row, entry) pairs, stable; duplicates stay. O(rows + n). */
struct csr csr_build(struct arena *a, uint32_t rows, uint32_t n, const uint32_t *row,
                     const uint32_t *entry);
/* Counts in at[row + 1] -> starts; afterwards at[row + 1] is the fill position of row, and once all rows are full
 * at[] is that of struct csr. */
void csr_starts(uint32_t *at, uint32_t rows);

#endif
