/* Better lower bounds for plans of any shape, by integer programs (certify.h).
 *
 * "No plan takes less than `part` below the best known" is asked first, with half of the time: that is what
 * most people want to know, and a high threshold has the smallest reduction (reduction.h).  If the solver does
 * not answer in time, a threshold half way to the bound is asked with half of what is left, and so on;
 * after an answer the bound is there, and the threshold goes up again. */
#include "passes/integer/certify.h"

#include "passes/integer/ip_refute.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

enum { ROUNDS = 12, MILLION = 1000000, SHORTEST = 500000000 /* ns of an attempt, at least */ };

/* Whether no plan takes `limit` or less; then that is the bound. */
static bool refute(const struct problem *c, int64_t limit, struct clock *clock, struct bound *b,
                   struct arena *mem, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct ip_refutation r;
    bool none = ip_refute(c, limit, clock, scratch, &r);
    if (none)
        *b = (struct bound){limit + 1,
                            arena_fmt(mem, "no integer solution below it, says %s", r.solver->name),
                            arena_strdup(mem, r.proof, strlen(r.proof))};
    arena_release(scratch, mark);
    return none;
}

void certify(const struct problem *c, int64_t upper, int64_t part, struct clock *clock,
             struct bound *b, struct arena *mem, struct arena *scratch)
{
    assert(!c->detailed && part >= 0 && part <= MILLION);
    int64_t goal = upper - mul_div_ceil(upper, part, MILLION), at = goal;
    for (uint32_t i = 0; i < ROUNDS && clock->deadline && b->value < goal && !clock_out(clock);
         i++) {
        int64_t now = clock_now(), time = (clock->deadline - now) / 2;
        struct clock slice = *clock;
        slice.deadline = time > SHORTEST ? now + time : clock->deadline;
        bool none = refute(c, at, &slice, b, mem, scratch);
        if (!none && at - b->value <= upper / 200)
            return; /* little is to be gained */
        at = none ? goal : b->value + (at - b->value) / 2;
    }
}
