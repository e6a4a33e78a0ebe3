/* Bounds by what devices can hold along a path (path_bound.h).
 *
 * Idea: the ideals of a contiguous plan hold the first k vertices of a path for growing k (long_path.h), so each device
 * has an interval i + 1 .. j of the path vertices, which may be empty.  The device holds every vertex of the graph that
 * must lie within the interval (lo > i and hi <= j), and none that must lie before or behind it.  Let it hold the set
 * S, with weights w of potential 0 (problem.h), a load of at most T and transfers p(S).  If a is the scale of its
 * kind, w(S) + a p(S) <= a T, and so for each m > -1
 *   (1 + m) w(S)  <=  a T + max over such sets S of (m w(S) - a p(S)).
 * The maximum is a minimum cut, which does not depend on T (interval_cut.h).
 * Devices may come in any order, so a dynamic program over the devices used, by kinds, and the part of the path that
 * these devices have gives the largest weight that all devices hold.  If that is less than the weight of all vertices,
 * no plan has loads of at most T.
 *
 * At first each interval is taken to hold a T, the most that any set can.  While T is not refuted, cuts are made for
 * the intervals that the dynamic program chose: with m = 0 first; then with a larger m (a larger set is worth more
 * then) while the load of the best set is below T, with a smaller m while it is above T; then with the m at which the
 * lines of a heavy and of a light set meet (Lagrangean relaxation of the limit T).  T is found by bisection; the lines
 * of an interval hold for every T.
 *
 * Cost: the work allowed; the dynamic program takes O(states * kinds * path^2) for each step of refinement. */
#include "passes/bounds/path_bound.h"

#include "passes/bounds/explain.h"
#include "passes/bounds/interval_cut.h"

#include <assert.h>
#include <inttypes.h>

enum {
    /* number of path vertices used: PER_DEVICE for each device, within PATH_LEAST .. PATH_MOST */
    PATH_LEAST = 30,
    PER_DEVICE = 5,
    PATH_MOST = 128,
    STATES_MOST = 256, /* number of states of the dynamic program, at most */
    LINES = 8,         /* number of lines for an interval, at most */
    FIRST_PART = 10,   /* see first_m */
    PRECISION = 4000   /* the bisection ends at a range of upper / PRECISION */
};

/* The facts about the devices of one group, for one interval of the path that such a device may hold. */
struct pair {
    struct line *line; /* [LINES], of which nline are filled; NULL: no line yet */
    uint32_t nline;
    /* the vertices that must lie within the interval weigh more than any device can hold */
    bool closed;
    /* the largest weight that such a device holds with a load within the limit; -1: no device can */
    int64_t held;
};

/* Devices of one class and scale: equal in the sets of vertices that they can hold. */
struct group {
    /* one of the kinds of these devices; number of devices of all their kinds */
    uint32_t kind, count;
    /* the mixed radix of a state's number: the state uses state / radix % (count + 1) devices of the group */
    uint32_t radix;
    int64_t scale;       /* as in potential 0 */
    const int64_t *cost; /* [net] ps */
    int32_t first;       /* see refine_pair(): the multiplier tried after 0 is `first` or -first */
    struct pair *pair;   /* [i * (len + 1) + j] the pair of interval i + 1 .. j */
};

/* The best way to divide the first j path vertices, for some j, among the devices that a state counts as used. */
struct best {
    /* the largest sum of weights that these devices can hold; -1: the vertices cannot be divided so */
    int64_t held;
    /* the last device has the path vertices from + 1 .. j, and is of this group */
    uint32_t from, group;
};

/* The state of a search for a bound (path_bound.h). */
struct holder {
    const struct problem *c;
    struct arena *a;
    uint64_t *work; /* arcs that may still be looked at */
    struct long_path path;
    uint32_t row;            /* path.len + 1 */
    uint32_t ngroup, nstate; /* a state: how many devices of each group are used */
    struct group group[PROBLEM_KINDS];
    struct best *best;    /* [state * row + j] */
    int64_t limit, total; /* ps: the limit T that is tried; weight of all vertices */
    /* [vertex] its node in the network of interval_cut; only of vertices that are EITHER */
    uint32_t *id;
};

/* ---- intervals ------------------------------------------------------------------------------- */

/* Returns the multiplier to try after 0: it makes the weights of all vertices 1 / FIRST_PART of all transfers. */
static int32_t first_m(const struct problem *c, const struct group *q)
{
    __int128 pay = 0;
    for (uint32_t e = 0; e < c->g->nnet; e++)
        pay += problem_scaled(q->cost[e], q->scale);
    pay = pay * LINE_ONE / FIRST_PART / (c->pot[0].total + 1);
    if (pay < 1)
        return 1;
    return pay > LINE_ONE / 4 ? LINE_ONE / 4 : (int32_t)pay;
}

/* Fills h->group, and numbers the states.  Returns false if there are too many states, or if potential 0 says nothing
 * about some devices. */
static bool make_groups(struct holder *h)
{
    const struct problem *c = h->c;
    h->nstate = 1;
    for (uint32_t k = 0; k < c->nkind; k++) {
        uint32_t q = 0;
        while (q < h->ngroup && (c->kind[h->group[q].kind].cls != c->kind[k].cls ||
                                 h->group[q].scale != c->pot[0].scale[k]))
            q++;
        if (q == h->ngroup)
            h->group[h->ngroup++] = (struct group){
                .kind = k, .scale = c->pot[0].scale[k], .cost = c->cls[c->kind[k].cls].cost};
        h->group[q].count += c->kind[k].count;
    }
    for (uint32_t q = 0; q < h->ngroup && h->nstate <= STATES_MOST; q++) {
        h->group[q].radix = h->nstate;
        h->group[q].first = first_m(c, &h->group[q]);
        h->nstate *= h->group[q].count + 1;
        if (h->group[q].scale < 0)
            return false;
    }
    return h->nstate <= STATES_MOST;
}

/* Makes the pairs of each group, and sets their `closed` for loads of at most `upper`.  O(V + path^2) for each
 * group. */
static void make_pairs(struct holder *h, int64_t upper)
{
    uint32_t row = h->row, n = h->c->g->n;
    /* [lo * (row + 1) + hi] first the weight of the vertices with exactly this lo and hi; then, by prefix sums, of the
     * vertices with this lo or more and this hi or less */
    int64_t *sum = arena_array(h->a, (size_t)(row + 1) * (row + 1), sizeof *sum);
    for (uint32_t v = 0; v < n; v++)
        sum[h->path.lo[v] * (row + 1) + h->path.hi[v]] += h->c->pot[0].w[v];
    for (uint32_t lo = row + 1; lo-- > 0;)
        for (uint32_t hi = 0; hi <= row; hi++) {
            int64_t *x = &sum[lo * (row + 1) + hi];
            /* those with a larger lo, and those with a smaller hi, less those that are in both */
            *x += (lo < row ? x[row + 1] : 0) + (hi ? x[-1] : 0) - (lo < row && hi ? x[row] : 0);
        }
    for (uint32_t q = 0; q < h->ngroup; q++) {
        struct group *x = &h->group[q];
        x->pair = arena_array(h->a, (size_t)row * row, sizeof *x->pair);
        for (uint32_t i = 0; i < row; i++)
            for (uint32_t j = i; j < row; j++)
                x->pair[i * row + j].closed =
                    sum[(i + 1) * (row + 1) + j] > problem_scaled(upper, x->scale);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Returns the largest weight that a device can hold by line l if its scaled load is at most `cap`; -1: it can hold no
 * set at all. */
static int64_t held_by(const struct line *l, int64_t cap)
{
    __int128 x = ((__int128)cap + l->gain) * LINE_ONE;
    return x < 0 ? -1 : (int64_t)(x / (LINE_ONE + l->m));
}

/* Returns the line of p that gives the lowest limit of what a device with a scaled load of at most `cap` holds; NULL:
 * no line gives a limit below cap. */
static const struct line *tightest_line(const struct pair *p, int64_t cap)
{
    const struct line *best = NULL;
    for (uint32_t i = 0; i < p->nline; i++)
        if (held_by(&p->line[i], cap) < (best ? held_by(best, cap) : cap))
            best = &p->line[i];
    return best;
}

/* Returns a p(S), the scaled transfers, of the set S with weight l->weight. */
static int64_t paid_by(const struct line *l)
{
    return (int64_t)((__int128)l->weight * l->m / LINE_ONE) - l->gain;
}

/* Writes the multiplier to try next for p to *m; cap: scaled limit, first: see struct group.  Returns false if no
 * other multiplier can lower the limit by much. */
static bool next_m(const struct pair *p, int64_t cap, int32_t first, int32_t *m)
{
    const struct line *heavy = NULL, *light = NULL;
    /* heavy: of the lines found so far whose set weighs too much for cap, the one with the smallest m; light: of the
     * other lines, the one with the largest m */
    for (uint32_t i = 0; i < p->nline; i++) {
        const struct line *l = &p->line[i];
        if (l->weight + paid_by(l) > cap)
            heavy = !heavy || l->m < heavy->m ? l : heavy;
        else
            light = !light || l->m > light->m ? l : light;
    }
    *m = 0;
    if (heavy && light) {
        int64_t more = heavy->weight - light->weight;
        if (more <= 0 || heavy->m - light->m < 2)
            return false;
        /* the multiplier at which the sets of both lines are worth the same */
        __int128 x = (__int128)(paid_by(heavy) - paid_by(light)) * LINE_ONE / more;
        *m = x > light->m && x < heavy->m ? (int32_t)x : light->m;
        return *m > light->m;
    }
    /* all sets found so far fit: a larger m */
    if (light) {
        if (light->m < 0)
            *m = light->m / 2;
        else
            *m = light->m ? light->m * 4 : first;
        return light->m < 2 * LINE_ONE && light->m != -1;
    }
    /* no set found so far fits: a smaller m */
    if (!heavy)
        return true; /* there is no line yet: m = 0 */
    if (heavy->m > 0)
        *m = heavy->m / 2;
    else if (heavy->m == 0)
        *m = -first;
    else if (heavy->m * 4 > -LINE_ONE / 2)
        *m = heavy->m * 4;
    else /* halfway to -1 */
        *m = heavy->m - (LINE_ONE + heavy->m) / 2;
    return heavy->m > -LINE_ONE * 7 / 8 && heavy->m != 1;
}

/* Adds a line for group q with the interval d, and lowers `held` of the pair.  Returns false if there is nothing to
 * try, or if the work ran out. */
static bool refine_pair(struct holder *h, const struct group *q, struct interval d)
{
    struct pair *p = &q->pair[d.i * h->row + d.j];
    int64_t cap = problem_scaled(h->limit, q->scale);
    int32_t m;
    if (p->nline == LINES || !next_m(p, cap, q->first, &m))
        return false;
    if (!p->line)
        p->line = arena_array(h->a, LINES, sizeof *p->line);
    const struct interval_cut cut = {.c = h->c,
                                     .path = &h->path,
                                     .w = h->c->pot[0].w,
                                     .cost = q->cost,
                                     .scale = q->scale,
                                     .id = h->id,
                                     .work = h->work,
                                     .a = h->a};
    p->line[p->nline] = interval_cut(&cut, d, m);
    if (!*h->work) /* the work ran out, so the flow may not be the largest */
        return false;
    p->nline++;
    const struct line *l = tightest_line(p, cap);
    p->held = l ? held_by(l, cap) : cap;
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Sets the limit T to `limit` ps, and `held` of all pairs to the largest weight that their lines allow. */
static void set_limit(struct holder *h, int64_t limit)
{
    h->limit = limit;
    for (uint32_t q = 0; q < h->ngroup; q++) {
        int64_t cap = problem_scaled(limit, h->group[q].scale);
        for (uint32_t i = 0; i < h->row * h->row; i++) {
            struct pair *p = &h->group[q].pair[i];
            const struct line *l = tightest_line(p, cap);
            if (p->closed)
                p->held = -1;
            else
                p->held = l ? held_by(l, cap) : cap;
        }
    }
}

/* Step of the dynamic program: extends all divisions of state u by one more device of group q. */
static void extend_state(struct holder *h, uint32_t u, uint32_t q)
{
    const struct group *x = &h->group[q];
    const struct best *from = &h->best[u * h->row];
    struct best *to = &h->best[(u + x->radix) * h->row];
    for (uint32_t i = 0; i < h->row; i++)
        for (uint32_t j = i; j < h->row && from[i].held >= 0; j++) {
            int64_t held = x->pair[i * h->row + j].held;
            if (held >= 0 && from[i].held + held > to[j].held)
                to[j] = (struct best){from[i].held + held, i, q};
        }
}

/* Runs the dynamic program.  Returns the largest weight that all devices hold together; -1: they cannot divide the
 * path. */
static int64_t most_held(struct holder *h)
{
    for (uint32_t i = 0; i < h->nstate * h->row; i++)
        h->best[i].held = -1;
    h->best[0].held = 0;
    for (uint32_t u = 0; u < h->nstate; u++)
        for (uint32_t q = 0; q < h->ngroup; q++)
            if (u / h->group[q].radix % (h->group[q].count + 1) < h->group[q].count)
                extend_state(h, u, q);
    uint64_t looks = (uint64_t)h->nstate * h->ngroup * h->row * h->row / 4;
    *h->work -= smaller_u64(looks, *h->work);
    return h->best[h->nstate * h->row - 1].held;
}

/* Adds a line for each interval that the dynamic program chose; returns false if none was added. */
static bool refine_best(struct holder *h)
{
    bool better = false;
    for (uint32_t u = h->nstate - 1, j = h->row - 1; u;) {
        struct best x = h->best[u * h->row + j];
        better = refine_pair(h, &h->group[x.group], (struct interval){x.from, j}) || better;
        u -= h->group[x.group].radix;
        j = x.from;
    }
    return better;
}

/* Returns whether the lines, with new ones as far as the work allows, prove that no plan has loads of at most
 * `limit`. */
static bool is_refuted(struct holder *h, int64_t limit, struct clock *clock)
{
    set_limit(h, limit);
    while (most_held(h) >= h->total)
        if (!*h->work || clock_out(clock) || !refine_best(h))
            return false;
    return true;
}

/* ---- the argument ---------------------------------------------------------------------------- */

/* Adds a line of text with the tightest line for group q and the interval i + 1 .. j; nothing if there is none. */
static void say_interval(struct explain *e, const struct holder *h, const struct group *q,
                         uint32_t i, uint32_t j)
{
    int64_t cap = problem_scaled(h->limit, q->scale);
    const struct line *l = tightest_line(&q->pair[i * h->row + j], cap);
    if (!l)
        return;
    explain_add(e, "  %s, ", explain_kind(e, q->kind));
    if (i == j)
        explain_add(e, "between %u and %u", i, i + 1);
    else
        explain_add(e, "%u to %u", i + 1, j);
    if (l->m)
        explain_add(e, ": %d/%d of the nodes", l->m, LINE_ONE);
    else
        explain_add(e, ": nothing");
    explain_add(e, " less the transfers is at most %s%s, so ", l->gain < 0 ? "-" : "",
                explain_time(e, l->gain < 0 ? -l->gain : l->gain));
    if (held_by(l, cap) < 0)
        explain_add(e, "there is no such device\n");
    else
        explain_add(e, "nodes at most %s\n", explain_time(e, held_by(l, cap)));
}

/* Returns the argument that no plan takes less than h->limit + 1.  The last call of most_held must have been for
 * h->limit. */
static const char *prove_limit(const struct holder *h, const struct module *m, struct arena *mem)
{
    struct explain e = explain_new(h->c, m, mem);
    explain_add(&e, "contiguous plans: what devices can hold along a path\n");
    explain_add(&e,
                "suppose that a plan takes less than %s; path:", explain_time(&e, h->limit + 1));
    for (uint32_t k = 1; k < h->row; k++)
        explain_add(&e, " %u %s", k, e.name[h->path.vertex[k]]);
    explain_add(
        &e, "\na device has an interval of it, and what lies between its ends, but nothing from "
            "before or behind it\n");
    for (uint32_t q = 0; q < h->ngroup; q++)
        explain_add(&e, "%s: a ms counts as %" PRId64 "/%d, so nodes and transfers at most %s\n",
                    explain_kind(&e, h->group[q].kind), h->group[q].scale, 1 << SCALE_BITS,
                    explain_time(&e, problem_scaled(h->limit, h->group[q].scale)));
    explain_add(&e, "with these intervals of the path (minimum cuts),\n");
    for (uint32_t q = 0; q < h->ngroup; q++)
        for (uint32_t i = 0; i < h->row; i++)
            for (uint32_t j = i; j < h->row; j++)
                say_interval(&e, h, &h->group[q], i, j);
    int64_t most = h->best[h->nstate * h->row - 1].held;
    explain_add(
        &e,
        "however the devices share the path, they hold at most %s of %s: no contiguous plan "
        "takes less than %s\n",
        explain_time(&e, larger(most, 0)), explain_time(&e, h->total),
        explain_time(&e, h->limit + 1));
    return explain_text(&e);
}

struct holder *holder_new(const struct problem *c, int64_t upper, struct arena *a)
{
    struct holder *h = arena_alloc(a, sizeof *h);
    uint32_t most = PER_DEVICE * c->cluster->ndev;
    most = most < PATH_LEAST ? PATH_LEAST : smaller_u32(most, PATH_MOST);
    h->c = c;
    h->a = a;
    if (c->detailed || !c->g->n || !make_groups(h))
        return NULL;
    h->path = long_path_of(c, 0, most, a);
    h->row = h->path.len + 1;
    h->id = arena_array(a, (size_t)c->g->n + 1, sizeof *h->id);
    h->best = arena_array(a, (size_t)h->nstate * h->row, sizeof *h->best);
    for (uint32_t v = 0; v < c->g->n; v++)
        h->total += c->pot[0].w[v];
    make_pairs(h, upper);
    return h;
}

struct bound holder_bound(struct holder *h, int64_t upper, const struct bound_means *with,
                          uint64_t *spent)
{
    const struct bound known = h->c->lower;
    int64_t lo = known.value, hi = upper;
    uint64_t left = with->work, none = 0;
    h->work = &left;
    while (hi - lo > upper / PRECISION && !clock_out(with->clock)) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (is_refuted(h, mid - 1, with->clock))
            lo = mid;
        else
            hi = mid - 1;
    }
    assert(lo >= known.value && lo <= hi);
    *spent = with->work - left;
    h->work = &none; /* the lines made so far are enough: no more cuts */
    bool higher = lo > known.value && is_refuted(h, lo - 1, NULL);
    h->work = NULL;
    if (!higher)
        return known;
    return (struct bound){.value = lo,
                          .why = "most that devices hold along a path",
                          .proof = prove_limit(h, with->m, with->mem)};
}
