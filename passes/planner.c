/* What is asked of planners, what they offer, and the one sentence that refuses (planner.h). */
#include "passes/planner.h"

#include <assert.h>

enum { FEATURES = 6 };

/* [bit] in a sentence: "dp-place knows no ..." */
static const char *const feature_text[FEATURES] = {
    "pins",           "cost of parts",   "groups of devices", "transfers beside computing",
    "GPipe schedule", "copies of stages"};

static bool pinned(const struct wdag *g)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (g->pin[v] >= 0)
            return true;
    return false;
}

uint32_t features_wanted(const struct ctx *x)
{
    const struct cluster *c = x->scene.cluster;
    assert(x->levels.base && c);
    return (pinned(x->levels.base) ? FEATURE_PINS : 0U) |
           (c->part_cost > 0 ? FEATURE_PART_COST : 0U) |
           (cluster_grouped(c) ? FEATURE_GROUPS : 0U) |
           (c->overlap != OVERLAP_SUM ? FEATURE_OVERLAP : 0U) |
           (c->schedule == SCHEDULE_GPIPE && x->scene.m->backward ? FEATURE_GPIPE : 0U) |
           (c->replicate ? FEATURE_COPIES : 0U);
}

/* "a, b and c", from names that are added one by one. */
struct list {
    const char *text, *last; /* all but the last one; NULL: none */
    uint32_t n;
};

static void add(struct list *l, const char *name, struct arena *a)
{
    if (l->last)
        l->text = l->text ? arena_fmt(a, "%s, %s", l->text, l->last) : l->last;
    l->last = name;
    l->n++;
}

static const char *text_of(const struct list *l, const char *and, struct arena *a)
{
    return l->text ? arena_fmt(a, "%s%s%s", l->text, and, l->last) : l->last ? l->last : "";
}

static const char *features_text(uint32_t features, const char *and, struct arena *a)
{
    struct list l = {0};
    for (uint32_t i = 0; i < FEATURES; i++)
        if (features >> i & 1)
            add(&l, feature_text[i], a);
    return text_of(&l, and, a);
}

int planner_check(const struct planner *p, const struct ctx *x, const struct planner *const *table)
{
    struct arena *a = x->use.scratch;
    struct list can = {0};
    uint32_t wanted = features_wanted(x), lacks = wanted & ~p->features;
    if (!lacks)
        return 0;
    for (const struct planner *const *k = table ? table : planner_table; *k; k++)
        if (!(wanted & ~(*k)->features) && !(*k)->given)
            add(&can, (*k)->pass.name, a);
    const char *what = features_text(lacks, " and no ", a);
    if (!can.n)
        return diag_error(x->use.diag, "%s knows no %s; no planner knows all that is wanted: %s",
                          p->pass.name, what, features_text(wanted, " and ", a));
    return diag_error(x->use.diag, "%s knows no %s; %s do%s", p->pass.name, what,
                      text_of(&can, " and ", a), can.n == 1 ? "es" : "");
}
