/* Strongly connected components of a directed graph. */
#ifndef PCC_IR_BASE_COMPONENTS_H
#define PCC_IR_BASE_COMPONENTS_H

#include "ir/base/csr.h"

/* Writes comp[vertex], its component, and returns their number: two vertices have the same one if each can be
 * reached from the other.  edge: row v holds the ends of the edges from v.  No edge leads to a component of a larger
 * number.  Scratch in a, released at the end.  O(vertices + edges). */
uint32_t csr_components(const struct csr *edge, uint32_t vertices, uint32_t *comp, struct arena *a);

#endif
