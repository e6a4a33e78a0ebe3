/* Messages that differ from the source's: nodes whose tensors lie in files, and types.
 *
 * Only the path from a changed tensor up to its node is copied.  The recursion goes down bodies,
 * whose nesting the reader has bounded (100 messages). */
#include "backends/split/split.h"

#include <assert.h>
#include <string.h>

static Onnx__GraphProto *rewrite_graph(struct split *s, Onnx__GraphProto *g);

/* A copy of the pointers p[n] when entry i is about to change; p itself if it is one already. */
static void *own_list(struct split *s, void *list, const void *source, size_t n, size_t size)
{
    if (list != source)
        return list;
    void *copy = arena_array(s->a, n, size);
    memcpy(copy, source, n * size);
    return copy;
}

static Onnx__AttributeProto *rewrite_attr(struct split *s, Onnx__AttributeProto *a)
{
    Onnx__AttributeProto c = *a;
    if (a->t)
        c.t = weights_tensor(s, a->t);
    if (a->g)
        c.g = rewrite_graph(s, a->g);
    for (size_t i = 0; i < a->n_tensors; i++) {
        Onnx__TensorProto *t = weights_tensor(s, a->tensors[i]);
        if (t == a->tensors[i])
            continue;
        c.tensors = own_list(s, c.tensors, a->tensors, a->n_tensors, sizeof *c.tensors);
        c.tensors[i] = t;
    }
    if (a->sparse_tensor)
        c.sparse_tensor = weights_sparse(s, a->sparse_tensor);
    for (size_t i = 0; i < a->n_sparse_tensors; i++) {
        Onnx__SparseTensorProto *t = weights_sparse(s, a->sparse_tensors[i]);
        if (t == a->sparse_tensors[i])
            continue;
        c.sparse_tensors = own_list(s, c.sparse_tensors, a->sparse_tensors, a->n_sparse_tensors,
                                    sizeof *c.sparse_tensors);
        c.sparse_tensors[i] = t;
    }
    for (size_t i = 0; i < a->n_graphs; i++) {
        Onnx__GraphProto *g = rewrite_graph(s, a->graphs[i]);
        if (g == a->graphs[i])
            continue;
        c.graphs = own_list(s, c.graphs, a->graphs, a->n_graphs, sizeof *c.graphs);
        c.graphs[i] = g;
    }
    if (c.t == a->t && c.g == a->g && c.tensors == a->tensors && c.graphs == a->graphs &&
        c.sparse_tensor == a->sparse_tensor && c.sparse_tensors == a->sparse_tensors)
        return a;
    Onnx__AttributeProto *copy = arena_alloc(s->a, sizeof *copy);
    *copy = c;
    return copy;
}

const Onnx__NodeProto *rewrite_node(struct split *s, const Onnx__NodeProto *n)
{
    Onnx__NodeProto c = *n;
    for (size_t i = 0; i < n->n_attribute; i++) {
        Onnx__AttributeProto *a = rewrite_attr(s, n->attribute[i]);
        if (a == n->attribute[i])
            continue;
        c.attribute = own_list(s, c.attribute, n->attribute, n->n_attribute, sizeof *c.attribute);
        c.attribute[i] = a;
    }
    if (c.attribute == n->attribute)
        return n;
    Onnx__NodeProto *copy = arena_alloc(s->a, sizeof *copy);
    *copy = c;
    return copy;
}

/* The nodes of a list; `list` itself if none changes. */
static Onnx__NodeProto **rewrite_nodes(struct split *s, Onnx__NodeProto **list, size_t n)
{
    Onnx__NodeProto **out = list;
    for (size_t i = 0; i < n; i++) {
        const Onnx__NodeProto *c = rewrite_node(s, list[i]);
        if (c == list[i])
            continue;
        out = own_list(s, out, list, n, sizeof *out);
        out[i] = (Onnx__NodeProto *)c;
    }
    return out;
}

static Onnx__GraphProto *rewrite_graph(struct split *s, Onnx__GraphProto *g)
{
    Onnx__GraphProto c = *g;
    c.node = rewrite_nodes(s, g->node, g->n_node);
    for (size_t i = 0; i < g->n_initializer; i++) {
        Onnx__TensorProto *t = weights_tensor(s, g->initializer[i]);
        if (t == g->initializer[i])
            continue;
        c.initializer =
            own_list(s, c.initializer, g->initializer, g->n_initializer, sizeof *c.initializer);
        c.initializer[i] = t;
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        Onnx__SparseTensorProto *t = weights_sparse(s, g->sparse_initializer[i]);
        if (t == g->sparse_initializer[i])
            continue;
        c.sparse_initializer = own_list(s, c.sparse_initializer, g->sparse_initializer,
                                        g->n_sparse_initializer, sizeof *c.sparse_initializer);
        c.sparse_initializer[i] = t;
    }
    if (c.node == g->node && c.initializer == g->initializer &&
        c.sparse_initializer == g->sparse_initializer)
        return g;
    Onnx__GraphProto *copy = arena_alloc(s->a, sizeof *copy);
    *copy = c;
    return copy;
}

const Onnx__FunctionProto *rewrite_function(struct split *s, const Onnx__FunctionProto *f)
{
    Onnx__FunctionProto c = *f, *copy;
    c.node = rewrite_nodes(s, f->node, f->n_node);
    for (size_t i = 0; i < f->n_attribute_proto; i++) {
        Onnx__AttributeProto *a = rewrite_attr(s, f->attribute_proto[i]);
        if (a == f->attribute_proto[i])
            continue;
        c.attribute_proto = own_list(s, c.attribute_proto, f->attribute_proto, f->n_attribute_proto,
                                     sizeof *c.attribute_proto);
        c.attribute_proto[i] = a;
    }
    if (c.node == f->node && c.attribute_proto == f->attribute_proto)
        return f;
    copy = arena_alloc(s->a, sizeof *copy);
    *copy = c;
    return copy;
}

const Onnx__TrainingInfoProto *rewrite_training(struct split *s, const Onnx__TrainingInfoProto *t)
{
    Onnx__TrainingInfoProto c = *t, *copy;
    c.initialization = t->initialization ? rewrite_graph(s, t->initialization) : NULL;
    c.algorithm = t->algorithm ? rewrite_graph(s, t->algorithm) : NULL;
    if (c.initialization == t->initialization && c.algorithm == t->algorithm)
        return t;
    copy = arena_alloc(s->a, sizeof *copy);
    *copy = c;
    return copy;
}

/* ---- types ---------------------------------------------------------------------------------- */

/* NULL: unknown rank. */
static Onnx__TensorShapeProto *shape_of(struct split *s, const struct type *t)
{
    assert(t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE);
    if (t->rank < 0)
        return NULL;
    Onnx__TensorShapeProto *p = arena_alloc(s->a, sizeof *p);
    onnx__tensor_shape_proto__init(p);
    p->n_dim = (size_t)t->rank;
    p->dim = arena_array(s->a, p->n_dim, sizeof *p->dim);
    for (size_t i = 0; i < p->n_dim; i++) {
        const struct dim *d = &s->m->dim[t->dim + i];
        Onnx__TensorShapeProto__Dimension *q = arena_alloc(s->a, sizeof *q);
        onnx__tensor_shape_proto__dimension__init(q);
        if (d->value >= 0) {
            q->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            q->dim_value = d->value;
        } else if (d->sym) {
            q->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            q->dim_param = (char *)str(s->m, d->sym);
        }
        p->dim[i] = q;
    }
    return p;
}

static void tensor_type(struct split *s, Onnx__TypeProto *p, const struct type *t)
{
    Onnx__TypeProto__Tensor *q = arena_alloc(s->a, sizeof *q);
    onnx__type_proto__tensor__init(q);
    q->has_elem_type = 1;
    q->elem_type = t->elem;
    q->shape = shape_of(s, t);
    p->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    p->tensor_type = q;
}

static void sparse_type(struct split *s, Onnx__TypeProto *p, const struct type *t)
{
    Onnx__TypeProto__SparseTensor *q = arena_alloc(s->a, sizeof *q);
    onnx__type_proto__sparse_tensor__init(q);
    q->has_elem_type = 1;
    q->elem_type = t->elem;
    q->shape = shape_of(s, t);
    p->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
    p->sparse_tensor_type = q;
}

static Onnx__TypeProto *new_type(struct split *s)
{
    Onnx__TypeProto *p = arena_alloc(s->a, sizeof *p);
    onnx__type_proto__init(p);
    return p;
}

/* Makes p a type around another one; returns the place of that one. */
static Onnx__TypeProto **wrap_type(struct split *s, Onnx__TypeProto *p, const struct type *t)
{
    assert(t->kind == TYPE_SEQ || t->kind == TYPE_OPT || t->kind == TYPE_MAP);
    if (t->kind == TYPE_SEQ) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        p->sequence_type = arena_alloc(s->a, sizeof *p->sequence_type);
        onnx__type_proto__sequence__init(p->sequence_type);
        return &p->sequence_type->elem_type;
    }
    if (t->kind == TYPE_OPT) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
        p->optional_type = arena_alloc(s->a, sizeof *p->optional_type);
        onnx__type_proto__optional__init(p->optional_type);
        return &p->optional_type->elem_type;
    }
    p->value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
    p->map_type = arena_alloc(s->a, sizeof *p->map_type);
    onnx__type_proto__map__init(p->map_type);
    p->map_type->has_key_type = 1;
    p->map_type->key_type = t->elem;
    return &p->map_type->value_type;
}

Onnx__TypeProto *rewrite_type(struct split *s, uint32_t type)
{
    Onnx__TypeProto *top = NULL, **place = &top;
    if (!type_is_declarable(s->m, type))
        return NULL;
    for (;; type = s->m->type[type].inner) {
        const struct type *t = &s->m->type[type];
        *place = new_type(s);
        if (t->kind == TYPE_TENSOR)
            tensor_type(s, *place, t);
        else if (t->kind == TYPE_SPARSE)
            sparse_type(s, *place, t);
        else {
            place = wrap_type(s, *place, t);
            continue;
        }
        return top;
    }
}
