/* Makes plans with stages as they are written to split folders (written_plan.h).
 *
 * Each recomputing stage is a segment of remake.h: the values that it gets from the stage before are kept, and its own
 * forward values are made again in its backward pass.  A node made again is on the device and in the stage of its
 * forward node.  Only nodes run again whose results the backward pass needs; in the times of the plan the whole forward
 * pass runs again.
 *
 * The memory of a device is counted by its lists, byte by byte, so that a plan that fits has a folder that fits.  It
 * contains what parts read and make, values that come early from devices that are ahead, and gradients of
 * activations. */
#include "ir/exec/iteration/written_plan.h"

#include "ir/dag/remake.h"
#include "ir/exec/iteration/part_places.h"
#include "ir/model/state_pairs.h"
#include "ir/plan/schedule_check.h"

#include <string.h>

bool written_plan_wanted(const struct scene *s, const struct stages *stages)
{
    return stages_recompute(stages) && s->m->ir_version != 0 && s->m->backward != NULL;
}

/* Returns an array, in a: [node] its stage if that stage recomputes, else -1. */
static const int32_t *find_segments(const struct staged_plan *p, struct arena *a)
{
    const int32_t *stage_of = plan_stage_of(p, a);
    uint32_t nnode = p->scene->m->nnode;
    int32_t *segment = arena_array(a, nnode, sizeof *segment);
    for (nid n = 0; n < nnode; n++)
        segment[n] = stage_of[n] >= 0 && p->stages->recompute[stage_of[n]] != 0 ? stage_of[n] : -1;
    return segment;
}

/* Returns, in a, a table for the nodes of the new module: the entry of a node is old[] of the node that it was made
 * from, -1 if there is none.  Returns NULL if old is NULL. */
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

/* Sets w->scene to the scene s with the module w->m, whose state pairs are those of s. */
static void set_scene(const struct scene *s, struct written_plan *w, struct arena *a)
{
    const struct place *p = s->place;
    struct state_pair *pair = arena_array(a, (size_t)p->nstate + 1, sizeof *pair);
    struct diag quiet = diag_silent();
    for (uint32_t i = 0; i < p->nstate; i++)
        pair[i] = (struct state_pair){value_name(s->m, p->state_in[i]),
                                      value_name(s->m, p->state_out[i])};
    w->scene = *s;
    w->scene.m = &w->m;
    w->scene.place = place_build(&w->m, pair, p->nstate, a, &quiet);
    if (s->model.io_free)
        place_free_io(&w->m, w->scene.place, a);
}

void written_plan_make(const struct staged_plan *p, struct arena *a, struct written_plan *w)
{
    const struct remake_rule rule = {
        .place = p->scene->place, .segment = find_segments(p, a), .within = true};
    *w = (struct written_plan){.m = module_fork(p->scene->m, a)};
    struct remade r = remake(&w->m, &rule, a);
    w->copies = r.copies;
    if (r.copies == 0)
        return;
    set_scene(p->scene, w, a);
    w->plan = *p->plan;
    w->plan.dev = move_table(p->plan->dev, &r, w->m.nnode, a);
    w->plan.stage_of = move_table(p->plan->stage_of, &r, w->m.nnode, a);
    /* without ranks nodes run in the order of their numbers, in which a copy stands just before its readers */
    w->plan.rank = w->plan.slot = NULL;
    const struct staged_plan now = {&w->scene, &w->plan, p->stages};
    w->parts = parts_of_plan(&now, a);
}

const int64_t *written_plan_peaks(const struct staged_plan *p, const void *run, struct arena *a)
{
    struct written_plan w;
    struct staged_plan now = *p;
    struct part_places places;
    int64_t *peak = NULL;
    if (p->scene->m->ir_version == 0)
        return NULL;
    struct arena *own = arena_new(a);
    if (written_plan_wanted(p->scene, p->stages)) {
        written_plan_make(p, own, &w);
        if (w.copies)
            now = (struct staged_plan){&w.scene, &w.plan, p->stages};
    }
    /* written_plan_make() has made the parts of its plan; the plan itself, where nothing runs again, has none yet */
    const struct parts *parts = now.plan == p->plan ? parts_of_plan(&now, own) : w.parts;
    struct sample_work *work = work_of_parts(now.scene, parts, /*slices=*/NULL, own);
    struct rhythm y = {0};
    if (part_places_find(&places, &now, parts, work, own)) {
        const struct verdict v = {.run = run};
        y = rhythm_of_iteration(&(struct rhythm_ask){.scene = now.scene,
                                                     .plan = now.plan,
                                                     .verdict = &v,
                                                     .parts = parts,
                                                     .work = work,
                                                     .places = &places},
                                own);
    }
    struct schedule *e = y.work ? schedule_make(y.work, &y, own) : NULL;
    if (e) {
        /* the work has all micro-batches of one iteration, which count as one sample */
        e->in_flight = 1;
        if (schedule_prove(y.work, e, own))
            e = NULL;
    }
    if (e) {
        peak = arena_array(a, (size_t)y.work->ndev + 1, sizeof *peak);
        memcpy(peak, e->peak, y.work->ndev * sizeof *peak);
    }
    arena_free(own);
    return peak;
}
