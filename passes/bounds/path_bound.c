/* Finds bounds by what devices can hold along a path (path_bound.h).
 *
 * Idea: the ideals of a contiguous plan hold the first k vertices of a path for growing k (long_path.h), so each
 * device has an interval i + 1 .. j of the path vertices, which may be empty.  The device holds every vertex of the
 * graph that must lie within the interval (lo > i and hi <= j), and none that must lie before or behind it.  Let it
 * hold the set S with a load of at most T; w(S) is the weight of S in potential 0 (problem.h), p(S) the cost of its
 * transfers.  If a is the scale of the device's kind, w(S) + a p(S) <= a T, and so for each m > -1
 *   (1 + m) w(S)  <=  a T + max over such sets S of (m w(S) - a p(S)).
 * The maximum is a minimum cut, which does not depend on T (interval_cut.h).  Devices may come in any order, so a
 * dynamic program over the devices used, by kinds, and the part of the path that these devices have gives the largest
 * weight that all devices hold.  If that weight is less than the weight of all vertices, no plan has loads of at most
 * T.
 *
 * At first a device with an interval is taken to hold a weight of a T, the most that any set can have.  While T is not
 * refuted, cuts are made for the intervals that the dynamic program chose: with m = 0 first; then with a larger m (a
 * larger set is worth more then) while the load of the best set is below T, with a smaller m while it is above T; then
 * with the m at which the lines of a heavy and of a light set meet (Lagrangean relaxation of the limit T).  The
 * largest T that can be refuted is found by bisection; the lines of an interval hold for every T.
 *
 * If many small branches meet in one vertex, a hub, a device can hold a few of the branches, or all of them with the
 * hub.  Sets between these two have many more transfers, but the bound by lines counts them as if the transfers grew
 * evenly.  So a second search (holder_new_apart()) distinguishes which hubs a device holds: the dynamic program knows
 * which hubs the devices so far have, and each interval has lines for each set of hubs.  It also distinguishes whether
 * a device has no pin, some or all pins of the dearest net: with some it pays for the net, whatever else it holds.  A
 * vertex whose side then follows from the interval and the edges is forced to that side, too (force_along()).
 *
 * Cost: the work allowed; the dynamic program takes O(states * kinds * path^2) for each step of refinement, with h
 * hubs 3^(h + 1) times as much. */
#include "passes/bounds/path_bound.h"

#include "passes/bounds/explain.h"
#include "passes/bounds/hub_bound.h"
#include "passes/bounds/interval_cut.h"
#include "ir/base/keyed.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    /* number of path vertices used: PER_DEVICE for each device, within PATH_LEAST .. PATH_MOST */
    PATH_LEAST = 30,
    PER_DEVICE = 5,
    PATH_MOST = 128,
    STATES_MOST = 256, /* number of states of the dynamic program, at most */
    /* the most hubs; few, since there is a pair for each interval and set of hubs */
    HUBS = 3,
    LINES = 8,       /* number of lines for an interval, at most */
    FIRST_PART = 10, /* see first_m() */
    PRECISION = 4000 /* the bisection ends at a range of upper / PRECISION */
};

/* What is known of the devices of one group if such a device has a certain interval of the path, certain hubs and a
 * certain share of the dear net (pair_at()). */
struct pair {
    struct line *line; /* [LINES], of which nline are filled; NULL: no line yet */
    uint32_t nline;
    /* no device can have the pair: the vertices that must lie within the interval weigh more than any device can hold,
     * or the hubs and the share of the dear net contradict the interval */
    bool closed;
    /* the largest weight that such a device holds with a load within the limit; -1: no device can */
    int64_t held;
};

/* Devices of one class and scale: equal in the sets of vertices that they can hold. */
struct group {
    /* kind: one of the kinds of these devices; count: number of devices of all their kinds */
    uint32_t kind, count;
    /* the mixed radix of a state's number: the state uses state / radix % (count + 1) devices of the group */
    uint32_t radix;
    int64_t scale;       /* as in potential 0 */
    const int64_t *cost; /* [net] ps that a device of the group pays for a net which leaves it */
    int32_t first;       /* see refine_pair(): the multiplier tried after 0 is `first` or -first */
    /* [index by pair_at()] what is known of an interval with a set of hubs on a device of the group */
    struct pair *pair;
};

/* How many pins of the dear net a device has: none; some, so that it pays for the net; or all. */
enum net_share { NET_NONE, NET_SOME, NET_ALL, NET_SHARES };

/* The best way to divide the first j path vertices, for some j, among the devices that a state counts as used. */
struct best {
    /* the largest sum of weights that these devices can hold; -1: the vertices cannot be divided so */
    int64_t held;
    /* the last device has the path vertices from + 1 .. j, is of this group, and holds these hubs */
    uint32_t from, group, hubs;
    enum net_share share;
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
    uint32_t nhub, hub[HUBS]; /* the hubs, whose devices the search distinguishes */
    uint32_t sets;            /* 1 << nhub: a set of hubs is a number of as many bits */
    uint32_t before[HUBS];    /* [hub] set of the hubs that have a path to the hub */
    uint32_t net;             /* the dear net; UINT32_MAX: none */
    uint8_t *forced;          /* [vertex] interval_cut.forced, for the present pair */
    bool done;                /* see holder_done() */
    /* [index by best_at()] the best way for a state, a set of hubs and a number j */
    struct best *best;
    int64_t limit, total; /* ps: the limit T that is tried; weight of all vertices */
    /* [vertex] its node in the network of interval_cut; only of vertices that are EITHER */
    uint32_t *id;
};

/* Returns the index in group.pair of the pair for the interval i + 1 .. j of a device that holds the hubs of set
 * `hubs`, no other hubs, and this share of the dear net (NET_SOME if there is no dear net). */
static uint32_t pair_at(const struct holder *h, uint32_t hubs, enum net_share share, uint32_t i,
                        uint32_t j)
{
    return ((hubs * NET_SHARES + share) * h->row + i) * h->row + j;
}

/* Returns the index in h->best of the entry in which the devices of state u hold the first j path vertices and the hubs
 * of set `hubs`. */
static uint32_t best_at(const struct holder *h, uint32_t u, uint32_t hubs, uint32_t j)
{
    return (u * h->sets + hubs) * h->row + j;
}

/* ---- hubs ------------------------------------------------------------------------------------ */

/* Sets h->hub, h->nhub and h->sets, and h->net.  The hubs are the vertices whose nets cost most, the two dearest nets
 * of each not counted (hub_order()). */
static void choose_hubs(struct holder *h)
{
    const struct problem *c = h->c;
    const struct keyed *of = hub_order(c, h->a);
    while (h->nhub < HUBS && h->nhub < c->g->n && -of[h->nhub].key > c->pot[0].total / HUB_DEAR) {
        h->hub[h->nhub] = of[h->nhub].item;
        h->nhub++;
    }
    h->sets = 1U << h->nhub;
    h->net = hub_dear_net(c);
}

/* Sets h->before.  O(hubs * (V + E)). */
static void order_hubs(struct holder *h)
{
    const struct wdag *g = h->c->g;
    uint8_t *behind = arena_array(h->a, (size_t)g->n + 1, sizeof *behind);
    for (uint32_t a = 0; a < h->nhub; a++) {
        memset(behind, 0, g->n);
        behind[h->hub[a]] = 1;
        for (uint32_t v = 0; v < g->n; v++)
            for (uint32_t i = g->succ.at[v]; behind[v] && i < g->succ.at[v + 1]; i++)
                behind[g->succ.to[i]] = 1;
        for (uint32_t b = 0; b < h->nhub; b++)
            if (b != a && behind[h->hub[b]])
                h->before[b] |= 1U << a;
    }
}

/* Whether the first devices of a plan may hold the first j path vertices and, of the hubs, just those of set `hubs`. */
static bool is_prefix(const struct holder *h, uint32_t hubs, uint32_t j)
{
    for (uint32_t a = 0; a < h->nhub; a++) {
        bool in = hubs >> a & 1;
        uint32_t v = h->hub[a];
        if (in ? h->path.lo[v] > j || (h->before[a] & ~hubs) : h->path.hi[v] <= j)
            return false;
    }
    return true;
}

/* Puts vertex v on one side in h->forced.  Returns false if the interval d, or else h->forced so far, has v on the
 * other side. */
static bool force(struct holder *h, uint32_t v, enum side side, struct interval d)
{
    enum side is = interval_side(&h->path, v, d);
    if (is == EITHER)
        is = h->forced[v];
    h->forced[v] = (uint8_t)side;
    return is == EITHER || is == side;
}

/* Carries what h->forced says over the edge u -> v: a vertex outside the set is on a device before or behind (as in
 * interval_cut.c).  Returns false on a contradiction. */
static bool force_along(struct holder *h, uint32_t u, uint32_t v, struct interval d)
{
    const struct long_path *p = &h->path;
    enum side su = interval_side(p, u, d), sv = interval_side(p, v, d);
    bool good = true;
    su = su == EITHER ? h->forced[u] : su;
    sv = sv == EITHER ? h->forced[v] : sv;
    if (p->hi[u] <= d.j && p->hi[v] <= d.j && p->hi[u] > d.i) { /* where u is in the set, so is v */
        good = good && (su != INSIDE || force(h, v, INSIDE, d));
        good = good && (sv != OUTSIDE || force(h, u, OUTSIDE, d));
    }
    if (p->lo[u] > d.i && p->lo[v] > d.i && p->lo[v] <= d.j) { /* where v is in the set, so is u */
        good = good && (sv != INSIDE || force(h, u, INSIDE, d));
        good = good && (su != OUTSIDE || force(h, v, OUTSIDE, d));
    }
    return good;
}

/* Sets h->forced for a device with the interval d that holds just these hubs, and that share of the dear net.  Returns
 * false if there is no such device. */
static bool force_all(struct holder *h, uint32_t hubs, enum net_share share, struct interval d)
{
    const struct wdag *g = h->c->g;
    bool good = true;
    memset(h->forced, EITHER, g->n);
    for (uint32_t a = 0; a < h->nhub; a++)
        good = good && force(h, h->hub[a], hubs >> a & 1 ? INSIDE : OUTSIDE, d);
    if (share != NET_SOME)
        for_row (v, g->net_pin, h->net)
            good = good && force(h, v, share == NET_ALL ? INSIDE : OUTSIDE, d);
    /* the first sweep carries what is known of a vertex to its ancestors, the second one to its descendants */
    for (uint32_t u = g->n; u-- > 0 && good;)
        for_row (v, g->succ, u)
            good = good && force_along(h, u, v, d);
    for (uint32_t u = 0; u < g->n && good; u++)
        for_row (v, g->succ, u)
            good = good && force_along(h, u, v, d);
    return good;
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Returns the multiplier to try after 0, in units of 1 / LINE_ONE: multiplied by it, the weight of all vertices is 1 /
 * FIRST_PART of all transfers, but the multiplier is at most 1/4. */
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

/* Whether pairs with that share of the dear net are needed.  NET_ALL is not needed if the net has the host as a pin: a
 * device with all other pins then pays for the net, too, as with NET_SOME. */
static bool has_share(const struct holder *h, enum net_share share)
{
    return share == NET_SOME ||
           (h->net != UINT32_MAX && (share == NET_NONE || !h->c->g->net_host[h->net]));
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
            /* adds the sum for a larger lo and the sum for a smaller hi, and subtracts the sum that is in both */
            *x += (lo < row ? x[row + 1] : 0) + (hi ? x[-1] : 0) - (lo < row && hi ? x[row] : 0);
        }
    for (uint32_t q = 0; q < h->ngroup; q++) {
        struct group *x = &h->group[q];
        x->pair = arena_array(h->a, (size_t)h->sets * NET_SHARES * row * row, sizeof *x->pair);
        for (uint32_t s = 0; s < h->sets * NET_SHARES; s++)
            for (uint32_t i = 0; i < row; i++)
                for (uint32_t j = i; j < row; j++)
                    x->pair[pair_at(h, s / NET_SHARES, s % NET_SHARES, i, j)].closed =
                        !has_share(h, s % NET_SHARES) ||
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

/* Returns the line of p that gives the lowest limit on the weight that a device with a scaled load of at most `cap`
 * holds; NULL: no line gives a limit below cap. */
static const struct line *tightest_line(const struct pair *p, int64_t cap)
{
    const struct line *best = NULL;
    for (uint32_t i = 0; i < p->nline; i++)
        if (held_by(&p->line[i], cap) < (best ? held_by(best, cap) : cap))
            best = &p->line[i];
    return best;
}

/* Returns the scaled transfers, a p(S), of the set S whose weight is l->weight. */
static int64_t paid_by(const struct line *l)
{
    return (int64_t)((__int128)l->weight * l->m / LINE_ONE) - l->gain;
}

/* Writes the multiplier to try next for p to *m.  cap: the scaled limit; first: as in struct group.  Returns false if
 * no other multiplier can lower the limit by much. */
static bool next_m(const struct pair *p, int64_t cap, int32_t first, int32_t *m)
{
    const struct line *heavy = NULL, *light = NULL;
    /* heavy: the line with the smallest m among those whose set has a scaled load above cap; light: the line with the
     * largest m among the other lines */
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
        /* a multiplier above 2 hardly lowers the limit; half of -1 would be rounded to 0 again */
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
    /* m must stay above -1; half of 1 would be rounded to 0 again */
    return heavy->m > -LINE_ONE * 7 / 8 && heavy->m != 1;
}

/* Adds a line to the pair of device x of group q, which has the path vertices up to j, and lowers `held` of the pair;
 * or closes the pair if no device can hold what the pair says.  Returns false if there is nothing to try, or if the
 * work ran out. */
static bool refine_pair(struct holder *h, const struct group *q, const struct best *x, uint32_t j)
{
    const struct interval d = {x->from, j};
    struct pair *p = &q->pair[pair_at(h, x->hubs, x->share, d.i, d.j)];
    int64_t cap = problem_scaled(h->limit, q->scale);
    int32_t m;
    if (p->nline == LINES || !next_m(p, cap, q->first, &m))
        return false;
    if (h->forced && !force_all(h, x->hubs, x->share, d)) {
        p->closed = true;
        p->held = -1;
        return true;
    }
    if (!p->line)
        p->line = arena_array(h->a, LINES, sizeof *p->line);
    const struct interval_cut cut = {.c = h->c,
                                     .path = &h->path,
                                     .w = h->c->pot[0].w,
                                     .cost = q->cost,
                                     .scale = q->scale,
                                     .forced = h->forced,
                                     .paid = x->share == NET_SOME ? h->net : UINT32_MAX,
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
        for (uint32_t i = 0; i < h->sets * NET_SHARES * h->row * h->row; i++) {
            struct pair *p = &h->group[q].pair[i];
            const struct line *l = tightest_line(p, cap);
            if (p->closed)
                p->held = -1;
            else
                p->held = l ? held_by(l, cap) : cap;
        }
    }
}

/* A step of the dynamic program: extends each entry of h->best for state u and the hubs `have` by a device of group q
 * with the hubs `more`. */
static void extend_state(struct holder *h, uint32_t u, uint32_t q, uint32_t have, uint32_t more)
{
    const struct group *x = &h->group[q];
    const struct best *from = &h->best[best_at(h, u, have, 0)];
    struct best *to = &h->best[best_at(h, u + x->radix, have | more, 0)];
    for (uint32_t i = 0; i < h->row; i++)
        for (uint32_t j = i; j < h->row && from[i].held >= 0; j++)
            for (uint32_t share = 0; share < NET_SHARES; share++) {
                int64_t held = x->pair[pair_at(h, more, share, i, j)].held;
                if (held >= 0 && from[i].held + held > to[j].held && is_prefix(h, have | more, j))
                    to[j] = (struct best){from[i].held + held, i, q, more, share};
            }
}

/* Returns the best way to divide all path vertices and hubs among all devices. */
static const struct best *last_best(const struct holder *h)
{
    return &h->best[best_at(h, h->nstate - 1, h->sets - 1, h->row - 1)];
}

/* Runs the dynamic program: fills h->best, and takes its work off *h->work.  Returns the largest weight that all
 * devices hold together; -1: they cannot divide the path. */
static int64_t most_held(struct holder *h)
{
    uint64_t looks = 0;
    for (uint32_t i = 0; i < h->nstate * h->sets * h->row; i++)
        h->best[i].held = -1;
    h->best[0].held = 0;
    for (uint32_t u = 0; u < h->nstate; u++)
        for (uint32_t q = 0; q < h->ngroup; q++)
            for (uint32_t s = 0; s < h->sets * h->sets; s++) {
                uint32_t have = s / h->sets, more = s % h->sets;
                if (have & more)
                    continue;
                /* there are row^2 / 2 intervals, two of which take as long as a look at an arc */
                looks += (uint64_t)h->row * h->row / 4;
                if (u / h->group[q].radix % (h->group[q].count + 1) < h->group[q].count)
                    extend_state(h, u, q, have, more);
            }
    *h->work -= smaller_u64(looks, *h->work);
    return last_best(h)->held;
}

/* Adds a line for each interval that the dynamic program chose; returns false if none was added. */
static bool refine_best(struct holder *h)
{
    bool better = false;
    for (uint32_t u = h->nstate - 1, j = h->row - 1, have = h->sets - 1; u;) {
        const struct best *x = &h->best[best_at(h, u, have, j)];
        better = refine_pair(h, &h->group[x->group], x, j) || better;
        u -= h->group[x->group].radix;
        j = x->from;
        have &= ~x->hubs;
    }
    return better;
}

/* Returns whether lines prove that no plan has loads of at most `limit`; adds lines for that as far as the work
 * allows. */
static bool is_refuted(struct holder *h, int64_t limit, struct clock *clock)
{
    set_limit(h, limit);
    while (most_held(h) >= h->total)
        if (!*h->work || clock_out(clock) || !refine_best(h))
            return false;
    return true;
}

/* ---- the argument ---------------------------------------------------------------------------- */

/* Adds to the text which hubs a device holds and what share of the dear net it has, as in pair_at(). */
static void say_apart(struct explain *e, const struct holder *h, uint32_t hubs,
                      enum net_share share)
{
    static const char *const share_text[NET_SHARES] = {"none", "some", "all"};
    for (uint32_t a = 0; a < h->nhub; a++)
        explain_add(e, ", %s %s", hubs >> a & 1 ? "with" : "without", e->name[h->hub[a]]);
    if (h->net != UINT32_MAX)
        explain_add(e, ", %s of those of that value", share_text[share]);
}

/* Adds to the text the condition (struct line) that limits the weight on the device x of group q most; x has the path
 * vertices up to j.  Adds nothing if no condition is tighter than the limit T itself. */
static void say_interval(struct explain *e, const struct holder *h, const struct group *q,
                         const struct best *x, uint32_t j)
{
    int64_t cap = problem_scaled(h->limit, q->scale);
    const struct pair *p = &q->pair[pair_at(h, x->hubs, x->share, x->from, j)];
    const struct line *l = tightest_line(p, cap);
    if (!l)
        return;
    explain_add(e, "  %s, ", explain_kind(e, q->kind));
    if (x->from == j)
        explain_add(e, "between %u and %u", j, j + 1);
    else
        explain_add(e, "%u to %u", x->from + 1, j);
    say_apart(e, h, x->hubs, x->share);
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
    if (h->nhub)
        explain_add(&e, "each of these is on one device, after what leads to it:");
    for (uint32_t a = 0; a < h->nhub; a++)
        explain_add(&e, "%s %s", a ? "," : "", e.name[h->hub[a]]);
    if (h->nhub)
        explain_add(&e, "\n");
    if (h->net != UINT32_MAX) {
        explain_add(&e, "one value is made or read by ");
        explain_set(&e, h->c->g->net_pin.to + h->c->g->net_pin.at[h->net],
                    h->c->g->net_pin.at[h->net + 1] - h->c->g->net_pin.at[h->net]);
        explain_add(&e, "; a device with some of these, but not all, pays for it\n");
    }
    for (uint32_t q = 0; q < h->ngroup; q++)
        explain_add(&e, "%s: a ms counts as %" PRId64 "/%d, so nodes and transfers at most %s\n",
                    explain_kind(&e, h->group[q].kind), h->group[q].scale, 1 << SCALE_BITS,
                    explain_time(&e, problem_scaled(h->limit, h->group[q].scale)));
    explain_add(&e, "with these intervals of the path (minimum cuts),\n");
    for (uint32_t q = 0; q < h->ngroup; q++)
        for (uint32_t s = 0; s < h->sets * NET_SHARES; s++)
            for (uint32_t i = 0; i < h->row; i++)
                for (uint32_t j = i; j < h->row; j++)
                    say_interval(&e, h, &h->group[q],
                                 &(struct best){0, i, q, s / NET_SHARES, s % NET_SHARES}, j);
    int64_t most = last_best(h)->held;
    explain_add(
        &e,
        "however the devices share the path, they hold at most %s of %s: no contiguous plan "
        "takes less than %s\n",
        explain_time(&e, larger(most, 0)), explain_time(&e, h->total),
        explain_time(&e, h->limit + 1));
    return explain_text(&e);
}

/* holder_new(), or if `apart` holder_new_apart(). */
static struct holder *make_holder(const struct problem *c, int64_t upper, bool apart,
                                  struct arena *a)
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
    h->sets = 1;
    h->net = UINT32_MAX;
    if (apart) {
        choose_hubs(h);
        if (!h->nhub)
            return NULL;
        order_hubs(h);
        h->forced = arena_alloc(a, (size_t)c->g->n + 1);
    }
    h->best = arena_array(a, (size_t)h->nstate * h->sets * h->row, sizeof *h->best);
    for (uint32_t v = 0; v < c->g->n; v++)
        h->total += c->pot[0].w[v];
    make_pairs(h, upper);
    return h;
}

struct holder *holder_new(const struct problem *c, int64_t upper, struct arena *a)
{
    return make_holder(c, upper, /*apart=*/false, a);
}

struct holder *holder_new_apart(const struct problem *c, int64_t upper, struct arena *a)
{
    return make_holder(c, upper, /*apart=*/true, a);
}

bool holder_done(const struct holder *h)
{
    return h->done;
}

struct bound holder_bound(struct holder *h, int64_t upper, const struct bound_means *with,
                          uint64_t *spent)
{
    const struct bound known = h->c->lower;
    int64_t lo = known.value, hi = upper;
    uint64_t left = with->work, no_work = 0;
    h->work = &left;
    while (hi - lo > upper / PRECISION && !clock_out(with->clock)) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (is_refuted(h, mid - 1, with->clock))
            lo = mid;
        else
            hi = mid - 1;
    }
    assert(lo >= known.value && lo <= hi);
    h->done = left > 0;
    *spent = with->work - left;
    h->work = &no_work; /* the lines made so far are enough: no more cuts */
    /* fills h->best for the limit lo - 1, as prove_limit() wants it */
    bool higher = lo > known.value && is_refuted(h, lo - 1, NULL);
    h->work = NULL;
    if (!higher)
        return known;
    return (struct bound){.value = lo,
                          .why = "most that devices hold along a path",
                          .proof = prove_limit(h, with->m, with->mem)};
}
