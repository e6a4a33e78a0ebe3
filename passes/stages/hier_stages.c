/* PipeDream's planner over levels of machines (hier_stages.h).
 *
 * Source: PipeDream (Narayanan et al., SOSP 2019), 3.1, and its published optimizer, whose rules these are.  On a level
 * with machines of so much work c(i, j) for a range of layers, a range on m of them is one stage that all m run in
 * turn, at (c + synchronisation) / m, or a range on m - m' before a last stage on m'.  The slowest counts.  A machine
 * of a level is all machines of the level below, planned for the range in the same way.  Activations that go between
 * stages are counted only where a compression is given, as in the program.  Its memory test counts the weights and
 * activations of a stage once for each group of machines behind it on its level.
 *
 * best(i, j, m) is kept for all pairs of states, one of which is before the other, on all levels but the last, where i
 * is the empty state.  The last stage's time does not depend on i, so it is found once. */
#include "passes/stages/hier_stages.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>

/* How best(i, j, m) is reached: a stage from state `last` on `copies` machines behind best(i, last, m - copies);
 * last == i: it is that stage alone. */
struct choice {
    uint32_t last;
    uint16_t copies;
    uint16_t used; /* machines of m, where fewer may be used */
};

struct level {
    uint32_t machines, below; /* below: those of the level below, 1 for the first */
    int64_t bandwidth;
    int64_t *best;         /* [(row(i, j)) * (machines + 1) + m] ps */
    struct choice *choice; /* the same */
};

struct search {
    const struct stage_states *s;
    const struct hier_rules *r;
    struct arena *a;
    struct clock *clock;
    struct level level[HIER_LEVELS];
    int64_t *last; /* [(row(k, j)) * (machines + 1) + m] a last stage, of the level at hand */
};

static size_t row(const struct search *x, uint32_t i, uint32_t j)
{
    return (size_t)i * (x->s->n + 1) + j;
}

/* A machine's time for the layers of j that i has not. */
static int64_t work(const struct search *x, uint32_t l, uint32_t i, uint32_t j)
{
    const struct stage_states *s = x->s;
    if (l == 0)
        return s->forward[j] + s->backward[j] - s->forward[i] - s->backward[i];
    const struct level *below = &x->level[l - 1];
    return below->best[row(x, i, j) * (below->machines + 1) + below->machines];
}

/* ps of a / b seconds, rounded up; b > 0. */
static int64_t seconds(unsigned __int128 a, unsigned __int128 b)
{
    unsigned __int128 ps = (a * PS_PER_S + b - 1) / b;
    return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

/* ps of one stage on m machines of the level; width: the divisor of the program's synchronisation time. */
static int64_t stage_time(const struct search *x, uint32_t l, uint32_t i, uint32_t j, uint32_t m,
                          uint32_t width)
{
    int64_t time = work(x, l, i, j);
    int64_t weights = x->s->parameter[j] - x->s->parameter[i];
    if (time == INT64_MAX)
        return time;
    int64_t sync = seconds((unsigned __int128)4 * (m - 1) * (uint64_t)weights,
                           (unsigned __int128)x->level[l].bandwidth * m * width);
    return mul_div_ceil(sat_add(time, sync), 1, m);
}

/* The published memory test for a stage on `copies` machines with `behind` machines after it on its level: the
 * number of versions of weights and activations per machine follows from both. */
static bool fits(const struct search *x, uint32_t i, uint32_t j, uint32_t copies, uint32_t behind)
{
    const struct stage_states *s = x->s;
    int64_t bytes = sat_add(s->activation[j] - s->activation[i], s->parameter[j] - s->parameter[i]);
    uint32_t versions = (behind + copies - 1) / copies;
    return x->r->memory < 0 || sat_mul(bytes, versions) <= x->r->memory;
}

/* Moving the activations at the end of state k, there and back, between m machines of a level. */
static int64_t move_time(const struct search *x, const struct level *l, uint32_t k, uint32_t m)
{
    if (!x->r->compression || k == 0 || k == x->s->n)
        return 0;
    return seconds((unsigned __int128)2 * (uint64_t)x->s->cut[k] * 1000000,
                   (unsigned __int128)l->bandwidth * m * (uint64_t)x->r->compression);
}

/* Stages that come last, from each k to each j. */
static void find_last(struct search *x, uint32_t l)
{
    const struct level *v = &x->level[l];
    for (uint32_t j = 1; j <= x->s->n; j++)
        for_row (k, x->s->before, j) {
            int64_t *to = x->last + row(x, k, j) * (v->machines + 1);
            for (uint32_t m = 1; m <= v->machines; m++) {
                int64_t move = larger(move_time(x, v, k, m), move_time(x, v, j, m));
                to[m] = m == 1 || !x->r->straight ? larger(stage_time(x, l, k, j, m, 1), move)
                                                  : INT64_MAX;
            }
        }
}

static void find_best(struct search *x, uint32_t l, uint32_t i, uint32_t j)
{
    struct level *v = &x->level[l];
    size_t at = row(x, i, j) * (v->machines + 1), wide = v->machines + 1;
    for (uint32_t m = 1; m <= v->machines; m++) {
        int64_t best = INT64_MAX;
        struct choice how = {i, (uint16_t)m, (uint16_t)m};
        if ((m == 1 || !x->r->straight) && fits(x, i, j, m, v->machines - m))
            best = stage_time(x, l, i, j, m, v->below);
        if (m > 1 && x->r->fewer && v->best[at + m - 1] < best) {
            best = v->best[at + m - 1];
            how = v->choice[at + m - 1];
        }
        for_row (k, x->s->before, j) {
            if (k == i || !state_is_before(x->s, i, k))
                continue;
            const int64_t *before = v->best + row(x, i, k) * wide;
            const int64_t *last = x->last + row(x, k, j) * wide;
            for (uint32_t c = 1; c < m; c++) {
                int64_t t = larger(before[m - c], last[c]);
                if (t < best && fits(x, k, j, c, v->machines - m)) {
                    best = t;
                    how = (struct choice){k, (uint16_t)c, (uint16_t)m};
                }
            }
        }
        v->best[at + m] = best;
        v->choice[at + m] = how;
    }
}

/* best and choice of a level; of the outermost one from the empty state alone. */
static bool find_level(struct search *x, uint32_t l)
{
    bool outermost = l + 1 == x->r->nlevel;
    find_last(x, l);
    for (uint32_t j = 1; j <= x->s->n; j++) {
        if (clock_out(x->clock))
            return false;
        find_best(x, l, 0, j);
        for (uint32_t e = x->s->before.at[j]; !outermost && e < x->s->before.at[j + 1]; e++)
            find_best(x, l, x->s->before.to[e], j);
    }
    return true;
}

/* ---- the plan ----------------------------------------------------------------------------------- */

struct stage_trace {
    struct search *x;
    struct hier_result *r;
    uint32_t cap;
};

/* Stages of the range (i, j] on m machines of a level, each of which has `above` copies on the levels above. */
static void trace(struct stage_trace *t, const struct hier_stage *range, uint32_t m)
{
    const struct level *v = &t->x->level[range->level];
    uint32_t i = range->from, j = range->to, first = t->r->nstage;
    uint32_t n = 0, *end = arena_array(t->x->a, (size_t)t->x->s->n + 1, sizeof *end);
    uint16_t *copies = arena_array(t->x->a, (size_t)t->x->s->n + 1, sizeof *copies);
    while (true) { /* from the last stage back */
        struct choice c = v->choice[row(t->x, i, j) * (v->machines + 1) + m];
        end[n] = j;
        copies[n++] = c.copies;
        if (c.last == i)
            break;
        m = c.used - c.copies;
        j = c.last;
    }
    uint32_t machine = 0;
    while (n-- > 0) {
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
        *v =
            (struct level){r->machines[l], l ? r->machines[l - 1] : 1, r->bandwidth[l], NULL, NULL};
        size_t n = rows * (v->machines + 1);
        v->best = arena_array(own, n, sizeof *v->best);
        v->choice = arena_array(own, n, sizeof *v->choice);
        x.last = arena_array(own, n, sizeof *x.last);
        done = find_level(&x, l);
    }
    const struct level *top = &x.level[r->nlevel - 1];
    found.complete = done;
    if (done)
        found.value = top->best[row(&x, 0, s->n) * (top->machines + 1) + top->machines];
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
