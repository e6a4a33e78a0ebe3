/* Reports why there is no contiguous plan (infeasible.h).
 *
 * First come reasons that need no search: a vertex that no device can run, or that is larger than every device that
 * may hold it; sums of bytes (memory_need.c).  Then the smallest memory with which a plan fits is searched by
 * bisection, between that bound and the need of a plan that was found: interval DP finds plans that fit, the exact
 * search proves that no plan fits.  To try a memory, smaller devices are raised to it and larger ones stay.
 *
 * Cost: a search for each step of bisection, until the time is up. */
#include "passes/contiguous/infeasible.h"

#include "passes/contiguous/ideal_both_ends.h"
#include "passes/problem/memory_need.h"
#include "passes/problem/placing.h"
#include "ir/base/units.h"
#include "ir/exec/live_memory.h"

#include <string.h>

enum {
    INFEASIBLE_STARTS = 8, /* orders that interval DP tries for a memory, at most */
    /* where the memory that sets need at one time counts, interval DP takes longer: it gets one order, with 1 /
     * STEPS_PART of its usual steps, and the least memory is found within 1 / MEMORY_PARTS of itself */
    STEPS_PART = 4,
    MEMORY_PARTS = 64,
    PROOF_STATES = 1000000, /* ideals that the exact search may keep in the decisive questions */
    /* the most ideals that the exact search may keep in a step of bisection */
    BISECT_STATES = 50000
};

/* A bisection for the least memory, bytes, that each device must have. */
struct memory_bisection {
    struct ctx *x;
    const struct wdag *g;
    struct clock *clock;
    const struct interval_how *orders; /* orders that interval DP tries */
    /* the largest memory of which it is proven that no plan fits; -1: nothing is proven */
    int64_t none;
    int64_t lo; /* the largest memory for which a search found no plan, with or without proof */
    int64_t hi; /* the least memory for which a plan was found; INT64_MAX: none was */
    /* [vertex] its device in a plan that fits the memory that the devices have; only if hi is 0 */
    int32_t *fits;
};

/* Looks for a plan that fits devices raised to `memory` bytes, and updates n->none, n->lo, n->hi and n->fits.
 * states: number of ideals that the exact search may keep; 0: interval DP alone. */
static void try_memory(struct memory_bisection *n, int64_t memory, uint64_t states)
{
    struct arena *a = n->x->use.scratch;
    struct arena_mark mark = arena_mark(a);
    struct diag quiet = diag_silent();
    struct problem *c = problem_build(n->g, &n->x->scene, memory, a, &quiet);
    struct problem_plan best = {.value = LOAD_INF,
                                .dev = arena_array(a, (size_t)n->g->n + 1, sizeof(int32_t))};
    struct interval_how how = *n->orders;
    const struct dp_limits most = {.max_states = states, .clock = n->clock};
    bool proven = false;
    if (c)
        problem_forget_times(c);
    bool slow = c && c->values; /* what sets need at one time counts (STEPS_PART) */
    how.starts = smaller_u32(how.starts, slow ? 1 : INFEASIBLE_STARTS);
    how.budget = slow ? INTERVAL_BUDGET / STEPS_PART : how.budget;
    how.clock = n->clock;
    how.phase = NULL; /* the listener is not told: plans found here do not fit the real devices */
    bool found = c && interval_search(c, &how, &best, a).better;
    if (c && !found && states) {
        struct dp_found s = dp_both(c, &most, &best);
        found = s.better;
        proven = s.complete;
    }
    if (found) {
        /* bytes that each device must have; 0: the plan fits the devices as they are */
        int64_t need = memory_of_plan(c, best.dev, a);
        n->hi = smaller(need, n->hi);
        if (!need)
            memcpy(n->fits, best.dev, n->g->n * sizeof *n->fits);
        /* the judge may count more memory than the search did: then the plan does not fit in `memory`, but in `need` */
        n->lo = need > memory ? larger(memory, n->lo) : n->lo;
        n->lo = n->lo < n->hi ? n->lo : n->hi - 1;
    } else {
        n->lo = larger(memory, n->lo);
        n->none = proven && memory > n->none ? memory : n->none;
    }
    arena_release(a, mark);
}

/* Halves the range between n->lo and n->hi until they meet or the time is up.  If plans are judged by what the parts of
 * a device have in memory at one time (exec_live_parts()), a step takes long: then ends when the range is 1 /
 * MEMORY_PARTS of n->hi.  states: as in try_memory(). */
static void bisect(struct memory_bisection *n, uint64_t states)
{
    bool rough = exec_live_parts(&n->x->scene.model);
    while (n->lo + 1 < n->hi && !(rough && n->hi - n->lo <= n->hi / MEMORY_PARTS) &&
           !clock_out(n->clock))
        try_memory(n, n->lo + (n->hi - n->lo) / 2, states);
}

/* Narrows the range of n: raises n->none, the largest memory proven not to be enough, and lowers n->hi, the least
 * memory for which a plan was found (INT64_MAX: none was found).  least: memory that every contiguous plan needs, the
 * first to be tried; 0: not known.  exact: uses the exact search besides interval DP.  Returns true, also if the time
 * ran out.  Returns false if lack of memory is not why there is no plan: none was found although each device had room
 * for all nodes.  *proven then tells whether it is proven that there is none. */
static bool narrow_memory(struct memory_bisection *n, int64_t least, bool exact, bool *proven)
{
    uint64_t states = exact ? PROOF_STATES : 0;
    /* often the least memory that sums of bytes ask for is enough */
    if (least && !clock_out(n->clock))
        try_memory(n, least, states);
    if (n->hi == INT64_MAX && !clock_out(n->clock)) {
        int64_t all = sat_add(1, memory_that_suffices(n->x, n->g));
        try_memory(n, all, states);
        *proven = n->none >= all;
        if (n->hi == INT64_MAX && !n->clock->why)
            return false;
    }
    if (n->hi == INT64_MAX) /* the time is up */
        return true;
    bisect(n, 0);
    /* interval DP alone has found n->hi: the exact search finds plans for less memory, or proves that there are none */
    if (exact && n->hi < INT64_MAX && n->none < n->hi - 1 && !clock_out(n->clock)) {
        n->lo = n->none;
        try_memory(n, n->hi - 1, PROOF_STATES);
        bisect(n, BISECT_STATES);
    }
    return true;
}

/* Returns whether the nodes on a host need not be one stretch of the model, and hosts share their memory: proofs by a
 * search of contiguous plans do not hold then. */
static bool hosts_are_free(const struct scene *s)
{
    bool host = false;
    for (uint32_t k = 0; k < s->cluster->ncls; k++)
        host |= s->cluster->cls[k].host && s->cluster->cls[k].count;
    return host && exec_kind(&s->model)->subgraphs;
}

/* Returns the end of a message that says which nodes need the memory, such as ": 'a' and 2 more nodes must share a
 * device and need 3 GB, the largest device that may run them has 2 GB"; "" if need->least is 0. */
static const char *why_need(struct ctx *x, const struct wdag *g, const struct memory_need *need)
{
    char bytes[UNIT_TEXT], room[UNIT_TEXT];
    /* where hosts share their memory (memory_need.c), need->room may be that of all hosts together */
    const char *hosts = hosts_are_free(&x->scene) ? ", or all hosts," : "";
    uint32_t nodes = 0; /* number of nodes in the vertex that needs the memory */
    if (!need->least)
        return "";
    bytes_short(bytes, need->bytes);
    bytes_short(room, need->room);
    if (need->vertex == UINT32_MAX)
        return arena_fmt(x->use.mem, ": %s need %s, the devices that may run them have %s in all",
                         need->bytes == wdag_bytes(g) ? "all nodes" : "some nodes", bytes, room);
    const uint32_t *at = wdag_flatten(g, x->use.scratch);
    for (uint32_t u = 0; u < x->levels.base->n; u++)
        nodes += at[u] == need->vertex;
    const char *name = first_node(x, g, need->vertex);
    if (nodes <= 1)
        return arena_fmt(x->use.mem,
                         ": node '%s' needs %s, the largest device%s that may run it has %s", name,
                         bytes, hosts, room);
    return arena_fmt(x->use.mem,
                     ": '%s' and %u more node%s must share a device and need %s, the largest "
                     "device%s that may run them has %s",
                     name, nodes - 1, nodes > 2 ? "s" : "", bytes, hosts, room);
}

/* Reports that no memory would help: a node can run nowhere, pins contradict each other, or too much is to be
 * cut.  proven: no plan exists; else none was found.  Returns PASS_INFEASIBLE. */
static int report_contradiction(struct ctx *x, bool proven)
{
    diag_error(x->use.diag,
               "no %s %s: some node cannot run on any device, or pins contradict each "
               "other or the order of the nodes%s",
               claim_plans(x, "contiguous plan"), proven ? "exists" : "was found",
               x->levels.base->apart.at ? ", or --cut-at asks for more cuts than the devices allow"
                                        : "");
    return PASS_INFEASIBLE;
}

/* Returns the need of memory of plans of any shape, and sets *g to their level, any_shape_level(): only the nodes of a
 * colocation class must share a device there.  If no struct problem can be made of that level, returns `need` and
 * leaves *g as it is. */
static struct memory_need need_of_classes(struct ctx *x, const struct wdag **g,
                                          struct memory_need need)
{
    struct diag quiet = diag_silent();
    const struct problem *c =
        problem_build(any_shape_level(x), &x->scene, MEMORY_UNCHANGED, x->use.scratch, &quiet);
    if (!c)
        return need;
    *g = any_shape_level(x);
    return memory_need(c);
}

/* Looks for a plan of level g that fits with n samples on their way at once.  Returns the number of samples with
 * which the plan found fits, n or more; 0: none was found. */
static uint32_t try_samples(struct ctx *x, const struct wdag *g, uint32_t n,
                            const struct interval_how *orders)
{
    struct arena *a = x->use.scratch;
    struct diag quiet = diag_silent();
    struct scene few = x->scene;
    few.model.in_flight = n;
    struct problem *c = problem_build(g, &few, MEMORY_UNCHANGED, a, &quiet);
    struct problem_plan best = no_plan(x, g);
    struct interval_how how = *orders;
    how.starts = 1;
    how.budget = INTERVAL_BUDGET / STEPS_PART;
    how.phase = NULL;
    if (!c || memory_need(c).least || !interval_search(c, &how, &best, a).better ||
        memory_of_plan(c, best.dev, a))
        return 0;
    const struct plan plan = {.dev = plan_project(g, best.dev, x->scene.m->nnode, a),
                              .copies = best.copies};
    return larger_u32(live_memory_samples(&x->scene, &plan, a), n);
}

/* If a search finds a plan of level g that fits with two samples on their way at once, or with one, returns the end
 * of a message, such as "; with --in-flight=1 one does"; else "". */
static const char *fewer_samples(struct ctx *x, const struct wdag *g,
                                 const struct interval_how *orders)
{
    struct arena_mark mark = arena_mark(x->use.scratch);
    const struct exec_model *e = &x->scene.model;
    bool steady = exec_live_parts(e) && exec_kind(e)->feed == FEED_STEADY;
    /* n: samples on their way, fewer than --in-flight allows (in_flight 0: as many as there are) */
    uint32_t found = 0, n = 0;
    if (steady)
        n = e->in_flight ? smaller_u32(e->in_flight - 1, 2) : 2;
    for (; n && !found; n--)
        found = clock_out(orders->clock) ? 0 : try_samples(x, g, n, orders);
    arena_release(x->use.scratch, mark);
    return found ? arena_fmt(x->use.mem, "; with --in-flight=%u one does", found) : "";
}

/* Reports that no device can run vertex need->nowhere.  If sure->nowhere is set, too, the vertex by itself is the
 * reason; else the vertices that contiguous plans join to it.  plans: the kind of plan that was not found, such as
 * "contiguous plan". */
static void report_nowhere(struct ctx *x, const struct wdag *g, const struct memory_need *need,
                           const struct memory_need *sure, const char *plans)
{
    const char *node = first_node(x, g, need->nowhere);
    if (sure->nowhere == UINT32_MAX)
        diag_error(x->use.diag,
                   "no contiguous plan was found: no device can run all that lies between the "
                   "nodes that share one with '%s' (ip-place{objective=latency} keeps them apart)",
                   node);
    else
        diag_error(x->use.diag,
                   "no %s exists: node '%s' cannot run on any device that it may be on", plans,
                   node);
}

/* Does the work of report_infeasible() and report_none_fits().  shape: "contiguous plan", or "plan" where no plan of
 * any shape was found. */
static int report(struct ctx *x, const struct wdag *g, bool exact, const char *shape,
                  const struct interval_how *orders)
{
    struct diag quiet = diag_silent();
    const char *plans = claim_plans(x, shape);
    const struct problem *c = problem_build(g, &x->scene, MEMORY_UNCHANGED, x->use.scratch, &quiet);
    if (!c)
        return report_contradiction(x, /*proven=*/false);
    /* need: the memory that contiguous plans of level g need; sure: the memory that all plans that the message is about
     * need; of: the level for which `sure` is computed */
    struct memory_need need = memory_need(c), sure = need;
    const struct wdag *of = g;
    exact &= !hosts_are_free(&x->scene);
    if (!exact && (exec_kind(&x->scene.model)->subgraphs || exec_live_parts(&x->scene.model)))
        sure = need_of_classes(x, &of, need);
    if (need.nowhere != UINT32_MAX) {
        report_nowhere(x, g, &need, &sure, plans);
        return PASS_INFEASIBLE;
    }
    if (!need.least && orders->clock->why) {
        diag_error(x->use.diag, "no %s was found: %s", plans, orders->clock->why);
        return PASS_INFEASIBLE;
    }
    struct memory_bisection n = {.x = x,
                                 .g = g,
                                 .clock = orders->clock,
                                 .orders = orders,
                                 .none = sure.least - 1,
                                 .lo = need.least - 1,
                                 .hi = INT64_MAX,
                                 .fits =
                                     arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *n.fits)};
    bool proven = false;
    if (!narrow_memory(&n, need.least, exact, &proven))
        return report_contradiction(x, proven);
    /* the judge counts fewer bytes than searches do, so the plan may fit after all */
    if (n.hi == 0 && exec_live_parts(&x->scene.model)) {
        leave_judged(x, /*planner=*/NULL, g, n.fits);
        return 0;
    }
    if (n.hi == 0) {
        diag_error(x->use.diag,
                   "no %s was found in the states allowed, but there are some: "
                   "raise --max-states",
                   plans);
        return PASS_INFEASIBLE;
    }
    const char *why =
        arena_fmt(x->use.mem, "%s%s", why_need(x, of, &sure), fewer_samples(x, g, orders));
    return report_memory(x, plans, n.hi == INT64_MAX ? 0 : n.hi, n.none, why);
}

int report_infeasible(struct ctx *x, const struct wdag *g, bool exact,
                      const struct interval_how *orders)
{
    return report(x, g, exact, "contiguous plan", orders);
}

int report_none_fits(struct ctx *x, const struct wdag *g, const struct interval_how *orders)
{
    return report(x, g, /*exact=*/false, "plan", orders);
}
