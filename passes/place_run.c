/* What dpl-place and dp-place have in common (place_run.h).
 *
 * When no plan fits, the smallest memory that would do is found by bisection over interval DP
 * ("a plan was found"), then over the exact search within a small budget ("none exists").  It
 * starts at the average that all bytes need.  Memories below the one tried are raised to it,
 * larger ones stay. */
#include "passes/place_run.h"

#include "passes/claim.h"
#include "passes/dp_both.h"
#include "passes/topo.h"
#include "ir/units.h"

enum { INFEASIBLE_STARTS = 8, PROOF_STATES = 1000000, BISECT_STATES = 50000 };

const struct opt place_opts[] = {
    {.kind = OPT_INT,
     .name = "max-states",
     .off = offsetof(struct place_options, max_states),
     .def = "2000000",
     .lo = "0",
     .hi = "1000000000",
     .help = "ideals that a search may keep, and a quarter of the steps of all, before they give up"},
    {.kind = OPT_BOOL,
     .name = "count-ideals",
     .off = offsetof(struct place_options, count_ideals),
     .def = "false",
     .help = "count all ideals of the graph, too"},
    {.kind = OPT_BOOL,
     .name = "whole",
     .off = offsetof(struct place_options, whole),
     .def = "true",
     .help = "after a fused graph, search the whole graph, too"},
    {.kind = OPT_INT, /* from here: PLACE_OPTS_EXACT */
     .name = "starts",
     .off = offsetof(struct place_options, starts),
     .def = "60",
     .lo = "1",
     .hi = "1000000",
     .help = "topological orders to try"},
    {.kind = OPT_INT,
     .name = "seed",
     .off = offsetof(struct place_options, seed),
     .def = "1",
     .lo = "0",
     .hi = "1000000000",
     .help = "seed of the orders; 0: of one kind, the first by number"},
    {.kind = OPT_CHOICE,
     .name = "order",
     .off = offsetof(struct place_options, order),
     .def = "mixed",
     .names = topo_names,
     .help = "kind of the topological orders; mixed: several in turn"},
    {0}};

struct wdag *whole_level(const struct ctx *x)
{
    return x->whole ? x->whole : x->base;
}

int placing_start(struct ctx *x, const char *planner, const struct place_options *o,
                  struct placing *p)
{
    if (ctx_base(x))
        return -1;
    if (cluster_grouped(x->cluster))
        return diag_error(x->diag,
                          "%s: it knows no groups of devices: use hier-place, or leave "
                          "the groups out",
                          planner);
    *p = (struct placing){.whole = whole_level(x), .level = x->top, .clock = {.stop = x->stop}};
    if (x->time_limit > 0)
        p->clock.deadline = chain_now() + x->time_limit / 1000;
    p->run.starts = (uint32_t)o->starts;
    p->run.seed = (uint64_t)o->seed;
    p->run.order = (uint32_t)o->order;
    p->run.clock = &p->clock;
    p->chain = p->top = chain_build(p->whole, x->cluster, -1, x->scratch, x->diag);
    if (p->chain && p->level != p->whole)
        p->top = chain_build(p->level, x->cluster, -1, x->scratch, x->diag);
    return p->chain && p->top ? 0 : -1;
}

struct chain_plan no_plan(struct ctx *x, const struct wdag *g)
{
    struct chain_plan p = {.value = CHAIN_INF,
                           .dev = arena_array(x->mem, (size_t)g->n + 1, sizeof(int32_t))};
    if (x->cluster->replicate)
        p.copies = arena_array(x->mem, x->cluster->ndev + 1, sizeof *p.copies);
    if (g->n == 0)
        p.value = 0;
    return p;
}

const char *first_node(const struct ctx *x, const struct wdag *g, uint32_t v)
{
    const uint32_t *at = wdag_flatten(g, x->scratch);
    for (uint32_t u = 0; u < x->base->n; u++)
        if (at[u] == v)
            return node_name(x->m, x->base->node[u]);
    return "";
}

void leave_plan(struct ctx *x, const char *planner, const struct wdag *g,
                const struct chain_plan *best)
{
    struct plan *p = x->plan = arena_alloc(x->mem, sizeof *p);
    p->planner = planner;
    p->dev = plan_project(g, best->dev, x->m->nnode, x->mem);
    p->copies = best->copies;
    p->value = claim_value(x, best, p->dev);
    p->bare = best->value;
    p->bound = p->bound_all = -1;
    p->status = PLAN_FEASIBLE;
}

/* Whether a plan exists if no bounded device has less than `memory`: 1 yes, 0 no,
 * -1 not found out.  states: of the exact search; 0: none. */
static int fits(struct ctx *x, const struct wdag *g, int64_t memory, uint64_t states,
                struct chain_clock *clock, const struct interval_run *dpl)
{
    struct arena_mark mark = arena_mark(x->scratch);
    struct diag quiet = diag_silent();
    struct chain *c = chain_build(g, x->cluster, memory, x->scratch, &quiet);
    struct chain_plan best = {.value = CHAIN_INF,
                              .dev = arena_array(x->scratch, (size_t)g->n + 1, sizeof(int32_t))};
    struct interval_run run = *dpl;
    int answer = -1;
    if (c)
        chain_forget_times(c);
    run.starts = run.starts < INFEASIBLE_STARTS ? run.starts : INFEASIBLE_STARTS;
    run.clock = clock;
    if (c && interval_search(c, &run, &best, x->scratch))
        answer = 1;
    if (c && answer < 0 && states) {
        struct dp_search s = {.max_states = states, .clock = clock};
        if (dp_both(c, &s, &best, x->scratch))
            answer = 1;
        else if (s.complete)
            answer = 0;
    }
    arena_release(x->scratch, mark);
    return answer;
}

/* Narrows (*lo, *hi]: a plan fits hi, none that was found fits lo.  What was found out about lo. */
static int bisect(struct ctx *x, const struct wdag *g, int64_t *lo, int64_t *hi, uint64_t states,
                  struct chain_clock *clock, const struct interval_run *dpl)
{
    int about_lo = 0; /* nothing fits no memory */
    while (*lo + 1 < *hi && !chain_out(clock)) {
        int64_t mid = *lo + (*hi - *lo) / 2;
        int answer = fits(x, g, mid, states, clock, dpl);
        if (answer == 1) {
            *hi = mid;
        } else {
            *lo = mid;
            about_lo = answer;
        }
    }
    return *lo + 1 == *hi ? about_lo : -1;
}

int64_t average_memory(const struct cluster *c, int64_t bytes)
{
    int64_t lo = 0, hi = bytes;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2, room = 0;
        for (uint32_t k = 0; k < c->ncls; k++) {
            int64_t m = c->cls[k].memory;
            if (m < 0 && c->cls[k].count)
                return 0;
            room = sat_add(room, sat_mul(c->cls[k].count, m < mid ? mid : m));
        }
        if (room >= bytes)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

int report_memory(struct ctx *x, const char *shape, int64_t need, bool proven, int64_t least)
{
    char exact_text[UNIT_TEXT], text[UNIT_TEXT], least_text[UNIT_TEXT];
    if (!need) {
        diag_error(x->diag,
                   "no %s fits the memory of the devices: nothing below %s (%s) per device does",
                   shape, bytes_print(exact_text, least), bytes_short(text, least));
        return PASS_INFEASIBLE;
    }
    diag_error(x->diag, "no %s fits the memory of the devices: %s %s (%s) per device%s", shape,
               proven ? "they need" : "the smallest found needs", bytes_print(exact_text, need),
               bytes_short(text, need),
               proven || !least ? ""
                                : arena_fmt(x->mem, ", and nothing below %s does",
                                            bytes_short(least_text, least)));
    return PASS_INFEASIBLE;
}

int report_infeasible(struct ctx *x, const struct wdag *g, bool exact,
                      const struct interval_run *dpl)
{
    struct chain_clock *clock = dpl->clock;
    int64_t lo = 0, hi = sat_add(1, wdag_bytes(g)), least = INT64_MAX;
    if (clock->why) {
        diag_error(x->diag, "no contiguous plan was found: %s", clock->why);
        return PASS_INFEASIBLE;
    }
    for (uint32_t k = 0; k < x->cluster->ncls; k++)
        if (x->cluster->cls[k].memory >= 0 && x->cluster->cls[k].memory < least)
            least = x->cluster->cls[k].memory;
    int answer = fits(x, g, hi, exact ? PROOF_STATES : 0, clock, dpl);
    if (answer <= 0) {
        diag_error(x->diag,
                   "no contiguous plan %s: some node cannot run on any device, or pins contradict "
                   "each other or the order of the nodes",
                   answer < 0 || !exact ? "was found" : "exists");
        return PASS_INFEASIBLE;
    }
    int64_t average = average_memory(x->cluster, hi - 1);
    lo = average > 0 ? average - 1 : 0;
    /* by interval DP first, then the exact search where that ended, and below it if need be */
    bisect(x, g, &lo, &hi, 0, clock, dpl);
    answer = exact && !clock->why ? fits(x, g, hi - 1, PROOF_STATES, clock, dpl) : -1;
    if (answer == 1) {
        lo = average > 0 ? average - 1 : 0;
        hi--;
        answer = bisect(x, g, &lo, &hi, BISECT_STATES, clock, dpl);
    }
    if (hi <= least) {
        diag_error(x->diag,
                   "no contiguous plan was found in the states allowed, but there are some: "
                   "raise --max-states");
        return PASS_INFEASIBLE;
    }
    bool proven = (answer == 0 && !clock->why) || hi == average;
    return report_memory(x, "contiguous plan", hi, proven, average);
}
