/* Iterations of training: examples worked out by hand, closed forms, and random pipelines against a walk through time
 * that is written apart, with orders of its own. */
#include "ir/exec/events.h"
#include "ir/exec/iteration/iteration.h"
#include "ir/base/numbers.h"
#include "ir/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STAGES = 8, DEVICES = 16, MICRO = 20, RANDOM = 1000 };

struct result {
    int64_t end, peak[DEVICES];
};

static struct result run(const struct iteration *x, int64_t lasting)
{
    struct arena *a = arena_new(NULL);
    int64_t bytes[DEVICES];
    struct result r = {0};
    for (uint32_t d = 0; d < DEVICES; d++)
        bytes[d] = lasting;
    struct task_graph g = iteration_tasks(x, bytes, NULL, a);
    struct timeline t = events_run(&g, NULL, a);
    assert_int_equal(t.status, RUN_DONE);
    r.end = t.end;
    for (uint32_t d = 0; d < iteration_devices(x); d++)
        r.peak[d] = t.peak[d];
    arena_free(a);
    return r;
}

/* A pipeline of equal stages. */
struct scene_of {
    struct iteration x;
    struct stage_work stage[STAGES];
};

static void set_up(struct scene_of *s, uint32_t stages, uint32_t micro_batches,
                   struct stage_work each)
{
    *s = (struct scene_of){.x = {.order = ITERATION_1F1B,
                                 .nstage = stages,
                                 .nplace = stages,
                                 .micro_batches = micro_batches}};
    s->x.stage = s->stage;
    for (uint32_t i = 0; i < stages; i++) {
        s->stage[i] = each;
        s->stage[i].ahead = iteration_ahead_a(stages, i, UINT32_MAX);
    }
}

static void policy_b(struct scene_of *s)
{
    for (uint32_t i = 0; i < s->x.nstage; i++)
        s->stage[i].ahead = iteration_ahead_b(s->x.nstage, i, UINT32_MAX);
}

static int64_t end_of(const struct scene_of *s)
{
    return run(&s->x, 0).end;
}

static void expect(const struct scene_of *s, int64_t end, const int64_t *peak)
{
    struct result r = run(&s->x, 0);
    assert_int_equal(r.end, end);
    for (uint32_t d = 0; peak && d < iteration_devices(&s->x); d++)
        assert_int_equal(r.peak[d], peak[d]);
}

#define PEAK(...) ((const int64_t[]){__VA_ARGS__})

/* ---- by hand ------------------------------------------------------------------------------------ */

static void test_two_stages(void **state)
{
    struct scene_of s;
    (void)state;
    for (int64_t k = 1; k <= 3; k += 2) { /* also with all times threefold */
        set_up(&s, 2, 4, (struct stage_work){.forward = k, .backward = 2 * k, .stored = 1});
        expect(&s, 15 * k, PEAK(2, 1));
        s.x.order = ITERATION_GPIPE;
        expect(&s, 15 * k, PEAK(4, 4));
    }
    /* with an AllReduce at the end of the last stage, of the first */
    set_up(&s, 2, 3, (struct stage_work){.forward = 1, .backward = 2});
    s.stage[1].reduce = 5;
    expect(&s, 15, NULL);
    s.stage[1].reduce = 0;
    s.stage[0].reduce = 4;
    expect(&s, 16, NULL);
}

/* Updates run once, behind the AllReduce of their stage, on its devices; a joint one behind those of all stages. */
static void test_updates(void **state)
{
    struct scene_of s;
    (void)state;
    set_up(&s, 2, 3,
           (struct stage_work){.forward = 1, .backward = 2}); /* stages end at 12 and 10 */
    s.stage[0].update = 4;
    expect(&s, 16, NULL);
    s.stage[0].update = 0;
    s.stage[1].update = 4;
    expect(&s, 14, NULL);
    s.stage[1].reduce = 1;
    expect(&s, 15, NULL);
    s.x.joint_update = true;
    expect(&s, 16, NULL);
    s.stage[0].reduce = 3;
    expect(&s, 19, NULL);
    /* two stages on each of two devices, one update after the other */
    set_up(&s, 4, 2, (struct stage_work){.forward = 1, .backward = 2});
    s.x.nplace = 2;
    s.x.order = ITERATION_INTERLEAVED;
    int64_t end = end_of(&s);
    for (uint32_t k = 0; k < 4; k++)
        s.stage[k].update = 3;
    expect(&s, end + 6, NULL);
    s.stage[2].update = 0;
    expect(&s, end + 4, NULL); /* the other device ends 2 earlier */
}

/* The timeline of the first device in the first example. */
static void test_timeline(void **state)
{
    static const int64_t forward[] = {0, 1, 6, 9}, backward[] = {4, 7, 10, 13};
    struct scene_of s;
    struct arena *a = arena_new(NULL);
    (void)state;
    set_up(&s, 2, 4, (struct stage_work){.forward = 1, .backward = 2});
    struct task_graph g = iteration_tasks(&s.x, NULL, NULL, a);
    struct timeline t = events_run(&g, NULL, a);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(t.start[i], forward[i]);
        assert_int_equal(t.start[4 + i], backward[i]);
    }
    arena_free(a);
}

static void test_four_stages(void **state)
{
    struct scene_of s;
    (void)state;
    set_up(&s, 4, 8, (struct stage_work){.forward = 1, .backward = 2, .stored = 1});
    expect(&s, 33, PEAK(4, 3, 2, 1));
    policy_b(&s);
    expect(&s, 33, PEAK(7, 5, 3, 1));
    for (uint32_t i = 0; i < 4; i++)
        s.stage[i].ahead = iteration_ahead_a(4, i, 2);
    expect(&s, 69, PEAK(2, 2, 2, 1));
    s.x.order = ITERATION_GPIPE;
    expect(&s, 33, PEAK(8, 8, 8, 8));
}

static void test_uneven_stages(void **state)
{
    static const struct stage_work stage[] = {
        {.forward = 1, .backward = 2, .stored = 3, .ahead = 3},
        {.forward = 2, .backward = 4, .stored = 2, .ahead = 2},
        {.forward = 1, .backward = 2, .stored = 1, .ahead = 1}};
    struct scene_of s;
    (void)state;
    set_up(&s, 3, 4, (struct stage_work){0});
    memcpy(s.stage, stage, sizeof stage);
    expect(&s, 28, PEAK(9, 4, 1));
    s.x.order = ITERATION_GPIPE;
    expect(&s, 30, PEAK(12, 8, 4));
}

static void test_links(void **state)
{
    static const int64_t link[] = {0, 2, 5, 10, 20}, a[] = {1020, 1052, 1100, 1180, 1340},
                         b[] = {1020, 1024, 1030, 1040, 1060};
    struct scene_of s;
    (void)state;
    set_up(
        &s, 2, 6,
        (struct stage_work){.forward = 2, .backward = 4, .send = 2, .send_back = 2, .stored = 1});
    expect(&s, 54, PEAK(2, 1));
    policy_b(&s);
    expect(&s, 46, PEAK(3, 1));
    s.stage[0].ahead = s.stage[1].ahead = 1;
    expect(&s, 96, PEAK(1, 1));
    s.x.order = ITERATION_GPIPE;
    expect(&s, 46, PEAK(6, 6));
    for (uint32_t i = 0; i < 5; i++) { /* in twentieths */
        set_up(&s, 2, 16,
               (struct stage_work){
                   .forward = 20, .backward = 40, .send = link[i], .send_back = link[i]});
        expect(&s, a[i], NULL);
        policy_b(&s);
        expect(&s, b[i], NULL);
        s.x.order = ITERATION_GPIPE;
        expect(&s, b[i], NULL);
    }
}

static void test_recompute(void **state)
{
    struct scene_of s;
    (void)state;
    set_up(&s, 2, 4,
           (struct stage_work){
               .forward = 1, .backward = 2, .stored = 4, .checkpoint = 1, .recompute = true});
    struct result r = run(&s.x, 10);
    assert_true(r.end == 20 && r.peak[0] == 15 && r.peak[1] == 14);
    s.x.order = ITERATION_GPIPE;
    r = run(&s.x, 10);
    assert_true(r.end == 20 && r.peak[0] == 17 && r.peak[1] == 17);
    s.x.order = ITERATION_1F1B;
    s.stage[0].recompute = s.stage[1].recompute = false;
    r = run(&s.x, 10);
    assert_true(r.end == 15 && r.peak[0] == 18 && r.peak[1] == 14);
}

static void test_interleaved(void **state)
{
    struct scene_of s;
    (void)state;
    set_up(&s, 4, 4, (struct stage_work){.forward = 1, .backward = 2, .stored = 1});
    s.x.order = ITERATION_INTERLEAVED;
    s.x.nplace = 2;
    expect(&s, 27, PEAK(5, 3));
    for (uint32_t places = 2; places <= 4; places++)
        for (uint32_t each = 1; each <= 2; each++)
            for (uint32_t m = 2; m <= 4; m++) {
                set_up(&s, places * each, places * m,
                       (struct stage_work){.forward = 1, .backward = 2, .stored = 1});
                s.x.order = ITERATION_INTERLEAVED;
                s.x.nplace = places;
                struct result r = run(&s.x, 0);
                assert_int_equal(r.end, 3 * ((int64_t)each * places * m + places - 1));
                for (uint32_t i = 0; i < places; i++)
                    assert_int_equal(r.peak[i], iteration_ahead_interleaved(&s.x, i));
                for (uint32_t i = 0; i < places; i++)
                    assert_int_equal(r.peak[i], 2 * (places - i - 1) + (each - 1) * places + 1);
            }
}

static void test_ahead(void **state)
{
    struct stage_work w[3] = {{.turns = 2}, {.turns = 3}, {.ahead = 1}};
    (void)state;
    assert_int_equal(iteration_ahead_turns(w, 3, 0), 3);
    assert_int_equal(iteration_ahead_turns(w, 3, 1), 2);
    assert_int_equal(iteration_ahead_turns(w, 3, 2), 1);
    w[0].ahead =
        1; /* two micro-batches go before one must be back: each of three devices waits for its first */
    w[1].ahead = 4;
    w[2].ahead = 9;
    iteration_settle_ahead(w, 3);
    assert_true(w[0].ahead == 1 && w[1].ahead == 1 && w[2].ahead == 3);
}

static void test_turns(void **state)
{
    static const uint32_t micro[] = {4, 3, 8};
    static const int64_t turns[] = {18, 15, 30}, slices[] = {15, 12, 27};
    struct scene_of s;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        set_up(&s, 2, micro[i], (struct stage_work){.forward = 1, .backward = 2, .stored = 2});
        s.stage[0].stored = 1;
        s.stage[1].stored = 1;
        expect(&s, slices[i], NULL);
        s.stage[0] =
            (struct stage_work){.forward = 2, .backward = 4, .stored = 1, .turns = 2, .ahead = 2};
        expect(&s, turns[i], PEAK(2, micro[i] == 3 ? 1 : 2, 1));
    }
    set_up(&s, 3, 20, (struct stage_work){.forward = 1, .backward = 2, .stored = 1});
    expect(&s, 66, PEAK(3, 2, 1));
}

/* ZB-H1 of equal stages whose three kinds of work take as long. */
static void test_zero_bubble(void **state)
{
    static const uint32_t stages[] = {2, 4, 4, 8}, micro[] = {4, 8, 12, 16};
    static const int64_t end[] = {13, 27, 39, 55}, at_once[] = {14, 30, 42, 62},
                         plain[] = {15, 33, 45, 69};
    struct scene_of s;
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        set_up(&s, stages[i], micro[i],
               (struct stage_work){.forward = 1, .backward = 2, .weight = 1, .stored = 1});
        expect(&s, plain[i], NULL);
        s.x.order = ITERATION_ZB_H1;
        expect(&s, at_once[i], NULL);
        for (uint32_t k = 0; k < stages[i]; k++)
            s.stage[k].lag = k;
        struct result r = run(&s.x, 0);
        assert_int_equal(r.end, end[i]);
        for (uint32_t k = 0; k < stages[i]; k++)
            assert_int_equal(r.peak[k], stages[i]);
    }
}

/* Equal stages without transfers: (M + S - 1)(F + B), whichever order. */
static void test_equal_stages(void **state)
{
    struct scene_of s;
    (void)state;
    for (uint32_t n = 1; n <= STAGES; n++)
        for (uint32_t m = 1; m <= 12; m++) {
            set_up(&s, n, m, (struct stage_work){.forward = 3, .backward = 5});
            assert_int_equal(end_of(&s), (m + n - 1) * 8);
            s.x.order = ITERATION_GPIPE;
            assert_int_equal(end_of(&s), (m + n - 1) * 8);
        }
}

/* 12 equal layers in two stages: where to cut depends on the number of micro-batches. */
static void test_uneven_cuts(void **state)
{
    static const struct {
        uint32_t m;
        int64_t even, uneven;
    } row[] = {{2, 54, 51}, {3, 72, 66}, {4, 90, 85}, {5, 108, 106}};
    struct scene_of s;
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        for (int64_t first = 1; first < 12; first++) {
            set_up(&s, 2, row[i].m, (struct stage_work){.forward = first, .backward = 2 * first});
            s.stage[1].forward = 12 - first;
            s.stage[1].backward = 2 * (12 - first);
            policy_b(&s);
            int64_t end = end_of(&s);
            assert_true(end >= row[i].uneven);
            if (first == 6)
                assert_int_equal(end, row[i].even);
            if (first == 7)
                assert_int_equal(end, row[i].uneven);
        }
}

/* ---- a walk through time ------------------------------------------------------------------------ */

/* Work of one kind, stage and micro-batch: when it can be had and when it is done. */
struct walk {
    const struct iteration *x;
    int64_t start[ITERATION_KINDS][STAGES][MICRO], end[ITERATION_KINDS][STAGES][MICRO];
    struct iteration_entry list[DEVICES][3 * STAGES * MICRO];
    uint32_t length[DEVICES], at[DEVICES];
    int64_t free[DEVICES], link_free[2 * STAGES];
};

static uint32_t own_device(const struct iteration *x, uint32_t stage, uint32_t m)
{
    uint32_t d = 0, place = stage % x->nplace;
    for (uint32_t p = 0; p < place; p++)
        d += x->stage[p].turns > 1 ? x->stage[p].turns : 1;
    return d + (x->stage[place].turns > 1 ? m % x->stage[place].turns : 0);
}

static int64_t own_time(const struct iteration *x, uint32_t kind, uint32_t s)
{
    const struct stage_work *w = &x->stage[s];
    int64_t again = w->recompute ? w->forward : 0;
    int64_t apart = x->order == ITERATION_ZB_H1 ? w->weight : 0;
    const int64_t time[] = {w->forward, w->backward - apart + again, apart, w->send, w->send_back,
                            w->reduce};
    return time[kind];
}

/* The moment at which all that it waits for is done; -1: not all of it is. */
static int64_t own_ready(const struct walk *w, uint32_t kind, uint32_t s, uint32_t m)
{
    const struct iteration *x = w->x;
    bool last = s + 1 == x->nstage;
    switch (kind) {
    case ITERATION_FORWARD:
        return !s ? 0
                  : w->end[own_time(x, ITERATION_SEND, s - 1) ? ITERATION_SEND : ITERATION_FORWARD]
                          [s - 1][m];
    case ITERATION_BACKWARD:
        return last                                  ? w->end[ITERATION_FORWARD][s][m]
               : own_time(x, ITERATION_SEND_BACK, s) ? w->end[ITERATION_SEND_BACK][s][m]
                                                     : w->end[ITERATION_BACKWARD][s + 1][m];
    case ITERATION_WEIGHT:
        return w->end[ITERATION_BACKWARD][s][m];
    case ITERATION_SEND:
        return last ? -1 : w->end[ITERATION_FORWARD][s][m];
    default:
        return last ? -1 : w->end[ITERATION_BACKWARD][s + 1][m];
    }
}

/* The order of a device, by what may be next rather than from left to right: a device prefers backward work, unless
 * it has not yet put so many micro-batches in as it is to hold. */
static void own_lists(struct walk *w)
{
    const struct iteration *x = w->x;
    uint32_t many = x->nstage / x->nplace;
    for (uint32_t p = 0; p < x->nplace; p++) {
        uint32_t turns = x->stage[p].turns > 1 ? x->stage[p].turns : 1;
        for (uint32_t q = 0; q < turns; q++) {
            uint32_t d = own_device(x, p, q), n = 0, f = 0, b = 0, c = 0;
            uint32_t all = 0;
            for (uint32_t m = q; m < x->micro_batches; m += turns)
                all += many;
            uint32_t hold = x->order == ITERATION_GPIPE ? all : x->stage[p].ahead;
            if (x->order == ITERATION_INTERLEAVED)
                hold = x->micro_batches == x->nplace
                           ? all
                           : 2 * (x->nplace - 1 - p) + (many - 1) * x->nplace + 1;
            while (b < all || (x->order == ITERATION_ZB_H1 && c < all)) {
                uint32_t kind, k;
                if (f < all && f - b < hold) {
                    kind = ITERATION_FORWARD;
                    k = f++;
                    if (x->order == ITERATION_ZB_H1 && f - b == hold && c + x->stage[p].lag < b) {
                        f--; /* gradients of weights go first */
                        kind = ITERATION_WEIGHT;
                        k = c++;
                    }
                } else if (x->order == ITERATION_ZB_H1 && c + x->stage[p].lag < b) {
                    kind = ITERATION_WEIGHT;
                    k = c++;
                } else if (b < all) {
                    kind = ITERATION_BACKWARD;
                    k = x->order == ITERATION_GPIPE ? all - 1 - b : b;
                    b++;
                } else {
                    kind = ITERATION_WEIGHT;
                    k = c++;
                }
                uint32_t chunk = k / x->nplace % many, m = q + k * turns;
                if (many > 1)
                    m = k / (x->nplace * many) * x->nplace + k % x->nplace;
                if (kind == ITERATION_BACKWARD && many > 1)
                    chunk = many - 1 - chunk;
                w->list[d][n++] =
                    (struct iteration_entry){kind, (many > 1 ? chunk : 0) * x->nplace + p, m};
            }
            w->length[d] = n;
        }
    }
}

static uint32_t own_link(const struct iteration *x, uint32_t kind, uint32_t s)
{
    uint32_t from = s % x->nplace, to = (s + 1) % x->nplace;
    if (kind == ITERATION_SEND_BACK) {
        uint32_t swap = from;
        from = to;
        to = swap;
    }
    /* named by its ends: the way on, and the way back */
    uint32_t low = x->nplace == 2 ? 0 : kind == ITERATION_SEND ? from : to;
    bool back = x->nplace == 2 ? from == 1 : kind == ITERATION_SEND_BACK;
    return 2 * low + (x->half_duplex ? 0 : back);
}

struct pick {
    int64_t start, ready;
    uint32_t kind, s, m, where;
    bool link;
};

static bool is_before(const struct pick *a, const struct pick *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    if (a->link != b->link)
        return !a->link;
    if (a->ready != b->ready)
        return a->ready < b->ready;
    if (a->s != b->s)
        return a->s < b->s;
    return a->kind != b->kind ? a->kind < b->kind : a->m < b->m;
}

static bool step_once(struct walk *w)
{
    const struct iteration *x = w->x;
    struct pick best = {.start = INT64_MAX};
    for (uint32_t d = 0; d < iteration_devices(x); d++) {
        if (w->at[d] == w->length[d])
            continue;
        const struct iteration_entry *e = &w->list[d][w->at[d]];
        int64_t ready = own_ready(w, e->kind, e->stage, e->micro_batch);
        if (ready < 0)
            continue;
        struct pick p = {ready > w->free[d] ? ready : w->free[d],
                         ready,
                         e->kind,
                         e->stage,
                         e->micro_batch,
                         d,
                         false};
        best = is_before(&p, &best) ? p : best;
    }
    for (uint32_t s = 0; s + 1 < x->nstage; s++)
        for (uint32_t kind = ITERATION_SEND; kind <= ITERATION_SEND_BACK; kind++)
            for (uint32_t m = 0; m < x->micro_batches && own_time(x, kind, s); m++) {
                int64_t ready = own_ready(w, kind, s, m);
                uint32_t l = own_link(x, kind, s);
                if (ready < 0 || w->end[kind][s][m] >= 0)
                    continue;
                struct pick p = {
                    ready > w->link_free[l] ? ready : w->link_free[l], ready, kind, s, m, l, true};
                best = is_before(&p, &best) ? p : best;
            }
    if (best.start == INT64_MAX)
        return false;
    int64_t end = best.start + own_time(x, best.kind, best.s);
    w->start[best.kind][best.s][best.m] = best.start;
    w->end[best.kind][best.s][best.m] = end;
    if (best.link)
        w->link_free[best.where] = end;
    else {
        w->free[best.where] = end;
        w->at[best.where]++;
    }
    return true;
}

/* Bytes of a device at the moment at which something starts there, after all that has ended by then. */
static int64_t own_peak(const struct walk *w, uint32_t d)
{
    const struct iteration *x = w->x;
    int64_t peak = 0;
    for (uint32_t i = 0; i < w->length[d]; i++) {
        const struct iteration_entry *e = &w->list[d][i];
        int64_t now = w->start[e->kind][e->stage][e->micro_batch], bytes = 0;
        for (uint32_t s = 0; s < x->nstage; s++)
            for (uint32_t m = 0; m < x->micro_batches; m++) {
                const struct stage_work *y = &x->stage[s];
                uint32_t ends = x->order == ITERATION_ZB_H1 ? ITERATION_WEIGHT : ITERATION_BACKWARD;
                if (own_device(x, s, m) != d || w->end[ends][s][m] <= now)
                    continue;
                if (w->start[ITERATION_FORWARD][s][m] <= now)
                    bytes += y->recompute ? y->checkpoint : y->stored;
                if (w->start[ITERATION_BACKWARD][s][m] <= now && y->recompute)
                    bytes += y->stored - y->checkpoint;
            }
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

static void draw(struct scene_of *s, uint64_t *seed)
{
    uint32_t order = random_below(seed, ITERATION_ORDERS), places = 1 + random_below(seed, 4);
    uint32_t many = order == ITERATION_INTERLEAVED ? 1 + random_below(seed, STAGES / places) : 1;
    uint32_t micro = 1 + random_below(seed, order == ITERATION_INTERLEAVED ? 4 : 16);
    set_up(s, places * many, order == ITERATION_INTERLEAVED ? places * micro : micro,
           (struct stage_work){0});
    s->x.order = order;
    s->x.nplace = places;
    s->x.half_duplex = random_below(seed, 2);
    for (uint32_t i = 0; i < s->x.nstage; i++) {
        struct stage_work *w = &s->stage[i];
        w->forward = 1 + random_below(seed, 9);
        w->weight = 1 + random_below(seed, 5);
        w->backward = w->weight + 1 + random_below(seed, 9);
        w->send = random_below(seed, 3) ? 1 + random_below(seed, 6) : 0;
        w->send_back = random_below(seed, 3) ? 1 + random_below(seed, 6) : 0;
        w->reduce = random_below(seed, 2) ? random_below(seed, 30) : 0;
        w->stored = 5 + random_below(seed, 9);
        w->checkpoint = 1 + random_below(seed, 4);
        w->recompute = random_below(seed, 2);
        w->lag = random_below(seed, 3);
        w->turns =
            order == ITERATION_1F1B && !random_below(seed, 3) ? 1 + random_below(seed, 3) : 1;
        if (i < places)
            w->ahead = places - i + random_below(seed, 3);
    }
    iteration_settle_ahead(s->stage, places);
}

static void test_random_pipelines(void **state)
{
    struct walk *w = malloc(sizeof *w);
    uint64_t seed = 15;
    (void)state;
    assert_non_null(w);
    for (uint32_t i = 0; i < RANDOM; i++) {
        struct scene_of s;
        draw(&s, &seed);
        *w = (struct walk){.x = &s.x};
        memset(w->end, 0xff, sizeof w->end);
        memset(w->start, 0x7f, sizeof w->start);
        own_lists(w);
        while (step_once(w))
            ;
        int64_t end = 0;
        for (uint32_t k = 0; k < s.x.nstage; k++) {
            uint32_t last = s.x.order == ITERATION_ZB_H1 ? ITERATION_WEIGHT : ITERATION_BACKWARD;
            int64_t done = 0;
            for (uint32_t m = 0; m < s.x.micro_batches; m++) {
                assert_true(w->end[last][k][m] >= 0);
                done = w->end[last][k][m] > done ? w->end[last][k][m] : done;
            }
            done += s.x.stage[k].reduce;
            end = done > end ? done : end;
        }
        struct result r = run(&s.x, 0);
        assert_int_equal(r.end, end);
        for (uint32_t d = 0; d < iteration_devices(&s.x); d++)
            assert_int_equal(r.peak[d], own_peak(w, d));
    }
    free(w);
}

/* Without a backward pass equal micro-batches follow each other through stages and links: the first one takes all of
 * them, each further one the slowest of them more.  A device holds what its stage makes until it is sent. */
static void test_forward(void **state)
{
    uint64_t seed = 8;
    (void)state;
    for (int i = 0; i < RANDOM; i++) {
        struct scene_of s;
        int64_t all = 0, slowest = 0;
        draw(&s, &seed);
        if (s.x.order == ITERATION_INTERLEAVED || iteration_devices(&s.x) > s.x.nplace)
            continue;
        s.x.forward_only = true;
        for (uint32_t k = 0; k < s.x.nstage; k++) {
            struct stage_work *w = &s.stage[k];
            int64_t send = k + 1 < s.x.nstage ? w->send : 0;
            w->reduce = w->send_back = 0;
            w->recompute = false;
            all += w->forward + send;
            slowest = larger(slowest, larger(w->forward, send));
        }
        struct result r = run(&s.x, 3);
        assert_int_equal(r.end, all + (s.x.micro_batches - 1) * slowest);
        assert_int_equal(r.peak[s.x.nstage - 1], 3 + s.stage[s.x.nstage - 1].stored);
    }
}

/* Two places with two stages each, four micro-batches, no transfers: A A B B A A B B on the first place. */
static void test_forward_interleaved(void **state)
{
    struct scene_of s;
    (void)state;
    set_up(&s, 4, 4, (struct stage_work){.forward = 5, .backward = 7, .stored = 2});
    s.x.order = ITERATION_INTERLEAVED;
    s.x.nplace = 2;
    s.x.forward_only = true;
    expect(&s, 5 + 8 * 5, PEAK(2, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_stages),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_timeline),
        cmocka_unit_test(test_four_stages),
        cmocka_unit_test(test_uneven_stages),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_recompute),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_zero_bubble),
        cmocka_unit_test(test_equal_stages),
        cmocka_unit_test(test_uneven_cuts),
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_forward_interleaved),
        cmocka_unit_test(test_random_pipelines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
