/* dapple-place: stages of a training pipeline, each on one or several devices, for a short iteration.
 *
 * Source: DAPPLE (arXiv 2007.01045), IV.  Its search (dapple_search.c) finds plans by a formula; these and some others
 * are run (dapple_plans.c), and the shortest iteration is kept. */
#include "passes/stages/dapple_plans.h"

struct dapple_options {
    bool literal;
    int64_t beam, plans;
};

static const struct opt dapple_opts[] = {
    {.kind = OPT_BOOL,
     .name = "literal",
     .off = offsetof(struct dapple_options, literal),
     .def = "false",
     .help = "search by the formula as the paper prints it"},
    {.kind = OPT_INT,
     .name = "beam",
     .off = offsetof(struct dapple_options, beam),
     .def = "4",
     .lo = "1",
     .hi = "256",
     .help = "prefixes that are kept for the same layers and devices, by each of two measures"},
    {.kind = OPT_INT,
     .name = "plans",
     .off = offsetof(struct dapple_options, plans),
     .def = "64",
     .lo = "2",
     .hi = "10000",
     .help = "plans of the search that are run"},
    {0}};

static int dapple_run(struct ctx *x, const void *options)
{
    const struct dapple_options *o = options;
    struct train t;
    uint32_t tried = 0;
    if (train_begin(&t, x, "dapple-place"))
        return -1;
    struct layer_chain chain = train_chain(&t);
    struct dapple_rules rules = dapple_rules_of(&t);
    rules.literal = o->literal;
    rules.beam = (uint32_t)o->beam;
    rules.most = (uint32_t)o->plans;
    struct dapple_found found = dapple_search(&chain, &rules, &t.clock, x->use.scratch);
    struct trained best = dapple_best(&t, &found, DAPPLE_WORK, &tried);
    return train_leave(&t, &best,
                       arena_fmt(x->use.mem, "best of %u plans that were run, %llu by the formula",
                                 tried, (unsigned long long)found.evaluated));
}

const struct planner planner_dapple_place = {
    .pass = {.name = "dapple-place",
             .help = "stages of a training pipeline on one or more devices each (DAPPLE)",
             .opts = dapple_opts,
             .optsize = sizeof(struct dapple_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = dapple_run},
    .objectives = 1 << OBJECTIVE_ITERATION,
    .features = FEATURE_GROUPS | FEATURE_LEVELS};
