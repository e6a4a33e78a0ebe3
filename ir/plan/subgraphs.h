/* Subgraphs: sets of nodes that an accelerator runs without interruption while a single sample passes through a plan.
 *
 * Source: the placement paper, section 4 and appendix A.1.  If a plan has slots, the nodes of a slot are a subgraph.
 * Else the nodes of an accelerator are divided wherever a path leaves them and comes back, as the paper's evaluator
 * does. */
#ifndef PCC_IR_PLAN_SUBGRAPHS_H
#define PCC_IR_PLAN_SUBGRAPHS_H

#include "ir/dag/scene.h"

enum { NO_SUBGRAPH = UINT32_MAX };

/* A subgraph: nodes of an accelerator, or one node of a host with the other nodes of its atom (atoms.h). */
struct subgraph {
    uint32_t dev;
    /* on an accelerator 1, 2, ...: the device runs its forward subgraphs in ascending order, then its backward
     * subgraphs in descending order; on a host 0 */
    uint32_t slot;
    bool host;      /* dev is a host device */
    bool back;      /* a subgraph of backward nodes; always false if the plan has no slots */
    nid first;      /* the node with the smallest number */
    uint32_t nnode; /* number of nodes */
};

/* All subgraphs of a plan. */
struct subgraphs {
    uint32_t n;
    struct subgraph *sub;
    uint32_t *of; /* [node] the node's subgraph; NO_SUBGRAPH: not placed */
    bool slotted; /* the plan has slots: accelerators run their subgraphs in the order of `slot` */
    /* [subgraph] each device, hosts included, runs its subgraphs in ascending order of this number; NULL: accelerators
     * run by slot, hosts run ready nodes as CPUs become free */
    uint32_t *place;
};

/* Returns the subgraphs of a plan, numbered by their first nodes.  dev, slot: as in struct plan;
 * slot == NULL: the nodes of an accelerator are divided by levels (subgraphs.c).  Each placed node
 * must be on a device that can run it.  With slots, if a slot has nodes of both passes, the nodes of
 * each pass are one subgraph.  Does not check whether subgraphs wait for each other in a circle.
 * Lives in a.  O(nodes + pins); without slots O((nodes + pins) * accelerators). */
struct subgraphs subgraphs_of(const struct scene *s, const int32_t *dev, const uint32_t *slot,
                              struct arena *a);
/* Whether the nodes of accelerator d make one subgraph for each training pass that it has nodes of:
 * no path leaves its forward nodes and comes back to them, and no path leaves its backward nodes
 * and comes back to them.  dev: as in struct plan.  Memory is taken from a and freed.  O(nodes +
 * pins). */
bool subgraphs_by_pass(const struct scene *s, const int32_t *dev, uint32_t d, struct arena *a);

#endif
