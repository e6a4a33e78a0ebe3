/* Longest paths of a weighted graph, and a topological order that follows them (Celeritas, arXiv 2208.00184). */
#ifndef PCC_IR_DAG_CRITICAL_ORDER_H
#define PCC_IR_DAG_CRITICAL_ORDER_H

#include "ir/dag/wdag.h"

/* Returns the time of vertex v on class cls, in ps; if cls cannot run v, on the first class that can; if no class can,
 * 0. */
int64_t cpd_time(const struct wdag *g, uint32_t cls, uint32_t v);

/* Longest paths, by the vertex times and edge costs of one device class.  An edge costs what the transfers of all nets
 * from its source to its reader take, as if the two were on different devices. */
struct cpd_paths {
    int64_t *tlevel; /* [vertex] ps: longest path to the vertex, without the vertex's own time */
    int64_t *blevel; /* [vertex] ps: longest path that begins with the vertex */
    int64_t longest; /* ps: length of the longest path of the graph; 0 without vertices */
};
/* Returns the longest paths for class cls; the arrays live in a.  O(V + pins). */
struct cpd_paths cpd_paths(const struct wdag *g, uint32_t cls, struct arena *a);
/* Returns the vertices of a critical path (a longest path of the graph), from its first to its last vertex, in
 * a.  Where several vertices could be next, takes the one with the smallest number.  Writes the number of vertices to
 * *n, 0 for an empty graph.  p: the result of cpd_paths() for g and cls.  O(V + pins). */
uint32_t *cpd_critical(const struct wdag *g, uint32_t cls, const struct cpd_paths *p,
                       struct arena *a, uint32_t *n);

/* Returns an array, in a: [vertex] ps: length of the longest path through the vertex, by the vertex times and edge
 * costs of class cls (the paper's tlevel + blevel).  O(V + pins). */
int64_t *cpd_levels(const struct wdag *g, uint32_t cls, struct arena *a);
/* Returns a topological order, in a: [position] vertex (CPD-TOPO).  Depth first; among vertices that become ready
 * together, the one with the largest cpd_levels() goes first, of equal ones the one with the smaller number.
 * O(E + V log V + pins). */
uint32_t *cpd_topo(const struct wdag *g, uint32_t cls, struct arena *a);

#endif
