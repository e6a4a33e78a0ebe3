/* Cuts by path: what the user says of edges, --cut-at and --no-cut. */
#ifndef PCC_PASSES_COARSEN_CUT_RULES_H
#define PCC_PASSES_COARSEN_CUT_RULES_H

#include "passes/passes.h"

/* Finds the edges that the user's rules are about: fills scene.place->ruled, and `apart` of the base level.  Rules
 * without such edges give a warning.  Returns 0; or -1, an error and results.misused if two rules, or a rule and a
 * pin, contradict each other.  O((nodes + edges) * rules). */
int cut_rules_apply(struct ctx *x);

/* Drops edges that were to be cut but now have a backward node, or two nodes that must share a device: to be called
 * when a pass has found such nodes.  O(V + edges). */
void cut_rules_refresh(struct ctx *x);

#endif
