/* Writes .npz (npz_write.h): a zip archive of .npy files, which are stored, as numpy.savez() does it; npz.c says where
 * the forms are described.  Sizes and places of 4 GiB and more stand in extra fields, as zip has them.  O(bytes). */
#include "tools/run/npz_write.h"

#include "ir/model/module.h"

#include <string.h>
#include <zlib.h>

enum {
    MAGIC = 10,   /* bytes in front of the text of the header of a .npy file */
    ALIGNED = 64, /* elements of an array begin at a multiple of this in its .npy file */
    WIDE = 20,    /* bytes of the extra field in the local header of a file of 4 GiB and more */
    /* bytes of the extra field in the directory of a file whose size or place is 4 GiB and more */
    LISTED = 28,
    MOST_NAME = 60000, /* bytes of a name, at most: a zip has 65535 */
    /* in the end record of a zip, this number of files means that the ZIP64 record has the true number; archives have
     * fewer files */
    TOO_MANY = 65535
};
/* The value of a 32-bit field for a size or offset if the extra field has the true one, of 64 bits. */
#define TOO_WIDE UINT64_C(0xffffffff)

/* A file of the archive. */
struct npz_entry {
    const char *name;
    uint32_t crc;
    uint64_t bytes, at; /* size of the file; offset of its header */
};

/* Writes a number as `bytes` bytes, the lowest first. */
static void put(struct npz_out *z, uint64_t v, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++, v >>= 8)
        putc((int)(v & 0xff), z->file.f);
    z->at += bytes;
}

/* Writes bytes[0 .. n). */
static void put_bytes(struct npz_out *z, const void *bytes, size_t n)
{
    fwrite(bytes, 1, n, z->file.f);
    z->at += n;
}

/* Returns numpy's word for an element type; NULL: numpy cannot hold it. */
static const char *descr_of(enum elem elem)
{
    static const struct {
        enum elem elem;
        const char *word;
    } known[] = {{ELEM_F32, "<f4"}, {ELEM_F64, "<f8"},  {ELEM_F16, "<f2"}, {ELEM_I8, "|i1"},
                 {ELEM_I16, "<i2"}, {ELEM_I32, "<i4"},  {ELEM_I64, "<i8"}, {ELEM_U8, "|u1"},
                 {ELEM_U16, "<u2"}, {ELEM_U32, "<u4"},  {ELEM_U64, "<u8"}, {ELEM_BOOL, "|b1"},
                 {ELEM_C64, "<c8"}, {ELEM_C128, "<c16"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].elem == elem)
            return known[k].word;
    return elem_bits(elem) == 16 ? "<u2" : elem_bits(elem) == 8 ? "|u1" : NULL;
}

/* Returns the text of the header of a .npy file, in z->a, which stands behind MAGIC bytes of magic, version and length:
 * blanks and a newline fill it up so that the elements begin at a multiple of ALIGNED.  NULL: numpy cannot hold the
 * array. */
static const char *npy_header(struct npz_out *z, const struct npz_array *x)
{
    const char *shape = "", *descr = x->elem == ELEM_STR
                                         ? arena_fmt(z->a, "<U%lld", (long long)x->letters)
                                         : descr_of((enum elem)x->elem);
    if (!descr)
        return NULL;
    for (uint32_t k = 0; k < x->rank; k++)
        shape = arena_fmt(z->a, "%s%s%lld%s", shape, k ? " " : "", (long long)x->size[k],
                          k + 1 < x->rank || x->rank == 1 ? "," : "");
    const char *text =
        arena_fmt(z->a, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    /* 1 byte less, for the newline */
    int blanks = ALIGNED - 1 - (int)((MAGIC + strlen(text)) % ALIGNED);
    return arena_fmt(z->a, "%s%*s\n", text, blanks, "");
}

int npz_begin(struct npz_out *z, const char *path, struct arena *a, struct diag *d)
{
    *z = (struct npz_out){.a = a};
    return outfile_open(&z->file, path, a, d);
}

/* Writes the fields that a file's header and its entry in the directory have in common: from the version to the
 * checksum. */
static void put_head(struct npz_out *z, const struct npz_entry *e, bool wide)
{
    put(z, wide ? 45 : 20, 2);       /* version of zip that readers need */
    put(z, 1 << 11, 2);              /* flags: names are UTF-8 */
    put(z, 0, 2);                    /* method: stored */
    put(z, UINT32_C(0x00210000), 4); /* time and date: 1980-01-01 */
    put(z, e->crc, 4);
}

int npz_add(struct npz_out *z, const struct npz_array *x)
{
    const char *header = npy_header(z, x);
    if (!header || strlen(x->name) > MOST_NAME || z->n == TOO_MANY - 1)
        return -1;
    z->entry = vec_grow(z->a, z->entry, &z->cap, z->n + 1, sizeof *z->entry);
    struct npz_entry *e = &z->entry[z->n++];
    size_t length = strlen(header);
    unsigned char magic[MAGIC] = {0x93,
                                  'N',
                                  'U',
                                  'M',
                                  'P',
                                  'Y',
                                  1,
                                  0,
                                  (unsigned char)(length & 0xff),
                                  (unsigned char)(length >> 8)};
    e->name = arena_fmt(z->a, "%s.npy", x->name);
    e->bytes = sizeof magic + length + x->bytes;
    e->crc = (uint32_t)crc32_z(0, magic, sizeof magic);
    e->crc = (uint32_t)crc32_z(e->crc, (const unsigned char *)header, length);
    if (x->bytes) /* without bytes, zlib would begin anew */
        e->crc = (uint32_t)crc32_z(e->crc, x->data, x->bytes);
    e->at = z->at;
    bool wide = e->bytes >= TOO_WIDE;
    put_bytes(z, "PK\3\4", 4);
    put_head(z, e, wide);
    put(z, wide ? TOO_WIDE : e->bytes, 4); /* packed size, then plain size */
    put(z, wide ? TOO_WIDE : e->bytes, 4);
    put(z, strlen(e->name), 2);
    put(z, wide ? WIDE : 0, 2); /* bytes of the extra field */
    put_bytes(z, e->name, strlen(e->name));
    if (wide) {
        put(z, 1, 2);  /* the extra field: its kind, sizes of 64 bits */
        put(z, 16, 2); /* bytes of the field that follow */
        put(z, e->bytes, 8);
        put(z, e->bytes, 8);
    }
    put_bytes(z, magic, sizeof magic);
    put_bytes(z, header, length);
    put_bytes(z, x->data, x->bytes);
    return 0;
}

/* Writes an entry of the directory, with the fields of APPNOTE 4.3.12. */
static void put_entry(struct npz_out *z, const struct npz_entry *e)
{
    bool wide = e->bytes >= TOO_WIDE || e->at >= TOO_WIDE;
    put_bytes(z, "PK\1\2", 4);
    put(z, 45, 2); /* version that made it */
    put_head(z, e, wide);
    put(z, wide ? TOO_WIDE : e->bytes, 4); /* packed size, then plain size */
    put(z, wide ? TOO_WIDE : e->bytes, 4);
    put(z, strlen(e->name), 2);
    put(z, wide ? LISTED : 0, 2); /* bytes of the extra field */
    put(z, 0, 2 + 2 + 2 + 4);     /* length of the comment, number of the disk, attributes */
    put(z, wide ? TOO_WIDE : e->at, 4);
    put_bytes(z, e->name, strlen(e->name));
    if (wide) {
        put(z, 1, 2);  /* the extra field: its kind, sizes and place of 64 bits */
        put(z, 24, 2); /* bytes of the field that follow */
        put(z, e->bytes, 8);
        put(z, e->bytes, 8);
        put(z, e->at, 8);
    }
}

/* Writes the end of the archive.  from: where the directory begins.  An archive of 4 GiB and more gets two more records
 * before the usual end record: an end record with numbers of 64 bits, and the place of that record. */
static void put_end(struct npz_out *z, uint64_t from)
{
    uint64_t bytes = z->at - from, end = z->at;
    bool wide = end >= TOO_WIDE;
    if (wide) {
        put_bytes(z, "PK\6\6", 4);
        put(z, 44, 8);   /* bytes that follow */
        put(z, 45, 2);   /* version that made it */
        put(z, 45, 2);   /* version that is needed */
        put(z, 0, 8);    /* number of this disk, and of the disk with the directory */
        put(z, z->n, 8); /* entries on this disk, and of all */
        put(z, z->n, 8);
        put(z, bytes, 8); /* size and place of the directory */
        put(z, from, 8);
        put_bytes(z, "PK\6\7", 4);
        put(z, 0, 4);   /* disk of the record above */
        put(z, end, 8); /* place of that record */
        put(z, 1, 4);   /* number of disks */
    }
    put_bytes(z, "PK\5\6", 4);
    put(z, 0, 4);    /* number of this disk, and of the disk with the directory */
    put(z, z->n, 2); /* entries on this disk, and of all */
    put(z, z->n, 2);
    put(z, wide ? TOO_WIDE : bytes, 4); /* size and place of the directory */
    put(z, wide ? TOO_WIDE : from, 4);
    put(z, 0, 2); /* bytes of the comment */
}

int npz_end(struct npz_out *z, bool ok)
{
    uint64_t from = z->at;
    for (uint32_t i = 0; i < z->n && ok; i++)
        put_entry(z, &z->entry[i]);
    if (ok)
        put_end(z, from);
    return outfile_close(&z->file, ok);
}
