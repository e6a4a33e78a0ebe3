/* The schedule of a split: schedule.json.
 *
 * The execution model says when each part runs (exec_runs.rhythm); schedule_make() turns that into lists of
 * instructions (schedule.h).  Memory and queues are computed for as many samples in flight as there can be at one
 * time, or for fewer if the memory of a device is too small for so many. */
#include "backends/split/split.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"
#include "ir/plan/update_pass.h"

#include <string.h>

/* Returns the number of samples that run at the same time by --in-flight; 0: the option is not given, or the execution
 * model runs one sample alone. */
static uint32_t in_flight_of(const struct split *s)
{
    const struct exec_model *e = &s->r->scene.model;
    return exec_kind(e)->feed == FEED_ALONE ? 0 : e->in_flight;
}

/* Sets s->schedule->in_flight to the user's number; if the user gave none, to the usual number of samples, halved until
 * the memory of all devices suffices.  Checks the schedule for that number by schedule_prove(), which also sets the
 * schedule's queues and peaks of memory.  Returns NULL, or why the schedule is wrong. */
static const char *choose_in_flight(struct split *s)
{
    struct schedule *e = s->schedule;
    e->in_flight = in_flight_of(s) ? in_flight_of(s) : schedule_usual_samples(e);
    const char *why = schedule_prove(e->work, e, s->a);
    while (!why && !in_flight_of(s) && e->in_flight > 1 && schedule_fits(e->work, e, s->a)) {
        e->in_flight /= 2;
        why = schedule_prove(e->work, e, s->a);
    }
    return why;
}

/* Returns the end of a note that the in_flight samples of the schedule do not fit into the memory: "; with
 * --in-flight=2 it does", with the largest number that fits; "" if not even one sample fits.  The schedule stays as it
 * was. */
static const char *fewer_samples(const struct split *s)
{
    struct schedule e = *s->schedule;
    uint32_t fits = 0, less = e.in_flight;
    e.queue = arena_array(s->a, (size_t)e.nlane + 1, sizeof *e.queue);
    e.peak = arena_array(s->a, (size_t)e.work->ndev + 1, sizeof *e.peak);
    while (fits + 1 < less) { /* bisection: `fits` samples fit, `less` samples do not */
        e.in_flight = fits + (less - fits) / 2;
        if (schedule_prove(e.work, &e, s->a) || schedule_fits(e.work, &e, s->a))
            less = e.in_flight;
        else
            fits = e.in_flight;
    }
    return fits ? arena_fmt(s->a, "; with --in-flight=%u it does", fits) : "";
}

/* Replaces s->r by a copy in which the memory of each device is the peak that the schedule needs.  The plan has another
 * figure only if the folder has other parts than the plan: calls of functions were open while planning, or --cut makes
 * other parts. */
static void take_memory(struct split *s)
{
    struct result *r = arena_alloc(s->a, sizeof *r);
    struct verdict *v = arena_alloc(s->a, sizeof *v);
    uint32_t ndev = s->r->scene.cluster->ndev;
    *r = *s->r;
    *v = *s->r->verdict;
    v->load = arena_array(s->a, (size_t)ndev + 1, sizeof *v->load);
    memcpy(v->load, s->r->verdict->load, ndev * sizeof *v->load);
    for (uint32_t d = 0; d < ndev; d++)
        v->load[d].used = s->schedule->peak[d];
    r->verdict = v;
    s->r = r;
}

/* Checks that the updates of weights have parts of their own, if the execution model wants that.  Where the model does
 * not allow it: reports an error and returns -1 if the user has asked for it, or named gradients, next values or a
 * loss; else shows a note and returns 0. */
static int check_updates(const struct split *s)
{
    const struct scene *of = &s->r->scene;
    const struct staged_plan planned = {of, s->r->plan, s->r->verdict->stages};
    const struct training *t = &of->model.training;
    if (planned.stages && t->update == UPDATE_APART && t->schedule == TRAINING_PIPEDREAM)
        return diag_error(s->diag,
                          "--update=apart: --schedule=pipedream keeps versions of weights, so that "
                          "no step is one of the whole batch: plan with --schedule=dapple, gpipe, "
                          "zb-h1 or interleaved");
    if (!planned.stages || !update_pass_wanted(of))
        return 0;
    const char *why = update_pass_find(&planned, plan_stage_of(&planned, s->a), s->a).why;
    if (why && (t->ngradient || t->nnext || t->loss))
        return diag_error(s->diag, "%s", why);
    if (why && t->update == UPDATE_APART)
        return diag_error(s->diag, "--update=apart: %s", why);
    if (why)
        diag_note(s->diag, "updates stay within the parts that make gradients: %s", why);
    return 0;
}

int split_schedule(struct split *s)
{
    if (check_updates(s))
        return -1;
    const uint32_t *copies = s->r->plan->copies;
    s->work = work_of_parts(&s->r->scene, s->parts, /*slices=*/NULL, s->a);
    for (uint32_t d = 0; copies && d < s->work->ndev; d++)
        if (copies[d] > 1)
            s->no_schedule = "devices take turns with a part";
    const struct staged_plan planned = {&s->r->scene, s->r->plan, s->r->verdict->stages};
    if (planned.stages && !part_places_find(&s->places, &planned, s->parts, s->work, s->a)) {
        s->no_schedule = "a part is of several stages, or of none";
        s->places = (struct part_places){0};
    }
    if (s->no_schedule)
        return 0;
    if (planned.stages && in_flight_of(s))
        return diag_error(s->diag,
                          "--in-flight=%u: an iteration has its micro-batches: "
                          "--micro-batches",
                          in_flight_of(s));
    const struct rhythm_ask ask = {.scene = &s->r->scene,
                                   .plan = s->r->plan,
                                   .verdict = s->r->verdict,
                                   .parts = s->parts,
                                   .work = s->work,
                                   .places = &s->places};
    struct rhythm y = exec_kind(&s->r->scene.model)->runs->rhythm(&ask, s->a);
    s->no_schedule = y.why_not;
    if (y.work) {
        s->schedule = schedule_make(y.work, &y, s->a);
        s->no_schedule = choose_in_flight(s);
    }
    if (s->no_schedule && in_flight_of(s))
        return diag_error(s->diag, "--in-flight=%u: %s", in_flight_of(s), s->no_schedule);
    const char *why = s->no_schedule ? s->no_schedule : schedule_fits(y.work, s->schedule, s->a);
    if (why) {
        /* what would help a schedule that does not fit, or why such a schedule does not fit */
        const char *more = "";
        if (!s->no_schedule && in_flight_of(s))
            more = fewer_samples(s);
        else if (!s->no_schedule)
            more = "; parts keep what they read and make to their end, which the plan does not "
                   "count";
        diag_note(s->diag, SCHEDULE_FILE ": %s%s", why, more);
    }
    if (s->no_schedule)
        s->schedule = NULL;
    else if (exec_live_parts(&s->r->scene.model))
        take_memory(s);
    return 0;
}

int schedule_write(const struct split *s)
{
    struct split_file f;
    if (!s->schedule)
        return 0;
    if (split_file_open(&f, s, SCHEDULE_FILE))
        return -1;
    schedule_put(f.f, s->schedule->work, s->schedule);
    return split_file_close(&f);
}
