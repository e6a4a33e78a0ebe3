/* Makes plans fit memory by the lists of their devices (train_fit() in train.h).
 *
 * While plans are searched, their memory is estimated by sums over stages (iteration_verdict.h); the judge also
 * counts what the lists of an ONNX graph come to (written_plan.h): gradients of activations, and values that come
 * early since stages before are micro-batches ahead.  Where that is more than a device has, stages do fewer forward
 * passes before their first backward pass, once with the stages recomputing that recompute by the sums, once with
 * all stages recomputing; the faster plan is kept.  O(log(forward passes ahead)) runs of the plan and of the judge;
 * where the plan is no better than one that there is, of the judge once or twice. */
#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "passes/stages/train.h"

#include <string.h>

/* Most nodes, and instances of values in micro-batches, of plans that are judged while plans are searched. */
enum { MOST_JUDGED = 400000 };

/* Returns the bytes of the values of `spans` that go from stage to stage under plan p, for the samples that costs are
 * about. */
static int64_t crossing_bytes(const struct stage_layout *p, const struct layer_spans *spans)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < spans->n; i++)
        if (p->stage_of[spans->span[i].from] != p->stage_of[spans->span[i].to])
            bytes = sat_add(bytes, spans->span[i].amount);
    return bytes;
}

/* Returns the bytes that the nodes of a place need at once if each node keeps what it makes: the most over all
 * places. */
static int64_t largest_place(const struct train *t, const struct stage_layout *p, struct arena *a)
{
    const struct scene *s = &t->x->scene;
    const struct graph *g = &s->m->graph[1];
    uint32_t places = p->places ? p->places : p->n;
    int64_t *own = arena_array(a, places, sizeof *own), most = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (s->place->kind[n] != PLACE_NODE)
            continue;
        int64_t *of = &own[p->stage_of[train_layer(t, n)] % places];
        *of = sat_add(*of, s->m->cost->own[n]);
        most = larger(*of, most);
    }
    return most;
}

/* Returns true if only the judge can tell whether the plan fits the accelerators, false if it surely fits, whatever the
 * lists of its devices are.  It surely fits if an accelerator has memory for all weights with their copies; all that
 * the largest place makes, twice, since its values may be made again; and all values between stages, for as many
 * micro-batches as there are at once. */
static bool is_memory_short(const struct train *t, const struct stage_layout *p)
{
    const struct scene *s = &t->x->scene;
    const struct training *m = &s->model.training;
    struct arena *own = arena_new(t->x->use.scratch);
    int64_t memory = s->cluster->cls[cluster_main_class(s->cluster)].memory, weights = 0;
    int64_t values = sat_mul(2, largest_place(t, p, own));
    /* the most forward passes that a stage does before its first backward pass */
    uint32_t ahead = 0;
    for (uint32_t k = 0; k < p->n; k++)
        ahead = larger_u32(p->ahead[k], ahead);
    for (uint32_t i = 0; i < s->place->nweight; i++)
        weights = sat_add(weights, s->place->weight_bytes[i]);
    values = sat_add(values, crossing_bytes(p, &t->values));
    values = sat_add(values, crossing_bytes(p, &t->gradients));
    values = sat_mul(training_share(m, values, 1), smaller_u32(ahead + p->n, training_count(m)));
    weights = sat_mul(weights, 2 + exec_weight_copies(&s->model, /*training=*/true));
    arena_free(own);
    return memory >= 0 && memory < sat_add(values, sat_add(weights, m->workspace));
}

/* Returns whether the judge accepts plan p; if not, sets p->why_not.  Adds the effort to t->judged. */
static bool holds(struct train *t, struct stage_layout *p)
{
    struct arena *own = arena_new(t->x->use.scratch);
    struct evaluation e = plan_evaluate(&t->x->scene, train_plan(t, p, own), own);
    p->why_not = e.why_not ? arena_strdup(t->x->use.scratch, e.why_not, strlen(e.why_not)) : NULL;
    t->judged += t->x->scene.m->nnode;
    /* about a quarter of the values crosses */
    t->judged +=
        (uint64_t)(t->values.n + t->gradients.n) / 4 * training_count(&t->x->scene.model.training);
    arena_free(own);
    t->refused = t->refused || p->why_not;
    return p->why_not == NULL;
}

/* Runs the plan with at most `ahead` forward passes before the first backward pass of a stage, and writes it to *q.
 * Returns whether it takes less than `limit` ps, and fits the memory by the sums. */
static bool run_ahead(const struct train *t, const struct stage_layout *p, uint32_t ahead,
                      int64_t limit, struct stage_layout *q)
{
    struct train u = *t;
    u.most_ahead = ahead;
    *q = *p;
    q->ahead = NULL;
    q->recompute = NULL;
    train_try(&u, q);
    return q->value < limit;
}

/* Writes the plan with the most forward passes ahead that the judge accepts to *best, by bisection.  Returns false
 * if no such plan takes less than `limit` ps.  More passes ahead take less time, as a rule, and more memory. */
static bool find_ahead(struct train *t, const struct stage_layout *p, int64_t limit,
                       struct stage_layout *best)
{
    uint32_t most = 1, slow = 0;
    struct stage_layout q;
    for (uint32_t k = 0; k < p->n; k++)
        most = larger_u32(p->ahead[k], most);
    uint32_t low = most, high = most;
    /* finds the fewest passes that are fast enough, `low`; with `slow` passes the plan is too slow */
    while (slow + 1 < low) {
        uint32_t mid = slow + (low - slow) / 2;
        if (run_ahead(t, p, mid, limit, &q))
            low = mid;
        else
            slow = mid;
    }
    if (!run_ahead(t, p, low, limit, best) || !holds(t, best))
        return false;
    while (low + 1 < high) { /* `low` passes ahead fit the memory, `high` do not */
        uint32_t mid = low + (high - low) / 2;
        if (run_ahead(t, p, mid, limit, &q) && holds(t, &q)) {
            low = mid;
            *best = q;
        } else {
            high = mid;
        }
    }
    return true;
}

void train_fit(struct train *t, struct stage_layout *p, int64_t limit)
{
    struct training *m = &t->x->scene.model.training;
    bool settles = m->schedule == TRAINING_DAPPLE || m->schedule == TRAINING_ZB_H1;
    if (p->value >= limit || !t->x->scene.m->ir_version || !is_memory_short(t, p) || holds(t, p))
        return;
    struct stage_layout best = *p, q;
    best.value = INT64_MAX;
    if (settles && find_ahead(t, p, limit, &q))
        best = q;
    if (settles && m->recompute == RECOMPUTE_AUTO) { /* once more, with all stages recomputing */
        m->recompute = RECOMPUTE_ALL;
        if (find_ahead(t, p, smaller(limit, best.value), &q))
            best = q;
        m->recompute = RECOMPUTE_AUTO;
    }
    *p = best;
}

void train_fit_early(struct train *t, struct stage_layout *p, int64_t limit)
{
    if (t->judged < MOST_JUDGED && !clock_out(&t->clock))
        train_fit(t, p, limit);
    /* memory is tight: a plan that the judge has accepted is better than one that may not fit */
    else if (t->refused && limit < INT64_MAX)
        p->value = INT64_MAX;
}
