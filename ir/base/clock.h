/* Clocks that tell long work when to stop: at a deadline, or when the user's listener ends the work. */
#ifndef PCC_IR_BASE_CLOCK_H
#define PCC_IR_BASE_CLOCK_H

#include "ir/base/listener.h"

struct clock {
    int64_t deadline;          /* time of CLOCK_MONOTONIC in ns; 0: no deadline */
    struct listener *listener; /* may end the work; NULL: no listener */
    /* why the work must end, set by clock_out(): "interrupted" or "time limit reached"; NULL: the work may go on */
    const char *why;
};

/* Sets the deadline of t to `ns` ns from now. */
void clock_limit(struct clock *t, int64_t ns);
/* The least time in ns that reading, shape inference and constant folding get: the user's time limit, meant for
 * planners, may be shorter. */
#define CLOCK_READING INT64_C(1000000000)
/* If the deadline of t is less than `ns` ns from now, moves it to `ns` ns from now; without a deadline, does
 * nothing. */
void clock_at_least(struct clock *t, int64_t ns);
/* Returns the ns until the deadline: 0 or less if it has passed, INT64_MAX if there is none. */
int64_t clock_left(const struct clock *t);
/* Returns a clock for a part of the work: a copy of t whose deadline is after 1 / parts of the time left.  Without a
 * deadline, returns a plain copy. */
struct clock clock_slice(const struct clock *t, int64_t parts);
/* Returns whether the work must end, and sets t->why to the reason; false for t == NULL. */
bool clock_out(struct clock *t);
/* Returns the time of CLOCK_MONOTONIC in ns. */
int64_t clock_now(void);

#endif
