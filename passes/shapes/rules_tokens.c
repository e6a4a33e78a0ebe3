/* Shape inference: rules of com.microsoft's operators for decoders with sparse attention, linear attention and n-gram
 * tables.  Tokens are (batch, length), or packed: one axis with all sequences, of any length, one after the other; then
 * an operand lists where each sequence starts and where the last one ends.  The formulas are those of the operator
 * documents of ONNX Runtime.  O(operands * rank) for each node. */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

/* Returns an integer attribute as a dimension; unknown if it is absent or negative. */
static struct dim attr_dim(const struct infer *f, nid n, const char *name)
{
    return dim_num(node_attr_int(f->m, n, name, -1));
}

/* Sets the type of result i of node n: element type e, dimensions d[rank]. */
static void set_result(struct infer *f, nid n, uint32_t i, enum elem e, int rank,
                       const struct dim *d)
{
    assert(rank >= 0 && rank <= SHAPE_RANK);
    struct shape s = {.elem = (uint8_t)e, .rank = rank};
    memcpy(s.d, d, (size_t)rank * sizeof *d);
    shape_set(f, n, i, &s);
}

/* Returns the number of sequences.  Operand i lists where each sequence starts, and then where the last one ends. */
static struct dim sequences(const struct infer *f, nid n, uint32_t i)
{
    struct shape starts = operand_shape(f, n, i);
    return dim_shift(f->m, shape_dim(&starts, 0), -1);
}

/* Rule for NGramHashMapping: result 0 has a hash for each token and head, result 1 the last tokens of each
 * sequence.  arg 1: VarlenNGramHashMapping, where tokens are packed. */
void rule_ngram_hash(struct infer *f, nid n, int arg)
{
    struct shape ids = operand_shape(f, n, 0);
    enum elem e = elem_in(f, n, 0);
    struct dim past = dim_shift(f->m, attr_dim(f, n, "max_ngram_size"), -1);
    struct dim heads = dim_mul(f->m, past, attr_dim(f, n, "n_head_per_ngram"));
    struct dim batch = arg == 1 ? sequences(f, n, 3) : shape_dim(&ids, 0);
    const struct dim hash[] = {shape_dim(&ids, 0), arg == 1 ? heads : shape_dim(&ids, 1), heads},
                     present[] = {batch, past},
                     update[] = {batch, attr_dim(f, n, "state_update_capacity"), past};
    set_result(f, n, 0, e, arg == 1 ? 2 : 3, hash);
    set_result(f, n, 1, e, 2, present);
    if (arg == 1) {
        set_result(f, n, 2, ELEM_I32, 2, present);
        set_result(f, n, 3, e, 3, update);
    }
}

/* Rule for VarlenCausalConvWithState: result 0, the output, has the shape of operand 0; result 1, the new state, has
 * the shape of the old state in operand 4; result 2 has updates of the state. */
void rule_varlen_conv(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), state = operand_shape(f, n, 4);
    (void)arg;
    const struct dim update[] = {shape_dim(&state, 0), attr_dim(f, n, "state_update_capacity"),
                                 shape_dim(&in, 1)};
    shape_set(f, n, 0, &in);
    shape_set(f, n, 1, &state);
    set_result(f, n, 2, (enum elem)in.elem, 3, update);
}

/* Rule for GatedDeltaNet.  Queries, keys and values are operands (tokens..., heads, size), or stand side by side in
 * operand 0.  Results: the output; the new state (batch, heads, value size, key size); updates of the state. */
void rule_gated_delta(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), k = operand_shape(f, n, 1), v = operand_shape(f, n, 2),
                 state, out;
    struct module *m = f->m;
    (void)arg;
    bool given = shape_in(f, n, 6, &state) && state.rank == 4, packed = node_in(m, n, 2) == 0;
    struct dim heads = given ? state.d[1] : shape_dim(&v, -2);
    struct dim value = given ? state.d[2] : shape_dim(&v, -1);
    struct dim key = given ? state.d[3] : shape_dim(&q, -1);
    struct dim values = dim_mul(m, heads, value);
    struct dim key_heads = shape_dim(&k, -2);
    /* packed: the last axis has queries and keys, of key_heads * key elements each, and the values */
    if (packed)
        key_heads = dim_div(m, dim_sub(m, shape_dim(&q, -1), values), dim_mul(m, dim_num(2), key));
    out = packed ? q : v;
    out.elem = q.elem;
    if (packed && q.rank > 0 && q.rank < SHAPE_RANK) {
        out.d[out.rank - 1] = heads;
        out.d[out.rank++] = value;
    }
    shape_set(f, n, 0, &out);
    struct dim batch = given ? state.d[0] : sequences(f, n, 3);
    struct dim each = dim_add(m, heads, dim_add(m, dim_mul(m, key_heads, key), values));
    const struct dim last[] = {batch, heads, value, key},
                     update[] = {batch, dim_mul(m, attr_dim(f, n, "state_update_capacity"), each)};
    set_result(f, n, 1, ELEM_F32, 4, last);
    set_result(f, n, 2, ELEM_F32, 2, update);
}

/* Rule for HyperConnectionPreMix: mixes several streams to one.  They stand on the last axis but one, which is
 * dropped; with attribute num_branches, side by side on the last axis. */
void rule_pre_mix(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int64_t branches = node_attr_int(f->m, n, "num_branches", 0);
    (void)arg;
    if (branches > 0 && s.rank > 0) {
        s.d[s.rank - 1] = dim_div(f->m, s.d[s.rank - 1], dim_num(branches));
    } else if (s.rank > 1) {
        s.d[s.rank - 2] = s.d[s.rank - 1];
        s.rank--;
    } else {
        s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}

/* --- indexers: operators that select the keys which a sparse attention reads --- */

/* Whether indexer n selects single tokens; else it selects entries, into which tokens are compressed. */
static bool selects_tokens(const struct infer *f, nid n)
{
    return strcmp(node_attr_str(f->m, n, "policy_mode", ""), "qsa") == 0;
}

/* Returns how many tokens or entries indexer n selects for each query, at most: the size of its result.  An indexer
 * of tokens selects whole blocks of compress_ratio tokens, token_budget tokens in all, and the tokens after the last
 * whole block. */
static struct dim most_selected(struct infer *f, nid n)
{
    if (!selects_tokens(f, n))
        return attr_dim(f, n, "index_topk");
    struct dim all =
        dim_add(f->m, attr_dim(f, n, "token_budget"), attr_dim(f, n, "compress_ratio"));
    return dim_shift(f->m, all, -1);
}

/* Counts compressed entries: `ratio` tokens make an entry, together with the `ratio` tokens of the entry before,
 * which are kept for this.  waiting: number of tokens kept so far (if it is at least `ratio`, the first `ratio` of
 * them belong to the last entry); fresh: number of new tokens.  Writes the number of new entries to *made and the
 * number of tokens kept after that to *left; both are unknown if a number is. */
static void count_compressed(int64_t ratio, int64_t waiting, int64_t fresh, struct dim *made,
                             struct dim *left)
{
    *made = *left = dim_unknown();
    if (ratio < 1 || waiting < 0 || fresh < 0 || waiting > INT32_MAX || fresh > INT64_MAX / 2)
        return;
    int64_t before = waiting >= ratio ? ratio : 0;
    int64_t open = waiting - before + fresh;
    *made = dim_num(open / ratio);
    *left = dim_num(open % ratio + (open >= ratio ? ratio : before));
}

/* Rule for SparseAttentionIndexer.  Results: the selected keys of each query; the cache of keys; the tokens kept for
 * the next entry.  The cache grows by the new entries, but keeps its size if operand 12, which says how full it is,
 * is given. */
void rule_indexer(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), past = operand_shape(f, n, 7),
                 waiting = operand_shape(f, n, 13);
    (void)arg;
    const struct dim selected[] = {shape_dim(&q, 0), shape_dim(&q, 1), most_selected(f, n)};
    set_result(f, n, 0, ELEM_I32, 3, selected);
    /* made: number of new entries; each token makes an entry, unless tokens are compressed */
    struct dim made = shape_dim(&q, 1), left = dim_unknown();
    if (!selects_tokens(f, n))
        count_compressed(node_attr_int(f->m, n, "compress_ratio", -1), shape_dim(&waiting, 2).value,
                         shape_dim(&q, 1).value, &made, &left);
    if (node_in(f->m, n, 12) == 0 && past.rank == 3)
        past.d[1] = dim_add(f->m, past.d[1], made);
    shape_set(f, n, 1, &past);
    if (waiting.rank == 4)
        waiting.d[2] = left;
    shape_set(f, n, 2, &waiting);
}

/* Rule for PackedSparseAttentionIndexer.  Results: the selected keys of each query; a number for each query; four
 * results with the shapes of operands 12 to 15; updates of a cache. */
void rule_packed_indexer(struct infer *f, nid n, int arg)
{
    struct shape q = operand_shape(f, n, 0), keys = operand_shape(f, n, 12);
    (void)arg;
    const struct dim selected[] = {shape_dim(&q, 0), most_selected(f, n)},
                     update[] = {shape_dim(&keys, 0), attr_dim(f, n, "state_update_capacity"),
                                 shape_dim(&keys, 2)};
    set_result(f, n, 0, ELEM_I32, 2, selected);
    set_result(f, n, 1, ELEM_I32, 1, selected);
    for (uint32_t i = 2; i < 6; i++)
        shape_set_like(f, n, i, node_in(f->m, n, 10 + i), ELEM_NONE);
    set_result(f, n, 6, (enum elem)q.elem, 3, update);
}
