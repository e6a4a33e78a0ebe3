/* Nets of a graph without some vertices, for lower bounds: what those that are left must still pay. */
#ifndef PCC_IR_DAG_WDAG_BRIDGE_H
#define PCC_IR_DAG_WDAG_BRIDGE_H

#include "ir/dag/wdag.h"

/* g with other nets, none of which has a pin among the vertices v with out[v] != 0.  Wherever these vertices are, no
 * device pays more for transfers than in g (a net of one pin and no host costs nothing).  All else is g's; net_of is
 * not made.  If the cluster has groups of devices: g itself.  Lives in a.  O(pins * 64). */
const struct wdag *wdag_bridge_nets(const struct wdag *g, const uint8_t *out, struct arena *a);

#endif
