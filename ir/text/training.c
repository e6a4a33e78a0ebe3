/* How plans run in the textual IR: batches and schedule of an iteration of training beside the cluster, stages and
 * slots within a plan (grammar: text.md).  O(text). */
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <string.h>

static const char *const warm_up_name[] = {"best", "pa", "pb", NULL};

/* '=' and a number. */
static int take_number(struct parser *p, int64_t least, int64_t most, int64_t *out)
{
    return text_want(p, '=', "'='") < 0 ? -1 : text_int(p, least, most, out, "a number");
}

static int take_warm_up(struct parser *p, struct training *t)
{
    int64_t n;
    if (text_want(p, '=', "'='") < 0)
        return -1;
    for (int i = 0; warm_up_name[i]; i++)
        if (text_take_word(p, warm_up_name[i])) {
            t->warm_up = (enum warm_up)i;
            return 0;
        }
    if (text_int(p, 1, UINT32_MAX, &n, "best, pa, pb or a number") < 0)
        return -1;
    t->warm_up = WARM_UP_COUNT;
    t->warm_up_count = (uint32_t)n;
    return 0;
}

int text_training(struct parser *p)
{
    struct training *t = &p->model.training;
    int64_t n = 0;
    uint32_t word = 0;
    int rc = 0;
    if (text_take_word(p, "micro_batches")) {
        rc = take_number(p, 1, TRAINING_MICRO_BATCHES, &n);
        t->micro_batches = (uint32_t)n;
    } else if (text_take_word(p, "micro_size")) {
        rc = take_number(p, 1, UINT32_MAX, &t->micro_size);
    } else if (text_take_word(p, "profiled")) {
        rc = take_number(p, 1, UINT32_MAX, &t->profiled);
    } else if (text_take_word(p, "training")) {
        rc = text_choice(p, training_schedule_name, &word);
        t->schedule = (enum training_schedule)(rc < 0 ? 0 : word);
    } else if (text_take_word(p, "recompute")) {
        rc = text_choice(p, recompute_name, &word);
        t->recompute = (enum recompute)(rc < 0 ? 0 : word);
    } else if (text_take_word(p, "reduce_when")) {
        rc = text_choice(p, reduce_when_name, &word);
        t->reduce_when = (enum reduce_when)(rc < 0 ? 0 : word);
    } else if (text_take_word(p, "warm_up")) {
        rc = take_warm_up(p, t);
    } else if (text_take_word(p, "workspace")) {
        rc = take_number(p, 0, INT64_MAX, &t->workspace);
    } else if (text_take_word(p, "weight_share")) {
        rc = take_number(p, 1, 1000000, &t->weight_share);
    } else if (text_take_word(p, "per_device")) {
        rc = take_number(p, 1, UINT32_MAX, &n);
        t->per_device = (uint32_t)n;
    } else if (text_take_word(p, "half_duplex")) {
        t->half_duplex = true;
    } else if (text_take_word(p, "any_slices")) {
        t->any_slices = true;
    } else if (text_take_word(p, "own_reduce_lane")) {
        t->own_reduce_lane = true;
    } else {
        return 0;
    }
    return rc < 0 ? -1 : 1;
}

void text_put_training(const struct printer *p, const struct training *t)
{
    FILE *f = p->f;
    if (t->micro_batches)
        fprintf(f, " micro_batches=%u", t->micro_batches);
    if (t->micro_size)
        fprintf(f, " micro_size=%lld profiled=%lld", (long long)t->micro_size,
                (long long)t->profiled);
    if (t->schedule)
        fprintf(f, " training=\"%s\"", training_schedule_name[t->schedule]);
    if (t->per_device)
        fprintf(f, " per_device=%u", t->per_device);
    if (t->warm_up == WARM_UP_COUNT)
        fprintf(f, " warm_up=%u", t->warm_up_count);
    else if (t->warm_up)
        fprintf(f, " warm_up=%s", warm_up_name[t->warm_up]);
    if (t->recompute)
        fprintf(f, " recompute=%s", recompute_name[t->recompute]);
    if (t->reduce_when)
        fprintf(f, " reduce_when=%s", reduce_when_name[t->reduce_when]);
    if (t->workspace)
        fprintf(f, " workspace=%lld", (long long)t->workspace);
    if (t->weight_share)
        fprintf(f, " weight_share=%lld", (long long)t->weight_share);
    fprintf(f, "%s%s%s", t->half_duplex ? " half_duplex" : "", t->any_slices ? " any_slices" : "",
            t->own_reduce_lane ? " own_reduce_lane" : "");
}

/* ---- slots --------------------------------------------------------------------------------------- */

int text_slot(struct parser *p, struct plan *plan, nid n)
{
    int64_t slot = 0;
    if (!text_take_word(p, "slot"))
        return 0;
    if (take_number(p, 1, SLOTS_MOST, &slot) < 0)
        return -1;
    if (!plan->slot)
        plan->slot = arena_array(p->m->mem, p->m->nnode, sizeof *plan->slot);
    plan->slot[n] = (uint32_t)slot;
    return 0;
}

/* ---- stages ------------------------------------------------------------------------------------- */

/* "[0,1,2 ahead=2 recompute]", as often as there are stages. */
int text_stages(struct parser *p, struct plan *plan)
{
    struct stages *s = arena_alloc(p->m->mem, sizeof *s);
    uint32_t ndev = p->cluster ? p->cluster->ndev : 0, cap[4] = {0}, n = 0;
    size_t at = p->tok.at;
    int64_t dev, ahead;
    while (text_take(p, '[')) {
        s->device.at = vec_grow(p->m->mem, s->device.at, &cap[0], s->n + 2, sizeof *s->device.at);
        s->ahead = vec_grow(p->m->mem, s->ahead, &cap[1], s->n + 1, sizeof *s->ahead);
        s->recompute = vec_grow(p->m->mem, s->recompute, &cap[2], s->n + 1, 1);
        do {
            if (text_int(p, 0, (int64_t)ndev - 1, &dev, "the number of a device") < 0)
                return -1;
            s->device.to = vec_grow(p->m->mem, s->device.to, &cap[3], n + 1, sizeof *s->device.to);
            s->device.to[n++] = (uint32_t)dev;
        } while (text_take(p, ','));
        if (!text_take_word(p, "ahead"))
            return text_expected(p, "',' or 'ahead='");
        if (take_number(p, 1, UINT32_MAX, &ahead) < 0)
            return -1;
        s->ahead[s->n] = (uint32_t)ahead;
        s->recompute[s->n] = text_take_word(p, "recompute");
        s->device.at[++s->n] = n;
        if (text_want(p, ']', "']'") < 0)
            return -1;
    }
    if (!s->n)
        return text_expected(p, "'['");
    const char *why = stages_refuse(s, ndev, p->m->mem);
    if (why)
        return text_error(p, at, "%s", why);
    plan->stages = s;
    return 0;
}

int text_placed_stage(struct parser *p, struct plan *plan, nid n)
{
    int64_t stage = 0;
    if (!text_take_word(p, "stage"))
        return 0;
    if (take_number(p, 0, plan->stages ? (int64_t)plan->stages->n - 1 : -1, &stage) < 0)
        return -1;
    if (!plan->stage_of) {
        plan->stage_of = arena_array(p->m->mem, p->m->nnode, sizeof *plan->stage_of);
        memset(plan->stage_of, 0xff, p->m->nnode * sizeof *plan->stage_of);
    }
    plan->stage_of[n] = (int32_t)stage;
    return 0;
}

void text_put_stages(const struct printer *p, const struct stages *s)
{
    text_put(p, " stages");
    for (uint32_t k = 0; k < s->n; k++) {
        for (uint32_t i = s->device.at[k]; i < s->device.at[k + 1]; i++)
            fprintf(p->f, "%s%u", i > s->device.at[k] ? "," : " [", s->device.to[i]);
        fprintf(p->f, " ahead=%u%s]", s->ahead[k], s->recompute[k] ? " recompute" : "");
    }
}
