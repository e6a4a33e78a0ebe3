/* Hops: the ways of a step's values from device to device, their times, and the lanes that they hold (exec_model.h:
 * network and contention). */
#ifndef PCC_IR_EXEC_HOPS_H
#define PCC_IR_EXEC_HOPS_H

#include "ir/base/map.h"
#include "ir/dag/scene.h"
#include "ir/exec/tasks.h"

/* A device as an end of hops: all devices of host classes are one end, number ndev. */
struct end {
    uint32_t at, cls, group;
};

struct hops {
    const struct scene *of;
    uint32_t host;   /* ndev: what stands for the host among devices */
    struct end *end; /* [dev] */
    uint32_t nlane;  /* so far; 0 .. ndev - 1 compute */
    struct map link; /* map_key(from, to): lane + 1; CONTENTION_LINK only */
    struct arena *a; /* of link */
};

/* The hops of a scene, with no lanes of links yet; lives in a.  O(D). */
struct hops hops_of(const struct scene *of, struct arena *a);
/* The end from which a value that is made at `home` comes to `to` in one hop: home, or the host. */
uint32_t hop_before(const struct hops *h, uint32_t home, uint32_t to);
/* Whether the maker and all readers of a net are on one group of devices.  O(pins). */
bool hops_stay_inside(const struct hops *h, const int32_t *dev, uint32_t net);
/* The task of a hop of the net's value (kinds: single_step.h), one end of which at most is the host.  inner: over the
 * host, but within one group.  O(1). */
struct task hop_make(struct hops *h, uint32_t net, uint32_t from, uint32_t to, bool inner);

#endif
