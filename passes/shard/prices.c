/* Computes the times of nodes in pieces, and of exchanges between devices, for sharding (shard.h).
 *
 * A piece of a node takes the time that the pass cost gives to a node of the piece's sizes.  All devices send at the
 * same time, in R rounds of hops (count_rounds).  With N devices and a tensor of x bytes, joining takes R hops of x / N
 * bytes and a Concat.  Terms are added up in one step, with R hops of x bytes and a Sum; or in two steps: each device
 * adds up a piece, with a Split, R hops of x / N bytes and a Sum, and then the pieces are joined.  From one cut to
 * another, each device splits its piece and joins the parts that come, with a Split, R hops of x / N / N bytes and a
 * Concat.  Each exchange ends a part on each device: --part-cost.  O(operands). */
#include "passes/shard/shard.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "passes/cost/known_costs.h"

/* Returns the type, for planning, of a piece of v in state st, an index in module.type; 0: the type of v itself. */
static uint32_t piece_type(const struct shard *s, vid v, struct shard_state st)
{
    struct module *m = s->m;
    struct dim d[SHAPE_RANK];
    const struct type t = m->type[pricing_type(s->price, v)];
    if (!shard_is_cut(st) || t.kind != TYPE_TENSOR || t.rank <= st.axis || t.rank > SHAPE_RANK)
        return 0;
    for (int i = 0; i < t.rank; i++)
        d[i] = m->dim[t.dim + (uint32_t)i];
    int64_t whole = d[st.axis].value;
    if (whole < 0)
        return 0;
    d[st.axis] = (struct dim){.value = whole / s->ways + (whole % s->ways != 0)};
    return module_add_tensor_type(m, (enum elem)t.elem, t.rank, d);
}

/* Returns the bytes of the largest piece that v has in any of its states. */
static int64_t piece_bytes(const struct shard *s, vid v);
/* Returns the ps that an exchange takes on each device, at most CTX_SUM_MAX.  The exchange has `rounds` rounds of hops,
 * in each of which devices send `bytes` bytes; `work` ps of computing; and the cost of a part. */
static int64_t exchange_time(const struct shard *s, uint32_t rounds, int64_t bytes, int64_t work);

/* Returns the ps of adding up `count` tensors of v's type, by one Sum or two at a time (shard_adds_pairs); operands and
 * result have `bytes` bytes each. */
static int64_t sum_time(const struct shard *s, vid v, uint32_t count, int64_t bytes)
{
    const struct type *t = &s->m->type[pricing_type(s->price, v)];
    if (!shard_adds_pairs(s, (enum elem)t->elem))
        return pricing_move(s->price, s->cls, sat_mul(bytes, (int64_t)count + 1));
    return sat_mul(pricing_move(s->price, s->cls, sat_mul(bytes, 3)), (int64_t)count - 1);
}

/* Returns the ps of option o, which adds up an operand's terms from all devices and the other operands.  At least
 * `given`, the node's time if that operand is whole, so that a whole operand can stand in for terms. */
static int64_t absorb_time(const struct shard *s, const struct shard_option *o, int64_t given)
{
    vid v = node_in(s->m, o->node, o->change[0].operand);
    int64_t bytes = s->m->cost->bytes[v];
    uint32_t count = s->ways + s->m->node[o->node].nformal - 1;
    int64_t work = sum_time(s, v, count, bytes);
    return larger(exchange_time(s, s->rounds.same, bytes, work), given);
}

/* Whether option o takes an operand cut, or makes a result cut. */
static bool cuts_some(const struct shard *s, const struct shard_option *o)
{
    for (uint32_t i = 0; i < shard_nvalue(s->m, o->node); i++)
        if (shard_is_cut(o->in[i]))
            return true;
    return false;
}

/* Returns the ps that option o takes on each device.  whole: the time of its node whole, reckoned from the sizes in the
 * module; given: that time in the costs of the module, which may come from a file. */
static int64_t option_time(struct shard *s, const struct shard_option *o, int64_t whole,
                           int64_t given)
{
    const struct node k = s->m->node[o->node];
    uint32_t *in = arena_array(s->a, k.nformal + k.out.n + 1, sizeof *in), *out = in + k.nformal;
    for (uint32_t i = 0; i < k.nformal; i++) {
        /* the index of an earlier operand that is the same value in the same state, so of the same type */
        uint32_t j = 0;
        while (j < i && (node_in(s->m, o->node, j) != node_in(s->m, o->node, i) ||
                         !shard_same(o->in[j], o->in[i])))
            j++;
        in[i] = j < i ? in[j] : piece_type(s, node_in(s->m, o->node, i), o->in[i]);
    }
    for (uint32_t i = 0; i < k.out.n; i++)
        out[i] = piece_type(s, node_out(s->m, o->node, i), o->out[i]);
    int64_t time = pricing_time(s->price, o->node, s->cls, in, out);
    if (o->change[0].kind == SHARD_ABSORB)
        return absorb_time(s, o, given);
    /* each device computes as much as for the whole node */
    if (!cuts_some(s, o))
        return given;
    /* the time by sizes gives the share that the piece has of the whole node: it gets that share of the given time */
    if (whole != given)
        time = share_of_time(given, time, whole);
    /* the result of the piece is divided by a number, one more node */
    if (o->change[0].kind == SHARD_MEAN) {
        vid v = node_out(s->m, o->node, 0);
        enum elem e = (enum elem)s->m->type[pricing_type(s->price, v)].elem;
        int64_t bytes = sat_add(sat_mul(2, s->m->cost->bytes[v]), elem_bytes(e, 1));
        time = sat_add(time, pricing_move(s->price, s->cls, bytes));
    }
    return time;
}

void shard_price(struct shard *s)
{
    for (nid n = 1; n < s->m->nnode; n++) {
        const struct node k = s->m->node[n];
        if (s->kind[n] != SHARD_NODE)
            continue;
        s->extra[n].apart = pricing_apart(s->price, n, s->cls);
        if (s->first_opt[n] == 0)
            continue;
        /* types of operands and results, as piece_type() gives them: 0: each has its own type */
        uint32_t *own = arena_array(s->a, k.nformal + k.out.n + 1, sizeof *own);
        int64_t whole = pricing_time(s->price, n, s->cls, own, own + k.nformal);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            s->opt[o].time = option_time(s, &s->opt[o], whole, s->m->cost->time[s->cls][n]);
    }
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* Returns by how many ps shard_weigh(s, ps, of) makes node n dearer by option o (0: whole). */
static int64_t weight_of(const struct shard *s, nid n, uint32_t o, int64_t ps, int64_t of)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < s->m->node[n].nformal; i++) {
        const vid v = node_in(s->m, n, i);
        if (v == 0 || !shard_is_constant(s, v))
            continue;
        const bool cut = o != 0 && s->opt[o].in[i].run != 0;
        bytes = sat_add(bytes, cut ? piece_bytes(s, v) : s->m->cost->bytes[v]);
    }
    return mul_div_ceil(bytes, ps, of);
}

void shard_weigh(struct shard *s, int64_t ps, int64_t of)
{
    for (nid n = 1; n < s->m->nnode; n++) {
        if (s->kind[n] != SHARD_NODE)
            continue;
        s->extra[n].weighed = weight_of(s, n, 0, ps, of);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            s->opt[o].time = sat_add(s->opt[o].time, weight_of(s, n, o, ps, of));
    }
}

int64_t shard_dearer(const struct shard *s, const struct shard_choice *c, int64_t ps, int64_t of)
{
    int64_t sum = 0;
    for (nid n = 1; n < s->m->nnode; n++)
        sum = sat_add(sum, c->option[n] == 0 ? s->extra[n].weighed
                                             : weight_of(s, n, c->option[n], ps, of));
    return sum;
}

/* ---- exchanges ---------------------------------------------------------------------------------- */

static int64_t piece_bytes(const struct shard *s, vid v)
{
    int64_t bytes = s->m->cost->bytes[v], most = bytes / s->ways + (bytes % s->ways != 0);
    struct shape k;
    for (uint32_t i = s->first_item[v]; i != 0; i = s->item[i].next)
        if (shard_is_uneven(s, v, s->item[i].s) && shape_of(s->f, v, &k))
            most =
                larger(most, mul_div_ceil(bytes, s->item[i].s.run, k.d[s->item[i].s.axis].value));
    return most;
}

/* The lanes (enum contention) that a hop from device i to device k holds: out, in: the bits of the devices whose
 * sending, or receiving, lane the hop holds. */
struct held {
    uint64_t out, in;
};
static struct held lanes_of(enum contention how, uint32_t i, uint32_t k)
{
    const uint64_t from = UINT64_C(1) << i, to = UINT64_C(1) << k;
    switch (how) {
    case CONTENTION_PORT:
        return (struct held){from, to};
    /* `in` alone counts: its bit stands for the one channel of a device, or for the device itself */
    case CONTENTION_HALF:
    case CONTENTION_BLOCKING:
        return (struct held){0, from | to};
    case CONTENTION_RX:
    case CONTENTION_BAECHI:
        return (struct held){0, to};
    default: /* a hop holds nothing, or a link that no other hop takes */
        return (struct held){0, 0};
    }
}

/* Returns the number of rounds in which each device sends a value to all others, if all begin at once and all hops
 * take equally long.  Hops are ordered as the judge does (ir/exec/makespan): a hop starts as soon as its lanes are
 * free, senders in their order and then receivers in theirs; so 5 devices take as many rounds as 8.  O(ways^3). */
static uint32_t count_rounds(uint32_t ways, enum contention how)
{
    /* left[device]: bits of the receivers that still wait for its value; todo: number of hops left */
    uint64_t left[SHARD_WAYS], todo = (uint64_t)ways * (ways - 1);
    uint32_t rounds = 0;
    const uint64_t all = UINT64_MAX >> (SHARD_WAYS - ways); /* the bits of all devices */
    for (uint32_t i = 0; i < ways; i++)
        left[i] = all & ~(UINT64_C(1) << i);
    for (; todo > 0; rounds++) {
        struct held busy = {0, 0};
        for (uint32_t i = 0; i < ways; i++)
            for (uint32_t k = 0; k < ways; k++) {
                struct held x = lanes_of(how, i, k);
                if ((left[i] >> k & 1) == 0 || (busy.out & x.out) != 0 || (busy.in & x.in) != 0)
                    continue;
                busy.out |= x.out;
                busy.in |= x.in;
                left[i] &= ~(UINT64_C(1) << k);
                todo--;
            }
    }
    return rounds;
}

/* Returns the ps of some rounds of hops in each of which devices send `bytes` bytes. */
static int64_t hops_time(const struct shard *s, uint32_t rounds, int64_t bytes)
{
    struct moved_value moved = {.bytes = bytes, .measured = -1};
    int64_t hop = cluster_route(s->x->scene.cluster, s->dev[0], s->dev[1], moved);
    return sat_mul(hop, rounds);
}

static int64_t exchange_time(const struct shard *s, uint32_t rounds, int64_t bytes, int64_t work)
{
    int64_t time = sat_add(hops_time(s, rounds, bytes), work);
    return smaller(sat_add(time, s->x->scene.model.part_cost), CTX_SUM_MAX);
}

void shard_count_rounds(struct shard *s)
{
    const struct step_model *k = &s->x->scene.model.step;
    const uint32_t direct = count_rounds(s->ways, k->contention), others = s->ways - 1;
    s->rounds = (struct shard_rounds){direct, direct};
    if (k->network == NETWORK_DIRECT)
        return;
    /* Over the host a value for all is sent once, and then received by all others, one after the other.  A device with
     * one channel for both directions that is late receives first what others have sent, and its own value is late
     * for them: that is one round more. */
    s->rounds.same = k->contention == CONTENTION_NONE   ? 2
                     : k->contention == CONTENTION_HALF ? s->ways + 1
                                                        : s->ways;
    /* Pieces that differ: each device sends N - 1 pieces, the last one to the last device; only then the last device
     * receives its N - 1 pieces, one after the other. */
    s->rounds.apart = k->contention == CONTENTION_NONE ? 2
                      : k->contention == CONTENTION_RX ? s->ways
                                                       : 2 * others;
}

int64_t shard_send(const struct shard *s, vid v)
{
    /* over the host v is sent once, and then received by each of the others */
    uint32_t hops = s->ways - 1 + (s->x->scene.model.step.network == NETWORK_HOST);
    return sat_add(hops_time(s, hops, s->m->cost->bytes[v]), s->x->scene.model.part_cost);
}

/* Returns the ps, on each device, of joining the pieces of v on all devices. */
static int64_t gather_time(const struct shard *s, vid v)
{
    int64_t move = pricing_move(s->price, s->cls, sat_mul(2, s->m->cost->bytes[v]));
    return exchange_time(s, s->rounds.same, piece_bytes(s, v), move);
}

/* Returns the ps, on each device, of cutting its piece out of v, which is there whole.  From opset 10 on, starts,
 * ends and axes are operands, whose bytes count. */
static int64_t slice_time(const struct shard *s, vid v)
{
    const int64_t lists = s->f->opset >= 10 ? 3 * (int64_t)sizeof(int64_t) : 0;
    return pricing_move(s->price, s->cls, sat_add(lists, sat_mul(2, piece_bytes(s, v))));
}

/* Returns the ps, on each device, of adding up the terms of v on all devices, in one step. */
static int64_t total_time(const struct shard *s, vid v)
{
    int64_t bytes = s->m->cost->bytes[v];
    return exchange_time(s, s->rounds.same, bytes, sum_time(s, v, s->ways, bytes));
}

/* Returns the ps, on each device, of adding up its own piece of the terms of v.  If pieces are unequal, their sizes
 * are an operand of the Split, whose bytes count. */
static int64_t scatter_time(const struct shard *s, vid v)
{
    const int64_t whole = s->m->cost->bytes[v], bytes = piece_bytes(s, v),
                  sizes = sat_mul(bytes, s->ways) > whole ? s->ways * (int64_t)sizeof(int64_t) : 0,
                  split = pricing_move(s->price, s->cls, sat_add(sizes, sat_mul(2, whole))),
                  add = sum_time(s, v, s->ways, bytes);
    return exchange_time(s, s->rounds.apart, bytes, sat_add(split, add));
}

/* Returns the ps on each device of cutting its piece of v along another axis, sending a part of it to each other device
 * and joining the parts that come. */
static int64_t turn_time(const struct shard *s, vid v)
{
    const int64_t ways = s->ways,
                  piece = s->m->cost->bytes[v] / ways + (s->m->cost->bytes[v] % ways != 0),
                  move = pricing_move(s->price, s->cls, sat_mul(2, piece));
    return exchange_time(s, s->rounds.apart, piece / ways + (piece % ways != 0), sat_mul(2, move));
}

const struct shard_moves *shard_moves_of(const struct shard *s, vid v)
{
    struct shard_moves *k = &s->moves[v];
    uint32_t bit = 1;
    if (k->known)
        return k;
    k->known = true;
    k->gather = gather_time(s, v);
    k->slice = slice_time(s, v);
    for (uint32_t i = s->first_item[v]; i != 0; i = s->item[i].next, bit++) {
        struct shard_state st = s->item[i].s;
        if (shard_is_terms(st))
            k->terms = bit;
        else if (k->plain == 0 && shard_blocks(s, v, st) == 1)
            k->plain = bit;
        if (shard_is_cut(st) && shard_blocks(s, v, st) == 1 && !shard_is_uneven(s, v, st))
            k->even |= UINT32_C(1) << bit;
    }
    k->turn = turn_time(s, v);
    if (k->terms != 0) {
        k->sum = total_time(s, v);
        k->scatter = scatter_time(s, v);
    }
    return k;
}

/* Returns the ps, on each device, of making value v whole on all devices; *k: the exchanges of v; have: the states in
 * which the devices have v, as bits; whole is not among them.  Writes to *from the bit of the state from which the last
 * step makes v whole. */
static int64_t whole_time(const struct shard_moves *k, uint32_t have, uint32_t *from)
{
    uint32_t terms = k->terms != 0 ? UINT32_C(1) << k->terms : 0, cut = have & ~terms;
    /* the devices have pieces, which are joined: pieces of one block each, if there are such */
    if (cut != 0) {
        *from =
            k->plain != 0 && (cut >> k->plain & 1) != 0 ? k->plain : (uint32_t)__builtin_ctz(cut);
        return k->gather;
    }
    /* terms are added up in one step; or, if that is cheaper, in pieces, which are then joined */
    *from = k->terms;
    if (k->plain == 0 || k->sum <= sat_add(k->scatter, k->gather))
        return k->sum;
    *from = k->plain;
    return sat_add(k->scatter, k->gather);
}

/* Returns the bit of a cut, one of `have`, from which v can be brought directly to the cut with bit `want`, in less
 * than `way` ps (the time by way of the whole value); 0: there is no such cut. */
static uint32_t turned_from(const struct shard_moves *k, uint32_t have, uint32_t want, int64_t way)
{
    uint32_t cuts = have & k->even;
    bool turns = want != 0 && (have & 1) == 0 && cuts != 0 && (k->even >> want & 1) != 0;
    return turns && k->turn < way ? (uint32_t)__builtin_ctz(cuts) : 0;
}

uint32_t shard_source(const struct shard *s, vid v, uint32_t have, uint32_t want)
{
    const struct shard_moves *k = shard_moves_of(s, v);
    uint32_t from = 0;
    int64_t whole = (have & 1) != 0 ? 0 : whole_time(k, have, &from);
    if (want == 0)
        return from;
    bool adds = (have & 1) == 0 && k->terms != 0 && (have >> k->terms & 1) != 0;
    int64_t way = sat_add(whole, k->slice);
    return adds && k->scatter <= way ? k->terms : turned_from(k, have, want, way);
}

int64_t shard_exchange(const struct shard *s, vid v, uint32_t have, uint32_t want, uint32_t *also)
{
    const struct shard_moves *k = shard_moves_of(s, v);
    uint32_t from = 0;
    *also = UINT32_C(1) << want;
    if ((have & *also) != 0)
        return 0;
    if (k->terms != 0 && want == k->terms)
        return SHARD_NEVER;
    uint32_t source = want != 0 ? shard_source(s, v, have, want) : 0;
    if (source != 0)
        return source == k->terms ? k->scatter : k->turn;
    int64_t time = (have & 1) != 0 ? 0 : whole_time(k, have, &from);
    /* `from`: the pieces from which v becomes whole, which are there already or are added up on the way; 0 if v was
     * whole */
    if (from != k->terms)
        *also |= UINT32_C(1) << from;
    *also |= 1;
    return want != 0 ? sat_add(time, k->slice) : time;
}
