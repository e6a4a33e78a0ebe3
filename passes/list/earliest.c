/* Earliest task first (earliest.h).
 *
 * Source: Baechi (SoCC 2020), m-ETF after Hwang et al. (1989), m-SCT after Hanen and Munier (1995).  Transfers take
 * edge_time() and do not disturb each other.  Time goes from event to event.  A vertex is ready when all its
 * predecessors have ended; on device d it can start when their values have arrived there.  At each moment every free
 * device proposes the vertex of least rank that could start there now.  The proposal of least rank is placed (with
 * equal ranks: on the first device), and devices propose again, until there are no proposals.  A vertex that takes no
 * time ends before time goes on.
 *
 * Memory: if a device would propose a vertex but has too little memory for it, it skips the vertex for ever, since free
 * memory never grows.  When all devices that can run a vertex have skipped it, it is put with its group on the device
 * with the fewest bytes in use, and devices propose again.
 *
 * Favourites: a device waits for the favourite child of its last vertex while that child is ready, has no home (no
 * device yet), fits, and could start on no other device earlier.  A waiting device proposes an urgent vertex, that is,
 * one that could start now on every device that has memory for it; without an urgent vertex it proposes the favourite,
 * if this can start now, or else nothing.  Only the MOST_ASKED vertices of least rank without a home are checked for
 * being urgent.
 *
 * Since all proposed vertices start now, two sorts of heaps suffice: of vertices that wait for values, by time of
 * arrival, and of vertices that can start, by rank.  A vertex with a home has an entry only in heaps of its device.  A
 * vertex without a home can start at the same time on all devices of a class, except for devices that made one of its
 * inputs and devices in a group with such a device, where it may start earlier: so it has one entry in the heaps of the
 * class, and one for each of these other devices.  Only a device that has skipped a vertex (it is solo) has entries of
 * its own for all ready vertices.  Entries that have become void (their vertex has started, or has a home elsewhere)
 * are removed when they reach the top, or all at once when most entries of a heap are void.  Memory is O(V + E), and
 * one entry per ready vertex for each solo device.
 *
 * When the clock is out, the remaining vertices are put on devices in order (placement_fill). */
#include "passes/list/earliest.h"

#include "ir/base/heap.h"
#include "ir/base/units.h"

#include <assert.h>

#define NOTHING UINT32_MAX /* no vertex */

/* the most vertices without a home that a waiting device asks about at one time */
enum { MOST_ASKED = 64 };
/* States of a vertex: some predecessor has not ended; all have ended; it has been started. */
enum { AWAITS, READY, PLACED };

/* A device, with the ready vertices that may start on it. */
struct device_state {
    int64_t free;     /* ps: the device is free from this time on */
    uint32_t running; /* the vertex that runs on the device, or NOTHING */
    uint32_t last;    /* the vertex that was started last, or NOTHING */
    /* heaps of ready vertices.  waits: vertices with inputs that have not arrived on the device, ordered by the ps at
     * which the last input arrives.  own, any: vertices whose inputs have all arrived, ordered by rank; own: those
     * whose home is this device; any: those without a home */
    struct heap waits, own, any;
    /* the device has skipped a vertex, so it does not use the heaps of its class any more */
    bool solo;
    uint32_t child; /* the favourite of `last` that `here` and `rivals` are about, or NOTHING */
    int64_t here;   /* ps at which all inputs of `child` have arrived on this device */
    bool rivals;    /* whether the inputs of `child` may arrive earlier on another device */
};

/* Entries of vertices without a home, which count for all devices of a class that are not solo. */
struct class_queue {
    struct heap waits, any; /* as in device_state */
    uint32_t devices;       /* number of devices of the class */
};

/* The state of the scheduler. */
struct sweep {
    struct placement *placement;
    const struct earliest *request;
    const struct wdag *g;
    uint32_t nd, n;            /* nd: number of devices; n: number of started vertices */
    int64_t now;               /* ps: the present moment */
    struct device_state *lane; /* [dev] the device's vertices and favourite */
    /* [class] entries of vertices without a home, for all devices of the class */
    struct class_queue *queue;
    uint32_t *solo, nsolo; /* the devices with `solo` set */
    /* seen[first device of a group]: number of the last scan that met the group; asked: number of scans */
    uint32_t *seen, asked;
    uint32_t nready;   /* number of ready vertices */
    int64_t *end;      /* [vertex] ps at which the vertex ends */
    uint32_t *missing; /* [vertex] number of predecessors that have not ended */
    uint32_t *left; /* [vertex] number of devices that can run the vertex and have not skipped it */
    uint8_t *state; /* [vertex] AWAITS, READY, PLACED */
    uint32_t *order;         /* the started vertices, in the order of their starts */
    uint32_t *ended, nended; /* vertices that took no time, which finish() has yet to handle */
    int64_t most;            /* bytes of the largest group */
    uint32_t everything;     /* bits: the classes that can run all vertices */
    /* what is known at the present moment about vertices without a home.  SOME: some may be urgent; NONE: none is */
    enum { UNKNOWN, SOME, NONE } urgent;
    uint32_t looks; /* number of calls of is_over */
};

/* Returns v's home, the device on which v's group is; -1: it has none yet. */
static int32_t home_of(const struct sweep *s, uint32_t v)
{
    return s->placement->home[s->placement->group[v]];
}

/* Returns the class of device d. */
static uint32_t class_of(const struct sweep *s, uint32_t d)
{
    return s->request->edge->cls[d];
}

/* Returns whether devices of a class can run v's group. */
static bool class_runs(const struct sweep *s, uint32_t v, uint32_t cls)
{
    return s->placement->classes[s->placement->group[v]] >> cls & 1;
}

/* Returns the ps at which all inputs of v have arrived.  to, edge_ps: a device and edge_time(), or a class and
 * edge_time_far().  The predecessors of v must be placed. */
static int64_t arrival_by(const struct sweep *s, uint32_t v, uint32_t to,
                          int64_t (*edge_ps)(const struct edges *, uint32_t, uint32_t, uint32_t))
{
    const struct csr *p = &s->g->pred;
    int64_t latest = 0;
    for (uint32_t i = p->at[v]; i < p->at[v + 1]; i++) {
        int64_t time = edge_ps(s->request->edge, i, (uint32_t)home_of(s, p->to[i]), to);
        latest = larger(sat_add(s->end[p->to[i]], time), latest);
    }
    return latest;
}

/* Returns the ps at which all inputs of v have arrived on device d. */
static int64_t arrival(const struct sweep *s, uint32_t v, uint32_t d)
{
    return arrival_by(s, v, d, edge_time);
}

/* Returns the ps at which all inputs of v have arrived on a device of class cls that made none of the inputs and is
 * in no group with a device that did. */
static int64_t far_arrival(const struct sweep *s, uint32_t v, uint32_t cls)
{
    return arrival_by(s, v, cls, edge_time_far);
}

/* ---- entries of heaps ------------------------------------------------------------------------------- */

/* Returns whether an entry for v in a heap of device d is not void: v is ready, and has no home or the home d.  d ==
 * NO_DEVICE: v is ready and has no home. */
static bool is_valid(const struct sweep *s, uint32_t v, uint32_t d)
{
    return s->state[v] == READY && (home_of(s, v) < 0 || home_of(s, v) == (int32_t)d);
}

/* stands in place of a device's number for the heaps of a class, in which entries of vertices with a home are void */
#define NO_DEVICE UINT32_MAX

/* Adds entry x to heap h of device d (or NO_DEVICE); removes all void entries first if most entries may be void. */
static void push(const struct sweep *s, struct heap *h, uint32_t d, struct heap_entry x)
{
    /* at most two entries of each ready vertex are not void, so at least half of all entries are void here; 64: with
     * fewer entries it is not worth while */
    if (h->n > 64 + 4 * s->nready) {
        uint32_t n = h->n;
        h->n = 0;
        for (uint32_t i = 0; i < n; i++) {
            struct heap_entry old = h->at[i];
            if (is_valid(s, old.item, d))
                heap_push(h, old.key, old.tie, old.item);
        }
    }
    heap_push(h, x.key, x.tie, x.item);
}

/* Adds v, whose inputs have arrived on device d, to the heap `own` or `any` of d. */
static void make_available(struct sweep *s, uint32_t v, uint32_t d)
{
    struct device_state *l = &s->lane[d];
    push(s, home_of(s, v) < 0 ? &l->any : &l->own, d,
         (struct heap_entry){s->request->rank[v], 0, v});
}

/* Adds an entry for v to that heap of device d to which it belongs: waits, own or any. */
static void enqueue(struct sweep *s, uint32_t v, uint32_t d)
{
    int64_t t = arrival(s, v, d);
    if (t <= s->now)
        make_available(s, v, d);
    else
        push(s, &s->lane[d].waits, d, (struct heap_entry){t, s->request->rank[v], v});
}

/* Adds an entry for v to a heap of class cls, where it counts for all devices of the class that are not solo.  Returns
 * the ps from which v can start on such a device that is far from v's inputs. */
static int64_t enqueue_class(struct sweep *s, uint32_t v, uint32_t cls)
{
    struct class_queue *c = &s->queue[cls];
    int64_t t = far_arrival(s, v, cls);
    uint32_t rank = s->request->rank[v];
    if (t <= s->now)
        push(s, &c->any, NO_DEVICE, (struct heap_entry){rank, 0, v});
    else
        push(s, &c->waits, NO_DEVICE, (struct heap_entry){t, rank, v});
    return t;
}

/* Adds entries on the new home of v's group for the ready members of the group; their other entries are void now. */
static void announce_home(struct sweep *s, uint32_t v)
{
    const struct placement *r = s->placement;
    uint32_t k = r->group[v];
    for_row (x, r->member, k)
        if (s->state[x] == READY)
            enqueue(s, x, (uint32_t)r->home[k]);
}

/* Puts v's group on the device with the fewest bytes in use, since no device has enough memory. */
static void put_where_least(struct sweep *s, uint32_t v)
{
    placement_put(s->placement, &v, 1, placement_least(s->placement, &v, 1));
    announce_home(s, v);
}

/* Adds entries for v on the devices in a group with a device that made an input of v, if v may start there earlier than
 * elsewhere in their class.  far: [class] the ps from which v can start elsewhere. */
static void enqueue_near(struct sweep *s, uint32_t v, const int64_t *far)
{
    const struct csr *p = &s->g->pred;
    const uint32_t *group = s->request->edge->group;
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

/* Makes v ready, since its predecessors have all ended, and adds its entries: on its home, or else for the classes that
 * can run it, for devices where it may start earlier, and for solo devices.  Gives v a home if no device can take
 * it. */
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
        if (class_runs(s, v, k) && s->queue[k].devices) {
            s->left[v] += s->queue[k].devices;
            far[k] = enqueue_class(s, v, k);
        }
    enqueue_near(s, v, far);
    for (uint32_t i = 0; i < s->nsolo; i++)
        if (class_runs(s, v, class_of(s, s->solo[i])))
            enqueue(s, v, s->solo[i]);
    if (!s->left[v])
        put_where_least(s, v);
}

/* Makes device d solo, since it skips a vertex for the first time: adds entries of its own for all entries of its
 * class. */
static void make_solo(struct sweep *s, uint32_t d)
{
    const struct class_queue *c = &s->queue[class_of(s, d)];
    const struct heap *h[] = {&c->any, &c->waits};
    s->lane[d].solo = true;
    s->solo[s->nsolo++] = d;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < h[k]->n; i++)
            if (is_valid(s, h[k]->at[i].item, NO_DEVICE))
                enqueue(s, h[k]->at[i].item, d); /* d may have an entry for the vertex already */
}

/* ---- proposals ------------------------------------------------------------------------------------------ */

/* Returns the vertex at the top of heap h, or NOTHING.  homeless: whether the vertex must have no home (its group is on
 * no device yet) or must have one.  First removes entries from the top that are void (is_valid) or do not meet this
 * condition.  d: the device of the heap, or NO_DEVICE. */
static uint32_t first_valid(const struct sweep *s, struct heap *h, uint32_t d, bool homeless)
{
    while (h->n) {
        uint32_t v = h->at[0].item;
        if (is_valid(s, v, d) && (home_of(s, v) < 0) == homeless)
            return v;
        heap_pop(h);
    }
    return NOTHING;
}

/* Returns u or v, whichever has the smaller rank; if one of them is NOTHING, the other one. */
static uint32_t lesser(const struct sweep *s, uint32_t u, uint32_t v)
{
    if (u == NOTHING || v == NOTHING)
        return u == NOTHING ? v : u;
    return s->request->rank[u] < s->request->rank[v] ? u : v;
}

/* Returns the heap of d's class with the vertices without a home that can start now on all devices of the class that
 * are not solo. */
static struct heap *class_heap(struct sweep *s, uint32_t d)
{
    return &s->queue[class_of(s, d)].any;
}

/* Returns the vertex of least rank that has no home, can start on d and is not skipped by d, or NOTHING. */
static uint32_t first_homeless(struct sweep *s, uint32_t d)
{
    struct device_state *l = &s->lane[d];
    uint32_t v = first_valid(s, &l->any, d, /*homeless=*/true);
    return l->solo ? v
                   : lesser(s, v, first_valid(s, class_heap(s, d), NO_DEVICE, /*homeless=*/true));
}

/* Removes the entries for v, one or two, from the top of h; returns whether there were any. */
static bool drop(struct heap *h, uint32_t v)
{
    bool there = false;
    for (; h->n && h->at[0].item == v; there = true)
        heap_pop(h);
    return there;
}

/* Returns the vertex of least rank that d can start now and has memory for, or NOTHING.  Sets *anew if a vertex that
 * fits no device was given a home, so that devices must propose again. */
static uint32_t propose_first(struct sweep *s, uint32_t d, bool *anew)
{
    struct device_state *l = &s->lane[d];
    uint32_t own = first_valid(s, &l->own, d, /*homeless=*/false);
    for (;;) {
        uint32_t v = first_homeless(s, d);
        if (v == NOTHING || lesser(s, own, v) == own || placement_fits(s->placement, &v, 1, d))
            return lesser(s, own, v);
        if (!l->solo) /* d lacks memory for v, and skips it for ever */
            make_solo(s, d);
        drop(&l->any, v);
        if (--s->left[v]) /* another device may still take v */
            continue;
        put_where_least(s, v);
        *anew = true;
        return NOTHING;
    }
}

/* ---- favourites ------------------------------------------------------------------------------------------ */

/* Returns whether no vertex without a home can be urgent now, because some busy device can run all vertices and has
 * memory for the largest group.  The answer stays in s->urgent until the next round of proposals. */
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

/* Returns whether v, which has no home, fits device d and could start now on every device that has memory for v. */
static bool is_urgent(struct sweep *s, uint32_t v, uint32_t d)
{
    /* [class] whether v cannot start now on a device of the class that is far from the inputs of v */
    bool far[CLUSTER_CLASSES];
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

/* Returns the urgent vertex of least rank that could start on d, or NOTHING.  A vertex with d as its home is urgent.
 * Vertices without a home are taken off the heaps in order of rank to be asked about, and put back at the end. */
static uint32_t first_urgent(struct sweep *s, uint32_t d)
{
    struct device_state *l = &s->lane[d];
    struct heap *queue = class_heap(s, d);
    uint32_t own = first_valid(s, &l->own, d, /*homeless=*/false), asked[MOST_ASKED], n = 0,
             found = own;
    /* whether asked[i] was on d's own heap of vertices without a home, and on that of d's class */
    bool in_any[MOST_ASKED], in_queue[MOST_ASKED];
    while (n < MOST_ASKED && !none_urgent(s)) {
        uint32_t v = first_homeless(s, d);
        if (v == NOTHING || lesser(s, own, v) == own)
            break;
        asked[n] = v;
        in_any[n] = drop(&l->any, v);
        in_queue[n++] = !l->solo && drop(queue, v);
        if (is_urgent(s, v, d)) {
            found = v;
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = s->request->rank[asked[i]];
        if (in_any[i])
            heap_push(&l->any, rank, 0, asked[i]);
        if (in_queue[i])
            heap_push(queue, rank, 0, asked[i]);
    }
    return found;
}

/* Sets child, here and rivals of device d for the ready vertex f; does nothing if child is f already. */
static void note_child(struct sweep *s, uint32_t f, uint32_t d)
{
    const struct csr *p = &s->g->pred;
    const uint32_t *group = s->request->edge->group;
    struct device_state *l = &s->lane[d];
    if (l->child == f)
        return;
    l->child = f;
    l->here = arrival(s, f, d);
    l->rivals = false;
    /* first the devices that hold none of the inputs; below, the devices that hold some, and devices in a group with
     * these */
    for (uint32_t k = 0; k < s->g->ncls; k++)
        if (class_runs(s, f, k) && s->queue[k].devices && far_arrival(s, f, k) < l->here)
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

/* Returns the first ps at which v could start on d. */
static int64_t soonest(const struct sweep *s, uint32_t v, uint32_t d)
{
    int64_t t = arrival(s, v, d), from = larger(s->lane[d].free, s->now);
    return larger(t, from);
}

/* Returns the favourite child of d's last vertex, if d should wait for this child (head of this file), or NOTHING. */
static uint32_t awaited(struct sweep *s, uint32_t d)
{
    if (!s->request->favourite || s->lane[d].last == NOTHING)
        return NOTHING;
    uint32_t f = s->request->favourite[s->lane[d].last];
    /* placement_fits() begins a question about f; below, placement_takes() answers it for other devices, too */
    if (f == NO_FAVOURITE || s->state[f] != READY || home_of(s, f) >= 0 ||
        !placement_fits(s->placement, &f, 1, d))
        return NOTHING;
    note_child(s, f, d);
    const int64_t here = s->lane[d].here; /* ps: all inputs of f have arrived on d */
    if (!s->lane[d].rivals || here <= s->now)
        return f;
    for (uint32_t e = 0; e < s->nd; e++) /* no waiting if another device can start f earlier */
        if (s->lane[e].free < here && soonest(s, f, e) < here && placement_takes(s->placement, e))
            return NOTHING;
    return f;
}

/* Returns the vertex that free device d proposes, or NOTHING.  anew: as in propose_first. */
static uint32_t propose(struct sweep *s, uint32_t d, bool *anew)
{
    uint32_t f = awaited(s, d);
    if (f == NOTHING)
        return propose_first(s, d, anew);
    uint32_t urgent = first_urgent(s, d);
    return urgent != NOTHING ? urgent : s->lane[d].here <= s->now ? f : NOTHING;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

/* Notes that v has ended: makes each reader of v ready that has no other predecessor left to wait for. */
static void finish(struct sweep *s, uint32_t v)
{
    for_row (w, s->g->succ, v)
        if (--s->missing[w] == 0)
            become_ready(s, w);
}

/* Starts v on device d now, which becomes the home of v's group if the group has no home.  A vertex that takes no time
 * waits in s->ended for finish(). */
static void start(struct sweep *s, uint32_t v, uint32_t d)
{
    struct device_state *l = &s->lane[d];
    int64_t time = s->g->time[class_of(s, d)][v];
    bool had_home = home_of(s, v) >= 0;
    s->state[v] = PLACED;
    s->nready--;
    placement_put(s->placement, &v, 1, d);
    if (!had_home)
        announce_home(s, v);
    if (s->request->start)
        s->request->start[v] = s->now;
    s->order[s->n++] = v;
    s->end[v] = l->free = sat_add(s->now, time == COST_NEVER ? 0 : time);
    l->last = v;
    if (l->free > s->now)
        l->running = v;
    else
        s->ended[s->nended++] = v;
}

/* Returns whether the clock is out; asks the clock only at every LIST_LOOK_EACH-th call. */
static bool is_over(struct sweep *s)
{
    return s->looks++ % LIST_LOOK_EACH == 0 && clock_out(s->placement->clock);
}

/* Starts all vertices that can start now, except vertices that become ready by these starts.  Returns false if the
 * clock is out. */
static bool take_proposals(struct sweep *s)
{
    for (;;) {
        uint32_t best = NOTHING, where = 0;
        /* anew: whether a vertex has got a home (propose_first), so that proposals made before may be wrong */
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
            start(s, best, where);
    }
}

/* Ends the vertices that end now, and moves vertices whose inputs have arrived from heaps `waits` to the heaps of
 * vertices that can start. */
static void catch_up(struct sweep *s)
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
            if (is_valid(s, v, d))
                make_available(s, v, d);
        }
    }
    for (uint32_t k = 0; k < s->g->ncls; k++) {
        struct class_queue *c = &s->queue[k];
        while (c->waits.n && c->waits.at[0].key <= s->now) {
            uint32_t v = heap_pop(&c->waits).item;
            if (is_valid(s, v, NO_DEVICE))
                push(s, &c->any, NO_DEVICE, (struct heap_entry){s->request->rank[v], 0, v});
        }
    }
}

/* Returns the ps at which the inputs of the first vertex in heap h arrive; INT64_MAX: h is empty.  h is the heap
 * `waits` of device d, or of a class if d is NO_DEVICE.  Removes void entries from the top first. */
static int64_t first_wait(const struct sweep *s, struct heap *h, uint32_t d)
{
    while (h->n && !is_valid(s, h->at[0].item, d))
        heap_pop(h);
    return h->n ? h->at[0].key : INT64_MAX;
}

/* Returns the ps of the next moment at which a device becomes free or inputs arrive on a free device. */
static int64_t next_moment(struct sweep *s)
{
    int64_t next = INT64_MAX;
    uint32_t idle = 0; /* bits: the classes with a free device that is not solo */
    for (uint32_t d = 0; d < s->nd; d++) {
        struct device_state *l = &s->lane[d];
        int64_t t = l->free > s->now ? l->free : first_wait(s, &l->waits, d);
        idle |= l->free <= s->now && !l->solo ? 1U << class_of(s, d) : 0;
        next = smaller(t, next);
    }
    for (uint32_t k = 0; k < s->g->ncls; k++) {
        int64_t t = idle >> k & 1 ? first_wait(s, &s->queue[k].waits, NO_DEVICE) : INT64_MAX;
        next = smaller(t, next);
    }
    return next;
}

/* Sets the fields of *s that are about devices and classes. */
static void prepare_devices(struct sweep *s, struct arena *a)
{
    s->lane = arena_array(a, (size_t)s->nd + 1, sizeof *s->lane);
    s->queue = arena_array(a, (size_t)s->g->ncls + 1, sizeof *s->queue);
    s->solo = arena_array(a, (size_t)s->nd + 1, sizeof *s->solo);
    s->seen = arena_array(a, (size_t)s->nd + 1, sizeof *s->seen);
    for (uint32_t k = 0; k < s->g->ncls; k++)
        s->queue[k] = (struct class_queue){{.a = a}, {.a = a}, 0};
    for (uint32_t d = 0; d < s->nd; d++) {
        s->lane[d] = (struct device_state){.running = NOTHING, .last = NOTHING, .child = NOTHING};
        s->lane[d].waits.a = s->lane[d].own.a = s->lane[d].any.a = a;
        s->queue[class_of(s, d)].devices++;
    }
}

/* Sets the fields of *s that are about vertices. */
static void prepare_vertices(struct sweep *s, struct arena *a)
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

/* Places the remaining vertices in order of ranks, when the clock is out. */
static void place_rest(struct sweep *s, struct arena *a)
{
    uint32_t *at = arena_array(a, (size_t)s->g->n + 1, sizeof *at), n = 0;
    for (uint32_t v = 0; v < s->g->n; v++)
        at[s->request->rank[v]] = v;
    for (uint32_t i = 0; i < s->g->n; i++)
        if (s->state[at[i]] != PLACED)
            s->order[s->n + n++] = at[i];
    placement_fill(s->placement, s->order + s->n, n, a);
}

void earliest_place(struct placement *r, const struct earliest *request, uint32_t *order,
                    struct arena *a)
{
    struct arena *own = arena_new(a);
    struct sweep s = {.placement = r, .request = request, .g = r->base, .order = order};
    s.nd = r->scene->cluster->ndev;
    prepare_devices(&s, own);
    prepare_vertices(&s, own);
    for (uint32_t v = 0; v < s.g->n; v++)
        if (!s.missing[v])
            become_ready(&s, v);
    for (;;) {
        catch_up(&s);
        if (!take_proposals(&s)) {
            place_rest(&s, own);
            break;
        }
        if (s.nended)
            continue;
        if (s.n == s.g->n)
            break;
        int64_t next = next_moment(&s);
        /* there is a next moment, as each ready vertex can start somewhere; and it is finite, as times add up to less
         * than CTX_SUM_MAX */
        assert(next > s.now && next < INT64_MAX);
        s.now = next;
    }
    arena_free(own);
}
