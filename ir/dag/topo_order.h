/* Topological orders of a weighted graph, by several rules; a seed gives different orders by the same rule. */
#ifndef PCC_IR_DAG_TOPO_ORDER_H
#define PCC_IR_DAG_TOPO_ORDER_H

#include "ir/dag/wdag.h"

enum topo_kind {
    TOPO_LIFO, /* depth first: the vertex that became ready last is next (the placement paper's DPL) */
    TOPO_FIFO,   /* breadth first: the vertex that became ready first is next (Kahn) */
    TOPO_CPD,    /* depth first along the longest paths, by the times of class 0: cpd_topo() */
    TOPO_RANDOM, /* a random ready vertex is next */
    TOPO_LATE, /* TOPO_LIFO of the reversed graph, reversed: a vertex comes shortly before its readers */
    /* the next vertex is the one after which the open nets (nets with some pins taken, but not all) cost least, by
     * class 0 */
    TOPO_THIN,
    TOPO_NUMBER, /* by vertex number, which is about the order of the nodes in the model */
    TOPO_DFS     /* depth first: of vertices that became ready together the smallest is next */
};

/* Names for options: topo_names[0] is "mixed" (several kinds in turn), topo_names[1 + k] the name of kind k; NULL ends
 * the list. */
extern const char *const topo_names[];

/* Returns a topological order of g by the rule `kind`, in a: [position] vertex. seed: 0: vertex numbers decide ties;
 * else ties go at random by this seed (CPD, NUMBER and DFS ignore the seed). O(E + V log V + pins), THIN O((V + pins)
 * log V). */
uint32_t *topo_order(const struct wdag *g, enum topo_kind kind, uint64_t seed, struct arena *a);

#endif
