/* What all list schedulers share: times of transfers between vertices; memory of devices, with groups of vertices that
 * must share a device; comparing plans by running them; and leaving the best plan. */
#ifndef PCC_PASSES_LIST_LIST_H
#define PCC_PASSES_LIST_LIST_H

#include "ir/exec/evaluate.h"
#include "passes/list/needs.h"
#include "passes/passes.h"

/* ---- transfers ---- */

/* Times of transfers along the edges of a level.  An edge has a number: the index of its predecessor in g->pred.to.  A
 * value with several readers counts on the edge to each of them. */
struct edges {
    const struct wdag *g;
    const struct scene *scene;
    /* [class][edge] ps to move all values that the edge's second vertex reads from the first one.  link: over a link of
     * the class of devices; inner: over a link within a group of devices of the class (NULL: no class has groups) */
    int64_t **link, **inner;
    uint32_t *entry;       /* [index in g->succ.to] number of the same edge */
    uint32_t *cls, *group; /* [dev] its class; its group (cluster_group) */
};

/* Returns the times of all edges.  Lives in a.  O(classes * (edges + pins)). */
struct edges edges_build(const struct scene *s, const struct wdag *g, struct arena *a);
/* Returns the ps to move the values of edge k from a device to another one over the network of the execution model; 0
 * if both are the same device.  Ignores links between two named devices of a cluster file. */
int64_t edge_time(const struct edges *e, uint32_t k, uint32_t from, uint32_t to);
/* Returns what edge_time() returns for a receiver of class cls that is not `from` and in no group with `from`.  For
 * other devices of the class edge_time() is no larger. */
int64_t edge_time_far(const struct edges *e, uint32_t k, uint32_t from, uint32_t cls);

/* ---- devices and their memory ---- */

/* Returns the numbers of all devices, accelerators first.  Writes to *count the number of accelerators; if there are
 * only CPUs, that of all devices.  Lives in a. */
uint32_t *list_devices(const struct cluster *c, uint32_t *count, struct arena *a);

/* Which vertices are on which devices, and the bytes that the devices need for them.  Vertices that must share a device
 * are a group: when the first one is put on a device, the whole group is put there (Celeritas, 3.4).  Every other
 * vertex is a group of its own. */
struct placement {
    /* the level that is scheduled: list_level(), or a level of fused nodes (fused.h) */
    const struct wdag *base;
    const struct scene *scene;
    const nid *node; /* [vertex] the vertex's first node */
    uint32_t *group; /* [vertex] group of the vertex */
    uint32_t ngroup;
    struct csr member; /* group -> vertices */
    int32_t *home;     /* [group] its device; -1: not placed yet */
    /* [group] bits: the classes that can run all of the group and have devices */
    uint32_t *classes;
    struct needs need; /* bytes of each vertex, shared items not included */
    int64_t *used;     /* [dev] bytes that the groups on the device need, `most` included */
    /* [dev] the share of `used` that is the sum of need.stays of the vertices on the device */
    int64_t *stay;
    int64_t *most;  /* [dev] the largest need.runs of the vertices on the device */
    int64_t copies; /* number of copies of each parameter that count: exec_weight_copies() */
    uint8_t *has;   /* bits [shared item * devices + dev]: the device holds the item */
    /* [group], and behind all groups [shared item]: number of the last question that met the group or item */
    uint32_t *seen;
    uint32_t question; /* number of the present question (placement_ask) */
    /* number of calls of placement_least(), each for vertices for which no device had enough memory */
    uint32_t lacking;
    /* when this clock is out, placement_fill() places the remaining vertices; NULL: there is no clock */
    struct clock *clock;
    /* number of vertices given to placement_fill, also of those whose groups were placed before */
    uint32_t filled;
    /* the present question.  bytes: bytes that stay, without shared items; stays: the share of them that is need.stays;
     * runs: the most further bytes while one of the vertices runs; able: bits of the classes that can run all the
     * vertices; item[nitem]: their shared items, each once */
    int64_t bytes, stays, runs;
    uint32_t able;
    uint32_t *item, nitem;
};

/* Returns the level of list schedules.  Its vertices are nodes; or, if the pipeline names contract, the vertices that
 * contract made of nodes, joined where transfers between them would form a cycle (this level is made at the first call,
 * and kept in x->levels.scheduled).  Returns NULL and reports an error if the level cannot be made. */
struct wdag *list_level(struct ctx *x);
/* Makes *r a placement of list_level() with only pinned vertices on devices.  planner: name for messages.  Returns 0;
 * or -1 or PASS_INFEASIBLE and reports an error: there is no level, or no device can run some group.  Lives in a. */
int placement_build(struct placement *r, struct ctx *x, const char *planner, struct arena *a);
/* Does the same as placement_build() for a given level: the base level, or one that merges vertices of the base
 * level. */
int placement_build_on(struct placement *r, struct ctx *x, const char *planner,
                       const struct wdag *level, struct arena *a);
/* Takes all vertices off the devices, except pinned ones; sets lacking and filled to 0. */
void placement_empty(struct placement *r);
/* Begins a question about the vertices v[0..n) with their groups, for placement_adds and placement_takes; groups that
 * are placed already do not count.  The question ends with the next placement_ask, or with a function that says so or
 * puts vertices on devices.  O(n + members + their shared items). */
void placement_ask(struct placement *r, const uint32_t *v, uint32_t n);
/* Returns the bytes by which device d needs more memory with the vertices of the question; INT64_MAX: d cannot run all
 * of them.  O(shared items). */
int64_t placement_adds(const struct placement *r, uint32_t d);
/* Returns whether d can run the vertices of the question, and has enough memory for them or needs no more for them than
 * it uses already.  O(shared items). */
bool placement_takes(const struct placement *r, uint32_t d);
/* Each asks a new question about v[0..n); placement_need() returns placement_adds(), placement_fits()
 * placement_takes(). */
int64_t placement_need(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
bool placement_fits(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
/* Puts v[0..n) with their groups on d, unless they are placed already; a group that d cannot run is put on the device
 * with the fewest bytes in use among those that can. */
void placement_put(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
/* For vertices v[0..n) for which no device has enough memory: returns the device with the fewest bytes in use among
 * those that can run them (if none can, among all devices).  Adds 1 to r->lacking. */
uint32_t placement_least(struct placement *r, const uint32_t *v, uint32_t n);
/* Returns the bytes that all vertices together would need on one device. */
int64_t placement_all(const struct placement *r);
/* Puts v[0..n), which must be in a topological order, on devices without estimating times, for use when the clock is
 * out: on one device as long as it has memory, then on the next one; if none has enough, on the device that
 * placement_least returns.  Groups that are placed already stay.  Adds n to r->filled. */
void placement_fill(struct placement *r, const uint32_t *v, uint32_t n, struct arena *a);
/* Returns the bytes of the largest group.  Ends the present question.  O(members + their shared items). */
int64_t placement_most(struct placement *r);

enum { LIST_LOOK_EACH = 1024 }; /* number of vertices placed between two looks at the clock */

/* ---- plans ---- */

/* A plan that a planner has made. */
struct list_schedule {
    int32_t *dev;     /* [node] its device; -1: it needs none.  NULL: there is no plan */
    uint32_t *rank;   /* [node] each device runs its nodes in ascending order of ranks */
    const char *what; /* words for the claim on how the plan was made: "HEFT with ports" */
    int64_t value;    /* ps: makespan, set by list_try */
    /* bytes that the device with the largest lack of memory lacks, set by list_try; 0: the plan fits */
    int64_t lacks;
};

/* Returns the plan that puts each vertex on its device in r, in the given order of all vertices of r->base.  Lives in
 * x->use.mem. */
struct list_schedule list_plan(struct ctx *x, const struct placement *r, const uint32_t *order,
                               const char *what);
/* Returns the bytes that the device with the largest lack of memory lacks; 0: the plan fits. */
int64_t list_lacking(const struct scene *s, const struct verdict *v);
/* Runs *p, sets its value and lacks, and copies it to *best if it is better: if it lacks less memory than *best, or
 * lacks as much and takes less time. */
void list_try(struct ctx *x, struct list_schedule *best, struct list_schedule *p);
/* Returns `what` with notes on the placement: "HEFT, 3 without room, time limit reached: 100 of 200 in order".  Lives
 * in x->use.mem. */
const char *list_said(struct ctx *x, const struct placement *r, const char *what);
/* Makes a plan by list_plan and compares it by list_try; releases the plan's memory if it does not become *best. */
void list_offer(struct ctx *x, struct list_schedule *best, const struct placement *r,
                const uint32_t *order, const char *what);
/* If the clock has run out, appends its reason to p->what, unless the reason is there. */
void list_tell_end(struct ctx *x, struct list_schedule *p, const struct clock *clock);
/* Makes *p the planner's result, with the bound of the makespan.  best_effort: accepts a plan that does not fit the
 * memory, too, with a warning.  Returns 0; or PASS_INFEASIBLE and reports an error that names what does not fit. */
int list_leave(struct ctx *x, const char *planner, const struct list_schedule *p, bool best_effort);

/* The row of the option best-effort in a planner's option table; type, field: where its value is stored. */
#define LIST_BEST_EFFORT(type, field)                                                              \
    {OPT_BOOL, "best-effort", offsetof(type, field), "false",                                      \
     .help = "leave a plan even if a device needs more memory than it has"}

enum { LIST_FEATURES = FEATURE_PINS | FEATURE_PART_COST | FEATURE_GROUPS | FEATURE_ROUTES };

#endif
