/* Compares weights, copied nodes and functions that several parts of a split have.
 *
 * Messages are compared field by field by their descriptors, tensors by their bytes, wherever these lie, since each
 * part may have a data file of its own.  O(messages + bytes of tensors that lie in several files). */
#include "tools/lib/recompose/whole.h"

#include "backends/onnx/walk.h"
#include "ir/base/numbers.h"

#include <string.h>

/* ---- tensors -------------------------------------------------------------------------------- */

/* Returns 1 if two tensors of the same size have the same bytes, 0 if not, -1 after an error. */
static int same_bytes(struct module_tensor a, struct module_tensor b)
{
    enum { BLOCK = 1 << 14 };
    uint8_t one[BLOCK], two[BLOCK];
    uint64_t len = a.m->tensor[a.t].len;
    for (uint64_t at = 0, n; at < len; at += n) {
        n = smaller_u64(len - at, BLOCK);
        if (tensor_read(a.m, a.t, at, one, n) || tensor_read(b.m, b.t, at, two, n))
            return -1;
        if (memcmp(one, two, n) != 0)
            return 0;
    }
    return 1;
}

/* Returns 1 if two dense tensors have the same type, shape and elements, 0 if not, -1 after an error.  Tensors at the
 * same place of the same file are equal unread. */
static int same_tensor(struct module_tensor a, struct module_tensor b)
{
    const struct tensor *x = &a.m->tensor[a.t], *y = &b.m->tensor[b.t];
    bool same = x->elem == y->elem && x->rank == y->rank && x->len == y->len;
    for (uint32_t i = 0; same && i < x->rank; i++)
        same = a.m->ints[x->dim + i] == b.m->ints[y->dim + i];
    if (!same || tensor_has_bytes(x) != tensor_has_bytes(y))
        return 0;
    if (!tensor_has_bytes(x)) { /* strings, which are in the messages */
        const Onnx__TensorProto *p = x->src, *q = y->src;
        same = p->n_string_data == q->n_string_data;
        for (size_t i = 0; same && i < p->n_string_data; i++)
            same = p->string_data[i].len == q->string_data[i].len &&
                   !memcmp(p->string_data[i].data, q->string_data[i].data, p->string_data[i].len);
        return same;
    }
    if (x->where == TENSOR_FILE && y->where == TENSOR_FILE && x->off == y->off &&
        !strcmp(module_str(a.m, a.m->file[x->file].path), module_str(b.m, b.m->file[y->file].path)))
        return 1;
    return same_bytes(a, b);
}

int whole_same_weight(struct module_tensor a, struct module_tensor b)
{
    const struct tensor *x = &a.m->tensor[a.t], *y = &b.m->tensor[b.t];
    int same = 1;
    if (x->where != TENSOR_SPARSE && y->where != TENSOR_SPARSE)
        return same_tensor(a, b);
    if (x->where != y->where)
        return 0;
    for (int i = 0; i < 2 && same == 1; i++)
        same = same_tensor((struct module_tensor){a.m, x->of[i]},
                           (struct module_tensor){b.m, y->of[i]});
    return same;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Two messages of one type that are still to be compared. */
struct message_pair {
    const ProtobufCMessage *a, *b;
};

/* The pairs that are still to be compared. */
struct pair_stack {
    struct message_pair *v; /* [n] */
    uint32_t n, cap;
};

/* Returns the bytes that a value of the field f, which is neither a string nor a message, takes in memory. */
static size_t value_size(const ProtobufCFieldDescriptor *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4;
    }
}

/* Returns the values that the field f, which is neither a string nor a message, has in the message x, and their number
 * in *n. */
static const void *plain_values(const ProtobufCMessage *x, const ProtobufCFieldDescriptor *f,
                                size_t *n)
{
    const char *at = (const char *)x + f->offset, *count = (const char *)x + f->quantifier_offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        *n = *(const size_t *)count;
        return *(const void *const *)at;
    }
    *n = f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF ? *(const uint32_t *)count == f->id
         : f->label == PROTOBUF_C_LABEL_OPTIONAL && f->quantifier_offset
             ? *(const protobuf_c_boolean *)count != 0
             : 1;
    return at;
}

/* Whether a field that is neither a string nor a message has the same values in both. */
static bool same_plain_field(const ProtobufCMessage *a, const ProtobufCMessage *b,
                             const ProtobufCFieldDescriptor *f)
{
    size_t na, nb;
    const void *x = plain_values(a, f, &na), *y = plain_values(b, f, &nb);
    if (na != nb || f->type != PROTOBUF_C_TYPE_BYTES)
        return na == nb && (!na || !memcmp(x, y, na * value_size(f)));
    const ProtobufCBinaryData *p = x, *q = y;
    bool same = true;
    for (size_t i = 0; same && i < na; i++)
        same = p[i].len == q[i].len && (!p[i].len || !memcmp(p[i].data, q[i].data, p[i].len));
    return same;
}

/* Whether field f is the same in the messages a and b.  If its values are messages: whether both have the same number
 * of them; adds each pair of messages to todo, to be compared later. */
static bool same_field(const ProtobufCMessage *a, const ProtobufCMessage *b,
                       const ProtobufCFieldDescriptor *f, struct pair_stack *todo,
                       struct arena *own)
{
    size_t na, nb;
    if (f->type != PROTOBUF_C_TYPE_MESSAGE && f->type != PROTOBUF_C_TYPE_STRING)
        return same_plain_field(a, b, f);
    const void *const *x = walk_field(a, f, &na), *const *y = walk_field(b, f, &nb);
    bool same = na == nb;
    for (size_t i = 0; same && i < na; i++) {
        if (f->type == PROTOBUF_C_TYPE_STRING) {
            same = !strcmp(x[i], y[i]);
            continue;
        }
        todo->v = vec_grow(own, todo->v, &todo->cap, todo->n + 1, sizeof *todo->v);
        todo->v[todo->n++] = (struct message_pair){x[i], y[i]};
    }
    return same;
}

/* Compares the tensors that the messages a and b stand for.  Returns 1 if they are equal, 0 if they differ, -1 after an
 * error; -2 if a or b is not the message of a tensor that the reader knows. */
static int same_known_tensors(const struct whole *w, const ProtobufCMessage *a,
                              const ProtobufCMessage *b)
{
    if (a->descriptor != &onnx__tensor_proto__descriptor)
        return -2;
    const struct module_tensor x = whole_tensor(w, a), y = whole_tensor(w, b);
    const char *one = ((const Onnx__TensorProto *)a)->name;
    const char *two = ((const Onnx__TensorProto *)b)->name;
    if (!x.t || !y.t)
        return -2;
    return strcmp(one ? one : "", two ? two : "") ? 0 : same_tensor(x, y);
}

int whole_same_message(const struct whole *w, const void *one, const void *two)
{
    struct arena *own = arena_new(w->a);
    struct pair_stack todo = {0};
    int same = 1;
    todo.v = vec_grow(own, NULL, &todo.cap, 1, sizeof *todo.v);
    todo.v[todo.n++] = (struct message_pair){one, two};
    while (todo.n && same == 1) {
        struct message_pair p = todo.v[--todo.n];
        const ProtobufCMessageDescriptor *d = p.a->descriptor;
        int known = same_known_tensors(w, p.a, p.b);
        same = known == -2 ? 1 : known;
        for (unsigned i = 0; known == -2 && same == 1 && i < d->n_fields; i++)
            same = same_field(p.a, p.b, &d->fields[i], &todo, own);
    }
    arena_free(own);
    return same;
}
