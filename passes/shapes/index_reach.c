/* Finds how far the elements of integer tensors reach: one more than the largest of them, as a dimension (demands.h).
 *
 * Positions in a table of embeddings are a Range up to the sequence, or a CumSum of a mask; sums
 * with them, slices of them and repeats of them have a known reach, too.  An integer input is
 * supposed to hold 0 and 1, since tools that make inputs choose these.  Where one of two tensors
 * may hold the largest element, the reach that has a name is taken: the other reach is a small
 * number.  Nothing is known of large constants.  O(operands) for each node. */
#include "passes/shapes/demands.h"

enum { INPUT_REACH = 2 }; /* reach of the model's inputs */

/* Returns the reach of a small tensor with the elements x; unknown if an element is unknown, or if one is an
 * expression and there are others. */
static struct dim reach_of_nums(struct infer *f, const struct nums *x)
{
    int64_t most = -1;
    if (x->n == 1)
        return num_dim(num_add(f, x->at[0], num_int(1)));
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->at[i].kind != NUM_INT || x->at[i].v >= INT32_MAX)
            return dim_unknown();
        most = larger(most, x->at[i].v);
    }
    return dim_num(most + 1);
}

struct dim reach_of(struct demands *k, vid v)
{
    if (v == 0)
        return dim_unknown();
    struct dim *d = &k->reach[v];
    if (d->value != 0 || d->sym != 0)
        return *d;
    const struct value *x = &k->f->m->value[v];
    const struct nums *known = nums_of(k->f, v);
    struct shape s;
    shape_of(k->f, v, &s);
    /* an input of integers or bools that callers must give */
    bool fed = x->graph == 1 && (x->flags & (VALUE_INPUT | VALUE_INIT)) == VALUE_INPUT &&
               elem_is_integer((enum elem)s.elem);
    struct dim found = known != NULL ? reach_of_nums(k->f, known)
                       : fed         ? dim_num(INPUT_REACH)
                                     : dim_unknown();
    *d = found.value == 0 ? dim_unknown() : found; /* the number 0 would mean "not looked up yet" */
    return *d;
}

/* Returns the reach of operand i of node n. */
static struct dim reach_in(struct demands *k, nid n, uint32_t i)
{
    return reach_of(k, node_in(k->f->m, n, i));
}

/* Returns the largest element of a tensor of this reach. */
static struct dim last_of(struct demands *k, struct dim reach)
{
    return dim_known(reach) ? dim_shift(k->f->m, reach, -1) : reach;
}

/* Returns the reach of tensors whose largest element is d. */
static struct dim up_to(struct demands *k, struct dim d)
{
    return dim_known(d) ? dim_shift(k->f->m, d, 1) : d;
}

/* Reach of a result that is taken to hold no larger elements than operand 0 does. */
struct dim reach_like(struct demands *k, nid n, int arg)
{
    (void)arg;
    return reach_in(k, n, 0);
}

/* Reach of a Range: its limit, if its step is known to be positive. */
struct dim reach_range(struct demands *k, nid n, int arg)
{
    const struct nums *step = nums_of(k->f, node_in(k->f->m, n, 2));
    (void)arg;
    bool up = step != NULL && step->at[0].kind == NUM_INT && step->at[0].v > 0;
    return up ? value_dim(k->f, n, 1, 0) : dim_unknown();
}

/* Reach of a sum a + b: the reach of a plus the largest element of b. */
struct dim reach_add(struct demands *k, nid n, int arg)
{
    struct dim a = reach_in(k, n, 0), b = last_of(k, reach_in(k, n, 1));
    (void)arg;
    return dim_known(a) && dim_known(b) ? dim_add(k->f->m, a, b) : dim_unknown();
}

/* Returns the smallest or the largest element of operand 1 of node n; unknown if one of several elements is no
 * number. */
static struct dim extreme_of(struct demands *k, nid n, bool largest)
{
    const struct nums *x = nums_of(k->f, node_in(k->f->m, n, 1));
    struct dim best = x != NULL ? num_dim(x->at[0]) : dim_unknown();
    for (uint32_t i = 1; x != NULL && i < x->n; i++) {
        struct dim d = num_dim(x->at[i]);
        if (d.value < 0 || best.value < 0)
            return dim_unknown();
        best = (d.value > best.value) == largest ? d : best;
    }
    return best;
}

/* Reach of a difference a - b: the reach of a less the smallest element of b, if all elements of b are known and
 * >= 0. */
struct dim reach_sub(struct demands *k, nid n, int arg)
{
    struct dim a = reach_in(k, n, 0), b = extreme_of(k, n, /*largest=*/false);
    (void)arg;
    return dim_known(a) && b.value >= 0 ? dim_shift(k->f->m, a, -b.value) : dim_unknown();
}

/* Reach of a product: one more than the product of the largest elements. */
struct dim reach_mul(struct demands *k, nid n, int arg)
{
    struct dim a = last_of(k, reach_in(k, n, 0)), b = last_of(k, reach_in(k, n, 1));
    (void)arg;
    return dim_known(a) && dim_known(b) ? up_to(k, dim_mul(k->f->m, a, b)) : dim_unknown();
}

/* Reach of a quotient a / b: the largest element of a divided by the smallest element of b, plus 1. */
struct dim reach_div(struct demands *k, nid n, int arg)
{
    struct dim a = last_of(k, reach_in(k, n, 0)), b = extreme_of(k, n, /*largest=*/false);
    (void)arg;
    return dim_known(a) && b.value > 0 ? up_to(k, dim_div(k->f->m, a, b)) : dim_unknown();
}

/* Reach of a remainder: the largest divisor. */
struct dim reach_mod(struct demands *k, nid n, int arg)
{
    struct dim b = extreme_of(k, n, /*largest=*/true);
    (void)arg;
    return b.value > 0 ? b : dim_unknown();
}

/* Reach of Min: the least of the reaches of operands that are known. */
struct dim reach_least(struct demands *k, nid n, int arg)
{
    struct dim least = dim_unknown();
    (void)arg;
    for (uint32_t i = 0; i < k->f->m->node[n].nformal; i++) {
        struct dim d = reach_in(k, n, i);
        least = dim_known(least) && dim_known(d) ? dim_min(k->f->m, least, d)
                : dim_known(d)                   ? d
                                                 : least;
    }
    return least;
}

/* Returns the reach of a tensor each of whose elements comes from a tensor of reach a or from one of reach b. */
static struct dim either(struct dim a, struct dim b)
{
    if (!dim_known(a) || !dim_known(b))
        return dim_unknown();
    if (a.sym != 0 && b.sym != 0)
        return a.sym == b.sym ? a : dim_unknown();
    return a.sym != 0 || (b.sym == 0 && a.value > b.value) ? a : b;
}

/* Reach of a result whose elements come from any of the operands `arg`, arg + 1, ...: the largest of their reaches. */
struct dim reach_larger(struct demands *k, nid n, int arg)
{
    struct dim most = reach_in(k, n, (uint32_t)arg); /* arg: the first operand that counts */
    for (uint32_t i = (uint32_t)arg + 1; i < k->f->m->node[n].nformal; i++)
        most = either(most, reach_in(k, n, i));
    return most;
}

/* Reach of Concat: the largest of the reaches of all operands.  arg is for demand_concat(), and not used here. */
struct dim reach_concat(struct demands *k, nid n, int arg)
{
    (void)arg;
    return reach_larger(k, n, 0);
}

/* Reach of a sum along axes: one more than the largest element of operand 0 times the number of elements that are added
 * up.  arg 1: ReduceSum, which adds up along the listed axes; arg 0: CumSum, along one axis. */
struct dim reach_sum(struct demands *k, nid n, int arg)
{
    struct dim last = last_of(k, reach_in(k, n, 0));
    struct shape s = operand_shape(k->f, n, 0);
    int64_t axis[SHAPE_RANK];
    int count = arg == 1 ? attr_or_input(k->f, n, "axes", 1, axis, SHAPE_RANK)
                         : ints_of(k->f, node_in(k->f->m, n, 1), axis, 1);
    if (count < 1 && arg == 0)
        return dim_unknown();
    for (int i = 0; i < count && dim_known(last); i++)
        last = dim_mul(k->f->m, last, shape_dim(&s, (int)axis[i]));
    /* without a list of axes the sum is along all axes; with noop_with_empty_axes along none */
    bool all =
        (count == -1 || count == 0) && node_attr_int(k->f->m, n, "noop_with_empty_axes", 0) == 0;
    for (int i = 0; i < s.rank && all; i++)
        last = dim_mul(k->f->m, last, s.d[i]);
    return count >= -1 && s.rank >= 0 ? up_to(k, last) : dim_unknown();
}

/* Reach of ArgMax and ArgMin, whose elements are indices along attribute axis: the size of that axis. */
struct dim reach_index(struct demands *k, nid n, int arg)
{
    struct shape s = operand_shape(k->f, n, 0);
    (void)arg;
    int axis = axis_of(node_attr_int(k->f->m, n, "axis", 0), s.rank);
    return axis >= 0 ? s.d[axis] : dim_unknown();
}

/* Reach of a tensor of bools, whose elements are 0 and 1. */
struct dim reach_bool(struct demands *k, nid n, int arg)
{
    (void)k;
    (void)n;
    (void)arg;
    return dim_num(2);
}
