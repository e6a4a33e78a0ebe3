/* Device configurations of ONNX IR version 11, in which the standard can express a plan.
 *
 * The model gets one DeviceConfigurationProto, "pcc", with the devices of the cluster, and each node of the main graph
 * a NodeDeviceConfigurationProto.  Its pipeline_stage is the number of the node's part.  The standard has no field
 * for the device of a node.  So the node gets a sharding spec for each operand and result that lists the device and
 * shards no dimension.  Parts are numbered in an order in which they can run, so the stage of a reader is never
 * below that of the producer.  A node that is copied to several parts has the devices of all of these, and the
 * stage of the first one, since its readers are in that part or in later parts.  A node that no part needs has the
 * stage and device where its last operand is made. O(nodes + operands + copies in parts). */
#include "backends/split/split.h"

#include <assert.h>
#include <string.h>

/* Adds part `part` to the station of a node that is in it: the part's device, and, for the node's first part, the
 * part's number as the stage. */
static void add_station(struct split *s, struct station *t, uint32_t part)
{
    uint32_t dev = s->parts->part[part].dev;
    if (t->stage < 0)
        t->stage = (int32_t)part;
    for (uint32_t i = 0; i < t->ndev; i++)
        if (t->dev[i] == dev)
            return;
    t->dev = vec_grow(s->a, t->dev, &t->capdev, t->ndev + 1, sizeof *t->dev);
    t->dev[t->ndev++] = dev;
}

/* Gives stations to the nodes of the main graph that are in no part: the station of the part with the largest number
 * that makes one of their operands; part 0 if no part makes one. */
static void add_missing_stations(struct split *s)
{
    const struct module *m = s->m;
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count && s->parts->nparts; n++) {
        struct station *t = &s->configs.station[n];
        int32_t last = 0;
        if (t->stage >= 0)
            continue;
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            nid def = m->value[m->arg[m->node[n].in.at + i]].def;
            if (s->configs.station[def].stage > last)
                last = s->configs.station[def].stage;
        }
        add_station(s, t, (uint32_t)last);
    }
}

/* Fills s->configs.station for all nodes of the main graph, and makes s->configs.read_by. */
static void find_stations(struct split *s)
{
    s->configs.station = arena_array(s->a, s->m->nnode, sizeof *s->configs.station);
    s->configs.read_by = arena_array(s->a, s->m->nval, sizeof *s->configs.read_by);
    for (nid n = 0; n < s->m->nnode; n++)
        s->configs.station[n].stage = -1;
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        const struct part *t = &s->parts->part[x];
        for (uint32_t i = 0; i < t->nnode; i++)
            add_station(s, &s->configs.station[t->node[i]], x);
        for (uint32_t i = 0; i < t->ncopy; i++)
            add_station(s, &s->configs.station[t->copy[i]], x);
    }
    add_missing_stations(s);
}

/* Whether a device configuration of this name was written by pcc, now or in an earlier run. */
static bool is_our_configuration(const char *name)
{
    return name && strcmp(name, CONFIGURATION) == 0;
}

/* Returns the model's device configuration, which lists the devices of the cluster. */
static Onnx__DeviceConfigurationProto *make_configuration(struct split *s)
{
    const struct cluster *k = s->r->scene.cluster;
    Onnx__DeviceConfigurationProto *c = arena_alloc(s->a, sizeof *c);
    onnx__device_configuration_proto__init(c);
    c->name = (char *)CONFIGURATION;
    c->has_num_devices = 1;
    c->num_devices = (int32_t)k->ndev;
    c->n_device = k->ndev;
    c->device = arena_array(s->a, k->ndev, sizeof *c->device);
    for (uint32_t d = 0; d < k->ndev; d++)
        c->device[d] = (char *)cluster_device_name(k, s->a, d);
    return c;
}

/* Removes the initializers from the graph's list of inputs.  Before IR 4 all initializers had to be in that list; from
 * IR 4 on, an initializer in the list is one that callers may override. */
static void unlist_weights(struct split *s, Onnx__GraphProto *g)
{
    struct names weight = names_new(s->a, (uint32_t)g->n_initializer);
    Onnx__ValueInfoProto **in = arena_array(s->a, g->n_input, sizeof *in);
    size_t n = 0;
    for (size_t i = 0; i < g->n_initializer; i++)
        if (g->initializer[i]->name)
            names_add(&weight, g->initializer[i]->name, 1);
    for (size_t i = 0; i < g->n_input; i++)
        if (!g->input[i]->name || !names_get(&weight, g->input[i]->name, 0))
            in[n++] = g->input[i];
    g->n_input = n;
    g->input = in;
}

/* Makes the model import version 1 of ONNX's operators: before IR 3, a model without imports of operator sets meant
 * that version. */
static void import_first_opset(struct split *s, Onnx__ModelProto *out)
{
    Onnx__OperatorSetIdProto *o = arena_alloc(s->a, sizeof *o);
    onnx__operator_set_id_proto__init(o);
    o->domain = (char *)"";
    o->has_version = 1;
    o->version = 1;
    out->opset_import = arena_array(s->a, 1, sizeof *out->opset_import);
    out->opset_import[0] = o;
    out->n_opset_import = 1;
}

/* Raises the model's IR version to IR_DEVICES, if it is lower, makes the changes that keep the model's meaning in that
 * version, and shows a note. */
static void raise_ir(struct split *s, Onnx__ModelProto *out)
{
    int64_t from = out->ir_version;
    if (from >= IR_DEVICES)
        return;
    size_t inputs = out->graph->n_input;
    if (from < 4)
        unlist_weights(s, out->graph);
    if (from < 3 && !out->n_opset_import)
        import_first_opset(s, out);
    out->has_ir_version = 1;
    out->ir_version = IR_DEVICES;
    diag_note(s->diag,
              "%s: the annotated model has IR version %d instead of %lld, which device "
              "configurations need%s",
              module_str(s->m, s->m->path), IR_DEVICES, (long long)from,
              inputs > out->graph->n_input ? "; its weights are no longer listed as inputs, since "
                                             "callers could override them from version 4 on"
                                           : "");
}

void device_config_model(struct split *s, Onnx__ModelProto *out)
{
    const Onnx__ModelProto *src = s->src;
    bool stale = false; /* an earlier run of pcc left a configuration */
    for (size_t i = 0; i < src->n_configuration; i++)
        stale = stale || is_our_configuration(src->configuration[i]->name);
    if (s->o->annotate != ANNOTATE_IR11) {
        if (stale)
            diag_warning(s->diag, WARN_STALE_ANNOTATION,
                         "%s: its device configuration '" CONFIGURATION
                         "' tells of an earlier plan "
                         "and is left as it is; --annotate=ir11 replaces it",
                         module_str(s->m, s->m->path));
        return;
    }
    out->configuration =
        arena_array(s->a, (size_t)src->n_configuration + 1, sizeof *out->configuration);
    out->n_configuration = 0;
    for (size_t i = 0; i < src->n_configuration; i++)
        if (!is_our_configuration(src->configuration[i]->name))
            out->configuration[out->n_configuration++] = src->configuration[i];
    out->configuration[out->n_configuration++] = make_configuration(s);
    raise_ir(s, out);
    find_stations(s);
}

/* Appends to c a sharding spec that places the tensor on the devices of t; there must be space for it. */
static void add_spec(struct split *s, Onnx__NodeDeviceConfigurationProto *c, char *tensor,
                     const struct station *t)
{
    Onnx__ShardingSpecProto *p = arena_alloc(s->a, sizeof *p);
    onnx__sharding_spec_proto__init(p);
    p->tensor_name = tensor;
    p->n_device = t->ndev;
    p->device = arena_array(s->a, t->ndev, sizeof *p->device);
    for (uint32_t i = 0; i < t->ndev; i++)
        p->device[i] = t->dev[i];
    c->sharding_spec[c->n_sharding_spec++] = p;
}

/* Returns the configuration of node `id`, whose message is n: its stage, and a spec for each operand and result.
 * An operand that n reads twice gets only one spec. */
static Onnx__NodeDeviceConfigurationProto *node_config(struct split *s, nid id,
                                                       const Onnx__NodeProto *n)
{
    assert(s->configs.station[id].stage >= 0);
    const struct station *t = &s->configs.station[id];
    Onnx__NodeDeviceConfigurationProto *c = arena_alloc(s->a, sizeof *c);
    onnx__node_device_configuration_proto__init(c);
    c->configuration_id = (char *)CONFIGURATION;
    c->has_pipeline_stage = 1;
    c->pipeline_stage = t->stage;
    c->sharding_spec = arena_array(s->a, n->n_input + n->n_output, sizeof *c->sharding_spec);
    for (size_t i = 0; i < n->n_input; i++) {
        vid v = node_in(s->m, id, (uint32_t)i);
        if (!v || !n->input[i][0] || s->configs.read_by[v] == id)
            continue;
        s->configs.read_by[v] = id;
        add_spec(s, c, n->input[i], t);
    }
    for (size_t i = 0; i < n->n_output; i++)
        if (n->output[i][0])
            add_spec(s, c, n->output[i], t);
    return c;
}

void device_config_drop(struct split *s, Onnx__NodeProto *n)
{
    Onnx__NodeDeviceConfigurationProto **old = n->device_configurations;
    size_t nold = n->n_device_configurations;
    n->device_configurations =
        arena_array(s->a, (size_t)nold + 1, sizeof *n->device_configurations);
    n->n_device_configurations = 0;
    for (size_t i = 0; i < nold; i++)
        if (!is_our_configuration(old[i]->configuration_id))
            n->device_configurations[n->n_device_configurations++] = old[i];
}

void device_config_node(struct split *s, nid id, Onnx__NodeProto *n)
{
    assert(s->configs.station && id < s->m->nnode);
    device_config_drop(s, n);
    if (s->configs.station[id].stage >= 0)
        n->device_configurations[n->n_device_configurations++] = node_config(s, id, n);
}
