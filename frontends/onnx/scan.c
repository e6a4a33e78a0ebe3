/* Scans an ONNX file: checks its bytes before protobuf-c unpacks them, and leaves weights in the file (scan.h).
 *
 * protobuf-c recurses without limit, allocates 8 to 100 bytes for 2 bytes of input, copies every payload, and explains
 * no error.  So the bytes are scanned first, by protobuf-c's own descriptors.  The scan keeps its stack in an array (at
 * most MAX_DEPTH messages, the limit of other protobuf libraries), checks every tag, length, varint and string, and
 * adds up the memory that unpacking will take.
 *
 * The scan also writes the skeleton: the file's bytes without large payloads of tensors.  In a TensorProto, raw_data of
 * at least ELIDE bytes is replaced by a marker: raw_data of ONNX_MARK bytes with an index in onnx_skeleton.payload.
 * The same is done with float_data or double_data if the tensor has no other payload.  Real raw_data of ONNX_MARK bytes
 * is replaced, too, so that no file can contain a false marker.  Messages only become shorter by this; so the new
 * length of an enclosing message, as a varint, fits into the bytes of the old length.
 *
 * The file is read through a window (window.h), each byte once, so that exactly the bytes that were checked are
 * copied to the skeleton.  Long strings and lists are read into the skeleton and checked there.
 *
 * Cost: O(bytes that are not payload) time and memory; payloads are never read. */
#include "frontends/onnx/scan.h"

#include "frontends/onnx/window.h"

#include "ir/base/numbers.h"
#include "ir/base/utf8.h"

#include "onnx.pb-c.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum {
    MAX_DEPTH = 100,   /* nested messages below the model */
    ELIDE = 1024,      /* payloads of at least this many bytes stay in the file */
    MAX_PREFIX = 5,    /* most bytes of a length that protobuf-c reads */
    MAX_TAG = 5,       /* most bytes of a tag that protobuf-c reads */
    SMALL = 4096,      /* fields of more bytes are not read through the window */
    AT_ONCE = 1 << 24, /* most bytes that are allocated for the skeleton at the beginning */
    FREE_MEMBERS = 16, /* fields of a message that protobuf-c lists without allocating */
    /* bytes that protobuf-c allocates for each field of a message beyond FREE_MEMBERS */
    MEMBER_COST = 80,
    BLOCK = 16,        /* bytes of the smallest allocation */
    BUDGET_FACTOR = 24 /* bytes that unpacking may take for each byte of the skeleton */
};
/* bytes that unpacking may take beside BUDGET_FACTOR times the skeleton */
#define BUDGET_BASE (UINT64_C(64) << 20)
#define MAX_SKELETON ((size_t)INT_MAX - 64) /* most bytes of a skeleton */

/* The wire types of protobuf: how a field is encoded. */
enum wire { WIRE_VARINT, WIRE_64, WIRE_LEN, WIRE_GROUP, WIRE_END, WIRE_32 };

/* A message that is being scanned.  Its *body* is its bytes without tag and length. */
struct frame {
    const ProtobufCMessageDescriptor *desc;
    uint64_t tag;        /* offset of its tag in the file */
    uint32_t id;         /* its field number in the parent */
    uint64_t start, end; /* offsets of the body in the file */
    size_t prefix;       /* position of its length in the skeleton */
    unsigned nprefix;    /* bytes in which the skeleton writes that length */
    uint32_t members;    /* number of fields scanned so far */
    unsigned
        next; /* index in desc->fields of the last known field; it or the one behind is likely next */
    uint64_t seen; /* bit i: desc->fields[i], which is a message and not repeated, was given */
    /* of a tensor: 2: the tensor has exactly one payload field; 1: it has none or several; 0: not counted yet */
    int one_payload;
};

/* The state of a scan. */
struct scan {
    struct window in;    /* part of the file, mostly from the current field on */
    struct window ahead; /* for looking at other places of the file */
    uint64_t field;      /* offset of the current field */
    uint64_t at;         /* offset of the next byte to scan, the cursor */
    uint64_t copied;     /* all bytes before this offset are in the skeleton, or elided */
    uint64_t cost;       /* bytes of memory that unpacking will take for all fields so far */
    bool known;          /* at least one field with a known number was found */
    const char *path;    /* of the file, for messages */
    struct arena *mem;
    struct diag *diag;
    uint8_t *out; /* [size] the part of the skeleton that is written so far */
    uint32_t size, cap;
    struct onnx_skeleton *sk;          /* result: gets the elided payloads */
    unsigned depth;                    /* index of the innermost frame in stack[] */
    struct frame stack[MAX_DEPTH + 1]; /* the messages around the cursor, the outermost first */
};

/* Decodes the varint at the beginning of p[n] to *value.  Returns its length in bytes; 0: it is cut short, or longer
 * than 10 bytes. */
static unsigned decode_varint(const uint8_t *p, uint64_t n, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 10 && i < n; i++) {
        uint8_t c = p[i];
        v |= (uint64_t)(c & 0x7f) << (7 * i);
        if (!(c & 0x80)) {
            *value = v;
            return i + 1;
        }
    }
    return 0;
}

/* Returns the *n bytes at offset `at` of the file, wherever the cursor is; *n becomes smaller at the end of the file.
 * The bytes stay until the next call. */
static const uint8_t *look_at(struct scan *s, uint64_t at, uint64_t *n)
{
    *n = at > s->ahead.size ? 0 : smaller_u64(*n, s->ahead.size - at);
    if (!window_has(&s->ahead, at, *n))
        window_move(&s->ahead, smaller_u64(at, s->ahead.size), at + *n);
    return s->ahead.buf + (at - s->ahead.from);
}

/* Decodes the varint at offset `at`, which must end before offset `end`, wherever the cursor is.  Returns as
 * decode_varint(). */
static unsigned look_at_varint(struct scan *s, uint64_t at, uint64_t end, uint64_t *value)
{
    uint64_t n = at > end ? 0 : smaller_u64(end - at, 10);
    const uint8_t *p = n > 0 ? look_at(s, at, &n) : NULL;
    return p ? decode_varint(p, n, value) : 0;
}

/* Returns the field with number id of a message, by binary search; NULL: there is none. */
static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *desc, uint32_t id)
{
    unsigned lo = 0, hi = desc->n_fields;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (desc->fields[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < desc->n_fields && desc->fields[lo].id == id ? &desc->fields[lo] : NULL;
}

/* Returns the field with number id of the message of frame f, as field_of(), but tries f->next and the field behind it
 * first, since fields mostly come in ascending order.  f->next becomes this field, since a repeated field mostly
 * comes several times in a row. */
static const ProtobufCFieldDescriptor *next_field(struct frame *f, uint32_t id)
{
    const ProtobufCFieldDescriptor *field = NULL;
    for (unsigned i = f->next; i < f->next + 2 && i < f->desc->n_fields && !field; i++)
        if (f->desc->fields[i].id == id)
            field = &f->desc->fields[i];
    if (!field)
        field = field_of(f->desc, id);
    if (field)
        f->next = (unsigned)(field - f->desc->fields);
    return field;
}

/* Returns the offset behind the field at offset `at`, and its tag in *tag.  The field was checked before; returns `end`
 * if it is wrong now, because the file has changed. */
static uint64_t skip_field(struct scan *s, uint64_t at, uint64_t end, uint64_t *tag)
{
    uint64_t v = 0;
    unsigned k = look_at_varint(s, at, end, tag);
    if (!k)
        return end;
    at += k;
    enum wire w = (enum wire)(*tag & 7);
    if (w == WIRE_64 || w == WIRE_32)
        return at + (w == WIRE_64 ? 8 : 4);
    k = look_at_varint(s, at, end, &v);
    if (!k)
        return end;
    at += k;
    return w == WIRE_VARINT ? at : v < end - at ? at + v : end;
}

/* Returns the name of the field with number id and its tag at offset `tag` in frame f; a repeated field has its
 * position behind its name: "node[3]". */
static const char *name_element(struct scan *s, const struct frame *f, uint32_t id, uint64_t tag)
{
    const ProtobufCFieldDescriptor *field = field_of(f->desc, id);
    if (!field)
        return arena_fmt(s->mem, "field %" PRIu32, id);
    if (field->label != PROTOBUF_C_LABEL_REPEATED)
        return field->name;
    uint64_t t = 0, n = 0;
    for (uint64_t at = f->start; at < tag; n += t >> 3 == id)
        at = skip_field(s, at, f->end, &t);
    return arena_fmt(s->mem, "%s[%" PRIu64 "]", field->name, n);
}

/* Returns the path of the field with number id and its tag at offset `tag` in the innermost frame, such as
 * "graph.node[1].doc_string"; id 0: the path of the frame itself.  The middle of a long path is left out. */
static const char *field_path(struct scan *s, uint32_t id, uint64_t tag)
{
    const char *path = "";
    unsigned n = s->depth + (id != 0);
    for (unsigned i = 1; i <= n; i++) {
        /* of more than 12 elements only the first four and the last six are shown */
        if (n > 12 && i > 4 && i < n - 5) {
            path = arena_fmt(s->mem, "%s...", path);
            i = n - 6;
            continue;
        }
        bool last = i > s->depth;
        const char *e = name_element(s, &s->stack[i - 1], last ? id : s->stack[i].id,
                                     last ? tag : s->stack[i].tag);
        path = arena_fmt(s->mem, "%s%s%s", path, i > 1 ? "." : "", e);
    }
    return path;
}

/* Whether the file begins like a text: without control characters other than blanks. */
static bool is_text(struct scan *s)
{
    uint64_t n = 256;
    const uint8_t *p = look_at(s, 0, &n);
    for (uint64_t i = 0; i < n; i++)
        if ((p[i] < ' ' && !(p[i] >= '\t' && p[i] <= '\r')) || p[i] == 0x7f)
            return false;
    return true;
}

/* Reports that the file cannot be read.  Returns -1. */
static int fail_reading(const struct scan *s)
{
    return diag_error(s->diag, "%s: cannot be read: %s", s->path, s->in.bad);
}

/* Reports the fault `what` of the field with number id and its tag at offset `tag`; after a read error reports that
 * error instead, since it explains the fault.  Returns -1. */
static int fail_at(struct scan *s, uint32_t id, uint64_t tag, const char *what)
{
    if (s->in.bad)
        return fail_reading(s);
    if (is_text(s))
        return diag_error(s->diag, "%s: a text file, not an ONNX model", s->path);
    const char *where = field_path(s, id, tag);
    return diag_error(s->diag, "%s: %soffset %" PRIu64 ": %s%s%s", s->path,
                      s->depth == 0 && !s->known ? "not an ONNX model: " : "", tag, where,
                      *where ? ": " : "", what);
}

/* Makes the skeleton n bytes longer.  Returns the new bytes, which the caller fills; NULL: after an error. */
static uint8_t *extend_skeleton(struct scan *s, uint64_t n)
{
    if (n > MAX_SKELETON - s->size) {
        diag_error(s->diag, "%s: more than 2 GiB besides tensor payloads", s->path);
        return NULL;
    }
    s->out = vec_grow(s->mem, s->out, &s->cap, s->size + (uint32_t)n, 1);
    s->size += (uint32_t)n;
    return s->out + s->size - n;
}

/* Appends data[n] to the skeleton.  Returns 0, or -1 and an error. */
static int append_bytes(struct scan *s, const void *data, uint64_t n)
{
    uint8_t *to = extend_skeleton(s, n);
    if (!to)
        return -1;
    memcpy(to, data, n);
    return 0;
}

/* Copies the bytes of the file from s->copied to offset `upto`, which are in the window, to the skeleton.  Returns 0,
 * or -1 and an error. */
static int copy_until(struct scan *s, uint64_t upto)
{
    assert(upto <= s->stack[0].end);
    if (upto > s->copied) {
        assert(window_has(&s->in, s->copied, upto - s->copied));
        if (append_bytes(s, s->in.buf + (s->copied - s->in.from), upto - s->copied))
            return -1;
    }
    s->copied = upto;
    return 0;
}

/* Moves the window to the bytes [at, at + n) of the current field, n <= SMALL.  First copies the bytes before the field
 * to the skeleton; the window then begins at s->copied.  Returns 0, or -1 and an error. */
static int move_window(struct scan *s, uint64_t at, uint64_t n)
{
    if (copy_until(s, larger_u64(s->field, s->copied)))
        return -1;
    window_move(&s->in, s->copied, at + n);
    return 0;
}

/* Returns the bytes [at, at + n) of the current field, n <= SMALL; NULL: after an error. */
static inline const uint8_t *window_bytes(struct scan *s, uint64_t at, uint64_t n)
{
    if (!window_has(&s->in, at, n) && move_window(s, at, n))
        return NULL;
    return s->in.buf + (at - s->in.from);
}

/* Does the work of read_varint(), with the same result, for varints of more than one byte and at the end of the
 * window. */
static unsigned read_long_varint(struct scan *s, uint64_t end, uint64_t *value)
{
    uint64_t n = smaller_u64(end - s->at, 10);
    const uint8_t *p = n > 0 ? window_bytes(s, s->at, n) : NULL;
    return p ? decode_varint(p, n, value) : 0;
}

/* Decodes the varint at the cursor, which must end before offset `end`, to *value; the cursor stays.  Returns its
 * length in bytes; 0: there is no varint. */
static inline unsigned read_varint(struct scan *s, uint64_t end, uint64_t *value)
{
    if (s->at >= end || !window_has(&s->in, s->at, 1))
        return read_long_varint(s, end, value);
    uint8_t c = s->in.buf[s->at - s->in.from];
    if (c & 0x80)
        return read_long_varint(s, end, value);
    *value = c;
    return 1;
}

/* Moves the cursor past the next len bytes and returns them, from the window or, if they are many, from the skeleton,
 * to which they are copied at once.  NULL: after an error. */
static const uint8_t *take_bytes(struct scan *s, uint64_t len)
{
    uint64_t at = s->at;
    if (len <= SMALL) {
        s->at += len;
        return window_bytes(s, at, len);
    }
    uint8_t *to = copy_until(s, at) ? NULL : extend_skeleton(s, len);
    if (!to)
        return NULL;
    if (window_read(&s->in, at, len, to)) {
        fail_reading(s);
        return NULL;
    }
    s->at = s->copied = at + len;
    return to;
}

/* Adds to s->cost the bytes of memory that unpacking will take for a field (id, tag: as in fail_at()).  Returns 0; or
 * -1 and an error if the sum is too large for the size of the file. */
static int add_cost(struct scan *s, uint32_t id, uint64_t tag, uint64_t bytes)
{
    s->cost += bytes;
    uint64_t limit = BUDGET_BASE + BUDGET_FACTOR * (s->size + (s->at - s->copied));
    if (s->cost > limit)
        return fail_at(s, id, tag, "too many small fields: unpacking would take too much memory");
    return 0;
}

/* Replaces the field with number id, its tag at offset `tag` and its payload at [off, off + len), by a marker in the
 * skeleton, and moves the cursor past the field.  Returns 0, or -1 and an error. */
static int elide_field(struct scan *s, uint64_t tag, uint32_t id, uint64_t off, uint64_t len)
{
    struct onnx_skeleton *sk = s->sk;
    sk->payload =
        vec_grow(s->mem, sk->payload, &sk->cappayload, sk->npayload + 1, sizeof *sk->payload);
    sk->payload[sk->npayload] = (struct onnx_payload){off, len, id};
    uint8_t mark[2 + ONNX_MARK] = {ONNX_FIELD_RAW << 3 | WIRE_LEN, ONNX_MARK};
    for (int i = 0; i < 4; i++) /* the payload's index, for onnx_mark_index() */
        mark[2 + i] = (uint8_t)(sk->npayload >> (8 * i));
    sk->npayload++;
    if (copy_until(s, tag) || append_bytes(s, mark, sizeof mark))
        return -1;
    s->copied = off + len;
    s->at = s->copied;
    return 0;
}

uint32_t onnx_mark_index(const uint8_t *mark)
{
    return mark[0] | (uint32_t)mark[1] << 8 | (uint32_t)mark[2] << 16 | (uint32_t)mark[3] << 24;
}

/* Whether the tensor of frame f has only one field among raw_data, float_data and double_data; keeps the answer in
 * f->one_payload.  Looks ahead at bytes that are not checked yet: it stops at defects, which the scan reports later. */
static bool has_one_payload(struct scan *s, struct frame *f)
{
    if (f->one_payload)
        return f->one_payload == 2;
    unsigned n = 0;
    for (uint64_t at = f->start, tag, v; at < f->end && n < 2;) {
        unsigned k = look_at_varint(s, at, f->end, &tag);
        if (!k)
            break;
        at += k;
        uint64_t id = tag >> 3;
        enum wire w = (enum wire)(tag & 7);
        k = w == WIRE_64 ? 8 : w == WIRE_32 ? 4 : look_at_varint(s, at, f->end, &v);
        if (!k || w == WIRE_GROUP || w == WIRE_END)
            break;
        at += k;
        if (w == WIRE_LEN && v > f->end - at)
            break;
        if (w == WIRE_LEN)
            at += v;
        n += id == ONNX_FIELD_FLOAT || id == ONNX_FIELD_RAW || id == ONNX_FIELD_DOUBLE;
    }
    f->one_payload = n == 1 ? 2 : 1;
    return n == 1;
}

/* Returns the wire type of one element of a field of type t. */
static enum wire wire_of(ProtobufCType t)
{
    switch (t) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return WIRE_32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return WIRE_64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_LEN;
    default:
        return WIRE_VARINT;
    }
}

/* Scans a field of packed numbers: checks the numbers, and copies them to the skeleton or elides them.  Its tag is
 * at offset `tag`; its len bytes begin at the cursor.  Returns 0, or -1 and an error. */
static int scan_packed(struct scan *s, struct frame *f, const ProtobufCFieldDescriptor *field,
                       uint64_t tag, uint64_t len)
{
    enum wire w = wire_of(field->type);
    uint64_t size = w == WIRE_32 ? 4 : 8, v;
    if (w != WIRE_VARINT) {
        if (len % size)
            return fail_at(s, field->id, tag, "length is not a multiple of the element's size");
        if (f->desc == &onnx__tensor_proto__descriptor && len >= ELIDE &&
            (field->id == ONNX_FIELD_FLOAT || field->id == ONNX_FIELD_DOUBLE) &&
            has_one_payload(s, f))
            return elide_field(s, tag, field->id, s->at, len);
        return take_bytes(s, len) ? add_cost(s, field->id, tag, BLOCK + len) : -1;
    }
    const uint8_t *p = take_bytes(s, len);
    uint64_t n = 0;
    if (!p)
        return -1;
    for (uint64_t at = 0; at < len; n++) {
        unsigned k = decode_varint(p + at, len - at, &v);
        if (!k)
            return fail_at(s, field->id, tag, "bad varint in packed numbers");
        at += k;
    }
    return add_cost(s, field->id, tag, BLOCK + n * 8);
}

/* Begins a message, the field `field` of frame f: pushes its frame, copies the file up to the message's length to the
 * skeleton, and appends as many zero bytes as the length has, which leave_message() overwrites.  tag, prefix: offsets
 * of the message's tag and length in the file; its body, len bytes, begins at the cursor.  The memory for the
 * unpacked message counts as cost (add_cost).  Returns 0; -1 and an error, also if the message is given twice or
 * nested too deep. */
static int enter_message(struct scan *s, struct frame *f, const ProtobufCFieldDescriptor *field,
                         uint64_t tag, uint64_t prefix, uint64_t len)
{
    const ProtobufCMessageDescriptor *desc = field->descriptor;
    uint64_t bit = UINT64_C(1) << ((field - f->desc->fields) & 63);
    bool many = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (!many && (f->seen & bit))
        return fail_at(s, field->id, tag, "given twice");
    f->seen |= many ? 0 : bit;
    if (s->depth == MAX_DEPTH)
        return fail_at(s, field->id, tag, "messages nested more than 100 deep");
    if (add_cost(s, field->id, tag, desc->sizeof_message + BLOCK + 8) || copy_until(s, prefix))
        return -1;
    s->copied = s->at;
    struct frame *in = &s->stack[++s->depth];
    *in = (struct frame){.desc = desc,
                         .tag = tag,
                         .id = field->id,
                         .start = s->at,
                         .end = s->at + len,
                         .prefix = s->size,
                         .nprefix = (unsigned)(s->at - prefix)};
    return append_bytes(s, "\0\0\0\0", in->nprefix); /* MAX_PREFIX bytes with the NUL at the end */
}

/* Pops the innermost frame and writes the new length of its message to the skeleton.  Returns 0, or -1 and an error. */
static int leave_message(struct scan *s)
{
    assert(s->depth > 0);
    struct frame *f = &s->stack[s->depth--];
    if (copy_until(s, f->end))
        return -1;
    uint32_t len = s->size - (uint32_t)f->prefix - f->nprefix;
    assert(s->size >= f->prefix + f->nprefix);
    for (unsigned i = 0; i < f->nprefix; i++, len >>= 7)
        s->out[f->prefix + i] = (uint8_t)((len & 0x7f) | (i + 1 < f->nprefix ? 0x80 : 0));
    assert(len == 0); /* the new length is at most the old one */
    return 0;
}

/* Scans the string of len bytes at the cursor, a field with its tag at offset `tag`: the string must have no NUL
 * bytes, and must be UTF-8 unless the field is documentation.  Returns 0, or -1 and an error. */
static int take_text(struct scan *s, const ProtobufCFieldDescriptor *field, uint64_t tag,
                     uint64_t len)
{
    uint32_t id = field->id;
    uint64_t from = s->at;
    const char *p = (const char *)take_bytes(s, len);
    if (!p)
        return -1;
    if (memchr(p, 0, len))
        return fail_at(s, id, tag, "text holds a NUL byte");
    size_t good = utf8_good(p, len);
    if (good < len && strcmp(field->name, "doc_string") != 0)
        return fail_at(s, id, tag,
                       arena_fmt(s->mem, "byte %" PRIu64 " of the file is not UTF-8", from + good));
    return add_cost(s, id, tag, 2 * BLOCK);
}

/* Scans a field of wire type WIRE_LEN of frame f whose length is at the cursor.  id: its number; tag: offset of its
 * tag; field NULL: the number is unknown.  Returns 0, or -1 and an error. */
static int scan_delimited(struct scan *s, struct frame *f, const ProtobufCFieldDescriptor *field,
                          uint32_t id, uint64_t tag)
{
    uint64_t prefix = s->at, len, k = read_varint(s, f->end, &len);
    if (!k || k > MAX_PREFIX)
        return fail_at(s, id, tag, "bad length");
    s->at += k;
    if (len > f->end - s->at) {
        return fail_at(
            s, id, tag,
            arena_fmt(s->mem, "length %" PRIu64 " goes %" PRIu64 " bytes beyond the end of %s", len,
                      len - (f->end - s->at), s->depth ? field_path(s, 0, 0) : "the file"));
    }
    if (!field)
        return take_bytes(s, len) ? add_cost(s, id, tag, 2 * BLOCK) : -1;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return enter_message(s, f, field, tag, prefix, len);
    case PROTOBUF_C_TYPE_STRING:
        return take_text(s, field, tag, len);
    case PROTOBUF_C_TYPE_BYTES:
        if (f->desc == &onnx__tensor_proto__descriptor && id == ONNX_FIELD_RAW &&
            (len >= ELIDE || len == ONNX_MARK))
            return elide_field(s, tag, id, s->at, len);
        return take_bytes(s, len) ? add_cost(s, id, tag, 2 * BLOCK) : -1;
    default:
        if (field->label != PROTOBUF_C_LABEL_REPEATED)
            return fail_at(s, id, tag, "wrong wire type (a length, expected a number)");
        return scan_packed(s, f, field, tag, len);
    }
}

/* Scans the field at the cursor, a field of the innermost message.  Returns 0, or -1 and an error. */
static int scan_field(struct scan *s)
{
    struct frame *f = &s->stack[s->depth];
    uint64_t at = s->at, tag, v;
    s->field = at;
    unsigned k = read_varint(s, f->end, &tag);
    if (!k || k > MAX_TAG)
        return fail_at(s, 0, at, "bad field tag");
    if (tag >> 3 == 0 || tag >> 32)
        return fail_at(s, 0, at, "impossible field number");
    uint32_t id = (uint32_t)(tag >> 3);
    enum wire w = (enum wire)(tag & 7);
    const ProtobufCFieldDescriptor *field = next_field(f, id);
    s->at += k;
    if (w == WIRE_GROUP || w == WIRE_END || w > WIRE_32)
        return fail_at(s, id, at, w > WIRE_32 ? "impossible wire type" : "groups are not ONNX");
    if (field && w != WIRE_LEN && w != wire_of(field->type))
        return fail_at(s, id, at, "wrong wire type");
    if (++f->members > FREE_MEMBERS && add_cost(s, id, at, MEMBER_COST))
        return -1;
    s->known |= field != NULL;
    if (w == WIRE_LEN)
        return scan_delimited(s, f, field, id, at);
    k = w == WIRE_VARINT ? read_varint(s, f->end, &v) : w == WIRE_64 ? 8 : 4;
    if (!k)
        return fail_at(s, id, at, "bad varint");
    if (k > f->end - s->at)
        return fail_at(s, id, at, "cut short");
    if (!take_bytes(s, k))
        return -1;
    return add_cost(s, id, at, field ? 8 : 3 * BLOCK);
}

int onnx_scan(int fd, uint64_t size, const char *path, struct arena *a, struct onnx_skeleton *out,
              struct diag *d)
{
    struct scan *s = arena_alloc(a, sizeof *s);
    *out = (struct onnx_skeleton){0};
    s->in = window_new(fd, size, a);
    s->ahead = window_new(fd, size, a);
    s->out = vec_grow(a, NULL, &s->cap, (uint32_t)(smaller_u64(size, AT_ONCE)), 1);
    s->path = path;
    s->mem = a;
    s->diag = d;
    s->sk = out;
    s->stack[0].desc = &onnx__model_proto__descriptor;
    s->stack[0].end = size;
    while (s->depth || s->at < size) {
        assert(s->depth <= MAX_DEPTH);
        int bad = s->at == s->stack[s->depth].end ? leave_message(s) : scan_field(s);
        if (!bad && s->in.bad)
            bad = fail_reading(s);
        if (bad || diag_stopped(d))
            return -1;
    }
    if (copy_until(s, size))
        return -1;
    assert(s->depth == 0 && s->at == size && s->size <= MAX_SKELETON);
    out->bytes = s->out;
    out->size = s->size;
    return 0;
}
