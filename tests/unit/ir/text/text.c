/* The textual IR: print -> parse -> equal on random modules, texts that a person writes, errors
 * with their places, and texts with random damage. */
#include "tests/support/module_equal.h"
#include "tests/support/random_module.h"
#include "tools/lib/exec/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MODULES = 1500, MUTATIONS = 12000 };

static char *print(const struct scene *s, const struct plan *plan, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);

    assert_non_null(f);
    module_print(f, s, plan);
    fclose(f);
    return text;
}

/* Prints, parses, compares, prints again. */
static void round_trip(uint64_t seed)
{
    struct diag d = {0};
    struct text_module back;
    size_t n, n2;
    struct module *m = random_module(seed, (uint32_t)(seed % 13), 0, &d);
    struct cluster *c = seed % 3 ? random_cluster(seed, m->mem) : NULL;
    struct scene s = {.m = m, .cluster = c, .model = random_model(seed)};
    struct plan *plan = seed % 3 == 2 ? random_plan(seed, m, c) : NULL;
    struct random_module costs = {.r = rng_seed(seed), .m = m};

    if (seed % 4 != 0) {
        random_costs(&costs, c != NULL && seed % 8 ? c->ncls : 1 + (uint32_t)(seed % 8));
    }
    assert_int_equal(module_verify(m, &d), 0);
    char *text = print(&s, plan, &n);
    if (module_parse(&back, &(struct named_text){"printed", text, n, exec_kinds}, NULL, &d) < 0 ||
        !module_equal(m, plan, back.scene.m, back.plan) ||
        (c != NULL &&
         (!cluster_equal(c, back.scene.cluster) || !model_equal(&s.model, &back.scene.model)))) {
        fail_msg("seed %llu:\n%s", (unsigned long long)seed, text);
    }
    assert_int_equal(c == NULL, back.scene.cluster == NULL);
    assert_int_equal(module_verify(back.scene.m, &d), 0);
    char *again = print(&back.scene, back.plan, &n2);
    assert_string_equal(again, text);
    assert_int_equal(n, n2);
    assert_int_equal(d.errors, 0);
    arena_free(back.scene.m->mem);
    arena_free(m->mem);
    free(text);
    free(again);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        round_trip(seed);
    }
}

/* Equality can fail: a change in any field that is not a pool's layout is noticed. */
static void test_equality(void **state)
{
    struct diag quiet = diag_silent();
    struct module *a = random_module(5, 12, 2, &quiet), *b = random_module(5, 12, 2, &quiet);

    (void)state;
    assert_true(module_equal(a, NULL, b, NULL));
    b->cost->own[3]++;
    assert_false(module_equal(a, NULL, b, NULL));
    b->cost->own[3]--;
    b->node[2].flags ^= NODE_LOST;
    assert_false(module_equal(a, NULL, b, NULL));
    b->node[2].flags ^= NODE_LOST;
    b->value[2].type = module_add_tensor_type(b, ELEM_F16, -1, NULL);
    b->value[1].type = module_add_tensor_type(b, ELEM_I8, -1, NULL);
    assert_false(module_equal(a, NULL, b, NULL));
    arena_free(a->mem);
    arena_free(b->mem);
}

/* One to four changes of bytes, or a piece cut out or doubled. */
static size_t damage(struct rng *r, char *text, size_t n, size_t room)
{
    static const char likely[] = "{}()[]=,:|?*%@!\"\\#~_0x9-.\n ";

    for (uint32_t k = 1 + rng_below(r, 4); k > 0 && n > 1; k--) {
        size_t at = rng_below(r, (uint32_t)n), len = 1 + rng_below(r, 20);
        switch (rng_below(r, 4)) {
        case 0:
            text[at] = (char)rng_below(r, 256);
            break;
        case 1:
            text[at] = likely[rng_below(r, sizeof likely - 1)];
            break;
        case 2:
            len = len < n - at ? len : n - at;
            memmove(text + at, text + at + len, n - at - len);
            n -= len;
            break;
        default:
            len = len < n - at ? len : n - at;
            if (n + len <= room) {
                memmove(text + at + len, text + at, n - at);
                n += len;
            }
        }
    }
    return n;
}

/* Damaged text is refused with one error, or is the text of some module that prints and parses. */
static void test_mutations(void **state)
{
    uint32_t accepted = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= MUTATIONS / 40; seed++) {
        struct diag quiet = diag_silent();
        struct module *m = random_module(seed, (uint32_t)(seed % 7), (uint32_t)(seed % 3), &quiet);
        struct cluster *c = seed % 2 ? random_cluster(seed, m->mem) : NULL;
        struct scene s = {.m = m, .cluster = c, .model = random_model(seed)};
        size_t n;
        char *text = print(&s, c != NULL ? random_plan(seed, m, c) : NULL, &n);
        struct rng r = rng_seed(seed);
        for (int i = 0; i < 40; i++) {
            char *bad = malloc(n + 100);
            struct text_module out, again;
            size_t k = 0, k2 = 0;
            struct diag d = diag_silent();
            memcpy(bad, text, n);
            size_t len = damage(&r, bad, n, n + 100);
            bad = realloc(bad, len); /* so that a read past the end is seen */
            if (module_parse(&out, &(struct named_text){"damaged", bad, len, exec_kinds}, NULL,
                             &d) < 0) {
                assert_int_equal(d.errors, 1);
                assert_null(out.scene.m);
            } else {
                accepted++;
                module_verify(out.scene.m, &quiet);
                char *first = print(&out.scene, out.plan, &k);
                assert_int_equal(module_parse(&again,
                                              &(struct named_text){"again", first, k, exec_kinds},
                                              NULL, &quiet),
                                 0);
                assert_true(module_equal(out.scene.m, out.plan, again.scene.m, again.plan));
                char *second = print(&again.scene, again.plan, &k2);
                assert_string_equal(first, second);
                free(first);
                free(second);
                arena_free(out.scene.m->mem);
                arena_free(again.scene.m->mem);
            }
            free(bad);
        }
        free(text);
        arena_free(m->mem);
    }
    assert_in_range(accepted, MUTATIONS / 100, MUTATIONS * 9 / 10);
}

struct lines {
    char text[4096];
};

static void keep_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    struct lines *l = user;
    size_t n = strlen(l->text);

    snprintf(l->text + n, sizeof l->text - n, "%s%s\n", level == DIAG_ERROR ? "" : "  ", line);
}

static struct text_module parse(const char *text)
{
    struct text_module t;
    struct lines l = {""};
    struct diag d = {.emit = keep_line, .user = &l};

    if (module_parse(&t, &(struct named_text){"test.pir", text, strlen(text), exec_kinds}, NULL,
                     &d) < 0) {
        fail_msg("%s", l.text);
    }
    t.scene.m->diag = NULL;
    if (module_verify(t.scene.m, &d) < 0) {
        fail_msg("%s", l.text);
    }
    return t;
}

/* The canonical print of a text that uses every short form. */
static void golden(const char *text, const char *want)
{
    struct text_module t = parse(text);
    size_t n;
    char *got = print(&t.scene, t.plan, &n);

    assert_string_equal(got, want);
    free(got);
    arena_free(t.scene.m->mem);
}

static void test_profile(void **state)
{
    (void)state;
    golden("# a profiled graph, as tests of planners write it\n"
           "class acc x2 memory=16GiB reserve=1GiB link=25GB/s,10us\n"
           "class cpu host\n"
           "between acc0 acc1 = 300GB/s, 2us\n"
           "class acc2 link=1GB/s,0us between acc2 \"acc0\" oneway=1500MB/s,0ps\n"
           "graph {\n"
           "  in %x !xfer=3us\n"
           "  %a = op(%x) !time=[4us,9us,1us] !own=1MB !bytes=1MB !xfer=2us\n"
           "  %b, %c = op(%a) : !bytes=4KiB, !bytes=8KiB !time=1500ns !color=2\n"
           "  () = sink(%b, %c) !time=[never, 1us, never] !layer=1 !backward\n"
           "  out %b, %c\n"
           "}\n"
           "plan \"by hand\" { a=acc0 b=acc1 op_3=cpu0 }\n",

           "pcc 1\n"
           "path \"test.pir\"\n"
           "ir_version 10\n"
           "opset ai.onnx 20\n"
           "cluster efficiency=1000000\n"
           "class \"acc\" x2 memory=16GiB reserve=1GiB link=25GB/s,10us\n"
           "class \"cpu\" x1 host\n"
           "class \"acc2\" x1 link=1GB/s,0ps\n"
           "between acc0 acc1=300GB/s,2us\n"
           "between acc2 acc0 oneway=1500MB/s,0ps\n"
           "costs 3\n"
           "\n"
           "graph @main {\n"
           "  in %x : ? !xfer=3us\n"
           "  %a = op(%x) : ? !bytes=1000000B !xfer=2us !time=[4us,9us,1us] !own=1000000B\n"
           "  %b, %c = op(%a) : ? !bytes=4KiB, ? !bytes=8KiB !time=1.5us !color=2\n"
           "  () = sink(%b, %c) name=\"op_3\" !time=[never,1us,never] !layer=1 !backward\n"
           "  out %b\n"
           "  out %c\n"
           "}\n"
           "\n"
           "plan \"by hand\" status=none value=0ps {\n"
           "  \"a\" = acc0\n"
           "  \"b\" = acc1\n"
           "  \"op_3\" = cpu0\n"
           "}\n");
}

static void test_model(void **state)
{
    (void)state;
    golden(
        "opset ai.onnx 18 opset com.microsoft 1\n"
        "file 1 \"model.onnx\" size=1234\n"
        "graph @main name=\"torch\" {\n"
        "  in %x : f32[batch, 3, past+1, ?]\n"
        "  in %cond : bool[]\n"
        "  init %w : f32[4,3] = file 1 at 123 len 48\n"
        "  init %shape : i64[2] = [1, -1]\n"
        "  init %half : f32[2] = [1, -2.5e-3]\n"
        "  init %raw : f16[2] = bytes \"003c0040\"\n"
        "  init %cond = [1]\n"
        "  %y, _, %\"odd name\" = com.microsoft:Foo(%x, _, %w) {axis=1, eps=1e-05, mode=\"a\\n\",\n"
        "     pads=[1,1], none=ints[], scales=[1.0, inf], value=tensor i64[1] [7]}\n"
        "     : f32[batch,4], _, seq(opt(map(i64, str[*])))\n"
        "  %z = If(%cond | %y, %w) {then_branch=@then, else_branch=@else} : f32[\"?weird\"]\n"
        "  out %z\n"
        "}\n"
        "graph @then { %w = Relu(%y) out %w }\n"
        "graph @else of \"z\" {\n"
        "  %y = Neg(%w)\n"
        "  %r = Add(%y@main, %y)\n"
        "  out %r\n"
        "}\n",

        "pcc 1\n"
        "path \"test.pir\"\n"
        "ir_version 10\n"
        "opset ai.onnx 18\n"
        "opset com.microsoft 1\n"
        "file 1 \"model.onnx\" size=1234\n"
        "\n"
        "graph @main name=\"torch\" {\n"
        "  in %x : f32[batch,3,past + 1,?]\n"
        "  in %cond : bool[]\n"
        "  init %w : f32[4,3] = file 1 at 123 len 48\n"
        "  init %shape : i64[2] = [1, -1]\n"
        "  init %half : f32[2] = [1.0, -0.0025]\n"
        "  init %raw : f16[2] = bytes \"003c0040\"\n"
        "  init %cond = [1]\n"
        "  %y, _, %\"odd name\" = com.microsoft:Foo(%x, _, %w) {axis=1, eps=1e-05, "
        "mode=\"a\\n\", pads=[1, 1], none=ints[], scales=[1.0, inf], value=tensor i64[1] [7]}"
        " : f32[batch,4], _, seq(opt(map(i64, str[*])))\n"
        "  %z = If(%cond | %y, %w) {then_branch=@g2, else_branch=@g3} : f32[\"?weird\"]\n"
        "  out %z\n"
        "}\n"
        "\n"
        "graph @g2 of \"z\" name=\"then\" {\n"
        "  %w = Relu(%y)\n"
        "  out %w\n"
        "}\n"
        "\n"
        "graph @g3 of \"z\" name=\"else\" {\n"
        "  %y = Neg(%w)\n"
        "  %r = Add(%y@main, %y)\n"
        "  out %r\n"
        "}\n");
}

static void test_shorthand_cluster(void **state)
{
    struct text_module t = parse("cluster \"2xa100,1xcpu\" io_free graph { in %x out %x }");

    (void)state;
    assert_int_equal(t.scene.cluster->ndev, 3);
    assert_true(t.scene.model.io_free);
    assert_null(t.scene.m->cost);
    arena_free(t.scene.m->mem);
}

/* A class that a workload leaves empty, which is printed and read again. */
static void test_empty_class(void **state)
{
    struct text_module t = parse("class a x2 class b x0 host graph { in %x out %x }");

    (void)state;
    assert_int_equal(t.scene.cluster->ndev, 2);
    assert_int_equal(t.scene.cluster->ncls, 2);
    assert_int_equal(t.scene.cluster->cls[1].count, 0);
    arena_free(t.scene.m->mem);
}

/* A plan whose node has a slot and a stage is printed in an order in which it can be read again. */
static void test_slot_and_stage(void **state)
{
    struct text_module t = parse("class acc x2 graph { in %x %a = A(%x) } "
                                 "plan stages [0 ahead=1] [1 ahead=1] { a=acc0 slot=2 stage=0 }");
    size_t n;
    char *text = print(&t.scene, t.plan, &n);
    struct text_module again = parse(text);
    nid a = again.scene.m->graph[1].first;

    (void)state;
    assert_int_equal(again.plan->slot[a], 2);
    assert_int_equal(again.plan->stage_of[a], 0);
    free(text);
    arena_free(again.scene.m->mem);
    arena_free(t.scene.m->mem);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *want;
    } t[] = {
        {"", "1:1: expected a graph\n  \n  ^\n"},
        {"pcc 2", "1:5: 2 is out of range (1 to 1)\n  pcc 2\n      ^\n"},
        {"graph {\n  %a = Add(%x)\n}",
         "2:12: value 'x' is not defined above\n    %a = Add(%x)\n             ^\n"},
        {"graph { in %x\n\t%y = A(%z) %z = B(%x) }",
         "2:9: value 'z' is not defined above\n   %y = A(%z) %z = B(%x) }\n          ^\n"},
        {"graph { in %x in %x }", "1:18: value 'x' is defined twice in its graph\n"},
        {"graph { in %x %a = A(%x) name=\"n\" %b = B(%x) name=\"n\" }",
         "1:35: two nodes are named 'n' (say name=\"...\")\n"},
        {"graph { in %x : f33[2] }", "1:17: expected a type, found 'f33'\n"},
        {"graph { in %x : f32[2 }", "1:23: expected ',' or ']', found '}'\n"},
        {"graph { in %x : f32[2 2] }", "1:21: cannot read the dimension '2 2'\n"},
        {"graph { init %w : f32[2] = [1] }", "1:28: the shape wants 8 bytes, here are 4\n"},
        {"graph { init %w : i8[1] = [128] }", "1:28: 128 is out of range (-128 to 127)\n"},
        {"graph { init %w : f32[n] = [1] }",
         "1:28: expected 'tensor' and a shape: the value's has symbols\n"},
        {"graph { init %w : f32[1] = file 1 at 0 len 4 }", "1:33: there is no file 1 above\n"},
        {"graph { in %\"a }", "1:13: the string does not end on its line\n"},
        {"graph { in %\"\\q\" }", "1:14: unknown escape (known: \\\" \\\\ \\n \\r \\t \\xNN)\n"},
        {"graph { in %x %y = A(%x) {b=@g} }", "1:29: graph @g is not defined\n"},
        {"graph { in %x } graph @g { }", "1:23: this graph is the body of no node above\n"},
        {"graph { in %x %y = A(%x) {b=@g} %z = B(%x) } graph @g { out %z }",
         "1:61: value 'z' is defined after node 'y', which owns this body\n"},
        {"graph { in %x %y = A(%x) {b=[1, 2.5]} }", "1:33: expected an integer, found '2.5'\n"},
        {"graph { in %x %y = A(%x) {b=[]} }",
         "1:30: an empty list needs its kind: ints[], floats[], ...\n"},
        {"class a class b graph { in %x %y = A(%x) !time=[1us] }",
         "1:47: expected 2 times, one for each device class, found 1\n"},
        {"graph { in %x %y = A(%x) !time=1.5 }",
         "1:32: expected a time (1.5us) or 'never', found '1.5'\n"},
        {"graph { in %x %y = A(%x) !tine=1us }",
         "1:26: unknown key (known: !time !overhead !flops !traffic !own !params !color !layer !backward !device "
         "!slot !unnamed !lost !call !made !from !doc !meta !onnx, of values !bytes !elems !xfer !typed)\n"},
        {"graph { in %x %y, %z = A(%x) !bytes=4B }",
         "1:30: the node has not one result: say this after a type\n"},
        {"cluster \"x.json\"", "1:9: expected a cluster like \"2xa100,1xcpu\", not a file\n"},
        {"opset ai.onnx 20 cluster graph { in %x }",
         "1:18: the cluster has no classes (say 'class NAME' after it, or 'cluster \"2xa100\"')\n"},
        {"cluster io_free graph { in %x }",
         "1:1: the cluster has no classes (say 'class NAME' after it, or 'cluster \"2xa100\"')\n"},
        {"class a x0 graph { }", "1:1: the cluster has no devices\n"},
        {"class a x1025 graph { }", "1:9: expected a count from x0 to x1024\n"},
        {"class a memory=1GiB reserve=1GiB graph { }",
         "1:9: a reserve is less than the memory of an accelerator\n"},
        {"class a reserve=1GiB graph { }",
         "1:9: a reserve is less than the memory of an accelerator\n"},
        {"class a host memory=2GiB reserve=1GiB graph { }",
         "1:14: a reserve is less than the memory of an accelerator\n"},
        {"class a x2 between acc0 acc2=1GB/s,1us graph { }",
         "1:20: 'acc2' is no accelerator, expected one of acc0 to acc1\n"},
        {"class a x2 class b host between acc1 cpu0=1GB/s,1us graph { }",
         "1:33: 'cpu0' is no accelerator, expected one of acc0 to acc1\n"},
        {"between acc0 acc1=1GB/s,1us class a x2 graph { }",
         "1:9: 'acc0' is no accelerator, and a link needs two, but there are none\n"},
        {"class a x2 between acc1 acc1=1GB/s,1us graph { }",
         "1:20: a link from acc1 to itself, expected two devices\n"},
        {"class a x2 between acc0 acc1=1GB/s,1us between acc1 acc0 oneway=1GB/s,1us graph { }",
         "1:48: acc1 and acc0 have a link already, expected one each way at most\n"},
        {"class a x2 between acc0 acc1=0B/s,1us graph { }", "1:29: a link has a rate above 0\n"},
        {"class a x2 between acc0 acc1 2GB/s,1us graph { }", "1:30: expected '='"},
        {"class a x2 between acc0 acc1=2GB/s graph { }", "1:36: expected ','"},
        {"class a x2 between acc0 = 2GB/s,1us graph { }", "1:25: expected the name of a device"},
        {"class acc graph { in %x %y = A(%x) } plan { y = acc1 }",
         "1:49: expected a device of the cluster, found 'acc1'\n"},
        {"graph { in %x } plan { z = 0 }", "1:24: there is no node 'z'\n"},
        {"graph { in %x } $", "1:17: unexpected byte 0x24\n"},
        {"graph { in %~2 }", "1:12: lost values are numbered in order: expected %~1\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct text_module out;
        struct lines l = {""};
        struct diag d = {.emit = keep_line, .user = &l};
        char want[1024];
        snprintf(want, sizeof want, "test.pir:%s", t[i].want);
        if (module_parse(&out,
                         &(struct named_text){"test.pir", t[i].text, strlen(t[i].text), exec_kinds},
                         NULL, &d) == 0 ||
            d.errors != 1 || strncmp(l.text, want, strlen(want)) != 0) {
            fail_msg("text:\n%s\ngot:\n%swant:\n%s", t[i].text, l.text, want);
        }
    }
}

/* Bodies up to the limit, and one more; types likewise. */
static void test_depth(void **state)
{
    (void)state;
    for (int depth = 100; depth <= 101; depth++) {
        struct text_module out;
        struct diag d = diag_silent();
        size_t n = 0;
        char *text = NULL;
        FILE *f = open_memstream(&text, &n);
        fprintf(f, "graph @b0 {\n");
        for (int i = 1; i <= depth; i++) {
            fprintf(f, "() = If() {body=@b%d} }\ngraph @b%d {\n", i, i);
        }
        fprintf(f, "}\n");
        fclose(f);
        assert_int_equal(
            module_parse(&out, &(struct named_text){"deep", text, n, exec_kinds}, NULL, &d),
            depth == 100 ? 0 : -1);
        if (depth == 100) {
            arena_free(out.scene.m->mem);
        }
        free(text);
        f = open_memstream(&text, &n);
        fprintf(f, "graph { in %%x : ");
        for (int i = 0; i < depth; i++) {
            fprintf(f, "seq(");
        }
        fprintf(f, "?");
        for (int i = 0; i < depth; i++) {
            fprintf(f, ")");
        }
        fprintf(f, " }");
        fclose(f);
        assert_int_equal(
            module_parse(&out, &(struct named_text){"deep", text, n, exec_kinds}, NULL, &d),
            depth == 100 ? 0 : -1);
        if (depth == 100) {
            arena_free(out.scene.m->mem);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_equality),
        cmocka_unit_test(test_mutations),   cmocka_unit_test(test_profile),
        cmocka_unit_test(test_model),       cmocka_unit_test(test_shorthand_cluster),
        cmocka_unit_test(test_empty_class), cmocka_unit_test(test_slot_and_stage),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
