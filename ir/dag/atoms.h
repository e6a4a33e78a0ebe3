/* Atoms: groups of placed nodes that must stay in the same part. */
#ifndef PCC_IR_DAG_ATOMS_H
#define PCC_IR_DAG_ATOMS_H

#include "ir/dag/placeable.h"

/* Edges between groups of placed nodes, group[node] being that of a node: one for each pin of a net whose maker is in
 * another group. */
struct csr group_edges(const struct module *m, const struct place *p, const uint32_t *group,
                       struct arena *a);
/* Fills p->atom from the pairs SAME_TYPE of p->same, and adds pairs for nodes on cycles through atoms.  p must have
 * its nets.  Does nothing if there are no such pairs.  O(nodes + pins). */
void atoms_find(const struct module *m, struct place *p, struct arena *a);

#endif
