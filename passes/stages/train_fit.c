/* Makes plans fit memory by the lists of their devices (train_fit() in train.h).
 *
 * While plans are searched, their memory is estimated by sums over stages (iteration_verdict.h); the judge counts the
 * peaks of the lists of an ONNX graph (written_plan.h): also temporary values of passes, gradients of activations, and
 * values that arrive early since stages before are micro-batches ahead.  Where that is more than a device has, the plan
 * is run again with as much of the memory left free by the sums as the lists needed beyond them: then stages do fewer
 * forward passes before their first backward pass, or recompute, where that is needed and nowhere else.  At most eight
 * runs of the judge for a plan; none where an upper limit of the lists fits.  Plans that are searched one after the
 * other differ little: what one lacked is left free for the next. */
#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "passes/stages/train.h"

#include <string.h>

/* Most nodes, and instances of values in micro-batches, of plans that are judged while plans are searched. */
enum { MOST_JUDGED = 400000 };
/* Most times that a plan is run again with less memory. */
enum { TURNS = 3 };
/* Two plans whose times differ by less than 1 / ALIKE count as alike: the memory that one lacks, the other lacks,
 * too. */
enum { ALIKE = 200 };

/* Bytes of all results of a stage's nodes, for the samples that costs are about. */
struct made {
    int64_t forward, backward;
};

/* Returns an array, in a: [stage] the bytes of the results of its nodes. */
static struct made *made_bytes(const struct train *t, const struct stage_layout *p, struct arena *a)
{
    const struct scene *s = &t->x->scene;
    const struct graph *g = &s->m->graph[1];
    struct made *made = arena_array(a, (size_t)p->n + 1, sizeof *made);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE) {
            struct made *stage = &made[p->stage_of[train_layer(t, n)]];
            int64_t *of = s->m->backward[n] ? &stage->backward : &stage->forward;
            *of = sat_add(*of, s->m->cost->own[n]);
        }
    return made;
}

/* Returns an upper limit of what the lists of the devices of stage k have at once: the weights with their copies and
 * gradients; all results of one pass, or of both where values are made again; and the values of the micro-batches under
 * way.  With DAPPLE's schedule a stage is never more than `ahead` micro-batches before its last backward pass: so at
 * most that many values wait behind it, and in front of it at most as many as some stage before it has ahead.  With
 * other schedules all micro-batches that may be under way count, with all their results.  most_before: the largest
 * `ahead` of the stages before k. */
static int64_t most_bytes(const struct train *t, const struct stage_layout *p,
                          const struct stage_sums *sum, const struct made *made, uint32_t k,
                          uint32_t most_before)
{
    const struct scene *s = &t->x->scene;
    const struct training *m = &s->model.training;
    bool dapple = m->schedule == TRAINING_DAPPLE;
    int64_t both = sat_add(made[k].forward, made[k].backward);
    int64_t pass = p->recompute[k] ? both : larger(made[k].forward, made[k].backward);
    int64_t behind = sat_add(sum[k].send, sum[k].send_back), before = 0;
    if (k > 0)
        before = sat_add(sum[k - 1].send, sum[k - 1].send_back);
    int64_t kept = sat_add(behind, dapple ? sum[k].stored : both);
    int64_t values = sat_add(sat_mul(kept, dapple ? p->ahead[k] : training_count(m)),
                             sat_mul(before, dapple ? most_before : training_count(m)));
    values = sat_add(pass, values);
    /* two copies more than training keeps, and constants twice, to be sure that this is an upper limit */
    int64_t copies = 2 + exec_weight_copies(&s->model, /*training=*/true);
    int64_t weights = sat_add(sat_mul(sum[k].parameter, copies), sat_mul(sum[k].constant, 2));
    uint32_t places = p->places ? p->places : p->n;
    uint32_t slices =
        m->schedule == TRAINING_PIPEDREAM ? 1 : servers_devices(&t->servers, &p->set[k % places]);
    return sat_add(sat_add(weights, m->workspace), training_share(m, values, slices));
}

/* Returns whether the lists of the plan may not fit an accelerator's memory.  If not, the plan fits, whatever its lists
 * are. */
static bool is_memory_short(const struct train *t, const struct stage_layout *p)
{
    const struct scene *s = &t->x->scene;
    uint32_t places = p->places ? p->places : p->n;
    int64_t memory = s->cluster->cls[cluster_main_class(s->cluster)].memory;
    if (memory < 0)
        return false;
    struct arena *own = arena_new(t->x->use.scratch);
    const struct stage_sums *sum = train_sums(t, p, own);
    const struct made *made = made_bytes(t, p, own);
    int64_t *place = arena_array(own, places, sizeof *place);
    uint32_t most_before = 0;
    bool is_short = false;
    for (uint32_t k = 0; k < p->n; k++) {
        int64_t *of = &place[k % places];
        *of = sat_add(*of, most_bytes(t, p, sum, made, k, most_before));
        most_before = larger_u32(most_before, p->ahead[k]);
        is_short = is_short || *of > memory;
    }
    arena_free(own);
    return is_short;
}

/* Returns whether the judge accepts plan p; if not, sets p->why_not and t->refused.  Writes to beyond[place] how many
 * bytes the lists of the place's devices need beyond the sums of its stages.  Adds the effort to t->judged. */
static bool holds(struct train *t, struct stage_layout *p, int64_t *beyond)
{
    struct arena *own = arena_new(t->x->use.scratch);
    const struct plan *plan = train_plan(t, p, own);
    struct evaluation e = plan_evaluate(&t->x->scene, plan, own);
    const struct iteration_run *run = e.v.run;
    uint32_t lane = 0; /* the first lane of place k */
    for (uint32_t k = 0; run && k < run->x.nplace; k++) {
        uint32_t dev = plan->stages->device.to[plan->stages->device.at[k]];
        beyond[k] = larger(e.v.load[dev].used - run->t.peak[lane], 0);
        lane += iteration_turns(&run->x, k);
    }
    p->why_not = e.why_not ? arena_strdup(t->x->use.scratch, e.why_not, strlen(e.why_not)) : NULL;
    t->judged += t->x->scene.m->nnode;
    /* about a quarter of the values crosses */
    t->judged +=
        (uint64_t)(t->values.n + t->gradients.n) / 4 * training_count(&t->x->scene.model.training);
    arena_free(own);
    t->refused = t->refused || p->why_not;
    return p->why_not == NULL;
}

/* Runs the plan again, such that the sums of each place leave beyond[place] bytes of the place's memory free, and
 * writes it to *q.  Returns whether it takes less than `limit` ps, and fits the memory by the sums. */
static bool run_within(const struct train *t, const struct stage_layout *p, const int64_t *beyond,
                       int64_t limit, struct stage_layout *q)
{
    struct train u = *t;
    u.beyond = beyond;
    *q = *p;
    q->ahead = NULL;
    q->recompute = NULL;
    train_try(&u, q);
    return q->value < limit;
}

/* Runs plan p again, up to TURNS times, with more and more memory left free by the sums, until the judge accepts the
 * plan.  left: [place] bytes left free at first, raised to those that the lists of the plans needed beyond the sums;
 * beyond: [place], set to those of the last plan alone.  Writes the last plan to *q.  Returns whether it is accepted;
 * it takes less than `limit` ps then. */
static bool run_until_held(struct train *t, const struct stage_layout *p, int64_t limit,
                           int64_t *left, int64_t *beyond, struct stage_layout *q)
{
    uint32_t places = p->places ? p->places : p->n;
    bool good = false;
    for (uint32_t turn = 0; turn < TURNS && !good && run_within(t, p, left, limit, q); turn++) {
        good = holds(t, q, beyond);
        for (uint32_t k = 0; k < places; k++)
            left[k] = larger(left[k], beyond[k]);
    }
    return good;
}

/* Whether a plan of `value` ps under settings m is like *last, the last plan on as many places that the judge refused
 * because of its memory. */
static bool is_like_refused(const struct refusal *last, const struct training *m, int64_t value)
{
    int64_t apart = value > last->value ? value - last->value : last->value - value;
    return last->lacked && last->schedule == m->schedule && last->micro_size == m->micro_size &&
           last->micro_batches == m->micro_batches && apart <= last->value / ALIKE;
}

/* Notes that the judge has refused a plan of `value` ps under settings m.  beyond: [place] bytes that the lists of this
 * plan, or of plans made from it, need beyond the sums. */
static void note_refusal(const struct train *t, const struct training *m, int64_t value,
                         const int64_t *beyond, uint32_t places)
{
    struct refusal *last = &t->refusal[places];
    int64_t *lacked = last->lacked;
    if (!lacked)
        lacked = arena_array(t->refusals, places, sizeof *lacked);
    memcpy(lacked, beyond, places * sizeof *beyond);
    *last = (struct refusal){.lacked = lacked,
                             .value = value,
                             .schedule = m->schedule,
                             .micro_size = m->micro_size,
                             .micro_batches = m->micro_batches};
}

/* Makes the plan, which takes less than `limit` ps by the sums, fit the memory by the judge's count, as train_fit()
 * does.  early: a plan that is like the last refused one on as many places is not judged by itself: what that one
 * lacked is left free at once.  If no plan was found before, and this one does not fit, tries it with what needs least
 * memory: all stages recompute, and none runs ahead. */
static void fit(struct train *t, struct stage_layout *p, int64_t limit, bool early)
{
    if (!t->x->scene.m->ir_version || !is_memory_short(t, p))
        return;
    struct training *m = &t->x->scene.model.training;
    uint32_t places = p->places ? p->places : p->n;
    const struct refusal *last = &t->refusal[places];
    bool alike = early && is_like_refused(last, m, p->value);
    struct arena *own = arena_new(t->x->use.scratch);
    int64_t *left = arena_array(own, places, sizeof *left);
    int64_t *beyond = arena_array(own, places, sizeof *beyond);
    struct stage_layout q = *p, more;
    if (alike) {
        memcpy(left, last->lacked, places * sizeof *left);
    } else if (holds(t, p, left)) {
        arena_free(own);
        return;
    }
    memcpy(beyond, left, places * sizeof *left);
    bool good = run_until_held(t, p, limit, left, beyond, &q);
    if (!good && t->accepted == INT64_MAX) {
        const struct training own_settings = *m;
        if (m->recompute == RECOMPUTE_AUTO)
            m->recompute = RECOMPUTE_ALL;
        if (m->warm_up == WARM_UP_BEST)
            m->warm_up = 1;
        memset(left, 0, places * sizeof *left);
        good = run_until_held(t, p, limit, left, beyond, &q);
        *m = own_settings;
    }
    if (!alike)
        note_refusal(t, m, p->value, beyond, places);
    /* the lists of the accepted plan may need less than was left free for them: then a faster plan may fit */
    if (good && run_within(t, p, beyond, q.value, &more) && holds(t, &more, beyond))
        q = more;
    if (good) {
        *p = q;
    } else {
        p->value = INT64_MAX;
        p->why_not = p->why_not ? p->why_not : q.why_not;
    }
    arena_free(own);
}

/* Calls fit() if the plan takes less than `limit` ps, and lowers t->accepted to the value of a plan that fits. */
static void fit_below(struct train *t, struct stage_layout *p, int64_t limit, bool early)
{
    if (p->value >= limit)
        return;
    fit(t, p, limit, early);
    t->accepted = smaller(t->accepted, p->value);
}

void train_fit(struct train *t, struct stage_layout *p, int64_t limit)
{
    fit_below(t, p, limit, /*early=*/false);
}

void train_fit_anew(struct train *t)
{
    t->accepted = INT64_MAX;
    t->judged = 0;
    memset(t->refusal, 0, ((size_t)t->servers.ndev + 1) * sizeof *t->refusal);
}

void train_fit_early(struct train *t, struct stage_layout *p, int64_t limit)
{
    if (p->value >= t->accepted)
        return; /* a plan of other settings is faster, and fits */
    /* memory is tight: a plan that the judge has accepted is better than a plan that may not fit */
    bool tight = t->refused && limit < INT64_MAX;
    /* late in the search only plans that are clearly faster are worth a run of the judge */
    bool late = t->judged >= MOST_JUDGED / 2, little = p->value >= limit - limit / ALIKE;
    if (t->judged < MOST_JUDGED && !(tight && late && little) && !clock_out(&t->clock))
        fit_below(t, p, limit, /*early=*/true);
    else if (tight)
        p->value = INT64_MAX;
}
