/* The event core against rules written once more, the slow way: lists against longest paths, other lanes against a
 * walk through all items at every moment; deadlocks against a search for cycles; small cases worked out by hand. */
#include "ir/exec/events.h"
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    GRAPHS = 2000,
    MOST = 12,
    MOST_COUNT = 3,
    MOST_ITEMS = MOST * MOST_COUNT,
    LANES = 5,
    DEVS = 3
};

/* ---- building ------------------------------------------------------------------------------- */

struct made {
    struct arena *a;
    struct task_graph g;
    struct task task[MOST];
    struct lane lane[LANES];
    struct buffer buffer[MOST];
    uint32_t nwait, wait[MOST * MOST], on[MOST * MOST];
    uint32_t nuse, use[MOST * MOST], user[MOST * MOST];
    uint32_t nlist, list_lane[LANES * MOST_ITEMS], list_item[LANES * MOST_ITEMS];
    uint32_t nset, set_at[MOST + 1], set_lane[MOST * LANES];
    int64_t memory[DEVS], lasting[DEVS];
};

static uint32_t add(struct made *x, int64_t time, uint32_t lane, uint32_t other)
{
    x->task[x->g.ntask] =
        (struct task){.time = time, .lane = {lane, other}, .count = 1, .number = x->g.ntask};
    return x->g.ntask++;
}

/* Makes the task hold these lanes, three or more. */
static void hold(struct made *x, uint32_t task, const uint32_t *lane, uint32_t n)
{
    uint32_t *at = &x->set_at[x->nset];
    for (uint32_t i = 0; i < n; i++)
        x->set_lane[at[0] + i] = lane[i];
    at[1] = at[0] + n;
    x->task[task].lane[0] = lane[0];
    x->task[task].lane[1] = LANE_SETS + x->nset++;
}

/* How many lanes a task holds; whether it holds one. */
static uint32_t lanes_held(const struct made *x, uint32_t task, uint32_t lane, bool *holds)
{
    const uint32_t *l = x->task[task].lane;
    uint32_t n = 0;
    *holds = false;
    if (l[1] == NO_LANE || l[1] < LANE_SETS) {
        *holds = l[0] == lane || l[1] == lane;
        return (l[0] != NO_LANE) + (l[1] != NO_LANE);
    }
    for (uint32_t i = x->set_at[l[1] - LANE_SETS]; i < x->set_at[l[1] - LANE_SETS + 1]; i++, n++)
        *holds = *holds || x->set_lane[i] == lane;
    return n;
}

static void after(struct made *x, uint32_t task, uint32_t on)
{
    x->wait[x->nwait] = task;
    x->on[x->nwait++] = on;
}

/* The rest of the graph; lists name items, so numbers come first. */
static void number(struct made *x)
{
    x->g.task = x->task;
    x->g.lane = x->lane;
    x->g.buffer = x->buffer;
    x->g.set = (struct csr){x->set_at, x->set_lane};
    assert_true(task_graph_number(&x->g, x->a));
}

static void join(struct made *x)
{
    x->g.waits = csr_build(x->a, x->g.ntask, x->nwait, x->wait, x->on);
    x->g.use = csr_build(x->a, x->g.nbuffer, x->nuse, x->use, x->user);
    x->g.list = csr_build(x->a, x->g.nlane, x->nlist, x->list_lane, x->list_item);
}

static struct timeline run(struct made *x)
{
    join(x);
    return events_run(&x->g, NULL, x->a);
}

/* Instances of `on` that instance i of task t has to do with: from, up to *to. */
static uint32_t related(const struct task_graph *g, uint32_t t, uint32_t i, uint32_t on,
                        uint32_t *to)
{
    if (g->task[t].count == g->task[on].count) {
        *to = g->first[on] + i + 1;
        return g->first[on] + i;
    }
    *to = g->first[on + 1];
    return g->first[on];
}

/* ---- random graphs -------------------------------------------------------------------------- */

/* Three lanes or more, in some order. */
static void draw_set(struct made *x, uint64_t *rng, uint32_t task)
{
    uint32_t lane[LANES], n = 3 + test_below(rng, LANES - 2);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t k = test_below(rng, l + 1);
        lane[l] = lane[k];
        lane[k] = l;
    }
    hold(x, task, lane, n);
}

static void draw_tasks(struct made *x, uint64_t *rng, uint32_t shortest)
{
    uint32_t n = 1 + test_below(rng, MOST), many = 1 + test_below(rng, MOST_COUNT);
    x->a = arena_new(NULL);
    x->g.nlane = LANES;
    x->g.ndev = DEVS;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t l = test_below(rng, LANES), other = (l + 1 + test_below(rng, LANES - 1)) % LANES;
        uint32_t lanes = test_below(rng, 8);
        add(x, shortest + test_below(rng, 6), lanes ? l : NO_LANE, lanes > 4 ? other : NO_LANE);
        if (lanes == 7)
            draw_set(x, rng, t);
        x->task[t].count = test_below(rng, 3) ? many : 1;
        x->task[t].rank = test_below(rng, 4);
        x->task[t].release = test_below(rng, 5) ? 0 : (int64_t)test_below(rng, 12);
        for (uint32_t u = 0; u < t; u++)
            if (test_below(rng, 4) == 0)
                after(x, t, u);
    }
}

static void draw_buffers(struct made *x, uint64_t *rng)
{
    for (uint32_t t = 0; t < x->g.ntask; t++)
        if (test_below(rng, 3)) {
            uint32_t b = x->g.nbuffer++;
            x->buffer[b] = (struct buffer){test_below(rng, DEVS), t, 1 + test_below(rng, 20)};
            for (uint32_t u = t; u < x->g.ntask; u++)
                if (test_below(rng, 4) == 0) {
                    x->use[x->nuse] = b;
                    x->user[x->nuse++] = u;
                }
        }
    for (uint32_t d = 0; d < DEVS; d++) {
        x->lasting[d] = test_below(rng, 9);
        x->memory[d] = test_below(rng, 2) ? -1 : 10 + (int64_t)test_below(rng, 60);
    }
    x->g.lasting = x->lasting;
    x->g.memory = x->memory;
}

/* All items in the lists of their lanes: in order of their tasks, or shuffled. */
static void draw_lists(struct made *x, uint64_t *rng, bool shuffled)
{
    uint32_t n = x->g.first[x->g.ntask], order[MOST_ITEMS];
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; shuffled && i > 1; i--) {
        uint32_t k = test_below(rng, i), t = order[k];
        order[k] = order[i - 1];
        order[i - 1] = t;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            bool holds;
            lanes_held(x, task_of_item(&x->g, order[i]), lane, &holds);
            x->list_lane[x->nlist] = lane;
            x->list_item[x->nlist] = order[i];
            x->nlist += holds;
        }
}

/* ---- lists: longest paths -------------------------------------------------------------------- */

struct edge {
    uint32_t from, to; /* items */
};

static uint32_t all_edges(const struct made *x, struct edge *e)
{
    uint32_t n = 0, last[LANES], to;
    for (uint32_t w = 0; w < x->nwait; w++)
        for (uint32_t i = 0; i < x->task[x->wait[w]].count; i++)
            for (uint32_t j = related(&x->g, x->wait[w], i, x->on[w], &to); j < to; j++)
                e[n++] = (struct edge){j, x->g.first[x->wait[w]] + i};
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < x->nlist; i++) {
        uint32_t *l = &last[x->list_lane[i]];
        if (*l != NO_ITEM)
            e[n++] = (struct edge){*l, x->list_item[i]};
        *l = x->list_item[i];
    }
    return n;
}

/* start[] of all items, by going round until nothing changes; false: there is a cycle. */
static bool longest_paths(const struct made *x, int64_t *start)
{
    static struct edge e[MOST_ITEMS * MOST_ITEMS * 2];
    uint32_t n = all_edges(x, e), items = x->g.first[x->g.ntask];
    for (uint32_t i = 0; i < items; i++)
        start[i] = x->task[task_of_item(&x->g, i)].release;
    for (uint32_t round = 0; round <= items; round++) {
        bool changed = false;
        for (uint32_t k = 0; k < n; k++) {
            int64_t done = start[e[k].from] + x->task[task_of_item(&x->g, e[k].from)].time;
            if (done > start[e[k].to]) {
                start[e[k].to] = done;
                changed = true;
            }
        }
        if (!changed)
            return true;
    }
    return false;
}

static void check_cycle(const struct made *x, const struct timeline *t)
{
    static struct edge e[MOST_ITEMS * MOST_ITEMS * 2];
    uint32_t n = all_edges(x, e);
    assert_true(t->ncycle > 0);
    for (uint32_t i = 0; i < t->ncycle; i++) {
        uint32_t waits = t->cycle[i], on = t->cycle[(i + 1) % t->ncycle], k = 0;
        assert_int_equal(t->start[waits], -1);
        /* Some way of list orders and waits leads from one to the other: lists name their head. */
        static bool reach[MOST_ITEMS];
        memset(reach, 0, sizeof reach);
        reach[on] = true;
        for (uint32_t round = 0; round < MOST_ITEMS; round++)
            for (k = 0; k < n; k++)
                reach[e[k].to] = reach[e[k].to] || reach[e[k].from];
        assert_true(reach[waits]);
    }
}

/* ---- memory: all changes in order -------------------------------------------------------------- */

struct change {
    int64_t at, bytes;
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int64_t end_of(const struct made *x, const struct timeline *t, uint32_t item)
{
    return t->start[item] + x->task[task_of_item(&x->g, item)].time;
}

/* Peaks of devices, and by how much which of them is first too small. */
static void check_memory(const struct made *x, const struct timeline *t)
{
    int64_t first = -1, over = 0;
    for (uint32_t d = 0; d < DEVS; d++) {
        struct change c[2 * MOST_ITEMS];
        uint32_t n = 0;
        for (uint32_t b = 0; b < x->g.nbuffer; b++) {
            const struct buffer *f = &x->buffer[b];
            for (uint32_t i = 0; f->dev == d && i < x->task[f->task].count; i++) {
                int64_t freed = -1;
                for (uint32_t k = 0; k < x->nuse; k++) {
                    uint32_t to, j = related(&x->g, f->task, i, x->user[k], &to);
                    for (; x->use[k] == b && j < to; j++)
                        freed = end_of(x, t, j) > freed ? end_of(x, t, j) : freed;
                }
                c[n++] = (struct change){t->start[x->g.first[f->task] + i], f->bytes};
                if (freed >= 0)
                    c[n++] = (struct change){freed, -f->bytes};
            }
        }
        qsort(c, n, sizeof *c, by_time);
        int64_t now = x->lasting[d], peak = now;
        for (uint32_t i = 0; i < n; i++) {
            now += c[i].bytes;
            peak = now > peak ? now : peak;
            if (x->memory[d] >= 0 && now > x->memory[d] && (first < 0 || c[i].at < first))
                first = c[i].at;
        }
        assert_int_equal(t->peak[d], peak);
        if (x->memory[d] >= 0 && peak > x->memory[d])
            over = 1;
    }
    assert_int_equal(t->over > 0, over);
    if (over)
        assert_int_equal(t->over_at, first);
}

static void lists_are_longest_paths(void **state)
{
    (void)state;
    uint64_t rng = 11;
    uint32_t locked = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        static struct made x;
        int64_t want[MOST_ITEMS];
        memset(&x, 0, sizeof x);
        draw_tasks(&x, &rng, 1);
        number(&x);
        draw_buffers(&x, &rng);
        draw_lists(&x, &rng, i % 4 == 3);
        struct timeline t = run(&x);
        bool ends = longest_paths(&x, want);
        assert_int_equal(t.status, ends ? RUN_DONE : RUN_DEADLOCK);
        locked += !ends;
        for (uint32_t k = 0; ends && k < t.nitem; k++)
            assert_int_equal(t.start[k], want[k]);
        if (ends)
            check_memory(&x, &t);
        else
            check_cycle(&x, &t);
        arena_free(x.a);
    }
    assert_true(locked > 100 && locked < GRAPHS / 4);
}

/* ---- other lanes: every moment by hand --------------------------------------------------------- */

struct slow {
    const struct made *x;
    int64_t start[MOST_ITEMS], ready[MOST_ITEMS]; /* -1: not yet */
    uint32_t n;
};

static bool is_over(const struct slow *s, uint32_t item, int64_t now, const bool *ended)
{
    (void)now;
    return s->start[item] >= 0 && ended[item];
}

static bool is_ready(const struct slow *s, uint32_t item, int64_t now, const bool *ended)
{
    const struct made *x = s->x;
    uint32_t t = task_of_item(&x->g, item);
    if (s->start[item] >= 0 || x->task[t].release > now)
        return false;
    for (uint32_t w = 0; w < x->nwait; w++) {
        uint32_t to, j = related(&x->g, t, item - x->g.first[t], x->on[w], &to);
        for (; x->wait[w] == t && j < to; j++)
            if (!is_over(s, j, now, ended))
                return false;
    }
    return true;
}

static bool room(const struct slow *s, uint32_t lane, const bool *ended)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool holds;
        lanes_held(s->x, task_of_item(&s->x->g, i), lane, &holds);
        held += s->start[i] >= 0 && !ended[i] && holds;
    }
    return held < (s->x->lane[lane].width ? s->x->lane[lane].width : 1);
}

/* Whether a goes before b among those that are ready for lane l (NO_LANE: as requests). */
static bool goes_first(const struct slow *s, uint32_t a, uint32_t b, uint32_t l)
{
    const struct made *x = s->x;
    uint32_t ra = x->task[task_of_item(&x->g, a)].rank, rb = x->task[task_of_item(&x->g, b)].rank;
    bool by_rank = l != NO_LANE && x->lane[l].discipline == LANE_RANK;
    if (!by_rank && s->ready[a] != s->ready[b])
        return s->ready[a] < s->ready[b];
    return ra != rb ? ra < rb : a < b;
}

/* Starts one item of those with no lane (0), with lane l (1), with several (2); false: none can. */
static bool start_one(struct slow *s, uint32_t lanes, uint32_t l, int64_t now, const bool *ended)
{
    uint32_t best = NO_ITEM;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t k = task_of_item(&s->x->g, i);
        bool on, blocked = false;
        uint32_t has = lanes_held(s->x, k, l, &on);
        if (s->ready[i] < 0 || s->start[i] >= 0 || (has > 2 ? 2 : has) != lanes ||
            (lanes == 1 && !on))
            continue;
        for (uint32_t lane = 0; lane < LANES; lane++) {
            lanes_held(s->x, k, lane, &on);
            blocked = blocked || (on && !room(s, lane, ended));
        }
        if (blocked)
            continue;
        if (best == NO_ITEM || goes_first(s, i, best, lanes == 1 ? l : NO_LANE))
            best = i;
    }
    if (best != NO_ITEM)
        s->start[best] = now;
    return best != NO_ITEM;
}

static void run_slowly(struct slow *s)
{
    bool ended[MOST_ITEMS] = {false};
    for (int64_t now = 0; now < 1000;) {
        bool again = false;
        for (uint32_t i = 0; i < s->n; i++)
            if (s->start[i] >= 0 && !ended[i] &&
                s->start[i] + s->x->task[task_of_item(&s->x->g, i)].time == now)
                ended[i] = true;
        for (uint32_t i = 0; i < s->n; i++)
            if (s->ready[i] < 0 && is_ready(s, i, now, ended))
                s->ready[i] = now;
        while (start_one(s, 0, NO_LANE, now, ended))
            ;
        while (start_one(s, 2, NO_LANE, now, ended))
            ;
        for (uint32_t l = 0; l < LANES; l++)
            while (start_one(s, 1, l, now, ended))
                ;
        for (uint32_t i = 0; i < s->n; i++) /* what takes no time ends at once */
            again = again || (s->start[i] == now && !ended[i] &&
                              !s->x->task[task_of_item(&s->x->g, i)].time);
        now += !again;
    }
}

static void disciplines_as_written_down(void **state)
{
    (void)state;
    uint64_t rng = 12;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        static struct made x;
        memset(&x, 0, sizeof x);
        draw_tasks(&x, &rng, i % 3 == 0 ? 0 : 1);
        number(&x);
        for (uint32_t l = 0; l < LANES; l++)
            x.lane[l] =
                (struct lane){test_below(&rng, 3), test_below(&rng, 2) ? LANE_FIFO : LANE_RANK};
        struct timeline t = run(&x);
        struct slow s = {.x = &x, .n = t.nitem};
        memset(s.start, 0xff, sizeof s.start);
        memset(s.ready, 0xff, sizeof s.ready);
        run_slowly(&s);
        assert_int_equal(t.status, RUN_DONE);
        for (uint32_t k = 0; k < t.nitem; k++)
            assert_int_equal(t.start[k], s.start[k]);
        arena_free(x.a);
    }
}

/* ---- the critical chain ---------------------------------------------------------------------- */

static void chains_have_no_gaps(void **state)
{
    (void)state;
    uint64_t rng = 13;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        static struct made x;
        memset(&x, 0, sizeof x);
        draw_tasks(&x, &rng, i % 3 ? 1 : 0);
        number(&x);
        for (uint32_t l = 0; l < LANES; l++)
            x.lane[l].width = test_below(&rng, 3);
        if (i % 2)
            draw_lists(&x, &rng, false);
        else
            for (uint32_t l = 0; l < LANES; l++)
                x.lane[l].discipline = LANE_FIFO;
        struct timeline t = run(&x);
        uint32_t n;
        const uint32_t *chain = timeline_chain(&t, &n, x.a);
        assert_true(n > 0);
        assert_int_equal(end_of(&x, &t, chain[n - 1]), t.end);
        assert_int_equal(t.start[chain[0]], x.task[task_of_item(&x.g, chain[0])].release);
        for (uint32_t k = 1; k < n; k++)
            assert_true(t.start[chain[k]] == end_of(&x, &t, chain[k - 1]) ||
                        (i % 2 && t.start[chain[k]] == t.start[chain[k - 1]]));
        arena_free(x.a);
    }
}

/* ---- by hand ------------------------------------------------------------------------------------ */

/* An op u on dev and a value from it to each other device that is named; `port`: out-port of the sender (lane
 * ndev + dev) and in-port of the receiver (lane 2 ndev + dev); half: one channel for both. */
enum { FREE, LINK, PORT, HALF };

struct hand {
    struct made x;
    struct lane lanes[12];
    uint32_t ndev;
    int mode;
};

static uint32_t transfer(struct hand *h, uint32_t op, uint32_t from, uint32_t to, int64_t time)
{
    uint32_t n = h->ndev, l[2] = {NO_LANE, NO_LANE};
    if (h->mode == LINK)
        l[0] = n + from * n + to;
    if (h->mode == PORT || h->mode == HALF) {
        l[0] = n + from;
        l[1] = h->mode == PORT ? 2 * n + to : n + to;
    }
    uint32_t t = add(&h->x, time, l[0], l[1]);
    after(&h->x, t, op);
    return t;
}

static struct hand hand(uint32_t ndev, int mode)
{
    struct hand h = {.ndev = ndev, .mode = mode};
    h.x.a = arena_new(NULL);
    h.x.g.nlane = 12;
    h.x.g.ndev = ndev;
    for (uint32_t l = 0; l < 12; l++)
        h.lanes[l].discipline = LANE_FIFO;
    return h;
}

static struct timeline play(struct hand *h)
{
    number(&h->x);
    h->x.g.lane = h->lanes;
    return run(&h->x);
}

static void diamond(void **state)
{
    (void)state;
    for (int mode = FREE; mode <= HALF; mode++) {
        struct hand h = hand(3, mode);
        struct made *x = &h.x;
        uint32_t a = add(x, 2, 0, NO_LANE), b = add(x, 3, 1, NO_LANE), c = add(x, 1, 2, NO_LANE);
        uint32_t d = add(x, 2, 0, NO_LANE);
        after(x, b, transfer(&h, a, 0, 1, 2));
        after(x, c, transfer(&h, a, 0, 2, 2));
        after(x, d, transfer(&h, b, 1, 0, 1));
        after(x, d, transfer(&h, c, 2, 0, 1));
        struct timeline t = play(&h);
        assert_int_equal(t.end, mode < PORT ? 10 : 11);
        assert_int_equal(t.start[b], 4);
        assert_int_equal(t.start[c], mode < PORT ? 4 : 6);
        assert_int_equal(t.start[d], mode < PORT ? 8 : 9);
        arena_free(x->a);
    }
}

static void exchange(void **state)
{
    (void)state;
    for (int mode = FREE; mode <= HALF; mode++) {
        struct hand h = hand(2, mode);
        struct made *x = &h.x;
        uint32_t a = add(x, 1, 0, NO_LANE), b = add(x, 1, 1, NO_LANE), c = add(x, 1, 1, NO_LANE);
        uint32_t e = add(x, 1, 0, NO_LANE);
        after(x, c, transfer(&h, a, 0, 1, 3));
        after(x, e, transfer(&h, b, 1, 0, 3));
        struct timeline t = play(&h);
        assert_int_equal(t.end, mode == HALF ? 8 : 5);
        assert_int_equal(t.start[c], 4);
        assert_int_equal(t.start[e], mode == HALF ? 7 : 4);
        arena_free(x->a);
    }
}

static void keep(struct made *x, uint32_t dev, uint32_t task, int64_t bytes, uint32_t n, ...)
{
    va_list ap;
    uint32_t b = x->g.nbuffer++;
    x->buffer[b] = (struct buffer){dev, task, bytes};
    va_start(ap, n);
    for (uint32_t i = 0; i < n; i++) {
        x->use[x->nuse] = b;
        x->user[x->nuse++] = va_arg(ap, uint32_t);
    }
    va_end(ap);
}

static void cache_and_memory(void **state)
{
    (void)state;
    struct hand h = hand(2, PORT);
    struct made *x = &h.x;
    uint32_t a = add(x, 1, 0, NO_LANE), d = add(x, 1, 0, NO_LANE), b = add(x, 2, 1, NO_LANE);
    uint32_t c = add(x, 2, 1, NO_LANE), move = transfer(&h, a, 0, 1, 4);
    after(x, d, a);
    after(x, b, move);
    after(x, c, move);
    keep(x, 0, a, 10, 2, d, move);
    keep(x, 0, d, 2, 0);
    keep(x, 1, move, 10, 2, b, c);
    keep(x, 1, b, 3, 0);
    keep(x, 1, b, 5, 1, b);
    keep(x, 1, c, 3, 0);
    struct timeline t = play(&h);
    assert_int_equal(t.end, 9);
    assert_int_equal(t.start[b], 5);
    assert_int_equal(t.start[c], 7);
    assert_int_equal(t.peak[0], 12);
    assert_int_equal(t.peak[1], 18);
    assert_int_equal(t.peak_at[1], 5);
    arena_free(x->a);
}

static void list(struct made *x, uint32_t lane, uint32_t n, ...)
{
    va_list ap;
    va_start(ap, n);
    for (uint32_t i = 0; i < n; i++) {
        x->list_lane[x->nlist] = lane;
        x->list_item[x->nlist++] = va_arg(ap, uint32_t);
    }
    va_end(ap);
}

static void deadlock(void **state)
{
    (void)state;
    struct hand h = hand(2, FREE);
    struct made *x = &h.x;
    for (uint32_t i = 0; i < 4; i++)
        add(x, 1, i / 2 ? 1 : 0, NO_LANE);
    x->task[2].lane[0] = 0;
    x->task[1].lane[0] = 1;
    after(x, 3, 0);
    after(x, 2, 1);
    list(x, 0, 2, 2, 0);
    list(x, 1, 2, 3, 1);
    h.lanes[0].discipline = h.lanes[1].discipline = LANE_LIST;
    struct timeline t = play(&h);
    assert_int_equal(t.status, RUN_DEADLOCK);
    assert_int_equal(t.ncycle, 4);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 4; i++)
        seen |= 1U << t.cycle[i];
    assert_int_equal(seen, 15);
    arena_free(x->a);
}

/* Devices 0 to 3 compute, then exchange what they have all together, then compute again; device 4 has nothing to do
 * with it.  The exchange starts when the slowest is there, and who waits for it cannot do anything else before. */
static void four_exchange(void **state)
{
    (void)state;
    static const int64_t first[] = {3, 9, 5, 4, 2};
    static const uint32_t four[] = {0, 1, 2, 3};
    static struct made x;
    for (int listed = 0; listed < 2; listed++) {
        memset(&x, 0, sizeof x);
        x.a = arena_new(NULL);
        x.g.nlane = LANES;
        x.g.ndev = DEVS;
        uint32_t all = add(&x, 7, NO_LANE, NO_LANE);
        hold(&x, all, four, 4);
        for (uint32_t l = 0; l < LANES; l++) {
            uint32_t before = add(&x, first[l], l, NO_LANE), behind = add(&x, 1, l, NO_LANE);
            x.lane[l].discipline = listed ? LANE_LIST : LANE_FIFO;
            if (l < 4)
                after(&x, all, before);
            after(&x, behind, l < 4 ? all : before);
        }
        number(&x);
        for (uint32_t l = 0; listed && l < LANES; l++) {
            list(&x, l, 1, 1 + 2 * l);
            if (l < 4)
                list(&x, l, 1, all);
            list(&x, l, 1, 2 + 2 * l);
        }
        struct timeline t = run(&x);
        assert_int_equal(t.status, RUN_DONE);
        assert_int_equal(t.start[all], 9);
        for (uint32_t l = 0; l < LANES; l++) {
            assert_int_equal(t.start[2 + 2 * l], l < 4 ? 16 : 2);
            assert_int_equal(t.busy[l], first[l] + (l < 4 ? 8 : 1));
        }
        assert_int_equal(t.end, 17);
        assert_int_equal(t.because[all], 1 + 2 * 1);
        arena_free(x.a);
    }
}

/* A simulator that books channels ahead of time says 111 here. */
static void nobody_books_ahead(void **state)
{
    (void)state;
    for (int mode = FREE; mode <= HALF; mode++) {
        struct hand h = hand(3, mode);
        struct made *x = &h.x;
        uint32_t op[4] = {add(x, 100, 0, NO_LANE), add(x, 1, 1, NO_LANE), add(x, 1, 2, NO_LANE),
                          add(x, 1, 2, NO_LANE)};
        after(x, op[3], transfer(&h, op[0], 0, 2, 5));
        after(x, op[2], transfer(&h, op[1], 1, 2, 5));
        struct timeline t = play(&h);
        assert_int_equal(t.end, 106);
        assert_int_equal(t.start[op[2]], 6);
        arena_free(x->a);
    }
}

/* The model of two branches (Baechi-PyTorch, Figure 1): the copy of x stands in the lists of both devices, behind
 * m2 (the order of the program) or right behind x; or it takes a port. */
static void two_branches(void **state)
{
    (void)state;
    for (int early = 0; early < 3; early++) {
        struct hand h = hand(2, PORT);
        struct made *x = &h.x;
        uint32_t first = add(x, 1, 0, NO_LANE), m1 = add(x, 4, 0, NO_LANE),
                 m2 = add(x, 4, 0, NO_LANE);
        uint32_t m3 = add(x, 4, 1, NO_LANE), end = add(x, 1, 0, NO_LANE), copy, back;
        if (early < 2) {
            copy = add(x, 1, 0, 1);
            back = add(x, 1, 0, 1);
            after(x, copy, first);
            after(x, back, m3);
            h.lanes[0].discipline = h.lanes[1].discipline = LANE_LIST;
            if (early)
                list(x, 0, 6, first, copy, m1, m2, back, end);
            else
                list(x, 0, 6, first, m1, m2, copy, back, end);
            list(x, 1, 3, copy, m3, back);
        } else {
            copy = transfer(&h, first, 0, 1, 1);
            back = transfer(&h, m3, 1, 0, 1);
        }
        after(x, m1, first);
        after(x, m2, m1);
        after(x, m3, copy);
        after(x, end, m2);
        after(x, end, back);
        struct timeline t = play(&h);
        assert_int_equal(t.end, early == 0 ? 16 : early == 1 ? 12 : 10);
        arena_free(x->a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_longest_paths),
        cmocka_unit_test(disciplines_as_written_down),
        cmocka_unit_test(chains_have_no_gaps),
        cmocka_unit_test(diamond),
        cmocka_unit_test(exchange),
        cmocka_unit_test(cache_and_memory),
        cmocka_unit_test(deadlock),
        cmocka_unit_test(four_exchange),
        cmocka_unit_test(nobody_books_ahead),
        cmocka_unit_test(two_branches),
    };
    return cmocka_run_group_tests_name("unit_events", tests, NULL, NULL);
}
