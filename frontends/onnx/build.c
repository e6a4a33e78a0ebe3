/* Makes the module of the messages of an ONNX model (build.h).
 *
 * There is no recursion: all graphs are in one list, to which the bodies of a node are appended when the node is read,
 * and each step is a loop over the list.
 *  1. collect: each node of each graph gets a slot (struct onnx_slot) and a name.
 *  2. define: inputs, initializers and results become values.  One table maps (graph, name) to the value.  If a name is
 *     defined again later, all uses mean the last definition, as in runtimes.
 *  3. resolve: the names of operands are looked up in their graph, then in the graphs around it.  A value of an outer
 *     graph becomes a capture of each node whose body lies between that graph and the reader.
 *  4. sort (sort.c), and emit: the nodes of the module are made, with operands, captures and attributes.
 *
 * Cost: O(model), expected, for nesting of bounded depth; sorting of unsorted files O(n log n). */
#include "frontends/onnx/build.h"

#include "ir/plan/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. collect ---- */

/* Appends a graph to b->body.  parent: graph around it; owner: slot of the node that has it as a body. */
static void add_body(struct onnx_build *b, const Onnx__GraphProto *proto, gid parent,
                     uint32_t owner)
{
    assert(parent < b->nbody || b->nbody == 0);
    b->body = vec_grow(b->tmp, b->body, &b->capbody, b->nbody + 1, sizeof *b->body);
    b->body[b->nbody++] = (struct onnx_body){.proto = proto, .parent = parent, .owner = owner};
}

/* Appends the bodies of the node with slot s to b->body.  Returns 0, or -1 and an error. */
static int collect_bodies(struct onnx_build *b, uint32_t s)
{
    const Onnx__NodeProto *p = b->slot[s].proto;

    for (size_t i = 0; i < p->n_attribute; i++) {
        const Onnx__AttributeProto *a = p->attribute[i];
        enum attr_kind kind = onnx_attr_kind(a);
        if ((kind != ATTR_GRAPH && kind != ATTR_GRAPHS) ||
            (a->ref_attr_name != NULL && *a->ref_attr_name != '\0'))
            continue;
        if (kind == ATTR_GRAPH && a->g == NULL) {
            return diag_error(b->d, "%s: node '%s' (%s): attribute '%s' has no graph", b->path,
                              p->name != NULL ? p->name : "", p->op_type != NULL ? p->op_type : "",
                              a->name != NULL ? a->name : "");
        }
        if (kind == ATTR_GRAPH)
            add_body(b, a->g, b->slot[s].home, s);
        for (size_t k = 0; kind == ATTR_GRAPHS && k < a->n_graphs; k++)
            add_body(b, a->graphs[k], b->slot[s].home, s);
    }
    return 0;
}

/* Lists all graphs and nodes of the file: fills b->body and b->slot, except for names, operands and results.  Returns
 * 0, or -1 and an error. */
static int collect(struct onnx_build *b)
{
    add_body(b, NULL, /*parent=*/0, /*owner=*/0); /* graph 0, which is none */
    add_body(b, b->graph, /*parent=*/0, /*owner=*/0);
    b->slot = vec_grow(b->tmp, NULL, &b->capslot, 1, sizeof *b->slot);
    b->nslot = 1;
    for (gid g = 1; g < b->nbody; g++) {
        const Onnx__GraphProto *p = b->body[g].proto;
        b->body[g].first = b->nslot;
        b->body[g].count = (uint32_t)p->n_node;
        b->slot =
            vec_grow(b->tmp, b->slot, &b->capslot, b->nslot + (uint32_t)p->n_node, sizeof *b->slot);
        for (size_t i = 0; i < p->n_node; i++) {
            uint32_t s = b->nslot++;
            b->slot[s].proto = p->node[i];
            b->slot[s].home = g;
            b->slot[s].bodies = b->nbody;
            if (collect_bodies(b, s) != 0 || diag_stopped(b->d))
                return -1;
        }
    }
    return 0;
}

/* Makes the module's large arrays as long as they will be, so that they are not copied while they grow; leaves them
 * as they are if these lengths need more than 32 bits. */
static void reserve_arrays(struct onnx_build *b)
{
    struct module *m = b->m;
    uint64_t values = 1, args = 1;

    for (gid g = 1; g < b->nbody; g++) {
        const Onnx__GraphProto *p = b->body[g].proto;
        values += p->n_input + p->n_initializer + p->n_sparse_initializer;
        args += p->n_input + p->n_output + p->n_initializer + p->n_sparse_initializer;
    }
    for (uint32_t s = 1; s < b->nslot; s++) {
        values += b->slot[s].proto->n_output;
        args += b->slot[s].proto->n_output + b->slot[s].proto->n_input;
    }
    if (args < UINT32_MAX / 2) {
        m->node = vec_grow(m->mem, m->node, &m->capnode, b->nslot, sizeof *m->node);
        m->value = vec_grow(m->mem, m->value, &m->capval, (uint32_t)values + 1, sizeof *m->value);
        m->arg = vec_grow(m->mem, m->arg, &m->caparg, (uint32_t)args + 1, sizeof *m->arg);
        b->arg = vec_grow(b->tmp, b->arg, &b->caparg, (uint32_t)args + 1, sizeof *b->arg);
    }
}

/* Gives each node a unique name.  The first node with a name keeps it; further nodes with that name are called
 * NAME_POSITION, nodes without a name OPERATOR_POSITION, by their position in their graph; if such a name is taken, a
 * number is appended.  Nodes with a name that is made up get NODE_UNNAMED. */
static void name_nodes(struct onnx_build *b)
{
    struct map taken = {0}; /* name in use -> number to append next to make another name of it */

    for (uint32_t s = 1; s < b->nslot; s++) {
        sid name = str_id(b->m, b->slot[s].proto->name);
        if (name != 0 && map_get(&taken, name) == 0) {
            map_set(&taken, b->tmp, name, 1);
            b->slot[s].name = name;
        }
    }
    for (uint32_t s = 1; s < b->nslot; s++) {
        struct onnx_slot *x = &b->slot[s];
        if (x->name != 0)
            continue;
        struct arena_mark mark = arena_mark(b->tmp);
        const char *base = x->proto->name;
        if (base == NULL || *base == '\0')
            base = x->proto->op_type;
        if (base == NULL || *base == '\0')
            base = "node";
        const char *made = arena_fmt(b->tmp, "%s_%u", base, s - b->body[x->home].first);
        sid first = str_id(b->m, made);
        uint32_t k = map_get(&taken, first);
        x->name = first;
        for (; map_get(&taken, x->name) != 0; k++)
            x->name = str_id(b->m, arena_fmt(b->tmp, "%s_%u", made, k));
        arena_release(b->tmp, mark);
        if (k != 0)
            map_set(&taken, b->tmp, first, k);
        map_set(&taken, b->tmp, x->name, 1);
        x->flags |= NODE_UNNAMED;
    }
}

/* ---- 2. define ---- */

/* The names that a graph defines more than once, for a warning. */
struct doubles {
    uint32_t n;  /* number of definitions of a name that the same graph had defined before */
    sid name[3]; /* names of the first such definitions */
};

/* Counts one more definition of a name that the graph had defined before; keeps the first such names, as many as
 * x->name has room for. */
static void add_double(struct doubles *x, sid name)
{
    if (x->n < sizeof x->name / sizeof *x->name)
        x->name[x->n] = name;
    x->n++;
}

/* Returns the value that graph g itself (not a graph around it) defines under `name`; 0: none. */
static vid find_value_here(const struct onnx_build *b, gid g, sid name)
{
    return map_get(&b->value, map_key(g, name));
}

/* Appends a value of graph g to the module, enters it in b->value, and returns it.  flags: VALUE_INPUT, ... */
static vid add_value(struct onnx_build *b, gid g, sid name, uint32_t flags)
{
    assert(name != 0 && g > 0 && g < b->nbody);
    vid v = module_add_value(b->m);

    b->m->value[v].name = name;
    b->m->value[v].graph = g;
    b->m->value[v].flags = flags;
    map_set(&b->value, b->tmp, map_key(g, name), v);
    return v;
}

/* Adds the inputs of graph g, with their types, and sets graph.in.  Returns 0; or -1 and an error: an input has no
 * name, or the name of another input. */
static int define_inputs(struct onnx_build *b, gid g)
{
    const Onnx__GraphProto *p = b->body[g].proto;
    struct slice s = module_add_args(b->m, NULL, (uint32_t)p->n_input);

    for (uint32_t i = 0; i < s.n; i++) {
        sid name = str_id(b->m, p->input[i]->name);
        if (name == 0 || find_value_here(b, g, name) != 0) {
            return diag_error(b->d, "%s: input %u '%s' of graph '%s' %s", b->path, i,
                              module_str(b->m, name), p->name != NULL ? p->name : "",
                              name == 0 ? "has no name" : "is listed twice");
        }
        vid v = add_value(b, g, name, VALUE_INPUT);
        b->m->arg[s.at + i] = v;
        b->m->value[v].type = onnx_type(b, p->input[i]->type);
    }
    b->m->graph[g].in = s;
    return 0;
}

/* Adds an initializer with tensor t to graph g.  If an input has the same name, the initializer becomes the input's
 * value.  If an earlier initializer has that name, the new one replaces it, and *twice counts that.  t 0: reading the
 * tensor failed.  Returns 0, or -1 after an error: t is 0, or the tensor has no name. */
static int define_init(struct onnx_build *b, gid g, tid t, struct doubles *twice)
{
    struct module *m = b->m;

    if (t == 0)
        return -1;
    sid name = m->tensor[t].name;
    if (name == 0) {
        return diag_error(b->d, "%s: an initializer of graph '%s' has no name", b->path,
                          module_str(m, m->graph[g].name));
    }
    vid v = find_value_here(b, g, name);
    if (v == 0)
        v = add_value(b, g, name, 0);
    else if (m->value[v].flags & VALUE_INIT)
        add_double(twice, name);
    m->value[v].flags |= VALUE_INIT;
    m->value[v].tensor = t;
    return 0;
}

/* Adds the dense and sparse initializers of graph g.  Returns 0, or -1 and an error. */
static int define_inits(struct onnx_build *b, gid g, struct doubles *twice)
{
    const Onnx__GraphProto *p = b->body[g].proto;
    struct onnx_owner owner = {NULL, NULL};

    for (size_t i = 0; i < p->n_initializer; i++)
        if (define_init(b, g, onnx_tensor(b, p->initializer[i], owner), twice) != 0)
            return -1;
    for (size_t i = 0; i < p->n_sparse_initializer; i++) {
        tid t = onnx_sparse(b, p->sparse_initializer[i], owner);
        if (define_init(b, g, t, twice) != 0)
            return -1;
    }
    return 0;
}

/* Adds result `outno` of slot s, called name, and writes its value to *out.  If another node defined the name before,
 * that node's value is lost (VALUE_LOST); an initializer of that name becomes the result.  *twice counts both.
 * Returns 0, or -1 and an error: the name is that of an input. */
static int define_result(struct onnx_build *b, uint32_t s, uint32_t outno, sid name, vid *out,
                         struct doubles *twice)
{
    assert(name != 0 && s > 0 && s < b->nslot);
    struct module *m = b->m;
    gid g = b->slot[s].home;
    vid v = find_value_here(b, g, name);

    if (v != 0 && (m->value[v].flags & VALUE_INPUT)) {
        return diag_error(b->d, "%s: node '%s' defines '%s', which is an input of its graph",
                          b->path, module_str(m, b->slot[s].name), module_str(m, name));
    }
    if (v != 0)
        add_double(twice, name);
    if (v != 0 && m->value[v].def != 0) {
        m->value[v].name = 0;
        m->value[v].flags = VALUE_LOST;
        v = 0;
    }
    if (v == 0) {
        v = add_value(b, g, name, 0);
    } else { /* v is an initializer: the node's result takes its place */
        m->value[v].flags = 0;
        m->value[v].tensor = 0;
    }
    m->value[v].def = s;
    m->value[v].outno = outno;
    *out = v;
    return 0;
}

/* Adds the results of all nodes of graph g, and to *twice the names that the graph defines again.  Returns 0, or -1 and
 * an error. */
static int define_results(struct onnx_build *b, gid g, struct doubles *twice)
{
    const struct onnx_body *body = &b->body[g];

    for (uint32_t s = body->first; s < body->first + body->count; s++) {
        const Onnx__NodeProto *p = b->slot[s].proto;
        b->slot[s].out = (struct slice){b->narg, (uint32_t)p->n_output};
        b->arg =
            vec_grow(b->tmp, b->arg, &b->caparg, b->narg + (uint32_t)p->n_output, sizeof *b->arg);
        b->narg += (uint32_t)p->n_output;
        for (uint32_t i = 0; i < p->n_output; i++) {
            sid name = str_id(b->m, p->output[i]);
            vid *out = &b->arg[b->slot[s].out.at + i];
            *out = 0;
            if (name != 0 && define_result(b, s, i, name, out, twice) != 0)
                return -1;
        }
    }
    return 0;
}

/* Gives types to the values of graph g, from number `first` on: the type in the graph's list of outputs, else in
 * value_info, else that of the initializer's tensor. */
static void define_types(struct onnx_build *b, gid g, vid first)
{
    const Onnx__GraphProto *p = b->body[g].proto;
    struct module *m = b->m;

    for (size_t i = 0; i < p->n_output + p->n_value_info; i++) {
        const Onnx__ValueInfoProto *x =
            i < p->n_output ? p->output[i] : p->value_info[i - p->n_output];
        vid v = find_value_here(b, g, str_id(m, x->name));
        if (v != 0 && m->value[v].type == 0) {
            uint32_t t = onnx_type(b, x->type);
            m->value[v].type = t;
        }
    }
    for (vid v = first; v < m->nval; v++) {
        if (m->value[v].type == 0 && m->value[v].tensor != 0) {
            uint32_t t = onnx_tensor_type(b, m->value[v].tensor);
            m->value[v].type = t;
        }
    }
}

/* Sets graph.init: the initializers of graph g, in the order of the file.  The graph's values begin at `first`, its
 * tensors at first_tensor. */
static void define_init_list(struct onnx_build *b, gid g, vid first, tid first_tensor)
{
    struct module *m = b->m;
    uint32_t at = m->narg;
    /* [tensor - first_tensor] the initializer whose value is the tensor; 0: none, as a later initializer or node has
     * taken its name */
    vid *of = arena_array(b->tmp, m->ntensor - first_tensor + 1, sizeof *of);

    for (vid v = first; v < m->nval; v++)
        if (m->value[v].flags & VALUE_INIT)
            of[m->value[v].tensor - first_tensor] = v;
    /* tensors have numbers in the order of the file */
    for (tid t = first_tensor; t < m->ntensor; t++)
        if (of[t - first_tensor] != 0)
            module_add_args(m, &of[t - first_tensor], 1);
    m->graph[g].init = (struct slice){at, m->narg - at};
}

/* Shows a warning if names were defined more than once. */
static void warn_doubles(struct onnx_build *b, const struct doubles *x)
{
    const char *names = "";

    for (uint32_t i = 0; i < x->n && i < sizeof x->name / sizeof *x->name; i++)
        names =
            arena_fmt(b->tmp, "%s%s'%s'", names, i > 0 ? ", " : "", module_str(b->m, x->name[i]));
    if (x->n > 0) {
        diag_warning(b->d, WARN_DOUBLE_DEFINITION,
                     "%s: %u definitions repeat a name (%s%s): the last one of the file wins",
                     b->path, x->n, names, x->n > 3 ? ", ..." : "");
    }
}

/* Makes all graphs of the module and their values.  Returns 0, or -1 and an error. */
static int define(struct onnx_build *b)
{
    struct doubles twice = {0};

    for (gid g = 1; g < b->nbody; g++) {
        vid first = b->m->nval;
        tid first_tensor = b->m->ntensor;
        module_add_graph(b->m);
        const Onnx__GraphProto *p = b->body[g].proto;
        b->m->graph[g].name = str_id(b->m, p->name);
        b->m->graph[g].about =
            onnx_about(b->m, p->doc_string, p->metadata_props, p->n_metadata_props);
        b->m->graph[g].src = p;
        if (define_inputs(b, g) != 0 || define_inits(b, g, &twice) != 0 ||
            define_results(b, g, &twice) != 0)
            return -1;
        define_types(b, g, first);
        define_init_list(b, g, first, first_tensor);
    }
    warn_doubles(b, &twice);
    return 0;
}

/* ---- 3. resolve ---- */

/* The captures (values of outer graphs that bodies read) found so far. */
struct captures {
    struct map seen; /* key (slot of the owner, value): 1 */
    struct pairs of; /* pairs (slot of the owner, value), in the order in which they were found */
};

/* Returns the value that a name means in graph g, where names of outer graphs may be used; 0: none. */
static vid find_value(const struct onnx_build *b, gid g, sid name)
{
    vid v = 0;

    for (; g != 0 && v == 0; g = b->body[g].parent)
        v = find_value_here(b, g, name);
    return v;
}

/* Notes that graph g reads value v: if v is of an outer graph, the owner of g captures it, and so do the owners of the
 * graphs between. */
static void add_captures(struct onnx_build *b, struct captures *c, gid g, vid v)
{
    gid home = b->m->value[v].graph;

    for (; g != home; g = b->body[g].parent) {
        uint32_t owner = b->body[g].owner;
        if (map_get(&c->seen, map_key(owner, v)) != 0)
            return; /* the owners further out have the capture already */
        map_set(&c->seen, b->tmp, map_key(owner, v), 1);
        pairs_add(&c->of, owner, v);
    }
}

/* Finds the operands of slot s by their names, and notes the captures that follow.  Returns 0; or -1 and an error for
 * each name that nothing defines. */
static int resolve_slot(struct onnx_build *b, struct captures *c, uint32_t s)
{
    assert(s > 0 && s < b->nslot);
    const Onnx__NodeProto *p = b->slot[s].proto;
    gid g = b->slot[s].home;
    int bad = 0;

    b->slot[s].in = (struct slice){b->narg, (uint32_t)p->n_input};
    b->arg = vec_grow(b->tmp, b->arg, &b->caparg, b->narg + (uint32_t)p->n_input, sizeof *b->arg);
    for (uint32_t i = 0; i < p->n_input; i++) {
        sid name = str_id(b->m, p->input[i]);
        vid v = name == 0 ? 0 : find_value(b, g, name);
        if (name != 0 && v == 0) {
            bad = diag_error(b->d, "%s: node '%s' (%s) reads '%s', which nothing defines", b->path,
                             module_str(b->m, b->slot[s].name),
                             p->op_type != NULL ? p->op_type : "", p->input[i]);
        }
        b->arg[b->narg++] = v;
        if (v != 0)
            add_captures(b, c, g, v);
    }
    return bad;
}

/* Finds the outputs of graph g by their names, sets graph.out and VALUE_OUTPUT, and notes the captures that follow.
 * Returns 0, or -1 and an error. */
static int resolve_outputs(struct onnx_build *b, struct captures *c, gid g)
{
    const Onnx__GraphProto *p = b->body[g].proto;
    struct module *m = b->m;
    struct slice s = module_add_args(m, NULL, (uint32_t)p->n_output);

    for (uint32_t i = 0; i < s.n; i++) {
        sid name = str_id(m, p->output[i]->name);
        vid v = name == 0 ? 0 : find_value(b, g, name);
        if (v == 0) {
            return diag_error(b->d, "%s: output %u '%s' of graph '%s' is defined by nothing",
                              b->path, i, module_str(m, name), module_str(m, m->graph[g].name));
        }
        add_captures(b, c, g, v);
        m->arg[s.at + i] = v;
        if (m->value[v].graph == g)
            m->value[v].flags |= VALUE_OUTPUT;
    }
    m->graph[g].out = s;
    return 0;
}

/* Finds all operands and outputs, and fills b->capture.  Returns 0, or -1 and errors. */
static int resolve(struct onnx_build *b)
{
    struct captures c = {.of = {.a = b->tmp}};
    int bad = 0;

    for (gid g = 1; g < b->nbody; g++) {
        const struct onnx_body *body = &b->body[g];
        for (uint32_t s = body->first; s < body->first + body->count; s++) {
            bad |= resolve_slot(b, &c, s);
            if (diag_stopped(b->d))
                return -1;
        }
        bad |= resolve_outputs(b, &c, g);
    }
    b->capture = pairs_rows(&c.of, b->nslot);
    return bad;
}

/* ---- 4. emit ---- */

/* Whether at least one of the results `out`, a slice of b->arg, has a value, and all these values are lost. */
static bool are_all_lost(const struct onnx_build *b, struct slice out)
{
    bool any = false;

    for (uint32_t i = 0; i < out.n; i++) {
        vid v = b->arg[out.at + i];
        if (v != 0 && !(b->m->value[v].flags & VALUE_LOST))
            return false;
        any |= v != 0;
    }
    return any;
}

/* Sets module.slot_ann of node id to the plan slot that its metadata gives as `text`, if that is a number of a slot. */
static void keep_slot_ann(struct module *m, const char *text, nid id)
{
    char *end;
    unsigned long slot = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || !slot || slot > SLOTS_MOST)
        return;
    if (m->slot_ann == NULL)
        m->slot_ann = arena_array(m->mem, m->nnode, sizeof *m->slot_ann);
    m->slot_ann[id] = (uint32_t)slot;
}

/* Sets module.device_ann of node id to the device that its metadata gives (pcc.device, else layer_ann), and
 * module.slot_ann to its plan slot (pcc.slot).  A pcc.device that is a list with commas is not used: a node that was
 * copied to several parts has no single device. */
static void keep_device_ann(struct module *m, const Onnx__NodeProto *p, nid id)
{
    const char *device = NULL;
    bool exact = false;

    for (size_t i = 0; i < p->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *e = p->metadata_props[i];
        if (e->key == NULL || e->value == NULL)
            continue;
        if (strcmp(e->key, "pcc.device") == 0 && strchr(e->value, ',') == NULL) {
            device = e->value;
            exact = true;
        }
        if (!exact && strcmp(e->key, "layer_ann") == 0)
            device = e->value;
        if (strcmp(e->key, "pcc.slot") == 0)
            keep_slot_ann(m, e->value, id);
    }
    if (device == NULL)
        return;
    if (m->device_ann == NULL)
        m->device_ann = arena_array(m->mem, m->nnode, sizeof *m->device_ann);
    m->device_ann[id] = str_id(m, device);
}

/* Makes the module's node for slot s, with its annotations, and sets value.def of its results.  Returns 0, or -1 and an
 * error. */
static int emit_node(struct onnx_build *b, uint32_t s)
{
    struct module *m = b->m;
    const struct onnx_slot *x = &b->slot[s];
    const Onnx__NodeProto *p = x->proto;
    uint32_t ncapture = b->capture.at[s + 1] - b->capture.at[s];
    assert(x->id > 0 && x->id < m->nnode);
    struct node n = {
        .name = x->name, .graph = x->home, .nformal = x->in.n, .flags = x->flags, .src = p};

    n.op = str_id(m, p->op_type);
    n.domain = onnx_domain(m, p->domain);
    n.overload = str_id(m, p->overload);
    n.about = onnx_about(m, p->doc_string, p->metadata_props, p->n_metadata_props);
    n.callee = onnx_callee(b, p);
    if (n.callee != 0)
        n.flags |= NODE_CALL;
    if (are_all_lost(b, x->out))
        n.flags |= NODE_LOST;
    n.in = module_add_args(m, b->arg + x->in.at, x->in.n);
    module_add_args(m, b->capture.to + b->capture.at[s], ncapture);
    n.in.n += ncapture;
    n.out = module_add_args(m, b->arg + x->out.at, x->out.n);
    if (onnx_attrs(b, x, &n.attr) != 0)
        return -1;
    m->node[x->id] = n;
    keep_device_ann(m, p, x->id);
    onnx_keep_shard_ann(b, p, x->id);
    for (uint32_t i = 0; i < x->out.n; i++) {
        vid v = b->arg[x->out.at + i];
        if (v != 0)
            m->value[v].def = x->id;
    }
    return 0;
}

/* Makes opsets and nodes of the module, and completes its graphs.  Returns 0, or -1 and an error. */
static int emit(struct onnx_build *b)
{
    struct module *m = b->m;

    for (size_t i = 0; i < b->nopset; i++) {
        module_add_opset(m, onnx_domain(m, b->opset[i]->domain), b->opset[i]->version);
        m->opset[m->nopset - 1].src = b->opset[i];
    }
    for (uint32_t s = 1; s < b->nslot; s++)
        module_add_node(m);
    for (uint32_t s = 1; s < b->nslot; s++)
        if (emit_node(b, s) != 0 || diag_stopped(b->d))
            return -1;
    for (gid g = 1; g < b->nbody; g++) {
        m->graph[g].first = b->body[g].first;
        m->graph[g].count = b->body[g].count;
        m->graph[g].owner = b->slot[b->body[g].owner].id;
    }
    return 0;
}

int onnx_build(struct onnx_build *b)
{
    assert(b->m->nnode == 1 && b->m->nval == 1 && b->graph);
    if (collect(b) != 0)
        return -1;
    reserve_arrays(b);
    name_nodes(b);
    return define(b) != 0 || resolve(b) != 0 || onnx_sort(b) != 0 || emit(b) != 0 ? -1 : 0;
}
