/* The table of rules for the batch, a row for each operator (batch_rules.h), and the rules of operators that compute.
 * Rules are of type batch_fn: they return NULL, or the reason why the node must see all samples together.
 *
 * Rows are sorted by name (bytewise).  A rule takes O(operands * rank). */
#include "passes/rewrite/batch_rules.h"

#include "ir/model/dim.h"

#include <string.h>

/* ---- element by element ------------------------------------------------------------------------- */

enum { EACH_MOVES = 1 }; /* a value of r->arg: elements keep their values, as in Cast */

/* Rule (batch_fn) of elementwise operators with one operand that may have the batch, operand 0; all other operands
 * must be WHOLE. */
static const char *elementwise(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    shape_of(x->f, node_out(x->m, x->n, 0), &s);
    if (in.how == BATCH_SIZES && r->arg == EACH_MOVES)
        return sizes_same(x);
    if (!batch_has_axis(in))
        return batch_want_cut(x, 0);
    bool moves = r->arg == EACH_MOVES && (s.elem == ELEM_I64 || s.elem == ELEM_I32);
    batch_set(x, 0, moves ? in : batch_computed(in));
    return batch_want_whole_from(x, 1);
}

/* Rule (batch_fn) of CastLike: only the element type of operand 1 counts, so its state may be any. */
static const char *cast_like(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    (void)r;
    batch_see(x, 1);
    if (in.how == BATCH_SIZES)
        return batch_want_cut(x, 0);
    batch_set(x, 0, batch_has_axis(in) ? batch_computed(in) : in);
    return NULL;
}

/* a value of r->arg: the operator may compute with operands in the state SIZES */
enum { BROADCAST_SIZES = 1 };

/* Rule (batch_fn) of elementwise operators that broadcast all their operands. */
static const char *broadcast(struct batch_search *x, const struct batch_rule *r)
{
    struct batch out = {0};
    const uint32_t n = x->m->node[x->n].nformal;
    bool sizes = false;
    for (uint32_t i = 0; i < n; i++)
        sizes = sizes || batch_in(x, i).how == BATCH_SIZES;
    if (sizes && r->arg == BROADCAST_SIZES) {
        for (uint32_t i = 0; i < n; i++)
            if (batch_has_axis(batch_in(x, i)))
                return batch_want_whole(x, i);
        return strcmp(node_op(x->m, x->n), "Where") == 0 ? sizes_where(x) : sizes_elementwise(x);
    }
    const char *why = batch_broadcast(x, NULL, n, &out);
    batch_set(x, 0, out.how == BATCH_SHAPE ? numbers_elementwise(x, out) : out);
    return why;
}

/* Rule (batch_fn) of QLinearAdd and QLinearMul: operands 0 and 3 are broadcast; all other operands, which are scales
 * and zero points, must be WHOLE. */
static const char *qlinear(struct batch_search *x, const struct batch_rule *r)
{
    static const uint32_t data[] = {0, 3}, rest[] = {1, 2, 4, 5, 6, 7};
    struct batch out = {0};
    const char *why = batch_broadcast(x, data, 2, &out);
    (void)r;
    for (uint32_t i = 0; i < sizeof rest / sizeof *rest && why == NULL; i++)
        why = batch_want_whole(x, rest[i]);
    batch_set(x, 0, out);
    return why;
}

/* Rule (batch_fn) of a Dropout that returns its operand unchanged; a Dropout that draws random numbers is refused
 * before (batch_draws). */
static const char *dropout(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    (void)r;
    batch_set(x, 0, batch_computed(in));
    batch_set(x, 1, batch_computed(in));
    return batch_has_axis(in) ? batch_want_whole_from(x, 1) : batch_want_cut(x, 0);
}

/* ---- along some axes ---------------------------------------------------------------------------- */

/* Values of r->arg: in which opsets the operator combines elements along all axes from `axis` on, instead of one
 * axis. */
enum {
    ALONG_FLAT = 1, /* before opset 13 */
    ALONG_FROM = 2  /* in all opsets */
};

/* Rule (batch_fn) of operators that combine elements along the axis of the attribute `axis`, such as Softmax: the
 * batch must be at another axis.  r->text: the attribute's default, "0" for 0, "-" for -1; before opset 13 the
 * default of operators with ALONG_FLAT is 1. */
static const char *along_axis(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    bool flat = r->arg == ALONG_FROM || (r->arg == ALONG_FLAT && x->f->opset < 13);
    int64_t absent = r->arg == ALONG_FLAT && flat ? 1 : *r->text == '0' ? 0 : -1;
    int rank = batch_shape(x, 0, &s), axis = batch_axis(x, "axis", absent, rank);
    const char *why = batch_want_cut(x, 0);
    if (why != NULL)
        return why;
    if (axis < 0)
        return batch_say(x, "its axis is not known");
    if (flat ? in.axis >= axis : in.axis == axis)
        return batch_say(x, "it works along the axis of the batch, %d", in.axis);
    for (uint32_t i = 0; i < x->m->node[x->n].out.n; i++)
        batch_set(x, i, in);
    return batch_want_whole_from(x, 1);
}

/* Rule (batch_fn) of layer normalisations: checks what along_axis() checks. Also checks that scale and bias, which
 * have the last axes of operand 0, do not have the batch's. */
static const char *normalize(struct batch_search *x, const struct batch_rule *r)
{
    struct shape s, t;
    int rank = batch_shape(x, 0, &s);
    struct batch in = batch_in(x, 0);
    for (uint32_t i = 1; i < x->m->node[x->n].nformal; i++) {
        int many = batch_shape(x, i, &t);
        if (node_in(x->m, x->n, i) != 0 && (many < 0 || many >= rank - in.axis))
            return batch_say(x, "its operand %u, '%s', has the axis of the batch, too", i,
                             batch_name_in(x, i));
    }
    return along_axis(x, r);
}

/* Rule (batch_fn) of ArgMax and ArgMin: checks what along_axis() checks; the reduced axis is dropped, or keeps one
 * element. */
static const char *arg_reduce(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    int axis = batch_axis(x, "axis", 0, batch_shape(x, 0, &s));
    const char *why = along_axis(x, r);
    bool drops_before = node_attr_int(x->m, x->n, "keepdims", 1) == 0 && axis < in.axis;
    batch_set(x, 0, batch_at(in, in.axis - drops_before));
    return why;
}

/* Rule (batch_fn) of reductions along a list of axes, such as ReduceSum: the batch must not be at one of these axes. */
static const char *reduce(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    uint32_t axes;
    bool absent;
    int rank = batch_shape(x, 0, &s);
    (void)r;
    if (in.how == BATCH_SIZES)
        return sizes_product(x);
    const char *why = batch_want_cut(x, 0);
    if (why != NULL)
        return why;
    if (rank < 0 || !batch_axes(x, 1, rank, &axes, &absent))
        return batch_say(x, "the axes that it reduces are not known");
    if (absent && node_attr_int(x->m, x->n, "noop_with_empty_axes", 0) == 0)
        return batch_say(x, "it reduces all axes, that of the batch, %d, too", in.axis);
    if ((axes >> in.axis & 1) != 0)
        return batch_say(x, "it reduces the axis of the batch, %d", in.axis);
    /* reduced axes are dropped unless keepdims is set: the batch's axis moves forward by the number of dropped axes
     * before it */
    int before = __builtin_popcount(axes & ((UINT32_C(1) << in.axis) - 1));
    bool keeps = node_attr_int(x->m, x->n, "keepdims", 1) != 0;
    batch_set(x, 0, batch_at(in, in.axis - (keeps ? 0 : before)));
    return NULL;
}

/* Rule (batch_fn) of MeanVarianceNormalization: the batch must be at none of the axes over which it takes the mean
 * (0, 2 and 3 if no axes are given).  Refused before opset 9. */
static const char *mean_variance(struct batch_search *x, const struct batch_rule *r)
{
    static const int64_t usual[] = {0, 2, 3};
    struct batch in = batch_in(x, 0);
    struct shape s;
    int64_t axes[SHAPE_RANK];
    int rank = batch_shape(x, 0, &s), n = attr_ints(x->f, x->n, "axes", axes, SHAPE_RANK);
    const char *why = batch_want_cut(x, 0);
    (void)r;
    if (why != NULL || x->f->opset < 9)
        return why != NULL ? why : batch_say(x, "it is of an opset before 9");
    for (int i = 0; i < (n < 0 ? 3 : n); i++)
        if (axis_of(n < 0 ? usual[i] : axes[i], rank) == in.axis)
            return batch_say(x, "it works along the axis of the batch, %d", in.axis);
    batch_set(x, 0, in);
    return NULL;
}

/* Rule (batch_fn) of operators that work along axes in operand 1, or (r->arg == 1) in the attribute `axes`: the batch
 * must be at another axis, and all operands but operand 0 must be WHOLE. */
static const char *along_operand(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct batch_list k = batch_list_of(x, r->arg == 1 ? "axes" : NULL, 1);
    struct shape s;
    int rank = batch_shape(x, 0, &s);
    const char *why = batch_want_cut(x, 0);
    if (why != NULL)
        return why;
    if (k.num == NULL || rank < 0 || (r->arg == 1 && node_attr(x->m, x->n, "axes") == NULL))
        return batch_say(x, "its axes are not known");
    for (uint32_t i = 0; i < k.num->n; i++)
        if (k.num->at[i].kind != NUM_INT || axis_of(k.num->at[i].v, rank) == in.axis)
            return batch_say(x, "it works along the axis of the batch, %d", in.axis);
    batch_set(x, 0, in);
    return batch_want_whole_from(x, 1);
}

/* Rule (batch_fn) of DFT: operand 0 must be CUT, but neither along the transformed axis nor along the last one,
 * which holds real and imaginary parts; all other operands must be WHOLE.  The transformed axis is the attribute
 * `axis`, or operand 2 from opset 20 on.  Returns NULL, or the reason why the node must see all samples together. */
static const char *dft(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct batch_list k = batch_list_of(x, NULL, 2);
    struct shape s;
    int rank = batch_shape(x, 0, &s);
    int64_t axis = x->f->opset < 20 ? node_attr_int(x->m, x->n, "axis", 1) : -2;
    const char *why = batch_want_cut(x, 0);
    (void)r;
    /* an axis that is not known counts as that of the batch, so the node is refused below */
    if (node_in(x->m, x->n, 2) != 0)
        axis = k.n == 1 && k.num != NULL && k.num->at[0].kind == NUM_INT ? k.num->at[0].v : in.axis;
    if (why == NULL && (axis_of(axis, rank) == in.axis || in.axis == rank - 1 || rank < 0))
        return batch_say(x, "it works along the axis of the batch, %d, or its axis is not known",
                         in.axis);
    batch_set(x, 0, in);
    return why != NULL ? why : batch_want_whole_from(x, 1);
}

/* r->arg of along_last_axes(): r->arg & ROWS_OPERANDS: number of operands that are broadcast; r->arg >> ROWS_LAST:
 * number of last axes along which elements are combined. */
enum { ROWS_OPERANDS = 15, ROWS_LAST = 4 };

/* Rule (batch_fn) of operators that combine elements along their last axes only; operands that are not broadcast must
 * be WHOLE. */
static const char *along_last_axes(struct batch_search *x, const struct batch_rule *r)
{
    struct batch out = {0};
    struct shape s;
    const uint32_t n = (uint32_t)r->arg & ROWS_OPERANDS;
    const char *why = batch_broadcast(x, NULL, n, &out);
    int rank = batch_shape(x, 0, &s);
    why = why != NULL ? why : batch_want_cut(x, 0);
    why = why != NULL ? why : batch_want_whole_from(x, n);
    if (why == NULL && out.axis >= rank - (r->arg >> ROWS_LAST))
        return batch_say(x, "it works along the axis of the batch, %d", out.axis);
    for (uint32_t i = 0; i < x->m->node[x->n].out.n; i++)
        batch_set(x, i, out);
    return why;
}

/* Rule (batch_fn) of QuantizeLinear and DequantizeLinear.  They may have a scale for each position along an axis,
 * unless it is the axis of the batch. */
static const char *quantize(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s, t;
    int rank = batch_shape(x, 0, &s), scale_rank = batch_shape(x, 1, &t),
        axis = batch_axis(x, "axis", 1, rank);
    const char *why = batch_want_cut(x, 0);
    (void)r;
    if (why != NULL)
        return why;
    /* there may be a scale for each position along `axis` */
    bool several = scale_rank == 1 && t.d[0].value != 1;
    if (scale_rank < 0 || scale_rank > 1 || (several && (axis < 0 || axis == in.axis)))
        return batch_say(x, "its scales may be of single samples");
    batch_set(x, 0, in);
    return batch_want_whole_from(x, 1);
}

/* ---- products ----------------------------------------------------------------------------------- */

/* Which two operands of a matrix product are its stacks of matrices, and whether the last two axes of each are
 * swapped. */
struct matrices {
    uint32_t a, b;
    bool swap_a, swap_b;
};

/* Sets *out to the state of the product of two stacks of matrices.  The batch may be the rows of the first matrices,
 * the columns of the second ones, or an axis of the stacks; not the axis that is summed over.  Returns what a
 * batch_fn returns. */
static const char *multiply(struct batch_search *x, struct matrices k, struct batch *out)
{
    struct batch a = batch_in(x, k.a), b = batch_in(x, k.b);
    struct shape s, t;
    int ra = batch_shape(x, k.a, &s), rb = batch_shape(x, k.b, &t);
    const char *why = batch_has_axis(a) ? batch_want_cut(x, k.a) : batch_want_cut(x, k.b);
    if (why == NULL && a.how != BATCH_WHOLE && b.how != BATCH_WHOLE)
        why = batch_want_cut(x, k.b);
    if (why != NULL)
        return why;
    if (ra < 1 || rb < 1)
        return batch_say(x, "the rank of an operand is not known");
    /* rank of the result: an operand that is a vector gives the result no row or no column */
    int most = ra > rb ? ra : rb, ranks = (most > 1 ? most : 2) - (ra == 1) - (rb == 1);
    /* ba, bb: the place of the batch in each operand, counted from the last axis as 1, 2, ...; 0: the operand has no
     * batch; row, column: the places of rows and columns; 0: the operand is a vector and has none */
    int ba = a.how == BATCH_CUT ? ra - a.axis : 0, bb = b.how == BATCH_CUT ? rb - b.axis : 0;
    int row = ra == 1 ? 0 : k.swap_a ? 1 : 2, column = rb == 1 ? 0 : k.swap_b ? 2 : 1;
    /* whether the batch is one of the two axes of the matrices; else it is an axis of the stack */
    bool in_a = ba == 1 || ba == 2, in_b = bb == 1 || bb == 2;
    *out = a.how == BATCH_CUT ? a : b;
    if ((in_a && ba != row) || (in_b && bb != column))
        return batch_say(x, "it sums over the axis of the batch");
    if ((in_a && bb > 0) || (in_b && ba > 0) || (ba > 2 && bb > 2 && ba != bb))
        return batch_say(x, "its operands have the batch at different axes");
    if (in_a) /* rows of the result: its last axis but one, or the last if there are no columns */
        *out = batch_at(a, ranks - 1 - (rb > 1));
    else if (in_b) /* columns of the result: its last axis */
        *out = batch_at(b, ranks - 1);
    else
        *out = batch_at(*out, most - (ba > 2 ? ba : bb));
    /* the other operand is WHOLE: it is cut, too, if its stack has the axis of the batch */
    if (ba > 2 && bb == 0 && rb >= ba && t.d[rb - ba].value != 1)
        return batch_cut(x, k.b, rb - ba);
    if (bb > 2 && ba == 0 && ra >= bb && s.d[ra - bb].value != 1)
        return batch_cut(x, k.a, ra - bb);
    return NULL;
}

/* Checks operand i, the scale or zero point of a matrix with the batch: it must be WHOLE and have one element, so
 * that no sample has an element of its own.  Returns NULL, or the reason. */
static const char *want_single(struct batch_search *x, uint32_t i)
{
    struct shape s;
    int rank = batch_shape(x, i, &s);
    if (node_in(x->m, x->n, i) == 0 || rank == 0 || (rank == 1 && s.d[0].value == 1))
        return batch_want_whole(x, i);
    return batch_say(x, "its operand %u, '%s', may be of single samples", i, batch_name_in(x, i));
}

/* Rule (batch_fn) of matrix products.  r->arg: the operand that is the second matrix; the first one is operand 0.
 * r->text has a character for each operand: 'a', 'b': the operand belongs to the first or second matrix, and must
 * have a single element if that matrix has the batch; '1': the operand must have a single element; '-': the operand
 * must be WHOLE.  r->text == "t": attributes may transpose. */
static const char *mat_mul(struct batch_search *x, const struct batch_rule *r)
{
    struct matrices k = {.a = 0, .b = (uint32_t)r->arg};
    struct batch out = {0};
    if (r->text == NULL || *r->text == 't') {
        k.swap_a = node_attr_int(x->m, x->n, "transA", 0) != 0;
        k.swap_b = node_attr_int(x->m, x->n, "transB", 0) != 0;
        if (node_attr_int(x->m, x->n, "transBatchA", 0) != 0 ||
            node_attr_int(x->m, x->n, "transBatchB", 0) != 0)
            return batch_say(x, "it moves the axes of the stacks of matrices");
    }
    const char *why = multiply(x, k, &out);
    bool in_a = batch_in(x, k.a).how == BATCH_CUT, in_b = batch_in(x, k.b).how == BATCH_CUT;
    for (uint32_t i = 1; i < x->m->node[x->n].nformal && why == NULL; i++) {
        char of = r->text != NULL && i < strlen(r->text) ? r->text[i] : '-';
        if (i != k.b)
            why = (of == 'a' && in_a) || (of == 'b' && in_b) || of == '1' ? want_single(x, i)
                                                                          : batch_want_whole(x, i);
    }
    batch_set(x, 0, out);
    return why;
}

/* Rule (batch_fn) of Gemm: a matrix product, plus operand 2, which is broadcast. */
static const char *gemm(struct batch_search *x, const struct batch_rule *r)
{
    struct matrices k = {.a = 0, .b = 1};
    struct batch out = {0}, c = batch_in(x, 2);
    struct shape s;
    int rank = batch_shape(x, 2, &s);
    k.swap_a = node_attr_int(x->m, x->n, "transA", 0) != 0;
    k.swap_b = node_attr_int(x->m, x->n, "transB", 0) != 0;
    (void)r;
    const char *why = multiply(x, k, &out);
    batch_set(x, 0, out);
    if (why != NULL || node_in(x->m, x->n, 2) == 0)
        return why;
    /* place of the batch in the result, counted from the last axis, which is place 1 */
    int behind = 2 - out.axis;
    if (rank < 0 || (c.how == BATCH_CUT && rank - c.axis != behind))
        return batch_say(x, "its operands have the batch at different axes");
    if (c.how == BATCH_WHOLE && rank >= behind && s.d[rank - behind].value != 1)
        return batch_cut(x, 2, rank - behind);
    return c.how == BATCH_WHOLE ? NULL : batch_want_cut(x, 2);
}

/* Returns the index of a letter in text[from .. to), counted from `from`; -1: the letter is not there; -2: it is
 * there several times. */
static int letter_at(const char *text, size_t from, size_t to, char letter)
{
    int at = -1;
    for (size_t i = from; i < to; i++)
        if (text[i] == letter)
            at = at == -1 ? (int)(i - from) : -2;
    return at;
}

/* Rule (batch_fn) of Einsum, such as "ij,jk->ik": one letter of the equation stands for the batch.  It must be in the
 * result, and every operand that has the letter must be cut there; WHOLE operands that have it get cut. */
static const char *einsum(struct batch_search *x, const struct batch_rule *r)
{
    const uint32_t nformal = x->m->node[x->n].nformal;
    const char *given = node_attr_str(x->m, x->n, "equation", "");
    char *text = arena_fmt(x->a, "%s", given), letter = 0, *to = text;
    struct batch first = {0}; /* state of the first operand that is cut */
    (void)r;
    /* text: the equation without blanks */
    for (const char *p = given; *p != '\0'; p++)
        if (*p != ' ')
            *to++ = *p;
    *to = '\0';
    const char *arrow = strstr(text, "->");
    if (arrow == NULL || strchr(text, '.') != NULL)
        return batch_say(x, "its equation has '...', or no '->'");
    /* the letters of operand i are text[from .. from + n) */
    size_t from = 0, n = 0;
    for (uint32_t i = 0; i < nformal; i++, from += n + 1) {
        struct batch in = batch_in(x, i);
        const char *why = in.how == BATCH_WHOLE ? NULL : batch_want_cut(x, i);
        n = strcspn(text + from, ",-");
        if (why != NULL)
            return why;
        if (in.how == BATCH_CUT && letter == 0 && in.axis < n) {
            letter = text[from + in.axis];
            first = in;
        }
    }
    from = 0;
    for (uint32_t i = 0; i < nformal; i++, from += n + 1) {
        n = strcspn(text + from, ",-");
        struct batch in = batch_in(x, i);
        int at = letter_at(text, from, from + n, letter);
        bool whole = in.how == BATCH_WHOLE;
        /* an operand that is cut must have the letter once, at its batch axis; a WHOLE one once or not at all */
        if (whole ? at == -2 : at != in.axis)
            return batch_say(x, "its operands have the batch at different axes");
        const char *why = whole && at >= 0 ? batch_cut(x, i, at) : NULL;
        if (why != NULL)
            return why;
    }
    int at = letter_at(arrow, 2, strlen(arrow), letter); /* behind "->": the axis in the result */
    batch_set(x, 0, batch_at(first, at));
    return at >= 0 ? NULL : batch_say(x, "it sums over the axis of the batch");
}

/* ---- operators with an axis for the batch in each operand --------------------------------------- */

/* Cuts operand i, which is WHOLE, in blocks along an axis, unless its size there is 1.  Returns what batch_cut()
 * returns. */
static const char *cut_unless_one(struct batch_search *x, uint32_t i, int axis)
{
    struct shape s;
    int rank = batch_shape(x, i, &s);
    return rank > axis && s.d[axis].value == 1 ? NULL : batch_cut(x, i, axis);
}

/* Returns NULL if the character `want` (batch_rule.text) allows the state of operand i, else the reason; may cut a
 * WHOLE operand. */
static const char *want_operand(struct batch_search *x, uint32_t i, char want)
{
    struct batch in = batch_in(x, i);
    struct shape s, t;
    int rank = batch_shape(x, i, &s);
    if (want == '-' || (want == 'm' && rank != 4) || (want == 'c' && rank != 3) ||
        (want == 'r' && rank < 2))
        return batch_want_whole(x, i);
    if (in.how != BATCH_WHOLE) {
        const char *why = batch_want_cut(x, i);
        int axis = want >= '0' && want <= '9' ? want - '0' : 0;
        if (why == NULL && in.axis != axis)
            why = batch_say(x, "its operand %u, '%s', has the batch at axis %d, not %d", i,
                            batch_name_in(x, i), in.axis, axis);
        if (why == NULL && want == 'k' && rank == 1 &&
            !(batch_shape(x, 0, &t) > 0 && dim_same(s.d[0], t.d[0])))
            why = batch_say(x, "its operand %u, '%s', may have several entries for each sample", i,
                            batch_name_in(x, i));
        return why;
    }
    if (want == 'r' || (want >= '0' && want <= '9'))
        return batch_cut(x, i, want == 'r' ? 0 : want - '0');
    return cut_unless_one(x, i, 0);
}

/* Returns the next character at *at, a place in batch_rule.text, and moves *at behind it; if '+' follows the
 * character, *at stays, so that all further calls return the same character.  At the end of the text, returns
 * `none`. */
static char next_of(const char **at, char none)
{
    if (**at == '\0' || **at == ':')
        return none;
    char want = **at;
    if ((*at)[1] != '+')
        ++*at;
    return want;
}

/* Checks the operands of node x->n and sets the states of its results as `text` demands, which has the form of
 * batch_rule.text.  Returns what a batch_fn returns. */
static const char *axes_of_text(struct batch_search *x, const char *text)
{
    const struct node *n = &x->m->node[x->n];
    struct batch cut = {.how = BATCH_CUT};
    const char *at = text, *why = NULL;
    for (uint32_t i = 0; i < n->nformal && why == NULL; i++) {
        char want = next_of(&at, '-');
        if (node_in(x->m, x->n, i) != 0)
            why = want_operand(x, i, want);
    }
    at = strchr(text, ':') + 1;
    for (uint32_t i = 0; i < n->out.n && why == NULL; i++) {
        char has = next_of(&at, '!');
        vid v = node_out(x->m, x->n, i);
        if (has == '!' && v != 0)
            return batch_say(x, "its result %u, '%s', is of all samples together", i,
                             value_name(x->m, v));
        batch_set(x, i, batch_at(cut, has - '0'));
    }
    return why;
}

/* Rule (batch_fn) of operators whose operands and results have the batch at fixed axes: r->text. */
static const char *by_axes(struct batch_search *x, const struct batch_rule *r)
{
    return axes_of_text(x, r->text);
}

/* Rule (batch_fn) of BatchNormalization, which mixes samples in training mode only. */
static const char *batch_normalize(struct batch_search *x, const struct batch_rule *r)
{
    if (node_attr_int(x->m, x->n, "training_mode", 0) != 0)
        return batch_say(x, "in training mode its mean and variance are those of all samples");
    return axes_of_text(x, r->text);
}

/* Rule (batch_fn) of RNN, GRU and LSTM: the batch is at the axes that r->text says, or at axis 0 if the attribute
 * layout is 1. */
static const char *recurrent(struct batch_search *x, const struct batch_rule *r)
{
    return axes_of_text(x, node_attr_int(x->m, x->n, "layout", 0) == 0 ? r->text : "0---000-:000");
}

/* Rule (batch_fn) of ReverseSequence: the batch must not be at time_axis.  If the batch is at batch_axis, operand 1,
 * which has the length of each sequence, must be cut, too; else operand 1 must be WHOLE. */
static const char *reverse_sequence(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    int64_t samples = node_attr_int(x->m, x->n, "batch_axis", 1),
            time = node_attr_int(x->m, x->n, "time_axis", 0);
    const char *why = batch_want_cut(x, 0);
    (void)r;
    batch_set(x, 0, in);
    if (why == NULL && in.axis == time)
        return batch_say(x, "it works along the axis of the batch, %d", in.axis);
    if (why == NULL && in.axis != samples)
        return batch_want_whole(x, 1);
    return why != NULL ? why : want_operand(x, 1, '0');
}

/* Rule (batch_fn) of operators that always mix samples: returns the reason r->text. */
static const char *refuse(struct batch_search *x, const struct batch_rule *r)
{
    (void)x;
    return r->text;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static const char random_numbers[] = "it draws random numbers",
                  all_scale[] = "its scale is taken from all samples";

static const struct batch_rule onnx_rule[] = {
    {"Abs", elementwise, 0, NULL},
    {"Acos", elementwise, 0, NULL},
    {"Acosh", elementwise, 0, NULL},
    {"Add", broadcast, BROADCAST_SIZES, NULL},
    {"AffineGrid", rule_batch_affine_grid, 0, NULL},
    {"And", broadcast, 0, NULL},
    {"ArgMax", arg_reduce, 0, "0"},
    {"ArgMin", arg_reduce, 0, "0"},
    {"Asin", elementwise, 0, NULL},
    {"Asinh", elementwise, 0, NULL},
    {"Atan", elementwise, 0, NULL},
    {"Atanh", elementwise, 0, NULL},
    {"Attention", by_axes, 0, "000m000:0000"},
    {"AveragePool", by_axes, 0, "0:0"},
    {"BatchNormalization", batch_normalize, 0, "0----:0"},
    {"Bernoulli", refuse, 0, random_numbers},
    {"BitCast", elementwise, 0, NULL},
    {"BitShift", broadcast, 0, NULL},
    {"BitwiseAnd", broadcast, 0, NULL},
    {"BitwiseNot", elementwise, 0, NULL},
    {"BitwiseOr", broadcast, 0, NULL},
    {"BitwiseXor", broadcast, 0, NULL},
    {"Cast", elementwise, EACH_MOVES, NULL},
    {"CastLike", cast_like, 0, NULL},
    {"Ceil", elementwise, 0, NULL},
    {"Celu", elementwise, 0, NULL},
    {"CenterCropPad", along_operand, 1, NULL},
    {"Clip", elementwise, 0, NULL},
    {"Col2Im", by_axes, 0, "0--:0"},
    {"Compress", refuse, 0, "which samples it keeps depends on all of them"},
    {"Concat", rule_batch_concat, 0, NULL},
    {"ConstantOfShape", rule_batch_constant_of_shape, 0, NULL},
    {"Conv", by_axes, 0, "0--:0"},
    {"ConvInteger", by_axes, 0, "0---:0"},
    {"ConvTranspose", by_axes, 0, "0--:0"},
    {"Cos", elementwise, 0, NULL},
    {"Cosh", elementwise, 0, NULL},
    {"CumProd", along_operand, 0, NULL},
    {"CumSum", along_operand, 0, NULL},
    {"DFT", dft, 0, NULL},
    {"DeformConv", by_axes, 0, "0-0-0:0"},
    {"DepthToSpace", by_axes, 0, "0:0"},
    {"DequantizeLinear", quantize, 0, NULL},
    {"Det", along_last_axes, 1 | 2 << ROWS_LAST, NULL},
    {"Div", broadcast, BROADCAST_SIZES, NULL},
    {"Dropout", dropout, 0, NULL},
    {"DynamicQuantizeLinear", refuse, 0, all_scale},
    {"Einsum", einsum, 0, NULL},
    {"Elu", elementwise, 0, NULL},
    {"Equal", broadcast, BROADCAST_SIZES, NULL},
    {"Erf", elementwise, 0, NULL},
    {"Exp", elementwise, 0, NULL},
    {"Expand", rule_batch_expand, 0, NULL},
    {"Flatten", rule_batch_flatten, 0, NULL},
    {"Floor", elementwise, 0, NULL},
    {"GRU", recurrent, 0, "1---01:21"},
    {"Gather", rule_batch_gather, 0, NULL},
    {"GatherElements", rule_batch_gather_elements, 0, NULL},
    {"GatherND", rule_batch_gather_nd, 0, NULL},
    {"Gelu", elementwise, 0, NULL},
    {"Gemm", gemm, 0, NULL},
    {"GlobalAveragePool", by_axes, 0, "0:0"},
    {"GlobalLpPool", by_axes, 0, "0:0"},
    {"GlobalMaxPool", by_axes, 0, "0:0"},
    {"Greater", broadcast, BROADCAST_SIZES, NULL},
    {"GreaterOrEqual", broadcast, BROADCAST_SIZES, NULL},
    {"GridSample", by_axes, 0, "00:0"},
    {"GroupNormalization", by_axes, 0, "0--:0"},
    {"HardSigmoid", elementwise, 0, NULL},
    {"HardSwish", elementwise, 0, NULL},
    {"Hardmax", along_axis, ALONG_FLAT, "-"},
    {"Identity", elementwise, EACH_MOVES, NULL},
    {"InstanceNormalization", by_axes, 0, "0--:0"},
    {"IsInf", elementwise, 0, NULL},
    {"IsNaN", elementwise, 0, NULL},
    {"LRN", by_axes, 0, "0:0"},
    {"LSTM", recurrent, 0, "1---011-:211"},
    {"LayerNormalization", normalize, ALONG_FROM, "-"},
    {"LeakyRelu", elementwise, 0, NULL},
    {"Less", broadcast, BROADCAST_SIZES, NULL},
    {"LessOrEqual", broadcast, BROADCAST_SIZES, NULL},
    {"Log", elementwise, 0, NULL},
    {"LogSoftmax", along_axis, ALONG_FLAT, "-"},
    {"LpNormalization", along_axis, 0, "-"},
    {"LpPool", by_axes, 0, "0:0"},
    {"MatMul", mat_mul, 1, "-"},
    {"MatMulInteger", mat_mul, 1, "--ab"},
    {"Max", broadcast, BROADCAST_SIZES, NULL},
    {"MaxPool", by_axes, 0, "0:0!"},
    {"MaxRoiPool", refuse, 0, "its regions name samples by their numbers"},
    {"MaxUnpool", refuse, 0, "its indices count through all samples"},
    {"Mean", broadcast, 0, NULL},
    {"MeanVarianceNormalization", mean_variance, 0, NULL},
    {"Min", broadcast, BROADCAST_SIZES, NULL},
    {"Mish", elementwise, 0, NULL},
    {"Mod", broadcast, 0, NULL},
    {"Mul", broadcast, BROADCAST_SIZES, NULL},
    {"Multinomial", refuse, 0, random_numbers},
    {"Neg", elementwise, 0, NULL},
    {"NegativeLogLikelihoodLoss", refuse, 0, "it sums over samples"},
    {"NonMaxSuppression", refuse, 0,
     "its boxes name samples by their numbers, as many as there are"},
    {"NonZero", refuse, 0, "how many elements it finds depends on all samples"},
    {"Not", elementwise, 0, NULL},
    {"OneHot", rule_batch_one_hot, 0, NULL},
    {"Or", broadcast, 0, NULL},
    {"PRelu", broadcast, 0, NULL},
    {"Pad", rule_batch_pad, 0, NULL},
    {"Pow", broadcast, 0, NULL},
    {"QLinearConv", by_axes, 0, "0--------:0"},
    {"QLinearMatMul", mat_mul, 3, "-aa-bb11"},
    {"QuantizeLinear", quantize, 0, NULL},
    {"RMSNormalization", normalize, ALONG_FROM, "-"},
    {"RNN", recurrent, 0, "1---01:21"},
    {"RandomNormal", refuse, 0, random_numbers},
    {"RandomNormalLike", refuse, 0, random_numbers},
    {"RandomUniform", refuse, 0, random_numbers},
    {"RandomUniformLike", refuse, 0, random_numbers},
    {"Range", rule_batch_range, 0, NULL},
    {"Reciprocal", elementwise, 0, NULL},
    {"ReduceL1", reduce, 0, NULL},
    {"ReduceL2", reduce, 0, NULL},
    {"ReduceLogSum", reduce, 0, NULL},
    {"ReduceLogSumExp", reduce, 0, NULL},
    {"ReduceMax", reduce, 0, NULL},
    {"ReduceMean", reduce, 0, NULL},
    {"ReduceMin", reduce, 0, NULL},
    {"ReduceProd", reduce, 0, NULL},
    {"ReduceSum", reduce, 0, NULL},
    {"ReduceSumSquare", reduce, 0, NULL},
    {"Relu", elementwise, 0, NULL},
    {"Reshape", rule_batch_reshape, 0, NULL},
    {"Resize", rule_batch_resize, 2, NULL},
    {"ReverseSequence", reverse_sequence, 0, NULL},
    {"RoiAlign", refuse, 0, "its regions name samples by their numbers"},
    {"RotaryEmbedding", by_axes, 0, "0ccb:0"},
    {"Round", elementwise, 0, NULL},
    {"STFT", by_axes, 0, "0---:0"},
    {"Scatter", rule_batch_scatter_elements, 0, NULL},
    {"ScatterElements", rule_batch_scatter_elements, 0, NULL},
    {"ScatterND", rule_batch_scatter_nd, 0, NULL},
    {"Selu", elementwise, 0, NULL},
    {"Shape", rule_batch_shape, 0, NULL},
    {"Shrink", elementwise, 0, NULL},
    {"Sigmoid", elementwise, 0, NULL},
    {"Sign", elementwise, 0, NULL},
    {"SimplifiedLayerNormalization", normalize, ALONG_FROM, "-"},
    {"Sin", elementwise, 0, NULL},
    {"Sinh", elementwise, 0, NULL},
    {"Size", rule_batch_size, 0, NULL},
    {"Slice", rule_batch_slice, 0, NULL},
    {"Softmax", along_axis, ALONG_FLAT, "-"},
    {"SoftmaxCrossEntropyLoss", refuse, 0, "it sums over samples"},
    {"Softplus", elementwise, 0, NULL},
    {"Softsign", elementwise, 0, NULL},
    {"SpaceToDepth", by_axes, 0, "0:0"},
    {"Split", rule_batch_split, 0, NULL},
    {"Sqrt", elementwise, 0, NULL},
    {"Squeeze", rule_batch_squeeze, 0, NULL},
    {"Sub", broadcast, BROADCAST_SIZES, NULL},
    {"Sum", broadcast, 0, NULL},
    {"Swish", elementwise, 0, NULL},
    {"Tan", elementwise, 0, NULL},
    {"Tanh", elementwise, 0, NULL},
    {"TensorScatter", by_axes, 0, "000:0"},
    {"ThresholdedRelu", elementwise, 0, NULL},
    {"Tile", rule_batch_tile, 0, NULL},
    {"TopK", along_axis, 0, "-"},
    {"Transpose", rule_batch_transpose, 0, NULL},
    {"Trilu", along_last_axes, 1 | 2 << ROWS_LAST, NULL},
    {"Unique", refuse, 0, "how many elements it finds depends on all samples"},
    {"Unsqueeze", rule_batch_unsqueeze, 0, NULL},
    {"Upsample", rule_batch_resize, 1, NULL},
    {"Where", broadcast, BROADCAST_SIZES, NULL},
    {"Xor", broadcast, 0, NULL},
};

static const struct batch_rule ml_rule[] = {
    {"ArrayFeatureExtractor", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"Binarizer", elementwise, 0, NULL},
    {"CategoryMapper", elementwise, 0, NULL},
    {"FeatureVectorizer", by_axes, 0, "r+:0"},
    {"Imputer", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"LabelEncoder", elementwise, 0, NULL},
    {"LinearClassifier", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"LinearRegressor", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"Normalizer", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"OneHotEncoder", elementwise, 0, NULL},
    {"SVMClassifier", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"SVMRegressor", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"Scaler", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"TreeEnsembleClassifier", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"TreeEnsembleRegressor", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
};

static const struct batch_rule ms_rule[] = {
    {"Attention", by_axes, 0, "0--k1b-:01"},
    {"BiasGelu", broadcast, 0, NULL},
    {"DynamicQuantizeLSTM", refuse, 0, all_scale},
    {"DynamicQuantizeMatMul", refuse, 0, all_scale},
    {"EmbedLayerNormalization", by_axes, 0, "00-----0b:000"},
    {"FastGelu", broadcast, 0, NULL},
    {"FusedConv", by_axes, 0, "0--0:0"},
    {"FusedGemm", gemm, 0, NULL},
    {"FusedMatMul", mat_mul, 1, "t"},
    {"Gelu", elementwise, 0, NULL},
    {"GroupQueryAttention", by_axes, 0, "000000---0b-:0000"},
    {"MatMulIntegerToFloat", mat_mul, 1, "--ababb"},
    {"MatMulNBits", along_last_axes, 1 | 1 << ROWS_LAST, NULL},
    {"MultiHeadAttention", by_axes, 0, "000-kb00-0:0000"},
    {"NhwcMaxPool", by_axes, 0, "0:0"},
    {"QLinearAdd", qlinear, 0, NULL},
    {"QLinearAveragePool", by_axes, 0, "0----:0"},
    {"QLinearConcat", rule_batch_concat, 2, NULL},
    {"QLinearGlobalAveragePool", by_axes, 0, "0----:0"},
    {"QLinearLeakyRelu", elementwise, 0, NULL},
    {"QLinearMul", qlinear, 0, NULL},
    {"QLinearSigmoid", elementwise, 0, NULL},
    {"QLinearSoftmax", along_axis, ALONG_FROM, "-"},
    {"QuickGelu", elementwise, 0, NULL},
    {"RotaryEmbedding", by_axes, 0, "0b--:0"},
    {"SkipLayerNormalization", along_last_axes, 2 | 1 << ROWS_LAST, NULL},
    {"SkipSimplifiedLayerNormalization", along_last_axes, 2 | 1 << ROWS_LAST, NULL},
};

static const struct {
    const char *domain;
    const struct batch_rule *rule;
    size_t n;
} domains[] = {{"", onnx_rule, sizeof onnx_rule / sizeof *onnx_rule},
               {"ai.onnx.ml", ml_rule, sizeof ml_rule / sizeof *ml_rule},
               {"com.microsoft", ms_rule, sizeof ms_rule / sizeof *ms_rule}};

const struct batch_rule *batch_rule_of(const char *domain, const char *op)
{
    size_t d = 0, lo = 0;
    while (d < sizeof domains / sizeof *domains && strcmp(domains[d].domain, domain) != 0)
        d++;
    if (d == sizeof domains / sizeof *domains)
        return NULL;
    for (size_t hi = domains[d].n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(domains[d].rule[mid].op, op);
        if (c == 0)
            return &domains[d].rule[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

bool batch_draws(struct batch_search *x, const struct batch_rule *r)
{
    /* from opset 12 on, operand 2 of Dropout says whether the node drops elements at random, as in training */
    if (r->fn == dropout && x->f->opset >= 12 && node_in(x->m, x->n, 2) != 0) {
        struct batch_list mode = batch_list_of(x, NULL, 2);
        return !batch_entry_is(&mode, 0, 0);
    }
    return r->fn == refuse && r->text == random_numbers;
}
