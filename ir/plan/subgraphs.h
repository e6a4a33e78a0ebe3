/* Subgraphs: what an accelerator runs in one go while a single sample passes through a plan.
 *
 * Source: the placement paper, section 4 and appendix A.1.  A plan that has slots says which nodes make one; else the
 * nodes of an accelerator are cut where a way through the graph comes back to it, as the paper's evaluator does. */
#ifndef PCC_IR_PLAN_SUBGRAPHS_H
#define PCC_IR_PLAN_SUBGRAPHS_H

#include "ir/dag/scene.h"

enum { NO_SUBGRAPH = UINT32_MAX };

/* A subgraph of an accelerator, or a single node of a host (together with its atom). */
struct subgraph {
    uint32_t dev;
    /* 1, 2, ...: in the order of its device, backward ones the other way; of a host 0 */
    uint32_t slot;
    bool host, back; /* back: of the backward pass */
    nid first;
    uint32_t nnode;
};

struct subgraphs {
    uint32_t n;
    struct subgraph *sub;
    uint32_t *of; /* [node] NO_SUBGRAPH: not placed */
    bool slotted; /* subgraphs of a device run in the order of their slots */
    /* [subgraph] its order on its device, smaller first, hosts included; NULL: accelerators run by slot, hosts as CPUs
     * become free */
    uint32_t *place;
};

/* Those of the plan dev[], slot[] (of struct plan, whose placed nodes are where they can run; slot NULL: cut by
 * levels).  They are numbered by their first nodes; whether they can run without waiting for each other for ever is
 * for whoever runs them to find out.  With slots, the nodes of one slot of a device are two subgraphs where they are
 * of both passes.  Lives in a.  O(nodes + pins), cut by levels for each accelerator. */
struct subgraphs subgraphs_of(const struct scene *s, const int32_t *dev, const uint32_t *slot,
                              struct arena *a);

#endif
