/* latency-place: contiguous plans for one sample alone on accelerators whose memory may not hold the model.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), section 4 and appendices A and F.  Where the paper has
 * an integer program, here annealing and an exact search over ideals take turns (latency_solve.c).  Their bounds count
 * CPUs as unlimited, and hold for plans that put whole blocks on the hosts; the plan's value is the judge's.
 * Cost: the option max-states limits memory and steps of the searches, the option moves those of annealing. */
#include "passes/latency/latency_place.h"

#include "ir/base/units.h"
#include "ir/exec/latency/latency_verdict.h"
#include "passes/problem/claim.h"
#include "passes/contiguous/infeasible.h"
#include "passes/problem/placing.h"
#include "passes/latency/latency_anneal.h"
#include "passes/latency/latency_solve.h"
#include "passes/problem/memory_need.h"

#include <assert.h>
#include <inttypes.h>

static const struct opt latency_opts[] = {
    {OPT_INT, "q", offsetof(struct latency_options, q), "1", .lo = "1", .hi = "64",
     .help = "subgraphs that an accelerator may have, one after the other"},
    {OPT_INT, "max-states", offsetof(struct latency_options, max_states), "2000000", .lo = "0",
     .hi = "1000000000",
     .help = "partial plans that a search may keep, and by 1/800 the steps of all; 0: no search"},
    {OPT_INT, "moves", offsetof(struct latency_options, moves), "0", .lo = "0",
     .hi = "1000000000000", .help = "moves of annealing where no search ends; 0: what is usual"},
    {OPT_INT, "seed", offsetof(struct latency_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of all random choices"},
    {0}};

enum {
    CUT_WORK = 20000000, /* moves * (units + pins) of annealing in anneal_on() */
    STEPS = 800,         /* all searches together may take STEPS * max-states steps */
    SLOT_STEPS = 100,    /* the same with several slots, where a step takes longer */
    START_ORDERS = 8     /* orders that start_along_orders() tries */
};

/* One run of the planner. */
struct latency_place_run {
    struct ctx *x;
    const struct latency_options *o;
    struct problem *c;
    const struct latency_graph *p;     /* the graph that the best plan so far is a plan of */
    const uint32_t *at;                /* [base vertex] block that has the vertex */
    const struct interval_how *orders; /* orders of vertices for interval DP */
    struct clock clock;
    int32_t *dev;   /* [node] scratch of judge_value(): device */
    uint32_t *slot; /* [node] scratch of judge_value(): slot */
};

/* Writes the device and slot (plan.slot) of each node under the plan sub[] of p. */
static void write_nodes(const struct latency_place_run *n, const struct latency_graph *p,
                        const uint32_t *sub, int32_t *dev, uint32_t *slot)
{
    const struct wdag *base = n->x->levels.base;
    for (uint32_t i = 0; i < n->x->scene.m->nnode; i++) {
        dev[i] = -1;
        slot[i] = 0;
    }
    for (uint32_t u = 0; u < base->n; u++) {
        uint32_t b = n->at[u], s = sub[b];
        assert(b < p->g->n && (s == ON_HOST || s / p->slots < p->c->cluster->ndev));
        dev[base->node[u]] = s == ON_HOST ? p->host_dev[b] : (int32_t)(s / p->slots);
        slot[base->node[u]] = s == ON_HOST ? 0 : s % p->slots + 1;
    }
}

/* Returns the latency, ps, that the judge computes for the plan sub[] of n->p.  of: the struct latency_place_run.  For
 * latency_judge.value. */
static int64_t judge_value(void *of, const uint32_t *sub)
{
    const struct latency_place_run *n = of;
    write_nodes(n, n->p, sub, n->dev, n->slot);
    int64_t value =
        latency_value(&n->x->scene, n->dev, n->p->judge.alone ? NULL : n->slot, n->x->use.scratch);
    return smaller(value, LOAD_INF);
}

/* Makes the latency problem n->p, with a judge if latency_of() is not exact for it, and returns it. */
static struct latency_graph *make_graph(struct latency_place_run *n, uint32_t slots)
{
    assert(slots >= 1);
    struct latency_graph *p =
        latency_graph_build(n->c, n->x->levels.base, slots, n->x->use.scratch);
    bool list = n->x->scene.model.latency.cpus == CPUS_LIST;
    if (list || p->judge.mixed) {
        p->judge.value = judge_value;
        p->judge.of = n;
    }
    p->all_cpus = list ? p->all_cpus : 0;
    n->p = p;
    return p;
}

/* Returns whether having all blocks on the hosts, or filling accelerators one after the other (latency_fill), gives a
 * plan: annealing tries these starts itself. */
static bool has_simple_start(const struct latency_graph *p, struct latency_quotient *quotient,
                             struct arena *a)
{
    struct latency_plan plan = latency_no_plan(p, a);
    latency_fill(p, NULL, &plan, quotient, a);
    for (uint32_t b = 0; b < p->g->n && plan.value == LOAD_INF; b++)
        plan.sub[b] = ON_HOST;
    return plan.value < LOAD_INF ||
           (latency_fits(p, plan.sub, quotient) && latency_of(p, plan.sub, quotient) < LOAD_INF);
}

/* If there is no simple start, writes to *best the plan with the least time per sample that interval DP finds, from
 * which annealing can start.  In such a plan each device holds an interval of an order of the blocks.  best->value
 * stays LOAD_INF if there is a simple start, if interval DP finds no plan, or if its plan does not fit the memory. */
static void start_along_orders(struct latency_place_run *n, const struct latency_graph *p,
                               struct latency_plan *best)
{
    struct arena *a = n->x->use.scratch;
    struct latency_quotient *quotient = latency_quotient_new(p, a);
    struct interval_how how = *n->orders;
    struct problem_plan plan = {.value = LOAD_INF,
                                .dev = arena_array(a, (size_t)p->g->n + 1, sizeof(int32_t))};
    how.starts = smaller_u32(how.starts, START_ORDERS);
    how.phase = NULL;
    if (has_simple_start(p, quotient, a) || !interval_search(n->c, &how, &plan, a).better)
        return;
    for (uint32_t b = 0; b < p->g->n; b++) {
        uint32_t d = (uint32_t)plan.dev[b];
        best->sub[b] = p->kind_of[d] == UINT8_MAX ? ON_HOST : d * p->slots;
    }
    if (latency_fits(p, best->sub, quotient))
        best->value = latency_judged(p, best->sub, quotient, latency_of(p, best->sub, quotient));
}

/* Returns the best plan found with up to `slots` subgraphs on each accelerator; the search for slots > 1 starts from
 * the best plan for one.  Writes the tails to *t, the result of latency_solve() to *s, and makes n->p the plan's
 * graph. */
static struct latency_plan solve(struct latency_place_run *n, uint32_t slots,
                                 struct latency_tail **t, struct latency_result *s)
{
    struct arena *a = n->x->use.scratch;
    struct latency_plan one = {.value = LOAD_INF};
    if (slots > 1)
        one = solve(n, 1, t, s);
    struct latency_graph *p = make_graph(n, slots);
    struct latency_plan best = latency_no_plan(p, a);
    for (uint32_t b = 0; slots > 1 && b < p->g->n; b++)
        best.sub[b] = one.sub[b] == ON_HOST ? ON_HOST : one.sub[b] * slots;
    best.value = one.value;
    if (slots == 1)
        start_along_orders(n, p, &best);
    int64_t states =
        ctx_settings(n->x)->max_states ? ctx_settings(n->x)->max_states : n->o->max_states;
    struct latency_how how = {.seed = (uint64_t)n->o->seed,
                              .moves = (uint64_t)n->o->moves,
                              .max_steps = (uint64_t)states * (slots > 1 ? SLOT_STEPS : STEPS),
                              .max_labels = (uint64_t)states,
                              .least = latency_bound(&n->x->scene, a).value,
                              .clock = &n->clock,
                              .mem = n->x->use.mem,
                              .level = contiguous_level(n->x)};
    if (p->training) /* ideals of the forward pass do not say when the backward pass can start */
        how.max_labels = 0;
    *t = p->training ? arena_alloc(a, sizeof **t) : latency_tail_make(p, &n->clock, a);
    *s = latency_solve(p, *t, &how, &best, a);
    return best;
}

/* Anneals plans of p, whose latencies judge_value() computes.  If the result is better than *best, writes it to *best,
 * makes p the graph n->p, and returns true. */
static bool anneal_on(struct latency_place_run *n, struct latency_graph *p,
                      struct latency_plan *best)
{
    struct arena *a = n->x->use.scratch;
    const struct latency_graph *with = n->p;
    struct latency_plan plan = latency_no_plan(p, a);
    uint64_t size = (uint64_t)p->nunit + p->nets->net_pin.at[p->nets->nnet] + 1;
    uint64_t moves = CUT_WORK / size + 2, asked = (uint64_t)n->o->moves;
    struct latency_anneal how = {.seed = (uint64_t)n->o->seed,
                                 .moves = asked && asked < moves ? asked : moves,
                                 .clock = &n->clock};
    p->judge.value = judge_value;
    p->judge.of = n;
    n->p = p;
    /* if not alone, moves that the judge values count more */
    how.moves *= p->judge.alone ? 1 : JUDGED_MOVES;
    latency_anneal(p, &how, &plan, a);
    if (plan.value < best->value) {
        *best = plan;
        return true;
    }
    n->p = with;
    return false;
}

/* For training graphs: anneals plans without slots, in which the judge cuts each device's nodes into subgraphs, which
 * may hold both passes.  Returns whether that gave a better plan, which is then *best. */
static bool solve_cut(struct latency_place_run *n, struct latency_plan *best)
{
    struct latency_graph *p = latency_graph_build(n->c, n->x->levels.base, 1, n->x->use.scratch);
    p->judge.alone = true;
    return anneal_on(n, p, best);
}

/* If the fastest class of hosts has no memory for all blocks: anneals plans with blocks on other classes of hosts, too,
 * and writes the result to *best if it is better. */
static void solve_spread(struct latency_place_run *n, struct latency_plan *best)
{
    const struct latency_graph *with = n->p;
    struct latency_graph *p = make_graph(n, with->slots);
    n->p = with;
    if (latency_spread_hosts(p))
        anneal_on(n, p, best);
}

/* Returns words that follow "contiguous plans" to tell which of them the proof is about, such as ", of up to 2
 * subgraphs ..."; "" if it is about all of them. */
static const char *scope_text(const struct latency_place_run *n)
{
    const char *text = "";
    if (n->p->slots > 1)
        text = arena_fmt(n->x->use.mem, ", of up to %u subgraphs on each accelerator", n->p->slots);
    if (n->p->together)
        text = arena_fmt(n->x->use.mem,
                         "%s, in which nodes that must share a device go to the hosts%s together",
                         text, n->p->slots > 1 ? " or to a subgraph" : "");
    return text;
}

/* Returns the name of the node where the longest path begins; "" if there is no path. */
static const char *path_start(const struct latency_place_run *n, const struct latency_tail *t)
{
    return t->longest < n->p->nunit ? first_node(n->x, n->p->g, n->p->block[t->longest]) : "";
}

/* Fills in the rest of the plan's claim: scope, bound, status, argument and proof. */
static void write_claim(struct latency_place_run *n, const struct latency_tail *t,
                        const struct latency_result *s)
{
    struct ctx *x = n->x;
    struct claim *c = &x->results.plan->claim;
    char text[UNIT_TEXT];
    /* the bound of all plans; the claim has it now */
    struct bound general = claim_run(x, &x->scene);
    const char *proof = c->proof, *scope = scope_text(n), *how;
    if (s->lower > c->bound) {
        c->scope = n->p->together ? SCOPE_CONTIGUOUS_LAYERS
                                  : claim_scope(x, /*contiguous=*/true, /*fused=*/false);
        c->bound = s->lower;
        c->proof = arena_fmt(
            x->use.mem,
            "%sfrom '%s' on, with the transfers that memory forces and what subgraphs must hold, it takes %s\n%s"
            "(of contiguous plans%s; CPUs are not counted)\n",
            proof, path_start(n, t), time_short(text, t->all), s->proof, scope);
    }
    c->status = c->bound >= c->value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    if (c->status == PLAN_OPTIMAL && s->searched)
        how =
            arena_fmt(x->use.mem, "every plan was searched or ruled out: %" PRIu64 " partial plans",
                      s->labels);
    else if (c->status == PLAN_OPTIMAL && t->all < c->value)
        how = arena_fmt(x->use.mem, "no plan takes less: %s", general.why);
    else if (c->status == PLAN_OPTIMAL)
        how = "no plan takes less than the longest way with the transfers that memory forces";
    else if (s->complete)
        how = "the best plan with unlimited CPUs takes less";
    else
        how = arena_fmt(x->use.mem, "best of %" PRIu64 " moves, seed %" PRId64 "; bound: %s%s%s",
                        s->moves, n->o->seed, s->searched ? "search" : "longest way",
                        s->why ? ", " : "", s->why ? s->why : "");
    c->argument = how;
    if (*scope && s->lower >= c->bound) /* scope + 1: without its comma */
        c->argument = arena_fmt(x->use.mem, "%s; plans%s", how, scope + 1);
}

/* Makes results.plan of `best`, a plan for n->p, and returns it; its claim has the value, but no bound yet.  cut:
 * whether the judge cuts the nodes of each device into subgraphs, so that the plan has no slots. */
static struct plan *leave(const struct latency_place_run *n, const struct latency_plan *best,
                          bool cut)
{
    struct ctx *x = n->x;
    struct plan *plan = x->results.plan = arena_alloc(x->use.mem, sizeof *plan);
    plan->planner = "latency-place";
    plan->dev = arena_array(x->use.mem, (size_t)x->scene.m->nnode + 1, sizeof *plan->dev);
    plan->slot = arena_array(x->use.mem, (size_t)x->scene.m->nnode + 1, sizeof *plan->slot);
    write_nodes(n, n->p, best->sub, plan->dev, plan->slot);
    plan->slot = cut ? NULL : plan->slot;
    plan->claim = (struct claim){.objective = x->scene.model.objective,
                                 .value = best->value,
                                 .value_less_parts = best->value,
                                 .bound = -1,
                                 .bound_all = -1};
    return plan;
}

int latency_place(struct ctx *x, const void *options)
{
    /* as the options of dp-place are by default */
    struct place_options first = {.starts = 60, .seed = 1};
    struct latency_place_run n = {.x = x, .o = options};
    struct planner_input p;
    struct latency_tail *t;
    struct latency_result s;
    if (placing_start(x, &first, &p))
        return -1;
    n.c = p.problem;
    n.orders = &p.orders;
    n.clock = p.clock;
    n.at = wdag_flatten(p.whole, x->use.scratch);
    n.dev = arena_array(x->use.scratch, (size_t)x->scene.m->nnode + 1, sizeof *n.dev);
    n.slot = arena_array(x->use.scratch, (size_t)x->scene.m->nnode + 1, sizeof *n.slot);
    struct memory_need need = memory_need(n.c);
    /* only for one subgraph on each accelerator does the report's proof hold */
    bool exact = n.o->q == 1;
    if (need.least || need.nowhere != UINT32_MAX)
        return report_infeasible(x, p.whole, exact, &p.orders);
    struct latency_plan best = solve(&n, (uint32_t)n.o->q, &t, &s);
    if (best.value > s.lower)
        solve_spread(&n, &best);
    bool cut = n.p->training && solve_cut(&n, &best);
    if (best.value == LOAD_INF)
        return report_infeasible(x, p.whole, exact, &p.orders);
    leave(&n, &best, cut)->states = s.ideals;
    write_claim(&n, t, &s);
    return 0;
}

/* planner.implies: the planner always plans for the objective latency. */
static bool always(const void *options)
{
    (void)options;
    return true;
}

const struct planner planner_latency_place = {
    .pass = {.name = "latency-place",
             .help =
                 "contiguous plan of the least latency of one sample (placement paper, section 4)",
             .opts = latency_opts,
             .optsize = sizeof(struct latency_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = latency_place},
    .objectives = {"latency"},
    .features = FEATURE_PINS | FEATURE_PART_COST,
    .implies = always,
    .implied = "latency",
    .fit = FIT_AS_PROVEN};
