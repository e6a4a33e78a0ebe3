/* Visits a protobuf message and all messages below it, without recursion. */
#ifndef PCC_BACKENDS_ONNX_WALK_H
#define PCC_BACKENDS_ONNX_WALK_H

#include "ir/base/arena.h"

#include "onnx.pb-c.h"

/* A walk through a message and the messages below it. */
struct walk {
    struct arena *a;
    const ProtobufCMessage **stack; /* [n] messages that are still to be visited */
    uint32_t n, cap;
};

/* Returns a walk that begins with root; it lives in a. */
struct walk walk_begin(const ProtobufCMessage *root, struct arena *a);
/* Returns the next message, each before the messages below it; NULL: there are no more.  O(number of its fields +
 * messages directly below it). */
const ProtobufCMessage *walk_next(struct walk *w);
/* Returns the values of field f of message x, [*n] pointers; *n is 0 if the field is not set.  f must be of a type that
 * is a pointer in C: string or message. */
const void *const *walk_field(const ProtobufCMessage *x, const ProtobufCFieldDescriptor *f,
                              size_t *n);

#endif
