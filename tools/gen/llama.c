/* The models llama and moe: pre-norm decoders with RMSNorm, rotary embeddings, grouped-query attention and SwiGLU,
 * all from primitive operators (Touvron et al. 2023; experts as in Mixtral, Jiang et al. 2024).
 *
 *   layer: x += o(softmax(causal(rot(q) rot(k)' / sqrt(d))) v);  x += down(silu(gate(y)) up(y))
 *   moe:   the second half is sum over experts e of weight_e(y) mlp_e(y), where the weights are
 *          the --top-k largest of softmax(router(y)), divided by their sum, and 0 elsewhere
 *
 * Every expert is computed for every token and then weighted, so shapes do not depend on data.  Keys and values of
 * one head serve heads / kv_heads query heads, by Expand.  With --kv each layer appends to
 * past_key_values.N.{key,value} and returns present.N.{key,value}, rotated and not yet expanded.  Weights of layers
 * whose results are added to x are scaled by 1/sqrt(2 layers), so that values stay finite at any depth.
 *
 * Shapes in comments: B batch, S sequence, T all tokens with cached ones, H query heads, KV key heads, D head
 * size. */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdio.h>

enum { MAX_HEAD_DIM = 65536 }; /* the largest size of a head */

/* Values that all layers share. */
struct llama {
    const struct gen_opt *o;
    struct gen_heads q, kv;  /* of queries; of keys and values */
    double proj_std;         /* standard deviation of weights whose results are added to x */
    const char *mask;        /* the causal mask */
    const char *cos, *sin;   /* factors of rotary embeddings: make_cos_sin() */
    const char *repeat;      /* operand of the Expand [B,KV,1,T,D] -> [B,KV,H/KV,T,D] */
    const char *joined;      /* operand of the Reshape [B,KV,H/KV,T,D] -> [B,H,T,D] */
    const char *repeat_axis; /* axis 2, where Unsqueeze makes [B,KV,T,D] into [B,KV,1,T,D] */
    const char *lowest, *two, *one, *epsilon, *last_axis; /* lowest: the lowest float */
    const char *topk, *zero, **experts; /* experts: [expert] constant with the expert's number */
};

/* Adds an RMSNorm: w * x / sqrt(mean(x^2) + epsilon), w: the weight <param>.weight.  Returns the name of the result. */
static const char *rms_norm(struct gen *g, const struct llama *m, const char *path,
                            const char *param, const char *x)
{
    const char *w = gen_weight(g, gen_str(g, "%s.weight", param), 1, &m->o->width, 1.0, 0.02);
    const char *y = gen_op2(g, gen_str(g, "%s/Pow", path), x, m->two);

    y = gen_reduce(g, gen_str(g, "%s/ReduceMean", path), y, m->last_axis, KEEP_AXES);
    y = gen_op2(g, gen_str(g, "%s/Add", path), y, m->epsilon);
    y = gen_op1(g, gen_str(g, "%s/Sqrt", path), y);
    y = gen_op2(g, gen_str(g, "%s/Div", path), m->one, y);
    y = gen_op2(g, gen_str(g, "%s/Mul", path), x, y);
    return gen_op2(g, gen_str(g, "%s/Mul_1", path), w, y);
}

/* Adds the rotary embedding of x: x cos + (-x2, x1) sin, where x = (x1, x2) are the two halves of each head.  Returns
 * the name of the result. */
static const char *rotate(struct gen *g, const struct llama *m, const char *path, const char *x)
{
    const char *a = gen_op1(g, gen_str(g, "%s/Split", path), x), *b = gen_more(g);

    gen_attr_i(g, "axis", -1);
    gen_attr_i(g, "num_outputs", 2);
    b = gen_op1(g, gen_str(g, "%s/Neg", path), b);
    b = gen_concat(g, gen_str(g, "%s/Concat", path), /*axis=*/-1, 2, (const char *const[]){b, a});
    b = gen_op2(g, gen_str(g, "%s/Mul", path), b, m->sin);
    a = gen_op2(g, gen_str(g, "%s/Mul_1", path), x, m->cos);
    return gen_op2(g, gen_str(g, "%s/Add", path), a, b);
}

/* Returns the name of the model input with the cached keys or values of layer i; what: "key" or "value". */
static const char *past_name(struct gen *g, int64_t i, const char *what)
{
    return gen_str(g, "past_key_values.%lld.%s", (long long)i, what);
}

/* Adds the model input past_key_values.<i>.<what>: the keys or values of layer i that earlier runs made. */
static void past_input(struct gen *g, const struct llama *m, int64_t i, const char *what)
{
    gen_input(g, past_name(g, i, what), GEN_F32, 4,
              (const struct gen_dim[]){
                  {0, "batch"}, {m->kv.heads, NULL}, {0, "past_sequence"}, {m->kv.dim, NULL}});
}

/* Appends x, the new keys or values of layer i, to the cached ones; the result is also a model output.  what: "key" or
 * "value".  Returns the name of the result. */
static const char *append(struct gen *g, const struct llama *m, int64_t i, const char *what,
                          const char *x)
{
    const char *both[2] = {past_name(g, i, what), x};

    gen_concat(g, gen_str(g, "/attn/%s/Concat", what), /*axis=*/2, 2, both);
    x = gen_rename(g, gen_str(g, "present.%lld.%s", (long long)i, what));
    gen_output(g, x, GEN_F32, 4,
               (const struct gen_dim[]){
                   {0, "batch"}, {m->kv.heads, NULL}, {0, "total_sequence"}, {m->kv.dim, NULL}});
    return x;
}

/* Repeats each head of x for all query heads that share it: [B,KV,T,D] -> [B,H,T,D].  Returns the name of the
 * result. */
static const char *repeat(struct gen *g, const struct llama *m, const char *path, const char *x)
{
    if (m->q.heads == m->kv.heads)
        return x;
    x = gen_op2(g, gen_str(g, "%s/Unsqueeze", path), x, m->repeat_axis);
    x = gen_op2(g, gen_str(g, "%s/Expand", path), x, m->repeat);
    return gen_op2(g, gen_str(g, "%s/Reshape_1", path), x, m->joined);
}

/* Adds the attention of layer i on x, which is normed.  param: prefix of its parameters.  Returns the name of the
 * result. */
static const char *attention(struct gen *g, const struct llama *m, int64_t i, const char *param,
                             const char *x)
{
    const int64_t w = m->o->width, kw = m->kv.heads * m->kv.dim;
    const char *q = gen_linear(g, "/attn/q", gen_str(g, "%s.q", param), x,
                               (struct gen_linear){w, w, 0.02, false});
    const char *k = gen_linear(g, "/attn/k", gen_str(g, "%s.k", param), x,
                               (struct gen_linear){w, kw, 0.02, false});
    const char *v = gen_linear(g, "/attn/v", gen_str(g, "%s.v", param), x,
                               (struct gen_linear){w, kw, 0.02, false});

    q = rotate(g, m, "/attn/q/rotary", gen_split_heads(g, "/attn/q", &m->q, q, /*keys=*/false));
    k = rotate(g, m, "/attn/k/rotary", gen_split_heads(g, "/attn/k", &m->kv, k, /*keys=*/false));
    v = gen_split_heads(g, "/attn/v", &m->kv, v, /*keys=*/false);
    if (m->o->has.kv) {
        k = append(g, m, i, "key", k);
        v = append(g, m, i, "value", v);
    }
    k = repeat(g, m, "/attn/k", k);
    v = repeat(g, m, "/attn/v", v);
    k = gen_transpose(g, "/attn/Transpose", k, 4, (const int64_t[]){0, 1, 3, 2});
    const char *s = gen_op2(g, "/attn/MatMul", q, k);
    s = gen_op2(g, "/attn/Div", s, m->q.scale);
    s = gen_op3(g, "/attn/Where", m->mask, s, m->lowest);
    s = gen_op1(g, "/attn/Softmax", s);
    gen_attr_i(g, "axis", -1);
    s = gen_op2(g, "/attn/MatMul_1", s, v);
    s = gen_transpose(g, "/attn/Transpose_1", s, 4, (const int64_t[]){0, 2, 1, 3});
    s = gen_op2(g, "/attn/Reshape", s, m->q.merge);
    return gen_linear(g, "/attn/o", gen_str(g, "%s.o", param), s,
                      (struct gen_linear){w, w, m->proj_std, false});
}

/* Adds a SwiGLU: down(silu(gate(x)) up(x)), where down, gate and up are linear layers.  Returns the name of the
 * result. */
static const char *swiglu(struct gen *g, const struct llama *m, const char *path, const char *param,
                          const char *x)
{
    const int64_t w = m->o->width, f = m->o->ffn;
    const char *gate = gen_linear(g, gen_str(g, "%s/gate", path), gen_str(g, "%s.gate", param), x,
                                  (struct gen_linear){w, f, 0.02, false});
    const char *up = gen_linear(g, gen_str(g, "%s/up", path), gen_str(g, "%s.up", param), x,
                                (struct gen_linear){w, f, 0.02, false});

    gate = gen_silu(g, gen_str(g, "%s/act", path), gate);
    up = gen_op2(g, gen_str(g, "%s/Mul", path), gate, up);
    return gen_linear(g, gen_str(g, "%s/down", path), gen_str(g, "%s.down", param), up,
                      (struct gen_linear){f, w, m->proj_std, false});
}

/* Adds the choice of experts for each token of x.  Returns the name of the weights of the chosen experts, and sets
 * *chosen to the name of their numbers, both [B,S,top_k]. */
static const char *choose_experts(struct gen *g, const struct llama *m, const char *param,
                                  const char *x, const char **chosen)
{
    const char *p = gen_linear(g, "/moe/router", gen_str(g, "%s.router", param), x,
                               (struct gen_linear){m->o->width, m->o->experts, 0.02, false});
    p = gen_op1(g, "/moe/router/Softmax", p);
    gen_attr_i(g, "axis", -1);
    p = gen_op2(g, "/moe/router/TopK", p, m->topk);
    gen_attr_i(g, "axis", -1);
    gen_attr_i(g, "largest", 1);
    gen_attr_i(g, "sorted", 1);
    *chosen = gen_more(g);
    const char *sum = gen_reduce(g, "/moe/router/ReduceSum", p, m->last_axis, KEEP_AXES);
    return gen_op2(g, "/moe/router/Div", p, sum);
}

/* Adds the mixture of experts on x: the sum of each expert's result times its weight, 0 if it is not chosen.  terms:
 * scratch, [expert].  Returns the name of the result. */
static const char *mixture(struct gen *g, const struct llama *m, const char *param, const char *x,
                           const char **terms)
{
    const char *chosen, *weights = choose_experts(g, m, param, x, &chosen);

    for (int64_t e = 0; e < m->o->experts; e++) {
        /* hit: the weight of expert e for each token, 0 where it is not chosen */
        const char *path = gen_str(g, "/moe/experts.%lld", (long long)e);
        const char *hit = gen_op2(g, gen_str(g, "%s/Equal", path), chosen, m->experts[e]);
        hit = gen_op3(g, gen_str(g, "%s/Where", path), hit, weights, m->zero);
        hit = gen_reduce(g, gen_str(g, "%s/ReduceSum", path), hit, m->last_axis, KEEP_AXES);
        const char *y = swiglu(g, m, path, gen_str(g, "%s.experts.%lld", param, (long long)e), x);
        terms[e] = gen_op2(g, gen_str(g, "%s/Mul_1", path), y, hit);
    }
    return gen_node(g, "/moe/Sum", (int)m->o->experts, terms);
}

/* Adds decoder layer i on x.  terms: scratch, [expert].  Returns the name of the result. */
static const char *layer(struct gen *g, const struct llama *m, int64_t i, const char *x,
                         const char **terms)
{
    const char *p = gen_str(g, "layers.%lld", (long long)i);

    gen_scope(g, gen_str(g, "/%s", p));
    const char *y = rms_norm(g, m, "/attn_norm", gen_str(g, "%s.attn_norm", p), x);
    x = gen_op2(g, "/attn/Add", x, attention(g, m, i, gen_str(g, "%s.attn", p), y));
    y = rms_norm(g, m, "/mlp_norm", gen_str(g, "%s.mlp_norm", p), x);
    if (m->o->experts > 0)
        x = gen_op2(g, "/moe/Add", x, mixture(g, m, gen_str(g, "%s.moe", p), y, terms));
    else
        x = gen_op2(g, "/mlp/Add", x, swiglu(g, m, "/mlp", gen_str(g, "%s.mlp", p), y));
    gen_scope(g, NO_SCOPE);
    return x;
}

/* Makes m->cos and m->sin, [sequence, D]: cosine and sine of position * 10000^(-2i / D) at i and at i + D/2.  rows:
 * the positions, [sequence]. */
static void make_cos_sin(struct gen *g, struct llama *m, const char *rows)
{
    float frequency[MAX_HEAD_DIM / 2];
    const int half = (int)(m->q.dim / 2);

    for (int i = 0; i < half; i++)
        frequency[i] = (float)pow(10000.0, -(double)i / half);
    const char *f = gen_floats(g, "const.frequency", half, frequency);
    const char *x = gen_op1(g, "/rotary/Cast", rows);
    gen_attr_i(g, "to", GEN_F32);
    x = gen_op2(g, "/rotary/Mul", gen_op2(g, "/rotary/Unsqueeze", x, m->last_axis), f);
    x = gen_concat(g, "/rotary/Concat", /*axis=*/-1, 2, (const char *const[]){x, x});
    m->cos = gen_op1(g, "/rotary/Cos", x);
    m->sin = gen_op1(g, "/rotary/Sin", x);
}

/* Adds the constants of m. */
static void constants(struct gen *g, struct llama *m)
{
    const struct gen_opt *o = m->o;
    const int64_t group = o->heads / o->kv_heads;

    m->q = gen_heads(g, o->heads, o->width / o->heads);
    m->kv = (struct gen_heads){.heads = o->kv_heads, .dim = m->q.dim};
    m->kv.split = gen_ints(g, "const.split_kv", 4, (const int64_t[]){0, 0, m->kv.heads, m->kv.dim});
    if (group > 1) {
        m->repeat_axis = gen_ints(g, "const.repeat_axis", 1, (const int64_t[]){2});
        m->repeat = gen_ints(g, "const.repeat", 5, (const int64_t[]){1, 1, group, 1, 1});
        m->joined = gen_ints(g, "const.joined", 4, (const int64_t[]){0, o->heads, -1, m->q.dim});
    }
    m->lowest = gen_float(g, "const.lowest", -3.4028235e38f);
    m->two = gen_float(g, "const.two_f", 2.0f);
    m->one = gen_float(g, "const.one_f", 1.0f);
    m->epsilon = gen_float(g, "const.epsilon", 1e-5f);
    m->last_axis = gen_ints(g, "const.last", 1, (const int64_t[]){-1});
    m->proj_std = 0.02 / sqrt(2.0 * (double)o->layers);
    if (o->experts > 0) {
        m->topk = gen_ints(g, "const.top_k", 1, &o->topk);
        m->zero = gen_float(g, "const.zero_f", 0.0f);
    }
    for (int64_t e = 0; e < o->experts; e++)
        m->experts[e] = gen_int(g, gen_str(g, "const.expert.%lld", (long long)e), e);
}

/* Checks the options whose limits depend on other options: heads, their size, and experts.  Returns 0; or prints an
 * error and returns -1. */
static int check(const struct gen_opt *o)
{
    const char *wrong = NULL;

    if (gen_check_heads(o, HEADS_EVEN) != 0)
        return -1;
    if (o->heads % o->kv_heads != 0)
        wrong = "--heads is not a multiple of --kv-heads";
    else if (o->width / o->heads > MAX_HEAD_DIM)
        wrong = "--width / --heads is above 65536";
    else if (o->experts > 0 && o->topk > o->experts)
        wrong = "--top-k is above --experts";
    if (wrong != NULL)
        fprintf(stderr, "pcc-gen: %s\n", wrong);
    return wrong != NULL ? -1 : 0;
}

int gen_llama(struct gen *g, const struct gen_opt *o)
{
    const struct gen_dim dims[3] = {{0, "batch"}, {0, "sequence"}, {o->vocab, NULL}};
    const char *experts[GEN_MAX_EXPERTS], *terms[GEN_MAX_EXPERTS];
    struct llama m = {.o = o, .experts = experts};

    if (check(o) != 0)
        return -1;
    gen_input(g, "input_ids", GEN_I64, 2, dims);
    gen_output(g, "logits", GEN_F32, 3, dims);
    constants(g, &m);
    for (int64_t i = 0; i < o->layers && o->has.kv; i++) {
        past_input(g, &m, i, "key");
        past_input(g, &m, i, "value");
    }
    const struct gen_causal c = gen_causal(g, o->has.kv ? past_name(g, 0, "key") : NULL);
    m.mask = c.mask;
    make_cos_sin(g, &m, c.rows);
    const char *table =
        gen_weight(g, "embed.weight", 2, (const int64_t[]){o->vocab, o->width}, 0.0, 0.02);
    const char *x = gen_op2(g, "/embed/Gather", table, "input_ids");
    for (int64_t i = 0; i < o->layers; i++)
        x = layer(g, &m, i, x, terms);
    x = rms_norm(g, &m, "/norm", "norm", x);
    gen_linear(g, "/lm_head", "lm_head", x, (struct gen_linear){o->width, o->vocab, 0.02, false});
    gen_rename(g, "logits");
    return 0;
}
