/* Checks the device configurations of a model by the rules of ONNX IR version 11 that the standard's own checker leaves
 * out.
 *
 * First the configurations of the model are checked; then each *annotated* node (one with device configurations) by
 * itself, also in bodies, functions and training graphs; last the pipeline stages, one configuration after the other:
 * its stages are entered into a table of all nodes, compared along operands, and removed from the table.
 *
 * O(file), and sorting the keys of device groups; for stages O(operands of the annotated nodes) for each configuration
 * that annotates them. */
#include "frontends/frontends.h"
#include "ir/base/name_table.h"
#include "onnx.pb-c.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A node with a pipeline stage in a configuration. */
struct staged_node {
    uint32_t config; /* index in src->configuration */
    nid node;
    int32_t stage;
};

/* A check of all device configurations. */
struct checker {
    const struct module *m;
    const Onnx__ModelProto *src;
    struct diag *d;
    struct arena *a;
    const char *path;
    struct names config; /* name -> index in src->configuration */
    /* [configuration] value of nnode at the last node that has the configuration */
    uint64_t *seen;
    /* number of nodes with device configurations met so far, the current node included */
    uint64_t nnode;
    struct staged_node *staged_node;
    uint32_t nstaged, capstaged;
    struct arena *scratch; /* memory that is freed after each node */
};

/* The node that is being checked, and the current one of its configurations. */
struct node_config {
    const Onnx__NodeProto *p;
    nid id;               /* 0: in a function or training graph, where no types are known */
    const char *function; /* name of the function that has the node; NULL: none */
    const char *config;   /* name of the configuration; NULL: unknown */
    const Onnx__DeviceConfigurationProto *model; /* NULL: the model has no such configuration */
};

/* Returns s; "" if s is NULL, as in a message without the field. */
static const char *text_or_empty(const char *s)
{
    return s ? s : "";
}

/* Reports a finding about the node w, as an error or a warning.  Long names are cut short: a file may have a finding
 * for every few bytes, each with the same long name. */
static void __attribute__((format(printf, 4, 5)))
report(const struct checker *c, const struct node_config *w, bool error, const char *fmt, ...)
{
    char where[2048], rule[1024];
    const char *name = w->id ? node_name(c->m, w->id) : text_or_empty(w->p->name);
    va_list ap;
    snprintf(where, sizeof where, "node '%.300s' (%.300s)%s%.300s%s%s%.300s%s", name,
             text_or_empty(w->p->op_type), w->function ? " of function '" : "",
             text_or_empty(w->function), w->function ? "'" : "",
             w->config ? ", configuration '" : "", text_or_empty(w->config), w->config ? "'" : "");
    va_start(ap, fmt);
    vsnprintf(rule, sizeof rule, fmt, ap);
    va_end(ap);
    if (error)
        diag_error(c->d, "%s: %s: %s", c->path, where, rule);
    else
        diag_warning(c->d, WARN_ANNOTATION, "%s: %s: %s", c->path, where, rule);
}

/* ---- the model's configurations --------------------------------------------------------------- */

/* Checks the configurations of the model; fills c->config and makes c->seen. */
static void check_configurations(struct checker *c)
{
    size_t n = c->src->n_configuration;
    c->config = names_new(c->a, (uint32_t)n);
    c->seen = arena_array(c->a, n, sizeof *c->seen);
    for (size_t i = 0; i < n; i++) {
        const Onnx__DeviceConfigurationProto *k = c->src->configuration[i];
        const char *name = text_or_empty(k->name);
        if (!*name)
            diag_error(c->d, "%s: configuration %zu has no name", c->path, i);
        else if (names_get(&c->config, name, UINT32_MAX) != UINT32_MAX)
            diag_error(c->d, "%s: configuration '%.300s' is there twice", c->path, name);
        else
            names_add(&c->config, name, (uint32_t)i);
        if (k->num_devices < 1)
            diag_error(c->d, "%s: configuration '%.300s': num_devices is %d, expected at least 1",
                       c->path, name, k->num_devices);
        else if (k->n_device && k->n_device != (size_t)k->num_devices)
            diag_error(c->d, "%s: configuration '%.300s': %zu device names for num_devices %d",
                       c->path, name, k->n_device, k->num_devices);
    }
}

/* ---- one node --------------------------------------------------------------------------------- */

/* Checks that each device in sharding spec s is a device of the configuration or the key of a device group in s, and
 * that the groups have devices of the configuration only; does nothing if the model has no such configuration. */
static void check_spec_devices(const struct checker *c, const struct node_config *w,
                               const Onnx__ShardingSpecProto *s)
{
    size_t n = s->n_index_to_device_group_map;
    int64_t *key = arena_array(c->scratch, n, sizeof *key);
    if (!w->model)
        return;
    for (size_t i = 0; i < n; i++) {
        const Onnx__IntIntListEntryProto *e = s->index_to_device_group_map[i];
        key[i] = e->key;
        for (size_t j = 0; j < e->n_value; j++)
            if (e->value[j] < 0 || e->value[j] >= w->model->num_devices)
                report(c, w, true, "tensor '%.300s': device %lld of group %lld, expected 0 to %lld",
                       text_or_empty(s->tensor_name), (long long)e->value[j], (long long)e->key,
                       (long long)w->model->num_devices - 1);
    }
    if (n)
        qsort(key, n, sizeof *key, by_i64);
    for (size_t i = 0; i < s->n_device; i++) {
        int64_t id = s->device[i];
        if ((id < 0 || id >= w->model->num_devices) &&
            !(n && bsearch(&id, key, n, sizeof *key, by_i64)))
            report(c, w, true,
                   "tensor '%.300s': device %lld is neither one of 0 to %lld nor a key "
                   "of index_to_device_group_map",
                   text_or_empty(s->tensor_name), (long long)id,
                   (long long)w->model->num_devices - 1);
    }
}

/* Returns the size of the dimension `axis` (< 0: counted from the end) of type t; -1: unknown.  t may be NULL. */
static int64_t axis_size(const struct module *m, const struct type *t, int64_t axis)
{
    if (!t || axis < -t->rank || axis >= t->rank)
        return -1;
    return m->dim[t->dim + (uint32_t)(axis < 0 ? axis + t->rank : axis)].value;
}

/* Checks a sharded dimension of a tensor: its axis exists, and its size is divisible by the number of shards; for
 * an axis that was fused of several axes, each size that the spec gives must be divisible.  t: type of the tensor;
 * NULL: its rank is unknown. */
static void check_axis(const struct checker *c, const struct node_config *w, const char *tensor,
                       const Onnx__ShardedDimProto *s, const struct type *t)
{
    if (!s->has_axis)
        report(c, w, true, "tensor '%.300s': a sharded_dim has no axis", tensor);
    else if (t && (s->axis < -t->rank || s->axis >= t->rank))
        report(c, w, true, "tensor '%.300s': axis %lld is not in [%d, %d]", tensor,
               (long long)s->axis, -t->rank, t->rank - 1);
    for (size_t i = 0; i < s->n_simple_sharding; i++) {
        const Onnx__SimpleShardedDimProto *x = s->simple_sharding[i];
        int64_t size = s->has_axis && s->n_simple_sharding == 1 ? axis_size(c->m, t, s->axis) : -1;
        if (x->dim_case == ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_VALUE)
            size = x->dim_value;
        if (x->num_shards < 1)
            report(c, w, true,
                   "tensor '%.300s', axis %lld: num_shards is %lld, expected at least "
                   "1",
                   tensor, (long long)s->axis, (long long)x->num_shards);
        else if (size >= 0 && size % x->num_shards)
            report(c, w, false,
                   "tensor '%.300s', axis %lld: %lld is not divisible into %lld "
                   "shards",
                   tensor, (long long)s->axis, (long long)size, (long long)x->num_shards);
    }
}

/* Returns the type of operand or result i of the node, operands counted first; NULL: it is no tensor of known rank. */
static const struct type *type_at(const struct checker *c, const struct node_config *w, uint32_t i)
{
    assert(i < w->p->n_input + w->p->n_output);
    size_t nin = w->p->n_input;
    if (!w->id)
        return NULL;
    vid v = i < nin ? node_in(c->m, w->id, i) : node_out(c->m, w->id, i - (uint32_t)nin);
    const struct type *t = &c->m->type[c->m->value[v].type];
    return v && t->kind == TYPE_TENSOR && t->rank >= 0 ? t : NULL;
}

/* Returns a table from names of operands and results to their position, operands counted first; of equal names the
 * first position. */
static struct names name_tensors(const struct checker *c, const Onnx__NodeProto *p)
{
    struct names t = names_new(c->scratch, (uint32_t)(p->n_input + p->n_output));
    for (size_t i = 0; i < p->n_input; i++)
        names_add(&t, p->input[i], (uint32_t)i);
    for (size_t i = 0; i < p->n_output; i++)
        names_add(&t, p->output[i], (uint32_t)(p->n_input + i));
    return t;
}

/* Checks a sharding spec of the node; tensors: name_tensors(). */
static void check_spec(const struct checker *c, const struct node_config *w,
                       const struct names *tensors, const Onnx__ShardingSpecProto *s)
{
    const char *name = text_or_empty(s->tensor_name);
    uint32_t i = *name ? names_get(tensors, name, UINT32_MAX) : UINT32_MAX;
    const struct type *t = i == UINT32_MAX ? NULL : type_at(c, w, i);
    if (i == UINT32_MAX)
        report(c, w, true, "sharding spec for '%.300s', which is no input or output of the node",
               name);
    check_spec_devices(c, w, s);
    for (size_t k = 0; k < s->n_sharded_dim; k++)
        check_axis(c, w, name, s->sharded_dim[k], t);
}

/* Notes the stage of node id in a configuration, for check_stages(). */
static void add_stage(struct checker *c, uint32_t config, nid id, int32_t stage)
{
    c->staged_node =
        vec_grow(c->a, c->staged_node, &c->capstaged, c->nstaged + 1, sizeof *c->staged_node);
    c->staged_node[c->nstaged++] = (struct staged_node){config, id, stage};
}

/* Takes k, a configuration of the node, as the current one of w.  Checks that the model has this configuration, and
 * that the node has it only once; adds the node's pipeline stage in it to c->staged_node. */
static void check_configuration_id(struct checker *c, struct node_config *w,
                                   const Onnx__NodeDeviceConfigurationProto *k)
{
    const char *name = text_or_empty(k->configuration_id);
    uint32_t i = names_get(&c->config, name, UINT32_MAX);
    w->config = NULL;
    w->model = NULL;
    if (!*name) {
        report(c, w, true, "a device configuration without configuration_id");
        return;
    }
    if (i == UINT32_MAX) {
        report(c, w, true, "configuration_id '%.300s' is no configuration of the model", name);
        return;
    }
    w->config = name;
    w->model = c->src->configuration[i];
    if (c->seen[i] == c->nnode) {
        report(c, w, true, "the node has this configuration twice");
        return;
    }
    c->seen[i] = c->nnode;
    if (w->id && k->has_pipeline_stage)
        add_stage(c, i, w->id, k->pipeline_stage);
}

/* Checks all configurations of a node, and counts the node in c->nnode if it has some.  id: its number in the module,
 * or 0; function: name of its function, or NULL. */
static void check_node(struct checker *c, const Onnx__NodeProto *p, nid id, const char *function)
{
    struct node_config w = {.p = p, .id = id, .function = function};
    if (!p->n_device_configurations)
        return;
    struct arena_mark mark = arena_mark(c->scratch);
    struct names tensors = name_tensors(c, p);
    c->nnode++;
    for (size_t i = 0; i < p->n_device_configurations; i++) {
        const Onnx__NodeDeviceConfigurationProto *k = p->device_configurations[i];
        check_configuration_id(c, &w, k);
        for (size_t j = 0; j < k->n_sharding_spec; j++)
            check_spec(c, &w, &tensors, k->sharding_spec[j]);
    }
    arena_release(c->scratch, mark);
}

/* ---- nodes that are not in the module --------------------------------------------------------- */

/* Graphs whose nodes must still be checked. */
struct graph_stack {
    const Onnx__GraphProto **graph;
    uint32_t n, cap;
};

/* Pushes graph g, unless it is NULL, for a later visit. */
static void push_graph(struct checker *c, struct graph_stack *t, const Onnx__GraphProto *g)
{
    if (!g)
        return;
    t->graph = vec_grow(c->a, t->graph, &t->cap, t->n + 1, sizeof *t->graph);
    t->graph[t->n++] = g;
}

/* Checks node[n] and pushes the graphs in their attributes. */
static void check_nodes(struct checker *c, struct graph_stack *t, Onnx__NodeProto *const *node,
                        size_t n, const char *function)
{
    for (size_t i = 0; i < n; i++) {
        check_node(c, node[i], 0, function);
        for (size_t j = 0; j < node[i]->n_attribute; j++) {
            const Onnx__AttributeProto *a = node[i]->attribute[j];
            push_graph(c, t, a->g);
            for (size_t k = 0; k < a->n_graphs; k++)
                push_graph(c, t, a->graphs[k]);
        }
    }
}

/* Checks the nodes of all graphs on the stack, and of the graphs inside them. */
static void check_graphs(struct checker *c, struct graph_stack *t, const char *function)
{
    while (t->n) {
        const Onnx__GraphProto *g = t->graph[--t->n];
        check_nodes(c, t, g->node, g->n_node, function);
    }
}

/* Checks the nodes of functions and of training_info. */
static void check_other_nodes(struct checker *c)
{
    struct graph_stack t = {0};
    for (size_t i = 0; i < c->src->n_functions; i++) {
        const Onnx__FunctionProto *f = c->src->functions[i];
        check_nodes(c, &t, f->node, f->n_node, text_or_empty(f->name));
        check_graphs(c, &t, text_or_empty(f->name));
    }
    for (size_t i = 0; i < c->src->n_training_info; i++) {
        push_graph(c, &t, c->src->training_info[i]->initialization);
        push_graph(c, &t, c->src->training_info[i]->algorithm);
    }
    check_graphs(c, &t, NULL);
}

/* ---- stages ----------------------------------------------------------------------------------- */

/* Checks that no operand of node p comes from a later stage.  entry: [node] 1 + index in c->staged_node of its stage in
 * this configuration; 0: none. */
static void check_edges(struct checker *c, const struct staged_node *p, const uint32_t *entry)
{
    assert(p->node > 0 && p->node < c->m->nnode);
    const struct node *n = &c->m->node[p->node];
    for (uint32_t i = 0; i < n->in.n; i++) {
        vid v = c->m->arg[n->in.at + i];
        uint32_t k = entry[c->m->value[v].def];
        if (!v || !k || c->staged_node[k - 1].stage <= p->stage)
            continue;
        diag_error(
            c->d,
            "%s: node '%.300s' (%.300s), configuration '%.300s': stage %d, but '%.300s' comes from "
            "node '%.300s' in stage %d",
            c->path, node_name(c->m, p->node), node_op(c->m, p->node),
            c->src->configuration[p->config]->name, p->stage, value_name(c->m, v),
            node_name(c->m, c->m->value[v].def), c->staged_node[k - 1].stage);
    }
}

/* Warns if some nodes of the main graph, `staged` in number, have a stage in the configuration, and others have none.
 * entry: as in check_edges(). */
static void check_complete(struct checker *c, uint32_t config, uint32_t staged,
                           const uint32_t *entry)
{
    assert(staged <= c->m->graph[1].count);
    const struct graph *g = &c->m->graph[1];
    nid n = g->first;
    if (!staged || staged == g->count)
        return;
    while (entry[n])
        n++;
    diag_warning(c->d, WARN_ANNOTATION,
                 "%s: node '%.300s' (%.300s), configuration '%.300s': no stage, nor have %u "
                 "others, but %u have one",
                 c->path, node_name(c->m, n), node_op(c->m, n), c->src->configuration[config]->name,
                 g->count - staged - 1, staged);
}

/* Checks for each configuration the edges between nodes with a stage in it, and whether all nodes of the main graph
 * have one. */
static void check_stages(struct checker *c)
{
    /* [node] 1 + its entry in c->staged_node for the present configuration; 0: it has no stage there */
    uint32_t *entry = arena_array(c->a, c->m->nnode, sizeof *entry), *row;
    uint32_t nconfig = (uint32_t)c->src->n_configuration;
    row = arena_array(c->a, c->nstaged, sizeof *row);
    for (uint32_t i = 0; i < c->nstaged; i++)
        row[i] = c->staged_node[i].config;
    struct csr by_config = csr_build(c->a, nconfig, c->nstaged, row, NULL);
    for (uint32_t k = 0; k < nconfig; k++) {
        uint32_t staged = 0;
        for_row (x, by_config, k) {
            nid n = c->staged_node[x].node;
            entry[n] = x + 1;
            staged += c->m->node[n].graph == 1;
        }
        for_row (x, by_config, k)
            check_edges(c, &c->staged_node[x], entry);
        check_complete(c, k, staged, entry);
        for_row (x, by_config, k)
            entry[c->staged_node[x].node] = 0;
    }
}

int check_annotations(const struct module *m, struct diag *d)
{
    struct checker c = {.m = m, .src = m->src, .d = d, .path = module_str(m, m->path)};
    uint32_t errors = d->errors, warnings = d->warnings;
    if (!c.src)
        return diag_error(d, "%s: only ONNX models have device configurations", c.path);
    c.a = arena_new(m->mem);
    c.scratch = arena_new(m->mem);
    check_configurations(&c);
    for (nid n = 1; n < m->nnode; n++)
        if (m->node[n].src)
            check_node(&c, m->node[n].src, n, NULL);
    check_other_nodes(&c);
    check_stages(&c);
    errors = d->errors - errors;
    warnings = d->warnings - warnings;
    diag_note(d, "%s: %zu configuration%s, %llu annotated node%s: %u error%s, %u warning%s", c.path,
              c.src->n_configuration, c.src->n_configuration == 1 ? "" : "s",
              (unsigned long long)c.nnode, c.nnode == 1 ? "" : "s", errors, errors == 1 ? "" : "s",
              warnings, warnings == 1 ? "" : "s");
    arena_free(c.scratch);
    arena_free(c.a);
    return errors ? -1 : 0;
}
