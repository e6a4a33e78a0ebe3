/* Shape inference: If, Loop and Scan.
 *
 * Bodies are visited when the walk reaches their owner (infer_shapes.c).  The shape of a result of If is what both
 * branches agree on.  A Loop or Scan carries values from each iteration to the next.  The first visit of its body
 * assumes that a carried value keeps the shape of the operand.  If the body returns another shape, the body is visited
 * again with the changed dimensions unknown; after the second change, all shapes of carried values are unknown: at most
 * three visits.  O(rank) for each carried value and visit. */
#include "passes/shapes/infer_bodies.h"

#include <assert.h>
#include <string.h>

/* after this many changes of carried shapes, all carried shapes are taken as unknown */
enum { LAST_ROUND = 2 };

/* What is known of the values that a Loop or Scan carries from iteration to iteration. */
struct body_state {
    uint32_t n; /* number of values */
    /* number of changes of their shapes so far; UINT32_MAX: all visits are done */
    uint32_t round;
    struct shape *s; /* [n] what is known of their shapes in all iterations */
};

/* Returns the attribute `name` of node n if it is a body, else NULL. */
static const struct attr *body_attr(const struct infer *f, nid n, const char *name)
{
    const struct attr *a = node_attr(f->m, n, name);
    return a != NULL && a->kind == ATTR_GRAPH && a->u.g > 1 && a->u.g < f->m->ngraph ? a : NULL;
}

/* Returns input i of graph g; 0: i is past the end. */
static vid graph_in(const struct module *m, gid g, uint32_t i)
{
    return i < m->graph[g].in.n ? m->arg[m->graph[g].in.at + i] : 0;
}

/* Returns output i of graph g; 0: i is past the end. */
static vid graph_out(const struct module *m, gid g, uint32_t i)
{
    return i < m->graph[g].out.n ? m->arg[m->graph[g].out.at + i] : 0;
}

/* Sets the types of the k inputs of body g of node n that are carried values, from input `first` on: the types of the
 * operands from `operand` on, without the dimensions that earlier visits found to change. */
static void enter_carried(struct infer *f, nid n, gid g, uint32_t operand, uint32_t first,
                          uint32_t k)
{
    assert(g > 1 && g < f->m->ngraph);
    struct body_state *c = f->carried[g];
    if (c == NULL || c->round == UINT32_MAX) { /* the first visit since the owner was reached */
        c = arena_alloc(f->mem, sizeof *c);
        c->n = k;
        c->s = arena_array(f->mem, k, sizeof *c->s);
        for (uint32_t i = 0; i < k; i++)
            shape_in(f, n, operand + i, &c->s[i]);
        f->carried[g] = c;
    }
    for (uint32_t i = 0; i < k; i++) {
        vid outer = node_in(f->m, n, operand + i), inner = graph_in(f->m, g, first + i);
        uint8_t kind = f->m->type[outer != 0 ? f->type[outer] : 0].kind;
        if (kind == TYPE_NONE || kind == TYPE_TENSOR)
            shape_merge(f, n, inner, &c->s[i]);
        /* a sequence that the body returns may have elements of another shape */
        else if (inner != 0 && f->type[inner] == 0)
            f->type[inner] = type_without_shape(f, f->type[outer]);
    }
}

/* After a visit of body g: where the body returns a carried value with another dimension or rank, makes that dimension
 * or the whole shape unknown; at change number LAST_ROUND makes all carried shapes unknown.  first: index of the body's
 * first output that is a carried value.  Returns whether something changed, so that the body must be visited again. */
static bool widen_carried(struct infer *f, gid g, uint32_t first)
{
    assert(f->carried[g] != NULL); /* enter_carried() came before */
    struct body_state *c = f->carried[g];
    bool changed = false;
    for (uint32_t i = 0; i < c->n; i++) {
        struct shape out, before = c->s[i];
        shape_of(f, graph_out(f->m, g, first + i), &out);
        if (before.rank < 0)
            continue;
        shape_join(&c->s[i], &out);
        changed = changed || c->s[i].rank != before.rank;
        for (int k = 0; k < c->s[i].rank; k++)
            changed = changed || (dim_known(before.d[k]) && !dim_known(c->s[i].d[k]));
    }
    if (!changed)
        return false;
    if (++c->round == LAST_ROUND) {
        for (uint32_t i = 0; i < c->n; i++)
            c->s[i].rank = -1;
    }
    return true;
}

/* Returns how many of the last operands of Scan n are scanned: the body gets one slice of them per iteration. */
static uint32_t scan_inputs(const struct infer *f, nid n)
{
    int64_t k = node_attr_int(f->m, n, "num_scan_inputs", 0);
    uint32_t formal = f->m->node[n].nformal;
    return k < 0 || k > formal ? formal : (uint32_t)k;
}

/* Returns entry k of a list attribute of axes; 0 if it is absent. */
static int64_t list_axis(const struct infer *f, nid n, const char *name, uint32_t k)
{
    const struct attr *a = node_attr(f->m, n, name);
    if (a == NULL || a->kind != ATTR_INTS || k >= a->u.list.n)
        return 0;
    return f->m->ints[a->u.list.at + k];
}

/* Drops the first k dimensions of *s; the shape becomes unknown if it has fewer. */
static void drop_axes(struct shape *s, int k)
{
    assert(k >= 0);
    s->rank = s->rank >= k ? s->rank - k : -1;
    if (s->rank > 0)
        memmove(&s->d[0], &s->d[k], (size_t)s->rank * sizeof s->d[0]);
}

/* Sets the types of the inputs of body g of Scan n in opset 8: operand 0 holds lengths, and all other operands and
 * all results have a first axis for the batch, which the body does not see. */
static void enter_scan_8(struct infer *f, nid n, gid g)
{
    uint32_t nscan = scan_inputs(f, n), formal = f->m->node[n].nformal;
    for (uint32_t i = 1; i < formal; i++) {
        struct shape s = operand_shape(f, n, i);
        drop_axes(&s, i < formal - nscan ? 1 : 2);
        shape_merge(f, n, graph_in(f->m, g, i - 1), &s);
    }
}

/* Sets the types of the inputs of body g of Scan n: carried values, then slices of the scanned operands. */
static void enter_scan(struct infer *f, nid n, gid g)
{
    uint32_t nscan = scan_inputs(f, n), nstate = f->m->node[n].nformal - nscan;
    if (f->opset < 9) {
        enter_scan_8(f, n, g);
        return;
    }
    enter_carried(f, n, g, /*operand=*/0, /*first=*/0, nstate);
    for (uint32_t i = 0; i < nscan; i++) {
        struct shape s = operand_shape(f, n, nstate + i);
        int axis = s.rank > 0 ? axis_of(list_axis(f, n, "scan_input_axes", i), s.rank) : -1;
        if (axis >= 0) {
            s.rank--;
            memmove(&s.d[axis], &s.d[axis + 1], (size_t)(s.rank - axis) * sizeof s.d[0]);
        } else {
            s.rank = -1;
        }
        shape_merge(f, n, graph_in(f->m, g, nstate + i), &s);
    }
}

/* Sets the type of v, an input of a body of node n: a scalar, or a vector of one element if the body declares that. */
static void enter_scalar(struct infer *f, nid n, vid v, enum elem e)
{
    struct shape s = shape_scalar(e), said;
    if (shape_of(f, v, &said) && said.rank == 1)
        s = shape_vector(e, dim_num(1));
    shape_merge(f, n, v, &s);
}

void enter_body(struct infer *f, nid n, gid g)
{
    assert(g > 1 && g < f->m->ngraph);
    if (node_is(f->m, n, "Loop") && f->m->node[n].nformal >= 2) {
        enter_scalar(f, n, graph_in(f->m, g, 0), ELEM_I64);
        enter_scalar(f, n, graph_in(f->m, g, 1), ELEM_BOOL);
        enter_carried(f, n, g, /*operand=*/2, /*first=*/2, f->m->node[n].nformal - 2);
    } else if (node_is(f->m, n, "SequenceMap")) {
        enter_sequence_map(f, n, g);
    } else if (node_is(f->m, n, "Scan")) {
        enter_scan(f, n, g);
    }
}

bool leave_bodies(struct infer *f, nid n)
{
    const struct attr *a = body_attr(f, n, "body");
    gid g = a != NULL ? a->u.g : 0;
    if (g == 0 || f->carried[g] == NULL)
        return false;
    bool again = widen_carried(f, g, node_is(f->m, n, "Loop") ? 1 : 0);
    if (!again)
        f->carried[g]->round = UINT32_MAX; /* the next visit of the owner starts anew */
    return again;
}

/* Rule for If: each result has what the results of both branches have in common. */
void rule_if(struct infer *f, nid n, int arg)
{
    const struct attr *t = body_attr(f, n, "then_branch"), *e = body_attr(f, n, "else_branch");
    (void)arg;
    if (t == NULL || e == NULL)
        return;
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++) {
        struct shape a, b;
        vid va = graph_out(f->m, t->u.g, i), vb = graph_out(f->m, e->u.g, i);
        bool fa = shape_of(f, va, &a), fb = shape_of(f, vb, &b);
        if (!fa || !fb) {
            if (va != 0 && vb != 0) /* a container, or a value of unknown type */
                container_set(f, n, i, type_join(f, f->type[va], f->type[vb]));
            continue;
        }
        shape_join(&a, &b);
        shape_set(f, n, i, &a);
    }
}

bool loop_goes_on(struct infer *f, nid n)
{
    const struct attr *a = body_attr(f, n, "body");
    int64_t cond = 1;
    if (a == NULL)
        return false;
    vid in = graph_in(f->m, a->u.g, 1), out = graph_out(f->m, a->u.g, 0);
    nid def = out != 0 ? f->m->value[out].def : 0;
    /* whether the body returns the condition that it gets */
    bool same =
        out == in || (def != 0 && node_is(f->m, def, "Identity") && node_in(f->m, def, 0) == in);
    if (!same && (ints_of(f, out, &cond, 1) != 1 || cond == 0))
        return false;
    vid first = node_in(f->m, n, 1);
    return first == 0 || (ints_of(f, first, &cond, 1) == 1 && cond != 0);
}

/* Returns the number of iterations of Loop n, if it is certain; else -1. */
static int64_t loop_trips(struct infer *f, nid n)
{
    int64_t trips;
    bool given = ints_of(f, node_in(f->m, n, 0), &trips, 1) == 1 && trips >= 0;
    return given && loop_goes_on(f, n) ? trips : -1;
}

/* Sets the type of result i of Loop n, a carried value that is no tensor: the type that holds for both the operand and
 * the body's output v. */
static void loop_result(struct infer *f, nid n, uint32_t i, vid v)
{
    uint32_t before = f->type[node_in(f->m, n, 2 + i)], after = f->type[v];
    container_set(f, n, i, before == 0 ? after : type_join(f, before, after));
}

/* Rule for Loop: the first results are the carried values; further results are outputs of the body with a new first
 * axis for the iterations. */
void rule_loop(struct infer *f, nid n, int arg)
{
    const struct attr *a = body_attr(f, n, "body");
    (void)arg;
    if (a == NULL || f->carried[a->u.g] == NULL)
        return;
    const struct body_state *c = f->carried[a->u.g];
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++) {
        struct shape s;
        vid v = graph_out(f->m, a->u.g, i + 1);
        if (i < c->n) {
            if (c->s[i].rank >= 0 || c->s[i].elem != 0)
                shape_set(f, n, i, &c->s[i]);
            else if (v != 0 && node_in(f->m, n, 2 + i) != 0)
                loop_result(f, n, i, v);
            continue;
        }
        if (!shape_of(f, v, &s))
            continue;
        if (s.rank >= 0 && s.rank < SHAPE_RANK) {
            memmove(&s.d[1], &s.d[0], (size_t)s.rank * sizeof s.d[0]);
            s.d[0] = num_dim(num_int(loop_trips(f, n))); /* unknown if loop_trips() returns -1 */
            s.rank++;
        } else {
            s.rank = -1;
        }
        shape_set(f, n, i, &s);
    }
}

/* Sets the types of the results of Scan n in opset 8, with body g: carried values have the types of their operands;
 * other results are outputs of the body with the first two axes of the last operand in front. */
static void leave_scan_8(struct infer *f, nid n, gid g)
{
    /* operand 0 has the lengths of the sequences; behind it stand nstate carried values, and then nscan values to be
     * scanned */
    uint32_t formal = f->m->node[n].nformal, nscan = scan_inputs(f, n);
    uint32_t nstate = formal > nscan ? formal - nscan - 1 : 0;
    struct shape in = operand_shape(f, n, formal - 1), s;
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++) {
        if (i < nstate) {
            shape_set_like(f, n, i, node_in(f->m, n, 1 + i), ELEM_NONE);
            continue;
        }
        if (!shape_of(f, graph_out(f->m, g, i), &s))
            continue;
        if (s.rank >= 0 && s.rank + 2 <= SHAPE_RANK) {
            memmove(&s.d[2], &s.d[0], (size_t)s.rank * sizeof s.d[0]);
            s.d[0] = shape_dim(&in, 0);
            s.d[1] = shape_dim(&in, 1);
            s.rank += 2;
        } else {
            s.rank = -1;
        }
        shape_set(f, n, i, &s);
    }
}

/* Rule for Scan: the first results are the carried values; further results are outputs of the body with a new axis
 * for the iterations. */
void rule_scan(struct infer *f, nid n, int arg)
{
    const struct attr *a = body_attr(f, n, "body");
    (void)arg;
    if (a != NULL && f->opset < 9 && f->m->node[n].nformal > 0)
        leave_scan_8(f, n, a->u.g);
    if (a == NULL || f->opset < 9 || f->carried[a->u.g] == NULL)
        return;
    const struct body_state *c = f->carried[a->u.g];
    /* number of iterations: the size of the first scanned operand along the axis that is scanned */
    struct dim length = dim_unknown();
    struct shape s;
    if (shape_in(f, n, c->n, &s) && s.rank > 0) {
        int axis = axis_of(list_axis(f, n, "scan_input_axes", 0), s.rank);
        length = axis >= 0 ? s.d[axis] : length;
    }
    for (uint32_t i = 0; i < f->m->node[n].out.n; i++) {
        if (i < c->n) {
            shape_set(f, n, i, &c->s[i]);
            continue;
        }
        if (!shape_of(f, graph_out(f->m, a->u.g, i), &s))
            continue;
        int axis = s.rank >= 0 && s.rank < SHAPE_RANK
                       ? axis_of(list_axis(f, n, "scan_output_axes", i - c->n), s.rank + 1)
                       : -1;
        if (axis >= 0) {
            memmove(&s.d[axis + 1], &s.d[axis], (size_t)(s.rank - axis) * sizeof s.d[0]);
            s.d[axis] = length;
            s.rank++;
        } else {
            s.rank = -1;
        }
        shape_set(f, n, i, &s);
    }
}
