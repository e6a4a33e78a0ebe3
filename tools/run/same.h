/* Whether two values of an engine are the same, bit by bit, or within rounding. */
#ifndef PCC_TOOLS_RUN_SAME_H
#define PCC_TOOLS_RUN_SAME_H

#include "tools/run/engine.h"

/* Values within rounding differ by at most this share of the largest absolute value of the reference. */
#define SAME_TOLERANCE 1e-2

/* How two values differ. */
struct difference {
    bool bits;    /* they are equal, bit by bit, with types and shapes */
    bool near;    /* they are equal, or within rounding */
    bool floats;  /* finite floats are all that differs */
    double share; /* worst / largest of a tensor, the most over tensors of a list; INFINITY: of 0 */
    double worst; /* largest difference of two finite elements */
    double largest; /* largest absolute value of a finite element of the reference */
    char text[200]; /* what differs, for people; "" if nothing does */
};

/* Compares a value with the reference: tensors, sequences and maps; NULL: an optional value that is not there. */
void same_compare(struct engine *e, struct engine_value *reference, struct engine_value *found,
                  struct difference *out);

#endif
