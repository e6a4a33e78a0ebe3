/* The figures that list schedulers use, as a table for people: longest paths of a level (wdag.h), and the time of its
 * transfers. */
#ifndef PCC_IR_DAG_LEVEL_TABLE_H
#define PCC_IR_DAG_LEVEL_TABLE_H

#include "ir/dag/critical_order.h"

/* Sums over the vertices and edges of a level, with the times and links of one class of devices. */
struct level_weight {
    const char *maker; /* "base", or the pass that made the level */
    uint32_t vertices;
    /* number of pairs of a vertex and another vertex that reads the first one's results */
    uint64_t edges;
    int64_t compute;  /* ps: sum of the times of all vertices */
    int64_t transfer; /* ps: summed cost of all base-level edges between vertices of this level */
    /* ps: like transfer, but the cost of a tensor counts once for each vertex that reads the tensor */
    int64_t once;
};

/* The table of a level: its longest paths, and the sums of the level and of all finer ones. */
struct level_table {
    const struct module *m;
    const struct wdag *top; /* the level that the table is about */
    struct csr members;     /* vertex of top -> base-level vertices merged into it, ascending */
    struct cpd_paths path;  /* longest paths of top */
    uint32_t *critical, ncritical; /* [ncritical] vertices of top on a critical path, in order */
    struct level_weight *weight;   /* [nweight] top and all finer levels, the base level first */
    uint32_t nweight;
};

/* Returns the table of the level top, with sums for all finer levels, too, by the times and links of class cls.  Lives
 * in a.  O(V + pins) for each level. */
struct level_table *level_table_make(const struct wdag *top, const struct module *m, uint32_t cls,
                                     struct arena *a);

#endif
