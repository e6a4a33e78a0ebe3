/* One step of the exact search: a vertex is taken into S or skipped; or such a step is undone.  S is the set that the
 * next device gets, and I' the ideal at which the partial plans to be extended end (ideal_state.h).
 *
 * Kept up to date in struct stage, for the kind of device of the present enumeration: the time of S (compute); the
 * transfers that the device pays for S as it is (cut), and the part of them that the device pays whatever joins S
 * later (fixed); the bytes of S.  Kept in struct extended_ideal: the weights of I' + S and of the nets that cross it.
 * When a net is looked at for the first time, its pins that are not in I' are counted; after that every change is O(1)
 * per net and vertex. */
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

/* Adds (sign 1) or takes off (sign -1) the weight of net e in the weights of I' + S.  To be called when S gets its
 * first pin of e, or loses its last one, if e has the host and no pin in I'. */
static void add_net_weight(struct search *s, uint32_t e, int64_t sign)
{
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->now.weight[p] += sign * s->c->pot[p].net[e];
}

/* Returns the address of the sum of transfers in s->stage.parts in which net t counts: into or out of S, forward or
 * backward. */
static int64_t *net_time(struct search *s, const struct net *t)
{
    return &s->stage.parts.t[t->back][t->out ? PART_OUT : PART_IN];
}

/* When v joins S: updates the pins in S of the nets of v, and the sums in which these nets count: stage.cut,
 * stage.fixed, now.cross, the weights, and for detailed problems stage.parts.  S pays for a net that has a pin in S,
 * unless all pins are in S. */
static void take_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for_row (e, *of, v) {
        struct net *t = step_net(s, e);
        int64_t cost = t->cost;
        bool fresh = t->outside == t->pins; /* no pin of the net is in I' */
        if (s->c->detailed) {
            /* a net that comes in goes out instead when S gets its producer: the cost moves to the other sum */
            if (t->taken)
                *net_time(s, t) -= cost;
            t->out = (t->taken && t->out) || s->g->net_src[e] == v;
            *net_time(s, t) += cost;
            if (t->taken + 1 == t->outside && fresh && !t->host) /* S has all pins now */
                *net_time(s, t) -= cost;
        }
        if (t->taken++ == 0) { /* the net's first pin in S */
            s->stage.cut += cost;
            if (!fresh || t->host || t->skipped)
                s->stage.fixed += cost;
            if (fresh)
                s->now.cross += t->crossing;
            if (fresh && t->host)
                add_net_weight(s, e, /*sign=*/1);
        }
        if (t->taken == t->outside) { /* no pin is left outside I' + S */
            if (fresh && !t->host)
                s->stage.cut -= cost;
            s->now.cross -= t->crossing;
        }
    }
}

/* Undoes take_nets(s, v): the same changes with the opposite sign, in reverse order. */
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
                *net_time(s, t) -= cost;
            t->out = t->out && s->g->net_src[e] != v;
            if (t->taken > 1)
                *net_time(s, t) += cost;
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
                add_net_weight(s, e, /*sign=*/-1);
        }
    }
}

/* Counts v as skipped in its nets: from now on the device pays for the nets of v that have a pin in S, whatever joins
 * S later. */
static void skip_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for_row (e, *of, v) {
        struct net *t = step_net(s, e);
        bool first = t->skipped == 0;
        t->skipped++;
        /* a net with a pin in I' or on the host has counted in `fixed` since its first pin joined S */
        if (first && t->taken && t->outside == t->pins && !t->host)
            s->stage.fixed += t->cost;
    }
}

/* Undoes skip_nets(s, v). */
static void unskip_nets(struct search *s, uint32_t v)
{
    const struct csr *of = &s->c->net_of;
    for_row (x, *of, v) {
        struct net *t = &s->now.net[x];
        t->skipped--;
        if (t->skipped == 0 && t->taken && t->outside == t->pins && !t->host)
            s->stage.fixed -= t->cost;
    }
}

/* Adds the bytes of v, and of the shared items that v needs but no other vertex of S does, to the bytes of S; such
 * items count as parameters in stage.parts, too. */
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

/* Undoes take_bytes(s, v). */
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

/* Detailed problems: adds (sign 1) or takes off (sign -1) v's times and bytes in s->stage.parts. */
static void add_vertex_parts(struct search *s, uint32_t v, int64_t sign)
{
    int64_t back = s->stage.kind->back ? s->stage.kind->back[v] : 0;
    s->stage.parts.t[0][PART_COMPUTE] += sign * (s->stage.kind->time[v] - back);
    s->stage.parts.t[1][PART_COMPUTE] += sign * back;
    problem_count_vertex(s->c, &s->stage.parts, v, (int)sign);
    s->stage.parts.params += s->g->param ? sign * s->g->param[v] : 0;
}

/* Returns whether the device, with the time and memory that it has left, can take enough for I' + S to reach the
 * weight stage.live.low in each potential. */
static bool can_reach(const struct search *s)
{
    int64_t left = s->stage.max_load - s->stage.compute - (s->c->overlap ? 0 : s->stage.fixed);
    if (left < 0 ||
        (s->refute && search_excess(s, s->stage.compute + s->stage.fixed) > s->stage.spare))
        return false;
    for (uint32_t p = 0; p < s->c->npot; p++) {
        if (s->stage.reach[p] < s->stage.live.low[p])
            return false;
        /* more: an upper limit of the weight that the device can still take */
        int64_t scale = s->c->pot[p].scale[s->stage.k], more;
        if (scale < 0 || s->now.weight[p] >= s->stage.live.low[p])
            continue;
        if (s->c->pot[p].memory) /* copies of a stage together have more memory than one device */
            more = s->stage.kind->copies > 1 ? LOAD_INF : scale - s->stage.bytes;
        else if (scale == INT64_C(1) << SCALE_BITS)
            more = left;
        else /* rounded up, since the weights are each rounded down */
            more = (int64_t)(((__int128)left * scale) >> SCALE_BITS) + 1;
        if (s->now.weight[p] + more < s->stage.live.low[p])
            return false;
    }
    return true;
}

/* Returns whether S has a vertex that must not share a device with v. */
static bool is_barred(const struct search *s, uint32_t v)
{
    const struct csr *apart = &s->g->apart;
    const struct ideal *from = &s->ideals.v[s->from.ideal];
    if (!apart->at)
        return false;
    for_row (u, *apart, v)
        if (has(s, u) && !ideal_has(s, from, u))
            return true;
    return false;
}

/* Takes v off all sums of S and of I' + S. */
static void undo_take(struct search *s, uint32_t v)
{
    s->stage.compute -= s->stage.kind->time[v];
    if (s->c->detailed)
        add_vertex_parts(s, v, /*sign=*/-1);
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->now.weight[p] -= s->c->pot[p].w[v];
    if (s->stage.weighs)
        untake_bytes(s, v);
    untake_nets(s, v);
}

/* v has joined S: appends to walk.list each successor of v whose predecessors are now all in I' + S. */
static void list_ready(struct search *s, uint32_t v)
{
    const struct csr *succ = &s->g->succ, *pred = &s->g->pred;
    for_row (w, *succ, v) {
        /* the first look at w in this enumeration: counts the missing predecessors */
        if (s->now.missing_stamp[w] != s->now.stamp) {
            s->now.missing_stamp[w] = s->now.stamp;
            s->now.missing[w] = 1; /* 1 for v, whose bit is set already */
            for_row (u, *pred, w)
                s->now.missing[w] += !has(s, u);
        }
        if (--s->now.missing[w] == 0)
            s->walk.list[s->walk.end++] = w;
    }
}

bool step_take(struct search *s, uint32_t v)
{
    int64_t t = s->stage.kind->time[v];
    /* transfers take time from computing only where the two do not overlap */
    int64_t paid = s->c->overlap ? 0 : s->stage.fixed;
    if (t == COST_NEVER || t > s->stage.max_load - s->stage.compute - paid || is_barred(s, v))
        return false;
    s->stage.compute += t;
    if (s->c->detailed)
        add_vertex_parts(s, v, /*sign=*/1);
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
    if (s->stage.counts)
        s->at_once.taken[s->at_once.ntaken++] = v;
    list_ready(s, v);
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
    if (s->stage.counts) {
        s->at_once.ntaken--;
        s->at_once.same = smaller_u32(s->at_once.same, s->at_once.ntaken);
    }
    undo_take(s, v);
}

bool step_skip(struct search *s, uint32_t v, int64_t before[PROBLEM_POTS])
{
    for (uint32_t p = 0; p < s->c->npot; p++) {
        /* the weight of all vertices but v and its descendants */
        int64_t left = s->c->pot[p].total - s->above[p][v];
        before[p] = s->stage.reach[p];
        s->stage.reach[p] = smaller(left, s->stage.reach[p]);
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
