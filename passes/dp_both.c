/* The exact search from the end that is the shorter way (dp_both.h).
 *
 * The search goes through the ideals from the empty one and knows what the first devices hold exactly,
 * but of the rest only what they can hold at most.  Where the last devices leave little choice (one
 * heavy vertex near the end, say) the same search over the reversed graph ends after a small part of the
 * steps, down to one of 400 on published workloads; elsewhere it is the other way round.  No cheap
 * property of a graph tells which, but few steps do: both ends are tried for PROBE_STEPS, and the one
 * that has passed more vertices goes on; the other one, too, if that does not end.
 *
 * Cost: that of the better end, the probes, and O((V + E) * V / 64) for each attempt; twice the limits
 * of dp_search if neither ends. */
#include "passes/dp_both.h"

#include "passes/mirror.h"

enum { PROBE_STEPS = 20000 };

/* One attempt, from the far end if `turned` is not NULL.  True if *best improved. */
static bool attempt(const struct chain *c, const struct chain *turned, struct dp_search *s,
                    uint64_t max_steps, struct chain_plan *best, struct arena *scratch)
{
    uint64_t steps = s->steps;
    struct chain_plan found = *best;
    uint32_t n = c->g->n;
    s->max_steps = max_steps;
    if (turned)
        found.dev = arena_array(scratch, (size_t)n + 1, sizeof *found.dev);
    bool better = dp_search(turned ? turned : c, s, &found, scratch);
    s->steps += steps;
    if (better && turned)
        for (uint32_t v = 0; v < n; v++)
            best->dev[v] = found.dev[n - 1 - v];
    best->value = found.value;
    return better;
}

bool dp_both(const struct chain *c, struct dp_search *s, struct chain_plan *best,
             struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    s->steps = 0;
    bool better = attempt(c, NULL, s, PROBE_STEPS, best, scratch);
    if (!s->complete && !chain_out(s->clock)) {
        const struct chain *end[2] = {NULL, mirror(c, scratch)};
        uint32_t passed = s->passed;
        better = attempt(c, end[1], s, PROBE_STEPS, best, scratch) || better;
        bool far = s->passed > passed;
        for (int i = 0; i < 2 && !s->complete && !chain_out(s->clock); i++)
            better = attempt(c, end[far != (i == 1)], s, 0, best, scratch) || better;
    }
    if (!s->complete && s->clock && s->clock->why)
        s->why = s->clock->why;
    arena_release(scratch, mark);
    return better;
}
