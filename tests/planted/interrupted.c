/* A pcc whose user presses Ctrl-C at a moment that is known: when it looks at its clock for the PCC_INTERRUPT_AT-th
 * time, PCC_INTERRUPTS times.  For test_security.py.
 *
 * The linker puts __wrap_clock_out in place of the calls of clock_out (--wrap). */
#include "ir/base/clock.h"

#include <signal.h>
#include <stdlib.h>

bool __real_clock_out(struct clock *t);
bool __wrap_clock_out(struct clock *t);

bool __wrap_clock_out(struct clock *t)
{
    static long looks;
    const char *when = getenv("PCC_INTERRUPT_AT"), *times = getenv("PCC_INTERRUPTS");
    if (when && times && ++looks == atol(when))
        for (long i = 0; i < atol(times); i++)
            raise(SIGINT);
    return __real_clock_out(t);
}
