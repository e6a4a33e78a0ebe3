/* The problem of problem.h turned round. */
#ifndef PCC_PASSES_PROBLEM_REVERSED_H
#define PCC_PASSES_PROBLEM_REVERSED_H

#include "passes/problem/problem.h"

/* c with every edge reversed; vertex v is n - 1 - v.  A set of vertices costs what it costs in c, and the
 * chains of ideals are those of c from the other end; devices are given from that end, too, so that a
 * plan dev[] of it is the plan dev[n - 1 - v] of c.  What hangs on nets is shared with c.  Lives in a.
 * O(kinds * V + E + pins). */
struct problem *problem_mirror(const struct problem *c, struct arena *a);

#endif
