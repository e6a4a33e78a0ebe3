/* What list schedulers share: times of transfers between vertices, room on devices with groups that must stay
 * together, and leaving the best plan, judged by running it. */
#ifndef PCC_PASSES_LIST_LIST_H
#define PCC_PASSES_LIST_LIST_H

#include "ir/exec/evaluate.h"
#include "passes/list/needs.h"
#include "passes/passes.h"

/* ---- transfers ---- */

/* Times of transfers along the edges of a level; a value is counted for each reader. */
struct edges {
    const struct wdag *g;
    const struct scene *scene;
    /* [class][entry of g->pred] ps: all values of the predecessor that the vertex reads, over a link of that class, or
     * within a group of it (NULL: no class has groups) */
    int64_t **link, **inner;
    uint32_t *entry;       /* [entry of g->succ] the entry of g->pred of the same edge */
    uint32_t *cls, *group; /* [dev] */
};

/* Lives in a.  O(classes * (edges + pins)). */
struct edges edges_build(const struct scene *s, const struct wdag *g, struct arena *a);
/* ps that the values of the k-th entry of g->pred take from a device to another, as the network of the model has it
 * (without links of their own between two devices); 0 on one device. */
int64_t edge_time(const struct edges *e, uint32_t k, uint32_t from, uint32_t to);
/* The same to another device of that class, which is in no group with `from`.  edge_time() is never more. */
int64_t edge_time_far(const struct edges *e, uint32_t k, uint32_t from, uint32_t cls);

/* ---- devices and room ---- */

/* All devices, those that are no CPUs first: *count of them, or all if there are no others.  Lives in a. */
uint32_t *list_devices(const struct cluster *c, uint32_t *count, struct arena *a);

/* What devices hold, by the sum of bytes.  Vertices of the base level that must share a device are a group, whose
 * bytes are taken all at once where its first vertex is put (Celeritas, 3.4); vertices alone are groups of one. */
struct placement {
    const struct wdag
        *base; /* what is scheduled: the base level, or nodes fused in groups (fused.h) */
    const struct scene *scene;
    const nid *node; /* [vertex] its node, or the first one */
    uint32_t *group; /* [vertex] */
    uint32_t ngroup;
    struct csr member; /* group -> vertices */
    int32_t *home;     /* [group] its device; -1: none yet */
    uint32_t *classes; /* [group] bits: the classes that run all of it */
    struct needs need;
    int64_t *used;  /* [dev] bytes */
    int64_t *most;  /* [dev] of them, while one of its vertices runs */
    int64_t copies; /* how often parameters count: exec_weight_copies */
    uint8_t *has;   /* bits: [shared item * devices + dev] */
    uint32_t *seen; /* [group], then [shared item]: the last question that asked for it */
    uint32_t question;
    uint32_t lacking;    /* how often something was put where there was no room */
    struct clock *clock; /* when it is out, placing goes on by placement_fill; NULL: never */
    uint32_t filled;     /* vertices that were put so */
    /* what was asked last: bytes that any device would have to take, shared items apart, and the classes that can */
    int64_t bytes, runs; /* runs: of which only the most on a device counts */
    uint32_t able;
    uint32_t *item, nitem; /* the shared items, each once */
};

/* What list schedules are of: the nodes, or the vertices that contract made of them if the pipeline asks for it
 * (classes that would close a cycle of transfers are one vertex).  NULL and an error if these cannot be. */
struct wdag *list_level(struct ctx *x);
/* Empty but for what is pinned.  0, or PASS_INFEASIBLE and an error: a group has no device.  Lives in a. */
int placement_build(struct placement *r, struct ctx *x, const char *planner, struct arena *a);
/* The same for the base level, or another one over it. */
int placement_build_on(struct placement *r, struct ctx *x, const char *planner,
                       const struct wdag *level, struct arena *a);
/* Forgets all but what is pinned. */
void placement_empty(struct placement *r);
/* Asks for the vertices v[0..n), until the next thing that is asked or put.  O(n + members + their shared items). */
void placement_ask(struct placement *r, const uint32_t *v, uint32_t n);
/* Bytes that what was asked for adds to device d, what has a home apart; INT64_MAX: it cannot run all.  O(its shared
 * items), as is the next one. */
int64_t placement_adds(const struct placement *r, uint32_t d);
/* Whether d has room for it. */
bool placement_takes(const struct placement *r, uint32_t d);
/* Both at once: what they add, whether there is room. */
int64_t placement_need(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
bool placement_fits(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
/* Puts them on d, with their groups; those that d cannot run where least is, of the devices that can. */
void placement_put(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
/* Of the devices that can run them, the one with the least bytes, for what has no room anywhere; counts it. */
uint32_t placement_least(struct placement *r, const uint32_t *v, uint32_t n);
/* Bytes of everything on one device. */
int64_t placement_all(const struct placement *r);
/* Puts v[0..n) on devices in order, one device after the other, never back, while there is room, else where least is:
 * the short way when the clock is out.  What has a home keeps it. */
void placement_fill(struct placement *r, const uint32_t *v, uint32_t n, struct arena *a);
/* Bytes of the largest group.  O(members + their shared items). */
int64_t placement_most(struct placement *r);

enum { LIST_LOOK_EACH = 1024 }; /* nodes, or the like, between looks at the clock */

/* ---- plans ---- */

/* A plan that a planner has made, as nodes in the order in which they are to run. */
struct list_schedule {
    int32_t *dev;   /* [node] */
    uint32_t *rank; /* [node] */
    const char *what;
    int64_t value; /* ps: what list_try found */
    int64_t lacks; /* bytes of the device that is furthest over its memory; 0: it fits */
};

/* The homes of r and the place of each vertex in `order` (all of r->base) as a plan.  Lives in
 * x->use.mem. */
struct list_schedule list_plan(struct ctx *x, const struct placement *r, const uint32_t *order,
                               const char *what);
/* Bytes that the device that is furthest over its memory lacks; 0: all fit. */
int64_t list_lacking(const struct scene *s, const struct verdict *v);
/* Runs it, by its order; *best becomes the better one of the two: one that fits or lacks less, of equal ones
 * the faster; equal: *best. */
void list_try(struct ctx *x, struct list_schedule *best, struct list_schedule *p);
/* "HEFT, 3 without room, time limit reached: 100 of 200 in order": what was placed, and how; lives in x->use.mem. */
const char *list_said(struct ctx *x, const struct placement *r, const char *what);
/* The two of them: *best becomes that plan if it is better; else nothing of it stays. */
void list_offer(struct ctx *x, struct list_schedule *best, const struct placement *r,
                const uint32_t *order, const char *what);
/* Says of *p, once, that the clock is out, if anybody has noticed. */
void list_tell_end(struct ctx *x, struct list_schedule *p, const struct clock *clock);
/* Leaves it, with the bound of the makespan.  0, or PASS_INFEASIBLE and an error that names a device without room. */
int list_leave(struct ctx *x, const char *planner, const struct list_schedule *p, bool best_effort);

/* The option that all of them have, at the field of a struct. */
#define LIST_BEST_EFFORT(type, field)                                                              \
    {OPT_BOOL, "best-effort", offsetof(type, field), "false",                                      \
     .help = "leave a plan even if a device needs more memory than it has"}

enum { LIST_FEATURES = FEATURE_PINS | FEATURE_PART_COST | FEATURE_GROUPS | FEATURE_ROUTES };

#endif
