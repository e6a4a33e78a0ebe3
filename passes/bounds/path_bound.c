/* What devices can hold along a path (path_bound.h).
 *
 * Idea: the ideals of a contiguous plan hold the first k vertices of a path for growing k (long_path.h), so each device
 * has an interval i .. j of the path, maybe none of it.  It has all that lies between i and j, and nothing
 * that lies before i or behind j.  Let it hold the set S, with weights w of potential 0 (problem.h), a
 * load of at most T and transfers p(S).  With a the scale of its kind, w(S) + a p(S) <= a T, and so for each m > -1
 *   (1 + m) w(S)  <=  a T + max over such sets S of (m w(S) - a p(S)).
 * The maximum is a minimum cut, where a vertex before j whose reader is outside is outside, too (and so from the other
 * end); it does not depend on T.  Devices may come in any order, so a dynamic program over the devices used, by
 * kinds, and the part of the path that is passed gives the most that all of them hold.  If that is less
 * than the weight of all vertices, no plan has loads of at most T.
 *
 * At first each interval is taken to hold a T, the most that any set can.  While T is not refuted, cuts are made for
 * the intervals that the dynamic program chose: with m = 0 first; then with a larger m while the best set leaves
 * room in the device (a larger set is worth more then), with a smaller one while the set is too heavy; then with the
 * m at which the lines of a heavy and of a light set meet (Lagrangean relaxation of the limit T).  T is found by
 * bisection; the lines of an interval hold for every T.
 *
 * Cost: the work allowed; the dynamic program takes O(states * kinds * path^2) for each step of refinement. */
#include "passes/bounds/path_bound.h"

#include "passes/bounds/explain.h"
#include "ir/base/max_flow.h"
#include "passes/bounds/long_path.h"

#include <assert.h>
#include <inttypes.h>

enum {
    /* vertices of the path that are used, at least; PER_DEVICE for each device if that is more */
    PATH_LEAST = 30,
    PER_DEVICE = 5,
    PATH_MOST = 128,
    STATES_MOST = 256,
    ONE = 1024, /* multipliers m are in units of 1 / ONE */
    LINES = 8,  /* multipliers for an interval */
    FIRST_PART = 10,
    PRECISION = 4000
};

/* One cut: m / ONE * w(S) - a p(S) <= gain for all sets S that a device with the interval can hold; a set of this
 * weight attains it. */
struct line {
    int32_t m;
    int64_t gain, weight;
};

/* The path vertices i + 1 .. j. */
struct interval {
    uint32_t i, j;
};

/* A device that has an interval of the path. */
struct pair {
    struct line *line; /* LINES of them, or NULL */
    uint32_t nline;
    bool closed;  /* what lies between the ends alone is more than a device holds */
    int64_t held; /* the most that such a device holds with a load within the limit; -1: none can */
};

/* Devices of one class and scale: equal in the sets of vertices that they can hold. */
struct group {
    /* radix: place value of the digit, in the number of a state, that says how many are used */
    uint32_t kind, count, radix;
    int64_t scale;
    const int64_t *cost; /* [net] */
    int32_t first;       /* multiplier that is tried after 0, of either sign */
    struct pair *pair;   /* [i * (len + 1) + j] */
};

struct best {
    int64_t held;
    uint32_t from, group;
};

struct holder {
    const struct problem *c;
    struct arena *a;
    uint64_t *work;
    struct long_path path;
    uint32_t row; /* path.len + 1 */
    uint32_t ngroup, nstate;
    struct group group[PROBLEM_KINDS];
    struct best *best; /* [state * row + j] */
    int64_t limit, total;
    uint32_t *id; /* [vertex] node of the network */
};

/* ---- intervals ------------------------------------------------------------------------------- */

enum side { OUTSIDE, INSIDE, EITHER };

static enum side side_of(const struct holder *h, uint32_t v, struct interval d)
{
    if (h->path.hi[v] <= d.i || h->path.lo[v] > d.j)
        return OUTSIDE;
    return h->path.lo[v] > d.i && h->path.hi[v] <= d.j ? INSIDE : EITHER;
}

/* The first multiplier to try after 0: with it the weights of all vertices count 1 / FIRST_PART of all transfers. */
static int32_t first_m(const struct problem *c, const struct group *q)
{
    __int128 pay = 0;
    for (uint32_t e = 0; e < c->g->nnet; e++)
        pay += problem_scaled(q->cost[e], q->scale);
    pay = pay * ONE / FIRST_PART / (c->pot[0].total + 1);
    return pay < 1 ? 1 : pay > ONE / 4 ? ONE / 4 : (int32_t)pay;
}

/* Fills h->group and numbers the states of devices used; false: there are too many states, or weights say nothing of
 * some devices. */
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

/* Makes the intervals of each group; one is closed where what lies between its ends weighs more than a load of
 * `upper` allows.  O(V + path^2) for each group. */
static void make_pairs(struct holder *h, int64_t upper)
{
    uint32_t row = h->row, n = h->c->g->n;
    /* [lo * (row + 1) + hi] first the weight of the vertices of that lo and hi, then, by prefix sums, of those of lo
     * or more and hi or less */
    int64_t *sum = arena_array(h->a, (size_t)(row + 1) * (row + 1), sizeof *sum);
    for (uint32_t v = 0; v < n; v++)
        sum[h->path.lo[v] * (row + 1) + h->path.hi[v]] += h->c->pot[0].w[v];
    for (uint32_t lo = row + 1; lo-- > 0;)
        for (uint32_t hi = 0; hi <= row; hi++) {
            int64_t *x = &sum[lo * (row + 1) + hi];
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

/* ---- cuts ------------------------------------------------------------------------------------ */

/* Arcs for the edges u -> v into v.  A vertex outside the set is on a device before this one's or behind it.  Where
 * neither u nor v can be behind: if u is in the set, so is v (else v would be before u).  Where neither can be
 * before: if v is in the set, so is u. */
static void add_precedence(const struct holder *h, struct flow *f, uint32_t v, struct interval d)
{
    const struct wdag *g = h->c->g;
    const struct long_path *p = &h->path;
    for_row (u, g->pred, v) {
        if (side_of(h, u, d) != EITHER)
            continue;
        if (p->hi[u] <= d.j && p->hi[v] <= d.j)
            flow_arc(f, h->id[u], h->id[v], FLOW_INF);
        if (p->lo[u] > d.i && p->lo[v] > d.i)
            flow_arc(f, h->id[v], h->id[u], FLOW_INF);
    }
}

/* Arcs for net e such that a cut with pins of it on both sides costs `price`; true, and no arcs, if every cut has. */
static bool add_net(const struct holder *h, struct flow *f, uint32_t e, int64_t price,
                    struct interval d, uint32_t *hub)
{
    const struct wdag *g = h->c->g;
    uint32_t some[3] = {[OUTSIDE] = g->net_host[e]}, s = f->nnode - 2, t = f->nnode - 1;
    for_row (pin, g->net_pin, e)
        some[side_of(h, pin, d)]++;
    if ((some[INSIDE] && some[OUTSIDE]) || !some[EITHER])
        return some[INSIDE] && some[OUTSIDE];
    uint32_t in = some[INSIDE] ? s : (*hub)++, out = some[OUTSIDE] ? t : (*hub)++;
    flow_arc(f, in, out, price);
    for_row (v, g->net_pin, e) {
        if (side_of(h, v, d) != EITHER)
            continue;
        if (in != s)
            flow_arc(f, h->id[v], in, FLOW_INF);
        if (out != t)
            flow_arc(f, out, h->id[v], FLOW_INF);
    }
    return false;
}

/* Gives each vertex that may be in the set or not a node, with an arc for l->m / ONE of its weight.  Adds the weight
 * of those that must be in to l->weight, and what the others could gain at most to l->gain.  Returns the number of
 * nodes. */
static uint32_t add_vertices(struct holder *h, struct flow *f, struct interval d, struct line *l)
{
    int32_t m = l->m;
    uint32_t n = 0, s = f->nnode - 2, t = f->nnode - 1;
    for (uint32_t v = 0; v < h->c->g->n; v++) {
        enum side side = side_of(h, v, d);
        int64_t w = h->c->pot[0].w[v];
        l->weight += side == INSIDE ? w : 0;
        if (side != EITHER)
            continue;
        h->id[v] = n++;
        if (m > 0) {
            w = (int64_t)(((__int128)w * m + ONE - 1) / ONE);
            l->gain += w;
            flow_arc(f, s, h->id[v], w);
        } else if (m < 0) {
            flow_arc(f, h->id[v], t, (int64_t)((__int128)w * -m / ONE));
        }
    }
    for (uint32_t v = 0; v < h->c->g->n; v++)
        if (side_of(h, v, d) == EITHER)
            add_precedence(h, f, v, d);
    return n;
}

/* The line of multiplier m for devices of group q with the interval d: a minimum cut. */
static struct line cut_line(struct holder *h, const struct group *q, struct interval d, int32_t m)
{
    const struct wdag *g = h->c->g;
    struct arena_mark mark = arena_mark(h->a);
    uint32_t arcs = g->n + 2 * g->pred.at[g->n] + g->nnet + 2 * g->net_pin.at[g->nnet];
    struct flow f = flow_new(g->n + 2 * g->nnet + 2, arcs, h->a);
    struct line l = {.m = m};
    uint32_t hub = add_vertices(h, &f, d, &l);
    l.gain += (int64_t)(((__int128)l.weight * m + (m > 0 ? ONE - 1 : 0)) / ONE);
    for (uint32_t e = 0; e < g->nnet; e++) {
        int64_t price = problem_scaled(q->cost[e], q->scale);
        if (price && g->net_pin.at[e + 1] - g->net_pin.at[e] > 1 &&
            add_net(h, &f, e, price, d, &hub))
            l.gain -= price;
    }
    l.gain -= flow_max(&f, f.nnode - 2, f.nnode - 1, h->work);
    const uint8_t *in = flow_side(&f, f.nnode - 2);
    for (uint32_t v = 0; v < g->n; v++)
        if (side_of(h, v, d) == EITHER && in[h->id[v]])
            l.weight += h->c->pot[0].w[v];
    uint64_t looks = (uint64_t)g->n + g->net_pin.at[g->nnet];
    *h->work -= smaller_u64(looks, *h->work);
    arena_release(h->a, mark);
    return l;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The most that a device holds by line l if its load, scaled, is at most `cap`; -1: no set has such a load. */
static int64_t held_by(const struct line *l, int64_t cap)
{
    __int128 x = ((__int128)cap + l->gain) * ONE;
    return x < 0 ? -1 : (int64_t)(x / (ONE + l->m));
}

/* The line by which a device holds least; NULL: none says less than cap. */
static const struct line *tightest_line(const struct pair *p, int64_t cap)
{
    const struct line *best = NULL;
    for (uint32_t i = 0; i < p->nline; i++)
        if (held_by(&p->line[i], cap) < (best ? held_by(best, cap) : cap))
            best = &p->line[i];
    return best;
}

/* Scaled transfers of the set that attains line l. */
static int64_t paid_by(const struct line *l)
{
    return (int64_t)((__int128)l->weight * l->m / ONE) - l->gain;
}

/* Writes the multiplier to try next to *m; false: no other would change much. */
static bool next_m(const struct pair *p, int64_t cap, int32_t first, int32_t *m)
{
    const struct line *heavy = NULL, *light = NULL;
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
        __int128 x = (__int128)(paid_by(heavy) - paid_by(light)) * ONE / more;
        *m = x > light->m && x < heavy->m ? (int32_t)x : light->m;
        return *m > light->m;
    }
    if (light) {
        *m = light->m < 0 ? light->m / 2 : light->m ? light->m * 4 : first;
        return light->m < 2 * ONE && light->m != -1;
    }
    if (heavy)
        *m = heavy->m > 0              ? heavy->m / 2
             : heavy->m * 4 > -ONE / 2 ? heavy->m * 4 - (heavy->m ? 0 : first)
                                       : heavy->m - (ONE + heavy->m) / 2;
    return !heavy || (heavy->m > -ONE * 7 / 8 && heavy->m != 1);
}

static bool refine_pair(struct holder *h, const struct group *q, struct interval d)
{
    struct pair *p = &q->pair[d.i * h->row + d.j];
    int64_t cap = problem_scaled(h->limit, q->scale);
    int32_t m;
    if (p->nline == LINES || !next_m(p, cap, q->first, &m))
        return false;
    if (!p->line)
        p->line = arena_array(h->a, LINES, sizeof *p->line);
    p->line[p->nline] = cut_line(h, q, d, m);
    if (!*h->work) /* the flow may not be the largest */
        return false;
    p->nline++;
    const struct line *l = tightest_line(p, cap);
    p->held = l ? held_by(l, cap) : cap;
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static void set_limit(struct holder *h, int64_t limit)
{
    h->limit = limit;
    for (uint32_t q = 0; q < h->ngroup; q++) {
        int64_t cap = problem_scaled(limit, h->group[q].scale);
        for (uint32_t i = 0; i < h->row * h->row; i++) {
            struct pair *p = &h->group[q].pair[i];
            const struct line *l = tightest_line(p, cap);
            p->held = p->closed ? -1 : l ? held_by(l, cap) : cap;
        }
    }
}

/* Dynamic program: extends state u by one more device of group q. */
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

/* Runs the dynamic program; returns the most that all devices hold together. */
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

/* Makes another cut for each interval that the dynamic program chose; false: no further one would help. */
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

/* Whether it is shown that no plan has loads of at most `limit`. */
static bool is_refuted(struct holder *h, int64_t limit, struct clock *clock)
{
    set_limit(h, limit);
    while (most_held(h) >= h->total)
        if (!*h->work || clock_out(clock) || !refine_best(h))
            return false;
    return true;
}

/* ---- the argument ---------------------------------------------------------------------------- */

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
        explain_add(e, ": %d/%d of the nodes", l->m, ONE);
    else
        explain_add(e, ": nothing");
    explain_add(e, " less the transfers is at most %s%s, so ", l->gain < 0 ? "-" : "",
                explain_time(e, l->gain < 0 ? -l->gain : l->gain));
    if (held_by(l, cap) < 0)
        explain_add(e, "there is no such device\n");
    else
        explain_add(e, "nodes at most %s\n", explain_time(e, held_by(l, cap)));
}

/* Why no load is below h->limit + 1, for which most_held was made. */
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
    return higher ? (struct bound){.value = lo,
                                   .why = "most that devices hold along a path",
                                   .proof = prove_limit(h, with->m, with->mem)}
                  : known;
}
