/* Walks through all sets S of blocks that an accelerator can take next (label_state.h), and extends labels by them.
 * Throughout this file, I is the ideal whose labels (partial plans) are extended, and S the next subgraph.
 *
 * A list has the blocks that can come next: those whose predecessors are all in I + S.  Each block of the list is taken
 * into S or passed over; taking a block appends the blocks that can come next only because of it.  So each set S for
 * which I + S is an ideal is met once.  Transfers into S and computing only become longer when S grows.  A block that
 * is passed over stays outside, so S pays for the values that it sends to that block, which starts after the end of S.
 * A label is dropped as soon as the sum of these times shows that plans from it reach the limit; when no label is left,
 * S does not grow further. */
#include "passes/latency/label_state.h"

#include <assert.h>
#include <string.h>

void label_walk_start(struct label_run *r)
{
    const struct wdag *g = r->p->g;
    struct label_walk *w = &r->walk;
    w->list = arena_array(r->a, (size_t)g->n + 1, sizeof *w->list);
    w->touched = arena_array(r->a, (size_t)r->p->nunit + 1, sizeof *w->touched);
    w->is_touched = arena_alloc(r->a, (size_t)r->p->nunit + 2);
    w->held = arena_array(r->a, (size_t)g->nnet + 1, sizeof *w->held);
    w->is_cut = arena_alloc(r->a, (size_t)g->nnet + 1);
    w->cut_list = arena_array(r->a, (size_t)g->nnet + 1, sizeof *w->cut_list);
    w->need = arena_array(r->a, (size_t)g->nshared + 1, sizeof *w->need);
    w->at_once = r->p->c->values ? set_memory_new(r->p->c->values, r->a) : NULL;
    w->below = arena_array(r->a, ((size_t)g->n + 1) * r->uword, sizeof *w->below);
}

uint32_t label_put(struct label_run *r, uint32_t v, uint32_t *list, uint32_t n)
{
    assert(!bits_have(r->bits, v) && r->missing[v] == 0);
    const struct wdag *g = r->p->g;
    bits_add(r->bits, v);
    r->key ^= r->zobrist[v];
    r->card++;
    for_row (w, g->succ, v)
        if (--r->missing[w] == 0)
            list[n++] = w;
    return n;
}

void label_take_out(struct label_run *r, uint32_t v)
{
    assert(bits_have(r->bits, v) && r->card > 0);
    const struct wdag *g = r->p->g;
    bits_drop(r->bits, v);
    r->key ^= r->zobrist[v];
    r->card--;
    for_row (w, g->succ, v)
        r->missing[w]++;
}

/* Returns whether block v is in the ideal I. */
static bool in_ideal(const struct label_run *r, uint32_t v)
{
    return bits_have(r->ideals.bits + r->ideals.v[r->now].bits, v);
}

/* ---- S with and without a block -------------------------------------------------------------- */

/* Adds block v, which joins S, to w->held, and the transfers of its nets to w->set.in and w->set.out; a net whose
 * readers are now all in S is no longer transferred out. */
static void add_nets(struct label_run *r, uint32_t v)
{
    const struct latency_graph *p = r->p;
    struct label_walk *w = &r->walk;
    const int64_t *cost = p->kind[w->k].cost;
    for_row (e, p->net_of, v) {
        uint32_t src = p->g->net_src[e], held = ++w->held[e];
        if (src == v) /* v makes the value, which is sent out unless all its readers join S, too */
            w->set.out += cost[e];
        /* the value comes from outside S, and is transferred in once for all readers in S */
        else if (src == UINT32_MAX || in_ideal(r, src))
            w->set.in += held == 1 ? cost[e] : 0;
        else if (held == p->g->net_pin.at[e + 1] - p->g->net_pin.at[e] && !p->g->net_host[e])
            w->set.out -= cost[e];
    }
}

/* Adds a wait of I (label_state.h) to w->touched, the waits that S waits for.  wait: 1 + its number; 0: none, nothing
 * is added. */
static void add_wait(struct label_run *r, uint32_t wait)
{
    struct label_walk *w = &r->walk;
    if (!wait || w->is_touched[wait])
        return;
    w->is_touched[wait] = 1;
    w->touched[w->set.ntouched++] = wait;
}

/* Adds the bytes of block v, which joins S, to w->set.bytes. */
static void add_bytes(struct label_run *r, uint32_t v)
{
    const struct wdag *g = r->p->g;
    struct label_walk *w = &r->walk;
    w->set.bytes += g->size[v];
    if (w->at_once)
        set_memory_add(w->at_once, v);
    for_row (s, g->shared_of, v) {
        /* slots > 1: shared items are left out, as another subgraph of the accelerator may hold them */
        if (w->need[s]++ == 0 && r->p->slots == 1)
            w->set.bytes += g->shared_size[s];
    }
}

/* Takes block v of w->list into S: updates w->set, and appends the blocks that can come next only with v to the
 * list. */
static void take(struct label_run *r, uint32_t v)
{
    struct label_walk *w = &r->walk;
    const uint64_t *before = w->below + (size_t)w->depth * r->uword;
    uint64_t *below = w->below + (size_t)++w->depth * r->uword;
    memcpy(below, before, r->uword * sizeof *below);
    for (uint32_t x = r->p->first[v]; x < r->p->first[v + 1]; x++) {
        const uint64_t *more = r->unit_below + (size_t)x * r->uword;
        for (uint32_t i = 0; i < r->uword; i++)
            below[i] |= more[i];
        add_wait(r, r->waits.of[x]);
    }
    w->set.compute += r->p->kind[w->k].time[v];
    w->set.ends += r->ends[v];
    add_nets(r, v);
    add_bytes(r, v);
    w->set.end = label_put(r, v, w->list, w->set.end);
}

/* Undoes take() for block v, the last one taken, but leaves w->set to the caller.  before: w->set as it was without
 * v. */
static void undo_take(struct label_run *r, uint32_t v, const struct label_set *before)
{
    const struct latency_graph *p = r->p;
    struct label_walk *w = &r->walk;
    label_take_out(r, v);
    for_row (e, p->net_of, v)
        w->held[e]--;
    for_row (s, p->g->shared_of, v)
        w->need[s]--;
    if (w->at_once)
        set_memory_drop(w->at_once, v);
    while (w->set.ntouched > before->ntouched)
        w->is_touched[w->touched[--w->set.ntouched]] = 0;
    w->depth--;
}

/* Updates w->set.cut_out and .cut_tail for block v, which stays outside S: values from S to v are transferred out, and
 * if v comes after a block of S, v starts after the end of S. */
static void pass_over(struct label_run *r, uint32_t v)
{
    const struct latency_graph *p = r->p;
    struct label_walk *w = &r->walk;
    const uint64_t *below = w->below + (size_t)w->depth * r->uword;
    for_row (e, p->net_of, v) {
        uint32_t src = p->g->net_src[e];
        if (src == UINT32_MAX || !w->held[e] || in_ideal(r, src) || w->is_cut[e])
            continue;
        w->is_cut[e] = 1;
        w->cut_list[w->set.ncut++] = e;
        w->set.cut_out += p->kind[w->k].cost[e];
    }
    for (uint32_t x = p->first[v]; x < p->first[v + 1]; x++)
        if (bits_have(below, x)) {
            int64_t tail = label_tail(r, x);
            w->set.cut_tail = larger(w->set.cut_tail, tail);
        }
}

/* Clears is_cut of the nets behind the first ncut of cut_list. */
static void forget_cuts(struct label_walk *w, uint32_t ncut)
{
    while (w->set.ncut > ncut)
        w->is_cut[w->cut_list[--w->set.ncut]] = 0;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Appends to w->alive the labels that S may extend, and sets w->set.from and .n: the labels that could be extended by
 * S without its last block (before), except those for which S has too many bytes or no plan with S can end before
 * r->limit. */
static void keep_alive(struct label_run *r, const struct label_set *before)
{
    struct label_walk *w = &r->walk;
    uint32_t from = before->from + before->n;
    w->alive = vec_grow(r->a, w->alive, &w->capalive, from + before->n + 1, sizeof *w->alive);
    w->set.from = from;
    w->set.n = 0;
    for (uint32_t i = 0; i < before->n; i++) {
        struct live_label one = w->alive[before->from + i];
        const int64_t *time = r->time + (size_t)one.label * r->waits.n;
        for (uint32_t j = before->ntouched; j < w->set.ntouched; j++)
            one.start = larger(one.start, time[w->touched[j] - 1]);
        if (one.start + w->set.rest < r->limit && w->set.bytes <= one.room)
            w->alive[from + w->set.n++] = one;
    }
    /* counts the labels looked at, and the words that take() joined */
    r->steps += before->n + 1 + r->uword / 4;
}

/* Compares lanes a and b (label_state.h): returns a number < 0, 0 or > 0, as a is sorted before, with or after b. */
static int compare_lanes(const int64_t *a, const int64_t *b)
{
    for (uint32_t i = 0; i < LANE_NUMBERS; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Writes to `to` a label's lanes, sorted: the lanes `from` of the label before, but S has run on lane number `lane`
 * and ended at `end` ps. */
static void write_lanes(const struct label_run *r, const int64_t *from, uint32_t lane, int64_t end,
                        int64_t *to)
{
    assert(r->lanes && end >= 0);
    const struct accelerators *k = &r->p->kind[r->walk.k];
    int64_t *at = to + (size_t)lane * LANE_NUMBERS;
    memcpy(to, from, r->lanes * sizeof *to);
    at[LANE_FREE] = end;
    at[LANE_BYTES] += k->memory < LOAD_INF ? r->walk.set.bytes : 0;
    if (++at[LANE_SLOTS] == r->p->slots)
        at[LANE_SLOTS] = at[LANE_FREE] = at[LANE_BYTES] = LANE_FULL;
    /* the lane's numbers have only grown, so it moves towards the end of the lanes of its kind */
    for (uint32_t i = lane; i + 1 < k->at + k->count; i++, at += LANE_NUMBERS) {
        int64_t one[LANE_NUMBERS];
        if (compare_lanes(at, at + LANE_NUMBERS) <= 0)
            break;
        memcpy(one, at, sizeof one);
        memcpy(at, at + LANE_NUMBERS, sizeof one);
        memcpy(at + LANE_NUMBERS, one, sizeof one);
    }
}

/* Extends `one`, a label of I with the accelerator for S, by S, and adds the new label to ideal number `ideal`, which
 * is I + S. Does not add it if no plan that extends it can take less than r->limit ps.  t[i]: the ps at which the live
 * units of front i (label_state.h) have all ended.  least: the largest of the latest end of units without successors,
 * the end of S, and t[i] plus the tail of front i. */
static void extend(struct label_run *r, const struct live_label *one, uint32_t ideal)
{
    assert(one->label < r->ideals.v[r->now].nlabel);
    const struct label_walk *w = &r->walk;
    const struct label_ideal *o = &r->ideals.v[ideal];
    const struct front *front = r->ideals.front + o->fronts;
    const struct latency_label *from = label_at(r, r->now, one->label);
    const int64_t *time = r->time + (size_t)one->label * r->waits.n;
    const uint64_t *below = w->below + (size_t)w->depth * r->uword;
    int64_t end = one->start + w->set.in + w->set.compute + w->set.out;
    struct latency_label *to = r->fresh;
    to->done = w->set.ends ? larger(from->done, end) : from->done;
    to->least = larger(to->done, end);
    for (uint32_t i = 0; i < o->nfront; i++) {
        uint32_t wait = r->waits.of[front[i].unit];
        int64_t t = wait ? time[wait - 1] : 0;
        /* the front's unit waits for its wait in I, and for S if the unit depends on S */
        to->t[i] = bits_have(below, front[i].unit) ? larger(t, end) : t;
        to->least = larger(to->least, to->t[i] + front[i].tail);
        if (to->least >= r->limit)
            return;
    }
    to->used = from->used;
    if (r->lanes)
        write_lanes(r, from->t + r->ideals.v[r->now].nfront, one->lane, end, to->t + o->nfront);
    else
        to->used += UINT64_C(1) << r->p->c->kind[r->p->kind[w->k].of].shift;
    to->ideal = r->now;
    to->index = one->label;
    to->kind = (uint16_t)w->k;
    to->lane = (uint16_t)one->lane;
    label_add(r, ideal);
}

/* Returns whether some unit outside I + S that reads from S needs at least `left` ps from its start to the end of the
 * plan. */
static bool comes_late(const struct label_run *r, int64_t left)
{
    const struct latency_graph *p = r->p;
    const struct label_walk *w = &r->walk;
    for (uint32_t c = w->nchoice; c-- > 0;) {
        if (!w->choice[c].taken)
            continue;
        uint32_t v = w->list[w->choice[c].at];
        for (uint32_t i = p->succ.at[p->first[v]]; i < p->succ.at[p->first[v + 1]]; i++) {
            uint32_t x = p->succ.to[i];
            if (!bits_have(r->bits, p->block[x]) &&
                (r->t->least[x] >= left || label_tail(r, x) >= left))
                return true;
        }
    }
    return false;
}

/* Returns whether the accelerator for S has room for what S has at one time, when it runs S after `one`. */
static bool has_room(const struct label_run *r, const struct live_label *one)
{
    const struct label_walk *w = &r->walk;
    const struct accelerators *k = &r->p->kind[w->k];
    int64_t room = r->p->c->kind[k->of].room;
    /* bytes of earlier subgraphs on the accelerator */
    int64_t before = k->memory < LOAD_INF ? k->memory - one->room : 0;
    return !w->at_once || w->set.bytes + set_memory_peak(w->at_once) <= room - before;
}

/* Extends by S all labels that S may extend (w->alive) and that leave room for it, unless the result cannot take less
 * than r->limit ps.  If there is no room for S, the walk still adds blocks to S: a larger set may have room, since
 * values that S would send to the added blocks then stay inside the set. */
static void extend_all(struct label_run *r)
{
    const struct label_walk *w = &r->walk;
    /* first: the earliest start of S after these labels */
    int64_t time = w->set.in + w->set.compute + w->set.out, first = LOAD_INF;
    for (uint32_t i = 0; i < w->set.n; i++)
        if (has_room(r, &w->alive[w->set.from + i]))
            first = smaller(first, w->alive[w->set.from + i].start);
    if (first + time + w->set.cut_tail >= r->limit)
        return;
    /* counts about the work of label_find() for I + S, and of comes_late() */
    r->steps += 2 + r->nword / 4 + w->nchoice / 8;
    uint32_t ideal = label_find(r);
    /* an ideal I + S that is not stored yet is stored only if some label may be extended to it; for a stored ideal
     * extend() finds that out by its fronts */
    if (!ideal && comes_late(r, r->limit - first - time))
        return;
    if (!ideal)
        ideal = label_intern(r);
    for (uint32_t i = 0; i < w->set.n; i++)
        if (w->alive[w->set.from + i].start + time + w->set.cut_tail < r->limit &&
            has_room(r, &w->alive[w->set.from + i]))
            extend(r, &w->alive[w->set.from + i], ideal);
}

/* Makes S empty, and w->alive the labels of I that have an accelerator of kind k left.  With lanes (slots > 1): one
 * entry for each accelerator that has a slot left; of equal accelerators, which stand side by side, only the first. */
static void start_alive(struct label_run *r, uint32_t k)
{
    struct label_walk *w = &r->walk;
    const struct accelerators *kind = &r->p->kind[k];
    const struct problem_kind *of = &r->p->c->kind[kind->of];
    uint32_t nlabel = r->ideals.v[r->now].nlabel, nfront = r->ideals.v[r->now].nfront;
    w->set = (struct label_set){.compute = r->p->part};
    w->alive = vec_grow(r->a, w->alive, &w->capalive, nlabel * (r->lanes ? kind->count : 1) + 1,
                        sizeof *w->alive);
    for (uint32_t i = 0; i < nlabel; i++) {
        const struct latency_label *l = label_at(r, r->now, i);
        if (!r->lanes) {
            uint64_t used = l->used >> of->shift & ((UINT64_C(1) << of->width) - 1);
            if (used < kind->count)
                w->alive[w->set.n++] = (struct live_label){.label = i, .room = kind->memory};
            continue;
        }
        const int64_t *lane = l->t + nfront + (size_t)kind->at * LANE_NUMBERS;
        for (uint32_t j = 0; j < kind->count; j++, lane += LANE_NUMBERS) {
            bool same = j > 0 && compare_lanes(lane - LANE_NUMBERS, lane) == 0;
            if (lane[LANE_SLOTS] == LANE_FULL || same)
                continue;
            int64_t room = kind->memory < LOAD_INF ? kind->memory - lane[LANE_BYTES] : LOAD_INF;
            w->alive[w->set.n++] = (struct live_label){
                .label = i, .lane = kind->at + j, .start = lane[LANE_FREE], .room = room};
        }
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Notes the decision on block list[at], and goes on to the next block.  before: w->set before the decision. */
static void decide(struct label_run *r, bool taken, const struct label_set *before)
{
    struct label_walk *w = &r->walk;
    w->choice = vec_grow(r->a, w->choice, &w->capchoice, w->nchoice + 1, sizeof *w->choice);
    w->choice[w->nchoice++] = (struct label_choice){w->at, taken, *before};
    w->at++;
}

/* Takes block list[at] into S and extends labels by S, if there is a label that S may then extend; else leaves S as
 * it was.  Returns whether the block was taken. */
static bool try_take(struct label_run *r)
{
    struct label_walk *w = &r->walk;
    uint32_t v = w->list[w->at], k = w->k;
    struct label_set before = w->set;
    if (r->p->kind[k].time[v] == COST_NEVER)
        return false;
    take(r, v);
    int64_t now = w->set.in + w->set.compute;
    /* room: bytes that S has left for v and later blocks.  after: lower bound on the time from the end of v to the end
     * of the plan, with that room */
    int64_t room = r->p->kind[k].memory - w->set.bytes + r->p->g->size[v];
    int64_t after = latency_tail_on(r->t, k, v, room) - r->p->kind[k].time[v];
    w->set.rest = larger(w->set.rest, now + larger(after, w->set.cut_out + w->set.cut_tail));
    keep_alive(r, &before);
    if (w->set.n) {
        decide(r, /*taken=*/true, &before);
        extend_all(r);
        return true;
    }
    undo_take(r, v, &before);
    w->set = before;
    return false;
}

/* Leaves block list[at] out of S, and goes on to the next block. */
static void skip(struct label_run *r)
{
    struct label_walk *w = &r->walk;
    struct label_set before = w->set;
    pass_over(r, w->list[w->at]);
    w->set.rest =
        larger(w->set.rest, w->set.in + w->set.compute + w->set.cut_out + w->set.cut_tail);
    decide(r, /*taken=*/false, &before);
    r->steps++;
}

/* Undoes all decisions back to the last block that was taken, and leaves that block out of S instead.  Returns false
 * if no block was taken: all sets have been met. */
static bool go_back(struct label_run *r)
{
    struct label_walk *w = &r->walk;
    while (w->nchoice) {
        struct label_choice *c = &w->choice[--w->nchoice];
        forget_cuts(w, c->before.ncut);
        w->at = c->at;
        bool taken = c->taken;
        if (taken)
            undo_take(r, w->list[c->at], &c->before);
        w->set = c->before;
        if (taken) {
            skip(r);
            return true;
        }
    }
    return false;
}

void label_walk_kind(struct label_run *r, uint32_t k)
{
    assert(k < r->p->nkind);
    struct label_walk *w = &r->walk;
    w->k = k;
    w->at = w->depth = 0;
    w->nchoice = 0;
    memset(w->below, 0, r->uword * sizeof *w->below);
    start_alive(r, k);
    if (!w->set.n)
        return;
    for (uint32_t v = 0; v < r->p->g->n; v++)
        if (!r->missing[v] && !bits_have(r->bits, v))
            w->list[w->set.end++] = v;
    /* in each turn, decides on all blocks left in the list, and then goes back to the last block taken.  If the search
     * must stop (r->why), only goes back, so that S is empty at the end */
    do {
        while (w->at < w->set.end && !r->why) {
            if (!try_take(r))
                skip(r);
            if (r->steps >= r->check)
                label_check(r);
        }
    } while (go_back(r));
}
