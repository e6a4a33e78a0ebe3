/* Shape inference: rules of operators for attention, of operators that text models use before it, and of
 * com.microsoft's operators that search for a text with a whole model.
 *
 * Queries, keys and values are (batch, length, heads * size) or (batch, heads, length, size).  A past cache, an
 * operand, holds the keys or values of earlier tokens; a present cache, a result, holds those and the new ones.  The
 * formulas are those of the operator documents of ONNX and of ONNX Runtime.  O(operands) for each node. */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

/* Rule for Attention of ai.onnx.  Operands: queries, keys, values, mask, past keys, past values.  Results: the
 * output, with the axes of the queries; present keys; present values; scores (batch, heads, query length, key
 * length). */
void rule_attention(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), k = operand_shape(f, n, 1), v = operand_shape(f, n, 2),
                 past, out = shape_unknown(q.elem);
    (void)arg;
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
    /* present keys and values are the past ones and the new ones together */
    for (uint32_t i = 1; i < 3; i++) {
        struct shape *x = i == 1 ? &k : &v;
        if (x->rank == 3 && kv_heads > 0) {
            struct shape four = {.elem = x->elem, .rank = 4};
            four.d[0] = x->d[0];
            four.d[1] = dim_num(kv_heads);
            four.d[2] = x->d[1];
            four.d[3] = dim_div(f->m, x->d[2], dim_num(kv_heads));
            *x = four;
        }
        if (x->rank == 4 && shape_in(f, n, 3 + i, &past) && past.rank == 4)
            x->d[2] = dim_add(f->m, x->d[2], past.d[2]);
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

/* Rule for FlexAttention of ai.onnx.preview: the result has the four axes of the queries, but the last axis has the
 * size of the last axis of the values. */
void rule_flex_attention(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), v = operand_shape(f, n, 2);
    (void)arg;
    if (q.rank == 4)
        q.d[3] = shape_dim(&v, 3);
    shape_set(f, n, 0, &q);
}

/* Rule for LinearAttention.  Result 0 has the shape of operand 0, the queries; if it has three axes, the last one
 * holds all heads, of the queries or of the keys, whichever are more, times the value size.  Result 1, the state, is
 * (batch, key heads, key size, value size); with com.microsoft's attribute state_window, that number of states
 * stands on a new first axis. */
void rule_linear_attention(struct infer *f, nid n, int arg)
{
    struct shape q, k, v, past, state = {.rank = 0};
    int64_t heads = node_attr_int(f->m, n, "q_num_heads", -1),
            kv = node_attr_int(f->m, n, "kv_num_heads", -1),
            window = node_attr_int(f->m, n, "state_window", 0);
    (void)arg;
    shape_in(f, n, 0, &q);
    shape_in(f, n, 1, &k);
    shape_in(f, n, 2, &v);
    shape_in(f, n, 3, &past);
    struct dim size = dim_div(f->m, shape_dim(&v, 2), dim_num(kv));
    state.elem = past.elem != 0 ? past.elem : q.elem;
    if (window > 0)
        state.d[state.rank++] = dim_num(window);
    state.d[state.rank++] = shape_dim(&q, 0);
    state.d[state.rank++] = dim_num(kv);
    state.d[state.rank++] = dim_div(f->m, shape_dim(&k, 2), dim_num(kv));
    state.d[state.rank++] = size;
    if (q.rank == 3)
        q.d[2] = dim_mul(f->m, dim_num(larger(heads, kv)), size);
    shape_set(f, n, 0, &q);
    shape_set(f, n, 1, &state);
}

/* Rule for CausalConvWithState.  Result 1, the state, holds the last inputs, which the kernel still needs: it has the
 * shape of the past state in operand 3, or is (batch, channels, (kernel - 1) * dilation). */
void rule_causal_conv(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), w = operand_shape(f, n, 1), state;
    (void)arg;
    bool plain = node_attr_int(f->m, n, "channels_last", 0) == 0 &&
                 node_attr_int(f->m, n, "state_window", 0) == 0;
    state = shape_unknown((enum elem)in.elem);
    if (node_in(f->m, n, 3) != 0) {
        shape_in(f, n, 3, &state);
    } else if (in.rank == 3 && w.rank == 3 && plain) {
        state = in;
        state.d[2] = dim_mul(f->m, dim_shift(f->m, w.d[2], -1),
                             dim_num(node_attr_int(f->m, n, "dilation", 1)));
    }
    shape_set_like(f, n, 0, node_in(f->m, n, 0), ELEM_NONE);
    shape_set(f, n, 1, &state);
}

/* --- com.microsoft --- */

/* Returns the width (heads * size) of the values, if queries, keys and values are made with one weight. */
static struct dim value_width(struct infer *f, nid n, const struct shape *weight)
{
    int64_t sizes[3];
    if (attr_ints(f, n, "qkv_hidden_sizes", sizes, 3) == 3)
        return dim_num(sizes[2]);
    return dim_div(f->m, shape_dim(weight, -1), dim_num(3));
}

/* Rule for Attention and DecoderMaskedSelfAttention of com.microsoft; arg 1: QAttention, where operand 3, a scale, has
 * the element type of the result.  Operand 0 is the input, operand 1 the weight of queries, keys and values together,
 * operand 4 (QAttention: 8) the past cache.  Results: the output, the present cache.  Caches are (2, batch, heads,
 * length, size): first keys, then values; the size is that of the values. */
void rule_ms_attention(struct infer *f, nid n, int arg)
{
    struct shape x = operand_shape(f, n, 0), w = operand_shape(f, n, 1), past,
                 present = {.rank = 5};
    struct dim heads = dim_num(node_attr_int(f->m, n, "num_heads", -1)), seq = shape_dim(&x, 1);
    x.elem = arg == 1 ? (uint8_t)elem_in(f, n, 3) : x.elem;
    present.elem = x.elem;
    present.d[0] = dim_num(2);
    present.d[1] = shape_dim(&x, 0);
    present.d[2] = heads;
    present.d[3] = seq;
    present.d[4] = dim_div(f->m, value_width(f, n, &w), heads);
    if (node_in(f->m, n, arg == 1 ? 8 : 4) != 0) {
        shape_in(f, n, arg == 1 ? 8 : 4, &past);
        bool shared = node_attr_int(f->m, n, "past_present_share_buffer", 0) != 0;
        present.d[3] = shared ? shape_dim(&past, 3) : dim_add(f->m, seq, shape_dim(&past, 3));
        present.d[4] = dim_known(present.d[4]) ? present.d[4] : shape_dim(&past, 4);
    }
    if (x.rank == 3)
        x.d[2] = value_width(f, n, &w);
    else
        x.rank = -1;
    shape_set(f, n, 0, &x);
    shape_set(f, n, 1, &present);
}

/* Returns the width of the result of MultiHeadAttention, which is the width of the values.  The values are an operand
 * of their own, v, or packed with the queries q or the keys k. */
static struct dim multi_head_width(struct infer *f, const struct shape *q, const struct shape *k,
                                   const struct shape *v)
{
    if (q->rank == 5) /* (batch, length, heads, 3, size) */
        return dim_mul(f->m, q->d[2], q->d[4]);
    if (k->rank == 5)
        return shape_dim(q, 2);
    return v->rank == 3 ? v->d[2] : v->rank == 4 ? dim_mul(f->m, v->d[1], v->d[3]) : dim_unknown();
}

/* Sets result `result`, a present cache (batch, heads, length, size), from the new keys or values x and the past
 * cache in operand `operand`.  shared: both caches use one buffer, so they have the same length. */
static void multi_head_cache(struct infer *f, nid n, uint32_t result, const struct shape *x,
                             uint32_t operand, bool shared)
{
    assert(x->rank >= -1 && x->rank <= SHAPE_RANK);
    struct shape past = operand_shape(f, n, operand), out = shape_unknown((enum elem)x->elem);
    struct dim heads = dim_num(node_attr_int(f->m, n, "num_heads", -1));
    if (x->rank == 3 || x->rank == 5) {
        out.rank = 4;
        out.d[0] = x->d[0];
        out.d[1] = heads;
        out.d[2] = x->d[1];
        out.d[3] = x->rank == 5 ? x->d[4] : dim_div(f->m, x->d[2], heads);
        if (node_in(f->m, n, operand) != 0)
            out.d[2] = shared ? shape_dim(&past, 2) : dim_add(f->m, x->d[1], shape_dim(&past, 2));
    }
    shape_set(f, n, result, &out);
}

/* Rule for MultiHeadAttention; arg 1: DecoderMaskedMultiHeadAttention.  Operands: queries, keys, values, which may be
 * packed in fewer operands.  Results: the output, present keys, present values, scores. */
void rule_multi_head(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), k = operand_shape(f, n, 1), v = operand_shape(f, n, 2),
                 out, present;
    uint32_t past = arg == 1 ? 5 : 6;
    /* operand 8: number of past positions in a buffer that present keys share */
    bool shared = node_attr_int(f->m, n, "past_present_share_buffer", 0) != 0 ||
                  (arg == 0 && node_in(f->m, n, 8) != 0);
    out = q;
    out.rank = q.rank == 3 || q.rank == 5 ? 3 : -1;
    out.d[2] = multi_head_width(f, &q, &k, &v);
    if (arg == 1 &&
        node_in(f->m, n, 1) == 0) /* operand 0 has queries, keys and values side by side */
        out.d[2] = dim_unknown();
    shape_set(f, n, 0, &out);
    const struct shape *key = q.rank == 5 ? &q : &k, *value = key->rank == 5 ? key : &v;
    multi_head_cache(f, n, 1, key, past, shared);
    multi_head_cache(f, n, 2, value, past + 1, shared);
    if (node_out(f->m, n, 3) == 0)
        return;
    bool known = shape_of(f, node_out(f->m, n, 1), &present) && present.rank == 4;
    struct shape scores = {.elem = q.elem, .rank = 4};
    scores.d[0] = shape_dim(&q, 0);
    scores.d[1] = dim_num(node_attr_int(f->m, n, "num_heads", -1));
    scores.d[2] = shape_dim(&q, 1);
    scores.d[3] = known                                        ? present.d[2]
                  : k.rank == 3 && node_in(f->m, n, past) == 0 ? k.d[1]
                                                               : dim_unknown();
    shape_set(f, n, 3, &scores);
}

/* Returns the larger of a and b; unknown if that is not certain. */
static struct dim larger_dim(struct infer *f, struct dim a, struct dim b)
{
    if (a.value >= 0 && b.value >= 0)
        return a.value > b.value ? a : b;
    struct dim rest = dim_sub(f->m, a, b);
    if (dim_known(rest) && dim_nonneg(f->m, rest))
        return a;
    rest = dim_sub(f->m, b, a);
    return dim_known(rest) && dim_nonneg(f->m, rest) ? b : dim_unknown();
}

/* Rule for GroupQueryAttention: several query heads share a head of keys and values.  If operand 2 is omitted,
 * queries, keys and values are packed in operand 0.  arg 0: present caches have the length in operand 6, or the
 * length of the past caches if that is larger; 1: similar operators, whose present caches have the shape of the past
 * ones. */
void rule_group_query(struct infer *f, nid n, int arg)
{
    struct shape q, past, present;
    int64_t heads = node_attr_int(f->m, n, "num_heads", 0),
            kv = node_attr_int(f->m, n, "kv_num_heads", 0);
    bool packed = node_in(f->m, n, 2) == 0;
    bool sane = heads > 0 && kv > 0 && heads < INT32_MAX && kv < INT32_MAX;
    shape_in(f, n, 0, &q);
    struct dim size = dim_unknown();
    if (sane && q.rank > 1)
        size = dim_div(f->m, q.d[q.rank - 1], dim_num(packed ? heads + 2 * kv : heads));
    if (packed && q.rank > 1)
        q.d[q.rank - 1] = dim_mul(f->m, size, dim_num(heads));
    shape_set(f, n, 0, &q);
    for (uint32_t i = 1; i < 3; i++) {
        shape_in(f, n, 2 + i, &past);
        present = past;
        if (arg == 0) {
            struct dim total = value_dim(f, n, 6, 0);
            present = (struct shape){.elem = past.elem != 0 ? past.elem : q.elem, .rank = 4};
            present.d[0] = shape_dim(&q, 0);
            present.d[1] = dim_num(kv > 0 ? kv : -1);
            present.d[2] = past.rank == 4 ? larger_dim(f, total, past.d[2]) : total;
            present.d[3] = past.rank == 4 ? past.d[3] : size;
        }
        shape_set(f, n, i, &present);
    }
}

/* Rule for PackedAttention, PackedMultiHeadAttention, QOrderedAttention: the result has the shape of operand 0,
 * except for the width.  arg: the operand that gives the width: 1: the weight of queries, keys and values together;
 * 2, 7: the values or their weight. */
void rule_packed_attention(struct infer *f, nid n, int arg)
{
    struct shape x = operand_shape(f, n, 0), w = operand_shape(f, n, (uint32_t)arg);
    if (arg == 2 && x.rank == 4) { /* (tokens, heads, 3, size) */
        x.rank = 2;
        x.d[1] = dim_mul(f->m, x.d[1], x.d[3]);
    } else if (x.rank > 0) {
        x.d[x.rank - 1] = arg == 1 ? value_width(f, n, &w) : shape_dim(&w, -1);
    }
    shape_set(f, n, 0, &x);
}

/* Rule for DecoderAttention: the query is (length, batch, width); the length of the caches is not known, since it
 * depends on the elements of operands. */
void rule_decoder_attention(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), cache = {.rank = 4};
    (void)arg;
    struct dim heads = dim_num(node_attr_int(f->m, n, "num_heads", -1));
    cache.elem = q.elem;
    cache.d[0] = shape_dim(&q, 1);
    cache.d[1] = heads;
    cache.d[2] = dim_unknown();
    cache.d[3] = dim_div(f->m, shape_dim(&q, 2), heads);
    shape_set(f, n, 0, &q);
    shape_set(f, n, 1, &cache);
    shape_set(f, n, 2, &cache);
}

/* Rule for RelativePositionBias; arg 1: GatedRelativePositionBias.  The result (batch, heads, query length, key
 * length) is a bias for the scores. */
void rule_position_bias(struct infer *f, nid n, int arg)
{
    struct shape x, out = {.rank = 4};
    uint32_t tokens = arg == 1 && node_in(f->m, n, 6) != 0 ? 6 : 0;
    out.elem = (uint8_t)elem_in(f, n, 0);
    shape_in(f, n, tokens, &x);
    if (arg == 1) {
        out.d[0] = shape_dim(&x, 0);
        out.d[1] = dim_num(node_attr_int(f->m, n, "num_heads", -1));
        out.d[2] = out.d[3] = shape_dim(&x, 1);
    } else {
        out.d[0] = dim_num(1);
        out.d[1] = shape_dim(&x, 1);
        out.d[2] = value_dim(f, n, 1, 0);
        out.d[3] = value_dim(f, n, 2, 0);
    }
    shape_set(f, n, 0, &out);
}

/* --- operators before attention --- */

/* Rule for EmbedLayerNormalization.  Results 0 and 2 have the shape (batch, length, width); result 1, the mask, has
 * (batch).  arg 1: the tables are quantized, and the result is f32. */
void rule_embed_layer_norm(struct infer *f, nid n, int arg)
{
    struct shape ids = operand_shape(f, n, 0), w = operand_shape(f, n, 2), out, mask;
    out = shape_unknown(arg == 1 ? ELEM_F32 : (enum elem)w.elem);
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

/* Rule for RemovePadding, which turns (batch, length, width) into (tokens, width): the tokens of all sequences one
 * after the other; results 1 to 3 say where the tokens were.  arg 1: RestorePadding, the reverse, whose operand 1
 * says where the tokens go. */
void rule_padding(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), offset = operand_shape(f, n, 1), out = in;
    if (arg == 1) {
        out.rank = 3;
        out.d[0] = shape_dim(&offset, 0);
        out.d[1] = shape_dim(&offset, 1);
        out.d[2] = shape_dim(&in, 1);
        shape_set(f, n, 0, &out);
        return;
    }
    out.rank = 2;
    out.d[0] = dim_unknown();
    out.d[1] = shape_dim(&in, 2);
    shape_set(f, n, 0, &out);
    out.elem = ELEM_I32;
    out.d[0] = shape_dim(&in, 0);
    out.d[1] = shape_dim(&in, 1);
    shape_set(f, n, 1, &out);
    out = shape_vector(ELEM_I32, dim_shift(f->m, shape_dim(&in, 0), 1));
    shape_set(f, n, 2, &out);
    out.d[0] = dim_num(1);
    shape_set(f, n, 3, &out);
}

/* --- searching for a text --- */

/* Rule for BeamSearch: result 0, of shape (batch, sequences, length), has tokens as indices in the vocabulary.  arg
 * 1: GreedySearch and Sampling, whose only result has the shape (batch, length); 2: WhisperBeamSearch, which has one
 * more result. */
void rule_search(struct infer *f, nid n, int arg)
{
    struct shape ids = operand_shape(f, n, 0), out = {.elem = ELEM_I32, .rank = 0};
    bool beams = arg != 1;
    /* operand 1: the largest length; 3: the number of beams; 4: the number of sequences that are returned */
    out.d[out.rank++] = shape_dim(&ids, 0);
    if (beams)
        out.d[out.rank++] = value_dim(f, n, 4, 0);
    out.d[out.rank++] = value_dim(f, n, 1, 0);
    shape_set(f, n, 0, &out);
    if (!beams)
        return;
    enum elem e = elem_in(f, n, 5);
    out.elem = (uint8_t)(e != ELEM_NONE ? e : elem_in(f, n, 6));
    out.rank = 2;
    shape_set(f, n, 1, &out); /* scores of the sequences */
    const struct dim score[] = {dim_unknown(), out.d[0], value_dim(f, n, 3, 0),
                                dim_num(node_attr_int(f->m, n, "vocab_size", -1))};
    out.rank = 4;
    memcpy(out.d, score, sizeof score);
    shape_set(f, n, 2, &out); /* scores of all tokens of the vocabulary, at each step */
    out.d[0] = out.d[1];
    out.rank = 1;
    if (arg == 2)
        shape_set(f, n, 4, &out); /* probability of no speech */
}
