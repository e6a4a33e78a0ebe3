/* Pseudorandom numbers from a seed, the same on every machine (splitmix64; Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", 2014).  O(1) each. */
#ifndef PCC_IR_BASE_RANDOM_H
#define PCC_IR_BASE_RANDOM_H

#include <stdint.h>

/* Returns the next 64 random bits.  Before the first call *state is the seed; each call changes it. */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Returns a random number in 0 .. n - 1, n > 0; changes *state as random_bits() does. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((random_bits(state) >> 32) * n) >> 32);
}

#endif
