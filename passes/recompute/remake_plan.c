/* Writes the re-computation of a plan's stages into the model (remake_plan.h).
 *
 * Each recomputing stage is a segment of remake.h: what comes from the stage before is kept, what the stage makes
 * itself is made again in its backward pass.  A node made again is on the device and in the stage of its forward node.
 * Times and memory stay those of the plan, which lets the whole forward pass run again: here only nodes run again whose
 * results the backward pass reads, or that these follow from.  O(nodes + operands), and making the parts. */
#include "passes/recompute/remake_plan.h"

#include "passes/recompute/remake.h"

#include <assert.h>
#include <string.h>

bool remake_wanted(const struct scene *s, const struct stages *stages)
{
    return stages_recompute(stages) && s->m->ir_version != 0 && s->m->backward != NULL;
}

/* Returns, in a, [node] its stage if that recomputes, else -1. */
static const int32_t *find_segments(const struct staged_plan *p, struct arena *a)
{
    const int32_t *stage_of = plan_stage_of(p, a);
    uint32_t nnode = p->scene->m->nnode;
    int32_t *segment = arena_array(a, nnode, sizeof *segment);
    for (nid n = 0; n < nnode; n++)
        segment[n] = stage_of[n] >= 0 && p->stages->recompute[stage_of[n]] != 0 ? stage_of[n] : -1;
    return segment;
}

/* Returns, in a, a table [node of the new module] with the entries old[origin] of a table [node]; NULL of NULL. */
static int32_t *move_table(const int32_t *old, const struct remade *r, uint32_t nnode,
                           struct arena *a)
{
    if (old == NULL)
        return NULL;
    int32_t *now = arena_array(a, nnode, sizeof *now);
    now[0] = -1;
    for (nid n = 1; n < nnode; n++)
        now[n] = r->origin[n] != 0 ? old[r->origin[n]] : -1;
    return now;
}

/* Sets the number of nodes of each device in out->verdict. */
static void count_nodes(struct remade_plan *out, struct arena *a)
{
    const struct graph *g = &out->m.graph[1];
    uint32_t ndev = out->scene.cluster->ndev;
    struct device_load *load = arena_array(a, (size_t)ndev + 1, sizeof *load);
    memcpy(load, out->verdict.load, ndev * sizeof *load);
    for (uint32_t d = 0; d < ndev; d++)
        load[d].nodes = 0;
    for (nid n = g->first; n < g->first + g->count; n++)
        if (out->scene.place->kind[n] == PLACE_NODE)
            load[out->plan.dev[n]].nodes++;
    out->verdict.load = load;
}

/* Sets out->scene to the scene s with the module out->m.  Returns 0, or -1 and reports an error. */
static int set_scene(struct ctx *x, const struct scene *s, struct remade_plan *out)
{
    const struct settings *said = ctx_settings(x);
    out->scene = *s;
    out->scene.m = &out->m;
    out->scene.place = place_build(&out->m, said->pairs, said->npairs, x->use.mem, x->use.diag);
    if (out->scene.place == NULL)
        return -1;
    if (s->model.io_free)
        place_free_io(&out->m, out->scene.place, x->use.mem);
    return 0;
}

int remake_plan(struct ctx *x, const struct staged_plan *p, const struct verdict *figures,
                struct remade_plan *out)
{
    struct arena *a = x->use.mem;
    *out = (struct remade_plan){0};
    assert(remake_wanted(p->scene, p->stages));
    if (x->results.opened != NULL)
        return diag_error(
            x->use.diag,
            "the plan runs forward nodes again (--recompute), which cannot be written "
            "while calls of functions are open: put their nodes into the model, -p "
            "inline-functions,%s",
            p->plan->planner);
    const struct remake_rule rule = {
        .place = p->scene->place, .segment = find_segments(p, a), .within = true};
    out->m = module_fork(p->scene->m, p->scene->m->mem);
    struct remade r = remake(&out->m, &rule, a);
    out->copies = r.copies;
    if (r.copies == 0)
        return 0;
    if (set_scene(x, p->scene, out))
        return -1;
    out->plan = *p->plan;
    out->plan.dev = move_table(p->plan->dev, &r, out->m.nnode, a);
    out->plan.stage_of = move_table(p->plan->stage_of, &r, out->m.nnode, a);
    out->plan.rank = out->plan.slot =
        NULL; /* nodes run by number: copies just before their readers */
    out->verdict = *figures;
    count_nodes(out, a);
    const struct staged_plan now = {&out->scene, &out->plan, p->stages};
    out->parts = parts_of_plan(&now, a);
    diag_detail(x->use.diag, "--recompute: %u nodes are made again in the parts", r.copies);
    return 0;
}
