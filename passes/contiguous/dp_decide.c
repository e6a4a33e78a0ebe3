/* The best plan whose loads are at most a limit, or the proof that there is none (dp_decide.h).
 *
 * Two searches go on in turn: the plain one from both ends (ideal_both_ends.h), and the one that is prepared by
 * searches of smaller graphs (dp_ladder.h), which takes orders of magnitude fewer steps on some graphs and more on
 * others.  The one that has got further for its steps has the next turn (each rung of a ladder counts for half of
 * what is left), the other one at least an eighth of the steps.  The ladder's search of the whole graph starts at
 * the end from which the plain search got further at first.
 * Cost: some nine eighths of the steps of the search that ends first. */
#include "passes/contiguous/dp_decide.h"

#include "passes/contiguous/ideal_both_ends.h"

#include <assert.h>

enum { TURN = 2048, TURN_SHARE = 4, LEAST_SHARE = 16 };

struct decide {
    struct arena *a;
    const struct problem *c;
    struct rungs *r;
    int64_t limit, floor;
    uint64_t max_states;
    size_t max_bytes;
    struct both *plain;
    struct ladder *ladder; /* NULL: not begun, or there are no smaller graphs */
    enum search_end plain_end, ladder_end;
};

struct decide *decide_new(const struct problem *c, struct rungs *r, int64_t limit, int64_t floor,
                          uint64_t max_states, size_t max_bytes)
{
    assert(c->g->n > 0 && (!r || !c->detailed));
    struct arena *a = arena_new(c->g->mem);
    struct decide *d = arena_alloc(a, sizeof *d);
    *d = (struct decide){.a = a,
                         .c = c,
                         .r = r,
                         .limit = limit,
                         .floor = floor,
                         .max_states = max_states,
                         .max_bytes = max_bytes,
                         .plain = both_new(c, limit, floor, max_states, max_bytes),
                         .ladder_end = r ? SEARCH_GOING : SEARCH_FULL};
    return d;
}

void decide_free(struct decide *d)
{
    if (d->ladder)
        ladder_free(d->ladder);
    both_free(d->plain);
    arena_free(d->a);
}

static uint64_t ladder_spent(const struct decide *d)
{
    return d->ladder ? ladder_steps(d->ladder) : 0;
}

static uint32_t plain_passed(const struct decide *d)
{
    return (uint32_t)((uint64_t)both_passed(d->plain) * 1000 / d->c->g->n);
}

static uint32_t ladder_climbed(const struct decide *d)
{
    if (!d->ladder)
        return 0;
    uint32_t above = rungs_count(d->r) - 1 - ladder_rung(d->ladder);
    return (1000 + ladder_passed(d->ladder)) >> (above < 16 ? above + 1 : 17);
}

/* Whether the ladder has the next turn. */
static bool ladders_turn(const struct decide *d)
{
    uint64_t x = both_steps(d->plain), y = ladder_spent(d);
    if (d->plain_end != SEARCH_GOING || d->ladder_end != SEARCH_GOING)
        return d->ladder_end == SEARCH_GOING;
    if (x / LEAST_SHARE > y || y / LEAST_SHARE > x)
        return x > y;
    return (uint64_t)plain_passed(d) * y < (uint64_t)ladder_climbed(d) * x;
}

enum search_end decide_go(struct decide *d, uint64_t steps)
{
    uint64_t stop = decide_steps(d) + steps, now;
    while ((now = decide_steps(d)) < stop) {
        bool up = ladders_turn(d);
        uint64_t turn = (up ? ladder_spent(d) : both_steps(d->plain)) / TURN_SHARE + TURN;
        turn = turn < stop - now ? turn : stop - now;
        if (d->plain_end == SEARCH_FULL && d->ladder_end == SEARCH_FULL)
            return SEARCH_FULL;
        if (up && !d->ladder)
            d->ladder = ladder_new(d->r, d->limit, d->floor, both_from_end(d->plain), d->max_states,
                                   d->max_bytes);
        enum search_end end = up ? ladder_go(d->ladder, turn) : both_go(d->plain, turn);
        *(up ? &d->ladder_end : &d->plain_end) = end;
        /* the limit of one search also holds for the other */
        decide_tighten(d, both_limit(d->plain));
        if (d->ladder)
            decide_tighten(d, ladder_limit(d->ladder));
        if (end == SEARCH_DONE)
            return end;
    }
    return SEARCH_GOING;
}

int64_t decide_limit(const struct decide *d)
{
    return d->limit;
}

int64_t decide_floor(const struct decide *d)
{
    return d->floor;
}

void decide_tighten(struct decide *d, int64_t limit)
{
    if (limit >= d->limit)
        return;
    d->limit = limit;
    both_tighten(d->plain, limit);
    if (d->ladder)
        ladder_tighten(d->ladder, limit);
}

bool decide_take(const struct decide *d, struct problem_plan *best)
{
    bool better = both_take(d->plain, best);
    return (d->ladder && ladder_take(d->ladder, best)) || better;
}

uint32_t decide_lost(const struct decide *d)
{
    return d->ladder_end == SEARCH_DONE ? rungs_lost(d->r, ladder_rung(d->ladder)) : 0;
}

uint64_t decide_steps(const struct decide *d)
{
    return both_steps(d->plain) + ladder_spent(d);
}

uint64_t decide_states(const struct decide *d)
{
    uint64_t x = both_states(d->plain), y = d->ladder ? ladder_states(d->ladder) : 0;
    if (d->plain_end == SEARCH_DONE || d->ladder_end == SEARCH_DONE)
        return d->plain_end == SEARCH_DONE ? x : y;
    return x > y ? x : y;
}

uint32_t decide_passed(const struct decide *d)
{
    uint32_t x = plain_passed(d), y = ladder_climbed(d);
    return x > y ? x : y;
}
