/* Computes the time per sample of a plan from the loads of its devices (load_verdict() in plan.h), without running
 * the plan.  Other execution models run it; plan_evaluate() (ir/exec/evaluate.h) calls the function of the scene's
 * model.
 *
 * Load of a device = times of its nodes + transfer time of each net with a pin on the device and a pin on another
 * device or the host; if all pins are in one group of devices, the time over the inner link (placement paper, H.3).
 * With overlap it is the larger of both sums (exec_load()).  Each part may have a fixed cost, too.  plan_check()
 * (check.c) checks the rules for plans of every objective.  O(nodes + pins + D). */
#include "ir/plan/verdict_state.h"

#include "ir/plan/pieces.h"
#include "ir/base/units.h"

#include <assert.h>

/* Adds the time of each node to its device's computing. */
static void add_node_times(struct verdict_state *j)
{
    const struct graph *g = &j->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (j->p->kind[n] != PLACE_NODE)
            continue;
        if (j->dev[n] < 0 || (uint32_t)j->dev[n] >= j->c->ndev)
            continue;
        struct device_load *l = &j->v->load[j->dev[n]];
        int64_t t = j->m->cost->time[cluster_class(j->c, (uint32_t)j->dev[n])][n];
        bool back = j->m->backward && j->m->backward[n];
        l->compute = sat_add(l->compute, t);
        l->pass[back].compute = sat_add(l->pass[back].compute, t);
    }
}

/* Adds the fixed cost of parts to the computing of their devices: once for each part and each training pass that the
 * part has nodes of.  Does nothing for a plan that cannot be cut into parts, since a node cannot run or nodes that
 * must be together are apart. */
static void add_part_costs(struct verdict_state *j)
{
    const struct graph *g = &j->m->graph[1];
    int32_t *dev;
    uint32_t *piece = arena_array(j->a, j->m->nnode, sizeof *piece);
    if (!j->s->model.part_cost || !j->v->runnable || !j->v->colocated)
        return;
    uint32_t n = pieces_build(j->s, j->dev, piece, &dev, j->a);
    uint8_t *seen = arena_alloc(j->a, 2 * (size_t)n + 1);
    for (nid v = g->first; v < g->first + g->count; v++) {
        bool back = j->m->backward && j->m->backward[v];
        if (j->p->kind[v] != PLACE_NODE || seen[2 * piece[v] + back])
            continue;
        struct device_load *l = &j->v->load[j->dev[v]];
        seen[2 * piece[v] + back] = 1;
        l->compute = sat_add(l->compute, j->s->model.part_cost);
        l->pass[back].compute = sat_add(l->pass[back].compute, j->s->model.part_cost);
    }
}

/* Whether the devices dev[0 .. n) and the other copies of each are all in one group. */
static bool is_one_group(const struct verdict_state *j, const uint32_t *dev, uint32_t n)
{
    uint32_t group = n ? cluster_group(j->c, dev[0]) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t copies = j->copies && j->copies[dev[i]] ? j->copies[dev[i]] : 1;
        /* copies, like the devices of a group, are consecutive */
        uint32_t last = dev[i] + copies - 1;
        if (last >= j->c->ndev || cluster_group(j->c, dev[i]) != group ||
            cluster_group(j->c, last) != group)
            return false;
    }
    return true;
}

/* Adds the transfer time of each net to each device that has a pin of the net, if the host or another device has one,
 * too. */
static void add_transfers(struct verdict_state *j)
{
    uint32_t nd = j->c->ndev, *list = arena_array(j->a, (size_t)nd + 1, sizeof *list);
    uint8_t *in = arena_alloc(j->a, (size_t)nd + 1);
    for (uint32_t e = 0; e < j->p->nnet; e++) {
        /* list[0 .. n): the devices with pins of the net */
        uint32_t n = plan_devices(j, &j->p->net_pin, e, list, in);
        vid v = j->p->net_value[e];
        if (n + j->p->net_host[e] < 2)
            continue;
        struct moved_value moved = place_moved(j->p, j->m->cost, e);
        nid def = j->m->value[v].def;
        int32_t from = def && j->p->kind[def] == PLACE_NODE ? j->dev[def] : -1;
        bool back = def && j->m->backward && j->m->backward[def];
        bool inner = !j->p->net_host[e] && is_one_group(j, list, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t cls = cluster_class(j->c, list[i]);
            int64_t t = cluster_transfer(j->c, cls, inner, moved);
            struct device_load *l = &j->v->load[list[i]];
            bool out = from >= 0 && list[i] == (uint32_t)from;
            int64_t *sum = out ? &l->pass[back].out : &l->pass[back].in;
            l->transfer = sat_add(l->transfer, t);
            *sum = sat_add(*sum, t);
        }
    }
}

/* Computes the load of each device from the device's times, and from the loads the plan's bottleneck and value. The
 * other copies of a device get the same figures as the device. */
static void sum_loads(struct verdict_state *j)
{
    const struct exec_model *model = &j->s->model;
    /* most: [pass] the largest load of a device; where the passes count together, most[0] alone; worst: the load of
     * the bottleneck, -1 before the first device */
    int64_t most[2] = {0, 0}, worst = -1;
    /* the loads of both passes count separately (GPipe) */
    bool apart = exec_apart(model) && j->m->backward;
    for (uint32_t d = 0; d < j->c->ndev; d++) {
        struct device_load *l = &j->v->load[d];
        uint32_t copies = j->copies && j->copies[d] ? j->copies[d] : 1;
        if (j->m->backward)
            l->sync = exec_sync(model, &j->c->cls[cluster_class(j->c, d)], is_one_group(j, &d, 1),
                                l->params, copies);
        for (int p = 0; p < 2 && apart; p++) {
            int64_t load = exec_load(model, l->pass[p].compute, l->pass[p].in, l->pass[p].out);
            /* weights are made equal in the backward pass */
            load = exec_shared_load(model, load, p ? l->sync : 0, copies);
            most[p] = larger(load, most[p]);
            l->load = sat_add(l->load, load);
        }
        if (!apart) {
            l->load = exec_load(model, l->compute, sat_add(l->pass[0].in, l->pass[1].in),
                                sat_add(l->pass[0].out, l->pass[1].out));
            l->load = exec_shared_load(model, l->load, l->sync, copies);
            most[0] = larger(l->load, most[0]);
        }
        if (l->load > worst) {
            worst = l->load;
            j->v->bottleneck = d;
        }
        uint32_t devices = copies > 1 && plan_copies_free(j, d) ? copies : 1;
        for (uint32_t i = 1; i < devices; i++)
            j->v->load[d + i] = *l;
        d += devices - 1;
        assert(d < j->c->ndev);
    }
    j->v->value = sat_add(most[0], most[1]);
}

struct verdict load_verdict(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                            struct arena *a)
{
    /* where only live values need memory, sample_verdict() checks the memory */
    unsigned memory = exec_live_parts(&s->model) ? 0 : CHECK_MEMORY;
    struct verdict v = plan_check(s, dev, copies, CHECK_PEAKS | memory, a);
    struct verdict_state j = {s, s->m, s->place, s->cluster, dev, copies, a, &v};
    add_node_times(&j);
    add_part_costs(&j);
    add_transfers(&j);
    sum_loads(&j);
    assert(v.value >= 0);
    return v;
}
