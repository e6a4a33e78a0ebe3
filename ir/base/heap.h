/* A heap: numbered items with keys; the item with the smallest key is taken out first. */
#ifndef PCC_IR_BASE_HEAP_H
#define PCC_IR_BASE_HEAP_H

#include "ir/base/arena.h"

#include <stdint.h>

/* Of equal keys the smaller tie goes first, then the smaller item: the order in which items are added has no effect. */
struct heap_entry {
    int64_t key;
    uint32_t tie, item;
};

/* If all fields but the arena are zero, the heap is empty. */
struct heap {
    struct arena *a;
    struct heap_entry *at; /* [n], at[0] is the smallest */
    uint32_t n, cap;       /* entries in the heap; entries that at[] has memory for */
};

/* Adds an item with its key and tie. O(log n). */
void heap_push(struct heap *h, int64_t key, uint32_t tie, uint32_t item);
/* Removes the smallest entry and returns it; the heap must not be empty.  O(log n). */
struct heap_entry heap_pop(struct heap *h);

#endif
