/* pipedream-hier-place: PipeDream's planner for servers of devices, with stages on several devices.
 *
 * Source: PipeDream (SOSP 2019), 3.1, and its published optimizer (hier_stages.c).  The optimizer minimises the time of
 * the slowest stage for a minibatch, which a note tells; the plan's value is found by running the plan, as always. */
#include "passes/stages/hier_plan.h"

#include "ir/base/units.h"

/* The values of the options in hier_place_opts; states, cut: indices in states_names, cut_names. */
struct hier_place_options {
    int64_t states, cut, compression;
    bool straight, fewer, memory;
};

static const char *const states_names[] = {"all", "first", "narrow", NULL};
static const char *const cut_names[] = {"exact", "published", NULL};
enum { CUT_PUBLISHED = 1 }; /* index in cut_names */

static const struct opt hier_place_opts[] = {
    {OPT_CHOICE, "states", offsetof(struct hier_place_options, states), "all",
     .names = states_names,
     .help =
         "where the model may be cut: anywhere (as narrow if that is too much), where the published program "
         "looks, or along its layers where the fewest values cross"},
    {OPT_CHOICE, "cut", offsetof(struct hier_place_options, cut), "exact", .names = cut_names,
     .help = "bytes that cross a cut: what is read, or as the published program counts"},
    {OPT_INT, "compression", offsetof(struct hier_place_options, compression), "1", .lo = "0",
     .hi = "1000",
     .help = "activations are moved so many times smaller; 0: moving them takes nothing"},
    {OPT_BOOL, "straight", offsetof(struct hier_place_options, straight), "false",
     .help = "one device for each stage"},
    {OPT_BOOL, "fewer", offsetof(struct hier_place_options, fewer), "false",
     .help = "devices may be left idle"},
    {OPT_BOOL, "memory", offsetof(struct hier_place_options, memory), "false",
     .help = "the published program's memory test"},
    {0}};

/* Finds the states at which the model may be cut, as the options say.  Returns false, after an error, if there are
 * too many. */
static bool find_states(const struct train *t, const struct hier_place_options *o,
                        struct stage_states *s)
{
    struct ctx *x = t->x;
    enum states_kind kind = (enum states_kind)o->states;
    uint32_t most = kind == STATES_NARROW ? HIER_NARROW : HIER_STATES;
    bool published = o->cut == CUT_PUBLISHED;
    bool few = stage_states_find(s, &t->layers, kind, published, most, x->use.scratch);
    if (!few && kind == STATES_ALL) {
        few =
            stage_states_find(s, &t->layers, STATES_NARROW, published, HIER_NARROW, x->use.scratch);
        diag_note(
            x->use.diag,
            "pipedream-hier-place: the model can be cut in more than %d ways: %u layers are taken in their order, "
            "as %u between the places where the fewest values cross",
            HIER_STATES, t->layers.n, s->n);
    }
    if (!few)
        diag_error(
            x->use.diag,
            "pipedream-hier-place: the model can be cut in more than %d ways; states=narrow takes few of them",
            HIER_STATES);
    return few;
}

/* Returns the plan that was found, run; n is 0 if there is none. */
static struct stage_layout try_found(const struct train *t, const struct stage_states *states,
                                     const struct hier_result *found)
{
    struct stage_layout p = {.value = INT64_MAX};
    if (found->value < INT64_MAX) {
        p = hier_plan(t, states, found);
        train_try(t, &p);
    }
    return p;
}

/* pass.run: leaves the plan of PipeDream's planner.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int hier_place_run(struct ctx *x, const void *options)
{
    const struct hier_place_options *o = options;
    struct train t;
    struct stage_states states;
    struct hier_rules r = {.compression = o->compression * 1000000,
                           .memory = -1,
                           .straight = o->straight,
                           .fewer = o->fewer};
    char text[UNIT_TEXT];
    if (train_begin(&t, x, "pipedream-hier-place"))
        return -1;
    if (!find_states(&t, o, &states))
        return -1;
    if (o->memory)
        r.memory = x->scene.cluster->cls[cluster_main_class(x->scene.cluster)].memory;
    hier_levels(&t, &r);
    struct hier_result found = hier_stages(&states, &r, &t.clock, x->use.scratch);
    struct stage_layout p = try_found(&t, &states, &found);
    if (p.n && p.value == INT64_MAX && t.joint.value.n && !r.straight) {
        /* a stage that has a part of a joint update (train.h) runs on one device */
        r.straight = r.fewer = true;
        found = hier_stages(&states, &r, &t.clock, x->use.scratch);
        p = try_found(&t, &states, &found);
    }
    if (found.value == INT64_MAX) {
        diag_error(x->use.diag, "pipedream-hier-place: %s",
                   found.complete ? "no plan passes the memory test" : t.clock.why);
        return found.complete ? PASS_INFEASIBLE : -1;
    }
    diag_note(x->use.diag,
              "pipedream-hier-place: the slowest of %u stage%s takes %s of a minibatch, by the "
              "planner's own measure; %u states",
              found.nstage, found.nstage == 1 ? "" : "s", time_print(text, found.value), states.n);
    return train_leave(&t, &p, "PipeDream's dynamic program");
}

const struct planner planner_pipedream_hier_place = {
    .pass = {"pipedream-hier-place",
             "stages on one or more devices of servers, by PipeDream's planner", hier_place_opts,
             sizeof(struct hier_place_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = hier_place_run},
    .objectives = {"iteration-time"},
    .features = FEATURE_GROUPS | FEATURE_LEVELS | FEATURE_PART_COST};
