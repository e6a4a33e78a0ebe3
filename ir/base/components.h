/* Strongly connected components of a directed graph. */
#ifndef PCC_IR_BASE_COMPONENTS_H
#define PCC_IR_BASE_COMPONENTS_H

#include "ir/base/csr.h"

/* comp[vertex] in [0, n), n being returned: equal for two of `vertices` if each is reached from the other over the
 * edges (row v: where edges from v lead), and no edge leads to a larger one.  The rest lives in a for a while.
 * O(vertices + edges). */
uint32_t components(const struct csr *edge, uint32_t vertices, uint32_t *comp, struct arena *a);

#endif
