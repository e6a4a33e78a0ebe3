/* drop-identity: nodes that return what they are given go, and their readers read that.
 *
 * These are Identity; Dropout in inference, if nothing reads its mask; Cast and CastLike to the type that the value
 * has; Reshape to the shape that it has, for all sizes of symbolic dimensions; Transpose that leaves the axes in
 * their order, and two of them that undo each other.  A node that makes an output stays where the output's name
 * cannot go elsewhere: to an input, a weight, another output, or a value outside of the body.  What only these
 * nodes read (shapes, ratios, the first Transpose of two) goes, too. One sweep over the nodes in their order, so a
 * chain collapses at once; O(nodes + operands + dimensions). */
#include "ir/model/edit.h"
#include "passes/passes.h"

#include <assert.h>
#include <string.h>

/* What a sweep works on, and how many of each kind it has dropped. */
struct identity_sweep {
    const struct module *m;
    struct edit *e;
    int64_t opset;
    uint32_t identity, dropout, cast, reshape, transpose;
};

static bool is_named(const struct identity_sweep *x, nid n, const char *op)
{
    return x->m->node[n].domain == 0 && strcmp(node_op(x->m, n), op) == 0;
}

/* Whether a value is a constant false of one element. */
static bool is_false(const struct module *m, vid v)
{
    int64_t set = 1;
    if ((m->value[v].flags & (VALUE_INIT | VALUE_INPUT)) == VALUE_INIT)
        return tensor_ints(m, m->value[v].tensor, &set, 1) == 1 && set == 0;
    const struct attr *a = m->value[v].def ? node_attr(m, m->value[v].def, "value") : NULL;
    return a && a->kind == ATTR_TENSOR && !a->ref && node_is(m, m->value[v].def, "Constant") &&
           tensor_ints(m, a->u.t, &set, 1) == 1 && set == 0;
}

/* Whether a Dropout passes its operand on: it trains where its third operand says so, before opset 7 unless is_test. */
static bool passes_on(const struct identity_sweep *x, nid n)
{
    vid training = edit_in(x->e, n, 2);
    bool infers = x->opset < 7 ? node_attr_int(x->m, n, "is_test", 0) != 0
                               : training == 0 || is_false(x->m, training);
    return infers && node_out(x->m, n, 1) == 0;
}

static bool is_same_elem(const struct module *m, vid v, int64_t elem)
{
    const struct type *t = &m->type[m->value[v].type];
    return t->kind == TYPE_TENSOR && t->elem != ELEM_NONE && t->elem == elem;
}

static int64_t elem_of(const struct module *m, vid v)
{
    const struct type *t = &m->type[m->value[v].type];
    return t->kind == TYPE_TENSOR ? t->elem : ELEM_NONE;
}

/* Whether two values have the same shape, whatever the symbols in it stand for. */
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

/* Where axis i of the result of a Transpose comes from; rank: of its operand. */
static int64_t axis_from(const struct module *m, nid n, uint32_t i, uint32_t rank)
{
    const struct attr *perm = node_attr(m, n, "perm");
    return perm ? m->ints[perm->u.list.at + i] : (int64_t)(rank - 1 - i);
}

/* Whether a Transpose (behind another one, `before`, or 0) leaves all axes where they are. */
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

/* The value equal to the result of a Transpose: its operand, or the operand of the Transpose before; 0: the
 * Transpose moves axes. */
static vid undone(const struct identity_sweep *x, nid n, vid v)
{
    nid before = x->m->value[v].def;
    if (keeps_axes(x, n, 0))
        return v;
    return before && is_named(x, before, "Transpose") && keeps_axes(x, n, before)
               ? edit_in(x->e, before, 0)
               : 0;
}

/* The value that node n returns unchanged, and the counter for n's kind; 0: n computes something. */
static vid returned(struct identity_sweep *x, nid n, uint32_t **count)
{
    vid v = edit_in(x->e, n, 0);
    if (v == 0 || x->m->node[n].domain != 0 || x->m->node[n].callee != 0)
        return 0;
    if (is_named(x, n, "Identity")) {
        *count = &x->identity;
        return v;
    }
    if (is_named(x, n, "Dropout")) {
        *count = &x->dropout;
        return passes_on(x, n) ? v : 0;
    }
    if (is_named(x, n, "Cast") || is_named(x, n, "CastLike")) {
        int64_t to = is_named(x, n, "Cast") ? node_attr_int(x->m, n, "to", 0)
                                            : elem_of(x->m, edit_in(x->e, n, 1));
        *count = &x->cast;
        return is_same_elem(x->m, v, to) ? v : 0;
    }
    if (is_named(x, n, "Reshape")) {
        *count = &x->reshape;
        return is_same_shape(x->m, v, node_out(x->m, n, 0)) ? v : 0;
    }
    *count = &x->transpose;
    return is_named(x, n, "Transpose") ? undone(x, n, v) : 0;
}

/* Whether a node may go: its first result is a value, the others are omitted. */
static bool has_one_result(const struct module *m, nid n)
{
    vid v = node_out(m, n, 0);
    bool one = v != 0 && (m->value[v].flags & VALUE_LOST) == 0;
    for (uint32_t i = 1; i < m->node[n].out.n && one; i++)
        one = node_out(m, n, i) == 0;
    return one;
}

static int run(struct ctx *x, const void *options)
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
    .run = run};
