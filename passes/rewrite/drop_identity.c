/* drop-identity: removes nodes that return their operand unchanged; their readers then read the operand.
 *
 * These are Identity; Dropout in inference, if nothing reads its mask; Cast and CastLike to the type that the
 * operand has already; Reshape to the shape that the operand has already, for all sizes of symbolic dimensions;
 * Transpose that leaves the axes in their order, and two Transposes that undo each other.  A node whose result is an
 * output of its graph stays if the operand cannot be the output instead, as it is an input, a weight, another
 * output, or a value outside the body. Values that only removed nodes read (shapes, ratios, the result of the first
 * of two Transposes) are removed, too. One pass over the nodes in their order also removes chains of such nodes;
 * O(nodes + operands + dimensions). */
#include "ir/model/edit.h"
#include "passes/passes.h"

#include <string.h>

/* State of the pass, with the number of removed nodes of each kind. */
struct identity_sweep {
    const struct module *m;
    struct edit *e;
    int64_t opset; /* version of ai.onnx that the model imports */
    uint32_t identity, dropout, cast, reshape, transpose;
};

/* Whether node n has the operator op of ai.onnx. */
static bool has_operator(const struct identity_sweep *x, nid n, const char *op)
{
    return x->m->node[n].domain == 0 && strcmp(node_op(x->m, n), op) == 0;
}

/* Whether a value is constant, with one element that is false. */
static bool is_false(const struct module *m, vid v)
{
    int64_t set = 1;
    if ((m->value[v].flags & (VALUE_INIT | VALUE_INPUT)) == VALUE_INIT)
        return tensor_ints(m, m->value[v].tensor, &set, 1) == 1 && set == 0;
    const struct attr *a = m->value[v].def ? node_attr(m, m->value[v].def, "value") : NULL;
    return a && a->kind == ATTR_TENSOR && !a->ref && node_is(m, m->value[v].def, "Constant") &&
           tensor_ints(m, a->u.t, &set, 1) == 1 && set == 0;
}

/* Whether Dropout n returns its operand unchanged and has no mask.  A Dropout drops elements if its operand 2 may be
 * true; before opset 7, if its attribute is_test is 0. */
static bool passes_on(const struct identity_sweep *x, nid n)
{
    vid training = edit_in(x->e, n, 2);
    bool infers = x->opset < 7 ? node_attr_int(x->m, n, "is_test", 0) != 0
                               : training == 0 || is_false(x->m, training);
    return infers && node_out(x->m, n, 1) == 0;
}

/* Returns the element type of v; ELEM_NONE: v is no tensor, or the type is unknown. */
static int64_t elem_of(const struct module *m, vid v)
{
    const struct type *t = &m->type[m->value[v].type];
    return t->kind == TYPE_TENSOR ? t->elem : ELEM_NONE;
}

/* Whether two values are known to have the same shape for all sizes of symbolic dimensions. */
static bool is_same_shape(const struct module *m, vid v, vid w)
{
    const struct type *a = &m->type[m->value[v].type], *b = &m->type[m->value[w].type];
    bool same =
        a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR && a->rank >= 0 && a->rank == b->rank;
    for (uint32_t i = 0; same && i < (uint32_t)a->rank; i++) {
        struct dim p = m->dim[a->dim + i], q = m->dim[b->dim + i];
        same = p.sym != 0 ? p.sym == q.sym : p.value >= 0 && p.value == q.value;
    }
    return same;
}

/* Returns the axis of the operand that becomes axis i of the result of Transpose n; without the attribute perm, axes
 * are in reverse order.  rank: rank of the operand. */
static int64_t axis_from(const struct module *m, nid n, uint32_t i, uint32_t rank)
{
    const struct attr *perm = node_attr(m, n, "perm");
    return perm ? m->ints[perm->u.list.at + i] : (int64_t)(rank - 1 - i);
}

/* Whether Transpose n, after Transpose `before` if that is not 0, leaves all axes in their places. */
static bool keeps_axes(const struct identity_sweep *x, nid n, nid before)
{
    const struct module *m = x->m;
    const struct attr *perm = node_attr(m, n, "perm");
    const struct type *t = &m->type[m->value[node_out(m, n, 0)].type];
    int64_t rank = perm && perm->kind == ATTR_INTS   ? (int64_t)perm->u.list.n
                   : !perm && t->kind == TYPE_TENSOR ? t->rank
                                                     : -1;
    const struct attr *first = before ? node_attr(m, before, "perm") : NULL;
    if (rank < 0 || (perm && perm->ref) ||
        (first && (first->kind != ATTR_INTS || first->ref || first->u.list.n != (uint64_t)rank)))
        return false;
    for (uint32_t i = 0; i < (uint32_t)rank; i++) {
        int64_t from = axis_from(m, n, i, (uint32_t)rank);
        if (from < 0 || from >= rank)
            return false;
        if ((before ? axis_from(m, before, (uint32_t)from, (uint32_t)rank) : from) != i)
            return false;
    }
    return true;
}

/* Returns a value that is equal to the result of Transpose n, whose operand is v: v itself, or the operand of the
 * Transpose that makes v; 0: neither is equal, since axes move. */
static vid untransposed(const struct identity_sweep *x, nid n, vid v)
{
    nid before = x->m->value[v].def;
    if (keeps_axes(x, n, 0))
        return v;
    return before && has_operator(x, before, "Transpose") && keeps_axes(x, n, before)
               ? edit_in(x->e, before, 0)
               : 0;
}

/* If the result of node n equals another value, its operand or the operand of the Transpose before it, returns that
 * value and points *count to the counter for n's kind of node; returns 0 if n computes a new value. */
static vid returned(struct identity_sweep *x, nid n, uint32_t **count)
{
    vid v = edit_in(x->e, n, 0);
    if (v == 0 || x->m->node[n].domain != 0 || x->m->node[n].callee != 0)
        return 0;
    if (has_operator(x, n, "Identity")) {
        *count = &x->identity;
        return v;
    }
    if (has_operator(x, n, "Dropout")) {
        *count = &x->dropout;
        return passes_on(x, n) ? v : 0;
    }
    if (has_operator(x, n, "Cast") || has_operator(x, n, "CastLike")) {
        int64_t to = has_operator(x, n, "Cast") ? node_attr_int(x->m, n, "to", 0)
                                                : elem_of(x->m, edit_in(x->e, n, 1));
        *count = &x->cast;
        return to != ELEM_NONE && elem_of(x->m, v) == to ? v : 0;
    }
    if (has_operator(x, n, "Reshape")) {
        *count = &x->reshape;
        return is_same_shape(x->m, v, node_out(x->m, n, 0)) ? v : 0;
    }
    *count = &x->transpose;
    return has_operator(x, n, "Transpose") ? untransposed(x, n, v) : 0;
}

/* Whether the first result of n is there and all other results are omitted. */
static bool has_one_result(const struct module *m, nid n)
{
    vid v = node_out(m, n, 0);
    bool one = v != 0 && (m->value[v].flags & VALUE_LOST) == 0;
    for (uint32_t i = 1; i < m->node[n].out.n && one; i++)
        one = node_out(m, n, i) == 0;
    return one;
}

/* pass.run: drops the nodes that return an operand unchanged, and values that only these nodes needed; notes how
 * many of each kind there were.  Returns 0. */
static int run_drop_identity(struct ctx *x, const void *options)
{
    struct module *m = x->scene.m;
    struct identity_sweep d = {.m = m, .opset = module_opset(m, 0)};
    nid most = m->nnode;
    (void)options;
    d.e = edit_begin(m, x->use.scratch);
    for (nid n = 1; n < most; n++) {
        uint32_t *count = NULL;
        vid v = has_one_result(m, n) ? returned(&d, n, &count) : 0;
        if (v == 0 || !edit_replace(d.e, node_out(m, n, 0), v))
            continue;
        edit_drop(d.e, n);
        (*count)++;
    }
    uint32_t dropped = d.identity + d.dropout + d.cast + d.reshape + d.transpose;
    if (dropped == 0) {
        diag_detail(x->use.diag, "drop-identity: every node does something");
        return 0;
    }
    edit_sweep(d.e);
    edit_end(d.e);
    diag_detail(
        x->use.diag,
        "drop-identity: %u nodes are now %u: %u Identity, %u Dropout, %u Cast, %u Reshape, %u "
        "Transpose returned what they were given",
        most - 1, m->nnode - 1, d.identity, d.dropout, d.cast, d.reshape, d.transpose);
    return 0;
}

const struct pass pass_drop_identity = {
    .name = "drop-identity",
    .help =
        "drop nodes that return what they are given: Identity, Dropout, casts and reshapes to the same",
    .needs = NEED_SHAPES,
    .rewrites = true,
    .run = run_drop_identity};
