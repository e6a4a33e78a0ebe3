/* Moves the cuts of a contiguous plan (shift_cuts.h).
 *
 * The devices of the plan, in the order in which a sample passes them, hold intervals of an order of the vertices.
 * A step moves one cut, or several neighbouring ones together, by 1, 2, 4, ... vertices; of all steps the one is
 * made after which the devices lack the fewest bytes together, and of equals the one with the least time.  That goes
 * on until no step helps: plans of planners that count a value once for each device are near to plans that fit.
 * Where the order can be cut in few ways, all ways are looked at.
 *
 * A time limit ends this only once a plan fits: without a plan that fits, the time that went before would be lost.
 * Ctrl-C ends it in any case.
 *
 * Cost: a verdict for each step that is tried; there are O(devices^2 log V). */
#include "passes/contiguous/shift_cuts.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "passes/problem/memory_need.h"
#include "passes/problem/placing.h"

#include <string.h>

enum { SHIFT_LOOKS = 400000 }; /* looks at nodes, in all verdicts together */

/* How good a plan is: bytes that devices lack, then ps; both INT64_MAX: it is no plan. */
struct score {
    int64_t lacks, value;
};

struct cuts {
    struct ctx *x;
    const struct wdag *g;
    uint32_t ndev;
    /* [place] the device at each place, in the order in which a sample passes the devices */
    uint32_t *device;
    uint32_t *order; /* [position] vertex */
    /* [place + 1] the device at a place holds the positions cut[place] .. cut[place + 1] - 1 */
    uint32_t *cut;
    /* [vertex] device: under the plan of x (read_plan), then under the plan that was looked at last */
    int32_t *dev;
    uint64_t looks;            /* number of looks at nodes that may still be made */
    struct clock *clock, late; /* clock: the caller's clock; late: the same without a time limit */
};

/* Whether score a is better than b: fewer lacks; then a smaller value. */
static bool is_less(const struct score *a, const struct score *b)
{
    return a->lacks != b->lacks ? a->lacks < b->lacks : a->value < b->value;
}

/* Sets dev[] to the plan that c->cut makes. */
static void read_cuts(struct cuts *c)
{
    for (uint32_t k = 0; k < c->ndev; k++)
        for (uint32_t i = c->cut[k]; i < c->cut[k + 1]; i++)
            c->dev[c->order[i]] = (int32_t)c->device[k];
}

/* Returns the score of the plan that c->cut makes.  Leaves that plan in c->dev, and takes the looks that it took off
 * c->looks. */
static struct score look(struct cuts *c)
{
    const struct cluster *cl = c->x->scene.cluster;
    struct arena *a = c->x->use.scratch;
    struct arena_mark mark = arena_mark(a);
    struct score s = {INT64_MAX, INT64_MAX};
    read_cuts(c);
    const struct plan plan = {.dev = plan_project(c->g, c->dev, c->x->scene.m->nnode, a)};
    struct evaluation e = plan_evaluate(&c->x->scene, &plan, a);
    if (evaluation_holds(&e, /*over_memory=*/true) && e.v.contiguous) {
        int64_t each[CLUSTER_CLASSES];
        s = (struct score){memory_lacking(cl, &e.v, each), e.value};
    }
    c->looks -= smaller_u64(c->looks, c->x->levels.base->n + 1);
    arena_release(a, mark);
    return s;
}

/* Moves all cuts from number `from` to number `to` by `by` positions.  Returns false, with the cuts as they were, if a
 * cut would pass a neighbouring cut. */
static bool shift(struct cuts *c, uint32_t from, uint32_t to, int64_t by)
{
    if ((int64_t)c->cut[from] + by < c->cut[from - 1] || (int64_t)c->cut[to] + by > c->cut[to + 1])
        return false;
    for (uint32_t k = from; k <= to; k++)
        c->cut[k] = (uint32_t)((int64_t)c->cut[k] + by);
    return true;
}

/* Whether the time is over.  least: the best score so far. */
static bool is_late(struct cuts *c, const struct score *least)
{
    return clock_out(least->lacks ? &c->late : c->clock);
}

/* Makes the step that leads to the best score, if that is better than *now, and sets *now to the score.  Tries steps as
 * long as looks and time are left.  Returns whether it made a step. */
static bool make_step(struct cuts *c, struct score *now)
{
    uint32_t best_from = 0, best_to = 0;
    int64_t best_by = 0;
    for (uint32_t from = 1; from < c->ndev; from++)
        for (uint32_t to = from; to < c->ndev; to++)
            /* by: 1, -1, 2, -2, 4, -4, ... */
            for (int64_t by = 1; by <= c->g->n && c->looks && !is_late(c, now);
                 by = by > 0 ? -by : -2 * by) {
                if (!shift(c, from, to, by))
                    continue;
                struct score s = look(c);
                shift(c, from, to, -by);
                if (!is_less(&s, now))
                    continue;
                *now = s;
                best_from = from;
                best_to = to;
                best_by = by;
            }
    return best_by && shift(c, best_from, best_to, best_by);
}

/* Whether all ways to cut the order between the devices, binomial(g->n + ndev - 1, ndev - 1), can be looked at. */
static bool are_few(const struct cuts *c)
{
    uint64_t n = 1, most = c->looks / (c->x->levels.base->n + 1);
    for (uint32_t k = 1; k < c->ndev && n <= most; k++)
        n = n * (c->g->n + k) / k;
    return n <= most;
}

/* Looks at all ways to cut the order, and leaves the best one in c->cut.  Returns its score. */
static struct score look_at_all(struct cuts *c)
{
    uint32_t *best = arena_array(c->x->use.scratch, (size_t)c->ndev + 2, sizeof *best), k = 1;
    struct score least = {INT64_MAX, INT64_MAX};
    memcpy(best, c->cut, ((size_t)c->ndev + 1) * sizeof *best);
    memset(c->cut + 1, 0, (c->ndev - 1) * sizeof *c->cut);
    while (k && !is_late(c, &least)) {
        struct score s = look(c);
        if (is_less(&s, &least)) {
            least = s;
            memcpy(best, c->cut, ((size_t)c->ndev + 1) * sizeof *best);
        }
        /* the next way in lexicographic order: the last cut that can move on does so, and all cuts behind it move
         * there, too; k == 0: no cut can, all ways have been looked at */
        for (k = c->ndev - 1; k && c->cut[k] == c->g->n; k--)
            ;
        for (uint32_t i = k; k && i + 1 < c->ndev; i++)
            c->cut[i + 1] = c->cut[k] + 1;
        if (k)
            c->cut[k]++;
    }
    memcpy(c->cut, best, ((size_t)c->ndev + 1) * sizeof *best);
    return least;
}

/* Sets dev[] to the device of each vertex under the plan of x.  Returns false if a vertex has nodes on two devices. */
static bool read_plan(struct cuts *c)
{
    const struct wdag *base = c->x->levels.base;
    const uint32_t *at = wdag_flatten(c->g, c->x->use.scratch);
    memset(c->dev, 0xff, c->g->n * sizeof *c->dev);
    for (uint32_t u = 0; u < base->n; u++) {
        int32_t d = c->x->results.plan->dev[base->node[u]];
        if (c->dev[at[u]] >= 0 && c->dev[at[u]] != d)
            return false;
        c->dev[at[u]] = d;
    }
    return true;
}

/* Fills c->device, c->order and c->cut from dev[]: orders the devices so that each stands behind all devices whose
 * results it needs, unused devices at the end, and lists the vertices of each device together, by their numbers.
 * Returns false if devices need each other's results. */
static bool line_up(struct cuts *c)
{
    struct arena *a = c->x->use.scratch;
    struct pairs edge = pairs_new(a, c->g->succ.at[c->g->n]);
    uint32_t *size = arena_array(a, (size_t)c->ndev + 1, sizeof *size), n = 0, next = 0;
    for (uint32_t v = 0; v < c->g->n; v++) {
        size[c->dev[v]]++;
        for_row (w, c->g->succ, v)
            if (c->dev[w] != c->dev[v])
                pairs_add(&edge, (uint32_t)c->dev[v], (uint32_t)c->dev[w]);
    }
    /* after: for each device, the devices that need its results; wait: the number of devices that a device still waits
     * for */
    struct csr after = pairs_rows(&edge, c->ndev), before = pairs_rows_back(&edge, c->ndev);
    uint32_t *wait = csr_sizes(&before, c->ndev, a),
             *place = arena_array(a, (size_t)c->ndev + 1, sizeof *place);
    /* first used devices without a device to wait for, then unused devices */
    for (int used = 1; used >= 0; used--)
        for (uint32_t d = 0; d < c->ndev; d++)
            if (!wait[d] && (size[d] > 0) == (used == 1))
                c->device[n++] = d;
    /* a device is placed when the last device that it waits for is */
    for (uint32_t i = 0; i < n && i < c->ndev; i++)
        for_row (d, after, c->device[i])
            if (--wait[d] == 0) {
                /* places d right behind device i, and so before the unused devices, for which no device waits */
                memmove(&c->device[i + 2], &c->device[i + 1], (n - i - 1) * sizeof *c->device);
                c->device[i + 1] = d;
                n++;
            }
    struct keyed *key = arena_array(a, (size_t)c->g->n + 1, sizeof *key);
    for (uint32_t k = 0; k < n; k++) {
        place[c->device[k]] = k;
        c->cut[k] = next;
        next += size[c->device[k]];
    }
    c->cut[n] = next;
    for (uint32_t v = 0; v < c->g->n; v++)
        key[v] = (struct keyed){place[c->dev[v]], v};
    keyed_sort(key, c->g->n);
    for (uint32_t i = 0; i < c->g->n; i++)
        c->order[i] = key[i].item;
    return n == c->ndev; /* devices on a cycle are never placed */
}

bool shift_cuts(struct ctx *x, struct clock *clock)
{
    struct plan *p = x->results.plan;
    const struct wdag *g = contiguous_level(x);
    struct cuts c = {.x = x,
                     .g = g,
                     .ndev = x->scene.cluster->ndev,
                     .looks = SHIFT_LOOKS,
                     .clock = clock,
                     .late = {.listener = clock->listener}};
    struct arena *a = x->use.scratch;
    for (uint32_t d = 0; p->copies && d < c.ndev; d++)
        if (p->copies[d] > 1)
            return false;
    if (p->slot || p->stages)
        return false;
    c.device = arena_array(a, (size_t)c.ndev + 2, sizeof *c.device);
    c.cut = arena_array(a, (size_t)c.ndev + 2, sizeof *c.cut);
    c.order = arena_array(a, (size_t)g->n + 1, sizeof *c.order);
    c.dev = arena_array(a, (size_t)g->n + 1, sizeof *c.dev);
    if (!read_plan(&c) || !line_up(&c))
        return false;
    struct score now = are_few(&c) ? look_at_all(&c) : look(&c);
    while (make_step(&c, &now))
        ;
    if (now.lacks)
        return false;
    read_cuts(&c); /* look() has left another plan in c.dev */
    leave_judged(x, p->planner, g, c.dev);
    return true;
}
