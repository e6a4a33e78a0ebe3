/* Where the batch is in the operands of a node, and where it is then in its results.
 *
 * A model is to be run N times, each time on one of N equal blocks of its inputs along their batch axis
 * (split_batch.c). What a value is in such a copy of the model, beside what it is in the model, is its state; a
 * rule finds the states of a node's results from those of its operands, or says why the node must see all samples
 * together.  Each rule stands for itself: run on operands in their states, the same operator gives results in
 * theirs, whatever the sizes.  One row of the table (batch_rules.c) says what there is for an operator: the rule, a
 * number for it, the axes of operands and results where these are all there is to say. */
#ifndef PCC_PASSES_REWRITE_BATCH_RULES_H
#define PCC_PASSES_REWRITE_BATCH_RULES_H

#include "passes/shapes/infer.h"

/* A value in copy i of N, beside what it is in the model. */
enum batch_how {
    BATCH_WHOLE, /* the same: it does not depend on the batch */
    BATCH_CUT,   /* the i-th of N equal blocks along an axis */
    /* as CUT in its shape, but each element is its position along the axis times a stride, plus something from 0 to
     * less than `extent`, which is at most the stride; each copy counts positions from 0 */
    BATCH_NUMBERS,
    /* as CUT in its shape: vectors along the last axis whose first element is such a position, with stride 1; the
     * others are as in CUT */
    BATCH_INDEX,
    BATCH_SHAPE, /* as CUT in its shape; nothing is known of the elements */
    BATCH_SIZES /* up to 64 integers: some are 1/N of what they are in the model, the others the same */
};

struct batch {
    uint8_t how;               /* enum batch_how */
    uint8_t axis;              /* CUT, NUMBERS, INDEX, SHAPE */
    nid from;                  /* NUMBERS, INDEX, SHAPE: the node that counts samples */
    uint64_t scaled;           /* SIZES: bit j: element j is 1/N */
    struct dim stride, extent; /* NUMBERS */
};

/* How an operand changes in the copies of a node, where it is no share of what the node reads. */
struct batch_change {
    nid node;
    enum {
        CHANGE_CUT,  /* it is WHOLE: each copy reads the i-th of N equal blocks along axis `at` */
        CHANGE_ENTRY /* constant integers: entry `at` is divided by N */
    } kind;
    uint32_t operand, at;
};

/* The search for the batch in a module's main graph. */
struct batch_search {
    struct module *m;
    struct infer *f; /* types and values of small integer tensors, as far as they are known */
    struct arena *a;
    int64_t ways;
    struct dim size;             /* of the batch */
    struct batch *of;            /* [value] */
    struct batch_change *change; /* ascending by node */
    uint32_t nchange, capchange;

    nid n; /* the node at hand */
    uint64_t
        seen; /* bit i: its rule has looked at operand i; only such as take any number have more than 64 */
    uint64_t set; /* bit i: the rule has set result i; 64 results as for `seen` */
};

struct batch_rule;
/* NULL: the results of the node at hand have their states; else why it must see all samples together. */
typedef const char *batch_fn(struct batch_search *x, const struct batch_rule *r);

/* A row of the table. */
struct batch_rule {
    const char *op;
    batch_fn *fn;
    int arg; /* what tells operators with the same rule apart */
    /* rule_axes: the axis of the batch in each operand, and behind ':' in each result; operands behind the last one are
     * WHOLE.  A digit: that axis; '-': WHOLE; 'b': axis 0, or WHOLE with size 1 there; 'm': of a mask that is broadcast
     * to four axes, the first of them; 'c': 'b' for three axes, else WHOLE; 'k': axis 0, of as many rows as operand 0;
     * 'r': axis 0 of several; '!' (of a result): it must not be used; '+': all further ones are like the one before.
     * Others: as their rules say.
     * rule_refuse: the reason. */
    const char *text;
};

/* The row of an operator; NULL: there is none.  O(log rows). */
const struct batch_rule *batch_rule_of(const char *domain, const char *op);
/* Whether the node at hand, which has that row, draws random numbers. */
bool batch_draws(struct batch_search *x, const struct batch_rule *r);

/* ---- what rules are written with (batch_states.c) ---- */

/* The state of operand i, WHOLE if it is omitted; noted as looked at. */
struct batch batch_in(struct batch_search *x, uint32_t i);
const char *batch_name_in(const struct batch_search *x, uint32_t i);
/* Writes the shape of operand i to *s; returns its rank, -1: unknown. */
int batch_shape(const struct batch_search *x, uint32_t i, struct shape *s);
/* Notes that operand i (all) is looked at, whatever its state. */
void batch_see(struct batch_search *x, uint32_t i);
/* The state of result i; copies `s`. */
void batch_set(struct batch_search *x, uint32_t i, struct batch s);
/* `s` with the batch at another axis. */
struct batch batch_at(struct batch s, int axis);
/* `s` for a result whose elements are computed: CUT stays, of what counts samples only the shape is left. */
struct batch batch_computed(struct batch s);
/* Whether a state says which axis is cut: CUT, NUMBERS, INDEX, SHAPE. */
bool batch_has_axis(struct batch s);
/* NULL, or why operand i is not WHOLE (CUT). */
const char *batch_want_whole(struct batch_search *x, uint32_t i);
const char *batch_want_cut(struct batch_search *x, uint32_t i);
/* All operands from i on are WHOLE. */
const char *batch_want_whole_from(struct batch_search *x, uint32_t i);
/* Operand i, which is WHOLE, is wanted in blocks along an axis: NULL, or why that cannot be. */
const char *batch_cut(struct batch_search *x, uint32_t i, int axis);
/* Whether a size divides by the ways whenever the batch does. */
bool batch_divides(const struct batch_search *x, struct dim d);
/* Entry `at` of the constant integers of operand i is divided by the ways: NULL, or why not. */
const char *batch_divide_entry(struct batch_search *x, uint32_t i, uint32_t at);
/* Broadcasts the operands k[0 .. count), or 0 .. count) if k is NULL, as ONNX does: *out is the state of the result. */
const char *batch_broadcast(struct batch_search *x, const uint32_t *k, uint32_t count,
                            struct batch *out);
/* An axis attribute as an axis of a tensor of that rank; -1: there is none. */
int batch_axis(const struct batch_search *x, const char *attr, int64_t absent, int rank);
const char *batch_say(struct batch_search *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Integers that an operand lists (or an attribute, in old opsets): what is known of each. */
struct batch_list {
    int n; /* -1: not known how many */
    uint64_t scaled;
    const struct nums *num; /* NULL: no number is known */
};
struct batch_list batch_list_of(struct batch_search *x, const char *attr, uint32_t i);
/* Whether entry j is that number. */
bool batch_entry_is(const struct batch_list *k, int j, int64_t v);
/* Axes from an attribute or operand i as bits; false: they are not known.  Absent: none of them, *absent is true. */
bool batch_axes(struct batch_search *x, uint32_t i, int rank, uint32_t *axes, bool *absent);

/* ---- rules that move elements (batch_moves.c), and that compute sizes (batch_sizes.c) ---- */

batch_fn rule_batch_concat, rule_batch_split, rule_batch_slice, rule_batch_gather,
    rule_batch_gather_elements, rule_batch_gather_nd, rule_batch_scatter_elements,
    rule_batch_scatter_nd, rule_batch_transpose, rule_batch_reshape, rule_batch_flatten,
    rule_batch_squeeze, rule_batch_unsqueeze, rule_batch_expand, rule_batch_tile, rule_batch_pad,
    rule_batch_resize, rule_batch_one_hot;
batch_fn rule_batch_shape, rule_batch_size, rule_batch_constant_of_shape, rule_batch_range,
    rule_batch_affine_grid;

/* The same operators on SIZES: the state of result 0. */
const char *sizes_elementwise(struct batch_search *x);
const char *sizes_where(struct batch_search *x);
const char *sizes_concat(struct batch_search *x);
const char *sizes_slice(struct batch_search *x);
const char *sizes_gather(struct batch_search *x);
const char *sizes_product(struct batch_search *x);
/* Rule of operators that keep all elements in order. */
const char *sizes_same(struct batch_search *x);
/* The state of a product or sum of NUMBERS and something WHOLE: NUMBERS, where stride and extent can be told, else
 * SHAPE. `s` is the state of its shape. */
struct batch numbers_elementwise(struct batch_search *x, struct batch s);

#endif
