/* Lookups on a module with a body, and the verifier on sound and broken modules. */
#include "ir/ir.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % below);
}

static tid tensor_of(struct module *m, enum elem e, const void *data, size_t len, int64_t n)
{
    tid t = module_add_tensor(m);
    struct slice s = module_add_ints(m, &n, 1);

    m->tensor[t] = (struct tensor){.name = str_id(m, "t"),
                                   .elem = (uint8_t)e,
                                   .rank = 1,
                                   .dim = s.at,
                                   .len = len,
                                   .data = data};
    return t;
}

/* ---- verifier -------------------------------------------------------------------------------- */

enum { X = 1, COND, W, A, B, Y }; /* values of the module below; B is defined in the body */

static vid value_of(struct module *m, const char *name, gid g, nid def, uint32_t flags)
{
    vid v = module_add_value(m);

    m->value[v].name = str_id(m, name);
    m->value[v].graph = g;
    m->value[v].def = def;
    m->value[v].flags = flags;
    return v;
}

/* a = Add(x, w); y = If(cond){ body: b = Mul(a, x) } */
static struct module *sample(struct diag *d)
{
    static const float weight[4];
    struct module *m = module_new(NULL, d);
    const struct dim two = {4, 0};

    gid main = module_add_graph(m), body = module_add_graph(m);
    nid add = module_add_node(m), iff = module_add_node(m), mul = module_add_node(m);
    m->path = str_id(m, "sample");
    value_of(m, "x", main, 0, VALUE_INPUT);
    value_of(m, "cond", main, 0, VALUE_INPUT);
    value_of(m, "w", main, 0, VALUE_INIT);
    value_of(m, "a", main, add, 0);
    value_of(m, "b", body, mul, VALUE_OUTPUT);
    value_of(m, "y", main, iff, VALUE_OUTPUT);
    m->value[W].tensor = tensor_of(m, ELEM_F32, weight, sizeof weight, 4);
    m->value[X].type = module_add_tensor_type(m, ELEM_F32, 1, &two);
    module_add_opset(m, 0, 17);
    const struct attr then = {.name = str_id(m, "then_branch"), .kind = ATTR_GRAPH, .u.g = body};
    m->node[add] = (struct node){.name = str_id(m, "add"),
                                 .op = str_id(m, "Add"),
                                 .nformal = 2,
                                 .in = module_add_args(m, (vid[]){X, W}, 2),
                                 .out = module_add_args(m, (vid[]){A}, 1),
                                 .graph = main};
    m->node[iff] = (struct node){.name = str_id(m, "if"),
                                 .op = str_id(m, "If"),
                                 .nformal = 1,
                                 .in = module_add_args(m, (vid[]){COND, A, X}, 3),
                                 .out = module_add_args(m, (vid[]){Y}, 1),
                                 .attr = module_add_attrs(m, &then, 1),
                                 .graph = main};
    m->node[mul] = (struct node){.name = str_id(m, "mul"),
                                 .op = str_id(m, "Mul"),
                                 .nformal = 2,
                                 .in = module_add_args(m, (vid[]){A, X}, 2),
                                 .out = module_add_args(m, (vid[]){B}, 1),
                                 .graph = body};
    m->graph[main] = (struct graph){.first = add,
                                    .count = 2,
                                    .in = module_add_args(m, (vid[]){X, COND}, 2),
                                    .out = module_add_args(m, (vid[]){Y}, 1),
                                    .init = module_add_args(m, (vid[]){W}, 1)};
    m->graph[body] = (struct graph){
        .owner = iff, .first = mul, .count = 1, .out = module_add_args(m, (vid[]){B}, 1)};
    return m;
}

static void lookups(void **state)
{
    struct sink s;
    struct diag d = diag_of(&s);
    struct module *m = sample(&d);
    (void)state;

    assert_true(node_is(m, 2, "If") && !node_is(m, 2, "Loop"));
    assert_true(node_in(m, 1, 1) == W && node_in(m, 1, 2) == 0 && node_out(m, 2, 0) == Y);
    assert_non_null(node_attr(m, 2, "then_branch"));
    assert_int_equal(node_attr_int(m, 2, "then_branch", 5), 5); /* not an int */
    assert_int_equal(module_opset(m, 0), 17);
    assert_int_equal(module_opset(m, str_id(m, "ai.onnx.ml")), -1);
    struct csr u = module_users(m, m->mem);
    assert_int_equal(u.at[X + 1] - u.at[X], 3); /* add, if (capture), mul */
    assert_int_equal(u.to[u.at[X]], 1);
    assert_int_equal(u.to[u.at[X] + 2], 3);
    assert_int_equal(u.at[Y + 1] - u.at[Y], 0);
    m->arg[m->node[1].in.at + 1] = X; /* read twice by one node: listed once */
    u = module_users(m, m->mem);
    assert_int_equal(u.at[X + 1] - u.at[X], 3);
    assert_int_equal(u.at[COND + 1] - u.at[COND], 1);
    assert_int_equal(u.at[W + 1] - u.at[W], 0);
    arena_free(m->mem);
}

/* One way to break the sample each, and a word of the message that it must cause. */
static const char *plant(struct module *m, int k)
{
    struct node *add = &m->node[1], *iff = &m->node[2], *mul = &m->node[3];

    /* clang-format off */
    switch (k) {
    case 0: m->arg[add->in.at] = 99; return "expected less than";
    case 1: m->arg[add->in.at] = Y; return "comes later";
    case 2: m->arg[add->in.at] = A; return "comes later";
    case 3: m->arg[add->in.at] = B; return "no operand of node";
    case 4: iff->in.n = 2; return "no operand of node"; /* the capture of x is gone */
    case 5: m->value[A].def = 3; return "is not result";
    case 6: m->value[A].flags = VALUE_INPUT; return "and an input";
    case 7: m->arg[mul->out.at] = A; return "defined as result";
    case 8: add->in.at = UINT32_MAX; return "its operands is [";
    case 9: add->in.n = UINT32_MAX; return "its operands is [";
    case 10: add->name = mul->name; return "both called";
    case 11: add->name = 0; return "name 0";
    case 12: add->graph = 2; return "outside graph";
    case 13: m->graph[1].count = 3; return "of them are its own";
    case 14: m->graph[2].owner = 3; return "inside itself";
    case 15: m->graph[2].owner = 0; return "owner 0";
    case 16: iff->attr.n = 0; return "no body";
    case 17: m->value[X].flags = 0; return "not marked";
    case 18: m->value[A].flags = VALUE_OUTPUT; return "not among";
    case 19: m->value[W].flags = 0; return "no initializer";
    case 20: m->value[A].name = m->value[X].name; return "both called";
    case 21: m->value[A].name = 0; return "no name";
    case 22: m->value[X].type = 77; return "its type";
    case 23: m->value[W].tensor = 77; return "its tensor";
    case 24: m->tensor[1].len = 15; return "bytes, expected 16";
    case 25: m->tensor[1].rank = 1000; return "its shape";
    case 26: m->type[1].dim = 1000; return "its dimensions";
    case 27: m->type[1].kind = TYPE_SEQ; m->type[1].inner = 1; return "contains itself";
    case 28: m->value[A].graph = 2; return "is defined in graph";
    case 29: m->value[A].flags = VALUE_LOST; m->value[A].name = 0; return "which is lost";
    case 30: m->attr[1].u.g = 9; return "its graph";
    case 31: iff->nformal = 4; return "formal operands";
    case 32: m->dim[1].sym = 1; return "a number or a symbol";
    case 33: m->arg[m->graph[1].in.at + 1] = X; return "2 times among";
    case 34: m->tensor[1].where = TENSOR_FILE; return "outside its file";
    case 35: m->value[X].flags = 0; m->graph[1].in.n = 0; return "no definition";
    case 36: m->attr[1].kind = ATTR_GRAPHS; m->attr[1].u.list.n = 5; return "its list";
    case 37: m->graph[1].owner = 1; return "expected none";
    default: return NULL;
    }
    /* clang-format on */
}

static void verifier_finds(void **state)
{
    (void)state;
    for (int k = -1;; k++) {
        struct sink s;
        struct diag d = diag_of(&s);
        struct module *m = sample(&d);
        const char *want = k < 0 ? "" : plant(m, k);
        if (want == NULL) {
            arena_free(m->mem);
            break;
        }
        int r = module_verify(m, &d);
        bool said = k < 0;
        for (uint32_t i = 0; i < s.n && i < 8; i++) {
            said = said || strstr(s.last[i], want) != NULL;
        }
        if (r != (k < 0 ? 0 : -1) || !said || (k < 0) != (d.errors == 0)) {
            fail_msg("planted error %d: %d, %u errors, '%s', not '%s'", k, r, d.errors, s.last[0],
                     want);
        }
        arena_free(m->mem);
    }
}

/* Overwrites one random field of a random entry. */
static void damage(struct module *m)
{
    static const uint32_t junk[] = {0, 1, 2, 3, 5, 7, 100, 0x7fffffff, 0x80000000, UINT32_MAX};
    const struct {
        void *p;
        size_t bytes;
    } part[] = {
        {m->node, m->nnode * sizeof *m->node},    {m->value, m->nval * sizeof *m->value},
        {m->graph, m->ngraph * sizeof *m->graph}, {m->tensor, m->ntensor * sizeof *m->tensor},
        {m->type, m->ntype * sizeof *m->type},    {m->dim, m->ndim * sizeof *m->dim},
        {m->attr, m->nattr * sizeof *m->attr},    {m->arg, m->narg * sizeof *m->arg},
        {m->ints, m->nints * sizeof *m->ints},    {m->refs, m->nrefs * sizeof *m->refs},
        {m->sids, m->nsids * sizeof *m->sids},    {m->opset, m->nopset * sizeof *m->opset},
        {m->file, m->nfile * sizeof *m->file},
    };
    uint32_t k = rnd(sizeof part / sizeof part[0]);
    uint32_t word = rnd((uint32_t)(part[k].bytes / 4));

    memcpy((char *)part[k].p + 4 * (size_t)word, &junk[rnd(sizeof junk / sizeof junk[0])], 4);
}

static void verifier_survives(void **state)
{
    uint32_t refused = 0;
    (void)state;

    seed = 4;
    for (int round = 0; round < 20000; round++) {
        struct sink s;
        struct diag d = diag_of(&s);
        struct module *m = sample(&d);
        for (uint32_t n = 1 + rnd(8); n > 0; n--) {
            damage(m);
        }
        int r = module_verify(m, &d);
        assert_true((r == 0) == (d.errors == 0));
        refused += r != 0;
        arena_free(m->mem);
    }
    assert_true(refused > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups),
        cmocka_unit_test(verifier_finds),
        cmocka_unit_test(verifier_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
