/* When to stop (clock.h): the stop flag first, then the monotonic clock.  O(1). */
#include "ir/base/clock.h"

#include <stddef.h>
#include <time.h>

int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool clock_out(struct clock *t)
{
    if (!t)
        return false;
    if (listener_ended(t->listener))
        t->why = "interrupted";
    else if (t->deadline && clock_now() > t->deadline)
        t->why = "time limit reached";
    return t->why != NULL;
}
