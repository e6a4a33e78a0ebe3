/* --baselines: prints the run's plan beside plans of simple planners (baselines.h).
 *
 * Source: table 1 of the placement paper has these columns.  Each planner runs on a copy of the context, with the
 * contracted graph (not a fused one) as its top level.  It plans for the time per sample and may need more memory
 * than there is; its row then says "over".  Its plan is judged like the plan of the run.  O(planners) beside their
 * work. */
#include "baselines.h"

#include "ir/exec/evaluate.h"
#include "ir/plan/parts.h"
#include "passes/pipeline.h"

#include <time.h>

enum { LINE_BYTES = 512 }; /* bytes of the message why a planner has no plan, with its NUL */

/* The planners, as pipelines of one pass; best-effort: a plan over memory counts, too. */
static const char *const planners[] = {
    "one-place{best-effort=true}",    "greedy-place{best-effort=true}",
    "local-place{best-effort=true}",  "pipedream-place",
    "scotch-place{best-effort=true}", "metis-place{best-effort=true}"};

/* diag.emit: keeps the first error in user, a char[LINE_BYTES]. */
static void keep_error(void *user, enum diag_level level, enum warning w, const char *line)
{
    char *text = user;
    (void)w;
    if (level == DIAG_ERROR && !*text)
        snprintf(text, LINE_BYTES, "%s", line);
}

/* Returns the time of CLOCK_MONOTONIC in seconds. */
static double read_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A row of the table: a plan. */
struct row {
    const char *name;              /* name of its planner */
    const int32_t *dev;            /* [node] device; -1: not placed */
    const struct verdict *verdict; /* the judge's figures */
    double seconds;                /* time of the planner; negative: not known */
};

/* Prints a row.  best: value of the run's plan in ps, by which the row's value is divided. */
static void print_row(FILE *f, const struct ctx *x, const struct row *r, int64_t best)
{
    char time[UNIT_TEXT], ratio[32] = "-", second[32] = "-";
    const struct verdict *v = r->verdict;
    const struct parts *parts = parts_build(&x->scene, r->dev, x->use.mem);
    if (best > 0)
        snprintf(ratio, sizeof ratio, "%.3f", (double)v->value / (double)best);
    if (r->seconds >= 0)
        snprintf(second, sizeof second, "%.2f", r->seconds);
    fprintf(f, "%15s %10s  %-6s  %-10s %6u %8s  %s\n", time_short(time, v->value), ratio,
            v->fits ? "fits" : "over", v->contiguous ? "contiguous" : "scattered", parts->nparts,
            second, r->name);
}

/* Runs the planner `text` (a pipeline of one pass) on a copy of x, and prints the row of its plan, or why it has
 * none.  Returns 0; or, if the judge contradicts its claim, reports an error and returns -1. */
static int try_planner(FILE *f, struct ctx *x, const char *text, const struct result *r)
{
    struct ctx y = *x;
    char why[LINE_BYTES] = "";
    struct diag quiet = {.emit = keep_error, .user = why};
    struct pipeline p = {.kinds = x->scene.model.kinds};
    if (pipeline_parse(&p, text, x->use.mem, x->use.diag))
        return -1;
    const char *name = p.step[0].pass->name;
    struct arena_mark mark = arena_mark(x->use.scratch);
    double start = read_seconds();
    y.use.diag = &quiet;
    y.results.plan = NULL;
    y.levels.top = x->levels.contiguous;
    y.scene.model.objective = TIME_PER_SAMPLE; /* the only objective of these planners */
    int rc = pipeline_step_run(&p.step[0], &y);
    double took = read_seconds() - start;
    arena_release(x->use.scratch, mark);
    if (rc) {
        fprintf(f, "%15s %s\n", "no plan", why);
        return 0;
    }
    struct evaluation e = plan_evaluate(&y.scene, y.results.plan, x->use.mem);
    if (evaluation_confirms(&e, &y.results.plan->claim) != FOUND_AS_CLAIMED)
        return diag_error(x->use.diag, "--baselines: the judge refuses the plan of %s%s%s", name,
                          e.why_not ? ": " : "", e.why_not ? e.why_not : "");
    if (r->scene.model.objective != TIME_PER_SAMPLE)
        e = plan_evaluate(&r->scene, y.results.plan, x->use.mem);
    if (!e.v.runnable) { /* the plan cannot run under the objective of this run */
        fprintf(f, "%15s %s: %s\n", "no plan", name, e.why_not);
        return 0;
    }
    print_row(f, x, &(struct row){name, y.results.plan->dev, &e.v, took}, r->verdict->value);
    return 0;
}

int baselines_print(FILE *f, struct ctx *x, const struct result *r)
{
    if (!x->levels.contiguous)
        return diag_error(x->use.diag, "--baselines: there is no planner: give one, such as "
                                       "-p auto-place");
    fprintf(f, "%15s %10s  %-6s  %-10s %6s %8s  %s\n", exec_kind(&r->scene.model)->text,
            "of plan's", "memory", "shape", "parts", "seconds", "planner");
    print_row(f, x, &(struct row){r->plan->planner, r->plan->dev, r->verdict, -1},
              r->verdict->value);
    for (size_t i = 0; i < sizeof planners / sizeof *planners; i++)
        if (try_planner(f, x, planners[i], r))
            return -1;
    return 0;
}
