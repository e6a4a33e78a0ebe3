/* Makes reductions (reduction.h).
 *
 * Idea: bounds forbid devices and join vertices, as in branch and cut.  In a plan with loads below T
 *  - vertex v is not on kind k if the least load there of a device with v (least_load.h) is T or more.  If k is a
 *    single device, every vertex that has no other kind left is on it; one such vertex counts in this load, too;
 *  - if a is on kind k and the least load there with a and without b is T or more, b is on a's device.  So a
 *    and b can be on two devices, of kinds i and j, only if a may be without b on i and b without a on j, where
 *    i = j only if the kind has two devices or more.  If there are no such i and j, a and b become one vertex.
 * The least loads of joined vertices are larger than those of single vertices, so both rules are repeated until
 * nothing changes.
 *
 * A set S that is known to have a load below T on a kind shows that each vertex in S may be on that kind without each
 * vertex outside S.  For each kind the last 64 such sets are kept, as a mask for each vertex, and answer most questions
 * without a flow.  Only pairs of vertices with a net in common are examined.
 *
 * Cost: a flow for each vertex and kind where the vertex alone, with the cost of all its nets, takes T or more; another
 * flow for each neighbour of such a vertex; and O(pins log pins) for each contraction, of which there are few; at most
 * the work allowed. */
#include "passes/bounds/reduction.h"

#include "ir/base/union_find.h"

#include <assert.h>
#include <string.h>

enum {
    WITNESSES = 64, /* number of sets that are kept for each kind, at most: the bits of a mask */
    ROUNDS = 64     /* number of times that all rules are applied, at most */
};

/* Two vertices with a net in common. */
struct pair {
    uint32_t a, b;
    uint32_t ab, ba; /* masks of the kinds on which a may be without b (ab), and b without a (ba) */
};

/* State of reduction_make(), which makes the problem smaller step by step.  Vertices have their numbers in c->g. */
struct reducer {
    struct reduction *r;
    struct problem *c; /* the problem as contracted so far */
    uint64_t *arcs;    /* work left, in arcs */
    struct clock *clock;
    struct arena *a;
    /* [vertex] the smallest vertex of the given graph that was merged into the vertex */
    uint32_t *first;
    /* [vertex] number of vertices of the given graph that were merged into the vertex */
    uint32_t *size;
    /* [kind] network that finds least loads on the kind (least_load.h); NULL: not made yet (never, for hosts) */
    struct closure *closure[PROBLEM_KINDS];
    /* [kind][vertex] bit i: the vertex is in the i-th set kept for the kind */
    uint64_t *seen[PROBLEM_KINDS];
    uint32_t nseen[PROBLEM_KINDS]; /* [kind] number of sets found so far */
    /* [kind] a vertex that must be on the kind's only device; UINT32_MAX: none is known, or the kind has several
     * devices */
    uint32_t sure[PROBLEM_KINDS];
    /* [vertex] union-find (union_find.h): the next vertex on the way to the root of the group of joined vertices; a
     * root has itself */
    uint32_t *group;
    uint64_t explain_work; /* work left for explanations, in arcs */
    bool changed;          /* this round has denied a kind or joined vertices */
};

/* Appends step s to the reduction and returns the new entry, which the next call may move.  The vertices in s have
 * their numbers in w->c->g; in the entry they have their numbers in the given graph. */
static struct reduction_step *log_step(struct reducer *w, struct reduction_step s)
{
    struct reduction *r = w->r;
    s.na = w->size[s.a];
    s.nb = w->size[s.b];
    s.a = w->first[s.a];
    s.b = w->first[s.b];
    s.with = s.with == UINT32_MAX ? s.with : w->first[s.with];
    r->step = vec_grow(w->a, r->step, &r->cap, r->nstep + 1, sizeof *r->step);
    r->step[r->nstep] = s;
    return &r->step[r->nstep++];
}

/* Returns whether the work allowed is used up or the clock is out. */
static bool out_of_work(struct reducer *w)
{
    return *w->arcs == 0 || clock_out(w->clock);
}

/* Returns whether devices of kind k pay for transfers, as all devices but hosts do. */
static bool kind_pays(const struct reducer *w, uint32_t k)
{
    return !w->c->cluster->cls[w->c->kind[k].cls].host;
}

/* Returns the network of kind k that finds least loads; makes it at the first call for the present graph. */
static struct closure *closure_of_kind(struct reducer *w, uint32_t k)
{
    if (!w->closure[k]) {
        uint64_t made = w->c->g->net_pin.at[w->c->g->nnet] + w->c->g->n;
        w->closure[k] = closure_new(w->c, k, w->r->may, w->a);
        w->seen[k] = arena_array(w->a, (size_t)w->c->g->n + 1, sizeof **w->seen);
        w->nseen[k] = 0;
        *w->arcs -= smaller_u64(made, *w->arcs);
    }
    return w->closure[k];
}

/* Keeps the set that the last exact answer of w->closure[k] found, in place of the oldest of WITNESSES sets: sets the
 * bit of that place in seen[k][v] for each vertex v in the set, and clears it for all other vertices. */
static void keep_witness(struct reducer *w, uint32_t k)
{
    uint32_t bit = w->nseen[k]++ % WITNESSES;
    for (uint32_t v = 0; v < w->c->g->n; v++)
        w->seen[k][v] = (w->seen[k][v] & ~(UINT64_C(1) << bit)) | (uint64_t)w->closure[k]->side[v]
                                                                      << bit;
}

/* ---- where a vertex may be ------------------------------------------------------------------- */

/* Finds the set with the least load on a device of kind k that holds the n vertices in[]; writes the set, its load and
 * the load's parts to s, for the explanation.  Leaves s as it is if the work runs out. */
static void record_set(struct reducer *w, struct reduction_step *s, uint32_t k, const uint32_t *in,
                       uint32_t n)
{
    const struct wdag *g = w->c->g;
    uint8_t *side = arena_alloc(w->a, (size_t)g->n + 1);
    for (uint32_t i = 0; i < n; i++)
        side[in[i]] = 1;
    /* where transfers cost nothing, in[] alone has the least load; else more vertices may save transfers */
    bool pays = kind_pays(w, k);
    if (pays) {
        closure_of(closure_of_kind(w, k), in, n, LOAD_INF, &w->explain_work);
        if (!w->closure[k]->exact)
            return; /* the work ran out before the set was found */
        memcpy(side, w->closure[k]->side, g->n);
    }
    s->set = arena_array(w->a, (size_t)g->n + 1, sizeof *s->set);
    for (uint32_t v = 0; v < g->n; v++)
        if (side[v]) {
            s->set[s->nset++] = w->first[v];
            s->time = sat_add(s->time, w->c->kind[k].time[v]);
        }
    if (pays) {
        s->load = w->closure[k]->value;
        s->transfer = s->load - s->time;
    }
}

/* Removes kind k from the kinds that vertex v may be on, and logs the step; sets r->none if no kind is left.  why: the
 * step, of which what, load and with are set. */
static void deny_kind(struct reducer *w, uint32_t v, uint32_t k, struct reduction_step why)
{
    uint32_t in[2] = {v, why.with}, n = why.with == UINT32_MAX ? 1 : 2;
    why.a = why.b = v;
    why.k = k;
    struct reduction_step *s = log_step(w, why);
    if (w->r->explained && why.what == REDUCTION_DENY)
        record_set(w, s, k, in, n);
    w->r->may[v] &= ~(UINT32_C(1) << k);
    if (w->closure[k])
        closure_deny(w->closure[k], v);
    if (!w->r->may[v]) {
        log_step(w, (struct reduction_step){
                        .what = REDUCTION_NONE, .a = v, .b = v, .k = k, .with = UINT32_MAX});
        w->r->none = true;
    }
    w->changed = true;
}

/* Returns a lower bound for the load of a device of kind k that holds v: above `limit` if it is known that v cannot be
 * there, else some number of at most `limit`. */
static int64_t least_load(struct reducer *w, uint32_t v, uint32_t k, int64_t limit)
{
    uint32_t in[2] = {v, w->sure[k]}, n = w->sure[k] != UINT32_MAX && w->sure[k] != v ? 2 : 1;
    int64_t sum = 0;
    if (!kind_pays(w, k)) {
        for (uint32_t i = 0; i < n; i++)
            sum = sat_add(sum, w->c->kind[k].time[in[i]]);
        return sum;
    }
    struct closure *q = closure_of_kind(w, k);
    if (n == 1 && closure_alone(q, v) <= limit)
        return 0; /* v fits even with all its nets cut */
    if (w->nseen[k] && w->seen[k][v] && (n == 1 || (w->seen[k][v] & w->seen[k][in[1]])))
        return 0; /* a set that is kept has a small enough load, and holds the vertices in[] */
    if (out_of_work(w))
        return 0;
    sum = closure_of(q, in, n, limit, w->arcs);
    if (q->exact)
        keep_witness(w, k);
    return sum;
}

/* Sets w->sure[k] for each kind k that has only one device: to the first vertex that may be on no other kind, so it
 * must be on this device; UINT32_MAX: there is none, or the kind has more devices. */
static void find_sure(struct reducer *w)
{
    for (uint32_t k = 0; k < w->c->nkind; k++)
        w->sure[k] = UINT32_MAX;
    for (uint32_t v = 0; v < w->c->g->n; v++) {
        uint32_t m = w->r->may[v];
        if (m == 0 || (m & (m - 1)) != 0)
            continue; /* no kind, or several */
        uint32_t k = (uint32_t)__builtin_ctz(m);
        if (w->c->kind[k].count == 1 && w->sure[k] == UINT32_MAX)
            w->sure[k] = v;
    }
}

/* First rule: denies each vertex the kinds on which it needs more memory than a device has, or its least load is not
 * below the threshold. */
static void deny_kinds(struct reducer *w)
{
    int64_t limit = w->r->below - 1;
    for (uint32_t v = 0; v < w->c->g->n && !w->r->none; v++)
        for (uint32_t k = 0; k < w->c->nkind && !w->r->none; k++) {
            if (!(w->r->may[v] >> k & 1))
                continue;
            if (w->c->limited && vertex_needs(w->c->g, v) > w->c->kind[k].memory) {
                deny_kind(w, v, k,
                          (struct reduction_step){.what = REDUCTION_SIZE, .with = UINT32_MAX});
                continue;
            }
            int64_t load = least_load(w, v, k, limit);
            if (load > limit)
                deny_kind(
                    w, v, k,
                    (struct reduction_step){.what = REDUCTION_DENY,
                                            .load = load,
                                            .with = w->sure[k] == v ? UINT32_MAX : w->sure[k]});
        }
}

/* ---- which vertices stay together ------------------------------------------------------------ */

/* Returns, for the explanation, an array: [kind] the least load, ps, of a device with a and without b; 0 for kinds that
 * are not in the mask `gone`. */
static int64_t *record_loads(struct reducer *w, uint32_t a, uint32_t b, uint32_t gone)
{
    int64_t *load = arena_array(w->a, PROBLEM_KINDS, sizeof *load);
    for (uint32_t k = 0; k < w->c->nkind; k++)
        if (gone >> k & 1) {
            closure_of(closure_of_kind(w, k), &a, 1, LOAD_INF, &w->explain_work);
            load[k] = closure_without(closure_of_kind(w, k), b, &w->explain_work);
        }
    return load;
}

/* Joins a and b, which are on one device in every plan below the threshold.  ab, ba: masks of the only kinds on which a
 * could be without b (ab), and b without a (ba). */
static void join_vertices(struct reducer *w, uint32_t a, uint32_t b, uint32_t ab, uint32_t ba)
{
    uint32_t x = union_root(w->group, a), y = union_root(w->group, b);
    if (x == y)
        return;
    struct reduction_step *s = log_step(
        w, (struct reduction_step){
               .what = REDUCTION_JOIN, .a = a, .b = b, .ab = ab, .ba = ba, .with = UINT32_MAX});
    if (w->r->explained) {
        s->load_ab = record_loads(w, a, b, w->r->may[a] & ~ab);
        s->load_ba = record_loads(w, b, a, w->r->may[b] & ~ba);
    }
    w->group[x < y ? y : x] = smaller_u32(x, y);
    w->changed = true;
}

/* Returns whether two vertices a and b can be on two devices, if a can be without b only on the kinds in the mask ab,
 * and b without a only on the kinds in the mask ba. */
static bool can_separate(const struct reducer *w, uint32_t ab, uint32_t ba)
{
    if (!ab || !ba)
        return false;
    if (ab != ba || (ab & (ab - 1)))
        return true;
    return w->c->kind[__builtin_ctz(ab)].count > 1;
}

/* Returns a mask of the kinds of which it is known, without a new flow, that a may be on them without b. */
static uint32_t kinds_without(struct reducer *w, uint32_t a, uint32_t b)
{
    uint32_t kinds = 0;
    for (uint32_t k = 0; k < w->c->nkind; k++) {
        if (!(w->r->may[a] >> k & 1))
            continue;
        if (!kind_pays(w, k) || closure_alone(closure_of_kind(w, k), a) < w->r->below ||
            (w->seen[k][a] & ~w->seen[k][b]))
            kinds |= UINT32_C(1) << k;
    }
    return kinds;
}

/* Returns `mask`, a mask of kinds, without q's kind if the vertex of the last closure_of() of q cannot be on that kind
 * without b; else returns `mask` unchanged.  Keeps the set found. */
static uint32_t ask_without(struct reducer *w, struct closure *q, uint32_t b, uint32_t mask)
{
    uint32_t bit = UINT32_C(1) << q->k;
    if (q->value > q->limit)
        return mask; /* a cannot be on the kind at all, or the work ran out */
    int64_t load = closure_without(q, b, w->arcs);
    if (q->exact)
        keep_witness(w, q->k);
    return load > q->limit ? mask & ~bit : mask;
}

/* Lists, in order of a, the pairs of vertices a, b that have a net in common and of which it is not yet known that they
 * can be on two devices; writes the list to *pairs and returns its length. */
static uint32_t list_pairs(struct reducer *w, struct pair **pairs)
{
    const struct wdag *g = w->c->g;
    uint32_t n = 0, cap = 0, *last = arena_array(w->a, (size_t)g->n + 1, sizeof *last);
    *pairs = NULL;
    for (uint32_t a = 0; a < g->n; a++)
        for_row (e, g->net_of, a) {
            uint32_t at = g->net_pin.at[e], end = g->net_pin.at[e + 1];
            /* only the first pin of a net makes pairs, one with each other pin */
            if (g->net_pin.to[at] != a)
                continue;
            for (uint32_t j = at + 1; j < end; j++) {
                uint32_t b = g->net_pin.to[j];
                if (last[b] == a + 1)
                    continue;
                last[b] = a + 1;
                if (can_separate(w, kinds_without(w, a, b), kinds_without(w, b, a)))
                    continue;
                *pairs = vec_grow(w->a, *pairs, &cap, n + 1, sizeof **pairs);
                (*pairs)[n++] = (struct pair){a, b, w->r->may[a], w->r->may[b]};
            }
        }
    return n;
}

/* Returns vertex a of the pair; if swap, vertex b. */
static uint32_t first_of(const struct pair *p, bool swap)
{
    return swap ? p->b : p->a;
}

/* Takes kind k from the mask ab of each pair whose vertex a cannot be on kind k without b.  swap: a and b change
 * places, so the mask is ba.  Pairs are visited in order of a (swap: of b), so that one call of closure_of() serves all
 * pairs of a vertex. */
static void ask_pairs(struct reducer *w, struct pair *pairs, uint32_t n, uint32_t k, bool swap)
{
    struct closure *q = closure_of_kind(w, k);
    uint32_t *at = arena_array(w->a, (size_t)w->c->g->n + 2, sizeof *at);
    uint32_t *of = arena_array(w->a, (size_t)n + 1, sizeof *of);
    /* fills `of` with the numbers of the pairs, sorted by their vertex a (swap: b) */
    for (uint32_t i = 0; i < n; i++)
        at[first_of(&pairs[i], swap) + 1]++;
    for (uint32_t v = 0; v < w->c->g->n; v++)
        at[v + 1] += at[v];
    for (uint32_t i = n; i-- > 0;)
        of[--at[first_of(&pairs[i], swap) + 1]] = i;
    for (uint32_t i = 0; i < n && !out_of_work(w);) {
        uint32_t a = first_of(&pairs[of[i]], swap);
        bool asked = false; /* closure_of() was called for a */
        for (; i < n && first_of(&pairs[of[i]], swap) == a; i++) {
            struct pair *p = &pairs[of[i]];
            uint32_t b = first_of(p, !swap), *mask = swap ? &p->ba : &p->ab;
            /* a may be on the kind without b: even alone, with all its nets cut, or as a set that is kept shows */
            bool known = closure_alone(q, a) < w->r->below || (w->seen[k][a] & ~w->seen[k][b]);
            if (!(*mask >> k & 1) || known ||
                can_separate(w, kinds_without(w, a, b), kinds_without(w, b, a)))
                continue;
            if (!asked) {
                closure_of(q, &a, 1, w->r->below - 1, w->arcs);
                if (q->exact)
                    keep_witness(w, k);
                asked = true;
                if (w->seen[k][a] & ~w->seen[k][b])
                    continue; /* the set just found has a and not b */
            }
            *mask = ask_without(w, q, b, *mask);
        }
    }
}

/* Second rule: joins the vertices of pairs that cannot be on two devices. */
static void join_pairs(struct reducer *w)
{
    struct pair *pairs;
    uint32_t n = list_pairs(w, &pairs);
    for (uint32_t k = 0; k < w->c->nkind && n; k++)
        for (int swap = 0; kind_pays(w, k) && swap < 2; swap++)
            ask_pairs(w, pairs, n, k, swap);
    for (uint32_t i = 0; i < n; i++)
        if (!can_separate(w, pairs[i].ab, pairs[i].ba))
            join_vertices(w, pairs[i].a, pairs[i].b, pairs[i].ab, pairs[i].ba);
}

/* Joins all vertices that may be on the same single kind, if that kind has only one device. */
static void join_sure(struct reducer *w)
{
    find_sure(w);
    for (uint32_t v = 0; v < w->c->g->n; v++)
        for (uint32_t k = 0; k < w->c->nkind; k++)
            if (w->sure[k] != UINT32_MAX && w->r->may[v] == UINT32_C(1) << k)
                join_vertices(w, w->sure[k], v, w->r->may[v], w->r->may[v]);
}

/* ---- contraction ----------------------------------------------------------------------------- */

/* Begins work on c, the given problem or a smaller one made from it: no vertices are joined yet, and no networks are
 * made; sets w->sure. */
static void begin_graph(struct reducer *w, struct problem *c)
{
    w->c = c;
    w->group = arena_array(w->a, (size_t)c->g->n + 1, sizeof *w->group);
    for (uint32_t v = 0; v < c->g->n; v++)
        w->group[v] = v;
    for (uint32_t k = 0; k < c->nkind; k++)
        w->closure[k] = NULL;
    find_sure(w);
}

/* Returns a level above g, in a, whose vertices are the groups of the union-find group[] and which has no edges; NULL
 * if the vertices of a group cannot be merged. */
static struct wdag *merge_groups(struct wdag *g, uint32_t *group, struct arena *a)
{
    struct diag quiet = diag_silent();
    /* name[vertex]: number of its group.  The root of a group is its smallest vertex, so it gets its number first. */
    uint32_t n = 0, *name = arena_array(a, (size_t)g->n + 1, sizeof *name);
    const struct pairs free_order = {0}; /* no group must be before another one: no edges */
    for (uint32_t v = 0; v < g->n; v++)
        name[v] = union_root(group, v) == v ? n++ : name[union_root(group, v)];
    const struct wdag_groups free_groups = {.of = name, .n = n, .order = &free_order};
    return wdag_merge_ordered(g, &free_groups, "reduction", a, &quiet);
}

/* Makes each group of joined vertices a vertex of a new problem, and begins work on that problem.  Sets r->none if
 * the vertices of a group cannot be on one device. */
static void contract_groups(struct reducer *w)
{
    struct reduction *r = w->r;
    struct diag quiet = diag_silent();
    /* the merge takes about as long as looking at four arcs for each pin */
    uint64_t cost = (uint64_t)w->c->g->net_pin.at[w->c->g->nnet] * 4 + w->c->g->n;
    /* the new level keeps a pointer to the level below, which nobody writes to: so the const may go */
    struct wdag *g = merge_groups((struct wdag *)(uintptr_t)w->c->g, w->group, w->a);
    struct problem *c = g ? problem_build(g, w->c->scene, MEMORY_UNCHANGED, w->a, &quiet) : NULL;
    *w->arcs -= smaller_u64(cost, *w->arcs);
    /* joined vertices are pinned to different devices, or the user wants them on different devices */
    if (!c) {
        r->none = true;
        return;
    }
    /* keep the memories of the given problem, which may have been raised above the cluster's */
    for (uint32_t k = 0; k < c->nkind; k++)
        c->kind[k].memory = w->c->kind[k].memory;
    c->limited = w->c->limited;
    uint32_t *may = arena_array(w->a, (size_t)g->n + 1, sizeof *may);
    uint32_t *first = arena_array(w->a, (size_t)g->n + 1, sizeof *first);
    uint32_t *size = arena_array(w->a, (size_t)g->n + 1, sizeof *size);
    memset(may, 0xff, g->n * sizeof *may);
    memset(first, 0xff, g->n * sizeof *first);
    for (uint32_t v = 0; v < w->c->g->n; v++) {
        uint32_t m = g->map[v];
        may[m] &= r->may[v];
        first[m] = smaller_u32(w->first[v], first[m]);
        size[m] += w->size[v];
    }
    for (uint32_t v = 0; v < r->c->g->n; v++)
        r->map[v] = g->map[r->map[v]];
    r->may = may;
    w->first = first;
    w->size = size;
    begin_graph(w, c);
    /* the vertices of a group may have no kind in common: then no plan is below the threshold */
    for (uint32_t v = 0; v < g->n && !r->none; v++)
        if (!may[v]) {
            log_step(w, (struct reduction_step){
                            .what = REDUCTION_NONE, .a = v, .b = v, .with = UINT32_MAX});
            r->none = true;
        }
}

struct reduction *reduction_make(const struct problem *c, int64_t below, bool explained,
                                 uint64_t *work, struct clock *clock, struct arena *a)
{
    assert(!c->detailed && c->nkind <= 32);
    const struct wdag *g = c->g;
    struct reduction *r = arena_alloc(a, sizeof *r);
    struct reducer w = {.r = r, .arcs = work, .clock = clock, .a = a, .explain_work = *work};
    *r = (struct reduction){.c = c, .below = below, .explained = explained};
    r->map = arena_array(a, (size_t)g->n + 1, sizeof *r->map);
    r->may = arena_array(a, (size_t)g->n + 1, sizeof *r->may);
    w.first = arena_array(a, (size_t)g->n + 1, sizeof *w.first);
    w.size = arena_array(a, (size_t)g->n + 1, sizeof *w.size);
    for (uint32_t v = 0; v < g->n && !r->none; v++) {
        r->map[v] = w.first[v] = v;
        w.size[v] = 1;
        for (uint32_t k = 0; k < c->nkind; k++)
            r->may[v] |= (uint32_t)(c->kind[k].time[v] != COST_NEVER) << k;
        r->none = !r->may[v];
    }
    /* c itself is never written to, only the problems made from it */
    begin_graph(&w, (struct problem *)(uintptr_t)c);
    for (uint32_t i = 0; i < ROUNDS && !r->none; i++) {
        w.changed = false;
        deny_kinds(&w);
        if (r->none)
            break;
        join_sure(&w);
        /* the rule for pairs costs most, so it waits until the other rules find nothing */
        if (!w.changed)
            join_pairs(&w);
        if (!w.changed)
            break;
        /* even if the work has run out, the joined vertices are contracted: the graph must agree with the steps */
        contract_groups(&w);
        if (out_of_work(&w))
            break;
    }
    r->small = w.c;
    return r;
}

struct wdag *reduction_contract(struct wdag *g, const struct problem *c, int64_t below,
                                uint64_t *work, struct clock *clock, struct arena *a)
{
    struct reduction *r = reduction_make(c, below, /*explained=*/false, work, clock, a);
    if (r->none)
        return NULL;
    /* head[vertex of the reduction]: the first vertex of g in it, which is the root of its group in group[] */
    uint32_t *head = arena_array(a, (size_t)g->n + 1, sizeof *head);
    uint32_t *group = arena_array(a, (size_t)g->n + 1, sizeof *group);
    memset(head, 0xff, g->n * sizeof *head);
    for (uint32_t v = 0; v < g->n; v++) {
        if (head[r->map[v]] == UINT32_MAX)
            head[r->map[v]] = v;
        group[v] = head[r->map[v]];
    }
    struct wdag *out = merge_groups(g, group, a);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t k = 0; k < out->ncls; k++) {
            bool may = false;
            for (uint32_t i = 0; i < c->nkind; i++)
                may = may || (c->kind[i].cls == k && (r->may[r->map[v]] >> i & 1));
            if (!may)
                out->time[k][out->map[v]] = COST_NEVER;
        }
    return out;
}
