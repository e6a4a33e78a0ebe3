/* Any bytes as textual IR, the whole way: what parses and verifies is printed, parsed and printed alike;
 * its profile, if it has one, is planned; the plan is printed and parsed with the module, cut into
 * parts, and written and read as plan JSON.  The text is also read with files beside it ("w.bin", 64 bytes) and
 * written as a model, which can be read and is a verified module. */
#include "backends/backends.h"
#include "frontends/frontends.h"
#include "ir/plan/parts.h"
#include "ir/plan/plan_json.h"
#include "passes/given/plan_read.h"
#include "tests/fuzz/fuzz.h"
#include "tools/lib/exec/kinds.h"

enum { PLANNED_NODES = 64 };

static void check_plan(struct ctx *x, struct arena *a)
{
    struct verdict v = load_verdict(&x->scene, x->results.plan->dev, NULL, x->scene.m->mem);
    struct fuzz_folder folder = fuzz_folder_make(a, "empty", NULL, 0);
    const struct plan_report t = {.scene = &x->scene, .plan = x->results.plan, .verdict = &v};
    const char *path = arena_fmt(a, "%s/plan.json", folder.path);

    fuzz_check_text(&x->scene, x->results.plan);
    fuzz_check(parts_build(&x->scene, x->results.plan->dev, a) != NULL, "a plan can be cut");
    bool utf8 = fuzz_names_are_utf8(x->scene.m);
    struct given_plan back = {.dev = x->results.plan->dev};
    bool written = plan_json_write(&t, path, NULL, x->use.diag) ==
                   0; /* names of nodes that are not placed do not matter */
    fuzz_check(written || !utf8, "a plan in UTF-8 can be written");
    if (utf8 && x->levels.base->n > 0)
        fuzz_check(plan_read(&back, x, path) == 0, "a plan that was written can be read");
    for (nid n = 1; n < x->scene.m->nnode; n++)
        fuzz_check(x->scene.place->kind[n] != PLACE_NODE || back.dev[n] == x->results.plan->dev[n],
                   "the plan that is read is the plan that was written");
    fuzz_folder_remove(folder);
}

/* What can be written as a model can be read as one. */
static void check_model(const char *text, size_t size, struct arena *a)
{
    struct fuzz_folder folder = fuzz_folder_make(a, "model.pir", (const uint8_t *)text, size);
    const char *path = arena_fmt(a, "%s/model.onnx", folder.path);
    const struct onnx_options o = {0};
    struct diag d = fuzz_diag();
    struct text_module t = {0};

    fuzz_folder_weights(a, folder);
    int rc =
        text_read(&t, &(struct named_text){folder.file, text, size, exec_kinds}, false, NULL, &d);
    fuzz_check_result(rc, &d);
    if (rc == 0) {
        rc = onnx_make(t.scene.m, &d) != 0 || onnx_write(t.scene.m, path, &d) != 0 ? -1 : 0;
        fuzz_check_result(rc, &d);
    }
    if (rc == 0) {
        struct module *m = onnx_read(path, &o, NULL, &d);
        fuzz_check(m != NULL, "a model that was written from a text can be read");
        fuzz_check(module_verify(m, &d) == 0,
                   "a model that was written from a text is a verified module");
        arena_free(m->mem);
    }
    if (t.scene.m != NULL)
        arena_free(t.scene.m->mem);
    fuzz_folder_remove(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = fuzz_diag();
    struct text_module t = {0};
    struct arena *a = arena_new(NULL);
    const char *text = fuzz_text(a, data, size);
    int rc = module_parse(&t, &(struct named_text){"fuzz.pir", text, size, exec_kinds}, NULL, &d);

    fuzz_check_result(rc, &d);
    check_model(text, size, a);
    if (rc == 0 && module_verify(t.scene.m, &d) == 0) {
        fuzz_check_text(&t.scene, t.plan);
        struct cluster c;
        struct ctx x = {.use.diag = &d, .scene = t.scene};
        if (x.scene.cluster == NULL)
            x.scene.cluster = &c;
        cluster_default(&c);
        if (t.scene.m->nnode <= PLANNED_NODES &&
            fuzz_run(&x, "fuse,dp-place{max-states=500:starts=2}") == 0)
            check_plan(&x, a);
    }
    if (rc == 0) {
        arena_free(t.scene.m->mem);
    }
    arena_free(a);
    return 0;
}
