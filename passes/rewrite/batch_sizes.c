/* Rules for sizes that the model computes (batch_rules.h): for Shape, for operators that pick, join or compute with
 * the elements of shapes, and for operators that make tensors of computed sizes.  Rules return NULL, or the reason
 * why the node must see all samples together.
 *
 * An element is scaled if its value in the copies is 1/N of that in the model.  A product is scaled if exactly one
 * factor is; a quotient of a scaled element must be exact; operands of sums and comparisons must both be scaled or
 * both not be.  Anything else, such as a batch plus one, is refused.  O(64) for each node. */
#include "passes/rewrite/batch_rules.h"

#include "ir/model/dim.h"

#include <string.h>

/* ---- elements ---------------------------------------------------------------------------------- */

/* Sets the state of result 0: SIZES whose scaled elements are the bits of `scaled`; WHOLE if there are none. */
static void set_sizes(struct batch_search *x, uint64_t scaled)
{
    struct batch s = {.how = scaled != 0 ? BATCH_SIZES : BATCH_WHOLE, .scaled = scaled};
    batch_set(x, 0, s);
}

/* Returns the reason for a node with an element that is neither scaled nor the same in all copies. */
static const char *not_in_proportion(struct batch_search *x)
{
    return batch_say(
        x, "it makes of a size of the batch a number that is not in proportion to the batch");
}

/* Returns element j of the list; a list with one element stands for any number of equal elements.  The result is
 * unknown if no element of the list is known. */
static struct num element(const struct batch_list *k, int j)
{
    if (k->num == NULL || k->num->n == 0)
        return (struct num){0};
    uint32_t at = k->num->n == 1 ? 0 : (uint32_t)j;
    return at < k->num->n ? k->num->at[at] : (struct num){0};
}

/* Whether operand i is known to be a scalar or a vector, so that entry j of its batch_list is the element with
 * index j. */
static bool is_flat(const struct batch_search *x, uint32_t i)
{
    struct shape s;
    int rank = batch_shape(x, i, &s);
    return rank == 0 || rank == 1;
}

/* Whether element j of the list is scaled; in a list with one element, that element counts for all j. */
static bool is_scaled(const struct batch_list *k, int j)
{
    return (k->scaled >> (k->n == 1 ? 0 : j) & 1) != 0;
}

/* Whether the number x is known and below `most`. */
static bool is_below(struct num x, int64_t most)
{
    return x.kind == NUM_INT && x.v < most;
}

/* For dim_eval(): gives each name the value *user. */
static int64_t same_for_all(void *user, const char *name)
{
    (void)name;
    return *(const int64_t *)user;
}

/* Whether e, a number in proportion to the batch, is at least 1, as the sizes of axes are; a model can compute
 * others, such as -b. Tries names of dimensions that are all 1, and names that are all a large number. */
static bool is_positive(const struct batch_search *x, struct num e)
{
    int64_t small = 1, large = 1 << 20;
    return dim_eval(x->m, num_dim(e), same_for_all, &small) >= 1 &&
           dim_eval(x->m, num_dim(e), same_for_all, &large) >= 1;
}

/* Whether a / b leaves no remainder and N divides the quotient.  a: a scaled element; b: an element that is not
 * scaled; r: the quotient in the model. */
static bool divides_exactly(struct batch_search *x, struct num a, struct num b, struct num r)
{
    struct dim da = num_dim(a), db = num_dim(b), dr = num_dim(r);
    return dim_known(da) && dim_known(db) && dim_known(dr) && batch_divides(x, dr) &&
           dim_same(dim_mul(x->m, dr, db), da);
}

/* An element in the copies against the same element in the model. PAIR_SAME: equal; PAIR_SCALED: 1/N of it;
 * PAIR_BAD: neither, or it is not known. */
enum { PAIR_BAD = -1, PAIR_SAME, PAIR_SCALED };

/* Returns one of PAIR_* for element j of the result of an elementwise operator with the operands a and b. */
static int combine(struct batch_search *x, const struct batch_list *a, const struct batch_list *b,
                   int j)
{
    const char *op = node_op(x->m, x->n);
    bool sa = is_scaled(a, j), sb = is_scaled(b, j);
    const struct nums *r = nums_of(x->f, node_out(x->m, x->n, 0));
    struct num ea = element(a, j), eb = element(b, j),
               er = r != NULL && (uint32_t)j < r->n ? r->at[j] : (struct num){0};
    if (!sa && !sb)
        return PAIR_SAME;
    if (strcmp(op, "Mul") == 0) {
        bool exact = elem_is_integer(elem_in(x->f, x->n, 0)) || batch_divides(x, num_dim(er));
        return sa != sb && exact ? PAIR_SCALED : PAIR_BAD;
    }
    if (strcmp(op, "Div") == 0)
        return sa && sb ? PAIR_SAME : sa && divides_exactly(x, ea, eb, er) ? PAIR_SCALED : PAIR_BAD;
    if (strcmp(op, "Add") == 0 || strcmp(op, "Sub") == 0)
        return sa && sb ? PAIR_SCALED : PAIR_BAD;
    /* one operand is scaled and at least 1, as sizes are, the other is at most 1 */
    bool size = !(sa && sb) && is_positive(x, sa ? ea : eb);
    bool least = size && is_below(sa ? eb : ea, 2);
    if (strcmp(op, "Max") == 0)
        return (sa && sb) || least ? PAIR_SCALED : PAIR_BAD;
    if (strcmp(op, "Min") == 0)
        return sa && sb ? PAIR_SCALED : least ? PAIR_SAME : PAIR_BAD;
    if (strcmp(op, "Equal") == 0) /* a size never equals a negative number */
        return (sa && sb) || (size && is_below(sa ? eb : ea, 0)) ? PAIR_SAME : PAIR_BAD;
    bool compares = strcmp(op, "Less") == 0 || strcmp(op, "LessOrEqual") == 0 ||
                    strcmp(op, "Greater") == 0 || strcmp(op, "GreaterOrEqual") == 0;
    return compares && sa && sb ? PAIR_SAME : PAIR_BAD;
}

const char *sizes_elementwise(struct batch_search *x)
{
    if (x->m->node[x->n].nformal != 2)
        return not_in_proportion(x);
    struct batch_list a = batch_list_of(x, NULL, 0), b = batch_list_of(x, NULL, 1);
    int n = a.n > b.n ? a.n : b.n;
    uint64_t scaled = 0;
    if (a.n < 0 || b.n < 0 || (a.n != b.n && a.n != 1 && b.n != 1))
        return not_in_proportion(x);
    /* with more axes, broadcasting may pair entry j of one operand with another entry than j of the other operand */
    if (a.n != 1 && b.n != 1 && !(is_flat(x, 0) && is_flat(x, 1)))
        return not_in_proportion(x);
    for (int j = 0; j < n; j++) {
        int is = combine(x, &a, &b, j);
        if (is == PAIR_BAD)
            return not_in_proportion(x);
        scaled |= (uint64_t)(is == PAIR_SCALED) << j;
    }
    set_sizes(x, scaled);
    return NULL;
}

const char *sizes_where(struct batch_search *x)
{
    struct batch_list condition = batch_list_of(x, NULL, 0), if_true = batch_list_of(x, NULL, 1),
                      if_false = batch_list_of(x, NULL, 2);
    int n = if_true.n > if_false.n ? if_true.n : if_false.n;
    uint64_t scaled = 0;
    n = condition.n > n ? condition.n : n;
    if (condition.n < 0 || if_true.n < 0 || if_false.n < 0 || condition.scaled != 0)
        return not_in_proportion(x);
    /* as in sizes_elementwise() */
    if ((condition.n != 1) + (if_true.n != 1) + (if_false.n != 1) > 1 &&
        !(is_flat(x, 0) && is_flat(x, 1) && is_flat(x, 2)))
        return not_in_proportion(x);
    for (int j = 0; j < n; j++) {
        struct num chosen = element(&condition, j);
        bool true_scaled = is_scaled(&if_true, j), false_scaled = is_scaled(&if_false, j);
        if (true_scaled != false_scaled && chosen.kind != NUM_INT)
            return not_in_proportion(x);
        scaled |= (uint64_t)(true_scaled == false_scaled ? true_scaled
                             : chosen.v != 0             ? true_scaled
                                                         : false_scaled)
                  << j;
    }
    set_sizes(x, scaled);
    return NULL;
}

const char *sizes_concat(struct batch_search *x)
{
    uint64_t scaled = 0;
    int at = 0;
    for (uint32_t i = 0; i < x->m->node[x->n].nformal; i++) {
        struct batch_list k = batch_list_of(x, NULL, i);
        if (batch_has_axis(batch_in(x, i)) || k.n < 0 || at + k.n > SHAPE_VALUES || !is_flat(x, i))
            return not_in_proportion(x);
        if (k.n > 0)
            scaled |= k.scaled << at;
        at += k.n;
    }
    set_sizes(x, scaled);
    return NULL;
}

const char *sizes_gather(struct batch_search *x)
{
    struct batch_list data = batch_list_of(x, NULL, 0), index = batch_list_of(x, NULL, 1);
    uint64_t scaled = 0;
    if (data.n < 1 || index.n < 0 || index.scaled != 0 || batch_has_axis(batch_in(x, 1)) ||
        !is_flat(x, 0))
        return not_in_proportion(x);
    for (int j = 0; j < index.n; j++) {
        struct num at = element(&index, j);
        at.v += at.v < 0 ? data.n : 0;
        if (at.kind != NUM_INT || at.v < 0 || at.v >= data.n)
            return not_in_proportion(x);
        scaled |= (data.scaled >> at.v & 1) << j;
    }
    set_sizes(x, scaled);
    return NULL;
}

/* Returns the start or end `at` of a slice of n elements as a position: 0 .. n, or -1 .. n - 1 if step < 0. */
static int64_t position(int64_t at, int64_t n, int64_t step)
{
    int64_t least = step < 0 ? -1 : 0, most = step < 0 ? n - 1 : n;
    if (at < -n)
        return least;
    return smaller(at < 0 ? at + n : at, most);
}

const char *sizes_slice(struct batch_search *x)
{
    struct batch_list data = batch_list_of(x, NULL, 0), from = batch_list_of(x, "starts", 1),
                      to = batch_list_of(x, "ends", 2), step = batch_list_of(x, NULL, 4);
    int64_t by = 1;
    uint64_t scaled = 0;
    batch_see(x, 3);
    if (data.n < 1 || !is_flat(x, 0) || from.n != 1 || to.n != 1 || from.scaled != 0 ||
        to.scaled != 0 || element(&from, 0).kind != NUM_INT || element(&to, 0).kind != NUM_INT)
        return not_in_proportion(x);
    if (node_in(x->m, x->n, 4) != 0) {
        if (step.n != 1 || step.scaled != 0 || element(&step, 0).kind != NUM_INT)
            return not_in_proportion(x);
        by = element(&step, 0).v;
    }
    if (by == 0)
        return not_in_proportion(x);
    int64_t end = position(element(&to, 0).v, data.n, by);
    int at = 0;
    /* a start before the list means element 0, even where the slice goes backwards */
    for (int64_t j = larger(position(element(&from, 0).v, data.n, by), 0);
         by > 0 ? j < end : j > end; j += by) {
        scaled |= (data.scaled >> j & 1) << at++;
        /* the first step leaves the list; j + by could overflow */
        if (by > data.n || by < -data.n)
            break;
    }
    set_sizes(x, scaled);
    return NULL;
}

const char *sizes_product(struct batch_search *x)
{
    struct batch_list k = batch_list_of(x, NULL, 0);
    bool integer = elem_is_integer((enum elem)elem_in(x->f, x->n, 0));
    const char *why = batch_want_whole_from(x, 1);
    if (why != NULL)
        return why;
    bool several = k.scaled != 0 && batch_only_bit(k.scaled) < 0; /* scaled factors */
    uint32_t axes;
    bool absent;
    /* whether the node may have no axes, so that its result is the list itself */
    bool list = node_attr_int(x->m, x->n, "noop_with_empty_axes", 0) != 0 &&
                (!batch_axes(x, 1, /*rank=*/1, &axes, &absent) || absent);
    if (strcmp(node_op(x->m, x->n), "ReduceProd") != 0 || !integer || several || list ||
        !is_flat(x, 0))
        return not_in_proportion(x);
    set_sizes(x, k.scaled != 0);
    return NULL;
}

const char *sizes_same(struct batch_search *x)
{
    struct shape s;
    struct batch_list k = batch_list_of(x, NULL, 0);
    shape_of(x->f, node_out(x->m, x->n, 0), &s);
    if (s.elem != ELEM_I64 && s.elem != ELEM_I32 && s.elem != ELEM_F32 && s.elem != ELEM_F64)
        return not_in_proportion(x); /* sizes are followed only in tensors of these element types */
    /* a scaled element of a tensor of floats must be known, and so an integer */
    bool floats = !elem_is_integer(elem_in(x->f, x->n, 0));
    for (int j = 0; floats && j < k.n; j++)
        if (is_scaled(&k, j) && element(&k, j).kind == NUM_UNKNOWN)
            return not_in_proportion(x);
    batch_set(x, 0, batch_in(x, 0));
    return batch_want_whole_from(x, 1);
}

/* ---- numbers of samples --------------------------------------------------------------------------- */

/* Whether all elements of node n's result are elements of its operand 0. */
static bool moves_all(const struct module *m, nid n)
{
    static const char *const moves[] = {"Unsqueeze", "Squeeze", "Reshape", "Expand", "Identity"};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (node_is(m, n, moves[i]))
            return true;
    return false;
}

/* Returns a number that is above all elements of v, a WHOLE value, if none of them is negative; unknown if there is
 * no such number.  It is known for constants, and for a Range from 0 in steps of 1 to which nodes only add axes. */
static struct dim limit_of(struct batch_search *x, vid v)
{
    enum { STEPS = 16 }; /* the most nodes between v and the Range */
    const struct nums *k = nums_of(x->f, v);
    nid n = x->m->value[v].def;
    int64_t most = -1; /* the largest element of a constant */
    for (uint32_t j = 0; k != NULL && j < k->n; j++) {
        if (k->at[j].kind != NUM_INT || k->at[j].v < 0 || k->at[j].v == INT64_MAX)
            return dim_unknown();
        most = k->at[j].v > most ? k->at[j].v : most;
    }
    if (most >= 0)
        return dim_num(most + 1);
    for (int i = 0; i < STEPS && n != 0 && moves_all(x->m, n); i++)
        n = x->m->value[node_in(x->m, n, 0)].def;
    if (n == 0 || !node_is(x->m, n, "Range"))
        return dim_unknown();
    int64_t from, by;
    if (ints_of(x->f, node_in(x->m, n, 0), &from, 1) != 1 || from != 0 ||
        ints_of(x->f, node_in(x->m, n, 2), &by, 1) != 1 || by != 1)
        return dim_unknown();
    return value_dim(x->f, n, 1, 0); /* the Range's limit, operand 1 */
}

/* Whether a <= b is certain for all sizes of symbolic dimensions. */
static bool is_at_most(struct dim a, struct dim b)
{
    return dim_same(a, b) || (a.value >= 0 && b.value >= a.value) || (a.value == 1 && b.sym != 0);
}

struct batch numbers_elementwise(struct batch_search *x, struct batch s)
{
    bool first = batch_in(x, 0).how == BATCH_NUMBERS;
    struct batch numbers = batch_in(x, first ? 0 : 1);
    vid v = node_in(x->m, x->n, first ? 1 : 0);
    const struct nums *k = nums_of(x->f, v);
    if (x->m->node[x->n].nformal != 2 || numbers.how != BATCH_NUMBERS ||
        x->of[v].how != BATCH_WHOLE)
        return s;
    /* an element is p * stride + c, 0 <= c < extent (BATCH_NUMBERS) */
    if (node_is(x->m, x->n, "Mul") && k != NULL && k->n == 1 && numbers.extent.value == 1) {
        /* c is 0: the factor multiplies the stride */
        numbers.stride = dim_mul(x->m, numbers.stride, num_dim(k->at[0]));
    } else if (node_is(x->m, x->n, "Add")) {
        /* c grows by up to `most`, the largest element of the other operand */
        struct dim most = dim_sub(x->m, limit_of(x, v), dim_num(1));
        numbers.extent = numbers.extent.value == 1 ? dim_add(x->m, most, dim_num(1))
                                                   : dim_add(x->m, numbers.extent, most);
    } else {
        return s;
    }
    if (!dim_known(numbers.stride) || !is_at_most(numbers.extent, numbers.stride))
        return s;
    return batch_at(numbers, s.axis);
}

/* ---- sizes of values, and values of sizes ------------------------------------------------------- */

/* Rule of Shape: the entry for the axis of the batch, if it lies in start .. end - 1, is a size of the batch. */
const char *rule_batch_shape(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    struct shape s;
    int rank = batch_shape(x, 0, &s);
    int64_t from = node_attr_int(x->m, x->n, "start", 0),
            to = node_attr_int(x->m, x->n, "end", rank);
    (void)r;
    /* a list of sizes has the same number of elements in each copy */
    if (in.how == BATCH_SIZES) {
        set_sizes(x, /*scaled=*/0);
        return NULL;
    }
    if (rank < 0)
        return batch_say(x, "the rank of its operand is not known");
    from = from < 0 ? from + rank : from;
    to = to < 0 ? to + rank : to;
    from = from < 0 ? 0 : from;
    set_sizes(x, in.axis >= from && in.axis < to ? UINT64_C(1) << (in.axis - from) : 0);
    return NULL;
}

/* Rule of Size: the number of elements is a multiple of the batch, unless the operand is itself a list of sizes. */
const char *rule_batch_size(struct batch_search *x, const struct batch_rule *r)
{
    (void)r;
    set_sizes(x, batch_in(x, 0).how != BATCH_SIZES);
    return NULL;
}

/* Rule of ConstantOfShape: exactly one entry of the shape may depend on the batch; its axis is where the result
 * is cut. */
const char *rule_batch_constant_of_shape(struct batch_search *x, const struct batch_rule *r)
{
    struct batch in = batch_in(x, 0);
    int axis = batch_only_bit(in.scaled);
    (void)r;
    if (in.how != BATCH_SIZES || axis < 0 || axis >= SHAPE_RANK)
        return batch_say(x, "several axes of its result have a size of the batch");
    batch_set(x, 0, (struct batch){.how = BATCH_CUT, .axis = (uint8_t)axis});
    return NULL;
}

/* Rule of a Range whose limit is a scaled size: its result numbers the samples. */
const char *rule_batch_range(struct batch_search *x, const struct batch_rule *r)
{
    struct batch_list from = batch_list_of(x, NULL, 0), to = batch_list_of(x, NULL, 1),
                      by = batch_list_of(x, NULL, 2);
    (void)r;
    if (batch_in(x, 1).how != BATCH_SIZES || to.scaled != 1 || !batch_entry_is(&from, 0, 0) ||
        !batch_entry_is(&by, 0, 1))
        return batch_say(x, "it counts samples, but not from 0 in steps of 1");
    batch_set(x, 0,
              (struct batch){
                  .how = BATCH_NUMBERS, .from = x->n, .stride = dim_num(1), .extent = dim_num(1)});
    return NULL;
}

/* Rule of AffineGrid: theta and the grid are cut at axis 0; if entry 0 of `size` is a number, copies divide it by N. */
const char *rule_batch_affine_grid(struct batch_search *x, const struct batch_rule *r)
{
    struct batch theta = batch_in(x, 0);
    struct batch_list size = batch_list_of(x, NULL, 1);
    const char *why = batch_want_cut(x, 0);
    (void)r;
    if (why != NULL)
        return why;
    if (theta.axis != 0 || (size.scaled & ~UINT64_C(1)) != 0)
        return batch_say(x, "the batch is not the first axis of its operands");
    if (size.scaled == 0 && (why = batch_divide_entry(x, 1, 0)) != NULL)
        return why;
    batch_set(x, 0, theta);
    return NULL;
}
