/* Finds the best plan of stages by running plans (dapple_plans.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), IV.  Its formula ignores idle times within a pipeline and part of the memory.  So
 * the best plans of its search are run, and plans that the search may have missed: one stage on all devices or fewer;
 * 2, 3, ... stages with equally many devices each; PipeDream's plans.  The plan with the shortest iteration is kept,
 * and the borders between its stages are moved as long as that helps.  For pipeline-place the best plan of each number
 * of stages is changed: borders, devices, number of stages, idle devices.  With interleaved stages only the devices of
 * a proposed plan's stages are used, as places: first with one stage on each place, all of about the same time, then
 * with two, four, ... as long as that helps. */
#include "passes/stages/dapple_plans.h"

#include "passes/replicas/formula_errors.h"
#include "passes/stages/hier_plan.h"

#include <assert.h>
#include <string.h>

enum {
    /* number of kinds of plans by PipeDream's rules: stages have one device each or several, and devices may be idle or
     * not */
    HIER_PLANS = 4,
    FEW_STATES = 500, /* all kinds are found if the model has at most this number of states */
    FEW_MOVED = 4,    /* the most layers that move to a neighbouring stage at once */
    MOST_MOVED = 64,  /* FEW_MOVED where nothing else helps */
    /* number of places, where few bytes cross, that are tried on each side of a border */
    NARROW = 8,
    STARTS = 64, /* plans of up to this many stages are changed as well as the best one */
    /* ... but only plans that take at most 1 / NEAR longer than the best one */
    NEAR = 2
};

/* The state of the search for the best plan. */
struct plan_choice {
    struct train *t;
    struct layer_chain chain;
    struct stage_layout best; /* the best plan so far; n is 0: none was run */
    /* [number of stages] the best proposed plan with that number of stages; n is 0: none; NULL: not wanted */
    struct stage_layout *start;
    /* true: the plans that run now are proposals; false: they are changes of the best plan */
    bool proposed;
    uint32_t tried;            /* number of plans that were run */
    struct dapple_rules rules; /* the rules by which the formula's errors are found */
    /* number of tasks run so far, about; the search ends when it is above `most` */
    int64_t work, most;
};

/* Returns whether no more plans may be run. */
static bool is_over(struct plan_choice *c)
{
    return c->work > c->most || clock_out(&c->t->clock);
}

/* Adds to t->errors the error that the formula makes for a plan that was run.  Does nothing if a stage is no range of
 * the chain of layers: the formula is defined for ranges only.  O(layers + stages). */
static void compare_formula(struct plan_choice *c, const struct stage_layout *p)
{
    struct arena *a = c->t->errors->a;
    uint32_t *end = arena_array(a, p->n, sizeof *end);
    bool alone = true; /* each stage has a single device */
    /* k: stage of the layer before v; the next layer must be in the same stage or in the next one */
    for (uint32_t v = 0, k = 0; v < c->chain.n; v++) {
        if (p->stage_of[v] != k && (p->stage_of[v] != k + 1 || v == 0))
            return;
        k = p->stage_of[v];
        end[k] = v + 1;
    }
    for (uint32_t k = 0; k < p->n; k++)
        alone = alone && servers_devices(c->rules.servers, &p->set[k]) == 1;
    /* a stage_plan may change its devices, but stage_plan_latency() only reads them */
    struct stage_plan plan = {.n = p->n, .end = end, .devices = (struct device_set *)p->set};
    formula_errors_add(c->t->errors, stage_plan_latency(&c->chain, &c->rules, &plan, a), p->value,
                       alone);
}

/* Runs plan p, adds its tasks to c->work, and keeps it if it is better than the best plan.  A plan that is odd or
 * uneven is kept only while there is no other one.  Notes in c->t what a message needs if no plan is found (too_long,
 * odd), and the formula's error if t wants it. */
static void try_layout(struct plan_choice *c, struct stage_layout *p)
{
    train_try(c->t, p);
    train_fit_early(c->t, p, c->best.value);
    c->tried++;
    c->t->too_long = c->t->too_long || p->too_long;
    if (p->odd) {
        c->t->odd.plans++;
        c->t->odd.places = larger_u32(c->t->odd.places, p->places);
    }
    /* the formula is not about interleaved stages */
    if (c->t->errors && p->value < INT64_MAX &&
        c->t->x->scene.model.training.schedule != TRAINING_INTERLEAVED)
        compare_formula(c, p);
    /* about 16 tasks for each stage and micro-batch, in all runs of a plan (train_try) */
    c->work += 16 * (int64_t)p->n * training_count(&c->t->x->scene.model.training) + c->chain.n;
    if (train_better(p, &c->best))
        c->best = *p;
    if (c->start && c->proposed && p->n <= STARTS && p->value < INT64_MAX &&
        train_better(p, &c->start[p->n]))
        c->start[p->n] = *p;
}

/* Runs interleaved plans on the n places `set`, with as many stages on each place as the user wants; if the user gives
 * no number, with 1, 2, 4, ... as long as plans get faster.  Several stages help on a single place, too: the AllReduce
 * of a later stage is hidden behind backward passes of earlier ones, and each stage may recompute or not.  But a user
 * who gives a number of stages wants several places. */
static void try_interleaved(struct plan_choice *c, uint32_t n, const struct device_set *set)
{
    /* stages on each place that the user wants; 0: any number */
    uint32_t said = c->t->x->scene.model.training.per_device;
    uint32_t most = n == 1 && said ? 1 : c->chain.n / n;
    int64_t before = INT64_MAX; /* ps: value of the plan with half as many stages on each place */
    for (uint32_t each = said ? said : 1; each <= most && !is_over(c); each *= 2) {
        struct stage_layout p = train_even(c->t, &c->chain, each * n, n, set);
        try_layout(c, &p);
        if (said || p.uneven || p.odd || (before < INT64_MAX && p.value >= before) ||
            each > most / 2)
            return;
        before = p.value;
    }
}

/* Runs a plan of n stages on the devices set[], cut before end[] as for train_cut(); with an interleaved schedule, runs
 * plans on the places `set` instead. */
static void try_plan(struct plan_choice *c, uint32_t n, const uint32_t *end,
                     const struct device_set *set)
{
    if (c->t->x->scene.model.training.schedule == TRAINING_INTERLEAVED) {
        try_interleaved(c, n, set);
        return;
    }
    struct stage_layout p = train_cut(c->t, n, end, set);
    try_layout(c, &p);
}

/* Returns whether no layer reads a result of a later stage.  A moved layer can break that rule in plans whose stages
 * are no ranges of the row of layers, such as PipeDream's.  O(layers + edges). */
static bool goes_forward(const struct layers_of *l, const uint32_t *stage_of)
{
    for (uint32_t v = 0; v < l->n; v++)
        for_row (w, l->succ, v)
            if (stage_of[w] < stage_of[v])
                return false;
    return true;
}

/* Runs the best plan with a border between stages moved by `by` layers.  The border is before layer v, the first of
 * its stage.  back: that stage gets the last `by` layers of the stage before; else it gives its first `by` layers to
 * the stage before.  Does nothing if the giving stage would keep no layer beside the border, or if a layer would then
 * read a result of a later stage. */
static void try_moved(struct plan_choice *c, uint32_t v, uint32_t by, bool back)
{
    struct arena *a = c->t->x->use.scratch;
    uint32_t *stage_of = arena_array(a, (size_t)c->chain.n + 1, sizeof *stage_of);
    uint32_t from = c->best.stage_of[back ? v - 1 : v], to = c->best.stage_of[back ? v : v - 1];
    memcpy(stage_of, c->best.stage_of, c->chain.n * sizeof *stage_of);
    /* the layers that move, from the border on, and one more layer, which the giving stage must keep */
    int64_t first = back ? (int64_t)v - 1 : v, step = back ? -1 : 1;
    for (uint32_t i = 0; i <= by; i++) {
        int64_t at = first + i * step;
        if (at < 0 || at >= c->chain.n || stage_of[at] != from)
            return;
        if (i < by)
            stage_of[at] = to;
    }
    if (!goes_forward(&c->t->layers, stage_of))
        return;
    struct stage_layout p = {
        .n = c->best.n, .stage_of = stage_of, .set = c->best.set, .places = c->best.places};
    try_layout(c, &p);
}

/* Runs a plan of n stages of about the same time, on `each` devices each, which are taken server by server.
 * samples: number of samples of a micro-batch; `each` is lowered until it divides this number; 0: a device's share
 * need not be whole samples. */
static void try_even(struct plan_choice *c, uint32_t n, uint32_t each, int64_t samples)
{
    const struct servers *s = &c->t->servers;
    struct arena *a = c->t->x->use.scratch;
    uint32_t *end = arena_array(a, n, sizeof *end), layer = 0;
    struct device_set *set = arena_array(a, n, sizeof *set), used = {{0}};
    const struct layer_chain *k = &c->chain;
    int64_t all = sat_add(k->forward[k->n], k->backward[k->n]);
    while (samples % each)
        each--;
    for (uint32_t i = 0; i < n; i++) {
        /* the next `each` devices that no stage has */
        uint32_t need = each;
        for (uint32_t v = 0; v < s->n && need; v++) {
            uint32_t room = s->size[v] - used.of[v], take = smaller_u32(room, need);
            set[i].of[v] = (uint16_t)take;
            used.of[v] = (uint16_t)(used.of[v] + take);
            need -= take;
        }
        /* one layer, and more until the first i + 1 stages have their share of the time; a layer for each later stage
         * must be left */
        layer++;
        while (layer + (n - i - 1) < k->n &&
               (__int128)sat_add(k->forward[layer], k->backward[layer]) * n <
                   (__int128)all * (i + 1))
            layer++;
        end[i] = i + 1 == n ? k->n : layer;
    }
    try_plan(c, n, end, set);
}

/* Sets t->pipedream, unless it is set: the plans by PipeDream's rules (pipedream_hier_place.c), with stages on one
 * device each, and on several.  If t->wide, finds plans with idle devices, too, and plans of models with more than
 * FEW_STATES states, which takes a second. */
static void find_pipedream(struct train *t)
{
    struct stage_states states;
    struct arena *a = t->x->use.scratch;
    if (t->pipedream.plan)
        return;
    t->pipedream.plan = arena_array(a, HIER_PLANS, sizeof *t->pipedream.plan);
    uint32_t most = t->wide ? HIER_STATES : FEW_STATES;
    bool all = stage_states_find(&states, &t->layers, STATES_ALL, /*published=*/false, most, a);
    bool few = all && states.n <= FEW_STATES;
    if (!all) {
        if (!t->wide)
            return;
        stage_states_find(&states, &t->layers, STATES_NARROW, /*published=*/false, HIER_NARROW, a);
    }
    /* way: bit 0: one device for each stage; bit 1: devices may be idle */
    int ways = t->wide && few ? HIER_PLANS : HIER_PLANS / 2;
    for (int way = 0; way < ways && !clock_out(&t->clock); way++) {
        struct hier_rules r = {
            .compression = 1000000, .memory = -1, .straight = way & 1, .fewer = way & 2};
        hier_levels(t, &r);
        struct hier_result found = hier_stages(&states, &r, &t->clock, a);
        if (found.value < INT64_MAX)
            t->pipedream.plan[t->pipedream.n++] = hier_plan(t, &states, &found);
        if (few && way < HIER_PLANS / 2)
            t->pipedream.nusual = t->pipedream.n;
    }
}

/* Runs PipeDream's plans number from .. to - 1.  With an interleaved schedule, first runs plans whose places are the
 * devices of such a plan's stages, and then the plan itself unless the user wants several stages on each place. */
static void try_pipedream(struct plan_choice *c, uint32_t from, uint32_t to)
{
    const struct training *m = &c->t->x->scene.model.training;
    for (uint32_t i = from; i < to && !is_over(c); i++) {
        struct stage_layout p = c->t->pipedream.plan[i];
        if (m->schedule == TRAINING_INTERLEAVED)
            try_interleaved(c, p.n, p.set);
        if (m->schedule != TRAINING_INTERLEAVED || m->per_device < 2)
            try_layout(c, &p);
    }
}

/* Returns a copy of the best plan, which may be changed, with room for one more stage.  *stage_of, *set: the copy's
 * arrays, in t's scratch arena. */
static struct stage_layout copy_best(const struct plan_choice *c, uint32_t **stage_of,
                                     struct device_set **set)
{
    struct arena *a = c->t->x->use.scratch;
    *stage_of = arena_array(a, (size_t)c->chain.n + 1, sizeof **stage_of);
    *set = arena_array(a, (size_t)c->best.n + 1, sizeof **set);
    memcpy(*stage_of, c->best.stage_of, c->chain.n * sizeof **stage_of);
    memcpy(*set, c->best.set, c->best.n * sizeof **set);
    return (struct stage_layout){.n = c->best.n, .stage_of = *stage_of, .set = *set};
}

/* Runs the plan p, which copy_best() made after `mark` was taken.  Frees the memory of p, by `mark`, unless p is now
 * the best plan; so nothing else may keep what the run takes from the scratch arena. */
static void try_copy(struct plan_choice *c, struct stage_layout *p, struct arena_mark mark)
{
    const uint32_t *stage_of = p->stage_of;
    /* t->errors has an array that grows there, and proposed plans are kept in c->start */
    assert(!c->t->errors && !c->proposed);
    try_layout(c, p);
    if (c->best.stage_of != stage_of)
        arena_release(c->t->x->use.scratch, mark);
}

/* Returns the devices that no stage of the best plan has. */
static struct device_set idle_devices(const struct plan_choice *c)
{
    const struct servers *s = &c->t->servers;
    struct device_set idle = {{0}};
    for (uint32_t v = 0; v < s->n; v++) {
        idle.of[v] = (uint16_t)s->size[v];
        for (uint32_t k = 0; k < c->best.n; k++)
            idle.of[v] = (uint16_t)(idle.of[v] - c->best.set[k].of[v]);
    }
    return idle;
}

/* Runs the best plan with one device of server v moved from stage `from` to stage `to`; a stage number that is the
 * number of stages stands for the idle devices.  Does nothing if `from` has no device in server v, or no other
 * device. */
static void try_device(struct plan_choice *c, uint32_t from, uint32_t to, uint32_t v)
{
    const struct servers *s = &c->t->servers;
    uint32_t *stage_of, n = c->best.n;
    struct device_set *set, idle = idle_devices(c);
    if (from < n ? !c->best.set[from].of[v] || servers_devices(s, &c->best.set[from]) < 2
                 : !idle.of[v])
        return;
    struct arena_mark mark = arena_mark(c->t->x->use.scratch);
    struct stage_layout p = copy_best(c, &stage_of, &set);
    if (from < n)
        set[from].of[v]--;
    if (to < n)
        set[to].of[v]++;
    try_copy(c, &p, mark);
}

/* Which devices a stage gets that takes the place of two stages: those of both, of the first one, or of the second
 * one. */
enum joined_on { ON_BOTH, ON_FIRST, ON_SECOND };

/* Runs the best plan with stages k and k + 1 joined to one stage on the devices of both, or of one of them. */
static void try_merged(struct plan_choice *c, uint32_t k, enum joined_on on)
{
    uint32_t *stage_of;
    struct device_set *set;
    struct arena_mark mark = arena_mark(c->t->x->use.scratch);
    struct stage_layout p = copy_best(c, &stage_of, &set);
    for (uint32_t v = 0; v < c->t->servers.n; v++)
        set[k].of[v] = (uint16_t)((on == ON_SECOND ? 0 : set[k].of[v]) +
                                  (on == ON_FIRST ? 0 : set[k + 1].of[v]));
    for (uint32_t i = k + 1; i + 1 < p.n; i++)
        set[i] = set[i + 1];
    for (uint32_t v = 0; v < c->chain.n; v++)
        if (stage_of[v] > k)
            stage_of[v]--;
    p.n--;
    try_copy(c, &p, mark);
}

/* Takes up to n devices out of *from, beginning with the first server; returns them. */
static struct device_set take_first(const struct servers *s, struct device_set *from, uint32_t n)
{
    struct device_set taken = {{0}};
    for (uint32_t v = 0; v < s->n; v++) {
        taken.of[v] = (uint16_t)smaller_u32(from->of[v], n);
        n -= taken.of[v];
        from->of[v] = (uint16_t)(from->of[v] - taken.of[v]);
    }
    return taken;
}

/* Runs the best plan with stage k split in two before layer `at`.  idle: the first half keeps the devices of the stage,
 * and the second half gets as many idle devices, or all if there are fewer; else both halves share the devices of the
 * stage.  Does nothing if a half would get no device. */
static void try_split(struct plan_choice *c, uint32_t k, uint32_t at, bool idle)
{
    const struct servers *s = &c->t->servers;
    uint32_t *stage_of, n = servers_devices(s, &c->best.set[k]);
    struct device_set *set, free = idle_devices(c);
    if (idle ? !servers_devices(s, &free) : n < 2)
        return;
    struct arena_mark mark = arena_mark(c->t->x->use.scratch);
    struct stage_layout p = copy_best(c, &stage_of, &set);
    for (uint32_t i = p.n; i > k; i--)
        set[i] = set[i - 1];
    if (idle)
        set[k + 1] = take_first(s, &free, n);
    else
        set[k] = take_first(s, &set[k + 1], n / 2);
    for (uint32_t v = 0; v < c->chain.n; v++)
        if (stage_of[v] > k || (stage_of[v] == k && v >= at))
            stage_of[v]++;
    p.n++;
    try_copy(c, &p, mark);
}

/* Moves the borders between the stages of the best plan by `least`, 2 * least ... `most` layers.  Returns whether the
 * best plan got better. */
static bool move_borders(struct plan_choice *c, uint32_t least, uint32_t most)
{
    int64_t before = c->best.value;
    for (uint32_t v = 1; v < c->chain.n && c->best.value == before && !is_over(c); v++) {
        if (c->best.stage_of[v] == c->best.stage_of[v - 1])
            continue;
        for (uint32_t by = least; by <= most && c->best.value == before; by *= 2)
            for (int back = 0; back < 2 && c->best.value == before; back++)
                try_moved(c, v, by, back);
    }
    return c->best.value < before;
}

/* Moves a border of the best plan to another place: one where no more bytes cross than at the border, but more bytes
 * just before or just behind it.  Tries the NARROW nearest such places on each side.  Returns whether the best plan got
 * better. */
static bool move_to_narrow(struct plan_choice *c)
{
    int64_t before = c->best.value;
    const int64_t *cut = c->chain.cut;
    for (uint32_t v = 1; v < c->chain.n && c->best.value == before && !is_over(c); v++) {
        if (c->best.stage_of[v] == c->best.stage_of[v - 1])
            continue;
        for (int back = 0; back < 2; back++) {
            uint32_t most = back ? v - 1 : c->chain.n - 1 - v, tried = 0;
            for (uint32_t by = 1; by <= most && tried < NARROW && c->best.value == before; by++) {
                uint32_t at = back ? v - by : v + by;
                if (cut[at] > cut[v] || (cut[at - 1] <= cut[at] && cut[at + 1] <= cut[at]))
                    continue;
                try_moved(c, v, by, back);
                tried++;
            }
        }
    }
    return c->best.value < before;
}

/* Sets from .. to to the stages of the best plan where layer v could stand: not before the layers that it reads, nor
 * behind those that read it. */
static void stages_for(const struct plan_choice *c, uint32_t v, uint32_t *from, uint32_t *to)
{
    const struct layers_of *l = &c->t->layers;
    *from = 0;
    *to = c->best.n - 1;
    for_row (u, l->pred, v)
        *from = larger_u32(*from, c->best.stage_of[u]);
    for_row (w, l->succ, v)
        *to = smaller_u32(*to, c->best.stage_of[w]);
}

/* Moves one layer of the best plan, which need not stand at a border, to another stage where it could stand, such as
 * one that reads nothing of other layers.  Returns whether the best plan got better. */
static bool move_layers(struct plan_choice *c)
{
    int64_t before = c->best.value;
    uint32_t *layers = arena_array(c->t->x->use.scratch, c->best.n, sizeof *layers); /* [stage] */
    for (uint32_t v = 0; v < c->chain.n; v++)
        layers[c->best.stage_of[v]]++;
    for (uint32_t v = 0; v < c->chain.n && !is_over(c); v++) {
        uint32_t from, to;
        if (layers[c->best.stage_of[v]] == 1)
            continue; /* the stage would have none */
        stages_for(c, v, &from, &to);
        for (uint32_t k = from; k <= to && c->best.value == before; k++) {
            uint32_t *stage_of;
            struct device_set *set;
            if (k == c->best.stage_of[v])
                continue;
            struct arena_mark mark = arena_mark(c->t->x->use.scratch);
            struct stage_layout p = copy_best(c, &stage_of, &set);
            stage_of[v] = k;
            try_copy(c, &p, mark);
        }
        if (c->best.value < before)
            return true;
    }
    return false;
}

/* Tries to move a device of the best plan (try_device) from each of the stages from[0] .. from[1] - 1 to each of the
 * stages to[0] .. to[1] - 1.  Returns whether the best plan got better. */
static bool move_devices(struct plan_choice *c, const uint32_t *from, const uint32_t *to)
{
    int64_t before = c->best.value;
    for (uint32_t i = from[0]; i < from[1]; i++)
        for (uint32_t k = to[0]; k < to[1]; k++)
            for (uint32_t v = 0; v < c->t->servers.n && i != k; v++) {
                if (c->best.value < before || is_over(c))
                    return c->best.value < before;
                try_device(c, i, k, v);
            }
    return c->best.value < before;
}

/* Joins two stages of the best plan, on the devices of each kind first .. last (enum joined_on), or splits a stage
 * before any of its layers; idle: as for try_split().  Returns whether the best plan got better. */
static bool change_stages(struct plan_choice *c, int first, int last, bool idle)
{
    int64_t before = c->best.value;
    for (uint32_t k = 0; k + 1 < c->best.n && !is_over(c); k++)
        for (int on = first; on <= last && c->best.value == before; on++)
            try_merged(c, k, (enum joined_on)on);
    for (uint32_t v = 1; v < c->chain.n && c->best.value == before && !is_over(c); v++)
        if (c->best.stage_of[v] == c->best.stage_of[v - 1])
            try_split(c, c->best.stage_of[v], v, idle);
    return c->best.value < before;
}

/* Moves a device from one stage of the best plan to another, joins two stages or splits one, with all devices of these
 * stages.  Returns whether the best plan got better. */
static bool change_devices(struct plan_choice *c)
{
    const uint32_t stages[] = {0, c->best.n};
    return move_devices(c, stages, stages) || change_stages(c, ON_BOTH, ON_BOTH, /*idle=*/false);
}

/* Does what change_devices() does where devices are idle or become so: moves a device of a stage to the idle ones (they
 * are as if stage number best.n had them, see try_device()), or an idle one to a stage; joins two stages on the devices
 * of one of them; splits a stage with idle devices. */
static bool change_idle(struct plan_choice *c)
{
    const uint32_t stages[] = {0, c->best.n}, none[] = {c->best.n, c->best.n + 1};
    return move_devices(c, stages, none) || move_devices(c, none, stages) ||
           change_stages(c, ON_FIRST, ON_SECOND, /*idle=*/true);
}

/* Changes the best plan a little, as long as it gets better: its borders; if `wide`, also its devices and number of
 * stages.  Tries changes that help more rarely only when no other change helps. */
static void refine(struct plan_choice *c, bool wide)
{
    if (c->best.places || c->t->x->scene.model.training.schedule == TRAINING_INTERLEAVED)
        wide = false;
    while (!is_over(c) && (move_borders(c, 1, FEW_MOVED) || (wide && change_devices(c)) ||
                           move_borders(c, 2 * FEW_MOVED, MOST_MOVED) || move_to_narrow(c) ||
                           (wide && c->t->single && move_layers(c)) || (wide && change_idle(c))))
        continue;
}

/* Returns the number of stages of the fastest plan in c->start, if it takes at most 1 / NEAR longer than the best plan;
 * 0: there is none. */
static uint32_t next_start(const struct plan_choice *c)
{
    uint32_t best = 0;
    for (uint32_t n = 1; n <= STARTS; n++)
        if (c->start[n].n && (!best || c->start[n].value < c->start[best].value))
            best = n;
    bool near = best && c->start[best].value - c->best.value <= c->best.value / NEAR;
    return near ? best : 0;
}

/* Changes the best proposed plan of each number of stages, the fastest one first, and then the best plan, as long as
 * they get better: small changes may reach a good plan from one of them only. */
static void refine_starts(struct plan_choice *c)
{
    for (uint32_t n; !is_over(c) && (n = next_start(c)) != 0;) {
        struct stage_layout best = c->best;
        c->best = c->start[n];
        c->start[n].n = 0;
        refine(c, /*wide=*/true);
        if (!train_better(&c->best, &best))
            c->best = best;
    }
    refine(c, /*wide=*/true);
}

/* Returns the number of samples that the devices of a stage must share evenly in plans of several stages; 0: any number
 * of devices may share them. */
static int64_t shared_samples(const struct train *t)
{
    const struct training *m = &t->x->scene.model.training;
    if (t->joint.value.n) /* a stage with a part of a joint update has one device */
        return 1;
    return m->any_slices ? 0 : m->micro_size;
}

struct dapple_rules dapple_rules_of(const struct train *t)
{
    const struct scene *s = &t->x->scene;
    const struct training *m = &s->model.training;
    int64_t memory = s->cluster->cls[cluster_main_class(s->cluster)].memory;
    int64_t taken = sat_add(m->workspace, t->spare);
    int64_t left = memory > taken ? memory - taken : 1; /* 0 would be no limit */
    return (struct dapple_rules){.servers = &t->servers,
                                 .micro_batches = training_count(m),
                                 .samples = shared_samples(t),
                                 .memory = memory < 0 ? 0 : left,
                                 .weight_copies = exec_weight_copies(&s->model, /*training=*/true)};
}

struct stage_layout dapple_best(struct train *t, const struct dapple_found *found, int64_t work,
                                uint32_t *tried)
{
    const struct training *m = &t->x->scene.model.training;
    struct plan_choice c = {.t = t,
                            .best.value = INT64_MAX,
                            .most = work,
                            .proposed = true,
                            .rules = dapple_rules_of(t)};
    int64_t samples = m->any_slices ? 0 : m->micro_size;
    uint32_t ndev = t->servers.ndev;
    c.chain = train_chain(t);
    if (t->wide)
        c.start = arena_array(t->x->use.scratch, STARTS + 1, sizeof *c.start);
    try_even(&c, 1, ndev, samples);
    for (uint32_t i = 0; i < found->nplan && (!i || !is_over(&c)); i++)
        try_plan(&c, found->plan[i].n, found->plan[i].end, found->plan[i].devices);
    for (uint32_t n = 2; n <= ndev && n <= c.chain.n && !is_over(&c); n++)
        if (ndev % n == 0 || t->joint.value.n)
            try_even(&c, n, ndev / n, shared_samples(t));
    /* one stage on fewer devices is better if AllReduces among more devices take too long; k: 1, 2, 3, 4, 6, 9, ... */
    for (uint32_t k = 1; k < ndev && !is_over(&c); k += k / 2 + (k == 1))
        try_even(&c, 1, k, samples);
    if (!is_over(&c)) {
        find_pipedream(t);
        try_pipedream(&c, 0, t->pipedream.nusual);
    }
    c.proposed = false;
    int64_t before = c.work;
    if (c.best.value < INT64_MAX)
        refine(&c, /*wide=*/false);
    if (t->wide) {
        /* the effort of other planners' search, repeated above, does not count as effort of this one */
        c.work = before;
        c.proposed = true;
        if (!is_over(&c))
            try_pipedream(&c, t->pipedream.nusual, t->pipedream.n);
        c.proposed = false;
        if (c.best.value < INT64_MAX)
            refine_starts(&c);
    }
    *tried += c.tried;
    return c.best;
}

struct stage_layout dapple_improve(struct train *t, const struct stage_layout *plan, uint32_t n,
                                   int64_t work, int64_t enough, uint32_t *tried)
{
    struct plan_choice c = {
        .t = t, .best.value = INT64_MAX, .most = work, .rules = dapple_rules_of(t)};
    c.chain = train_chain(t);
    for (uint32_t i = 0; i < n && (!i || !is_over(&c)); i++) {
        struct stage_layout p = plan[i];
        try_layout(&c, &p);
    }
    if (c.best.value < enough)
        refine(&c, t->wide);
    *tried += c.tried;
    return c.best;
}
