/* Shape inference: rules of operators for convolution, pooling, products, normalisation, recurrent layers and losses.
 * The formulas are those of the operator documents of ONNX and of ONNX Runtime's domain com.microsoft.
 * O(operands * rank) for each node; Einsum O(length of its equation). */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

/* --- windows --- */

/* The windows of a convolution or pooling. */
struct window {
    int nspatial; /* number of spatial axes: those behind batch and channels */
    /* [spatial axis] kernel: -1: unknown; pad: [2 * spatial axes] the pads at the starts of all axes, then the pads at
     * the ends */
    int64_t kernel[SHAPE_RANK], stride[SHAPE_RANK], dilation[SHAPE_RANK], pad[2 * SHAPE_RANK];
    /* what attribute auto_pad says; PAD_GIVEN: `pad` has the pads */
    enum { PAD_GIVEN, PAD_SAME, PAD_VALID } pads;
    bool ceil; /* the number of windows is rounded up */
};

/* Writes the k integers of an attribute to out[k]; if the attribute is absent or has another length, writes k times
 * `fill`. */
static void list_or_default(const struct infer *f, nid n, const char *name, int k, int64_t fill,
                            int64_t *out)
{
    if (attr_ints(f, n, name, out, k) != k) {
        for (int i = 0; i < k; i++)
            out[i] = fill;
    }
}

/* Reads the attributes of a convolution or pooling with nspatial spatial axes into *x.  w: shape of
 * the weights, whose last dimensions are the kernel if there is no attribute for it; NULL: no
 * weights.  Returns false if an attribute is out of range. */
static bool window_of(const struct infer *f, nid n, int nspatial, const struct shape *w,
                      struct window *x)
{
    assert(nspatial >= 0 && nspatial <= SHAPE_RANK);
    const char *pad = node_attr_str(f->m, n, "auto_pad", "NOTSET");
    x->nspatial = nspatial;
    list_or_default(f, n, "strides", nspatial, 1, x->stride);
    list_or_default(f, n, "dilations", nspatial, 1, x->dilation);
    list_or_default(f, n, "pads", 2 * nspatial, 0, x->pad);
    x->pads = strncmp(pad, "SAME", 4) == 0 ? PAD_SAME
              : strcmp(pad, "VALID") == 0  ? PAD_VALID
                                           : PAD_GIVEN;
    x->ceil = node_attr_int(f->m, n, "ceil_mode", 0) != 0;
    bool given = attr_ints(f, n, "kernel_shape", x->kernel, nspatial) == nspatial;
    for (int i = 0; i < nspatial; i++) {
        if (!given)
            x->kernel[i] = w != NULL && w->rank == nspatial + 2 ? w->d[2 + i].value : -1;
        x->kernel[i] = larger(x->kernel[i], -1);
        if (x->stride[i] < 1 || x->dilation[i] < 1 || x->kernel[i] > INT32_MAX ||
            x->dilation[i] > INT32_MAX || x->stride[i] > INT32_MAX)
            return false;
        if (x->pads == PAD_VALID)
            x->pad[i] = x->pad[nspatial + i] = 0;
        if (x->pad[i] > INT32_MAX || x->pad[i] < -INT32_MAX || x->pad[nspatial + i] > INT32_MAX ||
            x->pad[nspatial + i] < -INT32_MAX)
            return false;
    }
    return true;
}

/* Reads the pads from operand i, if node n has it; returns false if they are not known or out of range. */
static bool pads_in(struct infer *f, nid n, uint32_t i, struct window *x)
{
    int64_t pad[2 * SHAPE_RANK];
    vid v = node_in(f->m, n, i);
    if (v == 0)
        return true;
    if (ints_of(f, v, pad, 2 * x->nspatial) != 2 * x->nspatial)
        return false;
    for (int k = 0; k < 2 * x->nspatial; k++) {
        if (pad[k] > INT32_MAX || pad[k] < -INT32_MAX)
            return false;
        x->pad[k] = pad[k];
    }
    return true;
}

/* Returns the number of windows along spatial axis i of size d; unknown if it is not certain. */
static struct dim window_dim(struct infer *f, const struct window *x, int i, struct dim d)
{
    assert(i < x->nspatial && x->stride[i] > 0 && x->dilation[i] > 0);
    if (!dim_known(d))
        return d;
    if (x->pads == PAD_SAME)
        return dim_div(f->m, dim_shift(f->m, d, x->stride[i] - 1), dim_num(x->stride[i]));
    if (x->kernel[i] < 0)
        return dim_unknown();
    int64_t span = x->dilation[i] * (x->kernel[i] - 1) + 1;
    int64_t before = x->pad[i], after = x->pad[x->nspatial + i];
    struct dim last_start = dim_shift(f->m, d, before + after - span);
    if (!x->ceil || x->stride[i] == 1)
        return dim_shift(f->m, dim_div(f->m, last_start, dim_num(x->stride[i])), 1);
    if (x->stride[i] + after <= span) /* no window can start in the padding at the end */
        return dim_shift(
            f->m,
            dim_div(f->m, dim_shift(f->m, last_start, x->stride[i] - 1), dim_num(x->stride[i])), 1);
    if (last_start.value < 0 || last_start.value > INT64_MAX / 4)
        return dim_unknown();
    int64_t k = (last_start.value + x->stride[i] - 1) / x->stride[i] + 1;
    /* no window may start in the padding at the end */
    if ((k - 1) * x->stride[i] >= d.value + before)
        k--;
    return dim_num(k);
}

/* Sets the spatial dimensions of *out, which begin at dimension `at`, to the numbers of windows along the spatial
 * dimensions of *in. */
static void apply_windows(struct infer *f, const struct window *x, const struct shape *in, int at,
                          struct shape *out)
{
    assert(at >= 0 && at + x->nspatial <= in->rank && in->rank <= SHAPE_RANK);
    for (int i = 0; i < x->nspatial; i++)
        out->d[at + i] = window_dim(f, x, i, in->d[at + i]);
}

/* Whether the channels of node n are the last axis, not axis 1.  arg: WINDOW_*. */
static bool channels_last(const struct infer *f, nid n, int arg)
{
    return (arg & WINDOW_LAST) != 0 ||
           ((arg & WINDOW_MAYBE_LAST) != 0 && node_attr_int(f->m, n, "channels_last", 0) != 0);
}

/* Sets the type of a convolution's result 0: element type e; operand `weight` has the weights; last: channels last. */
static void set_conv(struct infer *f, nid n, uint32_t weight, enum elem e, bool last)
{
    struct shape in = operand_shape(f, n, 0), w = operand_shape(f, n, weight),
                 out = shape_unknown(e);
    struct window x;
    int rank = in.rank >= 0 ? in.rank : w.rank;
    if (rank > 2 && window_of(f, n, rank - 2, &w, &x)) {
        out.rank = rank;
        for (int i = 0; i < rank; i++)
            out.d[i] = dim_unknown();
        out.d[0] = shape_dim(&in, 0);
        out.d[last ? rank - 1 : 1] = shape_dim(&w, 0);
        if (in.rank >= 0)
            apply_windows(f, &x, &in, last ? 1 : 2, &out);
    }
    shape_set(f, n, 0, &out);
}

/* Rule for convolutions.  arg: WINDOW_* (infer.h). */
void rule_conv(struct infer *f, nid n, int arg)
{
    enum elem e = (enum elem)(arg & WINDOW_ELEM);
    set_conv(f, n, 1, e != ELEM_NONE ? e : elem_in(f, n, 0), channels_last(f, n, arg));
}

/* Rule for QLinearConv: operand 3 has the weights, operand 7 the zero point of the result.  arg: WINDOW_*. */
void rule_qlinear_conv(struct infer *f, nid n, int arg)
{
    set_conv(f, n, 3, elem_in(f, n, 7), channels_last(f, n, arg));
}

/* Rule for ConvTranspose; arg 1: ConvTransposeWithDynamicPads, whose operand 2 lists the pads. */
void rule_conv_transpose(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), w = operand_shape(f, n, 1),
                 out = shape_unknown(in.elem);
    struct window x;
    int64_t extra[SHAPE_RANK], given[SHAPE_RANK];
    if (in.rank > 2 && window_of(f, n, in.rank - 2, &w, &x)) {
        int k = in.rank - 2;
        /* whether the pads are unknown */
        bool open = arg == 1 && x.pads != PAD_SAME && !pads_in(f, n, 2, &x);
        list_or_default(f, n, "output_padding", k, 0, extra);
        bool fixed = attr_ints(f, n, "output_shape", given, SHAPE_RANK) == k;
        out.rank = in.rank;
        out.d[0] = in.d[0];
        out.d[1] = w.rank > 1 ? dim_mul(f->m, w.d[1], dim_num(node_attr_int(f->m, n, "group", 1)))
                              : dim_unknown();
        for (int i = 0; i < k; i++) {
            struct dim d = dim_mul(f->m, in.d[2 + i], dim_num(x.stride[i]));
            extra[i] = extra[i] > INT32_MAX || extra[i] < 0 ? 0 : extra[i];
            /* the result has stride * (size - 1) + extent of the kernel + extra - pads positions */
            int64_t more = extra[i] + (x.kernel[i] - 1) * x.dilation[i] + 1 - x.stride[i];
            /* SAME: pads cut the result down to stride * size positions; a result with fewer gets no pads */
            more = x.pads == PAD_SAME ? smaller(more, 0) : more - x.pad[i] - x.pad[k + i];
            out.d[2 + i] = fixed                     ? dim_num(given[i])
                           : x.kernel[i] < 0 || open ? dim_unknown()
                                                     : dim_shift(f->m, d, more);
        }
    }
    shape_set(f, n, 0, &out);
}

/* Rule for poolings.  arg: WINDOW_*; with WINDOW_INDICES result 1 has an index for each element of result 0. */
void rule_pool(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), out = shape_unknown(in.elem);
    struct window x;
    if (in.rank > 2 && window_of(f, n, in.rank - 2, NULL, &x)) {
        out = in;
        apply_windows(f, &x, &in, channels_last(f, n, arg) ? 1 : 2, &out);
    }
    shape_set(f, n, 0, &out);
    if ((arg & WINDOW_INDICES) != 0) {
        out.elem = ELEM_I64;
        shape_set(f, n, 1, &out);
    }
}

/* Rule for global poolings: all spatial axes get size 1.  arg: WINDOW_*. */
void rule_global_pool(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int first = channels_last(f, n, arg) ? 1 : 2; /* the first of the rank - 2 spatial axes */
    for (int i = first; i < s.rank + first - 2; i++)
        s.d[i] = dim_num(1);
    shape_set(f, n, 0, &s);
}

/* --- products --- */

/* Sets the dimensions of *out to those of the matrix product of shapes a and b: the axes before the last two are
 * broadcast; a vector a is a matrix of one row, a vector b one of one column, and *out lacks the axis of size 1. */
static void multiply_shapes(struct infer *f, struct shape a, struct shape b, struct shape *out)
{
    bool row = a.rank == 1, column = b.rank == 1;
    out->rank = -1;
    if (a.rank < 1 || b.rank < 1 || a.rank == SHAPE_RANK || b.rank == SHAPE_RANK)
        return;
    if (row) {
        a.d[1] = a.d[0];
        a.d[0] = dim_num(1);
        a.rank = 2;
    }
    if (column) {
        b.d[1] = dim_num(1);
        b.rank = 2;
    }
    struct dim rows = a.d[a.rank - 2], cols = b.d[b.rank - 1];
    a.rank -= 2;
    b.rank -= 2;
    shape_broadcast(f, &a, &b);
    if (!row)
        a.d[a.rank++] = rows;
    if (!column)
        a.d[a.rank++] = cols;
    out->rank = a.rank;
    memcpy(out->d, a.d, sizeof out->d);
}

/* Moves the first axis to the last but one: (M, batch..., K) becomes (batch..., M, K). */
static void move_to_batch(struct shape *s)
{
    struct dim rows = s->d[0];
    if (s->rank < 3)
        return;
    memmove(&s->d[0], &s->d[1], (size_t)(s->rank - 2) * sizeof s->d[0]);
    s->d[s->rank - 2] = rows;
}

/* Writes the shape of operand i of node n, a sparse tensor, to *s; an unknown shape if it is not known. */
static void sparse_in(const struct infer *f, nid n, uint32_t i, struct shape *s)
{
    vid v = node_in(f->m, n, i);
    const struct type *t = &f->m->type[v != 0 ? f->type[v] : 0];
    *s = shape_unknown((enum elem)t->elem);
    if (t->kind == TYPE_SPARSE && t->rank <= SHAPE_RANK)
        s->rank = t->rank;
    for (int k = 0; k < s->rank; k++)
        s->d[k] = f->m->dim[t->dim + (uint32_t)k];
}

/* Rule for MatMul and similar operators, which may transpose the matrices or the batch axes first.  arg: MATMUL_*. */
void rule_matmul(struct infer *f, nid n, int arg)
{
    struct shape a, b, out;
    uint32_t second = arg == MATMUL_QLINEAR ? 3 : arg == MATMUL_ORDERED ? 2 : 1;
    if (arg == MATMUL_SPARSE)
        sparse_in(f, n, 0, &a);
    else
        shape_in(f, n, 0, &a);
    shape_in(f, n, second, &b);
    enum elem e = arg == MATMUL_INTEGER    ? ELEM_I32
                  : arg == MATMUL_QLINEAR  ? elem_in(f, n, 7)
                  : arg == MATMUL_TO_FLOAT ? elem_in(f, n, 2)
                  : arg == MATMUL_SPARSE   ? (enum elem)b.elem
                                           : (enum elem)a.elem;
    out = shape_unknown(e);
    if (node_attr_int(f->m, n, "transBatchA", 0) != 0)
        move_to_batch(&a);
    if (node_attr_int(f->m, n, "transBatchB", 0) != 0)
        move_to_batch(&b);
    if (node_attr_int(f->m, n, "transA", 0) != 0)
        shape_swap_last(&a);
    if (node_attr_int(f->m, n, "transB", 0) != 0)
        shape_swap_last(&b);
    multiply_shapes(f, a, b, &out);
    shape_set(f, n, 0, &out);
}

/* Rule for MatMulNBits and similar operators: the second matrix is packed, so attributes give its size.  arg: number of
 * products, which are results 0 .. arg - 1: 1, with N columns (K if the matrix is not transposed); or 3, for queries,
 * keys and values.  Result arg, if present, is the normalised sum that was multiplied. */
void rule_matmul_nbits(struct infer *f, nid n, int arg)
{
    static const char *const of_three[] = {"Nq", "Nkv", "Nkv"};
    struct shape in, out;
    const char *of_one = node_attr_int(f->m, n, "transB", 1) != 0 ? "N" : "K";
    shape_in(f, n, 0, &in);
    out = in;
    for (int i = 0; i < arg; i++) {
        if (out.rank > 0)
            out.d[out.rank - 1] =
                dim_num(node_attr_int(f->m, n, arg == 1 ? of_one : of_three[i], -1));
        shape_set(f, n, (uint32_t)i, &out);
    }
    shape_set(f, n, (uint32_t)arg, &in);
}

/* Rule for MatMulFpQ4: operand 2 lists the shape of the second matrix, which is packed. */
void rule_matmul_fpq4(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    (void)arg;
    if (s.rank > 0)
        s.d[s.rank - 1] = value_dim(f, n, 2, 1);
    shape_set(f, n, 0, &s);
}

/* Rule for products with a packed matrix (MatMulBlockQuantized...) and WordConvEmbedding: result 0 has the shape of
 * operand 0, except that the last axis of the result has the size of the first axis of operand 1.  arg: the element
 * type of the result; 0: the element type of operand 0. */
void rule_rows(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0), w = operand_shape(f, n, 1);
    s.elem = arg != ELEM_NONE ? (uint8_t)arg : s.elem;
    if (s.rank > 0)
        s.d[s.rank - 1] = shape_dim(&w, 0);
    shape_set(f, n, 0, &s);
}

/* Rule for MulInteger: the product of operands 0 and 2, each of which is followed by a zero point or an omitted
 * operand. */
void rule_mul_integer(struct infer *f, nid n, int arg)
{
    struct shape a = operand_shape(f, n, 0), b = operand_shape(f, n, 2);
    (void)arg;
    shape_broadcast(f, &a, &b);
    a.elem = ELEM_I32;
    shape_set(f, n, 0, &a);
}

/* Rule for CDist: the result has the shape (rows of operand 0, rows of operand 1): the distances between the rows. */
void rule_cdist(struct infer *f, nid n, int arg)
{
    struct shape a = operand_shape(f, n, 0), b = operand_shape(f, n, 1);
    (void)arg;
    struct shape out = {.elem = a.elem, .rank = 2, .d = {shape_dim(&a, 0), shape_dim(&b, 0)}};
    shape_set(f, n, 0, &out);
}

/* Rule for Gemm.  arg: number of the operand with the second matrix: 1; 3 for QGemm, whose operand 8 has the element
 * type of the result (f32 without it).  Attribute dtype (GemmFloat8) gives the element type, too. */
void rule_gemm(struct infer *f, nid n, int arg)
{
    struct shape a = operand_shape(f, n, 0), b = operand_shape(f, n, (uint32_t)arg), out;
    bool ta = node_attr_int(f->m, n, "transA", 0) != 0,
         tb = node_attr_int(f->m, n, "transB", 0) != 0;
    out = shape_unknown(arg == 3 ? elem_in(f, n, 8) : (enum elem)a.elem);
    if (arg == 3 && out.elem == 0)
        out.elem = ELEM_F32;
    int64_t dtype = node_attr_int(f->m, n, "dtype", 0);
    if (dtype > 0 && dtype < ELEM_COUNT)
        out.elem = (uint8_t)dtype;
    out.rank = 2;
    out.d[0] = a.rank == 2 ? a.d[ta ? 1 : 0] : dim_unknown();
    out.d[1] = b.rank == 2 ? b.d[tb ? 0 : 1] : dim_unknown();
    shape_set(f, n, 0, &out);
}

/* --- normalisation --- */

/* Rule for normalisations: result 0 has the shape of operand 0, further results are statistics.  arg 1:
 * LayerNormalization, whose statistics have the shape of operand 0 with size 1 from attribute axis on; 2:
 * BatchNormalization, whose statistics have the shape of operand 3, the running mean. */
void rule_norm(struct infer *f, nid n, int arg)
{
    struct shape s;
    shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
    for (uint32_t i = 1; arg == 2 && i < f->m->node[n].out.n; i++)
        shape_set_like(f, n, i, node_in(f->m, n, 3), ELEM_NONE);
    if (arg != 1 || f->m->node[n].out.n < 2 || !shape_in(f, n, 0, &s))
        return;
    int axis = axis_of(node_attr_int(f->m, n, "axis", -1), s.rank);
    for (int i = axis; i >= 0 && i < s.rank; i++)
        s.d[i] = dim_num(1);
    s.rank = axis < 0 ? -1 : s.rank;
    int64_t stash = node_attr_int(f->m, n, "stash_type", ELEM_F32);
    s.elem = stash > 0 && stash < ELEM_COUNT ? (uint8_t)stash : ELEM_NONE;
    for (uint32_t i = 1; i < f->m->node[n].out.n && i < 3; i++)
        shape_set(f, n, i, &s);
}

/* --- recurrent layers --- */

/* Rule for recurrent layers: result 0 is (length, directions, batch, hidden size), and the last states, results 1 ..
 * arg - 1, are (directions, batch, hidden size); with attribute layout the batch is the first axis.  arg: number of
 * results: 2: GRU and RNN; 3: LSTM. */
void rule_rnn(struct infer *f, nid n, int arg)
{
    struct shape x = operand_shape(f, n, 0), r = operand_shape(f, n, 2), all = {.rank = 4},
                 last = {.rank = 3};
    bool batch_first = node_attr_int(f->m, n, "layout", 0) != 0;
    int64_t size = node_attr_int(f->m, n, "hidden_size", -1);
    bool both = strcmp(node_attr_str(f->m, n, "direction", "forward"), "bidirectional") == 0;
    struct dim hidden = size >= 0 || r.rank != 3 ? dim_num(size) : r.d[2];
    struct dim dirs = dim_num(both ? 2 : 1);
    struct dim seq = x.rank == 3 ? x.d[batch_first ? 1 : 0] : dim_unknown();
    struct dim batch = x.rank == 3 ? x.d[batch_first ? 0 : 1] : dim_unknown();
    const struct dim time_first[] = {seq, dirs, batch, hidden},
                     samples_first[] = {batch, seq, dirs, hidden};
    all.elem = last.elem = x.elem;
    memcpy(all.d, batch_first ? samples_first : time_first, sizeof time_first);
    last.d[0] = batch_first ? batch : dirs;
    last.d[1] = batch_first ? dirs : batch;
    last.d[2] = hidden;
    shape_set(f, n, 0, &all);
    for (uint32_t i = 1; i < (uint32_t)arg; i++)
        shape_set(f, n, i, &last);
}

/* --- Einsum --- */

/* Returns s without blanks at its beginning. */
static const char *skip_blank(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

/* Whether c can label an axis in an Einsum's equation. */
static bool is_label(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The equation of an Einsum, as far as its operands are read. */
struct equation {
    struct dim size[128]; /* [label, a letter] size of the axes that have this label */
    uint8_t seen[128];    /* [label] how often the label occurs: 0, 1, or 2 for more than once */
    struct shape dots;    /* the axes that "..." stands for */
    bool has_dots;        /* "..." occurs */
};

/* Returns the number of labels of the operand whose labels begin at s. */
static int labels_ahead(const char *s)
{
    int k = 0;
    for (s = skip_blank(s); is_label(*s) || *s == '.'; s = skip_blank(s + 1))
        k += *s != '.';
    return k;
}

/* Reads the labels at s of an operand of shape *in into *e.  Returns the text after them; NULL: they do not fit the
 * operand's rank. */
static const char *read_labels(struct infer *f, const char *s, const struct shape *in,
                               struct equation *e)
{
    int dots = in->rank - labels_ahead(s), k = 0;
    bool dots_read = false;
    for (s = skip_blank(s); is_label(*s) || *s == '.'; s = skip_blank(s)) {
        if (*s == '.') {
            struct shape some = {.rank = in->rank < 0 ? -1 : dots};
            if (strncmp(s, "...", 3) != 0 || (in->rank >= 0 && dots < 0) || dots_read)
                return NULL;
            dots_read = true;
            for (int i = 0; i < some.rank; i++)
                some.d[i] = in->d[k++];
            if (e->has_dots)
                shape_broadcast(f, &e->dots, &some);
            else
                e->dots = some;
            e->has_dots = true;
            s += 3;
            continue;
        }
        /* a letter: blanks and dots were passed over above */
        unsigned char c = (unsigned char)*s++;
        struct dim d = shape_dim(in, k++);
        e->size[c] = e->seen[c] == 0 ? d : broadcast_dim(f, e->size[c], d);
        e->seen[c] = e->seen[c] < 2 ? (uint8_t)(e->seen[c] + 1) : 2;
    }
    return s;
}

/* Appends the dimensions that "..." stands for to *out; returns false if there are too many, or their number is not
 * known. */
static bool put_dots(const struct equation *e, struct shape *out)
{
    if (!e->has_dots)
        return true;
    if (e->dots.rank < 0 || out->rank + e->dots.rank >= SHAPE_RANK)
        return false;
    memcpy(&out->d[out->rank], e->dots.d, (size_t)e->dots.rank * sizeof e->dots.d[0]);
    out->rank += e->dots.rank;
    return true;
}

/* Writes the dimensions of the result to *out.  The labels of the result follow "->" at s; if s is the end of the
 * equation, the result has the axes of "..." and then the labels that occur once, sorted.  Returns false if the
 * shape is not known. */
static bool write_labels(const struct equation *e, const char *s, struct shape *out)
{
    bool fits = true;
    out->rank = 0;
    if (strncmp(s, "->", 2) == 0) {
        for (s = skip_blank(s + 2); fits && *s != 0; s = skip_blank(s)) {
            bool dots = strncmp(s, "...", 3) == 0;
            fits = out->rank < SHAPE_RANK && (dots ? put_dots(e, out) : is_label(*s));
            if (fits && !dots)
                out->d[out->rank++] = e->seen[(int)*s] != 0 ? e->size[(int)*s] : dim_unknown();
            s += dots ? 3 : 1;
        }
        return fits;
    }
    fits = *s == 0 && put_dots(e, out);
    for (int c = 0; c < 128 && fits; c++) {
        fits = e->seen[c] != 1 || out->rank < SHAPE_RANK;
        if (fits && e->seen[c] == 1)
            out->d[out->rank++] = e->size[c];
    }
    return fits;
}

/* Rule for Einsum: an equation such as "bij,bjk->bik" labels the axes of operands and result. */
void rule_einsum(struct infer *f, nid n, int arg)
{
    const char *s = skip_blank(node_attr_str(f->m, n, "equation", ""));
    struct equation e = {0};
    struct shape in, out = shape_unknown(elem_in(f, n, 0));
    bool known = *s != 0;
    (void)arg;
    for (uint32_t i = 0; i < f->m->node[n].nformal && known; i++) {
        shape_in(f, n, i, &in);
        s = read_labels(f, s, &in, &e);
        known = s != NULL;
        if (known && *s == ',')
            s = skip_blank(s + 1);
    }
    if (!known || !write_labels(&e, s, &out))
        out.rank = -1;
    shape_set(f, n, 0, &out);
}

/* Rule for LayerNormalizationGrad.  Results: gradients of the input, with the shape of operand 0 (the gradient of the
 * output), and of scale and bias, with the shape of operand 2. */
void rule_norm_grad(struct infer *f, nid n, int arg)
{
    (void)arg;
    shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
    shape_set_like(f, n, 1, node_in(f->m, n, 2), ELEM_NONE);
    shape_set_like(f, n, 2, node_in(f->m, n, 2), ELEM_NONE);
}

/* --- losses --- */

/* Rule for SoftmaxCrossEntropyLoss and other losses.  Result 0 is a scalar, or without reduction a loss for each
 * label in operand 1; result 1 has the shape of the scores in operand 0.  arg 1: a gradient, whose result has the
 * shape of the scores in operand 1. */
void rule_loss(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 1);
    int64_t e = node_attr_int(f->m, n, "output_type", 0);
    s.elem = e > 0 && e < ELEM_COUNT ? (uint8_t)e : (uint8_t)elem_in(f, n, 0);
    if (arg == 0 && strcmp(node_attr_str(f->m, n, "reduction", "mean"), "none") != 0)
        s.rank = 0;
    shape_set(f, n, 0, &s);
    if (arg == 0)
        shape_set_like(f, n, 1, node_in(f->m, n, 0), ELEM_NONE);
}
