/* One sample through a plan, node by node: what runs when, if every node starts as soon as its values are there. */
#ifndef PCC_IR_EXEC_SINGLE_STEP_H
#define PCC_IR_EXEC_SINGLE_STEP_H

#include "ir/dag/scene.h"
#include "ir/exec/events.h"

/* How a value gets from device to device.  DIRECT: in one hop, over the link of the device that made it, or over its
 * inner link if both devices are of one group.  HOST: out over the link of that device, once, then in over the link
 * of each device that reads it; over the inner links if all that have to do with the value are of one group.
 * Between the host and a device there is one hop always, over the device's link; between devices of host classes a
 * value is there at once. */
enum network { NETWORK_DIRECT, NETWORK_HOST, NETWORKS };

/* What a hop holds while it lasts.  NONE: nothing.  LINK: the way from one device (or the host) to the other.  PORT:
 * the out-port of the sender and the in-port of the receiver.  HALF: the one channel of each.  RX: what the receiver
 * takes in by.  BLOCKING: the computing lanes of both; DIRECT only.  The host holds nothing but a way.  Hops are
 * served as they become ready; of those that did at once by number of the net, then in the order of the first nodes
 * that read there (a model's output goes out last). */
enum contention {
    CONTENTION_NONE,
    CONTENTION_LINK,
    CONTENTION_PORT,
    CONTENTION_HALF,
    CONTENTION_RX,
    CONTENTION_BLOCKING,
    CONTENTIONS
};

/* Who is next on a device: by the plan's order, by becoming ready, or by the longest way to the end, hops included;
 * equal nodes by number. */
enum dispatch { DISPATCH_PLAN, DISPATCH_FIFO, DISPATCH_LEVEL, DISPATCHES };

struct step_model {
    enum network network;
    enum contention contention;
    enum dispatch dispatch;
};

/* Kinds of tasks.  number of COMPUTE: its node; of the others: the net.  A hop goes between the ports of devices:
 * lane says which; MOVE: a hop from device to device; OUT, IN: to and from the host. */
enum step_kind { STEP_COMPUTE, STEP_MOVE, STEP_OUT, STEP_IN };

/* The tasks of one step of a scene, whose nodes dev[] places where they can run.  rank[node]: the plan's order; NULL:
 * by number, which is a topological order.  Lanes 0 .. ndev - 1 compute; the first tasks are the nodes' in order.
 *
 * Memory: a value, from the start of what makes it or brings it until its last use there (hops are uses, too); what a
 * node needs beside its results (costs.own), while it runs.  A model's output stays where it is made unless it goes
 * out.  The host's memory has a value once, charged to the device that makes it or the first one that reads it; what
 * is there from the beginning is not counted.  What lasts is `lasting` of the caller.
 *
 * Numbered; lives in a.  O(nodes + pins + D^2), sorting apart. */
struct task_graph single_step(const struct scene *of, const int32_t *dev, const uint32_t *rank,
                              const struct step_model *s, struct arena *a);

extern const char *const network_name[], *const contention_name[], *const dispatch_name[];

#endif
