/* Times for sharding (shard.h): of nodes in pieces, and of exchanges between devices.
 *
 * A piece of a node takes what the pass cost gives a node of its sizes.  A device sends one piece at a time and
 * receives one at a time; with N devices and a tensor of x bytes, joining takes (N - 1) hops of x / N bytes and a
 * Concat, and another hop if values go over the host.  Terms are added up in one step, (N - 1) hops of x bytes and a
 * Sum, or in two: pieces of them, (N - 1) hops of x / N bytes, a Split and a Sum, are joined.  Each exchange ends a
 * part on each device: --part-cost.  O(operands). */
#include "passes/shard/shard.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

/* Returns the type, for planning, of a piece of v in state st, an index in module.type; 0: that of v itself. */
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

/* Returns the bytes of a piece of v, at most. */
static int64_t piece_bytes(const struct shard *s, vid v);
/* Returns the ps that a device takes to send, or to receive, that many bytes to or from each of the others. */
static int64_t hops_time(const struct shard *s, int64_t bytes);

/* Returns the ps of adding up `count` tensors of v's type, whose results and operands are of that many bytes.  Integers
 * are added two at a time (write_exchanges.c). */
static int64_t sum_time(const struct shard *s, vid v, uint32_t count, int64_t bytes)
{
    const struct type *t = &s->m->type[pricing_type(s->price, v)];
    if (!shard_adds_pairs(s, (enum elem)t->elem))
        return pricing_move(s->price, s->cls, sat_mul(bytes, (int64_t)count + 1));
    return sat_mul(pricing_move(s->price, s->cls, sat_mul(bytes, 3)), (int64_t)count - 1);
}

/* Returns the ps of option o, which adds up the terms of an operand of all devices, and other operands: at least
 * `given`, what the node takes if that operand is whole, so that what is whole serves for terms. */
static int64_t absorb_time(const struct shard *s, const struct shard_option *o, int64_t given)
{
    vid v = node_in(s->m, o->node, o->change[0].operand);
    int64_t bytes = s->m->cost->bytes[v], time = hops_time(s, bytes);
    uint32_t count = s->ways + s->m->node[o->node].nformal - 1;
    time = sat_add(sat_add(time, sum_time(s, v, count, bytes)), s->x->scene.model.part_cost);
    return larger(smaller(time, CTX_SUM_MAX), given);
}

/* Whether option o takes an operand, or makes a result, cut. */
static bool cuts_some(const struct shard *s, const struct shard_option *o)
{
    const struct node *k = &s->m->node[o->node];
    for (uint32_t i = 0; i < k->nformal + k->out.n; i++) /* out[] lies behind in[] */
        if (shard_is_cut(o->in[i]))
            return true;
    return false;
}

/* Returns the ps of option o, whose node has the time `whole` by the sizes in the module, and the time `given` in the
 * costs of the module, which may come from a file. */
static int64_t option_time(struct shard *s, const struct shard_option *o, int64_t whole,
                           int64_t given)
{
    const struct node k = s->m->node[o->node];
    uint32_t *in = arena_array(s->a, k.nformal + k.out.n + 1, sizeof *in), *out = in + k.nformal;
    for (uint32_t i = 0; i < k.nformal; i++)
        in[i] = piece_type(s, node_in(s->m, o->node, i), o->in[i]);
    for (uint32_t i = 0; i < k.out.n; i++)
        out[i] = piece_type(s, node_out(s->m, o->node, i), o->out[i]);
    int64_t time = pricing_time(s->price, o->node, s->cls, in, out),
            fixed = smaller(costs_overhead(s->m->cost, s->cls, o->node), given);
    if (o->change[0].kind == SHARD_ABSORB)
        return absorb_time(s, o, given);
    if (!cuts_some(s, o))
        return given; /* each device computes as much as for the whole */
    if (whole != given)
        time = fixed + (given - fixed) / s->ways + ((given - fixed) % s->ways != 0);
    if (o->change[0].kind == SHARD_MEAN)
        time =
            sat_add(time, pricing_move(s->price, s->cls,
                                       sat_mul(2, s->m->cost->bytes[node_out(s->m, o->node, 0)])));
    return time;
}

void shard_price(struct shard *s)
{
    for (nid n = 1; n < s->m->nnode; n++) {
        const struct node k = s->m->node[n];
        if (s->kind[n] != SHARD_NODE)
            continue;
        s->apart[n] = pricing_apart(s->price, n, s->cls);
        if (s->first_opt[n] == 0)
            continue;
        uint32_t *same = arena_array(s->a, k.nformal + k.out.n + 1, sizeof *same);
        int64_t whole = pricing_time(s->price, n, s->cls, same, same + k.nformal);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            s->opt[o].time = option_time(s, &s->opt[o], whole, s->m->cost->time[s->cls][n]);
    }
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

static int64_t hops_time(const struct shard *s, int64_t bytes)
{
    struct moved_value moved = {.bytes = bytes, .measured = -1};
    int64_t hop = cluster_route(s->x->scene.cluster, s->dev[0], s->dev[1], moved);
    return sat_mul(hop, s->ways - 1 + (s->x->scene.model.step.network == NETWORK_HOST));
}

int64_t shard_send(const struct shard *s, vid v)
{
    return sat_add(hops_time(s, s->m->cost->bytes[v]), s->x->scene.model.part_cost);
}

/* Returns the ps on each device of joining v on all of them. */
static int64_t gather_time(const struct shard *s, vid v)
{
    int64_t move = pricing_move(s->price, s->cls, sat_mul(2, s->m->cost->bytes[v]));
    return smaller(
        sat_add(sat_add(hops_time(s, piece_bytes(s, v)), move), s->x->scene.model.part_cost),
        CTX_SUM_MAX);
}

/* Returns the ps on each device of taking its piece of v, which is there whole. */
static int64_t slice_time(const struct shard *s, vid v)
{
    return pricing_move(s->price, s->cls, sat_mul(2, piece_bytes(s, v)));
}

/* Returns the ps on each device of adding up the terms of v on all of them, in one step. */
static int64_t total_time(const struct shard *s, vid v)
{
    int64_t bytes = s->m->cost->bytes[v];
    return smaller(sat_add(sat_add(hops_time(s, bytes), sum_time(s, v, s->ways, bytes)),
                           s->x->scene.model.part_cost),
                   CTX_SUM_MAX);
}

/* Returns the ps on each device of adding up its piece of the terms of v. */
static int64_t scatter_time(const struct shard *s, vid v)
{
    int64_t split = pricing_move(s->price, s->cls, sat_mul(2, s->m->cost->bytes[v])),
            bytes = piece_bytes(s, v), add = sum_time(s, v, s->ways, bytes);
    return smaller(
        sat_add(sat_add(hops_time(s, bytes), split), sat_add(add, s->x->scene.model.part_cost)),
        CTX_SUM_MAX);
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
    }
    if (k->terms != 0) {
        k->sum = total_time(s, v);
        k->scatter = scatter_time(s, v);
    }
    return k;
}

/* Returns the ps of bringing v from `have`, where it is not whole, to all devices; *from: the bit of the state from
 * which the last step makes it. */
static int64_t whole_time(const struct shard_moves *k, uint32_t have, uint32_t *from)
{
    uint32_t terms = k->terms != 0 ? UINT32_C(1) << k->terms : 0, cut = have & ~terms;
    if (cut != 0) {
        *from =
            k->plain != 0 && (cut >> k->plain & 1) != 0 ? k->plain : (uint32_t)__builtin_ctz(cut);
        return k->gather;
    }
    *from = k->terms;
    if (k->plain == 0 || k->sum <= sat_add(k->scatter, k->gather))
        return k->sum;
    *from = k->plain;
    return sat_add(k->scatter, k->gather);
}

uint32_t shard_source(const struct shard *s, vid v, uint32_t have, uint32_t want)
{
    const struct shard_moves *k = shard_moves_of(s, v);
    uint32_t from = 0;
    int64_t whole = (have & 1) != 0 ? 0 : whole_time(k, have, &from);
    if (want == 0)
        return from;
    bool adds = (have & 1) == 0 && k->terms != 0 && (have >> k->terms & 1) != 0;
    return adds && k->scatter <= sat_add(whole, k->slice) ? k->terms : 0;
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
    if (want != 0 && shard_source(s, v, have, want) != 0)
        return k->scatter;
    int64_t time = (have & 1) != 0 ? 0 : whole_time(k, have, &from);
    if (from != k->terms) /* 0: it is there whole, or was cut before */
        *also |= UINT32_C(1) << from;
    *also |= 1;
    return want != 0 ? sat_add(time, k->slice) : time;
}
