/* Replays plans and prints the result for the terminal (replay.h).  O(samples * (tasks + edges between them)). */
#include "tools/lib/exec/replay.h"

#include "ir/base/units.h"

#include <assert.h>

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
    /* the most tasks that replay_run() makes: each part has up to two passes, and a pass one task, or three where
     * transfers overlap computing */
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
    /* a replay lasts at most as many rounds as samples and tasks together, each as long as the plan's value */
    if (sat_mul(sat_add(tasks, n ? n : REPLAY_FEW + tasks), r->verdict->value) == INT64_MAX)
        return diag_error(r->diag, "a replay of this plan takes longer than can be counted: give "
                                   "fewer samples with --replay");
    *out = replay_run(&r->scene, r->plan->dev, r->parts, (uint32_t)n, a);
    return 0;
}

int replay_rounds(FILE *f, const struct result *r, int64_t samples, struct arena *a)
{
    char each[UNIT_TEXT], plan[UNIT_TEXT], all[UNIT_TEXT];
    struct replay y;
    if (replay_result(&y, r, samples, REPLAY_MOST, a))
        return -1;
    /* A replay comes close to the plan's time per sample.  Only with FEED_STEADY is that the verdict's value; else
     * load_verdict() computes it. */
    bool steady = exec_kind(&r->scene.model)->feed == FEED_STEADY;
    int64_t v = steady ? r->verdict->value
                       : load_verdict(&r->scene, r->plan->dev, r->plan->copies, a).value;
    double plan_all = (double)v * y.samples; /* may be beyond 2^63 */
    double over = ((double)y.end - plan_all) / (v ? plan_all : y.samples);
    fprintf(f,
            "replay of %u sample%s: %s per sample, %.2f %% above the plan's %s\n"
            "  (ends at %s; %u level%s)\n",
            y.samples, y.samples == 1 ? "" : "s", time_short(each, y.end / y.samples), 100 * over,
            time_short(plan, v), time_print(all, y.end), y.levels, y.levels == 1 ? "" : "s");
    return 0;
}
