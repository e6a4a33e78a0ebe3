/* Writes the model as it was before the pass shard rewrote it, with the choice of that pass in the words of the
 * standard: sharding specs (IR version 11) of its nodes say which pieces of their operands and results the devices
 * have.
 *
 * The spec of a tensor that each device has whole names a group of devices (a negative number,
 * index_to_device_group_map); the spec of a cut tensor lists the devices in the order of their pieces.  An axis of
 * several blocks, each of which is cut, counts as two fused axes: (blocks, 1 shard), (positions of a block, as many
 * shards as devices).  The standard has no word for nodes that each part copies: they have no configuration.
 * O(operands * devices). */
#include "backends/onnx/pack.h"
#include "backends/split/split.h"

#include <string.h>

enum { GROUP = -1 }; /* the number that stands for all devices that share nodes */

/* Returns the message for a dimension of `size` elements that is cut into n shards; size 0: the message tells no
 * size. */
static Onnx__SimpleShardedDimProto *shards(struct split *s, int64_t size, int64_t n)
{
    Onnx__SimpleShardedDimProto *d = arena_alloc(s->a, sizeof *d);
    onnx__simple_sharded_dim_proto__init(d);
    d->has_num_shards = 1;
    d->num_shards = n;
    if (size > 0) {
        d->dim_case = ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_VALUE;
        d->dim_value = size;
    }
    return d;
}

/* Adds to the spec p the axis along which v is cut: of an axis with blocks first the blocks, then the positions of a
 * block. */
static void add_cut(struct split *s, Onnx__ShardingSpecProto *p, const struct sharded_value *v)
{
    const int64_t ways = s->r->sharding->ways;
    Onnx__ShardedDimProto *d = arena_alloc(s->a, sizeof *d);
    onnx__sharded_dim_proto__init(d);
    d->has_axis = 1;
    d->axis = v->axis;
    d->simple_sharding = arena_array(s->a, 2, sizeof *d->simple_sharding);
    if (v->blocks != 1) /* -1, not known, becomes the size 0 */
        d->simple_sharding[d->n_simple_sharding++] = shards(s, larger(v->blocks, 0), 1);
    int64_t size = sat_mul(v->run, ways);
    /* run is size / ways, rounded up: the size itself is written if it gives the same run */
    if (v->blocks == 1 && v->size > size - ways)
        size = v->size;
    d->simple_sharding[d->n_simple_sharding++] = shards(s, size, ways);
    p->sharded_dim = arena_array(s->a, 1, sizeof *p->sharded_dim);
    p->sharded_dim[p->n_sharded_dim++] = d;
}

/* Adds to the spec p the group of all devices that share nodes: each has the whole tensor. */
static void add_group(struct split *s, Onnx__ShardingSpecProto *p)
{
    const struct sharding *k = s->r->sharding;
    Onnx__IntIntListEntryProto *e = arena_alloc(s->a, sizeof *e);
    onnx__int_int_list_entry_proto__init(e);
    e->has_key = 1;
    e->key = GROUP;
    e->value = arena_array(s->a, k->ways, sizeof *e->value);
    for (uint32_t i = 0; i < k->ways; i++)
        e->value[e->n_value++] = k->dev[i];
    p->index_to_device_group_map = arena_array(s->a, 1, sizeof *p->index_to_device_group_map);
    p->index_to_device_group_map[p->n_index_to_device_group_map++] = e;
    p->device = arena_array(s->a, 1, sizeof *p->device);
    p->device[p->n_device++] = GROUP;
}

/* Returns the spec of v, an operand or result of node n: on one device, whole on each device, or in pieces. */
static Onnx__ShardingSpecProto *make_spec(struct split *s, const struct sharded_node *n,
                                          const struct sharded_value *v)
{
    const struct sharding *k = s->r->sharding;
    Onnx__ShardingSpecProto *p = arena_alloc(s->a, sizeof *p);
    onnx__sharding_spec_proto__init(p);
    p->tensor_name = (char *)(uintptr_t)v->name;
    if (n->how != SHARDED_ONCE && v->run == 0) {
        add_group(s, p);
        return p;
    }
    p->device = arena_array(s->a, k->ways, sizeof *p->device);
    if (v->run == 0) { /* one device has the whole value */
        p->device[p->n_device++] = n->dev;
        return p;
    }
    for (uint32_t i = 0; i < k->ways; i++)
        p->device[p->n_device++] = k->dev[i];
    add_cut(s, p, v);
    return p;
}

/* Returns the device configuration of node n, with a spec for each operand and result; an operand that n reads
 * twice gets only one spec. */
static Onnx__NodeDeviceConfigurationProto *make_config(struct split *s,
                                                       const struct sharded_node *n)
{
    Onnx__NodeDeviceConfigurationProto *c = arena_alloc(s->a, sizeof *c);
    struct names seen = names_new(s->a, n->nin);
    onnx__node_device_configuration_proto__init(c);
    c->configuration_id = (char *)CONFIGURATION;
    c->sharding_spec = arena_array(s->a, (size_t)n->nin + n->nout + 1, sizeof *c->sharding_spec);
    for (uint32_t i = 0; i < n->nin + n->nout; i++) {
        const struct sharded_value *v = &n->value[i];
        if (v->name == NULL || names_get(&seen, v->name, 0))
            continue;
        names_add(&seen, v->name, 1);
        c->sharding_spec[c->n_sharding_spec++] = make_spec(s, n, v);
    }
    return c;
}

int shard_specs_model(struct split *s, Onnx__ModelProto *out)
{
    const struct sharding *k = s->r->sharding;
    const Onnx__ModelProto *src = k->source;
    if (src == NULL)
        return diag_error(s->diag,
                          "--annotate=ir11: passes before shard have changed the model, so "
                          "that its nodes cannot say how devices share them: expected "
                          "shard without them");
    if (k->sums.count != 0)
        return diag_error(s->diag,
                          "--annotate=ir11: sharding specs cannot say that devices have terms of "
                          "a sum: expected shard{sums=none}");
    struct origin *from = arena_array(s->a, (size_t)k->source_nodes + 1, sizeof *from);
    Onnx__GraphProto *g = arena_copy(s->a, src->graph, sizeof *g);
    /* 1 + i: origin_id() returns 0 for other messages */
    for (uint32_t i = 0; i < k->source_nodes; i++)
        from[i] = (struct origin){k->node[i].src, i + 1};
    origins_sort(from, k->source_nodes);
    s->src = src;
    *out = *src;
    out->graph = g;
    device_config_model(s, out);
    g->node = arena_array(s->a, g->n_node, sizeof *g->node);
    for (size_t i = 0; i < g->n_node; i++) {
        uint32_t at = origin_id(from, k->source_nodes, src->graph->node[i]);
        Onnx__NodeProto *n = g->node[i] = arena_copy(s->a, src->graph->node[i], sizeof *n);
        device_config_drop(s, n);
        if (at != 0 && k->node[at - 1].how != SHARDED_COPIED)
            n->device_configurations[n->n_device_configurations++] =
                make_config(s, &k->node[at - 1]);
    }
    return 0;
}
