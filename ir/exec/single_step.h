/* One sample through a plan, node by node: what runs when, if every node starts as soon as its values are there. */
#ifndef PCC_IR_EXEC_SINGLE_STEP_H
#define PCC_IR_EXEC_SINGLE_STEP_H

#include "ir/cluster/cluster.h"
#include "ir/dag/placeable.h"
#include "ir/exec/events.h"

/* How a value gets from device to device.  DIRECT: in one hop, over the link of the device that made it.  HOST:
 * out over the link of that device, once, then in over the link of each device that reads it.  Within a
 * group all hops take the inner link; between the host and a device there is one hop always; between devices
 * of host classes a value is there at once. */
enum network { NETWORK_DIRECT, NETWORK_HOST, NETWORKS };

/* What a hop holds while it lasts.  NONE: nothing.  LINK: the way from one device to the other.  PORT: the out-port
 * of the sender and the in-port of the receiver.  HALF: the one channel of each.  RX: what the receiver takes in
 * by.  BLOCKING: the computing lanes of both; DIRECT only.  The host holds nothing. */
enum contention {
    CONTENTION_NONE,
    CONTENTION_LINK,
    CONTENTION_PORT,
    CONTENTION_HALF,
    CONTENTION_RX,
    CONTENTION_BLOCKING,
    CONTENTIONS
};

/* Who is next on a device: by the plan's order, by becoming ready, or by the longest way to the end. */
enum dispatch { DISPATCH_PLAN, DISPATCH_FIFO, DISPATCH_LEVEL, DISPATCHES };

struct step_model {
    enum network network;
    enum contention contention;
    enum dispatch dispatch;
};

/* Kinds of tasks.  number of COMPUTE: its node; of the others: the net.  A hop goes between the ports of devices:
 * lane says which; MOVE: a hop from device to device; OUT, IN: to and from the host. */
enum step_kind { STEP_COMPUTE, STEP_MOVE, STEP_OUT, STEP_IN };

/* The tasks of one step of m, whose nodes dev[] places where they can run.  rank[node]: the plan's order, each device
 * takes its nodes by it, equal ones by number; NULL: by number, which is a topological order.  Lanes 0 .. ndev - 1
 * compute.  Memory: values by their buffers, on the device that makes them and on each that reads them; what
 * lasts is `lasting` of the caller.  Numbered; lives in a.  O(nodes + pins + D^2), sorting apart. */
struct task_graph single_step(const struct module *m, const struct place *p,
                              const struct cluster *c, const int32_t *dev, const uint32_t *rank,
                              const struct step_model *s, struct arena *a);

extern const char *const network_name[], *const contention_name[], *const dispatch_name[];

#endif
