/* Runs a fuzz target without a fuzzer: on each file of a folder, and on mutations of each (300, fewer
 * where there are many files).
 *
 *     replay_NAME FOLDER           all of them
 *     replay_NAME FILE...          these files as they are
 *
 * Mutations are seeded by the number of the file and their own, so a run can be repeated; each has
 * 1 to 4 changes: bits, bytes, pieces lost, doubled or moved, interesting values, the end cut off; every other mutation
 * by the target's own mutator, if it has one.
 * Each file has a process of its own, so that a crash, an exit or a hang (30 s of CPU time for
 * one input) is reported with the number of the mutation; the input is kept as "replay_NAME-FILE.bad"
 * in the current folder.
 * Cost: linear in inputs. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MUTATIONS = 300,
    ALL_MUTATIONS = 6000,
    CHANGES = 4,
    LARGEST = 1 << 16,
    PIECE = 32,
    INPUT_SECONDS = 30
};

struct input {
    uint8_t byte[LARGEST];
    size_t n;
};

/* xorshift64* */
static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(2685821657736338717) >> 33) % below;
}

/* Replaces the piece [at, at + lost) by n bytes. */
static void splice(struct input *x, size_t at, size_t lost, const uint8_t *by, size_t n)
{
    if (x->n - lost + n <= LARGEST) {
        memmove(x->byte + at + n, x->byte + at + lost, x->n - at - lost);
        memcpy(x->byte + at, by, n);
        x->n += n - lost;
    }
}

static void change(struct input *x, uint64_t *r)
{
    static const uint8_t special[] = {0,   1,   0x7f, 0x80, 0xff, '0', '9',
                                      '-', '"', '{',  '}',  '%',  ',', ':'};
    uint8_t piece[PIECE];
    size_t at = (size_t)draw(r, x->n + 1), n = (size_t)draw(r, PIECE) + 1, room = x->n - at;

    n = n < room ? n : room;
    memcpy(piece, x->byte + at, n);
    switch (draw(r, 8)) {
    case 0:
        if (room > 0) {
            x->byte[at] ^= (uint8_t)(1 << draw(r, 8));
        }
        break;
    case 1:
        if (room > 0) {
            x->byte[at] = special[draw(r, sizeof special)];
        }
        break;
    case 2:
        splice(x, at, n, piece, 0);
        break;
    case 3:
        splice(x, at, 0, piece, n);
        break;
    case 4:
        splice(x, (size_t)draw(r, x->n + 1), 0, piece, n);
        break;
    case 5:
        for (size_t i = 0; i < sizeof piece; i++) {
            piece[i] = (uint8_t)draw(r, 256);
        }
        splice(x, at, 0, piece, (size_t)draw(r, 9));
        break;
    case 6:
        piece[0] = (uint8_t)draw(r, 256);
        splice(x, at, room > 0, piece, 1);
        break;
    default:
        if (draw(r, 4) == 0) {
            x->n = at;
        }
    }
}

/* Mutation number k of a seed; k = 0: the seed as it is. */
static void mutate(struct input *x, const struct input *seed, uint32_t file, uint32_t k)
{
    uint64_t r =
        (UINT64_C(0x9e3779b97f4a7c15) * (file + 1)) ^ (UINT64_C(0xbf58476d1ce4e5b9) * (k + 1));

    memcpy(x->byte, seed->byte, seed->n);
    x->n = seed->n;
    for (uint64_t i = k == 0 ? 0 : draw(&r, CHANGES) + 1; i > 0; i--) {
        if (LLVMFuzzerCustomMutator && k % 2)
            x->n = LLVMFuzzerCustomMutator(x->byte, x->n, LARGEST, (unsigned)draw(&r, UINT32_MAX));
        else
            change(x, &r);
    }
}

static bool load(struct input *x, const char *path)
{
    FILE *f = fopen(path, "rb");

    x->n = f != NULL ? fread(x->byte, 1, LARGEST, f) : 0;
    bool ok = f != NULL && fgetc(f) == EOF && !ferror(f);
    if (f != NULL) {
        fclose(f);
    }
    if (!ok) {
        fprintf(stderr, "%s: cannot be read, or more than %d bytes\n", path, LARGEST);
    }
    return ok;
}

/* An exact copy, so that reading past the end is noticed. */
static void run(const struct input *x)
{
    uint8_t *bytes = malloc(x->n > 0 ? x->n : 1);

    fuzz_check(bytes != NULL, "there is memory for an input");
    memcpy(bytes, x->byte, x->n);
    LLVMFuzzerTestOneInput(bytes, x->n);
    free(bytes);
}

static void report(const char *name, const char *path, const struct input *x, uint32_t k,
                   int status)
{
    char *kept = NULL;
    const char *slash = strrchr(path, '/');
    FILE *f = asprintf(&kept, "%s-%s.bad", name, slash != NULL ? slash + 1 : path) > 0
                  ? fopen(kept, "wb")
                  : NULL;

    fprintf(stderr, "%s, mutation %u: %s %d; kept as %s\n", path, k,
            WIFSIGNALED(status) ? "signal" : "exit code",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), kept);
    if (f != NULL) {
        fwrite(x->byte, 1, x->n, f);
        fclose(f);
    }
    free(kept);
}

/* With REPLAY_FIRST in the environment one finding is enough, and a hang is told sooner. */
static bool is_first_enough(void)
{
    return getenv("REPLAY_FIRST") != NULL;
}

static int input_seconds(void)
{
    return is_first_enough() ? INPUT_SECONDS / 10 : INPUT_SECONDS;
}

/* Runs a seed and its mutations in a child; *at is shared with it. */
static bool replay(const char *name, const char *path, uint32_t file, uint32_t mutations,
                   uint32_t *at, struct input *work)
{
    struct input *seed = work, *x = work + 1;
    int status = 0;

    if (!load(seed, path)) {
        return false;
    }
    *at = 0;
    pid_t child = fork();
    if (child == 0) {
        for (uint32_t k = 0; k <= mutations; k++) {
            *at = k;
            mutate(x, seed, file, k);
            setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = input_seconds()}, NULL);
            run(x);
        }
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("a child process");
        return false;
    }
    if (status != 0) {
        mutate(x, seed, file, *at);
        report(name, path, x, *at, status);
    }
    return status == 0;
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entry;
    const char *slash = strrchr(argv[0], '/'), *name = slash != NULL ? slash + 1 : argv[0];
    struct input *work = calloc(2, sizeof *work);
    uint32_t *at =
        mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct stat st;
    int bad = work == NULL || at == MAP_FAILED || argc < 2;

    if (!bad && stat(argv[1], &st) == 0 && !S_ISDIR(st.st_mode)) {
        for (int i = 1; i < argc; i++) {
            bad |= !load(work, argv[i]);
            run(work);
        }
        free(work);
        return bad;
    }
    int n = bad ? 0 : scandir(argv[1], &entry, visible, alphasort);
    int mutations = n > ALL_MUTATIONS / MUTATIONS ? ALL_MUTATIONS / n : MUTATIONS;
    for (int i = 0; i < n && !(bad && is_first_enough()); i++) {
        char *path = NULL;
        bad |= asprintf(&path, "%s/%s", argv[1], entry[i]->d_name) < 0 ||
               !replay(name, path, (uint32_t)i, (uint32_t)mutations, at, work);
        free(path);
        free(entry[i]);
    }
    if (n > 0) {
        free(entry);
    }
    free(work);
    printf("%s: %d seeds, %d mutations of each\n", name, n, mutations);
    return bad || n < 1;
}
