/* Translates a plan that was made with open calls (opened.h) to a model in which calls are nodes again, where all nodes
 * of a call are in one part.
 *
 * The parts stay the same.  The figures (loads, memory, value) stay those of the plan with open calls, although the
 * written model may take less: inside a call, Shape of a value that the call is given costs no transfer, while in the
 * plan with open calls that Shape stays with the value's producer and its result is sent.  If the judge
 * (plan_evaluate()) finds the translated plan worse, or a part would be empty, the calls stay open.
 * O(nodes + operands), plus the time of the judge. */
#include "passes/functions/close_plan.h"

#include "ir/exec/evaluate.h"

#include <assert.h>
#include <string.h>

/* Clears can[] for each call inside another call that can be closed, so that only outermost calls stay marked;
 * returns how many these are.  can: [site] 1: the call can be closed. */
static uint32_t keep_outermost(const struct open_calls *o, uint8_t *can)
{
    uint32_t n = 0;
    for (uint32_t s = 1; s < o->nsite; s++) {
        if (can[s] == 0)
            continue;
        assert(o->site[s].after > s && o->site[s].after <= o->nsite);
        n++;
        for (uint32_t inner = s + 1; inner < o->site[s].after; inner++)
            can[inner] = 0;
        s = o->site[s].after - 1;
    }
    return n;
}

/* Returns the first placed node of the site that is no Shape following its operand (follows[node] != 0); the closed
 * call gets the device and the part of this node.  Returns s->end if there is no such node: then no output of the
 * model needs the call. */
static nid find_placed_node(const struct ctx *x, const struct site *s, const uint8_t *follows)
{
    nid n = s->first;
    while (n < s->end && (x->scene.place->kind[n] != PLACE_NODE || follows[n]))
        n++;
    return n;
}

/* Fills plan->dev and (if the plan has stages) plan->stage_of for the nodes of c->m, and *k with the parts as
 * pieces; nodes that are not placed get -1.  Returns false if a part would have no nodes, unless all parts have
 * none. */
static bool assign_nodes(const struct ctx *x, const struct parts *parts,
                         const struct closed_module *c, struct plan *plan, struct pieces *k)
{
    const struct graph *g = &c->m.graph[1];
    plan->dev = arena_array(x->use.mem, c->m.nnode, sizeof *plan->dev);
    memset(plan->dev, 0xff, c->m.nnode * sizeof *plan->dev);
    if (plan->stage_of) {
        plan->stage_of = arena_array(x->use.mem, c->m.nnode, sizeof *plan->stage_of);
        memset(plan->stage_of, 0xff, c->m.nnode * sizeof *plan->stage_of);
    }
    k->piece = arena_array(x->use.mem, c->m.nnode, sizeof *k->piece);
    k->dev = arena_array(x->use.mem, (size_t)parts->nparts + 1, sizeof *k->dev);
    for (uint32_t i = 0; i < parts->nparts; i++)
        k->dev[i] = (int32_t)parts->part[i].dev;
    uint8_t *used = arena_alloc(x->use.scratch, (size_t)parts->nparts + 1);
    const uint8_t *follows = place_follows(x->scene.m, x->scene.place, x->use.scratch);
    uint32_t count = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        const struct site *s = c->site[n] != 0 ? &x->results.opened->site[c->site[n]] : NULL;
        nid from = s != NULL ? find_placed_node(x, s, follows) : c->node[n];
        if ((s != NULL && from == s->end) || x->scene.place->kind[from] != PLACE_NODE)
            continue;
        plan->dev[n] = x->results.plan->dev[from];
        if (plan->stage_of)
            plan->stage_of[n] = x->results.plan->stage_of[from];
        k->piece[n] = (uint32_t)parts->part_of[from];
        count += !used[k->piece[n]];
        used[k->piece[n]] = 1;
    }
    k->n = count;
    return count == parts->nparts || count == 0;
}

/* Returns the verdict `figures` of the plan with open calls, except that the number of nodes on each device is taken
 * from the verdict `closed`. */
static struct verdict copy_figures(const struct ctx *x, const struct verdict *figures,
                                   const struct verdict *closed)
{
    struct verdict v = *figures;
    v.load = arena_array(x->use.mem, (size_t)x->scene.cluster->ndev + 1, sizeof *v.load);
    for (uint32_t d = 0; d < x->scene.cluster->ndev; d++) {
        v.load[d] = figures->load[d];
        v.load[d].nodes = closed->load[d].nodes;
    }
    return v;
}

bool close_plan(struct ctx *x, const struct parts *parts, const struct verdict *figures,
                struct closed_plan *out)
{
    const struct open_calls *o = x->results.opened;
    struct closed_module c;
    struct pieces k = {0};
    uint8_t *closable = opened_closable(x, x->scene.place, parts, x->use.scratch);
    uint32_t n = keep_outermost(o, closable);
    if (n == 0)
        return false;
    opened_close(x, x->scene.place, closable, &c);
    out->m = c.m;
    out->scene = x->scene;
    out->scene.m = &out->m;
    out->scene.place = place_build(&out->m, ctx_settings(x)->pairs, ctx_settings(x)->npairs,
                                   x->use.mem, x->use.diag);
    if (out->scene.place == NULL)
        return false;
    if (x->scene.model.io_free)
        place_free_io(&out->m, out->scene.place, x->use.mem);
    out->plan = *x->results.plan;
    if (!assign_nodes(x, parts, &c, &out->plan, &k))
        return false;
    /* both plans have the same parts, so the cost of parts is left out of the comparison */
    struct scene new = out->scene, old = x->scene;
    new.model.part_cost = old.model.part_cost = 0;
    struct evaluation closed = plan_evaluate(&new, &out->plan, x->use.mem);
    struct evaluation open = plan_evaluate(&old, x->results.plan, x->use.mem);
    out->verdict = copy_figures(x, figures, &closed.v);
    out->parts = parts_of_pieces(&out->scene, &k, x->use.mem);
    out->closed = n;
    out->open = c.opened != NULL ? c.opened->nsite - 1 : 0;
    out->first_open = out->open > 0 ? module_str(&out->m, c.opened->site[1].name) : "";
    return evaluation_holds(&closed, /*over_memory=*/true) && closed.value <= open.value;
}
