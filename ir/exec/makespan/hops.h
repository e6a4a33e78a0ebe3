/* Hops: single transfers of a value, from one device to another or between a device and the host, during a step (one
 * sample alone, single_step.h).  The scene's model.step.network says which hops a value takes, model.step.contention
 * which lanes a hop holds (exec_model.h). */
#ifndef PCC_IR_EXEC_HOPS_H
#define PCC_IR_EXEC_HOPS_H

#include "ir/base/map.h"
#include "ir/dag/scene.h"
#include "ir/exec/tasks.h"

/* What hops need to know of a device. */
struct end {
    /* number that hops know it by: its device number; for all devices of host classes ndev */
    uint32_t at;
    uint32_t cls;   /* class of the device */
    uint32_t group; /* group of the device: cluster_group() */
};

/* What hops between the devices of a scene are made from. */
struct hops {
    const struct scene *of;
    uint32_t host;   /* ndev: the number that hops know the host by */
    struct end *end; /* [dev] what hops need to know of the device */
    uint32_t nlane;  /* number of lanes so far; the lanes 0 .. ndev - 1 are for computing */
    /* CONTENTION_LINK only: map_key(from, to) -> 1 + the lane of hops between these ends */
    struct map link;
    struct arena *a; /* memory of `link` */
};

/* Returns the state from which hops of a scene are made; lanes of links are added by hop_make().  Lives in a.
 * O(devices). */
struct hops hops_of(const struct scene *of, struct arena *a);
/* Returns the end from which the last hop of a value to the end `to` begins: `home`, where the value is made, or the
 * host if the value goes from device to device over the host. */
uint32_t hop_before(const struct hops *h, uint32_t home, uint32_t to);
/* Whether the maker and all readers of a net, which are on the devices dev[node], are in one group of devices, and the
 * host does not use the net.  O(pins of the net). */
bool hops_stay_inside(const struct hops *h, const int32_t *dev, uint32_t net);
/* Returns the task of the hop of a net's value between two ends (kind: enum step_kind); at most one of them is the
 * host.  inner: whether a hop to or from the host takes the time of the link within a group.  O(1). */
struct task hop_make(struct hops *h, uint32_t net, uint32_t from, uint32_t to, bool inner);

#endif
