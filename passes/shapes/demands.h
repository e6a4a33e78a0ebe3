/* What nodes demand of the sizes of their operands: that a dimension is equal to another one, or at most as large.
 *
 * A MatMul wants inner dimensions that are equal, an Add dimensions that can be broadcast, a Gather indices below
 * the size of the axis that it picks from.  Where such a demand has a name ("sequence" must be at most 77), the
 * sizes that are guessed for names must meet it, or the model does not run (size_guess.h). */
#ifndef PCC_PASSES_SHAPES_DEMANDS_H
#define PCC_PASSES_SHAPES_DEMANDS_H

#include "passes/shapes/infer.h"

#include "ir/base/map.h"

/* DEMAND_EQUAL: a = b.  DEMAND_MATCH: a and b are broadcast: equal, or one of them is 1.  DEMAND_MOST: a <= b. */
enum demand_kind { DEMAND_EQUAL, DEMAND_MATCH, DEMAND_MOST, DEMAND_KINDS };

struct demand {
    struct dim a, b; /* at least one of the two is no number */
    uint8_t kind;    /* enum demand_kind */
    nid n;           /* the first node with this demand, in infer.m */
};

/* Further demands are not noted: a model of a million layers with names of its own in each is not worth the time. */
enum { DEMANDS_MOST = 20000 };

/* The demands of all nodes, each once. */
struct demands {
    struct infer *f;   /* a finished run of inference in symbolic mode */
    struct demand *at; /* [n] the demands; those of the main graph come first */
    uint32_t n, cap;
    /* [kind] the demands noted so far: texts of both dimensions -> 1 */
    struct map seen[DEMAND_KINDS];
    /* [value] one more than the largest element of a tensor of integers, as far as it is known: {0, 0}: not looked up
     * yet; unknown: nothing is known */
    struct dim *reach;
    nid node; /* the node that is visited */
};

/* Returns the demands of all nodes of f->m, in f->mem; of fewer nodes if the clock runs out.  O(nodes + operands), and
 * one more visit of small constants. */
struct demands *demands_find(struct infer *f);

/* --- for the rules --- */

/* A rule notes the demands of node n.  arg: the number in the operator's row of the table (demands.c). */
typedef void demand_fn(struct demands *k, nid n, int arg);
/* Returns the reach of result 0 of node n (struct demands); unknown if it is not certain.  arg: as above. */
typedef struct dim reach_fn(struct demands *k, nid n, int arg);

/* Notes a demand; does nothing if a dimension is unknown, or if no size of a name changes whether it holds. */
void demand(struct demands *k, enum demand_kind kind, struct dim a, struct dim b);
/* Notes that the last dimensions of *a and *b, as many as both have, are broadcast. */
void demand_match(struct demands *k, const struct shape *a, const struct shape *b);
/* Notes that dimension i of *a and dimension j of *b, both counted from the end if negative, are equal. */
void demand_same(struct demands *k, const struct shape *a, int i, const struct shape *b, int j);
/* Returns the reach of value v (struct demands); unknown: nothing is known. */
struct dim reach_of(struct demands *k, vid v);

demand_fn demand_broadcast, demand_where, demand_expand, demand_matmul, demand_gemm, demand_rows,
    demand_concat, demand_reshape, demand_split, demand_squeeze, demand_gather,
    demand_gather_elements, demand_gather_nd, demand_scatter_nd, demand_topk, demand_einsum,
    demand_blocks, demand_slice; /* demand_rules.c */
demand_fn demand_window, demand_channels, demand_norm, demand_rnn, demand_nms, demand_regions,
    demand_loss, demand_lengths; /* demand_layers.c */
demand_fn demand_attention, demand_ms_attention, demand_multi_head, demand_group_query,
    demand_rotary, demand_embed_norm; /* demand_attention.c */
reach_fn reach_like, reach_range, reach_add, reach_sub, reach_mul, reach_div, reach_mod,
    reach_least, reach_larger, reach_sum, reach_index, reach_bool, reach_concat; /* index_reach.c */

#endif
