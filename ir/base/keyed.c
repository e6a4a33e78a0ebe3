/* Sorts by key, then by item number (keyed.h). */
#include "ir/base/keyed.h"

#include <stdlib.h>

/* For qsort: ascending by key, equal keys by item. */
static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

void keyed_sort(struct keyed *k, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && compare_keyed(&k[i - 1], &k[i]) < 0)
        i++;
    if (i < n)
        qsort(k, n, sizeof *k, compare_keyed);
}
