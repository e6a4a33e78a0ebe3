/* Makes ONNX messages of the ONNX-only fields in textual IR (frontends.h: onnx_carried).
 *
 * Textual IR contains, as bytes, the fields of ONNX messages that the module does not model (about.rest, made by
 * backends/onnx/carry.c).  The text may come from an untrusted source.  So the bytes are checked like an ONNX file:
 * all the messages are put into one ONNX model, as its nodes, attributes, tensors and so on; that model is scanned
 * and unpacked like a file, and the src pointers of the module are set to its messages.  If the text was edited
 * after it was written, these bytes may contradict its other lines: then the lines count, and a type or a place of
 * external data that differs from them is removed from its message. O(bytes + the module). */
#include "frontends/frontends.h"
#include "frontends/onnx/build.h"

#include <stdlib.h>
#include <string.h>

/* Tags of fields whose values are messages: NODE_IN_GRAPH is the field of a graph that holds a node. A tag is field
 * number << 3 | 2, where 2 says that a length and so many bytes follow. */
enum {
    GRAPH_IN_MODEL = 7 << 3 | 2,
    OPSET_IN_MODEL = 8 << 3 | 2,
    FUNCTION_IN_MODEL = 25 << 3 | 2,
    NODE_IN_GRAPH = 1 << 3 | 2,
    TENSOR_IN_GRAPH = 5 << 3 | 2,
    SPARSE_IN_GRAPH = 15 << 3 | 2,
    ATTRIBUTE_IN_NODE = 5 << 3 | 2,
    GRAPH_IN_ATTRIBUTE = 6 << 3 | 2
};

/* A growing list of bytes p[n]. */
struct bytes {
    struct arena *a;
    uint8_t *p;
    uint32_t n, cap;
};

/* Appends n bytes. */
static void append_bytes(struct bytes *b, const void *p, size_t n)
{
    b->p = vec_grow(b->a, b->p, &b->cap, b->n + (uint32_t)n, 1);
    if (n > 0)
        memcpy(b->p + b->n, p, n);
    b->n += (uint32_t)n;
}

/* Appends v as a varint of protobuf: seven bits a byte, the lowest first, the top bit set in all bytes but the last. */
static void append_varint(struct bytes *b, uint64_t v)
{
    do {
        uint8_t c = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        append_bytes(b, &c, 1);
        v >>= 7;
    } while (v != 0);
}

/* Appends a field: tag, length, and the message p[n]. */
static void append_message(struct bytes *b, unsigned tag, const void *p, size_t n)
{
    append_varint(b, tag);
    append_varint(b, n);
    append_bytes(b, p, n);
}

/* Where a thing of the module (a node, a tensor, ...) stores the pointer to its message, and the message's kind. */
struct holder {
    const void **src;
    enum { NODE, ATTRIBUTE, GRAPH, TENSOR, SPARSE, OPSET, FUNCTION } kind;
};

/* The messages of a module. */
struct carried {
    struct arena *a;
    struct bytes node, tensor, sparse, opset, function; /* fields of the composed model, by kind */
    /* [n] in the order in which add_rest() appended their messages, as set_sources() expects */
    struct holder *holder;
    uint32_t n, cap;
};

/* Returns a message whose only field is the message `in`; tag: tag of the field. */
static struct bytes wrap_message(struct carried *c, unsigned tag, struct bytes in)
{
    struct bytes out = {.a = c->a};
    append_message(&out, tag, in.p, in.n);
    return out;
}

/* Adds the message about.rest, if there is one, and the holder of its src pointer.  A message of an attribute or a
 * graph is put into a node (and an attribute) of its own. */
static void add_rest(struct carried *c, const struct module *m, uint32_t about,
                     struct holder holder)
{
    static const unsigned tag[] = {[NODE] = NODE_IN_GRAPH,        [ATTRIBUTE] = NODE_IN_GRAPH,
                                   [GRAPH] = NODE_IN_GRAPH,       [TENSOR] = TENSOR_IN_GRAPH,
                                   [SPARSE] = SPARSE_IN_GRAPH,    [OPSET] = OPSET_IN_MODEL,
                                   [FUNCTION] = FUNCTION_IN_MODEL};
    struct bytes *const to[] = {[NODE] = &c->node,        [ATTRIBUTE] = &c->node,
                                [GRAPH] = &c->node,       [TENSOR] = &c->tensor,
                                [SPARSE] = &c->sparse,    [OPSET] = &c->opset,
                                [FUNCTION] = &c->function};
    sid rest = m->about[about].rest;
    struct bytes in = {.a = c->a};
    if (rest == 0)
        return;
    append_bytes(&in, module_str(m, rest), str_size(m, rest));
    if (holder.kind == GRAPH)
        in = wrap_message(c, GRAPH_IN_ATTRIBUTE, in);
    if (holder.kind == GRAPH || holder.kind == ATTRIBUTE)
        in = wrap_message(c, ATTRIBUTE_IN_NODE, in);
    append_message(to[holder.kind], tag[holder.kind], in.p, in.n);
    c->holder = vec_grow(c->a, c->holder, &c->cap, c->n + 1, sizeof *c->holder);
    c->holder[c->n++] = holder;
}

/* Adds all messages of m and of its functions, and marks m's messages as patterns. */
static void add_module(struct carried *c, struct module *m)
{
    for (nid n = 1; n < m->nnode; n++)
        add_rest(c, m, m->node[n].about, (struct holder){&m->node[n].src, NODE});
    for (uint32_t i = 1; i < m->nattr; i++)
        add_rest(c, m, m->attr[i].about, (struct holder){&m->attr[i].src, ATTRIBUTE});
    for (gid g = 1; g < m->ngraph; g++)
        add_rest(c, m, m->graph[g].about, (struct holder){&m->graph[g].src, GRAPH});
    for (tid t = 1; t < m->ntensor; t++)
        add_rest(c, m, m->tensor[t].about,
                 (struct holder){&m->tensor[t].src,
                                 m->tensor[t].where == TENSOR_SPARSE ? SPARSE : TENSOR});
    for (uint32_t i = 1; i < m->nopset; i++)
        add_rest(c, m, m->opset[i].about, (struct holder){&m->opset[i].src, OPSET});
    for (uint32_t f = 1; f < m->nfunction; f++) {
        struct function *x = &m->function[f];
        add_module(c, x->body);
        add_rest(c, x->body, x->about, (struct holder){&x->src, FUNCTION});
    }
    m->patterns = true;
}

/* Returns the bytes of one model with all messages. */
static struct bytes join_model(struct carried *c)
{
    struct bytes graph = {.a = c->a}, model = {.a = c->a};
    append_bytes(&graph, c->node.p, c->node.n);
    append_bytes(&graph, c->tensor.p, c->tensor.n);
    append_bytes(&graph, c->sparse.p, c->sparse.n);
    append_message(&model, GRAPH_IN_MODEL, graph.p, graph.n);
    append_bytes(&model, c->opset.p, c->opset.n);
    append_bytes(&model, c->function.p, c->function.n);
    return model;
}

/* Sets the src pointers of all holders to their messages in p, the composed and unpacked model. */
static void set_sources(const struct carried *c, const Onnx__ModelProto *p)
{
    /* at: [kind] number of messages of the kind so far; node: number of nodes of the composed model so far: each is the
     * message of a node, or holds the message of an attribute or, in an attribute, of a graph (add_rest()) */
    size_t at[FUNCTION + 1] = {0}, node = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct holder *x = &c->holder[i];
        const Onnx__GraphProto *g = p->graph;
        switch (x->kind) {
        case NODE:
            *x->src = g->node[node++];
            break;
        case ATTRIBUTE:
            *x->src = g->node[node++]->attribute[0];
            break;
        case GRAPH:
            *x->src = g->node[node++]->attribute[0]->g;
            break;
        case TENSOR:
            *x->src = g->initializer[at[TENSOR]++];
            break;
        case SPARSE:
            *x->src = g->sparse_initializer[at[SPARSE]++];
            break;
        case OPSET:
            *x->src = p->opset_import[at[OPSET]++];
            break;
        case FUNCTION:
            *x->src = p->functions[at[FUNCTION]++];
            break;
        }
    }
}

/* ---- differences between the text and the messages ----------------------------------------------- */

/* Compares the types in list[n], descriptions of values of graph g, with the types in the text.  says[value]: adds the
 * bit 1 if the type differs (also if one is missing), 2 if it is the same.  outer_too: names may mean values of graphs
 * around g, too. */
static void compare_infos(struct onnx_build *b, gid g, bool outer_too, Onnx__ValueInfoProto **list,
                          size_t n, uint8_t *says)
{
    struct module *m = b->m;
    for (size_t i = 0; i < n; i++) {
        sid name = str_id(m, list[i]->name);
        vid v = 0;
        for (gid at = g; at != 0 && v == 0 && name != 0;
             at = outer_too ? m->node[m->graph[at].owner].graph : 0)
            v = map_get(&b->value, map_key(at, name));
        if (v == 0)
            continue;
        bool typed = (m->value[v].flags & VALUE_TYPED) != 0; /* value_info gives the type, too */
        uint32_t type = m->value[v].type;
        if (list[i]->type != NULL)
            says[v] |= types_same(m, onnx_type(b, list[i]->type), type) ? 2 : 1;
        else if (!typed && m->type[type].kind != TYPE_NONE)
            says[v] |= 1;
    }
}

/* Removes the types from the message of an attribute that differ from the types in the text.  If one type of a list
 * differs, removes the whole list. */
static void drop_changed_types(struct onnx_build *b, const struct attr *a)
{
    const struct module *m = b->m;
    Onnx__AttributeProto *p = (Onnx__AttributeProto *)(uintptr_t)a->src;
    if (p == NULL || a->ref != 0)
        return;
    if (a->kind == ATTR_TYPE && p->tp != NULL && !types_same(m, onnx_type(b, p->tp), a->u.type))
        p->tp = NULL;
    bool same = a->kind == ATTR_TYPES && p->n_type_protos == a->u.list.n;
    for (uint32_t i = 0; same && i < a->u.list.n; i++)
        same = types_same(m, onnx_type(b, p->type_protos[i]), m->refs[a->u.list.at + i]);
    if (a->kind == ATTR_TYPES && !same)
        p->n_type_protos = 0;
}

/* Whether the external_data of message p agrees with the file, offset and length that the text gives for tensor x. */
static bool is_there(const struct module *m, const struct tensor *x, const Onnx__TensorProto *p)
{
    bool same = x->where == TENSOR_FILE;
    bool has_offset = x->off == 0; /* a message without an offset means offset 0 */
    for (size_t i = 0; same && i < p->n_external_data; i++) {
        const char *key = p->external_data[i]->key, *value = p->external_data[i]->value;
        if (key == NULL || value == NULL)
            continue;
        if (strcmp(key, "location") == 0) {
            same = strcmp(value, module_str(m, m->file[x->file].location)) == 0;
        } else if (strcmp(key, "offset") == 0) {
            same = strtoull(value, NULL, 10) == x->off;
            has_offset = true;
        } else if (strcmp(key, "length") == 0) {
            same = strtoull(value, NULL, 10) == x->len;
        }
    }
    return same && has_offset;
}

/* Removes external_data from the message of tensor x if the text gives another place. */
static void drop_changed_place(const struct module *m, const struct tensor *x)
{
    Onnx__TensorProto *p = (Onnx__TensorProto *)(uintptr_t)x->src;
    if (p == NULL || x->where == TENSOR_OPAQUE || x->where == TENSOR_SPARSE || is_there(m, x, p))
        return;
    p->n_external_data = 0;
    if (p->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT)
        p->has_data_location = false;
}

/* Compares the messages of m with the text, after which the module was made: sets VALUE_RETYPED, and removes types and
 * places that differ.  of: the function whose body m is, or NULL. */
static void compare_module(struct module *m, const Onnx__FunctionProto *of, struct arena *tmp)
{
    struct onnx_build b = {.m = m, .model = m, .tmp = tmp};
    uint8_t *says = arena_alloc(tmp, m->nval);
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name != 0)
            map_set(&b.value, tmp, map_key(m->value[v].graph, m->value[v].name), v);
    for (gid g = 1; g < m->ngraph && b.value.mask != 0; g++) {
        const Onnx__GraphProto *p = m->graph[g].src;
        if (p == NULL)
            continue;
        compare_infos(&b, g, /*outer_too=*/false, p->input, p->n_input, says);
        compare_infos(&b, g, /*outer_too=*/true, p->output, p->n_output, says);
        compare_infos(&b, g, /*outer_too=*/false, p->value_info, p->n_value_info, says);
    }
    if (of != NULL && b.value.mask != 0)
        compare_infos(&b, 1, /*outer_too=*/false, of->value_info, of->n_value_info, says);
    for (vid v = 1; v < m->nval; v++)
        if (says[v] == 1) /* the text was edited after it was written */
            m->value[v].flags |= VALUE_RETYPED;
    for (uint32_t i = 1; i < m->nattr; i++)
        drop_changed_types(&b, &m->attr[i]);
    for (tid t = 1; t < m->ntensor; t++)
        drop_changed_place(m, &m->tensor[t]);
    for (uint32_t f = 1; f < m->nfunction; f++) /* no deeper: bodies have no functions */
        compare_module(m->function[f].body, m->function[f].src, tmp);
}

int onnx_carried(struct module *m, struct diag *d)
{
    struct arena *tmp = arena_new(m->mem);
    struct carried c = {.a = tmp};
    const char *name = arena_fmt(tmp, "%s: !onnx", module_str(m, m->path));
    const sid own = m->about[m->own_about].rest;
    int rc = 0;
    c.node.a = c.tensor.a = c.sparse.a = c.opset.a = c.function.a = tmp;
    add_module(&c, m);
    if (own != 0) {
        m->src = onnx_unpack(module_str(m, own), str_size(m, own), name, m->mem, d);
        rc = m->src != NULL ? 0 : -1;
    }
    if (rc == 0 && c.n > 0) {
        struct bytes all = join_model(&c);
        /* tensor payloads point into these bytes */
        uint8_t *kept = arena_alloc(m->mem, (size_t)all.n + 1);
        memcpy(kept, all.p, all.n);
        const Onnx__ModelProto *p = onnx_unpack(kept, all.n, name, m->mem, d);
        rc = p != NULL ? 0 : -1;
        if (p != NULL) {
            set_sources(&c, p);
            compare_module(m, NULL, tmp);
        }
    }
    arena_free(tmp);
    return rc;
}
