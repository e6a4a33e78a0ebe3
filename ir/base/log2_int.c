/* Logarithms and powers of 2 in integer arithmetic (log2_int.h).
 *
 * The fraction of a logarithm is found bit by bit: squaring a number in [1, 2) doubles its logarithm; if the square is
 * 2 or more, the next bit is 1 and the number is halved.  A power of 2 is the product of those roots 2^(1/2), 2^(1/4),
 * ... whose bits in the exponent's fraction are 1.  O(FIXED_BITS) operations, for a power also FIXED_BITS square
 * roots. */
#include "ir/base/log2_int.h"

#include <assert.h>

int64_t fixed_log2(uint64_t x)
{
    assert(x >= 1);
    int whole = 63 - __builtin_clzll(x);
    uint64_t m = whole > 31 ? x >> (whole - 31) : x << (31 - whole); /* in [2^31, 2^32) */
    /* squaring m / 2^31 doubles its logarithm; if the square is 2 or more, the next binary digit is 1 */
    int64_t y = whole;
    for (int i = 0; i < FIXED_BITS; i++) {
        m = (m * m) >> 31;
        y *= 2;
        if (m >> 32) {
            m >>= 1;
            y++;
        }
    }
    return y;
}

/* Returns the square root of x, rounded down. */
static uint64_t square_root(uint64_t x)
{
    uint64_t r = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((r | bit) * (r | bit) <= x)
            r |= bit;
    return r;
}

/* Returns 2^(f / 2^FIXED_BITS) * 2^31, for a fraction f < 2^FIXED_BITS. */
static uint64_t power_of_fraction(uint64_t f)
{
    /* r: 2 * 2^31 at first; after k square roots 2^(1 / 2^k) * 2^31, the factor of the k-th binary digit of f */
    uint64_t m = UINT64_C(1) << 31, r = UINT64_C(1) << 32;
    for (int i = FIXED_BITS - 1; i >= 0; i--) {
        r = square_root(r << 31);
        if (f >> i & 1)
            m = (m * r) >> 31;
    }
    return m;
}

/* Returns 2^(y / 2^FIXED_BITS + add), exact as log2_int.h says; UINT64_MAX if the power would be 2^63 or more. */
static uint64_t power_of_2(int64_t y, int64_t add)
{
    int64_t whole = (y >> FIXED_BITS) + add - 31; /* m is 2^31 times the power of the fraction */
    uint64_t m = power_of_fraction((uint64_t)y & ((UINT64_C(1) << FIXED_BITS) - 1));
    if (whole >= 0)
        return whole < 32 ? m << whole : UINT64_MAX;
    return whole > -63 ? m >> -whole : 0;
}

uint64_t fixed_exp2(int64_t y)
{
    return power_of_2(y, 0);
}

uint64_t fixed_exp2_q32(int64_t y)
{
    return power_of_2(y, 32);
}
