/* Rules for sharding of convolutions and other operators on images (shard.h).  O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* the largest blocksize that rule_shard_depth() cuts: its square does not overflow, and models have far smaller ones */
enum { MOST_BLOCK = 1024 };

/* ---- convolutions ------------------------------------------------------------------------------- */

/* [enum shard_conv] A character for each operand of a convolution: x: the image; w: the kernels; c: an operand with
 * an entry for each channel of the result, or with one for all; y: an operand with the shape of the result; '-': an
 * operand that is for all channels. */
static const char *const conv_text[] = {
    [SHARD_CONV_PLAIN] = "xwc",         [SHARD_CONV_TURNED] = "xwc", [SHARD_CONV_INTEGER] = "xw-c",
    [SHARD_CONV_QLINEAR] = "x--wcc--c", [SHARD_CONV_FUSED] = "xwcy",
};

/* Sets the states of the operands that are neither image nor kernels: operands for the channels of the result are cut
 * if `channels` is true, operands with the shape of the result along axis `cut`.  Returns false if an operand has an
 * unknown or another shape. */
static bool cut_others(struct shard_ask *q, const char *text, bool channels, int cut)
{
    struct shape k;
    for (uint32_t i = 0; i < q->s->m->node[q->n].nformal; i++) {
        if (node_in(q->s->m, q->n, i) == 0 || (text[i] != 'c' && text[i] != 'y'))
            continue;
        if (!shard_in_shape(q, i, &k))
            return false;
        if (text[i] == 'y')
            shard_set_in(q, i, cut);
        else if (channels && k.rank == 1 && !shard_is_one(k.d[0]))
            shard_set_in(q, i, 0);
        else if (k.rank > 1)
            return false;
    }
    return true;
}

/* Rule for convolutions: they can be cut along the batch; along the channels of the result; with groups, if N
 * divides their number, into blocks of whole groups.  r->arg: enum shard_conv. */
bool rule_shard_convolve(struct shard_ask *q, const struct shard_row *r)
{
    const char *text = conv_text[r->arg];
    uint32_t iw = (uint32_t)strcspn(text, "w");
    struct shape x, w, y;
    int64_t group = node_attr_int(q->s->m, q->n, "group", 1), ways = q->s->ways;
    /* side: the axis of the result's channels in the kernels */
    int cut = q->given.axis, side = r->arg == SHARD_CONV_TURNED ? 1 : 0;
    if (!shard_in_shape(q, 0, &x) || !shard_in_shape(q, iw, &w) || !shard_out_shape(q, 0, &y) ||
        x.rank < 3 || q->s->m->node[q->n].nformal > strlen(text) || (!q->result && q->at != 0))
        return false;
    if (cut == 0) {
        shard_set_in(q, 0, 0);
        shard_set_out(q, 0, 0);
        return cut_others(q, text, /*channels=*/false, 0);
    }
    if (cut != 1 || group <= 0 || (!q->result && group == 1))
        return false;
    struct shard_state given = q->given;
    /* each device has a block of the groups, so all channels of these groups in a row */
    if (group > 1) {
        int64_t in = x.d[1].value / ways, out = y.d[1].value / ways, all = w.d[0].value / ways;
        if (group % ways != 0 || in <= 0 || out <= 0 || all <= 0 ||
            given.run != (q->result ? out : in))
            return false;
        q->change[0] = (struct shard_change){.kind = SHARD_ATTR, .attr = "group"};
        q->in[0] = (struct shard_state){1, in};
        q->in[iw] = (struct shard_state){0, all};
        q->given.run = out; /* for the calls below, which cut with the run of q->given */
    } else {
        shard_set_in(q, iw, side);
    }
    shard_set_out(q, 0, 1);
    bool good = cut_others(q, text, /*channels=*/true, 1);
    q->given = given;
    return good;
}

/* Rule for GroupNormalization: input and result can be cut along axis 0, the batch; or along axis 1 into N blocks of
 * whole groups, if N divides the number of groups: then scale and bias are cut likewise, and a piece has num_groups
 * / N groups. Asked about another operand, there is no option. */
bool rule_shard_group_norm(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x, k;
    int64_t groups = node_attr_int(q->s->m, q->n, "num_groups", 0), ways = q->s->ways;
    int cut = q->given.axis;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &x) || cut > 1 || x.rank < 2)
        return false;
    shard_set_in(q, 0, cut);
    shard_set_out(q, 0, cut);
    if (cut == 0)
        return true;
    if (groups % ways != 0 || x.d[1].value < 0 || q->given.run != x.d[1].value / ways)
        return false;
    for (uint32_t i = 1; i < q->s->m->node[q->n].nformal; i++) {
        if (!shard_in_shape(q, i, &k) || k.rank != 1 || k.d[0].value % ways != 0)
            return false;
        q->in[i] = (struct shard_state){0, k.d[0].value / ways};
    }
    q->change[0] = (struct shard_change){.kind = SHARD_ATTR, .attr = "num_groups"};
    return true;
}

/* ---- images of other sizes ---------------------------------------------------------------------- */

/* Returns the index at which a node's lists (sizes, pads, scales) have the entry of `axis`: its index in the list of
 * axes, which is attribute `axes` or operand i (UINT32_MAX: no operand can be the list); `axis` itself if there is no
 * such list; -1: the list does not have the axis; -2: the list is not known. */
static int entry_of(const struct shard_ask *q, uint32_t i, int axis, int rank)
{
    int64_t axes[SHAPE_RANK];
    int n = attr_or_input(q->s->f, q->n, "axes", i, axes, SHAPE_RANK);
    if (n == -1)
        return axis;
    for (int j = 0; j < n; j++)
        if (axis_of(axes[j], rank) == axis)
            return j;
    return n < 0 ? -2 : -1;
}

/* Whether entry j of a list is known to be v. */
static bool entry_is(const struct nums *k, int j, int64_t v)
{
    return k != NULL && j >= 0 && j < (int)k->n && k->at[j].kind == NUM_INT && k->at[j].v == v;
}

/* Rule for Pad: the axes that get no padding can be cut. */
bool rule_shard_pad(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &x))
        return false;
    const struct nums *k = nums_attr_or_input(q->s->f, q->n, "pads", 1);
    int j = entry_of(q, 3, q->given.axis, x.rank);
    if (j == -2 || (j >= 0 && (!entry_is(k, j, 0) || !entry_is(k, j + (int)k->n / 2, 0))))
        return false;
    shard_set_in(q, 0, q->given.axis);
    shard_set_out(q, 0, q->given.axis);
    return true;
}

/* Whether entry j of the scales, in attribute `scales` or operand i, is 1. */
static bool scale_is_one(const struct shard_ask *q, uint32_t i, int j)
{
    const struct module *m = q->s->m;
    const struct attr *a = node_attr(m, q->n, "scales");
    if (a != NULL)
        return a->kind == ATTR_FLOATS && (uint32_t)j < a->u.list.n &&
               m->floats[a->u.list.at + (uint32_t)j] == 1.0f;
    return entry_is(nums_of(q->s->f, node_in(m, q->n, i)), j, 1);
}

/* Rule for Resize and Upsample: the axes that keep their size can be cut; if operand 3 has sizes, the size of the
 * axis in it is divided by N.  r->arg: the operand with the scales: 2 for Resize (from opset 11 on), 1 for Upsample. */
bool rule_shard_resize(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x;
    const struct module *m = q->s->m;
    uint32_t scales = r->arg == 1 || q->s->f->opset < 11 ? 1 : 2;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &x) ||
        strcmp(node_attr_str(m, q->n, "coordinate_transformation_mode", ""),
               "tf_crop_and_resize") == 0 ||
        strcmp(node_attr_str(m, q->n, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
        return false;
    int cut = q->given.axis, j = entry_of(q, UINT32_MAX, cut, x.rank);
    shard_set_in(q, 0, cut);
    shard_set_out(q, 0, cut);
    if (j == -1) /* an axis that is not in the list of axes keeps its size */
        return true;
    if (j == -2 || node_in(m, q->n, 3) == 0) /* -2: the list of axes is not known */
        return j >= 0 && scale_is_one(q, scales, j);
    struct shard_change c = {.kind = SHARD_SIZES, .operand = 3, .divide = UINT64_C(1) << j};
    if (!shard_same_size(q, 3, j, x.d[cut]) || !shard_list_change(q, &c))
        return false;
    q->change[0] = c;
    return true;
}

/* Rule for DepthToSpace (r->arg == 0) and SpaceToDepth: the batch can be cut, and so can the channels of the tensor
 * that has fewer.  The other tensor has blocksize^2 channels for each of them: a block of channels for each pixel of
 * a square or, in the mode CRD, all side by side. */
bool rule_shard_depth(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x, y;
    int64_t b = node_attr_int(q->s->m, q->n, "blocksize", 0);
    bool to_space = r->arg == 0;
    bool beside = strcmp(node_attr_str(q->s->m, q->n, "mode", "DCR"), "CRD") == 0;
    int cut = q->given.axis;
    if (!shard_in_shape(q, 0, &x) || !shard_out_shape(q, 0, &y) || cut > 1 || b <= 0 ||
        b > MOST_BLOCK)
        return false;
    /* more: how many times longer runs are in the tensor with more channels */
    int64_t run = q->given.run, more = cut == 1 && beside ? b * b : 1;
    /* whether the rule is asked about the tensor with more channels */
    bool deep = q->result != to_space;
    if (deep && run % more != 0)
        return false;
    int64_t few = deep ? run / more : run;
    if (few > INT64_MAX / more)
        return false;
    q->in[0] = (struct shard_state){(uint8_t)cut, to_space ? few * more : few};
    q->out[0] = (struct shard_state){(uint8_t)cut, to_space ? few : few * more};
    return cut == 0 || dim_known(to_space ? y.d[1] : x.d[1]);
}
