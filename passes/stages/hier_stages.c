/* PipeDream's planner over levels of machines (hier_stages.h).
 *
 * Source: PipeDream (Narayanan et al., SOSP 2019), 3.1, and its published optimizer, whose rules these are.  Let (i, j)
 * be the layers of state j that are not in state i, and c(i, j) the time of one machine of a level for them.  On m
 * machines of the level, these layers are either one stage, which the m machines run in turn, in (c(i, j) +
 * synchronisation) / m; or the layers (i, k) on m - m' machines and a last stage (k, j) on m' machines, as long as the
 * slower one of both.  best(i, j, m) is the least of these times.  c(i, j) is the best time on all machines of the
 * level below; on the lowest level it is the time of the layers on a device.  Transfers of activations between stages
 * count only if a compression is given, as in the program.  Its memory test counts the weights and activations of a
 * stage several times, the more machines of the level follow the stage (passes_memory_test).
 *
 * best(i, j, m) is kept for all pairs of states of which i is before j; on the outermost level only for the empty state
 * i.  The time of a last stage (k, j) does not depend on i, so it is computed once. */
#include "passes/stages/hier_stages.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>

/* How best(i, j, m) is reached: the last stage is (last, j) on `copies` machines, behind best(i, last, used -
 * copies); last == i: that stage is the only one. */
struct choice {
    uint32_t last;
    uint16_t copies;
    uint16_t used; /* number of machines that are used; m unless rules.fewer */
};

/* A level of machines (hier_stages.h), such as the servers of a rack, with the best plans on its machines. */
struct level {
    uint32_t machines; /* number of machines of this level in a machine of the level above */
    /* number of machines of the level below in a machine of this level; 1 on the lowest level */
    uint32_t below;
    int64_t bandwidth; /* bytes per second between machines of the level */
    /* [pair_row(i, j) * (machines + 1) + m] ps: best(i, j, m), the least time of the layers between the states i and
     * j on m machines; INT64_MAX: no plan */
    int64_t *best;
    struct choice *choice; /* [as best] how the time in `best` is reached */
};

/* The state of the dynamic program. */
struct search {
    const struct stage_states *s;
    const struct hier_rules *r;
    struct arena *a;
    struct clock *clock;
    struct level level[HIER_LEVELS];
    /* [pair_row(k, j) * (machines + 1) + m] ps of a last stage (k, j) on m machines of the present level */
    int64_t *last;
};

/* Returns the number of the pair of states (i, j), the row of arrays that are indexed by such pairs. */
static size_t pair_row(const struct search *x, uint32_t i, uint32_t j)
{
    return (size_t)i * (x->s->n + 1) + j;
}

/* Returns c(i, j): the ps of a machine of level l for the layers (i, j). */
static int64_t machine_time(const struct search *x, uint32_t l, uint32_t i, uint32_t j)
{
    const struct stage_states *s = x->s;
    if (l == 0)
        return sat_add(s->forward[j] - s->forward[i], s->backward[j] - s->backward[i]);
    const struct level *below = &x->level[l - 1];
    return below->best[pair_row(x, i, j) * (below->machines + 1) + below->machines];
}

/* Returns the ps of a / b seconds, rounded up, at most INT64_MAX; b > 0. */
static int64_t seconds_to_ps(unsigned __int128 a, unsigned __int128 b)
{
    unsigned __int128 ps = (a * PS_PER_S + b - 1) / b;
    return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

/* Returns the ps of a stage (i, j) on m machines of level l that take turns: its time and the synchronisation, in which
 * each machine moves 4 (m - 1) / m times the weights, divided by m.  width: another divisor of the synchronisation
 * time, as in the program. */
static int64_t stage_time(const struct search *x, uint32_t l, uint32_t i, uint32_t j, uint32_t m,
                          uint32_t width)
{
    int64_t time = machine_time(x, l, i, j);
    int64_t weights = x->s->parameter[j] - x->s->parameter[i];
    if (time == INT64_MAX)
        return time;
    int64_t sync = seconds_to_ps((unsigned __int128)4 * (m - 1) * (uint64_t)weights,
                                 (unsigned __int128)x->level[l].bandwidth * m * width);
    return mul_div_ceil(sat_add(time, sync), 1, m);
}

/* Returns whether a stage (i, j) on `copies` machines, with `behind` machines for later stages of its level, passes the
 * published memory test: a machine keeps behind / copies versions, rounded up, of weights and activations. */
static bool passes_memory_test(const struct search *x, uint32_t i, uint32_t j, uint32_t copies,
                               uint32_t behind)
{
    const struct stage_states *s = x->s;
    int64_t bytes = sat_add(s->activation[j] - s->activation[i], s->parameter[j] - s->parameter[i]);
    uint32_t versions = (behind + copies - 1) / copies;
    return x->r->memory < 0 || sat_mul(bytes, versions) <= x->r->memory;
}

/* Returns the ps of the transfers behind state k, of activations and of their gradients, if m machines of a level share
 * them; 0 at both ends of the model, and if rules.compression is 0. */
static int64_t move_time(const struct search *x, const struct level *l, uint32_t k, uint32_t m)
{
    if (!x->r->compression || k == 0 || k == x->s->n)
        return 0;
    return seconds_to_ps((unsigned __int128)2 * (uint64_t)x->s->cut[k] * 1000000,
                         (unsigned __int128)l->bandwidth * m * (uint64_t)x->r->compression);
}

/* Fills x->last for level l: a last stage (k, j) on m machines takes its work or its transfers, whichever is longer;
 * INT64_MAX if m > 1 and each stage is to be on one machine (straight).  Leaves out pairs whose k is the empty state:
 * behind it there is no stage before. */
static void find_last(struct search *x, uint32_t l)
{
    const struct level *v = &x->level[l];
    for (uint32_t j = 1; j <= x->s->n; j++)
        for_row (k, x->s->before, j) {
            int64_t *to = x->last + pair_row(x, k, j) * (v->machines + 1);
            for (uint32_t m = 1; m <= v->machines; m++) {
                int64_t move = larger(move_time(x, v, k, m), move_time(x, v, j, m));
                if (m == 1 || !x->r->straight)
                    to[m] = larger(stage_time(x, l, k, j, m, 1), move);
                else
                    to[m] = INT64_MAX;
            }
        }
}

/* Computes best(i, j, m) and its choice on level l, for all m (head of this file).  All best(i, k, m) with k before j
 * must be there. */
static void find_best(struct search *x, uint32_t l, uint32_t i, uint32_t j)
{
    struct level *v = &x->level[l];
    size_t at = pair_row(x, i, j) * (v->machines + 1), wide = v->machines + 1;
    for (uint32_t m = 1; m <= v->machines; m++) {
        /* a single stage on m machines; with `fewer`, what m - 1 machines do; then a last stage (k, j) on c of them */
        int64_t best = INT64_MAX;
        struct choice choice = {.last = i, .copies = (uint16_t)m, .used = (uint16_t)m};
        if ((m == 1 || !x->r->straight) && passes_memory_test(x, i, j, m, v->machines - m))
            best = stage_time(x, l, i, j, m, v->below);
        if (m > 1 && x->r->fewer && v->best[at + m - 1] < best) {
            best = v->best[at + m - 1];
            choice = v->choice[at + m - 1];
        }
        for_row (k, x->s->before, j) {
            if (k == i || !state_is_before(x->s, i, k))
                continue;
            const int64_t *before = v->best + pair_row(x, i, k) * wide;
            const int64_t *last = x->last + pair_row(x, k, j) * wide;
            for (uint32_t c = 1; c < m; c++) {
                int64_t t = larger(before[m - c], last[c]);
                if (t < best && passes_memory_test(x, k, j, c, v->machines - m)) {
                    best = t;
                    choice = (struct choice){.last = k, .copies = (uint16_t)c, .used = (uint16_t)m};
                }
            }
        }
        v->best[at + m] = best;
        v->choice[at + m] = choice;
    }
}

/* Computes `best` and `choice` of level l; on the outermost level only for the empty state i.  Returns false if the
 * clock ran out. */
static bool find_level(struct search *x, uint32_t l)
{
    bool outermost = l + 1 == x->r->nlevel;
    find_last(x, l);
    for (uint32_t j = 1; j <= x->s->n; j++) {
        if (clock_out(x->clock))
            return false;
        find_best(x, l, 0, j);
        if (outermost)
            continue;
        for_row (i, x->s->before, j)
            find_best(x, l, i, j);
    }
    return true;
}

/* ---- the plan ----------------------------------------------------------------------------------- */

/* Collects the stages of the best plan; cap: room of r->stage. */
struct stage_trace {
    struct search *x;
    struct hier_result *r;
    uint32_t cap;
};

/* Appends to the result the stages of the best plan for the layers of `range` on m machines of the range's level,
 * whose machines on the levels above are chosen already.  Calls itself for the levels below. */
static void trace(struct stage_trace *t, const struct hier_stage *range, uint32_t m)
{
    const struct level *v = &t->x->level[range->level];
    uint32_t i = range->from, j = range->to, first = t->r->nstage;
    uint32_t n = 0, *end = arena_array(t->x->a, (size_t)t->x->s->n + 1, sizeof *end);
    uint16_t *copies = arena_array(t->x->a, (size_t)t->x->s->n + 1, sizeof *copies);
    while (true) { /* from the last stage back */
        struct choice c = v->choice[pair_row(t->x, i, j) * (v->machines + 1) + m];
        end[n] = j;
        copies[n++] = c.copies;
        if (c.last == i)
            break;
        m = c.used - c.copies;
        j = c.last;
    }
    uint32_t machine = 0; /* the first machine of the next stage */
    while (n-- > 0) {     /* end[], copies[] in the order of the stages */
        struct hier_stage s = *range;
        s.first[s.level] = machine;
        machine += copies[n];
        s.from = i;
        s.to = i = end[n];
        s.copies[s.level] = copies[n];
        s.devices *= copies[n];
        if (s.level > 0) {
            s.level--;
            trace(t, &s, t->x->level[s.level].machines);
            continue;
        }
        t->r->stage = vec_grow(t->x->a, t->r->stage, &t->cap, t->r->nstage + 1, sizeof s);
        t->r->stage[t->r->nstage++] = s;
    }
    assert(t->r->nstage > first);
    (void)first;
}

struct hier_result hier_stages(const struct stage_states *s, const struct hier_rules *r,
                               struct clock *clock, struct arena *a)
{
    struct search x = {.s = s, .r = r, .a = a, .clock = clock};
    struct hier_result found = {.value = INT64_MAX};
    struct arena *own = arena_new(a);
    size_t rows = (size_t)(s->n + 1) * (s->n + 1);
    assert(r->nlevel >= 1 && r->nlevel <= HIER_LEVELS);
    bool done = true;
    for (uint32_t l = 0; l < r->nlevel && done; l++) {
        struct level *v = &x.level[l];
        *v = (struct level){.machines = r->machines[l],
                            .below = l ? r->machines[l - 1] : 1,
                            .bandwidth = r->bandwidth[l]};
        size_t n = rows * (v->machines + 1);
        v->best = arena_array(own, n, sizeof *v->best);
        v->choice = arena_array(own, n, sizeof *v->choice);
        x.last = arena_array(own, n, sizeof *x.last);
        done = find_level(&x, l);
    }
    /* the best plan of all layers on all machines of the outermost level; its stages */
    const struct level *top = &x.level[r->nlevel - 1];
    found.complete = done;
    if (done)
        found.value = top->best[pair_row(&x, 0, s->n) * (top->machines + 1) + top->machines];
    if (done && found.value < INT64_MAX) {
        struct stage_trace t = {.x = &x, .r = &found};
        struct hier_stage all = {.from = 0, .to = s->n, .level = r->nlevel - 1, .devices = 1};
        for (uint32_t l = 0; l < HIER_LEVELS; l++)
            all.copies[l] = 1;
        trace(&t, &all, top->machines);
    }
    arena_free(own);
    return found;
}
