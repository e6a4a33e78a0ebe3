/* Sets of numbers 0 .. n - 1 as bits: number v is bit v % 64 of word v / 64. */
#ifndef PCC_IR_BASE_BITS_H
#define PCC_IR_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool bits_have(const uint64_t *set, size_t v)
{
    return set[v / 64] >> v % 64 & 1;
}

static inline void bits_add(uint64_t *set, size_t v)
{
    set[v / 64] |= UINT64_C(1) << v % 64;
}

static inline void bits_drop(uint64_t *set, size_t v)
{
    set[v / 64] &= ~(UINT64_C(1) << v % 64);
}

#endif
