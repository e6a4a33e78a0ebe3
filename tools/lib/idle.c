/* Finds out what it would cost to use a device that a plan leaves idle (idle.h).
 *
 * Four plans are tried for each device with nodes: its first node goes to the idle device, or its last node, or its
 * first nodes with half of its time, or its last nodes with half of its time.  The judge computes the value of each
 * plan.  The least value tells what using the idle device costs at least among these plans; nothing is claimed about
 * other plans. Devices of a class are equal, so that one idle device stands for all idle devices of its class. */
#include "tools/lib/idle.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"

#include <math.h>
#include <string.h>

enum {
    CHOICES = 4,         /* plans that are tried for each device with nodes */
    IDLE_LOOKS = 4000000 /* the most nodes that all judgements together look at */
};

/* The plans that are tried, for one idle device. */
struct idle {
    const struct scene *s;
    const struct plan *plan;
    const struct verdict *v; /* verdict on the plan */
    struct arena *a;
    struct plan tried; /* a copy of the plan with an array dev[] of its own */
    uint32_t to;       /* the idle device */
    uint32_t n;        /* number of plans tried so far */
    uint32_t held;     /* number of tried plans that fit the memory and can run */
    int64_t least;     /* ps: the least value of a tried plan that fits and can run */
};

/* Makes t->tried.dev: the plan's devices, but the first nodes of the device `from` (last: the last ones) are on the
 * idle device: as many as take at most `most` ps together, at least one node, and not all.  Returns whether any node
 * moved. */
static bool give_nodes(struct idle *t, uint32_t from, bool last, int64_t most)
{
    const struct module *m = t->s->m;
    const struct graph *g = &m->graph[1];
    const int64_t *time = m->cost->time[cluster_class(t->s->cluster, from)];
    uint32_t left = t->v->load[from].nodes, moved = 0;
    int64_t sum = 0;
    memcpy(t->tried.dev, t->plan->dev, m->nnode * sizeof *t->tried.dev);
    for (nid i = 0; i < g->count && left > 1; i++) {
        nid n = last ? g->first + g->count - 1 - i : g->first + i;
        if (t->plan->dev[n] != (int32_t)from)
            continue;
        sum = sat_add(sum, time[n]);
        if (moved > 0 && sum > most)
            break;
        t->tried.dev[n] = (int32_t)t->to;
        moved++;
        left--;
    }
    return moved > 0;
}

/* Judges all plans that are tried for the idle device t->to; adds to t->n their number, to t->held the number of plans
 * that hold, and sets t->least to the least value of these. */
static void try_all(struct idle *t)
{
    for (uint32_t d = 0; d < t->s->cluster->ndev; d++)
        for (int choice = 0; choice < CHOICES && t->v->load[d].nodes > 1; choice++) {
            /* one node, or nodes that take half of the device's time; the first, or the last ones */
            int64_t most = choice < 2 ? 0 : t->v->load[d].compute / 2;
            if (!give_nodes(t, d, /*last=*/choice % 2, most))
                continue;
            t->n++;
            struct arena *own = arena_new(t->a);
            struct evaluation e = plan_evaluate(t->s, &t->tried, own);
            if (evaluation_holds(&e, false))
                t->least = t->held++ ? smaller(t->least, e.value) : e.value;
            arena_free(own);
        }
}

/* Returns what the idle devices with these names cost, as text in t->a. */
static const char *cost_text(struct idle *t, const char *names)
{
    int64_t value = t->v->value, more = t->least - value;
    if (t->n == 0)
        return arena_fmt(t->a, "%s unused: no other device has two nodes", names);
    if (t->held == 0)
        return arena_fmt(t->a,
                         "%s unused: memory, pins or operators keep the other devices' first and "
                         "last nodes off it",
                         names);
    const char *does = more > 0 ? "would cost" : more < 0 ? "would save" : "would gain nothing";
    double percent = 100 * fabs((double)more) / (double)larger(value, 1);
    const char *share = more ? arena_fmt(t->a, " %.*f %%", percent < 10, percent) : "";
    return arena_fmt(
        t->a,
        "%s unused: %s%s in the best of %u plans that give it another device's first or "
        "last nodes",
        names, does, share, t->held);
}

/* Whether idle_text() is about plans like this one: for the time per sample, without copies, stages, ranks and slots,
 * and where no stage may have copies. */
static bool is_about(const struct scene *s, const struct plan *plan)
{
    return s->m->cost && s->m->cost->time && exec_kind(&s->model)->feed == FEED_STEADY &&
           !plan->copies && !plan->stages && !plan->rank && !plan->slot && !s->model.replicate;
}

const char *idle_text(const struct scene *s, const struct plan *plan, struct arena *a)
{
    const struct cluster *c = s->cluster;
    const char *text = NULL;
    uint32_t used = 0, dev = 0;
    if (!is_about(s, plan))
        return NULL;
    struct evaluation e = plan_evaluate(s, plan, a);
    for (uint32_t d = 0; d < c->ndev; d++)
        used += e.v.load[d].nodes > 0;
    if (!evaluation_holds(&e, false) || used == c->ndev ||
        (uint64_t)s->m->nnode * used * CHOICES * c->ncls > IDLE_LOOKS)
        return NULL;
    struct idle t = {.s = s, .plan = plan, .v = &e.v, .a = a, .tried = *plan};
    t.tried.dev = arena_array(a, s->m->nnode, sizeof *t.tried.dev);
    for (uint32_t k = 0; k < c->ncls; dev += c->cls[k++].count) {
        const char *names = NULL;
        for (uint32_t d = dev + c->cls[k].count; d-- > dev;)
            if (e.v.load[d].nodes == 0) {
                /* the loop goes down, so that t.to ends as the first idle device of the class */
                t.to = d;
                names = arena_fmt(a, "%s%s%s", cluster_device_name(c, a, d), names ? ", " : "",
                                  names ? names : "");
            }
        if (!names)
            continue;
        t.n = t.held = 0;
        try_all(&t);
        text = arena_fmt(a, "%s%s%s", text ? text : "", text ? "; " : "", cost_text(&t, names));
    }
    return text;
}
