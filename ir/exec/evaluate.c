/* Evaluates plans (evaluate.h): checks that nodes are on the devices they are pinned to, and that edges are cut as the
 * user wants, then calls the verdict function of the execution model, which runs the plan on the event core.  For the
 * time per sample load_verdict() computes the value in closed form instead; running samples in rounds (sample/rounds.c)
 * gives the same value. */
#include "ir/exec/evaluate.h"

#include "ir/exec/exec_runs.h"

#include <assert.h>

/* Whether a node that is pinned to device y may be on device x instead: both are CPUs of one class, and the execution
 * model runs subgraphs (then any CPU of a class may run a host's node).  A negative x or y is no device. */
static bool are_interchangeable(const struct scene *s, int32_t x, int32_t y)
{
    if (!exec_kind(&s->model)->subgraphs || x < 0 || y < 0)
        return false;
    uint32_t cls = cluster_class(s->cluster, (uint32_t)x);
    return s->cluster->cls[cls].host && cls == cluster_class(s->cluster, (uint32_t)y);
}

/* Returns the first node that is neither on the device it is pinned to nor on one like it
 * (are_interchangeable()); 0: there is none.  dev: [node] its device. */
static nid find_misplaced(const struct scene *s, const int32_t *dev)
{
    const struct graph *g = &s->m->graph[1];
    const int32_t *to = s->place->pinned_to;
    for (nid n = g->first; to && n < g->first + g->count; n++)
        if (to[n] >= 0 && dev[n] != to[n] && !are_interchangeable(s, dev[n], to[n]))
            return n;
    return 0;
}

/* Returns the first edge of place.ruled that the plan cuts although the user forbids a cut there (--no-cut), or does
 * not cut although the user wants a cut there (--cut-at); NULL: there is none. */
static const struct ruled_edge *find_miscut(const struct scene *s, const int32_t *dev)
{
    const struct place *p = s->place;
    for (uint32_t i = 0; i < p->nruled; i++)
        if ((dev[p->ruled[i].from] != dev[p->ruled[i].to]) != p->ruled[i].cut)
            return &p->ruled[i];
    return NULL;
}

struct evaluation plan_evaluate(const struct scene *s, const struct plan *p, struct arena *a)
{
    assert(s->place && s->cluster && p->dev);
    struct evaluation e = {.misplaced = find_misplaced(s, p->dev),
                           .miscut = find_miscut(s, p->dev)};
    const struct exec_runs *how = exec_kind(&s->model)->runs;
    e.v = how && how->verdict ? how->verdict(s, p, a) : load_verdict(s, p->dev, p->copies, a);
    e.value = e.v.value;
    e.why_not = e.v.why_not;
    if (e.miscut)
        e.why_not = arena_fmt(a, "nodes '%s' and '%s' are on %s, against --%s=%s",
                              node_name(s->m, e.miscut->from), node_name(s->m, e.miscut->to),
                              e.miscut->cut ? "one device" : "two devices",
                              e.miscut->cut ? "cut-at" : "no-cut", e.miscut->pattern);
    if (e.misplaced)
        e.why_not = arena_fmt(a, "node '%s' is not on the device that it is pinned to",
                              node_name(s->m, e.misplaced));
    return e;
}

bool evaluation_holds(const struct evaluation *e, bool over_memory)
{
    return !e->misplaced && !e->miscut && e->v.runnable && e->v.colocated &&
           (e->v.fits || over_memory);
}

enum finding evaluation_confirms(const struct evaluation *e, const struct claim *c)
{
    if (!evaluation_holds(e, c->status == PLAN_OVER_MEMORY))
        return FOUND_BROKEN;
    if (e->value != c->value)
        return FOUND_OTHER_VALUE;
    if (c->bound > e->value || (c->status == PLAN_OPTIMAL && c->bound != e->value))
        return FOUND_OTHER_BOUND;
    return FOUND_AS_CLAIMED;
}
