/* Finds the stages and passes of parts, and their times in the iteration (part_places.h).  A copy is a part on one of
 * the devices of its stage, which runs it for its slice of a micro-batch (work_slice()).  An instance is a copy in one
 * micro-batch, numbered micro-batch * number of copies + copy. */
#include "ir/exec/iteration/part_places.h"

#include "ir/base/units.h"
#include "ir/exec/iteration/iteration_verdict.h"
#include "ir/model/batch.h"
#include "ir/plan/update_pass.h"
#include "ir/plan/weight_pass.h"

enum {
    /* the most copies of parts and slices of tensors, of all micro-batches, that are listed */
    MOST_INSTANCES = 1 << 20,
    KINDS = ITERATION_WEIGHT + 1 /* kinds of tasks that run parts: forward, backward, weight */
};

/* Whether the part has both forward nodes and backward nodes. */
static bool is_part_mixed(const struct module *m, const struct part *p)
{
    for (uint32_t i = 0; m->backward && i < p->nnode; i++)
        if (!m->backward[p->node[i]])
            return part_is_back(m, p);
    return false;
}

/* Whether in[node] is set for all nodes of the part. */
static bool is_all_of(const uint8_t *in, const struct part *p)
{
    bool all = true;
    for (uint32_t i = 0; i < p->nnode; i++)
        all = all && in[p->node[i]];
    return all;
}

bool part_places_find(struct part_places *p, const struct staged_plan *of,
                      const struct parts *parts, const struct sample_work *w, struct arena *a)
{
    const struct stages *st = of->stages;
    const int32_t *stage_of = plan_stage_of(of, a);
    const uint8_t *weight =
        weight_pass_apart(of->scene) ? weight_pass_nodes(of->scene, stage_of, a) : NULL;
    const struct update_pass update = update_pass_wanted(of->scene)
                                          ? update_pass_find(of, stage_of, a)
                                          : (struct update_pass){.why = "not wanted"};
    p->pass = arena_alloc(a, (size_t)w->npart + 1); /* zeros: PART_FORWARD */
    p->stage = arena_array(a, (size_t)w->npart + 1, sizeof *p->stage);
    for (uint32_t x = 0; x < w->npart; x++) {
        const struct part *part = &parts->part[x];
        for (uint32_t i = 0; i < part->nnode; i++)
            if (stage_of[part->node[i]] != stage_of[part->node[0]])
                return false;
        if (!part->nnode || stage_of[part->node[0]] < 0)
            return false;
        p->stage[x] = (uint32_t)stage_of[part->node[0]];
        /* a mixed part of an earlier stage is forward unless it reads something that is backward (below) */
        bool mixed = is_part_mixed(of->scene->m, part), last = p->stage[x] + 1 == st->n;
        if (part_is_back(of->scene->m, part) && (last || !mixed))
            p->pass[x] = mixed ? PART_BOTH : PART_BACKWARD;
        if (!update.why && is_all_of(update.own, part)) {
            p->pass[x] = PART_UPDATE;
            continue;
        }
        if (weight && is_all_of(weight, part)) {
            p->pass[x] = PART_WEIGHT;
            continue;
        }
        /* a part that reads from a later stage, or from a backward part of its own, is backward, too */
        for_row (t, w->in, x) {
            uint32_t from = w->tensor[t].from;
            if (from < x && (p->stage[from] > p->stage[x] ||
                             (p->stage[from] == p->stage[x] && p->pass[from] == PART_BACKWARD)))
                p->pass[x] = PART_BACKWARD;
        }
    }
    return true;
}

/* Inputs and scratch data for the times of parts. */
struct part_timing {
    const struct iteration_run *run;
    const struct part_places *places;
    /* the work of one micro-batch, in slices: its parts are the copies */
    const struct sample_work *w;
    uint32_t *part_of;      /* [copy] its part */
    uint32_t *first[KINDS]; /* [kind][stage] the first task of that kind */
    uint32_t *update;       /* [stage] the task of its update; NO_ITEM: it has none */
    struct arena *a;
};

/* Returns the stage of a copy. */
static uint32_t stage_of(const struct part_timing *f, uint32_t copy)
{
    return f->places->stage[f->part_of[copy]];
}

/* Returns the kind of the task in which a copy runs.  For a part that runs once an iteration this is BACKWARD, since
 * its results move between stages as gradients do. */
static enum iteration_kind kind_of(const struct part_timing *f, uint32_t copy)
{
    enum part_pass pass = f->places->pass[f->part_of[copy]];
    return pass == PART_FORWARD  ? ITERATION_FORWARD
           : pass == PART_WEIGHT ? ITERATION_WEIGHT
                                 : ITERATION_BACKWARD;
}

/* Finds the first task of each kind and stage, f->first, and the task of each stage's update, f->update. */
static void find_first_tasks(struct part_timing *f)
{
    const struct task_graph *g = &f->run->g;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        f->first[kind] = arena_array(f->a, f->run->x.nstage, sizeof *f->first[kind]);
    f->update = arena_array(f->a, f->run->x.nstage, sizeof *f->update);
    for (uint32_t k = 0; k < f->run->x.nstage; k++)
        f->update[k] = NO_ITEM;
    for (uint32_t i = g->ntask; i-- > 0;) {
        if (g->task[i].kind <= ITERATION_WEIGHT)
            f->first[g->task[i].kind][g->task[i].number] = i;
        if (g->task[i].kind == ITERATION_UPDATE)
            f->update[g->task[i].number] = i;
    }
}

/* Returns the rows device -> its instances, in the order in which the device runs them: pass by pass of its stages,
 * within a pass by number of the part, and at the end the parts that run once an iteration. */
static struct csr list_instances(const struct part_timing *f)
{
    const struct task_graph *g = &f->run->g;
    const struct stages *st = f->run->stages;
    /* key: [copy] KINDS * stage + kind of its pass; KINDS * number of stages for a part that runs once */
    uint32_t n = f->w->npart, *key = arena_array(f->a, (size_t)n + 1, sizeof *key);
    struct pairs on = {.a = f->a};
    for (uint32_t x = 0; x < n; x++)
        key[x] = f->w->part[x].once ? KINDS * st->n : KINDS * stage_of(f, x) + kind_of(f, x);
    struct csr of = csr_build(f->a, KINDS * st->n + 1, n, key, NULL);
    for (uint32_t p = 0; p < f->run->x.nplace; p++)
        for_row (item, g->list, p) {
            const struct task *t = &g->task[task_of_item(g, item)];
            if (t->kind > ITERATION_WEIGHT)
                continue; /* an update: below */
            /* the copies of this pass, as instances of the item's micro-batch */
            uint32_t r = KINDS * t->number + t->kind;
            for_row (x, of, r)
                pairs_add(&on, f->w->part[x].dev,
                          (item - g->first[f->first[t->kind][t->number]]) * n + x);
        }
    for_row (x, of, KINDS * st->n)
        pairs_add(&on, f->w->part[x].dev, (f->run->x.micro_batches - 1) * n + x);
    return pairs_rows(&on, f->w->ndev);
}

/* Writes to *start and *end when the pass in which an instance runs begins and ends, ps: the pass of its stage for
 * its micro-batch or, for a part that runs once, the update of its stage (without a task of that kind, the end of the
 * iteration). */
static void find_times(const struct part_timing *f, uint32_t instance, int64_t *start, int64_t *end)
{
    const struct task_graph *g = &f->run->g;
    uint32_t x = instance % f->w->npart;
    if (f->w->part[x].once) {
        uint32_t update = f->update[stage_of(f, x)];
        *start = update == NO_ITEM ? f->run->t.end : f->run->t.start[g->first[update]];
        *end = update == NO_ITEM ? *start : sat_add(*start, g->task[update].time);
        return;
    }
    uint32_t task = f->first[kind_of(f, x)][stage_of(f, x)];
    uint32_t item = g->first[task] + instance / f->w->npart;
    *start = f->run->t.start[item];
    *end = sat_add(*start, g->task[task_of_item(g, item)].time);
}

/* Returns an array: [tensor] the time, ps, at which it has left its device: the end of the part that makes it plus the
 * time in which the part's stage sends its values (or gradients); 0 for tensors from outside.  all: the work of all
 * micro-batches; end: [part of all] ps. */
static int64_t *find_sent_times(const struct part_timing *f, const struct sample_work *all,
                                const int64_t *end, struct arena *a)
{
    int64_t *sent = arena_array(a, (size_t)all->ntensor + 1, sizeof *sent);
    for (uint32_t t = 0; t < all->ntensor; t++) {
        uint32_t from = all->tensor[t].from;
        if (from == all->npart)
            continue;
        uint32_t x = all->instance[from] % f->w->npart, k = stage_of(f, x);
        int64_t takes = kind_of(f, x) == ITERATION_FORWARD ? f->run->stage[k].send
                        : k > 0                            ? f->run->stage[k - 1].send_back
                                                           : 0;
        sent[t] = sat_add(end[from], takes);
    }
    return sent;
}

/* Delays each part that runs once an iteration until all tensors that it reads have been sent and all earlier parts of
 * this sort on its device have ended.  start, end: [part of all] ps, sent: [tensor of all] ps are changed. */
static void delay_update_parts(const struct part_timing *f, const struct sample_work *all,
                               int64_t *start, int64_t *end, int64_t *sent)
{
    int64_t *free_at = arena_array(f->a, (size_t)all->ndev + 1, sizeof *free_at);
    for (uint32_t k = 0; k < all->npart; k++) {
        uint32_t dev = all->part[k].dev;
        int64_t was = start[k];
        if (!f->w->part[all->instance[k] % f->w->npart].once)
            continue;
        start[k] = larger(start[k], free_at[dev]);
        for_row (t, all->in, k)
            if (all->tensor[t].from < all->npart)
                start[k] = larger(start[k], sent[t]);
        end[k] = sat_add(end[k], start[k] - was);
        free_at[dev] = end[k];
        for_row (t, all->out, k)
            sent[t] = sat_add(sent[t], start[k] - was);
    }
}

/* Returns the work of a micro-batch in slices: each part of a stage has a copy on each device of the stage, with the
 * bytes of that device's slice.  Returns NULL and sets *why if it is not known what slices consist of. */
static const struct sample_work *slice_work(const struct rhythm_ask *of, const char **why,
                                            struct arena *a)
{
    const struct stages *st = ((const struct iteration_run *)of->verdict->run)->stages;
    const struct training *t = &of->scene->model.training;
    uint32_t npart = of->work->npart, *n = arena_array(a, (size_t)npart + 1, sizeof *n);
    struct slice_sizes sizes = {value_batch_axes(of->scene->m, a), n};
    /* whether some part runs for another number of samples than the costs are about */
    bool scaled = t->micro_size != t->profiled;
    struct pairs on = {.a = a};
    for (uint32_t x = 0; x < npart; x++) {
        uint32_t k = of->places->stage[x];
        n[x] = st->device.at[k + 1] - st->device.at[k];
        scaled = scaled || n[x] > 1;
        for_row (d, st->device, k)
            pairs_add(&on, x, d);
    }
    if (scaled && (!sizes.axis || !t->micro_size)) {
        *why = "its parts run a part of the batch, which has no name in the shapes of the model's "
               "inputs";
        return NULL;
    }
    struct sample_work *w = work_of_parts(of->scene, of->parts, sizes.axis ? &sizes : NULL, a);
    for (uint32_t x = 0; x < npart; x++)
        w->part[x].once = of->places->pass[x] == PART_UPDATE;
    work_mark_sums(w);
    w->share = (struct work_share){pairs_rows(&on, npart), larger(t->micro_size, 1),
                                   larger(t->profiled, 1)};
    return work_slice(w, MOST_INSTANCES / training_count(t), why, a);
}

/* Fills f->part_of: the copies of a part stand one behind the other. */
static void find_parts(struct part_timing *f)
{
    const struct sample_work *w = f->w;
    f->part_of = arena_array(f->a, (size_t)w->npart + 1, sizeof *f->part_of);
    for (uint32_t p = 0; p < w->whole->npart; p++)
        for (uint32_t x = w->first_copy[p]; x < w->first_copy[p + 1]; x++)
            f->part_of[x] = p;
}

struct rhythm rhythm_of_iteration(const struct rhythm_ask *of, struct arena *a)
{
    const struct iteration_run *run = of->verdict->run;
    struct part_timing f = {.run = run, .places = of->places, .a = arena_new(a)};
    struct rhythm y = {.close = true};
    if (iteration_devices(&run->x) != run->x.nplace)
        y.why_not = "devices take turns with a part";
    else
        f.w = slice_work(of, &y.why_not, a);
    if (!y.why_not) {
        find_parts(&f);
        find_first_tasks(&f);
        struct csr list = list_instances(&f);
        y.work = work_unroll(f.w, run->x.micro_batches, &list, &y.why_not, a);
    }
    if (y.work) {
        uint32_t n = y.work->npart;
        int64_t *start = arena_array(a, (size_t)n + 1, sizeof *start);
        int64_t *end = arena_array(a, (size_t)n + 1, sizeof *end);
        for (uint32_t k = 0; k < n; k++)
            find_times(&f, y.work->instance[k], &start[k], &end[k]);
        y.start = start;
        y.end = end;
        int64_t *sent = find_sent_times(&f, y.work, end, a);
        delay_update_parts(&f, y.work, start, end, sent);
        y.sent = sent;
        y.level = arena_array(a, (size_t)n + 1, sizeof(uint32_t));
        y.phase = arena_alloc(a, (size_t)n + 1);
    }
    arena_free(f.a);
    return y;
}
