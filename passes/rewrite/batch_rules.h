/* Rules that follow the batch through a model: from its axis in a node's operands to its axis in the node's
 * results.
 *
 * The pass split-batch (split_batch.c) makes N copies of a model; copy i gets block i of N equal blocks of each input
 * along the input's batch axis.  The state of a value says how the value in a copy differs from the value in the
 * model.  A rule finds the states of a node's results from the states of its operands, or says why the node must see
 * all samples together.  A rule must be right on its own: the operator, run on operands in these states, gives
 * results in those states, for all sizes.  The table in batch_rules.c has one row for each operator: its rule, a
 * number and a text for the rule. */
#ifndef PCC_PASSES_REWRITE_BATCH_RULES_H
#define PCC_PASSES_REWRITE_BATCH_RULES_H

#include "passes/shapes/infer.h"

/* How a value in copy i of N differs from the value in the model. */
enum batch_how {
    BATCH_WHOLE, /* equal: the value does not depend on the batch */
    BATCH_CUT,   /* it is block i of N equal blocks along an axis */
    /* The value's shape is cut like the shape of a CUT value.  An element is p * stride + c: p is the element's
     * position along the axis, counted from 0 in each copy; 0 <= c < extent <= stride. */
    BATCH_NUMBERS,
    /* The value's shape is cut like the shape of a CUT value.  The vectors along its last axis are indices: their
     * first component is the position along the cut axis, counted from 0 in each copy; the other components are as
     * in the model or cut. */
    BATCH_INDEX,
    /* the value's shape is cut like the shape of a CUT value; nothing is known of the elements */
    BATCH_SHAPE,
    /* a list of up to 64 integers: some are 1/N of the integer in the model, the others equal it */
    BATCH_SIZES
};

/* The state of a value. */
struct batch {
    uint8_t how;               /* enum batch_how */
    uint8_t axis;              /* CUT, NUMBERS, INDEX, SHAPE: the axis that is cut */
    nid from;                  /* NUMBERS, INDEX, SHAPE: the Range that numbers the samples */
    uint64_t scaled;           /* SIZES: bit j: element j is 1/N of the element in the model */
    struct dim stride, extent; /* NUMBERS: the numbers of that name at BATCH_NUMBERS */
};

/* A change of an operand: the copies of a node read something else than their own copy of the value. */
struct batch_change {
    nid node;
    enum {
        CHANGE_CUT, /* the value is WHOLE; copy i reads block i of N equal blocks along axis `at` */
        CHANGE_ENTRY /* the value is a list of constant integers; entry `at` is divided by N */
    } kind;
    uint32_t operand; /* number of the operand */
    uint32_t at;      /* CHANGE_CUT: axis; CHANGE_ENTRY: index of the entry */
};

/* State of following the batch through the main graph of a module. */
struct batch_search {
    struct module *m;
    struct infer *f; /* types of values, and elements of small integer tensors where known */
    struct arena *a;
    int64_t ways;                /* N */
    struct dim size;             /* size of the batch in the model */
    struct batch *of;            /* [value] state of the value */
    struct batch_change *change; /* [nchange] the changes so far, ascending by node */
    uint32_t nchange, capchange;

    nid n; /* the node whose rule runs */
    /* bit i < 64: the rule has looked at operand i of n; rules for operators with more operands look at all operands */
    uint64_t seen;
    uint64_t set; /* bit i < 64: the rule has set the state of result i of n */
};

struct batch_rule;
/* A rule: sets the states of the results of node x->n.  r: the row of its operator.  Returns NULL; or a text, the
 * reason why the node must see all samples together. */
typedef const char *batch_fn(struct batch_search *x, const struct batch_rule *r);

/* A row of the table. */
struct batch_rule {
    const char *op; /* operator */
    batch_fn *fn;
    int arg; /* a number whose meaning the comment of the rule `fn` says */
    /* For the rule by_axes(): a character for each operand, ':', and a character for each result; each says where
     * the batch is.  A digit: at that axis; a WHOLE operand is cut there (batch_cut).  '-': the operand is WHOLE, as
     * are operands without a character.  'b': as '0', but a WHOLE operand with size 1 there stays.  'm': as 'b' if
     * the operand has four axes, else '-'. 'c': as 'b' if the operand has three axes, else '-'.  'k': as 'b'; a
     * vector must have as many entries as operand 0 has samples. 'r': as '0' if the operand has two axes or more,
     * else '-'.  '!': the result must not be used.  '+': all further operands or results are like the one before.
     * For the rule refuse(): the reason.  For other rules: see their comments. */
    const char *text;
};

/* Returns the row of an operator; NULL: there is none.  O(log rows). */
const struct batch_rule *batch_rule_of(const char *domain, const char *op);
/* Whether node x->n draws random numbers; r: the row of its operator. */
bool batch_draws(struct batch_search *x, const struct batch_rule *r);

/* ---- functions for rules (batch_states.c), about operands and results of node x->n ---- */

/* Returns the state of operand i, WHOLE if the operand is omitted, and notes that the rule has looked at it. */
struct batch batch_in(struct batch_search *x, uint32_t i);
/* Returns the name of operand i. */
const char *batch_name_in(const struct batch_search *x, uint32_t i);
/* Writes the shape of operand i to *s and returns its rank; -1: unknown. */
int batch_shape(const struct batch_search *x, uint32_t i, struct shape *s);
/* Notes that the rule has looked at operand i: a state other than WHOLE is then no reason to refuse the node. */
void batch_see(struct batch_search *x, uint32_t i);
/* Sets the state of result i to s. */
void batch_set(struct batch_search *x, uint32_t i, struct batch s);
/* Returns s with another axis. */
struct batch batch_at(struct batch s, int axis);
/* Returns the state of a result that is computed from the elements of an operand in state s: CUT stays CUT, all other
 * states become SHAPE. */
struct batch batch_computed(struct batch s);
/* Whether s has an axis that is cut: CUT, NUMBERS, INDEX or SHAPE. */
bool batch_has_axis(struct batch s);
/* Return NULL if operand i is WHOLE (batch_want_whole), or CUT (batch_want_cut); else a text that says what it is
 * instead. */
const char *batch_want_whole(struct batch_search *x, uint32_t i);
const char *batch_want_cut(struct batch_search *x, uint32_t i);
/* Returns NULL if operand i and all later operands are WHOLE; else a text that says what the first operand that is
 * not WHOLE is instead. */
const char *batch_want_whole_from(struct batch_search *x, uint32_t i);
/* Notes that each copy shall read a block of operand i, which is WHOLE, along an axis.  Returns NULL; or the reason why
 * there are no N equal blocks. */
const char *batch_cut(struct batch_search *x, uint32_t i, int axis);
/* Returns the number of the only bit that is set in `bits`, such as batch_list.scaled; -1: no bit or several are. */
int batch_only_bit(uint64_t bits);
/* Whether N divides the size d whenever N divides the size of the batch. */
bool batch_divides(const struct batch_search *x, struct dim d);
/* Notes that each copy shall read operand i, constant integers, with entry `at` divided by N.  Returns NULL; or the
 * reason why that is not possible. */
const char *batch_divide_entry(struct batch_search *x, uint32_t i, uint32_t at);
/* Writes to *out the state of a result for which `count` operands are broadcast as ONNX does: operands k[0 .. count),
 * or 0 .. count - 1 if k is NULL.  Returns NULL; or the reason why samples would mix. */
const char *batch_broadcast(struct batch_search *x, const uint32_t *k, uint32_t count,
                            struct batch *out);
/* Returns the value of the integer attribute `attr` as an axis in 0 .. rank - 1; -1: out of range.  absent: its value
 * if the node does not have it. */
int batch_axis(const struct batch_search *x, const char *attr, int64_t absent, int rank);
/* Returns a text, printed as by printf, in x->a. */
const char *batch_say(struct batch_search *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A list of integers that an operand holds (in old opsets an attribute), as far as it is known. */
struct batch_list {
    int n;                  /* length; -1: not known */
    uint64_t scaled;        /* bit j: entry j is 1/N of the entry in the model */
    const struct nums *num; /* the entries in the model; NULL: none is known */
};
/* Returns the list in the attribute `attr` if the node has it (NULL: no attribute), else in operand i. */
struct batch_list batch_list_of(struct batch_search *x, const char *attr, uint32_t i);
/* Whether entry j is known to be v in the model and in all copies. */
bool batch_entry_is(const struct batch_list *k, int j, int64_t v);
/* Writes to *axes, as bits, the axes of a tensor of rank `rank` that the attribute "axes" or else operand i lists; no
 * bits and *absent = true if neither is given or the list is empty.  Returns false if the axes are not known. */
bool batch_axes(struct batch_search *x, uint32_t i, int rank, uint32_t *axes, bool *absent);

/* ---- rules that move elements (batch_moves.c), and that compute sizes (batch_sizes.c) ---- */

batch_fn rule_batch_concat, rule_batch_split, rule_batch_slice, rule_batch_gather,
    rule_batch_gather_elements, rule_batch_gather_nd, rule_batch_scatter_elements,
    rule_batch_scatter_nd, rule_batch_transpose, rule_batch_reshape, rule_batch_flatten,
    rule_batch_squeeze, rule_batch_unsqueeze, rule_batch_expand, rule_batch_tile, rule_batch_pad,
    rule_batch_resize, rule_batch_one_hot;
batch_fn rule_batch_shape, rule_batch_size, rule_batch_constant_of_shape, rule_batch_range,
    rule_batch_affine_grid;

/* Rules for nodes with operands in the state SIZES: they set the state of result 0 and return NULL, or return the
 * reason why an element would be neither 1/N of the element in the model nor equal to it. */
const char *sizes_elementwise(struct batch_search *x);
const char *sizes_where(struct batch_search *x);
const char *sizes_concat(struct batch_search *x);
const char *sizes_slice(struct batch_search *x);
const char *sizes_gather(struct batch_search *x);
const char *sizes_product(struct batch_search *x);
/* As the functions above, for operators that return all elements of operand 0 in their order. */
const char *sizes_same(struct batch_search *x);
/* Returns the state of result 0 of an elementwise operator.  s: the state by batch_broadcast(), SHAPE.  If the node
 * computes the product or sum of operands in the states NUMBERS and WHOLE, and stride and extent are known, returns
 * NUMBERS; else s. */
struct batch numbers_elementwise(struct batch_search *x, struct batch s);

#endif
