/* Clocks with a deadline (clock.h): clock_out() asks the listener first, then the monotonic clock.  O(1) each. */
#include "ir/base/clock.h"

#include <stddef.h>
#include <time.h>

int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void clock_limit(struct clock *t, int64_t ns)
{
    t->deadline = clock_now() + ns;
}

int64_t clock_left(const struct clock *t)
{
    return t->deadline ? t->deadline - clock_now() : INT64_MAX;
}

struct clock clock_slice(const struct clock *t, int64_t parts)
{
    struct clock slice = *t;
    if (t->deadline)
        clock_limit(&slice, clock_left(t) / parts);
    return slice;
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

void clock_at_least(struct clock *t, int64_t ns)
{
    int64_t least = clock_now() + ns;
    if (t->deadline && t->deadline < least)
        t->deadline = least;
}
