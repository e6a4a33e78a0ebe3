/* m-topo-place: goes through the nodes breadth first and fills each device up to about an equal share of the bytes.
 *
 * Source: Baechi's m-TOPO (SoCC 2020).  The nodes are put in Kahn's order on one device until it would hold more than
 * (all bytes / devices + bytes of the largest node or group), then on the next one, never going back; with fill=memory,
 * meant for devices that differ, a device is filled until its memory is full.  The original gives up when the last
 * device is full.  A group's bytes count at once when its first node is placed (list.h); the original counts them node
 * by node, and may then run out of memory.  CPUs come after the accelerators, and get no share of their own.  O(V + E +
 * devices). */
#include "passes/list/baechi.h"
#include "passes/list/fused.h"

#include "ir/base/units.h"
#include "ir/dag/topo_order.h"

enum { FILL_EVEN, FILL_MEMORY };

/* The values of the options in m_topo_opts. */
struct m_topo_options {
    int64_t fill; /* one of FILL_* */
    bool best_effort, fuse;
};

static const char *const fill_names[] = {"even", "memory", NULL};

static const struct opt m_topo_opts[] = {
    {OPT_CHOICE, "fill", offsetof(struct m_topo_options, fill), "even", .names = fill_names,
     .help =
         "a device takes an even share of the bytes and the largest node or group, or what its memory holds"},
    {OPT_BOOL, "best-effort", offsetof(struct m_topo_options, best_effort), "false",
     .help = "what has no room on any device goes where least is used"},
    LIST_FUSE(struct m_topo_options, fuse),
    {0}};

/* Places all vertices in the given order.  even: whether devices get equal shares, or as much as their memory holds.
 * Returns the first vertex that fitted no device, or UINT32_MAX. */
static uint32_t place(struct placement *r, const uint32_t *order, bool even, struct arena *a)
{
    const struct cluster *c = r->scene->cluster;
    uint32_t at = 0, sharers, none = UINT32_MAX, *device = list_devices(c, &sharers, a);
    int64_t share = even ? sat_add(placement_all(r) / sharers, placement_most(r)) : INT64_MAX;
    placement_empty(r);
    for (uint32_t i = 0; i < r->base->n; i++) {
        const uint32_t *v = &order[i];
        uint32_t to = UINT32_MAX;
        placement_ask(r, v, 1);
        for (uint32_t j = at; j < c->ndev && to == UINT32_MAX; j++) {
            int64_t need = placement_adds(r, device[j]);
            if (placement_takes(r, device[j]) &&
                (need == 0 || sat_add(r->used[device[j]], need) <= share))
                to = device[j];
            else if (j == at && need < INT64_MAX)
                at++; /* the device has its share: later vertices begin with the next one */
        }
        if (to == UINT32_MAX && r->home[r->group[*v]] < 0) {
            none = none == UINT32_MAX ? *v : none;
            to = placement_least(r, v, 1);
        }
        if (to != UINT32_MAX)
            placement_put(r, v, 1, to);
    }
    return none;
}

/* Returns words for the claim: "m-TOPO, 3 without room". */
static const char *name_plan(struct ctx *x, const struct placement *r)
{
    return r->lacking ? arena_fmt(x->use.mem, "m-TOPO, %u without room", r->lacking) : "m-TOPO";
}

/* Makes a plan by place() and keeps it in *best if it is better; even: as for place().  Returns the first vertex that
 * fitted no device, or UINT32_MAX. */
static uint32_t try_fill(struct ctx *x, struct placement *r, bool even, struct list_schedule *best)
{
    struct arena *own = arena_new(x->use.scratch);
    uint32_t *order = topo_order(r->base, TOPO_FIFO, 0, own);
    uint32_t none = place(r, order, even, own);
    list_offer(x, best, r, order, name_plan(x, r));
    arena_free(own);
    return none;
}

void m_topo_try(struct ctx *x, struct placement *r, struct list_schedule *best)
{
    try_fill(x, r, /*even=*/true, best);
}

/* pass.run: leaves the plan of m-TOPO.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int m_topo_run(struct ctx *x, const void *options)
{
    const struct m_topo_options *o = options;
    struct list_schedule best = {0};
    struct placement r;
    int rc = placement_start(&r, x, "m-topo-place", o->fuse);
    if (rc)
        return rc;
    uint32_t none = try_fill(x, &r, o->fill == FILL_EVEN, &best);
    if (none != UINT32_MAX && !o->best_effort) {
        diag_error(x->use.diag,
                   "m-topo-place: '%s' has no room on any device (best-effort=true puts it where "
                   "least is used)",
                   node_name(x->scene.m, r.node[none]));
        return PASS_INFEASIBLE;
    }
    return list_leave(x, "m-topo-place", &best, o->best_effort);
}

const struct planner planner_m_topo_place = {
    .pass = {"m-topo-place",
             "nodes breadth first, an even share of the bytes for each device (Baechi)",
             m_topo_opts, sizeof(struct m_topo_options),
             .needs = NEED_COST | NEED_CONTRACT | NEED_MIRROR, .run = m_topo_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};
