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
 * Since all proposals start now, heaps suffice: of those that wait for values by time, and of those that can start by
 * rank.  A vertex with a home is in heaps of its device alone (own).  One without a home can start at the same time on
 * all devices of a class that made nothing that it reads, nor are in a group with one that did: so it has one entry for
 * the class, and one more for each of those others, where its values may be earlier.  Only a device that has passed
 * something over (it is apart) has entries of its own for all that is ready.  Entries that no longer hold are dropped
 * where they are met, and all at once where they are most of a heap: memory is O(V + E), and as many entries as
 * vertices are ready at once for each device that is apart.
 *
 * Stopping: when the clock is out, the vertices that are left are put on devices in order (placement_fill). */
#include "passes/list/earliest.h"

#include "ir/base/heap.h"
#include "ir/base/units.h"

#include <assert.h>

#define NOTHING UINT32_MAX

enum { MOST_ASKED = 64 };
enum { AWAITS, READY, PLACED };

struct turn {
    int64_t free;         /* ps: the device is free from this time on */
    uint32_t running;     /* the vertex that runs on the device, or NOTHING */
    uint32_t last;        /* the vertex that ran last, or NOTHING */
    struct heap waits;    /* of both kinds */
    struct heap own, any; /* that can start: with a home, and without */
    bool solo; /* it has passed something over: it does not look at its class's heaps any more */
    uint32_t child; /* a ready favourite of the last vertex, or NOTHING */
    int64_t here;   /* ps: arrival of all inputs of `child` */
    bool rivals;    /* that may be earlier on another device */
};

/* What all devices of a class can take that are not apart, without a home. */
struct crowd {
    struct heap waits, any;
    uint32_t devices;
};

struct sweep {
    struct placement *placement;
    const struct earliest *how;
    const struct wdag *g;
    uint32_t nd, n;
    int64_t now;             /* ps */
    struct turn *lane;       /* [dev] */
    struct crowd *crowd;     /* [class] */
    uint32_t *solo, nsolo;   /* devices with `solo` set */
    uint32_t *seen, asked;   /* [dev] the last vertex that had it for a maker, counted by asked */
    uint32_t nready;         /* number of ready vertices */
    int64_t *end;            /* [vertex] ps */
    uint32_t *missing;       /* [vertex] predecessors that have not ended */
    uint32_t *left;          /* [vertex] number of devices that have not passed the vertex over */
    uint8_t *state;          /* [vertex] */
    uint32_t *order;         /* placed vertices */
    uint32_t *ended, nended; /* vertices that ended in the moment of their start */
    int64_t most;            /* bytes: no group adds more */
    uint32_t everything;     /* bits: the classes that run all */
    enum { UNKNOWN, SOME, NONE } urgent; /* whether a vertex without a home can be, in this round */
    uint32_t looks;
};

static int32_t home_of(const struct sweep *s, uint32_t v)
{
    return s->placement->home[s->placement->group[v]];
}

static uint32_t class_of(const struct sweep *s, uint32_t d)
{
    return s->how->edge->cls[d];
}

static bool class_runs(const struct sweep *s, uint32_t v, uint32_t cls)
{
    return s->placement->classes[s->placement->group[v]] >> cls & 1;
}

/* When all that v reads has arrived where `way` leads: edge_time to a device, edge_time_far to a class.  The
 * predecessors of v are placed. */
static int64_t arrives(const struct sweep *s, uint32_t v, uint32_t to,
                       int64_t (*way)(const struct edges *, uint32_t, uint32_t, uint32_t))
{
    const struct csr *p = &s->g->pred;
    int64_t latest = 0;
    for (uint32_t i = p->at[v]; i < p->at[v + 1]; i++) {
        int64_t time = way(s->how->edge, i, (uint32_t)home_of(s, p->to[i]), to);
        latest = larger(sat_add(s->end[p->to[i]], time), latest);
    }
    return latest;
}

/* On device d. */
static int64_t arrival(const struct sweep *s, uint32_t v, uint32_t d)
{
    return arrives(s, v, d, edge_time);
}

/* Arrival of v's inputs on a device of that class which made none of the inputs and shares no group with a maker. */
static int64_t far_arrival(const struct sweep *s, uint32_t v, uint32_t cls)
{
    return arrives(s, v, cls, edge_time_far);
}

/* ---- entries of heaps ------------------------------------------------------------------------------- */

/* Whether an entry of device d still holds. */
static bool holds(const struct sweep *s, uint32_t v, uint32_t d)
{
    return s->state[v] == READY && (home_of(s, v) < 0 || home_of(s, v) == (int32_t)d);
}

/* stands for the heap of a class (crowd): an entry for a vertex with a home is void there */
#define NO_DEVICE UINT32_MAX

static void push(const struct sweep *s, struct heap *h, uint32_t d, struct heap_entry x)
{
    if (h->n > 64 + 4 * s->nready) { /* at most two of each hold */
        uint32_t n = h->n;
        h->n = 0;
        for (uint32_t i = 0; i < n; i++) {
            struct heap_entry old = h->at[i];
            if (holds(s, old.item, d))
                heap_push(h, old.key, old.tie, old.item);
        }
    }
    heap_push(h, x.key, x.tie, x.item);
}

static void make_available(struct sweep *s, uint32_t v, uint32_t d)
{
    struct turn *l = &s->lane[d];
    push(s, home_of(s, v) < 0 ? &l->any : &l->own, d, (struct heap_entry){s->how->rank[v], 0, v});
}

static void enqueue(struct sweep *s, uint32_t v, uint32_t d)
{
    int64_t t = arrival(s, v, d);
    if (t <= s->now)
        make_available(s, v, d);
    else
        push(s, &s->lane[d].waits, d, (struct heap_entry){t, s->how->rank[v], v});
}

/* An entry for the devices of a class; returns when v can start there. */
static int64_t enqueue_class(struct sweep *s, uint32_t v, uint32_t cls)
{
    struct crowd *c = &s->crowd[cls];
    int64_t t = far_arrival(s, v, cls);
    uint32_t rank = s->how->rank[v];
    if (t <= s->now)
        push(s, &c->any, NO_DEVICE, (struct heap_entry){rank, 0, v});
    else
        push(s, &c->waits, NO_DEVICE, (struct heap_entry){t, rank, v});
    return t;
}

/* v's group has its home now: d's entries of its members are about nodes with a home from now on. */
static void announce_home(struct sweep *s, uint32_t v)
{
    const struct placement *r = s->placement;
    uint32_t k = r->group[v];
    for_row (x, r->member, k)
        if (s->state[x] == READY)
            enqueue(s, x, (uint32_t)r->home[k]);
}

static void put_where_least(struct sweep *s, uint32_t v)
{
    placement_put(s->placement, &v, 1, placement_least(s->placement, &v, 1));
    announce_home(s, v);
}

/* Enters v on the devices that made inputs of v, and on devices in one group with a maker. far: [class] start of v
 * on other devices. */
static void enqueue_near(struct sweep *s, uint32_t v, const int64_t *far)
{
    const struct csr *p = &s->g->pred;
    const uint32_t *group = s->how->edge->group;
    s->asked++;
    for_row (x, *p, v) {
        uint32_t first = group[home_of(s, x)];
        if (s->seen[first] == s->asked)
            continue;
        s->seen[first] = s->asked;
        for (uint32_t d = first; d < s->nd && group[d] == first; d++)
            if (class_runs(s, v, class_of(s, d)) && !s->lane[d].solo &&
                far[class_of(s, d)] > s->now)
                enqueue(s, v, d);
    }
}

/* v's predecessors have all ended. */
static void become_ready(struct sweep *s, uint32_t v)
{
    int64_t far[CLUSTER_CLASSES] = {0};
    s->state[v] = READY;
    s->nready++;
    if (home_of(s, v) >= 0) {
        enqueue(s, v, (uint32_t)home_of(s, v));
        return;
    }
    for (uint32_t k = 0; k < s->g->ncls; k++)
        if (class_runs(s, v, k) && s->crowd[k].devices) {
            s->left[v] += s->crowd[k].devices;
            far[k] = enqueue_class(s, v, k);
        }
    enqueue_near(s, v, far);
    for (uint32_t i = 0; i < s->nsolo; i++)
        if (class_runs(s, v, class_of(s, s->solo[i])))
            enqueue(s, v, s->solo[i]);
    if (!s->left[v])
        put_where_least(s, v);
}

/* d passes something over for the first time: it gets entries of its own. */
static void leave_crowd(struct sweep *s, uint32_t d)
{
    const struct crowd *c = &s->crowd[class_of(s, d)];
    const struct heap *h[] = {&c->any, &c->waits};
    s->lane[d].solo = true;
    s->solo[s->nsolo++] = d;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < h[k]->n; i++)
            if (holds(s, h[k]->at[i].item, NO_DEVICE))
                enqueue(s, h[k]->at[i].item, d); /* perhaps the vertex's second entry on d */
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

static struct heap *crowd_of(struct sweep *s, uint32_t d)
{
    return &s->crowd[class_of(s, d)].any;
}

/* The first vertex without a home that can start on d and that d has not passed over, or NOTHING. */
static uint32_t first_homeless(struct sweep *s, uint32_t d)
{
    struct turn *l = &s->lane[d];
    uint32_t v = first_of(s, &l->any, d, true);
    return l->solo ? v : lesser(s, v, first_of(s, crowd_of(s, d), NO_DEVICE, true));
}

/* Takes v from the top of h, where it may be twice; whether it was there. */
static bool drop(struct heap *h, uint32_t v)
{
    bool there = false;
    for (; h->n && h->at[0].item == v; there = true)
        heap_pop(h);
    return there;
}

/* What d takes by the plain rule, or NOTHING; *anew: something was given a home. */
static uint32_t propose_first(struct sweep *s, uint32_t d, bool *anew)
{
    struct turn *l = &s->lane[d];
    uint32_t own = first_of(s, &l->own, d, false);
    for (;;) {
        uint32_t v = first_homeless(s, d);
        if (v == NOTHING || lesser(s, own, v) == own || placement_fits(s->placement, &v, 1, d))
            return lesser(s, own, v);
        if (!l->solo)
            leave_crowd(s, d);
        drop(&l->any, v);
        if (--s->left[v])
            continue;
        put_where_least(s, v);
        *anew = true;
        return NOTHING;
    }
}

/* ---- favourites ------------------------------------------------------------------------------------------ */

/* Whether no vertex without a home can be urgent: a busy device runs it and has room for it whatever it is. */
static bool none_urgent(struct sweep *s)
{
    const struct cluster *c = s->placement->scene->cluster;
    for (uint32_t d = 0; d < s->nd && s->urgent == UNKNOWN; d++) {
        int64_t memory = c->cls[class_of(s, d)].memory;
        if (s->lane[d].free > s->now && s->everything >> class_of(s, d) & 1 &&
            (memory < 0 || sat_add(s->placement->used[d], s->most) <= memory))
            s->urgent = NONE;
    }
    s->urgent = s->urgent == NONE ? NONE : SOME;
    return s->urgent == NONE;
}

/* Whether v, which has no home, has room on d and could start now wherever it has room. */
static bool is_urgent(struct sweep *s, uint32_t v, uint32_t d)
{
    bool far[CLUSTER_CLASSES]; /* it could not start now on some devices of the class, perhaps */
    placement_ask(s->placement, &v, 1);
    if (!placement_takes(s->placement, d))
        return false;
    for (uint32_t k = 0; k < s->g->ncls; k++)
        far[k] = class_runs(s, v, k) && far_arrival(s, v, k) > s->now;
    for (uint32_t e = 0; e < s->nd; e++)
        if ((s->lane[e].free > s->now || (far[class_of(s, e)] && arrival(s, v, e) > s->now)) &&
            placement_takes(s->placement, e))
            return false;
    return true;
}

/* The vertex of least rank that is urgent on d, or NOTHING. */
static uint32_t first_urgent(struct sweep *s, uint32_t d)
{
    struct turn *l = &s->lane[d];
    struct heap *crowd = crowd_of(s, d);
    uint32_t own = first_of(s, &l->own, d, false), asked[MOST_ASKED], n = 0, found = own;
    bool in_any[MOST_ASKED], in_crowd[MOST_ASKED];
    while (n < MOST_ASKED && !none_urgent(s)) {
        uint32_t v = first_homeless(s, d);
        if (v == NOTHING || lesser(s, own, v) == own)
            break;
        asked[n] = v;
        in_any[n] = drop(&l->any, v);
        in_crowd[n++] = !l->solo && drop(crowd, v);
        if (is_urgent(s, v, d)) {
            found = v;
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = s->how->rank[asked[i]];
        if (in_any[i])
            heap_push(&l->any, rank, 0, asked[i]);
        if (in_crowd[i])
            heap_push(crowd, rank, 0, asked[i]);
    }
    return found;
}

/* Notes of device d when f, which is ready, can start there, and whether it may be earlier elsewhere. */
static void note_child(struct sweep *s, uint32_t f, uint32_t d)
{
    const struct csr *p = &s->g->pred;
    const uint32_t *group = s->how->edge->group;
    struct turn *l = &s->lane[d];
    if (l->child == f)
        return;
    l->child = f;
    l->here = arrival(s, f, d);
    l->rivals = false;
    for (uint32_t k = 0; k < s->g->ncls; k++)
        if (class_runs(s, f, k) && s->crowd[k].devices && far_arrival(s, f, k) < l->here)
            l->rivals = true;
    s->asked++;
    for (uint32_t i = p->at[f]; i < p->at[f + 1] && !l->rivals; i++) {
        uint32_t first = group[home_of(s, p->to[i])];
        if (s->seen[first] == s->asked)
            continue;
        s->seen[first] = s->asked;
        for (uint32_t e = first; e < s->nd && group[e] == first; e++)
            l->rivals = l->rivals || arrival(s, f, e) < l->here;
    }
}

static int64_t soonest(const struct sweep *s, uint32_t v, uint32_t d)
{
    int64_t t = arrival(s, v, d), from = larger(s->lane[d].free, s->now);
    return larger(t, from);
}

/* The favourite of d's last vertex, if d is awake; else NOTHING. */
static uint32_t awaited(struct sweep *s, uint32_t d)
{
    if (!s->how->favourite || s->lane[d].last == NOTHING)
        return NOTHING;
    uint32_t f = s->how->favourite[s->lane[d].last];
    if (f == NO_FAVOURITE || s->state[f] != READY || home_of(s, f) >= 0 ||
        !placement_fits(s->placement, &f, 1, d))
        return NOTHING;
    note_child(s, f, d);
    if (!s->lane[d].rivals || s->lane[d].here <= s->now)
        return f;
    for (uint32_t e = 0; e < s->nd; e++)
        if (s->lane[e].free < s->lane[d].here && soonest(s, f, e) < s->lane[d].here &&
            placement_takes(s->placement, e))
            return NOTHING;
    return f;
}

static uint32_t propose(struct sweep *s, uint32_t d, bool *anew)
{
    uint32_t f = awaited(s, d);
    if (f == NOTHING)
        return propose_first(s, d, anew);
    uint32_t urgent = first_urgent(s, d);
    return urgent != NOTHING ? urgent : s->lane[d].here <= s->now ? f : NOTHING;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

static void finish(struct sweep *s, uint32_t v)
{
    for_row (w, s->g->succ, v)
        if (--s->missing[w] == 0)
            become_ready(s, w);
}

static void take(struct sweep *s, uint32_t v, uint32_t d)
{
    struct turn *l = &s->lane[d];
    int64_t time = s->g->time[class_of(s, d)][v];
    bool had_home = home_of(s, v) >= 0;
    s->state[v] = PLACED;
    s->nready--;
    placement_put(s->placement, &v, 1, d);
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

static bool is_over(struct sweep *s)
{
    return s->looks++ % LIST_LOOK_EACH == 0 && clock_out(s->placement->clock);
}

/* Starts all vertices that can start now, except vertices that become ready by these starts; false: the clock is
 * out. */
static bool take_proposals(struct sweep *s)
{
    for (;;) {
        uint32_t best = NOTHING, where = 0;
        bool anew = false;
        s->urgent = UNKNOWN;
        if (is_over(s))
            return false;
        for (uint32_t d = 0; d < s->nd && !anew; d++) {
            uint32_t v = s->lane[d].free <= s->now ? propose(s, d, &anew) : NOTHING;
            where = lesser(s, best, v) == best ? where : d;
            best = lesser(s, best, v);
        }
        if (best == NOTHING && !anew)
            return true;
        if (!anew)
            take(s, best, where);
    }
}

/* Ends the vertices that end now, and notes the inputs that have arrived on free devices. */
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
    for (uint32_t k = 0; k < s->g->ncls; k++) {
        struct crowd *c = &s->crowd[k];
        while (c->waits.n && c->waits.at[0].key <= s->now) {
            uint32_t v = heap_pop(&c->waits).item;
            if (holds(s, v, NO_DEVICE))
                push(s, &c->any, NO_DEVICE, (struct heap_entry){s->how->rank[v], 0, v});
        }
    }
}

/* The time of the first entry of h that still holds on d; INT64_MAX: there is none. */
static int64_t first_wait(const struct sweep *s, struct heap *h, uint32_t d)
{
    while (h->n && !holds(s, h->at[0].item, d))
        heap_pop(h);
    return h->n ? h->at[0].key : INT64_MAX;
}

/* The next moment at which a device can take something, or perhaps could. */
static int64_t next_moment(struct sweep *s)
{
    int64_t next = INT64_MAX;
    uint32_t idle = 0; /* classes, bits: with a free device that looks at its crowd */
    for (uint32_t d = 0; d < s->nd; d++) {
        struct turn *l = &s->lane[d];
        int64_t t = l->free > s->now ? l->free : first_wait(s, &l->waits, d);
        idle |= l->free <= s->now && !l->solo ? 1U << class_of(s, d) : 0;
        next = smaller(t, next);
    }
    for (uint32_t k = 0; k < s->g->ncls; k++) {
        int64_t t = idle >> k & 1 ? first_wait(s, &s->crowd[k].waits, NO_DEVICE) : INT64_MAX;
        next = smaller(t, next);
    }
    return next;
}

static void prepare_devices(struct sweep *s, struct arena *a)
{
    s->lane = arena_array(a, (size_t)s->nd + 1, sizeof *s->lane);
    s->crowd = arena_array(a, (size_t)s->g->ncls + 1, sizeof *s->crowd);
    s->solo = arena_array(a, (size_t)s->nd + 1, sizeof *s->solo);
    s->seen = arena_array(a, (size_t)s->nd + 1, sizeof *s->seen);
    for (uint32_t k = 0; k < s->g->ncls; k++)
        s->crowd[k] = (struct crowd){{.a = a}, {.a = a}, 0};
    for (uint32_t d = 0; d < s->nd; d++) {
        s->lane[d] = (struct turn){.running = NOTHING, .last = NOTHING, .child = NOTHING};
        s->lane[d].waits.a = s->lane[d].own.a = s->lane[d].any.a = a;
        s->crowd[class_of(s, d)].devices++;
    }
}

static void prepare(struct sweep *s, struct arena *a)
{
    size_t n = (size_t)s->g->n + 1;
    s->end = arena_array(a, n, sizeof *s->end);
    s->missing = csr_sizes(&s->g->pred, s->g->n, a);
    s->left = arena_array(a, n, sizeof *s->left);
    s->state = arena_alloc(a, n);
    s->ended = arena_array(a, n, sizeof *s->ended);
    s->everything = UINT32_MAX;
    for (uint32_t k = 0; k < s->placement->ngroup; k++)
        s->everything &= s->placement->classes[k];
    s->most = placement_most(s->placement);
}

/* What is left goes in order of ranks. */
static void place_rest(struct sweep *s, struct arena *a)
{
    uint32_t *at = arena_array(a, (size_t)s->g->n + 1, sizeof *at), n = 0;
    for (uint32_t v = 0; v < s->g->n; v++)
        at[s->how->rank[v]] = v;
    for (uint32_t i = 0; i < s->g->n; i++)
        if (s->state[at[i]] != PLACED)
            s->order[s->n + n++] = at[i];
    placement_fill(s->placement, s->order + s->n, n, a);
}

void earliest_place(struct placement *r, const struct earliest *how, uint32_t *order,
                    struct arena *a)
{
    struct arena *own = arena_new(a);
    struct sweep s = {.placement = r, .how = how, .g = r->base, .order = order};
    s.nd = r->scene->cluster->ndev;
    prepare_devices(&s, own);
    prepare(&s, own);
    for (uint32_t v = 0; v < s.g->n; v++)
        if (!s.missing[v])
            become_ready(&s, v);
    for (;;) {
        settle(&s);
        if (!take_proposals(&s)) {
            place_rest(&s, own);
            break;
        }
        if (s.nended)
            continue;
        if (s.n == s.g->n)
            break;
        int64_t next = next_moment(&s);
        assert(next > s.now &&
               next <
                   INT64_MAX); /* what is ready can start somewhere, sums are below CTX_SUM_MAX */
        s.now = next;
    }
    arena_free(own);
}
