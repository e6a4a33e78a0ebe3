/* Estimates the sizes of values that have dimensions of unknown size (open_sizes.h).
 *
 * The known dimensions of a result count as they are.  The product of its unknown dimensions is taken to be that of
 * the operand where this product is largest.  So an unknown number of rows stays the same from node to node: a product
 * of [?, 512] with a weight [512, 64] has as many rows as its operand, not as its weight.  Where no operand has an
 * unknown dimension the result is as large as the largest operand that is no weight.  Some operators have estimates of
 * their own.  For TopK and Slice, the size along their axis, if it is unknown, is the smallest count that their
 * operands tell.  NonMaxSuppression counts max_output_boxes_per_class boxes for each image and class, NonZero the size
 * of its operand, Concat the sum of its operands. */
#include "passes/cost/open_sizes.h"

#include "ir/base/units.h"

enum { NODES_BACK = 8 }; /* number of nodes through which least_known() looks, at most */

/* Returns the product of the known dimensions of v, and sets *unknown to the number of unknown ones; -1: v is not a
 * tensor of known rank. */
static int64_t known_part(const struct open_sizes *s, vid v, uint32_t *unknown)
{
    struct shape d;
    int64_t known = 1;
    *unknown = 0;
    if (!shape_of(s->f, v, &d))
        return -1;
    for (int i = 0; i < d.rank; i++) {
        if (d.d[i].value >= 0)
            known = sat_mul(known, d.d[i].value);
        else
            ++*unknown;
    }
    return known;
}

/* Whether v is a weight or a constant. */
static bool is_weight(const struct module *m, vid v)
{
    nid def = m->value[v].def;
    return m->value[v].tensor != 0 || (def != 0 && node_is(m, def, "Constant"));
}

/* Sizes of the operands of a node, without weights unless the other operands have no elements. */
struct operands {
    int64_t largest; /* elements of the largest operand */
    int64_t sum;     /* elements of all operands */
    int64_t open;    /* largest open_sizes.open of an operand that is no weight */
};

/* Returns the sizes of the operands of node n that are no weights; if these operands have no elements, returns the
 * sizes of the weights. */
static struct operands look_at_operands(const struct open_sizes *s, nid n)
{
    const struct module *m = s->f->m;
    const struct node *k = &m->node[n];
    struct operands o = {.open = 1}, weights = o;
    for (uint32_t i = 0; i < k->in.n; i++) {
        vid v = m->arg[k->in.at + i];
        struct operands *to = is_weight(m, v) ? &weights : &o;
        to->largest = larger(to->largest, s->elems[v]);
        to->sum = sat_add(to->sum, s->elems[v]);
        to->open = larger(to->open, s->open[v]);
    }
    if (!o.sum) {
        o.largest = weights.largest;
        o.sum = weights.sum;
    }
    return o;
}

/* Returns the smallest known element of v; INT64_MAX: none is known.  one: looks at v only if it has a single
 * element. */
static int64_t least_element(struct open_sizes *s, vid v, bool one)
{
    const struct nums *x = nums_of(s->f, v);
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; x && (!one || x->n == 1) && i < x->n; i++)
        if (x->at[i].kind == NUM_INT)
            least = smaller(least, x->at[i].v);
    return least;
}

/* Returns an upper bound of the count that v is, such as TopK's k; INT64_MAX: no bound is known.  The bound is the
 * element of v if it is known and the only one.  Else, if a Min computes v, it is the smallest known such element of
 * the Min's operands; if a ReduceMin computes v, the smallest known element of the ReduceMin's operand.  Looks back
 * through casts and reshapes, at most NODES_BACK nodes far. */
static int64_t least_known(struct open_sizes *s, vid v)
{
    const struct module *m = s->f->m;
    /* whether a ReduceMin was passed: then each element of a vector is a bound; before, a vector is no count */
    bool reduced = false;
    for (uint32_t far = 0; far < NODES_BACK && v; far++) {
        int64_t found = least_element(s, v, /*one=*/!reduced);
        nid def = m->value[v].def;
        if (found < INT64_MAX || !def)
            return found;
        reduced = reduced || node_is(m, def, "ReduceMin");
        if (node_is(m, def, "Min")) {
            for (uint32_t i = 0; i < m->node[def].in.n; i++)
                found = smaller(found, least_element(s, node_in(m, def, i), /*one=*/true));
            return found;
        }
        static const char *const through[] = {"ReduceMin", "Cast",      "Reshape",
                                              "Squeeze",   "Unsqueeze", "Identity"};
        bool on = false;
        for (uint32_t i = 0; i < sizeof through / sizeof *through; i++)
            on = on || node_is(m, def, through[i]);
        v = on ? node_in(m, def, 0) : 0;
    }
    return INT64_MAX;
}

/* Returns the axis along which node n, a TopK or a Slice of one axis from its start, selects; -1: n is neither, or its
 * axis is not known.  rank: number of axes of the result. */
static int selected_axis(struct open_sizes *s, nid n, int rank)
{
    const struct module *m = s->f->m;
    if (node_is(m, n, "TopK"))
        return axis_of(node_attr_int(m, n, "axis", -1), rank);
    vid axes = node_in(m, n, 3);
    int64_t start = 0, axis = 0; /* without `axes` a Slice of one axis is of axis 0 */
    if (!node_is(m, n, "Slice") || ints_of(s->f, node_in(m, n, 1), &start, 1) != 1 || start != 0 ||
        (axes != 0 && ints_of(s->f, axes, &axis, 1) != 1))
        return -1;
    return axis_of(axis, rank);
}

/* If node n is a TopK or a Slice whose result has an unknown size along the axis on which n selects, returns the
 * largest size there that the count of the TopK, or the end of the Slice, allows.  INT64_MAX: nothing tells it, or the
 * size is known. */
static int64_t selected(struct open_sizes *s, nid n)
{
    const struct module *m = s->f->m;
    struct shape made;
    int axis = shape_of(s->f, node_out(m, n, 0), &made) ? selected_axis(s, n, made.rank) : -1;
    if (axis < 0 || made.d[axis].value >= 0)
        return INT64_MAX;
    int64_t least = least_known(s, node_in(m, n, node_is(m, n, "TopK") ? 1 : 2));
    return least < 0 ? INT64_MAX : least; /* a negative end counts from the end of the axis */
}

/* Returns the most rows of the result of NonMaxSuppression n: the number of boxes that may stay for each image and
 * class, times the number of images and classes; if the number of boxes is not known, the number of scores. */
static int64_t boxes_left(struct open_sizes *s, nid n)
{
    const struct module *m = s->f->m;
    struct shape scores;
    int64_t all = s->elems[node_in(m, n, 1)], most = least_known(s, node_in(m, n, 2));
    bool known = shape_in(s->f, n, 1, &scores) && scores.rank == 3;
    int64_t boxes = known && scores.d[2].value > 0 ? scores.d[2].value : 0;
    if (most < 0 || most == INT64_MAX)
        return all;
    return boxes ? sat_mul(all / boxes, smaller(most, boxes)) : smaller(all, most);
}

/* Returns the estimate of the product of the unknown dimensions of a result of node n; known: product of the known
 * dimensions. */
static int64_t open_part(struct open_sizes *s, nid n, int64_t known)
{
    const struct module *m = s->f->m;
    struct operands o = look_at_operands(s, n);
    /* with this estimate the result has as many elements as the largest operand, rounded up */
    int64_t even = larger((o.largest - 1) / known + 1, 1);
    if (node_is(m, n, "NonMaxSuppression"))
        return boxes_left(s, n);
    if (node_is(m, n, "NonZero"))
        return o.largest;
    if (node_is(m, n, "Concat"))
        return larger((o.sum - 1) / known + 1, 1);
    if (node_is(m, n, "Reshape") || node_is(m, n, "Flatten"))
        return even;
    return smaller(selected(s, n), o.open > 1 ? o.open : even);
}

int64_t open_elems(struct open_sizes *s, nid n, vid v)
{
    uint32_t unknown;
    int64_t known = known_part(s, v, &unknown);
    if (known < 0)
        return larger(look_at_operands(s, n).largest, 1);
    int64_t open = 1;
    for (uint32_t i = 0; s->each >= 0 && i < unknown; i++)
        open = sat_mul(open, s->each);
    s->open[v] = s->each >= 0 ? open : known ? open_part(s, n, known) : 1;
    return sat_mul(known, s->open[v]);
}
