/* dapple-place: stages of a training pipeline, each on one or several devices, for a short iteration.
 *
 * Source: DAPPLE (arXiv 2007.01045), IV.  Its search (dapple_search.c) finds plans by a formula; the formula knows
 * neither bubbles within a pipeline nor memory, so the best of them, and plans that it may have lost (all devices for
 * one stage; a stage for each device; as many devices for each of 2, 3, ... stages) are run, and the shortest
 * iteration is kept.  O(plans) runs after the search. */
#include "passes/stages/dapple_search.h"
#include "passes/stages/train.h"

#include "ir/base/units.h"

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

struct choosing {
    struct train t;
    struct layer_chain chain;
    struct trained best;
    uint32_t tried;
};

static void try_plan(struct choosing *c, uint32_t n, const uint32_t *end,
                     const struct device_set *set)
{
    struct trained p = train_cut(&c->t, n, end, set);
    train_try(&c->t, &p);
    c->tried++;
    if (p.value < c->best.value || !c->best.n || (c->best.uneven && !p.uneven))
        c->best = p;
}

/* n stages of about the same time on as many devices each, server after server; on fewer where these could not share
 * the samples of a micro-batch. */
static void try_even(struct choosing *c, uint32_t n, int64_t samples)
{
    const struct servers *s = &c->t.servers;
    uint32_t each = s->ndev / n;
    struct arena *a = c->t.x->use.scratch;
    uint32_t *end = arena_array(a, n, sizeof *end), layer = 0;
    struct device_set *set = arena_array(a, n, sizeof *set), used = {{0}};
    const struct layer_chain *k = &c->chain;
    int64_t all = k->forward[k->n] + k->backward[k->n];
    while (samples % each)
        each--;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t need = each;
        for (uint32_t v = 0; v < s->n && need; v++) {
            uint32_t room = s->size[v] - used.of[v], take = room < need ? room : need;
            set[i].of[v] = (uint16_t)take;
            used.of[v] = (uint16_t)(used.of[v] + take);
            need -= take;
        }
        layer++;
        while (layer + (n - i - 1) < k->n &&
               (__int128)(k->forward[layer] + k->backward[layer]) * n < (__int128)all * (i + 1))
            layer++;
        end[i] = i + 1 == n ? k->n : layer;
    }
    try_plan(c, n, end, set);
}

static int dapple_run(struct ctx *x, const void *options)
{
    const struct dapple_options *o = options;
    struct choosing c = {.best.value = INT64_MAX};
    if (train_begin(&c.t, x, "dapple-place"))
        return -1;
    c.chain = train_chain(&c.t);
    const struct training *m = &x->scene.model.training;
    struct dapple_rules rules = {.servers = &c.t.servers,
                                 .micro_batches = m->micro_batches ? m->micro_batches : 1,
                                 .samples = m->any_slices ? 0 : m->micro_size,
                                 .literal = o->literal,
                                 .beam = (uint32_t)o->beam,
                                 .most = (uint32_t)o->plans};
    struct dapple_found found = dapple_search(&c.chain, &rules, &c.t.clock, x->use.scratch);
    for (uint32_t n = 1; n <= c.t.servers.ndev && n <= c.chain.n; n++)
        if (c.t.servers.ndev % n == 0)
            try_even(&c, n, rules.samples);
    for (uint32_t i = 0; i < found.nplan && !clock_out(&c.t.clock); i++)
        try_plan(&c, found.plan[i].n, found.plan[i].end, found.plan[i].devices);
    return train_leave(&c.t, &c.best,
                       arena_fmt(x->use.mem, "best of %u plans that were run, %llu by the formula",
                                 c.tried, (unsigned long long)found.evaluated));
}

const struct planner planner_dapple_place = {
    .pass = {.name = "dapple-place",
             .help = "stages of a training pipeline on one or more devices each (DAPPLE)",
             .opts = dapple_opts,
             .optsize = sizeof(struct dapple_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = dapple_run},
    .objectives = 1 << OBJECTIVE_ITERATION,
    .features = FEATURE_GROUPS};
