/* A table from 64-bit keys to numbers, in which readers find values, nodes and functions by (scope, name). */
#ifndef PCC_IR_BASE_MAP_H
#define PCC_IR_BASE_MAP_H

#include "ir/base/arena.h"

/* If all fields are zero, the table is empty. */
struct map {
    uint64_t *key;   /* [slot] 0: the slot is free */
    uint32_t *val;   /* [slot] the number stored under the key; 0: the slot is free */
    uint32_t count;  /* keys in the table */
    uint32_t mask;   /* number of slots - 1 (slots are a power of two); 0: no slots yet */
    uint64_t factor; /* random odd factor of the hash */
    unsigned shift;  /* 64 - log2(number of slots) */
};

/* Returns the key that is made of two numbers, which must not both be 0. */
static inline uint64_t map_key(uint32_t hi, uint32_t lo)
{
    return (uint64_t)hi << 32 | lo;
}

/* Returns the number of a key, or 0 if the table does not have the key.  Expected O(1). */
uint32_t map_get(const struct map *t, uint64_t key);
/* Adds the key with the number val, or replaces its number; key and val must not be 0.  New memory is taken from a. */
void map_set(struct map *t, struct arena *a, uint64_t key, uint32_t val);

#endif
