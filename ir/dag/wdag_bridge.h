/* Nets over vertices that are left out. */
#ifndef PCC_IR_DAG_WDAG_BRIDGE_H
#define PCC_IR_DAG_WDAG_BRIDGE_H

#include "ir/dag/wdag.h"

/* g with other nets, which have no pins among the vertices v of out[v] != 0: whatever devices these are on, no
 * device pays more for transfers than in g (a net of one pin and no host costs nothing).  All else is g's; net_of
 * is not made.  With groups of devices: g itself.  Lives in a.  O(pins * 64). */
const struct wdag *wdag_bridge_nets(const struct wdag *g, const uint8_t *out, struct arena *a);

#endif
