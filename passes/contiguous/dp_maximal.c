/* Drops partial plans whose last device could hold one more vertex, because other plans are as good (ideal_state.h).
 *
 * Source: the maximal load rule and Jackson's dominance rule of assembly line balancing (Jackson, A computing
 * procedure for a line balancing problem, Management Science 2, 1956), extended to transfers.
 *
 * Loads up to a floor are equally good (search_ask.floor).  Let the first devices of a plan hold the ideal J, and let
 * v be a vertex outside J whose predecessors are all in J.  Moving v from its device D to the last device before J
 *  - saves D the time of v and the cost of each net that has no pin outside J but v; it may cost D a net of v that
 *    has no pin in J nor on the host.  D's load does not grow if, on each kind that can run v, this cost is no more
 *    than the savings.  No other device behind J pays more, for v's nets are cut there already;
 *  - is allowed only if the last device before J then has enough memory and a load that is not above the floor.
 * Then the plan through J + v is as good, and the partial plan that ends at J can be dropped:
 *  - when the search reaches J, if the device that was added last could hold v, too;
 *  - when the search extends J, if a partial plan ends at J + v with no larger load above the floor and no more
 *    devices of any kind.
 * Each such move makes J larger, so some best plan is never dropped.
 *
 * Cost: O(vertices that could come next * nets of each) for each J. */
#include "passes/contiguous/ideal_step.h"

/* Returns whether devices of kind q can run vertex v. */
static bool runs_on(const struct search *s, uint32_t q, uint32_t v)
{
    return s->c->kind[q].time[v] != COST_NEVER;
}

/* Returns whether v can move from any later device to the device of S without raising the load of a later device.  (I'
 * + S is J in the head of this file.) */
static bool spares_later(struct search *s, uint32_t v)
{
    const struct problem *c = s->c;
    const struct csr *of = &s->c->net_of;
    for (uint32_t q = 0; q < c->nkind; q++) {
        if (!runs_on(s, q, v))
            continue;
        const int64_t *cost = c->cls[c->kind[q].cls].cost;
        int64_t growth = -c->kind[q].time[v];
        for_row (e, *of, v) {
            const struct net *t = step_net(s, e);
            uint32_t behind = t->outside - t->taken; /* pins outside J, v among them */
            /* if v is the only pin outside J, its device no longer pays for the net once v has moved; if all pins are
             * outside, v's device may begin to pay */
            if (t->pins > 1 && behind == 1)
                growth -= cost[e];
            else if (t->pins > 1 && behind == t->pins && !t->host)
                growth += cost[e];
        }
        if (growth > 0)
            return false;
    }
    return true;
}

/* Returns by how many ps the load of the device of S grows if v joins S; below 0: it shrinks. */
static int64_t load_growth(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    int64_t more = s->stage.kind->time[v];
    for_row (x, *of, v) {
        const struct net *t = step_net(s, x);
        bool fresh = t->outside == t->pins; /* no pin is in I' */
        /* whether the device pays for the net without v, and with v: the net has pins in S and elsewhere */
        bool paid = t->taken && (!fresh || t->host || t->taken < t->outside);
        bool pays = !fresh || t->host || t->taken + 1 < t->outside;
        if (pays && !paid)
            more += t->cost;
        else if (paid && !pays)
            more -= t->cost;
    }
    return more;
}

/* Returns whether the memory of the device of S has room for v, too. */
static bool memory_suffices(const struct search *s, uint32_t v)
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
    int64_t spare = s->floor - s->stage.compute - s->stage.cut;
    uint32_t i = 0; /* number of vertices of walk.list that were tried, in a circle */
    for (uint32_t at = s->from.tried; i < s->walk.end; i++, at++) {
        at = at < s->walk.end ? at : 0;
        uint32_t v = s->walk.list[at];
        /* the first comparison is a quick one: v cannot save more transfers than there are */
        if (!has(s, v) && s->stage.kind->time[v] <= spare + s->stage.cut &&
            load_growth(s, v) <= spare && memory_suffices(s, v) && spares_later(s, v)) {
            s->from.tried = at; /* v is tried first next time: the next S can often hold it, too */
            break;
        }
    }
    s->steps += i / SEARCH_SCAN; /* the looks at vertices count as steps */
    return i < s->walk.end;
}

void maximal_find_larger(struct search *s)
{
    const struct ideal *d = &s->ideals.v[s->from.ideal];
    s->from.nlarger = 0;
    for (uint32_t i = 0; i < s->from.nfrontier && s->from.nlarger < LARGER; i++) {
        uint32_t v = s->from.frontier[i];
        if (!spares_later(s, v))
            continue;
        bits_add(s->now.bits, v);
        uint32_t id = search_find(s, d->key ^ s->zobrist[v], d->card + 1, s->now.bits);
        bits_drop(s->now.bits, v);
        if (id)
            s->from.larger[s->from.nlarger++] = id;
    }
}

/* Returns whether an ideal of s->from.larger has a label that is as good as `than`: no larger value and no more
 * devices of any kind. */
static bool is_matched(const struct search *s, const struct label *than)
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
        if (!is_matched(s, &s->labels.v[s->stage.live.v[x].label]))
            s->stage.live.v[n++] = s->stage.live.v[x];
    s->stage.live.n = n;
}
