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

/* All devices, accelerators first. *count: the number of accelerators, or of all devices if there are only CPUs.
 * Lives in a. */
uint32_t *list_devices(const struct cluster *c, uint32_t *count, struct arena *a);

/* What devices hold, by the sum of bytes.  Vertices of the base level that must share a device are a group, whose
 * bytes are taken all at once where its first vertex is put (Celeritas, 3.4); vertices alone are groups of one. */
struct placement {
    const struct wdag
        *base; /* what is scheduled: the base level, or nodes fused in groups (fused.h) */
    const struct scene *scene;
    const nid *node; /* [vertex] the vertex's first node */
    uint32_t *group; /* [vertex] */
    uint32_t ngroup;
    struct csr member; /* group -> vertices */
    int32_t *home;     /* [group] its device; -1: none yet */
    uint32_t *classes; /* [group] bits: classes able to run the whole group */
    struct needs need;
    int64_t *used;  /* [dev] bytes */
    int64_t *most;  /* [dev] largest number of further bytes while a single vertex runs */
    int64_t copies; /* how often parameters count: exec_weight_copies */
    uint8_t *has;   /* bits: [shared item * devices + dev] */
    uint32_t *seen; /* [group], then [shared item]: the last question that asked for it */
    uint32_t question;
    uint32_t lacking;    /* how often something was put where there was no room */
    struct clock *clock; /* when it is out, placing goes on by placement_fill; NULL: never */
    uint32_t filled;     /* number of vertices placed by placement_fill */
    /* the last question (placement_ask): bytes for any device, shared items not included; `able`: classes that can
     * run all */
    int64_t bytes, runs; /* runs: bytes while running; a device needs the largest number only */
    uint32_t able;
    uint32_t *item, nitem; /* the shared items, each once */
};

/* The vertices of list schedules: nodes, or the vertices that contract made of nodes if the pipeline names contract
 * (classes that would close a cycle of transfers are one vertex). NULL and an error if the level cannot be made. */
struct wdag *list_level(struct ctx *x);
/* Starts an empty placement; pinned vertices are on their devices. 0, or PASS_INFEASIBLE and an error: a group has
 * no device. Lives in a. */
int placement_build(struct placement *r, struct ctx *x, const char *planner, struct arena *a);
/* The same for the base level, or another one over it. */
int placement_build_on(struct placement *r, struct ctx *x, const char *planner,
                       const struct wdag *level, struct arena *a);
/* Takes all vertices off the devices, except pinned ones. */
void placement_empty(struct placement *r);
/* Asks about the vertices v[0..n); valid until the next placement_ask or placement_put. O(n + members + their
 * shared items). */
void placement_ask(struct placement *r, const uint32_t *v, uint32_t n);
/* Bytes that the vertices asked about add to device d, groups with a home not counted; INT64_MAX: d cannot run all.
 * O(shared items), as is placement_takes. */
int64_t placement_adds(const struct placement *r, uint32_t d);
/* Whether d has enough memory for the vertices asked about. */
bool placement_takes(const struct placement *r, uint32_t d);
/* placement_ask with placement_adds or placement_takes. */
int64_t placement_need(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
bool placement_fits(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
/* Puts v[0..n) on d, with whole groups; groups that d cannot run go to the device with the least bytes that can. */
void placement_put(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d);
/* The device with the least bytes that can run v[0..n), for vertices without room on any device; counts them in
 * `lacking`. */
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
    int64_t value; /* ps: time of the plan, by list_try */
    /* missing bytes of the device with the largest lack of memory; 0: the plan fits */
    int64_t lacks;
};

/* The homes of r and the place of each vertex in `order` (all of r->base) as a plan.  Lives in
 * x->use.mem. */
struct list_schedule list_plan(struct ctx *x, const struct placement *r, const uint32_t *order,
                               const char *what);
/* Missing bytes of the device with the largest lack of memory; 0: the plan fits. */
int64_t list_lacking(const struct scene *s, const struct verdict *v);
/* Runs *p in its order; *best becomes the better one of *best and *p: the plan that lacks less memory, then the
 * faster plan; equal plans: *best stays. */
void list_try(struct ctx *x, struct list_schedule *best, struct list_schedule *p);
/* "HEFT, 3 without room, time limit reached: 100 of 200 in order": what was placed, and how; lives in x->use.mem. */
const char *list_said(struct ctx *x, const struct placement *r, const char *what);
/* list_plan and list_try in one: *best becomes that plan if the plan is better; else the plan is discarded. */
void list_offer(struct ctx *x, struct list_schedule *best, const struct placement *r,
                const uint32_t *order, const char *what);
/* Adds to *p->what, once, that the clock is out, if the clock has been found to be out. */
void list_tell_end(struct ctx *x, struct list_schedule *p, const struct clock *clock);
/* Leaves it, with the bound of the makespan.  0, or PASS_INFEASIBLE and an error that names a device without room. */
int list_leave(struct ctx *x, const char *planner, const struct list_schedule *p, bool best_effort);

/* The option that all of them have, at the field of a struct. */
#define LIST_BEST_EFFORT(type, field)                                                              \
    {OPT_BOOL, "best-effort", offsetof(type, field), "false",                                      \
     .help = "leave a plan even if a device needs more memory than it has"}

enum { LIST_FEATURES = FEATURE_PINS | FEATURE_PART_COST | FEATURE_GROUPS | FEATURE_ROUTES };

#endif
