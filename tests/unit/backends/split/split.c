/* Split folders: what may be replaced and what is left behind; names; and, as a tool for
 * test_split.py, splits by plans that no planner would make:
 *
 *     unit_split MODEL FOLDER DEVICES SEED STAY
 *
 * gives each placed node a random device, changing it with probability 1 / STAY.
 *
 * extras: shared */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "ir/plan/parts.h"
#include "backends/split/folder.h"
#include "ir/base/name_table.h"
#include "frontends/frontends.h"
#include "passes/pipeline.h"
#include "passes/shapes/bind_dims.h"
#include "tests/support/extras.h"
#include "tools/lib/exec/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- random plans --------------------------------------------------------------------------- */

/* How a plan is drawn: for so many devices; a node goes elsewhere than the one before it once in `stay` times. */
struct draw {
    uint32_t ndev, stay;
    uint64_t seed;
    bool undrawn; /* pictures are left to dot's language: `dot` would take as long as all else */
};

static int32_t *random_plan(const struct module *m, const struct place *p, struct draw draw,
                            struct arena *a)
{
    int32_t *dev = arena_array(a, m->nnode, sizeof *dev), d = -1;
    uint64_t s = draw.seed * 7919 + 1;
    memset(dev, 0xff, m->nnode * sizeof *dev);
    for (nid n = 1; n < m->nnode; n++) {
        if (p->kind[n] != PLACE_NODE)
            continue;
        s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t r = (uint32_t)(s >> 33);
        if (d < 0 || r / 256 % draw.stay == 0)
            d = (int32_t)(r % draw.ndev);
        dev[n] = d;
    }
    return dev;
}

/* Split `path` into `folder`; *nparts, if not NULL, tells how many there are. */
static int split_randomly(const char *path, const char *folder, struct draw draw, uint32_t *nparts,
                          struct diag *d)
{
    struct arena *mem = arena_new(NULL), *scratch = arena_new(NULL);
    struct onnx_options o = {0};
    struct cluster cl;
    struct pipeline pipe = {0};
    struct run_options ro = {0};
    struct plan plan = {.planner = "random",
                        .claim = {.bound = -1, .bound_all = -1, .status = PLAN_HEURISTIC}};
    struct module *m = onnx_read(path, &o, NULL, d);
    struct ctx x = {.use.mem = mem,
                    .use.scratch = scratch,
                    .use.diag = d,
                    .scene = {.m = m, .cluster = &cl, .model.kinds = exec_kinds}};
    int rc = -1;
    if (!m || cluster_parse(&cl, mem, arena_fmt(mem, "%uxa100", draw.ndev), d) ||
        pipeline_parse(&pipe, "cost", mem, d))
        goto out;
    pipeline_complete(&pipe, mem);
    if (pipeline_run(&pipe, &x, &ro) || ctx_base(&x))
        goto out;
    plan.dev = random_plan(m, x.scene.place, draw, mem);
    struct verdict v = load_verdict(&x.scene, plan.dev, NULL, mem);
    struct parts *parts = parts_build(&x.scene, plan.dev, mem);
    const char **name = arena_array(mem, ctx_ndims(&x) + 1, sizeof *name);
    int64_t *value = arena_array(mem, ctx_ndims(&x) + 1, sizeof *value);
    for (uint32_t i = 0; i < ctx_ndims(&x); i++) {
        name[i] = ctx_dim(&x, i)->name;
        value[i] = ctx_dim(&x, i)->value;
    }
    struct input_sizes sizes = bind_input_sizes(&x);
    struct result r = {.scene = x.scene,
                       .size = sizes.size,
                       .size_at = sizes.at,
                       .size_open = sizes.open,
                       .plan = &plan,
                       .verdict = &v,
                       .parts = parts,
                       .dim_name = name,
                       .dim_value = value,
                       .ndims = ctx_ndims(&x),
                       .diag = d};
    const struct split_options so = {.pictures = PICTURE_DOT | (draw.undrawn ? 0 : PICTURE_SVG)};
    rc = split_write(&r, &so, folder);
    if (nparts)
        *nparts = parts->nparts;
out:
    arena_free(scratch);
    if (m)
        arena_free(m->mem);
    arena_free(mem);
    return rc;
}

/* ---- folders -------------------------------------------------------------------------------- */

struct last {
    char line[1024];
};

static void keep_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    (void)level;
    snprintf(((struct last *)user)->line, sizeof((struct last *)user)->line, "%s", line);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static bool there(const char *folder, const char *name)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &st) == 0;
}

static int count(const char *folder)
{
    char command[600], line[32] = "";
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    pclose(f);
    return atoi(line);
}

/* One round: begin, write a file, commit or abort. */
static int go(const char *target, bool commit, const char *file, struct diag *d)
{
    struct arena *a = arena_new(NULL);
    struct folder f;
    int rc = folder_begin(&f, target, false, NULL, a, d);
    if (!rc) {
        int fd = openat(f.dirfd, file, O_WRONLY | O_CREAT | O_EXCL, 0666);
        assert_true(fd >= 0);
        if (strcmp(file, "manifest.json") == 0)
            assert_true(write(fd, "{\"pcc_manifest\": 1}", 19) == 19);
        close(fd);
        if (commit)
            rc = folder_commit(&f);
        else
            folder_abort(&f);
    }
    arena_free(a);
    return rc;
}

static void test_folder(void **state)
{
    char base[] = "/tmp/pcc-unit-XXXXXX", target[64], link[64], command[256];
    struct last last;
    struct diag d = {.emit = keep_line, .user = &last, .limit = 1000};
    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(target, sizeof target, "%s/out", base);
    snprintf(link, sizeof link, "%s/link", base);

    assert_int_equal(go(target, false, "manifest.json", &d), 0); /* aborted: nothing is left */
    assert_int_equal(count(base), 0);
    assert_int_equal(mkdir(target, 0755), 0); /* empty: taken */
    assert_int_equal(go(target, true, "manifest.json", &d), 0);
    assert_int_equal(count(base), 1);
    put(target, "part0.onnx", ""); /* not in the manifest */
    assert_int_equal(go(target, true, "manifest.json", &d), -1);
    assert_non_null(strstr(last.line, "part0.onnx"));
    put(target, "manifest.json",
        "{\"pcc_manifest\": 1, \"parts\": [{\"file\": \"part0.onnx\"}, {\"file\": \"mine\"}]}");
    assert_int_equal(go(target, false, "manifest.json", &d), 0);
    assert_true(there(target, "part0.onnx"));
    put(target, "mine", ""); /* listed, but no name of ours */
    assert_int_equal(go(target, true, "manifest.json", &d), -1);
    assert_non_null(strstr(last.line, "'mine'"));
    assert_int_equal(count(target), 3);
    snprintf(command, sizeof command, "rm %s/mine; ln -s out %s", target, link);
    assert_int_equal(system(command), 0);
    assert_int_equal(go(link, true, "manifest.json", &d), 0); /* replaced, by way of a link */
    assert_false(there(target, "part0.onnx"));
    assert_int_equal(count(target), 1);
    assert_int_equal(count(base), 2);
    put(target, "manifest.json", "{\"manifest\": 1}"); /* somebody else's */
    assert_int_equal(go(target, true, "manifest.json", &d), -1);
    assert_int_equal(go(base, true, "manifest.json", &d), -1);
    snprintf(link, sizeof link, "%s/out/manifest.json", base); /* a file */
    assert_int_equal(go(link, true, "x", &d), -1);
    snprintf(link, sizeof link, "%s/no/out", base); /* no such folder */
    assert_int_equal(go(link, true, "x", &d), -1);
    assert_int_equal(go("", true, "x", &d), -1);
    assert_int_equal(count(base), 2);
    snprintf(command, sizeof command, "rm -r %s", base);
    assert_int_equal(system(command), 0);
}

/* Two runs for one name: the later one leaves the folder that the living one makes, and removes one that is nobody's.
 * The folder gets the mode that any new one has. */
static void test_living(void **state)
{
    char base[] = "/tmp/pcc-unit-XXXXXX", target[64], stale[64], command[256];
    struct arena *a = arena_new(NULL);
    struct folder first, second;
    struct diag d = {0};
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(target, sizeof target, "%s/out", base);
    snprintf(stale, sizeof stale, "%s/.out.pcc-dead00", base);
    assert_int_equal(mkdir(stale, 0700), 0);
    put(stale, "part0.onnx", "");
    mode_t mask = umask(027);
    assert_int_equal(folder_begin(&first, target, false, NULL, a, &d), 0);
    umask(mask);
    assert_int_equal(count(base), 1);
    assert_int_equal(folder_begin(&second, target, false, NULL, a, &d), 0);
    assert_int_equal(count(base), 2);
    put(first.temp, "manifest.json", "{\"pcc_manifest\": 1}");
    folder_abort(&second);
    assert_int_equal(folder_commit(&first), 0);
    assert_true(there(target, "manifest.json"));
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    arena_free(a);
    snprintf(command, sizeof command, "rm -r %s", base);
    assert_int_equal(system(command), 0);
}

/* What comes into the folder while the new one is made is not lost with the old one. */
static void test_appeared(void **state)
{
    char base[] = "/tmp/pcc-unit-XXXXXX", target[64], command[256];
    struct last last;
    struct diag d = {.emit = keep_line, .user = &last, .limit = 1000};
    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(target, sizeof target, "%s/out", base);
    for (int into = 0; into < 2; into++) {
        const char *mine = into ? "part7.onnx" : "mine";
        struct arena *a = arena_new(NULL);
        struct folder f;
        assert_int_equal(mkdir(target, 0755), 0);
        put(target, "manifest.json", "{\"pcc_manifest\": 1}");
        assert_int_equal(folder_begin(&f, target, into, NULL, a, &d), 0);
        put(f.temp, "manifest.json", "{\"pcc_manifest\": 1, \"new\": 1}");
        put(target, mine, "");
        assert_int_equal(folder_commit(&f), -1);
        assert_non_null(strstr(last.line, arena_fmt(a, "'%s' has appeared in it meanwhile", mine)));
        assert_true(there(target, mine));
        assert_int_equal(count(target), 2);
        assert_int_equal(count(base), 1);
        arena_free(a);
        snprintf(command, sizeof command, "rm -r %s", target);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(rmdir(base), 0);
}

static void test_names(void **state)
{
    struct arena *a = arena_new(NULL);
    struct names t = names_new(a, 0);
    (void)state;
    for (uint32_t i = 0; i < 5000; i++)
        names_add(&t, arena_fmt(a, "name/%u", i), i);
    names_add(&t, "name/7", 1);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(names_get(&t, arena_fmt(a, "name/%u", i), UINT32_MAX), i);
    assert_int_equal(names_get(&t, "name/5000", 12), 12);
    assert_int_equal(names_get(&t, "", 13), 13);
    arena_free(a);
}

/* Parts of a real model are models that can be read, and hold its nodes between them. */
static void test_parts(void **state)
{
    char model[512], base[] = "/tmp/pcc-unit-XXXXXX", command[64], path[64];
    struct diag d = {0};
    struct onnx_options o = {0};
    uint32_t nparts = 0, nodes = 0;
    (void)state;
    snprintf(model, sizeof model, "%s/models/exported/tiny/squeezenet_ts.onnx",
             getenv("PCC_SHARED"));
    assert_non_null(mkdtemp(base));
    assert_int_equal(
        split_randomly(model, base, (struct draw){.ndev = 3, .stay = 10, .seed = 5}, &nparts, &d),
        0);
    assert_true(nparts >= 3 && nparts <= 10);
    for (uint32_t i = 0; i < nparts; i++) {
        snprintf(path, sizeof path, "%s/part%u.onnx", base, i);
        struct module *m = onnx_read(path, &o, NULL, &d);
        assert_non_null(m);
        assert_true(m->graph[1].in.n > 0 && m->graph[1].out.n > 0);
        nodes += m->graph[1].count;
        arena_free(m->mem);
    }
    struct module *whole = onnx_read(model, &o, NULL, &d);
    assert_true(nodes >= whole->graph[1].count);
    arena_free(whole->mem);
    snprintf(command, sizeof command, "rm -r %s", base);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_living),
        cmocka_unit_test(test_appeared),
        cmocka_unit_test(test_names),
    };
    const struct CMUnitTest of_real_models[] = {cmocka_unit_test(test_parts)};
    struct diag d = {0};
    if (argc == 6 || (argc == 7 && !strcmp(argv[6], "undrawn")))
        return split_randomly(argv[1], argv[2],
                              (struct draw){.ndev = (uint32_t)atoi(argv[3]),
                                            .stay = (uint32_t)atoi(argv[5]),
                                            .seed = strtoull(argv[4], NULL, 10),
                                            .undrawn = argc == 7},
                              NULL, &d)
                   ? 1
                   : 0;
    if (extra_is(argc, argv, "shared"))
        return has_shared() ? cmocka_run_group_tests(of_real_models, NULL, NULL)
                            : extra_skipped("no folder ../shared");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
