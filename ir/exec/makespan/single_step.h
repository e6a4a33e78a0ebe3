/* One sample through a plan, node by node: what runs when, if every node starts as soon as its values are there. */
#ifndef PCC_IR_EXEC_SINGLE_STEP_H
#define PCC_IR_EXEC_SINGLE_STEP_H

#include "ir/exec/events.h"
#include "ir/exec/step_kind.h"
#include "ir/plan/parts.h"

/* The tasks of one step of a plan whose nodes are where they can run, under the scene's model.step.  Lanes
 * 0 .. ndev - 1 compute; the first tasks are the nodes in order.  Of the plan dev and rank count.
 *
 * kind: enum step_kind.  number of COMPUTE: its node; of the others: the net.  A hop goes between the ports of devices:
 * lane says which.  dev: from where to where, of OUT and IN the device twice.
 *
 * parts: those of the plan; NULL: each node is a task of its own.  A part is a task that runs its nodes without a
 * pause, part_cost longer than they take; it waits for all that it reads and gives its results at its end; the parts
 * of a device follow each other by number, which is the number of its task.
 *
 * Hops are served as they become ready; ties by number of the net, then in the order of the first reader at each
 * destination (an output of the model goes out last).
 *
 * Memory (not that of parts, whose values within are not told apart): a value, from the start of what makes it or
 * brings it until its last use there (hops are uses, too); what a node needs beside its results (costs.own), while it
 * runs.  A model's output stays where it is made unless it goes out.  The host's memory has a value once, charged to
 * the device that makes it or the first one that reads it; what is there from the beginning is not counted.  What
 * lasts is `lasting` of the caller.
 *
 * Numbered; lives in a.  O(nodes + pins + D^2), sorting apart. */
struct task_graph single_step(const struct scene *of, const struct plan *p,
                              const struct parts *parts, struct arena *a);

#endif
