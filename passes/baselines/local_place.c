/* local-place: local search from random plans.
 *
 * Source: the baseline of the placement paper, section 6.  A plan begins with every vertex on an accelerator drawn at
 * random.  Then single vertices are moved to other accelerators: each time the move is made after which the largest
 * load is smallest (of equal moves the first one), until no move makes the largest load smaller.  The best of
 * several starts is taken.  The search of the paper knows neither CPUs nor memory: with hosts=true vertices may
 * move to hosts, too; with best-effort memory does not count, else the best start that fits the memory is taken.
 *
 * A move changes two loads.  So it can make the largest load smaller only if the vertex leaves the most loaded
 * device or joins it.  A table has the changes of loads that each possible move would make.  After a move it is
 * computed again for the moved vertex, and for the vertices on its nets where these have few pins on a device
 * (make_move).  O(V) for each move, and O(devices * nets) for each vertex whose entries change. */
#include "passes/baselines/baseline.h"

#include "ir/base/random.h"

#include <string.h>

/* The values of the options in local_opts. */
struct local_options {
    int64_t restarts, seed;
    bool hosts, best_effort;
};

static const struct opt local_opts[] = {
    {OPT_INT, "restarts", offsetof(struct local_options, restarts), "10", .lo = "1",
     .hi = "1000000", .help = "random plans to start from"},
    {OPT_INT, "seed", offsetof(struct local_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of these plans"},
    {OPT_BOOL, "hosts", offsetof(struct local_options, hosts), "false",
     .help = "hosts take part, too"},
    BASELINE_BEST_EFFORT(struct local_options, best_effort),
    {0}};

/* Limit of local.work for all starts together: it takes some seconds. */
#define LOCAL_WORK UINT64_C(5000000000)
enum { LOCAL_MOST = 1 << 26 }; /* limit of vertices * devices, the size of the table */

/* The search: the present plan, and the changes of loads that each possible move would make. */
struct local {
    struct loads *l;     /* the present plan */
    const uint32_t *dev; /* [ndev] the devices that vertices may move to */
    uint32_t ndev;
    /* [vertex] ps by which its device's load changes when the vertex leaves the device (mostly <= 0) */
    int64_t *leave;
    /* [device][vertex] ps by which the device's load changes when the vertex joins the device */
    int64_t **enter;
    /* nold vertices whose entries in `leave` and `enter` are out of date */
    uint32_t *old, nold;
    uint8_t *is_old; /* [vertex] 1: the vertex is in old[] */
    uint64_t work;   /* entries of tables looked at so far */
    struct clock *clock;
};

/* A move of one vertex. */
struct move {
    int64_t value;  /* ps: the largest load after the move */
    uint32_t v, to; /* the vertex, and its new device */
};

/* Computes the entries of v: leave[v], and enter[device][v] for all other devices that may hold v. */
static void update_changes(struct local *s, uint32_t v)
{
    const struct loads *l = s->l;
    for (uint32_t d = 0; d < l->ndev; d++) {
        uint32_t k = l->kind[d];
        bool home = l->dev[v] == (int32_t)d; /* v leaves d; else v joins d */
        int64_t sum = home ? -l->c->kind[k].time[v] : l->c->kind[k].time[v];
        if (!loads_allows(l, v, d))
            continue;
        for_row (e, l->net_of, v) {
            uint32_t h = l->held[(size_t)e * l->ndev + d];
            /* whether d pays for net e, having some, but not all of its pins: before and after the move of v */
            bool before = home ? h < l->pins[e] : h > 0;
            bool after = home ? h > 1 : h + 1 < l->pins[e];
            sum += ((int)after - (int)before) * l->cost[k][e];
        }
        if (home)
            s->leave[v] = sum;
        else
            s->enter[d][v] = sum;
    }
    s->work += (uint64_t)l->ndev * (l->net_of.at[v + 1] - l->net_of.at[v] + 1);
}

/* Puts v on the list of vertices whose entries are out of date, if it is not there yet. */
static void mark_old(struct local *s, uint32_t v)
{
    if (!s->is_old[v])
        s->old[s->nold++] = v;
    s->is_old[v] = 1;
}

/* Moves v to device `to`, and marks the vertices whose entries change: v itself, and all pins of each net of v of
 * which one of the two devices has at most one pin, before the move or after it.  (For entries it also matters if
 * one of the two devices has all pins, or all but one.  That needs no test: then the other device has at most one
 * pin before the move or after it.) */
static void make_move(struct local *s, uint32_t v, uint32_t to)
{
    struct loads *l = s->l;
    uint32_t from = (uint32_t)l->dev[v];
    for_row (e, l->net_of, v) {
        const uint32_t *held = &l->held[(size_t)e * l->ndev];
        if (held[from] <= 2 || held[to] <= 1)
            for_row (x, l->pin, e)
                mark_old(s, x);
    }
    loads_move(l, v, (int32_t)to);
    mark_old(s, v);
}

/* Writes the three devices with the largest loads to top[], UINT32_MAX for missing devices.  largest_without()
 * needs only these three: at least one of them is neither of the two devices of a move. */
static void find_fullest(const struct loads *l, uint32_t top[3])
{
    for (int i = 0; i < 3; i++) {
        top[i] = UINT32_MAX;
        for (uint32_t d = 0; d < l->ndev; d++)
            if (d != top[0] && (i < 2 || d != top[1]) &&
                (top[i] == UINT32_MAX || l->load[d] > l->load[top[i]]))
                top[i] = d;
    }
}

/* Returns the largest load of all devices but a and b, 0 if there is no other; top[] as find_fullest() makes it. */
static int64_t largest_without(const struct loads *l, const uint32_t top[3], uint32_t a, uint32_t b)
{
    for (int i = 0; i < 3; i++)
        if (top[i] != UINT32_MAX && top[i] != a && top[i] != b)
            return l->load[top[i]];
    return 0;
}

/* Returns the move after which the largest load is smallest; its v is UINT32_MAX if no move makes the largest load
 * smaller. */
static struct move best_move(struct local *s)
{
    const struct loads *l = s->l;
    uint32_t top[3];
    find_fullest(l, top);
    int64_t most = l->load[top[0]];
    struct move best = {.value = most, .v = UINT32_MAX};
    for (uint32_t v = 0; v < l->c->g->n; v++) {
        uint32_t from = (uint32_t)l->dev[v];
        /* v neither leaves the fullest device nor makes that device's load smaller by joining it */
        if (from != top[0] && s->enter[top[0]][v] >= 0)
            continue;
        int64_t left = l->load[from] + s->leave[v];
        for (uint32_t i = 0; left < best.value && i < s->ndev; i++) {
            uint32_t d = s->dev[i];
            if (d == from || (from != top[0] && d != top[0]) || !loads_allows(l, v, d))
                continue;
            int64_t value = largest_without(l, top, from, d), with = l->load[d] + s->enter[d][v];
            value = larger(left, value);
            value = larger(with, value);
            if (value < best.value)
                best = (struct move){value, v, d};
        }
    }
    s->work += l->c->g->n;
    return best;
}

/* Makes best moves until none makes the largest load smaller; returns false if the time or the work ran out first. */
static bool descend(struct local *s)
{
    for (uint32_t v = 0; v < s->l->c->g->n; v++)
        mark_old(s, v);
    for (;;) {
        while (s->nold) {
            uint32_t v = s->old[--s->nold];
            s->is_old[v] = 0;
            update_changes(s, v);
        }
        struct move m = best_move(s);
        if (m.v == UINT32_MAX)
            return true;
        make_move(s, m.v, m.to);
        if (s->work > LOCAL_WORK || clock_out(s->clock))
            return false;
    }
}

/* Makes the tables of s, in a.  Returns 0, or -1 after an error: they would be too large. */
static int local_new(struct local *s, const struct baseline *b, struct arena *a)
{
    size_t n = b->p.level->n;
    if (n * b->l.ndev > LOCAL_MOST)
        return diag_error(b->x->use.diag,
                          "%s: %zu vertices on %u devices are too many for one table: fuse the "
                          "graph first (-p fuse,%s)",
                          b->planner, n, b->l.ndev, b->planner);
    s->leave = arena_array(a, (size_t)n + 1, sizeof *s->leave);
    s->old = arena_array(a, (size_t)n + 1, sizeof *s->old);
    s->is_old = arena_alloc(a, (size_t)n + 1);
    s->enter = arena_array(a, (size_t)b->l.ndev + 1, sizeof *s->enter);
    for (uint32_t d = 0; d < b->l.ndev; d++)
        s->enter[d] = arena_array(a, (size_t)n + 1, sizeof **s->enter);
    return 0;
}

/* Puts every vertex on a random device of s->dev, or on another one if it may not be there (baseline_put).  state: the
 * state of the random numbers. */
static void draw_plan(struct baseline *b, const struct local *s, uint64_t *state)
{
    for (uint32_t v = 0; v < b->p.level->n; v++)
        baseline_put(b, v, s->dev[random_below(state, s->ndev)]);
}

/* pass.run: leaves the best of several random plans, each improved by moves of single vertices.  Returns 0, or -1 or
 * PASS_INFEASIBLE after an error. */
static int local_run(struct ctx *x, const void *options)
{
    const struct local_options *o = options;
    struct baseline b;
    int rc = baseline_start(&b, x, "local-place", o->best_effort);
    if (rc)
        return rc;
    struct local s = {.l = &b.l, .clock = &b.p.clock};
    s.dev = baseline_accelerators(x->scene.cluster, &s.ndev, x->use.scratch);
    if (o->hosts) { /* all devices instead of the accelerators */
        uint32_t *all = arena_array(x->use.scratch, (size_t)b.l.ndev + 1, sizeof *all);
        for (s.ndev = 0; s.ndev < b.l.ndev; s.ndev++)
            all[s.ndev] = s.ndev;
        s.dev = all;
    }
    if (local_new(&s, &b, x->use.scratch))
        return -1;
    int32_t *best = arena_array(x->use.scratch, (size_t)b.p.level->n + 1, sizeof *best);
    int64_t value = LOAD_INF;
    bool fits = false, complete = true;
    uint64_t state = (uint64_t)o->seed;
    uint32_t tried = 0;
    for (; tried < o->restarts && complete; tried++) {
        problem_tell(b.p.top, &b.p.clock, "moving vertices",
                     (uint32_t)((uint64_t)tried * 1000 / (uint64_t)o->restarts), value);
        draw_plan(&b, &s, &state);
        complete = descend(&s);
        int64_t now = loads_value(&b.l);
        /* a plan that fits the memory replaces any plan that does not, whatever their values */
        bool ok = o->best_effort || loads_over(&b.l) == 0;
        if (value < LOAD_INF && (ok < fits || (ok == fits && now >= value)))
            continue;
        value = now;
        fits = ok;
        memcpy(best, b.l.dev, b.p.level->n * sizeof *best);
    }
    loads_set(&b.l, best);
    return baseline_leave(&b, arena_fmt(x->use.mem, "local optimum, the best of %u random starts%s",
                                        tried, complete ? "" : " (the last one cut short)"));
}

const struct planner planner_local_place = {
    .pass = {"local-place", "baseline: local search from random plans", local_opts,
             sizeof(struct local_options), .needs = NEED_COST | NEED_CONTRACT, .run = local_run},
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST};
