/* Any bytes as an ONNX model that is planned for fast links, so that there are several parts, and
 * split, every other one with device configurations, and with its weights in each of the three places.
 * Every part and the annotated whole can be read
 * again, and the configurations are sound if the source had none.  Pictures are not laid out. */
#include "backends/backends.h"
#include "backends/cut.h"
#include "frontends/frontends.h"
#include "onnx.pb-c.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <unistd.h>

enum { SPLIT_NODES = 64 };

/* sound: it has no annotations or sound ones. */
static void check_model(const char *path, bool sound)
{
    const struct onnx_options o = {.allow_links = true}; /* to the source's files */
    struct diag d = fuzz_diag();
    struct module *m = onnx_read(path, &o, &d);

    fuzz_check(m != NULL, "a model of the split can be read");
    fuzz_check(module_verify(m, &d) == 0, "a model of the split is a verified module");
    fuzz_check(check_annotations(m, &d) == 0 || !sound, "the annotations of the split are sound");
    arena_free(m->mem);
}

static void split(struct ctx *x, const char *folder, enum weights_mode weights, bool ir11,
                  bool sound)
{
    struct arena *a = x->m->mem;
    struct verdict v = judge(x->m, x->place, x->cluster, x->plan->dev, a);
    struct result r = {.m = x->m,
                       .cluster = x->cluster,
                       .place = x->place,
                       .plan = x->plan,
                       .verdict = &v,
                       .cut = cut_build(x->m, x->place, x->cluster, x->plan->dev, a),
                       .weights = weights,
                       .ir11 = ir11,
                       .diag = x->diag};
    const char **name = arena_array(a, (size_t)x->ndims + 1, sizeof *name);
    int64_t *value = arena_array(a, (size_t)x->ndims + 1, sizeof *value);

    for (uint32_t i = 0; i < x->ndims; i++) {
        name[i] = x->dims[i].name;
        value[i] = x->dims[i].value;
    }
    r.dim_name = name;
    r.dim_value = value;
    r.ndims = x->ndims;
    fuzz_check(r.cut != NULL, "a plan can be cut");
    int rc = split_write(&r, folder);
    fuzz_check_result(rc, x->diag);
    fuzz_check(rc == 0 || access(folder, F_OK) != 0, "a split that fails leaves nothing");
    if (rc != 0) {
        return;
    }
    check_model(arena_fmt(a, "%s/model.onnx", folder), sound);
    for (uint32_t i = 0; i < r.cut->nparts; i++) {
        check_model(arena_fmt(a, "%s/%s", folder, cut_part_file(r.cut, i, a)), false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct onnx_options o = {0};
    struct arena *a = arena_new();
    struct diag d = fuzz_diag();
    struct cluster c;
    struct fuzz_folder folder = fuzz_folder_make(a, "model.onnx", data, size);
    fuzz_folder_weights(a, folder);
    struct module *m = onnx_read(folder.file, &o, &d);
    struct ctx x = {.diag = &d, .m = m, .cluster = &c};

    setenv("PATH", "", 1); /* no dot */
    cluster_default(&c);
    fuzz_check(cluster_set_link(&c, "1TB/s,0us", &d) == 0, "the target's own link is right");
    if (m != NULL && m->nnode <= SPLIT_NODES &&
        fuzz_run(&x, "dp-place{max-states=500:starts=2}") == 0) {
        struct diag own = fuzz_diag();
        bool sound =
            check_annotations(m, &own) == 0 && !((const Onnx__ModelProto *)m->src)->n_configuration;
        split(&x, arena_fmt(a, "%s/split", folder.path), (enum weights_mode)(size % WEIGHTS_MODES),
              size % 2 == 0, sound);
    }
    if (m != NULL) {
        arena_free(m->mem);
    }
    fuzz_folder_remove(folder);
    arena_free(a);
    return 0;
}
