/* Whether two values of an engine are the same, bit by bit, or within rounding. */
#ifndef PCC_TOOLS_RUN_SAME_H
#define PCC_TOOLS_RUN_SAME_H

#include "tools/run/engine.h"

/* Two values are equal within rounding if they differ by at most this share of the reference's largest absolute
 * value. */
#define SAME_TOLERANCE 1e-2

/* How two values differ. */
struct difference {
    bool bits;   /* types, shapes and all bits are equal */
    bool near;   /* the values are equal, or equal within rounding */
    bool floats; /* the values differ only in finite floats */
    /* worst / largest; of a list, the most over its tensors; INFINITY: `largest` is 0 */
    double share;
    double worst;   /* largest difference of two finite elements */
    double largest; /* largest absolute value of a finite element of the reference */
    char text[200]; /* words for what differs; "" if nothing does */
};

/* Compares a value with the reference: tensors, sequences and maps; NULL: an optional value that is not there. */
void same_compare(struct engine *e, struct engine_value *reference, struct engine_value *found,
                  struct difference *out);

#endif
