/* Any bytes as an ONNX model, the whole way: scanned (once more, as bytes of exactly this size, so that
 * sanitizers see what they cannot see in a mapped file), read, verified, printed and parsed, written and
 * read again, planned for fast links (so that there are several parts; calls of functions are opened;
 * its text is planned, too, has the same optimum, and becomes the same model again), printed and parsed with its
 * plan, split (with device configurations or without, its weights in each of the three places), and every part and
 * the annotated whole read again.  The split's manifest and the annotated whole give back the plan; its schedule
 * holds; the configurations are sound if the source had none.  What ONNX is by its contents is recognised without a
 * name.  With its constants computed it is verified, written and read again.
 *
 * Beside the model lies a file "w.bin" of 64 bytes for external data.  Pictures are not laid out. */
#include "backends/backends.h"
#include "ir/plan/parts.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"
#include "frontends/frontends.h"
#include "frontends/onnx/scan.h"
#include "onnx.pb-c.h"
#include "passes/functions/close_plan.h"
#include "passes/given/plan_read.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/wire.h"
#include "tests/support/module_equal.h"
#include "tools/lib/exec/kinds.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLANNED_NODES = 64 };

static uint8_t *read_back(struct arena *a, const char *path, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    fuzz_check(fd >= 0 && fstat(fd, &st) == 0, "what was written is there");
    *n = (size_t)st.st_size;
    uint8_t *bytes = arena_alloc(a, *n);
    fuzz_check(read(fd, bytes, *n) == (ssize_t)*n && close(fd) == 0, "what was written is there");
    return bytes;
}

/* Written, read, written again: equal bytes. */
static void check_write(const struct module *m, struct fuzz_folder folder, struct arena *a)
{
    const struct onnx_options o = {0};
    struct diag d = fuzz_diag();
    const char *first = arena_fmt(a, "%s/first.onnx", folder.path);
    const char *second = arena_fmt(a, "%s/second.onnx", folder.path);
    size_t n, again_n;

    fuzz_check(onnx_write(m, first, &d) == 0, "what was read can be written");
    struct module *back = onnx_read(first, &o, NULL, &d);
    fuzz_check(back != NULL, "what was written can be read");
    fuzz_check(onnx_write(back, second, &d) == 0, "it can be written again");
    uint8_t *bytes = read_back(a, first, &n), *again = read_back(a, second, &again_n);
    fuzz_check(n == again_n && memcmp(bytes, again, n) == 0, "it is written alike each time");
    arena_free(back->mem);
}

/* Whether the module is as the file: nodes were in an order in which they can run, or they have other made-up names
 * when they are written; no value lost its name to another one. */
static bool is_plain(const struct module *m)
{
    bool plain = true;
    for (vid v = 1; v < m->nval; v++)
        plain = plain && (m->value[v].flags & VALUE_LOST) == 0;
    for (gid g = 1; g < m->ngraph; g++) {
        const Onnx__GraphProto *p = m->graph[g].src;
        for (uint32_t i = 0; p != NULL && i < m->graph[g].count; i++)
            plain = plain && m->node[m->graph[g].first + i].src == p->node[i];
    }
    for (uint32_t f = 1; f < m->nfunction; f++)
        plain = plain && is_plain(m->function[f].body);
    return plain;
}

/* Printed with all that ONNX alone knows of it, read, and written: the same model.  What text cannot carry is
 * refused. */
static void check_carried(struct module *m, struct fuzz_folder folder, struct arena *a)
{
    const struct onnx_options o = {0};
    struct diag d = fuzz_diag();
    const char *path = arena_fmt(a, "%s/carried.pir", folder.path);
    const char *again = arena_fmt(a, "%s/carried.onnx", folder.path);
    const struct writer *w = writer_of(path);
    struct result r = {.scene.m = m, .diag = &d};
    struct text_module t = {0};
    size_t n;

    int rc = writer_run(w, &r, writer_opts_new(w, a), path);
    fuzz_check_result(rc, &d);
    if (rc != 0) {
        return;
    }
    const char *text = (const char *)read_back(a, path, &n);
    fuzz_check(
        text_read(&t,
                  &(struct named_text){path, fuzz_text(a, (const uint8_t *)text, n), n, exec_kinds},
                  false, NULL, &d) == 0,
        "the text of a model can be read");
    fuzz_check(onnx_make(t.scene.m, &d) == 0 && onnx_write(t.scene.m, again, &d) == 0,
               "the text of a model can be written as a model");
    struct module *back = onnx_read(again, &o, NULL, &d);
    fuzz_check(back != NULL, "what was written from a text can be read");
    fuzz_check(onnx_carry(back, &d) == 0, "what text has carried it can carry again");
    fuzz_check(!is_plain(m) || module_written(m, back), "a model comes back from its text");
    arena_free(back->mem);
    arena_free(t.scene.m->mem);
}

/* sound: it has no annotations or sound ones. */
static void check_model(const char *path, bool sound)
{
    const struct onnx_options o = {.allow_links = true}; /* to the source's files */
    struct diag d = fuzz_diag();
    struct module *m = onnx_read(path, &o, NULL, &d);

    fuzz_check(m != NULL, "a model of the split can be read");
    fuzz_check(module_verify(m, &d) == 0, "a model of the split is a verified module");
    fuzz_check(check_annotations(m, &d) == 0 || !sound, "the annotations of the split are sound");
    arena_free(m->mem);
}

static struct module *read_model(const char *path, struct arena *of, struct diag *d)
{
    const struct onnx_options o = {.allow_links = true}; /* to the source's files */
    return onnx_read(path, &o, of, d);
}

/* The plan that is read from `from` is the one that was written there. */
static void check_plan(struct ctx *x, const char *from)
{
    struct given_plan back;

    fuzz_check(plan_read(&back, x, from) == 0, "the plan of a split can be read");
    for (nid n = 1; n < x->scene.m->nnode; n++)
        fuzz_check(x->scene.place->kind[n] != PLACE_NODE || back.dev[n] == x->results.plan->dev[n],
                   "the plan that is read is the plan that was written");
}

static struct json_text read_json(struct arena *a, const char *folder, const char *file)
{
    struct json_text j = {.path = arena_fmt(a, "%s/%s", folder, file)};
    uint8_t *bytes = read_back(a, j.path, &j.n);
    j.text = fuzz_text(a, bytes, j.n);
    return j;
}

/* The lists of a split hold, whatever memory there is. */
static void check_schedule(const struct module *m, const char *folder, struct diag *d)
{
    struct arena *a = m->mem;
    for (vid v = 1; v < m->nval; v++) {
        json_t *name = json_string(value_name(m, v));
        if (name == NULL) { /* JSON cannot hold it: two names may be one there */
            return;
        }
        json_decref(name);
    }
    struct json_text manifest = read_json(a, folder, "manifest.json");
    struct json_text schedule = read_json(a, folder, SCHEDULE_FILE);
    struct sample_work *w = work_read(&manifest, a, d);
    fuzz_check(w != NULL, "the work of a split can be read");
    struct schedule *s = schedule_read(&schedule, w, a, d);
    fuzz_check(s != NULL, "the schedule of a split can be read");
    for (uint32_t i = 0; i < w->ndev; i++) {
        w->memory[i] = -1;
    }
    fuzz_check(schedule_check(s->work, s, a) == NULL, "the schedule of a split holds");
}

/* Calls that no cut divides are nodes again in r, and what is left is a module. */
static void close_calls(struct ctx *x, struct result *r, struct closed_plan *p, struct arena *a)
{
    x->use.scratch = a;
    if (x->results.opened != NULL && close_plan(x, r->parts, r->verdict, p)) {
        fuzz_check(module_verify(&p->m, x->use.diag) == 0,
                   "a module with calls closed is verified");
        r->scene.m = &p->m;
        r->scene.place = p->scene.place;
        r->plan = &p->plan;
        r->verdict = &p->verdict;
        r->parts = p->parts;
    }
    if (onnx_make(r->scene.m, r->diag))
        return;
}

static void split(struct ctx *x, const char *folder, const struct split_options *o, bool sound)
{
    struct arena *a = x->scene.m->mem;
    struct closed_plan closed;
    struct verdict v = load_verdict(&x->scene, x->results.plan->dev, NULL, a);
    struct result r = {.scene = x->scene,
                       .plan = x->results.plan,
                       .verdict = &v,
                       .parts = parts_build(&x->scene, x->results.plan->dev, a),
                       .diag = x->use.diag};
    const char **name = arena_array(a, (size_t)ctx_ndims(x) + 1, sizeof *name);
    int64_t *value = arena_array(a, (size_t)ctx_ndims(x) + 1, sizeof *value);

    for (uint32_t i = 0; i < ctx_ndims(x); i++) {
        name[i] = ctx_dim(x, i)->name;
        value[i] = ctx_dim(x, i)->value;
    }
    r.dim_name = name;
    r.dim_value = value;
    r.ndims = ctx_ndims(x);
    fuzz_check(r.parts != NULL, "a plan can be cut");
    close_calls(x, &r, &closed, a);
    int rc = split_write(&r, o, folder);
    fuzz_check_result(rc, x->use.diag);
    fuzz_check(rc == 0 || access(folder, F_OK) != 0, "a split that fails leaves nothing");
    if (rc != 0) {
        return;
    }
    check_schedule(r.scene.m, folder, x->use.diag);
    const char *whole = arena_fmt(a, "%s/model.onnx", folder);
    check_model(whole, sound);
    for (uint32_t i = 0; i < r.parts->nparts; i++) {
        check_model(arena_fmt(a, "%s/%s", folder, part_file(r.parts, i, a)), false);
    }
    if (x->levels.base->n > 0 && fuzz_names_are_utf8(x->scene.m)) {
        check_plan(x, folder);
    }
    if (x->levels.base->n > 0) {
        check_plan(x, whole);
    }
}

/* The text of a model has all that a plan is made from, but the contents of files. */
static bool text_suffices(const struct module *m)
{
    bool all = true;
    for (tid t = 1; t < m->ntensor; t++)
        all = all && m->tensor[t].where != TENSOR_FILE;
    return all;
}

/* The text's module is planned like the model's. */
static void check_text_plan(const struct ctx *x, struct module *text, const char *passes)
{
    struct diag d = fuzz_diag();
    struct ctx y = {.use.diag = &d,
                    .scene = {.m = text, .cluster = x->scene.cluster, .model = x->scene.model}};

    fuzz_run(&y, "open-functions");
    fuzz_check(fuzz_run(&y, passes) == 0, "the text of a model can be planned like the model");
    fuzz_check(x->results.plan->claim.status != PLAN_OPTIMAL ||
                   y.results.plan->claim.status != PLAN_OPTIMAL ||
                   x->results.plan->claim.value == y.results.plan->claim.value,
               "the text of a model has the same optimum");
}

static void plan(struct module *m, struct diag *d, const char *folder, size_t size)
{
    static const char passes[] = "fuse,dp-place{max-states=500:starts=2}";
    struct cluster c;
    struct ctx x = {.use.diag = d,
                    .scene = {.m = m, .cluster = &c, .model.kinds = exec_kinds},
                    .use.read_model = read_model};

    cluster_default(&c);
    fuzz_check(cluster_set_link(&c, "1TB/s,0us", d) == 0, "the target's own link is right");
    if (m->nnode > PLANNED_NODES) {
        return;
    }
    struct module *text = text_suffices(m) ? fuzz_reparse(m) : NULL;
    int rc = fuzz_run(&x, "open-functions");
    rc = m->nnode > PLANNED_NODES ? -1 : rc != 0 ? rc : fuzz_run(&x, passes);
    if (rc == 0 && text != NULL) {
        check_text_plan(&x, text, passes);
    }
    if (text != NULL) {
        arena_free(text->mem);
    }
    if (rc != 0) {
        return;
    }
    struct diag own = fuzz_diag();
    bool sound =
        check_annotations(m, &own) == 0 && !((const Onnx__ModelProto *)m->src)->n_configuration;
    fuzz_check_text(&x.scene, x.results.plan);
    const struct split_options o = {.weights = (int64_t)(size % WEIGHTS_MODES),
                                    .annotate = size % 2 ? ANNOTATE_METADATA : ANNOTATE_IR11};
    split(&x, folder, &o, sound);
}

/* The model with its constants computed, and without nodes that do nothing, is verified, written and read again. */
static void rewrite(struct fuzz_folder folder, struct arena *a)
{
    const struct onnx_options o = {0};
    struct diag d = fuzz_diag();
    struct cluster c;
    struct module *m = onnx_read(folder.file, &o, NULL, &d);
    struct ctx x = {.use.diag = &d, .scene = {.m = m, .cluster = &c, .model.kinds = exec_kinds}};

    cluster_default(&c);
    fuzz_check(m != NULL, "what was read can be read again");
    int rc = fuzz_run(&x, "fold-constants{max=64KiB},drop-identity");
    fuzz_check_result(rc, &d);
    fuzz_check(module_verify(m, &d) == 0, "what was rewritten is a verified module");
    if (rc == 0 && onnx_make(m, &d) == 0) {
        check_write(m, folder, a);
    }
    arena_free(m->mem);
}

/* Every other mutation keeps the wire format. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
    uint64_t rng = UINT64_C(0x9e3779b97f4a7c15) * (seed + UINT64_C(1)) | 1;
    if (seed % 2 && LLVMFuzzerMutate)
        return LLVMFuzzerMutate(data, n, most);
    return wire_mutate(data, n, most, &rng);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct onnx_options o = {0};
    struct arena *a = arena_new(NULL);
    struct diag d = fuzz_diag();
    struct fuzz_folder folder = fuzz_folder_make(a, "model", data, size);

    setenv("PATH", "", 1); /* no dot */
    fuzz_folder_weights(a, folder);
    enum input_kind kind = input_kind_of(folder.file);
    struct diag own = fuzz_diag();
    struct onnx_skeleton skeleton;
    int fd = open(folder.file, O_RDONLY | O_CLOEXEC);
    int rc = onnx_scan(fd, size, "model", a, &skeleton, &own);
    close(fd);
    fuzz_check_result(rc, &own);
    d.user = arena_fmt(a, "%s: protobuf-c refuses the file", folder.file);
    struct module *m = onnx_read(folder.file, &o, NULL, &d);
    fuzz_check_result(m == NULL ? -1 : 0, &d);
    if (m != NULL) {
        fuzz_check(rc == 0, "what was read has been scanned");
        fuzz_check(kind == INPUT_ONNX, "a model is known by its contents");
        fuzz_check(module_verify(m, &d) == 0, "what was read is a verified module");
        fuzz_check_text(&(struct scene){.m = m}, NULL);
        check_write(m, folder, a);
        check_carried(m, folder, a);
        plan(m, &d, arena_fmt(a, "%s/split", folder.path), size);
        rewrite(folder, a);
        arena_free(m->mem);
    }
    fuzz_folder_remove(folder);
    arena_free(a);
    return 0;
}
