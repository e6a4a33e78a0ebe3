/* Numbers by 64-bit keys: what readers use to find things by (scope, name). */
#ifndef PCC_IR_BASE_MAP_H
#define PCC_IR_BASE_MAP_H

#include "ir/base/arena.h"

/* Zeroed: empty. */
struct map {
    uint64_t *key; /* 0: free */
    uint32_t *val;
    uint32_t count, mask; /* mask: slots - 1, slots a power of two; 0: none yet */
    uint64_t factor;      /* of the hash, odd */
    unsigned shift;       /* 64 - log2(slots) */
};

/* The key of two halves that are not both 0. */
static inline uint64_t map_key(uint32_t hi, uint32_t lo)
{
    return (uint64_t)hi << 32 | lo;
}

/* Number of a key (never 0); 0 if it is not there.  Expected O(1). */
uint32_t map_get(const struct map *t, uint64_t key);
/* Adds the key or replaces its number.  The table grows in a. */
void map_set(struct map *t, struct arena *a, uint64_t key, uint32_t val);

#endif
