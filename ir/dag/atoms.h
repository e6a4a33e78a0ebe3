/* Atoms: groups of placed nodes that must stay in the same part. */
#ifndef PCC_IR_DAG_ATOMS_H
#define PCC_IR_DAG_ATOMS_H

#include "ir/dag/placeable.h"

/* Returns the edges between groups of placed nodes: row x holds the groups that read results of group x, a group once
 * for each of its nodes and each net that the node reads.  group[node]: number of the node's group, below m->nnode.
 * Lives in a. */
struct csr group_edges(const struct module *m, const struct place *p, const uint32_t *group,
                       struct arena *a);
/* Fills p->atom: nodes of a pair SAME_TYPE in p->same are in one atom, and so are the nodes on a cycle through an atom;
 * for these it adds pairs to p->same.  p must have its nets, p->atom must be NULL.  If p->same has no pair SAME_TYPE,
 * p->atom stays NULL.  Lives in a.  O(nodes + pins). */
void atoms_find(const struct module *m, struct place *p, struct arena *a);

#endif
