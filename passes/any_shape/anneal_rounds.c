/* Plans of any shape by simulated annealing, in many runs (anneal_rounds.h).
 *
 * Runs (anneal_run.c) are made in rounds of `chains` runs each.  The runs of a round start from what was known before
 * the round, have the same number of moves, and do not depend on each other, so threads may take them in any order;
 * when all are done their best plans are compared in a fixed order.  Each round has twice the moves of the one
 * before.  The runs start, in turn, from the best plan known; from a topological order cut by interval DP; from an
 * order cut into equal parts; from random devices.  In large graphs, where a run from a random plan has no time to
 * get good, most runs start from the best plan.
 *
 * Source of restarts from several sorts of plans: the placement paper, 5.2 (local search from random splits); the
 * growing runs are those of Luby, Sinclair, Zuckerman, "Optimal speedup of Las Vegas algorithms" (1993), in their
 * simplest form.
 *
 * Cost: that of the moves (anneal_run.c). */
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
    SPLIT_VERTICES = 500, /* in graphs of more vertices no run starts from interval DP */
    FIRST_MOVES = 100,    /* moves per vertex in a run of the first round */
    MOVES_EACH = 2000, /* a search without limits tries MOVES_EACH * vertices^2 * devices moves */
    /* a round is idle if it closes less than 1 / NEARER of the gap to the value that is wanted */
    NEARER = 16,
    /* a search with a goal ends after IDLE idle rounds in a row or, if labels_many() holds and the goal is reached,
     * after one round without a better plan; but not before 1 / LEAST_SHARE of its moves */
    IDLE = 2,
    LEAST_SHARE = 10,
    /* runs with a surcharge suppose that each part has 1, 2, 4 or 8 cut nets: SURCHARGES numbers */
    SURCHARGES = 4,
    GOAL_SHARE = 3, /* a search with a goal has 1 / GOAL_SHARE of the moves of one without */
    /* moves of graphs with more vertices than about this take longer, since their tables do not fit the caches */
    LARGE = 4000
};
/* the most visits of nets that a search without limits may make, which take 4 to 6 seconds */
#define MOST_WORK UINT64_C(600000000)

/* What a run starts from: the best plan, an order cut by interval DP, random devices, an order in equal parts. */
enum start { BEST, SPLIT, RANDOM, PARTS_OF_ORDER };

/* A search: its settings, and the runs of the present round. */
struct search {
    const struct problem *c, *cut; /* cut: the problem whose orders are cut; c if o->up is NULL */
    const struct anneal *o;        /* the settings */
    uint64_t done;                 /* number of moves tried */
    struct loads l;
    struct anneal_tables t;
    struct anneal_run run[MOST_CHAINS];         /* [nrun] the runs of the present round */
    struct anneal_walker *walker[MOST_THREADS]; /* [thread] the thread's walker */
    struct clock clock[MOST_THREADS];           /* [thread] the thread's copy of o->clock */
    uint32_t nrun, nthread;
    atomic_uint next; /* the first run that no thread has taken */
    uint64_t rng;     /* state of the random numbers */
    struct arena *a;
};

/* A thread of a search; `thread` is its number, below s->nthread. */
struct worker {
    struct search *s;
    uint32_t thread;
};

/* ---- starts ---------------------------------------------------------------------------------- */

/* Returns the first device on which v may be, going round from device d; NOWHERE: there is none. */
static int32_t allowed_device(const struct search *s, uint32_t v, uint32_t d)
{
    for (uint32_t i = 0; i < s->l.ndev; i++, d = d + 1 == s->l.ndev ? 0 : d + 1)
        if (loads_allows(&s->l, v, d))
            return (int32_t)d;
    return NOWHERE;
}

/* Returns a random topological order of g, of a random kind. */
static uint32_t *draw_order(struct search *s, const struct wdag *g)
{
    static const enum topo_kind kinds[] = {TOPO_LIFO, TOPO_LATE, TOPO_THIN, TOPO_RANDOM};
    enum topo_kind kind = kinds[random_below(&s->rng, 4)];
    return topo_order(g, kind, random_bits(&s->rng) | 1, s->a);
}

/* Writes dev[vertex of c], a plan, from up_dev[vertex of s->cut], a plan of the same nodes; a vertex of c that may
 * not be on the device of up_dev goes to the next device that may hold it. */
static void lift_plan(const struct search *s, const int32_t *up_dev, int32_t *dev)
{
    for (uint32_t v = 0; v < s->c->g->n; v++)
        dev[v] = allowed_device(s, v, (uint32_t)up_dev[s->o->up ? s->o->up[v] : v]);
}

/* Writes a plan to dev[]: a random order cut into parts with equally many vertices, one for each device. */
static void start_parts(struct search *s, int32_t *dev)
{
    const uint32_t *order = draw_order(s, s->cut->g);
    uint32_t n = s->cut->g->n, ndev = s->l.ndev, from = random_below(&s->rng, ndev);
    int32_t *up_dev = arena_array(s->a, (size_t)n + 1, sizeof *up_dev);
    for (uint32_t i = 0; i < n; i++)
        up_dev[order[i]] = (int32_t)((from + (uint32_t)((uint64_t)i * ndev / n)) % ndev);
    lift_plan(s, up_dev, dev);
}

/* Writes a plan to r->dev and r->copies: a random order cut by interval DP.  Returns false if that gives no plan. */
static bool start_split(struct search *s, struct anneal_run *r)
{
    struct problem_plan p = {.value = LOAD_INF, .copies = r->copies};
    p.dev = arena_array(s->a, (size_t)s->cut->g->n + 1, sizeof *p.dev);
    const uint32_t *order = draw_order(s, s->cut->g);
    if (!interval_rough(s->cut, order, s->o->clock, &p, s->a).better)
        return false;
    loads_share(&s->l, r->copies);
    lift_plan(s, p.dev, r->dev);
    return true;
}

/* Writes random copies[device], as in struct plan: how many neighbouring devices of a kind take turns with one stage;
 * 1 with probability 1/2, 2 with 1/4, and so on. */
static void share_randomly(struct search *s, uint32_t *copies)
{
    const struct problem *c = s->c;
    for (uint32_t d = 0; d < s->l.ndev; d++)
        copies[d] = 1;
    for (uint32_t d = 0; d < s->l.ndev;) {
        /* alike: number of devices from d on that could take turns; n: number that do */
        uint32_t k = s->l.kind[d], alike = 1, n = 1;
        while (c->kind[k].copies > 1 && d + alike < s->l.ndev && s->l.kind[d + alike] == k)
            alike++;
        while (n < alike && random_below(&s->rng, 2))
            n++;
        copies[d++] = n;
        for (; n > 1; n--)
            copies[d++] = 0;
    }
}

/* Writes a random device for each vertex to dev[]. */
static void start_random(struct search *s, int32_t *dev)
{
    for (uint32_t v = 0; v < s->c->g->n; v++)
        dev[v] = allowed_device(s, v, random_below(&s->rng, s->l.ndev));
}

/* Writes the plan from which run r starts to r->dev and r->copies, and sets r->warm.  Of the runs that start from
 * another plan than the best one, half have the copies of the best plan.  turn: number of the run in the search, by
 * which the kind of start is chosen. */
static void make_start(struct search *s, struct anneal_run *r, uint32_t turn,
                       const struct problem_plan *best)
{
    enum { CYCLE = 8 }; /* turns after which the kinds repeat */
    static const enum start small[CYCLE] = {BEST,   SPLIT,          RANDOM, PARTS_OF_ORDER,
                                            RANDOM, PARTS_OF_ORDER, RANDOM, PARTS_OF_ORDER};
    static const enum start large[CYCLE] = {BEST, BEST, BEST,   BEST,
                                            BEST, BEST, RANDOM, PARTS_OF_ORDER};
    struct arena_mark mark = arena_mark(s->a);
    enum start kind = (s->c->g->n > SPLIT_VERTICES ? large : small)[turn % CYCLE];
    r->warm = kind == BEST && best->value < LOAD_INF;
    if (r->copies && best->value < LOAD_INF && (r->warm || random_below(&s->rng, 2)))
        memcpy(r->copies, best->copies, s->l.ndev * sizeof *r->copies);
    else if (r->copies)
        share_randomly(s, r->copies);
    loads_share(&s->l, r->copies);
    if (r->warm)
        memcpy(r->dev, best->dev, s->c->g->n * sizeof *r->dev);
    else if (kind == RANDOM || kind == BEST) /* BEST, but there is no plan yet */
        start_random(s, r->dev);
    else if (kind != SPLIT || !start_split(s, r))
        start_parts(s, r->dev);
    arena_release(s->a, mark);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Takes one run of the round after the other, as long as there are runs that no other thread has taken, and does
 * them. */
static void *run_thread(void *worker)
{
    struct worker *w = worker;
    struct search *s = w->s;
    for (;;) {
        uint32_t i = atomic_fetch_add(&s->next, 1);
        if (i >= s->nrun)
            return NULL;
        anneal_run(s->walker[w->thread], &s->run[i], &s->clock[w->thread]);
    }
}

/* Does all runs of a round, in s->nthread threads, of which the calling one is number 0.  Each thread has its own
 * copy of the clock; if time ran out in one of the copies, s->o->clock says so, too. */
static void run_round(struct search *s)
{
    pthread_t id[MOST_THREADS];
    struct worker worker[MOST_THREADS];
    bool runs[MOST_THREADS] = {false};
    atomic_store(&s->next, 0);
    for (uint32_t i = 0; i < s->nthread; i++) {
        worker[i] = (struct worker){s, i};
        s->clock[i] = *s->o->clock;
        /* if a thread cannot be made, the other threads do all runs */
        runs[i] = i > 0 && pthread_create(&id[i], NULL, run_thread, &worker[i]) == 0;
    }
    run_thread(&worker[0]);
    for (uint32_t i = 0; i < s->nthread; i++) {
        if (runs[i])
            pthread_join(id[i], NULL);
        if (s->clock[i].why)
            s->o->clock->why = s->clock[i].why;
    }
}

/* Returns the time per sample of the plan dev[], ps, with the cost of its parts (s->o->price).  value: the largest load
 * of the plan; surcharge: `value` includes a surcharge on cut nets, so the load is computed anew without it. */
static int64_t price_plan(struct search *s, const int32_t *dev, const uint32_t *copies,
                          int64_t value, bool surcharge)
{
    if (!s->o->price)
        return value;
    if (surcharge) {
        loads_share(&s->l, copies);
        loads_set(&s->l, dev);
        value = loads_value(&s->l);
        /* loads_share() may only be called while no vertex has a device */
        for (uint32_t v = 0; s->l.copies && v < s->c->g->n; v++)
            loads_move(&s->l, v, NOWHERE);
    }
    return s->o->price(s->o->user, s->c, value, dev, copies);
}

/* Compares the best plans of the round's runs with *best, and writes the best of all to *best; returns whether *best
 * changed.  Adds up the moves of the runs. */
static bool merge_runs(struct search *s, struct problem_plan *best)
{
    bool better = false;
    for (uint32_t i = 0; i < s->nrun; i++) {
        struct anneal_run *r = &s->run[i];
        s->done += r->done;
        int64_t value =
            r->better ? price_plan(s, r->dev, r->copies, r->value, r->surcharge > 0) : LOAD_INF;
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

/* Makes the tables, the runs and a walker for each thread.  Returns 0, or -1 and an error: c is too large. */
static int search_begin(struct search *s, struct diag *d)
{
    const struct anneal *o = s->o;
    if (loads_new(&s->l, s->c, o->planner, s->a, d))
        return -1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    /* rows: entries of the tables that each walker copies; most: number of walkers that such tables leave memory
     * for */
    uint64_t rows = ((uint64_t)s->c->g->nnet + s->c->g->nshared + 1) * s->l.ndev;
    uint64_t most = 1 + LOADS_MOST / rows;
    s->nrun = smaller_u32(o->chains, MOST_CHAINS);
    s->nthread = o->threads;
    if (!s->nthread) /* the user leaves the number open: one for each core */
        s->nthread = cores > 0 ? (uint32_t)cores : 1;
    s->nthread = smaller_u32(s->nthread, s->nrun);
    s->nthread = s->nthread < most ? s->nthread : (uint32_t)most;
    anneal_tables_make(&s->t, &s->l, o->price ? o->surcharge : 0, s->a);
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

/* Returns the number of moves to try when neither moves nor time are limited: MOVES_EACH * vertices^2 * devices, but
 * at most what one core does in some seconds (moves take longer with many nets per vertex, and in large graphs). */
static uint64_t moves_needed(const struct search *s)
{
    uint64_t n = s->c->g->n, nets = s->l.net_of.at[n] / n;
    uint64_t most = MOST_WORK / (1 + nets) * LARGE / (LARGE + n);
    uint64_t need = MOVES_EACH * n * s->l.ndev;
    need = need > most / n ? most : need * n; /* the product, without overflow */
    if (s->o->share > 1)
        need /= s->o->share;
    return s->o->most ? smaller_u64(need, s->o->most) : need;
}

/* Returns part / whole in thousandths, at most 1000. */
static uint32_t thousandths(uint64_t part, uint64_t whole)
{
    return part < whole ? (uint32_t)((__int128)part * 1000 / whole) : 1000;
}

/* Tells the listener the progress: `done` thousandths of the moves, or the share of the time since `began` if that is
 * more. */
static void tell_progress(const struct search *s, const struct problem_plan *best, int64_t began,
                          uint32_t done)
{
    const struct clock *clock = s->o->clock;
    int64_t passed = clock_now() - began, whole = clock->deadline - began;
    uint32_t late =
        clock->deadline && whole > 0 ? thousandths((uint64_t)passed, (uint64_t)whole) : 0;
    if (!s->o->silent)
        problem_tell(s->c, clock, "annealing", larger_u32(late, done), best->value);
}

/* Returns the number of moves of each run in the next round: `quota`, or less if fewer moves than that are left for
 * all runs (left), or the time does not allow as many.  began: clock_now() at the start of the search. */
static uint64_t moves_per_run(const struct search *s, uint64_t quota, uint64_t left, int64_t began)
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

/* Returns whether a round, which lowered the best value from `before` to `value`, closed less than 1 / NEARER of the
 * gap: to the goal or, once that is reached, to o->enough. */
static bool has_stalled(const struct anneal *o, int64_t before, int64_t value)
{
    int64_t wanted = value > o->goal ? o->goal : o->enough;
    return before < LOAD_INF && before - value <= (before - wanted) / NEARER;
}

/* Gives each run of round number `round` a seed, its number of moves, a surcharge and a start. */
static void prepare_runs(struct search *s, uint32_t round, uint64_t moves,
                         const struct problem_plan *best)
{
    for (uint32_t i = 0; i < s->nrun; i++) {
        struct anneal_run *r = &s->run[i];
        r->seed = random_bits(&s->rng);
        r->moves = moves;
        /* half of the runs have a surcharge: the whole, a half, a quarter or an eighth of it in turn */
        r->surcharge = i % 2 ? s->t.surcharge >> (round + i / 2) % SURCHARGES : 0;
        r->value = r->surcharge ? LOAD_INF : best->value;
        make_start(s, r, round + i, best);
    }
}

/* Makes rounds of runs, each of twice as many moves, and keeps the best plan in *best, until one of the limits of
 * struct anneal ends the search. */
static void search_rounds(struct search *s, struct problem_plan *best)
{
    const struct anneal *o = s->o;
    uint32_t n = s->c->g->n;
    int64_t began = clock_now(), enough = larger(o->enough, s->c->lower.value);
    /* the search ends after `patience` moves without a better plan; last: `given` when the last better plan was
     * found */
    uint64_t quota = FIRST_MOVES * (uint64_t)n, patience = UINT64_MAX, last = 0;
    uint64_t budget = o->moves ? o->moves : UINT64_MAX;
    /* number of moves given to the runs so far; a run that reaches the lower bound tries fewer */
    uint64_t given = 0;
    uint32_t idle = 0; /* idle rounds in a row */
    bool many = labels_many(s->c);
    if (!o->moves && !o->clock->deadline) {
        budget = moves_needed(s) / (o->goal ? GOAL_SHARE : 1);
        patience = budget / 2;
    }
    for (uint32_t round = 0; given < budget && given - last < patience; round++) {
        if (best->value <= enough || clock_out(o->clock))
            break;
        uint64_t moves = moves_per_run(s, quota, budget - given, began), left = budget - given;
        int64_t before = best->value;
        prepare_runs(s, round, moves, best);
        run_round(s);
        given += moves < left / s->nrun ? moves * s->nrun : left; /* the product, at most `left` */
        if (merge_runs(s, best))
            last = given;
        tell_progress(s, best, began, thousandths(given, budget));
        if (o->after_round && o->after_round(o->user, s->done, best))
            break;
        idle = has_stalled(o, before, best->value) ? idle + 1 : 0;
        bool enough_rounds =
            idle >= IDLE || (many && best->value <= o->goal && best->value == before);
        if (o->goal && enough_rounds && given >= budget / LEAST_SHARE)
            break;
        /* where the size of the graph gives the number of moves, an idle round ends the search after half of them */
        if (!o->moves && !o->clock->deadline && idle && given >= budget / 2)
            break;
        quota *= 2;
    }
}

/* Moves vertices of the best plan so that there are fewer transfers (loads_tidy() in gather.h); keeps the result if
 * it takes no longer. */
static void gather_plan(struct search *s, struct problem_plan *best)
{
    struct loads *l = &s->l;
    uint32_t n = s->c->g->n;
    for (uint32_t v = 0; v < n; v++)
        loads_move(l, v, NOWHERE);
    loads_share(l, best->copies);
    loads_set(l, best->dev);
    loads_tidy(l);
    int64_t value = price_plan(s, l->dev, best->copies, loads_value(l), /*surcharge=*/false);
    if (value > best->value)
        return;
    best->value = value;
    memcpy(best->dev, l->dev, n * sizeof *best->dev);
    if (!best->copies)
        return;
    /* only devices that still have vertices have copies */
    memset(best->copies, 0, l->ndev * sizeof *best->copies);
    for (uint32_t v = 0; v < n; v++)
        best->copies[best->dev[v]] = l->copies[best->dev[v]];
}

struct anneal_found anneal_search(const struct problem *c, const struct anneal *o,
                                  struct problem_plan *best, struct arena *scratch, struct diag *d)
{
    assert(o->clock && o->chains > 0 && (!o->up || o->cut));
    struct arena_mark mark = arena_mark(scratch);
    struct search *s = arena_alloc(scratch, sizeof *s);
    int64_t before = best->value;
    /* whether there are vertices, and each of them can run on some device */
    bool runs = c->g->n > 0;
    *s = (struct search){.c = c, .cut = o->up ? o->cut : c, .o = o, .a = scratch};
    assert(!c->scene->model.replicate || best->copies || !c->detailed);
    int rc = search_begin(s, d);
    for (uint32_t v = 0; rc == 0 && v < c->g->n; v++)
        runs = runs && allowed_device(s, v, 0) != NOWHERE;
    if (rc == 0 && runs)
        search_rounds(s, best);
    if (rc == 0 && best->value < before)
        gather_plan(s, best);
    struct anneal_found found = {.rc = rc ? rc : best->value < before, .done = s->done};
    arena_release(scratch, mark);
    return found;
}
