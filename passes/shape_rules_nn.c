/* Shape inference: rules of the operators that compute (convolution, pooling, products, recurrent
 * layers, attention, resizing).  Formulas: the operator documents of ONNX and of ONNX Runtime's
 * com.microsoft domain. */
#include "passes/shapes.h"

#include <string.h>

/* --- windows --- */

struct window {
    int nspatial;
    int64_t kernel[SHAPE_RANK], stride[SHAPE_RANK], dilation[SHAPE_RANK], pad[2 * SHAPE_RANK];
    enum { PAD_GIVEN, PAD_SAME, PAD_VALID } pads;
    bool ceil;
};

static void list_or_default(const struct infer *f, nid n, const char *name, int k, int64_t fill,
                            int64_t *out)
{
    if (attr_ints(f, n, name, out, k) != k) {
        for (int i = 0; i < k; i++)
            out[i] = fill;
    }
}

/* w: shape of the weights, whose last dimensions give the kernel if no attribute does; or NULL.
 * kernel[i] is -1 where unknown.  False: attributes out of range. */
static bool window_of(const struct infer *f, nid n, int nspatial, const struct shape *w,
                      struct window *x)
{
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

static struct dim window_dim(struct infer *f, const struct window *x, int i, struct dim d)
{
    if (!dim_known(d))
        return d;
    if (x->pads == PAD_SAME)
        return dim_div(f->m, dim_shift(f->m, d, x->stride[i] - 1), dim_num(x->stride[i]));
    if (x->kernel[i] < 0)
        return dim_unknown();
    int64_t span = x->dilation[i] * (x->kernel[i] - 1) + 1;
    int64_t before = x->pad[i], after = x->pad[x->nspatial + i];
    struct dim room = dim_shift(f->m, d, before + after - span);
    if (!x->ceil || x->stride[i] == 1)
        return dim_shift(f->m, dim_div(f->m, room, dim_num(x->stride[i])), 1);
    if (room.value < 0 || room.value > INT64_MAX / 4)
        return dim_unknown();
    int64_t k = (room.value + x->stride[i] - 1) / x->stride[i] + 1;
    if ((k - 1) * x->stride[i] >=
        d.value + before) /* a window must not start in the padding behind */
        k--;
    return dim_num(k);
}

static void windowed(struct infer *f, const struct window *x, const struct shape *in,
                     struct shape *out)
{
    for (int i = 0; i < x->nspatial; i++)
        out->d[2 + i] = window_dim(f, x, i, in->d[2 + i]);
}

static void conv_like(struct infer *f, nid n, uint32_t weight, enum elem e)
{
    struct shape in, w, out;
    struct window x;
    shape_in(f, n, 0, &in);
    shape_in(f, n, weight, &w);
    out = shape_unknown(e);
    int rank = in.rank >= 0 ? in.rank : w.rank;
    if (rank > 2 && window_of(f, n, rank - 2, &w, &x)) {
        out.rank = rank;
        out.d[0] = in.rank >= 0 ? in.d[0] : dim_unknown();
        out.d[1] = w.rank > 0 ? w.d[0] : dim_unknown();
        for (int i = 2; in.rank < 0 && i < rank; i++)
            out.d[i] = dim_unknown();
        if (in.rank >= 0)
            windowed(f, &x, &in, &out);
    }
    shape_set(f, n, 0, &out);
}

/* arg: element type of the result, 0: that of the operand. */
void rule_conv(struct infer *f, nid n, int arg)
{
    conv_like(f, n, 1, arg != 0 ? (enum elem)arg : elem_in(f, n, 0));
}

void rule_qlinear_conv(struct infer *f, nid n, int arg)
{
    (void)arg;
    conv_like(f, n, 3, elem_in(f, n, 7));
}

void rule_conv_transpose(struct infer *f, nid n, int arg)
{
    struct shape in, w, out;
    struct window x;
    int64_t extra[SHAPE_RANK], given[SHAPE_RANK];
    (void)arg;
    shape_in(f, n, 0, &in);
    shape_in(f, n, 1, &w);
    out = shape_unknown(in.elem);
    if (in.rank > 2 && window_of(f, n, in.rank - 2, &w, &x)) {
        int k = in.rank - 2;
        list_or_default(f, n, "output_padding", k, 0, extra);
        bool fixed = attr_ints(f, n, "output_shape", given, SHAPE_RANK) == k;
        out.rank = in.rank;
        out.d[0] = in.d[0];
        out.d[1] = w.rank > 1 ? dim_mul(f->m, w.d[1], dim_num(node_attr_int(f->m, n, "group", 1)))
                              : dim_unknown();
        for (int i = 0; i < k; i++) {
            struct dim d = dim_mul(f->m, in.d[2 + i], dim_num(x.stride[i]));
            extra[i] = extra[i] > INT32_MAX || extra[i] < 0 ? 0 : extra[i];
            int64_t more = extra[i] + (x.kernel[i] - 1) * x.dilation[i] + 1 - x.stride[i] -
                           x.pad[i] - x.pad[k + i];
            out.d[2 + i] = fixed                ? dim_num(given[i])
                           : x.pads == PAD_SAME ? d
                           : x.kernel[i] < 0    ? dim_unknown()
                                                : dim_shift(f->m, d, more);
        }
    }
    shape_set(f, n, 0, &out);
}

/* arg: 1 if the second result holds indices. */
void rule_pool(struct infer *f, nid n, int arg)
{
    struct shape in, out;
    struct window x;
    shape_in(f, n, 0, &in);
    out = shape_unknown(in.elem);
    if (in.rank > 2 && window_of(f, n, in.rank - 2, NULL, &x)) {
        out = in;
        windowed(f, &x, &in, &out);
    }
    shape_set(f, n, 0, &out);
    if (arg == 1) {
        out.elem = ELEM_I64;
        shape_set(f, n, 1, &out);
    }
}

void rule_global_pool(struct infer *f, nid n, int arg)
{
    struct shape s;
    (void)arg;
    shape_in(f, n, 0, &s);
    for (int i = 2; i < s.rank; i++)
        s.d[i] = dim_num(1);
    shape_set(f, n, 0, &s);
}

/* --- products --- */

static void swap_last(struct shape *s)
{
    struct dim d = s->d[s->rank - 1];
    s->d[s->rank - 1] = s->d[s->rank - 2];
    s->d[s->rank - 2] = d;
}

static void product(struct infer *f, struct shape a, struct shape b, struct shape *out)
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

/* Forms of matrix products: where the second matrix is, and what gives the element type. */
enum { PLAIN, INTEGER, QLINEAR, TO_FLOAT, DYNAMIC };

void rule_matmul(struct infer *f, nid n, int arg)
{
    struct shape a, b, out;
    uint32_t second = arg == QLINEAR ? 3 : 1;
    shape_in(f, n, 0, &a);
    shape_in(f, n, second, &b);
    enum elem e = arg == INTEGER    ? ELEM_I32
                  : arg == QLINEAR  ? elem_in(f, n, 7)
                  : arg == TO_FLOAT ? elem_in(f, n, 2)
                                    : (enum elem)a.elem;
    out = shape_unknown(e);
    if (node_attr_int(f->m, n, "transBatchA", 0) != 0 ||
        node_attr_int(f->m, n, "transBatchB", 0) != 0) {
        shape_set(f, n, 0, &out);
        return;
    }
    if (node_attr_int(f->m, n, "transA", 0) != 0 && a.rank > 1)
        swap_last(&a);
    if (node_attr_int(f->m, n, "transB", 0) != 0 && b.rank > 1)
        swap_last(&b);
    product(f, a, b, &out);
    shape_set(f, n, 0, &out);
}

/* B is packed: only attributes know its size. */
void rule_matmul_nbits(struct infer *f, nid n, int arg)
{
    struct shape s;
    (void)arg;
    shape_in(f, n, 0, &s);
    if (s.rank > 0)
        s.d[s.rank - 1] = dim_num(node_attr_int(f->m, n, "N", -1));
    shape_set(f, n, 0, &s);
}

/* arg: place of the second matrix (3 in QGemm). */
void rule_gemm(struct infer *f, nid n, int arg)
{
    struct shape a, b, out;
    shape_in(f, n, 0, &a);
    shape_in(f, n, (uint32_t)arg, &b);
    bool ta = node_attr_int(f->m, n, "transA", 0) != 0,
         tb = node_attr_int(f->m, n, "transB", 0) != 0;
    out = shape_unknown(arg == 3 ? elem_in(f, n, 8) : (enum elem)a.elem);
    if (arg == 3 && out.elem == 0)
        out.elem = ELEM_F32;
    out.rank = 2;
    out.d[0] = a.rank == 2 ? a.d[ta ? 1 : 0] : dim_unknown();
    out.d[1] = b.rank == 2 ? b.d[tb ? 0 : 1] : dim_unknown();
    shape_set(f, n, 0, &out);
}

/* --- normalisation: result 0 like operand 0; further results are statistics --- */

/* arg: 1: statistics over the axes from `axis` on, kept as 1; 2: like the running mean (operand 3). */
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
    s.elem = s.elem == ELEM_F64 ? ELEM_F64 : ELEM_F32;
    for (uint32_t i = 1; i < f->m->node[n].out.n && i < 3; i++)
        shape_set(f, n, i, &s);
}

/* --- recurrent layers; arg: results (2: GRU and RNN, 3: LSTM) --- */

void rule_rnn(struct infer *f, nid n, int arg)
{
    struct shape x, r, all = {.rank = 4}, last = {.rank = 3};
    shape_in(f, n, 0, &x);
    shape_in(f, n, 2, &r);
    bool batch_first = node_attr_int(f->m, n, "layout", 0) != 0;
    int64_t size = node_attr_int(f->m, n, "hidden_size", -1);
    bool both = strcmp(node_attr_str(f->m, n, "direction", "forward"), "bidirectional") == 0;
    struct dim hidden = size >= 0 || r.rank != 3 ? dim_num(size) : r.d[2];
    struct dim dirs = dim_num(both ? 2 : 1);
    struct dim seq = x.rank == 3 ? x.d[batch_first ? 1 : 0] : dim_unknown();
    struct dim batch = x.rank == 3 ? x.d[batch_first ? 0 : 1] : dim_unknown();
    const struct dim time_first[] = {seq, dirs, batch, hidden},
                     other[] = {batch, seq, dirs, hidden};
    all.elem = last.elem = x.elem;
    memcpy(all.d, batch_first ? other : time_first, sizeof other);
    last.d[0] = batch_first ? batch : dirs;
    last.d[1] = batch_first ? dirs : batch;
    last.d[2] = hidden;
    shape_set(f, n, 0, &all);
    for (uint32_t i = 1; i < (uint32_t)arg; i++)
        shape_set(f, n, i, &last);
}

/* --- Einsum --- */

static const char *skip_blank(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

static bool label(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void rule_einsum(struct infer *f, nid n, int arg)
{
    const char *s = node_attr_str(f->m, n, "equation", "");
    struct dim size[128] = {0};
    uint8_t seen[128] = {0};
    struct shape in, out = shape_unknown(elem_in(f, n, 0));
    bool known = *s != 0 && strchr(s, '.') == NULL;
    (void)arg;
    for (uint32_t i = 0; i < f->m->node[n].nformal && known; i++) {
        int k = 0;
        shape_in(f, n, i, &in);
        for (s = skip_blank(s); label(*s); s = skip_blank(s + 1), k++) {
            int c = *s;
            struct dim d = k < in.rank ? in.d[k] : dim_unknown();
            size[c] = seen[c] == 0 ? d : broadcast_dim(f, size[c], d);
            seen[c] = seen[c] < 2 ? (uint8_t)(seen[c] + 1) : 2;
        }
        s += *s == ',';
    }
    if (known && strncmp(s, "->", 2) == 0) {
        out.rank = 0;
        for (s = skip_blank(s + 2); label(*s) && out.rank < SHAPE_RANK; s = skip_blank(s + 1))
            out.d[out.rank++] = seen[(int)*s] != 0 ? size[(int)*s] : dim_unknown();
        out.rank = *s == 0 ? out.rank : -1;
    } else if (known && *s == 0) { /* implicit: labels that occur once, sorted */
        out.rank = 0;
        for (int c = 0; c < 128 && out.rank < SHAPE_RANK; c++) {
            if (seen[c] == 1)
                out.d[out.rank++] = size[c];
        }
    }
    shape_set(f, n, 0, &out);
}

/* --- attention --- */

/* ai.onnx Attention: (batch, seq, heads * size) or (batch, heads, seq, size). */
void rule_attention(struct infer *f, nid n, int arg)
{
    struct shape q, k, v, past, out;
    (void)arg;
    shape_in(f, n, 0, &q);
    shape_in(f, n, 1, &k);
    shape_in(f, n, 2, &v);
    out = shape_unknown(q.elem);
    int64_t heads = node_attr_int(f->m, n, "q_num_heads", -1);
    int64_t kv_heads = node_attr_int(f->m, n, "kv_num_heads", -1);
    if (q.rank == 4 && v.rank == 4) {
        out = q;
        out.d[3] = v.d[3];
    } else if (q.rank == 3 && v.rank == 3) {
        out = q;
        out.d[2] = heads > 0 && kv_heads > 0
                       ? dim_mul(f->m, dim_num(heads), dim_div(f->m, v.d[2], dim_num(kv_heads)))
                       : dim_unknown();
    }
    shape_set(f, n, 0, &out);
    for (uint32_t i = 1; i < 3; i++) { /* present key and value: past, then new */
        struct shape *x = i == 1 ? &k : &v;
        if (x->rank == 4 && shape_in(f, n, 3 + i, &past) && past.rank == 4)
            x->d[2] = dim_add(f->m, x->d[2], past.d[2]);
        if (x->rank == 3 && kv_heads > 0) {
            struct shape four = {.elem = x->elem, .rank = 4};
            four.d[0] = x->d[0];
            four.d[1] = dim_num(kv_heads);
            four.d[2] = x->d[1];
            if (shape_in(f, n, 3 + i, &past) && past.rank == 4)
                four.d[2] = dim_add(f->m, x->d[1], past.d[2]);
            four.d[3] = dim_div(f->m, x->d[2], dim_num(kv_heads));
            *x = four;
        }
        x->rank = x->rank == 4 ? 4 : -1;
        shape_set(f, n, i, x);
    }
    struct shape scores = {.elem = q.elem, .rank = q.rank >= 0 && k.rank == 4 ? 4 : -1};
    scores.d[0] = q.rank > 0 ? q.d[0] : dim_unknown();
    scores.d[1] = q.rank == 4 ? q.d[1] : dim_num(heads);
    scores.d[2] = q.rank >= 3 ? q.d[q.rank - 2] : dim_unknown();
    scores.d[3] = k.rank == 4 ? k.d[2] : dim_unknown();
    shape_set(f, n, 3, &scores);
}

/* com.microsoft Attention: one weight for query, key and value. */
void rule_ms_attention(struct infer *f, nid n, int arg)
{
    struct shape x, w;
    int64_t sizes[3];
    uint32_t weight = 1;
    (void)arg;
    shape_in(f, n, 0, &x);
    shape_in(f, n, weight, &w);
    if (x.rank == 3 && attr_ints(f, n, "qkv_hidden_sizes", sizes, 3) == 3)
        x.d[2] = dim_num(sizes[2]);
    else if (x.rank == 3 && w.rank == 2)
        x.d[2] = dim_div(f->m, w.d[1], dim_num(3));
    else
        x.rank = -1;
    shape_set(f, n, 0, &x);
}

/* com.microsoft MultiHeadAttention, GroupQueryAttention: separate query, key, value. */
void rule_multi_head(struct infer *f, nid n, int arg)
{
    struct shape q, v;
    shape_in(f, n, 0, &q);
    shape_in(f, n, 2, &v);
    if (q.rank != 3)
        q.rank = -1;
    else if (arg == 0)
        q.d[2] = v.rank == 3 ? v.d[2] : v.rank == 4 ? dim_mul(f->m, v.d[1], v.d[3]) : dim_unknown();
    else if (node_in(f->m, n, 2) == 0) { /* query, key and value packed in one */
        int64_t heads = node_attr_int(f->m, n, "num_heads", 0),
                kv = node_attr_int(f->m, n, "kv_num_heads", 0);
        bool sane = heads > 0 && kv > 0 && heads < INT32_MAX && kv < INT32_MAX;
        q.d[2] = sane
                     ? dim_mul(f->m, dim_div(f->m, q.d[2], dim_num(heads + 2 * kv)), dim_num(heads))
                     : dim_unknown();
    }
    shape_set(f, n, 0, &q);
}

void rule_embed_layer_norm(struct infer *f, nid n, int arg)
{
    struct shape ids, w, out, mask;
    (void)arg;
    shape_in(f, n, 0, &ids);
    shape_in(f, n, 2, &w);
    out = shape_unknown(w.elem);
    if (ids.rank == 2 && w.rank == 2) {
        out.rank = 3;
        out.d[0] = ids.d[0];
        out.d[1] = ids.d[1];
        out.d[2] = w.d[1];
    }
    shape_set(f, n, 0, &out);
    mask = shape_vector(ELEM_I32, ids.rank == 2 ? ids.d[0] : dim_unknown());
    shape_set(f, n, 1, &mask);
    shape_set(f, n, 2, &out);
}

/* --- images --- */

/* Floats of a constant operand: their number, -1 if it is none. */
static int constant_floats(const struct infer *f, vid v, float *out, int max)
{
    const struct value *x = &f->m->value[v];
    tid t = v != 0 ? x->tensor : 0;
    if (v != 0 && t == 0 && x->def != 0 && node_is(f->m, x->def, "Constant")) {
        const struct attr *a = node_attr(f->m, x->def, "value");
        t = a != NULL && a->kind == ATTR_TENSOR ? a->u.t : 0;
    }
    if (t == 0 || f->m->tensor[t].elem != ELEM_F32)
        return -1;
    int64_t n = tensor_elems(f->m, t);
    if (n < 0 || n > max || tensor_read(f->m, t, 0, out, (size_t)n * sizeof *out) != 0)
        return -1;
    return (int)n;
}

/* One product of two floats, as the runtimes compute it: the same on every machine. */
static struct dim scaled(struct dim d, float scale)
{
    float x = (float)d.value * scale; /* rounded down below */
    if (d.value < 0 || !(x >= 0.0f) || x > 1e15f)
        return scale == 1.0f ? d : dim_unknown();
    return dim_num((int64_t)x);
}

/* arg: 1: Upsample, whose scales are operand 1. */
void rule_resize(struct infer *f, nid n, int arg)
{
    struct shape s;
    float scale[SHAPE_RANK];
    int64_t axes[SHAPE_RANK];
    shape_in(f, n, 0, &s);
    bool old = arg == 1 || f->opset < 11;
    const struct nums *size = old ? NULL : nums_of(f, node_in(f->m, n, 3));
    int nscale = constant_floats(f, node_in(f->m, n, old ? 1 : 2), scale, SHAPE_RANK);
    const struct attr *a = node_attr(f->m, n, "scales");
    if (a != NULL && a->kind == ATTR_FLOATS && a->u.list.n <= SHAPE_RANK) {
        nscale = (int)a->u.list.n;
        memcpy(scale, f->m->floats + a->u.list.at, a->u.list.n * sizeof scale[0]);
    }
    int k = attr_ints(f, n, "axes", axes, SHAPE_RANK);
    if (k < 0) {
        k = s.rank;
        for (int i = 0; i < k; i++)
            axes[i] = i;
    }
    bool keep =
        strcmp(node_attr_str(f->m, n, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0;
    for (int i = 0; i < k && s.rank >= 0; i++) {
        int axis = axis_of(axes[i], s.rank);
        if (axis < 0)
            s.rank = -1;
        else if (size != NULL && size->n == (uint32_t)k && !keep)
            s.d[axis] = num_dim(size->at[i]);
        else
            s.d[axis] = size == NULL && nscale == k ? scaled(s.d[axis], scale[i]) : dim_unknown();
    }
    shape_set(f, n, 0, &s);
}

/* arg: 1: DepthToSpace, 0: SpaceToDepth. */
void rule_depth_space(struct infer *f, nid n, int arg)
{
    struct shape s;
    shape_in(f, n, 0, &s);
    struct dim b = dim_num(node_attr_int(f->m, n, "blocksize", -1)), bb = dim_mul(f->m, b, b);
    if (s.rank == 4) {
        s.d[1] = arg == 1 ? dim_div(f->m, s.d[1], bb) : dim_mul(f->m, s.d[1], bb);
        for (int i = 2; i < 4; i++)
            s.d[i] = arg == 1 ? dim_mul(f->m, s.d[i], b) : dim_div(f->m, s.d[i], b);
    } else {
        s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}

/* SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss. */
void rule_loss(struct infer *f, nid n, int arg)
{
    struct shape s;
    (void)arg;
    shape_in(f, n, 1, &s);
    s.elem = (uint8_t)elem_in(f, n, 0);
    if (strcmp(node_attr_str(f->m, n, "reduction", "mean"), "none") != 0)
        s.rank = 0;
    shape_set(f, n, 0, &s);
    shape_set_like(f, n, 1, node_in(f->m, n, 0), ELEM_NONE);
}
