/* Turns a problem (problem.h) round: edges lead the other way. */
#ifndef PCC_PASSES_PROBLEM_REVERSED_H
#define PCC_PASSES_PROBLEM_REVERSED_H

#include "passes/problem/problem.h"

/* Returns c with every edge reversed; vertex v of c has the number n - 1 - v there.  A set of vertices costs as much as
 * in c, and a chain of ideals is a chain of c read from its other end.  problem_assign gives out devices from that end,
 * too: so for a plan dev[] of the result, dev[n - 1 - v] is the device of vertex v in c.  Costs of nets are shared with
 * c.  Lives in a.  O(kinds * V + E + pins). */
struct problem *problem_mirror(const struct problem *c, struct arena *a);

#endif
