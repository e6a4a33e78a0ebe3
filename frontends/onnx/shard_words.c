/* Writes how devices share a node, as its sharding specs of IR version 11 say, in the words of module.shard_ann.
 *
 * The words are one for each operand and then each result of the node, with blanks between them:
 *
 *     -              nothing is said
 *     R              each device has the whole tensor
 *     S1,512/2       axis 1 is cut for 2 devices: position p belongs to device (p / 512) mod 2
 *     S1/2           the same in one block of a size that the spec does not give; -1 is the last axis
 *     @acc1          the device acc1 alone has it
 *     ?              something that pcc cannot do: several axes, blocks whose pieces are uneven, pieces on groups of
 *                    devices, or on another number of them than there are pieces, or a device whose name is no word
 *
 * If a size is no multiple of the number of devices, the last one has less.  A spec says that a tensor is whole if it
 * names a group of devices, or several devices, and shards nothing.  An axis that was fused of several is sharded in
 * the last of these.  The first configuration counts that has specs for the node.  O(specs + operands). */
#include "frontends/onnx/build.h"

#include "ir/base/name_table.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 80 }; /* bytes of a word with its NUL */

/* Writes the word for a sharded dimension, "S1,512/2", to word[WORD]; "?" if pcc cannot cut an axis like that. */
static void axis_word(const Onnx__ShardedDimProto *d, char *word)
{
    const size_t n = d->n_simple_sharding;
    bool good = d->has_axis && n > 0;
    /* of an axis that was fused of several, pcc can cut only the last */
    for (size_t i = 0; i + 1 < n; i++)
        good = good && d->simple_sharding[i]->num_shards == 1;
    const Onnx__SimpleShardedDimProto *last = good ? d->simple_sharding[n - 1] : NULL;
    const int64_t ways = last ? last->num_shards : 0;
    bool known = last && last->dim_case == ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_VALUE;
    if (ways < 2 || (known && last->dim_value < 1) ||
        (n > 1 && (!known || last->dim_value % ways != 0)))
        snprintf(word, WORD, "?");
    else if (known)
        snprintf(word, WORD, "S%lld,%lld/%lld", (long long)d->axis,
                 (long long)((last->dim_value - 1) / ways + 1), (long long)ways);
    else
        snprintf(word, WORD, "S%lld/%lld", (long long)d->axis, (long long)ways);
}

/* Writes the word for a tensor that the device with this name alone has, "@acc1", to word[WORD]; "?" if the name cannot
 * stand in a word. */
static void name_word(const char *name, char *word)
{
    bool fits = *name && strlen(name) < WORD - 1 && !name[strcspn(name, " ?\t\r\n")];
    snprintf(word, WORD, "%s%s", fits ? "@" : "?", fits ? name : "");
}

/* Whether spec s, which cuts axis d, has each piece on one device: s lists no devices, or as many devices as
 * pieces, and no listed device stands for a group of several devices or of none. */
static bool has_one_each(const Onnx__ShardingSpecProto *s, const Onnx__ShardedDimProto *d)
{
    const size_t n = d->n_simple_sharding;
    bool each = s->n_device == 0 ||
                (n > 0 && (int64_t)s->n_device == d->simple_sharding[n - 1]->num_shards);
    for (size_t i = 0; i < s->n_index_to_device_group_map; i++) {
        const Onnx__IntIntListEntryProto *e = s->index_to_device_group_map[i];
        if (e->n_value == 1)
            continue;
        for (size_t k = 0; k < s->n_device; k++)
            each = each && s->device[k] != e->key;
    }
    return each;
}

/* Writes the word for a spec (see above) to word[WORD].  k: the model's configuration; NULL: the model has no
 * configuration of the name that the spec's node gives. */
static void spec_word(const Onnx__DeviceConfigurationProto *k, const Onnx__ShardingSpecProto *s,
                      char *word)
{
    bool one = s->n_device == 1 && s->device[0] >= 0;
    if (s->n_sharded_dim == 1 && !has_one_each(s, s->sharded_dim[0]))
        snprintf(word, WORD, "?");
    else if (s->n_sharded_dim == 1)
        axis_word(s->sharded_dim[0], word);
    else if (s->n_sharded_dim > 1 || s->n_device == 0)
        snprintf(word, WORD, "%s", s->n_sharded_dim > 1 ? "?" : "-");
    else if (one && k && (uint64_t)s->device[0] < k->n_device && k->device[s->device[0]])
        name_word(k->device[s->device[0]], word);
    else if (one)
        snprintf(word, WORD, "@acc%lld", (long long)s->device[0]);
    else
        snprintf(word, WORD, "R");
}

/* Returns the model's configuration with this name; NULL: there is none. */
static const Onnx__DeviceConfigurationProto *find_configuration(const struct onnx_build *b,
                                                                const char *name)
{
    for (size_t i = 0; i < b->nconfiguration && name; i++)
        if (b->configuration[i]->name && strcmp(b->configuration[i]->name, name) == 0)
            return b->configuration[i];
    return NULL;
}

void onnx_keep_shard_ann(const struct onnx_build *b, const Onnx__NodeProto *p, nid id)
{
    const Onnx__NodeDeviceConfigurationProto *c = NULL;
    const size_t n = p->n_input + p->n_output;
    char word[WORD];
    struct module *m = b->m;
    for (size_t i = 0; i < p->n_device_configurations && !c; i++)
        if (p->device_configurations[i]->n_sharding_spec > 0)
            c = p->device_configurations[i];
    if (!c || n == 0)
        return;
    struct names of = names_new(b->tmp, (uint32_t)c->n_sharding_spec);
    for (size_t i = 0; i < c->n_sharding_spec; i++)
        if (c->sharding_spec[i]->tensor_name)
            names_add(&of, c->sharding_spec[i]->tensor_name, (uint32_t)i + 1);
    uint32_t at = 0, cap = 0;
    char *text = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = i < p->n_input ? p->input[i] : p->output[i - p->n_input];
        uint32_t k = name ? names_get(&of, name, 0) : 0;
        snprintf(word, WORD, "-");
        if (k)
            spec_word(find_configuration(b, c->configuration_id), c->sharding_spec[k - 1], word);
        text = vec_grow(b->tmp, text, &cap, at + WORD + 2, 1);
        at += (uint32_t)snprintf(text + at, WORD + 2, "%s%s", i ? " " : "", word);
    }
    if (m->shard_ann == NULL)
        m->shard_ann = arena_array(m->mem, m->nnode, sizeof *m->shard_ann);
    m->shard_ann[id] = str_id(m, text);
}

void onnx_drop_shard_ann(struct module *m)
{
    bool cut = false;
    for (nid n = 1; n < m->nnode && m->shard_ann && !cut; n++) {
        const char *words = module_str(m, m->shard_ann[n]);
        cut = *words == 'S' || strstr(words, " S") || strchr(words, '?');
    }
    if (!cut)
        m->shard_ann = NULL;
}
