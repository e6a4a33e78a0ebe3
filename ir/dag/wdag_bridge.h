/* For lower bounds: nets of a graph without some vertices, which charge the remaining vertices no more than they must
 * pay. */
#ifndef PCC_IR_DAG_WDAG_BRIDGE_H
#define PCC_IR_DAG_WDAG_BRIDGE_H

#include "ir/dag/wdag.h"

/* g with other nets, none of which has a pin among the vertices v with out[v] != 0.  Wherever these vertices are, no
 * device pays more for transfers than in g (a net of one pin and no host costs nothing).  The rest is shared with g;
 * net_of is not made.  If the cluster has groups of devices, returns g itself.  Lives in a.  O(pins * 64). */
const struct wdag *wdag_bridge_nets(const struct wdag *g, const uint8_t *out, struct arena *a);

#endif
