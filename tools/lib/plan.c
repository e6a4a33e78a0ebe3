/* Runs pipelines and judges the plans that they make (handle.h).  O(nodes + pins) beside the work of the passes. */
#include "frontends/frontends.h"
#include "ir/base/units.h"
#include "ir/exec/exec_runs.h"
#include "ir/exec/sample/rounds.h"
#include "ir/plan/parts.h"
#include "passes/problem/claim.h"
#include "passes/shapes/bind_dims.h"
#include "tools/lib/idle.h"
#include "tools/lib/assumed.h"
#include "tools/lib/settings.h"

#include <string.h>

const char *default_pipeline(const struct pcc *p)
{
    const struct exec_plans *plans = given_kind(p)->plans;
    const struct cluster *c = p->x.scene.cluster;
    bool groups = handle_given(p, "group") || (c && cluster_grouped(c));
    return groups && plans->grouped ? plans->grouped : plans->pipeline;
}

/* Notes, after no plan has fitted, how much memory --reserve has kept back: a smaller reserve might help. */
static void note_reserve(const struct ctx *x)
{
    char text[UNIT_TEXT];
    for (uint32_t k = 0; k < x->scene.cluster->ncls; k++)
        if (x->scene.cluster->cls[k].reserve)
            diag_note(x->use.diag, "of each %s, %s were left to the runtime (--reserve)",
                      x->scene.cluster->cls[k].name,
                      bytes_short(text, x->scene.cluster->cls[k].reserve));
}

/* Notes, after no plan has fitted, that the memory model sum counts the bytes of all tensors together, if these bytes
 * and the weights are more than the smallest memory.  Says nothing about graphs without weights: their
 * files state the memory of each node. */
static void note_counted(const struct ctx *x)
{
    const struct wdag *g = x->levels.base;
    const struct place *pl = x->scene.place;
    int64_t all = g ? wdag_bytes(g) : 0, least = cluster_least_memory(x->scene.cluster);
    int64_t weights = 0;
    char text[2][UNIT_TEXT];
    for (uint32_t w = 0; pl && w < pl->nweight; w++)
        if (place_is_parameter(x->scene.m, pl, w))
            weights = sat_add(weights, pl->weight_bytes[w]);
    if (exec_kind(&x->scene.model)->feed != FEED_STEADY || exec_live_parts(&x->scene.model) ||
        !weights || least < 0 || all <= least)
        return;
    diag_note(
        x->use.diag,
        "counted are %s of weights and %s of all tensors that nodes make, also those that are "
        "never alive together: %smore devices, or --memory-model=live, which counts the tensors "
        "that are alive together",
        bytes_short(text[0], weights), bytes_short(text[1], all - weights),
        ctx_ndims(x) ? "try a smaller batch or sequence (--dim), " : "try ");
}

enum pcc_status run_passes(struct pcc *p, const struct pipeline *pipeline,
                           const struct run_options *o)
{
    p->x.results.misused = false;
    int rc = pipeline_run(pipeline, &p->x, o);
    p->planned = true;
    p->judged = (struct plan_figures){0};
    if (rc == PASS_INFEASIBLE) {
        note_counted(&p->x);
        note_reserve(&p->x);
    }
    return rc == PASS_INFEASIBLE   ? PCC_NO_PLAN
           : rc == PASS_UNVERIFIED ? PCC_UNVERIFIED
           : p->x.results.misused  ? PCC_BAD_USE
           : rc                    ? PCC_BAD_INPUT
                                   : PCC_OK;
}

/* ---- the judge -------------------------------------------------------------------------------- */

/* Makes the plan's claim agree with its evaluation e: if the claim is not confirmed, warns, takes over the judge's
 * value and drops the bounds.  That happens to a plan from the input file that was made for other costs or
 * devices. */
static void check_claims(struct pcc *p, const struct evaluation *e)
{
    struct plan *plan = p->x.results.plan;
    char said[UNIT_TEXT], is[UNIT_TEXT];
    /* it claims nothing that could be wrong */
    bool silent = plan->claim.bound < 0 && plan->claim.status != PLAN_OPTIMAL;
    if (silent || evaluation_confirms(e, &plan->claim) == FOUND_AS_CLAIMED)
        return;
    diag_warning(&p->diag, WARN_INVALID_PLAN,
                 "%s: its plan takes %s here, not %s: its bounds are left out", p->name,
                 time_print(is, e->value), time_print(said, plan->claim.value));
    plan->claim.value = e->value;
    plan->claim.bound = plan->claim.bound_all = -1;
    plan->claim.proof = plan->claim.offer = NULL;
    plan->claim.status =
        plan->claim.status == PLAN_OVER_MEMORY ? plan->claim.status : PLAN_HEURISTIC;
}

/* For --judge: returns a copy of the plan, in x->use.mem, whose claim is about the objective of scene `by`: the
 * value of evaluation e, and a bound if the execution model knows one without a search. */
static const struct plan *claim_again(struct ctx *x, const struct scene *by,
                                      const struct evaluation *e)
{
    struct plan *p = arena_alloc(x->use.mem, sizeof *p), *made = x->results.plan;
    const struct exec_kind *kind = exec_kind(&by->model);
    *p = *made;
    if (kind->feed != FEED_STEADY)
        p->copies = NULL; /* copies of a stage do not help one sample alone */
    p->claim = (struct claim){.objective = by->model.objective,
                              .value = e->value,
                              .bound = -1,
                              .bound_all = -1,
                              .status = PLAN_HEURISTIC};
    if (kind->runs->bound) { /* claim_run() sets the bound of the plan in x->results */
        x->results.plan = p;
        claim_run(x, by);
        x->results.plan = made;
    }
    if (!e->v.fits) {
        p->claim.status = PLAN_OVER_MEMORY;
        diag_warning(x->use.diag, WARN_OVER_MEMORY, "--judge=%s: %s", kind->name, e->why_not);
    }
    const char *text = exec_kind_of(&by->model, made->claim.objective)->text;
    p->claim.argument = arena_fmt(x->use.mem, "made by %s for %s %s", made->planner,
                                  strchr("aeiou", *text) ? "an" : "a", text);
    return p;
}

/* For --judge: returns the result by the plan's own objective, which files keep (result.made); in x->use.mem. */
static const struct result *result_for_files(struct ctx *x)
{
    struct result *m = arena_alloc(x->use.mem, sizeof *m);
    struct evaluation *e = arena_alloc(x->use.mem, sizeof *e);
    *e = plan_evaluate(&x->scene, x->results.plan, x->use.mem);
    *m = (struct result){.scene = x->scene, .plan = x->results.plan, .verdict = &e->v};
    return m;
}

/* If the plan of r was made for another objective (r->made), cuts it into parts by that one, as its folder has them,
 * and sets made->parts, parts_value and parts_fine. */
static void cut_made(struct pcc *p, struct result *r, enum parts_cut how)
{
    const struct exec_shows *shows = exec_kind(&r->made->scene.model)->shows;
    struct result *own = arena_alloc(p->x.use.mem, sizeof *own);
    *own = *r->made;
    own->diag = r->diag;
    own->parts_value = own->verdict->value;
    if (shows->cut)
        shows->cut(own, how, p->x.use.mem);
    r->made = own;
}

/* Cuts the plan of r into parts, as --cut says: sets r->parts and r->parts_value.  A plan that was made for another
 * objective than that of r has the parts of its folder, unless the user says otherwise. */
static void cut_parts(struct pcc *p, struct result *r)
{
    const struct exec_shows *shows = exec_kind(&r->scene.model)->shows;
    enum parts_cut how = (enum parts_cut)p->settings.cut;
    if (p->x.results.sharding)
        how = PARTS_TRANSFERS;
    const struct plan *uncut = r->made ? r->made->plan : NULL; /* a cut by latency changes it */
    if (r->made)
        cut_made(p, r, how);
    if (r->made && r->made->parts && r->made->plan == uncut) {
        r->parts = r->made->parts;
        r->parts_fine = r->made->parts_fine;
        r->part_slot = r->made->part_slot;
        r->parts_value = r->verdict->value;
        return;
    }
    if (how == PARTS_AUTO && r->made)
        how = PARTS_FEW;
    if (shows->cut) {
        shows->cut(r, how, p->x.use.mem);
        return;
    }
    if (how == PARTS_TRANSFERS)
        diag_note(p->x.use.diag, "--cut=transfers is about one sample alone: it needs "
                                 "--objective=makespan or --judge=makespan");
    r->parts_value = r->verdict->value;
    r->parts =
        parts_of_plan(&(struct staged_plan){&r->scene, r->plan, r->verdict->stages}, p->x.use.mem);
}

/* Whether result r shows the plan by another objective than its own (--judge). */
static bool shows_other_objective(const struct ctx *x, const struct result *r)
{
    return r->scene.model.objective != x->results.plan->claim.objective;
}

/* If the plan's time per sample needs more samples at the same time than --in-flight allows: notes that, with the time
 * per sample that the allowed number can reach.  Also notes if the memory of the devices does not depend on the
 * number. */
static void note_in_flight(const struct ctx *x, const struct result *r)
{
    char text[UNIT_TEXT];
    uint32_t n = r->scene.model.in_flight;
    if (!n || exec_kind(&r->scene.model)->feed != FEED_STEADY)
        return;
    struct replay one = replay_run(&r->scene, r->plan->dev, r->parts, 1, x->use.scratch);
    uint32_t takes = replay_on_way(&r->scene, &one, r->plan->copies, x->use.scratch);
    if (n < takes)
        diag_note(x->use.diag,
                  "--in-flight=%u: the plan's time per sample takes %u samples on their way at "
                  "once; with %u it is up to %s",
                  n, takes, n, time_short(text, mul_div_ceil(r->verdict->value, takes, n)));
    struct exec_model live = r->scene.model;
    live.memory = MEMORY_LIVE;
    if (!exec_live_parts(&r->scene.model))
        diag_note(x->use.diag,
                  "--in-flight=%u: by --memory-model=sum devices need the same memory for any "
                  "number of samples%s",
                  n, exec_live_parts(&live) ? "; --memory-model=live counts them" : "");
}

/* Says, if details are shown, which devices the plan leaves idle, and what it would cost to use them. */
static void tell_idle(const struct ctx *x, const struct result *r)
{
    const char *text = x->use.diag->verbose ? idle_text(&r->scene, r->plan, x->use.scratch) : NULL;
    if (text)
        diag_detail(x->use.diag, "%s", text);
}

/* Evaluates the plan and sets scene, plan, verdict, made and parts of p->judged.r; without a plan, or costs and
 * cluster to judge it by, does nothing.  If the plan is invalid (it may come from the input file), warns and leaves
 * r without a verdict, so that only textual IR shows it.  Returns 0; or reports an error and returns -1. */
static int judge_plan(struct pcc *p)
{
    struct ctx *x = &p->x;
    struct evaluation *e = &p->judged.evaluation;
    struct result *r = &p->judged.r;
    if (!x->results.plan || !x->scene.m->cost || !x->scene.cluster)
        return 0;
    if (x->results.sharding && p->settings.cut == PARTS_FEW)
        return diag_error(&p->diag,
                          "--cut=few: devices that share nodes would take turns, since a part "
                          "waits for all that it reads: expected --cut=transfers, or nothing");
    if (ctx_base(x))
        return -1;
    r->scene = ctx_judged(x);
    *e = plan_evaluate(&r->scene, x->results.plan, x->use.mem);
    const struct exec_kind *kind = exec_kind(&r->scene.model);
    /* under --judge subgraphs may wait for each other in a cycle: then the plan is judged by its own objective */
    if (shows_other_objective(x, r) && kind->subgraphs && !e->v.runnable) {
        diag_warning(&p->diag, WARN_INVALID_PLAN, "--judge=%s: %s", kind->name, e->why_not);
        r->scene = x->scene;
        *e = plan_evaluate(&r->scene, x->results.plan, x->use.mem);
    }
    bool other = shows_other_objective(x, r);
    if (!evaluation_holds(e, other || x->results.plan->claim.status == PLAN_OVER_MEMORY)) {
        diag_warning(&p->diag, WARN_INVALID_PLAN, "%s: its plan does not hold: %s", p->name,
                     e->why_not);
        return 0;
    }
    if (!other) {
        check_claims(p, e);
    } else {
        r->made = result_for_files(x);
        r->plan = claim_again(x, &r->scene, e);
    }
    r->verdict = &e->v;
    cut_parts(p, r);
    note_in_flight(x, r);
    tell_idle(x, r);
    return 0;
}

/* Closes each opened function call whose nodes are all in one part: afterwards j->r describes the plan with closed
 * calls and j->planned the plan with open calls.  No call is closed, and both are equal, if the plan has slots, ranks,
 * or is judged for one sample alone. */
static void close_calls(struct ctx *x, struct plan_figures *j)
{
    struct closed_plan *c = &j->closed;
    struct result *r = &j->r;
    /* slots, which plans for one sample alone may have, are about open nodes */
    bool alone = r->verdict &&
                 (exec_kind(&r->scene.model)->feed == FEED_ALONE || x->results.plan->slot != NULL);
    r->calls = x->results.opened ? "opened" : module_has_calls(x->scene.m) ? "whole" : NULL;
    j->planned = *r;
    if (alone && x->results.opened)
        diag_detail(x->use.diag,
                    "calls of functions stay open: a call waits for all its inputs, its "
                    "nodes only for theirs, and one sample alone tells the difference");
    if (!r->verdict || alone || r->plan->rank || !x->results.opened ||
        !close_plan(x, r->parts, r->verdict, c))
        return;
    diag_detail(x->use.diag, "calls of functions: %u are written as such, %s", c->closed,
                c->open == 0 ? "none is open"
                             : arena_fmt(x->use.mem, "%u are open, the first of these '%s'",
                                         c->open, c->first_open));
    struct plan *plan = &c->plan;
    /* with --judge, r keeps its claim about the objective of --judge; r and r->made both get the closed module */
    if (r->made) {
        struct result *made = arena_alloc(x->use.mem, sizeof *made);
        plan = arena_alloc(x->use.mem, sizeof *plan);
        *made = *r->made;
        made->scene = c->scene;
        made->plan = &c->plan;
        *plan = c->plan;
        plan->claim = r->plan->claim;
        plan->copies = r->plan->copies;
        r->made = made;
    }
    r->open = &j->planned;
    r->scene.m = c->scene.m;
    r->scene.place = c->scene.place;
    r->plan = plan;
    r->verdict = &c->verdict;
    r->parts = c->parts;
}

/* Sets the dimensions of r: names and sizes that the plan was made for, and sizes of inputs. */
static void set_dims(const struct ctx *x, struct result *r)
{
    uint32_t n = ctx_ndims(x);
    const char **names = arena_array(x->use.mem, (size_t)n + 1, sizeof *names);
    int64_t *values = arena_array(x->use.mem, (size_t)n + 1, sizeof *values);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = ctx_dim(x, i)->name;
        values[i] = ctx_dim(x, i)->value;
    }
    r->dim_name = names;
    r->dim_value = values;
    r->ndims = n;
    r->nguessed = x->results.nguessed;
    if (!x->results.inferred)
        return;
    struct input_sizes sizes = bind_input_sizes(x);
    r->size = sizes.size;
    r->size_at = sizes.at;
    r->size_open = sizes.open;
}

enum pcc_status judge_result(struct pcc *p)
{
    struct ctx *x = &p->x;
    struct plan_figures *j = &p->judged;
    if (j->done)
        return PCC_OK;
    *j = (struct plan_figures){0};
    j->r = (struct result){.scene = x->scene,
                           .plan = x->results.plan,
                           .table = x->results.table,
                           .sharding = x->results.sharding,
                           .diag = x->use.diag,
                           .read_model = x->use.read_model};
    set_dims(x, &j->r);
    if (!p->planned) /* no pass has run: there is only the model */
        return PCC_OK;
    if (judge_plan(p))
        return PCC_BAD_INPUT;
    close_calls(x, j);
    struct module *m = j->r.scene.m;
    if (m->src && !m->patterns && onnx_make(m, x->use.diag))
        return PCC_BAD_INPUT;
    if (j->r.verdict)
        j->r.assumed = assumed_text(p, /*sizes=*/true);
    j->done = true;
    return PCC_OK;
}
