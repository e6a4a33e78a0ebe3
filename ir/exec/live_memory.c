/* Counts the memory of devices that run whole parts (live_memory.h).
 *
 * The judge makes the schedule of the plan's parts as backends/split does for a folder, so a plan promises the very
 * figure that schedule.json has.  In the steady state a device works on one sample, and holds beside it the values
 * received for the next sample and the values of the sample before that it still sends; a value that is read some
 * rounds after it was made is there once for each of these rounds.  Where one sample is alone, there are no other
 * samples' values, but a device holds the values that its later parts will read from the moment when they are made. */
#include "ir/exec/live_memory.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/work.h"

/* Whether several devices take turns with any stage of the plan. */
static bool takes_turns(const struct rhythm_ask *ask)
{
    const uint32_t *copies = ask->plan->copies;
    for (uint32_t d = 0; copies && d < ask->work->ndev; d++)
        if (copies[d] > 1)
            return true;
    return false;
}

/* Sets two fields of each device's load: `lasting`, the bytes that its parts keep all the time, and `one_sample`, the
 * most bytes that any of its parts reads and makes at one time. */
static void add_parts(const struct sample_work *w, struct verdict *v)
{
    for (uint32_t x = 0; x < w->npart; x++) {
        struct device_load *l = &v->load[w->part[x].dev];
        l->lasting = sat_add(l->lasting, w->part[x].lasting);
        l->one_sample = larger(sat_add(w->part[x].running, work_bytes_in(w, x)), l->one_sample);
    }
}

/* Adds to used[device] the bytes that its parts need where there is no schedule: what lasts, what a part has while it
 * runs, and its inputs.  repeats: samples follow each other; then each part's inputs count twice, for the next
 * sample, and its results that other parts read count once more, for the sample before. */
static void add_without_schedule(const struct sample_work *w, bool repeats, int64_t *used)
{
    for (uint32_t x = 0; x < w->npart; x++) {
        int64_t *to = &used[w->part[x].dev];
        *to = sat_add(*to, sat_add(w->part[x].lasting, w->part[x].running));
        *to = sat_add(*to, sat_mul(repeats ? 2 : 1, work_bytes_in(w, x)));
        for_row (t, w->out, x)
            if (repeats && w->place.at[t + 1] - w->place.at[t] > 1)
                *to = sat_add(*to, w->tensor[t].bytes);
    }
}

void live_memory_count(const struct rhythm_ask *ask, struct rhythm *y, struct verdict *v,
                       struct arena *a)
{
    const struct sample_work *w = ask->work;
    const uint32_t *copies = ask->plan->copies;
    struct schedule *e = schedule_make(w, y, a);
    int64_t *used;
    uint32_t most = ask->scene->model.in_flight;
    e->in_flight = schedule_usual_samples(e);
    if (most)
        e->in_flight = smaller_u32(most, e->in_flight);
    /* schedule_prove() computes e->peak, or returns why there is no such schedule */
    if (takes_turns(ask) || schedule_prove(w, e, a)) {
        used = arena_array(a, (size_t)w->ndev + 1, sizeof *used);
        add_without_schedule(w, y->repeats, used);
    } else {
        used = e->peak;
    }
    add_parts(w, v);
    for (uint32_t d = 0; d < w->ndev; d++) {
        v->load[d].sum = v->load[d].used;
        v->load[d].used = used[d];
        /* devices that take turns with d hold the same parts, and need as much */
        for (uint32_t i = 1; copies && i < copies[d] && d + i < w->ndev; i++) {
            used[d + i] = used[d];
            v->load[d + i].lasting = v->load[d].lasting;
            v->load[d + i].one_sample = v->load[d].one_sample;
        }
    }
}

/* Whether devices have room under plan p for n samples on their way at once. */
static bool fits_with(const struct scene *s, const struct plan *p, uint32_t n, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct scene few = *s;
    few.model.in_flight = n;
    struct evaluation e = plan_evaluate(&few, p, a);
    bool fits = evaluation_holds(&e, /*over_memory=*/false);
    arena_release(a, mark);
    return fits;
}

uint32_t live_memory_samples(const struct scene *s, const struct plan *p, struct arena *a)
{
    /* the number that the scene allows, which is not tried, since only smaller numbers are sought.
     * Without a limit by the user, a million samples stand for any number */
    uint32_t most = s->model.in_flight ? s->model.in_flight : 1U << 20;
    /* fits: a number of samples for which the memory is enough, 0: none known.  less: the next number to try, then the
     * smallest known one that does not fit */
    uint32_t fits = 0, less = 1;
    bool steady = exec_live_parts(&s->model) && exec_kind(&s->model)->feed == FEED_STEADY;
    while (steady && less < most && fits_with(s, p, less, a)) {
        fits = less;
        less = smaller_u32(2 * less, most);
    }
    while (fits && fits + 1 < less) { /* `fits` samples fit, `less` do not or are not tried */
        uint32_t mid = fits + (less - fits) / 2;
        if (fits_with(s, p, mid, a))
            fits = mid;
        else
            less = mid;
    }
    return fits;
}
