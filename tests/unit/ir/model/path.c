/* Paths of nodes (ir/model/path.c): from names, from the metadata of PyTorch's exporter, from hostile ones; the
 * memory that they take; and the layers that they give. */
#include "ir/model/layers.h"
#include "ir/model/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAMES "pkg.torch.onnx.name_scopes"
#define CLASSES "pkg.torch.onnx.class_hierarchy"

/* Adds a node to the main graph, with metadata key, value, ... up to NULL. */
static nid add_node(struct module *m, const char *name, const char *const *meta)
{
    nid n = module_add_node(m);
    uint32_t many = 0;
    while (meta[many])
        many++;
    struct slice s = module_add_sids(m, NULL, many);
    for (uint32_t i = 0; i < many; i++)
        m->sids[s.at + i] = str_id(m, meta[i]);
    m->node[n].name = str_id(m, name);
    m->node[n].graph = 1;
    m->node[n].about = many ? module_add_about(m, (struct about){.meta = s}) : 0;
    m->graph[1].count++;
    return n;
}

static struct module *new_module(void)
{
    static struct diag d;
    struct module *m = module_new(NULL, &d);
    module_add_graph(m);
    m->graph[1].first = 1;
    return m;
}

static void check_path(const char *name, const char *const *meta, const char *want)
{
    struct module *m = new_module();
    nid n = add_node(m, name, meta);
    module_note_scopes(m);
    const char *is = node_path(m, n, m->mem);
    if (strcmp(is, want) != 0)
        fail_msg("%s with %s=%.200s: path %s, expected %s", name, meta[0] ? meta[0] : "nothing",
                 meta[0] ? meta[1] : "", is, want);
    struct scope s = node_scope(m, n);
    const char *slash = strrchr(want, '/');
    assert_int_equal(s.len, slash ? slash - want : 0);
    assert_memory_equal(s.at, want, s.len);
    arena_free(m->mem);
}

static void test_sources(void **state)
{
    static const struct {
        const char *name, *meta[7], *want;
    } t[] = {{"node_add", {NULL}, "node_add"},
             {"/h.3/attn/MatMul", {NULL}, "/h.3/attn/MatMul"},
             /* a name with a scope stays, whatever metadata say */
             {"/h.3/Add", {"namespace", ": M/b: B/add: aten.add"}, "/h.3/Add"},
             {"a",
              {"namespace", ": M/e: E/e.layer.5: L/e.layer.5.out: O/add_3: aten.add"},
              "/e/layer.5/out/a"},
             {"a", {"namespace", ": M/add_3: aten.add.Tensor"}, "a"},
             {"a", {"namespace", "add_3: aten.add.Tensor"}, "a"},
             {"a", {"namespace", ": __main__.f.<locals>.M/l.0: x/y.L/add: aten.add"}, "/l.0/a"},
             {"a", {"namespace", "org.example/none"}, "a"},
             {"a", {"namespace", ""}, "a"},
             {"a", {"namespace", "////"}, "a"},
             {"a", {NAMES, "['', 'm', 'm.layer3.0.conv', 'conv2d_7']"}, "/m/layer3.0/conv/a"},
             {"a", {NAMES, "['', \"m\", \"m.h.1\", 'add']"}, "/m/h.1/a"},
             {"a", {NAMES, "['blocks.4.0.bn2', 'add']"}, "/blocks.4/0/bn2/a"},
             {"a", {NAMES, "['0.1.2', 'add']"}, "/0/1/2/a"},
             {"a", {NAMES, "['layer.5@1', 'add']"}, "/layer.5@1/a"},
             {"a", {NAMES, "['_empty_nn_module_stack_from_metadata_hook', 'add']"}, "a"},
             {"a", {NAMES, "['m']"}, "a"},
             {"a", {NAMES, "[]"}, "a"},
             {"a", {NAMES, "['.m..n.', 'x']"}, "/m/n/a"},
             {"a",
              {CLASSES, "['models.Out', 'bert.Bert', 'Layer', 'aten.add.Tensor']"},
              "/Out/Bert/Layer/a"},
             {"a", {CLASSES, "['aten.add.Tensor']"}, "a"},
             /* names before the namespace, the namespace before classes, whatever their order */
             {"a",
              {CLASSES, "['M', 'L', 'x']", "namespace", ": M/n: L/x: y", NAMES, "['', 's', 'x']"},
              "/s/a"},
             {"a", {CLASSES, "['M', 'L', 'x']", "namespace", ": M/n: L/x: y"}, "/n/a"},
             /* what is broken gives way to the next */
             {"a", {NAMES, "['', 'm", "namespace", ": M/n: L/x: y"}, "/n/a"},
             {"a", {NAMES, "['', 'm\\'', 'x']", "namespace", ": M/n: L/x: y"}, "/n/a"},
             {"a", {NAMES, "['', 'm', 'x'] + ['y']", "namespace", ": M/n: L/x: y"}, "/n/a"},
             {"a", {NAMES, "m, x", CLASSES, "['M', 'L', 'x']"}, "/M/L/a"},
             {"a", {NAMES, "['', 'm\x01', 'x']"}, "a"},
             {"a", {NAMES, "['', 'm\x7f', 'x']", "namespace", ": M/\n: L/x: y"}, "a"}};
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check_path(t[i].name, t[i].meta, t[i].want);
}

/* Returns "['', '" with n bytes of fill and "', 'x']" after it; to be freed. */
static char *long_list(size_t n, const char *fill)
{
    char *text = NULL;
    size_t size, many = strlen(fill);
    FILE *f = open_memstream(&text, &size);
    fputs("['', '", f);
    for (size_t i = 0; i < n; i++)
        fputc(fill[i % many], f);
    fputs("', 'x']", f);
    fclose(f);
    return text;
}

/* Scopes up to SCOPE_MOST bytes are used; long, deep and binary ones are not, and end in time. */
static void test_hostile(void **state)
{
    static const char *const fill[] = {"a", "a.", ".", "[", "/", "\xff", "a: b/", "1."};
    (void)state;
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
        char *text = long_list(500000, fill[i]);
        check_path("n", (const char *const[]){NAMES, text, NULL}, "n");
        check_path("n", (const char *const[]){CLASSES, text, NULL}, "n");
        /* the last module of a namespace counts, however many there are */
        const char *want = strstr(fill[i], ": ") ? "/a/n" : "n";
        check_path("n", (const char *const[]){"namespace", text, NULL}, want);
        free(text);
    }
    for (size_t n = SCOPE_MOST - 2; n <= SCOPE_MOST + 1; n++) {
        char *text = long_list(n, "b"), want[SCOPE_MOST + 20] = "n";
        if (n < SCOPE_MOST)
            snprintf(want, sizeof want, "/%.*s/n", (int)n, text + 6);
        check_path("n", (const char *const[]){NAMES, text, NULL}, want);
        free(text);
    }
}

/* Each scope is in memory once: a million bytes of metadata, shared by the nodes, take no more. */
static void test_memory(void **state)
{
    enum { NODES = 100000 };
    struct module *m = new_module();
    char *text = long_list(900, "b");
    (void)state;
    for (uint32_t i = 0; i < NODES; i++)
        add_node(m, "n", (const char *const[]){NAMES, text, NULL});
    size_t before = arena_used(m->mem);
    module_note_scopes(m);
    assert_in_range(arena_used(m->mem) - before, NODES * sizeof *m->scope,
                    NODES * sizeof *m->scope + 10000);
    assert_string_equal(node_path(m, 7, m->mem), node_path(m, NODES, m->mem));
    free(text);
    arena_free(m->mem);
}

static void test_layers(void **state)
{
    static const char *const scope[] = {"['x']", "['m.layer.0.attn', 'x']", "['m.layer.0', 'x']",
                                        "['m.layer.1.mlp', 'x']", "['m.layer.1@1', 'x']"};
    static const uint32_t want[] = {0, 1, 1, 2, 3};
    struct module *m = new_module();
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        char name[] = {'n', (char)('0' + i), 0};
        add_node(m, name, (const char *const[]){NAMES, scope[i], NULL});
    }
    module_note_scopes(m);
    struct layers l = layers_find(m, m->mem);
    assert_int_equal(l.n, 3);
    for (uint32_t i = 0; i < 5; i++) {
        struct scope in = layers_inside(m, &l, i + 1);
        assert_int_equal(l.of[i + 1], want[i]);
        assert_int_equal(in.len, i == 1 ? 4 : i == 3 ? 3 : 0);
        assert_memory_equal(in.at, i == 1 ? "attn" : "mlp", in.len);
    }
    arena_free(m->mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
