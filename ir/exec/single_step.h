/* One sample through a plan, node by node: what runs when, if every node starts as soon as its values are there. */
#ifndef PCC_IR_EXEC_SINGLE_STEP_H
#define PCC_IR_EXEC_SINGLE_STEP_H

#include "ir/dag/scene.h"
#include "ir/exec/events.h"

/* Kinds of tasks.  number of COMPUTE: its node; of the others: the net.  A hop goes between the ports of devices:
 * lane says which; MOVE: a hop from device to device; OUT, IN: to and from the host.  dev: from where to where, of OUT
 * and IN the device twice. */
enum step_kind { STEP_COMPUTE, STEP_MOVE, STEP_OUT, STEP_IN };

/* The tasks of one step of a scene, whose nodes dev[] places where they can run.  rank[node]: the plan's order; NULL:
 * by number, which is a topological order.  Lanes 0 .. ndev - 1 compute; the first tasks are the nodes' in order.
 *
 * Hops are served as they become ready; of those that did at once by number of the net, then in the order of the
 * first nodes that read there (a model's output goes out last).
 *
 * Memory: a value, from the start of what makes it or brings it until its last use there (hops are uses, too); what a
 * node needs beside its results (costs.own), while it runs.  A model's output stays where it is made unless it goes
 * out.  The host's memory has a value once, charged to the device that makes it or the first one that reads it; what
 * is there from the beginning is not counted.  What lasts is `lasting` of the caller.
 *
 * Numbered; lives in a.  O(nodes + pins + D^2), sorting apart. */
struct task_graph single_step(const struct scene *of, const int32_t *dev, const uint32_t *rank,
                              const struct step_model *s, struct arena *a);

#endif
