/* When to stop: a deadline, or Ctrl-C. */
#ifndef PCC_IR_BASE_CLOCK_H
#define PCC_IR_BASE_CLOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct clock {
    int64_t deadline; /* CLOCK_MONOTONIC in ns; 0: none */
    const volatile sig_atomic_t *stop;
    const char *why; /* once it is out: "time limit reached" */
};

/* Whether the work must end (and t->why says why); t = NULL: never. */
bool clock_out(struct clock *t);
int64_t clock_now(void); /* ns */

#endif
