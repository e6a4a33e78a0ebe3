/* Values that are no tensors of plain numbers, as bytes for messages: strings, sequences, maps (ranks.h).
 *
 * A value is a row of int64_t: its kind and what follows of it, each padded to 8 bytes:
 *     PACK_TENSOR    element type as ONNX numbers it, rank, sizes, bytes, elements
 *     PACK_TEXTS     rank, sizes, bytes, texts each with a NUL behind
 *     PACK_SEQUENCE  number of values, then these
 *     PACK_MAP       2, then keys and values
 * What comes is checked like a file's bytes: ranks are trusted to be pcc, not to be free of faults.  O(bytes). */
#include "tools/run/ranks.h"

#include "ir/base/numbers.h"
#include "ir/model/module.h"

#include <stdlib.h>
#include <string.h>

enum pack_kind { PACK_TENSOR = 1, PACK_TEXTS, PACK_SEQUENCE, PACK_MAP };
enum {
    DEPTH = 4, /* values in values, at most */
    WORD = sizeof(int64_t)
};

/* ---- to bytes --------------------------------------------------------------------------------- */

/* The bytes of a value while they are made. */
struct packing {
    struct engine *e;
    unsigned char *data; /* [room] of malloc(); the caller frees it */
    size_t n, room;
};

/* Appends n bytes, and zeros up to a multiple of WORD.  Returns 0, or -1: no memory. */
static int put(struct packing *p, const void *bytes, size_t n)
{
    size_t padded = (n + WORD - 1) / WORD * WORD;
    if (p->n + padded > p->room) {
        size_t room = 2 * p->room + padded;
        unsigned char *more = realloc(p->data, room);
        if (!more)
            return -1;
        p->data = more;
        p->room = room;
    }
    memset(p->data + p->n, 0, padded);
    if (n > 0)
        memcpy(p->data + p->n, bytes, n);
    p->n += padded;
    return 0;
}

/* Appends a number.  Returns 0, or -1: no memory. */
static int put_number(struct packing *p, int64_t n)
{
    return put(p, &n, sizeof n);
}

/* Appends a tensor of plain numbers.  Returns 0, or -1. */
static int put_tensor(struct packing *p, const struct engine_value *v,
                      const struct engine_shape *shape)
{
    int64_t bytes = value_bytes(p->e, v);
    const void *data = p->e->face->value_data(p->e, (struct engine_value *)v);
    bool bad = bytes < 0 || (bytes > 0 && !data) || put_number(p, PACK_TENSOR) ||
               put_number(p, shape->elem) || put_number(p, (int64_t)shape->rank) ||
               put(p, shape->size, shape->rank * WORD) || put_number(p, bytes) ||
               put(p, data, (size_t)bytes);
    return bad ? -1 : 0;
}

/* Appends a tensor of strings, as value_texts() has it: sizes, where each element begins, elements.  Returns 0, or
 * -1. */
static int put_texts(struct packing *p, const unsigned char *texts, size_t rank, size_t n)
{
    const int64_t *size = (const int64_t *)(const void *)texts;
    size_t elems = (size_t)shape_elems(size, (uint32_t)rank);
    const size_t *begin = (const size_t *)(const void *)(texts + rank * WORD);
    const char *text = (const char *)(begin + elems);
    size_t bytes = n - rank * WORD - elems * sizeof *begin;
    char *all = malloc(bytes + elems + 1), *to = all;
    for (size_t i = 0; all && i < elems; i++) {
        size_t end = i + 1 < elems ? begin[i + 1] : bytes;
        memcpy(to, text + begin[i], end - begin[i]);
        to += end - begin[i];
        *to++ = 0;
    }
    bool bad = !all || put_number(p, PACK_TEXTS) || put_number(p, (int64_t)rank) ||
               put(p, size, rank * WORD) || put_number(p, to - all) ||
               put(p, all, (size_t)(to - all));
    free(all);
    return bad ? -1 : 0;
}

/* Appends a value.  depth: number of values that it lies in.  Returns 0, or -1: it is of a kind that has no form here,
 * or there is no memory. */
static int put_value(struct packing *p, const struct engine_value *v, int depth)
{
    const struct engine_face *face = p->e->face;
    struct engine_shape shape;
    int64_t size[ENGINE_AXES];
    size_t n = 0, rank = 0;
    bool map = false;
    if (!v || depth == DEPTH)
        return -1;
    if (face->value_shape(p->e, v, &shape, size) == 0)
        return put_tensor(p, v, &shape);
    unsigned char *texts = face->value_texts(p->e, v, &rank, &n);
    if (texts) {
        int rc = put_texts(p, texts, rank, n);
        free(texts);
        return rc;
    }
    if (face->value_count(p->e, v, &n, &map) || put_number(p, map ? PACK_MAP : PACK_SEQUENCE) ||
        put_number(p, (int64_t)n))
        return -1;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        struct engine_value *item = face->value_item(p->e, v, i);
        rc = put_value(p, item, depth + 1);
        face->value_free(p->e, item);
    }
    return rc;
}

unsigned char *rank_pack(struct engine *e, const struct engine_value *v, int64_t *bytes)
{
    struct packing p = {.e = e};
    if (put_value(&p, v, 0) == 0) {
        *bytes = (int64_t)p.n;
        return p.data;
    }
    free(p.data);
    return NULL;
}

/* ---- from bytes ------------------------------------------------------------------------------- */

/* Bytes that are being read. */
struct unpacking {
    struct engine *e;
    const unsigned char *at, *end;
    struct engine_error *err;
};

/* Returns the next n bytes, and skips the padding behind them; NULL: fewer are left. */
static const void *take(struct unpacking *u, int64_t n)
{
    const unsigned char *from = u->at;
    if (n < 0 || n > u->end - u->at)
        return NULL;
    u->at += (n + WORD - 1) / WORD * WORD;
    return u->at <= u->end ? from : NULL;
}

/* Returns the next number; -1: none is left.  (No number of a value is -1, but for elements, which are not read
 * here.) */
static int64_t take_number(struct unpacking *u)
{
    const void *from = take(u, WORD);
    int64_t n = -1;
    if (from)
        memcpy(&n, from, sizeof n);
    return n;
}

/* Reads rank and sizes into *shape, size[ENGINE_AXES].  Returns 0, or -1. */
static int take_shape(struct unpacking *u, struct engine_shape *shape, int64_t *size)
{
    int64_t rank = take_number(u);
    const void *from = rank >= 0 && rank <= ENGINE_AXES ? take(u, rank * WORD) : NULL;
    if (!from)
        return -1;
    memcpy(size, from, (size_t)rank * WORD);
    shape->rank = (size_t)rank;
    shape->size = size;
    return shape_elems(size, (uint32_t)rank) < 0 ? -1 : 0;
}

/* Reads a tensor of plain numbers, behind its kind.  Returns NULL if the bytes are not those of such a tensor, or if
 * the engine cannot make it. */
static struct engine_value *take_tensor(struct unpacking *u)
{
    int64_t size[ENGINE_AXES];
    struct engine_shape shape = {.elem = (int)take_number(u)};
    if (take_shape(u, &shape, size))
        return NULL;
    int64_t bytes = take_number(u);
    const void *from = take(u, bytes);
    if (!from || !elem_bits((enum elem)shape.elem) || /* strings, and no type at all */
        bytes != elem_bytes((enum elem)shape.elem, shape_elems(size, (uint32_t)shape.rank)))
        return NULL;
    struct engine_value *v = u->e->face->value_new(u->e, &shape, u->err);
    void *to = v && bytes > 0 ? u->e->face->value_data(u->e, v) : NULL;
    if (to)
        memcpy(to, from, (size_t)bytes);
    return v;
}

/* Reads a tensor of strings, behind its kind: each text ends with a NUL.  Returns NULL if the bytes are not those of
 * such a tensor, or if the engine cannot make it. */
static struct engine_value *take_texts(struct unpacking *u)
{
    int64_t size[ENGINE_AXES];
    struct engine_shape shape = {.elem = ELEM_STR};
    if (take_shape(u, &shape, size))
        return NULL;
    int64_t elems = shape_elems(size, (uint32_t)shape.rank), bytes = take_number(u);
    const char *from = take(u, bytes), *end = from ? from + bytes : NULL;
    if (!from || elems > bytes || (elems == 0) != (bytes == 0))
        return NULL;
    const char **text = calloc((size_t)elems + 1, sizeof *text);
    int64_t n = 0;
    for (; text && n < elems && from < end && memchr(from, 0, (size_t)(end - from)); n++) {
        text[n] = from;
        from += strlen(from) + 1;
    }
    struct engine_value *v =
        text && n == elems && from == end ? u->e->face->value_new(u->e, &shape, u->err) : NULL;
    if (v && n > 0 && u->e->face->value_strings(u->e, v, text, (size_t)n, u->err)) {
        u->e->face->value_free(u->e, v);
        v = NULL;
    }
    free(text);
    return v;
}

/* Reads a value.  depth: number of values that it lies in.  Returns NULL after an error, with the reason in u->err if
 * the engine cannot make it. */
static struct engine_value *take_value(struct unpacking *u, int depth)
{
    int64_t kind = take_number(u);
    if (kind == PACK_TENSOR)
        return take_tensor(u);
    if (kind == PACK_TEXTS)
        return take_texts(u);
    int64_t n = take_number(u), made = 0;
    if ((kind != PACK_SEQUENCE && kind != PACK_MAP) || depth == DEPTH || n < 0 ||
        n > (u->end - u->at) / WORD || (kind == PACK_MAP && n != 2))
        return NULL;
    struct engine_value **item = calloc((size_t)n + 1, sizeof(void *)), *v = NULL;
    for (; item && made < n; made++) { /* ends early if an item cannot be read */
        item[made] = take_value(u, depth + 1);
        if (!item[made])
            break;
    }
    if (item && made == n)
        v = u->e->face->value_join(u->e, item, (size_t)n, kind == PACK_MAP, u->err);
    while (made > 0)
        u->e->face->value_free(u->e, item[--made]);
    free(item);
    return v;
}

struct engine_value *rank_unpack(struct engine *e, const unsigned char *data, int64_t bytes,
                                 struct engine_error *err)
{
    struct unpacking u = {e, data, data + bytes, err};
    snprintf(err->line, sizeof err->line, "its bytes are not those of a value");
    struct engine_value *v = take_value(&u, 0);
    if (!v || u.at == u.end)
        return v;
    e->face->value_free(e, v);
    snprintf(err->line, sizeof err->line, "its bytes are not those of a value");
    return NULL;
}
