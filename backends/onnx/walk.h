/* All messages below a message, without recursion. */
#ifndef PCC_BACKENDS_ONNX_WALK_H
#define PCC_BACKENDS_ONNX_WALK_H

#include "ir/base/arena.h"

#include "onnx.pb-c.h"

struct walk {
    struct arena *a;
    const ProtobufCMessage **stack; /* still to come */
    uint32_t n, cap;
};

/* A walk that begins with root; lives in a. */
struct walk walk_begin(const ProtobufCMessage *root, struct arena *a);
/* The next message, each before those below it; NULL: there are no more.  O(fields of its kind + messages below). */
const ProtobufCMessage *walk_next(struct walk *w);
/* The values of a field that is there, of a type that is a pointer: *n of them. */
const void *const *walk_field(const ProtobufCMessage *x, const ProtobufCFieldDescriptor *f,
                              size_t *n);

#endif
