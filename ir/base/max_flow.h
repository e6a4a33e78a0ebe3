/* Computes maximum flows in directed networks, and the minimum cuts that belong to them. */
#ifndef PCC_IR_BASE_MAX_FLOW_H
#define PCC_IR_BASE_MAX_FLOW_H

#include "ir/base/arena.h"

#include <stdint.h>

#define FLOW_INF (INT64_C(1) << 61) /* capacity of an arc that no minimum cut may contain */

/* A network and the flow in it.  Each call of flow_arc() makes two arcs: arc ^ 1 is the reverse of arc. */
struct flow {
    struct arena *mem;
    uint32_t nnode, narc;
    uint32_t *head; /* [node] 1 + the first arc that starts at the node; 0: none */
    uint32_t *next; /* [arc] 1 + the next arc that starts at the same node; 0: none */
    uint32_t *to;   /* [arc] node where the arc ends */
    int64_t *room;  /* [arc] remaining capacity */
};

/* Returns a network of nnode nodes without arcs, in a.  flow_arc() may be called `most` times. */
struct flow flow_new(uint32_t nnode, uint32_t most, struct arena *a);
/* Adds an arc of capacity c, 0 <= c <= FLOW_INF, and its reverse of capacity 0. */
void flow_arc(struct flow *f, uint32_t from, uint32_t to, int64_t c);
/* Sends the maximum flow from node s to node t and returns its value.  Stops early when *work arcs have been looked at,
 * and returns the value of the flow so far; *work is lowered by the number of arcs looked at.  A cut of finite capacity
 * must exist, and the capacities of the arcs from s must add up to less than 2^62.  Dinic's algorithm, O(V^2 E) at
 * worst. */
int64_t flow_max(struct flow *f, uint32_t s, uint32_t t, uint64_t *work);
/* To be called after flow_max() has found the maximum. Returns an array: [node] 1 if the node is on s's side of the
 * minimum cut, else 0. Of several minimum cuts takes the one with the fewest nodes on s's side. The array lives as long
 * as the network. */
uint8_t *flow_side(const struct flow *f, uint32_t s);

#endif
