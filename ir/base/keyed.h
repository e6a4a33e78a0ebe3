/* Things by a key: sorted, equal keys by number, so that no order depends on how they came in. */
#ifndef PCC_IR_BASE_KEYED_H
#define PCC_IR_BASE_KEYED_H

#include <stdint.h>

struct keyed {
    int64_t key;
    uint32_t item;
};

/* Ascending.  O(n log n), O(n) if they are in order already. */
void keyed_sort(struct keyed *k, uint32_t n);

#endif
