/* Makes ONNX messages that agree with the module.
 *
 * The src pointers of the module lead to the messages from which its nodes, attributes, tensors, graphs and
 * functions were read.  A message that still agrees with the module is kept, byte for byte.  If a message does not
 * agree, a copy of it is changed, so that fields that the module does not model (documentation of tensors, fields of
 * newer versions of ONNX) stay.  Things that passes made get new messages.  In a module that was read from text,
 * messages have only fields that the module does not model (module.patterns): each is copied, and the copy gets all
 * other fields.
 *
 * Inner graphs are made before outer ones, without recursion.  O(nodes + operands + attributes + values), expected. */
#include "backends/onnx/make.h"

#include "backends/backends.h"

#include <string.h>

/* ---- names -------------------------------------------------------------------------------------- */

/* Whether the domain in a message is the string of the module; "ai.onnx", "" and NULL are the same domain. */
static bool is_domain(const struct module *m, const char *have, sid want)
{
    return text_agrees(m, have, want) ||
           (want == 0 && have != NULL && strcmp(have, "ai.onnx") == 0);
}

/* Returns a new name for result i of node n, a lost value (VALUE_LOST): the name of no other value. */
static char *name_lost(struct maker *k, nid n, uint32_t i)
{
    struct module *m = k->m;
    if (k->taken.mask == 0) /* the first lost value: note the names of all values */
        for (vid v = 1; v < m->nval; v++)
            if (m->value[v].name != 0)
                map_set(&k->taken, k->a, m->value[v].name, 1);
    for (uint32_t again = 0;; again++) {
        sid name =
            str_id(m, again == 0 ? arena_fmt(k->a, "%s/lost_%u", node_name(m, n), i)
                                 : arena_fmt(k->a, "%s/lost_%u_%u", node_name(m, n), i, again));
        if (map_get(&k->taken, name) != 0)
            continue;
        map_set(&k->taken, k->a, name, 1);
        return make_text(m, name);
    }
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Whether the names have[nhave] in a message are those of the first n values of a slice of module.arg. */
static bool names_agree(const struct module *m, struct slice list, uint32_t n, char *const *have,
                        size_t nhave)
{
    bool same = n == nhave;
    for (uint32_t i = 0; i < n && same; i++) {
        vid v = m->arg[list.at + i];
        same = text_agrees(m, have[i], m->value[v].name) && (m->value[v].flags & VALUE_LOST) == 0;
    }
    return same;
}

/* Returns the names of the first n values of a slice of module.arg, for a message; lost values get new names (with
 * k->without_source ""), and omitted ones "".  maker: the node that has the values as results. */
static char **name_values(struct maker *k, struct slice list, uint32_t n, nid maker)
{
    const struct module *m = k->m;
    char **out = arena_array(k->a, (size_t)n + 1, sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        vid v = m->arg[list.at + i];
        bool lost = (m->value[v].flags & VALUE_LOST) != 0 && !k->without_source;
        out[i] = lost ? name_lost(k, maker, i) : make_text(m, m->value[v].name);
    }
    return out;
}

/* Whether node x stays without a name in its message: the node had none in the file, and a reader will make up the
 * same name again.  Readers make up names from the numbers of nodes. Once passes have changed the main graph, these
 * numbers differ; so messages of its nodes then have the names that plans use. */
static bool stays_unnamed(const struct maker *k, const struct node *x)
{
    bool moved = k->m == k->model && k->m->rewritten && x->graph == 1;
    return (x->flags & (NODE_UNNAMED | NODE_MADE)) == NODE_UNNAMED && !moved;
}

/* Whether p, the message from which node x was read, agrees with the module, not counting attributes. */
static bool node_agrees(const struct maker *k, const struct node *x, const Onnx__NodeProto *p)
{
    const struct module *m = k->m;
    bool named = text_agrees(m, p->name, x->name) ||
                 (stays_unnamed(k, x) && (p->name == NULL || *p->name == '\0'));
    return named && text_agrees(m, p->op_type, x->op) && is_domain(m, p->domain, x->domain) &&
           text_agrees(m, p->overload, x->overload) &&
           names_agree(m, x->in, x->nformal, p->input, p->n_input) &&
           names_agree(m, x->out, x->out.n, p->output, p->n_output);
}

/* Returns the messages of the attributes of node x, in k->a; if they are the same as in have[nhave], the array of
 * the node's message, returns that array itself. */
static Onnx__AttributeProto **make_attributes(struct maker *k, const struct node *x,
                                              Onnx__AttributeProto **have, size_t nhave)
{
    const char *name = module_str(k->m, x->name);
    Onnx__AttributeProto **out = arena_array(k->a, (size_t)x->attr.n + 1, sizeof *out);
    bool same = nhave == x->attr.n;
    for (uint32_t i = 0; i < x->attr.n; i++) {
        out[i] = make_attribute(k, &k->m->attr[x->attr.at + i], name);
        same = same && out[i] == have[i];
    }
    return same ? have : out;
}

Onnx__NodeProto *make_node(struct maker *k, nid n)
{
    struct module *m = k->m;
    struct node *x = &m->node[n];
    const Onnx__NodeProto *src = k->without_source ? NULL : x->src;
    bool whole = src != NULL && !m->patterns; /* src is a complete message */
    struct arena_mark mark = arena_mark(k->a);
    Onnx__AttributeProto **attr =
        k->without_source
            ? NULL
            : make_attributes(k, x, src ? src->attribute : NULL, src ? src->n_attribute : 0);
    if (whole && (x->flags & NODE_MADE) == 0 && attr == src->attribute && node_agrees(k, x, src)) {
        /* frees the array that make_attributes() made but did not return */
        arena_release(k->a, mark);
        return (Onnx__NodeProto *)(uintptr_t)src;
    }
    Onnx__NodeProto *p = arena_alloc(k->a, sizeof *p);
    if (src != NULL)
        *p = *src;
    else
        onnx__node_proto__init(p);
    /* the fields that the module models, as the module has them */
    if (!stays_unnamed(k, x))
        set_text(m, &p->name, x->name);
    set_text(m, &p->op_type, x->op);
    if (!is_domain(m, p->domain, x->domain))
        p->domain = x->domain != 0 ? make_text(m, x->domain) : NULL;
    set_text(m, &p->overload, x->overload);
    p->n_input = x->nformal;
    p->input = name_values(k, x->in, x->nformal, n);
    p->n_output = x->out.n;
    p->output = name_values(k, x->out, x->out.n, n);
    p->n_attribute = k->without_source ? 0 : x->attr.n;
    p->attribute = attr;
    if (whole)
        make_sharding(k, src, p);
    if (!whole || (x->flags & NODE_MADE) != 0)
        make_about(k, x->about, whole, &p->doc_string, &p->metadata_props, &p->n_metadata_props);
    if (!k->without_source)
        x->src = p;
    return p;
}

/* ---- values ------------------------------------------------------------------------------------- */

Onnx__ValueInfoProto *make_info(struct maker *k, vid v)
{
    Onnx__ValueInfoProto *p = arena_alloc(k->a, sizeof *p);
    onnx__value_info_proto__init(p);
    p->name = make_text(k->m, k->m->value[v].name);
    p->type = make_type(k->m, k->m->value[v].type, k->a);
    return p;
}

#define NO_INFO UINT32_MAX /* all descriptions of a name are used */

/* The descriptions of values in one list of a message, found by name. */
struct infos {
    Onnx__ValueInfoProto **list;
    size_t n;
    /* map_key(1, name) -> 1 + index of the first unused description of that name; NO_INFO: all descriptions of the
     * name are used */
    struct map at;
    uint32_t *next; /* [index] the next description of that name, as in `at` */
};

/* Returns a struct infos that finds the descriptions list[n] of a message by name; with k->without_source an empty
 * one. */
static struct infos index_infos(struct maker *k, Onnx__ValueInfoProto **list, size_t n)
{
    struct infos x = {.list = list, .n = k->without_source ? 0 : n};
    x.next = arena_array(k->a, x.n + 1, sizeof *x.next);
    /* from the last one on, so that `at` has the first description of a name in the end */
    for (size_t i = x.n; i-- > 0;) {
        uint64_t name = map_key(1, str_id(k->m, list[i]->name != NULL ? list[i]->name : ""));
        uint32_t next = map_get(&x.at, name);
        x.next[i] = next != 0 ? next : NO_INFO;
        map_set(&x.at, k->a, name, (uint32_t)i + 1);
    }
    return x;
}

/* Returns 1 + the index in x of the first unused description of value v; 0: x has none, or all descriptions of its name
 * are used. */
static uint32_t info_at(const struct maker *k, const struct infos *x, vid v)
{
    uint32_t at = map_get(&x->at, map_key(1, message_name(&k->m->value[v])));
    return at != NO_INFO ? at : 0;
}

/* Returns the description `have` of v from a message; if passes have changed the name or type of v, a copy with the new
 * ones, in k->a. */
static Onnx__ValueInfoProto *take_info(struct maker *k, vid v, Onnx__ValueInfoProto *have)
{
    const struct value *x = &k->m->value[v];
    if ((x->flags & VALUE_RETYPED) == 0 && text_agrees(k->m, have->name, x->name))
        return have;
    Onnx__ValueInfoProto *p = arena_copy(k->a, have, sizeof *p);
    set_text(k->m, &p->name, x->name);
    if ((x->flags & VALUE_RETYPED) != 0)
        p->type = make_type(k->m, x->type, k->a);
    return p;
}

/* Returns descriptions of the inputs or outputs of a graph (list), in k->a.  have: the descriptions in its message,
 * each of which is used once; a value without a description there gets a new one. renamed: a pass copied the graph
 * and gave all values other names, so values and descriptions are matched by their places in the lists. */
static Onnx__ValueInfoProto **make_border(struct maker *k, struct slice list, struct infos have,
                                          bool renamed)
{
    struct module *m = k->m;
    Onnx__ValueInfoProto **out = arena_array(k->a, (size_t)list.n + 1, sizeof *out);
    for (uint32_t j = 0; j < list.n; j++) {
        vid v = m->arg[list.at + j];
        uint32_t at = info_at(k, &have, v);
        if (at != 0) /* the next value of this name takes the next description */
            map_set(&have.at, k->a, map_key(1, message_name(&m->value[v])), have.next[at - 1]);
        out[j] = at != 0                       ? take_info(k, v, have.list[at - 1])
                 : renamed && have.n == list.n ? take_info(k, v, have.list[j])
                                               : make_info(k, v);
    }
    return out;
}

/* Whether a pass made v with an operator of a domain other than ai.onnx: ONNX's tools cannot infer the type of v. */
static bool is_ours(const struct module *m, vid v)
{
    const struct node *x = &m->node[m->value[v].def];
    return (x->flags & NODE_MADE) != 0 && x->domain != 0 && x->callee == 0;
}

/* Whether v gets a new description in value_info if the message of v's graph has none of v.  It does if the file had
 * one (VALUE_TYPED).  Else only values that are no inputs, outputs or initializers do: all if k->describe_all is set,
 * otherwise those whose type a pass has changed, or that is_ours().  Values without a name or type never do.  function:
 * value_info is the field of a function, whose inputs and outputs have no description elsewhere, so that these count
 * like other values. */
static bool wants_info(const struct maker *k, vid v, bool function)
{
    const struct module *m = k->m;
    const struct value *x = &m->value[v];
    bool border = (x->flags & (VALUE_INPUT | VALUE_OUTPUT | VALUE_INIT)) != 0;
    if (x->name == 0 || x->type == 0 || m->type[x->type].kind == TYPE_NONE)
        return false;
    if ((x->flags & VALUE_TYPED) != 0)
        return true;
    return (!border || function) &&
           (k->describe_all || (x->flags & VALUE_RETYPED) != 0 || is_ours(m, v));
}

/* Returns a map, in k->a: map_key(1, message_name()) -> value, for the values of graph g.  values: graph -> its
 * values. */
static struct map values_by_message_name(struct maker *k, const struct csr *values, gid g)
{
    struct map here = {0};
    for (uint32_t j = values->at[g]; j < values->at[g + 1]; j++)
        if (k->m->value[values->to[j]].name != 0)
            map_set(&here, k->a, map_key(1, message_name(&k->m->value[values->to[j]])),
                    values->to[j]);
    return here;
}

/* Returns the value_info of graph g and writes its length to *n: first the descriptions in its message (have), then
 * the descriptions that wants_info() adds. A description whose name no value has is left out if a pass has changed
 * the module; else it stays, so that the file is written as it was read.  values: graph -> its values; function:
 * inputs and outputs of functions are described here, too. */
static Onnx__ValueInfoProto **make_infos(struct maker *k, const struct csr *values, gid g,
                                         struct infos have, bool function, size_t *n)
{
    struct module *m = k->m;
    Onnx__ValueInfoProto **out =
        arena_array(k->a, have.n + (values->at[g + 1] - values->at[g]) + 1, sizeof *out);
    const struct map here = values_by_message_name(k, values, g);
    *n = 0;
    for (size_t j = 0; j < have.n; j++) {
        const char *name = have.list[j]->name != NULL ? have.list[j]->name : "";
        vid v = map_get(&here, map_key(1, str_id(m, name)));
        if (v != 0)
            out[(*n)++] = take_info(k, v, have.list[j]);
        else if (!m->rewritten)
            out[(*n)++] = have.list[j];
    }
    for (uint32_t j = values->at[g]; j < values->at[g + 1]; j++)
        if (info_at(k, &have, values->to[j]) == 0 && wants_info(k, values->to[j], function))
            out[(*n)++] = make_info(k, values->to[j]);
    return out;
}

/* ---- graphs ------------------------------------------------------------------------------------- */

/* Sets the fields for initializers, dense and sparse, of p, the message of graph g. */
static void set_weights(struct maker *k, const struct graph *g, Onnx__GraphProto *p)
{
    const struct module *m = k->m;
    p->n_initializer = p->n_sparse_initializer = 0;
    p->initializer = arena_array(k->a, (size_t)g->init.n + 1, sizeof *p->initializer);
    p->sparse_initializer = arena_array(k->a, (size_t)g->init.n + 1, sizeof *p->sparse_initializer);
    for (uint32_t i = 0; i < g->init.n; i++) {
        tid t = m->value[m->arg[g->init.at + i]].tensor;
        /* the initializer is not one of the model's main graph */
        bool inside = g != &m->graph[1] || m != k->model;
        if (m->tensor[t].where == TENSOR_SPARSE)
            p->sparse_initializer[p->n_sparse_initializer++] = make_sparse(k, t, inside);
        else
            p->initializer[p->n_initializer++] = make_tensor(k, t, inside);
    }
}

/* Returns the messages of the nodes of graph g and writes their number to *n. */
static Onnx__NodeProto **make_nodes(struct maker *k, const struct graph *g, size_t *n)
{
    Onnx__NodeProto **out = arena_array(k->a, (size_t)g->count + 1, sizeof *out);
    *n = g->count;
    for (uint32_t i = 0; i < g->count; i++)
        out[i] = make_node(k, g->first + i);
    return out;
}

/* Whether two lists hold the same pointers to messages. */
static bool same_list(const void *a, size_t na, const void *b, size_t nb)
{
    return na == nb && (na == 0 || memcmp(a, b, na * sizeof(void *)) == 0);
}

/* Whether `had`, the message from which graph g was read, has the same content as the new message p. */
static bool graph_agrees(const struct module *m, const struct graph *g, const Onnx__GraphProto *had,
                         const Onnx__GraphProto *p)
{
    return !m->patterns && text_agrees(m, had->name, g->name) &&
           same_list(had->node, had->n_node, p->node, p->n_node) &&
           same_list(had->initializer, had->n_initializer, p->initializer, p->n_initializer) &&
           same_list(had->sparse_initializer, had->n_sparse_initializer, p->sparse_initializer,
                     p->n_sparse_initializer) &&
           same_list(had->input, had->n_input, p->input, p->n_input) &&
           same_list(had->output, had->n_output, p->output, p->n_output) &&
           same_list(had->value_info, had->n_value_info, p->value_info, p->n_value_info) &&
           had->n_quantization_annotation == p->n_quantization_annotation;
}

/* Makes the message of graph `id` and sets graph.src to it, unless the message from which the graph was read still
 * agrees.  The messages of the bodies of its nodes must be made before.  values: graph -> its values. */
static void make_graph(struct maker *k, gid id, const struct csr *values)
{
    struct module *m = k->m;
    struct graph *g = &m->graph[id];
    const Onnx__GraphProto *src = g->src;
    nid owner = g->owner;
    /* a pass made the body's owner, so the body is a copy of another one */
    bool renamed = owner != 0 && (m->node[owner].flags & NODE_MADE) != 0;
    Onnx__GraphProto *p = arena_alloc(k->a, sizeof *p);
    if (src != NULL)
        *p = *src;
    else
        onnx__graph_proto__init(p);
    set_text(m, &p->name, g->name);
    make_about(k, g->about, src != NULL && !m->patterns, &p->doc_string, &p->metadata_props,
               &p->n_metadata_props);
    p->node = make_nodes(k, g, &p->n_node);
    set_weights(k, g, p);
    p->input = make_border(k, g->in, index_infos(k, p->input, p->n_input), renamed);
    p->n_input = g->in.n;
    p->output = make_border(k, g->out, index_infos(k, p->output, p->n_output), renamed);
    p->n_output = g->out.n;
    p->value_info = make_infos(k, values, id, index_infos(k, p->value_info, p->n_value_info), false,
                               &p->n_value_info);
    if (m->rewritten && p->n_quantization_annotation > 0)
        make_annotations(k, values_by_message_name(k, values, id), p);
    if (src == NULL || !graph_agrees(m, g, src, p))
        g->src = p;
}

/* Returns a table, in a: graph -> its values, ascending. */
static struct csr list_values(const struct module *m, struct arena *a)
{
    gid *graph_of = arena_array(a, m->nval, sizeof *graph_of);
    for (vid v = 0; v < m->nval; v++)
        graph_of[v] = m->value[v].graph;
    return csr_build(a, m->ngraph, m->nval, graph_of, NULL);
}

/* Makes the messages of all graphs of k->m, inner ones first. */
static void make_graphs(struct maker *k, const struct csr *values)
{
    /* [ngraph - 1] all graphs, outer ones first */
    const gid *order = graphs_outer_first(k->m, k->a);
    for (uint32_t i = k->m->ngraph - 1; i-- > 0;)
        make_graph(k, order[i], values);
}

/* ---- functions ---------------------------------------------------------------------------------- */

Onnx__OperatorSetIdProto *make_opset(struct maker *k, uint32_t i)
{
    struct module *m = k->m;
    struct opset *x = &m->opset[i];
    const Onnx__OperatorSetIdProto *src = k->without_source ? NULL : x->src;
    if (src != NULL && !m->patterns)
        return (Onnx__OperatorSetIdProto *)(uintptr_t)src;
    Onnx__OperatorSetIdProto *p = arena_alloc(k->a, sizeof *p);
    if (src != NULL)
        *p = *src;
    else
        onnx__operator_set_id_proto__init(p);
    if (!is_domain(m, p->domain, x->domain))
        p->domain = x->domain != 0 ? make_text(m, x->domain) : NULL;
    p->has_version = p->has_version || x->version != 0;
    p->version = x->version;
    if (!k->without_source)
        x->src = p;
    return p;
}

/* Returns the messages of all imported operator sets and writes their number to *n. */
static Onnx__OperatorSetIdProto **make_opsets(struct maker *k, size_t *n)
{
    *n = k->m->nopset - 1;
    Onnx__OperatorSetIdProto **out = arena_array(k->a, *n + 1, sizeof *out);
    for (uint32_t i = 1; i < k->m->nopset; i++)
        out[i - 1] = make_opset(k, i);
    return out;
}

/* Returns the names of a function's inputs or outputs (list) and writes their number to *n. */
static char **name_list(struct maker *k, struct slice list, size_t *n)
{
    *n = list.n;
    return name_values(k, list, list.n, 0);
}

/* Sets the fields of p, the message of function f, that the module models, except nodes and value_info.  k->m: the body
 * of f. */
static void complete_function(struct maker *k, const struct function *f, Onnx__FunctionProto *p)
{
    struct module *b = k->m;
    set_text(b, &p->name, f->name);
    if (!is_domain(b, p->domain, f->domain))
        p->domain = f->domain != 0 ? make_text(b, f->domain) : NULL;
    set_text(b, &p->overload, f->overload);
    p->input = name_list(k, b->graph[1].in, &p->n_input);
    p->output = name_list(k, b->graph[1].out, &p->n_output);
    p->n_attribute = f->need.n;
    p->attribute = arena_array(k->a, (size_t)f->need.n + 1, sizeof *p->attribute);
    for (uint32_t i = 0; i < f->need.n; i++)
        p->attribute[i] = make_text(b, b->sids[f->need.at + i]);
    p->n_attribute_proto = f->give.n;
    p->attribute_proto = arena_array(k->a, (size_t)f->give.n + 1, sizeof *p->attribute_proto);
    for (uint32_t i = 0; i < f->give.n; i++)
        p->attribute_proto[i] = make_attribute(k, &b->attr[f->give.at + i], module_str(b, f->name));
    p->opset_import = make_opsets(k, &p->n_opset_import);
    make_about(k, f->about, /*own=*/false, &p->doc_string, &p->metadata_props,
               &p->n_metadata_props);
}

/* Forgets the names that values had before passes renamed them (value.was); called when the messages have the present
 * names of all values. */
static void forget_names(struct module *m)
{
    for (vid v = 1; v < m->nval; v++)
        m->value[v].was = 0;
}

/* Makes the message of function f and sets f->src to it, unless the message from which the function was read still
 * agrees.  A function's message has nodes, but no graph: graph 1 of the body gets a message only to take its nodes from
 * it.  Does with the body what onnx_make() does with a model: renames values that hide others, and notes that the
 * body's messages agree with it. */
static void make_function(struct maker *model, struct function *f)
{
    struct maker k = {.m = f->body, .model = model->m, .a = model->a, .d = model->d};
    const Onnx__FunctionProto *src = f->src;
    k.describe_all = src == NULL || k.m->patterns;
    k.m->rewritten = model->m->rewritten;
    rename_hiding_values(k.m);
    const struct csr values = list_values(k.m, k.a);
    make_graphs(&k, &values);
    const Onnx__GraphProto *g = k.m->graph[1].src;
    bool same =
        src != NULL && !k.m->patterns && same_list(src->node, src->n_node, g->node, g->n_node);
    if (!same) {
        Onnx__FunctionProto *p = arena_alloc(k.a, sizeof *p);
        if (src != NULL)
            *p = *src;
        else
            onnx__function_proto__init(p);
        p->n_node = g->n_node;
        p->node = g->node;
        complete_function(&k, f, p);
        p->value_info = make_infos(&k, &values, 1, index_infos(&k, p->value_info, p->n_value_info),
                                   true, &p->n_value_info);
        f->src = p;
    }
    k.m->patterns = k.m->rewritten = false; /* the messages agree with the body now */
    forget_names(k.m);
    model->failed = model->failed || k.failed;
}

/* ---- the model ---------------------------------------------------------------------------------- */

/* Returns the first ONNX IR version that has the element type.  Apart from BF16, newer types have larger numbers. */
static int64_t version_of(enum elem e)
{
    return e >= ELEM_U2         ? 13
           : e >= ELEM_F8E8M0   ? 12
           : e >= ELEM_F4E2M1   ? 11
           : e >= ELEM_U4       ? 10
           : e >= ELEM_F8E4M3FN ? 9
           : e == ELEM_BF16     ? 4
                                : 3;
}

/* Returns the first ONNX IR version that has all things that passes made: element types, weights that are not inputs
 * (version 4), sparse weights (6), functions (8), overloads and metadata of nodes (10). */
static int64_t version_needed(const struct module *m)
{
    int64_t need = m->nfunction > 1 ? 8 : 3;
    for (nid n = 1; n < m->nnode; n++) {
        const struct node *x = &m->node[n];
        bool says = x->overload != 0 || m->about[x->about].meta.n > 0;
        if ((x->flags & NODE_MADE) == 0)
            continue;
        if (says)
            need = larger(need, 10);
        for (uint32_t i = 0; i < x->out.n; i++)
            need = larger(need, version_of(m->type[m->value[node_out(m, n, i)].type].elem));
    }
    for (tid t = 1; t < m->ntensor; t++)
        if (m->tensor[t].src == NULL)
            need = larger(need, version_of((enum elem)m->tensor[t].elem));
    for (vid v = 1; v < m->nval; v++)
        if ((m->value[v].flags & (VALUE_INIT | VALUE_INPUT)) == VALUE_INIT)
            need = larger(need, m->tensor[m->value[v].tensor].where == TENSOR_SPARSE ? 6 : 4);
    return need;
}

/* Imports version 1 of the domains that nodes made by passes use and the model does not import; for ai.onnx, reports an
 * error instead. */
static void import_domains(struct maker *k)
{
    struct module *m = k->m;
    struct map known = {0};
    for (uint32_t i = 1; i < m->nopset; i++)
        map_set(&known, k->a, map_key(1, m->opset[i].domain), 1);
    for (nid n = 1; n < m->nnode; n++) {
        const struct node *x = &m->node[n];
        if ((x->flags & NODE_MADE) == 0 || x->callee != 0 ||
            map_get(&known, map_key(1, x->domain)) != 0)
            continue;
        map_set(&known, k->a, map_key(1, x->domain), 1);
        if (x->domain != 0) {
            module_add_opset(m, x->domain, 1);
            continue;
        }
        k->failed = true;
        diag_error(k->d, "%s: node '%s' is of ai.onnx, of which the model imports no version",
                   module_str(m, m->path), node_name(m, n));
    }
}

/* Makes the messages of all functions and puts them into p, the message of the model. */
static void set_functions(struct maker *k, Onnx__ModelProto *p)
{
    struct module *m = k->m;
    p->n_functions = 0;
    p->functions = arena_array(k->a, (size_t)m->nfunction + 1, sizeof *p->functions);
    for (uint32_t f = 1; f < m->nfunction; f++) {
        make_function(k, &m->function[f]);
        p->functions[p->n_functions++] = (void *)(uintptr_t)m->function[f].src;
    }
}

/* Refuses a module without operators (a profile).  Returns 0, or -1 and an error. */
static int check_operators(const struct module *m, struct diag *d)
{
    return module_is_profiled(m)
               ? diag_error(
                     d,
                     "%s: it has no operators, only times and sizes: no ONNX model can be made of it",
                     module_str(m, m->path))
               : 0;
}

int onnx_make(struct module *m, struct diag *d)
{
    struct maker k = {
        .m = m, .model = m, .a = m->mem, .d = d, .describe_all = m->src == NULL || m->patterns};
    if (m->src != NULL && !m->rewritten && !m->patterns) /* the messages of the file agree */
        return 0;
    if (check_operators(m, d) != 0)
        return -1;
    rename_hiding_values(m);
    Onnx__ModelProto *p = arena_alloc(k.a, sizeof *p);
    if (m->src != NULL)
        *p = *(const Onnx__ModelProto *)m->src;
    else
        onnx__model_proto__init(p);
    /* a model from text keeps the version in the text if no pass has changed it */
    int64_t need = m->rewritten || !m->patterns ? version_needed(m) : 0;
    m->ir_version = m->ir_version < need ? need : m->ir_version;
    import_domains(&k);
    set_functions(&k, p);
    const struct csr values = list_values(m, k.a);
    make_graphs(&k, &values);
    p->graph = (void *)(uintptr_t)m->graph[1].src;
    p->has_ir_version = p->has_ir_version || m->ir_version != 0;
    p->ir_version = m->ir_version;
    p->opset_import = make_opsets(&k, &p->n_opset_import);
    make_about(&k, m->own_about, m->src != NULL && !m->patterns, &p->doc_string, &p->metadata_props,
               &p->n_metadata_props);
    if (m->rewritten && p->n_training_info > 0)
        check_training(&k, m->src);
    check_characters(&k, &p->base);
    if (k.failed)
        return -1;
    forget_names(m);
    m->src = p;
    m->rewritten = m->patterns = false;
    return 0;
}
