/* Raises lower bounds for plans of any shape, by integer programs. */
#ifndef PCC_PASSES_INTEGER_CERTIFY_H
#define PCC_PASSES_INTEGER_CERTIFY_H

#include "passes/bounds/bounds.h"

/* Raises b, a lower bound of plans of c of any shape, and returns it: asks a solver, again and again, to prove that no
 * plan is below some value.  Ends when the bound is within `part` millionths of `upper`, the value of a plan, or the
 * clock is out.  c must not be `detailed`.  Returns b as it is if the clock has no deadline, since nothing else would
 * stop a solver: with->work does not count its work. */
struct bound ip_certify(const struct problem *c, struct bound b, int64_t upper, int64_t part,
                        const struct bound_means *with);

#endif
