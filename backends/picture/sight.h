/* Finds the nodes that a picture shows if it shows only some (--part, --around). */
#ifndef PCC_BACKENDS_PICTURE_SIGHT_H
#define PCC_BACKENDS_PICTURE_SIGHT_H

#include "backends/backends.h"

/* Sets *shown to an array, in a: [node] not 0: the node is shown.  part: number of a part, whose nodes are shown; "":
 * all parts.  around: "NODE:K": nodes at most K arrows away from NODE, a name or a path (ir/model/path.h), in either
 * direction, are shown ("NODE": K is 2); "": all nodes.  Returns 0; -1 and an error: there is no such part or node,
 * or NODE is in another part.  O(nodes + K * pins). */
int sight_find(const struct result *r, const char *part, const char *around, const uint8_t **shown,
               struct arena *a);

#endif
