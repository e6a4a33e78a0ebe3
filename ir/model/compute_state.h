/* What the files of compute.h share; private to ir/model/compute*.c. */
#ifndef PCC_IR_MODEL_COMPUTE_STATE_H
#define PCC_IR_MODEL_COMPUTE_STATE_H

#include "ir/model/compute.h"

/* Computes the results of an operator; false: it cannot.  arg: of the operator's row. */
typedef bool compute_fn(struct computation *c, int arg);

/* A list of integers, from an attribute or an operand. */
struct list {
    const int64_t *at;
    uint32_t n;
    bool given;
};

/* Where the elements of a tensor lie on a walk: at + sum of position[i] * step[i]. */
struct view {
    int64_t at, step[2 * COMPUTE_RANK];
};

/* A walk over all positions in dim[rank], rank >= 1, through two tensors at once. */
struct box {
    uint32_t rank;
    int64_t dim[2 * COMPUTE_RANK];
    struct view to, from;
};

/* ---- attributes and operands: what is wrong with them makes the computation fail ---- */

int64_t take_int(struct computation *c, const char *name, int64_t absent);
struct list take_ints(struct computation *c, const char *name);
const struct attr *take_attr(struct computation *c, const char *name, enum attr_kind kind);
/* Operand i, of which at least the shape is known; NULL: it is omitted. */
struct known *compute_take(struct computation *c, uint32_t i);
/* The same with its elements at hand; NULL: they are not. */
struct known *take_elements(struct computation *c, uint32_t i);
/* What tensor t of the module holds. */
bool take_tensor(struct computation *c, tid t, struct known *k);
/* Operand i as a list of integers, all of them known; not given: it is omitted. */
struct list take_list(struct computation *c, uint32_t i);
/* Integers that are an attribute before opset `since`, and operand i from `since` on. */
struct list take_either(struct computation *c, const char *name, uint32_t i, int64_t since);
/* An axis of that many dimensions, counted from the end if negative, as a number from 0 on. */
uint32_t take_axis(struct computation *c, int64_t axis, uint32_t rank);
/* The axes of a list as a set of bits; one that stands there twice is wrong. */
uint32_t take_axes(struct computation *c, struct list axes, uint32_t rank);

/* ---- results ---- */

/* Result i with its elements still 0, and if the computation is partial none of them known; NULL: it is too large. */
struct known *compute_make(struct computation *c, uint32_t i, enum elem elem, uint32_t rank,
                           const int64_t *dim);
/* The same for a step on the way. */
struct known *make_between(struct computation *c, enum elem elem, uint32_t rank,
                           const int64_t *dim);
/* Result 0 is operand x in another shape of as many elements. */
bool make_reshaped(struct computation *c, const struct known *x, uint32_t rank, const int64_t *dim);
/* x broadcast to a shape; x itself if it has this shape already; NULL: the result would be too large. */
struct known *compute_spread(struct computation *c, struct known *x, uint32_t rank,
                             const int64_t *dim);
/* Makes dim[*rank] what it and the shape of x broadcast to. */
void compute_broadcast(struct computation *c, const struct known *x, uint32_t *rank, int64_t *dim);

/* ---- elements ---- */

static inline uint32_t size_of(enum elem e)
{
    return elem_bits(e) / 8;
}

static inline bool is_known(const struct known *k, int64_t i)
{
    return k->mask == NULL || k->mask[i] != 0;
}

/* step[rank] of a tensor of that shape, whose elements lie one after the other. */
void set_steps(const int64_t *dim, uint32_t rank, int64_t *step);
/* A walk over n elements of each of some rows, which are `to` and `from` elements apart. */
struct box rows_box(int64_t rows, int64_t n, int64_t to, int64_t from);
/* Copies elements, and whether they are known. */
void copy_box(struct known *to, const struct known *from, const struct box *b);

/* ---- operators ---- */

/* compute_move.c: shapes, constants, and what moves elements */
compute_fn compute_shape, compute_size, compute_identity, compute_reshape, compute_flatten,
    compute_squeeze, compute_unsqueeze, compute_transpose, compute_expand, compute_tile,
    compute_slice, compute_concat, compute_split, compute_constant, compute_constant_of_shape;
/* compute_pick.c: elements by index or condition */
compute_fn compute_gather, compute_scatter_nd, compute_where;
/* compute_math.c: what works element by element, reductions, ranges */
compute_fn compute_elementwise, compute_reduce, compute_range;
/* compute_cast.c */
compute_fn compute_cast;

/* What compute_elementwise() and compute_reduce() do with two elements, or with one. */
enum math {
    MATH_ADD,
    MATH_SUB,
    MATH_MUL,
    MATH_DIV,
    MATH_MOD,
    MATH_MIN,
    MATH_MAX,
    MATH_POW,
    MATH_EQUAL, /* from here on the result is a bool */
    MATH_LESS,
    MATH_GREATER,
    MATH_LESS_EQUAL,
    MATH_GREATER_EQUAL,
    MATH_AND, /* from here on the operands are bools */
    MATH_OR,
    MATH_XOR,
    MATH_NOT, /* from here on there is one operand */
    MATH_NEG,
    MATH_ABS,
    MATH_SIGN,
    MATH_FLOOR, /* from here on it is a float */
    MATH_CEIL,
    MATH_ROUND,
    MATH_SQRT,
    MATH_RECIPROCAL
};

/* A number in the widest form of its kind. */
enum form { FORM_NONE, FORM_SIGNED, FORM_UNSIGNED, FORM_BOOL, FORM_FLOAT };
union number {
    int64_t i;
    uint64_t u; /* bool: 0 or 1 */
    double d;
};

/* How numbers of that type are worked with; FORM_NONE: not at all. */
enum form form_of(enum elem e);
/* Element i of a tensor; false: it is not known, NaN, or no number of its type. */
bool get_number(const struct known *k, int64_t i, union number *x);
/* The same, and floats of 16 bits, too; *f: its form. */
bool get_any(const struct known *k, int64_t i, enum form *f, union number *x);
/* Sets element i of k to `bits`; good false: marks it as not known, so that k is known in part. */
void put_bits(struct computation *c, struct known *k, int64_t i, bool good, uint64_t bits);
/* The same with a number; one that does not fit the type of k is marked as not known. */
void put_number(struct computation *c, struct known *k, int64_t i, bool good, union number x);

#endif
