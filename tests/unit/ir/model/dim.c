/* Symbolic dimensions: spellings that exporters use, canonical forms, arithmetic against direct
 * evaluation on random expressions, bounds. */
#include "ir/ir.h"
#include "ir/model/dim_poly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct module *m;

static int setup(void **state)
{
    static struct diag d;
    (void)state;
    m = module_new(NULL, &d);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(m->mem);
    return 0;
}

static const char *canonical(const char *text)
{
    return dim_text(m, dim_parse(m, text), m->mem);
}

static void spellings(void **state)
{
    static const struct {
        const char *text, *want;
    } row[] = {
        {"sequence", "sequence"},
        {"Addlast_hidden_state_dim_0", "Addlast_hidden_state_dim_0"},
        {"unk__653", "unk__653"},
        {"s6", "s6"},
        {"past_sequence + sequence", "past_sequence + sequence"},
        {"sequence + past_sequence", "past_sequence + sequence"},
        {"sequence+past_sequence", "past_sequence + sequence"},
        {"2*batch*sequence", "2*batch*sequence"},
        {"sequence*batch*2", "2*batch*sequence"},
        {"((batch*total_sequence)//batch)", "total_sequence"},
        {"inputs_input_ids_dim0*(inputs_attention_mask_dim1 - 1)",
         "inputs_attention_mask_dim1*inputs_input_ids_dim0 - inputs_input_ids_dim0"},
        {"floor(h/2)", "(h//2)"},
        {"h//2", "(h//2)"},
        {"floor(h/2 - 1/2) + 1", "((h + 1)//2)"},
        {"(h - 1)//2 + 1", "((h + 1)//2)"},
        {"floor(0.5*h)", "(h//2)"},
        {"ceil(h/2)", "-(h//2) + h"},
        {"FloorDiv(h, 2)", "(h//2)"},
        {"Mod(h, 4)", "-4*(h//4) + h"},
        {"h % 4", "-4*(h//4) + h"},
        {"(4*h)//8", "(h//2)"},
        {"(6*h + 3)//6", "h"},
        {"h//-2", "(h//2) - h"},
        {"Min(512, sequence)", "Min(512, sequence)"},
        {"Min(sequence, 512)", "Min(512, sequence)"},
        {"Max(h, h + 1)", "h + 1"},
        {"Min(3, 2, 7)", "2"},
        {"a*(b + c) - a*b", "a*c"},
        {"a - a", "0"},
        {"(a + b)**2", "a*a + 2*a*b + b*b"},
        {"a**0", "1"},
        {"a**1", "a"},
        {"7", "7"},
        {"3*4 - 2", "10"},
        {"h/2", "(h//2)"},
        {"(2*h)/2", "h"},
        {"--a", "a"},
        {"", "?"},
        {"-1", "?"},
        /* opaque names */
        {"foo bar", "'foo bar'"},
        {"'foo bar'", "'foo bar'"},
        {"a/b", "'a/b'"},
        {"it's", "'it''s'"},
        {"floor(a", "'floor(a'"},
        {"3d_points", "'3d_points'"},
        {"sqrt(h)", "'sqrt(h)'"},
        {"a +", "'a +'"},
        {"a**", "'a**'"},
        {"a**b", "'a**b'"},
        {"a**12", "'a**12'"},
        {"1/0", "'1/0'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_string_equal(canonical(row[i].text), row[i].want);
        assert_string_equal(canonical(row[i].want[0] == '?' ? "" : row[i].want), row[i].want);
    }
    assert_true(dim_same(dim_parse(m, "a + b"), dim_parse(m, "b + a")));
    assert_false(dim_same(dim_parse(m, "a"), dim_parse(m, "b")));
    assert_false(dim_same(dim_unknown(), dim_unknown()));
}

static void arithmetic(void **state)
{
    struct dim a = dim_parse(m, "a"), b = dim_parse(m, "b"), u = dim_unknown();
    struct dim odd = dim_parse(m, "foo bar");
    (void)state;
    assert_string_equal(dim_text(m, dim_add(m, b, a), m->mem), "a + b");
    assert_string_equal(dim_text(m, dim_add(m, dim_num(3), a), m->mem), "a + 3");
    assert_string_equal(dim_text(m, dim_sub(m, a, dim_num(3)), m->mem), "a - 3");
    assert_string_equal(dim_text(m, dim_mul(m, dim_num(3), dim_mul(m, b, a)), m->mem), "3*a*b");
    assert_true(dim_same(dim_div(m, dim_mul(m, a, b), b), a));
    assert_true(dim_same(dim_sub(m, dim_add(m, a, b), b), a));
    assert_true(dim_same(dim_add(m, a, dim_num(0)), a));
    assert_int_equal(dim_mul(m, a, dim_num(0)).value, 0);
    assert_int_equal(dim_div(m, dim_num(7), dim_num(2)).value, 3);
    assert_int_equal(dim_sub(m, a, a).value, 0);
    assert_false(dim_known(dim_div(m, a, dim_num(0))));
    assert_false(dim_known(dim_sub(m, dim_num(1), dim_num(2))));
    assert_false(dim_known(dim_mul(m, dim_num(INT64_MAX), dim_num(2))));
    assert_false(dim_known(dim_mul(m, dim_mul(m, a, dim_num(INT64_MAX)), dim_num(2))));
    assert_false(dim_known(dim_add(m, a, u)));
    assert_string_equal(dim_text(m, dim_add(m, odd, dim_num(1)), m->mem), "'foo bar' + 1");
    assert_true(dim_same(dim_sub(m, dim_add(m, odd, dim_num(1)), dim_num(1)), odd));
}

struct seen {
    char text[256];
};

static void note(void *user, const char *name)
{
    struct seen *s = user;
    size_t at = strlen(s->text);
    snprintf(s->text + at, sizeof s->text - at, "%s;", name);
}

static int64_t value_of(void *user, const char *name)
{
    const int64_t *v = user; /* a, b, c, d; "foo bar" */
    if (strcmp(name, "foo bar") == 0)
        return 5;
    return name[1] == 0 && name[0] >= 'a' && name[0] <= 'd' ? v[name[0] - 'a'] : -1;
}

static void names_and_values(void **state)
{
    int64_t v[4] = {3, 4, 5, 6};
    struct seen s = {{0}};
    (void)state;
    dim_names(m, dim_parse(m, "a*(b + a) + (c//2) + 'foo bar' + Min(d, 3)"), note, &s);
    assert_non_null(strstr(s.text, "a;"));
    assert_non_null(strstr(s.text, "b;"));
    assert_non_null(strstr(s.text, "c;"));
    assert_non_null(strstr(s.text, "d;"));
    assert_non_null(strstr(s.text, "foo bar;"));
    assert_int_equal(strlen(s.text), strlen("a;b;c;d;foo bar;")); /* each once */
    assert_int_equal(
        dim_eval(m, dim_parse(m, "a*(b + a) + (c//2) + 'foo bar' + Min(d, 3)"), value_of, v),
        3 * 7 + 2 + 5 + 3);
    assert_int_equal(dim_eval(m, dim_parse(m, "foo bar"), value_of, v), 5);
    assert_int_equal(dim_eval(m, dim_parse(m, "a + z"), value_of, v), -1);
    assert_int_equal(dim_eval(m, dim_parse(m, "a - b"), value_of, v), -1);
    assert_int_equal(dim_eval(m, dim_parse(m, "a//(b - 4)"), value_of, v), -1);
    assert_int_equal(dim_eval(m, dim_num(9), value_of, v), 9);
    assert_int_equal(dim_eval(m, dim_unknown(), value_of, v), -1);
}

enum { EXPRESSION = 400 };

static uint64_t seed = 1;

static uint32_t rnd(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % below);
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void print(char *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void print(char *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(out, EXPRESSION, fmt, ap);
    va_end(ap);
    assert_true(n > 0 && n < EXPRESSION);
}

/* A random expression as text, in EXPRESSION bytes, and its value for v. */
static int64_t expression(char *out, const int64_t *v, int depth)
{
    char a[EXPRESSION], b[EXPRESSION];
    uint32_t kind = depth == 0 ? rnd(2) : rnd(8);
    if (kind == 0) {
        int64_t c = rnd(5);
        print(out, "%d", (int)c);
        return c;
    }
    if (kind == 1) {
        uint32_t k = rnd(4);
        print(out, "%c", (int)('a' + k));
        return v[k];
    }
    int64_t x = expression(a, v, depth - 1), y = expression(b, v, depth - 1);
    switch (kind) {
    case 2:
    case 3:
        print(out, "(%s + %s)", a, b);
        return x + y;
    case 4:
        print(out, "%s * (%s)", a, b);
        return x * y;
    case 5:
        print(out, "(%s-%s)", a, b);
        return x - y;
    case 6: {
        uint32_t c = 1 + rnd(5);
        print(out, "((%s)//%u)", a, c);
        return floor_of(x, c);
    }
    default:
        print(out, "%s(%s, %s)", rnd(2) == 0 ? "Min" : "Max", a, b);
        return out[1] == 'i' ? (x < y ? x : y) : (x > y ? x : y);
    }
}

static void random_expressions(void **state)
{
    (void)state;
    uint32_t known = 0;
    for (int round = 0; round < 20000; round++) {
        int64_t v[4] = {1 + rnd(9), 1 + rnd(9), 1 + rnd(9), 1 + rnd(9)};
        char text[EXPRESSION];
        int64_t want = expression(text, v, 3);
        struct dim d = dim_parse(m, text);
        if (!dim_known(d))
            continue;
        known++;
        int64_t got = dim_eval(m, d, value_of, v);
        if (got != (want < 0 ? -1 : want))
            fail_msg("%s = %s: %lld, expected %lld", text, dim_text(m, d, m->mem), (long long)got,
                     (long long)want);
        if (d.sym != 0)
            assert_string_equal(canonical(module_str(m, d.sym)), module_str(m, d.sym));
    }
    assert_true(known > 10000);
}

static bool min_of(const char *b, const char *a)
{
    return dim_is_min_of(m, dim_parse(m, b), dim_parse(m, a));
}

static void minima(void **state)
{
    (void)state;
    assert_true(min_of("Min(a, b)", "a"));
    assert_true(min_of("Min(a, b)", "b"));
    assert_true(min_of("Min(512, b)", "512"));
    assert_false(min_of("Min(a, b)", "c"));
    assert_false(min_of("Min(512, b)", "12"));
    assert_false(min_of("Min(a, b) + 3", "a")); /* a sum, no minimum */
    assert_false(min_of("Min(a, b) + Min(c, d)", "d"));
    assert_false(min_of("Min(a, bc)", "c"));
    assert_false(min_of("Min(ab, c)", "a"));
    assert_false(min_of("Min(a, b)", "a, b"));
    assert_false(min_of("a", "a"));
    assert_false(min_of("512", "512"));
    assert_true(min_of("Min((a + b)//2, c)", "c")); /* the first ')' is not the last */
    assert_true(min_of("Min(Max(a, b), c)", "Max(a, b)"));
    assert_false(min_of("Min((a + b)//2, c)*3", "c"));
    struct dim least = dim_min(m, dim_num(512), dim_parse(m, "Min(512, b)"));
    assert_string_equal(dim_text(m, least, m->mem), "Min(512, b)");
}

/* What a coefficient cannot hold is said not to fit. */
static void overflows(void **state)
{
    struct poly least = poly_const(INT64_MIN), most = poly_const(INT64_MAX), one = poly_const(1);
    struct poly minus = poly_const(-1), half = poly_const(INT64_C(1) << 62), out;
    int64_t v = 0;
    (void)state;
    assert_false(poly_div_exact(m, &least, &minus, &out));
    assert_true(poly_div_exact(m, &most, &minus, &out) && poly_is_const(&out, &v));
    assert_true(v == -INT64_MAX);
    assert_false(poly_add(m, &most, &one, 1, &out));
    assert_false(poly_add(m, &least, &one, -1, &out));
    assert_false(poly_add(m, &one, &half, 2, &out));
    assert_false(poly_mul(m, &half, &half, &out));
    assert_false(poly_mul(m, &least, &minus, &out));
    assert_true(poly_add(m, &half, &half, -2, &out) && poly_is_const(&out, &v));
    assert_true(v == -(INT64_C(1) << 62));
    assert_false(poly_floor_div(m, &least, &minus, &out));
    assert_false(poly_floor_div(m, &one, &least, &out));
    /* no result has a coefficient without a negative, by which a remainder could overflow */
    assert_false(poly_add(m, &minus, &most, -1, &out));
    assert_false(dim_known(dim_parse(m, "(-a - 9223372036854775807*b - b)*1")));
}

/* Returns what a = b says of a name, as text; "" if it says nothing. */
static const char *solved(const char *a, const char *b, const char *name)
{
    struct dim is;
    bool found = dim_solve(m, dim_parse(m, a), dim_parse(m, b), name, &is);
    return found ? dim_text(m, is, m->mem) : "";
}

static void equations(void **state)
{
    static const struct {
        const char *a, *b, *name, *is;
    } row[] = {
        {"past + sequence", "total", "total", "past + sequence"},
        {"past + sequence", "total", "past", "-sequence + total"},
        {"past + sequence", "total", "batch", ""},
        {"batch*past + batch*sequence", "batch*total", "total", "past + sequence"},
        {"a*z + c*z", "b", "a", ""}, /* z divides the first and the last term alone */
        {"2*width", "6*heads", "width", "3*heads"},
        {"2*width", "6*heads", "heads", ""},
        {"size*size", "9", "size", ""},
        {"size", "size//2 + 4", "size", ""}, /* it is in the division, too */
        {"a", "a", "a", ""},
        {"'a b' + 1", "c", "a b", "c - 1"},
        {"8", "width", "width", "8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_string_equal(solved(row[i].a, row[i].b, row[i].name), row[i].is);
}

/* For dim_replace(): "total" is past + sequence, "two" is 2, other names stay. */
static struct dim meaning(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "total") == 0 ? dim_parse(m, "past + sequence")
           : strcmp(name, "two") == 0 ? dim_num(2)
                                      : dim_unknown();
}

static const char *replaced(const char *text)
{
    return dim_text(m, dim_replace(m, dim_parse(m, text), meaning, NULL), m->mem);
}

static void replacing(void **state)
{
    struct dim a = dim_parse(m, "past + 3"), b = dim_parse(m, "past + sequence - 4");
    (void)state;
    assert_string_equal(replaced("two*total - past"), "past + 2*sequence");
    assert_string_equal(replaced("total//two"), "((past + sequence)//2)");
    assert_string_equal(replaced("two + 3"), "5");
    assert_string_equal(replaced("batch"), "batch");
    assert_string_equal(replaced("7"), "7");
    assert_false(dim_known(dim_replace(m, dim_unknown(), meaning, NULL)));
    dim_balance(m, &a, &b);
    assert_true((strcmp(dim_text(m, a, m->mem), "7") == 0 &&
                 strcmp(dim_text(m, b, m->mem), "sequence") == 0));
    assert_true(dim_is_symbol(m, dim_parse(m, "past")));
    assert_true(dim_is_symbol(m, dim_parse(m, "'it''s one'")));
    assert_false(dim_is_symbol(m, dim_parse(m, "past + 1")));
    assert_false(dim_is_symbol(m, dim_parse(m, "'a b' + 'c d'")));
    assert_false(dim_is_symbol(m, dim_num(3)));
    assert_false(dim_is_symbol(m, dim_unknown()));
}

static void bounds(void **state)
{
    char text[20000] = "";
    size_t at = 0;
    (void)state;
    for (int i = 0; i < 20; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%sx%d", i > 0 ? " + " : "", i);
    assert_false(dim_known(dim_parse(m, text))); /* 20 terms */
    memset(text, '(', 100);
    memcpy(text + 100, "a", 2);
    memset(text + 101, ')', 100);
    text[201] = 0;
    assert_false(dim_known(dim_parse(m, text))); /* 100 levels */
    memset(text, '-', 10000);
    memcpy(text + 10000, "a", 2);
    assert_string_equal(canonical(text), "a"); /* signs are no nesting */
    assert_false(dim_known(dim_parse(m, "a*a*a*a*a*a*a*a*a")));
    assert_false(dim_known(dim_parse(m, "99999999999999999999*a")));
    memset(text, 'x', 9000);
    memcpy(text + 9000, " y", 3);
    assert_false(dim_known(dim_parse(m, text))); /* an opaque name that is too long */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),        cmocka_unit_test(arithmetic),
        cmocka_unit_test(names_and_values), cmocka_unit_test(random_expressions),
        cmocka_unit_test(minima),           cmocka_unit_test(overflows),
        cmocka_unit_test(bounds),           cmocka_unit_test(equations),
        cmocka_unit_test(replacing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
