/* Topological orders of a weighted DAG, seeded. */
#ifndef PCC_IR_DAG_TOPO_ORDER_H
#define PCC_IR_DAG_TOPO_ORDER_H

#include "ir/dag/wdag.h"

enum topo_kind {
    TOPO_LIFO,   /* depth first: what became ready last goes first (the placement paper's DPL) */
    TOPO_FIFO,   /* breadth first (Kahn) */
    TOPO_CPD,    /* depth first along the longest paths; class 0's times */
    TOPO_RANDOM, /* a random ready vertex */
    TOPO_LATE,   /* TOPO_LIFO of the graph turned round: each vertex right before it is needed */
    /* greedy: the vertex after which the open nets (some, but not all pins taken) cost least, by class 0 */
    TOPO_THIN,
    TOPO_NUMBER, /* by vertex number: about the order of the input */
    TOPO_DFS     /* depth first: of what became ready together the first in the row goes first */
};

/* Names for options: "mixed" (several kinds in turn) at 0, that of kind k at 1 + k, then NULL. */
extern const char *const topo_names[];

/* position -> vertex, in a.  seed 0: ties by vertex number; else at random.  O(E + V log V + pins). */
uint32_t *topo_order(const struct wdag *g, enum topo_kind kind, uint64_t seed, struct arena *a);

#endif
