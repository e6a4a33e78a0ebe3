/* Sharding: one operator computed by several devices together, each with a piece of its operands and results.
 *
 * N devices hold a tensor in a state: whole (R: each device has all of it), cut along one axis (S), or in terms (P:
 * each device has a tensor of the same shape, and the tensor is their sum).  A cut is described by its run: position
 * p of the axis belongs to device (p / run) mod N.  A plain cut into N blocks has run = size / N, rounded up: the
 * last device may have less.  Three matrices q, k, v side by side, each of h columns, are cut with run = h / N: each
 * device gets its columns of each.  Split, Concat and Reshape of a cut axis leave such states as they are, and the
 * size of the axis may have names: it only has to be a multiple of N * run for all values of the names.
 *
 * An option of a node says in which states its operands are taken and its results made, if each device computes one
 * piece of the node.  Every node has the option that all devices compute the same, whole.  Unless sums are allowed,
 * no option makes terms, so each element is computed by one device, from the same elements in the same operator.
 *
 * rules.c, rules_compute.c, rules_move.c, rules_sums.c find the options; strands.c removes options that cannot pay;
 * prices.c has the times of options and exchanges; search.c chooses an option for each node; write.c and
 * write_exchanges.c rewrite the module. */
#ifndef PCC_PASSES_SHARD_SHARD_H
#define PCC_PASSES_SHARD_SHARD_H

#include "ir/base/clock.h"
#include "ir/base/map.h"
#include "ir/exec/evaluate.h"
#include "ir/plan/sharding.h"
#include "passes/cost/pricing.h"
#include "passes/shapes/infer.h"

enum {
    SHARD_WAYS = 64,     /* the most devices that share a node */
    SHARD_STATES = 12,   /* the most ways to cut one tensor that are looked at */
    SHARD_OPTIONS = 16,  /* the most options of a node */
    SHARD_OPERANDS = 64, /* nodes with more operands or results are left whole */
    SHARD_CHANGES = 2,   /* the most changes of an option */
    /* the longest chain of nodes that compute a constant of which there are pieces */
    SHARD_DEPTH = 16,
    SHARD_TERMS = -1 /* value of shard_state.run for a tensor in terms */
};

/* The time of an exchange that is impossible, ps: values that are whole cannot be had in terms. */
#define SHARD_NEVER INT64_MAX

/* A state of a tensor; all fields 0: the tensor is whole. */
struct shard_state {
    uint8_t axis; /* the axis that is cut */
    /* number of positions that one device has in a row; 0: the tensor is whole; SHARD_TERMS: it is in terms */
    int64_t run;
};

/* shard_is_cut(): whether a tensor in this state is cut; shard_is_terms(): whether each device has a term of it. */
static inline bool shard_is_cut(struct shard_state st)
{
    return st.run > 0;
}
static inline bool shard_is_terms(struct shard_state st)
{
    return st.run == SHARD_TERMS;
}

/* How a device's piece of a node differs from the node. */
struct shard_change {
    enum {
        SHARD_NOTHING,
        SHARD_ATTR, /* the integer attribute `attr` is divided by N */
        /* the list attribute `attr` is replaced by `value`, with some entries divided by N */
        SHARD_ATTR_LIST,
        /* operand `operand`, a list of sizes, is replaced by `value`, with some entries divided by N */
        SHARD_SIZES,
        SHARD_FIRST, /* only the first device has operand `operand`, which is optional */
        /* only the first device has the node; elsewhere its result is replaced by operand `operand` */
        SHARD_PASS,
        /* the node is replaced by a Sum of the terms of operand `operand` on all devices, and of the other operands */
        SHARD_ABSORB,
        SHARD_MEAN /* the result of a piece is divided by N */
    } kind;
    const char *attr; /* name of an attribute; NULL: the change is not about an attribute */
    uint32_t operand; /* number of an operand */
    uint64_t divide;  /* lists: bit j: entry j is divided by N */
    /* SHARD_SIZES: bit j: entry j, which may be 0 or -1 in the model, becomes value[j] */
    uint64_t fix;
    /* [entry] the entries of the list in the model; for entries in `fix`, what stands in their place */
    const int64_t *value;
    bool known; /* true: all entries are numbers that are known here */
};

/* A way to compute a node in pieces. */
struct shard_option {
    nid node;
    uint32_t next;           /* the node's next option; 0: none */
    struct shard_state *in;  /* [operand] state of each operand */
    struct shard_state *out; /* [result] state of each result; lies behind in[] */
    struct shard_change change[SHARD_CHANGES];
    /* the option's strand (strands.c): index in shard.item of the root of its items */
    uint32_t strand;
    int64_t time; /* ps that each device takes */
    bool gone;    /* true: shard_prune() or another step has removed the option */
};

/* The operands of node n and then its results, by one number: shard_nvalue() returns how many these are,
 * shard_value_at() the value with number i.  In an option its state is in[i], as out[] lies behind in[]. */
static inline uint32_t shard_nvalue(const struct module *m, nid n)
{
    return m->node[n].nformal + m->node[n].out.n;
}
static inline vid shard_value_at(const struct module *m, nid n, uint32_t i)
{
    const uint32_t nin = m->node[n].nformal;
    return i < nin ? node_in(m, n, i) : node_out(m, n, i - nin);
}

/* A state in which some option takes or makes a value. */
struct shard_item {
    vid v;
    struct shard_state s;
    uint32_t next; /* the value's next item; 0: none */
};

/* Times of the exchanges of a value, ps on each device. */
struct shard_moves {
    bool known; /* true: the other fields have been worked out */
    /* the bit of the value's state in terms; 0: no option has the value in terms */
    uint32_t terms;
    /* the bit of the value's first cut into one block for each device; 0: there is no such cut */
    uint32_t plain;
    /* bits of the value's cuts into equal pieces, one block for each device */
    uint32_t even;
    int64_t turn;          /* ps: to bring the value directly from one cut in `even` to another */
    int64_t gather, slice; /* ps: to join the pieces of the value; to cut the whole value */
    /* ps of adding up terms: to the whole tensor on all devices (sum), to a piece on each device (scatter) */
    int64_t sum, scatter;
};

/* Numbers of rounds of hops until all devices have sent to all others.  same: each device sends one value to all;
 * apart: each device sends a different value to each. */
struct shard_rounds {
    uint32_t same, apart;
};

/* What nodes take beside their times. */
struct shard_extra {
    /* ps by which adding a bias takes longer where the product is exchanged first: one kernel cannot do both then */
    int64_t apart;
    int64_t weighed; /* ps by which shard_weigh() has made the whole node dearer */
};

/* All that is known of a module that is to be shared by `ways` devices. */
struct shard {
    struct ctx *x;
    struct module *m;
    struct arena *a;
    struct infer *f; /* types of values, as proven for all sizes */
    uint32_t ways;
    struct shard_rounds rounds;
    /* [ndev] the devices: first the `ways` that share nodes, then others to which nodes are pinned */
    uint32_t *dev;
    uint32_t ndev;
    /* [node] index in dev of the device that runs the node; only for SHARD_ONCE nodes */
    uint32_t *home;
    uint8_t *pinned; /* [node] 1: the user has pinned it */
    uint32_t *hits;  /* [--pin] number of nodes that the pattern matches */
    uint32_t cls;    /* class of the devices that share nodes */
    struct place *place;
    /* [value] for an input that holds state, and for the output from which its next value comes: the state in which
     * the devices keep it; whole: one device keeps it */
    struct shard_state *kept;
    uint8_t *must; /* [node] 1: the node reads or makes a state in pieces, so it must be cut */
    struct pricing *price;
    enum sharding_sums sums; /* which tensors may be in terms */
    /* [value] 1: a node that quantises reads it, directly or by way of others, so it must not be made as a sum of
     * terms: other last bits could become a whole step */
    uint8_t *quantised;
    struct shard_moves *moves; /* [value] times of the value's exchanges */
    struct shard_extra *extra; /* [node] */
    uint8_t *kind;             /* [node] enum shard_kind */
    struct shard_option *opt;  /* [nopt] the options; option 0 is not used */
    uint32_t nopt, capopt;
    uint32_t *first_opt;     /* [node] the node's first option; 0: it has none */
    struct shard_item *item; /* [nitem] the states; item 0 is not used */
    uint32_t nitem, capitem;
    bool capped;          /* options or states were left out, since there were too many */
    uint32_t *first_item; /* [value] the value's first item; 0: it has none */
};

/* What becomes of a node. */
enum shard_kind {
    SHARD_DEAD, /* it is removed: no output needs it */
    /* it stays as it is, and each part has its own copy: it is computed from weights, or sizes of inputs, alone */
    SHARD_SHARED,
    SHARD_CONSTANT, /* as SHARD_SHARED, but computed from weights alone */
    /* it stays as it is, on one device (shard.home), and its results are sent to the other devices */
    SHARD_ONCE,
    SHARD_NODE /* all devices compute it, whole or in pieces */
};

/* Whether each part that needs node n has its own copy of it, which takes no time: a constant, or arithmetic of sizes,
 * even of sizes of values that devices compute (then n is a SHARD_NODE without options). */
static inline bool shard_is_copied(const struct shard *s, nid n)
{
    return s->place->kind[n] == PLACE_COPY;
}

/* A question to a rule and its answer: if this operand or result of node n has the given state, which states do all
 * operands and results have? */
struct shard_ask {
    struct shard *s;
    nid n;
    bool result; /* true: `at` is the number of a result; false: of an operand */
    uint32_t at;
    struct shard_state given; /* the state of that operand or result */
    /* the answer; all states are whole when the rule begins */
    struct shard_state in[SHARD_OPERANDS], out[SHARD_OPERANDS];
    struct shard_change change[SHARD_CHANGES];
};

struct shard_row;
/* Fills the answer in *q.  Returns false if there is no option with the given state.  The caller drops an answer that
 * has another state than the given one, or a state that a tensor cannot have (is_valid() in rules.c), so rules need not
 * look. */
typedef bool shard_rule(struct shard_ask *q, const struct shard_row *r);
struct shard_row {
    const char *op;
    shard_rule *rule;
    int arg; /* a parameter of the rule; each rule has its own meaning for it */
};

/* ---- shard.c ---- */

/* Makes *s, without sums and without the options of nodes, for the given number of devices of class cls - 1; cls 0: of
 * the class that has most equal devices.  Returns 0, or -1 and reports an error. */
int shard_begin(struct shard *s, struct ctx *x, uint32_t ways, uint32_t cls);

/* ---- pins.c ---- */

/* Applies --pin: a node that a pattern matches stays whole on one device (kind, home and pinned of *s).  Returns 0, or
 * -1 and reports an error. */
int shard_pin(struct shard *s);
/* Warns of pins that match no node. */
void shard_warn_pins(const struct shard *s);
/* Returns the ps that node n takes if it is whole; 0 for a node of which each part has its own copy. */
int64_t shard_whole_time(const struct shard *s, nid n);
/* Writes the pinned nodes and their devices to k->pin. */
void shard_list_pins(const struct shard *s, struct sharding *k);

/* Returns the index in s->dev of device dev; if it is not in the list yet, adds it at the end, behind the devices that
 * share nodes. */
uint32_t shard_home(struct shard *s, uint32_t dev);

/* ---- self.c ---- */

/* Returns the number of pieces in the first cut of the file's sharding specs; 0: they cut no tensor. */
int64_t shard_self_ways(const struct module *m);
/* Gives a home to each node that is on one device by the file's sharding specs, unless the node is pinned.  Returns 0,
 * or -1 and reports an error. */
int shard_self_homes(struct shard *s);
/* Removes the options that do not agree with the specs.  Sets fixed[node] to 1 for nodes that must be cut.  Returns
 * 0, or -1 and reports an error. */
int shard_self_fix(struct shard *s, uint8_t *fixed);

/* ---- rules.c ---- */

/* Returns the row of node n's operator in the table of rules; NULL: it has none, or n is a call or draws random
 * numbers, so the node is left whole. */
const struct shard_row *shard_row_of(const struct module *m, nid n);
/* Finds the options of all nodes. */
void shard_find_options(struct shard *s);
/* Fills option[node] with option number `number`, from 0, of each node, beginning again with the first one if the node
 * has fewer.  In this way tests try all options. */
void shard_take_number(const struct shard *s, uint32_t number, uint32_t *option);
/* Returns the tensor of v if v is a weight, an initializer or the result of a Constant; else 0. */
tid shard_weight(const struct module *m, vid v);
/* Whether v is an initializer, or the result of a SHARD_CONSTANT node, so that all devices may have it in any state for
 * nothing. */
bool shard_is_constant(const struct shard *s, vid v);
/* Returns the bit of state st of value v in sets of states: 0 for whole; 1, 2, ... in the order of the value's
 * items; -1: no option has the value in that state. */
int shard_bit(const struct shard *s, vid v, struct shard_state st);
/* Returns the state of value v whose bit, as by shard_bit(), is `bit`. */
struct shard_state shard_state_of(const struct shard *s, vid v, uint32_t bit);
/* Whether v can be in state st, which is not whole: it can be cut so for all values of names, and its pieces can be
 * joined again; or, if st is terms, it may be in terms (shard_can_sum). */
bool shard_can_cut(const struct shard *s, vid v, struct shard_state st);
/* Whether two states are equal. */
bool shard_same(struct shard_state a, struct shard_state b);
/* Whether the last piece of v in state st is smaller than the other pieces. */
bool shard_is_uneven(const struct shard *s, vid v, struct shard_state st);
/* Whether an axis of that size can be cut into one block of `run` positions for each device, of which only the last
 * block is smaller, but not by much. */
bool shard_cuts_unevenly(uint32_t ways, struct dim size, int64_t run);
/* Writes the shape of what device i has of v in state st to *out: its piece, or the whole tensor if st is no cut. */
void shard_piece(const struct shard *s, vid v, struct shard_state st, uint32_t i,
                 struct shape *out);
/* Returns the number of blocks that each piece of v has: 1 for a plain cut; -1: it depends on names, or v has no axis
 * st.axis of known size. */
int64_t shard_blocks(const struct shard *s, vid v, struct shard_state st);

/* ---- functions for rules ---- */

/* These write to *out the shape of operand i (shard_in_shape), or of result i (shard_out_shape).  They return false if
 * the number of its axes is not known. */
bool shard_in_shape(const struct shard_ask *q, uint32_t i, struct shape *out);
bool shard_out_shape(const struct shard_ask *q, uint32_t i, struct shape *out);
/* These set the state of operand i, or of result i, to a cut along `axis` with the run of the given state. */
void shard_set_in(struct shard_ask *q, uint32_t i, int axis);
void shard_set_out(struct shard_ask *q, uint32_t i, int axis);
/* Sets the states of all results that are not omitted to a cut along `axis` with the run of the given state. */
void shard_set_all_out(struct shard_ask *q, int axis);
/* Whether a dimension is the number 1. */
static inline bool shard_is_one(struct dim d)
{
    return d.value == 1;
}

shard_rule rule_shard_each, rule_shard_along, rule_shard_norm, rule_shard_reduce, rule_shard_matmul,
    rule_shard_gemm, rule_shard_channels; /* rules_compute.c */
shard_rule rule_shard_transpose, rule_shard_reshape, rule_shard_split, rule_shard_concat,
    rule_shard_slice, rule_shard_gather, rule_shard_expand; /* rules_move.c */

/* Values of struct shard_row.arg for rules that several operators share; the tables beside the rules say what each
 * value means. */
/* arg of rule_shard_axes(): the operators whose fixed axes axes_text[] (rules_axes.c) lists */
enum shard_axes {
    SHARD_AXES_FIRST,
    SHARD_AXES_CHANNELS,
    SHARD_AXES_ENDS,
    SHARD_AXES_INSTANCE,
    SHARD_AXES_ACROSS,
    SHARD_AXES_GRID,
    SHARD_AXES_REGIONS,
    SHARD_AXES_REGION_POOL,
    SHARD_AXES_DEFORM,
    SHARD_AXES_CACHE,
    SHARD_AXES_GATES,
    SHARD_AXES_GATES_CELL,
    SHARD_AXES_EMBED
};
/* arg of rule_shard_apart(): the axes along which the operator combines elements */
enum shard_apart {
    SHARD_APART_LAST, /* the axis in attribute `axis`, by default the last one */
    /* the axis in attribute `axis`, by default the first one */
    SHARD_APART_FIRST,
    SHARD_APART_OPERAND, /* the axis in operand 1 */
    SHARD_APART_LIST,    /* the axes in attribute `axes` */
    SHARD_APART_ROWS     /* the last two axes */
};
/* arg of rule_shard_product(): the kind of product, an index of product_text[] (rules_quant.c), which says what each
 * operand is */
enum shard_product {
    SHARD_PRODUCT_INTEGER,
    SHARD_PRODUCT_QLINEAR,
    SHARD_PRODUCT_FLOAT,
    SHARD_PRODUCT_DYNAMIC,
    SHARD_PRODUCT_GEMM,
    SHARD_PRODUCT_FUSED
};
/* arg of rule_shard_convolve(): the kind of convolution, an index of conv_text[] (rules_vision.c) */
enum shard_conv {
    SHARD_CONV_PLAIN,
    SHARD_CONV_TURNED,
    SHARD_CONV_INTEGER,
    SHARD_CONV_QLINEAR,
    SHARD_CONV_FUSED
};
/* arg of rule_shard_attention(): the kind of attention, an index of forms[] (rules_attention.c) */
enum shard_attention {
    SHARD_HEADS_ONNX,
    SHARD_HEADS_MULTI,
    SHARD_HEADS_GROUPED,
    SHARD_HEADS_PACKED,
    SHARD_HEADS_QUANTISED,
    SHARD_HEADS_ROTARY,
    SHARD_HEADS_ROTARY_MS
};
shard_rule rule_shard_axes, rule_shard_apart, rule_shard_arg, rule_shard_reverse,
    rule_shard_skip_norm, rule_shard_einsum; /* rules_axes.c */
shard_rule rule_shard_quantize, rule_shard_qlinear, rule_shard_product,
    rule_shard_packed; /* rules_quant.c */
shard_rule rule_shard_convolve, rule_shard_group_norm, rule_shard_pad, rule_shard_resize,
    rule_shard_depth; /* rules_vision.c */
shard_rule rule_shard_tile, rule_shard_one_hot, rule_shard_gather_elements,
    rule_shard_scatter_elements, rule_shard_gather_nd, rule_shard_scatter_nd; /* rules_pick.c */
shard_rule rule_shard_attention; /* rules_attention.c */

/* Fills value and known of *c from the list that *c changes, which is an attribute or an operand.  Returns false if
 * nothing is known of the list.  (This function and the next one are in rules_pick.c.) */
bool shard_list_change(const struct shard_ask *q, struct shard_change *c);
/* Whether entry j of the list in operand `operand` is the size d for all values of names. */
bool shard_same_size(const struct shard_ask *q, uint32_t operand, int j, struct dim d);
/* ---- rules_sums.c ---- */

/* Returns the first of the rows about terms for the operator of node n, which follow each other; *count: their
 * number. NULL: there are none. */
const struct shard_row *shard_sum_rows(const struct module *m, nid n, uint32_t *count);
/* Makes and fills s->quantised. */
void shard_find_quantised(struct shard *s);
/* Whether v may be in terms: sums are allowed for its type, it is no constant, and, if it is floats, no node rounds
 * what is computed from it to steps later. */
bool shard_can_sum(const struct shard *s, vid v);
/* Whether tensors of element type e are added up two at a time, by Adds: a Sum takes only floats, and before opset 8
 * only equal shapes. */
bool shard_adds_pairs(const struct shard *s, enum elem e);
/* Writes to *axes, as bits, the axes along which reduction q->n of a tensor of rank `rank` works.  Returns false if
 * they are not known. */
bool shard_reduced_axes(const struct shard_ask *q, int rank, uint32_t *axes);

/* ---- strands.c ---- */

/* Returns the option by which the maker of constant v, which a node computes, makes it in state st, which is not whole;
 * 0: it cannot. */
uint32_t shard_constant_option(const struct shard *s, vid v, struct shard_state st);
/* Removes options that take a constant in a state in which its maker cannot make it, or can do so only behind
 * SHARD_DEPTH other nodes that compute constants. */
void shard_drop_impossible(struct shard *s);
/* Chooses how the devices keep the inputs and outputs that hold state; `whole`: none is kept in pieces.  Sets
 * shard.kept, shard.must, and SHARD_ONCE and home for the nodes that read or make a state that stays whole.  Removes
 * the options with other states of what is kept, and all options of SHARD_ONCE nodes. */
void shard_keep_states(struct shard *s, bool whole);
/* Removes options that cannot pay, and options whose strand another strand contains; some best choice is always
 * kept. */
void shard_prune(struct shard *s);

/* ---- prices.c ---- */

struct shard_choice;
/* Fills s->rounds from the settings of the step. */
void shard_count_rounds(struct shard *s);

/* Returns the ps, on each device, of bringing v to the state with bit `want` from one of the states `have` (a set of
 * bits); 0 if v is in that state already; SHARD_NEVER: that is impossible.  Adds to *also, as bits, the states that v
 * has afterwards beside `have`: `want`, and the states on the way to it. */
int64_t shard_exchange(const struct shard *s, vid v, uint32_t have, uint32_t want, uint32_t *also);
/* Returns the bit of the state from which the last step of shard_exchange() makes v.  Devices have v in that state
 * already (`have`), or an exchange must make it first. */
uint32_t shard_source(const struct shard *s, vid v, uint32_t have, uint32_t want);
/* Returns the times of v's exchanges, which are worked out at first use. */
const struct shard_moves *shard_moves_of(const struct shard *s, vid v);
/* Returns the ps that the first device takes to send v, which no other device has, to all others. */
int64_t shard_send(const struct shard *s, vid v);
/* Sets shard_option.time of all options, and shard_extra.apart of the nodes that devices may share. */
void shard_price(struct shard *s);
/* Makes nodes and options dearer, so that the search finds a choice for which devices hold fewer bytes: by `ps` for
 * each `of` bytes of the constants that a device holds for a node. */
void shard_weigh(struct shard *s, int64_t ps, int64_t of);
/* Returns by how many ps choice c is dearer than it was before shard_weigh(), which had the same arguments. */
int64_t shard_dearer(const struct shard *s, const struct shard_choice *c, int64_t ps, int64_t of);

/* ---- search.c ---- */

/* The result of the search. */
struct shard_choice {
    uint32_t *option; /* [node] the chosen option, an index of shard.opt; 0: the node is whole */
    int64_t value;    /* ps of the model: computing and exchanges, one after the other */
    int64_t floor;    /* ps: the sum of the least times of all nodes */
    int64_t least;    /* ps: no choice has a smaller value; -1: no such time is known */
    bool exact;       /* true: it is proven that no choice has a smaller value */
    uint32_t widest;  /* number of entries of the largest table */
};
/* Returns the best choice that the search finds among the options not removed; only choices that take at most `beat` ps
 * count.  Its value is -1 if there is none.  The clock ends the search with the best choice so far, and its listener
 * hears the progress; NULL: nothing does. */
struct shard_choice shard_search(struct shard *s, int64_t beat, struct clock *clock);
/* Does what shard_search() does, with tables of at most `entries` entries. */
struct shard_choice shard_search_within(struct shard *s, uint32_t entries, int64_t beat,
                                        struct clock *clock);
/* Returns a choice drawn at random, without value and floor, for tests that try odd choices. */
struct shard_choice shard_draw(struct shard *s, uint64_t seed);

/* ---- fits.c ---- */

/* Evaluates the plan that has the whole model on the first device. */
struct evaluation shard_evaluate_whole(const struct shard *s);
/* Returns how many bytes of memory a device lacks for choice c, as far as that can be told before the rewriting; 0: the
 * choice seems to fit. */
int64_t shard_lacks(const struct shard *s, const struct shard_choice *c);
/* Whether shard_lacks() is 0. */
bool shard_seems_to_fit(const struct shard *s, const struct shard_choice *c);

/* ---- write.c ---- */

/* An exchange of a tensor on the devices: its pieces are joined, the whole tensor is cut, its terms are added up, or it
 * is brought from one cut to another (SHARD_TURNED). */
struct shard_exchanged {
    /* number, before the rewriting, of the node that needs the exchange; 0: the end of the model needs it */
    nid at;
    int64_t bytes; /* bytes of the whole tensor */
    enum shard_how { SHARD_JOINED, SHARD_CUT, SHARD_ADDED, SHARD_TURNED } how;
};

/* Figures about a rewriting. */
struct shard_written {
    /* numbers of nodes: cut; whole on all devices; on one device; after the rewriting */
    uint32_t cut, whole, once, made;
    /* numbers of exchanges: tensors joined on the devices (joined), cut (sliced), brought from one cut to another
     * (turned) */
    struct sharded_exchanges joined, sliced, turned;
    struct sharded_sums sums;
    /* [npair] the pairs of states that devices keep in pieces, in x->use.mem */
    struct sharded_pair *pair;
    uint32_t npair;
    struct shard_exchanged *exchange; /* [nexchange] the exchanges */
    struct sharded_weight *weight;    /* [nweight] the weights that are divided, in x->use.mem */
    uint32_t nexchange, capexchange, nweight, capweight;
};
/* Rewrites the module by the choice, and sets module.device_ann to the device on which each node runs. */
struct shard_written shard_write(struct shard *s, const struct shard_choice *c);

/* ---- figures.c ---- */

/* What shard_figures_end() must know of the module as it was before the rewriting. */
struct shard_figures {
    const uint32_t *layer; /* [node] the layer of the node; 0: none */
    uint32_t nlayer;
};
/* Notes in *k what is reported of the module before the rewriting by choice c.  Returns what shard_figures_end() needs
 * of it. */
struct shard_figures shard_figures_begin(const struct shard *s, const struct shard_choice *c,
                                         struct sharding *k);
/* Notes in *k what is reported of the rewriting w: the exchanges of layers, and the weights that are divided. */
void shard_figures_end(const struct shard *s, const struct shard_figures *f,
                       const struct shard_written *w, struct sharding *k);

#endif
