/* Rules for operators that move, repeat and pick elements (batch_rules.h): they find the axis to which the batch goes.
 * Rules return NULL, or the reason why the node must see all samples together.
 *
 * A reshaped value stays in blocks if the product of the sizes before the cut axis is the same before and after: then
 * block i of the new axis has the elements of block i of the old axis, in the same order.  O(rank) for each node. */
#include "passes/rewrite/batch_rules.h"

#include "ir/model/dim.h"

#include <string.h>

/* Returns the reason for a node that has an operand of unknown rank. */
static const char *unknown_rank(struct batch_search *x)
{
    return batch_say(x, "the rank of an operand is not known");
}

/* ---- joining and parting ------------------------------------------------------------------------ */

/* Whether a Concat along `axis` makes indices in the state INDEX: `axis` is the last of the
 * result's `rank` axes; operand 0 holds the numbers of the samples (state NUMBERS, stride 1, size 1
 * at the last axis), and all other operands are CUT or WHOLE. */
static bool joins_index(struct batch_search *x, int axis, int rank)
{
    struct shape s;
    batch_shape(x, 0, &s);
    bool index = axis == rank - 1 && batch_in(x, 0).how == BATCH_NUMBERS && s.rank == rank &&
                 s.d[axis].value == 1 && batch_in(x, 0).stride.value == 1;
    for (uint32_t i = 1; index && i < x->m->node[x->n].nformal; i++) {
        struct batch in = batch_in(x, i);
        index = in.how == BATCH_CUT || in.how == BATCH_WHOLE;
    }
    return index;
}

/* Rule of Concat (r->arg == 0) and QLinearConcat.  r->arg: the first operand to join; it is 2 for QLinearConcat,
 * where the scale and zero point of the result stand before it, and its own scale and zero point follow each operand
 * to join.  The scales and zero points must be WHOLE; operands to join that are WHOLE are cut like the others. */
const char *rule_batch_concat(struct batch_search *x, const struct batch_rule *r)
{
    const uint32_t nformal = x->m->node[x->n].nformal, step = r->arg == 0 ? 1 : 3;
    struct batch out = {0};
    struct shape s;
    const char *why = NULL;
    int rank = batch_shape(x, (uint32_t)r->arg, &s), axis;
    for (uint32_t i = 0; i < nformal && step == 1; i++)
        if (batch_in(x, i).how == BATCH_SIZES)
            return sizes_concat(x);
    axis = batch_axis(x, "axis", 0, rank);
    /* scales and zero points: operands 0 and 1, and then two of each three */
    for (uint32_t i = 0; step == 3 && i < nformal && why == NULL; i++)
        if (i < 2 || (i - 2) % 3 != 0)
            why = batch_want_whole(x, i);
    /* out: the state of the first operand to join that has the batch */
    for (uint32_t i = (uint32_t)r->arg; i < nformal && !batch_has_axis(out); i += step)
        out = batch_in(x, i);
    if (why != NULL)
        return why;
    if (rank < 0 || axis < 0)
        return unknown_rank(x);
    if (out.axis == axis)
        return batch_say(x, "it joins along the axis of the batch, %d", axis);
    /* the result is CUT if all operands are; else INDEX if it joins indices, or SHAPE */
    bool index = joins_index(x, axis, rank);
    for (uint32_t i = (uint32_t)r->arg; i < nformal && why == NULL; i += step) {
        struct batch in = batch_in(x, i);
        if (in.how == BATCH_WHOLE)
            why = batch_cut(x, i, out.axis);
        else if (in.axis != out.axis)
            why = batch_say(x, "its operands have the batch at different axes");
        out = in.how == BATCH_CUT || in.how == BATCH_WHOLE || index ? out : batch_computed(in);
    }
    out.how = index ? BATCH_INDEX : out.how;
    batch_set(x, 0, out);
    return why;
}

/* Rule of Split: it must split another axis than the batch's; all results are cut where the operand is. */
const char *rule_batch_split(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch in = batch_in(x, 0);
    int axis = batch_axis(x, "axis", 0, batch_shape(x, 0, &s));
    (void)r;
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    if (axis < 0)
        return unknown_rank(x);
    if (axis == in.axis)
        return batch_say(x, "it splits the axis of the batch, %d", axis);
    for (uint32_t i = 0; i < x->m->node[x->n].out.n; i++)
        batch_set(x, i, batch_computed(in));
    return batch_want_whole_from(x, 1);
}

/* Returns the index, in the lists of starts and ends of a Slice, of the entries for an axis of its
 * operand, which has rank `rank`; -1: the Slice leaves the axis as it is; -2: it is not known which
 * axes the Slice cuts. */
static int slice_entry(struct batch_search *x, int axis, int rank)
{
    const int count = batch_list_of(x, "starts", 1).n;
    struct batch_list axes = batch_list_of(x, "axes", 3);
    if (node_in(x->m, x->n, 3) == 0 && node_attr(x->m, x->n, "axes") == NULL)
        return count < 0 ? -2 : axis < count ? axis : -1;
    if (axes.n < 0 || axes.num == NULL || axes.scaled != 0)
        return -2;
    for (int j = 0; j < axes.n; j++) {
        if (axes.num->at[j].kind != NUM_INT)
            return -2;
        if (axis_of(axes.num->at[j].v, rank) == axis)
            return j;
    }
    return -1;
}

/* Whether entry j of a Slice's starts, ends and steps takes all elements of its axis in their order, whatever the
 * size of the axis: from 0, in steps of 1, to an end that is INT32_MAX or more, by which exporters mean "to the
 * end". */
static bool takes_all(struct batch_search *x, int j)
{
    struct batch_list from = batch_list_of(x, "starts", 1), to = batch_list_of(x, "ends", 2),
                      step = batch_list_of(x, NULL, 4);
    bool by_one = node_in(x->m, x->n, 4) == 0 || batch_entry_is(&step, j, 1);
    bool to_end = to.num != NULL && j < to.n && to.num->at[j].kind == NUM_INT &&
                  to.num->at[j].v >= INT32_MAX && (to.scaled >> j & 1) == 0;
    return by_one && to_end && batch_entry_is(&from, j, 0);
}

/* Rule of Slice: the axis of the batch must keep all its elements in their order. */
const char *rule_batch_slice(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch in = batch_in(x, 0);
    int rank = batch_shape(x, 0, &s);
    (void)r;
    if (in.how == BATCH_SIZES)
        return sizes_slice(x);
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    if (rank < 0)
        return unknown_rank(x);
    int j = slice_entry(x, in.axis, rank);
    if (j == -2)
        return batch_say(x, "the axes that it cuts are not known");
    if (j >= 0 && !takes_all(x, j))
        return batch_say(x, "it picks samples: it cuts the axis of the batch, %d", in.axis);
    batch_set(x, 0, in.how == BATCH_INDEX ? batch_computed(in) : in);
    return batch_want_whole_from(x, 1);
}

/* ---- picking by indices ------------------------------------------------------------------------- */

/* Whether operand i has, at `axis`, the same size as operand k at axis `other`. */
static bool is_same_batch(const struct batch_search *x, uint32_t i, int axis, uint32_t k, int other)
{
    struct shape s, t;
    return batch_shape(x, i, &s) > axis && batch_shape(x, k, &t) > other &&
           dim_same(s.d[axis], t.d[other]);
}

/* Rule of Gather.  It may pick along another axis than the batch's; or WHOLE data by indices that are cut; or
 * along the axis of the batch by the numbers of all samples, so that each copy picks its own block. */
const char *rule_batch_gather(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s, t;
    struct batch data = batch_in(x, 0), index = batch_in(x, 1);
    /* the axes of the indices, `many`, stand in the result in place of data's axis `axis` */
    int rank = batch_shape(x, 0, &s), many = batch_shape(x, 1, &t),
        axis = batch_axis(x, "axis", 0, rank);
    (void)r;
    if (data.how == BATCH_SIZES)
        return sizes_gather(x);
    if (axis < 0 || many < 0)
        return unknown_rank(x);
    /* the data are equal in all copies: the result is cut where the indices are, which must be CUT */
    if (index.how == BATCH_SIZES || (index.how != BATCH_WHOLE && data.how == BATCH_WHOLE)) {
        const char *why = batch_want_cut(x, 1);
        batch_set(x, 0, batch_at(index, index.axis + axis));
        return why;
    }
    /* the indices number the samples, `stride` positions of the data for each: each copy picks from its own block */
    if (index.how == BATCH_NUMBERS && data.how == BATCH_CUT && data.axis == axis &&
        dim_same(s.d[axis], dim_mul(x->m, t.d[index.axis], index.stride))) {
        batch_set(x, 0, batch_at(data, axis + index.axis));
        return NULL;
    }
    if (data.axis == axis)
        return batch_say(x, "it picks samples: it gathers along the axis of the batch, %d", axis);
    /* the data have the batch at another axis, and all copies pick alike */
    batch_set(x, 0,
              batch_at(batch_computed(data), data.axis < axis ? data.axis : data.axis - 1 + many));
    return batch_want_whole(x, 1);
}

/* Returns NULL if operands i and k are CUT at the same axis, of the same size; else the reason. */
static const char *want_alike(struct batch_search *x, uint32_t i, uint32_t k)
{
    struct batch a = batch_in(x, i), b = batch_in(x, k);
    const char *why = batch_want_cut(x, i);
    why = why != NULL ? why : batch_want_cut(x, k);
    if (why == NULL && (a.axis != b.axis || !is_same_batch(x, i, a.axis, k, b.axis)))
        return batch_say(x, "its operands %u and %u have the batch in different ways", i, k);
    return why;
}

/* Rule of GatherElements: data and indices are cut at the same axis, and the operator picks along another axis; or
 * data are WHOLE, and indices are cut at the axis along which the operator picks. */
const char *rule_batch_gather_elements(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch data = batch_in(x, 0), index = batch_in(x, 1);
    int axis = batch_axis(x, "axis", 0, batch_shape(x, 0, &s));
    (void)r;
    if (axis < 0)
        return unknown_rank(x);
    batch_set(x, 0, index);
    if (data.how == BATCH_WHOLE && index.how == BATCH_CUT && index.axis == axis)
        return NULL;
    const char *why = want_alike(x, 0, 1);
    if (why == NULL && data.axis == axis)
        why = batch_say(x, "it picks samples: it gathers along the axis of the batch, %d", axis);
    return why;
}

/* Rule of ScatterElements: data, indices and updates must be cut at the same axis, and the operator must scatter
 * along another axis. */
const char *rule_batch_scatter_elements(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch data = batch_in(x, 0);
    int axis = batch_axis(x, "axis", 0, batch_shape(x, 0, &s));
    const char *why = want_alike(x, 0, 1);
    (void)r;
    why = why != NULL ? why : want_alike(x, 0, 2);
    if (why == NULL && (axis < 0 || data.axis == axis))
        return batch_say(x, "it moves samples: it scatters along the axis of the batch, %d", axis);
    batch_set(x, 0, data);
    return why;
}

/* Returns the length of the index vectors in operand i, that is, how many axes these vectors index; -1: not known. */
static int index_length(const struct batch_search *x, uint32_t i)
{
    struct shape s;
    int rank = batch_shape(x, i, &s);
    return rank < 1 || s.d[rank - 1].value < 0 ? -1 : (int)s.d[rank - 1].value;
}

/* Sets *out to the state of a GatherND's result or, for a ScatterND, to the state that its updates must have.
 * common: the number of leading axes that data and indices have in common (batch_dims).  Returns NULL, or the reason
 * why the node must see all samples together. */
static const char *pick_vectors(struct batch_search *x, int common, struct batch *out)
{
    struct shape s;
    struct batch data = batch_in(x, 0), index = batch_in(x, 1);
    int depth = index_length(x, 1), many = batch_shape(x, 1, &s);
    if (depth < 0 || batch_shape(x, 0, &s) < 0)
        return unknown_rank(x);
    /* the first axes of the result are those of the indices but the last: at first the result is taken to be cut where
     * the indices are */
    *out = index;
    out->how = BATCH_CUT;
    if (batch_has_axis(index) && index.axis == many - 1)
        return batch_say(x, "the batch is the axis of its indices' components");
    /* the indices' first component numbers the samples: each copy picks from its own block of the data */
    if (index.how == BATCH_INDEX && data.how == BATCH_CUT && data.axis == 0 && common == 0)
        return is_same_batch(x, 0, 0, 1, index.axis)
                   ? NULL
                   : batch_say(x, "its indices number more or fewer samples than there are");
    /* the batch is one of the axes that data and indices have in common */
    if (data.how == BATCH_CUT && data.axis < common)
        return want_alike(x, 0, 1);
    if (data.how == BATCH_CUT && data.axis < common + depth)
        return batch_say(x, "it picks samples: its indices are of the axis of the batch, %d",
                         data.axis);
    /* all copies have the same data, and each picks by its block of the indices */
    if (data.how == BATCH_WHOLE && index.how == BATCH_CUT && index.axis >= common)
        return NULL;
    /* the batch is one of data's axes behind the indexed ones: the result ends with these axes */
    *out = batch_at(data, many - 1 + data.axis - common - depth);
    const char *why = batch_want_cut(x, 0);
    return why != NULL ? why : batch_want_whole(x, 1);
}

/* Rule of GatherND: pick_vectors() says where the result is cut. */
const char *rule_batch_gather_nd(struct batch_search *x, const struct batch_rule *r)
{
    struct batch out = {0};
    int64_t common = node_attr_int(x->m, x->n, "batch_dims", 0);
    (void)r;
    if (common < 0 || common > SHAPE_RANK)
        return unknown_rank(x);
    const char *why = pick_vectors(x, (int)common, &out);
    batch_set(x, 0, out);
    return why;
}

/* Rule of ScatterND: its updates must be cut where pick_vectors() says; the result is cut where the data are. */
const char *rule_batch_scatter_nd(struct batch_search *x, const struct batch_rule *r)
{
    struct batch out = {0}, data = batch_in(x, 0), updates = batch_in(x, 2);
    const char *why = batch_want_cut(x, 0);
    (void)r;
    why = why != NULL ? why : pick_vectors(x, 0, &out);
    why = why != NULL ? why : batch_want_cut(x, 2);
    if (why == NULL && updates.axis != out.axis)
        return batch_say(x, "its operands 0 and 2 have the batch in different ways");
    batch_set(x, 0, data);
    return why;
}

/* Rule of OneHot: indices are cut; the axis that OneHot adds may stand before the batch's axis, which then moves
 * back by one. */
const char *rule_batch_one_hot(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch in = batch_in(x, 0);
    int rank = batch_shape(x, 0, &s), axis = batch_axis(x, "axis", -1, rank + 1);
    const char *why = batch_want_cut(x, 0);
    (void)r;
    if (rank < 0 || axis < 0)
        return unknown_rank(x);
    batch_set(x, 0, batch_at(in, in.axis + (axis <= in.axis)));
    return why != NULL ? why : batch_want_whole_from(x, 1);
}

/* ---- the order of axes -------------------------------------------------------------------------- */

/* Rule of Transpose: the batch goes to the axis where perm puts its axis; without perm, axes are in reverse order. */
const char *rule_batch_transpose(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    int64_t perm[SHAPE_RANK];
    struct batch in = batch_in(x, 0);
    int rank = batch_shape(x, 0, &s), n = attr_ints(x->f, x->n, "perm", perm, SHAPE_RANK), to = -1;
    (void)r;
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    if (node_attr(x->m, x->n, "perm") == NULL && rank >= 0)
        to = rank - 1 - in.axis;
    for (int i = 0; i < n; i++) /* perm[i] < 0: counted from the last axis */
        to = perm[i] == in.axis || perm[i] == in.axis - n ? i : to;
    if (to < 0)
        return unknown_rank(x);
    batch_set(x, 0, batch_at(in.how == BATCH_INDEX ? batch_computed(in) : in, to));
    return NULL;
}

/* Rule of Squeeze: the axes that it drops must be known and not be the batch's. */
const char *rule_batch_squeeze(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch in = batch_in(x, 0);
    uint32_t axes;
    bool absent;
    int rank = batch_shape(x, 0, &s);
    (void)r;
    if (in.how == BATCH_SIZES)
        return sizes_same(x);
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    if (rank < 0 || !batch_axes(x, 1, rank, &axes, &absent))
        return batch_say(x, "the axes that it drops are not known");
    if (absent)
        return batch_say(
            x, "it drops all axes of size 1, which that of a single sample is, too: list its axes");
    if ((axes >> in.axis & 1) != 0)
        return batch_say(x, "it drops the axis of the batch, %d", in.axis);
    /* each dropped axis before the batch's axis moves that axis one place forward */
    int before = __builtin_popcount(axes & ((UINT32_C(1) << in.axis) - 1));
    batch_set(x, 0, batch_at(in.how == BATCH_INDEX ? batch_computed(in) : in, in.axis - before));
    return NULL;
}

/* Rule of Unsqueeze: the axes that it adds must be known. */
const char *rule_batch_unsqueeze(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s;
    struct batch in = batch_in(x, 0);
    uint32_t axes;
    bool absent;
    int rank = batch_shape(x, 0, &s), count = batch_list_of(x, "axes", 1).n, to = 0;
    (void)r;
    if (in.how == BATCH_SIZES)
        return sizes_same(x);
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    if (rank < 0 || count < 0 || rank + count > SHAPE_RANK ||
        !batch_axes(x, 1, rank + count, &axes, &absent) || absent)
        return batch_say(x, "the axes that it adds are not known");
    /* old axes keep their order: `to` ends at the new place of axis in.axis */
    for (int old = 0; to < rank + count; to++) {
        if ((axes >> to & 1) == 0 && old++ == in.axis)
            break;
    }
    batch_set(x, 0, batch_at(in.how == BATCH_INDEX ? batch_computed(in) : in, to));
    return NULL;
}

/* ---- other axes --------------------------------------------------------------------------------- */

/* Returns the product of the sizes before an axis. */
static struct dim elements_before(struct batch_search *x, const struct shape *s, int axis)
{
    return axis <= s->rank ? dim_product(x->m, s->d, 0, axis) : dim_unknown();
}

/* Returns the state of a reshaped value whose operand has state s and shape *in.  to: the axis of the result that
 * has the blocks; out: shape of the result. */
static struct batch reshaped(struct batch s, const struct shape *in, int to,
                             const struct shape *out)
{
    bool same = s.how == BATCH_NUMBERS && dim_same(in->d[s.axis], out->d[to]);
    return batch_at(s.how == BATCH_CUT || same ? s : batch_computed(s), to);
}

/* Returns the reason for a Reshape or Flatten after which samples are not in blocks. */
static const char *not_contiguous(struct batch_search *x)
{
    return batch_say(x, "it merges or parts axes so that samples do not stay in blocks");
}

/* Returns the index of the entry of k, the target sizes of a Reshape, that is for the axis of the batch; no entry
 * of k depends on the batch. -1: it is not known which entry is. *divide: whether that entry is a number, which
 * copies must divide by N. in, out: shapes of operand and result; axis: place of the batch in the operand. */
static int target_axis(struct batch_search *x, const struct batch_list *k, const struct shape *in,
                       const struct shape *out, int axis, bool *divide)
{
    bool zero_copies = node_attr_int(x->m, x->n, "allowzero", 0) == 0;
    struct dim before = elements_before(x, in, axis);
    *divide = false;
    if (k->num == NULL || out->rank != k->n)
        return -1;
    /* an entry 0 copies the size of the operand's axis with the same number */
    if (zero_copies && batch_entry_is(k, axis, 0))
        return axis;
    /* else the batch goes where as many elements stand before it as in the operand; entries 1 before it are skipped */
    for (int j = 0; j < k->n && j < out->rank; j++) {
        struct num e = k->num->at[j];
        bool here = dim_same(before, elements_before(x, out, j)) || (axis == 0 && j == 0);
        if (!here || batch_entry_is(k, j, 1))
            continue;
        /* -1: the size follows from the others, in each copy */
        if (e.kind == NUM_INT && e.v == -1)
            return j;
        *divide = e.kind == NUM_INT && e.v > 0 && e.v % x->ways == 0;
        return *divide ? j : -1;
    }
    return -1;
}

/* Whether N divides the size at axis `to` of a Reshape's result, for which the target has -1.  That is certain if
 * each later axis of the result has the size of another later axis of the operand: then the size is a multiple of
 * the batch. */
static bool open_size_divides(struct batch_search *x, const struct shape *in, int axis,
                              const struct shape *out, int to)
{
    uint32_t used = 0;
    if (dim_known(out->d[to]))
        return batch_divides(x, out->d[to]);
    for (int j = to + 1; j < out->rank; j++) {
        int i = axis + 1;
        while (i < in->rank && ((used >> i & 1) != 0 || !dim_same(in->d[i], out->d[j])))
            i++;
        if (i == in->rank)
            return false;
        used |= UINT32_C(1) << i;
    }
    return true;
}

/* Writes to *to the axis of a Reshape's result that has the batch; if the target's entry for it is a number, notes
 * that copies divide that entry by N.  in: state of the operand; s, out: shapes of operand and result.  Returns
 * NULL, or the reason why there is no such axis. */
static const char *find_target(struct batch_search *x, struct batch in, const struct shape *s,
                               const struct shape *out, int *to)
{
    struct batch_list k = batch_list_of(x, NULL, 1);
    bool divide = false;
    if (k.n < 0)
        return batch_say(x, "the shape that it makes is not known");
    int scaled = batch_only_bit(k.scaled); /* the entry that depends on the batch */
    if (k.scaled != 0 && scaled < 0)
        return not_contiguous(x); /* several entries depend on the batch */
    *to = k.scaled != 0 ? scaled : target_axis(x, &k, s, out, in.axis, &divide);
    if (*to < 0 || *to >= out->rank)
        return batch_say(
            x,
            "the axis of the batch in the shape that it makes is not known, or it merges samples");
    bool copies = in.axis != *to && node_attr_int(x->m, x->n, "allowzero", 0) == 0;
    /* the entry 0 at in.axis copies the operand's size there, which is that of the batch: then two axes would have
     * it */
    if (copies && batch_entry_is(&k, in.axis, 0))
        return not_contiguous(x);
    if (batch_entry_is(&k, *to, -1) && !open_size_divides(x, s, in.axis, out, *to))
        return batch_say(x, "whether %lld divides its axis %d is not known", (long long)x->ways,
                         *to);
    return divide ? batch_divide_entry(x, 1, (uint32_t)*to) : NULL;
}

/* Rule of Reshape: samples must stay in blocks (top of this file).  An operand in state SIZES may only become
 * another shape of the same sizes. */
const char *rule_batch_reshape(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s, out;
    int to = -1;
    (void)r;
    batch_see(x, 1);
    if (in.how == BATCH_SIZES) {
        const char *why = batch_want_whole(x, 1);
        return why != NULL ? why : sizes_same(x);
    }
    if (!batch_has_axis(in))
        return batch_say(x, "it gives a tensor without the batch a size of the batch");
    if (batch_has_axis(batch_in(x, 1)))
        return batch_want_whole(x, 1);
    if (batch_shape(x, 0, &s) < 0 || !shape_of(x->f, node_out(x->m, x->n, 0), &out) || out.rank < 0)
        return unknown_rank(x);
    const char *why = find_target(x, in, &s, &out, &to);
    if (why != NULL)
        return why;
    bool first = in.axis == 0 && to == 0;
    if (!first && !dim_same(elements_before(x, &s, in.axis), elements_before(x, &out, to)))
        return not_contiguous(x);
    batch_set(x, 0, reshaped(in, &s, to, &out));
    return NULL;
}

/* Rule of Flatten: the batch must be the first of the axes that are merged with it, but for axes of size 1. */
const char *rule_batch_flatten(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    int rank = batch_shape(x, 0, &s);
    int64_t at = node_attr_int(x->m, x->n, "axis", 1);
    (void)r;
    if (rank < 0)
        return unknown_rank(x);
    at = at < 0 ? at + rank : at;
    if (at < 0 || at > rank)
        return batch_say(x, "its axis is not known");
    /* axes before `at` become axis 0, the others axis 1; from: the first axis that is merged with the batch's */
    int from = in.axis < at ? 0 : (int)at;
    struct dim before = dim_product(x->m, s.d, from, in.axis);
    if (in.axis != from && before.value != 1)
        return not_contiguous(x);
    batch_set(x, 0, batch_at(in.how == BATCH_CUT ? in : batch_computed(in), in.axis >= at));
    return batch_has_axis(in) ? NULL : batch_want_cut(x, 0);
}

/* ---- repeating and resizing --------------------------------------------------------------------- */

/* Sets the state of an Expand's result if the operand, of shape *s, is WHOLE: exactly one entry of the target sizes
 * k may depend on the batch.  Returns NULL, or the reason why the node must see all samples together. */
static const char *expand_whole(struct batch_search *x, const struct batch_list *k,
                                const struct shape *s)
{
    /* rank: of the result; entry j of the sizes is about the result's axis `to` and the operand's axis `from` */
    int rank = s->rank > k->n ? s->rank : k->n, j = batch_only_bit(k->scaled);
    int to = j + rank - k->n, from = to - (rank - s->rank);
    if (j < 0)
        return batch_say(x, "several axes of its result have a size of the batch");
    if (from >= 0 && s->d[from].value != 1)
        return batch_say(x, "the axis that gets the size of the batch has more than one element");
    batch_set(x, 0, (struct batch){.how = BATCH_CUT, .axis = (uint8_t)to});
    return NULL;
}

/* Rule of Expand.  Broadcasting puts the axis of the batch in the operand at axis `to` of the result, which entry j of
 * the target sizes is about (j < 0: the target has no entry for it).  That entry may be 1, or be computed from the
 * batch; else copies divide it by N.  An operand that is WHOLE: see expand_whole(). */
const char *rule_batch_expand(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct batch_list k = batch_list_of(x, NULL, 1);
    struct shape s;
    (void)r;
    if (in.how == BATCH_SIZES)
        return batch_want_cut(x, 0);
    if (batch_has_axis(batch_in(x, 1)))
        return batch_want_whole(x, 1);
    if (batch_shape(x, 0, &s) < 0 || k.n < 0 || k.n > SHAPE_RANK)
        return unknown_rank(x);
    if (!batch_has_axis(in))
        return expand_whole(x, &k, &s);
    int rank = s.rank > k.n ? s.rank : k.n, to = in.axis + rank - s.rank, j = to - (rank - k.n);
    bool scaled = j >= 0 && (k.scaled >> j & 1) != 0;
    /* another entry than j depends on the batch */
    if ((k.scaled & ~(scaled ? UINT64_C(1) << j : 0)) != 0)
        return batch_say(x, "several axes of its result have a size of the batch");
    batch_set(x, 0, batch_at(in.how == BATCH_INDEX ? batch_computed(in) : in, to));
    return j < 0 || scaled || batch_entry_is(&k, j, 1) ? NULL
                                                       : batch_divide_entry(x, 1, (uint32_t)j);
}

/* Rule of Tile: samples must not repeat.  If the operand is WHOLE, the one axis whose number of repeats depends
 * on the batch becomes the batch's. */
const char *rule_batch_tile(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct batch_list k = batch_list_of(x, NULL, 1);
    (void)r;
    if (in.how == BATCH_SIZES)
        return batch_want_cut(x, 0);
    if (k.n < 0 || batch_has_axis(batch_in(x, 1)))
        return batch_say(x, "how often it repeats is not known");
    if (!batch_has_axis(in)) {
        int axis = batch_only_bit(k.scaled);
        if (axis < 0)
            return batch_say(x, "several axes of its result have a size of the batch");
        batch_set(x, 0, (struct batch){.how = BATCH_CUT, .axis = (uint8_t)axis});
        return NULL;
    }
    if (k.scaled != 0 || !batch_entry_is(&k, in.axis, 1))
        return batch_say(x, "it repeats samples: it may repeat along the axis of the batch, %d",
                         in.axis);
    batch_set(x, 0, batch_computed(in));
    return NULL;
}

/* Returns the index in the list `axes` of an axis, for operators that list a size, pad or scale for each of the axes
 * in `axes`; -1: the axis is not in the list; -2: the list is not known.  rank: rank of operand 0. */
static int entry_of_axis(const struct batch_list *axes, int axis, int rank)
{
    int entry = -1;
    if (axes->n < 0)
        return -2;
    for (int i = 0; i < axes->n; i++) {
        if (axes->num == NULL || axes->num->at[i].kind != NUM_INT || (axes->scaled >> i & 1) != 0)
            return -2;
        entry = axis_of(axes->num->at[i].v, rank) == axis ? i : entry;
    }
    return entry;
}

/* Rule of Pad: no pad may depend on the batch, the pads of the batch's axis must be 0, and both the padding value
 * and the list of axes must be WHOLE. */
const char *rule_batch_pad(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    struct batch_list k = batch_list_of(x, "pads", 1), axes = batch_list_of(x, NULL, 3);
    int rank = batch_shape(x, 0, &s), j = in.axis;
    (void)r;
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    if (node_in(x->m, x->n, 3) != 0)
        j = entry_of_axis(&axes, in.axis, rank);
    if (j == -2)
        return batch_say(x, "the axes that it pads are not known");
    if (k.scaled != 0 || batch_has_axis(batch_in(x, 1)))
        return batch_want_whole(x, 1);
    /* the first half of the pads are those before each axis, the second half those behind */
    if (j >= 0 && (!batch_entry_is(&k, j, 0) || !batch_entry_is(&k, j + k.n / 2, 0)))
        return batch_say(x, "it may pad the axis of the batch, %d", in.axis);
    batch_set(x, 0, batch_computed(in));
    return batch_want_whole_from(x, 2);
}

/* Checks the sizes in operand i of a Resize: entry j, for the axis of the batch, must be `batch`, the size that this
 * axis has already; notes that copies divide the entry by N.  Returns NULL, or the reason why the node must see all
 * samples together. */
static const char *resize_to(struct batch_search *x, uint32_t i, int j, struct dim batch)
{
    struct batch_list k = batch_list_of(x, NULL, i);
    bool scaled = j < k.n && (k.scaled >> j & 1) != 0;
    struct dim to = k.num != NULL && j < k.n ? num_dim(k.num->at[j]) : dim_unknown();
    /* the second condition: another entry than j depends on the batch */
    if (!dim_same(to, batch) || (k.scaled & ~(scaled ? UINT64_C(1) << j : 0)) != 0)
        return batch_say(x, "it may resize the axis of the batch");
    return scaled ? NULL : batch_divide_entry(x, i, (uint32_t)j);
}

/* Checks the scales in operand i of a Resize: entry j, for the axis of the batch, must be 1; j < 0: no entry is for
 * that axis.  Returns NULL, or the reason why the node must see all samples together. */
static const char *resize_by(struct batch_search *x, uint32_t i, int j)
{
    /* the attribute with the scales, which the node has in old opsets */
    const struct attr *old = node_attr(x->m, x->n, "scales");
    struct batch_list k = batch_list_of(x, NULL, i);
    bool one = j < 0 || batch_entry_is(&k, j, 1);
    if (old != NULL && old->kind == ATTR_FLOATS && (uint32_t)j < old->u.list.n)
        one = x->m->floats[old->u.list.at + (uint32_t)j] == 1.0f;
    return one ? batch_want_whole_from(x, 1) : batch_say(x, "it may resize the axis of the batch");
}

/* Rule of Resize and Upsample.  r->arg: the operand with the scales: 2 for Resize (from opset 11 on), 1 for
 * Upsample. */
const char *rule_batch_resize(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    int rank = batch_shape(x, 0, &s), j = in.axis;
    struct batch_list axes = batch_list_of(x, "axes", UINT32_MAX);
    const char *why = batch_want_cut(x, 0),
               *mode = node_attr_str(x->m, x->n, "coordinate_transformation_mode", ""),
               *ratio = node_attr_str(x->m, x->n, "keep_aspect_ratio_policy", "stretch");
    if (why != NULL || rank < 0)
        return why != NULL ? why : unknown_rank(x);
    if (node_attr(x->m, x->n, "axes") != NULL)
        j = entry_of_axis(&axes, in.axis, rank);
    if (j == -2 || strcmp(mode, "tf_crop_and_resize") == 0 || strcmp(ratio, "stretch") != 0)
        return batch_say(x, "it crops, or keeps the ratio of sizes, or its axes are not known");
    batch_set(x, 0, in);
    if (r->arg == 1 || x->f->opset < 11)
        return resize_by(x, 1, j);
    if (node_in(x->m, x->n, 3) == 0)
        return resize_by(x, 2, j);
    /* operand 3 has sizes in place of scales */
    why = batch_want_whole(x, 1);
    why = why != NULL ? why : batch_want_whole(x, 2);
    if (why == NULL)
        why = j < 0 ? batch_want_whole(x, 3) : resize_to(x, 3, j, s.d[in.axis]);
    return why;
}
