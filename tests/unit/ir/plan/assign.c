/* Devices for nodes by name, by id and by the name of a range (assign.h), and JSON in its forms (plan_json.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/ir.h"
#include "ir/plan/plan_json.h"

#include <string.h>

static const char text[] = "class acc x2\nclass cpu host\ngraph {\n"
                           "  %a = profile:op() {id=7} !time=1us !bytes=1B\n"
                           "  %b = profile:op(%a) {id=8} !time=1us !bytes=1B\n"
                           "  %c = profile:op(%b) {id=9} !time=1us !bytes=1B\n"
                           "  out %c\n}\n";

struct world {
    struct text_module t;
    struct diag d;
    struct assignment r;
    char said[256];
    nid a; /* b and c follow */
};

static void keep(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct world *world = user;
    (void)level;
    (void)w;
    snprintf(world->said, sizeof world->said, "%s", line);
}

static void enter(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->d = (struct diag){.emit = keep, .user = w, .limit = UINT32_MAX};
    assert_int_equal(
        module_parse(&w->t, &(struct named_text){"assign", text, strlen(text), NULL}, NULL, &w->d),
        0);
    struct module *m = w->t.scene.m;
    w->t.scene.place = place_build(m, NULL, 0, m->mem, &w->d);
    w->a = m->nnode - 3;
    w->r = (struct assignment){.scene = &w->t.scene, .path = "p", .a = m->mem, .diag = &w->d};
    assign_begin(&w->r);
}

static void leave(struct world *w)
{
    arena_free(w->t.scene.m->mem);
}

static int read(struct world *w, const char *json)
{
    return plan_json_read(&w->r, json, strlen(json));
}

static void test_forms(void **state)
{
    static const char *const form[] = {
        "{\"pcc_plan\": 1, \"devices\": [{\"name\": \"acc1\", \"nodes\": [\"a\"]},"
        " {\"name\": \"gone\", \"nodes\": []}, {\"name\": \"cpu0\", \"nodes\": [\"c\", \"b\"]}]}",
        "{\"pcc_manifest\": 1, \"parts\": [{\"file\": \"x\", \"device\": \"acc1\"}, {\"file\": \"y\", "
        "\"device\": \"cpu0\"}], \"nodes\": {\"x\": [\"a\"], \"y\": [\"b\", \"c\"]}}",
        "{\"fpgas\": [{\"nodes\": []}, {\"nodes\": [7]}], \"cpus\": [{\"nodes\": [8, 9]}]}"};
    struct world w;
    (void)state;
    for (int i = 0; i < 3; i++) {
        enter(&w);
        assert_int_equal(read(&w, form[i]), 0);
        assert_int_equal(assign_end(&w.r), 0);
        assert_true(w.r.dev[w.a] == 1 && w.r.dev[w.a + 1] == 2 && w.r.dev[w.a + 2] == 2);
        leave(&w);
    }
    assert_true(plan_json_calls_open(form[0], strlen(form[0])));
    assert_false(plan_json_calls_open(form[2], strlen(form[2])));
}

/* Among names a number is no node, and among ids a name is none, whatever numbers the interner has. */
static void test_kinds_apart(void **state)
{
    struct world w;
    (void)state;
    enter(&w);
    assign_by_name(&w.r);
    for (sid s = 1; s < 200; s++)
        assert_int_equal(assign_numbered(&w.r, (int64_t)s - 1, 0), -1);
    assert_int_equal(assign_named(&w.r, "b", 0), 0);
    leave(&w);
    enter(&w);
    assign_by_id(&w.r);
    char name[16];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "new%d", i);
        assert_int_equal(assign_named(&w.r, name, 0), -1);
    }
    assert_string_equal(w.said, "p: there is no node 'new199' in assign");
    assert_int_equal(assign_named(&w.r, "a", 0), -1);
    assert_int_equal(assign_numbered(&w.r, 7, 0), 0);
    assert_int_equal(w.r.dev[w.a], 0);
    leave(&w);
}

static void test_errors(void **state)
{
    struct world w;
    (void)state;
    enter(&w);
    assign_by_name(&w.r);
    assert_int_equal(assign_device(&w.r, "acc7"), -1);
    assert_string_equal(w.said,
                        "p: there is no device 'acc7': expected one of acc0 to acc1 and cpu0");
    assert_int_equal(assign_named(&w.r, "a", 0), 0);
    assert_int_equal(assign_named(&w.r, "a", 0), 0);
    assert_int_equal(assign_named(&w.r, "a", 1), -1);
    assert_string_equal(w.said, "p: node 'a' is on 'acc0' and on 'acc1': expected one device");
    assert_int_equal(assign_end(&w.r), -1);
    assert_string_equal(w.said, "p: 2 of 3 placed nodes have no device, the first is 'b'");
    leave(&w);
}

/* A range takes all of its nodes along. */
static void test_ranges(void **state)
{
    struct world w;
    (void)state;
    enter(&w);
    struct node_range range = {str_id(w.t.scene.m, "call"), w.a + 1, w.a + 3};
    w.r.range = &range;
    w.r.nrange = 1;
    assert_int_equal(
        read(&w, "{\"pcc_plan\": 1, \"devices\": [{\"name\": \"acc0\", \"nodes\": [\"a\"]},"
                 " {\"name\": \"acc1\", \"nodes\": [\"call\"]}]}"),
        0);
    assert_int_equal(assign_end(&w.r), 0);
    assert_true(w.r.dev[w.a] == 0 && w.r.dev[w.a + 1] == 1 && w.r.dev[w.a + 2] == 1);
    assert_int_equal(assign_stage(&w.r, "call", 3), 0);
    assert_int_equal(assign_stage(&w.r, "a", 2), 0);
    assert_true(w.r.stage_of[w.a] == 2 && w.r.stage_of[w.a + 1] == 3 && w.r.stage_of[w.a + 2] == 3);
    assert_int_equal(assign_stage(&w.r, "gone", 1), -1);
    assert_string_equal(w.said, "p: there is no node 'gone' in assign");
    assert_int_equal(assign_stage(&w.r, "", 1), -1);
    leave(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_kinds_apart),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
