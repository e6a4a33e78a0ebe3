/* Bounds from smaller graphs, a few searches at a time (dp_refuter.h).
 *
 * On each rung (dp_ladder.h), from the graph that has lost most, bisection asks whether there are plans below a
 * value, by the sums of their excesses (ideal_search.h: dp_refute).  Small graphs answer soon, and what one has proven
 * the next only has to raise; one that neither proves a little more than is known is left for the next.  A search
 * gets a part of the steps; one that does not end counts as no proof.  After the last rung, which is the
 * whole, it begins again, with what steps there are then.
 *
 * Beside the ladder's searches this is worth most where the smaller graphs are nearly as hard as the whole:
 * these searches have a small question each. */
#include "passes/contiguous/dp_refuter.h"

enum {
    PRECISION = 1000, /* a bound that is raised by less than this part is not worth a search */
    TURN_PARTS = 4    /* searches that share the steps at least */
};

enum answer { NONE_BELOW, NOT_PROVEN, NOT_ENDED };

static enum answer ask(struct refuter *r, int64_t value, uint64_t steps)
{
    int64_t floating;
    const struct problem *g = rungs_graph(r->rungs, r->rung, &floating);
    struct dp_search s = {.max_states = r->max_states, .max_steps = steps, .clock = r->clock};
    if (!g)
        return NOT_PROVEN;
    bool none = dp_refute(g, value - 1, floating, &s, r->scratch);
    r->spent += s.steps + 1;
    return none ? NONE_BELOW : s.complete ? NOT_PROVEN : NOT_ENDED;
}

bool refuter_next(struct problem *c, struct refuter *r, int64_t upper, uint64_t steps)
{
    uint64_t stop = r->spent + steps;
    int64_t least = upper / PRECISION + 1, before = c->lower;
    uint32_t n = rungs_count(r->rungs);
    for (uint32_t tried = 0;
         tried < n && r->spent < stop && c->lower < upper && !clock_out(r->clock);) {
        int64_t lo = c->lower, first = lo + least < upper ? lo + least : upper;
        bool fresh = r->hopeless == 0;
        if (!fresh && r->hopeless - lo <= least) {
            r->hopeless = 0;
            r->rung = r->rung + 1 < n ? r->rung + 1 : 0;
            tried++;
            continue;
        }
        int64_t value = fresh ? first : lo + (r->hopeless - lo) / 2;
        uint64_t most = (stop - r->spent) / TURN_PARTS + 1;
        if (ask(r, value, most) == NONE_BELOW) {
            c->lower = value;
            c->lower_why = "search for plans below it";
            if (rungs_lost(r->rungs, r->rung))
                c->lower_why = arena_fmt(c->mem, "search without %u of %u vertices",
                                         rungs_lost(r->rungs, r->rung), c->g->n);
            c->lower_proof = NULL;
            c->lower_by =
                (struct problem_lower){.by = LOWER_SEARCH, .at = rungs_lost(r->rungs, r->rung)};
            r->hopeless = fresh ? upper + 1 : r->hopeless;
        } else {
            r->hopeless = value;
        }
    }
    return c->lower > before;
}
