/* Finds the states of a model (stage_states.h).
 *
 * Source: PipeDream's optimizer (its graph of antichains) and the placement paper's ideals.  A layer needs all its
 * predecessors, direct or not.  A state is identified by its end: the antichain A, that is, its layers that no other
 * layer of the state needs.  The open layers of the state, called augment(A), are A and each layer x that some a in A
 * needs, if x has a reader other than a that a does not need.  STATES_FIRST steps from a state to another one as
 * PipeDream does: a reader y of some open layer x takes the place of x, unless y is open or an open layer needs y;
 * then layers that other layers of the antichain need leave it.  STATES_ALL begins with no layer and adds one layer at
 * a time.  A table finds states by their antichains.
 *
 * A model with many branches has too many states.  STATES_NARROW takes only sets of the first v layers of the order as
 * states, for those numbers v at which the fewest values cross. */
#include "passes/problem/stage_states.h"

#include "ir/base/keyed.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

struct state_search {
    const struct layers_of *g;
    struct arena *a, *own; /* a: memory for results; own: memory of the search */
    uint32_t words;        /* 64-bit words of a set of layers */
    uint64_t *above;       /* [layer * words] bits: all predecessors of the layer, direct or not */
    uint64_t *below;       /* [layer * words] bits: all successors of the layer, direct or not */
    uint64_t *end;         /* [state * words] bits: the state's antichain (its end) */
    uint64_t *set;         /* [state * words] bits: the state's layers */
    uint32_t n, cap, capset;
    uint32_t most;         /* the most states that are wanted */
    uint32_t *table, mask; /* hash table of mask + 1 slots: 1 + the state; 0: the slot is free */
    struct pairs step;     /* the steps found, from state to state */
    /* [words] scratch: `open`: the open layers of a state; `next`: the antichain of the next state */
    uint64_t *open, *next;
};

/* Whether two sets have a member in common. */
static bool meets(const uint64_t *x, const uint64_t *y, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (x[i] & y[i])
            return true;
    return false;
}

/* Fills f->above and f->below. */
static void find_relatives(struct state_search *f)
{
    const struct layers_of *g = f->g;
    f->above = arena_array(f->own, (size_t)g->n * f->words + 1, sizeof *f->above);
    f->below = arena_array(f->own, (size_t)g->n * f->words + 1, sizeof *f->below);
    for (uint32_t v = 0; v < g->n; v++)
        for_row (p, g->pred, v) {
            assert(p < v);
            bits_add(f->above + (size_t)v * f->words, p);
            for (uint32_t w = 0; w < f->words; w++)
                f->above[(size_t)v * f->words + w] |= f->above[(size_t)p * f->words + w];
        }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (bits_have(f->above + (size_t)v * f->words, u))
                bits_add(f->below + (size_t)u * f->words, v);
}

/* Returns the set of v's ancestors, as bits. */
static const uint64_t *above(const struct state_search *f, uint32_t v)
{
    return f->above + (size_t)v * f->words;
}

/* Sets open[] to augment(end): the open layers (head of this file) of the state with this end. */
static void find_open(const struct state_search *f, const uint64_t *end, uint64_t *open)
{
    const struct layers_of *g = f->g;
    memcpy(open, end, f->words * sizeof *open);
    for (uint32_t v = 0; v < g->n; v++) {
        if (!bits_have(end, v))
            continue;
        for (uint32_t p = 0; p < v; p++) {
            if (!bits_have(above(f, v), p) || bits_have(open, p))
                continue;
            for_row (reader, g->succ, p)
                if (reader != v && !bits_have(above(f, v), reader)) {
                    bits_add(open, p);
                    break;
                }
        }
    }
}

/* Sets set[] to the layers in of[] and all their predecessors. */
static void close_set(const struct state_search *f, const uint64_t *of, uint64_t *set)
{
    memcpy(set, of, f->words * sizeof *set);
    for (uint32_t v = 0; v < f->g->n; v++)
        if (bits_have(of, v))
            for (uint32_t w = 0; w < f->words; w++)
                set[w] |= above(f, v)[w];
}

/* Doubles the table (256 entries at first) and puts all states in. */
static void grow_table(struct state_search *f)
{
    uint32_t size = f->mask ? 2 * (f->mask + 1) : 256;
    f->table = arena_array(f->own, size, sizeof *f->table);
    f->mask = size - 1;
    for (uint32_t s = 0; s < f->n; s++) {
        uint32_t at = (uint32_t)bits_hash(f->end + (size_t)s * f->words, f->words) & f->mask;
        while (f->table[at])
            at = (at + 1) & f->mask;
        f->table[at] = s + 1;
    }
}

/* Returns the number of the state with the antichain end[], which is added if it is new. */
static uint32_t find_or_add(struct state_search *f, const uint64_t *end)
{
    size_t bytes = f->words * sizeof *end;
    if (2 * f->n >= f->mask)
        grow_table(f);
    uint32_t at = (uint32_t)bits_hash(end, f->words) & f->mask;
    for (; f->table[at]; at = (at + 1) & f->mask)
        if (!memcmp(f->end + (size_t)(f->table[at] - 1) * f->words, end, bytes))
            return f->table[at] - 1;
    f->end = vec_grow(f->own, f->end, &f->cap, (f->n + 1) * f->words, sizeof *f->end);
    f->set = vec_grow(f->own, f->set, &f->capset, (f->n + 1) * f->words, sizeof *f->set);
    memcpy(f->end + (size_t)f->n * f->words, end, bytes);
    close_set(f, end, f->set + (size_t)f->n * f->words);
    f->table[at] = ++f->n;
    return f->n - 1;
}

/* Drops from f->next the layers with a successor in f->next. */
static void keep_maximal(struct state_search *f)
{
    for (uint32_t v = 0; v < f->g->n; v++)
        if (bits_have(f->next, v) && meets(f->next, f->below + (size_t)v * f->words, f->words))
            bits_drop(f->next, v);
}

/* Adds the steps of PipeDream's program from state s. */
static void step_as_pipedream(struct state_search *f, uint32_t s)
{
    const struct layers_of *g = f->g;
    size_t bytes = f->words * sizeof *f->open;
    find_open(f, f->end + (size_t)s * f->words, f->open);
    for (uint32_t x = 0; x < g->n; x++) {
        if (!bits_have(f->open, x))
            continue;
        for_row (y, g->succ, x) {
            /* an open layer needs y, or y is open, as are all layers of the state's end */
            if (meets(f->open, f->below + (size_t)y * f->words, f->words) || bits_have(f->open, y))
                continue;
            memcpy(f->next, f->open, bytes);
            bits_drop(f->next, x);
            bits_add(f->next, y);
            keep_maximal(f);
            pairs_add(&f->step, s, find_or_add(f, f->next));
        }
    }
}

/* Adds the steps from state s to the states that have one more layer, whose predecessors are all in s. */
static void step_by_layer(struct state_search *f, uint32_t s)
{
    const struct csr *pred = &f->g->pred;
    for (uint32_t y = 0; y < f->g->n; y++) {
        const uint64_t *set = f->set + (size_t)s * f->words;
        bool ready = !bits_have(set, y);
        for (uint32_t i = pred->at[y]; i < pred->at[y + 1] && ready; i++)
            ready = bits_have(set, pred->to[i]);
        if (!ready)
            continue;
        memcpy(f->next, f->end + (size_t)s * f->words, f->words * sizeof *f->next);
        bits_add(f->next, y);
        keep_maximal(f);
        pairs_add(&f->step, s, find_or_add(f, f->next));
    }
}

/* Returns the number of layers in a set. */
static uint32_t count_bits(const uint64_t *set, uint32_t words)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++)
        n += (uint32_t)__builtin_popcountll(set[w]);
    return n;
}

/* Returns an array: [v] how many of the layers 0 .. v have a reader behind layer v. */
static uint32_t *count_crossing(const struct state_search *f)
{
    const struct layers_of *g = f->g;
    uint32_t *cross = arena_array(f->own, (size_t)g->n + 1, sizeof *cross), now = 0;
    uint32_t *ends = arena_array(f->own, (size_t)g->n + 1, sizeof *ends);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t last = v;
        for_row (w, g->succ, v)
            last = larger_u32(w, last);
        now++;
        ends[last]++;
        now -= ends[v];
        cross[v] = now;
    }
    return cross;
}

/* Adds states that consist of the layers 0 .. v: for the places v that the results of the fewest layers cross, about
 * f->most of them, and for the whole model.  Adds a step from each of these states to the next one (f->step). */
static void find_narrow(struct state_search *f)
{
    uint32_t n = f->g->n, *cross = count_crossing(f), last = 0, taken = 0, widest = 0;
    uint32_t *places = arena_array(f->own, (size_t)n + 2, sizeof *places);
    /* places[c]: the number of places in the order that the results of c layers cross */
    for (uint32_t v = 0; v + 1 < n; v++)
        places[cross[v]]++;
    /* takes the places that `widest` layers or fewer cross, with `widest` as large as `most` allows, but at least
     * the least number there is */
    while (widest < n && !places[widest])
        widest++;
    uint32_t count = widest < n ? places[widest] : 0, room = f->most > 1 ? f->most - 1 : 1;
    while (widest < n && count + places[widest + 1] <= room)
        count += places[++widest];
    /* there may be too many places even with the least `widest`: then only every place number each, 2 * each, ... is
     * taken */
    uint32_t each = count > room ? (count + room - 1) / room : 1;
    for (uint32_t v = 0; v < n; v++) {
        bool whole = v + 1 == n;
        if (!whole && (cross[v] > widest || taken++ % each))
            continue;
        memset(f->next, 0, f->words * sizeof *f->next);
        for (uint32_t u = 0; u <= v; u++)
            bits_add(f->next, u);
        keep_maximal(f);
        uint32_t state = find_or_add(f, f->next);
        pairs_add(&f->step, last, state);
        last = state;
    }
}

/* Returns the bytes that go from state s to the rest of the model; published: as for stage_states_find(). */
static int64_t cut_of(struct state_search *f, uint32_t s, bool published)
{
    const struct layers_of *g = f->g;
    const uint64_t *set = f->set + (size_t)s * f->words;
    int64_t sum = 0;
    find_open(f, f->end + (size_t)s * f->words, f->open);
    for (uint32_t v = 0; v < g->n; v++) {
        bool leaves = published && bits_have(f->open, v);
        for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1] && !published; i++)
            leaves = leaves || (bits_have(set, v) && !bits_have(set, g->succ.to[i]));
        sum = leaves ? sat_add(sum, g->activation[v]) : sum;
    }
    return sum;
}

/* Makes state `to` of *s from the search's state `from`: copies its layers, and adds up their times and bytes. */
static void add_sums(struct state_search *f, struct stage_states *s, uint32_t to, uint32_t from)
{
    const struct layers_of *g = f->g;
    const uint64_t *set = f->set + (size_t)from * f->words;
    memcpy(s->set + (size_t)to * f->words, set, f->words * sizeof *set);
    for (uint32_t v = 0; v < g->n; v++)
        if (bits_have(set, v)) {
            s->forward[to] = sat_add(s->forward[to], g->forward[v]);
            s->backward[to] = sat_add(s->backward[to], g->backward[v]);
            s->activation[to] = sat_add(s->activation[to], g->activation[v]);
            s->parameter[to] = sat_add(s->parameter[to], g->parameter[v]);
            if (g->forward_overhead) {
                s->forward_overhead[to] = sat_add(s->forward_overhead[to], g->forward_overhead[v]);
                s->backward_overhead[to] =
                    sat_add(s->backward_overhead[to], g->backward_overhead[v]);
            }
        }
}

/* Fills s->is_before and s->before: state i is before state j if steps lead from i to j.  place[]: the number in *s of
 * each state of the search; f->step gets these numbers, too. */
static void find_before(struct state_search *f, struct stage_states *s, const uint32_t *place)
{
    uint32_t row = (s->n + 64) / 64, many = 0; /* row: words for n + 1 bits */
    s->is_before = arena_array(f->a, (size_t)(s->n + 1) * row, sizeof *s->is_before);
    for (uint32_t i = 0; i < f->step.n; i++) {
        f->step.to[i] = place[f->step.to[i]];
        f->step.from[i] = place[f->step.from[i]];
    }
    struct csr step = pairs_rows_back(&f->step, s->n + 1);
    for (uint32_t j = 1; j <= s->n; j++) {
        uint64_t *mine = s->is_before + (size_t)j * row;
        for_row (k, step, j) {
            assert(k < j);
            for (uint32_t w = 0; w < row; w++)
                mine[w] |= s->is_before[(size_t)k * row + w];
            if (k)
                bits_add(mine, k);
        }
        many += count_bits(mine, row);
    }
    s->before.at = arena_array(f->a, (size_t)s->n + 2, sizeof *s->before.at);
    s->before.to = arena_array(f->a, (size_t)many + 1, sizeof *s->before.to);
    for (uint32_t j = 0, n = 0; j <= s->n; j++) {
        for (uint32_t k = 1; k < j; k++)
            if (bits_have(s->is_before + (size_t)j * row, k))
                s->before.to[n++] = k;
        s->before.at[j + 1] = n;
    }
}

/* Writes the states that the search found to *s, sorted by their numbers of layers, with their sums and relations. */
static void fill(struct state_search *f, struct stage_states *s, bool published)
{
    struct keyed *by_size = arena_array(f->own, (size_t)f->n + 1, sizeof *by_size);
    uint32_t *place = arena_array(f->own, (size_t)f->n + 1, sizeof *place);
    /* 1: the search's state 0 is the empty state, and becomes state 0 of *s; 0: the search has no empty state, so
     * its states get numbers from 1 */
    uint32_t empty = f->n && !count_bits(f->set, f->words);
    for (uint32_t i = 0; i < f->n; i++)
        by_size[i] = (struct keyed){count_bits(f->set + (size_t)i * f->words, f->words), i};
    keyed_sort(by_size, f->n);
    s->n = f->n - empty;
    s->words = f->words;
    s->set = arena_array(f->a, (size_t)(s->n + 1) * f->words, sizeof *s->set);
    int64_t **const sum[] = {&s->forward,   &s->backward,         &s->activation,
                             &s->parameter, &s->forward_overhead, &s->backward_overhead,
                             &s->cut};
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++)
        *sum[i] = arena_array(f->a, (size_t)s->n + 1, sizeof **sum[i]);
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t at = place[by_size[i].item] = i + 1 - empty;
        add_sums(f, s, at, by_size[i].item);
        s->cut[at] = cut_of(f, by_size[i].item, published);
    }
    find_before(f, s, place);
}

bool stage_states_find(struct stage_states *s, const struct layers_of *g, enum states_kind kind,
                       bool published, uint32_t most, struct arena *a)
{
    struct state_search f = {
        .g = g, .a = a, .most = most, .own = arena_new(a), .words = (g->n + 63) / 64};
    f.step.a = f.own;
    bool complete = true;
    assert(g->n > 0);
    f.open = arena_array(f.own, f.words, sizeof *f.open);
    f.next = arena_array(f.own, f.words, sizeof *f.next);
    find_relatives(&f);
    uint32_t first = 0; /* the first source */
    while (g->pred.at[first] != g->pred.at[first + 1])
        first++;
    if (kind == STATES_FIRST)
        bits_add(f.next, first);
    find_or_add(&f, f.next);
    if (kind == STATES_NARROW)
        find_narrow(&f);
    for (uint32_t i = 0; i < f.n && complete && kind != STATES_NARROW; i++) {
        if (kind == STATES_FIRST)
            step_as_pipedream(&f, i);
        else
            step_by_layer(&f, i);
        complete = f.n <= most;
    }
    *s = (struct stage_states){0};
    if (complete)
        fill(&f, s, published);
    arena_free(f.own);
    return complete;
}
