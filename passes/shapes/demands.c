/* Notes the demands of nodes (demands.h): has the sweep over all nodes, and the table of operators.
 *
 * After a run of inference in symbolic mode every node is visited once, graphs before the bodies in them.  The rule
 * of its operator compares dimensions of its operands; demands of equal dimensions, and of two numbers, are
 * dropped.  Other demands are noted once for each pair of texts, since layers that repeat demand the same.  Each
 * node also hands on how far the elements of small integers reach (index_reach.c), for the operators that pick by
 * index. */
#include "passes/shapes/demands.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <stdlib.h>

/* A row of a table: what an operator demands of its operands, and how far the elements of its result reach. */
struct demand_rule {
    const char *op;
    demand_fn *demand; /* NULL: the operator demands nothing */
    reach_fn *reach;   /* NULL: how far elements of its result reach is not known */
    int arg;           /* passed to both functions */
};

/* Operators of ai.onnx, sorted (bytewise). */
static const struct demand_rule onnx_rule[] = {
    {"Add", demand_broadcast, reach_add, 0},
    {"And", demand_broadcast, reach_bool, 0},
    {"ArgMax", NULL, reach_index, 0},
    {"ArgMin", NULL, reach_index, 0},
    {"Attention", demand_attention, NULL, 0},
    {"AveragePool", demand_window, NULL, 0},
    {"BatchNormalization", demand_channels, NULL, 0},
    {"BitwiseAnd", demand_broadcast, NULL, 0},
    {"BitwiseOr", demand_broadcast, NULL, 0},
    {"BitwiseXor", demand_broadcast, NULL, 0},
    {"Cast", NULL, reach_like, 0},
    {"Clip", NULL, reach_like, 0},
    {"Concat", demand_concat, reach_concat, 1},
    {"Conv", demand_window, NULL, 1},
    {"ConvInteger", demand_window, NULL, 1},
    {"CumSum", NULL, reach_sum, 0},
    {"DepthToSpace", demand_blocks, NULL, 0},
    {"Div", demand_broadcast, reach_div, 0},
    {"Einsum", demand_einsum, NULL, 0},
    {"Equal", demand_broadcast, reach_bool, 0},
    {"Expand", demand_expand, reach_like, 0},
    {"Flatten", NULL, reach_like, 0},
    {"GRU", demand_rnn, NULL, 0},
    {"Gather", demand_gather, reach_like, 0},
    {"GatherElements", demand_gather_elements, reach_like, 0},
    {"GatherND", demand_gather_nd, reach_like, 0},
    {"Gemm", demand_gemm, NULL, 1},
    {"Greater", demand_broadcast, reach_bool, 0},
    {"GreaterOrEqual", demand_broadcast, reach_bool, 0},
    {"Identity", NULL, reach_like, 0},
    {"InstanceNormalization", demand_channels, NULL, 0},
    {"LSTM", demand_rnn, NULL, 0},
    {"LayerNormalization", demand_norm, NULL, 0},
    {"Less", demand_broadcast, reach_bool, 0},
    {"LessOrEqual", demand_broadcast, reach_bool, 0},
    {"LpPool", demand_window, NULL, 0},
    {"MatMul", demand_matmul, NULL, MATMUL_PLAIN},
    {"MatMulInteger", demand_matmul, NULL, MATMUL_INTEGER},
    {"Max", demand_broadcast, reach_larger, 0},
    {"MaxPool", demand_window, NULL, 0},
    {"Mean", demand_broadcast, NULL, 0},
    {"Min", demand_broadcast, reach_least, 0},
    {"Mod", demand_broadcast, reach_mod, 0},
    {"Mul", demand_broadcast, reach_mul, 0},
    {"NegativeLogLikelihoodLoss", demand_loss, NULL, 0},
    {"NonMaxSuppression", demand_nms, NULL, 0},
    {"Not", NULL, reach_bool, 0},
    {"Or", demand_broadcast, reach_bool, 0},
    {"PRelu", demand_broadcast, NULL, 0},
    {"Pow", demand_broadcast, NULL, 0},
    {"QLinearConv", demand_window, NULL, 3},
    {"QLinearMatMul", demand_matmul, NULL, MATMUL_QLINEAR},
    {"RMSNormalization", demand_norm, NULL, 0},
    {"RNN", demand_rnn, NULL, 0},
    {"Range", NULL, reach_range, 0},
    {"ReduceMax", NULL, reach_like, 0},
    {"ReduceMin", NULL, reach_like, 0},
    {"ReduceSum", NULL, reach_sum, 1},
    {"Reshape", demand_reshape, reach_like, 0},
    {"ReverseSequence", demand_lengths, NULL, 0},
    {"RoiAlign", demand_regions, NULL, 0},
    {"RotaryEmbedding", demand_rotary, NULL, 3},
    {"ScatterElements", demand_gather_elements, NULL, 0},
    {"ScatterND", demand_scatter_nd, NULL, 0},
    {"SimplifiedLayerNormalization", demand_norm, NULL, 0},
    {"Slice", demand_slice, reach_like, 0},
    {"SoftmaxCrossEntropyLoss", demand_loss, NULL, 0},
    {"SpaceToDepth", demand_blocks, NULL, 1},
    {"Split", demand_split, reach_like, 0},
    {"Squeeze", demand_squeeze, reach_like, 0},
    {"Sub", demand_broadcast, reach_sub, 0},
    {"Sum", demand_broadcast, NULL, 0},
    {"Tile", NULL, reach_like, 0},
    {"TopK", demand_topk, NULL, 0},
    {"Transpose", NULL, reach_like, 0},
    {"Trilu", NULL, reach_like, 0},
    {"Unsqueeze", NULL, reach_like, 0},
    {"Where", demand_where, reach_larger, 1},
    {"Xor", demand_broadcast, reach_bool, 0},
};

/* Operators of com.microsoft, sorted. */
static const struct demand_rule ms_rule[] = {
    {"Attention", demand_ms_attention, NULL, 3},
    {"BiasGelu", demand_broadcast, NULL, 0},
    {"DecoderMaskedMultiHeadAttention", demand_multi_head, NULL, 1},
    {"DecoderMaskedSelfAttention", demand_ms_attention, NULL, 3},
    {"DynamicQuantizeMatMul", demand_matmul, NULL, MATMUL_PLAIN},
    {"EmbedLayerNormalization", demand_embed_norm, NULL, 0},
    {"FusedConv", demand_window, NULL, 1},
    {"FusedGemm", demand_gemm, NULL, 1},
    {"FusedMatMul", demand_matmul, NULL, MATMUL_PLAIN},
    {"GatherBlockQuantized", demand_gather, NULL, 1},
    {"GroupQueryAttention", demand_group_query, NULL, 0},
    {"MatMulBnb4", demand_rows, NULL, 0},
    {"MatMulIntegerToFloat", demand_matmul, NULL, MATMUL_TO_FLOAT},
    {"MatMulNBits", demand_rows, NULL, 0},
    {"MultiHeadAttention", demand_multi_head, NULL, 0},
    {"QAttention", demand_ms_attention, NULL, 5},
    {"QGemm", demand_gemm, NULL, 3},
    {"QLinearAdd", demand_broadcast, NULL, RULE_QLINEAR},
    {"QLinearConcat", demand_concat, NULL, 3},
    {"QLinearMul", demand_broadcast, NULL, RULE_QLINEAR},
    {"RotaryEmbedding", demand_rotary, NULL, 1},
    {"SkipLayerNormalization", demand_norm, NULL, 0},
    {"SkipSimplifiedLayerNormalization", demand_norm, NULL, 0},
};

/* --- noting --- */

/* Returns the id of the text of a known dimension. */
static sid text_of(const struct demands *k, struct dim d)
{
    return d.sym != 0 ? d.sym : str_id(k->f->m, dim_text(k->f->m, d, k->f->mem));
}

void demand(struct demands *k, enum demand_kind kind, struct dim a, struct dim b)
{
    bool numbers = a.sym == 0 && b.sym == 0;
    bool one = kind == DEMAND_MATCH && (a.value == 1 || b.value == 1);
    if (!dim_known(a) || !dim_known(b) || numbers || one || dim_same(a, b))
        return;
    /* b is Min(a, c), which is a if c is not less */
    if (kind != DEMAND_MOST && dim_is_min_of(k->f->m, b, a)) {
        demand(k, DEMAND_MOST, a, b);
        return;
    }
    if (kind != DEMAND_MOST && dim_is_min_of(k->f->m, a, b)) {
        demand(k, DEMAND_MOST, b, a);
        return;
    }
    /* only one side of a MATCH is compared with 1, so moving terms across would change the demand */
    if (kind != DEMAND_MATCH)
        dim_balance(k->f->m, &a, &b);
    if (a.sym == 0 && b.sym == 0)
        return;
    uint64_t key = map_key(text_of(k, a), text_of(k, b));
    if (k->n == DEMANDS_MOST || map_get(&k->seen[kind], key) != 0)
        return;
    map_set(&k->seen[kind], k->f->mem, key, 1);
    k->at = vec_grow(k->f->mem, k->at, &k->cap, k->n + 1, sizeof *k->at);
    k->at[k->n++] = (struct demand){a, b, (uint8_t)kind, k->node};
}

void demand_match(struct demands *k, const struct shape *a, const struct shape *b)
{
    assert(a->rank <= SHAPE_RANK && b->rank <= SHAPE_RANK);
    for (int i = 1; i <= a->rank && i <= b->rank; i++)
        demand(k, DEMAND_MATCH, a->d[a->rank - i], b->d[b->rank - i]);
}

void demand_same(struct demands *k, const struct shape *a, int i, const struct shape *b, int j)
{
    demand(k, DEMAND_EQUAL, shape_dim(a, i), shape_dim(b, j));
}

/* --- the sweep --- */

/* Returns the row of an operator in a table of n rows; NULL: it has none. */
static const struct demand_rule *row_of(const char *op, const struct demand_rule *table, size_t n)
{
    return bsearch(&op, table, n, sizeof *table, str_order);
}

/* Rows that were found, by operator: [sid] its row; NULL: it has none, or was not looked up yet. */
struct rule_rows {
    const struct demand_rule **onnx, **ms;
};

/* Returns the rows of all operators of m.  microsoft: the domain com.microsoft. */
static struct rule_rows find_rows(const struct module *m, sid microsoft, struct arena *mem)
{
    sid most = 0;
    for (nid n = 1; n < m->nnode; n++)
        most = larger_u32(m->node[n].op, most);
    struct rule_rows r = {arena_array(mem, (size_t)most + 1, sizeof *r.onnx),
                          arena_array(mem, (size_t)most + 1, sizeof *r.ms)};
    uint8_t *seen = arena_array(mem, (size_t)most + 1, 1);
    for (nid n = 1; n < m->nnode; n++) {
        sid op = m->node[n].op;
        uint8_t bit = m->node[n].domain == 0 ? 1 : m->node[n].domain == microsoft ? 2 : 0;
        if (bit == 0 || (seen[op] & bit) != 0)
            continue;
        seen[op] |= bit;
        if (bit == 1)
            r.onnx[op] = row_of(module_str(m, op), onnx_rule, sizeof onnx_rule / sizeof *onnx_rule);
        else
            r.ms[op] = row_of(module_str(m, op), ms_rule, sizeof ms_rule / sizeof *ms_rule);
    }
    return r;
}

struct demands *demands_find(struct infer *f)
{
    const struct module *m = f->m;
    struct demands *k = arena_alloc(f->mem, sizeof *k);
    sid microsoft = str_id(f->m, "com.microsoft");
    struct rule_rows rows = find_rows(m, microsoft, f->mem);
    gid *order = graphs_outer_first(m, f->mem);
    k->f = f;
    k->reach = arena_array(f->mem, m->nval, sizeof *k->reach);
    for (uint32_t i = 0; i + 1 < m->ngraph; i++) {
        const struct graph *g = &m->graph[order[i]];
        for (nid n = g->first; n < g->first + g->count && !diag_stopped(m->diag); n++) {
            const struct node *x = &m->node[n];
            const struct demand_rule *r = x->domain == 0           ? rows.onnx[x->op]
                                          : x->domain == microsoft ? rows.ms[x->op]
                                                                   : NULL;
            if (r == NULL || (x->flags & (NODE_CALL | NODE_LOST)) != 0)
                continue;
            k->node = n;
            infer_at(f, n);
            if (r->demand != NULL)
                r->demand(k, n, r->arg);
            vid out = node_out(m, n, 0);
            if (r->reach != NULL && out != 0 && nums_of(f, out) == NULL)
                k->reach[out] = r->reach(k, n, r->arg);
        }
    }
    return k;
}
