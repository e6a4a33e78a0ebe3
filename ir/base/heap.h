/* A heap: numbered items by key, the smallest first. */
#ifndef PCC_IR_BASE_HEAP_H
#define PCC_IR_BASE_HEAP_H

#include "ir/base/arena.h"

#include <stdint.h>

/* Of equal keys the smaller tie goes first, then the smaller item: no order depends on how they came in. */
struct heap_entry {
    int64_t key;
    uint32_t tie, item;
};

/* A binary heap.  All zero but for the arena: an empty heap. */
struct heap {
    struct arena *a;
    struct heap_entry *at;
    uint32_t n, cap;
};

/* O(log n). */
void heap_push(struct heap *h, int64_t key, uint32_t tie, uint32_t item);
/* Takes the smallest out; there must be one.  O(log n). */
struct heap_entry heap_pop(struct heap *h);

#endif
