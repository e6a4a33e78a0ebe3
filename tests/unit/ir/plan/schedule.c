/* Execution plans: lists of random plans are accepted by the checker and run on the event core with every lane in list
 * order: nothing reads what is not there yet, extra delays make nothing earlier, memory is what the checker proved,
 * queues are never longer.  Every mutation is refused, with a reason.  The part memory is held against its
 * definition. */
#include "ir/exec/events.h"
#include "ir/exec/makespan/step_rhythm.h"
#include "ir/exec/sample/rounds_rhythm.h"
#include "ir/plan/schedule_check.h"
#include "tests/support/graphs.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PLANS = SANITIZED ? 200 : 1000, MAX_OPS = 20, MUTATIONS = 12 };

static void quiet(void *to, enum diag_level level, enum warning w, const char *text)
{
    (void)to;
    (void)level;
    (void)w;
    (void)text;
}

/* ---- random plans ------------------------------------------------------------------------------- */

struct made {
    struct arena *a;
    struct text_module t;
    struct scene of;
    struct diag d;
    struct parts *parts;
    struct sample_work *w;
    struct schedule *s;
    bool repeats;
    /* without rounds: how long parts and ways (tensor * (ndev + 1) + device) take, and when parts start then */
    int64_t *time, *way, *start;
};

static void draw_module(FILE *f, uint64_t *rng)
{
    uint32_t nop = 1 + test_below(rng, MAX_OPS), nin = test_below(rng, 3),
             dense = 5 + test_below(rng, 30);
    uint32_t forward = test_below(rng, 2) ? nop : test_below(rng, nop + 1);
    fprintf(f, "class acc x%u\nclass cpu x1 host\ngraph {\n", 1 + test_below(rng, 3));
    for (uint32_t i = 0; i < nin; i++)
        fprintf(f, "  in %%x%u : ? !bytes=%uB\n", i, 1 + test_below(rng, 20));
    for (uint32_t i = 0; i < nop; i++) {
        const char *comma = "";
        fprintf(f, "  %%v%u = profile:op(", i);
        for (uint32_t j = 0; j < i + nin; j++)
            if (test_below(rng, 100) < dense) {
                fprintf(f, "%s%%%c%u", comma, j < i ? 'v' : 'x', j < i ? j : j - i);
                comma = ", ";
            }
        fprintf(f, ") : ? !bytes=%uB !time=[1ps,1ps]", test_below(rng, 30));
        if (test_below(rng, 2))
            fprintf(f, " !own=%uB", test_below(rng, 60));
        fprintf(f, "%s\n", i >= forward ? " !backward" : "");
    }
    for (uint32_t i = 0; i < nop; i++)
        if (test_below(rng, 4) == 0)
            fprintf(f, "  out %%v%u\n", i);
    fprintf(f, "}\n");
}

/* Sends a tensor to wherever it is wanted, as far as dev (NONE: all) is: a device's lane does one after the other. */
static void send(struct made *k, uint32_t t, uint32_t dev, int64_t *free, int64_t *came)
{
    const struct sample_work *w = k->w;
    uint32_t home = w->place.to[w->place.at[t]];
    for (uint32_t i = w->place.at[t] + 1; i < w->place.at[t + 1]; i++) {
        uint32_t to = w->place.to[i];
        if (dev != UINT32_MAX && to != dev)
            continue;
        free[home] += k->way[t * (w->ndev + 1) + to];
        came[t * (w->ndev + 1) + to] = free[home];
    }
}

/* Random times, and what comes of them if room is never wanting: parts and transfers in their order. */
static struct rhythm make_step(struct made *k, uint64_t *rng)
{
    const struct sample_work *w = k->w;
    uint32_t ways = w->ntensor * (w->ndev + 1);
    int64_t *busy = arena_array(k->a, w->ndev + 1, sizeof *busy);
    int64_t *free = arena_array(k->a, w->ndev + 1, sizeof *free);
    int64_t *came = arena_array(k->a, ways + 1, sizeof *came);
    int64_t *end = arena_array(k->a, w->npart + 1, sizeof *end);
    int64_t *sent = arena_array(k->a, w->ntensor + 1, sizeof *sent);
    uint32_t long_ways = 1 + test_below(rng, 60);
    k->time = arena_array(k->a, w->npart + 1, sizeof *k->time);
    k->start = arena_array(k->a, w->npart + 1, sizeof *k->start);
    k->way = arena_array(k->a, ways + 1, sizeof *k->way);
    for (uint32_t i = 0; i < ways; i++)
        k->way[i] = test_below(rng, 3) ? test_below(rng, long_ways) : 0;
    for (uint32_t x = 0; x < w->npart; x++) {
        uint32_t dev = w->part[x].dev;
        k->time[x] = test_below(rng, 4) ? test_below(rng, 50) : 0;
        for (uint32_t t = 0; t < w->ntensor; t++)
            for (uint32_t i = w->in.at[x]; i < w->in.at[x + 1]; i++)
                if (w->in.to[i] == t && w->tensor[t].from == w->npart &&
                    !came[t * (w->ndev + 1) + dev])
                    send(k, t, dev, free, came);
        k->start[x] = busy[dev];
        for (uint32_t i = w->in.at[x]; i < w->in.at[x + 1]; i++) {
            int64_t at = came[w->in.to[i] * (w->ndev + 1) + dev];
            k->start[x] = at > k->start[x] ? at : k->start[x];
        }
        end[x] = busy[dev] = k->start[x] + k->time[x];
        free[dev] = free[dev] > end[x] ? free[dev] : end[x];
        for (uint32_t to = 0; to <= w->ndev; to++)
            for (uint32_t i = w->out.at[x]; i < w->out.at[x + 1]; i++)
                send(k, w->out.to[i], to, free, came);
        for (uint32_t i = w->out.at[x]; i < w->out.at[x + 1]; i++)
            for (uint32_t to = 0; to <= w->ndev; to++) {
                int64_t at = came[w->out.to[i] * (w->ndev + 1) + to];
                sent[w->out.to[i]] = at > sent[w->out.to[i]] ? at : sent[w->out.to[i]];
            }
    }
    return (struct rhythm){.level = arena_array(k->a, w->npart + 1, sizeof(uint32_t)),
                           .phase = arena_alloc(k->a, w->npart + 1),
                           .start = k->start,
                           .end = end,
                           .sent = sent};
}

/* A random module, cut by a random plan, and its lists: of rounds, or of one step. */
static void make(struct made *k, uint64_t *rng)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    draw_module(f, rng);
    fclose(f);
    memset(k, 0, sizeof *k);
    k->d.emit = quiet;
    if (module_parse(&k->t, &(struct named_text){"random", text, size, NULL}, NULL, &k->d))
        fail_msg("does not parse:\n%s", text);
    free(text);
    k->a = k->t.scene.m->mem;
    k->of = k->t.scene;
    k->of.place = place_build(k->of.m, NULL, 0, k->a, &k->d);
    assert_non_null(k->of.place);
    struct scene *of = &k->of;
    of->model.overlap = (enum overlap)test_below(rng, OVERLAPS);
    of->model.training.schedule = test_below(rng, 2) ? TRAINING_GPIPE : TRAINING_DAPPLE;
    int32_t *dev = arena_array(k->a, of->m->nnode, sizeof *dev);
    uint32_t use = 1 + test_below(rng, of->cluster->ndev), stay = test_below(rng, 70);
    for (nid n = 1; n < of->m->nnode; n++) /* stretches, or any shape */
        dev[n] = test_below(rng, 100) < stay && n > 1 ? dev[n - 1] : (int32_t)test_below(rng, use);
    k->parts = parts_build(of, dev, k->a);
    k->w = work_of_parts(of, k->parts, NULL, k->a);
    struct rhythm y =
        rhythm_of_rounds(&(struct rhythm_ask){.scene = of, .parts = k->parts, .work = k->w}, k->a);
    if (test_below(rng, 4) == 0)
        y = make_step(k, rng);
    k->repeats = y.repeats;
    k->s = schedule_make(k->w, &y, k->a);
    k->s->in_flight = 1 + test_below(rng, 6);
}

/* ---- running lists on the event core --------------------------------------------------------- */

struct replayed {
    const struct sample_work *w;
    const struct schedule *s;
    struct task_graph g;
    uint32_t *item, *sample; /* [task] */
    uint32_t *task;          /* [item * in_flight + sample] */
    uint32_t *waits, *on, nwait;
};

static uint32_t find_item(const struct replayed *r, uint32_t lane, enum do_kind kind, uint32_t what,
                          uint32_t other)
{
    for (uint32_t i = r->s->at[lane]; i < r->s->at[lane + 1]; i++)
        if (r->s->item[i].kind == kind && r->s->item[i].what == what &&
            (kind != DO_SEND || r->s->item[i].other == other))
            return i;
    fail_msg("an instruction is not there");
    return 0;
}

static void wait_for(struct replayed *r, uint32_t task, uint32_t item)
{
    r->waits[r->nwait] = task;
    r->on[r->nwait++] = r->task[item * r->s->in_flight + r->sample[task]];
}

/* What a task waits for, by the rules of schedule.h. */
static void add_waits(struct replayed *r, uint32_t task, uint32_t lane)
{
    const struct sample_work *w = r->w;
    const struct instruction *i = &r->s->item[r->item[task]];
    uint32_t n = w->ndev, t = i->what;
    if (i->kind == DO_COMPUTE) {
        for (uint32_t k = w->in.at[t]; k < w->in.at[t + 1]; k++) {
            uint32_t home = w->place.to[w->place.at[w->in.to[k]]];
            if (home != lane)
                wait_for(r, task, find_item(r, lane_recv(n, lane, home), DO_RECV, w->in.to[k], 0));
        }
    } else if (i->kind == DO_SEND) {
        if (w->tensor[t].from < w->npart)
            wait_for(
                r, task,
                find_item(r, w->part[w->tensor[t].from].dev, DO_COMPUTE, w->tensor[t].from, 0));
        if (i->other < n)
            wait_for(r, task, find_item(r, i->other, DO_ALLOC, t, 0));
    } else if (i->kind == DO_RECV) {
        uint32_t to = (lane - lane_recv(n, 0, 0)) / (n + 1);
        wait_for(r, task, find_item(r, lane_send(n, i->other), DO_SEND, t, to));
    } else if (i->kind == DO_FREE && w->place.to[w->place.at[t]] == lane) {
        for (uint32_t k = w->place.at[t] + 1; k < w->place.at[t + 1]; k++)
            wait_for(r, task, find_item(r, lane_send(n, lane), DO_SEND, t, w->place.to[k]));
    }
}

/* A task for each instruction and sample, lists round by round. */
static void add_tasks(struct replayed *r, struct arena *a)
{
    const struct schedule *s = r->s;
    uint32_t most = s->at[s->nlane] * s->in_flight;
    r->item = arena_array(a, most + 1, sizeof *r->item);
    r->sample = arena_array(a, most + 1, sizeof *r->sample);
    r->task = arena_array(a, most + 1, sizeof *r->task);
    r->g.task = arena_array(a, most + 1, sizeof *r->g.task);
    r->g.list.at = arena_array(a, s->nlane + 1, sizeof(uint32_t));
    r->g.list.to = arena_array(a, most + 1, sizeof(uint32_t));
    for (uint32_t l = 0; l < s->nlane; l++) {
        for (uint32_t phase = 0; phase < s->phases; phase++)
            for (int32_t round = -100; round < 100; round++)
                for (uint32_t i = s->at[l]; i < s->at[l + 1]; i++) {
                    int32_t sample = round + s->item[i].offset;
                    if (s->item[i].phase != phase || sample < 0 || sample >= (int32_t)s->in_flight)
                        continue;
                    uint32_t t = r->g.ntask++;
                    r->item[t] = i;
                    r->sample[t] = (uint32_t)sample;
                    r->task[i * s->in_flight + (uint32_t)sample] = t;
                    r->g.list.to[t] = t;
                    r->g.task[t] = (struct task){.lane = {l, NO_LANE}, .count = 1};
                }
        r->g.list.at[l + 1] = r->g.ntask;
    }
    assert_int_equal(r->g.ntask, most);
}

/* Room: from ALLOC or COMPUTE to FREE, and while a part runs. */
static void add_buffers(struct replayed *r, struct arena *a)
{
    const struct sample_work *w = r->w;
    uint32_t most = 0, n = 0;
    for (uint32_t x = 0; x < w->npart; x++)
        most += 1 + w->out.at[x + 1] - w->out.at[x];
    most = (most + w->place.at[w->ntensor] + 1) * r->s->in_flight + r->g.ntask;
    r->g.buffer = arena_array(a, most, sizeof *r->g.buffer);
    uint32_t *of = arena_array(a, most, sizeof *of), *use = arena_array(a, most, sizeof *use);
    for (uint32_t t = 0; t < r->g.ntask; t++) {
        const struct instruction *i = &r->s->item[r->item[t]];
        uint32_t dev = r->g.task[t].lane[0];
        if (i->kind == DO_ALLOC) {
            of[n] = n;
            use[n] =
                r->task[find_item(r, dev, DO_FREE, i->what, 0) * r->s->in_flight + r->sample[t]];
            r->g.buffer[n++] = (struct buffer){dev, t, w->tensor[i->what].bytes};
        }
        if (i->kind != DO_COMPUTE)
            continue;
        int64_t made = 0;
        for (uint32_t k = w->out.at[i->what]; k < w->out.at[i->what + 1]; k++) {
            uint32_t v = w->out.to[k];
            of[n] = n;
            use[n] = r->task[find_item(r, dev, DO_FREE, v, 0) * r->s->in_flight + r->sample[t]];
            r->g.buffer[n++] = (struct buffer){dev, t, w->tensor[v].bytes};
            made += w->tensor[v].bytes;
        }
        of[n] = n;
        use[n] = t;
        assert_true(w->part[i->what].running >= 0);
        int64_t more = w->part[i->what].running - made;
        r->g.buffer[n++] = (struct buffer){dev, t, more > 0 ? more : 0};
    }
    assert_true(n <= most);
    r->g.nbuffer = n;
    r->g.use = csr_build(a, n, n, of, use);
    int64_t *lasting = arena_array(a, w->ndev + 1, sizeof *lasting);
    for (uint32_t x = 0; x < w->npart; x++)
        lasting[w->part[x].dev] += w->part[x].lasting;
    r->g.lasting = lasting;
}

static void replay(struct replayed *r, const struct made *k)
{
    struct arena *a = k->a;
    memset(r, 0, sizeof *r);
    r->w = k->w;
    r->s = k->s;
    r->g.nlane = k->s->nlane;
    r->g.ndev = k->w->ndev;
    r->g.lane = arena_array(a, r->g.nlane + 1, sizeof *r->g.lane);
    for (uint32_t l = 0; l < r->g.nlane; l++)
        r->g.lane[l].discipline = LANE_LIST;
    add_tasks(r, a);
    uint32_t most = r->g.ntask * (r->w->ntensor + r->w->ndev + 3) + 1;
    r->waits = arena_array(a, most, sizeof *r->waits);
    r->on = arena_array(a, most, sizeof *r->on);
    for (uint32_t t = 0; t < r->g.ntask; t++)
        add_waits(r, t, r->g.task[t].lane[0]);
    r->g.waits = csr_build(a, r->g.ntask, r->nwait, r->waits, r->on);
    add_buffers(r, a);
    assert_true(task_graph_number(&r->g, a));
}

/* Computing and sending take random times, some none. */
static void draw_times(struct replayed *r, uint64_t *rng)
{
    for (uint32_t t = 0; t < r->g.ntask; t++) {
        uint8_t kind = r->s->item[r->item[t]].kind;
        if (kind == DO_COMPUTE || kind == DO_SEND)
            r->g.task[t].time = test_below(rng, 4) ? test_below(rng, 50) : 0;
    }
}

/* Whatever a part reads has been made before it, for the same sample. */
static void check_data(const struct replayed *r, const struct timeline *t)
{
    const struct sample_work *w = r->w;
    for (uint32_t i = 0; i < r->g.ntask; i++) {
        const struct instruction *x = &r->s->item[r->item[i]];
        if (x->kind != DO_COMPUTE)
            continue;
        for (uint32_t k = w->in.at[x->what]; k < w->in.at[x->what + 1]; k++) {
            uint32_t from = w->tensor[w->in.to[k]].from;
            if (from >= w->npart)
                continue;
            uint32_t made =
                r->task[find_item(r, w->part[from].dev, DO_COMPUTE, from, 0) * r->s->in_flight +
                        r->sample[i]];
            assert_true(t->start[made] + r->g.task[made].time <= t->start[i]);
        }
    }
}

/* How many ALLOCs have been done and not their RECVs: never more than a queue holds. */
static void check_queues(const struct replayed *r, const struct timeline *t)
{
    const struct sample_work *w = r->w;
    for (uint32_t dev = 0; dev < w->ndev; dev++)
        for (uint32_t from = 0; from <= w->ndev; from++) {
            uint32_t lane = lane_recv(w->ndev, dev, from), ahead = 0;
            for (uint32_t i = r->g.list.at[dev]; i < r->g.list.at[dev + 1]; i++) {
                const struct instruction *x = &r->s->item[r->item[i]];
                if (x->kind != DO_ALLOC || w->place.to[w->place.at[x->what]] != from)
                    continue;
                uint32_t come = 0;
                for (uint32_t k = r->g.list.at[lane]; k < r->g.list.at[lane + 1]; k++)
                    come += t->start[k] <= t->start[i];
                ahead++;
                assert_true((int64_t)ahead - come <= r->s->queue[lane]);
            }
        }
}

static void random_plans(void **state)
{
    (void)state;
    uint64_t rng = 11;
    uint32_t moved = 0, rounds = 0, later = 0, phases = 0, queued = 0;
    for (uint32_t i = 0; i < PLANS; i++) {
        struct made k;
        struct replayed r;
        make(&k, &rng);
        const char *why = schedule_prove(k.w, k.s, k.a);
        if (why)
            fail_msg("plan %u: %s", i, why);
        assert_null(schedule_check(k.w, k.s, k.a));
        replay(&r, &k);
        draw_times(&r, &rng);
        struct timeline t = events_run(&r.g, NULL, k.a);
        assert_int_equal(t.status, RUN_DONE);
        check_data(&r, &t);
        check_queues(&r, &t);
        for (uint32_t x = 0; x < r.g.ntask; x++)
            if (test_below(&rng, 5) == 0)
                r.g.task[x].time += test_below(&rng, 80);
        struct timeline u = events_run(&r.g, NULL, k.a);
        for (uint32_t x = 0; x < r.g.ntask; x++)
            assert_true(u.start[x] >= t.start[x]);
        for (uint32_t d = 0; d < k.w->ndev; d++)
            assert_true(t.peak[d] == k.s->peak[d] && u.peak[d] == k.s->peak[d]);
        check_queues(&r, &u);
        for (uint32_t l = 0; l < k.s->nlane; l++)
            queued += k.s->queue[l] > 1;
        moved += k.s->at[k.s->nlane] > k.s->at[k.w->ndev];
        rounds += schedule_samples(k.s) > 2;
        phases += k.s->phases > 1;
        later += u.end > t.end;
        arena_free(k.a);
    }
    assert_true(moved > PLANS / 3 && rounds > PLANS / 5 && phases > PLANS / 20 &&
                later > PLANS / 3);
    assert_true(queued > PLANS / 3);
}

/* Transfers that take no time: N samples take as many rounds and a few more, each of them as long as the busiest device
 * computes for a sample. */
static void pace(void **state)
{
    (void)state;
    uint64_t rng = 15;
    uint32_t several = 0;
    for (uint32_t i = 0; i < PLANS; i++) {
        struct made k;
        struct replayed r;
        make(&k, &rng);
        if (k.s->phases > 1 || !k.repeats) {
            arena_free(k.a);
            continue;
        }
        k.s->in_flight = 20;
        assert_null(schedule_prove(k.w, k.s, k.a));
        replay(&r, &k);
        int64_t *time = arena_array(k.a, k.w->npart + 1, sizeof *time);
        int64_t *busy = arena_array(k.a, k.w->ndev + 1, sizeof *busy), most = 0;
        for (uint32_t x = 0; x < k.w->npart; x++) {
            time[x] = test_below(&rng, 50);
            busy[k.w->part[x].dev] += time[x];
            several += x && k.w->part[x].dev == k.w->part[0].dev;
        }
        for (uint32_t d = 0; d < k.w->ndev; d++)
            most = busy[d] > most ? busy[d] : most;
        for (uint32_t t = 0; t < r.g.ntask; t++)
            if (k.s->item[r.item[t]].kind == DO_COMPUTE)
                r.g.task[t].time = time[k.s->item[r.item[t]].what];
        struct timeline t = events_run(&r.g, NULL, k.a);
        assert_true(t.end <= most * (k.s->in_flight + schedule_samples(k.s)));
        arena_free(k.a);
    }
    assert_true(several > PLANS / 10);
}

/* Without rounds: parts start when they would if room were never wanting. */
static void no_waiting(void **state)
{
    (void)state;
    uint64_t rng = 16;
    uint32_t steps = 0, waits = 0;
    for (uint32_t i = 0; i < 4 * PLANS; i++) {
        struct made k;
        struct replayed r;
        make(&k, &rng);
        if (k.repeats) {
            arena_free(k.a);
            continue;
        }
        k.s->in_flight = 1;
        const char *why = schedule_prove(k.w, k.s, k.a);
        if (why)
            fail_msg("plan %u: %s", i, why);
        replay(&r, &k);
        for (uint32_t t = 0; t < r.g.ntask; t++) {
            const struct instruction *x = &k.s->item[r.item[t]];
            if (x->kind == DO_COMPUTE)
                r.g.task[t].time = k.time[x->what];
            else if (x->kind == DO_SEND)
                r.g.task[t].time = k.way[x->what * (k.w->ndev + 1) + x->other];
        }
        struct timeline t = events_run(&r.g, NULL, k.a);
        for (uint32_t x = 0; x < r.g.ntask; x++)
            if (k.s->item[r.item[x]].kind == DO_COMPUTE) {
                assert_int_equal(t.start[x], k.start[k.s->item[r.item[x]].what]);
                waits += t.start[x] > 0;
            }
        steps += k.w->npart > 2;
        arena_free(k.a);
    }
    assert_true(steps > PLANS / 5 && waits > PLANS / 2);
}

/* As many samples as schedule_samples() says show the largest peaks and queues. */
static void steady(void **state)
{
    (void)state;
    uint64_t rng = 12;
    for (uint32_t i = 0; i < PLANS / 5; i++) {
        struct made k;
        make(&k, &rng);
        if (k.s->phases > 1) {
            arena_free(k.a);
            continue;
        }
        k.s->in_flight = schedule_samples(k.s);
        assert_null(schedule_prove(k.w, k.s, k.a));
        int64_t *peak = arena_array(k.a, k.w->ndev + 1, sizeof *peak);
        uint32_t *queue = arena_array(k.a, k.s->nlane + 1, sizeof *queue);
        memcpy(peak, k.s->peak, k.w->ndev * sizeof *peak);
        memcpy(queue, k.s->queue, k.s->nlane * sizeof *queue);
        k.s->in_flight = 3 * k.s->in_flight + 5;
        assert_null(schedule_prove(k.w, k.s, k.a));
        assert_memory_equal(peak, k.s->peak, k.w->ndev * sizeof *peak);
        assert_memory_equal(queue, k.s->queue, k.s->nlane * sizeof *queue);
        arena_free(k.a);
    }
}

/* ---- mutations --------------------------------------------------------------------------------- */

static struct schedule copy_of(const struct made *k)
{
    struct schedule s = *k->s;
    s.at = arena_array(k->a, s.nlane + 1, sizeof *s.at);
    s.item = arena_array(k->a, s.at ? k->s->at[s.nlane] + 1 : 1, sizeof *s.item);
    s.queue = arena_array(k->a, s.nlane + 1, sizeof *s.queue);
    s.peak = arena_array(k->a, k->w->ndev + 1, sizeof *s.peak);
    memcpy(s.at, k->s->at, (s.nlane + 1) * sizeof *s.at);
    memcpy(s.item, k->s->item, k->s->at[s.nlane] * sizeof *s.item);
    memcpy(s.queue, k->s->queue, s.nlane * sizeof *s.queue);
    memcpy(s.peak, k->s->peak, k->w->ndev * sizeof *s.peak);
    return s;
}

static uint32_t lane_of(const struct schedule *s, uint32_t item)
{
    uint32_t l = 0;
    while (s->at[l + 1] <= item)
        l++;
    return l;
}

static void drop(struct schedule *s, uint32_t item)
{
    uint32_t lane = lane_of(s, item);
    memmove(s->item + item, s->item + item + 1, (s->at[s->nlane] - item - 1) * sizeof *s->item);
    for (uint32_t l = lane; l < s->nlane; l++)
        s->at[l + 1]--;
}

/* Another instruction of the same lane that must not change places with it; it itself: there is none. */
static uint32_t find_rival(const struct made *k, const struct schedule *s, uint32_t item)
{
    uint32_t lane = lane_of(s, item);
    const struct instruction *x = &s->item[item];
    for (uint32_t i = s->at[lane]; i < s->at[lane + 1]; i++) {
        const struct instruction *y = &s->item[i];
        if (i == item)
            continue;
        if (x->kind == y->kind &&
            (x->kind == DO_COMPUTE || x->kind == DO_SEND || x->kind == DO_RECV))
            return i;
        bool reads = false; /* whether y is a part that reads x, or makes it */
        if ((x->kind == DO_ALLOC || x->kind == DO_FREE) && y->kind == DO_COMPUTE &&
            x->offset == y->offset && x->phase == y->phase) {
            for (uint32_t j = k->w->in.at[y->what]; j < k->w->in.at[y->what + 1]; j++)
                reads = reads || k->w->in.to[j] == x->what;
            reads = reads || k->w->tensor[x->what].from == y->what;
        }
        if (reads)
            return i;
    }
    return item;
}

static void must_refuse(const struct made *k, const struct schedule *s, const char *what)
{
    const char *why = schedule_check(k->w, s, k->a);
    if (!why || strlen(why) < 10)
        fail_msg("%s: accepted", what);
}

/* Puts a FREE before the first COMPUTE of its own sample that it has to wait for. */
static bool free_early(const struct made *k, struct schedule *s, uint32_t item)
{
    uint32_t lane = lane_of(s, item);
    for (uint32_t i = s->at[lane]; i < item; i++) {
        const struct instruction *x = &s->item[i];
        bool of = false;
        if (x->kind != DO_COMPUTE || x->offset != s->item[item].offset ||
            x->phase != s->item[item].phase)
            continue;
        for (uint32_t j = k->w->in.at[x->what]; j < k->w->in.at[x->what + 1]; j++)
            of = of || k->w->in.to[j] == s->item[item].what;
        if (!of && k->w->tensor[s->item[item].what].from != x->what)
            continue;
        struct instruction kept = s->item[item];
        memmove(s->item + i + 1, s->item + i, (item - i) * sizeof kept);
        s->item[i] = kept;
        return true;
    }
    return false;
}

static void mutations(void **state)
{
    (void)state;
    uint64_t rng = 13;
    uint32_t done[6] = {0};
    for (uint32_t n = 0; n < PLANS; n++) {
        struct made k;
        make(&k, &rng);
        assert_null(schedule_prove(k.w, k.s, k.a));
        uint32_t items = k.s->at[k.s->nlane];
        for (uint32_t i = 0; i < MUTATIONS && items; i++) {
            struct schedule s = copy_of(&k);
            uint32_t item = test_below(&rng, items), rival = find_rival(&k, &s, item);
            drop(&s, item);
            must_refuse(&k, &s, "an instruction less");
            done[k.s->item[item].kind == DO_SEND]++;
            s = copy_of(&k);
            if (rival != item) {
                s.item[item] = k.s->item[rival];
                s.item[rival] = k.s->item[item];
                must_refuse(&k, &s, "two instructions swapped");
                done[2]++;
            }
            s = copy_of(&k);
            if (s.item[item].kind == DO_FREE && free_early(&k, &s, item)) {
                must_refuse(&k, &s, "freed early");
                done[3]++;
            }
            s = copy_of(&k);
            s.item[item].offset += test_below(&rng, 2) ? 1 : -1;
            if (s.item[item].kind == DO_SEND || s.item[item].kind == DO_RECV)
                must_refuse(&k, &s, "another sample");
        }
        for (uint32_t l = 0; l < k.s->nlane; l++) {
            struct schedule s = copy_of(&k);
            if (!s.queue[l])
                continue;
            s.queue[l]--;
            must_refuse(&k, &s, "a short queue");
            done[4]++;
        }
        for (uint32_t d = 0; d < k.w->ndev; d++) {
            struct schedule s = copy_of(&k);
            if (!s.peak[d])
                continue;
            k.w->memory[d] = s.peak[d] - 1;
            must_refuse(&k, &s, "too little memory");
            s.peak[d]--;
            must_refuse(&k, &s, "too small a peak");
            k.w->memory[d] = -1;
            done[5]++;
        }
        arena_free(k.a);
    }
    for (int i = 0; i < 6; i++)
        assert_true(done[i] > PLANS / 4);
}

/* ---- the memory of parts ----------------------------------------------------------------------- */

static bool reads(const struct module *m, nid n, vid v)
{
    for (uint32_t i = 0; i < m->node[n].in.n; i++)
        if (m->arg[m->node[n].in.at + i] == v)
            return true;
    return false;
}

static bool leaves(const struct part *p, vid v)
{
    for (uint32_t i = 0; i < p->nout; i++)
        if (p->out[i] == v)
            return true;
    return false;
}

/* Bytes alive while the part runs its node `step`, by definition: what nodes up to it have made and later ones (or
 * nobody in this part) still need; and what the node needs beside its results. */
static int64_t alive_at(const struct module *m, const struct part *p, uint32_t step)
{
    int64_t sum = 0, results = 0;
    for (uint32_t i = 0; i <= step; i++)
        for (uint32_t o = 0; o < m->node[p->node[i]].out.n; o++) {
            vid v = m->arg[m->node[p->node[i]].out.at + o];
            bool wanted = leaves(p, v), read = false;
            for (uint32_t k = 0; k < p->nnode; k++) {
                wanted = wanted || (k >= step && reads(m, p->node[k], v));
                read = read || reads(m, p->node[k], v);
            }
            if (i == step && (leaves(p, v) || read))
                results += m->cost->bytes[v];
            sum += wanted || (i == step && read) ? m->cost->bytes[v] : 0;
        }
    int64_t own = m->cost->own[p->node[step]] - results;
    return sum + (own > 0 ? own : 0);
}

static void part_memory(void **state)
{
    (void)state;
    uint64_t rng = 14;
    uint32_t several = 0;
    for (uint32_t n = 0; n < PLANS / 2; n++) {
        struct made k;
        make(&k, &rng);
        for (uint32_t x = 0; x < k.w->npart; x++) {
            int64_t top = 0, here;
            for (uint32_t i = 0; i < k.parts->part[x].nnode; i++) {
                here = alive_at(k.of.m, &k.parts->part[x], i);
                top = here > top ? here : top;
            }
            assert_int_equal(k.w->part[x].running, top);
            several += k.parts->part[x].nnode > 2;
        }
        arena_free(k.a);
    }
    assert_true(several > PLANS / 10);
}

/* ---- times of a step ---------------------------------------------------------------------------- */

/* p takes 4 us on acc0, its value 3 us to acc1, where q and r are a part of 3 us; what comes out, 1 us. */
static void times(void **state)
{
    static const char text[] = "class acc x2 link=1GB/s,0ps\ngraph {\n"
                               "  %p = profile:op() : ? !bytes=9B !xfer=3us !time=4us\n"
                               "  %q = profile:op(%p) : ? !bytes=5B !xfer=1us !time=2us\n"
                               "  %r = profile:op(%q) : ? !bytes=1B !xfer=1us !time=1us\n"
                               "  out %r\n}\n";
    struct text_module t;
    struct diag d = {.emit = quiet};
    (void)state;
    assert_int_equal(
        module_parse(&t, &(struct named_text){"times", text, strlen(text), NULL}, NULL, &d), 0);
    struct arena *a = t.scene.m->mem;
    t.scene.place = place_build(t.scene.m, NULL, 0, a, &d);
    t.scene.model.step.network = NETWORK_DIRECT;
    int32_t *dev = arena_array(a, t.scene.m->nnode, sizeof *dev);
    dev[t.scene.m->nnode - 1] = dev[t.scene.m->nnode - 2] = 1;
    struct plan p = {.dev = dev};
    struct parts *parts = parts_build(&t.scene, dev, a);
    struct sample_work *w = work_of_parts(&t.scene, parts, NULL, a);
    struct rhythm y = rhythm_of_step(
        &(struct rhythm_ask){.scene = &t.scene, .plan = &p, .parts = parts, .work = w}, a);
    assert_true(w->npart == 2 && w->ntensor == 2 && !y.repeats);
    assert_true(y.start[0] == 0 && y.end[0] == 4000000 && y.sent[0] == 7000000);
    assert_true(y.start[1] == 7000000 && y.end[1] == 10000000 && y.sent[1] == 11000000);
    arena_free(a);
}

/* ---- by hand ------------------------------------------------------------------------------------- */

/* Parts c, a on acc0 and d, b on acc1, in these orders; d reads of a, c reads of b: nothing can ever begin. */
static void circle(void **state)
{
    (void)state;
    struct arena *a = arena_new(NULL);
    const char *dev_name[] = {"acc0", "acc1", "host"};
    int64_t memory[] = {-1, -1};
    struct work_part part[] = {
        {.name = "c"}, {.name = "a"}, {.name = "d", .dev = 1}, {.name = "b", .dev = 1}};
    struct work_tensor tensor[] = {{.name = "x", .bytes = 1, .from = 1},
                                   {.name = "y", .bytes = 1, .from = 3}};
    uint32_t in_at[] = {0, 1, 1, 2, 2}, in_to[] = {1, 0}, out_at[] = {0, 0, 1, 1, 2},
             out_to[] = {0, 1};
    struct sample_work w = {.ndev = 2,
                            .npart = 4,
                            .ntensor = 2,
                            .dev_name = dev_name,
                            .memory = memory,
                            .part = part,
                            .tensor = tensor,
                            .in = {in_at, in_to},
                            .out = {out_at, out_to}};
    work_finish(&w, a);
    struct instruction item[] = {
        {DO_ALLOC, 0, 0, 1, 0},   {DO_COMPUTE, 0, 0, 0, 0}, {DO_FREE, 0, 0, 1, 0},  /* acc0 */
        {DO_COMPUTE, 0, 0, 1, 0}, {DO_FREE, 0, 0, 0, 0},    {DO_ALLOC, 0, 0, 0, 0}, /* acc1 */
        {DO_COMPUTE, 0, 0, 2, 0}, {DO_FREE, 0, 0, 0, 0},    {DO_COMPUTE, 0, 0, 3, 0},
        {DO_FREE, 0, 0, 1, 0},    {DO_SEND, 0, 0, 0, 1},    {DO_SEND, 0, 0, 1, 0}, /* sending */
        {DO_RECV, 0, 0, 1, 1},    {DO_RECV, 0, 0, 0, 0}};
    uint32_t nlane = lane_count(2), *at = arena_array(a, nlane + 1, sizeof *at);
    for (uint32_t l = 0; l < nlane; l++) {
        uint32_t n = l < 2 ? 5 : l == lane_send(2, 0) || l == lane_send(2, 1);
        n += l == lane_recv(2, 0, 1) || l == lane_recv(2, 1, 0);
        at[l + 1] = at[l] + n;
    }
    uint32_t *queue = arena_array(a, nlane, sizeof *queue);
    int64_t peak[2];
    struct schedule s = {&w, nlane, at, item, 1, 1, queue, peak};
    assert_string_equal(
        schedule_prove(&w, &s, a),
        "deadlock: acc0 computes 'c' of sample 0 waits until acc0 receives 'y' of sample 0 from acc1; "
        "acc0 receives 'y' of sample 0 from acc1 waits until acc1 sends 'y' of sample 0 to acc0; "
        "acc1 sends 'y' of sample 0 to acc0 waits until acc1 computes 'b' of sample 0, which comes after "
        "acc1 computes 'd' of sample 0; "
        "acc1 computes 'd' of sample 0 waits until acc1 receives 'x' of sample 0 from acc0; "
        "acc1 receives 'x' of sample 0 from acc0 waits until acc0 sends 'x' of sample 0 to acc1; "
        "acc0 sends 'x' of sample 0 to acc1 waits until acc0 computes 'a' of sample 0, which comes after "
        "acc0 computes 'c' of sample 0");
    s.in_flight = 1 << 30;
    assert_non_null(strstr(schedule_prove(&w, &s, a), "too many to check"));
    s.in_flight = 0;
    assert_non_null(strstr(schedule_prove(&w, &s, a), "expected one in flight"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_plans), cmocka_unit_test(pace),      cmocka_unit_test(no_waiting),
        cmocka_unit_test(steady),       cmocka_unit_test(mutations), cmocka_unit_test(part_memory),
        cmocka_unit_test(times),        cmocka_unit_test(circle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
