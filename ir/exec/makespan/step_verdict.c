/* The verdict on a makespan (step_verdict.h): the event core runs the tasks of single_step(), and times and memory are
 * read off the timeline. */
#include "ir/exec/makespan/step_verdict.h"

#include "ir/base/units.h"
#include "ir/exec/replicas/paper_memory.h"

#include <assert.h>
#include <string.h>

/* PARTS_AUTO: parts cut at transfers must save 1 / GAIN of the makespan of the fewest parts, and as much again for each
 * time that their number is doubled beyond twice the fewest, as each is a file and a session */
enum { GAIN = 20 };

/* ---- running ------------------------------------------------------------------------------------ */

/* Returns an array: [dev] bytes of the device's memory; -1: no limit. */
static const int64_t *device_memory(const struct cluster *c, struct arena *a)
{
    int64_t *m = arena_array(a, (size_t)c->ndev + 1, sizeof *m);
    for (uint32_t d = 0; d < c->ndev; d++)
        m[d] = c->cls[cluster_class(c, d)].memory;
    return m;
}

/* Adds to bytes[dev] of each accelerator the bytes of the model inputs that its nodes read and that are there already
 * (--io=free). */
static void add_inputs(const struct scene *s, const struct plan *p, int64_t *bytes, struct arena *a)
{
    const struct place *of = s->place;
    uint32_t *counted = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *counted);
    for (uint32_t i = 0; i < of->nthere; i++)
        for_row (n, of->there_pin, i) {
            uint32_t d = (uint32_t)p->dev[n];
            if (counted[d] != i + 1 && !s->cluster->cls[cluster_class(s->cluster, d)].host)
                bytes[d] = sat_add(bytes[d], s->m->cost->bytes[of->there[i]]);
            counted[d] = i + 1;
        }
}

/* Returns an array: [dev] bytes in the device's memory from the beginning to the end of the step.  These are its
 * weights; in a profile (ir_version 0) also the bytes of its nodes; and inputs that are there already (--io=free), but
 * not with MEMORY_PAPER, whose table does not count inputs. */
static const int64_t *lasting_bytes(const struct scene *s, const struct plan *p,
                                    const int64_t *weights, struct arena *a)
{
    int64_t *b = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *b);
    const struct graph *g = &s->m->graph[1];
    memcpy(b, weights, s->cluster->ndev * sizeof *b);
    for (nid n = g->first; s->m->ir_version == 0 && n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE)
            b[p->dev[n]] = sat_add(b[p->dev[n]], s->m->cost->own[n]);
    if (exec_memory(&s->model) != MEMORY_PAPER)
        add_inputs(s, p, b, a);
    return b;
}

/* Runs the tasks g of a step, to which it adds lasting bytes and the memory of the devices, and
 * returns the run.  weights: as for step_run_plan(). */
static struct step_run run_graph(struct task_graph g, const struct scene *s, const struct plan *p,
                                 const int64_t *weights, struct arena *a)
{
    struct step_run r = {.g = g};
    r.g.lasting = lasting_bytes(s, p, weights, a);
    r.g.memory = device_memory(s->cluster, a);
    r.t = events_run(&r.g, NULL, a);
    return r;
}

struct step_run step_run_plan(const struct scene *s, const struct plan *p, const int64_t *weights,
                              struct arena *a)
{
    return run_graph(single_step(s, p, NULL, a), s, p, weights, a);
}

/* Returns the tasks of a step in which each device takes the ready node that is first in the plan's order, as
 * step_verdict_ready() describes it. */
static struct task_graph ready_step(const struct scene *s, const struct plan *p, struct arena *a)
{
    /* the scene with another dispatch, for which single_step() makes no lists of nodes */
    struct scene fifo = *s;
    if (s->model.step.dispatch != DISPATCH_PLAN || s->model.step.contention == CONTENTION_BAECHI)
        return single_step(s, p, NULL, a);
    fifo.model.step.dispatch = DISPATCH_FIFO;
    struct task_graph g = single_step(&fifo, p, NULL, a);
    for (uint32_t d = 0; d < g.ndev; d++)
        g.lane[d].discipline = LANE_RANK;
    for (uint32_t k = 0; k < g.ntask && g.task[k].kind == STEP_COMPUTE; k++)
        g.task[k].rank = p->rank ? p->rank[g.task[k].number] : 0;
    return g;
}

int64_t step_of_parts(const struct scene *s, const struct plan *p, const struct parts *parts,
                      struct arena *a)
{
    struct arena *own = arena_new(a);
    struct task_graph g = single_step(s, p, parts, own);
    struct timeline t = events_run(&g, NULL, own);
    assert(t.status == RUN_DONE); /* parts are numbered in a legal order */
    int64_t end = t.end;
    arena_free(own);
    return end;
}

struct parts *step_parts(const struct scene *s, const struct plan *p, enum parts_cut how,
                         int64_t *value, bool *fine, struct arena *a)
{
    struct parts *few = parts_of_plan(&(struct staged_plan){s, p, NULL}, a);
    *fine = false;
    *value = step_of_parts(s, p, few, a);
    if (how == PARTS_FEW)
        return few;
    struct parts *more = parts_by_transfers(s, p, a);
    int64_t time = more ? step_of_parts(s, p, more, a) : INT64_MAX;
    int64_t gains = 1; /* how many times 1 / GAIN must be saved */
    for (uint64_t n = 2 * (uint64_t)few->nparts; more && n < more->nparts && gains < GAIN; n *= 2)
        gains++;
    int64_t most = how == PARTS_AUTO ? *value - mul_div_ceil(*value, gains, GAIN) : INT64_MAX;
    if (!more || time > most)
        return few;
    *value = time;
    *fine = true;
    return more;
}

/* ---- verdict ------------------------------------------------------------------------------------ */

/* Argument of item_text(), for timeline_waits(). */
struct step_names {
    const struct scene *s;
    const struct step_run *run;
};

/* Returns the name of an item, for timeline_waits(): "node 'a' on acc0", "the transfer of 'v'". */
static const char *item_text(const void *of, uint32_t item, struct arena *a)
{
    const struct step_names *x = of;
    const struct scene *s = x->s;
    const struct task *t = &x->run->g.task[task_of_item(&x->run->g, item)];
    if (t->kind == STEP_COMPUTE)
        return arena_fmt(a, "node '%s' on %s", node_name(s->m, t->number),
                         cluster_device_name(s->cluster, a, t->from));
    return arena_fmt(a, "the transfer of '%s'", value_name(s->m, s->place->net_value[t->number]));
}

/* Adds the times of all nodes and hops to the loads of their devices. */
static void add_times(const struct step_run *r, struct device_load *load)
{
    for (uint32_t i = 0; i < r->g.ntask; i++) {
        const struct task *t = &r->g.task[i];
        struct device_load *from = &load[t->from], *to = &load[t->to];
        if (t->kind == STEP_COMPUTE) {
            from->compute = sat_add(from->compute, t->time);
            continue;
        }
        if (t->kind != STEP_IN) {
            from->transfer = sat_add(from->transfer, t->time);
            from->pass[0].out = sat_add(from->pass[0].out, t->time);
        }
        if (t->kind != STEP_OUT) {
            to->transfer = sat_add(to->transfer, t->time);
            to->pass[0].in = sat_add(to->pass[0].in, t->time);
        }
    }
}

/* Writes value, times, used memory and bottleneck of a step that has run to v. */
static void set_figures(const struct scene *s, const struct plan *p, const struct step_run *r,
                        struct verdict *v, struct arena *a)
{
    enum memory_model model = exec_memory(&s->model);
    int64_t more_copies = exec_weight_copies(&s->model, s->m->backward) - 1;
    const int64_t *paper = model == MEMORY_PAPER ? paper_memory(s, p, r->g.lasting, a) : NULL;
    add_times(r, v->load);
    v->value = r->t.end;
    for (uint32_t d = 0; d < s->cluster->ndev; d++) {
        struct device_load *l = &v->load[d];
        l->load = l->compute;
        l->pass[0].compute = l->compute;
        l->live_peak = r->t.peak[d];
        l->used = model == MEMORY_SUM ? sat_add(l->used, sat_mul(more_copies, l->params))
                  : paper             ? paper[d]
                                      : l->live_peak;
        if (l->load > v->load[v->bottleneck].load)
            v->bottleneck = d;
    }
}

/* Returns the verdict of step_verdict(), or, if ready is true, of step_verdict_ready(). */
static struct verdict run_verdict(const struct scene *s, const struct plan *p, bool ready,
                                  struct arena *a)
{
    /* with MEMORY_SUM memory is checked before the run, too, so that why_not names it before colocated nodes on
     * different devices */
    unsigned what = exec_memory(&s->model) == MEMORY_SUM ? CHECK_MEMORY : 0U;
    struct verdict v = plan_check(s, p->dev, /*copies=*/NULL, what, a);
    int64_t *weights = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *weights);
    v.value = INT64_MAX;
    if (!v.runnable)
        return v;
    int64_t more_copies = exec_weight_copies(&s->model, s->m->backward) - 1;
    for (uint32_t d = 0; d < s->cluster->ndev; d++)
        weights[d] = sat_add(v.load[d].weights, sat_mul(more_copies, v.load[d].params));
    struct step_run *run = arena_alloc(a, sizeof *run);
    *run = run_graph(ready ? ready_step(s, p, a) : single_step(s, p, NULL, a), s, p, weights, a);
    if (run->t.status == RUN_DEADLOCK) {
        v.runnable = false;
        v.why_not =
            timeline_waits(&run->t, "the orders of the devices can never be kept:", item_text,
                           &(struct step_names){s, run}, a);
        return v;
    }
    v.run = run;
    set_figures(s, p, run, &v, a);
    plan_check_memory(s, &v, a);
    return v;
}

struct exec_bound makespan_bound(const struct scene *s, struct arena *a)
{
    return step_bound_of(s, /*shared=*/true, a);
}

struct verdict step_verdict(const struct scene *s, const struct plan *p, struct arena *a)
{
    return run_verdict(s, p, /*ready=*/false, a);
}

struct verdict step_verdict_ready(const struct scene *s, const struct plan *p, struct arena *a)
{
    return run_verdict(s, p, /*ready=*/true, a);
}
