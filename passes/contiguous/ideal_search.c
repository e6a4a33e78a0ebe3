/* The exact search over chains of ideals (ideal_search.h).
 *
 * Source: the placement paper, 5.1.1: a dynamic program over ideals.  It runs forwards: for each ideal I' at which a
 * partial plan ends, in order of |I'|, it enumerates all sets S that the next device could hold such that I' + S is
 * an ideal, and improves the partial plans that end at I' + S.
 *
 * Enumeration.  Vertices whose predecessors are all in I' + S stand in a list; taking a vertex into S appends the
 * vertices that it enables, skipping a vertex leaves it and all its descendants out for good.  So each S is met once,
 * without a record of the sets met; everything is kept up to date in O(degree) per step and undone on the way back
 * (ideal_step.c).
 *
 * What is pruned (all of it sound: only plans strictly better than the best known one are sought):
 *  - sets S with too large a load: time and bytes of S only grow, and so does the cost of the nets that S pays
 *    whatever vertices are added: nets with a pin in S and another pin in I', on the host or skipped;
 *  - the window: what is left of V must fit on the devices that are left (potentials of problem.h).  A vertex is not
 *    skipped if the weight that remains reachable without its descendants is too little, nor taken if the device is
 *    then full before I' + S is large enough;
 *  - nets that cross I' + S are paid once more by the devices that are left;
 *  - partial plans that cannot be completed by what a search of a smaller graph from the other end knows
 *    (dp_guide.c);
 *  - where loads below a floor need no improvement, partial plans whose last device could hold one more vertex
 *    (dp_maximal.c).
 *
 * Ideals are hashed only when a partial plan ends there: Zobrist key, then exact comparison of the bits.  They are
 * stored without the leading words that are all ones and the trailing words that are zero.
 *
 * The search can be left after any step and taken up again: all its state is in struct search.
 *
 * Time: O(degree) for each pair (I', S) that is not pruned.  Memory: the ideals that partial plans end at. */
#include "passes/contiguous/ideal_search.h"

#include "passes/contiguous/ideal_step.h"
#include "ir/base/random.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

enum {
    /* steps that a search which is not divided into turns may take for each of max_states */
    STEPS_PER_STATE = 8,
    /* graphs of at most this number of vertices: exact weights in search.above */
    REACH_EXACT = 8192,
    CHECK_EVERY = 8192 /* steps between two looks at the limits of states, labels, bytes and time */
};
#define MEMORY_MAX                                                                                 \
    (UINT64_C(1) << 27) /* most bytes of memory of a search that is not divided into turns */

/* ---- weights above --------------------------------------------------------------------------- */

/* Fills s->above with the exact weight of each vertex and all its descendants.  Handles blocks of 64 vertices, one
 * after the other: mask[v] has a bit for each vertex of the block that v reaches.  O(V * (V + E) / 64) operations on
 * words, O(V^2) additions. */
static void weigh_exactly(struct search *s)
{
    uint64_t *mask = arena_array(s->a, (size_t)s->n + 1, sizeof *mask);
    /* the vertices base .. top - 1 are the bits of mask[] */
    for (uint32_t base = 0; base < s->n; base += 64) {
        uint32_t top = smaller_u32(base + 64, s->n);
        uint64_t full = top - base == 64 ? UINT64_MAX : (UINT64_C(1) << (top - base)) - 1;
        int64_t block[PROBLEM_POTS] = {0}; /* [potential] weight of the whole block */
        for (uint32_t p = 0; p < s->c->npot; p++)
            for (uint32_t v = base; v < top; v++)
                block[p] += s->c->pot[p].w[v];
        /* successors have larger numbers, so their masks are finished; those behind the block reach nothing in it */
        for (uint32_t v = top; v-- > 0;) {
            uint64_t m = v >= base ? UINT64_C(1) << (v - base) : 0; /* v reaches itself */
            for_row (y, s->g->succ, v)
                if (y < top)
                    m |= mask[y];
            mask[v] = m;
            if (m == full) { /* most vertices reach the whole block: its sum is added at once */
                for (uint32_t p = 0; p < s->c->npot; p++)
                    s->above[p][v] += block[p];
                continue;
            }
            for (uint64_t x = m; x; x &= x - 1) { /* the bits of m, the lowest one first */
                uint32_t w = base + (uint32_t)__builtin_ctzll(x);
                for (uint32_t p = 0; p < s->c->npot; p++)
                    s->above[p][v] += s->c->pot[p].w[w];
            }
        }
    }
}

/* Fills s->above with a lower bound on the weight of each vertex and all its descendants: the weight of the heaviest
 * path that begins with the vertex.  O(V + E). */
static void weigh_paths(struct search *s)
{
    for (uint32_t p = 0; p < s->c->npot; p++)
        for (uint32_t v = s->n; v-- > 0;) {
            int64_t most = 0;
            for_row (next, s->g->succ, v) {
                int64_t w = s->above[p][next];
                most = larger(w, most);
            }
            s->above[p][v] = most + s->c->pot[p].w[v];
        }
}

/* Allocates all tables of the search, and fills those that depend on the graph only. */
static void make_tables(struct search *s)
{
    const struct wdag *g = s->g;
    uint64_t state = 1;
    s->zobrist = arena_array(s->a, (size_t)s->n + 1, sizeof *s->zobrist);
    for (uint32_t v = 0; v < s->n; v++)
        s->zobrist[v] = random_bits(&state);
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->above[p] = arena_array(s->a, (size_t)s->n + 1, sizeof(int64_t));
    if (s->n <= REACH_EXACT)
        weigh_exactly(s);
    else
        weigh_paths(s);
    s->now.bits = arena_array(s->a, (size_t)s->nword + 1, sizeof *s->now.bits);
    s->now.missing = arena_array(s->a, (size_t)s->n + 1, sizeof *s->now.missing);
    s->now.missing_stamp = arena_array(s->a, (size_t)s->n + 1, sizeof *s->now.missing_stamp);
    s->now.net = arena_array(s->a, (size_t)g->nnet + 1, sizeof *s->now.net);
    for (uint32_t e = 0; e < g->nnet; e++) {
        s->now.net[e].pins = g->net_pin.at[e + 1] - g->net_pin.at[e];
        s->now.net[e].host = g->net_host[e];
        s->now.net[e].back = g->net_back && g->net_back[e];
    }
    s->now.need = arena_array(s->a, (size_t)g->nshared + 1, sizeof *s->now.need);
    s->from.frontier = arena_array(s->a, (size_t)s->n + 1, sizeof *s->from.frontier);
    s->walk.list = arena_array(s->a, (size_t)s->n + 1, sizeof *s->walk.list);
    s->ideals.bucket = arena_array(s->a, (size_t)s->n + 1, sizeof *s->ideals.bucket);
    s->ideals.mask = 1023; /* the table grows with the number of ideals */
    s->ideals.slot = arena_array(s->a, (size_t)s->ideals.mask + 1, sizeof *s->ideals.slot);
    s->labels.mem = s->a;
    s->ideals.n = 1; /* ideal number 0 stands for none */
    s->rest = arena_array(s->a, (size_t)s->nword + 1, sizeof *s->rest);
}

/* ---- ideals ---------------------------------------------------------------------------------- */

/* Makes ideal id the start: unpacks its bits into s->now, and lists in s->from.frontier the vertices outside it whose
 * predecessors it all holds. */
static void begin_start(struct search *s, uint32_t id)
{
    const struct ideal *d = &s->ideals.v[id];
    const struct csr *pred = &s->g->pred;
    s->from.ideal = id;
    memset(s->now.bits, 0xff, d->word * sizeof *s->now.bits);
    memcpy(s->now.bits + d->word, s->ideals.pool + d->bits, d->nword * sizeof *s->now.bits);
    memset(s->now.bits + d->word + d->nword, 0,
           (s->nword - d->word - d->nword) * sizeof *s->now.bits);
    s->from.nfrontier = s->from.nlarger = 0;
    s->steps += (s->n - d->word * 64) / SEARCH_SCAN; /* looking for the frontier counts as steps */
    for (uint32_t v = d->word * 64; v < s->n; v++) {
        if (has(s, v))
            continue;
        /* the last predecessor is the one most likely to be missing */
        uint32_t i = pred->at[v + 1];
        while (i > pred->at[v] && has(s, pred->to[i - 1]))
            i--;
        if (i == pred->at[v])
            s->from.frontier[s->from.nfrontier++] = v;
    }
    assert(s->from.nfrontier > 0 || d->card == s->n);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Sets the limit of loads, ps, and all that depends on it.  For REFUTE and GUIDE, caps.keep is the most that the
 * excesses of all devices may add up to. */
static void set_limit(struct search *s, int64_t limit)
{
    problem_set_limit(s->c, &s->caps, limit);
    s->stage.max_load = sat_mul(s->stage.copies, limit);
    if (!s->refute)
        return;
    int64_t all = 0; /* the most of potential 0 that all devices can hold */
    for (uint32_t k = 0; k < s->c->nkind; k++)
        all = sat_add(all, sat_mul(s->c->kind[k].count, s->caps.cap[0][k]));
    s->caps.keep = all - s->c->pot[0].total - s->ask.floating;
}

/* Adds nw, a partial plan that ends at ideal id (I' + S), unless a label there is as good; looks at the labels of a
 * long list count as steps.  If nw is a whole plan, it is the best one so far: the limit falls below its value or, if
 * that is good enough, s->enough becomes true and no more plans are added (a search for a guide goes on as before). */
static void keep_label(struct search *s, uint32_t id, struct label nw)
{
    if (s->enough)
        return;
    nw.at = id;
    uint64_t walked = s->labels.walked;
    uint32_t made = labels_relax(&s->labels, s->c, &s->ideals.v[id].head, nw);
    s->steps += s->labels.walked - walked;
    if (!made || s->now.card < s->n)
        return;
    s->last = made;
    if (s->refute) /* one plan is an answer; but a guide goes on to its end */
        s->enough = s->ask.goal == SEARCH_REFUTE;
    else if (nw.value + nw.back > s->floor)
        set_limit(s, nw.value + nw.back - 1);
    else
        s->enough = true;
}

enum { CHANGE_STEPS = 2 }; /* steps that a change of search.at_once counts as */

bool search_fits(struct search *s)
{
    struct at_once *o = &s->at_once;
    if (!s->stage.counts || problem_surely_fits(s->c, s->stage.k, s->stage.bytes, s->stage.cut))
        return true;
    /* makes o->set equal to S: behind the first `same` vertices, those held leave the set and those taken join it */
    s->steps += CHANGE_STEPS * (uint64_t)(o->nheld + o->ntaken - 2 * o->same);
    while (o->nheld > o->same)
        set_memory_drop(o->set, problem_own_number(s->c, o->held[--o->nheld]));
    for (; o->nheld < o->ntaken; o->nheld++) {
        o->held[o->nheld] = o->taken[o->nheld];
        set_memory_add(o->set, problem_own_number(s->c, o->held[o->nheld]));
    }
    o->same = o->nheld;
    return s->stage.bytes + set_memory_peak(o->set) <= s->stage.kind->room;
}

/* Returns the weight, in potential p, of the part of I' + S that the remaining devices need not hold, for a comparison
 * with live.low: the nets that cross I' + S are paid once more by these devices, so the weight of these nets does not
 * count. */
static inline int64_t weight_done(const struct search *s, uint32_t p)
{
    return s->now.weight[p] - (p == s->c->cross_pot ? s->now.cross : 0);
}

/* extend_labels() for detailed problems: extends each live label by a stage S on 1, 2, .. devices that take turns, as
 * many as the label has left, if the load is within the limit and the vertices outside I' + S may still fit on the
 * devices left.  Keeps the new partial plans, which end at I' + S. */
static void extend_detailed(struct search *s)
{
    const struct problem *c = s->c;
    uint32_t id = 0; /* number of the ideal I' + S; 0: not stored yet */
    /* counts one step for each label and number of copies; without copies, one for LABELS_FEW labels */
    if (s->stage.copies > 1)
        s->steps += (uint64_t)s->stage.copies * s->stage.live.n;
    for (uint32_t copies = 1; copies <= s->stage.copies; copies++) {
        int64_t load[2];
        problem_loads(c, s->stage.k, &s->stage.parts, copies, load);
        s->steps += s->stage.live.n / LABELS_FEW;
        for (uint32_t x = 0; x < s->stage.live.n; x++) {
            const struct live *l = &s->stage.live.v[x];
            bool rest_fits = copies <= l->left;
            for (uint32_t p = 0; p < c->npot && rest_fits; p++)
                rest_fits =
                    weight_done(s, p) >= problem_low(c, l, p, copies, s->caps.cap[p][s->stage.k]);
            /* l->used counts the first of the devices already */
            uint64_t others = (uint64_t)(copies - 1) << c->kind[s->stage.k].shift;
            struct label nw = {.value = larger(load[0], l->value),
                               .back = larger(load[1], l->back),
                               .used = l->used + others,
                               .parent = l->label,
                               .kind = (uint16_t)s->stage.k,
                               .copies = (uint16_t)copies};
            if (!rest_fits || nw.value + nw.back > s->caps.keep)
                continue;
            if (!id) /* only an ideal with labels is stored */
                id = search_intern(s);
            keep_label(s, id, nw);
        }
    }
}

/* Extends live label l by a device that holds S and has the load `load`, if the vertices outside I' + S may still fit
 * on the devices left: keeps the new partial plan.  *id: number of the ideal I' + S; 0: the ideal is not stored yet,
 * and is stored when it gets its first label. */
static void extend_label(struct search *s, const struct live *l, int64_t load, uint32_t *id)
{
    bool rest_fits = true;
    for (uint32_t p = 0; p < s->c->npot; p++)
        rest_fits = rest_fits && weight_done(s, p) >= l->low[p];
    struct label nw = {.value = larger(load, l->value),
                       .used = l->used,
                       .parent = l->label,
                       .kind = (uint16_t)s->stage.k};
    if (s->refute)
        nw.value = l->value + search_excess(s, load);
    /* excesses to come: nets that cross I' + S are paid once more; `cross` counts here only if it is a weight in
     * potential 0, in which excesses are measured */
    int64_t to_come = s->refute && s->c->cross_pot == 0 ? s->now.cross : 0;
    if (!rest_fits || nw.value + to_come > s->caps.keep)
        return;
    if (!*id)
        *id = search_intern(s);
    /* the devices left must hold the weight outside I' + S, and have the excess `more` besides */
    int64_t more = guide_excess(s, *id, l->used);
    if (s->now.weight[0] - more < l->low[0] || (s->refute && nw.value + more > s->caps.keep))
        return;
    keep_label(s, *id, nw);
}

/* Extends each live label by a device that holds S, if the load is within the limit and the vertices outside I' + S
 * may still fit on the devices left.  Keeps the new partial plans, which end at I' + S. */
static void extend_labels(struct search *s)
{
    if (s->c->detailed) {
        if (search_fits(s))
            extend_detailed(s);
        return;
    }
    int64_t load = s->stage.compute + s->stage.cut;
    if (load > s->caps.limit)
        return;
    for (uint32_t p = 0; p < s->c->npot; p++)
        if (s->now.weight[p] < s->stage.live.low[p])
            return; /* whichever label is extended, too much is left for the devices left */
    if (s->floor >= 0 && s->now.card < s->n && maximal_could_be_larger(s))
        return; /* the plans through a larger set are as good */
    if (!search_fits(s))
        return;
    load = larger(load, s->floor); /* loads up to the floor count as equal */
    uint32_t id = 0;               /* number of the ideal I' + S; 0: not stored yet */
    s->steps += s->stage.live.n / LABELS_FEW;
    for (uint32_t x = 0; x < s->stage.live.n; x++)
        extend_label(s, &s->stage.live.v[x], load, &id);
}

/* Undoes decisions, the last one first, up to a vertex that was taken and can be skipped instead; then skips this
 * vertex.  Returns the position in walk.list to go on from; UINT32_MAX: all sets S have been met. */
static uint32_t skip_last_taken(struct search *s)
{
    while (s->walk.nchoice) {
        struct choice *h = &s->walk.choice[--s->walk.nchoice];
        uint32_t v = s->walk.list[h->at];
        if (!h->taken) {
            step_unskip(s, v, h->reach);
            continue;
        }
        step_untake(s, v);
        s->walk.end = h->end;
        if (step_skip(s, v, h->reach)) {
            h->taken = false;
            s->walk.nchoice++;
            return h->at + 1;
        }
    }
    return UINT32_MAX;
}

/* Goes on enumerating the sets S for the present start and kind of device.  Returns true when all have been met,
 * false when it is time to pause. */
static bool enumerate(struct search *s)
{
    for (;;) {
        if (s->walk.at >= s->walk.end) {
            s->walk.at = skip_last_taken(s);
            if (s->walk.at == UINT32_MAX)
                return true;
            continue;
        }
        if (s->steps >= s->pause)
            return false;
        s->steps++;
        if (s->walk.nchoice == s->walk.capchoice)
            s->walk.choice = vec_grow(s->a, s->walk.choice, &s->walk.capchoice, s->walk.nchoice + 1,
                                      sizeof *s->walk.choice);
        struct choice *h = &s->walk.choice[s->walk.nchoice];
        h->at = s->walk.at;
        h->end = s->walk.end;
        h->taken = step_take(s, s->walk.list[s->walk.at]);
        if (h->taken || step_skip(s, s->walk.list[s->walk.at], h->reach)) {
            s->walk.nchoice++;
            s->walk.at++;
            if (h->taken)
                extend_labels(s);
        } else {
            /* the vertex can be neither taken nor skipped: back to the last decision */
            s->walk.at = s->walk.end;
        }
    }
}

/* Returns the most devices that a stage may have, over all live labels. */
static uint32_t most_copies(const struct search *s)
{
    uint32_t most = 1;
    for (uint32_t x = 0; x < s->stage.live.n; x++)
        most = larger_u32(s->stage.live.v[x].left, most);
    return most;
}

/* Returns whether the ideal behind a stage on `copies` devices of kind stage.k can be heavy enough, by each potential,
 * if these devices hold as much as they may.  d: the ideal at which the stage starts. */
static bool gets_heavy_enough(const struct search *s, const struct ideal *d, uint32_t copies)
{
    for (uint32_t p = 0; p < s->c->npot; p++)
        if (sat_add(d->weight[p], sat_mul(copies, s->caps.cap[p][s->stage.k])) <
            s->stage.live.low[p])
            return false;
    return true;
}

/* Sets s->stage for an empty S, which may be on up to `copies` devices. */
static void empty_stage(struct search *s, uint32_t copies)
{
    s->stage.compute = s->stage.fixed = s->stage.cut = s->stage.bytes = 0;
    s->stage.parts = (struct problem_parts){0};
    s->stage.copies = copies;
    s->stage.max_load = sat_mul(copies, s->caps.limit);
    s->stage.counts = s->at_once.set && s->stage.kind->room < LOAD_INF;
    s->stage.weighs =
        s->stage.kind->memory < LOAD_INF || s->stage.kind->copies > 1 || s->stage.counts;
    s->stage.spare = INT64_MIN;
    for (uint32_t x = 0; x < s->stage.live.n; x++) {
        int64_t spare = s->caps.keep - s->stage.live.v[x].value;
        s->stage.spare = larger(spare, s->stage.spare);
    }
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->stage.reach[p] = s->c->pot[p].total;
}

/* Begins to extend the partial plans that end at the start by a device of kind stage.k.  Returns false if no plan
 * within the limits can come of that. */
static bool begin_enumeration(struct search *s)
{
    const struct ideal *d = &s->ideals.v[s->from.ideal];
    problem_live(s->c, &s->labels, d->head, s->stage.k, &s->caps, &s->stage.live);
    uint32_t copies = most_copies(s);
    if (!s->stage.live.n || !gets_heavy_enough(s, d, copies))
        return false;
    s->now.stamp++;
    s->stage.kind = &s->c->kind[s->stage.k];
    s->stage.cls = &s->c->cls[s->stage.kind->cls];
    if (!s->started) {
        begin_start(s, s->from.ideal);
        if (s->floor >= 0)
            maximal_find_larger(s);
        s->started = true;
    }
    maximal_drop(s);
    if (!s->stage.live.n)
        return false;
    /* S is empty at first, so I' + S is the start, and the vertices to decide are its frontier */
    empty_stage(s, copies);
    s->at_once.ntaken = s->at_once.same = 0;
    s->now.cross = d->cross;
    s->now.key = d->key;
    s->now.card = d->card;
    memcpy(s->now.weight, d->weight, sizeof s->now.weight);
    s->walk.at = s->walk.nchoice = 0;
    s->walk.end = s->from.nfrontier;
    memcpy(s->walk.list, s->from.frontier, s->from.nfrontier * sizeof *s->walk.list);
    return true;
}

/* Makes the next ideal the start: the next one with the same number of vertices or, after the last of them, the first
 * one of the next larger number.  Returns false if there is none. */
static bool next_start(struct search *s)
{
    s->stage.k = 0;
    s->started = false;
    s->from.ideal =
        s->from.ideal ? s->ideals.v[s->from.ideal].next : s->ideals.bucket[s->bucket_at];
    while (!s->from.ideal) {
        if (++s->bucket_at >= s->n) /* the ideal of all n vertices is not extended */
            return false;
        s->from.ideal = s->ideals.bucket[s->bucket_at];
    }
    return true;
}

/* Begins the enumeration for the next start and kind of device.  Returns false if there is none left. */
static bool next_enumeration(struct search *s)
{
    /* the present start goes on with its next kind; only the first call has no start yet */
    if (s->from.ideal)
        s->stage.k++;
    for (;;) {
        if ((!s->from.ideal || s->stage.k == s->c->nkind) && !next_start(s))
            return false;
        for (; s->stage.k < s->c->nkind; s->stage.k++)
            if (begin_enumeration(s))
                return true;
        s->steps++; /* a start whose kinds are done counts as a step */
    }
}

/* ---- the interface --------------------------------------------------------------------------- */

/* Returns whether the search may drop partial plans whose last device could hold one more vertex (dp_maximal.c).  It
 * may not where the memory that a set needs at one time counts, since that may shrink or grow with a vertex. */
static bool has_dominance(const struct problem *c, const struct search_ask *ask)
{
    return ask->goal == SEARCH_BEST && !c->detailed && !c->g->apart.at && !c->values;
}

struct search *search_new(const struct problem *c, const struct search_ask *ask, struct arena *a)
{
    assert(ask->floating >= 0 && (!ask->guide || ask->goal == SEARCH_GUIDE));
    assert(!ask->guide ||
           (ask->guide->ask.goal == SEARCH_GUIDE && ask->guide->end == SEARCH_DONE &&
            ask->guide->ask.limit == ask->limit && ask->guide->c->nkind == c->nkind));
    struct search *s = arena_alloc(a, sizeof *s);
    size_t used = arena_used(a);
    *s = (struct search){.c = c,
                         .g = c->g,
                         .ask = *ask,
                         .refute = ask->goal != SEARCH_BEST,
                         .floor = has_dominance(c, ask) ? ask->floor : -1,
                         .a = a,
                         .n = c->g->n,
                         .nword = (c->g->n + 63) / 64,
                         .used_before = used};
    for (uint32_t k = 0; k < c->nkind; k++)
        s->counts |= (uint64_t)c->kind[k].count << c->kind[k].shift;
    set_limit(s, ask->limit);
    /* keep < 0: all devices together cannot hold the weight of the graph and the floating weight */
    if (s->n == 0 || (s->refute && s->caps.keep < 0)) {
        s->end = SEARCH_DONE;
        return s;
    }
    make_tables(s);
    if (c->values)
        s->at_once = (struct at_once){.set = set_memory_new(c->values, a),
                                      .held = arena_array(a, (size_t)s->n + 1, sizeof(uint32_t)),
                                      .taken = arena_array(a, (size_t)s->n + 1, sizeof(uint32_t))};
    s->steps = s->n / SEARCH_SCAN; /* making the tables counts as steps */
    uint32_t empty = search_intern(s);
    keep_label(s, empty, (struct label){.value = 0});
    return s;
}

enum search_end search_go(struct search *s, uint64_t steps)
{
    uint64_t stop = s->steps + steps;
    while (s->end == SEARCH_GOING && s->steps < stop) {
        /* pauses every CHECK_EVERY steps, to look at the limits of states and bytes */
        s->pause = smaller_u64(s->steps + CHECK_EVERY, stop);
        if (!s->inside)
            s->inside = next_enumeration(s);
        if (!s->inside)
            s->end = SEARCH_DONE;
        else if (enumerate(s))
            s->inside = false;
        if (s->enough)
            s->end = SEARCH_DONE;
        else if (s->end == SEARCH_GOING &&
                 (s->ideals.n > s->ask.max_states || s->labels.longest > LABELS_MOST ||
                  arena_used(s->a) - s->used_before > s->ask.max_bytes))
            s->end = SEARCH_FULL;
    }
    return s->end;
}

const char *search_why_full(const struct search *s)
{
    if (s->ideals.n > s->ask.max_states)
        return "state limit reached";
    if (s->labels.longest > LABELS_MOST)
        return "limit of partial plans of one ideal reached";
    return "memory limit reached";
}

void search_tighten(struct search *s, int64_t limit)
{
    if (s->ask.goal == SEARCH_BEST && limit < s->caps.limit)
        set_limit(s, limit);
}

int64_t search_limit(const struct search *s)
{
    return s->caps.limit;
}

bool search_found(const struct search *s)
{
    /* a graph without vertices has one plan, of value 0; else `last` is the label of a plan of the whole graph */
    return s->n == 0 ? s->caps.keep >= 0 : s->last != 0;
}

/* Returns the largest load of a device under the plan dev[vertex], ps, for a problem that is not `detailed`: a load
 * is then the times of the device's vertices plus the costs of the cut nets with a pin on the device. */
static int64_t largest_load(const struct problem *c, const int32_t *dev, struct arena *a)
{
    const struct wdag *g = c->g;
    uint32_t ndev = c->cluster->ndev;
    int64_t most = 0, *load = arena_array(a, (size_t)ndev + 1, sizeof *load);
    const struct problem_kind **kind = arena_array(a, (size_t)ndev + 1, sizeof *kind);
    uint32_t *seen = arena_array(a, (size_t)ndev + 1, sizeof *seen);
    for (uint32_t d = 0; d < ndev; d++)
        kind[d] = &c->kind[problem_kind_of(c, d)];
    for (uint32_t v = 0; v < g->n; v++)
        load[dev[v]] += kind[dev[v]]->time[v];
    for (uint32_t e = 0; e < g->nnet; e++) {
        const uint32_t *pin = g->net_pin.to + g->net_pin.at[e];
        uint32_t n = g->net_pin.at[e + 1] - g->net_pin.at[e];
        /* the vertex's time has the nets of one vertex and the host */
        bool cut = g->net_host[e] && n > 1;
        for (uint32_t i = 0; i < n; i++)
            cut = cut || dev[pin[i]] != dev[pin[0]];
        for (uint32_t i = 0; cut && i < n; i++) {
            uint32_t d = (uint32_t)dev[pin[i]];
            if (seen[d] != e + 1)
                load[d] += c->cls[kind[d]->cls].cost[e];
            seen[d] = e + 1;
        }
    }
    for (uint32_t d = 0; d < ndev; d++)
        most = larger(load[d], most);
    return most;
}

void search_plan(const struct search *s, struct problem_plan *best)
{
    assert(s->ask.goal == SEARCH_BEST && s->last);
    uint32_t nstep = 0;
    struct arena_mark mark = arena_mark(s->a);
    for (uint32_t l = s->last; s->labels.v[l].parent; l = s->labels.v[l].parent)
        nstep++;
    struct problem_step *steps = arena_array(s->a, (size_t)nstep + 1, sizeof *steps);
    uint32_t *step = arena_array(s->a, (size_t)s->n + 1, sizeof *step);
    uint32_t at = nstep; /* number of the present stage */
    /* from the last stage to the first: a vertex is also in the ideals of all later stages; the first one counts */
    for (uint32_t l = s->last; s->labels.v[l].parent; l = s->labels.v[l].parent) {
        const struct ideal *d = &s->ideals.v[s->labels.v[l].at];
        steps[--at] = (struct problem_step){s->labels.v[l].kind, s->labels.v[l].copies};
        for (uint32_t v = 0; v < s->n; v++)
            if (ideal_has(s, d, v))
                step[v] = at;
    }
    assert(at == 0);
    problem_assign(s->c, step, steps, nstep, best);
    if (s->c->detailed)
        best->value = s->labels.v[s->last].value + s->labels.v[s->last].back;
    else
        best->value = largest_load(s->c, best->dev, s->a);
    arena_release(s->a, mark);
}

uint64_t search_steps(const struct search *s)
{
    return s->steps;
}

uint64_t search_states(const struct search *s)
{
    return s->ideals.n ? s->ideals.n - 1 : 0;
}

uint32_t search_passed(const struct search *s)
{
    assert(s->from.ideal < s->ideals.n || !s->from.ideal);
    return s->from.ideal ? s->ideals.v[s->from.ideal].card : s->bucket_at;
}

/* ---- in one go ------------------------------------------------------------------------------- */

struct dp_found search_run(struct search *s, const struct dp_limits *l)
{
    uint64_t most = l->max_states * STEPS_PER_STATE;
    most = l->max_steps && l->max_steps < most ? l->max_steps : most;
    enum search_end end = SEARCH_GOING;
    struct dp_found f = {0};
    while ((end = search_go(s, CHECK_EVERY)) == SEARCH_GOING && !f.why) {
        if (search_steps(s) > most)
            f.why = "step limit reached";
        else if (clock_out(l->clock))
            f.why = l->clock->why;
    }
    if (end == SEARCH_FULL)
        f.why = search_why_full(s);
    f.complete = end == SEARCH_DONE;
    f.states = search_states(s);
    f.steps = search_steps(s);
    return f;
}

struct dp_found dp_search(const struct problem *c, const struct dp_limits *l,
                          struct problem_plan *best, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct dp_found f = {.complete = best->value <= c->lower.value};
    if (f.complete || c->g->n == 0)
        return f;
    struct search_ask ask = {.goal = SEARCH_BEST,
                             .limit = best->value - 1,
                             .floor = c->lower.value,
                             .max_states = l->max_states,
                             .max_bytes = MEMORY_MAX};
    struct search *s = search_new(c, &ask, scratch);
    f = search_run(s, l);
    f.better = search_found(s);
    if (f.better)
        search_plan(s, best);
    arena_release(scratch, mark);
    return f;
}

struct dp_found dp_refute(const struct problem *c, int64_t limit, int64_t floating,
                          const struct dp_limits *l, struct arena *scratch)
{
    assert(!c->detailed && floating >= 0);
    struct arena_mark mark = arena_mark(scratch);
    struct search_ask ask = {.goal = SEARCH_REFUTE,
                             .limit = limit,
                             .floating = floating,
                             .max_states = l->max_states,
                             .max_bytes = MEMORY_MAX};
    struct search *s = search_new(c, &ask, scratch);
    struct dp_found f = search_run(s, l);
    f.none = f.complete && !search_found(s);
    arena_release(scratch, mark);
    return f;
}
