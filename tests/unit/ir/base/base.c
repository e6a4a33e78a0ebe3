/* Arenas, diagnostics, units, strings, tensors, compressed rows. */
#include "ir/ir.h"
#include "ir/base/strings.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % below);
}

/* ---- arena ----------------------------------------------------------------------------------- */

static bool zeroed(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

static void arena_blocks(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;

    /* blocks of all sizes, under nested marks: zeroed, aligned, apart from each other */
    seed = 1;
    for (int round = 0; round < 60; round++) {
        struct arena_mark mark = arena_mark(a);
        size_t used = arena_used(a);
        unsigned char *before = NULL;
        size_t nbefore = 0;
        for (int i = 0; i < 60; i++) {
            size_t n = rnd(20) == 0 ? rnd(3000000) : rnd(5000);
            unsigned char *p = arena_alloc(a, n);
            assert_int_equal((uintptr_t)p % 16, 0);
            assert_true(zeroed(p, n));
            memset(p, 0xa5, n);
            if (before != NULL) {
                for (size_t k = 0; k < nbefore; k += 97) {
                    assert_int_equal(before[k], 0xa5);
                }
            }
            before = p;
            nbefore = n;
        }
        if (rnd(3) != 0) {
            arena_release(a, mark);
            assert_int_equal(arena_used(a), used);
        }
    }
    /* a big block that comes first after a mark, and one that comes last before it */
    arena_alloc(a, 30 << 20);
    struct arena_mark mark = arena_mark(a);
    size_t used = arena_used(a);
    arena_alloc(a, 30 << 20);
    arena_release(a, mark);
    assert_int_equal(arena_used(a), used);
    assert_null(arena_try(a, SIZE_MAX));
    assert_null(arena_try(a, SIZE_MAX / 8));
    arena_free(a);
}

static void append(void *p)
{
    char **at = p;
    *(*at)++ = 'x';
}

static void arena_the_rest(void **state)
{
    struct arena *a = arena_new(NULL);
    char order[4] = "", *at = order;
    (void)state;

    assert_string_equal(arena_fmt(a, "%s-%d", "node", 7), "node-7");
    assert_string_equal(arena_strdup(a, "abcdef", 3), "abc");
    uint32_t cap = 0, *v = NULL, *w = NULL, capw = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        v = vec_grow(a, v, &cap, i + 1, sizeof *v);
        assert_int_equal(v[i], 0);
        v[i] = i;
        if (i % 3 == 0) { /* so that v is not always the last block */
            w = vec_grow(a, w, &capw, i + 1, sizeof *w);
            assert_int_equal(w[i], 0);
            w[i] = ~i;
        }
    }
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(v[i], i);
        assert_true(i % 3 != 0 || w[i] == ~i);
    }
    arena_defer(a, append, &at);
    arena_defer(a, append, &at);
    arena_free(a);
    assert_string_equal(order, "xx");
}

struct trial {
    struct arena *a, *kept, *inner;
    char order[16], *at;
    size_t wanted;
    bool caught, after;
};

static void want_too_much(void *arg)
{
    struct trial *t = arg;
    t->inner = arena_new(arena_new(t->kept));
    arena_defer(arena_new(t->inner), append, &t->at);
    arena_defer(t->inner, append, &t->at);
    arena_array(t->inner, SIZE_MAX / 2, 4);
    fail();
}

static void work_within(void *arg)
{
    struct trial *t = arg;
    struct arena *first = arena_new(t->a);
    arena_defer(first, append, &t->at);
    t->caught = !arena_guard(first, want_too_much, arg, &t->wanted);
    assert_string_equal(t->order, "xx"); /* the inner guard's arenas alone are freed */
    arena_free(first);
    arena_free(arena_new(t->a));
    t->after = true;
    arena_defer(arena_new(t->a), append, &t->at);
    arena_exhausted(t->kept, 77);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* A guard returns when memory runs out anywhere in its tree, and frees what was made meanwhile, children first. */
static void arena_guards(void **state)
{
    struct trial t = {.a = arena_new(NULL)};
    struct arena *other = arena_new(NULL);
    size_t wanted = 1;
    (void)state;

    t.at = t.order;
    t.kept = arena_new(t.a);
    arena_defer(t.kept, append, &t.at);
    assert_false(arena_guard(t.a, work_within, &t, &wanted));
    assert_true(t.caught && t.after && t.wanted == SIZE_MAX && wanted == 77);
    assert_string_equal(t.order, "xxxx"); /* what was there before the guard stays */
    assert_true(arena_guard(t.a, do_nothing, NULL, NULL));
    arena_free(other);
    arena_free(t.a);
    assert_string_equal(t.order, "xxxxx");
}

static void append_y(void *p)
{
    char **at = p;
    *(*at)++ = 'y';
}

/* Arenas that belong to one are freed with it, whenever they were made; others stay. */
static void arena_trees(void **state)
{
    char order[8] = "", *at = order;
    struct arena *root = arena_new(NULL), *x = arena_new(root), *y = arena_new(root);
    (void)state;

    arena_defer(arena_new(x), append, &at);
    arena_defer(y, append_y, &at);
    arena_defer(x, append, &at);
    arena_free(x);
    assert_string_equal(order, "xx");
    arena_free(root);
    assert_string_equal(order, "xxy");
}

/* An array that grows in place over memory that was handed out before must still be zero. */
static void arena_extend(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;

    struct arena_mark mark = arena_mark(a);
    memset(arena_alloc(a, 200000), 0xff, 200000);
    arena_release(a, mark);
    uint32_t cap = 0;
    unsigned char *v = NULL;
    for (uint32_t n = 1; n < 150000; n *= 2) {
        v = vec_grow(a, v, &cap, n, 3);
        assert_true(zeroed(v, (size_t)cap * 3));
    }
    arena_free(a);
}

/* ---- diagnostics and units ------------------------------------------------------------------- */

static void diagnostics(void **state)
{
    struct sink s;
    struct diag d = diag_of(&s);
    (void)state;

    assert_int_equal(diag_error(&d, "node '%s'", "a\n\x1b[1m\x7f"), -1);
    assert_string_equal(s.last[0], "node 'a\\x0a\\x1b[1m\\x7f'");
    diag_warning(&d, WARN_PICTURE, "w");
    diag_note(&d, "n");
    assert_int_equal(d.errors, 1);
    assert_int_equal(d.warnings, 1);
    d.limit = 3;
    for (int i = 0; i < 10; i++) {
        diag_error(&d, "e%d", i);
    }
    assert_int_equal(d.errors, 11);
    assert_int_equal(s.level[DIAG_ERROR], 3);
    assert_int_equal(s.level[DIAG_NOTE], 2); /* one says that the others are not shown */
    char *text = malloc(100001);
    memset(text, 'y', 100000);
    text[100000] = '\0';
    diag_warning(&d, WARN_PICTURE, "%s", text);
    free(text);
}

static void unit_parsing(void **state)
{
    static const struct {
        bool (*parse)(const char *, int64_t *);
        const char *text;
        int64_t want; /* -1: refused */
    } t[] = {
        {time_parse, "12.5us", 12500000},
        {time_parse, "0ps", 0},
        {time_parse, "1.29us", 1290000},
        {time_parse, ".5ns", 500},
        {time_parse, "9223372.036854775807s", INT64_MAX},
        {time_parse, "9223372.036854775808s", -1},
        {time_parse, "1.5ps", -1},
        {time_parse, "1.50000000000000000000000000000000000000000000000000ns", 1500},
        {time_parse, "0000000000000000000000000000000000000000000000000001ns", 1000},
        {time_parse, "12", -1},
        {time_parse, "us", -1},
        {time_parse, "-1us", -1},
        {time_parse, "+1us", -1},
        {time_parse, " 1us", -1},
        {time_parse, "1us ", -1},
        {time_parse, "1e3us", -1},
        {time_parse, "1.us", -1},
        {time_parse, "1..5us", -1},
        {time_parse, "", -1},
        {time_parse, "99999999999999999999999999999999999999999999s", -1},
        {bytes_parse, "16GiB", INT64_C(16) << 30},
        {bytes_parse, "1.5GiB", INT64_C(3) << 29},
        {bytes_parse, "7", 7},
        {bytes_parse, "7B", 7},
        {bytes_parse, "2kB", 2000},
        {bytes_parse, "2K", 2048},
        {bytes_parse, "80GB", INT64_C(80000000000)},
        {bytes_parse, "0.1KiB", -1},
        {bytes_parse, "9223372036854775807", INT64_MAX},
        {bytes_parse, "9223372036854775808", -1},
        {bytes_parse, "8388608TiB", -1},
        {bytes_parse, "1gib", -1},
        {rate_parse, "25GB/s", INT64_C(25000000000)},
        {rate_parse, "204.8GB/s", INT64_C(204800000000)},
        {rate_parse, "25GB", -1},
        {rate_parse, "/s", -1},
        {rate_parse, "5.5/s", -1},
        {rate_parse, "5/s/s", -1},
        {count_parse, "19.5T", INT64_C(19500000000000)},
        {count_parse, "3k", 3000},
        {count_parse, "3", 3},
        {count_parse, "3B", -1},
    };
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        int64_t got = -1;
        if (t[i].parse(t[i].text, &got) != (t[i].want >= 0) || got != t[i].want) {
            fail_msg("'%s' gave %lld", t[i].text, (long long)got);
        }
    }
}

static void unit_printing(void **state)
{
    char b[UNIT_TEXT];
    (void)state;

    assert_string_equal(time_print(b, 1290000), "1.29us");
    assert_string_equal(time_print(b, 0), "0ps");
    assert_string_equal(time_print(b, 999), "999ps");
    assert_string_equal(time_print(b, 1000), "1ns");
    assert_string_equal(time_print(b, PS_PER_S + 1), "1.000000000001s");
    assert_string_equal(time_print(b, -1500), "-1.5ns");
    assert_string_equal(bytes_print(b, 0), "0B");
    assert_string_equal(bytes_print(b, INT64_C(16) << 30), "16GiB");
    assert_string_equal(bytes_print(b, 1536), "1536B");
    assert_string_equal(bytes_print(b, 3 << 20), "3MiB");
    assert_string_equal(time_short(b, INT64_C(12345678900)), "12.35 ms");
    assert_string_equal(time_short(b, 12), "12 ps");
    assert_string_equal(time_short(b, INT64_C(999999999)), "1.000 ms");
    assert_string_equal(bytes_short(b, (INT64_C(1183) << 20) / 10), "118.3 MiB");
    assert_string_equal(bytes_short(b, 512), "512 B");
    assert_string_equal(bytes_short(b, (1 << 20) - 1), "1.000 MiB");
    assert_string_equal(count_short(b, 124400000), "124.4 M");
    assert_string_equal(count_short(b, 999), "999");
    assert_string_equal(count_short(b, INT64_MAX), "9223372 T");
    seed = 2;
    for (int i = 0; i < 200000; i++) {
        int64_t v = (int64_t)((((uint64_t)rnd(1u << 31) << 32) | ((uint64_t)rnd(1u << 31) << 1)) >>
                              (1 + rnd(62)));
        int64_t back = -1;
        if (rnd(3) == 0) {
            v = v / 1000000 * 1000000;
        }
        assert_true(time_parse(time_print(b, v), &back) && back == v);
        assert_true(bytes_parse(bytes_print(b, v), &back) && back == v);
        assert_true(strlen(time_short(b, v)) < UNIT_TEXT);
    }
    int64_t back;
    assert_true(time_parse(time_print(b, INT64_MAX), &back) && back == INT64_MAX);
}

static void saturation(void **state)
{
    (void)state;
    assert_true(sat_add(INT64_MAX, 1) == INT64_MAX && sat_add(2, 3) == 5);
    assert_true(sat_mul(INT64_C(1) << 40, INT64_C(1) << 40) == INT64_MAX && sat_mul(4, 5) == 20);
    assert_true(mul_div_ceil(7, 3, 2) == 11 && mul_div_ceil(0, 3, 2) == 0);
    assert_true(mul_div_ceil(INT64_MAX, INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_true(mul_div_ceil(INT64_MAX, INT64_MAX, 1) == INT64_MAX);
    assert_true(mul_div_ceil(INT64_MAX, 3, 4) == INT64_C(6917529027641081856));
}

/* ---- module ---------------------------------------------------------------------------------- */

static void interning(void **state)
{
    struct module *m = module_new(NULL, NULL);
    char text[32];
    (void)state;

    assert_int_equal(str_id(m, ""), 0);
    assert_int_equal(str_id_n(m, "abc", 2), str_id(m, "ab"));
    sid first = str_id(m, "s0");
    for (uint32_t i = 0; i < 200000; i++) {
        snprintf(text, sizeof text, "s%u", i);
        assert_int_equal(str_id(m, text), first + i);
    }
    for (uint32_t i = 0; i < 200000; i += 7) {
        snprintf(text, sizeof text, "s%u", i);
        assert_string_equal(module_str(m, first + i), text);
        assert_int_equal(str_id(m, text), first + i);
    }
    assert_string_equal(module_str(m, UINT32_MAX), "");
    arena_free(m->mem);
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

static void tensors(void **state)
{
    struct sink s;
    struct diag d = diag_of(&s);
    struct module *m = module_new(NULL, &d);
    int64_t v[2000];
    (void)state;

    const int8_t i8[3] = {-1, 127, -128};
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_I8, i8, 3, 3), v, 3), 3);
    assert_true(v[0] == -1 && v[1] == 127 && v[2] == -128);
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_I8, i8, 3, 3), v, 2), -1);
    const uint8_t nibbles[2] = {0x8f, 0x07};
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_I4, nibbles, 2, 3), v, 9), 3);
    assert_true(v[0] == -1 && v[1] == -8 && v[2] == 7);
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_U4, nibbles, 2, 3), v, 9), 3);
    assert_true(v[0] == 15 && v[1] == 8 && v[2] == 7);
    const int64_t i64[2] = {INT64_MIN, INT64_MAX};
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_I64, i64, 16, 2), v, 9), 2);
    assert_true(v[0] == INT64_MIN && v[1] == INT64_MAX);
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_U64, i64, 16, 2), v, 9), -1);
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_F32, i64, 8, 2), v, 9), -1);
    assert_int_equal(d.errors, 0);
    assert_int_equal(tensor_ints(m, tensor_of(m, ELEM_I32, i64, 7, 2), v, 9), -1);
    assert_int_equal(d.errors, 1); /* short payload */
    assert_int_equal(tensor_elems(m, tensor_of(m, ELEM_I32, NULL, 0, -5)), -1);

    /* payload in a file, more than one block of it, and a file that ends too soon */
    char path[] = "/tmp/unit_ir_XXXXXX";
    uint32_t f = module_add_file(m);
    assert_int_equal(m->file[f].fd, -1);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && unlink(path) == 0);
    int16_t i16[2000];
    for (int i = 0; i < 2000; i++) {
        i16[i] = (int16_t)(i * 37 - 30000);
    }
    assert_int_equal(pwrite(fd, i16, sizeof i16, 10), sizeof i16);
    tid t = tensor_of(m, ELEM_I16, NULL, sizeof i16, 2000);
    m->tensor[t].where = TENSOR_FILE;
    m->tensor[t].file = f;
    m->tensor[t].off = 10;
    assert_int_equal(tensor_ints(m, t, v, 2000), -1); /* not open */
    m->file[f].fd = fd;
    assert_int_equal(tensor_ints(m, t, v, 2000), 2000);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(v[i], i16[i]);
    }
    m->tensor[t].off = 12;
    assert_int_equal(tensor_ints(m, t, v, 2000), -1);
    m->tensor[t].off = UINT64_MAX - 3;
    assert_int_equal(tensor_ints(m, t, v, 2000), -1);
    close(fd);

    for (unsigned e = 1; e < ELEM_COUNT; e++) {
        assert_int_equal(elem_of_name(elem_name(e), strlen(elem_name(e))), e);
    }
    assert_int_equal(elem_of_name("f3", 2), ELEM_NONE);
    assert_true(elem_bytes(ELEM_U4, 3) == 2 && elem_bytes(ELEM_F64, INT64_MAX) == INT64_MAX);
    struct dim dims[2] = {{INT64_C(1) << 40, 0}, {INT64_C(1) << 40, 0}};
    assert_int_equal(type_elems(m, module_add_tensor_type(m, ELEM_F32, 2, dims)), -1);
    dims[1].value = 0;
    assert_int_equal(type_elems(m, module_add_tensor_type(m, ELEM_F32, 2, dims)), 0);
    assert_int_equal(type_elems(m, module_add_tensor_type(m, ELEM_F32, 0, NULL)), 1);
    assert_int_equal(type_elems(m, module_add_tensor_type(m, ELEM_F32, -1, NULL)), -1);
    arena_free(m->mem);
}

static void rows(void **state)
{
    struct arena *a = arena_new(NULL);
    uint32_t row[1000], entry[1000];
    (void)state;

    seed = 3;
    for (uint32_t i = 0; i < 1000; i++) {
        row[i] = rnd(50);
        entry[i] = i;
    }
    struct csr c = csr_build(a, 51, 1000, row, entry);
    assert_true(c.at[0] == 0 && c.at[51] == 1000 && c.at[50] == 1000);
    for (uint32_t r = 0; r < 51; r++) {
        for (uint32_t i = c.at[r]; i < c.at[r + 1]; i++) {
            assert_int_equal(row[c.to[i]], r);
            assert_true(i == c.at[r] || c.to[i - 1] < c.to[i]);
        }
    }
    uint32_t odd[] = {3, 5, 9}, one_row[] = {0, 0, 0};
    c = csr_build(a, 2, 3, one_row, odd);
    for (uint32_t x = 0; x < 12; x++)
        assert_int_equal(csr_has(&c, 0, x), x == 3 || x == 5 || x == 9);
    assert_false(csr_has(&c, 1, 3));
    c = csr_build(a, 0, 0, NULL, NULL);
    assert_int_equal(c.at[0], 0);
    arena_free(a);
}

static void last_of_path(void **state)
{
    (void)state;
    assert_string_equal(path_base("a/b/c.onnx"), "c.onnx");
    assert_string_equal(path_base("c.onnx"), "c.onnx");
    assert_string_equal(path_base("a/"), "");
}

static void percents(void **state)
{
    (void)state;
    assert_int_equal(percent_of(0, 0), 0);
    assert_int_equal(percent_of(5, 0), 0);
    assert_int_equal(percent_of(0, 7), 0);
    assert_int_equal(percent_of(7, 7), 100);
    assert_int_equal(percent_of(996, 1000), 99);
    assert_int_equal(percent_of(INT64_MAX - 1, INT64_MAX), 99);
    assert_int_equal(percent_of(29, 100), 29); /* in doubles 28.999... */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percents),       cmocka_unit_test(arena_blocks),
        cmocka_unit_test(arena_the_rest), cmocka_unit_test(arena_guards),
        cmocka_unit_test(arena_trees),    cmocka_unit_test(arena_extend),
        cmocka_unit_test(diagnostics),    cmocka_unit_test(unit_parsing),
        cmocka_unit_test(unit_printing),  cmocka_unit_test(saturation),
        cmocka_unit_test(interning),      cmocka_unit_test(tensors),
        cmocka_unit_test(rows),           cmocka_unit_test(last_of_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
