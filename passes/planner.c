/* Compares the features of a request with those of the planners, and writes the error message if a planner lacks some
 * (planner.h). */
#include "passes/planner.h"

#include <assert.h>
#include <string.h>

enum { FEATURES = 9 };

/* [bit number of a FEATURE_*] its name in messages such as "dp-place knows no pins" */
static const char *const feature_text[FEATURES] = {
    "pins",           "cost of parts",    "groups of devices",     "transfers beside computing",
    "GPipe schedule", "copies of stages", "links between devices", "more than two levels of links",
    "cuts by path"};

/* Whether some vertex is pinned to a device. */
static bool has_pins(const struct wdag *g)
{
    for (uint32_t v = 0; v < g->n; v++)
        if (g->pin[v] >= 0)
            return true;
    return false;
}

/* Whether links between two devices have an effect.  A sample alone does not use them if values go over the host. */
static bool uses_device_links(const struct cluster *c, const struct exec_model *m)
{
    return c->nlink && (exec_kind(m)->feed == FEED_STEADY || m->step.network == NETWORK_DIRECT);
}

uint32_t features_wanted(const struct ctx *x)
{
    const struct cluster *c = x->scene.cluster;
    const struct exec_model *m = &x->scene.model;
    assert(x->levels.base && c);
    return (has_pins(x->levels.base) ? FEATURE_PINS : 0U) |
           (m->part_cost > 0 ? FEATURE_PART_COST : 0U) |
           (cluster_grouped(c) ? FEATURE_GROUPS : 0U) |
           (m->overlap != OVERLAP_SUM ? FEATURE_OVERLAP : 0U) |
           (exec_apart(m) && x->scene.m->backward ? FEATURE_GPIPE : 0U) |
           (m->replicate ? FEATURE_COPIES : 0U) | (uses_device_links(c, m) ? FEATURE_ROUTES : 0U) |
           (c->nlevel > 2 ? FEATURE_LEVELS : 0U) | (ctx_settings(x)->ncuts ? FEATURE_CUTS : 0U);
}

/* Names that are added one by one to make a text such as "a, b and c". */
struct name_list {
    const char *text; /* all names but the last one, separated by commas; NULL: none */
    const char *last; /* NULL: the list is empty */
};

/* Adds a name to the list. */
static void add_name(struct name_list *l, const char *name, struct arena *a)
{
    if (l->last)
        l->text = l->text ? arena_fmt(a, "%s, %s", l->text, l->last) : l->last;
    l->last = name;
}

/* Returns the names as one text; and: the word before the last name, such as " and ". */
static const char *join_names(const struct name_list *l, const char *and, struct arena *a)
{
    return l->text ? arena_fmt(a, "%s%s%s", l->text, and, l->last) : l->last ? l->last : "";
}

/* Returns the names of the features (FEATURE_* bits) as one text, after the name `goal` of an objective (NULL: without
 * one).  and: the word before the last name. */
static const char *features_text(const char *goal, uint32_t features, const char *and,
                                 struct arena *a)
{
    struct name_list l = {.last = goal};
    for (uint32_t i = 0; i < FEATURES; i++)
        if (features >> i & 1)
            add_name(&l, feature_text[i], a);
    return join_names(&l, and, a);
}

/* Returns the wanted features (FEATURE_* bits) that p does not support, or that no plan for `goal` can use. */
static uint32_t features_lacking(const struct planner *p, const struct exec_kind *goal,
                                 uint32_t wanted)
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

/* Whether p supports the objective `goal` and all wanted features. */
static bool supports(const struct planner *p, const struct exec_kind *goal, uint32_t wanted)
{
    return planner_aims_at(p, goal) && !features_lacking(p, goal, wanted);
}

const struct planner *planner_for(const struct planner *p, const struct exec_model *m)
{
    const struct exec_kind *goal = exec_kind(m);
    const char *instead = goal->plans ? goal->plans->instead : NULL;
    if (!p->leaves || !instead || planner_aims_at(p, goal))
        return p;
    return planner_of(m->kinds, pass_find(m->kinds, instead));
}

/* If groups of devices are the only feature that is in the way, returns what to do: which planners support the other
 * features, and how to give the devices without groups.  (The user may not know of the groups, if -d detect found
 * them.)  Returns "" if groups are not the only obstacle.  table: as for planner_check(). */
static const char *without_groups(const struct ctx *x, uint32_t wanted,
                                  const struct planner *const *table, struct arena *a)
{
    const struct exec_model *m = &x->scene.model;
    const struct cluster *c = x->scene.cluster;
    struct name_list can = {0};
    const struct planner *k;
    const char *devices = "";
    for (uint32_t i = 0; (k = table ? table[i] : planner_at(m->kinds, i)); i++)
        if (!k->given && supports(k, exec_kind(m), wanted & ~(uint32_t)FEATURE_GROUPS))
            add_name(&can, k->pass.name, a);
    for (uint32_t i = 0; i < c->ncls; i++)
        devices = arena_fmt(a, "%s%s%ux%s", devices, i ? "," : "", c->cls[i].count, c->cls[i].name);
    return !(wanted & FEATURE_GROUPS) || !can.last
               ? ""
               : arena_fmt(a, "; for devices without groups (-d %s) %s do%s", devices,
                           join_names(&can, " and ", a), can.text ? "" : "es");
}

int planner_check(const struct planner *p, const struct ctx *x, const struct planner *const *table)
{
    struct arena *a = x->use.scratch;
    /* planners that support all wanted features: planners that search for a plan; planners that read a given plan */
    struct name_list can = {0}, given = {0};
    const struct exec_model *m = &x->scene.model;
    const struct exec_kind *goal = exec_kind(m);
    const struct planner *k;
    uint32_t wanted = features_wanted(x);
    if (supports(p, goal, wanted))
        return 0;
    for (uint32_t i = 0; (k = table ? table[i] : planner_at(m->kinds, i)); i++)
        if (supports(k, goal, wanted))
            add_name(k->given ? &given : &can, k->pass.name, a);
    const char *what = features_text(planner_aims_at(p, goal) ? NULL : goal->name,
                                     features_lacking(p, goal, wanted), " and no ", a);
    if (!can.last)
        return diag_error(
            x->use.diag, "%s knows no %s; no planner knows all that is wanted: %s%s%s",
            p->pass.name, what, features_text(m->objective ? goal->name : NULL, wanted, " and ", a),
            without_groups(x, wanted, table, a),
            given.last ? arena_fmt(a, "; a plan that is made by hand can be given (%s)", given.last)
                       : "");
    return diag_error(x->use.diag, "%s knows no %s; %s do%s", p->pass.name, what,
                      join_names(&can, " and ", a), can.text ? "" : "es");
}
