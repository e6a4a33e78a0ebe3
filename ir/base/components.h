/* Strongly connected components of a directed graph. */
#ifndef PCC_IR_BASE_COMPONENTS_H
#define PCC_IR_BASE_COMPONENTS_H

#include "ir/base/csr.h"

/* Writes the number of each vertex's component to comp[vertex] and returns the number of components.  Two vertices
 * are in the same component if each can be reached from the other.  edge: row v holds the ends of the edges from v.
 * Components are numbered so that no edge leads to a component with a larger number.  Scratch memory is taken from a
 * and released.  O(vertices + edges). */
uint32_t csr_components(const struct csr *edge, uint32_t vertices, uint32_t *comp, struct arena *a);

#endif
