/* Lower bounds on the time per sample of every plan, contiguous or not, with arguments that can be
 * checked by hand. */
#ifndef PCC_PASSES_BOUNDS_H
#define PCC_PASSES_BOUNDS_H

#include "passes/chain.h"

struct bound {
    int64_t value;     /* ps: no plan of any shape takes less */
    const char *why;   /* "average load": for one line */
    const char *proof; /* lines for --explain-bound, each ends in a newline */
};

#endif
