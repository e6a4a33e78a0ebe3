/* The library under an allocator that fails: a model is read, planned for, shown and written, all by pcc.h, once for
 * each allocation that this takes, with that one failing (and once more with all that follow it failing, too).
 *
 *     pcc-every-allocation MODEL DEVICES PASSES OUT EVERY
 *
 * DEVICES may be empty.  Each run must come back here: with the result, or with one error and nothing left of it: no
 * file, no block of memory, no open file, no child.  EVERY: 1 for all allocations, 10 for the first and last 50 and
 * each tenth of the others.  Prints what is wrong, exits with 1 then. */
#include "tests/planted/faults.h"
#include "tests/planted/next.h"
#include "tools/lib/pcc.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS = 50, SHOWN = 5 };

struct run {
    const char *model, *devices, *passes, *out;
    int errors;
    char said[512]; /* the first error */
};

/* glibc's loses blocks when memory runs out in it: here it takes one block and fails as a whole. */
int regcomp(regex_t *re, const char *pattern, int flags)
{
    int (*real)(regex_t *, const char *, int) = next_function("regcomp");
    void *block = malloc(1);
    if (!block)
        return REG_ESPACE;
    free(block);
    faults_pause(true);
    int rc = real(re, pattern, flags);
    faults_pause(false);
    return rc;
}

static void count(void *user, enum pcc_level level, const char *name, const char *line)
{
    struct run *r = user;
    (void)name;
    if (level == PCC_ERROR && !r->errors++)
        snprintf(r->said, sizeof r->said, "%s", line);
}

static enum pcc_status calls(struct pcc *p, const struct run *r)
{
    enum pcc_status s;
    if ((s = pcc_set(p, "devices", *r->devices ? r->devices : NULL)) ||
        (s = pcc_set(p, "pin", "^conv[0-2]$|^neg$|Gather=acc0")) || (s = pcc_open(p, r->model)) ||
        (s = pcc_plan(p, r->passes)))
        return s;
    if (!pcc_verdict(p) || !pcc_text(p, "table"))
        return PCC_NO_MEMORY;
    return pcc_write(p, r->out);
}

static enum pcc_status run(struct run *r)
{
    struct pcc *p = pcc_new();
    struct pcc_listener l = {.user = r, .message = count};
    enum pcc_status s = PCC_NO_MEMORY;
    r->errors = 0;
    r->said[0] = 0;
    if (!p) {
        r->errors = 1;
        return s;
    }
    pcc_listen(p, &l);
    s = calls(p, r);
    if (r->errors && strcmp(pcc_error(p), r->said))
        r->errors = -1; /* they say different things */
    pcc_free(p);
    return s;
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
    enum pcc_status s = run(r);
    faults_plant(0, false);
    bool there = lstat(r->out, &st) == 0;
    if (files_left(r->out))
        return "files are left";
    if (there != (s == PCC_OK))
        return there ? "an error, and the result is there" : "no error, and no result";
    if (r->errors != (s != PCC_OK))
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
