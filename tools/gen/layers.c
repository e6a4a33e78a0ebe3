/* Layers that several models of pcc-gen share (gen.h): linear, norms, attention, convolution, the causal mask; all
 * from primitive operators, as PyTorch's exporter writes them.  Batch and sequence stay symbolic: operands of
 * Reshape copy them by 0, positions come from Shape and Range. */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdio.h>

const char *gen_linear(struct gen *g, const char *path, const char *param, const char *x,
                       struct gen_linear l)
{
    const char *b = NULL, *w = gen_weight(g, gen_str(g, "%s.weight", param), 2,
                                          (const int64_t[]){l.in, l.out}, 0.0, l.std);

    if (l.bias)
        b = gen_weight(g, gen_str(g, "%s.bias", param), 1, &l.out, 0.0, 0.02);
    const char *y = gen_op2(g, gen_str(g, "%s/MatMul", path), x, w);
    return l.bias ? gen_op2(g, gen_str(g, "%s/Add", path), y, b) : y;
}

const char *gen_layer_norm(struct gen *g, const char *path, const char *param, const char *x,
                           int64_t width)
{
    const char *w = gen_weight(g, gen_str(g, "%s.weight", param), 1, &width, 1.0, 0.02);
    const char *b = gen_weight(g, gen_str(g, "%s.bias", param), 1, &width, 0.0, 0.02);
    const char *y = gen_op3(g, path, x, w, b);

    gen_attr_i(g, "axis", -1);
    gen_attr_f(g, "epsilon", 1e-5f);
    return y;
}

const char *gen_transpose(struct gen *g, const char *path, const char *x, int rank,
                          const int64_t perm[])
{
    const char *y = gen_op1(g, path, x);
    gen_attr_ints(g, "perm", rank, perm);
    return y;
}

const char *gen_concat(struct gen *g, const char *path, int64_t axis, int n, const char *const in[])
{
    const char *y = gen_node(g, path, n, in);
    gen_attr_i(g, "axis", axis);
    return y;
}

const char *gen_silu(struct gen *g, const char *path, const char *x)
{
    const char *s = gen_op1(g, gen_str(g, "%s/Sigmoid", path), x);
    return gen_op2(g, gen_str(g, "%s/Mul", path), x, s);
}

const char *gen_reduce(struct gen *g, const char *path, const char *x, const char *axes,
                       enum gen_reduced reduced)
{
    const char *y = gen_op2(g, path, x, axes);
    gen_attr_i(g, "keepdims", reduced == KEEP_AXES);
    return y;
}

struct gen_heads gen_heads(struct gen *g, int64_t heads, int64_t dim)
{
    struct gen_heads h = {.heads = heads, .dim = dim};

    h.split = gen_ints(g, "const.split_heads", 4, (const int64_t[]){0, 0, heads, dim});
    h.merge = gen_ints(g, "const.merge_heads", 3, (const int64_t[]){0, 0, heads * dim});
    h.scale = gen_float(g, "const.scale", sqrtf((float)dim));
    return h;
}

const char *gen_split_heads(struct gen *g, const char *path, const struct gen_heads *h,
                            const char *x, bool keys)
{
    static const int64_t perm[2][4] = {{0, 2, 1, 3}, {0, 2, 3, 1}}; /* [keys] */

    x = gen_op2(g, gen_str(g, "%s/Reshape", path), x, h->split);
    return gen_transpose(g, gen_str(g, "%s/Transpose", path), x, 4, perm[keys]);
}

const char *gen_attention(struct gen *g, const char *path, const char *param,
                          const struct gen_heads *h, const char *x, const char *mask)
{
    static const char *const names[] = {"q", "k", "v"};
    const int64_t w = h->heads * h->dim;
    const char *qkv[3];

    for (int i = 0; i < 3; i++) {
        const char *p = gen_str(g, "%s/%s", path, names[i]);
        qkv[i] = gen_linear(g, p, gen_str(g, "%s.%s", param, names[i]), x,
                            (struct gen_linear){w, w, 0.02, true});
        qkv[i] = gen_split_heads(g, p, h, qkv[i], i == 1);
    }
    const char *s = gen_op2(g, gen_str(g, "%s/MatMul", path), qkv[0], qkv[1]);
    s = gen_op2(g, gen_str(g, "%s/Div", path), s, h->scale);
    if (mask != NULL)
        s = gen_op2(g, gen_str(g, "%s/Add", path), s, mask);
    s = gen_op1(g, gen_str(g, "%s/Softmax", path), s);
    gen_attr_i(g, "axis", -1);
    s = gen_op2(g, gen_str(g, "%s/MatMul_1", path), s, qkv[2]);
    s = gen_transpose(g, gen_str(g, "%s/Transpose", path), s, 4, (const int64_t[]){0, 2, 1, 3});
    s = gen_op2(g, gen_str(g, "%s/Reshape", path), s, h->merge);
    return gen_linear(g, gen_str(g, "%s/out", path), gen_str(g, "%s.out", param), s,
                      (struct gen_linear){w, w, 0.02, true});
}

const char *const gen_activation_words[GEN_ACTIVATIONS] = {"erf", "gelu", "tanh", "relu"};

struct gen_activation gen_activation(struct gen *g, enum gen_activation_kind kind)
{
    struct gen_activation a = {.kind = kind};

    if (kind == GEN_ERF)
        a.sqrt2 = gen_float(g, "const.sqrt2", 1.4142135f);
    if (kind == GEN_ERF || kind == GEN_TANH) {
        a.one = gen_float(g, "const.one_f", 1.0f);
        a.half = gen_float(g, "const.half_f", 0.5f);
    }
    if (kind == GEN_TANH) {
        a.three = gen_float(g, "const.three_f", 3.0f);
        a.cube = gen_float(g, "const.cube", 0.044715f);
        a.slope = gen_float(g, "const.slope", 0.7978846f);
    }
    return a;
}

/* Adds node <path>/<op> with operands x and y (NULL: none).  Returns the name of the result. */
static const char *act_op(struct gen *g, const char *path, const char *op, const char *x,
                          const char *y)
{
    path = gen_str(g, "%s/%s", path, op);
    return y != NULL ? gen_op2(g, path, x, y) : gen_op1(g, path, x);
}

const char *gen_activate(struct gen *g, const char *path, const struct gen_activation *a,
                         const char *h)
{
    const char *e = h;

    switch (a->kind) {
    case GEN_ERF: /* h (1 + erf(h / sqrt 2)) / 2 */
        e = act_op(g, path, "Erf", act_op(g, path, "Div", h, a->sqrt2), NULL);
        e = act_op(g, path, "Mul", h, act_op(g, path, "Add", e, a->one));
        return act_op(g, path, "Mul_1", e, a->half);
    case GEN_TANH: /* h / 2 (1 + tanh(sqrt(2 / pi) (h + 0.044715 h^3))) */
        e = act_op(g, path, "Mul", act_op(g, path, "Pow", h, a->three), a->cube);
        e = act_op(g, path, "Mul_1", act_op(g, path, "Add", h, e), a->slope);
        e = act_op(g, path, "Add_1", act_op(g, path, "Tanh", e, NULL), a->one);
        return act_op(g, path, "Mul_3", act_op(g, path, "Mul_2", h, a->half), e);
    case GEN_GELU:
        return act_op(g, path, "Gelu", h, NULL);
    default:
        return act_op(g, path, "Relu", h, NULL);
    }
}

const char *gen_conv(struct gen *g, const char *path, const char *param, const char *x,
                     struct gen_conv c)
{
    const int64_t k = c.kernel, p = k / 2, dims[4] = {c.out, c.in, k, k};
    const double std = c.gain * sqrt(2.0 / (double)(c.in * k * k));
    const char *w = gen_weight(g, gen_str(g, "%s.weight", param), 4, dims, 0.0, std);
    const char *b = gen_weight(g, gen_str(g, "%s.bias", param), 1, &c.out, 0.0, 0.02);
    const char *y = gen_op3(g, gen_str(g, "%s/Conv", path), x, w, b);

    gen_attr_ints(g, "dilations", 2, (const int64_t[]){1, 1});
    gen_attr_i(g, "group", 1);
    gen_attr_ints(g, "kernel_shape", 2, (const int64_t[]){k, k});
    gen_attr_ints(g, "pads", 4, (const int64_t[]){p, p, p, p});
    gen_attr_ints(g, "strides", 2, (const int64_t[]){c.stride, c.stride});
    return y;
}

const char *gen_max_pool(struct gen *g, const char *path, const char *x, int64_t stride)
{
    const char *y = gen_op1(g, path, x);

    gen_attr_ints(g, "kernel_shape", 2, (const int64_t[]){3, 3});
    gen_attr_ints(g, "pads", 4, (const int64_t[]){1, 1, 1, 1});
    gen_attr_ints(g, "strides", 2, (const int64_t[]){stride, stride});
    return y;
}

struct gen_causal gen_causal(struct gen *g, const char *cached)
{
    const char *zero = gen_int(g, "const.zero", 0);
    const char *one = gen_int(g, "const.one", 1);
    const char *last = gen_ints(g, "const.last_axis", 1, (const int64_t[]){-1});
    const char *past = zero;
    const char *total = gen_op2(g, "/mask/Gather", gen_op1(g, "/mask/Shape", "input_ids"), one);
    struct gen_causal c;

    if (cached != NULL) {
        const char *two = gen_int(g, "const.two", 2);
        past = gen_op2(g, "/mask/Gather_1", gen_op1(g, "/mask/Shape_1", cached), two);
        total = gen_op2(g, "/mask/Add", past, total);
    }
    c.rows = gen_op3(g, "/mask/Range", past, total, one);
    const char *cols = gen_op3(g, "/mask/Range_1", zero, total, one);
    c.mask = gen_op2(g, "/mask/LessOrEqual", cols, gen_op2(g, "/mask/Unsqueeze", c.rows, last));
    return c;
}

int gen_check_heads(const struct gen_opt *o, enum gen_head_size size)
{
    if (o->width % (o->heads * (int64_t)size) == 0)
        return 0;
    fprintf(stderr, "pcc-gen: --width %lld is not a multiple of %s--heads %lld\n",
            (long long)o->width, size == HEADS_EVEN ? "twice " : "", (long long)o->heads);
    return -1;
}
