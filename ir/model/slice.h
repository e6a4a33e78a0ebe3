/* The bytes that a tensor of kind TENSOR_SLICE is. */
#ifndef PCC_IR_MODEL_SLICE_H
#define PCC_IR_MODEL_SLICE_H

#include "ir/model/module.h"

/* len bytes of the other tensor's payload, from byte `at` on. */
struct run {
    uint64_t at, len;
};

/* A walk over the runs of a slice. */
struct slice_walk {
    const struct module *m;
    tid t;
    uint64_t inner;         /* bits of a step along the axis */
    uint64_t row, base_row; /* bytes of a row of the slice, and of the other tensor */
    uint64_t outer;         /* row at hand */
    uint32_t i;             /* range at hand, in entries */
    uint64_t skip;          /* bytes to leave out before the next run */
    uint64_t left;          /* bytes that are still to come */
    struct run held;
};

/* A walk over slice t of a module that was verified; slice_seek() comes next. */
struct slice_walk slice_walk(const struct module *m, tid t);
/* Goes to byte `at` of the slice; runs up to its end follow. */
void slice_seek(struct slice_walk *w, uint64_t at);
/* The next run, longest possible; false: there is none. */
bool slice_next(struct slice_walk *w, struct run *out);

/* tensor_read() of a slice; the bytes asked for lie in it. */
int slice_read(const struct module *m, tid t, uint64_t off, void *buf, size_t n);

#endif
