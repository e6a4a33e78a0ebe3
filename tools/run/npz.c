/* Reading .npz (npz.h): a zip archive of .npy files, stored or, by numpy.savez_compressed(), deflated.
 *
 * The central directory at the end of a zip (PKWARE's APPNOTE 4.3.12, with sizes of 64 bits in an extra field, 4.5.3)
 * lists name, size and place of each file; the file begins behind a local header of its own.  A .npy file (numpy's NEP
 * 1) has a magic, a version, the length of a header, and the header as a Python dictionary with 'descr',
 * 'fortran_order' and 'shape'.  A deflated file says how large it will be: what cannot be true at the 1032 bytes that
 * one byte stands for at most (zlib's technical details) is refused before there is memory for it.  O(bytes). */
#include "tools/run/npz.h"

#include "ir/base/infile.h"
#include "ir/base/name_table.h"
#include "ir/model/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    END_BYTES = 22,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    STORED = 0,
    DEFLATED = 8,
    DEFLATE_MOST = 1032,
    NPY_RANK = 32,
    COMMENT_MOST = 65535
};

/* An archive in memory. */
struct archive {
    const unsigned char *at; /* [n] */
    uint64_t n;
    const char *path;
    struct arena *a;
    struct diag *d;
};

/* Returns the number of `bytes` bytes at p, the lowest first. */
static uint64_t number(const unsigned char *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned k = bytes; k-- > 0;)
        v = v << 8 | p[k];
    return v;
}

/* Reports what is wrong with a file of the archive.  Returns -1. */
static int bad(const struct archive *z, const char *name, const char *what)
{
    return diag_error(z->d, "%s: %s%s%s", z->path, name, *name ? ": " : "", what);
}

/* ---- .npy ------------------------------------------------------------------------------------- */

/* Returns the element type that numpy's words for a type mean, such as "<f4"; ELEM_NONE: another one. */
static enum elem elem_of_descr(const char *s, size_t n)
{
    static const struct {
        const char *word;
        enum elem elem;
    } known[] = {{"f4", ELEM_F32}, {"f8", ELEM_F64},  {"f2", ELEM_F16}, {"i1", ELEM_I8},
                 {"i2", ELEM_I16}, {"i4", ELEM_I32},  {"i8", ELEM_I64}, {"u1", ELEM_U8},
                 {"u2", ELEM_U16}, {"u4", ELEM_U32},  {"u8", ELEM_U64}, {"b1", ELEM_BOOL},
                 {"c8", ELEM_C64}, {"c16", ELEM_C128}};
    if (n < 3 || !strchr("<|=", *s))
        return ELEM_NONE;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].word) == n - 1 && !memcmp(known[k].word, s + 1, n - 1))
            return known[k].elem;
    return ELEM_NONE;
}

/* Returns what follows "'key':" and blanks in a header; NULL: the key is not there. */
static const char *header_value(const char *header, const char *key)
{
    const char *s = strstr(header, key);
    return s ? s + strlen(key) + strspn(s + strlen(key), " ") : NULL;
}

/* Reads the header of a .npy file into *to.  Returns 0 or -1 after an error. */
static int read_header(const struct archive *z, const char *header, struct npz_array *to)
{
    const char *descr = header_value(header, "'descr':"),
               *order = header_value(header, "'fortran_order':"),
               *shape = header_value(header, "'shape':");
    if (!descr || !order || !shape || *shape != '(')
        return bad(z, to->name, "expected an array as numpy writes it");
    to->elem = *descr == '\'' ? (int)elem_of_descr(descr + 1, strcspn(descr + 1, "'")) : ELEM_NONE;
    if (to->elem == ELEM_NONE)
        return bad(z, to->name, "expected plain numbers, the lowest byte first");
    to->size = arena_array(z->a, NPY_RANK, sizeof *to->size);
    const char *s = shape + 1;
    while (*s && *s != ')') {
        char *end;
        errno = 0;
        long long v = strtoll(s, &end, 10);
        if (end == s || v < 0 || errno || to->rank == NPY_RANK)
            return bad(z, to->name, "expected a shape of at most 32 sizes");
        to->size[to->rank++] = v;
        s = end + strspn(end, ", ");
    }
    if (*s != ')')
        return bad(z, to->name, "expected a shape that ends with ')'");
    if (strncmp(order, "False", 5) != 0 && to->rank > 1)
        return bad(z, to->name, "expected the order of C: numpy.ascontiguousarray() makes it");
    return 0;
}

/* Reads a .npy file, bytes[0 .. n).  Returns 0 or -1 after an error. */
static int read_npy(const struct archive *z, const unsigned char *bytes, uint64_t n,
                    struct npz_array *to)
{
    if (n < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return bad(z, to->name, "expected an array as numpy writes it");
    unsigned wide = bytes[6] == 1 ? 2 : 4;
    uint64_t from = 8 + wide, length = number(bytes + 8, wide);
    if (length > n - from)
        return bad(z, to->name, "its header is cut off");
    if (read_header(z, arena_strdup(z->a, (const char *)bytes + from, length), to))
        return -1;
    int64_t elems = shape_elems(to->size, to->rank);
    uint64_t each = elem_bits((enum elem)to->elem) / 8;
    from += length;
    if (elems < 0 || (uint64_t)elems > (n - from) / each || (uint64_t)elems * each != n - from)
        return bad(z, to->name, "its size is not that of its shape");
    to->data = bytes + from;
    to->bytes = n - from;
    return 0;
}

/* ---- zip -------------------------------------------------------------------------------------- */

/* Returns the place of the end record; UINT64_MAX: there is none. */
static uint64_t find_end(const struct archive *z)
{
    for (uint64_t k = 0; k <= COMMENT_MOST && k + END_BYTES <= z->n; k++)
        if (!memcmp(z->at + z->n - END_BYTES - k, "PK\5\6", 4))
            return z->n - END_BYTES - k;
    return UINT64_MAX;
}

/* Replaces sizes that are too large for 32 bits by those of the extra field extra[0 .. n).  v: plain size, packed size,
 * place. */
static void take_wide(const unsigned char *extra, uint64_t n, uint64_t *v)
{
    for (uint64_t at = 0; at + 4 <= n;) {
        uint64_t id = number(extra + at, 2), size = number(extra + at + 2, 2), from = at + 4;
        for (int k = 0; k < 3 && id == 1; k++)
            if (v[k] == UINT32_MAX && from + 8 <= at + 4 + size && from + 8 <= n) {
                v[k] = number(extra + from, 8);
                from += 8;
            }
        at += 4 + size;
    }
}

/* Returns the `plain` bytes that packed[0 .. n) stand for, whose checksum is crc, in z->a; NULL: it stands for
 * something else. */
static const unsigned char *inflated(const struct archive *z, const unsigned char *packed,
                                     uint64_t n, uint64_t plain, uint64_t crc)
{
    if (n > UINT32_MAX || plain > UINT32_MAX || plain > (n + 1) * DEFLATE_MOST)
        return NULL;
    unsigned char *to = arena_alloc(z->a, plain + 1);
    z_stream s = {.next_in = (unsigned char *)packed, /* zlib only reads it */
                  .avail_in = (uInt)n,
                  .next_out = to,
                  .avail_out = (uInt)plain};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK) /* negative: no header, as in a zip */
        arena_exhausted(z->a, 1);
    int rc = inflate(&s, Z_FINISH);
    inflateEnd(&s);
    bool good = rc == Z_STREAM_END && s.total_out == plain && crc32(0, to, (uInt)plain) == crc;
    return good ? to : NULL;
}

/* Reads the entry of the directory at `at` into *to, and its length into *length.  Returns 0 or -1 after an error. */
static int read_entry(const struct archive *z, uint64_t at, struct npz_array *to, uint64_t *length)
{
    if (at > z->n || z->n - at < ENTRY_BYTES || memcmp(z->at + at, "PK\1\2", 4) != 0)
        return bad(z, "", "its directory is broken");
    const unsigned char *e = z->at + at;
    uint64_t name = number(e + 28, 2), extra = number(e + 30, 2);
    uint64_t v[3] = {number(e + 24, 4), number(e + 20, 4), number(e + 42, 4)};
    *length = ENTRY_BYTES + name + extra + number(e + 32, 2);
    if (*length > z->n - at)
        return bad(z, "", "its directory is cut off");
    take_wide(e + ENTRY_BYTES + name, extra, v);
    uint64_t plain = name > 4 && !memcmp(e + ENTRY_BYTES + name - 4, ".npy", 4) ? name - 4 : name;
    to->name = arena_strdup(z->a, (const char *)e + ENTRY_BYTES, plain);
    uint64_t method = number(e + 10, 2);
    if (method != STORED && method != DEFLATED)
        return bad(z, to->name, "it is packed as numpy does not pack");
    if (v[2] > z->n || z->n - v[2] < LOCAL_BYTES || memcmp(z->at + v[2], "PK\3\4", 4) != 0)
        return bad(z, to->name, "it is not where the directory says");
    uint64_t from =
        v[2] + LOCAL_BYTES + number(z->at + v[2] + 26, 2) + number(z->at + v[2] + 28, 2);
    if (from > z->n || v[method == STORED ? 0 : 1] > z->n - from)
        return bad(z, to->name, "it is cut off");
    const unsigned char *file =
        method == STORED ? z->at + from : inflated(z, z->at + from, v[1], v[0], number(e + 16, 4));
    return file ? read_npy(z, file, v[0], to) : bad(z, to->name, "its compressed bytes are broken");
}

int npz_read(struct npz *out, const char *path, struct arena *a, struct diag *d)
{
    struct archive z = {.path = path, .a = a, .d = d};
    size_t bytes = 0;
    *out = (struct npz){0};
    z.at = (const unsigned char *)infile_bytes(path, INFILE_STREAM, a, &bytes, d);
    if (!z.at)
        return -1;
    z.n = bytes;
    uint64_t end = find_end(&z);
    if (end == UINT64_MAX)
        return bad(&z, "", "expected an archive as numpy.savez writes it");
    uint64_t at = number(z.at + end + 16, 4), length = 0;
    uint32_t n = (uint32_t)number(z.at + end + 10, 2);
    struct names names = names_new(a, n);
    out->array = arena_array(a, (size_t)n + 1, sizeof *out->array);
    for (; out->n < n; out->n++, at += length) {
        struct npz_array *to = &out->array[out->n];
        if (read_entry(&z, at, to, &length))
            return -1;
        if (names_get(&names, to->name, UINT32_MAX) != UINT32_MAX)
            return bad(&z, to->name, "it is in the archive twice");
        names_add(&names, to->name, out->n);
    }
    return 0;
}

const struct npz_array *npz_find(const struct npz *z, const char *name)
{
    for (uint32_t k = 0; k < z->n; k++)
        if (!strcmp(z->array[k].name, name))
            return &z->array[k];
    return NULL;
}
