/* Anneals contiguous plans (latency_anneal.h).
 *
 * A state gives each block a subgraph or the hosts.  A move puts some blocks into another subgraph or on the hosts: a
 * single block; a block with all blocks before or after it in its subgraph; a connected part of a subgraph; a block
 * with all blocks between it and another subgraph; or a whole subgraph, which may change places with another one.  A
 * state in which subgraphs wait for each other in a circle, or that does not fit the memory, is not entered.  The
 * energy is the latency and, in some rounds, a small share of all work, so that blocks off the critical path improve,
 * too.  Rounds start from the best plan, from accelerators filled along a random order, or with all blocks on the
 * hosts, and become longer.  If there are few plans, all are tried instead.  Cost: O(V + E + pins) for a move. */
#include "passes/latency/latency_anneal.h"

#include "ir/base/keyed.h"
#include "ir/base/log2_int.h"
#include "ir/base/random.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_ROUND = 4000,     /* moves of the first rounds */
    LONGEST_ROUND = 400000, /* rounds with more moves do not become longer */
    LARGEST_CLUSTER = 7,    /* a cluster has at most 2^LARGEST_CLUSTER blocks */
    /* a round whose start is no plan, or does not fit the memory, counts as 1 / FAILED_SHARE of its moves: few, so that
     * other starts can be tried, but some, so that the rounds come to an end */
    FAILED_SHARE = 16,
    FEW_PLANS = 10000 /* up to this number of plans, all are tried */
};

/* The annealing: the present state, the best state, and the move that is being tried. */
struct state {
    const struct latency_graph *p;
    struct latency_quotient *quotient;
    uint64_t rng;
    /* [block] as latency_plan.sub.  sub: the present state; best: the best state so far */
    uint32_t *sub, *best;
    int64_t value, energy, best_value; /* ps: latency and energy of sub; latency of best */
    uint32_t share;                    /* share of all work in the energy, in 1/1024 */
    /* the move: moved[nmoved] are its blocks, was[] tells where each of them was before */
    uint32_t *moved, *was, nmoved;
    /* scratch, [block]; a block is marked in mark or other if its entry equals `stamp` */
    uint32_t *stack, *mark, *other, stamp;
};

/* ---- sets of blocks -------------------------------------------------------------------------- */

/* Adds block b to the move. */
static void add_moved(struct state *s, uint32_t b)
{
    s->moved[s->nmoved] = b;
    s->was[s->nmoved++] = s->sub[b];
}

/* Marks all blocks that can be reached along rows of `along` from the `top` blocks on the stack, only through blocks of
 * subgraph `in` (ON_HOST: through all blocks).  mark: s->mark or s->other. */
static void mark_reached(struct state *s, const struct csr *along, uint32_t *mark, uint32_t top,
                         uint32_t in)
{
    assert(s->nmoved <= s->p->g->n);
    while (top) {
        uint32_t v = s->stack[--top];
        for_row (u, *along, v) {
            if (mark[u] == s->stamp || (in != ON_HOST && s->sub[u] != in))
                continue;
            mark[u] = s->stamp;
            s->stack[top++] = u;
        }
    }
}

/* Adds block b to the move; also all blocks of its subgraph from which a path within the subgraph leads to b, or, at
 * random, all to which such a path leads from b. */
static void choose_side(struct state *s, uint32_t b)
{
    const struct wdag *g = s->p->g;
    uint32_t in = s->sub[b];
    if (in == ON_HOST) {
        add_moved(s, b);
        return;
    }
    s->stamp++;
    s->stack[0] = b;
    s->mark[b] = s->stamp;
    mark_reached(s, random_below(&s->rng, 2) ? &g->succ : &g->pred, s->mark, 1, in);
    for (uint32_t v = 0; v < g->n; v++)
        if (s->mark[v] == s->stamp)
            add_moved(s, v);
}

/* Adds to the move a random connected set of blocks around b, all in the subgraph of b or all on the hosts: up to 2, 4,
 * 8, ... or 2^LARGEST_CLUSTER blocks. */
static void choose_cluster(struct state *s, uint32_t b)
{
    const struct wdag *g = s->p->g;
    uint32_t in = s->sub[b], most = 2U << random_below(&s->rng, LARGEST_CLUSTER), top = 0;
    s->stamp++;
    s->stack[top++] = b;
    s->mark[b] = s->stamp;
    while (top && s->nmoved < most) {
        uint32_t at = random_below(&s->rng, top), v = s->stack[at];
        s->stack[at] = s->stack[--top];
        add_moved(s, v);
        for (uint32_t side = 0; side < 2; side++) {
            const struct csr *along = side ? &g->succ : &g->pred;
            for_row (u, *along, v) {
                if (s->mark[u] == s->stamp || s->sub[u] != in)
                    continue;
                s->mark[u] = s->stamp;
                s->stack[top++] = u;
            }
        }
    }
}

/* Adds block b to the move, with all blocks on paths between b and subgraph `to`; b alone if there is no path. */
static void choose_between(struct state *s, uint32_t b, uint32_t to)
{
    const struct wdag *g = s->p->g;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t top = 0;
        s->stamp++;
        for (uint32_t v = 0; v < g->n; v++)
            if (s->sub[v] == to)
                s->stack[top++] = v;
        mark_reached(s, side ? &g->pred : &g->succ, s->mark, top, ON_HOST);
        if (s->mark[b] != s->stamp)
            continue;
        s->stack[0] = b;
        s->other[b] = s->stamp;
        mark_reached(s, side ? &g->succ : &g->pred, s->other, 1, ON_HOST);
        for (uint32_t v = 0; v < g->n; v++)
            if (s->mark[v] == s->stamp && s->other[v] == s->stamp && s->sub[v] != to)
                add_moved(s, v);
        return;
    }
    add_moved(s, b);
}

/* Adds all blocks of subgraph `sub` to the move. */
static void choose_whole(struct state *s, uint32_t sub)
{
    for (uint32_t v = 0; v < s->p->g->n; v++)
        if (s->sub[v] == sub)
            add_moved(s, v);
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Returns a random subgraph of an accelerator. */
static uint32_t random_sub(struct state *s)
{
    const struct latency_graph *p = s->p;
    return p->dev[random_below(&s->rng, p->ndev)] * p->slots + random_below(&s->rng, p->slots);
}

/* Returns a random neighbour of block b in the graph; b itself if it has none. */
static uint32_t random_neighbour(struct state *s, uint32_t b)
{
    const struct wdag *g = s->p->g;
    uint32_t npred = g->pred.at[b + 1] - g->pred.at[b];
    uint32_t n = npred + g->succ.at[b + 1] - g->succ.at[b];
    if (n == 0)
        return b;
    uint32_t i = random_below(&s->rng, n);
    return i < npred ? g->pred.to[g->pred.at[b] + i] : g->succ.to[g->succ.at[b] + i - npred];
}

/* Returns a place for block b at random: with probability 1/8 the hosts, with 2/8 any subgraph, with 5/8 the place of a
 * neighbour of b (any subgraph if b has no neighbour). */
static uint32_t choose_target(struct state *s, uint32_t b)
{
    uint32_t choice = random_below(&s->rng, 8);
    if (choice == 0 || !s->p->ndev)
        return ON_HOST;
    uint32_t near = choice > 2 ? random_neighbour(s, b) : b;
    return near == b ? random_sub(s) : s->sub[near];
}

/* Makes the move that exchanges the blocks of subgraphs a and b. */
static void swap_subs(struct state *s, uint32_t a, uint32_t b)
{
    assert(a != ON_HOST && b != ON_HOST && a != b);
    choose_whole(s, a);
    uint32_t n = s->nmoved;
    choose_whole(s, b);
    for (uint32_t i = 0; i < s->nmoved; i++)
        s->sub[s->moved[i]] = i < n ? b : a;
}

/* Chooses a random move and makes it in s->sub: of 16 moves about 5 of a single block, 3 of a side, 3 of a cluster, 2
 * of blocks between, one of a whole subgraph, and one exchange.  Returns false if the chosen move changes nothing. */
static bool make_move(struct state *s)
{
    uint32_t b = random_below(&s->rng, s->p->g->n), to = choose_target(s, b);
    uint32_t kind = random_below(&s->rng, 16);
    s->nmoved = 0;
    if (kind == 15 && to != ON_HOST && s->sub[b] != ON_HOST && to != s->sub[b]) {
        swap_subs(s, s->sub[b], to);
        return true;
    }
    if (to == s->sub[b])
        return false;
    if (kind < 5)
        add_moved(s, b);
    else if (kind < 8)
        choose_side(s, b);
    else if (kind < 11)
        choose_cluster(s, b);
    else if (kind < 13 && to != ON_HOST)
        choose_between(s, b, to);
    else if (kind < 14 && s->sub[b] != ON_HOST)
        choose_whole(s, s->sub[b]);
    else
        add_moved(s, b);
    for (uint32_t i = 0; i < s->nmoved; i++)
        s->sub[s->moved[i]] = to;
    return true;
}

/* Puts the blocks of the last move back. */
static void undo_move(struct state *s)
{
    for (uint32_t i = 0; i < s->nmoved; i++)
        s->sub[s->moved[i]] = s->was[i];
}

/* Writes the latency and the energy of s->sub, in ps.  Returns false if s->sub is no plan, does not fit the memory, or
 * has an energy above `most`. */
static bool evaluate_state(struct state *s, int64_t most, int64_t *value, int64_t *energy)
{
    *value = latency_within(s->p, s->sub, s->quotient, most);
    int64_t more = s->share ? (int64_t)((__int128)latency_work(s->quotient) * s->share >> 10) : 0;
    if (*value == LOAD_INF || *value + more > most ||
        latency_shared(s->p, s->quotient) + more > most || !latency_fits(s->p, s->sub, s->quotient))
        return false;
    *value = latency_judged(s->p, s->sub, s->quotient, *value); /* last, as it takes longest */
    *energy = *value + more;
    return *energy <= most;
}

/* Returns a random number of ps by which the energy may rise at temperature `heat` (ps): the number is at least d with
 * probability exp(-d / heat). */
static int64_t random_rise(struct state *s, int64_t heat)
{
    uint64_t u = (random_bits(&s->rng) >> 32) | 1; /* 32 bits, not 0: its logarithm is taken */
    /* -ln (u / 2^32), in units of 2^-FIXED_BITS: (32 - log2 u) times ln 2, which is 45426 / 2^16 */
    int64_t wait = ((INT64_C(32) << FIXED_BITS) - fixed_log2(u)) * 45426 >> 16;
    return (int64_t)((__int128)heat * wait >> FIXED_BITS);
}

/* Makes the present state the best one, s->best, if its value is smaller. */
static void keep_if_best(struct state *s)
{
    if (s->value >= s->best_value)
        return;
    s->best_value = s->value;
    memcpy(s->best, s->sub, s->p->g->n * sizeof *s->sub);
}

/* Runs a round of up to `moves` moves from s->sub, while the temperature falls from `hot` to `cold` ps.  Keeps the best
 * state in s->best, leaves the last one in s->sub, and adds the moves to how->done; a plan that the judge valued counts
 * as JUDGED_MOVES moves more.  Ends early if the clock is out or the best state is good enough. */
static void run_round(struct state *s, struct latency_anneal *how, uint64_t moves, int64_t hot,
                      int64_t cold)
{
    enum { COOLINGS = 64 };
    int64_t fall = (fixed_log2((uint64_t)cold) - fixed_log2((uint64_t)hot)) / COOLINGS;
    int64_t heat = hot, level = fixed_log2((uint64_t)hot);
    uint64_t cooling = 0; /* the temperature falls after this number of moves */
    if (!evaluate_state(s, LOAD_INF, &s->value, &s->energy)) {
        how->done += moves / FAILED_SHARE + 1;
        return;
    }
    keep_if_best(s);
    for (uint64_t i = 0; i < moves && s->best_value > how->enough; i++) {
        int64_t value, energy;
        for (; i >= cooling; cooling += moves / COOLINGS + 1) {
            if (clock_out(how->clock))
                return;
            heat = (int64_t)fixed_exp2(level);
            level += fall;
        }
        how->done++;
        if (!make_move(s))
            continue;
        uint64_t before = latency_times_judged(s->quotient);
        bool good = evaluate_state(s, s->energy + random_rise(s, heat), &value, &energy);
        uint64_t extra = JUDGED_MOVES * (latency_times_judged(s->quotient) - before);
        how->done += extra;
        i += extra; /* after such a jump the temperature may have to fall several times at once */
        if (!good) {
            undo_move(s);
            continue;
        }
        s->value = value;
        s->energy = energy;
        keep_if_best(s);
    }
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* The state of filling accelerators with blocks, one accelerator after the other. */
struct filling {
    const struct latency_graph *p;
    uint32_t at;   /* number in p->dev of the accelerator that is being filled; p->ndev: none */
    int64_t bytes; /* lasting bytes on that accelerator */
    /* [shared item] 1 + number of the last accelerator that got the item; 0: none */
    uint32_t *shared;
    struct set_memory *at_once; /* blocks of that accelerator; NULL: any blocks fit at one time */
    struct set_memory *empty;   /* an empty set, which becomes the next accelerator's `at_once` */
};

/* Returns the bytes that last on accelerator number dev of p->dev if block b joins its `bytes` bytes. */
static int64_t bytes_with(const struct filling *f, uint32_t b, int64_t bytes, uint32_t dev)
{
    const struct wdag *g = f->p->g;
    bytes += g->size[b];
    for_row (s, g->shared_of, b)
        if (f->shared[s] != dev + 1)
            bytes += g->shared_size[s];
    return bytes;
}

/* Makes block b join accelerator number i if that has room for it; returns whether it has. */
static bool fill_with(struct filling *f, uint32_t b, uint32_t i)
{
    const struct accelerators *k = &f->p->kind[f->p->kind_of[f->p->dev[i]]];
    int64_t with = bytes_with(f, b, i == f->at ? f->bytes : 0, i);
    if (k->time[b] == COST_NEVER || with > k->memory)
        return false;
    if (f->at_once) {
        /* another accelerator starts with the empty set; the two sets then change their roles */
        struct set_memory *to = i == f->at ? f->at_once : f->empty;
        set_memory_add(to, b);
        if (with + set_memory_peak(to) > f->p->c->kind[k->of].room) {
            set_memory_drop(to, b);
            return false;
        }
        if (i != f->at) {
            set_memory_clear(f->at_once);
            f->empty = f->at_once;
            f->at_once = to;
        }
    }
    f->at = i;
    f->bytes = with;
    for_row (s, f->p->g->shared_of, b)
        f->shared[s] = i + 1;
    return true;
}

/* Returns the first accelerator, from number f->at on, that can run block b and has memory for it, and makes b join it;
 * ON_HOST: none has.  If only the memory is used up, f->at becomes p->ndev: all later blocks go to the hosts, too. */
static uint32_t next_device(struct filling *f, uint32_t b)
{
    const struct latency_graph *p = f->p;
    /* whether b would fit on the accelerator looked at last if no other block were there: then only memory in use
     * keeps b away.  Accelerators behind f->at hold no block yet, so for these it is false */
    bool full = false;
    for (uint32_t i = f->at; i < p->ndev; i++) {
        const struct accelerators *k = &p->kind[p->kind_of[p->dev[i]]];
        if (fill_with(f, b, i))
            return p->dev[i];
        full = k->time[b] != COST_NEVER && bytes_with(f, b, 0, p->ndev) <= k->memory &&
               vertex_needs(p->g, b) <= p->c->kind[k->of].room;
    }
    if (full)
        f->at = p->ndev;
    return ON_HOST;
}

/* Sorts n blocks by their last nodes.  key: scratch, [n]. */
static void sort_by_last(const struct latency_graph *p, uint32_t *block, uint32_t n,
                         struct keyed *key)
{
    for (uint32_t i = 0; i < n; i++)
        key[i] = (struct keyed){p->last[block[i]], block[i]};
    keyed_sort(key, n);
    for (uint32_t i = 0; i < n; i++)
        block[i] = key[i].item;
}

/* Takes a block out of ready[], n > 0 blocks in the order in which they became ready, and returns it: mostly the last
 * block, so that an accelerator follows a path; one time in four a random one of the last four.  rng NULL: always the
 * last one. */
static uint32_t take_ready(uint32_t *ready, uint32_t n, uint64_t *rng)
{
    uint32_t back = 0;
    if (rng && random_below(rng, 4) == 0)
        back = random_below(rng, smaller_u32(n, 4));
    uint32_t v = ready[n - 1 - back];
    for (uint32_t i = n - 1 - back; i + 1 < n; i++)
        ready[i] = ready[i + 1];
    return v;
}

void latency_fill(const struct latency_graph *p, uint64_t *rng, struct latency_plan *plan,
                  struct latency_quotient *quotient, struct arena *scratch)
{
    const struct wdag *g = p->g;
    struct arena_mark mark = arena_mark(scratch);
    uint32_t *wait = csr_sizes(&g->pred, g->n, scratch);
    uint32_t *ready = arena_array(scratch, (size_t)g->n + 1, sizeof *ready), n = 0;
    struct filling f = {.p = p};
    f.shared = arena_array(scratch, (size_t)g->nshared + 1, sizeof *f.shared);
    f.at_once = p->c->values ? set_memory_new(p->c->values, scratch) : NULL;
    f.empty = p->c->values ? set_memory_new(p->c->values, scratch) : NULL;
    struct keyed *keys = arena_array(scratch, (size_t)g->n + 1, sizeof *keys);
    bool placed = true;
    for (uint32_t v = g->n; v-- > 0;)
        if (!wait[v])
            ready[n++] = v;
    while (n) {
        uint32_t v = take_ready(ready, n--, rng);
        uint32_t dev = next_device(&f, v);
        placed = placed && (dev != ON_HOST || p->hosted[v]);
        plan->sub[v] = dev == ON_HOST ? ON_HOST : dev * p->slots;
        uint32_t from = n;
        for_row (w, g->succ, v)
            if (--wait[w] == 0)
                ready[n++] = w;
        sort_by_last(p, ready + from, n - from, keys);
    }
    arena_release(scratch, mark);
    plan->value = LOAD_INF;
    if (placed && latency_fits(p, plan->sub, quotient))
        plan->value = latency_of(p, plan->sub, quotient);
    plan->value = latency_judged(p, plan->sub, quotient, plan->value);
}

/* Writes the start of a round to s->sub: of three rounds two start from the best plan if there is one, the third from
 * filled accelerators and from all blocks on the hosts in turn (on the hosts, too, if filling gives no plan).  Returns
 * whether the start is a plan. */
static bool choose_start(struct state *s, uint32_t round, const struct latency_plan *best,
                         struct arena *scratch)
{
    const struct latency_graph *p = s->p;
    struct latency_plan plan = {LOAD_INF, s->sub};
    if (round % 3 != 0 && best->value < LOAD_INF) {
        memcpy(s->sub, best->sub, p->g->n * sizeof *s->sub);
        return true;
    }
    /* tries up to 8 orders, of which only the very first one is not random */
    for (uint32_t i = 0; i < 8 && round % 6 != 3; i++) {
        latency_fill(p, round || i ? &s->rng : NULL, &plan, s->quotient, scratch);
        if (plan.value < LOAD_INF)
            return true;
    }
    for (uint32_t b = 0; b < p->g->n; b++)
        s->sub[b] = ON_HOST;
    return latency_of(p, s->sub, s->quotient) < LOAD_INF;
}

/* Returns the number of ways to place the blocks; 0: there are more than FEW_PLANS. */
static uint64_t count_plans(const struct latency_graph *p)
{
    uint64_t plans = 1;
    for (uint32_t b = 0; b < p->g->n && plans; b++) {
        plans *= (uint64_t)p->ndev * p->slots + p->hosted[b];
        plans = plans <= FEW_PLANS ? plans : 0;
    }
    return plans;
}

/* Writes way number i < count_plans(p) to place the blocks to sub[]. */
static void decode_plan(const struct latency_graph *p, uint64_t i, uint32_t *sub)
{
    const uint32_t subs = p->ndev * p->slots;
    for (uint32_t b = 0; b < p->g->n; b++) {
        uint32_t places = subs + p->hosted[b], at = (uint32_t)(i % places);
        sub[b] = at == subs ? ON_HOST : p->dev[at / p->slots] * p->slots + at % p->slots;
        i /= places;
    }
    assert(i == 0); /* i < count_plans(p) */
}

/* Tries all `plans` ways to place the blocks, and replaces *best by the best one if that is better. */
static void try_all(struct state *s, uint64_t plans, struct latency_anneal *how,
                    struct latency_plan *best)
{
    for (uint64_t i = 0; i < plans && best->value > how->enough; i++) {
        int64_t value, energy;
        if (i % 64 == 63 && clock_out(how->clock)) /* a look at the clock now and then */
            return;
        how->done++;
        decode_plan(s->p, i, s->sub);
        if (!evaluate_state(s, best->value, &value, &energy) || value >= best->value)
            continue;
        best->value = value;
        memcpy(best->sub, s->sub, s->p->g->n * sizeof *s->sub);
    }
}

void latency_anneal(const struct latency_graph *p, struct latency_anneal *how,
                    struct latency_plan *best, struct arena *scratch)
{
    assert(best->value >= 0 && how->enough >= 0);
    uint32_t n = p->g->n;
    struct arena *a = arena_new(scratch);
    struct state s = {.p = p, .rng = how->seed, .best_value = best->value};
    uint32_t **row[] = {&s.sub, &s.best, &s.moved, &s.was, &s.stack, &s.mark, &s.other};
    /* 2 * n, since choose_between() can have a block on the stack twice: at first, and once it is reached */
    for (uint32_t i = 0; i < sizeof row / sizeof *row; i++)
        *row[i] = arena_array(a, (size_t)2 * n + 1, sizeof(uint32_t));
    s.quotient = latency_quotient_new(p, a);
    uint64_t moves = FIRST_ROUND, end = how->done + how->moves, plans = count_plans(p);
    bool few = plans && plans <= how->moves;
    if (few)
        try_all(&s, plans, how, best);
    for (uint32_t round = 0; n && !few && how->done < end && best->value > how->enough; round++) {
        if (clock_out(how->clock) && (round || best->value < LOAD_INF))
            break;
        /* warm: choose_start() takes the best plan */
        bool warm = round % 3 != 0 && best->value < LOAD_INF;
        if (!choose_start(&s, round, best, a))
            how->done += moves / FAILED_SHARE + 1;
        int64_t own = latency_of(p, s.sub, s.quotient); /* ps: latency of the start */
        if (own == LOAD_INF)
            continue;
        /* temperatures are shares of a latency; a start from the best plan begins at a lower one */
        int64_t like = best->value < LOAD_INF ? best->value : own;
        int64_t hot = like / (warm ? 200 : 40) >> random_below(&s.rng, 3);
        /* in one round of three a share of all work, 1/1024 to 20/1024, is in the energy */
        s.share = random_below(&s.rng, 3) ? 0 : 1 + random_below(&s.rng, 20);
        run_round(&s, how, smaller_u64(moves, end - how->done), hot + 2, like / 20000 + 1);
        if (s.best_value < best->value) {
            best->value = s.best_value;
            memcpy(best->sub, s.best, n * sizeof *best->sub);
        }
        if (round % 4 == 3 && moves < LONGEST_ROUND)
            moves += moves / 2;
    }
    arena_free(a);
}
