/* Shape inference: sequences, optional values and maps, which are called containers here.
 *
 * A sequence has one type for all its elements, which must hold for each of them.  So the types of elements are joined:
 * equal dimensions stay, others become unknown.  A type that the file declares stays, and its unknown parts are filled
 * in, as for tensors (infer_core.c).
 * O(operands * rank) for each node. */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

/* the most containers inside each other; readers of models have the same limit */
enum { NESTED = 64 };

/* Whether a type is a sequence, optional or map. */
static bool is_container(const struct type *t)
{
    return t->kind == TYPE_SEQ || t->kind == TYPE_OPT || t->kind == TYPE_MAP;
}

/* Adds the type of a container of this kind with elements of type `inner`; returns its index in m->type. */
static uint32_t container_of(struct infer *f, enum type_kind kind, uint32_t inner)
{
    return module_add_type(f->m, (struct type){.kind = (uint8_t)kind, .rank = -1, .inner = inner});
}

void shape_join(struct shape *acc, const struct shape *s)
{
    assert(acc->rank <= SHAPE_RANK && s->rank <= SHAPE_RANK);
    acc->elem = acc->elem != 0 ? acc->elem : s->elem;
    if (acc->rank != s->rank) {
        acc->rank = -1;
        return;
    }
    for (int i = 0; i < acc->rank; i++) {
        if (!dim_same(acc->d[i], s->d[i]))
            acc->d[i] = dim_unknown();
    }
}

/* Returns the shape in a tensor type. */
static struct shape shape_of_type(const struct infer *f, uint32_t type)
{
    const struct type *t = &f->m->type[type];
    struct shape s = {.elem = t->elem, .rank = t->rank <= SHAPE_RANK ? t->rank : -1};
    for (int i = 0; i < s.rank; i++)
        s.d[i] = f->m->dim[t->dim + (uint32_t)i];
    return s;
}

/* Adds the tensor type with shape *s to the module; returns its index. */
static uint32_t type_of_shape(struct infer *f, const struct shape *s)
{
    return module_add_tensor_type(f->m, (enum elem)s->elem, s->rank, s->d);
}

/* Returns acc with its unknown parts filled in from s; acc itself if the element types differ. */
static struct shape fill_shape(struct shape acc, struct shape s)
{
    if (acc.elem != 0 && s.elem != 0 && acc.elem != s.elem)
        return acc;
    acc.elem = acc.elem != 0 ? acc.elem : s.elem;
    if (acc.rank < 0) {
        s.elem = acc.elem;
        return s;
    }
    for (int i = 0; i < acc.rank && acc.rank == s.rank; i++)
        acc.d[i] = dim_known(acc.d[i]) ? acc.d[i] : s.d[i];
    return acc;
}

/* Returns the types a and b merged; 0: these are of different kinds.  fill: both types hold for one value, so unknown
 * parts of a are filled in from b; else a value has one of the two types, so only their common parts stay. */
static uint32_t combine_types(struct infer *f, uint32_t a, uint32_t b, bool fill)
{
    assert(a < f->m->ntype && b < f->m->ntype);
    struct type outer[NESTED]; /* [n] the containers around a and b, the outermost first */
    unsigned n = 0;
    for (; a != b && n < NESTED; n++) {
        const struct type *x = &f->m->type[a], *y = &f->m->type[b];
        if (x->kind != y->kind)
            return 0;
        if (!is_container(x))
            break;
        outer[n] = *x;
        a = x->inner;
        b = y->inner;
    }
    if (a != b && f->m->type[a].kind == TYPE_TENSOR) {
        struct shape s = shape_of_type(f, a), t = shape_of_type(f, b);
        if (fill)
            s = fill_shape(s, t);
        else
            shape_join(&s, &t);
        a = type_of_shape(f, &s);
    } else if (a != b) {
        return 0;
    }
    while (n > 0) {
        outer[--n].inner = a;
        a = module_add_type(f->m, outer[n]);
    }
    return a;
}

uint32_t type_join(struct infer *f, uint32_t a, uint32_t b)
{
    return combine_types(f, a, b, /*fill=*/false);
}

uint32_t type_without_shape(struct infer *f, uint32_t type)
{
    assert(type < f->m->ntype);
    const struct type *t = &f->m->type[type];
    if (t->kind != TYPE_SEQ || f->m->type[t->inner].kind != TYPE_TENSOR)
        return is_container(t) ? 0 : type;
    struct shape s = shape_unknown((enum elem)f->m->type[t->inner].elem);
    return container_of(f, TYPE_SEQ, type_of_shape(f, &s));
}

void container_set(struct infer *f, nid n, uint32_t i, uint32_t type)
{
    assert(type < f->m->ntype);
    vid out = node_out(f->m, n, i);
    if (out == 0 || type == 0)
        return;
    uint32_t now = f->type[out] == 0 ? type : combine_types(f, f->type[out], type, /*fill=*/true);
    if (now != 0)
        f->type[out] = now;
}

/* Returns the type of operand i; 0: unknown.  If the operand is an initializer that has no type yet, adds a type for
 * its tensor. */
static uint32_t type_in(struct infer *f, nid n, uint32_t i)
{
    struct shape s;
    vid v = node_in(f->m, n, i);
    if (v == 0 || f->type[v] != 0)
        return v == 0 ? 0 : f->type[v];
    return shape_of(f, v, &s) ? type_of_shape(f, &s) : 0;
}

/* Returns the type of the elements of operand i, a sequence; 0: it is no sequence. */
static uint32_t element_in(struct infer *f, nid n, uint32_t i)
{
    uint32_t type = type_in(f, n, i);
    return f->m->type[type].kind == TYPE_SEQ ? f->m->type[type].inner : 0;
}

/* Whether v is the result of a node of operator op. */
static bool is_made_by(const struct infer *f, vid v, const char *op)
{
    return v != 0 && f->m->value[v].def != 0 && node_is(f->m, f->m->value[v].def, op);
}

/* Returns the node SequenceConstruct that makes the sequence v: its operands are the elements; 0: another node makes v,
 * or none. */
static nid constructed(const struct infer *f, vid v)
{
    return is_made_by(f, v, "SequenceConstruct") ? f->m->value[v].def : 0;
}

/* Sets the result of SequenceConstruct n: a sequence of its operands. */
static void construct_sequence(struct infer *f, nid n)
{
    uint32_t type = type_in(f, n, 0), k = f->m->node[n].nformal;
    for (uint32_t i = 1; i < k && type != 0; i++)
        type = type_join(f, type, type_in(f, n, i));
    if (type != 0)
        container_set(f, n, 0, container_of(f, TYPE_SEQ, type));
}

/* Sets the result of SequenceEmpty n: a sequence of tensors with the element type in attribute dtype. */
static void make_empty(struct infer *f, nid n)
{
    int64_t e = node_attr_int(f->m, n, "dtype", ELEM_F32);
    struct shape s = shape_unknown(e > 0 && e < ELEM_COUNT ? (enum elem)e : ELEM_F32);
    container_set(f, n, 0, container_of(f, TYPE_SEQ, type_of_shape(f, &s)));
}

/* Sets the result of SequenceInsert n: the sequence in operand 0 with operand 1 inserted. */
static void insert_element(struct infer *f, nid n)
{
    uint32_t old = element_in(f, n, 0), add = type_in(f, n, 1);
    if (is_made_by(f, node_in(f->m, n, 0), "SequenceEmpty") && add != 0)
        old = add;
    uint32_t type = old != 0 && add != 0 ? type_join(f, old, add) : 0;
    if (type != 0)
        container_set(f, n, 0, container_of(f, TYPE_SEQ, type));
    else if (old != 0)
        container_set(f, n, 0, type_without_shape(f, type_in(f, n, 0)));
}

/* Returns the size of the pieces of SplitToSequence n along the axis, which has size `whole`, if all pieces have the
 * same size; else unknown. */
static struct dim piece_size(struct infer *f, nid n, struct dim whole)
{
    int64_t v[SHAPE_VALUES];
    vid split = node_in(f->m, n, 1);
    struct shape s;
    if (split == 0)
        return dim_num(1);
    int k = ints_of(f, split, v, SHAPE_VALUES);
    if (k <= 0 || !shape_of(f, split, &s) || s.rank < 0)
        return dim_unknown();
    for (int i = 1; i < k; i++) {
        if (v[i] != v[0])
            return dim_unknown();
    }
    /* a scalar is the size of all pieces, of which the last may be smaller */
    if (s.rank == 0 && (v[0] <= 0 || whole.value < 0 || whole.value % v[0] != 0))
        return dim_unknown();
    return dim_num(v[0]);
}

/* Sets the result of SplitToSequence n: a sequence of pieces along an axis; without operand 1 the pieces have size 1,
 * and keepdims == 0 drops their axis. */
static void split_sequence(struct infer *f, nid n)
{
    struct shape s;
    if (!shape_in(f, n, 0, &s))
        return;
    int axis = s.rank > 0 ? axis_of(node_attr_int(f->m, n, "axis", 0), s.rank) : -1;
    if (axis < 0) {
        s.rank = -1;
    } else if (node_in(f->m, n, 1) == 0 && node_attr_int(f->m, n, "keepdims", 1) == 0) {
        s.rank--;
        memmove(&s.d[axis], &s.d[axis + 1], (size_t)(s.rank - axis) * sizeof s.d[0]);
    } else {
        s.d[axis] = piece_size(f, n, s.d[axis]);
    }
    container_set(f, n, 0, container_of(f, TYPE_SEQ, type_of_shape(f, &s)));
}

/* Sets the result of SequenceLength n: a number, which is known if SequenceConstruct made the sequence. */
static void set_length(struct infer *f, nid n)
{
    struct shape s = shape_scalar(ELEM_I64);
    nid made = constructed(f, node_in(f->m, n, 0));
    shape_set(f, n, 0, &s);
    if (made == 0)
        return;
    struct nums *x = nums_new(f, 1);
    x->at[0] = num_int(f->m->node[made].nformal);
    nums_set(f, n, 0, x);
}

/* Rule for operators on sequences.  arg: enum seq_rule. */
void rule_sequence(struct infer *f, nid n, int arg)
{
    switch ((enum seq_rule)arg) {
    case SEQ_CONSTRUCT:
        construct_sequence(f, n);
        break;
    case SEQ_EMPTY:
        make_empty(f, n);
        break;
    case SEQ_INSERT:
        insert_element(f, n);
        break;
    case SEQ_ERASE:
        container_set(f, n, 0, type_in(f, n, 0));
        break;
    case SEQ_SPLIT:
        split_sequence(f, n);
        break;
    case SEQ_LENGTH:
        set_length(f, n);
        break;
    case SEQ_AT:
        container_set(f, n, 0, element_in(f, n, 0));
        break;
    }
}

/* Returns the sum of the sizes of axis `axis` over the operands of SequenceConstruct `made`. */
static struct dim sum_of_parts(struct infer *f, nid made, int axis)
{
    struct num sum = num_int(0);
    for (uint32_t i = 0; i < f->m->node[made].nformal; i++) {
        struct shape s;
        if (!shape_in(f, made, i, &s) || s.rank <= axis)
            return dim_unknown();
        sum = num_add(f, sum, num_of_dim(s.d[axis]));
    }
    return num_dim(sum);
}

/* Rule for ConcatFromSequence: joins the elements of a sequence along an axis or, with new_axis, along a new axis. */
void rule_concat_from_sequence(struct infer *f, nid n, int arg)
{
    uint32_t type = element_in(f, n, 0);
    nid made = constructed(f, node_in(f->m, n, 0));
    bool fresh = node_attr_int(f->m, n, "new_axis", 0) != 0;
    (void)arg;
    if (f->m->type[type].kind != TYPE_TENSOR)
        return;
    struct shape s = shape_of_type(f, type);
    int rank = s.rank + fresh;
    int axis = s.rank >= 0 && rank > 0 && rank <= SHAPE_RANK
                   ? axis_of(node_attr_int(f->m, n, "axis", 0), rank)
                   : -1;
    if (axis < 0) {
        s.rank = -1;
    } else if (fresh) {
        memmove(&s.d[axis + 1], &s.d[axis], (size_t)(s.rank - axis) * sizeof s.d[0]);
        s.d[axis] = made != 0 ? dim_num(f->m->node[made].nformal) : dim_unknown();
        s.rank = rank;
    } else {
        s.d[axis] = made != 0 ? sum_of_parts(f, made, axis) : dim_unknown();
    }
    shape_set(f, n, 0, &s);
}

/* Rule for operators on optional values.  arg 0: Optional, which puts operand 0 into an optional value; 1:
 * OptionalGetElement, which takes the value out of operand 0; 2: OptionalHasElement, whose result is a bool. */
void rule_optional(struct infer *f, nid n, int arg)
{
    uint32_t type = type_in(f, n, 0);
    if (arg == 2) {
        struct shape s = shape_scalar(ELEM_BOOL);
        shape_set(f, n, 0, &s);
    } else if (arg == 0) {
        if (type != 0)
            container_set(f, n, 0, container_of(f, TYPE_OPT, type));
    } else { /* from opset 18 on the operand may be the element itself */
        container_set(f, n, 0, f->m->type[type].kind == TYPE_OPT ? f->m->type[type].inner : type);
    }
}

void enter_sequence_map(struct infer *f, nid n, gid g)
{
    const struct slice in = f->m->graph[g].in;
    for (uint32_t i = 0; i < in.n && i < f->m->node[n].nformal; i++) {
        uint32_t inner = element_in(f, n, i), type = inner != 0 ? inner : type_in(f, n, i);
        vid v = f->m->arg[in.at + i];
        if (type == 0)
            continue;
        uint32_t now = f->type[v] == 0 ? type : combine_types(f, f->type[v], type, /*fill=*/true);
        if (now != 0)
            f->type[v] = now;
    }
}

/* Rule for SequenceMap: each result is the sequence of the values that an output of the body gets. */
void rule_sequence_map(struct infer *f, nid n, int arg)
{
    const struct attr *a = node_attr(f->m, n, "body");
    (void)arg;
    if (a == NULL || a->kind != ATTR_GRAPH || a->ref != 0)
        return;
    const struct slice out = f->m->graph[a->u.g].out;
    for (uint32_t i = 0; i < out.n; i++) {
        struct shape s;
        vid v = f->m->arg[out.at + i];
        uint32_t type = f->type[v] != 0      ? f->type[v]
                        : shape_of(f, v, &s) ? type_of_shape(f, &s)
                                             : 0;
        if (type != 0)
            container_set(f, n, i, container_of(f, TYPE_SEQ, type));
    }
}

/* Rule for ZipMap: the result is a sequence of maps from labels to scores, with one map for each row. */
void rule_zip_map(struct infer *f, nid n, int arg)
{
    const struct attr *a = node_attr(f->m, n, "classlabels_int64s");
    struct shape s = shape_scalar(ELEM_F32);
    (void)arg;
    uint32_t map = container_of(f, TYPE_MAP, type_of_shape(f, &s));
    f->m->type[map].elem = a != NULL && a->u.list.n > 0 ? ELEM_I64 : ELEM_STR;
    container_set(f, n, 0, container_of(f, TYPE_SEQ, map));
}
