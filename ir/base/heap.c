/* A heap (heap.h): a binary tree in an array, in which no entry is smaller than its parent.  The parent of entry i is
 * entry (i - 1) / 2. */
#include "ir/base/heap.h"

#include <assert.h>
#include <stdbool.h>

/* Whether entry x leaves the heap before entry y. */
static bool leaves_before(const struct heap_entry *x, const struct heap_entry *y)
{
    if (x->key != y->key)
        return x->key < y->key;
    return x->tie != y->tie ? x->tie < y->tie : x->item < y->item;
}

void heap_push(struct heap *h, int64_t key, uint32_t tie, uint32_t item)
{
    if (h->n == h->cap)
        h->at = vec_grow(h->a, h->at, &h->cap, h->n + 1, sizeof *h->at);
    struct heap_entry x = {key, tie, item};
    /* entry i is free; entries above it that are larger than x move down */
    uint32_t i = h->n++;
    for (; i && leaves_before(&x, &h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = x;
}

struct heap_entry heap_pop(struct heap *h)
{
    assert(h->n > 0);
    struct heap_entry top = h->at[0], x = h->at[--h->n];
    /* entry i is free; x, the last entry, goes there unless the smaller child of i, entry k, is smaller than x: then
     * this child moves up */
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < h->n; i = k) {
        if (k + 1 < h->n && leaves_before(&h->at[k + 1], &h->at[k]))
            k++;
        if (!leaves_before(&h->at[k], &x))
            break;
        h->at[i] = h->at[k];
    }
    h->at[i] = x;
    return top;
}
