/* A plan in terms of the model that it was made for: calls that no cut divides are nodes again (opened.h).
 *
 * Parts are the same, and so are all figures: they are those of the plan as it was made, with calls open.
 * What is written can only take less: a call measures what it is given itself, where the plan has a Shape
 * elsewhere that sends its result.  The judge has the last word: a plan that it finds worse, or that leaves
 * a part empty, keeps its calls open.  O(nodes + operands), and the judge's work. */
#include "passes/functions/close_plan.h"

#include "ir/exec/evaluate.h"

#include <assert.h>
#include <string.h>

/* Keeps in can[] the outermost calls that can be closed; returns how many. */
static uint32_t choose_calls(const struct open_calls *o, uint8_t *can)
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

/* A placed node of the site, whose device the call gets; the site's end: there is none, since nothing needs the
 * call. */
static nid find_speaker(const struct ctx *x, const struct site *s, const uint8_t *follows)
{
    nid n = s->first;
    while (n < s->end && (x->scene.place->kind[n] != PLACE_NODE || follows[n]))
        n++;
    return n;
}

/* Writes the devices of the new module's nodes and their parts; false: some part would have no node. */
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
        nid from = s != NULL ? find_speaker(x, s, follows) : c->node[n];
        if ((s != NULL && from == s->end) || x->scene.place->kind[from] != PLACE_NODE)
            continue;
        plan->dev[n] = x->results.plan->dev[from];
        if (plan->stage_of)
            plan->stage_of[n] = x->results.plan->stage_of[from];
        k->piece[n] = (uint32_t)parts->part_of[from];
        count += used[k->piece[n]]++ == 0;
        used[k->piece[n]] = 1;
    }
    k->n = count;
    return count == parts->nparts || count == 0;
}

/* The figures `was` of the plan as it was made, with only the numbers of nodes taken from `is`. */
static struct verdict copy_figures(const struct ctx *x, const struct verdict *was,
                                   const struct verdict *is)
{
    struct verdict v = *was;
    v.load = arena_array(x->use.mem, (size_t)x->scene.cluster->ndev + 1, sizeof *v.load);
    for (uint32_t d = 0; d < x->scene.cluster->ndev; d++) {
        v.load[d] = was->load[d];
        v.load[d].nodes = is->load[d].nodes;
    }
    return v;
}

bool close_plan(struct ctx *x, const struct parts *parts, const struct verdict *was,
                struct closed_plan *out)
{
    const struct open_calls *o = x->results.opened;
    struct closed_module c;
    struct pieces k = {0};
    uint8_t *shut = opened_closable(x, x->scene.place, parts, x->use.scratch);
    uint32_t n = choose_calls(o, shut);
    if (n == 0)
        return false;
    opened_close(x, x->scene.place, shut, &c);
    out->m = c.m;
    out->scene = x->scene;
    out->scene.m = &out->m;
    out->scene.place = place_build(&out->m, ctx_settings(x)->pairs, ctx_settings(x)->npairs,
                                   x->use.mem, x->use.diag);
    if (out->scene.place == NULL)
        return false;
    if (x->scene.model.io_free)
        place_free_io(&out->m, out->scene.place);
    out->plan = *x->results.plan;
    if (!assign_nodes(x, parts, &c, &out->plan, &k))
        return false;
    /* parts are given, so both judgements leave the cost of parts out */
    struct scene new = out->scene, old = x->scene;
    new.model.part_cost = old.model.part_cost = 0;
    struct evaluation is = plan_evaluate(&new, &out->plan, x->use.mem);
    struct evaluation open = plan_evaluate(&old, x->results.plan, x->use.mem);
    out->verdict = copy_figures(x, was, &is.v);
    out->parts = parts_of_pieces(&out->scene, &k, x->use.mem);
    out->closed = n;
    out->open = c.opened != NULL ? c.opened->nsite - 1 : 0;
    out->first_open = out->open > 0 ? module_str(&out->m, c.opened->site[1].name) : "";
    return evaluation_holds(&is, true) && is.value <= open.value;
}
