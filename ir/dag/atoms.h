/* Placed nodes that no cut may part. */
#ifndef PCC_IR_DAG_ATOMS_H
#define PCC_IR_DAG_ATOMS_H

#include "ir/dag/placeable.h"

/* Fills p->atom from the pairs SAME_TYPE of p->same and adds pairs for the cycles that they close.  The nets of
 * p must be there.  Nothing if there are no such pairs.  O(nodes + pins). */
void atoms_find(const struct module *m, struct place *p, struct arena *a);

#endif
