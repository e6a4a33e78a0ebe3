/* Opens and reads inputs (infile.h).
 *
 * A file is opened with O_NONBLOCK, so that a FIFO does not wait for a writer; then its type and size are checked.
 * Files below a folder are opened by openat2, or component by component with O_NOFOLLOW where the kernel lacks openat2.
 * Files that are read as a whole are read to their end, even if their size changes meanwhile, up to the limit of their
 * kind.  O(bytes). */
#include "ir/base/infile.h"

#include "ir/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER "is a folder"
#define SPECIAL "is not a regular file"

/* Flags of open(): a FIFO does not make open() wait, and a terminal does not become the one that controls the
 * program. */
enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* [kind] the largest size, and what is wrong with a larger file, with a folder, with a FIFO or device. */
static const struct {
    uint64_t most; /* bytes */
    const char *large, *folder, *special;
} limit[] = {
    [INFILE_LIST] = {UINT64_C(16) << 20, "is larger than 16 MiB", FOLDER, SPECIAL},
    [INFILE_PLAN] = {UINT64_C(256) << 20, "is larger than 256 MiB", FOLDER, SPECIAL},
    [INFILE_TABLE] = {(UINT64_C(2) << 30) - 1, "is larger than 2 GiB", FOLDER, SPECIAL},
    [INFILE_GRAPH] = {UINT64_C(1) << 30, "is larger than 1 GiB", FOLDER, SPECIAL},
    [INFILE_MODEL] = {UINT64_C(16) << 40, "is larger than 16 TiB",
                      FOLDER ", expected an ONNX model (of a split, its model.onnx)",
                      SPECIAL ", expected an ONNX model"},
    [INFILE_STREAM] = {(UINT64_C(2) << 30) - 1, "is larger than 2 GiB: give a file", FOLDER,
                       SPECIAL},
    [INFILE_DATA] = {UINT64_C(16) << 40, "is larger than 16 TiB", SPECIAL, SPECIAL},
};

const char *infile_wrong(int fd, enum infile_kind kind, uint64_t *size, uint64_t *links)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return strerror(errno);
    *size = (uint64_t)st.st_size;
    *links = st.st_nlink;
    return S_ISDIR(st.st_mode)        ? limit[kind].folder
           : !S_ISREG(st.st_mode)     ? limit[kind].special
           : *size > limit[kind].most ? limit[kind].large
                                      : NULL;
}

int infile_open(const char *path, enum infile_kind kind, uint64_t *size, struct diag *d)
{
    uint64_t links;
    int fd = open(path, FLAGS);
    if (fd < 0)
        return diag_error(d, "%s: cannot open: %s", path, strerror(errno));
    const char *wrong = infile_wrong(fd, kind, size, &links);
    if (!wrong)
        return fd;
    close(fd);
    return diag_error(d, "%s: %s", path, wrong);
}

/* Addresses that stand for the bytes of a file, without memory behind them. */
struct addresses {
    void *at;
    size_t size; /* bytes */
};

/* Unmaps the addresses of the struct addresses p; called when its arena is freed. */
static void unmap_addresses(void *p)
{
    const struct addresses *x = p;
    munmap(x->at, x->size);
}

const uint8_t *infile_addresses(uint64_t size, struct arena *a)
{
    struct addresses *x = arena_alloc(a, sizeof *x);
    void *at =
        mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    *x = (struct addresses){at, (size_t)size};
    arena_defer(a, unmap_addresses, x);
    return at;
}

/* ---- below a folder --------------------------------------------------------------------------- */

/* Opens path below the open folder dir with openat2, without following links.  Returns a descriptor, or -1 with
 * errno. */
static int openat2_beneath(int dir, const char *path)
{
    struct open_how how = {
        .flags = FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/* Opens path below the open folder dir, without following links, if the kernel lacks openat2: opens
 * each component of the path in the folder before it.  A component that is a link is an error,
 * ELOOP, and so is "..", EXDEV.  Returns the descriptor, or -1 with errno. */
static int walk_beneath(struct arena *tmp, int dir, const char *path)
{
    int at = dir;

    for (char *p = arena_strdup(tmp, path, strlen(path));;) {
        size_t n = strcspn(p, "/");
        char *next = p + n + strspn(p + n, "/");
        const char *name = n == 0 ? "." : p; /* an empty path is the folder itself */
        p[n] = '\0';
        bool up = strcmp(name, "..") == 0;
        int fd = up ? -1 : openat(at, name, FLAGS | O_NOFOLLOW | (*next != '\0' ? O_DIRECTORY : 0));
        int e = up ? EXDEV : errno;
        struct stat st;
        if (fd < 0 && e == ENOTDIR && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(st.st_mode))
            e = ELOOP; /* with O_DIRECTORY, open() reports a link as ENOTDIR */
        if (at != dir)
            close(at);
        errno = e;
        if (fd < 0 || *next == '\0')
            return fd;
        at = fd;
        p = next;
    }
}

int infile_open_beneath(int dir, const char *location, bool links, struct arena *tmp)
{
    if (links)
        return openat(dir, location, FLAGS);
    int fd = openat2_beneath(dir, location);
    /* errors of a kernel without openat2, of a sandbox that forbids openat2, of a kernel that lacks these flags */
    return fd < 0 && (errno == ENOSYS || errno == EPERM || errno == E2BIG)
               ? walk_beneath(tmp, dir, location)
               : fd;
}

/* Returns the absolute path of a folder without links and with a final slash, in a; NULL: there is no such folder. */
static const char *real_folder(const char *path, struct arena *a)
{
    char buf[PATH_MAX];
    /* the root folder, "/", has its slash already */
    return realpath(path, buf) ? arena_fmt(a, "%s%s", buf, buf[1] ? "/" : "") : NULL;
}

const char *infile_relative(const char *folder, const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *from = real_folder(folder, a);
    const char *to =
        real_folder(slash ? arena_strdup(a, path, (size_t)(slash - path) + 1) : ".", a);
    size_t same = 0; /* bytes of the common folders at the beginning of both paths */
    if (!from || !to)
        return path;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/')
            same = i + 1;
    const char *up = ""; /* "../" for each folder of `from` below the common folders */
    for (const char *p = from + same; *p; p++)
        if (*p == '/')
            up = arena_fmt(a, "../%s", up);
    return arena_fmt(a, "%s%s%s", up, to + same, name);
}

bool infile_same(const char *one, const char *two)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(two, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- as a whole ------------------------------------------------------------------------------- */

/* Closes a file descriptor that was cast to a pointer; for arena clean-ups. */
static void close_fd(void *fd)
{
    close((int)(intptr_t)fd);
}

/* Reads fd to its end. Returns the bytes and a NUL after them, in a, and their number in *len; on failure returns NULL
 * and sets *wrong, which must be NULL before, to the reason. size: the expected number of bytes, 0 if unknown; more
 * bytes than the kind allows are a failure. */
static char *read_all(int fd, enum infile_kind kind, uint64_t size, struct arena *a, size_t *len,
                      const char **wrong)
{
    size_t n = 0, cap = (size_t)size + 1; /* one more, to see the end */
    char *text = arena_alloc(a, cap + 1);
    for (;;) {
        ssize_t got = read(fd, text + n, cap - n);
        if (got < 0 && errno == EINTR && fd != STDIN_FILENO)
            continue; /* not at stdin: there Ctrl-C must end the waiting for input */
        if (got < 0)
            *wrong = strerror(errno);
        if (got > 0)
            n += (size_t)got;
        if (n > limit[kind].most)
            *wrong = limit[kind].large;
        if (got <= 0 || *wrong)
            break;
        if (n == cap) {
            cap = 2 * cap + 65536;
            char *bigger = arena_alloc(a, cap + 1);
            memcpy(bigger, text, n);
            text = bigger;
        }
    }
    text[n] = '\0';
    *len = n;
    return *wrong ? NULL : text;
}

int infile_text(const char *name, const char *text, size_t n, struct diag *d)
{
    size_t good = utf8_good(text, n);
    return good == n ? 0 : diag_error(d, "%s: byte %zu is not UTF-8", name, good);
}

char *infile_bytes(const char *path, enum infile_kind kind, struct arena *a, size_t *len,
                   struct diag *d)
{
    const char *wrong = NULL;
    uint64_t size = 0;
    struct arena *own = arena_new(a); /* first: running out of memory must not leave a file open */
    int fd = infile_open(path, kind, &size, d);
    char *text = NULL;
    if (fd >= 0) {
        arena_defer(own, close_fd, (void *)(intptr_t)fd);
        text = read_all(fd, kind, size, a, len, &wrong);
    }
    arena_free(own);
    if (wrong)
        diag_error(d, "%s: cannot be read: %s", path, wrong);
    return text;
}

char *infile_read(const char *path, enum infile_kind kind, struct arena *a, size_t *len,
                  struct diag *d)
{
    char *text = infile_bytes(path, kind, a, len, d);
    return text && infile_text(path, text, *len, d) == 0 ? text : NULL;
}

char *infile_read_stdin(enum infile_kind kind, struct arena *a, size_t *len, struct diag *d)
{
    const char *wrong = NULL;
    struct stat st;
    bool sized = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
    uint64_t size = sized ? (uint64_t)st.st_size : 0;
    if (size > limit[kind].most)
        wrong = limit[kind].large;
    char *text = wrong ? NULL : read_all(STDIN_FILENO, kind, size, a, len, &wrong);
    if (wrong)
        diag_error(d, "standard input: cannot be read: %s", wrong);
    return text;
}

char *infile_read_list(const char *path, struct arena *a, size_t *len, struct diag *d)
{
    if (strcmp(path, "-") != 0)
        return infile_read(path, INFILE_LIST, a, len, d);
    char *text = infile_read_stdin(INFILE_LIST, a, len, d);
    return text && infile_text("standard input", text, *len, d) == 0 ? text : NULL;
}

bool infile_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
