/* Earliest task first (earliest.h).
 *
 * Source: Baechi (SoCC 2020), m-ETF after Hwang et al. (1989), m-SCT after Hanen and Munier (1995); transfers disturb
 * nobody, and what waits for a value waits as edge_time() says.  Time goes from event to event.  A vertex is ready when
 * all that it reads has been computed; on device d it can start when that has arrived there.  At each moment the free
 * devices propose, in their order, the vertex of the least rank that could start on them now; of the proposals the one
 * of the least rank is taken (the first device at equal ones), until there are none.  What ends at the moment in which
 * it starts has ended before time goes on.
 *
 * Memory: a vertex that a device would propose but has no room for, it passes over for good, since room never grows. A
 * vertex that all devices which run it have passed over goes with its group to the one with the least bytes, and the
 * moment's round of proposals begins anew.
 *
 * Favourites: a device whose last vertex has a favourite child is awake while that child is ready, has no home, fits,
 * and could start nowhere earlier than here.  It then takes no other vertex than one that is urgent, which could start
 * now on all devices that have room for it; else the favourite, if it can start now; else it waits.  Of vertices
 * without a home the MOST_ASKED of least rank that could start here are asked whether they are urgent.
 *
 * Since all proposals start now, heaps suffice: on each device those that wait for values by time, and those that can
 * start by rank, with a home (own) and without (any).  Entries that no longer hold are dropped where they are met. */
#include "passes/list/earliest.h"

#include "ir/base/heap.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

#define NOTHING UINT32_MAX

enum { MOST_ASKED = 64 };
enum { AWAITS, READY, PLACED };

struct turn {
    int64_t free;     /* ps: from here on */
    uint32_t running; /* vertex that has not ended, or NOTHING */
    uint32_t last;    /* vertex, or NOTHING */
    struct heap waits, own, any;
};

struct sweep {
    struct room *room;
    const struct earliest *how;
    const struct wdag *g;
    uint32_t nd, n;
    int64_t now;             /* ps */
    struct turn *lane;       /* [dev] */
    int64_t *end;            /* [vertex] ps */
    uint32_t *missing;       /* [vertex] predecessors that have not ended */
    uint32_t *left;          /* [vertex] devices that have not passed it over */
    uint8_t *state;          /* [vertex] */
    uint32_t *order;         /* those placed */
    uint32_t *ended, nended; /* in the moment in which they started */
    int64_t most;            /* bytes: no group adds more */
    uint32_t everything;     /* bits: the classes that run all */
};

static int32_t home_of(const struct sweep *s, uint32_t v)
{
    return s->room->home[s->room->group[v]];
}

static uint32_t class_of(const struct sweep *s, uint32_t d)
{
    return s->how->edge->cls[d];
}

/* Whether d's class runs v and those that must be where it is. */
static bool runs(const struct sweep *s, uint32_t v, uint32_t d)
{
    return s->room->classes[s->room->group[v]] >> class_of(s, d) & 1;
}

/* When all that v reads has arrived on d; its predecessors are placed. */
static int64_t arrival(const struct sweep *s, uint32_t v, uint32_t d)
{
    const struct csr *p = &s->g->pred;
    int64_t latest = 0;
    for (uint32_t i = p->at[v]; i < p->at[v + 1]; i++) {
        int64_t t = sat_add(s->end[p->to[i]],
                            edge_time(s->how->edge, i, (uint32_t)home_of(s, p->to[i]), d));
        latest = t > latest ? t : latest;
    }
    return latest;
}

/* ---- what a device can take ------------------------------------------------------------------------- */

static void make_available(struct sweep *s, uint32_t v, uint32_t d)
{
    struct turn *l = &s->lane[d];
    heap_push(home_of(s, v) < 0 ? &l->any : &l->own, s->how->rank[v], 0, v);
}

static void enqueue(struct sweep *s, uint32_t v, uint32_t d)
{
    int64_t t = arrival(s, v, d);
    if (t <= s->now)
        make_available(s, v, d);
    else
        heap_push(&s->lane[d].waits, t, s->how->rank[v], v);
}

/* Whether an entry of device d still holds. */
static bool holds(const struct sweep *s, uint32_t v, uint32_t d)
{
    return s->state[v] == READY && (home_of(s, v) < 0 || home_of(s, v) == (int32_t)d);
}

/* v's group has its home now: d's entries of its members are about nodes with a home from now on. */
static void announce_home(struct sweep *s, uint32_t v)
{
    const struct room *r = s->room;
    uint32_t k = r->group[v];
    for (uint32_t i = r->member.at[k]; i < r->member.at[k + 1]; i++)
        if (s->state[r->member.to[i]] == READY)
            enqueue(s, r->member.to[i], (uint32_t)r->home[k]);
}

static void put_where_least(struct sweep *s, uint32_t v)
{
    room_put(s->room, &v, 1, room_least(s->room, &v, 1));
    announce_home(s, v);
}

/* v's predecessors have all ended. */
static void become_ready(struct sweep *s, uint32_t v)
{
    s->state[v] = READY;
    if (home_of(s, v) >= 0) {
        enqueue(s, v, (uint32_t)home_of(s, v));
        return;
    }
    for (uint32_t d = 0; d < s->nd; d++)
        if (runs(s, v, d)) {
            s->left[v]++;
            enqueue(s, v, d);
        }
    if (!s->left[v])
        put_where_least(s, v);
}

/* ---- proposals ------------------------------------------------------------------------------------------ */

/* The first of h that still holds on d, or NOTHING. */
static uint32_t first_of(const struct sweep *s, struct heap *h, uint32_t d, bool homeless)
{
    while (h->n) {
        uint32_t v = h->at[0].item;
        if (holds(s, v, d) && (home_of(s, v) < 0) == homeless)
            return v;
        heap_pop(h);
    }
    return NOTHING;
}

static uint32_t lesser(const struct sweep *s, uint32_t u, uint32_t v)
{
    if (u == NOTHING || v == NOTHING)
        return u == NOTHING ? v : u;
    return s->how->rank[u] < s->how->rank[v] ? u : v;
}

/* What d takes by the plain rule, or NOTHING; *anew: something was given a home. */
static uint32_t propose_first(struct sweep *s, uint32_t d, bool *anew)
{
    struct turn *l = &s->lane[d];
    uint32_t own = first_of(s, &l->own, d, false);
    for (;;) {
        uint32_t v = first_of(s, &l->any, d, true);
        if (v == NOTHING || lesser(s, own, v) == own || room_fits(s->room, &v, 1, d))
            return lesser(s, own, v);
        heap_pop(&l->any);
        if (--s->left[v])
            continue;
        put_where_least(s, v);
        *anew = true;
        return NOTHING;
    }
}

/* ---- favourites ------------------------------------------------------------------------------------------ */

/* Whether no vertex without a home can be urgent: a busy device runs it and has room for it whatever it is. */
static bool none_urgent(const struct sweep *s)
{
    const struct cluster *c = s->room->scene->cluster;
    for (uint32_t d = 0; d < s->nd; d++) {
        int64_t memory = c->cls[class_of(s, d)].memory;
        if (s->lane[d].free > s->now && s->everything >> class_of(s, d) & 1 &&
            (memory < 0 || sat_add(s->room->used[d], s->most) <= memory))
            return true;
    }
    return false;
}

/* Whether v, which has no home, has room on d and could start now wherever it has room. */
static bool is_urgent(struct sweep *s, uint32_t v, uint32_t d)
{
    if (!room_fits(s->room, &v, 1, d))
        return false;
    for (uint32_t e = 0; e < s->nd; e++)
        if ((s->lane[e].free > s->now || arrival(s, v, e) > s->now) && room_fits(s->room, &v, 1, e))
            return false;
    return true;
}

/* The vertex of least rank that is urgent on d, or NOTHING. */
static uint32_t first_urgent(struct sweep *s, uint32_t d)
{
    struct turn *l = &s->lane[d];
    uint32_t own = first_of(s, &l->own, d, false), asked[MOST_ASKED], n = 0, found = own;
    for (uint32_t v; n < MOST_ASKED && !none_urgent(s);) {
        v = first_of(s, &l->any, d, true);
        if (v == NOTHING || lesser(s, own, v) == own)
            break;
        asked[n++] = v;
        heap_pop(&l->any);
        if (is_urgent(s, v, d)) {
            found = v;
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        make_available(s, asked[i], d);
    return found;
}

static int64_t soonest(const struct sweep *s, uint32_t v, uint32_t d)
{
    int64_t t = arrival(s, v, d), from = s->lane[d].free > s->now ? s->lane[d].free : s->now;
    return t > from ? t : from;
}

/* The favourite of d's last vertex, if d is awake; else NOTHING. */
static uint32_t awaited(struct sweep *s, uint32_t d)
{
    if (!s->how->favourite || s->lane[d].last == NOTHING)
        return NOTHING;
    uint32_t f = s->how->favourite[s->lane[d].last];
    if (f == NO_FAVOURITE || s->state[f] != READY || home_of(s, f) >= 0 ||
        !room_fits(s->room, &f, 1, d))
        return NOTHING;
    int64_t here = soonest(s, f, d);
    for (uint32_t e = 0; e < s->nd; e++)
        if (soonest(s, f, e) < here && room_fits(s->room, &f, 1, e))
            return NOTHING;
    return f;
}

static uint32_t propose(struct sweep *s, uint32_t d, bool *anew)
{
    uint32_t f = awaited(s, d);
    if (f == NOTHING)
        return propose_first(s, d, anew);
    uint32_t urgent = first_urgent(s, d);
    return urgent != NOTHING ? urgent : arrival(s, f, d) <= s->now ? f : NOTHING;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

static void finish(struct sweep *s, uint32_t v)
{
    for (uint32_t i = s->g->succ.at[v]; i < s->g->succ.at[v + 1]; i++)
        if (--s->missing[s->g->succ.to[i]] == 0)
            become_ready(s, s->g->succ.to[i]);
}

static void take(struct sweep *s, uint32_t v, uint32_t d)
{
    struct turn *l = &s->lane[d];
    int64_t time = s->g->time[class_of(s, d)][v];
    bool had_home = home_of(s, v) >= 0;
    s->state[v] = PLACED;
    room_put(s->room, &v, 1, d);
    if (!had_home)
        announce_home(s, v);
    if (s->how->start)
        s->how->start[v] = s->now;
    s->order[s->n++] = v;
    s->end[v] = l->free = sat_add(s->now, time == COST_NEVER ? 0 : time);
    l->last = v;
    if (l->free > s->now)
        l->running = v;
    else
        s->ended[s->nended++] = v;
}

/* All that starts now, but for what becomes ready by that. */
static void take_proposals(struct sweep *s)
{
    for (;;) {
        uint32_t best = NOTHING, where = 0;
        bool anew = false;
        for (uint32_t d = 0; d < s->nd && !anew; d++) {
            uint32_t v = s->lane[d].free <= s->now ? propose(s, d, &anew) : NOTHING;
            where = lesser(s, best, v) == best ? where : d;
            best = lesser(s, best, v);
        }
        if (best == NOTHING && !anew)
            return;
        if (!anew)
            take(s, best, where);
    }
}

/* Ends what ends now, and sees what has arrived on free devices. */
static void settle(struct sweep *s)
{
    while (s->nended)
        finish(s, s->ended[--s->nended]);
    for (uint32_t d = 0; d < s->nd; d++)
        if (s->lane[d].running != NOTHING && s->lane[d].free <= s->now) {
            finish(s, s->lane[d].running);
            s->lane[d].running = NOTHING;
        }
    for (uint32_t d = 0; d < s->nd; d++) {
        struct heap *h = &s->lane[d].waits;
        while (s->lane[d].free <= s->now && h->n && h->at[0].key <= s->now) {
            uint32_t v = heap_pop(h).item;
            if (holds(s, v, d))
                make_available(s, v, d);
        }
    }
}

/* The next moment at which a device can take something. */
static int64_t next_moment(struct sweep *s)
{
    int64_t next = INT64_MAX;
    for (uint32_t d = 0; d < s->nd; d++) {
        struct turn *l = &s->lane[d];
        int64_t t = l->free;
        if (t <= s->now) {
            while (l->waits.n && !holds(s, l->waits.at[0].item, d))
                heap_pop(&l->waits);
            t = l->waits.n ? l->waits.at[0].key : INT64_MAX;
        }
        next = t < next ? t : next;
    }
    return next;
}

static void prepare(struct sweep *s, struct arena *a)
{
    size_t n = (size_t)s->g->n + 1;
    s->lane = arena_array(a, (size_t)s->nd + 1, sizeof *s->lane);
    for (uint32_t d = 0; d < s->nd; d++)
        s->lane[d] = (struct turn){0, NOTHING, NOTHING, {.a = a}, {.a = a}, {.a = a}};
    s->end = arena_array(a, n, sizeof *s->end);
    s->missing = arena_array(a, n, sizeof *s->missing);
    s->left = arena_array(a, n, sizeof *s->left);
    s->state = arena_alloc(a, n);
    s->ended = arena_array(a, n, sizeof *s->ended);
    s->everything = UINT32_MAX;
    for (uint32_t k = 0; k < s->room->ngroup; k++)
        s->everything &= s->room->classes[k];
    s->most = room_most(s->room);
    for (uint32_t v = 0; v < s->g->n; v++)
        s->missing[v] = s->g->pred.at[v + 1] - s->g->pred.at[v];
}

void earliest_place(struct room *r, const struct earliest *how, uint32_t *order, struct arena *a)
{
    struct arena *own = arena_new(a);
    struct sweep s = {.room = r, .how = how, .g = r->base, .order = order};
    s.nd = r->scene->cluster->ndev;
    prepare(&s, own);
    for (uint32_t v = 0; v < s.g->n; v++)
        if (!s.missing[v])
            become_ready(&s, v);
    for (;;) {
        settle(&s);
        take_proposals(&s);
        if (s.nended)
            continue;
        if (s.n == s.g->n)
            break;
        int64_t next = next_moment(&s);
        assert(next > s.now && next < INT64_MAX);
        s.now = next;
    }
    arena_free(own);
}
