/* What list schedulers go by, for people: critical paths of a level, and how much its transfers weigh. */
#ifndef PCC_IR_DAG_LEVEL_TABLE_H
#define PCC_IR_DAG_LEVEL_TABLE_H

#include "ir/dag/critical_order.h"

/* Edges and times of a level, for one class of devices. */
struct level_weight {
    const char *maker; /* "base", or the pass that made the level */
    uint32_t vertices;
    uint64_t edges;   /* pairs of a vertex and a reader of its results */
    int64_t compute;  /* ps: of all vertices */
    int64_t transfer; /* ps: of all edges between base vertices in two of its vertices */
    int64_t once;     /* ps: the same, a tensor once for each vertex that reads it */
};

struct level_table {
    const struct module *m;
    const struct wdag *top;
    struct csr members; /* vertex of top -> its vertices of the base level, ascending */
    struct cpd_paths path;
    uint32_t *critical, ncritical; /* vertices of top, in order */
    struct level_weight *weight;   /* of all levels, the base level first */
    uint32_t nweight;
};

/* The table of the level top and of all finer levels, by times and links of class cls.  Lives in a.  O(V + pins) of
 * each. */
struct level_table *level_table_make(const struct wdag *top, const struct module *m, uint32_t cls,
                                     struct arena *a);

#endif
