/* The streaming writer of pcc-gen.  protobuf-c packs the model piece by piece and passes each piece, in order, to
 * out_append().  A piece that points into gen.marker is a weight: its bytes are computed block by block instead of
 * read.  The memory needed is one output buffer, whatever the size of the model.
 *
 * Numbers of weight w: the random stream splitmix64 with seed w.key; each 64-bit number of it gives two float32,
 * uniform on mean +- sqrt(3) * std.  The host must be little-endian, as ONNX raw_data is. */
#include "tools/gen/gen.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw_data is written in host order");

enum {
    OUT_BYTES = 1 << 20,   /* size of the output buffer */
    BLOCK_FLOATS = 1 << 14 /* number of random floats that are made at a time */
};

/* An output file with its buffer.  After an error further output is dropped. */
struct out {
    /* must be the first field: out_append() takes the pointer to it for a pointer to the struct */
    ProtobufCBuffer base;
    const struct gen *g;
    int fd;
    int error;        /* errno of the first failed write; 0: none */
    uint64_t written; /* bytes so far, those in the buffer included */
    size_t used;      /* bytes in the buffer */
    uint8_t buf[OUT_BYTES];
};

/* Writes the buffer to the file and empties it; an error is kept in o->error. */
static void out_flush(struct out *o)
{
    const uint8_t *p = o->buf;

    while (o->used > 0 && o->error == 0) {
        ssize_t n = write(o->fd, p, o->used);
        if (n > 0) {
            p += n;
            o->used -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            o->error = n == 0 ? EIO : errno;
        }
    }
    o->used = 0;
}

/* Adds data[0 .. len) to the output. */
static void out_bytes(struct out *o, const void *data, size_t len)
{
    const uint8_t *p = data;

    o->written += len;
    while (len > 0 && o->error == 0) {
        size_t n = smaller_u64(OUT_BYTES - o->used, len);
        memcpy(o->buf + o->used, p, n);
        o->used += n;
        p += n;
        len -= n;
        if (o->used == OUT_BYTES)
            out_flush(o);
    }
}

/* Adds n zero bytes to the output. */
static void out_zeros(struct out *o, uint64_t n)
{
    static const uint8_t zeros[GEN_ALIGN];

    for (; n > 0 && o->error == 0; n -= smaller_u64(n, GEN_ALIGN))
        out_bytes(o, zeros, n < GEN_ALIGN ? (size_t)n : GEN_ALIGN);
}

uint64_t gen_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a number in [-1, 1) made of the upper 24 bits of `bits`, so that float32 holds it without rounding. */
static float unit(uint32_t bits)
{
    return (float)((int32_t)(bits >> 8) - (1 << 23)) * 0x1p-23f;
}

/* Computes the numbers of weight w and adds them to the output. */
static void out_weight(struct out *o, const struct gen_weight *w)
{
    float block[BLOCK_FLOATS];
    const float spread = w->std * 1.7320508f; /* sqrt(3) */
    uint64_t state = w->key;

    for (uint64_t done = 0; done < w->count && o->error == 0; done += BLOCK_FLOATS) {
        for (size_t i = 0; i < BLOCK_FLOATS; i += 2) {
            uint64_t r = gen_random(&state);
            block[i] = w->mean + spread * unit((uint32_t)r);
            block[i + 1] = w->mean + spread * unit((uint32_t)(r >> 32));
        }
        uint64_t left = w->count - done;
        out_bytes(o, block, (size_t)(smaller_u64(left, BLOCK_FLOATS)) * sizeof *block);
    }
}

/* ProtobufCBuffer.append: adds a piece of the model, or the weight whose marker `data` is, to the output. */
static void out_append(ProtobufCBuffer *base, size_t len, const uint8_t *data)
{
    struct out *o = (struct out *)base;
    /* index of the weight, if data is a marker */
    uintptr_t at = (uintptr_t)data - (uintptr_t)o->g->marker;

    if (at < o->g->marker_size)
        out_weight(o, &o->g->weights[at]);
    else
        out_bytes(o, data, len);
}

/* Packs the model into the output. */
static void write_model(struct out *o, const Onnx__ModelProto *m)
{
    protobuf_c_message_pack_to_buffer(&m->base, &o->base);
}

/* Writes all external weights at their offsets. */
static void write_weights(struct out *o, const struct gen *g)
{
    for (size_t i = 0; i < g->nweights; i++) {
        const struct gen_weight *w = &g->weights[i];
        if (w->external) {
            out_zeros(o, w->offset - o->written);
            out_weight(o, w);
        }
    }
}

/* Prints an error about a file.  Returns -1. */
static int complain(const char *path, const char *what)
{
    fprintf(stderr, "pcc-gen: %s: %s\n", path, what);
    return -1;
}

/* Whether `path` stands for standard output. */
static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Checks, before the work, that `path` is a regular file or does not exist: rename() would replace a device, and
 * would fail on a folder.  Returns 0; or prints an error and returns -1. */
static int check_target(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return complain(path, "exists and is not a regular file");
    return 0;
}

/* Closes a file that mkostemp() has made, which only its owner may read, after giving it the mode that open() would
 * have given. Returns 0 or errno. */
static int close_file(int fd)
{
    const mode_t mask = umask(0); /* umask() tells the present mask only by setting another one */
    int err = 0;

    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0)
        err = errno;
    if (close(fd) != 0 && err == 0)
        err = errno;
    return err;
}

/* Writes the model m (NULL: the weights) to a new temporary file in the folder of `path`.  Returns its name, which
 * the caller frees; on failure prints an error about `path` and returns NULL. */
static char *write_temp(const struct gen *g, const Onnx__ModelProto *m, const char *path)
{
    size_t n = strlen(path) + sizeof ".XXXXXX";
    char *tmp = malloc(n);
    struct out *o = calloc(1, sizeof *o);
    int err = ENOMEM;

    if (tmp != NULL && o != NULL) {
        snprintf(tmp, n, "%s.XXXXXX", path);
        o->base.append = out_append;
        o->g = g;
        o->fd = mkostemp(tmp, O_CLOEXEC);
        err = o->fd < 0 ? errno : 0;
    }
    if (err == 0) {
        if (m != NULL)
            write_model(o, m);
        else
            write_weights(o, g);
        out_flush(o);
        err = close_file(o->fd);
        err = o->error != 0 ? o->error : err;
        if (err != 0)
            unlink(tmp);
    }
    free(o);
    if (err == 0)
        return tmp;
    free(tmp);
    complain(path, strerror(err));
    return NULL;
}

/* Renames the temporary file tmp to `path` if `keep`, else removes it; frees the name tmp.  Returns 0 if the file was
 * renamed, else -1, after printing an error if renaming failed.  tmp NULL: there is no file; returns -1. */
static int rename_or_remove(char *tmp, const char *path, bool keep)
{
    int rc = -1;

    if (tmp == NULL)
        return -1;
    if (keep && rename(tmp, path) == 0)
        rc = 0;
    else if (keep)
        complain(path, strerror(errno));
    if (rc != 0)
        unlink(tmp);
    free(tmp);
    return rc;
}

/* Writes the model m to standard output.  Returns 0; or prints an error and returns -1. */
static int write_to_stdout(const struct gen *g, const Onnx__ModelProto *m)
{
    struct out *o = calloc(1, sizeof *o);
    int err = ENOMEM;

    if (o != NULL) {
        o->base.append = out_append;
        o->g = g;
        o->fd = STDOUT_FILENO;
        write_model(o, m);
        out_flush(o);
        err = o->error;
    }
    free(o);
    return err != 0 ? complain("standard output", strerror(err)) : 0;
}

int gen_write(const struct gen *g, const Onnx__ModelProto *m, const char *path,
              const char *weights_path)
{
    const bool external = g->mode == GEN_EXTERNAL;
    char *weights = NULL, *model;

    assert(!external || !is_stdout(path));
    if (!is_stdout(path) &&
        (check_target(path) != 0 || (external && check_target(weights_path) != 0)))
        return -1;
    /* Readers, protobuf-c among them, refuse a message of 2 GiB or more. */
    if (protobuf_c_message_get_packed_size(&m->base) > INT32_MAX)
        return complain(path, "larger than protobuf's 2 GiB; use --external or --no-weights");
    if (is_stdout(path))
        return write_to_stdout(g, m);
    if (external && (weights = write_temp(g, NULL, weights_path)) == NULL)
        return -1;
    model = write_temp(g, m, path);
    /* the file of weights is renamed before the model's file, so that there is never a model without its weights */
    if (external && rename_or_remove(weights, weights_path, model != NULL) != 0) {
        rename_or_remove(model, path, /*keep=*/false);
        return -1;
    }
    bool was_there = access(path, F_OK) == 0;
    int rc = rename_or_remove(model, path, /*keep=*/true);
    if (rc != 0 && external && !was_there)
        unlink(weights_path); /* so that no weights are left without a model */
    return rc;
}

int gen_write_text(const struct gen_opt *o, int (*write_to)(FILE *, const struct gen_opt *))
{
    size_t n = strlen(o->out) + sizeof ".XXXXXX";
    FILE *f;

    if (is_stdout(o->out))
        return write_to(stdout, o) != 0 || fflush(stdout) != 0
                   ? complain("standard output", strerror(errno))
                   : 0;
    if (check_target(o->out) != 0)
        return -1;
    char *tmp = malloc(n);
    if (tmp == NULL)
        return complain(o->out, strerror(ENOMEM));
    snprintf(tmp, n, "%s.XXXXXX", o->out);
    int fd = mkostemp(tmp, O_CLOEXEC);
    /* fclose() closes `copy`, close_file() closes fd */
    int copy = fd < 0 ? -1 : dup(fd);
    if (copy < 0 || (f = fdopen(copy, "w")) == NULL) {
        complain(o->out, strerror(errno));
        if (copy >= 0)
            close(copy);
        if (fd < 0) {
            free(tmp);
            return -1;
        }
        close(fd);
        return rename_or_remove(tmp, o->out, /*keep=*/false);
    }
    int err = write_to(f, o) != 0 ? errno : 0;
    if (fclose(f) != 0 && err == 0)
        err = errno;
    int closed = close_file(fd);
    err = err != 0 ? err : closed;
    if (err != 0)
        complain(o->out, strerror(err));
    return rename_or_remove(tmp, o->out, err == 0) != 0 || err != 0 ? -1 : 0;
}
