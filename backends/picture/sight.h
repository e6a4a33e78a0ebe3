/* The nodes that a picture of some shows. */
#ifndef PCC_BACKENDS_PICTURE_SIGHT_H
#define PCC_BACKENDS_PICTURE_SIGHT_H

#include "backends/backends.h"

/* *shown: [node] not 0: placed in the part of this number ("": any), and at most K arrows, in either direction, from
 * the node that around names, "NODE:K" ("NODE": 2; "": any).  -1 and an error: there is no such part or node, or it is
 * in another part.  Lives in
 * a.  O(nodes + K * pins). */
int sight_find(const struct result *r, const char *part, const char *around, const uint8_t **shown,
               struct arena *a);

#endif
