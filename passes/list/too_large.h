/* Nodes too large for every device, so that no plan fits. */
#ifndef PCC_PASSES_LIST_TOO_LARGE_H
#define PCC_PASSES_LIST_TOO_LARGE_H

#include "passes/passes.h"

/* "'a' needs 30 B, and no device that can run it has more than 20 B", of the first node, or of all that must be where
 * it is; NULL: none is known to be.  Lives in a.  O(V + pins). */
const char *list_too_large(const struct ctx *x, struct arena *a);

#endif
