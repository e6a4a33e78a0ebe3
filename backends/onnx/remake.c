/* Messages for a module that passes have rewritten.
 *
 * The writers share messages with the source and change only what a part needs.  After a pass has made
 * nodes, the source no longer says what the model is; so the messages of the new one are made here, once,
 * and every src of the module points to them.  The message of a made node is that of its pattern (the
 * function's node: documentation, metadata, unknown fields stay), with the names and attributes that the
 * module has; an attribute's message is that of whoever gave its value.  Nodes of the source that own
 * no changed body keep theirs, but for those without a name in the main graph, which get it: readers make
 * names up by counting nodes, and these are others now.
 * O(nodes + operands + attributes); no recursion: inner graphs come first. */
#include "backends/backends.h"

#include "onnx.pb-c.h"

#include <assert.h>
#include <string.h>

/* The interned string itself: it lives as long as the module, and so do the messages. */
static char *share_text(const struct module *m, sid s)
{
    return (char *)(uintptr_t)str(m, s); /* the messages' pointers are not const */
}

/* The names of the first n values of a list; a result of node `lost` whose name a pass took away gets one. */
static char **name_values(struct module *m, struct slice list, uint32_t n, nid lost)
{
    assert(n <= list.n);
    char **out = arena_array(m->mem, (size_t)n + 1, sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        vid v = m->arg[list.at + i];
        out[i] = share_text(m, m->value[v].name);
        if (v != 0 && m->value[v].name == 0)
            out[i] = arena_fmt(m->mem, "%s/lost_%u", node_name(m, lost), i);
    }
    return out;
}

/* The message of an attribute; bodies in it are those that were remade. */
static Onnx__AttributeProto *make_attribute(struct module *m, const struct attr *a)
{
    Onnx__AttributeProto *p = arena_alloc(m->mem, sizeof *p);
    if (a->src != NULL)
        *p = *(const Onnx__AttributeProto *)a->src;
    else
        onnx__attribute_proto__init(p);
    p->name = share_text(m, a->name);
    if (a->ref != 0)
        return p;
    if (a->kind == ATTR_GRAPH)
        p->g = (void *)(uintptr_t)m->graph[a->u.g].src;
    if (a->kind != ATTR_GRAPHS)
        return p;
    p->graphs = arena_array(m->mem, p->n_graphs, sizeof *p->graphs);
    for (uint32_t i = 0; i < a->u.list.n; i++)
        p->graphs[i] = (void *)(uintptr_t)m->graph[m->refs[a->u.list.at + i]].src;
    return p;
}

static void set_attributes(struct module *m, nid n, Onnx__NodeProto *p)
{
    const struct slice s = m->node[n].attr;
    p->n_attribute = s.n;
    p->attribute = arena_array(m->mem, (size_t)s.n + 1, sizeof *p->attribute);
    for (uint32_t i = 0; i < s.n; i++)
        p->attribute[i] = make_attribute(m, &m->attr[s.at + i]);
}

static bool has_lost(const struct module *m, nid n)
{
    const struct slice out = m->node[n].out;
    for (uint32_t i = 0; i < out.n; i++) {
        if ((m->value[m->arg[out.at + i]].flags & VALUE_LOST) != 0)
            return true;
    }
    return false;
}

/* Gives a node a message of its own where a pass made or changed it, or where bodies hang on it. */
static void remake_node(struct module *m, nid n)
{
    struct node *x = &m->node[n];
    bool made = (x->flags & NODE_MADE) != 0 || has_lost(m, n) || /* the order is another one now, */
                /* and readers' names count nodes */
                (x->graph == 1 && (x->flags & NODE_UNNAMED) != 0);
    if (!made && !node_has_body(m, n))
        return;
    Onnx__NodeProto *p = arena_alloc(m->mem, sizeof *p);
    if (x->src != NULL)
        *p = *(const Onnx__NodeProto *)x->src;
    else
        onnx__node_proto__init(p);
    set_attributes(m, n, p);
    if (made) {
        p->name = share_text(m, x->name);
        p->n_input = x->nformal;
        p->input = name_values(m, x->in, x->nformal, n);
        p->n_output = x->out.n;
        p->output = name_values(m, x->out, x->out.n, n);
        if (x->src == NULL)
            p->op_type = share_text(m, x->op);
    }
    x->src = p;
}

/* Inputs or outputs under the names that the module has for them. */
static Onnx__ValueInfoProto **make_infos(struct module *m, struct slice list,
                                         Onnx__ValueInfoProto **from)
{
    Onnx__ValueInfoProto **out = arena_array(m->mem, (size_t)list.n + 1, sizeof *out);
    for (uint32_t i = 0; i < list.n; i++) {
        out[i] = arena_alloc(m->mem, sizeof *out[i]);
        *out[i] = *from[i];
        out[i]->name = share_text(m, m->value[m->arg[list.at + i]].name);
    }
    return out;
}

/* Initializers of a body that a pass copied: each under its new name. */
static void rename_weights(struct module *m, const struct graph *g, Onnx__GraphProto *p)
{
    assert(g->src);
    const Onnx__GraphProto *from = g->src;
    p->n_initializer = p->n_sparse_initializer = 0;
    p->initializer = arena_array(m->mem, (size_t)from->n_initializer + 1, sizeof *p->initializer);
    p->sparse_initializer =
        arena_array(m->mem, (size_t)from->n_sparse_initializer + 1, sizeof *p->sparse_initializer);
    for (uint32_t i = 0; i < g->init.n; i++) {
        struct tensor *t = &m->tensor[m->value[m->arg[g->init.at + i]].tensor];
        const ProtobufCMessage *src = t->src;
        Onnx__TensorProto *w = arena_alloc(m->mem, sizeof *w);
        if (src->descriptor == &onnx__sparse_tensor_proto__descriptor) {
            Onnx__SparseTensorProto *s = arena_alloc(m->mem, sizeof *s);
            *s = *(const Onnx__SparseTensorProto *)t->src;
            *w = *s->values;
            s->values = w;
            t->src = s;
            p->sparse_initializer[p->n_sparse_initializer++] = s;
        } else {
            *w = *(const Onnx__TensorProto *)t->src;
            t->src = w;
            p->initializer[p->n_initializer++] = w;
        }
        w->name = share_text(m, t->name);
    }
}

/* Gives a graph a message with the nodes that are left; copied: a pass copied it as a body, under new names. */
static void remake_graph(struct module *m, gid id, bool copied)
{
    assert(id > 0 && id < m->ngraph && m->graph[id].src);
    struct graph *g = &m->graph[id];
    Onnx__GraphProto *p = arena_alloc(m->mem, sizeof *p);
    *p = *(const Onnx__GraphProto *)g->src;
    p->n_node = 0;
    p->node = arena_array(m->mem, (size_t)g->count + 1, sizeof *p->node);
    for (nid n = g->first; n < g->first + g->count; n++) {
        remake_node(m, n);
        if ((m->node[n].flags & NODE_LOST) == 0)
            p->node[p->n_node++] = (void *)(uintptr_t)m->node[n].src;
    }
    if (copied) {
        p->input = make_infos(m, g->in, p->input);
        p->output = make_infos(m, g->out, p->output);
        p->n_value_info = p->n_quantization_annotation = 0; /* they speak of the old names */
        rename_weights(m, g, p);
    }
    g->src = p;
}

/* Adds the opsets that passes have brought along. */
static void set_opsets(struct module *m, Onnx__ModelProto *p)
{
    Onnx__OperatorSetIdProto **list = arena_array(m->mem, m->nopset, sizeof *list);
    for (uint32_t i = 0; i + 1 < m->nopset; i++) {
        if (i < p->n_opset_import) {
            list[i] = p->opset_import[i];
            continue;
        }
        list[i] = arena_alloc(m->mem, sizeof *list[i]);
        onnx__operator_set_id_proto__init(list[i]);
        list[i]->domain = share_text(m, m->opset[i + 1].domain);
        list[i]->has_version = 1;
        list[i]->version = m->opset[i + 1].version;
    }
    p->opset_import = list;
    p->n_opset_import = m->nopset - 1;
}

void onnx_remake(struct module *m)
{
    Onnx__ModelProto *p;
    if (!m->rewritten || m->src == NULL)
        return;
    p = arena_alloc(m->mem, sizeof *p);
    *p = *(const Onnx__ModelProto *)m->src;
    for (gid g = m->ngraph - 1; g > 0; g--)
        remake_graph(m, g,
                     m->graph[g].owner != 0 && (m->node[m->graph[g].owner].flags & NODE_MADE) != 0);
    assert(m->graph[1].src);
    p->graph = (void *)(uintptr_t)m->graph[1].src;
    set_opsets(m, p);
    p->functions = arena_array(m->mem, (size_t)m->nfunction + 1, sizeof *p->functions);
    p->n_functions = 0;
    for (uint32_t f = 1; f < m->nfunction; f++)
        p->functions[p->n_functions++] = (void *)(uintptr_t)m->function[f].src;
    m->src = p;
    m->rewritten = false;
}
