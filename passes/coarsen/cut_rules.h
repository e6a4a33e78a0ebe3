/* Cuts by path: what the user says of edges, --cut-at and --no-cut. */
#ifndef PCC_PASSES_COARSEN_CUT_RULES_H
#define PCC_PASSES_COARSEN_CUT_RULES_H

#include "passes/passes.h"

/* Finds the edges that the user's rules are about: fills scene.place->ruled, and `apart` of the base level and of the
 * top level, which is the base level or a subdivided one.  To be called when it is known which nodes are backward.
 * Rules without such edges give a warning.  Returns 0; or -1, an error and results.misused if two rules, or a rule
 * and a pin, contradict each other.  O((nodes + edges) * rules). */
int cut_rules_apply(struct ctx *x);

#endif
