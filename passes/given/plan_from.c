/* plan: reads a plan that was made elsewhere from a file, has the judge compute its figures, and leaves it as the
 * plan of the run.
 *
 * The value is computed by the judge, under the objective that the user names, else the one that the file names.  The
 * bound holds for plans of any shape (bounds.h, or a bound that the execution model knows), so plans of any kind get
 * one; a plan whose value equals the bound is optimal.  O(nodes + pins) after reading, and the work of the bounds. */
#include "passes/given/plan_read.h"

#include "ir/exec/evaluate.h"
#include "ir/plan/training_json.h"
#include "ir/exec/exec_runs.h"
#include "passes/bounds/bounds.h"
#include "passes/problem/placing.h"

/* The values of the options in plan_opts. */
struct plan_options {
    const char *from;
    bool best_effort;
    int64_t effort;
};

static const struct opt plan_opts[] = {
    {OPT_TEXT, "from", offsetof(struct plan_options, from), "",
     .help =
         "plan JSON, split folder, annotated .onnx or one with Olive's split_assignments, lines regex=device, or self"},
    {OPT_BOOL, "best-effort", offsetof(struct plan_options, best_effort), "false",
     .help = "take the plan even if a device needs more memory than it has"},
    {OPT_INT, "effort", offsetof(struct plan_options, effort), "1", .lo = "0", .hi = "1000",
     .help = "work for its lower bound: 1 is about a second, 100 finds much where devices are few"},
    {0}};

/* Returns 0 if plan p, evaluated as e, may be taken; else reports the obstacle and returns -1, or PASS_INFEASIBLE
 * if the only obstacle is memory. */
static int check_plan(struct ctx *x, const struct plan_options *o, const struct plan *p,
                      const struct evaluation *e)
{
    const struct cluster *c = x->scene.cluster;
    nid n = e->misplaced;
    if (n)
        return diag_error(
            x->use.diag, "plan from %s: node '%s' is on '%s' and pinned to '%s'", o->from,
            node_name(x->scene.m, n), cluster_device_name(c, x->use.mem, (uint32_t)p->dev[n]),
            cluster_device_name(c, x->use.mem, (uint32_t)x->scene.place->pinned_to[n]));
    if (evaluation_holds(e, o->best_effort))
        return 0;
    bool full = evaluation_holds(e, /*over_memory=*/true);
    diag_error(x->use.diag, "plan from %s: %s%s", o->from, e->why_not,
               full ? placing_fewer_samples(x, p) : "");
    return full ? PASS_INFEASIBLE : -1;
}

/* Returns words on the first device, or the hosts of a class, that lacks memory by the verdict `lacks`: how much it
 * needs at one time (verdict at_once), and how much in all (verdict sum).  `lacks` is one of these two.  NULL: no
 * device lacks memory. */
static const char *needs_by_both(struct ctx *x, const struct verdict *lacks,
                                 const struct verdict *at_once, const struct verdict *sum)
{
    const struct cluster *c = x->scene.cluster;
    char t[2][UNIT_TEXT];
    for (uint32_t d = 0; d < c->ndev; d++) {
        uint32_t k = cluster_class(c, d);
        const struct device_class *cls = &c->cls[k];
        /* the hosts of a class share their memory: their needs count together */
        bool shared = cls->host && at_once->hosts && sum->hosts;
        int64_t has = shared ? sat_mul(cls->memory, cls->count) : cls->memory;
        if (has < 0 || (shared ? lacks->hosts[k] : lacks->load[d].used) <= has)
            continue;
        return arena_fmt(x->use.mem, "%s need%s %s at one time, and %s in all",
                         shared ? arena_fmt(x->use.mem, "the hosts of class %s", cls->name)
                                : cluster_device_name(c, x->use.mem, d),
                         shared ? "" : "s",
                         bytes_short(t[0], shared ? at_once->hosts[k] : at_once->load[d].used),
                         bytes_short(t[1], shared ? sum->hosts[k] : sum->load[d].used));
    }
    return NULL;
}

/* If plan p, evaluated as e, fits by only one of the memory models SUM and LIVE, adds a note with the figures of
 * both. */
static void note_other_model(struct ctx *x, const char *from, const struct plan *p,
                             const struct evaluation *e)
{
    struct scene by = x->scene;
    bool live = exec_live_parts(&by.model);
    by.model.memory = live ? MEMORY_SUM : MEMORY_LIVE;
    if (!e->v.runnable || exec_live_parts(&by.model) == live)
        return; /* this objective has only one memory model */
    struct evaluation other = plan_evaluate(&by, p, x->use.scratch);
    const struct verdict *at_once = live ? &e->v : &other.v, *sum = live ? &other.v : &e->v;
    const char *needs = needs_by_both(x, e->v.fits ? &other.v : &e->v, at_once, sum);
    if (e->v.fits != other.v.fits && needs)
        diag_note(
            x->use.diag,
            "plan from %s: --memory-model=%s, by which it is judged, says that it %s; by %s it "
            "%s: %s",
            from, memory_model_name[live ? MEMORY_LIVE : MEMORY_SUM],
            e->v.fits ? "fits" : "does not fit", memory_model_name[live ? MEMORY_SUM : MEMORY_LIVE],
            other.v.fits ? "does" : "does not", needs);
}

/* Returns the objective that the settings in the file were made for: the objective that the file names; if it names
 * none, the one that plans are shown by. */
static uint32_t objective_of(const struct given_plan *given, const struct ctx *x)
{
    bool said = given->said & exec_bit(exec_setting("objective"));
    return said ? given->model.objective : ctx_judged(x).model.objective;
}

/* Returns whether the user has given the sizes of micro-batches: by options about micro-batches; or by a batch size
 * that is not the size of the one micro-batch for which the costs are. */
static bool are_sizes_said(const struct ctx *x)
{
    const struct training *t = &x->scene.model.training;
    return ctx_said(x, "micro-batches") || ctx_said(x, "micro-batch-size") ||
           training_count(t) > 1 || t->micro_size != t->profiled;
}

/* Sets the scene's settings of training to those in the file of a plan with stages, except settings that the user
 * gives.  Two settings are not taken from the file: the number of samples that costs are about, if this run has it;
 * and the permission to cut slices within a sample, which only the user can give (--slices=any). */
static void take_training(struct ctx *x, const char *from, const struct given_plan *given)
{
    bool said = are_sizes_said(x);
    /* size: the setting is about micro-batches; about: the setting is the number of samples that costs are about;
     * allows: the setting is --slices */
    for (const struct opt *o = exec_settings; o->name; o++) {
        bool size = o->off == offsetof(struct exec_model, training.micro_size) ||
                    o->off == offsetof(struct exec_model, training.micro_batches);
        bool about = o->off == offsetof(struct exec_model, training.profiled);
        bool allows = o->off == offsetof(struct exec_model, training.any_slices);
        int64_t now = opt_number(o, &x->scene.model), made = opt_number(o, &given->model);
        if (!training_has(o) || now == made || allows || (about && now) || (size && said))
            continue;
        if (!size && ctx_said(x, o->name))
            diag_note(x->use.diag, "plan from %s: it was made for %s %s, and is judged by %s", from,
                      o->name, opt_get(o, &given->model, x->use.mem),
                      opt_get(o, &x->scene.model, x->use.mem));
        else
            opt_put(o, &x->scene.model, made);
    }
}

/* Sets the scene's settings to those in the file, except settings that the user gives: under these the plan's value
 * is to be computed.  Returns 0, or -1 after an error: the settings contradict each other. */
static int take_settings(struct ctx *x, const char *from, const struct given_plan *given)
{
    for (const struct opt *o = exec_settings; o->name; o++) {
        int64_t made = opt_number(o, &given->model), now = opt_number(o, &x->scene.model);
        bool objective = o->off == offsetof(struct exec_model, objective);
        if (!(given->said & exec_bit(o)) || made == now)
            continue;
        if (!objective && objective_of(given, x) != ctx_judged(x).model.objective)
            continue; /* the setting was made for another objective */
        struct opt own = exec_values(&x->scene.model, o, x->use.mem);
        if (ctx_said(x, o->name))
            diag_note(x->use.diag, "plan from %s: it was made for %s %s, and is judged by %s", from,
                      opt_key(o, x->use.mem), opt_get(&own, &given->model, x->use.mem),
                      opt_get(&own, &x->scene.model, x->use.mem));
        else
            opt_put(o, &x->scene.model, made);
    }
    if (given->stages)
        take_training(x, from, given);
    const char *why = exec_refuses(&x->scene.model, x->use.mem);
    return why ? diag_error(x->use.diag, "plan from %s: %s", from, why) : 0;
}

/* Fills the claim of the plan, whose value is the time per sample, by searching for a bound, and returns the bound. */
static struct bound claim_search(struct ctx *x, const struct plan_options *o,
                                 const struct evaluation *e)
{
    struct plan *p = x->results.plan;
    struct clock clock = ctx_clock(x);
    /* the judge's value counts the cost of parts, the problem's value does not: take off what parts cost at least */
    int64_t start = claim_start(x, mandatory_level(x));
    p->claim.value_less_parts = e->value > start ? e->value - start : 0;
    struct bound b = bounds_all(x, p->claim.value_less_parts, e->v.fits,
                                BOUNDS_WORK * (uint64_t)o->effort, &clock);
    claim_make(x, SCOPE_ALL, b, b);
    return b;
}

/* Returns a remark on the bound that the file claims, if that is above `found`, the bound found here, ps, and not
 * above the plan's value; else "".  (The file's bound may come from a search that is not repeated here, or have no
 * basis at all.) */
static const char *bound_remark(struct ctx *x, const struct given_plan *given, int64_t found)
{
    char text[UNIT_TEXT];
    double ps = given->bound * (double)PS_PER_S;
    if (!given->scope || ps <= (double)found + 1 || ps > (double)x->results.plan->claim.value + 1 ||
        ps >= (double)INT64_MAX)
        return "";
    return arena_fmt(x->use.mem, ", which claims a bound of %s (scope: %s): not proven again",
                     time_short(text, (int64_t)ps), given->scope);
}

/* pass.run: makes the plan in a file the plan of the run, with the claim that follows from its figures.  Returns 0, or
 * -1 or PASS_INFEASIBLE after an error. */
static int plan_run(struct ctx *x, const void *options)
{
    const struct plan_options *o = options;
    struct given_plan given;
    if (!*o->from)
        return diag_error(x->use.diag, "plan: expected plan{from=FILE}");
    if (plan_read(&given, x, o->from) || take_settings(x, o->from, &given))
        return -1;
    struct plan *p = arena_alloc(x->use.mem, sizeof *p);
    *p = plan_given(&given, &x->scene);
    const bool replicate = x->scene.model.replicate;
    if (p->copies)
        x->scene.model.replicate = true; /* the bound must hold for plans with copies */
    struct evaluation e = plan_evaluate(&x->scene, p, x->use.scratch);
    int rc = check_plan(x, o, p, &e);
    note_other_model(x, o->from, p, &e);
    if (rc)
        return rc;
    x->results.plan = p;
    p->claim.objective = x->scene.model.objective;
    p->claim.value = e.value;
    /* the execution model's own bound, or, without such a bound, a search for a bound */
    const struct exec_runs *runner = exec_kind(&x->scene.model)->runs;
    struct bound b = runner && runner->bound ? claim_run(x, &x->scene) : claim_search(x, o, &e);
    /* as before the plan was read, for the passes that follow */
    x->scene.model.replicate = replicate;
    p->claim.argument =
        arena_fmt(x->use.mem, "read from %s%s%s", o->from, bound_remark(x, &given, b.value),
                  b.value < 0 ? "" : arena_fmt(x->use.mem, "; bound: %s", b.why));
    if (b.value < 0) /* no bound is known */
        p->claim.status = PLAN_HEURISTIC;
    if (!e.v.fits) {
        diag_warning(x->use.diag, WARN_OVER_MEMORY, "plan from %s: %s", o->from, e.why_not);
        p->claim.status = PLAN_OVER_MEMORY;
    }
    return 0;
}

const struct planner planner_plan = {
    .pass = {"plan", "take a plan from a file, judge it and go on with it", plan_opts,
             sizeof(struct plan_options), .needs = NEED_OPEN | NEED_COST | NEED_CONTRACT,
             .run = plan_run},
    .every_objective = true,
    .features = FEATURES_ALL,
    .given = true};
