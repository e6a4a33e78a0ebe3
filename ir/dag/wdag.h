/* Weighted graphs (directed, acyclic): the form of a model that planners work on, in levels.
 *
 * The base level has one vertex per placed node.  Passes that merge vertices (contract, fuse, linearize) add a
 * coarser level with a map from the vertices of the finer one.  Planners read the top level; a plan for it is carried
 * over to the finer levels by the maps.
 *
 * Vertices of every level are numbered in a topological order: u < v for every edge u -> v.
 *
 * Nets say what transfers cost: a device that holds some but not all pins of a net pays the net's cost once (the
 * placement paper's load, 5.1); a pin on the host is never on the device.  Where devices stand in groups (H.3), the
 * device pays net_inner instead if all pins are in its group.  The base level has the nets of struct place, by the
 * same numbers; the time of one transfer from device to device is cluster_route() of place_moved().
 *
 * Shared items are bytes that several vertices need, but a device holds once, such as a weight with two readers. */
#ifndef PCC_IR_DAG_WDAG_H
#define PCC_IR_DAG_WDAG_H

#include "ir/dag/scene.h"

#include <stdio.h>

struct wdag {
    struct arena *mem;
    uint32_t n;     /* vertices */
    uint32_t ncls;  /* device classes */
    int64_t **time; /* [class][vertex] ps; COST_NEVER: the class cannot run the vertex */
    /* [class][vertex] ps: the share of `time` that the backward pass takes; NULL: none, or not known */
    int64_t **back;
    /* [vertex] 1: has forward nodes, 2: has backward nodes, 3: has both; NULL: not known */
    uint8_t *pass;
    int64_t *param; /* [vertex] bytes of `size` that are parameters; NULL: not known */
    /* [vertex] bytes that the vertex needs on a device, without shared items; 0 where the memory of a device is what
     * its parts have at one time (exec_live_parts()), since then no bytes of a vertex last */
    int64_t *size;
    /* [vertex] bytes that a device needs while the vertex runs, beside bytes that last: operands and results of its
     * node; a merged vertex has those of its largest node; NULL: not counted */
    int64_t *runs;
    int32_t *pin; /* [vertex] the device that the vertex must be on, or -1: any device */
    /* vertex -> distinct vertices that must not share its device (--cut-at), ascending; at NULL: there are none */
    struct csr apart;
    struct csr succ, pred; /* vertex -> its distinct successors, predecessors, ascending */
    uint32_t nnet;
    int64_t **net_cost; /* [class][net] ps that a device pays for the net; 0 for host classes */
    /* [class][net] ps if all pins of the net are in the device's group, <= net_cost; NULL: no class has groups */
    int64_t **net_inner;
    uint8_t *net_host; /* [net] 1: the host has a pin, too */
    uint8_t *net_back; /* [net] 1: produced by the backward pass; NULL: no net is, or not known */
    /* [net] the vertex that produces the net; UINT32_MAX: none (model inputs) */
    uint32_t *net_src;
    struct csr net_pin; /* net -> vertices that produce or read the net, distinct, ascending */
    struct csr net_of;  /* vertex -> nets that have a pin on it, ascending */
    uint32_t nshared;
    int64_t *shared_size; /* [shared item] bytes */
    struct csr shared_by; /* shared item -> vertices that need the item, distinct, ascending */
    struct csr shared_of; /* vertex -> shared items that the vertex needs, ascending */
    /* [vertex] its node in the module; set on the base level and on the level of the pass subdivide, where a node may
     * have several vertices; NULL on levels of merged vertices */
    nid *node;
    uint32_t *vertex;   /* base level: [node] vertex, UINT32_MAX: not placed; other levels: NULL */
    struct wdag *finer; /* the level from which this level was made; NULL for the base level */
    uint32_t *map;      /* [vertex of finer] vertex of this level; NULL for the base level */
    const char *maker;  /* name of the pass that made the level; "base" */
};

/* Returns the base level of a scene, in a.  s->place and the costs of s->m must be there; the costs must be made for
 * s->cluster.  O(nodes + operands + pins). */
struct wdag *wdag_base(const struct scene *s, struct arena *a);

/* Fills g->back, g->net_back and g->pass from m->backward.  g must have node[]. */
void wdag_mark_backward(struct wdag *g, const struct module *m);

/* Makes g->succ and g->pred from edges: pairs with from < to; repeated pairs count once.  O(V + pairs). */
void wdag_set_edges(struct wdag *g, const struct pairs *edges);

/* Makes g->apart from pairs of different vertices, each in both directions; repeated pairs count once.
 * O(V + pairs log pairs). */
void wdag_set_apart(struct wdag *g, const struct pairs *apart);
/* Whether g has vertices that must not share v's device. */
static inline bool wdag_has_apart(const struct wdag *g, uint32_t v)
{
    return g->apart.at && g->apart.at[v] < g->apart.at[v + 1];
}

/* Dissolves groups that have two vertices which must not share a device: each vertex of such a group becomes a group
 * of its own.  group[v]: number of v's group, below ngroup; it is rewritten in place.  If the old groups could be
 * merged without a cycle, the new ones can, too.  Returns the new number of groups.  O(V + pairs). */
uint32_t wdag_keep_apart(const struct wdag *g, uint32_t *group, uint32_t ngroup, struct arena *a);

/* Returns a coarser level, in a, with one vertex for each group of vertices of `fine`.  group[v]:
 * number of v's group, below ngroup.  Times and sizes add up (COST_NEVER stays); a group is pinned
 * to the device to which members of it are pinned; nets inside one group vanish; nets with equal
 * pins become one.  The new vertices are numbered in a topological order, of groups that could be
 * next the one with the smallest member first; `map` of the result gives the numbers.  maker: the
 * name of the pass that makes the level.  NULL and an error if members of a group are pinned to
 * different devices or must not share one, or if the groups' edges have a cycle.  O(pins log pins). */
struct wdag *wdag_merge(struct wdag *fine, const uint32_t *group, uint32_t ngroup,
                        const char *maker, struct arena *a, struct diag *d);

/* Groups of vertices that are to be merged, and the order that they must keep. */
struct wdag_groups {
    const uint32_t *of; /* [vertex] number of the vertex's group, below n */
    uint32_t n;         /* number of groups */
    /* pairs of vertices: `from` must come before `to`; NULL: the edges of the level */
    const struct pairs *order;
};
/* Like wdag_merge(), but the edges of the new level come from groups->order instead of the edges of `fine`. */
struct wdag *wdag_merge_ordered(struct wdag *fine, const struct wdag_groups *groups,
                                const char *maker, struct arena *a, struct diag *d);
/* Returns g without the vertices v with out[v] != 0, in a, for lower bounds: every plan of g, restricted to the
 * remaining vertices, is a plan of the result in which no device has a larger load or more bytes.  A path of g over
 * vertices left out becomes an edge between its ends; each vertex gets at most `most` predecessors (fewer edges allow
 * more plans).  Nets and shared items lose their pins on vertices left out; nets with less than two pins vanish.
 * No vertices are apart.  map[v]: the new number of v, or UINT32_MAX; finer is NULL, since plans for the result are
 * not carried over to g.  O((V + E) * most + pins). */
struct wdag *wdag_without(const struct wdag *g, const uint8_t *out, uint32_t most, struct arena *a);

/* Joins groups that lie on a common cycle, so that wdag_merge() can merge the groups (strongly connected components of
 * the graph of groups).  group[v]: number of v's group, below ngroup; it is rewritten in place.  order: pairs of
 * vertices that the order of groups follows (struct wdag_groups); NULL: the edges of g.  Returns the new number of
 * groups.  O(V + E). */
uint32_t wdag_join_cycles(const struct wdag *g, const struct pairs *order, uint32_t *group,
                          uint32_t ngroup);

/* vertex_bytes() returns the bytes that a device needs if it holds only v: v's own bytes and all its shared items.
 * vertex_needs() adds the bytes that the device needs while v runs (wdag.runs). */
int64_t vertex_bytes(const struct wdag *g, uint32_t v);
int64_t vertex_needs(const struct wdag *g, uint32_t v);

/* Returns the number of ideals of g (vertex sets that hold all predecessors of their members), the empty and the full
 * set included; if there are more than limit, returns limit + 1.  O(count * number of vertices that can be next). */
uint64_t wdag_ideals(const struct wdag *g, uint64_t limit);

/* Returns the number of training passes that every vertex has nodes of: 2 if each vertex has forward and backward
 * nodes, else 1.  O(V). */
uint32_t wdag_passes(const struct wdag *g);
/* Whether two vertices differ in the training passes (forward, backward) that they have nodes of.  O(V). */
bool wdag_passes_differ(const struct wdag *g);

/* Returns the bytes that a device needs if it holds the whole graph: all vertices and shared items, each counted once.
 * O(V + shared items). */
int64_t wdag_bytes(const struct wdag *g);

/* Writes the load of a device of class cls that holds exactly the vertices v with member[v] != 0: *compute, the ps of
 * the vertices, COST_NEVER if the class cannot run one of them; *transfer, the ps of the nets that the device pays,
 * by net_cost; *size, the bytes of memory, shared items included.  O(V + pins). */
void wdag_load(const struct wdag *g, const uint8_t *member, uint32_t cls, int64_t *compute,
               int64_t *transfer, int64_t *size);

/* Returns an array, in a: [vertex of the base level] the vertex of top that it was merged into. */
uint32_t *wdag_flatten(const struct wdag *top, struct arena *a);
/* Prints the vertices of top, each with its times, bytes, pin and nodes, as lines that start with '#'; prints nothing
 * if top is NULL. */
void wdag_print(FILE *f, const struct wdag *top, const struct module *m);
/* Returns a copy of g in which each net has the least cost that it can have on devices in groups: net_inner, or
 * net_cost where the host has a pin.  A lower bound for plans of the copy on devices without groups holds for all
 * plans of g on devices with groups.  All other fields are shared with g.  Lives in a. */
struct wdag *wdag_inner(const struct wdag *g, struct arena *a);

#endif
