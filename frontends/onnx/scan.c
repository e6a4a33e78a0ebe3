/* Pre-scan of an ONNX file: makes bytes safe for protobuf-c, and keeps weights out of memory.
 *
 * protobuf-c recurses without limit, allocates 8 to 100 bytes for 2 bytes of wire, copies every
 * payload, and says nothing but NULL.  So one walk over the wire comes first.  It is driven by
 * protobuf-c's own descriptors, keeps its stack in an array (at most MAX_DEPTH messages deep, the
 * limit of other protobuf libraries), and checks every tag, length, varint and string before
 * protobuf-c sees it, with an account of the memory that unpacking will take.
 *
 * The same walk writes the skeleton: the file's bytes without large tensor payloads.  In a
 * TensorProto, raw_data of at least ELIDE bytes (and float_data, double_data if they are all that
 * the tensor has) is replaced by raw_data of ONNX_MARK bytes that hold the number of a record
 * {offset, length, field}.  Real raw_data of ONNX_MARK bytes is replaced, too, so that no file can
 * forge a marker.  Messages only shrink by this, so the new length of an enclosing message fits
 * into the bytes of the old prefix (as a padded varint).
 *
 * The file is read through a window (window.h), each byte once: what was checked is what is copied.  Long
 * texts and the like go straight to the skeleton and are checked there.
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
    MAX_DEPTH = 100,   /* messages below the model */
    ELIDE = 1024,      /* payloads from this size on stay in the file */
    MAX_PREFIX = 5,    /* bytes of a length ... */
    MAX_TAG = 5,       /* ... and of a tag that protobuf-c reads */
    SMALL = 4096,      /* longer fields bypass the window */
    AT_ONCE = 1 << 24, /* bytes of skeleton that there is room for at once */
    FREE_MEMBERS = 16, /* fields of a message that protobuf-c lists on its stack */
    MEMBER_COST = 80,  /* bytes that protobuf-c allocates for each further entry of a list */
    BLOCK = 16,        /* least allocation */
    BUDGET_FACTOR = 24 /* bytes of memory for each byte of skeleton ... */
};
#define BUDGET_BASE (UINT64_C(64) << 20) /* ... and these for any file */
#define MAX_SKELETON ((size_t)INT_MAX - 64)

enum wire { WIRE_VARINT, WIRE_64, WIRE_LEN, WIRE_GROUP, WIRE_END, WIRE_32 };

struct frame {
    const ProtobufCMessageDescriptor *desc;
    uint64_t tag;        /* where its tag stands in the parent */
    uint32_t id;         /* its field number in the parent */
    uint64_t start, end; /* position of the body in the file */
    size_t prefix;       /* position of the length in the skeleton */
    unsigned nprefix;
    uint32_t members; /* fields so far */
    unsigned next;    /* index of the field that is likely to come next */
    uint64_t seen;    /* bit i: singular message field i was there */
    int lone;         /* of tensors: 1 + whether it has just one payload field; 0: not counted */
};

struct scan {
    struct window in;    /* from the field at hand on */
    struct window ahead; /* for looking elsewhere */
    uint64_t field;      /* where the field at hand begins */
    uint64_t at;         /* cursor */
    uint64_t copied;     /* what lies before is in the skeleton, or elided */
    uint64_t cost;       /* bytes that unpacking will take */
    bool known;          /* a field of the model was recognised */
    const char *path;
    struct arena *mem;
    struct diag *diag;
    uint8_t *out;
    uint32_t size, cap;
    struct onnx_skeleton *sk;
    unsigned depth; /* index of the innermost frame */
    struct frame stack[MAX_DEPTH + 1];
};

/* Reads a varint from p[n]: its length in bytes, 0 if it is cut short or longer than 10. */
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

/* Up to n bytes at `at`, elsewhere than the cursor; fewer only at the end of the file. */
static const uint8_t *look(struct scan *s, uint64_t at, uint64_t *n)
{
    *n = at > s->ahead.size ? 0 : smaller_u64(*n, s->ahead.size - at);
    if (!window_has(&s->ahead, at, *n))
        window_move(&s->ahead, smaller_u64(at, s->ahead.size), at + *n);
    return s->ahead.buf + (at - s->ahead.from);
}

/* A varint before `end`, elsewhere than the cursor. */
static unsigned look_varint(struct scan *s, uint64_t at, uint64_t end, uint64_t *value)
{
    uint64_t n = at > end ? 0 : smaller_u64(end - at, 10);
    const uint8_t *p = n > 0 ? look(s, at, &n) : NULL;
    return p ? decode_varint(p, n, value) : 0;
}

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

/* The same, with a guess: fields mostly come in order. */
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

/* Skips one field that an earlier scan has checked; returns `end` if the file has changed since. */
static uint64_t skip_field(struct scan *s, uint64_t at, uint64_t end, uint64_t *tag)
{
    uint64_t v = 0;
    unsigned k = look_varint(s, at, end, tag);
    if (!k)
        return end;
    at += k;
    enum wire w = (enum wire)(*tag & 7);
    if (w == WIRE_64 || w == WIRE_32)
        return at + (w == WIRE_64 ? 8 : 4);
    k = look_varint(s, at, end, &v);
    if (!k)
        return end;
    at += k;
    return w == WIRE_VARINT ? at : v < end - at ? at + v : end;
}

/* "node[3]": field `id` of frame f whose tag is at `tag`. */
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

/* "graph.node[1].doc_string" for the field at `tag` of the innermost frame (id 0: the frame);
 * the middle of a long path is left out. */
static const char *field_path(struct scan *s, uint32_t id, uint64_t tag)
{
    const char *path = "";
    unsigned n = s->depth + (id != 0);
    for (unsigned i = 1; i <= n; i++) {
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

static bool is_text(struct scan *s)
{
    uint64_t n = 256;
    const uint8_t *p = look(s, 0, &n);
    for (uint64_t i = 0; i < n; i++)
        if ((p[i] < ' ' && !(p[i] >= '\t' && p[i] <= '\r')) || p[i] == 0x7f)
            return false;
    return true;
}

/* A read error explains all faults found after it. */
static int fail_reading(const struct scan *s)
{
    return diag_error(s->diag, "%s: cannot be read: %s", s->path, s->in.bad);
}

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

/* Room for n more bytes of skeleton, which are counted; NULL and an error. */
static uint8_t *extend(struct scan *s, uint64_t n)
{
    if (n > MAX_SKELETON - s->size) {
        diag_error(s->diag, "%s: more than 2 GiB besides tensor payloads", s->path);
        return NULL;
    }
    s->out = vec_grow(s->mem, s->out, &s->cap, s->size + (uint32_t)n, 1);
    s->size += (uint32_t)n;
    return s->out + s->size - n;
}

static int append(struct scan *s, const void *data, uint64_t n)
{
    uint8_t *to = extend(s, n);
    if (!to)
        return -1;
    memcpy(to, data, n);
    return 0;
}

/* Copies what lies before file offset `upto`, which is in the window, to the skeleton. */
static int flush(struct scan *s, uint64_t upto)
{
    assert(upto <= s->stack[0].end);
    if (upto > s->copied) {
        assert(window_has(&s->in, s->copied, upto - s->copied));
        if (append(s, s->in.buf + (s->copied - s->in.from), upto - s->copied))
            return -1;
    }
    s->copied = upto;
    return 0;
}

/* Makes the window begin with what is not in the skeleton of the field at hand, and hold [at, at + n), n <= SMALL; what
 * lies before the field goes to the skeleton first. */
static int go_on_to(struct scan *s, uint64_t at, uint64_t n)
{
    if (flush(s, larger_u64(s->field, s->copied)))
        return -1;
    window_move(&s->in, s->copied, at + n);
    return 0;
}

/* The bytes [at, at + n) of the field at hand, n <= SMALL; NULL and an error. */
static inline const uint8_t *see(struct scan *s, uint64_t at, uint64_t n)
{
    if (!window_has(&s->in, at, n) && go_on_to(s, at, n))
        return NULL;
    return s->in.buf + (at - s->in.from);
}

static unsigned read_long_varint(struct scan *s, uint64_t end, uint64_t *value)
{
    uint64_t n = smaller_u64(end - s->at, 10);
    const uint8_t *p = n > 0 ? see(s, s->at, n) : NULL;
    return p ? decode_varint(p, n, value) : 0;
}

/* A varint at the cursor, before `end`: mostly one byte. */
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

/* The next len bytes, which all go to the skeleton: in the window, or there already.  NULL and an error.  The cursor is
 * behind them then. */
static const uint8_t *take(struct scan *s, uint64_t len)
{
    uint64_t at = s->at;
    if (len <= SMALL) {
        s->at += len;
        return see(s, at, len);
    }
    uint8_t *to = flush(s, at) ? NULL : extend(s, len);
    if (!to)
        return NULL;
    if (window_read(&s->in, at, len, to)) {
        fail_reading(s);
        return NULL;
    }
    s->at = s->copied = at + len;
    return to;
}

static int spend(struct scan *s, uint32_t id, uint64_t tag, uint64_t bytes)
{
    s->cost += bytes;
    uint64_t limit = BUDGET_BASE + BUDGET_FACTOR * (s->size + (s->at - s->copied));
    if (s->cost > limit)
        return fail_at(s, id, tag, "too many small fields: unpacking would take too much memory");
    return 0;
}

/* Replaces the field at `tag`, contents [off, off + len), by a marker. */
static int elide_field(struct scan *s, uint64_t tag, uint32_t id, uint64_t off, uint64_t len)
{
    struct onnx_skeleton *sk = s->sk;
    sk->payload =
        vec_grow(s->mem, sk->payload, &sk->cappayload, sk->npayload + 1, sizeof *sk->payload);
    sk->payload[sk->npayload] = (struct onnx_payload){off, len, id};
    uint8_t mark[2 + ONNX_MARK] = {ONNX_FIELD_RAW << 3 | WIRE_LEN, ONNX_MARK};
    for (int i = 0; i < 4; i++)
        mark[2 + i] = (uint8_t)(sk->npayload >> (8 * i));
    sk->npayload++;
    if (flush(s, tag) || append(s, mark, sizeof mark))
        return -1;
    s->copied = off + len;
    s->at = s->copied;
    return 0;
}

uint32_t onnx_mark_index(const uint8_t *mark)
{
    return mark[0] | (uint32_t)mark[1] << 8 | (uint32_t)mark[2] << 16 | (uint32_t)mark[3] << 24;
}

/* Whether the tensor has only one field among raw_data, float_data and double_data.  Looks ahead,
 * at wire that is not checked yet; defects are found by the scan proper. */
static bool lone_payload(struct scan *s, struct frame *f)
{
    if (f->lone)
        return f->lone == 2;
    unsigned n = 0;
    for (uint64_t at = f->start, tag, v; at < f->end && n < 2;) {
        unsigned k = look_varint(s, at, f->end, &tag);
        if (!k)
            break;
        at += k;
        uint64_t id = tag >> 3;
        enum wire w = (enum wire)(tag & 7);
        k = w == WIRE_64 ? 8 : w == WIRE_32 ? 4 : look_varint(s, at, f->end, &v);
        if (!k || w == WIRE_GROUP || w == WIRE_END)
            break;
        at += k;
        if (w == WIRE_LEN && v > f->end - at)
            break;
        at += w == WIRE_LEN ? v : 0;
        n += id == ONNX_FIELD_FLOAT || id == ONNX_FIELD_RAW || id == ONNX_FIELD_DOUBLE;
    }
    f->lone = n == 1 ? 2 : 1;
    return n == 1;
}

/* Wire type of a single element; length-delimited for strings, bytes and messages. */
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

/* A repeated number in packed form: [s->at, s->at + len). */
static int scan_packed(struct scan *s, struct frame *f, const ProtobufCFieldDescriptor *field,
                       uint64_t tag, uint64_t len)
{
    enum wire w = wire_of(field->type);
    uint64_t size = w == WIRE_32 ? 4 : 8, v;
    if (w != WIRE_VARINT) {
        if (len % size)
            return fail_at(s, field->id, tag, "length is not a multiple of the element's size");
        if (f->desc == &onnx__tensor_proto__descriptor && len >= ELIDE &&
            (field->id == ONNX_FIELD_FLOAT || field->id == ONNX_FIELD_DOUBLE) && lone_payload(s, f))
            return elide_field(s, tag, field->id, s->at, len);
        return take(s, len) ? spend(s, field->id, tag, BLOCK + len) : -1;
    }
    const uint8_t *p = take(s, len);
    uint64_t n = 0;
    if (!p)
        return -1;
    for (uint64_t at = 0, k; at < len; at += k, n++)
        if (!(k = decode_varint(p + at, len - at, &v)))
            return fail_at(s, field->id, tag, "bad varint in packed numbers");
    return spend(s, field->id, tag, BLOCK + n * 8);
}

/* Enters a message of len bytes at s->at whose length starts at `prefix`. */
static int enter(struct scan *s, struct frame *f, const ProtobufCFieldDescriptor *field,
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
    if (spend(s, field->id, tag, desc->sizeof_message + BLOCK + 8) || flush(s, prefix))
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
    return append(s, "\0\0\0\0", in->nprefix);
}

/* Leaves the innermost message: its length is known now. */
static int leave(struct scan *s)
{
    assert(s->depth > 0);
    struct frame *f = &s->stack[s->depth--];
    if (flush(s, f->end))
        return -1;
    uint32_t len = s->size - (uint32_t)f->prefix - f->nprefix;
    assert(s->size >= f->prefix + f->nprefix);
    for (unsigned i = 0; i < f->nprefix; i++, len >>= 7)
        s->out[f->prefix + i] = (uint8_t)((len & 0x7f) | (i + 1 < f->nprefix ? 0x80 : 0));
    assert(len == 0); /* messages only shrink */
    return 0;
}

/* A text of len bytes at s->at: UTF-8, but for documentation, which is only handed on. */
static int take_text(struct scan *s, const ProtobufCFieldDescriptor *field, uint64_t tag,
                     uint64_t len)
{
    uint32_t id = field->id;
    uint64_t from = s->at;
    const char *p = (const char *)take(s, len);
    size_t good;
    if (!p)
        return -1;
    if (memchr(p, 0, len))
        return fail_at(s, id, tag, "text holds a NUL byte");
    if ((good = utf8_good(p, len)) < len && strcmp(field->name, "doc_string") != 0)
        return fail_at(s, id, tag,
                       arena_fmt(s->mem, "byte %" PRIu64 " of the file is not UTF-8", from + good));
    return spend(s, id, tag, 2 * BLOCK);
}

/* A length-delimited field whose length starts at s->at. */
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
        return take(s, len) ? spend(s, id, tag, 2 * BLOCK) : -1;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return enter(s, f, field, tag, prefix, len);
    case PROTOBUF_C_TYPE_STRING:
        return take_text(s, field, tag, len);
    case PROTOBUF_C_TYPE_BYTES:
        if (f->desc == &onnx__tensor_proto__descriptor && id == ONNX_FIELD_RAW &&
            (len >= ELIDE || len == ONNX_MARK))
            return elide_field(s, tag, id, s->at, len);
        return take(s, len) ? spend(s, id, tag, 2 * BLOCK) : -1;
    default:
        if (field->label != PROTOBUF_C_LABEL_REPEATED)
            return fail_at(s, id, tag, "wrong wire type (a length, expected a number)");
        return scan_packed(s, f, field, tag, len);
    }
}

/* One field of the innermost message. */
static int scan_field(struct scan *s)
{
    struct frame *f = &s->stack[s->depth];
    uint64_t at = s->field = s->at, tag, v;
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
    if (++f->members > FREE_MEMBERS && spend(s, id, at, MEMBER_COST))
        return -1;
    s->known |= field != NULL;
    if (w == WIRE_LEN)
        return scan_delimited(s, f, field, id, at);
    k = w == WIRE_VARINT ? read_varint(s, f->end, &v) : w == WIRE_64 ? 8 : 4;
    if (!k)
        return fail_at(s, id, at, "bad varint");
    if (k > f->end - s->at)
        return fail_at(s, id, at, "cut short");
    if (!take(s, k))
        return -1;
    return spend(s, id, at, field ? 8 : 3 * BLOCK);
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
        int bad = s->at == s->stack[s->depth].end ? leave(s) : scan_field(s);
        if (!bad && s->in.bad)
            bad = fail_reading(s);
        if (bad || diag_stopped(d))
            return -1;
    }
    if (flush(s, size))
        return -1;
    assert(s->depth == 0 && s->at == size && s->size <= MAX_SKELETON);
    out->bytes = s->out;
    out->size = s->size;
    return 0;
}
