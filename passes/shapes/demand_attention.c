/* Notes the demands of operators for attention and of the operators that usually stand before it (demands.h).
 *
 * Caches of keys and values belong together: the past length and the number of new tokens add up to the total
 * length, for which masks and tables of rotations are made; attributes give numbers of heads, and so the size of a
 * head.  The forms of operands are those of the operator documents of ONNX and of ONNX Runtime.  O(operands) for
 * each node. */
#include "passes/shapes/demands.h"

/* Returns d / by; unknown if by is below 1, or so large that no model has as many heads. */
static struct dim share(struct demands *k, struct dim d, int64_t by)
{
    return by > 0 && by < INT32_MAX ? dim_div(k->f->m, d, dim_num(by)) : dim_unknown();
}

/* If operand i, a cache (batch, heads, length, size), is there, demands that it has this batch, these heads and this
 * size of a head.  Returns the cache's length; unknown if there is no cache. */
static struct dim demand_cache(struct demands *k, nid n, uint32_t i, struct dim batch,
                               struct dim heads, struct dim size)
{
    struct shape past;
    if (!shape_in(k->f, n, i, &past) || past.rank != 4)
        return dim_unknown();
    demand(k, DEMAND_EQUAL, past.d[0], batch);
    demand(k, DEMAND_EQUAL, past.d[1], heads);
    demand(k, DEMAND_EQUAL, past.d[3], size);
    return past.d[2];
}

/* Returns past + fresh; if operand i, the past cache, is omitted, fresh alone. */
static struct dim total_length(struct demands *k, nid n, uint32_t i, struct dim past,
                               struct dim fresh)
{
    if (node_in(k->f->m, n, i) == 0)
        return fresh;
    return dim_known(past) && dim_known(fresh) ? dim_add(k->f->m, past, fresh) : dim_unknown();
}

/* Notes the demands of Attention of ai.onnx; operands are queries, keys, values, mask, past keys, past values. */
void demand_attention(struct demands *k, nid n, int arg)
{
    struct shape q = operand_shape(k->f, n, 0), key = operand_shape(k->f, n, 1),
                 value = operand_shape(k->f, n, 2), mask = operand_shape(k->f, n, 3);
    int64_t heads = node_attr_int(k->f->m, n, "q_num_heads", -1),
            kv = node_attr_int(k->f->m, n, "kv_num_heads", -1);
    (void)arg;
    if (q.rank != key.rank || key.rank != value.rank || (q.rank != 3 && q.rank != 4))
        return;
    bool four = q.rank == 4;
    struct dim kv_heads = four ? key.d[1] : dim_num(kv), fresh = key.d[key.rank - 2];
    struct dim size = four ? key.d[3] : share(k, key.d[2], kv);
    demand_same(k, &q, 0, &key, 0);
    demand_same(k, &key, 0, &value, 0);
    demand_same(k, &key, -2, &value, -2);
    demand(k, DEMAND_EQUAL, four ? q.d[3] : share(k, q.d[2], heads), size);
    struct dim past = demand_cache(k, n, 4, key.d[0], kv_heads, size);
    struct dim other =
        demand_cache(k, n, 5, key.d[0], kv_heads, four ? value.d[3] : share(k, value.d[2], kv));
    demand(k, DEMAND_EQUAL, past, other);
    struct shape scores = {.rank = 4};
    scores.d[0] = q.d[0];
    scores.d[1] = four ? q.d[1] : dim_num(heads);
    scores.d[2] = q.d[q.rank - 2];
    scores.d[3] = total_length(k, n, 4, past, fresh);
    demand_match(k, &mask, &scores);
}

/* --- com.microsoft --- */

/* Notes demands on the mask in operand i, if it has two axes or more: the first axis is `batch` or 1, and the last of
 * two or three axes is `total`, the number of keys. */
static void demand_mask(struct demands *k, nid n, uint32_t i, struct dim batch, struct dim total)
{
    struct shape mask = operand_shape(k->f, n, i);
    if (mask.rank < 2)
        return;
    demand(k, DEMAND_MATCH, mask.d[0], batch);
    if (mask.rank < 4) /* a mask with four axes may be longer than the keys */
        demand(k, DEMAND_EQUAL, mask.d[mask.rank - 1], total);
}

/* Notes that the bias in operand i can be added to the scores; scores[4]: their shape. */
static void demand_bias(struct demands *k, nid n, uint32_t i, const struct dim *scores)
{
    struct shape bias = operand_shape(k->f, n, i), s = {.rank = 4};
    for (int d = 0; d < 4; d++)
        s.d[d] = scores[d];
    if (bias.rank == 4)
        demand_match(k, &bias, &s);
}

/* Notes the demands of Attention and QAttention; operands are the input, one weight for queries, keys and values, their
 * bias; then, for QAttention, scales and a zero point.  arg: the operand with the mask; the past cache, (2, batch,
 * heads, length, size), is the next one, or operand 8 of QAttention (arg 5). */
void demand_ms_attention(struct demands *k, nid n, int arg)
{
    struct shape x = operand_shape(k->f, n, 0), w = operand_shape(k->f, n, 1), past;
    int64_t heads = node_attr_int(k->f->m, n, "num_heads", -1);
    uint32_t cache = arg == 5 ? 8 : 4;
    if (x.rank != 3)
        return;
    demand_same(k, &x, 2, &w, 0);
    struct dim length = dim_unknown();
    if (shape_in(k->f, n, cache, &past) && past.rank == 5) {
        demand(k, DEMAND_EQUAL, past.d[0], dim_num(2));
        demand(k, DEMAND_EQUAL, past.d[1], x.d[0]);
        demand(k, DEMAND_EQUAL, past.d[2], dim_num(heads));
        if (node_attr(k->f->m, n, "qkv_hidden_sizes") == NULL)
            demand(k, DEMAND_EQUAL, past.d[4], share(k, share(k, shape_dim(&w, 1), 3), heads));
        length = past.d[3];
    }
    if (node_attr_int(k->f->m, n, "past_present_share_buffer", 0) != 0)
        return; /* the cache has room for later keys, too: its length says nothing of masks */
    const struct dim scores[] = {x.d[0], dim_num(heads), x.d[1],
                                 total_length(k, n, cache, length, x.d[1])};
    demand_mask(k, n, (uint32_t)arg, x.d[0], scores[3]);
    if (arg == 3)
        demand_bias(k, n, 5, scores);
}

/* Notes the demands of MultiHeadAttention; operands are queries, keys, values, bias, mask, bias of scores, past keys,
 * past values.  arg 1: of DecoderMaskedMultiHeadAttention: queries, keys, values, mask, bias of scores, past keys, past
 * values. */
void demand_multi_head(struct demands *k, nid n, int arg)
{
    struct shape q = operand_shape(k->f, n, 0), key = operand_shape(k->f, n, 1),
                 value = operand_shape(k->f, n, 2);
    int64_t heads = node_attr_int(k->f->m, n, "num_heads", -1);
    uint32_t mask = arg == 1 ? 3 : 4, past = arg == 1 ? 5 : 6;
    if (q.rank != 3)
        return;
    struct dim size = share(k, q.d[2], heads), fresh = dim_unknown();
    if (key.rank == 3) {
        demand_same(k, &q, 0, &key, 0);
        demand_same(k, &q, 2, &key, 2);
        fresh = key.d[1];
    } else if (key.rank == 4) { /* (batch, heads, length, size) */
        demand_same(k, &q, 0, &key, 0);
        demand(k, DEMAND_EQUAL, key.d[1], dim_num(heads));
        demand(k, DEMAND_EQUAL, key.d[3], size);
        fresh = key.d[2];
    }
    /* the axes between batch and size: the length, and the heads if they have an axis */
    if (key.rank == value.rank && key.rank <= 4)
        for (int d = 1; d < key.rank - 1; d++)
            demand_same(k, &key, d, &value, d);
    struct dim length = demand_cache(k, n, past, q.d[0], dim_num(heads), size);
    demand(k, DEMAND_EQUAL, length,
           demand_cache(k, n, past + 1, q.d[0], dim_num(heads), dim_unknown()));
    /* the caches have room for later keys, too: their length says nothing of masks */
    bool shared = node_attr_int(k->f->m, n, "past_present_share_buffer", 0) != 0 ||
                  (arg == 0 && node_in(k->f->m, n, 8) != 0);
    if (shared)
        return;
    const struct dim scores[] = {q.d[0], dim_num(heads), q.d[1],
                                 total_length(k, n, past, length, fresh)};
    struct shape of_mask = operand_shape(k->f, n, mask);
    if (of_mask.rank == 2 || of_mask.rank == 3)
        demand_mask(k, n, mask, q.d[0], scores[3]);
    demand_bias(k, n, mask + 1, scores);
}

/* Notes what two tables of rotations, operands i and i + 1, demand of the size of a head and of the number of
 * positions.  Their shape is (positions, half of the size that is rotated).  rotated: that size, from an attribute; 0:
 * the whole head is rotated. */
static void demand_rotations(struct demands *k, nid n, uint32_t i, struct dim size, int64_t rotated,
                             struct dim positions)
{
    struct shape cosines, sines = operand_shape(k->f, n, i + 1);
    if (!shape_in(k->f, n, i, &cosines) || cosines.rank != 2)
        return;
    demand_same(k, &cosines, 0, &sines, 0);
    demand_same(k, &cosines, 1, &sines, 1);
    struct dim of = rotated > 0 ? dim_num(rotated) : size;
    if (dim_known(of) && dim_known(cosines.d[1]))
        demand(k, DEMAND_EQUAL, of, dim_mul(k->f->m, cosines.d[1], dim_num(2)));
    demand(k, DEMAND_MOST, positions, cosines.d[0]);
}

/* Notes the demands of GroupQueryAttention; operands are queries, keys, values (or all packed in the first), past keys,
 * past values, lengths less 1, the total length, rotations. */
void demand_group_query(struct demands *k, nid n, int arg)
{
    struct shape q = operand_shape(k->f, n, 0), key = operand_shape(k->f, n, 1),
                 value = operand_shape(k->f, n, 2), lengths = operand_shape(k->f, n, 5),
                 place = operand_shape(k->f, n, 9);
    int64_t heads = node_attr_int(k->f->m, n, "num_heads", 0),
            kv = node_attr_int(k->f->m, n, "kv_num_heads", 0);
    bool packed = node_in(k->f->m, n, 2) == 0;
    /* below INT32_MAX, heads + 2 * kv cannot overflow */
    bool sane = heads > 0 && kv > 0 && heads < INT32_MAX && kv < INT32_MAX;
    (void)arg;
    if (q.rank != 3 || !sane)
        return;
    struct dim size = share(k, q.d[2], packed ? heads + 2 * kv : heads);
    if (!packed) {
        for (int d = 0; d < 2; d++) {
            demand_same(k, &q, d, &key, d);
            demand_same(k, &q, d, &value, d);
        }
        demand(k, DEMAND_EQUAL, share(k, shape_dim(&key, 2), kv), size);
        demand(k, DEMAND_EQUAL, share(k, shape_dim(&value, 2), kv), size);
    }
    demand_same(k, &lengths, 0, &q, 0);
    struct dim past = demand_cache(k, n, 3, q.d[0], dim_num(kv), size);
    demand(k, DEMAND_EQUAL, past, demand_cache(k, n, 4, q.d[0], dim_num(kv), size));
    struct dim total = value_dim(k->f, n, 6, 0), sum = total_length(k, n, 3, past, q.d[1]);
    demand(k, DEMAND_EQUAL, total, sum);
    demand_same(k, &place, 1, &q, 1);
    if (node_attr_int(k->f->m, n, "do_rotary", 0) != 0)
        demand_rotations(k, n, 7, size, 0, dim_known(total) ? total : sum);
}

/* Notes the demands of RotaryEmbedding.  arg: the operand with the positions; the tables are operands 2 and 3 (arg 1,
 * com.microsoft), or 1 and 2 (arg 3). */
void demand_rotary(struct demands *k, nid n, int arg)
{
    struct shape x = operand_shape(k->f, n, 0), at = operand_shape(k->f, n, (uint32_t)arg);
    int64_t heads = node_attr_int(k->f->m, n, "num_heads", 0),
            rotated = node_attr_int(k->f->m, n, "rotary_embedding_dim", 0);
    vid positions = node_in(k->f->m, n, (uint32_t)arg);
    if (x.rank != 3 && x.rank != 4)
        return;
    struct dim size = x.rank == 4 ? x.d[3] : share(k, x.d[2], heads);
    struct dim length = x.rank == 4 ? x.d[2] : x.d[1];
    if (at.rank == 2) {
        demand_same(k, &at, 0, &x, 0);
        demand(k, DEMAND_EQUAL, at.d[1], length);
    }
    if (positions == 0) /* the tables have a row for each entry of the batch and each position */
        return;
    demand_rotations(k, n, arg == 1 ? 2 : 1, size, rotated, reach_of(k, positions));
    if (arg == 1)
        demand_rotations(k, n, 2, size, rotated, length);
}

/* Notes the demands of EmbedLayerNormalization; operands are tokens, segments, tables of words, positions and segments,
 * weights, mask, positions. */
void demand_embed_norm(struct demands *k, nid n, int arg)
{
    struct shape ids = operand_shape(k->f, n, 0), table = operand_shape(k->f, n, 3);
    vid at = node_in(k->f->m, n, 8);
    (void)arg;
    if (ids.rank != 2)
        return;
    /* operands with as many columns as there are tokens */
    static const uint32_t as_long[] = {1, 7, 8};
    for (uint32_t i = 0; i < 3; i++) {
        struct shape s = operand_shape(k->f, n, as_long[i]);
        /* there may be one row of positions for all entries of the batch */
        if (s.rank == 2 && as_long[i] != 8)
            demand_same(k, &s, 0, &ids, 0);
        if (s.rank == 2)
            demand_same(k, &s, 1, &ids, 1);
    }
    if (table.rank == 2)
        demand(k, DEMAND_MOST, at != 0 ? reach_of(k, at) : ids.d[1], table.d[0]);
}
