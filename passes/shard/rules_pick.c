/* Rules for sharding of operators that pick, place and repeat elements (shard.h), and functions with which rules
 * read lists of sizes: attributes or operands.  O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* ---- lists of sizes ----------------------------------------------------------------------------- */

bool shard_list_change(const struct shard_ask *q, struct shard_change *c)
{
    const struct nums *k = c->attr != NULL ? nums_attr_or_input(q->s->f, q->n, c->attr, UINT32_MAX)
                                           : nums_of(q->s->f, node_in(q->s->m, q->n, c->operand));
    if (k == NULL)
        return false;
    int64_t *list = arena_array(q->s->a, (size_t)k->n + 1, sizeof *list);
    c->known = true;
    for (uint32_t j = 0; j < k->n; j++) {
        c->known = c->known && k->at[j].kind == NUM_INT;
        list[j] = k->at[j].kind == NUM_INT ? k->at[j].v : 0;
    }
    c->value = list;
    return true;
}

bool shard_same_size(const struct shard_ask *q, uint32_t operand, int j, struct dim d)
{
    const struct nums *k = nums_of(q->s->f, node_in(q->s->m, q->n, operand));
    if (k == NULL || j < 0 || j >= (int)k->n)
        return false;
    struct num e = k->at[j];
    return e.kind == NUM_INT ? d.sym == 0 && e.v == d.value
                             : e.kind == NUM_SYM && d.sym != 0 && e.sym == d.sym;
}

/* ---- repeating and picking ---------------------------------------------------------------------- */

/* Rule for Tile: any axis can be cut.  If the operand has several elements along it, each repetition of a piece is a
 * piece of the repetition; if it has a single one, the number of repetitions is divided by N. */
bool rule_shard_tile(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x, y;
    /* the remainder keeps the shift defined for axes that are refused below */
    struct shard_change c = {
        .kind = SHARD_SIZES, .operand = 1, .divide = UINT64_C(1) << (q->given.axis % SHAPE_RANK)};
    int cut = q->given.axis;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &x) || !shard_out_shape(q, 0, &y) ||
        cut >= x.rank)
        return false;
    shard_set_out(q, 0, cut);
    if (!shard_is_one(x.d[cut])) {
        shard_set_in(q, 0, cut);
        return true;
    }
    q->change[0] = c;
    return q->result && shard_same_size(q, 1, cut, y.d[cut]) && shard_list_change(q, &q->change[0]);
}

/* Rule for OneHot: the axes of the indices can be cut. */
bool rule_shard_one_hot(struct shard_ask *q, const struct shard_row *r)
{
    struct shape y;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_out_shape(q, 0, &y))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", -1), y.rank), cut = q->given.axis;
    if (axis < 0 || (q->result && cut == axis))
        return false;
    /* turns `cut`, an axis of the result, into the same axis of the indices */
    if (q->result)
        cut -= cut > axis;
    shard_set_in(q, 0, cut);
    shard_set_out(q, 0, cut + (cut >= axis));
    return true;
}

/* Whether operands i and k have the same size along an axis. */
static bool is_alike(const struct shard_ask *q, uint32_t i, uint32_t k, int axis)
{
    struct shape a, b;
    return shard_in_shape(q, i, &a) && shard_in_shape(q, k, &b) && axis < a.rank && axis < b.rank &&
           dim_same(a.d[axis], b.d[axis]);
}

/* Rule for GatherElements: the axis along which it picks can be cut in indices and result, while the data are whole;
 * any other axis can be cut in data, indices and result. */
bool rule_shard_gather_elements(struct shard_ask *q, const struct shard_row *r)
{
    struct shape data;
    (void)r;
    if (!shard_in_shape(q, 0, &data))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", 0), data.rank), cut = q->given.axis;
    if (axis < 0 || (cut == axis && !q->result && q->at == 0) ||
        (cut != axis && !is_alike(q, 0, 1, cut)))
        return false;
    if (cut != axis)
        shard_set_in(q, 0, cut);
    shard_set_in(q, 1, cut);
    shard_set_out(q, 0, cut);
    return true;
}

/* Rule for ScatterElements: any axis but the one along which it places elements can be cut, in data, indices and
 * updates. */
bool rule_shard_scatter_elements(struct shard_ask *q, const struct shard_row *r)
{
    struct shape data;
    (void)r;
    if (!shard_in_shape(q, 0, &data))
        return false;
    int axis = axis_of(node_attr_int(q->s->m, q->n, "axis", 0), data.rank), cut = q->given.axis;
    if (axis < 0 || cut == axis || !is_alike(q, 0, 1, cut) || !is_alike(q, 0, 2, cut))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        shard_set_in(q, i, cut);
    shard_set_out(q, 0, cut);
    return true;
}

/* Writes the shape of the indices of a GatherND or ScatterND to *index, and the number of axes that each index picks
 * along to *depth.  Returns false if they are not known, or the number is more than SHAPE_RANK. */
static bool index_shape(const struct shard_ask *q, struct shape *index, int *depth)
{
    if (!shard_in_shape(q, 1, index) || index->rank < 1 || index->d[index->rank - 1].value < 0 ||
        index->d[index->rank - 1].value > SHAPE_RANK)
        return false;
    *depth = (int)index->d[index->rank - 1].value;
    return true;
}

/* Rule for GatherND: three sorts of axes can be cut: axes of the data behind those that are indexed; axes of the
 * indices; axes that data and indices have in common. */
bool rule_shard_gather_nd(struct shard_ask *q, const struct shard_row *r)
{
    struct shape index, data;
    int64_t common = node_attr_int(q->s->m, q->n, "batch_dims", 0);
    int depth, at = q->given.axis; /* `at`: the axis in the result */
    (void)r;
    if (!shard_in_shape(q, 0, &data) || !index_shape(q, &index, &depth) || common < 0 ||
        common >= index.rank || common + depth > data.rank)
        return false;
    /* picked: the number of leading axes of the data that are indexed or in common; more: how many more axes the
     * result has */
    int picked = (int)common + depth, more = index.rank - 1 - picked;
    if (!q->result && q->at == 0)
        at = at < common ? at : at >= picked ? at + more : -1;
    else if (!q->result && (q->at != 1 || at >= index.rank - 1))
        return false;
    if (at < 0)
        return false;
    if (at >= index.rank - 1)
        shard_set_in(q, 0, at - more);
    else
        shard_set_in(q, 1, at);
    if (at < common)
        shard_set_in(q, 0, at);
    shard_set_out(q, 0, at);
    return true;
}

/* Rule for ScatterND: the axes of the data behind those that are indexed can be cut, in data, updates and result. */
bool rule_shard_scatter_nd(struct shard_ask *q, const struct shard_row *r)
{
    struct shape index, data;
    int depth, at = q->given.axis; /* `at`: the axis in the data */
    (void)r;
    if (!shard_in_shape(q, 0, &data) || !index_shape(q, &index, &depth) ||
        (!q->result && q->at == 1))
        return false;
    int more = index.rank - 1 - depth; /* how many more axes the updates have than the data */
    if (!q->result && q->at == 2)
        at -= more;
    if (at < depth || at >= data.rank)
        return false;
    shard_set_in(q, 0, at);
    shard_set_in(q, 2, at + more);
    shard_set_out(q, 0, at);
    return true;
}
