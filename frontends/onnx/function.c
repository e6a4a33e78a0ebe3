/* Reads what a model has beside its main graph: functions, and the tensors of training_info.
 *
 * The body of a function is read into a module of its own (build.c), as a graph whose inputs and outputs have the types
 * that the function's value_info gives.  Of the graphs of training_info only the tensors are read, because tensors
 * may lie in files: these are checked like all other files. Writers find the tensors in module.aside.
 *
 * Cost: O(model), expected. */
#include "frontends/onnx/build.h"

/* ---- functions ---- */

/* Appends function p, without its body, to the module and to b->function.  Returns 0, or -1 and an error. */
static int declare_function(struct onnx_build *b, const Onnx__FunctionProto *p)
{
    struct module *m = b->m;
    sid key = onnx_function_key(b, p->domain, p->name, p->overload);

    if (map_get(&b->function, key) != 0) {
        return diag_error(b->d, "%s: function '%s' of domain '%s' is defined twice", b->path,
                          p->name != NULL ? p->name : "", p->domain != NULL ? p->domain : "");
    }
    uint32_t f = module_add_function(m);
    map_set(&b->function, b->tmp, key, f);
    m->function[f].domain = onnx_domain(m, p->domain);
    m->function[f].name = str_id(m, p->name);
    m->function[f].overload = str_id(m, p->overload);
    m->function[f].about =
        onnx_about(m->function[f].body, p->doc_string, p->metadata_props, p->n_metadata_props);
    m->function[f].src = p;
    return 0;
}

/* Returns messages of the inputs or outputs name[n] of function p, with their types from p's value_info: the
 * function itself has only their names.  known: name -> index in value_info + 1. */
static Onnx__ValueInfoProto **describe_values(struct onnx_build *b, char **name, size_t n,
                                              const struct map *known, const Onnx__FunctionProto *p)
{
    Onnx__ValueInfoProto **list = arena_array(b->m->mem, n, sizeof *list);

    for (size_t i = 0; i < n; i++) {
        sid key = str_id(b->m, name[i]);
        uint32_t k = key != 0 ? map_get(known, key) : 0;
        list[i] = arena_alloc(b->m->mem, sizeof *list[i]);
        onnx__value_info_proto__init(list[i]);
        list[i]->name = name[i];
        list[i]->type = k != 0 ? p->value_info[k - 1]->type : NULL;
    }
    return list;
}

/* Returns the body of a function as the message of a graph. */
static Onnx__GraphProto *body_graph(struct onnx_build *b, const Onnx__FunctionProto *p)
{
    Onnx__GraphProto *g = arena_alloc(b->m->mem, sizeof *g);
    struct map known = {0};

    for (size_t i = 0; i < p->n_value_info; i++) {
        sid key = str_id(b->m, p->value_info[i]->name);
        if (key != 0)
            map_set(&known, b->tmp, key, (uint32_t)i + 1);
    }
    onnx__graph_proto__init(g);
    g->name = p->name;
    g->n_node = p->n_node;
    g->node = p->node;
    g->n_value_info = p->n_value_info;
    g->value_info = p->value_info;
    g->n_input = p->n_input;
    g->input = describe_values(b, p->input, p->n_input, &known, p);
    g->n_output = p->n_output;
    g->output = describe_values(b, p->output, p->n_output, &known, p);
    return g;
}

/* Sets f->need, the names of attributes that calls must give, and f->give, attributes with defaults.  Returns 0, or -1
 * and an error. */
static int read_attributes(struct onnx_build *b, const Onnx__FunctionProto *p, struct function *f)
{
    gid none = 0; /* for onnx_attr(): no attribute here has a body */

    f->need = module_add_sids(b->m, NULL, (uint32_t)p->n_attribute);
    for (uint32_t i = 0; i < f->need.n; i++)
        b->m->sids[f->need.at + i] = str_id(b->m, p->attribute[i]);
    f->give = module_add_attrs(b->m, NULL, (uint32_t)p->n_attribute_proto);
    for (uint32_t i = 0; i < f->give.n; i++) {
        struct attr a = {0};
        enum attr_kind kind = onnx_attr_kind(p->attribute_proto[i]);
        if (kind == ATTR_GRAPH || kind == ATTR_GRAPHS) {
            return diag_error(b->d, "%s: the default of attribute '%s' is a graph: not supported",
                              b->path, module_str(b->m, str_id(b->m, p->attribute_proto[i]->name)));
        }
        if (onnx_attr(b, p->attribute_proto[i], p->name != NULL ? p->name : "", &none, &a) != 0)
            return -1;
        b->m->attr[f->give.at + i] = a;
    }
    return 0;
}

/* Reads the body of function f.  Its files become files of the model: b->dir and b->file are passed on.  Returns 0, or
 * -1 and an error. */
static int read_function(struct onnx_build *b, uint32_t f)
{
    struct function *x = &b->m->function[f];
    const Onnx__FunctionProto *p = x->src;
    struct onnx_build in = {.m = x->body,
                            .model = b->model,
                            .d = b->d,
                            .tmp = b->tmp,
                            .folder = b->folder,
                            .dir = b->dir,
                            .allow_links = b->allow_links,
                            .opset = p->opset_import,
                            .nopset = p->n_opset_import,
                            .file = b->file,
                            .function = b->function};

    in.path = arena_fmt(b->tmp, "%s: function '%s'", b->path, p->name != NULL ? p->name : "");
    in.graph = body_graph(&in, p);
    int rc = read_attributes(&in, p, x) != 0 || onnx_build(&in) != 0 ? -1 : 0;
    /* a call is placed as a whole: its nodes have no annotations of their own */
    x->body->device_ann = x->body->shard_ann = NULL;
    x->body->slot_ann = NULL;
    b->dir = in.dir;
    b->file = in.file;
    return rc;
}

/* ---- training_info ---- */

/* Graphs whose tensors must still be read. */
struct graph_stack {
    const Onnx__GraphProto **stack;
    uint32_t n, cap;
};

/* Pushes graph g, unless it is NULL, for a later visit. */
static void push_graph(struct onnx_build *b, struct graph_stack *w, const Onnx__GraphProto *g)
{
    if (g == NULL)
        return;
    w->stack = vec_grow(b->tmp, w->stack, &w->cap, w->n + 1, sizeof *w->stack);
    w->stack[w->n++] = g;
}

/* Reads the tensors in the attributes of node n into b->m and pushes its bodies.  Returns 0, or -1 and an error. */
static int read_node_tensors(struct onnx_build *b, struct graph_stack *w, const Onnx__NodeProto *n)
{
    for (size_t i = 0; i < n->n_attribute; i++) {
        const Onnx__AttributeProto *a = n->attribute[i];
        struct onnx_owner owner = {n->name != NULL ? n->name : "", a->name != NULL ? a->name : ""};
        if (a->t != NULL && onnx_tensor(b, a->t, owner) == 0)
            return -1;
        for (size_t k = 0; k < a->n_tensors; k++)
            if (onnx_tensor(b, a->tensors[k], owner) == 0)
                return -1;
        if (a->sparse_tensor != NULL && onnx_sparse(b, a->sparse_tensor, owner) == 0)
            return -1;
        for (size_t k = 0; k < a->n_sparse_tensors; k++)
            if (onnx_sparse(b, a->sparse_tensors[k], owner) == 0)
                return -1;
        push_graph(b, w, a->g);
        for (size_t k = 0; k < a->n_graphs; k++)
            push_graph(b, w, a->graphs[k]);
    }
    return 0;
}

/* Reads the initializers of graph g and the tensors of its nodes into b->m.  Returns 0, or -1 and an error. */
static int read_graph_tensors(struct onnx_build *b, struct graph_stack *w,
                              const Onnx__GraphProto *g)
{
    struct onnx_owner owner = {NULL, NULL};

    for (size_t i = 0; i < g->n_initializer; i++)
        if (onnx_tensor(b, g->initializer[i], owner) == 0)
            return -1;
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (onnx_sparse(b, g->sparse_initializer[i], owner) == 0)
            return -1;
    for (size_t i = 0; i < g->n_node; i++)
        if (read_node_tensors(b, w, g->node[i]) != 0)
            return -1;
    return 0;
}

/* Reads all tensors of training_info, also those in bodies, into b->m->aside; files with their bytes become files
 * of the model, as in read_function().  Returns 0, or -1 and an error. */
static int read_training_tensors(struct onnx_build *b, const Onnx__ModelProto *p)
{
    struct onnx_build in = *b;
    struct graph_stack w = {0};
    int rc = 0;

    in.m = b->m->aside = module_add_inner(b->m);
    in.path = arena_fmt(b->tmp, "%s: training_info", b->path);
    for (size_t i = 0; i < p->n_training_info; i++) {
        push_graph(b, &w, p->training_info[i]->initialization);
        push_graph(b, &w, p->training_info[i]->algorithm);
    }
    while (w.n > 0 && rc == 0)
        rc = read_graph_tensors(&in, &w, w.stack[--w.n]);
    b->dir = in.dir;
    b->file = in.file;
    return rc;
}

int onnx_build_model(struct onnx_build *b, const Onnx__ModelProto *p)
{
    b->graph = p->graph;
    b->opset = p->opset_import;
    b->nopset = p->n_opset_import;
    b->configuration = p->configuration;
    b->nconfiguration = p->n_configuration;
    for (size_t i = 0; i < p->n_functions; i++)
        if (declare_function(b, p->functions[i]) != 0)
            return -1;
    for (uint32_t f = 1; f < b->m->nfunction; f++)
        if (read_function(b, f) != 0)
            return -1;
    if (p->n_training_info > 0 && read_training_tensors(b, p) != 0)
        return -1;
    if (onnx_build(b) != 0)
        return -1;
    onnx_drop_shard_ann(b->m);
    module_share_files(b->m);
    return 0;
}
