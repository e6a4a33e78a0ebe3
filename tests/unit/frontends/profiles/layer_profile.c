/* Profiles of layers: what becomes of a line, of numbers, of layers that are none; what is refused, and where. */
#include "frontends/frontends.h"
#include "ir/base/units.h"
#include "tests/support/kept.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 20000 };

static struct module *parse(const char *text, char *error)
{
    struct diag d = {.emit = keep_error, .user = error};
    error[0] = 0;
    struct module *m = layer_profile_parse("p.txt", text, strlen(text), NULL, &d);
    assert_int_equal(m == NULL, error[0] != 0);
    if (m)
        assert_int_equal(module_verify(m, &d), 0);
    return m;
}

static struct module *read(const char *text)
{
    char error[KEPT];
    struct module *m = parse(text, error);
    if (!m)
        fail_msg("%s", error);
    return m;
}

static nid node_called(const struct module *m, const char *name)
{
    for (nid n = 1; n < m->nnode; n++)
        if (!strcmp(node_name(m, n), name))
            return n;
    fail_msg("no node '%s'", name);
    return 0;
}

#define FIGURES(f, b, a, p)                                                                        \
    "forward_compute_time=" f ", backward_compute_time=" b ", activation_size=" a                  \
    ", parameter_size=" p

#define LINE(id, label, figures) id " -- " label " -- " figures "\n"

/* Milliseconds and bytes, rounded to nearest, of one layer each. */
static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t ps, bytes;
    } row[] = {
        {"0", 0, 0},
        {"1", 1000000000, 1},
        {"0.5", 500000000, 1},
        {"2.49", 2490000000, 2},
        {"1e2", 100000000000, 100},
        {"12.5E-1", 1250000000, 1},
        {"0.0000000005", 1, 0},
        {"0.00000000049999999999999999999999999999999999999999999", 0, 0},
        {"1.0000000004", 1000000000, 1},
        {"003.", 3000000000, 3},
        {".25", 250000000, 0},
        {"1e-400", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[KEPT];
        snprintf(text, sizeof text, "n -- a -- " FIGURES("%s", "0", "%s", "[%s;%s; 1]") "\n",
                 row[i].text, row[i].text, row[i].text, row[i].text);
        struct module *m = read(text);
        nid n = node_called(m, "a");
        assert_int_equal(m->cost->measured[n], row[i].ps);
        assert_int_equal(m->cost->bytes[node_out(m, n, 0)], row[i].bytes);
        assert_int_equal(m->cost->params[n], 2 * row[i].bytes + 1);
        arena_free(m->mem);
    }
}

static void test_graph(void **state)
{
    static const char *const line[] = {
        LINE("x", "Input0", FIGURES("9", "9", "9", "0")),
        LINE("a", "Conv2d(3, 64, bias=True)", FIGURES("1", "2", "100", "7") " -- stage_id=3\r"),
        LINE("b", "Conv2d(64, 64)", FIGURES("3", "4", "[10; 20]", "8")),
        "c -- (odd) -- parameter_size=9, other=x, activation_size=50, ",
        "forward_compute_time=5, backward_compute_time=6\n",
        LINE("r", "__getitem__(1)", FIGURES("0", "0", "1000", "0")),
        LINE("s", "__getitem__(0)", FIGURES("0", "0", "40", "0")),
        "\tx -- a\n a -- b \n\ta -- c\n \n\tb -- c\n",
        "\ta -- b\n\tb -- r\n\tb -- s\n\ts -- c\n",
    };
    char text[KEPT];
    for (size_t i = 0, at = 0; i < sizeof line / sizeof *line; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", line[i]);
    struct module *m = read(text);
    (void)state;
    assert_int_equal(m->graph[1].count, 8); /* four layers: neither x nor r is one */
    nid a = node_called(m, "Conv2d.a"), b = node_called(m, "Conv2d.b"), c = node_called(m, "c");
    nid back = node_called(m, "c/backward");
    assert_int_equal(m->node[b].in.n, 1);
    assert_int_equal(m->node[c].in.n, 3);
    assert_int_equal(m->value[node_in(m, b, 0)].def, a);
    assert_int_equal(m->cost->bytes[node_out(m, b, 0)], 30);
    assert_int_equal(m->cost->own[b], 38);
    assert_int_equal(m->cost->params[c], 9);
    assert_int_equal(m->cost->measured[back], 6000000000);
    /* a gradient of each value that c reads, of its size: a's, b's, s's */
    assert_int_equal(m->node[back].out.n, 3);
    int64_t gradients = 0;
    for (uint32_t i = 0; i < 3; i++)
        gradients += m->cost->bytes[node_out(m, back, i)];
    assert_int_equal(gradients, 100 + 30 + 40);
    assert_int_equal(m->cost->own[back], 9 + gradients);
    assert_true(m->backward[back] && !m->backward[c]);
    assert_int_equal(m->color[back], m->color[c]);
    assert_int_not_equal(m->color[back], m->color[b]);
    arena_free(m->mem);
}

/* Layers that come before what they read are put behind it. */
static void test_order(void **state)
{
    static const char one[] = FIGURES("1", "1", "1", "1");
    char text[KEPT];
    snprintf(text, sizeof text, "z -- z -- %s\ny -- y -- %s\nx -- x -- %s\n\tx -- y\n\ty -- z\n",
             one, one, one);
    struct module *m = read(text);
    (void)state;
    assert_true(node_called(m, "x") < node_called(m, "y"));
    assert_true(node_called(m, "y") < node_called(m, "z"));
    assert_true(node_called(m, "z/backward") < node_called(m, "y/backward"));
    arena_free(m->mem);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *wanted; /* "": taken */
    } row[] = {
        {"", "p.txt: there are no layers in it"},
        {"n -- a\n",
         "p.txt:1: 'n -- a': expected a layer: 'node1 -- name -- forward_compute_time=...'"},
        {"n\n", "p.txt:1: 'n': expected a layer: 'node1 -- name -- forward_compute_time=...'"},
        {"n -- a -- " FIGURES("1", "-1", "1", "1") "\n",
         "p.txt:1: '-1': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1.2.3", "1", "1") "\n",
         "p.txt:1: '1.2.3': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1e", "1", "1") "\n",
         "p.txt:1: '1e': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", ".", "1", "1") "\n",
         "p.txt:1: '.': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "inf", "1", "1") "\n",
         "p.txt:1: 'inf': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1", "3999999999999999999", "1") "\n", ""},
        {"n -- a -- " FIGURES("1", "1", "4000000000000000000", "1") "\n",
         "p.txt:1: '4000000000000000000': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("3999999999", "1", "1", "1") "\n", ""},
        {"n -- a -- " FIGURES("4000000000", "1", "1", "1") "\n",
         "p.txt:1: '4000000000': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1", "", "1") "\n",
         "p.txt:1: '': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1", "[1; 2", "1") "\n",
         "p.txt:1: '[1; 2': expected a list that ends with ']'"},
        {"n -- a -- " FIGURES("1", "1", "1; 2", "1") "\n",
         "p.txt:1: '1; 2': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1", "[]", "1") "\n",
         "p.txt:1: '[]': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- " FIGURES("1", "1", "[1;]", "1") "\n",
         "p.txt:1: '[1;]': expected a number >= 0, or a list of some: [1; 2]"},
        {"n -- a -- forward_compute_time\n",
         "p.txt:1: 'forward_compute_time': expected NAME=NUMBER, as in 'forward_compute_time=0.5'"},
        {"n -- a -- forward_compute_time=1\n", "p.txt:1: layer 'n' has no backward_compute_time"},
        {"n -- a -- backward_compute_time=1, activation_size=1, parameter_size=1\n",
         "p.txt:1: layer 'n' has no forward_compute_time"},
        {"n -- a -- forward_compute_time=1, backward_compute_time=1, parameter_size=1\n",
         "p.txt:1: layer 'n' has no activation_size"},
        {"n -- a -- forward_compute_time=1, backward_compute_time=1, activation_size=1\n",
         "p.txt:1: layer 'n' has no parameter_size"},
        {"n -- a -- " FIGURES("1", "1", "1", "1") "\n\nn -- b -- x\n",
         "p.txt:3: there is a layer 'n' already, in line 1"},
        {"n -- a -- " FIGURES("1", "1", "1", "1") "\n\tn -- m\n",
         "p.txt:2: 'm': expected the id of a layer in a line above"},
        {"n -- a -- " FIGURES("1", "1", "1", "1") "\n\tm -- n\n",
         "p.txt:2: 'm': expected the id of a layer in a line above"},
        {"n -- a -- " FIGURES("1", "1", "1", "1") "\n\tn\n",
         "p.txt:2: 'n': expected an edge: 'node1 -- node2'"},
        {"m -- a -- " FIGURES("1", "1", "1", "1") "\nn -- a -- " FIGURES("1", "1", "1",
                                                                         "1") "\n\tn -- n\n",
         "p.txt:2: layer 'n' is on or behind a cycle of edges"},
        {"n -- Input -- " FIGURES("1", "1", "1", "1") "\n",
         "p.txt: there are no layers in it but inputs"},
        {"n123456789012345678901234567890123456789012345678901234567890\n",
         "p.txt:1: 'n12345678901234567890123456789012345678901234567890123456789': expected a layer: "
         "'node1 -- name -- forward_compute_time=...'"},
    };
    char error[KEPT];
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct module *m = parse(row[i].text, error);
        if (m)
            arena_free(m->mem);
        if (strcmp(error, row[i].wanted) != 0) {
            print_error("%s: '%s', wanted '%s'\n", row[i].text, error, row[i].wanted);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* What a text may hold beside lines: ids with a zero byte are no names; more than 2 GiB are not looked at. */
static void test_bytes(void **state)
{
    static const char zero[] = "n -- a -- " FIGURES("1", "1", "1", "1") "\nm\0 -- a -- x\n";
    char error[KEPT];
    struct diag d = {.emit = keep_error, .user = error};
    (void)state;
    assert_null(layer_profile_parse("p.txt", zero, sizeof zero - 1, NULL, &d));
    assert_string_equal(error, "p.txt:2: the id of a layer cannot hold the byte \\x00");
    assert_null(layer_profile_parse("p.txt", zero, (size_t)INT32_MAX + 1, NULL, &d));
    assert_string_equal(error, "p.txt: a profile of more than 2 GiB");
    /* letters of more than a byte are letters of a name, whether char has a sign or not */
    struct module *m = read("n -- Sch\xc3\xb6n(3) -- " FIGURES("1", "1", "1", "1") "\n");
    node_called(m, "Sch\xc3\xb6n");
    arena_free(m->mem);
}

/* A long chain, names that are all the same, from the last one to the first. */
static void test_long(void **state)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    (void)state;
    for (uint32_t i = 0; i < LAYERS; i++)
        fprintf(f, "n%u -- layer -- " FIGURES("1", "2", "3", "4") "\n", i);
    for (uint32_t i = 1; i < LAYERS; i++)
        fprintf(f, "\tn%u -- n%u\n", i, i - 1);
    fclose(f);
    struct module *m = read(text);
    assert_int_equal(m->graph[1].count, 2 * LAYERS);
    assert_int_equal(m->graph[1].first, node_called(m, "layer.n19999"));
    arena_free(m->mem);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_graph), cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_bytes), cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
