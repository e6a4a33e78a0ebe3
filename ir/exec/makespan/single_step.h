/* A step: one sample passes through a plan alone, node by node.  Makes the tasks of a step for the event core. */
#ifndef PCC_IR_EXEC_SINGLE_STEP_H
#define PCC_IR_EXEC_SINGLE_STEP_H

#include "ir/exec/events.h"
#include "ir/exec/step_kind.h"
#include "ir/plan/parts.h"

/* Returns the tasks of one step of plan p, under the scene's model.step.  Of the plan only dev and rank are read; nodes
 * must be on devices that can run them.  The first tasks are the placed nodes in their order (or the parts), the others
 * are hops (hops.h).  Lanes 0 .. ndev - 1 are the devices, for computing; hops hold other lanes, or also these.
 *
 * task.kind: enum step_kind.  task.number: of COMPUTE the node (or part), of hops the net.  task.from and task.to: the
 * devices of a hop; of OUT and IN both are the device.
 *
 * parts: the parts of the plan; NULL: each node is a task.  Else each part is a task with the part's number.  It waits
 * for all values that the part reads, runs the nodes without a pause, and gives its results at its end; it takes the
 * time of its nodes, and part_cost for each training pass that it has nodes of.
 *
 * Hops are served in the order in which they become ready; ties by number of the net, then in the order of the first
 * reader at each destination (a transfer of an output of the model to the host comes last).
 *
 * Memory: a value takes its bytes on a device from the start of the task that makes or brings it to the end of its last
 * use there (hops are uses, too); a node takes what it needs beside its results (costs.own) while it runs.  An output
 * of the model stays where it is made unless it goes to the host.  The host's memory has a value once, charged to the
 * host device that makes it, else to the first one that reads it; inputs of the model are not counted there.  The
 * caller adds lasting bytes (g.lasting).  With parts these figures have no meaning, since values within a part are not
 * distinguished.
 *
 * The items are numbered; all lives in a.  O(nodes + pins + devices^2), and sorting. */
struct task_graph single_step(const struct scene *of, const struct plan *p,
                              const struct parts *parts, struct arena *a);

#endif
