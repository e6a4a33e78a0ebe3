/* Logarithms and powers of 2 in integer arithmetic, the same on every machine. */
#ifndef PCC_IR_BASE_LOG2_INT_H
#define PCC_IR_BASE_LOG2_INT_H

#include <stdint.h>

enum { FIXED_BITS = 24 }; /* logarithms are integers: the logarithm times 2^FIXED_BITS */

/* Returns log2(x) * 2^FIXED_BITS for x >= 1, rounded down or 1 less. */
int64_t fixed_log2(uint64_t x);
/* fixed_exp2 returns 2^e for the exponent e = y / 2^FIXED_BITS, fixed_exp2_q32 returns 2^e * 2^32.  The result is at
 * most 0.01 % too small, then rounded down; it is UINT64_MAX if it would be 2^63 or more. */
uint64_t fixed_exp2(int64_t y);
uint64_t fixed_exp2_q32(int64_t y);

#endif
