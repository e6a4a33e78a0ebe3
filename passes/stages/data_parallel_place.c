/* data-parallel-place: one stage on all devices, the baseline of every pipeline.
 *
 * Source: DAPPLE (arXiv 2007.01045), VI-C.  The devices share the batch.  Each one computes its share in as few
 * rounds of forward and backward as memory allows, and adds up the gradients; then an AllReduce adds up the
 * gradients of all devices (--allreduce-overlap: after the last backward pass, during it, or also during the first
 * forward pass of the next iteration).  A round is a micro-batch here, with at least one sample for each device.  If
 * the user has set the micro-batches, or the samples of a micro-batch are not known, the number of micro-batches
 * stays as it is.  O(divisors of the batch) runs. */
#include "passes/stages/data_parallel.h"

struct stage_layout data_parallel_best(struct train *t)
{
    struct training *m = &t->x->scene.model.training;
    const int64_t global = m->micro_size * training_count(m); /* samples of the batch */
    const int64_t devices = t->servers.ndev;
    bool fixed = !m->micro_size || train_size_said(t->x); /* the micro-batches stay as they are */
    struct training best_model = *m;
    struct device_set *all = arena_alloc(t->x->use.scratch, sizeof *all);
    uint32_t *end = arena_alloc(t->x->use.scratch, sizeof *end);
    *end = t->layers.n;
    for (uint32_t v = 0; v < t->servers.n; v++)
        all->of[v] = t->servers.size[v];
    struct stage_layout best = train_cut(t, 1, end, all);
    if (fixed)
        train_try(t, &best);
    else
        best.value = INT64_MAX;
    /* `rounds`, the number of micro-batches, takes the value 1 and each divisor of the batch with which a micro-batch
     * has a sample for each device */
    int64_t most = smaller(global / devices, TRAINING_MICRO_BATCHES);
    bool done = fixed;
    for (int64_t rounds = 1; !done && (rounds == 1 || rounds <= most); rounds++) {
        if (global % rounds)
            continue;
        struct stage_layout p = train_cut(t, 1, end, all);
        train_set_size(m, global, global / rounds);
        train_try(t, &p);
        t->too_long = t->too_long || p.too_long;
        /* the first plan is taken in any case: if no plan fits, it tells the reason */
        if (p.value < best.value || rounds == 1) {
            best = p;
            best_model = *m;
        }
        /* more rounds help only if the forward passes had to be recomputed */
        done = (p.value < INT64_MAX && !p.recompute[0]) || clock_out(&t->clock);
    }
    *m = best_model;
    return best;
}

/* pass.run: leaves the plan of one stage on all devices; the planner has no options.  Returns 0, or -1 or
 * PASS_INFEASIBLE after an error. */
static int data_parallel_run(struct ctx *x, const void *options)
{
    struct train t;
    (void)options;
    if (train_begin(&t, x, "data-parallel-place"))
        return -1;
    struct stage_layout best = data_parallel_best(&t);
    return train_leave(&t, &best, "all devices share the batch");
}

const struct planner planner_data_parallel_place = {
    .pass = {"data-parallel-place", "one stage on all devices, in as few passes as memory allows",
             .needs = NEED_COST | NEED_CONTRACT, .run = data_parallel_run},
    .objectives = {"iteration-time"},
    .features = FEATURE_GROUPS | FEATURE_LEVELS | FEATURE_PART_COST};
