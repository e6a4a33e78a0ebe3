/* External data: weights in files beside the model.
 *
 * A model from an untrusted source could name any file of the machine, so the rules are strict: only known keys, each
 * at most once; decimal numbers; a relative location without "..", which is opened below the model's folder without
 * following symbolic links (infile.h); a regular file without further hard links.  Caches of downloaded models consist
 * of links; so with --allow-links, links in the folder may lead anywhere, while the rules for locations stay.  A
 * missing file is an error only when its bytes are needed.
 *
 * Cost: O(1) expected for each tensor; every file is opened once. */
#include "frontends/onnx/build.h"
#include "ir/base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* For arena_defer(): closes the file with descriptor p. */
static void close_fd(void *p)
{
    close((int)(intptr_t)p);
}

/* Returns what is wrong with a location, words for a message; NULL: nothing. */
static const char *wrong_location(const char *s)
{
    if (*s == '\0')
        return "is empty";
    if (*s == '/' || *s == '\\' || (s[1] == ':' && (s[2] == '\\' || s[2] == '/')))
        return "is absolute, expected a path below the model's folder";
    for (const char *p = s; *p != '\0';) {
        size_t n = strcspn(p, "/\\");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return "goes up with '..', expected a path below the model's folder";
        p += n + (p[n] != '\0');
    }
    return NULL;
}

/* Reads s, a decimal number, only digits, up to INT64_MAX, into *out.  Returns false if s is none. */
static bool parse_number(const char *s, uint64_t *out)
{
    uint64_t v = 0;

    for (const char *p = s; *p != '\0'; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return false;
    *out = v;
    return *s != '\0' && v <= (uint64_t)INT64_MAX;
}

/* The keys that an entry of external data may have. */
enum key { KEY_LOCATION, KEY_OFFSET, KEY_LENGTH, KEY_CHECKSUM, KEY_BASEPATH, KEY_COUNT };
static const char *const key_name[KEY_COUNT] = {"location", "offset", "length", "checksum",
                                                "basepath"};

/* Writes the values of t's external_data to val[enum key], NULL where a key is missing, and checks them.  Returns 0, or
 * -1 and an error. */
static int sort_entries(const struct onnx_build *b, const Onnx__TensorProto *t,
                        const struct onnx_owner *owner, const char *val[KEY_COUNT])
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = t->external_data[i];
        const char *key = e->key != NULL ? e->key : "";
        int k = 0;
        while (k < KEY_COUNT && strcmp(key, key_name[k]) != 0)
            k++;
        if (k == KEY_COUNT || val[k] != NULL) {
            return diag_error(b->d, "%s: %s: external data: %s key '%s'", b->path,
                              onnx_owner_text(b, owner, t), k == KEY_COUNT ? "unknown" : "repeated",
                              key);
        }
        val[k] = e->value != NULL ? e->value : "";
    }
    for (int k = KEY_OFFSET; k <= KEY_LENGTH; k++) {
        uint64_t v;
        if (val[k] != NULL && !parse_number(val[k], &v)) {
            return diag_error(
                b->d, "%s: %s: external data: %s '%s', expected a number from 0 to 2^63 - 1",
                b->path, onnx_owner_text(b, owner, t), key_name[k], val[k]);
        }
    }
    const char *where = val[KEY_LOCATION] != NULL ? val[KEY_LOCATION] : "";
    const char *wrong = wrong_location(where);
    if (wrong != NULL) {
        return diag_error(b->d, "%s: %s: external data: location '%s' %s", b->path,
                          onnx_owner_text(b, owner, t), where, wrong);
    }
    return 0;
}

/* Returns why the open file fd (< 0: it could not be opened, by errno) must not be used; NULL: it may.  Writes its size
 * in bytes to *size. */
static const char *why_refused(const struct onnx_build *b, int fd, uint64_t *size)
{
    uint64_t hard_links;
    if (fd < 0) {
        return errno == ELOOP   ? "is a symbolic link or behind one (--allow-links accepts links)"
               : errno == EXDEV ? "leads out of the model's folder (--allow-links accepts links)"
                                : strerror(errno);
    }
    const char *wrong = infile_wrong(fd, INFILE_DATA, size, &hard_links);
    if (wrong == NULL && hard_links != 1 && !b->allow_links)
        return "has several names, hard links (--allow-links accepts links)";
    return wrong;
}

/* Returns the model's file (index in module.file) of a location.  A file that the model does not have yet is opened
 * and added, with fd -1 if it is missing.  Returns 0 after an error. */
static uint32_t find_or_open_file(struct onnx_build *b, const char *location,
                                  const struct onnx_owner *owner, const Onnx__TensorProto *t)
{
    struct module *m = b->model;
    sid name = str_id(m, location);
    uint32_t known = map_get(&b->file, name);

    if (known != 0)
        return known;
    if (b->dir < 0) {
        b->dir = open(b->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (b->dir < 0) {
            diag_error(b->d, "%s: cannot open the folder '%s': %s", b->path, b->folder,
                       strerror(errno));
            return 0;
        }
        arena_defer(b->tmp, close_fd, (void *)(intptr_t)b->dir);
    }
    uint64_t size = 0;
    int fd = infile_open_beneath(b->dir, location, b->allow_links, b->tmp);
    if (fd >= 0)
        arena_defer(m->mem, close_fd, (void *)(intptr_t)fd);
    if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR)) {
        const char *wrong = why_refused(b, fd, &size);
        if (wrong != NULL) {
            diag_error(b->d, "%s: %s: external file '%s' %s", b->path, onnx_owner_text(b, owner, t),
                       location, wrong);
            return 0;
        }
    }
    uint32_t k = module_add_file(m);
    const char *folder = strchr(b->folder, '/') != NULL ? b->folder : ""; /* "." is left out */
    m->file[k].path = str_id(m, arena_fmt(b->tmp, "%s%s", folder, location));
    m->file[k].location = name;
    m->file[k].fd = fd < 0 ? -1 : fd;
    m->file[k].size = size;
    map_set(&b->file, b->tmp, name, k);
    return k;
}

int onnx_external(struct onnx_build *b, const Onnx__TensorProto *t, const struct onnx_owner *owner,
                  uint64_t bytes, struct tensor *out)
{
    const char *val[KEY_COUNT] = {0};
    uint64_t off = 0, len = bytes, end;

    /* without an offset the tensor begins at byte 0; without a length it has the bytes of its shape */
    if (sort_entries(b, t, owner, val) != 0)
        return -1;
    if (val[KEY_OFFSET] != NULL)
        parse_number(val[KEY_OFFSET], &off);
    if (val[KEY_LENGTH] != NULL)
        parse_number(val[KEY_LENGTH], &len);
    if (len != bytes) {
        return diag_error(b->d, "%s: %s: external data: length %llu, expected %llu by its shape",
                          b->path, onnx_owner_text(b, owner, t), (unsigned long long)len,
                          (unsigned long long)bytes);
    }
    uint32_t k = find_or_open_file(b, val[KEY_LOCATION], owner, t);
    if (k == 0)
        return -1;
    const struct file *f = &b->model->file[k];
    if (__builtin_add_overflow(off, len, &end) || end > (uint64_t)INT64_MAX ||
        (f->fd >= 0 && end > f->size)) {
        return diag_error(
            b->d, "%s: %s: external data: bytes %llu to %llu + %llu of '%s', which has %llu",
            b->path, onnx_owner_text(b, owner, t), (unsigned long long)off, (unsigned long long)off,
            (unsigned long long)len, val[KEY_LOCATION], (unsigned long long)f->size);
    }
    out->file = k;
    out->off = off;
    out->len = len;
    return 0;
}
