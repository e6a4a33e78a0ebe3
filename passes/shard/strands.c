/* Removes options that cannot be part of a best choice, or need not be (shard.h).
 *
 * Two options belong to one strand if they have the same state of the same value, directly or by way of other options:
 * such as all options, through many nodes, that keep the columns of one matrix apart.  Removed are
 * - options that take a constant in a state in which no option of the constant's maker makes it, or only at the end of
 *   a long chain of nodes that compute constants.  If the option's node itself computes no constant, the option stays,
 *   and the maker becomes SHARD_SHARED instead: every device has the constant whole, and cuts it itself;
 * - strands that save no more time on all their nodes together than it takes to leave the strand: the least time in
 *   which the pieces of one of its results are joined or brought to another state (0 if a result may stay in pieces);
 * - strands for each of whose options another strand has an option of the same node that is no slower, with at most as
 *   many blocks of a tensor in each piece.
 * O(options * (options of a node)). */
#include "passes/shard/shard.h"

#include "ir/base/csr.h"
#include "ir/base/numbers.h"
#include "ir/base/union_find.h"

#include <string.h>

/* Returns the index in shard.item of value v in state st; 0: there is no such item, or the state is whole. */
static uint32_t item_of(const struct shard *s, vid v, struct shard_state st)
{
    uint32_t i = st.run == 0 ? 0 : s->first_item[v];
    while (i != 0 && !shard_same(s->item[i].s, st))
        i = s->item[i].next;
    return i;
}

uint32_t shard_constant_option(const struct shard *s, vid v, struct shard_state st)
{
    uint32_t o = s->first_opt[s->m->value[v].def];
    while (o != 0 && (s->opt[o].gone || !shard_same(s->opt[o].out[s->m->value[v].outno], st)))
        o = s->opt[o].next;
    return o;
}

/* Lets all devices have the results of n whole, and cut them themselves: n computes a constant no more. */
static void make_shared(struct shard *s, nid n)
{
    s->kind[n] = SHARD_SHARED;
    for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
        s->opt[o].gone = true;
}

/* Whether n reads a result of a node that computes no constant. */
static bool reads_shared(const struct shard *s, nid n)
{
    for (uint32_t i = 0; i < s->m->node[n].in.n; i++) {
        nid def = s->m->value[node_in(s->m, n, i)].def;
        if (def != 0 && s->kind[def] == SHARD_SHARED)
            return true;
    }
    return false;
}

void shard_drop_impossible(struct shard *s)
{
    const struct module *m = s->m;
    /* [node] length of the longest chain of nodes that compute constants and end before it, at most SHARD_DEPTH */
    uint8_t *depth = arena_alloc(s->a, m->nnode);
    for (nid n = 1; n < m->nnode; n++) /* makers have smaller numbers than readers */
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            for (uint32_t i = 0; i < m->node[n].nformal; i++) {
                vid v = node_in(m, n, i);
                nid def = m->value[v].def;
                if (s->opt[o].in[i].run == 0 || def == 0 || shard_weight(m, v) != 0 ||
                    !shard_is_constant(s, v))
                    continue;
                depth[n] = (uint8_t)larger_u32(depth[n], smaller_u32(depth[def] + 1u, SHARD_DEPTH));
                if (depth[n] < SHARD_DEPTH && shard_constant_option(s, v, s->opt[o].in[i]) != 0)
                    continue;
                if (s->kind[n] == SHARD_CONSTANT)
                    s->opt[o].gone = true;
                else
                    make_shared(s, def);
            }
    for (nid n = 1; n < m->nnode; n++)
        if (s->kind[n] == SHARD_CONSTANT && reads_shared(s, n))
            make_shared(s, n);
}

/* Sets shard_option.strand of all options, to the root of their items.  parent: union-find over items, each alone in
 * its set at first; the items of one option are united. */
static void tie(struct shard *s, uint32_t *parent)
{
    const struct module *m = s->m;
    for (uint32_t o = 1; o < s->nopt; o++) {
        const struct shard_option *p = &s->opt[o];
        uint32_t last = 0; /* the item found last; 0: none yet */
        for (uint32_t i = 0; i < shard_nvalue(m, p->node) && !p->gone; i++) {
            vid v = shard_value_at(m, p->node, i);
            uint32_t it = item_of(s, v, p->in[i]);
            if (it == 0 || shard_is_constant(s, v))
                continue;
            if (last != 0)
                parent[union_root(parent, last)] = union_root(parent, it);
            last = it;
        }
        s->opt[o].strand = last;
    }
    for (uint32_t o = 1; o < s->nopt; o++)
        s->opt[o].strand = union_root(parent, s->opt[o].strand);
}

/* Whether the pieces of v need never be joined: v is no output of the model, and nodes read only its sizes, if
 * anything. */
static bool stays_apart(const struct module *m, const struct csr *users, vid v)
{
    if (m->value[v].flags & VALUE_OUTPUT)
        return false;
    for_row (n, *users, v)
        if (!node_tells_sizes(m, n))
            return false;
    return true;
}

/* What is known of a strand. */
struct strand {
    /* ps: sum over the nodes of the time that the best option of each node saves, and of the time saved for its
     * operands that come from another cut directly */
    int64_t saves;
    /* ps: the least time in which the pieces or terms of a result become another state, as they must at the end of the
     * strand; 0: a result stays in pieces; INT64_MAX: there is no result in pieces or terms */
    int64_t joins;
    uint32_t nodes, options; /* number of the strand's nodes; number of their options */
    bool gone;
};

/* Whether v can be brought directly from state st to another cut, and from that cut to st. */
static bool can_turn(const struct shard *s, vid v, struct shard_state st)
{
    if (!shard_is_cut(st))
        return false;
    /* st is one of the cuts in `even`, and there is another one */
    const uint32_t even = shard_moves_of(s, v)->even;
    return (even >> shard_bit(s, v, st) & 1) != 0 && (even & (even - 1)) != 0;
}

/* Returns the least ps of bringing v from state st to another state: to the whole value; from terms to pieces of the
 * sum; or from a cut to another cut directly. */
static int64_t leaving(const struct shard *s, vid v, struct shard_state st)
{
    uint32_t also, bit = (uint32_t)shard_bit(s, v, st);
    int64_t whole = shard_exchange(s, v, UINT32_C(1) << bit, 0, &also);
    const struct shard_moves *k = shard_moves_of(s, v);
    return shard_is_terms(st)   ? smaller(whole, k->scatter)
           : can_turn(s, v, st) ? smaller(whole, k->turn)
                                : whole;
}

/* Returns the most ps by which bringing v to state st from another cut may take less than making it whole. */
static int64_t entering(const struct shard *s, vid v, struct shard_state st)
{
    if (!can_turn(s, v, st))
        return 0;
    const struct shard_moves *k = shard_moves_of(s, v);
    return larger(k->gather - k->turn, 0);
}

/* Finds saves, joins, nodes and options of each strand, st[root of the strand].  Of several options of a node in one
 * strand only the best one counts for `saves`. */
static void measure(struct shard *s, struct strand *st)
{
    const struct module *m = s->m;
    struct csr users = module_users(m, s->a);
    for (uint32_t i = 0; i < s->nitem; i++)
        st[i].joins = INT64_MAX;
    for (nid n = 1; n < m->nnode; n++) {
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next) {
            const struct shard_option *p = &s->opt[o];
            if (p->gone || s->kind[n] != SHARD_NODE)
                continue;
            struct strand *k = &st[p->strand];
            bool first = true;      /* o is the first option of n in the strand */
            int64_t best = p->time; /* least time of the options of n in the strand, from o on */
            k->options++;
            for (uint32_t q = s->first_opt[n]; q != o; q = s->opt[q].next)
                first = first && (s->opt[q].gone || s->opt[q].strand != p->strand);
            for (uint32_t q = p->next; q != 0; q = s->opt[q].next)
                if (!s->opt[q].gone && s->opt[q].strand == p->strand)
                    best = smaller(best, s->opt[q].time);
            if (first) {
                k->nodes++;
                k->saves = sat_add(k->saves, larger(shard_whole_time(s, n) - best, 0));
                for (uint32_t i = 0; i < m->node[n].nformal; i++)
                    k->saves = sat_add(k->saves, entering(s, node_in(m, n, i), p->in[i]));
            }
            for (uint32_t i = 0; i < m->node[n].out.n; i++) {
                vid v = node_out(m, n, i);
                if (p->out[i].run != 0)
                    k->joins =
                        stays_apart(m, &users, v) ? 0 : smaller(k->joins, leaving(s, v, p->out[i]));
                /* the node itself adds up the terms of its operand */
                else if (p->change[0].kind == SHARD_ABSORB)
                    k->joins = smaller(k->joins, larger(p->time - shard_whole_time(s, n), 0));
            }
        }
    }
}

/* Whether v can be brought from state p to other cuts directly if it can from state q. */
static bool turns_as(const struct shard *s, vid v, struct shard_state p, struct shard_state q)
{
    return v == 0 || !can_turn(s, v, q) || can_turn(s, v, p);
}

/* Whether option p can take the place of option q.  But for constants, it takes the same operands cut, and the same in
 * terms; its results in terms are the same, and its other results have at most as many blocks; and it has each tensor
 * in a state from which the tensor can be brought to other cuts directly, if q has. */
static bool is_as_plain(const struct shard *s, const struct shard_option *p,
                        const struct shard_option *q)
{
    for (uint32_t i = 0; i < s->m->node[p->node].nformal; i++)
        if (((p->in[i].run == 0) != (q->in[i].run == 0) ||
             shard_is_terms(p->in[i]) != shard_is_terms(q->in[i]) ||
             !turns_as(s, node_in(s->m, p->node, i), p->in[i], q->in[i])) &&
            !shard_is_constant(s, node_in(s->m, p->node, i)))
            return false;
    for (uint32_t i = 0; i < s->m->node[p->node].out.n; i++) {
        vid v = node_out(s->m, p->node, i);
        if (shard_is_terms(p->out[i]) != shard_is_terms(q->out[i]) ||
            !turns_as(s, v, p->out[i], q->out[i]))
            return false;
        if (!shard_is_cut(p->out[i]) || !shard_is_cut(q->out[i]))
            continue;
        /* -1: the number depends on names, and may be large */
        int64_t a = shard_blocks(s, v, p->out[i]), b = shard_blocks(s, v, q->out[i]);
        if (a != b && a != 1 && (a < 0 || (b >= 0 && a > b)))
            return false;
    }
    return true;
}

/* A function that looks at options p and q of one node, which are in different strands.  count: map_key(strand of p,
 * strand of q) -> number of options (count_better). */
typedef void pair_fn(struct shard *s, struct strand *st, struct map *count, uint32_t p, uint32_t q);

/* Calls see() for each pair of options of a node that are in different strands. */
static void each_pair(struct shard *s, struct strand *st, struct map *count, pair_fn *see)
{
    for (nid n = 1; n < s->m->nnode; n++)
        for (uint32_t p = s->kind[n] == SHARD_NODE ? s->first_opt[n] : 0; p != 0;
             p = s->opt[p].next)
            for (uint32_t q = s->first_opt[n]; q != 0 && !s->opt[p].gone; q = s->opt[q].next)
                if (!s->opt[q].gone && s->opt[p].strand != s->opt[q].strand)
                    see(s, st, count, p, q);
}

/* Whether option q is at least as good as option p of the same node. */
static bool is_better(const struct shard *s, uint32_t p, uint32_t q)
{
    return s->opt[q].time <= s->opt[p].time && is_as_plain(s, &s->opt[q], &s->opt[p]);
}

/* Adds 1 to the entry of `count` for the strands of p and q if q is at least as good as p, and the first such option of
 * its strand.  After all pairs, an entry is the number of options in p's strand for which q's strand has one at least
 * as good.  st: not used. */
static void count_better(struct shard *s, struct strand *st, struct map *count, uint32_t p,
                         uint32_t q)
{
    const struct shard_option *a = &s->opt[p], *b = &s->opt[q];
    uint64_t key = map_key(a->strand, b->strand);
    bool first = is_better(s, p, q);
    (void)st;
    for (uint32_t o = s->first_opt[a->node]; o != q && first; o = s->opt[o].next)
        first = s->opt[o].gone || s->opt[o].strand != b->strand || !is_better(s, p, o);
    if (first)
        map_set(count, s->a, key, map_get(count, key) + 1);
}

/* Removes p's strand if q's strand has an option at least as good for each of its options; of two equal strands the
 * first one stays. */
static void drop_contained(struct shard *s, struct strand *st, struct map *count, uint32_t p,
                           uint32_t q)
{
    uint32_t a = s->opt[p].strand, b = s->opt[q].strand;
    if (st[a].gone || st[b].gone || map_get(count, map_key(a, b)) < st[a].options)
        return;
    bool equal = map_get(count, map_key(b, a)) >= st[b].options;
    st[a].gone = !equal || b < a;
}

/* Removes the options of strands that are gone. */
static void drop_strands(struct shard *s, const struct strand *st)
{
    for (uint32_t o = 1; o < s->nopt; o++)
        if (s->kind[s->opt[o].node] == SHARD_NODE && st[s->opt[o].strand].gone)
            s->opt[o].gone = true;
}

/* Finds all strands; returns what is known of them, [root of the strand]. */
static struct strand *find_strands(struct shard *s)
{
    uint32_t *parent = arena_array(s->a, s->nitem, sizeof *parent);
    struct strand *st = arena_array(s->a, s->nitem, sizeof *st);
    for (uint32_t i = 0; i < s->nitem; i++)
        parent[i] = i;
    tie(s, parent);
    measure(s, st);
    return st;
}

/* ---- states that are kept from one run to the next ---------------------------------------------- */

/* Returns the option of node n that takes v, or makes it, in state st; 0: none. */
static uint32_t option_with(const struct shard *s, nid n, vid v, struct shard_state st)
{
    for (uint32_t o = s->first_opt[n]; o != 0 && s->kind[n] == SHARD_NODE; o = s->opt[o].next)
        for (uint32_t i = 0; i < shard_nvalue(s->m, n) && !s->opt[o].gone; i++)
            if (shard_value_at(s->m, n, i) == v && shard_same(s->opt[o].in[i], st))
                return o;
    return 0;
}

/* Whether the devices can keep state pair number `pair` in the state `as`: the maker of its output and all readers
 * of its input have options for that. */
static bool can_keep(const struct shard *s, const struct csr *users, uint32_t pair,
                     struct shard_state as)
{
    vid in = s->place->state_in[pair], out = s->place->state_out[pair];
    nid maker = s->m->value[out].def;
    if (maker == 0 || option_with(s, maker, out, as) == 0 || !shard_can_cut(s, in, as) ||
        shard_is_uneven(s, in, as))
        return false;
    for_row (n, *users, in)
        if (s->m->node[n].graph != 1 ||
            (!node_tells_sizes(s->m, n) && option_with(s, n, in, as) == 0))
            return false;
    return true;
}

/* Leaves node n whole on one device, number `home` in s->dev, unless the user has pinned it. */
static void put_once(struct shard *s, nid n, uint32_t home)
{
    if (s->kind[n] != SHARD_NODE && s->kind[n] != SHARD_ONCE)
        return;
    s->kind[n] = SHARD_ONCE;
    s->home[n] = s->pinned[n] ? s->home[n] : home;
}

/* Leaves state pair number `pair` whole: puts all readers of its input and the maker of its output on one device: on
 * the device to which one of these nodes is pinned, else on the first device. */
static void keep_whole(struct shard *s, const struct csr *users, uint32_t pair)
{
    vid in = s->place->state_in[pair], out = s->place->state_out[pair];
    /* first: a node that is pinned; 0: none, and home[0] is the first device */
    nid maker = s->m->value[out].def, first = s->pinned[maker] ? maker : 0;
    for_row (n, *users, in)
        first = first == 0 && s->pinned[n] ? n : first;
    for_row (n, *users, in)
        put_once(s, n, s->home[first]);
    put_once(s, maker, s->home[first]);
}

/* Notes that node n must be cut (s->must), and removes its options that take or make v in a state other than
 * s->kept[v]. */
static void bind(struct shard *s, nid n, vid v)
{
    s->must[n] = 1;
    for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
        for (uint32_t i = 0; i < shard_nvalue(s->m, n); i++)
            if (shard_value_at(s->m, n, i) == v && !shard_same(s->opt[o].in[i], s->kept[v]))
                s->opt[o].gone = true;
}

/* For each state that is kept in pieces, binds the maker of its output and the readers of its input: each device reads
 * and makes its own piece.  Returns false if some node has no option left, or would also need another state whole. */
static bool bind_all(struct shard *s, const struct csr *users)
{
    const struct place *p = s->place;
    bool all = true;
    for (uint32_t i = 0; i < p->nstate; i++) {
        vid in = p->state_in[i], out = p->state_out[i];
        if (s->kept[in].run == 0)
            continue;
        bind(s, s->m->value[out].def, out);
        for_row (n, *users, in)
            if (!node_tells_sizes(s->m, n))
                bind(s, n, in);
    }
    /* a node that reads or makes a piece of one state must not have another state whole */
    for (uint32_t i = 0; i < p->nstate; i++) {
        if (s->kept[p->state_in[i]].run != 0)
            continue;
        all = all && !s->must[s->m->value[p->state_out[i]].def];
        for_row (n, *users, p->state_in[i])
            all = all && !s->must[n];
    }
    for (nid n = 1; n < s->m->nnode; n++) {
        bool has = !s->must[n];
        for (uint32_t o = s->first_opt[n]; o != 0 && !has; o = s->opt[o].next)
            has = !s->opt[o].gone;
        all = all && has;
    }
    return all;
}

/* Returns the state in which the devices can keep state pair number `pair` in pieces; whole: they cannot. */
static struct shard_state pieces_of(const struct shard *s, const struct csr *users, uint32_t pair)
{
    struct shard_state as = {0};
    vid in = s->place->state_in[pair];
    /* takes the first axis that works: the axis of heads comes before the axis within a head, and attention is cut
     * by heads */
    for (uint32_t k = s->first_item[in]; k != 0; k = s->item[k].next)
        if ((as.run == 0 || s->item[k].s.axis < as.axis) && can_keep(s, users, pair, s->item[k].s))
            as = s->item[k].s;
    return as;
}

/* Puts nodes that read only the sizes of a value (Shape, Size) on the device of the value's maker, if the maker runs
 * on one device: so the value need not be sent. */
static void measure_once(struct shard *s)
{
    for (nid n = 1; n < s->m->nnode; n++) {
        nid def = node_tells_sizes(s->m, n) ? s->m->value[node_in(s->m, n, 0)].def : 0;
        if (def != 0 && s->kind[n] == SHARD_NODE && s->kind[def] == SHARD_ONCE)
            put_once(s, n, s->home[def]);
    }
}

void shard_keep_states(struct shard *s, bool whole)
{
    const struct place *p = s->place;
    /* pairs that the user names (--state), the first ones, stay whole: pieces would have other names */
    const uint32_t given = ctx_settings(s->x)->npairs;
    struct csr users = module_users(s->m, s->a);
    for (uint32_t i = given; i < p->nstate && !whole; i++)
        s->kept[p->state_in[i]] = s->kept[p->state_out[i]] = pieces_of(s, &users, i);
    bool all = bind_all(s, &users);
    /* if the states cannot be kept in pieces all together, all of them stay whole */
    if (!all)
        memset(s->must, 0, s->m->nnode);
    for (uint32_t i = 0; i < p->nstate; i++) {
        if (!all)
            s->kept[p->state_in[i]] = s->kept[p->state_out[i]] = (struct shard_state){0};
        if (s->kept[p->state_in[i]].run == 0)
            keep_whole(s, &users, i);
    }
    measure_once(s);
    for (uint32_t o = 1; o < s->nopt; o++)
        s->opt[o].gone = s->opt[o].gone || s->kind[s->opt[o].node] == SHARD_ONCE;
}

/* ---- which strands stay ------------------------------------------------------------------------- */

void shard_prune(struct shard *s)
{
    struct strand *st = find_strands(s);
    struct map count = {0};
    for (uint32_t i = 0; i < s->nitem; i++)
        st[i].gone = st[i].nodes > 0 && st[i].saves <= st[i].joins;
    /* the maker of a state that stays in pieces need not join the pieces */
    for (uint32_t i = 0; i < s->place->nstate; i++) {
        vid out = s->place->state_out[i];
        uint32_t o =
            s->kept[out].run != 0 ? option_with(s, s->m->value[out].def, out, s->kept[out]) : 0;
        if (o != 0)
            st[s->opt[o].strand].gone = false;
    }
    drop_strands(s, st);
    each_pair(s, st, &count, count_better);
    each_pair(s, st, &count, drop_contained);
    drop_strands(s, st);
}
