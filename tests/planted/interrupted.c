/* A pcc whose work ends at a moment that is known: when it looks at its clocks for the PCC_INTERRUPT_AT-th time, its
 * user presses Ctrl-C, PCC_INTERRUPTS times; with PCC_INTERRUPTS=0 the deadline of that clock and of all later ones has
 * passed, if they have one.  For test_security.py.
 *
 * clock_out of the program stands before the library's. */
#include "ir/base/clock.h"
#include "tests/planted/next.h"

#include <signal.h>
#include <stdlib.h>

bool clock_out(struct clock *t)
{
    static long looks;
    const char *when = getenv("PCC_INTERRUPT_AT"), *times = getenv("PCC_INTERRUPTS");
    if (when && times && ++looks == atol(when))
        for (long i = 0; i < atol(times); i++)
            raise(SIGINT);
    if (when && times && looks >= atol(when) && !atol(times) && t && t->deadline)
        t->deadline = 1;
    bool (*real)(struct clock *) = next_function("clock_out");
    return real(t);
}
