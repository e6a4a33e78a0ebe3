/* Plans of any shape by simulated annealing, in many runs (anneal_rounds.h).
 *
 * Runs (anneal_run.c) are made in rounds of `chains` runs each.  The runs of a round start from what was known
 * before the round, have the same number of moves, and do not depend on each other, so threads may take them in any
 * order; when all are done their best plans are compared in a fixed order.  Each round has twice the moves of the
 * one before. A run starts, in turn, from the best plan known; from a topological order cut by interval DP; from an
 * order cut into equal parts; from random devices.  In large graphs, where a run from a random plan has no time to
 * get good, it is mostly the best plan.
 *
 * Source of restarts from several sorts of plans: the placement paper, 5.2 (local search from random
 * splits); the growing runs are those of Luby, Sinclair, Zuckerman, "Optimal speedup of Las Vegas
 * algorithms" (1993), in their plainest form.  Cost: that of the moves (anneal_run.c). */
#include "passes/any_shape/anneal_rounds.h"

#include "ir/base/random.h"
#include "passes/any_shape/anneal_run.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/problem/gather.h"
#include "ir/dag/topo_order.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_CHAINS = 64,
    MOST_THREADS = 64,
    SPLIT_VERTICES = 500, /* graphs of more vertices do not start from interval DP */
    FIRST_MOVES = 100,    /* moves per vertex in a run of the first round */
    MOVES_EACH = 2000,    /* moves that a graph needs: this * vertices^2 * devices */
    /* a round is idle if it closes less than 1 / NEARER of the gap to what is wanted; */
    NEARER = 16,
    IDLE = 2,         /* so many idle rounds in a row end a search with a goal, */
    LEAST_SHARE = 10, /* but not before 1 / LEAST_SHARE of its moves; */
    GOAL_SHARE = 3,   /* a search with a goal has 1 / GOAL_SHARE of the moves of one without */
    /* vertices from which on the tables do not fit the caches, so that moves take longer */
    LARGE = 4000
};
#define MOST_WORK UINT64_C(600000000) /* looks at a net: 4 to 6 seconds */

enum start { BEST, SPLIT, RANDOM, PARTS_OF_ORDER };

struct search {
    const struct problem *c, *cut;
    const struct anneal *o;
    uint64_t done; /* moves tried */
    struct loads l;
    struct anneal_tables t;
    struct anneal_run run[MOST_CHAINS];
    struct anneal_walker *walker[MOST_THREADS];
    struct clock clock[MOST_THREADS];
    uint32_t nrun, nthread;
    atomic_uint next; /* the first run that no thread has taken */
    uint64_t rng;
    struct arena *a;
};

struct hand {
    struct search *s;
    uint32_t thread;
};

/* ---- starts ---------------------------------------------------------------------------------- */

/* The first device from d on, in a circle, that v can be on; NOWHERE: none. */
static int32_t allowed_device(const struct search *s, uint32_t v, uint32_t d)
{
    for (uint32_t i = 0; i < s->l.ndev; i++, d = d + 1 == s->l.ndev ? 0 : d + 1)
        if (loads_allows(&s->l, v, d))
            return (int32_t)d;
    return NOWHERE;
}

static uint32_t *draw_order(struct search *s, const struct wdag *g)
{
    static const enum topo_kind kinds[] = {TOPO_LIFO, TOPO_LATE, TOPO_THIN, TOPO_RANDOM};
    enum topo_kind kind = kinds[random_below(&s->rng, 4)];
    return topo_order(g, kind, random_bits(&s->rng) | 1, s->a);
}

/* Writes dev[] for the vertices of c from up_dev[], a plan for those of s->cut; where v cannot be there, it goes to
 * the next device. */
static void put_up(const struct search *s, const int32_t *up_dev, int32_t *dev)
{
    for (uint32_t v = 0; v < s->c->g->n; v++)
        dev[v] = allowed_device(s, v, (uint32_t)up_dev[s->o->up ? s->o->up[v] : v]);
}

static void start_parts(struct search *s, int32_t *dev)
{
    const uint32_t *order = draw_order(s, s->cut->g);
    uint32_t n = s->cut->g->n, ndev = s->l.ndev, from = random_below(&s->rng, ndev);
    int32_t *up_dev = arena_array(s->a, (size_t)n + 1, sizeof *up_dev);
    for (uint32_t i = 0; i < n; i++)
        up_dev[order[i]] = (int32_t)((from + (uint32_t)((uint64_t)i * ndev / n)) % ndev);
    put_up(s, up_dev, dev);
}

/* Start: an order cut by interval DP; false if that gives no plan. */
static bool start_split(struct search *s, struct anneal_run *r)
{
    struct problem_plan p = {.value = LOAD_INF, .copies = r->copies};
    p.dev = arena_array(s->a, (size_t)s->cut->g->n + 1, sizeof *p.dev);
    const uint32_t *order = draw_order(s, s->cut->g);
    if (!interval_order(s->cut, order, NULL, s->o->clock, &p, s->a).better)
        return false;
    loads_share(&s->l, r->copies);
    put_up(s, p.dev, r->dev);
    return true;
}

/* Writes random numbers of copies: how many neighbouring devices of a kind take turns. */
static void share_randomly(struct search *s, uint32_t *copies)
{
    const struct problem *c = s->c;
    for (uint32_t d = 0; d < s->l.ndev; d++)
        copies[d] = 1;
    for (uint32_t d = 0; d < s->l.ndev;) {
        uint32_t k = s->l.kind[d], room = 1, n = 1;
        while (c->kind[k].copies > 1 && d + room < s->l.ndev && s->l.kind[d + room] == k)
            room++;
        while (n < room && random_below(&s->rng, 2))
            n++;
        copies[d++] = n;
        for (; n > 1; n--)
            copies[d++] = 0;
    }
}

static void start_random(struct search *s, int32_t *dev)
{
    for (uint32_t v = 0; v < s->c->g->n; v++)
        dev[v] = allowed_device(s, v, random_below(&s->rng, s->l.ndev));
}

static void make_start(struct search *s, struct anneal_run *r, uint32_t turn,
                       const struct problem_plan *best)
{
    static const enum start small[] = {BEST,   SPLIT,          RANDOM, PARTS_OF_ORDER,
                                       RANDOM, PARTS_OF_ORDER, RANDOM, PARTS_OF_ORDER};
    static const enum start large[] = {BEST, BEST, BEST, BEST, BEST, BEST, RANDOM, PARTS_OF_ORDER};
    struct arena_mark mark = arena_mark(s->a);
    enum start kind = (s->c->g->n > SPLIT_VERTICES ? large : small)[turn % 8];
    r->warm = kind == BEST && best->value < LOAD_INF;
    if (r->copies && best->value < LOAD_INF && (r->warm || random_below(&s->rng, 2)))
        memcpy(r->copies, best->copies, s->l.ndev * sizeof *r->copies);
    else if (r->copies)
        share_randomly(s, r->copies);
    loads_share(&s->l, r->copies);
    if (r->warm)
        memcpy(r->dev, best->dev, s->c->g->n * sizeof *r->dev);
    else if (kind == RANDOM || kind == BEST)
        start_random(s, r->dev);
    else if (kind != SPLIT || !start_split(s, r))
        start_parts(s, r->dev);
    arena_release(s->a, mark);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void *run_thread(void *hand)
{
    struct hand *h = hand;
    struct search *s = h->s;
    for (;;) {
        uint32_t i = atomic_fetch_add(&s->next, 1);
        if (i >= s->nrun)
            return NULL;
        anneal_run(s->walker[h->thread], &s->run[i], &s->clock[h->thread]);
    }
}

static void run_round(struct search *s)
{
    pthread_t id[MOST_THREADS];
    struct hand hand[MOST_THREADS];
    bool runs[MOST_THREADS] = {false};
    atomic_store(&s->next, 0);
    for (uint32_t i = 0; i < s->nthread; i++) {
        hand[i] = (struct hand){s, i};
        s->clock[i] = *s->o->clock;
        /* if a thread cannot be made, the others do its runs */
        runs[i] = i > 0 && pthread_create(&id[i], NULL, run_thread, &hand[i]) == 0;
    }
    run_thread(&hand[0]);
    for (uint32_t i = 0; i < s->nthread; i++) {
        if (runs[i])
            pthread_join(id[i], NULL);
        if (s->clock[i].why)
            s->o->clock->why = s->clock[i].why;
    }
}

/* What a plan takes; value: by its loads, but with `dear` by loads that count cut nets for more, so that it is
 * worked out anew. */
static int64_t price_plan(struct search *s, const int32_t *dev, const uint32_t *copies,
                          int64_t value, bool dear)
{
    if (!s->o->price)
        return value;
    if (dear) {
        loads_share(&s->l, copies);
        loads_set(&s->l, dev);
        value = loads_value(&s->l);
        /* so that loads_share may be called again */
        for (uint32_t v = 0; s->l.copies && v < s->c->g->n; v++)
            loads_move(&s->l, v, NOWHERE);
    }
    return s->o->price(s->o->user, s->c, value, dev, copies);
}

static bool merge_runs(struct search *s, struct problem_plan *best)
{
    bool better = false;
    for (uint32_t i = 0; i < s->nrun; i++) {
        struct anneal_run *r = &s->run[i];
        s->done += r->done;
        int64_t value = r->better ? price_plan(s, r->dev, r->copies, r->value, r->dear) : LOAD_INF;
        if (value >= best->value)
            continue;
        better = true;
        best->value = value;
        memcpy(best->dev, r->dev, s->c->g->n * sizeof *r->dev);
        if (r->copies)
            memcpy(best->copies, r->copies, s->l.ndev * sizeof *r->copies);
    }
    return better;
}

static int search_begin(struct search *s, struct diag *d)
{
    const struct anneal *o = s->o;
    if (loads_new(&s->l, s->c, o->planner, s->a, d))
        return -1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t rows = ((uint64_t)s->c->g->nnet + s->c->g->nshared + 1) * s->l.ndev;
    uint64_t most = 1 + LOADS_MOST / rows;
    s->nrun = smaller_u32(o->chains, MOST_CHAINS);
    s->nthread = o->threads ? o->threads : cores > 0 ? (uint32_t)cores : 1;
    s->nthread = smaller_u32(s->nthread, s->nrun);
    s->nthread = s->nthread < most ? s->nthread : (uint32_t)most;
    anneal_tables_make(&s->t, &s->l, o->price ? o->dear : 0, s->a);
    for (uint32_t i = 0; i < s->nthread; i++)
        s->walker[i] = anneal_walker_new(&s->l, &s->t, s->a);
    for (uint32_t i = 0; i < s->nrun; i++) {
        s->run[i].dev = arena_array(s->a, (size_t)s->c->g->n + 1, sizeof(int32_t));
        s->run[i].copies =
            s->l.copies ? arena_array(s->a, (size_t)s->l.ndev + 1, sizeof(uint32_t)) : NULL;
    }
    s->rng = o->seed;
    return 0;
}

/* Moves to try when neither moves nor time are limited: MOVES_EACH * vertices^2 * devices, up to what one core does
 * in some seconds (moves take longer with many nets per vertex, and in large graphs). */
static uint64_t moves_needed(const struct search *s)
{
    uint64_t n = s->c->g->n, nets = s->l.net_of.at[n] / n;
    uint64_t most = MOST_WORK / (1 + nets) * LARGE / (LARGE + n);
    uint64_t need = MOVES_EACH * n * s->l.ndev;
    need = need > most / n ? most : need * n;
    need = s->o->share > 1 ? need / s->o->share : need;
    return s->o->most && need > s->o->most ? s->o->most : need;
}

/* `part` of `whole`, in thousandths. */
static uint32_t thousandths(uint64_t part, uint64_t whole)
{
    return part < whole ? (uint32_t)((__int128)part * 1000 / whole) : 1000;
}

static void tell_progress(const struct search *s, const struct problem_plan *best, int64_t began,
                          uint32_t done)
{
    const struct clock *clock = s->o->clock;
    int64_t passed = clock_now() - began, whole = clock->deadline - began;
    uint32_t late =
        clock->deadline && whole > 0 ? thousandths((uint64_t)passed, (uint64_t)whole) : 0;
    if (!s->o->untold)
        problem_tell(s->c, clock, "annealing", larger_u32(late, done), best->value);
}

/* Moves for each run of the next round: `quota`, or less if the budget or the time does not allow as many. */
static uint64_t cut_quota(const struct search *s, uint64_t quota, uint64_t left, int64_t began)
{
    const struct anneal *o = s->o;
    if (o->clock->deadline && s->done) {
        int64_t rest = clock_left(o->clock), spent = clock_now() - began + 1;
        __int128 fits = (__int128)s->done * larger(rest, 0) / spent;
        left = fits < left ? (uint64_t)fits : left;
    }
    uint64_t part = left / s->nrun + 1;
    return smaller_u64(quota, part);
}

/* Whether a round, which lowered the best value from `before`, closed less than 1 / NEARER of the gap: to the goal
 * or, once that is reached, to the bound. */
static bool has_stalled(const struct anneal *o, int64_t before, int64_t value)
{
    int64_t wanted = value > o->goal ? o->goal : o->enough;
    return before < LOAD_INF && before - value <= (before - wanted) / NEARER;
}

static void search_on(struct search *s, struct problem_plan *best)
{
    const struct anneal *o = s->o;
    uint32_t n = s->c->g->n;
    int64_t began = clock_now(), enough = larger(o->enough, s->c->lower.value);
    uint64_t quota = FIRST_MOVES * (uint64_t)n, patience = UINT64_MAX, last = 0;
    uint64_t budget = o->moves ? o->moves : UINT64_MAX;
    /* moves given to runs so far; a run that reaches the lower bound does not use all */
    uint64_t given = 0;
    uint32_t idle = 0; /* idle rounds in a row */
    if (!o->moves && !o->clock->deadline) {
        budget = moves_needed(s) / (o->goal ? GOAL_SHARE : 1);
        patience = budget / 2;
    }
    for (uint32_t round = 0; given < budget && given - last < patience; round++) {
        if (best->value <= enough || clock_out(o->clock))
            break;
        uint64_t moves = cut_quota(s, quota, budget - given, began), left = budget - given;
        int64_t before = best->value;
        for (uint32_t i = 0; i < s->nrun; i++) {
            struct anneal_run *r = &s->run[i];
            r->seed = random_bits(&s->rng);
            r->moves = moves;
            r->dear = s->t.dear && i % 2;
            r->value = r->dear ? LOAD_INF : best->value;
            make_start(s, r, round + i, best);
        }
        run_round(s);
        given += moves < left / s->nrun ? moves * s->nrun : left;
        if (merge_runs(s, best))
            last = given;
        tell_progress(s, best, began, thousandths(given, budget));
        if (o->after_round && o->after_round(o->user, s->done, best))
            break;
        idle = has_stalled(o, before, best->value) ? idle + 1 : 0;
        if (o->goal && idle >= IDLE && given >= budget / LEAST_SHARE)
            break;
        if (!o->moves && !o->clock->deadline && idle && given >= budget / 2)
            break;
        quota *= 2;
    }
}

/* Fewer transfers at the same value (gather.h). */
static void gather_plan(struct search *s, struct problem_plan *best)
{
    struct loads *l = &s->l;
    uint32_t n = s->c->g->n;
    for (uint32_t v = 0; v < n; v++)
        loads_move(l, v, NOWHERE);
    loads_share(l, best->copies);
    loads_set(l, best->dev);
    loads_tidy(l);
    int64_t value = price_plan(s, l->dev, best->copies, loads_value(l), false);
    if (value > best->value)
        return;
    best->value = value;
    memcpy(best->dev, l->dev, n * sizeof *best->dev);
    for (uint32_t i = 0; best->copies && i < l->ndev; i++)
        best->copies[i] = 0;
    for (uint32_t v = 0; best->copies && v < n; v++)
        best->copies[best->dev[v]] = l->copies[best->dev[v]];
}

struct anneal_found anneal_search(const struct problem *c, const struct anneal *o,
                                  struct problem_plan *best, struct arena *scratch, struct diag *d)
{
    assert(o->clock && o->chains > 0 && (!o->up || o->cut));
    struct arena_mark mark = arena_mark(scratch);
    struct search *s = arena_alloc(scratch, sizeof *s);
    int64_t before = best->value;
    bool runs = c->g->n > 0;
    *s = (struct search){.c = c, .cut = o->up ? o->cut : c, .o = o, .a = scratch};
    assert(!c->scene->model.replicate || best->copies || !c->detailed);
    int rc = search_begin(s, d);
    for (uint32_t v = 0; rc == 0 && v < c->g->n; v++)
        runs = runs && allowed_device(s, v, 0) != NOWHERE;
    if (rc == 0 && runs)
        search_on(s, best);
    if (rc == 0 && best->value < before)
        gather_plan(s, best);
    struct anneal_found found = {.rc = rc ? rc : best->value < before, .done = s->done};
    arena_release(scratch, mark);
    return found;
}
