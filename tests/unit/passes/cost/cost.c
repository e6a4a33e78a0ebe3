/* Costs: operation counts, traffic and roofline times against numbers worked out by hand. */
#include "passes/cost/pricing.h"
#include "passes/shapes/infer_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

/* A module under construction, and the run of the passes over it. */
struct bench {
    struct module *m;
    struct diag diag;
    struct ctx x;
    struct cluster cluster;
    vid out;
};

/* One class: 1 TFLOPS f32, 4 TFLOPS f16, 8 TOPS i8, 100 GB/s, 5 us; a link of 1 GB/s. */
static void begin(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->diag = diag_silent();
    b->m = module_new(NULL, &b->diag);
    b->m->ir_version = 8;
    module_add_opset(b->m, 0, 17);
    gid g = module_add_graph(b->m);
    b->m->graph[g].first = b->m->nnode;
    struct device_class *c = &b->cluster.cls[0];
    b->cluster.ncls = b->cluster.ndev = c->count = 1;
    c->name = "toy";
    c->memory = -1;
    c->peak[ELEM_F32] = INT64_C(1000000000000);
    c->peak[ELEM_F16] = INT64_C(4000000000000);
    c->peak[ELEM_I8] = INT64_C(8000000000000);
    c->bandwidth = INT64_C(100000000000);
    c->overhead = 5000000;
    c->link_bandwidth = INT64_C(1000000000);
    b->x = (struct ctx){.use.mem = arena_new(NULL),
                        .use.scratch = arena_new(NULL),
                        .use.diag = &b->diag,
                        .scene = {.m = b->m, .cluster = &b->cluster}};
}

static void end(struct bench *b)
{
    arena_free(b->x.use.mem);
    arena_free(b->x.use.scratch);
    arena_free(b->m->mem);
}

/* An input; dims end with -1. */
static vid input(struct bench *b, enum elem e, const int64_t *dims)
{
    struct dim d[8];
    int rank = 0;
    char name[16];
    while (dims[rank] >= 0) {
        d[rank] = dim_num(dims[rank]);
        rank++;
    }
    vid v = module_add_value(b->m);
    uint32_t type = module_add_tensor_type(b->m, e, rank, d);
    snprintf(name, sizeof name, "v%u", v);
    b->m->value[v] =
        (struct value){.name = str_id(b->m, name), .graph = 1, .type = type, .flags = VALUE_INPUT};
    return v;
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__, -1})
#define IN(e, ...) input(&b, e, DIMS(__VA_ARGS__))

struct op {
    const char *domain, *name;
    gid graph;
};

static nid node_of(struct bench *b, struct op op, uint32_t nin, const vid *in, uint32_t nattr,
                   const struct attr *attr)
{
    gid g = op.graph;
    char name[32];
    nid n = module_add_node(b->m);
    vid out = module_add_value(b->m);
    struct slice ins = module_add_args(b->m, in, nin), outs = module_add_args(b->m, &out, 1);
    struct slice attrs = module_add_attrs(b->m, attr, nattr);
    snprintf(name, sizeof name, "n%u", n);
    b->m->node[n] = (struct node){.name = str_id(b->m, name),
                                  .op = str_id(b->m, op.name),
                                  .domain = str_id(b->m, op.domain),
                                  .in = ins,
                                  .nformal = nin,
                                  .out = outs,
                                  .attr = attrs,
                                  .graph = g};
    snprintf(name, sizeof name, "r%u", n);
    b->m->value[out] =
        (struct value){.name = str_id(b->m, name), .def = n, .graph = g, .flags = VALUE_OUTPUT};
    b->m->graph[g].count++;
    b->out = out;
    return n;
}

static struct attr attr_int(struct bench *b, const char *name, int64_t v)
{
    return (struct attr){.name = str_id(b->m, name), .kind = ATTR_INT, .u.i = v};
}

static struct attr attr_list(struct bench *b, const char *name, const int64_t *v, uint32_t n)
{
    return (struct attr){
        .name = str_id(b->m, name), .kind = ATTR_INTS, .u.list = module_add_ints(b->m, v, n)};
}

static struct attr attr_text(struct bench *b, const char *name, const char *v)
{
    return (struct attr){.name = str_id(b->m, name), .kind = ATTR_STRING, .u.s = str_id(b->m, v)};
}

static void run_passes(struct bench *b)
{
    assert_int_equal(pass_infer_shapes.run(&b->x, NULL), 0);
    assert_int_equal(pass_cost.run(&b->x, NULL), 0);
}

static void expect(struct bench *b, nid n, int64_t flops, int64_t bytes)
{
    run_passes(b);
    assert_int_equal(b->m->cost->flops[n], flops);
    assert_int_equal(b->m->cost->traffic[n], bytes);
    end(b);
}

#define N(name, ...) node_of(&b, (struct op){"", name, 1}, __VA_ARGS__, 0, NULL)
#define COUNT(a) (uint32_t)(sizeof(a) / sizeof(a)[0])

static void products(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    vid mm[] = {IN(ELEM_F32, 7, 64, 128), IN(ELEM_F32, 128, 32)};
    expect(&b, N("MatMul", 2, mm), INT64_C(2) * 7 * 64 * 128 * 32,
           4 * (7 * 64 * 128 + 128 * 32 + 7 * 64 * 32));
    begin(&b);
    vid row[] = {IN(ELEM_F32, 5), IN(ELEM_F32, 5)};
    expect(&b, N("MatMul", 2, row), 10, 4 * 11);
    begin(&b);
    vid gemm[] = {IN(ELEM_F16, 40, 8), IN(ELEM_F16, 16, 40), IN(ELEM_F16, 16)};
    struct attr t[] = {attr_int(&b, "transA", 1), attr_int(&b, "transB", 1)};
    expect(&b, node_of(&b, (struct op){"", "Gemm", 1}, 3, gemm, 2, t), 2 * 8 * 40 * 16,
           2 * (40 * 8 + 40 * 16 + 16 + 8 * 16));
    begin(&b);
    vid integer[] = {IN(ELEM_U8, 4, 6), IN(ELEM_I8, 6, 3)};
    expect(&b, N("MatMulInteger", 2, integer), 2 * 4 * 6 * 3, 24 + 18 + 4 * 12);
    begin(&b);
    vid twice[] = {IN(ELEM_F32, 6, 6)};
    vid same[] = {twice[0], twice[0]}; /* read once */
    expect(&b, N("MatMul", 2, same), 2 * 6 * 6 * 6, 4 * 72);
    begin(&b);
    vid e[] = {IN(ELEM_F32, 2, 3, 4), IN(ELEM_F32, 2, 4, 5)};
    struct attr eq = attr_text(&b, "equation", "bij, bjk -> bik");
    expect(&b, node_of(&b, (struct op){"", "Einsum", 1}, 2, e, 1, &eq), 2 * 2 * 3 * 4 * 5,
           4 * (24 + 40 + 30));
    begin(&b);
    vid fused[] = {IN(ELEM_F32, 2, 5, 3), IN(ELEM_F32, 2, 5, 4)};
    struct attr ta = attr_int(&b, "transA", 1);
    expect(&b, node_of(&b, (struct op){"com.microsoft", "FusedMatMul", 1}, 2, fused, 1, &ta),
           2 * 2 * 3 * 5 * 4, 4 * (30 + 40 + 24));
}

static void convolutions(void **state)
{
    struct bench b;
    static const int64_t stride[] = {2, 2}, pad[] = {3, 3, 3, 3};
    (void)state;
    begin(&b); /* the first layer of a ResNet: 118,013,952 multiply-adds */
    vid first[] = {IN(ELEM_F32, 1, 3, 224, 224), IN(ELEM_F32, 64, 3, 7, 7)};
    struct attr a[] = {attr_list(&b, "strides", stride, 2), attr_list(&b, "pads", pad, 4)};
    expect(&b, node_of(&b, (struct op){"", "Conv", 1}, 2, first, 2, a), INT64_C(2) * 118013952,
           INT64_C(4) * (3 * 224 * 224 + 64 * 3 * 49 + 64 * 112 * 112));
    begin(&b);
    vid depth[] = {IN(ELEM_F32, 2, 8, 10, 10), IN(ELEM_F32, 8, 1, 3, 3), IN(ELEM_F32, 8)};
    struct attr g = attr_int(&b, "group", 8);
    expect(&b, node_of(&b, (struct op){"", "Conv", 1}, 3, depth, 1, &g),
           INT64_C(2) * 2 * 8 * 8 * 8 * 9, 4 * (1600 + 72 + 8 + 2 * 8 * 64));
    begin(&b);
    vid up[] = {IN(ELEM_F32, 1, 4, 5, 5), IN(ELEM_F32, 4, 6, 2, 2)};
    struct attr s = attr_list(&b, "strides", stride, 2);
    expect(&b, node_of(&b, (struct op){"", "ConvTranspose", 1}, 2, up, 1, &s), 2 * 4 * 25 * 6 * 4,
           4 * (100 + 96 + 6 * 100));
    begin(&b);
    vid pool = IN(ELEM_F32, 1, 4, 8, 8);
    static const int64_t two[] = {2, 2};
    struct attr p[] = {attr_list(&b, "kernel_shape", two, 2), attr_list(&b, "strides", two, 2)};
    expect(&b, node_of(&b, (struct op){"", "MaxPool", 1}, 1, &pool, 2, p), 4 * 16 * 4,
           4 * (256 + 64));
    begin(&b);
    vid global = IN(ELEM_F32, 1, 4, 8, 8);
    expect(&b, N("GlobalAveragePool", 1, &global), 256, 4 * (256 + 4));
}

static void layers(void **state)
{
    struct bench b;
    (void)state;
    begin(&b); /* 6 steps, batch 2, input 3, hidden 5: 4 gates of (3 + 5) * 5 */
    vid lstm[] = {IN(ELEM_F32, 6, 2, 3), IN(ELEM_F32, 1, 20, 3), IN(ELEM_F32, 1, 20, 5)};
    struct attr h = attr_int(&b, "hidden_size", 5);
    expect(&b, node_of(&b, (struct op){"", "LSTM", 1}, 3, lstm, 1, &h), 2 * 6 * 2 * 4 * 5 * 8,
           4 * (36 + 60 + 100 + 6 * 2 * 5));
    begin(&b);
    vid soft = IN(ELEM_F32, 4, 10);
    expect(&b, N("Softmax", 1, &soft), 200, 320);
    begin(&b);
    vid add[] = {IN(ELEM_F32, 4, 1, 6), IN(ELEM_F32, 5, 1)};
    expect(&b, N("Add", 2, add), 120, 4 * (24 + 5 + 120));
    begin(&b);
    vid sum = IN(ELEM_F32, 4, 10);
    expect(&b, N("ReduceSum", 1, &sum), 40, 164);
    begin(&b);
    vid qkv[] = {IN(ELEM_F32, 2, 4, 6, 8), IN(ELEM_F32, 2, 4, 7, 8), IN(ELEM_F32, 2, 4, 7, 8)};
    expect(&b, N("Attention", 3, qkv), 2 * 6 * 7 * (2 * 32 + 2 * 32 + 5 * 4),
           4 * (384 + 448 + 448 + 384));
    begin(&b); /* projections 2 * b * s * 8 * 24, then the scores */
    vid ms[] = {IN(ELEM_F32, 2, 6, 8), IN(ELEM_F32, 8, 24), IN(ELEM_F32, 24)};
    struct attr heads = attr_int(&b, "num_heads", 2);
    expect(&b, node_of(&b, (struct op){"com.microsoft", "Attention", 1}, 3, ms, 1, &heads),
           2 * 2 * 6 * 8 * 24 + 2 * 6 * 6 * (2 * 8 + 2 * 8 + 5 * 2), 4 * (96 + 192 + 24 + 96));
    begin(&b); /* 4 heads of 8 for queries, 2 for keys and values, all in one operand of 64 */
    vid packed[] = {IN(ELEM_F32, 2, 6, 64)};
    struct attr groups[] = {attr_int(&b, "num_heads", 4), attr_int(&b, "kv_num_heads", 2)};
    expect(
        &b,
        node_of(&b, (struct op){"com.microsoft", "GroupQueryAttention", 1}, 1, packed, 2, groups),
        2 * 6 * 6 * (2 * 32 + 2 * 32 + 5 * 4), 4 * (768 + 384));
}

static void moving(void **state)
{
    struct bench b;
    (void)state;
    begin(&b); /* reads the rows that it returns, not the table */
    vid gather[] = {IN(ELEM_F32, 50000, 16), IN(ELEM_I64, 3)};
    expect(&b, N("Gather", 2, gather), 48, 8 * 3 + 2 * 4 * 48);
    begin(&b); /* so does a slice */
    static const int64_t start[] = {10}, stop[] = {13};
    vid whole = IN(ELEM_F32, 50000, 16);
    struct attr part[] = {attr_list(&b, "starts", start, 1), attr_list(&b, "ends", stop, 1)};
    expect(&b, node_of(&b, (struct op){"", "Slice", 1}, 1, &whole, 2, part), 48, 2 * 4 * 48);
    begin(&b);
    vid shape = IN(ELEM_F32, 3, 4);
    nid n = N("Shape", 1, &shape);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 0);
    assert_int_equal(b.m->cost->own[n], 16);
    assert_int_equal(b.m->cost->elems[b.out], 2);
    end(&b);
}

static void times(void **state)
{
    struct bench b;
    (void)state;
    begin(&b); /* compute-bound: 2 * 512^3 / 1 T = 268.435456 us, + 5 us */
    vid mm[] = {IN(ELEM_F32, 512, 512), IN(ELEM_F32, 512, 512)};
    nid n = N("MatMul", 2, mm);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 268435456 + 5000000);
    assert_int_equal(b.m->cost->bytes[b.out], 512 * 512 * 4);
    assert_int_equal(b.m->cost->own[n], 512 * 512 * 4);
    assert_int_equal(b.m->cost->xfer[b.out], -1);
    end(&b);
    begin(&b); /* half the efficiency: twice the time, the same overhead */
    b.x.scene.model.efficiency = 500000;
    vid half[] = {IN(ELEM_F32, 512, 512), IN(ELEM_F32, 512, 512)};
    n = N("MatMul", 2, half);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 2 * 268435456 + 5000000);
    end(&b);
    begin(&b); /* f16: a quarter of it */
    vid h[] = {IN(ELEM_F16, 512, 512), IN(ELEM_F16, 512, 512)};
    n = N("MatMul", 2, h);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 268435456 / 4 + 5000000);
    end(&b);
    begin(&b); /* u8 like i8; an unknown peak (f64) like f32 */
    vid q[] = {IN(ELEM_U8, 512, 512), IN(ELEM_I8, 512, 512)};
    n = N("MatMulInteger", 2, q);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 268435456 / 8 + 5000000);
    end(&b);
    begin(&b);
    vid d[] = {IN(ELEM_F64, 512, 512), IN(ELEM_F64, 512, 512)};
    n = N("MatMul", 2, d);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 268435456 + 5000000);
    end(&b);
    begin(&b); /* memory-bound, rounded up: 3 * 4 * 7 B / 100 GB/s = 840 ps */
    vid add[] = {IN(ELEM_F32, 7), IN(ELEM_F32, 7)};
    n = N("Add", 2, add);
    run_passes(&b);
    assert_int_equal(b.m->cost->time[0][n], 840 + 5000000);
    end(&b);
}

/* A body of one Relu over an outer value, k times. */
static gid body(struct bench *b, nid owner, vid outer, int k)
{
    gid g = module_add_graph(b->m);
    b->m->graph[g].owner = owner;
    b->m->graph[g].first = b->m->nnode;
    for (int i = 0; i < k; i++)
        node_of(b, (struct op){"", "Relu", g}, 1, &outer, 0, NULL);
    b->m->graph[g].out = module_add_args(b->m, &b->out, 1);
    return g;
}

static void bodies(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    vid x = IN(ELEM_F32, 25, 10), cond = IN(ELEM_BOOL, 1);
    nid n = N("If", 1, &cond);
    vid result = b.out;
    gid t = body(&b, n, x, 1), e = body(&b, n, x, 3);
    struct attr a[] = {{.name = str_id(b.m, "then_branch"), .kind = ATTR_GRAPH, .u.g = t},
                       {.name = str_id(b.m, "else_branch"), .kind = ATTR_GRAPH, .u.g = e}};
    b.m->node[n].attr = module_add_attrs(b.m, a, 2);
    run_passes(&b);
    /* a Relu: 2000 B at 100 GB/s and the overhead; the larger branch has three */
    assert_int_equal(b.m->cost->time[0][n], 3 * (20000 + 5000000));
    assert_int_equal(b.m->cost->flops[n], 3 * 250);
    assert_int_equal(b.m->cost->bytes[result], 1000); /* both branches agree on the shape */
    end(&b);
}

static void unknown_shapes(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    vid x = IN(ELEM_F32, 25, 10);
    nid n = node_of(&b, (struct op){"elsewhere", "Mystery", 1}, 1, &x, 0, NULL);
    run_passes(&b);
    assert_int_equal(b.x.results.shapes_unknown, 1);
    assert_int_equal(b.m->cost->elems[b.out], -1);
    assert_int_equal(b.m->cost->bytes[b.out], 1000); /* like its largest operand */
    assert_int_equal(b.m->cost->flops[n], 250);
    assert_int_equal(b.diag.warnings, 1);
    end(&b);
}

static void bindings(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    vid x = IN(ELEM_F32, 1, 1, 8);
    uint32_t dim = b.m->type[b.m->value[x].type].dim;
    b.m->dim[dim] = dim_parse(b.m, "batch");
    b.m->dim[dim + 1] = dim_parse(b.m, "past + sequence");
    b.m->graph[1].in = module_add_args(b.m, &x, 1);
    struct dim_binding given = {"past", 3, NULL};
    struct settings settings = {.dims = &given, .ndims = 1};
    b.x.settings = &settings;
    nid n = N("Relu", 1, &x);
    run_passes(&b);
    assert_int_equal(ctx_ndims(&b.x), 3);
    assert_int_equal(b.m->cost->elems[b.out], 1 * (3 + 128) * 8);
    assert_int_equal(b.m->cost->flops[n], 131 * 8);
    assert_int_equal(b.x.results.nguessed, 2);
    assert_ptr_equal(ctx_dim(&b.x, 0), &given);
    assert_int_equal(b.diag.warnings, 1);
    end(&b);
}

static void profiles_stay(void **state)
{
    struct bench b;
    struct costs c = {.nclass = 1};
    (void)state;
    begin(&b);
    b.m->cost = &c;
    run_passes(&b);
    assert_ptr_equal(b.m->cost, &c);
    end(&b);
}

/* A node takes as long with the types that its operands have as the costs say, also if they are strings or of unknown
 * type. */
static void same_types(void **state)
{
    static const enum elem elem[] = {ELEM_F32, ELEM_STR, ELEM_NONE};
    (void)state;
    for (size_t i = 0; i < sizeof elem / sizeof *elem; i++) {
        struct bench b;
        begin(&b);
        vid in[] = {IN(elem[i], 1000000), IN(elem[i], 1000000)};
        nid n = N("Equal", 2, in);
        run_passes(&b);
        struct pricing *p = pricing_begin(&b.x);
        const uint32_t types[] = {pricing_type(p, in[0]), pricing_type(p, in[1])}, own = 0;
        assert_int_equal(pricing_time(p, n, 0, types, &own), b.m->cost->time[0][n]);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),      cmocka_unit_test(convolutions),
        cmocka_unit_test(layers),        cmocka_unit_test(moving),
        cmocka_unit_test(times),         cmocka_unit_test(bodies),
        cmocka_unit_test(bindings),      cmocka_unit_test(unknown_shapes),
        cmocka_unit_test(profiles_stay), cmocka_unit_test(same_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
