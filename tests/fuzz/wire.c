/* Mutations that keep the wire format of protobuf (wire.h): a field is drawn by walking down from the whole message,
 * and doubled, dropped, given another number or wire type, wrapped in itself many times, or put beside another; then
 * the lengths of all messages around it are set right.  What is drawn by bytes alone seldom gets past the first length.
 * O(bytes) for a mutation. */
#include "tests/fuzz/wire.h"

#include <stdbool.h>
#include <string.h>

enum { DEPTH = 24, FIELDS = 512, NESTED = 120, SPARE = 20, PIECE = 1 << 14 };

struct wire_field {
    size_t tag, prefix, body,
        end; /* where they begin: its tag, its length or value, its contents, what follows */
    uint64_t id;
    unsigned type;
};

struct message {
    struct wire_field field[FIELDS];
    size_t n;
};

static uint64_t draw(uint64_t *rng, uint64_t below)
{
    *rng ^= *rng >> 12;
    *rng ^= *rng << 25;
    *rng ^= *rng >> 27;
    return (*rng * UINT64_C(2685821657736338717) >> 33) % below;
}

/* Reads a varint of p[at, end); returns where it ends, 0: it does not. */
static size_t get_varint(const uint8_t *p, size_t at, size_t end, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 10 && at < end; i++, at++) {
        *value |= (uint64_t)(p[at] & 0x7f) << (7 * i);
        if (!(p[at] & 0x80))
            return at + 1;
    }
    return 0;
}

static size_t put_varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value > 0x7f; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

/* The field at `at`; false: there is none. */
static bool read_field(const uint8_t *p, size_t at, size_t end, struct wire_field *f)
{
    uint64_t tag, value;
    *f = (struct wire_field){.tag = at, .prefix = get_varint(p, at, end, &tag)};
    if (!f->prefix || tag >> 3 == 0)
        return false;
    f->id = tag >> 3;
    f->type = (unsigned)tag & 7;
    f->body = f->prefix;
    if (f->type == 1 || f->type == 5)
        f->end = f->body + (f->type == 1 ? 8 : 4);
    else if (f->type == 0)
        f->end = get_varint(p, f->body, end, &value);
    else if (f->type == 2 && (f->body = get_varint(p, f->prefix, end, &value)) != 0)
        f->end = value <= end - f->body ? f->body + (size_t)value : 0;
    return f->end != 0 && f->end <= end;
}

/* The fields of p[from, end), if it is a message. */
static bool read_message(const uint8_t *p, size_t from, size_t end, struct message *m)
{
    m->n = 0;
    for (size_t at = from; at < end && m->n < FIELDS; at = m->field[m->n++].end)
        if (!read_field(p, at, end, &m->field[m->n]))
            return false;
    return m->n > 0;
}

/* A way down: path[0] .. path[*depth - 1] are around the field that is returned. */
static bool walk(const uint8_t *p, size_t n, struct message *m, struct wire_field *path,
                 unsigned *depth, uint64_t *rng)
{
    struct wire_field at;
    *depth = 0;
    if (!read_message(p, 0, n, m))
        return false;
    for (;;) {
        at = m->field[draw(rng, m->n)];
        if (at.type != 2 || *depth + 1 >= DEPTH || draw(rng, 5) == 0 ||
            !read_message(p, at.body, at.end, m))
            break;
        path[(*depth)++] = at;
    }
    path[*depth] = at;
    return true;
}

/* Replaces p[gap.tag, gap.end) by n bytes. */
static size_t splice(uint8_t *p, size_t size, struct wire_field gap, const uint8_t *by, size_t n)
{
    memmove(p + gap.tag + n, p + gap.end, size - gap.end);
    memcpy(p + gap.tag, by, n);
    return size - (gap.end - gap.tag) + n;
}

/* A field with contents body[0, n), which may lie in `to`, at most n + SPARE bytes. */
static size_t put_field(uint8_t *to, uint64_t id, unsigned type, const uint8_t *body, size_t n)
{
    uint8_t head[SPARE];
    size_t k = put_varint(head, id << 3 | type);
    if (type == 2)
        k += put_varint(head + k, n);
    memmove(to + k, body, n);
    memcpy(to, head, k);
    return k + n;
}

/* Field f wrapped in itself. */
static size_t put_nested(uint8_t *to, size_t room, const struct wire_field *f, uint64_t times)
{
    size_t n = f->end - f->tag;
    for (uint64_t i = 0; i < times && n + SPARE < room; i++)
        n = put_field(to, f->id, 2, to, n);
    return n;
}

/* So many copies of what is in to[0, n), as far as there is room; their bytes. */
static size_t put_copies(uint8_t *to, size_t room, size_t n, uint64_t copies)
{
    size_t at = n;
    for (; copies > 1 && at + n <= room; copies--, at += n)
        memcpy(to + at, to, n);
    return at;
}

/* A number that is extreme in place of a number, nothing in place of contents. */
static size_t put_extreme(uint8_t *to, const struct wire_field *f, uint64_t *rng)
{
    static const uint64_t extreme[] = {0,
                                       1,
                                       2,
                                       127,
                                       128,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       UINT64_C(1) << 31,
                                       INT64_MAX,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63};
    uint8_t value[SPARE];
    size_t n = put_varint(value, extreme[draw(rng, sizeof extreme / sizeof *extreme)]);
    return put_field(to, f->id, f->type == 0 ? 0 : 2, value, f->type == 0 ? n : 0);
}

/* What comes in the place of field f of p, in to[0, PIECE), and that has room for its bytes and SPARE. */
static size_t replace(uint8_t *to, const uint8_t *p, const struct wire_field *f, uint64_t *rng)
{
    const uint8_t *body = p + f->body;
    size_t n = f->end - f->tag, inner = f->end - f->body;
    memcpy(to, p + f->tag, n);
    switch (draw(rng, 8)) {
    case 0:
        return 0;
    case 1:
        return put_field(to, f->id, (unsigned)draw(rng, 6), body, inner);
    case 2:
        return put_field(to, draw(rng, 24) + 1, f->type, body, inner);
    case 3:
        return put_nested(to, PIECE, f, draw(rng, NESTED));
    case 4:
        return put_extreme(to, f, rng);
    case 5:
        return put_copies(to, PIECE, n, UINT64_C(1) << draw(rng, 13));
    default:
        return put_copies(to, PIECE, n, 2);
    }
}

size_t wire_mutate(uint8_t *p, size_t n, size_t most, uint64_t *rng)
{
    struct message m;
    struct wire_field path[DEPTH], other[DEPTH];
    uint8_t piece[PIECE + SPARE], prefix[SPARE];
    unsigned depth, far;
    if (!walk(p, n, &m, path, &depth, rng) || !walk(p, n, &m, other, &far, rng))
        return n;
    struct wire_field gap = path[depth], *from = draw(rng, 4) ? &gap : &other[far];
    if (from->end - from->tag + SPARE > PIECE)
        return n;
    size_t size = n, k = replace(piece, p, from, rng), longer;
    if (from != &gap)
        gap.end = gap.tag; /* beside it */
    if (n + k + (depth + 1) * SPARE > most)
        return n;
    size = splice(p, size, gap, piece, k);
    longer = k - (gap.end - gap.tag); /* modulo 2^64 */
    while (depth-- > 0) {
        const struct wire_field *around = &path[depth];
        k = put_varint(prefix, around->end - around->body + longer);
        gap = (struct wire_field){.tag = around->prefix, .end = around->body};
        size = splice(p, size, gap, prefix, k);
        longer += k - (around->body - around->prefix);
    }
    return size;
}
