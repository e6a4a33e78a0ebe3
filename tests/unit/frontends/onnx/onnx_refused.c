/* What the reader of ONNX refuses: models that are written here byte by byte, the one line that is said of each, and
 * at each limit a model that is taken and one beyond it that is not.
 *
 * A model is written as hexadecimal bytes; 'text' and { ... } stand for their length and what they hold, "3*{ ... }"
 * for what is in the braces three times, without a length. */
#include "frontends/frontends.h"
#include "ir/ir.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
    uint8_t *at;
    size_t n, cap;
};

static void put(struct bytes *b, const void *data, size_t n)
{
    if (b->n + n >= b->cap) {
        b->cap = 2 * (b->n + n) + 1;
        b->at = realloc(b->at, b->cap);
    }
    if (n > 0)
        memcpy(b->at + b->n, data, n);
    b->n += n;
}

static void put_varint(struct bytes *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        put(b, &(uint8_t){(uint8_t)(v | 128)}, 1);
    put(b, &(uint8_t){(uint8_t)v}, 1);
}

static void put_long(struct bytes *b, const struct bytes *in)
{
    put_varint(b, in->n);
    put(b, in->at, in->n);
}

/* Writes the notation from p on to its end or a '}'; returns what follows. */
static const char *write_wire(struct bytes *b, const char *p)
{
    while (*p && *p != '}') {
        struct bytes in = {0};
        if (*p == ' ') {
            p++;
        } else if (*p == '\'') {
            size_t n = strcspn(p + 1, "'");
            put_long(b, &(struct bytes){.at = (uint8_t *)p + 1, .n = n});
            p += n + 2;
        } else if (*p == '{') {
            p = write_wire(&in, p + 1) + 1;
            put_long(b, &in);
        } else if (p[strspn(p, "0123456789")] == '*') {
            unsigned long n = strtoul(p, (char **)&p, 10);
            p = write_wire(&in, p + 2) + 1;
            while (n-- > 0)
                put(b, in.at, in.n);
        } else {
            char two[3] = {p[0], p[1], 0};
            put(b, &(uint8_t){(uint8_t)strtoul(two, NULL, 16)}, 1);
            p += 2;
        }
        free(in.at);
    }
    return p;
}

/* What is said of a model of these bytes, without its name; "" if it is taken. */
static const char *said_of(const struct bytes *b, struct sink *s)
{
    static const char path[] = "m.onnx: ";
    struct diag d = diag_of(s);
    struct onnx_options o = {.bytes = b->at, .size = b->n};
    struct module *m = onnx_read("m.onnx", &o, NULL, &d);

    if (m) {
        assert_int_equal(module_verify(m, &d), 0);
        assert_int_equal(d.errors, 0);
        arena_free(m->mem);
        return "";
    }
    assert_int_equal(d.errors, 1);
    assert_memory_equal(s->last[(s->n - 1) % 8], path, strlen(path));
    return s->last[(s->n - 1) % 8] + strlen(path);
}

struct refused {
    const char *model, *want; /* NULL: taken */
};

static void check_all(const struct refused *t, size_t n)
{
    int wrong = 0;

    for (size_t i = 0; i < n; i++) {
        struct bytes b = {0};
        struct sink s;
        const char *want = t[i].want ? t[i].want : "";
        assert_string_equal(write_wire(&b, t[i].model), "");
        const char *got = said_of(&b, &s);
        if (strcmp(got, want) != 0) {
            print_error("model: %s\ngot:  %s\nwant: %s\n", t[i].model, got, want);
            wrong++;
        }
        free(b.at);
    }
    assert_int_equal(wrong, 0);
}

#define CHECK_ALL(t) check_all(t, sizeof(t) / sizeof *(t))

/* 08: ir_version, 12: producer_name, 3a: graph.  Of a graph, 0a: node, 12: name, 2a: initializer, 52: doc_string, 5a:
 * input, 62: output.  Of a node, 0a: input, 12: output, 1a: name, 22: op_type, 2a: attribute.  Of an attribute, 0a:
 * name, 15: f, 18: i, 22: s, 2a: t, 32: g, a001: type. */
static void test_wire(void **state)
{
    static const struct refused t[] = {
        {"0808 3a{ }", NULL},
        {"0808", "not an ONNX model: it has no graph"},
        {"0808 3a{ } 80", "offset 4: bad field tag"},
        {"80", "a text file, not an ONNX model"},
        {"01 80", "not an ONNX model: offset 0: impossible field number"},
        {"80 01 00", "not an ONNX model: it has no graph"},
        {"3a{ 80 }", "offset 2: graph: bad field tag"},
        {"3a{ } 8880808000 01", NULL},
        {"3a{ } 888080808000 01", "offset 2: bad field tag"},
        {"3a{ } 00 01", "offset 2: impossible field number"},
        {"3a{ } 07 01", "offset 2: impossible field number"},
        {"3a{ } f8ffffff7f 01", "offset 2: impossible field number"},
        {"3a{ } f8ffffff0f 01", NULL},
        {"3a{ } 0b", "offset 2: ir_version: groups are not ONNX"},
        {"3a{ } 0c", "offset 2: ir_version: groups are not ONNX"},
        {"3a{ } 0e", "offset 2: ir_version: impossible wire type"},
        {"3a{ } 0f", "offset 2: ir_version: impossible wire type"},
        {"3a{ } a3 06", "offset 2: field 100: groups are not ONNX"},
        {"3a{ } 09 0000000000000000", "offset 2: ir_version: wrong wire type"},
        {"3a{ } 0d 00000000", "offset 2: ir_version: wrong wire type"},
        {"3a{ } 10 00", "offset 2: producer_name: wrong wire type"},
        {"3a{ } 0a{ 01 }", "offset 2: ir_version: wrong wire type (a length, expected a number)"},
        {"3a{ } 08", "offset 2: ir_version: bad varint"},
        {"3a{ } 08 ffffffffffffffffff01", NULL},
        {"3a{ } 08 ffffffffffffffffffff01", "offset 2: ir_version: bad varint"},
        {"3a{ } a106 0000000000000000", NULL},
        {"3a{ } a106 00000000000000", "offset 2: field 100: cut short"},
        {"3a{ } a506 00000000", NULL},
        {"3a{ } a506 000000", "offset 2: field 100: cut short"},
        {"3a{ } a206", "offset 2: field 100: bad length"},
        {"3a{ } a206 8080808000", NULL},
        {"3a{ } a206 808080808000", "offset 2: field 100: bad length"},
        {"3a{ } 12'ab'", NULL},
        {"3a{ } 12 03 6162",
         "offset 2: producer_name: length 3 goes 1 bytes beyond the end of the file"},
        {"3a{ 12 03 6162 } 08 01",
         "offset 2: graph.name: length 3 goes 1 bytes beyond the end of graph"},
        {"3a{ 0a{ 0a'x' 1a 05 6161 } } 08 01",
         "offset 7: graph.node[0].name: length 5 goes 3 bytes beyond the end of graph.node[0]"},
        {"3a{ 0a{ 1a'n' } 0a{ 1a'm' 22 01 00 } }",
         "offset 12: graph.node[1].op_type: text holds a NUL byte"},
        {"3a{ 12 03 61c3a9 }", NULL},
        {"3a{ 12 02 61c3 }", "offset 2: graph.name: byte 5 of the file is not UTF-8"},
        {"3a{ 52 02 61c3 }", NULL},
        {"3a{ 52 02 6100 }", "offset 2: graph.doc_string: text holds a NUL byte"},
        {"3a{ } 3a{ }", "offset 2: graph: given twice"},
        {"3a{ 0a{ 2a{ 32{ } 32{ } } } }", "offset 8: graph.node[0].attribute[0].g: given twice"},
        {"3a{ 0a{ 2a{ 3a 04 00000000 3d 00000000 } } }", NULL},
        {"3a{ 0a{ 2a{ 3a 05 0000000000 } } }",
         "offset 6: graph.node[0].attribute[0].floats[0]: length is not a multiple of the element's size"},
        {"3a{ 0a{ 2a{ 42 02 0180 } } }",
         "offset 6: graph.node[0].attribute[0].ints[0]: bad varint in packed numbers"},
        {"3a{ 2a{ 10 0b 52 07 00000000000000 } }",
         "offset 6: graph.initializer[0].double_data[0]: length is not a multiple of the element's size"},
    };

    (void)state;
    CHECK_ALL(t);
}

#define INIT(t) "3a{ 12'main' 2a{ " t " } }"
#define NODE(n) "3a{ 12'main' 5a{ 0a'x' } 0a{ " n " } }"

/* Of a tensor, 08: dims, 10: data_type (1: f32, 2: u8, 4: u16, 8: str), 22: float_data, 2a: int32_data, 32:
 * string_data, 42: name, 4a: raw_data, 6a: external_data, 70: data_location. */
static void test_tensors(void **state)
{
    static const struct refused t[] = {
        {INIT("08 02 10 02 42'w' 4a'ab'"), NULL},
        {INIT("08 02 10 02 42'w' 4a'abc'"),
         "initializer 'w' has 3 bytes of data, expected 2 by its shape"},
        {INIT("08 02 10 02 42'w' 4a'a'"),
         "initializer 'w' has 1 bytes of data, expected 2 by its shape"},
        {INIT("08 02 10 02 42'w'"), "initializer 'w' has 0 bytes of data, expected 2 by its shape"},
        {INIT("08 00 10 02 42'w'"), NULL},
        {INIT("08 02 10 04 42'w' 2a 02 0102"), NULL},
        {INIT("08 02 10 04 42'w' 2a 03 010203"),
         "initializer 'w' has 6 bytes of data, expected 4 by its shape"},
        {INIT("08 02 10 01 42'w' 22 04 00000000"),
         "initializer 'w' has 4 bytes of data, expected 8 by its shape"},
        {INIT("08 02 10 08 42'w' 32'a' 32'b'"), NULL},
        {INIT("08 02 10 08 42'w' 32'a'"), "initializer 'w' has 1 strings, expected 2 by its shape"},
        {INIT("08 01 10 08 42'w' 32'a' 32'b'"),
         "initializer 'w' has 2 strings, expected 1 by its shape"},
        {INIT("08 02 08 ffffffffffffffffff01 10 02 42'w'"),
         "initializer 'w': dimension 1 is -1, expected 0 or more"},
        {INIT("08 ffffffffffffffff7f 08 00 10 02 42'w'"), NULL},
        {INIT("08 ffffffffffffffff7f 10 02 42'w'"),
         "initializer 'w': its shape takes more than 2^63 bytes"},
        {INIT("08 8080808080808080 40 10 04 42'w'"),
         "initializer 'w': its shape takes more than 2^63 bytes"},
        {INIT("08 8080808080808080 20 08 02 10 02 42'w'"),
         "initializer 'w' has 0 bytes of data, expected 4611686018427387904 by its shape"},
        {INIT("10 02 4a'a'"), "an initializer of graph 'main' has no name"},
        {NODE("0a'x' 12'y' 1a'n' 22'A' 2a{ 0a'v' a001 04 }"),
         "node 'n': attribute 'v' has no tensor"},
        {NODE("0a'x' 12'y' 1a'n' 22'A' 2a{ 0a'v' a001 0b }"),
         "node 'n': attribute 'v' has no tensor"},
        {NODE("0a'x' 12'y' 1a'n' 22'A' 2a{ 0a'v' a001 04 2a{ 08 02 10 02 4a'a' } }"),
         "node 'n': attribute 'v' has 1 bytes of data, expected 2 by its shape"},
        {NODE("0a'x' 12'y' 1a'n' 22'A' 2a{ 0a'v' a001 05 }"),
         "node 'n' (A): attribute 'v' has no graph"},
        {NODE("0a'x' 12'y' 2a{ a001 05 }"), "node '' (): attribute '' has no graph"},
        {NODE("0a'x' 12'y' 2a{ a001 04 }"), "node 'node_0': attribute '' has no tensor"},
    };

    (void)state;
    CHECK_ALL(t);
}

static void test_graphs(void **state)
{
    static const struct refused t[] = {
        {NODE("0a'x' 12'y' 22'A'"), NULL},
        {NODE("0a'z' 12'y' 22'A' 1a'n'"), "node 'n' (A) reads 'z', which nothing defines"},
        {NODE("0a'z' 12'y'"), "node 'node_0' () reads 'z', which nothing defines"},
        {NODE("0a'x' 12'x' 22'A' 1a'n'"), "node 'n' defines 'x', which is an input of its graph"},
        {"3a{ 12'main' 5a{ 0a'x' } 5a{ 0a'x' } }", "input 1 'x' of graph 'main' is listed twice"},
        {"3a{ 12'main' 5a{ 0a'x' } 5a{ } }", "input 1 '' of graph 'main' has no name"},
        {"3a{ 5a{ } }", "input 0 '' of graph '' has no name"},
        {"3a{ 12'main' 5a{ 0a'x' } 62{ 0a'x' } 62{ 0a'y' } }",
         "output 1 'y' of graph 'main' is defined by nothing"},
        {"3a{ 12'main' 62{ } }", "output 0 '' of graph 'main' is defined by nothing"},
        {NODE("0a'x' 12'y' 22'If' 1a'n' 2a{ 0a'b' a001 05 32{ 12'in' 62{ 0a'x' } } }"), NULL},
        {NODE("0a'x' 12'y' 22'If' 1a'n' 2a{ 0a'b' a001 05 32{ 12'in' 62{ 0a'z' } } }"),
         "output 0 'z' of graph 'in' is defined by nothing"},
        /* ca01: a function; of it, 0a: name, 22: input, 2a: output, 3a: node, 52: domain, 5a: attribute_proto */
        {"3a{ } ca01{ 0a'f' 52'd' }", NULL},
        {"3a{ } ca01{ 0a'f' 52'd' } ca01{ 0a'f' 52'd' }",
         "function 'f' of domain 'd' is defined twice"},
        {"3a{ } ca01{ } ca01{ }", "function '' of domain '' is defined twice"},
        {"3a{ } ca01{ 0a'f' 5a{ 0a'v' a001 05 } }",
         "function 'f': the default of attribute 'v' is a graph: not supported"},
        {"3a{ } ca01{ 0a'f' 5a{ a001 0a } }",
         "function 'f': the default of attribute '' is a graph: not supported"},
        {"3a{ } ca01{ 5a{ 0a'v' a001 04 } }", "function '': node '': attribute 'v' has no tensor"},
        {"3a{ } ca01{ 0a'f' 22'x' 2a'y' }",
         "function 'f': output 0 'y' of graph 'f' is defined by nothing"},
        {"3a{ } ca01{ 0a'f' 22'x' 22'x' }",
         "function 'f': input 1 'x' of graph 'f' is listed twice"},
    };

    (void)state;
    CHECK_ALL(t);
}

/* Where external data may lie. */
#define OUT(entries) INIT("08 02 10 02 42'w' 70 01 " entries)
#define LOCATION(where) "6a{ 0a'location' 12'" where "' } "

static void test_external(void **state)
{
    static const struct refused t[] = {
        {OUT(LOCATION("gone.bin")), NULL},
        {OUT(LOCATION("a/..b/c.")), NULL},
        {OUT(""), "initializer 'w': external data: location '' is empty"},
        {OUT(LOCATION("/a")),
         "initializer 'w': external data: location '/a' is absolute, expected a path below the model's folder"},
        {OUT(LOCATION("\\a")),
         "initializer 'w': external data: location '\\a' is absolute, expected a path below the model's folder"},
        {OUT(LOCATION("c:/a")),
         "initializer 'w': external data: location 'c:/a' is absolute, expected a path below the model's folder"},
        {OUT(LOCATION("a/../b")),
         "initializer 'w': external data: location 'a/../b' goes up with '..', expected a path below the model's "
         "folder"},
        {OUT(LOCATION("a\\..")),
         "initializer 'w': external data: location 'a\\..' goes up with '..', expected a path below the model's "
         "folder"},
        {OUT(LOCATION("a") LOCATION("a")),
         "initializer 'w': external data: repeated key 'location'"},
        {OUT(LOCATION("a") "6a{ 0a'sha' 12'1' }"),
         "initializer 'w': external data: unknown key 'sha'"},
        {OUT(LOCATION("a") "6a{ }"), "initializer 'w': external data: unknown key ''"},
        {OUT(LOCATION("a") "6a{ 0a'offset' 12'9223372036854775805' }"), NULL},
        {OUT(LOCATION("a") "6a{ 0a'offset' 12'9223372036854775806' }"),
         "initializer 'w': external data: bytes 9223372036854775806 to 9223372036854775806 + 2 of 'a', which has 0"},
        {OUT(LOCATION("a") "6a{ 0a'offset' 12'9223372036854775808' }"),
         "initializer 'w': external data: offset '9223372036854775808', expected a number from 0 to 2^63 - 1"},
        {OUT(LOCATION("a") "6a{ 0a'offset' 12'18446744073709551616' }"),
         "initializer 'w': external data: offset '18446744073709551616', expected a number from 0 to 2^63 - 1"},
        {OUT(LOCATION("a") "6a{ 0a'offset' 12'-1' }"),
         "initializer 'w': external data: offset '-1', expected a number from 0 to 2^63 - 1"},
        {OUT(LOCATION("a") "6a{ 0a'offset' }"),
         "initializer 'w': external data: offset '', expected a number from 0 to 2^63 - 1"},
        {OUT(LOCATION("a") "6a{ 0a'length' 12'0x2' }"),
         "initializer 'w': external data: length '0x2', expected a number from 0 to 2^63 - 1"},
        {OUT(LOCATION("a") "6a{ 0a'length' 12'2' }"), NULL},
        {OUT(LOCATION("a") "6a{ 0a'length' 12'3' }"),
         "initializer 'w': external data: length 3, expected 2 by its shape"},
        {OUT(LOCATION("a") "6a{ 0a'length' 12'1' }"),
         "initializer 'w': external data: length 1, expected 2 by its shape"},
        {NODE("0a'x' 12'y' 1a'n' 22'A' 2a{ 0a'v' a001 04 2a{ 08 02 10 02 70 01 } }"),
         "node 'n': attribute 'v': external data: location '' is empty"},
    };

    (void)state;
    CHECK_ALL(t);
}

/* The file's own bytes, from a folder: up to its last byte. */
static void test_external_file(void **state)
{
    static const struct refused t[] = {
        {OUT(LOCATION("w.bin") "6a{ 0a'offset' 12'2' }"), NULL},
        {OUT(LOCATION("w.bin") "6a{ 0a'offset' 12'3' }"),
         "initializer 'w': external data: bytes 3 to 3 + 2 of 'w.bin', which has 4"},
        {OUT(LOCATION("sub")), "initializer 'w': external file 'sub' is not a regular file"},
        {OUT(LOCATION("link")),
         "initializer 'w': external file 'link' is a symbolic link or behind one (--allow-links accepts links)"},
        {OUT(LOCATION("two")),
         "initializer 'w': external file 'two' has several names, hard links (--allow-links accepts links)"},
    };
    char folder[] = "/tmp/pcc-unit-XXXXXX", before[4096];

    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    FILE *f = fopen("w.bin", "wb");
    assert_int_equal(fwrite("abcd", 1, 4, f), 4);
    fclose(f);
    f = fopen("one", "wb");
    fclose(f);
    assert_int_equal(link("one", "two"), 0);
    assert_int_equal(symlink("w.bin", "link"), 0);
    assert_int_equal(mkdir("sub", 0700), 0);
    CHECK_ALL(t);
    assert_int_equal(unlink("w.bin") | unlink("one") | unlink("two") | unlink("link"), 0);
    assert_int_equal(rmdir("sub"), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A body in a node in a body: three messages each; the graph is one, too. */
static void test_depth(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        struct bytes b = {0};
        struct sink s;
        int n = 99 + deep;            /* messages below the graph: node, attribute, g, node, ... */
        for (int i = n; i > 0; i--) { /* from inside out */
            struct bytes out = {0};
            uint8_t tag = i % 3 == 1 ? 0x0a : i % 3 == 2 ? 0x2a : 0x32;
            put(&out, &tag, 1);
            put_long(&out, &b);
            free(b.at);
            b = out;
        }
        struct bytes model = {0};
        put(&model, "\x3a", 1);
        put_long(&model, &b);
        free(b.at);
        const char *got = said_of(&model, &s);
        if (deep)
            assert_string_equal(
                got,
                "offset 237: graph.node[0].attribute[0].g....attribute[0].g.node[0].attribute[0]."
                "g.node[0]: messages nested more than 100 deep");
        else
            assert_string_equal(got, "");
        free(model.at);
    }
}

/* Fields without contents: 24 bytes of memory for each byte, and 64 MiB, are given, not more. */
static void test_budget(void **state)
{
    (void)state;
    struct sink s;
    struct bytes b = {0}, in = {0};

    write_wire(&in, "500000*{ 0a{ } }");
    put(&b, "\x3a", 1);
    put_long(&b, &in);
    const char *got = said_of(&b, &s);
    assert_non_null(strstr(got, "]: too many small fields: unpacking would take too much memory"));
    assert_memory_equal(got, "offset ", 7);
    free(b.at);
    free(in.at);
}

static void test_no_model(void **state)
{
    struct sink s;

    (void)state;
    assert_string_equal(said_of(&(struct bytes){.at = (uint8_t *)"", .n = 0}, &s),
                        "is empty, expected an ONNX model");
    assert_string_equal(said_of(&(struct bytes){.at = (uint8_t *)"graph\t{\r\n", .n = 9}, &s),
                        "a text file, not an ONNX model");
    assert_string_equal(said_of(&(struct bytes){.at = (uint8_t *)"graph\x7f", .n = 6}, &s),
                        "not an ONNX model: offset 0: field 12: impossible wire type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire),          cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_graphs),        cmocka_unit_test(test_external),
        cmocka_unit_test(test_external_file), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_budget),        cmocka_unit_test(test_no_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
