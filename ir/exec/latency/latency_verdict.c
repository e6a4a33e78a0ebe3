/* The verdict on a latency (latency_verdict.h): the event core runs the tasks of latency_tasks(), and times are read
 * off the timeline.  With CPUS_LIST nodes of hosts get their CPUs after the run, in the order of their starts: each
 * the first free CPU of its class. */
#include "ir/exec/latency/latency_verdict.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "ir/exec/latency/latency_parts.h"
#include "ir/exec/live_memory.h"
#include "ir/exec/step_bound.h"
#include "ir/plan/work.h"

#include <assert.h>
#include <string.h>

/* ---- hosts -------------------------------------------------------------------------------------- */

/* Returns the first device of a class. */
static uint32_t first_of(const struct cluster *c, uint32_t cls)
{
    assert(cls < c->ncls);
    uint32_t d = 0;
    for (uint32_t k = 0; k < cls; k++)
        d += c->cls[k].count;
    return d;
}

/* Whether device d is a CPU. */
static bool is_host(const struct scene *s, uint32_t d)
{
    assert(d < s->cluster->ndev);
    return s->cluster->cls[cluster_class(s->cluster, d)].host;
}

/* Returns a copy of dev[node] in which the first CPU of each class stands for all CPUs of the class. */
static int32_t *hosts_as_one(const struct scene *s, const int32_t *dev, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    int32_t *one = arena_array(a, s->m->nnode, sizeof *one);
    memcpy(one, dev, s->m->nnode * sizeof *one);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (one[n] >= 0 && (uint32_t)one[n] < s->cluster->ndev && is_host(s, (uint32_t)one[n]))
            one[n] = (int32_t)first_of(s->cluster, cluster_class(s->cluster, (uint32_t)one[n]));
    return one;
}

uint32_t *latency_devices(const struct scene *s, const struct latency_run *r, struct arena *a)
{
    assert(r->t.status == RUN_DONE);
    const struct cluster *c = s->cluster;
    uint32_t *on = arena_array(a, (size_t)r->k.n + 1, sizeof *on), n = 0;
    int64_t *until = arena_array(a, (size_t)c->ndev + 1, sizeof *until);
    struct keyed *x = arena_array(a, (size_t)r->k.n + 1, sizeof *x);
    /* of subgraphs with equal starts, those that take no time come first: their `item` is smaller, since the others get
     * k.n added */
    for (int more = 0; more < 2; more++)
        for (uint32_t i = 0; i < r->k.n; i++) {
            on[i] = r->k.sub[i].dev;
            if (r->k.sub[i].host && (r->g.task[i].time > 0) == (more == 1))
                x[n++] = (struct keyed){r->t.start[i], i + (more ? r->k.n : 0)};
        }
    if (s->model.latency.cpus == CPUS_UNBOUNDED)
        return on;
    /* a host subgraph gets the first CPU of its class that is free at its start; until[dev]: ps, when the CPU has
     * ended the last subgraph it got */
    keyed_sort(x, n);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = x[k].item % r->k.n, cls = cluster_class(c, r->k.sub[i].dev);
        uint32_t d = first_of(c, cls), end = d + c->cls[cls].count;
        while (d + 1 < end && until[d] > r->t.start[i])
            d++;
        assert(until[d] <= r->t.start[i]);
        on[i] = d;
        until[d] = sat_add(r->t.start[i], r->g.task[i].time);
    }
    return on;
}

int32_t *latency_nodes_ran(const struct scene *s, const struct latency_run *r, struct arena *a)
{
    const uint32_t *on = latency_devices(s, r, a);
    int32_t *dev = arena_array(a, s->m->nnode, sizeof *dev);
    for (nid n = 0; n < s->m->nnode; n++)
        dev[n] = r->k.of[n] == NO_SUBGRAPH ? -1 : (int32_t)on[r->k.of[n]];
    return dev;
}

/* ---- texts -------------------------------------------------------------------------------------- */

const char *subgraph_text(const struct scene *s, const struct subgraphs *k, uint32_t sub,
                          struct arena *a)
{
    assert(sub < k->n);
    const struct subgraph *x = &k->sub[sub];
    const char *first = node_name(s->m, x->first);
    const char *more = x->nnode > 1 ? arena_fmt(a, " and %u more", x->nnode - 1) : "";
    if (x->host)
        return arena_fmt(a, "node%s '%s'%s on a host", x->nnode > 1 ? "s" : "", first, more);
    return arena_fmt(a, "%ssubgraph %u of %s ('%s'%s)", x->back ? "backward " : "", x->slot,
                     cluster_device_name(s->cluster, a, x->dev), first, more);
}

/* First argument of item_text(). */
struct latency_names {
    const struct scene *s;
    const struct latency_run *run;
};

/* Returns the name of an item, for timeline_waits(). */
static const char *item_text(const void *of, uint32_t item, struct arena *a)
{
    const struct latency_names *x = of;
    return subgraph_text(x->s, &x->run->k, item, a);
}

/* ---- verdict ------------------------------------------------------------------------------------ */

/* Checks the slots of a plan, if it has any: each node of an accelerator must have a slot, and the nodes of an atom
 * (which must be in one part) must have the same one.  Returns false and sets v->why_not if a node breaks this rule. */
static bool check_slots(const struct scene *s, const struct plan *p, struct verdict *v,
                        struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    const nid *atom = s->place->atom;
    for (nid n = g->first; p->slot && n < g->first + g->count; n++) {
        if (s->place->kind[n] != PLACE_NODE || is_host(s, (uint32_t)p->dev[n]))
            continue;
        nid other = atom && atom[n] && p->dev[atom[n]] == p->dev[n] ? atom[n] : n;
        if (p->slot[n] && p->slot[other] == p->slot[n])
            continue;
        v->why_not =
            p->slot[n]
                ? arena_fmt(a,
                            "nodes '%s' and '%s' must be in one part, and are in slots "
                            "%u and %u",
                            node_name(s->m, other), node_name(s->m, n), p->slot[other], p->slot[n])
                : arena_fmt(a, "node '%s' has no slot on %s", node_name(s->m, n),
                            cluster_device_name(s->cluster, a, (uint32_t)p->dev[n]));
        return false;
    }
    return true;
}

/* Returns an array: [class] the bytes of the weights that its hosts read, each weight once.  To be called before
 * divide_bytes(), while v->load books all hosts of a class on its first one. */
static int64_t *weights_of_hosts(const struct scene *s, const struct verdict *v, struct arena *a)
{
    const struct cluster *c = s->cluster;
    int64_t *weights = arena_array(a, (size_t)c->ncls + 1, sizeof *weights);
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].host && c->cls[k].count)
            weights[k] = v->load[first_of(c, k)].weights;
    return weights;
}

/* Sets v->hosts, v->fits and v->why_not from v->load[].used, where CPUs of a class share their memory.  weights: of
 * weights_of_hosts(). */
static void check_memory(const struct scene *s, const int64_t *weights, struct verdict *v,
                         struct arena *a)
{
    const struct cluster *c = s->cluster;
    char need[UNIT_TEXT], have[UNIT_TEXT];
    int64_t *used = arena_array(a, (size_t)c->ndev + 1, sizeof *used);
    v->hosts = arena_array(a, (size_t)c->ncls + 1, sizeof *v->hosts);
    /* hosts of a class share memory, which is checked below: for plan_check_memory() they use nothing */
    for (uint32_t d = 0; d < c->ndev; d++) {
        used[d] = v->load[d].used;
        v->load[d].used = is_host(s, d) ? 0 : used[d];
    }
    plan_check_memory(s, v, a);
    for (uint32_t d = 0; d < c->ndev; d++)
        v->load[d].used = used[d];
    for (uint32_t k = 0; k < c->ncls; k++) {
        const struct device_class *cls = &c->cls[k];
        /* weights once for the class, and all other bytes of its hosts */
        int64_t all = sat_mul(cls->memory, cls->count), needs = weights[k];
        for (uint32_t d = first_of(c, k); cls->host && d < first_of(c, k) + cls->count; d++)
            needs = sat_add(needs, used[d] - v->load[d].weights);
        v->hosts[k] = needs;
        if (!cls->host || !v->fits || cls->memory < 0 || needs <= all)
            continue;
        v->fits = false;
        v->why_not = v->why_not
                         ? v->why_not
                         : arena_fmt(a, "the hosts of class %s need %s and have %s", cls->name,
                                     bytes_short(need, needs), bytes_short(have, all));
    }
}

/* Books the bytes of each CPU's nodes on the CPU that ran them; until then v->load books the bytes of all CPUs of a
 * class on the first one.  on: [subgraph] its device. */
static void divide_bytes(const struct scene *s, const struct latency_run *r, const uint32_t *on,
                         struct verdict *v, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    struct arena *own = arena_new(a);
    int32_t *dev = arena_array(own, s->m->nnode, sizeof *dev);
    memset(dev, 0xff, s->m->nnode * sizeof *dev); /* -1: not placed */
    for (nid n = g->first; n < g->first + g->count; n++)
        if (r->k.of[n] != NO_SUBGRAPH)
            dev[n] = (int32_t)on[r->k.of[n]];
    struct verdict each = plan_check(s, dev, /*copies=*/NULL, CHECK_PEAKS, own);
    for (uint32_t d = 0; each.runnable && d < s->cluster->ndev; d++) {
        v->load[d].used = each.load[d].used;
        v->load[d].weights = each.load[d].weights;
        v->load[d].params = each.load[d].params;
        v->load[d].live_peak = each.load[d].live_peak;
    }
    arena_free(own);
}

/* Sets the memory in v->load to the bytes that devices need at one time for one sample: by the schedule of the parts
 * that the run is cut into. */
static void count_live(const struct scene *s, const struct plan *p, const struct latency_run *r,
                       struct verdict *v, struct arena *of)
{
    struct arena *a = arena_new(of);
    uint32_t *slot;
    int64_t value;
    struct parts *parts = latency_parts(s, r, &value, &slot, a);
    struct sample_work *w = parts ? work_of_parts(s, parts, /*slices=*/NULL, a) : NULL;
    struct plan alone = *p;
    alone.copies = NULL; /* one sample alone takes no turns */
    const struct rhythm_ask ask = {
        .scene = s, .plan = &alone, .verdict = v, .parts = parts, .work = w};
    if (w) {
        struct rhythm y = rhythm_of_latency(&ask, a);
        live_memory_count(&ask, &y, v, a);
    }
    arena_free(a);
}

/* Writes value, loads and bottleneck of a run to v.  on: [subgraph] its device. */
static void set_figures(const struct scene *s, const struct latency_run *r, const uint32_t *on,
                        struct verdict *v)
{
    for (uint32_t d = 0; d < s->cluster->ndev; d++)
        v->load[d].nodes = 0;
    for (uint32_t i = 0; i < r->k.n; i++) {
        struct device_load *l = &v->load[on[i]];
        assert(on[i] < s->cluster->ndev);
        const struct subgraph_time *t = &r->time[i];
        bool back = r->k.sub[i].back;
        l->nodes += r->k.sub[i].nnode;
        l->compute = sat_add(l->compute, t->compute);
        l->transfer = sat_add(l->transfer, sat_add(t->in, t->out));
        l->pass[back].compute = sat_add(l->pass[back].compute, t->compute);
        l->pass[back].in = sat_add(l->pass[back].in, t->in);
        l->pass[back].out = sat_add(l->pass[back].out, t->out);
        l->load = sat_add(l->compute, l->transfer);
        if (l->load > v->load[v->bottleneck].load)
            v->bottleneck = on[i];
    }
    v->value = r->t.end;
}

struct verdict latency_verdict(const struct scene *s, const struct plan *p, struct arena *a)
{
    assert(s->m->cost && s->place && p->dev);
    struct verdict v = plan_check(s, hosts_as_one(s, p->dev, a), /*copies=*/NULL, CHECK_PEAKS, a);
    v.value = INT64_MAX;
    if (!v.runnable)
        return v;
    if (!check_slots(s, p, &v, a)) {
        v.runnable = false;
        return v;
    }
    struct subgraphs k = subgraphs_of(s, p->dev, p->slot, a);
    struct latency_run *run = arena_alloc(a, sizeof *run);
    *run = latency_run_subgraphs(s, &k, a);
    if (run->t.status == RUN_DEADLOCK) {
        v.runnable = false;
        v.why_not = timeline_waits(&run->t,
                                   "there is no latency, subgraphs wait for each other:", item_text,
                                   &(struct latency_names){s, run}, a);
        return v;
    }
    v.run = run;
    const uint32_t *on = latency_devices(s, run, a);
    const int64_t *weights = weights_of_hosts(s, &v, a);
    set_figures(s, run, on, &v);
    /* live memory is counted CPU by CPU; the sum of all bytes is checked while it is booked on the first CPU of a
     * class, where a value that several CPUs use counts once */
    if (exec_live_parts(&s->model)) {
        divide_bytes(s, run, on, &v, a);
        count_live(s, p, run, &v, a);
        check_memory(s, weights, &v, a);
    } else {
        check_memory(s, weights, &v, a);
        divide_bytes(s, run, on, &v, a);
    }
    return v;
}

struct exec_bound latency_bound(const struct scene *s, struct arena *a)
{
    const struct latency_model *how = &s->model.latency;
    return step_bound_of(s, how->cpus == CPUS_LIST && how->pieces == PIECES_EXCLUSIVE, a);
}
