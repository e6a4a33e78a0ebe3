/* Lower bounds from searches of smaller graphs, some steps at a time (dp_refuter.h).
 *
 * On each rung (dp_ladder.h), beginning with the graph that has lost most, bisection raises the bound: dp_refute
 * (ideal_search.h) is asked whether a plan below a value exists.  Small graphs answer soon, and each rung starts
 * from the bound of the one before.  A rung that cannot prove a little more than is known is left for the next one.
 * Each search gets a part of the steps that are left; one that does not end proves nothing.  After the last rung,
 * the whole graph, it begins again with the first.
 *
 * The ladder (dp_ladder.h) asks one large question of all rungs; these small questions do more where the smaller
 * graphs are nearly as hard as the whole.
 * Cost: the steps allowed. */
#include "passes/contiguous/dp_refuter.h"

#include "passes/contiguous/smaller_graph_bound.h"

enum {
    /* a bound must be raised by 1 / PRECISION of the value to be worth a search */
    PRECISION = 1000,
    TURN_PARTS = 4 /* a search gets 1 / TURN_PARTS of the steps that are left */
};

enum answer { NONE_BELOW, NOT_PROVEN, NOT_ENDED };

static enum answer ask_rung(struct refuter *r, int64_t value, uint64_t steps)
{
    int64_t floating;
    const struct problem *g = rungs_graph(r->rungs, r->rung, &floating);
    const struct dp_limits most = {
        .max_states = r->max_states, .max_steps = steps, .clock = r->clock};
    if (!g)
        return NOT_PROVEN;
    struct dp_found s = dp_refute(g, value - 1, floating, &most, r->scratch);
    r->spent += s.steps + 1;
    return s.none ? NONE_BELOW : s.complete ? NOT_PROVEN : NOT_ENDED;
}

struct bound refuter_next(const struct problem *c, struct refuter *r, int64_t upper, uint64_t steps)
{
    struct bound b = c->lower;
    uint64_t stop = r->spent + steps;
    int64_t least = upper / PRECISION + 1;
    uint32_t n = rungs_count(r->rungs);
    for (uint32_t tried = 0;
         tried < n && r->spent < stop && b.value < upper && !clock_out(r->clock);) {
        int64_t lo = b.value, first = lo + least < upper ? lo + least : upper;
        bool fresh = r->hopeless == 0;
        if (!fresh && r->hopeless - lo <= least) {
            r->hopeless = 0;
            r->rung = r->rung + 1 < n ? r->rung + 1 : 0;
            tried++;
            continue;
        }
        int64_t value = fresh ? first : lo + (r->hopeless - lo) / 2;
        uint64_t most = (stop - r->spent) / TURN_PARTS + 1;
        if (ask_rung(r, value, most) == NONE_BELOW) {
            b = search_bound(c, value, rungs_lost(r->rungs, r->rung));
            r->hopeless = fresh ? upper + 1 : r->hopeless;
        } else {
            r->hopeless = value;
        }
    }
    return b;
}
