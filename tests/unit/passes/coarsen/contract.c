/* Rules of contract on random graphs of the operators they look for: the classes of qdq=first and of
 * norm, each alone, never close a cycle; with qdq=all some do. */
#include "passes/coarsen/norm_groups.h"
#include "passes/pipeline.h"
#include "passes/coarsen/qdq_groups.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 1500, NODES = 60 };

/* A random operand: mostly one of the last few values. */
static uint32_t operand(uint64_t *state, uint32_t n)
{
    uint32_t back = test_below(state, 4) ? test_below(state, 6) : test_below(state, n + 1);
    return n > back ? n - back : 0;
}

static void unary(FILE *f, const char *op, uint32_t *n, uint32_t u)
{
    fprintf(f, "  %%v%u = %s(%%v%u) : f32[4] !time=1us\n", ++*n, op, u);
}

static void binary(FILE *f, const char *op, uint32_t *n, uint32_t u, uint32_t v)
{
    fprintf(f, "  %%v%u = %s(%%v%u, %%v%u) : f32[4] !time=1us\n", ++*n, op, u, v);
}

static void scaled(FILE *f, const char *op, uint32_t *n, uint32_t u)
{
    fprintf(f, "  %%v%u = %s(%%v%u, %%s) : f32[4] !time=1us\n", ++*n, op, u);
}

static void gelu(FILE *f, uint32_t *n, uint32_t x)
{
    scaled(f, "Div", n, x);
    unary(f, "Erf", n, *n);
    scaled(f, "Add", n, *n);
    binary(f, "Mul", n, *n, x);
}

static void softmax(FILE *f, uint32_t *n, uint32_t x)
{
    unary(f, "Exp", n, x);
    unary(f, "ReduceSum", n, *n);
    binary(f, "Div", n, *n - 1, *n);
}

static void layer_norm(FILE *f, uint32_t *n, uint32_t x)
{
    unary(f, "ReduceMean", n, x);
    binary(f, "Sub", n, x, *n);
    uint32_t d = *n;
    binary(f, "Mul", n, d, d);
    unary(f, "ReduceMean", n, *n);
    unary(f, "Sqrt", n, *n);
    binary(f, "Div", n, d, *n);
}

/* Nodes v1, v2, ... on a model input v0: quantised operators, or chains with operators that read what
 * lies inside them.  All of them are model outputs. */
static char *random_text(uint64_t *state, bool quantised, size_t *size)
{
    static void (*const problem[])(FILE *, uint32_t *, uint32_t) = {gelu, softmax, layer_norm};
    static const char *const one[] = {"QuantizeLinear", "DequantizeLinear", "Relu", "Shape"};
    static const char *const two[] = {"QuantizeLinear", "DequantizeLinear", "Add"};
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    uint32_t n = 0;
    fputs("class acc x2\ngraph {\n  init %s : f32[] = [0.5]\n  in %v0 : f32[4]\n", f);
    while (n < NODES) {
        uint32_t u = operand(state, n), v = operand(state, n), kind = test_below(state, 3);
        if (!quantised && kind)
            problem[test_below(state, 3)](f, &n, u);
        else if (!quantised)
            binary(f, "Add", &n, u, v);
        else if (kind == 0)
            binary(f, two[test_below(state, 3)], &n, u, v);
        else if (kind == 1)
            scaled(f, two[test_below(state, 3)], &n, u);
        else
            unary(f, one[test_below(state, 4)], &n, u);
    }
    for (uint32_t v = 1; v <= n; v++)
        fprintf(f, "%s%%v%u", v > 1 ? ", " : "  out ", v);
    fputs("\n}\n", f);
    fclose(f);
    return text;
}

enum rule { FIRST, ALL, NORM };

struct tally {
    uint32_t joined, cycles;
};

static void join(const char *text, size_t size, enum rule rule, struct tally *t)
{
    struct diag d = {0};
    struct text_module in;
    struct pipeline pipe = {0};
    struct run_options none = {0};
    assert_int_equal(module_parse(&in, &(struct named_text){"random", text, size, NULL}, NULL, &d),
                     0);
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = &d,
                    .scene = in.scene};
    assert_int_equal(pipeline_parse(&pipe, "cost", x.use.mem, &d), 0);
    assert_int_equal(pipeline_run(&pipe, &x, &none) || ctx_base(&x), 0);
    struct classes c = classes_new(x.use.mem, x.levels.base->n);
    uint8_t *follows = arena_alloc(x.use.mem, x.levels.base->n);
    uint32_t *group = arena_array(x.use.mem, x.levels.base->n, sizeof *group);
    t->joined += rule == NORM ? norms_join(&x, &c) : qdq_join(&x, rule == ALL, &c, follows);
    uint32_t n = classes_number(&c, group);
    uint32_t left = wdag_join_cycles(x.levels.base, NULL, group, n);
    t->cycles += left < n;
    assert_int_equal(d.errors, 0);
    arena_free(x.use.scratch);
    arena_free(x.use.mem);
    arena_free(in.scene.m->mem);
}

static void test_quantised(void **state)
{
    uint64_t random = 1;
    struct tally first = {0}, all = {0};
    (void)state;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        size_t size;
        char *text = random_text(&random, true, &size);
        join(text, size, FIRST, &first);
        join(text, size, ALL, &all);
        free(text);
    }
    assert_true(first.joined > ROUNDS && all.cycles > 0);
    assert_int_equal(first.cycles, 0);
}

static void test_normalisations(void **state)
{
    uint64_t random = 2;
    struct tally t = {0};
    (void)state;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        size_t size;
        char *text = random_text(&random, false, &size);
        join(text, size, NORM, &t);
        free(text);
    }
    assert_true(t.joined > ROUNDS);
    assert_int_equal(t.cycles, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quantised),
                                       cmocka_unit_test(test_normalisations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
