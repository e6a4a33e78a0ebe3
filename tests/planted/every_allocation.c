/* The library under an allocator that fails: a model is read, planned for and written, once for each allocation
 * that this takes, with that one failing (and once more with all that follow it failing, too).
 *
 *     pcc-every-allocation MODEL DEVICES PASSES OUT EVERY
 *
 * Each run must come back here: with the result, or with one error and nothing left of it: no file, no block of
 * memory, no open file, no child.  EVERY: 1 for all allocations, 10 for the first and
 * last 50 and each tenth of the others.  Prints what is wrong, exits with 1 then. */
#include "backends/backends.h"
#include "frontends/frontends.h"
#include "ir/base/infile.h"
#include "ir/plan/parts.h"
#include "ir/text/text.h"
#include "passes/pipeline.h"
#include "tests/planted/faults.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS = 50, SHOWN = 5 };

struct run {
    const char *model, *devices, *passes, *out;
    struct ctx x;
    struct settings settings;
    struct diag d;
    char said[512]; /* the first error */
    int rc;
};

/* glibc's loses blocks when memory runs out in it: here it takes one block and fails as a whole. */
int __real_regcomp(regex_t *re, const char *pattern, int flags);
int __wrap_regcomp(regex_t *re, const char *pattern, int flags);

int __wrap_regcomp(regex_t *re, const char *pattern, int flags)
{
    void *block = malloc(1);
    if (!block)
        return REG_ESPACE;
    free(block);
    faults_pause(true);
    int rc = __real_regcomp(re, pattern, flags);
    faults_pause(false);
    return rc;
}

static void keep_first(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct run *r = user;
    (void)w;
    if (level == DIAG_ERROR && !r->said[0])
        snprintf(r->said, sizeof r->said, "%s", line);
}

static int write_out(struct run *r)
{
    struct ctx *x = &r->x;
    const struct writer *w = writer_of(r->out);
    if (ctx_base(x))
        return -1;
    struct verdict v = judge(&x->scene, x->results.plan->dev, x->results.plan->copies, x->use.mem);
    struct result s = {.scene = x->scene,
                       .plan = x->results.plan,
                       .verdict = &v,
                       .parts = parts_build(&x->scene, x->results.plan->dev, x->use.mem),
                       .diag = x->use.diag};
    onnx_remake(x->scene.m);
    return writer_run(w, &s, writer_opts_new(w, x->use.mem), r->out);
}

static struct module *read_input(struct run *r)
{
    struct ctx *x = &r->x;
    struct text_module t = {0};
    size_t n;
    switch (input_kind_of(r->model)) {
    case INPUT_ONNX:
        return onnx_read(r->model, &(struct onnx_options){0}, x->use.mem, x->use.diag);
    case INPUT_WORKLOAD:
        return workload_read(r->model, 1, &x->scene.cluster, x->use.mem, x->use.diag);
    case INPUT_TEXT:;
        char *text = infile_read(r->model, x->use.mem, &n, x->use.diag);
        if (text && module_parse(&t, text, n, r->model, x->use.mem, x->use.diag) == 0)
            x->scene.cluster = t.scene.cluster;
        return t.scene.m;
    }
    return NULL;
}

static int read_cluster(struct run *r)
{
    struct ctx *x = &r->x;
    x->scene.cluster = arena_alloc(x->use.mem, sizeof *x->scene.cluster);
    return cluster_parse(x->scene.cluster, x->use.mem, r->devices, x->use.diag);
}

static void work(void *arg)
{
    struct run *r = arg;
    struct ctx *x = &r->x;
    struct pipeline p = {0};
    struct run_options none = {0};
    static const struct pin pins[] = {{"^conv[0-2]$|^neg$|Gather", "acc0"}};
    r->rc = -1;
    x->use.scratch = arena_new(x->use.mem);
    r->settings = (struct settings){.pins = pins, .npins = 1};
    x->scene.m = read_input(r);
    if (!x->scene.m || (!x->scene.cluster && read_cluster(r)) ||
        pipeline_parse(&p, r->passes, x->use.mem, x->use.diag))
        return;
    pipeline_complete(&p, x->use.mem);
    if (pipeline_run(&p, x, &none) == 0 && x->results.plan)
        r->rc = write_out(r);
}

/* 0: the result is there; 1: an error. */
static int run(struct run *r)
{
    size_t wanted;
    r->d = (struct diag){.emit = keep_first, .user = r};
    r->x = (struct ctx){.use.mem = arena_new(NULL), .use.diag = &r->d, .settings = &r->settings};
    r->said[0] = 0;
    if (!r->x.use.mem || !arena_guard(r->x.use.mem, work, r, &wanted)) {
        if (r->d.errors)
            diag_error(&r->d, "and memory has run out");
        else
            diag_error(&r->d, "out of memory");
        r->rc = -1;
    }
    arena_free(r->x.use.mem);
    return r->rc ? 1 : 0;
}

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* Entries of the current folder, and removes what a good run has left. */
static int files_left(const char *out)
{
    char path[4096];
    struct dirent *e;
    DIR *dir = opendir(out);
    int n = 0;
    for (; dir && (e = readdir(dir)); n++) {
        snprintf(path, sizeof path, "%s/%s", out, e->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(out);
    unlink(out);
    n = 0;
    for (dir = opendir("."); dir && (e = readdir(dir));)
        n++;
    if (dir)
        closedir(dir);
    return n - 2;
}

struct state {
    long live;
    int files;
};

/* What is wrong with a run whose n-th allocation fails, or NULL. */
static const char *trial(struct run *r, unsigned long n, bool rest, const struct state *before)
{
    struct stat st;
    faults_plant(n, rest);
    int rc = run(r);
    faults_plant(0, false);
    bool there = lstat(r->out, &st) == 0;
    if (files_left(r->out))
        return "files are left";
    if (there != (rc == 0))
        return there ? "an error, and the result is there" : "no error, and no result";
    if (rc ? r->d.errors != 1 : r->d.errors != 0)
        return "not one error";
    if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
        return "a child is left";
    if (open_files() != before->files)
        return "files are open";
    return faults_live() == before->live ? NULL : "blocks of memory are left";
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    struct run r = {.model = argv[1], .devices = argv[2], .passes = argv[3], .out = argv[4]};
    unsigned long every = strtoul(argv[5], NULL, 10), runs = 0, bad = 0;
    for (int warm = 0; warm < 2; warm++) { /* what the C library keeps, it has then */
        faults_plant(0, false);
        if (run(&r) || files_left(r.out)) {
            printf("without any failure: %s\n", r.said);
            return 1;
        }
    }
    unsigned long count = faults_calls();
    struct state before = {faults_live(), open_files()};
    for (unsigned long n = 1; n <= count; n++)
        for (int rest = 0; rest < 2 && (n % every == 0 || n <= ENDS || n + ENDS > count); rest++) {
            const char *wrong = trial(&r, n, rest, &before);
            runs++;
            if (wrong && bad++ < SHOWN)
                printf("allocation %lu%s: %s (%ld blocks, %d open): %s\n", n, rest ? "+" : "",
                       wrong, faults_live() - before.live, open_files() - before.files, r.said);
            before.live = faults_live();
            before.files = open_files();
        }
    printf("%lu of %lu runs are wrong, %lu allocations\n", bad, runs, count);
    return bad || !count ? 1 : 0;
}
