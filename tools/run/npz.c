/* Reading .npz (npz.h): a zip archive of .npy files, stored or, by numpy.savez_compressed(), deflated.
 *
 * The central directory at the end of a zip (PKWARE's APPNOTE 4.3.12, with sizes of 64 bits in an extra field, 4.5.3)
 * lists name, size and place of each file; the file begins behind a local header of its own.  A .npy file (numpy's NEP
 * 1) has a magic, a version, the length of a header, and the header as a Python dictionary with 'descr',
 * 'fortran_order' and 'shape'.  A deflated file says how large it will be.  One byte stands for at most 1032 bytes
 * (zlib's technical details), so that a larger size is refused before memory is allocated.  As files must not overlap,
 * all together are at most 1032 times as large as the archive.  O(n log n + bytes of the files that are asked for) with
 * n files. */
#include "tools/run/npz.h"
#include "tools/run/npz_text.h"

#include "ir/base/infile.h"
#include "ir/base/name_table.h"
#include "ir/base/numbers.h"
#include "ir/model/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    /* sizes in a zip, bytes: of its end record, without the archive's comment; of an entry of its directory and of a
     * local header, without name and extra field */
    END_BYTES = 22,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    /* of the locator and the end record of archives beyond 32 bits */
    LOCATOR_BYTES = 20,
    WIDE_END_BYTES = 56,
    COMMENT_MOST = 65535, /* bytes of that comment, at most */
    /* ways to pack a file, as a zip numbers them */
    STORED = 0,
    DEFLATED = 8,
    DEFLATE_MOST = 1032, /* unpacked bytes that a packed byte can stand for, at most */
    NPY_RANK = 32        /* number of axes that numpy's arrays can have */
};

/* Where an archive has a file. */
struct npz_entry {
    const unsigned char *at; /* [bytes] */
    uint64_t bytes, plain;   /* size packed, size unpacked */
    uint64_t crc;            /* checksum of the unpacked bytes */
    bool deflated;
};

/* The bytes [from, to) of an archive, which file number k takes with its header. */
struct span {
    uint64_t from, to;
    uint32_t k;
};

/* An archive in memory. */
struct archive {
    const unsigned char *at; /* [n] */
    uint64_t n;
    const char *path;
    struct arena *a;
    struct diag *d;
};

/* Returns the number that stands at p in `bytes` bytes, the lowest first. */
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

/* Returns the element type that numpy's words for a type mean, such as "<f4"; ELEM_NONE: any other type. */
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

/* Takes numpy's words for an array of strings, "<U12" or "|S12": element type, room and kind of characters go to *to.
 * Returns whether s[0 .. n) is such a word. */
static bool take_text_descr(struct npz_array *to, const char *s, size_t n)
{
    char *end;
    bool narrow = n > 2 && s[1] == 'S';
    if (n < 3 || !strchr("<|=", *s) || (!narrow && s[1] != 'U') || s[2] < '1' || s[2] > '9')
        return false;
    errno = 0;
    long long letters = strtoll(s + 2, &end, 10);
    if (end != s + n || errno || letters > INT32_MAX)
        return false;
    to->elem = ELEM_STR;
    to->letters = letters;
    to->narrow = narrow;
    return true;
}

/* Returns what follows "'key':" and blanks in a header; NULL: the key is not there. */
static const char *header_value(const char *header, const char *key)
{
    const char *s = strstr(header, key);
    return s ? s + strlen(key) + strspn(s + strlen(key), " ") : NULL;
}

/* Reads the header of a .npy file, the text of a Python dictionary: type, rank and sizes go to *to.  Returns 0 or -1
 * after an error: the array is not of plain numbers or strings in the order of C. */
static int read_header(const struct archive *z, const char *header, struct npz_array *to)
{
    const char *descr = header_value(header, "'descr':"),
               *order = header_value(header, "'fortran_order':"),
               *shape = header_value(header, "'shape':");
    if (!descr || !order || !shape || *shape != '(')
        return bad(z, to->name, "expected an array as numpy writes it");
    to->elem = *descr == '\'' ? (int)elem_of_descr(descr + 1, strcspn(descr + 1, "'")) : ELEM_NONE;
    if (to->elem == ELEM_NONE &&
        !(*descr == '\'' && take_text_descr(to, descr + 1, strcspn(descr + 1, "'"))))
        return bad(z, to->name, "expected plain numbers, the lowest byte first, or strings");
    to->size = arena_array(z->a, NPY_RANK, sizeof *to->size);
    to->rank = 0;
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

/* Reads a .npy file, bytes[0 .. n), into *to, whose data stay in bytes[].  Returns 0 or -1 after an error. */
static int read_npy(const struct archive *z, const unsigned char *bytes, uint64_t n,
                    struct npz_array *to)
{
    /* 6 bytes of magic, 2 of the version, whose first is 1 to 3, at most 4 of the header's length */
    if (n < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return bad(z, to->name, "expected an array as numpy writes it");
    unsigned wide = bytes[6] == 1 ? 2 : 4; /* bytes of the header's length */
    uint64_t from = 8 + wide, length = number(bytes + 8, wide);
    if (length > n - from)
        return bad(z, to->name, "its header is cut off");
    if (read_header(z, arena_strdup(z->a, (const char *)bytes + from, length), to))
        return -1;
    int64_t elems = shape_elems(to->size, to->rank);
    bool texts = to->elem == ELEM_STR;
    uint64_t each = texts ? (uint64_t)to->letters * (to->narrow ? 1 : sizeof(uint32_t))
                          : elem_bits((enum elem)to->elem) / 8;
    from += length;
    if (elems < 0 || (uint64_t)elems > (n - from) / each || (uint64_t)elems * each != n - from)
        return bad(z, to->name, "its size is not that of its shape");
    to->data = bytes + from;
    to->bytes = n - from;
    if (texts && npz_read_texts(to, z->a))
        return bad(z, to->name, "expected strings in UTF-8, without NUL");
    return 0;
}

/* ---- zip -------------------------------------------------------------------------------------- */

/* Returns the offset of the zip's end record; UINT64_MAX: there is none. */
static uint64_t find_end(const struct archive *z)
{
    for (uint64_t k = 0; k <= COMMENT_MOST && k + END_BYTES <= z->n; k++)
        if (!memcmp(z->at + z->n - END_BYTES - k, "PK\5\6", 4))
            return z->n - END_BYTES - k;
    return UINT64_MAX;
}

/* Where the directory of an archive begins, and the number of its entries. */
struct directory {
    uint64_t at, n;
};

/* Returns what the end record at z->at[end] says of the directory.  Numbers that it has no room for stand in a wide
 * record, whose place the locator in front of the end record tells (APPNOTE 4.3.14 and 4.3.15). */
static struct directory find_directory(const struct archive *z, uint64_t end)
{
    const unsigned char *e = z->at + end;
    struct directory to = {number(e + 16, 4), number(e + 10, 2)};
    if ((to.at < UINT32_MAX && to.n < UINT16_MAX) || end < LOCATOR_BYTES ||
        memcmp(e - LOCATOR_BYTES, "PK\6\7", 4) != 0)
        return to;
    uint64_t wide = number(e - LOCATOR_BYTES + 8, 8);
    if (wide > z->n || z->n - wide < WIDE_END_BYTES || memcmp(z->at + wide, "PK\6\6", 4) != 0)
        return to;
    return (struct directory){number(z->at + wide + 48, 8), number(z->at + wide + 32, 8)};
}

/* Replaces those of the three numbers v[] (plain size, packed size, place) that are UINT32_MAX, as they do not fit 32
 * bits, by the numbers of 64 bits in the extra field extra[0 .. n). */
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

/* Returns the unpacked bytes of a deflated file, in z->a; NULL: they cannot be unpacked, or have not the length or the
 * checksum that the directory says. */
static const unsigned char *inflated(const struct archive *z, const struct npz_entry *e)
{
    if (e->plain > (e->bytes + 1) * DEFLATE_MOST)
        return NULL;
    unsigned char *to = arena_alloc(z->a, e->plain + 1);
    z_stream s = {.next_in = (unsigned char *)e->at, /* zlib only reads it */
                  .avail_in = (uInt)e->bytes,
                  .next_out = to,
                  .avail_out = (uInt)e->plain};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK) /* negative: no header, as in a zip */
        arena_exhausted(z->a, 1);
    int rc = inflate(&s, Z_FINISH);
    inflateEnd(&s);
    bool good =
        rc == Z_STREAM_END && s.total_out == e->plain && crc32(0, to, (uInt)e->plain) == e->crc;
    return good ? to : NULL;
}

/* Reads the entry of the directory at `at`: the name into *name, where the file lies into *to and *span (whose field k
 * stays), and the entry's length into *length.  Returns 0 or -1 after an error.  (Offsets of fields are those of the
 * APPNOTE.) */
static int read_entry(const struct archive *z, uint64_t at, const char **name, struct npz_entry *to,
                      struct span *span, uint64_t *length)
{
    if (at > z->n || z->n - at < ENTRY_BYTES || memcmp(z->at + at, "PK\1\2", 4) != 0)
        return bad(z, "", "its directory is broken");
    const unsigned char *e = z->at + at;
    uint64_t letters = number(e + 28, 2), extra = number(e + 30, 2);
    /* plain size, packed size, place of the local header */
    uint64_t v[3] = {number(e + 24, 4), number(e + 20, 4), number(e + 42, 4)};
    *length = ENTRY_BYTES + letters + extra + number(e + 32, 2);
    if (*length > z->n - at)
        return bad(z, "", "its directory is cut off");
    take_wide(e + ENTRY_BYTES + letters, extra, v);
    bool npy = letters > 4 && !memcmp(e + ENTRY_BYTES + letters - 4, ".npy", 4);
    *name = arena_strdup(z->a, (const char *)e + ENTRY_BYTES, npy ? letters - 4 : letters);
    uint64_t method = number(e + 10, 2);
    if (method != STORED && method != DEFLATED)
        return bad(z, *name, "it is packed as numpy does not pack");
    if (v[2] > z->n || z->n - v[2] < LOCAL_BYTES || memcmp(z->at + v[2], "PK\3\4", 4) != 0)
        return bad(z, *name, "it is not where the directory says");
    uint64_t from =
        v[2] + LOCAL_BYTES + number(z->at + v[2] + 26, 2) + number(z->at + v[2] + 28, 2);
    /* a stored file has one size: both fields are equal */
    uint64_t bytes = v[method == STORED ? 0 : 1];
    if (from > z->n || bytes > z->n - from)
        return bad(z, *name, "it is cut off");
    *to = (struct npz_entry){z->at + from, bytes, v[0], number(e + 16, 4), method == DEFLATED};
    *span = (struct span){v[2], from + bytes, span->k};
    return 0;
}

/* Reads the array of an entry into *to, whose name is there already.  Returns 0 or -1 after an error. */
static int read_array(const struct archive *z, const struct npz_entry *e, struct npz_array *to)
{
    if (e->deflated && (e->bytes > UINT32_MAX || e->plain > UINT32_MAX))
        return bad(z, to->name, "compressed arrays of more than 4 GiB cannot be read");
    const unsigned char *file = e->deflated ? inflated(z, e) : e->at;
    if (!e->deflated && crc32_z(0, e->at, (size_t)e->bytes) != e->crc)
        return bad(z, to->name, "its bytes are broken: they have another checksum");
    return file ? read_npy(z, file, e->plain, to)
                : bad(z, to->name, "its compressed bytes are broken");
}

/* Order for qsort() of struct span: by the first byte. */
static int by_place(const void *x, const void *y)
{
    const struct span *a = x, *b = y;
    return (a->from > b->from) - (a->from < b->from);
}

/* Checks that no two files share bytes; sorts span[out->n] for that.  Returns 0, or -1 and an error that names the
 * later of two such files in the directory. */
static int check_overlap(const struct archive *z, struct span *span, const struct npz *out)
{
    qsort(span, out->n, sizeof *span, by_place);
    for (uint32_t i = 1; i < out->n; i++)
        if (span[i].from < span[i - 1].to)
            return bad(z, out->array[larger_u32(span[i].k, span[i - 1].k)].name,
                       "it overlaps another array");
    return 0;
}

int npz_open(struct npz *out, const char *path, struct arena *a, struct diag *d)
{
    struct archive z = {.path = path, .a = a, .d = d};
    size_t bytes = 0;
    *out = (struct npz){.path = path};
    z.at = (const unsigned char *)infile_bytes(path, INFILE_STREAM, a, &bytes, d);
    if (!z.at)
        return -1;
    z.n = bytes;
    uint64_t end = find_end(&z);
    if (end == UINT64_MAX)
        return bad(&z, "", "expected an archive as numpy.savez writes it");
    struct directory files = find_directory(&z, end);
    if (files.n > z.n / ENTRY_BYTES || files.n > UINT32_MAX - 1)
        return bad(&z, "", "its directory is cut off");
    uint64_t at = files.at, length = 0; /* place of the next entry */
    uint32_t n = (uint32_t)files.n;
    struct names names = names_new(a, n);
    struct npz_entry *entry = arena_array(a, (size_t)n + 1, sizeof *entry);
    struct span *span = arena_array(a, (size_t)n + 1, sizeof *span);
    out->array = arena_array(a, (size_t)n + 1, sizeof *out->array);
    out->entry = entry;
    for (; out->n < n; out->n++, at += length) {
        struct npz_array *to = &out->array[out->n];
        span[out->n].k = out->n;
        if (read_entry(&z, at, &to->name, &entry[out->n], &span[out->n], &length))
            return -1;
        if (names_get(&names, to->name, UINT32_MAX) != UINT32_MAX)
            return bad(&z, to->name, "it is in the archive twice");
        names_add(&names, to->name, out->n);
    }
    return check_overlap(&z, span, out);
}

int npz_find(const struct npz *z, const char *name, const struct npz_array **to, struct arena *a,
             struct diag *d)
{
    const struct archive archive = {.path = z->path, .a = a, .d = d};
    *to = NULL;
    for (uint32_t k = 0; k < z->n; k++)
        if (!strcmp(z->array[k].name, name)) {
            *to = &z->array[k];
            return z->entry ? read_array(&archive, &z->entry[k], &z->array[k]) : 0;
        }
    return 0;
}
