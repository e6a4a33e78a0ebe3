/* Computes how many bytes a device needs at one time for a set of vertices (set_memory.h).
 *
 * The vertices of the base level run in the order of their numbers, and a value takes its bytes in a range of them.  So
 * the largest sum of bytes is the root of a segment tree with additions on ranges.  The tree also has the vertices
 * outside the set; they do not change the largest sum, since what is alive between two vertices of the set is alive at
 * the first one.
 *
 * While vertices join in the order in which they run, no tree is needed.  A value made in the set is alive at a vertex
 * of the set as long as some pin is still to come, whether that pin will join the set or stay outside.  So what is
 * alive at a vertex does not depend on vertices that join later, and it is enough to keep the largest sum so far. */
#include "passes/problem/set_memory.h"

#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the values ------------------------------------------------------------------------------- */

/* State of giving numbers to the values of a model. */
struct values_build {
    struct set_values *v;
    const struct scene *s;
    const struct wdag *base;
    struct pairs pins; /* pairs of a value and a vertex that is a pin of it */
    /* [value of the module] 1: it has a number already, or it is the incoming value of a state */
    uint8_t *seen;
    uint8_t *state; /* [value of the module] 1: it is the outgoing value of a state */
};

/* Gives the module's value x a number, and takes its bytes off `extra` of its maker, since they count as those of a
 * value now.  Returns the number. */
static uint32_t add_value(struct values_build *b, vid x, enum held held)
{
    const struct module *m = b->s->m;
    nid def = m->value[x].def;
    bool placed = def && b->s->place->kind[def] == PLACE_NODE;
    uint32_t i = b->v->nvalue++;
    b->seen[x] = 1;
    b->v->value[i] = (struct set_value){.bytes = m->cost->bytes[x],
                                        .maker = placed ? b->base->vertex[def] : UINT32_MAX,
                                        .held = (uint8_t)held};
    if (placed) {
        int64_t *extra = &b->v->extra[b->base->vertex[def]];
        *extra = *extra > m->cost->bytes[x] ? *extra - m->cost->bytes[x] : 0;
    }
    return i;
}

/* Returns how long value x is held where a node makes it. */
static enum held held_of(const struct values_build *b, vid x)
{
    if (b->state[x])
        return HELD;
    return b->s->m->value[x].flags & VALUE_OUTPUT ? HELD_AND_SENT : HELD_FOR_READERS;
}

/* Adds the values of nets; the model's inputs, which are there from the beginning; and results without readers that
 * the model returns or keeps as state. */
static void add_values(struct values_build *b)
{
    const struct module *m = b->s->m;
    const struct place *p = b->s->place;
    const struct graph *g = &m->graph[1];
    for (uint32_t e = 0; e < p->nnet; e++) {
        vid x = p->net_value[e];
        if (b->seen[x])
            continue;
        uint32_t i = add_value(b, x, held_of(b, x));
        for_row (pin, p->net_pin, e)
            pairs_add(&b->pins, i, b->base->vertex[pin]);
    }
    for (uint32_t t = 0; t < p->nthere; t++) {
        uint32_t i = add_value(b, p->there[t], HELD_FOR_READERS);
        for_row (pin, p->there_pin, t)
            pairs_add(&b->pins, i, b->base->vertex[pin]);
    }
    for (uint32_t k = 0; k < g->out.n; k++) {
        vid x = m->arg[g->out.at + k];
        nid def = m->value[x].def;
        if (b->seen[x] || !def || p->kind[def] != PLACE_NODE)
            continue;
        pairs_add(&b->pins, add_value(b, x, held_of(b, x)), b->base->vertex[def]);
    }
}

struct set_values *set_values_build(const struct wdag *g, const struct scene *s, struct arena *a)
{
    const struct wdag *base = g;
    while (base->finer)
        base = base->finer;
    if (!base->vertex || s->m->backward)
        return NULL;
    struct set_values *v = arena_alloc(a, sizeof *v);
    uint32_t outs = s->m->graph[1].out.n, most = s->place->nnet + s->place->nthere + outs;
    v->n = base->n;
    /* in_flight 0: there is no limit */
    uint32_t samples = s->model.in_flight ? smaller_u32(s->model.in_flight, 3) : 3;
    v->samples = exec_kind(&s->model)->feed == FEED_ALONE ? 1 : samples;
    v->value = arena_array(a, (size_t)most + 1, sizeof *v->value);
    v->extra = arena_array(a, (size_t)v->n + 1, sizeof *v->extra);
    for (uint32_t u = 0; u < v->n; u++)
        v->extra[u] = s->m->cost->own[base->node[u]];
    struct arena *own = arena_new(a);
    uint32_t there = s->place->nthere ? s->place->there_pin.at[s->place->nthere] : 0;
    struct values_build b = {
        .v = v,
        .s = s,
        .base = base,
        .pins = pairs_new(own, s->place->net_pin.at[s->place->nnet] + there + outs),
        .seen = arena_alloc(own, s->m->nval),
        .state = arena_alloc(own, s->m->nval)};
    for (uint32_t i = 0; i < s->place->nstate; i++)
        b.seen[s->place->state_in[i]] = b.state[s->place->state_out[i]] = 1;
    add_values(&b);
    v->pin = csr_build(a, v->nvalue, b.pins.n, b.pins.from, b.pins.to);
    for (uint32_t i = 0; i < v->nvalue; i++) {
        v->value[i].npin = v->pin.at[i + 1] - v->pin.at[i];
        qsort(v->pin.to + v->pin.at[i], v->value[i].npin, sizeof *v->pin.to, by_u32);
    }
    v->of = csr_transpose(a, &v->pin, v->nvalue, v->n);
    v->member = csr_build(a, g->n, v->n, wdag_flatten(g, own), NULL);
    arena_free(own);
    return v;
}

/* ---- the set ---------------------------------------------------------------------------------- */

struct set_memory *set_memory_new(const struct set_values *v, struct arena *a)
{
    struct set_memory *s = arena_alloc(a, sizeof *s);
    s->values = v;
    s->leaves = 1;
    while (s->leaves < v->n)
        s->leaves <<= 1;
    s->in = arena_alloc(a, (size_t)v->n + 1);
    s->pins = arena_array(a, (size_t)v->nvalue + 1, sizeof *s->pins);
    s->last = arena_array(a, (size_t)v->nvalue + 1, sizeof *s->last);
    s->list = arena_array(a, (size_t)v->n + 1, sizeof *s->list);
    s->at = arena_array(a, (size_t)v->n + 1, sizeof *s->at);
    s->sorted = true;
    s->most = arena_array(a, 2 * (size_t)s->leaves, sizeof *s->most);
    s->more = arena_array(a, 2 * (size_t)s->leaves, sizeof *s->more);
    return s;
}

/* Adds bytes to node i of the tree and all below it. */
static void add_below(struct set_memory *s, uint32_t i, int64_t bytes)
{
    s->most[i] += bytes;
    s->more[i] += bytes;
}

/* Computes `most` anew for all nodes of the tree above node i. */
static void climb(struct set_memory *s, uint32_t i)
{
    for (i >>= 1; i; i >>= 1)
        s->most[i] = larger(s->most[2 * i], s->most[2 * i + 1]) + s->more[i];
}

/* Adds bytes to the vertices from .. to. */
static void add_range(struct set_memory *s, uint32_t from, uint32_t to, int64_t bytes)
{
    uint32_t lo = from + s->leaves, hi = to + s->leaves;
    /* on each level of the tree, adds to the nodes, at most two, that lie in the range while their parents do not */
    for (uint32_t l = lo, h = hi + 1; l < h; l >>= 1, h >>= 1) {
        if (l & 1)
            add_below(s, l++, bytes);
        if (h & 1)
            add_below(s, --h, bytes);
    }
    climb(s, lo);
    climb(s, hi);
}

/* Counts value i with its present pins in the set (by = 1), or takes its bytes out again (by = -1). */
static void count_value(struct set_memory *s, uint32_t i, int by)
{
    const struct set_values *v = s->values;
    const struct set_value *x = &v->value[i];
    int64_t bytes = by * x->bytes;
    if (!s->pins[i])
        return;
    if (x->maker == UINT32_MAX || !s->in[x->maker]) {
        s->reads += bytes;
        return;
    }
    bool leaves = s->pins[i] < x->npin || x->held == HELD_AND_SENT;
    s->sent += leaves ? bytes : 0;
    add_range(s, x->maker, leaves || x->held == HELD ? v->n - 1 : s->last[i], bytes);
}

/* Returns the last pin of value i before vertex u that is in the set; UINT32_MAX: there is none. */
static uint32_t pin_before(const struct set_memory *s, uint32_t i, uint32_t u)
{
    const struct csr *pin = &s->values->pin;
    uint32_t at = pin->at[i] + count_below(pin->to + pin->at[i], pin->at[i + 1] - pin->at[i], u);
    while (at-- > pin->at[i])
        if (s->in[pin->to[at]])
            return pin->to[at];
    return UINT32_MAX;
}

/* Adds vertex u of the base level to the set, or takes it out. */
static void change(struct set_memory *s, uint32_t u, bool adds)
{
    const struct set_values *v = s->values;
    assert(s->in[u] == !adds);
    for_row (i, v->of, u)
        count_value(s, i, -1);
    s->in[u] = adds;
    for_row (i, v->of, u) {
        s->pins[i] += adds ? 1 : UINT32_MAX;
        if (adds)
            s->last[i] = s->pins[i] == 1 ? u : larger_u32(s->last[i], u);
        else if (s->pins[i] && s->last[i] == u)
            s->last[i] = pin_before(s, i, u);
        count_value(s, i, 1);
    }
    if (v->extra[u])
        add_range(s, u, u, adds ? v->extra[u] : -v->extra[u]);
}

/* Adds vertex u, which runs after all vertices of the set, without the tree: appends it to s->list and s->at. */
static void append(struct set_memory *s, uint32_t u)
{
    const struct set_values *v = s->values;
    int64_t ends = 0; /* bytes of values that are freed when u has run */
    int64_t now = s->at[s->nlist].now, top = s->at[s->nlist].top;
    s->list[s->nlist++] = u;
    s->in[u] = 1;
    for_row (i, v->of, u) {
        const struct set_value *x = &v->value[i];
        bool all = ++s->pins[i] == x->npin;
        if (x->maker == u) {
            now += x->bytes;
            s->sent += !all || x->held == HELD_AND_SENT ? x->bytes : 0;
        } else if (x->maker != UINT32_MAX && s->in[x->maker]) {
            s->sent -= all && x->held != HELD_AND_SENT ? x->bytes : 0;
            ends += all && x->held == HELD_FOR_READERS ? x->bytes : 0;
        } else {
            s->reads += s->pins[i] == 1 ? x->bytes : 0;
        }
    }
    s->at[s->nlist].now = now - ends;
    s->at[s->nlist].top = larger(now + v->extra[u], top);
}

/* Takes out the vertex that append() added last. */
static void unappend(struct set_memory *s)
{
    const struct set_values *v = s->values;
    uint32_t u = s->list[--s->nlist];
    for_row (i, v->of, u) {
        const struct set_value *x = &v->value[i];
        bool all = s->pins[i]-- == x->npin; /* with u, all pins of the value were in the set */
        if (x->maker == u)
            s->sent -= !all || x->held == HELD_AND_SENT ? x->bytes : 0;
        else if (x->maker != UINT32_MAX && s->in[x->maker])
            s->sent += all && x->held != HELD_AND_SENT ? x->bytes : 0;
        else
            s->reads -= s->pins[i] == 0 ? x->bytes : 0;
    }
    s->in[u] = 0;
}

/* Goes over from the list to the tree, which it fills with the vertices of the set: s->sorted becomes false. */
static void plant(struct set_memory *s)
{
    uint32_t n = s->nlist;
    while (s->nlist)
        unappend(s); /* the vertices stay in s->list[] */
    s->sorted = false;
    for (uint32_t i = 0; i < n; i++)
        change(s, s->list[i], /*adds=*/true);
    s->nlist = n;
}

void set_memory_add(struct set_memory *s, uint32_t v)
{
    for_row (u, s->values->member, v) {
        if (s->sorted && s->nlist && s->list[s->nlist - 1] > u)
            plant(s);
        if (s->sorted) {
            append(s, u);
        } else {
            change(s, u, /*adds=*/true);
            s->nlist++;
        }
    }
}

void set_memory_drop(struct set_memory *s, uint32_t v)
{
    const struct csr *member = &s->values->member;
    for (uint32_t i = member->at[v + 1]; i-- > member->at[v];) {
        if (s->sorted && s->list[s->nlist - 1] != member->to[i])
            plant(s);
        if (s->sorted) {
            unappend(s);
        } else {
            change(s, member->to[i], /*adds=*/false);
            s->sorted = --s->nlist == 0;
        }
    }
}

void set_memory_clear(struct set_memory *s)
{
    const struct set_values *v = s->values;
    memset(s->in, 0, v->n);
    memset(s->pins, 0, v->nvalue * sizeof *s->pins);
    if (!s->sorted) { /* else the tree is clear already */
        memset(s->most, 0, 2 * (size_t)s->leaves * sizeof *s->most);
        memset(s->more, 0, 2 * (size_t)s->leaves * sizeof *s->more);
    }
    s->reads = s->sent = 0;
    s->nlist = 0;
    s->sorted = true;
}

int64_t set_memory_peak(const struct set_memory *s)
{
    int64_t one = (s->sorted ? s->at[s->nlist].top : s->most[1]) + s->reads;
    uint32_t samples = s->values->samples;
    return samples == 1   ? one
           : samples == 2 ? one + larger(s->reads, s->sent)
                          : one + s->reads + s->sent;
}
