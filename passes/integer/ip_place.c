/* ip-place: plans by integer programming, of any shape or contiguous.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1.3, 5.2 and appendix C.  Interval DP over many
 * orders, followed by annealing for plans of any shape, gives a first plan; the solver looks for a better plan, or says
 * that there is none (ip_search.c).  Solvers compute with doubles and tolerances of 1e-9 to 1e-6, so what they prove is
 * stated with a margin: "no plan is better by the gap or more"; the gap is a millionth unless the user asks for more.
 * If all loads are multiples of a time (ip_grain) that is larger than the margin, the bound can be rounded up to the
 * plan's value, and the plan is called optimal; else the plan is called feasible, with the gap.  On a fused level the
 * proof is about that level only.  Cost: the time that the solver gets. */
#include "passes/any_shape/any_search.h"
#include "passes/bounds/explain.h"
#include "passes/integer/ip_latency.h"
#include "passes/integer/ip_refute.h"
#include "passes/integer/ip_search.h"
#include "passes/problem/placing.h"
#include "passes/contiguous/infeasible.h"

#include "ir/base/units.h"

#include <inttypes.h>

enum { DEFAULT_SECONDS = 60, CHAINS = 4 /* chains of annealing */, NS_PER_S = 1000000000 };

/* The values of the options in ip_opts, which says what each means. */
struct ip_options {
    int64_t objective, q, shape, solver, limit, starts, moves, seed;
    bool solve;
    const char *gap, *write;
};

/* values of the option objective, in the order of goal_names.  GIVEN: the objective of --objective; LATENCY: the
 * latency */
enum { GIVEN, LATENCY };
static const char *const goal_names[] = {"given", "latency", NULL};
static const char *const shape_names[] = {"none", "convex", "chain", NULL}; /* enum ip_shape */
enum { SOLVER_LPSOLVE, SOLVER_CBC, SOLVER_AUTO };
static const char *const solver_names[] = {"lp_solve", "cbc", "auto", NULL};

static const struct opt ip_opts[] = {
    {OPT_CHOICE, "objective", offsetof(struct ip_options, objective), "given", .names = goal_names,
     .help = "latency: the program of one sample alone by subgraphs, as with --objective=latency"},
    {OPT_INT, "q", offsetof(struct ip_options, q), "1", .lo = "1", .hi = "64",
     .help = "latency: subgraphs that an accelerator may have, one after the other"},
    {OPT_CHOICE, "contiguous", offsetof(struct ip_options, shape), "none", .names = shape_names,
     .help = "what a device may hold: any set, a convex one, or a step of a chain"},
    {OPT_CHOICE, "solver", offsetof(struct ip_options, solver), "lp_solve", .names = solver_names,
     .help = "auto: CBC where pcc was built with it"},
    {OPT_TEXT, "gap", offsetof(struct ip_options, gap), "0.000001",
     .help = "share of the time by which the plan may miss the best, 0.000001..1"},
    {OPT_TIME, "limit", offsetof(struct ip_options, limit), "0s", .lo = "0s",
     .help = "look only for plans that take this or less, 0s: for all"},
    {OPT_TEXT, "write", offsetof(struct ip_options, write), "",
     .help = "write the model to this file, .lp or .mps"},
    {OPT_BOOL, "solve", offsetof(struct ip_options, solve), "true",
     .help = "false: only write the model"},
    {OPT_INT, "starts", offsetof(struct ip_options, starts), "60", .lo = "1", .hi = "1000000",
     .help = "topological orders to try for the plan to start from"},
    {OPT_INT, "moves", offsetof(struct ip_options, moves), "1000000", .lo = "0",
     .hi = "1000000000000",
     .help = "contiguous=none, latency: moves of annealing that improve that plan; 0: none"},
    {OPT_INT, "seed", offsetof(struct ip_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of both"},
    {0}};

/* Returns an array: [vertex of g] the name of the first node in the vertex. */
static const char *const *vertex_names(struct ctx *x, const struct wdag *g)
{
    const char **name = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *name);
    uint32_t *of = wdag_flatten(g, x->use.scratch);
    const struct wdag *base = x->levels.base;
    for (uint32_t v = base->n; v-- > 0;)
        name[of[v]] = node_name(x->scene.m, base->node[v]);
    return name;
}

/* Returns the solver that the options name.  Returns NULL and reports an error if a model is to be solved, but the
 * solver is not there. */
static const struct mip_solver *choose_solver(const struct ip_options *o, struct diag *d)
{
    bool cbc = o->solver == SOLVER_CBC || (o->solver == SOLVER_AUTO && mip_usable(&mip_cbc));
    const struct mip_solver *s = cbc ? &mip_cbc : &mip_lpsolve,
                            *other = cbc ? &mip_lpsolve : &mip_cbc;
    const char *name = solver_names[cbc ? SOLVER_CBC : SOLVER_LPSOLVE],
               *other_name = solver_names[cbc ? SOLVER_LPSOLVE : SOLVER_CBC];
    if (!o->solve || mip_usable(s))
        return s;
    if (s->attempts)
        diag_error(d, "ip-place: solver=%s: %s is not found: install it, or use solver=%s", name,
                   s->lacks(), other_name);
    else if (mip_usable(other))
        diag_error(d, "ip-place: solver=%s: pcc was built without %s: use solver=%s", name, s->name,
                   other_name);
    else
        diag_error(
            d,
            "ip-place: pcc was built without lp_solve and without CBC: install one of them (Debian: "
            "liblpsolve55-dev, coinor-libcbc-dev) and build again; solve=false:write=FILE needs neither");
    return NULL;
}

/* Returns the proof's lines: why the bound holds, and how to check it with another solver. */
static const char *write_proof(struct ctx *x, const struct ip_options *o, const struct ip_how *how,
                               const struct ip_found *r)
{
    static const char *const what[] = {"plan of any shape", "plan of convex sets",
                                       "chain of devices"};
    char text[UNIT_TEXT];
    char grain[UNIT_TEXT];
    const char *multiples = r->grain > 1 ? arena_fmt(x->use.mem, " (loads are multiples of %s)",
                                                     time_print(grain, r->grain))
                                         : "";
    return arena_fmt(
        x->use.mem,
        "no %s takes %s or less%s: %s %s finds so of %u integer program%s with up to %u "
        "columns and %u rows, to its tolerance, after %" PRIu64 " nodes of its search\n%s",
        what[o->shape], time_print(text, r->bound - 1), multiples, how->solver->name,
        mip_version(how->solver, x->use.scratch), r->models, r->models == 1 ? "" : "s", r->ncol,
        r->nrow, r->nodes, ip_how_to_check(shape_names[o->shape], r->bound - 1, x->use.scratch));
}

/* Writes bound, status and argument of the plan's claim.  The bound is the solver's if the solver was asked, else that
 * of c, the problem for the solver; or that of bounds_all (bounds/bounds.h) if it is larger.  on_whole: c is not the
 * problem of a fused level. */
static void conclude(struct ctx *x, const struct ip_options *o, const struct problem *c,
                     const struct ip_how *how, const struct ip_found *r, bool on_whole)
{
    struct plan *p = x->results.plan;
    const char *solver = how->solver->name;
    /* a clock that does not count the time used so far: these bounds take two seconds at most */
    struct clock after = ctx_late_clock(x);
    bool asked = r->models > 0 && !how->write_only;
    bool proven = r->complete && on_whole && !how->write_only;
    struct bound all = bounds_all(x, p->claim.value_less_parts, /*must_fit=*/true,
                                  proven ? BOUNDS_PROVEN_WORK : BOUNDS_WORK, &after);
    struct bound own = {.value = r->bound, .why = solver};
    if (!asked)
        own = explain_bound(c, x->scene.m, x->use.mem);
    else if (r->complete)
        own.proof = write_proof(x, o, how, r);
    enum plan_scope scope = claim_scope(x, o->shape != IP_ANY, !on_whole);
    const char *why = claim_make(x, scope, own, all);
    if (p->claim.status == PLAN_OPTIMAL && why != solver)
        p->claim.argument =
            arena_fmt(x->use.mem, "no plan%s takes less: %s", plan_among(p->claim.scope), why);
    else if (how->write_only || (!asked && r->complete))
        p->claim.argument = arena_fmt(x->use.mem, "the heuristic's plan; bound: %s", why);
    else if (!r->complete)
        p->claim.argument = arena_fmt(x->use.mem, "%s: %s; bound: %s", solver, r->why, why);
    else if (how->limit < p->claim.value_less_parts && r->bound > how->limit)
        p->claim.argument = arena_fmt(x->use.mem, "no plan%s is within the limit, says %s",
                                      plan_among(scope), solver);
    else
        p->claim.argument = arena_fmt(x->use.mem, "no plan%s is better by a share of %s, says %s",
                                      plan_among(scope), o->gap, solver);
}

/* Reports why there is no plan, for which it may ask the solver for the least memory (not with the option solve=false).
 * Returns PASS_INFEASIBLE. */
static int report_none(struct ctx *x, const struct planner_input *p, const struct problem *c,
                       struct loads *l, const struct ip_how *how, const struct ip_found *r)
{
    bool proven = false;
    char text[BYTES_BOTH];
    const char *what = claim_plans(x, how->shape == IP_CONVEX ? "convex plan" : "plan");
    if (how->shape == IP_CHAIN)
        return report_infeasible(x, p->level, /*exact=*/true, &p->orders);
    if (how->write_only) {
        diag_error(x->use.diag, "no %s was found: the program was written, but not solved", what);
        return PASS_INFEASIBLE;
    }
    int64_t need =
        c->limited ? ip_least_memory(c, l, how, &proven, x->use.scratch, x->use.diag) : -1;
    if (need > 0)
        diag_error(x->use.diag, "no %s fits the memory of the devices: %s %s per device", what,
                   proven ? "they need" : "the smallest found needs", bytes_both(text, need));
    else if (need < 0 && (proven || (r->complete && how->limit >= LOAD_INF)))
        diag_error(x->use.diag, "there is no %s: pins and what devices can run%s leave none", what,
                   proven || !c->limited ? "" : ", with the memory that they have,");
    else if (r->complete && how->limit < LOAD_INF)
        diag_error(x->use.diag, "no %s takes %s or less", what, time_print(text, how->limit));
    else
        diag_error(x->use.diag, "no %s was found: %s", what,
                   r->complete ? "but one fits the devices" : r->why);
    return PASS_INFEASIBLE;
}

/* Writes to *best a plan of c to start from, if interval DP finds one, and improves it by annealing if plans may have
 * any shape and a solver is to be asked.  Returns 0, or -1 and reports an error. */
static int find_first(struct ctx *x, const struct ip_options *o, struct planner_input *p,
                      const struct problem *c, struct problem_plan *best)
{
    struct problem_plan cut = no_plan(x, p->level);
    struct anneal s = {.planner = "ip-place",
                       .moves = (uint64_t)o->moves,
                       .seed = (uint64_t)o->seed,
                       .chains = CHAINS,
                       .clock = &p->clock};
    if (interval_search(p->top, &p->orders, &cut, x->use.scratch).better) {
        best->value = cut.value;
        any_lift(x, c->g, plan_project(p->level, cut.dev, x->scene.m->nnode, x->use.scratch),
                 best->dev);
    }
    any_starts(x, c, p->top, &s);
    if (o->shape != IP_ANY || !o->solve || !o->moves || best->value <= c->lower.value)
        return 0;
    return anneal_search(c, &s, best, x->use.scratch, x->use.diag).rc < 0 ? -1 : 0;
}

/* Plans for the objective latency, which has an integer program of its own (ip_latency.h).  Returns 0, or -1 and
 * reports an error. */
static int run_latency(struct ctx *x, const struct ip_options *o, const struct ip_how *how)
{
    const struct ip_latency ask = {.slots = (uint32_t)o->q,
                                   .solver = how->solver,
                                   .gap = how->gap,
                                   .limit = how->limit,
                                   .moves = o->moves,
                                   .seed = o->seed,
                                   .write = how->write,
                                   .write_only = how->write_only};
    if (o->shape != IP_ANY)
        return diag_error(x->use.diag,
                          "ip-place: contiguous=%s is not for latency, whose subgraphs are "
                          "contiguous in any case: leave it out",
                          shape_names[o->shape]);
    return ip_latency_run(x, &ask);
}

/* Sets the fields of *how that follow from the options: all but the clock, the names and the paths.  latency: whether
 * the objective is the latency.  Returns 0, or -1 and reports an error. */
static int read_options(struct ctx *x, const struct ip_options *o, bool latency, struct ip_how *how)
{
    if (!latency && o->objective == LATENCY)
        return diag_error(x->use.diag,
                          "ip-place: objective=latency, and --objective=%s: leave one out",
                          exec_kind(&x->scene.model)->name);
    if (!latency && o->q > 1)
        return diag_error(x->use.diag, "ip-place: q=%" PRId64 " is for objective=latency alone",
                          o->q);
    *how = (struct ip_how){.planner = "ip-place",
                           .shape = (enum ip_shape)o->shape,
                           .solver = choose_solver(o, x->use.diag),
                           .limit = o->limit ? o->limit : LOAD_INF,
                           .write = *o->write ? o->write : NULL,
                           .write_only = !o->solve};
    if (!how->solver)
        return -1;
    if (how->write_only && !how->write)
        return diag_error(x->use.diag, "ip-place: solve=false: expected write=FILE, too");
    if (!share_parse(o->gap, &how->gap))
        return diag_error(x->use.diag, "ip-place: gap=%s: expected a share in 0.000001..1", o->gap);
    return 0;
}

/* Returns the problem for the solver; NULL after an error.  It is the problem of the top level, but if no pass has
 * fused vertices and the plans need not be chains, that of any_shape_level(). */
static struct problem *problem_to_solve(struct ctx *x, const struct ip_options *o,
                                        const struct planner_input *p)
{
    if (o->shape == IP_CHAIN || p->level != p->whole || any_shape_level(x) == p->whole)
        return p->top;
    return problem_build(any_shape_level(x), &x->scene, MEMORY_UNCHANGED, x->use.scratch,
                         x->use.diag);
}

/* pass.run: solves the integer program for the objective of the scene, or of the option objective.  Returns 0, or -1
 * or PASS_INFEASIBLE after an error. */
static int ip_run(struct ctx *x, const void *options)
{
    const struct ip_options *o = options;
    bool latency = exec_kind(&x->scene.model)->subgraphs;
    struct place_options po = {.starts = o->starts, .seed = o->seed};
    struct planner_input p;
    struct loads l;
    struct ip_how how;
    if (read_options(x, o, latency, &how))
        return -1;
    if (latency)
        return run_latency(x, o, &how);
    if (placing_start(x, &po, &p))
        return -1;
    struct problem *c = problem_to_solve(x, o, &p);
    if (!c || loads_new(&l, c, "ip-place", x->use.scratch, x->use.diag))
        return -1;
    if (!p.clock.deadline)
        clock_limit(&p.clock, DEFAULT_SECONDS * (int64_t)NS_PER_S);
    how.clock = &p.clock;
    how.name = vertex_names(x, c->g);
    if (o->shape == IP_CONVEX && c->g != x->levels.base)
        how.paths = (struct ip_paths){x->levels.base, wdag_flatten(c->g, x->use.scratch)};
    struct problem_plan best = no_plan(x, c->g);
    if (find_first(x, o, &p, c, &best))
        return -1;
    bool enough = best.value <= c->lower.value && !how.write; /* false if there is no plan yet */
    struct ip_found r = {.bound = best.value, .complete = true};
    if (!enough)
        r = ip_search(c, &l, &how, &best, x->use.scratch, x->use.diag);
    if (r.rc)
        return -1;
    if (r.refused)
        diag_note(x->use.diag, "ip-place: %u answers of %s did not hold and were not used",
                  r.refused, how.solver->name);
    if (best.value == LOAD_INF)
        return report_none(x, &p, c, &l, &how, &r);
    leave_plan(x, "ip-place", c->g, &best);
    conclude(x, o, c, &how, &r, p.level == p.whole);
    return 0;
}

/* Whether the integer program is to find the least latency. */
static bool wants_latency(const void *options)
{
    return ((const struct ip_options *)options)->objective == LATENCY;
}

const struct planner planner_ip_place = {
    .pass = {"ip-place", "split by integer programming, contiguous or not (placement paper)",
             ip_opts, sizeof(struct ip_options), .needs = NEED_COST | NEED_CONTRACT, .run = ip_run},
    .fit = FIT_AS_PROVEN,
    .objectives = {"time-per-sample", "latency"},
    .features = FEATURE_PINS | FEATURE_PART_COST | FEATURE_OVERLAP | FEATURE_GPIPE,
    .implies = wants_latency,
    .implied = "latency"};
