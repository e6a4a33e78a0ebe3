/* Rewrites a module for several devices by a choice of options (shard.h).
 *
 * Node n becomes n@0, n@1, ...: one for each device, side by side, each with its piece of operands and results; or, if
 * it stays whole, one for each device or, where no other device needs its results, for the first one alone.  A value
 * that a device needs in another state is converted before the first node there that reads it: pieces are joined by a
 * Concat, a whole value is cut by a Slice.  Where pieces have several blocks, a Reshape makes an axis of blocks first,
 * and another Reshape removes it afterwards.  Pieces of weights are ranges of the weight's bytes.  Nodes that compute
 * from weights, or from sizes of inputs, alone stay as they are: each part has its own copy.  O(N * (nodes + operands))
 * expected. */
#include "passes/shard/write.h"

#include "ir/base/numbers.h"
#include "ir/model/dim.h"
#include "ir/model/edit.h"

#include <string.h>

/* Returns the state in which the node that makes v leaves it, by the node's chosen option; if no node makes v, the
 * state in which the devices keep it. */
static struct shard_state made_in(const struct shard_writer *x, vid v)
{
    const struct value *p = &x->m->value[v];
    if (p->def == 0)
        return x->s->kept[v];
    uint32_t o = x->option[p->def];
    return o != 0 ? x->s->opt[o].out[p->outno] : (struct shard_state){0};
}

/* Whether the devices read v itself, the whole value: v is a weight, an input of which the devices keep no pieces, or
 * the result of a node that stays as it is. */
static bool stays(const struct shard_writer *x, vid v)
{
    nid n = x->m->value[v].def;
    return n == 0 ? x->s->kept[v].run == 0 : x->s->kind[n] != SHARD_NODE;
}

/* ---- pieces of weights and constants ------------------------------------------------------------ */

/* Adds an entry for weight v, whose tensor is t, in state st to x->w; returns its array of the names of pieces,
 * [device], which the caller fills. */
static const char **note_weight(struct shard_writer *x, vid v, tid t, struct shard_state st)
{
    struct arena *mem = x->s->x->use.mem;
    const struct tensor *k = &x->m->tensor[t];
    uint64_t key = map_key(v, (uint32_t)shard_bit(x->s, v, st) + 1);
    uint32_t at = map_get(&x->weights, key);
    if (at == 0) {
        int64_t before = 1, blocks = (x->m->ints[k->dim + st.axis] - 1) / (st.run * x->ways) + 1;
        for (uint32_t i = 0; i < st.axis; i++)
            before *= x->m->ints[k->dim + i];
        x->w->weight =
            vec_grow(mem, x->w->weight, &x->w->capweight, x->w->nweight + 1, sizeof *x->w->weight);
        at = ++x->w->nweight;
        x->w->weight[at - 1] =
            (struct sharded_weight){.name = value_name(x->m, v),
                                    .axis = st.axis,
                                    .run = st.run,
                                    .blocks = blocks,
                                    .contiguous = before * blocks == 1,
                                    .piece = arena_array(mem, x->ways, sizeof(char *))};
        map_set(&x->weights, x->a, key, at);
    }
    return (const char **)(uintptr_t)x->w->weight[at - 1].piece;
}

/* Returns piece i, in state st, of weight v, whose tensor is t. */
static vid weight_piece(struct shard_writer *x, vid v, tid t, struct shard_state st, uint32_t i)
{
    const struct tensor *k = &x->m->tensor[t];
    int64_t size = x->m->ints[k->dim + st.axis], step = st.run * x->ways;
    uint32_t n = (uint32_t)((size - 1) / step + 1);
    int64_t *range = arena_array(x->a, 2 * (size_t)n, sizeof *range);
    for (uint32_t b = 0; b < n; b++) {
        range[2 * b] = b * step + i * st.run;
        range[2 * b + 1] = smaller(range[2 * b] + st.run, size);
    }
    const char *name =
        arena_fmt(x->a, "%s@%u.%lld.%u", value_name(x->m, v), st.axis, (long long)st.run, i);
    vid w = edit_weight(x->e, 1, name, edit_slice(x->e, t, st.axis, range, n));
    note_weight(x, v, t, st)[i] = value_name(x->m, w);
    return w;
}

static void change(struct shard_writer *x, const struct shard_change *c, nid n, nid k, uint32_t i);

/* Returns piece i, in state st, of constant v, which a node computes: the result of a copy of that node that reads
 * pieces of its operands, with the changes of its option.  Chains of such nodes are short (strands.c). */
static vid constant_piece(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    const struct module *m = x->m;
    nid n = m->value[v].def;
    const uint32_t o = shard_constant_option(x->s, v, st);
    const uint32_t nin = m->node[n].nformal;
    vid *in = arena_array(x->a, nin + 1, sizeof *in);
    for (uint32_t k = 0; k < nin; k++)
        in[k] = shard_held(x, node_in(m, n, k), x->s->opt[o].in[k], i);
    nid copy = edit_copy(x->e, n);
    edit_operands(x->e, copy, in, nin);
    for (uint32_t c = 0; c < SHARD_CHANGES; c++)
        change(x, &x->s->opt[o].change[c], n, copy, i);
    edit_name_node(x->e, copy, arena_fmt(x->a, "%s@%u", node_name(m, n), i));
    vid w = node_out(m, copy, m->value[v].outno);
    struct shape shape;
    shard_piece(x->s, v, st, i, &shape);
    edit_set_type(x->e, w,
                  module_add_tensor_type(x->m, (enum elem)shape.elem, shape.rank, shape.d));
    return w;
}

/* Returns the states, as bits, in which device i has v. */
static uint32_t states_on(struct shard_writer *x, vid v, uint32_t i)
{
    uint32_t most = 0, have = 0; /* most: the bit of the value's last state */
    for (uint32_t k = x->s->first_item[v]; k != 0; k = x->s->item[k].next)
        most++;
    for (uint32_t bit = 0; bit <= most; bit++) {
        uint32_t at = map_get(&x->made, map_key(v, bit + 1));
        if (at != 0 && x->pool[at + i] != 0)
            have |= UINT32_C(1) << bit;
    }
    return have;
}

/* Whether v, which is made in terms or cut, must be whole before it is brought to the state with that bit.  Only
 * outputs of the model must: they are made whole before any other exchange, as the search supposes. */
static bool is_whole_first(const struct shard_writer *x, vid v, uint32_t bit)
{
    const struct shard_state made = made_in(x, v);
    if ((x->m->value[v].flags & VALUE_OUTPUT) == 0 || x->s->kept[v].run != 0 || bit == 0 ||
        made.run == 0)
        return false;
    uint32_t from = (uint32_t)shard_bit(x->s, v, made);
    /* v need not be whole first for the state in which it is made, nor for a state that it takes on the way to whole */
    return bit != from && shard_source(x->s, v, UINT32_C(1) << from, 0) != bit;
}

vid shard_held(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    if (v == 0 || (st.run == 0 && stays(x, v)))
        return v;
    uint32_t bit = (uint32_t)shard_bit(x->s, v, st), at = shard_copies(x, v, bit);
    if (x->pool[at + i] == 0 && i < x->ways && is_whole_first(x, v, bit))
        shard_held(x, v, (struct shard_state){0}, i);
    /* v may have been there in that state before, or have taken it when it was made whole */
    if (x->pool[at + i] != 0)
        return x->pool[at + i];
    tid t = shard_weight(x->m, v);
    vid w;
    if (t != 0) {
        w = weight_piece(x, v, t, st, i);
    } else if (stays(x, v) && shard_is_constant(x->s, v)) {
        w = constant_piece(x, v, st, i);
    } else if (i >= x->ways) { /* the home of a pinned node: v is whole there */
        struct shard_state from = made_in(x, v);
        w = from.run == 0 ? shard_held(x, v, st, 0) : shard_convert(x, v, from, st, i);
    } else {
        uint32_t have = stays(x, v) ? 1 : states_on(x, v, i);
        uint32_t from = shard_source(x->s, v, have, bit);
        w = shard_convert(x, v, shard_state_of(x->s, v, from), st, i);
    }
    x->pool[at + i] = w; /* x->pool may have moved, but the index `at` stays */
    return w;
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Whether the choice has node n on all devices, even if only the first device needs its results. */
static bool is_on_all(const struct shard_writer *x, nid n)
{
    uint32_t o = x->option[n];
    return o != 0 && x->s->opt[o].change[0].kind != SHARD_ABSORB;
}

/* Sets x->need[] of all values. */
static void find_needs(struct shard_writer *x)
{
    const struct module *m = x->m;
    const struct graph *g = &m->graph[1];
    for (uint32_t i = 0; i < g->out.n; i++)
        x->need[m->arg[g->out.at + i]] =
            x->s->kept[m->arg[g->out.at + i]].run != 0 ? SHARD_NEED_ALL : SHARD_NEED_FIRST;
    for (nid n = g->first + g->count; n-- > g->first;) {
        uint8_t where = SHARD_NEED_FIRST;
        if (x->s->kind[n] != SHARD_NODE && x->s->kind[n] != SHARD_ONCE)
            continue;
        for (uint32_t i = 0; i < m->node[n].out.n && x->s->kind[n] == SHARD_NODE; i++)
            if (x->need[node_out(m, n, i)] == SHARD_NEED_ALL)
                where = SHARD_NEED_ALL;
        if (is_on_all(x, n))
            where = SHARD_NEED_ALL;
        /* the node is on a device that shares nodes, but not the first one: all of them exchange its operands */
        if (x->s->kind[n] == SHARD_ONCE && x->s->home[n] > 0 && x->s->home[n] < x->ways)
            where = SHARD_NEED_ALL;
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid v = node_in(m, n, i);
            if (v != 0) /* 0: none */
                x->need[v] = where > x->need[v] ? where : x->need[v];
        }
    }
}

/* Makes change c, of kind SHARD_SIZES, in node k, the copy of n on device i: replaces operand c->operand by the sizes
 * of the piece; if not all sizes are known here, a Div makes them when the model runs. */
static void change_sizes(struct shard_writer *x, const struct shard_change *c, nid n, nid k,
                         uint32_t i)
{
    vid v = edit_in(x->e, k, c->operand);
    const struct nums *num = nums_of(x->s->f, node_in(x->m, n, c->operand));
    uint32_t count = num->n;
    int64_t *list = arena_array(x->a, count + 1, sizeof *list);
    const char *name = arena_fmt(x->a, "%s.sizes", node_name(x->m, n));
    for (uint32_t j = 0; j < count; j++) {
        bool divide = (c->divide >> j & 1) != 0;
        list[j] = !c->known ? (divide ? x->ways : 1) : divide ? c->value[j] / x->ways : c->value[j];
    }
    vid sizes = edit_ints(x->e, 1, name, list, count);
    if (!c->known) {
        struct shape shape = shape_vector(ELEM_I64, dim_num(count));
        vid in[2] = {v, sizes};
        sizes = shard_add_node(
            x, &(struct shard_making){"Div", arena_fmt(x->a, "%s@%u", name, i), i, in, 2, &shape},
            NULL);
    }
    edit_set_operand(x->e, k, c->operand, sizes);
}

/* Returns the address in x->pool of what device i has of v in state st; valid until the pool grows. */
static vid *copy_of(struct shard_writer *x, vid v, struct shard_state st, uint32_t i)
{
    uint32_t at = shard_copies(x, v, (uint32_t)shard_bit(x->s, v, st));
    return &x->pool[at + i];
}

/* Removes operand `at`, a bias, of node k, a copy of n, so that the copy does not add the bias.  If the operator must
 * have the operand, it becomes 0. */
static void omit(struct shard_writer *x, nid n, nid k, uint32_t at)
{
    const uint32_t count = edit_nin(x->e, k);
    vid *in = arena_array(x->a, count, sizeof *in), none = 0;
    /* before opset 11 a Gemm must have the operand */
    if (node_is(x->m, k, "Gemm") && x->s->f->opset < 11) {
        const uint8_t zero[8] = {0};
        struct shape shape;
        shape_of(x->s->f, node_in(x->m, n, at), &shape);
        none = edit_weight(x->e, 1, arena_fmt(x->a, "%s.none", node_name(x->m, k)),
                           edit_tensor(x->e, (enum elem)shape.elem, (const int64_t[1]){1}, 1, zero,
                                       elem_bits((enum elem)shape.elem) / 8));
    }
    for (uint32_t j = 0; j < count; j++)
        in[j] = j == at ? none : edit_in(x->e, k, j);
    edit_operands(x->e, k, in, at + 1 == count && none == 0 ? at : count);
}

/* Makes change c in node k, the piece i of node n.  (SHARD_PASS changes no piece: write_node() makes one on the
 * first device alone.) */
static void change(struct shard_writer *x, const struct shard_change *c, nid n, nid k, uint32_t i)
{
    int64_t list[SHAPE_VALUES];
    if (c->kind == SHARD_ATTR) {
        edit_set_int(x->e, k, c->attr, node_attr_int(x->m, n, c->attr, 0) / x->ways);
    } else if (c->kind == SHARD_ATTR_LIST) {
        int count = attr_ints(x->s->f, n, c->attr, list, SHAPE_VALUES);
        for (int j = 0; j < count; j++)
            list[j] /= (c->divide >> j & 1) != 0 ? x->ways : 1;
        edit_set_ints(x->e, k, c->attr, list, count > 0 ? (uint32_t)count : 0);
    } else if (c->kind == SHARD_SIZES) {
        change_sizes(x, c, n, k, i);
    } else if (c->kind == SHARD_FIRST && i > 0) {
        omit(x, n, k, c->operand);
    } else if (c->kind == SHARD_ABSORB) {
        shard_absorb(x, k, c->operand, node_in(x->m, n, c->operand), i);
    } else if (c->kind == SHARD_MEAN) {
        vid v = node_out(x->m, n, 0);
        vid *made = copy_of(x, v, (struct shard_state){.run = SHARD_TERMS}, i);
        *made = shard_mean(x, v, *made, i);
    }
}

/* A factor by which a size along a cut axis is multiplied or divided. */
struct factor {
    const char *op; /* "Mul" or "Div" */
    int64_t by;
};

/* Returns v, the result of node n (a Shape or Size) on device i, with the size along `axis` (Size: the number of
 * elements) multiplied or divided by factor f; v itself if the node does not measure that axis. */
static vid scale_sizes(struct shard_writer *x, nid n, vid v, int axis, const struct factor *f,
                       uint32_t i)
{
    struct shape of, shape;
    vid in[2] = {v};
    const char *name =
        arena_fmt(x->a, "%s@%u.%s", value_name(x->m, node_out(x->m, n, 0)), i, f->op);
    shape_of(x->s->f, node_in(x->m, n, 0), &of);
    shape_of(x->s->f, node_out(x->m, n, 0), &shape);
    if (node_is(x->m, n, "Size")) {
        in[1] = edit_weight(x->e, 1, arena_fmt(x->a, "%s.by", name),
                            edit_tensor(x->e, ELEM_I64, NULL, 0, &f->by, sizeof f->by));
    } else {
        int64_t from = node_attr_int(x->m, n, "start", 0),
                to = node_attr_int(x->m, n, "end", of.rank), list[SHAPE_RANK];
        from += from < 0 ? of.rank : 0;
        to += to < 0 ? of.rank : 0;
        from = from < 0 ? 0 : from;
        to = to > of.rank ? of.rank : to;
        if (axis < from || axis >= to)
            return v;
        for (int64_t j = from; j < to; j++)
            list[j - from] = j == axis ? f->by : 1;
        in[1] = edit_ints(x->e, 1, arena_fmt(x->a, "%s.by", name), list, (uint32_t)(to - from));
    }
    shape.elem = ELEM_I64;
    return shard_add_node(x, &(struct shard_making){f->op, name, i, in, 2, &shape}, NULL);
}

/* Returns the sizes of a whole value.  v: the result on device i of node n, which measured the device's piece in
 * state st. */
static vid whole_sizes(struct shard_writer *x, nid n, vid v, struct shard_state st, uint32_t i)
{
    struct factor times = {"Mul", x->ways};
    /* pieces are unequal, so no product of one piece's size and `ways` is the whole: the measured size is divided by
     * itself, and the quotient 1 is multiplied by the whole size */
    if (shard_is_uneven(x->s, node_in(x->m, n, 0), st)) {
        struct shape of, mine;
        shape_of(x->s->f, node_in(x->m, n, 0), &of);
        shard_piece(x->s, node_in(x->m, n, 0), st, i, &mine);
        v = scale_sizes(x, n, v, st.axis, &(struct factor){"Div", mine.d[st.axis].value}, i);
        times.by = of.d[st.axis].value;
    }
    return scale_sizes(x, n, v, st.axis, &times, i);
}

/* Adds the copy of node n for device i, with the changes of its option, and notes its results as what the device has.
 * in: the copy's operands; p: the chosen option; NULL: whole. */
static void copy_node(struct shard_writer *x, nid n, uint32_t i, const vid *in,
                      const struct shard_option *p)
{
    struct module *m = x->m;
    /* whether a result is a state that the devices keep: its copy may get the name of a piece later */
    bool kept = false;
    for (uint32_t j = 0; j < m->node[n].out.n; j++)
        kept = kept || x->s->kept[node_out(m, n, j)].run != 0;
    nid k = edit_copy_named(x->e, n, kept ? NULL : arena_fmt(x->a, "@%u", i));
    edit_operands(x->e, k, in, m->node[n].nformal);
    if (kept || m->node[n].name == 0)
        edit_name_node(x->e, k, arena_fmt(x->a, "%s@%u", node_name(m, n), i));
    shard_put(x, k, i);
    for (uint32_t j = 0; j < m->node[n].out.n; j++) {
        vid v = node_out(m, n, j), w = node_out(m, k, j);
        struct shard_state st = p != NULL ? p->out[j] : (struct shard_state){0};
        struct shape shape;
        if (v == 0 || m->value[v].name == 0)
            continue;
        /* whether the device keeps v in another state: only what it keeps gets the name of the piece */
        bool other = x->s->kept[v].run != 0 && !shard_same(st, x->s->kept[v]);
        if (kept)
            edit_name_value(x->e, w,
                            arena_fmt(x->a, "%s@%u%s", value_name(m, v), i, other ? ".made" : ""));
        if (st.run != 0) {
            shard_piece(x->s, v, st, i, &shape);
            edit_set_type(x->e, w,
                          module_add_tensor_type(m, (enum elem)shape.elem, shape.rank, shape.d));
        }
        uint32_t at = shard_copies(x, v, (uint32_t)shard_bit(x->s, v, st));
        x->pool[at + i] = w;
    }
    for (uint32_t c = 0; p != NULL && c < SHARD_CHANGES; c++)
        change(x, &p->change[c], n, k, i);
}

/* Whether v is brought to device i for a node that runs on the first `count` devices: to these; and to the other
 * devices, too, if nodes on other devices than the first one need v, since all devices then exchange v at the same
 * time, as the search supposes.  (Values that no node reads are removed later.) */
static bool is_wanted(const struct shard_writer *x, vid v, uint32_t i, uint32_t count)
{
    return i < count || (v != 0 && x->need[v] == SHARD_NEED_ALL);
}

/* Replaces node n by its copies, on all devices or on the first one alone; first brings the operands there.  Where n
 * measures a piece (Shape, Size), turns its result into the sizes of the whole value. */
static void write_node(struct shard_writer *x, nid n)
{
    const struct module *m = x->m;
    const struct node k = m->node[n];
    const struct shard_option *p = x->option[n] != 0 ? &x->s->opt[x->option[n]] : NULL;
    uint32_t count = is_on_all(x, n) ? x->ways : 1;
    vid *in = arena_array(x->a, (size_t)x->ways * (k.nformal + 1), sizeof *in);
    for (uint32_t j = 0; j < k.out.n; j++)
        count = x->need[node_out(m, n, j)] == SHARD_NEED_ALL ? x->ways : count;
    struct shard_state seen =
        node_tells_sizes(m, n) ? made_in(x, node_in(m, n, 0)) : (struct shard_state){0};
    x->at = n;
    /* each operand is exchanged on all devices before the next operand, so that the devices stay in step */
    for (uint32_t j = 0; j < k.nformal; j++)
        for (uint32_t i = 0; i < x->ways; i++)
            if (is_wanted(x, node_in(m, n, j), i, count))
                in[i * k.nformal + j] =
                    shard_held(x, node_in(m, n, j), p != NULL ? p->in[j] : seen, i);
    /* each copy is put right behind n, so the copy that is to be the last comes first */
    for (uint32_t i = count; i-- > 0;) {
        const vid *own = in + (size_t)i * k.nformal;
        if (i > 0 && p != NULL && p->change[0].kind == SHARD_PASS)
            *copy_of(x, node_out(m, n, 0), p->out[0], i) = own[p->change[0].operand];
        else
            copy_node(x, n, i, own, p);
    }
    for (uint32_t i = 0; i < count && shard_is_cut(seen); i++) {
        uint32_t at = shard_copies(x, node_out(m, n, 0), 0) + i;
        vid sizes = whole_sizes(x, n, x->pool[at], seen, i);
        x->pool[at] = sizes;
    }
    edit_drop(x->e, n);
    x->w->cut += p != NULL;
    x->w->whole += p == NULL;
}

/* Returns the name of piece i of a value. */
static const char *piece_name(struct shard_writer *x, const char *name, uint32_t i)
{
    return arena_fmt(x->s->x->use.mem, "%s@%u", name, i);
}

/* Returns the description of v, an input or output that is a state in pieces, at place `at` of its list; *piece
 * becomes the array for the names of its pieces, which the caller fills. */
static struct sharded_end end_of(struct shard_writer *x, vid v, uint32_t at, const char ***piece)
{
    struct arena *mem = x->s->x->use.mem;
    *piece = arena_array(mem, x->ways, sizeof **piece);
    return (struct sharded_end){value_name(x->m, v), x->m->value[v].type, at, *piece};
}

/* Returns an array: [value] its place in a list of inputs or outputs; values with one of the flags `but` are not
 * counted. */
static const uint32_t *places_in(const struct shard_writer *x, struct slice list, uint32_t but)
{
    const struct module *m = x->m;
    uint32_t *place = arena_array(x->a, m->nval, sizeof *place);
    uint32_t at = 0;
    for (uint32_t i = 0; i < list.n; i++)
        at += (m->value[m->arg[list.at + i]].flags & but) == 0;
    /* from the end, so that of a value listed twice the first place counts */
    for (uint32_t i = list.n; i-- > 0;) {
        vid v = m->arg[list.at + i];
        at -= (m->value[v].flags & but) == 0;
        place[v] = at;
    }
    return place;
}

/* For each state that the devices keep in pieces: adds an input for each piece, which is what its device has of the
 * state, and an entry in x->w. */
static void keep_inputs(struct shard_writer *x)
{
    const struct place *p = x->s->place;
    const uint32_t *place = places_in(x, x->m->graph[1].in, VALUE_INIT);
    x->w->pair = arena_array(x->s->x->use.mem, (size_t)p->nstate + 1, sizeof *x->w->pair);
    for (uint32_t k = 0; k < p->nstate; k++) {
        vid in = p->state_in[k];
        struct shard_state st = x->s->kept[in];
        struct shape shape;
        const char **name;
        if (st.run == 0)
            continue;
        struct sharded_pair *pair = &x->w->pair[x->w->npair++];
        *pair = (struct sharded_pair){.axis = st.axis, .run = st.run};
        pair->in = end_of(x, in, place[in], &name);
        uint32_t at = shard_copies(x, in, (uint32_t)shard_bit(x->s, in, st));
        shard_piece(x->s, in, st, /*i=*/0, &shape); /* the pieces have equal shapes */
        uint32_t type = module_add_tensor_type(x->m, (enum elem)shape.elem, shape.rank, shape.d);
        for (uint32_t i = 0; i < x->ways; i++) {
            x->pool[at + i] = edit_input(x->e, 1, piece_name(x, value_name(x->m, in), i), type);
            name[i] = value_name(x->m, x->pool[at + i]);
        }
    }
}

/* For each state that the devices keep in pieces: makes its pieces outputs, notes their names in x->w, and withdraws
 * the whole input and the whole output. */
static void keep_outputs(struct shard_writer *x)
{
    const struct place *p = x->s->place;
    const uint32_t *place = places_in(x, x->m->graph[1].out, 0);
    struct sharded_pair *pair = x->w->pair; /* the pairs are in the order of keep_inputs() */
    for (uint32_t k = 0; k < p->nstate; k++) {
        vid out = p->state_out[k];
        struct shard_state st = x->s->kept[out];
        const char **name;
        if (st.run == 0)
            continue;
        pair->out = end_of(x, out, place[out], &name);
        for (uint32_t i = 0; i < x->ways; i++) {
            const char *like = piece_name(x, pair->out.name, i);
            vid w = shard_held(x, out, st, i);
            if (strcmp(value_name(x->m, w), like) != 0)
                edit_name_value(x->e, w, like);
            name[i] = value_name(x->m, w);
            edit_output(x->e, 1, w);
        }
        pair++;
    }
    for (uint32_t k = 0; k < p->nstate; k++)
        if (x->s->kept[p->state_out[k]].run != 0) {
            edit_withdraw(x->e, p->state_in[k]);
            edit_withdraw(x->e, p->state_out[k]);
        }
}

/* Brings the outputs of the model, whole, to the first device, and makes the pieces of states outputs.  Then replaces
 * each value that was rewritten, for nodes that stay and for outputs, by the whole value on the first device.  most:
 * the number of values before the rewriting. */
static void replace_reads(struct shard_writer *x, vid most)
{
    const struct graph g = x->m->graph[1];
    x->at = 0;
    for (uint32_t i = 0; i < g.out.n; i++)
        if (x->s->kept[x->m->arg[g.out.at + i]].run == 0)
            shard_held(x, x->m->arg[g.out.at + i], (struct shard_state){0}, 0);
    keep_outputs(x);
    for (vid v = 1; v < most; v++) {
        uint32_t at = map_get(&x->made, map_key(v, 1));
        if (at != 0 && x->pool[at] != 0)
            edit_replace(x->e, v, x->pool[at]);
    }
}

/* Sets module.device_ann to the devices of all nodes.  now: [node] its new number. */
static void annotate(struct shard_writer *x, const nid *now)
{
    struct module *m = x->m;
    sid *name = arena_array(x->a, x->s->ndev, sizeof *name);
    m->device_ann = arena_array(m->mem, m->nnode, sizeof *m->device_ann);
    for (uint32_t i = 0; i < x->s->ndev; i++)
        name[i] = str_id(m, cluster_device_name(x->s->x->scene.cluster, x->a, x->s->dev[i]));
    for (uint32_t i = 0; i < x->nplaced; i++)
        m->device_ann[now[x->placed[i].node]] = name[x->placed[i].dev];
    m->device_ann[0] = 0; /* nodes that were removed have the new number 0 */
}

struct shard_written shard_write(struct shard *s, const struct shard_choice *c)
{
    struct shard_written w = {0};
    struct shard_writer x = {
        .s = s, .m = s->m, .a = s->a, .ways = s->ways, .option = c->option, .npool = 1, .w = &w};
    const struct graph g = s->m->graph[1];
    const vid most = s->m->nval;
    x.need = arena_alloc(s->a, most);
    find_needs(&x);
    x.e = edit_begin(s->m, s->a);
    keep_inputs(&x);
    for (nid n = g.first; n < g.first + g.count; n++) {
        if (s->kind[n] == SHARD_NODE) {
            write_node(&x, n);
        } else if (s->kind[n] == SHARD_ONCE) {
            /* brings the operands, whole, to the node's device, and to others that exchange them at the same time */
            x.at = n;
            for (uint32_t i = 0; i < s->m->node[n].in.n; i++) {
                /* what bodies of the node read is taken from the first device: replace_reads() */
                uint32_t home = i < s->m->node[n].nformal ? s->home[n] : 0;
                vid v = shard_held(&x, node_in(s->m, n, i), (struct shard_state){0}, home);
                for (uint32_t j = 0; j < s->ways; j++)
                    if (is_wanted(&x, node_in(s->m, n, i), j, 0))
                        shard_held(&x, node_in(s->m, n, i), (struct shard_state){0}, j);
                if (home != 0)
                    edit_set_operand(x.e, n, i, v);
            }
            shard_put(&x, n, s->home[n]);
            w.once++;
        } else if (s->kind[n] == SHARD_DEAD) {
            edit_drop(x.e, n);
        }
    }
    replace_reads(&x, most);
    edit_sweep(x.e);
    annotate(&x, edit_end(x.e));
    w.made = s->m->graph[1].count;
    return w;
}
