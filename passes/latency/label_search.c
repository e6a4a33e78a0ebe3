/* The exact search over ideals with labels (label_search.h).
 *
 * Source: the placement paper, 5.1, whose search over ideals is made here with times in place of loads.  A plan is a
 * chain of ideals: each step puts one block on the hosts or a set of blocks on the next accelerator.  Ideals are
 * extended in ascending order of their number of blocks.  A label is dropped if its lower bound is not below the limit,
 * or if another label is as good.  Each label names the label that it extends, so that the plan can be read back.
 * Cost: at most the product of the number of ideals, of sets that an accelerator can take next, and of labels. */
#include "passes/latency/label_state.h"

#include "ir/base/random.h"

#include <assert.h>
#include <string.h>

enum {
    LABEL_UNITS = 1 << 13,   /* graphs of more units are not searched: sets of units are bits */
    FIRST_IDEAL = 1,         /* number of the ideal at which the search begins */
    BETWEEN_CHECKS = 1 << 16 /* search steps between two looks at the limits */
};
#define LIMIT_OF_MEMORY "limit of memory reached"

/* ---- tables ---------------------------------------------------------------------------------- */

/* Allocates the arrays of r; fills those that stay the same during the search. */
static void start_tables(struct label_run *r)
{
    const struct latency_graph *p = r->p;
    uint32_t n = p->g->n;
    uint64_t seed = 1;
    r->nword = n / 64 + 1;
    r->uword = p->nunit / 64 + 1;
    r->zobrist = arena_array(r->a, (size_t)n + 1, sizeof *r->zobrist);
    r->unit_below = arena_array(r->a, (size_t)p->nunit * r->uword + 1, sizeof *r->unit_below);
    r->ends = arena_alloc(r->a, (size_t)n + 1);
    r->bits = arena_array(r->a, r->nword, sizeof *r->bits);
    r->end = arena_array(r->a, (size_t)p->nunit + 1, sizeof *r->end);
    r->missing = arena_array(r->a, (size_t)n + 1, sizeof *r->missing);
    r->lanes = p->slots > 1 ? LANE_NUMBERS * p->ndev : 0;
    r->fresh =
        arena_alloc(r->a, sizeof *r->fresh + ((size_t)p->nunit + r->lanes + 1) * sizeof(int64_t));
    for (uint32_t v = 0; v < n; v++)
        r->zobrist[v] = random_bits(&seed);
    /* from the last unit to the first: the rows of its successors are finished */
    for (uint32_t x = p->nunit; x-- > 0;) {
        uint64_t *row = r->unit_below + (size_t)x * r->uword;
        for_row (w, p->succ, x) {
            const uint64_t *more = r->unit_below + (size_t)w * r->uword;
            for (uint32_t k = 0; k < r->uword; k++)
                row[k] |= more[k];
            bits_add(row, w);
        }
        if (p->succ.at[x] == p->succ.at[x + 1])
            r->ends[p->block[x]] = 1;
    }
    label_table_start(r);
    label_waits_start(r, &r->waits);
    label_waits_start(r, &r->other);
    label_walk_start(r);
}

/* ---- one ideal ------------------------------------------------------------------------------- */

/* Makes `ideal`, an index into r->ideals, the ideal I that is extended next, with S empty: sets now, bits, key, card
 * and missing of r. */
static void go_to(struct label_run *r, uint32_t ideal)
{
    assert(ideal > 0 && ideal < r->ideals.n);
    const struct wdag *g = r->p->g;
    const struct label_ideal *o = &r->ideals.v[ideal];
    r->now = ideal;
    r->key = o->key;
    r->card = o->card;
    memcpy(r->bits, r->ideals.bits + o->bits, r->nword * sizeof *r->bits);
    for (uint32_t v = 0; v < g->n; v++) {
        r->missing[v] = 0;
        for_row (u, g->pred, v)
            r->missing[v] += !bits_have(r->bits, u);
    }
}

/* Returns whether wait a of the ideal I is a subset of wait b. */
static bool is_part(const struct label_run *r, uint32_t a, uint32_t b)
{
    const struct label_waits *w = &r->waits;
    const uint64_t *x = w->set + (size_t)w->unit[a] * r->uword;
    const uint64_t *y = w->set + (size_t)w->unit[b] * r->uword;
    return bits_within(x, y, w->words);
}

/* Fills r->time, the times of all waits of all labels of I; sets r->why if that takes too much memory. */
static void find_times(struct label_run *r)
{
    const struct label_ideal *o = &r->ideals.v[r->now];
    const struct label_waits *w = &r->waits;
    size_t need = (size_t)o->nlabel * w->n + 1;
    if (need > UINT32_MAX || need > r->l->max_bytes / sizeof *r->time) {
        r->why = LIMIT_OF_MEMORY;
        return;
    }
    r->steps += need / 8; /* eight times are worked out in the time of a step */
    r->time = vec_grow(r->a, r->time, &r->captime, (uint32_t)need, sizeof *r->time);
    /* fronts have the times that the labels store */
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t l = 0; l < o->nlabel; l++)
            r->time[(size_t)l * w->n + i] =
                w->front[i] ? label_at(r, r->now, l)->t[w->front[i] - 1] : 0;
    /* each other wait has the latest time of the fronts within it */
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->front[i])
            continue;
        for (uint32_t j = 0; j < w->n; j++) {
            if (!w->front[j] || !is_part(r, j, i))
                continue;
            for (uint32_t l = 0; l < o->nlabel; l++) {
                int64_t *row = r->time + (size_t)l * w->n;
                row[i] = larger(row[i], row[j]);
            }
        }
    }
}

/* Runs block b on the host after a label of I whose waits have the times time[].  Writes the ends of b's units, ps, to
 * end[unit - p->first[b]].  Returns the latest end of units without successors; -1: all units have successors. */
static int64_t run_on_host(const struct label_run *r, uint32_t b, const int64_t *time, int64_t *end)
{
    const struct latency_graph *p = r->p;
    int64_t done = -1;
    for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++) {
        int64_t start = r->waits.of[x] ? time[r->waits.of[x] - 1] : 0;
        for_row (u, p->pred, x)
            if (p->block[u] == b)
                start = larger(start, end[u - p->first[b]]);
        end[x - p->first[b]] = start + p->host[x];
        if (p->succ.at[x] == p->succ.at[x + 1])
            done = larger(done, end[x - p->first[b]]);
    }
    return done;
}

/* Extends label i of I by block b on the host, and adds the new label to ideal number `ideal`, which is I with b.
 * Does not add it if no plan that extends it can take less than the limit.  end: scratch, [unit - first unit of b]. */
static void extend_on_host(struct label_run *r, uint32_t i, uint32_t b, int64_t *end,
                           uint32_t ideal)
{
    assert(i < r->ideals.v[r->now].nlabel && r->p->hosted[b]);
    const struct latency_graph *p = r->p;
    const struct label_ideal *o = &r->ideals.v[ideal];
    const struct front *front = r->ideals.front + o->fronts;
    const struct latency_label *from = label_at(r, r->now, i);
    const int64_t *time = r->time + (size_t)i * r->waits.n;
    struct latency_label *to = r->fresh;
    to->done = larger(from->done, run_on_host(r, b, time, end));
    to->least = to->done;
    for (uint32_t f = 0; f < o->nfront; f++) {
        uint32_t unit = front[f].unit, wait = r->waits.of[unit];
        /* what the front's unit waits for in I, and the units of b on which it depends */
        to->t[f] = wait ? time[wait - 1] : 0;
        for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++)
            if (bits_have(r->unit_below + (size_t)x * r->uword, unit))
                to->t[f] = larger(to->t[f], end[x - p->first[b]]);
        to->least = larger(to->least, to->t[f] + front[f].tail);
    }
    if (to->least >= r->limit)
        return;
    memcpy(to->t + o->nfront, from->t + r->ideals.v[r->now].nfront, r->lanes * sizeof *to->t);
    to->used = from->used;
    to->ideal = r->now;
    to->index = i;
    to->kind = LABEL_HOST;
    to->lane = 0;
    label_add(r, ideal);
}

/* Returns whether label i of I, extended by block b on the host, may lead to a plan below the limit.  b must be in
 * r->bits, which label_tail() looks at.  Writes the ends of b's units to r->end. */
static bool may_extend(const struct label_run *r, uint32_t i, uint32_t b)
{
    const struct latency_graph *p = r->p;
    if (run_on_host(r, b, r->time + (size_t)i * r->waits.n, r->end) >= r->limit)
        return false;
    for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++)
        for_row (w, p->succ, x) {
            int64_t end = r->end[x - p->first[b]];
            if (p->block[w] != b &&
                (end + r->t->least[w] >= r->limit || end + label_tail(r, w) >= r->limit))
                return false;
        }
    return true;
}

/* Extends the labels of I by each single block that can come next and that the hosts can run. */
static void extend_by_hosts(struct label_run *r)
{
    const struct latency_graph *p = r->p;
    for (uint32_t b = 0; b < p->g->n && !r->why; b++) {
        if (r->missing[b] || bits_have(r->bits, b) || !p->hosted[b])
            continue;
        uint32_t nlabel = r->ideals.v[r->now].nlabel;
        label_put(r, b, r->walk.list, 0);
        uint32_t ideal = label_find(r); /* I with b; 0: not known yet, added with its first label */
        for (uint32_t i = 0; i < nlabel; i++) {
            if (!ideal && may_extend(r, i, b))
                ideal = label_intern(r);
            if (ideal)
                extend_on_host(r, i, b, r->end, ideal);
        }
        label_take_out(r, b);
        r->steps += nlabel + 1;
        if (r->steps >= r->check)
            label_check(r);
    }
}

/* Extends the labels of an ideal by all possible next steps. */
static void extend_ideal(struct label_run *r, uint32_t ideal)
{
    go_to(r, ideal);
    label_waits_find(r, &r->waits);
    find_times(r);
    if (r->why)
        return;
    extend_by_hosts(r);
    for (uint32_t k = 0; k < r->p->nkind && !r->why; k++)
        label_walk_kind(r, k);
}

void label_check(struct label_run *r)
{
    if (r->why)
        return;
    r->check = r->steps + BETWEEN_CHECKS;
    if (r->labels > r->l->max_labels)
        r->why = "limit of partial plans reached";
    else if (r->steps > r->l->max_steps)
        r->why = "limit of steps reached";
    else if (arena_used(r->a) - r->before > r->l->max_bytes)
        r->why = LIMIT_OF_MEMORY;
    else if (clock_out(r->l->clock))
        r->why = r->l->clock->why;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Returns the labels, in r->a, that lead from the search's first ideal to label `index` of `ideal`: each after the
 * label that it extends, without the label of the first ideal.  Writes their number to *n. */
static struct latency_label **read_chain(const struct label_run *r, uint32_t ideal, uint32_t index,
                                         uint32_t *n)
{
    struct latency_label **chain = arena_array(r->a, (size_t)r->p->g->n + 1, sizeof *chain);
    uint32_t steps = 0;
    for (uint32_t at = ideal; at != FIRST_IDEAL;) {
        struct latency_label *l = label_at(r, at, index);
        assert(r->ideals.v[l->ideal].card < r->ideals.v[at].card && steps < r->p->g->n);
        chain[steps++] = l;
        at = l->ideal;
        index = l->index;
    }
    for (uint32_t i = 0; i < steps / 2; i++) { /* turns the chain round: the first step first */
        struct latency_label *l = chain[i];
        chain[i] = chain[steps - 1 - i];
        chain[steps - 1 - i] = l;
    }
    *n = steps;
    return chain;
}

/* A lane of a label, and the accelerator that it stands for. */
struct named_lane {
    int64_t t[LANE_NUMBERS]; /* the lane's numbers in the label */
    uint32_t dev, slots;     /* dev: a device; slots: number of its slots used so far */
};

/* Returns the subgraph (device * slots + slot) that a step on lane number `lane` makes, and sorts lanes[] as the label
 * of that step has its lanes.  to: the lanes' numbers in that label. */
static uint32_t take_lane(const struct label_run *r, struct named_lane *lanes, uint32_t lane,
                          const int64_t *to)
{
    const struct latency_graph *p = r->p;
    const struct accelerators *k = &p->kind[p->kind_of[p->dev[lane]]];
    struct named_lane one = lanes[lane];
    uint32_t at = lane, sub = one.dev * p->slots + one.slots++;
    assert(lane < p->ndev && one.slots <= p->slots);
    /* the other lanes keep their order: this lane's new place is the first where lanes[] and `to` differ */
    while (at + 1 < k->at + k->count &&
           !memcmp(lanes[at + 1].t, to + (size_t)at * LANE_NUMBERS, sizeof one.t)) {
        lanes[at] = lanes[at + 1];
        at++;
    }
    memcpy(one.t, to + (size_t)at * LANE_NUMBERS, sizeof one.t);
    lanes[at] = one;
    return sub;
}

/* Writes the plan of label `index` of `ideal`, which has all blocks, to *best.  chain[i] is the label that step i
 * made: its kind and lane say where the step puts its blocks.  These are the blocks that the label's ideal has and the
 * ideal before lacks. */
static void write_plan(const struct label_run *r, uint32_t ideal, uint32_t index,
                       struct latency_plan *best)
{
    const struct latency_graph *p = r->p;
    /* [kind] number of accelerators of the kind used so far */
    uint32_t n, used[PROBLEM_KINDS] = {0};
    struct latency_label **chain = read_chain(r, ideal, index, &n);
    struct named_lane *lanes = arena_array(r->a, (size_t)p->ndev + 1, sizeof *lanes);
    for (uint32_t i = 0; i < p->ndev; i++)
        lanes[i].dev = p->dev[i];
    best->value = label_at(r, ideal, index)->done;
    for (uint32_t v = 0; v < p->g->n; v++)
        best->sub[v] = ON_HOST; /* the blocks of the ideal at which the search began */
    for (uint32_t i = 0; i < n; i++) {
        const struct latency_label *l = chain[i];
        /* l->ideal is the ideal before the step; the ideal after it, to which l belongs, stands in the next label */
        uint32_t to = i + 1 < n ? chain[i + 1]->ideal : ideal, sub = ON_HOST;
        const uint64_t *was = r->ideals.bits + r->ideals.v[l->ideal].bits;
        const uint64_t *is = r->ideals.bits + r->ideals.v[to].bits;
        if (l->kind != LABEL_HOST && r->lanes) /* the lanes of a label stand behind its fronts */
            sub = take_lane(r, lanes, l->lane, l->t + r->ideals.v[to].nfront);
        else if (l->kind != LABEL_HOST)
            sub = p->dev[p->kind[l->kind].at + used[l->kind]++];
        for (uint32_t v = 0; v < p->g->n; v++)
            if (bits_have(is, v) && !bits_have(was, v))
                best->sub[v] = sub;
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Returns whether block b takes no time on hosts, needs no memory there, and none of its values costs a transfer.  If
 * all predecessors of such a block are such blocks, too, any plan may have it on the hosts instead: it ends at 0 there,
 * so that no subgraph has to wait for it, and the subgraph that loses it takes no longer. */
static bool is_free(const struct label_run *r, uint32_t b)
{
    const struct latency_graph *p = r->p;
    bool free = p->hosted[b] && p->net_of.at[b] == p->net_of.at[b + 1] && !p->g->size[b];
    for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++)
        free = free && p->host[x] == 0;
    for_row (s, p->g->shared_of, b)
        free = free && !p->g->shared_size[s];
    return free;
}

/* Sets r->missing, and adds to r->bits the free blocks (is_free()) whose predecessors are such blocks, too: the ideal
 * at which the search begins.  So the search does not meet each ideal with every subset of these blocks.  The ideal is
 * left empty if it may matter whether a free block is on an accelerator: for what subgraphs need at one time, or for
 * cuts that the user wants.  O(V + E). */
static void put_free(struct label_run *r)
{
    const struct wdag *g = r->p->g;
    for (uint32_t v = 0; v < g->n; v++)
        r->missing[v] = g->pred.at[v + 1] - g->pred.at[v];
    if (r->p->c->values || g->apart.at)
        return;
    for (uint32_t v = 0; v < g->n; v++) /* predecessors have smaller numbers */
        if (!r->missing[v] && is_free(r, v))
            label_put(r, v, r->walk.list, 0);
}

/* Runs the search: extends all ideals, in ascending order of their number of blocks.  Writes the best plan to *best
 * (value LOAD_INF: none is below the limit), or sets r->why if it could not end. */
static void search(struct label_run *r, struct latency_plan *best)
{
    uint32_t n = r->p->g->n;
    r->before = arena_used(r->a);
    start_tables(r);
    put_free(r);
    uint32_t begin = label_intern(r);
    label_add(r, begin); /* r->fresh is all 0: the blocks placed so far end at 0 */
    for (uint32_t card = r->card; card < n && !r->why; card++) {
        uint32_t next;
        for (uint32_t i = r->ideals.bucket[card]; i && !r->why; i = next) {
            next = r->ideals.v[i].next;
            if (r->ideals.v[i].nlabel)
                extend_ideal(r, i);
            label_check(r);
        }
    }
    best->value = LOAD_INF;
    uint32_t all = r->ideals.bucket[n];
    if (r->why || !all)
        return;
    for (uint32_t i = 0; i < r->ideals.v[all].nlabel; i++)
        if (label_at(r, all, i)->done < smaller(best->value, r->limit))
            write_plan(r, all, i, best);
}

struct label_found label_search(const struct latency_graph *p, const struct latency_tail *t,
                                int64_t limit, const struct label_limits *l,
                                struct latency_plan *best, struct arena *scratch)
{
    assert(limit >= 0);
    if (p->nunit > LABEL_UNITS)
        return (struct label_found){.why = "too many nodes for an exact search"};
    struct label_run r = {.p = p, .t = t, .l = l, .limit = limit, .a = arena_new(scratch)};
    search(&r, best);
    struct label_found f = {.complete = !r.why,
                            .why = r.why,
                            .labels = r.labels,
                            .ideals = r.ideals.n - 1,
                            .steps = r.steps};
    arena_free(r.a);
    return f;
}
