/* The chart of one sample alone, on random modules, plans and models of a step: its bars are the tasks of the
 * timeline on lanes of the right names, no two of a lane overlap that takes one at a time, the critical chain leads
 * without a gap from 0 to the end, and the curves of memory are what the buffers come to at each moment, added up the
 * slow way.  Each check is shown charts that were changed on purpose. */
#include "tests/support/step_draw.h"
#include "tools/lib/exec/makespan/step_shown.h"

enum { GRAPHS = 60 };

struct shown {
    struct made s;
    struct plan plan;
    struct step_run run;
    struct verdict v;
    struct result r;
    struct chart c;
};

/* The chart of how the plan runs in s->of.model. */
static void make_chart(struct shown *x)
{
    int64_t *weights = arena_array(x->s.a, x->s.of.cluster->ndev, sizeof *weights);
    for (uint32_t d = 0; d < x->s.of.cluster->ndev; d++)
        weights[d] = 7 * d;
    x->plan = (struct plan){.dev = x->s.dev, .rank = x->s.order};
    x->run = step_run_plan(&x->s.of, &x->plan, weights, x->s.a);
    assert_int_equal(x->run.t.status, RUN_DONE);
    x->v = (struct verdict){.run = &x->run};
    x->r =
        (struct result){.scene = x->s.of, .plan = &x->plan, .verdict = &x->v, .diag = &x->s.diag};
    assert_int_equal(chart_of_step(&x->c, &x->r, 0, 0, x->s.a), 0);
}

/* ---- bars ----------------------------------------------------------------------------------------- */

static const char *device(const struct shown *x, uint32_t d)
{
    return cluster_device_name(x->s.of.cluster, x->s.a, d);
}

/* The names of the lanes that a task is to be shown on, by the words of the contention. */
static uint32_t expected_lanes(const struct shown *x, const struct task *t, const char *lane[2])
{
    struct arena *a = x->s.a;
    const char *from = device(x, t->from), *to = device(x, t->to);
    const char *out = arena_fmt(a, "%s out", from), *in = arena_fmt(a, "%s in", to);
    bool leaves = t->kind != STEP_IN, comes = t->kind != STEP_OUT;
    uint32_t n = 0;
    if (t->kind == STEP_COMPUTE) {
        lane[n++] = from;
        return n;
    }
    switch (x->s.of.model.step.contention) {
    case CONTENTION_LINK:
        lane[n++] = arena_fmt(a, "%s to %s", leaves ? from : "host", comes ? to : "host");
        return n;
    case CONTENTION_NONE:
        lane[n++] = leaves ? out : in;
        return n;
    case CONTENTION_RX:
        lane[n++] = comes ? in : out;
        return n;
    case CONTENTION_BAECHI:
        lane[n++] = arena_fmt(a, "%s channel", comes ? to : from);
        return n;
    case CONTENTION_PORT:
        break;
    case CONTENTION_HALF:
        out = arena_fmt(a, "%s channel", from);
        in = arena_fmt(a, "%s channel", to);
        break;
    default:
        out = from;
        in = to;
    }
    if (leaves)
        lane[n++] = out;
    if (comes)
        lane[n++] = in;
    return n;
}

static bool has_bar(const struct chart *c, uint32_t item, const char *lane, int64_t at, int64_t end)
{
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *b = &c->bar[i];
        if (b->item == item && b->at == at && b->end == end && !strcmp(c->lane[b->lane].name, lane))
            return true;
    }
    return false;
}

static const char *bars_problem(const struct shown *x)
{
    const struct task_graph *g = &x->run.g;
    size_t all = 0;
    for (uint32_t i = 0; i < g->ntask; i++) {
        const char *lane[2];
        uint32_t n = expected_lanes(x, &g->task[i], lane);
        int64_t at = x->run.t.start[i];
        all += n;
        for (uint32_t k = 0; k < n; k++)
            if (!has_bar(&x->c, i, lane[k], at, at + g->task[i].time))
                return "a task has no bar where and when it ran";
    }
    for (size_t i = 1; i < x->c.nbar; i++)
        if (x->c.bar[i].at < x->c.bar[i - 1].at)
            return "bars are not in the order of their start";
    return all == x->c.nbar ? NULL : "another number of bars than of tasks on lanes";
}

/* Rows of lanes without a width may be too few. */
static const char *overlap_problem(const struct shown *x)
{
    const struct chart *c = &x->c;
    for (size_t i = 0; i < c->nbar; i++)
        for (size_t j = 0; j < i; j++) {
            const struct chart_bar *b = &c->bar[i], *e = &c->bar[j];
            if (b->lane == e->lane && b->row == e->row && b->at < e->end && e->at < b->end &&
                c->lane[b->lane].rows < 6)
                return "two bars of a lane overlap";
        }
    return NULL;
}

/* ---- the critical chain --------------------------------------------------------------------------- */

static const char *chain_problem(const struct shown *x)
{
    const struct chart *c = &x->c;
    bool booked = x->s.of.model.step.contention == CONTENTION_BAECHI; /* begins with a release */
    int64_t at = 0;
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *b = &c->bar[i];
        if (!b->critical)
            continue;
        bool again = i && c->bar[i - 1].critical && c->bar[i - 1].item == b->item;
        if (booked && !at)
            at = b->at;
        if (b->at != (again ? c->bar[i - 1].at : at))
            return "a gap in the critical chain";
        if (b->flow != 1)
            return "no arrow along the critical chain";
        at = b->end;
    }
    return at == c->end && c->end == x->run.t.end ? NULL : "the critical chain ends early";
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* What the device holds after all that happens at that moment. */
static int64_t held_at(const struct step_run *r, uint32_t dev, int64_t now)
{
    int64_t bytes = r->g.lasting[dev];
    for (uint32_t b = 0; b < r->g.nbuffer; b++) {
        const struct buffer *x = &r->g.buffer[b];
        bool there = r->g.use.at[b] == r->g.use.at[b + 1];
        for (uint32_t i = r->g.use.at[b]; i < r->g.use.at[b + 1]; i++) {
            uint32_t u = r->g.use.to[i];
            there = there || r->t.start[u] + r->g.task[u].time > now;
        }
        if (x->dev == dev && r->t.start[x->task] <= now && there)
            bytes += x->bytes;
    }
    return bytes;
}

/* The curve's value from a moment on. */
static int64_t curve_at(const struct chart_curve *c, int64_t now)
{
    int64_t bytes = -1;
    for (uint32_t i = 0; i < c->of.n && c->of.point[i].at <= now; i++)
        bytes = c->of.point[i].bytes;
    return bytes;
}

static const char *curve_problem(const struct shown *x)
{
    const struct step_run *r = &x->run;
    if (x->c.ncurve != x->s.of.cluster->ndev)
        return "not a curve for each device";
    for (uint32_t d = 0; d < x->c.ncurve; d++) {
        const struct chart_curve *c = &x->c.curve[d];
        int64_t most = 0;
        if (!c->of.n || c->of.point[0].at != 0 || c->dev != d)
            return "a curve does not begin at 0";
        for (uint32_t i = 0; i < c->of.n; i++) {
            most = c->of.point[i].bytes > most ? c->of.point[i].bytes : most;
            if (i && c->of.point[i].at < c->of.point[i - 1].at)
                return "a curve goes back in time";
        }
        if (most != r->t.peak[d] || c->most != most)
            return "a curve's largest value is not the peak";
        for (uint32_t i = 0; i < r->g.ntask; i++) {
            int64_t start = r->t.start[i], end = start + r->g.task[i].time;
            if (curve_at(c, start) != held_at(r, d, start) ||
                curve_at(c, end) != held_at(r, d, end))
                return "a curve is not what the buffers come to";
        }
    }
    return NULL;
}

static const char *chart_problem(const struct shown *x)
{
    const char *(*const check[])(const struct shown *) = {bars_problem, overlap_problem,
                                                          chain_problem, curve_problem};
    for (size_t i = 0; i < sizeof check / sizeof *check; i++)
        if (check[i](x))
            return check[i](x);
    return NULL;
}

/* ---- tests ---------------------------------------------------------------------------------------- */

/* What is told of each item: a name, bytes of what moves. */
static void check_details(const struct shown *x)
{
    const struct module *m = x->s.of.m;
    for (uint32_t i = 0; i < x->run.g.ntask; i++) {
        const struct task *t = &x->run.g.task[i];
        struct chart_detail d = x->c.describe(&x->c, i, x->s.a);
        bool moves = t->kind != STEP_COMPUTE;
        vid v = moves ? x->s.of.place->net_value[t->number] : 0;
        assert_string_equal(d.name, moves ? value_name(m, v) : node_name(m, t->number));
        assert_string_equal(d.fact[0].text, d.name);
        assert_non_null(strstr(d.full, d.name));
        if (moves)
            assert_int_equal(d.fact[1].number, m->cost->bytes[v]);
    }
}

static void random_charts(void **state)
{
    (void)state;
    static struct shown x;
    uint64_t rng = 5;
    uint32_t rows = 0, spikes = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct step_model how = {0};
        draw(&x.s, &rng, i % 2, true);
        do {
            x.s.of.model.step = how;
            make_chart(&x);
            const char *problem = chart_problem(&x);
            if (problem)
                fail_msg("%s (%s %s)", problem, network_name[how.network],
                         contention_name[how.contention]);
            check_details(&x);
            for (uint32_t l = 0; l < x.c.nlane; l++)
                rows += x.c.lane[l].rows > 1;
            for (uint32_t d = 0; d < x.c.ncurve; d++)
                for (uint32_t k = 1; k < x.c.curve[d].of.n; k++)
                    spikes += x.c.curve[d].of.point[k].at == x.c.curve[d].of.point[k - 1].at;
        } while (next_model(&how));
        unload(&x.s);
    }
    assert_true(rows > GRAPHS && spikes > GRAPHS / 2);
}

/* A chart with transfers, two devices and a curve with steps. */
static void make_example(struct shown *x)
{
    static const char text[] = "cluster io_free\nclass acc x2 memory=20B\ngraph {\n"
                               "  %a = profile:op() : ? !bytes=4B !xfer=2ps !time=3ps\n"
                               "  %b = profile:op(%a) : ? !bytes=5B !xfer=2ps !time=5ps\n"
                               "  %c = profile:op(%a) : ? !bytes=6B !xfer=3ps !time=1ps\n"
                               "  %d = profile:op(%b, %c) : ? !bytes=1B !xfer=1ps !time=2ps\n}\n";
    load_on(&x->s, text, true, "0010");
    x->s.of.model.step = (struct step_model){.network = NETWORK_DIRECT};
    make_chart(x);
    assert_null(chart_problem(x));
}

struct stretch {
    const char *lane;
    int64_t at, end;
};

/* Worked out by hand.  a 0 to 3; over to acc1 until 5, where c runs until 6; back until 9; b 3 to 8, d 9 to 11. */
static void example(void **state)
{
    (void)state;
    static const char *const lane[] = {"acc0", "acc0 out", "acc0 in",
                                       "acc1", "acc1 out", "acc1 in"};
    static const struct stretch bar[] = {{"acc0", 0, 3},     {"acc0 out", 3, 5}, {"acc1 in", 3, 5},
                                         {"acc0", 3, 8},     {"acc1", 5, 6},     {"acc0 in", 6, 9},
                                         {"acc1 out", 6, 9}, {"acc0", 9, 11}};
    static const struct curve_point curve[2][5] = {{{0, 4}, {3, 9}, {6, 15}, {8, 11}, {11, 0}},
                                                   {{0, 7}, {3, 11}, {5, 17}, {6, 13}, {9, 7}}};
    static struct shown x;
    make_example(&x);
    assert_int_equal(x.c.nlane, 6);
    for (uint32_t l = 0; l < 6; l++)
        assert_string_equal(x.c.lane[l].name, lane[l]);
    assert_int_equal(x.c.nbar, sizeof bar / sizeof *bar);
    for (size_t i = 0; i < x.c.nbar; i++) {
        const struct chart_bar *b = &x.c.bar[i];
        assert_string_equal(x.c.lane[b->lane].name, bar[i].lane);
        assert_true(b->at == bar[i].at && b->end == bar[i].end && b->critical == (i != 3));
    }
    for (uint32_t d = 0; d < 2; d++) {
        assert_int_equal(x.c.curve[d].of.n, 5);
        for (uint32_t i = 0; i < 5; i++)
            assert_true(x.c.curve[d].of.point[i].at == curve[d][i].at &&
                        x.c.curve[d].of.point[i].bytes == curve[d][i].bytes);
    }
    assert_string_equal(x.c.lane[0].busy, "10 ps, 90 %");
    assert_string_equal(x.c.lane[2].busy, "3 ps, 27 %, 6 B");
    assert_string_equal(x.c.curve[1].note, "peak 17 B of 20 B");
    assert_string_equal(x.c.title, "text: one sample on 2 devices, makespan 11 ps");
    unload(&x.s);
}

/* The checks notice charts that are wrong. */
static void planted(void **state)
{
    (void)state;
    for (int error = 0; error < 9; error++) {
        static struct shown x;
        make_example(&x);
        struct chart_bar *b = x.c.bar;
        size_t last = x.c.nbar - 1;
        switch (error) {
        case 0: /* longer than it was */
            b[1].end++;
            break;
        case 1: /* one is gone */
            x.c.nbar--;
            break;
        case 2: /* on the other device */
            b[0].lane = 3;
            break;
        case 3: /* the chain ends early, begins late */
            b[last].critical = false;
            break;
        case 4:
            b[0].critical = false;
            break;
        case 5: /* a byte more */
            x.c.curve[1].of.point[1].bytes++;
            break;
        case 6: /* the last step is gone */
            x.c.curve[0].of.n--;
            break;
        case 7:
            x.c.curve[1].of.point[0].at = 1;
            break;
        default: /* out of order */
            b[last].at = b[last - 1].at - 1;
        }
        if (!chart_problem(&x))
            fail_msg("planted error %d is not noticed", error);
        unload(&x.s);
    }
}

/* A long name ends with a whole character. */
static void names_shortened(void **state)
{
    struct arena *a = arena_new(NULL);
    (void)state;
    assert_string_equal(shorten_name("of twenty-eight bytes, shown", a),
                        "of twenty-eight bytes, shown");
    assert_string_equal(shorten_name("of twenty-nine bytes, cut off", a),
                        "of twenty-nine bytes, cut...");
    assert_string_equal(shorten_name("the 24th and 25th byte: \u00e9 and more", a),
                        "the 24th and 25th byte: ...");
    assert_string_equal(shorten_name("the 23rd to 25th byte: \u20ac and more", a),
                        "the 23rd to 25th byte: ...");
    assert_string_equal(shorten_name("23rd and 24th byte are \u00e9 and more", a),
                        "23rd and 24th byte are \u00e9...");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example), cmocka_unit_test(planted),
                                       cmocka_unit_test(random_charts),
                                       cmocka_unit_test(names_shortened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
