/* List planners against the optimum of small random graphs: of up to 8 nodes, on 2 or 3 devices.
 *
 * What is enumerated: every device for every node that can run it and has room (all bytes added up; equal devices in
 * one order only), and for these every order of the nodes of each device that does not contradict the edges.  Each is
 * timed by a simulator of this file's own, which knows the graph as bits: direct transfers, once for each value and
 * device that reads it, with ports or without; every node starts as soon as its turn has come and its values are there.
 * Left out is only what cannot beat the best so far: placements and orders whose longest path, without ports, is
 * as long; on graphs of up to 5 nodes that changes nothing.  On random plans the simulator and plan_evaluate()
 * agree. */
#include "ir/exec/evaluate.h"
#include "passes/pipeline.h"
#include "tests/support/slow_step.h"
#include "tests/support/graphs.h"
#include "tests/support/sanitized.h"

enum { NODES = 8, DEVS = 3, PLANS = 20, WHOLE = 5, SMALL = 7 };

static const char *const planners[] = {"m-topo-place",
                                       "m-etf-place",
                                       "m-sct-place",
                                       "dfs-place",
                                       "order-place{range=2}",
                                       "celeritas-place",
                                       "celeritas-place{range=2}",
                                       "heft-place",
                                       "portfolio-place",
                                       "contract{coplace=true},m-etf-place",
                                       "contract{coplace=true},m-etf-place{fuse=true}",
                                       "contract{coplace=true},m-sct-place{fuse=true}"};
enum { PLANNERS = sizeof planners / sizeof *planners };

struct tiny {
    uint32_t n, ndev, ncls, cls[DEVS];
    int64_t time[DEVS][NODES], xfer[NODES], bytes[NODES],
        memory[DEVS];                                /* by class; time -1: never */
    uint32_t pred[NODES], succ[NODES], above[NODES]; /* bits: direct, and all that come before */
    bool ports;
};

struct layout {
    uint32_t dev[NODES];
    uint32_t turn[DEVS][NODES], count[DEVS]; /* the nodes of each device in order */
};

/* ---- drawing ------------------------------------------------------------------------------------ */

static void draw_tiny(struct tiny *g, uint64_t *rng, uint32_t ndev)
{
    uint32_t dense = 10 + test_below(rng, 50), wide = test_below(rng, 2) ? 5 : 100;
    *g = (struct tiny){.n = 2 + test_below(rng, NODES - 1), .ndev = ndev, .ncls = 1};
    if (test_below(rng, 3) == 0)
        g->ncls = 2;
    g->cls[ndev - 1] = g->ncls - 1;
    g->ports = test_below(rng, 3) != 0;
    int64_t total = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint32_t k = 0; k < g->ncls; k++)
            g->time[k][v] = test_below(rng, wide);
        if (g->ncls == 2 && test_below(rng, 6) == 0)
            g->time[test_below(rng, 2)][v] = -1;
        g->xfer[v] = test_below(rng, wide);
        total += g->bytes[v] = test_below(rng, 10);
        for (uint32_t u = 0; u < v; u++)
            if (test_below(rng, 100) < dense) {
                g->pred[v] |= 1U << u;
                g->succ[u] |= 1U << v;
                g->above[v] |= g->above[u] | 1U << u;
            }
    }
    for (uint32_t k = 0; k < g->ncls; k++)
        g->memory[k] = test_below(rng, 2) ? total : total * 2 / 3 + 5;
}

static void write_tiny(const struct tiny *g, struct made *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "cluster io_free objective=makespan network=direct contention=%s memory_model=sum\n",
            g->ports ? "port" : "none");
    for (uint32_t k = 0; k < g->ncls; k++)
        fprintf(f, "class %s x%u memory=%lldB link=1TB/s,0ps\n", k ? "other" : "acc",
                g->ncls == 1 ? g->ndev
                : k          ? 1
                             : g->ndev - 1,
                (long long)g->memory[k]);
    fprintf(f, "graph {\n");
    for (uint32_t v = 0; v < g->n; v++) {
        const char *comma = "";
        fprintf(f, "  %%v%u = profile:op(", v);
        for (uint32_t u = 0; u < v; u++)
            if (g->pred[v] >> u & 1) {
                fprintf(f, "%s%%v%u", comma, u);
                comma = ", ";
            }
        fprintf(f, ") : ? !xfer=%lldps !time=[", (long long)g->xfer[v]);
        for (uint32_t k = 0; k < g->ncls; k++) {
            fprintf(f, k ? "," : "");
            if (g->time[k][v] < 0)
                fprintf(f, "never");
            else
                fprintf(f, "%lldps", (long long)g->time[k][v]);
        }
        fprintf(f, "] !own=%lldB\n", (long long)g->bytes[v]);
    }
    fprintf(f, "}\n");
    fclose(f);
    load(s, text, size, true);
    free(text);
}

/* ---- timing --------------------------------------------------------------------------------------- */

enum { NOT_YET = -1 };

struct clockwork {
    const struct tiny *g;
    const struct layout *l;
    int64_t now;
    int64_t end[NODES];        /* NOT_YET: it has not started */
    int64_t asked[NODES];      /* when its transfers were asked for */
    int64_t sent[NODES][DEVS]; /* when the transfer there ends */
    uint32_t done;             /* nodes, bits */
    uint32_t there[DEVS],
        wants[DEVS]; /* values that have come; that the device reads from others */
    uint32_t next[DEVS], left;
};

static void take_ends(struct clockwork *w)
{
    for (uint32_t v = 0; v < w->g->n; v++) {
        if (!(w->done >> v & 1) && w->end[v] != NOT_YET && w->end[v] <= w->now) {
            w->done |= 1U << v;
            w->asked[v] = w->now;
            w->left--;
        }
        for (uint32_t d = 0; d < w->g->ndev; d++)
            if (w->sent[v][d] != NOT_YET && w->sent[v][d] <= w->now)
                w->there[d] |= 1U << v;
    }
}

/* Whether a port of device d is taken: out of it, or into it. */
static bool is_taken(const struct clockwork *w, uint32_t d, bool out)
{
    for (uint32_t v = 0; v < w->g->n && w->g->ports; v++)
        for (uint32_t to = 0; to < w->g->ndev; to++)
            if (w->sent[v][to] > w->now && (out ? w->l->dev[v] : to) == d)
                return true;
    return false;
}

/* The first node of device d that reads v, in the order of the graph. */
static uint32_t first_reader(const struct clockwork *w, uint32_t v, uint32_t d)
{
    for (uint32_t r = 0; r < w->g->n; r++)
        if (w->g->succ[v] >> r & 1 && w->l->dev[r] == d)
            return r;
    return NODES;
}

/* Starts the transfers that can, those asked for first before others; whether one of them took no time. */
static bool start_transfers(struct clockwork *w)
{
    bool passed[NODES][DEVS] = {{false}}, ended = false;
    for (;;) {
        uint32_t best = NODES, where = 0;
        for (uint32_t v = 0; v < w->g->n; v++)
            for (uint32_t d = 0; d < w->g->ndev && w->done >> v & 1; d++)
                if (w->wants[d] >> v & 1 && w->sent[v][d] == NOT_YET && !passed[v][d] &&
                    (best == NODES || w->asked[v] < w->asked[best] ||
                     (v == best && first_reader(w, v, d) < first_reader(w, v, where)))) {
                    best = v;
                    where = d;
                }
        if (best == NODES)
            return ended;
        passed[best][where] = true;
        if (is_taken(w, w->l->dev[best], true) || is_taken(w, where, false))
            continue;
        w->sent[best][where] = w->now + w->g->xfer[best];
        ended = ended || !w->g->xfer[best];
    }
}

/* Starts the nodes that can; whether one of them took no time. */
static bool start_nodes(struct clockwork *w)
{
    bool ended = false;
    for (uint32_t d = 0; d < w->g->ndev; d++) {
        uint32_t i = w->next[d];
        if (i == w->l->count[d] || (i && !(w->done >> w->l->turn[d][i - 1] & 1)))
            continue;
        uint32_t v = w->l->turn[d][i];
        if ((w->g->pred[v] & w->wants[d] & ~w->there[d]) ||
            (w->g->pred[v] & ~w->wants[d] & ~w->done))
            continue;
        w->end[v] = w->now + w->g->time[w->g->cls[d]][v];
        ended = ended || w->end[v] == w->now;
        w->next[d]++;
    }
    return ended;
}

static int64_t next_end(const struct clockwork *w)
{
    int64_t next = INT64_MAX;
    for (uint32_t v = 0; v < w->g->n; v++) {
        if (w->end[v] > w->now && w->end[v] < next)
            next = w->end[v];
        for (uint32_t d = 0; d < w->g->ndev; d++)
            if (w->sent[v][d] > w->now && w->sent[v][d] < next)
                next = w->sent[v][d];
    }
    return next;
}

/* The makespan, INT64_MAX: the orders can never be kept. */
static int64_t time_layout(const struct tiny *g, const struct layout *l)
{
    struct clockwork w = {.g = g, .l = l, .left = g->n};
    memset(w.end, 0xff, sizeof w.end);
    memset(w.sent, 0xff, sizeof w.sent);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (g->pred[v] >> u & 1 && l->dev[u] != l->dev[v])
                w.wants[l->dev[v]] |= 1U << u;
    while (w.left) {
        take_ends(&w);
        bool again = start_transfers(&w);
        if (start_nodes(&w) || again)
            continue;
        int64_t next = w.left ? next_end(&w) : w.now;
        if (next == INT64_MAX)
            return INT64_MAX;
        w.now = next;
    }
    return w.now;
}

/* ---- all placements and orders -------------------------------------------------------------------- */

struct search {
    const struct tiny *g;
    struct layout l;
    int64_t best;
    uint64_t timed;
    bool all; /* nothing is left out */
};

/* The longest path of the nodes where they are, by the orders of the first `ordered` devices and with transfers that
 * disturb nobody; INT64_MAX: there is a cycle. */
static int64_t longest(const struct search *s, uint32_t ordered)
{
    const struct tiny *g = s->g;
    int64_t end[NODES] = {0}, most = 0;
    uint32_t before[NODES], round = 0;
    memset(before, 0xff, sizeof before);
    for (uint32_t d = 0; d < ordered; d++)
        for (uint32_t i = 1; i < s->l.count[d]; i++)
            before[s->l.turn[d][i]] = s->l.turn[d][i - 1];
    for (bool changed = true; changed; round++) {
        changed = false;
        for (uint32_t v = 0; v < g->n; v++) {
            int64_t t = before[v] < NODES ? end[before[v]] : 0;
            for (uint32_t u = 0; u < v; u++)
                if (g->pred[v] >> u & 1) {
                    int64_t at = end[u] + (s->l.dev[u] == s->l.dev[v] ? 0 : g->xfer[u]);
                    t = at > t ? at : t;
                }
            t += g->time[g->cls[s->l.dev[v]]][v];
            changed = changed || t != end[v];
            end[v] = t;
            most = t > most ? t : most;
        }
        if (changed && round > g->n)
            return INT64_MAX;
    }
    return most;
}

/* Every order of device d from its `at`th turn on, left: those of its nodes that have no turn yet. */
static void try_orders(struct search *s, uint32_t d, uint32_t left)
{
    if (d == s->g->ndev) {
        int64_t t = time_layout(s->g, &s->l);
        s->timed++;
        s->best = t < s->best ? t : s->best;
        return;
    }
    if (!left) {
        uint32_t rest = 0;
        if (!s->all && longest(s, d + 1) >= s->best)
            return;
        for (uint32_t v = 0; v < s->g->n && d + 1 < s->g->ndev; v++)
            rest |= s->l.dev[v] == d + 1 ? 1U << v : 0;
        if (d + 1 < s->g->ndev)
            s->l.count[d + 1] = 0;
        try_orders(s, d + 1, rest);
        return;
    }
    for (uint32_t v = 0; v < s->g->n; v++)
        if (left >> v & 1 && !(s->g->above[v] & left)) {
            s->l.turn[d][s->l.count[d]++] = v;
            try_orders(s, d, left & ~(1U << v));
            s->l.count[d]--;
        }
}

static bool fits(const struct search *s)
{
    for (uint32_t d = 0; d < s->g->ndev; d++) {
        int64_t bytes = 0;
        for (uint32_t v = 0; v < s->g->n; v++)
            bytes += s->l.dev[v] == d ? s->g->bytes[v] : 0;
        if (bytes > s->g->memory[s->g->cls[d]])
            return false;
    }
    return true;
}

/* Devices for node v and those after it; used: how many of the first class have nodes. */
static void try_devices(struct search *s, uint32_t v, uint32_t used)
{
    const struct tiny *g = s->g;
    if (v == g->n) {
        uint32_t first = 0;
        if (!fits(s) || (!s->all && longest(s, 0) >= s->best))
            return;
        for (uint32_t u = 0; u < g->n; u++)
            first |= s->l.dev[u] == 0 ? 1U << u : 0;
        s->l.count[0] = 0;
        try_orders(s, 0, first);
        return;
    }
    for (uint32_t d = 0; d < g->ndev; d++) {
        bool other = g->cls[d] > 0;
        if (g->time[g->cls[d]][v] < 0 || (!other && d > used))
            continue;
        s->l.dev[v] = d;
        try_devices(s, v + 1, !other && d == used ? used + 1 : used);
    }
}

/* ---- against planners ------------------------------------------------------------------------------- */

/* Random plans take here what plan_evaluate() says; how many could be run. */
static uint32_t compare_timing(const struct tiny *g, struct made *s, uint64_t *rng)
{
    uint32_t runnable = 0;
    for (uint32_t i = 0; i < PLANS; i++) {
        struct layout l = {.count = {0}};
        uint32_t order[NODES];
        bool can = true;
        for (uint32_t v = 0; v < g->n; v++) {
            l.dev[v] = test_below(rng, g->ndev);
            can = can && g->time[g->cls[l.dev[v]]][v] >= 0;
            order[v] = v;
        }
        for (uint32_t v = g->n;
             i % 4 && v-- > 1;) { /* neighbours change places, or anything goes */
            uint32_t k = i % 4 == 1 ? v - 1 : test_below(rng, v + 1), t = order[v];
            if (i % 4 == 1 && (test_below(rng, 2) || g->pred[order[v]] >> order[k] & 1))
                continue;
            order[v] = order[k];
            order[k] = t;
        }
        for (uint32_t k = 0; k < g->n; k++) {
            uint32_t v = order[k], d = l.dev[v];
            l.turn[d][l.count[d]++] = v;
            s->dev[s->first + v] = (int32_t)d;
            s->rank[s->first + v] = k;
        }
        struct plan p = {.dev = s->dev, .rank = s->rank};
        if (!can)
            continue;
        int64_t t = time_layout(g, &l);
        assert_int_equal(plan_evaluate(&s->of, &p, s->a).value, t);
        runnable += t < INT64_MAX;
    }
    return runnable;
}

/* The plan's value; -1: there is no room. */
static int64_t run(struct made *s, const char *passes)
{
    struct ctx x = {.scene = s->of, .use.diag = &s->diag};
    struct pipeline p = {0};
    struct run_options o = {0};
    uint32_t n = 0;
    x.scene.place = NULL;
    x.use.mem = arena_new(NULL);
    x.use.scratch = arena_new(NULL);
    assert_int_equal(pipeline_parse(&p, passes, x.use.mem, x.use.diag), 0);
    pipeline_complete(&p, x.use.mem);
    for (uint32_t i = 0; i < p.n; i++) /* the costs are written in the text */
        if (strcmp(p.step[i].pass->name, "cost") && strcmp(p.step[i].pass->name, "infer-shapes"))
            p.step[n++] = p.step[i];
    p.n = n;
    int rc = pipeline_run(&p, &x, &o); /* with the judge */
    if (rc && rc != PASS_INFEASIBLE)
        fail_msg("%s: %s", passes, s->sink.last[0]);
    int64_t value = rc ? -1 : x.results.plan->claim.value;
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
    return value;
}

struct tally {
    uint32_t plans[PLANNERS], optimal[PLANNERS], counted[PLANNERS];
    uint32_t small, small_optimal; /* of up to 7 nodes, and by portfolio-place */
    double ratio[PLANNERS];
};

static void against(struct made *s, int64_t best, struct tally *t)
{
    for (uint32_t i = 0; i < PLANNERS; i++) {
        int64_t value = run(s, planners[i]);
        if (value < 0)
            continue;
        if (value < best)
            fail_msg("%s takes %lld, the optimum %lld", planners[i], (long long)value,
                     (long long)best);
        t->plans[i]++;
        t->optimal[i] += value == best;
        if (!strcmp(planners[i], "portfolio-place") && s->n <= SMALL) {
            t->small++;
            t->small_optimal += value == best;
        }
        t->ratio[i] += best ? (double)value / (double)best : 1;
    }
}

static void graphs(uint32_t count, uint32_t ndev, uint64_t rng)
{
    struct tally t = {.plans = {0}};
    uint32_t runnable = 0, done = 0, whole = 0;
    uint64_t timed = 0;
    while (done < count) {
        static struct made s;
        struct tiny g;
        draw_tiny(&g, &rng, ndev);
        struct search least = {.g = &g, .best = INT64_MAX};
        try_devices(&least, 0, 0);
        if (g.n <= WHOLE) {
            struct search all = {.g = &g, .best = INT64_MAX, .all = true};
            try_devices(&all, 0, 0);
            assert_int_equal(all.best, least.best);
            whole++;
        }
        if (least.best == INT64_MAX)
            continue; /* no device for a node, or no room */
        write_tiny(&g, &s);
        runnable += compare_timing(&g, &s, &rng);
        against(&s, least.best, &t);
        timed += least.timed;
        done++;
        unload(&s);
    }
    assert_true(runnable > count * PLANS / 4 && whole > count / 8);
    print_message("%u graphs, %u devices, %llu orders timed\n", count, ndev,
                  (unsigned long long)timed);
    assert_true(t.small > count / 2 && t.small_optimal * 100 >= t.small * 95);
    for (uint32_t i = 0; i < PLANNERS; i++) {
        assert_true(t.plans[i] > count / 3);
        print_message("  %-46s %3u plans, %3u optimal, mean ratio %.3f\n", planners[i], t.plans[i],
                      t.optimal[i], t.ratio[i] / t.plans[i]);
    }
}

static void two_devices(void **state)
{
    (void)state;
    graphs(SANITIZED ? 40 : 200, 2, 51);
}

static void three_devices(void **state)
{
    (void)state;
    graphs(SANITIZED ? 10 : 50, 3, 52);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_devices),
                                       cmocka_unit_test(three_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
