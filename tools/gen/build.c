/* The graph builder of pcc-gen (gen.h): makes nodes, attributes, initializers, inputs and outputs as protobuf-c
 * structs.  Only constants have bytes here; gen.h says how weights get theirs. */
#include "tools/gen/gen.h"

#include "ir/base/numbers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* CHUNK_BYTES: least size of a chunk of memory.  MARKER_BYTES: gen.marker_size. */
enum { CHUNK_BYTES = 1 << 20, MARKER_BYTES = 1 << 28 };

/* A chunk of memory, from which blocks are taken; freed by gen_close(). */
struct gen_chunk {
    struct gen_chunk *next; /* the chunk made before; NULL: none */
    size_t used, size;      /* bytes of data that are taken; bytes of data */
    max_align_t data[];
};

void gen_no_memory(void)
{
    fputs("pcc-gen: out of memory\n", stderr);
    exit(1);
}

/* ---- memory ---- */

/* Returns n zeroed bytes, which live as long as g, from the newest chunk or a new one. */
static void *alloc(struct gen *g, size_t n)
{
    struct gen_chunk *c = g->chunks;

    n = (n + 15) & ~(size_t)15; /* up to a multiple of 16, so that all blocks are aligned */
    if (c == NULL || c->size - c->used < n) {
        size_t size = larger_u64(n, CHUNK_BYTES);
        c = calloc(1, sizeof *c + size);
        if (c == NULL)
            gen_no_memory();
        c->size = size;
        c->next = g->chunks;
        g->chunks = c;
    }
    void *p = (char *)c->data + c->used;
    c->used += n;
    return p;
}

/* Returns a copy of a string, which lives as long as g. */
static char *copy(struct gen *g, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(alloc(g, n), s, n);
}

char *gen_str(struct gen *g, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        gen_no_memory();
    char *s = alloc(g, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

/* Appends the pointer `item` to an array. */
static void push(struct gen_ptrs *p, void *item)
{
    if (p->n == p->cap) {
        p->cap = p->cap > 0 ? p->cap * 2 : 64;
        p->v = realloc(p->v, p->cap * sizeof *p->v);
        if (p->v == NULL)
            gen_no_memory();
    }
    p->v[p->n++] = item;
}

void gen_open(struct gen *g, enum gen_mode mode, int64_t seed, const char *location)
{
    *g = (struct gen){.mode = mode, .seed = (uint64_t)seed, .location = location, .scope = ""};
    g->marker_size = MARKER_BYTES;
    g->marker =
        mmap(NULL, g->marker_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (g->marker == MAP_FAILED)
        gen_no_memory();
}

void gen_close(struct gen *g)
{
    while (g->chunks != NULL) {
        struct gen_chunk *c = g->chunks;
        g->chunks = c->next;
        free(c);
    }
    free(g->nodes.v);
    free(g->inits.v);
    free(g->inputs.v);
    free(g->outputs.v);
    free(g->weights);
    munmap(g->marker, g->marker_size);
}

/* ---- nodes ---- */

void gen_scope(struct gen *g, const char *scope)
{
    g->scope = copy(g, scope);
}

/* Returns the operator in a node's path: its last component without "_N". */
static char *op_of(struct gen *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *op = copy(g, slash != NULL ? slash + 1 : path);
    op[strcspn(op, "_")] = '\0';
    return op;
}

const char *gen_node(struct gen *g, const char *path, int nin, const char *const in[])
{
    Onnx__NodeProto *n = alloc(g, sizeof *n);

    onnx__node_proto__init(n);
    n->name = gen_str(g, "%s%s", g->scope, path);
    n->op_type = op_of(g, path);
    n->n_input = (size_t)nin;
    n->input = alloc(g, (size_t)nin * sizeof *n->input);
    for (int i = 0; i < nin; i++)
        n->input[i] = copy(g, in[i]);
    push(&g->nodes, n);
    g->last = n;
    return gen_more(g);
}

const char *gen_more(struct gen *g)
{
    Onnx__NodeProto *n = g->last;
    char **out = alloc(g, (n->n_output + 1) * sizeof *out);

    if (n->n_output > 0)
        memcpy(out, n->output, n->n_output * sizeof *out);
    out[n->n_output] = gen_str(g, "%s_output_%zu", n->name, n->n_output);
    n->output = out;
    return out[n->n_output++];
}

const char *gen_op1(struct gen *g, const char *path, const char *a)
{
    return gen_node(g, path, 1, (const char *const[]){a});
}

const char *gen_op2(struct gen *g, const char *path, const char *a, const char *b)
{
    return gen_node(g, path, 2, (const char *const[]){a, b});
}

const char *gen_op3(struct gen *g, const char *path, const char *a, const char *b, const char *c)
{
    return gen_node(g, path, 3, (const char *const[]){a, b, c});
}

const char *gen_rename(struct gen *g, const char *name)
{
    return g->last->output[0] = copy(g, name);
}

/* Adds an attribute of this type, still without a value, to the last node and returns it. */
static Onnx__AttributeProto *add_attr(struct gen *g, const char *name,
                                      Onnx__AttributeProto__AttributeType type)
{
    Onnx__NodeProto *n = g->last;
    Onnx__AttributeProto *a = alloc(g, sizeof *a);
    Onnx__AttributeProto **all = alloc(g, (n->n_attribute + 1) * sizeof *all);

    onnx__attribute_proto__init(a);
    a->name = copy(g, name);
    a->has_type = 1;
    a->type = type;
    if (n->n_attribute > 0)
        memcpy(all, n->attribute, n->n_attribute * sizeof *all);
    all[n->n_attribute++] = a;
    n->attribute = all;
    return a;
}

void gen_attr_i(struct gen *g, const char *name, int64_t v)
{
    Onnx__AttributeProto *a = add_attr(g, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    a->has_i = 1;
    a->i = v;
}

void gen_attr_f(struct gen *g, const char *name, float v)
{
    Onnx__AttributeProto *a = add_attr(g, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    a->has_f = 1;
    a->f = v;
}

void gen_attr_s(struct gen *g, const char *name, const char *v)
{
    Onnx__AttributeProto *a = add_attr(g, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    a->has_s = 1;
    a->s.len = strlen(v);
    a->s.data = (uint8_t *)copy(g, v);
}

void gen_attr_ints(struct gen *g, const char *name, int n, const int64_t v[])
{
    Onnx__AttributeProto *a = add_attr(g, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    a->n_ints = (size_t)n;
    a->ints = alloc(g, (size_t)n * sizeof *a->ints);
    memcpy(a->ints, v, (size_t)n * sizeof *v);
}

/* ---- initializers ---- */

/* Adds an initializer of this element type and shape, still without bytes, and returns it. */
static Onnx__TensorProto *add_tensor(struct gen *g, const char *name, int32_t type, int rank,
                                     const int64_t dims[])
{
    Onnx__TensorProto *t = alloc(g, sizeof *t);

    onnx__tensor_proto__init(t);
    t->name = copy(g, name);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = (size_t)rank;
    t->dims = alloc(g, (size_t)rank * sizeof *t->dims);
    for (int i = 0; i < rank; i++)
        t->dims[i] = dims[i];
    push(&g->inits, t);
    return t;
}

/* Returns the key of a weight: a hash (FNV-1a) of the seed and the weight's name, so that its numbers do not depend on
 * other weights. */
static uint64_t name_key(uint64_t seed, const char *name)
{
    uint64_t h = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);

    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h;
}

/* Returns an entry for TensorProto.external_data: a copy of the key, and the value itself. */
static Onnx__StringStringEntryProto *entry(struct gen *g, const char *key, char *value)
{
    Onnx__StringStringEntryProto *e = alloc(g, sizeof *e);
    onnx__string_string_entry_proto__init(e);
    e->key = copy(g, key);
    e->value = value;
    return e;
}

/* Gives weight w a place behind the others in the weights file, and makes its tensor t refer to that place. */
static void make_external(struct gen *g, Onnx__TensorProto *t, struct gen_weight *w)
{
    uint64_t bytes = w->count * 4;

    w->external = true;
    w->offset = (g->external_end + GEN_ALIGN - 1) / GEN_ALIGN * GEN_ALIGN;
    g->external_end = w->offset + bytes;
    t->n_external_data = 3;
    t->external_data = alloc(g, 3 * sizeof *t->external_data);
    t->external_data[0] = entry(g, "location", copy(g, g->location));
    t->external_data[1] = entry(g, "offset", gen_str(g, "%llu", (unsigned long long)w->offset));
    t->external_data[2] = entry(g, "length", gen_str(g, "%llu", (unsigned long long)bytes));
    t->has_data_location = 1;
    t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

const char *gen_weight(struct gen *g, const char *name, int rank, const int64_t dims[], double mean,
                       double std)
{
    Onnx__TensorProto *t = add_tensor(g, name, GEN_F32, rank, dims);

    if (g->nweights == g->weights_cap) {
        g->weights_cap = g->weights_cap > 0 ? g->weights_cap * 2 : 64;
        g->weights = realloc(g->weights, g->weights_cap * sizeof *g->weights);
        if (g->weights == NULL || g->weights_cap > g->marker_size)
            gen_no_memory();
    }
    struct gen_weight *w = &g->weights[g->nweights];
    *w = (struct gen_weight){
        .key = name_key(g->seed, name), .count = 1, .mean = (float)mean, .std = (float)std};
    for (int i = 0; i < rank; i++)
        w->count *= (uint64_t)dims[i];
    if (g->mode != GEN_INLINE && w->count * 4 >= GEN_EXTERN_MIN) {
        make_external(g, t, w);
    } else {
        t->has_raw_data = 1;
        t->raw_data.len = w->count * 4;
        t->raw_data.data = g->marker + g->nweights;
    }
    g->nweights++;
    return t->name;
}

/* Copies the bytes v[0 .. bytes) into tensor t and returns its name. */
static const char *add_constant(struct gen *g, Onnx__TensorProto *t, const void *v, size_t bytes)
{
    t->has_raw_data = 1;
    t->raw_data.len = bytes;
    t->raw_data.data = alloc(g, bytes);
    memcpy(t->raw_data.data, v, bytes);
    return t->name;
}

const char *gen_float(struct gen *g, const char *name, float v)
{
    return add_constant(g, add_tensor(g, name, GEN_F32, 0, NULL), &v, sizeof v);
}

const char *gen_floats(struct gen *g, const char *name, int n, const float v[])
{
    const int64_t dims[1] = {n};
    return add_constant(g, add_tensor(g, name, GEN_F32, 1, dims), v, (size_t)n * sizeof *v);
}

const char *gen_int(struct gen *g, const char *name, int64_t v)
{
    return add_constant(g, add_tensor(g, name, GEN_I64, 0, NULL), &v, sizeof v);
}

const char *gen_ints(struct gen *g, const char *name, int n, const int64_t v[])
{
    const int64_t dims[1] = {n};
    return add_constant(g, add_tensor(g, name, GEN_I64, 1, dims), v, (size_t)n * sizeof *v);
}

/* ---- inputs, outputs, model ---- */

/* Returns the description of an input or output: its name, element type and shape dims[0 .. rank). */
static Onnx__ValueInfoProto *value_info(struct gen *g, const char *name, int type, int rank,
                                        const struct gen_dim dims[])
{
    Onnx__ValueInfoProto *v = alloc(g, sizeof *v);
    Onnx__TypeProto *ty = alloc(g, sizeof *ty);
    Onnx__TypeProto__Tensor *t = alloc(g, sizeof *t);
    Onnx__TensorShapeProto *s = alloc(g, sizeof *s);

    onnx__value_info_proto__init(v);
    onnx__type_proto__init(ty);
    onnx__type_proto__tensor__init(t);
    onnx__tensor_shape_proto__init(s);
    v->name = copy(g, name);
    v->type = ty;
    ty->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    ty->tensor_type = t;
    t->has_elem_type = 1;
    t->elem_type = type;
    t->shape = s;
    s->n_dim = (size_t)rank;
    s->dim = alloc(g, (size_t)rank * sizeof *s->dim);
    for (int i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *d = s->dim[i] = alloc(g, sizeof *d);
        onnx__tensor_shape_proto__dimension__init(d);
        if (dims[i].param != NULL) {
            d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            d->dim_param = copy(g, dims[i].param);
        } else {
            d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            d->dim_value = dims[i].value;
        }
    }
    return v;
}

void gen_input(struct gen *g, const char *name, int type, int rank, const struct gen_dim dims[])
{
    push(&g->inputs, value_info(g, name, type, rank, dims));
}

void gen_output(struct gen *g, const char *name, int type, int rank, const struct gen_dim dims[])
{
    push(&g->outputs, value_info(g, name, type, rank, dims));
}

Onnx__ModelProto *gen_model(struct gen *g, const char *name)
{
    Onnx__ModelProto *m = alloc(g, sizeof *m);
    Onnx__GraphProto *graph = alloc(g, sizeof *graph);
    Onnx__OperatorSetIdProto *opset = alloc(g, sizeof *opset);

    onnx__model_proto__init(m);
    onnx__graph_proto__init(graph);
    onnx__operator_set_id_proto__init(opset);
    opset->domain = copy(g, "");
    opset->has_version = 1;
    opset->version = GEN_OPSET;
    m->has_ir_version = 1;
    m->ir_version = GEN_IR;
    m->producer_name = copy(g, "pcc-gen");
    m->producer_version = copy(g, PCC_VERSION);
    m->n_opset_import = 1;
    m->opset_import = alloc(g, sizeof *m->opset_import);
    m->opset_import[0] = opset;
    m->graph = graph;
    graph->name = copy(g, name);
    graph->n_node = g->nodes.n;
    graph->node = (Onnx__NodeProto **)g->nodes.v;
    graph->n_initializer = g->inits.n;
    graph->initializer = (Onnx__TensorProto **)g->inits.v;
    graph->n_input = g->inputs.n;
    graph->input = (Onnx__ValueInfoProto **)g->inputs.v;
    graph->n_output = g->outputs.n;
    graph->output = (Onnx__ValueInfoProto **)g->outputs.v;
    return m;
}
