/* Edges of the model that the user wants to be cut (--cut-at) or not to be cut (--no-cut), by the paths of their
 * nodes. */
#ifndef PCC_PASSES_COARSEN_CUT_RULES_H
#define PCC_PASSES_COARSEN_CUT_RULES_H

#include "passes/passes.h"

/* Finds the edges that the user's rules are about: fills scene.place->ruled, and `apart` of the base level and of the
 * top level, which is the base level or a subdivided one.  To be called when it is known which nodes are backward.
 * Rules without such edges give a warning.  If two rules, or a rule and a pin, contradict each other, reports an
 * error, sets results.misused and returns -1; else returns 0.  O((nodes + edges) * rules). */
int cut_rules_apply(struct ctx *x);

#endif
