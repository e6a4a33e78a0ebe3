/* Chooses an option for each node (shard.h): dynamic programming over the values that are still read.
 *
 * Nodes are taken in their order.  A table has, for each set of states in which these values may be there on all
 * devices, the least time to get there; a node extends each entry by each of its options and pays what the operands
 * lack.  All devices do the same at the same time, so the time is that of one device, computing and exchanges one
 * after the other.  An entry goes if a cheaper one is in no worse a position: converting its values costs no more than
 * the difference.  A first pass with few entries gives a time to beat; in the second one entries go whose time and the
 * least times of the nodes to come exceed it.  What is whole serves for terms: each option that takes terms of one
 * operand has one that takes it whole, takes no longer and makes the result whole or in terms, too; so terms of which
 * the sum is there are forgotten.  All that keeps a best choice; a best choice is lost only where a table has more
 * than ENTRIES entries (fewer while the pass takes more work than LOOKS: about a second), or more than SLOTS values are
 * alive, and then the choice is not called exact: the least of the entries that were dropped, each with the least times
 * of the nodes to come, is a bound of all choices.
 *
 * What the first device alone computes (a random node, one that reads or makes a state that stays whole) is sent to the
 * others only where they need it: a node that reads it can be on the first device alone, too, as can what reads that.
 * Nodes that tell sizes (Shape, Size) are where the maker of their operand is, also if others have got the operand.
 *
 * The search by tables of living tensors is that of nnScaler (OSDI 2024), spmd_solver.py. O(nodes * entries *
 * (options * values alive + NEAREST * values alive)). */
#include "passes/shard/shard.h"

#include "ir/base/numbers.h"
#include "ir/base/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 30,       /* most entries in the first pass */
    FEWEST = 8,     /* most entries in the first pass where it takes too much work */
    ENTRIES = 4096, /* most entries in the second pass */
    SLOTS = 128,    /* the most values that are followed at once */
    NEAREST = 24,   /* number of entries that an entry is compared with */
    /* number of states of values that a pass may compare, which takes about a second of CPU */
    LOOKS = 100000000,
    /* before pruning, a table may have UNPRUNED times as many entries as after it */
    UNPRUNED = 8,
    WORD = 4, /* number of slots that fit a uint64_t; divides SLOTS */
    /* times of exchanges are kept for values with at most KEPT_BITS states */
    KEPT_BITS = 4,
    /* bit of the state "the first device alone has the value, whole" */
    ALONE_BIT = 15,
    ALONE = 1 << ALONE_BIT,
    WHOLE_ONE_IN = 8 /* shard_draw(): one of WHOLE_ONE_IN nodes stays whole though it has options */
};

/* Number of the option that the first device alone computes the node, whole. */
static const uint32_t ALONE_OPTION = UINT32_MAX;

/* A step of the search, in which an entry came about: one node is taken. */
struct step {
    uint32_t before; /* index in table.step of the step in which the node before was taken */
    uint32_t option; /* the option that is taken for the step's node */
};

/* An entry of the table. */
struct entry {
    int64_t time;    /* ps of the nodes taken so far, and of their exchanges */
    int64_t settled; /* ps: what settled() returns; set only where a table is cut down */
    /* index in table.step: the step that took the last node; UINT32_MAX: none was taken */
    uint32_t step;
    /* [slot] the states in which the slot's value is there, as bits; 0 in slots that are not in use, up to the next
     * multiple of WORD */
    uint16_t have[SLOTS];
};

/* An exchange of a value that was asked for before: what shard_exchange() returned, and wrote to *also. */
struct kept_move {
    int64_t time; /* -1: not known yet */
    uint32_t also;
};

/* What is kept of the exchanges of the value in a slot. */
struct slot_moves {
    uint8_t bits;  /* number of the value's states if that is at most KEPT_BITS, else 0 */
    uint8_t terms; /* the bit of its terms; 0: none */
    /* ps to send what later nodes tell of the value's sizes (Shape, Size) to the other devices, if the first device
     * alone has the value; 0: no later node tells them; SHARD_NEVER: find_measured() */
    int64_t sizes;
    struct kept_move kept[1 << KEPT_BITS][KEPT_BITS]; /* [have][want] unless bits is 0 */
};

/* The table and what is known of the values that are alive. */
struct table {
    struct shard *s;
    struct clock *clock; /* of the search; NULL: it has none */
    vid live[SLOTS];     /* [nlive] the values */
    uint32_t nlive;
    struct slot_moves *move; /* [slot] what is kept of the exchanges of the slot's value */
    /* [value] 1 + its slot; 0: the value is not followed, but whole on all devices */
    uint32_t *slot;
    uint8_t *alone; /* [value] 1: the first device alone may have it */
    int64_t *sizes; /* [value] ps of sending what nodes tell of its sizes */
    nid *last;      /* [value] its last reader, in the order of nodes; 0: nothing reads the value */
    struct entry *now, *next;   /* the present table, and the next one */
    uint32_t n, nnext, cap;     /* their numbers of entries; each has room for `cap` */
    uint32_t most, widest_most; /* how many entries the next table may have, and any table */
    uint64_t looks;             /* number of states of values that this pass has compared */
    uint32_t taken;             /* number of nodes that this pass has taken */
    struct step *step;
    uint32_t nstep, capstep;
    int64_t *rest; /* [node] ps: the least times of all nodes behind it */
    int64_t beat;  /* ps: entries that cannot lead to less are left out */
    bool lost;     /* entries were dropped that may have been best */
    int64_t least; /* ps: no choice takes less by way of a dropped entry */
    uint32_t widest;
    uint32_t *bucket; /* [nbucket] 1 + index in next, a hash table by states */
    uint32_t nbucket;
    uint32_t *used; /* [nused] the buckets that are not 0 */
    uint32_t nused;
};

/* ---- values ------------------------------------------------------------------------------------- */

/* Whether a node's operand is of no matter for the choice: there is none, or it is a constant. */
static bool is_free(const struct shard *s, vid v)
{
    return v == 0 || shard_is_constant(s, v);
}

/* Whether v, a value of the main graph, may be in another state than whole.  useful: as by useful_values(). */
static bool has_choice(const struct shard *s, vid v, const uint8_t *useful)
{
    return useful[v] != 0 && s->m->value[v].graph == 1;
}

/* Returns an array: [value] 1: an option that is left has it cut or in terms, and it is no constant, or the devices
 * keep pieces of it. */
static uint8_t *useful_values(const struct shard *s)
{
    uint8_t *useful = arena_alloc(s->a, s->m->nval);
    for (uint32_t o = 1; o < s->nopt; o++) {
        const struct shard_option *p = &s->opt[o];
        for (uint32_t i = 0; i < shard_nvalue(s->m, p->node) && !p->gone; i++) {
            vid v = shard_value_at(s->m, p->node, i);
            useful[v] = useful[v] || (p->in[i].run != 0 && !is_free(s, v));
        }
    }
    for (vid v = 1; v < s->m->nval; v++)
        useful[v] = useful[v] || s->kept[v].run != 0;
    return useful;
}

/* Prepares what is kept of the exchanges of v, which gets slot number `slot`. */
static void begin_slot(struct table *t, uint32_t slot, vid v)
{
    uint32_t bits = 1;
    for (uint32_t i = t->s->first_item[v]; i != 0; i = t->s->item[i].next)
        bits++;
    t->move[slot].bits = bits <= KEPT_BITS ? (uint8_t)bits : 0;
    t->move[slot].terms = (uint8_t)shard_moves_of(t->s, v)->terms;
    t->move[slot].sizes = t->sizes[v];
    for (uint32_t have = 0; have < 1u << t->move[slot].bits; have++)
        for (uint32_t want = 0; want < t->move[slot].bits; want++)
            t->move[slot].kept[have][want].time = -1;
}

/* Returns what shard_exchange() returns for the value in slot number `slot`. */
static int64_t exchange(const struct table *t, uint32_t slot, uint32_t have, uint32_t want,
                        uint32_t *also)
{
    if (t->move[slot].bits == 0)
        return shard_exchange(t->s, t->live[slot], have, want, also);
    struct kept_move *k = &t->move[slot].kept[have][want];
    if (k->time < 0)
        k->time = shard_exchange(t->s, t->live[slot], have, want, &k->also);
    *also = k->also;
    return k->time;
}

/* Returns the least ps of bringing the value in slot number `slot`, which is there in the states *have, to the state
 * with bit `want`; updates *have. */
static int64_t reach(const struct table *t, uint32_t slot, uint32_t *have, uint32_t want)
{
    int64_t time = 0;
    uint32_t also;
    if ((*have & (ALONE | 1u)) == ALONE)
        time = shard_send(t->s, t->live[slot]);
    if ((*have & ALONE) != 0)
        *have = (*have & ~(uint32_t)ALONE) | 1u;
    /* whole on all devices serves for whole on the first one */
    want = want == ALONE_BIT ? 0 : want;
    if ((*have >> want & 1) != 0)
        return time;
    time = sat_add(time, exchange(t, slot, *have, want, &also));
    *have |= also | UINT32_C(1) << want;
    return time;
}

/* Follows value v from now on, unless it is followed or can only be whole.  An input is in all entries as the devices
 * keep it; a result is whole until extend() says otherwise.  If there is no slot for v, sets t->lost: the search misses
 * choices, and no bound of their times is known (t->least is 0). */
static void follow(struct table *t, vid v, const uint8_t *useful)
{
    const bool choice = has_choice(t->s, v, useful);
    if (t->slot[v] != 0 || (!choice && t->alone[v] == 0))
        return;
    if (t->nlive == SLOTS && !choice)
        return; /* it is sent to all devices at once */
    if (t->nlive == SLOTS) {
        t->lost = true;
        t->least = 0;
        return;
    }
    struct shard_state first = t->s->m->value[v].def == 0 ? t->s->kept[v] : (struct shard_state){0};
    for (uint32_t i = 0; i < t->n; i++) {
        /* the slots up to the next multiple of WORD are not in use */
        if (t->nlive % WORD == 0)
            memset(&t->now[i].have[t->nlive], 0, WORD * sizeof *t->now[i].have);
        t->now[i].have[t->nlive] = (uint16_t)(1u << shard_bit(t->s, v, first));
    }
    begin_slot(t, t->nlive, v);
    t->live[t->nlive++] = v;
    t->slot[v] = t->nlive;
}

/* ---- entries ------------------------------------------------------------------------------------ */

/* Returns the number of slots in use, rounded up to a multiple of WORD. */
static uint32_t words_of(const struct table *t)
{
    return (t->nlive + WORD - 1) / WORD * WORD;
}

/* Returns a hash of the states of an entry. */
static uint32_t hash_of(const struct entry *e, uint32_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ e->have[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

/* Empties the hash table.  O(its entries). */
static void clear_buckets(struct table *t)
{
    while (t->nused > 0)
        t->bucket[t->used[--t->nused]] = 0;
}

/* Sets bucket number `at`, which is empty. */
static void set_bucket(struct table *t, uint32_t at, uint32_t to)
{
    t->bucket[at] = to;
    t->used[t->nused++] = at;
}

/* Notes that entry e of the table behind node n is dropped. */
static void drop(struct table *t, const struct entry *e, nid n)
{
    t->lost = true;
    t->least = smaller(t->least, sat_add(e->time, t->rest[n]));
}

/* Adds entry e, which takes node n by `option`, to the next table.  If an entry with the same states is there, the
 * quicker one stays.  Leaves e out if it cannot be below t->beat, and drops it if the table is full. */
static void keep(struct table *t, const struct entry *e, nid n, uint32_t option)
{
    const size_t size = t->nlive * sizeof *e->have;
    uint32_t at = hash_of(e, t->nlive) & (t->nbucket - 1), found = 0;
    if (e->time == SHARD_NEVER || sat_add(e->time, t->rest[n]) > t->beat)
        return;
    while (t->bucket[at] != 0 && found == 0) {
        if (memcmp(t->next[t->bucket[at] - 1].have, e->have, size) == 0)
            found = t->bucket[at];
        else
            at = (at + 1) & (t->nbucket - 1);
    }
    if (found != 0 && t->next[found - 1].time <= e->time)
        return;
    if (found == 0) {
        if (t->nnext == t->cap) {
            drop(t, e, n);
            return;
        }
        found = ++t->nnext;
        set_bucket(t, at, found);
    }
    t->step = vec_grow(t->s->a, t->step, &t->capstep, t->nstep + 1, sizeof *t->step);
    t->step[t->nstep] = (struct step){e->step, option};
    memcpy(t->next[found - 1].have, e->have, words_of(t) * sizeof *e->have);
    t->next[found - 1].time = e->time;
    t->next[found - 1].step = t->nstep++;
}

/* Brings value v of entry e to state st and adds the time.  Returns whether that takes an exchange. */
static bool bring(struct table *t, struct entry *e, vid v, struct shard_state st)
{
    uint32_t also, slot = t->slot[v];
    int bit = shard_bit(t->s, v, st);
    if (is_free(t->s, v) || (slot == 0 && bit == 0))
        return false;
    uint32_t have =
        slot != 0 ? e->have[slot - 1] : 1; /* 1: whole, as are values that are not followed */
    if ((have >> bit & 1) != 0)
        return false;
    if ((have & (ALONE | 1)) == ALONE) {
        e->time = sat_add(e->time, shard_send(t->s, v));
        /* nodes that tell sizes must know where the value was made */
        e->have[slot - 1] = t->move[slot - 1].sizes != 0 ? ALONE | 1 : 1;
        have |= 1;
        if (bit == 0)
            return true;
    }
    have &= ~(uint32_t)ALONE;
    e->time = sat_add(e->time, slot != 0 ? exchange(t, slot - 1, have, (uint32_t)bit, &also)
                                         : shard_exchange(t->s, v, have, (uint32_t)bit, &also));
    if (slot == 0 || e->time == SHARD_NEVER)
        return true;
    e->have[slot - 1] |= (uint16_t)also;
    /* a whole value serves where terms are wanted, so the terms are forgotten */
    uint32_t terms = t->move[slot - 1].terms;
    if (terms != 0 && (e->have[slot - 1] & 1) != 0)
        e->have[slot - 1] &= (uint16_t)~(1u << terms);
    return true;
}

/* Whether the first device has value v of entry e whole, though others may not. */
static bool is_on_first(const struct table *t, const struct entry *e, vid v)
{
    return t->slot[v] == 0 || (e->have[t->slot[v] - 1] & (ALONE | 1)) != 0;
}

/* Whether each device has value v of entry e, or a part of it. */
static bool is_on_all(const struct table *t, const struct entry *e, vid v)
{
    return t->slot[v] == 0 || (e->have[t->slot[v] - 1] & (ALONE | 1)) != ALONE;
}

/* Notes in entry e how node n, by option o (alone: on the first device alone), makes its result v, and adds the time of
 * sending it to others, or of joining it, if that must be at once. */
static void make_result(struct table *t, struct entry *e, nid n, uint32_t o, bool alone, vid v)
{
    struct shard *s = t->s;
    const bool output = (s->m->value[v].flags & VALUE_OUTPUT) != 0;
    struct shard_state st = o != 0 ? s->opt[o].out[s->m->value[v].outno] : (struct shard_state){0};
    if (alone && t->slot[v] != 0 && t->alone[v] != 0) {
        e->have[t->slot[v] - 1] = (uint16_t)ALONE;
        return; /* outputs are needed on the first device */
    }
    if ((alone || s->kind[n] == SHARD_ONCE) && t->last[v] != 0)
        e->time = sat_add(e->time, shard_send(s, v));
    if (t->slot[v] != 0)
        e->have[t->slot[v] - 1] = (uint16_t)(1u << shard_bit(s, v, st));
    else if (st.run != 0) { /* it cannot be followed: joined at once */
        uint32_t also;
        e->time = sat_add(e->time, shard_exchange(s, v, 1u << shard_bit(s, v, st), 0, &also));
    }
    if (t->slot[v] != 0 && output)
        bring(t, e, v, s->kept[v]); /* outputs that are no states are kept whole */
}

/* Extends entry `from` by node n with option o (0: whole; ALONE_OPTION), and adds that to the next table. */
static void extend(struct table *t, const struct entry *from, nid n, uint32_t option)
{
    struct shard *s = t->s;
    const struct node *k = &s->m->node[n];
    const bool alone = option == ALONE_OPTION || (s->kind[n] == SHARD_ONCE && s->home[n] == 0);
    const uint32_t o = option == ALONE_OPTION ? 0 : option;
    const struct shard_option *p = &s->opt[o];
    struct entry e;
    e.time = from->time;
    e.step = from->step;
    memcpy(e.have, from->have, words_of(t) * sizeof *e.have);
    bool exchanged = false;
    for (uint32_t i = 0; i < k->in.n; i++) {
        vid v = node_in(s->m, n, i);
        if (v == 0 || (alone && is_on_first(t, &e, v)))
            continue;
        /* nodes that tell sizes measure what the device has, in any state, if each has something of the value */
        if (node_tells_sizes(s->m, n) && is_on_all(t, &e, v))
            continue;
        exchanged |= bring(t, &e, v, o != 0 && i < k->nformal ? p->in[i] : (struct shard_state){0});
    }
    if (exchanged)
        e.time = sat_add(e.time, s->extra[n].apart);
    e.time = sat_add(e.time, o != 0 ? p->time : shard_whole_time(s, n));
    for (uint32_t i = 0; i < k->out.n; i++)
        if (node_out(s->m, n, i) != 0)
            make_result(t, &e, n, o, alone, node_out(s->m, n, i));
    keep(t, &e, n, option);
}

/* Whether the first device alone may compute node n, which all devices may share: no state in pieces forbids that, its
 * results could be sent to the others, and no node that is pinned to another device tells their sizes. */
static bool may_be_alone(const struct table *t, nid n)
{
    const struct shard *s = t->s;
    const struct module *m = s->m;
    bool may = s->kind[n] == SHARD_NODE && !s->must[n];
    for (uint32_t i = 0; i < m->node[n].out.n && may; i++) {
        vid v = node_out(m, n, i);
        may = v == 0 || (type_is_declarable(m, m->value[v].type) && t->sizes[v] != SHARD_NEVER);
    }
    return may;
}

/* Whether node n, which tells the sizes of its operand, must be on the first device alone in entry e: the operand was
 * made there. */
static bool measures_alone(const struct table *t, const struct entry *e, nid n)
{
    const uint32_t slot = t->slot[node_in(t->s->m, n, 0)];
    return slot != 0 && (e->have[slot - 1] & ALONE) != 0;
}

/* Whether some operand of node n is on the first device alone in entry e. */
static bool reads_alone(const struct table *t, const struct entry *e, nid n)
{
    const struct module *m = t->s->m;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        if (!is_on_all(t, e, node_in(m, n, i)))
            return true;
    }
    return false;
}

/* ---- dominance ---------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* Whether in some of four slots the first device alone has the value by the states a, but not by b. */
static bool is_more_alone(uint64_t a, uint64_t b)
{
    const uint64_t bits = (uint64_t)ALONE * UINT64_C(0x0001000100010001);
    return (a & ~b & bits) != 0;
}

/* Whether entry b is no better than a: a can get all that b has for the difference of their times. */
static bool is_dominated(struct table *t, const struct entry *a, const struct entry *b)
{
    int64_t time = a->time;
    t->looks += t->nlive;
    for (uint32_t i = 0; i < t->nlive && time <= b->time; i++) {
        uint64_t of_a, of_b; /* the states of the next slots */
        if (i % WORD == 0) {
            memcpy(&of_a, &a->have[i], sizeof of_a);
            memcpy(&of_b, &b->have[i], sizeof of_b);
            if ((of_b & ~of_a) == 0 && !is_more_alone(of_a, of_b)) { /* a has all that b has */
                i += WORD - 1;
                continue;
            }
        }
        uint32_t have = a->have[i];
        /* if only a has the value on the first device alone, nodes there that tell its sizes must send these to the
         * others */
        if ((have & ~(uint32_t)b->have[i] & ALONE) != 0)
            time = sat_add(time, t->move[i].sizes);
        for (uint32_t lacks = b->have[i] & ~have; lacks != 0; lacks = b->have[i] & ~have) {
            uint32_t want = (uint32_t)__builtin_ctz(lacks);
            bool is_terms = want != 0 && want == t->move[i].terms;
            time = sat_add(time, reach(t, i, &have, is_terms ? 0 : want));
            have |= UINT32_C(1) << want; /* a whole value serves where terms are wanted */
        }
    }
    return time <= b->time;
}

/* Counts a node as taken, and adapts the number of entries that tables may have.  Halves it, down to FEW (in the first
 * pass, which has no more than FEW, down to FEWEST), if the pass has compared more than is due: half of LOOKS at its
 * beginning, all of them at its end.  Else doubles it, up to t->widest_most. */
static void keep_pace(struct table *t)
{
    uint64_t due = LOOKS / 2 + (uint64_t)(LOOKS / 2) * ++t->taken / t->s->m->graph[1].count;
    if (t->looks > due)
        t->most = larger_u32(t->most / 2,
                             t->widest_most > FEW ? FEW : smaller_u32(t->widest_most, FEWEST));
    else
        t->most = smaller_u32(t->most * 2, t->widest_most);
}

/* Returns the time of entry e, and of making whole all values that later nodes read. */
static int64_t settled(struct table *t, const struct entry *e)
{
    int64_t time = e->time;
    for (uint32_t i = 0; i < t->nlive; i++) {
        uint32_t have = e->have[i];
        time = sat_add(time, reach(t, i, &have, 0));
    }
    t->looks += t->nlive;
    return time;
}

static int by_settled(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->settled != y->settled)
        return x->settled < y->settled ? -1 : 1;
    return by_time(a, b);
}

/* Drops all but t->most of the first n entries of the next table, behind node `at`, which are sorted by time.  Half of
 * those that stay are the first ones; the others take the least time if all values are made whole: by time alone,
 * entries that have put off their exchanges would crowd out all others. */
static void cut_down(struct table *t, uint32_t n, nid at)
{
    const uint32_t first = t->most / 2;
    for (uint32_t i = first; i < n; i++)
        t->next[i].settled = settled(t, &t->next[i]);
    qsort(t->next + first, n - first, sizeof *t->next, by_settled);
    for (uint32_t i = t->most; i < n; i++)
        drop(t, &t->next[i], at);
    qsort(t->next + first, t->most - first, sizeof *t->next, by_time);
}

/* Puts the next table, behind node `at`, in the place of the present one: sorted by time, without entries that another
 * one dominates, at most t->most. */
static void advance(struct table *t, nid at)
{
    struct entry *old = t->now;
    uint32_t n = 0;
    qsort(t->next, t->nnext, sizeof *t->next, by_time);
    for (uint32_t i = 0; i < t->nnext; i++) {
        bool worse = false;
        for (uint32_t j = 0; j < n && j < NEAREST && !worse; j++)
            worse = is_dominated(t, &t->next[j], &t->next[i]);
        if (!worse)
            t->next[n++] = t->next[i];
    }
    if (n > t->most)
        cut_down(t, n, at);
    n = smaller_u32(n, t->most);
    t->now = t->next;
    t->next = old;
    t->n = n;
    t->nnext = 0;
    t->widest = larger_u32(t->widest, n);
}

/* Stops following the values whose last reader is node n, and results of n that nothing reads. */
static void forget_dead(struct table *t, nid n)
{
    for (uint32_t i = 0; i < t->nlive;) {
        vid v = t->live[i];
        if (t->last[v] > n) {
            i++;
            continue;
        }
        t->nlive--;
        t->slot[v] = 0;
        for (uint32_t k = 0; k < t->n; k++) {
            t->now[k].have[i] = t->now[k].have[t->nlive];
            t->now[k].have[t->nlive] = 0;
        }
        t->live[i] = t->live[t->nlive];
        t->move[i] = t->move[t->nlive];
        if (i < t->nlive)
            t->slot[t->live[i]] = i + 1;
    }
}

/* ---- the search --------------------------------------------------------------------------------- */

/* Writes to t->rest the least times of the nodes behind each node, and to *floor those of all nodes. */
static void least_times(struct table *t, int64_t *floor)
{
    const struct shard *s = t->s;
    int64_t sum = 0;
    for (nid n = s->m->nnode; n-- > 1;) {
        t->rest[n] = sum;
        if (s->m->node[n].graph != 1 || (s->kind[n] != SHARD_NODE && s->kind[n] != SHARD_ONCE))
            continue;
        int64_t least = shard_whole_time(s, n);
        for (uint32_t o = s->first_opt[n]; o != 0 && s->kind[n] == SHARD_NODE; o = s->opt[o].next)
            least = smaller(least, s->opt[o].time);
        sum = sat_add(sum, least);
    }
    *floor = sum;
}

/* Removes entries that became equal when values were forgotten: hashes the table anew. */
static void merge_equal(struct table *t)
{
    uint32_t n = 0;
    clear_buckets(t);
    for (uint32_t i = 0; i < t->n; i++) { /* ascending by time: the first of equal ones is best */
        uint32_t at = hash_of(&t->now[i], t->nlive) & (t->nbucket - 1);
        bool found = false;
        while (t->bucket[at] != 0 && !found) {
            found = memcmp(t->now[t->bucket[at] - 1].have, t->now[i].have,
                           t->nlive * sizeof *t->now[i].have) == 0;
            at = (at + 1) & (t->nbucket - 1);
        }
        if (found)
            continue;
        t->now[n] = t->now[i];
        set_bucket(t, at, ++n);
    }
    t->n = n;
}

/* Returns the ps of sending what node n tells of the sizes of a value, at least 1. */
static int64_t sizes_time(const struct shard *s, nid n)
{
    return larger(shard_send(s, node_out(s->m, n, 0)), 1);
}

/* Notes that node n has told the sizes of its operand.  If no later node tells them, and all devices have the operand
 * now, forgets whether the first device alone has made it. */
static void forget_maker(struct table *t, nid n)
{
    const uint32_t slot = t->slot[node_in(t->s->m, n, 0)];
    if (slot == 0 || t->s->kind[n] != SHARD_NODE || t->move[slot - 1].sizes == SHARD_NEVER)
        return;
    t->move[slot - 1].sizes -= sizes_time(t->s, n);
    for (uint32_t i = 0; i < t->n && t->move[slot - 1].sizes == 0; i++)
        if ((t->now[i].have[slot - 1] & 1) != 0)
            t->now[i].have[slot - 1] &= (uint16_t)~ALONE;
}

/* Finds which values are measured by nodes that tell sizes: returns an array, [value] ps of sending what they tell; 0:
 * there are none; SHARD_NEVER: one of them is on another device than the first one. */
static int64_t *find_measured(const struct shard *s)
{
    const struct graph *g = &s->m->graph[1];
    int64_t *sizes = arena_array(s->a, s->m->nval, sizeof *sizes);
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (!node_tells_sizes(s->m, n))
            continue;
        const vid v = node_in(s->m, n, 0);
        if (s->kind[n] == SHARD_NODE)
            sizes[v] = sat_add(sizes[v], sizes_time(s, n));
        else if (s->kind[n] == SHARD_ONCE && s->home[n] != 0)
            sizes[v] = SHARD_NEVER;
    }
    return sizes;
}

/* Takes node n: follows its inputs and results, makes the table behind n by extending each entry by each option of n,
 * and then forgets the values that n was the last one to read. */
static void take(struct table *t, nid n, const uint8_t *useful)
{
    struct shard *s = t->s;
    const struct node *k = &s->m->node[n];
    for (uint32_t i = 0; i < k->in.n; i++) {
        vid v = node_in(s->m, n, i);
        if (v != 0 && s->m->value[v].def == 0)
            follow(t, v, useful);
    }
    for (uint32_t i = 0; i < k->out.n; i++)
        if (node_out(s->m, n, i) != 0)
            follow(t, node_out(s->m, n, i), useful);
    clear_buckets(t);
    const bool alone = may_be_alone(t, n), sizes = node_tells_sizes(s->m, n);
    for (uint32_t i = 0; i < t->n; i++) {
        /* whether n must be on the first device alone */
        const bool must = alone && sizes && measures_alone(t, &t->now[i], n);
        if (!s->must[n] && !must)
            extend(t, &t->now[i], n, 0);
        if (must || (alone && !sizes && reads_alone(t, &t->now[i], n)))
            extend(t, &t->now[i], n, ALONE_OPTION);
        for (uint32_t o = s->kind[n] == SHARD_NODE ? s->first_opt[n] : 0; o != 0;
             o = s->opt[o].next)
            if (!s->opt[o].gone)
                extend(t, &t->now[i], n, o);
    }
    advance(t, n);
    if (sizes)
        forget_maker(t, n);
    keep_pace(t);
    forget_dead(t, n);
    if (t->n > 1)
        merge_equal(t);
}

/* Returns an array, [value] 1: the first device alone may have the value: the value's maker is a SHARD_ONCE node there,
 * or may run there (may_be_alone) and has such an operand. */
static uint8_t *alone_values(const struct table *t)
{
    const struct shard *s = t->s;
    const struct graph *g = &s->m->graph[1];
    uint8_t *alone = arena_alloc(s->a, s->m->nval);
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool some = s->kind[n] == SHARD_ONCE && s->home[n] == 0;
        const bool may = may_be_alone(t, n);
        for (uint32_t i = 0; i < s->m->node[n].in.n && may; i++)
            some = some || alone[node_in(s->m, n, i)] != 0;
        for (uint32_t i = 0; i < s->m->node[n].out.n; i++)
            if (node_out(s->m, n, i) != 0)
                alone[node_out(s->m, n, i)] = some;
    }
    return alone;
}

/* Whether the pass is to end since the clock is out.  It ends only if an earlier pass has found choice c; nothing is
 * then known of the choices that are left (t->lost, t->least 0).  Otherwise it goes on, with tables of one entry, the
 * best so far. */
static bool is_late(struct table *t, const struct shard_choice *c)
{
    if (!clock_out(t->clock))
        return false;
    t->most = t->widest_most = 1;
    if (c->value < 0)
        return false;
    t->lost = true;
    t->least = 0;
    return true;
}

/* Tells the listener how far the pass is, and the value of choice c of an earlier pass (-1: there is none). */
static void tell(const struct table *t, const struct shard_choice *c)
{
    if (t->clock != NULL)
        listener_tell(t->clock->listener,
                      (struct progress){
                          .phase = "choosing pieces",
                          .done = (uint32_t)((uint64_t)t->taken * 1000 / t->s->m->graph[1].count),
                          .value = larger(c->value, 0)});
}

/* Runs over all nodes with tables of at most `most` entries; writes the best choice and its value to *c, unless no
 * entry is left, the choice of an earlier pass in *c (value -1: there is none) is as good, or that pass has used up the
 * time. */
static void run(struct table *t, uint32_t most, const uint8_t *useful, struct shard_choice *c)
{
    const struct module *m = t->s->m;
    const struct graph *g = &m->graph[1];
    t->most = t->widest_most = most;
    t->looks = t->taken = 0;
    t->cap = most * UNPRUNED;
    t->nbucket = 1; /* a power of two */
    while (t->nbucket < t->cap * 2)
        t->nbucket *= 2;
    t->now = arena_array(t->s->a, t->cap + 1, sizeof *t->now);
    t->next = arena_array(t->s->a, t->cap + 1, sizeof *t->next);
    t->bucket = arena_array(t->s->a, t->nbucket, sizeof *t->bucket);
    t->used = arena_array(t->s->a, t->cap + 1, sizeof *t->used);
    t->nused = 0;
    t->lost = false;
    t->least = INT64_MAX;
    t->widest = t->nstep = 0;
    t->n = 1;
    t->nlive = 0;
    /* a pass that ended with no entry left has still followed values */
    memset(t->slot, 0, t->s->m->nval * sizeof *t->slot);
    t->now[0] = (struct entry){.step = UINT32_MAX};
    for (nid n = g->first; n < g->first + g->count && t->n > 0; n++) {
        if (t->s->kind[n] != SHARD_NODE && t->s->kind[n] != SHARD_ONCE)
            continue;
        if (is_late(t, c))
            return;
        take(t, n, useful);
        tell(t, c);
    }
    if (t->n == 0 || (c->value >= 0 && t->now[0].time >= c->value))
        return;
    c->value = t->now[0].time;
    /* each node that was taken has one step: follow the steps back from the last node */
    uint32_t at = t->now[0].step;
    for (nid n = g->first + g->count; n-- > g->first;) {
        if (t->s->kind[n] != SHARD_NODE && t->s->kind[n] != SHARD_ONCE)
            continue;
        c->option[n] = t->step[at].option;
        at = t->step[at].before;
    }
}

struct shard_choice shard_search(struct shard *s, int64_t beat, struct clock *clock)
{
    return shard_search_within(s, ENTRIES, beat, clock);
}

struct shard_choice shard_search_within(struct shard *s, uint32_t entries, int64_t beat,
                                        struct clock *clock)
{
    const struct module *m = s->m;
    struct shard_choice c = {.option = arena_array(s->a, m->nnode, sizeof *c.option), .value = -1};
    struct table t = {.s = s, .beat = beat, .clock = clock};
    const uint8_t *useful = useful_values(s);
    t.slot = arena_array(s->a, m->nval, sizeof *t.slot);
    t.last = arena_array(s->a, m->nval, sizeof *t.last);
    t.rest = arena_array(s->a, m->nnode, sizeof *t.rest);
    t.move = arena_array(s->a, SLOTS, sizeof *t.move);
    t.sizes = find_measured(s);
    t.alone = alone_values(&t);
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        for (uint32_t i = 0; i < m->node[n].in.n; i++)
            if (s->kind[n] == SHARD_NODE || s->kind[n] == SHARD_ONCE)
                t.last[m->arg[m->node[n].in.at + i]] = n;
    least_times(&t, &c.floor);
    run(&t, smaller_u32(FEW, entries), useful, &c);
    c.exact = !t.lost;
    c.widest = t.widest;
    /* a second pass would see hardly more if the first one has taken all the work that a pass may take */
    if (t.lost && entries > FEW && t.looks < LOOKS && !clock_out(clock)) {
        t.beat = c.value >= 0 ? c.value : beat;
        run(&t, entries, useful, &c);
        c.exact = !t.lost;
        c.widest = t.widest;
    }
    c.least = larger(c.floor, smaller(c.value >= 0 ? c.value : beat, t.least));
    for (nid n = 1; n < m->nnode && c.value >= 0; n++)
        if (c.option[n] == ALONE_OPTION) {
            c.option[n] = 0;
            s->kind[n] = SHARD_ONCE; /* on the first device, s->home[n] is 0 */
        } else if (s->kind[n] == SHARD_NODE && node_tells_sizes(m, n) &&
                   s->kind[m->value[node_in(m, n, 0)].def] == SHARD_ONCE) {
            s->kind[n] = SHARD_ONCE; /* the maker of its operand had no slot */
        }
    return c;
}

/* Whether choice c makes all operands in terms that option o takes in terms. */
static bool terms_are_made(const struct shard *s, const struct shard_choice *c, uint32_t o)
{
    const struct shard_option *p = &s->opt[o];
    for (uint32_t i = 0; i < s->m->node[p->node].nformal; i++) {
        const struct value *v = &s->m->value[node_in(s->m, p->node, i)];
        uint32_t maker = v->def != 0 ? c->option[v->def] : 0;
        if (shard_is_terms(p->in[i]) &&
            (maker == 0 || !shard_is_terms(s->opt[maker].out[v->outno])))
            return false;
    }
    return true;
}

struct shard_choice shard_draw(struct shard *s, uint64_t seed)
{
    const struct module *m = s->m;
    struct shard_choice c = {.option = arena_array(s->a, m->nnode, sizeof *c.option)};
    for (nid n = 1; n < m->nnode; n++) {
        uint32_t count = 0;
        /* option number `count` takes the place of the one before with a chance of 1 / count: all are equally likely */
        for (uint32_t o = s->first_opt[n]; o != 0 && s->kind[n] == SHARD_NODE; o = s->opt[o].next)
            if (!s->opt[o].gone && terms_are_made(s, &c, o) && random_below(&seed, ++count) == 0)
                c.option[n] = o;
        if (random_below(&seed, WHOLE_ONE_IN) == 0 && !s->must[n])
            c.option[n] = 0;
    }
    return c;
}
