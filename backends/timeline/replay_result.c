/* The replay of a result that is written: whether it can be, and the line on the terminal (replay_result.h).
 * O(samples * (tasks + edges between them)). */
#include "backends/timeline/replay_result.h"

#include "ir/base/units.h"

#include <assert.h>

enum { MOST = 1 << 24 }; /* tasks times samples of a line on the terminal */

int replay_check(const struct result *r)
{
    assert(r->plan);
    for (uint32_t d = 0; r->plan->copies && d < r->scene.cluster->ndev; d++)
        if (r->plan->copies[d] > 1)
            return diag_error(
                r->diag, "%s has %u copies: only plans without copies can be replayed",
                cluster_device_name(r->scene.cluster, r->scene.m->mem, d), r->plan->copies[d]);
    return 0;
}

int replay_result(struct replay *out, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a)
{
    assert(r->parts && r->verdict && samples >= 0);
    int64_t n = samples, tasks = (int64_t)r->parts->nparts;
    tasks *= (r->scene.model.overlap == OVERLAP_SUM ? 1 : 3) * (r->scene.m->backward ? 2 : 1);
    if (replay_check(r))
        return -1;
    if (tasks > most)
        return diag_error(r->diag, "the plan's %u parts are too many for a replay",
                          r->parts->nparts);
    if (sat_mul(tasks, n) > most)
        return diag_error(r->diag,
                          "a replay of %lld samples through %u part%s is too large: expected a "
                          "--replay of at most %lld",
                          (long long)n, r->parts->nparts, r->parts->nparts == 1 ? "" : "s",
                          (long long)(most / tasks));
    if (sat_mul(sat_add(tasks, n ? n : REPLAY_FEW + tasks), r->verdict->value) == INT64_MAX)
        return diag_error(r->diag, "a replay of this plan takes longer than can be counted: give "
                                   "fewer samples with --replay");
    *out = replay_run(&r->scene, r->plan->dev, r->parts, (uint32_t)n, a);
    return 0;
}

/* Tasks of a micro-batch, and AllReduces. */
static int64_t tasks_each(const struct iteration *x)
{
    int64_t kinds = x->order == ITERATION_ZB_H1 ? 5 : 4;
    return (kinds + 1) * x->nstage;
}

int replay_iteration(struct iteration_run *out, const struct result *r, int64_t micro_batches,
                     uint32_t most, struct arena *a)
{
    const struct iteration *x = &r->trained->x;
    uint32_t by = x->order == ITERATION_INTERLEAVED ? x->nplace : 1;
    int64_t fit = most / tasks_each(x) / by * by, n = micro_batches;
    fit = larger(fit, by);
    if (n > fit)
        return diag_error(
            r->diag,
            "an iteration of %lld micro-batches through %u stage%s is too large to be "
            "shown: expected a --replay of at most %lld",
            (long long)n, x->nstage, x->nstage == 1 ? "" : "s", (long long)fit);
    if (n % by)
        return diag_error(r->diag,
                          "--replay=%lld: stages in turn on %u devices take a multiple of so many "
                          "micro-batches",
                          (long long)n, by);
    if (!n)
        n = smaller(x->micro_batches, fit);
    *out = *r->trained;
    if (n != x->micro_batches) {
        out->x.micro_batches = (uint32_t)n;
        iteration_run(out, &r->scene, a);
    }
    if (out->t.status != RUN_DONE || out->t.end == INT64_MAX)
        return diag_error(r->diag,
                          "an iteration of %lld micro-batches takes longer than can be "
                          "counted: give fewer with --replay",
                          (long long)n);
    return 0;
}

static int print_iteration(FILE *f, const struct result *r, int64_t micro_batches, struct arena *a)
{
    char all[UNIT_TEXT], each[UNIT_TEXT], plan[UNIT_TEXT];
    struct iteration_run y;
    if (replay_iteration(&y, r, micro_batches, MOST, a))
        return -1;
    uint32_t n = y.x.micro_batches, m = r->trained->x.micro_batches;
    fprintf(
        f,
        "replay of %u micro-batch%s: an iteration takes %s, %s for each\n  (the plan's %u: %s)\n",
        n, n == 1 ? "" : "es", time_print(all, y.value), time_short(each, y.value / n), m,
        time_short(plan, r->verdict->value));
    return 0;
}

int replay_print(FILE *f, const struct result *r, int64_t samples)
{
    char each[UNIT_TEXT], plan[UNIT_TEXT], all[UNIT_TEXT];
    struct arena *a = arena_new(r->scene.m->mem);
    struct replay y;
    int rc =
        r->trained ? print_iteration(f, r, samples, a) : replay_result(&y, r, samples, MOST, a);
    if (!rc && !r->trained) {
        bool sample =
            !r->step && !r->latency; /* else of one alone, which a replay does not come to */
        int64_t v =
            sample ? r->verdict->value : judge(&r->scene, r->plan->dev, r->plan->copies, a).value;
        double over = (double)(y.end - v * y.samples) / ((double)(v ? v : 1) * y.samples);
        fprintf(f,
                "replay of %u sample%s: %s per sample, %.2f %% above the plan's %s\n"
                "  (ends at %s; %u level%s)\n",
                y.samples, y.samples == 1 ? "" : "s", time_short(each, y.end / y.samples),
                100 * over, time_short(plan, v), time_print(all, y.end), y.levels,
                y.levels == 1 ? "" : "s");
    }
    arena_free(a);
    return rc;
}
