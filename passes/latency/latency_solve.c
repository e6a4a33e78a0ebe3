/* Annealing and the exact search in turn (latency_solve.h).
 *
 * Some annealing gives a limit.  Then the search asks whether a plan takes less than T, for growing T: from the bound
 * of the longest path, in steps that grow while a search takes little and shrink while it takes much, up to the value
 * of the plan.  The first T for which there is a plan gives the best one; all before are lower bounds.  If the budget
 * is used up before that, annealing has the rest.  What a search cannot settle in its share is not asked again: the
 * next one takes a smaller step, and where that would be too small to matter there is none. */
#include "passes/latency/latency_solve.h"

#include "ir/base/log2_int.h"
#include "ir/base/units.h"
#include "passes/latency/latency_merge.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    FIRST_MOVES = 60000,
    USUAL_MOVES = 1500000,
    ANNEALED = 8,         /* plans that are annealed apart, */
    LAST_MOVES = 1500000, /* where no search ended */
    USUAL_SIZE = 1500,    /* units, edges and pins; larger graphs have fewer moves */
    BYTES_PER_LABEL = 512,
    FIRST_STEPS = 64, /* the first step of T is so much of the gap */
    LEAST_STEP = 128, /* and no step is less than so much of T */
    RETRY = 8,        /* after an unfinished search the step is divided by this */
    EARLY = 10,       /* searches before the long annealing get 1 / EARLY of all steps */
    USUAL_SHARE = 40, /* a search may take 1 / USUAL_SHARE of all steps, */
    GROWTH = 10,      /* or GROWTH times the steps of the last finished search */
    FAR = 8,    /* no search is made where the last limit would take so many times what is left */
    WORTH = 200 /* annealing goes on after a gain of at least 1 / WORTH */
};

/* What the next search will probably take, from the last two. */
struct growth {
    int64_t limit[2];
    uint64_t took[2];
};

struct latency_search {
    const struct latency_graph *p;
    const struct latency_tail *t;
    const struct latency_how *how;
    struct latency_plan *best;
    struct arena *scratch;
    struct latency_result s;
    uint64_t steps; /* steps left */
    uint64_t later; /* steps of later searches, in addition */
    uint64_t ended; /* steps of the last finished search */
    bool merges;    /* no search of a merged graph was in vain */
    uint64_t light; /* a search of fewer steps needs no forecast */
    struct growth g;
    int64_t step; /* by which T rises next */
    struct latency_quotient *quotient;
    struct clock early; /* for searches before annealing: a part of the time */
    bool is_early;
    int64_t failed; /* the lowest T at which no search ended */
    bool hopeless;  /* no useful search would end below `failed` */
};

static struct label_limits limits(struct latency_search *v, uint64_t steps)
{
    return (struct label_limits){.max_labels = v->how->max_labels,
                                 .max_steps = steps,
                                 .max_bytes = (size_t)v->how->max_labels * BYTES_PER_LABEL,
                                 .clock = v->is_early ? &v->early : v->how->clock};
}

/* Steps of a search without a similar earlier search. */
static uint64_t usual_steps(const struct latency_search *v)
{
    uint64_t usual = v->how->max_steps / USUAL_SHARE + 1;
    return smaller_u64(usual, v->steps);
}

static void anneal_some(struct latency_search *v, uint64_t moves)
{
    struct latency_anneal a = {.seed = v->how->seed * UINT64_C(1000003) + v->s.moves,
                               .moves = moves,
                               .enough = v->s.lower,
                               .clock = v->how->clock};
    latency_anneal(v->p, &a, v->best, v->scratch);
    v->s.moves += a.done;
}

/* The same with several plans apart, which are then merged. */
static void anneal_several(struct latency_search *v, uint64_t moves)
{
    struct arena_mark mark = arena_mark(v->scratch);
    struct latency_plan plan[ANNEALED + 1];
    for (uint32_t i = 0; i < ANNEALED; i++) {
        plan[i] = latency_no_plan(v->p, v->scratch);
        if (clock_out(v->how->clock))
            continue;
        struct latency_anneal a = {.seed = v->how->seed * UINT64_C(1000003) + v->s.moves + i,
                                   .moves = moves / ANNEALED + 1,
                                   .enough = v->s.lower,
                                   .clock = v->how->clock};
        latency_anneal(v->p, &a, &plan[i], v->scratch);
        v->s.moves += a.done;
        if (plan[i].value < v->best->value) {
            v->best->value = plan[i].value;
            memcpy(v->best->sub, plan[i].sub, v->p->g->n * sizeof *plan[i].sub);
        }
    }
    plan[ANNEALED] = latency_no_plan(v->p, v->scratch);
    plan[ANNEALED].value = v->best->value;
    memcpy(plan[ANNEALED].sub, v->best->sub, v->p->g->n * sizeof *v->best->sub);
    if (v->steps && v->merges && v->best->value > v->s.lower) {
        const struct label_limits l = limits(v, usual_steps(v));
        const struct latency_merge_input m = {v->how->level, plan, ANNEALED + 1, &l};
        bool ended;
        uint64_t took = latency_merge(v->p, &m, v->best, &ended, v->scratch);
        v->steps -= smaller_u64(took, v->steps);
        v->merges = ended;
    }
    arena_release(v->scratch, mark);
}

/* Takes a plan that a search found, if the judge likes it better than the best one.  If it does not fit, since
 * searches count neither the memory of hosts nor, with several slots, bytes that subgraphs share, no other search will
 * tell more. */
static void take_found(struct latency_search *v, const struct latency_plan *found)
{
    assert(found->value >= 0);
    if (found->value == LOAD_INF)
        return;
    if (!latency_fits(v->p, found->sub, v->quotient)) {
        v->s.complete = false;
        v->s.why = "what the search found needs more memory";
        v->hopeless = true;
        v->failed = 0;
        return;
    }
    int64_t value =
        latency_judged(v->p, found->sub, v->quotient, latency_of(v->p, found->sub, v->quotient));
    if (value >= v->best->value)
        return;
    v->best->value = value;
    memcpy(v->best->sub, found->sub, v->p->g->n * sizeof *found->sub);
}

static void note_search(struct latency_search *v, int64_t limit, const struct label_found *f)
{
    char text[UNIT_TEXT];
    v->s.proof = arena_fmt(v->how->mem,
                           "%sno contiguous plan takes less than %s: %" PRIu64
                           " ideals with %" PRIu64 " partial plans searched\n",
                           v->s.proof, time_short(text, limit), f->ideals, f->labels);
}

/* Most steps of the next search: an unfinished search must leave steps for later searches, and must not take many
 * more steps than the last finished search. */
static uint64_t most_steps(const struct latency_search *v)
{
    assert(v->steps > 0);
    uint64_t share = v->steps / 3 * 2 + 1, usual = usual_steps(v);
    if (v->ended > usual / GROWTH)
        usual = v->ended < share / GROWTH ? v->ended * GROWTH : share;
    return smaller_u64(usual, share);
}

/* Asks whether a plan takes less than `limit`; returns the steps that it took, 0 if it did not end. */
static uint64_t search_below(struct latency_search *v, int64_t limit)
{
    assert(limit > v->s.lower && limit <= v->best->value);
    const struct label_limits l = limits(v, most_steps(v));
    struct latency_plan found = latency_no_plan(v->p, v->scratch);
    struct label_found f = label_search(v->p, v->t, limit, &l, &found, v->scratch);
    v->steps -= smaller_u64(f.steps, v->steps);
    if (!f.complete) {
        v->s.why = f.why;
        return 0;
    }
    v->ended = f.steps;
    v->s.searched = true;
    v->s.labels = f.labels;
    v->s.ideals = f.ideals;
    v->s.complete = found.value < LOAD_INF || limit == v->best->value;
    limit = smaller(limit, found.value);
    v->s.lower = larger(limit, v->s.lower);
    note_search(v, v->s.lower, &f);
    take_found(v, &found);
    return f.steps + 1;
}

/* How far T can rise so that a search takes `times` as long as the last one; the logarithm grows evenly with T. */
static int64_t rise_for(const struct growth *g, uint64_t times)
{
    int64_t grown = fixed_log2(g->took[1] + 1) - fixed_log2(g->took[0] + 1);
    int64_t rise = g->limit[1] - g->limit[0];
    if (!g->took[0] || grown < 1 << (FIXED_BITS - 3))
        return LOAD_INF;
    __int128 far = (__int128)rise * fixed_log2(times) / grown;
    return far < LOAD_INF ? (int64_t)far : LOAD_INF;
}

static int64_t least_step(const struct latency_search *v)
{
    return v->s.lower / LEAST_STEP + 1;
}

/* Whether limits would have to grow for much longer than there are steps to come to the plan's value, `up` from
 * here: then they would only raise the bound a little, for all that is left.  A plan of fewer moves than are usual may
 * be a bad one, and says nothing about that. */
static bool is_far(struct latency_search *v, int64_t up)
{
    uint64_t left = (v->steps + v->later) / v->g.took[1] + 1;
    if (v->how->moves || !v->g.took[0] || rise_for(&v->g, left * FAR) >= up)
        return false;
    v->s.why = "the plan's value is out of reach of searches";
    return true;
}

/* Chooses by how much T rises: to the plan's value, if that is near enough.  False: no higher T is within reach. */
static bool choose_step(struct latency_search *v)
{
    int64_t up = v->best->value - v->s.lower, least = least_step(v);
    if (v->g.took[1] > v->light) {
        uint64_t times = most_steps(v) / v->g.took[1];
        if (times < 2 || is_far(v, up))
            return false;
        if (v->g.took[0] && rise_for(&v->g, times - times / 4) >= up) {
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
static void climb(struct latency_search *v)
{
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
            v->hopeless = v->step < least_step(v) && !(v->is_early && v->early.why);
            return;
        }
        v->g = (struct growth){{before, v->s.lower}, {v->g.took[1], took}};
        v->step = sat_add(v->step, v->step);
    }
    v->s.complete = v->s.complete || v->s.lower >= v->best->value;
}

/* Where annealing found a plan that runs a subgraph between two nodes of a block on the hosts, and that takes less than
 * what searches proved of all others, there is but the bound of the longest path. */
static void forget_parted(struct latency_search *v)
{
    if (v->best->value >= v->s.lower)
        return;
    v->s.lower = larger(v->how->least, v->t->all);
    v->s.searched = v->s.complete = false;
    v->s.proof = "";
    v->s.why = "a plan that parts nodes which share a device takes less than the search knows";
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
    const uint64_t moves[] = {FIRST_MOVES, USUAL_MOVES, LAST_MOVES};
    int64_t first = LOAD_INF; /* before annealing at length */
    v.s = (struct latency_result){.lower = larger(how->least, t->all), .proof = ""};
    v.quotient = latency_quotient_new(p, a);
    v.merges = true;
    for (uint32_t turn = 0; turn < 3 && (!turn || best->value > v.s.lower); turn++) {
        uint64_t some = moves[turn] * USUAL_SIZE / larger_u64(size, USUAL_SIZE) + 1;
        uint64_t left = how->moves > v.s.moves ? how->moves - v.s.moves : 0;
        if (how->moves && (turn == 2 || some > left))
            some = left;
        if (turn == 2 && !how->moves && first - best->value < first / WORTH)
            break;
        v.steps += turn == 0 ? steps / EARLY : turn == 1 ? steps - steps / EARLY : 0;
        v.later = turn ? 0 : steps - steps / EARLY;
        if (turn)
            anneal_several(&v, some);
        else
            anneal_some(&v, some);
        if (!turn)
            v.step = (best->value < LOAD_INF ? best->value - v.s.lower : t->all) / FIRST_STEPS + 1;
        v.light = steps / 300;
        v.is_early = !turn && how->clock;
        if (v.is_early)
            v.early = clock_slice(how->clock, EARLY);
        climb(&v);
        first = turn ? first : best->value;
    }
    forget_parted(&v);
    arena_free(a);
    return v.s;
}
