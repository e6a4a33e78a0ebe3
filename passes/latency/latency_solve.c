/* Anneals and runs the exact search in turn (latency_solve.h).
 *
 * First, a short annealing gives a plan.  Then the exact search looks for plans with a latency below T, for growing T:
 * T rises from the bound of the longest path to the value of the plan, by steps that grow while searches are cheap and
 * shrink when they become expensive.  The first T below which a plan exists gives the best plan; all smaller T are
 * lower bounds.  If the search steps are used up before that, annealing goes on.  A search that does not end within its
 * share of the search steps is not repeated for the same T: the next search raises T by less, and if that would be too
 * little, there is no next search.  But after the next annealing, when there are more search steps, the search may be
 * repeated (is_worth_again). */
#include "passes/latency/latency_solve.h"

#include "ir/base/log2_int.h"
#include "ir/base/units.h"
#include "passes/latency/latency_merge.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    FIRST_MOVES = 60000,   /* moves of the first annealing, for graphs up to USUAL_SIZE */
    USUAL_MOVES = 1500000, /* moves of the second annealing, for graphs up to USUAL_SIZE */
    LAST_MOVES = 1500000,  /* moves of the third annealing, for graphs up to USUAL_SIZE */
    USUAL_SIZE = 1500,     /* units, edges and pins; larger graphs get fewer moves */
    ANNEALED = 8, /* number of plans that the second and third annealing make independently */
    /* bytes that a search may use for each label that label_limits.max_labels allows */
    BYTES_PER_LABEL = 512,
    FIRST_STEPS = 64, /* T first rises by 1 / FIRST_STEPS of the gap */
    LEAST_STEP = 128, /* T rises by no less than 1 / LEAST_STEP of itself */
    RETRY = 8,        /* after an unfinished search T rises by 1 / RETRY of the rise before */
    EARLY = 10,       /* searches before the second annealing get 1 / EARLY of all steps and time */
    USUAL_SHARE = 40, /* a search may take 1 / USUAL_SHARE of all steps */
    /* a search of a merged graph may take MERGED / USUAL_SHARE of all steps, since it finds good plans */
    MERGED = 2,
    /* a search may also take GROWTH times the steps of the last one, if that is more */
    GROWTH = 10,
    AGAIN = 2, /* a search is tried again if it gets AGAIN times the steps that were not enough */
    SURE = 3,  /* T rises to the plan's value if 1 / SURE of the steps should suffice there */
    /* no search is made if a search at the plan's value would need FAR times the steps left */
    FAR = 8,
    LIGHT = 300, /* a search of at most 1 / LIGHT of all steps is light (latency_search.light) */
    TURNS = 3,   /* number of times that latency_solve() anneals */
    WORTH = 200  /* the third annealing needs a gain of 1 / WORTH by the second one */
};

/* The last two finished searches, to forecast the steps of the next one. */
struct growth {
    int64_t limit[2]; /* ps: lower bounds proved by the earlier search, by the later search */
    /* 1 + number of steps of the earlier search, of the later search; 0: there was no such search */
    uint64_t took[2];
};

/* The state of latency_solve(): the plan, the proved bound, and what is left for searches. */
struct latency_search {
    const struct latency_graph *p;
    const struct latency_tail *t;
    const struct latency_how *how;
    struct latency_plan *best;
    struct arena *scratch;
    struct latency_result s;
    uint64_t steps; /* search steps left until the next annealing */
    uint64_t later; /* search steps that later searches get in addition */
    uint64_t ended; /* search steps of the last finished search */
    bool merges;    /* every search of a merged graph was complete so far */
    /* after a search of at most `light` search steps, the forecast does not limit the next rise of T */
    uint64_t light;
    struct growth g;
    int64_t step; /* ps by which T rises next */
    struct latency_quotient *quotient;
    struct clock early; /* clock of the searches before the second annealing: a part of the time */
    bool is_early;      /* `early` is the clock to use */
    int64_t failed;     /* ps: the last T at which a search did not end */
    /* number of steps that the last search was allowed, if it used up all; else 0 */
    uint64_t in_vain;
    bool hopeless; /* no search for T below `failed` would end and be useful */
};

/* Returns the limits of a search that may take `steps` search steps. */
static struct label_limits limits_with(struct latency_search *v, uint64_t steps)
{
    return (struct label_limits){.max_labels = v->how->max_labels,
                                 .max_steps = steps,
                                 .max_bytes = (size_t)v->how->max_labels * BYTES_PER_LABEL,
                                 .clock = v->is_early ? &v->early : v->how->clock};
}

/* Returns the search steps that a search may take at most if no similar search was made before. */
static uint64_t usual_steps(const struct latency_search *v)
{
    uint64_t usual = v->how->max_steps / USUAL_SHARE + 1;
    return smaller_u64(usual, v->steps);
}

/* Improves *plan by annealing with `moves` moves, and adds those made to v->s.moves.  The seed follows from the user's,
 * from the moves made before, and from `number`, so that annealings in a row make different choices. */
static void anneal_plan(struct latency_search *v, uint64_t moves, uint32_t number,
                        struct latency_plan *plan)
{
    struct latency_anneal a = {.seed = v->how->seed * UINT64_C(1000003) + v->s.moves + number,
                               .moves = moves,
                               .enough = v->s.lower,
                               .clock = v->how->clock};
    latency_anneal(v->p, &a, plan, v->scratch);
    v->s.moves += a.done;
}

/* Anneals ANNEALED plans independently, with `moves` moves together, and keeps the best one; then merges these plans
 * and the best plan (latency_merge), and takes the steps of the merged graph's search off v->steps.  Does not merge if
 * no steps are left, if the search after an earlier merge did not end (v->merges), or if the best plan is proven best
 * already. */
static void anneal_several(struct latency_search *v, uint64_t moves)
{
    struct arena_mark mark = arena_mark(v->scratch);
    struct latency_plan plan[ANNEALED + 1];
    for (uint32_t i = 0; i < ANNEALED; i++) {
        plan[i] = latency_no_plan(v->p, v->scratch);
        if (clock_out(v->how->clock))
            continue;
        anneal_plan(v, moves / ANNEALED + 1, i, &plan[i]);
        if (plan[i].value < v->best->value) {
            v->best->value = plan[i].value;
            memcpy(v->best->sub, plan[i].sub, v->p->g->n * sizeof *plan[i].sub);
        }
    }
    /* the best plan takes part in the merge, too */
    plan[ANNEALED] = latency_no_plan(v->p, v->scratch);
    plan[ANNEALED].value = v->best->value;
    memcpy(plan[ANNEALED].sub, v->best->sub, v->p->g->n * sizeof *v->best->sub);
    if (v->steps && v->merges && v->best->value > v->s.lower) {
        const struct label_limits l =
            limits_with(v, smaller_u64(MERGED * usual_steps(v), v->steps));
        const struct latency_merge_input m = {
            .level = v->how->level, .plan = plan, .n = ANNEALED + 1, .limits = &l};
        bool ended;
        uint64_t took = latency_merge(v->p, &m, v->best, &ended, v->scratch);
        v->steps -= smaller_u64(took, v->steps);
        v->merges = ended;
    }
    arena_release(v->scratch, mark);
}

/* Takes the plan that a search found as the best plan if the judge's value of it is lower than that of the best plan
 * so far.  If the plan does not fit the memory (the search counts neither the memory of hosts nor, with several slots,
 * shared items), no further search is made: it would find such plans again. */
static void take_found(struct latency_search *v, const struct latency_plan *found)
{
    assert(found->value >= 0);
    if (found->value == LOAD_INF)
        return;
    if (!latency_fits(v->p, found->sub, v->quotient)) {
        v->s.complete = false;
        v->s.why = "what the search found needs more memory";
        v->hopeless = true;
        v->failed = 0; /* so that raise_limits() does not set hopeless to false again */
        return;
    }
    int64_t value =
        latency_judged(v->p, found->sub, v->quotient, latency_of(v->p, found->sub, v->quotient));
    if (value >= v->best->value)
        return;
    v->best->value = value;
    memcpy(v->best->sub, found->sub, v->p->g->n * sizeof *found->sub);
}

/* Adds a line to the proof: search f has shown that no plan takes less than `limit` ps. */
static void note_search(struct latency_search *v, int64_t limit, const struct label_found *f)
{
    char text[UNIT_TEXT];
    v->s.proof = arena_fmt(v->how->mem,
                           "%sno contiguous plan takes less than %s: %" PRIu64
                           " ideals with %" PRIu64 " partial plans searched\n",
                           v->s.proof, time_short(text, limit), f->ideals, f->labels);
}

/* Returns the search steps that the next search may take: an unfinished search must leave steps for later searches, and
 * must not take many more steps than the last finished search. */
static uint64_t most_steps(const struct latency_search *v)
{
    assert(v->steps > 0);
    /* share: the most that the next search may take; usual: what it gets, at least GROWTH times the steps of the last
     * finished search if `share` allows that */
    uint64_t share = v->steps / 3 * 2 + 1, usual = usual_steps(v);
    if (v->ended > usual / GROWTH)
        usual = v->ended < share / GROWTH ? v->ended * GROWTH : share;
    return smaller_u64(usual, share);
}

/* Searches for a plan below `limit` ps.  If the search ends, raises the proved bound s.lower, to the value of the plan
 * found or else to the limit, and takes the plan if it is better (take_found).  Returns 1 + the number of search steps;
 * 0: the search did not end. */
static uint64_t search_below(struct latency_search *v, int64_t limit)
{
    assert(limit > v->s.lower && limit <= v->best->value);
    const struct label_limits l = limits_with(v, most_steps(v));
    struct latency_plan found = latency_no_plan(v->p, v->scratch);
    struct label_found f = label_search(v->p, v->t, limit, &l, &found, v->scratch);
    v->steps -= smaller_u64(f.steps, v->steps);
    if (!f.complete) {
        v->s.why = f.why;
        v->in_vain = f.steps > l.max_steps ? l.max_steps : 0;
        return 0;
    }
    v->ended = f.steps;
    v->s.searched = true;
    v->s.labels = f.labels;
    v->s.ideals = f.ideals;
    /* the best plan is known for sure if the search found a plan (of least latency), or found none below the best plan
     * known */
    v->s.complete = found.value < LOAD_INF || limit == v->best->value;
    limit = smaller(limit, found.value);
    v->s.lower = larger(limit, v->s.lower);
    note_search(v, v->s.lower, &f);
    take_found(v, &found);
    return f.steps + 1;
}

/* Returns by how many ps T may rise so that the next search takes `times` as many steps as the last one, if the
 * logarithm of the number of steps grows linearly with T; LOAD_INF: T may rise by any amount. */
static int64_t rise_for(const struct growth *g, uint64_t times)
{
    int64_t grown = fixed_log2(g->took[1] + 1) - fixed_log2(g->took[0] + 1);
    int64_t rise = g->limit[1] - g->limit[0];
    if (!g->took[0] || grown < 1 << (FIXED_BITS - 3))
        return LOAD_INF; /* there was no earlier search, or steps grew by a factor below 2^(1/8) */
    __int128 far = (__int128)rise * fixed_log2(times) / grown;
    return far < LOAD_INF ? (int64_t)far : LOAD_INF;
}

/* Returns the least ps by which it is useful to raise T. */
static int64_t least_step(const struct latency_search *v)
{
    return v->s.lower / LEAST_STEP + 1;
}

/* Returns whether a search at the plan's value, `up` ps above the proved bound, would take far more steps than are
 * left: then searches would use up all steps and raise the bound only a little.  Returns false if the user gave the
 * number of moves: the plan's value may then be far from the best. */
static bool is_far(struct latency_search *v, int64_t up)
{
    uint64_t left = (v->steps + v->later) / v->g.took[1] + 1;
    if (v->how->moves || !v->g.took[0] || rise_for(&v->g, left * FAR) >= up)
        return false;
    v->s.why = "the plan's value is out of reach of searches";
    return true;
}

/* Returns whether a search that did not end with the steps it was allowed may be tried again: it would get AGAIN times
 * these steps, and by the growth so far the steps left suffice for a search at the plan's value. */
static bool is_worth_again(const struct latency_search *v)
{
    return v->in_vain && v->g.took[0] && v->g.took[1] && most_steps(v) / AGAIN >= v->in_vain &&
           rise_for(&v->g, v->steps / v->g.took[1] + 1) >= v->best->value - v->s.lower;
}

/* Sets v->step, by which T rises: up to the plan's value if a search there may end.  Returns false if no search at a
 * useful T is likely to end. */
static bool choose_step(struct latency_search *v)
{
    int64_t up = v->best->value - v->s.lower, least = least_step(v);
    if (v->g.took[1] > v->light) {
        /* the next search may take `times` as many steps as the last one; T usually rises so far that it takes three
         * times as many */
        uint64_t times = most_steps(v) / v->g.took[1];
        if (times < 2 || is_far(v, up))
            return false;
        if (v->g.took[0] && rise_for(&v->g, times / SURE + 1) >= up) {
            v->step = up;
        } else {
            int64_t slow = rise_for(&v->g, smaller_u64(times, 3));
            v->step = slow < least ? least : smaller(slow, v->step);
        }
    }
    v->step = smaller(v->step, up);
    return true;
}

/* Searches with rising limits T, each of which raises the proved bound s.lower.  Ends when the best plan is proved
 * (s.complete), no higher T is within reach (choose_step), a search did not end, or no steps are left. */
static void raise_limits(struct latency_search *v)
{
    if (v->hopeless && v->steps && v->failed && is_worth_again(v)) {
        v->hopeless = false;
        v->step = v->failed - v->s.lower;
    }
    /* T need not rise above the plan's value: if annealing has brought this value below `failed`, searches may reach
     * it */
    v->hopeless = v->hopeless && v->failed <= v->best->value;
    while (!v->s.complete && !v->hopeless && v->s.lower < v->best->value && v->steps) {
        if (!choose_step(v))
            return;
        struct arena_mark mark = arena_mark(v->scratch);
        int64_t before = v->s.lower;
        uint64_t took = search_below(v, before + v->step);
        arena_release(v->scratch, mark);
        if (!took) {
            v->failed = before + v->step;
            v->step = larger(v->step / RETRY, 1);
            /* a search that the early clock ended may end with the time that is left later */
            v->hopeless = v->step < least_step(v) && !(v->is_early && v->early.why);
            return;
        }
        v->g = (struct growth){.limit = {before, v->s.lower}, .took = {v->g.took[1], took}};
        v->step = sat_add(v->step, v->step);
    }
    v->s.complete = v->s.complete || v->s.lower >= v->best->value;
}

/* If annealing found a plan below the proved bound, forgets what searches have proved, so that only the bound of the
 * longest path is left.  Such a plan runs a subgraph between two nodes of one block on the hosts, and searches do not
 * look at plans of this sort.
 */
static void forget_parted(struct latency_search *v)
{
    if (v->best->value >= v->s.lower)
        return;
    v->s.lower = larger(v->how->least, v->t->all);
    v->s.searched = v->s.complete = false;
    v->s.proof = "";
    v->s.why = "a plan that parts nodes which share a device takes less than the search knows";
}

/* Returns the number of moves of annealing in turn number `turn` of latency_solve().  size: number of units, edges and
 * pins of the graph. */
static uint64_t moves_of_turn(const struct latency_search *v, uint32_t turn, uint64_t size)
{
    const uint64_t moves[TURNS] = {FIRST_MOVES, USUAL_MOVES, LAST_MOVES};
    uint64_t usual = moves[turn] * USUAL_SIZE / larger_u64(size, USUAL_SIZE) + 1;
    if (!v->how->moves)
        return usual;
    /* the user gave the number of moves: the last turn makes all that are left */
    uint64_t left = v->how->moves > v->s.moves ? v->how->moves - v->s.moves : 0;
    return turn == TURNS - 1 ? left : smaller_u64(usual, left);
}

struct latency_result latency_solve(const struct latency_graph *p, const struct latency_tail *t,
                                    const struct latency_how *how, struct latency_plan *best,
                                    struct arena *scratch)
{
    struct arena *a = arena_new(scratch);
    struct latency_search v = {.p = p, .t = t, .how = how, .best = best, .scratch = a};
    const uint64_t steps = how->max_labels ? how->max_steps : 0;
    const uint64_t size =
        (uint64_t)p->nunit + p->succ.at[p->nunit] + p->nets->net_pin.at[p->nets->nnet];
    int64_t first = LOAD_INF; /* value of the plan before the second annealing */
    v.s = (struct latency_result){.lower = larger(how->least, t->all), .proof = ""};
    v.quotient = latency_quotient_new(p, a);
    v.merges = true;
    v.light = steps / LIGHT;
    const uint64_t early = steps / EARLY; /* steps of the searches before the second annealing */
    /* there are TURNS turns, each of some annealing and then searches.  The last turn, which gets the steps that are
     * left, is made only if the second annealing gained much and some search has ended */
    for (uint32_t turn = 0; turn < TURNS && (!turn || best->value > v.s.lower); turn++) {
        uint64_t moves = moves_of_turn(&v, turn, size);
        if (turn == TURNS - 1 && !how->moves &&
            (!v.s.searched || first - best->value < first / WORTH))
            break;
        if (turn == 0) {
            v.steps = early;
            v.later = steps - early;
            anneal_plan(&v, moves, /*number=*/0, best);
            int64_t gap = best->value < LOAD_INF ? best->value - v.s.lower : t->all;
            v.step = gap / FIRST_STEPS + 1;
        } else {
            v.steps += v.later;
            v.later = 0;
            anneal_several(&v, moves);
        }
        v.is_early = !turn && how->clock;
        if (v.is_early)
            v.early = clock_slice(how->clock, EARLY);
        raise_limits(&v);
        first = turn ? first : best->value;
    }
    forget_parted(&v);
    arena_free(a);
    return v.s;
}
