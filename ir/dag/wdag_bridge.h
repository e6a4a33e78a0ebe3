/* Makes, for lower bounds, new nets for a graph that some vertices will be taken out of.  The new nets charge no device
 * more than the old nets did. */
#ifndef PCC_IR_DAG_WDAG_BRIDGE_H
#define PCC_IR_DAG_WDAG_BRIDGE_H

#include "ir/dag/wdag.h"

/* Returns g with other nets, none of which has a pin on a vertex v with out[v] != 0.  On whatever devices these
 * vertices are, no device pays more for transfers than in g (a net with one pin, and none on the host, costs
 * nothing).  All other fields are shared with g, but net_of is empty.  If the cluster has groups of devices
 * (g->net_inner), returns g itself.  The new nets live in a.  O(pins * 64). */
const struct wdag *wdag_bridge_nets(const struct wdag *g, const uint8_t *out, struct arena *a);

#endif
