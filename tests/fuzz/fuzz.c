/* Helpers of the fuzz targets (fuzz.h).  Cost of each: linear in the input, but for fuzz_run. */
#include "tests/fuzz/fuzz.h"

#include "ir/text/text.h"
#include "tools/lib/exec/kinds.h"

#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For one planner: reporting that nothing fits may search long. */
static const int64_t PLANNER_PS = INT64_C(100000000000);

void fuzz_check(bool holds, const char *promise)
{
    if (!holds) {
        fprintf(stderr, "broken promise: %s\n", promise);
        abort();
    }
}

static void check_line(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    (void)level;
    fuzz_check(user == NULL || strcmp(line, user) != 0, "an earlier check finds every such defect");
    for (; *line != '\0'; line++) {
        unsigned char c = (unsigned char)*line;
        fuzz_check(c >= 0x20 && c != 0x7f, "diagnostics have no control characters");
    }
}

struct diag fuzz_diag(void)
{
    return (struct diag){.emit = check_line};
}

void fuzz_check_result(int rc, const struct diag *d)
{
    fuzz_check(rc == 0 || d->errors > 0, "a failure has a diagnostic");
    fuzz_check(rc != 0 || d->errors == 0, "an error is a failure");
}

char *fuzz_text(struct arena *a, const uint8_t *data, size_t size)
{
    char *text = arena_alloc(a, size + 1);

    if (size > 0) {
        memcpy(text, data, size);
    }
    return text;
}

static void put_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0,
               "temporary files can be written");
}

struct fuzz_folder fuzz_folder_make(struct arena *a, const char *name, const uint8_t *data,
                                    size_t size)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* memory: no disk to wait for */
    char *path = arena_fmt(a, "%s/pcc-fuzz-XXXXXX", tmp);

    fuzz_check(mkdtemp(path) != NULL, "the folder for temporary files can be written");
    struct fuzz_folder folder = {path, arena_fmt(a, "%s/%s", path, name)};
    put_file(folder.file, data, size);
    return folder;
}

void fuzz_folder_weights(struct arena *a, struct fuzz_folder folder)
{
    enum { WEIGHTS = 64 };
    const uint8_t bytes[WEIGHTS] = {1, 2, 3};

    put_file(arena_fmt(a, "%s/w.bin", folder.path), bytes, WEIGHTS);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

void fuzz_folder_remove(struct fuzz_folder folder)
{
    fuzz_check(nftw(folder.path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0,
               "temporary files can be removed");
}

static char *print(const struct scene *s, const struct plan *plan, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);

    fuzz_check(f != NULL, "there is memory for a text");
    module_print(f, s, plan);
    fclose(f);
    return text;
}

struct ctx fuzz_graph(const char *graph, struct arena *scratch, struct diag *d)
{
    struct text_module t = {0};
    fuzz_check(module_parse(&t, &(struct named_text){"graph.pir", graph, strlen(graph), exec_kinds},
                            NULL, d) == 0,
               "the target's own graph is right");
    return (struct ctx){
        .use.mem = t.scene.m->mem, .use.scratch = scratch, .use.diag = d, .scene = t.scene};
}

void fuzz_check_text(const struct scene *s, const struct plan *plan)
{
    struct diag d = {0};
    struct text_module back = {0};
    size_t n, again_n;
    char *text = print(s, plan, &n);

    fuzz_check(
        module_parse(&back, &(struct named_text){"printed", text, n, exec_kinds}, NULL, &d) == 0,
        "what is printed can be parsed");
    fuzz_check(module_verify(back.scene.m, &d) == 0, "what is printed is a verified module");
    char *again = print(&back.scene, back.plan, &again_n);
    if (n != again_n || memcmp(text, again, n) != 0) {
        fprintf(stderr, "--- printed\n%s--- printed again\n%s", text, again);
        fuzz_check(false, "print(parse(print(m))) is print(m)");
    }
    arena_free(back.scene.m->mem);
    free(text);
    free(again);
}

struct module *fuzz_reparse(struct module *m)
{
    struct diag d = fuzz_diag();
    struct text_module back = {0};
    size_t n;
    char *text = print(&(struct scene){.m = m}, NULL, &n);

    fuzz_check(
        module_parse(&back, &(struct named_text){"printed", text, n, exec_kinds}, NULL, &d) == 0,
        "what is printed can be parsed");
    free(text);
    back.scene.m->diag = m->diag; /* d ends here */
    return back.scene.m;
}

bool fuzz_names_are_utf8(const struct module *m)
{
    bool all = true;

    for (nid n = 1; n < m->nnode && all; n++) {
        json_t *name = json_string(node_name(m, n));
        all = name != NULL;
        json_decref(name);
    }
    return all;
}

int fuzz_run(struct ctx *x, const char *passes)
{
    struct arena *mem = arena_new(NULL), *scratch = arena_new(NULL);
    struct pipeline p = {0};
    struct run_options o = {.verify_each = true};
    const struct settings *before = x->settings;
    struct settings settings = *ctx_settings(x);

    x->use.mem = x->scene.m->mem;
    x->use.scratch = scratch;
    settings.time_limit = PLANNER_PS;
    x->settings = &settings;
    x->results.inferred = false;
    fuzz_check(pipeline_parse(&p, passes, mem, x->use.diag) == 0,
               "the target's own pipeline is right");
    pipeline_complete(&p, mem);
    int rc = pipeline_run(&p, x, &o);
    fuzz_check(rc != PASS_UNVERIFIED, "the judge agrees with the planners");
    fuzz_check_result(rc, x->use.diag);
    x->settings = before;
    arena_free(mem);
    arena_free(scratch);
    return rc;
}
