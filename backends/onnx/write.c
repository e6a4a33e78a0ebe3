/* Writes ONNX models to files.
 *
 * protobuf-c turns a message into a sequence of byte strings, which it appends to a struct sink.  Short strings are
 * collected in a buffer.  A string of addresses that stand for bytes of a file (infile_addresses) is read from the file
 * or, if it is long, copied from file to file, so that weights are never all in memory.  If the file system can share
 * blocks between files, copy_file_range does so for aligned blocks.
 *
 * Cost: O(size of the output) time, O(1) memory. */
#include "backends/backends.h"
#include "backends/onnx/pack.h"
#include "ir/base/infile.h"
#include "ir/base/outfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER = 1 << 16,  /* bytes collected before a write */
    STRETCH = 1 << 26, /* the most bytes that are written between two checks of the stop flag */
    /* bytes of the shortest payload that the reader leaves in the file (ONNX_MARK): shorter strings are in memory */
    LEAST = 17
};

int write_bytes(int fd, const uint8_t *p, size_t n, const char *what, struct diag *d)
{
    while (n > 0) {
        if (diag_broken_off(d))
            return -1;
        ssize_t k = write(fd, p, smaller_u64(n, STRETCH));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            return diag_error(d, "%s: cannot write: %s", what,
                              k < 0 ? strerror(errno) : "no progress");
        }
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

/* Reads n bytes from offset off of descriptor `in`, a file of weights, to `to`.  what: name of the output, for
 * messages. Returns 0, or -1 and an error. */
static int read_bytes(int in, uint64_t off, size_t n, uint8_t *to, const char *what, struct diag *d)
{
    while (n > 0) {
        ssize_t k = pread(in, to, n, (off_t)off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            return diag_error(d, "%s: cannot copy %zu bytes at %llu of weights: %s", what, n,
                              (unsigned long long)off,
                              k < 0 ? strerror(errno) : "the file ends before");
        }
        to += k;
        off += (uint64_t)k;
        n -= (size_t)k;
    }
    return 0;
}

/* Does the work of copy_bytes() with pread and write, for files between which copy_file_range is not possible.  Returns
 * 0, or -1 and an error. */
static int copy_by_blocks(int in, uint64_t off, uint64_t len, int out, const char *what,
                          struct diag *d)
{
    uint8_t buf[BUFFER];

    while (len > 0) {
        ssize_t k = pread(in, buf, len < sizeof buf ? (size_t)len : sizeof buf, (off_t)off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            return diag_error(d, "%s: cannot copy %llu bytes at %llu of weights: %s", what,
                              (unsigned long long)len, (unsigned long long)off,
                              k < 0 ? strerror(errno) : "the file ends before");
        }
        if (write_bytes(out, buf, (size_t)k, what, d) != 0)
            return -1;
        off += (uint64_t)k;
        len -= (uint64_t)k;
    }
    return 0;
}

int copy_bytes(int in, uint64_t off, uint64_t len, int out, const char *what, struct diag *d)
{
    assert(in >= 0 && out >= 0);
    loff_t at = (loff_t)off;

    while (len > 0) {
        if (diag_broken_off(d))
            return -1;
        ssize_t k = copy_file_range(in, &at, out, NULL, smaller_u64(len, STRETCH), 0);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) /* not possible between these files, or `in` is too short: then pread says so */
            return copy_by_blocks(in, (uint64_t)at, len, out, what, d);
        len -= (uint64_t)k;
    }
    return 0;
}

/* A file to which protobuf-c appends. */
struct sink {
    ProtobufCBuffer base;      /* must be first: protobuf-c passes its address back */
    const struct mapping *map; /* [nmap] by ascending address */
    uint32_t nmap;
    int fd;           /* descriptor of the output */
    int bad;          /* not 0: an error was reported; all further bytes are dropped */
    size_t n;         /* bytes in buf */
    const char *what; /* name of the output, for messages */
    struct diag *d;
    uint8_t buf[BUFFER];
};

/* Writes the bytes in the buffer to the output, and empties the buffer. */
static void sink_flush(struct sink *s)
{
    assert(s->n <= sizeof s->buf);
    if (!s->bad && s->n > 0)
        s->bad = write_bytes(s->fd, s->buf, s->n, s->what, s->d);
    s->n = 0;
}

/* Returns the mapping that contains the address p, found by bisection; NULL: none does. */
static const struct mapping *mapping_of(const struct sink *s, const uint8_t *p)
{
    /* mappings below low begin at p or before, those from high on begin after p */
    uint32_t low = 0, high = s->nmap;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if ((uintptr_t)s->map[mid].at <= (uintptr_t)p)
            low = mid + 1;
        else
            high = mid;
    }
    const struct mapping *f = low > 0 ? &s->map[low - 1] : NULL;
    assert(low <= s->nmap);
    return f != NULL && (uintptr_t)p - (uintptr_t)f->at < f->size ? f : NULL;
}

/* For ProtobufCBuffer.append: appends the bytes p[0 .. n) to the output; p may be an address that stands for bytes of a
 * file.  A failure is noted in sink.bad. */
static void sink_append(ProtobufCBuffer *buffer, size_t n, const uint8_t *p)
{
    struct sink *s = (struct sink *)buffer;
    const struct mapping *f = n >= LEAST ? mapping_of(s, p) : NULL;
    uint64_t at = f != NULL ? (uintptr_t)p - (uintptr_t)f->at : 0;
    const bool copied = f != NULL && n >= PACK_COPY; /* from file to file, past the buffer */

    if (!s->bad && (copied || n > sizeof s->buf - s->n))
        sink_flush(s);
    if (s->bad)
        return;
    if (copied) {
        s->bad = copy_bytes(f->fd, at, n, s->fd, s->what, s->d);
    } else if (f != NULL) {
        s->bad = read_bytes(f->fd, at, n, s->buf + s->n, s->what, s->d);
        s->n += n;
    } else if (n > sizeof s->buf) {
        s->bad = write_bytes(s->fd, p, n, s->what, s->d);
    } else if (n > 0) { /* p may be NULL if n is 0 */
        memcpy(s->buf + s->n, p, n);
        s->n += n;
    }
}

int onnx_pack_to(const struct mapping *map, uint32_t nmap, const Onnx__ModelProto *model, int fd,
                 const char *what, struct diag *d)
{
    struct sink s;

    if (protobuf_c_message_get_packed_size(&model->base) > UINT32_MAX) {
        return diag_error(d,
                          "%s: the model takes more than 4 GiB, which protobuf cannot hold: its "
                          "weights must be external data",
                          what);
    }
    s.base.append = sink_append;
    s.map = map;
    s.nmap = nmap;
    s.fd = fd;
    s.bad = 0;
    s.n = 0;
    s.what = what;
    s.d = d;
    protobuf_c_message_pack_to_buffer(&model->base, &s.base);
    sink_flush(&s);
    return s.bad ? -1 : 0;
}

int onnx_pack_file(const struct mapping *map, uint32_t nmap, const Onnx__ModelProto *model,
                   int dirfd, const char *name, struct diag *d)
{
    int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0)
        return diag_error(d, "%s: cannot create: %s", name, strerror(errno));
    int bad = onnx_pack_to(map, nmap, model, fd, name, d);
    if (close(fd) != 0 && !bad)
        bad = diag_error(d, "%s: cannot write: %s", name, strerror(errno));
    if (bad)
        unlinkat(dirfd, name, 0);
    return bad;
}

/* Returns the folder of the model that has f as external data, as a path that can be opened: f's path without the
 * location that the model gives. */
static const char *folder_around(const struct module *m, const struct file *f, struct arena *a)
{
    const char *path = module_str(m, f->path);
    size_t n = strlen(path), k = strlen(module_str(m, f->location));
    return n > k ? arena_strdup(a, path, n - k) : ".";
}

/* Warns if the model at `path` has external data that stays in another folder: it will be looked for beside the
 * model. */
static void warn_moved(const struct module *m, const char *path, struct diag *d)
{
    uint32_t n = 0, first = 0; /* number of files of external data; index of the first one */

    for (uint32_t k = 1; k < m->nfile; k++)
        if (m->file[k].location != 0) {
            first = n == 0 ? k : first;
            n++;
        }
    if (n == 0)
        return;
    struct arena *a = arena_new(m->mem);
    const char *slash = strrchr(path, '/');
    const char *to = slash == NULL ? "." : arena_strdup(a, path, (size_t)(slash - path) + 1);
    const char *from = folder_around(m, &m->file[first], a);
    struct stat st;
    if (stat(from, &st) == 0 && stat(to, &st) == 0 && !infile_same(from, to))
        diag_warning(d, WARN_MOVED_WEIGHTS,
                     "%s: its weights stay in '%s'%s: they are looked for beside the model", path,
                     module_str(m, m->file[first].path), n > 1 ? " and others" : "");
    arena_free(a);
}

/* Compares mappings by their addresses, for qsort. */
static int compare_mapped(const void *x, const void *y)
{
    uintptr_t a = (uintptr_t)((const struct mapping *)x)->at;
    uintptr_t b = (uintptr_t)((const struct mapping *)y)->at;
    return (a > b) - (a < b);
}

void mappings_sort(struct mapping *list, uint32_t n)
{
    qsort(list, n, sizeof *list, compare_mapped);
}

/* Returns the mappings of the module's files, by ascending address, in a; writes their number to *n. */
static struct mapping *module_mappings(const struct module *m, uint32_t *n, struct arena *a)
{
    struct mapping *list = arena_array(a, m->nfile, sizeof *list);
    *n = 0;
    for (uint32_t k = 1; k < m->nfile; k++)
        if (m->file[k].map != NULL)
            list[(*n)++] = (struct mapping){m->file[k].map, m->file[k].size, m->file[k].fd};
    mappings_sort(list, *n);
    return list;
}

/* Writes the model x to `path` and closes x->data; frees a.  The model appears only if its data was written.  bad:
 * onnx_place() has failed and reported an error: nothing is written.  Returns 0, or -1 and an error. */
static int pack_placed(const struct module *m, struct model_file *x, const char *path, bool bad,
                       struct arena *a, struct diag *d)
{
    struct outfile o;
    uint32_t n;
    const struct mapping *map = module_mappings(m, &n, a);
    /* if the path is "-", text in stdout's buffer must come before the model, which goes straight to the
     * descriptor. Whoever owns stdout reports its errors, as with outfile_close() */
    if (!bad)
        bad = outfile_open_to(&o, path, NULL, a, d) != 0 || fflush(o.f) != 0;
    if (!bad) {
        bad = onnx_pack_to(map, n, &x->model, fileno(o.f), path, d) != 0;
        if (!bad)
            /* this may run out of memory, so it is done before the file gets its name */
            warn_moved(m, path, d);
        bad = (x->has_data ? outfile_close_both(&o, &x->data, !bad) : outfile_close(&o, !bad)) != 0;
        x->has_data = false;
    }
    if (x->has_data)
        outfile_close(&x->data, /*ok=*/false);
    arena_free(a);
    return bad ? -1 : 0;
}

int onnx_pack_path(const struct module *m, const Onnx__ModelProto *model, const char *path,
                   struct diag *d)
{
    assert(model && path);
    struct arena *a = arena_new(m->mem);
    struct model_file x;
    bool bad = onnx_place(m, model, path, &x, a, d) != 0;
    return pack_placed(m, &x, path, bad, a, d);
}

int onnx_pack_source(const struct module *m, const Onnx__ModelProto *model, const char *path,
                     struct diag *d)
{
    struct model_file x = {.model = *model};
    return pack_placed(m, &x, path, /*bad=*/false, arena_new(m->mem), d);
}

int onnx_write(const struct module *m, const char *path, struct diag *d)
{
    assert(m->src); /* set by onnx_make() */
    return onnx_pack_path(m, m->src, path, d);
}
