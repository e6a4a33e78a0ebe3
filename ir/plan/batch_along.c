/* Operators that work along the axis of the batch (batch_along.h).
 *
 * A table says for each operator along which axes of its first operand it works: an attribute or an operand names the
 * axes, or they are fixed (a convolution works along all axes behind the first two). Along these axes an operator
 * combines numbers, or moves them; if the axis of the batch is among these axes, it combines or moves numbers of
 * different samples. Axes that are not known (an operand that is no constant) count as all axes. O(operands) for a
 * node. */
#include "ir/plan/batch_along.h"

#include <string.h>

/* Along which axes of its first operand an operator works. */
enum along {
    ALONG_AXIS, /* the axis in the attribute "axis" */
    ALONG_FROM, /* the axis in the attribute "axis", and all axes behind it */
    /* the axes in the attribute "axes", or in the operand with number `operand`; without either, all axes */
    ALONG_AXES,
    ALONG_BEHIND, /* all axes from axis `usual` on */
};

/* An operator and the axes that it works along. */
struct along_row {
    const char *op;
    enum along along;
    /* ALONG_AXIS, ALONG_FROM: the axis if the node has no attribute; ALONG_BEHIND: the first axis */
    int32_t usual;
    /* ALONG_AXES: number of the operand with the axes; 0: there is no such operand */
    uint32_t operand;
};

static const struct along_row rows[] = {
    {"Softmax", ALONG_AXIS, -1, 0},
    {"LogSoftmax", ALONG_AXIS, -1, 0},
    {"Hardmax", ALONG_AXIS, -1, 0},
    {"TopK", ALONG_AXIS, -1, 0},
    {"ArgMax", ALONG_AXIS, 0, 0},
    {"ArgMin", ALONG_AXIS, 0, 0},
    {"LpNormalization", ALONG_AXIS, -1, 0},
    {"LayerNormalization", ALONG_FROM, -1, 0},
    {"RMSNormalization", ALONG_FROM, -1, 0},
    {"Gather", ALONG_AXIS, 0, 0},
    {"GatherElements", ALONG_AXIS, 0, 0},
    {"ScatterElements", ALONG_AXIS, 0, 0},
    {"Split", ALONG_AXIS, 0, 0},
    {"Concat", ALONG_AXIS, 0, 0},
    {"Compress", ALONG_AXIS, 0, 0},
    {"CumSum", ALONG_AXES, 0, 1},
    {"NonZero", ALONG_AXES, 0, 0},
    {"Unique", ALONG_AXES, 0, 0},
    {"Slice", ALONG_AXES, 0, 3},
    {"Pad", ALONG_AXES, 0, 3},
    {"MeanVarianceNormalization", ALONG_AXES, 0, 0},
    {"Conv", ALONG_BEHIND, 2, 0},
    {"ConvTranspose", ALONG_BEHIND, 2, 0},
    {"MaxPool", ALONG_BEHIND, 2, 0},
    {"AveragePool", ALONG_BEHIND, 2, 0},
    {"LpPool", ALONG_BEHIND, 2, 0},
    {"InstanceNormalization", ALONG_BEHIND, 1, 0},
    {"GroupNormalization", ALONG_BEHIND, 1, 0},
};

enum { MOST = 64 }; /* the most integers of a list: longer lists are not looked at */

int constant_ints(const struct module *m, vid v, int64_t *out, uint32_t max)
{
    const struct value *x = &m->value[v];
    if (!v || (x->flags & VALUE_INPUT))
        return -1;
    if (!x->def)
        return x->flags & VALUE_INIT ? tensor_ints(m, x->tensor, out, max) : -1;
    if (!node_is(m, x->def, "Constant"))
        return -1;
    const struct attr *a = node_attr(m, x->def, "value");
    if (a && a->kind == ATTR_TENSOR)
        return tensor_ints(m, a->u.t, out, max);
    a = node_attr(m, x->def, "value_ints");
    if (a && a->kind == ATTR_INTS && a->u.list.n <= max) {
        memcpy(out, m->ints + a->u.list.at, a->u.list.n * sizeof *out);
        return (int)a->u.list.n;
    }
    a = node_attr(m, x->def, "value_int");
    if (!a || a->kind != ATTR_INT || !max)
        return -1;
    out[0] = a->u.i;
    return 1;
}

/* Returns the axis that the attribute "axis" of node n gives, or the table's usual one, as a number from 0 on. rank: of
 * the first operand. */
static int64_t axis_of(const struct module *m, nid n, const struct along_row *r, int rank)
{
    int64_t axis = node_attr_int(m, n, "axis", r->usual);
    return axis < 0 ? axis + rank : axis;
}

/* Whether `axis` is among the axes that node n names; true also if these axes are not known. rank: of the first
 * operand. */
static bool is_among(const struct module *m, nid n, const struct along_row *r, int32_t axis,
                     int rank)
{
    int64_t list[MOST];
    int count = -1;
    const struct attr *a = node_attr(m, n, "axes");
    if (a && a->kind == ATTR_INTS && a->u.list.n <= MOST) {
        count = (int)a->u.list.n;
        memcpy(list, m->ints + a->u.list.at, a->u.list.n * sizeof *list);
    } else if (r->operand && node_in(m, n, r->operand)) {
        count = constant_ints(m, node_in(m, n, r->operand), list, MOST);
    }
    for (int i = 0; i < count; i++)
        if ((list[i] < 0 ? list[i] + rank : list[i]) == axis)
            return true;
    return count < 0;
}

/* Whether n, a Pad, pads only other axes than `axis`; false if n names axes (is_among() looks at these), or if the pads
 * are not known. rank: of the first operand. */
static bool pads_others(const struct module *m, nid n, int32_t axis, int rank)
{
    int64_t pads[MOST];
    const struct attr *a = node_attr(m, n, "pads");
    int count = constant_ints(m, node_in(m, n, 1), pads, MOST);
    if (a && a->kind == ATTR_INTS && a->u.list.n <= MOST) {
        count = (int)a->u.list.n;
        memcpy(pads, m->ints + a->u.list.at, a->u.list.n * sizeof *pads);
    }
    return !node_in(m, n, 3) && count == 2 * rank && !pads[axis] && !pads[axis + rank];
}

/* Whether n is a ReverseSequence or a recurrent operator whose steps of time go along `axis`, the axis of the batch. A
 * recurrent operator has steps on axis 0, or on axis 1 if the attribute "layout" is set. */
static bool takes_axis_for_time(const struct module *m, nid n, int32_t axis)
{
    bool recurrent = node_is(m, n, "LSTM") || node_is(m, n, "GRU") || node_is(m, n, "RNN");
    if (node_is(m, n, "ReverseSequence"))
        return axis == node_attr_int(m, n, "time_axis", 0);
    return recurrent && axis == (node_attr_int(m, n, "layout", 0) ? 1 : 0);
}

/* Whether n is a GatherND or ScatterND that picks or writes rows by positions along the axis. It uses as many axes,
 * from "batch_dims" on, as a position has numbers; if that count is not known, or batch_dims is wrong (negative), all
 * axes from there on. */
static bool takes_positions(const struct module *m, nid n, int32_t axis)
{
    bool gathers = node_is(m, n, "GatherND");
    const struct type *t = &m->type[m->value[node_in(m, n, 1)].type];
    int64_t from = gathers ? node_attr_int(m, n, "batch_dims", 0) : 0;
    int64_t each = -1; /* how many numbers a position has; -1: not known */
    if (!gathers && !node_is(m, n, "ScatterND"))
        return false;
    if (t->kind == TYPE_TENSOR && t->rank > 0)
        each = m->dim[t->dim + (uint32_t)(t->rank - 1)].value;
    return axis >= from && (each < 0 || from < 0 || axis - from < each);
}

/* Whether n is a Scan that keeps a state from sample to sample: it has a state, and scans an input along the axis of
 * the batch. axis: [value] the value's axis of the batch; -1: none. */
static bool hands_state_on(const struct module *m, nid n, const int32_t *axis)
{
    int64_t scans = node_attr_int(m, n, "num_scan_inputs", 0), at[MOST] = {0};
    const uint32_t inputs = m->node[n].nformal; /* the states, then the scanned inputs */
    const struct attr *a = node_attr(m, n, "scan_input_axes");
    if (!node_is(m, n, "Scan") || scans <= 0 || scans >= inputs || module_opset(m, 0) < 9)
        return false; /* before opset 9 a Scan runs over each sample by itself */
    if (scans > MOST)
        return true; /* too many to look at */
    if (a && a->kind == ATTR_INTS && a->u.list.n <= MOST)
        memcpy(at, m->ints + a->u.list.at, a->u.list.n * sizeof *at);
    for (int64_t i = 0; i < scans; i++) {
        vid x = node_in(m, n, (uint32_t)(inputs - scans + i));
        int rank = m->type[m->value[x].type].rank;
        if (axis[x] >= 0 && (at[i] < 0 ? at[i] + rank : at[i]) == axis[x])
            return true;
    }
    return false;
}

/* Whether n is a Trilu, which keeps a triangle of a matrix, and the rows or columns of the matrix are samples: `axis`,
 * the axis of the batch, is one of the last two of `rank` axes. */
static bool keeps_triangle(const struct module *m, nid n, int32_t axis, int rank)
{
    return node_is(m, n, "Trilu") && axis >= rank - 2;
}

/* Whether a Reshape moves numbers between samples: the sizes of the axes before the axis of the batch have another
 * product in the result than in the operand.  False if a size is not known. */
static bool scrambles_samples(const struct module *m, const int32_t *axis, nid n)
{
    int64_t before[2] = {1, 1};
    const vid of[2] = {node_in(m, n, 0), m->node[n].out.n ? m->arg[m->node[n].out.at] : 0};
    if (!node_is(m, n, "Reshape") || axis[of[1]] < 0)
        return false;
    for (int k = 0; k < 2; k++) {
        const struct type *t = &m->type[m->value[of[k]].type];
        for (int32_t i = 0; i < axis[of[k]]; i++) {
            int64_t size = m->dim[t->dim + (uint32_t)i].value;
            if (size < 0 || size > INT32_MAX || before[k] > INT32_MAX)
                return false; /* not known */
            before[k] *= size;
        }
    }
    return before[0] != before[1];
}

const char *batch_along_why(const struct module *m, const int32_t *axis, nid n)
{
    static const char *const along = "works along the axis of the batch";
    vid x = node_in(m, n, 0);
    if (hands_state_on(m, n, axis))
        return "takes samples one after the other, and keeps a state between them";
    /* x: the operand that has the axis of the batch; only Concat may have it in another operand than the first */
    for (uint32_t i = 1; node_is(m, n, "Concat") && i < m->node[n].in.n && axis[x] < 0; i++)
        x = m->arg[m->node[n].in.at + i];
    int rank = m->type[m->value[x].type].rank;
    if (!x || axis[x] < 0 || m->type[m->value[x].type].kind != TYPE_TENSOR || rank <= axis[x])
        return NULL;
    if (scrambles_samples(m, axis, n))
        return "moves numbers from samples to others";
    if (takes_axis_for_time(m, n, axis[x]))
        return "takes samples for steps of time";
    if (takes_positions(m, n, axis[x]) || keeps_triangle(m, n, axis[x], rank))
        return along;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct along_row r = rows[k];
        if (!node_is(m, n, r.op))
            continue;
        /* before opset 13 the first three of the table, Softmax, LogSoftmax and Hardmax, took all axes from 1 on */
        if (k < 3 && module_opset(m, 0) < 13) {
            r.along = ALONG_FROM;
            r.usual = 1;
        }
        bool met = r.along == ALONG_AXIS   ? axis_of(m, n, &r, rank) == axis[x]
                   : r.along == ALONG_FROM ? axis_of(m, n, &r, rank) <= axis[x]
                   : r.along == ALONG_AXES ? is_among(m, n, &r, axis[x], rank)
                                           : axis[x] >= r.usual;
        if (node_is(m, n, "Pad") && pads_others(m, n, axis[x], rank))
            met = false;
        return met ? along : NULL;
    }
    return NULL;
}
