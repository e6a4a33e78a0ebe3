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

/* Returns the hash of a set of `words` words. */
static inline uint64_t bits_hash(const uint64_t *set, uint32_t words)
{
    uint64_t h = 1;
    for (uint32_t i = 0; i < words; i++)
        h = ((h ^ set[i]) * UINT64_C(0x9e3779b97f4a7c15)) ^ (h >> 31);
    return h ^ (h >> 32);
}

/* Whether set a is inside set b, or equal to set b; both have `words` words. */
static inline bool bits_within(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (a[i] & ~b[i])
            return false;
    return true;
}

#endif
