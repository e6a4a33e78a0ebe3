/* Any bytes as an ONNX model: read, verified, printed and parsed, written and read again, planned.
 *
 * Beside the model lies a file "w.bin" of 64 bytes for external data. */
#include "backends/backends.h"
#include "backends/cut.h"
#include "frontends/frontends.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
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
    struct module *back = onnx_read(first, &o, &d);
    fuzz_check(back != NULL, "what was written can be read");
    fuzz_check(onnx_write(back, second, &d) == 0, "it can be written again");
    uint8_t *bytes = read_back(a, first, &n), *again = read_back(a, second, &again_n);
    fuzz_check(n == again_n && memcmp(bytes, again, n) == 0, "it is written alike each time");
    arena_free(back->mem);
}

static void plan(struct module *m, struct diag *d)
{
    struct cluster c;
    struct ctx x = {.diag = d, .m = m, .cluster = &c};

    cluster_default(&c);
    if (m->nnode > PLANNED_NODES || fuzz_run(&x, "fuse,dp-place{max-states=500:starts=2}") != 0) {
        return;
    }
    fuzz_check(cut_build(m, x.place, &c, x.plan->dev, m->mem) != NULL, "a plan can be cut");
    fuzz_check_text(m, &c, x.plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct onnx_options o = {0};
    struct arena *a = arena_new();
    struct diag d = fuzz_diag();
    struct fuzz_folder folder = fuzz_folder_make(a, "model.onnx", data, size);

    fuzz_folder_weights(a, folder);
    struct module *m = onnx_read(folder.file, &o, &d);
    fuzz_check_result(m == NULL ? -1 : 0, &d);
    if (m != NULL) {
        fuzz_check(module_verify(m, &d) == 0, "what was read is a verified module");
        fuzz_check_text(m, NULL, NULL);
        check_write(m, folder, a);
        plan(m, &d);
        arena_free(m->mem);
    }
    fuzz_folder_remove(folder);
    arena_free(a);
    return 0;
}
