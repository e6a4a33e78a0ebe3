/* The ONNX reader: models built here message by message, packed to a file, read, and looked at:
 * last definition wins, captures through several levels, order of unsorted files, names, tensors in
 * every form, symbolic types, payloads that stay in the file, external data.
 *
 * extras: shared large */
#include "backends/backends.h"
#include "frontends/frontends.h"
#include "frontends/onnx/scan.h"
#include "ir/model/path.h"
#include "tests/support/extras.h"

#include "onnx.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *mem;
static char folder[] = "/tmp/pcc-unit-XXXXXX";
static char last_line[512];
static struct diag diag;

static void keep(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    (void)user;
    (void)level;
    snprintf(last_line, sizeof last_line, "%s", line);
}

/* ---- building messages ---- */

static const char *path_of(const char *name)
{
    return arena_fmt(mem, "%s/%s", folder, name);
}

/* "a,,b" -> {"a", "", "b"}; NULL: none. */
static char **list(const char *text, size_t *n)
{
    char **out = arena_array(mem, 64, sizeof *out);
    *n = 0;
    for (const char *p = text; p != NULL; p = *p == ',' ? p + 1 : NULL) {
        size_t k = strcspn(p, ",");
        out[(*n)++] = arena_strdup(mem, p, k);
        p += k;
    }
    return out;
}

static void *append(void *array, size_t n, void *item)
{
    void **out = arena_array(mem, n + 1, sizeof *out);
    if (n > 0)
        memcpy(out, array, n * sizeof *out);
    out[n] = item;
    return out;
}

static Onnx__GraphProto *graph(const char *in, const char *out)
{
    Onnx__GraphProto *g = arena_alloc(mem, sizeof *g);
    onnx__graph_proto__init(g);
    g->name = arena_strdup(mem, "g", 1);
    for (int pass = 0; pass < 2; pass++) {
        size_t n;
        char **name = list(pass ? out : in, &n);
        for (size_t i = 0; i < n; i++) {
            Onnx__ValueInfoProto *v = arena_alloc(mem, sizeof *v);
            onnx__value_info_proto__init(v);
            v->name = name[i];
            if (pass)
                g->output = append(g->output, g->n_output++, v);
            else
                g->input = append(g->input, g->n_input++, v);
        }
    }
    return g;
}

static Onnx__NodeProto *node(Onnx__GraphProto *g, const char *name, const char *op, const char *in,
                             const char *out)
{
    Onnx__NodeProto *n = arena_alloc(mem, sizeof *n);
    onnx__node_proto__init(n);
    n->name = name != NULL ? arena_strdup(mem, name, strlen(name)) : NULL;
    n->op_type = arena_strdup(mem, op, strlen(op));
    n->input = list(in, &n->n_input);
    n->output = list(out, &n->n_output);
    g->node = append(g->node, g->n_node++, n);
    return n;
}

static Onnx__AttributeProto *attribute(Onnx__NodeProto *n, const char *name, int type)
{
    Onnx__AttributeProto *a = arena_alloc(mem, sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = arena_strdup(mem, name, strlen(name));
    a->has_type = type != 0;
    a->type = (Onnx__AttributeProto__AttributeType)type;
    n->attribute = append(n->attribute, n->n_attribute++, a);
    return a;
}

static Onnx__TensorProto *tensor(const char *name, int elem, size_t rank, const int64_t *dims)
{
    Onnx__TensorProto *t = arena_alloc(mem, sizeof *t);
    onnx__tensor_proto__init(t);
    t->name = arena_strdup(mem, name, strlen(name));
    t->has_data_type = 1;
    t->data_type = elem;
    t->n_dims = rank;
    t->dims = arena_array(mem, rank, sizeof *t->dims);
    memcpy(t->dims, dims, rank * sizeof *dims);
    return t;
}

static void add_init(Onnx__GraphProto *g, Onnx__TensorProto *t)
{
    g->initializer = append(g->initializer, g->n_initializer++, t);
}

static struct module *read_graph(Onnx__GraphProto *g)
{
    static const struct onnx_options options;
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    model.has_ir_version = 1;
    model.ir_version = 8;
    model.graph = g;
    size_t n = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = arena_alloc(mem, n);
    onnx__model_proto__pack(&model, bytes);
    FILE *f = fopen(path_of("m.onnx"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    diag = (struct diag){.emit = keep};
    *last_line = '\0';
    struct module *m = onnx_read(path_of("m.onnx"), &options, NULL, &diag);
    if (m != NULL)
        assert_int_equal(module_verify(m, &diag), 0);
    return m;
}

/* ---- looking ---- */

static nid find(const struct module *m, const char *name)
{
    for (nid n = 1; n < m->nnode; n++)
        if (strcmp(node_name(m, n), name) == 0)
            return n;
    fail_msg("no node '%s'", name);
    return 0;
}

/* Operands of a node: "a b | c", captures after the bar. */
static const char *operands(const struct module *m, const char *name)
{
    nid n = find(m, name);
    const char *out = "";
    for (uint32_t i = 0; i < m->node[n].in.n; i++)
        out = arena_fmt(mem, "%s%s%s", out, i == m->node[n].nformal ? "| " : "",
                        arena_fmt(mem, "%s ", value_name(m, node_in(m, n, i))));
    return out;
}

static const char *order(const struct module *m, gid g)
{
    const char *out = "";
    for (uint32_t i = 0; i < m->graph[g].count; i++)
        out = arena_fmt(mem, "%s%s ", out, node_name(m, m->graph[g].first + i));
    return out;
}

static vid value(const struct module *m, gid g, const char *name)
{
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].graph == g && strcmp(value_name(m, v), name) == 0)
            return v;
    fail_msg("no value '%s'", name);
    return 0;
}

/* ---- tests ---- */

static void last_definition_wins(void **state)
{
    (void)state;
    Onnx__GraphProto *g = graph("x", "y");
    node(g, "early", "Add", "k,x", "t");
    for (int i = 0; i < 3; i++) {
        Onnx__NodeProto *n = node(g, i == 0 ? "k0" : i == 1 ? "k1" : "k2", "Constant", NULL, "k");
        attribute(n, "value_int", 2)->i = i;
        n->attribute[0]->has_i = 1;
    }
    node(g, "late", "Add", "k,t", "y");
    struct module *m = read_graph(g);
    assert_non_null(m);
    assert_string_equal(node_name(m, m->value[node_in(m, find(m, "early"), 0)].def), "k2");
    assert_string_equal(node_name(m, m->value[node_in(m, find(m, "late"), 0)].def), "k2");
    assert_true(m->node[find(m, "k0")].flags & NODE_LOST);
    assert_true(m->node[find(m, "k1")].flags & NODE_LOST);
    assert_false(m->node[find(m, "k2")].flags & NODE_LOST);
    assert_int_equal(m->value[node_out(m, find(m, "k0"), 0)].flags, VALUE_LOST);
    assert_string_equal(order(m, 1), "k0 k1 k2 early late ");
    assert_int_equal(diag.warnings, 1);
    assert_non_null(strstr(last_line, "2 definitions repeat a name ('k', 'k')"));
    assert_int_equal(node_attr_int(m, find(m, "k2"), "value_int", -1), 2);
    arena_free(m->mem);
}

static void captures(void **state)
{
    (void)state;
    Onnx__GraphProto *inner = graph(NULL, "r");
    node(inner, "i1", "Add", "b,a", "s");
    node(inner, "i2", "Add", "s,b", "u");
    node(inner, "i3", "Add", "u,p", "r"); /* p: of the graph around */
    Onnx__GraphProto *mid = graph("p", "q");
    node(mid, "m1", "Neg", "a", "a2");
    attribute(node(mid, "inner if", "If", "cond", "q"), "then_branch", 5)->g = inner;
    Onnx__GraphProto *shadow = graph("a", "a"); /* its own a */
    node(shadow, "s1", "Neg", "late", "z");
    Onnx__GraphProto *g = graph("a,b,cond", "y");
    Onnx__NodeProto *outer = node(g, "outer", "Loop", "a,,cond", "y");
    attribute(outer, "body", 5)->g = mid;
    Onnx__AttributeProto *more = attribute(outer, "more", 10);
    more->graphs = append(more->graphs, more->n_graphs++, shadow);
    node(g, "late node", "Neg", "b", "late");
    struct module *m = read_graph(g);
    assert_non_null(m);
    assert_int_equal(m->ngraph, 5);
    assert_string_equal(operands(m, "outer"), "a  cond | a cond late b ");
    assert_string_equal(operands(m, "inner if"), "cond | b a p ");
    assert_string_equal(order(m, 1), "late node outer ");
    assert_int_equal(m->node[find(m, "outer")].nformal, 3);
    for (gid k = 2; k < m->ngraph; k++)
        assert_string_equal(node_name(m, m->graph[k].owner), k < 4 ? "outer" : "inner if");
    assert_int_equal(m->value[node_in(m, find(m, "m1"), 0)].graph, 1);
    assert_int_equal(m->arg[m->graph[3].out.at], m->arg[m->graph[3].in.at]);
    assert_int_equal(node_attr(m, find(m, "outer"), "body")->u.g, 2);
    arena_free(m->mem);
}

static void order_is_stable(void **state)
{
    (void)state;
    Onnx__GraphProto *g = graph("x", "e");
    node(g, "e", "Add", "d,c", "e");
    node(g, "p", "Neg", "x", "p");
    node(g, "d", "Neg", "b", "d");
    node(g, "q", "Neg", "x", "q");
    node(g, "b", "Neg", "x", "b");
    node(g, "c", "Neg", "x", "c");
    struct module *m = read_graph(g);
    assert_non_null(m);
    assert_string_equal(order(m, 1), "p q b d c e ");
    arena_free(m->mem);
}

static void cycles_are_named(void **state)
{
    (void)state;
    Onnx__GraphProto *g = graph("x", "y");
    node(g, "tail", "Neg", "b", "y");
    node(g, "na", "Add", "x,b", "a");
    node(g, "nb", "Neg", "a", "b");
    assert_null(read_graph(g));
    assert_int_equal(diag.errors, 1);
    assert_null(strstr(last_line, "'tail'"));
    assert_non_null(strstr(last_line, "'na'"));
    assert_non_null(strstr(last_line, "'nb'"));
}

static void names(void **state)
{
    (void)state;
    Onnx__GraphProto *g = graph("x", "y");
    node(g, NULL, "Neg", "x", "a");
    node(g, "same", "Neg", "a", "b");
    node(g, "same", "Neg", "b", "c");
    node(g, "", "Neg", "c", "d");
    node(g, "Neg_0", "Neg", "d", "y");
    struct module *m = read_graph(g);
    assert_non_null(m);
    assert_string_equal(order(m, 1), "Neg_0_1 same same_2 Neg_3 Neg_0 ");
    for (nid n = 1; n < m->nnode; n++)
        assert_int_equal(m->node[n].flags & NODE_UNNAMED, n == 1 || n == 3 || n == 4);
    arena_free(m->mem);
}

static void tensors(void **state)
{
    (void)state;
    enum { N = 400 };
    const int64_t three[] = {3}, many[] = {2, N / 2}, nibbles[] = {5};
    int32_t ints[] = {-1, 300, 7}, halves[] = {0x3c00, 0xc000, 0}, packed4[] = {0x21, 0x43, 0x05};
    int64_t longs[] = {-5, 6, INT64_MAX};
    float floats[N];
    uint8_t seventeen[ONNX_MARK], back[sizeof floats];
    Onnx__GraphProto *g = graph("x,r", "x");
    Onnx__TensorProto *t = tensor("i16", ELEM_I16, 1, three);
    t->n_int32_data = 3;
    t->int32_data = ints;
    add_init(g, t);
    add_init(g, t = tensor("f16", ELEM_F16, 1, three));
    t->n_int32_data = 3;
    t->int32_data = halves;
    add_init(g, t = tensor("u4", ELEM_U4, 1, nibbles));
    t->n_int32_data = 3;
    t->int32_data = packed4;
    add_init(g, t = tensor("i64", ELEM_I64, 1, three));
    t->n_int64_data = 3;
    t->int64_data = longs;
    for (int i = 0; i < N; i++)
        floats[i] = (float)i;
    memset(seventeen, 9, sizeof seventeen);
    add_init(g, t = tensor("f32", ELEM_F32, 2, many));
    t->n_float_data = N;
    t->float_data = floats;
    add_init(g, t = tensor("r", ELEM_U8, 1, (int64_t[]){ONNX_MARK}));
    t->has_raw_data = 1;
    t->raw_data = (ProtobufCBinaryData){sizeof seventeen, seventeen};
    struct module *m = read_graph(g);
    assert_non_null(m);
    int64_t v[8];
    tid i16 = m->value[value(m, 1, "i16")].tensor, f16 = m->value[value(m, 1, "f16")].tensor;
    assert_int_equal(tensor_ints(m, i16, v, 8), 3);
    assert_true(v[0] == -1 && v[1] == 300 && v[2] == 7);
    assert_int_equal(m->tensor[f16].len, 6);
    assert_memory_equal(m->tensor[f16].data, "\x00\x3c\x00\xc0\x00\x00", 6);
    assert_int_equal(tensor_ints(m, m->value[value(m, 1, "u4")].tensor, v, 8), 5);
    assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3 && v[3] == 4 && v[4] == 5);
    assert_int_equal(tensor_ints(m, m->value[value(m, 1, "i64")].tensor, v, 8), 3);
    assert_true(v[0] == -5 && v[2] == INT64_MAX);
    tid f32 = m->value[value(m, 1, "f32")].tensor;
    assert_int_equal(m->tensor[f32].where, TENSOR_FILE);
    assert_int_equal(m->tensor[f32].file, 1);
    assert_int_equal(tensor_read(m, f32, 0, back, sizeof back), 0);
    assert_memory_equal(back, floats, sizeof floats);
    vid r = value(m, 1, "r"); /* an input with a default */
    assert_int_equal(m->value[r].flags, VALUE_INPUT | VALUE_INIT);
    assert_int_equal(m->tensor[m->value[r].tensor].where, TENSOR_FILE);
    assert_int_equal(tensor_read(m, m->value[r].tensor, 0, back, sizeof seventeen), 0);
    assert_memory_equal(back, seventeen, sizeof seventeen);
    assert_int_equal(m->type[m->value[value(m, 1, "f32")].type].rank, 2);
    assert_int_equal(m->graph[1].init.n, 6);
    arena_free(m->mem);
}

static void types(void **state)
{
    (void)state;
    Onnx__GraphProto *g = graph("x", "x");
    Onnx__TensorShapeProto__Dimension dim[3];
    Onnx__TensorShapeProto__Dimension *dims[3];
    for (int i = 0; i < 3; i++) {
        onnx__tensor_shape_proto__dimension__init(&dim[i]);
        dims[i] = &dim[i];
    }
    dim[0].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    dim[0].dim_value = 7;
    dim[1].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    dim[1].dim_param = arena_strdup(mem, "batch", 5);
    Onnx__TensorShapeProto shape = ONNX__TENSOR_SHAPE_PROTO__INIT;
    shape.n_dim = 3;
    shape.dim = dims;
    Onnx__TypeProto__Tensor tt = ONNX__TYPE_PROTO__TENSOR__INIT;
    tt.has_elem_type = 1;
    tt.elem_type = ELEM_F16;
    tt.shape = &shape;
    Onnx__TypeProto leaf = ONNX__TYPE_PROTO__INIT;
    leaf.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    leaf.tensor_type = &tt;
    Onnx__TypeProto__Sequence s = ONNX__TYPE_PROTO__SEQUENCE__INIT;
    s.elem_type = &leaf;
    Onnx__TypeProto seq = ONNX__TYPE_PROTO__INIT;
    seq.value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
    seq.sequence_type = &s;
    g->input[0]->type = &seq;
    struct module *m = read_graph(g);
    assert_non_null(m);
    const struct type *t = &m->type[m->value[m->arg[m->graph[1].in.at]].type];
    assert_int_equal(t->kind, TYPE_SEQ);
    t = &m->type[t->inner];
    assert_true(t->kind == TYPE_TENSOR && t->elem == ELEM_F16 && t->rank == 3);
    assert_int_equal(m->dim[t->dim].value, 7);
    assert_string_equal(module_str(m, m->dim[t->dim + 1].sym), "batch");
    assert_true(m->dim[t->dim + 2].value == -1 && m->dim[t->dim + 2].sym == 0);
    assert_int_equal(m->value[m->arg[m->graph[1].in.at]].flags, VALUE_INPUT | VALUE_OUTPUT);
    arena_free(m->mem);
}

/* The last element type of the list is known; what stands beyond it, before it or at its beginning is not. */
static void element_types(void **state)
{
    static const int32_t number[] = {ELEM_COUNT - 1, ELEM_COUNT, 0, -1, 1, INT32_MAX};
    static const enum elem wanted[] = {ELEM_COUNT - 1, ELEM_NONE, ELEM_NONE,
                                       ELEM_NONE,      ELEM_F32,  ELEM_NONE};
    (void)state;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        Onnx__GraphProto *g = graph("x", "x");
        Onnx__TypeProto__Tensor tt = ONNX__TYPE_PROTO__TENSOR__INIT;
        tt.has_elem_type = 1;
        tt.elem_type = number[i];
        Onnx__TypeProto type = ONNX__TYPE_PROTO__INIT;
        type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        type.tensor_type = &tt;
        g->input[0]->type = &type;
        struct module *m = read_graph(g);
        assert_non_null(m);
        const struct type *t = &m->type[m->value[value(m, 1, "x")].type];
        assert_int_equal(t->elem, wanted[i]);
        assert_int_equal(t->rank, -1);
        arena_free(m->mem);
    }
}

/* Entries of a node's metadata that lack their key or their value say nothing; pcc.device wins over layer_ann. */
static void metadata(void **state)
{
    static char device[] = "pcc.device", layer[] = "layer_ann", slot[] = "pcc.slot";
    static char first[] = "acc0", second[] = "acc1", two[] = "2";
    static char scope[] = "namespace", where[] = ": M/l.0: L/neg: aten.neg.default";
    (void)state;
    Onnx__StringStringEntryProto e[] = {{.key = device},
                                        {.key = layer, .value = first},
                                        {.value = two},
                                        {.key = device, .value = second},
                                        {.key = layer, .value = first},
                                        {.key = scope, .value = where},
                                        {.key = slot, .value = two}};
    Onnx__GraphProto *g = graph("x", "y");
    Onnx__NodeProto *n = node(g, "n", "Neg", "x", "y");
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        char *key = e[i].key, *text = e[i].value;
        onnx__string_string_entry_proto__init(&e[i]);
        e[i].key = key;
        e[i].value = text;
        n->metadata_props = append(n->metadata_props, n->n_metadata_props++, &e[i]);
    }
    struct module *m = read_graph(g);
    assert_non_null(m);
    assert_non_null(m->device_ann);
    assert_string_equal(module_str(m, m->device_ann[1]), "acc1");
    assert_non_null(m->slot_ann);
    assert_int_equal(m->slot_ann[1], 2);
    assert_string_equal(node_path(m, 1, m->mem), "/l.0/n");
    arena_free(m->mem);
}

static void external(void **state)
{
    (void)state;
    const int64_t four[] = {4};
    int32_t data[6] = {0, 0, 10, 20, 30, 40}, back[4];
    FILE *f = fopen(path_of("w.bin"), "wb");
    assert_int_equal(fwrite(data, 1, sizeof data, f), sizeof data);
    fclose(f);
    Onnx__GraphProto *g = graph("x", "x");
    for (int i = 0; i < 3; i++) {
        Onnx__TensorProto *t = tensor(i == 0 ? "a" : i == 1 ? "b" : "c", ELEM_I32, 1, four);
        Onnx__StringStringEntryProto *e = arena_array(mem, 2, sizeof *e);
        const char *key[] = {"location", "offset"}, *val[] = {i < 2 ? "w.bin" : "gone.bin", "8"};
        t->has_data_location = 1;
        t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
        for (int k = 0; k < 2; k++) {
            onnx__string_string_entry_proto__init(&e[k]);
            e[k].key = arena_strdup(mem, key[k], strlen(key[k]));
            e[k].value = arena_strdup(mem, val[k], strlen(val[k]));
            t->external_data = append(t->external_data, t->n_external_data++, &e[k]);
        }
        add_init(g, t);
    }
    struct module *m = read_graph(g);
    assert_non_null(m);
    assert_int_equal(m->nfile, 4);
    const struct tensor *a = &m->tensor[m->value[value(m, 1, "a")].tensor];
    const struct tensor *c = &m->tensor[m->value[value(m, 1, "c")].tensor];
    assert_true(a->file == 2 && a->off == 8 && a->len == 16);
    assert_string_equal(module_str(m, m->file[2].location), "w.bin");
    assert_string_equal(module_str(m, m->file[2].path), path_of("w.bin"));
    assert_int_equal(m->file[c->file].fd, -1);
    assert_int_equal(tensor_read(m, m->value[value(m, 1, "b")].tensor, 0, back, sizeof back), 0);
    assert_memory_equal(back, data + 2, sizeof back);
    arena_free(m->mem);
}

static size_t put_varint(uint8_t *at, uint64_t v, size_t least)
{
    size_t n = 0;
    for (; v > 127 || n + 1 < least; v >>= 7)
        at[n++] = (uint8_t)(v | 128);
    at[n++] = (uint8_t)v;
    return n;
}

/* 3 GiB of weights (a hole in the file), more than protobuf reads: neither read nor held. */
#define LARGE ((uint64_t)3 << 30)

static void larger_than_protobuf(void **state)
{
    (void)state;
    const uint64_t len = LARGE;
    uint8_t head[64] = "\x42\x01w\x10\x02\x08", buf[64]; /* name "w", data_type U8, dims ... */
    size_t h = 6, n = 0;
    h += put_varint(head + h, len, 1);
    head[h++] = 0x4a; /* raw_data */
    h += put_varint(head + h, len, 1);
    buf[n++] = 0x3a; /* graph */
    n += put_varint(buf + n, 1 + 5 + h + len, 1);
    buf[n++] = 0x2a; /* initializer */
    n += put_varint(buf + n, h + len, 5);
    memcpy(buf + n, head, h);
    n += h;
    int fd = open(path_of("big.onnx"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, buf, n), n);
    assert_int_equal(ftruncate(fd, (off_t)(n + len)), 0);
    assert_int_equal(pwrite(fd, "end", 3, (off_t)(n + len - 3)), 3);
    close(fd);
    struct onnx_options options = {0};
    diag = (struct diag){.emit = keep};
    struct module *m = onnx_read(path_of("big.onnx"), &options, NULL, &diag);
    assert_non_null(m);
    tid t = m->value[value(m, 1, "w")].tensor;
    assert_true(m->tensor[t].len == len && m->tensor[t].off == n);
    assert_int_equal(tensor_read(m, t, len - 3, buf, 3), 0);
    assert_memory_equal(buf, "end", 3);
    assert_true(arena_used(m->mem) < (1 << 20));
    arena_free(m->mem);
    unlink(path_of("big.onnx"));
}

static void kinds_of_input(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        enum input_kind kind;
    } c[] = {{"a.onnx", "{", INPUT_ONNX},   {"a.json", "x", INPUT_WORKLOAD},
             {"a.pir", "", INPUT_TEXT},     {"b", " \n {}", INPUT_WORKLOAD},
             {"c", "module\n", INPUT_TEXT}, {"d", "\x08\x01", INPUT_ONNX},
             {"e", "", INPUT_ONNX}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        FILE *f = fopen(path_of(c[i].name), "wb");
        fputs(c[i].text, f);
        fclose(f);
        assert_int_equal(input_kind_of(path_of(c[i].name)), c[i].kind);
    }
    assert_int_equal(input_kind_of(path_of("nowhere")), INPUT_ONNX);
}

/* 48 Constants of one name twice, out of order. */
static void gpt2_past(void **state)
{
    (void)state;
    const char *path = arena_fmt(mem, "%s/models/gpt2_past.onnx", getenv("PCC_SHARED"));
    struct onnx_options options = {0};
    diag = (struct diag){.emit = keep};
    struct module *m = onnx_read(path, &options, NULL, &diag);
    assert_non_null(m);
    assert_int_equal(module_verify(m, &diag), 0);
    assert_int_equal(m->nnode - 1, 3069);
    uint32_t lost = 0;
    for (nid n = 1; n < m->nnode; n++)
        lost += (m->node[n].flags & NODE_LOST) != 0;
    assert_int_equal(lost, 48);
    assert_non_null(strstr(last_line, "48 definitions repeat a name"));
    arena_free(m->mem);
}

static int setup(void **state)
{
    (void)state;
    mem = arena_new(NULL);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const left[] = {"m.onnx", "w.bin", "big.onnx", "a.onnx", "a.json",
                                       "a.pir",  "b",     "c",        "d",      "e"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        unlink(path_of(left[i]));
    rmdir(folder);
    arena_free(mem);
    return 0;
}

/* Whether a file of that size can be had, be it a hole. */
static bool has_room(uint64_t size)
{
    FILE *f = tmpfile();
    bool can = f != NULL && ftruncate(fileno(f), (off_t)size) == 0;
    if (f != NULL)
        fclose(f);
    return can;
}

static int extra_shared(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gpt2_past)};
    return has_shared() ? cmocka_run_group_tests(tests, setup, teardown)
                        : extra_skipped("no folder ../shared");
}

static int extra_large(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(larger_than_protobuf)};
    return has_room(LARGE + 4096) ? cmocka_run_group_tests(tests, setup, teardown)
                                  : extra_skipped("no room for a file of 3 GiB");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_definition_wins),
        cmocka_unit_test(captures),
        cmocka_unit_test(order_is_stable),
        cmocka_unit_test(cycles_are_named),
        cmocka_unit_test(names),
        cmocka_unit_test(tensors),
        cmocka_unit_test(types),
        cmocka_unit_test(element_types),
        cmocka_unit_test(metadata),
        cmocka_unit_test(external),
        cmocka_unit_test(kinds_of_input),
    };
    if (extra_is(argc, argv, "shared"))
        return extra_shared();
    if (extra_is(argc, argv, "large"))
        return extra_large();
    return cmocka_run_group_tests(tests, setup, teardown);
}
