/* When to stop: at a deadline, or when the listener says so. */
#ifndef PCC_IR_BASE_CLOCK_H
#define PCC_IR_BASE_CLOCK_H

#include "ir/base/listener.h"

struct clock {
    int64_t deadline;          /* CLOCK_MONOTONIC in ns; 0: none */
    struct listener *listener; /* NULL: nobody */
    const char *why;           /* once it is out: "time limit reached" */
};

/* Whether the work must end (and t->why says why); t = NULL: never. */
bool clock_out(struct clock *t);
int64_t clock_now(void); /* ns */

#endif
