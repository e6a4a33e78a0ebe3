/* Copies messages of nodes, functions and training_info with tensors that must change (weights_tensor()), because
 * the split has the bytes of these tensors in other files than the source.
 *
 * Each function returns the message itself if no tensor in it changes, else a copy.  Only the messages that contain a
 * changed tensor are copied.  The recursion enters bodies; the reader allows at most 100 nested messages. */
#include "backends/split/split.h"

#include <string.h>

static Onnx__GraphProto *rewrite_graph(struct split *s, Onnx__GraphProto *g);

/* Returns an array whose entries may be changed: `list` itself, if it is a copy already; if it is still source[n], the
 * array of the original message, a copy of it.  size: bytes of an entry. */
static void *make_writable(struct split *s, void *list, const void *source, size_t n, size_t size)
{
    if (list != source)
        return list;
    void *copy = arena_array(s->a, n, size);
    memcpy(copy, source, n * size);
    return copy;
}

/* Rewrites the tensors of an attribute, also those in its graphs; returns `a` itself if none changes. */
static Onnx__AttributeProto *rewrite_attr(struct split *s, Onnx__AttributeProto *a)
{
    /* c: the copy with the changes; make_writable() copies a list before the first change in it */
    Onnx__AttributeProto c = *a;
    if (a->t)
        c.t = weights_tensor(s, a->t);
    if (a->g)
        c.g = rewrite_graph(s, a->g);
    for (size_t i = 0; i < a->n_tensors; i++) {
        Onnx__TensorProto *t = weights_tensor(s, a->tensors[i]);
        if (t == a->tensors[i])
            continue;
        c.tensors = make_writable(s, c.tensors, a->tensors, a->n_tensors, sizeof *c.tensors);
        c.tensors[i] = t;
    }
    if (a->sparse_tensor)
        c.sparse_tensor = weights_sparse(s, a->sparse_tensor);
    for (size_t i = 0; i < a->n_sparse_tensors; i++) {
        Onnx__SparseTensorProto *t = weights_sparse(s, a->sparse_tensors[i]);
        if (t == a->sparse_tensors[i])
            continue;
        c.sparse_tensors = make_writable(s, c.sparse_tensors, a->sparse_tensors,
                                         a->n_sparse_tensors, sizeof *c.sparse_tensors);
        c.sparse_tensors[i] = t;
    }
    for (size_t i = 0; i < a->n_graphs; i++) {
        Onnx__GraphProto *g = rewrite_graph(s, a->graphs[i]);
        if (g == a->graphs[i])
            continue;
        c.graphs = make_writable(s, c.graphs, a->graphs, a->n_graphs, sizeof *c.graphs);
        c.graphs[i] = g;
    }
    if (c.t == a->t && c.g == a->g && c.tensors == a->tensors && c.graphs == a->graphs &&
        c.sparse_tensor == a->sparse_tensor && c.sparse_tensors == a->sparse_tensors)
        return a;
    return arena_copy(s->a, &c, sizeof c);
}

const Onnx__NodeProto *rewrite_node(struct split *s, const Onnx__NodeProto *n)
{
    Onnx__NodeProto c = *n;
    for (size_t i = 0; i < n->n_attribute; i++) {
        Onnx__AttributeProto *a = rewrite_attr(s, n->attribute[i]);
        if (a == n->attribute[i])
            continue;
        c.attribute =
            make_writable(s, c.attribute, n->attribute, n->n_attribute, sizeof *c.attribute);
        c.attribute[i] = a;
    }
    if (c.attribute == n->attribute)
        return n;
    return arena_copy(s->a, &c, sizeof c);
}

/* Returns the nodes list[n] after rewrite_node(); `list` itself if none changes. */
static Onnx__NodeProto **rewrite_nodes(struct split *s, Onnx__NodeProto **list, size_t n)
{
    Onnx__NodeProto **out = list;
    for (size_t i = 0; i < n; i++) {
        const Onnx__NodeProto *c = rewrite_node(s, list[i]);
        if (c == list[i])
            continue;
        out = make_writable(s, out, list, n, sizeof *out);
        out[i] = (Onnx__NodeProto *)c;
    }
    return out;
}

/* Rewrites the tensors of a graph: of its nodes and its initializers; returns g itself if none changes. */
static Onnx__GraphProto *rewrite_graph(struct split *s, Onnx__GraphProto *g)
{
    Onnx__GraphProto c = *g;
    c.node = rewrite_nodes(s, g->node, g->n_node);
    for (size_t i = 0; i < g->n_initializer; i++) {
        Onnx__TensorProto *t = weights_tensor(s, g->initializer[i]);
        if (t == g->initializer[i])
            continue;
        c.initializer = make_writable(s, c.initializer, g->initializer, g->n_initializer,
                                      sizeof *c.initializer);
        c.initializer[i] = t;
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        Onnx__SparseTensorProto *t = weights_sparse(s, g->sparse_initializer[i]);
        if (t == g->sparse_initializer[i])
            continue;
        c.sparse_initializer = make_writable(s, c.sparse_initializer, g->sparse_initializer,
                                             g->n_sparse_initializer, sizeof *c.sparse_initializer);
        c.sparse_initializer[i] = t;
    }
    if (c.node == g->node && c.initializer == g->initializer &&
        c.sparse_initializer == g->sparse_initializer)
        return g;
    return arena_copy(s->a, &c, sizeof c);
}

const Onnx__FunctionProto *rewrite_function(struct split *s, const Onnx__FunctionProto *f)
{
    Onnx__FunctionProto c = *f;
    c.node = rewrite_nodes(s, f->node, f->n_node);
    for (size_t i = 0; i < f->n_attribute_proto; i++) {
        Onnx__AttributeProto *a = rewrite_attr(s, f->attribute_proto[i]);
        if (a == f->attribute_proto[i])
            continue;
        c.attribute_proto = make_writable(s, c.attribute_proto, f->attribute_proto,
                                          f->n_attribute_proto, sizeof *c.attribute_proto);
        c.attribute_proto[i] = a;
    }
    if (c.node == f->node && c.attribute_proto == f->attribute_proto)
        return f;
    return arena_copy(s->a, &c, sizeof c);
}

const Onnx__TrainingInfoProto *rewrite_training(struct split *s, const Onnx__TrainingInfoProto *t)
{
    Onnx__TrainingInfoProto c = *t;
    c.initialization = t->initialization ? rewrite_graph(s, t->initialization) : NULL;
    c.algorithm = t->algorithm ? rewrite_graph(s, t->algorithm) : NULL;
    if (c.initialization == t->initialization && c.algorithm == t->algorithm)
        return t;
    return arena_copy(s->a, &c, sizeof c);
}
