/* Better lower bounds for plans of any shape, by integer programs. */
#ifndef PCC_PASSES_INTEGER_CERTIFY_H
#define PCC_PASSES_INTEGER_CERTIFY_H

#include "passes/bounds/bounds.h"

/* Raises *b, a lower bound of plans of c of any shape, until it is within `part` (in millionths) of `upper`, the
 * value of a plan, or the clock is out: a solver is asked for plans below some value, and proves that there are
 * none. c must not be `detailed`.  Text lives in mem.  Does nothing if the clock has no deadline, since nothing else
 * would stop a solver. */
void certify(const struct problem *c, int64_t upper, int64_t part, struct clock *clock,
             struct bound *b, struct arena *mem, struct arena *scratch);

#endif
