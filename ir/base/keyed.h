/* Sorts numbered items by a key, equal keys by the item's number, so that the order before sorting has no effect. */
#ifndef PCC_IR_BASE_KEYED_H
#define PCC_IR_BASE_KEYED_H

#include <stdint.h>

/* A numbered item with its key. */
struct keyed {
    int64_t key;
    uint32_t item;
};

/* Sorts k[0 .. n) by key, then by item, ascending.  O(n log n); O(n) if they are sorted already. */
void keyed_sort(struct keyed *k, uint32_t n);

#endif
