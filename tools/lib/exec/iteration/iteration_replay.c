/* Runs a training iteration again, with another number of micro-batches than the plan's (iteration_shown.h).
 * O(stages * micro-batches * log). */
#include "tools/lib/exec/iteration/iteration_shown.h"

#include "ir/base/units.h"
#include "tools/lib/exec/replay.h"

/* Returns the most tasks that an iteration has for each micro-batch, AllReduces and updates included. */
static int64_t tasks_each(const struct iteration *x)
{
    /* FORWARD, BACKWARD, SEND and SEND_BACK of each stage, and WEIGHT with ZB_H1; then its REDUCE and UPDATE */
    int64_t kinds = x->order == ITERATION_ZB_H1 ? 5 : 4;
    bool updates = false;
    for (uint32_t k = 0; k < x->nstage; k++)
        updates = updates || x->stage[k].update > 0;
    return (kinds + 1 + updates) * x->nstage;
}

int replay_iteration(struct iteration_run *out, const struct result *r, int64_t micro_batches,
                     uint32_t most, struct arena *a)
{
    const struct iteration_run *run = r->verdict->run;
    const struct iteration *x = &run->x;
    /* the number of micro-batches must be a multiple of `by`; fit: the largest such number whose tasks are at most
     * `most` */
    uint32_t by = x->order == ITERATION_INTERLEAVED ? x->nplace : 1;
    int64_t fit = most / tasks_each(x) / by * by, n = micro_batches;
    if (fit < by)
        fit = by;
    if (n > fit)
        return diag_error(
            r->diag,
            "an iteration of %lld micro-batches through %u stage%s is too large to be "
            "shown: expected a --replay of at most %lld",
            (long long)n, x->nstage, x->nstage == 1 ? "" : "s", (long long)fit);
    if (n % by)
        return diag_error(r->diag,
                          "--replay=%lld: stages in turn on %u devices take a multiple of %u "
                          "micro-batches",
                          (long long)n, by, by);
    if (!n)
        n = x->micro_batches < fit ? x->micro_batches : fit;
    *out = *run;
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

int iteration_replay(FILE *f, const struct result *r, int64_t micro_batches, struct arena *a)
{
    const struct iteration_run *run = r->verdict->run;
    char all[UNIT_TEXT], each[UNIT_TEXT], plan[UNIT_TEXT];
    struct iteration_run y;
    if (replay_iteration(&y, r, micro_batches, REPLAY_MOST, a))
        return -1;
    uint32_t n = y.x.micro_batches, m = run->x.micro_batches;
    fprintf(
        f,
        "replay of %u micro-batch%s: an iteration takes %s, %s for each\n  (the plan's %u: %s)\n",
        n, n == 1 ? "" : "es", time_print(all, y.value), time_short(each, y.value / n), m,
        time_short(plan, r->verdict->value));
    return 0;
}
