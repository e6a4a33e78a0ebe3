/* Better lower bounds for plans of any shape, by integer programs. */
#ifndef PCC_PASSES_INTEGER_CERTIFY_H
#define PCC_PASSES_INTEGER_CERTIFY_H

#include "passes/bounds/bounds.h"

/* Raises *b, a bound of plans of c of any shape, until the clock is out or it is within `part` (in millionths)
 * of `upper`, the value of a plan: solvers are asked for plans of the reduction below some value and find none.
 * c must not be `detailed`.  Text lives in mem.  Without a deadline it does nothing:
 * no other limit would stop a solver in time. */
void certify(const struct problem *c, int64_t upper, int64_t part, struct clock *clock,
             struct bound *b, struct arena *mem, struct arena *scratch);

#endif
