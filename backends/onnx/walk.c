/* Walks through messages by their descriptors (walk.h). */
#include "backends/onnx/walk.h"

struct walk walk_begin(const ProtobufCMessage *root, struct arena *a)
{
    struct walk w = {.a = a};
    w.stack = vec_grow(a, NULL, &w.cap, 1, sizeof *w.stack);
    w.stack[w.n++] = root;
    return w;
}

const void *const *walk_field(const ProtobufCMessage *x, const ProtobufCFieldDescriptor *f,
                              size_t *n)
{
    const char *at = (const char *)x + f->offset,
               *quantity = (const char *)x + f->quantifier_offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        *n = *(const size_t *)quantity;
        return *(const void *const *const *)at;
    }
    /* a oneof stores which one of its fields is set; if that is not f, then f has no value */
    bool other =
        (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 && *(const uint32_t *)quantity != f->id;
    *n = other || *(const void *const *)at == NULL ? 0 : 1;
    return (const void *const *)at;
}

const ProtobufCMessage *walk_next(struct walk *w)
{
    if (w->n == 0)
        return NULL;
    const ProtobufCMessage *x = w->stack[--w->n];
    for (unsigned i = 0; i < x->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &x->descriptor->fields[i];
        size_t n;
        if (f->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        const void *const *list = walk_field(x, f, &n);
        w->stack = vec_grow(w->a, w->stack, &w->cap, w->n + (uint32_t)n, sizeof *w->stack);
        for (size_t j = n; j-- > 0;)
            if (list[j] != NULL)
                w->stack[w->n++] = list[j];
    }
    return x;
}
