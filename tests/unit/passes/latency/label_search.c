/* label_search, latency_of, latency_solve and the bounds of latency_tail against brute force over all contiguous plans
 * of random graphs, with unlimited CPUs and with 1, 2 or 8 of them: several classes of accelerators, memory limits,
 * shared bytes, pins, hosts, blocks of several nodes, one or two subgraphs on each accelerator; and inputs at the edge:
 * no accelerator, no host, all pinned, one node, ties everywhere, no time, times and bytes as large as they may be,
 * memory that is exactly full, weights of which an accelerator holds one, starts that take nothing.  The brute force
 * has its own times: wdag_load for what a subgraph takes and what an accelerator holds, sweeps until nothing changes
 * for when it ends, a simulation of the CPUs.
 *
 * With two subgraphs on an accelerator the search counts shared bytes not at all: what it finds is a bound, and the
 * best plan where it fits. */
#include "passes/latency/latency_solve.h"
#include "passes/latency/label_search.h"
#include "tests/support/instances.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = 1000, TWICE = 300, EDGES = 40, MAX_SUB = 2 * MAX_DEV };

/* What is special about an instance. */
enum edge {
    EDGE_NONE,
    NO_ACCELERATOR,
    NO_HOST,
    ALL_PINNED,
    ONE_VERTEX,
    ALL_TIES,
    NO_TIMES,
    HUGE_TIMES,
    FULL_MEMORY,
    TWO_WEIGHTS, /* one of which fits: two subgraphs of an accelerator may read it */
    FREE_STARTS, /* what starts takes no time, memory or transfer; some of it something of these */
    EDGE_KINDS
};

/* Of many instances. */
struct tally {
    uint32_t graphs;
    uint64_t plans;
    uint32_t shared,
        unfit;       /* bytes shared by subgraphs; of these, the search's plan does not fit */
    uint32_t missed; /* of these, annealing did not find the best plan either */
    uint32_t parted; /* a plan that parts a block on the hosts takes less */
};

/* ---- brute force ----------------------------------------------------------------------------- */

struct force {
    uint32_t cpus; /* 0: unlimited */
    struct instance *t;
    struct latency_graph *p;
    uint32_t nblock, slots;
    const uint32_t *at; /* [vertex] its block */
    uint32_t sub[MAX_N];
    int64_t best, any; /* any: of plans that part blocks on the hosts, too */
    uint64_t plans, differing;
    struct latency_quotient *quotient;
    bool exact; /* the search counts all bytes */
    struct tally *tally;
};

static bool is_host(const struct force *f, uint32_t dev)
{
    return f->t->c.cls[cluster_class(&f->t->c, dev)].host;
}

/* Vertices of a subgraph, as bits. */
static uint32_t members(const struct force *f, uint32_t sub)
{
    uint32_t set = 0;
    for (uint32_t v = 0; v < f->t->g.n; v++)
        set |= (uint32_t)(f->sub[f->at[v]] == sub) << v;
    return set;
}

/* Whether subgraphs wait for each other, blocks on the hosts being one (whole) or not. */
static bool is_cyclic(const struct force *f, bool whole)
{
    const struct wdag *g = &f->t->g;
    uint32_t n = g->n + MAX_SUB, reach[MAX_N + MAX_SUB] = {0}, place[MAX_N];
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t s = f->sub[f->at[v]];
        place[v] = s != ON_HOST ? g->n + s : whole ? f->at[v] : v;
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1]; i++) {
            uint32_t a = place[v], b = place[g->succ.to[i]];
            reach[a] |= a == b ? 0 : 1U << b;
        }
    for (uint32_t s = 0; f->slots > 1 && s + 1 < MAX_SUB; s += f->slots)
        reach[g->n + s] |= 1U << (g->n + s + 1);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            reach[i] |= reach[i] >> k & 1 ? reach[k] : 0;
    for (uint32_t i = 0; i < n; i++)
        if (reach[i] >> i & 1)
            return true;
    return false;
}

static int64_t time_on_host(const struct force *f, uint32_t v)
{
    int64_t least = COST_NEVER;
    for (uint32_t d = 0; d < f->t->c.ndev; d++) {
        bool may = is_host(f, d);
        for (uint32_t u = 0; u < f->t->g.n; u++)
            if (f->at[u] == f->at[v])
                may = may && f->t->g.time[cluster_class(&f->t->c, d)][u] != COST_NEVER &&
                      (f->t->g.pin[u] < 0 || f->t->g.pin[u] == (int32_t)d);
        int64_t t = f->t->g.time[cluster_class(&f->t->c, d)][v];
        least = may && t < least ? t : least;
    }
    return least;
}

/* When all is done: COST_NEVER if that cannot be. */
static int64_t value_of(const struct force *f)
{
    const struct wdag *g = &f->t->g;
    int64_t end[MAX_N] = {0}, time[MAX_SUB] = {0}, last = 0;
    if (is_cyclic(f, false))
        return COST_NEVER;
    for (uint32_t s = 0; s < f->t->c.ndev * f->slots; s++) {
        uint32_t dev = s / f->slots, set = members(f, s), all = 0;
        for (uint32_t j = 0; j < f->slots; j++)
            all |= members(f, dev * f->slots + j);
        int64_t load = f->t->load[cluster_class(&f->t->c, dev)][set];
        if (set && (is_host(f, dev) || !pins_allow(g, set, dev) || load == COST_NEVER))
            return COST_NEVER;
        uint8_t member[MAX_N];
        int64_t compute, transfer, size, room = f->t->c.cls[cluster_class(&f->t->c, dev)].memory;
        for (uint32_t v = 0; v < g->n; v++)
            member[v] = all >> v & 1;
        wdag_load(g, member, cluster_class(&f->t->c, dev), &compute, &transfer, &size);
        if (set && room >= 0 && size > room)
            return COST_NEVER;
        time[s] = load;
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t v = 0; v < g->n; v++) {
            uint32_t sub = f->sub[f->at[v]];
            int64_t start = 0, t = sub == ON_HOST ? time_on_host(f, v) : time[sub];
            if (t == COST_NEVER)
                return COST_NEVER;
            for (uint32_t w = 0; w < g->n; w++) {
                uint32_t other = f->sub[f->at[w]];
                bool same = w == v || (other == sub && sub != ON_HOST);
                for (uint32_t i = g->pred.at[w]; same && i < g->pred.at[w + 1]; i++) {
                    uint32_t u = g->pred.to[i];
                    bool outside = sub == ON_HOST || f->sub[f->at[u]] != sub;
                    start = outside && end[u] > start ? end[u] : start;
                }
                if (sub != ON_HOST && other != ON_HOST && other / f->slots == sub / f->slots &&
                    other < sub)
                    start = end[w] > start ? end[w] : start;
            }
            again = again || end[v] != start + t;
            end[v] = start + t;
            last = end[v] > last ? end[v] : last;
        }
    }
    return last;
}

/* What runs: a subgraph, or a vertex on a host; ids as in is_cyclic, but hosts' vertices by themselves. */
struct job {
    bool there, host, begun;
    int64_t time, left; /* left: the longest way from its start to the end of all */
    int64_t end;
};

static bool waits_for(const struct force *f, uint32_t x, uint32_t y)
{
    const struct wdag *g = &f->t->g;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1]; i++) {
            uint32_t w = g->succ.to[i], sv = f->sub[f->at[v]], sw = f->sub[f->at[w]];
            uint32_t a = sv == ON_HOST ? v : MAX_N + sv, b = sw == ON_HOST ? w : MAX_N + sw;
            if (a == y && b == x && x != y)
                return true;
        }
    return x >= MAX_N && y >= MAX_N && y < x && (x - MAX_N) / f->slots == (y - MAX_N) / f->slots;
}

/* The plan, which has a value, with f->cpus CPUs: whichever is free takes the ready vertex with the longest way to
 * the end, equal ones by number.  All hosts are of one class here. */
static int64_t run_list(const struct force *f)
{
    enum { JOBS = MAX_N + MAX_SUB };
    struct job job[JOBS] = {0};
    const struct wdag *g = &f->t->g;
    uint32_t n = 0, done = 0;
    int64_t now = 0, last = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t s = f->sub[f->at[v]], dev = s / f->slots;
        struct job *j = &job[s == ON_HOST ? v : MAX_N + s];
        n += !j->there;
        j->there = true;
        j->host = s == ON_HOST;
        j->time = s == ON_HOST ? time_on_host(f, v)
                               : f->t->load[cluster_class(&f->t->c, dev)][members(f, s)];
    }
    for (uint32_t again = 0; again < JOBS; again++)
        for (uint32_t x = 0; x < JOBS; x++) {
            int64_t most = 0;
            for (uint32_t y = 0; y < JOBS; y++)
                if (job[x].there && job[y].there && waits_for(f, y, x) && job[y].left > most)
                    most = job[y].left;
            job[x].left = most + job[x].time;
        }
    while (done < n) {
        for (bool again = true; again;) {
            uint32_t busy = 0, next = JOBS;
            again = false;
            for (uint32_t x = 0; x < JOBS; x++)
                busy += job[x].host && job[x].begun && job[x].end > now;
            for (uint32_t x = 0; x < JOBS; x++) {
                bool ready = job[x].there && !job[x].begun;
                for (uint32_t y = 0; ready && y < JOBS; y++)
                    ready = !(job[y].there && waits_for(f, x, y)) ||
                            (job[y].begun && job[y].end <= now);
                if (!ready)
                    continue;
                if (!job[x].host || next == JOBS ||
                    (job[next].host && job[x].left > job[next].left))
                    next = x;
                if (!job[x].host)
                    break;
            }
            if (next < JOBS && (!job[next].host || busy < f->cpus)) {
                job[next].begun = again = true;
                job[next].end = now + job[next].time;
                last = job[next].end > last ? job[next].end : last;
                done++;
            }
        }
        int64_t soon = INT64_MAX;
        for (uint32_t x = 0; x < JOBS; x++)
            if (job[x].begun && job[x].end > now && job[x].end < soon)
                soon = job[x].end;
        if (soon == INT64_MAX)
            break;
        now = soon;
    }
    assert_int_equal(done, n);
    return last;
}

static int64_t judge_force(void *of, const uint32_t *sub)
{
    struct force f = *(struct force *)of;
    memcpy(f.sub, sub, f.nblock * sizeof *sub);
    return run_list(&f);
}

/* All places of block b and those after it. */
static void try_all(struct force *f, uint32_t b)
{
    if (b == f->nblock) {
        int64_t value = value_of(f), said = latency_of(f->p, f->sub, f->quotient);
        if (said < LOAD_INF && !latency_fits(f->p, f->sub, f->quotient))
            said = LOAD_INF;
        if (f->cpus && value < COST_NEVER) {
            value = run_list(f);
            said = said < LOAD_INF ? latency_judged(f->p, f->sub, f->quotient, said) : said;
        }
        f->differing += said != (value == COST_NEVER ? LOAD_INF : value);
        f->any = value < f->any ? value : f->any;
        if (value < f->best && !is_cyclic(f, true))
            f->best = value;
        f->plans++;
        return;
    }
    f->sub[b] = ON_HOST;
    if (f->p->hosted[b])
        try_all(f, b + 1);
    for (uint32_t s = 0; s < f->t->c.ndev * f->slots; s++) {
        uint32_t dev = s / f->slots;
        if (is_host(f, dev) || f->p->kind[f->p->kind_of[dev]].time[b] == COST_NEVER)
            continue;
        f->sub[b] = s;
        try_all(f, b + 1);
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

/* A level of blocks above the instance's graph: pairs of its vertices, joined with what they close into cycles. */
static struct wdag *blocks_of(struct instance *t, uint64_t *rng, struct diag *d)
{
    uint32_t group[MAX_N], n = t->g.n;
    for (uint32_t v = 0; v < n; v++)
        group[v] = v;
    if (random_below(rng, 2))
        for (uint32_t v = 1; v < n; v++)
            if (random_below(rng, 3) == 0)
                group[v] = group[random_below(rng, v)];
    uint32_t name[MAX_N], count = 0;
    for (uint32_t v = 0; v < n; v++)
        name[v] = group[v] == v ? count++ : name[group[v]];
    count = wdag_join_cycles(&t->g, NULL, name, count);
    return wdag_merge(&t->g, name, count, "test", t->a, d);
}

static struct label_found find(const struct force *f, const struct latency_tail *tail,
                               int64_t limit, struct latency_plan *best)
{
    struct label_limits l = {1000000, 1000000000, (size_t)1 << 28, NULL};
    struct label_found found = label_search(f->p, tail, limit, &l, best, f->t->a);
    assert_true(found.complete);
    return found;
}

/* What a search below `limit` says: the best plan, or, where it does not count all bytes, one that takes no longer and,
 * if it takes less, does not fit. */
static void check_plan(struct force *f, const struct latency_plan *best)
{
    bool fits = best->value < LOAD_INF && latency_fits(f->p, best->sub, f->quotient);
    int64_t least = f->best < COST_NEVER ? f->best : LOAD_INF;
    if (best->value < LOAD_INF)
        assert_int_equal(latency_of(f->p, best->sub, f->quotient), best->value);
    assert_true(best->value <= least);
    if (f->exact || fits)
        assert_int_equal(best->value, least);
    if (f->exact && least < LOAD_INF)
        assert_true(fits);
}

static void check_found(struct force *f, const struct latency_tail *tail)
{
    struct latency_plan best = latency_no_plan(f->p, f->t->a);
    int64_t limit = f->best < COST_NEVER ? f->best : LOAD_INF;
    assert_true(tail->all <= limit);
    find(f, tail, limit, &best);
    assert_true(best.value == LOAD_INF || (!f->exact && best.value < limit));
    f->tally->shared += !f->exact;
    f->tally->unfit += best.value < LOAD_INF;
    assert_true(best.value == LOAD_INF || !latency_fits(f->p, best.sub, f->quotient));
    for (int any = 0; any < 2 && f->best < COST_NEVER; any++) {
        find(f, tail, any ? LOAD_INF : limit + 1, &best);
        check_plan(f, &best);
    }
}

/* Annealing, and all of the planner's search. */
static void check_solved(struct force *f, const struct latency_tail *tail, uint64_t seed)
{
    struct latency_plan best = latency_no_plan(f->p, f->t->a),
                        quick = latency_no_plan(f->p, f->t->a);
    struct latency_anneal a = {.seed = seed, .moves = 300};
    int64_t least = f->best < COST_NEVER ? f->best : LOAD_INF;
    int64_t any = f->any < COST_NEVER ? f->any : LOAD_INF;
    latency_anneal(f->p, &a, &quick, f->t->a);
    assert_true(quick.value >= any);
    struct latency_how how = {.seed = seed,
                              .moves = 400,
                              .max_steps = 5000000,
                              .max_labels = 10000,
                              .mem = f->t->a,
                              .level = (struct wdag *)f->p->g};
    struct latency_result s = latency_solve(f->p, tail, &how, &best, f->t->a);
    assert_true(s.complete || f->cpus || !f->exact || best.value < least);
    assert_true(s.lower <= any || (best.value > any && s.lower <= least));
    assert_true(best.value >= any && s.lower <= best.value);
    if (best.value < LOAD_INF) {
        assert_true(latency_fits(f->p, best.sub, f->quotient));
        int64_t value = latency_of(f->p, best.sub, f->quotient);
        assert_int_equal(latency_judged(f->p, best.sub, f->quotient, value), best.value);
    }
    if (!f->cpus && f->exact)
        assert_true(best.value <= least);
    f->tally->missed += !f->cpus && best.value > least;
    f->tally->parted += any < least;
}

/* The planner's search when its time is over before it begins. */
static void check_out_of_time(struct force *f, const struct latency_tail *tail, uint64_t seed)
{
    struct latency_plan best = latency_no_plan(f->p, f->t->a);
    struct clock out = {.deadline = 1};
    struct latency_how how = {.seed = seed,
                              .max_steps = 5000000,
                              .max_labels = 10000,
                              .clock = &out,
                              .mem = f->t->a,
                              .level = (struct wdag *)f->p->g};
    struct latency_result s = latency_solve(f->p, tail, &how, &best, f->t->a);
    assert_true(s.lower <= best.value && (f->any == COST_NEVER || s.lower <= f->any));
    assert_true(best.value == LOAD_INF || latency_fits(f->p, best.sub, f->quotient));
}

/* All vertices on devices given beforehand, mostly in the order of the devices. */
static void pin_all(struct instance *t, uint64_t *rng)
{
    for (uint32_t v = 0; v < t->g.n; v++) {
        uint32_t dev = v * t->c.ndev / t->g.n;
        t->g.pin[v] = (int32_t)(random_below(rng, 8) ? dev : random_below(rng, t->c.ndev));
    }
}

/* Gives all times and costs of nets that are there the same value, or multiplies them. */
static void set_times(struct instance *t, int64_t times, int64_t add)
{
    struct wdag *g = &t->g;
    for (uint32_t k = 0; k < t->c.ncls; k++) {
        for (uint32_t v = 0; v < g->n; v++)
            if (g->time[k][v] != COST_NEVER)
                g->time[k][v] = g->time[k][v] * times + add;
        for (uint32_t e = 0; e < g->nnet; e++)
            g->net_cost[k][e] = t->c.cls[k].host ? 0 : g->net_cost[k][e] * times + add;
    }
}

/* Memories of `room`, vertices of `size`, shared items of 1. */
static void fill_memory(struct instance *t, int64_t size, int64_t room)
{
    for (uint32_t k = 0; k < t->c.ncls; k++)
        t->c.cls[k].memory = room;
    for (uint32_t v = 0; v < t->g.n; v++)
        t->g.size[v] = size;
    for (uint32_t i = 0; i < t->g.nshared; i++)
        t->g.shared_size[i] = 1;
}

/* Each vertex reads one of two weights; an accelerator has room for one of them. */
static void share_weights(struct instance *t, uint64_t *rng)
{
    struct wdag *g = &t->g;
    g->nshared = 2;
    g->shared_by.at = arena_array(t->a, 3, sizeof(uint32_t));
    g->shared_by.to = arena_array(t->a, MAX_N, sizeof(uint32_t));
    g->shared_size = arena_array(t->a, 2, sizeof(int64_t));
    uint32_t second[MAX_N], n = 0, m = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        if (random_below(rng, 4))
            g->shared_by.to[n++] = v;
        else
            second[m++] = v;
    }
    memcpy(g->shared_by.to + n, second, m * sizeof *second);
    g->shared_by.at[1] = n;
    g->shared_by.at[2] = n + m;
    g->shared_of = csr_transpose(t->a, &g->shared_by, 2, g->n);
    fill_memory(t, 0, 1);
}

/* Half of the vertices that wait for nothing but such vertices take no time and need no bytes, and their values cost
 * nothing; but one of twelve keeps its times, one its bytes, one its transfers, and one may wait for any. */
static void free_starts(struct instance *t, uint64_t *rng)
{
    struct wdag *g = &t->g;
    bool out[MAX_N] = {false};
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t keeps = random_below(rng, 12); /* 0 to 3: what it keeps */
        out[v] = random_below(rng, 2) != 0;
        for_row (u, g->pred, v)
            out[v] = out[v] && (out[u] || keeps == 3);
        for (uint32_t k = 0; k < g->ncls && out[v] && keeps != 0; k++)
            g->time[k][v] = g->time[k][v] == COST_NEVER ? COST_NEVER : 0;
        g->size[v] = out[v] && keeps != 1 ? 0 : g->size[v];
        for (uint32_t e = 0; e < g->nnet && out[v] && keeps != 2; e++)
            for (uint32_t k = 0; k < g->ncls; k++)
                g->net_cost[k][e] =
                    csr_has(&g->net_pin, e, v) && g->net_src[e] == v ? 0 : g->net_cost[k][e];
    }
}

static void make_edge(struct instance *t, enum edge what, uint64_t *rng)
{
    bool host = what == NO_ACCELERATOR;
    for (uint32_t k = 0; k < t->c.ncls && (host || what == NO_HOST); k++)
        t->c.cls[k].host = host;
    if (host || what == ALL_TIES)
        set_times(t, host, host ? 0 : 3);
    if (what == ALL_PINNED)
        pin_all(t, rng);
    if (what == NO_TIMES)
        set_times(t, 0, 0);
    if (what == HUGE_TIMES) /* 1000 for the vertices, 30 for each of 130 pins: below CTX_SUM_MAX */
        set_times(t, INT64_C(1) << 46, 0);
    if (what == FULL_MEMORY)
        fill_memory(t, 1, 1 + (int64_t)random_below(rng, t->g.n));
    if (what == FREE_STARTS)
        free_starts(t, rng);
    if (what == TWO_WEIGHTS)
        share_weights(t, rng);
}

/* The problem of the instance in blocks, small enough for all of its plans; NULL: it is not. */
static struct problem *build_problem(struct instance *t, struct scene *s, uint32_t slots,
                                     uint32_t most, uint64_t *rng)
{
    struct diag silent = diag_silent(), *d = &silent;
    uint32_t options = 1;
    for (uint32_t i = 0; i < t->c.ndev; i++)
        options += t->c.cls[cluster_class(&t->c, i)].host ? 0 : slots;
    struct wdag *g = blocks_of(t, rng, d);
    double all = 1;
    for (uint32_t v = 0; g && v < g->n; v++)
        all *= options;
    *s = (struct scene){.cluster = &t->c};
    return g && t->g.n <= 9 && all <= most ? problem_build(g, s, -1, t->a, d) : NULL;
}

struct kind {
    uint32_t slots, cpus, most;
    enum edge edge;
};

/* A random instance, if it is small enough. */
static void check_one(uint64_t seed, const struct kind *x, struct tally *tally)
{
    struct instance t;
    struct scene s;
    uint64_t rng = seed * 77 + x->slots;
    make_instance(&t, seed);
    make_edge(&t, x->edge, &rng);
    for (uint32_t k = 0; k < t.c.ncls; k++)
        t.c.cls[k].memory = t.c.cls[k].host ? -1 : t.c.cls[k].memory;
    make_loads(&t, -1);
    bool wanted = x->edge != ONE_VERTEX || t.g.n == 1;
    struct problem *c = wanted ? build_problem(&t, &s, x->slots, x->most, &rng) : NULL;
    if (c) {
        struct force f = {.cpus = x->cpus,
                          .t = &t,
                          .nblock = c->g->n,
                          .slots = x->slots,
                          .at = c->g->map,
                          .best = COST_NEVER,
                          .any = COST_NEVER,
                          .exact = x->slots == 1 || !t.g.nshared,
                          .tally = tally};
        f.p = latency_graph_build(c, &t.g, x->slots, t.a);
        f.quotient = latency_quotient_new(f.p, t.a);
        if (x->cpus) {
            f.p->cpus = x->cpus;
            f.p->judge.value = judge_force;
            f.p->judge.of = &f;
        }
        try_all(&f, 0);
        assert_int_equal(f.differing, 0);
        const struct latency_tail *tail = latency_tail_make(f.p, NULL, t.a);
        if (!x->cpus)
            check_found(&f, tail);
        check_solved(&f, tail, seed);
        check_out_of_time(&f, tail, seed);
        tally->plans += f.plans;
        tally->graphs++;
    }
    arena_free(t.a);
}

static struct tally check_many(uint32_t graphs, uint32_t slots, uint32_t cpus, enum edge edge)
{
    struct tally n = {0};
    const struct kind x = {slots, cpus, cpus || edge ? 3000 : 20000, edge};
    for (uint64_t seed = 1; n.graphs < graphs; seed++)
        check_one(seed, &x, &n);
    print_message(
        "%u graphs, %u slots, %u CPUs, edge %d, %llu plans; %u share bytes, of %u the search's plan does not "
        "fit, %u miss the best; %u are better parted\n",
        n.graphs, slots, cpus, (int)edge, (unsigned long long)n.plans, n.shared, n.unfit, n.missed,
        n.parted);
    return n;
}

static void test_random(void **state)
{
    (void)state;
    check_many(SANITIZED ? GRAPHS / 10 : GRAPHS, 1, 0, EDGE_NONE);
}

/* Slots that read the same bytes are among them; of these the search's plan mostly fits, and annealing finds
 * most others. */
static void test_two_slots(void **state)
{
    (void)state;
    struct tally n = check_many(SANITIZED ? TWICE / 10 : TWICE, 2, 0, EDGE_NONE);
    assert_true(n.shared > n.graphs / 2);
    assert_true(n.missed <= n.shared / 10);
}

static void test_cpus(void **state)
{
    (void)state;
    for (uint32_t cpus = 1; cpus <= 8; cpus += cpus == 1 ? 1 : 6) {
        check_many(SANITIZED ? GRAPHS / 50 : GRAPHS / 5, 1, cpus, EDGE_NONE);
        check_many(SANITIZED ? TWICE / 50 : TWICE / 5, 2, cpus, EDGE_NONE);
    }
}

static void test_edges(void **state)
{
    (void)state;
    for (int edge = EDGE_NONE + 1; edge < EDGE_KINDS; edge++)
        for (uint32_t slots = 1; slots <= 2; slots++)
            for (uint32_t cpus = 0; cpus <= 1; cpus++)
                check_many(SANITIZED             ? EDGES / 8
                           : edge == FREE_STARTS ? 4 * EDGES
                                                 : EDGES,
                           slots, cpus, (enum edge)edge);
}

/* Sets of units are bits of a fixed number: one more is not begun. */
static void test_too_many(void **state)
{
    struct latency_graph p = {.nunit = (1 << 13) + 1};
    struct latency_plan best = {.value = LOAD_INF};
    (void)state;
    struct label_found f = label_search(&p, NULL, LOAD_INF, NULL, &best, NULL);
    assert_false(f.complete);
    assert_string_equal(f.why, "too many nodes for an exact search");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_too_many),
                                       cmocka_unit_test(test_two_slots),
                                       cmocka_unit_test(test_cpus), cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
