/* When to stop: at a deadline, or when the listener says so. */
#ifndef PCC_IR_BASE_CLOCK_H
#define PCC_IR_BASE_CLOCK_H

#include "ir/base/listener.h"

struct clock {
    int64_t deadline;          /* CLOCK_MONOTONIC in ns; 0: none */
    struct listener *listener; /* NULL: no listener */
    const char *why;           /* once it is out: "time limit reached" */
};

/* From now on it is out in `ns`. */
void clock_limit(struct clock *t, int64_t ns);
/* What reading and shape inference may take whatever the limit is, in ns: that of a planner may be short. */
#define CLOCK_READING INT64_C(1000000000)
/* Moves a deadline, if t has one, to at least `ns` ns from now. */
void clock_at_least(struct clock *t, int64_t ns);
/* Nanoseconds that are left, not above 0 when it is out; INT64_MAX: no deadline. */
int64_t clock_left(const struct clock *t);
/* For a part of the work: the same with 1 / parts of the time that is left; without a deadline, just the same. */
struct clock clock_slice(const struct clock *t, int64_t parts);
/* Whether the work must end (and t->why says why); t = NULL: never. */
bool clock_out(struct clock *t);
int64_t clock_now(void); /* ns */

#endif
