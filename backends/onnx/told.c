/* Handles messages of the file that refer to values by name, after passes have renamed or dropped values: updates
 * quantization annotations and device configurations, and checks training_info.  Also checks that strings are
 * UTF-8.  O(size of these messages). */
#include "backends/onnx/make.h"
#include "backends/onnx/walk.h"
#include "ir/base/utf8.h"

#include <string.h>

/* ---- annotations -------------------------------------------------------------------------------- */

/* Returns the present name of the value that messages of the file call `name`; `name` itself if the file has no
 * such value or its name has not changed.  here: as for make_annotations(). */
static char *name_now(const struct maker *k, const struct map *here, char *name)
{
    vid v = map_get(here, map_key(1, str_id(k->m, name != NULL ? name : "")));
    bool same = v == 0 || strcmp(name, value_name(k->m, v)) == 0;
    return same ? name : make_text(k->m, k->m->value[v].name);
}

/* Returns an annotation with the present names of its values: `had` if they are the same, else a copy. */
static Onnx__TensorAnnotation *make_annotation(struct maker *k, const struct map *here,
                                               Onnx__TensorAnnotation *had)
{
    Onnx__TensorAnnotation *p = arena_copy(k->a, had, sizeof *p);
    p->tensor_name = name_now(k, here, had->tensor_name);
    bool same = p->tensor_name == had->tensor_name;
    p->quant_parameter_tensor_names = arena_array(k->a, p->n_quant_parameter_tensor_names + 1,
                                                  sizeof *p->quant_parameter_tensor_names);
    for (size_t i = 0; i < p->n_quant_parameter_tensor_names; i++) {
        Onnx__StringStringEntryProto *e =
            arena_copy(k->a, had->quant_parameter_tensor_names[i], sizeof *e);
        e->value = name_now(k, here, e->value);
        same = same && e->value == had->quant_parameter_tensor_names[i]->value;
        p->quant_parameter_tensor_names[i] = e;
    }
    return same ? had : p;
}

void make_annotations(struct maker *k, struct map here, Onnx__GraphProto *p)
{
    Onnx__TensorAnnotation **had = p->quantization_annotation;
    size_t n = p->n_quantization_annotation;
    p->n_quantization_annotation = 0;
    p->quantization_annotation = arena_array(k->a, n + 1, sizeof *had);
    for (size_t i = 0; i < n; i++) {
        const char *name = had[i]->tensor_name != NULL ? had[i]->tensor_name : "";
        if (map_get(&here, map_key(1, str_id(k->m, name))) != 0)
            p->quantization_annotation[p->n_quantization_annotation++] =
                make_annotation(k, &here, had[i]);
    }
}

/* ---- devices ------------------------------------------------------------------------------------ */

/* Finds the operand or result called `name` of the node `had`, and returns the name of the operand or result at the
 * same place of the node `now`; `name` itself if `had` has no such operand or result. */
static char *operand_now(const Onnx__NodeProto *had, const Onnx__NodeProto *now, char *name)
{
    if (name == NULL || *name == '\0')
        return name;
    for (size_t i = 0; i < had->n_input; i++)
        if (strcmp(had->input[i], name) == 0 && i < now->n_input)
            return now->input[i];
    for (size_t i = 0; i < had->n_output; i++)
        if (strcmp(had->output[i], name) == 0 && i < now->n_output)
            return now->output[i];
    return name;
}

void make_sharding(struct maker *k, const Onnx__NodeProto *had, Onnx__NodeProto *p)
{
    size_t n = p->n_device_configurations;
    if (n == 0)
        return;
    p->device_configurations = arena_array(k->a, n, sizeof *p->device_configurations);
    /* p shares the messages below it with the file's message `had`: what changes must be copied */
    for (size_t i = 0; i < n; i++) {
        Onnx__NodeDeviceConfigurationProto *c =
            arena_copy(k->a, had->device_configurations[i], sizeof *c);
        c->sharding_spec = arena_array(k->a, c->n_sharding_spec + 1, sizeof *c->sharding_spec);
        for (size_t j = 0; j < c->n_sharding_spec; j++) {
            Onnx__ShardingSpecProto *s =
                arena_copy(k->a, had->device_configurations[i]->sharding_spec[j], sizeof *s);
            s->tensor_name = operand_now(had, p, s->tensor_name);
            c->sharding_spec[j] = s;
        }
        p->device_configurations[i] = c;
    }
}

/* ---- training ----------------------------------------------------------------------------------- */

/* Adds to the set `names` (map_key(1, name) -> 1) all names that root and the messages below it define: names of
 * results, tensors and described values. */
static void note_names(struct maker *k, const ProtobufCMessage *root, struct map *names)
{
    struct walk w = walk_begin(root, k->a);
    for (const ProtobufCMessage *x; (x = walk_next(&w)) != NULL;) {
        const Onnx__NodeProto *n = (const Onnx__NodeProto *)x;
        bool node = x->descriptor == &onnx__node_proto__descriptor;
        const char *own = x->descriptor == &onnx__tensor_proto__descriptor
                              ? ((const Onnx__TensorProto *)x)->name
                          : x->descriptor == &onnx__value_info_proto__descriptor
                              ? ((const Onnx__ValueInfoProto *)x)->name
                              : NULL;
        for (size_t i = 0; node && i < n->n_output; i++)
            map_set(names, k->a, map_key(1, str_id(k->m, n->output[i])), 1);
        if (own != NULL)
            map_set(names, k->a, map_key(1, str_id(k->m, own)), 1);
    }
}

/* Names of values that training_info may read, as sets of map_key(1, name). */
struct readable {
    struct map had;  /* names of the main graph before passes */
    struct map here; /* names of the main graph now */
    struct map own;  /* names that the message of training_info itself defines */
};

/* Reports an error if `text`, the name of a value that training_info reads, was a name in the main graph before passes,
 * and now neither the main graph nor training_info itself defines it. */
static void check_name(struct maker *k, const struct readable *r, const char *text)
{
    uint64_t name = map_key(1, str_id(k->m, text != NULL ? text : ""));
    if (map_get(&r->had, name) == 0 || map_get(&r->own, name) != 0 || map_get(&r->here, name) != 0)
        return;
    k->failed = true;
    diag_error(k->d, "%s: training_info reads '%s', which a pass has dropped or given another name",
               module_str(k->m, k->m->path), text);
}

void check_training(struct maker *k, const Onnx__ModelProto *p)
{
    struct readable r = {0};
    note_names(k, &p->graph->base, &r.had);
    for (vid v = 1; v < k->m->nval; v++)
        if (k->m->value[v].graph == 1 && k->m->value[v].name != 0)
            map_set(&r.here, k->a, map_key(1, k->m->value[v].name), 1);
    for (size_t i = 0; i < p->n_training_info; i++) {
        const Onnx__TrainingInfoProto *t = p->training_info[i];
        r.own = (struct map){0};
        note_names(k, &t->base, &r.own);
        /* names that the training info reads: operands of its nodes, and the keys of its bindings */
        struct walk w = walk_begin(&t->base, k->a);
        for (const ProtobufCMessage *x; (x = walk_next(&w)) != NULL;) {
            const Onnx__NodeProto *n = (const Onnx__NodeProto *)x;
            if (x->descriptor != &onnx__node_proto__descriptor)
                continue;
            for (size_t j = 0; j < n->n_input; j++)
                check_name(k, &r, n->input[j]);
        }
        for (size_t j = 0; j < t->n_update_binding; j++)
            check_name(k, &r, t->update_binding[j]->key);
        for (size_t j = 0; j < t->n_initialization_binding; j++)
            check_name(k, &r, t->initialization_binding[j]->key);
    }
}

/* ---- characters --------------------------------------------------------------------------------- */

void check_characters(struct maker *k, const ProtobufCMessage *root)
{
    struct walk w = walk_begin(root, k->a);
    for (const ProtobufCMessage *x; (x = walk_next(&w)) != NULL;)
        for (unsigned i = 0; i < x->descriptor->n_fields; i++) {
            const ProtobufCFieldDescriptor *f = &x->descriptor->fields[i];
            size_t n;
            if (f->type != PROTOBUF_C_TYPE_STRING)
                continue;
            const void *const *list = walk_field(x, f, &n);
            for (size_t j = 0; j < n; j++) {
                const char *text = list[j];
                size_t len = text != NULL ? strlen(text) : 0;
                if (utf8_good(text, len) == len)
                    continue;
                k->failed = true;
                diag_error(k->d, "%s: '%s', %s of a %s, is not UTF-8, which ONNX asks for",
                           module_str(k->m, k->m->path), text, f->name, x->descriptor->short_name);
                return;
            }
        }
}
