/* The model bert: a post-norm encoder with token types, a padding mask and a pooler.
 *
 *   x = ln(word[input_ids] + type[token_type_ids] + position[0 .. sequence))
 *   layer: x = ln(x + attention(x));  x = ln(x + proj(gelu(fc(x)))), gelu through Erf (or another activation)
 *   pooler_output = tanh(x[:, 0] W + b)
 *   with --mlm: prediction_logits = ln(gelu(x W + b)) word'
 *
 * The scores of masked keys get the lowest float added, (1 - attention_mask) * lowest, as exporters write it; so a
 * row whose keys are all masked stays finite.  Nodes: 34 per layer, 17 others. */
#include "tools/gen/gen.h"

enum {
    BERT_POSITIONS = 512, /* rows of the table of positions */
    BERT_TYPES = 2        /* rows of the table of token types */
};

/* Values that all layers share. */
struct bert {
    const struct gen_opt *o;
    int64_t ffn; /* inner width of a layer: --ffn */
    struct gen_heads heads;
    const char *mask; /* float [batch,1,1,sequence], added to the scores */
    struct gen_activation act;
};

/* Adds encoder layer i on x.  Returns the name of the result. */
static const char *bert_layer(struct gen *g, const struct bert *m, int64_t i, const char *x)
{
    const int64_t w = m->o->width;
    const char *p = gen_str(g, "layers.%lld", (long long)i);
    const char *y;

    gen_scope(g, gen_str(g, "/%s", p));
    y = gen_attention(g, "/attn", gen_str(g, "%s.attn", p), &m->heads, x, m->mask);
    x = gen_op2(g, "/attn/Add_1", x, y);
    x = gen_layer_norm(g, "/ln_1/LayerNormalization", gen_str(g, "%s.ln_1", p), x, w);
    y = gen_linear(g, "/mlp/fc", gen_str(g, "%s.mlp.fc", p), x,
                   (struct gen_linear){w, m->ffn, 0.02, true});
    y = gen_activate(g, "/mlp/act", &m->act, y);
    y = gen_linear(g, "/mlp/proj", gen_str(g, "%s.mlp.proj", p), y,
                   (struct gen_linear){m->ffn, w, 0.02, true});
    x = gen_op2(g, "/mlp/Add", x, y);
    x = gen_layer_norm(g, "/ln_2/LayerNormalization", gen_str(g, "%s.ln_2", p), x, w);
    gen_scope(g, NO_SCOPE);
    return x;
}

/* Adds an embedding table and the Gather of its rows `ids`.  Returns the name of the result. */
static const char *bert_table(struct gen *g, const char *name, int64_t rows, int64_t width,
                              const char *ids)
{
    const int64_t dims[2] = {rows, width};
    const char *w = gen_weight(g, gen_str(g, "embeddings.%s.weight", name), 2, dims, 0.0, 0.02);

    return gen_op2(g, gen_str(g, "/embeddings/%s/Gather", name), w, ids);
}

/* Adds the embedding: the norm of word, type and position embedding together.  Returns the name of the result. */
static const char *bert_embed(struct gen *g, const struct bert *m)
{
    const int64_t w = m->o->width;
    const char *zero = gen_int(g, "const.zero", 0);
    const char *one = gen_int(g, "const.one", 1);
    const char *n = gen_op1(g, "/embeddings/Shape", "input_ids");
    const char *rows =
        gen_op3(g, "/embeddings/Range", zero, gen_op2(g, "/embeddings/Gather", n, one), one);
    const char *x = bert_table(g, "word", m->o->vocab, w, "input_ids");

    x = gen_op2(g, "/embeddings/Add", x, bert_table(g, "type", BERT_TYPES, w, "token_type_ids"));
    x = gen_op2(g, "/embeddings/Add_1", x, bert_table(g, "position", BERT_POSITIONS, w, rows));
    return gen_layer_norm(g, "/embeddings/ln/LayerNormalization", "embeddings.ln", x, w);
}

/* Adds struct bert.mask, from the input attention_mask.  one: the constant 1.  Returns the name of the result. */
static const char *bert_mask(struct gen *g, const char *one)
{
    const char *axes = gen_ints(g, "const.mask_axes", 2, (const int64_t[]){1, 2});
    const char *lowest = gen_float(g, "const.lowest", -3.4028235e38f);
    const char *m = gen_op2(g, "/mask/Unsqueeze", "attention_mask", axes);

    m = gen_op1(g, "/mask/Cast", m);
    gen_attr_i(g, "to", GEN_F32);
    m = gen_op2(g, "/mask/Sub", one, m);
    return gen_op2(g, "/mask/Mul", m, lowest);
}

/* Adds the pooler on x and its model output pooler_output. */
static void bert_pool(struct gen *g, const struct gen_opt *o, const char *x)
{
    const char *first = gen_int(g, "const.first", 0);

    x = gen_op2(g, "/pooler/Gather", x, first);
    gen_attr_i(g, "axis", 1);
    x = gen_linear(g, "/pooler/dense", "pooler.dense", x,
                   (struct gen_linear){o->width, o->width, 0.02, true});
    gen_op1(g, "/pooler/Tanh", x);
    gen_output(g, gen_rename(g, "pooler_output"), GEN_F32, 2,
               (const struct gen_dim[]){{0, "batch"}, {o->width, NULL}});
}

/* Adds the head over the vocabulary on x and its model output prediction_logits. */
static void bert_predict(struct gen *g, const struct bert *m, const char *x)
{
    const int64_t w = m->o->width;

    x = gen_linear(g, "/head/dense", "head.dense", x, (struct gen_linear){w, w, 0.02, true});
    x = gen_activate(g, "/head/act", &m->act, x);
    x = gen_layer_norm(g, "/head/ln/LayerNormalization", "head.ln", x, w);
    gen_linear(g, "/head/decoder", "head.decoder", x,
               (struct gen_linear){w, m->o->vocab, 0.02, true});
    gen_output(g, gen_rename(g, "prediction_logits"), GEN_F32, 3,
               (const struct gen_dim[]){{0, "batch"}, {0, "sequence"}, {m->o->vocab, NULL}});
}

int gen_bert(struct gen *g, const struct gen_opt *o)
{
    static const char *const inputs[] = {"input_ids", "attention_mask", "token_type_ids"};
    const struct gen_dim dims[3] = {{0, "batch"}, {0, "sequence"}, {o->width, NULL}};
    struct bert m = {.o = o, .ffn = o->ffn > 0 ? o->ffn : 4 * o->width};

    if (gen_check_heads(o, HEADS_WHOLE) != 0)
        return -1;
    for (int i = 0; i < 3; i++)
        gen_input(g, inputs[i], GEN_I64, 2, dims);
    m.heads = gen_heads(g, o->heads, o->width / o->heads);
    m.act = gen_activation(g, o->activation);
    m.mask = bert_mask(g, m.act.one != NULL ? m.act.one : gen_float(g, "const.one_f", 1.0f));
    const char *x = bert_embed(g, &m);
    for (int64_t i = 0; i < o->layers; i++)
        x = bert_layer(g, &m, i, x);
    gen_output(g, gen_rename(g, "last_hidden_state"), GEN_F32, 3, dims);
    bert_pool(g, o, "last_hidden_state");
    if (o->has.mlm)
        bert_predict(g, &m, "last_hidden_state");
    return 0;
}
