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
    struct verdict v;
    struct result s = {.m = x->m, .cluster = x->cluster, .plan = x->plan, .diag = x->diag};
    if (ctx_base(x))
        return -1;
    v = judge_copies(x->m, x->place, x->cluster, x->plan->dev, x->plan->copies, x->mem);
    s.verdict = &v;
    s.place = x->place;
    s.parts = parts_build(x->m, x->place, x->cluster, x->plan->dev, x->mem);
    onnx_remake(x->m);
    return writer_run(w, &s, writer_opts_new(w, x->mem), r->out);
}

static struct module *read_input(struct run *r)
{
    struct ctx *x = &r->x;
    struct text_module t = {0};
    size_t n;
    switch (input_kind_of(r->model)) {
    case INPUT_ONNX:
        return onnx_read(r->model, &(struct onnx_options){0}, x->mem, x->diag);
    case INPUT_WORKLOAD:
        return workload_read(r->model, 1, &x->cluster, x->mem, x->diag);
    case INPUT_TEXT:;
        char *text = infile_read(r->model, x->mem, &n, x->diag);
        if (text && module_parse(&t, text, n, r->model, x->mem, x->diag) == 0)
            x->cluster = t.cluster;
        return t.m;
    }
    return NULL;
}

static int read_cluster(struct run *r)
{
    struct ctx *x = &r->x;
    x->cluster = arena_alloc(x->mem, sizeof *x->cluster);
    return cluster_parse(x->cluster, x->mem, r->devices, x->diag);
}

static void work(void *arg)
{
    struct run *r = arg;
    struct ctx *x = &r->x;
    struct pipeline p = {0};
    struct run_options none = {0};
    static const struct pin pins[] = {{"^conv[0-2]$|^neg$|Gather", "acc0"}};
    r->rc = -1;
    x->scratch = arena_new(x->mem);
    x->pins = pins;
    x->npins = 1;
    x->m = read_input(r);
    if (!x->m || (!x->cluster && read_cluster(r)) || pipeline_parse(&p, r->passes, x->mem, x->diag))
        return;
    pipeline_complete(&p, x->mem);
    if (pipeline_run(&p, x, &none) == 0 && x->plan)
        r->rc = write_out(r);
}

/* 0: the result is there; 1: an error. */
static int run(struct run *r)
{
    size_t wanted;
    r->d = (struct diag){.emit = keep_first, .user = r};
    r->x = (struct ctx){.mem = arena_new(NULL), .diag = &r->d};
    r->said[0] = 0;
    if (!r->x.mem || !arena_guard(r->x.mem, work, r, &wanted)) {
        if (r->d.errors)
            diag_error(&r->d, "and memory has run out");
        else
            diag_error(&r->d, "out of memory");
        r->rc = -1;
    }
    arena_free(r->x.mem);
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
