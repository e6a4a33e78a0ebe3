/* Lookups on a module with a body, the verifier on sound and broken modules, and the bytes of tensors. */
#include "ir/base/strings.h"
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

/* One way to break the sample each, and the message that it must cause; NULL: not one of these. */
static const char *plant_relation(struct module *m, int k)
{
    struct node *add = &m->node[1], *iff = &m->node[2], *mul = &m->node[3];

    switch (k) {
    case 0:
        m->arg[add->in.at] = 99;
        return "operand list entry 1: its value is 99, expected less than 7|";
    case 1:
        m->arg[add->in.at] = Y;
        return "graph 1: 'add' (node 1) reads value 'y' of node 2, which comes later|";
    case 2:
        m->arg[add->in.at] = A;
        return "graph 1: 'add' (node 1) reads value 'a' of node 1, which comes later|";
    case 3:
        m->arg[add->in.at] = B;
        return "graph 1: 'add' reads value 5 'b' of graph 2, which is no operand of node 0|";
    case 4:
        iff->in.n = 2;
        return "graph 2: 'mul' reads value 1 'x' of graph 1, which is no operand of node 2|";
    case 5:
        m->value[A].def = 3;
        return "value 4 'a' is not result 0 of node 3 'mul'|"
               "value 4 'a' of graph 1 is defined in graph 2|"
               "node 1 'add': result 0 is value 4 'a', defined as result 0 of node 3|"
               "graph 1: 'if' (node 2) reads value 'a' of node 3, which comes later|";
    case 6:
        m->value[A].flags = VALUE_INPUT;
        return "value 4 'a' is marked, but not among the inputs of graph 1|"
               "value 4 'a' is defined by node 1, and an input or initializer, too|";
    case 7:
        m->arg[mul->out.at] = A;
        return "value 5 'b' is not result 0 of node 3 'mul'|"
               "node 3 'mul': result 0 is value 4 'a', defined as result 0 of node 1|";
    case 8:
        add->in.at = UINT32_MAX;
        return "node 1: its operands is [4294967295, 4294967295 + 2) of a pool of 16|";
    case 9:
        add->in.n = UINT32_MAX;
        return "node 1: its operands is [1, 1 + 4294967295) of a pool of 16|"
               "node 1 'add' has captures, but no body|";
    case 10:
        add->name = mul->name;
        return "nodes 1 and 3 are both called 'mul'|";
    case 11:
        add->name = 0;
        return "node 1: name 0, expected 1 to 15|";
    case 12:
        add->graph = 2;
        return "node 1 'add' is outside graph 2, which has nodes [3, 3 + 1)|"
               "graph 1: 2 nodes in its range, 1 of them are its own|"
               "value 4 'a' of graph 1 is defined in graph 2|"
               "graph 2: 'add' reads value 3 'w' of graph 1, which is no operand of node 2|";
    case 13:
        m->graph[1].count = 3;
        return "graph 1: 3 nodes in its range, 2 of them are its own|";
    case 14:
        m->graph[2].owner = 3;
        return "node 2 'if' has graph 2 as a body, whose owner is node 3|"
               "graph 2: 0 attributes of its owner 'mul' refer to it, expected 1|"
               "graph 2 is inside itself|";
    case 15:
        m->graph[2].owner = 0;
        return "node 2 'if' has graph 2 as a body, whose owner is node 0|"
               "graph 2: owner 0, expected a node|"
               "graph 2: 'mul' reads value 4 'a' of graph 1, which is no operand of node 0|"
               "graph 2: 'mul' reads value 1 'x' of graph 1, which is no operand of node 0|";
    case 16:
        iff->attr.n = 0;
        return "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 17:
        m->value[X].flags = 0;
        return "graph 1: value 1 'x' is among its inputs, but not marked so|"
               "value 1 'x' has no definition|"
               "graph 1: 'add' reads 'x', which no node makes|graph 1: 'if' reads 'x', which no node makes|"
               "graph 2: 'mul' reads 'x', which no node makes|";
    case 18:
        m->value[A].flags = VALUE_OUTPUT;
        return "value 4 'a' is marked, but not among the outputs of graph 1|";
    case 19:
        m->value[W].flags = 0;
        return "graph 1: value 3 'w' is among its initializers, but not marked so|"
               "value 3 'w' has a tensor, but is no initializer|"
               "value 3 'w' has no definition|"
               "graph 1: 'add' reads 'w', which no node makes|";
    case 20:
        m->value[A].name = m->value[X].name;
        return "values 1 and 4 of graph 1 are both called 'x'|";
    case 21:
        m->value[A].name = 0;
        return "value 4 '': no name|";
    case 22:
        m->value[X].type = m->ntype;
        return "value 1: its type is 2, expected less than 2|";
    case 23:
        m->value[W].tensor = m->ntensor;
        return "value 3: its tensor is 2, expected less than 2|";
    case 24:
        m->tensor[1].len = 15;
        return "tensor 1 't': 15 bytes, expected 16|";
    case 25:
        m->tensor[1].rank = m->nints;
        return "tensor 1: its shape is [1, 1 + 2) of a pool of 2|";
    case 26:
        m->type[1].dim = m->ndim;
        return "type 1: its dimensions is [2, 2 + 1) of a pool of 2|";
    case 27:
        m->type[1].kind = TYPE_SEQ;
        m->type[1].inner = 1;
        return "type 1 contains itself|";
    case 28:
        m->value[A].graph = 2;
        return "value 4 'a' of graph 2 is defined in graph 1|"
               "graph 1: 'if' reads value 4 'a' of graph 2, which is no operand of node 0|";
    case 29:
        m->value[A].flags = VALUE_LOST;
        m->value[A].name = 0;
        return "graph 1: 'if' reads value 4, which is lost|"
               "graph 2: 'mul' reads value 4, which is lost|";
    case 30:
        m->attr[1].u.g = m->ngraph;
        return "attribute 1: its graph is 3, expected less than 3|"
               "node 2 'if': body 3, expected a graph|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 31:
        iff->nformal = 4;
        return "node 2 'if': 4 formal operands of 3|";
    case 32:
        m->dim[1].sym = 1;
        return "dimension 1: 4 with symbol 1, expected a number or a symbol|";
    case 33:
        m->arg[m->graph[1].in.at + 1] = X;
        return "value 1 'x' is 2 times among the inputs of graph 1|"
               "value 2 'cond' is marked, but not among the inputs of graph 1|";
    default:
        return NULL;
    }
}

static const char *plant_number(struct module *m, int k)
{
    struct node *add = &m->node[1];

    switch (k) {
    case 34:
        m->tensor[1].where = TENSOR_FILE;
        return "tensor 1 't': bytes 0 + 16 are outside its file|";
    case 35:
        m->value[X].flags = 0;
        m->graph[1].in.n = 0;
        return "value 2 'cond' is marked, but not among the inputs of graph 1|"
               "value 1 'x' has no definition|"
               "graph 1: 'add' reads 'x', which no node makes|graph 1: 'if' reads 'x', which no node makes|"
               "graph 2: 'mul' reads 'x', which no node makes|";
    case 36:
        m->attr[1].kind = ATTR_GRAPHS;
        m->attr[1].u.list.n = 5;
        return "attribute 1: its list is [2, 2 + 5) of a pool of 1|"
               "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 37:
        m->graph[1].owner = 1;
        return "graph 1: owner 1, expected none|"
               "graph 1 is inside itself|";
    case 38:
        m->arg[add->in.at] = m->nval;
        return "operand list entry 1: its value is 7, expected less than 7|";
    case 39:
        m->arg[add->out.at] = m->nval;
        return "operand list entry 3: its value is 7, expected less than 7|"
               "value 4 'a' is not result 0 of node 1 'add'|";
    case 40:
        m->value[A].graph = 0;
        return "value 4 'a': graph 0, expected 1 to 2|"
               "value 4 'a' of graph 0 is defined in graph 1|"
               "graph 1: 'if' reads value 4 'a' of graph 0, which is no operand of node 0|";
    case 41:
        m->value[A].graph = m->ngraph;
        return "value 4 'a': graph 3, expected 1 to 2|"
               "value 4 'a' of graph 3 is defined in graph 1|"
               "graph 1: 'if' reads value 4 'a' of graph 3, which is no operand of node 0|";
    case 42:
        add->graph = 0;
        return "node 1 'add': graph 0, expected 1 to 2|"
               "graph 1: 2 nodes in its range, 1 of them are its own|"
               "value 4 'a' of graph 1 is defined in graph 0|";
    case 43:
        add->graph = m->ngraph;
        return "node 1 'add': graph 3, expected 1 to 2|"
               "graph 1: 2 nodes in its range, 1 of them are its own|"
               "value 4 'a' of graph 1 is defined in graph 3|";
    case 44:
        m->graph[2].owner = 1;
        return "node 2 'if' has graph 2 as a body, whose owner is node 1|"
               "graph 2: 0 attributes of its owner 'add' refer to it, expected 1|"
               "graph 2: 'mul' reads value 4 'a' of graph 1, which is no operand of node 1|";
    case 45:
        m->graph[2].owner = m->nnode;
        return "node 2 'if' has graph 2 as a body, whose owner is node 4|"
               "graph 2: owner 4, expected a node|"
               "graph 2: 'mul' reads value 4 'a' of graph 1, which is no operand of node 4|"
               "graph 2: 'mul' reads value 1 'x' of graph 1, which is no operand of node 4|";
    case 46:
        m->attr[1].u.g = 0;
        return "node 2 'if': body 0, expected a graph|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 47:
        m->attr[1].kind = ATTR_INT;
        return "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 48:
        m->value[A].flags = VALUE_LOST;
        return "value 4 'a': lost, yet named|"
               "graph 1: 'if' reads value 4, which is lost|"
               "graph 2: 'mul' reads value 4, which is lost|";
    case 49:
        m->value[X].tensor = 1;
        return "value 1 'x' has a tensor, but is no initializer|";
    case 50:
        m->value[A].def = m->nnode;
        return "value 4: its definition is 4, expected less than 4|"
               "node 1 'add': result 0 is value 4 'a', defined as result 0 of node 4|"
               "graph 1: 'if' (node 2) reads value 'a' of node 4, which comes later|";
    case 51:
        m->value[A].outno = 1;
        return "value 4 'a' is not result 1 of node 1 'add'|"
               "node 1 'add': result 0 is value 4 'a', defined as result 1 of node 1|";
    case 52:
        m->arg[m->graph[1].in.at] = 0;
        return "graph 1: entry 0 of its inputs is none|"
               "value 1 'x' is marked, but not among the inputs of graph 1|";
    case 53:
        m->arg[m->graph[1].out.at] = W;
        return "graph 1: value 3 'w' is among its outputs, but not marked so|"
               "value 6 'y' is marked, but not among the outputs of graph 1|";
    case 54:
        m->graph[1].in.at = m->narg - 1;
        return "graph 1: inputs is [15, 15 + 2) of a pool of 16|"
               "value 1 'x' is marked, but not among the inputs of graph 1|"
               "value 2 'cond' is marked, but not among the inputs of graph 1|";
    case 55:
        m->value[X].name = strings_count(m->str);
        return "value 1: its name is 16, expected less than 16|";
    case 56:
        add->name = strings_count(m->str);
        return "node 1: name 16, expected 1 to 15|";
    case 57:
        add->op = strings_count(m->str);
        return "node 1: its operator is 16, expected less than 16|";
    case 58:
        add->domain = strings_count(m->str);
        return "node 1: its domain is 16, expected less than 16|";
    case 59:
        add->overload = strings_count(m->str);
        return "node 1: its overload is 16, expected less than 16|";
    case 60:
        add->callee = 1;
        return "node 1: the function that it calls is 1, expected less than 0|";
    default:
        return NULL;
    }
}

static const char *plant_range(struct module *m, int k)
{
    struct node *add = &m->node[1], *iff = &m->node[2];

    switch (k) {
    case 61:
        add->out.at = m->narg;
        return "node 1: its results is [16, 16 + 1) of a pool of 16|"
               "value 4 'a' is not result 0 of node 1 'add'|";
    case 62:
        iff->attr.at = m->nattr;
        return "node 2: its attributes is [2, 2 + 1) of a pool of 2|"
               "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 63:
        m->tensor[1].elem = ELEM_COUNT;
        return "tensor 1: its element type is 27, expected less than 27|"
               "tensor 1 't': 16 bytes, expected 0|";
    case 64:
        m->tensor[1].where = TENSOR_OPAQUE + 1;
        return "tensor 1: its storage is 6, expected less than 6|";
    case 65:
        m->tensor[1].where = TENSOR_STRINGS;
        m->tensor[1].off = 1;
        m->tensor[1].len = m->nsids;
        return "tensor 1 't': its strings are outside the pool of 1|";
    case 66:
        m->tensor[1].where = TENSOR_STRINGS;
        m->tensor[1].len = m->nsids + 1;
        return "tensor 1 't': its strings are outside the pool of 1|";
    case 67:
        m->tensor[1].where = TENSOR_FILE;
        m->tensor[1].file = m->nfile;
        return "tensor 1: its file is 1, expected less than 1|";
    case 68:
        m->ints[m->tensor[1].dim] = -1;
        return "tensor 1 't': dimension 0 is -1|";
    case 69:
        m->type[1].kind = TYPE_OPAQUE + 1;
        return "type 1: kind 7, element type 1 or rank 1 is not known|";
    case 70:
        m->type[1].elem = ELEM_COUNT;
        return "type 1: kind 1, element type 27 or rank 1 is not known|";
    case 71:
        m->type[1].rank = -2;
        return "type 1: kind 1, element type 1 or rank -2 is not known|";
    case 72:
        m->type[1].kind = TYPE_OPT;
        m->type[1].inner = m->ntype;
        return "type 1: its inner type is 2, expected less than 2|";
    case 73:
        m->dim[1] = (struct dim){-2, 0};
        return "dimension 1: -2 with symbol 0, expected a number or a symbol|";
    case 74:
        m->attr[1].kind = ATTR_TYPES + 1;
        return "attribute 1: its kind is 15, expected less than 15|"
               "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 75:
        m->attr[1].name = strings_count(m->str);
        return "attribute 1: its name is 16, expected less than 16|";
    case 76:
        m->attr[1].ref = strings_count(m->str);
        return "attribute 1: its reference is 16, expected less than 16|"
               "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 77:
        m->attr[1].kind = ATTR_STRING;
        m->attr[1].u.s = strings_count(m->str);
        return "attribute 1: its string is 16, expected less than 16|"
               "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 78:
        m->attr[1].kind = ATTR_SPARSE;
        m->attr[1].u.t = m->ntensor;
        return "attribute 1: its tensor is 2, expected less than 2|"
               "node 2 'if' has captures, but no body|"
               "graph 2: 0 attributes of its owner 'if' refer to it, expected 1|";
    case 79:
        m->opset[0].domain = strings_count(m->str);
        return "opset 0: its domain is 16, expected less than 16|";
    case 80:
        m->path = strings_count(m->str);
        return "module 0: its path is 16, expected less than 16|";
    case 81:
        m->file[0].location = strings_count(m->str);
        return "file 0: its location is 16, expected less than 16|";
    case 82:
        m->ngraph = 1;
        return "the module has no main graph, or an array without its entry 0|";
    default:
        return NULL;
    }
}

/* In what the module says of its one function. */
static const char *plant_function(struct module *m, int k)
{
    uint32_t x = module_add_function(m);
    struct function *f = &m->function[x];
    module_add_graph(f->body);
    switch (k) {
    case 83:
        f->domain = strings_count(m->str);
        return "function 1: its domain is 16, expected less than 16|";
    case 84:
        f->name = strings_count(m->str);
        return "function 1: its name is 16, expected less than 16|";
    case 85:
        f->overload = strings_count(m->str);
        return "function 1: its overload is 16, expected less than 16|";
    case 86:
        f->need.n = 9;
        return "function 1: its attributes is [0, 0 + 9) of a pool of 1|";
    case 87:
        f->give.n = 9;
        return "function 1: its defaults is [0, 0 + 9) of a pool of 1|";
    default:
        return NULL;
    }
}

static const char *plant(struct module *m, int k)
{
    const char *said = plant_relation(m, k);
    said = said ? said : plant_number(m, k);
    said = said ? said : plant_range(m, k);
    return said ? said : plant_function(m, k);
}

/* What the verifier says, without its name, a '|' after each line. */
static int verify_said(const struct module *m, struct diag *d, const struct sink *s, char *out,
                       size_t size)
{
    int rc = module_verify(m, d);

    out[0] = '\0';
    assert_in_range(s->n, 0, 8);
    for (uint32_t i = 0; i < s->n; i++) {
        size_t n = strlen(out);
        snprintf(out + n, size - n, "%s|", s->last[i] + strlen("verify: "));
    }
    return rc;
}

static void verifier_finds(void **state)
{
    int wrong = 0;

    (void)state;
    for (int k = -1;; k++) {
        struct sink s;
        struct diag d = diag_of(&s);
        struct module *m = sample(&d);
        char got[2000];
        const char *want = k < 0 ? "" : plant(m, k);
        if (want == NULL) {
            arena_free(m->mem);
            break;
        }
        int r = verify_said(m, &d, &s, got, sizeof got);
        if (r != (k < 0 ? 0 : -1) || strcmp(got, want) != 0) {
            print_error("planted error %d: %d\ngot:  %s\nwant: %s\n", k, r, got, want);
            wrong++;
        }
        arena_free(m->mem);
    }
    assert_int_equal(wrong, 0);
}

/* At the limits themselves the sample is sound. */
static void verifier_takes_limits(void **state)
{
    struct sink s;
    struct diag d = diag_of(&s);
    struct module *m = sample(&d);

    (void)state;
    m->node[2].domain = m->node[2].overload = m->opset[0].domain = strings_count(m->str) - 1;
    m->node[2].nformal = 3;                      /* as many as there are operands */
    m->graph[2].in = (struct slice){m->narg, 0}; /* empty, at the end of the pool */
    m->node[3].attr = (struct slice){m->nattr, 0};
    m->tensor[1].where = TENSOR_STRINGS;
    m->tensor[1].len = m->nsids;
    m->tensor[1].off = 0;
    m->type[1].rank = -1;
    m->dim[1] = (struct dim){-1, strings_count(m->str) - 1};
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(d.errors, 0);
    arena_free(m->mem);
}

/* Bytes of tensors: what is asked for lies in the tensor, and the tensor where it says. */
static void tensors_read(void **state)
{
    struct sink s;
    struct diag d = diag_of(&s);
    struct module *m = sample(&d);
    unsigned char buf[32] = {0};
    FILE *f = tmpfile();
    struct tensor *t = &m->tensor[1];

    (void)state;
    assert_int_equal(tensor_read(m, 1, 15, buf, 1), 0);
    assert_int_equal(tensor_read(m, 1, 16, buf, 0), 0);
    assert_int_equal(tensor_read(m, 1, 15, buf, 2), -1);
    assert_string_equal(s.last[0], "sample: tensor 't' has 16 bytes, 2 at 15 were wanted");
    assert_int_equal(tensor_read(m, 1, 17, buf, 0), -1);
    assert_string_equal(s.last[1], "sample: tensor 't' has 16 bytes, 0 at 17 were wanted");
    assert_int_equal(tensor_read(m, 0, 0, buf, 1), -1);
    assert_string_equal(s.last[2], "sample: there is no tensor 0");
    assert_int_equal(tensor_read(m, m->ntensor, 0, buf, 1), -1);
    assert_string_equal(s.last[3], "sample: there is no tensor 2");
    t->data = NULL;
    assert_int_equal(tensor_read(m, 1, 0, buf, 1), -1);
    assert_string_equal(s.last[4], "sample: the bytes of tensor 't' are not here");
    t->where = TENSOR_STRINGS;
    assert_int_equal(tensor_read(m, 1, 0, buf, 1), -1);
    assert_string_equal(s.last[5], "sample: tensor 't' has no bytes to read (strings or sparse)");
    t->where = TENSOR_FILE;
    assert_int_equal(tensor_read(m, 1, 0, buf, 1), -1);
    assert_string_equal(s.last[6], "sample: tensor 't' names no file");
    t->file = module_add_file(m);
    m->file[t->file].path = str_id(m, "w.bin");
    m->file[t->file].fd = -1;
    assert_int_equal(tensor_read(m, 1, 0, buf, 1), -1);
    assert_string_equal(s.last[7], "sample: tensor 't' needs the file 'w.bin', which is not there");
    assert_non_null(f);
    assert_int_equal(fwrite("0123456789abcdef", 1, 16, f), 16);
    assert_int_equal(fflush(f), 0);
    m->file[t->file].fd = fileno(f);
    t->off = 2;
    assert_int_equal(tensor_read(m, 1, 3, buf, 11), 0);
    assert_memory_equal(buf, "56789abcdef", 11);
    assert_int_equal(tensor_read(m, 1, 3, buf, 12), -1);
    assert_string_equal(s.last[0],
                        "w.bin: cannot read tensor 't' at byte 16: the file ends before");
    t->off = (uint64_t)INT64_MAX;
    assert_int_equal(tensor_read(m, 1, 1, buf, 1), -1);
    assert_string_equal(s.last[1], "sample: tensor 't' starts past the end of 'w.bin'");
    assert_int_equal(tensor_read(m, 1, 0, buf, 1), -1);
    assert_non_null(
        strstr(s.last[2], "w.bin: cannot read tensor 't' at byte 9223372036854775807: "));
    m->file[t->file].fd = -1;
    fclose(f);
    arena_free(m->mem);
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
        cmocka_unit_test(verifier_takes_limits),
        cmocka_unit_test(tensors_read),
        cmocka_unit_test(verifier_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
