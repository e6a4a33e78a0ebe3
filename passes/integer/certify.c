/* Raises lower bounds for plans of any shape, by integer programs (certify.h).
 *
 * The solver is asked first about the goal, "no plan is better than the best known by more than `part`", with half of
 * the time.  If the solver does not answer in time, it is asked about a threshold half way between the bound and the
 * last threshold, with half of the time that is left, and so on.  A proof raises the bound to the threshold; then the
 * solver is asked about the goal again.  Cost: the time that the clock allows. */
#include "passes/integer/certify.h"

#include "passes/integer/ip_refute.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

enum {
    ROUNDS = 12, /* the most questions to a solver */
    MILLION = 1000000,
    /* no questions about thresholds that are above the bound by less than 1 / NEAR of `upper` */
    NEAR = 200,
    SHORTEST = 500000000 /* ns that an attempt gets at least */
};

/* Asks a solver to prove that no plan takes `limit` ps or less.  If it does, sets *b to limit + 1 and returns true. */
static bool refute(const struct problem *c, int64_t limit, struct clock *clock, struct bound *b,
                   const struct bound_means *with)
{
    struct arena_mark mark = arena_mark(with->scratch);
    struct ip_refutation r;
    bool none = ip_refute(c, limit, clock, with->scratch, &r);
    if (none)
        *b = (struct bound){
            .value = limit + 1,
            .why = arena_fmt(with->mem, "no integer solution below it, says %s", r.solver->name),
            .proof = arena_strdup(with->mem, r.proof, strlen(r.proof))};
    arena_release(with->scratch, mark);
    return none;
}

struct bound ip_certify(const struct problem *c, struct bound b, int64_t upper, int64_t part,
                        const struct bound_means *with)
{
    struct clock *clock = with->clock;
    assert(!c->detailed && part >= 0 && part <= MILLION);
    int64_t goal = upper - mul_div_ceil(upper, part, MILLION), threshold = goal;
    for (uint32_t i = 0; i < ROUNDS && clock->deadline && b.value < goal && !clock_out(clock);
         i++) {
        struct clock slice = clock_left(clock) / 2 > SHORTEST ? clock_slice(clock, 2) : *clock;
        bool none = refute(c, threshold, &slice, &b, with);
        if (!none && threshold - b.value <= upper / NEAR)
            break; /* the threshold is so near to the bound that an answer would gain little */
        /* after a proof tries the goal itself, else half way between the bound and this threshold */
        threshold = none ? goal : b.value + (threshold - b.value) / 2;
    }
    return b;
}
