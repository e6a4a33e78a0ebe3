/* Topological orders by critical path (Celeritas, arXiv 2208.00184). */
#ifndef PCC_IR_DAG_CRITICAL_ORDER_H
#define PCC_IR_DAG_CRITICAL_ORDER_H

#include "ir/dag/wdag.h"

/* Time of v on class cls, or, if cls cannot run v, on the first class that can; 0: no class can. */
int64_t cpd_time(const struct wdag *g, uint32_t cls, uint32_t v);

/* Longest paths by vertex times and edge costs of class cls; the cost of an edge is the summed transfer cost of the
 * nets from its source to its reader, on whichever devices the two will be. */
struct cpd_paths {
    int64_t *tlevel; /* [vertex] ps: longest path to the vertex, without the vertex's own time */
    int64_t *blevel; /* [vertex] ps: longest path that begins with the vertex */
    int64_t longest; /* ps: of all */
};
/* Lives in a.  O(V + pins). */
struct cpd_paths cpd_paths(const struct wdag *g, uint32_t cls, struct arena *a);
/* A critical path: the vertices of one of the longest, in order, ties to the smaller index; *n of them, none in an
 * empty graph.  O(V + pins). */
uint32_t *cpd_critical(const struct wdag *g, uint32_t cls, const struct cpd_paths *p,
                       struct arena *a, uint32_t *n);

/* [vertex] ps: length of the longest path through it, by vertex times and edge costs of class cls (the paper's
 * tlevel + blevel).  O(V + pins). */
int64_t *cpd_levels(const struct wdag *g, uint32_t cls, struct arena *a);
/* CPD-TOPO: position -> vertex.  Depth first; of the vertices that become ready together the one on the
 * longest path goes first, ties to the smaller index.  O(E + V log V). */
uint32_t *cpd_topo(const struct wdag *g, uint32_t cls, struct arena *a);

#endif
