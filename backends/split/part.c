/* Makes the ONNX message of a part.
 *
 * A part has its nodes in order; the weights, sparse weights and quantization annotations that they use; inputs and
 * outputs with types; the types that the source gives for its values; and the functions that it calls, directly or
 * not.  Versions, opsets and metadata are the source's; nodes say their device, part and time, too (annotate.c).
 *
 * All other fields of a node are as in the source, except two names: a node without a name gets the name that the
 * reader made up, and a lost result, whose name the source defines again later (VALUE_LOST), gets a new name.
 * O(size of the part); functions: O(nodes of the part and of the functions). */
#include "backends/onnx/make.h"
#include "backends/split/split.h"

#include <assert.h>
#include <string.h>

/* A growing list of messages. */
struct list {
    void **v;
    uint32_t n, cap;
};

/* Appends the message p to the list. */
static void append_message(struct split *s, struct list *l, const void *p)
{
    l->v = vec_grow(s->a, l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (void *)p;
}

/* Whether the message of a tensor is a SparseTensorProto. */
static bool is_sparse(const void *src)
{
    return src &&
           ((const ProtobufCMessage *)src)->descriptor == &onnx__sparse_tensor_proto__descriptor;
}

/* ---- indices over the source ---------------------------------------------------------------- */

/* Returns the value of the main graph with this name; 0: there is none. */
static vid value_named(const struct split *s, const char *name)
{
    vid v = name && *name ? names_get(&s->index.values, name, 0) : 0;
    return s->m->value[v].graph == 1 ? v : 0;
}

/* Enters the descriptions list[n] of values into s->index.info; of several descriptions of one value the first
 * counts. */
static void index_infos(struct split *s, Onnx__ValueInfoProto **list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vid v = value_named(s, list[i]->name);
        if (v && !s->index.info[v])
            s->index.info[v] = list[i];
    }
}

/* Returns the key of a function in s->index.functions. */
static const char *function_key(struct split *s, const char *domain, const char *name,
                                const char *overload)
{
    if (!domain || strcmp(domain, "ai.onnx") == 0)
        domain = "";
    return arena_fmt(s->a, "%s\x1f%s\x1f%s", domain, name ? name : "", overload ? overload : "");
}

void part_prepare(struct split *s)
{
    assert(s->src && s->src->graph);
    const struct module *m = s->m;
    const Onnx__GraphProto *g = s->src->graph;
    s->index.values = names_new(s->a, m->nval);
    /* values of the main graph first: names_add() keeps the first value of a name */
    for (int inner = 0; inner < 2; inner++)
        for (vid v = 1; v < m->nval; v++)
            if (m->value[v].name && !(m->value[v].flags & VALUE_LOST) &&
                (m->value[v].graph != 1) == inner)
                names_add(&s->index.values, value_name(m, v), v);
    s->index.info = arena_array(s->a, m->nval, sizeof *s->index.info);
    index_infos(s, g->input, g->n_input);
    index_infos(s, g->output, g->n_output);
    index_infos(s, g->value_info, g->n_value_info);
    if (g->n_quantization_annotation)
        s->index.quant = arena_array(s->a, m->nval, sizeof *s->index.quant);
    /* entry 0 of quant gets annotations of names that no value has */
    for (size_t i = 0; i < g->n_quantization_annotation; i++)
        s->index.quant[value_named(s, g->quantization_annotation[i]->tensor_name)] =
            g->quantization_annotation[i];
    s->index.functions = names_new(s->a, (uint32_t)s->src->n_functions);
    for (size_t i = 0; i < s->src->n_functions; i++) {
        const Onnx__FunctionProto *f = s->src->functions[i];
        names_add(&s->index.functions, function_key(s, f->domain, f->name, f->overload),
                  (uint32_t)i);
    }
    s->index.node = arena_array(s->a, m->nnode, sizeof *s->index.node);
    s->index.in_part = arena_array(s->a, m->nval, sizeof *s->index.in_part);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Returns a new name, which no value has, for the lost result i of node n.  Each result of each node gets another
 * name, since names of nodes are unique. */
static char *fresh_name(struct split *s, nid n, size_t i)
{
    char *name;
    uint32_t k = 0;
    do
        name = arena_fmt(s->a, "%s/lost_%zu_%u", node_name(s->m, n), i, k++);
    while (names_get(&s->index.values, name, 0));
    return name;
}

/* Returns the message of node n for parts.  The message is made once and kept in s->index.node; but if messages of
 * nodes refer to the data files of their parts, it is made anew for each part. */
static Onnx__NodeProto *node_message(struct split *s, nid n)
{
    assert(n < s->m->nnode && s->m->node[n].src);
    const struct module *m = s->m;
    const Onnx__NodeProto *src = m->node[n].src;
    const char *name = node_name(m, n);
    if (s->index.node[n] && !(s->weights.nested && s->weights.mode == WEIGHTS_PARTS))
        return s->index.node[n];
    /* c: the message with the node's name, and names for results that the module has lost; src's own lists stay */
    Onnx__NodeProto c = *(s->weights.nested ? rewrite_node(s, src) : src);
    if (!c.name || strcmp(c.name, name) != 0)
        c.name = (char *)name;
    for (size_t i = 0; i < src->n_output; i++) {
        vid v = node_out(m, n, (uint32_t)i);
        if (!*src->output[i] || (v && !(m->value[v].flags & VALUE_LOST)))
            continue;
        if (c.output == src->output) { /* the first lost result: copy the list */
            c.output = arena_array(s->a, src->n_output, sizeof *c.output);
            memcpy(c.output, src->output, src->n_output * sizeof *c.output);
        }
        c.output[i] = fresh_name(s, n, i);
    }
    s->index.node[n] = (Onnx__NodeProto *)src;
    if (c.name != src->name || c.output != src->output || c.attribute != src->attribute) {
        s->index.node[n] = arena_alloc(s->a, sizeof c);
        *s->index.node[n] = c;
    }
    return s->index.node[n];
}

/* ---- functions ------------------------------------------------------------------------------ */

/* A search for the functions that nodes call, directly or not. */
struct call_search {
    struct split *s;
    struct list pending;   /* nodes that must still be searched */
    uint8_t *seen;         /* [function of the source] 1: it is called */
    struct list functions; /* messages of the called functions */
};

/* Searches node n for calls: adds the nodes of its bodies to c->pending, and the nodes of the function that it calls,
 * unless the function was seen before. */
static void search_node(struct call_search *c, const Onnx__NodeProto *n)
{
    struct split *s = c->s;
    uint32_t i = names_get(&s->index.functions, function_key(s, n->domain, n->op_type, n->overload),
                           UINT32_MAX);
    for (size_t k = 0; k < n->n_attribute; k++) {
        const Onnx__AttributeProto *a = n->attribute[k];
        for (size_t j = 0; a->g && j < a->g->n_node; j++)
            append_message(s, &c->pending, a->g->node[j]);
        for (size_t b = 0; b < a->n_graphs; b++)
            for (size_t j = 0; j < a->graphs[b]->n_node; j++)
                append_message(s, &c->pending, a->graphs[b]->node[j]);
    }
    if (i == UINT32_MAX || c->seen[i])
        return;
    c->seen[i] = 1;
    for (size_t j = 0; j < s->src->functions[i]->n_node; j++)
        append_message(s, &c->pending, s->src->functions[i]->node[j]);
}

/* Gives `out` the functions that the nodes call, directly or not, in the order of the source. */
static void add_functions(struct split *s, const struct list *nodes, Onnx__ModelProto *out)
{
    struct call_search c = {.s = s};
    out->n_functions = 0;
    out->functions = NULL;
    if (!s->src->n_functions)
        return;
    c.seen = arena_alloc(s->a, s->src->n_functions);
    for (uint32_t i = 0; i < nodes->n; i++)
        append_message(s, &c.pending, nodes->v[i]);
    while (c.pending.n)
        search_node(&c, c.pending.v[--c.pending.n]);
    for (size_t i = 0; i < s->src->n_functions; i++)
        if (c.seen[i])
            append_message(s, &c.functions, rewrite_function(s, s->src->functions[i]));
    out->n_functions = c.functions.n;
    out->functions = (Onnx__FunctionProto **)c.functions.v;
}

/* ---- values --------------------------------------------------------------------------------- */

bool info_has_shape(const Onnx__ValueInfoProto *p)
{
    const Onnx__TypeProto *t = p->type;
    if (!t)
        return false;
    if (t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return t->tensor_type->shape != NULL;
    if (t->value_case == ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE)
        return t->sparse_tensor_type->shape != NULL;
    return t->value_case != ONNX__TYPE_PROTO__VALUE__NOT_SET;
}

/* Returns the description of value v as an input or output of part x.  For inputs and outputs of the model it is the
 * source's own; for other values the description is made of the module's type, since passes may have completed that
 * type. */
static Onnx__ValueInfoProto *describe_border(struct split *s, uint32_t x, vid v)
{
    assert(x < s->parts->nparts && v > 0 && v < s->m->nval);
    Onnx__ValueInfoProto *src = s->index.info[v], *p;
    bool outer = (s->m->value[v].flags & (VALUE_INPUT | VALUE_OUTPUT)) != 0;
    if (outer && src && info_has_shape(src))
        return src;
    p = arena_alloc(s->a, sizeof *p);
    onnx__value_info_proto__init(p);
    if (src)
        *p = *src;
    p->name = (char *)value_name(s->m, v);
    if (type_is_declarable(s->m, s->m->value[v].type))
        p->type = make_type(s->m, s->m->value[v].type, s->a);
    if (!info_has_shape(p))
        s->unchecked[x] = 1;
    return p;
}

/* Adds the message of v, an initializer that part x has, to the list dense or sparse, unless it is there already. */
static void add_weight(struct split *s, uint32_t x, vid v, struct list *dense, struct list *sparse)
{
    assert(x < s->parts->nparts && s->m->value[v].tensor != 0);
    const void *src = s->m->tensor[s->m->value[v].tensor].src;
    assert(src != NULL); /* onnx_make() has made the message of every initializer */
    if (s->index.in_part[v] == x + 1)
        return;
    s->index.in_part[v] = x + 1;
    if (is_sparse(src))
        append_message(s, sparse, weights_sparse(s, (Onnx__SparseTensorProto *)src));
    else
        append_message(s, dense, weights_tensor(s, src));
}

/* Adds the quantization annotation of v, if there is one, to notes, and the initializers that the annotation names to
 * those of part x.  Adds nothing if the annotation names a value that is not in the part and is no initializer;
 * names that no value has are let be. */
static void add_annotation(struct split *s, uint32_t x, vid v, struct list *notes,
                           struct list *dense, struct list *sparse)
{
    const Onnx__TensorAnnotation *q = s->index.quant[v];
    if (!q)
        return;
    for (size_t i = 0; i < q->n_quant_parameter_tensor_names; i++) {
        vid w = value_named(s, q->quant_parameter_tensor_names[i]->value);
        if (w && s->index.in_part[w] != x + 1 && !s->m->value[w].tensor)
            return;
    }
    for (size_t i = 0; i < q->n_quant_parameter_tensor_names; i++) {
        vid w = value_named(s, q->quant_parameter_tensor_names[i]->value);
        /* without a tensor: an input of the part, a result of one of its nodes, or no value at all (w is 0) */
        if (s->m->value[w].tensor)
            add_weight(s, x, w, dense, sparse);
    }
    append_message(s, notes, q);
}

/* ---- the part ------------------------------------------------------------------------------- */

/* The messages of a part.  dense, sparse: initializers; info: types of values; notes: quantization annotations. */
struct part_lists {
    struct list node, dense, sparse, in, out, info, notes;
    vid *value; /* inputs of the part, results of its nodes, and its weights */
    uint32_t nvalue, capvalue;
};

/* Appends v to the values of a part. */
static void append_value(struct split *s, struct part_lists *l, vid v)
{
    l->value = vec_grow(s->a, l->value, &l->capvalue, l->nvalue + 1, sizeof *l->value);
    l->value[l->nvalue++] = v;
}

/* Adds the message of node n to part x, and the node's results to the part's values. */
static void add_node(struct split *s, uint32_t x, nid n, struct part_lists *l)
{
    const struct slice out = s->m->node[n].out;
    append_message(s, &l->node, annotate_in_part(s, node_message(s, n), n, x));
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = s->m->arg[out.at + i];
        if (!v || (s->m->value[v].flags & VALUE_LOST))
            continue;
        s->index.in_part[v] = x + 1;
        append_value(s, l, v);
    }
}

/* Adds nodes and copied nodes of part x, merged in ascending order, which is a topological one. */
static void add_nodes(struct split *s, uint32_t x, struct part_lists *l)
{
    const struct part *t = &s->parts->part[x];
    uint32_t i = 0, k = 0;
    while (i < t->nnode || k < t->ncopy) {
        bool copy = i == t->nnode || (k < t->ncopy && t->copy[k] < t->node[i]);
        add_node(s, x, copy ? t->copy[k++] : t->node[i++], l);
    }
}

/* Adds v to the inputs of part x.  Reports an error if the type of v is unknown: no runtime would load the part. */
static void add_input(struct split *s, uint32_t x, vid v, struct part_lists *l)
{
    nid def = s->m->value[v].def;
    if (def && !type_is_declarable(s->m, s->m->value[v].type)) {
        diag_error(s->diag,
                   "%s: '%s' of node '%s' (%s) goes from %s to %s, but its type is not known: "
                   "runtimes would refuse the part; put the node and its readers on one device "
                   "with --pin",
                   module_str(s->m, s->m->path), value_name(s->m, v), node_name(s->m, def),
                   node_op(s->m, def), s->file[s->parts->part_of[def]], s->file[x]);
        s->failed = true;
    }
    append_message(s, &l->in, describe_border(s, x, v));
}

/* Adds inputs, weights and outputs of part x.  Weights that the source lists as inputs, too, keep the source's
 * description, even without a shape: the initializer has their shape. */
static void add_values(struct split *s, uint32_t x, struct part_lists *l)
{
    const struct part *t = &s->parts->part[x];
    for (uint32_t i = 0; i < t->nin; i++) {
        s->index.in_part[t->in[i]] = x + 1;
        append_value(s, l, t->in[i]);
        add_input(s, x, t->in[i], l);
    }
    for (uint32_t i = 0; i < t->nweight; i++) {
        vid v = t->weight[i];
        add_weight(s, x, v, &l->dense, &l->sparse);
        append_value(s, l, v);
        if (s->m->value[v].flags & VALUE_INPUT)
            append_message(s, &l->in,
                           s->index.info[v] ? s->index.info[v] : describe_border(s, x, v));
    }
    for (uint32_t i = 0; i < t->nout; i++)
        append_message(s, &l->out, describe_border(s, x, t->out[i]));
}

/* Adds quantization annotations, and the source's descriptions of values that are neither inputs nor outputs of part x;
 * inputs and outputs are taken out of s->index.in_part for that. */
static void add_infos(struct split *s, uint32_t x, struct part_lists *l)
{
    const struct part *t = &s->parts->part[x];
    for (uint32_t i = 0; s->index.quant && i < l->nvalue; i++)
        add_annotation(s, x, l->value[i], &l->notes, &l->dense, &l->sparse);
    for (uint32_t i = 0; i < t->nin; i++)
        s->index.in_part[t->in[i]] = 0;
    for (uint32_t i = 0; i < t->nout; i++)
        s->index.in_part[t->out[i]] = 0;
    for (uint32_t i = 0; i < l->nvalue; i++) {
        vid v = l->value[i];
        if (s->index.in_part[v] == x + 1 && !(s->m->value[v].flags & VALUE_INPUT) &&
            s->index.info[v])
            append_message(s, &l->info, s->index.info[v]);
    }
}

int part_model(struct split *s, uint32_t x, Onnx__ModelProto *out)
{
    assert(x < s->parts->nparts && s->index.in_part);
    struct part_lists l = {0};
    Onnx__GraphProto *g = arena_alloc(s->a, sizeof *g);
    add_nodes(s, x, &l);
    add_values(s, x, &l);
    add_infos(s, x, &l);
    /* shallow copies of the source's messages, whose lists are replaced by the part's */
    *out = *s->src;
    *g = *s->src->graph;
    out->graph = g;
    out->n_training_info = 0;
    annotate_begin_model(s, out, 0);
    add_functions(s, &l.node, out);
    g->name = arena_fmt(s->a, "%s/part%u", g->name ? g->name : "", x);
    g->n_node = l.node.n;
    g->node = (Onnx__NodeProto **)l.node.v;
    g->n_initializer = l.dense.n;
    g->initializer = (Onnx__TensorProto **)l.dense.v;
    g->n_sparse_initializer = l.sparse.n;
    g->sparse_initializer = (Onnx__SparseTensorProto **)l.sparse.v;
    g->n_input = l.in.n;
    g->input = (Onnx__ValueInfoProto **)l.in.v;
    g->n_output = l.out.n;
    g->output = (Onnx__ValueInfoProto **)l.out.v;
    g->n_value_info = l.info.n;
    g->value_info = (Onnx__ValueInfoProto **)l.info.v;
    g->n_quantization_annotation = l.notes.n;
    g->quantization_annotation = (Onnx__TensorAnnotation **)l.notes.v;
    return s->failed ? -1 : 0;
}
