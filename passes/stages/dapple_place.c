/* dapple-place: stages of a training pipeline, each on one or several devices, for a short iteration.
 *
 * Source: DAPPLE (arXiv 2007.01045), IV.  Its search (dapple_search.c) finds plans by a formula; these and some others
 * are run (dapple_plans.c), and the plan with the shortest iteration is kept.  With score=published the plan is the one
 * that the paper's published program would choose (../replicas/dapple_published.c). */
#include "passes/stages/pipeline_search.h"
#include "passes/replicas/dapple_published.h"
#include "passes/replicas/formula_errors.h"

#include "ir/base/units.h"

enum { MOST_STATES = 200 /* the most states of the model for score=published */ };

/* The values of the options in dapple_opts.  score, micro: indices in score_names and micro_names. */
struct dapple_options {
    bool literal, errors;
    int64_t beam, plans, score, micro;
};

static const char *const score_names[] = {"run", "published", NULL};
enum { SCORE_PUBLISHED = 1 }; /* index in score_names */

static const char *const micro_names[] = {"given", "free", NULL};
enum { MICRO_FREE = 1 }; /* index in micro_names */

static const struct opt dapple_opts[] = {
    {OPT_CHOICE, "micro", offsetof(struct dapple_options, micro), "given", .names = micro_names,
     .help = "the size of micro-batches: as it stands, or the best of those that divide the batch, "
             "unless --micro-batches or --micro-batch-size says one"},
    {OPT_CHOICE, "score", offsetof(struct dapple_options, score), "run", .names = score_names,
     .help = "plans are run, or scored as the paper's published program does, faults and all"},
    {OPT_BOOL, "literal", offsetof(struct dapple_options, literal), "false",
     .help = "search by the formula as the paper prints it"},
    {OPT_BOOL, "errors", offsetof(struct dapple_options, errors), "false",
     .help = "tell how near the formula comes to the plans that are run"},
    {OPT_INT, "beam", offsetof(struct dapple_options, beam), "4", .lo = "1", .hi = "256",
     .help = "prefixes that are kept for the same layers and devices, by each of two measures"},
    {OPT_INT, "plans", offsetof(struct dapple_options, plans), "64", .lo = "2", .hi = "10000",
     .help = "plans of the search that are run"},
    {0}};

/* ---- as published ------------------------------------------------------------------------------- */

/* Finds the states of the model; if there are too many, the states of a chain of all layers in their order. */
static void find_states(const struct train *t, struct stage_states *s)
{
    struct arena *a = t->x->use.scratch;
    struct layers_of row = t->layers;
    if (stage_states_find(s, &row, STATES_FIRST, /*published=*/true, MOST_STATES, a))
        return;
    struct pairs edge = {.a = a};
    for (uint32_t v = 0; v + 1 < row.n; v++)
        pairs_add(&edge, v, v + 1);
    row.succ = pairs_rows(&edge, row.n);
    row.pred = pairs_rows_back(&edge, row.n);
    stage_states_find(s, &row, STATES_FIRST, /*published=*/true, row.n, a);
}

/* Returns a text such as "2.598s by its score with (0,22)x8 (22,40)x8": the plan has a stage from state 0 to state 22
 * on 8 devices, and one from state 22 to the end, also on 8.  For the end, the text has the number of the last state
 * but one, as the published program writes it. */
static const char *print_published(const struct train *t, const struct stage_states *s,
                                   const struct published_plan *p)
{
    struct arena *a = t->x->use.mem;
    char time[UNIT_TEXT];
    const char *text = arena_fmt(a, "%s by its score with", time_print(time, p->latency));
    for (uint32_t k = 0; k < p->n; k++) {
        text = arena_fmt(a, "%s (%u,%u)x%u", text, k ? p->end[k - 1] : 0,
                         p->end[k] < s->n ? p->end[k] : s->n - 1,
                         servers_devices(&t->servers, &p->set[k]));
    }
    return text;
}

/* Runs the plan of the published program and makes it the planner's result; adds notes with the program's best two
 * plans and their scores.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int leave_published(struct train *t)
{
    const struct training *m = &t->x->scene.model.training;
    struct arena *a = t->x->use.scratch;
    struct stage_states s;
    struct published_plan best[PUBLISHED_PLANS];
    struct published_rules r = {.servers = &t->servers,
                                .micro_batches = training_count(m),
                                .size = m->micro_size ? m->micro_size : 1,
                                .of = m->micro_size ? m->profiled : 1};
    find_states(t, &s);
    dapple_published(&s, &r, &t->clock, a, best);
    if (best[0].latency == INT64_MAX)
        return diag_error(
            t->x->use.diag,
            "dapple-place: score=published plans for 2 to %d devices, as in the paper's tables",
            PUBLISHED_STAGES);
    uint32_t *stage_of = arena_array(a, (size_t)t->layers.n + 1, sizeof *stage_of);
    /* state end[k] has the layers of stages 0 .. k.  Stages are visited from the last one to the first, so a layer
     * keeps the smallest k whose state has it */
    for (uint32_t k = best[0].n; k-- > 0;)
        for (uint32_t v = 0; v < t->layers.n; v++)
            if (bits_have(s.set + (size_t)best[0].end[k] * s.words, v))
                stage_of[v] = k;
    struct stage_layout p = {.n = best[0].n, .stage_of = stage_of, .set = best[0].set};
    train_try(t, &p);
    for (uint32_t i = 0; i < PUBLISHED_PLANS; i++)
        if (best[i].latency < INT64_MAX)
            diag_note(t->x->use.diag,
                      "dapple-place: the published program's plan %u of %u states: %s", i + 1, s.n,
                      print_published(t, &s, &best[i]));
    return train_leave(t, &p, "DAPPLE's published program");
}

/* Adds a note that says how near the formula comes to the plans that were run, and how long by the formula the best
 * plan of several stages takes. */
static void note_errors(const struct train *t, const struct dapple_found *found)
{
    char time[UNIT_TEXT];
    uint32_t i = 0;
    while (i < found->nplan && found->plan[i].n == 1)
        i++;
    diag_note(t->x->use.diag, "dapple-place: the formula %s%s%s", formula_errors_tell(t->errors),
              i < found->nplan ? "; its best of several stages takes " : "",
              i < found->nplan ? time_print(time, found->plan[i].latency) : "");
}

/* Warns of an option that another one leaves without effect. */
static void warn_idle(const struct dapple_options *o, struct diag *d)
{
    bool published = o->score == SCORE_PUBLISHED, sized = o->micro == MICRO_FREE;
    const char *idle = o->errors                 ? "errors"
                       : published && o->literal ? "literal"
                       : published && sized      ? "micro=free"
                                                 : NULL;
    if (idle && (published || sized))
        diag_warning(d, WARN_UNUSED_OPTION, "dapple-place: %s has no effect with %s", idle,
                     published ? "score=published" : "micro=free");
}

/* pass.run: leaves the best plan of DAPPLE's search.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int dapple_run(struct ctx *x, const void *options)
{
    const struct dapple_options *o = options;
    struct train t;
    uint32_t tried = 0;
    warn_idle(o, x->use.diag);
    if (train_begin(&t, x, "dapple-place"))
        return -1;
    if (o->score == SCORE_PUBLISHED)
        return leave_published(&t);
    if (o->micro == MICRO_FREE)
        return pipeline_search(&t,
                               &(struct pipeline_search){.size = true,
                                                         .rules = {.literal = o->literal,
                                                                   .beam = (uint32_t)o->beam,
                                                                   .most = (uint32_t)o->plans}});
    struct layer_chain chain = train_chain(&t);
    struct dapple_rules rules = dapple_rules_of(&t);
    rules.literal = o->literal;
    rules.beam = (uint32_t)o->beam;
    rules.most = (uint32_t)o->plans;
    struct dapple_found found = dapple_search(&chain, &rules, &t.clock, x->use.scratch);
    struct formula_errors errors = {.a = x->use.scratch};
    t.errors = o->errors ? &errors : NULL;
    struct stage_layout best = dapple_best(&t, &found, DAPPLE_WORK, &tried);
    if (best.value < INT64_MAX && !t.rules.needs_apart && train_updates_within(&t, &best)) {
        t.rules.needs_apart = true;
        train_fit_anew(&t);
        struct stage_layout apart = dapple_best(&t, &found, DAPPLE_WORK, &tried);
        train_fit(&t, &apart, INT64_MAX);
        t.rules.needs_apart = false;
        if (apart.value < INT64_MAX) {
            train_note_apart(&t, apart.value, best.value);
            best = apart;
        }
    }
    if (o->errors)
        note_errors(&t, &found);
    return train_leave(&t, &best,
                       arena_fmt(x->use.mem, "best of %u plans that were run, %llu by the formula",
                                 tried, (unsigned long long)found.evaluated));
}

const struct planner planner_dapple_place = {
    .pass = {"dapple-place", "stages of a training pipeline on one or more devices each (DAPPLE)",
             dapple_opts, sizeof(struct dapple_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = dapple_run},
    .objectives = {"iteration-time"},
    .features = FEATURE_GROUPS | FEATURE_LEVELS | FEATURE_PART_COST};
