/* Logarithms and powers of 2 in whole numbers, the same on every machine. */
#ifndef PCC_IR_BASE_LOG2_INT_H
#define PCC_IR_BASE_LOG2_INT_H

#include <stdint.h>

enum { FIXED_BITS = 24 }; /* of the fractions of logarithms */

/* log2(x) for x >= 1, times 2^FIXED_BITS, rounded down. */
int64_t fixed_log2(uint64_t x);
/* 2^y, and 2^y * 2^32, for y with FIXED_BITS bits of fraction, rounded down; at most UINT64_MAX. */
uint64_t fixed_exp2(int64_t y);
uint64_t fixed_exp2_q32(int64_t y);

#endif
