/* One step of the exact search: a vertex joins S or is left out, and back again (ideal_state.h).
 *
 * Kept up to date, for the device kind of the current enumeration: the compute time of S; the transfers that it pays
 * as it is (cut), and those of them that it pays whatever joins it later (fixed); its bytes; the weights of I' + S;
 * the weight of the nets that cross I' + S.  The pins of a net outside I' are counted when the first of them is
 * looked at; after that every change is O(1) per net and vertex. */
#include "passes/contiguous/ideal_step.h"

#include <string.h>

void step_look(struct search *s, uint32_t e)
{
    struct net *t = &s->now.net[e];
    const struct csr *pin = &s->g->net_pin;
    t->stamp = s->now.stamp;
    t->cost = s->stage.cls->cost[e];
    t->crossing = s->c->pot[s->c->cross_pot].net[e];
    t->outside = 0;
    for_row (x, *pin, e)
        t->outside += !has(s, x);
}

/* Adds (sign 1) or takes off (-1) the weight of net e, which has the host and which no vertex of I' touches, when
 * the first vertex of S touches it. */
static void weigh_net(struct search *s, uint32_t e, int64_t sign)
{
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->now.weight[p] += sign * s->c->pot[p].net[e];
}

static int64_t *part_of(struct search *s, const struct net *t)
{
    return &s->stage.parts.t[t->back][t->out ? PART_OUT : PART_IN];
}

static void take_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for_row (e, *of, v) {
        struct net *t = step_net(s, e);
        int64_t cost = t->cost;
        bool fresh = t->outside == t->pins; /* no pin of it is in I' */
        if (s->c->detailed) {
            if (t->taken)
                *part_of(s, t) -= cost;
            t->out = (t->taken && t->out) || s->g->net_src[e] == v;
            *part_of(s, t) += cost;
            if (t->taken + 1 == t->outside && fresh && !t->host)
                *part_of(s, t) -= cost;
        }
        if (t->taken++ == 0) {
            s->stage.cut += cost;
            if (!fresh || t->host || t->skipped)
                s->stage.fixed += cost;
            if (fresh)
                s->now.cross += t->crossing;
            if (fresh && t->host)
                weigh_net(s, e, 1);
        }
        if (t->taken == t->outside) {
            if (fresh && !t->host)
                s->stage.cut -= cost;
            s->now.cross -= t->crossing;
        }
    }
}

static void untake_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for (uint32_t i = of->at[v + 1]; i-- > of->at[v];) {
        uint32_t e = of->to[i];
        struct net *t = &s->now.net[e];
        int64_t cost = t->cost;
        bool fresh = t->outside == t->pins;
        if (s->c->detailed) {
            if (t->taken != t->outside || !fresh || t->host)
                *part_of(s, t) -= cost;
            t->out = t->out && s->g->net_src[e] != v;
            if (t->taken > 1)
                *part_of(s, t) += cost;
        }
        if (t->taken == t->outside) {
            if (fresh && !t->host)
                s->stage.cut += cost;
            s->now.cross += t->crossing;
        }
        if (--t->taken == 0) {
            s->stage.cut -= cost;
            if (!fresh || t->host || t->skipped)
                s->stage.fixed -= cost;
            if (fresh)
                s->now.cross -= t->crossing;
            if (fresh && t->host)
                weigh_net(s, e, -1);
        }
    }
}

static void skip_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for_row (e, *of, v) {
        struct net *t = step_net(s, e);
        if (t->skipped++ == 0 && t->taken && t->outside == t->pins && !t->host)
            s->stage.fixed += t->cost;
    }
}

static void unskip_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for_row (x, *of, v) {
        struct net *t = &s->now.net[x];
        if (--t->skipped == 0 && t->taken && t->outside == t->pins && !t->host)
            s->stage.fixed -= t->cost;
    }
}

static void take_bytes(struct search *s, uint32_t v)
{
    const struct csr *of = &s->g->shared_of;
    s->stage.bytes += s->g->size[v];
    for_row (x, *of, v)
        if (s->now.need[x]++ == 0) {
            s->stage.bytes += s->g->shared_size[x];
            s->stage.parts.params += s->g->shared_size[x];
        }
}

static void untake_bytes(struct search *s, uint32_t v)
{
    const struct csr *of = &s->g->shared_of;
    s->stage.bytes -= s->g->size[v];
    for_row (x, *of, v)
        if (--s->now.need[x] == 0) {
            s->stage.bytes -= s->g->shared_size[x];
            s->stage.parts.params -= s->g->shared_size[x];
        }
}

static void add_vertex_parts(struct search *s, uint32_t v, int64_t sign)
{
    int64_t back = s->stage.kind->back ? s->stage.kind->back[v] : 0;
    s->stage.parts.t[0][PART_COMPUTE] += sign * (s->stage.kind->time[v] - back);
    s->stage.parts.t[1][PART_COMPUTE] += sign * back;
    problem_count_vertex(s->c, &s->stage.parts, v, (int)sign);
    s->stage.parts.params += s->g->param ? sign * s->g->param[v] : 0;
}

/* Whether the device's room still allows I' + S to reach search.low in every potential. */
static bool can_reach(const struct search *s)
{
    int64_t room = s->stage.room - s->stage.compute - (s->c->overlap ? 0 : s->stage.fixed);
    if (room < 0 ||
        (s->refute && search_excess(s, s->stage.compute + s->stage.fixed) > s->stage.spare))
        return false;
    for (uint32_t p = 0; p < s->c->npot; p++) {
        if (s->stage.reach[p] < s->stage.live.low[p])
            return false;
        int64_t scale = s->c->pot[p].scale[s->stage.k], more;
        if (scale < 0 || s->now.weight[p] >= s->stage.live.low[p])
            continue;
        if (s->c->pot[p].memory)
            more = s->stage.kind->copies > 1 ? LOAD_INF : scale - s->stage.bytes;
        else if (scale == INT64_C(1) << SCALE_BITS)
            more = room;
        else /* rounded up, since the weights are each rounded down */
            more = (int64_t)(((__int128)room * scale) >> SCALE_BITS) + 1;
        if (s->now.weight[p] + more < s->stage.live.low[p])
            return false;
    }
    return true;
}

static void undo_take(struct search *s, uint32_t v)
{
    s->stage.compute -= s->stage.kind->time[v];
    if (s->c->detailed)
        add_vertex_parts(s, v, -1);
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->now.weight[p] -= s->c->pot[p].w[v];
    if (s->stage.weighs)
        untake_bytes(s, v);
    untake_nets(s, v);
}

bool step_take(struct search *s, uint32_t v)
{
    int64_t t = s->stage.kind->time[v];
    if (t == COST_NEVER ||
        t > s->stage.room - s->stage.compute - (s->c->overlap ? 0 : s->stage.fixed))
        return false;
    s->stage.compute += t;
    if (s->c->detailed)
        add_vertex_parts(s, v, 1);
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->now.weight[p] += s->c->pot[p].w[v];
    if (s->stage.weighs)
        take_bytes(s, v);
    take_nets(s, v);
    if ((s->stage.kind->memory < LOAD_INF && s->stage.bytes > s->stage.kind->memory) ||
        !can_reach(s)) {
        undo_take(s, v);
        return false;
    }
    bits_add(s->now.bits, v);
    s->now.key ^= s->zobrist[v];
    s->now.card++;
    const struct csr *succ = &s->g->succ, *pred = &s->g->pred;
    for_row (w, *succ, v) {
        if (s->now.missing_stamp[w] != s->now.stamp) {
            s->now.missing_stamp[w] = s->now.stamp;
            s->now.missing[w] = 1; /* 1 for v, whose bit is set already */
            for_row (u, *pred, w)
                s->now.missing[w] += !has(s, u);
        }
        if (--s->now.missing[w] == 0)
            s->walk.list[s->walk.end++] = w;
    }
    return true;
}

void step_untake(struct search *s, uint32_t v)
{
    const struct csr *succ = &s->g->succ;
    for_row (w, *succ, v)
        s->now.missing[w]++;
    bits_drop(s->now.bits, v);
    s->now.key ^= s->zobrist[v];
    s->now.card--;
    undo_take(s, v);
}

bool step_skip(struct search *s, uint32_t v, int64_t before[PROBLEM_POTS])
{
    for (uint32_t p = 0; p < s->c->npot; p++) {
        int64_t left = s->c->pot[p].total - s->above[p][v];
        before[p] = s->stage.reach[p];
        if (left < s->stage.reach[p])
            s->stage.reach[p] = left;
    }
    skip_nets(s, v);
    if (can_reach(s))
        return true;
    step_unskip(s, v, before);
    return false;
}

void step_unskip(struct search *s, uint32_t v, const int64_t before[PROBLEM_POTS])
{
    unskip_nets(s, v);
    memcpy(s->stage.reach, before, sizeof s->stage.reach);
}
