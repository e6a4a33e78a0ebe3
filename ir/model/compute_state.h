/* Declarations shared by the files that implement compute.h; private to ir/model/compute*.c. */
#ifndef PCC_IR_MODEL_COMPUTE_STATE_H
#define PCC_IR_MODEL_COMPUTE_STATE_H

#include "ir/model/compute.h"

/* A function that computes the results c->out of an operator.  It returns false, or sets c->failed, if it cannot.
 * arg: the argument in the operator's row of the table (compute.c). */
typedef bool compute_fn(struct computation *c, int arg);

/* A list of integers, from an attribute or an operand. */
struct list {
    const int64_t *at; /* [n] the integers */
    uint32_t n;
    bool given; /* false: the attribute or operand is absent */
};

/* Maps positions of a walk (struct box) to elements of a tensor: position p is element at + sum of p[i] * step[i]. */
struct view {
    int64_t at, step[2 * COMPUTE_RANK]; /* counted in elements */
};

/* A walk over all positions in dim[rank] (rank >= 1).  At each position it visits one element of the tensor that is
 * written (`to`) and one element of the tensor that is read (`from`). */
struct box {
    uint32_t rank;
    int64_t dim[2 * COMPUTE_RANK];
    struct view to, from;
};

/* ---- attributes and operands.  These functions set c->failed if one is missing, malformed or not known ---- */

/* Return the attribute `name`: take_int() as an integer (`absent` if there is none), take_ints() as
 * a list of integers, take_attr() as it is (NULL if there is none).  Set c->failed if the attribute
 * has another kind than the function returns (take_attr(): than `kind`), or if it stands for an
 * attribute of a call, so that its value is not known. */
int64_t take_int(struct computation *c, const char *name, int64_t absent);
struct list take_ints(struct computation *c, const char *name);
const struct attr *take_attr(struct computation *c, const char *name, enum attr_kind kind);
/* Returns operand i, whose elements need not be known.  NULL, with c->failed set: it is omitted. */
struct known *take_operand(struct computation *c, uint32_t i);
/* Returns operand i with its elements in `data`, which are read from its tensor if they are not there; sets
 * c->partial if some elements are unknown.  NULL, with c->failed set: the operand is omitted or its elements cannot
 * be had. */
struct known *take_elements(struct computation *c, uint32_t i);
/* Reads tensor t of the module into *k.  Returns false if that is not possible. */
bool take_tensor(struct computation *c, tid t, struct known *k);
/* Returns operand i, an integer scalar or vector, as a list; its `given` is false if the operand is omitted.  Sets
 * c->failed if an element is unknown. */
struct list take_list(struct computation *c, uint32_t i);
/* Returns a list of integers that is the attribute `name` before opset `since` and operand i from that opset on.  Sets
 * c->failed if operand i is given before that opset. */
struct list take_either(struct computation *c, const char *name, uint32_t i, int64_t since);
/* Returns the axis of a tensor of `rank` dimensions as a number from 0 on; a negative axis counts from the end.  Sets
 * c->failed if there is no such axis. */
uint32_t take_axis(struct computation *c, int64_t axis, uint32_t rank);
/* Returns a list of axes as a set of bits: bit i for axis i.  An axis that is listed twice sets c->failed. */
uint32_t take_axes(struct computation *c, struct list axes, uint32_t rank);

/* ---- results ---- */

/* Gives result i a type, a shape and zeroed elements, and returns it; if c->partial, all its elements are marked as
 * unknown.  NULL, with c->failed set: the result is too large, or its size is not known. */
struct known *compute_make(struct computation *c, uint32_t i, enum elem elem, uint32_t rank,
                           const int64_t *dim);
/* Does the same for an intermediate result, which is no result of the operator. */
struct known *make_intermediate(struct computation *c, enum elem elem, uint32_t rank,
                                const int64_t *dim);
/* Makes result 0 from x, with the same elements in the shape dim[rank].  Returns false if that shape has another
 * number of elements or is too large. */
bool make_reshaped(struct computation *c, const struct known *x, uint32_t rank, const int64_t *dim);
/* Returns x broadcast to the shape dim[rank], or x itself if it has that shape.  NULL: the result would be too
 * large. */
struct known *broadcast_to(struct computation *c, struct known *x, uint32_t rank,
                           const int64_t *dim);
/* Replaces the shape dim[*rank] by the shape to which it and the shape of x broadcast; dim has memory for
 * COMPUTE_RANK sizes.  Sets c->failed if the two do not fit together. */
void broadcast_shape(struct computation *c, const struct known *x, uint32_t *rank, int64_t *dim);

/* ---- elements ---- */

/* Returns the bytes of one element; 0: less than a byte, or a string. */
static inline uint32_t size_of(enum elem e)
{
    return elem_bits(e) / 8;
}

/* Whether element i of k, whose data are there, is known. */
static inline bool is_known(const struct known *k, int64_t i)
{
    return k->mask == NULL || k->mask[i] != 0;
}

/* Writes to step[i] how many elements apart neighbours along dimension i are, in a dense tensor of shape dim[rank]. */
void set_steps(const int64_t *dim, uint32_t rank, int64_t *step);
/* Returns a walk over `rows` rows of n adjacent elements.  Rows begin `to` elements apart in the tensor that is
 * written and `from` elements apart in the tensor that is read. */
struct box rows_box(int64_t rows, int64_t n, int64_t to, int64_t from);
/* Copies the elements along the walk b, and their marks as known or unknown. */
void copy_box(struct known *to, const struct known *from, const struct box *b);

/* ---- operators ---- */

/* compute_move.c: shapes, constants, and operators that only move elements */
compute_fn compute_shape, compute_size, compute_identity, compute_reshape, compute_flatten,
    compute_squeeze, compute_unsqueeze, compute_transpose, compute_expand, compute_tile,
    compute_slice, compute_concat, compute_split, compute_constant, compute_constant_of_shape;
/* compute_pick.c: operators that select elements by index or condition */
compute_fn compute_gather, compute_scatter_nd, compute_where;
/* compute_math.c: element-wise operators, reductions, ranges */
compute_fn compute_elementwise, compute_reduce, compute_range;
/* compute_cast.c */
compute_fn compute_cast;

/* The operation that compute_elementwise() and compute_reduce() apply to two elements, or to one: their `arg`.  The
 * order matters: comparisons of these numbers tell kinds of operations apart. */
enum math {
    MATH_ADD,
    MATH_SUB,
    MATH_MUL,
    MATH_DIV,
    MATH_MOD,
    MATH_MIN,
    MATH_MAX,
    MATH_POW,
    MATH_EQUAL, /* EQUAL .. NOT return bools */
    MATH_LESS,
    MATH_GREATER,
    MATH_LESS_EQUAL,
    MATH_GREATER_EQUAL,
    MATH_AND, /* AND .. NOT take bools */
    MATH_OR,
    MATH_XOR,
    MATH_NOT, /* NOT .. RECIPROCAL take one operand */
    MATH_NEG,
    MATH_ABS,
    MATH_SIGN,
    MATH_FLOOR, /* FLOOR .. RECIPROCAL take floats */
    MATH_CEIL,
    MATH_ROUND,
    MATH_SQRT,
    MATH_RECIPROCAL
};

/* How pcc computes with numbers of a type; FORM_NONE: not at all. */
enum form { FORM_NONE, FORM_SIGNED, FORM_UNSIGNED, FORM_BOOL, FORM_FLOAT };
/* A number in the widest type of its form. */
union number {
    int64_t i;  /* FORM_SIGNED */
    uint64_t u; /* FORM_UNSIGNED; FORM_BOOL: 0 or 1 */
    double d;   /* FORM_FLOAT */
};

/* Returns the form of an element type; FORM_NONE also for f16 and bf16. */
enum form form_of(enum elem e);
/* Writes element i of k to *x.  Returns false if it is not known, NaN, a bool other than 0 and 1, or has no form. */
bool get_number(const struct known *k, int64_t i, union number *x);
/* Does the same as get_number(), also for f16 and bf16 (as FORM_FLOAT), and writes the form of the number to *f. */
bool get_any(const struct known *k, int64_t i, enum form *f, union number *x);
/* Sets element i of k to the lowest bits of `bits`; if not `good`, marks the element as unknown instead. */
void put_bits(struct computation *c, struct known *k, int64_t i, bool good, uint64_t bits);
/* Sets element i of k to the number x, in the form of k's type; if not `good`, or if x does not fit the type, marks
 * the element as unknown. */
void put_number(struct computation *c, struct known *k, int64_t i, bool good, union number x);

#endif
