/* One step node by node against rules written once more, the slow way (support/slow_step.h): start times of all nodes
 * and hops, deadlocks, peaks of memory on random modules; small cases worked out by hand. */
#include "tests/support/step_draw.h"

enum { GRAPHS = 300 };

static struct task_graph build(const struct made *s, const struct step_model *how)
{
    struct scene of = s->of;
    of.model.step = *how;
    const struct plan p = {.dev = (int32_t *)s->dev, .rank = s->order};
    return single_step(&of, &p, NULL, s->a);
}

/* The item of a node. */
static uint32_t item_of(const struct task_graph *g, nid n)
{
    for (uint32_t t = 0; t < g->ntask; t++)
        if (g->task[t].kind == STEP_COMPUTE && g->task[t].number == n)
            return g->first[t];
    fail_msg("node %u has no task", n);
    return NO_ITEM;
}

/* ---- comparing -------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Starts of the jobs of that kind of a node or value, ascending; how many. */
static uint32_t starts_of(const struct slow *o, const struct job *like, int64_t *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n; i++)
        if (o->job[i].kind == like->kind && o->job[i].node == like->node &&
            o->job[i].value == like->value)
            at[n++] = o->job[i].start;
    qsort(at, n, sizeof *at, by_size);
    return n;
}

static uint32_t starts_in(const struct slow *o, const struct task_graph *g,
                          const struct timeline *t, const struct job *like, int64_t *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->ntask; i++) {
        const struct task *k = &g->task[i];
        assert_int_equal(k->count, 1);
        if (k->kind == like->kind &&
            (k->kind == STEP_COMPUTE ? k->number == like->node
                                     : o->s->of.place->net_value[k->number] == like->value)) {
            assert_true(n < MOST_JOBS);
            at[n++] = t->start[g->first[i]];
        }
    }
    qsort(at, n, sizeof *at, by_size);
    return n;
}

static void describe(const struct slow *o)
{
    module_print(stderr, &o->s->of, NULL);
    fprintf(stderr, "%s %s %s\n", network_name[o->how.network], contention_name[o->how.contention],
            dispatch_name[o->how.dispatch]);
    for (uint32_t i = 0; i < o->n; i++) {
        const struct job *j = &o->job[i];
        fprintf(stderr, "%s from %d to %d: rank %u ready %lld start %lld time %lld\n",
                j->kind == STEP_COMPUTE ? node_name(o->s->of.m, j->node)
                                        : value_name(o->s->of.m, j->value),
                j->from, j->to, j->kind == STEP_COMPUTE ? rank_of(o, j) : 0, (long long)j->ready,
                (long long)j->start, (long long)j->time);
    }
}

static void check_starts(const struct slow *o, const struct task_graph *g, const struct timeline *t)
{
    int64_t want[MOST_JOBS], have[MOST_JOBS];
    for (uint32_t i = 0; i < o->n; i++) {
        const struct job *j = &o->job[i];
        uint32_t n = starts_of(o, j, want), k = starts_in(o, g, t, j, have);
        bool same = n == k && memcmp(want, have, n * sizeof *want) == 0;
        if (!same) {
            describe(o);
            for (uint32_t s = 0; s < n || s < k; s++)
                fprintf(stderr, "want %lld have %lld\n", s < n ? (long long)want[s] : -9,
                        s < k ? (long long)have[s] : -9);
            fail_msg("kind %d of node %u, value %u", j->kind, j->node, j->value);
        }
    }
    assert_int_equal(g->ntask, o->n);
}

static void check_sums(const struct slow *o, const struct timeline *t)
{
    int64_t end = 0, busy[MOST_DEVS] = {0};
    for (uint32_t i = 0; i < o->n; i++) {
        const struct job *j = &o->job[i];
        end = j->start + j->time > end ? j->start + j->time : end;
        for (int h = 0; h < 2; h++)
            if (j->hold[h] >= 0 && j->hold[h] < MOST_DEVS)
                busy[j->hold[h]] += j->time;
    }
    assert_int_equal(t->end, end);
    for (uint32_t d = 0; d < o->s->of.cluster->ndev; d++)
        assert_int_equal(t->busy[d], busy[d]);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

struct change {
    int64_t at, bytes;
};

static int by_moment(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int64_t end_of(const struct job *j)
{
    return j->start + j->time;
}

static void until(int64_t *to, const struct job *j)
{
    *to = end_of(j) > *to ? end_of(j) : *to;
}

/* The host's memory: the device that makes v, or else the first that reads it; -1: none. */
static int charged(const struct slow *o, vid v)
{
    const struct made *s = o->s;
    nid def = s->of.m->value[v].def;
    if (def && is_host(o, s->dev[def]))
        return s->dev[def];
    for (nid n = s->first; n < s->first + s->n; n++)
        if (is_placed(o, n) && is_host(o, s->dev[n]) && reads(o, n, v))
            return s->dev[n];
    return -1;
}

/* From when to when value v is on device d; false: never.  Without an end it stays: *to < 0. */
static bool stay(const struct slow *o, vid v, int d, int64_t *from, int64_t *to)
{
    nid def = o->s->of.m->value[v].def;
    int home = def ? o->s->dev[def] : THE_HOST;
    bool host = is_host(o, d), output = (o->s->of.m->value[v].flags & VALUE_OUTPUT) != 0;
    *to = -1;
    if (host ? !def || charged(o, v) != d : d != home && !on_device_reads(o, d, v))
        return false;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct job *j = &o->job[i];
        if (j->kind == STEP_COMPUTE) {
            if (d == home && j->node == def)
                *from = j->start;
            if ((host ? is_host(o, j->to) : j->to == d) && reads(o, j->node, v))
                until(to, j);
        } else if (j->value == v) {
            if (d != home && (host ? j->kind == STEP_OUT : j->to == d))
                *from = j->start;
            if (host ? j->kind == STEP_IN : j->from == d)
                until(to, j);
        }
    }
    if (d == home && output && (host || o->s->io_free))
        *to = -1;
    return true;
}

static bool has_net(const struct slow *o, vid v)
{
    for (uint32_t e = 0; e < o->s->of.place->nnet; e++)
        if (o->s->of.place->net_value[e] == v)
            return true;
    return false;
}

static void check_peaks(const struct slow *o, const struct task_graph *g, const struct timeline *t)
{
    const struct module *m = o->s->of.m;
    assert_int_equal(g->ndev, o->s->of.cluster->ndev);
    for (int d = 0; d < (int)g->ndev; d++) {
        struct change c[4 * MOST_JOBS];
        uint32_t n = 0;
        int64_t now = 0, peak = 0;
        for (uint32_t i = 0; i < o->n; i++)
            if (o->job[i].kind == STEP_COMPUTE && o->job[i].to == d) {
                const struct job *j = &o->job[i];
                int64_t more = m->cost->own[j->node];
                for (vid v = 1; v < m->nval; v++)
                    more -= m->value[v].def == j->node && has_net(o, v) ? m->cost->bytes[v] : 0;
                c[n++] = (struct change){j->start, more > 0 ? more : 0};
                c[n++] = (struct change){end_of(j), more > 0 ? -more : 0};
            }
        for (vid v = 1; v < m->nval; v++) {
            int64_t from = 0, to;
            if (!has_net(o, v) || !stay(o, v, d, &from, &to))
                continue;
            c[n++] = (struct change){from, m->cost->bytes[v]};
            if (to >= 0)
                c[n++] = (struct change){to, -m->cost->bytes[v]};
        }
        qsort(c, n, sizeof *c, by_moment);
        for (uint32_t i = 0; i < n; i++) {
            now += c[i].bytes;
            peak = now > peak ? now : peak;
        }
        if (t->peak[d] != peak) {
            describe(o);
            fail_msg("device %d: peak %lld, not %lld", d, (long long)t->peak[d], (long long)peak);
        }
    }
}

/* ---- random modules -------------------------------------------------------------------------------------- */

/* What the random modules must have enough of, or they show nothing. */
struct seen {
    uint32_t hops[STEP_IN + 1];
    uint32_t held;    /* hops and nodes that were ready before they started */
    uint32_t at_once; /* jobs that took no time */
    uint32_t linked;  /* hops over a link of the two devices */
};

static void count(struct seen *x, const struct slow *o)
{
    for (uint32_t i = 0; i < o->n; i++) {
        x->hops[o->job[i].kind]++;
        x->held += o->job[i].start > o->job[i].ready;
        x->at_once += o->job[i].time == 0;
        x->linked +=
            o->job[i].kind == STEP_MOVE && own_link(o, o->job[i].from, o->job[i].to) != NULL;
    }
}

static void random_modules(void **state)
{
    (void)state;
    uint64_t rng = 21;
    struct seen seen = {0};
    static struct made s;
    static struct slow o;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct step_model how = {0};
        draw(&s, &rng, i % 2, true);
        do {
            struct task_graph g = build(&s, &how);
            struct timeline t = events_run(&g, NULL, s.a);
            slow_make(&o, &s, how);
            slow_run(&o);
            assert_false(o.stuck);
            assert_int_equal(t.status, RUN_DONE);
            check_starts(&o, &g, &t);
            check_sums(&o, &t);
            if (i % 2)
                check_peaks(&o, &g, &t);
            count(&seen, &o);
        } while (next_model(&how));
        unload(&s);
    }
    for (int k = 0; k <= STEP_IN; k++)
        assert_true(seen.hops[k] > 20 * GRAPHS);
    assert_true(seen.held > 50 * GRAPHS && seen.at_once > 10 * GRAPHS);
    assert_true(seen.linked > 5 * GRAPHS);
}

/* ---- deadlocks ------------------------------------------------------------------------------------------- */

/* Whether item x cannot start before item y has ended (a node: behind it in the device's order). */
static bool waits_for(const struct slow *o, const struct task *x, const struct task *y)
{
    const struct made *s = o->s;
    const vid *value = s->of.place->net_value;
    if (x->kind == STEP_COMPUTE && y->kind == STEP_COMPUTE) {
        struct job a = {.node = x->number}, b = {.node = y->number};
        bool reads_it = false;
        for (vid v = 1; v < s->of.m->nval; v++)
            reads_it = reads_it || (s->of.m->value[v].def == y->number && reads(o, x->number, v));
        return reads_it || (s->dev[a.node] == s->dev[b.node] && comes_first(o, &b, &a));
    }
    if (x->kind == STEP_COMPUTE)
        return reads(o, x->number, value[y->number]);
    if (y->kind == STEP_COMPUTE)
        return s->of.m->value[value[x->number]].def == y->number;
    return x->kind == STEP_IN && y->kind == STEP_OUT && x->number == y->number;
}

static void check_cycle(const struct slow *o, const struct task_graph *g, const struct timeline *t)
{
    assert_true(t->ncycle >= 2);
    for (uint32_t i = 0; i < t->ncycle; i++) {
        uint32_t x = t->cycle[i], y = t->cycle[(i + 1) % t->ncycle];
        assert_int_equal(t->start[x], -1);
        assert_true(waits_for(o, &g->task[task_of_item(g, x)], &g->task[task_of_item(g, y)]));
    }
}

static void orders_that_cannot_run(void **state)
{
    (void)state;
    uint64_t rng = 22;
    uint32_t stuck = 0;
    static struct made s;
    static struct slow o;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct step_model how = {0};
        draw(&s, &rng, i % 2, false);
        do {
            struct task_graph g = build(&s, &how);
            struct timeline t = events_run(&g, NULL, s.a);
            slow_make(&o, &s, how);
            slow_run(&o);
            assert_int_equal(t.status, o.stuck ? RUN_DEADLOCK : RUN_DONE);
            check_starts(&o, &g, &t);
            if (o.stuck)
                check_cycle(&o, &g, &t);
            assert_true(!o.stuck || how.dispatch == DISPATCH_PLAN);
            stuck += o.stuck;
        } while (next_model(&how));
        unload(&s);
    }
    assert_true(stuck > 2 * GRAPHS && stuck < 6 * GRAPHS);
}

/* ---- by hand ------------------------------------------------------------------------------------------------ */

static const enum contention listed[] = {CONTENTION_NONE, CONTENTION_LINK, CONTENTION_PORT,
                                         CONTENTION_HALF};

static struct timeline run(const struct made *s, struct task_graph *g, enum contention c,
                           enum dispatch d)
{
    *g = build(s, &(struct step_model){NETWORK_DIRECT, c, d});
    return events_run(g, NULL, s->a);
}

static int64_t start_of(const struct made *s, const struct task_graph *g, const struct timeline *t,
                        uint32_t node)
{
    return t->start[item_of(g, s->first + node)];
}

static void diamond(void **state)
{
    static const char text[] = "class acc x3\ngraph {\n"
                               "  %a0, %a1 = profile:op() : ? !xfer=2ps, ? !xfer=2ps !time=2ps\n"
                               "  %b = profile:op(%a0) : ? !xfer=1ps !time=3ps\n"
                               "  %c = profile:op(%a1) : ? !xfer=1ps !time=1ps\n"
                               "  %d = profile:op(%b, %c) : ? !time=2ps\n}\n";
    static struct made s;
    (void)state;
    load_on(&s, text, false, "0120");
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        for (enum dispatch d = 0; d < DISPATCHES; d++) {
            struct task_graph g;
            struct timeline t = run(&s, &g, listed[i], d);
            bool narrow = i >= 2;
            assert_int_equal(start_of(&s, &g, &t, 0), 0);
            assert_int_equal(start_of(&s, &g, &t, 1), 4);
            assert_int_equal(start_of(&s, &g, &t, 2), narrow ? 6 : 4);
            assert_int_equal(start_of(&s, &g, &t, 3), narrow ? 9 : 8);
            assert_int_equal(t.end, narrow ? 11 : 10);
        }
    unload(&s);
}

static void exchange(void **state)
{
    static const char text[] = "class acc x2\ngraph {\n"
                               "  %a = profile:op() : ? !xfer=3ps !time=1ps\n"
                               "  %b = profile:op() : ? !xfer=3ps !time=1ps\n"
                               "  %c = profile:op(%a) : ? !time=1ps\n"
                               "  %e = profile:op(%b) : ? !time=1ps\n}\n";
    static struct made s;
    (void)state;
    load_on(&s, text, false, "0110");
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        for (enum dispatch d = 0; d < DISPATCHES; d++) {
            struct task_graph g;
            struct timeline t = run(&s, &g, listed[i], d);
            bool half = listed[i] == CONTENTION_HALF;
            assert_int_equal(start_of(&s, &g, &t, 2), 4);
            assert_int_equal(start_of(&s, &g, &t, 3), half ? 7 : 4);
            assert_int_equal(t.end, half ? 8 : 5);
        }
    unload(&s);
}

/* One copy for two readers; the results stay. */
static void cache_and_memory(void **state)
{
    static const char text[] = "cluster io_free\nclass acc x2\ngraph {\n"
                               "  %a = profile:op() : ? !bytes=10B !xfer=4ps !time=1ps\n"
                               "  %d = profile:op(%a) : ? !bytes=2B !time=1ps\n"
                               "  %b = profile:op(%a) : ? !bytes=3B !time=2ps !own=8B\n"
                               "  %c = profile:op(%a) : ? !bytes=3B !time=2ps\n"
                               "  out %d, %b, %c\n}\n";
    static struct made s;
    (void)state;
    load_on(&s, text, true, "0011");
    for (enum contention c = 0; c < CONTENTIONS; c++)
        for (enum dispatch d = 0; d < DISPATCHES; d++) {
            struct task_graph g;
            struct timeline t = run(&s, &g, c, d);
            bool blocks = c == CONTENTION_BLOCKING; /* and comes before what has the lane alone */
            assert_int_equal(g.ntask, 5);
            assert_int_equal(start_of(&s, &g, &t, 1), blocks ? 5 : 1);
            assert_int_equal(start_of(&s, &g, &t, 2), 5);
            assert_int_equal(start_of(&s, &g, &t, 3), 7);
            assert_int_equal(t.end, 9);
            assert_int_equal(t.peak[0], 12);
            assert_int_equal(t.peak_at[0], blocks ? 5 : 1);
            assert_int_equal(t.peak[1], 18);
            assert_int_equal(t.peak_at[1], 5);
        }
    unload(&s);
}

/* State needs no hops, and stays when nobody reads it any more. */
static void state_stays(void **state)
{
    static const char text[] =
        "class acc x2\ngraph {\n"
        "  in %past.0 : f32[100] !bytes=400B !xfer=4ps\n"
        "  %a = profile:op(%past.0) : ? !bytes=1B !time=1ps\n"
        "  %present.0 = profile:op(%past.0) : f32[100] !bytes=50B !time=1ps\n"
        "  %b = profile:op(%present.0) : ? !bytes=4B !time=2ps\n"
        "  %c = profile:op(%b) : ? !time=2ps !own=30B\n"
        "  out %present.0\n}\n";
    static struct made s;
    (void)state;
    load_on(&s, text, false, "1111");
    assert_int_equal(s.of.place->nstate, 1);
    for (enum contention c = 0; c < CONTENTIONS; c++) {
        struct task_graph g;
        struct timeline t = run(&s, &g, c, DISPATCH_PLAN);
        assert_int_equal(g.ntask, 4);
        assert_int_equal(t.end, 6);
        assert_int_equal(t.peak[0], 0);
        assert_int_equal(t.peak[1], 50 + 4 + 30);
        assert_int_equal(t.peak_at[1], 4);
    }
    unload(&s);
}

/* 111 if channels are booked ahead of time, 106 else. */
static void booked_ahead(void **state)
{
    static const char text[] = "class acc x3\ngraph {\n"
                               "  %a = profile:op() : ? !xfer=5ps !time=100ps\n"
                               "  %b = profile:op() : ? !xfer=5ps !time=1ps\n"
                               "  %c = profile:op(%b) : ? !time=1ps\n"
                               "  %d = profile:op(%a) : ? !time=1ps\n}\n";
    static struct made s;
    (void)state;
    load_on(&s, text, false, "0122");
    for (enum contention c = 0; c < CONTENTIONS; c++)
        for (enum dispatch d = 0; d < DISPATCHES; d++) {
            struct task_graph g;
            struct timeline t = run(&s, &g, c, d);
            bool ahead = c == CONTENTION_BAECHI;
            assert_int_equal(start_of(&s, &g, &t, 2), ahead ? 110 : 6);
            assert_int_equal(start_of(&s, &g, &t, 3), 105);
            assert_int_equal(t.end, ahead ? 111 : 106);
        }
    unload(&s);
}

/* ---- the golden plan ------------------------------------------------------------------------------------- */

/* Ten nodes, each edge a value of its own; `copies` of the graph beside each other; times times `times`; the nodes in
 * the text in the order of `row`. */
static void golden(struct made *s, uint32_t copies, int64_t times, const uint32_t *row)
{
    static const int w[10] = {4, 1, 4, 6, 1, 1, 6, 2, 2, 1};
    static const int edge[12][3] = {{0, 4, 3}, {1, 2, 3}, {1, 3, 1}, {1, 4, 4},
                                    {2, 3, 1}, {2, 5, 4}, {3, 7, 4}, {4, 6, 4},
                                    {5, 6, 1}, {6, 8, 3}, {7, 9, 3}, {8, 9, 2}};
    char *text = NULL, devs[] = "00010001000001000100";
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "class acc x%u\ngraph {\n", 2 * copies);
    for (uint32_t i = 0; i < copies * 10; i++) {
        int v = (int)row[i % 10];
        fprintf(f, "  %%end%u", i / 10 * 10 + (uint32_t)v);
        for (int e = 0; e < 12; e++)
            if (edge[e][0] == v)
                fprintf(f, ", %%e%u.%d", i / 10, e);
        fprintf(f, " = profile:op(");
        const char *comma = "";
        for (int e = 0; e < 12; e++)
            if (edge[e][1] == v) {
                fprintf(f, "%s%%e%u.%d", comma, i / 10, e);
                comma = ", ";
            }
        fprintf(f, ") : ?");
        for (int e = 0; e < 12; e++)
            if (edge[e][0] == v)
                fprintf(f, ", ? !xfer=%lldps", (long long)(edge[e][2] * times));
        fprintf(f, " !time=%lldps\n", (long long)(w[v] * times));
    }
    fprintf(f, "}\n");
    fclose(f);
    load(s, text, size, false);
    free(text);
    for (uint32_t i = 0; i < s->n; i++)
        s->dev[s->first + i] = devs[row[i % 10]] - '0' + (i < 10 ? 0 : 2);
}

/* The order of the plan: on device 0 1 2 5 0 4 6 8 9, on device 1 3 7; copies in turn. */
static void golden_order(struct made *s, const uint32_t *row)
{
    static const uint32_t order[10] = {1, 2, 5, 0, 4, 6, 8, 3, 7, 9};
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < 10; k++)
            if (order[k] == row[i % 10])
                s->rank[s->first + i] = 2 * k + i / 10;
    s->order = s->rank;
}

static void golden_plan(void **state)
{
    static const int64_t by_plan[10] = {6, 0, 1, 6, 10, 5, 11, 12, 17, 19};
    static struct made s;
    (void)state;
    static const uint32_t plain[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint32_t mixed[10] = {1, 0, 2, 5, 4, 3, 6, 7, 8, 9};
    for (uint32_t k = 0; k < 8; k++) {
        int64_t times = k % 2 ? 7 : 1;
        const uint32_t *row = k < 4 ? plain : mixed;
        golden(&s, 1 + k / 2 % 2, times, row);
        golden_order(&s, row);
        for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
            struct task_graph g;
            struct timeline t = run(&s, &g, listed[i], DISPATCH_PLAN);
            assert_int_equal(t.end, 20 * times);
            for (uint32_t n = 0; n < s.n; n++)
                assert_int_equal(start_of(&s, &g, &t, n), by_plan[row[n % 10]] * times);
            assert_int_equal(run(&s, &g, listed[i], DISPATCH_FIFO).end, 22 * times);
        }
        unload(&s);
    }
}

static void deadlock(void **state)
{
    static const char text[] = "class acc x2\ngraph {\n"
                               "  %a = profile:op() : ? !xfer=1ps !time=1ps\n"
                               "  %b = profile:op() : ? !xfer=1ps !time=1ps\n"
                               "  %c = profile:op(%b) : ? !time=1ps\n"
                               "  %d = profile:op(%a) : ? !time=1ps\n}\n";
    static struct made s;
    (void)state;
    load_on(&s, text, false, "0101");
    in_order(&s, "2301");
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        static struct slow o;
        struct task_graph g;
        struct timeline t = run(&s, &g, listed[i], DISPATCH_PLAN);
        assert_int_equal(t.status, RUN_DEADLOCK);
        assert_int_equal(t.ncycle, 6); /* four nodes, two hops */
        slow_make(&o, &s, (struct step_model){.network = NETWORK_DIRECT, .contention = listed[i]});
        check_cycle(&o, &g, &t);
        for (uint32_t k = 0; k < t.nitem; k++)
            assert_int_equal(t.start[k], -1);
    }
    unload(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_modules),   cmocka_unit_test(orders_that_cannot_run),
        cmocka_unit_test(diamond),          cmocka_unit_test(exchange),
        cmocka_unit_test(cache_and_memory), cmocka_unit_test(state_stays),
        cmocka_unit_test(booked_ahead),     cmocka_unit_test(golden_plan),
        cmocka_unit_test(deadlock),
    };
    return cmocka_run_group_tests_name("unit_single_step", tests, NULL, NULL);
}
