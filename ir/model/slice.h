/* Reads tensors of kind TENSOR_SLICE: finds where the bytes of a slice are in its base, the tensor of which it is a
 * part. */
#ifndef PCC_IR_MODEL_SLICE_H
#define PCC_IR_MODEL_SLICE_H

#include "ir/model/module.h"

/* A run of bytes in the payload of the base: len bytes from byte `at` on. */
struct run {
    uint64_t at, len;
};

/* A walk over the bytes of a slice as runs of the base.  A row has the elements that agree in all dimensions before
 * the axis. */
struct slice_walk {
    const struct module *m;
    tid t;                  /* the slice */
    uint64_t inner;         /* bits from one position along the axis to the next */
    uint64_t row, base_row; /* bytes of a row of the slice, and of the base */
    uint64_t outer;         /* current row */
    /* current range: index of its start in the slice's list of ranges (two entries each) */
    uint32_t i;
    uint64_t skip;   /* bytes to leave out before the next run */
    uint64_t left;   /* bytes of the slice that are still to come */
    struct run held; /* a run that was found but not returned yet; len 0: none */
};

/* Returns a walk over slice t of a module that module_verify() accepted.  The caller must call slice_seek() next. */
struct slice_walk slice_walk(const struct module *m, tid t);
/* Moves the walk to byte `at` of the slice; slice_next() then returns the runs from there to the slice's end. */
void slice_seek(struct slice_walk *w, uint64_t at);
/* Writes the next run, as long as possible, to *out.  Returns false if there is none. */
bool slice_next(struct slice_walk *w, struct run *out);

/* Copies n bytes of slice t, from its byte off on, to buf; they must lie in the slice.  Returns 0 or -1, as
 * tensor_read() does. */
int slice_read(const struct module *m, tid t, uint64_t off, void *buf, size_t n);

#endif
