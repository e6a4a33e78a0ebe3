/* Times for sharding (shard.h): of nodes in pieces, and of exchanges between devices.
 *
 * A piece of a node takes what the pass cost gives a node of its sizes.  A device sends one piece at a time and
 * receives one at a time; with N devices and a tensor of x bytes, joining takes (N - 1) hops of x / N bytes and a
 * Concat, and another hop if values go over the host.  Each exchange ends a part on each device: --part-
 * cost.  O(operands). */
#include "passes/shard/shard.h"

#include "ir/base/numbers.h"

/* Returns the type, for planning, of a piece of v in state st, an index in module.type; 0: that of v itself. */
static uint32_t piece_type(const struct shard *s, vid v, struct shard_state st)
{
    struct module *m = s->m;
    struct dim d[SHAPE_RANK];
    const struct type t = m->type[pricing_type(s->price, v)];
    if (st.run == 0 || t.kind != TYPE_TENSOR || t.rank <= st.axis || t.rank > SHAPE_RANK)
        return 0;
    for (int i = 0; i < t.rank; i++)
        d[i] = m->dim[t.dim + (uint32_t)i];
    int64_t whole = d[st.axis].value;
    if (whole < 0)
        return 0;
    d[st.axis] = (struct dim){.value = whole / s->ways + (whole % s->ways != 0)};
    return module_add_tensor_type(m, (enum elem)t.elem, t.rank, d);
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
    if (whole != given)
        time = fixed + (given - fixed) / s->ways + ((given - fixed) % s->ways != 0);
    return time;
}

void shard_price(struct shard *s)
{
    for (nid n = 1; n < s->m->nnode; n++) {
        const struct node k = s->m->node[n];
        if (s->first_opt[n] == 0 || s->kind[n] != SHARD_NODE)
            continue;
        uint32_t *same = arena_array(s->a, k.nformal + k.out.n + 1, sizeof *same);
        int64_t whole = pricing_time(s->price, n, s->cls, same, same + k.nformal);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            s->opt[o].time = option_time(s, &s->opt[o], whole, s->m->cost->time[s->cls][n]);
    }
}

/* ---- exchanges ---------------------------------------------------------------------------------- */

/* Returns the bytes of a piece of v. */
static int64_t piece_bytes(const struct shard *s, vid v)
{
    int64_t bytes = s->m->cost->bytes[v];
    return bytes / s->ways + (bytes % s->ways != 0);
}

/* Returns the ps that a device takes to send, or to receive, that many bytes to or from each of the others. */
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

int64_t shard_exchange(const struct shard *s, vid v, uint32_t have, uint32_t want, uint32_t *also)
{
    int64_t time = 0;
    *also = UINT32_C(1) << want;
    if ((have & *also) != 0)
        return 0;
    if (s->gather[v] == 0) { /* not worked out yet */
        s->gather[v] = gather_time(s, v) + 1;
        s->slice[v] = slice_time(s, v);
    }
    if ((have & 1) == 0)
        time = s->gather[v] - 1;
    if (want != 0)
        time = sat_add(time, s->slice[v]);
    *also |= 1;
    return time;
}
