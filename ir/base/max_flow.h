/* Maximum flows. */
#ifndef PCC_IR_BASE_MAX_FLOW_H
#define PCC_IR_BASE_MAX_FLOW_H

#include "ir/base/arena.h"

#include <stdint.h>

#define FLOW_INF (INT64_C(1) << 61)

struct flow {
    struct arena *mem;
    uint32_t nnode, narc; /* narc: arcs come in pairs, arc ^ 1 is the reverse of arc */
    /* [node] its first arc, [arc] the next one of the same node: 1 + arc, 0: none */
    uint32_t *head, *next;
    uint32_t *to;  /* [arc] */
    int64_t *room; /* [arc] remaining capacity */
};

/* A network of nnode nodes with room for `most` calls of flow_arc.  Lives in a. */
struct flow flow_new(uint32_t nnode, uint32_t most, struct arena *a);
/* Adds an arc of capacity c, 0 <= c <= FLOW_INF. */
void flow_arc(struct flow *f, uint32_t from, uint32_t to, int64_t c);
/* Sends the largest flow from s to t; returns its value, or that of the flow found until *work arcs had been looked
 * at (*work is lowered to what is left).  A cut of finite capacity must exist, and the capacities of the arcs from s
 * must add up to less than 2^62. Dinic's algorithm, O(V^2 E) at worst. */
int64_t flow_max(struct flow *f, uint32_t s, uint32_t t, uint64_t *work);
/* After a largest flow: [node] 1 if it is on s's side of the minimum cut, the one with the smallest such side.
 * Lives with the network. */
uint8_t *flow_side(const struct flow *f, uint32_t s);

#endif
