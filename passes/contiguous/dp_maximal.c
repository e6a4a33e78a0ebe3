/* Drops partial plans whose last device could hold one more vertex, because others are as good (ideal_state.h).
 *
 * Source: the maximal load rule and Jackson's dominance rule of assembly line balancing (Jackson, A computing
 * procedure for a line balancing problem, Management Science 2, 1956), extended to transfers.
 *
 * Loads up to a floor are equally good (ideal_search.h).  Let a plan go through the ideal J, and let v, outside J,
 * have all its predecessors in J.  Moving v from its device D to the last one before J
 *  - takes v's time from D; nets that only v kept crossing J are no longer D's; a net of v that has no pin in
 *    J, nor on the host, D may have to pay now.  Devices behind J are no worse off if, on each kind that v may
 *    be on, the last does not exceed the first two; nobody else pays more, for v's nets are cut there already;
 *  - must leave the last device before J with a load that is not above the floor, and enough memory.
 * Then the plan through J + v is as good, and the partial plan that ends at J can be dropped:
 *  - when J is reached: the device that was added last could hold v, too;
 *  - when J is to be extended: J + v has been reached, with no larger load above the floor and no more devices
 *    of any kind.
 * Each such move makes J larger, so some best plan is never dropped.
 *
 * Cost: O(vertices that could come next * nets of each) for each J. */
#include "passes/contiguous/ideal_step.h"

static bool runs_on(const struct search *s, uint32_t q, uint32_t v)
{
    return s->c->kind[q].time[v] != COST_NEVER;
}

/* Whether no later device's load grows, on any kind, if v leaves it for the device of S (J is I' + S). */
static bool better_without(struct search *s, uint32_t v)
{
    const struct problem *c = s->c;
    const struct csr *of = &s->c->net_of;
    for (uint32_t q = 0; q < c->nkind; q++) {
        const int64_t *cost = c->cls[c->kind[q].cls].cost;
        int64_t worse = runs_on(s, q, v) ? -c->kind[q].time[v] : 0;
        for (uint32_t i = of->at[v]; runs_on(s, q, v) && i < of->at[v + 1]; i++) {
            const struct net *t = step_net(s, of->to[i]);
            uint32_t behind = t->outside - t->taken;
            if (t->pins > 1 && behind == 1)
                worse -= cost[of->to[i]];
            else if (t->pins > 1 && behind == t->pins && !t->host)
                worse += cost[of->to[i]];
        }
        if (worse > 0)
            return false;
    }
    return true;
}

/* By how much the load of S grows on the current kind if v joins it, ps. */
static int64_t more_with(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    int64_t more = s->stage.kind->time[v];
    for_row (x, *of, v) {
        const struct net *t = step_net(s, x);
        bool fresh = t->outside == t->pins;
        bool paid = t->taken && (!fresh || t->host || t->taken < t->outside);
        bool pays = !fresh || t->host || t->taken + 1 < t->outside;
        more += pays == paid ? 0 : pays ? t->cost : -t->cost;
    }
    return more;
}

static bool has_room(const struct search *s, uint32_t v)
{
    const struct csr *of = &s->g->shared_of;
    int64_t bytes = s->stage.bytes + s->g->size[v];
    if (s->stage.kind->memory == LOAD_INF)
        return true;
    for_row (x, *of, v)
        bytes += s->now.need[x] ? 0 : s->g->shared_size[x];
    return bytes <= s->stage.kind->memory;
}

bool maximal_could_be_larger(struct search *s)
{
    int64_t room = s->floor - s->stage.compute - s->stage.cut;
    uint32_t i = 0;
    for (uint32_t at = s->from.tried; i < s->walk.end; i++, at++) {
        at = at < s->walk.end ? at : 0;
        uint32_t v = s->walk.list[at];
        if (!has(s, v) && s->stage.kind->time[v] <= room + s->stage.cut &&
            more_with(s, v) <= room && has_room(s, v) && better_without(s, v)) {
            s->from.tried = at; /* tried first next time: the next S can often hold it, too */
            break;
        }
    }
    s->steps += i / SEARCH_SCAN; /* the scan counts as steps */
    return i < s->walk.end;
}

void maximal_find_larger(struct search *s)
{
    const struct ideal *d = &s->ideals.v[s->from.ideal];
    s->from.nlarger = 0;
    for (uint32_t i = 0; i < s->from.nfrontier && s->from.nlarger < LARGER; i++) {
        uint32_t v = s->from.frontier[i];
        if (!better_without(s, v))
            continue;
        bits_add(s->now.bits, v);
        uint32_t id = search_find(s, d->key ^ s->zobrist[v], d->card + 1, s->now.bits);
        bits_drop(s->now.bits, v);
        if (id)
            s->from.larger[s->from.nlarger++] = id;
    }
}

/* Whether an ideal of s->from.larger has a label that is as good as this one. */
static bool is_reached(const struct search *s, const struct label *than)
{
    for (uint32_t i = 0; i < s->from.nlarger; i++)
        for (uint32_t l = s->ideals.v[s->from.larger[i]].head; l; l = s->labels.v[l].next)
            if (s->labels.v[l].value <= than->value &&
                problem_no_more(s->c, s->labels.v[l].used, than->used))
                return true;
    return false;
}

void maximal_drop(struct search *s)
{
    uint32_t n = 0;
    for (uint32_t x = 0; x < s->stage.live.n; x++)
        if (!is_reached(s, &s->labels.v[s->stage.live.v[x].label]))
            s->stage.live.v[n++] = s->stage.live.v[x];
    s->stage.live.n = n;
}
