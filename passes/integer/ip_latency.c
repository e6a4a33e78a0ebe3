/* ip-place for one sample alone by subgraphs (ip_latency.h).
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), appendix A.  latency-place with a short search gives a
 * plan.  The latency that the judge finds for it limits the integer program (subgraph_model.h), so that the program has
 * only better plans.  A plan that the solver finds is judged, too, and taken if the judge's value is lower.  The
 * program has unlimited CPUs: so what the solver refutes holds for any number of CPUs, but a plan that it finds may
 * take longer on the CPUs that there are.  Cost: the time that the solver gets. */
#include "passes/integer/ip_latency.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "ir/exec/step_bound.h"
#include "passes/problem/claim.h"
#include "passes/contiguous/infeasible.h"
#include "passes/problem/placing.h"
#include "passes/integer/ip_model.h"
#include "passes/integer/subgraph_model.h"
#include "passes/integer/mip_units.h"
#include "passes/latency/latency_place.h"

#include <inttypes.h>

enum {
    DEFAULT_SECONDS = 60,
    NS_PER_S = 1000000000,
    PS_PER_NS = 1000,
    MILLION = 1000000,
    FIRST_SHARE = 4,     /* the search for a first plan gets 1 / FIRST_SHARE of the time */
    FIRST_STATES = 20000 /* and keeps at most this number of partial plans */
};

struct ip_latency_run {
    struct ctx *x;
    const struct ip_latency *how;
    struct problem *c; /* the problem of the units (subgraph_model.h): its vertices are the units */
    const uint32_t *unit; /* [base vertex] unit that has the vertex */
    struct subgraph_ask ask;
    struct clock clock;
    int64_t path;        /* ps: the longest path through the nodes, a lower bound */
    int64_t grain;       /* ps: every latency is a multiple of it */
    struct plan *best;   /* the best plan so far; NULL: none is known */
    int64_t bound;       /* ps: no contiguous plan with slots takes less, CPUs unlimited */
    bool complete;       /* the model was solved or refuted */
    uint32_t refused;    /* 1: the solver gave a plan that failed the checks */
    uint32_t ncol, nrow; /* numbers of columns and rows of the model */
    uint64_t nodes;      /* number of nodes of the solver's search tree */
    const char *why;     /* if not complete: the reason */
};

/* ---- a plan to start from ------------------------------------------------------------------------ */

/* Returns the plan of latency-place with a short search, whose proofs are not used; NULL: it found no plan. */
static struct plan *find_first(const struct ip_latency_run *r)
{
    /* moves: at least 1, since 0 stands for the usual number */
    const struct latency_options how = {.q = r->how->slots,
                                        .max_states = FIRST_STATES,
                                        .moves = r->how->moves ? r->how->moves : 1,
                                        .seed = r->how->seed};
    struct diag quiet = diag_silent();
    struct settings fewer = *ctx_settings(r->x);
    struct ctx y = *r->x;
    fewer.max_states = 0; /* 0: the user's limit does not apply; how.max_states is the limit */
    fewer.time_limit = clock_left(&r->clock) / FIRST_SHARE * PS_PER_NS + 1;
    y.use.diag = &quiet;
    y.settings = &fewer;
    y.results.plan = NULL;
    y.use.scratch = arena_new(r->x->use.mem);
    int rc = latency_place(&y, &how);
    arena_free(y.use.scratch);
    return rc ? NULL : y.results.plan;
}

/* ---- units -------------------------------------------------------------------------------------- */

/* Returns the level of the units: the base level with the nodes of each atom, which must be in one part, merged to one
 * vertex.  Returns NULL and reports an error if the nodes cannot be joined. */
static struct wdag *unit_level(const struct ctx *x)
{
    struct wdag *base = x->levels.base;
    const nid *atom = x->scene.place->atom;
    uint32_t *group = arena_array(x->use.scratch, (size_t)base->n + 1, sizeof *group), n = 0;
    /* the first node of an atom has the least number, so its group is known when the other nodes of the atom come */
    for (uint32_t v = 0; v < base->n; v++) {
        nid node = base->node[v], first = atom && atom[node] ? atom[node] : node;
        group[v] = first == node ? n++ : group[base->vertex[first]];
    }
    return n == base->n ? base
                        : wdag_merge(base, group, n, "ip-place", x->use.scratch, x->use.diag);
}

/* Makes the problem of the units, and sets all fields of r->ask except its limit.  Returns 0, or -1 and reports an
 * error. */
static int prepare(struct ip_latency_run *r)
{
    struct ctx *x = r->x;
    struct arena *a = x->use.scratch;
    struct wdag *base = x->levels.base, *units = unit_level(x);
    uint32_t *unit = arena_array(a, (size_t)base->n + 1, sizeof *unit);
    if (!units || !(r->c = problem_build(units, &x->scene, MEMORY_UNCHANGED, a, x->use.diag)))
        return -1;
    const uint32_t *class_of = wdag_flatten(any_shape_level(x), a);
    uint32_t *together = arena_array(a, (size_t)units->n + 1, sizeof *together);
    const char **name = arena_array(a, (size_t)units->n + 1, sizeof *name);
    /* from the last vertex to the first, so that in the end a unit has the name of its first node */
    for (uint32_t v = base->n; v-- > 0;) {
        unit[v] = units == base ? v : units->map[v];
        together[unit[v]] = class_of[v];
        const char *of = node_name(x->scene.m, base->node[v]);
        name[unit[v]] = *of ? arena_fmt(a, "%.60s", of) : arena_fmt(a, "v%u", unit[v]);
    }
    r->unit = unit;
    r->ask = (struct subgraph_ask){.slots = r->how->slots,
                                   .lower = r->path,
                                   .together = together,
                                   .nclass = any_shape_level(x)->n,
                                   .name = name};
    r->grain = mip_gcd(ip_grain(r->c), x->scene.model.part_cost);
    return 0;
}

/* ---- the program -------------------------------------------------------------------------------- */

/* Returns the value of the best plan, ps; LOAD_INF: there is none. */
static int64_t value_of(const struct ip_latency_run *r)
{
    return r->best ? r->best->claim.value : LOAD_INF;
}

/* Returns the longest time, ps, that a plan may take to count as better than the best: the best plan's time less the
 * gap, at most how->limit. */
static int64_t target_value(const struct ip_latency_run *r)
{
    int64_t value = value_of(r), t = LOAD_INF;
    if (value < LOAD_INF) {
        int64_t by = mul_div_ceil(value, r->how->gap, MILLION);
        t = value - larger(by, 1);
    }
    return smaller(t, r->how->limit);
}

/* Writes to the file how->write the integer program of all plans that are no worse than the best plan and within the
 * limit.  Returns 0, or -1 and reports an error. */
static int write_model(struct ip_latency_run *r)
{
    struct subgraph_model m;
    /* the integer program has only plans with slots, so the value of a plan without slots does not limit it */
    int64_t value = r->best && r->best->slot ? value_of(r) : LOAD_INF;
    r->ask.limit = smaller(value, r->how->limit);
    if (subgraph_model_build(&m, r->c, &r->ask, r->x->use.scratch, r->x->use.diag))
        return -1;
    r->ncol = m.mip->ncol;
    r->nrow = m.mip->nrow;
    if (m.mip->impossible)
        mip_say_impossible(m.mip);
    return mip_write(m.mip, r->how->write, r->x->use.diag);
}

/* Returns the plan that a solver's answer describes, without a claim; NULL: some unit has no place, or two. */
static struct plan *read_answer(const struct ip_latency_run *r, const struct subgraph_model *m,
                                const struct mip_answer *answer)
{
    struct ctx *x = r->x;
    size_t n = (size_t)x->scene.m->nnode + 1;
    const struct wdag *base = x->levels.base;
    struct plan *p = arena_alloc(x->use.mem, sizeof *p);
    int32_t *dev = arena_array(x->use.scratch, (size_t)r->c->g->n + 1, sizeof *dev);
    uint32_t *slot = arena_array(x->use.scratch, (size_t)r->c->g->n + 1, sizeof *slot);
    if (!subgraph_model_decode(m, answer->x, dev, slot))
        return NULL;
    p->dev = arena_array(x->use.mem, n, sizeof *p->dev);
    p->slot = arena_array(x->use.mem, n, sizeof *p->slot);
    for (size_t i = 0; i < n; i++)
        p->dev[i] = -1;
    for (uint32_t v = 0; v < base->n; v++) {
        p->dev[base->node[v]] = dev[r->unit[v]];
        p->slot[base->node[v]] = slot[r->unit[v]];
    }
    return p;
}

/* Returns the judge's value of a plan with CPUs as `cpus` says, ps; LOAD_INF: the plan is not valid. */
static int64_t judged_value(const struct ip_latency_run *r, const struct plan *p, enum cpus cpus)
{
    struct scene s = r->x->scene;
    s.model.latency.cpus = cpus;
    struct evaluation e = plan_evaluate(&s, p, r->x->use.scratch);
    return evaluation_holds(&e, /*over_memory=*/false) ? e.value : LOAD_INF;
}

/* Takes the plan of an answer if it is better than the best.  Returns the plan's time with unlimited CPUs, ps;
 * LOAD_INF, and takes nothing, if the plan is not valid or takes longer than the solver said. */
static int64_t take_answer(struct ip_latency_run *r, const struct subgraph_model *m,
                           const struct mip_answer *answer)
{
    struct plan *p = read_answer(r, m, answer);
    if (!p)
        return LOAD_INF;
    int64_t free = judged_value(r, p, CPUS_UNBOUNDED);
    int64_t value = judged_value(r, p, r->x->scene.model.latency.cpus);
    if (free == LOAD_INF ||
        (double)free / (double)m->unit > answer->value * (1 + MIP_TOLERANCE) + MIP_TOLERANCE)
        return LOAD_INF;
    if (value < value_of(r)) {
        p->claim.value = value;
        r->best = p;
    }
    return free;
}

/* Returns the lower bound, ps, that follows from a solver's answer, less the gap or the solver's tolerance.  found:
 * time of the answer's plan; LOAD_INF: no plan.  The bound is at most limit + 1, since plans above the limit are not in
 * the model. */
static int64_t bound_of(const struct ip_latency_run *r, const struct subgraph_model *m,
                        const struct mip_answer *a, int64_t found)
{
    int64_t limit = r->ask.limit, above_limit = limit < LOAD_INF ? limit + 1 : LOAD_INF;
    if (a->status == MIP_INFEASIBLE)
        return above_limit;
    if (a->status == MIP_OPTIMAL && found < LOAD_INF)
        return found - (int64_t)((__int128)found * r->how->gap / MILLION);
    double bound = a->bound * (1 - MIP_TOLERANCE) * (double)m->unit;
    return bound < (double)r->path       ? r->path
           : bound < (double)above_limit ? (int64_t)bound
                                         : above_limit;
}

/* Builds the model of all plans that are better than the best one and has it solved; updates the best plan, the bound
 * and the figures of r.  Returns 0, or -1 and reports an error. */
static int solve_model(struct ip_latency_run *r)
{
    struct subgraph_model m;
    struct mip_answer a;
    r->ask.limit = target_value(r);
    if (subgraph_model_build(&m, r->c, &r->ask, r->x->use.scratch, r->x->use.diag))
        return -1;
    problem_tell(r->c, &r->clock, "solving an integer program", 0, value_of(r));
    mip_solve(r->how->solver, m.mip, (double)r->how->gap / MILLION, &r->clock, r->x->use.scratch,
              &a);
    bool answered = a.value < MIP_INF && a.status != MIP_INFEASIBLE;
    int64_t found = answered ? take_answer(r, &m, &a) : LOAD_INF;
    bool holds = !answered || found < LOAD_INF;
    r->refused = !holds;
    r->ncol = m.mip->ncol;
    r->nrow = m.mip->nrow;
    r->nodes = a.nodes;
    r->bound = bound_of(r, &m, &a, found);
    r->complete = a.status == MIP_INFEASIBLE || (a.status == MIP_OPTIMAL && holds);
    r->why = holds ? a.why : "its answer did not hold";
    /* latencies are multiples of the grain, so the bound is rounded up to a multiple */
    if (r->complete && r->grain > 1 && r->bound < LOAD_INF)
        r->bound = (r->bound + r->grain - 1) / r->grain * r->grain;
    return 0;
}

/* ---- what is said ------------------------------------------------------------------------------- */

/* Returns text to follow "contiguous plan": " of up to N subgraphs on each accelerator", as the integer program has
 * only such plans; "" if N is 1. */
static const char *scope_text(const struct ip_latency_run *r)
{
    return r->how->slots > 1
               ? arena_fmt(r->x->use.mem, " of up to %u subgraphs on each accelerator",
                           r->how->slots)
               : "";
}

/* Returns the lines of the proof: those of the bound of all plans, what the solver says, and how to check that with
 * another solver. */
static const char *write_proof(const struct ip_latency_run *r)
{
    char text[UNIT_TEXT], grain[UNIT_TEXT], limit[UNIT_TEXT];
    struct arena *a = r->x->use.mem;
    const char *multiples =
        r->grain > 1 ? arena_fmt(a, " (latencies are multiples of %s)", time_print(grain, r->grain))
                     : "";
    return arena_fmt(
        a,
        "%sno contiguous plan%s takes %s or less, however many CPUs there are%s: %s %s finds so of an integer "
        "program with %u columns and %u rows, to its tolerance, after %" PRIu64
        " nodes of its search\nto check it with any other solver: pcc ... -p "
        "'ip-place{objective=latency:q=%u:limit=%s:solve=false:write=model.mps}'\n",
        r->x->results.plan->claim.proof, scope_text(r), time_print(text, r->bound - 1), multiples,
        r->how->solver->name, mip_version(r->how->solver, r->x->use.scratch), r->ncol, r->nrow,
        r->nodes, r->how->slots, time_print(limit, r->bound - 1));
}

/* Returns the claim's argument: why the plan has its status.  general: bound of all plans. */
static const char *argument_of(const struct ip_latency_run *r, const struct claim *c,
                               struct bound general)
{
    struct arena *a = r->x->use.mem;
    const char *solver = r->how->solver->name, *scope = scope_text(r);
    if (c->status == PLAN_OPTIMAL)
        return general.value >= c->value
                   ? arena_fmt(a, "no plan%s takes less: %s", plan_among(c->scope), general.why)
                   : arena_fmt(a, "no contiguous plan%s takes less: %s", scope, solver);
    if (r->how->write_only)
        return arena_fmt(a, "the plan of annealing; bound: %s", general.why);
    if (!r->complete)
        return arena_fmt(a, "%s: %s; bound: %s", solver, r->why,
                         c->bound > general.value ? solver : general.why);
    if (!r->best->slot && r->bound >= c->value)
        return arena_fmt(a, "no plan with slots takes less, says %s", solver);
    if (r->how->limit < c->value && r->bound > r->how->limit)
        return arena_fmt(a, "no contiguous plan%s is within the limit, says %s", scope, solver);
    if (r->bound + mul_div_ceil(c->value, r->how->gap, MILLION) < c->value)
        return "the best plan with unlimited CPUs takes less";
    return arena_fmt(a, "no contiguous plan%s is better by a share of %d millionths, says %s",
                     scope, (int)r->how->gap, solver);
}

/* Leaves the best plan in x->results.plan with its claim. */
static void conclude(struct ip_latency_run *r)
{
    struct ctx *x = r->x;
    struct plan *p = x->results.plan = r->best;
    struct claim *c = &p->claim;
    int64_t value = c->value;
    p->planner = "ip-place";
    *c = (struct claim){
        .objective = x->scene.model.objective, .value = value, .value_less_parts = value};
    /* the bound of all plans; the claim has it now */
    struct bound general = claim_run(x, &x->scene);
    /* the integer program knows only plans with slots, so its bound holds only if the plan has slots */
    if (p->slot && r->bound > c->bound) {
        c->bound = smaller(r->bound, value);
        c->scope = claim_scope(x, /*contiguous=*/true, /*fused=*/false);
        if (r->complete)
            c->proof = write_proof(r);
    }
    c->status = c->bound >= c->value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    c->argument = argument_of(r, c, general);
}

int ip_latency_run(struct ctx *x, const struct ip_latency *how)
{
    struct ip_latency_run r = {.x = x, .how = how};
    struct place_options first = {.starts = 60 /* as by default */, .seed = how->seed};
    struct planner_input p;
    if (placing_start(x, &first, &p))
        return -1;
    r.clock = p.clock;
    if (!r.clock.deadline)
        clock_limit(&r.clock, DEFAULT_SECONDS * (int64_t)NS_PER_S);
    r.path = step_bound(&x->scene, x->use.scratch).path;
    r.bound = r.path;
    if (prepare(&r))
        return -1;
    r.best = find_first(&r);
    if (how->write && write_model(&r))
        return -1;
    if (!how->write_only && value_of(&r) > r.path && solve_model(&r))
        return -1;
    if (r.refused)
        diag_note(x->use.diag, "ip-place: an answer of %s did not hold and was not used",
                  how->solver->name);
    if (!r.best)
        return report_infeasible(x, p.whole, r.how->slots == 1, &p.orders);
    conclude(&r);
    return 0;
}
