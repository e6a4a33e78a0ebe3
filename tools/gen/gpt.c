/* The model gpt: a pre-norm decoder as PyTorch's exporter writes it, from primitive operators.
 *
 *   hidden = wte[input_ids] + wpe[past .. total)
 *   layer: hidden += proj(softmax(causal(q k' / sqrt(d))) v), with q, k, v from one MatMul
 *          hidden += proj(gelu(fc(ln(hidden)))), gelu through Erf (or another activation)
 *   logits = ln(hidden) wte'                       (with --untied another matrix)
 *
 * The causal mask comes from Shape and Range, so the lengths of batch, sequence and past stay symbolic.  With --kv
 * each layer puts past_key_values.N.{key,value} before its own keys and values and returns the result as
 * present.N.{key,value}.  Nodes: 32 per layer, 34 with --kv, and 11 to 15 others.  Weights of the two `proj` are
 * scaled by 1/sqrt(2 layers), so that values stay finite at any depth. */
#include "tools/gen/gen.h"

#include "ir/base/numbers.h"

#include <math.h>

enum { GPT_POSITIONS = 1024 }; /* least number of rows of the position embedding */

/* Values that all layers share.  Shapes: B batch, S sequence, W width, H heads, D size of a head. */
struct gpt {
    const struct gen_opt *o;
    int64_t head_dim;           /* size of a head */
    double proj_std;            /* standard deviation of the weights of both `proj` of a layer */
    const char *mask;           /* causal mask, bool [sequence, total] */
    const char *split_heads;    /* operand of the Reshape [B,S,W] -> [B,S,H,D] */
    const char *merge_heads;    /* operand of the Reshape [B,S,H,D] -> [B,S,W] */
    const char *scale, *lowest; /* constants: sqrt(D); the lowest float */
    struct gen_activation act;
};

/* Permutations of axes, for Transpose. */
static const int64_t swap_12[4] = {0, 2, 1, 3}, swap_23[4] = {0, 1, 3, 2};

/* Returns the sequence dimension: a number with --seq, else symbolic. */
static struct gen_dim sequence_dim(const struct gpt *m)
{
    return m->o->seq > 0 ? (struct gen_dim){m->o->seq, NULL} : (struct gen_dim){0, "sequence"};
}

/* Adds the model input with the cached keys or values of layer i, appends x, the new ones, to it, and makes the result
 * a model output.  what: "key" or "value".  Returns the name of the result. */
static const char *cache(struct gen *g, const struct gpt *m, int64_t i, const char *what,
                         const char *x)
{
    const struct gen_dim batch = {0, "batch"}, heads = {m->o->heads, NULL};
    const struct gen_dim past = {0, "past_sequence"}, total = {0, "total_sequence"};
    const struct gen_dim width = {m->head_dim, NULL};
    const char *name = gen_str(g, "past_key_values.%lld.%s", (long long)i, what);

    gen_input(g, name, GEN_F32, 4, (const struct gen_dim[]){batch, heads, past, width});
    gen_op2(g, *what == 'k' ? "/attn/Concat" : "/attn/Concat_1", name, x);
    gen_attr_i(g, "axis", 2);
    name = gen_rename(g, gen_str(g, "present.%lld.%s", (long long)i, what));
    gen_output(g, name, GEN_F32, 4, (const struct gen_dim[]){batch, heads, total, width});
    return name;
}

/* Adds the attention of layer i on x, which is normed.  Returns the name of the result. */
static const char *attention(struct gen *g, const struct gpt *m, int64_t i, const char *x)
{
    const int64_t w = m->o->width;
    const char *prefix = gen_str(g, "h.%lld.attn", (long long)i);
    const char *qkv = gen_linear(g, "/attn/qkv", gen_str(g, "%s.qkv", prefix), x,
                                 (struct gen_linear){w, 3 * w, 0.02, true});
    const char *q = gen_op1(g, "/attn/Split", qkv);
    const char *k = gen_more(g);
    const char *v = gen_more(g);

    gen_attr_i(g, "axis", -1);
    gen_attr_i(g, "num_outputs", 3);
    /* queries, keys and values, with the heads apart and in front of the rows */
    q = gen_op2(g, "/attn/Reshape", q, m->split_heads);
    q = gen_transpose(g, "/attn/Transpose", q, 4, swap_12);
    k = gen_op2(g, "/attn/Reshape_1", k, m->split_heads);
    k = gen_transpose(g, "/attn/Transpose_1", k, 4, swap_12);
    v = gen_op2(g, "/attn/Reshape_2", v, m->split_heads);
    v = gen_transpose(g, "/attn/Transpose_2", v, 4, swap_12);
    if (m->o->has.kv) {
        k = cache(g, m, i, "key", k);
        v = cache(g, m, i, "value", v);
    }
    /* attention weights: of each position to all positions, 0 to later positions */
    k = gen_transpose(g, "/attn/Transpose_3", k, 4, swap_23);
    const char *s = gen_op2(g, "/attn/MatMul", q, k);
    s = gen_op2(g, "/attn/Div", s, m->scale);
    s = gen_op3(g, "/attn/Where", m->mask, s, m->lowest);
    s = gen_op1(g, "/attn/Softmax", s);
    gen_attr_i(g, "axis", -1);
    /* the values weighted by them, with the heads side by side again */
    s = gen_op2(g, "/attn/MatMul_1", s, v);
    s = gen_transpose(g, "/attn/Transpose_4", s, 4, swap_12);
    s = gen_op2(g, "/attn/Reshape_3", s, m->merge_heads);
    return gen_linear(g, "/attn/proj", gen_str(g, "%s.proj", prefix), s,
                      (struct gen_linear){w, w, m->proj_std, true});
}

/* Adds the MLP of layer i on x, which is normed: proj(activation(fc(x))).  Returns the name of the result. */
static const char *mlp(struct gen *g, const struct gpt *m, int64_t i, const char *x)
{
    const int64_t w = m->o->width;
    const char *prefix = gen_str(g, "h.%lld.mlp", (long long)i);
    const char *h = gen_linear(g, "/mlp/fc", gen_str(g, "%s.fc", prefix), x,
                               (struct gen_linear){w, 4 * w, 0.02, true});
    h = gen_activate(g, "/mlp/act", &m->act, h);
    return gen_linear(g, "/mlp/proj", gen_str(g, "%s.proj", prefix), h,
                      (struct gen_linear){4 * w, w, m->proj_std, true});
}

/* Adds decoder layer i on x.  Returns the name of the result. */
static const char *layer(struct gen *g, const struct gpt *m, int64_t i, const char *x)
{
    const int64_t w = m->o->width;
    const char *y;

    gen_scope(g, gen_str(g, "/h.%lld", (long long)i));
    y = gen_layer_norm(g, "/ln_1/LayerNormalization", gen_str(g, "h.%lld.ln_1", (long long)i), x,
                       w);
    x = gen_op2(g, "/Add", x, attention(g, m, i, y));
    y = gen_layer_norm(g, "/ln_2/LayerNormalization", gen_str(g, "h.%lld.ln_2", (long long)i), x,
                       w);
    x = gen_op2(g, "/Add_1", x, mlp(g, m, i, y));
    gen_scope(g, NO_SCOPE);
    return x;
}

/* Adds the sum of token and position embedding; also makes m->mask.  wte: the token embedding table.  Returns the name
 * of the result. */
static const char *embed(struct gen *g, struct gpt *m, const char *wte)
{
    const struct gen_opt *o = m->o;
    const int64_t n = larger(o->seq, GPT_POSITIONS), dims[2] = {n, o->width};
    const char *zero = gen_int(g, "const.zero", 0);
    const char *one = gen_int(g, "const.one", 1);
    const char *past = zero;
    const char *total = gen_op2(g, "/Gather", gen_op1(g, "/Shape", "input_ids"), one);

    if (o->has.kv) {
        const char *two = gen_int(g, "const.two", 2);
        past = gen_op2(g, "/Gather_1", gen_op1(g, "/Shape_1", "past_key_values.0.key"), two);
        total = gen_op2(g, "/Add", past, total);
    }
    const char *rows = gen_op3(g, "/Range", past, total, one);
    const char *cols = gen_op3(g, "/Range_1", zero, total, one);
    const char *last = gen_ints(g, "const.last_axis", 1, (const int64_t[]){-1});
    const char *wpe = gen_weight(g, "wpe.weight", 2, dims, 0.0, 0.02);
    const char *token = gen_op2(g, "/wte/Gather", wte, "input_ids");
    const char *place = gen_op2(g, "/wpe/Gather", wpe, rows);
    m->mask = gen_op2(g, "/LessOrEqual", cols, gen_op2(g, "/Unsqueeze", rows, last));
    return gen_op2(g, "/embed/Add", token, place);
}

/* Adds the last norm of x and its product with the embedding table wte, or with --untied another matrix; the result is
 * named "logits". */
static void head(struct gen *g, const struct gpt *m, const char *wte, const char *x)
{
    const int64_t vocab = m->o->vocab, w = m->o->width;
    const char *weight;

    x = gen_layer_norm(g, "/ln_f/LayerNormalization", "ln_f", x, w);
    if (m->o->has.untied) {
        weight = gen_weight(g, "lm_head.weight", 2, (const int64_t[]){w, vocab}, 0.0, 0.02);
    } else {
        weight = gen_transpose(g, "/lm_head/Transpose", wte, 2, (const int64_t[]){1, 0});
    }
    gen_op2(g, "/lm_head/MatMul", x, weight);
    gen_rename(g, "logits");
}

int gen_gpt(struct gen *g, const struct gen_opt *o)
{
    struct gpt m = {.o = o};

    if (gen_check_heads(o, HEADS_WHOLE) != 0)
        return -1;
    m.head_dim = o->width / o->heads;
    m.proj_std = 0.02 / sqrt(2.0 * (double)o->layers);
    gen_input(g, "input_ids", GEN_I64, 2, (const struct gen_dim[]){{0, "batch"}, sequence_dim(&m)});
    gen_output(g, "logits", GEN_F32, 3,
               (const struct gen_dim[]){{0, "batch"}, sequence_dim(&m), {o->vocab, NULL}});
    m.split_heads =
        gen_ints(g, "const.split_heads", 4, (const int64_t[]){0, 0, o->heads, m.head_dim});
    m.merge_heads = gen_ints(g, "const.merge_heads", 3, (const int64_t[]){0, 0, o->width});
    m.scale = gen_float(g, "const.scale", sqrtf((float)m.head_dim));
    m.lowest = gen_float(g, "const.lowest", -3.4028235e38f);
    m.act = gen_activation(g, o->activation);

    const char *wte =
        gen_weight(g, "wte.weight", 2, (const int64_t[]){o->vocab, o->width}, 0.0, 0.02);
    const char *x = embed(g, &m, wte);
    for (int64_t i = 0; i < o->layers; i++)
        x = layer(g, &m, i, x);
    head(g, &m, wte, x);
    return 0;
}
