/* Weighted DAGs: what planners see, level upon level.
 *
 * The base level has one vertex per placed node.  Coarseners (contract, fuse, linearize) push a
 * coarser level with a map from the finer one.  Planners read the top level; plans are projected down.
 *
 * Vertices of every level are numbered in a topological order: u < v for every edge u -> v.
 * Communication belongs to nets: a device that holds some but not all pins of a net pays the net's
 * cost once (the placement paper's load, 5.1); a pin on the host counts as elsewhere.  Where devices
 * stand in groups (H.3), it pays net_inner instead if all pins are in its group.  Nets of the base level are those of
 * the place, with its numbers: what one takes from device to device is cluster_route() of place_moved().
 * Bytes that several vertices need once per device (shared weights) are `shared` items. */
#ifndef PCC_IR_DAG_WDAG_H
#define PCC_IR_DAG_WDAG_H

#include "ir/dag/scene.h"

#include <stdio.h>

struct wdag {
    struct arena *mem;
    uint32_t n;     /* vertices */
    uint32_t ncls;  /* device classes */
    int64_t **time; /* [class][vertex] ps; COST_NEVER: cannot run there */
    /* [class][vertex] ps: what of time is the backward pass's; NULL: nothing */
    int64_t **back;
    /* [vertex] 1: has forward nodes, 2: backward ones, 3: both; NULL: not known */
    uint8_t *pass;
    int64_t *param;        /* [vertex] bytes of parameters among size, in profiles; NULL: none */
    int64_t *size;         /* [vertex] bytes on its device, shared items apart */
    int32_t *pin;          /* [vertex] the device it must be on, or -1 */
    struct csr succ, pred; /* distinct neighbours, ascending */
    uint32_t nnet;
    int64_t **net_cost; /* [class][net] ps, 0 for host classes */
    /* [class][net] ps within a group, <= net_cost; NULL: no class has groups */
    int64_t **net_inner;
    uint8_t *net_host;  /* [net] 1: the host has a pin, too */
    uint8_t *net_back;  /* [net] 1: made by the backward pass; NULL: none is */
    uint32_t *net_src;  /* [net] the vertex that produces it, or UINT32_MAX (model inputs) */
    struct csr net_pin; /* net -> vertices, distinct, ascending */
    struct csr net_of;  /* vertex -> nets */
    uint32_t nshared;
    int64_t *shared_size; /* [item] bytes */
    struct csr shared_by; /* item -> vertices, distinct, ascending */
    struct csr shared_of; /* vertex -> items */
    /* base level and subdivided: vertex -> node of the module; else NULL */
    nid *node;
    uint32_t *vertex;   /* base level: node -> vertex or UINT32_MAX; else NULL */
    struct wdag *finer; /* NULL for the base level */
    uint32_t *map;      /* vertex of finer -> vertex here; NULL for the base level */
    const char *maker;  /* name of the pass that made the level */
};

/* The base level.  The costs and the place of s must be made for its cluster.  O(nodes + operands + pins). */
struct wdag *wdag_base(const struct scene *s, struct arena *a);

/* Fills back, net_back and pass of a level that has node[], from m->backward. */
void wdag_mark_backward(struct wdag *g, const struct module *m);

/* Makes succ and pred of a level from pairs, each `from` less than its `to`; repeats are dropped.  O(V + pairs). */
void wdag_set_edges(struct wdag *g, const struct pairs *edges);

/* Merges vertices: group[v] in [0, ngroup).  Times, sizes add up (COST_NEVER stays), pins are merged
 * (two different pins in one group: NULL and an error), nets that lie inside one vertex vanish, nets
 * of equal pins become one.  The quotient must be acyclic (NULL and an error otherwise).  Groups are
 * renumbered topologically, ties by smallest member: map tells.  O(pins log pins). */
struct wdag *wdag_merge(struct wdag *fine, const uint32_t *group, uint32_t ngroup,
                        const char *maker, struct arena *a, struct diag *d);

/* n groups of vertices, of[v] that of v, and the pairs that say what comes before what (NULL: the edges). */
struct wdag_groups {
    const uint32_t *of;
    uint32_t n;
    const struct pairs *order; /* from comes before to */
};
/* wdag_merge with the pairs of `groups` instead of the edges of the finer level. */
struct wdag *wdag_merge_ordered(struct wdag *fine, const struct wdag_groups *groups,
                                const char *maker, struct arena *a, struct diag *d);
/* g without the vertices v of out[v] != 0, for lower bounds: every plan of g, restricted to what is left,
 * is a plan of the result in which no device has a larger load or more bytes.  An edge joins the ends of a
 * path over vertices left out; a vertex gets at most `most` predecessors (fewer edges allow
 * more plans).  Nets and shared items lose pins, those of less than two vanish.  map[v]: the new vertex or
 * UINT32_MAX; finer is not set: plans are not projected down.  O((V + E) * most + pins). */
struct wdag *wdag_without(const struct wdag *g, const uint8_t *out, uint32_t most, struct arena *a);

/* Groups for wdag_merge that join the cycles of the quotient by `group` (strongly connected
 * components, Tarjan's algorithm with an explicit stack); order as above.  Rewrites group in
 * place; returns the number of groups.  O(V + E). */
uint32_t wdag_join_cycles(const struct wdag *g, const struct pairs *order, uint32_t *group,
                          uint32_t ngroup);

/* Bytes of v alone on a device: its own bytes and all its shared items. */
int64_t vertex_bytes(const struct wdag *g, uint32_t v);

/* Number of down-sets (ideals), the empty and the full one included; counting stops above limit and
 * returns limit + 1.  O(count * frontier). */
uint64_t wdag_ideals(const struct wdag *g, uint64_t limit);

/* The number of passes (forward, backward) that every vertex has nodes of: 2 in training graphs where each vertex
 * has both, else 1.  O(V). */
uint32_t wdag_passes(const struct wdag *g);
/* Whether some vertices have nodes of a pass that others have not.  O(V). */
bool wdag_passes_differ(const struct wdag *g);

/* Bytes of all vertices and shared items, each counted once: the memory of a single device that holds the whole
 * graph.  O(V + shared). */
int64_t wdag_bytes(const struct wdag *g);

/* Load of a set of vertices (member[v] != 0) on a device of class cls: compute and transfers in ps;
 * COST_NEVER in both if some vertex cannot run there.  Bytes of memory in *size.  O(V + pins). */
void wdag_load(const struct wdag *g, const uint8_t *member, uint32_t cls, int64_t *compute,
               int64_t *transfer, int64_t *size);

/* Base vertex -> vertex of top, down all levels.  Lives in a. */
uint32_t *wdag_flatten(const struct wdag *top, struct arena *a);
/* The vertices of top with their nodes, as lines that start with '#'; nothing for NULL. */
void wdag_print(FILE *f, const struct wdag *top, const struct module *m);
/* g for lower bounds with groups of devices: each net costs the least that it can, the inner link's cost, or the
 * outer one's where the host has a pin.  A bound for its plans without groups holds for all plans with groups.
 * Shares all else with g, lives in a. */
struct wdag *wdag_inner(const struct wdag *g, struct arena *a);

#endif
