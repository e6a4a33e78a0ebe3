/* Small helpers for numbers: the larger and the smaller of two, comparison functions, binary search. */
#ifndef PCC_IR_BASE_NUMBERS_H
#define PCC_IR_BASE_NUMBERS_H

#include <stdint.h>

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline uint32_t larger_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint32_t smaller_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t smaller_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns how many of the ascending numbers v[0 .. n) are less than x.  O(log n). */
uint32_t count_below(const uint32_t *v, uint32_t n, uint32_t x);

/* Comparison functions for qsort and bsearch: ascending order of int64_t, uint32_t and uint64_t. */
int by_i64(const void *a, const void *b);
int by_u32(const void *a, const void *b);
int by_u64(const void *a, const void *b);

#endif
