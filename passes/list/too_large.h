/* Finds nodes that are too large for every device, so that no plan fits. */
#ifndef PCC_PASSES_LIST_TOO_LARGE_H
#define PCC_PASSES_LIST_TOO_LARGE_H

#include "passes/passes.h"

/* Returns a message such as "'a' needs 30 B, and no device that can run it has more than 20 B" about the first node
 * that is too large, alone or together with the nodes that must share its device; NULL: no such node is found.  Lives
 * in a.  O(V + pins). */
const char *list_too_large(const struct ctx *x, struct arena *a);

#endif
