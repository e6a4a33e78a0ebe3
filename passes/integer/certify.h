/* Better lower bounds for plans of any shape, by integer programs. */
#ifndef PCC_PASSES_INTEGER_CERTIFY_H
#define PCC_PASSES_INTEGER_CERTIFY_H

#include "passes/bounds/bounds.h"

/* The lower bound b of plans of c of any shape, raised until it is within `part` (in millionths) of `upper`, the
 * value of a plan, or the clock is out: a solver is asked for plans below some value, and proves that there are
 * none. c must not be `detailed`.  Does nothing if the clock has no deadline, since nothing else would stop a
 * solver: with->work does not count. */
struct bound ip_certify(const struct problem *c, struct bound b, int64_t upper, int64_t part,
                        const struct bound_means *with);

#endif
