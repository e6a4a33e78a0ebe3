/* Maximum flows. */
#ifndef PCC_IR_BASE_MAX_FLOW_H
#define PCC_IR_BASE_MAX_FLOW_H

#include "ir/base/arena.h"

#include <stdint.h>

#define FLOW_INF (INT64_C(1) << 61)

struct flow {
    struct arena *mem;
    uint32_t nnode, narc;  /* arcs come in pairs: arc ^ 1 is the reverse of arc */
    uint32_t *head, *next; /* [node], [arc]: 1 + arc, 0: none */
    uint32_t *to;          /* [arc] */
    int64_t *room;         /* [arc] capacity that is left */
};

/* A network of nnode nodes with room for `most` calls of flow_arc.  Lives in a. */
struct flow flow_new(uint32_t nnode, uint32_t most, struct arena *a);
/* An arc of capacity c, 0 <= c <= FLOW_INF. */
void flow_arc(struct flow *f, uint32_t from, uint32_t to, int64_t c);
/* The largest flow from s to t, or what had been found when *work arcs had been looked at (*work is
 * lowered).  A cut of finite capacity must exist, and what leaves s add up to less than 2^62.
 * Dinic's algorithm, O(V^2 E) at worst. */
int64_t flow_max(struct flow *f, uint32_t s, uint32_t t, uint64_t *work);
/* [node] 1 on the side of s of the minimum cut that a largest flow from s leaves, the smallest such side.  Lives with
 * the network. */
uint8_t *flow_side(const struct flow *f, uint32_t s);

#endif
