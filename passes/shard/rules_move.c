/* Rules for sharding of operators that move elements (shard.h).  O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* Rule for Transpose: any axis can be cut; the cut moves with the axis. */
bool rule_shard_transpose(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    int64_t perm[SHAPE_RANK];
    (void)r;
    if (!shard_in_shape(q, 0, &k))
        return false;
    int n = attr_ints(q->s->f, q->n, "perm", perm, SHAPE_RANK);
    if (n >= 0 && n != k.rank)
        return false;
    for (int to = 0; to < k.rank; to++) {
        /* without a list the order of axes is reversed */
        int from = n == k.rank ? axis_of(perm[to], k.rank) : k.rank - 1 - to;
        if (from < 0)
            return false;
        if ((q->result ? to : from) != q->given.axis)
            continue;
        shard_set_in(q, 0, from);
        shard_set_out(q, 0, to);
        return true;
    }
    return false;
}

/* ---- Reshape and kin ---------------------------------------------------------------------------- */

/* Axes [a, a_end) of one shape and axes [b, b_end) of another shape that hold the same elements in the same order. */
struct axes_group {
    int a, a_end, b, b_end;
};

/* Whether the next axis belongs to the group whose sizes have the product b, rather than to the one with the product a:
 * a is larger; or a has names, and b has none or divides a.  If that guess is wrong, the products never become
 * equal. */
static bool is_larger(struct module *m, struct dim a, struct dim b)
{
    if (a.sym == 0 && b.sym == 0)
        return a.value > b.value;
    return b.sym == 0 || (a.sym != 0 && dim_same(dim_mul(m, dim_div(m, a, b), b), a));
}

/* Finds in *g the smallest group of axes of *from that contains axis k, and the axes of *to with the same elements;
 * groups are formed from the last axes on.  Returns false if the products of sizes cannot be compared. */
static bool find_group(struct module *m, const struct shape *from, const struct shape *to, int k,
                       struct axes_group *g)
{
    int i = from->rank, j = to->rank;
    /* a group grows by the next axis on the side where the product of its sizes, p or o, is smaller, until both are
     * equal */
    while (i > k) {
        *g = (struct axes_group){.a_end = i, .b_end = j};
        struct dim p = from->d[--i], o = dim_num(1);
        if (j > 0)
            o = to->d[--j];
        while (!dim_same(p, o)) {
            if (!dim_known(p) || !dim_known(o))
                return false;
            if (is_larger(m, p, o)) {
                if (j == 0)
                    return false;
                o = dim_mul(m, o, to->d[--j]);
            } else {
                if (i == 0)
                    return false;
                p = dim_mul(m, p, from->d[--i]);
            }
        }
        g->a = i;
        g->b = j;
    }
    return true;
}

/* Writes to *out the state of a tensor of shape *to that holds the elements of a tensor of shape *from in state st.  It
 * is a cut along an axis of *to, if the elements that a device has in a row are whole positions of that axis.  Returns
 * false if there is no such cut. */
static bool regrouped(const struct shard *s, const struct shape *from, const struct shape *to,
                      struct shard_state st, struct shard_state *out)
{
    struct axes_group g;
    if (st.axis >= from->rank || !find_group(s->m, from, to, st.axis, &g))
        return false;
    /* within the group of axes: total: number of elements that one device has in a row; behind: number of elements for
     * each position of the axis of *to that is looked at (the loop begins with the last axis) */
    int64_t total = st.run, behind = 1;
    for (int i = st.axis + 1; i < g.a_end; i++) {
        if (from->d[i].value <= 0 || total > INT64_MAX / from->d[i].value)
            return false;
        total *= from->d[i].value;
    }
    for (int i = g.b_end; i-- > g.b;) {
        struct dim d = to->d[i];
        if (total % behind != 0)
            return false;
        int64_t run = total / behind;
        if (run > INT64_MAX / s->ways)
            return false;
        struct dim step = dim_num(run * s->ways);
        /* whether the axis is the one that is cut in *from, into unequal pieces */
        bool whole_axis =
            run == st.run && dim_same(d, from->d[st.axis]) && shard_cuts_unevenly(s->ways, d, run);
        if (!shard_is_one(d) &&
            (whole_axis ||
             (d.sym == 0 ? d.value % (run * s->ways) == 0
                         : dim_same(dim_mul(s->m, dim_div(s->m, d, step), step), d)))) {
            *out = (struct shard_state){(uint8_t)i, run};
            return true;
        }
        if (d.value <= 0 || behind > INT64_MAX / d.value)
            return false;
        behind *= d.value;
    }
    return false;
}

/* Notes in q->change[0] how the sizes in operand 1 of a Reshape change for pieces, if they do.  in, out: shapes of
 * operand and result; a, b: their axes that are cut.  Returns false if the sizes are not known, or cannot be
 * changed. */
static bool change_sizes(struct shard_ask *q, const struct shape *in, const struct shape *out,
                         int a, int b)
{
    const struct nums *k = nums_of(q->s->f, node_in(q->s->m, q->n, 1));
    bool copies = node_attr_int(q->s->m, q->n, "allowzero", 0) == 0;
    struct shard_change c = {.kind = SHARD_SIZES, .operand = 1, .known = true};
    if (k == NULL || (int)k->n != out->rank)
        return false;
    int64_t *fix = arena_array(q->s->a, (size_t)k->n + 1, sizeof *fix);
    for (int j = 0; j < out->rank; j++) {
        struct num e = k->at[j];
        c.known = c.known && e.kind == NUM_INT;
        fix[j] = e.kind == NUM_INT ? e.v : 0;
        if (e.kind == NUM_UNKNOWN && j == b)
            return false;
        if (e.kind == NUM_INT && e.v == -1) /* the Reshape works this size out from the piece */
            continue;
        /* whether the entry copies the operand's size */
        bool zero = e.kind == NUM_INT && e.v == 0 && copies;
        if (!zero && j == b)
            c.divide |= UINT64_C(1) << j;
        /* a copied size stays right if axis j is cut in operand and result, or in neither */
        if (!zero || (j == a) == (j == b))
            continue;
        if (out->d[j].value < 0 || j >= in->rank)
            return false;
        /* else the size of the result's piece stands in place of the 0 */
        c.fix |= UINT64_C(1) << j;
        fix[j] = j == b ? out->d[j].value / q->s->ways : out->d[j].value;
    }
    if (c.fix != 0 && !c.known)
        return false;
    c.value = fix;
    if (c.divide != 0 || c.fix != 0)
        q->change[0] = c;
    return true;
}

/* Whether n is a Squeeze without a list of axes, which drops all axes of size 1: the cut axis of a piece may have
 * size 1. */
static bool drops_ones(const struct module *m, nid n)
{
    return node_is(m, n, "Squeeze") && node_attr(m, n, "axes") == NULL && node_in(m, n, 1) == 0;
}

/* Rule for Reshape, Flatten, Squeeze and Unsqueeze: any axis can be cut if the elements that a device then has are a
 * piece of the result along one of its axes. */
bool rule_shard_reshape(struct shard_ask *q, const struct shard_row *r)
{
    struct shape in, out;
    struct shard_state to;
    (void)r;
    if (drops_ones(q->s->m, q->n))
        return false;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &in) || !shard_out_shape(q, 0, &out) ||
        !regrouped(q->s, q->result ? &out : &in, q->result ? &in : &out, q->given, &to))
        return false;
    q->in[0] = q->result ? to : q->given;
    q->out[0] = q->result ? q->given : to;
    /* before opset 5 the sizes are in an attribute, which is not changed */
    if (node_attr(q->s->m, q->n, "shape") != NULL)
        return false;
    return !node_is(q->s->m, q->n, "Reshape") ||
           change_sizes(q, &in, &out, q->in[0].axis, q->out[0].axis);
}

/* ---- parts of an axis --------------------------------------------------------------------------- */

/* Rule for Split: any axis can be cut.  If it is the axis of the Split, each part consists of whole blocks of all
 * devices, and the sizes of parts are divided by N. */
bool rule_shard_split(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    const uint32_t n = q->s->m->node[q->n].out.n;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &k))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", 0), k.rank);
    if (axis < 0)
        return false;
    shard_set_in(q, 0, q->given.axis);
    shard_set_all_out(q, q->given.axis);
    if (q->given.axis != axis)
        return true;
    /* an omitted result has no known size, which may be no multiple of the number of devices */
    for (uint32_t i = 0; i < n; i++)
        if (node_out(q->s->m, q->n, i) == 0)
            return false;
    uint64_t all = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    if (node_attr(q->s->m, q->n, "split") != NULL)
        q->change[0] =
            (struct shard_change){.kind = SHARD_ATTR_LIST, .attr = "split", .divide = all};
    else if (node_in(q->s->m, q->n, 1) != 0)
        q->change[0] = (struct shard_change){.kind = SHARD_SIZES, .operand = 1, .divide = all};
    /* without a list, the parts of a piece are equal as well */
    return q->change[0].kind != SHARD_SIZES ||
           (shard_list_change(q, &q->change[0]) && q->change[0].known);
}

/* Rule for Concat: any axis can be cut, in all operands alike.  If it is the axis of the Concat, each operand
 * consists of whole blocks of all devices. */
bool rule_shard_concat(struct shard_ask *q, const struct shard_row *r)
{
    (void)r;
    for (uint32_t i = 0; i < q->s->m->node[q->n].nformal; i++)
        shard_set_in(q, i, q->given.axis);
    shard_set_out(q, 0, q->given.axis);
    return true;
}

/* Notes in *c, the change of a Slice's list of starts or ends, that entry j, for the cut axis, is divided by N; or that
 * nothing changes, if the entry is 0 or means the end, whatever the size is.  step: number of positions of the axis in
 * which each device has one run.  Returns false if the list is not known, or the entry is no multiple of step. */
static bool cut_border(struct shard_ask *q, int j, int64_t step, struct shard_change *c)
{
    int64_t v;
    if (!shard_list_change(q, c) || !c->known)
        return false;
    v = c->value[j];
    /* the entry means the end or the beginning, whatever the size is */
    bool ends = v >= INT32_MAX || v <= -INT32_MAX;
    c->divide = v != 0 && !ends ? UINT64_C(1) << j : 0;
    if (c->divide == 0)
        c->kind = SHARD_NOTHING;
    return ends || v % step == 0;
}

/* Rule for Slice: the axes along which all elements stay can be cut; so can a sliced axis, if start and end are
 * multiples of N runs. */
bool rule_shard_slice(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    int64_t axes[SHAPE_RANK], by[SHAPE_RANK]; /* by: the steps */
    bool attrs = node_attr(q->s->m, q->n, "starts") != NULL;
    int cut = q->given.axis;
    int at = -1; /* index of the cut axis in the lists; -1: it is not sliced */
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &k) ||
        q->given.run > INT64_MAX / q->s->ways)
        return false;
    int n = attr_or_input(q->s->f, q->n, "axes", 3, axes, SHAPE_RANK);
    for (int i = 0; i < n; i++) {
        if (axis_of(axes[i], k.rank) < 0)
            return false;
        at = axis_of(axes[i], k.rank) == cut ? i : at;
    }
    const struct nums *first = nums_attr_or_input(q->s->f, q->n, "starts", 1);
    if (n == -2 || (n == -1 && first == NULL))
        return false;
    if (n == -1 && cut < (int)first->n) /* without a list of axes, starts are for the first axes */
        at = cut;
    shard_set_in(q, 0, cut);
    shard_set_out(q, 0, cut);
    if (at < 0)
        return true;
    /* the positions of each device stay in a row only with a step of 1 */
    if (node_in(q->s->m, q->n, 4) != 0 &&
        (ints_of(q->s->f, node_in(q->s->m, q->n, 4), by, SHAPE_RANK) <= at || by[at] != 1))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        q->change[i] = (struct shard_change){.kind = attrs ? SHARD_ATTR_LIST : SHARD_SIZES,
                                             .attr = !attrs   ? NULL
                                                     : i == 0 ? "starts"
                                                              : "ends",
                                             .operand = i + 1};
        if (!cut_border(q, at, q->given.run * q->s->ways, &q->change[i]))
            return false;
    }
    return true;
}

/* Rule for Gather: all axes of the data but the one that is indexed can be cut, and all axes of the indices. */
bool rule_shard_gather(struct shard_ask *q, const struct shard_row *r)
{
    struct shape data, index;
    (void)r;
    if (!shard_in_shape(q, 0, &data) || !shard_in_shape(q, 1, &index))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", 0), data.rank), at = q->given.axis;
    if (axis < 0)
        return false;
    /* in the result, the axes of the indices stand in place of the indexed axis of the data.  at: the cut axis of the
     * result; -1: the cut axis is the indexed one */
    if (!q->result)
        at = q->at == 1 ? at + axis : at < axis ? at : at > axis ? at + index.rank - 1 : -1;
    if (at < 0)
        return false;
    if (at >= axis && at < axis + index.rank)
        shard_set_in(q, 1, at - axis);
    else
        shard_set_in(q, 0, at < axis ? at : at - index.rank + 1);
    shard_set_out(q, 0, at);
    return true;
}

/* Rule for Expand: any axis of the result can be cut, and the operand likewise if it has the axis in full; the entry
 * of operand 1 for the axis is divided by N. */
bool rule_shard_expand(struct shard_ask *q, const struct shard_row *r)
{
    struct shape in, out;
    const struct nums *k = nums_of(q->s->f, node_in(q->s->m, q->n, 1));
    struct shard_change c = {.kind = SHARD_SIZES, .operand = 1};
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &in) || !shard_out_shape(q, 0, &out) ||
        k == NULL || (int)k->n > out.rank)
        return false;
    /* axis: the cut axis of the result; from: the same axis of the operand; entry: index of its size in operand 1.  A
     * negative `from` or `entry`: the operand, or the list, is too short to have the axis */
    int axis = q->given.axis + (q->result ? 0 : out.rank - in.rank),
        from = axis - (out.rank - in.rank), entry = axis - (out.rank - (int)k->n);
    if (axis >= out.rank ||
        (from >= 0 && !shard_is_one(in.d[from]) && !dim_same(in.d[from], out.d[axis])))
        return false;
    if (from >= 0 && !shard_is_one(in.d[from]))
        shard_set_in(q, 0, from);
    shard_set_out(q, 0, axis);
    /* the size of the axis comes from the operand alone */
    if (entry < 0 || (k->at[entry].kind == NUM_INT && k->at[entry].v == 1))
        return true;
    /* only an entry that is the size of the result can be divided: another entry may be 1 when the model runs */
    c.divide = UINT64_C(1) << entry;
    if (!shard_same_size(q, 1, entry, out.d[axis]) || !shard_list_change(q, &c))
        return false;
    q->change[0] = c;
    return true;
}
