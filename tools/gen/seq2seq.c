/* The model encoder-decoder: a transformer that reads one sequence and writes another (Raffel et al. 2020).
 *
 *   encoder layer: x += self-attention(norm(x)); x += ffn(norm(x))
 *   decoder layer: y += causal self-attention(norm(y)); y += attention(norm(y), encoder states); y += ffn(norm(y))
 *
 * Every decoder layer reads the encoder's states.  All layers of the encoder share a table of relative positions and
 * a mask, and so do all layers of the decoder.  As exporters write it, the shape of each Reshape is computed right
 * before it with Shape, Gather, Unsqueeze and Concat; this makes many small branches beside a long path.  Nodes: 62
 * per encoder layer, 114 per decoder layer, 46 others. */
#include "tools/gen/gen.h"

#include <math.h>

enum { REACH = 16 }; /* largest distance of two positions; larger distances count as REACH */

/* Options, and constants that all layers share. */
struct seq2seq {
    const struct gen_opt *o;
    int64_t inner;                    /* inner width of the ffn */
    const char *zero, *one, *two;     /* constants: scalars; two is a float */
    const char *axis0, *axis1, *last; /* constants: lists of one axis: 0, 1, -1 */
    /* constants: lists of one number: heads, size of a head, width */
    const char *heads, *dim, *width;
    /* none, low: 0 and a large negative number, to be added to scores */
    const char *epsilon, *none, *low;
};

/* Further operands of an attention layer. */
struct attention_inputs {
    const char *memory; /* the value that is attended to; NULL: the layer's normed input */
    const char *bias;   /* is added to the scores */
};

/* Returns the standard deviation of the weights of a layer with fan_in inputs. */
static double scale_of(int64_t fan_in)
{
    return 1.0 / sqrt((double)fan_in);
}

/* Adds the constants of m. */
static void constants(struct gen *g, struct seq2seq *m)
{
    const int64_t n[] = {0, 1, 2, -1, m->o->heads, m->o->width / m->o->heads, m->o->width};

    m->zero = gen_int(g, "const.zero", n[0]);
    m->one = gen_int(g, "const.one", n[1]);
    m->two = gen_float(g, "const.two", 2.0f);
    m->axis0 = gen_ints(g, "const.axis0", 1, n);
    m->axis1 = gen_ints(g, "const.axis1", 1, n + 1);
    m->last = gen_ints(g, "const.last_axis", 1, n + 3);
    m->heads = gen_ints(g, "const.heads", 1, n + 4);
    m->dim = gen_ints(g, "const.dim", 1, n + 5);
    m->width = gen_ints(g, "const.width", 1, n + 6);
    m->epsilon = gen_float(g, "const.epsilon", 1e-6f);
    m->none = gen_float(g, "const.none", 0.0f);
    m->low = gen_float(g, "const.low", -1e9f);
}

/* ---- shapes and norms as exporters write them ------------------------------------------------- */

/* Adds two nodes that give dimension `index` (0 or 1) of x as a scalar.  Returns the name of the result. */
static const char *size_of(struct gen *g, const struct seq2seq *m, const char *path, int index,
                           const char *x)
{
    const char *s = gen_op1(g, gen_str(g, "%s/Shape_%d", path, index), x);
    return gen_op2(g, gen_str(g, "%s/Gather_%d", path, index), s, index ? m->one : m->zero);
}

/* Adds eight nodes that reshape x to its first two dimensions and rest[0 .. nrest), which are lists of one number.
 * Returns the name of the result. */
static const char *reshape(struct gen *g, const struct seq2seq *m, const char *path, const char *x,
                           int nrest, const char *const rest[])
{
    const char *size[4];
    int n = 0;

    for (; n < 2; n++) {
        const char *s = size_of(g, m, path, n, x);
        size[n] = gen_op2(g, gen_str(g, "%s/Unsqueeze_%d", path, n), s, m->axis0);
    }
    for (int i = 0; i < nrest; i++)
        size[n++] = rest[i];
    const char *shape = gen_concat(g, gen_str(g, "%s/Concat", path), /*axis=*/0, n, size);
    return gen_op2(g, gen_str(g, "%s/Reshape", path), x, shape);
}

/* Adds an RMSNorm: x / sqrt(mean(x^2) + epsilon) weight, six nodes.  Returns the name of the result. */
static const char *norm(struct gen *g, const struct seq2seq *m, const char *path, const char *x)
{
    const char *w =
        gen_weight(g, gen_str(g, "%s%s.weight", g->scope, path), 1, &m->o->width, 1.0, 0.02);
    const char *y = gen_op2(g, gen_str(g, "%s/Pow", path), x, m->two);

    y = gen_reduce(g, gen_str(g, "%s/ReduceMean", path), y, m->last, KEEP_AXES);
    y = gen_op2(g, gen_str(g, "%s/Add", path), y, m->epsilon);
    y = gen_op1(g, gen_str(g, "%s/Sqrt", path), y);
    y = gen_op2(g, gen_str(g, "%s/Div", path), x, y);
    return gen_op2(g, gen_str(g, "%s/Mul", path), y, w);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Adds ten nodes that give x W as [batch, heads, positions, size of a head].  Returns the name of the result. */
static const char *project(struct gen *g, const struct seq2seq *m, const char *path, const char *x)
{
    const int64_t w = m->o->width;
    const char *const rest[] = {m->heads, m->dim};

    x = gen_linear(g, path, gen_str(g, "%s%s", g->scope, path), x,
                   (struct gen_linear){w, w, scale_of(w), false});
    x = reshape(g, m, path, x, 2, rest);
    return gen_transpose(g, gen_str(g, "%s/Transpose", path), x, 4, (const int64_t[]){0, 2, 1, 3});
}

/* Adds an attention layer, x + attention(norm(x)): 52 nodes.  Returns the name of the result. */
static const char *attend(struct gen *g, const struct seq2seq *m, const char *path, const char *x,
                          struct attention_inputs from)
{
    const char *y = norm(g, m, gen_str(g, "%s/norm", path), x);
    const char *memory = from.memory ? from.memory : y;
    const char *q = project(g, m, gen_str(g, "%s/q", path), y);
    const char *k = project(g, m, gen_str(g, "%s/k", path), memory);
    const char *v = project(g, m, gen_str(g, "%s/v", path), memory);

    k = gen_transpose(g, gen_str(g, "%s/Transpose", path), k, 4, (const int64_t[]){0, 1, 3, 2});
    y = gen_op2(g, gen_str(g, "%s/MatMul", path), q, k);
    y = gen_op2(g, gen_str(g, "%s/Add", path), y, from.bias);
    y = gen_op1(g, gen_str(g, "%s/Softmax", path), y);
    gen_attr_i(g, "axis", -1);
    y = gen_op2(g, gen_str(g, "%s/MatMul_1", path), y, v);
    y = gen_transpose(g, gen_str(g, "%s/Transpose_1", path), y, 4, (const int64_t[]){0, 2, 1, 3});
    y = reshape(g, m, path, y, 1, &m->width);
    y = gen_linear(g, gen_str(g, "%s/out", path), gen_str(g, "%s%s/out", g->scope, path), y,
                   (struct gen_linear){m->o->width, m->o->width, scale_of(m->o->width), false});
    return gen_op2(g, gen_str(g, "%s/Add_1", path), x, y);
}

/* Adds the ffn of a layer, x + linear(relu(linear(norm(x)))): ten nodes.  Returns the name of the result. */
static const char *feed(struct gen *g, const struct seq2seq *m, const char *x)
{
    const char *y = norm(g, m, "/ffn/norm", x);

    y = gen_linear(g, "/ffn/in", gen_str(g, "%s/ffn/in", g->scope), y,
                   (struct gen_linear){m->o->width, m->inner, scale_of(m->o->width), false});
    y = gen_op1(g, "/ffn/Relu", y);
    y = gen_linear(g, "/ffn/out", gen_str(g, "%s/ffn/out", g->scope), y,
                   (struct gen_linear){m->inner, m->o->width, scale_of(m->inner), false});
    return gen_op2(g, "/ffn/Add", x, y);
}

/* Adds the bias of relative positions, [1, heads, positions, positions], for attention between the positions of ids: 11
 * nodes.  If past is not NULL, adds a 12th node and sets *past to the name of its result, [positions, positions]: true
 * where the column's position is not after the row's.  Returns the name of the bias. */
static const char *positions(struct gen *g, const struct seq2seq *m, const char *ids,
                             const char **past)
{
    const int64_t ends[] = {-REACH, REACH}, dims[2] = {2 * REACH + 1, m->o->heads};
    const char *p = gen_str(g, "%s.positions", g->scope);
    const char *table = gen_weight(g, gen_str(g, "%s.weight", p), 2, dims, 0.0, 0.5);
    const char *least = gen_int(g, gen_str(g, "%s.least", p), ends[0]);
    const char *most = gen_int(g, gen_str(g, "%s.most", p), ends[1]);
    const char *at =
        gen_op3(g, "/positions/Range", m->zero, size_of(g, m, "/positions", 1, ids), m->one);
    const char *to = gen_op2(g, "/positions/Unsqueeze", at, m->axis0);
    const char *from = gen_op2(g, "/positions/Unsqueeze_1", at, m->axis1);

    if (past)
        *past = gen_op2(g, "/positions/LessOrEqual", to, from);
    const char *y = gen_op2(g, "/positions/Sub", to, from);
    y = gen_op3(g, "/positions/Clip", y, least, most);
    y = gen_op2(g, "/positions/Add", y, most);
    y = gen_op2(g, "/positions/Gather", table, y);
    y = gen_transpose(g, "/positions/Transpose", y, 3, (const int64_t[]){2, 0, 1});
    return gen_op2(g, "/positions/Unsqueeze_2", y, m->axis0);
}

/* Adds the bias of the padding mask, [batch, 1, 1, sequence]: a large negative number where attention_mask is 0, else
 * 0.  Five nodes.  Returns the name of the result. */
static const char *masked(struct gen *g, const struct seq2seq *m)
{
    const char *y = gen_op2(g, "/mask/Unsqueeze", "attention_mask", m->axis1);

    y = gen_op2(g, "/mask/Unsqueeze_1", y, m->axis1);
    y = gen_op2(g, "/mask/Equal", y, m->zero);
    y = gen_op1(g, "/mask/Cast", y);
    gen_attr_i(g, "to", GEN_F32);
    return gen_op2(g, "/mask/Mul", y, m->low);
}

/* Adds the encoder.  words: the word embedding table; mask: bias of the padding mask.  Returns the encoder's
 * states. */
static const char *encode(struct gen *g, const struct seq2seq *m, const char *words,
                          const char *mask)
{
    gen_scope(g, "/encoder");
    const char *x = gen_op2(g, "/Gather", words, "input_ids");
    const char *bias = gen_op2(g, "/Add", positions(g, m, "input_ids", NULL), mask);
    for (int64_t i = 0; i < m->o->layers; i++) {
        gen_scope(g, gen_str(g, "/encoder/layers.%lld", (long long)i));
        x = attend(g, m, "/attn", x, (struct attention_inputs){NULL, bias});
        x = feed(g, m, x);
    }
    gen_scope(g, "/encoder");
    return norm(g, m, "/norm", x);
}

/* Adds the decoder on the encoder's states.  words, mask: as in encode().  Returns the name of the result. */
static const char *decode(struct gen *g, const struct seq2seq *m, const char *words,
                          const char *states, const char *mask)
{
    const char *past;

    gen_scope(g, "/decoder");
    const char *x = gen_op2(g, "/Gather", words, "decoder_input_ids");
    const char *bias = positions(g, m, "decoder_input_ids", &past);
    bias = gen_op2(g, "/Add", bias, gen_op3(g, "/Where", past, m->none, m->low));
    for (int64_t i = 0; i < m->o->layers; i++) {
        gen_scope(g, gen_str(g, "/decoder/layers.%lld", (long long)i));
        x = attend(g, m, "/attn", x, (struct attention_inputs){NULL, bias});
        x = attend(g, m, "/cross", x, (struct attention_inputs){states, mask});
        x = feed(g, m, x);
    }
    gen_scope(g, "/decoder");
    return norm(g, m, "/norm", x);
}

int gen_seq2seq(struct gen *g, const struct gen_opt *o)
{
    const struct gen_dim in[2] = {{0, "batch"}, {0, "sequence"}},
                         out[3] = {{0, "batch"}, {0, "decoder_sequence"}, {o->vocab, NULL}};
    const int64_t dims[2] = {o->vocab, o->width};
    struct seq2seq m = {.o = o, .inner = o->ffn ? o->ffn : 4 * o->width};

    if (gen_check_heads(o, HEADS_WHOLE) != 0)
        return -1;
    gen_input(g, "input_ids", GEN_I64, 2, in);
    gen_input(g, "attention_mask", GEN_I64, 2, in);
    gen_input(g, "decoder_input_ids", GEN_I64, 2, out);
    constants(g, &m);
    const char *words = gen_weight(g, "shared.weight", 2, dims, 0.0, 1.0);
    const char *mask = masked(g, &m);
    const char *states = encode(g, &m, words, mask);
    const char *x = decode(g, &m, words, states, mask);
    gen_scope(g, NO_SCOPE);
    gen_linear(g, "/lm_head", "lm_head", x,
               (struct gen_linear){o->width, o->vocab, scale_of(o->width), false});
    gen_output(g, gen_rename(g, "logits"), GEN_F32, 3, out);
    return 0;
}
