/* Steps of work that two or more methods share, in turns. */
#ifndef PCC_IR_BASE_BUDGET_H
#define PCC_IR_BASE_BUDGET_H

#include "ir/base/numbers.h"

#include <stdbool.h>
#include <stdint.h>

enum { BUDGET_TURN = 2048, BUDGET_LEAST = 16 };

/* The next turn of a method that has had `spent` steps: 1 / share of these and BUDGET_TURN, at most `left`. */
static inline uint64_t budget_turn(uint64_t spent, uint64_t share, uint64_t left)
{
    uint64_t turn = spent / share + BUDGET_TURN;
    return smaller_u64(turn, left);
}

/* Whether one of two methods has had less than 1 / BUDGET_LEAST of the other's steps: then it has the next turn. */
static inline bool budget_lopsided(uint64_t x, uint64_t y)
{
    return x / BUDGET_LEAST > y || y / BUDGET_LEAST > x;
}

#endif
