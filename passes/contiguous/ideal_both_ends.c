/* The exact search from both ends (ideal_both_ends.h).
 *
 * The search starts at the empty ideal: it knows exactly what the first devices hold, and of the remaining devices
 * only what they can hold at most.  Where the last devices leave little choice (one heavy vertex near the end, say)
 * the same search over the reversed graph ends after a small part of the steps, down to one in 400 on published
 * workloads; elsewhere it is the other way round.  No cheap property of a graph tells which end is better.  So a
 * search from each end is kept, and they go on in turn: the next turn goes to the one that has passed more vertices
 * for its steps, but each end gets at least about 1 / LEAST_SHARE of the other one's steps.  A plan that one end
 * finds lowers the limit of both; the first end that comes to its end has proven the best plan.
 *
 * Cost: little more than that of the end that gets on better. */
#include "passes/contiguous/ideal_both_ends.h"

#include "passes/problem/reversed.h"

#include <assert.h>

enum {
    /* a turn has TURN steps, and 1 / TURN_SHARE of the steps that its end has done before */
    TURN = 2048,
    TURN_SHARE = 8,
    /* an end with less than 1 / LEAST_SHARE of the other's steps has the next turn */
    LEAST_SHARE = 16,
    STEPS_PER_STATE = 8 /* dp_both(): steps allowed for each of max_states */
};
#define MEMORY_MAX (UINT64_C(1) << 25) /* dp_both(): bytes of the search from one end */

struct both {
    const struct problem *c;
    struct arena *a[2]; /* memory of each search */
    /* the search from the first vertices, and the one from the last vertices */
    struct search *s[2];
    enum search_end end[2]; /* how each search stands */
};

struct both *both_new(const struct problem *c, int64_t limit, int64_t floor, uint64_t max_states,
                      size_t max_bytes)
{
    assert(c->g->n > 0);
    struct search_ask ask = {.goal = SEARCH_BEST,
                             .limit = limit,
                             .floor = floor,
                             .max_states = max_states,
                             .max_bytes = max_bytes};
    struct arena *a = arena_new(c->g->mem);
    struct both *b = arena_alloc(a, sizeof *b);
    b->c = c;
    b->a[0] = a; /* holds b itself, too */
    b->a[1] = arena_new(a);
    b->s[0] = search_new(c, &ask, b->a[0]);
    b->s[1] = search_new(problem_mirror(c, b->a[1]), &ask, b->a[1]);
    return b;
}

void both_free(struct both *b)
{
    arena_free(b->a[1]);
    arena_free(b->a[0]);
}

/* Returns the end that has the next turn: 0 or 1. */
static int next_end(const struct both *b)
{
    uint64_t x = search_steps(b->s[0]), y = search_steps(b->s[1]);
    /* if one end is full, the other one goes on; both_go() ends when both are full */
    if (b->end[0] != SEARCH_GOING || b->end[1] != SEARCH_GOING)
        return b->end[0] != SEARCH_GOING;
    if (x / LEAST_SHARE > y || y / LEAST_SHARE > x)
        return x > y;
    /* end 1 if it has passed more vertices per step than end 0 */
    return search_passed(b->s[0]) * y < search_passed(b->s[1]) * x;
}

enum search_end both_go(struct both *b, uint64_t steps)
{
    uint64_t stop = both_steps(b) + steps;
    while (both_steps(b) < stop) {
        int i = next_end(b);
        uint64_t turn = search_steps(b->s[i]) / TURN_SHARE + TURN, left = stop - both_steps(b);
        if (b->end[i] != SEARCH_GOING)
            return b->end[i];
        b->end[i] = search_go(b->s[i], turn < left ? turn : left);
        if (b->end[i] == SEARCH_DONE)
            return SEARCH_DONE;
        /* the limit of one search also holds for the other */
        search_tighten(b->s[!i], search_limit(b->s[i]));
    }
    return SEARCH_GOING;
}

const char *both_why_full(const struct both *b)
{
    return search_why_full(b->s[b->end[0] == SEARCH_FULL ? 0 : 1]);
}

void both_tighten(struct both *b, int64_t limit)
{
    search_tighten(b->s[0], limit);
    search_tighten(b->s[1], limit);
}

int64_t both_limit(const struct both *b)
{
    int64_t x = search_limit(b->s[0]), y = search_limit(b->s[1]);
    return smaller(x, y);
}

/* Copies the best plan of s to *best if it takes less than *best; returns whether it did.  s is a search of c or
 * (turned) of c reversed. */
static bool take_plan(const struct problem *c, const struct search *s, bool turned,
                      struct problem_plan *best, struct arena *a)
{
    uint32_t n = c->g->n;
    struct arena_mark mark = arena_mark(a);
    struct problem_plan found = *best;
    found.dev = arena_array(a, (size_t)n + 1, sizeof *found.dev);
    if (best->copies)
        found.copies = arena_array(a, (size_t)c->cluster->ndev + 1, sizeof *found.copies);
    if (search_found(s))
        search_plan(s, &found);
    bool better = found.value < best->value;
    if (better) {
        best->value = found.value;
        for (uint32_t v = 0; v < n; v++) /* reversed.h numbers the vertices from the other end */
            best->dev[v] = found.dev[turned ? n - 1 - v : v];
        for (uint32_t d = 0; best->copies && d < c->cluster->ndev; d++)
            best->copies[d] = found.copies[d];
    }
    arena_release(a, mark);
    return better;
}

bool both_take(const struct both *b, struct problem_plan *best)
{
    bool better = take_plan(b->c, b->s[0], /*turned=*/false, best, b->a[0]);
    return take_plan(b->c, b->s[1], /*turned=*/true, best, b->a[1]) || better;
}

uint64_t both_steps(const struct both *b)
{
    return search_steps(b->s[0]) + search_steps(b->s[1]);
}

uint64_t both_states(const struct both *b)
{
    return search_states(b->s[0]) + search_states(b->s[1]);
}

uint32_t both_passed(const struct both *b)
{
    uint32_t x = search_passed(b->s[0]), y = search_passed(b->s[1]);
    return larger_u32(x, y);
}

struct dp_found dp_both(const struct problem *c, const struct dp_limits *l,
                        struct problem_plan *best)
{
    uint64_t most = l->max_states * STEPS_PER_STATE;
    enum search_end end = SEARCH_GOING;
    struct dp_found f = {.complete = best->value <= c->lower.value || c->g->n == 0};
    if (f.complete)
        return f;
    struct both *b = both_new(c, best->value - 1, c->lower.value, l->max_states, MEMORY_MAX);
    while (end == SEARCH_GOING && !f.why) {
        /* the limits of steps and time are looked at about once a turn */
        end = both_go(b, both_steps(b) / TURN_SHARE + TURN);
        if (end == SEARCH_FULL)
            f.why = both_why_full(b);
        else if (end == SEARCH_GOING && both_steps(b) > most)
            f.why = "step limit reached";
        else if (end == SEARCH_GOING && clock_out(l->clock))
            f.why = l->clock->why;
    }
    f.better = both_take(b, best);
    f.complete = end == SEARCH_DONE;
    f.steps = both_steps(b);
    f.states = both_states(b);
    both_free(b);
    return f;
}
