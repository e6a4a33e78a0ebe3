/* Rules for sharding of operators that can be cut at fixed axes only, of operators that can be cut at all axes but
 * those along which they combine elements, and of Einsum (shard.h).  O(operands * rank) each. */
#include "passes/shard/shard.h"

#include "ir/model/dim.h"

#include <string.h>

/* ---- fixed axes --------------------------------------------------------------------------------- */

/* [enum shard_axes] The options of an operator, with blanks between them.  An option has a character for each
 * operand, ':', and a character for each result.  A digit: the tensor is cut along that axis.  A letter (a for axis
 * 0, b for axis 1, ...): the tensor is cut along that axis if its size there is the size of what is cut; if it lacks
 * the axis or has size 1 there, it is whole.  '-': the tensor is whole, as are operands without a character.  '!':
 * the result must not be used, nor must results without a character. */
static const char *const axes_text[] = {
    [SHARD_AXES_FIRST] = "0:0",           [SHARD_AXES_CHANNELS] = "0:0 1:1",
    [SHARD_AXES_ENDS] = "0:0 3:3",        [SHARD_AXES_INSTANCE] = "0--:0 100:1",
    [SHARD_AXES_ACROSS] = "0:0 2:2 3:3",  [SHARD_AXES_GRID] = "00:0 1-:1 -1:2 -2:3",
    [SHARD_AXES_REGIONS] = "1--:1 -00:0", [SHARD_AXES_REGION_POOL] = "1-:1 -0:0",
    [SHARD_AXES_DEFORM] = "0-0-0:0",      [SHARD_AXES_CACHE] = "000:0",
    [SHARD_AXES_GATES] = "1---01:21",     [SHARD_AXES_GATES_CELL] = "1---011-:211",
    [SHARD_AXES_EMBED] = "00-----0a:000",
};

/* Returns the character of operand i, or of result i, in option `text`. */
static char letter_of(const char *text, bool result, uint32_t i)
{
    size_t before = strcspn(text, ":");
    const char *part = result ? text + before + 1 : text;
    size_t n = result ? strcspn(part, " ") : before;
    return i < n ? part[i] : result ? '!' : '-';
}

/* Sets the state of operand or result i as character c says; size: the size of what is cut.  Returns false if it cannot
 * be cut so. */
static bool cut_letter(struct shard_ask *q, bool result, uint32_t i, char c, struct dim size)
{
    struct shape k;
    vid v = result ? node_out(q->s->m, q->n, i) : node_in(q->s->m, q->n, i);
    bool digit = c >= '0' && c <= '9';
    int axis = digit ? c - '0' : c - 'a';
    if (v == 0 || c == '-')
        return true;
    if (c == '!') /* the result must be omitted */
        return false;
    if (!shape_of(q->s->f, v, &k) || k.rank < 0)
        return false;
    if (!digit && (axis >= k.rank || shard_is_one(k.d[axis])))
        return true;
    if (axis >= k.rank || !dim_same(k.d[axis], size))
        return false;
    if (result)
        shard_set_out(q, i, axis);
    else
        shard_set_in(q, i, axis);
    return true;
}

/* Fills the answer in *q by `text`, one option of an operator's row.  Returns false if the option does not cut the axis
 * of the tensor that was asked about, or another operand or result cannot be cut as the option says. */
static bool take_option(struct shard_ask *q, const char *text)
{
    const struct node *k = &q->s->m->node[q->n];
    char asked = letter_of(text, q->result, q->at);
    struct shape s;
    bool good = asked == '0' + q->given.axis || asked == 'a' + q->given.axis;
    if (!good || !(q->result ? shard_out_shape(q, q->at, &s) : shard_in_shape(q, q->at, &s)) ||
        q->given.axis >= s.rank)
        return false;
    const struct dim size = s.d[q->given.axis];
    for (uint32_t i = 0; i < k->nformal && good; i++)
        good = cut_letter(q, /*result=*/false, i, letter_of(text, /*result=*/false, i), size);
    for (uint32_t i = 0; i < k->out.n && good; i++)
        good = cut_letter(q, /*result=*/true, i, letter_of(text, /*result=*/true, i), size);
    return good;
}

/* Rule for operators whose operands and results are cut at fixed axes.  r->arg: enum shard_axes. */
bool rule_shard_axes(struct shard_ask *q, const struct shard_row *r)
{
    const char *text = axes_text[r->arg];
    /* RNN, GRU and LSTM with layout 1 have the batch in axis 0 of all tensors */
    if (r->arg == SHARD_AXES_GATES || r->arg == SHARD_AXES_GATES_CELL)
        text = node_attr_int(q->s->m, q->n, "layout", 0) == 0 ? text : "0---000-:000";
    if (r->arg == SHARD_AXES_CHANNELS && node_attr_int(q->s->m, q->n, "channels_last", 0) != 0)
        text = axes_text[SHARD_AXES_ENDS];
    for (;; text++) {
        memset(q->in, 0, q->s->m->node[q->n].nformal * sizeof *q->in);
        memset(q->out, 0, q->s->m->node[q->n].out.n * sizeof *q->out);
        if (take_option(q, text))
            return true;
        text += strcspn(text, " ");
        if (*text == '\0')
            return false;
    }
}

/* ---- axes that are left alone ------------------------------------------------------------------- */

/* Writes to *axes, as bits, the axes along which the node combines elements.  how: enum shard_apart.  Returns false if
 * they are not known. */
static bool worked_axes(const struct shard_ask *q, int how, int rank, uint32_t *axes)
{
    /* without attribute axes: batch, rows and columns of images */
    static const int64_t images[] = {0, 2, 3};
    int64_t list[SHAPE_RANK];
    int n = 1;
    *axes = 0;
    if (how == SHARD_APART_ROWS) {
        *axes = rank < 2 ? 0 : UINT32_C(3) << (rank - 2);
        return rank >= 2;
    }
    if (how == SHARD_APART_OPERAND) {
        n = ints_of(q->s->f, node_in(q->s->m, q->n, 1), list, SHAPE_RANK);
    } else if (how == SHARD_APART_LIST) {
        n = attr_ints(q->s->f, q->n, "axes", list, SHAPE_RANK);
        if (node_attr(q->s->m, q->n, "axes") == NULL) {
            memcpy(list, images, sizeof images);
            n = 3;
        }
    } else {
        *list = node_attr_int(q->s->m, q->n, "axis", how == SHARD_APART_FIRST ? 0 : -1);
    }
    for (int i = 0; i < n; i++) {
        int axis = axis_of(list[i], rank);
        if (axis < 0)
            return false;
        *axes |= UINT32_C(1) << axis;
    }
    return n > 0;
}

/* Rule for operators whose results have the axes of operand 0, and that combine elements along some axes: the other
 * axes can be cut.  r->arg: enum shard_apart, which says along which axes they work. */
bool rule_shard_apart(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    uint32_t axes;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &k) ||
        !worked_axes(q, r->arg, k.rank, &axes) || (axes >> q->given.axis & 1) != 0)
        return false;
    shard_set_in(q, 0, q->given.axis);
    shard_set_all_out(q, q->given.axis);
    return true;
}

/* Rule for ArgMax and ArgMin: all axes can be cut but the one that is searched. */
bool rule_shard_arg(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    uint32_t axes;
    int cut = q->given.axis;
    (void)r;
    if (!shard_in_shape(q, 0, &k) || !worked_axes(q, SHARD_APART_FIRST, k.rank, &axes))
        return false;
    /* the axis along which the node searches if the result lacks it (axes has one bit), else an axis behind all
     * others */
    int gone = node_attr_int(q->s->m, q->n, "keepdims", 1) != 0 ? k.rank : __builtin_ctz(axes);
    cut += q->result && cut >= gone; /* now an axis of the operand */
    if (cut >= k.rank || (axes >> cut & 1) != 0)
        return false;
    shard_set_in(q, 0, cut);
    shard_set_out(q, 0, cut - (cut > gone));
    return true;
}

/* Rule for ReverseSequence: all axes can be cut but the axis of time; if the batch is cut, the lengths are cut, too. */
bool rule_shard_reverse(struct shard_ask *q, const struct shard_row *r)
{
    struct shape k;
    int cut = q->given.axis;
    (void)r;
    if ((!q->result && q->at != 0) || !shard_in_shape(q, 0, &k) ||
        cut == node_attr_int(q->s->m, q->n, "time_axis", 0))
        return false;
    shard_set_in(q, 0, cut);
    if (cut == node_attr_int(q->s->m, q->n, "batch_axis", 1))
        shard_set_in(q, 1, 0);
    shard_set_out(q, 0, cut);
    return true;
}

/* Rule for SkipLayerNormalization and SkipSimplifiedLayerNormalization: all axes can be cut but the last one; the
 * tensor that is added is cut likewise where it has the axis in full. */
bool rule_shard_skip_norm(struct shard_ask *q, const struct shard_row *r)
{
    struct shape x, skip;
    (void)r;
    if (!shard_in_shape(q, 0, &x) || !shard_in_shape(q, 1, &skip) || skip.rank > x.rank ||
        (!q->result && q->at != 0) || q->given.axis >= x.rank - 1)
        return false;
    int cut = q->given.axis, here = cut - (x.rank - skip.rank);
    if (here >= 0 && !shard_is_one(skip.d[here])) {
        if (!dim_same(skip.d[here], x.d[cut]))
            return false;
        shard_set_in(q, 1, here);
    }
    shard_set_in(q, 0, cut);
    shard_set_all_out(q, cut);
    return true;
}

/* ---- sums over letters -------------------------------------------------------------------------- */

/* Rule for Einsum: the axes of a letter of the result can be cut, in each operand that has the letter and the full size
 * there.  Equations without "->" or with "..." have no option. */
bool rule_shard_einsum(struct shard_ask *q, const struct shard_row *r)
{
    const struct module *m = q->s->m;
    const char *given = node_attr_str(m, q->n, "equation", "");
    char *text = arena_fmt(q->s->a, "%s", given), *to = text;
    struct shape k, out;
    (void)r;
    for (const char *p = given; *p != '\0'; p++)
        if (*p != ' ')
            *to++ = *p;
    *to = '\0';
    char *arrow = strstr(text, "->");
    if (arrow == NULL || strchr(text, '.') != NULL || !shard_out_shape(q, 0, &out))
        return false;
    *arrow = '\0'; /* text: the operands, with commas between them; arrow + 2: the result */
    const char *asked = text;
    for (uint32_t i = 0; !q->result && i < q->at; i++)
        asked += strcspn(asked, ",") + 1;
    asked = q->result ? arrow + 2 : asked;
    if (q->given.axis >= strcspn(asked, ","))
        return false;
    const char *at = strchr(arrow + 2, asked[q->given.axis]), *part = text;
    /* the letter is summed over */
    if (at == NULL)
        return false;
    int axis = (int)(at - arrow) - 2;
    for (uint32_t i = 0; i < m->node[q->n].nformal; i++) {
        size_t n = strcspn(part, ",");
        const char *here = memchr(part, *at, n);
        /* the operand has the letter twice: a diagonal */
        if (here != NULL && memchr(here + 1, *at, n - (size_t)(here + 1 - part)) != NULL)
            return false;
        if (here != NULL) {
            int in = (int)(here - part);
            if (!shard_in_shape(q, i, &k) || in >= k.rank || axis >= out.rank)
                return false;
            if (!shard_is_one(k.d[in]) && !dim_same(k.d[in], out.d[axis]))
                return false;
            if (!shard_is_one(k.d[in]))
                shard_set_in(q, i, in);
        }
        part += n + (part[n] == ',');
    }
    shard_set_out(q, 0, axis);
    return true;
}
