/* Requests to planners, the support that planners offer, and the message of refusal (planner.h). */
#include "passes/planner.h"

#include <assert.h>
#include <string.h>

enum { FEATURES = 8 };

/* [bit] in a sentence: "dp-place knows no ..." */
static const char *const feature_text[FEATURES] = {
    "pins",           "cost of parts",    "groups of devices",     "transfers beside computing",
    "GPipe schedule", "copies of stages", "links between devices", "more than two levels of links"};

static bool pinned(const struct wdag *g)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (g->pin[v] >= 0)
            return true;
    return false;
}

/* Whether links of two devices count: by way of the host one sample alone does not go over them. */
static bool routed(const struct cluster *c, const struct exec_model *m)
{
    return c->nlink && (exec_kind(m)->feed == FEED_STEADY || m->step.network == NETWORK_DIRECT);
}

uint32_t features_wanted(const struct ctx *x)
{
    const struct cluster *c = x->scene.cluster;
    const struct exec_model *m = &x->scene.model;
    assert(x->levels.base && c);
    return (pinned(x->levels.base) ? FEATURE_PINS : 0U) |
           (m->part_cost > 0 ? FEATURE_PART_COST : 0U) |
           (cluster_grouped(c) ? FEATURE_GROUPS : 0U) |
           (m->overlap != OVERLAP_SUM ? FEATURE_OVERLAP : 0U) |
           (exec_apart(m) && x->scene.m->backward ? FEATURE_GPIPE : 0U) |
           (m->replicate ? FEATURE_COPIES : 0U) | (routed(c, m) ? FEATURE_ROUTES : 0U) |
           (c->nlevel > 2 ? FEATURE_LEVELS : 0U);
}

/* "a, b and c", from names that are added one by one. */
struct list {
    const char *text, *last; /* all but the last one; NULL: none */
};

static void add(struct list *l, const char *name, struct arena *a)
{
    if (l->last)
        l->text = l->text ? arena_fmt(a, "%s, %s", l->text, l->last) : l->last;
    l->last = name;
}

static const char *joined(const struct list *l, const char *and, struct arena *a)
{
    return l->text ? arena_fmt(a, "%s%s%s", l->text, and, l->last) : l->last ? l->last : "";
}

/* Features, after a goal that is not NULL. */
static const char *text_of(const char *goal, uint32_t features, const char *and, struct arena *a)
{
    struct list l = {.last = goal};
    for (uint32_t i = 0; i < FEATURES; i++)
        if (features >> i & 1)
            add(&l, feature_text[i], a);
    return joined(&l, and, a);
}

/* Wanted features that p does not support, or that are of no use for the objective. */
static uint32_t lacks(const struct planner *p, const struct exec_kind *goal, uint32_t wanted)
{
    return wanted & (~p->features | (goal->plans ? goal->plans->useless : 0));
}

bool planner_aims_at(const struct planner *p, const struct exec_kind *goal)
{
    bool aims = p->every_objective;
    for (uint32_t i = 0; i < PLANNER_OBJECTIVES && p->objectives[i]; i++)
        aims = aims || !strcmp(p->objectives[i], goal->name);
    return aims;
}

static bool knows(const struct planner *p, const struct exec_kind *goal, uint32_t wanted)
{
    return planner_aims_at(p, goal) && !lacks(p, goal, wanted);
}

const struct planner *planner_for(const struct planner *p, const struct exec_model *m)
{
    const struct exec_kind *goal = exec_kind(m);
    const char *instead = goal->plans ? goal->plans->instead : NULL;
    if (!p->leaves || !instead || planner_aims_at(p, goal))
        return p;
    return planner_of(m->kinds, pass_find(m->kinds, instead));
}

int planner_check(const struct planner *p, const struct ctx *x, const struct planner *const *table)
{
    struct arena *a = x->use.scratch;
    struct list can = {0}, given = {0};
    const struct exec_model *m = &x->scene.model;
    const struct exec_kind *goal = exec_kind(m);
    const struct planner *k;
    uint32_t wanted = features_wanted(x);
    if (knows(p, goal, wanted))
        return 0;
    for (uint32_t i = 0; (k = table ? table[i] : planner_at(m->kinds, i)); i++)
        if (knows(k, goal, wanted))
            add(k->given ? &given : &can, k->pass.name, a);
    const char *what = text_of(planner_aims_at(p, goal) ? NULL : goal->name, lacks(p, goal, wanted),
                               " and no ", a);
    if (!can.last)
        return diag_error(
            x->use.diag, "%s knows no %s; no planner knows all that is wanted: %s%s", p->pass.name,
            what, text_of(m->objective ? goal->name : NULL, wanted, " and ", a),
            given.last ? arena_fmt(a, "; a plan that is made by hand can be given (%s)", given.last)
                       : "");
    return diag_error(x->use.diag, "%s knows no %s; %s do%s", p->pass.name, what,
                      joined(&can, " and ", a), can.text ? "" : "es");
}
